//! The stored form of a record: the envelope of [`crate::chain`], then four sections of named MessagePack. Named, because the compact form
//! silently misreads reordered fields; in sections, because replay decodes events a hundred times as often as the rest.

use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::access::Read;
use crate::chain::{ENVELOPE_BYTES, Envelope};
use crate::id::{BlobId, RecordHash, Seq};
use crate::record::{Outcome, Record, RecordHead};
use crate::time::SimTime;
use crate::value::Value;

/// How deep a decoded section may nest. Values nest at most [`crate::VALUE_DEPTH_MAX`] deep; the events around them a little more.
const SECTION_DEPTH_MAX: usize = 160;

/// The sections of a record, in stored order.
#[derive(Clone, Copy)]
enum Section {
    Head,
    Reads,
    Events,
    Outcome,
}

const SECTIONS: [(Section, &str); 4] =
    [(Section::Head, "head"), (Section::Reads, "reads"), (Section::Events, "events"), (Section::Outcome, "outcome")];

/// Why bytes are no record of this format.
#[derive(Debug, thiserror::Error)]
pub enum CodecError {
    /// The envelope does not fit.
    #[error("not a record: its envelope does not fit its bytes")]
    Envelope,
    /// A section does not decode.
    #[error("record {seq}: its section '{section}' does not decode")]
    Section {
        /// The record.
        seq: Seq,
        /// The section.
        section: &'static str,
        /// What the decoder says.
        source: rmp_serde::decode::Error,
    },
    /// A section decodes and bytes are left over.
    #[error("record {seq}: its section '{section}' has bytes after its end")]
    Trailing {
        /// The record.
        seq: Seq,
        /// The section.
        section: &'static str,
    },
    /// A blob that the record refers to is missing or damaged.
    #[error("record {seq}: its blob {id} is missing or damaged")]
    Blob {
        /// The record.
        seq: Seq,
        /// The blob.
        id: BlobId,
    },
}

/// Returns the stored form of a record that follows `previous`.
#[must_use]
pub fn encode<E: Serialize>(previous: RecordHash, record: &Record<E>) -> Vec<u8> {
    let parts = Parts {
        seq: record.seq,
        time: record.time,
        head: &record.head,
        reads: &record.reads,
        events: &record.events,
        outcome: &record.outcome,
    };
    encode_parts(previous, &parts, Vec::new())
}

/// A record's parts, borrowed.
pub(crate) struct Parts<'a, E> {
    pub(crate) seq: Seq,
    pub(crate) time: SimTime,
    pub(crate) head: &'a RecordHead,
    pub(crate) reads: &'a [Read],
    pub(crate) events: &'a [E],
    pub(crate) outcome: &'a Outcome,
}

/// Encodes into `buffer`, whose memory is used again.
pub(crate) fn encode_parts<E: Serialize>(previous: RecordHash, parts: &Parts<'_, E>, mut buffer: Vec<u8>) -> Vec<u8> {
    buffer.clear();
    buffer.resize(ENVELOPE_BYTES, 0);
    let mut section_bytes = [0_u32; 4];
    for (index, (section, _)) in SECTIONS.iter().enumerate() {
        let start = buffer.len();
        match section {
            Section::Head => write_section(&mut buffer, parts.head),
            Section::Reads => write_section(&mut buffer, parts.reads),
            Section::Events => write_section(&mut buffer, parts.events),
            Section::Outcome => write_section(&mut buffer, parts.outcome),
        }
        section_bytes[index] = u32::try_from(buffer.len() - start).expect("a section is smaller than 4 GiB");
    }
    let envelope = Envelope { seq: parts.seq, time: parts.time, previous, section_bytes };
    buffer[..ENVELOPE_BYTES].copy_from_slice(&envelope.to_bytes());
    buffer
}

/// A stored record whose envelope was read. Its sections are decoded one by one, on demand.
#[derive(Clone, Copy, Debug)]
pub struct Stored<'a> {
    bytes: &'a [u8],
    envelope: Envelope,
}

impl<'a> Stored<'a> {
    /// Reads the envelope.
    ///
    /// # Errors
    ///
    /// [`CodecError::Envelope`] when it does not fit the bytes.
    pub fn new(bytes: &'a [u8]) -> Result<Self, CodecError> {
        let envelope = Envelope::of(bytes).ok_or(CodecError::Envelope)?;
        Ok(Self { bytes, envelope })
    }

    /// Returns the position in the log.
    #[must_use]
    pub fn seq(&self) -> Seq {
        self.envelope.seq
    }

    /// Returns the simulated time.
    #[must_use]
    pub fn time(&self) -> SimTime {
        self.envelope.time
    }

    /// Decodes who asked for what.
    ///
    /// # Errors
    ///
    /// [`CodecError::Section`] or [`CodecError::Trailing`].
    pub fn head(&self) -> Result<RecordHead, CodecError> {
        self.section(Section::Head)
    }

    /// Decodes what was read.
    ///
    /// # Errors
    ///
    /// [`CodecError::Section`] or [`CodecError::Trailing`].
    pub fn reads(&self) -> Result<Vec<Read>, CodecError> {
        self.section(Section::Reads)
    }

    /// Decodes the events.
    ///
    /// # Errors
    ///
    /// [`CodecError::Section`] or [`CodecError::Trailing`].
    pub fn events<E: DeserializeOwned>(&self) -> Result<Vec<E>, CodecError> {
        self.section(Section::Events)
    }

    /// Decodes what was answered.
    ///
    /// # Errors
    ///
    /// [`CodecError::Section`] or [`CodecError::Trailing`].
    pub fn outcome(&self) -> Result<Outcome, CodecError> {
        self.section(Section::Outcome)
    }

    /// Decodes everything.
    ///
    /// # Errors
    ///
    /// [`CodecError::Section`] or [`CodecError::Trailing`].
    pub fn record<E: DeserializeOwned>(&self) -> Result<Record<E>, CodecError> {
        Ok(Record {
            seq: self.seq(),
            time: self.time(),
            head: self.head()?,
            reads: self.reads()?,
            events: self.events()?,
            outcome: self.outcome()?,
        })
    }

    fn section<T: DeserializeOwned>(&self, section: Section) -> Result<T, CodecError> {
        let index = section as usize;
        let start =
            ENVELOPE_BYTES + self.envelope.section_bytes[..index].iter().map(|&bytes| bytes as usize).sum::<usize>();
        let end = start + self.envelope.section_bytes[index] as usize;
        let name = SECTIONS[index].1;
        read_exactly(&self.bytes[start..end]).map_err(|fault| match fault {
            Some(source) => CodecError::Section { seq: self.seq(), section: name, source },
            None => CodecError::Trailing { seq: self.seq(), section: name },
        })
    }
}

/// Returns `value` as named MessagePack, for a blob that holds a payload.
#[must_use]
pub fn encode_value(value: &Value) -> Vec<u8> {
    let mut buffer = Vec::new();
    write_section(&mut buffer, value);
    buffer
}

/// Reads what [`encode_value`] wrote.
///
/// # Errors
///
/// What the decoder says; nothing when bytes are left over.
pub fn decode_value(bytes: &[u8]) -> Result<Value, Option<rmp_serde::decode::Error>> {
    read_exactly(bytes)
}

fn write_section<T: Serialize + ?Sized>(buffer: &mut Vec<u8>, part: &T) {
    part.serialize(&mut rmp_serde::Serializer::new(buffer).with_struct_map())
        .expect("writing plain data into memory cannot fail");
}

/// Decodes one value that fills `bytes` exactly. The error is empty when bytes are left over.
fn read_exactly<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Option<rmp_serde::decode::Error>> {
    let mut decoder = rmp_serde::Deserializer::from_read_ref(bytes);
    decoder.set_max_depth(SECTION_DEPTH_MAX);
    let value = T::deserialize(&mut decoder).map_err(Some)?;
    // The decoder does not tell where it stands; only at the end does it find no further marker.
    match <IgnoredAny as serde::Deserialize>::deserialize(&mut decoder) {
        Err(rmp_serde::decode::Error::InvalidMarkerRead(_)) => Ok(value),
        Ok(_) | Err(_) => Err(None),
    }
}
