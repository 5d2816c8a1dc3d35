//! Copies what is whole of one log into a fresh one: for a log that was found damaged, and for a compaction. Numbers stay, and the heads kept
//! apart remember what was lost, so that a branch that was cut once is never taken for whole.

use std::ops::ControlFlow;
use std::sync::Arc;

use dayshift_engine::{Head, RecordHash};

use crate::backend::{Backend, Change, Extent};
use crate::catalog::{Catalog, Entry};
use crate::chain_walk::{ChainWalk, named};
use crate::error::StoreError;
use crate::heads::{Heads, Slot, SlotState, Standing};

/// How much is copied with one commit.
const COPY_BYTES: usize = 4 << 20;

/// How many branches and records were copied.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Copied {
    pub(crate) branches: u64,
    pub(crate) records: u64,
}

/// A log, and the heads kept apart from it.
pub(crate) struct Log<'a> {
    pub(crate) backend: &'a dyn Backend,
    pub(crate) heads: &'a mut Heads,
}

/// Copies every branch of `from`, which `catalog` lists, up to the first record that does not continue its chain.
pub(crate) fn copy(from: Log<'_>, catalog: &Catalog, to: Log<'_>) -> Result<Copied, StoreError> {
    let mut copied = Copied::default();
    for entry in catalog.ids.values().filter_map(|id| catalog.branches.get(id)) {
        if entry.whole() < entry.meta.base.count {
            // What it shares is gone, so nothing of its own can follow. Its slot below tells that it was there.
            continue;
        }
        let reached = copy_branch(from.backend, entry, to.backend)?;
        copied.branches += 1;
        copied.records += reached.count - entry.meta.base.count;
        if entry.damage.is_none() && reached == entry.accepted {
            let slot = Slot { state: SlotState::Made, branch: entry.meta.id.clone(), head: reached };
            to.heads.set(entry.meta.number, &slot);
        }
    }
    for number in 0..catalog.next_number {
        if to.heads.get(number) != Standing::Absent && matches!(to.heads.get(number), Standing::Whole(_)) {
            continue;
        }
        if let Some(slot) = remembered(from.heads, catalog, number) {
            to.heads.set(number, &slot);
        }
    }
    to.heads.write()?;
    to.heads.sync()?;
    Ok(copied)
}

/// Returns what the fresh log's heads say about a number whose branch was not copied whole.
fn remembered(heads: &Heads, catalog: &Catalog, number: u64) -> Option<Slot> {
    let known = catalog.by_number(number).map(|entry| (entry.meta.id.clone(), entry.accepted));
    match heads.get(number) {
        Standing::Whole(Slot { state: SlotState::Made | SlotState::Cut, branch, head }) => {
            Some(Slot { state: SlotState::Cut, branch, head })
        }
        Standing::Whole(slot) => Some(slot),
        // The head is unreadable: the log's own is the best there is, and the branch stays marked.
        Standing::Bad | Standing::Absent => {
            let (branch, Head { count, .. }) = known?;
            let beyond = Head { count, hash: RecordHash::default() };
            Some(Slot { state: SlotState::Cut, branch, head: beyond })
        }
    }
}

/// Returns how many records of a branch are whole, those it shares included.
fn whole_count(from: &dyn Backend, entry: &Entry) -> u64 {
    let mut walk = ChainWalk::new(entry.meta.base, entry.accepted);
    let mut fault = None;
    let own = Extent { number: entry.meta.number, from: entry.meta.base.count, until: entry.accepted.count };
    let _shorter_is_told_by_the_walk = from.read(own, &mut |record| {
        fault = walk.step(record).err();
        if fault.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let fault = fault.or_else(|| walk.finish().err());
    fault.map_or(entry.accepted.count, |link| named(&link)).min(entry.whole()).max(entry.meta.base.count)
}

fn copy_branch(from: &dyn Backend, entry: &Entry, to: &dyn Backend) -> Result<Head, StoreError> {
    let (branch, number) = (entry.meta.id.clone(), entry.meta.number);
    let own = Extent { number, from: entry.meta.base.count, until: whole_count(from, entry) };
    to.commit(&[Change::Create { meta: Arc::clone(&entry.meta), note: Arc::clone(&entry.note) }])?;
    let mut head = entry.meta.base;
    let mut pending: Vec<Arc<[u8]>> = Vec::new();
    let (mut first, mut bytes, mut failed) = (head.count, 0, None);
    let commit = |pending: &mut Vec<Arc<[u8]>>, first: u64, head: Head| {
        let records = std::mem::take(pending);
        let change = Change::Append { branch: branch.clone(), number, first, records, head };
        to.commit(std::slice::from_ref(&change))
    };
    let _shorter_is_told_by_the_head = from.read(own, &mut |record| {
        let Ok(next) = head.follow(record) else { return ControlFlow::Break(()) };
        head = next;
        bytes += record.len();
        pending.push(record.into());
        if bytes >= COPY_BYTES {
            failed = commit(&mut pending, first, head).err();
            (first, bytes) = (head.count, 0);
        }
        if failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if !pending.is_empty() && failed.is_none() {
        failed = commit(&mut pending, first, head).err();
    }
    failed.map_or(Ok(head), Err)
}
