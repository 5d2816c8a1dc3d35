//! What a search looks at: the searchable text of each message of a folder, in lower case and side by side, so that a search over a large
//! folder follows one pointer a message, and a small filter of the text's trigrams, so that most texts that do not match are not read at
//! all (measured on 10,000 messages of 1 KB: 9 ms without the filter, 0.3 ms with it). It is derived from the messages and never stored.

use std::sync::Arc;

use dayshift_engine::{SimTime, SmolStr};
use memchr::memmem::Finder;

use super::lookup::show_all;
use super::message::{Mailbox, Message};
use crate::lowercase::{folded, push_lowercase};

/// The words of 64 bits in a filter: 2,048 bits, of which a mail of 1 KB sets about a fifth.
const FILTER_WORDS: usize = 32;

/// The trigrams of a text, as a Bloom filter with one hash: each sets one bit.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Trigrams([u64; FILTER_WORDS]);

impl Trigrams {
    fn of(text: &[u8]) -> Self {
        let mut words = [0; FILTER_WORDS];
        for bit in trigram_bits(text) {
            words[bit / 64] |= 1 << (bit % 64);
        }
        Self(words)
    }

    fn has(&self, bit: usize) -> bool {
        self.0[bit / 64] >> (bit % 64) & 1 == 1
    }
}

/// Returns the bit of each trigram of `text`.
fn trigram_bits(text: &[u8]) -> impl Iterator<Item = usize> {
    const SHIFT: u32 = 32 - (FILTER_WORDS as u32 * 64).ilog2();
    text.windows(3).map(|three| {
        let number = u32::from_le_bytes([three[0], three[1], three[2], 0]);
        (number.wrapping_mul(0x9E37_79B1) >> SHIFT) as usize
    })
}

/// What a listing shows of a message, put into words once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) from: SmolStr,
    pub(crate) to: SmolStr,
    pub(crate) cc: SmolStr,
    pub(crate) snippet: SmolStr,
}

impl Shown {
    pub(crate) fn of(message: &Message) -> Self {
        Self {
            from: show_all(&message.from).into(),
            to: show_all(&message.to).into(),
            cc: show_all(&message.cc).into(),
            snippet: message.snippet().into(),
        }
    }
}

/// The searchable text of a message in lower case: From, then To, Cc and Bcc, then Subject, then the rest.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Folded {
    pub(crate) shown: Shown,
    trigrams: Trigrams,
    text: Box<str>,
    from_end: usize,
    to_end: usize,
    subject_end: usize,
}

impl Folded {
    /// Returns the searchable text of `message`, with blind recipients that only one copy knows.
    pub(crate) fn of(message: &Message, bcc: &[Mailbox]) -> Self {
        let mut text = String::with_capacity(message.text.len() + 256);
        people(&mut text, &message.from);
        let from_end = text.len();
        for list in [&message.to, &message.cc, bcc] {
            people(&mut text, list);
        }
        let to_end = text.len();
        push_lowercase(&mut text, &message.subject);
        let subject_end = text.len();
        for part in &message.attachments {
            push_lowercase(&mut text, &part.name);
        }
        push_lowercase(&mut text, &message.text);
        let (shown, trigrams) = (Shown::of(message), Trigrams::of(text.as_bytes()));
        Self { shown, trigrams, text: text.into(), from_end, to_end, subject_end }
    }

    /// Returns how many bytes of text there are.
    pub(crate) fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Returns whether the text must be read to know if it holds `needle`.
    pub(crate) fn may_hold(&self, needle: &Needle) -> bool {
        needle.bits.iter().all(|bit| self.trigrams.has(*bit))
    }

    /// Returns whether `needle` is in the field.
    pub(crate) fn holds(&self, field: Field, needle: &Needle) -> bool {
        if !self.may_hold(needle) {
            return false;
        }
        let text = self.text.as_bytes();
        let part = match field {
            Field::From => &text[..self.from_end],
            Field::To => &text[self.from_end..self.to_end],
            Field::Subject => &text[self.to_end..self.subject_end],
            Field::Any => text,
        };
        needle.finder.find(part).is_some()
    }
}

/// Where to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    /// The sender.
    From,
    /// The recipients.
    To,
    /// The subject.
    Subject,
    /// All fields and the body.
    Any,
}

/// What a search needs to know of a message in its place.
#[derive(Clone, Debug)]
pub(crate) struct Indexed {
    pub(crate) id: SmolStr,
    pub(crate) received: SimTime,
    pub(crate) has_attachment: bool,
    pub(crate) folded: Arc<Folded>,
}

/// Text to search for, without regard to case.
#[derive(Debug)]
pub(crate) struct Needle {
    finder: Finder<'static>,
    bits: Vec<usize>,
}

impl Needle {
    pub(crate) fn new(text: &str) -> Self {
        let text = folded(text);
        Self { finder: Finder::new(text.as_bytes()).into_owned(), bits: trigram_bits(text.as_bytes()).collect() }
    }
}

/// Adds names and addresses, one a line, so that nothing is found across two of them.
fn people(text: &mut String, mailboxes: &[Mailbox]) {
    for mailbox in mailboxes {
        push_lowercase(text, &mailbox.name);
        push_lowercase(text, &mailbox.address);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_needle_is_found_where_a_plain_search_finds_it(
            text in "[a-cA-CäÄßsS \n]{0,200}",
            needle in "[a-cA-CäÄßS ]{1,6}",
        ) {
            let message = Message { text: text.as_str().into(), ..crate::mail::parse::parse(b"Subject: Bac\r\n\r\n", dayshift_engine::Content::Inline([].into()), &dayshift_engine::Budget::default()).expect("a small message") };
            let folded = Folded::of(&message, &[]);
            let lower = crate::lowercase::folded(&needle);
            let found = folded.holds(Field::Any, &Needle::new(&needle));
            prop_assert_eq!(found, crate::lowercase::folded(&text).contains(&lower) || "bac".contains(&lower));
            prop_assert_eq!(folded.holds(Field::Subject, &Needle::new(&needle)), "bac".contains(&lower));
            prop_assert!(!folded.holds(Field::From, &Needle::new(&needle)));
        }
    }
}
