//! The host's end of errands: runs a command over a copy of the workspace, apart from the network, from the host's files and from its processes
//! (bubblewrap), within limits, and brings back what it printed and changed. It decides nothing: what comes of that is for the world.
//!
//! Also here: the processes in which the scripts of packages are evaluated that nobody vouches for (`scripts.rs`).

#![expect(clippy::disallowed_methods, reason = "an edge: this crate is where the host comes in")]

mod archive;
mod cgroup;
mod changes;
mod command;
mod filter;
mod processes;
mod root;
mod scripts;

use std::path::Path;
use std::sync::OnceLock;

use dayshift_engine::{Blobs, Errand, Host, Seq, Value, map};

use command::{Bubblewrap, Limits};

pub use scripts::{SCRIPT_CPU_MAX, SCRIPT_RESIDENT_BYTES_MAX, ScriptWorkers, serve_scripts};

/// Where the copy of the workspace is inside the sandbox.
pub const WORKSPACE: &str = "/workspace";

/// What a caller is told where nothing can be run.
const REMEDY: &str = "commands run under bubblewrap 0.7 or later with unprivileged user namespaces; install it (Debian: apt-get install bubblewrap) where this program \
                      runs, or use the other tools";

/// Runs commands under bubblewrap. Where it is not there, it says so in every answer.
#[derive(Debug, Default)]
pub struct Sandbox {
    found: OnceLock<Result<Bubblewrap, String>>,
}

impl Sandbox {
    /// Returns a sandbox that looks for bubblewrap in the folders of `PATH` when it is first needed.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a sandbox that uses the program `bwrap`.
    #[must_use]
    pub fn with_program(bwrap: &Path) -> Self {
        let found = OnceLock::new();
        // A fresh cell takes its first value.
        let _ = found.set(Bubblewrap::tried(bwrap));
        Self { found }
    }

    /// Returns why nothing can be run here; nothing if commands run.
    #[must_use]
    pub fn unavailable(&self) -> Option<String> {
        self.bubblewrap().as_ref().err().cloned()
    }

    fn bubblewrap(&self) -> &Result<Bubblewrap, String> {
        self.found.get_or_init(Bubblewrap::find)
    }

    fn run(&self, errand: &Errand, blobs: &dyn Blobs) -> Result<Value, String> {
        let bubblewrap = self.bubblewrap().as_ref().map_err(Clone::clone)?;
        let failed = |error: std::io::Error| format!("the sandbox could not be made ({error}); try again");
        let limits = Limits::of(&errand.order).ok_or("this program knows no such errand; use the other tools")?;
        let ran = bubblewrap.run(errand, &limits, blobs).map_err(failed)?;
        let changes = changes::between(&ran.workspace(), errand, limits.changes_max, blobs).map_err(failed)?;
        Ok(ran.outcome(changes))
    }
}

impl Host for Sandbox {
    fn carry_out(&self, _seq: Seq, errand: &Errand, blobs: &dyn Blobs) -> Value {
        self.run(errand, blobs).unwrap_or_else(|why| map! { "unavailable" => why })
    }
}
