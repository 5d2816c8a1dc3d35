//! The transcript: what the agent did and what it was told, read back from the log. It is what a driver saw when the episode was played, so
//! an agent can be brought back to where it was.

use std::sync::Arc;

use dayshift_engine::codec::Stored;
use dayshift_engine::{Actor, Blobs, Day, Input, PastCall, Request, Seq, SimTime, Step, ToolCall, Turn, Value};

use crate::ReplayError;

/// The transcript of one log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    /// What the agent was told before its first input.
    pub opening: Vec<String>,
    /// The inputs, each with what came back.
    pub exchanges: Vec<Exchange>,
}

/// One input and what came back.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// When it was made.
    pub time: SimTime,
    /// On which day.
    pub day: Day,
    /// In which turn.
    pub turn: Turn,
    /// What the agent did.
    pub input: Input,
    /// What it got back.
    pub step: Step,
}

impl Transcript {
    /// Reads the transcript out of stored records.
    ///
    /// # Errors
    ///
    /// [`ReplayError::Codec`] when a record does not decode.
    pub fn of(records: &[Arc<[u8]>], blobs: &dyn Blobs) -> Result<Self, ReplayError> {
        let mut transcript = Self::default();
        for bytes in records {
            let stored = Stored::new(bytes)?;
            let head = stored.head()?;
            let agent = head.actor == Actor::Agent;
            let (day, turn) = (head.day, head.turn.unwrap_or_default());
            match head.request {
                Request::Message { text, hand_over } => {
                    let input = if hand_over { Input::HandOver { text } } else { Input::Turn { text } };
                    let step = answered(stored.seq(), Ok(Value::Null));
                    transcript.exchanges.push(Exchange { time: stored.time(), day, turn, input, step });
                }
                Request::Call { .. } if agent => {
                    let Some(PastCall { tool, arguments, answer, .. }) = PastCall::read(stored, blobs)? else {
                        continue;
                    };
                    let input = Input::Call(ToolCall { tool, arguments });
                    let step = answered(stored.seq(), answer);
                    transcript.exchanges.push(Exchange { time: stored.time(), day, turn, input, step });
                }
                Request::Notify { text } => transcript.notices().push(text),
                // The notification repeats the lines before it.
                Request::OpenDay { notification, .. } => *transcript.notices() = vec![notification],
                Request::Close => {
                    if let Some(last) = transcript.exchanges.last_mut() {
                        last.step.closed = true;
                    }
                }
                Request::Genesis { .. }
                | Request::Open { .. }
                | Request::Call { .. }
                | Request::Look
                | Request::EndDay => {}
            }
        }
        Ok(transcript)
    }

    /// Returns where what the agent is told now belongs: to its last input, or ahead of the first.
    fn notices(&mut self) -> &mut Vec<String> {
        match self.exchanges.last_mut() {
            Some(last) => &mut last.step.notices,
            None => &mut self.opening,
        }
    }
}

fn answered(seq: Seq, answer: Result<Value, dayshift_engine::Rejection>) -> Step {
    Step { seq, answer, notices: Vec::new(), closed: false }
}
