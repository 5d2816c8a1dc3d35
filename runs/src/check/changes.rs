//! Changes: whether anybody has to notice what the world does by itself. An exogenous change counts if the reference solution, which is right
//! when it happens, is wrong when it does not; or if an agent that takes nothing from it loses a check: one that writes nothing of what it
//! brought, or nothing in the turn in which it was read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dayshift_engine::codec::Stored;
use dayshift_engine::{
    BlobId, EpisodeError, EventId, Input, Plan, PlannedEvent, Reaction, ReadKind, Request, Scene, Script, ScriptError,
    Seq, SmolStr, Value, When,
};
use dayshift_scenarios::{Package, Scenario, Solution, SolutionCall};
use dayshift_services::Office;
use serde::Serialize;

use super::bench::{Bench, Outcome, in_parallel};
use super::literals::values_of;
use super::mutants::writes;

/// The arguments that say where something happens or to whom, and not what it brings.
const PLACES: [&str; 16] = [
    "table",
    "id",
    "book",
    "worksheet",
    "range",
    "channel",
    "with",
    "from",
    "to",
    "cc",
    "bcc",
    "address",
    "folder",
    "path",
    "calendar",
    "database",
];

/// What one exogenous change comes to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangeTrial {
    /// The event, or `persona:NAME` for all that a person does by itself.
    pub change: String,
    /// Whether the agent is told.
    pub loud: bool,
    /// Whether it happens while the reference solution plays.
    pub happens: bool,
    /// The checks that are lost when it does not happen although the reference solution acts as if it had.
    pub lost_without: Vec<SmolStr>,
    /// The checks that an agent loses that writes nothing of what it brought; or, if the reference solution writes nothing of it verbatim,
    /// nothing after it has read it, in the same turn.
    pub lost_ignoring: Vec<SmolStr>,
}

impl ChangeTrial {
    /// Returns whether an agent that ignores the change does as well as one that heeds it.
    #[must_use]
    pub fn is_inert(&self) -> bool {
        self.happens && self.lost_without.is_empty() && self.lost_ignoring.is_empty()
    }
}

/// What is muted in a scenario.
#[derive(Clone, Copy, Debug)]
enum Mute {
    Event(usize),
    Persona(usize),
}

/// A scenario's script without one event or one person.
struct Muted {
    inner: Arc<dyn Script<Office>>,
    plan: Plan,
    mute: Mute,
}

impl Muted {
    fn new(inner: Arc<dyn Script<Office>>, mute: Mute) -> Self {
        let mut plan = inner.plan().clone();
        if let Mute::Event(index) = mute {
            // It stays in the plan, so that what comes after it waits for ever, and never holds.
            let end = plan.closes;
            plan.events[index].when = When::Condition { opens: end, deadline: end, at_deadline: false };
        }
        Self { inner, plan, mute }
    }
}

impl Script<Office> for Muted {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn holds(&self, index: usize, scene: &Scene<'_, Office>) -> Result<bool, ScriptError> {
        match self.mute {
            Mute::Event(muted) if muted == index => Ok(false),
            Mute::Event(_) | Mute::Persona(_) => self.inner.holds(index, scene),
        }
    }

    fn react(&self, index: usize, memory: &Value, scene: &Scene<'_, Office>) -> Result<Reaction, ScriptError> {
        match self.mute {
            Mute::Persona(muted) if muted == index => Ok(Reaction { memory: memory.clone(), ..Reaction::default() }),
            Mute::Event(_) | Mute::Persona(_) => self.inner.react(index, memory, scene),
        }
    }
}

/// Tries every event after the first day's opening, and every persona. `happened` are the events that the reference solution, whose outcome
/// is `best`, lived through.
///
/// # Errors
///
/// [`EpisodeError`] when a log cannot be graded.
pub(super) fn trials(
    bench: &Bench<'_>,
    seed: u64,
    reference: &Arc<Solution>,
    best: &Outcome,
    given: &Value,
    (threads, progress): (usize, &(dyn Fn() + Sync)),
) -> Result<Vec<ChangeTrial>, EpisodeError> {
    let scenario = bench.scenario();
    let script = scenario.script();
    let plan = script.plan();
    let opens = plan.days.first().map(|day| day.opens);
    let mut known = values_of(&Value::from(scenario.request()));
    known.extend(values_of(given));
    let heeded = heeded(bench, seed, reference)?;
    let stand = Stand { bench, seed, reference, best, plan, known: &known, heeded: &heeded };
    let is_late =
        |event: &PlannedEvent| !matches!(event.when, When::At(time) if opens.is_some_and(|opens| time <= opens));
    let events =
        plan.events.iter().enumerate().filter(|(_, event)| is_late(event)).map(|(index, _)| Mute::Event(index));
    let all: Vec<Mute> = events.chain((0..plan.personas.len()).map(Mute::Persona)).collect();
    in_parallel(&all, threads, |mute| {
        let trial = match *mute {
            Mute::Event(index) => stand.event(index),
            Mute::Persona(index) => stand.persona(index),
        };
        progress();
        trial
    })
}

/// What every trial of a change begins with.
struct Stand<'a> {
    bench: &'a Bench<'a>,
    seed: u64,
    reference: &'a Arc<Solution>,
    best: &'a Outcome,
    plan: &'a Plan,
    known: &'a BTreeSet<SmolStr>,
    heeded: &'a BTreeMap<EventId, Vec<Place>>,
}

impl Stand<'_> {
    fn event(&self, index: usize) -> Result<ChangeTrial, EpisodeError> {
        let Self { bench, seed, reference, best, plan, .. } = *self;
        let event = &plan.events[index];
        let mut trial = ChangeTrial {
            change: event.id.to_string(),
            loud: event.notice.is_some(),
            happens: best.happened.contains(&event.id),
            lost_without: Vec::new(),
            lost_ignoring: Vec::new(),
        };
        if !trial.happens {
            return Ok(trial);
        }
        trial.lost_without = lost_without(bench, seed, reference, best, Mute::Event(index))?;
        if trial.lost_without.is_empty() {
            let brought = brought(bench.scenario().package(), plan, index, self.known);
            let writes_it = |_: &Place, call: &SolutionCall| !values_of(&call.arguments).is_disjoint(&brought);
            trial.lost_ignoring = lost_ignoring(bench, seed, reference, best, &writes_it)?;
        }
        if trial.is_inert() {
            let places = self.heeded.get(&event.id).map_or(&[] as &[Place], Vec::as_slice);
            let rests_on_it = |at: &Place, _: &SolutionCall| {
                places.iter().any(|read| (read.day, read.turn) == (at.day, at.turn) && read.call < at.call)
            };
            trial.lost_ignoring = lost_ignoring(bench, seed, reference, best, &rests_on_it)?;
        }
        Ok(trial)
    }

    fn persona(&self, index: usize) -> Result<ChangeTrial, EpisodeError> {
        Ok(ChangeTrial {
            change: format!("persona:{}", self.plan.personas[index].name),
            loud: true,
            happens: true,
            lost_without: lost_without(self.bench, self.seed, self.reference, self.best, Mute::Persona(index))?,
            lost_ignoring: Vec::new(),
        })
    }
}

/// Returns how many trials there will be.
pub(super) fn count(scenario: &Scenario<Office>) -> usize {
    let script = scenario.script();
    script.plan().events.len() + script.plan().personas.len()
}

fn lost_without(
    bench: &Bench<'_>,
    seed: u64,
    reference: &Arc<Solution>,
    best: &Outcome,
    mute: Mute,
) -> Result<Vec<SmolStr>, EpisodeError> {
    let scenario = bench.scenario();
    let muted = Bench::new(scenario, Arc::new(Muted::new(scenario.script(), mute)), bench.host())?;
    let outcome = muted.play_solution(seed, reference, |_| {})?.outcome();
    Ok(lost(scenario, &outcome, best))
}

/// Where a call stands in a solution: all from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    day: usize,
    turn: usize,
    call: usize,
}

/// Returns the calls of the reference solution that read what an event wrote, by event.
fn heeded(
    bench: &Bench<'_>,
    seed: u64,
    reference: &Arc<Solution>,
) -> Result<BTreeMap<EventId, Vec<Place>>, EpisodeError> {
    let mut places: BTreeMap<Seq, Place> = BTreeMap::new();
    let mut made: BTreeMap<SmolStr, usize> = BTreeMap::new();
    let played = bench.play_solution(seed, reference, |moment| {
        if matches!(moment.input, Input::Call(_)) {
            let nth = made.entry(moment.day.into()).or_default();
            if let Some(place) = place_of(reference, moment.day, *nth) {
                places.insert(moment.step.seq, place);
            }
            *nth += 1;
        }
    })?;
    let mut writers: BTreeMap<Seq, EventId> = BTreeMap::new();
    let mut heeded: BTreeMap<EventId, Vec<Place>> = BTreeMap::new();
    for record in played.episode.log().since(0) {
        let stored = Stored::new(record)?;
        let head = stored.head()?;
        // A look that belongs to an event says that its condition failed, and wrote nothing.
        if let Some(event) = head.event.filter(|_| head.request != Request::Look) {
            writers.insert(stored.seq(), event);
        } else if let Some(place) = places.get(&stored.seq()) {
            for read in stored.reads()?.iter().filter(|read| read.kind != ReadKind::Scan) {
                let Some(event) = writers.get(&read.written) else { continue };
                let found = heeded.entry(event.clone()).or_default();
                if found.last() != Some(place) {
                    found.push(*place);
                }
            }
        }
    }
    Ok(heeded)
}

/// Returns where the call stands that is made as the `nth` of `day`.
fn place_of(solution: &Solution, day: &str, nth: usize) -> Option<Place> {
    let index = solution.days.iter().position(|(name, _)| name == day)?;
    let turns = solution.days[index].1.iter().enumerate();
    turns.flat_map(|(turn, each)| (0..each.calls.len()).map(move |call| Place { day: index, turn, call })).nth(nth)
}

/// Plays the reference solution without those calls that write and that `rests_on_it` names.
fn lost_ignoring(
    bench: &Bench<'_>,
    seed: u64,
    reference: &Arc<Solution>,
    best: &Outcome,
    rests_on_it: &dyn Fn(&Place, &SolutionCall) -> bool,
) -> Result<Vec<SmolStr>, EpisodeError> {
    let mut ignoring = Solution::clone(reference);
    let mut left_out = 0;
    for (day, (_, turns)) in ignoring.days.iter_mut().enumerate() {
        for (turn, each) in turns.iter_mut().enumerate() {
            let calls = std::mem::take(&mut each.calls);
            for (call, made) in calls.into_iter().enumerate() {
                if writes(&made) && rests_on_it(&Place { day, turn, call }, &made) {
                    left_out += 1;
                } else {
                    each.calls.push(made);
                }
            }
        }
    }
    if left_out == 0 {
        return Ok(Vec::new());
    }
    let outcome = bench.play_solution(seed, &Arc::new(ignoring), |_| {})?.outcome();
    Ok(lost(bench.scenario(), &outcome, best))
}

fn lost(scenario: &Scenario<Office>, outcome: &Outcome, best: &Outcome) -> Vec<SmolStr> {
    let checks = scenario.checks();
    outcome.worse_than(best).into_iter().map(|index| checks.specs()[index].id.clone()).collect()
}

/// Returns the values that the event at `index` brings and that were not `known` before.
fn brought(package: &Package, plan: &Plan, index: usize, known: &BTreeSet<SmolStr>) -> BTreeSet<SmolStr> {
    let mut brought = BTreeSet::new();
    for command in &plan.events[index].commands {
        let what =
            command.call.arguments.as_map().into_iter().flatten().filter(|(name, _)| !PLACES.contains(&name.as_str()));
        what.for_each(|(_, value)| brought.extend(values_of(value)));
        let Some(blob) = command.call.optional_text("blob") else { continue };
        let file = package.below("").find(|(_, bytes)| BlobId::of(bytes).to_string() == blob);
        brought.extend(
            file.map(|(_, bytes)| values_of(&Value::from(String::from_utf8_lossy(bytes).into_owned())))
                .unwrap_or_default(),
        );
    }
    brought.retain(|value| !known.contains(value));
    brought
}

/// Returns the events that nobody among `outcomes` lived through.
pub(super) fn never_happened<'a>(
    scenario: &Scenario<Office>,
    outcomes: impl Iterator<Item = &'a Outcome>,
) -> Vec<EventId> {
    let happened: BTreeSet<&EventId> = outcomes.flat_map(|outcome| &outcome.happened).collect();
    let script = scenario.script();
    script.plan().events.iter().map(|event| event.id.clone()).filter(|id| !happened.contains(id)).collect()
}
