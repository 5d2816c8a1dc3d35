//! A small world: values by name (`kv`), inboxes (`mail`), people who are merely counted; and a scenario in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use dayshift_engine::{
    Applying, Audience, Blobs, Collection, Context, Decision, Difference, Effect, Kind, Looking, MemoryBlobs,
    Parameter, Rejection, SmolStr, StateDigest, ToolCall, ToolSpec, Value, World, map,
};
use dayshift_scenarios::{Package, Problem, Scenario, Vocabulary};
use serde::{Deserialize, Serialize};

/// The questions of the small world.
pub(crate) const VOCABULARY: Vocabulary =
    Vocabulary(&[("kv", &[("get", &["key"]), ("keys", &[])]), ("mail", &[("messages", &["address", "folder"])])]);

#[derive(Clone, Debug)]
pub(crate) struct Toy {
    values: Collection<SmolStr, Value>,
    inboxes: BTreeMap<SmolStr, Collection<SmolStr, Value>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum ToyEvent {
    ValueSet(SmolStr, Value),
    Delivered(SmolStr, Value),
}

const fn tool(name: &'static str, audience: Audience, parameters: &'static [Parameter]) -> ToolSpec {
    ToolSpec { name, summary: "", parameters, effect: Effect::Writes, audience, cost_seconds: 60 }
}

const TEXT: Kind = Kind::Text;

static TOOLS: [&ToolSpec; 6] = [
    &tool(
        "files.import",
        Audience::Backstage,
        &[Parameter::required("path", TEXT, ""), Parameter::required("blob", TEXT, "")],
    ),
    &tool("kv.get", Audience::Everybody, &[Parameter::required("key", TEXT, "")]),
    &tool(
        "kv.set",
        Audience::Everybody,
        &[Parameter::required("key", TEXT, ""), Parameter::required("value", Kind::Any, "")],
    ),
    &tool(
        "mail.send",
        Audience::Everybody,
        &[Parameter::required("to", TEXT, ""), Parameter::required("text", TEXT, "")],
    ),
    &tool(
        "people.introduce",
        Audience::Backstage,
        &[
            Parameter::required("name", TEXT, ""),
            Parameter::required("display", TEXT, ""),
            Parameter::required("address", TEXT, ""),
            Parameter::optional("role", TEXT, ""),
            Parameter::optional("agent", Kind::Bool, ""),
        ],
    ),
    &tool(
        "people.settle",
        Audience::Backstage,
        &[
            Parameter::required("zone", TEXT, ""),
            Parameter::optional("workday_start", TEXT, ""),
            Parameter::optional("workday_end", TEXT, ""),
            Parameter::optional("without", Kind::List(&TEXT), ""),
        ],
    ),
];

impl Toy {
    pub(crate) fn new() -> Self {
        Self { values: Collection::new("kv:"), inboxes: BTreeMap::new() }
    }
}

impl World for Toy {
    type Event = ToyEvent;

    fn tools() -> &'static [&'static ToolSpec] {
        &TOOLS
    }

    fn decide(&self, call: &ToolCall, context: &Context<'_>) -> Result<Decision<ToyEvent>, Rejection> {
        match call.tool.as_str() {
            "kv.get" => {
                let key = SmolStr::from(call.text("key"));
                let value = self.values.get(context.frame, &key).cloned();
                value
                    .map(|value| Decision::answer(map! { "value" => value }))
                    .ok_or_else(|| Rejection::new("kv/unknown-key", format!("there is no '{key}'; set it first")))
            }
            "kv.set" => {
                let (key, value) = (SmolStr::from(call.text("key")), call.get("value").cloned().unwrap_or_default());
                Ok(Decision::change(vec![ToyEvent::ValueSet(key.clone(), value)], map! { "key" => key }))
            }
            "mail.send" => {
                let message = map! { "from" => context.actor.to_string(), "text" => call.text("text") };
                Ok(Decision::change(vec![ToyEvent::Delivered(call.text("to").into(), message)], map! {}))
            }
            "files.import" => {
                let blob = call.text("blob").parse().ok().and_then(|id| context.blobs.get(id));
                let bytes =
                    blob.ok_or_else(|| Rejection::new("files/no-blob", "there is no such blob; give another"))?;
                let text = String::from_utf8_lossy(&bytes).into_owned();
                Ok(Decision::change(vec![ToyEvent::ValueSet(call.text("path").into(), text.into())], map! {}))
            }
            _ => Ok(Decision::answer(map! {})),
        }
    }

    fn apply(&mut self, event: ToyEvent, applying: &mut Applying<'_>) {
        match event {
            ToyEvent::ValueSet(key, value) => self.values.insert(applying, key, value),
            ToyEvent::Delivered(address, mut message) => {
                let prefix = format!("mail:{address}/INBOX/");
                let inbox = self.inboxes.entry(address).or_insert_with(|| Collection::new(prefix));
                let uid = inbox.len() + 1;
                if let Value::Map(message) = &mut message {
                    message.insert("uid".into(), uid.into());
                }
                inbox.insert(applying, format!("{uid:05}").into(), message);
            }
        }
    }

    fn query(&self, question: &str, arguments: &Value, looking: &Looking<'_>) -> Result<Value, Rejection> {
        let text = |name: &str| SmolStr::from(arguments.get(name).and_then(Value::as_text).unwrap_or_default());
        match question {
            "kv.get" => Ok(self.values.get(looking.frame, &text("key")).cloned().unwrap_or_default()),
            "kv.keys" => Ok(self.values.list(looking.frame).cloned().collect()),
            "mail.messages" => Ok(self.inboxes.get(&text("address")).map_or_else(
                || Value::List(Vec::new()),
                |inbox| {
                    let uids: Vec<_> = inbox.list(looking.frame).cloned().collect();
                    uids.iter().filter_map(|uid| inbox.get(looking.frame, uid)).cloned().collect()
                },
            )),
            _ => Err(Rejection::new("query/unknown", format!("there is no question '{question}'; ask kv.get"))),
        }
    }

    fn digest(&self) -> StateDigest {
        self.values.digest()
    }

    fn differences(&self, _other: &Self) -> Vec<Difference> {
        Vec::new()
    }

    fn dump(&self) -> Value {
        Value::Map(self.values.peek_all().map(|(key, value)| (key.clone(), value.clone())).collect())
    }
}

pub(crate) const YAML: &str = r#"id: toy-v1
title: A toy
family: toys
request: Set the total.
requirements:
  - {id: total, text: The total is right.}
  - {id: quiet, text: Nobody shouts.}
agent: {name: ann, display: Ann Lee, address: Ann@acme.example}
office: {zone: Europe/Berlin, workday: 09:00-17:00}
people:
  - name: ben
    display: Ben Cho
    address: ben@acme.example
    role: Controller
    persona: personas/ben.star
    delay: 0 s
    sees: ["kv:shared/"]
epoch: 2026-03-16 08:00
days:
  - {name: mon, opens: 09:00, ends: 17:00, notification: Set the total.}
  - {name: tue, opens: 09:00, ends: 17:00, notification: Go on.}
closes: tue + 12h
channels: {mail: loud, kv: silent}
events:
  - id: price
    at: tue 10:00
    do: [kv.set: {key: price, value: 12}]
  - id: seen
    when: total_is_set
    deadline: tue 16:00
    do: [kv.set: {key: seen, value: true}]
    loud: The total was seen.
  - id: thanks
    after: seen
    delay: 30 min
    as: ben
    do:
      - kv.set: {key: "{{seen.key}}-by", value: ben}
      - mail.send: {to: ann@acme.example, text: Thank you}
threshold: 0.6
checks:
  - {id: total-right, title: The total is 42 on Monday., requirement: total, weight: 2, moment: end of mon}
  - {id: price-kept, title: The price is as it came., requirement: total}
  - {id: no-shout, title: Nobody shouts., requirement: quiet, red_line: 0.3}
"#;

pub(crate) const CHECKS: &str = r#"
def total_is_set():
    return kv.get("total") != None

def total_right():
    return kv.get("total") == 42

def price_kept():
    if at("mon").kv.get("price") != None:
        return 0
    return 0.5 if kv.get("price") == 12 else 0.25

def no_shout():
    return not any([matches("(?i)shout", c.arguments.get("text", "")) for c in calls("mail.send") if c.ok])
"#;

pub(crate) const BEN: &str = r#"
def react(me, memory):
    new = inbox()
    count = memory.get("count", 0) + len(new)
    answers = [call("mail.send", to = me.agent_address, text = "Got: " + m["text"]) for m in new]
    return reaction(memory = {"count": count}, do = answers + [call("kv.set", key = "ben-count", value = count)])
"#;

pub(crate) const REFERENCE: &str = r#"description: Does it right.
days:
  mon:
    - say: I set the total.
      calls:
        - kv.set: {key: total, value: 42}
          as: set
        - kv.get: {key: "{{set.key}}"}
        - mail.send: {to: ben@acme.example, text: Hello}
    - hand_over: Done.
"#;

/// Returns the files of the scenario, each replaced by what `changes` brings.
pub(crate) fn package(changes: &[(&str, &str)]) -> Package {
    let mut files: BTreeMap<&str, &str> = BTreeMap::from([
        ("scenario.yaml", YAML),
        ("checks.star", CHECKS),
        ("personas/ben.star", BEN),
        ("solutions/reference.yaml", REFERENCE),
        ("world/files/shared/note.txt", "Hello"),
    ]);
    files.extend(changes.iter().copied());
    Package::from_files("toy-v1", files.iter().map(|(path, text)| (*path, text.as_bytes()))).expect("good paths")
}

pub(crate) fn load(changes: &[(&str, &str)]) -> Result<Scenario<Toy>, Vec<Problem>> {
    Scenario::load_with(package(changes), &VOCABULARY)
}

pub(crate) fn blobs() -> Arc<dyn Blobs> {
    Arc::new(MemoryBlobs::new())
}
