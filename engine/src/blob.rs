//! Content by its hash. Bytes up to [`CONTENT_INLINE_BYTES_MAX`] travel inside the event; larger ones are a blob, named by BLAKE3 over
//! its content and kept beside the log, once however many worlds hold it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::id::BlobId;

/// The size up to which content stays inside the event that carries it.
pub const CONTENT_INLINE_BYTES_MAX: usize = 1024;

/// A place where blobs rest while an episode runs. What is put can be got again, under the name that its content gives.
pub trait Blobs: Send + Sync {
    /// Returns the content of `id`, or nothing if this place does not hold it.
    fn get(&self, id: BlobId) -> Option<Arc<[u8]>>;

    /// Keeps `content` and returns its name.
    fn put(&self, content: Arc<[u8]>) -> BlobId;

    /// Returns the length of `id`'s content in bytes, or nothing if this place does not hold it.
    fn bytes(&self, id: BlobId) -> Option<u64> {
        self.get(id).map(|content| content.len() as u64)
    }
}

/// Blobs in memory, shared by all the episodes that hold the same `Arc`.
#[derive(Default)]
pub struct MemoryBlobs {
    base: Option<Arc<dyn Blobs>>,
    blobs: RwLock<BTreeMap<BlobId, Arc<[u8]>>>,
}

impl MemoryBlobs {
    /// Returns an empty place.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns an empty place that also shows what `base` holds, and keeps what is new to itself: what one episode makes goes away with it,
    /// while all share the scenario's.
    #[must_use]
    pub fn over(base: Arc<dyn Blobs>) -> Self {
        Self { base: Some(base), blobs: RwLock::default() }
    }
}

impl fmt::Debug for MemoryBlobs {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("MemoryBlobs").finish_non_exhaustive()
    }
}

impl Blobs for MemoryBlobs {
    fn get(&self, id: BlobId) -> Option<Arc<[u8]>> {
        let own = self.blobs.read().unwrap_or_else(PoisonError::into_inner).get(&id).cloned();
        own.or_else(|| self.base.as_ref()?.get(id))
    }

    fn put(&self, content: Arc<[u8]>) -> BlobId {
        let id = BlobId::of(&content);
        if self.base.as_ref().is_some_and(|base| base.get(id).is_some()) {
            return id;
        }
        self.blobs.write().unwrap_or_else(PoisonError::into_inner).entry(id).or_insert(content);
        id
    }
}

/// The content of a file, a message or an attachment. Which form it takes depends on its length alone, so equal content is equal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// The bytes themselves.
    Inline(#[serde(with = "shared_bytes")] Arc<[u8]>),
    /// The name of a blob, and its length in bytes.
    Blob {
        /// The blob's name.
        id: BlobId,
        /// The blob's length.
        bytes: u64,
    },
}

impl Content {
    /// Returns the length in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Inline(bytes) => bytes.len() as u64,
            Self::Blob { bytes, .. } => *bytes,
        }
    }

    /// Returns the name that the content has or would have as a blob.
    #[must_use]
    pub fn id(&self) -> BlobId {
        match self {
            Self::Inline(bytes) => BlobId::of(bytes),
            Self::Blob { id, .. } => *id,
        }
    }
}

/// Serialises shared bytes as MessagePack's binary type.
mod shared_bytes {
    use super::{Arc, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &Arc<[u8]>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(bytes)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<[u8]>, D::Error> {
        serde_bytes::deserialize::<Vec<u8>, D>(deserializer).map(Arc::from)
    }
}
