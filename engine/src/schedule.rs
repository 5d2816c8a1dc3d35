//! What the timeline still owes: a pure fold of records. Live execution and replay feed it the same records, so an episode that was cut
//! off goes on exactly where it stopped.

use std::sync::Arc;

use imbl::{OrdMap, OrdSet};
use smol_str::SmolStr;

use crate::access::{Key, Read};
use crate::blob::Blobs;
use crate::episode::EPISODE_FULL;
use crate::id::{Actor, BlobId, Day, EventId, Seq, Turn};
use crate::plan::{Clock, Plan, PlannedDay, When};
use crate::random::Seed;
use crate::record::{RecordHead, Request};
use crate::script::Reaction;
use crate::time::SimTime;
use crate::value::Value;
use crate::world::Wait;

/// Something that is due at a time. The order among equal times is that of the variants, then of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Due {
    /// The condition at this index begins to be looked at.
    Opens(usize),
    /// The exogenous event at this index.
    Event(usize),
    /// The persona at this index looks.
    Look(usize),
}

/// How far an exogenous event has come.
#[derive(Clone, Debug, Default)]
pub struct Firing {
    /// Its records so far.
    pub records: Vec<Seq>,
    /// When its first record happened.
    pub time: SimTime,
    /// Whether nothing of it is left to do.
    pub complete: bool,
}

/// A condition that has not held yet.
#[derive(Clone, Debug, Default)]
struct Watch {
    /// What it read when it was last evaluated; nothing if it is to be evaluated.
    footprint: Option<Arc<[Read]>>,
    /// Whether its time is over without it.
    expired: bool,
}

/// What is left of a persona's last look.
#[derive(Clone, Debug, Default)]
struct Mind {
    memory: Arc<Value>,
    /// When it looks next, and because of which records.
    next: Option<(SimTime, Vec<Seq>)>,
    /// The look whose commands are being carried out, and how many already were.
    acting: Option<(Seq, Arc<Reaction>, usize)>,
}

/// The state of the timeline.
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    pub(crate) seed: Seed,
    pub(crate) opened: bool,
    pub(crate) closed: bool,
    pub(crate) day: Day,
    pub(crate) turn: Turn,
    pub(crate) turns_today: u32,
    pub(crate) calls_in_turn: u32,
    /// The time up to which everything has happened.
    pub(crate) now: SimTime,
    /// The time up to which things may happen before the agent is asked again.
    pub(crate) horizon: SimTime,
    /// Whether the day is over and the next one (or the end) is to be reached.
    pub(crate) handing_over: bool,
    waiting: bool,
    /// Whether the agent was told that the day ends soon.
    closing_told: bool,
    /// Whether the agent was told that the episode is full.
    full_told: bool,
    /// The blobs that records after the opening refer to.
    stored: OrdSet<BlobId>,
    /// How many bytes the records after the opening and their blobs take.
    stored_bytes: u64,
    /// How many records there are after the opening.
    stored_records: u64,
    /// The lines that wait for the next day's notification.
    pub(crate) lines: Arc<Vec<String>>,
    /// The lines that are still to be told of what personas did, each with the record that caused it.
    alerts: Arc<Vec<(String, Seq)>>,
    /// The event of which some commands are still to be carried out.
    firing: Option<usize>,
    fired: OrdMap<usize, Arc<Firing>>,
    due: OrdSet<(SimTime, Due)>,
    watches: OrdMap<usize, Arc<Watch>>,
    held: OrdMap<usize, Arc<[Seq]>>,
    minds: OrdMap<usize, Arc<Mind>>,
}

/// One record, as the schedule sees it.
pub(crate) struct Observed<'a> {
    pub(crate) seq: Seq,
    pub(crate) time: SimTime,
    pub(crate) head: &'a RecordHead,
    /// The keys that it wrote.
    pub(crate) writes: &'a [Key],
    /// What a persona made of its look, if the record is one and its script did not fail.
    pub(crate) reaction: Option<Reaction>,
    /// What a condition read before its script failed, if the record says so.
    pub(crate) failed_reads: Vec<Read>,
    /// When the call ended, if the record is one.
    pub(crate) ends: SimTime,
    /// How many bytes the record takes.
    pub(crate) bytes: u64,
    /// What the agent is told of the record, if it is told of it.
    pub(crate) headline: Option<String>,
}

impl Schedule {
    /// Returns whether the writes of records matter: some condition or persona watches keys.
    pub(crate) fn watches_keys(plan: &Plan) -> bool {
        !plan.personas.is_empty()
            || !plan.alerts.is_empty()
            || plan.events.iter().any(|event| matches!(event.when, When::Condition { .. }))
    }

    /// Takes in one record.
    pub(crate) fn observe(&mut self, plan: &Plan, record: Observed<'_>, blobs: &dyn Blobs) {
        self.account(&record, blobs);
        self.now = self.now.max(record.time);
        self.horizon = self.horizon.max(self.now);
        match &record.head.request {
            Request::Genesis { epoch, .. } => (self.now, self.horizon) = (*epoch, *epoch),
            Request::Open { seed } => self.open(plan, *seed),
            Request::OpenDay { .. } => self.open_day(record.head.day),
            Request::Message { hand_over, .. } => {
                self.enter_turn(record.head);
                self.handing_over |= *hand_over;
            }
            Request::EndDay => self.handing_over = true,
            Request::Close => self.closed = true,
            Request::Notify { text } => {
                self.told(plan, record.head, text);
                if self.waiting {
                    (self.waiting, self.horizon) = (false, self.now);
                }
            }
            Request::Look if condition_failed(record.head) => self.failed(plan, &record),
            Request::Look => self.looked(plan, &record),
            Request::Call { .. } => {
                if record.head.actor == Actor::Agent {
                    self.enter_turn(record.head);
                    self.calls_in_turn += 1;
                    self.spend(plan, &record);
                }
            }
        }
        self.advance_firing(plan, &record);
        self.advance_acting(plan, &record);
        if !record.writes.is_empty() {
            self.stir(plan, &record);
        }
    }

    /// Takes in a line that the agent was told.
    fn told(&mut self, plan: &Plan, head: &RecordHead, text: &str) {
        if head.event.is_none() && text == EPISODE_FULL {
            self.full_told = true;
            return;
        }
        if head.event.is_none() && self.today(plan).and_then(|day| day.closing.as_deref()) == Some(text) {
            // No news any more when the next day opens.
            self.closing_told = true;
            return;
        }
        if head.event.is_none() && !self.alerts.is_empty() {
            Arc::make_mut(&mut self.alerts).remove(0);
        }
        Arc::make_mut(&mut self.lines).push(text.to_owned());
    }

    /// Counts what a record takes.
    fn account(&mut self, record: &Observed<'_>, blobs: &dyn Blobs) {
        if !self.opened {
            return;
        }
        self.stored_records += 1;
        self.stored_bytes += record.bytes;
        for id in &record.head.blobs {
            if self.stored.insert(*id).is_none() {
                self.stored_bytes += blobs.bytes(*id).unwrap_or_default();
            }
        }
    }

    /// Returns how many bytes the records after the opening and their blobs take.
    #[must_use]
    pub fn stored_bytes(&self) -> u64 {
        self.stored_bytes
    }

    /// Returns whether the episode has used up what it may take.
    pub(crate) fn is_full(&self, plan: &Plan) -> bool {
        self.stored_bytes >= plan.limits.episode_bytes_max || self.stored_records >= plan.limits.episode_records_max
    }

    /// Returns whether the agent is still to be told that the episode is full.
    pub(crate) fn owes_full_notice(&self) -> bool {
        !self.full_told
    }

    /// Returns when the agent is to be told that the day ends soon, and what, if that is still to come.
    pub(crate) fn closing_notice<'p>(&self, plan: &'p Plan) -> Option<(SimTime, &'p str)> {
        if plan.clock == Clock::Staged || self.closing_told || self.handing_over {
            return None;
        }
        let day = self.today(plan)?;
        Some((day.closing_at(), day.closing.as_deref()?))
    }

    fn today<'p>(&self, plan: &'p Plan) -> Option<&'p PlannedDay> {
        plan.days.get((self.day.get() as usize).checked_sub(1)?)
    }

    /// Returns the event whose commands are being carried out, and how many of its records there are.
    pub(crate) fn unfinished_event(&self) -> Option<(usize, usize)> {
        self.firing.map(|index| (index, self.fired.get(&index).map_or(0, |firing| firing.records.len())))
    }

    /// Starts the event at `index`, so that [`Self::unfinished_event`] names it.
    pub(crate) fn start_event(&mut self, plan: &Plan, index: usize) {
        self.firing = Some(index);
        self.watches.remove(&index);
        self.due.remove(&(self.event_time(plan, index), Due::Event(index)));
    }

    /// Returns the persona that is acting, the look it acts on, and the next thing it does.
    pub(crate) fn unfinished_reaction(&self) -> Option<(usize, Seq, crate::tool::ToolCall)> {
        self.minds.iter().find_map(|(index, mind)| {
            let (seq, reaction, done) = mind.acting.as_ref()?;
            Some((*index, *seq, reaction.commands.get(*done)?.clone()))
        })
    }

    /// Returns the line that the agent is told next of what a persona did, and the record that caused it.
    pub(crate) fn next_alert(&self) -> Option<(String, Seq)> {
        self.alerts.first().cloned()
    }

    /// Returns the next thing that is due, up to `horizon`.
    pub(crate) fn next_due(&self, horizon: SimTime) -> Option<(SimTime, Due)> {
        self.due.get_min().filter(|(time, _)| *time <= horizon).copied()
    }

    /// Notes that the clock has reached the beginning of a condition.
    pub(crate) fn reach_opening(&mut self, time: SimTime, index: usize) {
        self.due.remove(&(time, Due::Opens(index)));
    }

    /// Returns the conditions that are to be evaluated now, in the plan's order.
    pub(crate) fn stirred_conditions(&self, plan: &Plan) -> Vec<usize> {
        let open =
            |index: &usize| matches!(&plan.events[*index].when, When::Condition { opens, .. } if *opens <= self.now);
        self.watches
            .iter()
            .filter(|(index, watch)| watch.footprint.is_none() && !watch.expired && open(index))
            .map(|(index, _)| *index)
            .collect()
    }

    /// Notes that the condition at `index` was evaluated, did not hold, and read `footprint`.
    pub(crate) fn rest_condition(&mut self, index: usize, footprint: Vec<Read>) {
        if let Some(watch) = self.watches.get_mut(&index) {
            Arc::make_mut(watch).footprint = Some(footprint.into());
        }
    }

    /// Notes that the condition at `index` holds because of what the records `writers` wrote, and starts its event.
    pub(crate) fn hold_condition(&mut self, plan: &Plan, index: usize, writers: Vec<Seq>) {
        self.start_event(plan, index);
        self.held.insert(index, writers.into());
    }

    /// Returns the records because of which the condition at `index` holds.
    pub(crate) fn held(&self, index: usize) -> &[Seq] {
        self.held.get(&index).map_or(&[], |writers| writers)
    }

    /// Notes that the deadline of the condition at `index` came without it.
    pub(crate) fn expire_condition(&mut self, plan: &Plan, index: usize) {
        self.due.remove(&(self.event_time(plan, index), Due::Event(index)));
        if let Some(watch) = self.watches.get_mut(&index) {
            Arc::make_mut(watch).expired = true;
        }
    }

    /// Moves the clock, so that conditions that read it are looked at again.
    pub(crate) fn advance_to(&mut self, time: SimTime) {
        if time <= self.now {
            return;
        }
        self.now = time;
        self.horizon = self.horizon.max(time);
        let clock = Key::new(CLOCK_KEY);
        self.wake_conditions(|read| read.key == clock);
    }

    /// Returns what the persona at `index` remembers, and the records that make it look now.
    pub(crate) fn mind(&self, index: usize) -> (Arc<Value>, Vec<Seq>) {
        self.minds.get(&index).map_or_else(Default::default, |mind| {
            let causes = mind.next.as_ref().map(|(_, causes)| causes.clone()).unwrap_or_default();
            (Arc::clone(&mind.memory), causes)
        })
    }

    /// Returns how far the event at `index` has come, if it has begun.
    #[must_use]
    pub fn firing(&self, index: usize) -> Option<&Firing> {
        self.fired.get(&index).map(|firing| &**firing)
    }

    /// Returns what the condition of the event at `index` read when it last did not hold.
    #[must_use]
    pub fn awaited(&self, index: usize) -> Option<&[Read]> {
        self.watches.get(&index)?.footprint.as_deref()
    }

    fn open(&mut self, plan: &Plan, seed: Seed) {
        self.seed = seed;
        self.opened = true;
        self.handing_over = true;
        for (index, event) in plan.events.iter().enumerate() {
            match event.when {
                When::At(time) => {
                    self.due.insert((time, Due::Event(index)));
                }
                When::Condition { opens, deadline, .. } => {
                    self.watches.insert(index, Arc::default());
                    self.due.insert((opens, Due::Opens(index)));
                    self.due.insert((deadline, Due::Event(index)));
                }
                When::After { .. } => {}
            }
        }
        for (index, persona) in plan.personas.iter().enumerate() {
            let next = persona.wakes.map(|time| (time, Vec::new()));
            if let Some((time, _)) = &next {
                self.due.insert((*time, Due::Look(index)));
            }
            self.minds.insert(index, Arc::new(Mind { next, ..Mind::default() }));
        }
    }

    fn open_day(&mut self, day: Day) {
        self.day = day;
        self.turns_today = 0;
        self.calls_in_turn = 0;
        self.handing_over = false;
        self.closing_told = false;
        self.lines = Arc::default();
        self.horizon = self.now;
    }

    fn enter_turn(&mut self, head: &RecordHead) {
        let Some(turn) = head.turn else { return };
        if !self.lines.is_empty() {
            // What was told with the answer to an earlier call is no news any more.
            self.lines = Arc::default();
        }
        if turn > self.turn {
            self.turn = turn;
            self.turns_today += 1;
            self.calls_in_turn = 0;
        }
    }

    fn spend(&mut self, plan: &Plan, record: &Observed<'_>) {
        if plan.clock == Clock::Staged {
            return;
        }
        self.horizon = self.horizon.max(record.ends);
        if let Some(wait) = record.head.wait {
            self.waiting = wait == Wait::NextNotice;
            let end = self.day_ends(plan);
            self.horizon = match wait {
                Wait::Until(time) => time.min(end).max(self.horizon),
                Wait::NextNotice => end.max(self.horizon),
            };
        }
    }

    /// Returns when the agent's time of the current day is up.
    pub(crate) fn day_ends(&self, plan: &Plan) -> SimTime {
        let index = (self.day.get() as usize).saturating_sub(1);
        plan.days.get(index).map_or(plan.closes, |day| day.ends)
    }

    fn looked(&mut self, plan: &Plan, record: &Observed<'_>) {
        let Actor::Persona(name) = &record.head.actor else { return };
        let Some(index) = persona_index(plan, name) else { return };
        let Some(mind) = self.minds.get_mut(&index) else { return };
        let mind = Arc::make_mut(mind);
        if let Some((time, _)) = mind.next.take() {
            self.due.remove(&(time, Due::Look(index)));
        }
        // Whose script failed remembers what it did, and looks again when something comes that concerns it.
        let Some(reaction) = &record.reaction else { return };
        mind.memory = Arc::new(reaction.memory.clone());
        mind.acting = (!reaction.commands.is_empty()).then(|| (record.seq, Arc::new(reaction.clone()), 0));
        if let Some(wake) = reaction.wake {
            let time = record.time + wake;
            mind.next = Some((time, vec![record.seq]));
            self.due.insert((time, Due::Look(index)));
        }
    }

    /// Lets a condition whose script failed wait for a write to what it read, as one that does not hold.
    fn failed(&mut self, plan: &Plan, record: &Observed<'_>) {
        if let Some(index) = record.head.event.as_ref().and_then(|id| plan.event_index(id)) {
            self.rest_condition(index, record.failed_reads.clone());
        }
    }

    fn advance_firing(&mut self, plan: &Plan, record: &Observed<'_>) {
        if condition_failed(record.head) {
            return;
        }
        let Some(index) = record.head.event.as_ref().and_then(|id| plan.event_index(id)) else { return };
        if self.firing != Some(index) {
            self.start_event(plan, index);
        }
        let event = &plan.events[index];
        let mut firing = self.fired.get(&index).map(|firing| (**firing).clone()).unwrap_or_default();
        if firing.records.is_empty() {
            firing.time = record.time;
        }
        firing.records.push(record.seq);
        firing.complete = firing.records.len() == event.commands.len() + usize::from(event.notice.is_some());
        if firing.complete {
            self.firing = None;
            for (later, each) in plan.events.iter().enumerate() {
                if let When::After { event: other, delay } = &each.when
                    && *other == event.id
                {
                    self.due.insert((firing.time + *delay, Due::Event(later)));
                }
            }
        }
        self.fired.insert(index, Arc::new(firing));
    }

    fn advance_acting(&mut self, plan: &Plan, record: &Observed<'_>) {
        let (Actor::Persona(name), Request::Call { .. }, None) =
            (&record.head.actor, &record.head.request, &record.head.event)
        else {
            return;
        };
        let Some(mind) = persona_index(plan, name).and_then(|index| self.minds.get_mut(&index)) else { return };
        let mind = Arc::make_mut(mind);
        if let Some((_, reaction, done)) = &mut mind.acting {
            *done += 1;
            if *done >= reaction.commands.len() {
                mind.acting = None;
            }
        }
    }

    /// Wakes the conditions and personas that watch what was just written.
    fn stir(&mut self, plan: &Plan, record: &Observed<'_>) {
        self.wake_conditions(|read| record.writes.contains(&read.key));
        if !self.opened {
            return;
        }
        if matches!(record.head.actor, Actor::Persona(_)) && record.head.event.is_none() {
            let noticed = plan.alerts.iter().find(|alert| record.writes.contains(&alert.key));
            if let Some(alert) = noticed {
                let line = record.headline.clone().unwrap_or_else(|| alert.line.clone());
                Arc::make_mut(&mut self.alerts).push((line, record.seq));
            }
        }
        for (index, persona) in plan.personas.iter().enumerate() {
            let own = matches!(&record.head.actor, Actor::Persona(name) if *name == persona.name);
            if own || !persona.watches.iter().any(|key| record.writes.contains(key)) {
                continue;
            }
            let Some(mind) = self.minds.get_mut(&index) else { continue };
            let mind = Arc::make_mut(mind);
            let wanted = record.time + persona.delay;
            let (time, mut causes) = match mind.next.take() {
                Some((time, causes)) => {
                    self.due.remove(&(time, Due::Look(index)));
                    (time.min(wanted), causes)
                }
                None => (wanted, Vec::new()),
            };
            causes.push(record.seq);
            mind.next = Some((time, causes));
            self.due.insert((time, Due::Look(index)));
        }
    }

    fn wake_conditions(&mut self, concerns: impl Fn(&Read) -> bool) {
        let stirred: Vec<usize> = self
            .watches
            .iter()
            .filter(|(_, watch)| watch.footprint.as_ref().is_some_and(|reads| reads.iter().any(&concerns)))
            .map(|(index, _)| *index)
            .collect();
        for index in stirred {
            if let Some(watch) = self.watches.get_mut(&index) {
                Arc::make_mut(watch).footprint = None;
            }
        }
    }

    /// Returns the time under which the event at `index` stands among what is due.
    fn event_time(&self, plan: &Plan, index: usize) -> SimTime {
        match &plan.events[index].when {
            When::At(time) => *time,
            When::Condition { deadline, .. } => *deadline,
            When::After { event, delay } => plan
                .event_index(event)
                .and_then(|other| self.fired.get(&other))
                .map_or(SimTime::default(), |firing| firing.time + *delay),
        }
    }
}

/// The key under which scripts read the simulated time.
pub const CLOCK_KEY: &str = "clock:now";

/// Returns whether a record says that the script of an event's condition failed: only then does a look belong to an event.
pub(crate) fn condition_failed(head: &RecordHead) -> bool {
    head.request == Request::Look && head.event.is_some()
}

pub(crate) fn persona_index(plan: &Plan, name: &SmolStr) -> Option<usize> {
    plan.personas.iter().position(|persona| persona.name == *name)
}

/// Returns the id of the event that the record at `index` of the plan belongs to.
pub(crate) fn event_id(plan: &Plan, index: usize) -> EventId {
    plan.events[index].id.clone()
}
