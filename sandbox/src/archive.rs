//! The workspace as a tar archive, which a command's first shell unpacks inside the sandbox: nothing of it is ever on the host's disk.

use std::io::{self, Write};

use dayshift_engine::{Blobs, Content, Errand, SimTime};

/// The unit of an archive, in bytes.
const BLOCK_BYTES: usize = 512;
/// The longest name that a header holds, in bytes; a longer one has an entry of its own ahead.
const NAME_BYTES_MAX: usize = 100;

/// What the unpacked entries take up at most, in bytes: whole pages, and some for each entry.
pub(crate) fn unpacked_bytes(errand: &Errand) -> u64 {
    const PAGE_BYTES: u64 = 4096;
    let pages = |content: &Content| content.bytes().div_ceil(PAGE_BYTES) + 1;
    errand.entries.iter().map(|entry| entry.content.as_ref().map_or(1, pages).saturating_mul(PAGE_BYTES)).sum()
}

/// Writes `errand`'s entries, in a root folder that was last changed at `now`.
pub(crate) fn write(errand: &Errand, now: SimTime, blobs: &dyn Blobs, output: &mut impl Write) -> io::Result<()> {
    header(output, "./", b'5', 0o755, 0, now)?;
    for entry in &errand.entries {
        let path = entry.path.trim_start_matches('/');
        match &entry.content {
            None => header(output, &format!("./{path}/"), b'5', 0o755, 0, entry.modified)?,
            Some(content) => {
                let bytes = load(content, blobs)?;
                header(output, &format!("./{path}"), b'0', entry.mode & 0o777, bytes.len(), entry.modified)?;
                padded(output, &bytes)?;
            }
        }
    }
    output.write_all(&[0; 2 * BLOCK_BYTES])
}

fn header(output: &mut impl Write, name: &str, kind: u8, mode: u32, bytes: usize, time: SimTime) -> io::Result<()> {
    if name.len() > NAME_BYTES_MAX {
        let long = [name.as_bytes(), &[0]].concat();
        header(output, "././@LongLink", b'L', 0, long.len(), SimTime::default())?;
        padded(output, &long)?;
    }
    let mut block = [0; BLOCK_BYTES];
    let short = &name.as_bytes()[..name.len().min(NAME_BYTES_MAX)];
    block[..short.len()].copy_from_slice(short);
    let seconds = u64::try_from(time.as_millis().div_euclid(1000)).unwrap_or(0);
    let mut octal = |at: usize, digits: usize, number: u64| {
        block[at..at + digits].copy_from_slice(format!("{number:0digits$o}").as_bytes());
    };
    octal(100, 7, u64::from(mode));
    octal(108, 7, 0);
    octal(116, 7, 0);
    octal(124, 11, bytes as u64);
    octal(136, 11, seconds.min(0o77_777_777_777));
    block[148..156].fill(b' ');
    block[156] = kind;
    block[257..265].copy_from_slice(b"ustar  \0");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    output.write_all(&block)
}

fn padded(output: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    output.write_all(bytes)?;
    output.write_all(&[0; BLOCK_BYTES][..bytes.len().next_multiple_of(BLOCK_BYTES) - bytes.len()])
}

fn load(content: &Content, blobs: &dyn Blobs) -> io::Result<std::sync::Arc<[u8]>> {
    match content {
        Content::Inline(bytes) => Ok(bytes.clone()),
        Content::Blob { id, .. } => {
            blobs.get(*id).ok_or_else(|| io::Error::other(format!("the content {id} is missing")))
        }
    }
}
