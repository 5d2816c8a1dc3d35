//! The calls that look: folders, listings, reading, threads, attachments. Reading leaves a reading mark, which no check sees.

use dayshift_engine::{Budget, Context, Decision, Frame, Rejection, SimTime, SmolStr, ToolCall, Value, map};

use super::event::{MailEvent, Uid};
use super::index::Shown;
use super::limits::{BODY_SHOWN_CHARS_MAX, LIST_PAGE_MAX, THREAD_MESSAGES_MAX};
use super::lookup::{Found, own_address, row, show_all};
use super::message::{Message, Part};
use super::parse;
use super::query::new_text;
use super::state::{Folder, MailState};
use crate::service::Desk;

/// How many messages a listing shows if the call does not say.
const LIST_PAGE_DEFAULT: usize = 20;

impl MailState {
    pub(crate) fn decide_folders(&self, desk: &Desk, context: &Context<'_>) -> Result<Decision<MailEvent>, Rejection> {
        let address = own_address(desk)?;
        let frame = context.frame;
        let folders: Vec<Value> =
            self.folder_names(frame, address).iter().map(|name| self.folder_summary(frame, address, name)).collect();
        Ok(Decision::answer(map! { "address" => address.clone(), "folders" => folders }))
    }

    /// Returns what a list of folders says of one.
    pub(crate) fn folder_summary(&self, frame: &Frame, address: &str, name: &SmolStr) -> Value {
        let Some(folder) = self.folder(frame, address, name) else {
            return map! { "name" => name.clone(), "messages" => 0_u32, "unread" => 0_u32 };
        };
        drop(folder.messages.list(frame));
        drop(folder.seen.list(frame));
        let (messages, seen) = (folder.messages.len(), folder.seen.len());
        map! {
            "name" => name.clone(),
            "messages" => messages,
            "unread" => messages.saturating_sub(seen),
            "uid_validity" => folder.uid_validity,
        }
    }

    pub(crate) fn decide_list(
        &self,
        call: &ToolCall,
        desk: &Desk,
        context: &Context<'_>,
    ) -> Result<Decision<MailEvent>, Rejection> {
        let address = own_address(desk)?;
        let frame = context.frame;
        let name = self.existing_folder(frame, address, call, "folder")?;
        let limit = page(call, LIST_PAGE_DEFAULT, LIST_PAGE_MAX)?;
        let cursor = Cursor::of(call)?;
        let Some(folder) = self.folder(frame, address, &name) else {
            return Ok(Decision::answer(
                map! { "folder" => name, "total" => 0_u32, "messages" => Value::List(Vec::new()) },
            ));
        };
        drop(folder.messages.list(frame));
        let total = folder.messages.len();
        let is_unread_only = call.flag("unread");
        if is_unread_only {
            folder.seen.scan(frame).next();
        }
        let below = cursor.map_or(Ok((SimTime::from_millis(i64::MAX), Uid::MAX)), |cursor| cursor.place_in(folder))?;
        let mut places =
            folder.by_time.range(..below).rev().filter(|(_, uid)| !is_unread_only || folder.seen.peek(uid).is_none());
        let page: Vec<(SimTime, Uid)> = places.by_ref().take(limit).copied().collect();
        let more = places.next().is_some();
        let shown = page.iter().map(|(_, uid)| uid);
        let rows = shown.filter_map(|uid| {
            let placed = folder.messages.get(frame, uid)?;
            let shown = &folder.index.get(uid)?.folded.shown;
            Some(row(&name, *uid, placed, shown, folder.flags_shown(frame, *uid), desk))
        });
        let cursor = page.last().filter(|_| more).map(|(received, uid)| Cursor::show(*received, uid));
        Ok(Decision::answer(map! {
            "folder" => name.clone(),
            "total" => total,
            "messages" => rows.collect::<Value>(),
            "cursor" => cursor,
        }))
    }

    pub(crate) fn decide_read(
        &self,
        call: &ToolCall,
        desk: &Desk,
        context: &Context<'_>,
    ) -> Result<Decision<MailEvent>, Rejection> {
        let address = own_address(desk)?;
        let found = self.find(context.frame, address, call)?;
        let offset = usize::try_from(call.int("offset").unwrap_or_default()).map_err(|_| {
            Rejection::new(
                "mail/bad-offset",
                "an offset counts characters from 0; take the one that the last reading gave",
            )
        })?;
        let mut flags = self.flags_of(context.frame, address, &found);
        let is_new = !flags.iter().any(|flag| flag == "\\Seen");
        if is_new {
            flags.push(SmolStr::new_static("\\Seen"));
            flags.sort();
        }
        let message = found.message();
        let mut text = body_of(message, context.budget(), || context.load(&message.source))?;
        if call.get("quotes").and_then(Value::as_bool) == Some(false) {
            text = new_text(&text);
        }
        let (body, next) = window(&text, offset);
        let attachments: Value =
            message.attachments.iter().enumerate().map(|(index, part)| describe(index, part)).collect();
        let mut answer = map! {
            "folder" => found.folder.clone(),
            "uid" => found.uid,
            "message_id" => message.id.clone(),
            "from" => show_all(&message.from),
            "to" => show_all(&message.to),
            "cc" => show_all(&message.cc),
            "bcc" => show_all(&found.placed.bcc),
            "reply_to" => show_all(&message.reply_to),
            "subject" => message.subject.clone(),
            "time" => desk.show(found.placed.received),
            "date" => message.date.map_or_else(|| "unknown".to_owned(), |date| desk.show(date)),
            "in_reply_to" => message.in_reply_to.clone(),
            "references" => message.references.clone(),
            "flags" => flags,
            "attachments" => attachments,
            "body" => body,
        };
        if let (Some(next), Value::Map(answer)) = (next, &mut answer) {
            answer.insert("next_offset".into(), next.into());
            let note = format!("the body goes on; read it with offset {next}");
            answer.insert("note".into(), note.into());
        }
        if let (true, Value::Map(answer)) = (call.flag("headers"), &mut answer) {
            answer.insert("headers".into(), header_list(&context.load(&message.source)?));
        }
        let mut events = Vec::new();
        if is_new {
            let (address, folder) = (address.clone(), found.folder.clone());
            events.push(MailEvent::MessageSeen { address, folder, uid: found.uid, seen: true });
        }
        Ok(Decision::change(events, answer))
    }

    pub(crate) fn decide_thread(
        &self,
        call: &ToolCall,
        desk: &Desk,
        context: &Context<'_>,
    ) -> Result<Decision<MailEvent>, Rejection> {
        let address = own_address(desk)?;
        let frame = context.frame;
        let found = self.find(frame, address, call)?;
        let ids = self.thread_ids(frame, &found.message().id);
        let mut members: Vec<Found<'_>> =
            ids.iter().filter_map(|id| self.find_by_id(frame, address, id, None)).collect();
        members.sort_by_key(|found| found.placed.received);
        let rows = members.iter().map(|found| {
            let (shown, flags) = (Shown::of(found.message()), self.flags_of(frame, address, found));
            row(&found.folder, found.uid, found.placed, &shown, flags, desk)
        });
        Ok(Decision::answer(map! { "messages" => rows.collect::<Value>() }))
    }

    /// Returns the name and the content of the attachment that a call of `mail.save_attachment` asks for. The caller writes the file.
    ///
    /// # Errors
    ///
    /// As for reading the message; `mail/unknown-attachment`.
    pub fn attachment(
        &self,
        call: &ToolCall,
        desk: &Desk,
        context: &Context<'_>,
    ) -> Result<(SmolStr, Vec<u8>), Rejection> {
        let found = self.find(context.frame, own_address(desk)?, call)?;
        let parts = &found.message().attachments;
        let wanted = call.get("attachment").cloned().unwrap_or(Value::Int(1));
        let by_number = wanted.as_int().or_else(|| wanted.as_text().and_then(|text| text.parse().ok()));
        let by_name = wanted.as_text().and_then(|name| parts.iter().position(|part| part.name == name));
        let numbered =
            || by_number.and_then(|number| usize::try_from(number).ok()).and_then(|number| number.checked_sub(1));
        let index = by_name.or_else(numbered).filter(|index| *index < parts.len());
        let unknown = || {
            let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
            let there =
                if names.is_empty() { "it has none".to_owned() } else { format!("it has: {}", names.join(", ")) };
            Rejection::new("mail/unknown-attachment", format!("the message has no attachment {wanted}; {there}"))
        };
        let index = index.ok_or_else(unknown)?;
        let source = context.load(&found.message().source)?;
        let bytes = parse::attachments(&source, |number| number == index, context.budget())?;
        Ok((parts[index].name.clone(), bytes.into_iter().next().ok_or_else(unknown)?))
    }

    pub(crate) fn flags_of(&self, frame: &Frame, address: &str, found: &Found<'_>) -> Vec<SmolStr> {
        self.peek_folder(address, &found.folder).map(|folder| folder.flags_shown(frame, found.uid)).unwrap_or_default()
    }

    /// Returns the ids of the whole thread of a message, from its root on, each before its answers; also those that are only referred to.
    pub(crate) fn thread_ids(&self, frame: &Frame, id: &SmolStr) -> Vec<SmolStr> {
        let mut root = id.clone();
        while let Some(parent) = self.links.get(frame, &root).and_then(|links| links.parent.clone()) {
            root = parent;
        }
        let mut ids = Vec::new();
        let mut open = vec![root];
        while let Some(id) = open.pop() {
            if ids.len() >= THREAD_MESSAGES_MAX {
                break;
            }
            let children = self.links.get(frame, &id).map(|links| &links.children);
            open.extend(children.into_iter().flatten().rev().cloned());
            ids.push(id);
        }
        ids
    }

    /// Returns the bytes of a message as they were sent or imported, for doors and exports.
    #[must_use]
    pub fn source(&self, frame: &Frame, address: &str, folder: &str, uid: Uid) -> Option<&dayshift_engine::Content> {
        self.folder(frame, address, folder)?.messages.get(frame, &uid).map(|placed| &placed.message.source)
    }
}

/// Returns how many messages `call` wants to see.
///
/// # Errors
///
/// `mail/bad-limit`.
pub(crate) fn page(call: &ToolCall, default: usize, max: usize) -> Result<usize, Rejection> {
    let Some(limit) = call.int("limit") else { return Ok(default) };
    usize::try_from(limit)
        .ok()
        .filter(|limit| (1..=max).contains(limit))
        .ok_or_else(|| Rejection::new("mail/bad-limit", format!("a limit is a number from 1 to {max}, not {limit}")))
}

/// Where a page of messages ended: after a message, whatever came in or moved away since, by the time at which that came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cursor {
    /// After a message that came in at this time; what tells it from others of that time.
    After(SimTime, SmolStr),
    /// A number, as cursors were before they held times: of a message in its folder, or of messages to leave out.
    Number(u32),
}

impl Cursor {
    /// Returns where the page that `call` wants begins, if it is not the first.
    ///
    /// # Errors
    ///
    /// `mail/bad-cursor`.
    pub(crate) fn of(call: &ToolCall) -> Result<Option<Self>, Rejection> {
        let Some(text) = call.optional_text("cursor") else { return Ok(None) };
        let cursor = match text.split_once(' ') {
            Some((millis, rest)) => {
                millis.parse().ok().map(|millis| Self::After(SimTime::from_millis(millis), rest.into()))
            }
            None => text.parse().ok().map(Self::Number),
        };
        cursor.map(Some).ok_or_else(bad_cursor)
    }

    pub(crate) fn show(received: SimTime, rest: impl std::fmt::Display) -> String {
        format!("{} {rest}", received.as_millis())
    }

    /// Returns the place in the order of `folder` below which the page lies.
    fn place_in(&self, folder: &Folder) -> Result<(SimTime, Uid), Rejection> {
        match self {
            Self::After(received, uid) => Ok((*received, uid.parse().map_err(|_| bad_cursor())?)),
            Self::Number(uid) => {
                let (uid, indexed) = folder.index.range(..=*uid).next_back().ok_or_else(bad_cursor)?;
                Ok((indexed.received, *uid))
            }
        }
    }
}

pub(crate) fn bad_cursor() -> Rejection {
    Rejection::new(
        "mail/bad-cursor",
        "a cursor is what the last page gave; leave it out to begin at the newest message",
    )
}

/// Returns at most [`BODY_SHOWN_CHARS_MAX`] characters of `text` from `offset` on, and where the rest begins, if there is one.
fn window(text: &str, offset: usize) -> (&str, Option<usize>) {
    let at = |count: usize| text.char_indices().nth(count).map_or(text.len(), |(index, _)| index);
    let start = at(offset);
    let rest = &text[start..];
    match rest.char_indices().nth(BODY_SHOWN_CHARS_MAX) {
        Some((end, _)) => (&rest[..end], Some(offset + BODY_SHOWN_CHARS_MAX)),
        None => (rest, None),
    }
}

/// Returns what is said of an attachment; numbers begin at 1.
pub(crate) fn describe(index: usize, part: &Part) -> Value {
    map! {
        "number" => index + 1,
        "name" => part.name.clone(),
        "media_type" => part.media_type.clone(),
        "bytes" => part.bytes,
        "inline" => part.inline,
    }
}

fn header_list(bytes: &[u8]) -> Value {
    parse::headers(bytes).into_iter().map(|(name, value)| map! { "name" => name, "value" => value }).collect()
}

/// Returns the whole body of `message` as plain text.
pub(crate) fn body_of(
    message: &Message,
    budget: &Budget,
    load: impl FnOnce() -> Result<std::sync::Arc<[u8]>, Rejection>,
) -> Result<SmolStr, Rejection> {
    if message.is_text_whole() { Ok(message.text.clone()) } else { Ok(parse::whole_text(&load()?, budget)?.into()) }
}
