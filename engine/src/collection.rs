//! Traced storage: persistent (structurally shared) maps and cells whose reads note themselves in a [`Frame`] and whose writes
//! remember the record that made them. All state of a world lives in these, so that a fork costs a few reference counts and no read
//! can forget to be traced.
//!
//! `imbl::OrdMap` was chosen over `rpds` for its `diff` and its faster reads; hash maps lose the order.

use std::fmt::{Display, Write as _};
use std::sync::Arc;

use imbl::OrdMap;
use imbl::ordmap::DiffItem;
use smol_str::{SmolStr, SmolStrBuilder};

use crate::access::{Frame, Key, ReadKind};
use crate::digest::{Canonical, Graded, StateDigest};
use crate::id::{Actor, Seq};
use crate::time::SimTime;

/// What `apply` knows of the record whose events it applies. `apply` may not refuse, draw, or look at a clock but this one.
pub struct Applying<'a> {
    /// The record's position: the writer of everything that changes now.
    pub seq: Seq,
    /// The record's simulated time.
    pub time: SimTime,
    /// Who made the record.
    pub actor: &'a Actor,
    writes: Option<&'a mut Vec<Key>>,
    canonical: &'a mut Canonical,
}

impl<'a> Applying<'a> {
    /// Returns a context for the events of record `seq`. The keys that they write are added to `writes`, if somebody asks for them.
    pub fn new(
        seq: Seq,
        time: SimTime,
        actor: &'a Actor,
        writes: Option<&'a mut Vec<Key>>,
        canonical: &'a mut Canonical,
    ) -> Self {
        Self { seq, time, actor, writes, canonical }
    }

    fn digest_of<V: Graded>(&mut self, prefix: &str, key: &dyn Display, value: &V) -> StateDigest {
        self.canonical.clear();
        // Writing into memory cannot fail.
        let _ = write!(self.canonical, "{prefix}{key}\0");
        value.canonical(self.canonical);
        self.canonical.digest()
    }
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    written: Seq,
    digest: StateDigest,
}

impl<V: Clone> Clone for Entry<V> {
    fn clone(&self) -> Self {
        Self { value: self.value.clone(), written: self.written, digest: self.digest }
    }
}

/// Two entries are equal when they hold the same; who wrote it, and when, makes no difference between two worlds.
impl<V: PartialEq> PartialEq for Entry<V> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

/// A traced map. Its prefix starts the keys of its pieces: `prefix` + member for an item, `prefix` for membership,
/// `prefix` + `*` for a scan.
#[derive(Clone, Debug)]
pub struct Collection<K: Ord, V> {
    prefix: SmolStr,
    graded: bool,
    entries: OrdMap<K, Arc<Entry<V>>>,
    removed: OrdMap<K, Seq>,
    membership: Seq,
    content: Seq,
    digest: StateDigest,
}

impl<K: Ord + Clone + Display, V: Clone + PartialEq + Graded> Collection<K, V> {
    /// Returns an empty collection whose content counts in the world digest.
    #[must_use]
    pub fn new(prefix: impl Into<SmolStr>) -> Self {
        Self {
            prefix: prefix.into(),
            graded: true,
            entries: OrdMap::new(),
            removed: OrdMap::new(),
            membership: Seq::default(),
            content: Seq::default(),
            digest: StateDigest::default(),
        }
    }

    /// Returns an empty collection that the world digest leaves out: reading marks, indexes.
    #[must_use]
    pub fn ungraded(prefix: impl Into<SmolStr>) -> Self {
        Self { graded: false, ..Self::new(prefix) }
    }

    /// Returns the start of this collection's keys, which is also the key of its membership.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Returns the member `key` and notes the read, also when there is none: absence is a fact too.
    pub fn get(&self, frame: &Frame, key: &K) -> Option<&V> {
        let found = self.entries.get(key);
        let written = found.map_or_else(|| self.last_removed(key), |entry| entry.written);
        frame.note(ReadKind::Item, self.key_of(key), written);
        found.map(|entry| &entry.value)
    }

    /// Returns whether there is a member `key` and notes the read of that item.
    pub fn contains(&self, frame: &Frame, key: &K) -> bool {
        self.get(frame, key).is_some()
    }

    /// Returns the names of all members in order, and notes the read of the membership. The items that are then shown are to be
    /// read with [`Self::get`].
    pub fn list(&self, frame: &Frame) -> impl DoubleEndedIterator<Item = &K> {
        frame.note(ReadKind::Membership, Key::new(self.prefix.clone()), self.membership);
        self.entries.keys()
    }

    /// Returns all members in order, and notes that the membership and the content of every member was looked at. The items that
    /// matched are to be read with [`Self::get`].
    pub fn scan(&self, frame: &Frame) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        frame.note(ReadKind::Membership, Key::new(self.prefix.clone()), self.membership);
        frame.note(ReadKind::Scan, self.scan_key(), self.content);
        self.entries.iter().map(|(key, entry)| (key, &entry.value))
    }

    /// Returns the member `key` without noting a read: for `apply`, indexes and dumps, never for deciding.
    #[must_use]
    pub fn peek(&self, key: &K) -> Option<&V> {
        self.entries.get(key).map(|entry| &entry.value)
    }

    /// Returns all members in order without noting a read: for `apply`, indexes and dumps, never for deciding.
    pub fn peek_all(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.entries.iter().map(|(key, entry)| (key, &entry.value))
    }

    /// Returns the members from `range` in order without noting a read: for `apply`, indexes and dumps, never for deciding.
    pub fn peek_range<R: std::ops::RangeBounds<K>>(&self, range: R) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.entries.range(range).map(|(key, entry)| (key, &entry.value))
    }

    /// Returns which record last wrote the member `key`; 0 if none did.
    #[must_use]
    pub fn written(&self, key: &K) -> Seq {
        self.entries.get(key).map_or_else(|| self.last_removed(key), |entry| entry.written)
    }

    /// Returns how many members there are, without noting a read.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether there are no members, without noting a read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the digest of the graded content; zero for an ungraded collection.
    #[must_use]
    pub fn digest(&self) -> StateDigest {
        self.digest
    }

    /// Puts `value` under `key`, whatever was there.
    pub fn insert(&mut self, applying: &mut Applying<'_>, key: K, value: V) {
        let digest = self.digest_of(applying, &key, &value);
        let entry = Arc::new(Entry { value, written: applying.seq, digest });
        self.note_write(applying, &key);
        self.digest += digest;
        if !self.removed.is_empty() {
            self.removed.remove(&key);
        }
        match self.entries.insert(key, entry) {
            Some(old) => self.digest -= old.digest,
            None => self.note_membership(applying),
        }
    }

    /// Changes the member `key` in place. Returns whether there was one.
    pub fn update(&mut self, applying: &mut Applying<'_>, key: &K, change: impl FnOnce(&mut V)) -> bool {
        let Some(slot) = self.entries.get_mut(key) else { return false };
        let entry = Arc::make_mut(slot);
        change(&mut entry.value);
        let old = entry.digest;
        if self.graded {
            entry.digest = applying.digest_of(&self.prefix, key, &entry.value);
        }
        entry.written = applying.seq;
        let new = entry.digest;
        self.digest += new;
        self.digest -= old;
        self.note_write(applying, key);
        true
    }

    /// Takes the member `key` out. Returns it, if there was one.
    pub fn remove(&mut self, applying: &mut Applying<'_>, key: &K) -> Option<V> {
        let old = self.entries.remove(key)?;
        self.digest -= old.digest;
        self.removed.insert(key.clone(), applying.seq);
        self.note_write(applying, key);
        self.note_membership(applying);
        Some(Arc::try_unwrap(old).map_or_else(|shared| shared.value.clone(), |entry| entry.value))
    }

    /// Returns what differs from `other`, in key order: the key, what is here, what is there. Parts that both share are skipped.
    pub fn differences<'a>(&'a self, other: &'a Self) -> Vec<(Key, Option<&'a V>, Option<&'a V>)> {
        self.entries
            .diff(&other.entries)
            .map(|difference| match difference {
                DiffItem::Add(key, there) => (self.key_of(key), None, Some(&there.value)),
                DiffItem::Remove(key, here) => (self.key_of(key), Some(&here.value), None),
                DiffItem::Update { old: (key, here), new: (_, there) } => {
                    (self.key_of(key), Some(&here.value), Some(&there.value))
                }
            })
            .collect()
    }

    /// Returns the key of the member `key`.
    #[must_use]
    pub fn key_of(&self, key: &K) -> Key {
        let mut text = SmolStrBuilder::new();
        text.push_str(&self.prefix);
        // Writing into memory cannot fail.
        let _ = write!(text, "{key}");
        Key::new(text.finish())
    }

    fn scan_key(&self) -> Key {
        let mut text = SmolStrBuilder::new();
        text.push_str(&self.prefix);
        text.push('*');
        Key::new(text.finish())
    }

    fn last_removed(&self, key: &K) -> Seq {
        self.removed.get(key).copied().unwrap_or_default()
    }

    fn digest_of(&self, applying: &mut Applying<'_>, key: &K, value: &V) -> StateDigest {
        if self.graded { applying.digest_of(&self.prefix, key, value) } else { StateDigest::default() }
    }

    fn note_write(&mut self, applying: &mut Applying<'_>, key: &K) {
        self.content = applying.seq;
        if applying.writes.is_some() {
            let keys = [self.key_of(key), self.scan_key()];
            if let Some(writes) = &mut applying.writes {
                writes.extend(keys);
            }
        }
    }

    fn note_membership(&mut self, applying: &mut Applying<'_>) {
        self.membership = applying.seq;
        if let Some(writes) = &mut applying.writes {
            writes.push(Key::new(self.prefix.clone()));
        }
    }
}

/// One traced value that is always there.
#[derive(Clone, Debug)]
pub struct Tracked<T> {
    key: Key,
    value: Arc<T>,
    written: Seq,
}

impl<T: Clone> Tracked<T> {
    /// Returns a cell named `key` that holds `value` since the beginning.
    #[must_use]
    pub fn new(key: Key, value: T) -> Self {
        Self { key, value: Arc::new(value), written: Seq::default() }
    }

    /// Returns the value and notes the read.
    pub fn get(&self, frame: &Frame) -> &T {
        frame.note(ReadKind::Item, self.key.clone(), self.written);
        &self.value
    }

    /// Returns the value without noting a read: for `apply`, indexes and dumps, never for deciding.
    #[must_use]
    pub fn peek(&self) -> &T {
        &self.value
    }

    /// Replaces the value.
    pub fn set(&mut self, applying: &mut Applying<'_>, value: T) {
        self.value = Arc::new(value);
        self.written = applying.seq;
        if let Some(writes) = &mut applying.writes {
            writes.push(self.key.clone());
        }
    }
}
