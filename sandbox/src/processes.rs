//! How many processes a command has and how much memory they take together: read from the host while it runs. Limits on single processes are the
//! kernel's; those on all of them together are held here, and by a control group where there is one.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The size of a page of memory, in bytes. Larger ones exist; then less is counted than is there.
const PAGE_BYTES: u64 = 4096;

/// What a process and everything that it started amount to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) processes: u32,
    pub(crate) memory_bytes: u64,
}

/// Returns what all that `process` started amounts to.
pub(crate) fn usage(process: u32) -> Usage {
    started(process).into_iter().fold(Usage::default(), |usage, (_, bytes)| Usage {
        processes: usage.processes + 1,
        memory_bytes: usage.memory_bytes.saturating_add(bytes),
    })
}

/// Returns the processes that `process` started, and those that they started.
pub(crate) fn below(process: u32) -> Vec<u32> {
    started(process).into_iter().map(|(id, _)| id).collect()
}

/// Returns whether there is such a process.
pub(crate) fn is_there(process: u32) -> bool {
    Path::new("/proc").join(process.to_string()).exists()
}

/// Returns what `process` started, each with the memory that it takes.
fn started(process: u32) -> Vec<(u32, u64)> {
    let mut children: BTreeMap<u32, Vec<(u32, u64)>> = BTreeMap::new();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    for id in entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()) {
        if let Some((parent, bytes)) = stat(id) {
            children.entry(parent).or_default().push((id, bytes));
        }
    }
    let mut found = children.remove(&process).unwrap_or_default();
    let mut next = 0;
    while let Some((id, _)) = found.get(next) {
        found.extend(children.remove(id).unwrap_or_default());
        next += 1;
    }
    found
}

/// Returns the parent of a process and the memory that it takes.
fn stat(id: u32) -> Option<(u32, u64)> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name, in parentheses, may hold anything.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let (parent, pages) = (fields.get(1)?.parse().ok()?, fields.get(21)?.parse::<u64>().ok()?);
    Some((parent, pages.saturating_mul(PAGE_BYTES)))
}
