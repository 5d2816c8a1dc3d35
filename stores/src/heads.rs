//! Each branch's head, kept apart from its log: the only way to see that whole records at the end are gone, which a chain alone cannot show.
//!
//! One slot of 128 bytes per branch number, written after the records are durable. So a slot may lag behind the log (a kill between the two),
//! and is never ahead of it: a log that ends before its slot was cut.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use dayshift_engine::{Head, RecordHash};

use crate::branch::{BRANCH_ID_BYTES_MAX, BranchId};
use crate::error::StoreError;

const SLOT_BYTES: usize = 128;

/// Slots of one commit that lie closer together than this are written at once (4 KiB).
const GAP_BYTES_MAX: usize = 4 << 10;

/// What a slot says about its branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlotState {
    /// It is about to be made: it may exist or not.
    Intended = 1,
    /// It was made.
    Made = 2,
    /// It was discarded.
    Discarded = 3,
    /// It was made, and lost records: the log was rebuilt without them, and the head is the one from before.
    Cut = 4,
}

/// One branch's head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) state: SlotState,
    pub(crate) branch: BranchId,
    pub(crate) head: Head,
}

impl Slot {
    /// Returns the slot of a branch that was discarded and whose name is not known any more.
    pub(crate) fn discarded() -> Self {
        let branch = BranchId::new("discarded").expect("a name of allowed characters");
        Self { state: SlotState::Discarded, branch, head: Head::default() }
    }
}

/// What stands at a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// A whole slot.
    Whole(Slot),
    /// Bytes that are no slot.
    Bad,
    /// The file ends before it.
    Absent,
}

/// The file of heads. Branch numbers begin at 0 and are dense.
#[derive(Debug)]
pub(crate) struct Heads {
    path: PathBuf,
    /// Nothing where the file is only read.
    file: Option<File>,
    slots: Vec<u8>,
    changed: Vec<u64>,
}

impl Heads {
    /// Opens the file of heads in the folder of a log, and makes it if it is missing.
    pub(crate) fn open(log: &Path) -> Result<Self, StoreError> {
        let path = log.join("heads");
        let missing = !path.exists();
        let file = File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let file = file.map_err(StoreError::io("open", &path))?;
        if missing {
            file.sync_all().map_err(StoreError::io("sync", &path))?;
            crate::folder::sync_dir(log)?;
        }
        let slots = std::fs::read(&path).map_err(StoreError::io("read", &path))?;
        Ok(Self { path, file: Some(file), slots, changed: Vec::new() })
    }

    /// Reads the file of heads in the folder of a log, and touches nothing. One that is missing or cannot be read is an empty one: heads can be
    /// derived.
    pub(crate) fn read(log: &Path) -> Self {
        let path = log.join("heads");
        let slots = std::fs::read(&path).unwrap_or_default();
        Self { path, file: None, slots, changed: Vec::new() }
    }

    /// Returns how many numbers were given, also for slots that are damaged.
    pub(crate) fn count(&self) -> u64 {
        self.slots.len().div_ceil(SLOT_BYTES) as u64
    }

    /// Returns what was read for `number` when the file was opened, or written since.
    pub(crate) fn get(&self, number: u64) -> Standing {
        let at = usize::try_from(number).unwrap_or(usize::MAX).saturating_mul(SLOT_BYTES);
        match self.slots.get(at..) {
            None | Some([]) => Standing::Absent,
            Some(rest) => parse(rest).map_or(Standing::Bad, Standing::Whole),
        }
    }

    /// Returns what the file says about `number` now.
    pub(crate) fn reread(&self, number: u64) -> Standing {
        let Some(file) = &self.file else { return self.get(number) };
        let mut bytes = [0; SLOT_BYTES];
        match file.read_exact_at(&mut bytes, number * SLOT_BYTES as u64) {
            Ok(()) => parse(&bytes).map_or(Standing::Bad, Standing::Whole),
            Err(_) => Standing::Absent,
        }
    }

    /// Notes a slot for the next [`Heads::write`].
    pub(crate) fn set(&mut self, number: u64, slot: &Slot) {
        let at = usize::try_from(number).expect("a branch number counts slots in memory") * SLOT_BYTES;
        if self.slots.len() < at + SLOT_BYTES {
            self.slots.resize(at + SLOT_BYTES, 0);
        }
        self.slots[at..at + SLOT_BYTES].copy_from_slice(&to_bytes(slot));
        self.changed.push(number);
    }

    /// Writes what was noted, without waiting for the disk.
    pub(crate) fn write(&mut self) -> Result<(), StoreError> {
        self.changed.sort_unstable();
        self.changed.dedup();
        let (Some(file), slots) = (&self.file, &self.slots) else { return Ok(()) };
        for span in self.changed.chunk_by(|&a, &b| (b - a) as usize * SLOT_BYTES <= GAP_BYTES_MAX) {
            let [from, until] = [span[0] as usize * SLOT_BYTES, (span[span.len() - 1] as usize + 1) * SLOT_BYTES];
            file.write_all_at(&slots[from..until], from as u64).map_err(StoreError::io("write", &self.path))?;
        }
        self.changed.clear();
        Ok(())
    }

    /// Waits until what was written is durable.
    pub(crate) fn sync(&self) -> Result<(), StoreError> {
        self.file.as_ref().map_or(Ok(()), File::sync_data).map_err(StoreError::io("sync", &self.path))
    }
}

fn to_bytes(slot: &Slot) -> [u8; SLOT_BYTES] {
    let mut bytes = [0; SLOT_BYTES];
    let name = slot.branch.as_str().as_bytes();
    bytes[4] = slot.state as u8;
    bytes[5] = name.len() as u8;
    bytes[8..16].copy_from_slice(&slot.head.count.to_le_bytes());
    bytes[16..48].copy_from_slice(slot.head.hash.as_bytes());
    bytes[48..48 + name.len()].copy_from_slice(name);
    let check = crc32c::crc32c(&bytes[4..]);
    bytes[..4].copy_from_slice(&check.to_le_bytes());
    bytes
}

fn parse(bytes: &[u8]) -> Option<Slot> {
    let bytes: &[u8; SLOT_BYTES] = bytes.get(..SLOT_BYTES)?.try_into().ok()?;
    if crc32c::crc32c(&bytes[4..]).to_le_bytes() != bytes[..4] {
        return None;
    }
    let state = match bytes[4] {
        1 => SlotState::Intended,
        2 => SlotState::Made,
        3 => SlotState::Discarded,
        4 => SlotState::Cut,
        _ => return None,
    };
    let name = bytes.get(48..48 + usize::from(bytes[5]).min(BRANCH_ID_BYTES_MAX))?;
    Some(Slot {
        state,
        branch: BranchId::new(std::str::from_utf8(name).ok()?).ok()?,
        head: Head {
            count: u64::from_le_bytes(bytes[8..16].try_into().ok()?),
            hash: RecordHash::new(bytes[16..48].try_into().ok()?),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_altered_byte_of_a_slot_is_found() {
        let head = Head { count: 7, hash: RecordHash::of(b"seven") };
        let slot = Slot { state: SlotState::Made, branch: BranchId::new("run-7").expect("a name"), head };
        let bytes = to_bytes(&slot);
        assert_eq!(parse(&bytes), Some(slot));
        for at in 0..SLOT_BYTES {
            let mut altered = bytes;
            altered[at] ^= 1;
            assert_eq!(parse(&altered), None, "byte {at}");
        }
    }
}
