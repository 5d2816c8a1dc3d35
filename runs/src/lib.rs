//! Runs: what every door does with episodes and stores. Playing, recording, loading, grading and comparing; deciding nothing.

mod blobs;
pub mod check;
mod error;
mod failure;
mod library;
mod live;
mod note;
mod office;
mod provenance;
mod recorder;
mod run;
mod signature;
mod summary;
pub mod timeline;

pub use blobs::StoreBlobs;
pub use error::RunError;
pub use failure::ScriptFailure;
pub use library::{
    Imported, LOG_ENDING, Library, RunInfo, RunRow, Verified, load_file, load_scenario, signature_of_file, verify_file,
};
pub use live::LiveRun;
pub use note::RunNote;
pub use office::office;
pub use provenance::{
    ChecksOrigin, Execution, HostDifference, HostResults, Objection, Origin, OutsideActs, PackageIs, Provenance,
    Scrutiny,
};
pub use recorder::Recorder;
pub use run::Run;
pub use signature::{PublicKey, SecretKey, Signature, SignatureState, Statement, signature_state};
pub use summary::{AuditRow, CheckRow, CreditRow, EvidenceRow, Summary};
