//! The service on the bench: every tool, its keys, its refusals.

mod actions;
mod definitions;
mod guards;
mod limits;
mod model;
mod outages;
mod queries;
mod rows;

use dayshift_engine::{Rejection, Value};

use super::RecordsState;
use crate::testing::Bench;

/// Returns the value that `json` writes.
fn json(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{error} in {json}"))
}

/// Makes a call with arguments written as JSON.
fn call(bench: &mut Bench<RecordsState>, tool: &str, arguments: &str) -> Result<Value, Rejection> {
    bench.call(tool, json(arguments))
}

/// Makes a call that must succeed.
fn good(bench: &mut Bench<RecordsState>, tool: &str, arguments: &str) -> Value {
    call(bench, tool, arguments).unwrap_or_else(|rejection| panic!("{tool} {arguments}: {rejection}"))
}

/// Makes a call that must be refused and change nothing; returns the code and the sentence.
fn refused(bench: &mut Bench<RecordsState>, tool: &str, arguments: &str) -> (String, String) {
    let before = (bench.service.digest_now(), bench.service.dump_now());
    match call(bench, tool, arguments) {
        Ok(answer) => panic!("{tool} {arguments} was answered: {answer}"),
        Err(rejection) => {
            assert_eq!((bench.service.digest_now(), bench.service.dump_now()), before, "a refusal changed the state");
            (rejection.code.into_owned(), rejection.message)
        }
    }
}

/// Makes a call that must be refused and returns the code.
fn code(bench: &mut Bench<RecordsState>, tool: &str, arguments: &str) -> String {
    refused(bench, tool, arguments).0
}

/// Asks a question with arguments written as JSON.
fn ask(bench: &mut Bench<RecordsState>, verb: &str, arguments: &str) -> Value {
    bench.ask(verb, json(arguments)).unwrap_or_else(|rejection| panic!("{verb} {arguments}: {rejection}"))
}

/// Returns the example of the module's documentation, as the loader would read it.
fn example() -> Value {
    let source = include_str!("../records.rs");
    let yaml = source.split("```").nth(1).expect("an example").strip_prefix("yaml").expect("it is YAML");
    let yaml: String = yaml
        .lines()
        .map(|line| line.trim_start_matches("//!").strip_prefix(' ').unwrap_or(""))
        .fold(String::new(), |text, line| text + line + "\n");
    serde_saphyr::from_str(&yaml).expect("the example is YAML")
}

/// Returns a bench with suppliers, payments (the documented example), call-backs and a ledger.
fn office() -> Bench<RecordsState> {
    let mut bench = Bench::new(RecordsState::new());
    for definition in [
        r#"{"table": {"table": "suppliers", "id": {"prefix": "S-"}, "fields": {
            "name": {"type": "text", "required": true}, "status": {"type": "choice", "options": ["active", "blocked"], "default": "active"},
            "limit": "decimal", "committed": "decimal", "tags": "list"}}}"#,
        r#"{"table": {"table": "callbacks", "fields": {
            "payment": {"type": "reference", "table": "payments"}, "verified": "boolean"}}}"#,
        r#"{"table": {"table": "ledger", "id": {"prefix": "L", "digits": 3}, "fields": {
            "payment": {"type": "reference", "table": "payments", "required": true}, "amount": "decimal"}}}"#,
    ] {
        good(&mut bench, "records.define", definition);
    }
    let Value::Map(mut payments) = example() else { panic!("the example is an object") };
    let rows = payments.remove("rows").expect("the example has rows");
    let call = |bench: &mut Bench<RecordsState>, tool: &str, arguments: Value| {
        bench.call(tool, arguments).expect("the example is good")
    };
    call(&mut bench, "records.define", dayshift_engine::map! { "table" => Value::Map(payments) });
    good(
        &mut bench,
        "records.import",
        r#"{"table": "suppliers", "rows": [{"id": "S-1", "name": "Rohde", "limit": "1500"}, {"id": "S-2", "name": "Brandt", "status": "blocked", "limit": 10}]}"#,
    );
    call(&mut bench, "records.import", dayshift_engine::map! { "table" => "payments", "rows" => rows });
    bench
}

impl RecordsState {
    fn digest_now(&self) -> dayshift_engine::StateDigest {
        crate::service::Service::digest(self)
    }

    fn dump_now(&self) -> Value {
        crate::service::Service::dump(self)
    }
}
