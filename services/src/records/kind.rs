//! The types of fields and parameters: what each takes, its canonical form, how values of it compare, and how people see them.

use std::borrow::Cow;
use std::cmp::Ordering;

use chrono::NaiveDate;
use dayshift_engine::{SimTime, SmolStr, Value};

use super::decimal::Decimal;
use crate::lowercase::composed;
use crate::service::Desk;

/// How long the text of one field may be, in bytes.
pub const FIELD_TEXT_BYTES_MAX: usize = 64 * 1024;

/// How many items a list field may hold.
pub const FIELD_LIST_ITEMS_MAX: usize = 200;

/// How long a row's id may be, in bytes.
pub const ROW_ID_BYTES_MAX: usize = 128;

/// The type of a field or of an action's parameter.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum FieldKind {
    /// Text.
    Text,
    /// A whole number.
    Integer,
    /// An exact decimal, kept as text with this many digits after the point.
    Decimal {
        /// The digits after the point.
        scale: u32,
    },
    /// True or false.
    Boolean,
    /// A calendar day, `YYYY-MM-DD`.
    Date,
    /// An instant, kept as RFC 3339 in UTC.
    Time,
    /// One of these words.
    Choice(Vec<SmolStr>),
    /// The id of a row of this table.
    Reference(SmolStr),
    /// A list of text.
    List,
    /// Any structured value: compared as a whole, never looked into.
    Any,
}

impl FieldKind {
    /// Returns the name of the type in a definition.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Integer => "integer",
            Self::Decimal { .. } => "decimal",
            Self::Boolean => "boolean",
            Self::Date => "date",
            Self::Time => "time",
            Self::Choice(_) => "choice",
            Self::Reference(_) => "reference",
            Self::List => "list",
            Self::Any => "any",
        }
    }

    /// Returns what the type takes, for sentences.
    pub(super) fn takes(&self) -> Cow<'static, str> {
        match self {
            Self::Text => format!("text of at most {FIELD_TEXT_BYTES_MAX} bytes").into(),
            Self::Integer => "a whole number".into(),
            Self::Decimal { scale } => {
                format!("a decimal with at most {scale} digits after the point, best as text such as \"12.5\"").into()
            }
            Self::Boolean => "true or false".into(),
            Self::Date => "a date such as 2026-03-16".into(),
            Self::Time => "an RFC 3339 time with an offset, such as 2026-03-16T09:00:00+01:00".into(),
            Self::Choice(options) => format!("one of {}", options.join(", ")).into(),
            Self::Reference(table) => format!("the id of a row of {table}").into(),
            Self::List => format!("a list of at most {FIELD_LIST_ITEMS_MAX} texts").into(),
            Self::Any => format!("any value of at most {FIELD_TEXT_BYTES_MAX} bytes").into(),
        }
    }

    /// Returns the canonical form of `value`, or nothing if the type does not take it. Null is not asked here.
    pub(super) fn admit(&self, value: &Value) -> Option<Value> {
        match self {
            Self::Text => value.as_text().filter(|text| text.len() <= FIELD_TEXT_BYTES_MAX).map(|_| value.clone()),
            Self::Integer => value.as_int().map(Value::Int),
            Self::Decimal { scale } => Some(Value::from(Decimal::of(value)?.text(*scale)?)),
            Self::Boolean => value.as_bool().map(Value::Bool),
            Self::Date => is_date(value.as_text()?).then(|| value.clone()),
            Self::Time => Some(Value::from(value.as_text()?.parse::<SimTime>().ok()?)),
            Self::Choice(options) => {
                let text = value.as_text()?;
                options.iter().find(|option| same(option, text)).cloned().map(Value::Text)
            }
            Self::Reference(_) => is_row_id(value.as_text()?).then(|| value.clone()),
            Self::List => {
                let items = value.as_list()?;
                let fits = items.len() <= FIELD_LIST_ITEMS_MAX
                    && items.iter().all(|item| item.as_text().is_some())
                    && text_bytes(value) <= FIELD_TEXT_BYTES_MAX;
                fits.then(|| value.clone())
            }
            Self::Any => (text_bytes(value) <= FIELD_TEXT_BYTES_MAX).then(|| value.clone()),
        }
    }

    /// Returns `value` as something that has an order; nothing if it is empty or the type has no order.
    pub(super) fn rank<'v>(&self, value: &'v Value) -> Option<Rank<'v>> {
        match self {
            Self::Text | Self::Date | Self::Choice(_) | Self::Reference(_) => value.as_text().map(Rank::Text),
            Self::Integer | Self::Decimal { .. } => Decimal::of(value).map(Rank::Number),
            Self::Boolean => value.as_bool().map(Rank::Flag),
            Self::Time => value.as_text()?.parse().ok().map(Rank::Instant),
            Self::List | Self::Any => None,
        }
    }

    /// Returns how two values of this type compare; nothing if one is empty or the type has no order.
    pub(super) fn compare(&self, left: &Value, right: &Value) -> Option<Ordering> {
        Some(self.rank(left)?.cmp(&self.rank(right)?))
    }

    /// Returns whether two values of this type are the same; two empty ones are.
    pub(super) fn equals(&self, left: &Value, right: &Value) -> bool {
        let spelled_alike = || left.as_text().zip(right.as_text()).is_some_and(|(left, right)| same(left, right));
        left == right || self.compare(left, right) == Some(Ordering::Equal) || spelled_alike()
    }

    /// Returns whether the type has an order, so that `lt` and sorting make sense.
    pub(super) const fn is_ordered(&self) -> bool {
        !matches!(self, Self::List | Self::Any)
    }

    /// Returns `value` as the caller at `desk` sees it: times in the office's zone.
    pub(super) fn show(&self, value: &Value, desk: &Desk) -> Value {
        match (self, value) {
            (Self::Time, Value::Text(text)) => {
                text.parse().map_or_else(|_| value.clone(), |time| Value::from(desk.show(time)))
            }
            _ => value.clone(),
        }
    }
}

/// A value of an ordered type. Only ranks of one type are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank<'v> {
    Flag(bool),
    Number(Decimal),
    Instant(SimTime),
    Text(&'v str),
}

/// Returns whether two texts are the same but for the spelling of letters with marks, composed or decomposed.
fn same(left: &str, right: &str) -> bool {
    left == right || (!left.is_ascii() && !right.is_ascii() && composed(left) == composed(right))
}

/// Returns whether a value counts as empty: null, empty text, an empty list.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Text(text) => text.is_empty(),
        Value::List(items) => items.is_empty(),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Map(_) => false,
    }
}

/// Returns whether `text` can name a row: it ends up in keys, so it has no slash, no control character and no space at its ends.
pub(super) fn is_row_id(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= ROW_ID_BYTES_MAX
        && text != "*"
        && text.trim().len() == text.len()
        && !text.chars().any(|character| character == '/' || character.is_control())
}

fn is_date(text: &str) -> bool {
    text.len() == 10 && NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok()
}

fn text_bytes(value: &Value) -> usize {
    match value {
        Value::Text(text) => text.len(),
        Value::List(items) => items.iter().map(|item| text_bytes(item) + 1).sum(),
        Value::Map(map) => map.iter().map(|(key, item)| key.len() + text_bytes(item) + 1).sum(),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => 1,
    }
}
