//! Mutants of the reference solution: agents that do one thing wrong. They are made automatically, in one fixed order, and a scenario that
//! lets too many of them pass can be hacked. How they fare is decided elsewhere.

use std::sync::{Arc, LazyLock};

use dayshift_engine::{Effect, SmolStr, ToolCall, Value, World, map};
use dayshift_scenarios::{Solution, SolutionCall};
use dayshift_services::Office;
use regex::Regex;
use serde::Serialize;

use super::literals::{Changes, nudge};

/// How many mutants are tried; of more, an evenly spaced sample.
pub const MUTANTS_MAX: usize = 400;

/// Arguments that say where or to whom, not what: a wrong one is another kind of mutant than a wrong literal.
const ADDRESSING: [&str; 33] = [
    "table",
    "id",
    "book",
    "range",
    "worksheet",
    "path",
    "source",
    "target",
    "destination",
    "folder",
    "uid",
    "message_id",
    "to",
    "cc",
    "bcc",
    "with",
    "channel",
    "action",
    "attachments",
    "attachment",
    "mode",
    "in_reply_to",
    "overwrite",
    "old",
    "calendar",
    "event",
    "page",
    "database",
    "parent",
    "block",
    "attendees",
    "add",
    "remove",
];

/// Arguments that hold the content of a file or page.
const CONTENT: [&str; 3] = ["text", "content", "markdown"];

/// What a mutant does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MutantKind {
    /// It leaves out a call.
    LeftOutCall,
    /// It leaves out a turn's calls.
    LeftOutTurn,
    /// It gets numbers, dates and ids wrong by one.
    WrongLiteral,
    /// It writes to another cell, row, path or thread.
    WrongPlace,
    /// It tells somebody else.
    WrongRecipient,
    /// It leaves a file empty.
    Emptied,
    /// It forwards everything to everybody.
    Broadcast,
}

/// One mutant.
#[derive(Clone, Debug)]
pub(super) struct Mutant {
    pub(super) kind: MutantKind,
    pub(super) day: SmolStr,
    /// The turn of the day, from 1.
    pub(super) turn: usize,
    /// The line of the solution that was changed.
    pub(super) line: u32,
    /// What was changed, in words.
    pub(super) change: String,
    pub(super) solution: Arc<Solution>,
}

/// What mutants know of the world that the reference solution leaves behind.
#[derive(Debug, Default)]
pub(super) struct Surroundings {
    /// Names and addresses of everybody but the agent.
    pub(super) people: Vec<(SmolStr, SmolStr)>,
    /// By table: the ids of its rows.
    pub(super) rows: Vec<(SmolStr, Vec<SmolStr>)>,
    /// The ids of the messages in the agent's inbox.
    pub(super) inbox: Vec<SmolStr>,
}

/// Returns the mutants of `reference`, and how many were left out by sampling.
pub(super) fn mutants(reference: &Solution, around: &Surroundings) -> (Vec<Mutant>, usize) {
    let mut all = Vec::new();
    for (day, (name, turns)) in reference.days.iter().enumerate() {
        for (turn, each) in turns.iter().enumerate() {
            let at = |line, kind, change, solution| Mutant {
                kind,
                day: name.clone(),
                turn: turn + 1,
                line,
                change,
                solution: Arc::new(solution),
            };
            for (index, call) in each.calls.iter().enumerate().filter(|(_, call)| writes(call)) {
                let mut without = reference.clone();
                without.days[day].1[turn].calls.remove(index);
                let change = format!("{} was left out", call.tool);
                all.push(at(call.line, MutantKind::LeftOutCall, change, without));
                for (kind, change, changed) in changed_calls(call, around) {
                    let mut mutated = reference.clone();
                    mutated.days[day].1[turn].calls[index] = changed;
                    all.push(at(call.line, kind, format!("{}: {change}", call.tool), mutated));
                }
            }
            if each.calls.iter().filter(|call| writes(call)).count() > 1 {
                let mut without = reference.clone();
                without.days[day].1[turn].calls.clear();
                let change = format!("the turn's {} calls were left out", each.calls.len());
                all.push(at(each.line, MutantKind::LeftOutTurn, change, without));
            }
        }
    }
    all.extend(broadcast(reference, around));
    sample(all, MUTANTS_MAX)
}

/// Returns whether a call can change the world.
pub(super) fn writes(call: &SolutionCall) -> bool {
    Office::tools().iter().any(|tool| tool.name == call.tool && tool.effect == Effect::Writes)
}

/// Returns an evenly spaced sample of at most `most` items, in their order, and how many were left out.
fn sample<T>(all: Vec<T>, most: usize) -> (Vec<T>, usize) {
    let count = all.len();
    if count <= most {
        return (all, 0);
    }
    let kept = |index: usize| index * most / count != (index + 1) * most / count;
    let sampled: Vec<T> = all.into_iter().enumerate().filter(|(index, _)| kept(*index)).map(|(_, item)| item).collect();
    let left_out = count - sampled.len();
    (sampled, left_out)
}

/// Returns the wrong versions of one call that writes.
fn changed_calls(call: &SolutionCall, around: &Surroundings) -> Vec<(MutantKind, String, SolutionCall)> {
    let wrong = [
        (MutantKind::WrongLiteral, wrong_literal(call)),
        (MutantKind::WrongPlace, wrong_place(call, around)),
        (MutantKind::WrongRecipient, wrong_recipient(call, around)),
        (MutantKind::Emptied, emptied(call)),
    ];
    wrong.into_iter().filter_map(|(kind, found)| found.map(|(change, call)| (kind, change, call))).collect()
}

fn with(call: &SolutionCall, name: &str, value: Value) -> SolutionCall {
    let mut changed = call.clone();
    if let Value::Map(arguments) = &mut changed.arguments {
        arguments.insert(name.into(), value);
    }
    changed
}

fn wrong_literal(call: &SolutionCall) -> Option<(String, SolutionCall)> {
    let mut changed = call.clone();
    let mut changes = Changes::default();
    if let Value::Map(arguments) = &mut changed.arguments {
        let content = arguments.iter_mut().filter(|(name, _)| !ADDRESSING.contains(&name.as_str()));
        content.for_each(|(_, value)| nudge(value, &mut changes));
    }
    (!changes.is_empty()).then(|| (changes.shown(), changed))
}

fn wrong_place(call: &SolutionCall, around: &Surroundings) -> Option<(String, SolutionCall)> {
    let asked = ToolCall::new(call.tool.clone(), call.arguments.clone());
    if let Some(range) = asked.optional_text("range") {
        let shifted = next_row(range)?;
        return Some((format!("range {range} became {shifted}"), with(call, "range", shifted.into())));
    }
    if let (Some(table), Some(id)) = (asked.optional_text("table"), asked.optional_text("id")) {
        let rows = around.rows.iter().find(|(name, _)| name == table).map(|(_, rows)| rows)?;
        let other = after(rows, |row| row == id)?;
        return Some((format!("row {id} became {other}"), with(call, "id", other.clone().into())));
    }
    if let Some(path) = asked.optional_text("path") {
        let other = beside(path);
        return Some((format!("path {path} became {other}"), with(call, "path", other.into())));
    }
    if let Some(id) = asked.optional_text("message_id") {
        let other = after(&around.inbox, |message| message == id)?;
        return Some((format!("message {id} became {other}"), with(call, "message_id", other.clone().into())));
    }
    None
}

fn wrong_recipient(call: &SolutionCall, around: &Surroundings) -> Option<(String, SolutionCall)> {
    let asked = ToolCall::new(call.tool.clone(), call.arguments.clone());
    for name in ["to", "attendees"] {
        if asked.list(name).is_empty() {
            continue;
        }
        let told: Vec<&str> = ["to", "cc", "bcc", "attendees"].iter().flat_map(|name| asked.texts(name)).collect();
        let is_told = |address: &SmolStr| told.iter().any(|text| text.contains(address.as_str()));
        let addresses: Vec<SmolStr> = around.people.iter().map(|(_, address)| address.clone()).collect();
        let start = addresses.iter().position(&is_told).unwrap_or(0);
        let mut others = addresses.iter().cycle().skip(start).take(addresses.len());
        let other = others.find(|address| !is_told(address))?;
        return Some((format!("'{name}' became {other}"), with(call, name, Value::List(vec![other.clone().into()]))));
    }
    let names: Vec<SmolStr> = around.people.iter().map(|(name, _)| name.clone()).collect();
    if let Some(person) = asked.optional_text("with") {
        let other = after(&names, |name| name == person)?;
        return Some((format!("'with' {person} became {other}"), with(call, "with", other.clone().into())));
    }
    let channel = asked.optional_text("channel")?;
    let other = names.first()?;
    let changed = with(&with(call, "channel", Value::Null), "with", other.clone().into());
    Some((format!("channel {channel} became a message to {other} alone"), changed))
}

fn emptied(call: &SolutionCall) -> Option<(String, SolutionCall)> {
    let service = call.tool.split('.').next().unwrap_or_default();
    if !["files", "knowledge"].contains(&service) {
        return None;
    }
    let held = |name: &&&str| call.arguments.get(name).and_then(Value::as_text).is_some_and(|text| !text.is_empty());
    let name = CONTENT.iter().find(held)?;
    Some((format!("'{name}' was left empty"), with(call, name, "".into())))
}

/// Returns the reference with all of the inbox forwarded to everybody at the end of its last day.
fn broadcast(reference: &Solution, around: &Surroundings) -> Option<Mutant> {
    if around.inbox.is_empty() || around.people.is_empty() {
        return None;
    }
    let everybody: Vec<SmolStr> = around.people.iter().map(|(_, address)| address.clone()).collect();
    let mut solution = reference.clone();
    let (day, turns) = solution.days.last_mut().filter(|(_, turns)| !turns.is_empty())?;
    let (day, turn) = (day.clone(), turns.len());
    let last = turns.last_mut()?;
    let line = last.line;
    last.calls.extend(around.inbox.iter().map(|id| SolutionCall {
        line,
        tool: "mail.forward".into(),
        arguments: map! { "message_id" => id.clone(), "to" => everybody.clone(), "body" => "For your information." },
        answer_name: None,
    }));
    if last.say.is_none() {
        last.say = Some(String::new());
    }
    let change =
        format!("the inbox's {} messages were forwarded to all {} people", around.inbox.len(), everybody.len());
    Some(Mutant { kind: MutantKind::Broadcast, day, turn, line, change, solution: Arc::new(solution) })
}

/// Returns the item after the one that `is_it`, the first again after the last; the first if there is none.
fn after(items: &[SmolStr], is_it: impl Fn(&SmolStr) -> bool) -> Option<&SmolStr> {
    let next = items.iter().position(&is_it).map_or(0, |at| at + 1);
    items.get(next % items.len().max(1)).filter(|item| !is_it(item))
}

/// Returns a range one row further down; nothing for a range without rows.
fn next_row(range: &str) -> Option<String> {
    static ROW: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(\$?[A-Za-z]{1,3}\$?)(\d+)").expect("a constant pattern compiles"));
    let (sheet, cells) = range.rsplit_once('!').map_or((None, range), |(sheet, cells)| (Some(sheet), cells));
    if !ROW.is_match(cells) {
        return None;
    }
    let shifted = ROW.replace_all(cells, |found: &regex::Captures<'_>| {
        let row: u64 = found[2].parse().unwrap_or_default();
        format!("{}{}", &found[1], row + 1)
    });
    Some(sheet.map_or_else(|| shifted.to_string(), |sheet| format!("{sheet}!{shifted}")))
}

/// Returns a path beside `path`, the name marked.
fn beside(path: &str) -> String {
    let name = path.rfind('/').map_or(0, |slash| slash + 1);
    match path[name..].rfind('.') {
        Some(dot) if dot > 0 => format!("{}-2{}", &path[..name + dot], &path[name + dot..]),
        _ => format!("{path}-2"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(tool: &str, arguments: Value) -> SolutionCall {
        SolutionCall { line: 1, tool: tool.into(), arguments, answer_name: None }
    }

    fn around() -> Surroundings {
        Surroundings {
            people: vec![("ben".into(), "ben@acme.example".into()), ("carla".into(), "carla@x.example".into())],
            rows: vec![("orders".into(), vec!["O-7".into(), "O-8".into()])],
            inbox: vec!["a@x".into()],
        }
    }

    #[test]
    fn a_range_moves_down_one_row() {
        assert_eq!(next_row("Run!G8:H8").as_deref(), Some("Run!G9:H9"));
        assert_eq!(next_row("'Q1 x'!$A$9").as_deref(), Some("'Q1 x'!$A$10"));
        assert_eq!(next_row("Sign-off"), None);
    }

    #[test]
    fn a_path_gets_a_marked_name() {
        assert_eq!(beside("/a.b/note.md"), "/a.b/note-2.md");
        assert_eq!(beside("/a.b/note"), "/a.b/note-2");
    }

    #[test]
    fn a_call_is_made_wrong_in_every_way_that_fits_it() {
        let update =
            call("records.update", map! { "table" => "orders", "id" => "O-8", "values" => map! { "paid" => 95_i64 } });
        let shown: Vec<String> = changed_calls(&update, &around()).into_iter().map(|(_, change, _)| change).collect();
        assert_eq!(shown, ["95 became 96", "row O-8 became O-7"]);
        let send = call("mail.send", map! { "to" => vec!["Ben <ben@acme.example>"], "subject" => "x", "body" => "y" });
        let shown: Vec<String> = changed_calls(&send, &around()).into_iter().map(|(_, change, _)| change).collect();
        assert_eq!(shown, ["'to' became carla@x.example"]);
        let write = call("files.write", map! { "path" => "/a.md", "text" => "z" });
        let shown: Vec<String> = changed_calls(&write, &around()).into_iter().map(|(_, change, _)| change).collect();
        assert_eq!(shown, ["path /a.md became /a-2.md", "'text' was left empty"]);
    }

    #[test]
    fn a_sample_is_evenly_spaced_and_counts_what_it_leaves_out() {
        assert_eq!(sample((0..10).collect(), 10), ((0..10).collect(), 0));
        assert_eq!(sample((0..11).collect::<Vec<_>>(), 10).0.len(), 10);
        assert_eq!(sample((0..9).collect::<Vec<_>>(), 3), (vec![2, 5, 8], 6));
    }
}
