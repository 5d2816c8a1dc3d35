//! Takes the records of a live episode to a store: each once, in order, with the blobs that they name.

use std::sync::Arc;

use dayshift_engine::codec::Stored;
use dayshift_engine::{Blobs, Episode, Head, World};
use dayshift_stores::{Append, BranchId, Store, Ticket};

use crate::error::RunError;
use crate::note::RunNote;

/// The store's end of one live episode.
pub struct Recorder {
    store: Arc<dyn Store>,
    branch: BranchId,
    recorded: Head,
    pending: Option<Ticket>,
}

impl Recorder {
    /// Returns a recorder that goes on at the end of `branch`.
    ///
    /// # Errors
    ///
    /// [`RunError::Store`] when the store does not know the branch.
    pub fn new(store: Arc<dyn Store>, branch: BranchId) -> Result<Self, RunError> {
        let recorded = store.head(&branch)?;
        Ok(Self { store, branch, recorded, pending: None })
    }

    /// Hands everything to the store that `episode` has and the store does not, without waiting.
    ///
    /// # Errors
    ///
    /// [`RunError::Store`] when the store refuses, [`RunError::Codec`] when a record does not decode.
    pub fn record<W: World>(&mut self, episode: &Episode<W>) -> Result<(), RunError> {
        if episode.log().head() == self.recorded {
            return Ok(());
        }
        let append = append_of(
            self.branch.clone(),
            self.recorded,
            episode.log().since(self.recorded.count),
            &**episode.blobs(),
        )?;
        self.pending = Some(self.store.append(append)?);
        self.recorded = episode.log().head();
        Ok(())
    }

    /// Waits until everything that was handed over is durable.
    ///
    /// # Errors
    ///
    /// [`RunError::Store`] when a write failed.
    pub fn wait(&mut self) -> Result<(), RunError> {
        match self.pending.take() {
            Some(ticket) => ticket.wait().map(|_| ()).map_err(RunError::from),
            None => Ok(()),
        }
    }

    /// Replaces the note beside the run.
    ///
    /// # Errors
    ///
    /// [`RunError::Store`] when the store refuses.
    pub fn annotate(&self, note: &RunNote) -> Result<(), RunError> {
        Ok(self.store.set_note(&self.branch, note.to_bytes())?)
    }
}

/// Returns the append that takes `records` to the end `after` of `branch`, with the blobs that they name.
///
/// # Errors
///
/// [`RunError::BlobMissing`] when a blob is not there, [`RunError::Codec`] when a record does not decode.
pub(crate) fn append_of<'a>(
    branch: BranchId,
    after: Head,
    records: impl IntoIterator<Item = &'a Arc<[u8]>>,
    blobs: &dyn Blobs,
) -> Result<Append, RunError> {
    let mut append = Append { branch, after, records: Vec::new(), blobs: Vec::new() };
    for record in records {
        for id in Stored::new(record)?.head()?.blobs {
            append.blobs.push((id, blobs.get(id).ok_or(RunError::BlobMissing(id))?));
        }
        append.records.push(Arc::clone(record));
    }
    Ok(append)
}
