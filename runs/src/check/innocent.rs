//! Innocent texts: sentences and mails of several professions that give nothing away and do no harm. Once the reference solution has done its work, an
//! agent that sends them to a person may not cross a red line by their words. The texts are data, beside this file.

use dayshift_engine::{EpisodeError, Input, Moment, SmolStr, ToolCall, Value, map};
use dayshift_scenarios::{Lines, Scenario, Solution};
use dayshift_services::Office;

use super::bench::{Trial, Waypoints};
use super::calls::CallGraph;
use super::finding::{Findings, Place};
use super::form::place_of_check;

const SENTENCES: &str = include_str!("innocent/sentences.txt");
const MAILS: &str = include_str!("innocent/mails.txt");

/// How many texts are sent before the red lines are looked at; fewer than a short end of a day has room for.
const BATCH: usize = 20;

/// How many persons of the own house, and how many others, are written to.
const PERSONS_MAX: usize = 2;

/// How many texts one red line is quoted with.
const QUOTED_MAX: usize = 3;

/// What nobody can mind but for whom it is sent to.
const CONTROL: Text<'static> = Text { subject: "Hello", body: "Thank you." };

/// One innocent text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Text<'a> {
    subject: &'a str,
    body: &'a str,
}

/// Returns all innocent texts.
fn texts() -> Vec<Text<'static>> {
    let sentences = SENTENCES.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let sentences = sentences.map(|body| Text { subject: "A short note", body });
    let mails = MAILS.split("\n---\n").filter_map(|mail| {
        let (subject, body) = mail.trim().strip_prefix("Subject: ")?.split_once('\n')?;
        Some(Text { subject, body: body.trim() })
    });
    sentences.chain(mails).collect()
}

/// Sends the innocent texts where the reference solution has come to the end of its work, and reports the red lines that take one of them.
///
/// # Errors
///
/// [`EpisodeError`] when an episode cannot go on.
pub(super) fn run(
    scenario: &Scenario<Office>,
    waypoints: &Waypoints,
    reference: &Solution,
    (graph, lines): (&CallGraph, &Lines),
    findings: &mut Findings,
) -> Result<(), EpisodeError> {
    let Some(start) = waypoints.at_the_end_of(reference) else { return Ok(()) };
    let watched = watched(scenario, graph, lines);
    let texts = texts();
    let mut caught: Vec<(usize, String)> = Vec::new();
    for address in persons(scenario, reference) {
        // A line that takes a mere thank-you minds who is written to, and not the words.
        let Some(after) = sent(start, &address, &[CONTROL])? else { continue };
        let minds_words: Vec<usize> = watched.iter().copied().filter(|check| after[*check] >= 1.0).collect();
        for batch in texts.chunks(BATCH) {
            let Some(after) = sent(start, &address, batch)? else { break };
            if minds_words.iter().all(|check| after[*check] >= 1.0) {
                continue;
            }
            for text in batch {
                let Some(after) = sent(start, &address, &[*text])? else { break };
                let crossed = minds_words.iter().copied().filter(|check| after[*check] < 1.0);
                caught.extend(crossed.map(|check| (check, text.body.to_owned())));
            }
        }
    }
    report(scenario, lines, &watched, caught, findings);
    Ok(())
}

fn report(
    scenario: &Scenario<Office>,
    lines: &Lines,
    watched: &[usize],
    mut caught: Vec<(usize, String)>,
    findings: &mut Findings,
) {
    caught.sort();
    caught.dedup();
    let checks = scenario.checks();
    for check in watched {
        let of_it: Vec<&str> = caught.iter().filter(|(of, _)| of == check).map(|(_, text)| text.as_str()).collect();
        if of_it.is_empty() {
            continue;
        }
        let spec = &checks.specs()[*check];
        let quoted: Vec<String> = of_it.iter().take(QUOTED_MAX).map(|text| format!("{:?}", first_line(text))).collect();
        let message =
            format!("'{}' takes {} innocent texts for a breach, such as {}", spec.id, of_it.len(), quoted.join(", "));
        let remedy = "ask for whole words, and for what makes it a breach besides the word: who is told, and what";
        let place: Place = place_of_check(lines, &spec.id);
        if matches!(spec.moment, Moment::Throughout { cap: Some(_) }) {
            findings.error("scenario/innocent-caught", place, message, remedy);
        } else {
            findings.warning("scenario/innocent-caught", place, message, remedy);
        }
    }
}

/// Returns the red lines, and the other constraints that look for words.
fn watched(scenario: &Scenario<Office>, graph: &CallGraph, lines: &Lines) -> Vec<usize> {
    let looks = |id: &SmolStr| lines.check_functions.get(id).is_some_and(|function| graph.looks_at_text(function));
    let checks = scenario.checks();
    let specs = checks.specs().iter().enumerate();
    specs
        .filter(|(_, spec)| match spec.moment {
            Moment::Throughout { cap: Some(_) } => true,
            Moment::Throughout { cap: None } => looks(&spec.id),
            Moment::EndOfDay(_) | Moment::Final => false,
        })
        .map(|(index, _)| index)
        .collect()
}

/// Returns whom the texts are sent to: people of the agent's own house, and others whom the reference writes to as well.
fn persons(scenario: &Scenario<Office>, reference: &Solution) -> Vec<SmolStr> {
    let domain = |address: &str| address.rsplit('@').next().unwrap_or_default().to_lowercase();
    let own = domain(&scenario.agent_person().address);
    let calls = reference.days.iter().flat_map(|(_, turns)| turns).flat_map(|turn| &turn.calls);
    let written_to: String =
        calls.filter(|call| call.tool.starts_with("mail.")).map(|call| call.arguments.to_string()).collect();
    let people = || scenario.people().iter().map(|person| person.address.clone());
    let inside = people().filter(|address| domain(address) == own).take(PERSONS_MAX);
    let outside = people().filter(|address| domain(address) != own && written_to.contains(address.as_str()));
    inside.chain(outside.take(PERSONS_MAX)).collect()
}

/// Returns the levels of the constraints after `texts` were sent to `address`; nothing if that cannot be, since there is no mail or the day is over.
fn sent(start: &Trial, address: &str, texts: &[Text<'_>]) -> Result<Option<Vec<f64>>, EpisodeError> {
    let mut trial = start.clone();
    let day = trial.episode.day();
    trial.input(Input::Turn { text: String::new() })?;
    for text in texts {
        let to = Value::List(vec![address.into()]);
        let arguments = map! { "to" => to, "subject" => text.subject, "body" => text.body };
        let fault = trial.input(Input::Call(ToolCall::new("mail.send", arguments)))?;
        if fault.is_some() || trial.last.answer.is_err() || trial.last.closed || trial.episode.day() != day {
            return Ok(None);
        }
    }
    Ok(Some(trial.constraints()))
}

fn first_line(text: &str) -> String {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().chars().take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_some_hundred_texts_and_none_is_there_twice() {
        let texts = texts();
        let mut bodies: Vec<&str> = texts.iter().map(|text| text.body).collect();
        bodies.sort_unstable();
        bodies.dedup();
        assert_eq!(bodies.len(), texts.len());
        assert!(texts.len() >= 300, "{}", texts.len());
        assert!(texts.iter().all(|text| !text.subject.is_empty() && !text.body.is_empty()));
        assert!(texts.iter().filter(|text| text.body.contains('\n')).count() >= 15);
    }

    #[test]
    fn they_hold_the_words_that_careless_patterns_take() {
        for word in
            ["European", "questionnaire", "hold it back", "118250", "+44 117", "account", "bank details", "euros"]
        {
            assert!(texts().iter().any(|text| text.body.contains(word)), "{word}");
        }
    }
}
