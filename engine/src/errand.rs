//! What a world cannot know by itself. Some calls send the host on an errand, such as running a command: the host carries it out once, when the
//! episode is played, and what it brings back is recorded with the call. Re-execution takes it from the record, and the world decides on
//! it as it decides on anything else: purely.

use std::collections::BTreeMap;
use std::sync::Arc;

use smol_str::SmolStr;

use crate::blob::{Blobs, Content};
use crate::codec::{CodecError, Stored};
use crate::id::Seq;
use crate::time::SimTime;
use crate::value::Value;

/// What the host is sent for.
#[derive(Clone, Debug, PartialEq)]
pub struct Errand {
    /// What is to be done: a map whose `kind` says what sort of errand it is.
    pub order: Value,
    /// What the host needs to have at hand for it, in the order of the paths; a folder comes before what is in it.
    pub entries: Vec<ErrandEntry>,
}

/// A file or folder that the host needs for an errand.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrandEntry {
    /// The absolute path in the simulated workspace.
    pub path: SmolStr,
    /// The content; none for a folder.
    pub content: Option<Content>,
    /// The permission bits.
    pub mode: u32,
    /// When it was last changed, in simulated time.
    pub modified: SimTime,
}

/// The host as an episode sees it. A door hands it in; the core has none.
pub trait Host: Send + Sync {
    /// Carries out the errand of the call at `seq` and returns what it brought back, whatever that is: that something could not be done is
    /// an outcome too. Large content goes into `blobs`.
    fn carry_out(&self, seq: Seq, errand: &Errand, blobs: &dyn Blobs) -> Value;
}

/// What the errands of a log brought back, for executing it again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recorded {
    brought: BTreeMap<Seq, Value>,
}

impl Recorded {
    /// Reads it out of stored records.
    ///
    /// # Errors
    ///
    /// [`CodecError`] when a record does not decode or its blob is missing.
    pub fn of(records: &[Arc<[u8]>], blobs: &dyn Blobs) -> Result<Self, CodecError> {
        let mut brought = BTreeMap::new();
        for bytes in records {
            let stored = Stored::new(bytes)?;
            if let Some(payload) = stored.head()?.brought {
                brought.insert(stored.seq(), payload.load(stored.seq(), blobs)?);
            }
        }
        Ok(Self { brought })
    }
}

impl Host for Recorded {
    fn carry_out(&self, seq: Seq, _errand: &Errand, _blobs: &dyn Blobs) -> Value {
        self.brought.get(&seq).cloned().unwrap_or_default()
    }
}
