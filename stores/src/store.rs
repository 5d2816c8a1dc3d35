//! The interface of a place where logs and blobs rest. Nothing here knows a file or a database.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use dayshift_engine::{BlobId, Head};

use crate::branch::{BranchId, BranchInfo, NewBranch};
use crate::error::{Finding, StoreError};

/// The most bytes of records in one append (256 MiB).
pub const APPEND_BYTES_MAX: usize = 256 << 20;

/// The largest blob, in bytes (1 GiB).
pub const BLOB_BYTES_MAX: usize = 1 << 30;

/// A place where logs and blobs rest. All methods may be called from any thread.
pub trait Store: Send + Sync {
    /// Makes a branch, and returns when that is durable.
    ///
    /// # Errors
    ///
    /// [`StoreError::BranchExists`], [`StoreError::UnknownBranch`] and [`StoreError::ForkBeyondEnd`] (its parent), [`StoreError::Damaged`] when
    /// the part to be shared is, [`StoreError::TooLarge`] (its note), [`StoreError::Stopped`].
    fn create(&self, new: NewBranch) -> Result<(), StoreError>;

    /// Takes records to the end of a branch, all or none. They are durable when the ticket says so; appends to one branch become durable
    /// in order.
    ///
    /// # Errors
    ///
    /// [`StoreError::StaleHead`] when `after` is not the branch's head, [`StoreError::BadRecord`] when the records do not continue it,
    /// [`StoreError::BlobMisnamed`], [`StoreError::TooLarge`], [`StoreError::UnknownBranch`], [`StoreError::Damaged`], [`StoreError::Stopped`].
    fn append(&self, batch: Append) -> Result<Ticket, StoreError>;

    /// Shows the records of a branch from position `from` on, those of its parents included, until the end or `visit` breaks. Waits until
    /// everything that the branch accepted is durable. Positions and envelopes are checked, hashes are not: that is [`Store::verify`].
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownBranch`], [`StoreError::Damaged`], [`StoreError::Io`].
    fn read(
        &self,
        branch: &BranchId,
        from: u64,
        visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), StoreError>;

    /// Returns where a branch ends, counting what was accepted and is not durable yet.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownBranch`].
    fn head(&self, branch: &BranchId) -> Result<Head, StoreError>;

    /// Returns all branches in the order of making.
    ///
    /// # Errors
    ///
    /// None from the stores of this crate, which know their branches by heart; a store that is far away may fail to list them.
    fn branches(&self) -> Result<Vec<BranchInfo>, StoreError>;

    /// Replaces the note beside a branch, and returns when that is durable.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownBranch`], [`StoreError::TooLarge`], [`StoreError::Stopped`].
    fn set_note(&self, branch: &BranchId, note: Vec<u8>) -> Result<(), StoreError>;

    /// Removes a branch, and returns when that is durable. Blobs stay: other logs may name them.
    ///
    /// # Errors
    ///
    /// [`StoreError::BranchShared`] when other branches refer to it, [`StoreError::UnknownBranch`], [`StoreError::Stopped`].
    fn discard(&self, branch: &BranchId) -> Result<(), StoreError>;

    /// Reads the stored bytes of a branch and walks its chain from the first record to the head that is kept apart. `progress` hears now and
    /// then how many records were walked.
    ///
    /// # Errors
    ///
    /// [`StoreError::Damaged`] names the first record at fault.
    fn verify(&self, branch: &BranchId, progress: &mut dyn FnMut(u64)) -> Result<Head, StoreError>;

    /// Returns the content of a blob, or nothing if the store does not hold it.
    ///
    /// # Errors
    ///
    /// [`StoreError::Damaged`] when the content does not have the name as its hash.
    fn blob(&self, id: BlobId) -> Result<Option<Arc<[u8]>>, StoreError>;

    /// Keeps content under the name that it gives itself, and returns when that is durable.
    ///
    /// # Errors
    ///
    /// [`StoreError::TooLarge`], [`StoreError::Io`].
    fn put_blob(&self, content: &Arc<[u8]>) -> Result<BlobId, StoreError>;

    /// Returns what was noticed while opening.
    fn findings(&self) -> Vec<Finding>;
}

/// Records for the end of a branch.
#[derive(Clone, Debug)]
pub struct Append {
    /// The branch.
    pub branch: BranchId,
    /// The head that the records follow: the append is refused if the branch has moved on.
    pub after: Head,
    /// The records, in order.
    pub records: Vec<Arc<[u8]>>,
    /// Blobs that the records name: durable before the records are.
    pub blobs: Vec<(BlobId, Arc<[u8]>)>,
}

/// The promise of an accepted write.
#[must_use = "an append is durable only when its ticket says so"]
#[derive(Clone, Debug)]
pub struct Ticket {
    group: Arc<Group>,
    head: Head,
}

impl Ticket {
    pub(crate) fn new(group: Arc<Group>, head: Head) -> Self {
        Self { group, head }
    }

    /// Returns where the branch ends after this append.
    #[must_use]
    pub fn head(&self) -> Head {
        self.head
    }

    /// Returns whether the outcome is known, without waiting.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.group.outcome.get().is_some()
    }

    /// Waits until the append is durable, and returns where the branch ends after it.
    ///
    /// # Errors
    ///
    /// [`StoreError::Stopped`] when the write failed. The records may be there or not when the store is opened again.
    pub fn wait(&self) -> Result<Head, StoreError> {
        self.group.wait().map(|()| self.head)
    }
}

/// What is committed together, and so acknowledged together.
#[derive(Debug, Default)]
pub(crate) struct Group {
    outcome: OnceLock<Result<(), Failure>>,
}

impl Group {
    /// Returns a group whose commit is done.
    pub(crate) fn done() -> Arc<Self> {
        Arc::new(Self { outcome: OnceLock::from(Ok(())) })
    }

    /// Tells everybody who waits. The first outcome counts.
    pub(crate) fn settle(&self, outcome: Result<(), Failure>) {
        let _first_counts = self.outcome.set(outcome);
    }

    pub(crate) fn wait(&self) -> Result<(), StoreError> {
        self.outcome.wait().clone().map_err(StoreError::from)
    }
}

/// Why a store stopped, in a form that many tickets can carry.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) path: Arc<PathBuf>,
    pub(crate) reason: Arc<str>,
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        Self::Stopped { path: failure.path.as_ref().clone(), reason: failure.reason.to_string() }
    }
}
