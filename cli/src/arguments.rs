//! What can be asked on the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Runs, replays, grades and credits episodes of simulated office work.
#[derive(Debug, Parser)]
#[command(name = "dayshift", version, about, max_term_width = 110)]
pub(crate) struct Arguments {
    /// The folder of the store; it is made on first use
    #[arg(long, global = true, default_value = ".dayshift", value_name = "DIR")]
    pub(crate) store: PathBuf,
    /// Prints JSON on stdout, for programs
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// What to do
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// How a log is believed.
#[derive(Debug, Default, Args)]
pub(crate) struct Belief {
    /// Takes the log as it stands instead of executing it again first, and says so
    #[arg(long)]
    pub(crate) trust: bool,
    /// Runs commands again in the sandbox whose results the log holds, and compares
    #[arg(long, conflicts_with = "trust")]
    pub(crate) host: bool,
    /// The package that the log must be of: an id or a path; the installed one of its name, if nothing is said
    #[arg(long, value_name = "SCENARIO")]
    pub(crate) scenario: Option<String>,
    /// A public key to trust: its file or its base64; the store's own is trusted in any case
    #[arg(long, value_name = "PUB")]
    pub(crate) key: Vec<String>,
    /// Lets the log pass only if a trusted key signed it
    #[arg(long)]
    pub(crate) require_signature: bool,
}

/// What is done with keys.
#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Makes a key: PATH, for its owner alone, and PATH.pub, for those who verify
    New {
        /// The file; the store's own key, with which it signs every run that ends, if nothing is said
        path: Option<PathBuf>,
    },
}

/// The commands. RUN is an id, a unique beginning of one, `last`, or the path of an exported log.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Lists the scenarios that are installed
    List,
    /// Writes a starter package that passes `check`
    New {
        /// The folder; its name is the scenario's id and ends in -v1
        dir: PathBuf,
    },
    /// Validates scenarios; exits with 1 if one is not admitted
    Check {
        /// Scenarios' ids, or the paths of packages; all that are installed if none is named
        scenarios: Vec<String>,
        /// How many episodes are played at a time; 0 for as many as there are processors
        #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=64))]
        threads: u8,
    },
    /// Runs an episode and prints its timeline, score and credit
    Run {
        /// A scenario's id, or the path of a package
        scenario: String,
        /// Who plays: reference, noop, script:FILE, or the name of one of the package's solutions
        #[arg(long, default_value = "reference")]
        agent: String,
        /// Where the episode's randomness comes from
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Signs the run with this private key when it ends; the store's own, if it has one and nothing is said
        #[arg(long, value_name = "KEY")]
        sign: Option<PathBuf>,
    },
    /// Goes on with a run that was cut off
    Resume {
        /// The run
        run: String,
        /// Who plays on; the agent that began it, if nothing is said
        #[arg(long)]
        agent: Option<String>,
        /// Signs the run with this private key when it ends; the store's own, if it has one and nothing is said
        #[arg(long, value_name = "KEY")]
        sign: Option<PathBuf>,
    },
    /// Makes a new run that shares another's records up to a position
    Fork {
        /// The run
        run: String,
        /// The last record to share
        #[arg(long, value_name = "SEQ")]
        at: u64,
        /// Who plays the fork to its end; nobody, if nothing is said
        #[arg(long)]
        agent: Option<String>,
        /// Signs the run with this private key when it ends; the store's own, if it has one and nothing is said
        #[arg(long, value_name = "KEY")]
        sign: Option<PathBuf>,
    },
    /// Lists what the store holds
    Runs {
        /// Lists what is whole of damaged logs that were kept aside, and what is lost; read it with `--store FOLDER`
        #[arg(long)]
        quarantine: bool,
    },
    /// Removes a run
    Discard {
        /// The run
        run: String,
    },
    /// Shows the timeline: days, turns, calls, exogenous events, verdict changes
    Show {
        /// The run
        run: String,
        /// Only this day, by name or number
        #[arg(long)]
        day: Option<String>,
        /// Only this turn
        #[arg(long)]
        turn: Option<u32>,
    },
    /// Walks the chain of a run and names the first bad record; exits with 1 if it is not what it should be
    Verify {
        /// The run
        run: String,
        /// The hash that it must end with
        #[arg(long, value_name = "HASH")]
        head: Option<String>,
        /// A public key by one of which it must be signed: its file or its base64
        #[arg(long, value_name = "PUB")]
        key: Vec<String>,
    },
    /// Executes every input again, compares bytes, and explains the first divergence
    Replay {
        /// The run
        run: String,
        /// Runs commands again in the sandbox whose results the log holds, and compares
        #[arg(long)]
        host: bool,
    },
    /// Makes keys with which runs are signed
    #[command(subcommand)]
    Key(KeyCommand),
    /// Prints the world at a point
    State {
        /// The run
        run: String,
        /// After which record; the last, if nothing is said
        #[arg(long, value_name = "SEQ")]
        at: Option<u64>,
    },
    /// Prints what differs between two worlds; exits with 1 if anything does
    Diff {
        /// One run
        left: String,
        /// The other run
        right: String,
        /// After which record of the one
        #[arg(long, value_name = "SEQ")]
        left_at: Option<u64>,
        /// After which record of the other
        #[arg(long, value_name = "SEQ")]
        right_at: Option<u64>,
    },
    /// Prints the verdicts with their evidence; exits with 1 if the run does not pass
    Grade {
        /// The run
        run: String,
        /// Grades by the checks of this scenario or package instead of the run's own
        #[arg(long, value_name = "SCENARIO")]
        checks: Option<String>,
        #[command(flatten)]
        belief: Belief,
    },
    /// Prints the credit of every turn and its ledger
    Credit {
        /// The run
        run: String,
        /// Replays without each turn, and says how well credit agrees
        #[arg(long)]
        audit: bool,
        /// The share of new progress that prerequisite turns get together, 0 to 0.5
        #[arg(long, default_value_t = 0.3)]
        rho: f64,
        /// By which factor a turn further back weighs less, 0 to 1
        #[arg(long, default_value_t = 0.7)]
        gamma: f64,
        /// Credits only progress that still stands at the end
        #[arg(long)]
        lasting_only: bool,
        /// Pays only prerequisites without which the score falls (implies --audit)
        #[arg(long)]
        audited: bool,
        #[command(flatten)]
        belief: Belief,
    },
    /// Prints the path from a verdict back through keys, events and calls to turns
    Why {
        /// The run
        run: String,
        /// The check
        check: String,
    },
    /// Writes runs as portable log files
    Export {
        /// The runs
        #[arg(required = true)]
        runs: Vec<String>,
        /// What to write
        #[arg(long, value_enum, default_value_t = Format::Log)]
        format: Format,
        /// The file, or the folder for several runs
        #[arg(long, value_name = "PATH")]
        out: PathBuf,
        /// Writes the runs as they stand instead of executing them again first, and says so
        #[arg(long)]
        trust: bool,
    },
    /// Brings a portable log file into the store
    Import {
        /// The file
        file: PathBuf,
        /// Takes what is whole of a file that is cut off, altered or without some of its blobs, as an unfinished run
        #[arg(long)]
        salvage: bool,
    },
    /// Writes the store anew without what was discarded
    Compact,
}

/// What an export writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// The portable log: one file, blobs included
    Log,
}
