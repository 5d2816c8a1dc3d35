//! Conversations, their messages and who has read how far: how events change them, and how they are read.

use std::sync::Arc;

use dayshift_engine::{
    Applying, Canonical, Collection, Difference, Frame, Graded, Key, Looking, ReadKind, Rejection, Seq, SimTime,
    SmolStr, StateDigest, Value, map,
};
use imbl::OrdMap;
use imbl::ordmap::DiffItem;

use super::event::ChatEvent;
use super::tools::conversation_name;
use crate::service::{Desk, unknown_question};

/// Chat.
#[derive(Clone, Debug)]
pub struct ChatState {
    pub(super) conversations: Collection<SmolStr, Conversation>,
    messages: OrdMap<SmolStr, Messages>,
    marks: Collection<SmolStr, Mark>,
    digest: StateDigest,
}

/// Who takes part in a conversation, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Conversation {
    pub(super) members: Vec<SmolStr>,
}

/// Something that was said. When it was said is not graded.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) from: SmolStr,
    pub(super) text: SmolStr,
    pub(super) time: SimTime,
}

const QUESTIONS: &[&str] = &["conversations", "messages"];

impl ChatState {
    /// Returns chat without conversations.
    #[must_use]
    pub fn new() -> Self {
        Self {
            conversations: Collection::new("chat:"),
            messages: OrdMap::new(),
            marks: Collection::ungraded("chat:marks/"),
            digest: StateDigest::default(),
        }
    }

    /// Returns the numbers of the messages of `conversation`, and notes the read of which there are.
    pub(super) fn numbers(&self, conversation: &SmolStr, frame: &Frame) -> Vec<u32> {
        match self.messages.get(conversation) {
            Some(messages) => messages.0.list(frame).copied().collect(),
            None => {
                frame.note(ReadKind::Membership, Key::new(format!("chat:{conversation}/")), Seq::default());
                Vec::new()
            }
        }
    }

    /// Returns the message `number` of `conversation` and notes the read.
    pub(super) fn message(&self, conversation: &SmolStr, number: u32, frame: &Frame) -> Option<&Message> {
        self.messages.get(conversation)?.0.get(frame, &number)
    }

    /// Returns whether `name` wrote the message `number` of `conversation`. Not a read of its own: a message never changes, so who wrote it goes
    /// with the numbers that there are.
    pub(super) fn is_from(&self, conversation: &SmolStr, number: u32, name: &SmolStr) -> bool {
        self.messages
            .get(conversation)
            .and_then(|messages| messages.0.peek(&number))
            .is_some_and(|message| message.from == *name)
    }

    /// Returns how many messages `conversation` has, without noting a read.
    pub(super) fn peek_len(&self, conversation: &SmolStr) -> usize {
        self.messages.get(conversation).map_or(0, |messages| messages.0.len())
    }

    /// Returns the number of the last message of `conversation` that `reader` has seen, and notes the read.
    pub(super) fn mark(&self, conversation: &SmolStr, reader: &SmolStr, frame: &Frame) -> u32 {
        self.marks.get(frame, &mark_name(conversation, reader)).map_or(0, |mark| mark.0)
    }

    pub(super) fn change(&mut self, event: ChatEvent, applying: &mut Applying<'_>) {
        match event {
            ChatEvent::ConversationOpened { conversation, members } => {
                self.conversations.insert(applying, conversation, Conversation { members });
            }
            ChatEvent::MessagePosted { conversation, from, text, time } => {
                let message = Message { from, text, time: time.unwrap_or(applying.time) };
                let messages =
                    self.messages.entry(conversation.clone()).or_insert_with(|| Messages::new(&conversation));
                let messages = Arc::make_mut(&mut messages.0);
                let number = u32::try_from(messages.len()).unwrap_or(u32::MAX).saturating_add(1);
                self.digest -= messages.digest();
                messages.insert(applying, number, message);
                self.digest += messages.digest();
            }
            ChatEvent::ConversationRead { conversation, reader, number } => {
                self.marks.insert(applying, mark_name(&conversation, &reader), Mark(number));
            }
        }
    }

    pub(super) fn answer_question(
        &self,
        verb: &str,
        arguments: &Value,
        desk: &Desk,
        looking: &Looking<'_>,
    ) -> Result<Value, Rejection> {
        match verb {
            "conversations" => Ok(self.conversations.list(looking.frame).cloned().collect()),
            "messages" => {
                let name = arguments.get("conversation").and_then(Value::as_text).ok_or_else(|| {
                    Rejection::new(
                        "query/bad-arguments",
                        "the question needs the text argument 'conversation'; give it",
                    )
                })?;
                let name = match name.split_once('+') {
                    Some((one, two)) => conversation_name(one, two),
                    None if name.starts_with('#') => SmolStr::from(name),
                    // Tools call a channel by its bare name.
                    None => SmolStr::from(format!("#{name}")),
                };
                if !self.conversations.contains(looking.frame, &name) {
                    return Ok(Value::Null);
                }
                Ok(self.show_messages(&name, &self.numbers(&name, looking.frame), desk, looking.frame))
            }
            _ => Err(unknown_question("chat", verb, QUESTIONS)),
        }
    }

    /// Returns the messages `numbers` of `conversation` for people, and notes that they were read.
    pub(super) fn show_messages(&self, conversation: &SmolStr, numbers: &[u32], desk: &Desk, frame: &Frame) -> Value {
        let show = |number: &u32| {
            let message = self.message(conversation, *number, frame)?;
            Some(map! {
                "number" => *number,
                "from" => message.from.clone(),
                "time" => desk.show(message.time),
                "text" => message.text.clone(),
            })
        };
        numbers.iter().filter_map(show).collect()
    }

    pub(super) fn total(&self) -> StateDigest {
        let mut total = self.digest;
        total += self.conversations.digest();
        total
    }

    pub(super) fn compare(&self, other: &Self, into: &mut Vec<Difference>) {
        let show = |conversation: Option<&Conversation>| conversation.map(Conversation::show);
        let differences = self.conversations.differences(&other.conversations).into_iter();
        into.extend(differences.map(|(key, left, right)| Difference { key, left: show(left), right: show(right) }));
        let show = |message: Option<&Message>| message.map(Message::show);
        for difference in self.messages.diff(&other.messages) {
            let (name, here, there) = match difference {
                DiffItem::Add(name, there) => (name, None, Some(there)),
                DiffItem::Remove(name, here) => (name, Some(here), None),
                DiffItem::Update { old: (name, here), new: (_, there) } => (name, Some(here), Some(there)),
            };
            let none = Messages::new(name);
            let differences = here.unwrap_or(&none).0.differences(&there.unwrap_or(&none).0);
            into.extend(differences.into_iter().map(|(key, left, right)| Difference {
                key,
                left: show(left),
                right: show(right),
            }));
        }
    }

    pub(super) fn show(&self) -> Value {
        let conversations = self.conversations.peek_all().map(|(name, conversation)| {
            let messages = self.messages.get(name).into_iter().flat_map(|messages| messages.0.peek_all());
            let messages: Value = messages.map(|(_, message)| message.show()).collect();
            (name.clone(), map! { "members" => conversation.members.clone(), "messages" => messages })
        });
        Value::Map(conversations.collect())
    }
}

impl Default for ChatState {
    fn default() -> Self {
        Self::new()
    }
}

impl Conversation {
    fn show(&self) -> Value {
        map! { "members" => self.members.clone() }
    }
}

impl Graded for Conversation {
    fn canonical(&self, into: &mut Canonical) {
        self.members.iter().for_each(|member| into.text(member));
    }
}

impl Message {
    fn show(&self) -> Value {
        map! { "from" => self.from.clone(), "text" => self.text.clone() }
    }
}

impl PartialEq for Message {
    fn eq(&self, other: &Self) -> bool {
        self.from == other.from && self.text == other.text
    }
}

impl Graded for Message {
    fn canonical(&self, into: &mut Canonical) {
        into.text(&self.from);
        into.text(&self.text);
    }
}

/// The messages of one conversation, numbered from 1.
#[derive(Clone, Debug)]
struct Messages(Arc<Collection<u32, Message>>);

impl Messages {
    fn new(conversation: &SmolStr) -> Self {
        Self(Arc::new(Collection::new(format!("chat:{conversation}/"))))
    }
}

/// Conversations that are shared are the same without a look inside.
impl PartialEq for Messages {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.digest() == other.0.digest()
    }
}

/// The number of the last message that somebody has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark(u32);

impl Graded for Mark {
    fn canonical(&self, into: &mut Canonical) {
        into.int(i64::from(self.0));
    }
}

fn mark_name(conversation: &SmolStr, reader: &SmolStr) -> SmolStr {
    SmolStr::from(format!("{conversation}/{reader}"))
}
