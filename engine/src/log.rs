//! A log in memory: stored records, structurally shared between forks. The only truth; everything else is folded from it.

use std::sync::Arc;

use crate::chain::{BadLink, Head, verify_chain};
use crate::codec::{CodecError, Stored};
use crate::id::Seq;

/// The append-only chain of stored records of an episode. A clone shares everything.
#[derive(Clone, Debug, Default)]
pub struct Log {
    records: imbl::Vector<Arc<[u8]>>,
    head: Head,
}

impl Log {
    /// Returns an empty log.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns where the log ends.
    #[must_use]
    pub fn head(&self) -> Head {
        self.head
    }

    /// Returns how many records there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Returns the stored bytes of record `seq`.
    #[must_use]
    pub fn get(&self, seq: Seq) -> Option<&Arc<[u8]>> {
        self.records.get(usize::try_from(seq.get()).ok()?)
    }

    /// Returns the stored records from position `from` on.
    pub fn since(&self, from: u64) -> impl Iterator<Item = &Arc<[u8]>> {
        self.records.iter().skip(usize::try_from(from).unwrap_or(usize::MAX))
    }

    /// Returns record `seq` with its envelope read.
    ///
    /// # Errors
    ///
    /// [`CodecError::Envelope`] when there is no such record.
    pub fn stored(&self, seq: Seq) -> Result<Stored<'_>, CodecError> {
        Stored::new(self.get(seq).ok_or(CodecError::Envelope)?)
    }

    /// Adds a stored record.
    ///
    /// # Errors
    ///
    /// [`BadLink`] when it does not follow the head.
    pub fn push(&mut self, record: Arc<[u8]>) -> Result<(), BadLink> {
        self.head = self.head.follow(&record)?;
        self.records.push_back(record);
        Ok(())
    }

    /// Walks the chain up to the head.
    ///
    /// # Errors
    ///
    /// [`BadLink`] for the first record at fault.
    pub fn verify(&self) -> Result<(), BadLink> {
        verify_chain(self.records.iter().map(|record| &**record), Head::default(), self.head)
    }
}
