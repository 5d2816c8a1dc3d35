//! Access tracing: which pieces of the world were read to decide something, found by storage and not declared by authors.
//!
//! A [`Frame`] is open while a call is decided or a check evaluated. Storage ([`crate::Collection`], [`crate::Tracked`]) notes
//! in it the key of every piece that was read, with the position of the record that last wrote it: a read-after-write edge. The frame
//! also holds the [`Budget`] that the decision draws on.

use std::cell::{Cell, RefCell};
use std::fmt;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::budget::Budget;
use crate::id::{BlobId, Seq};

/// The name of a readable piece of the world: an item (`files:/a.txt`), a collection's membership (`files:/`), or the content of
/// all its members (`files:/*`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Key(SmolStr);

impl Key {
    /// Returns the newtype over `text`.
    #[must_use]
    pub fn new(text: impl Into<SmolStr>) -> Self {
        Self(text.into())
    }

    /// Returns the bare text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// What kind of reading a read was. The order is that of precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadKind {
    /// One piece, present or absent.
    Item,
    /// Which members a collection has, so that absence is a dependency too.
    Membership,
    /// The content of every member, as a search reads it. Credit does not follow scans; dependency-closed replay compares them.
    Scan,
}

/// One read: what, how, and which record last wrote it (0: there since the beginning, or never written).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Read {
    /// The piece that was read.
    pub key: Key,
    /// How it was read.
    pub kind: ReadKind,
    /// The record that last wrote it.
    pub written: Seq,
}

/// The open notebook of one decision or evaluation. Not shared between threads; interior mutability lets `&self` readers note.
#[derive(Debug, Default)]
pub struct Frame {
    reads: RefCell<Vec<Read>>,
    blobs: RefCell<Vec<BlobId>>,
    causes: RefCell<Vec<Seq>>,
    untracked: Cell<bool>,
    missing: Cell<Option<BlobId>>,
    budget: Budget,
}

impl Frame {
    /// Returns an empty frame.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns an empty frame whose decision may cost at most `budget`.
    #[must_use]
    pub fn with_budget(budget: Budget) -> Self {
        Self { budget, ..Self::default() }
    }

    /// Returns what the decision may still cost.
    #[must_use]
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Notes that `key` was read, last written by `written`.
    pub fn note(&self, kind: ReadKind, key: Key, written: Seq) {
        self.reads.borrow_mut().push(Read { key, kind, written });
    }

    /// Notes that something was read which no key stands for. Credit then reports that part as unattributed.
    pub fn note_untracked(&self) {
        self.untracked.set(true);
    }

    /// Notes explicit lineage: what is being decided derives from what record `cause` did.
    pub fn note_cause(&self, cause: Seq) {
        self.causes.borrow_mut().push(cause);
    }

    /// Notes that the record being decided refers to the blob `id`, which then travels with the log.
    pub fn note_blob(&self, id: BlobId) {
        self.blobs.borrow_mut().push(id);
    }

    /// Notes that the blob `id` should be there and is not: the store is damaged, and the decision must not be recorded.
    pub fn note_missing(&self, id: BlobId) {
        self.missing.set(Some(id));
    }

    /// Closes the frame. Everything comes out sorted and without repeats, so that the order of reading never shows.
    #[must_use]
    pub fn close(self) -> Accesses {
        fn tidy<T: Ord>(cell: RefCell<Vec<T>>) -> Vec<T> {
            let mut items = cell.into_inner();
            if items.len() > 1 {
                items.sort_unstable();
                items.dedup();
            }
            items
        }
        Accesses {
            reads: tidy(self.reads),
            blobs: tidy(self.blobs),
            causes: tidy(self.causes),
            untracked: self.untracked.get(),
            missing: self.missing.get(),
        }
    }
}

/// What a frame held when it closed: sorted, without repeats.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accesses {
    /// What was read.
    pub reads: Vec<Read>,
    /// Which blobs the record refers to.
    pub blobs: Vec<BlobId>,
    /// Explicit lineage.
    pub causes: Vec<Seq>,
    /// Whether something was read that no key stands for.
    pub untracked: bool,
    /// A blob that should be there and is not.
    pub missing: Option<BlobId>,
}
