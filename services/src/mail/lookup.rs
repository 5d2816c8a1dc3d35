//! Finding what a call speaks of: whose mailbox, which folder, which message.

use std::collections::BTreeSet;

use dayshift_engine::{Frame, Rejection, SmolStr, ToolCall, Value, map};

use super::event::Uid;
use super::index::Shown;
use super::limits::{BATCH_MESSAGES_MAX, FOLDER_NAME_BYTES_MAX};
use super::message::{Mailbox, Message};
use super::parse::clean_id;
use super::state::{Folder, INBOX, MailState, Owned, Placed, STANDARD_FOLDERS, TRASH};
use crate::lowercase::composed;
use crate::service::Desk;

/// A message in the mailbox of who asks.
#[derive(Clone, Debug)]
pub(crate) struct Found<'a> {
    pub(crate) folder: SmolStr,
    pub(crate) uid: Uid,
    pub(crate) placed: &'a Placed,
}

impl Found<'_> {
    pub(crate) fn message(&self) -> &Message {
        &self.placed.message
    }
}

/// Returns the address at which `desk` sits.
///
/// # Errors
///
/// `mail/no-mailbox` when it has none.
pub(crate) fn own_address(desk: &Desk) -> Result<&SmolStr, Rejection> {
    if desk.address.is_empty() {
        return Err(Rejection::new(
            "mail/no-mailbox",
            "you have no mailbox; only people with a mail address can use mail",
        ));
    }
    Ok(&desk.address)
}

/// Returns the mailbox at which `desk` sits, as the sender of a message.
pub(crate) fn own_mailbox(desk: &Desk) -> Result<Mailbox, Rejection> {
    Ok(Mailbox { name: desk.display.clone(), address: own_address(desk)?.clone() })
}

/// Returns `name` as the folder is really called: the standard folders and no others are compared without regard to case.
///
/// # Errors
///
/// `mail/bad-folder`.
pub(crate) fn folder_name(name: &str) -> Result<SmolStr, Rejection> {
    let name = &*composed(name.trim());
    if let Some(standard) = STANDARD_FOLDERS.iter().find(|standard| standard.eq_ignore_ascii_case(name)) {
        return Ok(SmolStr::new_static(standard));
    }
    let is_bad_part = |part: &str| part.is_empty() || part != part.trim();
    let is_bad = |each: char| each.is_control() || matches!(each, '#' | '*' | '%' | '\\' | '"');
    if name.len() > FOLDER_NAME_BYTES_MAX || name.split('/').any(is_bad_part) || name.chars().any(is_bad) {
        return Err(Rejection::new(
            "mail/bad-folder",
            format!(
                "a folder's name has 1 to {FOLDER_NAME_BYTES_MAX} bytes, without # * % \\ \" and control characters; a slash stands between a folder and its sub-folder"
            ),
        ));
    }
    Ok(name.into())
}

impl MailState {
    /// Returns the name of the folder that `call` gives in `argument`, which exists.
    ///
    /// # Errors
    ///
    /// `mail/bad-folder` or `mail/unknown-folder`.
    pub(crate) fn existing_folder(
        &self,
        frame: &Frame,
        address: &str,
        call: &ToolCall,
        argument: &str,
    ) -> Result<SmolStr, Rejection> {
        let name = folder_name(call.optional_text(argument).unwrap_or(INBOX))?;
        let is_there = STANDARD_FOLDERS.contains(&name.as_str())
            || self.made.get(address).is_some_and(|made| made.contains(frame, &name));
        if is_there {
            return Ok(name);
        }
        let names = self.folder_names(frame, address).join(", ");
        Err(Rejection::new(
            "mail/unknown-folder",
            format!("there is no folder '{name}'; there are: {names}; mail.create_folder makes a new one"),
        ))
    }

    /// Returns the message that `call` names: by `uid` in `folder` (INBOX if it gives none), or by `message_id`.
    ///
    /// # Errors
    ///
    /// `mail/which-message`, `mail/unknown-folder`, or `mail/unknown-message`.
    pub(crate) fn find(&self, frame: &Frame, address: &SmolStr, call: &ToolCall) -> Result<Found<'_>, Rejection> {
        match (call.int("uid"), call.optional_text("message_id")) {
            (Some(uid), None) => {
                let folder = self.existing_folder(frame, address, call, "folder")?;
                let found = u32::try_from(uid).ok().and_then(|uid| self.find_at(frame, address, folder.clone(), uid));
                found.ok_or_else(|| {
                    Rejection::new(
                        "mail/unknown-message",
                        format!("there is no message {uid} in {folder}; mail.list shows what is there"),
                    )
                })
            }
            (None, Some(id)) => {
                let within = match call.optional_text("folder") {
                    Some(_) => Some(self.existing_folder(frame, address, call, "folder")?),
                    None => None,
                };
                self.find_by_id(frame, address, id, within.as_ref()).ok_or_else(|| {
                    Rejection::new(
                        "mail/unknown-message",
                        format!(
                            "there is no message with the id '{id}' here; mail.search finds messages and their ids"
                        ),
                    )
                })
            }
            (Some(_), Some(_)) | (None, None) => Err(which_message()),
        }
    }

    /// Returns the messages that `call` names: one as for [`Self::find`], or those in `uids` or `message_ids`, each once; and whether a list was given.
    ///
    /// # Errors
    ///
    /// As [`Self::find`] for the first that is not there; `mail/too-many-messages`.
    pub(crate) fn find_all(
        &self,
        frame: &Frame,
        address: &SmolStr,
        call: &ToolCall,
    ) -> Result<(Vec<Found<'_>>, bool), Rejection> {
        if call.get("uids").is_none() && call.get("message_ids").is_none() {
            return Ok((vec![self.find(frame, address, call)?], false));
        }
        let (uids, ids) = (call.list("uids"), call.list("message_ids"));
        let names_one = call.get("uid").is_some() || call.get("message_id").is_some();
        if names_one || uids.is_empty() == ids.is_empty() {
            return Err(which_message());
        }
        let count = uids.len() + ids.len();
        if count > BATCH_MESSAGES_MAX {
            return Err(Rejection::new(
                "mail/too-many-messages",
                format!("one call takes at most {BATCH_MESSAGES_MAX} messages, not {count}; make several calls"),
            ));
        }
        let folder = call.get("folder").cloned().unwrap_or(Value::Null);
        let mut seen = BTreeSet::new();
        let mut found = Vec::with_capacity(count);
        for (name, value) in uids.iter().map(|uid| ("uid", uid)).chain(ids.iter().map(|id| ("message_id", id))) {
            let one = ToolCall::new(call.tool.clone(), map! { "folder" => folder.clone(), name => value.clone() });
            let message = self.find(frame, address, &one)?;
            if seen.insert((message.folder.clone(), message.uid)) {
                found.push(message);
            }
        }
        Ok((found, true))
    }

    pub(crate) fn find_at(&self, frame: &Frame, address: &str, name: SmolStr, uid: Uid) -> Option<Found<'_>> {
        let placed = self.folder(frame, address, &name)?.messages.get(frame, &uid)?;
        Some(Found { folder: name, uid, placed })
    }

    /// Returns a message by its id; one outside the trash, if it lies in several folders.
    pub(crate) fn find_by_id(
        &self,
        frame: &Frame,
        address: &SmolStr,
        id: &str,
        within: Option<&SmolStr>,
    ) -> Option<Found<'_>> {
        let key = Owned { address: address.clone(), id: clean_id(id) };
        let places = self.places.get(frame, &key)?;
        let fitting = places.0.iter().filter(|(folder, _)| within.is_none_or(|within| within == folder));
        let (folder, uid) = fitting.min_by_key(|(folder, _)| (folder == TRASH, folder != INBOX))?;
        self.find_at(frame, address, folder.clone(), *uid)
    }
}

fn which_message() -> Rejection {
    Rejection::new(
        "mail/which-message",
        "name the message either by uid (and folder, if it is not INBOX) or by message_id; several at once by uids or by message_ids",
    )
}

impl Folder {
    /// Returns the flags of a message, with `\Seen` among them if it was read.
    pub(crate) fn flags_shown(&self, frame: &Frame, uid: Uid) -> Vec<SmolStr> {
        let mut flags = self.flags.get(frame, &uid).map(|flags| flags.0.clone()).unwrap_or_default();
        if self.seen.contains(frame, &uid) {
            flags.push(SmolStr::new_static("\\Seen"));
            flags.sort();
        }
        flags
    }
}

/// Returns what a listing says of a message.
pub(crate) fn row(folder: &str, uid: Uid, placed: &Placed, shown: &Shown, flags: Vec<SmolStr>, desk: &Desk) -> Value {
    let message = &*placed.message;
    let attachments: Vec<SmolStr> = message.attachments.iter().map(|part| part.name.clone()).collect();
    map! {
        "folder" => folder,
        "uid" => uid,
        "message_id" => message.id.clone(),
        "from" => shown.from.clone(),
        "to" => shown.to.clone(),
        "cc" => shown.cc.clone(),
        "subject" => message.subject.clone(),
        "time" => desk.show(placed.received),
        "unread" => !flags.iter().any(|flag| flag == "\\Seen"),
        "flags" => flags,
        "attachments" => attachments,
        "snippet" => shown.snippet.clone(),
    }
}

/// Returns a list of mailboxes as one line.
pub(crate) fn show_all(mailboxes: &[Mailbox]) -> String {
    mailboxes.iter().map(Mailbox::show).collect::<Vec<_>>().join(", ")
}
