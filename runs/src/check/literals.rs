//! Literals: the numbers, dates and ids that calls carry and checks compare with; changing them by one, and finding them in texts.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use dayshift_engine::{SmolStr, Value};
use dayshift_replay::credit::entities;
use regex::Regex;

/// The fewest digits that make a number worth looking for.
const DIGITS_MIN: usize = 3;

/// Dates, ids (letters, then digits), amounts with a fraction, numbers of three digits and more.
static LITERAL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\d{4}-\d{2}-\d{2}|\b[A-Za-z]+[-_]?\d[A-Za-z0-9_-]*|\d[\d,]*[.,]\d+|\d{3,}")
        .expect("a constant pattern compiles")
});

/// A date with a clock time, whose offset is none; a clock time alone; an hour with am or pm.
static CLOCK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\d{4}-\d{2}-\d{2}[T ](?<stamp>\d{2}):\d{2}(?::\d{2})?(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})?|\b(?<clock>[01]?\d|2[0-3]):[0-5]\d\b|\b(?<hour>1[0-2]|[1-9])\s?(?:am|pm|a\.m\.|p\.m\.)",
    )
    .expect("a constant pattern compiles")
});

/// A reference to an earlier answer, which is no literal.
static REFERENCE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\{\{[^}]*\}\}").expect("a constant pattern compiles"));

/// What was changed by one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Changes {
    first: Option<(String, String)>,
    count: usize,
}

impl Changes {
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the first change: what stood there, and what stands there now.
    pub(super) fn first(&self) -> Option<(&str, &str)> {
        self.first.as_ref().map(|(before, after)| (before.as_str(), after.as_str()))
    }

    /// Returns the changes in words: the first, and how many more there are.
    pub(super) fn shown(&self) -> String {
        let Some((before, after)) = &self.first else { return String::new() };
        match self.count {
            1 => format!("{before} became {after}"),
            more => format!("{before} became {after}, and {} more literals changed by one", more - 1),
        }
    }

    fn note(&mut self, before: &str, after: &str) {
        self.count += 1;
        self.first.get_or_insert_with(|| (before.to_owned(), after.to_owned()));
    }
}

/// Changes every literal in `value` by one.
pub(super) fn nudge(value: &mut Value, changes: &mut Changes) {
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Int(number) => {
            let changed = number.checked_add(1).unwrap_or(*number - 1);
            changes.note(&number.to_string(), &changed.to_string());
            *number = changed;
        }
        Value::Float(number) => {
            let changed = *number + 1.0;
            changes.note(&number.to_string(), &changed.to_string());
            *number = changed;
        }
        Value::Text(text) => {
            if let Some(changed) = nudge_text(text, changes) {
                *text = changed.into();
            }
        }
        Value::List(items) => items.iter_mut().for_each(|item| nudge(item, changes)),
        Value::Map(map) => map.values_mut().for_each(|item| nudge(item, changes)),
    }
}

fn nudge_text(text: &str, changes: &mut Changes) -> Option<String> {
    if text.trim().parse::<f64>().is_ok() {
        let changed = nudge_literal(text)?;
        changes.note(text, &changed);
        return Some(changed);
    }
    let mut nudged = String::new();
    let mut done = 0;
    let mut found = false;
    for reference in REFERENCE.find_iter(text) {
        found |= nudge_piece(&text[done..reference.start()], &mut nudged, changes);
        nudged.push_str(reference.as_str());
        done = reference.end();
    }
    found |= nudge_piece(&text[done..], &mut nudged, changes);
    found.then_some(nudged)
}

/// Moves every clock time in `value` by an hour; dates, numbers and offsets stay.
pub(super) fn move_clocks(value: &mut Value, changes: &mut Changes) {
    match value {
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => {}
        Value::Text(text) => {
            let mut moved = String::new();
            let (mut done, mut found) = (0, false);
            for reference in REFERENCE.find_iter(text) {
                found |= move_clocks_of(&text[done..reference.start()], &mut moved, changes);
                moved.push_str(reference.as_str());
                done = reference.end();
            }
            found |= move_clocks_of(&text[done..], &mut moved, changes);
            if found {
                *text = moved.into();
            }
        }
        Value::List(items) => items.iter_mut().for_each(|item| move_clocks(item, changes)),
        Value::Map(map) => map.values_mut().for_each(|item| move_clocks(item, changes)),
    }
}

fn move_clocks_of(piece: &str, moved: &mut String, changes: &mut Changes) -> bool {
    let (mut done, mut found) = (0, false);
    for time in CLOCK.captures_iter(piece) {
        let (Some(whole), Some(hour)) = (time.get(0), time.name("stamp").or(time.name("clock")).or(time.name("hour")))
        else {
            continue;
        };
        let number: u8 = hour.as_str().parse().unwrap_or_default();
        let last = if time.name("hour").is_some() { 11 } else { 22 };
        let other = if number > last { number - 1 } else { number + 1 };
        let other = if hour.len() == 2 { format!("{other:02}") } else { other.to_string() };
        let changed = format!("{}{other}{}", &piece[whole.start()..hour.start()], &piece[hour.end()..whole.end()]);
        changes.note(whole.as_str(), &changed);
        moved.push_str(&piece[done..whole.start()]);
        moved.push_str(&changed);
        (done, found) = (whole.end(), true);
    }
    moved.push_str(&piece[done..]);
    found
}

/// Returns how many texts and numbers there are in `value`.
pub(super) fn leaves(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 0,
        Value::Int(_) | Value::Float(_) | Value::Text(_) => 1,
        Value::List(items) => items.iter().map(leaves).sum(),
        Value::Map(map) => map.values().map(leaves).sum(),
    }
}

/// Lets `change` change the text or number at `index`, counted as [`leaves`] counts, and nothing else.
pub(super) fn change_leaf(value: &mut Value, index: usize, change: &mut dyn FnMut(&mut Value)) {
    let mut left = index;
    let mut within = |item: &mut Value| {
        let count = leaves(item);
        if left < count {
            change_leaf(item, left, change);
            return true;
        }
        left -= count;
        false
    };
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Int(_) | Value::Float(_) | Value::Text(_) => change(value),
        Value::List(items) => {
            let _ = items.iter_mut().any(&mut within);
        }
        Value::Map(map) => {
            let _ = map.values_mut().any(&mut within);
        }
    }
}

/// Returns `value`, arguments of a solution, with those texts that are a reference taken from `filled`, the same arguments filled in.
pub(super) fn fill_like(value: &Value, filled: &Value) -> Value {
    match (value, filled) {
        (Value::Text(text), filled) if REFERENCE.find(text).is_some_and(|found| found.len() == text.len()) => {
            filled.clone()
        }
        (Value::List(items), Value::List(others)) if items.len() == others.len() => {
            items.iter().zip(others).map(|(item, other)| fill_like(item, other)).collect()
        }
        (Value::Map(map), Value::Map(others)) => {
            let filled =
                |name: &SmolStr, item: &Value| others.get(name).map_or(item.clone(), |other| fill_like(item, other));
            Value::Map(map.iter().map(|(name, item)| (name.clone(), filled(name, item))).collect())
        }
        _ => value.clone(),
    }
}

fn nudge_piece(piece: &str, nudged: &mut String, changes: &mut Changes) -> bool {
    let mut done = 0;
    let mut found = false;
    for literal in LITERAL.find_iter(piece) {
        let Some(changed) = nudge_literal(literal.as_str()) else { continue };
        changes.note(literal.as_str(), &changed);
        nudged.push_str(&piece[done..literal.start()]);
        nudged.push_str(&changed);
        done = literal.end();
        found = true;
    }
    nudged.push_str(&piece[done..]);
    found
}

/// Returns the value next to a literal: a number, date or id; nothing for anything else.
pub(super) fn nudge_value(literal: &str) -> Option<String> {
    nudge_literal(literal)
}

/// Changes the last digit of the whole part by one: 19 becomes 18, 12.50 becomes 13.50, INV-7 becomes INV-8.
fn nudge_literal(literal: &str) -> Option<String> {
    let is_amount = literal.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | '-' | ' '));
    let is_date = literal.len() == 10 && literal.as_bytes()[4] == b'-';
    let whole = match literal.rfind(['.', ',']) {
        Some(point) if is_amount && literal.len() - point != 4 => &literal[..point],
        _ => literal,
    };
    let at = whole.rfind(|character: char| character.is_ascii_digit())?;
    let digit = literal.as_bytes()[at];
    let day: Option<u8> = is_date.then(|| literal[8..].parse().ok()).flatten();
    let changed = match (digit, day) {
        // No month has fewer than 28 days: the day before is a date for sure.
        (b'1'..=b'9', Some(28..)) | (b'9', _) => digit - 1,
        (b'0', Some(28..)) => return Some(format!("{}29", &literal[..8])),
        _ => digit + 1,
    };
    let mut bytes = literal.as_bytes().to_vec();
    bytes[at] = changed;
    String::from_utf8(bytes).ok()
}

/// A number that is looked for in texts, however they write it.
pub(super) struct Number {
    /// As it was found first.
    pub(super) shown: String,
    /// The line at which it was found, from 1.
    pub(super) line: u32,
    pattern: Regex,
}

impl Number {
    /// Returns whether `text` holds the number.
    pub(super) fn is_in(&self, text: &str) -> bool {
        self.pattern.is_match(text)
    }

    fn new(shown: &str, line: u32) -> Option<Self> {
        let plain = shown.replace(['_', ','], "");
        let (whole, fraction) = plain.split_once('.').unwrap_or((&plain, ""));
        let whole = whole.trim_start_matches('0');
        let fraction = fraction.trim_end_matches('0');
        if whole.len() + fraction.len() < DIGITS_MIN
            || !(whole.bytes().chain(fraction.bytes())).all(|b| b.is_ascii_digit())
        {
            return None;
        }
        let mut pattern = String::from(r"(?:^|[^0-9.,]|[^0-9][.,])");
        for (index, digit) in whole.chars().enumerate() {
            if index > 0 && (whole.len() - index) % 3 == 0 {
                pattern.push_str(r"[.,' \u{a0}]?");
            }
            pattern.push(digit);
        }
        if whole.is_empty() {
            pattern.push('0');
        }
        if fraction.is_empty() {
            pattern.push_str(r"(?:[.,](?:0{1,2}|-))?(?:$|[^0-9.,]|[.,](?:$|[^0-9]))");
        } else {
            pattern.push_str(&format!(r"[.,]{fraction}0*(?:$|[^0-9])"));
        }
        Some(Self { shown: shown.to_owned(), line, pattern: Regex::new(&pattern).ok()? })
    }
}

/// Returns the numbers of three digits and more in the Starlark `source`, those in strings included, comments left out.
pub(super) fn numbers_of(source: &str) -> Vec<Number> {
    static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"(?s)"""(.*?)"""|"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|#[^\n]*|[A-Za-z_][A-Za-z0-9_]*|(\d[\d_]*(?:\.\d+)?)"#)
            .expect("a constant pattern compiles")
    });
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for token in TOKEN.captures_iter(source) {
        let at = token.get(0).map_or(0, |whole| whole.start());
        let line = u32::try_from(source[..at].matches('\n').count() + 1).unwrap_or(u32::MAX);
        let mut note = |text: &str| {
            // One number, one notation: without the commas that group its thousands.
            let grouped = text.replace(',', "");
            let text = if grouped.parse::<f64>().is_ok() { grouped.as_str() } else { text };
            if let Some(number) = Number::new(text, line).filter(|number| seen.insert(number.shown.clone())) {
                found.push(number);
            }
        };
        if let Some(number) = token.get(4) {
            note(number.as_str());
        } else if let Some(text) = token.get(2).or(token.get(3)) {
            entities(&Value::from(text.as_str())).iter().for_each(|entity| note(entity));
        }
    }
    found
}

/// Returns the high-entropy values of `value`, numbers in one notation.
pub(super) fn values_of(value: &Value) -> BTreeSet<SmolStr> {
    entities(value).iter().map(|entity| plain(entity)).collect()
}

fn plain(entity: &str) -> SmolStr {
    match entity.parse::<f64>() {
        Ok(number) if number.is_finite() => number.to_string().into(),
        _ => entity.into(),
    }
}

#[cfg(test)]
mod tests {
    use dayshift_engine::map;

    use super::*;

    fn nudged(text: &str) -> String {
        let mut value = Value::from(text);
        nudge(&mut value, &mut Changes::default());
        value.as_text().unwrap_or_default().to_owned()
    }

    #[test]
    fn numbers_dates_amounts_and_ids_change_by_one() {
        assert_eq!(nudged("INV-4471: 18,940.00 by 2026-03-16"), "INV-4472: 18,941.00 by 2026-03-17");
        assert_eq!(nudged("95"), "96");
        assert_eq!(nudged("17290.00"), "17291.00");
        assert_eq!(nudged("1,299 pieces"), "1,298 pieces");
    }

    #[test]
    fn a_date_stays_one() {
        assert_eq!(nudged("2026-02-28"), "2026-02-27");
        assert_eq!(nudged("2026-04-30"), "2026-04-29");
        assert_eq!(nudged("2026-03-31"), "2026-03-30");
        assert_eq!(nudged("2026-03-09"), "2026-03-08");
    }

    #[test]
    fn references_and_plain_words_stay() {
        assert_eq!(nudged("see {{row-100.id}}, thank you, 12 of them"), "see {{row-100.id}}, thank you, 12 of them");
    }

    #[test]
    fn clock_times_move_by_an_hour_and_nothing_else_does() {
        let moved = |text: &str| {
            let mut value = Value::from(text);
            let mut changes = Changes::default();
            move_clocks(&mut value, &mut changes);
            (value.as_text().unwrap_or_default().to_owned(), changes.count)
        };
        for (before, after, count) in [
            ("At 13:00 on 2026-03-16, room 4", "At 14:00 on 2026-03-16, room 4", 1),
            ("09:30-10:15", "10:30-11:15", 2),
            ("2026-03-16T13:00:00+01:00", "2026-03-16T14:00:00+01:00", 1),
            ("2026-03-16T23:59", "2026-03-16T22:59", 1),
            ("9:05 or 11 pm or 12 a.m.", "10:05 or 12 pm or 11 a.m.", 3),
            ("see {{a.13:00}} and A1:B22 and 1:3", "see {{a.13:00}} and A1:B22 and 1:3", 0),
        ] {
            assert_eq!(moved(before), (after.to_owned(), count));
        }
    }

    #[test]
    fn one_leaf_changes_and_references_are_filled_like_the_call_that_was_made() {
        let solution = map! { "a" => vec![Value::from("x"), 2_i64.into()], "b" => "{{c.d}}", "e" => "of {{c.d}}" };
        assert_eq!(leaves(&solution), 4);
        for index in 0..4 {
            let mut changed = solution.clone();
            change_leaf(&mut changed, index, &mut |leaf| *leaf = Value::from("changed"));
            assert_ne!(changed, solution);
            assert_eq!(changed.to_string().matches("changed").count(), 1);
        }
        let made = map! { "a" => vec![Value::from("x"), 2_i64.into()], "b" => 7_i64, "e" => "of 7" };
        let mut wrong = solution;
        change_leaf(&mut wrong, 1, &mut |leaf| *leaf = Value::Int(3));
        let expected = map! { "a" => vec![Value::from("x"), 3_i64.into()], "b" => 7_i64, "e" => "of {{c.d}}" };
        assert_eq!(fill_like(&wrong, &made), expected);
    }

    #[test]
    fn values_in_lists_and_maps_change_and_are_counted() {
        let mut value = map! { "a" => 1_i64, "b" => vec![2.5], "c" => true };
        let mut changes = Changes::default();
        nudge(&mut value, &mut changes);
        assert_eq!(value, map! { "a" => 2_i64, "b" => vec![3.5], "c" => true });
        assert_eq!(changes.shown(), "1 became 2, and 1 more literals changed by one");
    }

    #[test]
    fn numbers_of_a_script_come_from_code_and_strings_but_not_from_comments_and_names() {
        let found =
            numbers_of("# 999\nX9999 = 83_430.85\ndef f():\n    return '17,290.00' or number(\"12\") == 4410\n");
        let shown: Vec<_> = found.iter().map(|number| (number.shown.as_str(), number.line)).collect();
        assert_eq!(shown, [("83_430.85", 2), ("17290.00", 4), ("4410", 4)]);
    }

    #[test]
    fn a_number_is_found_in_any_notation_and_not_inside_another() {
        let number = Number::new("17290", 1).expect("a number");
        for text in ["17290", "EUR 17,290.00.", "17.290,00 EUR", "17 290", "is 17290, so", "17290.-"] {
            assert!(number.is_in(text), "{text}");
        }
        for text in ["172900", "17290.5", "117290", "1,17290", "INV17291"] {
            assert!(!number.is_in(text), "{text}");
        }
        assert!(Number::new("83430.85", 1).is_some_and(|number| number.is_in("total 83,430.85")));
        assert!(Number::new("12", 1).is_none());
    }
}
