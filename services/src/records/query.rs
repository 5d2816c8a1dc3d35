//! `records.query`: which rows of a table match, in which order, and one page of them.

use std::cmp::Reverse;
use std::ops::ControlFlow;

use dayshift_engine::{Rejection, SmolStr, ToolCall, Value, map};

use super::condition::{Condition, Grammar};
use super::evaluate::{Evaluator, Subject, bind};
use super::kind::Rank;
use super::scene::{Found, Scene, shared_text};
use super::schema::Field;
use super::table::RowView;

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
    let mut rows = matching(scene, table, condition.as_ref())?;
    sort(&mut rows, &order);

    let start = match call.get("cursor") {
        None => 0,
        Some(cursor) => {
            let after = shared_text(Some(cursor));
            let place = rows.iter().position(|row| *row.id == after).ok_or_else(|| {
                Rejection::new(
                    "records/stale-cursor",
                    format!("the row '{after}' at which the last page ended is no longer among the results; query again without a cursor"),
                )
            })?;
            place + 1
        }
    };
    let end = rows.len().min(start + limit);
    let mut looked_at = Vec::new();
    if let Some(condition) = &condition {
        condition.first_fields(&mut looked_at);
    }
    looked_at.extend(order.iter().map(|(_, field, _)| &field.name));
    let page = rows[start..end].iter().map(|row| {
        table.rows.has(scene.frame, row.id);
        for field in &looked_at {
            let _ = table.rows.get(scene.frame, row.id, field);
        }
        scene.show(table, row.id, &fields)
    });
    let page = Value::List(page.collect());
    let cursor = if end < rows.len() { rows[end - 1].id.as_str().into() } else { Value::Null };
    Ok(map! { "rows" => page, "total" => rows.len(), "cursor" => cursor })
}

/// Returns the rows for which `condition` holds, in id order, and notes a scan.
pub(super) fn matching<'a>(
    scene: &Scene<'a>,
    table: Found<'a>,
    condition: Option<&Condition>,
) -> Result<Vec<RowView<'a>>, Rejection> {
    let evaluator = Evaluator::new(*scene);
    let mut rows = Vec::new();
    let mut fault = None;
    table.rows.scan(scene.frame, |row| {
        let holds = condition.map_or(Ok(true), |condition| evaluator.holds(condition, Subject::Shown { table, row }));
        match holds {
            Ok(true) => rows.push(row.clone()),
            Ok(false) => {}
            Err(rejection) => {
                fault = Some(rejection);
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    });
    fault.map_or(Ok(rows), Err)
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

/// Sorts rows. Empty values come last either way; equal rows stay in the order in which they came to be.
fn sort(rows: &mut [RowView<'_>], order: &Order<'_>) {
    rows.sort_by_cached_key(|row| {
        let rank = |(position, field, descending): &(usize, &Field, bool)| match field.kind.rank(row.value(*position)) {
            Some(rank) if *descending => Place::Down(Reverse(rank)),
            Some(rank) => Place::Up(rank),
            None => Place::Last,
        };
        (order.iter().map(rank).collect::<Vec<_>>(), row.position())
    });
}

/// Where one field puts a row. Within one field, all places but the last go one way.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Place<'v> {
    Up(Rank<'v>),
    Down(Reverse<Rank<'v>>),
    Last,
}

/// Returns the ids of `rows`, in the order in which they came to be.
pub(super) fn by_creation<'a>(mut rows: Vec<RowView<'a>>) -> Vec<&'a SmolStr> {
    rows.sort_by_key(RowView::position);
    rows.into_iter().map(|row| row.id).collect()
}
