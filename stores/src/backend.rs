//! What differs between stores: where the bytes of committed changes go, and how records come back. Everything else (names, heads, order,
//! acknowledgements) is [`crate::front`]'s.

use std::ops::ControlFlow;
use std::sync::Arc;

use dayshift_engine::{BadLink, Head};
use serde::{Deserialize, Serialize};

use crate::branch::BranchId;
use crate::error::{Finding, StoreError};

/// One durable change, in the order of acceptance.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// A branch is made.
    Create { meta: Arc<BranchMeta>, note: Arc<[u8]> },
    /// Records are added to a branch's own part.
    Append { branch: BranchId, number: u64, first: u64, records: Vec<Arc<[u8]>>, head: Head },
    /// A note is replaced.
    Note { number: u64, note: Arc<[u8]> },
    /// A branch and its own records go.
    Discard { branch: BranchId, number: u64 },
}

/// What never changes about a branch. Stored as named MessagePack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BranchMeta {
    /// Its number in this store: numbers rise and are not given twice.
    pub(crate) number: u64,
    pub(crate) id: BranchId,
    /// The parent's number and how many of its records are shared.
    pub(crate) parent: Option<(u64, u64)>,
    /// Where its own part begins.
    pub(crate) base: Head,
}

impl BranchMeta {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        rmp_serde::to_vec_named(self).expect("plain data in memory always serialises")
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        rmp_serde::from_slice(bytes).ok()
    }
}

/// A branch as a backend found it when it opened.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    pub(crate) meta: BranchMeta,
    pub(crate) note: Arc<[u8]>,
    /// Where the branch's own records end, as stored.
    pub(crate) head: Head,
    /// Whether something stored about this branch was seen to be damaged.
    pub(crate) damage: Option<BadLink>,
    /// Whether some of its records came from a place that does not check, so that only a head kept apart can vouch for them.
    pub(crate) doubtful: bool,
}

/// All that a backend found when it opened.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) branches: Vec<Loaded>,
    /// The numbers and names of branches that were discarded for good.
    pub(crate) discarded: Vec<u64>,
    pub(crate) findings: Vec<Finding>,
}

/// A part of one branch's own records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub(crate) number: u64,
    pub(crate) from: u64,
    pub(crate) until: u64,
}

/// Where committed changes rest.
pub(crate) trait Backend: Send + Sync {
    /// Makes the changes durable, in order, all or none. Called by one thread at a time; after an error it is not called again.
    fn commit(&self, changes: &[Change]) -> Result<(), StoreError>;

    /// Shows the records of `extent`, all of which were committed. Stops early without an error where one is missing: the caller counts.
    fn read(
        &self,
        extent: Extent,
        visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, StoreError>;

    /// Leaves everything tidy before the store closes. Nothing acknowledged depends on it.
    fn close(&self) {}
}
