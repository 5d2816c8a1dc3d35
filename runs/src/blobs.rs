//! Blobs of an episode that is played or read from a store: memory first, the store behind it.

use std::sync::{Arc, Mutex, PoisonError};

use dayshift_engine::{BlobId, Blobs, MemoryBlobs};
use dayshift_stores::Store;

/// Blobs in memory in front of those of a store. What is put stays in memory until a record that names it is committed, which takes it
/// to the store ([`crate::Recorder`]).
pub struct StoreBlobs {
    memory: MemoryBlobs,
    store: Arc<dyn Store>,
    damage: Mutex<Option<String>>,
}

impl StoreBlobs {
    /// Returns blobs in front of those of `store`.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { memory: MemoryBlobs::new(), store, damage: Mutex::new(None) }
    }

    /// Returns what the store said when it could not give a blob that it should have, if that happened.
    #[must_use]
    pub fn damage(&self) -> Option<String> {
        self.damage.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Blobs for StoreBlobs {
    fn get(&self, id: BlobId) -> Option<Arc<[u8]>> {
        if let Some(content) = self.memory.get(id) {
            return Some(content);
        }
        match self.store.blob(id) {
            Ok(Some(content)) => {
                self.memory.put(Arc::clone(&content));
                Some(content)
            }
            Ok(None) => None,
            Err(error) => {
                *self.damage.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
                None
            }
        }
    }

    fn put(&self, content: Arc<[u8]>) -> BlobId {
        self.memory.put(content)
    }
}
