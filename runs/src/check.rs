//! Validating a scenario: whether it is well-formed, solvable, not vacuous, not hackable, free of leaks, deterministic, and whether what the
//! world does by itself matters. Every episode is played in memory. The rules are those of `docs/scenarios.md`.

mod bench;
mod calls;
mod changes;
mod examples;
mod finding;
mod following;
mod form;
mod hackers;
mod innocent;
mod leaks;
mod literals;
mod manners;
mod mutants;
mod places;
mod sabotage;
mod sources;
mod trials;
mod undo;

use std::collections::BTreeMap;
use std::sync::Arc;

use dayshift_engine::{Host, SmolStr};
use dayshift_scenarios::{Package, Problem, Scenario};
use dayshift_services::Office;
use serde::Serialize;

pub use changes::ChangeTrial;
pub use finding::{Finding, Severity};
pub use hackers::{HACKER_SCORE_MAX, HackerTrial, TRICKS, Trick};
pub use mutants::{MUTANTS_MAX, MutantKind};

use crate::error::RunError;

/// The smallest mutation score with which a scenario is admitted.
pub const MUTATION_SCORE_MIN: f64 = 0.9;

/// The largest score with which an agent that does nothing may end.
pub const NOOP_SCORE_MAX: f64 = 0.2;

/// Up to which share of the weights a check may stand at its full level for an agent that does nothing, and only be warned of.
pub const VACUOUS_WEIGHT_MAX: f64 = 0.03;

/// The seeds with which the reference solution must succeed. The first is the seed of all other trials.
pub const SEEDS: [u64; 3] = [1, 2, 3];

/// Plays the reference solution in another process, with the first of [`SEEDS`], and returns the head hash.
pub type Elsewhere<'a> = &'a dyn Fn() -> Result<String, String>;

/// How a scenario is checked.
pub struct CheckOptions<'a> {
    /// How many episodes are played at a time.
    pub threads: usize,
    /// Who carries out the errands of calls; without it such calls are refused.
    pub host: Option<Arc<dyn Host>>,
    /// Another process to compare with; without one, only this process is tried.
    pub elsewhere: Option<Elsewhere<'a>>,
    /// Hears how many trials are done, of how many.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
}

/// What checking a scenario came to.
#[derive(Clone, Debug, Serialize)]
pub struct Admission {
    /// The scenario's id, or the package's name if it does not load.
    pub scenario: String,
    /// The digest of the package, hexadecimal.
    pub digest: String,
    /// Whether the scenario is admitted: no finding is an error.
    pub admitted: bool,
    /// Killed mutants among those that are not equivalent to the reference; none if none were tried.
    pub mutation_score: Option<f64>,
    /// What was found, errors first.
    pub findings: Vec<Finding>,
    /// The head hash of the reference solution with the first seed, hexadecimal.
    pub head: Option<String>,
    /// Who played, and with which outcome.
    pub agents: Vec<AgentTrial>,
    /// The checks, in the author's order.
    pub checks: Vec<CheckTrial>,
    /// How the mutants fared, if any were tried.
    pub mutants: Option<Mutation>,
    /// How an agent fared that takes away what persons and events need, if one was tried.
    pub sabotage: Option<SabotageTrial>,
    /// How agents fared that only want points.
    pub hackers: Vec<HackerTrial>,
    /// Whether what the world does by itself matters.
    pub changes: Vec<ChangeTrial>,
}

/// One agent's episode.
#[derive(Clone, Debug, Serialize)]
pub struct AgentTrial {
    /// `noop`, or the solution's name.
    pub agent: String,
    /// The score.
    pub score: f64,
    /// Whether it reaches the threshold.
    pub passed: bool,
    /// The checks below their full level.
    pub fails: Vec<SmolStr>,
}

/// One check over all agents that were tried.
#[derive(Clone, Debug, Serialize)]
pub struct CheckTrial {
    /// Its id.
    pub id: SmolStr,
    /// Its share of the score.
    pub weight: f64,
    /// Its level for an agent that does nothing.
    pub noop: f64,
    /// Its level for the reference solution.
    pub reference: f64,
    /// How many mutants fall short of it.
    pub kills: usize,
}

/// An agent that takes away, before anything else, what persons look at and what events change.
#[derive(Clone, Debug, Serialize)]
pub struct SabotageTrial {
    /// The calls by which it does so, by tool.
    pub calls: BTreeMap<SmolStr, usize>,
    /// Its score if it does nothing else; nothing must be gained.
    pub alone: f64,
    /// Its score if it does all that the reference does besides.
    pub besides: f64,
    /// The scripts that fail then.
    pub failures: Vec<String>,
}

/// How the mutants fared.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Mutation {
    /// How many were tried.
    pub tried: usize,
    /// How many were not tried, beyond [`MUTANTS_MAX`].
    pub left_out: usize,
    /// How many did worse than the reference.
    pub killed: usize,
    /// How many came to the very world of the reference.
    pub equivalent: usize,
    /// Killed and tried mutants that are not equivalent, by what they do wrong.
    pub kinds: BTreeMap<MutantKind, (usize, usize)>,
    /// Those that did as well as the reference.
    pub survivors: Vec<Survivor>,
}

/// A mutant that did as well as the reference.
#[derive(Clone, Debug, Serialize)]
pub struct Survivor {
    /// What it does wrong.
    pub kind: MutantKind,
    /// The day's name.
    pub day: SmolStr,
    /// The turn of that day, from 1.
    pub turn: usize,
    /// The line of `solutions/reference.yaml` that was changed.
    pub line: u32,
    /// What was changed.
    pub change: String,
}

impl Mutation {
    /// Returns the mutation score; none if no mutant counts.
    #[must_use]
    pub fn score(&self) -> Option<f64> {
        let counted = self.tried - self.equivalent;
        (counted > 0).then(|| self.killed as f64 / counted as f64)
    }
}

impl Admission {
    /// Returns the refusal of a package that does not load.
    #[must_use]
    pub fn refused(name: &str, digest: String, problems: &[Problem]) -> Self {
        Self {
            scenario: name.to_owned(),
            digest,
            admitted: false,
            mutation_score: None,
            findings: problems.iter().map(Finding::from).collect(),
            head: None,
            agents: Vec::new(),
            checks: Vec::new(),
            mutants: None,
            sabotage: None,
            hackers: Vec::new(),
            changes: Vec::new(),
        }
    }
}

/// Checks `package`.
///
/// # Errors
///
/// [`RunError::Episode`] when a log of our own making cannot be graded; everything that is wrong with the package is a finding.
pub fn check(package: Package, options: &CheckOptions<'_>) -> Result<Admission, RunError> {
    let name = package.name().unwrap_or("package").to_owned();
    let digest = package.digest().to_string();
    match Scenario::<Office>::load(package) {
        Ok(scenario) => trials::run(&scenario, options),
        Err(problems) => Ok(Admission::refused(&name, digest, &problems)),
    }
}
