//! Rules that are functions: what they are given and may ask, what their verdicts lead to, and what they make a call depend on.

use std::sync::{Arc, Mutex};

use dayshift_engine::{ReadKind, Value, map};

use super::super::{Deed, Guards, RecordsState};
use super::{code, good, refused};
use crate::testing::Bench;

/// Functions written in Rust, which remember what they were given.
#[derive(Debug, Default)]
struct Functions(Mutex<Vec<Value>>);

impl Guards for Functions {
    fn judge(&self, function: &str, deed: &Deed<'_>) -> Result<Option<String>, String> {
        let given = map! {
            "function" => function,
            "row" => deed.row.clone(),
            "arguments" => deed.arguments.clone(),
            "actor" => deed.actor,
        };
        self.0.lock().expect("nobody panicked").push(given);
        match function {
            "verified" => {
                let filter = map! { "ticket" => deed.row.get("id").cloned(), "verified" => true };
                let found = deed.ask("records.count", &map! { "table" => "calls", "where" => filter })?;
                Ok((found == Value::Int(0)).then(|| "a call-back comes first".to_owned()))
            }
            "in_time" => {
                let now = deed.ask("clock.now", &map! {})?;
                Ok((!now.as_text().is_some_and(|now| now.starts_with("2026-03-16"))).then(|| "too late".to_owned()))
            }
            "curious" => deed.ask("mail.count", &map! {}).map(|_| None),
            other => Err(format!("there is no function '{other}'")),
        }
    }
}

/// A table of tickets whose actions have functions as rules, and one of calls.
fn office(guards: Option<Arc<dyn Guards>>) -> Bench<RecordsState> {
    let mut state = RecordsState::new();
    if let Some(guards) = guards {
        state.set_guards(guards);
    }
    let mut bench = Bench::new(state);
    good(
        &mut bench,
        "records.define",
        r#"{"table": {"table": "tickets", "fields": {"status": "text", "iban": "text"}, "actions": {
            "change": {"guard": ["verified", {"status": "open", "else": "it must be open"}, "in_time"],
                "parameters": {"iban": "text", "note": "text"}, "effects": [{"set": {"iban": "$arguments.iban"}}]},
            "peek": {"guard": "curious", "effects": [{"set": {"status": "seen"}}]},
            "lose": {"guard": "nowhere", "effects": [{"set": {"status": "lost"}}]}}}}"#,
    );
    good(
        &mut bench,
        "records.define",
        r#"{"table": {"table": "calls", "fields": {"ticket": "text", "verified": "boolean"}}}"#,
    );
    good(&mut bench, "records.import", r#"{"table": "tickets", "rows": [{"id": "T-1", "status": "open"}]}"#);
    bench
}

const CHANGE: &str = r#"{"table": "tickets", "id": "T-1", "action": "change", "arguments": {"iban": "DE1"}}"#;

#[test]
fn a_function_refuses_in_its_own_words_until_it_holds() {
    let functions = Arc::new(Functions::default());
    let mut bench = office(Some(Arc::clone(&functions) as Arc<dyn Guards>));
    let (code, message) = refused(&mut bench, "records.act", CHANGE);
    assert_eq!(
        (code.as_str(), message.as_str()),
        ("records/guard-refused", "'change' was not done: a call-back comes first")
    );
    good(&mut bench, "records.create", r#"{"table": "calls", "values": {"ticket": "T-1", "verified": true}}"#);
    good(&mut bench, "records.act", CHANGE);
    let given = functions.0.lock().expect("nobody panicked");
    let expected = map! {
        "function" => "in_time",
        "row" => map! { "id" => "T-1", "status" => "open", "iban" => Value::Null },
        "arguments" => map! { "iban" => "DE1", "note" => Value::Null },
        "actor" => "Ann Lee",
    };
    assert_eq!(given.last(), Some(&expected));
}

#[test]
fn what_a_function_reads_is_read_by_the_call() {
    let mut bench = office(Some(Arc::new(Functions::default())));
    good(&mut bench, "records.create", r#"{"table": "calls", "values": {"ticket": "T-1", "verified": true}}"#);
    good(&mut bench, "records.act", CHANGE);
    let keys = bench.read_keys();
    for key in
        ["records:tickets/T-1/status", "records:tickets/T-1/iban", "records:calls/", "records:calls/*", "clock:now"]
    {
        assert!(keys.contains(&key), "{key} in {keys:?}");
    }
    let scan = bench.accesses.reads.iter().find(|read| read.key.as_str() == "records:calls/*").expect("it was scanned");
    assert_eq!(scan.kind, ReadKind::Scan);
    // A refusal depends on what was looked at in vain as well.
    let mut bench = office(Some(Arc::new(Functions::default())));
    refused(&mut bench, "records.act", CHANGE);
    assert!(bench.read_keys().contains(&"records:calls/"), "{:?}", bench.read_keys());
}

#[test]
fn functions_see_records_and_the_time_alone() {
    let mut bench = office(Some(Arc::new(Functions::default())));
    let (code, message) = refused(&mut bench, "records.act", r#"{"table": "tickets", "id": "T-1", "action": "peek"}"#);
    assert_eq!(code, "records/guard-fault");
    assert!(message.contains("cannot ask mail.count"), "{message}");
}

#[test]
fn a_function_that_is_not_there_lets_nothing_be_done() {
    let lose = r#"{"table": "tickets", "id": "T-1", "action": "lose"}"#;
    assert_eq!(code(&mut office(Some(Arc::new(Functions::default()))), "records.act", lose), "records/guard-fault");
    assert_eq!(code(&mut office(None), "records.act", lose), "records/guard-fault");
}

#[test]
fn rules_are_told_in_words() {
    let mut bench = office(None);
    let tables = good(&mut bench, "records.tables", "{}").to_string();
    assert!(tables.contains(r#""rules":["verified","it must be open","in time"]"#), "{tables}");
}

#[test]
fn a_rule_is_a_function_a_list_or_nothing() {
    let mut bench = office(None);
    for guard in [r#""two words""#, r#"{"status": "open"}"#, "7", r#"["ok", 7]"#] {
        let definition = format!(
            r#"{{"table": {{"table": "more", "fields": {{"status": "text"}}, "actions": {{"do": {{"guard": {guard}, "effects": [{{"set": {{"status": "x"}}}}]}}}}}}}}"#
        );
        assert_eq!(code(&mut bench, "records.define", &definition), "records/bad-definition", "{guard}");
    }
}
