//! The functions of formulas: text, numbers, dates. Each takes values and gives a value or a sentence.

#![expect(clippy::wildcard_enum_match_arm, reason = "functions single out the kinds of values that they treat apart")]

use dayshift_engine::Value;

use super::{Surroundings, amount, bounded, moment, shown};
use crate::knowledge::date::{Date, Moment, today};
use crate::knowledge::rollup::{is_empty, number};

/// The most values that a function with any number of them takes.
const VALUES_MAX: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Empty,
    Concat,
    Length,
    Lower,
    Upper,
    Contains,
    Format,
    ToNumber,
    Round,
    Floor,
    Ceil,
    Abs,
    Sqrt,
    Min,
    Max,
    Now,
    Today,
    DateAdd,
    DateSubtract,
    DateBetween,
    DateStart,
    DateEnd,
    Year,
    Month,
    Day,
}

const ALL: &[(&str, Function, usize, usize)] = &[
    ("empty", Function::Empty, 1, 1),
    ("concat", Function::Concat, 1, VALUES_MAX),
    ("length", Function::Length, 1, 1),
    ("lower", Function::Lower, 1, 1),
    ("upper", Function::Upper, 1, 1),
    ("contains", Function::Contains, 2, 2),
    ("format", Function::Format, 1, 1),
    ("toNumber", Function::ToNumber, 1, 1),
    ("round", Function::Round, 1, 2),
    ("floor", Function::Floor, 1, 1),
    ("ceil", Function::Ceil, 1, 1),
    ("abs", Function::Abs, 1, 1),
    ("sqrt", Function::Sqrt, 1, 1),
    ("min", Function::Min, 1, VALUES_MAX),
    ("max", Function::Max, 1, VALUES_MAX),
    ("now", Function::Now, 0, 0),
    ("today", Function::Today, 0, 0),
    ("dateAdd", Function::DateAdd, 3, 3),
    ("dateSubtract", Function::DateSubtract, 3, 3),
    ("dateBetween", Function::DateBetween, 3, 3),
    ("dateStart", Function::DateStart, 1, 1),
    ("dateEnd", Function::DateEnd, 1, 1),
    ("year", Function::Year, 1, 1),
    ("month", Function::Month, 1, 1),
    ("date", Function::Day, 1, 1),
];

impl Function {
    pub(super) fn read(name: &str) -> Option<Self> {
        ALL.iter().find(|(known, ..)| *known == name).map(|(_, function, ..)| *function)
    }

    pub(super) fn names() -> String {
        ALL.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(", ")
    }

    /// Returns the least and the most values that it takes.
    pub(super) fn arity(self) -> (usize, usize) {
        ALL.iter().find(|(_, function, ..)| *function == self).map_or((0, 0), |(_, _, least, most)| (*least, *most))
    }

    /// Returns what the function makes of `values`, whose count was checked.
    pub(super) fn call(self, values: &[Value], surroundings: &dyn Surroundings) -> Result<Value, String> {
        let first = values.first().unwrap_or(&Value::Null);
        let second = values.get(1).unwrap_or(&Value::Null);
        let third = values.get(2).unwrap_or(&Value::Null);
        match self {
            // In Notion a zero and an unchecked box are empty too.
            Self::Empty => {
                Ok(Value::Bool(is_empty(first) || first.as_float() == Some(0.0) || *first == Value::Bool(false)))
            }
            Self::Concat => {
                let mut text = String::new();
                for value in values {
                    text.push_str(&shown(value));
                    if text.len() > super::FORMULA_TEXT_BYTES_MAX {
                        break;
                    }
                }
                bounded(text)
            }
            Self::Length => Ok(match first {
                Value::List(items) => Value::from(items.len()),
                other => Value::from(shown(other).chars().count()),
            }),
            Self::Lower => bounded(shown(first).to_lowercase()),
            Self::Upper => bounded(shown(first).to_uppercase()),
            Self::Contains => Ok(Value::Bool(match first {
                Value::List(items) => items.contains(second),
                other => shown(other).contains(&shown(second)),
            })),
            Self::Format => bounded(shown(first)),
            Self::ToNumber => {
                let text = shown(first);
                match first {
                    Value::Text(_) => Ok(text.trim().parse::<f64>().map_or(Value::Null, number)),
                    other => amount(other).map(number),
                }
            }
            Self::Round => {
                let digits = amount(second)?;
                let scale = (0..digits.clamp(0.0, 15.0) as u32).fold(1.0, |scale, _| scale * 10.0);
                Ok(number((amount(first)? * scale).round() / scale))
            }
            Self::Floor => Ok(number(amount(first)?.floor())),
            Self::Ceil => Ok(number(amount(first)?.ceil())),
            Self::Abs => Ok(number(amount(first)?.abs())),
            Self::Sqrt => match amount(first)? {
                negative if negative < 0.0 => Err("a negative number has no root".to_owned()),
                other => Ok(number(other.sqrt())),
            },
            Self::Min => fold(values, f64::min),
            Self::Max => fold(values, f64::max),
            Self::Now => {
                let (millis, zone) = surroundings.now();
                let now = Moment::Instant { millis, offset_seconds: 0 }.plus(0, "hours", zone);
                Ok(now.map_or(Value::Null, |now| now.text().into()))
            }
            Self::Today => {
                let (millis, zone) = surroundings.now();
                Ok(Moment::Day(today(millis, zone)).text().into())
            }
            Self::DateAdd => shift(first, amount(second)?, third, surroundings),
            Self::DateSubtract => shift(first, -amount(second)?, third, surroundings),
            Self::DateBetween => between(first, second, third, surroundings),
            Self::DateStart => Ok(moment(first).map_or(Value::Null, |start| start.text().into())),
            Self::DateEnd => {
                let end = Date::of(first).map(|date| date.end.unwrap_or(date.start));
                Ok(end.map_or(Value::Null, |end| end.text().into()))
            }
            Self::Year | Self::Month | Self::Day => {
                use chrono::Datelike;
                let Some(moment) = moment(first) else { return Ok(Value::Null) };
                let day = moment.day(surroundings.now().1);
                Ok(Value::Int(match self {
                    Self::Year => i64::from(day.year()),
                    Self::Month => i64::from(day.month()),
                    _ => i64::from(day.day()),
                }))
            }
        }
    }
}

fn fold(values: &[Value], pick: fn(f64, f64) -> f64) -> Result<Value, String> {
    let mut numbers = Vec::new();
    for value in values {
        match value {
            Value::List(items) => numbers.extend(items.iter().filter_map(Value::as_float)),
            other => numbers.push(amount(other)?),
        }
    }
    Ok(numbers.into_iter().reduce(pick).map_or(Value::Null, number))
}

fn shift(date: &Value, by: f64, unit: &Value, surroundings: &dyn Surroundings) -> Result<Value, String> {
    if is_empty(date) {
        return Ok(Value::Null);
    }
    let from = moment(date).ok_or_else(|| format!("{date} is no date"))?;
    let unit = unit.as_text().unwrap_or_default();
    // Fractions of a unit are dropped, as in Notion.
    let to = from.plus(by.trunc() as i64, unit, surroundings.now().1);
    to.map(|to| to.text().into()).ok_or_else(|| {
        format!(
            "{date} cannot be moved by {by} \"{unit}\"; units are years, quarters, months, weeks, days, hours, minutes"
        )
    })
}

/// Returns how many whole units `first` is after `second`.
fn between(first: &Value, second: &Value, unit: &Value, surroundings: &dyn Surroundings) -> Result<Value, String> {
    if is_empty(first) || is_empty(second) {
        return Ok(Value::Null);
    }
    let zone = surroundings.now().1;
    let read = |value: &Value| moment(value).ok_or_else(|| format!("{value} is no date"));
    let (first, second) = (read(first)?, read(second)?);
    let unit = unit.as_text().unwrap_or_default().trim_end_matches('s');
    let millis = first.millis(zone).saturating_sub(second.millis(zone));
    let days = || match (first, second) {
        // Days have no zone, and not all of them 24 hours.
        (Moment::Day(first), Moment::Day(second)) => first.signed_duration_since(second).num_days(),
        _ => millis / 86_400_000,
    };
    let months = || {
        use chrono::Datelike;
        let (left, right) = (first.day(zone), second.day(zone));
        let whole = i64::from(left.year() - right.year()) * 12 + i64::from(left.month()) - i64::from(right.month());
        match whole {
            1.. if left.day() < right.day() => whole - 1,
            ..=-1 if left.day() > right.day() => whole + 1,
            _ => whole,
        }
    };
    Ok(Value::Int(match unit {
        "year" => months() / 12,
        "quarter" => months() / 3,
        "month" => months(),
        "week" => days() / 7,
        "day" => days(),
        "hour" => millis / 3_600_000,
        "minute" => millis / 60_000,
        other => {
            return Err(format!(
                "\"{other}\" is no unit; units are years, quarters, months, weeks, days, hours, minutes"
            ));
        }
    }))
}
