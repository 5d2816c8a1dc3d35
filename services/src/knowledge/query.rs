//! `knowledge.query`: which rows of a database match, in which order, and one page of them.
//!
//! A cursor says where the last page ended: what its last row was ordered by when it was shown. The next page is what comes behind that now, so that
//! rows which came, went or moved in between neither repeat nor hide others.

use std::cell::OnceCell;
use std::cmp::Ordering;

use dayshift_engine::{Rejection, SmolStr, ToolCall, Value, map};

use super::filter::{self, Filter, Target};
use super::matching::{Matcher, Rank};
use super::scene::{Found, Looks, Scene};
use super::table::Row;
use crate::cursor::{Cursor, Part};

/// How many rows one page may show.
pub const QUERY_ROWS_MAX: usize = 100;

/// How many rows a page shows when nothing is said.
pub const QUERY_ROWS_DEFAULT: usize = 50;

/// By how many properties a query may sort.
pub const SORTS_MAX: usize = 10;

/// One sort: what by, and whether descending.
type Sort = (Target, bool);

/// Answers a query.
pub(super) fn query(scene: &Scene<'_>, call: &ToolCall) -> Result<Value, Rejection> {
    let limit = limit(call, QUERY_ROWS_DEFAULT, QUERY_ROWS_MAX)?;
    let found = scene.database(call.text("database"))?;
    if found.database.archived {
        return Err(Rejection::new(
            "knowledge/archived",
            format!("the database '{}' is in the archive; restore it first", found.schema().title),
        ));
    }
    let filter = call.get("filter").map(|value| filter::read(scene, found, value)).transpose()?;
    let sorts = sorts(found, call.list("sorts"))?;
    let shown = shown(found, call)?;
    let mut used = targets(filter.as_ref());
    used.extend(sorts.iter().map(|(target, _)| *target));
    note_scans(scene, found, &used);
    let matcher = Matcher::new(*scene, found);
    let all = || found.table.peek_rows();
    found.table.note_scan(scene.frame);
    let matches = |row: &&Row| !row.archived && filter.as_ref().is_none_or(|filter| matcher.holds(filter, row));
    let budget = scene.frame.budget();
    budget.work(found.table.len() as u64)?;
    let mut rows: Vec<Placed<'_>> = all().filter(matches).map(|row| Placed::new(&matcher, &sorts, row)).collect();
    let order = |left: &Placed<'_>, right: &Placed<'_>| order(&matcher, &sorts, left, right);
    let start = match call.optional_text("cursor") {
        None => 0,
        Some(cursor) => {
            let last = Cursor::read(cursor, sorts.len()).ok_or_else(|| {
                Rejection::new(
                    "knowledge/unknown-cursor",
                    format!(
                        "'{cursor}' is not a cursor of this query; query again without one, and follow what it answers"
                    ),
                )
            })?;
            let ranks: Vec<Option<Rank>> = last.parts.iter().map(rank_of).collect();
            let place = End { ranks: &ranks, position: last.place };
            rows.iter().filter(|row| compare(&matcher, &sorts, row, &place) != Ordering::Greater).count()
        }
    };
    let end = rows.len().min(start + limit);
    if !sorts.is_empty() {
        budget.work(8 * (rows.len() * sorts.len()) as u64)?;
        // Only the page that is shown is put in order. No two rows are equal.
        if 0 < start && start < rows.len() {
            rows.select_nth_unstable_by(start, order);
        }
        if end < rows.len() {
            rows[start..].select_nth_unstable_by(end - start, order);
        }
        rows[start..end].sort_unstable_by(order);
    }
    let times = call.flag("with_times");
    let page =
        rows[start..end].iter().map(|Placed { row, .. }| show(scene, found, &row.id, shown.as_deref(), &used, times));
    let page = Value::List(page.collect());
    let cursor = if end < rows.len() { cursor_at(&matcher, &sorts, &rows[end - 1]).into() } else { Value::Null };
    Ok(map! { "rows" => page, "total" => rows.len(), "cursor" => cursor })
}

/// Returns the argument `limit` of a call.
pub(super) fn limit(call: &ToolCall, default: usize, most: usize) -> Result<usize, Rejection> {
    let limit = call.int("limit").map_or(Some(default), |limit| usize::try_from(limit).ok());
    limit.filter(|limit| (1..=most).contains(limit)).ok_or_else(|| {
        Rejection::new(
            "knowledge/bad-limit",
            format!("limit takes a number from 1 to {most}; follow the cursor for further pages"),
        )
    })
}

/// Returns what a filter looks at.
pub(super) fn targets(filter: Option<&Filter>) -> Vec<Target> {
    fn collect(filter: &Filter, into: &mut Vec<Target>) {
        match filter {
            Filter::And(parts) | Filter::Or(parts) => parts.iter().for_each(|part| collect(part, into)),
            Filter::Test(target, _) => into.push(*target),
        }
    }
    let mut targets = Vec::new();
    if let Some(filter) = filter {
        collect(filter, &mut targets);
    }
    targets
}

/// Notes the scans that looking at `targets` of every row takes beyond the scan of the database itself.
pub(super) fn note_scans(scene: &Scene<'_>, found: Found<'_>, targets: &[Target]) {
    for target in targets {
        if let Target::Property(place) = target {
            scene.note_scans(found, *place, 0);
        }
    }
}

fn sorts(found: Found<'_>, list: &[Value]) -> Result<Vec<Sort>, Rejection> {
    let bad = |message: String| Rejection::new("knowledge/bad-sort", message);
    if list.len() > SORTS_MAX {
        return Err(bad(format!("there are more than {SORTS_MAX} sorts; name fewer")));
    }
    let mut sorts = Vec::with_capacity(list.len());
    for sort in list {
        if let Value::Text(name) = sort {
            let (name, descending) = name.strip_prefix('-').map_or((name.as_str(), false), |name| (name, true));
            sorts.push((Target::Property(found.schema().expect(name)?.0), descending));
            continue;
        }
        let text = |key: &str| sort.get(key).and_then(Value::as_text);
        let descending = match text("direction") {
            None | Some("ascending") => false,
            Some("descending") => true,
            Some(other) => return Err(bad(format!("a direction is ascending or descending, not '{other}'"))),
        };
        let target = match (text("property"), text("timestamp")) {
            (Some(name), None) => Target::Property(found.schema().expect(name)?.0),
            (None, Some("created_time")) => Target::Created,
            (None, Some("last_edited_time")) => Target::Edited,
            _ => {
                return Err(bad(
                    "a sort is {\"property\", \"direction\"} or {\"timestamp\": \"created_time\" or \"last_edited_time\", \"direction\"}".to_owned(),
                ));
            }
        };
        sorts.push((target, descending));
    }
    Ok(sorts)
}

fn shown(found: Found<'_>, call: &ToolCall) -> Result<Option<Vec<usize>>, Rejection> {
    let Some(names) = call.get("properties").and_then(Value::as_list) else { return Ok(None) };
    let places =
        names.iter().filter_map(Value::as_text).map(|name| found.schema().expect(name).map(|(place, _)| place));
    places.collect::<Result<Vec<_>, _>>().map(Some)
}

/// A row and where the sorts put it.
struct Placed<'r> {
    row: &'r Row,
    /// By the first sort.
    first: Option<Rank>,
    /// By the others: found when two rows are equal by the first.
    others: OnceCell<Vec<Option<Rank>>>,
}

impl<'r> Placed<'r> {
    fn new(matcher: &Matcher<'_>, sorts: &[Sort], row: &'r Row) -> Self {
        let first = sorts.first().and_then(|sort| rank(matcher, sort, row));
        Self { row, first, others: OnceCell::new() }
    }

    fn rank(&self, matcher: &Matcher<'_>, sorts: &[Sort], place: usize) -> Option<&Rank> {
        let Some(place) = place.checked_sub(1) else { return self.first.as_ref() };
        let others = self.others.get_or_init(|| sorts[1..].iter().map(|sort| rank(matcher, sort, self.row)).collect());
        others[place].as_ref()
    }
}

/// Returns where a sort puts a row.
fn rank(matcher: &Matcher<'_>, (target, _): &Sort, row: &Row) -> Option<Rank> {
    match target {
        Target::Property(place) => matcher.with(row, *place, |value| matcher.rank(*place, value)),
        Target::Created => Some(Rank::Number(row.stamps.created.as_millis() as f64)),
        Target::Edited => Some(Rank::Number(row.stamps.edited.as_millis() as f64)),
    }
}

/// Where a page ended: what its last row was ordered by when it was shown, and its place.
struct End<'r> {
    ranks: &'r [Option<Rank>],
    position: u64,
}

/// Returns the cursor of a page that ends with `row`.
fn cursor_at(matcher: &Matcher<'_>, sorts: &[Sort], row: &Placed<'_>) -> String {
    let part = |place: usize| match row.rank(matcher, sorts, place) {
        None => Part::Nothing,
        Some(Rank::Number(number)) => Part::Number(*number),
        Some(Rank::Text(text)) => Part::Text(text.to_string()),
    };
    Cursor { parts: (0..sorts.len()).map(part).collect(), place: row.row.position }.write()
}

fn rank_of(part: &Part) -> Option<Rank> {
    match part {
        Part::Number(number) => Some(Rank::Number(*number)),
        Part::Text(text) => Some(Rank::Text(text.as_str().into())),
        Part::Nothing | Part::Flag(_) | Part::Whole(_) => None,
    }
}

/// Compares two rows. Empty values come last either way; rows that are equal stay in the order in which they came to be, which by creation time
/// and descending is the newest first.
fn order(matcher: &Matcher<'_>, sorts: &[Sort], left: &Placed<'_>, right: &Placed<'_>) -> Ordering {
    by_ranks(sorts, left, right.row.position, |place| {
        (left.rank(matcher, sorts, place), right.rank(matcher, sorts, place))
    })
}

/// Compares a row with where a page ended.
fn compare(matcher: &Matcher<'_>, sorts: &[Sort], left: &Placed<'_>, end: &End<'_>) -> Ordering {
    by_ranks(sorts, left, end.position, |place| (left.rank(matcher, sorts, place), end.ranks[place].as_ref()))
}

fn by_ranks<'r>(
    sorts: &[Sort],
    left: &Placed<'_>,
    right_position: u64,
    ranks: impl Fn(usize) -> (Option<&'r Rank>, Option<&'r Rank>),
) -> Ordering {
    for (place, (target, descending)) in sorts.iter().enumerate() {
        let order = match ranks(place) {
            (Some(left), Some(right)) if *descending => right.order(left),
            (Some(left), Some(right)) => left.order(right),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => Ordering::Equal,
        };
        let order = order.then_with(|| match (target, descending) {
            // Rows of one record were created at one time, and yet one after the other.
            (Target::Created, true) => right_position.cmp(&left.row.position),
            (Target::Created, false) => left.row.position.cmp(&right_position),
            _ => Ordering::Equal,
        });
        if order.is_ne() {
            return order;
        }
    }
    left.row.position.cmp(&right_position)
}

fn show(
    scene: &Scene<'_>,
    found: Found<'_>,
    id: &SmolStr,
    shown: Option<&[usize]>,
    used: &[Target],
    times: bool,
) -> Value {
    let mut value = match shown {
        None => scene.show_row(found, id),
        Some(places) => {
            found.table.archived(scene.frame, id);
            let properties = places.iter().map(|place| {
                let name = found.schema().properties[*place].name.clone();
                (name, scene.value(found, id, *place, Looks::Noted))
            });
            map! { "id" => id.clone(), "properties" => Value::Map(properties.collect()) }
        }
    };
    for target in used {
        match target {
            Target::Property(place) if shown.is_some() => drop(scene.value(found, id, *place, Looks::Noted)),
            Target::Property(_) => {}
            Target::Created | Target::Edited => drop(found.table.stamps(Some(scene.frame), id)),
        }
    }
    if times {
        scene.add_times(id, &mut value);
    }
    value
}
