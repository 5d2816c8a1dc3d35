//! Builds a log anew from what was found in the bytes of another, keeps the other aside, and says what is lost. Numbers stay, and the heads kept
//! apart remember what was there, so that a branch that was cut once is never taken for whole.

use std::path::Path;
use std::sync::Arc;

use dayshift_engine::Head;

use crate::backend::{Backend, Change, Contents};
use crate::catalog::{Squared, reconcile};
use crate::error::{Finding, StoreError};
use crate::folder::Folder;
use crate::heads::{Heads, Slot, SlotState, Standing};
use crate::salvage::{Found, Saved};

/// How much is copied with one commit.
const COPY_BYTES: usize = 4 << 20;

/// A log that is open, with what came of comparing it with its heads.
pub(crate) type Opened = (Box<dyn Backend>, Heads, Squared);

/// How a kind of store opens the log in a folder.
pub(crate) type OpenLog = fn(&Path) -> Result<(Box<dyn Backend>, Heads, Contents), StoreError>;

/// What becomes of the log that was rebuilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Original {
    /// It is kept aside.
    Quarantined,
    /// It goes: everything that was acknowledged is in the new one.
    Removed,
}

/// Builds the next generation of the log from `saved`, and lets it count.
pub(crate) fn rebuild(
    folder: &mut Folder,
    open_log: OpenLog,
    found: &Found,
    saved: &[Saved],
    original: Original,
) -> Result<Opened, StoreError> {
    let old_heads = Heads::read(&folder.log());
    let fresh = folder.begin_generation()?;
    let (mut branches, mut records) = (0, 0);
    {
        let (backend, mut heads, _empty) = open_log(&fresh)?;
        for saved in saved {
            let kept = if saved.is_gone() { None } else { Some(write(found, saved, &*backend)?) };
            branches += u64::from(kept.is_some());
            records += kept.map_or(0, |head| head.count - saved.meta.base.count);
            heads.set(saved.meta.number, &slot(saved, kept));
        }
        remember(&old_heads, &mut heads, found);
        heads.write()?;
        heads.sync()?;
        backend.close();
    }
    folder.finish_generation()?;
    let mut findings = Vec::new();
    if original == Original::Quarantined {
        let quarantine = folder.quarantine_previous()?;
        for saved in saved.iter().filter(|saved| !saved.is_known && !saved.is_gone()) {
            if let Some(lost) = saved.lost.clone() {
                let (branch, after) = (saved.meta.id.clone(), saved.after.len() as u64);
                let quarantine = quarantine.clone();
                findings.push(Finding::Salvaged { branch, whole: saved.head.count, lost, after, quarantine });
            }
        }
        findings.push(Finding::Rebuilt { quarantine, branches, records });
    } else {
        folder.remove_previous()?;
    }
    let log = folder.log();
    let (backend, mut heads, contents) = open_log(&log)?;
    let squared = reconcile(contents, &*backend, &mut heads, &log)?;
    findings.splice(0..0, squared.findings.iter().cloned());
    Ok((backend, heads, Squared { findings, ..squared }))
}

/// Returns what the new log's heads say about a branch.
fn slot(saved: &Saved, kept: Option<Head>) -> Slot {
    let branch = saved.meta.id.clone();
    match (kept, &saved.lost) {
        (Some(head), None) => Slot { state: SlotState::Made, branch, head },
        _ => Slot { state: SlotState::Cut, branch, head: saved.end.unwrap_or(saved.head) },
    }
}

/// Keeps the numbers of branches that were discarded, so that they are not given again.
fn remember(old: &Heads, new: &mut Heads, found: &Found) {
    let count = old.count().max(found.discarded.last().map_or(0, |last| last + 1));
    for number in 0..count {
        if matches!(new.get(number), Standing::Whole(_)) {
            continue;
        }
        let slot = match old.get(number) {
            Standing::Whole(slot) => slot,
            Standing::Bad | Standing::Absent if found.discarded.contains(&number) => Slot::discarded(),
            Standing::Bad | Standing::Absent => continue,
        };
        new.set(number, &slot);
    }
}

/// Writes one branch, and returns where it ends.
fn write(found: &Found, saved: &Saved, to: &dyn Backend) -> Result<Head, StoreError> {
    let meta = Arc::new(saved.meta.clone());
    to.commit(&[Change::Create { meta, note: Arc::clone(&saved.note) }])?;
    let (branch, number) = (saved.meta.id.clone(), saved.meta.number);
    let mut head = saved.meta.base;
    let (mut pending, mut bytes, mut first): (Vec<Arc<[u8]>>, _, _) = (Vec::new(), 0, head.count);
    for (position, &hash) in saved.whole.iter().enumerate() {
        let Some(record) = found.record(hash)? else { break };
        let Ok(next) = head.follow(&record) else { break };
        bytes += record.len();
        pending.push(record.into());
        head = next;
        if bytes >= COPY_BYTES || position + 1 == saved.whole.len() {
            let records = std::mem::take(&mut pending);
            to.commit(&[Change::Append { branch: branch.clone(), number, first, records, head }])?;
            (bytes, first) = (0, head.count);
        }
    }
    if !pending.is_empty() {
        to.commit(&[Change::Append { branch, number, first, records: pending, head }])?;
    }
    Ok(head)
}
