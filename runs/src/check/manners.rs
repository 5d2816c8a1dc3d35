//! Manners: whether the people of a scenario know what they have said. Each person with a script is asked the same twice, is thanked, and is asked
//! something that has nothing to do with the matter, by mail and in the chat.

use std::sync::Arc;

use dayshift_engine::{EpisodeError, Input, SmolStr, ToolCall, Value, map};
use dayshift_scenarios::{Lines, Solution};

use super::bench::{Bench, Trial};
use super::finding::{Findings, Place};
use super::places::ask;

/// How many times a person's delay is waited for an answer.
const WAITS_MAX: usize = 3;

/// What comes after the question, and what it is called in a finding.
const OTHERS: [(&str, &str); 3] = [
    ("Thank you very much, that helps. Have a good day!", "a thank-you"),
    (
        "By the way, do you know a good place for lunch near the station? A colleague visits me on Friday.",
        "a question that is off topic",
    ),
    ("Perfect, thanks again.", "a second thank-you"),
];

/// A question for whoever is never asked anything by the reference.
const QUESTION: &str = "Hello, could you tell me where things stand with what I am working on, and whether there is anything that I should know?";

/// Which way a person is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Mail,
    Chat,
}

/// Writes to everybody who has a script.
///
/// # Errors
///
/// [`EpisodeError`] when an episode cannot go on.
pub(super) fn run(
    bench: &Bench<'_>,
    seed: u64,
    reference: &Arc<Solution>,
    lines: &Lines,
    findings: &mut Findings,
) -> Result<(), EpisodeError> {
    let scenario = bench.scenario();
    let script = scenario.script();
    for persona in &script.plan().personas {
        let Some(person) = scenario.people().iter().find(|person| person.name == persona.name) else { continue };
        let place = Place::new("scenario.yaml", lines.people.get(&persona.name).copied());
        for way in [Way::Mail, Way::Chat] {
            let question = first_question(reference, &persona.name, &person.address, way);
            let talk =
                Talk { way, name: &persona.name, address: &person.address, delay_millis: persona.delay.as_millis() };
            let faults = talk.hold(bench.begin(seed)?, question.as_deref().unwrap_or(QUESTION))?;
            for fault in faults {
                let how = if way == Way::Mail { "by mail" } else { "in the chat" };
                let message = format!("{}, written to {how}, {fault}", persona.name);
                let remedy = "let the script remember what it has said, and answer a thank-you with nothing or a word of its own";
                findings.warning("scenario/persona-repeats", place.clone(), message, remedy);
            }
        }
    }
    Ok(())
}

/// Returns the first text by which the reference turns to a person in that way, or in the other.
fn first_question(reference: &Solution, name: &str, address: &str, way: Way) -> Option<String> {
    let text = |wanted: Way| {
        let calls = reference.days.iter().flat_map(|(_, turns)| turns).flat_map(|turn| &turn.calls);
        let mut texts = calls.filter_map(|call| {
            let asked = ToolCall::new(call.tool.clone(), call.arguments.clone());
            match (wanted, call.tool.as_str()) {
                (Way::Mail, "mail.send") if asked.texts("to").any(|to| to.contains(address)) => {
                    asked.optional_text("body").map(str::to_owned)
                }
                (Way::Chat, "chat.send") if asked.optional_text("with") == Some(name) => {
                    asked.optional_text("text").map(str::to_owned)
                }
                _ => None,
            }
        });
        texts.find(|text| !text.contains("{{"))
    };
    let other = if way == Way::Mail { Way::Chat } else { Way::Mail };
    text(way).or_else(|| text(other))
}

/// A conversation with one person.
struct Talk<'a> {
    way: Way,
    name: &'a SmolStr,
    address: &'a SmolStr,
    delay_millis: u64,
}

impl Talk<'_> {
    /// Asks twice, thanks, goes off topic. Returns what is wrong with the answers.
    fn hold(&self, mut trial: Trial, question: &str) -> Result<Vec<String>, EpisodeError> {
        let mut said: Vec<String> = Vec::new();
        let mut faults = Vec::new();
        let all = [(question, "a question"), (question, "the same question again")].into_iter().chain(OTHERS);
        for (text, what) in all {
            let before = self.answers(&trial).len();
            let Some(answers) = self.say(&mut trial, text, before)? else { break };
            for answer in answers {
                let answer = plain(&answer);
                if answer.is_empty() {
                    continue;
                }
                if said.contains(&answer) {
                    let quoted: String = answer.chars().take(80).collect();
                    faults.push(format!("answers {what} word for word as before: \"{quoted}\""));
                } else {
                    said.push(answer);
                }
            }
        }
        Ok(faults)
    }

    /// Says `text` and waits for what comes. Nothing if it cannot be said.
    fn say(&self, trial: &mut Trial, text: &str, before: usize) -> Result<Option<Vec<String>>, EpisodeError> {
        let call = match self.way {
            Way::Mail => {
                let to = Value::List(vec![self.address.clone().into()]);
                ToolCall::new("mail.send", map! { "to" => to, "subject" => "A question", "body" => text })
            }
            Way::Chat => ToolCall::new("chat.send", map! { "with" => self.name.clone(), "text" => text }),
        };
        let fault = trial.input(Input::Call(call))?;
        if fault.is_some() || trial.last.answer.is_err() {
            return Ok(None);
        }
        for _ in 0..WAITS_MAX {
            if trial.episode.is_closed() || self.answers(trial).len() > before {
                break;
            }
            let until = dayshift_engine::SimTime::from_millis(
                trial.episode.now().as_millis().saturating_add_unsigned(self.delay_millis + 60_000),
            );
            let wait = ToolCall::new("clock.wait", map! { "until" => until.to_string() });
            let fault = trial.input(Input::Call(wait))?;
            // Where time stands still, or the day is too short, the answer comes with the next day.
            if fault.is_some() || trial.last.answer.is_err() {
                let fault = trial.input(Input::HandOver { text: String::new() })?;
                if fault.is_some() {
                    return Ok(None);
                }
            }
        }
        Ok(Some(self.answers(trial).split_off(before)))
    }

    /// Returns what the person has written to the agent so far, in this way.
    fn answers(&self, trial: &Trial) -> Vec<String> {
        let (messages, text) = match self.way {
            Way::Mail => (ask(&trial.episode, "mail.messages", map! {}), "new_text"),
            Way::Chat => {
                let conversations = ask(&trial.episode, "chat.conversations", map! {});
                let names = conversations.as_list().unwrap_or_default().iter().filter_map(Value::as_text);
                let own = names.filter(|names| names.split('+').any(|name| name == self.name.as_str()));
                let messages = own.flat_map(|name| {
                    let messages = ask(&trial.episode, "chat.messages", map! { "conversation" => name });
                    messages.as_list().unwrap_or_default().to_vec()
                });
                (messages.collect(), "text")
            }
        };
        let is_theirs = |message: &&Value| {
            let from = message.get("from_address").or(message.get("from")).and_then(Value::as_text);
            from == Some(self.address) || from == Some(self.name)
        };
        let texts = messages.as_list().unwrap_or_default().iter().filter(is_theirs);
        texts.map(|message| message.get(text).and_then(Value::as_text).unwrap_or_default().to_owned()).collect()
    }
}

/// Returns a text without differences that nobody hears.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}
