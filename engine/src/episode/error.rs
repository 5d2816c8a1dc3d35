//! Why an episode cannot go on, the codes of what the kernel itself refuses, and the limits that it keeps.

use smol_str::SmolStr;

use crate::chain::BadLink;
use crate::codec::CodecError;
use crate::id::{Actor, BlobId};
use crate::tool::Rejection;

/// How many records the world may make between two inputs. More means that personas or events set one another off without end.
pub const SETTLE_RECORDS_MAX: u64 = 20_000;

/// How many bytes of records and blobs the world may make between two inputs (64 MiB).
pub const SETTLE_BYTES_MAX: u64 = 64 << 20;

/// What the agent is told when the episode ends because it has used up its bytes or records.
pub const EPISODE_FULL: &str = "The episode has used up the records or bytes that it may take, and ends here.";

/// How much of an agent's message is recorded, in bytes (1 MiB).
pub const MESSAGE_BYTES_MAX: usize = 1 << 20;

/// The code of the look of a persona whose script failed.
pub const PERSONA_FAILED: &str = "persona/script-failed";

/// The code of the evaluation of a condition whose script failed.
pub const CONDITION_FAILED: &str = "condition/script-failed";

/// The code of an event's command that refers to an earlier event's answer which is not there.
pub const REFERENCE_MISSING: &str = "event/reference-leads-nowhere";

/// How much of a failed script's message is recorded, in characters.
pub const SCRIPT_MESSAGE_CHARS_MAX: usize = 1000;

/// Why an episode cannot go on. The agent's mistakes are not among these, nor are scripts that fail: they are records.
#[derive(Debug, thiserror::Error)]
pub enum EpisodeError {
    /// The episode has ended.
    #[error("the episode has ended; reset or fork it to go on")]
    Closed,
    /// What comes from outside does not say so.
    #[error("'{0}' cannot be staged: an event from outside has a name of its own kind and is not the agent's act")]
    NotOutside(crate::id::EventId),
    /// A command that lays out the initial world was refused.
    #[error("the initial world cannot be laid out: {tool}: {rejection}")]
    Setup {
        /// Which command, from 0.
        index: usize,
        /// Its tool.
        tool: SmolStr,
        /// Why.
        rejection: Rejection,
    },
    /// A blob is missing: the store is damaged.
    #[error("the blob {0} is missing from the store; verify the run")]
    BlobMissing(BlobId),
    /// The world does not come to rest.
    #[error(
        "events and personas set one another off without end: {records} records and {bytes} bytes since the last input, the last by {actor}; \
         let them wait, or answer only once"
    )]
    Restless {
        /// How many records the world made.
        records: u64,
        /// How many bytes they take.
        bytes: u64,
        /// Who made the last one.
        actor: Actor,
    },
    /// A record does not decode.
    #[error(transparent)]
    Codec(#[from] CodecError),
    /// A record does not follow the log.
    #[error(transparent)]
    Link(#[from] BadLink),
}
