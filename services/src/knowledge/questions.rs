//! The questions of checks, conditions and personas: null for what is absent, values as agents see them.

use std::collections::BTreeMap;

use dayshift_engine::{Rejection, SmolStr, Value, map};

use super::filter::Target;
use super::matching::Matcher;
use super::pages::children;
use super::query::note_scans;
use super::scene::{Found, Looks, Scene};
use super::schema::PropertyKind;
use super::table::Row;
use super::{Node, markdown};
use crate::service::unknown_question;

const VERBS: &[&str] =
    &["page", "markdown", "pages", "databases", "database", "rows", "count", "row", "property", "find"];

/// Answers one question.
pub(super) fn answer(scene: &Scene<'_>, verb: &str, arguments: &Value) -> Result<Value, Rejection> {
    match verb {
        "page" => {
            takes(arguments, verb, &["page"], &[])?;
            Ok(page_id(scene, arguments, "page").map_or(Value::Null, |id| page(scene, &id)))
        }
        "markdown" => {
            takes(arguments, verb, &["page"], &[])?;
            let Some(id) = page_id(scene, arguments, "page") else { return Ok(Value::Null) };
            Ok(markdown::text(&scene.state.content(scene.frame, &id)).into())
        }
        "pages" => {
            takes(arguments, verb, &[], &["parent"])?;
            let parent = match arguments.get("parent") {
                None | Some(Value::Null) => None,
                Some(_) => match page_id(scene, arguments, "parent") {
                    Some(id) => Some(id),
                    None => return Ok(Value::Null),
                },
            };
            Ok(children(scene, parent).0)
        }
        "databases" => {
            takes(arguments, verb, &[], &[])?;
            Ok(super::rows::databases(scene).get("databases").cloned().unwrap_or_default())
        }
        "database" => {
            takes(arguments, verb, &["database"], &[])?;
            Ok(database(scene, arguments).map_or(Value::Null, |found| {
                map! {
                    "id" => found.id.clone(),
                    "title" => found.schema().title.clone(),
                    "parent" => found.database.parent.clone(),
                    "properties" => found.schema().describe(),
                }
            }))
        }
        "rows" | "count" => {
            takes(arguments, verb, &["database"], &["where"])?;
            let Some(found) = database(scene, arguments) else { return Ok(Value::Null) };
            let wanted = wanted(scene, found, arguments.get("where"))?;
            let ids = matching(scene, found, &wanted);
            if verb == "rows" {
                return Ok(Value::List(ids.iter().map(|id| scene.show_row(found, id)).collect()));
            }
            for id in &ids {
                found.table.archived(scene.frame, id);
                wanted.iter().for_each(|(place, _)| drop(scene.value(found, id, *place, Looks::Noted)));
            }
            Ok(Value::from(ids.len()))
        }
        "row" => {
            takes(arguments, verb, &["row"], &[])?;
            let row = page_id(scene, arguments, "row").and_then(|id| scene.row(&id));
            Ok(row.map_or(Value::Null, |(found, id)| scene.show_row(found, &id)))
        }
        "property" => {
            takes(arguments, verb, &["row", "name"], &[])?;
            let row = page_id(scene, arguments, "row").and_then(|id| scene.row(&id));
            let Some((found, id)) = row else { return Ok(Value::Null) };
            let name = text(arguments, "name");
            let place = found.schema().property(name).map(|(place, _)| place);
            Ok(place.map_or(Value::Null, |place| scene.value(found, &id, place, Looks::Noted)))
        }
        "find" => {
            takes(arguments, verb, &["database", "property"], &["value"])?;
            let Some(found) = database(scene, arguments) else { return Ok(Value::Null) };
            let value = arguments.get("value").cloned().unwrap_or_default();
            let condition = Value::Map([(SmolStr::from(text(arguments, "property")), value)].into());
            let wanted = wanted(scene, found, Some(&condition))?;
            let first = matching(scene, found, &wanted).into_iter().next();
            Ok(first.map_or(Value::Null, |id| scene.show_row(found, &id)))
        }
        _ => Err(unknown_question("knowledge", verb, VERBS)),
    }
}

fn page(scene: &Scene<'_>, id: &SmolStr) -> Value {
    if let Some((found, row)) = scene.row(id) {
        let mut value = scene.show_row(found, &row);
        if let Value::Map(map) = &mut value {
            map.insert("title".into(), scene.title(id).into());
        }
        return value;
    }
    let Some(page) = scene.state.pages.get(scene.frame, id) else { return Value::Null };
    map! { "id" => id.clone(), "title" => page.title.clone(), "parent" => page.parent.clone(), "archived" => page.archived }
}

/// Returns the id of the page or row that an argument names; nothing for a title that several have.
fn page_id(scene: &Scene<'_>, arguments: &Value, name: &str) -> Option<SmolStr> {
    let id = scene.find_page(text(arguments, name)).ok().flatten()?;
    (!matches!(scene.state.nodes.get(&id), Some(Node::Database))).then_some(id)
}

fn database<'a>(scene: &Scene<'a>, arguments: &Value) -> Option<Found<'a>> {
    scene.find_database(text(arguments, "database")).ok().flatten()
}

/// What a `where` asks: properties and the values that they are to have.
type Wanted = Vec<(usize, Value)>;

/// Reads a `where`: an object of properties and values. A list property is to have the item, or all items of a list.
fn wanted(scene: &Scene<'_>, found: Found<'_>, condition: Option<&Value>) -> Result<Wanted, Rejection> {
    let bad = |message: String| Rejection::new("query/bad-arguments", message);
    let condition = match condition {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Map(map)) => map,
        Some(other) => {
            return Err(bad(format!("where takes an object of properties and values, not {}", other.kind())));
        }
    };
    let mut wanted = Vec::new();
    for (name, value) in condition {
        let (place, property) = found.schema().expect(name).map_err(|fault| bad(fault.message))?;
        let value = match (&property.kind, value) {
            (PropertyKind::Date, value) => super::date::admit(value).unwrap_or_else(|_| value.clone()),
            (PropertyKind::Relation { database, .. }, value) => relation(scene, database, value),
            (_, value) => value.clone(),
        };
        wanted.push((place, value));
    }
    Ok(wanted)
}

/// Returns a relation's items with titles turned into ids where there is such a row.
fn relation(scene: &Scene<'_>, database: &str, value: &Value) -> Value {
    let one = std::slice::from_ref(value);
    let items = value.as_list().unwrap_or(one);
    let id_of = |item: &Value| {
        let text = item.as_text()?;
        if scene.state.nodes.contains_key(text) {
            return Some(item.clone());
        }
        let target = scene.find_database(database).ok().flatten()?;
        let place = target.schema().title_place();
        scene.frame.budget().work(4 * target.table.len() as u64).ok()?;
        let mut rows = target.table.scan(scene.frame);
        let row = rows.find(|row| row.value(place).as_text().is_some_and(|title| super::needle::same(title, text)))?;
        Some(row.id.clone().into())
    };
    if *value == Value::Null {
        return Value::Null;
    }
    Value::List(items.iter().map(|item| id_of(item).unwrap_or_else(|| item.clone())).collect())
}

/// Returns the ids of the rows that have the wanted values, in the order of creation, without archived ones, and notes a scan.
fn matching(scene: &Scene<'_>, found: Found<'_>, wanted: &Wanted) -> Vec<SmolStr> {
    let targets: Vec<Target> = wanted.iter().map(|(place, _)| Target::Property(*place)).collect();
    note_scans(scene, found, &targets);
    let matcher = Matcher::new(*scene, found);
    let matches = |row: &&Row| {
        !row.archived && wanted.iter().all(|(place, value)| matcher.with(row, *place, |own| equal(own, value)))
    };
    found.table.scan(scene.frame).filter(matches).map(|row| row.id.clone()).collect()
}

fn equal(own: &Value, wanted: &Value) -> bool {
    match (own, wanted) {
        (Value::List(own), Value::List(wanted)) => {
            wanted.iter().all(|item| own.contains(item)) && (!wanted.is_empty() || own.is_empty())
        }
        (Value::List(own), Value::Text(_)) => own.contains(wanted),
        (Value::Null, wanted) => *wanted == Value::Bool(false) || super::rollup::is_empty(wanted),
        (own, Value::Null) => super::rollup::is_empty(own),
        _ => match (own.as_float(), wanted.as_float()) {
            (Some(own), Some(wanted)) => own == wanted,
            _ => own == wanted,
        },
    }
}

fn text<'v>(arguments: &'v Value, name: &str) -> &'v str {
    arguments.get(name).and_then(Value::as_text).unwrap_or_default()
}

/// Holds the arguments of a question against what it takes: texts that must be there, and others that may.
fn takes(arguments: &Value, verb: &str, texts: &[&str], others: &[&str]) -> Result<(), Rejection> {
    let bad = |message: String| Err(Rejection::new("query/bad-arguments", message));
    let empty = BTreeMap::new();
    let map = match arguments {
        Value::Map(map) => map,
        Value::Null => &empty,
        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::List(_) => {
            return bad(format!("knowledge.{verb} takes named arguments, not {}", arguments.kind()));
        }
    };
    if let Some(name) = texts.iter().find(|name| map.get(**name).and_then(Value::as_text).is_none()) {
        return bad(format!("knowledge.{verb} needs the text '{name}'"));
    }
    match map.keys().find(|name| !texts.contains(&name.as_str()) && !others.contains(&name.as_str())) {
        Some(stray) => bad(format!("knowledge.{verb} has no argument '{stray}'")),
        None => Ok(()),
    }
}
