//! What a store knows about its branches while it is open, and how that is squared with the heads that were kept apart. No bytes of records.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use dayshift_engine::{BadLink, Envelope, Head, Seq};

use crate::backend::{Backend, BranchMeta, Contents, Extent, Loaded};
use crate::branch::{BranchId, BranchInfo, Parent};
use crate::error::{Damage, Finding, StoreError};
use crate::heads::{Heads, Slot, SlotState, Standing};
use crate::store::Group;

/// One branch of an open store.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) meta: Arc<BranchMeta>,
    pub(crate) note: Arc<[u8]>,
    /// Where the branch ends, counting what is on its way to the disk.
    pub(crate) accepted: Head,
    /// Where the durable part ends; nothing while the branch itself is on its way.
    pub(crate) durable: Option<Head>,
    /// How many branches refer to this one.
    pub(crate) children: u64,
    pub(crate) damage: Option<Damage>,
    /// The commit that this branch waits for.
    pub(crate) last: Arc<Group>,
}

impl Entry {
    /// Returns how many records can be shared with a fork.
    pub(crate) fn whole(&self) -> u64 {
        match &self.damage {
            Some(Damage::Record { whole, .. }) => *whole,
            _ => self.accepted.count,
        }
    }
}

/// All branches.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    pub(crate) branches: BTreeMap<BranchId, Entry>,
    pub(crate) ids: BTreeMap<u64, BranchId>,
    pub(crate) next_number: u64,
}

impl Catalog {
    pub(crate) fn get(&self, branch: &BranchId) -> Result<&Entry, StoreError> {
        self.branches.get(branch).ok_or_else(|| StoreError::UnknownBranch { branch: branch.clone() })
    }

    pub(crate) fn get_mut(&mut self, branch: &BranchId) -> Result<&mut Entry, StoreError> {
        self.branches.get_mut(branch).ok_or_else(|| StoreError::UnknownBranch { branch: branch.clone() })
    }

    /// Returns the parts that make up the first `until` records of a branch, in order.
    pub(crate) fn extents(&self, meta: &BranchMeta, until: u64) -> Vec<Extent> {
        let mut extents = Vec::new();
        let (mut meta, mut until) = (meta, until);
        loop {
            if meta.base.count < until {
                extents.push(Extent { number: meta.number, from: meta.base.count, until });
            }
            // A parent is older. Altered bytes may say otherwise, and must not lead in a circle.
            let parent = meta.parent.filter(|&(number, _)| number < meta.number);
            let parent = parent.and_then(|(number, count)| Some((self.by_number(number)?, count)));
            let Some((entry, count)) = parent else { break };
            until = until.min(count);
            meta = &entry.meta;
        }
        extents.reverse();
        extents
    }

    pub(crate) fn by_number(&self, number: u64) -> Option<&Entry> {
        self.branches.get(self.ids.get(&number)?)
    }

    /// Adds a branch, and counts it at its parent.
    pub(crate) fn insert(&mut self, entry: Entry) {
        if let Some(parent) = self.parent_mut(&entry.meta) {
            parent.children += 1;
        }
        self.next_number = self.next_number.max(entry.meta.number + 1);
        self.ids.insert(entry.meta.number, entry.meta.id.clone());
        self.branches.insert(entry.meta.id.clone(), entry);
    }

    /// Takes a branch out, and its count from its parent.
    pub(crate) fn remove(&mut self, branch: &BranchId) -> Option<Entry> {
        let entry = self.branches.remove(branch)?;
        self.ids.remove(&entry.meta.number);
        if let Some(parent) = self.parent_mut(&entry.meta) {
            parent.children = parent.children.saturating_sub(1);
        }
        Some(entry)
    }

    fn parent_mut(&mut self, meta: &BranchMeta) -> Option<&mut Entry> {
        let id = self.ids.get(&meta.parent?.0)?;
        self.branches.get_mut(id)
    }

    /// Returns the branches in the order of making.
    pub(crate) fn list(&self) -> Vec<BranchInfo> {
        let entries = self.ids.values().filter_map(|id| self.branches.get(id));
        entries
            .map(|entry| BranchInfo {
                id: entry.meta.id.clone(),
                parent: entry
                    .meta
                    .parent
                    .and_then(|(number, count)| Some(Parent { branch: self.ids.get(&number)?.clone(), count })),
                head: entry.accepted,
                note: entry.note.to_vec(),
                rank: entry.meta.number,
            })
            .collect()
    }
}

/// What came of comparing a log with the heads kept apart.
#[derive(Debug)]
pub(crate) struct Squared {
    pub(crate) catalog: Catalog,
    pub(crate) findings: Vec<Finding>,
    /// Whether records are gone that no earlier rebuild already gave up.
    pub(crate) newly_damaged: bool,
}

/// Builds the catalog of what a backend holds, compares every branch with the head kept apart for it, and brings heads that lag up to date.
/// What does not fit is marked on the branch and reported.
pub(crate) fn reconcile(
    contents: Contents,
    backend: &dyn Backend,
    heads: &mut Heads,
    path: &Path,
) -> Result<Squared, StoreError> {
    let Contents { mut branches, discarded, mut findings } = contents;
    // The heads may be lost: a number that was given once is not given again all the same.
    let next_number = heads.count().max(discarded.iter().max().map_or(0, |last| last + 1));
    let mut catalog = Catalog { next_number, ..Catalog::default() };
    let mut newly_damaged = false;
    branches.sort_by_key(|loaded| loaded.meta.number);
    for &number in &discarded {
        // Where heads were lost, the numbers that are not given again are known from the log alone.
        if !matches!(heads.get(number), Standing::Whole(_)) {
            heads.set(number, &Slot::discarded());
        }
    }
    let known: BTreeSet<u64> = branches.iter().map(|loaded| loaded.meta.number).chain(discarded).collect();
    for loaded in branches {
        let number = loaded.meta.number;
        let damage = match inherited(&catalog, &loaded).or_else(|| own(&loaded)) {
            Some(damage) => Some(damage),
            None => match apart(&loaded, backend, heads)? {
                Apart::Fits => None,
                Apart::Unreadable => {
                    findings.push(Finding::HeadDerived { branch: loaded.meta.id.clone(), count: loaded.head.count });
                    None
                }
                Apart::Differs(damage) => Some(damage),
            },
        };
        if let Some(damage) = &damage {
            newly_damaged |= matches!(damage, Damage::Record { .. }) && !is_cut(heads, number);
            findings.push(damage.clone().into());
        } else {
            let slot = Slot { state: SlotState::Made, branch: loaded.meta.id.clone(), head: loaded.head };
            if heads.get(number) != Standing::Whole(slot.clone()) {
                heads.set(number, &slot);
            }
        }
        catalog.insert(Entry {
            meta: Arc::new(loaded.meta),
            note: loaded.note,
            accepted: loaded.head,
            durable: Some(loaded.head),
            children: 0,
            damage,
            last: Group::done(),
        });
    }
    for number in (0..heads.count()).filter(|number| !known.contains(number)) {
        match heads.get(number) {
            Standing::Whole(Slot { state: state @ (SlotState::Made | SlotState::Cut), branch, head }) => {
                newly_damaged |= state == SlotState::Made;
                findings.push(Damage::Branch { branch, count: head.count }.into());
            }
            Standing::Whole(Slot { state: SlotState::Intended | SlotState::Discarded, .. }) | Standing::Absent => {}
            Standing::Bad => {
                let reason = format!("the head of branch number {number}, which is not in the log, is unreadable");
                findings.push(Damage::File { path: path.join("heads"), at: number * 128, reason }.into());
            }
        }
    }
    heads.write()?;
    heads.sync()?;
    Ok(Squared { catalog, findings, newly_damaged })
}

fn is_cut(heads: &Heads, number: u64) -> bool {
    matches!(heads.get(number), Standing::Whole(Slot { state: SlotState::Cut, .. }))
}

/// Returns the damage that a branch has because the part it shares has it.
fn inherited(catalog: &Catalog, loaded: &Loaded) -> Option<Damage> {
    let (number, count) = loaded.meta.parent?;
    let branch = loaded.meta.id.clone();
    let truncated = |at: u64| BadLink::Truncated { seq: Seq::new(at), expected: count };
    let Some(parent) = catalog.by_number(number) else {
        return Some(Damage::Record { branch, link: truncated(0), whole: 0 });
    };
    let whole = parent.whole().min(parent.accepted.count);
    if whole >= count {
        return None;
    }
    let link = match &parent.damage {
        Some(Damage::Record { link, .. }) => *link,
        _ => truncated(whole),
    };
    Some(Damage::Record { branch, link, whole })
}

/// Returns the damage that the backend saw.
fn own(loaded: &Loaded) -> Option<Damage> {
    let link = loaded.damage?;
    let whole = crate::chain_walk::named(&link);
    Some(Damage::Record { branch: loaded.meta.id.clone(), link, whole })
}

/// What comparing a log with the head kept apart shows.
enum Apart {
    Fits,
    /// There is no head to compare with: the log says where it ends by itself.
    Unreadable,
    Differs(Damage),
}

/// Compares a log with the head kept apart.
fn apart(loaded: &Loaded, backend: &dyn Backend, heads: &Heads) -> Result<Apart, StoreError> {
    let (branch, log) = (loaded.meta.id.clone(), loaded.head);
    let slot = match heads.get(loaded.meta.number) {
        Standing::Whole(slot) if slot.branch == branch && slot.state != SlotState::Discarded => slot.head,
        Standing::Whole(_) | Standing::Bad | Standing::Absent => return Ok(Apart::Unreadable),
    };
    let link = if slot.count > log.count {
        Some(BadLink::Truncated { seq: Seq::new(log.count), expected: slot.count })
    } else if slot.count == log.count {
        (slot.hash != log.hash).then(|| BadLink::Head { seq: Seq::new(log.count.saturating_sub(1)) })
    } else if slot.count < loaded.meta.base.count {
        return Ok(Apart::Unreadable);
    } else if loaded.doubtful {
        Some(BadLink::Malformed { seq: Seq::new(slot.count) })
    } else {
        let extent = Extent { number: loaded.meta.number, from: slot.count, until: slot.count + 1 };
        let mut follows = false;
        let _stopped = backend.read(extent, &mut |record| {
            follows = Envelope::of(record).is_some_and(|envelope| envelope.previous == slot.hash);
            ControlFlow::Break(())
        })?;
        (!follows).then(|| BadLink::Previous { seq: Seq::new(slot.count.saturating_sub(1)) })
    };
    let damage = link.map(|link| Damage::Record { branch, whole: crate::chain_walk::named(&link), link });
    Ok(damage.map_or(Apart::Fits, Apart::Differs))
}
