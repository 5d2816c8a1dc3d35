//! The store on sled, the default on disk. The only file that names sled, pinned at 0.34.7: what is done here was measured on that version.
//!
//! Its `flush` is no `fsync`, so a commit is `apply_batch`, `flush`, and `sync_data` on a second handle to its `db` file. Values beyond about 16 KiB
//! would spill into files that are never synced, so a value holds at most 32 records or 8 KiB, and what is larger is a file of our own. A kill while
//! it opens can leave a `*.generating` file that the next open trips over, and damage can make it panic, so that is all caught here.
//!
//! On opening, sled cuts its file off at the first bytes that it cannot read. So it opens in place only what is under its seal ([`crate::seal`]); otherwise it
//! opens a copy, which must hold what the raw bytes show ([`crate::salvage`]), and if it does not, the log is built anew from those bytes.
//!
//! Each value is in an envelope of its own ([`crate::value`]), and its content is:
//!
//! ```text
//! b number        a branch: named MessagePack; empty once discarded
//! n number        its note
//! r number first  its records from position first: each after its length. Numbers are big-endian
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File, TryLockError};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dayshift_engine::{BlobId, Head, RecordHash, Seq};

use crate::backend::{Backend, BranchMeta, Change, Contents, Extent, Loaded};
use crate::blob_files::BlobFiles;
use crate::catalog::{Squared, reconcile};
use crate::chain_walk::ChainWalk;
use crate::error::{Damage, StoreError};
use crate::folder::{Folder, Kind, pause, sync_dir};
use crate::frame::records;
use crate::front::Front;
use crate::fronted::Fronted;
use crate::heads::Heads;
use crate::salvage::rebuild::{Opened, Original, rebuild};
use crate::salvage::{Found, Saved, scan};
use crate::seal::{self, Sealed};
use crate::value::{self, IN_FILE, INLINE, enveloped};

/// The most records in one value.
const VALUE_RECORDS_MAX: usize = 32;

/// The most bytes in one value (8 KiB), unless a single record with its length is larger by a few.
const VALUE_BYTES_MAX: usize = 8 << 10;

/// How much memory sled's page cache aims at (64 MiB).
const CACHE_BYTES: u64 = 64 << 20;

/// How often opening is tried again while a lock is being released.
const OPEN_TRIES: u32 = 100;

/// The folder of sled's files in the folder of a log.
const FILES: &str = "sled";

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
        let (backend, heads, squared) = match seal::check(&log)? {
            Sealed::Fresh | Sealed::Whole => open_proven(&mut folder)?,
            Sealed::Absent => open_unproven(&mut folder)?,
            Sealed::Broken => salvaged(&mut folder)?,
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

/// Opens the log in a folder, in place: it must be new or under its seal.
pub(crate) fn open_log(log: &Path) -> Result<(Box<dyn Backend>, Heads, Contents), StoreError> {
    let heads = Heads::open(log)?;
    let database = Database::open(log)?;
    let contents = guarded(log, || database.load())?;
    Ok((Box::new(database), heads, contents))
}

fn open_and_compare(log: &Path) -> Result<Opened, StoreError> {
    let (backend, mut heads, contents) = open_log(log)?;
    let squared = guarded(log, || reconcile(contents, &*backend, &mut heads, log))?;
    Ok((backend, heads, squared))
}

/// Opens a log that is new or as it was left.
fn open_proven(folder: &mut Folder) -> Result<Opened, StoreError> {
    match open_and_compare(&folder.log()) {
        Ok((backend, heads, squared)) if !squared.newly_damaged => Ok((backend, heads, squared)),
        Ok((backend, ..)) => {
            drop(backend);
            salvaged(folder)
        }
        Err(StoreError::Database { .. }) => salvaged(folder),
        Err(other) => Err(other),
    }
}

/// Opens a log that was not closed: a copy of it, which counts if it holds everything that the raw bytes show.
fn open_unproven(folder: &mut Folder) -> Result<Opened, StoreError> {
    let old = folder.log();
    let heads = Heads::read(&old);
    let found = scan::in_database(&old)?;
    let saved = found.recover(&heads);
    let fresh = folder.begin_generation()?;
    if let Err(error) = copy_folder(&old, &fresh) {
        // On a full disk the beginning of a copy would only take room.
        let _best_effort = fs::remove_dir_all(&fresh);
        return Err(error);
    }
    if let Ok((backend, heads, squared)) = open_and_compare(&fresh)
        && !squared.newly_damaged
        && guarded(&fresh, || holds(&*backend, &squared, &found, &saved)).unwrap_or(false)
    {
        folder.finish_generation()?;
        folder.remove_previous()?;
        return Ok((backend, heads, squared));
    }
    let is_lost = saved.iter().any(|saved| saved.lost.is_some() && !saved.is_known);
    // Without heads nothing vouches for the ends of branches.
    let original = if is_lost || heads.count() == 0 { Original::Quarantined } else { Original::Removed };
    rebuild(folder, open_log, &found, &saved, original)
}

/// Returns whether an open log has every branch, note and record that was found in its bytes, each branch in one chain.
fn holds(backend: &dyn Backend, squared: &Squared, found: &Found, saved: &[Saved]) -> Result<bool, StoreError> {
    for saved in saved.iter().filter(|saved| !saved.is_gone()) {
        let Some(entry) = squared.catalog.by_number(saved.meta.number) else { return Ok(false) };
        let note_differs = saved.note_checked && found.has_checks && entry.note != saved.note;
        if entry.accepted.count < saved.head.count || note_differs || saved.lost.is_some() && !saved.is_known {
            return Ok(false);
        }
        let own = Extent { number: entry.meta.number, from: entry.meta.base.count, until: entry.accepted.count };
        let mut walk = ChainWalk::new(entry.meta.base, entry.accepted);
        let mut broken = false;
        let _shorter_is_told_by_the_walk = backend.read(own, &mut |record| {
            broken = walk.step(record).is_err();
            if broken { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if broken || walk.finish().is_err() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Builds the log anew from its raw bytes, which sled never opens, and keeps them aside.
fn salvaged(folder: &mut Folder) -> Result<Opened, StoreError> {
    let old = folder.log();
    let heads = Heads::read(&old);
    let found = scan::in_database(&old)?;
    let mut saved = found.recover(&heads);
    if !found.has_checks {
        // Values of the first versions have no envelope, so only the database can find the notes.
        let notes = notes_of_a_copy(folder, &old).unwrap_or_default();
        for saved in &mut saved {
            if let Some(note) = notes.get(&saved.meta.number) {
                saved.note = Arc::clone(note);
            }
        }
    }
    rebuild(folder, open_log, &found, &saved, Original::Quarantined)
}

/// Returns the notes that sled still finds in a copy of a damaged log.
fn notes_of_a_copy(folder: &Folder, old: &Path) -> Result<BTreeMap<u64, Arc<[u8]>>, StoreError> {
    let attempt = folder.path().join("log-0");
    let _from_an_earlier_attempt = fs::remove_dir_all(&attempt);
    copy_folder(old, &attempt)?;
    let opened = open_log(&attempt);
    let notes = opened.map(|(_, _, contents)| contents.branches.into_iter().map(|b| (b.meta.number, b.note)).collect());
    fs::remove_dir_all(&attempt).map_err(StoreError::io("remove", &attempt))?;
    notes
}

/// Copies a log without its seal, and without what a kill while opening left, and makes the copy durable.
fn copy_folder(from: &Path, to: &Path) -> Result<(), StoreError> {
    fs::create_dir_all(to).map_err(StoreError::io("create", to))?;
    for entry in fs::read_dir(from).map_err(StoreError::io("list", from))? {
        let path = entry.map_err(StoreError::io("list", from))?.path();
        let name = path.file_name().unwrap_or_default();
        if path.is_dir() {
            copy_folder(&path, &to.join(name))?;
        } else if name != "seal" && path.extension().is_none_or(|ending| ending != "generating") {
            let copy = to.join(name);
            fs::copy(&path, &copy).map_err(StoreError::io("copy", &path))?;
            File::open(&copy).and_then(|file| file.sync_all()).map_err(StoreError::io("sync", &copy))?;
        }
    }
    sync_dir(to)
}

/// The database, and what it needs beside it.
struct Database {
    log: PathBuf,
    path: PathBuf,
    /// There until it is dropped.
    tree: Option<sled::Db>,
    /// A second handle to sled's file, because its own flush does not reach the disk.
    file: File,
    /// Values that are too large for sled.
    large: BlobFiles,
    /// Whether a commit failed: then it is not known what the file holds, and it gets no seal.
    failed: AtomicBool,
}

impl Database {
    fn open(log: &Path) -> Result<Self, StoreError> {
        let path = log.join(FILES);
        seal::open(log)?;
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
        let large = BlobFiles::open(log)?;
        Ok(Self { log: log.to_owned(), path, tree: Some(tree), file, large, failed: AtomicBool::new(false) })
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
            // A branch that cannot be read is missed when the heads are compared.
            let Some(value) = value::opened(&value) else { continue };
            if value.content.is_empty() {
                contents.discarded.push(number);
                continue;
            }
            let Some(meta) = BranchMeta::from_bytes(value.content).filter(|meta| meta.number == number) else {
                continue;
            };
            let note = self.tree().get(key_of(b'n', number)).map_err(|error| database(&self.path, &error))?;
            let note = match note.map(|value| self.content(&value)).transpose() {
                Ok(found) => found.map(|(note, _)| note).unwrap_or_default(),
                // A note is not worth the store.
                Err(StoreError::Damaged(damage)) => {
                    contents.findings.push(damage.into());
                    Arc::default()
                }
                Err(other) => return Err(other),
            };
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
        let (content, form) = match self.content(&value) {
            Ok(content) => content,
            Err(StoreError::Damaged(_)) => {
                let at = Head { count: first, hash: RecordHash::default() };
                return Ok((at, Some(dayshift_engine::BadLink::Malformed { seq: Seq::new(first) })));
            }
            Err(other) => return Err(other),
        };
        for (count, record) in (first + 1..).zip(packed(form, &content)) {
            head = Head { count, hash: RecordHash::of(record) };
        }
        Ok((head, None))
    }

    /// Returns what a value holds, and in which form: the packed bytes, or the content of the file that it names.
    fn content(&self, value: &[u8]) -> Result<(Arc<[u8]>, u8), StoreError> {
        let altered = || Damage::File { path: self.path.clone(), at: 0, reason: "a value is altered".to_owned() };
        let value = value::opened(value).ok_or_else(altered)?;
        if value.form != IN_FILE {
            return Ok((value.content.into(), value.form));
        }
        let id = BlobId::new(value.content.try_into().unwrap_or_default());
        let content = self.large.get(id)?.ok_or(Damage::BlobMissing { id })?;
        Ok((content, value.form))
    }

    /// Returns the value of `key` for content of any size, whose file is durable if it needs one.
    fn value(&self, key: &[u8], content: &[u8]) -> Result<Vec<u8>, StoreError> {
        // A value that replaces another is told from it in the raw bytes by its stamp.
        let before = self.tree().get(key).map_err(|error| database(&self.path, &error))?;
        let stamp = before.as_ref().and_then(|value| value::opened(value)).map_or(0, |value| value.stamp + 1);
        if content.len() <= VALUE_BYTES_MAX {
            return Ok(enveloped(key, stamp, INLINE, content));
        }
        let id = BlobId::of(content);
        self.large.put(id, content)?;
        Ok(enveloped(key, stamp, IN_FILE, id.as_bytes()))
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
            let key = record_key(number, first + at as u64);
            let mut content = Vec::new();
            let mut until = at;
            while until < records.len() && until - at < VALUE_RECORDS_MAX {
                let record = &records[until];
                if content.len() + 4 + record.len() > VALUE_BYTES_MAX {
                    break;
                }
                content.extend_from_slice(&(record.len() as u32).to_le_bytes());
                content.extend_from_slice(record);
                until += 1;
            }
            let value = if until == at {
                let id = BlobId::of(&records[at]);
                self.large.put(id, &records[at])?;
                until += 1;
                enveloped(&key, 0, IN_FILE, id.as_bytes())
            } else {
                enveloped(&key, 0, INLINE, &content)
            };
            inserts.insert(key, value);
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
                    let (branch, beside) = (key_of(b'b', meta.number), key_of(b'n', meta.number));
                    let (described, note) = (self.value(&branch, &meta.to_bytes())?, self.value(&beside, note)?);
                    inserts.insert(branch, described);
                    inserts.insert(beside, note);
                }
                Change::Append { number, first, records, .. } => self.pack(*number, *first, records, &mut inserts)?,
                Change::Note { number, note } => {
                    let key = key_of(b'n', *number);
                    let mut value = self.value(&key, note)?;
                    // Two notes of one commit: the second replaces the first before either is in the database.
                    if let Some(before) = inserts.get(&key).and_then(|value| value::opened(value)) {
                        value = value::restamped(&value, before.stamp + 1);
                    }
                    inserts.insert(key, value);
                }
                Change::Discard { number, .. } => {
                    inserts.retain(|key, _| key[0] != b'r' || key[1..9] != number.to_be_bytes());
                    for key in self.tree().scan_prefix(key_of(b'r', *number)).keys() {
                        batch.remove(key.map_err(|error| database(&self.path, &error))?);
                    }
                    inserts.remove(&key_of(b'n', *number));
                    batch.remove(key_of(b'n', *number));
                    let key = key_of(b'b', *number);
                    let value = self.value(&key, &[])?;
                    inserts.insert(key, value);
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
        // Until it is done: a panic counts as a failure.
        self.failed.store(true, Ordering::Relaxed);
        let batch = self.batch(changes)?;
        self.tree().apply_batch(batch).map_err(|error| database(&self.path, &error))?;
        self.tree().flush().map_err(|error| database(&self.path, &error))?;
        self.file.sync_data().map_err(StoreError::io("sync", &self.path))?;
        self.failed.store(false, Ordering::Relaxed);
        Ok(())
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
            let (content, form) = match self.content(&value) {
                Ok(content) => content,
                // A gap where its record should be: the caller names it.
                Err(StoreError::Damaged(_)) => break,
                Err(other) => return Err(other),
            };
            for (at, record) in (first..until).zip(packed(form, &content)).filter(|(at, _)| *at >= from) {
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
        let dropped = guarded(&self.path, || {
            drop(self.tree.take());
            Ok(())
        });
        if dropped.is_ok() && !self.failed.load(Ordering::Relaxed) && is_released(&self.path.join("db")) {
            let _without_a_seal_the_next_opening_looks_closer = seal::close(&self.log);
        }
    }
}

/// Waits until sled's threads have let go of its file.
fn is_released(db: &Path) -> bool {
    let Ok(file) = File::open(db) else { return false };
    for _ in 0..OPEN_TRIES {
        match file.try_lock() {
            Ok(()) => return true,
            Err(TryLockError::WouldBlock) => pause(),
            Err(TryLockError::Error(_)) => return false,
        }
    }
    false
}

/// Returns the records of a value, whose content may be one record in a file.
fn packed(form: u8, content: &[u8]) -> impl Iterator<Item = &[u8]> {
    let in_file = form == IN_FILE;
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
