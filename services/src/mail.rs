//! Mail: a mailbox for every address, with folders, flags and reading marks; messages as RFC 5322 has them, kept as their bytes beside what
//! was understood of them once. It carries no network protocol: doors do that.
//!
//! # Keys
//!
//! | key | what it stands for | graded |
//! |---|---|---|
//! | `mail:ADDRESS/` | which folders a mailbox has beside INBOX, Sent, Drafts, Archive and Trash | yes |
//! | `mail:ADDRESS/FOLDER` | one such folder | yes |
//! | `mail:ADDRESS/FOLDER/` | which messages are in a folder; `…/*` the content of all | yes |
//! | `mail:ADDRESS/FOLDER/UID` | a message in its place | yes |
//! | `mail:ADDRESS/FOLDER#flags/UID` | its flags but for `\Seen` | yes |
//! | `mail:ADDRESS/FOLDER#seen/UID` | its reading mark | no |
//! | `mail:at/ADDRESS/MESSAGE-ID` | where in a mailbox a message lies | no, it follows from the places |
//! | `mail:id/MESSAGE-ID` | a message by its id, wherever it lies | no, likewise |
//! | `mail:thread/MESSAGE-ID` | what a message answers, and what answers it | no, likewise |
//!
//! Flags have a prefix of their own, and not a suffix to the message's key, because a scan of messages (`…/*`) does not look at flags.
//!
//! # What is graded of a message
//!
//! Its identity ([`Message::identity`]): for an imported message the digest of its bytes; for one that was written here the digest of what
//! its writer chose, without the moment of sending. Message-IDs of messages written here come from the same digest, so the same letter has
//! the same id in every world, wherever in the log it was sent.
//!
//! # Files
//!
//! Mail does not know files. Who joins the services reads the files of `attachments` and calls [`MailState::decide_with`]; for
//! `mail.save_attachment` it calls [`MailState::attachment`] and writes the file itself.

mod address;
mod backstage;
mod compose;
mod date;
mod event;
mod header;
mod index;
pub mod limits;
mod lookup;
mod mend;
mod message;
mod organise;
mod parse;
mod query;
mod read;
mod search;
mod state;
#[cfg(test)]
mod tests;
mod tools;
mod uuencode;
mod write;

use dayshift_engine::{
    Applying, Context, Decision, Difference, Key, Looking, Rejection, StateDigest, ToolCall, ToolSpec, Value,
};

pub use compose::Attachment;
pub use event::{Delivery, MailEvent, Uid};
pub use message::{Mailbox, Message, Part};
pub use state::MailState;

use crate::service::{Desk, Service};

impl MailState {
    /// Decides what follows from `call`, with the content of the files that its `attachments` name, in their order.
    ///
    /// # Errors
    ///
    /// As for [`Service::decide`].
    pub fn decide_with(
        &self,
        call: &ToolCall,
        desk: &Desk,
        attachments: Vec<Attachment>,
        context: &Context<'_>,
    ) -> Result<Decision<MailEvent>, Rejection> {
        match call.tool.as_str() {
            "mail.create_folder" => self.decide_create_folder(call, desk, context),
            "mail.delete" => self.decide_delete(call, desk, context),
            "mail.deliver" => self.decide_deliver(call, desk, attachments, context),
            "mail.flag" => self.decide_flag(call, desk, context),
            "mail.folders" => self.decide_folders(desk, context),
            "mail.forward" => self.decide_forward(call, desk, attachments, context),
            "mail.import" => self.decide_import(call, context),
            "mail.list" => self.decide_list(call, desk, context),
            "mail.move" => self.decide_move(call, desk, context),
            "mail.read" => self.decide_read(call, desk, context),
            "mail.reply" | "mail.reply_all" => self.decide_reply(call, desk, attachments, context),
            "mail.save_draft" => self.decide_save_draft(call, desk, attachments, context),
            "mail.search" => self.decide_search(call, desk, context),
            "mail.send" => self.decide_send(call, desk, attachments, context),
            "mail.send_draft" => self.decide_send_draft(call, desk, context),
            "mail.thread" => self.decide_thread(call, desk, context),
            "mail.save_attachment" => Err(without_files()),
            other => Err(Rejection::new("mail/unknown-tool", format!("mail has no tool '{other}'"))),
        }
    }
}

impl Service for MailState {
    type Event = MailEvent;

    const TOOLS: &'static [ToolSpec] = tools::TOOLS;

    fn decide(&self, call: &ToolCall, desk: &Desk, context: &Context<'_>) -> Result<Decision<MailEvent>, Rejection> {
        if !call.list("attachments").is_empty() {
            return Err(without_files());
        }
        self.decide_with(call, desk, Vec::new(), context)
    }

    fn apply(&mut self, event: MailEvent, applying: &mut Applying<'_>) {
        self.apply_event(event, applying);
    }

    fn query(&self, verb: &str, arguments: &Value, desk: &Desk, looking: &Looking<'_>) -> Result<Value, Rejection> {
        self.answer(verb, arguments, desk, looking)
    }

    fn digest(&self) -> StateDigest {
        self.graded_digest()
    }

    fn differences(&self, other: &Self, into: &mut Vec<Difference>) {
        self.compare(other, into);
    }

    fn dump(&self) -> Value {
        self.dump_all(&plain_desk())
    }
}

/// Returns a desk in Greenwich at which nobody sits, for what is shown to no one in particular.
fn plain_desk() -> Desk {
    Desk { name: "".into(), display: "".into(), address: "".into(), zone: chrono_tz::UTC }
}

fn without_files() -> Rejection {
    Rejection::new(
        "mail/no-files",
        "there are no files here to attach or to save to; send the content in the body instead",
    )
}

impl MailState {
    fn compare(&self, other: &Self, into: &mut Vec<Difference>) {
        use std::collections::BTreeSet;
        let desk = plain_desk();
        let addresses: BTreeSet<_> = self.made.keys().chain(other.made.keys()).collect();
        for address in addresses {
            let none = dayshift_engine::Collection::new(format!("mail:{address}/"));
            let left = self.made.get(address).map_or(&none, |made| made);
            let right = other.made.get(address).map_or(&none, |made| made);
            let shown = left.differences(right);
            into.extend(shown.into_iter().map(|(key, left, right)| {
                let show = |mark: Option<&state::Mark>| mark.map(|_| Value::Bool(true));
                Difference { key, left: show(left), right: show(right) }
            }));
        }
        let paths: BTreeSet<_> = self.folders.keys().chain(other.folders.keys()).collect();
        for path in paths {
            let none = state::Folder::empty(path);
            let left = self.folders.get(path).map_or(&none, |folder| folder);
            let right = other.folders.get(path).map_or(&none, |folder| folder);
            let show = |placed: Option<&state::Placed>| {
                placed.map(|placed| query::dump_row(&path.folder, 0, placed, Vec::new(), &desk))
            };
            let messages = left.messages.differences(&right.messages).into_iter().filter(|(_, left, right)| {
                let identity = |placed: &Option<&state::Placed>| {
                    placed.map(|placed| (placed.message.identity, placed.bcc.clone()))
                };
                identity(left) != identity(right)
            });
            into.extend(messages.map(|(key, left, right)| Difference { key, left: show(left), right: show(right) }));
            let flags = left.flags.differences(&right.flags);
            into.extend(flags.into_iter().map(|(key, left, right)| flag_difference(key, left, right)));
        }
    }
}

fn flag_difference(key: Key, left: Option<&state::Flags>, right: Option<&state::Flags>) -> Difference {
    let show = |flags: Option<&state::Flags>| flags.map(|flags| Value::from(flags.0.clone()));
    Difference { key, left: show(left), right: show(right) }
}
