//! What follows from a command on chat: events and an answer, or a refusal.

use dayshift_engine::{Context, Decision, Frame, Rejection, SimTime, SmolStr, Value, map};

use super::event::ChatEvent;
use super::state::{ChatState, Conversation};
use super::tools::{Command, Place};
use super::{CONVERSATION_MESSAGES_MAX, CONVERSATIONS_MAX};
use crate::service::Desk;

type Decided = Result<Decision<ChatEvent>, Rejection>;

impl ChatState {
    pub(super) fn decide_command(&self, command: Command<'_>, desk: &Desk, context: &Context<'_>) -> Decided {
        match command {
            Command::Conversations => Ok(Decision::answer(self.list(desk, context.frame))),
            Command::History { place, limit, before } => {
                self.decide_history(&place, limit, before, desk, context.frame)
            }
            Command::Post { place, from, text, time } => self.decide_post(place, from, text, time, desk, context),
            Command::OpenChannel { channel, members } => {
                self.check_room(&channel, context.frame)?;
                let answer = map! { "conversation" => channel.clone(), "members" => members.clone() };
                Ok(Decision::change(vec![ChatEvent::ConversationOpened { conversation: channel, members }], answer))
            }
        }
    }

    fn list(&self, desk: &Desk, frame: &Frame) -> Value {
        let takes_part = |(_, conversation): &(&SmolStr, &Conversation)| conversation.members.contains(&desk.name);
        let mine = self.conversations.scan(frame).filter(takes_part);
        let shown: Value = mine
            .map(|(name, conversation)| {
                self.conversations.get(frame, name);
                let numbers = self.numbers(name, frame);
                let seen = self.mark(name, &desk.name, frame);
                let others = conversation.members.iter().filter(|member| **member != desk.name).cloned();
                let is_channel = name.starts_with('#');
                map! {
                    "conversation" => name.clone(),
                    "kind" => if is_channel { "channel" } else { "direct" },
                    "others" => others.collect::<Vec<_>>(),
                    "messages" => numbers.len(),
                    "unread" => numbers.iter().filter(|number| **number > seen && !self.is_from(name, **number, &desk.name)).count(),
                }
            })
            .collect();
        map! { "conversations" => shown }
    }

    fn decide_history(&self, place: &Place, limit: usize, before: Option<u32>, desk: &Desk, frame: &Frame) -> Decided {
        let name = place.name();
        self.members(place, &desk.name, frame)?;
        let mut numbers = self.numbers(name, frame);
        if let Some(before) = before {
            numbers.retain(|number| *number < before);
        }
        let older = numbers.len().saturating_sub(limit);
        let shown = &numbers[older..];
        let answer = map! {
            "conversation" => name.clone(),
            "messages" => self.show_messages(name, shown, desk, frame),
            "older" => older,
        };
        let last = shown.last().copied().unwrap_or_default();
        if last <= self.mark(name, &desk.name, frame) {
            return Ok(Decision::answer(answer));
        }
        let event = ChatEvent::ConversationRead { conversation: name.clone(), reader: desk.name.clone(), number: last };
        Ok(Decision::change(vec![event], answer))
    }

    fn decide_post(
        &self,
        place: Place,
        from: SmolStr,
        text: &str,
        time: Option<SimTime>,
        desk: &Desk,
        context: &Context<'_>,
    ) -> Decided {
        if time.is_some_and(|time| time > context.time) {
            return Err(Rejection::new(
                "chat/bad-time",
                "a message cannot be from the future; give a past time or none",
            ));
        }
        let mut events = Vec::with_capacity(2);
        if self.members(&place, &from, context.frame)?.is_none() {
            self.check_room(place.name(), context.frame)?;
            if let Place::Direct { conversation, members } = &place {
                let (conversation, members) = (conversation.clone(), members.to_vec());
                events.push(ChatEvent::ConversationOpened { conversation, members });
            }
        }
        let conversation = place.name().clone();
        // How many messages there are is read only when there are too many: otherwise each would depend on all before it.
        if self.peek_len(&conversation) >= CONVERSATION_MESSAGES_MAX {
            let count = self.numbers(&conversation, context.frame).len();
            return Err(Rejection::new(
                "chat/conversation-full",
                format!("{conversation} holds {count} messages and no more fit in; use another conversation"),
            ));
        }
        let answer = map! { "conversation" => conversation.clone(), "time" => desk.show(time.unwrap_or(context.time)) };
        events.push(ChatEvent::MessagePosted { conversation, from, text: SmolStr::from(text), time });
        Ok(Decision::change(events, answer))
    }

    /// Returns who takes part in `place`, nobody yet if it is direct and new. `name` must be one of them.
    fn members(&self, place: &Place, name: &SmolStr, frame: &Frame) -> Result<Option<&[SmolStr]>, Rejection> {
        let members = self.conversations.get(frame, place.name()).map(|conversation| conversation.members.as_slice());
        match (place, members) {
            (Place::Direct { .. }, members) => Ok(members),
            (Place::Channel(_), Some(members)) if members.contains(name) => Ok(Some(members)),
            (Place::Channel(channel), Some(_)) => Err(Rejection::new(
                "chat/not-a-member",
                format!(
                    "{name} takes no part in {channel}; use one of the conversations that chat.conversations lists"
                ),
            )),
            (Place::Channel(channel), None) => Err(Rejection::new(
                "chat/unknown-channel",
                format!("there is no channel {channel}; use one of those that chat.conversations lists"),
            )),
        }
    }

    fn check_room(&self, conversation: &SmolStr, frame: &Frame) -> Result<(), Rejection> {
        if self.conversations.len() >= CONVERSATIONS_MAX && !self.conversations.contains(frame, conversation) {
            let count = self.conversations.list(frame).count();
            return Err(Rejection::new(
                "chat/too-many-conversations",
                format!("there are {count} conversations and no more can be opened; use one of them"),
            ));
        }
        Ok(())
    }
}
