//! The bytes of a portable log, in a file or in memory, read piece by piece: a log of any size takes the memory of its largest frame.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::frame::{FRAME_HEADER_BYTES, FRAME_MAGIC, Found, claimed_bytes, tries};

/// How much is read at a time.
const PIECE_BYTES: usize = 256 << 10;

/// Where the bytes are.
#[derive(Debug)]
enum Place {
    File(File),
    Memory(Vec<u8>),
}

/// The bytes.
#[derive(Debug)]
pub(crate) struct Source {
    path: PathBuf,
    place: Place,
    length: u64,
}

impl Source {
    pub(crate) fn file(path: &Path, file: File, length: u64) -> Self {
        Self { path: path.to_owned(), place: Place::File(file), length }
    }

    pub(crate) fn memory(path: &Path, bytes: Vec<u8>) -> Self {
        Self { path: path.to_owned(), length: bytes.len() as u64, place: Place::Memory(bytes) }
    }

    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Reads up to `count` bytes at `at` into `buffer`: fewer only at the end.
    pub(crate) fn read(&self, at: u64, count: usize, buffer: &mut Vec<u8>) -> Result<(), StoreError> {
        let count = usize::try_from(self.length.saturating_sub(at)).unwrap_or(usize::MAX).min(count);
        buffer.clear();
        match &self.place {
            Place::Memory(bytes) => {
                let at = usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
                buffer.extend_from_slice(&bytes[at..at + count]);
            }
            Place::File(file) => {
                buffer.resize(count, 0);
                file.read_exact_at(buffer, at).map_err(StoreError::io("read", &self.path))?;
            }
        }
        Ok(())
    }
}

/// Finds frames in a source. What is held against checksums in vain is bounded by its size, so that forged headers cost linear time.
pub(crate) struct Frames<'s> {
    source: &'s Source,
    buffer: Vec<u8>,
    left: u64,
}

impl<'s> Frames<'s> {
    pub(crate) fn new(source: &'s Source) -> Self {
        Self { source, buffer: Vec::new(), left: tries(source.length()) }
    }

    /// Looks at position `at`.
    pub(crate) fn find(&mut self, at: u64) -> Result<Found, StoreError> {
        self.source.read(at, FRAME_HEADER_BYTES, &mut self.buffer)?;
        let header: Vec<u8> = self.buffer.clone();
        if header.iter().all(|&byte| byte == 0) {
            return Ok(Found::Blank);
        }
        let rest = self.source.length() - at;
        let Some(claimed) = claimed_bytes(&header, at).filter(|&claimed| claimed as u64 <= rest) else {
            return Ok(Found::Bad(None));
        };
        if claimed as u64 > self.left {
            return Ok(Found::Bad(Some(claimed)));
        }
        let mut check = crc32c::crc32c_append(crc32c::crc32c(&header[8..12]), &header[16..]);
        let mut done = FRAME_HEADER_BYTES;
        while done < claimed {
            self.source.read(at + done as u64, PIECE_BYTES.min(claimed - done), &mut self.buffer)?;
            check = crc32c::crc32c_append(check, &self.buffer);
            done += self.buffer.len();
        }
        if check.to_le_bytes() == header[12..16] {
            return Ok(Found::Whole(claimed));
        }
        self.left -= claimed as u64;
        Ok(Found::Bad(Some(claimed)))
    }

    /// Returns whether a frame begins at `at` and leads beyond the end.
    pub(crate) fn is_cut(&mut self, at: u64) -> Result<bool, StoreError> {
        self.source.read(at, FRAME_HEADER_BYTES, &mut self.buffer)?;
        if self.buffer.len() < FRAME_HEADER_BYTES {
            let known = self.buffer.len().min(FRAME_MAGIC.len());
            return Ok(self.buffer[..known] == FRAME_MAGIC[..known]);
        }
        Ok(claimed_bytes(&self.buffer, at).is_some_and(|claimed| claimed as u64 > self.source.length() - at))
    }

    /// Returns the next position from `from` on where a whole frame begins.
    pub(crate) fn next(&mut self, from: u64) -> Result<Option<u64>, StoreError> {
        let mut piece = Vec::new();
        let mut base = from;
        while base < self.source.length() {
            self.source.read(base, PIECE_BYTES + FRAME_MAGIC.len() - 1, &mut piece)?;
            for at in
                (0..piece.len()).filter(|&at| piece[at] == FRAME_MAGIC[0] && piece[at..].starts_with(&FRAME_MAGIC))
            {
                let at = base + at as u64;
                if matches!(self.find(at)?, Found::Whole(_)) {
                    return Ok(Some(at));
                }
            }
            base += PIECE_BYTES as u64;
        }
        Ok(None)
    }
}

/// A piece of a source in memory, so that records which lie close together cost one read.
#[derive(Debug, Default)]
pub(crate) struct Window {
    at: u64,
    bytes: Vec<u8>,
}

impl Window {
    /// Returns the `count` bytes at `at`.
    pub(crate) fn get(&mut self, source: &Source, at: u64, count: usize) -> Result<&[u8], StoreError> {
        let is_inside = at >= self.at && at + count as u64 <= self.at + self.bytes.len() as u64;
        if !is_inside {
            source.read(at, count.max(PIECE_BYTES), &mut self.bytes)?;
            self.at = at;
        }
        let from = usize::try_from(at - self.at).unwrap_or(usize::MAX).min(self.bytes.len());
        Ok(&self.bytes[from..(from + count).min(self.bytes.len())])
    }
}
