//! Where logs and blobs rest: the [`Store`] trait, a store in memory, one on sled (the default on disk), and one of plain append-only files, which
//! are also the portable log file.
//!
//! A store knows records as opaque bytes with an envelope, and keeps what it acknowledged: through a kill, through a power cut, and it says so
//! where bytes were altered. It never knows what a record means.

#![expect(clippy::disallowed_methods, reason = "a store is an edge: it owns files, threads and real time")]

mod backend;
mod blob_files;
mod branch;
mod catalog;
mod chain_walk;
#[cfg(any(test, feature = "testing"))]
pub mod conformance;
mod error;
mod folder;
mod frame;
mod front;
mod fronted;
mod heads;
mod memory_store;
mod open;
mod open_file;
mod portable;
mod reading;
mod rebuild;
mod salvage;
#[cfg(any(test, feature = "testing"))]
pub mod sample;
mod seal;
mod segment;
mod segment_store;
mod sled_store;
mod store;
mod value;

pub use branch::{BRANCH_ID_BYTES_MAX, BranchId, BranchInfo, NOTE_BYTES_MAX, NewBranch, Parent};
pub use error::{Damage, Finding, StoreError};
pub use folder::{Kind, detect};
pub use memory_store::MemoryStore;
pub use open::{compact, open};
pub use open_file::{open_file, read_file};
pub use portable::{PortableLog, export, import};
pub use reading::{Quarantined, ReadingStore, open_reading, quarantine, read_after};
pub use segment_store::SegmentStore;
pub use sled_store::SledStore;
pub use store::{APPEND_BYTES_MAX, Append, BLOB_BYTES_MAX, Store, Ticket};
