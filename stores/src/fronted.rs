//! Lets every public store be a [`Store`] through the part that all of them share.

use std::ops::ControlFlow;
use std::sync::Arc;

use dayshift_engine::{BlobId, Head};

use crate::branch::{BranchId, BranchInfo, NewBranch};
use crate::error::{Finding, StoreError};
use crate::front::Front;
use crate::store::{Append, Store, Ticket};

/// A store that is a [`Front`] over some backend.
pub(crate) trait Fronted: Send + Sync {
    fn front(&self) -> &Front;
}

/// Implements [`Store`] for stores that are a front.
macro_rules! store_through_front {
    ($($store:ty),*) => {$(
        impl Store for $store {
            fn create(&self, new: NewBranch) -> Result<(), StoreError> {
                self.front().create(new)
            }

            fn append(&self, batch: Append) -> Result<Ticket, StoreError> {
                self.front().append(batch)
            }

            fn read(
                &self,
                branch: &BranchId,
                from: u64,
                visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
            ) -> Result<(), StoreError> {
                self.front().read(branch, from, visit)
            }

            fn head(&self, branch: &BranchId) -> Result<Head, StoreError> {
                self.front().head(branch)
            }

            fn branches(&self) -> Result<Vec<BranchInfo>, StoreError> {
                self.front().branches()
            }

            fn set_note(&self, branch: &BranchId, note: Vec<u8>) -> Result<(), StoreError> {
                self.front().set_note(branch, note)
            }

            fn discard(&self, branch: &BranchId) -> Result<(), StoreError> {
                self.front().discard(branch)
            }

            fn verify(&self, branch: &BranchId, progress: &mut dyn FnMut(u64)) -> Result<Head, StoreError> {
                self.front().verify(branch, progress)
            }

            fn blob(&self, id: BlobId) -> Result<Option<Arc<[u8]>>, StoreError> {
                self.front().blob(id)
            }

            fn put_blob(&self, content: &Arc<[u8]>) -> Result<BlobId, StoreError> {
                self.front().put_blob(content)
            }

            fn findings(&self) -> Vec<Finding> {
                self.front().findings()
            }
        }
    )*};
}

store_through_front!(
    crate::memory_store::MemoryStore,
    crate::segment_store::SegmentStore,
    crate::sled_store::SledStore
);
