//! Finds values, frames, branches and records in the raw bytes of a log's files. A file is read piece by piece, so its size does not matter; how much is
//! hashed is bounded by it, so forged lengths do not matter either.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use dayshift_engine::{BlobId, ENVELOPE_BYTES, Envelope, RECORD_BYTES_MAX, RECORD_MAGIC, RecordHash};

use crate::backend::BranchMeta;
use crate::error::StoreError;
use crate::frame::{Entry, FRAME_HEADER_BYTES, Found as FoundFrame, Resync, Run, entries, records};
use crate::salvage::{Found, FoundNote, Piece};
use crate::seal::files_below;
use crate::value::{IN_FILE, INLINE, VALUE_MAGIC, Value, parse};

/// How much of a file is looked at at a time.
const PIECE_BYTES: usize = 4 << 20;

/// How far beyond a piece is read along: more than the largest value.
const BEYOND_BYTES: usize = 64 << 10;

/// How a branch begins in named MessagePack: a map of four, the first key being `number`.
const META_MAGIC: [u8; 8] = *b"\x84\xa6number";

/// How often each byte of a file is hashed at most. Whole files need once or twice.
const HASHES_PER_BYTE: u64 = 16;

/// Looks at a log of either kind.
pub(crate) fn in_log(log: &Path) -> Result<Found, StoreError> {
    if log.join("sled").is_dir() { in_database(log) } else { in_segments(log) }
}

/// Looks at the raw files of a database.
pub(crate) fn in_database(log: &Path) -> Result<Found, StoreError> {
    let mut scan = Scan::default();
    let large = log.join("blobs");
    if large.is_dir() {
        for path in files_below(&large)? {
            scan.large_file(path)?;
        }
    }
    let files = log.join("sled");
    if files.is_dir() {
        for path in files_below(&files)? {
            scan.raw_file(path)?;
        }
    }
    scan.finish(&large)
}

/// Looks at segment files.
pub(crate) fn in_segments(log: &Path) -> Result<Found, StoreError> {
    let mut scan = Scan::default();
    let entries = fs::read_dir(log).map_err(StoreError::io("list", log))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "segment"));
    paths.sort();
    for path in paths {
        scan.segment_file(path)?;
    }
    scan.finish(&log.join("blobs"))
}

#[derive(Default)]
struct Scan {
    found: Found,
    /// Records that a value says are in files of their own.
    elsewhere: Vec<(u64, u64, BlobId)>,
    notes_elsewhere: Vec<(u64, u64, BlobId)>,
    /// The stamps of what is known about each branch's life.
    lives: std::collections::BTreeMap<u64, u64>,
    /// How much may still be hashed of the file at hand.
    hash_bytes: u64,
    clock: u64,
}

impl Scan {
    fn open(&mut self, path: PathBuf) -> Result<(usize, u64), StoreError> {
        let file = File::open(&path).map_err(StoreError::io("open", &path))?;
        let length = file.metadata().map_err(StoreError::io("look at", &path))?.len();
        self.hash_bytes = length.saturating_mul(HASHES_PER_BYTE).saturating_add(1 << 20);
        self.found.files.push((path, Some(file)));
        Ok((self.found.files.len() - 1, length))
    }

    /// Takes a file that holds one record that is too large for the database.
    fn large_file(&mut self, path: PathBuf) -> Result<(), StoreError> {
        let (file, length) = self.open(path)?;
        self.candidate(file, 0, &[], length);
        // Thousands of them may be there: each is opened again when it is read.
        self.found.files[file].1 = None;
        Ok(())
    }

    fn raw_file(&mut self, path: PathBuf) -> Result<(), StoreError> {
        let (file, length) = self.open(path)?;
        let mut buffer = Vec::new();
        let mut base = 0;
        while base < length {
            let wanted = usize::try_from(length - base).unwrap_or(usize::MAX).min(PIECE_BYTES + BEYOND_BYTES);
            buffer.resize(wanted, 0);
            let (path, handle) = &self.found.files[file];
            let handle = handle.as_ref().expect("a file stays open while it is looked at");
            let filled = read_at(handle, &mut buffer, base).map_err(StoreError::io("read", path))?;
            if filled == 0 {
                break;
            }
            self.raw(file, base, &buffer[..filled], PIECE_BYTES, length);
            base += PIECE_BYTES as u64;
        }
        Ok(())
    }

    /// Looks at `bytes`, which stand at `base` of a file, for what begins within the first `until` of them.
    fn raw(&mut self, file: usize, base: u64, bytes: &[u8], until: usize, length: u64) {
        let mut at = 0;
        while let Some(step) = bytes.get(at..).and_then(|rest| rest.iter().position(|&b| b == b'D' || b == 0x84)) {
            at += step;
            if at >= until {
                break;
            }
            let rest = &bytes[at..];
            if rest.starts_with(&RECORD_MAGIC) {
                self.candidate(file, base + at as u64, rest, length);
            } else if rest.starts_with(&VALUE_MAGIC) {
                if let Some(value) = parse(rest) {
                    self.value(&value);
                }
            } else if rest.starts_with(&META_MAGIC) {
                self.meta(false, 0, &rest[..rest.len().min(1 << 10)]);
            }
            at += 1;
        }
    }

    /// Takes what looks like a record at `at` of a file, whose first bytes, or all, are in `rest`.
    fn candidate(&mut self, file: usize, at: u64, rest: &[u8], length: u64) {
        let mut fixed = [0; ENVELOPE_BYTES];
        let Some(handle) = &self.found.files[file].1 else { return };
        match rest.get(..ENVELOPE_BYTES) {
            Some(there) => fixed.copy_from_slice(there),
            None if handle.read_exact_at(&mut fixed, at).is_ok() => {}
            None => return,
        }
        let sections = (0..4).map(|index| u32::from_le_bytes([0, 1, 2, 3].map(|byte| fixed[52 + index * 4 + byte])));
        let bytes = ENVELOPE_BYTES as u64 + sections.map(u64::from).sum::<u64>();
        if bytes > RECORD_BYTES_MAX as u64 || at + bytes > length || bytes > self.hash_bytes {
            return;
        }
        self.hash_bytes -= bytes;
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let content;
        let record = match rest.get(..bytes) {
            Some(record) => record,
            None => {
                let mut whole = vec![0; bytes];
                if handle.read_exact_at(&mut whole, at).is_err() {
                    return;
                }
                content = whole;
                &content
            }
        };
        let Some(envelope) = Envelope::of(record) else { return };
        let hash = RecordHash::of(record);
        let piece = Piece { file, at, bytes, seq: envelope.seq.get(), previous: envelope.previous };
        if self.found.records.insert(hash, piece).is_none() {
            self.found.next.entry(envelope.previous).or_default().push(hash);
        }
    }

    fn value(&mut self, value: &Value<'_>) {
        let Value { checked, stamp, key, form, content } = *value;
        self.found.has_checks |= checked;
        let number = |at: usize| key.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map(u64::from_be_bytes);
        let (Some(kind), Some(branch)) = (key.first(), number(1)) else { return };
        match kind {
            b'b' if checked && content.is_empty() => {
                self.found.discarded.insert(branch);
            }
            b'b' if checked => self.meta(true, stamp, content),
            b'n' if form == IN_FILE => {
                let name = content.try_into().map(BlobId::new);
                self.notes_elsewhere.extend(name.ok().filter(|_| checked).map(|name| (branch, stamp, name)));
            }
            b'n' => self.note(branch, checked, stamp, content),
            b'r' => {
                let Some(first) = number(9) else { return };
                if form == IN_FILE {
                    self.elsewhere.extend(content.try_into().map(|name| (branch, first, BlobId::new(name))).ok());
                } else if form == INLINE {
                    for (seq, record) in (first..).zip(records(content)) {
                        self.own(branch, seq, record, checked);
                    }
                }
            }
            _ => {}
        }
    }

    /// Notes that a record is said to be a branch's own.
    fn own(&mut self, branch: u64, seq: u64, record: &[u8], checked: bool) {
        if Envelope::of(record).is_none_or(|envelope| envelope.seq.get() != seq) {
            return;
        }
        let hash = RecordHash::of(record);
        if checked {
            self.found.checked.insert(hash);
            self.found.owned.insert((branch, seq), hash);
        } else {
            // Another copy may be whole.
            let known = self.found.owned.entry((branch, seq)).or_insert(hash);
            if !self.found.checked.contains(known) {
                *known = hash;
            }
        }
    }

    fn meta(&mut self, checked: bool, stamp: u64, bytes: &[u8]) {
        let Some(meta) = BranchMeta::from_bytes(bytes) else { return };
        let number = meta.number;
        let known = self.found.metas.get(&number).is_some_and(|(known, _)| *known);
        if !known || checked && self.lives.get(&number).is_none_or(|last| *last <= stamp) {
            self.lives.insert(number, stamp);
            self.found.metas.insert(number, (checked, meta));
        }
    }

    fn note(&mut self, branch: u64, checked: bool, stamp: u64, note: &[u8]) {
        let newer = self.found.notes.get(&branch).is_none_or(|known| (known.checked, known.stamp) <= (checked, stamp));
        if newer {
            self.found.notes.insert(branch, FoundNote { checked, stamp, note: note.into() });
        }
    }

    fn segment_file(&mut self, path: PathBuf) -> Result<(), StoreError> {
        let (file, length) = self.open(path)?;
        let path = self.found.files[file].0.clone();
        let bytes = fs::read(&path).map_err(StoreError::io("read", &path))?;
        let mut resync = Resync::new(&bytes);
        let mut at = 0;
        while at < bytes.len() {
            let (next, whole) = match resync.find_frame(at) {
                FoundFrame::Whole(frame) => (at + frame, true),
                FoundFrame::Bad(_) | FoundFrame::Blank => (resync.next_frame(at + 1).unwrap_or(bytes.len()), false),
            };
            if !whole && bytes[at..next].iter().all(|&byte| byte == 0) {
                at = next;
                continue;
            }
            let payload = bytes.get(at + FRAME_HEADER_BYTES..next).unwrap_or_default();
            self.found.has_checks |= whole;
            self.raw(file, at as u64, &bytes[at..next], next - at, length.min(next as u64));
            for entry in entries(payload).map_while(Result::ok) {
                self.entry(entry, whole);
            }
            at = next;
        }
        Ok(())
    }

    fn entry(&mut self, entry: Entry<'_>, whole: bool) {
        self.clock += 1;
        let clock = self.clock;
        match entry {
            Entry::Create(meta) if whole => {
                self.lives.insert(meta.number, clock);
                self.found.metas.insert(meta.number, (true, meta));
            }
            Entry::Run(Run { number, first, records: bytes, .. }) => {
                for (seq, record) in (first..).zip(records(bytes)) {
                    self.own(number, seq, record, whole);
                }
            }
            Entry::Note { number, note } => self.note(number, whole, clock, note),
            Entry::Discard { number } if whole => {
                self.found.discarded.insert(number);
            }
            Entry::Create(_) | Entry::Discard { .. } | Entry::File(_) | Entry::Blob { .. } | Entry::Footer(_) => {}
        }
    }

    /// Connects what values say is in files of their own.
    fn finish(mut self, large: &Path) -> Result<Found, StoreError> {
        for (branch, seq, name) in std::mem::take(&mut self.elsewhere) {
            // A blob's name and a record's hash are the same hash.
            let hash = RecordHash::new(*name.as_bytes());
            if self.found.records.get(&hash).is_some_and(|piece| piece.seq == seq) {
                self.found.owned.insert((branch, seq), hash);
                self.found.checked.insert(hash);
            }
        }
        for (branch, stamp, name) in std::mem::take(&mut self.notes_elsewhere) {
            let text = name.to_string();
            if let Ok(content) = fs::read(large.join(&text[..2]).join(&text))
                && BlobId::of(&content) == name
            {
                self.note(branch, true, stamp, &content);
            }
        }
        Ok(self.found)
    }
}

fn read_at(file: &File, buffer: &mut [u8], at: u64) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read_at(&mut buffer[filled..], at + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
