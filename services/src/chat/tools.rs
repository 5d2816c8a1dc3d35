//! The tools of chat and how their calls become commands.

use dayshift_engine::{Audience, Effect, Kind, Parameter, Rejection, SimTime, SmolStr, ToolCall, ToolSpec};

use super::{CHANNEL_MEMBERS_MAX, CHAT_NAME_BYTES_MAX, CHAT_TEXT_BYTES_MAX, HISTORY_MESSAGES_MAX};
use crate::service::Desk;

/// What somebody asked of chat.
#[derive(Debug)]
pub(super) enum Command<'a> {
    Conversations,
    History { place: Place, limit: usize, before: Option<u32> },
    Post { place: Place, from: SmolStr, text: &'a str, time: Option<SimTime> },
    OpenChannel { channel: SmolStr, members: Vec<SmolStr> },
}

/// A conversation that a call names.
#[derive(Debug)]
pub(super) enum Place {
    /// The conversation of two people.
    Direct { conversation: SmolStr, members: [SmolStr; 2] },
    /// A channel.
    Channel(SmolStr),
}

const WITH: Parameter = Parameter::optional("with", Kind::Text, "The name of the other person, for a direct message.");
const CHANNEL: Parameter = Parameter::optional("channel", Kind::Text, "The name of the channel.");
const TEXT: Parameter = Parameter::required("text", Kind::Text, "The message.");

pub(super) const TOOLS: &[ToolSpec] = &[
    ToolSpec {
        name: "chat.conversations",
        summary: "Lists your conversations: who takes part, how many messages they hold and how many you have not read.",
        parameters: &[],
        effect: Effect::Reads,
        audience: Audience::Everybody,
        cost_seconds: 5,
    },
    ToolSpec {
        name: "chat.history",
        summary: "Reads the latest messages of a conversation, oldest first. Give either with or channel.",
        parameters: &[
            WITH,
            CHANNEL,
            Parameter::optional("limit", Kind::Int, "How many messages to return at most."),
            Parameter::optional("before", Kind::Int, "Only messages with a smaller number, to go further back."),
        ],
        effect: Effect::Reads,
        audience: Audience::Everybody,
        cost_seconds: 5,
    },
    ToolSpec {
        name: "chat.open_channel",
        summary: "Opens a channel, or changes who takes part in it.",
        parameters: &[
            Parameter::required("channel", Kind::Text, "The name of the channel."),
            Parameter::required("members", Kind::List(&Kind::Text), "Who takes part."),
        ],
        effect: Effect::Writes,
        audience: Audience::Backstage,
        cost_seconds: 0,
    },
    ToolSpec {
        name: "chat.post",
        summary: "Posts a message in somebody's name.",
        parameters: &[
            Parameter::required("from", Kind::Text, "Who says it."),
            TEXT,
            WITH,
            CHANNEL,
            Parameter::optional("time", Kind::Time, "When it was said; now if left out."),
        ],
        effect: Effect::Writes,
        audience: Audience::Backstage,
        cost_seconds: 0,
    },
    ToolSpec {
        name: "chat.send",
        summary: "Sends a message to one person or to a channel. Give either with or channel.",
        parameters: &[TEXT, WITH, CHANNEL],
        effect: Effect::Writes,
        audience: Audience::Everybody,
        cost_seconds: 15,
    },
];

impl<'a> Command<'a> {
    /// Returns the command that `call` asks for in the name of whoever sits at `desk`.
    pub(super) fn parse(call: &'a ToolCall, desk: &Desk) -> Result<Self, Rejection> {
        Ok(match call.tool.as_str() {
            "chat.conversations" => Self::Conversations,
            "chat.history" => Self::History {
                place: Place::parse(call, &desk.name)?,
                limit: positive(call, "limit")?
                    .map_or(HISTORY_MESSAGES_MAX, |limit| (limit as usize).min(HISTORY_MESSAGES_MAX)),
                before: positive(call, "before")?,
            },
            "chat.send" => Self::Post {
                place: Place::parse(call, &desk.name)?,
                from: desk.name.clone(),
                text: message_text(call)?,
                time: None,
            },
            "chat.post" => {
                let from = name(call.text("from"))?;
                Self::Post {
                    place: Place::parse(call, &from)?,
                    from,
                    text: message_text(call)?,
                    time: call.time("time"),
                }
            }
            "chat.open_channel" => {
                let mut members = call.texts("members").map(name).collect::<Result<Vec<_>, _>>()?;
                members.sort_unstable();
                members.dedup();
                if members.is_empty() || members.len() > CHANNEL_MEMBERS_MAX {
                    return Err(Rejection::new(
                        "chat/bad-members",
                        format!("a channel has 1 to {CHANNEL_MEMBERS_MAX} members; change the list"),
                    ));
                }
                Self::OpenChannel { channel: channel(call.text("channel"))?, members }
            }
            other => {
                return Err(Rejection::new(
                    "chat/unknown-tool",
                    format!("chat has no tool '{other}'; use a listed one"),
                ));
            }
        })
    }
}

impl Place {
    /// Returns the conversation that `call` of `from` names.
    fn parse(call: &ToolCall, from: &SmolStr) -> Result<Self, Rejection> {
        match (call.optional_text("with"), call.optional_text("channel")) {
            (Some(with), None) => {
                let with = name(with)?;
                if with == *from {
                    return Err(Rejection::new(
                        "chat/to-yourself",
                        format!("{from} cannot chat with themselves; name another person"),
                    ));
                }
                let conversation = conversation_name(from, &with);
                let members = if *from < with { [from.clone(), with] } else { [with, from.clone()] };
                Ok(Self::Direct { conversation, members })
            }
            (None, Some(text)) => channel(text).map(Self::Channel),
            (Some(_), Some(_)) | (None, None) => Err(Rejection::new(
                "chat/bad-place",
                format!("{} needs either 'with' or 'channel'; give exactly one of them", call.tool),
            )),
        }
    }

    /// Returns what the conversation is called.
    pub(super) fn name(&self) -> &SmolStr {
        match self {
            Self::Direct { conversation, .. } | Self::Channel(conversation) => conversation,
        }
    }
}

/// Returns what the direct conversation of two people is called, whoever is named first.
pub(super) fn conversation_name(one: &str, two: &str) -> SmolStr {
    let (first, second) = if one < two { (one, two) } else { (two, one) };
    SmolStr::from(format!("{first}+{second}"))
}

/// Returns what the channel `text`, with or without `#`, is called.
fn channel(text: &str) -> Result<SmolStr, Rejection> {
    name(text.strip_prefix('#').unwrap_or(text)).map(|name| SmolStr::from(format!("#{name}")))
}

fn name(text: &str) -> Result<SmolStr, Rejection> {
    let is_bad = |character: char| character.is_control() || matches!(character, '/' | '+' | '#' | '*' | ':');
    if text.is_empty() || text.len() > CHAT_NAME_BYTES_MAX || text.trim() != text || text.contains(is_bad) {
        return Err(Rejection::new(
            "chat/bad-name",
            format!(
                "{text:?} is no name: it holds 1 to {CHAT_NAME_BYTES_MAX} bytes without / + # * : and spaces at its ends; correct it"
            ),
        ));
    }
    Ok(SmolStr::from(text))
}

fn message_text(call: &ToolCall) -> Result<&str, Rejection> {
    let text = call.text("text");
    if text.trim().is_empty() || text.len() > CHAT_TEXT_BYTES_MAX {
        return Err(Rejection::new(
            "chat/bad-text",
            format!(
                "a message holds 1 to {CHAT_TEXT_BYTES_MAX} bytes and is not blank; change it, or send it in parts"
            ),
        ));
    }
    Ok(text)
}

fn positive(call: &ToolCall, name: &str) -> Result<Option<u32>, Rejection> {
    let Some(number) = call.int(name) else { return Ok(None) };
    if number < 1 {
        return Err(Rejection::new("chat/bad-range", format!("'{name}' is {number}; it must be at least 1")));
    }
    Ok(Some(u32::try_from(number).unwrap_or(u32::MAX)))
}
