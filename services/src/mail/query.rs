//! What checks, conditions and personas can ask of mail. Answers are traced: a listing reads the membership and each message that it shows,
//! a search the whole folder and each message that matched. Flags and reading marks are read and shown only where a question asks for them, so that
//! no check depends on them by accident.

use dayshift_engine::{Frame, Looking, Rejection, SmolStr, ToolCall, Value, map};

use super::address::normal;
use super::event::Uid;
use super::index::Shown;
use super::lookup::{Found, folder_name, row};
use super::message::Mailbox;
use super::parse::{self, clean_id};
use super::read::{body_of, describe};
use super::search::Filter;
use super::state::{INBOX, MailState, Placed, SENT};
use crate::service::{Desk, unknown_question};

/// The questions, with what they take.
const QUESTIONS: [&str; 7] = ["count", "folders", "message", "messages", "search", "sent", "thread"];

impl MailState {
    pub(crate) fn answer(
        &self,
        verb: &str,
        arguments: &Value,
        desk: &Desk,
        looking: &Looking<'_>,
    ) -> Result<Value, Rejection> {
        let asked = Asked::of(verb, arguments, desk)?;
        match verb {
            "messages" => {
                self.messages(&asked, asked.folder.as_ref().unwrap_or(&SmolStr::new_static(INBOX)), desk, looking)
            }
            "sent" => self.messages(&asked, &SmolStr::new_static(SENT), desk, looking),
            "count" => self.count(&asked, looking),
            "search" => {
                let found = self.matches(&asked, looking)?;
                found.iter().map(|found| self.show(&asked, found, desk, looking)).collect()
            }
            "folders" => {
                let names = self.folder_names(looking.frame, &asked.address);
                Ok(names.iter().map(|name| self.folder_summary(looking.frame, &asked.address, name)).collect())
            }
            "message" => self.message(&asked, desk, looking),
            "thread" => self.thread(&asked, desk, looking),
            _ => Err(unknown_question("mail", verb, &QUESTIONS)),
        }
    }

    fn messages(
        &self,
        asked: &Asked,
        folder: &SmolStr,
        desk: &Desk,
        looking: &Looking<'_>,
    ) -> Result<Value, Rejection> {
        let frame = looking.frame;
        let Some(state) = self.folder(frame, &asked.address, folder) else { return Ok(Value::List(Vec::new())) };
        let uids: Vec<Uid> = state.messages.list(frame).copied().collect();
        let found = uids.into_iter().filter_map(|uid| self.find_at(frame, &asked.address, folder.clone(), uid));
        found.map(|found| self.show(asked, &found, desk, looking)).collect()
    }

    fn count(&self, asked: &Asked, looking: &Looking<'_>) -> Result<Value, Rejection> {
        if asked.is_filtered {
            return Ok(self.matches(asked, looking)?.len().into());
        }
        let folder = asked.folder.as_ref().map_or(INBOX, SmolStr::as_str);
        let Some(state) = self.folder(looking.frame, &asked.address, folder) else { return Ok(Value::Int(0)) };
        drop(state.messages.list(looking.frame));
        Ok(state.messages.len().into())
    }

    fn matches(&self, asked: &Asked, looking: &Looking<'_>) -> Result<Vec<Found<'_>>, Rejection> {
        let frame = looking.frame;
        let filter = Filter::of(&asked.call)?;
        let mut found = Vec::new();
        let folder = asked.folder.clone().unwrap_or(SmolStr::new_static(INBOX));
        self.search_folder(frame, &asked.address, &folder, &filter, &mut found)?;
        let read = found.into_iter().filter_map(|found| self.find_at(frame, &asked.address, found.folder, found.uid));
        Ok(read.collect())
    }

    fn message(&self, asked: &Asked, desk: &Desk, looking: &Looking<'_>) -> Result<Value, Rejection> {
        let frame = looking.frame;
        let found = match (asked.call.int("uid"), asked.call.optional_text("message_id")) {
            (Some(uid), None) => {
                let folder = asked.folder.clone().unwrap_or(SmolStr::new_static(INBOX));
                u32::try_from(uid).ok().and_then(|uid| self.find_at(frame, &asked.address, folder, uid))
            }
            (None, Some(id)) => self.find_by_id(frame, &asked.address, id, asked.folder.as_ref()),
            (Some(_), Some(_)) | (None, None) => {
                return Err(bad("mail.message takes either uid or message_id, and perhaps folder"));
            }
        };
        let Some(found) = found else { return Ok(Value::Null) };
        let mut answer = self.show(asked, &found, desk, looking)?;
        let source = looking.load(&found.message().source)?;
        if let Value::Map(answer) = &mut answer {
            answer.insert("html".into(), parse::html_body(&source, looking.budget())?.into());
            let headers =
                parse::headers(&source).into_iter().map(|(name, value)| map! { "name" => name, "value" => value });
            answer.insert("headers".into(), headers.collect());
        }
        Ok(answer)
    }

    /// Returns the messages of a thread as they were sent, wherever they lie, oldest first.
    fn thread(&self, asked: &Asked, desk: &Desk, looking: &Looking<'_>) -> Result<Value, Rejection> {
        let Some(id) = asked.call.optional_text("message_id") else { return Err(bad("mail.thread takes message_id")) };
        let ids = self.thread_ids(looking.frame, &clean_id(id));
        let mut members: Vec<_> = ids.iter().filter_map(|id| self.known.get(looking.frame, id)).collect();
        members.sort_by_key(|known| known.0.date);
        let shown = members.iter().map(|known| {
            let message = &*known.0;
            Ok(map! {
                "id" => message.id.clone(),
                "from_address" => message.from.first().map(|mailbox| mailbox.address.clone()),
                "to" => addresses(&message.to),
                "cc" => addresses(&message.cc),
                "subject" => message.subject.clone(),
                "time" => message.date.map(|date| desk.show(date)),
                "in_reply_to" => message.in_reply_to.clone(),
                "body" => body_of(message, looking.budget(), || looking.load(&message.source))?,
            })
        });
        shown.collect()
    }

    fn show(&self, asked: &Asked, found: &Found<'_>, desk: &Desk, looking: &Looking<'_>) -> Result<Value, Rejection> {
        let message = found.message();
        let body = body_of(message, looking.budget(), || looking.load(&message.source))?;
        let attachments: Value =
            message.attachments.iter().enumerate().map(|(index, part)| describe(index, part)).collect();
        let mut shown = map! {
            "folder" => found.folder.clone(),
            "uid" => found.uid,
            "id" => message.id.clone(),
            "from" => message.from.first().map(Mailbox::show).unwrap_or_default(),
            "from_address" => message.from.first().map(|mailbox| mailbox.address.clone()).unwrap_or_default(),
            "to" => addresses(&message.to),
            "cc" => addresses(&message.cc),
            "bcc" => addresses(&found.placed.bcc),
            "subject" => message.subject.clone(),
            "new_text" => new_text(&body),
            "body" => body,
            "time" => desk.show(found.placed.received),
            "attachments" => attachments,
            "in_reply_to" => message.in_reply_to.clone(),
            "references" => message.references.clone(),
        };
        if let (true, Value::Map(shown)) = (asked.call.flag("flags"), &mut shown) {
            let flags = self.flags_of(looking.frame, &asked.address, found);
            shown.insert("unread".into(), (!flags.iter().any(|flag| flag == "\\Seen")).into());
            shown.insert("flags".into(), flags.into());
        }
        Ok(shown)
    }

    /// Returns the whole graded state for people.
    pub(crate) fn dump_all(&self, desk: &Desk) -> Value {
        let mut mailboxes = std::collections::BTreeMap::<SmolStr, Value>::new();
        let frame = Frame::new();
        for (path, folder) in &self.folders {
            let rows: Value = folder
                .messages
                .peek_all()
                .map(|(uid, placed)| {
                    let flags = folder.flags.get(&frame, uid).map(|flags| flags.0.clone()).unwrap_or_default();
                    dump_row(&path.folder, *uid, placed, flags, desk)
                })
                .collect();
            let slot = mailboxes.entry(path.address.clone()).or_insert_with(|| map! {});
            if let Value::Map(folders) = slot {
                folders.insert(path.folder.clone(), rows);
            }
        }
        Value::Map(mailboxes)
    }
}

/// What a question asks about.
struct Asked {
    address: SmolStr,
    folder: Option<SmolStr>,
    call: ToolCall,
    is_filtered: bool,
}

impl Asked {
    fn of(verb: &str, arguments: &Value, desk: &Desk) -> Result<Self, Rejection> {
        const TEXTS: [&str; 9] =
            ["address", "folder", "from", "to", "subject", "text", "message_id", "since", "before"];
        const OTHERS: [&str; 4] = ["uid", "unread", "has_attachment", "flags"];
        let empty = std::collections::BTreeMap::new();
        let given = match arguments {
            Value::Null => &empty,
            Value::Map(given) => given,
            Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::List(_) => {
                return Err(bad("a question takes named arguments"));
            }
        };
        for (name, value) in given {
            let is_text = TEXTS.contains(&name.as_str());
            if !is_text && !OTHERS.contains(&name.as_str()) {
                return Err(bad(format!(
                    "mail.{verb} has no argument '{name}'; it may take: {}, {}",
                    TEXTS.join(", "),
                    OTHERS.join(", ")
                )));
            }
            if is_text && *value != Value::Null && value.as_text().is_none() {
                return Err(bad(format!("the argument '{name}' of mail.{verb} is text, not {}", value.kind())));
            }
        }
        let call = ToolCall::new(format!("mail.{verb}"), arguments.clone());
        for name in ["since", "before"] {
            if call.get(name).is_some() && call.time(name).is_none() {
                return Err(bad(format!("the argument '{name}' of mail.{verb} is an RFC 3339 time with an offset")));
            }
        }
        let folder =
            call.optional_text("folder").map(folder_name).transpose().map_err(|refusal| bad(refusal.message))?;
        let filters = ["from", "to", "subject", "text", "since", "before", "unread", "has_attachment"];
        Ok(Self {
            address: call.optional_text("address").map_or_else(|| desk.address.clone(), normal),
            folder,
            is_filtered: filters.iter().any(|name| call.get(name).is_some()),
            call,
        })
    }
}

fn bad(sentence: impl Into<String>) -> Rejection {
    Rejection::new("query/bad-arguments", sentence)
}

fn addresses(mailboxes: &[Mailbox]) -> Vec<SmolStr> {
    mailboxes.iter().map(|mailbox| mailbox.address.clone()).collect()
}

/// Returns what the writer wrote: `body` without quoted lines and the lines that announce them.
pub(crate) fn new_text(body: &SmolStr) -> SmolStr {
    let is_quoting = body.starts_with('>') || body.contains("\n>");
    if !is_quoting && body.trim().len() == body.len() {
        return body.clone();
    }
    let lines: Vec<&str> = body.lines().collect();
    let announces = |index: usize| {
        let is_announcement = lines[index].starts_with("On ") && lines[index].trim_end().ends_with(':');
        let next = || lines[index + 1..].iter().find(|next| !next.trim().is_empty());
        is_announcement && next().is_some_and(|next| next.starts_with('>'))
    };
    let kept = (0..lines.len()).filter(|index| !lines[*index].starts_with('>') && !announces(*index));
    kept.map(|index| lines[index]).collect::<Vec<_>>().join("\n").trim().into()
}

pub(crate) fn dump_row(folder: &str, uid: Uid, placed: &Placed, flags: Vec<SmolStr>, desk: &Desk) -> Value {
    let mut shown = row(folder, uid, placed, &Shown::of(&placed.message), flags, desk);
    if let Value::Map(shown) = &mut shown {
        for ungraded in ["unread", "snippet", "folder"] {
            shown.remove(ungraded);
        }
        shown.insert("body".into(), placed.message.text.clone().into());
    }
    shown
}
