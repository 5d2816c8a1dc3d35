//! The portable log file, `*.dayshift`: one branch with everything that it shares, its blobs, and a footer that says where it ends. The same frames
//! as in segment files. Reading one needs no store; a file whose bytes were altered anywhere is refused, and the record at fault named. What is whole of one that is
//! cut off or altered can be had by asking for it.
//!
//! Frames, in order: the header; runs of records from position 0 on; one frame for each blob, by name; the footer.

mod source;
mod survey;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use dayshift_engine::{BlobId, Head};
use serde::{Deserialize, Serialize};

use crate::branch::{BranchId, NewBranch};
use crate::chain_walk::{ChainWalk, named};
use crate::error::{Damage, StoreError};
use crate::folder::sync_dir;
use crate::frame::FrameWriter;
use crate::open_file::open_file;
use crate::portable::source::{Source, Window};
use crate::portable::survey::Survey;
use crate::store::{Append, Store};

/// How many bytes of records share a frame, and an append while importing.
const RUN_BYTES: usize = 256 << 10;

const FORMAT: &str = "dayshift log 1";

#[derive(Debug, Serialize, Deserialize)]
struct Header {
    format: String,
    branch: BranchId,
    #[serde(with = "serde_bytes")]
    note: Vec<u8>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Footer {
    head: Head,
    blobs: u64,
}

/// Writes a branch and the blobs that it needs to a file of its own, which is durable and complete once it has its name.
///
/// # Errors
///
/// [`StoreError::Damaged`] when a record does not continue the chain or a blob is missing or altered; [`StoreError::UnknownBranch`];
/// [`StoreError::Io`].
pub fn export(
    store: &dyn Store,
    branch: &BranchId,
    blobs: &[BlobId],
    path: impl AsRef<Path>,
    note: &[u8],
) -> Result<Head, StoreError> {
    let path = path.as_ref();
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let fresh = path.with_file_name(name);
    let written = write_log(store, branch, blobs, &fresh, note).and_then(|head| {
        fs::rename(&fresh, path).map_err(StoreError::io("rename", &fresh))?;
        sync_dir(path.parent().unwrap_or(Path::new(".")))?;
        Ok(head)
    });
    if written.is_err() {
        let _it_may_never_have_been_made = fs::remove_file(&fresh);
    }
    written
}

fn write_log(
    store: &dyn Store,
    branch: &BranchId,
    blobs: &[BlobId],
    fresh: &Path,
    note: &[u8],
) -> Result<Head, StoreError> {
    let file = File::create(fresh).map_err(StoreError::io("create", fresh))?;
    let mut writer = Writer { path: fresh, file, at: 0 };
    let header = Header { format: FORMAT.to_owned(), branch: branch.clone(), note: note.to_vec() };
    writer.frame(|frame| frame.file(&packed(&header)))?;
    let end = store.head(branch)?;
    let mut walk = ChainWalk::new(Head::default(), end);
    let mut run: Vec<Vec<u8>> = Vec::new();
    let (mut first, mut bytes, mut failed) = (0, 0, None);
    store.read(branch, 0, &mut |record| {
        if walk.head().count == end.count {
            return ControlFlow::Break(());
        }
        if let Err(link) = walk.step(record) {
            failed = Some(Damage::Record { branch: branch.clone(), whole: named(&link), link }.into());
            return ControlFlow::Break(());
        }
        run.push(record.to_vec());
        bytes += record.len();
        if bytes >= RUN_BYTES {
            failed = writer.run(first, &run).err();
            first += run.len() as u64;
            (bytes, run) = (0, Vec::new());
        }
        if failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    if let Some(error) = failed {
        return Err(error);
    }
    walk.finish().map_err(|link| Damage::Record { branch: branch.clone(), whole: named(&link), link })?;
    if !run.is_empty() {
        writer.run(first, &run)?;
    }
    let mut names = blobs.to_vec();
    names.sort_unstable();
    names.dedup();
    for &id in &names {
        let content = store.blob(id)?.ok_or(Damage::BlobMissing { id })?;
        writer.frame(|frame| frame.blob(id, &content))?;
    }
    let footer = Footer { head: end, blobs: names.len() as u64 };
    writer.frame(|frame| frame.footer(&packed(&footer)))?;
    writer.file.sync_all().map_err(StoreError::io("sync", fresh))?;
    Ok(end)
}

fn packed<T: Serialize>(value: &T) -> Vec<u8> {
    rmp_serde::to_vec_named(value).expect("plain data in memory always serialises")
}

struct Writer<'a> {
    path: &'a Path,
    file: File,
    at: u64,
}

impl Writer<'_> {
    fn frame(&mut self, fill: impl FnOnce(&mut FrameWriter)) -> Result<(), StoreError> {
        let mut frame = FrameWriter::new();
        fill(&mut frame);
        let bytes = frame.finish(self.at);
        self.file.write_all(&bytes).map_err(StoreError::io("write", self.path))?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    fn run(&mut self, first: u64, records: &[Vec<u8>]) -> Result<(), StoreError> {
        self.frame(|frame| {
            frame.run(0, first, records.iter().map(Vec::as_slice));
        })
    }
}

/// A portable log whose bytes were all checked: frames, chain, and blobs. Records and blobs stay in the file until they are asked for.
#[derive(Debug)]
pub struct PortableLog {
    source: Source,
    branch: BranchId,
    note: Vec<u8>,
    head: Head,
    /// Where each record is.
    records: Vec<(u64, u32)>,
    blobs: BTreeMap<BlobId, (u64, u32)>,
}

impl PortableLog {
    /// Reads a file and checks all of it.
    ///
    /// # Errors
    ///
    /// [`StoreError::Damaged`] names the record, the blob, or the place in the file; [`StoreError::NotAStore`] when it is no portable log;
    /// [`StoreError::NotAFile`]; [`StoreError::Io`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref();
        let (file, length) = open_file(path)?;
        Self::checked(path, Source::file(path, file, length))
    }

    /// Checks the bytes of a file, which is called `path` in errors.
    ///
    /// # Errors
    ///
    /// As [`PortableLog::open`].
    pub fn parse(path: impl AsRef<Path>, bytes: Vec<u8>) -> Result<Self, StoreError> {
        Self::checked(path.as_ref(), Source::memory(path.as_ref(), bytes))
    }

    /// Reads as much of a file as is whole: the records up to the first that is cut off or altered, and the blobs whose content is theirs.
    /// Returns what is wrong with the rest, if anything is.
    ///
    /// # Errors
    ///
    /// [`StoreError::Damaged`] when not even the header is whole; [`StoreError::NotAStore`]; [`StoreError::NotAFile`]; [`StoreError::Io`].
    pub fn salvage(path: impl AsRef<Path>) -> Result<(Self, Option<Damage>), StoreError> {
        let path = path.as_ref();
        let (file, length) = open_file(path)?;
        let source = Source::file(path, file, length);
        let mut survey = Survey::of(path, &source)?;
        let fault = match survey.check(&source) {
            Ok(()) => None,
            Err(StoreError::Damaged(damage)) => Some(damage),
            Err(other) => return Err(other),
        };
        let Some(header) = survey.header.take() else {
            let reason = "its header is altered, so not even its name is known".to_owned();
            return Err(Damage::File { path: path.to_owned(), at: 0, reason }.into());
        };
        let mut head = Head::default();
        let mut window = Window::default();
        for &(at, bytes) in &survey.records {
            match head.follow(window.get(&source, at, bytes as usize)?) {
                Ok(next) => head = next,
                Err(_) => break,
            }
        }
        if let Some(Damage::Record { whole, .. }) = &fault
            && *whole < head.count
        {
            // The last record before the fault continues the chain and is altered all the same: nothing vouches for it.
            let hash = survey.hash_of_record(&source, *whole)?;
            head = Head { count: *whole, hash };
        }
        survey.records.truncate(usize::try_from(head.count).unwrap_or(usize::MAX));
        let mut blobs = BTreeMap::new();
        for (&id, &(at, bytes)) in &survey.blobs {
            if BlobId::of(window.get(&source, at, bytes as usize)?) == id {
                blobs.insert(id, (at, bytes));
            }
        }
        let Header { branch, note, .. } = header;
        Ok((Self { branch, note, head, records: survey.records, blobs, source }, fault))
    }

    fn checked(path: &Path, source: Source) -> Result<Self, StoreError> {
        let mut survey = Survey::of(path, &source)?;
        survey.check(&source)?;
        let missing = || Damage::File { path: path.to_owned(), at: 0, reason: "it has no header".to_owned() };
        let Header { branch, note, .. } = survey.header.ok_or_else(missing)?;
        let head = survey.footer.map(|footer| footer.head).unwrap_or_default();
        Ok(Self { branch, note, head, records: survey.records, blobs: survey.blobs, source })
    }

    /// Returns the name of the branch that was exported.
    #[must_use]
    pub fn branch(&self) -> &BranchId {
        &self.branch
    }

    /// Returns the note that was exported with it.
    #[must_use]
    pub fn note(&self) -> &[u8] {
        &self.note
    }

    /// Returns where the log ends.
    #[must_use]
    pub fn head(&self) -> Head {
        self.head
    }

    /// Returns the records from position 0 on.
    pub fn records(&self) -> impl ExactSizeIterator<Item = Result<Arc<[u8]>, StoreError>> {
        let mut window = Window::default();
        self.records.iter().map(move |&(at, bytes)| Ok(Arc::from(window.get(&self.source, at, bytes as usize)?)))
    }

    /// Returns the names of the blobs in the file.
    pub fn blob_ids(&self) -> impl ExactSizeIterator<Item = BlobId> + '_ {
        self.blobs.keys().copied()
    }

    /// Returns the content of a blob, or nothing if the file does not hold it.
    ///
    /// # Errors
    ///
    /// [`StoreError::Io`].
    pub fn blob(&self, id: BlobId) -> Result<Option<Arc<[u8]>>, StoreError> {
        let Some(&(at, bytes)) = self.blobs.get(&id) else { return Ok(None) };
        let mut content = Vec::new();
        self.source.read(at, bytes as usize, &mut content)?;
        Ok(Some(content.into()))
    }
}

/// Brings a portable log into a store as a branch of its own, with its blobs and `note`.
///
/// # Errors
///
/// As [`Store::create`], [`Store::put_blob`] and [`Store::append`].
pub fn import(store: &dyn Store, log: &PortableLog, branch: &BranchId, note: &[u8]) -> Result<Head, StoreError> {
    for id in log.blob_ids() {
        if let Some(content) = log.blob(id)? {
            store.put_blob(&content)?;
        }
    }
    store.create(NewBranch { id: branch.clone(), parent: None, note: note.to_vec() })?;
    let mut after = Head::default();
    let mut records: Vec<Arc<[u8]>> = Vec::new();
    let (mut bytes, mut last) = (0, None);
    let count = log.records().len();
    for (at, record) in log.records().enumerate() {
        let record = record?;
        bytes += record.len();
        records.push(record);
        if bytes >= RUN_BYTES || at + 1 == count {
            let append =
                Append { branch: branch.clone(), after, records: std::mem::take(&mut records), blobs: Vec::new() };
            let ticket = store.append(append)?;
            (after, bytes) = (ticket.head(), 0);
            last = Some(ticket);
        }
    }
    last.map_or(Ok(after), |ticket| ticket.wait())
}
