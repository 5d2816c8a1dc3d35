//! What the tests of the whole share: loading built-in scenarios and playing agents on them. Not a test itself.

mod hostile;
mod material;
mod office;

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dayshift_engine::{Head, Seed, Value, map};
use dayshift_runs::{Library, Run};
use dayshift_sandbox::Sandbox;
use dayshift_scenarios::{Scenario, built_in, built_in_names};
use dayshift_services::Office;
use dayshift_stores::{BranchId, MemoryStore, Store};

pub use hostile::{Hostile, furnished};
pub use material::{Material, Specimen, faults};
pub use office::Bench;

/// Returns all built-in scenarios that can be played here; says which cannot.
///
/// # Panics
///
/// If one of them has faults.
#[must_use]
pub fn scenarios() -> Vec<Scenario<Office>> {
    let sandbox = Sandbox::new();
    let playable = |scenario: &Scenario<Office>| match sandbox.unavailable().filter(|_| has_shell(scenario)) {
        Some(why) => {
            eprintln!("not tried: {} has a shell, and none runs here: {why}", scenario.id());
            false
        }
        None => true,
    };
    built_in_names().map(scenario).filter(playable).collect()
}

/// Returns whether `scenario` turns the shell on, whose commands need bubblewrap.
#[must_use]
pub fn has_shell(scenario: &Scenario<Office>) -> bool {
    scenario.setup().iter().any(|setup| setup.call.tool == "shell.turn_on")
}

/// Returns the built-in scenario `name`.
///
/// # Panics
///
/// If there is none, or it has faults.
#[must_use]
pub fn scenario(name: &str) -> Scenario<Office> {
    let loaded = built_in(name).and_then(Scenario::<Office>::load);
    loaded.unwrap_or_else(|problems| panic!("{name}: {}", problems.iter().map(ToString::to_string).collect::<String>()))
}

/// Returns a library in memory, whose runs have a shell.
#[must_use]
pub fn memory_library() -> Library {
    library(Arc::new(MemoryStore::new()))
}

/// Returns the library of `store`, whose runs have a shell.
#[must_use]
pub fn library(store: Arc<dyn Store>) -> Library {
    Library::new(store).with_host(Arc::new(Sandbox::new()))
}

/// Plays an agent to the end, and returns the run's id.
///
/// # Panics
///
/// If the episode cannot go on or the store refuses.
pub fn play(library: &Library, scenario: &Scenario<Office>, name: &str, seed: u64) -> BranchId {
    let mut agent = scenario.agent(name).expect("the scenario has this agent");
    let (mut live, opening) = library.start(scenario, Seed::new(seed), name).expect("it starts");
    live.play(&mut *agent, opening, |_| {}).expect("it plays to the end");
    live.finish(0).expect("it finishes")
}

/// Plays an agent on a library in memory, and returns the run.
///
/// # Panics
///
/// As [`play`].
#[must_use]
pub fn played(scenario: &Scenario<Office>, name: &str, seed: u64) -> Run {
    let library = memory_library();
    let id = play(&library, scenario, name, seed);
    library.load(&id).expect("it loads")
}

/// Returns where a run's log ends.
///
/// # Panics
///
/// As [`play`].
#[must_use]
pub fn head_of(library: &Library, scenario: &Scenario<Office>, name: &str, seed: u64) -> Head {
    let id = play(library, scenario, name, seed);
    library.load(&id).expect("it loads").head()
}

/// Returns a file's bytes, read range by range as an agent reads them.
///
/// # Panics
///
/// If there is no such file.
#[must_use]
pub fn read_file(bench: &mut Bench, path: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let arguments = map! { "path" => path, "start_byte" => bytes.len() };
        let answer = bench.call("files.read", arguments).expect("a file that is there");
        let piece = answer.get("base64").and_then(Value::as_text).expect("a range of bytes");
        bytes.extend(STANDARD.decode(piece).expect("base64"));
        if answer.get("next_byte").and_then(Value::as_int).is_none() {
            return bytes;
        }
    }
}
