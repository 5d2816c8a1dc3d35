//! Everything that reads a log back, generic over the same [`dayshift_engine::World`]: grading, re-execution, the dependency graph and credit.
//! Nothing here writes to the log that it reads.

mod account;
pub mod credit;
mod grade;
mod reexecute;
mod transcript;

pub use account::{Account, Audited};
pub use grade::{CrossedLine, Evidence, Grader, Move, Report, Verdict, grade, moment_name};
pub use reexecute::{Divergence, Fed, Inputs, Reexecution, reexecute};
pub use transcript::{Exchange, Transcript};

use dayshift_engine::{CodecError, EpisodeError};

/// Why a log cannot be read back.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// A record does not decode.
    #[error(transparent)]
    Codec(#[from] CodecError),
    /// A record does not follow, or the episode cannot go on.
    #[error(transparent)]
    Episode(#[from] EpisodeError),
    /// The log has no opening record.
    #[error("the log has no opening record: it holds only the scenario's initial world")]
    NotOpened,
    /// Credit cannot be computed.
    #[error(transparent)]
    Credit(#[from] credit::CreditError),
    /// Executing all turns again comes to another score than the log does.
    #[error(
        "the log's calls, executed again, come to a score of {again} instead of {score}: replay it to see where it differs"
    )]
    AuditDiffers {
        /// The score of the log.
        score: f64,
        /// The score of its calls executed again.
        again: f64,
    },
    /// The log's scenario cannot be had.
    #[error("the log's scenario cannot be loaded: {0}")]
    Scenario(String),
}
