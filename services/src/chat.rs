//! Chat: direct conversations between two people and channels of several, in short texts. It knows names only; who is behind them is the
//! directory's.
//!
//! A conversation is called `#NAME` if it is a channel, and by both names in order with `+` between them if it is direct. Keys:
//! `chat:CONVERSATION/N` is a message, `chat:CONVERSATION/` which messages there are, `chat:CONVERSATION` who takes part, `chat:` which
//! conversations there are. Read marks are apart (`chat:marks/`), and no check grades them.

mod decide;
mod event;
mod state;
mod tools;

use dayshift_engine::{
    Applying, Context, Decision, Difference, Looking, Rejection, StateDigest, ToolCall, ToolSpec, Value,
};

use crate::service::{Desk, Service};

pub use event::ChatEvent;
pub use state::ChatState;

/// The longest message, in bytes (16 KiB).
pub const CHAT_TEXT_BYTES_MAX: usize = 16 << 10;
/// The longest name of a channel or of somebody who takes part, in bytes.
pub const CHAT_NAME_BYTES_MAX: usize = 64;
/// How many people a channel has at most.
pub const CHANNEL_MEMBERS_MAX: usize = 200;
/// How many conversations there are at most.
pub const CONVERSATIONS_MAX: usize = 1000;
/// How many messages one conversation holds at most.
pub const CONVERSATION_MESSAGES_MAX: usize = 10_000;
/// How many messages one `chat.history` shows.
pub const HISTORY_MESSAGES_MAX: usize = 200;

impl Service for ChatState {
    type Event = ChatEvent;

    const TOOLS: &'static [ToolSpec] = tools::TOOLS;

    fn decide(&self, call: &ToolCall, desk: &Desk, context: &Context<'_>) -> Result<Decision<ChatEvent>, Rejection> {
        self.decide_command(tools::Command::parse(call, desk)?, desk, context)
    }

    fn apply(&mut self, event: ChatEvent, applying: &mut Applying<'_>) {
        self.change(event, applying);
    }

    fn query(&self, verb: &str, arguments: &Value, desk: &Desk, looking: &Looking<'_>) -> Result<Value, Rejection> {
        self.answer_question(verb, arguments, desk, looking)
    }

    fn digest(&self) -> StateDigest {
        self.total()
    }

    fn differences(&self, other: &Self, into: &mut Vec<Difference>) {
        self.compare(other, into);
    }

    fn dump(&self) -> Value {
        self.show()
    }
}

#[cfg(test)]
mod tests;
