//! Whether rows fulfil a filter, and in which order they come.

use std::cmp::Ordering;

use chrono::{Datelike, NaiveDate};
use chrono_tz::Tz;
use dayshift_engine::{SmolStr, Value};
use smol_str::StrExt;

use super::date::{Date, Moment, moved, today};
use super::filter::{Compare, Filter, Place, Quantity, Span, Target, Test};
use super::needle::alike;
use super::rollup::is_empty;
use super::scene::{Compute, Found, Looks, Scene, size};
use super::schema::PropertyKind;
use super::table::Row;

/// Holds rows of one database against filters. The scan is noted by whoever makes it.
pub(super) struct Matcher<'a> {
    scene: Scene<'a>,
    found: Found<'a>,
    compute: Compute<'a>,
}

impl<'a> Matcher<'a> {
    pub(super) fn new(scene: Scene<'a>, found: Found<'a>) -> Self {
        Self { scene, found, compute: Compute::new(scene, Looks::Scanned) }
    }

    /// Returns whether the row fulfils the filter. When the budget of the call is used up no row does, and whoever asked refuses the call.
    pub(super) fn holds(&self, filter: &Filter, row: &Row) -> bool {
        match filter {
            Filter::And(parts) => parts.iter().all(|part| self.holds(part, row)),
            Filter::Or(parts) => parts.iter().any(|part| self.holds(part, row)),
            Filter::Test(Target::Property(place), test) => self.with(row, *place, |value| {
                self.scene.frame.budget().work(2 + 4 * size(value) as u64).is_ok() && self.passes(test, value)
            }),
            Filter::Test(Target::Created, test) => self.passes_time(test, row.stamps.created),
            Filter::Test(Target::Edited, test) => self.passes_time(test, row.stamps.edited),
        }
    }

    /// Shows the value of a property to `look`, without a copy where it is stored.
    pub(super) fn with<R>(&self, row: &Row, place: usize, look: impl FnOnce(&Value) -> R) -> R {
        if self.found.schema().properties[place].kind.is_stored() {
            look(row.value(place))
        } else {
            look(&self.compute.of_row(self.found, row, place))
        }
    }

    fn passes_time(&self, test: &Test, time: dayshift_engine::SimTime) -> bool {
        self.passes(test, &Value::from(time))
    }

    /// Returns whether a value passes.
    fn passes(&self, test: &Test, value: &Value) -> bool {
        let zone = self.scene.desk.zone;
        match test {
            Test::Empty(expected) => is_empty(value) == *expected,
            Test::Is(expected, text) => alike(value.as_text().unwrap_or_default(), text) == *expected,
            Test::Has(expected, place, text) => {
                let own = value.as_text().unwrap_or_default();
                let has = match place {
                    Place::Anywhere => text.is_in(own),
                    Place::Start => text.starts(own),
                    Place::End => text.ends(own),
                };
                has == *expected
            }
            Test::Item(expected, item) => {
                let has = match value {
                    Value::List(items) => items.iter().any(|each| each.as_text().is_some_and(|each| alike(each, item))),
                    Value::Text(text) => alike(text, item),
                    Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Map(_) => false,
                };
                has == *expected
            }
            Test::Number(compare, number) => match value.as_float() {
                Some(own) => own.partial_cmp(number).is_some_and(|order| compare.fits(order)),
                None => *compare == Compare::NotEqual,
            },
            Test::Checked(expected) => (*value == Value::Bool(true)) == *expected,
            Test::Date(compare, moment) => {
                Date::of(value).is_some_and(|date| compare.fits(order_of(date.start, *moment, zone)))
            }
            Test::Within(span) => Date::of(value).is_some_and(|date| {
                let day = date.start.day(zone);
                span.days(today(self.scene.time.as_millis(), zone))
                    .is_some_and(|(first, last)| first <= day && day <= last)
            }),
            Test::Each(quantity, inner) => {
                let one = std::slice::from_ref(value);
                let values = match value {
                    Value::List(items) => items.as_slice(),
                    Value::Null => &[],
                    Value::Text(text) if text.is_empty() => &[],
                    Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::Map(_) => one,
                };
                match quantity {
                    Quantity::Any => values.iter().any(|value| self.passes(inner, value)),
                    Quantity::Every => values.iter().all(|value| self.passes(inner, value)),
                    Quantity::None => !values.iter().any(|value| self.passes(inner, value)),
                }
            }
            Test::All(tests) => tests.iter().all(|test| self.passes(test, value)),
        }
    }

    /// Returns where a value puts its row; nothing for an empty one, which comes last.
    pub(super) fn rank(&self, place: usize, value: &Value) -> Option<Rank> {
        let zone = self.scene.desk.zone;
        if let Some(options) = self.found.schema().properties[place].kind.options()
            && let Value::Text(text) = value
        {
            let index = options.iter().position(|option| option == text).unwrap_or(options.len());
            return Some(Rank::Number(index as f64));
        }
        if self.found.schema().properties[place].kind == PropertyKind::Checkbox {
            return Some(Rank::Number(f64::from(u8::from(*value == Value::Bool(true)))));
        }
        match value {
            Value::Null => None,
            Value::Bool(truth) => Some(Rank::Number(f64::from(u8::from(*truth)))),
            Value::Int(_) | Value::Float(_) => value.as_float().map(Rank::Number),
            Value::Text(text) if text.is_empty() => None,
            Value::Text(text) => Some(match Moment::parse(text) {
                Some(moment) => Rank::Number(moment.millis(zone) as f64),
                None => Rank::Text(text.to_lowercase_smolstr()),
            }),
            Value::List(items) if items.is_empty() => None,
            Value::List(_) => Some(Rank::Text(value.to_string().to_lowercase().into())),
            Value::Map(_) => Date::of(value).map(|date| Rank::Number(date.start.millis(zone) as f64)),
        }
    }
}

/// Where a value puts its row. Numbers and times come before text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Rank {
    Number(f64),
    Text(SmolStr),
}

impl Rank {
    /// Compares two ranks.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(left), Self::Number(right)) => left.total_cmp(right),
            (Self::Text(left), Self::Text(right)) => left.cmp(right),
            (Self::Number(_), Self::Text(_)) => Ordering::Less,
            (Self::Text(_), Self::Number(_)) => Ordering::Greater,
        }
    }
}

impl Compare {
    fn fits(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }
}

impl Span {
    /// Returns the first and the last day of the span.
    fn days(self, today: NaiveDate) -> Option<(NaiveDate, NaiveDate)> {
        Some(match self {
            Self::PastWeek => (moved(today, 0, -7)?, today),
            Self::PastMonth => (moved(today, -1, 0)?, today),
            Self::PastYear => (moved(today, -12, 0)?, today),
            Self::ThisWeek => {
                let monday = moved(today, 0, -i64::from(today.weekday().num_days_from_monday()))?;
                (monday, moved(monday, 0, 6)?)
            }
            Self::NextWeek => (today, moved(today, 0, 7)?),
            Self::NextMonth => (today, moved(today, 1, 0)?),
            Self::NextYear => (today, moved(today, 12, 0)?),
        })
    }
}

/// Compares two moments: by day if the right one is a day, otherwise by instant.
fn order_of(left: Moment, right: Moment, zone: Tz) -> Ordering {
    match right {
        Moment::Day(day) => left.day(zone).cmp(&day),
        Moment::Instant { millis, .. } => left.millis(zone).cmp(&millis),
    }
}
