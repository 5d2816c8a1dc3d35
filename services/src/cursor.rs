//! Where a page of a listing ended: what its last row was ordered by when it was shown, and that row's place among equals. The next page is what comes
//! behind that, so that nothing is skipped or shown twice when rows come, go or move in between. Shared by the services that page; no service itself.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// What every cursor begins with, so that an id of a row is not taken for one.
const PREFIX: &str = "after-";
/// What stands between the parts of a cursor.
const BETWEEN: char = '\u{1f}';

/// A value by which rows are ordered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Part {
    /// Empty, wherever the order puts that.
    Nothing,
    /// A truth.
    Flag(bool),
    /// A whole number.
    Whole(i64),
    /// Any other number.
    Number(f64),
    /// A text.
    Text(String),
}

/// Where a page ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cursor {
    /// The values of the last row, one for each thing that it is ordered by.
    pub(crate) parts: Vec<Part>,
    /// Where it stands among rows that are equal by these.
    pub(crate) place: u64,
}

impl Cursor {
    /// Returns the cursor as callers see it.
    pub(crate) fn write(&self) -> String {
        let mut text = self.place.to_string();
        for part in &self.parts {
            text.push(BETWEEN);
            match part {
                Part::Nothing => text.push('n'),
                Part::Flag(flag) => text.push_str(if *flag { "b1" } else { "b0" }),
                Part::Whole(number) => text.push_str(&format!("i{number}")),
                Part::Number(number) => text.push_str(&format!("f{:016x}", number.to_bits())),
                Part::Text(own) => {
                    text.push('t');
                    // A text that holds the separator must not end its part.
                    text.push_str(&own.replace('\\', "\\\\").replace(BETWEEN, "\\u"));
                }
            }
        }
        format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(text))
    }

    /// Returns whether this place lies behind the other one in a listing in ascending order. Values of other kinds are not compared.
    pub(crate) fn is_behind(&self, other: &Self) -> bool {
        let unequal = self.parts.iter().zip(&other.parts).find_map(|(left, right)| {
            let order = match (left, right) {
                (Part::Whole(left), Part::Whole(right)) => left.cmp(right),
                (Part::Text(left), Part::Text(right)) => left.cmp(right),
                _ => std::cmp::Ordering::Equal,
            };
            order.is_ne().then_some(order)
        });
        unequal.unwrap_or_else(|| self.place.cmp(&other.place)).is_gt()
    }

    /// Reads what [`Self::write`] wrote, if it has `parts` parts.
    pub(crate) fn read(text: &str, parts: usize) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text.strip_prefix(PREFIX)?).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        let mut pieces = text.split(BETWEEN);
        let place = pieces.next()?.parse().ok()?;
        let read: Option<Vec<Part>> = pieces.map(part).collect();
        read.filter(|read| read.len() == parts).map(|parts| Self { parts, place })
    }
}

fn part(piece: &str) -> Option<Part> {
    let rest = piece.get(1..)?;
    Some(match piece.as_bytes().first()? {
        b'n' if rest.is_empty() => Part::Nothing,
        b'b' => Part::Flag(match rest {
            "1" => true,
            "0" => false,
            _ => return None,
        }),
        b'i' => Part::Whole(rest.parse().ok()?),
        b'f' => Part::Number(f64::from_bits(u64::from_str_radix(rest, 16).ok()?)),
        b't' => Part::Text(unescaped(rest)?),
        _ => return None,
    })
}

fn unescaped(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => out.push(match characters.next()? {
                '\\' => '\\',
                'u' => BETWEEN,
                _ => return None,
            }),
            other => out.push(other),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_part() -> impl Strategy<Value = Part> {
        prop_oneof![
            Just(Part::Nothing),
            any::<bool>().prop_map(Part::Flag),
            any::<i64>().prop_map(Part::Whole),
            (-1e300..1e300).prop_map(Part::Number),
            "[a\\\\u\u{1f}ä ]{0,8}".prop_map(Part::Text),
        ]
    }

    proptest! {
        #[test]
        fn a_cursor_says_what_it_was_made_of(parts in proptest::collection::vec(any_part(), 0..5), place in any::<u64>()) {
            let cursor = Cursor { parts, place };
            prop_assert_eq!(Cursor::read(&cursor.write(), cursor.parts.len()), Some(cursor.clone()));
            prop_assert_eq!(Cursor::read(&cursor.write(), cursor.parts.len() + 1), None);
        }

        #[test]
        fn any_text_can_be_tried(text in ".{0,40}", bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = Cursor::read(&text, 0);
            let _ = Cursor::read(&format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes)), 1);
        }
    }
}
