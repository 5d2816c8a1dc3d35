//! The native functions that scripts find besides Starlark's own, and bounded versions of those of its own that can take everything at once.

use std::collections::BTreeMap;
use std::num::NonZeroI32;

use chrono::{NaiveDate, NaiveDateTime};
use dayshift_engine::{SimTime, SmolStr, Value};
use regex::RegexBuilder;
use starlark::environment::GlobalsBuilder;
use starlark::eval::{Arguments, Evaluator};
use starlark::starlark_module;
use starlark::values::dict::DictRef;
use starlark::values::list::ListRef;
use starlark::values::list_or_tuple::UnpackListOrTuple;
use starlark::values::none::NoneType;
use starlark::values::range::Range;
use starlark::values::structs::StructRef;
use starlark::values::tuple::{TupleRef, UnpackTuple};
use starlark::values::{UnpackValue, Value as StarValue};

use super::convert::{from_starlark, to_starlark};
use super::limits::{HEAP_BYTES_MAX, PARTS_MAX, too_large, work};

/// How many numbers `range` gives at most.
pub const RANGE_MAX: i64 = 1_000_000;

/// The longest pattern of `matches`, in bytes, and the largest automaton that it may become.
const PATTERN_BYTES_MAX: usize = 1000;
const PATTERN_COMPILED_BYTES_MAX: usize = 1 << 20;
/// How much work it is to read a byte of a pattern.
const PATTERN_COST: usize = 500;

/// The longest text that a multiplication, a sum or one of `BOUNDED_METHODS` makes, in bytes; for a list, in items.
pub const TEXT_MADE_BYTES_MAX: usize = 1_000_000;

/// The methods of text whose result can be much longer than what they are given.
pub(super) const BOUNDED_METHODS: [&str; 3] = ["replace", "join", "format"];

/// The methods of texts and lists that look at all of what they belong to, or move it.
pub(super) const COUNTED_METHODS: [&str; 25] = [
    "capitalize",
    "codepoints",
    "count",
    "elems",
    "endswith",
    "find",
    "index",
    "insert",
    "isalnum",
    "isalpha",
    "isdigit",
    "islower",
    "isspace",
    "istitle",
    "isupper",
    "lower",
    "partition",
    "pop",
    "remove",
    "rfind",
    "rindex",
    "rpartition",
    "rsplit",
    "split",
    "upper",
];

/// A sentence of ours as an error of the interpreter.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Refused(String);

pub(super) fn refuse(message: impl Into<String>) -> starlark::Error {
    starlark::Error::new_other(Refused(message.into()))
}

/// The way to the stage: only the prelude sees it.
#[starlark_module]
pub(super) fn backstage(builder: &mut GlobalsBuilder) {
    /// Leaves a question on the module, lets `hand` answer it, and returns the answer.
    fn _ask<'v>(
        hand: StarValue<'v>,
        question: &str,
        day: StarValue<'v>,
        names: StarValue<'v>,
        args: StarValue<'v>,
        kwargs: StarValue<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<StarValue<'v>> {
        let arguments = arguments(question, names, args, kwargs).map_err(refuse)?;
        let heap = eval.heap();
        let arguments = to_starlark(heap, &arguments);
        eval.module().set_extra_value(heap.alloc((question, day, arguments)));
        eval.eval_function(hand, &[], &[])?;
        eval.module().extra_value().ok_or_else(|| refuse("the question was not answered"))
    }
}

/// Gives positional arguments their names.
fn arguments(
    question: &str,
    names: StarValue<'_>,
    args: StarValue<'_>,
    kwargs: StarValue<'_>,
) -> Result<Value, String> {
    let names: Vec<&str> = ListRef::from_value(names)
        .map(|list| list.iter().filter_map(StarValue::unpack_str).collect())
        .unwrap_or_default();
    let given = TupleRef::from_value(args).map(TupleRef::content).unwrap_or_default();
    if given.len() > names.len() {
        let takes = if names.is_empty() { "no positional arguments".to_owned() } else { names.join(", ") };
        return Err(format!("{question} takes {takes}; give more by keyword"));
    }
    let mut arguments = BTreeMap::new();
    for (name, value) in names.iter().zip(given) {
        arguments.insert(SmolStr::from(*name), from_starlark(*value)?);
    }
    if let Some(kwargs) = DictRef::from_value(kwargs) {
        for (name, value) in kwargs.iter() {
            let name = SmolStr::from(name.unpack_str().unwrap_or_default());
            if arguments.contains_key(&name) {
                return Err(format!("{question} got '{name}' twice; give it once"));
            }
            arguments.insert(name, from_starlark(value)?);
        }
    }
    arguments.retain(|_, value| *value != Value::Null);
    Ok(Value::Map(arguments))
}

/// What scripts see.
#[starlark_module]
pub(super) fn onstage(builder: &mut GlobalsBuilder) {
    /// Returns whether the regular expression `pattern` is found in `text`; nothing is found in `None`.
    fn matches(
        #[starlark(require = pos)] pattern: &str,
        #[starlark(require = pos)] text: StarValue<'_>,
    ) -> starlark::Result<bool> {
        if pattern.len() > PATTERN_BYTES_MAX {
            return Err(refuse(format!("the pattern is longer than {PATTERN_BYTES_MAX} bytes; make it shorter")));
        }
        work(PATTERN_COST.saturating_mul(pattern.len()).saturating_add(length(text)))?;
        let regex = RegexBuilder::new(pattern).size_limit(PATTERN_COMPILED_BYTES_MAX).build();
        let regex = regex.map_err(|error| refuse(format!("'{pattern}' is no regular expression: {error}")))?;
        Ok(text.unpack_str().is_some_and(|text| regex.is_match(text)))
    }

    /// Returns the number that `value` is or writes (an amount of money with its separators and currency); `None` if it writes none.
    fn number<'v>(
        #[starlark(require = pos)] value: StarValue<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<StarValue<'v>> {
        if matches!(value.get_type(), "int" | "float") {
            return Ok(value);
        }
        let number = value.unpack_str().and_then(parse_number);
        Ok(number.map_or_else(StarValue::new_none, |number| eval.heap().alloc(number)))
    }

    /// Returns whether `text` holds any of `words`, whatever the case; `None` holds nothing.
    fn contains_any(
        #[starlark(require = pos)] text: StarValue<'_>,
        #[starlark(require = pos)] words: UnpackListOrTuple<String>,
    ) -> starlark::Result<bool> {
        work(length(text).saturating_mul(words.items.len() + 1))?;
        let text = text.unpack_str().unwrap_or_default().to_lowercase();
        Ok(words.items.iter().any(|word| text.contains(&word.to_lowercase())))
    }

    /// Returns whether `text` holds any of `words` as whole words, whatever the case: no letter or digit stands right before or behind it.
    /// `None` mentions nothing.
    fn mentions(
        #[starlark(require = pos)] text: StarValue<'_>,
        #[starlark(require = pos)] words: UnpackListOrTuple<String>,
    ) -> starlark::Result<bool> {
        work(length(text).saturating_mul(words.items.len() + 1))?;
        let text = text.unpack_str().unwrap_or_default().to_lowercase();
        Ok(words.items.iter().any(|word| has_word(&text, &word.to_lowercase())))
    }

    /// Returns the seconds from the RFC 3339 time `from` to `to`, negative if `to` is earlier; `None` where one of them is a date, a time
    /// without an offset, or `None`.
    fn seconds_between<'v>(
        #[starlark(require = pos)] from: StarValue<'v>,
        #[starlark(require = pos)] to: StarValue<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<StarValue<'v>> {
        let (Time::At(from), Time::At(to)) = (time_of(from)?, time_of(to)?) else { return Ok(StarValue::new_none()) };
        let millis = to.as_millis().saturating_sub(from.as_millis());
        Ok(eval.heap().alloc(millis as f64 / 1000.0))
    }

    /// Returns whether two times are the same: the same moment, whatever their offsets; or the same date, or the same time without an
    /// offset. A date is never a moment, and `None` is no time.
    fn same_time(
        #[starlark(require = pos)] one: StarValue<'_>,
        #[starlark(require = pos)] other: StarValue<'_>,
    ) -> starlark::Result<bool> {
        Ok(match (time_of(one)?, time_of(other)?) {
            (Time::At(one), Time::At(other)) => one == other,
            (Time::Wall(one), Time::Wall(other)) => one == other,
            (Time::At(_) | Time::Wall(_) | Time::Never, _) => false,
        })
    }

    /// Says nothing: a check has no output but its level.
    fn print(#[starlark(args)] args: UnpackTuple<StarValue<'_>>) -> starlark::Result<NoneType> {
        drop(args);
        Ok(NoneType)
    }

    /// Returns `value` as text, as Starlark's own does, but of nothing huge.
    fn str<'v>(
        #[starlark(require = pos)] value: StarValue<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<StarValue<'v>> {
        if value.unpack_str().is_some() {
            return Ok(value);
        }
        admit(shown_bytes(value)?, eval)?;
        Ok(eval.heap().alloc(value.to_str()))
    }

    /// Returns `value` as it would be written in a script, as Starlark's own does, but of nothing huge.
    fn repr<'v>(
        #[starlark(require = pos)] value: StarValue<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<StarValue<'v>> {
        admit(shown_bytes(value)?, eval)?;
        Ok(eval.heap().alloc(value.to_repr()))
    }

    /// Returns the whole numbers of an interval, as Starlark's own does, but never endlessly many.
    fn range(
        #[starlark(require = pos)] first: i32,
        #[starlark(require = pos)] second: Option<i32>,
        #[starlark(require = pos, default = 1)] step: i32,
    ) -> starlark::Result<Range> {
        let (start, stop) = second.map_or((0, first), |second| (first, second));
        let step = NonZeroI32::new(step).ok_or_else(|| refuse("a range with step 0 never ends; use another step"))?;
        let count = (i64::from(stop) - i64::from(start)) / i64::from(step.get());
        if count > RANGE_MAX {
            return Err(refuse(format!("a range of {count} numbers is too long; use at most {RANGE_MAX}")));
        }
        Ok(Range::new(start, stop, step))
    }

    /// Returns an attribute, as Starlark's own does, but none of the bounded methods.
    fn getattr<'v>(
        #[starlark(require = pos)] value: StarValue<'v>,
        #[starlark(require = pos)] name: &str,
        #[starlark(require = pos)] default: Option<StarValue<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<StarValue<'v>> {
        if BOUNDED_METHODS.contains(&name) {
            return Err(refuse(format!("'{name}' cannot be got by name; call it as a method")));
        }
        match (value.get_attr(name, eval.heap())?, default) {
            (Some(found), _) | (None, Some(found)) => Ok(found),
            (None, None) => value.get_attr_error(name, eval.heap()),
        }
    }
}

/// What operators and methods become in scripts: the same, but nothing huge.
#[starlark_module]
pub(super) fn bounded(builder: &mut GlobalsBuilder) {
    fn _times<'v>(
        #[starlark(require = pos)] left: StarValue<'v>,
        #[starlark(require = pos)] right: StarValue<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<StarValue<'v>> {
        let (a, b) = (integer(left)?, integer(right)?);
        let size = match (a, b) {
            (Some(a), Some(b)) => {
                return match a.checked_mul(b) {
                    Some(product) => Ok(eval.heap().alloc(product)),
                    None => Err(too_wide()),
                };
            }
            (Some(count), None) => count.max(0).unsigned_abs().saturating_mul(length(right) as u64),
            (None, Some(count)) => count.max(0).unsigned_abs().saturating_mul(length(left) as u64),
            (None, None) => 0,
        };
        admit(usize::try_from(size).unwrap_or(usize::MAX), eval)?;
        left.mul(right, eval.heap())
    }

    fn _plus<'v>(
        #[starlark(require = pos)] left: StarValue<'v>,
        #[starlark(require = pos)] right: StarValue<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<StarValue<'v>> {
        if let (Some(a), Some(b)) = (integer(left)?, integer(right)?) {
            return a.checked_add(b).map(|sum| eval.heap().alloc(sum)).ok_or_else(too_wide);
        }
        if left.get_type() != "int" && left.get_type() != "float" {
            admit(length(left).saturating_add(length(right)), eval)?;
        }
        left.add(right, eval.heap())
    }

    fn _minus<'v>(
        #[starlark(require = pos)] left: StarValue<'v>,
        #[starlark(require = pos)] right: StarValue<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<StarValue<'v>> {
        if let (Some(a), Some(b)) = (integer(left)?, integer(right)?) {
            return a.checked_sub(b).map(|rest| eval.heap().alloc(rest)).ok_or_else(too_wide);
        }
        left.sub(right, eval.heap())
    }

    fn _shift<'v>(
        #[starlark(require = pos)] left: StarValue<'v>,
        #[starlark(require = pos)] right: StarValue<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<StarValue<'v>> {
        if let (Some(a), Some(b)) = (integer(left)?, integer(right)?)
            && b >= 0
        {
            let factor = u32::try_from(b).ok().and_then(|b| 1_i64.checked_shl(b)).filter(|factor| *factor > 0);
            let shifted = if a == 0 { Some(0) } else { factor.and_then(|factor| a.checked_mul(factor)) };
            return shifted.map(|shifted| eval.heap().alloc(shifted)).ok_or_else(too_wide);
        }
        left.left_shift(right, eval.heap())
    }

    /// Calls a method that looks at all of what it belongs to: the first argument is its name.
    fn _counted<'v>(args: &Arguments<'v, '_>, eval: &mut Evaluator<'v, '_, '_>) -> starlark::Result<StarValue<'v>> {
        let given: Vec<StarValue<'v>> = args.positions(eval.heap())?.collect();
        let Some((name, given)) = given.split_first() else { return Err(refuse("there is no method to call")) };
        work(given.iter().map(|value| length(*value)).sum())?;
        method(name.unpack_str().unwrap_or_default(), given, args, eval)
    }

    fn _percent<'v>(
        #[starlark(require = pos)] left: StarValue<'v>,
        #[starlark(require = pos)] right: StarValue<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<StarValue<'v>> {
        if let Some(format) = left.unpack_str() {
            let places = format.matches('%').count();
            admit(format.len().saturating_add(places.saturating_mul(shown_bytes(right)?)), eval)?;
        }
        left.percent(right, eval.heap())
    }

    fn _replace<'v>(args: &Arguments<'v, '_>, eval: &mut Evaluator<'v, '_, '_>) -> starlark::Result<StarValue<'v>> {
        let given: Vec<StarValue<'v>> = args.positions(eval.heap())?.collect();
        if let [text, old, new, ..] = given.as_slice()
            && let (Some(text), Some(old), Some(new)) = (text.unpack_str(), old.unpack_str(), new.unpack_str())
        {
            let found = if old.is_empty() { text.len() + 1 } else { text.matches(old).count() };
            admit(text.len().saturating_add(found.saturating_mul(new.len())), eval)?;
        }
        method("replace", &given, args, eval)
    }

    fn _join<'v>(args: &Arguments<'v, '_>, eval: &mut Evaluator<'v, '_, '_>) -> starlark::Result<StarValue<'v>> {
        let given: Vec<StarValue<'v>> = args.positions(eval.heap())?.collect();
        if let [between, items, ..] = given.as_slice() {
            let mut size = 0_usize;
            for item in items.iterate(eval.heap())? {
                size = size.saturating_add(length(item)).saturating_add(length(*between));
            }
            admit(size, eval)?;
        }
        method("join", &given, args, eval)
    }

    fn _format<'v>(args: &Arguments<'v, '_>, eval: &mut Evaluator<'v, '_, '_>) -> starlark::Result<StarValue<'v>> {
        let given: Vec<StarValue<'v>> = args.positions(eval.heap())?.collect();
        if let Some((format, values)) = given.split_first()
            && let Some(format) = format.unpack_str()
        {
            let mut size = 0_usize;
            for value in values.iter().copied().chain(args.names_map()?.values().copied()) {
                size = size.saturating_add(shown_bytes(value)?);
            }
            admit(format.len().saturating_add(size.saturating_mul(format.matches('{').count())), eval)?;
        }
        method("format", &given, args, eval)
    }
}

fn too_wide() -> starlark::Error {
    refuse("a whole number grows beyond 64 bits; use smaller ones")
}

/// What a script can mean by a time.
enum Time {
    /// A moment.
    At(SimTime),
    /// A date, or a time on whatever wall.
    Wall(NaiveDateTime),
    /// `None`.
    Never,
}

/// Reads a time as calendars and other services give it.
fn time_of(value: StarValue<'_>) -> starlark::Result<Time> {
    if value.is_none() {
        return Ok(Time::Never);
    }
    let bad = || refuse(format!("{} is no time; give RFC 3339, such as 2026-03-16T09:00:00+01:00", value.to_repr()));
    let text = value.unpack_str().ok_or_else(bad)?;
    if let Ok(time) = text.parse::<SimTime>() {
        return Ok(Time::At(time));
    }
    let date = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().and_then(|date| date.and_hms_opt(0, 0, 0));
    let wall = || {
        ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M"]
            .iter()
            .find_map(|form| NaiveDateTime::parse_from_str(text, form).ok())
    };
    date.or_else(wall).map(Time::Wall).ok_or_else(bad)
}

/// Returns whether `word` stands in `text` without a letter or digit right before or behind it.
fn has_word(text: &str, word: &str) -> bool {
    let is_free = |character: Option<char>| character.is_none_or(|character| !character.is_alphanumeric());
    !word.is_empty()
        && text.match_indices(word).any(|(at, found)| {
            is_free(text[..at].chars().next_back()) && is_free(text[at + found.len()..].chars().next())
        })
}

/// Calls the method `name` of the first of `given` with the others.
fn method<'v>(
    name: &str,
    given: &[StarValue<'v>],
    args: &Arguments<'v, '_>,
    eval: &mut Evaluator<'v, '_, '_>,
) -> starlark::Result<StarValue<'v>> {
    let Some((object, rest)) = given.split_first() else { return Err(refuse(format!("'{name}' needs a text"))) };
    let function = object.get_attr_error(name, eval.heap())?;
    let named = args.names_map()?;
    let named: Vec<(&str, StarValue<'v>)> = named.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    eval.eval_function(function, rest, &named)
}

/// Refuses to make something of `size`, or anything while memory is used up.
fn admit(size: usize, eval: &Evaluator<'_, '_, '_>) -> starlark::Result<()> {
    work(size.min(TEXT_MADE_BYTES_MAX))?;
    if size > TEXT_MADE_BYTES_MAX {
        let message = format!("a text or list of {size} would be too long; make at most {TEXT_MADE_BYTES_MAX} at once");
        return Err(refuse(message));
    }
    if eval.heap().allocated_bytes() > HEAP_BYTES_MAX {
        return Err(too_large());
    }
    Ok(())
}

/// Returns about how many bytes `value` takes when it is shown. Structs, lists and dicts are measured part by part, which bounds shared parts as
/// well; what is none of these is short.
fn shown_bytes(value: StarValue<'_>) -> starlark::Result<usize> {
    /// How deep a value may nest to be shown: the interpreter recurses over it.
    const DEPTH_MAX: usize = 10_000;
    let mut open = vec![(value, 0)];
    let (mut bytes, mut parts) = (0_usize, 0);
    while let Some((value, depth)) = open.pop() {
        parts += 1;
        if parts > PARTS_MAX || bytes > TEXT_MADE_BYTES_MAX || depth > DEPTH_MAX || length(value) > PARTS_MAX {
            return Err(refuse(format!(
                "a value with so many parts would be too long; show at most {TEXT_MADE_BYTES_MAX} bytes at once"
            )));
        }
        let mut below = |value| open.push((value, depth + 1));
        if let Some(text) = value.unpack_str() {
            bytes += text.len();
        } else if let Some(list) = ListRef::from_value(value) {
            list.iter().for_each(&mut below);
        } else if let Some(tuple) = TupleRef::from_value(value) {
            tuple.iter().for_each(&mut below);
        } else if let Some(dict) = DictRef::from_value(value) {
            dict.iter().for_each(|(key, item)| {
                below(key);
                below(item);
            });
        } else if let Some(fields) = StructRef::from_value(value) {
            fields.iter().for_each(|(name, item)| {
                below(name.to_value());
                below(item);
            });
        } else if value.get_type() == "int" {
            // A whole number beyond 64 bits is refused.
            integer(value)?;
            bytes += 20;
        } else {
            bytes += 64;
        }
        bytes += 4;
    }
    work(parts)?;
    Ok(bytes)
}

/// Returns the whole number that `value` is, if it is one.
fn integer(value: StarValue<'_>) -> starlark::Result<Option<i64>> {
    if value.get_type() != "int" {
        return Ok(None);
    }
    let number = i64::unpack_value(value).ok().flatten();
    number.map(Some).ok_or_else(|| refuse("a whole number is beyond 64 bits; use smaller ones"))
}

fn length(value: StarValue<'_>) -> usize {
    if let Some(text) = value.unpack_str() {
        return text.len();
    }
    value.length().ok().and_then(|length| usize::try_from(length).ok()).unwrap_or(0)
}

/// Reads an amount: currency signs and letters around it are passed over; `1.234,50` and `1,234.50` mean the same; one separator with
/// three digits behind it groups thousands, otherwise it starts the decimals.
fn parse_number(text: &str) -> Option<f64> {
    let is_part = |character: char| {
        character.is_ascii_digit() || matches!(character, '.' | ',' | '\'' | ' ' | '\u{a0}' | '\u{202f}')
    };
    let start = text.find(|character: char| character.is_ascii_digit())?;
    let end = text[start..].find(|character| !is_part(character)).map_or(text.len(), |end| start + end);
    let after = text[end..].trim();
    if after.chars().any(|character| character.is_ascii_digit()) {
        return None;
    }
    let before = text[..start].trim();
    let negative = before.ends_with(['-', '\u{2212}'])
        || before.starts_with(['-', '\u{2212}'])
        || before.starts_with('(') && after.ends_with(')');
    let digits: String =
        text[start..end].chars().filter(|character| matches!(character, '0'..='9' | '.' | ',')).collect();
    let digits = digits.trim_end_matches(['.', ',']);
    let decimal = match (digits.rfind('.'), digits.rfind(',')) {
        (Some(dot), Some(comma)) => Some(dot.max(comma)),
        (Some(at), None) | (None, Some(at)) => {
            let single = digits.matches(['.', ',']).count() == 1;
            let groups = digits.len() - at - 1 == 3 && at > 0 && at <= 3 && !digits.starts_with('0');
            (single && !groups).then_some(at)
        }
        (None, None) => None,
    };
    let mut plain = String::new();
    for (at, character) in digits.char_indices() {
        if character.is_ascii_digit() {
            plain.push(character);
        } else if Some(at) == decimal {
            plain.push('.');
        }
    }
    let number: f64 = plain.parse().ok()?;
    Some(if negative { -number } else { number })
}

#[cfg(test)]
mod tests {
    use super::parse_number;

    #[test]
    fn amounts_of_money_are_read_in_either_notation() {
        for (text, number) in [
            ("EUR 1.234,50", 1234.5),
            ("$1,234.50", 1234.5),
            ("1 234,50 €", 1234.5),
            ("CHF 12'000.-", 12000.0),
            ("48,200", 48200.0),
            ("12,5", 12.5),
            ("0.125", 0.125),
            ("1.234.567", 1_234_567.0),
            ("-17", -17.0),
            ("(250.00)", -250.0),
            ("48200", 48200.0),
        ] {
            assert_eq!(parse_number(text), Some(number), "{text}");
        }
    }

    #[test]
    fn text_without_one_number_is_none() {
        assert_eq!(parse_number("none"), None);
        assert_eq!(parse_number("3 of 4"), None);
        assert_eq!(parse_number(""), None);
    }
}
