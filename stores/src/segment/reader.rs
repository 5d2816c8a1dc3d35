//! Reads a branch's own records back from the segment files.

use std::collections::BTreeMap;
use std::fs::File;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use crate::backend::Extent;
use crate::error::StoreError;
use crate::frame::records;
use crate::segment::index::Place;

/// How much is read at once where a branch's records lie scattered.
const READ_AHEAD_BYTES: usize = 128 << 10;

/// Runs, and the files that they are in.
pub(crate) type Places = (Vec<Place>, BTreeMap<u64, Arc<File>>);

/// Shows the records of `extent`, whose runs `find` tells. Stops early where one is missing.
pub(crate) fn read(
    find: impl Fn(u64, u64) -> Option<Places>,
    extent: Extent,
    visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, StoreError> {
    let mut window = Window::default();
    let mut next = extent.from;
    while next < extent.until {
        let Some((places, files)) = find(next, extent.until) else { break };
        for place in places {
            let Some(file) = files.get(&place.file) else { return Ok(ControlFlow::Continue(())) };
            let bytes = window.get(place, file)?;
            let count = |positions: u64| usize::try_from(positions).unwrap_or(usize::MAX);
            let skipped = count(next - place.first);
            let wanted = count(place.count.min(extent.until - place.first));
            for record in records(bytes).take(wanted).skip(skipped) {
                next += 1;
                if visit(record).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            if next < (place.first + place.count).min(extent.until) {
                return Ok(ControlFlow::Continue(()));
            }
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// A piece of a file in memory, so that records which lie close together cost one read.
#[derive(Default)]
struct Window {
    file: u64,
    start: u64,
    bytes: Vec<u8>,
}

impl Window {
    fn get(&mut self, place: Place, file: &Arc<File>) -> Result<&[u8], StoreError> {
        let run_bytes = usize::try_from(place.bytes).unwrap_or(usize::MAX);
        let inside = place.file == self.file
            && place.offset >= self.start
            && place.offset + place.bytes <= self.start + self.bytes.len() as u64;
        if !inside {
            self.bytes.resize(run_bytes.max(READ_AHEAD_BYTES), 0);
            let mut filled = 0;
            while filled < self.bytes.len() {
                match file.read_at(&mut self.bytes[filled..], place.offset + filled as u64) {
                    Ok(0) => break,
                    Ok(count) => filled += count,
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(StoreError::io("read", Path::new("a segment file"))(error)),
                }
            }
            self.bytes.truncate(filled);
            (self.file, self.start) = (place.file, place.offset);
        }
        let from = usize::try_from(place.offset - self.start).unwrap_or(usize::MAX);
        let until = from.saturating_add(run_bytes).min(self.bytes.len());
        Ok(self.bytes.get(from..until).unwrap_or_default())
    }
}
