//! The portable log file, `*.dayshift`: one branch with everything that it shares, its blobs, and a footer that says where it ends. The same frames
//! as in segment files. Reading one needs no store; a file whose bytes were altered anywhere is refused, and the record at fault named.
//!
//! Frames, in order: the header; runs of records from position 0 on; one frame for each blob, by name; the footer.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dayshift_engine::{BadLink, BlobId, Head, RecordHash, Seq};
use serde::{Deserialize, Serialize};

use crate::branch::{BranchId, NewBranch};
use crate::chain_walk::{ChainWalk, named};
use crate::error::{Damage, StoreError};
use crate::folder::sync_dir;
use crate::frame::{Entry, FRAME_HEADER_BYTES, Found, FrameWriter, entries, find_frame, next_frame};
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

/// A portable log in memory, whose bytes were all checked: frames, chain, and blobs.
#[derive(Debug)]
pub struct PortableLog {
    bytes: Vec<u8>,
    branch: BranchId,
    note: Vec<u8>,
    head: Head,
    /// Where each record is.
    records: Vec<(usize, usize)>,
    blobs: BTreeMap<BlobId, (usize, usize)>,
}

impl PortableLog {
    /// Reads a file and checks all of it.
    ///
    /// # Errors
    ///
    /// [`StoreError::Damaged`] names the record, the blob, or the place in the file; [`StoreError::NotAStore`] when it is no portable log;
    /// [`StoreError::Io`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref();
        let bytes = fs::read(path).map_err(StoreError::io("read", path))?;
        Self::parse(path, bytes)
    }

    /// Checks the bytes of a file, which is called `path` in errors.
    ///
    /// # Errors
    ///
    /// As [`PortableLog::open`].
    pub fn parse(path: impl AsRef<Path>, bytes: Vec<u8>) -> Result<Self, StoreError> {
        let survey = Survey::of(path.as_ref(), &bytes)?;
        let Checked { header, records, blobs, footer } = survey.checked(&bytes)?;
        let (branch, note) = (header.branch, header.note);
        Ok(Self { branch, note, head: footer.head, records, blobs, bytes })
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
    pub fn records(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.records.iter().map(|&(from, until)| &self.bytes[from..until])
    }

    /// Returns the names of the blobs in the file.
    pub fn blob_ids(&self) -> impl ExactSizeIterator<Item = BlobId> + '_ {
        self.blobs.keys().copied()
    }

    /// Returns the content of a blob, or nothing if the file does not hold it.
    #[must_use]
    pub fn blob(&self, id: BlobId) -> Option<&[u8]> {
        self.blobs.get(&id).map(|&(from, until)| &self.bytes[from..until])
    }
}

/// Brings a portable log into a store as a branch of its own, with its note and blobs.
///
/// # Errors
///
/// As [`Store::create`], [`Store::put_blob`] and [`Store::append`].
pub fn import(store: &dyn Store, log: &PortableLog, branch: &BranchId) -> Result<Head, StoreError> {
    for content in log.blob_ids().filter_map(|id| log.blob(id)) {
        store.put_blob(&Arc::from(content))?;
    }
    store.create(NewBranch { id: branch.clone(), parent: None, note: log.note.clone() })?;
    let mut after = Head::default();
    let mut records: Vec<Arc<[u8]>> = Vec::new();
    let (mut bytes, mut last) = (0, None);
    let count = log.records().len();
    for (at, record) in log.records().enumerate() {
        records.push(record.into());
        bytes += record.len();
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

/// What can be made out of a file, altered or not.
struct Survey<'p> {
    path: &'p Path,
    header: Option<Header>,
    records: Vec<(usize, usize)>,
    blobs: BTreeMap<BlobId, (usize, usize)>,
    footer: Option<Footer>,
    /// The first thing that is wrong with the file, and not with a record's bytes.
    fault: Option<Damage>,
}

/// A survey that found nothing wrong.
struct Checked {
    header: Header,
    records: Vec<(usize, usize)>,
    blobs: BTreeMap<BlobId, (usize, usize)>,
    footer: Footer,
}

impl<'p> Survey<'p> {
    fn of(path: &'p Path, bytes: &[u8]) -> Result<Self, StoreError> {
        let mut survey =
            Self { path, header: None, records: Vec::new(), blobs: BTreeMap::new(), footer: None, fault: None };
        let mut at = 0;
        while at < bytes.len() {
            let (next, whole) = match find_frame(bytes, at) {
                Found::Whole(length) => (at + length, true),
                Found::Bad(_) | Found::Blank => (next_frame(bytes, at + 1).unwrap_or(bytes.len()), false),
            };
            if !whole && next == bytes.len() && survey.header.is_none() {
                let reason = "it holds no frame of a portable log: export the run again".to_owned();
                return Err(StoreError::NotAStore { path: path.to_owned(), reason });
            }
            survey.frame(at, bytes, next, whole);
            at = next;
        }
        Ok(survey)
    }

    fn frame(&mut self, at: usize, bytes: &[u8], next: usize, whole: bool) {
        let payload_at = (at + FRAME_HEADER_BYTES).min(next);
        let expected = self.records.len() as u64;
        let mut about = if at == 0 {
            self.at(0, "the header is altered")
        } else if self.blobs.is_empty() && self.footer.is_none() && next < bytes.len() {
            self.record(BadLink::Malformed { seq: Seq::new(expected) })
        } else {
            self.at(at, "the part from here on is altered: it holds a blob or the footer")
        };
        let mut orderly = true;
        for entry in entries(&bytes[payload_at..next]) {
            let ended = self.footer.is_some();
            match entry {
                Ok(Entry::File(described)) if at == 0 => self.header = rmp_serde::from_slice(described).ok(),
                Ok(Entry::Run(run)) if self.blobs.is_empty() && !ended => {
                    orderly &= run.number == 0 && run.first == expected;
                    about = self.record(BadLink::Malformed { seq: Seq::new(expected) });
                    let mut from = payload_at + run.at;
                    let mut count = 0;
                    for record in run.records() {
                        self.records.push((from + 4, from + 4 + record.len()));
                        from += 4 + record.len();
                        count += 1;
                    }
                    orderly &= count == run.count && from == payload_at + run.at + run.records.len();
                }
                Ok(Entry::Blob { id, content }) if !ended => {
                    about = Damage::Blob { id };
                    let until = next.min(payload_at + 1 + 32 + 4 + content.len());
                    orderly &= self.blobs.insert(id, (until - content.len(), until)).is_none();
                }
                Ok(Entry::Footer(described)) if !ended => {
                    about = self.at(at, "the footer is altered");
                    self.footer = rmp_serde::from_slice(described).ok();
                    orderly &= next == bytes.len();
                }
                Ok(_) | Err(_) => orderly = false,
            }
        }
        if !whole || !orderly {
            self.fault.get_or_insert(about);
        }
    }

    /// Decides: a record at fault is named before anything around it.
    fn checked(self, bytes: &[u8]) -> Result<Checked, StoreError> {
        let footer_head = self.footer.as_ref().map(|footer| footer.head);
        let last = self.records.last().map(|&(from, until)| RecordHash::of(&bytes[from..until]));
        let implied = Head { count: self.records.len() as u64, hash: last.unwrap_or_default() };
        // An altered footer cannot say where the log ends; the records then speak for themselves.
        let altered = self.fault.is_some();
        let end = footer_head.filter(|head| !altered || head.count == implied.count).unwrap_or(implied);
        let mut walk = ChainWalk::new(Head::default(), end);
        let walked = self.records.iter().try_for_each(|&(from, until)| walk.step(&bytes[from..until]));
        let footer_at_fault = matches!(&self.fault, Some(Damage::File { at, .. }) if *at > 0);
        match walked.and_then(|()| walk.finish()) {
            Err(BadLink::Head { .. }) if footer_at_fault => {}
            Err(link) => return Err(self.record(link).into()),
            Ok(_) => {}
        }
        for (&id, &(from, until)) in &self.blobs {
            if BlobId::of(&bytes[from..until]) != id {
                return Err(Damage::Blob { id }.into());
            }
        }
        if let Some(fault) = self.fault {
            return Err(fault.into());
        }
        let Self { path, header, records, blobs, footer, .. } = self;
        let missing =
            |what: &str| Damage::File { path: path.to_owned(), at: bytes.len() as u64, reason: what.to_owned() };
        let header = header.ok_or_else(|| missing("it has no header that this version reads"))?;
        let footer = footer.ok_or_else(|| missing("the footer is missing: the file was cut off"))?;
        if header.format != FORMAT {
            let reason = format!("its format is \"{}\": use the version that wrote it", header.format);
            return Err(StoreError::NotAStore { path: path.to_owned(), reason });
        }
        if footer.blobs != blobs.len() as u64 {
            return Err(missing("blobs are missing from it").into());
        }
        Ok(Checked { header, records, blobs, footer })
    }

    fn record(&self, link: BadLink) -> Damage {
        let unnamed = || BranchId::new("unnamed").expect("a name of allowed characters");
        let branch = self.header.as_ref().map_or_else(unnamed, |header| header.branch.clone());
        Damage::Record { branch, whole: named(&link), link }
    }

    fn at(&self, at: usize, reason: &str) -> Damage {
        Damage::File { path: PathBuf::from(self.path), at: at as u64, reason: reason.to_owned() }
    }
}
