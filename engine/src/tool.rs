//! What can be asked of a world: tools with typed parameters, calls, and refusals. A call is held against its tool's parameters once, here,
//! so that every tool of every service refuses malformed arguments with the same codes and sentences.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::time::{SimDuration, SimTime};
use crate::value::{VALUE_DEPTH_MAX, Value};

/// The longest text that one argument may hold, in bytes (8 MiB).
pub const ARGUMENT_BYTES_MAX: usize = 8 << 20;

/// The longest that all arguments of one call may be together, in bytes (32 MiB). Longer ones are not recorded.
pub const ARGUMENTS_BYTES_MAX: usize = 32 << 20;

/// The longest name of a tool that is recorded, in bytes.
const TOOL_NAME_BYTES_MAX: usize = 256;

/// The argument that stands for arguments which could not be taken in. Its value is the sentence that the caller gets.
const UNREADABLE: &str = "$unreadable";

/// One request in an agent's, a persona's or the world's name: a tool and its named arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The tool's name, `service.verb`.
    pub tool: SmolStr,
    /// The arguments: a [`Value::Map`].
    pub arguments: Value,
}

impl ToolCall {
    /// Returns a call of `tool` with `arguments`.
    #[must_use]
    pub fn new(tool: impl Into<SmolStr>, arguments: Value) -> Self {
        Self { tool: tool.into(), arguments }
    }

    /// Returns a call whose arguments could not be taken in, because of `reason`: it will be refused on record.
    #[must_use]
    pub fn unreadable(tool: impl Into<SmolStr>, reason: impl Into<String>) -> Self {
        let reason: String = reason.into();
        Self::new(tool, crate::map! { UNREADABLE => reason })
    }

    /// Returns the call as it is recorded: arguments beyond what a record may hold give way to the reason why they are not there.
    #[must_use]
    pub fn bounded(self) -> Self {
        if self.arguments.is_deeper_than(VALUE_DEPTH_MAX) {
            let reason = format!("the arguments nest deeper than {VALUE_DEPTH_MAX} levels; send flatter ones");
            return Self::unreadable(self.tool, reason);
        }
        let bytes = self.arguments.weight();
        if bytes > ARGUMENTS_BYTES_MAX {
            let reason = format!(
                "the arguments have {bytes} bytes, and at most {ARGUMENTS_BYTES_MAX} are taken in; send less at once"
            );
            return Self::unreadable(self.tool, reason);
        }
        if self.tool.len() > TOOL_NAME_BYTES_MAX {
            let shown: SmolStr = self.tool.chars().take(TOOL_NAME_BYTES_MAX / 4).collect();
            return Self::unreadable(
                shown,
                format!("the name of the tool is longer than {TOOL_NAME_BYTES_MAX} bytes; use a listed one"),
            );
        }
        self
    }

    /// Refuses a call whose arguments could not be taken in.
    pub(crate) fn admit_readable(&self) -> Result<(), Rejection> {
        match self.arguments.get(UNREADABLE).and_then(Value::as_text) {
            Some(reason) => Err(Rejection::new("call/unreadable-arguments", reason)),
            None => Ok(()),
        }
    }

    /// Returns the argument `name`; [`Value::Null`] counts as absent.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.arguments.get(name).filter(|value| **value != Value::Null)
    }

    /// Returns the text argument `name`, empty if it is absent. [`ToolSpec::admit`] has made sure that a required one is there.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        self.get(name).and_then(Value::as_text).unwrap_or_default()
    }

    /// Returns the text argument `name`, if it is there.
    #[must_use]
    pub fn optional_text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Value::as_text)
    }

    /// Returns the whole-number argument `name`, if it is there.
    #[must_use]
    pub fn int(&self, name: &str) -> Option<i64> {
        self.get(name).and_then(Value::as_int)
    }

    /// Returns the boolean argument `name`; absent is false.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        self.get(name).and_then(Value::as_bool).unwrap_or_default()
    }

    /// Returns the list argument `name`; absent is empty.
    #[must_use]
    pub fn list(&self, name: &str) -> &[Value] {
        self.get(name).and_then(Value::as_list).unwrap_or_default()
    }

    /// Returns the texts of the list argument `name`; absent is empty.
    pub fn texts(&self, name: &str) -> impl Iterator<Item = &str> {
        self.list(name).iter().filter_map(Value::as_text)
    }

    /// Returns the time argument `name`, if it is there.
    #[must_use]
    pub fn time(&self, name: &str) -> Option<SimTime> {
        self.get(name).and_then(Value::as_text).and_then(|text| text.parse().ok())
    }
}

/// An agent's mistake, as data: logged, answered, and never a panic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message} [{code}]")]
pub struct Rejection {
    /// The stable code, `service/what`. Codes are for ever.
    pub code: Cow<'static, str>,
    /// One sentence: what is wrong and what to do instead.
    pub message: String,
}

impl Rejection {
    /// Returns a refusal with the stable `code` and a sentence.
    #[must_use]
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code: Cow::Borrowed(code), message: message.into() }
    }
}

/// Whether a tool can change the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It only looks; graded state stays as it is.
    Reads,
    /// It may change graded state.
    Writes,
}

/// Who may call a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Everybody, the agent included.
    Everybody,
    /// The scenario, the world and personas: imports of real files, deliveries from outside. An agent never hears of it.
    Backstage,
}

/// What a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// A whole number.
    Int,
    /// Any number.
    Number,
    /// A truth value.
    Bool,
    /// RFC 3339 text with an offset.
    Time,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A list of such.
    List(&'static Kind),
    /// An object with named values.
    Object,
    /// Any value.
    Any,
}

impl Kind {
    /// Returns what this kind is called in a sentence.
    fn name(self) -> Cow<'static, str> {
        match self {
            Self::Text => "text".into(),
            Self::Int => "a whole number".into(),
            Self::Number => "a number".into(),
            Self::Bool => "true or false".into(),
            Self::Time => "an RFC 3339 time with an offset, such as 2026-03-16T09:00:00+01:00".into(),
            Self::Choice(words) => format!("one of {}", words.join(", ")).into(),
            Self::List(item) => format!("a list, each item {}", item.name()).into(),
            Self::Object => "an object".into(),
            Self::Any => "any value".into(),
        }
    }

    fn admits(self, value: &Value) -> bool {
        match self {
            Self::Text => value.as_text().is_some(),
            Self::Int => value.as_int().is_some(),
            Self::Number => value.as_float().is_some_and(f64::is_finite),
            Self::Bool => value.as_bool().is_some(),
            Self::Time => value.as_text().is_some_and(|text| text.parse::<SimTime>().is_ok()),
            Self::Choice(words) => value.as_text().is_some_and(|text| words.contains(&text)),
            Self::List(item) => value.as_list().is_some_and(|items| items.iter().all(|value| item.admits(value))),
            Self::Object => value.as_map().is_some(),
            Self::Any => true,
        }
    }

    /// Returns the JSON schema of this kind.
    fn schema(self) -> Value {
        match self {
            Self::Text => crate::map! { "type" => "string" },
            Self::Int => crate::map! { "type" => "integer" },
            Self::Number => crate::map! { "type" => "number" },
            Self::Bool => crate::map! { "type" => "boolean" },
            Self::Time => crate::map! { "type" => "string", "format" => "date-time" },
            Self::Choice(words) => crate::map! { "type" => "string", "enum" => words.to_vec() },
            Self::List(item) => crate::map! { "type" => "array", "items" => item.schema() },
            Self::Object => crate::map! { "type" => "object" },
            Self::Any => crate::map! {},
        }
    }
}

/// One named parameter of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The argument's name.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// Whether a call without it is refused.
    pub required: bool,
    /// One sentence for the agent.
    pub summary: &'static str,
}

impl Parameter {
    /// Returns a parameter that every call must give.
    #[must_use]
    pub const fn required(name: &'static str, kind: Kind, summary: &'static str) -> Self {
        Self { name, kind, required: true, summary }
    }

    /// Returns a parameter that a call may leave out.
    #[must_use]
    pub const fn optional(name: &'static str, kind: Kind, summary: &'static str) -> Self {
        Self { name, kind, required: false, summary }
    }
}

/// One tool: what an agent is told of it, and what a call of it must look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolSpec {
    /// The name, `service.verb`.
    pub name: &'static str,
    /// What it does, for the agent, in one or two sentences.
    pub summary: &'static str,
    /// The parameters, required ones first.
    pub parameters: &'static [Parameter],
    /// Whether it can change graded state.
    pub effect: Effect,
    /// Who may call it.
    pub audience: Audience,
    /// The simulated seconds that a call takes on a flowing clock.
    pub cost_seconds: u32,
}

impl ToolSpec {
    /// Returns the simulated time that a call takes on a flowing clock.
    #[must_use]
    pub const fn cost(&self) -> SimDuration {
        SimDuration::from_seconds(self.cost_seconds as u64)
    }

    /// Holds `call` against the parameters.
    ///
    /// # Errors
    ///
    /// `call/bad-arguments`, `call/unknown-argument`, `call/missing-argument`, `call/wrong-type` or `call/too-large`, with a sentence
    /// that names the argument and what it takes.
    pub fn admit(&self, call: &ToolCall) -> Result<(), Rejection> {
        let Value::Map(arguments) = &call.arguments else {
            let kind = call.arguments.kind();
            return Err(Rejection::new(
                "call/bad-arguments",
                format!("the arguments of {} must be an object, not {kind}", self.name),
            ));
        };
        for (name, value) in arguments {
            let Some(parameter) = self.parameters.iter().find(|parameter| parameter.name == name.as_str()) else {
                return Err(Rejection::new(
                    "call/unknown-argument",
                    format!("{} has no argument '{name}'; it takes: {}", self.name, self.names()),
                ));
            };
            if *value == Value::Null && !parameter.required {
                continue;
            }
            if value.weight() > ARGUMENT_BYTES_MAX || value.is_deeper_than(VALUE_DEPTH_MAX) {
                return Err(Rejection::new(
                    "call/too-large",
                    format!(
                        "the argument '{name}' of {} is over {ARGUMENT_BYTES_MAX} bytes or nests deeper than {VALUE_DEPTH_MAX}; send less at once",
                        self.name
                    ),
                ));
            }
            if !parameter.kind.admits(value) {
                return Err(Rejection::new(
                    "call/wrong-type",
                    format!("the argument '{name}' of {} must be {}", self.name, parameter.kind.name()),
                ));
            }
        }
        let absent = |parameter: &&Parameter| parameter.required && !arguments.contains_key(parameter.name);
        match self.parameters.iter().find(absent) {
            Some(missing) => Err(Rejection::new(
                "call/missing-argument",
                format!("{} needs the argument '{}' ({})", self.name, missing.name, missing.kind.name()),
            )),
            None => Ok(()),
        }
    }

    /// Returns the JSON schema of the arguments.
    #[must_use]
    pub fn schema(&self) -> Value {
        let properties = self.parameters.iter().map(|parameter| {
            let mut schema = parameter.kind.schema();
            if let Value::Map(map) = &mut schema {
                map.insert("description".into(), parameter.summary.into());
            }
            (SmolStr::from(parameter.name), schema)
        });
        let required: Vec<&str> = self.parameters.iter().filter(|each| each.required).map(|each| each.name).collect();
        crate::map! {
            "type" => "object",
            "properties" => Value::Map(properties.collect()),
            "required" => required,
            "additionalProperties" => false,
        }
    }

    fn names(&self) -> String {
        if self.parameters.is_empty() {
            return "none".to_owned();
        }
        self.parameters.iter().map(|parameter| parameter.name).collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for ToolSpec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map;

    const SEND: ToolSpec = ToolSpec {
        name: "mail.send",
        summary: "Sends a message.",
        parameters: &[
            Parameter::required("to", Kind::List(&Kind::Text), "who gets it"),
            Parameter::optional("when", Kind::Time, "when it goes out"),
        ],
        effect: Effect::Writes,
        audience: Audience::Everybody,
        cost_seconds: 60,
    };

    fn code(arguments: Value) -> Option<String> {
        SEND.admit(&ToolCall::new("mail.send", arguments)).err().map(|rejection| rejection.code.into_owned())
    }

    #[test]
    fn a_call_that_fits_is_admitted() {
        assert_eq!(code(map! { "to" => vec!["a@b.example"], "when" => "2026-03-16T09:00:00Z" }), None);
        assert_eq!(code(map! { "to" => vec!["a@b.example"], "when" => Value::Null }), None);
    }

    #[test]
    fn a_call_that_does_not_fit_is_refused_with_the_code_of_its_fault() {
        assert_eq!(code(Value::Null).as_deref(), Some("call/bad-arguments"));
        assert_eq!(code(map! {}).as_deref(), Some("call/missing-argument"));
        assert_eq!(code(map! { "to" => "a@b.example" }).as_deref(), Some("call/wrong-type"));
        assert_eq!(code(map! { "to" => vec!["a"], "cc" => 1_i64 }).as_deref(), Some("call/unknown-argument"));
        assert_eq!(code(map! { "to" => vec!["a"], "when" => "tomorrow" }).as_deref(), Some("call/wrong-type"));
        let huge = "x".repeat(ARGUMENT_BYTES_MAX + 1);
        assert_eq!(code(map! { "to" => vec![huge] }).as_deref(), Some("call/too-large"));
    }
}
