//! The calls that put mail in order: folders, moving, flags, deleting.

use dayshift_engine::{Context, Decision, Rejection, SmolStr, ToolCall, Value, map};

use super::event::MailEvent;
use super::limits::{FLAG_BYTES_MAX, FLAGS_MAX, FOLDERS_MAX};
use super::lookup::{Found, folder_name, own_address};
use super::state::{MailState, STANDARD_FOLDERS, TRASH};
use crate::service::Desk;

/// The flags that RFC 3501 names, but for `\Recent`, which nobody can set.
const SYSTEM_FLAGS: [&str; 5] = ["\\Answered", "\\Deleted", "\\Draft", "\\Flagged", "\\Seen"];

impl MailState {
    pub(crate) fn decide_create_folder(
        &self,
        call: &ToolCall,
        desk: &Desk,
        context: &Context<'_>,
    ) -> Result<Decision<MailEvent>, Rejection> {
        let address = own_address(desk)?;
        let folder = folder_name(call.text("folder"))?;
        let names = self.folder_names(context.frame, address);
        if names.contains(&folder) {
            return Err(Rejection::new("mail/folder-exists", format!("there is a folder '{folder}' already; use it")));
        }
        if names.len() - STANDARD_FOLDERS.len() >= FOLDERS_MAX {
            return Err(Rejection::new(
                "mail/too-many-folders",
                format!("a mailbox has at most {FOLDERS_MAX} folders of its own; use one that is there"),
            ));
        }
        let event = MailEvent::FolderCreated { address: address.clone(), folder: folder.clone() };
        Ok(Decision::change(vec![event], map! { "folder" => folder }))
    }

    pub(crate) fn decide_move(
        &self,
        call: &ToolCall,
        desk: &Desk,
        context: &Context<'_>,
    ) -> Result<Decision<MailEvent>, Rejection> {
        let address = own_address(desk)?;
        let (found, is_list) = self.find_all(context.frame, address, call)?;
        let to = self.existing_folder(context.frame, address, call, "destination")?;
        let mut done = Done::new(is_list);
        for found in found {
            done.answers.push(map! { "message_id" => found.message().id.clone(), "folder" => to.clone() });
            if to != found.folder {
                let (address, to) = (address.clone(), to.clone());
                done.events.push(MailEvent::MessageMoved { address, from: found.folder, uid: found.uid, to });
            }
        }
        Ok(done.decision())
    }

    pub(crate) fn decide_delete(
        &self,
        call: &ToolCall,
        desk: &Desk,
        context: &Context<'_>,
    ) -> Result<Decision<MailEvent>, Rejection> {
        let (found, is_list) = self.find_all(context.frame, own_address(desk)?, call)?;
        let mut done = Done::new(is_list);
        for found in found {
            let address = desk.address.clone();
            let id = found.message().id.clone();
            let (folder, uid) = (found.folder, found.uid);
            let (event, how) = if folder == TRASH {
                (MailEvent::MessageDeleted { address, folder, uid }, "for good")
            } else {
                (MailEvent::MessageMoved { address, from: folder, uid, to: TRASH.into() }, "moved to Trash")
            };
            done.events.push(event);
            done.answers.push(map! { "message_id" => id, "deleted" => how });
        }
        Ok(done.decision())
    }

    pub(crate) fn decide_flag(
        &self,
        call: &ToolCall,
        desk: &Desk,
        context: &Context<'_>,
    ) -> Result<Decision<MailEvent>, Rejection> {
        let address = own_address(desk)?;
        let (found, is_list) = self.find_all(context.frame, address, call)?;
        let add = call.texts("add").map(flag_name).collect::<Result<Vec<_>, _>>()?;
        let remove = call.texts("remove").map(flag_name).collect::<Result<Vec<_>, _>>()?;
        if add.is_empty() && remove.is_empty() {
            return Err(Rejection::new("mail/which-flag", "name at least one flag to add or to remove"));
        }
        let mut done = Done::new(is_list);
        for found in found {
            self.flag(found, &add, &remove, address, context, &mut done)?;
        }
        Ok(done.decision())
    }

    fn flag(
        &self,
        found: Found<'_>,
        add: &[SmolStr],
        remove: &[SmolStr],
        address: &SmolStr,
        context: &Context<'_>,
        done: &mut Done,
    ) -> Result<(), Rejection> {
        let before = self.flags_of(context.frame, address, &found);
        let kept = before.iter().filter(|flag| !remove.contains(flag));
        let mut after: Vec<SmolStr> = kept.chain(add).cloned().collect();
        after.sort();
        after.dedup();
        if after.len() > FLAGS_MAX {
            return Err(Rejection::new(
                "mail/too-many-flags",
                format!("a message has at most {FLAGS_MAX} flags; remove some first"),
            ));
        }
        done.answers.push(map! { "message_id" => found.message().id.clone(), "flags" => after.clone() });
        let (folder, uid) = (found.folder, found.uid);
        let (before, was_seen) = split_seen(before);
        let (after, is_seen) = split_seen(after);
        if is_seen != was_seen {
            let (address, folder) = (address.clone(), folder.clone());
            done.events.push(MailEvent::MessageSeen { address, folder, uid, seen: is_seen });
        }
        if after != before {
            done.events.push(MailEvent::FlagsChanged { address: address.clone(), folder, uid, flags: after });
        }
        Ok(())
    }
}

/// What a call did to one message or to each of a list.
struct Done {
    is_list: bool,
    events: Vec<MailEvent>,
    answers: Vec<Value>,
}

impl Done {
    fn new(is_list: bool) -> Self {
        Self { is_list, events: Vec::new(), answers: Vec::new() }
    }

    /// Returns the decision: the answer of the one message, or a list of them.
    fn decision(mut self) -> Decision<MailEvent> {
        let one = if self.is_list { None } else { self.answers.pop() };
        Decision::change(self.events, one.unwrap_or_else(|| map! { "messages" => self.answers }))
    }
}

/// Takes the reading mark out of a message's flags.
pub(crate) fn split_seen(mut flags: Vec<SmolStr>) -> (Vec<SmolStr>, bool) {
    let count = flags.len();
    flags.retain(|flag| flag != "\\Seen");
    let is_seen = flags.len() < count;
    (flags, is_seen)
}

/// Returns `flag` as it is kept: a system flag with its backslash and capital, whether or not it was written so, or a keyword as it is.
///
/// # Errors
///
/// `mail/bad-flag`.
pub(crate) fn flag_name(flag: &str) -> Result<SmolStr, Rejection> {
    let bare = flag.strip_prefix('\\').unwrap_or(flag);
    if let Some(system) = SYSTEM_FLAGS.iter().find(|system| system[1..].eq_ignore_ascii_case(bare)) {
        return Ok(SmolStr::new_static(system));
    }
    // An atom of RFC 3501, 9.
    let is_atom = |byte: u8| byte.is_ascii_graphic() && !b"(){%*\"\\]".contains(&byte);
    if flag.is_empty() || flag.len() > FLAG_BYTES_MAX || !flag.bytes().all(is_atom) {
        return Err(Rejection::new(
            "mail/bad-flag",
            format!(
                "a flag is seen, flagged, answered, draft, or a word of your own of at most {FLAG_BYTES_MAX} ASCII letters, digits and marks but for ( ) {{ % * \" \\ ]"
            ),
        ));
    }
    Ok(flag.into())
}
