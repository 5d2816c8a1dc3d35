//! Leaks: what the agent could read although only the checks and solutions should know it. Names and values that the agent is meant to look
//! up in the world are none.

use dayshift_engine::{Input, Value};
use dayshift_scenarios::{Lines, Scenario};
use dayshift_services::Office;
use regex::Regex;

use super::finding::{Findings, Place};
use super::literals::{Number, numbers_of};

/// The shortest line of a script or a solution that cannot stand elsewhere by chance, in characters.
const LINE_CHARS_MIN: usize = 24;

/// The shortest name of a check's function that cannot stand elsewhere by chance, in characters.
const NAME_CHARS_MIN: usize = 12;

const CHECKS: &str = "checks.star";

/// One input of the reference solution and what it was told for it.
pub(super) struct Told {
    pub(super) line: u32,
    /// Whether the input could change the world or says something to a person.
    pub(super) produces: bool,
    pub(super) tool: String,
    pub(super) given: String,
    pub(super) answer: String,
    pub(super) notices: Vec<String>,
}

/// Looks for the checks' and solutions' own words in what comes to the agent as files, mail and notifications.
pub(super) fn own_words(scenario: &Scenario<Office>, lines: &Lines, findings: &mut Findings) {
    let readable = readable(scenario);
    let source = text_of(scenario, CHECKS);
    for (index, line) in source.lines().enumerate() {
        report_line(CHECKS, index + 1, line, &readable, findings);
    }
    for solution in scenario.solutions() {
        let turns = solution.days.iter().flat_map(|(_, turns)| turns);
        for turn in turns {
            for text in turn.say.iter().chain(&turn.hand_over) {
                report_line(&solution.file, turn.line as usize, text, &readable, findings);
            }
        }
        report_line(&solution.file, 1, &solution.description, &readable, findings);
    }
    for (check, function) in &lines.check_functions {
        if function.len() < NAME_CHARS_MIN || !function.contains('_') {
            continue;
        }
        let Ok(word) = Regex::new(&format!(r"\b{}\b", regex::escape(function))) else { continue };
        if let Some((place, _)) = readable.iter().find(|(_, text)| word.is_match(text)) {
            let message = format!("the agent can read '{function}', the name of the function of the check '{check}'");
            findings.warning(
                "scenario/leaks-check-name",
                place.clone(),
                message,
                "rename the function, or the file's word",
            );
        }
    }
}

/// Looks for numbers that only the checks know, which the reference solution works out, in what it was told before it wrote them.
pub(super) fn derived_numbers(
    scenario: &Scenario<Office>,
    world: &Value,
    opening: &[String],
    told: &[Told],
    findings: &mut Findings,
) {
    let given = given(scenario, world);
    let request = scenario.request();
    for number in numbers_of(&text_of(scenario, CHECKS)) {
        let Some(produced) = told.iter().position(|each| each.produces && number.is_in(&each.given)) else { continue };
        if given.iter().any(|text| number.is_in(text)) {
            continue;
        }
        let lines = Lines::of(scenario.package());
        if number.is_in(request) {
            leak(&number, Place::new("scenario.yaml", lines.request), "the request", findings);
        }
        if opening.iter().any(|text| number.is_in(text)) {
            let day = lines.days.values().copied().min();
            leak(&number, Place::new("scenario.yaml", day), "the first notification", findings);
        }
        for each in &told[..produced] {
            let place = Place::new("solutions/reference.yaml", Some(each.line));
            if each.notices.iter().any(|text| number.is_in(text)) {
                leak(&number, place, "a notification that comes after this call", findings);
            } else if each.tool.starts_with("sheets.") && number.is_in(&each.answer) {
                // What other tools answer stands in the world, to be looked up; a formula may work out what the agent should.
                let message = format!("{} answers {} before the agent writes it", each.tool, number.shown);
                let remedy = "fine if the agent is meant to look it up; otherwise leave the formula out";
                findings.warning("scenario/leaks-value", place, message, remedy);
            }
        }
    }
}

fn leak(number: &Number, place: Place, where_: &str, findings: &mut Findings) {
    let message = format!(
        "{CHECKS}:{} compares with {}, which the agent must work out, and {where_} already says it",
        number.line, number.shown
    );
    let remedy = "leave it out there; if it is a given, let the world's files say it and the check read it from them";
    findings.error("scenario/leaks-value", place, message, remedy);
}

fn report_line(file: &str, line: usize, text: &str, readable: &[(Place, String)], findings: &mut Findings) {
    let text = text.trim();
    if text.chars().filter(|character| character.is_alphanumeric()).count() < LINE_CHARS_MIN {
        return;
    }
    if let Some((place, _)) = readable.iter().find(|(_, readable)| readable.contains(text)) {
        let shown: String = text.chars().take(60).collect();
        let message = format!("the agent can read what {file}:{line} says: \"{shown}\"");
        findings.error("scenario/leaks-material", place.clone(), message, "leave it out of what the agent can read");
    }
}

/// Returns everything that comes to the agent as it stands in the package, with its place.
fn readable(scenario: &Scenario<Office>) -> Vec<(Place, String)> {
    let package = scenario.package();
    let files = package.below("world/").chain(package.below("inject/"));
    let mut texts: Vec<(Place, String)> = files
        .map(|(path, bytes)| (Place::new(path.as_str(), None), String::from_utf8_lossy(bytes).into_owned()))
        .collect();
    let lines = Lines::of(package);
    texts.push((Place::new("scenario.yaml", lines.request), scenario.request().to_owned()));
    let script = scenario.script();
    for day in &script.plan().days {
        let line = lines.days.get(&day.name).copied();
        texts.push((Place::new("scenario.yaml", line), day.notification.clone()));
    }
    for event in &script.plan().events {
        let place = Place::new("scenario.yaml", lines.events.get(event.id.as_str()).copied());
        texts.extend(event.notice.iter().map(|notice| (place.clone(), notice.clone())));
        texts.extend(event.commands.iter().map(|command| (place.clone(), strings(&command.call.arguments))));
    }
    texts
}

/// Returns what the world says by itself: where a number in it may rightly come from.
fn given(scenario: &Scenario<Office>, world: &Value) -> Vec<String> {
    let package = scenario.package();
    let files = package.below("world/").chain(package.below("inject/")).chain(package.below("personas/"));
    let mut texts: Vec<String> = files.map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned()).collect();
    texts.push(strings(world));
    let script = scenario.script();
    let commands = script.plan().events.iter().flat_map(|event| &event.commands);
    texts.extend(commands.map(|command| strings(&command.call.arguments)));
    texts
}

/// Returns the texts and numbers of a value, one a line.
pub(super) fn strings(value: &Value) -> String {
    let mut text = String::new();
    let mut open = vec![value];
    while let Some(next) = open.pop() {
        match next {
            Value::Null | Value::Bool(_) => {}
            Value::Int(_) | Value::Float(_) => text.push_str(&format!("{next}\n")),
            Value::Text(found) => {
                text.push_str(found);
                text.push('\n');
            }
            Value::List(items) => open.extend(items),
            Value::Map(map) => open.extend(map.values()),
        }
    }
    text
}

/// Returns what an input gives away, and whether it counts as having produced it.
pub(super) fn given_by(input: &Input, writes: bool) -> (bool, String, String) {
    match input {
        Input::Call(call) => (writes, call.tool.to_string(), strings(&call.arguments)),
        Input::Turn { text } | Input::HandOver { text } => (true, "a message".to_owned(), text.clone()),
    }
}

fn text_of(scenario: &Scenario<Office>, path: &str) -> String {
    scenario.package().get(path).map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default()
}
