//! The kernel: an append-only, hash-chained log of records, a world that is a pure fold of their events, and the loop that runs an episode.
//!
//! It is generic over [`World`] and knows no office, no store, no thread and no clock but the simulated one.

mod access;
mod blob;
mod budget;
mod chain;
mod changes;
mod check;
pub mod codec;
mod collection;
mod digest;
mod episode;
mod errand;
mod id;
mod log;
mod plan;
mod random;
mod record;
mod schedule;
mod script;
pub mod template;
mod time;
mod tool;
#[cfg(feature = "testing")]
pub mod toy;
mod value;
mod world;

pub use access::{Accesses, Frame, Key, Read, ReadKind};
pub use blob::{Blobs, CONTENT_INLINE_BYTES_MAX, Content, MemoryBlobs};
pub use budget::{BUDGET_BYTES, BUDGET_WORK, Budget, CALL_BYTES_MAX, CALL_WORK_MAX, OverBudget};
pub use chain::{BadLink, ENVELOPE_BYTES, Envelope, Head, RECORD_BYTES_MAX, RECORD_MAGIC, verify_chain};
pub use changes::{Change, Changes, changes_keys};
pub use check::{CheckSpec, Checks, Moment};
pub use codec::CodecError;
pub use collection::{Applying, Collection, Tracked};
pub use digest::{Canonical, Graded, StateDigest};
pub use episode::{
    Again, CONDITION_FAILED, EPISODE_FULL, Episode, EpisodeError, Genesis, MESSAGE_BYTES_MAX, PERSONA_FAILED, Prefix,
    REFERENCE_MISSING, SCRIPT_MESSAGE_CHARS_MAX, SETTLE_BYTES_MAX, SETTLE_RECORDS_MAX, Step,
};
pub use errand::{Errand, ErrandEntry, Host, Recorded};
pub use id::{Actor, BadDigest, BlobId, Day, EventId, RecordHash, Seq, Turn};
pub use log::Log;
pub use plan::{
    Alert, BadPlan, CALLS_PER_TURN_MAX, CLOSING_NOTICE_SECONDS, Clock, EPISODE_BYTES_MAX, EPISODE_RECORDS_MAX,
    EpisodeLimits, Plan, PlannedCommand, PlannedDay, PlannedEvent, PlannedPersona, TURNS_PER_DAY_MAX, When,
};
pub use random::{RandomStream, Seed};
pub use record::{
    Input, LOG_FORMAT, Outcome, Outside, OutsideAct, PAYLOAD_INLINE_BYTES_MAX, Payload, Record, RecordHead, Request,
};
pub use schedule::{CLOCK_KEY, Firing, Schedule};
pub use script::{PastCall, Reaction, Scene, Script, ScriptError, log_keys};
pub use smol_str::SmolStr;
pub use time::{SimDuration, SimTime};
pub use tool::{
    ARGUMENT_BYTES_MAX, ARGUMENTS_BYTES_MAX, Audience, Effect, Kind, Parameter, Rejection, ToolCall, ToolSpec,
};
pub use value::{VALUE_DEPTH_MAX, Value};
pub use world::{Allowance, Context, Decision, Difference, Looking, Wait, World};
