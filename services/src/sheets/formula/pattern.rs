//! Patterns with `*`, `?` and `~`, as searches and conditions use them. Case makes no difference. What a match costs is drawn from the
//! budget while it runs, since a pattern with many stars can take far longer than its text is long.

use dayshift_engine::Budget;

use super::value::Res;

/// How many characters can be compared for one unit.
const COMPARED_PER_UNIT: u64 = 4;

/// A pattern.
pub(super) struct Pattern(Vec<Piece>);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Piece {
    /// This character, in lower case.
    Is(char),
    /// One character.
    One,
    /// Any number of characters.
    Any,
}

impl Pattern {
    /// Reads a pattern.
    pub(super) fn new(text: &str) -> Self {
        let mut pieces = Vec::new();
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            match character {
                '*' if pieces.last() == Some(&Piece::Any) => {}
                '*' => pieces.push(Piece::Any),
                '?' => pieces.push(Piece::One),
                '~' => match characters.next() {
                    Some(marked @ ('*' | '?' | '~')) => pieces.push(Piece::Is(marked)),
                    Some(other) => pieces.extend([Piece::Is('~'), Piece::Is(small(other))]),
                    None => pieces.push(Piece::Is('~')),
                },
                other => pieces.push(Piece::Is(small(other))),
            }
        }
        Self(pieces)
    }

    /// Returns whether `text` uses any of the marks.
    pub(super) fn is_one(text: &str) -> bool {
        text.contains(['*', '?', '~'])
    }

    /// Returns whether the whole text matches.
    pub(super) fn matches(&self, text: &str, budget: &Budget) -> Res<bool> {
        let text: Vec<char> = text.chars().map(small).collect();
        Ok(self.end_from(&text, 0, true, budget)?.is_some())
    }

    /// Returns the first place, in characters, from which on some piece of `text` matches.
    pub(super) fn find(&self, text: &str, from: usize, budget: &Budget) -> Res<Option<usize>> {
        let text: Vec<char> = text.chars().map(small).collect();
        for start in from..=text.len() {
            if self.end_from(&text, start, false, budget)?.is_some() {
                return Ok(Some(start));
            }
        }
        Ok(None)
    }

    /// Returns where a match that starts at `start` ends: greedy, going back to the last star only.
    fn end_from(&self, text: &[char], start: usize, to_end: bool, budget: &Budget) -> Res<Option<usize>> {
        let pieces = &self.0;
        let (mut at, mut piece) = (start, 0);
        let mut star: Option<(usize, usize)> = None;
        let mut steps = 0_u64;
        let found = loop {
            steps += 1;
            if steps.is_multiple_of(1 << 12) {
                budget.work((1 << 12) / COMPARED_PER_UNIT)?;
            }
            match pieces.get(piece) {
                None if !to_end || at == text.len() => break Some(at),
                Some(Piece::Any) => {
                    star = Some((piece + 1, at));
                    piece += 1;
                    continue;
                }
                Some(Piece::One) if at < text.len() => {
                    (at, piece) = (at + 1, piece + 1);
                    continue;
                }
                Some(Piece::Is(wanted)) if text.get(at) == Some(wanted) => {
                    (at, piece) = (at + 1, piece + 1);
                    continue;
                }
                None | Some(Piece::One | Piece::Is(_)) => {}
            }
            // The last star takes one character more.
            match &mut star {
                Some((after, taken)) if *taken < text.len() => {
                    *taken += 1;
                    (at, piece) = (*taken, *after);
                }
                Some(_) | None => break None,
            }
        };
        budget.work(1 + (steps % (1 << 12)) / COMPARED_PER_UNIT)?;
        Ok(found)
    }
}

fn small(character: char) -> char {
    character.to_lowercase().next().unwrap_or(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_question_marks_and_tildes_match() {
        let budget = Budget::default();
        for (pattern, text, whole, first) in [
            ("a*", "Abc", true, Some(0)),
            ("*c", "abc", true, Some(0)),
            ("b?", "abc", false, Some(1)),
            ("~*", "a*b", false, Some(1)),
            ("~~", "a~", false, Some(1)),
            ("a~b", "a~b", true, Some(0)),
            ("", "", true, Some(0)),
            ("", "x", false, Some(0)),
            ("*a*b", "xaybab", true, Some(0)),
            ("ß?", "Größe", false, Some(3)),
            ("z", "abc", false, None),
        ] {
            let pattern_read = Pattern::new(pattern);
            assert_eq!(pattern_read.matches(text, &budget), Ok(whole), "{pattern} in {text}");
            assert_eq!(pattern_read.find(text, 0, &budget), Ok(first), "{pattern} in {text}");
        }
    }

    #[test]
    fn a_pattern_of_stars_draws_on_the_budget() {
        let budget = Budget::new(100_000, 0);
        let text = "a".repeat(32_000);
        assert!(Pattern::new(&format!("{}b", "a*".repeat(1_000))).find(&text, 0, &budget).is_err());
    }
}
