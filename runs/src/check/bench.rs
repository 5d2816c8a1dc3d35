//! The bench on which a scenario is tried: agents play it in memory, without a store, and are graded. The initial world is laid out and
//! folded once; every trial begins with a clone of it, or of a trial that has come further.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dayshift_engine::codec::Stored;
use dayshift_engine::{
    Blobs, Episode, EpisodeError, EventId, Host, Input, MemoryBlobs, Prefix, Request, Script, Seed, SmolStr,
    StateDigest, Step, World,
};
use dayshift_replay::{Grader, Report};
use dayshift_scenarios::{Agent, AgentError, Noop, Observation, Scenario, Scripted, Solution};
use dayshift_services::Office;

use crate::failure::ScriptFailure;
use crate::office::office;

/// A scenario, laid out and ready to be played.
pub(super) struct Bench<'a> {
    scenario: &'a Scenario<Office>,
    script: Arc<dyn Script<Office>>,
    blobs: Arc<dyn Blobs>,
    prefix: Prefix<Office>,
    host: Option<Arc<dyn Host>>,
    /// The fold of the initial world, for grading.
    shadow: (Episode<Office>, Grader<Office>),
}

/// An episode under way, graded as far as it has come. A clone goes its own way from here.
#[derive(Clone)]
pub(super) struct Trial {
    pub(super) episode: Episode<Office>,
    /// What came of the last input; at first, of the opening.
    pub(super) last: Step,
    opening: Vec<String>,
    shadow: Episode<Office>,
    grader: Grader<Office>,
    graded: u64,
    /// How many checks there are.
    checks: usize,
    failures: Vec<ScriptFailure>,
    happened: BTreeSet<EventId>,
}

/// A trial on the way of a solution, and the agent that follows it.
#[derive(Clone)]
struct Waypoint {
    trial: Trial,
    agent: Follower,
}

/// An agent that follows a solution, and goes on with the next call when one cannot be made because an earlier answer is not there.
#[derive(Clone)]
pub(super) struct Follower {
    agent: Scripted,
    skipped: Vec<AgentError>,
}

/// Where a solution comes by before its calls, by day and by the number of calls made on that day: where its variants can begin.
#[derive(Clone, Default)]
pub(super) struct Waypoints(BTreeMap<(SmolStr, usize), Waypoint>);

impl Waypoints {
    /// Returns the trial at the end of the last day of `solution`, before it is handed over.
    pub(super) fn at_the_end_of(&self, solution: &Solution) -> Option<&Trial> {
        let (last, _) = solution.days.last()?;
        let of_it = self.0.iter().filter(|((day, _), _)| day == last);
        of_it.max_by_key(|((_, made), _)| *made).map(|(_, waypoint)| &waypoint.trial)
    }
}

/// A variant of a solution, and how many calls of which day it has in common with it.
pub(super) struct Variant {
    pub(super) solution: Arc<Solution>,
    pub(super) common: (SmolStr, usize),
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

impl Follower {
    pub(super) fn new(solution: Arc<Solution>) -> Self {
        Self { agent: Scripted::new(solution), skipped: Vec::new() }
    }

    /// Returns the next input on `day` of `trial`.
    pub(super) fn next(&mut self, trial: &Trial, day: &str) -> Input {
        // Each error uses up one call of the solution, so this ends.
        loop {
            match self.agent.act(&trial.observation(day)) {
                Ok(input) => return input,
                Err(error) => self.skipped.push(error),
            }
        }
    }

    fn turned_to(self, solution: Arc<Solution>) -> Self {
        Self { agent: self.agent.turned_to(solution), ..self }
    }
}

impl<'a> Bench<'a> {
    /// Lays out `scenario` with `script` in the place of its own.
    ///
    /// # Errors
    ///
    /// [`EpisodeError`] when the initial world cannot be laid out.
    pub(super) fn new(
        scenario: &'a Scenario<Office>,
        script: Arc<dyn Script<Office>>,
        host: Option<Arc<dyn Host>>,
    ) -> Result<Self, EpisodeError> {
        let blobs: Arc<dyn Blobs> = Arc::new(MemoryBlobs::new());
        let genesis = scenario.genesis(&*blobs);
        let calls = scenario.setup().iter().map(|setup| setup.call.clone()).collect();
        let prefix = Prefix::build(office(scenario), genesis, calls, Arc::clone(&script), Arc::clone(&blobs))?;
        let mut shadow = Episode::blank(office(scenario), Arc::clone(&script), Arc::clone(&blobs));
        let mut grader = Grader::of_outcome(scenario.checks());
        for record in prefix.log().since(0) {
            grader.absorb(&mut shadow, Arc::clone(record))?;
        }
        Ok(Self { scenario, script, blobs, prefix, host, shadow: (shadow, grader) })
    }

    /// Lets an agent that does nothing play.
    ///
    /// # Errors
    ///
    /// [`EpisodeError`] when the log cannot be graded.
    pub(super) fn play_noop(&self, seed: u64) -> Result<Played, EpisodeError> {
        self.play(seed, |trial, day| {
            let observation = trial.observation(day);
            // It has nothing that could fail.
            Noop.act(&observation).unwrap_or(Input::HandOver { text: String::new() })
        })
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
        let waypoint = Waypoint { trial: self.begin(seed)?, agent: Follower::new(Arc::clone(solution)) };
        self.follow(waypoint, watch, |_, _| {})
    }

    /// Lets `solution` play and returns where it comes by.
    ///
    /// # Errors
    ///
    /// [`EpisodeError`] when the log cannot be graded.
    pub(super) fn waypoints(&self, seed: u64, solution: &Arc<Solution>) -> Result<Waypoints, EpisodeError> {
        let mut waypoints = Waypoints::default();
        let start = Waypoint { trial: self.begin(seed)?, agent: Follower::new(Arc::clone(solution)) };
        let made = std::cell::RefCell::new((SmolStr::default(), 0_usize));
        let played = self.follow(
            start,
            |moment| made.borrow_mut().1 += usize::from(matches!(moment.input, Input::Call(_))),
            |day, waypoint| {
                let mut made = made.borrow_mut();
                if made.0 != day {
                    *made = (day.into(), 0);
                }
                waypoints.0.entry(made.clone()).or_insert_with(|| waypoint.clone());
            },
        )?;
        // Calls that were skipped are not among those that were made, and then their number does not say where they are.
        if !played.skipped.is_empty() {
            waypoints.0.clear();
        }
        Ok(waypoints)
    }

    /// Lets every one of `variants` play, by `threads` at a time, each from where it leaves the way of the solution that went by `waypoints`.
    /// The outcomes come in the order of the variants.
    ///
    /// # Errors
    ///
    /// [`EpisodeError`] when a log cannot be graded.
    pub(super) fn play_all(
        &self,
        seed: u64,
        variants: &[Variant],
        waypoints: &Waypoints,
        threads: usize,
        progress: &(dyn Fn() + Sync),
    ) -> Result<Vec<Outcome>, EpisodeError> {
        in_parallel(variants, threads, |variant| {
            let start = match waypoints.0.get(&variant.common) {
                Some(waypoint) => Waypoint {
                    trial: waypoint.trial.clone(),
                    agent: waypoint.agent.clone().turned_to(Arc::clone(&variant.solution)),
                },
                None => Waypoint { trial: self.begin(seed)?, agent: Follower::new(Arc::clone(&variant.solution)) },
            };
            let outcome = self.follow(start, |_| {}, |_, _| {}).map(|played| played.outcome());
            progress();
            outcome
        })
    }

    /// Lets `agent` play: it sees the trial and the day's name, and says what comes next.
    ///
    /// # Errors
    ///
    /// [`EpisodeError`] when the log cannot be graded.
    pub(super) fn play(&self, seed: u64, mut agent: impl FnMut(&Trial, &str) -> Input) -> Result<Played, EpisodeError> {
        let mut trial = self.begin(seed)?;
        let mut fault = None;
        while !trial.episode.is_closed() && fault.is_none() {
            let day = trial.day();
            let input = agent(&trial, &day);
            fault = trial.input(input)?;
        }
        Ok(trial.end(fault, Vec::new()))
    }

    /// Returns the episode at its opening.
    ///
    /// # Errors
    ///
    /// [`EpisodeError`] when a script of the scenario fails.
    pub(super) fn opened(&self, seed: u64) -> Result<Episode<Office>, EpisodeError> {
        Ok(self.open(seed)?.0)
    }

    fn open(&self, seed: u64) -> Result<(Episode<Office>, Step), EpisodeError> {
        Episode::open(&self.prefix, Seed::new(seed), Arc::clone(&self.script), Arc::clone(&self.blobs))
    }

    /// Returns the trial at its opening.
    ///
    /// # Errors
    ///
    /// [`EpisodeError`] when the log cannot be graded.
    pub(super) fn begin(&self, seed: u64) -> Result<Trial, EpisodeError> {
        let (shadow, grader) = self.shadow.clone();
        let (mut episode, opening) = self.open(seed)?;
        if let Some(host) = &self.host {
            episode.set_host(Arc::clone(host));
        }
        let mut trial = Trial {
            episode,
            opening: opening.notices.clone(),
            last: opening,
            shadow,
            grader,
            graded: self.prefix.log().head().count,
            checks: self.scenario.checks().specs().len(),
            failures: Vec::new(),
            happened: BTreeSet::new(),
        };
        trial.grade()?;
        Ok(trial)
    }

    /// Goes on from `start` to the end. `watch` sees every input with what came of it, `pass` every waypoint before its input.
    fn follow(
        &self,
        start: Waypoint,
        mut watch: impl FnMut(&Moment<'_>),
        mut pass: impl FnMut(&str, &Waypoint),
    ) -> Result<Played, EpisodeError> {
        let mut at = start;
        let mut fault = None;
        while !at.trial.episode.is_closed() && fault.is_none() {
            let day = at.trial.day();
            pass(&day, &at);
            let input = at.agent.next(&at.trial, &day);
            let before = at.trial.episode.clone();
            fault = at.trial.input(input.clone())?;
            if fault.is_none() {
                watch(&Moment { day: &day, input: &input, step: &at.trial.last, before: &before });
            }
        }
        Ok(at.trial.end(fault, at.agent.skipped))
    }

    pub(super) fn scenario(&self) -> &'a Scenario<Office> {
        self.scenario
    }

    pub(super) fn host(&self) -> Option<Arc<dyn Host>> {
        self.host.clone()
    }
}

/// Does `work` for every one of `items`, by `threads` at a time. The results come in the order of the items.
///
/// # Errors
///
/// The first error among the results.
pub(super) fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> Result<R, EpisodeError> + Sync,
) -> Result<Vec<R>, EpisodeError> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<Result<R, EpisodeError>>>> = Mutex::new(items.iter().map(|_| None).collect());
    let worker = || {
        while let Some((index, item)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|index| Some((index, items.get(index)?)))
        {
            let result = work(item);
            results.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(result);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(items.len()) {
            scope.spawn(worker);
        }
        worker();
    });
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    // Every index below the length was taken by exactly one worker, and a worker that panics takes the scope down.
    results.into_iter().flatten().collect()
}

impl Trial {
    /// Returns the name of the day.
    pub(super) fn day(&self) -> SmolStr {
        let days = &self.episode.script().plan().days;
        let index = (self.episode.day().get() as usize).checked_sub(1);
        index.and_then(|index| days.get(index)).map(|day| day.name.clone()).unwrap_or_default()
    }

    fn observation<'t>(&'t self, day: &'t str) -> Observation<'t> {
        Observation { day: self.episode.day(), day_name: day, time: self.episode.now(), last: &self.last }
    }

    /// Makes one input, and grades what came of it. Returns why the episode cannot go on, if so.
    ///
    /// # Errors
    ///
    /// [`EpisodeError`] when the log cannot be graded.
    pub(super) fn input(&mut self, input: Input) -> Result<Option<String>, EpisodeError> {
        let fault = match self.episode.input(input) {
            Ok(step) => {
                self.last = step;
                None
            }
            Err(error) => Some(error.to_string()),
        };
        self.grade()?;
        Ok(fault)
    }

    fn grade(&mut self) -> Result<(), EpisodeError> {
        for record in self.episode.log().since(self.graded) {
            let stored = Stored::new(record)?;
            let head = stored.head()?;
            self.failures.extend(ScriptFailure::of(stored)?);
            // A look that belongs to an event says that its condition failed.
            self.happened.extend(head.event.filter(|_| head.request != Request::Look));
            self.grader.absorb(&mut self.shadow, Arc::clone(record))?;
        }
        self.graded = self.episode.log().head().count;
        Ok(())
    }

    /// Returns the levels of the constraints as they stand now; those of other checks are not up to date.
    pub(super) fn constraints(&self) -> Vec<f64> {
        let mut grader = self.grader.clone();
        grader.settle(&self.shadow);
        (0..self.checks).map(|check| grader.level(check)).collect()
    }

    fn end(self, fault: Option<String>, skipped: Vec<AgentError>) -> Played {
        let report = self.grader.report(&self.shadow);
        Played {
            episode: self.episode,
            report,
            opening: self.opening,
            fault,
            failures: self.failures,
            skipped,
            happened: self.happened,
        }
    }
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
