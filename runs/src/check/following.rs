//! Following the reference solution: what it is told call by call, and what the world is like where it makes its calls.

use std::collections::BTreeMap;
use std::sync::Arc;

use dayshift_engine::{Input, SmolStr, Value, map};
use dayshift_scenarios::{Scenario, Solution, SolutionCall};
use dayshift_services::Office;

use super::bench::{Bench, Moment, Played};
use super::leaks::{self, Told};
use super::mutants::{self, Surroundings};
use super::places::{Spot, ask};
use crate::error::RunError;

/// How a refusal begins among the answers that [`follow`] gathers.
pub(super) const REFUSED: &str = "\u{0}refused ";

/// Plays a solution, and gathers what it was told, with the line of each call.
pub(super) fn follow(bench: &Bench<'_>, seed: u64, solution: &Arc<Solution>) -> Result<(Played, Vec<Told>), RunError> {
    let mut told = Vec::new();
    let mut at: (SmolStr, usize) = (SmolStr::default(), 0);
    let played = bench.play_solution(seed, solution, |moment: &Moment<'_>| {
        if at.0 != moment.day {
            at = (moment.day.into(), 0);
        }
        let call = matches!(moment.input, Input::Call(_)).then(|| calls_of(solution, moment.day).nth(at.1)).flatten();
        at.1 += usize::from(call.is_some());
        let (produces, tool, given) = leaks::given_by(moment.input, call.is_some_and(mutants::writes));
        let answer = match &moment.step.answer {
            Ok(answer) => leaks::strings(answer),
            Err(rejection) => format!("{REFUSED}{rejection}"),
        };
        let line = call.map_or(0, |call| call.line);
        told.push(Told { line, produces, tool, given, answer, notices: moment.step.notices.clone() });
    })?;
    Ok((played, told))
}

fn calls_of<'s>(solution: &'s Solution, day: &str) -> impl Iterator<Item = &'s SolutionCall> {
    let turns = solution.days.iter().find(|(name, _)| name == day).map(|(_, turns)| turns.as_slice());
    turns.unwrap_or_default().iter().flat_map(|turn| &turn.calls)
}

/// Returns what mutants need to know of the world that the reference solution lives in and leaves behind.
pub(super) fn surroundings(
    scenario: &Scenario<Office>,
    bench: &Bench<'_>,
    seed: u64,
    reference: &Arc<Solution>,
    played: &Played,
) -> Result<Surroundings, RunError> {
    let mut spots = BTreeMap::new();
    let mut at: (SmolStr, usize) = (SmolStr::default(), 0);
    bench.play_solution(seed, reference, |moment: &Moment<'_>| {
        if at.0 != moment.day {
            at = (moment.day.into(), 0);
        }
        if !matches!(moment.input, Input::Call(_)) {
            return;
        }
        if calls_of(reference, moment.day).nth(at.1).is_some_and(mutants::writes)
            && let Some(spot) = Spot::of(moment.before, moment.input)
        {
            spots.insert(at.clone(), spot);
        }
        at.1 += 1;
    })?;
    let agent = scenario.agent_person().address.clone();
    let inbox = ask(&played.episode, "mail.messages", map! { "address" => agent.clone() });
    let inbox = inbox.as_list().unwrap_or_default().iter();
    Ok(Surroundings {
        people: scenario.people().iter().map(|person| (person.name.clone(), person.address.clone())).collect(),
        agent,
        inbox: inbox.filter_map(|message| message.get("id").and_then(Value::as_text).map(SmolStr::from)).collect(),
        spots,
    })
}
