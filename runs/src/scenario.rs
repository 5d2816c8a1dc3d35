//! How a package becomes a scenario, whoever asks: the scripts of one that is not installed are evaluated in processes of their own, where the door
//! has said how to start them.

use std::sync::{Arc, OnceLock};

use dayshift_scenarios::{Isolation, Package, Scenario, ScriptHost, Vocabulary};
use dayshift_services::Office;

use crate::error::RunError;

/// One for the whole program, as its processes are: a package can come with a log, from a path, or from memory.
static ISOLATION: OnceLock<Arc<Isolation>> = OnceLock::new();

/// Has the scripts of packages that are not built in evaluated by the processes that `host` starts, from now on. Every door does this before
/// anything else; the first one counts. In a program that does not, all scripts are evaluated in its own process, within the interpreter's limits.
pub fn isolate_scripts(host: Box<dyn ScriptHost>) {
    ISOLATION.get_or_init(|| Isolation::new(host));
}

/// Loads `package`.
///
/// # Errors
///
/// [`RunError::Scenario`] with every fault that was found.
pub fn open_package(package: Package) -> Result<Scenario<Office>, RunError> {
    match ISOLATION.get() {
        Some(isolation) => Scenario::load_isolated(package, &Vocabulary::OFFICE, isolation),
        None => Scenario::load(package),
    }
    .map_err(RunError::Scenario)
}
