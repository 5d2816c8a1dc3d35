//! Text as searches without regard to case compare it, and names as they are kept. Shared by the services; no service itself.
//!
//! Case is folded as Unicode has it (chapter 3.13, full folding: `STRASSE` is `Straße`), and a letter with a mark is one character whether it was
//! written as one or as two (normalization form C): file systems and keyboards differ in that, people do not see it. Of the crates for folding,
//! `unicase` was taken and not `caseless`: it is there already, for media types, and has the newer tables.

use std::borrow::Cow;

use unicase::UniCase;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Returns `text` with each letter and its marks as one character, as far as there is one.
pub(crate) fn composed(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.nfc().collect())
}

/// Returns `text` as it is compared without regard to case.
pub(crate) fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let folded = UniCase::unicode(composed(text)).to_folded_case();
    match composed(&folded) {
        Cow::Borrowed(_) => folded,
        Cow::Owned(composed) => composed,
    }
}

/// Adds `piece` to `text` as it is compared without regard to case, and a line end, so that no match spans two pieces.
pub(crate) fn push_lowercase(text: &mut String, piece: &str) {
    if piece.is_ascii() {
        let start = text.len();
        text.push_str(piece);
        text[start..].make_ascii_lowercase();
    } else {
        text.push_str(&folded(piece));
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn spellings_of_one_text_are_one() {
        for same in
            [["Straße", "STRASSE"], ["Ångström", "A\u{30a}NGSTRO\u{308}M"], ["ΣΊΣΥΦΟΣ", "σίσυφος"], ["ﬁle", "FILE"]]
        {
            assert_eq!(folded(same[0]), folded(same[1]));
        }
        assert_ne!(folded("Bär"), folded("Bar"));
        assert_eq!(composed("re\u{301}sume\u{301}"), "résumé");
    }

    proptest! {
        #[test]
        fn folding_again_changes_nothing(text in "[a-cA-CäÄßẞİıΣσςﬁ\u{301}\u{308}\u{345} ]{0,12}") {
            let once = folded(&text);
            prop_assert_eq!(&folded(&once), &once);
            prop_assert_eq!(composed(&once), once.as_str());
            let mut pushed = String::new();
            push_lowercase(&mut pushed, &text);
            prop_assert_eq!(pushed, once + "\n");
        }
    }
}
