//! A scenario's timeline as the kernel runs it: days, exogenous events and people, all resolved. The author's form (offsets, defaults, names
//! of files) is the business of the crate `scenarios`.

use std::collections::{BTreeMap, BTreeSet};

use smol_str::SmolStr;

use crate::access::Key;
use crate::budget::{Budget, CALL_BYTES_MAX, CALL_WORK_MAX};
use crate::id::{Actor, EventId};
use crate::time::{SimDuration, SimTime};
use crate::tool::ToolCall;

/// How many calls one turn may hold, unless the scenario says otherwise.
pub const CALLS_PER_TURN_MAX: u32 = 256;

/// How many bytes the records and blobs of one episode may take, unless the scenario says otherwise (512 MiB). What the scenario brings does
/// not count.
pub const EPISODE_BYTES_MAX: u64 = 512 << 20;

/// How many records one episode may have after its opening, unless the scenario says otherwise.
pub const EPISODE_RECORDS_MAX: u64 = 1_000_000;

/// How long before a day ends the agent is told so (flowing clock only), in seconds.
pub const CLOSING_NOTICE_SECONDS: u64 = 900;

/// How many turns one day may hold, unless the scenario says otherwise.
pub const TURNS_PER_DAY_MAX: u32 = 1000;

/// A whole timeline.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The days, in order, at least one.
    pub days: Vec<PlannedDay>,
    /// The exogenous events, in the author's order, which also decides among equal times.
    pub events: Vec<PlannedEvent>,
    /// The personas that look and react.
    pub personas: Vec<PlannedPersona>,
    /// What the agent notices by itself: new mail, a chat message.
    pub alerts: Vec<Alert>,
    /// How the clock runs.
    pub clock: Clock,
    /// When the episode ends: what is due until then still happens after the last day was handed over.
    pub closes: SimTime,
    /// What an episode may use.
    pub limits: EpisodeLimits,
}

/// What an episode may use. Everything is counted, so that a limit is met at the same record on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpisodeLimits {
    /// How many turns a day may hold; what is called after them is refused.
    pub turns_per_day_max: u32,
    /// How many calls a turn may hold; what is called after them is refused.
    pub calls_per_turn_max: u32,
    /// How much work one call may cost, in the units of [`crate::Budget`].
    pub call_work_max: u64,
    /// How many bytes of intermediate results one call may make.
    pub call_bytes_max: u64,
    /// How many bytes the records and blobs after the opening may take; the episode ends with the record that reaches it.
    pub episode_bytes_max: u64,
    /// How many records there may be after the opening; the episode ends with the one that reaches it.
    pub episode_records_max: u64,
}

impl Default for EpisodeLimits {
    fn default() -> Self {
        Self {
            turns_per_day_max: TURNS_PER_DAY_MAX,
            calls_per_turn_max: CALLS_PER_TURN_MAX,
            call_work_max: CALL_WORK_MAX,
            call_bytes_max: CALL_BYTES_MAX,
            episode_bytes_max: EPISODE_BYTES_MAX,
            episode_records_max: EPISODE_RECORDS_MAX,
        }
    }
}

impl EpisodeLimits {
    /// Returns the budget of one call.
    #[must_use]
    pub fn budget(&self) -> Budget {
        Budget::new(self.call_work_max, self.call_bytes_max)
    }
}

/// How simulated time passes while the agent works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// Time stands still within a day and jumps to the next opening.
    #[default]
    Staged,
    /// Each call costs its declared seconds, so that the world changes between two calls of one turn.
    Flowing,
}

/// One day.
#[derive(Clone, Debug)]
pub struct PlannedDay {
    /// The name, unique.
    pub name: SmolStr,
    /// When it opens.
    pub opens: SimTime,
    /// When the agent's time is up (flowing clock only).
    pub ends: SimTime,
    /// What the agent is told when it opens.
    pub notification: String,
    /// What the agent is told [`CLOSING_NOTICE_SECONDS`] before the day ends (flowing clock only).
    pub closing: Option<String>,
}

impl PlannedDay {
    /// Returns when the agent is told that the day ends soon; never before it opens.
    #[must_use]
    pub fn closing_at(&self) -> SimTime {
        (self.ends - SimDuration::from_seconds(CLOSING_NOTICE_SECONDS)).max(self.opens)
    }
}

/// One exogenous event.
#[derive(Clone, Debug)]
pub struct PlannedEvent {
    /// The name, unique.
    pub id: EventId,
    /// When it happens.
    pub when: When,
    /// What happens, in order.
    pub commands: Vec<PlannedCommand>,
    /// The line that the agent gets; nothing for a silent event.
    pub notice: Option<String>,
}

/// When an exogenous event happens.
#[derive(Clone, Debug)]
pub enum When {
    /// At a time.
    At(SimTime),
    /// After another event.
    After {
        /// The other event.
        event: EventId,
        /// How long after it.
        delay: SimDuration,
    },
    /// As soon as a condition holds.
    Condition {
        /// From when on it is looked at.
        opens: SimTime,
        /// Until when it is looked at.
        deadline: SimTime,
        /// Whether the event happens at the deadline although the condition never held.
        at_deadline: bool,
    },
}

/// One command of an exogenous event. Texts in its arguments may refer to an earlier event's answer as `{{event.field}}`.
#[derive(Clone, Debug)]
pub struct PlannedCommand {
    /// In whose name: the world or a persona.
    pub actor: Actor,
    /// What is asked.
    pub call: ToolCall,
}

/// One persona.
#[derive(Clone, Debug)]
pub struct PlannedPersona {
    /// The name, unique.
    pub name: SmolStr,
    /// The keys whose writing makes it look: its inbox, its conversations.
    pub watches: Vec<Key>,
    /// How long it takes to look.
    pub delay: SimDuration,
    /// When it first looks by itself, if ever.
    pub wakes: Option<SimTime>,
}

/// A piece of the world whose writing by a persona the agent is told of. Exogenous events say for themselves whether they are loud.
#[derive(Clone, Debug)]
pub struct Alert {
    /// The key.
    pub key: Key,
    /// What the agent is told if the world has no headline for what happened ([`crate::World::headline`]).
    pub line: String,
}

/// Why a timeline cannot run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPlan {
    /// No days.
    #[error("the timeline has no days")]
    NoDays,
    /// Two things of one name.
    #[error("the name '{0}' is used twice on the timeline")]
    Twice(SmolStr),
    /// Days out of order.
    #[error("day '{0}' opens before the day ahead of it")]
    DayOrder(SmolStr),
    /// An event waits for one that does not exist.
    #[error("event '{event}' comes after '{missing}', which does not exist")]
    Unknown {
        /// The event that waits.
        event: EventId,
        /// What it waits for.
        missing: EventId,
    },
    /// Events wait for one another.
    #[error("the events {} wait for one another, so none of them can ever happen", .0.iter().map(|id| format!("'{id}'")).collect::<Vec<_>>().join(", "))]
    Cycle(Vec<EventId>),
    /// An event that can never happen.
    #[error("event '{0}' can never happen: its time is after the end or its deadline before its start")]
    Never(EventId),
    /// An event that does nothing.
    #[error("event '{0}' has neither commands nor a notice")]
    Empty(EventId),
}

impl Plan {
    /// Makes sure that the timeline can run: names unique, days in order, no event that waits in a circle or can never happen.
    ///
    /// # Errors
    ///
    /// [`BadPlan`] for the first fault.
    pub fn validate(&self) -> Result<(), BadPlan> {
        if self.days.is_empty() {
            return Err(BadPlan::NoDays);
        }
        for pair in self.days.windows(2) {
            if pair[1].opens < pair[0].opens {
                return Err(BadPlan::DayOrder(pair[1].name.clone()));
            }
        }
        for names in [
            self.days.iter().map(|day| day.name.as_str()).collect::<Vec<_>>(),
            self.events.iter().map(|event| event.id.as_str()).collect(),
            self.personas.iter().map(|persona| persona.name.as_str()).collect(),
        ] {
            let mut seen = BTreeSet::new();
            if let Some(twice) = names.into_iter().find(|name| !seen.insert(*name)) {
                return Err(BadPlan::Twice(twice.into()));
            }
        }
        self.events.iter().try_for_each(|event| self.validate_event(event))?;
        self.find_cycle().map_or(Ok(()), |cycle| Err(BadPlan::Cycle(cycle)))
    }

    /// Returns the position of the event `id`.
    #[must_use]
    pub fn event_index(&self, id: &EventId) -> Option<usize> {
        self.events.iter().position(|event| event.id == *id)
    }

    fn validate_event(&self, event: &PlannedEvent) -> Result<(), BadPlan> {
        if event.commands.is_empty() && event.notice.is_none() {
            return Err(BadPlan::Empty(event.id.clone()));
        }
        match &event.when {
            When::At(time) if *time > self.closes => Err(BadPlan::Never(event.id.clone())),
            When::Condition { opens, deadline, .. } if deadline < opens || *opens > self.closes => {
                Err(BadPlan::Never(event.id.clone()))
            }
            When::After { event: other, .. } if self.event_index(other).is_none() => {
                Err(BadPlan::Unknown { event: event.id.clone(), missing: other.clone() })
            }
            When::At(_) | When::After { .. } | When::Condition { .. } => Ok(()),
        }
    }

    /// Returns the events of a circle of waiting, if there is one. Every event waits for at most one other.
    fn find_cycle(&self) -> Option<Vec<EventId>> {
        let waits: BTreeMap<&EventId, &EventId> = self
            .events
            .iter()
            .filter_map(|each| if let When::After { event, .. } = &each.when { Some((&each.id, event)) } else { None })
            .collect();
        for start in waits.keys() {
            let mut path = vec![*start];
            while let Some(next) = path.last().and_then(|last| waits.get(*last)) {
                if let Some(at) = path.iter().position(|seen| seen == next) {
                    return Some(path[at..].iter().map(|id| (*id).clone()).collect());
                }
                path.push(next);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(waits: &[(&str, &str)]) -> Plan {
        let day = PlannedDay {
            name: "mon".into(),
            opens: SimTime::from_millis(0),
            ends: SimTime::from_millis(10),
            notification: String::new(),
            closing: None,
        };
        let events = waits.iter().map(|(id, other)| PlannedEvent {
            id: EventId::new(*id),
            when: if other.is_empty() {
                When::At(SimTime::from_millis(1))
            } else {
                When::After { event: EventId::new(*other), delay: SimDuration::ZERO }
            },
            commands: Vec::new(),
            notice: Some("x".to_owned()),
        });
        Plan { days: vec![day], events: events.collect(), closes: SimTime::from_millis(10), ..Plan::default() }
    }

    #[test]
    fn events_that_wait_for_one_another_are_refused_and_named() {
        let found = plan(&[("free", ""), ("a", "b"), ("b", "c"), ("c", "a")]).validate();
        assert_eq!(found, Err(BadPlan::Cycle(["a", "b", "c"].map(EventId::new).to_vec())));
        assert!(found.unwrap_err().to_string().contains("'a', 'b', 'c'"));
    }

    #[test]
    fn a_chain_of_events_is_admitted() {
        assert_eq!(plan(&[("a", ""), ("b", "a"), ("c", "b")]).validate(), Ok(()));
    }

    #[test]
    fn an_event_after_nothing_that_exists_is_refused() {
        assert!(matches!(plan(&[("a", "ghost")]).validate(), Err(BadPlan::Unknown { .. })));
    }
}
