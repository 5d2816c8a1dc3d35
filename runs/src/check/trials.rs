//! The trials of one scenario in their order: form, reference, noop, recorded solutions, determinism, leaks, changes, mutants. Each turns what
//! came of it into findings.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dayshift_engine::{Blobs, MemoryBlobs, Moment as CountsAt, SmolStr, World as _};
use dayshift_scenarios::{Lines, PrefixError, Scenario, Solution};
use dayshift_services::Office;

use super::bench::{Bench, Outcome, Played, Variant, in_parallel};
use super::calls::CallGraph;
use super::finding::{Findings, Place};
use super::following::{REFUSED, follow, surroundings};
use super::form::{self, place_of_check};
use super::hackers::{self, HACKER_SCORE_MAX, HackerTrial, TRICKS};
use super::leaks::{self, Told};
use super::mutants::{self, Mutant};
use super::{
    Admission, AgentTrial, ChangeTrial, CheckOptions, CheckTrial, MUTATION_SCORE_MIN, Mutation, NOOP_SCORE_MAX, SEEDS,
    SabotageTrial, Survivor, VACUOUS_WEIGHT_MAX, changes, examples, innocent, manners, sabotage,
};
use crate::error::RunError;
use crate::office::office;

const REFERENCE: &str = "solutions/reference.yaml";
const MANIFEST: &str = "scenario.yaml";

/// How many survivors are findings of their own; the report lists all of them besides.
const SURVIVORS_SHOWN_MAX: usize = 40;

/// What is gathered over the trials.
struct Trials<'a> {
    scenario: &'a Scenario<Office>,
    lines: Lines,
    graph: CallGraph,
    findings: Findings,
    agents: Vec<AgentTrial>,
    outcomes: Vec<Outcome>,
    noop: Option<Outcome>,
    best: Option<Outcome>,
    head: Option<String>,
    changes: Vec<ChangeTrial>,
    mutants: Option<Mutation>,
    mutant_outcomes: Vec<Outcome>,
    sabotage: Option<SabotageTrial>,
    hackers: Vec<HackerTrial>,
}

/// Tries `scenario` in every way.
pub(super) fn run(scenario: &Scenario<Office>, options: &CheckOptions<'_>) -> Result<Admission, RunError> {
    let mut trials = Trials {
        scenario,
        lines: Lines::of(scenario.package()),
        graph: CallGraph::of(&form::checks_source(scenario)),
        findings: Findings::default(),
        agents: Vec::new(),
        outcomes: Vec::new(),
        noop: None,
        best: None,
        head: None,
        changes: Vec::new(),
        mutants: None,
        mutant_outcomes: Vec::new(),
        sabotage: None,
        hackers: Vec::new(),
    };
    form::examine(scenario, &trials.lines, &mut trials.findings);
    examples::form(scenario, &trials.graph, &trials.lines, &mut trials.findings);
    leaks::own_words(scenario, &trials.lines, &mut trials.findings);
    if let Some(bench) = trials.bench(options)? {
        trials.play(&bench, options)?;
    }
    Ok(trials.admission())
}

impl<'a> Trials<'a> {
    /// Lays out the initial world; a refusal is a finding.
    fn bench(&mut self, options: &CheckOptions<'_>) -> Result<Option<Bench<'a>>, RunError> {
        let blobs: Arc<dyn Blobs> = Arc::new(MemoryBlobs::new());
        match self.scenario.prefix(office(self.scenario), &blobs) {
            Ok(_) => {
                let bench = Bench::new(self.scenario, self.scenario.script(), options.host.clone())?;
                if let Err(error) = bench.opened(SEEDS[0]) {
                    self.script_fails("the opening", &error.to_string());
                    return Ok(None);
                }
                Ok(Some(bench))
            }
            Err(PrefixError::Refused(problem)) => {
                self.findings.problem(&problem);
                Ok(None)
            }
            Err(PrefixError::Episode(error)) => {
                self.script_fails("the opening", &error.to_string());
                Ok(None)
            }
        }
    }

    fn play(&mut self, bench: &Bench<'a>, options: &CheckOptions<'_>) -> Result<(), RunError> {
        let seed = SEEDS[0];
        let noop = bench.play_noop(seed)?;
        self.noop(&noop);
        let solutions: Vec<Arc<Solution>> = self.scenario.solutions().to_vec();
        let Some(reference) = solutions.iter().find(|solution| solution.name == "reference") else { return Ok(()) };
        let (played, told) = follow(bench, seed, reference)?;
        let opened = bench.opened(seed)?;
        form::records(&opened, &mut self.findings);
        form::calendars(&opened, &mut self.findings);
        let opened = opened.world().dump();
        self.reference(&played, reference, &told, seed);
        for seed in &SEEDS[1..] {
            let (played, told) = follow(bench, *seed, reference)?;
            self.reference(&played, reference, &told, *seed);
        }
        for solution in solutions.iter().filter(|solution| solution.name != "reference") {
            let played = bench.play_solution(seed, solution, |_| {})?;
            self.solution(solution, &played);
        }
        self.deterministic(&played, reference, options)?;
        self.sabotage(bench, seed, reference, &played, noop.report.score)?;
        manners::run(bench, seed, reference, &self.lines, &mut self.findings)?;
        self.hackers(bench, seed, reference, &noop, options)?;
        leaks::derived_numbers(self.scenario, &opened, &played.opening, &told, &mut self.findings);
        examples::run(self.scenario, &played.episode, &mut self.findings);
        let best = played.outcome();
        if played.is_perfect() {
            let around = surroundings(self.scenario, bench, seed, reference, &played)?;
            let (mutants, left_out) = mutants::mutants(reference, &around);
            let total = mutants.len() + changes::count(self.scenario);
            let done = AtomicUsize::new(0);
            let progress = || (options.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, total);
            self.changes = changes::trials(bench, seed, reference, &best, &opened, (options.threads, &progress))?;
            let variant = |mutant: &Mutant| Variant {
                solution: Arc::clone(&mutant.solution),
                common: (mutant.day.clone(), mutant.common),
            };
            let variants: Vec<Variant> = mutants.iter().map(variant).collect();
            let waypoints = bench.waypoints(seed, reference)?;
            innocent::run(self.scenario, &waypoints, reference, (&self.graph, &self.lines), &mut self.findings)?;
            self.mutant_outcomes = bench.play_all(seed, &variants, &waypoints, options.threads, &progress)?;
            self.mutation(&mutants, left_out, &best);
        }
        self.best = Some(best);
        if self.mutants.is_some() {
            self.report_changes();
            self.report_checks();
        } else {
            let message = "mutants and changes are not tried before the reference solution reaches 1 at every check";
            let remedy = "mend what is said above, and check again";
            self.findings.note("scenario/not-tried", Place::new(REFERENCE, None), message, remedy);
        }
        Ok(())
    }

    fn noop(&mut self, played: &Played) {
        self.agent("noop", played);
        let specs = self.scenario.checks();
        let remedy = "give weight to what the agent must do, and little to what it must only leave alone";
        for (who, score) in
            [("an agent that does nothing", played.report.score), ("the initial world", played.report.start)]
        {
            if score > NOOP_SCORE_MAX {
                let message = format!("{who} scores {score:.3}; at most {NOOP_SCORE_MAX} is admitted");
                self.findings.error("scenario/vacuous", Place::new(MANIFEST, None), message, remedy);
            }
        }
        for (spec, verdict) in specs.specs().iter().zip(&played.report.verdicts) {
            // A world that is closed from the start is a constraint too, judged by what is left in the end.
            let function = self.lines.check_functions.get(&spec.id);
            let is_closed = function.is_some_and(|function| self.graph.asks_for_changes(function));
            let constraint = matches!(spec.moment, CountsAt::Throughout { .. }) || is_closed;
            if constraint || verdict.level < 1.0 || verdict.weight <= 0.0 {
                continue;
            }
            let place = place_of_check(&self.lines, &spec.id);
            let message = format!("the check '{}' stands at 1 for an agent that does nothing", spec.id);
            let remedy = "let it ask for something that was done, or make it a constraint ('moment: throughout')";
            if verdict.weight <= VACUOUS_WEIGHT_MAX {
                self.findings.warning("scenario/vacuous-check", place, message, remedy);
            } else {
                self.findings.error("scenario/vacuous-check", place, message, remedy);
            }
        }
        self.noop = Some(played.outcome());
    }

    fn reference(&mut self, played: &Played, reference: &Solution, told: &[Told], seed: u64) {
        if seed == SEEDS[0] {
            self.agent("reference", played);
            self.head = Some(played.report.head.hash.to_string());
        }
        for skipped in &played.skipped {
            let place = Place::new(skipped.file.as_str(), Some(skipped.line));
            let remedy = "refer to an answer that is there by then";
            self.findings.error("scenario/reference-stuck", place, skipped.message.as_str(), remedy);
        }
        for (each, why) in told.iter().filter_map(|each| Some((each, each.answer.strip_prefix(REFUSED)?))) {
            let place = Place::new(reference.file.as_str(), Some(each.line));
            let message = format!("this call of the reference solution is refused: {}", why.trim());
            let remedy = "correct the call, or what stands in its way";
            // Looking in vain, or waiting for what has come already, does no harm.
            if each.produces {
                self.findings.error("scenario/refused-call", place, message, remedy);
            } else {
                self.findings.warning("scenario/refused-call", place, message, remedy);
            }
        }
        let with = if seed == SEEDS[0] { String::new() } else { format!(" with seed {seed}") };
        let first = self.agents.iter().find(|trial| trial.agent == "reference");
        let known: Vec<SmolStr> =
            first.filter(|_| seed != SEEDS[0]).map(|trial| trial.fails.clone()).unwrap_or_default();
        let short = |verdict: &&dayshift_replay::Verdict| verdict.level < 1.0 && !known.contains(&verdict.spec.id);
        for verdict in played.report.verdicts.iter().filter(short) {
            let why = verdict.error.as_ref().map(|error| format!(" ({error})")).unwrap_or_default();
            let message = format!(
                "the reference solution reaches {:.2} at the check '{}'{with}{why}",
                verdict.level, verdict.spec.id
            );
            let remedy = "correct the check, the solution or the world; `dayshift why` shows what the check read";
            let place = place_of_check(&self.lines, &verdict.spec.id);
            self.findings.error("scenario/unsolvable", place, message, remedy);
        }
        if played.fault.is_none() && !played.report.finished {
            let message = format!("the episode of the reference solution does not end{with}");
            let remedy = "let the days and 'closes' come to an end";
            self.findings.error("scenario/unsolvable", Place::new(REFERENCE, None), message, remedy);
        }
    }

    fn solution(&mut self, solution: &Solution, played: &Played) {
        self.agent(&solution.name, played);
        let place = Place::new(solution.file.as_str(), None);
        let (name, score) = (&solution.name, played.report.score);
        if form::must_fail(solution) && played.report.passed {
            let message = format!("'{name}' must fail and passes with {score:.3}");
            let remedy = "let the checks see what it does wrong, or a red line cap its score";
            self.findings.error("scenario/bad-solution-passes", place.clone(), message, remedy);
        }
        if !form::must_fail(solution) && !played.report.passed {
            let message = format!("'{name}' must pass and fails with {score:.3}");
            let remedy = "let the checks accept this way too, or say 'passes: false'";
            self.findings.error("scenario/good-solution-fails", place.clone(), message, remedy);
        }
        for id in &solution.fails {
            let verdict = played.report.verdicts.iter().find(|verdict| verdict.spec.id == *id);
            if verdict.is_some_and(|verdict| verdict.level >= 1.0) {
                let message = format!("'{name}' must fail the check '{id}' and reaches 1 at it");
                let remedy = "let the check see what this solution does wrong, or leave it out of 'fails'";
                self.findings.error("scenario/does-not-fail", place.clone(), message, remedy);
            }
        }
    }

    /// Notes an episode, and what went wrong in the scenario's own scripts.
    fn agent(&mut self, name: &str, played: &Played) {
        let outcome = played.outcome();
        let fails = played.report.verdicts.iter().filter(|verdict| verdict.level < 1.0);
        self.agents.push(AgentTrial {
            agent: name.to_owned(),
            score: played.report.score,
            passed: played.report.passed,
            fails: fails.map(|verdict| verdict.spec.id.clone()).collect(),
        });
        self.scripts(name, &outcome);
        self.outcomes.push(outcome);
    }

    fn scripts(&mut self, name: &str, outcome: &Outcome) {
        if let Some(fault) = &outcome.fault {
            self.script_fails(name, fault);
        }
        if let Some(first) = outcome.failures.first() {
            let message = format!("in the episode of {name}, {first}");
            let remedy = "let conditions and personas bear whatever an agent does, and events what did not come about";
            self.findings.error("scenario/script-fails", Place::new(MANIFEST, None), message, remedy);
        }
        let specs = self.scenario.checks();
        for (spec, error) in specs.specs().iter().zip(&outcome.errors) {
            let Some(error) = error else { continue };
            let place = place_of_check(&self.lines, &spec.id);
            let message = format!("the check '{}' cannot be evaluated after {name}: {error}", spec.id);
            let remedy = "let it return 0 where what it looks for is not there";
            self.findings.error("scenario/check-fails", place, message, remedy);
        }
    }

    /// Lets an agent take away what persons and events need.
    fn sabotage(
        &mut self,
        bench: &Bench<'_>,
        seed: u64,
        reference: &Solution,
        played: &Played,
        noop: f64,
    ) -> Result<(), RunError> {
        let opened = bench.opened(seed)?;
        let calls = sabotage::calls(&opened, played, &self.scenario.agent_person().address);
        let script = self.scenario.script();
        let Some(first_day) = script.plan().days.first().filter(|_| !calls.is_empty()) else { return Ok(()) };
        let mut tools = std::collections::BTreeMap::new();
        for call in &calls {
            *tools.entry(call.tool.clone()).or_default() += 1;
        }
        let play = |goes_on| {
            let solution = sabotage::solution(calls.clone(), reference, &first_day.name, goes_on);
            bench.play_solution(seed, &Arc::new(solution), |_| {}).map(|played| played.outcome())
        };
        let (alone, besides) = (play(false)?, play(true)?);
        for (who, outcome) in
            [("an agent that only takes things away", &alone), ("the reference without them", &besides)]
        {
            if let Some(fault) = &outcome.fault {
                self.script_fails(who, fault);
            }
        }
        let failures: Vec<String> = alone.failures.iter().chain(&besides.failures).map(ToString::to_string).collect();
        if let Some(first) = failures.first() {
            let message = format!("where things are taken away that it looks at, {first}");
            let remedy = "let conditions and personas bear that what they look at is gone";
            self.findings.warning("scenario/script-fails", Place::new(MANIFEST, None), message, remedy);
        }
        if alone.score > noop + 1e-9 {
            let message = format!(
                "an agent that only takes away what persons and events need scores {:.3}, and one that does nothing {noop:.3}",
                alone.score
            );
            let remedy = "let the checks ask for what is there, and count nothing as done because it is gone";
            self.findings.error("scenario/sabotage-pays", Place::new(MANIFEST, None), message, remedy);
        }
        self.sabotage = Some(SabotageTrial { calls: tools, alone: alone.score, besides: besides.score, failures });
        Ok(())
    }

    /// Lets agents play that only want points.
    fn hackers(
        &mut self,
        bench: &Bench<'_>,
        seed: u64,
        reference: &Arc<Solution>,
        noop: &Played,
        options: &CheckOptions<'_>,
    ) -> Result<(), RunError> {
        let played = in_parallel(&TRICKS, options.threads, |trick| {
            let (played, calls) = hackers::play(bench, seed, reference, *trick)?;
            Ok((played.outcome(), played.report, calls))
        })?;
        for (trick, (outcome, report, calls)) in TRICKS.into_iter().zip(played) {
            let trial = HackerTrial::new(trick, calls, &report, &noop.report);
            let name = trial.name();
            if let Some(fault) = &outcome.fault {
                self.script_fails(&name, fault);
            }
            if let Some(first) = outcome.failures.first() {
                let message = format!("in the episode of {name}, {first}");
                let remedy = "let conditions and personas bear whatever an agent does";
                self.findings.warning("scenario/script-fails", Place::new(MANIFEST, None), message, remedy);
            }
            if trial.pays() {
                let verdict = if trial.passed { "passes" } else { "scores" };
                let message = format!(
                    "{name} {verdict} with {:.3}, and less than {HACKER_SCORE_MAX} is admitted; it earns {}",
                    trial.score,
                    trial.earned.join(", ")
                );
                let remedy = "let the checks ask for what only the work brings about, and mind what was done besides";
                self.findings.error("scenario/trick-pays", Place::new(MANIFEST, None), message, remedy);
            }
            self.hackers.push(trial);
        }
        Ok(())
    }

    fn script_fails(&mut self, name: &str, fault: &str) {
        let message = format!("the episode of {name} cannot go on: {fault}");
        let remedy = "let conditions and personas bear whatever an agent does";
        self.findings.error("scenario/script-fails", Place::new(MANIFEST, None), message, remedy);
    }

    fn deterministic(
        &mut self,
        played: &Played,
        reference: &Arc<Solution>,
        options: &CheckOptions<'_>,
    ) -> Result<(), RunError> {
        let head = played.report.head.hash.to_string();
        let again = Bench::new(self.scenario, self.scenario.script(), options.host.clone())?;
        let again = again.play_solution(SEEDS[0], reference, |_| {})?;
        let mut others = vec![("a second run", Ok(again.report.head.hash.to_string()))];
        if let Some(elsewhere) = options.elsewhere {
            others.push(("a run in another process", elsewhere()));
        }
        for (what, other) in others {
            let remedy = "this is a fault of the engine: report it with the package";
            match other {
                Ok(other) if other == head => {}
                Ok(other) => {
                    let message = format!("{what} comes to another log: head {other} instead of {head}");
                    self.findings.error("scenario/not-deterministic", Place::new(MANIFEST, None), message, remedy);
                }
                Err(why) => {
                    let message = format!("{what} could not be compared: {why}");
                    let remedy = "run `dayshift run` on the package and see what it says";
                    self.findings.error("scenario/not-compared", Place::new(MANIFEST, None), message, remedy);
                }
            }
        }
        Ok(())
    }

    fn mutation(&mut self, mutants: &[Mutant], left_out: usize, best: &Outcome) {
        let mut mutation = Mutation { tried: mutants.len(), left_out, ..Mutation::default() };
        let outcomes = std::mem::take(&mut self.mutant_outcomes);
        for (mutant, outcome) in mutants.iter().zip(&outcomes) {
            let name = || format!("a mutant ({}, line {})", mutant.change, mutant.line);
            if let Some(fault) = &outcome.fault {
                self.script_fails(&name(), fault);
            }
            if let Some(first) = outcome.failures.first() {
                let message = format!("in the episode of {}, {first}", name());
                let remedy = "let conditions and personas bear whatever an agent does";
                self.findings.warning("scenario/script-fails", Place::new(MANIFEST, None), message, remedy);
            }
            let killed = outcome.is_worse_than(best);
            if !killed && outcome.world == best.world {
                mutation.equivalent += 1;
                continue;
            }
            let (of_kind, all) = mutation.kinds.entry(mutant.kind).or_default();
            *all += 1;
            if killed {
                *of_kind += 1;
                mutation.killed += 1;
                continue;
            }
            mutation.survivors.push(Survivor {
                kind: mutant.kind,
                day: mutant.day.clone(),
                turn: mutant.turn,
                line: mutant.line,
                change: mutant.change.clone(),
            });
        }
        self.mutant_outcomes = outcomes;
        let score = mutation.score();
        let place = Place::new(REFERENCE, None);
        match score {
            None => {
                let message = "the reference solution changes nothing that could be done wrong";
                self.findings.error(
                    "scenario/no-mutants",
                    place,
                    message,
                    "let the request ask for something to be done",
                );
            }
            Some(score) if score < MUTATION_SCORE_MIN => {
                let message = format!(
                    "{} of {} agents that do one thing wrong score as well as the reference: mutation score {score:.3}, at least \
                     {MUTATION_SCORE_MIN} is admitted",
                    mutation.survivors.len(),
                    mutation.tried - mutation.equivalent,
                );
                let remedy =
                    "let the checks look at what the survivors got wrong, or leave needless calls out of the reference";
                self.findings.error("scenario/hackable", place, message, remedy);
            }
            Some(_) => {}
        }
        for survivor in mutation.survivors.iter().take(SURVIVORS_SHOWN_MAX) {
            let message = format!("no check minds: {} (day {}, turn {})", survivor.change, survivor.day, survivor.turn);
            let remedy = "let a check look at it, or leave the call out if nothing depends on it";
            let place = Place::new(REFERENCE, Some(survivor.line));
            self.findings.warning("scenario/survivor", place, message, remedy);
        }
        self.mutants = Some(mutation);
    }

    fn report_changes(&mut self) {
        for trial in self.changes.iter().filter(|trial| trial.is_inert()) {
            let (file, line) = match trial.change.strip_prefix("persona:") {
                Some(person) => (MANIFEST, self.lines.people.get(person).copied()),
                None => (MANIFEST, self.lines.events.get(trial.change.as_str()).copied()),
            };
            let place = Place::new(file, line);
            let message = format!("no check depends on '{}': an agent that ignores it loses nothing", trial.change);
            if trial.loud {
                let remedy = "fine for a distractor; otherwise let a check depend on what it changes";
                self.findings.note("scenario/inert-change", place, message, remedy);
            } else {
                let remedy = "let a check depend on what it changes, or leave the event out";
                self.findings.error("scenario/inert-change", place, message, remedy);
            }
        }
        let all = self.outcomes.iter().chain(&self.mutant_outcomes);
        for event in changes::never_happened(self.scenario, all) {
            let place = Place::new(MANIFEST, self.lines.events.get(event.as_str()).copied());
            let message = format!("the event '{event}' happens to no agent that was tried");
            let remedy = "record a solution to which it happens, or correct its condition";
            self.findings.warning("scenario/never-happens", place, message, remedy);
        }
    }

    /// Every check must be able to fail: somebody falls short of it.
    fn report_checks(&mut self) {
        let specs = self.scenario.checks();
        for (index, spec) in specs.specs().iter().enumerate() {
            let short = |outcome: &Outcome| outcome.levels.get(index).is_some_and(|level| *level < 1.0);
            if self.outcomes.iter().chain(&self.mutant_outcomes).any(short) {
                continue;
            }
            let place = place_of_check(&self.lines, &spec.id);
            let message =
                format!("nobody fails the check '{}': neither noop, nor a bad solution, nor a mutant", spec.id);
            let remedy = "record a bad solution that must fail it, or correct the check";
            self.findings.error("scenario/cannot-fail", place, message, remedy);
        }
    }

    fn admission(self) -> Admission {
        let admitted = self.findings.admits();
        let checks = self.scenario.checks();
        let total: f64 = checks.specs().iter().map(|spec| spec.weight).sum();
        let level = |outcome: &Option<Outcome>, index: usize| {
            outcome.as_ref().and_then(|outcome| outcome.levels.get(index)).copied().unwrap_or_default()
        };
        let trial = |(index, spec): (usize, &dayshift_engine::CheckSpec)| CheckTrial {
            id: spec.id.clone(),
            weight: spec.weight / if total > 0.0 { total } else { 1.0 },
            noop: level(&self.noop, index),
            reference: level(&self.best, index),
            kills: self.mutant_outcomes.iter().filter(|outcome| outcome.levels[index] < 1.0).count(),
        };
        Admission {
            scenario: self.scenario.id().to_owned(),
            digest: self.scenario.digest().to_string(),
            admitted,
            mutation_score: self.mutants.as_ref().and_then(Mutation::score),
            checks: checks.specs().iter().enumerate().map(trial).collect(),
            findings: self.findings.into_sorted(),
            head: self.head,
            agents: self.agents,
            mutants: self.mutants,
            sabotage: self.sabotage,
            hackers: self.hackers,
            changes: self.changes,
        }
    }
}
