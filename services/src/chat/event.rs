//! What happens in chat: the facts that its state is a fold of.

use dayshift_engine::{SimTime, SmolStr};
use serde::{Deserialize, Serialize};

/// One fact about chat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChatEvent {
    /// A conversation is there, or has other members than before.
    ConversationOpened {
        /// What it is called.
        conversation: SmolStr,
        /// Who takes part, in order.
        members: Vec<SmolStr>,
    },
    /// Somebody said something. Its number is the next one of the conversation.
    MessagePosted {
        /// Where.
        conversation: SmolStr,
        /// Who.
        from: SmolStr,
        /// What.
        text: SmolStr,
        /// When, if that was not now.
        time: Option<SimTime>,
    },
    /// Somebody has seen a conversation up to a message.
    ConversationRead {
        /// Which.
        conversation: SmolStr,
        /// Who.
        reader: SmolStr,
        /// The number of the last message seen.
        number: u32,
    },
}
