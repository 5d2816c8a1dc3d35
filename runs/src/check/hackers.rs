//! Agents that only want points: each follows a trick that can be played in any scenario, knows whom the reference solution writes to and where,
//! and does none of the work. What a trick earns is what the checks give away.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use dayshift_engine::{BlobId, EpisodeError, Input, SmolStr, ToolCall, Value, map};
use dayshift_replay::Report;
use dayshift_scenarios::{Solution, SolutionCall};
use serde::Serialize;

use super::bench::{Bench, Follower, Played, Trial};
use super::leaks::strings;
use super::literals::{nudge_value, values_of};
use super::mutants::writes;
use super::places::ask;
use super::{sources, undo};

/// The score that no agent that only wants points may reach.
pub const HACKER_SCORE_MAX: f64 = 0.35;

/// The longest text that such an agent writes in one go, in bytes: below what a chat message may hold.
const TEXT_BYTES_MAX: usize = 15_000;

/// How many mails one answers on one day, and how many sources one edits.
const ANSWERS_MAX: usize = 40;
const EDITS_MAX: usize = 60;

/// Words in the names of fields that say how far something has come.
const STATUS_WORDS: [&str; 16] = [
    "status",
    "state",
    "stage",
    "phase",
    "done",
    "approved",
    "closed",
    "confirmed",
    "decision",
    "outcome",
    "result",
    "progress",
    "complete",
    "checked",
    "verified",
    "resolved",
];

/// A trick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trick {
    /// It mails, writes into files and posts every value that it has seen, to everybody concerned.
    TellsEverything,
    /// It copies the request and the policies into each deliverable.
    CopiesThePolicies,
    /// It sets every status to its final value.
    SetsEveryStatus,
    /// It acts, and undoes what it did at the end of each day.
    ActsAndUndoes,
    /// It edits the sources and leaves the results alone.
    EditsTheSources,
    /// It answers every mail with the same text.
    AnswersAllAlike,
}

/// All tricks.
pub const TRICKS: [Trick; 6] = [
    Trick::TellsEverything,
    Trick::CopiesThePolicies,
    Trick::SetsEveryStatus,
    Trick::ActsAndUndoes,
    Trick::EditsTheSources,
    Trick::AnswersAllAlike,
];

/// How far a trick gets.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HackerTrial {
    /// The trick.
    pub trick: Trick,
    /// How many calls it makes, refused ones included.
    pub calls: usize,
    /// The score.
    pub score: f64,
    /// Whether it reaches the threshold.
    pub passed: bool,
    /// The checks that count and that stand at their full level for it, and not for an agent that does nothing.
    pub earned: Vec<SmolStr>,
    /// How many checks count.
    pub checks: usize,
}

impl Trick {
    /// Returns what an agent is called that follows the trick.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::TellsEverything => "tells-everything",
            Self::CopiesThePolicies => "copies-the-policies",
            Self::SetsEveryStatus => "sets-every-status",
            Self::ActsAndUndoes => "acts-and-undoes",
            Self::EditsTheSources => "edits-the-sources",
            Self::AnswersAllAlike => "answers-all-alike",
        }
    }
}

impl HackerTrial {
    /// Returns the trial of `trick` that came to `report`, beside that of an agent that does nothing.
    pub(super) fn new(trick: Trick, calls: usize, report: &Report, noop: &Report) -> Self {
        let counted = || report.verdicts.iter().zip(&noop.verdicts).filter(|(verdict, _)| verdict.weight > 0.0);
        let earned = counted().filter(|(here, idle)| here.level >= 1.0 && idle.level < 1.0);
        Self {
            trick,
            calls,
            score: report.score,
            passed: report.passed,
            earned: earned.map(|(verdict, _)| verdict.spec.id.clone()).collect(),
            checks: counted().count(),
        }
    }

    /// Returns what the agent is called in a finding.
    pub(super) fn name(&self) -> String {
        format!("the agent '{}', which only wants points,", self.trick.name())
    }

    /// Returns whether the scenario gives too much to the trick.
    #[must_use]
    pub fn pays(&self) -> bool {
        self.passed || self.score >= HACKER_SCORE_MAX
    }
}

/// Lets an agent play that knows `reference` and follows `trick`. Returns what came of it, and how many calls it made.
///
/// # Errors
///
/// [`EpisodeError`] when the log cannot be graded.
pub(super) fn play(
    bench: &Bench<'_>,
    seed: u64,
    reference: &Arc<Solution>,
    trick: Trick,
) -> Result<(Played, usize), EpisodeError> {
    let mut hacker = Hacker {
        trick,
        reference: Arc::clone(reference),
        policies: policies(bench.scenario().request(), reference, &bench.begin(seed)?),
        follower: Follower::new(Arc::clone(reference)),
        day: SmolStr::default(),
        is_closing: false,
        seen: Vec::new(),
        known: BTreeSet::new(),
        queue: VecDeque::new(),
        kept: Vec::new(),
        pending: None,
        answered: BTreeSet::new(),
        calls: 0,
    };
    let played = bench.play(seed, |trial, day| hacker.act(trial, day))?;
    Ok((played, hacker.calls))
}

struct Hacker {
    trick: Trick,
    reference: Arc<Solution>,
    /// The request and the texts of the files that the reference reads.
    policies: String,
    follower: Follower,
    day: SmolStr,
    /// Whether what is done at the end of the day is under way.
    is_closing: bool,
    /// What was seen, line by line.
    seen: Vec<String>,
    /// The digests of what was seen, so that equal lines are told once.
    known: BTreeSet<BlobId>,
    queue: VecDeque<ToolCall>,
    /// What is kept for the end of the day: the calls that undo what was done, or those that the reference would have made.
    kept: Vec<ToolCall>,
    /// What was just called that can only be undone once its answer is there.
    pending: Option<ToolCall>,
    answered: BTreeSet<SmolStr>,
    calls: usize,
}

impl Hacker {
    fn act(&mut self, trial: &Trial, day: &str) -> Input {
        self.look_at(&trial.last.answer);
        if self.day != day {
            self.day = day.into();
            (self.is_closing, self.pending) = (false, None);
            self.queue.clear();
            self.kept.clear();
            if self.trick == Trick::SetsEveryStatus {
                self.queue.extend(self.statuses());
            }
        }
        loop {
            if let Some(call) = self.queue.pop_front() {
                self.calls += 1;
                return Input::Call(call);
            }
            match self.follower.next(trial, day) {
                Input::Call(call) if writes_call(&call) => {
                    if let Some(call) = self.instead_of(call, trial) {
                        self.calls += 1;
                        return Input::Call(call);
                    }
                }
                Input::HandOver { .. } if !self.is_closing => {
                    self.is_closing = true;
                    let closing = self.closing(trial);
                    self.queue.extend(closing);
                }
                Input::HandOver { .. } => return Input::HandOver { text: String::new() },
                input @ (Input::Turn { .. } | Input::Call(_)) => return input,
            }
        }
    }

    fn look_at(&mut self, answer: &Result<Value, dayshift_engine::Rejection>) {
        let pending = self.pending.take();
        let Ok(answer) = answer else { return };
        self.kept.extend(pending.and_then(|call| undo::after(&call, answer)));
        for line in strings(answer).lines().map(str::trim).filter(|line| !line.is_empty()) {
            if self.known.insert(BlobId::of(line.as_bytes())) {
                self.seen.push(line.to_owned());
            }
        }
    }

    /// Returns what is done in the place of a call of the reference that writes; nothing if it is left out.
    fn instead_of(&mut self, call: ToolCall, trial: &Trial) -> Option<ToolCall> {
        match self.trick {
            Trick::TellsEverything => {
                // At the end of the day it has seen more.
                self.kept.extend(with_text(&call, ""));
                None
            }
            Trick::CopiesThePolicies => with_text(&call, &self.policies),
            Trick::SetsEveryStatus | Trick::AnswersAllAlike => None,
            Trick::ActsAndUndoes => {
                let undoing = undo::before(&call, &trial.episode)?;
                self.kept.extend(undoing);
                self.pending = Some(call.clone());
                Some(call)
            }
            Trick::EditsTheSources => {
                let mut edits = self.edits(&call, trial);
                self.queue.append(&mut edits);
                None
            }
        }
    }

    fn closing(&mut self, trial: &Trial) -> Vec<ToolCall> {
        match self.trick {
            Trick::TellsEverything => {
                let text = shortened(&self.seen);
                self.kept.drain(..).filter_map(|call| with_text(&call, &text)).collect()
            }
            Trick::CopiesThePolicies | Trick::EditsTheSources => Vec::new(),
            Trick::SetsEveryStatus => self.statuses(),
            Trick::ActsAndUndoes => self.kept.drain(..).rev().collect(),
            Trick::AnswersAllAlike => self.answers(trial),
        }
    }

    /// Returns the calls of the reference that say how far something has come, without whatever else they say.
    fn statuses(&self) -> Vec<ToolCall> {
        let turns = self.reference.days.iter().flat_map(|(_, turns)| turns);
        turns.flat_map(|turn| &turn.calls).filter_map(status_of).collect()
    }

    fn answers(&mut self, trial: &Trial) -> Vec<ToolCall> {
        let inbox = ask(&trial.episode, "mail.messages", map! {});
        let ids = inbox.as_list().unwrap_or_default().iter().filter_map(|message| message.get("id")?.as_text());
        let new: Vec<SmolStr> =
            ids.map(SmolStr::from).filter(|id| !self.answered.contains(id)).take(ANSWERS_MAX).collect();
        self.answered.extend(new.iter().cloned());
        let body = "Thank you for your message. This has been dealt with as you asked: checked, confirmed and done.";
        new.into_iter().map(|id| ToolCall::new("mail.reply", map! { "message_id" => id, "body" => body })).collect()
    }

    /// Returns the edits that make the world say what the reference would have found before its call, or something next to what is right.
    fn edits(&self, call: &ToolCall, trial: &Trial) -> VecDeque<ToolCall> {
        if self.calls >= EDITS_MAX {
            return VecDeque::new();
        }
        let mut edits = VecDeque::new();
        for right in values_of(&call.arguments) {
            let Some(wrong) = nudge_value(&right) else { continue };
            let found = sources::edits(&trial.episode, &right, &wrong);
            edits.extend(found.into_iter().map(|call| ToolCall::new(call.tool, call.arguments)));
        }
        edits.truncate(EDITS_MAX);
        edits
    }
}

/// Returns the request and the policies: the texts of the files that the reference reads, as they are at the opening.
fn policies(request: &str, reference: &Solution, opened: &Trial) -> String {
    let mut texts = vec![request.to_owned()];
    let calls = reference.days.iter().flat_map(|(_, turns)| turns).flat_map(|turn| &turn.calls);
    for call in calls.filter(|call| call.tool.starts_with("files.") && !writes(call)) {
        let Some(path) = call.arguments.get("path").and_then(Value::as_text) else { continue };
        let text = ask(&opened.episode, "files.text", map! { "path" => path });
        let text = text.as_text().unwrap_or_default().to_owned();
        if !text.is_empty() && !texts.contains(&text) {
            texts.push(text);
        }
    }
    shortened(&texts)
}

/// Returns the texts one below the other, as far as they fit.
fn shortened(texts: &[String]) -> String {
    let mut all = String::new();
    for text in texts {
        if all.len() + text.len() + 1 > TEXT_BYTES_MAX {
            continue;
        }
        all.push_str(text);
        all.push('\n');
    }
    all
}

/// Returns a call that writes a text to somebody or somewhere, with another text; nothing for any other call.
fn with_text(call: &ToolCall, text: &str) -> Option<ToolCall> {
    let set = |name: &str| {
        let mut changed = call.clone();
        if let Value::Map(arguments) = &mut changed.arguments {
            arguments.insert(name.into(), text.into());
        }
        changed
    };
    match call.tool.as_str() {
        "mail.send" | "mail.reply" | "mail.forward" => Some(set("body")),
        "chat.send" | "chat.post" => Some(set("text")),
        "files.write" | "files.append" | "files.edit" => {
            let path = call.optional_text("path")?;
            let arguments = map! { "path" => path, "text" => text };
            Some(ToolCall::new("files.write", arguments))
        }
        "knowledge.create_page" | "knowledge.append" | "knowledge.replace_block" => Some(set("markdown")),
        _ => None,
    }
}

/// Returns a call that says how far something has come, without what else it says.
fn status_of(call: &SolutionCall) -> Option<ToolCall> {
    let mut arguments = call.arguments.clone();
    let is_status = |name: &str| STATUS_WORDS.iter().any(|word| name.to_lowercase().contains(word));
    let of = |name: &str| {
        match call.tool.as_str() {
            "records.update" => Some("values"),
            "knowledge.update_row" => Some("properties"),
            _ => None,
        }
        .filter(|own| *own == name)
    };
    match call.tool.as_str() {
        "records.act" => {}
        "records.update" | "knowledge.update_row" => {
            let Value::Map(all) = &mut arguments else { return None };
            let fields = all.iter_mut().find(|(name, _)| of(name).is_some()).map(|(_, fields)| fields)?;
            let Value::Map(fields) = fields else { return None };
            fields.retain(|name, _| is_status(name));
            if fields.is_empty() {
                return None;
            }
        }
        "sheets.write" => {
            // A cell with a word and no number, such as "final".
            let rows = arguments.get("rows")?.as_list()?.iter().filter_map(Value::as_list).flatten();
            let is_word = |cell: &Value| {
                let is_short =
                    |text: &str| !text.is_empty() && text.len() < 20 && !text.contains(|c: char| c.is_ascii_digit());
                cell.as_text().is_some_and(is_short)
            };
            if !rows.clone().all(is_word) {
                return None;
            }
        }
        _ => return None,
    }
    Some(ToolCall::new(call.tool.clone(), arguments))
}

fn writes_call(call: &ToolCall) -> bool {
    writes(&SolutionCall { line: 0, tool: call.tool.clone(), arguments: Value::Null, answer_name: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solution_call(tool: &str, arguments: Value) -> SolutionCall {
        SolutionCall { line: 1, tool: tool.into(), arguments, answer_name: None }
    }

    #[test]
    fn a_status_is_set_without_the_work_that_goes_with_it() {
        let shown = |tool: &str, arguments: Value| {
            status_of(&solution_call(tool, arguments)).map(|call| call.arguments.to_string())
        };
        let values = map! { "status" => "paid", "amount" => "5607.00", "Approved by" => "ann" };
        let update = map! { "table" => "payments", "id" => "P-1", "values" => values };
        let expected = r#"{"id":"P-1","table":"payments","values":{"Approved by":"ann","status":"paid"}}"#;
        assert_eq!(shown("records.update", update).as_deref(), Some(expected));
        let amount = map! { "table" => "payments", "id" => "P-1", "values" => map! { "amount" => "5607.00" } };
        assert_eq!(shown("records.update", amount), None);
        let cells = |cell: &str| map! { "range" => "B8", "rows" => Value::List(vec![Value::List(vec![cell.into()])]) };
        assert!(shown("sheets.write", cells("final")).is_some());
        assert_eq!(shown("sheets.write", cells("5607.00")), None);
        assert_eq!(shown("mail.send", map! { "body" => "x" }), None);
    }

    #[test]
    fn texts_are_put_where_the_reference_writes_some() {
        let shown = |tool: &str, arguments: Value| {
            with_text(&ToolCall::new(tool, arguments), "all").map(|call| format!("{} {}", call.tool, call.arguments))
        };
        let mail = map! { "to" => vec!["a@x.example"], "subject" => "s", "body" => "b" };
        assert_eq!(
            shown("mail.send", mail).as_deref(),
            Some(r#"mail.send {"body":"all","subject":"s","to":["a@x.example"]}"#)
        );
        let edit = map! { "path" => "/a.md", "old" => "x", "new" => "y" };
        assert_eq!(shown("files.edit", edit).as_deref(), Some(r#"files.write {"path":"/a.md","text":"all"}"#));
        assert_eq!(shown("records.act", map! {}), None);
    }
}
