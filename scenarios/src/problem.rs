//! What is wrong with a package: every fault names its file, line and remedy. Not for faults of a running episode.

use std::cell::RefCell;
use std::fmt;

use dayshift_engine::SmolStr;

/// How many problems are gathered; after that many, more would not help anybody.
pub const PROBLEMS_MAX: usize = 100;

/// The longest message or remedy, in characters: both may quote what stands in a file, which may be anything.
const SENTENCE_CHARS_MAX: usize = 1000;

/// The longest word for which a similar one is looked for, in bytes, and how many are named if none is similar.
const WORD_BYTES_MAX: usize = 200;
const NAMED_MAX: usize = 100;

/// How wide a quoted line of source may be, in characters.
const EXCERPT_CHARS_MAX: usize = 160;

/// One fault of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The stable code, `scenario/what`. Codes are for ever.
    pub rule: &'static str,
    /// The file, relative to the package.
    pub file: SmolStr,
    /// The line, from 1, where one is at fault.
    pub line: Option<u32>,
    /// The column in characters, from 1.
    pub column: Option<u32>,
    /// What is wrong.
    pub message: Box<str>,
    /// What to do instead.
    pub remedy: Box<str>,
    /// The line of source, where it is known.
    pub excerpt: Option<Box<str>>,
}

/// A place in a file: line and column from 1; line 0 stands for the file as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// Where the problems of one file are gathered while it is read.
pub(crate) struct Report<'a> {
    file: SmolStr,
    source: &'a str,
    problems: RefCell<Vec<Problem>>,
}

impl Problem {
    /// Returns a problem of the file as a whole.
    #[must_use]
    pub fn of_file(
        rule: &'static str,
        file: impl Into<SmolStr>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            rule,
            file: file.into(),
            line: None,
            column: None,
            message: shortened(message.into()).into(),
            remedy: shortened(remedy.into()).into(),
            excerpt: None,
        }
    }

    /// Returns the same problem at a place in `source`.
    #[must_use]
    pub(crate) fn at(mut self, place: Place, source: &str) -> Self {
        if place.line > 0 {
            self.line = Some(place.line);
            self.column = Some(place.column.max(1));
            let line = source.lines().nth(place.line as usize - 1);
            self.excerpt = line.map(|line| line.chars().take(EXCERPT_CHARS_MAX).collect::<String>().into());
        }
        self
    }
}

impl fmt::Display for Problem {
    /// Writes one line (place, fault, remedy, code), then the line of source with a mark below the place.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.file)?;
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(formatter, ":{line}:{column}")?;
        }
        write!(formatter, ": {}; {} [{}]", self.message, self.remedy, self.rule)?;
        if let (Some(line), Some(column), Some(excerpt)) = (self.line, self.column, &self.excerpt) {
            let column = (column as usize - 1).min(EXCERPT_CHARS_MAX);
            write!(formatter, "\n{line:>5} | {excerpt}\n      | {:column$}^", "")?;
        }
        Ok(())
    }
}

impl<'a> Report<'a> {
    pub(crate) fn new(file: impl Into<SmolStr>, source: &'a str) -> Self {
        Self { file: file.into(), source, problems: RefCell::default() }
    }

    /// Returns whether no more problems are gathered: then there is no need to find out what to say.
    pub(crate) fn is_full(&self) -> bool {
        self.problems.borrow().len() >= PROBLEMS_MAX
    }

    /// Notes a problem at `place`.
    pub(crate) fn add(&self, rule: &'static str, place: Place, message: impl Into<String>, remedy: impl Into<String>) {
        let mut problems = self.problems.borrow_mut();
        if problems.len() < PROBLEMS_MAX {
            problems.push(Problem::of_file(rule, self.file.clone(), message, remedy).at(place, self.source));
        }
    }

    pub(crate) fn into_problems(self) -> Vec<Problem> {
        self.problems.into_inner()
    }
}

/// Returns a hint that names the one of `known` that `word` probably means, otherwise all of them.
pub(crate) fn did_you_mean(word: &str, known: &[&str]) -> String {
    let is_word = word.len() <= WORD_BYTES_MAX;
    let closest = known
        .iter()
        .filter(|candidate| is_word && candidate.len() <= WORD_BYTES_MAX)
        .map(|candidate| (strsim::damerau_levenshtein(word, candidate), *candidate))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len() / 4);
    match closest {
        Some((_, candidate)) => format!("did you mean '{candidate}'?"),
        None if known.is_empty() => "there are none".to_owned(),
        None if known.len() > NAMED_MAX => format!("use one of {}, …", known[..NAMED_MAX].join(", ")),
        None => format!("use one of {}", known.join(", ")),
    }
}

fn shortened(mut sentence: String) -> String {
    if let Some((end, _)) = sentence.char_indices().nth(SENTENCE_CHARS_MAX) {
        sentence.truncate(end);
        sentence.push('…');
    }
    sentence
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_shows_place_fault_remedy_code_and_source() {
        let problem =
            Problem::of_file("scenario/unknown-key", "scenario.yaml", "unknown key 'tilte'", "did you mean 'title'?")
                .at(Place { line: 2, column: 1 }, "id: a\ntilte: b\n");
        let shown = problem.to_string();
        assert!(
            shown.starts_with("scenario.yaml:2:1: unknown key 'tilte'; did you mean 'title'? [scenario/unknown-key]")
        );
        assert!(shown.ends_with("\n    2 | tilte: b\n      | ^"), "{shown}");
    }

    #[test]
    fn what_a_file_holds_makes_no_sentence_longer_than_a_sentence() {
        let problem = Problem::of_file("a/b", "x", "ö".repeat(1 << 20), "z".repeat(1 << 20));
        assert_eq!((problem.message.chars().count(), problem.remedy.chars().count()), (1001, 1001));
        assert_eq!(did_you_mean(&"w".repeat(8 << 20), &["weight"]), "use one of weight");
        assert!(did_you_mean("x", &vec!["a-name"; 100_000]).len() < 1000);
    }

    #[test]
    fn a_close_word_is_suggested_and_a_far_one_gets_the_list() {
        assert_eq!(did_you_mean("wieght", &["weight", "title"]), "did you mean 'weight'?");
        assert_eq!(did_you_mean("colour", &["weight", "title"]), "use one of weight, title");
    }
}
