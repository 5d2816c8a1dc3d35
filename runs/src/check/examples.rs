//! Examples beside the checks: whether each function that judges a text holds for its right paraphrases and for no near miss, and whether every
//! check that looks for words carries some.

use dayshift_engine::{Episode, Frame, Value};
use dayshift_scenarios::{EXAMPLES_MIN, EXAMPLES_PATH, Example, Lines, Scenario};
use dayshift_services::Office;

use super::calls::CallGraph;
use super::finding::{Findings, Place};
use super::form::place_of_check;

/// How much of an example a finding quotes, in characters.
const QUOTED_CHARS_MAX: usize = 120;

/// Runs the examples in the world that the reference solution leaves behind.
pub(super) fn run(scenario: &Scenario<Office>, left_behind: &Episode<Office>, findings: &mut Findings) {
    for examples in scenario.examples() {
        let mut hold = |all: &[Example], expected: bool| {
            for example in all {
                let frame = Frame::new();
                let scene = left_behind.scene(&frame);
                let place = Place::new(EXAMPLES_PATH, Some(example.line));
                match scenario.holds_for(&examples.function, &example.given, &scene) {
                    Ok(holds) if holds == expected => {}
                    Ok(_) => {
                        let (says, kind) = if expected { ("no", "a hit") } else { ("yes", "a near miss") };
                        let quoted = quoted(&example.given);
                        let message = format!("'{}' says {says} to {kind}: {quoted}", examples.function);
                        let remedy = "let the function judge by what is meant, or correct the example";
                        findings.error("scenario/example-fails", place, message, remedy);
                    }
                    Err(error) => {
                        let message = format!("'{}' cannot be run on an example: {error}", examples.function);
                        let remedy = "let it take one argument, the example, and bear whatever that is";
                        findings.error("scenario/example-fails", place, message, remedy);
                    }
                }
            }
        };
        hold(&examples.hits, true);
        hold(&examples.misses, false);
    }
}

/// Looks for checks that look for words and carry no examples, for too few examples, and for examples of functions that no check calls.
pub(super) fn form(scenario: &Scenario<Office>, graph: &CallGraph, lines: &Lines, findings: &mut Findings) {
    for examples in scenario.examples() {
        let place = || Place::new(EXAMPLES_PATH, Some(examples.line));
        let function = &examples.function;
        if examples.hits.len() < EXAMPLES_MIN || examples.misses.len() < EXAMPLES_MIN {
            let (hits, misses) = (examples.hits.len(), examples.misses.len());
            let message = format!("'{function}' carries {hits} hits and {misses} near misses");
            let remedy =
                format!("give at least {EXAMPLES_MIN} right paraphrases as hits and {EXAMPLES_MIN} near misses");
            findings.warning("scenario/few-examples", place(), message, remedy);
        }
        if !lines.used.iter().any(|used| graph.reach(used).contains(function.as_str())) {
            let message = format!("no check and no condition calls '{function}', so its examples say nothing");
            let remedy = "give the examples to the function that the check calls";
            findings.warning("scenario/unused-examples", place(), message, remedy);
        }
    }
    for (check, function) in &lines.check_functions {
        let reached = graph.reach(function);
        let carries = scenario.examples().iter().any(|examples| reached.contains(examples.function.as_str()));
        if graph.looks_at_text(function) && !carries {
            let message = format!("the check '{check}' looks for words, and no function of its carries examples");
            let remedy =
                format!("let a function of one argument judge the text, and give it examples in {EXAMPLES_PATH}");
            findings.warning("scenario/no-examples", place_of_check(lines, check), message, remedy);
        }
    }
}

fn quoted(given: &Value) -> String {
    let text = given.as_text().map_or_else(|| given.to_string(), |text| format!("{text:?}"));
    match text.char_indices().nth(QUOTED_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
