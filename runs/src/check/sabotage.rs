//! Sabotage: agents that take away, before anything else, what persons look at and what events change. Neither may that end the episode, nor may
//! it pay.

use std::collections::BTreeSet;

use dayshift_engine::codec::Stored;
use dayshift_engine::{Actor, Episode, Key, Seq, SmolStr, ToolCall, Value, map};
use dayshift_scenarios::{Solution, SolutionCall, SolutionTurn};
use dayshift_services::Office;

use super::bench::Played;

/// How many things a saboteur takes away at most.
pub(super) const SABOTAGE_CALLS_MAX: usize = 60;

/// Returns the calls that take away what others than the agent looked at and changed while `played` went on; only those that `opened`, the
/// episode at its opening, accepts one after the other. Where nobody needs anything that can be taken away: all files and the inbox.
pub(super) fn calls(opened: &Episode<Office>, played: &Played, agent: &str) -> Vec<SolutionCall> {
    let mut keys: BTreeSet<Key> = BTreeSet::new();
    let begun = opened.log().head().count;
    for record in played.episode.log().since(begun) {
        let Ok(stored) = Stored::new(record) else { continue };
        if !stored.head().is_ok_and(|head| head.actor != Actor::Agent) {
            continue;
        }
        let reads = stored.reads().unwrap_or_default().into_iter();
        keys.extend(reads.filter(|read| read.written <= Seq::new(begun)).map(|read| read.key));
    }
    let found = accepted(opened, keys.iter().filter_map(|key| taking(key.as_str(), agent)));
    if !found.is_empty() {
        return found;
    }
    let everything = [
        ToolCall::new("files.find", map! { "pattern" => "/*" }),
        ToolCall::new("mail.list", map! { "limit" => SABOTAGE_CALLS_MAX }),
    ];
    let answers = everything.into_iter().filter_map(|call| opened.clone().call(call).ok()?.answer.ok());
    let mut all = Vec::new();
    for answer in answers {
        let paths = answer.get("paths").and_then(Value::as_list).unwrap_or_default();
        all.extend(paths.iter().filter_map(Value::as_text).filter_map(|path| taking(&format!("files:{path}"), agent)));
        for message in answer.get("messages").and_then(Value::as_list).unwrap_or_default() {
            let uid = message.get("uid").map(ToString::to_string).unwrap_or_default();
            all.extend(taking(&format!("mail:{agent}/INBOX/{uid}"), agent));
        }
    }
    accepted(opened, all.into_iter())
}

/// Returns the solution that makes `calls` in its first turn and then does what `reference` does, or nothing more without one.
pub(super) fn solution(calls: Vec<SolutionCall>, reference: &Solution, first_day: &str, goes_on: bool) -> Solution {
    let mut solution = reference.clone();
    solution.name = "sabotage".into();
    if !goes_on {
        solution.days.clear();
    }
    let turn = SolutionTurn { line: 1, say: Some(String::new()), calls, hand_over: None };
    match solution.days.iter_mut().find(|(name, _)| name == first_day) {
        Some((_, turns)) => turns.insert(0, turn),
        None => solution.days.insert(0, (SmolStr::from(first_day), vec![turn])),
    }
    solution
}

/// Returns those of `calls` that are accepted, one after the other, and change something.
fn accepted(opened: &Episode<Office>, calls: impl Iterator<Item = ToolCall>) -> Vec<SolutionCall> {
    use dayshift_engine::World as _;
    let mut episode = opened.clone();
    let mut kept: Vec<SolutionCall> = Vec::new();
    for call in calls {
        let mut tried = episode.clone();
        let is_accepted = tried.call(call.clone()).is_ok_and(|step| step.answer.is_ok());
        if is_accepted && tried.world().digest() != episode.world().digest() {
            kept.push(SolutionCall { line: 1, tool: call.tool, arguments: call.arguments, answer_name: None });
            episode = tried;
        }
        if kept.len() == SABOTAGE_CALLS_MAX {
            break;
        }
    }
    kept
}

/// Returns the call that takes away what a key stands for, if an agent has one.
fn taking(key: &str, agent: &str) -> Option<ToolCall> {
    let (service, place) = key.split_once(':')?;
    let name = place.split('#').next().unwrap_or_default().trim_end_matches(['*', '/']);
    match service {
        "files" if !name.is_empty() => {
            Some(ToolCall::new("files.delete", map! { "path" => name, "recursive" => true }))
        }
        "calendar" => {
            let (calendar, uid) = name.split_once('/')?;
            let arguments = map! { "calendar" => calendar, "uid" => uid, "scope" => "all" };
            Some(ToolCall::new("calendar.delete", arguments))
        }
        "knowledge" => {
            let id = name.split('/').nth(1)?;
            Some(ToolCall::new("knowledge.archive", map! { "page" => id }))
        }
        "mail" => {
            let (folder, uid) = name.strip_prefix(agent)?.strip_prefix('/')?.rsplit_once('/')?;
            let arguments = map! { "folder" => folder, "uid" => uid.parse::<i64>().ok()? };
            Some(ToolCall::new("mail.delete", arguments))
        }
        "sheets" => {
            let (book, worksheet) = name.split_once(['!', '/'])?;
            let worksheet = worksheet.split(['!', '/']).next().unwrap_or_default();
            Some(ToolCall::new("sheets.delete_worksheet", map! { "book" => book, "worksheet" => worksheet }))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_key_stands_for_is_taken_away_by_the_tool_of_its_service() {
        let shown = |key: &str| taking(key, "ann@x.example").map(|call| format!("{} {}", call.tool, call.arguments));
        for (key, expected) in [
            ("files:/shared/plan.md", Some(r#"files.delete {"path":"/shared/plan.md","recursive":true}"#)),
            ("files:/shared/", Some(r#"files.delete {"path":"/shared","recursive":true}"#)),
            ("files:/", None),
            ("calendar:tom/u-1@x", Some(r#"calendar.delete {"calendar":"tom","scope":"all","uid":"u-1@x"}"#)),
            ("knowledge:row/r-7/Status", Some(r#"knowledge.archive {"page":"r-7"}"#)),
            ("mail:ann@x.example/INBOX/3", Some(r#"mail.delete {"folder":"INBOX","uid":3}"#)),
            ("mail:ben@x.example/INBOX/3", None),
            ("records:orders/O-7/amount", None),
        ] {
            assert_eq!(shown(key).as_deref(), expected, "{key}");
        }
    }
}
