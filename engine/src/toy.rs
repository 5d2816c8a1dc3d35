//! A world of ten lines that knows no office: named values that can be read, written, deleted, copied and joined. It proves that the kernel
//! needs nothing else, and it speaks the operations of the credit vectors. Test code only.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::access::{Frame, Key, Read, ReadKind};
use crate::collection::{Applying, Collection};
use crate::digest::StateDigest;
use crate::errand::Errand;
use crate::id::Seq;
use crate::plan::Plan;
use crate::script::{Reaction, Scene, Script, ScriptError};
use crate::tool::{Audience, Effect, Kind, Parameter, Rejection, ToolCall, ToolSpec};
use crate::value::Value;
use crate::world::{Context, Decision, Difference, Looking, Wait, World};

/// The world: values by name.
#[derive(Clone, Debug)]
pub struct Toy {
    values: Collection<SmolStr, Value>,
}

/// The facts of the toy world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToyEvent {
    /// A value was written.
    Written {
        /// Its name.
        k: SmolStr,
        /// The value.
        v: Value,
    },
}

const NAME: Parameter = Parameter::required("k", Kind::Text, "the value's name");

const fn tool(name: &'static str, effect: Effect, parameters: &'static [Parameter]) -> ToolSpec {
    ToolSpec { name, summary: "Toy.", parameters, effect, audience: Audience::Everybody, cost_seconds: 60 }
}

const ASK: ToolSpec = tool("toy.ask", Effect::Writes, &[NAME]);
const CONCAT: ToolSpec = tool(
    "toy.concat",
    Effect::Writes,
    &[
        Parameter::required("srcs", Kind::List(&Kind::Text), "what is joined"),
        Parameter::required("dst", Kind::Text, "where to"),
    ],
);
const COPY: ToolSpec = tool(
    "toy.copy",
    Effect::Writes,
    &[Parameter::required("src", Kind::Text, "what"), Parameter::required("dst", Kind::Text, "where to")],
);
const DEL: ToolSpec = tool("toy.del", Effect::Writes, &[NAME]);
const LIST: ToolSpec = tool("toy.list", Effect::Reads, &[]);
const NOOP: ToolSpec = tool("toy.noop", Effect::Reads, &[]);
const READ: ToolSpec = tool("toy.read", Effect::Reads, &[NAME]);
const SECRET: ToolSpec = ToolSpec { audience: Audience::Backstage, ..tool("toy.secret", Effect::Writes, &[NAME]) };
const WAIT: ToolSpec = tool("toy.wait", Effect::Reads, &[Parameter::optional("until", Kind::Time, "until when")]);
const WRITE: ToolSpec = tool("toy.write", Effect::Writes, &[NAME, Parameter::required("v", Kind::Any, "the value")]);

impl Default for Toy {
    fn default() -> Self {
        Self { values: Collection::new("toy:") }
    }
}

impl Toy {
    /// Returns the value `name` without a trace; absent and deleted are null.
    #[must_use]
    pub fn peek(&self, name: &str) -> Value {
        self.values.peek(&name.into()).cloned().unwrap_or_default()
    }

    /// Returns the value `name` to a script, which fails if it is "bad": with a message as long as the value `length` says.
    fn admit(&self, frame: &Frame, name: &str) -> Result<Value, ScriptError> {
        let value = self.value(frame, name);
        if value != Value::from("bad") {
            return Ok(value);
        }
        let length = self.peek("length").as_int().and_then(|length| usize::try_from(length).ok()).unwrap_or_default();
        Err(ScriptError { name: name.to_owned(), message: format!("it is bad{}", "!".repeat(length)) })
    }

    fn value(&self, frame: &Frame, name: &str) -> Value {
        self.values.get(frame, &name.into()).cloned().unwrap_or_default()
    }
}

impl World for Toy {
    type Event = ToyEvent;

    fn tools() -> &'static [&'static ToolSpec] {
        &[&ASK, &CONCAT, &COPY, &DEL, &LIST, &NOOP, &READ, &SECRET, &WAIT, &WRITE]
    }

    fn decide(&self, call: &ToolCall, context: &Context<'_>) -> Result<Decision<ToyEvent>, Rejection> {
        let write = |k: &str, v: Value| vec![ToyEvent::Written { k: k.into(), v }];
        let ok = || crate::map! { "ok" => true };
        let frame = context.frame;
        Ok(match call.tool.as_str() {
            "toy.read" => Decision::answer(crate::map! { "value" => self.value(frame, call.text("k")) }),
            "toy.list" => {
                Decision::answer(crate::map! { "names" => self.values.list(frame).cloned().collect::<Value>() })
            }
            "toy.write" | "toy.secret" => {
                if call.text("k") == "forbidden" {
                    return Err(Rejection::new("toy/forbidden", "nothing may be called that; choose another name"));
                }
                Decision::change(write(call.text("k"), call.get("v").cloned().unwrap_or_default()), ok())
            }
            "toy.del" => Decision::change(write(call.text("k"), Value::Null), ok()),
            "toy.copy" => {
                let value = self.value(frame, call.text("src"));
                let answer = crate::map! { "ok" => value != Value::Null };
                Decision::change(write(call.text("dst"), value), answer)
            }
            "toy.concat" => {
                let parts: Vec<String> = call.texts("srcs").map(|name| plain(&self.value(frame, name))).collect();
                Decision::change(write(call.text("dst"), parts.join("+").into()), ok())
            }
            "toy.wait" => {
                let wait = call.time("until").map_or(Wait::NextNotice, Wait::Until);
                Decision { wait: Some(wait), ..Decision::answer(crate::map! {}) }
            }
            _ => Decision::answer(crate::map! {}),
        })
    }

    fn errand(&self, call: &ToolCall, context: &Context<'_>) -> Result<Option<Errand>, Rejection> {
        if call.tool != "toy.ask" {
            return Ok(None);
        }
        let value = self.value(context.frame, call.text("k"));
        Ok(Some(Errand { order: crate::map! { "kind" => "toy", "value" => value }, entries: Vec::new() }))
    }

    fn settle(&self, call: &ToolCall, brought: &Value, _: &Context<'_>) -> Result<Decision<ToyEvent>, Rejection> {
        if *brought == Value::Null {
            return Err(Rejection::new("toy/nobody", "there is nobody to ask; write the value yourself"));
        }
        let event = ToyEvent::Written { k: call.text("k").into(), v: brought.clone() };
        Ok(Decision::change(vec![event], crate::map! { "value" => brought.clone() }))
    }

    fn apply(&mut self, event: ToyEvent, applying: &mut Applying<'_>) {
        let ToyEvent::Written { k, v } = event;
        self.values.insert(applying, k, v);
    }

    fn query(&self, question: &str, arguments: &Value, looking: &Looking<'_>) -> Result<Value, Rejection> {
        match question {
            "toy.value" => {
                Ok(self.value(looking.frame, arguments.get("k").and_then(Value::as_text).unwrap_or_default()))
            }
            other => Err(Rejection::new("query/unknown", format!("the toy world has no question '{other}'"))),
        }
    }

    fn digest(&self) -> StateDigest {
        self.values.digest()
    }

    fn differences(&self, other: &Self) -> Vec<Difference> {
        let difference = |(key, left, right): (Key, Option<&Value>, Option<&Value>)| Difference {
            key,
            left: left.cloned(),
            right: right.cloned(),
        };
        self.values.differences(&other.values).into_iter().map(difference).collect()
    }

    fn dump(&self) -> Value {
        Value::Map(self.values.peek_all().map(|(name, value)| (name.clone(), value.clone())).collect())
    }
}

fn plain(value: &Value) -> String {
    value.as_text().map_or_else(|| value.to_string(), str::to_owned)
}

/// A script whose conditions wait for values, and whose personas answer by rules.
#[derive(Clone, Debug, Default)]
pub struct ToyScript {
    /// The timeline.
    pub plan: Plan,
    /// For a conditional event, by its index: which value it waits for, and which records it names as its cause besides.
    pub conditions: BTreeMap<usize, ToyCondition>,
    /// For a persona, by its index: what it does each time it looks, and how often.
    pub reactions: BTreeMap<usize, (Vec<ToolCall>, i64)>,
    /// For a persona, by its index: the name of the value that its script looks at and fails at if it is "bad".
    pub fragile: BTreeMap<usize, SmolStr>,
}

/// What a toy condition waits for.
#[derive(Clone, Debug, PartialEq)]
pub enum ToyCondition {
    /// The name holds the value.
    Holds(SmolStr, Value),
    /// The name holds "good"; the script fails if it holds "bad".
    Fragile(SmolStr),
    /// The log has reached this length; these records are its causes.
    Records(u64, Vec<Seq>),
    /// The simulated time, read as a key, has reached this many milliseconds.
    Time(i64),
}

impl ToyScript {
    /// Returns the script behind an `Arc`, as episodes want it.
    #[must_use]
    pub fn shared(self) -> Arc<dyn Script<Toy>> {
        Arc::new(self)
    }
}

impl Script<Toy> for ToyScript {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn holds(&self, index: usize, scene: &Scene<'_, Toy>) -> Result<bool, ScriptError> {
        match self.conditions.get(&index) {
            Some(ToyCondition::Holds(name, value)) => Ok(scene.world.value(scene.frame, name) == *value),
            Some(ToyCondition::Fragile(name)) => Ok(scene.world.admit(scene.frame, name)? == Value::from("good")),
            Some(ToyCondition::Records(count, causes)) => {
                scene.frame.note(ReadKind::Membership, Key::new("log:calls/"), Seq::default());
                for cause in causes {
                    scene.frame.note(ReadKind::Item, Key::new(format!("log:record/{cause}")), *cause);
                }
                Ok(scene.log.head().count >= *count)
            }
            Some(ToyCondition::Time(millis)) => {
                scene.frame.note(ReadKind::Item, Key::new(crate::schedule::CLOCK_KEY), Seq::default());
                Ok(scene.time.as_millis() >= *millis)
            }
            None => Err(ScriptError { name: format!("condition {index}"), message: "there is none".to_owned() }),
        }
    }

    fn react(&self, index: usize, memory: &Value, scene: &Scene<'_, Toy>) -> Result<Reaction, ScriptError> {
        if let Some(name) = self.fragile.get(&index) {
            scene.world.admit(scene.frame, name)?;
        }
        let looks = memory.as_int().unwrap_or_default();
        let (commands, times) = self.reactions.get(&index).cloned().unwrap_or_default();
        let commands = if looks < times { commands } else { Vec::new() };
        Ok(Reaction { memory: Value::Int(looks + 1), commands, wake: None })
    }
}

/// Returns the read of a toy value, as a record holds it.
#[must_use]
pub fn toy_read(name: &str, written: u64) -> Read {
    Read { key: Key::new(format!("toy:{name}")), kind: ReadKind::Item, written: Seq::new(written) }
}
