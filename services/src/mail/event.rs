//! What can happen to mail. An event carries everything that `apply` needs: messages are parsed before, not again.

use dayshift_engine::SimTime;
use dayshift_engine::SmolStr;
use serde::{Deserialize, Serialize};

use super::message::{Mailbox, Message};

/// The number of a message in a folder. It never comes back.
pub type Uid = u32;

/// One fact about mail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MailEvent {
    /// A message came into one or more folders: it was sent, delivered from outside, or imported. Each folder numbers it itself.
    MessageDelivered {
        /// The message, once for all places.
        message: Message,
        /// The moment.
        received: SimTime,
        /// The places, each once.
        places: Vec<Delivery>,
    },
    /// A draft was saved.
    DraftSaved {
        /// The mailbox.
        address: SmolStr,
        /// The draft.
        message: Message,
        /// Its blind recipients, which are not in the message.
        bcc: Vec<Mailbox>,
        /// The draft whose place it takes.
        replaces: Option<Uid>,
        /// The moment.
        saved: SimTime,
    },
    /// A message was moved to another folder of its mailbox, with its flags, and got a new number there.
    MessageMoved {
        /// The mailbox.
        address: SmolStr,
        /// Where it was.
        from: SmolStr,
        /// Its number there.
        uid: Uid,
        /// Where it is now.
        to: SmolStr,
    },
    /// A message was deleted for good.
    MessageDeleted {
        /// The mailbox.
        address: SmolStr,
        /// The folder.
        folder: SmolStr,
        /// Its number there.
        uid: Uid,
    },
    /// A message has other flags now.
    FlagsChanged {
        /// The mailbox.
        address: SmolStr,
        /// The folder.
        folder: SmolStr,
        /// The message's number there.
        uid: Uid,
        /// All its flags, sorted.
        flags: Vec<SmolStr>,
    },
    /// A message was read, or marked as unread again. A reading mark: no check sees it unless it asks.
    MessageSeen {
        /// The mailbox.
        address: SmolStr,
        /// The folder.
        folder: SmolStr,
        /// The message's number there.
        uid: Uid,
        /// Whether it counts as read now.
        seen: bool,
    },
    /// A folder was made.
    FolderCreated {
        /// The mailbox.
        address: SmolStr,
        /// The folder's name.
        folder: SmolStr,
    },
}

/// One place that a message came into.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// The mailbox, by its address in lower case.
    pub address: SmolStr,
    /// The folder.
    pub folder: SmolStr,
    /// Its flags, sorted.
    pub flags: Vec<SmolStr>,
    /// Whether it counts as read.
    pub seen: bool,
    /// The blind recipients, which only the sender's copy knows.
    pub bcc: Vec<Mailbox>,
}
