//! The store of plain append-only files: the fast durable one. A commit is one frame, one write and one `fdatasync`. Names, heads and
//! acknowledgements are [`crate::front`]'s; this file is where frames go and how records come back.

use std::fmt;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Mutex, PoisonError, RwLock};

use crate::backend::{Backend, Change, Contents, Extent};
use crate::catalog::{Squared, reconcile};
use crate::error::{Finding, StoreError};
use crate::folder::{Folder, Kind};
use crate::frame::{FRAME_HEADER_BYTES, FrameWriter};
use crate::front::Front;
use crate::fronted::Fronted;
use crate::heads::Heads;
use crate::salvage::rebuild::{Original, rebuild};
use crate::salvage::scan;
use crate::segment::index::{Index, Place};
use crate::segment::reader::read;
use crate::segment::scan::scan as scan_segments;
use crate::segment::tail::Tail;

/// A store of append-only files.
pub struct SegmentStore {
    front: Front,
}

impl SegmentStore {
    /// Opens the store in `path`, and makes it if the folder is missing or empty.
    ///
    /// # Errors
    ///
    /// [`StoreError::Locked`], [`StoreError::NotAStore`], [`StoreError::Io`]. Damage is no error here: the log is kept aside and built anew from
    /// what verifies, the branches that lost records stay marked, and [`crate::Store::findings`] tells.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let mut folder = Folder::open(path.as_ref(), Kind::Segment)?;
        let log = folder.log();
        let (segment, mut heads, contents) = open_log(&log)?;
        let is_damaged = contents.findings.iter().any(|finding| matches!(finding, Finding::Damaged(_)));
        let apart = Heads::read(&log);
        let squared = reconcile(contents, &*segment, &mut heads, &log)?;
        let (segment, heads, squared) = if is_damaged || squared.newly_damaged {
            drop((segment, heads));
            let found = scan::in_segments(&log)?;
            let saved = found.recover(&apart);
            rebuild(&mut folder, open_log, &found, &saved, Original::Quarantined)?
        } else {
            (segment, heads, squared)
        };
        let Squared { catalog, findings, .. } = squared;
        Ok(Self { front: Front::on_disk(folder, segment, heads, catalog, findings)? })
    }
}

/// Opens the log in a folder.
pub(crate) fn open_log(log: &Path) -> Result<(Box<dyn Backend>, Heads, Contents), StoreError> {
    let heads = Heads::open(log)?;
    let scanned = scan_segments(log, &heads)?;
    let tail = Tail::new(log, scanned.last)?;
    let segment = Segment { index: RwLock::new(scanned.index), tail: Mutex::new(tail) };
    Ok((Box::new(segment), heads, scanned.contents))
}

impl fmt::Debug for SegmentStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SegmentStore").finish_non_exhaustive()
    }
}

impl Fronted for SegmentStore {
    fn front(&self) -> &Front {
        &self.front
    }
}

/// The files, and where in them each branch's records are.
struct Segment {
    index: RwLock<Index>,
    tail: Mutex<Tail>,
}

impl Backend for Segment {
    fn commit(&self, changes: &[Change]) -> Result<(), StoreError> {
        let mut tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let mut frame = FrameWriter::reusing(tail.buffer());
        let mut runs = Vec::with_capacity(changes.len());
        for change in changes {
            match change {
                Change::Create { meta, note } => {
                    frame.create(meta);
                    frame.note(meta.number, note);
                }
                Change::Append { number, first, records, .. } => {
                    let (at, bytes) = frame.run(*number, *first, records.iter().map(AsRef::as_ref));
                    runs.push((*number, *first, records.len() as u64, at, bytes));
                }
                Change::Note { number, note } => frame.note(*number, note),
                Change::Discard { number, .. } => frame.discard(*number),
            }
        }
        let written = tail.write(frame)?;
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        index.keep_file(written.file_number, &written.file);
        for (number, first, count, at, bytes) in runs {
            let offset = written.at + (FRAME_HEADER_BYTES + at) as u64;
            index.add(number, Place { first, count, file: written.file_number, offset, bytes: bytes as u64 });
        }
        for change in changes {
            if let Change::Discard { number, .. } = change {
                index.forget(*number);
            }
        }
        Ok(())
    }

    fn read(
        &self,
        extent: Extent,
        visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, StoreError> {
        let find =
            |from, until| self.index.read().unwrap_or_else(PoisonError::into_inner).find(extent.number, from, until);
        read(find, extent, visit)
    }

    fn close(&self) {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner).close();
    }
}
