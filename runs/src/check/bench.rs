//! The bench on which a scenario is tried: agents play it in memory, without a store, and are graded. The initial world is laid out and
//! folded once; every trial begins with a clone.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dayshift_engine::codec::Stored;
use dayshift_engine::{
    Blobs, Episode, EpisodeError, EventId, Input, MemoryBlobs, Prefix, Request, Script, Seed, SmolStr, StateDigest,
    Step, World,
};
use dayshift_replay::{Grader, Report};
use dayshift_scenarios::{Agent, AgentError, Noop, Observation, Scenario, Scripted, Solution};
use dayshift_services::Office;

use crate::failure::ScriptFailure;

/// A scenario, laid out and ready to be played.
pub(super) struct Bench<'a> {
    scenario: &'a Scenario<Office>,
    script: Arc<dyn Script<Office>>,
    blobs: Arc<dyn Blobs>,
    prefix: Prefix<Office>,
    /// The fold of the initial world, for grading.
    shadow: (Episode<Office>, Grader<Office>),
}

/// What came of one episode.
pub(super) struct Played {
    /// The episode, at its end or where it could not go on.
    pub(super) episode: Episode<Office>,
    /// Its verdicts.
    pub(super) report: Report,
    /// What the agent was told at the opening.
    pub(super) opening: Vec<String>,
    /// Why the episode could not go on, if so.
    pub(super) fault: Option<String>,
    /// The scripts of the scenario that failed.
    pub(super) failures: Vec<ScriptFailure>,
    /// The calls that could not even be made: their references led nowhere.
    pub(super) skipped: Vec<AgentError>,
    /// The exogenous events that happened.
    pub(super) happened: BTreeSet<EventId>,
}

/// What is left of an episode when only its outcome counts.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) score: f64,
    pub(super) levels: Vec<f64>,
    /// By check: why it could not be evaluated.
    pub(super) errors: Vec<Option<String>>,
    pub(super) world: StateDigest,
    pub(super) fault: Option<String>,
    pub(super) failures: Vec<ScriptFailure>,
    pub(super) happened: BTreeSet<EventId>,
}

/// One input and what came of it, as a watcher sees it.
pub(super) struct Moment<'a> {
    pub(super) day: &'a str,
    pub(super) input: &'a Input,
    pub(super) step: &'a Step,
    /// The episode just before the input.
    pub(super) before: &'a Episode<Office>,
}

/// An agent that goes on with the next call when one cannot be made because an earlier answer is not there.
struct Persevering {
    inner: Scripted,
    skipped: Vec<AgentError>,
}

impl Agent for Persevering {
    fn act(&mut self, observation: &Observation<'_>) -> Result<Input, AgentError> {
        // Each error uses up one call of the solution, so this ends.
        loop {
            match self.inner.act(observation) {
                Ok(input) => return Ok(input),
                Err(error) => self.skipped.push(error),
            }
        }
    }
}

impl<'a> Bench<'a> {
    /// Lays out `scenario` with `script` in the place of its own.
    ///
    /// # Errors
    ///
    /// [`EpisodeError`] when the initial world cannot be laid out.
    pub(super) fn new(scenario: &'a Scenario<Office>, script: Arc<dyn Script<Office>>) -> Result<Self, EpisodeError> {
        let blobs: Arc<dyn Blobs> = Arc::new(MemoryBlobs::new());
        let genesis = scenario.genesis(&*blobs);
        let calls = scenario.setup().iter().map(|setup| setup.call.clone()).collect();
        let prefix = Prefix::build(Office::default(), genesis, calls, Arc::clone(&script), Arc::clone(&blobs))?;
        let mut shadow = Episode::blank(Office::default(), Arc::clone(&script), Arc::clone(&blobs));
        let mut grader = Grader::new(scenario.checks());
        for record in prefix.log().since(0) {
            grader.absorb(&mut shadow, Arc::clone(record))?;
        }
        Ok(Self { scenario, script, blobs, prefix, shadow: (shadow, grader) })
    }

    /// Lets an agent that does nothing play.
    ///
    /// # Errors
    ///
    /// [`EpisodeError`] when the log cannot be graded.
    pub(super) fn play_noop(&self, seed: u64) -> Result<Played, EpisodeError> {
        self.play(seed, &mut Noop, |_| {})
    }

    /// Lets `solution` play. `watch` sees every input with what came of it.
    ///
    /// # Errors
    ///
    /// [`EpisodeError`] when the log cannot be graded.
    pub(super) fn play_solution(
        &self,
        seed: u64,
        solution: &Arc<Solution>,
        watch: impl FnMut(&Moment<'_>),
    ) -> Result<Played, EpisodeError> {
        let mut agent = Persevering { inner: Scripted::new(Arc::clone(solution)), skipped: Vec::new() };
        let played = self.play(seed, &mut agent, watch)?;
        Ok(Played { skipped: agent.skipped, ..played })
    }

    /// Lets every one of `solutions` play, by `threads` at a time. The outcomes come in the order of the solutions.
    ///
    /// # Errors
    ///
    /// [`EpisodeError`] when a log cannot be graded.
    pub(super) fn play_all(
        &self,
        seed: u64,
        solutions: &[Arc<Solution>],
        threads: usize,
        progress: &(dyn Fn() + Sync),
    ) -> Result<Vec<Outcome>, EpisodeError> {
        let next = AtomicUsize::new(0);
        let outcomes: Mutex<Vec<Option<Result<Outcome, EpisodeError>>>> =
            Mutex::new(solutions.iter().map(|_| None).collect());
        let work = || {
            while let Some((index, solution)) =
                Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|index| Some((index, solutions.get(index)?)))
            {
                let outcome = self.play_solution(seed, solution, |_| {}).map(|played| played.outcome());
                outcomes.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(outcome);
                progress();
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads.min(solutions.len()) {
                scope.spawn(work);
            }
            work();
        });
        let outcomes = outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
        // Every index below the length was taken by exactly one worker, and a worker that panics takes the scope down.
        outcomes.into_iter().flatten().collect()
    }

    /// Returns the episode at its opening.
    ///
    /// # Errors
    ///
    /// [`EpisodeError`] when a script of the scenario fails.
    pub(super) fn opened(&self, seed: u64) -> Result<Episode<Office>, EpisodeError> {
        let opened = Episode::open(&self.prefix, Seed::new(seed), Arc::clone(&self.script), Arc::clone(&self.blobs));
        Ok(opened?.0)
    }

    fn play(
        &self,
        seed: u64,
        agent: &mut dyn Agent,
        mut watch: impl FnMut(&Moment<'_>),
    ) -> Result<Played, EpisodeError> {
        let (mut shadow, mut grader) = self.shadow.clone();
        let opened = Episode::open(&self.prefix, Seed::new(seed), Arc::clone(&self.script), Arc::clone(&self.blobs));
        let (mut episode, opening) = opened?;
        let told = opening.notices.clone();
        let watched = |before: &Episode<Office>, input: &Input, step: &Step, day: &str| {
            watch(&Moment { day, input, step, before });
        };
        let fault = drive(&mut episode, opening, agent, watched).err().map(|error| error.to_string());
        let mut happened = BTreeSet::new();
        let mut failures = Vec::new();
        for record in episode.log().since(self.prefix.log().head().count) {
            let stored = Stored::new(record)?;
            let head = stored.head()?;
            failures.extend(ScriptFailure::of(stored)?);
            // A look that belongs to an event says that its condition failed.
            happened.extend(head.event.filter(|_| head.request != Request::Look));
            grader.absorb(&mut shadow, Arc::clone(record))?;
        }
        let report = grader.report(&shadow);
        Ok(Played { episode, report, opening: told, fault, failures, skipped: Vec::new(), happened })
    }

    pub(super) fn scenario(&self) -> &'a Scenario<Office> {
        self.scenario
    }
}

/// Feeds the agent's inputs until the episode ends. The watcher hears on which day each was made, and sees the episode as it was before.
fn drive(
    episode: &mut Episode<Office>,
    opening: Step,
    agent: &mut dyn Agent,
    mut watch: impl FnMut(&Episode<Office>, &Input, &Step, &str),
) -> Result<(), EpisodeError> {
    let mut last = opening;
    while !episode.is_closed() {
        let day = episode.day();
        let days = &episode.script().plan().days;
        let name: SmolStr = (day.get() as usize)
            .checked_sub(1)
            .and_then(|at| days.get(at))
            .map(|day| day.name.clone())
            .unwrap_or_default();
        let observation = Observation { day, day_name: &name, time: episode.now(), last: &last };
        // A solution's agent perseveres and noop has nothing that could fail: there is no error here but a hand-over.
        let input = agent.act(&observation).unwrap_or(Input::HandOver { text: String::new() });
        let before = episode.clone();
        last = episode.input(input.clone())?;
        watch(&before, &input, &last, &name);
    }
    Ok(())
}

impl Played {
    /// Returns what is left when only the outcome counts.
    pub(super) fn outcome(&self) -> Outcome {
        Outcome {
            score: self.report.score,
            levels: self.report.verdicts.iter().map(|verdict| verdict.level).collect(),
            errors: self.report.verdicts.iter().map(|verdict| verdict.error.clone()).collect(),
            world: self.episode.world().digest(),
            fault: self.fault.clone(),
            failures: self.failures.clone(),
            happened: self.happened.clone(),
        }
    }

    /// Returns whether every check stands at its full level and the score is 1.
    pub(super) fn is_perfect(&self) -> bool {
        self.fault.is_none() && self.report.finished && self.report.strict && self.report.score >= 1.0 - 1e-9
    }
}

impl Outcome {
    /// Returns the checks at which this does worse than `best`, by index.
    pub(super) fn worse_than(&self, best: &Self) -> Vec<usize> {
        let pairs = self.levels.iter().zip(&best.levels).enumerate();
        pairs.filter(|(_, (here, there))| **here < **there - 1e-9).map(|(index, _)| index).collect()
    }

    /// Returns whether this does worse than `best` in any way.
    pub(super) fn is_worse_than(&self, best: &Self) -> bool {
        self.fault.is_some() || self.score < best.score - 1e-9 || !self.worse_than(best).is_empty()
    }
}
