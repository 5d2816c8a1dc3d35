//! The service on the bench: every tool, its keys, its refusals.

mod databases;
mod filters;
mod keys;
mod limits;
mod model;
mod pages;
mod relations;

use dayshift_engine::{Rejection, StateDigest, Value};

use super::KnowledgeState;
use crate::service::Service;
use crate::testing::Bench;

type Office = Bench<KnowledgeState>;

/// Returns the value that `json` writes.
fn json(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{error} in {json}"))
}

/// Makes a call with arguments written as JSON.
fn call(bench: &mut Office, tool: &str, arguments: &str) -> Result<Value, Rejection> {
    bench.call(&format!("knowledge.{tool}"), json(arguments))
}

/// Makes a call that must succeed.
fn good(bench: &mut Office, tool: &str, arguments: &str) -> Value {
    call(bench, tool, arguments).unwrap_or_else(|rejection| panic!("{tool} {arguments}: {rejection}"))
}

/// Makes a call that must be refused and change nothing; returns the code.
fn code(bench: &mut Office, tool: &str, arguments: &str) -> String {
    let before = digest(bench);
    match call(bench, tool, arguments) {
        Ok(answer) => panic!("{tool} {arguments} was answered: {answer}"),
        Err(rejection) => {
            assert_eq!(digest(bench), before, "a refusal changed the state");
            rejection.code.into_owned()
        }
    }
}

/// Asks a question with arguments written as JSON.
fn ask(bench: &mut Office, verb: &str, arguments: &str) -> Value {
    bench.ask(verb, json(arguments)).unwrap_or_else(|rejection| panic!("{verb} {arguments}: {rejection}"))
}

fn digest(bench: &Office) -> StateDigest {
    bench.service.digest()
}

/// Returns the text that stands under `key`.
fn text(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_text).unwrap_or_else(|| panic!("no text '{key}' in {value}")).to_owned()
}

/// Returns a property of a row by the row's title.
fn property(bench: &mut Office, row: &str, name: &str) -> Value {
    bench.ask("property", dayshift_engine::map! { "row" => row, "name" => name }).expect("a good question")
}

/// Returns the titles of the rows that a query finds, joined.
fn titles(bench: &mut Office, arguments: &str) -> String {
    let answer = good(bench, "query", arguments);
    let rows = answer.get("rows").and_then(Value::as_list).expect("rows");
    let title =
        |row: &Value| row.get("properties").and_then(|all| all.get("Name")).and_then(Value::as_text).map(str::to_owned);
    rows.iter().map(|row| title(row).expect("a name")).collect::<Vec<_>>().join(" ")
}

/// Returns the example of the module's documentation, as the loader would read it.
fn example() -> Value {
    let source = include_str!("../knowledge.rs");
    let yaml = source.split("```").nth(1).expect("an example").strip_prefix("yaml").expect("it is YAML");
    let yaml: String = yaml
        .lines()
        .map(|line| line.trim_start_matches("//!").strip_prefix(' ').unwrap_or(""))
        .fold(String::new(), |text, line| text + line + "\n");
    serde_saphyr::from_str(&yaml).expect("the example is YAML")
}

/// Returns a bench with the documented database `Vendors`, laid out as the loader would.
fn vendors() -> Office {
    let mut bench = Bench::new(KnowledgeState::new());
    let Value::Map(mut database) = example() else { panic!("the example is an object") };
    let rows = database.remove("rows").expect("the example has rows");
    let define = dayshift_engine::map! { "database" => Value::Map(database) };
    bench.call("knowledge.define", define).expect("the example is good");
    let import = dayshift_engine::map! { "database" => "Vendors", "rows" => rows };
    bench.call("knowledge.import_rows", import).expect("the example's rows are good");
    bench
}

/// Returns a bench with a database `Tasks` of six rows, a to f.
fn tasks() -> Office {
    let mut bench = Bench::new(KnowledgeState::new());
    good(
        &mut bench,
        "define",
        r#"{"database": {"title": "Projects", "properties": {"Name": "title", "Budget": "number"}}}"#,
    );
    good(
        &mut bench,
        "import_rows",
        r#"{"database": "Projects", "rows": [{"Name": "Alpha", "Budget": 10}, {"Name": "Beta"}]}"#,
    );
    good(
        &mut bench,
        "define",
        r#"{"database": {"title": "Tasks", "properties": [
            {"name": "Name", "type": "title"}, {"name": "Note", "type": "text"}, {"name": "Hours", "type": "number"},
            {"name": "Size", "type": "select", "options": ["S", "M", "L"]}, {"name": "Tags", "type": "multi_select"},
            {"name": "State", "type": "status"}, {"name": "Due", "type": "date"}, {"name": "Done", "type": "checkbox"},
            {"name": "Who", "type": "people"}, {"name": "Project", "type": "relation", "database": "Projects"},
            {"name": "Budgets", "type": "rollup", "relation": "Project", "property": "Budget", "function": "show_original"},
            {"name": "Budget", "type": "rollup", "relation": "Project", "property": "Budget", "function": "sum"},
            {"name": "Cost", "type": "formula", "expression": "prop(\"Hours\") * 100"},
            {"name": "Late", "type": "formula", "expression": "not empty(prop(\"Due\")) and prop(\"Due\") < today()"},
            {"name": "Papers", "type": "files"}, {"name": "Made", "type": "created_time"}, {"name": "By", "type": "created_by"}]}}"#,
    );
    good(
        &mut bench,
        "import_rows",
        r#"{"database": "Tasks", "rows": [
            {"Name": "a", "Note": "Call Bob", "Hours": 3, "Size": "L", "Tags": ["x"], "State": "Done", "Due": "2026-03-16", "Project": "Alpha"},
            {"Name": "b", "Note": "call ann", "Hours": 1.5, "Size": "S", "Tags": ["x", "y"], "Due": "2026-03-15", "Done": true, "Who": ["Ann Lee"]},
            {"Name": "c", "Hours": 3, "Size": "M", "Due": "2026-03-20T09:00:00+01:00", "Project": ["Alpha", "Beta"]},
            {"Name": "d", "Note": "mail Bob", "Tags": "z", "Due": {"start": "2026-03-30", "end": "2026-04-02"}},
            {"Name": "e", "Hours": 0, "Size": "S", "State": "In progress", "Papers": ["/offer.pdf"]},
            {"Name": "f", "Hours": -2, "Due": "2026-02-20"}]}"#,
    );
    bench
}
