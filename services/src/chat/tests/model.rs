//! Chat against a simple model: random calls of three people on both, who must see the same messages and the same unread counts.

use std::collections::BTreeMap;

use dayshift_engine::{SmolStr, Value, map};
use proptest::prelude::*;

use super::bench;
use crate::chat::ChatState;
use crate::testing::Bench;

const PEOPLE: [&str; 3] = ["ann", "ben", "cleo"];

#[derive(Clone, Debug)]
enum Step {
    Send { from: usize, to: usize, text: String },
    Say { from: usize, text: String },
    Read { reader: usize, other: usize },
    Open { members: Vec<usize> },
}

/// Messages and the number of those seen, by conversation.
#[derive(Debug, Default)]
struct Model {
    messages: BTreeMap<String, Vec<(String, String)>>,
    seen: BTreeMap<(String, usize), usize>,
    members: Option<Vec<usize>>,
}

fn direct(one: usize, two: usize) -> String {
    format!("{}+{}", PEOPLE[one.min(two)], PEOPLE[one.max(two)])
}

impl Model {
    /// Does `step`; false if it must be refused.
    fn step(&mut self, step: &Step) -> bool {
        match step {
            Step::Send { from, to, text } => {
                if from == to {
                    return false;
                }
                self.messages.entry(direct(*from, *to)).or_default().push((PEOPLE[*from].to_owned(), text.clone()));
            }
            Step::Say { from, text } => {
                if !self.members.as_ref().is_some_and(|members| members.contains(from)) {
                    return false;
                }
                self.messages.entry("#team".to_owned()).or_default().push((PEOPLE[*from].to_owned(), text.clone()));
            }
            Step::Read { reader, other } => {
                if reader == other {
                    return false;
                }
                let name = direct(*reader, *other);
                let count = self.messages.get(&name).map_or(0, Vec::len);
                self.seen.insert((name, *reader), count);
            }
            Step::Open { members } => self.members = Some(members.clone()),
        }
        true
    }
}

fn call(bench: &mut Bench<ChatState>, step: &Step) -> bool {
    let result = match step {
        Step::Send { from, to, text } => {
            bench.desk.name = SmolStr::from(PEOPLE[*from]);
            bench.call("chat.send", map! { "with" => PEOPLE[*to], "text" => text.as_str() })
        }
        Step::Say { from, text } => {
            bench.call("chat.post", map! { "from" => PEOPLE[*from], "channel" => "team", "text" => text.as_str() })
        }
        Step::Read { reader, other } => {
            bench.desk.name = SmolStr::from(PEOPLE[*reader]);
            bench.call("chat.history", map! { "with" => PEOPLE[*other] })
        }
        Step::Open { members } => {
            let members: Vec<&str> = members.iter().map(|member| PEOPLE[*member]).collect();
            bench.call("chat.open_channel", map! { "channel" => "team", "members" => members })
        }
    };
    result.is_ok()
}

/// Returns (unread, all) of the conversation `name` as `reader` sees it, if it is listed.
fn counts(bench: &mut Bench<ChatState>, reader: usize, name: &str) -> Option<(i64, i64)> {
    bench.desk.name = SmolStr::from(PEOPLE[reader]);
    let list = bench.call("chat.conversations", map! {}).expect("a list is never refused");
    let all = list.get("conversations").and_then(Value::as_list).unwrap_or_default();
    let entry = all.iter().find(|entry| entry.get("conversation").and_then(Value::as_text) == Some(name))?;
    let number = |field: &str| entry.get(field).and_then(Value::as_int).unwrap_or(-1);
    Some((number("unread"), number("messages")))
}

fn steps() -> impl Strategy<Value = Step> {
    let text = || "[xy]{1,3}";
    prop_oneof![
        4 => (0..3_usize, 0..3_usize, text()).prop_map(|(from, to, text)| Step::Send { from, to, text }),
        2 => (0..3_usize, text()).prop_map(|(from, text)| Step::Say { from, text }),
        2 => (0..3_usize, 0..3_usize).prop_map(|(reader, other)| Step::Read { reader, other }),
        1 => prop::collection::vec(0..3_usize, 1..4).prop_map(|members| Step::Open { members }),
    ]
}

proptest! {
    #[test]
    fn any_calls_have_the_same_outcome_as_on_the_model(steps in prop::collection::vec(steps(), 1..40)) {
        let mut bench = bench();
        let mut model = Model::default();
        for step in &steps {
            prop_assert_eq!(call(&mut bench, step), model.step(step), "{:?}", step);
        }
        for (name, messages) in &model.messages {
            let shown = bench.ask("messages", map! { "conversation" => name.as_str() }).expect("a good question");
            let field = |entry: &Value, name: &str| entry.get(name).and_then(Value::as_text).unwrap_or_default().to_owned();
            let shown: Vec<(String, String)> =
                shown.as_list().unwrap_or_default().iter().map(|entry| (field(entry, "from"), field(entry, "text"))).collect();
            prop_assert_eq!(&shown, messages);
        }
        for (one, two) in [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)] {
            let name = direct(one, two);
            let expected = model.messages.get(&name).map(|messages| {
                let seen = model.seen.get(&(name.clone(), one)).copied().unwrap_or_default();
                let unread = messages[seen..].iter().filter(|(from, _)| from != PEOPLE[one]).count();
                (unread as i64, messages.len() as i64)
            });
            prop_assert_eq!(counts(&mut bench, one, &name), expected);
        }
    }
}
