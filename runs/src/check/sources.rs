//! Edited sources: a mutant that gets a value wrong and then makes the world say so too. It changes, with the agent's own tools, whatever shows the
//! right value to the wrong one. A check that takes the truth from a register as the agent left it calls that right.

use dayshift_engine::{Episode, ToolCall, Value, World, map};
use dayshift_scenarios::SolutionCall;
use dayshift_services::Office;

use super::literals::values_of;
use super::places::ask;

/// How many places one mutant edits at most.
const EDITS_MAX: usize = 8;

/// How many files, rows and cells are looked through for one mutant.
const LOOKED_THROUGH_MAX: usize = 2000;

/// Returns the calls that make the world at `before` say `wrong` where it says `right`, as far as the agent may; each is accepted after those before.
pub(super) fn edits(before: &Episode<Office>, right: &str, wrong: &str) -> Vec<SolutionCall> {
    let candidates =
        rows(before, right, wrong).into_iter().chain(cells(before, right, wrong)).chain(files(before, right, wrong));
    let mut episode = before.clone();
    let mut kept = Vec::new();
    for call in candidates.take(LOOKED_THROUGH_MAX) {
        let mut tried = episode.clone();
        let is_accepted = tried.call(call.clone()).is_ok_and(|step| step.answer.is_ok());
        if is_accepted && tried.world().digest() != episode.world().digest() {
            kept.push(SolutionCall { line: 0, tool: call.tool, arguments: call.arguments, answer_name: None });
            episode = tried;
        }
        if kept.len() == EDITS_MAX {
            break;
        }
    }
    kept
}

/// Returns the updates of the fields of business tables that hold `right`.
fn rows(before: &Episode<Office>, right: &str, wrong: &str) -> Vec<ToolCall> {
    let mut found = Vec::new();
    for table in texts(&ask(before, "records.tables", map! {})) {
        let rows = ask(before, "records.rows", map! { "table" => table.clone() });
        for row in rows.as_list().unwrap_or_default() {
            let Some(id) = row.get("id") else { continue };
            let fields = row.as_map().into_iter().flatten().filter(|(name, value)| *name != "id" && says(value, right));
            found.extend(fields.map(|(name, _)| {
                let values = Value::Map([(name.clone(), Value::from(wrong))].into_iter().collect());
                ToolCall::new(
                    "records.update",
                    map! { "table" => table.clone(), "id" => id.clone(), "values" => values },
                )
            }));
        }
    }
    found
}

/// Returns the writes to the cells of workbooks that show `right`.
fn cells(before: &Episode<Office>, right: &str, wrong: &str) -> Vec<ToolCall> {
    let mut found = Vec::new();
    for book in ask(before, "sheets.books", map! {}).as_list().unwrap_or_default() {
        let Some(name) = book.as_text().or_else(|| book.get("name")?.as_text()) else { continue };
        let cells = ask(before, "sheets.find", map! { "book" => name, "text" => right, "whole" => true });
        for cell in cells.as_list().unwrap_or_default() {
            let Some(place) = cell.as_text().or_else(|| cell.get("ref").or(cell.get("range"))?.as_text()) else {
                continue;
            };
            let rows = Value::List(vec![Value::List(vec![number_or_text(wrong)])]);
            found.push(ToolCall::new("sheets.write", map! { "book" => name, "range" => place, "rows" => rows }));
        }
    }
    found
}

/// Returns the edits of the files in which `right` stands.
fn files(before: &Episode<Office>, right: &str, wrong: &str) -> Vec<ToolCall> {
    let paths = texts(&ask(before, "files.find", map! { "pattern" => "**", "path" => "/" }));
    let holds = |path: &&String| {
        ask(before, "files.text", map! { "path" => path.as_str() }).as_text().is_some_and(|text| text.contains(right))
    };
    let edit = |path: &String| {
        let arguments = map! { "path" => path.as_str(), "old" => right, "new" => wrong, "replace_all" => true };
        ToolCall::new("files.edit", arguments)
    };
    paths.iter().take(LOOKED_THROUGH_MAX).filter(holds).map(edit).collect()
}

fn says(value: &Value, right: &str) -> bool {
    match value {
        Value::Text(text) => {
            text == right || !text.is_empty() && values_of(value) == values_of(&Value::from(right)) && text.len() < 40
        }
        Value::Int(_) | Value::Float(_) => {
            right.parse::<f64>().ok().is_some_and(|number| value.as_float() == Some(number))
        }
        Value::Null | Value::Bool(_) | Value::List(_) | Value::Map(_) => false,
    }
}

fn number_or_text(text: &str) -> Value {
    match (text.parse::<i64>(), text.parse::<f64>()) {
        (Ok(number), _) => number.into(),
        (_, Ok(number)) if number.is_finite() => number.into(),
        _ => text.into(),
    }
}

/// Returns the texts of a list, or the paths or names of its entries.
fn texts(list: &Value) -> Vec<String> {
    let text =
        |item: &Value| item.as_text().or_else(|| item.get("path").or(item.get("name"))?.as_text()).map(str::to_owned);
    list.as_list().unwrap_or_default().iter().filter_map(text).collect()
}
