//! `records.query`: which rows of a table match, in which order, and one page of them.

use std::cmp::{Ordering, Reverse};

use dayshift_engine::{Rejection, SmolStr, ToolCall, Value, map};

use super::condition::{Condition, Grammar};
use super::evaluate::{Evaluator, Subject, bind};
use super::kind::Rank;
use super::scene::{Found, Scene, shared_text};
use super::schema::Field;
use super::whole::Row;
use crate::cursor::{Cursor, Part};

/// How many rows one page may show.
pub const PAGE_ROWS_MAX: usize = 200;

/// How many rows a page shows when nothing is said.
pub const PAGE_ROWS_DEFAULT: usize = 50;

/// By how many fields a query may sort.
pub const SORT_FIELDS_MAX: usize = 8;

/// Answers a query.
pub(super) fn query(scene: &Scene<'_>, table: Found<'_>, call: &ToolCall) -> Result<Value, Rejection> {
    let limit = limit(call)?;
    let fields = shown_fields(table, call.get("fields"), false)?;
    let order = order(table, call)?;
    let condition = condition(scene, table, call.get("where"))?;
    let mut rows: Vec<Placed<'_>> =
        matching(scene, table, condition.as_ref())?.into_iter().map(|row| Placed::new(&order, row)).collect();
    let start = match call.get("cursor") {
        None => 0,
        Some(cursor) => {
            let after = shared_text(Some(cursor));
            let last = Cursor::read(&after, order.len()).ok_or_else(|| {
                Rejection::new(
                    "records/stale-cursor",
                    format!(
                        "'{after}' is not a cursor of this query; query again without one, and follow what it answers"
                    ),
                )
            })?;
            let values: Vec<Value> = last.parts.iter().map(value_of).collect();
            rows.iter().filter(|placed| placed.compare_with(&values, last.place, &order).is_le()).count()
        }
    };
    let end = rows.len().min(start + limit);
    // Only the page that is shown is put in order. No two rows are equal.
    let compare = |left: &Placed<'_>, right: &Placed<'_>| left.compare(right, &order);
    if 0 < start && start < rows.len() {
        rows.select_nth_unstable_by(start, compare);
    }
    if end < rows.len() {
        rows[start..].select_nth_unstable_by(end - start, compare);
    }
    rows[start..end].sort_unstable_by(compare);
    let mut looked_at = Vec::new();
    if let Some(condition) = &condition {
        condition.first_fields(&mut looked_at);
    }
    looked_at.extend(order.iter().map(|(_, field, _)| &field.name));
    looked_at.retain(|name| table.schema().position(name).is_some());
    let page = rows[start..end].iter().map(|Placed { row, .. }| {
        table.rows.has(scene.frame, &row.id);
        for field in &looked_at {
            let _ = table.rows.get(scene.frame, &row.id, field);
        }
        scene.show(table, &row.id, &fields)
    });
    let page = Value::List(page.collect());
    let cursor = if end < rows.len() { Value::from(cursor_at(rows[end - 1].row, &order)) } else { Value::Null };
    Ok(map! { "rows" => page, "total" => rows.len(), "cursor" => cursor })
}

/// Returns the rows for which `condition` holds, in id order, and notes a scan.
pub(super) fn matching<'a>(
    scene: &Scene<'a>,
    table: Found<'a>,
    condition: Option<&Condition>,
) -> Result<Vec<&'a Row>, Rejection> {
    let evaluator = Evaluator::new(*scene);
    let mut rows = Vec::new();
    let budget = scene.frame.budget();
    for row in table.rows.scan(scene.frame) {
        budget.work(1)?;
        let holds = match condition {
            Some(condition) => evaluator.holds(condition, Subject::Shown { table, row })?,
            None => true,
        };
        if holds {
            rows.push(row);
        }
    }
    Ok(rows)
}

/// Returns the condition that a `where` writes, bound to the table.
pub(super) fn condition(
    scene: &Scene<'_>,
    table: Found<'_>,
    value: Option<&Value>,
) -> Result<Option<Condition>, Rejection> {
    let Some(value) = value else { return Ok(None) };
    let mut condition = Condition::read(value, Grammar::Query)
        .map_err(|fault| Rejection::new("records/bad-condition", format!("where: {fault}")))?;
    bind(&mut condition, scene, table)?;
    Ok(Some(condition))
}

/// Returns the fields that a caller asked for; without a wish all, details only where `with_details`.
pub(super) fn shown_fields<'a>(
    table: Found<'a>,
    wish: Option<&Value>,
    with_details: bool,
) -> Result<Vec<&'a Field>, Rejection> {
    let schema = table.schema();
    match wish.and_then(Value::as_list) {
        None => Ok(schema.fields.iter().filter(|field| with_details || !field.detail).collect()),
        Some(names) => {
            let names = names.iter().filter_map(Value::as_text).filter(|name| *name != schema.id.name);
            names.map(|name| table.field(name)).collect()
        }
    }
}

fn limit(call: &ToolCall) -> Result<usize, Rejection> {
    let limit = call.int("limit").map_or(Some(PAGE_ROWS_DEFAULT), |limit| usize::try_from(limit).ok());
    limit.filter(|limit| (1..=PAGE_ROWS_MAX).contains(limit)).ok_or_else(|| {
        Rejection::new(
            "records/bad-limit",
            format!("limit takes a number from 1 to {PAGE_ROWS_MAX}; follow the cursor for further pages"),
        )
    })
}

/// Positions of fields, the fields, and whether in descending order.
type Order<'a> = Vec<(usize, &'a Field, bool)>;

fn order<'a>(table: Found<'a>, call: &ToolCall) -> Result<Order<'a>, Rejection> {
    let bad = |message: String| Rejection::new("records/bad-sort", message);
    let mut order = Vec::new();
    for name in call.texts("sort") {
        let (name, descending) = name.strip_prefix('-').map_or((name, false), |name| (name, true));
        let field = table.field(name)?;
        if !field.kind.is_ordered() {
            return Err(bad(format!(
                "'{name}' is of type {} and has no order; sort by another field",
                field.kind.name()
            )));
        }
        let position = table.schema().position(name).unwrap_or_default();
        order.push((position, field, descending));
    }
    if order.len() > SORT_FIELDS_MAX {
        return Err(bad(format!("sort takes at most {SORT_FIELDS_MAX} fields; name fewer")));
    }
    Ok(order)
}

/// A row and where the first field of an order puts it.
struct Placed<'r> {
    first: Place<'r>,
    row: &'r Row,
}

impl<'r> Placed<'r> {
    fn new(order: &Order<'_>, row: &'r Row) -> Self {
        Self { first: order.first().map_or(Place::Last, |by| Place::of(by, row)), row }
    }

    /// Compares a row with where a page ended: what its last row was ordered by, and its place.
    fn compare_with(&self, values: &[Value], place: u64, order: &Order<'_>) -> Ordering {
        let mut fields = order.iter().zip(values);
        let unequal = fields.find_map(|(by, value)| {
            let order = Place::of(by, self.row).cmp(&Place::of_value(by, value));
            order.is_ne().then_some(order)
        });
        unequal.unwrap_or_else(|| self.row.position.cmp(&place))
    }

    /// Compares two rows. Empty values come last either way; equal rows stay in the order in which they came to be.
    fn compare(&self, other: &Self, order: &Order<'_>) -> Ordering {
        let others = || {
            let mut others = order.iter().skip(1).map(|by| Place::of(by, self.row).cmp(&Place::of(by, other.row)));
            let unequal = others.find(|order| order.is_ne());
            unequal.unwrap_or_else(|| self.row.position.cmp(&other.row.position))
        };
        self.first.cmp(&other.first).then_with(others)
    }
}

/// Returns the cursor of a page that ends with `row`.
fn cursor_at(row: &Row, order: &Order<'_>) -> String {
    let part = |(position, _, _): &(usize, &Field, bool)| match row.value(*position) {
        Value::Bool(flag) => Part::Flag(*flag),
        Value::Int(number) => Part::Whole(*number),
        Value::Float(number) => Part::Number(*number),
        Value::Text(text) => Part::Text(text.to_string()),
        Value::Null | Value::List(_) | Value::Map(_) => Part::Nothing,
    };
    Cursor { parts: order.iter().map(part).collect(), place: row.position }.write()
}

fn value_of(part: &Part) -> Value {
    match part {
        Part::Nothing => Value::Null,
        Part::Flag(flag) => Value::Bool(*flag),
        Part::Whole(number) => Value::Int(*number),
        Part::Number(number) => Value::Float(*number),
        Part::Text(text) => Value::from(text.as_str()),
    }
}

/// Where one field puts a row. Within one field, all places but the last go one way.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Place<'v> {
    Up(Rank<'v>),
    Down(Reverse<Rank<'v>>),
    Last,
}

impl<'v> Place<'v> {
    fn of(by: &(usize, &Field, bool), row: &'v Row) -> Self {
        Self::of_value(by, row.value(by.0))
    }

    fn of_value((_, field, descending): &(usize, &Field, bool), value: &'v Value) -> Self {
        match field.kind.rank(value) {
            Some(rank) if *descending => Self::Down(Reverse(rank)),
            Some(rank) => Self::Up(rank),
            None => Self::Last,
        }
    }
}

/// Returns the ids of `rows`, in the order in which they came to be.
pub(super) fn by_creation(mut rows: Vec<&Row>) -> Vec<&SmolStr> {
    rows.sort_by_key(|row| row.position);
    rows.into_iter().map(|row| &row.id).collect()
}
