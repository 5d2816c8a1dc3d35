//! What can go wrong between a door and its runs. Each sentence says where it stands and what to do.

use dayshift_engine::{BlobId, CodecError, EpisodeError};
use dayshift_replay::credit::CreditError;
use dayshift_replay::{Divergence, ReplayError};
use dayshift_scenarios::{AgentError, PrefixError, Problem};
use dayshift_stores::{Damage, StoreError};

/// Why something could not be done with a run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The episode cannot go on.
    #[error(transparent)]
    Episode(#[from] EpisodeError),
    /// A record does not decode.
    #[error(transparent)]
    Codec(#[from] CodecError),
    /// The log cannot be read back.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// Credit cannot be computed.
    #[error(transparent)]
    Credit(#[from] CreditError),
    /// The package has faults.
    #[error("the scenario has {} problem(s):\n{}", .0.len(), .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Scenario(Vec<Problem>),
    /// No run has this name.
    #[error("there is no run '{0}' in the store; `dayshift runs` lists them")]
    Unknown(String),
    /// The store holds no runs.
    #[error("the store holds no runs yet; `dayshift run SCENARIO` makes one")]
    Empty,
    /// Several runs begin like this.
    #[error("'{prefix}' is the beginning of several runs ({}); give more of it", .runs.join(", "))]
    Ambiguous {
        /// What was given.
        prefix: String,
        /// The runs that begin so.
        runs: Vec<String>,
    },
    /// A position beyond the end.
    #[error("the run has records 0 to {last}, so there is none at {asked}")]
    Beyond {
        /// What was asked for.
        asked: u64,
        /// The last position.
        last: u64,
    },
    /// A position inside the scenario's part of the log.
    #[error(
        "record {asked} belongs to the initial world, which all runs of the scenario share; choose one from {first} on"
    )]
    BeforeOpening {
        /// What was asked for.
        asked: u64,
        /// The first position of the episode.
        first: u64,
    },
    /// A blob is missing.
    #[error("the blob {0} is missing: verify the run")]
    BlobMissing(BlobId),
    /// No branch can take the initial world.
    #[error("the store has damaged or other branches under every name for the initial world {0}: discard them")]
    PrefixBlocked(String),
    /// The initial world cannot be laid out.
    #[error(transparent)]
    Prefix(#[from] PrefixError),
    /// The agent cannot go on.
    #[error("the agent cannot go on: {0}")]
    Agent(#[from] AgentError),
    /// The log, executed again, comes out otherwise.
    #[error("{}", diverged(.0))]
    Diverged(Box<Divergence>),
    /// Something that only a finished run has.
    #[error("the run has not ended, so it cannot be signed; play it to its end first")]
    Unfinished,
    /// A key file cannot be used.
    #[error("the key {}: {reason}", path.display())]
    Key {
        /// The file.
        path: std::path::PathBuf,
        /// Why, and what to do.
        reason: String,
    },
    /// The run is over.
    #[error("the run has ended, so there is nothing to resume; fork it to go on from an earlier record")]
    Finished,
    /// The agent does something else than it did.
    #[error(
        "the agent does not do again what it did at record {0}, so it cannot resume the run; discard it or fork it"
    )]
    OtherAgent(u64),
}

impl RunError {
    /// Returns the stable code of the error, for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Store(StoreError::Locked { .. }) => "store/locked",
            Self::Store(StoreError::Damaged(Damage::CutOff { .. })) => "log/cut-off",
            Self::Store(StoreError::NotAFile { .. }) => "file/not-a-file",
            Self::Store(StoreError::ReadOnly { .. }) => "store/read-only",
            Self::Store(StoreError::Damaged(_)) => "store/damaged",
            Self::Store(StoreError::NotAStore { .. }) => "store/not-a-store",
            Self::Store(_) => "store/failed",
            Self::Episode(_) => "episode/cannot-go-on",
            Self::Codec(_) => "log/undecodable",
            Self::Replay(_) => "log/cannot-replay",
            Self::Credit(_) => "credit/bad-input",
            Self::Scenario(_) => "scenario/bad",
            Self::Unknown(_) => "run/unknown",
            Self::Empty => "run/none",
            Self::Ambiguous { .. } => "run/ambiguous",
            Self::Beyond { .. } => "run/beyond-end",
            Self::BeforeOpening { .. } => "run/before-opening",
            Self::BlobMissing(_) => "blob/missing",
            Self::PrefixBlocked(_) => "store/prefix-blocked",
            Self::Prefix(_) => "scenario/cannot-lay-out",
            Self::Agent(_) => "agent/cannot-go-on",
            Self::Diverged(_) => "log/diverged",
            Self::Unfinished => "run/unfinished",
            Self::Key { .. } => "key/unusable",
            Self::Finished => "run/finished",
            Self::OtherAgent(_) => "agent/other",
        }
    }
}

fn diverged(divergence: &Divergence) -> String {
    let (seq, what) = (divergence.seq, &divergence.what);
    format!("executed again, the log comes out otherwise at record {seq}, {what}: it is not what its scenario does")
}
