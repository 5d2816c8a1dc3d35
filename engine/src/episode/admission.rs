//! What stands between a call and the world: which tools there are, and what is said of those that there are not.

use crate::access::{Accesses, Frame};
use crate::blob::Blobs;
use crate::id::{Actor, BlobId};
use crate::plan::{Clock, Plan};
use crate::record::Outcome;
use crate::script::ScriptError;
use crate::time::SimTime;
use crate::tool::{Audience, Rejection, ToolCall, ToolSpec};
use crate::value::Value;
use crate::world::{Allowance, Decision, World};

use super::error::{EpisodeError, MESSAGE_BYTES_MAX, SCRIPT_MESSAGE_CHARS_MAX};
use super::{Draft, Episode};

/// Returns what is recorded of a script that failed.
pub(super) fn failed(code: &'static str, error: &ScriptError) -> Outcome {
    let mut message = error.to_string();
    if let Some((end, _)) = message.char_indices().nth(SCRIPT_MESSAGE_CHARS_MAX) {
        message.truncate(end);
    }
    Outcome::Refused(Rejection::new(code, message))
}

/// Returns a message as it is recorded: one that is too long ends with a note of how much there was.
pub(super) fn bounded_message(text: &str) -> String {
    if text.len() <= MESSAGE_BYTES_MAX {
        return text.to_owned();
    }
    let note = format!("\n[cut: the message has {} bytes, and at most {MESSAGE_BYTES_MAX} are recorded]", text.len());
    let mut kept = text[..text.floor_char_boundary(MESSAGE_BYTES_MAX - note.len())].to_owned();
    kept.push_str(&note);
    kept
}

pub(super) fn missing(accesses: &Accesses) -> Result<(), EpisodeError> {
    accesses.missing.map_or(Ok(()), |id| Err(EpisodeError::BlobMissing(id)))
}

/// Notes the blobs that texts of `value` name.
pub(super) fn note_named_blobs(value: &Value, frame: &Frame, blobs: &dyn Blobs) {
    match value {
        Value::Text(text) => {
            if let Ok(id) = text.parse::<BlobId>()
                && blobs.get(id).is_some()
            {
                frame.note_blob(id);
            }
        }
        Value::List(items) => items.iter().for_each(|item| note_named_blobs(item, frame, blobs)),
        Value::Map(map) => map.values().for_each(|item| note_named_blobs(item, frame, blobs)),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => {}
    }
}

/// Returns the tool `name`. The tools are sorted by name.
pub(super) fn spec_of<W: World>(name: &str) -> Option<&'static ToolSpec> {
    let tools = W::tools();
    tools.binary_search_by(|spec| spec.name.cmp(name)).ok().map(|index| tools[index])
}

pub(super) fn unknown_tool<W: World>(world: &W, name: &str) -> Rejection {
    let service = name.split('.').next().unwrap_or_default();
    let offered = |spec: &&&ToolSpec| spec.audience == Audience::Everybody && world.offers(spec);
    let same: Vec<&str> = W::tools()
        .iter()
        .filter(offered)
        .map(|spec| spec.name)
        .filter(|tool| tool.split('.').next() == Some(service))
        .collect();
    let known = if same.is_empty() {
        let mut services: Vec<&str> =
            W::tools().iter().filter(offered).filter_map(|spec| spec.name.split('.').next()).collect();
        services.dedup();
        format!("the services are {}", services.join(", "))
    } else {
        format!("{service} offers {}", same.join(", "))
    };
    Rejection::new("call/unknown-tool", format!("there is no tool '{name}'; {known}"))
}

impl<W: World> Episode<W> {
    /// Refuses a call that no world need see.
    pub(super) fn admit(&self, draft: &Draft, call: &ToolCall) -> Result<&'static ToolSpec, Rejection> {
        call.admit_readable()?;
        let spec = spec_of::<W>(&call.tool)
            .filter(|spec| spec.audience == Audience::Everybody || draft.actor != Actor::Agent)
            .filter(|spec| self.world.offers(spec))
            .ok_or_else(|| unknown_tool(&self.world, &call.tool))?;
        if draft.actor == Actor::Agent {
            self.admit_turn()?;
        }
        spec.admit(call).map(|()| spec)
    }

    pub(super) fn admit_wait(&self, decision: Decision<W::Event>) -> Result<Decision<W::Event>, Rejection> {
        if decision.wait.is_some() && self.script.plan().clock == Clock::Staged {
            return Err(Rejection::new(
                "clock/stands-still",
                "time stands still within a day; hand over to go on to the next one",
            ));
        }
        Ok(decision)
    }

    /// Returns what the agent has left of its day and turn after the call of `draft`.
    pub(super) fn allowance(&self, draft: &Draft) -> Allowance {
        let plan = self.script.plan();
        let is_new = draft.turn.is_some_and(|turn| turn > self.schedule.turn);
        let calls = if is_new { 0 } else { self.schedule.calls_in_turn };
        let turns = self.schedule.turns_today + u32::from(is_new);
        let today = (self.schedule.day.get() as usize).checked_sub(1).and_then(|index| plan.days.get(index));
        let today = today.filter(|_| plan.clock == Clock::Flowing);
        Allowance {
            day_ends: today.map(|day| day.ends),
            closing: today.map(crate::plan::PlannedDay::closing_at),
            calls_left: plan.limits.calls_per_turn_max.saturating_sub(calls + 1),
            turns_left: plan.limits.turns_per_day_max.saturating_sub(turns),
        }
    }

    pub(super) fn admit_turn(&self) -> Result<(), Rejection> {
        let plan = self.script.plan();
        let turns_max = plan.limits.turns_per_day_max;
        if self.schedule.turns_today > turns_max {
            let message = format!("the {turns_max} turns of this day are used up; hand over to go on");
            return Err(Rejection::new("turn/too-many", message));
        }
        let calls_max = plan.limits.calls_per_turn_max;
        if self.schedule.calls_in_turn >= calls_max {
            let message = format!("a turn holds at most {calls_max} calls; begin another one");
            return Err(Rejection::new("turn/too-many-calls", message));
        }
        Ok(())
    }
}

/// Returns when a call that began at `time` takes effect: on a flowing clock the agent's calls take their cost, all others none.
pub(super) fn ends(plan: &Plan, actor: &Actor, spec: &ToolSpec, time: SimTime) -> SimTime {
    if plan.clock == Clock::Flowing && *actor == Actor::Agent { time + spec.cost() } else { time }
}
