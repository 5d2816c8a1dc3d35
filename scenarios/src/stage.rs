//! What scripts can ask, answered from a scene of the kernel: everything for checks and conditions, and for a persona only what such a person
//! would see. Every read goes through the scene's frame and is its evidence.

mod changes;

use std::cell::RefCell;
use std::collections::BTreeMap;

use chrono::SecondsFormat;
use chrono_tz::Tz;
use dayshift_engine::{CLOCK_KEY, Key, PastCall, ReadKind, Scene, Seq, SimTime, SmolStr, Value, World, map};

use crate::language::{Stage, Vocabulary};

pub use self::changes::{CHANGES_MAX, CHANGES_PATTERNS_MAX};

/// What all stages of a scenario know.
#[derive(Clone, Debug)]
pub(crate) struct House {
    pub(crate) vocabulary: Vocabulary,
    pub(crate) zone: Tz,
    pub(crate) days: Vec<SmolStr>,
    pub(crate) people: Vec<SmolStr>,
}

/// Somebody who looks.
#[derive(Clone, Debug)]
pub(crate) struct Viewer {
    pub(crate) name: SmolStr,
    pub(crate) address: SmolStr,
    /// The conversation with the agent.
    pub(crate) conversation: SmolStr,
    pub(crate) sees: Vec<SmolStr>,
}

/// The stage of a check or a condition.
pub(crate) struct OpenStage<'a, W> {
    pub(crate) house: &'a House,
    pub(crate) scene: &'a Scene<'a, W>,
}

/// The stage of a persona.
pub(crate) struct PersonaStage<'a, W> {
    pub(crate) open: OpenStage<'a, W>,
    pub(crate) viewer: &'a Viewer,
    /// How far each folder and conversation was seen: the highest UID, the number of messages.
    pub(crate) marks: RefCell<BTreeMap<SmolStr, Value>>,
}

impl House {
    /// Returns `time` as RFC 3339 text with the offset of the office's zone.
    pub(crate) fn show(&self, time: SimTime) -> String {
        time.to_chrono().with_timezone(&self.zone).to_rfc3339_opts(SecondsFormat::AutoSi, false)
    }

    pub(crate) fn day_name(&self, day: dayshift_engine::Day) -> Option<SmolStr> {
        self.days.get((day.get() as usize).checked_sub(1)?).cloned()
    }
}

impl<W: World> Stage for OpenStage<'_, W> {
    fn answer(&self, day: Option<&str>, question: &str, arguments: Value) -> Result<Value, String> {
        match question {
            "scene.day" => self.known_day(arguments.get("name").and_then(Value::as_text)),
            "scene.calls" => {
                let tool = arguments.get("tool").and_then(Value::as_text);
                let calls = self.scene.calls(tool).map_err(|error| error.to_string())?;
                Ok(calls.iter().map(|call| self.show_call(call)).collect())
            }
            "scene.messages" => {
                let messages = self.scene.messages().map_err(|error| error.to_string())?;
                Ok(messages
                    .into_iter()
                    .map(|(seq, turn, text)| map! { "seq" => seq.get(), "turn" => turn.get(), "text" => text })
                    .collect())
            }
            "scene.changes" => changes::answer(self.house, self.scene, &arguments),
            "scene.now" => {
                self.scene.frame.note(ReadKind::Item, Key::new(CLOCK_KEY), Seq::default());
                Ok(self.house.show(self.scene.time).into())
            }
            "scene.draw" | "scene.inbox" | "scene.chats" => {
                Err("only a persona has an inbox, chats and choices; ask mail and chat instead".to_owned())
            }
            _ => self.query(day, question, &arguments),
        }
    }
}

impl<W: World> OpenStage<'_, W> {
    fn query(&self, day: Option<&str>, question: &str, arguments: &Value) -> Result<Value, String> {
        // A day that is not over yet is the world as it is now: at its end the two are the same.
        let past = day.and_then(|day| self.scene.past.get(day));
        let world = past.unwrap_or(self.scene.world);
        world.query(question, arguments, &self.scene.looking()).map_err(|rejection| rejection.to_string())
    }

    fn known_day(&self, name: Option<&str>) -> Result<Value, String> {
        let name = name.unwrap_or_default();
        if self.house.days.iter().any(|day| day == name) {
            return Ok(Value::Null);
        }
        Err(format!("there is no day '{name}'; the days are {}", self.house.days.join(", ")))
    }

    fn show_call(&self, call: &PastCall) -> Value {
        let (answer, code, message) = match &call.answer {
            Ok(answer) => (answer.clone(), None, None),
            Err(rejection) => (Value::Null, Some(rejection.code.to_string()), Some(rejection.message.clone())),
        };
        map! {
            "seq" => call.seq.get(),
            "time" => self.house.show(call.time),
            "day" => self.house.day_name(call.day),
            "turn" => call.turn.map(dayshift_engine::Turn::get),
            "tool" => call.tool.clone(),
            "arguments" => call.arguments.clone(),
            "ok" => code.is_none(),
            "answer" => answer,
            "code" => code,
            "message" => message,
        }
    }
}

impl<W: World> Stage for PersonaStage<'_, W> {
    fn answer(&self, day: Option<&str>, question: &str, mut arguments: Value) -> Result<Value, String> {
        if day.is_some() {
            return Err("a persona sees the world as it is now; remember what it was".to_owned());
        }
        let text = |name: &str| arguments.get(name).and_then(Value::as_text);
        match question {
            "scene.now" => self.open.answer(None, question, arguments),
            "scene.inbox" => self.inbox(text("folder").unwrap_or("INBOX")),
            "scene.chats" => {
                let conversation = SmolStr::from(text("conversation").unwrap_or(&self.viewer.conversation));
                self.admit("chat.messages", Some(&conversation))?;
                self.chats(&conversation)
            }
            "scene.draw" => {
                let label = text("label").unwrap_or_default();
                let below = arguments.get("below").and_then(Value::as_int).and_then(|below| u64::try_from(below).ok());
                let below = below.filter(|below| *below > 0).ok_or("there is nothing to choose from")?;
                let label = format!("persona/{}/{label}", self.viewer.name);
                Ok(self.open.scene.seed.stream(&label).below(below).into())
            }
            "scene.day" | "scene.calls" | "scene.messages" | "scene.changes" => {
                Err("a persona does not see the log or earlier days; remember what it needs".to_owned())
            }
            _ => {
                if question.starts_with("mail.")
                    && let Value::Map(map) = &mut arguments
                {
                    map.entry("address".into()).or_insert_with(|| self.viewer.address.clone().into());
                }
                let subject = self.open.house.vocabulary.subject(question).and_then(|name| arguments.get(name));
                self.admit(question, subject.and_then(Value::as_text))?;
                self.open.query(None, question, &arguments)
            }
        }
    }
}

impl<W: World> PersonaStage<'_, W> {
    /// Makes sure that such a person would see what `question` is about.
    fn admit(&self, question: &str, subject: Option<&str>) -> Result<(), String> {
        let service = question.split('.').next().unwrap_or_default();
        let own = match service {
            "people" | "clock" => true,
            "mail" => subject.is_some_and(|address| address.eq_ignore_ascii_case(&self.viewer.address)),
            "chat" => subject.is_some_and(|names| names.split('+').any(|name| name == self.viewer.name)),
            _ => false,
        };
        // Questions call a channel `#team` or `team`, and so may authors.
        let bare = |name: &'_ str| match name.strip_prefix('#') {
            Some(channel) if service == "chat" => channel.to_owned(),
            Some(_) | None => name.to_owned(),
        };
        let shared = |entry: &SmolStr| match (entry.split_once(':'), subject) {
            (None, _) => entry == service,
            (Some((of, what)), Some(subject)) => {
                of == service && (bare(what) == bare(subject) || what.ends_with('/') && subject.starts_with(what))
            }
            (Some(_), None) => false,
        };
        if own || self.viewer.sees.iter().any(shared) {
            return Ok(());
        }
        let what = subject.map_or_else(|| service.to_owned(), |subject| format!("{service}:{subject}"));
        Err(format!("{} does not see '{what}'; add it to 'sees' of this person in scenario.yaml", self.viewer.name))
    }

    /// Returns the messages that came into `folder` since the last look.
    fn inbox(&self, folder: &str) -> Result<Value, String> {
        let arguments = map! { "address" => self.viewer.address.clone(), "folder" => folder };
        let found = self.open.query(None, "mail.messages", &arguments)?;
        let mark = SmolStr::from(format!("mail/{folder}"));
        let mut marks = self.marks.borrow_mut();
        let seen = marks.get(&mark).and_then(Value::as_int).unwrap_or(0);
        let uid = |message: &Value| message.get("uid").and_then(Value::as_int).unwrap_or(0);
        let new: Vec<Value> =
            found.as_list().unwrap_or_default().iter().filter(|message| uid(message) > seen).cloned().collect();
        if let Some(highest) = new.iter().map(uid).max() {
            marks.insert(mark, highest.into());
        }
        Ok(Value::List(new))
    }

    /// Returns the messages of `conversation` since the last look.
    fn chats(&self, conversation: &str) -> Result<Value, String> {
        let found = self.open.query(None, "chat.messages", &map! { "conversation" => conversation })?;
        let found = found.as_list().unwrap_or_default();
        let mark = SmolStr::from(format!("chat/{conversation}"));
        let mut marks = self.marks.borrow_mut();
        let seen = marks.get(&mark).and_then(Value::as_int).and_then(|seen| usize::try_from(seen).ok()).unwrap_or(0);
        marks.insert(mark, found.len().into());
        Ok(found.iter().skip(seen).cloned().collect())
    }
}
