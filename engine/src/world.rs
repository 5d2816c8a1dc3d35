//! The contract between the kernel and a world. `decide` reads and may refuse; `apply` changes and may not refuse, draw, or look at a
//! clock. A world is a pure fold of its events.

use std::fmt::Debug;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::access::{Frame, Key};
use crate::blob::{Blobs, CONTENT_INLINE_BYTES_MAX, Content};
use crate::budget::Budget;
use crate::collection::Applying;
use crate::digest::StateDigest;
use crate::errand::Errand;
use crate::id::{Actor, Seq, Turn};
use crate::random::{RandomStream, Seed};
use crate::time::SimTime;
use crate::tool::{Rejection, ToolCall, ToolSpec};
use crate::value::Value;

/// The state of all services. Cloning must be cheap and independent of size: a fork is a clone.
pub trait World: Clone + Debug + Send + Sync + 'static {
    /// A fact in the past tense that carries everything `apply` needs.
    type Event: Serialize + DeserializeOwned + Clone + Debug + Send + Sync;

    /// Returns the tools of this world, sorted by name.
    fn tools() -> &'static [&'static ToolSpec];

    /// Returns whether the tool `spec` is there at all in this world: one that the scenario left out is as unknown as any other.
    fn offers(&self, spec: &ToolSpec) -> bool {
        let _ = spec;
        true
    }

    /// Returns what the host must be sent for before `call` can be decided; nothing for almost every call. Reads the world through
    /// `context.frame`.
    ///
    /// # Errors
    ///
    /// A [`Rejection`] when the call cannot be done whatever the host would bring back.
    fn errand(&self, call: &ToolCall, context: &Context<'_>) -> Result<Option<Errand>, Rejection> {
        let _ = (call, context);
        Ok(None)
    }

    /// Decides what follows from `call`, for which the host was sent and brought back `brought`; null if there is no host.
    ///
    /// # Errors
    ///
    /// As [`Self::decide`].
    fn settle(
        &self,
        call: &ToolCall,
        brought: &Value,
        context: &Context<'_>,
    ) -> Result<Decision<Self::Event>, Rejection> {
        let _ = brought;
        self.decide(call, context)
    }

    /// Decides what follows from `call`, which [`ToolSpec::admit`] has admitted. Reads the world through `context.frame`.
    ///
    /// # Errors
    ///
    /// A [`Rejection`] when the call cannot be done; it is recorded and answered.
    fn decide(&self, call: &ToolCall, context: &Context<'_>) -> Result<Decision<Self::Event>, Rejection>;

    /// Changes the world by one event. Total: there is no event that it refuses.
    fn apply(&mut self, event: Self::Event, applying: &mut Applying<'_>);

    /// Answers a question of a check, a condition or a persona. Not bound to the agent's mailbox or rights; traced like a call.
    ///
    /// # Errors
    ///
    /// A [`Rejection`] when there is no such question or its arguments make no sense. That something asked for is absent is an answer
    /// ([`Value::Null`]), not an error.
    fn query(&self, question: &str, arguments: &Value, looking: &Looking<'_>) -> Result<Value, Rejection>;

    /// Returns one line about `event` for an agent that is told of it, such as who wrote and about what; nothing if the plan's own line says enough.
    fn headline(&self, event: &Self::Event) -> Option<String> {
        let _ = event;
        None
    }

    /// Returns what a caller that has waited is answered: `answer` is what the call decided, `now` the time that was reached, and `notices` what
    /// woke the caller, if anything did.
    fn waited(&self, answer: Value, now: SimTime, notices: &[String]) -> Value {
        let _ = (now, notices);
        answer
    }

    /// Returns the digest of the graded state.
    fn digest(&self) -> StateDigest;

    /// Returns the graded pieces in which this world differs from `other`, in key order.
    fn differences(&self, other: &Self) -> Vec<Difference>;

    /// Returns the whole graded state as one value for people: a map with an entry a service.
    fn dump(&self) -> Value;
}

/// One piece in which two worlds differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The piece.
    pub key: Key,
    /// What the one world holds there.
    pub left: Option<Value>,
    /// What the other world holds there.
    pub right: Option<Value>,
}

/// What a decision knows besides the world: nothing of it comes from the host.
pub struct Context<'a> {
    /// The position that the record will have.
    pub seq: Seq,
    /// The simulated time at which what is decided takes effect: on a flowing clock an agent's call takes its cost to do.
    pub time: SimTime,
    /// Who asks.
    pub actor: &'a Actor,
    /// The agent's turn, if the agent asks.
    pub turn: Option<Turn>,
    /// What the agent has left of its day and turn.
    pub allowance: Allowance,
    /// Where randomness comes from: take a stream by label.
    pub seed: Seed,
    /// Where reads are noted.
    pub frame: &'a Frame,
    /// Where large content rests.
    pub blobs: &'a dyn Blobs,
}

/// What the agent has left of its day and turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowance {
    /// When the day ends (flowing clock only).
    pub day_ends: Option<SimTime>,
    /// When the agent is told that the day ends soon (flowing clock only).
    pub closing: Option<SimTime>,
    /// How many calls the turn still takes after this one.
    pub calls_left: u32,
    /// How many turns the day still takes after this one.
    pub turns_left: u32,
}

impl Context<'_> {
    /// Returns what this decision may still cost.
    #[must_use]
    pub fn budget(&self) -> &Budget {
        self.frame.budget()
    }

    /// Returns the random stream of `label` for this record.
    #[must_use]
    pub fn stream(&self, label: &str) -> RandomStream {
        self.seed.stream(&format!("{label}/{}", self.seq))
    }

    /// Returns `bytes` as content for an event: inline when small, otherwise kept as a blob that the record then refers to.
    #[must_use]
    pub fn store(&self, bytes: Vec<u8>) -> Content {
        if bytes.len() <= CONTENT_INLINE_BYTES_MAX {
            return Content::Inline(bytes.into());
        }
        let length = bytes.len() as u64;
        let id = self.blobs.put(bytes.into());
        self.frame.note_blob(id);
        Content::Blob { id, bytes: length }
    }

    /// Returns the bytes of `content`.
    ///
    /// # Errors
    ///
    /// `blob/missing` when the store has lost the blob; the kernel then stops the episode instead of recording the refusal.
    pub fn load(&self, content: &Content) -> Result<Arc<[u8]>, Rejection> {
        load(self.frame, self.blobs, content)
    }
}

/// What a check, a condition or a persona looks with.
pub struct Looking<'a> {
    /// The simulated time.
    pub time: SimTime,
    /// Where reads are noted.
    pub frame: &'a Frame,
    /// Where large content rests.
    pub blobs: &'a dyn Blobs,
}

impl Looking<'_> {
    /// Returns what this question may still cost.
    #[must_use]
    pub fn budget(&self) -> &Budget {
        self.frame.budget()
    }

    /// Returns the bytes of `content`.
    ///
    /// # Errors
    ///
    /// `blob/missing` when the store has lost the blob.
    pub fn load(&self, content: &Content) -> Result<Arc<[u8]>, Rejection> {
        load(self.frame, self.blobs, content)
    }
}

fn load(frame: &Frame, blobs: &dyn Blobs, content: &Content) -> Result<Arc<[u8]>, Rejection> {
    match content {
        Content::Inline(bytes) => Ok(Arc::clone(bytes)),
        Content::Blob { id, .. } => blobs.get(*id).ok_or_else(|| {
            frame.note_missing(*id);
            Rejection::new("blob/missing", format!("the content {id} is missing from the store; verify the run"))
        }),
    }
}

/// What follows from a call that was not refused.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision<E> {
    /// The facts, in order; none for a call that only looked.
    pub events: Vec<E>,
    /// What the caller is told.
    pub answer: Value,
    /// Whether the caller waits, so that the clock jumps (flowing clock only).
    pub wait: Option<Wait>,
}

impl<E> Decision<E> {
    /// Returns a decision that changes nothing and answers.
    #[must_use]
    pub fn answer(answer: Value) -> Self {
        Self { events: Vec::new(), answer, wait: None }
    }

    /// Returns a decision that changes the world by `events` and answers.
    #[must_use]
    pub fn change(events: Vec<E>, answer: Value) -> Self {
        Self { events, answer, wait: None }
    }
}

/// How long a caller waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wait {
    /// Until the next thing that the agent would notice, at the latest the day's end.
    NextNotice,
    /// Until a time, whatever happens before it; at the latest the day's end.
    Until(SimTime),
}
