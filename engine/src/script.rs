//! What a scenario contributes to a running episode, and what its scripts can see. The language they are written in is not the kernel's
//! business.

use std::sync::Arc;

use imbl::OrdMap;
use smol_str::SmolStr;

use crate::access::{Frame, Key, ReadKind};
use crate::blob::Blobs;
use crate::changes::Changes;
use crate::codec::{CodecError, Stored, decode_value, encode_value};
use crate::id::{Actor, Day, Seq, Turn};
use crate::log::Log;
use crate::plan::Plan;
use crate::random::Seed;
use crate::record::{Outcome, PAYLOAD_INLINE_BYTES_MAX, Payload, RecordHead, Request};
use crate::time::{SimDuration, SimTime};
use crate::tool::{Rejection, ToolCall};
use crate::value::Value;
use crate::world::{Looking, World};

/// A scenario's timeline, conditions and personas. Implementations are pure: the same scene, the same answer.
pub trait Script<W: World>: Send + Sync {
    /// Returns the timeline.
    fn plan(&self) -> &Plan;

    /// Returns whether the condition of the event at `index` holds in `scene`.
    ///
    /// # Errors
    ///
    /// [`ScriptError`] when the condition cannot be evaluated.
    fn holds(&self, index: usize, scene: &Scene<'_, W>) -> Result<bool, ScriptError>;

    /// Lets the persona at `index` look at `scene`, with the memory that its last look left.
    ///
    /// # Errors
    ///
    /// [`ScriptError`] when the persona's script fails.
    fn react(&self, index: usize, memory: &Value, scene: &Scene<'_, W>) -> Result<Reaction, ScriptError>;
}

/// What a persona makes of what it sees.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reaction {
    /// What it remembers from now on.
    pub memory: Value,
    /// What it does, in order.
    pub commands: Vec<ToolCall>,
    /// When it looks again by itself, counted from now.
    pub wake: Option<SimDuration>,
}

impl Reaction {
    /// Returns the form in which a look's record answers.
    pub(crate) fn to_value(&self) -> Value {
        let commands = self.commands.iter().map(|call| {
            crate::map! { "tool" => call.tool.clone(), "arguments" => call.arguments.clone() }
        });
        crate::map! {
            "memory" => self.memory.clone(),
            "commands" => commands.collect::<Value>(),
            "wake_millis" => self.wake.map(SimDuration::as_millis),
        }
    }

    /// Reads what [`Self::to_value`] wrote.
    pub(crate) fn from_value(value: &Value) -> Self {
        let commands = value.get("commands").and_then(Value::as_list).unwrap_or_default();
        let call = |item: &Value| {
            let tool = item.get("tool").and_then(Value::as_text).unwrap_or_default();
            ToolCall::new(tool, item.get("arguments").cloned().unwrap_or_default())
        };
        let wake = value.get("wake_millis").and_then(Value::as_int).and_then(|millis| u64::try_from(millis).ok());
        Self {
            memory: value.get("memory").cloned().unwrap_or_default(),
            commands: commands.iter().map(call).collect(),
            wake: wake.map(SimDuration::from_millis),
        }
    }
}

/// A script of a scenario that failed: the author's mistake.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {message}")]
pub struct ScriptError {
    /// Which check, condition or persona.
    pub name: String,
    /// What is wrong, with file and line where they are known.
    pub message: String,
}

/// Everything that a check, a condition or a persona can look at. Every read through it is traced.
pub struct Scene<'a, W> {
    /// The world now.
    pub world: &'a W,
    /// The worlds as they were when each day was handed over, by the day's name.
    pub past: &'a OrdMap<SmolStr, W>,
    /// The log so far.
    pub log: &'a Log,
    /// What has changed since the episode opened, and through whom; only for checks that ask for it ([`crate::Checks::asks_for_changes`]).
    pub changes: Option<&'a Changes>,
    /// The simulated time.
    pub time: SimTime,
    /// The current day; 0 before the first one opens.
    pub day: Day,
    /// Where randomness comes from.
    pub seed: Seed,
    /// Where reads are noted.
    pub frame: &'a Frame,
    /// Where large content rests.
    pub blobs: &'a Arc<dyn Blobs>,
}

/// One call of the log, as scripts see it.
#[derive(Clone, Debug, PartialEq)]
pub struct PastCall {
    /// The record.
    pub seq: Seq,
    /// When.
    pub time: SimTime,
    /// On which day.
    pub day: Day,
    /// Who called.
    pub actor: Actor,
    /// In which turn, if the agent did.
    pub turn: Option<Turn>,
    /// The tool.
    pub tool: SmolStr,
    /// The arguments.
    pub arguments: Value,
    /// The answer, or why it was refused.
    pub answer: Result<Value, Rejection>,
}

impl<W: World> Scene<'_, W> {
    /// Returns what a question is asked with.
    #[must_use]
    pub fn looking(&self) -> Looking<'_> {
        Looking { time: self.time, frame: self.frame, blobs: &**self.blobs }
    }

    /// Returns the agent's calls so far, in order, of one tool or of all, and notes the reads.
    ///
    /// # Errors
    ///
    /// [`CodecError`] when the log does not decode.
    pub fn calls(&self, tool: Option<&str>) -> Result<Vec<PastCall>, CodecError> {
        let mut calls = Vec::new();
        for bytes in self.log.since(0) {
            let Some(call) = PastCall::read(Stored::new(bytes)?, &**self.blobs)? else { continue };
            if call.actor == Actor::Agent && tool.is_none_or(|tool| tool == call.tool) {
                self.frame.note(ReadKind::Item, Key::new(format!("log:record/{}", call.seq)), call.seq);
                calls.push(call);
            }
        }
        let last = calls.last().map(|call| call.seq).unwrap_or_default();
        self.frame.note(ReadKind::Membership, calls_key(tool), last);
        Ok(calls)
    }

    /// Returns what the agent said so far: position, turn, text. Notes the reads.
    ///
    /// # Errors
    ///
    /// [`CodecError`] when the log does not decode.
    pub fn messages(&self) -> Result<Vec<(Seq, Turn, String)>, CodecError> {
        let mut messages = Vec::new();
        for bytes in self.log.since(0) {
            let stored = Stored::new(bytes)?;
            let head = stored.head()?;
            if let (Request::Message { text, .. }, Some(turn)) = (head.request, head.turn) {
                self.frame.note(ReadKind::Item, Key::new(format!("log:record/{}", stored.seq())), stored.seq());
                messages.push((stored.seq(), turn, text));
            }
        }
        let last = messages.last().map(|(seq, ..)| *seq).unwrap_or_default();
        self.frame.note(ReadKind::Membership, Key::new("log:messages/"), last);
        Ok(messages)
    }
}

impl PastCall {
    /// Reads a stored record as a call; nothing if it is something else.
    ///
    /// # Errors
    ///
    /// [`CodecError`] when it does not decode.
    pub fn read(stored: Stored<'_>, blobs: &dyn Blobs) -> Result<Option<Self>, CodecError> {
        let head = stored.head()?;
        let Request::Call { tool, arguments } = head.request else { return Ok(None) };
        let answer = match stored.outcome()? {
            Outcome::Done => Ok(Value::Null),
            Outcome::Answered(payload) => Ok(payload.load(stored.seq(), blobs)?),
            Outcome::Refused(rejection) => Err(rejection),
        };
        Ok(Some(Self {
            seq: stored.seq(),
            time: stored.time(),
            day: head.day,
            actor: head.actor,
            turn: head.turn,
            tool,
            arguments: arguments.load(stored.seq(), blobs)?,
            answer,
        }))
    }
}

impl Payload {
    /// Returns `value` for a record: inline when small, otherwise as a blob that `frame` then refers to.
    #[must_use]
    pub fn store(value: Value, frame: &Frame, blobs: &dyn Blobs) -> Self {
        if value.weight() <= PAYLOAD_INLINE_BYTES_MAX {
            return Self::Inline(value);
        }
        let id = blobs.put(Arc::from(encode_value(&value)));
        frame.note_blob(id);
        Self::Blob(id)
    }

    /// Returns the value.
    ///
    /// # Errors
    ///
    /// [`CodecError::Blob`] when the blob of record `seq` is missing or is no value.
    pub fn load(&self, seq: Seq, blobs: &dyn Blobs) -> Result<Value, CodecError> {
        match self {
            Self::Inline(value) => Ok(value.clone()),
            Self::Blob(id) => {
                blobs.get(*id).and_then(|bytes| decode_value(&bytes).ok()).ok_or(CodecError::Blob { seq, id: *id })
            }
        }
    }
}

/// Returns the keys that a record writes by being in the log, as [`Scene::calls`] and [`Scene::messages`] read them.
#[must_use]
pub fn log_keys(head: &RecordHead) -> Vec<Key> {
    if head.actor != Actor::Agent {
        return Vec::new();
    }
    match &head.request {
        Request::Call { tool, .. } => vec![calls_key(None), calls_key(Some(tool))],
        Request::Message { .. } => vec![Key::new("log:messages/")],
        Request::Genesis { .. }
        | Request::Open { .. }
        | Request::OpenDay { .. }
        | Request::Notify { .. }
        | Request::Look
        | Request::EndDay
        | Request::Close => Vec::new(),
    }
}

fn calls_key(tool: Option<&str>) -> Key {
    Key::new(format!("log:calls/{}", tool.unwrap_or_default()))
}
