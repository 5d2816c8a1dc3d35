//! A recorded call decided again, in another world than the one in which it was recorded: what a counterfactual audit asks. It goes through the
//! same admission and the same decision as the live call did; there is no other way to execute one.

use crate::access::Frame;
use crate::id::Seq;
use crate::record::{Outcome, Payload, Record, Request};
use crate::tool::{Rejection, ToolCall};
use crate::value::Value;
use crate::world::World;

use super::admission::missing;
use super::error::EpisodeError;
use super::{Draft, Episode};

/// What a recorded call came to when it was decided again.
#[derive(Clone, Debug)]
pub struct Again<E> {
    /// The record as it would follow here.
    pub record: Record<E>,
    /// The answer, or why the call is refused now.
    pub answer: Result<Value, Rejection>,
}

impl<W: World> Episode<W> {
    /// Decides the call that `original` records again, in this world as it is now: in the same name, at the same time, through the same
    /// admission as when it was first made. What its errand brought back then, it brings back now. Returns the record that would follow here,
    /// which [`Self::absorb_traced`] takes in, with what it answers. A record that is no call comes back as it was.
    ///
    /// # Errors
    ///
    /// [`EpisodeError::Codec`] when a blob of the record is missing, [`EpisodeError::BlobMissing`] when one that the decision reads is.
    pub fn decide_again(&self, original: &Record<W::Event>) -> Result<Again<W::Event>, EpisodeError> {
        let mut record = Record { seq: Seq::new(self.log.head().count), ..original.clone() };
        let Request::Call { tool, arguments } = &original.head.request else {
            return Ok(Again { record, answer: Ok(Value::Null) });
        };
        let call = ToolCall { tool: tool.clone(), arguments: arguments.load(original.seq, &*self.blobs)? };
        let brought = original.head.brought.as_ref();
        let brought = brought.map(|payload| payload.load(original.seq, &*self.blobs)).transpose()?;
        let draft = Draft {
            turn: original.head.turn,
            event: original.head.event.clone(),
            ..Draft::of(original.head.actor.clone(), Request::Look)
        };
        let frame = Frame::with_budget(self.script.plan().limits.budget());
        let decided = self.decide(&draft, &call, &frame, original.time, |_, _| brought.unwrap_or_default());
        let answer = match decided.decision {
            Ok(decision) => {
                record.events = decision.events;
                record.head.wait = decision.wait;
                record.outcome = Outcome::Answered(Payload::store(decision.answer.clone(), &frame, &*self.blobs));
                Ok(decision.answer)
            }
            Err(rejection) => {
                record.events = Vec::new();
                record.head.wait = None;
                record.outcome = Outcome::Refused(rejection.clone());
                Err(rejection)
            }
        };
        let accesses = frame.close();
        missing(&accesses)?;
        record.reads = accesses.reads;
        record.head.untracked = accesses.untracked;
        Ok(Again { record, answer })
    }
}
