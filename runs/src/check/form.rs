//! Form: what can be said of a scenario without playing it, beyond what its loader refuses.

use dayshift_engine::{Audience, Episode, Frame, Looking, Moment, ToolCall, Value, World, map};
use dayshift_scenarios::{Lines, Scenario, Solution};
use dayshift_services::Office;
use regex::Regex;

use super::finding::{Findings, Place};

const MANIFEST: &str = "scenario.yaml";
const CHECKS: &str = "checks.star";

/// Holds a scenario against the rules of form.
pub(super) fn examine(scenario: &Scenario<Office>, lines: &Lines, findings: &mut Findings) {
    requirements(scenario, lines, findings);
    functions(scenario, lines, findings);
    for solution in scenario.solutions() {
        calls(solution, findings);
    }
    if !scenario.solutions().iter().any(|solution| solution.name == "reference") {
        let message = "the scenario has no reference solution, so nobody knows that it is solvable";
        let remedy = "record one as solutions/reference.yaml";
        findings.error("scenario/no-reference", Place::new("solutions/reference.yaml", None), message, remedy);
    }
    if !scenario.solutions().iter().any(|solution| must_fail(solution)) {
        let message = "the scenario has no solution that must fail";
        let remedy = "record what a careless agent does as solutions/bad-NAME.yaml, with the checks that it fails";
        findings.warning("scenario/no-bad-solution", Place::new("solutions/", None), message, remedy);
    }
}

/// Asks the business tables of the initial world for references that lead nowhere and rules that cannot be read.
pub(super) fn records(episode: &Episode<Office>, findings: &mut Findings) {
    let frame = Frame::new();
    let looking = Looking { time: episode.now(), frame: &frame, blobs: &**episode.blobs() };
    let problems = episode.world().query("records.problems", &map! {}, &looking).unwrap_or_default();
    for problem in problems.as_list().unwrap_or_default().iter().filter_map(Value::as_text) {
        let table = problem.split('.').next().unwrap_or_default();
        let place = Place::new(format!("world/records/{table}.yaml"), None);
        let remedy = "add the row or table that is meant, or correct the reference or rule";
        findings.error("scenario/bad-records", place, problem, remedy);
    }
}

/// Asks the calendars of the initial world for times that are not what their files mean.
pub(super) fn calendars(episode: &Episode<Office>, findings: &mut Findings) {
    let frame = Frame::new();
    let looking = Looking { time: episode.now(), frame: &frame, blobs: &**episode.blobs() };
    let problems = episode.world().query("calendar.problems", &map! {}, &looking).unwrap_or_default();
    for row in problems.as_list().unwrap_or_default() {
        let text = |name: &str| row.get(name).and_then(Value::as_text).unwrap_or_default();
        let place = Place::new(format!("world/calendars/{}.ics", text("calendar")), None);
        let message = format!("event {}: {}", text("uid"), text("problem"));
        let remedy = "write a zone of the IANA database, such as Europe/Berlin, an offset, such as UTC+01:00, or add its VTIMEZONE";
        findings.warning("scenario/unknown-zone", place, message, remedy);
    }
}

/// Returns whether a solution must not pass.
pub(super) fn must_fail(solution: &Solution) -> bool {
    !solution.passes.unwrap_or(!solution.name.starts_with("bad"))
}

/// Returns the source of the checks; empty if there is none.
pub(super) fn checks_source(scenario: &Scenario<Office>) -> String {
    let bytes = scenario.package().get(CHECKS);
    bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default()
}

/// Returns where a check stands.
pub(super) fn place_of_check(lines: &Lines, check: &str) -> Place {
    Place::new(MANIFEST, lines.checks.get(check).copied())
}

fn requirements(scenario: &Scenario<Office>, lines: &Lines, findings: &mut Findings) {
    let checks = scenario.checks();
    for requirement in scenario.requirements() {
        let covers = |spec: &&dayshift_engine::CheckSpec| spec.requirement == requirement.id;
        let counts = |spec: &dayshift_engine::CheckSpec| {
            spec.weight > 0.0 || matches!(spec.moment, Moment::Throughout { cap: Some(_) })
        };
        if !checks.specs().iter().filter(covers).any(counts) {
            let place = Place::new(MANIFEST, lines.requirements.get(&requirement.id).copied());
            let message = format!("no check that counts covers the requirement '{}'", requirement.id);
            findings.error("scenario/uncovered-requirement", place, message, "add a check for it, or drop it");
        }
    }
}

/// Notes functions of `checks.star` that nothing calls, and functions that several checks share.
fn functions(scenario: &Scenario<Office>, lines: &Lines, findings: &mut Findings) {
    let source = checks_source(scenario);
    for (function, line) in &lines.functions {
        let word = Regex::new(&format!(r"\b{}\b", regex::escape(function)));
        let mentions = word.map_or(usize::MAX, |word| word.find_iter(&source).count());
        if mentions <= 1 && !lines.used.contains(function) {
            let message = format!("nothing calls the function '{function}'");
            let place = Place::new(CHECKS, Some(*line));
            findings.note(
                "scenario/unused-function",
                place,
                message,
                "name it in a check or a condition, or delete it",
            );
        }
    }
    for (check, function) in &lines.check_functions {
        let first = lines.check_functions.iter().find(|(_, other)| *other == function).map(|(check, _)| check);
        if let Some(first) = first.filter(|first| *first != check) {
            let message = format!("the checks '{first}' and '{check}' both call '{function}'");
            let place = place_of_check(lines, check);
            findings.warning("scenario/shared-function", place, message, "give each a function of its own");
        }
    }
}

/// Holds the calls of a solution against the tools that an agent has.
fn calls(solution: &Solution, findings: &mut Findings) {
    for call in solution.days.iter().flat_map(|(_, turns)| turns).flat_map(|turn| &turn.calls) {
        let place = Place::new(solution.file.as_str(), Some(call.line));
        let spec = Office::tools().iter().find(|tool| tool.name == call.tool && tool.audience == Audience::Everybody);
        let Some(spec) = spec else {
            let message = format!("an agent has no tool '{}'", call.tool);
            let remedy = "use one of the tools that agents have";
            findings.error("scenario/bad-solution-call", place, message, remedy);
            continue;
        };
        let asked = ToolCall::new(call.tool.clone(), call.arguments.clone());
        if let Err(rejection) = spec.admit(&asked)
            && !refers(&call.arguments)
        {
            findings.error("scenario/bad-solution-call", place, rejection.to_string(), "correct the arguments");
        }
    }
}

fn refers(value: &Value) -> bool {
    match value {
        Value::Text(text) => text.contains("{{"),
        Value::List(items) => items.iter().any(refers),
        Value::Map(map) => map.values().any(refers),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => false,
    }
}
