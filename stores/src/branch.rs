//! What a store calls its logs. It knows a branch by its name, where it came from and where it ends; never what its records mean.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use dayshift_engine::Head;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;

/// The longest name of a branch, in bytes.
pub const BRANCH_ID_BYTES_MAX: usize = 64;

/// The largest note beside a branch, in bytes (1 MiB).
pub const NOTE_BYTES_MAX: usize = 1 << 20;

/// The name of a branch: 1 to [`BRANCH_ID_BYTES_MAX`] of the characters `a` to `z`, `0` to `9` and `-`. One branch is one episode's log, or a
/// prefix that several episodes share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BranchId(Arc<str>);

impl BranchId {
    /// Returns the name, if it is one.
    ///
    /// # Errors
    ///
    /// [`StoreError::BadBranchId`] when the text is empty, too long, or has other characters.
    pub fn new(text: impl AsRef<str>) -> Result<Self, StoreError> {
        let text = text.as_ref();
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if text.is_empty() || text.len() > BRANCH_ID_BYTES_MAX || !text.bytes().all(plain) {
            return Err(StoreError::BadBranchId { text: text.chars().take(BRANCH_ID_BYTES_MAX).collect() });
        }
        Ok(Self(text.into()))
    }

    /// Returns the bare name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BranchId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl FromStr for BranchId {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::new(text)
    }
}

impl TryFrom<String> for BranchId {
    type Error = StoreError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(text)
    }
}

impl From<BranchId> for String {
    fn from(id: BranchId) -> Self {
        id.0.as_ref().into()
    }
}

/// A branch's beginning: the first `count` records of another branch. The chain and the numbering go on from there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parent {
    /// The branch whose records are shared.
    pub branch: BranchId,
    /// How many of them.
    pub count: u64,
}

/// A branch that is to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewBranch {
    /// Its name, which no other branch of the store may have.
    pub id: BranchId,
    /// What it shares, if it is a fork.
    pub parent: Option<Parent>,
    /// Free bytes beside the log (the agent's name, a score): replaceable, and no part of the chain.
    pub note: Vec<u8>,
}

/// A branch as the store holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchInfo {
    /// Its name.
    pub id: BranchId,
    /// What it shares, if it is a fork.
    pub parent: Option<Parent>,
    /// Where it ends.
    pub head: Head,
    /// The bytes beside the log.
    pub note: Vec<u8>,
    /// Its rank in the order of making. Ranks of discarded branches are not given again before a compaction.
    pub rank: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_the_allowed_length_is_taken() {
        assert!(BranchId::new("a").is_ok());
        assert!(BranchId::new("9-".repeat(BRANCH_ID_BYTES_MAX / 2)).is_ok());
    }

    #[test]
    fn a_name_that_is_empty_or_too_long_or_of_other_characters_is_refused() {
        for bad in ["", &"a".repeat(BRANCH_ID_BYTES_MAX + 1), "A", "a/b", "..", "a b", "ä", "a\0"] {
            assert!(BranchId::new(bad).is_err(), "{bad:?}");
        }
    }
}
