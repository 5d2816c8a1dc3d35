//! How many processes a command has and how much memory they take together, and how much it wrote: read from the host while it runs. Limits on
//! single processes are the kernel's; those on all of them together are held here.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The size of a page of memory, in bytes. Larger ones exist; then less is counted than is there.
const PAGE_BYTES: u64 = 4096;

/// What a process and everything that it started amount to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) processes: u32,
    pub(crate) memory_bytes: u64,
}

/// Returns what `process` and all that it started amount to.
pub(crate) fn usage(process: u32) -> Usage {
    let mut children: BTreeMap<u32, Vec<(u32, u64)>> = BTreeMap::new();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    for id in entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()) {
        if let Some((parent, bytes)) = stat(id) {
            children.entry(parent).or_default().push((id, bytes));
        }
    }
    let mut usage = Usage::default();
    let mut open = vec![process];
    while let Some(parent) = open.pop() {
        for (id, bytes) in children.remove(&parent).unwrap_or_default() {
            usage.processes += 1;
            usage.memory_bytes += bytes;
            open.push(id);
        }
    }
    usage
}

/// Returns the parent of a process and the memory that it takes.
fn stat(id: u32) -> Option<(u32, u64)> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name, in parentheses, may hold anything.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let (parent, pages) = (fields.get(1)?.parse().ok()?, fields.get(21)?.parse::<u64>().ok()?);
    Some((parent, pages.saturating_mul(PAGE_BYTES)))
}

/// Returns how much lies below the folders, or more than `most` once it is more.
pub(crate) fn written(folders: &[PathBuf], most: u64) -> u64 {
    let mut open = folders.to_vec();
    let mut bytes = 0;
    while let Some(folder) = open.pop() {
        bytes += below(&folder, &mut open);
        if bytes > most {
            break;
        }
    }
    bytes
}

fn below(folder: &Path, open: &mut Vec<PathBuf>) -> u64 {
    let mut bytes = 0;
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => open.push(entry.path()),
            Ok(_) => bytes += entry.metadata().map_or(0, |metadata| metadata.len()),
            Err(_) => {}
        }
    }
    bytes
}
