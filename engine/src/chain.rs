//! The envelope that every stored record begins with, and the chain that its bytes form. Verify stored bytes first, decode after: nothing
//! here looks past the envelope.
//!
//! ```text
//!  0  magic   "DSR" and the format version        4 bytes
//!  4  seq     position in the log, little-endian  8 bytes
//! 12  time    simulated milliseconds, likewise    8 bytes
//! 20  prev    hash of the previous record        32 bytes (zeroes in the genesis record)
//! 52  lengths of the four sections                4 × 4 bytes
//! 68  sections: head, reads, events, answer      named MessagePack each
//! ```

use crate::id::{RecordHash, Seq};
use crate::time::SimTime;

/// The first bytes of every record: a tag and the major version of the log format.
pub const RECORD_MAGIC: [u8; 4] = *b"DSR\x01";

/// The size of the envelope in bytes.
pub const ENVELOPE_BYTES: usize = 68;

/// The largest record that is written or read, in bytes (64 MiB). Large content is a blob, so only a huge event comes near it.
pub const RECORD_BYTES_MAX: usize = 64 << 20;

/// Where a log ends: how many records it has, and the hash of the last one, which identifies the whole history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Head {
    /// How many records there are, so also the position that the next one takes.
    pub count: u64,
    /// The hash of the last record; zeroes for an empty log.
    pub hash: RecordHash,
}

impl Head {
    /// Returns the head after one more record, which must continue this one.
    ///
    /// # Errors
    ///
    /// [`BadLink`] when `record` is no record, stands at another position, or follows another history.
    pub fn follow(self, record: &[u8]) -> Result<Self, BadLink> {
        let envelope = Envelope::of(record).ok_or(BadLink::Malformed { seq: Seq::new(self.count) })?;
        if envelope.seq.get() != self.count {
            return Err(BadLink::Position { seq: Seq::new(self.count), found: envelope.seq });
        }
        if envelope.previous != self.hash {
            return Err(BadLink::Previous { seq: Seq::new(self.count) });
        }
        Ok(Self { count: self.count + 1, hash: RecordHash::of(record) })
    }
}

/// The fixed part of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The record's position.
    pub seq: Seq,
    /// The record's simulated time.
    pub time: SimTime,
    /// The hash of the record before it.
    pub previous: RecordHash,
    /// The lengths of the sections: head, reads, events, answer.
    pub section_bytes: [u32; 4],
}

impl Envelope {
    /// Reads the envelope of `record`. Nothing if it is too short, of another format, or its sections do not fill it exactly.
    #[must_use]
    pub fn of(record: &[u8]) -> Option<Self> {
        let fixed: &[u8; ENVELOPE_BYTES] = record.get(..ENVELOPE_BYTES)?.try_into().ok()?;
        if fixed[..4] != RECORD_MAGIC {
            return None;
        }
        let eight = |at: usize| <[u8; 8]>::try_from(&fixed[at..at + 8]).ok();
        let four = |at: usize| <[u8; 4]>::try_from(&fixed[at..at + 4]).ok().map(u32::from_le_bytes);
        let section_bytes = [four(52)?, four(56)?, four(60)?, four(64)?];
        let total: u64 = section_bytes.iter().map(|&bytes| u64::from(bytes)).sum();
        (ENVELOPE_BYTES as u64 + total == record.len() as u64).then_some(Self {
            seq: Seq::new(u64::from_le_bytes(eight(4)?)),
            time: SimTime::from_millis(i64::from_le_bytes(eight(12)?)),
            previous: RecordHash::new(fixed[20..52].try_into().ok()?),
            section_bytes,
        })
    }

    /// Returns the stored form.
    #[must_use]
    pub fn to_bytes(self) -> [u8; ENVELOPE_BYTES] {
        let mut bytes = [0; ENVELOPE_BYTES];
        bytes[..4].copy_from_slice(&RECORD_MAGIC);
        bytes[4..12].copy_from_slice(&self.seq.get().to_le_bytes());
        bytes[12..20].copy_from_slice(&self.time.as_millis().to_le_bytes());
        bytes[20..52].copy_from_slice(self.previous.as_bytes());
        for (index, length) in self.section_bytes.iter().enumerate() {
            bytes[52 + index * 4..56 + index * 4].copy_from_slice(&length.to_le_bytes());
        }
        bytes
    }
}

/// Why a record does not continue a log. Each names the position at which the log breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadLink {
    /// The bytes are no record.
    #[error("record {seq} is damaged: its envelope does not fit its bytes")]
    Malformed {
        /// The position.
        seq: Seq,
    },
    /// The record belongs elsewhere.
    #[error("record {seq} is missing: record {found} stands in its place")]
    Position {
        /// The position.
        seq: Seq,
        /// The position that the record claims.
        found: Seq,
    },
    /// The record follows another history: it or the one before it was altered.
    #[error("record {seq} does not follow the record before it: one of the two was altered")]
    Previous {
        /// The position.
        seq: Seq,
    },
    /// The record is the last one and its hash is not the recorded head.
    #[error("record {seq} was altered: its hash is not the recorded head")]
    Head {
        /// The position.
        seq: Seq,
    },
    /// Records at the end are gone.
    #[error("record {seq} is missing: the log should have {expected} records")]
    Truncated {
        /// The first missing position.
        seq: Seq,
        /// How many records there should be.
        expected: u64,
    },
}

/// Walks a chain of stored records and names the record at fault.
///
/// A broken link alone leaves open which of its two records was altered, so the walk looks one record further: if the later one is
/// what its own successor (or the recorded head) expects, it is whole, and the earlier one was altered.
///
/// # Errors
///
/// [`BadLink`] for the first record that is damaged, missing or out of place.
pub fn verify_chain<'a>(records: impl IntoIterator<Item = &'a [u8]>, start: Head, end: Head) -> Result<(), BadLink> {
    let mut records = records.into_iter().peekable();
    let mut head = start;
    while let Some(record) = records.next() {
        if head.count == end.count {
            return Err(BadLink::Position { seq: Seq::new(head.count), found: Seq::new(head.count) });
        }
        match head.follow(record) {
            Ok(next) => head = next,
            Err(BadLink::Previous { seq }) => {
                let hash = RecordHash::of(record);
                let vouched = match records.peek() {
                    Some(after) => Envelope::of(after).is_some_and(|envelope| envelope.previous == hash),
                    None => hash == end.hash,
                };
                let altered = if vouched && seq.get() > start.count { Seq::new(seq.get() - 1) } else { seq };
                return Err(BadLink::Previous { seq: altered });
            }
            Err(other) => return Err(other),
        }
    }
    if head.count < end.count {
        return Err(BadLink::Truncated { seq: Seq::new(head.count), expected: end.count });
    }
    if head.hash != end.hash {
        return Err(BadLink::Head { seq: Seq::new(head.count.saturating_sub(1)) });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(length: u64) -> (Vec<Vec<u8>>, Head) {
        let mut head = Head::default();
        let records = (0..length)
            .map(|seq| {
                let envelope = Envelope {
                    seq: Seq::new(seq),
                    time: SimTime::from_millis(seq as i64),
                    previous: head.hash,
                    section_bytes: [3, 0, 0, 0],
                };
                let record = [envelope.to_bytes().as_slice(), b"abc"].concat();
                head = head.follow(&record).expect("a record of its own chain follows");
                record
            })
            .collect();
        (records, head)
    }

    fn verify(records: &[Vec<u8>], end: Head) -> Result<(), BadLink> {
        verify_chain(records.iter().map(Vec::as_slice), Head::default(), end)
    }

    #[test]
    fn a_whole_chain_verifies() {
        let (records, head) = chain(5);
        assert_eq!(verify(&records, head), Ok(()));
    }

    #[test]
    fn every_single_altered_byte_is_found_and_its_record_named() {
        let (records, head) = chain(4);
        for victim in 0..records.len() {
            for at in 0..records[victim].len() {
                let mut altered = records.clone();
                altered[victim][at] ^= 0x40;
                let found = verify(&altered, head).expect_err("an altered byte must be found");
                let named = match found {
                    BadLink::Malformed { seq }
                    | BadLink::Position { seq, .. }
                    | BadLink::Previous { seq }
                    | BadLink::Head { seq }
                    | BadLink::Truncated { seq, .. } => seq.get(),
                };
                assert_eq!(named, victim as u64, "byte {at} of record {victim}: {found}");
            }
        }
    }

    #[test]
    fn a_missing_record_is_found_at_both_ends_and_in_the_middle() {
        for gone in 0..4 {
            let (mut records, head) = chain(4);
            records.remove(gone);
            assert!(verify(&records, head).is_err(), "record {gone} is gone");
        }
    }
}
