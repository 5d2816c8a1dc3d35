//! A record: one entry of the log and one transaction. What was asked, what was read to decide it, the events that followed, what was
//! answered. Plain data; [`crate::codec`] alone knows the stored form.

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::access::Read;
use crate::id::{Actor, BlobId, Day, EventId, Seq, Turn};
use crate::random::Seed;
use crate::time::SimTime;
use crate::tool::{Rejection, ToolCall};
use crate::value::Value;
use crate::world::Wait;

/// The version of the log format that this engine writes. Older ones are read for ever.
pub const LOG_FORMAT: u32 = 1;

/// The weight up to which a call's arguments or answer stay inside its record ([`Value::weight`], in bytes of text).
pub const PAYLOAD_INLINE_BYTES_MAX: usize = 2048;

/// One entry of the log, decoded.
#[derive(Clone, Debug, PartialEq)]
pub struct Record<E> {
    /// The position in the log.
    pub seq: Seq,
    /// The simulated time at which it happened.
    pub time: SimTime,
    /// Who asked for what.
    pub head: RecordHead,
    /// What was read to decide it, sorted.
    pub reads: Vec<Read>,
    /// The facts that followed, in order; none if it was refused or only looked.
    pub events: Vec<E>,
    /// What was answered.
    pub outcome: Outcome,
}

/// Who asked for what, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordHead {
    /// Who acted.
    pub actor: Actor,
    /// The agent's turn, if the agent acted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<Turn>,
    /// The day on which it happened; 0 before the first one opens.
    pub day: Day,
    /// Which exogenous event of the timeline this record belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<EventId>,
    /// Explicit lineage: the records without which this one would not be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Seq>,
    /// What was asked.
    pub request: Request,
    /// How long the caller waits (flowing clock only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<Wait>,
    /// The blobs that this record refers to; they travel with the log.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blobs: Vec<BlobId>,
    /// Whether something was read that no key stands for. Credit reports that part as unattributed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub untracked: bool,
    /// What the host brought back for this call, if it was sent on an errand ([`crate::Host`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brought: Option<Payload>,
}

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// The first record of every log: which scenario, at which version of its bytes, in which format.
    Genesis {
        /// The version of the log format.
        format: u32,
        /// The scenario's id.
        scenario: SmolStr,
        /// The scenario's digest: the blob that lists its files.
        digest: BlobId,
        /// The simulated time at which everything starts.
        epoch: SimTime,
    },
    /// The episode opens: here the seed comes in. Everything before depends on the scenario alone.
    Open {
        /// Where all randomness of the episode comes from.
        seed: Seed,
    },
    /// A day opens with a notification to the agent.
    OpenDay {
        /// The day's name.
        name: SmolStr,
        /// What the agent is told.
        notification: String,
    },
    /// A command, as a tool call.
    Call {
        /// The tool's name.
        tool: SmolStr,
        /// The arguments.
        arguments: Payload,
    },
    /// The agent said something.
    Message {
        /// What it said.
        text: String,
        /// Whether it hands over, so that the day ends.
        hand_over: bool,
    },
    /// A line for the agent's next notification.
    Notify {
        /// The line.
        text: String,
    },
    /// A persona looked at what concerns it and decided what to do.
    Look,
    /// The day ends because its time is up.
    EndDay,
    /// The episode ends.
    Close,
}

impl Request {
    /// Returns whether the day ends here: the agent hands over, or its time is up. What happens until the next day opens is overnight.
    #[must_use]
    pub fn ends_day(&self) -> bool {
        matches!(self, Self::Message { hand_over: true, .. } | Self::EndDay)
    }

    /// Returns the name of the tool, if this is a call.
    #[must_use]
    pub fn tool(&self) -> Option<&str> {
        if let Self::Call { tool, .. } = self { Some(tool) } else { None }
    }
}

/// A value inside a record, or the name of the blob that holds its encoding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Payload {
    /// The value itself.
    Inline(Value),
    /// The blob with the value's MessagePack.
    Blob(BlobId),
}

/// What was answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Nothing was asked that has an answer.
    Done,
    /// The call's answer.
    Answered(Payload),
    /// The call was refused.
    Refused(Rejection),
}

impl Outcome {
    /// Returns the refusal, if it was one.
    #[must_use]
    pub fn rejection(&self) -> Option<&Rejection> {
        if let Self::Refused(rejection) = self { Some(rejection) } else { None }
    }
}

/// One input from outside: what the bytes of a log are a function of, besides scenario, seed and format.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// The agent starts a turn, with or without words.
    Turn {
        /// What it says; may be empty.
        text: String,
    },
    /// The agent calls a tool within the turn.
    Call(ToolCall),
    /// The agent ends the day.
    HandOver {
        /// What it says; may be empty.
        text: String,
    },
}

/// An input from outside that is not the agent's: somebody who stages the world by hand, as a benchmark's own code does, instead of by a
/// timeline. Its record is an ordinary one whose event [`EventId::is_outside`], so re-execution finds it among the inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Outside {
    /// Which event of the staging it belongs to: [`EventId::outside`].
    pub event: EventId,
    /// When it happens. The clock does not go back: an earlier time counts as now.
    pub time: SimTime,
    /// In whose name: the world or a persona.
    pub actor: Actor,
    /// What happens.
    pub act: OutsideAct,
}

/// What happens from outside.
#[derive(Clone, Debug, PartialEq)]
pub enum OutsideAct {
    /// A command; backstage tools are allowed.
    Call(ToolCall),
    /// A line that the agent is told.
    Tell(String),
}
