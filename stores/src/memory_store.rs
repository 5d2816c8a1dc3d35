//! The store that forgets: for training rollouts and tests. No thread, no disk; an append is durable as soon as it is accepted, for as long as
//! the process lives.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::{Arc, PoisonError, RwLock};

use crate::backend::{Backend, Change, Extent};
use crate::error::StoreError;
use crate::front::Front;
use crate::fronted::Fronted;

/// A store in memory.
pub struct MemoryStore {
    front: Front,
}

impl MemoryStore {
    /// Returns an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self { front: Front::in_memory(Box::new(Memory::default())) }
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("MemoryStore").finish_non_exhaustive()
    }
}

impl Fronted for MemoryStore {
    fn front(&self) -> &Front {
        &self.front
    }
}

/// Each branch's own records, and the position of the first.
#[derive(Default)]
struct Memory {
    branches: RwLock<BTreeMap<u64, Own>>,
}

#[derive(Default)]
struct Own {
    first: u64,
    records: Vec<Arc<[u8]>>,
}

impl Backend for Memory {
    fn commit(&self, changes: &[Change]) -> Result<(), StoreError> {
        let mut branches = self.branches.write().unwrap_or_else(PoisonError::into_inner);
        for change in changes {
            match change {
                Change::Create { meta, .. } => {
                    branches.insert(meta.number, Own { first: meta.base.count, records: Vec::new() });
                }
                Change::Append { number, records, .. } => {
                    branches.entry(*number).or_default().records.extend(records.iter().cloned());
                }
                Change::Discard { number, .. } => {
                    branches.remove(number);
                }
                Change::Note { .. } => {}
            }
        }
        Ok(())
    }

    fn read(
        &self,
        extent: Extent,
        visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, StoreError> {
        // The records are shared, not copied, so that a reader holds up no writer and may itself append.
        let records: Vec<Arc<[u8]>> = {
            let branches = self.branches.read().unwrap_or_else(PoisonError::into_inner);
            let Some(own) = branches.get(&extent.number) else { return Ok(ControlFlow::Continue(())) };
            let at = |position: u64| usize::try_from(position.saturating_sub(own.first)).unwrap_or(usize::MAX);
            let until = at(extent.until).min(own.records.len());
            own.records.get(at(extent.from)..until).unwrap_or_default().to_vec()
        };
        Ok(records.iter().try_for_each(|record| visit(record)))
    }
}
