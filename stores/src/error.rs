//! What can go wrong with a store: each error names the place and what to do. Errors are for callers to act on; what a store noticed and
//! mended by itself while opening is a [`Finding`].

use std::io;
use std::path::{Path, PathBuf};

use dayshift_engine::{BadLink, BlobId};

use crate::branch::BranchId;

/// Why a store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Text that is no name of a branch.
    #[error("\"{text}\" is no name for a branch: use 1 to 64 of a-z, 0-9 and -")]
    BadBranchId {
        /// The text, cut to the allowed length.
        text: String,
    },
    /// Another process, or another handle of this one, has the store open.
    #[error("the store in {} is open elsewhere: close the other process, or choose another folder", path.display())]
    Locked {
        /// The store's folder.
        path: PathBuf,
    },
    /// The folder is not what the caller took it for.
    #[error("{} is no store that this version can open: {reason}", path.display())]
    NotAStore {
        /// The folder.
        path: PathBuf,
        /// What was found instead, and what to do.
        reason: String,
    },
    /// A path that should lead to a file leads to something else.
    #[error("{} is {what}, not a file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// What it leads to, with its article.
        what: &'static str,
    },
    /// A change to a store that was opened to be read.
    #[error("the store in {} was opened to be read and takes no changes", path.display())]
    ReadOnly {
        /// The store's folder.
        path: PathBuf,
    },
    /// No branch has this name.
    #[error("there is no branch {branch} in the store")]
    UnknownBranch {
        /// The name.
        branch: BranchId,
    },
    /// The name is taken.
    #[error("there is already a branch {branch} in the store: choose another name, or discard it first")]
    BranchExists {
        /// The name.
        branch: BranchId,
    },
    /// Other branches share the records of this one.
    #[error("branch {branch} is shared by {children} other branches: discard those first")]
    BranchShared {
        /// The branch.
        branch: BranchId,
        /// How many branches refer to it.
        children: u64,
    },
    /// A fork at a point that its parent has not reached.
    #[error("branch {branch} has {has} records and cannot be forked after {asked}")]
    ForkBeyondEnd {
        /// The parent.
        branch: BranchId,
        /// How many records the fork asked for.
        asked: u64,
        /// How many there are.
        has: u64,
    },
    /// The records follow a head that is not the branch's: somebody else appended, or the writer lost count.
    #[error("branch {branch} stands at record {has} and the append follows record {asked}: read the head again")]
    StaleHead {
        /// The branch.
        branch: BranchId,
        /// The count that the append follows.
        asked: u64,
        /// The branch's count.
        has: u64,
    },
    /// The records do not continue the chain.
    #[error("the append to branch {branch} does not continue its chain")]
    BadRecord {
        /// The branch.
        branch: BranchId,
        /// What is wrong with which record.
        #[source]
        link: BadLink,
    },
    /// Something is larger than the store takes.
    #[error("{what} of {bytes} bytes is larger than {bytes_max}: split it, or keep the content as a blob")]
    TooLarge {
        /// What it is.
        what: &'static str,
        /// Its size.
        bytes: u64,
        /// The largest size.
        bytes_max: u64,
    },
    /// Content that does not have the name it was given under.
    #[error("the content given for blob {id} has another hash")]
    BlobMisnamed {
        /// The name.
        id: BlobId,
    },
    /// What is stored is not what was written.
    #[error(transparent)]
    Damaged(#[from] Damage),
    /// An earlier write failed, so nothing more is taken until the store is opened again.
    #[error("the store in {} stopped after a failed write ({reason}): mend the cause and open it again", path.display())]
    Stopped {
        /// The store's folder.
        path: PathBuf,
        /// What failed.
        reason: String,
    },
    /// The operating system refused.
    #[error("failed to {action} {}: {source}", path.display())]
    Io {
        /// What was being done.
        action: &'static str,
        /// To which file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The database under the store refused.
    #[error("the database in {} failed: {reason}", path.display())]
    Database {
        /// Its folder.
        path: PathBuf,
        /// What it said.
        reason: String,
    },
}

impl StoreError {
    /// Returns a closure that wraps an [`io::Error`] with what was being done, and to which path.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}

/// What is stored is not what was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// A record was altered, or is gone.
    #[error("branch {branch} is damaged after {whole} whole records: {link}")]
    Record {
        /// The branch.
        branch: BranchId,
        /// What is wrong with which record.
        link: BadLink,
        /// How many records before it are whole. A fork up to there can be made.
        whole: u64,
    },
    /// The head that is kept apart from the log was altered, or is gone.
    #[error("the head kept apart for branch {branch} is damaged: its log ends at record {count} by itself")]
    Head {
        /// The branch.
        branch: BranchId,
        /// How many records the log shows.
        count: u64,
    },
    /// A branch that was made is gone.
    #[error("branch {branch} is lost with {count} records")]
    Branch {
        /// The branch.
        branch: BranchId,
        /// How many records it had.
        count: u64,
    },
    /// A blob's content does not have its hash.
    #[error("blob {id} is damaged: its content has another hash")]
    Blob {
        /// The blob.
        id: BlobId,
    },
    /// A blob is not there.
    #[error("blob {id} is missing")]
    BlobMissing {
        /// The blob.
        id: BlobId,
    },
    /// A portable log ends before its footer.
    #[error(
        "{} is cut off after byte {at}: its first {records} records are whole, and `dayshift import --salvage` brings them in as an unfinished run",
        path.display()
    )]
    CutOff {
        /// The file.
        path: PathBuf,
        /// Where its whole frames end.
        at: u64,
        /// How many records are whole.
        records: u64,
    },
    /// A file of the store, outside any record.
    #[error("{} is damaged at byte {at}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The position of the fault.
        at: u64,
        /// What is wrong there.
        reason: String,
    },
}

/// What a store noticed while opening, and went on from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Finding {
    /// The last write was cut off before it was acknowledged; its remains were removed.
    #[error("{}: {bytes} bytes of an unfinished write after byte {at} were cut off", path.display())]
    TornTail {
        /// The file.
        path: PathBuf,
        /// Where the whole part ends.
        at: u64,
        /// How many bytes followed.
        bytes: u64,
    },
    /// Damage that was not there when the bytes were written. The branches concerned are refused; the others go on.
    #[error("{0}")]
    Damaged(#[from] Damage),
    /// A branch's head, kept apart from its log, was altered or gone. It was derived from the log again.
    #[error(
        "the head kept apart for branch {branch} was altered or gone, and was derived from its log, which has {count} records"
    )]
    HeadDerived {
        /// The branch.
        branch: BranchId,
        /// How many records the log shows.
        count: u64,
    },
    /// A branch of which records are lost.
    #[error(
        "branch {branch} lost records {} to {}: {whole} before and {after} after them are whole and kept (those after, and the damaged bytes, in {})",
        lost.start, lost.end.saturating_sub(1), quarantine.display()
    )]
    Salvaged {
        /// The branch.
        branch: BranchId,
        /// How many records from the first on are whole.
        whole: u64,
        /// The positions that are lost.
        lost: std::ops::Range<u64>,
        /// How many records after those are whole.
        after: u64,
        /// Where the damaged log is kept.
        quarantine: PathBuf,
    },
    /// The log was set aside and built anew from what verified.
    #[error("the damaged log was kept in {}: {branches} branches with {records} records were rebuilt", quarantine.display())]
    Rebuilt {
        /// Where the damaged folder was moved to.
        quarantine: PathBuf,
        /// How many branches the new log has.
        branches: u64,
        /// How many records those have of their own.
        records: u64,
    },
}
