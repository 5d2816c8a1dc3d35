//! What a rollup makes of the values that its relation leads to.

use dayshift_engine::{SmolStr, Value, map};

use super::date::{Date, Moment};

/// How a rollup combines values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RollupFunction {
    ShowOriginal,
    ShowUnique,
    Count,
    CountValues,
    CountUnique,
    Empty,
    NotEmpty,
    PercentEmpty,
    PercentNotEmpty,
    Sum,
    Average,
    Median,
    Min,
    Max,
    Range,
    Earliest,
    Latest,
    Checked,
    Unchecked,
    PercentChecked,
    PercentUnchecked,
}

impl RollupFunction {
    const ALL: &'static [(&'static str, Self)] = &[
        ("show_original", Self::ShowOriginal),
        ("show_unique", Self::ShowUnique),
        ("count", Self::Count),
        ("count_values", Self::CountValues),
        ("count_unique", Self::CountUnique),
        ("unique", Self::CountUnique),
        ("empty", Self::Empty),
        ("not_empty", Self::NotEmpty),
        ("percent_empty", Self::PercentEmpty),
        ("percent_not_empty", Self::PercentNotEmpty),
        ("sum", Self::Sum),
        ("average", Self::Average),
        ("median", Self::Median),
        ("min", Self::Min),
        ("max", Self::Max),
        ("range", Self::Range),
        ("earliest", Self::Earliest),
        ("earliest_date", Self::Earliest),
        ("latest", Self::Latest),
        ("latest_date", Self::Latest),
        ("checked", Self::Checked),
        ("unchecked", Self::Unchecked),
        ("percent_checked", Self::PercentChecked),
        ("percent_unchecked", Self::PercentUnchecked),
    ];

    /// Returns the function called `name`.
    pub(super) fn read(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, function)| *function)
    }

    /// Returns the function's name.
    pub(super) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, function)| *function == self).map_or("", |(name, _)| *name)
    }

    /// Returns the names of all functions, for sentences.
    pub(super) fn names() -> String {
        Self::ALL.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    }

    /// Combines `values`, one a related row, in the relation's order.
    pub(super) fn combine(self, values: &[Value]) -> Value {
        let flat: Vec<&Value> = values.iter().flat_map(items).collect();
        let empty = values.iter().filter(|value| is_empty(value)).count();
        let checked = values.iter().filter(|value| **value == Value::Bool(true)).count();
        let numbers = || flat.iter().filter_map(|value| value.as_float());
        match self {
            Self::ShowOriginal => flat.into_iter().cloned().collect(),
            Self::ShowUnique => unique(&flat).into_iter().cloned().collect(),
            Self::Count => Value::from(values.len()),
            Self::CountValues => Value::from(flat.len()),
            Self::CountUnique => Value::from(unique(&flat).len()),
            Self::Empty => Value::from(empty),
            Self::NotEmpty => Value::from(values.len() - empty),
            Self::PercentEmpty => share(empty, values.len()),
            Self::PercentNotEmpty => share(values.len() - empty, values.len()),
            Self::Sum => number(numbers().sum()),
            Self::Average => match numbers().count() {
                0 => Value::Null,
                count => number(numbers().sum::<f64>() / count as f64),
            },
            Self::Median => median(numbers().collect()),
            Self::Min => numbers().reduce(f64::min).map_or(Value::Null, number),
            Self::Max => numbers().reduce(f64::max).map_or(Value::Null, number),
            Self::Range => match (numbers().reduce(f64::min), numbers().reduce(f64::max)) {
                (Some(min), Some(max)) => number(max - min),
                _ => Value::Null,
            },
            Self::Earliest => {
                dates(&flat).min_by_key(|moment| moment.millis(chrono_tz::Tz::UTC)).map_or(Value::Null, shown)
            }
            Self::Latest => {
                dates(&flat).max_by_key(|moment| moment.millis(chrono_tz::Tz::UTC)).map_or(Value::Null, shown)
            }
            Self::Checked => Value::from(checked),
            Self::Unchecked => Value::from(values.len() - checked),
            Self::PercentChecked => share(checked, values.len()),
            Self::PercentUnchecked => share(values.len() - checked, values.len()),
        }
    }
}

/// Returns whether a value is nothing: null, an empty text or list. A box that is not checked is not empty.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Text(text) => text.is_empty(),
        Value::List(items) => items.is_empty(),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Map(_) => false,
    }
}

/// Returns a number as a value, whole where it is whole.
pub(super) fn number(number: f64) -> Value {
    if !number.is_finite() {
        return error("the number is too large");
    }
    let value = Value::Float(number);
    value.as_int().map_or(value, Value::Int)
}

/// Returns an error as a value: what a formula or a rollup comes to that cannot be computed.
pub(super) fn error(message: &str) -> Value {
    map! { "error" => message }
}

/// Returns whether a value is an error.
pub(super) fn is_error(value: &Value) -> bool {
    value.get("error").is_some()
}

fn items(value: &Value) -> Vec<&Value> {
    match value {
        Value::List(items) => items.iter().collect(),
        Value::Null => Vec::new(),
        Value::Text(text) if text.is_empty() => Vec::new(),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::Map(_) => vec![value],
    }
}

fn unique<'v>(values: &[&'v Value]) -> Vec<&'v Value> {
    let mut seen: std::collections::BTreeSet<SmolStr> = std::collections::BTreeSet::new();
    values.iter().filter(|value| seen.insert(value.to_string().into())).copied().collect()
}

fn share(part: usize, whole: usize) -> Value {
    if whole == 0 { Value::Int(0) } else { number(part as f64 / whole as f64) }
}

fn median(mut numbers: Vec<f64>) -> Value {
    numbers.sort_by(f64::total_cmp);
    match numbers.len() {
        0 => Value::Null,
        count if count % 2 == 1 => number(numbers[count / 2]),
        count => number(f64::midpoint(numbers[count / 2 - 1], numbers[count / 2])),
    }
}

fn dates(values: &[&Value]) -> impl Iterator<Item = Moment> {
    let dates: Vec<Date> = values.iter().filter_map(|value| Date::of(value)).collect();
    dates.into_iter().flat_map(|date| [Some(date.start), date.end]).flatten()
}

fn shown(moment: Moment) -> Value {
    moment.text().into()
}
