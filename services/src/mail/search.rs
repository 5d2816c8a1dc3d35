//! Search by the fields of messages: case-insensitive substrings, times, attachments, reading marks. It looks at every member of the
//! folders that it searches, and says so in the frame; the messages that match are read one by one.

use dayshift_engine::{Context, Decision, Frame, Rejection, SimTime, SmolStr, ToolCall, Value, map};
use regex::{Regex, RegexBuilder};

use super::event::MailEvent;
use super::limits::{SEARCH_RESULTS_MAX, SEARCH_TEXT_BYTES_MAX};
use super::lookup::{Found, own_address, row};
use super::message::{Mailbox, Message};
use super::read::{cursor, page};
use super::state::{Folder, MailState, Placed};
use crate::service::Desk;

/// How many messages a search shows if the call does not say.
const SEARCH_RESULTS_DEFAULT: usize = 20;

/// What a message must be like.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    from: Option<Regex>,
    to: Option<Regex>,
    subject: Option<Regex>,
    text: Option<Regex>,
    since: Option<SimTime>,
    before: Option<SimTime>,
    has_attachment: Option<bool>,
    pub(crate) unread: Option<bool>,
}

impl Filter {
    /// Returns the filter that the arguments of a call or a question ask for.
    ///
    /// # Errors
    ///
    /// `mail/bad-search`.
    pub(crate) fn of(call: &ToolCall) -> Result<Self, Rejection> {
        let truth = |name: &str| call.get(name).and_then(Value::as_bool);
        Ok(Self {
            from: needle(call, "from")?,
            to: needle(call, "to")?,
            subject: needle(call, "subject")?,
            text: needle(call, "text")?,
            since: call.time("since"),
            before: call.time("before"),
            has_attachment: truth("has_attachment"),
            unread: truth("unread"),
        })
    }

    /// Returns whether `placed` is like this; `unread` is not looked at.
    pub(crate) fn fits(&self, placed: &Placed) -> bool {
        let message = &*placed.message;
        self.since.is_none_or(|since| placed.received >= since)
            && self.before.is_none_or(|before| placed.received < before)
            && self.has_attachment.is_none_or(|has| has != message.attachments.is_empty())
            && self.from.as_ref().is_none_or(|from| any(from, &message.from))
            && self.to.as_ref().is_none_or(|to| {
                [&message.to, &message.cc].into_iter().any(|list| any(to, list)) || any(to, &placed.bcc)
            })
            && self.subject.as_ref().is_none_or(|subject| subject.is_match(&message.subject))
            && self.text.as_ref().is_none_or(|text| holds(text, message))
    }
}

impl MailState {
    pub(crate) fn decide_search(
        &self,
        call: &ToolCall,
        desk: &Desk,
        context: &Context<'_>,
    ) -> Result<Decision<MailEvent>, Rejection> {
        let address = own_address(desk)?;
        let frame = context.frame;
        let filter = Filter::of(call)?;
        let limit = page(call, SEARCH_RESULTS_DEFAULT, SEARCH_RESULTS_MAX)?;
        let skipped = cursor(call)?.unwrap_or_default() as usize;
        let folders = match call.optional_text("folder") {
            Some(_) => vec![self.existing_folder(frame, address, call, "folder")?],
            None => self.folder_names(frame, address),
        };
        let mut matches: Vec<Found<'_>> = Vec::new();
        for name in folders {
            self.search_folder(frame, address, &name, &filter, &mut matches);
        }
        matches.sort_by(|left, right| {
            right
                .placed
                .received
                .cmp(&left.placed.received)
                .then_with(|| (&left.folder, right.uid).cmp(&(&right.folder, left.uid)))
        });
        let shown = matches.iter().skip(skipped).take(limit);
        let rows = shown.filter_map(|found| {
            let folder = self.peek_folder(address, &found.folder)?;
            let placed = folder.messages.get(frame, &found.uid)?;
            Some(row(&found.folder, found.uid, placed, folder.flags_shown(frame, found.uid), desk))
        });
        let next = Some(skipped + limit).filter(|next| *next < matches.len()).map(|next| next.to_string());
        Ok(Decision::answer(map! {
            "total" => matches.len(),
            "messages" => rows.collect::<Value>(),
            "cursor" => next,
        }))
    }

    /// Adds the messages of a folder that are like `filter`, in the order of their numbers. Notes the scan, not the matches.
    pub(crate) fn search_folder<'a>(
        &'a self,
        frame: &Frame,
        address: &str,
        name: &SmolStr,
        filter: &Filter,
        into: &mut Vec<Found<'a>>,
    ) {
        let Some(folder) = self.folder(frame, address, name) else { return };
        if filter.unread.is_some() {
            folder.seen.scan(frame).next();
        }
        let is_fit = |uid: u32, placed: &Placed| is_unread_as_asked(filter, folder, uid) && filter.fits(placed);
        for (uid, placed) in folder.messages.scan(frame) {
            if is_fit(*uid, placed) {
                into.push(Found { folder: name.clone(), uid: *uid, placed });
            }
        }
    }
}

fn is_unread_as_asked(filter: &Filter, folder: &Folder, uid: u32) -> bool {
    filter.unread.is_none_or(|unread| unread == folder.seen.peek(&uid).is_none())
}

fn needle(call: &ToolCall, name: &str) -> Result<Option<Regex>, Rejection> {
    let Some(text) = call.optional_text(name).filter(|text| !text.is_empty()) else { return Ok(None) };
    let refusal = || {
        Rejection::new(
            "mail/bad-search",
            format!("a text to search for has at most {SEARCH_TEXT_BYTES_MAX} bytes; search for less"),
        )
    };
    if text.len() > SEARCH_TEXT_BYTES_MAX {
        return Err(refusal());
    }
    RegexBuilder::new(&regex::escape(text)).case_insensitive(true).build().map(Some).map_err(|_| refusal())
}

fn any(needle: &Regex, mailboxes: &[Mailbox]) -> bool {
    mailboxes.iter().any(|mailbox| needle.is_match(&mailbox.address) || needle.is_match(&mailbox.name))
}

fn holds(needle: &Regex, message: &Message) -> bool {
    needle.is_match(&message.text)
        || needle.is_match(&message.subject)
        || any(needle, &message.from)
        || any(needle, &message.to)
        || any(needle, &message.cc)
        || message.attachments.iter().any(|part| needle.is_match(&part.name))
}
