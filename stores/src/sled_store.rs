//! The store on sled, the default on disk. The only file that names sled, pinned at 0.34.7: what is done here was measured on that version.
//!
//! Its `flush` is no `fsync`, so a commit is `apply_batch`, `flush`, and `sync_data` on a second handle to its `db` file. Values beyond about 16 KiB
//! would spill into files that are never synced, so a value holds at most 32 records or 8 KiB, and what is larger is a file of our own. A kill while
//! it opens can leave a `*.generating` file that the next open trips over, and damage can make it panic, so that is all caught here.
//!
//! ```text
//! b number        a branch: named MessagePack; empty once discarded
//! n number        its note
//! r number first  its records from position first: each after its length. Numbers are big-endian
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dayshift_engine::{BlobId, Head, RecordHash, Seq};

use crate::backend::{Backend, BranchMeta, Change, Contents, Extent, Loaded};
use crate::blob_files::BlobFiles;
use crate::catalog::{Squared, reconcile};
use crate::error::{Finding, StoreError};
use crate::folder::{Folder, Kind, pause, sync_dir};
use crate::frame::records;
use crate::front::Front;
use crate::fronted::Fronted;
use crate::heads::Heads;
use crate::rebuild::{Copied, Log, copy};

/// The most records in one value.
const VALUE_RECORDS_MAX: usize = 32;

/// The most bytes in one value (8 KiB), unless a single record with its length is larger by a few.
const VALUE_BYTES_MAX: usize = 8 << 10;

/// How much memory sled's page cache aims at (64 MiB).
const CACHE_BYTES: u64 = 64 << 20;

/// How often opening is tried again while a lock is being released.
const OPEN_TRIES: u32 = 100;

const INLINE: u8 = 0;
const IN_FILE: u8 = 1;

/// A store on sled.
pub struct SledStore {
    front: Front,
}

impl SledStore {
    /// Opens the store in `path`, and makes it if the folder is missing or empty. A log that is damaged is kept aside and built anew from what
    /// verifies; the branches that lost records stay marked, and [`crate::Store::findings`] tells.
    ///
    /// # Errors
    ///
    /// [`StoreError::Locked`], [`StoreError::NotAStore`], [`StoreError::Io`], [`StoreError::Database`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let mut folder = Folder::open(path.as_ref(), Kind::Sled)?;
        let log = folder.log();
        let opened = open_log(&log).and_then(|(backend, mut heads, contents)| {
            let squared = guarded(&log, || reconcile(contents, &*backend, &mut heads, &log))?;
            Ok((backend, heads, squared))
        });
        let (backend, heads, squared) = match opened {
            Ok((backend, heads, squared)) if !squared.newly_damaged => (backend, heads, squared),
            Ok((backend, heads, squared)) => rebuild(&mut folder, Some((backend, heads, squared)))?,
            Err(StoreError::Database { .. }) => rebuild(&mut folder, None)?,
            Err(other) => return Err(other),
        };
        let Squared { catalog, findings, .. } = squared;
        Ok(Self { front: Front::on_disk(folder, backend, heads, catalog, findings)? })
    }
}

impl fmt::Debug for SledStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SledStore").finish_non_exhaustive()
    }
}

impl Fronted for SledStore {
    fn front(&self) -> &Front {
        &self.front
    }
}

type Opened = (Box<dyn Backend>, Heads, Squared);

/// Opens the log in a folder.
pub(crate) fn open_log(log: &Path) -> Result<(Box<dyn Backend>, Heads, Contents), StoreError> {
    let heads = Heads::open(log)?;
    let database = Database::open(log)?;
    let contents = guarded(log, || database.load())?;
    Ok((Box::new(database), heads, contents))
}

/// Builds the log anew from what verifies, and keeps the damaged one aside.
fn rebuild(folder: &mut Folder, opened: Option<Opened>) -> Result<Opened, StoreError> {
    let old = folder.log();
    let fresh = folder.begin_generation()?;
    let mut findings = Vec::new();
    let copied = {
        let (backend, mut heads, _) = open_log(&fresh)?;
        let to = Log { backend: &*backend, heads: &mut heads };
        let copied = match opened {
            Some((from, mut from_heads, squared)) => {
                findings = squared.findings;
                let from = Log { backend: &*from, heads: &mut from_heads };
                guarded(&old, || copy(from, &squared.catalog, to))?
            }
            None => salvage(folder, &old, to, &mut findings)?,
        };
        backend.close();
        copied
    };
    folder.finish_generation()?;
    let quarantine = folder.quarantine_previous()?;
    findings.push(Finding::Rebuilt { quarantine, branches: copied.branches, records: copied.records });
    let log = folder.log();
    let (backend, mut heads, contents) = open_log(&log)?;
    let squared = reconcile(contents, &*backend, &mut heads, &log)?;
    // What is still marked was reported above, unless the old log could not be read at all.
    let again = squared.findings.iter().filter(|finding| !findings.contains(finding));
    findings = again.cloned().chain(findings.iter().cloned()).collect();
    Ok((backend, heads, Squared { findings, ..squared }))
}

/// Copies what can be read of a log that does not open: of a copy without its snapshots, which sled can do without. If that does not open either,
/// only the heads are left to say what was there.
fn salvage(folder: &Folder, old: &Path, to: Log<'_>, findings: &mut Vec<Finding>) -> Result<Copied, StoreError> {
    let attempt = folder.path().join("log-0");
    let _from_an_earlier_attempt = fs::remove_dir_all(&attempt);
    copy_without_snapshots(old, &attempt)?;
    let opened = open_log(&attempt);
    let mut heads = Heads::open(&attempt)?;
    let copied = match opened {
        Ok((backend, _, contents)) => {
            let squared = guarded(&attempt, || reconcile(contents, &*backend, &mut heads, old))?;
            findings.extend(squared.findings);
            let from = Log { backend: &*backend, heads: &mut heads };
            guarded(&attempt, || copy(from, &squared.catalog, to))?
        }
        Err(_) => {
            let squared = reconcile(Contents::default(), to.backend, &mut heads, old)?;
            findings.extend(squared.findings);
            let from = Log { backend: to.backend, heads: &mut heads };
            let rest = Log { backend: to.backend, heads: to.heads };
            copy(from, &squared.catalog, rest)?
        }
    };
    fs::remove_dir_all(&attempt).map_err(StoreError::io("remove", &attempt))?;
    Ok(copied)
}

fn copy_without_snapshots(from: &Path, to: &Path) -> Result<(), StoreError> {
    fs::create_dir_all(to).map_err(StoreError::io("create", to))?;
    for entry in fs::read_dir(from).map_err(StoreError::io("list", from))? {
        let path = entry.map_err(StoreError::io("list", from))?.path();
        let name = path.file_name().unwrap_or_default();
        if path.is_dir() {
            copy_without_snapshots(&path, &to.join(name))?;
        } else if !name.to_string_lossy().starts_with("snap.") {
            fs::copy(&path, to.join(name)).map_err(StoreError::io("copy", &path))?;
        }
    }
    Ok(())
}

/// The database, and what it needs beside it.
struct Database {
    path: PathBuf,
    /// There until it is dropped.
    tree: Option<sled::Db>,
    /// A second handle to sled's file, because its own flush does not reach the disk.
    file: File,
    /// Values that are too large for sled.
    large: BlobFiles,
}

impl Database {
    fn open(log: &Path) -> Result<Self, StoreError> {
        let path = log.join("sled");
        fs::create_dir_all(&path).map_err(StoreError::io("create", &path))?;
        remove_unfinished_snapshots(&path)?;
        let config = sled::Config::new().path(&path).cache_capacity(CACHE_BYTES).flush_every_ms(None);
        let mut tries = 0;
        let tree = loop {
            tries += 1;
            match guarded(&path, || config.open().map_err(|error| database(&path, &error))) {
                Ok(tree) => break tree,
                Err(error) if tries < OPEN_TRIES && error.to_string().contains("lock") => pause(),
                Err(error) => return Err(error),
            }
        };
        let name = path.join("db");
        let file = File::open(&name).map_err(StoreError::io("open", &name))?;
        file.sync_all().map_err(StoreError::io("sync", &name))?;
        sync_dir(&path)?;
        sync_dir(log)?;
        Ok(Self { path, tree: Some(tree), file, large: BlobFiles::open(log)? })
    }

    fn tree(&self) -> &sled::Db {
        self.tree.as_ref().expect("only dropping the database takes the tree")
    }

    /// Lists the branches, and finds where each ends by its last record.
    fn load(&self) -> Result<Contents, StoreError> {
        let mut contents = Contents::default();
        for pair in self.tree().scan_prefix(b"b") {
            let (key, value) = pair.map_err(|error| database(&self.path, &error))?;
            let Some(number) = key.get(1..9).and_then(|number| number.try_into().ok()).map(u64::from_be_bytes) else {
                continue;
            };
            if value.is_empty() {
                contents.discarded.push(number);
                continue;
            }
            // A branch that cannot be read is missed when the heads are compared.
            let Some(meta) = BranchMeta::from_bytes(&value).filter(|meta| meta.number == number) else { continue };
            let note = self.tree().get(key_of(b'n', number)).map_err(|error| database(&self.path, &error))?;
            let note = note.map(|value| self.content(&value)).transpose()?.unwrap_or_default();
            let (head, damage) = self.end(&meta)?;
            contents.branches.push(Loaded { meta, note, head, damage, doubtful: false });
        }
        Ok(contents)
    }

    /// Returns where a branch's own records end.
    fn end(&self, meta: &BranchMeta) -> Result<(Head, Option<dayshift_engine::BadLink>), StoreError> {
        let all = record_key(meta.number, 0)..=record_key(meta.number, u64::MAX);
        let Some(pair) = self.tree().range(all).next_back() else { return Ok((meta.base, None)) };
        let (key, value) = pair.map_err(|error| database(&self.path, &error))?;
        let first = position(&key);
        let mut head = meta.base;
        let content = match self.content(&value) {
            Ok(content) => content,
            Err(StoreError::Damaged(_)) => {
                let at = Head { count: first, hash: RecordHash::default() };
                return Ok((at, Some(dayshift_engine::BadLink::Malformed { seq: Seq::new(first) })));
            }
            Err(other) => return Err(other),
        };
        for (count, record) in (first + 1..).zip(packed(&value, &content)) {
            head = Head { count, hash: RecordHash::of(record) };
        }
        Ok((head, None))
    }

    /// Returns what a value holds: the packed bytes, or the content of the file that it names.
    fn content(&self, value: &[u8]) -> Result<Arc<[u8]>, StoreError> {
        match value.split_first() {
            Some((&IN_FILE, name)) => {
                let id = BlobId::new(name.try_into().unwrap_or_default());
                self.large.get(id)?.ok_or_else(|| crate::error::Damage::BlobMissing { id }.into())
            }
            Some((_, content)) => Ok(content.into()),
            None => Ok(Arc::default()),
        }
    }

    /// Returns the value for content of any size, whose file is durable if it needs one.
    fn value(&self, content: &[u8]) -> Result<Vec<u8>, StoreError> {
        if content.len() <= VALUE_BYTES_MAX {
            return Ok([&[INLINE], content].concat());
        }
        let id = BlobId::of(content);
        self.large.put(id, content)?;
        Ok([&[IN_FILE], id.as_bytes().as_slice()].concat())
    }

    /// Adds the values of a run of records to `inserts`.
    fn pack(
        &self,
        number: u64,
        first: u64,
        records: &[Arc<[u8]>],
        inserts: &mut BTreeMap<Vec<u8>, Vec<u8>>,
    ) -> Result<(), StoreError> {
        let mut at = 0;
        while at < records.len() {
            let mut value = vec![INLINE];
            let mut until = at;
            while until < records.len() && until - at < VALUE_RECORDS_MAX {
                let record = &records[until];
                if value.len() + 4 + record.len() > VALUE_BYTES_MAX {
                    break;
                }
                value.extend_from_slice(&(record.len() as u32).to_le_bytes());
                value.extend_from_slice(record);
                until += 1;
            }
            if until == at {
                let id = BlobId::of(&records[at]);
                self.large.put(id, &records[at])?;
                value = [&[IN_FILE], id.as_bytes().as_slice()].concat();
                until += 1;
            }
            inserts.insert(record_key(number, first + at as u64), value);
            at = until;
        }
        Ok(())
    }

    fn batch(&self, changes: &[Change]) -> Result<sled::Batch, StoreError> {
        let mut inserts = BTreeMap::new();
        let mut batch = sled::Batch::default();
        for change in changes {
            match change {
                Change::Create { meta, note } => {
                    inserts.insert(key_of(b'b', meta.number), meta.to_bytes());
                    inserts.insert(key_of(b'n', meta.number), self.value(note)?);
                }
                Change::Append { number, first, records, .. } => self.pack(*number, *first, records, &mut inserts)?,
                Change::Note { number, note } => {
                    inserts.insert(key_of(b'n', *number), self.value(note)?);
                }
                Change::Discard { number, .. } => {
                    inserts.retain(|key, _| key[0] != b'r' || key[1..9] != number.to_be_bytes());
                    for key in self.tree().scan_prefix(key_of(b'r', *number)).keys() {
                        batch.remove(key.map_err(|error| database(&self.path, &error))?);
                    }
                    inserts.remove(&key_of(b'n', *number));
                    batch.remove(key_of(b'n', *number));
                    inserts.insert(key_of(b'b', *number), Vec::new());
                }
            }
        }
        for (key, value) in inserts {
            batch.insert(key, value);
        }
        Ok(batch)
    }
}

impl Backend for Database {
    fn commit(&self, changes: &[Change]) -> Result<(), StoreError> {
        let batch = self.batch(changes)?;
        self.tree().apply_batch(batch).map_err(|error| database(&self.path, &error))?;
        self.tree().flush().map_err(|error| database(&self.path, &error))?;
        self.file.sync_data().map_err(StoreError::io("sync", &self.path))
    }

    fn read(
        &self,
        extent: Extent,
        visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, StoreError> {
        let Extent { number, from, until } = extent;
        let before = self.tree().range(record_key(number, 0)..=record_key(number, from)).next_back();
        let start = match before {
            None => from,
            Some(pair) => position(&pair.map_err(|error| database(&self.path, &error))?.0),
        };
        let mut next = from;
        for pair in self.tree().range(record_key(number, start)..record_key(number, until)) {
            let (key, value) = pair.map_err(|error| database(&self.path, &error))?;
            let first = position(&key);
            let content = match self.content(&value) {
                Ok(content) => content,
                // A gap where its record should be: the caller names it.
                Err(StoreError::Damaged(_)) => break,
                Err(other) => return Err(other),
            };
            for (at, record) in (first..until).zip(packed(&value, &content)).filter(|(at, _)| *at >= from) {
                if at != next {
                    return Ok(ControlFlow::Continue(()));
                }
                next += 1;
                if visit(record).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn close(&self) {
        let _everything_acknowledged_is_durable =
            guarded(&self.path, || self.tree().flush().map(|_| ()).map_err(|error| database(&self.path, &error)));
        let _likewise = self.file.sync_all();
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // After a failed write sled panics here; everything acknowledged is durable all the same.
        let _everything_acknowledged_is_durable = guarded(&self.path, || {
            drop(self.tree.take());
            Ok(())
        });
    }
}

/// Returns the records of a value, whose content may be one record in a file.
fn packed<'a>(value: &[u8], content: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let in_file = value.first() == Some(&IN_FILE);
    let one = in_file.then_some(content);
    let many = (!in_file).then(|| records(content));
    one.into_iter().chain(many.into_iter().flatten())
}

fn key_of(kind: u8, number: u64) -> Vec<u8> {
    [&[kind], number.to_be_bytes().as_slice()].concat()
}

fn record_key(number: u64, first: u64) -> Vec<u8> {
    [key_of(b'r', number), first.to_be_bytes().to_vec()].concat()
}

fn position(key: &[u8]) -> u64 {
    key.get(9..17).and_then(|bytes| bytes.try_into().ok()).map_or(u64::MAX, u64::from_be_bytes)
}

/// Removes what a kill while opening left, which the next open would trip over.
fn remove_unfinished_snapshots(path: &Path) -> Result<(), StoreError> {
    for entry in fs::read_dir(path).map_err(StoreError::io("list", path))? {
        let name = entry.map_err(StoreError::io("list", path))?.path();
        if name.extension().is_some_and(|extension| extension == "generating") {
            fs::remove_file(&name).map_err(StoreError::io("remove", &name))?;
        }
    }
    Ok(())
}

/// Calls into sled where it may panic over what it finds on disk.
fn guarded<T>(path: &Path, call: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| {
        Err(StoreError::Database { path: path.to_owned(), reason: "it panicked over what it found".to_owned() })
    })
}

fn database(path: &Path, error: &sled::Error) -> StoreError {
    StoreError::Database { path: path.to_owned(), reason: error.to_string() }
}
