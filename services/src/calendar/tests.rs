//! Tests of calendars on the bench. Not for the libraries that read, write and count, which have their own.

mod changing;
mod creating;
mod importing;
mod inviting;
mod limits;
mod looking;
mod model;
mod python;

use dayshift_engine::{Rejection, Value, map};

use super::CalendarState;
use crate::testing::Bench;

/// Returns a bench with the calendars `team` (nobody's), `ann` and `bob`.
fn bench() -> Bench<CalendarState> {
    let mut bench = Bench::new(CalendarState::default());
    make(&mut bench, "team", None);
    make(&mut bench, "ann", Some("ann@acme.example"));
    make(&mut bench, "bob", Some("bob@acme.example"));
    bench
}

fn make(bench: &mut Bench<CalendarState>, calendar: &str, owner: Option<&str>) {
    let arguments = map! { "calendar" => calendar, "owner" => owner };
    bench.call("calendar.make", arguments).expect("a calendar that can be made");
}

/// Creates an event and returns its uid; `more` holds further arguments.
fn create(bench: &mut Bench<CalendarState>, calendar: &str, start: &str, end: &str, more: Value) -> String {
    let mut arguments = map! { "calendar" => calendar, "summary" => "Meeting", "start" => start, "end" => end };
    merge(&mut arguments, more);
    let answer = bench.call("calendar.create", arguments).expect("an event that can be created");
    text(&answer, "uid").to_owned()
}

/// Calls `tool` on the event `uid` in `calendar` with further arguments.
fn act(
    bench: &mut Bench<CalendarState>,
    tool: &str,
    calendar: &str,
    uid: &str,
    more: Value,
) -> Result<Value, Rejection> {
    let mut arguments = map! { "calendar" => calendar, "uid" => uid };
    merge(&mut arguments, more);
    bench.call(tool, arguments)
}

fn merge(into: &mut Value, more: Value) {
    if let (Value::Map(into), Value::Map(more)) = (into, more) {
        into.extend(more);
    }
}

/// Returns the starts of what is in `calendar` between two times, as the agent sees them.
fn starts(bench: &mut Bench<CalendarState>, calendar: &str, from: &str, until: &str) -> Vec<String> {
    events(bench, calendar, from, until).iter().map(|event| text(event, "start").to_owned()).collect()
}

fn events(bench: &mut Bench<CalendarState>, calendar: &str, from: &str, until: &str) -> Vec<Value> {
    let arguments = map! { "calendar" => calendar, "from" => from, "until" => until, "limit" => 500_i64 };
    let answer = bench.call("calendar.events", arguments).expect("a good range");
    list(&answer, "events").to_vec()
}

fn import(bench: &mut Bench<CalendarState>, calendar: &str, source: &[u8]) -> Value {
    let blob = bench.blob(source);
    bench
        .call("calendar.import", map! { "calendar" => calendar, "blob" => blob })
        .unwrap_or_else(|refusal| panic!("a file that can be imported: {refusal}"))
}

fn export(bench: &Bench<CalendarState>, calendar: &str) -> Vec<u8> {
    use dayshift_engine::{Blobs as _, Content};
    let load = |content: &Content| match content {
        Content::Inline(bytes) => Ok(bytes.clone()),
        Content::Blob { id, .. } => bench.blobs.get(*id).ok_or(()),
    };
    bench.service.export(calendar, load).expect("all blobs are there").expect("a calendar")
}

/// Wraps lines into a file.
fn file(lines: &str) -> Vec<u8> {
    let body = lines.trim().replace('\n', "\r\n");
    format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Test//EN\r\n{body}\r\nEND:VCALENDAR\r\n").into_bytes()
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_text).unwrap_or_else(|| panic!("no text {name} in {value}"))
}

fn int(value: &Value, name: &str) -> i64 {
    value.get(name).and_then(Value::as_int).unwrap_or_else(|| panic!("no number {name} in {value}"))
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_list).unwrap_or_else(|| panic!("no list {name} in {value}"))
}

fn code(result: Result<Value, Rejection>) -> String {
    result.expect_err("a refusal").code.into_owned()
}
