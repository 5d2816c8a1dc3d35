//! The episode loop: one call, room by room. Live execution and replay share [`Episode::absorb`], the one path on which a stored record is
//! decoded and changes the world.

mod admission;
mod again;
mod error;

use std::sync::Arc;

use imbl::OrdMap;
use smol_str::SmolStr;

use crate::access::{Accesses, Frame, Key};
use crate::blob::Blobs;
use crate::codec::{Parts, Stored, encode_parts};
use crate::collection::Applying;
use crate::digest::Canonical;
use crate::errand::{Errand, Host};
use crate::id::{Actor, BlobId, Day, Seq, Turn};
use crate::log::Log;
use crate::plan::{Clock, Plan, When};
use crate::random::Seed;
use crate::record::{Input, LOG_FORMAT, Outcome, Outside, OutsideAct, Payload, RecordHead, Request};
use crate::schedule::{Due, Observed, Schedule, condition_failed, event_id};
use crate::script::{PastCall, Reaction, Scene, Script, log_keys};
use crate::template::fill;
use crate::time::SimTime;
use crate::tool::{Rejection, ToolCall};
use crate::value::Value;
use crate::world::{Context, Decision, Wait, World};

use self::admission::{bounded_message, ends, failed, missing, note_named_blobs, spec_of};
pub use self::again::Again;
pub use self::error::{
    CONDITION_FAILED, EPISODE_FULL, EpisodeError, MESSAGE_BYTES_MAX, PERSONA_FAILED, REFERENCE_MISSING,
    SCRIPT_MESSAGE_CHARS_MAX, SETTLE_BYTES_MAX, SETTLE_RECORDS_MAX,
};

/// What the agent gets back for an input.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The record of the input.
    pub seq: Seq,
    /// The answer, or why the call was refused.
    pub answer: Result<Value, Rejection>,
    /// What the agent is told besides: loud events since, and the next day's notification.
    pub notices: Vec<String>,
    /// Whether the episode is over.
    pub closed: bool,
}

/// The part of a log that depends on the scenario alone: genesis and initial world. Built once, shared by all its episodes.
#[derive(Clone, Debug)]
pub struct Prefix<W> {
    world: W,
    log: Log,
    schedule: Schedule,
}

/// What stands in a genesis record.
#[derive(Clone, Debug)]
pub struct Genesis {
    /// The scenario's id.
    pub scenario: SmolStr,
    /// The scenario's digest: the blob that lists its files.
    pub digest: BlobId,
    /// All blobs of the package.
    pub blobs: Vec<BlobId>,
    /// The simulated start.
    pub epoch: SimTime,
}

impl<W: World> Prefix<W> {
    /// Lays out the initial world by `setup`, in the name of the scenario.
    ///
    /// # Errors
    ///
    /// [`EpisodeError::Setup`] when a command is refused.
    pub fn build(
        world: W,
        genesis: Genesis,
        setup: Vec<ToolCall>,
        script: Arc<dyn Script<W>>,
        blobs: Arc<dyn Blobs>,
    ) -> Result<Self, EpisodeError> {
        let mut episode = Episode::blank(world, script, blobs);
        let Genesis { scenario, digest, blobs, epoch } = genesis;
        let accesses = Accesses { blobs, ..Accesses::default() };
        let request = Request::Genesis { format: LOG_FORMAT, scenario, digest, epoch };
        episode.schedule.now = epoch;
        episode.append(Draft::of(Actor::Scenario, request), accesses, Vec::new(), Outcome::Done)?;
        for (index, call) in setup.into_iter().enumerate() {
            let tool = call.tool.clone();
            if let (_, Err(rejection)) = episode.execute(Draft::of(Actor::Scenario, Request::Look), call)? {
                return Err(EpisodeError::Setup { index, tool, rejection });
            }
        }
        Ok(Self { world: episode.world, log: episode.log, schedule: episode.schedule })
    }

    /// Returns the log of the prefix.
    #[must_use]
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Returns the initial world.
    #[must_use]
    pub fn world(&self) -> &W {
        &self.world
    }
}

/// One run of one scenario by one agent, from one seed. A clone is a fork: independent, and cheap whatever the size of world and log.
pub struct Episode<W: World> {
    world: W,
    past: OrdMap<SmolStr, W>,
    log: Log,
    schedule: Schedule,
    script: Arc<dyn Script<W>>,
    blobs: Arc<dyn Blobs>,
    host: Option<Arc<dyn Host>>,
    scratch: Scratch,
}

/// Memory that is used again for every record.
#[derive(Default)]
struct Scratch {
    buffer: Vec<u8>,
    writes: Vec<Key>,
    canonical: Canonical,
}

/// A record in the making: everything but what the decision brings.
struct Draft {
    actor: Actor,
    turn: Option<Turn>,
    event: Option<crate::id::EventId>,
    causes: Vec<Seq>,
    request: Request,
    brought: Option<Payload>,
}

impl Draft {
    fn of(actor: Actor, request: Request) -> Self {
        Self { actor, turn: None, event: None, causes: Vec::new(), request, brought: None }
    }
}

/// What came of deciding a call.
struct Decided<E> {
    decision: Result<Decision<E>, Rejection>,
    /// What the host brought back for it, if it was sent.
    brought: Option<Value>,
}

impl<E> Decided<E> {
    fn refused(rejection: Rejection) -> Self {
        Self { decision: Err(rejection), brought: None }
    }
}

impl<W: World> Clone for Episode<W> {
    fn clone(&self) -> Self {
        Self {
            world: self.world.clone(),
            past: self.past.clone(),
            log: self.log.clone(),
            schedule: self.schedule.clone(),
            script: Arc::clone(&self.script),
            blobs: Arc::clone(&self.blobs),
            host: self.host.clone(),
            scratch: Scratch::default(),
        }
    }
}

impl<W: World> Episode<W> {
    /// Opens an episode on `prefix`: the seed comes in and the first day opens. Returns it with the first notification.
    ///
    /// # Errors
    ///
    /// [`EpisodeError::BlobMissing`] or [`EpisodeError::Restless`] when the world cannot come to the first day.
    pub fn open(
        prefix: &Prefix<W>,
        seed: Seed,
        script: Arc<dyn Script<W>>,
        blobs: Arc<dyn Blobs>,
    ) -> Result<(Self, Step), EpisodeError> {
        let mut episode = Self {
            world: prefix.world.clone(),
            past: OrdMap::new(),
            log: prefix.log.clone(),
            schedule: prefix.schedule.clone(),
            script,
            blobs,
            host: None,
            scratch: Scratch::default(),
        };
        let draft = Draft::of(Actor::Scenario, Request::Open { seed });
        let seq = episode.append(draft, Accesses::default(), Vec::new(), Outcome::Done)?;
        let step = episode.rest(seq, Ok(Value::Null))?;
        Ok((episode, step))
    }

    /// Rebuilds an episode from its stored records: a pure fold. It goes on exactly where the records stop; what the world still owed when
    /// it was cut off happens with [`Self::settle`].
    ///
    /// # Errors
    ///
    /// [`EpisodeError::Link`] or [`EpisodeError::Codec`] for the first record that does not follow or does not decode.
    pub fn resume<'a>(
        world: W,
        records: impl IntoIterator<Item = &'a Arc<[u8]>>,
        script: Arc<dyn Script<W>>,
        blobs: Arc<dyn Blobs>,
    ) -> Result<Self, EpisodeError> {
        let mut episode = Self::blank(world, script, blobs);
        for record in records {
            episode.absorb(Arc::clone(record))?;
        }
        Ok(episode)
    }

    /// Does whatever the world still owes before the agent is asked again; nothing in an episode that was not cut off.
    ///
    /// # Errors
    ///
    /// [`EpisodeError::BlobMissing`] when the store is damaged, [`EpisodeError::Restless`] when the world does not come to rest. A script that
    /// fails is no error: it is on record as a refused look.
    pub fn settle(&mut self) -> Result<Vec<String>, EpisodeError> {
        if !self.schedule.opened || self.schedule.closed {
            return Ok(Vec::new());
        }
        let seq = Seq::new(self.log.head().count.saturating_sub(1));
        Ok(self.rest(seq, Ok(Value::Null))?.notices)
    }

    /// Feeds one input.
    ///
    /// # Errors
    ///
    /// [`EpisodeError::Closed`] when the episode has ended; otherwise as [`Self::settle`].
    pub fn input(&mut self, input: Input) -> Result<Step, EpisodeError> {
        match input {
            Input::Turn { text } => self.begin_turn(&text),
            Input::Call(call) => self.call(call),
            Input::HandOver { text } => self.hand_over(&text),
        }
    }

    /// Lets something happen from outside of the timeline: first what is due until then, then the act itself, then what follows from it.
    ///
    /// # Errors
    ///
    /// [`EpisodeError::Closed`] when the episode has ended, [`EpisodeError::NotOutside`] when the event's name is not from outside or the
    /// agent would act; otherwise as [`Self::settle`]. A refusal is not an error.
    pub fn outside(&mut self, outside: Outside) -> Result<Step, EpisodeError> {
        let Outside { event, time, actor, act } = outside;
        if self.schedule.closed {
            return Err(EpisodeError::Closed);
        }
        if !event.is_outside() || matches!(actor, Actor::Agent) {
            return Err(EpisodeError::NotOutside(event));
        }
        self.schedule.horizon = self.schedule.horizon.max(time);
        self.settle()?;
        self.schedule.advance_to(time);
        let draft = Draft { event: Some(event), ..Draft::of(actor, Request::Look) };
        let (seq, answer) = match act {
            OutsideAct::Call(call) => self.execute(draft, call)?,
            OutsideAct::Tell(text) => {
                let draft = Draft { request: Request::Notify { text }, ..draft };
                (self.append(draft, Accesses::default(), Vec::new(), Outcome::Done)?, Ok(Value::Null))
            }
        };
        self.rest(seq, answer)
    }

    /// Begins a turn: one assistant message, whose calls follow.
    ///
    /// # Errors
    ///
    /// [`EpisodeError::Closed`] when the episode has ended.
    pub fn begin_turn(&mut self, text: &str) -> Result<Step, EpisodeError> {
        self.say(text, false)
    }

    /// Makes one call within the current turn; the first one of a day begins a turn without words.
    ///
    /// # Errors
    ///
    /// [`EpisodeError::Closed`] when the episode has ended; otherwise as [`Self::settle`]. A refusal is not an error.
    pub fn call(&mut self, call: ToolCall) -> Result<Step, EpisodeError> {
        if self.schedule.closed {
            return Err(EpisodeError::Closed);
        }
        let turn = if self.schedule.turns_today == 0 { self.schedule.turn.next() } else { self.schedule.turn };
        // The request is filled in by `execute`.
        let draft = Draft { turn: Some(turn), ..Draft::of(Actor::Agent, Request::Look) };
        let (seq, answer) = self.execute(draft, call)?;
        let waits = self.log.stored(seq)?.head()?.wait.is_some();
        let step = self.rest(seq, answer)?;
        Ok(if waits { self.waited(step) } else { step })
    }

    /// Hands over: the day ends, and the next one opens or the episode closes. The step brings the next notification.
    ///
    /// # Errors
    ///
    /// [`EpisodeError::Closed`] when the episode has ended; otherwise as [`Self::settle`].
    pub fn hand_over(&mut self, text: &str) -> Result<Step, EpisodeError> {
        self.say(text, true)
    }

    /// Lets calls send `host` on errands from now on. Without one such calls are refused.
    pub fn set_host(&mut self, host: Arc<dyn Host>) {
        self.host = Some(host);
    }

    /// Returns the world.
    #[must_use]
    pub fn world(&self) -> &W {
        &self.world
    }

    /// Returns the log.
    #[must_use]
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Returns the simulated time.
    #[must_use]
    pub fn now(&self) -> SimTime {
        self.schedule.now
    }

    /// Returns the current day; 0 before the first one opens.
    #[must_use]
    pub fn day(&self) -> Day {
        self.schedule.day
    }

    /// Returns the agent's last turn; 0 before the first.
    #[must_use]
    pub fn turn(&self) -> Turn {
        self.schedule.turn
    }

    /// Returns whether the episode has ended.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.schedule.closed
    }

    /// Returns the state of the timeline.
    #[must_use]
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Returns the timeline and the scripts.
    #[must_use]
    pub fn script(&self) -> &Arc<dyn Script<W>> {
        &self.script
    }

    /// Returns where large content rests.
    #[must_use]
    pub fn blobs(&self) -> &Arc<dyn Blobs> {
        &self.blobs
    }

    /// Returns the keys that the last record wrote, those of the log included. Empty unless something watches keys or
    /// [`Self::absorb_traced`] was used.
    #[must_use]
    pub fn last_writes(&self) -> &[Key] {
        &self.scratch.writes
    }

    /// Returns what scripts see now.
    #[must_use]
    pub fn scene<'a>(&'a self, frame: &'a Frame) -> Scene<'a, W> {
        Scene {
            world: &self.world,
            past: &self.past,
            log: &self.log,
            changes: None,
            time: self.schedule.now,
            day: self.schedule.day,
            seed: self.schedule.seed,
            frame,
            blobs: &self.blobs,
        }
    }

    /// Takes in one stored record: the one path on which records change the world.
    ///
    /// # Errors
    ///
    /// [`EpisodeError::Link`] or [`EpisodeError::Codec`] when it does not follow or does not decode.
    pub fn absorb(&mut self, record: Arc<[u8]>) -> Result<(), EpisodeError> {
        let traced = Schedule::watches_keys(self.script.plan());
        self.absorb_record(record, None, traced).map(|_| ())
    }

    /// Takes in one stored record and keeps the keys that it wrote in [`Self::last_writes`]. Returns its decoded head.
    ///
    /// # Errors
    ///
    /// As [`Self::absorb`].
    pub fn absorb_traced(&mut self, record: Arc<[u8]>) -> Result<RecordHead, EpisodeError> {
        self.absorb_record(record, None, true)
    }

    /// Returns an episode without records, to absorb some.
    #[must_use]
    pub fn blank(world: W, script: Arc<dyn Script<W>>, blobs: Arc<dyn Blobs>) -> Self {
        Self {
            world,
            past: OrdMap::new(),
            log: Log::new(),
            schedule: Schedule::default(),
            script,
            blobs,
            host: None,
            scratch: Scratch::default(),
        }
    }

    fn absorb_record(
        &mut self,
        record: Arc<[u8]>,
        head: Option<RecordHead>,
        traced: bool,
    ) -> Result<RecordHead, EpisodeError> {
        let stored = Stored::new(&record)?;
        let head = head.map_or_else(|| stored.head(), Ok)?;
        let events: Vec<W::Event> = stored.events()?;
        let reaction = self.reaction(&head, stored)?;
        let failed_reads = if condition_failed(&head) { stored.reads()? } else { Vec::new() };
        let (seq, time) = (stored.seq(), stored.time());
        let script = Arc::clone(&self.script);
        let plan = script.plan();
        let effective = match head.request.tool().and_then(spec_of::<W>) {
            // A refused call takes no time.
            // Decoded only where the clock asks: elsewhere no call takes time.
            Some(_) if plan.clock == Clock::Staged || head.actor != Actor::Agent => time,
            Some(spec) if !events.is_empty() || stored.outcome()?.rejection().is_none() => {
                ends(plan, &head.actor, spec, time)
            }
            _ => time,
        };
        let headline = self.headline(plan, &head, &events);
        let bytes = record.len() as u64;
        self.log.push(record)?;
        let Scratch { writes, canonical, .. } = &mut self.scratch;
        writes.clear();
        for event in events {
            let sink = traced.then_some(&mut *writes);
            self.world.apply(event, &mut Applying::new(seq, effective, &head.actor, sink, canonical));
        }
        if traced {
            writes.extend(log_keys(&head));
        }
        if head.request.ends_day() {
            self.keep_past(plan);
        }
        let writes = &self.scratch.writes;
        let observed =
            Observed { seq, time, head: &head, writes, reaction, failed_reads, ends: effective, bytes, headline };
        self.schedule.observe(plan, observed, &*self.blobs);
        Ok(head)
    }

    /// Returns the line about what a person did, if the plan wants any such thing told.
    fn headline(&self, plan: &Plan, head: &RecordHead, events: &[W::Event]) -> Option<String> {
        let by_person = matches!(head.actor, Actor::Persona(_)) && head.event.is_none();
        if plan.alerts.is_empty() || !by_person {
            return None;
        }
        events.iter().find_map(|event| self.world.headline(event))
    }

    fn reaction(&self, head: &RecordHead, stored: Stored<'_>) -> Result<Option<Reaction>, EpisodeError> {
        if head.request != Request::Look {
            return Ok(None);
        }
        let Outcome::Answered(payload) = stored.outcome()? else { return Ok(None) };
        Ok(Some(Reaction::from_value(&payload.load(stored.seq(), &*self.blobs)?)))
    }

    /// Keeps the world as it was when the agent handed over, before anything happens overnight.
    fn keep_past(&mut self, plan: &Plan) {
        if let Some(day) = (self.schedule.day.get() as usize).checked_sub(1).and_then(|index| plan.days.get(index)) {
            self.past.insert(day.name.clone(), self.world.clone());
        }
    }

    fn say(&mut self, text: &str, hand_over: bool) -> Result<Step, EpisodeError> {
        if self.schedule.closed {
            return Err(EpisodeError::Closed);
        }
        let turn = Some(self.schedule.turn.next());
        let request = Request::Message { text: bounded_message(text), hand_over };
        let draft = Draft { turn, ..Draft::of(Actor::Agent, request) };
        let seq = self.append(draft, Accesses::default(), Vec::new(), Outcome::Done)?;
        self.rest(seq, Ok(Value::Null))
    }

    /// Lets the world come to rest and gathers what the agent is told.
    fn rest(&mut self, seq: Seq, answer: Result<Value, Rejection>) -> Result<Step, EpisodeError> {
        let before = self.log.head().count;
        let stored_before = self.schedule.stored_bytes();
        while self.settle_once()? {
            let records = self.log.head().count - before;
            let bytes = self.schedule.stored_bytes() - stored_before;
            if records > SETTLE_RECORDS_MAX || bytes > SETTLE_BYTES_MAX {
                let last = Seq::new(self.log.head().count.saturating_sub(1));
                let actor = self.log.stored(last)?.head()?.actor;
                return Err(EpisodeError::Restless { records, bytes, actor });
            }
        }
        let mut notices = Vec::new();
        if self.log.head().count > before {
            for record in self.log.since(before) {
                match Stored::new(record)?.head()?.request {
                    Request::Notify { text } => notices.push(text),
                    // The notification repeats the lines before it.
                    Request::OpenDay { notification, .. } => notices = vec![notification],
                    Request::Genesis { .. }
                    | Request::Open { .. }
                    | Request::Call { .. }
                    | Request::Message { .. }
                    | Request::Look
                    | Request::EndDay
                    | Request::Close => {}
                }
            }
        }
        Ok(Step { seq, answer, notices, closed: self.schedule.closed })
    }

    /// Lets the world answer a call that waited, now that it is known what it waited for.
    fn waited(&self, step: Step) -> Step {
        let answer = step.answer.map(|answer| self.world.waited(answer, self.schedule.now, &step.notices));
        Step { answer, ..step }
    }

    /// Ends an episode that has used up what it may take: first the agent is told, then it closes.
    fn end_full(&mut self) -> Result<bool, EpisodeError> {
        let request = if self.schedule.owes_full_notice() {
            Request::Notify { text: EPISODE_FULL.to_owned() }
        } else {
            Request::Close
        };
        self.append(Draft::of(Actor::World, request), Accesses::default(), Vec::new(), Outcome::Done)?;
        Ok(true)
    }

    /// Does the next thing that the world owes. Returns whether there was one.
    fn settle_once(&mut self) -> Result<bool, EpisodeError> {
        let script = Arc::clone(&self.script);
        let plan = script.plan();
        if self.schedule.closed {
            return Ok(false);
        }
        if self.schedule.is_full(plan) {
            return self.end_full();
        }
        if let Some((index, done)) = self.schedule.unfinished_event() {
            self.continue_event(plan, index, done)?;
            return Ok(true);
        }
        if let Some((text, cause)) = self.schedule.next_alert() {
            let draft = Draft { causes: vec![cause], ..Draft::of(Actor::World, Request::Notify { text }) };
            self.append(draft, Accesses::default(), Vec::new(), Outcome::Done)?;
            return Ok(true);
        }
        if let Some((index, look, call)) = self.schedule.unfinished_reaction() {
            let actor = Actor::Persona(plan.personas[index].name.clone());
            // A refusal is on record; the persona goes on with the next thing.
            let _ = self.execute(Draft { causes: vec![look], ..Draft::of(actor, Request::Look) }, call)?;
            return Ok(true);
        }
        for index in self.schedule.stirred_conditions(plan) {
            if self.evaluate_condition(&*script, index)? {
                return Ok(true);
            }
        }
        let target = if self.schedule.handing_over { self.next_opening(plan) } else { self.schedule.horizon };
        let next = self.schedule.next_due(target);
        if let Some((closing, text)) = self.schedule.closing_notice(plan)
            && closing <= target
            && next.is_none_or(|(time, _)| closing < time)
        {
            self.schedule.advance_to(closing);
            let draft = Draft::of(Actor::World, Request::Notify { text: text.to_owned() });
            self.append(draft, Accesses::default(), Vec::new(), Outcome::Done)?;
            return Ok(true);
        }
        if let Some((time, due)) = next {
            self.schedule.advance_to(time);
            match due {
                Due::Opens(index) => self.schedule.reach_opening(time, index),
                Due::Event(index) => self.event_due(plan, index),
                Due::Look(index) => self.look(&*script, index)?,
            }
            return Ok(true);
        }
        self.arrive(plan, target)
    }

    /// Reaches the time up to which nothing more is due.
    fn arrive(&mut self, plan: &Plan, target: SimTime) -> Result<bool, EpisodeError> {
        if target > self.schedule.now {
            // Conditions that read the clock are looked at once more before anything else.
            self.schedule.advance_to(target);
            return Ok(true);
        }
        if self.schedule.handing_over {
            let next = self.schedule.day.get() as usize;
            let draft = match plan.days.get(next) {
                Some(day) => {
                    let mut notification = day.notification.clone();
                    for line in self.schedule.lines.iter() {
                        notification.push_str("\n- ");
                        notification.push_str(line);
                    }
                    Draft::of(Actor::World, Request::OpenDay { name: day.name.clone(), notification })
                }
                None => Draft::of(Actor::World, Request::Close),
            };
            self.append(draft, Accesses::default(), Vec::new(), Outcome::Done)?;
            return Ok(true);
        }
        if plan.clock == Clock::Flowing && self.schedule.now >= self.schedule.day_ends(plan) {
            let draft = Draft::of(Actor::World, Request::EndDay);
            self.append(draft, Accesses::default(), Vec::new(), Outcome::Done)?;
            return Ok(true);
        }
        Ok(false)
    }

    fn next_opening(&self, plan: &Plan) -> SimTime {
        plan.days.get(self.schedule.day.get() as usize).map_or(plan.closes, |day| day.opens).max(self.schedule.now)
    }

    fn event_due(&mut self, plan: &Plan, index: usize) {
        match plan.events[index].when {
            When::Condition { at_deadline: false, .. } => self.schedule.expire_condition(plan, index),
            When::Condition { .. } | When::At(_) | When::After { .. } => self.schedule.start_event(plan, index),
        }
    }

    /// Carries out the next command of the event at `index`, or tells its notice.
    fn continue_event(&mut self, plan: &Plan, index: usize, done: usize) -> Result<(), EpisodeError> {
        let event = &plan.events[index];
        let id = Some(event_id(plan, index));
        let causes = match self.schedule.firing(index) {
            Some(firing) => firing.records[..1].to_vec(),
            None => self.causes_of(plan, index),
        };
        match event.commands.get(done) {
            Some(command) => {
                let mut call = command.call.clone();
                let draft = Draft { event: id, causes, ..Draft::of(command.actor.clone(), Request::Look) };
                // A refusal is on record; the event goes on with its next command.
                match self.fill_references(plan, &mut call.arguments) {
                    Ok(()) => drop(self.execute(draft, call)?),
                    Err(reference) => {
                        let message = format!("'{{{{{reference}}}}}' leads nowhere: what it names did not come about");
                        self.refuse(draft, call, Rejection::new(REFERENCE_MISSING, message))?;
                    }
                }
            }
            None => {
                let text = event.notice.clone().unwrap_or_default();
                let draft = Draft { event: id, causes, ..Draft::of(Actor::World, Request::Notify { text }) };
                self.append(draft, Accesses::default(), Vec::new(), Outcome::Done)?;
            }
        }
        Ok(())
    }

    /// Returns the records without which the event at `index` would not happen: the event before it, or what its condition read.
    fn causes_of(&self, plan: &Plan, index: usize) -> Vec<Seq> {
        match &plan.events[index].when {
            When::At(_) => Vec::new(),
            When::After { event, .. } => plan
                .event_index(event)
                .and_then(|other| self.schedule.firing(other))
                .map_or_else(Vec::new, |firing| firing.records.clone()),
            When::Condition { .. } => self.schedule.held(index).to_vec(),
        }
    }

    fn evaluate_condition(&mut self, script: &dyn Script<W>, index: usize) -> Result<bool, EpisodeError> {
        let frame = Frame::new();
        let holds = script.holds(index, &self.scene(&frame));
        let accesses = frame.close();
        missing(&accesses)?;
        let holds = match holds {
            Ok(holds) => holds,
            Err(error) => {
                // On record with what it read; it waits, as one that does not hold, until something of that is written.
                let draft =
                    Draft { event: Some(event_id(script.plan(), index)), ..Draft::of(Actor::World, Request::Look) };
                self.append(draft, accesses, Vec::new(), failed(CONDITION_FAILED, &error))?;
                return Ok(true);
            }
        };
        if !holds {
            self.schedule.rest_condition(index, accesses.reads);
            return Ok(false);
        }
        let precise = accesses.reads.iter().filter(|read| read.kind != crate::access::ReadKind::Scan);
        let mut writers: Vec<Seq> = precise.map(|read| read.written).filter(|seq| seq.get() > 0).collect();
        writers.sort_unstable();
        writers.dedup();
        self.schedule.hold_condition(script.plan(), index, writers);
        Ok(true)
    }

    fn look(&mut self, script: &dyn Script<W>, index: usize) -> Result<(), EpisodeError> {
        let (memory, causes) = self.schedule.mind(index);
        let frame = Frame::new();
        let reaction = script.react(index, &memory, &self.scene(&frame));
        let actor = Actor::Persona(script.plan().personas[index].name.clone());
        let outcome = match reaction {
            Ok(reaction) => Outcome::Answered(Payload::store(reaction.to_value(), &frame, &*self.blobs)),
            Err(error) => failed(PERSONA_FAILED, &error),
        };
        let accesses = frame.close();
        missing(&accesses)?;
        self.append(Draft { causes, ..Draft::of(actor, Request::Look) }, accesses, Vec::new(), outcome)?;
        Ok(())
    }

    /// Fills in what `arguments` take from the answers of earlier events, or returns the first reference that leads nowhere.
    fn fill_references(&self, plan: &Plan, arguments: &mut Value) -> Result<(), String> {
        fill(arguments, &|reference| {
            let (event, path) = reference.split_once('.')?;
            let firing = self.schedule.firing(plan.event_index(&crate::id::EventId::new(event))?)?;
            firing.records.iter().rev().find_map(|seq| {
                let call = PastCall::read(self.log.stored(*seq).ok()?, &*self.blobs).ok()??;
                path.split('.').try_fold(call.answer.ok()?, |value, part| value.get(part).cloned())
            })
        })
    }

    /// Appends the record of a call that is refused before the world is asked.
    fn refuse(&mut self, draft: Draft, call: ToolCall, rejection: Rejection) -> Result<(), EpisodeError> {
        let frame = Frame::new();
        let arguments = Payload::store(call.arguments, &frame, &*self.blobs);
        let draft = Draft { request: Request::Call { tool: call.tool, arguments }, ..draft };
        self.append(draft, frame.close(), Vec::new(), Outcome::Refused(rejection))?;
        Ok(())
    }

    /// Decides `call` and appends its record. Returns the record and the answer.
    fn execute(&mut self, draft: Draft, call: ToolCall) -> Result<(Seq, Result<Value, Rejection>), EpisodeError> {
        let call = call.bounded();
        let frame = Frame::with_budget(self.script.plan().limits.budget());
        // The one place where the host comes in.
        let ask = |seq, errand: &Errand| {
            self.host.as_ref().map_or(Value::Null, |host| host.carry_out(seq, errand, &*self.blobs))
        };
        let Decided { decision, brought } = self.decide(&draft, &call, &frame, self.schedule.now, ask);
        let (events, answer, wait) = match decision {
            Ok(decision) => (decision.events, Ok(decision.answer), decision.wait),
            Err(rejection) => (Vec::new(), Err(rejection), None),
        };
        let outcome = match &answer {
            Ok(value) => Outcome::Answered(Payload::store(value.clone(), &frame, &*self.blobs)),
            Err(rejection) => Outcome::Refused(rejection.clone()),
        };
        if draft.event.as_ref().is_some_and(crate::id::EventId::is_outside) {
            // A timeline's blobs are its scenario's; these came in with the call, and must be there when it is executed again.
            note_named_blobs(&call.arguments, &frame, &*self.blobs);
        }
        let arguments = Payload::store(call.arguments, &frame, &*self.blobs);
        let brought = brought.map(|value| Payload::store(value, &frame, &*self.blobs));
        let accesses = frame.close();
        missing(&accesses)?;
        let draft = Draft { request: Request::Call { tool: call.tool, arguments }, brought, ..draft };
        let seq = self.append_waiting(draft, accesses, events, outcome, wait)?;
        Ok((seq, answer))
    }

    /// The one way from a call to its decision, for live play, re-execution and audits: admission, the errand if there is one, the world.
    /// The call begins at `time`.
    fn decide(
        &self,
        draft: &Draft,
        call: &ToolCall,
        frame: &Frame,
        time: SimTime,
        carry_out: impl FnOnce(Seq, &Errand) -> Value,
    ) -> Decided<W::Event> {
        let spec = match self.admit(draft, call) {
            Ok(spec) => spec,
            Err(rejection) => return Decided::refused(rejection),
        };
        let context = Context {
            seq: Seq::new(self.log.head().count),
            time: ends(self.script.plan(), &draft.actor, spec, time),
            actor: &draft.actor,
            turn: draft.turn,
            allowance: self.allowance(draft),
            seed: self.schedule.seed,
            frame,
            blobs: &*self.blobs,
        };
        let errand = match self.world.errand(call, &context) {
            Ok(errand) => errand,
            Err(rejection) => return Decided::refused(rejection),
        };
        let brought = errand.map(|errand| carry_out(context.seq, &errand));
        let decision = match &brought {
            Some(brought) => self.world.settle(call, brought, &context),
            None => self.world.decide(call, &context),
        };
        let decision = decision.and_then(|decision| self.admit_wait(decision));
        Decided { decision, brought: brought.filter(|brought| *brought != Value::Null) }
    }

    fn append(
        &mut self,
        draft: Draft,
        accesses: Accesses,
        events: Vec<W::Event>,
        outcome: Outcome,
    ) -> Result<Seq, EpisodeError> {
        self.append_waiting(draft, accesses, events, outcome, None)
    }

    fn append_waiting(
        &mut self,
        draft: Draft,
        accesses: Accesses,
        events: Vec<W::Event>,
        outcome: Outcome,
        wait: Option<Wait>,
    ) -> Result<Seq, EpisodeError> {
        let opens_day = matches!(draft.request, Request::OpenDay { .. });
        let day = if opens_day { self.schedule.day.next() } else { self.schedule.day };
        let Draft { actor, turn, event, mut causes, request, brought } = draft;
        causes.extend(accesses.causes);
        causes.sort_unstable();
        causes.dedup();
        let head = RecordHead {
            actor,
            turn,
            day,
            event,
            causes,
            request,
            wait,
            blobs: accesses.blobs,
            untracked: accesses.untracked,
            brought,
        };
        let previous = self.log.head();
        let seq = Seq::new(previous.count);
        let parts = Parts {
            seq,
            time: self.schedule.now,
            head: &head,
            reads: &accesses.reads,
            events: &events,
            outcome: &outcome,
        };
        let buffer = encode_parts(previous.hash, &parts, std::mem::take(&mut self.scratch.buffer));
        let record: Arc<[u8]> = buffer.as_slice().into();
        self.scratch.buffer = buffer;
        let traced = Schedule::watches_keys(self.script.plan());
        self.absorb_record(record, Some(head), traced)?;
        Ok(seq)
    }
}
