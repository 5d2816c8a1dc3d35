//! The frames that segment files and portable logs consist of, and the entries inside them. Not where frames are written, and not what records
//! mean.
//!
//! ```text
//!  0  magic   "DSFRAME" and the format version   8 bytes
//!  8  length of the payload, little-endian       4 bytes
//! 12  CRC32C of bytes 8-11, 16-23 and payload    4 bytes
//! 16  position of the frame in its file          8 bytes
//! 24  payload: entries, one after another
//! ```
//!
//! The checksum finds writes that were torn, and bytes that rotted; it is no defence against a forger, which is the chain's part. The position
//! keeps a record that happens to contain a frame from being taken for one.

use dayshift_engine::BlobId;

use crate::backend::BranchMeta;

pub(crate) const FRAME_MAGIC: [u8; 8] = *b"DSFRAME\x01";
pub(crate) const FRAME_HEADER_BYTES: usize = 24;

/// One thing that a frame says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Entry<'a> {
    /// What the file is: the first entry of every file.
    File(&'a [u8]),
    /// A branch was made.
    Create(BranchMeta),
    /// Records were added to a branch.
    Run(Run<'a>),
    /// A note was replaced.
    Note { number: u64, note: &'a [u8] },
    /// A branch was discarded.
    Discard { number: u64 },
    /// Content of a portable log.
    Blob { id: BlobId, content: &'a [u8] },
    /// Where a portable log ends.
    Footer(&'a [u8]),
}

/// Records of one branch that stand together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Run<'a> {
    pub(crate) number: u64,
    pub(crate) first: u64,
    pub(crate) count: u32,
    /// The position of the records in the payload.
    pub(crate) at: usize,
    /// Each record after its length.
    pub(crate) records: &'a [u8],
}

impl<'a> Run<'a> {
    /// Returns the records.
    pub(crate) fn records(self) -> impl Iterator<Item = &'a [u8]> {
        records(self.records)
    }
}

/// Returns the records in the bytes of a run: each after its length. Ends where they do not hold a whole one.
pub(crate) fn records(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Cursor { bytes, at: 0 };
    std::iter::from_fn(move || rest.sized())
}

/// A frame that is being filled.
#[derive(Debug)]
pub(crate) struct FrameWriter {
    bytes: Vec<u8>,
}

impl FrameWriter {
    pub(crate) fn new() -> Self {
        Self::reusing(Vec::new())
    }

    /// Starts a frame in a buffer whose content is no longer needed.
    pub(crate) fn reusing(mut bytes: Vec<u8>) -> Self {
        bytes.clear();
        bytes.resize(FRAME_HEADER_BYTES, 0);
        Self { bytes }
    }

    pub(crate) fn file(&mut self, described: &[u8]) {
        self.tagged(5, described);
    }

    pub(crate) fn create(&mut self, meta: &BranchMeta) {
        self.tagged(1, &meta.to_bytes());
    }

    /// Adds records and returns the position of their bytes in the payload, and how many those are.
    pub(crate) fn run<'r>(
        &mut self,
        number: u64,
        first: u64,
        records: impl ExactSizeIterator<Item = &'r [u8]>,
    ) -> (usize, usize) {
        self.bytes.push(2);
        self.bytes.extend_from_slice(&number.to_le_bytes());
        self.bytes.extend_from_slice(&first.to_le_bytes());
        self.bytes.extend_from_slice(&length(records.len()));
        let length_at = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 4]);
        for record in records {
            self.bytes.extend_from_slice(&length(record.len()));
            self.bytes.extend_from_slice(record);
        }
        let at = length_at + 4;
        let run_bytes = self.bytes.len() - at;
        self.bytes[length_at..at].copy_from_slice(&length(run_bytes));
        (at - FRAME_HEADER_BYTES, run_bytes)
    }

    pub(crate) fn note(&mut self, number: u64, note: &[u8]) {
        self.bytes.push(3);
        self.bytes.extend_from_slice(&number.to_le_bytes());
        self.bytes.extend_from_slice(&length(note.len()));
        self.bytes.extend_from_slice(note);
    }

    pub(crate) fn discard(&mut self, number: u64) {
        self.bytes.push(4);
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    pub(crate) fn blob(&mut self, id: BlobId, content: &[u8]) {
        self.bytes.push(6);
        self.bytes.extend_from_slice(id.as_bytes());
        self.bytes.extend_from_slice(&length(content.len()));
        self.bytes.extend_from_slice(content);
    }

    pub(crate) fn footer(&mut self, described: &[u8]) {
        self.tagged(7, described);
    }

    /// Closes the frame for position `at` of its file.
    pub(crate) fn finish(mut self, at: u64) -> Vec<u8> {
        let payload = length(self.bytes.len() - FRAME_HEADER_BYTES);
        self.bytes[..8].copy_from_slice(&FRAME_MAGIC);
        self.bytes[8..12].copy_from_slice(&payload);
        self.bytes[16..24].copy_from_slice(&at.to_le_bytes());
        let check = checksum(&self.bytes);
        self.bytes[12..16].copy_from_slice(&check.to_le_bytes());
        self.bytes
    }

    fn tagged(&mut self, tag: u8, content: &[u8]) {
        self.bytes.push(tag);
        self.bytes.extend_from_slice(&length(content.len()));
        self.bytes.extend_from_slice(content);
    }
}

/// What stands at a position of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// A whole frame with this many bytes, header included.
    Whole(usize),
    /// No whole frame; if the header can be believed, it claims this many bytes.
    Bad(Option<usize>),
    /// Nothing was written here.
    Blank,
}

/// Looks at position `at` of a file.
pub(crate) fn find_frame(file: &[u8], at: usize) -> Found {
    let rest = file.get(at..).unwrap_or_default();
    let Some(header) = rest.get(..FRAME_HEADER_BYTES) else {
        return if rest.iter().all(|&byte| byte == 0) { Found::Blank } else { Found::Bad(None) };
    };
    if header.iter().all(|&byte| byte == 0) {
        return Found::Blank;
    }
    let claimed = FRAME_HEADER_BYTES + u32::from_le_bytes([header[8], header[9], header[10], header[11]]) as usize;
    let whole = rest.get(..claimed).filter(|frame| {
        frame[..8] == FRAME_MAGIC
            && frame[16..24] == (at as u64).to_le_bytes()
            && frame[12..16] == checksum(frame).to_le_bytes()
    });
    match whole {
        Some(frame) => Found::Whole(frame.len()),
        None => Found::Bad((claimed <= rest.len()).then_some(claimed)),
    }
}

/// How often each byte of a file is held against a checksum in vain, at most: forged headers that overlap would take quadratic time.
const TRIES_PER_BYTE: u64 = 8;

/// A search for whole frames in a file that is damaged. What it may spend is bounded by the size of the file.
#[derive(Debug)]
pub(crate) struct Resync<'a> {
    file: &'a [u8],
    left: u64,
}

impl<'a> Resync<'a> {
    pub(crate) fn new(file: &'a [u8]) -> Self {
        Self { file, left: tries(file.len() as u64) }
    }

    /// Looks at position `at`, as [`find_frame`] does.
    pub(crate) fn find_frame(&mut self, at: usize) -> Found {
        let header = self.file.get(at..).and_then(|rest| rest.get(..FRAME_HEADER_BYTES));
        let claimed = header.and_then(|header| claimed_bytes(header, at as u64));
        match claimed {
            Some(claimed) if claimed <= self.file.len() - at => {
                let found = if claimed as u64 > self.left { Found::Bad(None) } else { find_frame(self.file, at) };
                if !matches!(found, Found::Whole(_)) {
                    self.left = self.left.saturating_sub(claimed as u64);
                }
                found
            }
            // No checksum is needed to see that.
            Some(_) | None => find_frame(self.file, at),
        }
    }

    /// Returns the next position from `from` on where a whole frame begins.
    pub(crate) fn next_frame(&mut self, from: usize) -> Option<usize> {
        let mut at = from;
        loop {
            let step = self.file.get(at..)?.windows(FRAME_MAGIC.len()).position(|window| window == FRAME_MAGIC)?;
            at += step;
            if matches!(self.find_frame(at), Found::Whole(_)) {
                return Some(at);
            }
            at += 1;
        }
    }
}

/// Returns how many bytes a search in a file of `length` bytes may hold against checksums in vain.
pub(crate) fn tries(length: u64) -> u64 {
    length.saturating_mul(TRIES_PER_BYTE).saturating_add(1 << 16)
}

/// Returns how many bytes the frame claims that a header at `at` begins, header included, if it is a header.
pub(crate) fn claimed_bytes(header: &[u8], at: u64) -> Option<usize> {
    let is_header = header.get(..8)? == FRAME_MAGIC && header.get(16..24)? == at.to_le_bytes();
    let length = u32::from_le_bytes(header.get(8..12)?.try_into().ok()?) as usize;
    is_header.then_some(FRAME_HEADER_BYTES + length)
}

/// Returns the run that a payload begins with and that is cut off: what is there of its records.
pub(crate) fn cut_run(payload: &[u8]) -> Option<Run<'_>> {
    let mut rest = Cursor { bytes: payload, at: 0 };
    if rest.take(1)?[0] != 2 {
        return None;
    }
    let (number, first, count, _bytes) = (rest.eight()?, rest.eight()?, rest.four()?, rest.four()?);
    Some(Run { number, first, count, at: rest.at, records: &payload[rest.at..] })
}

/// Reads the entries of a payload. Ends after the first that cannot be read, which is told by an error.
pub(crate) fn entries(payload: &[u8]) -> impl Iterator<Item = Result<Entry<'_>, BadEntry>> {
    let mut rest = Cursor { bytes: payload, at: 0 };
    let mut broken = false;
    std::iter::from_fn(move || {
        if broken || rest.at == payload.len() {
            return None;
        }
        let at = rest.at;
        let entry = rest.entry().ok_or(BadEntry { at });
        broken = entry.is_err();
        Some(entry)
    })
}

/// A payload that holds no entry at this position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BadEntry {
    pub(crate) at: usize,
}

pub(crate) fn checksum(frame: &[u8]) -> u32 {
    let check = crc32c::crc32c(&frame[8..12]);
    crc32c::crc32c_append(check, &frame[16..])
}

fn length(bytes: usize) -> [u8; 4] {
    u32::try_from(bytes).expect("the limits on appends, notes and blobs keep a frame below 4 GiB").to_le_bytes()
}

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(count)?)?;
        self.at += count;
        Some(taken)
    }

    fn four(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_le_bytes)
    }

    fn eight(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_le_bytes)
    }

    fn sized(&mut self) -> Option<&'a [u8]> {
        let count = self.four()? as usize;
        self.take(count)
    }

    fn entry(&mut self) -> Option<Entry<'a>> {
        match self.take(1)?[0] {
            1 => BranchMeta::from_bytes(self.sized()?).map(Entry::Create),
            2 => {
                let (number, first, count) = (self.eight()?, self.eight()?, self.four()?);
                let records = self.sized()?;
                let at = self.at - records.len();
                Some(Entry::Run(Run { number, first, count, at, records }))
            }
            3 => Some(Entry::Note { number: self.eight()?, note: self.sized()? }),
            4 => Some(Entry::Discard { number: self.eight()? }),
            5 => self.sized().map(Entry::File),
            6 => {
                let id = BlobId::new(self.take(32)?.try_into().ok()?);
                Some(Entry::Blob { id, content: self.sized()? })
            }
            7 => self.sized().map(Entry::Footer),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at: u64) -> Vec<u8> {
        let mut frame = FrameWriter::new();
        frame.run(3, 7, [b"one".as_slice(), b"two"].into_iter());
        frame.note(3, b"note");
        frame.finish(at)
    }

    #[test]
    fn what_was_written_is_read() {
        let frame = sample(0);
        assert_eq!(find_frame(&frame, 0), Found::Whole(frame.len()));
        let read: Vec<_> = entries(&frame[FRAME_HEADER_BYTES..]).collect::<Result<_, _>>().expect("whole entries");
        let Entry::Run(run) = &read[0] else { panic!("the first entry is a run: {read:?}") };
        assert_eq!((run.number, run.first, run.count), (3, 7, 2));
        assert_eq!(run.records().collect::<Vec<_>>(), [b"one", b"two"]);
        assert_eq!(read[1], Entry::Note { number: 3, note: b"note" });
    }

    #[test]
    fn every_altered_byte_of_a_frame_is_found() {
        let frame = sample(0);
        for at in 0..frame.len() {
            let mut altered = frame.clone();
            altered[at] ^= 1;
            assert!(matches!(find_frame(&altered, 0), Found::Bad(_)), "byte {at}");
        }
    }

    #[test]
    fn a_frame_inside_a_record_is_not_taken_for_one() {
        let inner = sample(0);
        let mut outer = FrameWriter::new();
        outer.run(1, 0, [inner.as_slice()].into_iter());
        let mut file = outer.finish(0);
        file[0] ^= 1;
        assert_eq!(Resync::new(&file).next_frame(1), None);
    }
}
