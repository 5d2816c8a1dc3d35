//! The shell: runs a command over a copy of the workspace. The core cannot run anything, so a call sends the host on an errand and decides on
//! what it brings back: output for the answer, and changes that the files service takes over. Off unless the scenario turns it on.
//!
//! Keys: `shell:limits` is what a command may use. The files that a command saw and changed have the keys of the files service.

mod outcome;

use dayshift_engine::{
    Actor, Applying, Audience, Context, Decision, Difference, Effect, Frame, Key, Kind, Looking, Parameter, Rejection,
    StateDigest, ToolCall, ToolSpec, Tracked, Value, map,
};
use serde::{Deserialize, Serialize};

use crate::service::{Desk, Service, unknown_question};

pub use outcome::{Brought, Change};

/// The longest command, in bytes (64 KiB).
pub const COMMAND_BYTES_MAX: usize = 64 << 10;
/// How many files and folders a workspace may have for a command to run over it.
pub const WORKSPACE_ENTRIES_MAX: usize = 20_000;
/// How large the workspace may be for a command to run over it, in bytes (256 MiB).
pub const WORKSPACE_BYTES_MAX: u64 = 256 << 20;
/// How many files and folders one command may change.
pub const CHANGES_MAX: usize = 5_000;
/// How many paths of each kind one answer names.
pub const PATHS_SHOWN_MAX: usize = 200;

/// The longest time that a scenario may give a command, in seconds.
pub const TIMEOUT_SECONDS_MAX: u32 = 600;
/// The most memory that a scenario may give a command, in MiB.
pub const MEMORY_MIB_MAX: u32 = 8192;
/// The most output that a scenario may let through, in bytes, of each of the two streams (1 MiB).
pub const OUTPUT_BYTES_MAX: u32 = 1 << 20;
/// The most processes that a scenario may give a command.
pub const PROCESSES_MAX: u32 = 1024;

/// What a command may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// How long it may take, in seconds.
    pub timeout_seconds: u32,
    /// How much memory its processes may take together, in MiB.
    pub memory_mib: u32,
    /// How much of each of its two streams is kept, in bytes.
    pub output_bytes: u32,
    /// How many processes it may have at a time.
    pub processes: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { timeout_seconds: 30, memory_mib: 1024, output_bytes: 64 << 10, processes: 64 }
    }
}

/// One fact about the shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShellEvent {
    /// There is a shell, and a command may use so much.
    TurnedOn {
        /// What a command may use.
        limits: Limits,
    },
}

/// Whether there is a shell, and what a command may use.
#[derive(Clone, Debug)]
pub struct ShellState {
    limits: Tracked<Option<Limits>>,
}

impl Default for ShellState {
    fn default() -> Self {
        Self { limits: Tracked::new(Key::new("shell:limits"), None) }
    }
}

/// The tool that runs a command.
pub const RUN: &str = "shell.run";

const TOOLS: &[ToolSpec] = &[
    ToolSpec {
        name: RUN,
        summary: "Runs a command with bash over a copy of the workspace at /workspace, apart from the network and from everything else. What it \
                  changes there is taken over into the workspace.",
        parameters: &[
            Parameter::required("command", Kind::Text, "The command, as bash takes it."),
            Parameter::optional(
                "folder",
                Kind::Text,
                "The folder of the workspace to run it in, such as /reports; / if left out.",
            ),
            Parameter::optional(
                "timeout_seconds",
                Kind::Int,
                "How long it may take; what the office allows at most if left out.",
            ),
        ],
        effect: Effect::Writes,
        audience: Audience::Everybody,
        cost_seconds: 30,
    },
    ToolSpec {
        name: "shell.turn_on",
        summary: "Gives the office a shell.",
        parameters: &[
            Parameter::optional("timeout_seconds", Kind::Int, "How long a command may take."),
            Parameter::optional("memory_mib", Kind::Int, "How much memory it may take, in MiB."),
            Parameter::optional("output_bytes", Kind::Int, "How much of each of its streams is kept."),
            Parameter::optional("processes", Kind::Int, "How many processes it may have."),
        ],
        effect: Effect::Writes,
        audience: Audience::Backstage,
        cost_seconds: 0,
    },
];

impl ShellState {
    /// Returns whether there is a shell, without noting a read: a tool that is not there is not read either.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.limits.peek().is_some()
    }

    /// Returns what the host is to do for `call`, a call of [`RUN`], to be carried out in `folder`.
    ///
    /// # Errors
    ///
    /// `shell/off`, `shell/not-yours`, `shell/bad-command` or `shell/bad-timeout`.
    pub fn order(&self, call: &ToolCall, folder: &str, desk: &Desk, context: &Context<'_>) -> Result<Value, Rejection> {
        let limits = self.limits(context.frame)?;
        if *context.actor != Actor::Agent {
            return Err(Rejection::new("shell/not-yours", "only the agent has a shell; use the other tools"));
        }
        let command = call.text("command");
        if command.trim().is_empty() || command.len() > COMMAND_BYTES_MAX || command.contains('\0') {
            return Err(Rejection::new(
                "shell/bad-command",
                format!(
                    "a command holds 1 to {COMMAND_BYTES_MAX} bytes and no NUL; put longer ones into a file and run that"
                ),
            ));
        }
        let most = i64::from(limits.timeout_seconds);
        let timeout = call.int("timeout_seconds").unwrap_or(most);
        if !(1..=most).contains(&timeout) {
            return Err(Rejection::new(
                "shell/bad-timeout",
                format!("a command may take 1 to {most} seconds here, and not {timeout}; give a number in between"),
            ));
        }
        Ok(map! {
            "kind" => "shell",
            "command" => command,
            "folder" => folder,
            "timeout_seconds" => timeout,
            "memory_mib" => i64::from(limits.memory_mib),
            "output_bytes" => i64::from(limits.output_bytes),
            "processes" => i64::from(limits.processes),
            "changes_max" => CHANGES_MAX,
            "zone" => desk.zone.name(),
            "now" => context.time.as_millis(),
        })
    }

    fn limits(&self, frame: &Frame) -> Result<Limits, Rejection> {
        self.limits.get(frame).ok_or_else(|| {
            Rejection::new("shell/off", "this office has no shell; use the tools of the files service and the others")
        })
    }
}

impl Service for ShellState {
    type Event = ShellEvent;

    const TOOLS: &'static [ToolSpec] = TOOLS;

    fn decide(&self, call: &ToolCall, _desk: &Desk, _context: &Context<'_>) -> Result<Decision<ShellEvent>, Rejection> {
        if call.tool != "shell.turn_on" {
            // A call of the other one is settled with what the host brought back.
            return Err(Rejection::new("shell/unknown-tool", format!("shell has no tool '{}'", call.tool)));
        }
        let usual = Limits::default();
        let limits = Limits {
            timeout_seconds: limit(call, "timeout_seconds", usual.timeout_seconds, TIMEOUT_SECONDS_MAX)?,
            memory_mib: limit(call, "memory_mib", usual.memory_mib, MEMORY_MIB_MAX)?,
            output_bytes: limit(call, "output_bytes", usual.output_bytes, OUTPUT_BYTES_MAX)?,
            processes: limit(call, "processes", usual.processes, PROCESSES_MAX)?,
        };
        Ok(Decision::change(vec![ShellEvent::TurnedOn { limits }], map! { "on" => true }))
    }

    fn apply(&mut self, event: ShellEvent, applying: &mut Applying<'_>) {
        let ShellEvent::TurnedOn { limits } = event;
        self.limits.set(applying, Some(limits));
    }

    fn query(&self, verb: &str, _arguments: &Value, _desk: &Desk, _looking: &Looking<'_>) -> Result<Value, Rejection> {
        Err(unknown_question("shell", verb, &[]))
    }

    fn digest(&self) -> StateDigest {
        StateDigest::default()
    }

    fn differences(&self, _other: &Self, _into: &mut Vec<Difference>) {}

    fn dump(&self) -> Value {
        map! {}
    }
}

fn limit(call: &ToolCall, name: &str, usual: u32, most: u32) -> Result<u32, Rejection> {
    let Some(asked) = call.int(name) else { return Ok(usual) };
    match u32::try_from(asked) {
        Ok(asked) if (1..=most).contains(&asked) => Ok(asked),
        Ok(_) | Err(_) => Err(Rejection::new("shell/bad-limit", format!("'{name}' is {asked}; it may be 1 to {most}"))),
    }
}

#[cfg(test)]
mod tests;
