//! The recorded cases of the reference, number by number.

use std::collections::{BTreeMap, BTreeSet};

use dayshift_engine::{Actor, Seed, Seq, SmolStr, Turn, Value};
use dayshift_replay::credit::{ClosedReplay, Config, Edges, Entry, Ledger, Row, audit, entities};
use serde_json::Value as Json;

use crate::toy::{Recorded, ToyCheck, ToyEvent, kinds, record, replay};

const TOLERANCE: f64 = 1e-9;

struct Case {
    id: String,
    expected: Json,
    initial: BTreeMap<SmolStr, Value>,
    known: BTreeSet<SmolStr>,
    events: Vec<ToyEvent>,
    checks: Vec<ToyCheck>,
    recorded: Recorded,
    edges: Edges,
    ledger: Ledger,
}

#[test]
fn there_are_thirteen_cases() {
    assert_eq!(cases().len(), 13);
}

#[test]
fn reads_writes_and_outputs_are_those_of_the_reference() {
    for case in cases() {
        for (step, expected) in case.recorded.trace.steps().iter().zip(list(&case.expected["events"])) {
            let reads: BTreeMap<String, u64> =
                step.reads.iter().map(|read| (read.key.to_string(), read.written.get())).collect();
            assert_eq!(serde_json::to_value(reads).unwrap(), expected["reads"], "{}", case.id);
            let writes: Vec<String> = step.writes.iter().map(ToString::to_string).collect();
            assert_eq!(serde_json::to_value(writes).unwrap(), expected["writes"], "{}", case.id);
            assert_eq!(serde_json::to_value(&step.output).unwrap(), expected["out"], "{}", case.id);
        }
    }
}

#[test]
fn dependencies_and_their_kinds_are_those_of_the_reference() {
    for case in cases() {
        let mut sources: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for (seq, source, _) in case.edges.iter() {
            sources.entry(seq.to_string()).or_default().push(source.get());
        }
        assert_eq!(serde_json::to_value(sources).unwrap(), case.expected["dep"], "{}", case.id);
        assert_eq!(serde_json::to_value(kinds(&case.edges)).unwrap(), case.expected["kinds"], "{}", case.id);
    }
}

#[test]
fn credit_and_the_exogenous_account_are_those_of_the_reference() {
    for case in cases() {
        let expected = case.expected["credit"].as_object().unwrap();
        assert_eq!(case.ledger.credit.len(), expected.len(), "{}", case.id);
        for (turn, credit) in &case.ledger.credit {
            near(credit.amount, &expected[&turn.to_string()], &case.id);
        }
        near(case.ledger.exogenous, &case.expected["exogenous"], &case.id);
    }
}

#[test]
fn ledger_rows_are_those_of_the_reference_in_its_order() {
    for case in cases() {
        let expected = list(&case.expected["ledger"]);
        assert_eq!(case.ledger.rows.len(), expected.len(), "{}", case.id);
        for (row, expected) in case.ledger.rows.iter().zip(expected) {
            near(row.amount, &expected["amount"], &case.id);
            let mut expected = expected.clone();
            expected.as_object_mut().unwrap().remove("amount");
            assert_eq!(named_as_the_reference_does(row), expected, "{}", case.id);
        }
    }
}

#[test]
fn the_audit_is_that_of_the_reference() {
    for case in cases() {
        let rule = ClosedReplay::new(&case.recorded.trace, &case.known);
        let turns = case.recorded.trace.turns();
        let mut stream = Seed::new(0).stream("audit");
        let value = |keep: &BTreeSet<Turn>| Ok::<_, ()>(replay(&case.events, &case.initial, &case.checks, &rule, keep));
        let found = audit(&case.recorded.trace, &case.edges, &turns, &mut stream, value).unwrap();
        let expected = &case.expected["audit"];
        near(found.full, &expected["full"], &case.id);
        near(found.empty, &expected["empty"], &case.id);
        for turn in turns {
            near(found.necessary[&turn], &expected["necessary"][turn.to_string()], &case.id);
            near(found.shapley[&turn], &expected["shapley"][turn.to_string()], &case.id);
        }
        assert!(found.exact);
    }
}

#[test]
fn entities_are_those_of_the_reference() {
    let pairs: Vec<(Value, BTreeSet<SmolStr>)> =
        serde_json::from_str(include_str!("../vectors/entities.json")).unwrap();
    assert!(!pairs.is_empty());
    for (value, expected) in pairs {
        assert_eq!(entities(&value), expected, "{value}");
    }
}

fn cases() -> Vec<Case> {
    let file: Json = serde_json::from_str(include_str!("../vectors/vtca_vectors.json")).unwrap();
    list(&file["cases"]).iter().map(case).collect()
}

fn case(expected: &Json) -> Case {
    let id = text(&expected["id"]);
    let initial: BTreeMap<SmolStr, Value> = serde_json::from_value(expected["init"].clone()).unwrap();
    let known = entities(&Value::from(text(&expected["prompt"])));
    let events: Vec<ToyEvent> = list(&expected["events"]).iter().map(event).collect();
    let checks: Vec<ToyCheck> = list(&expected["checks"]).iter().map(|check| toy_check(&id, check)).collect();
    let recorded = record(&events, &initial, &checks);
    let edges = Edges::of(&recorded.trace, &known);
    let config = Config::new(expected["cfg"]["rho"].as_f64().unwrap(), expected["cfg"]["gamma"].as_f64().unwrap());
    let ledger = Ledger::settle(&recorded.trace, &edges, &recorded.verdicts, &config.unwrap());
    Case { id, expected: expected.clone(), initial, known, events, checks, recorded, edges, ledger }
}

fn event(expected: &Json) -> ToyEvent {
    ToyEvent {
        seq: Seq::new(expected["seq"].as_u64().unwrap()),
        actor: match expected["actor"].as_str().expect("an actor") {
            "agent" => Actor::Agent,
            "exo" => Actor::World,
            name => Actor::Persona(name.into()),
        },
        turn: expected["turn"].as_u64().map(|turn| Turn::new(u32::try_from(turn).unwrap())),
        op: text(&expected["op"]).into(),
        arguments: serde_json::from_value(expected["args"].clone()).unwrap(),
        causes: list(&expected["causes"]).iter().map(|seq| Seq::new(seq.as_u64().unwrap())).collect(),
    }
}

/// The vectors name the keys of each check; what the reference wants to find there stands in its source.
fn toy_check(case: &str, expected: &Json) -> ToyCheck {
    let wanted = |key: &str| match (case, key) {
        ("vtca_chain_read_write", "sheet/A1" | "out/report") => "INV-7731",
        ("vtca_conjunction", "a") => "x",
        ("vtca_conjunction", "b") => "y",
        ("vtca_conjunction", "c") => "z",
        ("vtca_exogenous_flip_and_read", "cal/1" | "plan") => "2026-11-03",
        ("vtca_regress_and_regain", "doc") => "TKT-4410",
        ("vtca_exogenous_regress_resets_reference", "room") => "B-204",
        ("vtca_reply_chain_through_npc", "erp/po") => "PO-55120",
        ("vtca_two_checks_one_turn", "a" | "b") => "AC-9001",
        ("vtca_reaction_flips", "status") => "released",
        ("vtca_reaction_flips", "draft") => "RPT-2201",
        ("vtca_reaction_breaks_agent_repairs", "plan") => "room-104",
        ("vtca_reaction_to_a_reaction", "room") => "room-311",
        ("vtca_reaction_after_a_later_turn", "amount") => "4711.50",
        ("vtca_reaction_after_a_later_turn", "approval") => "yes-4711",
        ("vtca_reaction_then_world" | "vtca_world_then_reaction", "a") => "x-100",
        ("vtca_reaction_then_world" | "vtca_world_then_reaction", "b") => "y-200",
        unknown => panic!("no wanted value for {unknown:?}"),
    };
    ToyCheck {
        id: text(&expected["id"]).into(),
        weight: expected["w"].as_f64().unwrap(),
        wanted: list(&expected["keys"]).iter().map(|key| (text(key).into(), wanted(&text(key)).into())).collect(),
    }
}

fn named_as_the_reference_does(row: &Row) -> Json {
    let check = row.check.as_str();
    match row.entry {
        Entry::Exogenous => serde_json::json!({ "check": check, "kind": "exo" }),
        Entry::Regression { turn } => serde_json::json!({ "check": check, "kind": "regress", "turn": turn }),
        Entry::Regained { turn } => serde_json::json!({ "check": check, "kind": "regain", "turn": turn }),
        Entry::Prerequisite { turn, flip, distance } => {
            serde_json::json!({ "check": check, "kind": "prereq", "turn": turn, "flip": flip, "dist": distance })
        }
        Entry::Flip { turn } => serde_json::json!({ "check": check, "kind": "flip", "turn": turn }),
        Entry::Unattributed { .. } | Entry::RedLine { .. } => panic!("the reference has no such row: {row:?}"),
    }
}

fn list(json: &Json) -> &[Json] {
    json.as_array().map_or(&[], Vec::as_slice)
}

fn text(json: &Json) -> String {
    json.as_str().expect("text").to_owned()
}

fn near(found: f64, expected: &Json, case: &str) {
    let expected = expected.as_f64().expect("a number");
    assert!((found - expected).abs() <= TOLERANCE, "{case}: {found} is not {expected}");
}
