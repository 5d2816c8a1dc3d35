//! Random commands on the directory against a simple reference model.

use std::collections::BTreeMap;

use dayshift_engine::{Actor, Frame, Rejection, Value, map};
use proptest::prelude::*;

use super::super::PeopleState;
use crate::service::Service;
use crate::testing::Bench;

#[derive(Clone, Debug)]
enum Command {
    Introduce { name: String, address: String, role: Option<String>, agent: bool },
    Settle { zone: String, hours: Option<(u16, u16)> },
    Remember { persona: String, memory: i64 },
}

fn command() -> impl Strategy<Value = Command> {
    let zones = prop::sample::select(vec!["Europe/Berlin", "Asia/Tokyo", "UTC", "Nowhere/Land"]);
    prop_oneof![
        5 => ("[a-d]{1,2}", "[A-Ca-c]", prop::option::of("[xy]{1,2}"), prop::bool::weighted(0.3))
            .prop_map(|(name, local, role, agent)| Command::Introduce { name, address: format!("{local}@x.example"), role, agent }),
        1 => (zones, prop::option::of((0_u16..24, 0_u16..24)))
            .prop_map(|(zone, hours)| Command::Settle { zone: zone.to_owned(), hours }),
        2 => ("[a-d]{1,2}", any::<i64>()).prop_map(|(persona, memory)| Command::Remember { persona, memory }),
    ]
}

/// One person: address, role, whether it is the agent.
type Entry = (String, Option<String>, bool);

/// The reference: a map of people, the settings, a map of memories.
#[derive(Debug)]
struct Model {
    people: BTreeMap<String, Entry>,
    zone: String,
    hours: Option<(u16, u16)>,
    memories: BTreeMap<String, i64>,
}

impl Model {
    fn run(&mut self, command: &Command) -> Result<(), &'static str> {
        match command {
            Command::Introduce { name, address, role, agent } => {
                let address = address.to_lowercase();
                let mut others = self.people.iter().filter(|(other, _)| *other != name);
                if *agent && others.clone().any(|(_, entry)| entry.2) {
                    return Err("people/agent-taken");
                }
                if others.any(|(_, entry)| entry.0 == address) {
                    return Err("people/address-taken");
                }
                self.people.insert(name.clone(), (address, role.clone(), *agent));
            }
            Command::Settle { zone, hours } => {
                if zone == "Nowhere/Land" {
                    return Err("people/unknown-zone");
                }
                if hours.is_some_and(|(start, end)| start >= end) {
                    return Err("people/bad-workday");
                }
                (self.zone, self.hours) = (zone.clone(), *hours);
            }
            Command::Remember { persona, memory } => drop(self.memories.insert(persona.clone(), *memory)),
        }
        Ok(())
    }

    fn entry(&self, name: &str) -> Value {
        let (address, role, _) = &self.people[name];
        map! { "name" => name, "display" => name.to_uppercase(), "address" => address.clone(), "role" => role.clone() }
    }

    /// Returns the names of the people in whose particulars `text` is.
    fn holding(&self, text: &str) -> Vec<&String> {
        let has = |name: &str, entry: &Entry| {
            name.contains(text) || entry.0.contains(text) || entry.1.as_ref().is_some_and(|role| role.contains(text))
        };
        self.people.iter().filter(|(name, entry)| has(name, entry)).map(|(name, _)| name).collect()
    }
}

fn run(bench: &mut Bench<PeopleState>, command: &Command) -> Result<Value, Rejection> {
    match command {
        Command::Introduce { name, address, role, agent } => {
            let arguments = map! {
                "name" => name.clone(), "display" => name.to_uppercase(), "address" => address.clone(), "role" => role.clone(), "agent" => *agent,
            };
            bench.call("people.introduce", arguments)
        }
        Command::Settle { zone, hours } => {
            let clock = |hour: u16| format!("{hour:02}:30");
            let arguments = map! {
                "zone" => zone.clone(),
                "workday_start" => hours.map(|(start, _)| clock(start)),
                "workday_end" => hours.map(|(_, end)| clock(end)),
            };
            bench.call("people.settle", arguments)
        }
        Command::Remember { persona, memory } => {
            bench.call("people.remember", map! { "persona" => persona.clone(), "memory" => *memory })
        }
    }
}

proptest! {
    #[test]
    fn the_directory_agrees_with_the_model(commands in prop::collection::vec(command(), 1..40), text in "[a-dxy@.]{1,2}", limit in 1_usize..5) {
        let mut bench = Bench::new(PeopleState::new());
        let mut model = Model { people: BTreeMap::new(), zone: "UTC".into(), hours: None, memories: BTreeMap::new() };
        for command in &commands {
            let (expected, before) = (model.run(command), bench.service.digest());
            let done = run(&mut bench, command);
            prop_assert_eq!(done.as_ref().err().map(|rejection| rejection.code.as_ref()), expected.err(), "{:?}", command);
            if done.is_err() {
                prop_assert_eq!(bench.service.digest(), before);
            }
        }
        for name in ["a", "b", "cc", "dd"] {
            let shown = bench.call("people.read", map! { "name" => name }).ok();
            prop_assert_eq!(shown, model.people.contains_key(name).then(|| model.entry(name)));
            let memory = bench.ask("memory", map! { "persona" => name }).expect("a question");
            prop_assert_eq!(memory, Value::from(model.memories.get(name).copied()));
        }
        let found = bench.call("people.list", map! { "query" => text.clone(), "limit" => limit }).expect("listed");
        let holding = model.holding(&text);
        let shown: Value = holding.iter().take(limit).map(|name| model.entry(name)).collect();
        prop_assert_eq!(found, map! { "people" => shown, "total" => holding.len() });
        let names: Value = model.people.keys().cloned().collect();
        prop_assert_eq!(bench.ask("list", map! {}).expect("a question"), names);
        let clock = |hour: Option<u16>| hour.map(|hour| format!("{hour:02}:30"));
        let office = map! {
            "zone" => model.zone.clone(),
            "workday_start" => clock(model.hours.map(|hours| hours.0)),
            "workday_end" => clock(model.hours.map(|hours| hours.1)),
        };
        prop_assert_eq!(bench.ask("office", map! {}).expect("a question"), office);
        // The agent's desk is that of the person who is the agent.
        let agent = model.people.iter().find(|(_, entry)| entry.2);
        let desk = bench.service.desk(&Actor::Agent);
        prop_assert_eq!(desk.name.as_str(), agent.map_or("agent", |(name, _)| name));
        prop_assert_eq!(desk.address.as_str(), agent.map_or("", |(_, entry)| &entry.0));
        prop_assert_eq!(desk.zone.name(), model.zone.as_str());
        prop_assert_eq!(bench.service.workday(&Frame::new()).is_some(), model.hours.is_some());
    }
}
