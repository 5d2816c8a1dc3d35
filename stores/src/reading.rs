//! A store that is only read: of a folder that cannot be written, on a disk that is full, while another process writes to it, and of a log in
//! quarantine. It takes no lock, makes no file and opens no database: what it shows is found in the raw bytes and proven by the chain.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dayshift_engine::{BadLink, BlobId, Head, RecordHash, Seq};

use crate::backend::{Backend, Change, Extent};
use crate::blob_files::BlobFiles;
use crate::branch::{BranchId, BranchInfo, NewBranch};
use crate::catalog::{Catalog, Entry};
use crate::error::{Damage, Finding, StoreError};
use crate::folder::{log_in_use, quarantined_logs};
use crate::front::Front;
use crate::heads::Heads;
use crate::memory_store::MemoryStore;
use crate::open::open;
use crate::salvage::{Found, Saved, scan};
use crate::store::{Append, Group, Store, Ticket};

/// Opens the store in `path` to be read: nothing in it is touched, and nobody is kept out. A folder that is missing or empty is an empty store.
/// `path` may also be a log in quarantine; then a branch that lost records ends before the first of them.
///
/// # Errors
///
/// [`StoreError::NotAStore`], [`StoreError::Io`]; as [`open`] for a store whose values are of the first version, which only its database can read.
pub fn open_reading(path: impl AsRef<Path>) -> Result<Box<dyn Store>, StoreError> {
    let path = path.as_ref();
    let (log, blobs, is_kept_aside) = if is_log(path) {
        (path.to_owned(), path.parent().unwrap_or(Path::new(".")).to_owned(), true)
    } else {
        match log_in_use(path)? {
            Some(log) => (log, path.to_owned(), false),
            None => return Ok(Box::new(MemoryStore::new())),
        }
    };
    // The heads first: they never run ahead of the log, which may grow meanwhile.
    let heads = Heads::read(&log);
    let found = scan::in_log(&log)?;
    if !found.has_checks && !found.records.is_empty() && !is_kept_aside {
        return open(path, None);
    }
    let saved = found.recover(&heads);
    Ok(Box::new(ReadingStore::new(path, &blobs, found, saved, is_kept_aside)?))
}

/// A run in quarantine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quarantined {
    /// The folder of the log, which [`open_reading`] opens.
    pub log: PathBuf,
    /// The branch.
    pub branch: BranchId,
    /// The bytes beside it.
    pub note: Vec<u8>,
    /// How many records from the first on are whole.
    pub whole: u64,
    /// The positions that are lost.
    pub lost: Option<Range<u64>>,
    /// How many records after those are whole.
    pub after: u64,
}

/// Lists what is in the quarantine of the store in `path`, oldest log first.
///
/// # Errors
///
/// [`StoreError::Io`].
pub fn quarantine(path: impl AsRef<Path>) -> Result<Vec<Quarantined>, StoreError> {
    let mut listed = Vec::new();
    for log in quarantined_logs(path.as_ref())? {
        let heads = Heads::read(&log);
        for saved in scan::in_log(&log)?.recover(&heads) {
            listed.push(Quarantined {
                log: log.clone(),
                branch: saved.meta.id,
                note: saved.note.to_vec(),
                whole: saved.head.count,
                lost: saved.lost,
                after: saved.after.len() as u64,
            });
        }
    }
    Ok(listed)
}

fn is_log(path: &Path) -> bool {
    !path.join("STORE").exists() && (path.join("sled").is_dir() || path.join("heads").is_file())
}

/// A store that is only read.
pub struct ReadingStore {
    path: PathBuf,
    front: Front,
}

impl fmt::Debug for ReadingStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ReadingStore").finish_non_exhaustive()
    }
}

impl ReadingStore {
    fn new(
        path: &Path,
        blobs: &Path,
        found: Found,
        saved: Vec<Saved>,
        is_kept_aside: bool,
    ) -> Result<Self, StoreError> {
        let mut catalog = Catalog::default();
        let mut findings = Vec::new();
        let mut own = BTreeMap::new();
        for saved in saved {
            let branch = saved.meta.id.clone();
            if saved.is_gone() {
                let count = saved.end.map_or(0, |end| end.count);
                findings.push(Damage::Branch { branch, count }.into());
                continue;
            }
            let damage = saved.lost.clone().filter(|_| !is_kept_aside).map(|lost| {
                let expected = saved.end.map_or(lost.end, |end| end.count);
                let link = BadLink::Truncated { seq: Seq::new(lost.start), expected };
                Damage::Record { branch: branch.clone(), link, whole: saved.head.count }
            });
            findings.extend(damage.clone().map(Finding::from));
            let later = saved.lost.as_ref().map_or(saved.head.count, |lost| lost.end);
            let runs = vec![(saved.meta.base.count, saved.whole), (later, saved.after)];
            own.insert(saved.meta.number, runs);
            catalog.insert(Entry {
                meta: Arc::new(saved.meta),
                note: saved.note,
                accepted: saved.head,
                durable: Some(saved.head),
                children: 0,
                damage,
                last: Group::done(),
            });
        }
        let blobs = BlobFiles::reading(blobs);
        let front = Front::reading(Box::new(Pieces { found, own }), catalog, findings, blobs, path.to_owned());
        Ok(Self { path: path.to_owned(), front })
    }

    fn refused<T>(&self) -> Result<T, StoreError> {
        Err(StoreError::ReadOnly { path: self.path.clone() })
    }
}

impl Store for ReadingStore {
    fn create(&self, _new: NewBranch) -> Result<(), StoreError> {
        self.refused()
    }

    fn append(&self, _batch: Append) -> Result<Ticket, StoreError> {
        self.refused()
    }

    fn read(
        &self,
        branch: &BranchId,
        from: u64,
        visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.front.read(branch, from, visit)
    }

    fn head(&self, branch: &BranchId) -> Result<Head, StoreError> {
        self.front.head(branch)
    }

    fn branches(&self) -> Result<Vec<BranchInfo>, StoreError> {
        self.front.branches()
    }

    fn set_note(&self, _branch: &BranchId, _note: Vec<u8>) -> Result<(), StoreError> {
        self.refused()
    }

    fn discard(&self, _branch: &BranchId) -> Result<(), StoreError> {
        self.refused()
    }

    fn verify(&self, branch: &BranchId, progress: &mut dyn FnMut(u64)) -> Result<Head, StoreError> {
        self.front.verify(branch, progress)
    }

    fn blob(&self, id: BlobId) -> Result<Option<Arc<[u8]>>, StoreError> {
        self.front.blob(id)
    }

    fn put_blob(&self, _content: &Arc<[u8]>) -> Result<BlobId, StoreError> {
        self.refused()
    }

    fn findings(&self) -> Vec<Finding> {
        self.front.findings()
    }
}

/// Records by their places in the files where they were found.
struct Pieces {
    found: Found,
    /// Each branch's own records: runs, with the position of the first record.
    own: BTreeMap<u64, Vec<(u64, Vec<RecordHash>)>>,
}

impl Backend for Pieces {
    fn commit(&self, _changes: &[Change]) -> Result<(), StoreError> {
        Err(StoreError::ReadOnly { path: PathBuf::from("a log that is read") })
    }

    fn read(
        &self,
        extent: Extent,
        visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, StoreError> {
        for (first, hashes) in self.own.get(&extent.number).map(Vec::as_slice).unwrap_or_default() {
            let mine = (*first..extent.until).zip(hashes).filter(|(seq, _)| *seq >= extent.from);
            for (_, &hash) in mine {
                let Some(record) = self.found.record(hash)? else { return Ok(ControlFlow::Continue(())) };
                if visit(&record).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Shows the whole records of a branch in the quarantined log `log` that stand after its lost ones, with their positions.
///
/// # Errors
///
/// [`StoreError::UnknownBranch`], [`StoreError::Io`].
pub fn read_after(
    log: impl AsRef<Path>,
    branch: &BranchId,
    visit: &mut dyn FnMut(u64, &[u8]),
) -> Result<(), StoreError> {
    let log = log.as_ref();
    let heads = Heads::read(log);
    let found = scan::in_log(log)?;
    let saved = found.recover(&heads).into_iter().find(|saved| saved.meta.id == *branch);
    let saved = saved.ok_or_else(|| StoreError::UnknownBranch { branch: branch.clone() })?;
    let first = saved.lost.map_or(0, |lost| lost.end);
    for (seq, hash) in (first..).zip(saved.after) {
        if let Some(record) = found.record(hash)? {
            visit(seq, &record);
        }
    }
    Ok(())
}
