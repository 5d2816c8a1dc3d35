//! The walk of [`dayshift_engine::verify_chain`] over records that come one at a time, so that a log of any length verifies in the memory of
//! two records. It says the same as the engine's walk about every log, which a property test holds it to.

use dayshift_engine::{BadLink, Envelope, Head, RecordHash, Seq};

/// A chain that is being walked.
#[derive(Debug)]
pub(crate) struct ChainWalk {
    start: Head,
    end: Head,
    head: Head,
    /// A record that did not follow the one before it: the next one decides which of the two was altered.
    suspect: Option<RecordHash>,
}

impl ChainWalk {
    /// Starts a walk after `start` that should end at `end`.
    pub(crate) fn new(start: Head, end: Head) -> Self {
        Self { start, end, head: start, suspect: None }
    }

    /// Returns how far the walk has come.
    pub(crate) fn head(&self) -> Head {
        self.head
    }

    /// Returns whether the last record did not follow, and the next one decides which was altered.
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.suspect.is_some()
    }

    /// Takes the next record.
    pub(crate) fn step(&mut self, record: &[u8]) -> Result<(), BadLink> {
        if let Some(hash) = self.suspect {
            let vouched = Envelope::of(record).is_some_and(|envelope| envelope.previous == hash);
            return Err(self.blame(vouched));
        }
        if self.head.count == self.end.count {
            let seq = Seq::new(self.head.count);
            return Err(BadLink::Position { seq, found: seq });
        }
        match self.head.follow(record) {
            Ok(next) => self.head = next,
            Err(BadLink::Previous { .. }) => self.suspect = Some(RecordHash::of(record)),
            Err(other) => return Err(other),
        }
        Ok(())
    }

    /// Ends the walk.
    pub(crate) fn finish(self) -> Result<Head, BadLink> {
        if let Some(hash) = self.suspect {
            return Err(self.blame(hash == self.end.hash));
        }
        if self.head.count < self.end.count {
            return Err(BadLink::Truncated { seq: Seq::new(self.head.count), expected: self.end.count });
        }
        if self.head.hash != self.end.hash {
            return Err(BadLink::Head { seq: Seq::new(self.head.count.saturating_sub(1)) });
        }
        Ok(self.head)
    }

    fn blame(&self, vouched: bool) -> BadLink {
        let at = self.head.count;
        BadLink::Previous { seq: Seq::new(if vouched && at > self.start.count { at - 1 } else { at }) }
    }
}

/// Returns the position of the record that `link` names.
pub(crate) fn named(link: &BadLink) -> u64 {
    match link {
        BadLink::Malformed { seq }
        | BadLink::Position { seq, .. }
        | BadLink::Previous { seq }
        | BadLink::Head { seq }
        | BadLink::Truncated { seq, .. } => seq.get(),
    }
}

#[cfg(test)]
mod tests {
    use dayshift_engine::verify_chain;
    use proptest::prelude::*;

    use super::*;
    use crate::sample::chain;

    fn walk(records: &[Vec<u8>], end: Head) -> Result<(), BadLink> {
        let mut walk = ChainWalk::new(Head::default(), end);
        for record in records {
            walk.step(record)?;
        }
        walk.finish().map(|_| ())
    }

    proptest! {
        #[test]
        fn the_walk_says_what_the_engine_says(
            count in 1_usize..6, victim in 0_usize..6, at in 0_usize..90, bit in 0_u8..8, gone in proptest::option::of(0_usize..6),
        ) {
            let (records, end) = chain(Head::default(), count, 20);
            let mut records: Vec<Vec<u8>> = records.iter().map(|record| record.to_vec()).collect();
            if let Some(byte) = records.get_mut(victim).and_then(|record| record.get_mut(at)) {
                *byte ^= 1 << bit;
            }
            if let Some(gone) = gone.filter(|&gone| gone < records.len()) {
                records.remove(gone);
            }
            let expected = verify_chain(records.iter().map(Vec::as_slice), Head::default(), end);
            prop_assert_eq!(walk(&records, end), expected);
        }
    }
}
