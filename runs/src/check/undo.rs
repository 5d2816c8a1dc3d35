//! How a call is undone with the agent's own tools. What cannot be undone, such as a sent mail, has no answer here.

use dayshift_engine::{Episode, ToolCall, Value, map};
use dayshift_services::Office;

use super::places::ask;

/// Returns the calls that undo `call`, as the world is before it; none yet if they need its answer ([`after`]). Nothing if it cannot be undone.
pub(super) fn before(call: &ToolCall, episode: &Episode<Office>) -> Option<Vec<ToolCall>> {
    let text = |name: &str| call.optional_text(name).unwrap_or_default();
    match call.tool.as_str() {
        "records.update" => {
            let row = ask(episode, "records.row", map! { "table" => text("table"), "id" => text("id") });
            let values = call.get("values")?.as_map()?;
            let old = values.keys().map(|name| (name.clone(), row.get(name).cloned().unwrap_or_default())).collect();
            let arguments = map! { "table" => text("table"), "id" => text("id"), "values" => Value::Map(old) };
            Some(vec![ToolCall::new("records.update", arguments)])
        }
        "sheets.write" => {
            let asked = map! { "book" => text("book"), "range" => text("range"), "as" => "formulas" };
            let rows = ask(episode, "sheets.rows", asked);
            let width = call.get("rows")?.as_list()?.iter().filter_map(Value::as_list).map(<[Value]>::len).max()?;
            let height = call.get("rows")?.as_list()?.len();
            let cell = |row: usize, column: usize| {
                let found = rows.as_list().and_then(|rows| rows.get(row)?.as_list()?.get(column).cloned());
                found.unwrap_or_default()
            };
            let old: Value =
                (0..height).map(|row| (0..width).map(|column| cell(row, column)).collect::<Value>()).collect();
            let arguments = map! { "book" => text("book"), "range" => text("range"), "rows" => old };
            Some(vec![ToolCall::new("sheets.write", arguments)])
        }
        "files.write" | "files.edit" | "files.append" | "mail.save_attachment" => {
            let old = ask(episode, "files.text", map! { "path" => text("path") });
            Some(vec![match old.as_text() {
                Some(old) => ToolCall::new("files.write", map! { "path" => text("path"), "text" => old }),
                None => ToolCall::new("files.delete", map! { "path" => text("path") }),
            }])
        }
        "knowledge.update_row" => {
            let row = ask(episode, "knowledge.row", map! { "row" => text("row") });
            let old = row.get("properties")?;
            let names = call.get("properties")?.as_map()?.keys();
            let old = names.map(|name| (name.clone(), old.get(name).cloned().unwrap_or_default())).collect();
            let arguments = map! { "row" => text("row"), "properties" => Value::Map(old) };
            Some(vec![ToolCall::new("knowledge.update_row", arguments)])
        }
        "calendar.create" | "knowledge.create_page" | "knowledge.create_row" => Some(Vec::new()),
        _ => None,
    }
}

/// Returns the call that takes away what `call` created, as its `answer` names it.
pub(super) fn after(call: &ToolCall, answer: &Value) -> Option<ToolCall> {
    match call.tool.as_str() {
        "calendar.create" => {
            let calendar = answer.get("calendar").or(call.get("calendar")).cloned().unwrap_or_default();
            let arguments = map! { "calendar" => calendar, "uid" => answer.get("uid")?.clone(), "scope" => "all" };
            Some(ToolCall::new("calendar.delete", arguments))
        }
        "knowledge.create_page" | "knowledge.create_row" => {
            let id = answer.get("id").or(answer.get("page")).or(answer.get("row"))?.clone();
            Some(ToolCall::new("knowledge.archive", map! { "page" => id }))
        }
        _ => None,
    }
}
