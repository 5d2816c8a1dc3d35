//! Playing: runs an agent on an episode, records every step, and prints what came of it.

use std::path::Path;
use std::time::Instant;

use dayshift_engine::{Seed, Seq, Step, Value};
use dayshift_replay::credit::Config;
use dayshift_runs::{LiveRun, Run, RunError, Scrutiny, Summary, load_scenario};
use dayshift_scenarios::{Agent, Scenario};
use dayshift_services::Office;
use dayshift_stores::{BranchId, StoreError, read_file};

use crate::commands::{self, Desk};
use crate::show;
use crate::tables;
use crate::talk::{self, Failure, Verdict, progress};
use crate::trust;

/// The largest script of an agent that is read (16 MiB).
const SCRIPT_BYTES_MAX: u64 = 16 << 20;

/// Runs an episode.
pub(crate) fn run(desk: &Desk, name: &str, agent: &str, seed: u64, sign: Option<&Path>) -> Result<Verdict, Failure> {
    let scenario = load_scenario(name)?;
    let mut player = player(&scenario, agent)?;
    let library = desk.signing_library(sign)?;
    let (live, opening) = library.start(&scenario, Seed::new(seed), agent)?;
    let store = desk.store.display();
    talk::warn(&format!("run {} of {} (seed {seed}, agent {agent}) in {store}", live.id(), scenario.id()));
    let id = play(live, &mut *player, opening)?;
    tell(desk, &library.load(&id)?, &Scrutiny::live(&scenario))
}

/// Goes on with a run that was cut off: the agent is brought back to where it was by what the log says it did.
pub(crate) fn resume(desk: &Desk, name: &str, agent: Option<&str>, sign: Option<&Path>) -> Result<Verdict, Failure> {
    let library = desk.signing_library(sign)?;
    let id = library.resolve(name)?;
    let (live, run) = library.resume(&id)?;
    let agent = agent.unwrap_or(&run.note.agent).to_owned();
    let mut player = player(&run.scenario, &agent)?;
    let last = run.catch_up(None, &mut *player)?;
    talk::warn(&format!("resuming {id} after {} records (agent {agent})", run.head().count));
    let id = play(live, &mut *player, last)?;
    tell(desk, &library.load(&id)?, &Scrutiny::default())
}

/// Forks a run, and lets an agent play the fork if one is named.
pub(crate) fn fork(
    desk: &Desk,
    name: &str,
    at: u64,
    agent: Option<&str>,
    sign: Option<&Path>,
) -> Result<Verdict, Failure> {
    let library = desk.signing_library(sign)?;
    let id = library.resolve(name)?;
    let (mut live, run) = library.fork(&id, Seq::new(at))?;
    let Some(agent) = agent else {
        live.commit()?;
        let fork = live.id().clone();
        let day = live.episode().day();
        if desk.json {
            talk::print_json(&serde_json::json!({ "run": fork.as_str(), "forked_from": id.as_str(), "at": at }));
        } else {
            talk::print(&format!(
                "{fork}: shares records 0 to {at} of {id} (day {day}); `dayshift resume {fork} --agent A` plays on"
            ));
        }
        return Ok(Verdict::Good);
    };
    let mut player = player(&run.scenario, agent)?;
    let last = match run.catch_up(Some(Seq::new(at)), &mut *player) {
        Ok(last) => last,
        Err(RunError::OtherAgent(_)) => {
            // An agent that did something else before the fork starts afresh at it.
            player = self::player(&run.scenario, agent)?;
            Step { seq: Seq::new(at), answer: Ok(Value::Null), notices: Vec::new(), closed: false }
        }
        Err(error) => return Err(error.into()),
    };
    let fork = play(live, &mut *player, last)?;
    tell(desk, &library.load(&fork)?, &Scrutiny::default())
}

/// Returns the agent that `name` means.
fn player(scenario: &Scenario<Office>, name: &str) -> Result<Box<dyn Agent>, Failure> {
    let bad = |message: String| Failure::new("agent/unknown", message);
    match name.split_once(':') {
        None => scenario.agent(name).map_err(|problem| bad(problem.to_string())),
        Some(("script", path)) => {
            let bytes = read_file(path, SCRIPT_BYTES_MAX).map_err(|error| {
                let is_no_file = matches!(error, StoreError::NotAFile { .. });
                if is_no_file { error.into() } else { bad(format!("{path} cannot be read: {error}")) }
            })?;
            let scripted = scenario.scripted(path, &bytes).map_err(RunError::Scenario)?;
            Ok(Box::new(scripted))
        }
        Some((kind, _)) => Err(bad(format!(
            "there is no kind of agent '{kind}'; use reference, noop, script:FILE or a solution's name"
        ))),
    }
}

/// Lets the agent act until the episode closes.
fn play(mut live: LiveRun, agent: &mut dyn Agent, opening: Step) -> Result<BranchId, Failure> {
    let started = Instant::now();
    let bar = progress("playing", None);
    let played = live.play(agent, opening, |count| bar.set_position(count));
    bar.finish_and_clear();
    let wall = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let id = live.finish(wall)?;
    played.map(|()| id).map_err(Failure::from)
}

/// Prints the timeline, the score and the credit of a run, and what they rest on.
fn tell(desk: &Desk, run: &Run, scrutiny: &Scrutiny) -> Result<Verdict, Failure> {
    let keys = trust::keys(desk, &[])?;
    let scrutiny = Scrutiny { keys, ..scrutiny.clone() };
    let Some(provenance) = trust::provenance(desk, run, &run.scenario, &scrutiny)? else { return Ok(Verdict::Bad) };
    let account = run.account()?;
    let ledger = account.ledger(&Config::default());
    let summary = Summary::new(run, account.report(), Some(&ledger), provenance, run.seed()?);
    if desk.json {
        talk::print_json(&summary);
    } else {
        show::timeline(run, account.report(), None, None)?;
        talk::print("");
        talk::print(&commands::headline(&summary));
        tables::score(&summary);
        tables::credit(&summary);
        trust::tell(&summary.provenance);
    }
    Ok(Verdict::of(summary.passed))
}
