//! The high-entropy values of arguments and outputs: what a value must look like to be evidence that one call used what another
//! call answered. Addresses, ids, paths, URLs, dates, decimals, numbers of three digits or more, tokens; never a boolean or a small number.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use dayshift_engine::{SmolStr, Value};
use regex::Regex;

/// The shortest token that is evidence, in characters.
const TOKEN_CHARS_MIN: usize = 4;
/// The longest token that is evidence as a whole, in characters.
const TOKEN_CHARS_MAX: usize = 128;
/// The fewest characters of a number, sign and point aside, that is evidence.
const NUMBER_CHARS_MIN: usize = 3;
/// Words that say yes, no or nothing in any place.
const STOP_WORDS: [&str; 7] = ["true", "false", "none", "null", "yes", "no", "ok"];

/// Word characters are letters, numbers and the underscore (`\w` of Python's `re`; Rust's `\w` also takes combining marks), and the
/// separators U+001C to U+001F are white space.
static PATTERN: LazyLock<Regex> = LazyLock::new(|| {
    let word = r"\p{L}\p{N}_";
    let alternatives = [
        format!(r"[{word}.+-]+@[{word}-]+(?:\.[{word}-]+)+"),
        r"https?://[^\s\x1c-\x1f]+".to_owned(),
        format!(r"(?:/[{word}.-]+){{2,}}"),
        r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?".to_owned(),
        format!(r"[A-Za-z]+[-_]?\d[{word}-]*"),
        r"\d[\d,]*\.\d+".to_owned(),
        r"\d{3,}".to_owned(),
    ];
    Regex::new(&alternatives.join("|")).expect("the pattern is a constant that a test compiles")
});

/// Returns the high-entropy values that stand anywhere in `value`, as text. Names of map entries do not count.
#[must_use]
pub fn entities(value: &Value) -> BTreeSet<SmolStr> {
    let mut found = BTreeSet::new();
    // An explicit stack, so that no depth of nesting can overflow ours.
    let mut open = vec![value];
    while let Some(next) = open.pop() {
        match next {
            Value::Null | Value::Bool(_) => {}
            Value::Int(number) => note_number(number.to_string(), &mut found),
            Value::Float(number) => note_number(float_text(*number), &mut found),
            Value::Text(text) => note_text(text, &mut found),
            Value::List(items) => open.extend(items),
            Value::Map(map) => open.extend(map.values()),
        }
    }
    found
}

fn note_number(text: String, found: &mut BTreeSet<SmolStr>) {
    let length = text.trim_start_matches('-').chars().filter(|character| *character != '.').count();
    if length >= NUMBER_CHARS_MIN {
        found.insert(text.into());
    }
}

fn note_text(text: &str, found: &mut BTreeSet<SmolStr>) {
    let text = text.trim_matches(is_space);
    let is_token = !text.contains(' ')
        && (TOKEN_CHARS_MIN..=TOKEN_CHARS_MAX).contains(&text.chars().take(TOKEN_CHARS_MAX + 1).count())
        && !STOP_WORDS.contains(&text.to_lowercase().as_str());
    if is_token {
        found.insert(text.into());
    }
    for part in PATTERN.find_iter(text) {
        let part = part.as_str();
        // Digits, points and commas alone are a number, which means the same without its separators.
        let is_number = part.chars().all(|character| character.is_numeric() || matches!(character, ',' | '.'));
        found.insert(if is_number { part.replace(',', "").into() } else { part.into() });
    }
}

fn is_space(character: char) -> bool {
    character.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&character)
}

/// Returns the shortest text that reads back as `number`, as Python's `repr` writes it: an exponent has a sign and two digits.
fn float_text(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    let text = format!("{number:?}");
    let Some((digits, exponent)) = text.split_once('e') else {
        return text;
    };
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |rest| ('-', rest));
    format!("{digits}e{sign}{exponent:0>2}")
}

#[cfg(test)]
mod tests {
    use dayshift_engine::map;

    use super::*;

    fn of(value: impl Into<Value>) -> Vec<String> {
        entities(&value.into()).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn addresses_dates_ids_and_amounts_stand_out_of_a_sentence() {
        assert_eq!(
            of("Pay INV-7731 (1,204.50) by 2026-11-03 09:30, ask ann.lee@acme.example or /finance/q3/plan.xlsx"),
            ["/finance/q3/plan.xlsx", "1204.50", "2026-11-03 09:30", "INV-7731", "ann.lee@acme.example"]
        );
    }

    #[test]
    fn a_token_counts_from_four_to_128_characters() {
        assert_eq!(of("abc"), [""; 0]);
        assert_eq!(of("abcd"), ["abcd"]);
        assert_eq!(of("x".repeat(128)), ["x".repeat(128)]);
        assert_eq!(of("x".repeat(129)), [""; 0]);
    }

    #[test]
    fn lengths_count_characters_and_not_bytes() {
        assert_eq!(of("äöü"), [""; 0]);
        assert_eq!(of("äöüß"), ["äöüß"]);
    }

    #[test]
    fn words_of_assent_and_booleans_are_no_evidence() {
        let value = map! { "a" => "TRUE", "b" => " none ", "c" => true, "d" => Value::Null };
        assert_eq!(of(value), [""; 0]);
    }

    #[test]
    fn a_number_needs_three_characters() {
        assert_eq!(of(99_i64), [""; 0]);
        assert_eq!(of(100_i64), ["100"]);
        assert_eq!(of(-100_i64), ["-100"]);
        assert_eq!(of(1.5), [""; 0]);
        assert_eq!(of(1.25), ["1.25"]);
    }

    #[test]
    fn floats_are_written_as_python_writes_them() {
        assert_eq!(of(1e16), ["1e+16"]);
        assert_eq!(of(1.5e-7), ["1.5e-07"]);
        assert_eq!(of(1e-4), ["0.0001"]);
        assert_eq!(of(1e300), ["1e+300"]);
        assert_eq!(of(9_007_199_254_740_992.0), ["9007199254740992.0"]);
    }

    #[test]
    fn a_combining_mark_ends_a_word_as_it_does_in_python() {
        assert_eq!(of("see AB1x\u{301}y now"), ["AB1x"]);
    }

    #[test]
    fn names_of_entries_do_not_count() {
        assert_eq!(of(map! { "INV-7731" => "x" }), [""; 0]);
    }
}
