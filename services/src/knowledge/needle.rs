//! Looking for text without regard to case. Plain ASCII, which nearly all text of an office is, is compared where it lies.

use crate::lowercase::{composed, folded};

/// A text that is looked for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Needle {
    lower: String,
    ascii: bool,
}

impl Needle {
    /// Returns what looks for `text`.
    pub(super) fn new(text: &str) -> Self {
        Self { lower: folded(text), ascii: text.is_ascii() }
    }

    /// Returns what is looked for, in lower case.
    pub(super) fn lower(&self) -> &str {
        &self.lower
    }

    /// Returns whether `text` has it in it.
    pub(super) fn is_in(&self, text: &str) -> bool {
        if !self.ascii || !text.is_ascii() {
            return folded(text).contains(&self.lower);
        }
        let (needle, text) = (self.lower.as_bytes(), text.as_bytes());
        let Some(first) = needle.first() else { return true };
        let Some(last_start) = text.len().checked_sub(needle.len()) else { return false };
        let starts = memchr::memchr2_iter(*first, first.to_ascii_uppercase(), &text[..=last_start]);
        starts.into_iter().any(|start| text[start..start + needle.len()].eq_ignore_ascii_case(needle))
    }

    /// Returns whether `text` starts with it.
    pub(super) fn starts(&self, text: &str) -> bool {
        match text.as_bytes().get(..self.lower.len()) {
            Some(head) if self.ascii && text.is_ascii() => head.eq_ignore_ascii_case(self.lower.as_bytes()),
            _ => folded(text).starts_with(&self.lower),
        }
    }

    /// Returns whether `text` ends with it.
    pub(super) fn ends(&self, text: &str) -> bool {
        folded(text).ends_with(&self.lower)
    }
}

/// Returns whether two names are the same but for the spelling of letters with marks, composed or decomposed.
pub(super) fn alike(left: &str, right: &str) -> bool {
    left == right || (!left.is_ascii() && !right.is_ascii() && composed(left) == composed(right))
}

/// Returns whether two titles are the same but for case and outer blanks.
pub(super) fn same(left: &str, right: &str) -> bool {
    let (left, right) = (left.trim(), right.trim());
    if left.is_ascii() && right.is_ascii() {
        return left.eq_ignore_ascii_case(right);
    }
    folded(left) == folded(right)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_finds_what_folded_text_has(text in "[aAbBäÄßİs ]{0,8}", needle in "[aAbBäÄßS ]{0,3}") {
            let (lower, wanted) = (folded(&text), folded(&needle));
            let needle = Needle::new(&needle);
            prop_assert_eq!(needle.is_in(&text), lower.contains(&wanted));
            prop_assert_eq!(needle.starts(&text), lower.starts_with(&wanted));
            prop_assert_eq!(needle.ends(&text), lower.ends_with(&wanted));
        }
    }
}
