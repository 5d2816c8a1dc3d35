//! The tools of the directory and how their calls become commands.

use chrono_tz::Tz;
use dayshift_engine::{Audience, Effect, Kind, Parameter, Rejection, SmolStr, ToolCall, ToolSpec, Value};

use super::event::Workday;
use super::{MEMORY_BYTES_MAX, PEOPLE_SHOWN_MAX, PERSON_NAME_BYTES_MAX, PERSON_TEXT_BYTES_MAX};

/// What somebody asked of the directory.
#[derive(Debug)]
pub(super) enum Command<'a> {
    Introduce { name: SmolStr, display: SmolStr, address: SmolStr, role: Option<SmolStr>, agent: bool },
    Settle { zone: Tz, workday: Option<Workday>, without: Vec<SmolStr> },
    Remember { persona: SmolStr, memory: &'a Value },
    List { query: Option<String>, limit: usize },
    Read { name: &'a str },
}

const NAME: Parameter = Parameter::required("name", Kind::Text, "The name by which calls and chat know the person.");

const fn backstage(name: &'static str, summary: &'static str, parameters: &'static [Parameter]) -> ToolSpec {
    ToolSpec { name, summary, parameters, effect: Effect::Writes, audience: Audience::Backstage, cost_seconds: 0 }
}

const fn reading(name: &'static str, summary: &'static str, parameters: &'static [Parameter]) -> ToolSpec {
    ToolSpec { name, summary, parameters, effect: Effect::Reads, audience: Audience::Everybody, cost_seconds: 5 }
}

pub(super) const TOOLS: &[ToolSpec] = &[
    backstage(
        "people.introduce",
        "Puts a person into the directory, or replaces the entry that is there.",
        &[
            NAME,
            Parameter::required("display", Kind::Text, "The name as it is written in a letter."),
            Parameter::required("address", Kind::Text, "The mail address."),
            Parameter::optional("role", Kind::Text, "What the person does."),
            Parameter::optional("agent", Kind::Bool, "Whether this is the agent."),
        ],
    ),
    reading(
        "people.list",
        "Lists the office's directory: names, addresses and roles, by name.",
        &[
            Parameter::optional("query", Kind::Text, "Only people whose name, address or role holds this text."),
            Parameter::optional("limit", Kind::Int, "How many to return at most."),
        ],
    ),
    reading("people.read", "Reads one person's entry in the directory.", &[NAME]),
    backstage(
        "people.remember",
        "Keeps what a persona remembers, instead of what it remembered before.",
        &[
            Parameter::required("persona", Kind::Text, "The persona's name."),
            Parameter::required("memory", Kind::Any, "What it remembers."),
        ],
    ),
    backstage(
        "people.settle",
        "Settles the office's time zone and working hours.",
        &[
            Parameter::required("zone", Kind::Text, "The IANA time zone, such as Europe/Berlin."),
            Parameter::optional("workday_start", Kind::Text, "When work starts, as HH:MM."),
            Parameter::optional("workday_end", Kind::Text, "When work ends, as HH:MM."),
            Parameter::optional("without", Kind::List(&Kind::Text), "The services whose tools are not offered."),
        ],
    ),
];

impl<'a> Command<'a> {
    /// Returns the command that `call` asks for.
    pub(super) fn parse(call: &'a ToolCall) -> Result<Self, Rejection> {
        Ok(match call.tool.as_str() {
            "people.introduce" => Self::Introduce {
                name: person_name(call.text("name"))?,
                display: short_text(call.text("display"), "display")?,
                address: address(call.text("address"))?,
                role: call.optional_text("role").map(|role| short_text(role, "role")).transpose()?,
                agent: call.flag("agent"),
            },
            "people.settle" => {
                let mut without: Vec<SmolStr> = call.texts("without").map(SmolStr::from).collect();
                without.sort_unstable();
                without.dedup();
                Self::Settle { zone: zone(call.text("zone"))?, workday: workday(call)?, without }
            }
            "people.remember" => {
                let memory = call.arguments.get("memory").unwrap_or(&Value::Null);
                let bytes = memory.to_string().len();
                if bytes > MEMORY_BYTES_MAX {
                    return Err(Rejection::new(
                        "people/memory-too-large",
                        format!("a memory of {bytes} bytes is over {MEMORY_BYTES_MAX}; remember less"),
                    ));
                }
                Self::Remember { persona: person_name(call.text("persona"))?, memory }
            }
            "people.list" => Self::List {
                query: call.optional_text("query").map(str::to_lowercase),
                limit: match call.int("limit") {
                    None => PEOPLE_SHOWN_MAX,
                    Some(limit) => usize::try_from(limit).ok().filter(|limit| *limit > 0).map_or_else(
                        || Err(Rejection::new("people/bad-limit", "'limit' must be at least 1")),
                        |limit| Ok(limit.min(PEOPLE_SHOWN_MAX)),
                    )?,
                },
            },
            "people.read" => Self::Read { name: call.text("name") },
            other => {
                return Err(Rejection::new(
                    "people/unknown-tool",
                    format!("people has no tool '{other}'; use a listed one"),
                ));
            }
        })
    }
}

/// Returns `text` as a person's name. The characters that keys and conversations are built with cannot be in it.
fn person_name(text: &str) -> Result<SmolStr, Rejection> {
    let is_bad = |character: char| character.is_control() || matches!(character, '/' | '+' | '#' | '*' | ':');
    if text.is_empty() || text.len() > PERSON_NAME_BYTES_MAX || text.trim() != text || text.contains(is_bad) {
        return Err(Rejection::new(
            "people/bad-name",
            format!(
                "a name holds 1 to {PERSON_NAME_BYTES_MAX} bytes without / + # * : and spaces at its ends; shorten or change it"
            ),
        ));
    }
    if text == "world" {
        return Err(Rejection::new("people/bad-name", "'world' speaks for nobody; choose another name"));
    }
    Ok(SmolStr::from(text))
}

fn short_text(text: &str, what: &str) -> Result<SmolStr, Rejection> {
    if text.is_empty() || text.len() > PERSON_TEXT_BYTES_MAX || text.contains(char::is_control) {
        return Err(Rejection::new(
            "people/bad-text",
            format!("'{what}' holds 1 to {PERSON_TEXT_BYTES_MAX} bytes in one line; shorten or change it"),
        ));
    }
    Ok(SmolStr::from(text))
}

fn address(text: &str) -> Result<SmolStr, Rejection> {
    let is_bad = |character: char| character.is_whitespace() || character.is_control() || "<>,;\"".contains(character);
    match text.split_once('@') {
        Some((local, domain))
            if !local.is_empty()
                && !domain.is_empty()
                && !domain.contains('@')
                && text.len() <= PERSON_TEXT_BYTES_MAX
                && !text.contains(is_bad) =>
        {
            Ok(SmolStr::from(text.to_lowercase()))
        }
        Some(_) | None => Err(Rejection::new(
            "people/bad-address",
            format!("{text:?} is no mail address; give it as name@domain alone, such as ann@acme.example"),
        )),
    }
}

fn zone(text: &str) -> Result<Tz, Rejection> {
    text.parse().map_err(|_| {
        Rejection::new(
            "people/unknown-zone",
            format!("there is no time zone {text:?}; use an IANA name such as Europe/Berlin"),
        )
    })
}

fn workday(call: &ToolCall) -> Result<Option<Workday>, Rejection> {
    let minutes = |text: &str| -> Option<u16> {
        let (hours, minutes) = text.split_once(':')?;
        let two_digits = |part: &str| {
            let is_right = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
            part.parse::<u16>().ok().filter(|_| is_right)
        };
        let (hours, minutes) = (two_digits(hours)?, two_digits(minutes)?);
        (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)
    };
    let (start, end) = match (call.optional_text("workday_start"), call.optional_text("workday_end")) {
        (None, None) => return Ok(None),
        (start, end) => (start.and_then(minutes), end.and_then(minutes)),
    };
    match (start, end) {
        (Some(start_minutes), Some(end_minutes)) if start_minutes < end_minutes => {
            Ok(Some(Workday { start_minutes, end_minutes }))
        }
        _ => Err(Rejection::new(
            "people/bad-workday",
            "a workday needs workday_start and a later workday_end, both as HH:MM; correct them",
        )),
    }
}
