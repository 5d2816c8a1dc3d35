//! What a source must be before the parser sees it. The parser and compiler of Starlark recurse over nested expressions and blocks, so nesting is
//! bounded here, from above: every operator, dot and bracket since the last comma may be one level of the tree.

use crate::problem::Place;

/// The largest script, in bytes (256 KiB).
pub const SOURCE_BYTES_MAX: usize = 256 << 10;

/// How deep expressions and blocks of a script may nest, counted generously.
pub const NESTING_MAX: u32 = 200;

/// Where a source breaks a rule, and how.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) place: Place,
    pub(super) message: String,
    pub(super) remedy: &'static str,
}

/// Makes sure that `source` can be parsed and compiled in bounded space.
pub(super) fn admit(source: &str) -> Result<(), Fault> {
    if source.len() > SOURCE_BYTES_MAX {
        let message = format!("the script has {} bytes, and at most {SOURCE_BYTES_MAX} are read", source.len());
        return Err(Fault { place: Place::default(), message, remedy: "make it shorter" });
    }
    Scan::new(source).run()
}

struct Scan<'a> {
    rest: &'a str,
    place: Place,
    /// How many levels each open bracket may hold, the statement itself first.
    levels: Vec<u32>,
    depth: u32,
    /// How many `elif` there were since the last statement at the left margin: they nest.
    branches: u32,
    at_line_start: bool,
}

impl<'a> Scan<'a> {
    fn new(source: &'a str) -> Self {
        let place = Place { line: 1, column: 1 };
        Self { rest: source, place, levels: vec![0], depth: 0, branches: 0, at_line_start: true }
    }

    fn run(mut self) -> Result<(), Fault> {
        while let Some(character) = self.rest.chars().next() {
            if self.at_line_start {
                self.at_line_start = false;
                self.indentation()?;
                continue;
            }
            match character {
                '#' => self.skip(self.rest.find('\n').unwrap_or(self.rest.len())),
                '"' | '\'' => self.string(character),
                '\n' => {
                    self.skip(1);
                    if self.levels.len() == 1 {
                        self.statement();
                    }
                }
                ';' if self.levels.len() == 1 => {
                    self.skip(1);
                    self.statement();
                }
                '\\' => self.skip((1 + self.rest[1..].chars().next().map_or(0, char::len_utf8)).min(self.rest.len())),
                ',' => {
                    self.skip(1);
                    self.depth -= std::mem::take(self.top());
                }
                '(' | '[' | '{' => {
                    self.deeper()?;
                    self.levels.push(0);
                    self.skip(1);
                }
                ')' | ']' | '}' => {
                    if self.levels.len() > 1 {
                        self.depth -= self.levels.pop().unwrap_or_default();
                    }
                    self.skip(1);
                }
                '.' | '+' | '-' | '*' | '/' | '%' | '|' | '&' | '^' | '~' | '<' | '>' | '=' | '!' => {
                    self.deeper()?;
                    self.skip(1);
                }
                letter if letter.is_alphabetic() || letter == '_' => self.word()?,
                other => self.skip(other.len_utf8()),
            }
        }
        Ok(())
    }

    fn top(&mut self) -> &mut u32 {
        if self.levels.is_empty() {
            self.levels.push(0);
        }
        let last = self.levels.len() - 1;
        &mut self.levels[last]
    }

    fn deeper(&mut self) -> Result<(), Fault> {
        *self.top() += 1;
        self.depth += 1;
        self.within(self.depth)
    }

    fn within(&self, depth: u32) -> Result<(), Fault> {
        if depth <= NESTING_MAX {
            return Ok(());
        }
        let message = format!("the script nests deeper than {NESTING_MAX} levels in one statement");
        Err(Fault { place: self.place, message, remedy: "split it into several statements or functions" })
    }

    fn statement(&mut self) {
        self.at_line_start = true;
        self.depth = 0;
        *self.top() = 0;
    }

    /// Bounds nested blocks by the width of the margin.
    fn indentation(&mut self) -> Result<(), Fault> {
        let width = self.rest.len() - self.rest.trim_start_matches([' ', '\t']).len();
        self.skip(width);
        let blank = self.rest.is_empty() || self.rest.starts_with(['\n', '\r', '#']);
        if width == 0 && !blank && !["elif", "else"].iter().any(|word| self.rest.starts_with(word)) {
            self.branches = 0;
        }
        if blank { Ok(()) } else { self.within(u32::try_from(width).unwrap_or(u32::MAX)) }
    }

    fn word(&mut self) -> Result<(), Fault> {
        let end = self.rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(self.rest.len());
        match &self.rest[..end] {
            "not" | "and" | "or" | "if" | "else" | "lambda" | "in" | "for" => self.deeper()?,
            "elif" => {
                self.branches += 1;
                self.within(self.branches)?;
            }
            _ => {}
        }
        self.skip(end);
        Ok(())
    }

    fn string(&mut self, quote: char) {
        let raw_triple: String = [quote; 3].iter().collect();
        let (delimiter, triple) =
            if self.rest.starts_with(&raw_triple) { (raw_triple, true) } else { (quote.to_string(), false) };
        self.skip(delimiter.len());
        while let Some(character) = self.rest.chars().next() {
            if self.rest.starts_with(&delimiter) {
                return self.skip(delimiter.len());
            }
            if character == '\n' && !triple {
                return;
            }
            let escaped = if character == '\\' { self.rest[1..].chars().next().map_or(0, char::len_utf8) } else { 0 };
            self.skip(character.len_utf8() + escaped);
        }
    }

    fn skip(&mut self, bytes: usize) {
        let (skipped, rest) = self.rest.split_at(bytes);
        for character in skipped.chars() {
            if character == '\n' {
                self.place = Place { line: self.place.line + 1, column: 1 };
            } else {
                self.place.column += 1;
            }
        }
        self.rest = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_code_is_admitted() {
        let source = "X = [\n    (1, 'a # b'),\n] * 3\n\ndef f(a, b = {}):\n    # it's\n    if a and not b:\n        return \"\"\"x(\n(((\"\"\"\n    return a.b(1).c[2] + 3\n";
        assert_eq!(admit(source), Ok(()));
        let table = format!("T = [{}]\n", "(1, -2, 'x'), ".repeat(2000));
        assert_eq!(admit(&table), Ok(()));
    }

    #[test]
    fn nesting_is_refused_above_its_limit_and_admitted_at_it() {
        let nested = |depth: u32| format!("x = {}1{}\n", "(".repeat(depth as usize), ")".repeat(depth as usize));
        // The sign of the assignment counts as a level.
        assert_eq!(admit(&nested(NESTING_MAX - 1)), Ok(()));
        assert_eq!(admit(&nested(NESTING_MAX)).map_err(|fault| fault.place.line), Err(1));
    }

    #[test]
    fn every_way_to_nest_is_seen() {
        for nested in
            ["not ", "- ", "1 + ", "lambda: ", "1 if 1 else ", "f.a", "f()", "[", "x in "].map(|part| part.repeat(500))
        {
            assert!(admit(&format!("y = {nested}1\n")).is_err(), "{nested:.20}");
        }
        assert!(admit(&format!("if 1:\n  pass\n{}", "elif 2:\n  pass\n".repeat(500))).is_err());
    }
}
