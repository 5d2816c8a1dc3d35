//! Filters of queries, in Notion's shape: `{"property": "Status", "select": {"equals": "Open"}}`, where the type may be left out, `{"timestamp":
//! "created_time", …}`, and `{"and": […]}`, `{"or": […]}` nested. Here they are read and bound to a schema; [`super::matching`] holds
//! them against rows.

use std::collections::BTreeMap;

use dayshift_engine::{Rejection, SmolStr, Value};

use super::date::Moment;
use super::needle::{Needle, same};
use super::scene::{Found, Scene};
use super::schema::{PropertyKind, Schema};

/// How deep `and` and `or` may nest. Notion stops at 2.
pub const FILTER_DEPTH_MAX: usize = 4;

/// How many conditions one filter may hold.
pub const FILTER_CONDITIONS_MAX: usize = 100;

/// Something that a row fulfils or not.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Filter {
    And(Vec<Filter>),
    Or(Vec<Filter>),
    Test(Target, Test),
}

/// What a condition looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A property, by its place in the schema.
    Property(usize),
    /// When the row was created.
    Created,
    /// When it was last edited.
    Edited,
}

/// What a condition asks of one value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Test {
    Empty(bool),
    /// Text, or the name of an option, is this or is not.
    Is(bool, SmolStr),
    /// Text has this in it, without regard to case.
    Has(bool, Place, Needle),
    /// A list has this item, or has not.
    Item(bool, SmolStr),
    Number(Compare, f64),
    Checked(bool),
    Date(Compare, Moment),
    /// A day is in the span that starts with the first and ends with the last.
    Within(Span),
    /// Of a rollup's values, any, every one or none passes.
    Each(Quantity, Box<Test>),
    /// All of them pass.
    All(Vec<Test>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Anywhere,
    Start,
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compare {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    Any,
    Every,
    None,
}

/// A span of days around today.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Span {
    PastWeek,
    PastMonth,
    PastYear,
    /// Monday to Sunday.
    ThisWeek,
    NextWeek,
    NextMonth,
    NextYear,
}

/// The operators that a property knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Text,
    Number,
    Checkbox,
    Choice,
    List,
    Files,
    Date,
    Formula,
    Rollup,
}

impl Class {
    fn of(kind: &PropertyKind) -> Self {
        match kind {
            PropertyKind::Title
            | PropertyKind::Text
            | PropertyKind::Url
            | PropertyKind::Email
            | PropertyKind::Phone => Self::Text,
            PropertyKind::Number { .. } => Self::Number,
            PropertyKind::Select { .. } | PropertyKind::Status { .. } => Self::Choice,
            PropertyKind::MultiSelect { .. }
            | PropertyKind::People
            | PropertyKind::Relation { .. }
            | PropertyKind::CreatedBy
            | PropertyKind::LastEditedBy => Self::List,
            PropertyKind::Files => Self::Files,
            PropertyKind::Date | PropertyKind::CreatedTime | PropertyKind::LastEditedTime => Self::Date,
            PropertyKind::Checkbox => Self::Checkbox,
            PropertyKind::Formula { .. } => Self::Formula,
            PropertyKind::Rollup { .. } => Self::Rollup,
        }
    }

    /// Returns the class that Notion's name of a filter's type stands for.
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "title" | "rich_text" | "text" | "url" | "email" | "phone_number" | "phone" | "string" => Self::Text,
            "number" => Self::Number,
            "checkbox" => Self::Checkbox,
            "select" | "status" => Self::Choice,
            "multi_select" | "people" | "relation" | "created_by" | "last_edited_by" => Self::List,
            "files" => Self::Files,
            "date" | "created_time" | "last_edited_time" => Self::Date,
            "formula" => Self::Formula,
            "rollup" => Self::Rollup,
            _ => return None,
        })
    }

    const fn operators(self) -> &'static str {
        match self {
            Self::Text => {
                "equals, does_not_equal, contains, does_not_contain, starts_with, ends_with, is_empty, is_not_empty"
            }
            Self::Number => {
                "equals, does_not_equal, greater_than, less_than, greater_than_or_equal_to, less_than_or_equal_to, is_empty, is_not_empty"
            }
            Self::Checkbox => "equals, does_not_equal",
            Self::Choice => "equals, does_not_equal, is_empty, is_not_empty",
            Self::List => "contains, does_not_contain, is_empty, is_not_empty",
            Self::Files => "is_empty, is_not_empty",
            Self::Date => {
                "equals, before, after, on_or_before, on_or_after, past_week, past_month, past_year, this_week, next_week, next_month, \
                 next_year, is_empty, is_not_empty"
            }
            Self::Formula => "string, number, checkbox or date, each with an operator",
            Self::Rollup => "any, every, none, number or date, each with an operator",
        }
    }
}

/// Returns the filter that `value` writes, bound to the database.
///
/// # Errors
///
/// `knowledge/bad-filter` with a sentence, or `knowledge/unknown-property`.
pub(super) fn read(scene: &Scene<'_>, found: Found<'_>, value: &Value) -> Result<Filter, Rejection> {
    let mut left = FILTER_CONDITIONS_MAX;
    let reader = Reader { scene, found };
    reader.filter(value, FILTER_DEPTH_MAX, &mut left)
}

struct Reader<'r, 'a> {
    scene: &'r Scene<'a>,
    found: Found<'a>,
}

fn bad(message: impl std::fmt::Display) -> Rejection {
    Rejection::new("knowledge/bad-filter", format!("filter: {message}"))
}

impl<'a> Reader<'_, 'a> {
    fn schema(&self) -> &'a Schema {
        self.found.schema()
    }

    fn filter(&self, value: &Value, depth: usize, left: &mut usize) -> Result<Filter, Rejection> {
        let map = value.as_map().ok_or_else(|| {
            bad("a filter is an object such as {\"property\": \"Status\", \"select\": {\"equals\": \"Open\"}}, or {\"and\": [...]} or {\"or\": [...]}")
        })?;
        let compound = map.get("and").map(|parts| (true, parts)).or_else(|| map.get("or").map(|parts| (false, parts)));
        if let Some((all, parts)) = compound {
            if map.len() > 1 {
                return Err(bad("and and or stand alone in their object; nest one in the other"));
            }
            let depth = depth.checked_sub(1).ok_or_else(|| {
                bad(format!("and and or nest deeper than {FILTER_DEPTH_MAX} levels; query in several steps"))
            })?;
            let parts = parts.as_list().ok_or_else(|| bad("and and or take a list of filters"))?;
            let parts = parts.iter().map(|part| self.filter(part, depth, left)).collect::<Result<Vec<_>, _>>()?;
            return Ok(if all { Filter::And(parts) } else { Filter::Or(parts) });
        }
        *left = left.checked_sub(1).ok_or_else(|| {
            bad(format!("there are more than {FILTER_CONDITIONS_MAX} conditions; query in several steps"))
        })?;
        self.condition(map)
    }

    fn condition(&self, map: &BTreeMap<SmolStr, Value>) -> Result<Filter, Rejection> {
        let mut rest = map.clone();
        if let Some(timestamp) = rest.remove("timestamp") {
            let target = match timestamp.as_text() {
                Some("created_time") => Target::Created,
                Some("last_edited_time") => Target::Edited,
                _ => return Err(bad("timestamp is created_time or last_edited_time")),
            };
            let test = self.typed(Class::Date, "the timestamp", None, &rest)?;
            return Ok(Filter::Test(target, test));
        }
        let Some(Value::Text(name)) = rest.remove("property") else {
            return Err(bad("a condition names a property (or a timestamp)"));
        };
        let (place, property) = self.schema().expect(&name)?;
        let test = self.typed(Class::of(&property.kind), &name, Some(&property.kind), &rest)?;
        Ok(Filter::Test(Target::Property(place), test))
    }

    /// Reads what is left of a condition: `{"select": {"equals": …}}`, or the operators alone.
    fn typed(
        &self,
        class: Class,
        name: &str,
        kind: Option<&PropertyKind>,
        rest: &BTreeMap<SmolStr, Value>,
    ) -> Result<Test, Rejection> {
        let only = rest.first_key_value().filter(|_| rest.len() == 1);
        if let Some((key, Value::Map(inner))) = only
            && let Some(named) = Class::named(key)
            && (named == class || !matches!(class, Class::Formula | Class::Rollup))
        {
            // A created_by is one person, whom Notion filters as people.
            if named != class {
                let kind = kind.map_or("a timestamp", |kind| kind.name());
                return Err(bad(format!("'{name}' is of type {kind}, not {key}")));
            }
            return self.tests(class, name, kind, inner);
        }
        self.tests(class, name, kind, rest)
    }

    fn tests(
        &self,
        class: Class,
        name: &str,
        kind: Option<&PropertyKind>,
        operators: &BTreeMap<SmolStr, Value>,
    ) -> Result<Test, Rejection> {
        let mut tests = Vec::new();
        for (operator, value) in operators {
            let test = self.test(class, name, kind, operator, value)?;
            tests.push(test.ok_or_else(|| {
                bad(format!("'{name}' has no operator {operator} that takes {value}; it knows {}", class.operators()))
            })?);
        }
        match tests.len() {
            0 => Err(bad(format!("the condition on '{name}' has no operator; write one of {}", class.operators()))),
            1 => Ok(tests.remove(0)),
            _ => Ok(Test::All(tests)),
        }
    }

    /// Returns the test of one operator; nothing if the class has no such operator with such a value.
    fn test(
        &self,
        class: Class,
        name: &str,
        kind: Option<&PropertyKind>,
        operator: &str,
        value: &Value,
    ) -> Result<Option<Test>, Rejection> {
        let text = value.as_text();
        if matches!(operator, "is_empty" | "is_not_empty") && !matches!(class, Class::Checkbox) {
            // Notion takes only true, and reads false as the opposite.
            return Ok(value.as_bool().map(|truth| Test::Empty(truth == (operator == "is_empty"))));
        }
        Ok(match class {
            Class::Text => text.and_then(|text| text_test(operator, text)),
            Class::Number => value.as_float().and_then(|number| Some(Test::Number(compare(operator)?, number))),
            Class::Checkbox => value.as_bool().and_then(|truth| match operator {
                "equals" => Some(Test::Checked(truth)),
                "does_not_equal" => Some(Test::Checked(!truth)),
                _ => None,
            }),
            Class::Choice => text.and_then(|text| match operator {
                "equals" => Some(Test::Is(true, text.into())),
                "does_not_equal" => Some(Test::Is(false, text.into())),
                _ => None,
            }),
            Class::List => text.and_then(|text| {
                let item = self.item(kind, text);
                match operator {
                    "contains" => Some(Test::Item(true, item)),
                    "does_not_contain" => Some(Test::Item(false, item)),
                    _ => None,
                }
            }),
            Class::Files => None,
            Class::Date => date_test(operator, value),
            Class::Formula => match (Class::named(operator), value) {
                (Some(inner @ (Class::Text | Class::Number | Class::Checkbox | Class::Date)), Value::Map(map)) => {
                    Some(self.tests(inner, name, None, map)?)
                }
                // Without a type, the value says which is meant.
                _ => match value {
                    Value::Bool(truth) if operator == "equals" => Some(Test::Checked(*truth)),
                    Value::Int(_) | Value::Float(_) => {
                        value.as_float().and_then(|number| Some(Test::Number(compare(operator)?, number)))
                    }
                    Value::Text(text) => text_test(operator, text).or_else(|| date_test(operator, value)),
                    Value::Null | Value::Bool(_) | Value::List(_) | Value::Map(_) => None,
                },
            },
            Class::Rollup => match (operator, value) {
                ("any" | "every" | "none", Value::Map(map)) => {
                    let quantity = match operator {
                        "any" => Quantity::Any,
                        "every" => Quantity::Every,
                        _ => Quantity::None,
                    };
                    Some(Test::Each(quantity, Box::new(self.rolled(name, map)?)))
                }
                ("number", Value::Map(map)) => Some(self.tests(Class::Number, name, None, map)?),
                ("date", Value::Map(map)) => Some(self.tests(Class::Date, name, None, map)?),
                _ => value
                    .as_float()
                    .and_then(|number| Some(Test::Number(compare(operator)?, number)))
                    .or_else(|| date_test(operator, value)),
            },
        })
    }

    /// Reads what any, every or none asks of each value: `{"number": {"greater_than": 5}}`.
    fn rolled(&self, name: &str, map: &BTreeMap<SmolStr, Value>) -> Result<Test, Rejection> {
        let inner = map.first_key_value().filter(|_| map.len() == 1);
        match inner.and_then(|(key, value)| Some((Class::named(key)?, value.as_map()?))) {
            Some((Class::Rollup | Class::Formula, _)) => Err(bad(format!(
                "a rollup of rollups or formulas such as '{name}' is filtered as number, string, checkbox or date"
            ))),
            Some((class, map)) => self.tests(class, name, None, map),
            None => Err(bad(format!(
                "any, every and none on '{name}' take a type and an operator, such as {{\"number\": {{\"greater_than\": 5}}}}"
            ))),
        }
    }

    /// Returns the item that a list is to contain; for a relation, the id of the row that has this title.
    fn item(&self, kind: Option<&PropertyKind>, text: &str) -> SmolStr {
        if let Some(PropertyKind::Relation { database, .. }) = kind
            && !self.scene.state.nodes.contains_key(text)
            && let Ok(Some(target)) = self.scene.find_database(database)
        {
            let place = target.schema().title_place();
            let mut rows = target.table.scan(self.scene.frame);
            let budget = self.scene.frame.budget();
            if budget.work(4 * target.table.len() as u64).is_err() {
                return text.into();
            }
            let row =
                rows.find(|row| !row.archived && row.value(place).as_text().is_some_and(|title| same(title, text)));
            if let Some(row) = row {
                return row.id.clone();
            }
        }
        text.into()
    }
}

fn compare(operator: &str) -> Option<Compare> {
    Some(match operator {
        "equals" => Compare::Equal,
        "does_not_equal" => Compare::NotEqual,
        "greater_than" => Compare::Greater,
        "less_than" => Compare::Less,
        "greater_than_or_equal_to" => Compare::GreaterOrEqual,
        "less_than_or_equal_to" => Compare::LessOrEqual,
        _ => return None,
    })
}

fn text_test(operator: &str, text: &str) -> Option<Test> {
    let needle = || Needle::new(text);
    Some(match operator {
        "equals" => Test::Is(true, text.into()),
        "does_not_equal" => Test::Is(false, text.into()),
        "contains" => Test::Has(true, Place::Anywhere, needle()),
        "does_not_contain" => Test::Has(false, Place::Anywhere, needle()),
        "starts_with" => Test::Has(true, Place::Start, needle()),
        "ends_with" => Test::Has(true, Place::End, needle()),
        _ => return None,
    })
}

fn date_test(operator: &str, value: &Value) -> Option<Test> {
    let span = match operator {
        "past_week" => Some(Span::PastWeek),
        "past_month" => Some(Span::PastMonth),
        "past_year" => Some(Span::PastYear),
        "this_week" => Some(Span::ThisWeek),
        "next_week" => Some(Span::NextWeek),
        "next_month" => Some(Span::NextMonth),
        "next_year" => Some(Span::NextYear),
        _ => None,
    };
    if let Some(span) = span {
        return matches!(value, Value::Map(_) | Value::Bool(true)).then_some(Test::Within(span));
    }
    let compare = match operator {
        "equals" => Compare::Equal,
        "before" => Compare::Less,
        "after" => Compare::Greater,
        "on_or_before" => Compare::LessOrEqual,
        "on_or_after" => Compare::GreaterOrEqual,
        _ => return None,
    };
    Some(Test::Date(compare, Moment::parse(value.as_text()?)?))
}
