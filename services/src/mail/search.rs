//! Search by the fields of messages: case-insensitive substrings, times, attachments, reading marks. It looks at every member of the
//! folders that it searches, and says so in the frame; the messages that match are read one by one.

use std::cmp::Reverse;

use dayshift_engine::{
    Budget, Context, Decision, Frame, OverBudget, Rejection, SimTime, SmolStr, ToolCall, Value, map,
};

use super::event::{MailEvent, Uid};
use super::index::{Field, Indexed, Needle};
use super::limits::{SEARCH_RESULTS_MAX, SEARCH_TEXT_BYTES_MAX};
use super::lookup::{own_address, row};
use super::read::{Cursor, bad_cursor, page};
use super::state::MailState;
use crate::service::Desk;

/// How many messages a search shows if the call does not say.
const SEARCH_RESULTS_DEFAULT: usize = 20;

/// What a message must be like.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    from: Option<Needle>,
    to: Option<Needle>,
    subject: Option<Needle>,
    text: Option<Needle>,
    query: Option<Needle>,
    since: Option<SimTime>,
    before: Option<SimTime>,
    has_attachment: Option<bool>,
    unread: Option<bool>,
}

/// A message that matched, not yet read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Match {
    pub(crate) folder: SmolStr,
    pub(crate) uid: Uid,
    received: SimTime,
    id: SmolStr,
}

/// What it costs to hold a message against a filter, without its text.
const MATCH_WORK: u64 = 20;

/// How many bytes of a text are looked through for one unit of work.
const TEXT_BYTES_PER_UNIT: u64 = 8;

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
            query: needle(call, "query")?,
            since: call.time("since"),
            before: call.time("before"),
            has_attachment: truth("has_attachment"),
            unread: truth("unread"),
        })
    }

    /// Returns whether a message is like this; `unread` is not looked at.
    fn fits(&self, message: &Indexed, budget: &Budget) -> Result<bool, OverBudget> {
        budget.work(MATCH_WORK)?;
        let needles = [&self.from, &self.to, &self.subject, &self.text, &self.query].into_iter().flatten();
        let looked_through = needles.filter(|needle| message.folded.may_hold(needle)).count() as u64;
        budget.work(looked_through * message.folded.bytes() as u64 / TEXT_BYTES_PER_UNIT)?;
        let holds =
            |field, needle: &Option<Needle>| needle.as_ref().is_none_or(|needle| message.folded.holds(field, needle));
        Ok(self.since.is_none_or(|since| message.received >= since)
            && self.before.is_none_or(|before| message.received < before)
            && self.has_attachment.is_none_or(|has| has == message.has_attachment)
            && holds(Field::From, &self.from)
            && holds(Field::To, &self.to)
            && holds(Field::Subject, &self.subject)
            && holds(Field::Any, &self.text)
            && holds(Field::Any, &self.query))
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
        let cursor = Cursor::of(call)?;
        let folders = match call.optional_text("folder") {
            Some(_) => vec![self.existing_folder(frame, address, call, "folder")?],
            None => self.folder_names(frame, address),
        };
        let mut matches = Vec::new();
        for name in folders {
            self.search_folder(frame, address, &name, &filter, &mut matches)?;
        }
        matches.sort_unstable_by(|left, right| left.place().cmp(&right.place()));
        let skipped = match cursor {
            None => 0,
            Some(Cursor::Number(skipped)) => skipped as usize,
            Some(Cursor::After(received, rest)) => {
                let last = Match::at(received, &rest).ok_or_else(bad_cursor)?;
                matches.partition_point(|found| found.place() <= last.place())
            }
        };
        let rows = matches.iter().skip(skipped).take(limit).filter_map(|found| {
            let folder = self.peek_folder(address, &found.folder)?;
            let placed = folder.messages.get(frame, &found.uid)?;
            let shown = &folder.index.get(&found.uid)?.folded.shown;
            Some(row(&found.folder, found.uid, placed, shown, folder.flags_shown(frame, found.uid), desk))
        });
        let next = Some(skipped.saturating_add(limit)).filter(|next| *next < matches.len());
        let next = next.and_then(|next| matches.get(next - 1)).map(Match::cursor);
        Ok(Decision::answer(map! {
            "total" => matches.len(),
            "messages" => rows.collect::<Value>(),
            "cursor" => next,
        }))
    }

    /// Adds the messages of a folder that are like `filter`, in the order of their numbers. Notes the scan, not the matches.
    pub(crate) fn search_folder(
        &self,
        frame: &Frame,
        address: &str,
        name: &SmolStr,
        filter: &Filter,
        into: &mut Vec<Match>,
    ) -> Result<(), OverBudget> {
        let Some(folder) = self.folder(frame, address, name) else { return Ok(()) };
        drop(folder.messages.scan(frame));
        if filter.unread.is_some() {
            drop(folder.seen.scan(frame));
        }
        let is_unread_as_asked =
            |uid: &Uid| filter.unread.is_none_or(|unread| unread == folder.seen.peek(uid).is_none());
        for (uid, message) in &folder.index {
            if filter.fits(message, frame.budget())? && is_unread_as_asked(uid) {
                let (received, id) = (message.received, message.id.clone());
                into.push(Match { folder: name.clone(), uid: *uid, received, id });
            }
        }
        Ok(())
    }
}

impl Match {
    /// Returns what the order of matches goes by: newest first. Of those that came in at one time, the id decides, which stays when a message is moved.
    fn place(&self) -> (Reverse<SimTime>, &SmolStr, &SmolStr, Uid) {
        (Reverse(self.received), &self.id, &self.folder, self.uid)
    }

    /// Returns the cursor of a page that ends here. A folder's name may hold blanks, so it stands last.
    fn cursor(&self) -> String {
        Cursor::show(self.received, format_args!("{} {} {}", self.id, self.uid, self.folder))
    }

    fn at(received: SimTime, rest: &str) -> Option<Self> {
        let mut parts = rest.splitn(3, ' ');
        let (id, uid, folder) = (parts.next()?, parts.next()?.parse().ok()?, parts.next()?);
        Some(Self { folder: folder.into(), uid, received, id: id.into() })
    }
}

fn needle(call: &ToolCall, name: &str) -> Result<Option<Needle>, Rejection> {
    let Some(text) = call.optional_text(name).filter(|text| !text.is_empty()) else { return Ok(None) };
    if text.len() > SEARCH_TEXT_BYTES_MAX {
        return Err(Rejection::new(
            "mail/bad-search",
            format!("a text to search for has at most {SEARCH_TEXT_BYTES_MAX} bytes; search for less"),
        ));
    }
    Ok(Some(Needle::new(text)))
}
