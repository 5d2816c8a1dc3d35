//! Mutants of the reference solution: agents that do one thing wrong. They are made automatically, in one fixed order, and a scenario that
//! lets too many of them pass can be hacked. How they fare is decided elsewhere.
//!
//! A wrong literal or place is tried where the reference makes the call. One that the world refuses there would be killed by that alone and say
//! nothing of the checks, so another is looked for that is accepted; if there is none, leaving the call out is the mutant that stands for it.

use std::collections::BTreeMap;
use std::sync::Arc;

use dayshift_engine::{Effect, SmolStr, ToolCall, Value, World, map};
use dayshift_scenarios::{Solution, SolutionCall};
use dayshift_services::Office;
use serde::Serialize;

use super::literals::{Changes, change_leaf, leaves, move_clocks, nudge};
use super::places::{Spot, wrong_places};
use super::sources;

/// How many mutants are tried; of more, an evenly spaced sample.
pub const MUTANTS_MAX: usize = 400;

/// Arguments that say where or to whom, not what: a wrong one is another kind of mutant than a wrong literal.
const ADDRESSING: [&str; 36] = [
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
    "row",
    "recurrence_id",
    "scope",
];

/// Arguments that hold the content of a file or page.
const CONTENT: [&str; 3] = ["text", "content", "markdown"];

/// How many literals of a call are tried one by one when the call with all of them wrong is refused.
const LEAVES_TRIED_MAX: usize = 24;

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
    /// It gets a value wrong, and makes the world's registers, sheets and files say so too.
    EditedSource,
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
    /// How many calls of the day it has in common with the reference.
    pub(super) common: usize,
}

/// What mutants know of the world that the reference solution lives in.
#[derive(Default)]
pub(super) struct Surroundings {
    /// Names and addresses of everybody but the agent.
    pub(super) people: Vec<(SmolStr, SmolStr)>,
    /// The agent's address.
    pub(super) agent: SmolStr,
    /// The ids of the messages that are in the agent's inbox in the end.
    pub(super) inbox: Vec<SmolStr>,
    /// The calls of the reference solution at their moments, by day and number from 0.
    pub(super) spots: BTreeMap<(SmolStr, usize), Spot>,
}

/// Returns the mutants of `reference`, and how many were left out by sampling.
pub(super) fn mutants(reference: &Solution, around: &Surroundings) -> (Vec<Mutant>, usize) {
    let mut all = Vec::new();
    for (day, (name, turns)) in reference.days.iter().enumerate() {
        let mut nth = 0;
        for (turn, each) in turns.iter().enumerate() {
            let at = |line, kind, change, solution, common| Mutant {
                kind,
                day: name.clone(),
                turn: turn + 1,
                line,
                change,
                solution: Arc::new(solution),
                common,
            };
            let first = nth;
            nth += each.calls.len();
            for (index, call) in each.calls.iter().enumerate().filter(|(_, call)| writes(call)) {
                let mut without = reference.clone();
                without.days[day].1[turn].calls.remove(index);
                let change = format!("{} was left out", call.tool);
                all.push(at(call.line, MutantKind::LeftOutCall, change, without, first + index));
                let spot = around.spots.get(&(name.clone(), first + index));
                for (kind, change, changed) in changed_calls(call, spot, around) {
                    let mut mutated = reference.clone();
                    mutated.days[day].1[turn].calls[index] = changed;
                    all.push(at(call.line, kind, format!("{}: {change}", call.tool), mutated, first + index));
                }
                if let Some((change, edits, wrong)) = spot.and_then(|spot| edited_source(call, spot)) {
                    let mut mutated = reference.clone();
                    mutated.days[day].1[turn].calls[index] = wrong.call;
                    for later in calls_from(&mut mutated, day, turn, index) {
                        replace_text(&mut later.arguments, &wrong.right, &wrong.wrong);
                    }
                    mutated.days[day].1[turn].calls.splice(index..index, edits);
                    let change = format!("{}: {change}", call.tool);
                    all.push(at(call.line, MutantKind::EditedSource, change, mutated, first + index));
                }
            }
            if each.calls.iter().filter(|call| writes(call)).count() > 1 {
                let mut without = reference.clone();
                without.days[day].1[turn].calls.clear();
                let change = format!("the turn's {} calls were left out", each.calls.len());
                all.push(at(each.line, MutantKind::LeftOutTurn, change, without, first));
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

/// Returns the wrong versions of one call that writes, as they are accepted at its `spot`.
fn changed_calls(
    call: &SolutionCall,
    spot: Option<&Spot>,
    around: &Surroundings,
) -> Vec<(MutantKind, String, SolutionCall)> {
    let mut wrong: Vec<(MutantKind, String, SolutionCall)> = Vec::new();
    let mut add = |kind, found: Option<(String, SolutionCall)>| {
        wrong.extend(found.map(|(change, call)| (kind, change, call)));
    };
    add(MutantKind::WrongLiteral, wrong_literal(call, spot, nudge));
    add(MutantKind::WrongLiteral, wrong_literal(call, spot, move_clocks));
    if let Some(spot) = spot {
        for found in wrong_places(call, spot, &around.agent) {
            add(MutantKind::WrongPlace, Some(found));
        }
    }
    add(MutantKind::WrongRecipient, wrong_recipient(call, around));
    add(MutantKind::Emptied, emptied(call));
    wrong
}

fn with(call: &SolutionCall, name: &str, value: Value) -> SolutionCall {
    let mut changed = call.clone();
    if let Value::Map(arguments) = &mut changed.arguments {
        arguments.insert(name.into(), value);
    }
    changed
}

/// Returns the call with everything that `change` finds in its content changed; if that is refused, with the first single change that is not.
fn wrong_literal(
    call: &SolutionCall,
    spot: Option<&Spot>,
    change: fn(&mut Value, &mut Changes),
) -> Option<(String, SolutionCall)> {
    let mut changed = call.clone();
    let mut changes = Changes::default();
    content(&mut changed, &mut |value| change(value, &mut changes));
    if changes.is_empty() {
        return None;
    }
    let Some(spot) = spot else { return Some((changes.shown(), changed)) };
    if spot.heeds(&changed) {
        return Some((changes.shown(), changed));
    }
    (0..LEAVES_TRIED_MAX).find_map(|index| {
        let (changes, changed) = one_literal(call, index, change)?;
        spot.heeds(&changed).then(|| (changes.shown(), changed))
    })
}

/// Lets `each` change what a call carries besides where and to whom.
fn content(changed: &mut SolutionCall, each: &mut dyn FnMut(&mut Value)) {
    if let Value::Map(arguments) = &mut changed.arguments {
        let content = arguments.iter_mut().filter(|(name, _)| !ADDRESSING.contains(&name.as_str()));
        content.for_each(|(_, value)| each(value));
    }
}

/// Returns the call with what `change` finds in the text or number at `index` of its content changed; nothing if there is nothing to change.
fn one_literal(
    call: &SolutionCall,
    index: usize,
    change: fn(&mut Value, &mut Changes),
) -> Option<(Changes, SolutionCall)> {
    let mut changed = call.clone();
    let mut changes = Changes::default();
    let mut before = 0;
    content(&mut changed, &mut |value| {
        let count = leaves(value);
        if (before..before + count).contains(&index) {
            change_leaf(value, index - before, &mut |leaf| change(leaf, &mut changes));
        }
        before += count;
    });
    (!changes.is_empty()).then_some((changes, changed))
}

/// A call with one value wrong.
struct Wrong {
    call: SolutionCall,
    right: String,
    wrong: String,
}

/// Returns the call with its first literal that also stands elsewhere wrong, and the calls that edit it there.
fn edited_source(call: &SolutionCall, spot: &Spot) -> Option<(String, Vec<SolutionCall>, Wrong)> {
    (0..LEAVES_TRIED_MAX).find_map(|index| {
        let (changes, changed) = one_literal(call, index, nudge)?;
        let (right, wrong) = changes.first()?;
        let edits = sources::edits(spot.before(), right, wrong);
        let places: Vec<String> = edits.iter().map(|edit| edit.tool.to_string()).collect();
        let change = format!("{}, after {} at what says so", changes.shown(), places.join(", "));
        let found = (!edits.is_empty() && spot.heeds(&changed)).then(|| (right.to_owned(), wrong.to_owned()));
        found.map(|(right, wrong)| (change, edits, Wrong { call: changed, right, wrong }))
    })
}

/// Returns the calls of a solution from one on.
fn calls_from(
    solution: &mut Solution,
    day: usize,
    turn: usize,
    index: usize,
) -> impl Iterator<Item = &mut SolutionCall> {
    let days = solution.days.iter_mut().enumerate().skip(day);
    let turns = days.flat_map(move |(of, (_, turns))| {
        turns.iter_mut().enumerate().skip(if of == day { turn } else { 0 }).map(move |(nth, turn)| ((of, nth), turn))
    });
    turns.flat_map(move |(at, each)| each.calls.iter_mut().skip(if at == (day, turn) { index } else { 0 }))
}

/// Replaces `right` wherever it stands in the texts and numbers of `value`: whoever is wrong says so throughout.
fn replace_text(value: &mut Value, right: &str, wrong: &str) {
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Int(_) | Value::Float(_) => {
            let same = right.parse::<f64>().ok().is_some_and(|number| value.as_float() == Some(number));
            if let (true, Ok(changed)) = (same, wrong.parse::<f64>()) {
                *value = Value::Float(changed);
            }
        }
        Value::Text(text) if text.contains(right) => *text = text.replace(right, wrong).into(),
        Value::Text(_) => {}
        Value::List(items) => items.iter_mut().for_each(|item| replace_text(item, right, wrong)),
        Value::Map(map) => map.values_mut().for_each(|item| replace_text(item, right, wrong)),
    }
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
    let common = turns.iter().map(|turn| turn.calls.len()).sum();
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
    Some(Mutant { kind: MutantKind::Broadcast, day, turn, line, change, solution: Arc::new(solution), common })
}

/// Returns the item after the one that `is_it`, the first again after the last; the first if there is none.
fn after(items: &[SmolStr], is_it: impl Fn(&SmolStr) -> bool) -> Option<&SmolStr> {
    let next = items.iter().position(&is_it).map_or(0, |at| at + 1);
    items.get(next % items.len().max(1)).filter(|item| !is_it(item))
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
            inbox: vec!["a@x".into()],
            ..Surroundings::default()
        }
    }

    fn shown(call: &SolutionCall) -> Vec<String> {
        changed_calls(call, None, &around()).into_iter().map(|(_, change, _)| change).collect()
    }

    #[test]
    fn a_call_is_made_wrong_in_every_way_that_fits_it() {
        let update =
            call("records.update", map! { "table" => "orders", "id" => "O-8", "values" => map! { "paid" => 95_i64 } });
        assert_eq!(shown(&update), ["95 became 96"]);
        let send = call("mail.send", map! { "to" => vec!["Ben <ben@acme.example>"], "subject" => "x", "body" => "y" });
        assert_eq!(shown(&send), ["'to' became carla@x.example"]);
        let write = call("files.write", map! { "path" => "/a.md", "text" => "z" });
        assert_eq!(shown(&write), ["'text' was left empty"]);
        let meet =
            call("calendar.create", map! { "start" => "2026-03-16T13:00", "attendees" => Value::List(Vec::new()) });
        assert_eq!(
            shown(&meet),
            ["2026-03-16 became 2026-03-17", "2026-03-16T13:00 became 2026-03-16T14:00"],
            "the day, and the hour by itself"
        );
    }

    #[test]
    fn a_sample_is_evenly_spaced_and_counts_what_it_leaves_out() {
        assert_eq!(sample((0..10).collect(), 10), ((0..10).collect(), 0));
        assert_eq!(sample((0..11).collect::<Vec<_>>(), 10).0.len(), 10);
        assert_eq!(sample((0..9).collect::<Vec<_>>(), 3), (vec![2, 5, 8], 6));
    }
}
