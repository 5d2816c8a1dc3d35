//! What the bytes of a log still hold, whatever happened to them: records are found by their envelopes and proven by the chain, forward from where a
//! branch begins and backward from the head kept apart. Only reads; neither the database nor the frames need to be whole.

pub(crate) mod rebuild;
pub(crate) mod scan;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

use dayshift_engine::{Head, RecordHash};

use crate::backend::BranchMeta;
use crate::branch::BranchId;
use crate::error::StoreError;
use crate::heads::{Heads, Slot, SlotState, Standing};

/// How far after the end of a record the next one names its hash: behind the length, the magic, the position and the time.
const NAMED_AT: u64 = 4 + 20;

/// How many bits of a hash may have flipped.
const FLIPPED_BITS_MAX: u32 = 8;

/// Where a record is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// Its file, as an index into [`Found::files`].
    pub(crate) file: usize,
    pub(crate) at: u64,
    pub(crate) bytes: usize,
    pub(crate) seq: u64,
    pub(crate) previous: RecordHash,
}

/// A note that was found. One whose checksum did not hold is better than none.
#[derive(Clone, Debug)]
pub(crate) struct FoundNote {
    pub(crate) checked: bool,
    pub(crate) stamp: u64,
    pub(crate) note: Arc<[u8]>,
}

/// All that was found in the bytes of a log.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) files: Vec<(PathBuf, Option<File>)>,
    /// Every record, by the hash of its bytes.
    pub(crate) records: BTreeMap<RecordHash, Piece>,
    /// The records that follow a record.
    pub(crate) next: BTreeMap<RecordHash, Vec<RecordHash>>,
    /// Which records are said to be a branch's own, at which positions.
    pub(crate) owned: BTreeMap<(u64, u64), RecordHash>,
    /// The records that a checksum vouches for.
    pub(crate) checked: BTreeSet<RecordHash>,
    /// The branches, and whether a checksum vouches for what is said about them.
    pub(crate) metas: BTreeMap<u64, (bool, BranchMeta)>,
    pub(crate) notes: BTreeMap<u64, FoundNote>,
    pub(crate) discarded: BTreeSet<u64>,
    /// Whether anything was found that a checksum vouches for. Values of the first versions have none.
    pub(crate) has_checks: bool,
}

/// What can be saved of one branch.
#[derive(Clone, Debug)]
pub(crate) struct Saved {
    pub(crate) meta: BranchMeta,
    pub(crate) note: Arc<[u8]>,
    /// Whether a checksum vouches for the note.
    pub(crate) note_checked: bool,
    /// Its own whole records, from its base on.
    pub(crate) whole: Vec<RecordHash>,
    /// Where those end.
    pub(crate) head: Head,
    /// The positions that are lost, if any.
    pub(crate) lost: Option<Range<u64>>,
    /// The records after the lost ones, up to the head kept apart.
    pub(crate) after: Vec<RecordHash>,
    /// The head kept apart, if it is whole.
    pub(crate) end: Option<Head>,
    /// Whether an earlier rebuild already said what is lost.
    pub(crate) is_known: bool,
}

impl Saved {
    /// Returns whether nothing of the branch was found but the head kept apart.
    pub(crate) fn is_gone(&self) -> bool {
        self.lost.is_some() && self.head.count == 0 && self.after.is_empty()
    }
}

impl Found {
    /// Returns the bytes of a record.
    pub(crate) fn record(&self, hash: RecordHash) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(piece) = self.records.get(&hash) else { return Ok(None) };
        let (path, file) = &self.files[piece.file];
        let mut bytes = vec![0; piece.bytes];
        let opened;
        let file = match file {
            Some(file) => file,
            None => {
                opened = File::open(path).map_err(StoreError::io("open", path))?;
                &opened
            }
        };
        file.read_exact_at(&mut bytes, piece.at).map_err(StoreError::io("read", path))?;
        // The file may have changed since it was looked at.
        Ok((RecordHash::of(&bytes) == hash).then_some(bytes))
    }

    /// Puts the branches together, as far as the chain proves them.
    pub(crate) fn recover(&self, heads: &Heads) -> Vec<Saved> {
        let numbers: BTreeSet<u64> = self.metas.keys().copied().chain(0..heads.count()).collect();
        let proof = self.proof();
        let mut saved: Vec<Saved> = Vec::new();
        for number in numbers {
            let slot = match heads.get(number) {
                Standing::Whole(slot) => Some(slot),
                Standing::Bad => None,
                // A place for its head is made before a branch is, so a number beyond them is an altered one, unless they are lost.
                Standing::Absent if heads.count() > 0 && !self.is_checked(number) => continue,
                Standing::Absent => None,
            };
            if let Some(branch) = self.branch(number, slot, &proof) {
                saved.push(branch);
            }
        }
        // Of two that have one name, an altered number made one.
        let vouched: BTreeSet<BranchId> = saved
            .iter()
            .filter(|saved| self.is_checked(saved.meta.number) || saved.end.is_some())
            .map(|saved| saved.meta.id.clone())
            .collect();
        let mut seen = BTreeSet::new();
        saved.retain(|saved| {
            let is_vouched = self.is_checked(saved.meta.number) || saved.end.is_some();
            (is_vouched || !vouched.contains(&saved.meta.id)) && seen.insert(saved.meta.id.clone())
        });
        saved
    }

    /// Returns whether a checksum vouches for what is said about a branch.
    fn is_checked(&self, number: u64) -> bool {
        self.metas.get(&number).is_some_and(|(checked, _)| *checked)
    }

    /// Returns whether a record stands where a branch is said to begin.
    fn has_base(&self, base: Head) -> bool {
        base == Head::default() || self.records.get(&base.hash).is_some_and(|piece| piece.seq + 1 == base.count)
    }

    /// Returns which records hang together with a genesis record, and whose own each is said to be.
    fn proof(&self) -> Proof {
        let mut in_order: Vec<(u64, RecordHash)> =
            self.records.iter().map(|(&hash, piece)| (piece.seq, hash)).collect();
        in_order.sort_unstable();
        let mut rooted = BTreeSet::new();
        for (seq, hash) in in_order {
            let previous = self.records[&hash].previous;
            let follows = self.records.get(&previous).is_some_and(|before| before.seq + 1 == seq);
            let is_genesis = seq == 0 && previous == RecordHash::default();
            if is_genesis || follows && rooted.contains(&previous) {
                rooted.insert(hash);
            }
        }
        let owners = self.owned.iter().map(|(&(number, _), &hash)| (hash, number)).collect();
        Proof { rooted, owners }
    }

    fn branch(&self, number: u64, slot: Option<Slot>, proof: &Proof) -> Option<Saved> {
        let state = slot.as_ref().map(|slot| slot.state);
        if self.discarded.contains(&number) || state == Some(SlotState::Discarded) {
            return None;
        }
        let is_credible = |found: &&(bool, BranchMeta)| {
            let (checked, meta) = *found;
            let fits = |slot: &Slot| slot.branch == meta.id && slot.head.count >= meta.base.count;
            *checked || self.has_base(meta.base) && slot.as_ref().is_none_or(fits)
        };
        let meta = self.metas.get(&number).filter(is_credible).map(|(_, meta)| meta.clone());
        let slot = slot.filter(|slot| slot.state != SlotState::Intended);
        // Without its description it is not known what a branch shares, but its whole history may be there.
        let bare = |slot: &Slot| BranchMeta { number, id: slot.branch.clone(), parent: None, base: Head::default() };
        let meta = meta.or_else(|| slot.as_ref().map(bare))?;
        let note = self.notes.get(&number);
        let mut saved = Saved {
            note: note.map(|found| Arc::clone(&found.note)).unwrap_or_default(),
            note_checked: note.is_some_and(|found| found.checked),
            head: meta.base,
            meta,
            whole: Vec::new(),
            lost: None,
            after: Vec::new(),
            end: slot.map(|slot| slot.head),
            is_known: state == Some(SlotState::Cut),
        };
        self.connect(&mut saved, proof);
        Some(saved)
    }

    /// Walks backward from the head kept apart and forward from the base until the two meet, or do not.
    fn connect(&self, saved: &mut Saved, proof: &Proof) {
        let number = saved.meta.number;
        let base_stands = saved.meta.base.count == 0 || proof.rooted.contains(&saved.meta.base.hash);
        let said_mine = |hash: RecordHash, seq: u64| self.owned.get(&(number, seq)) == Some(&hash);
        let maybe_mine = |hash: RecordHash, seq: u64| match self.owned.get(&(number, seq)) {
            Some(own) => *own == hash,
            None => proof.owners.get(&hash).is_none_or(|owner| *owner == number),
        };
        let Some(end) = saved.end.filter(|end| end.count >= saved.meta.base.count) else {
            if base_stands {
                self.forward(saved, u64::MAX, maybe_mine);
                self.drop_unvouched(saved, saved.meta.base.count);
            } else {
                self.cut_back(saved);
            }
            self.look_beyond(saved);
            return;
        };
        let mut tail = Vec::new();
        let mut from = end;
        while (!base_stands || from != saved.meta.base) && from.count > 0 {
            let Some(piece) = self.records.get(&from.hash).filter(|piece| piece.seq + 1 == from.count) else { break };
            tail.push(from.hash);
            from = Head { count: piece.seq, hash: piece.previous };
        }
        tail.reverse();
        if base_stands && from == saved.meta.base || from == Head::default() {
            if from != saved.meta.base {
                // What is said about the base is wrong: the whole history stands by itself.
                saved.meta = BranchMeta { parent: None, base: from, ..saved.meta.clone() };
            }
            (saved.whole, saved.head) = (tail, end);
            // Heads lag: what follows and is said to be the branch's own is too.
            self.forward(saved, u64::MAX, said_mine);
            self.drop_unvouched(saved, end.count);
            return;
        }
        // The record before `from` is not there by its hash: what stands at its position is not it.
        if base_stands {
            self.forward(saved, from.count.saturating_sub(1), maybe_mine);
            self.drop_unvouched(saved, saved.meta.base.count);
        } else {
            self.cut_back(saved);
        }
        let until = from.count.max(saved.head.count + 1);
        let skipped = usize::try_from(until - from.count).unwrap_or(usize::MAX).min(tail.len());
        saved.lost = Some(saved.head.count..until);
        saved.after = tail.split_off(skipped);
    }

    /// Looks for records that a branch without a head kept apart is said to have after its whole ones.
    fn look_beyond(&self, saved: &mut Saved) {
        let number = saved.meta.number;
        let mut beyond = self.owned.range((number, saved.head.count + 1)..=(number, u64::MAX));
        let is_there = |hash: &RecordHash, seq: u64| self.records.get(hash).is_some_and(|piece| piece.seq == seq);
        let Some((&(_, last), &hash)) = beyond.rfind(|((_, seq), hash)| is_there(hash, *seq)) else { return };
        saved.end = Some(Head { count: last + 1, hash });
        let (mut tail, mut from) = (Vec::new(), Head { count: last + 1, hash });
        while from.count > saved.head.count + 1 && is_there(&from.hash, from.count - 1) {
            tail.push(from.hash);
            from = self.before(from);
        }
        tail.reverse();
        saved.lost = Some(saved.head.count..from.count);
        saved.after = tail;
    }

    /// Cuts a branch back to the part of its parents' records that is there.
    fn cut_back(&self, saved: &mut Saved) {
        let mut numbers = Vec::new();
        let mut parent = saved.meta.parent;
        while let Some((number, _)) = parent {
            numbers.push(number);
            parent = self.metas.get(&number).and_then(|(_, meta)| meta.parent).filter(|(next, _)| *next < number);
        }
        let mut from = saved.meta.base;
        while let Some(piece) = self.records.get(&from.hash).filter(|piece| piece.seq + 1 == from.count) {
            from = Head { count: piece.seq, hash: piece.previous };
        }
        let mut head = Head::default();
        while head.count + 1 < from.count {
            let step = numbers.iter().find_map(|&number| {
                self.owned.get(&(number, head.count)).copied().filter(|hash| self.follows(*hash, head))
            });
            let Some(hash) = step.or_else(|| self.only_next(head)) else { break };
            head = Head { count: head.count + 1, hash };
        }
        if head.count > 0 && !self.is_vouched(head.hash) {
            head = self.before(head);
        }
        let parent = saved.meta.parent.map(|(number, count)| (number, count.min(head.count)));
        saved.meta.parent = parent.filter(|(_, count)| *count > 0);
        (saved.meta.base, saved.head) = (head, head);
    }

    /// Takes the last record back if it stands after position `sure` and nothing vouches for it: a record is proven by the one that follows it.
    fn drop_unvouched(&self, saved: &mut Saved, sure: u64) {
        if saved.head.count > sure && !self.is_vouched(saved.head.hash) {
            saved.whole.pop();
            saved.head = self.before(saved.head);
        }
    }

    fn before(&self, head: Head) -> Head {
        let previous = self.records.get(&head.hash).map_or(RecordHash::default(), |piece| piece.previous);
        Head { count: head.count - 1, hash: previous }
    }

    /// Returns whether a checksum vouches for a record, or the remains of the one that stood next to it, which names its hash. A few bits of that
    /// may have flipped too: no two hashes are as close by chance.
    fn is_vouched(&self, hash: RecordHash) -> bool {
        if self.checked.contains(&hash) {
            return true;
        }
        let Some(piece) = self.records.get(&hash) else { return false };
        let mut named = [0; 32];
        let at = piece.at + piece.bytes as u64 + NAMED_AT;
        let (path, file) = &self.files[piece.file];
        let is_read = match file {
            Some(file) => file.read_exact_at(&mut named, at).is_ok(),
            None => File::open(path).is_ok_and(|file| file.read_exact_at(&mut named, at).is_ok()),
        };
        let distance: u32 = named.iter().zip(hash.as_bytes()).map(|(a, b)| (a ^ b).count_ones()).sum();
        is_read && distance <= FLIPPED_BITS_MAX
    }

    fn follows(&self, hash: RecordHash, head: Head) -> bool {
        self.records.get(&hash).is_some_and(|piece| piece.seq == head.count && piece.previous == head.hash)
    }

    fn only_next(&self, head: Head) -> Option<RecordHash> {
        let mut candidates = self.next.get(&head.hash)?.iter().filter(|hash| self.follows(**hash, head));
        let only = candidates.next().copied();
        only.filter(|_| candidates.next().is_none())
    }

    /// Goes on from where `saved` ends, while exactly one record follows that is `mine`.
    fn forward(&self, saved: &mut Saved, limit: u64, mine: impl Fn(RecordHash, u64) -> bool) {
        while saved.head.count < limit {
            let head = saved.head;
            let Some(next) = self.next.get(&head.hash) else { break };
            let mut candidates =
                next.iter().copied().filter(|&hash| self.follows(hash, head) && mine(hash, head.count));
            let (Some(hash), None) = (candidates.next(), candidates.next()) else { break };
            saved.whole.push(hash);
            saved.head = Head { count: head.count + 1, hash };
        }
    }
}

/// What is known about all records together.
struct Proof {
    /// Those that hang together with a genesis record.
    rooted: BTreeSet<RecordHash>,
    owners: BTreeMap<RecordHash, u64>,
}
