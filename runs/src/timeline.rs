//! The timeline of a run: days, turns, calls, exogenous events and verdict changes in log order, for people and programs.

use dayshift_engine::codec::Stored;
use dayshift_engine::{CodecError, Outcome, PastCall, Request, Seq, SmolStr, Turn, Value};
use dayshift_replay::Report;
use serde::Serialize;

use crate::error::RunError;
use crate::failure::ScriptFailure;
use crate::run::Run;

/// One entry of a timeline.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// The record.
    pub record: Seq,
    /// When it happened, RFC 3339 in UTC.
    pub time: String,
    /// The day's name; empty before the first one opens.
    pub day: SmolStr,
    /// The agent's turn, if the agent acted.
    pub turn: Option<Turn>,
    /// Who acted.
    pub actor: String,
    /// What happened.
    #[serde(flatten)]
    pub what: What,
    /// How the verdicts moved by the segment that ends here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub verdicts: Vec<VerdictChange>,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum What {
    /// A day opened.
    Day {
        /// What the agent was told.
        notification: String,
    },
    /// The agent said something.
    Message {
        /// What it said.
        text: String,
        /// Whether it handed over.
        hand_over: bool,
    },
    /// A call, of the agent, a persona or the world.
    Call {
        /// The tool.
        tool: SmolStr,
        /// Its arguments, whole.
        arguments: Value,
        /// The answer, whole; the message of a refusal.
        answer: Value,
        /// The code of the refusal, if it was one.
        #[serde(skip_serializing_if = "Option::is_none")]
        refused: Option<String>,
        /// The exogenous event that it belongs to, if any.
        #[serde(skip_serializing_if = "Option::is_none")]
        event: Option<String>,
        /// Whether that event tells the agent.
        loud: bool,
    },
    /// The agent was told a line.
    Notice {
        /// The line.
        text: String,
        /// The exogenous event that it belongs to.
        event: Option<String>,
    },
    /// A persona looked and decided.
    Look {
        /// How many things it set out to do.
        commands: usize,
    },
    /// A script of the scenario failed: a persona's look, or the condition of an event.
    Failed {
        /// Whose script.
        script: String,
        /// The stable code.
        code: String,
        /// The script's message.
        message: String,
    },
    /// The day's time was up.
    EndDay,
    /// The episode ended.
    Close,
}

/// How one verdict moved.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VerdictChange {
    /// The check.
    pub check: SmolStr,
    /// Its level before.
    pub before: f64,
    /// Its level after.
    pub after: f64,
}

/// The longest piece of arguments or answer that a timeline shows, in characters.
pub const SHOWN_CHARS_MAX: usize = 160;

/// Returns the timeline of `run`, from its opening on.
///
/// # Errors
///
/// [`RunError::Codec`] when a record does not decode.
pub fn timeline(run: &Run, report: &Report) -> Result<Vec<Entry>, RunError> {
    let days = run.days();
    let plan = run.scenario.script().plan().clone();
    let mut entries = Vec::new();
    for record in run.records.iter().skip(report.opened.get() as usize + 1) {
        let stored = Stored::new(record)?;
        let head = stored.head()?;
        let day = (head.day.get() as usize).checked_sub(1).and_then(|index| days.get(index)).cloned();
        let event = head.event.as_ref().map(ToString::to_string);
        let loud =
            head.event.as_ref().and_then(|id| plan.event_index(id)).is_some_and(|at| plan.events[at].notice.is_some());
        entries.push(Entry {
            record: stored.seq(),
            time: stored.time().to_string(),
            day: day.unwrap_or_default(),
            turn: head.turn,
            actor: head.actor.to_string(),
            what: what(run, stored, head.request, event, loud)?,
            verdicts: changes(report, stored.seq()),
        });
    }
    Ok(entries)
}

fn what(
    run: &Run,
    stored: Stored<'_>,
    request: Request,
    event: Option<String>,
    loud: bool,
) -> Result<What, CodecError> {
    Ok(match request {
        Request::OpenDay { notification, .. } => What::Day { notification },
        Request::Message { text, hand_over } => What::Message { text, hand_over },
        Request::Notify { text } => What::Notice { text, event },
        Request::Look => match ScriptFailure::of(stored)? {
            Some(ScriptFailure { script, code, message, .. }) => What::Failed { script, code, message },
            None => What::Look { commands: commands_of(run, stored)? },
        },
        Request::EndDay => What::EndDay,
        Request::Close | Request::Genesis { .. } | Request::Open { .. } => What::Close,
        Request::Call { tool, .. } => {
            let call = PastCall::read(stored, &*run.blobs)?;
            let (arguments, answer) = call.map_or((Value::Null, Ok(Value::Null)), |call| (call.arguments, call.answer));
            let refused = answer.as_ref().err().map(|rejection| rejection.code.to_string());
            let answer = answer.unwrap_or_else(|rejection| rejection.message.into());
            What::Call { tool, arguments, answer, refused, event, loud }
        }
    })
}

fn commands_of(run: &Run, stored: Stored<'_>) -> Result<usize, CodecError> {
    let Outcome::Answered(payload) = stored.outcome()? else { return Ok(0) };
    let reaction = payload.load(stored.seq(), &*run.blobs)?;
    Ok(reaction.get("commands").and_then(Value::as_list).map_or(0, <[Value]>::len))
}

/// Shortens `text` to what a line for people can show. Programs get everything.
#[must_use]
pub fn short(text: &str) -> String {
    if text.chars().count() <= SHOWN_CHARS_MAX {
        return text.to_owned();
    }
    text.chars().take(SHOWN_CHARS_MAX - 1).chain(['…']).collect()
}

fn changes(report: &Report, at: Seq) -> Vec<VerdictChange> {
    let here = report.moves.iter().filter(|step| step.at == at);
    here.map(|step| VerdictChange {
        check: report.verdicts[step.check].spec.id.clone(),
        before: step.before,
        after: step.after,
    })
    .collect()
}
