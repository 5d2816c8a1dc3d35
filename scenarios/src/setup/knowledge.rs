//! The knowledge base of the initial world: pages within pages, databases, and rows that relate to each other.

use std::collections::BTreeMap;
use std::sync::Arc;

use dayshift_engine::{SmolStr, Value, map};

use super::{Setup, blob};
use crate::problem::Report;
use crate::yaml;

const FOLDER: &str = "world/knowledge/";

/// The longest id that the knowledge base takes, in bytes.
const ID_BYTES_MAX: usize = 64;

/// What a page's file says of itself before its text.
#[derive(Default)]
struct Front {
    id: Option<SmolStr>,
    title: Option<SmolStr>,
}

/// One database with its rows.
struct Database {
    path: SmolStr,
    /// The file's name without its ending.
    stem: SmolStr,
    /// What relations may call it: its title and its id, in lower case.
    names: Vec<String>,
    /// What its rows are put into it by.
    title: Value,
    /// Whether a property is called `id`, so that rows cannot have one.
    has_id_property: bool,
    /// By the property's name: the database that it relates to, in lower case.
    relations: Vec<(SmolStr, String)>,
    definition: Value,
    rows: Option<Value>,
}

impl Setup<'_> {
    /// Pages come before databases, all definitions before all rows. A relation to rows that come later is set once all rows are there, so that
    /// every relation resolves, whatever the files are called.
    pub(super) fn knowledge(&mut self) {
        let files: Vec<_> = self.package.below(FOLDER).collect();
        let (pages, others): (Vec<_>, Vec<_>) = files.into_iter().partition(|(path, _)| path.ends_with(".md"));
        let pages = self.pages(&pages);
        let mut databases: Vec<Database> =
            others.into_iter().filter_map(|(path, bytes)| self.database(path, bytes, &pages)).collect();
        for database in &databases {
            self.push(&database.path, "knowledge.define", map! { "database" => database.definition.clone() });
        }
        let mut later = Vec::new();
        for at in 0..databases.len() {
            let Some(mut rows) = databases[at].rows.take() else { continue };
            let names = |database: &Database, target: &String| database.names.contains(target);
            let is_later = |target: &String| databases[at + 1..].iter().any(|database| names(database, target));
            let database = &databases[at];
            let deferred: Vec<&SmolStr> =
                database.relations.iter().filter(|(_, target)| is_later(target)).map(|(name, _)| name).collect();
            if let (Value::List(rows), false) = (&mut rows, deferred.is_empty() || database.has_id_property) {
                later.extend(put_off(database, rows, &deferred));
            }
            let arguments = map! { "database" => database.title.clone(), "rows" => rows };
            self.push(&database.path, "knowledge.import_rows", arguments);
        }
        for (path, arguments) in later {
            self.push(&path, "knowledge.update_row", arguments);
        }
    }

    /// Lays out the pages. Returns the ids of those in which others lie, or that say theirs, by their path without ending.
    fn pages(&mut self, files: &[(&SmolStr, &Arc<[u8]>)]) -> BTreeMap<SmolStr, SmolStr> {
        let stem = |path: &SmolStr| -> SmolStr {
            path.strip_prefix(FOLDER).and_then(|below| below.strip_suffix(".md")).unwrap_or(path).into()
        };
        let all: Vec<SmolStr> = self.package.below(FOLDER).map(|(path, _)| path.clone()).collect();
        let mut ids = BTreeMap::new();
        // A page comes before what lies in its folder: a point sorts before a slash.
        for (path, bytes) in files {
            let (stem, front) = (stem(path), self.front(path, bytes));
            let folder = format!("{FOLDER}{stem}/");
            let id = front.id.or_else(|| all.iter().any(|other| other.starts_with(&folder)).then(|| slug(&stem)));
            let below = path.strip_prefix(FOLDER).unwrap_or(path);
            let mut arguments = BTreeMap::from([
                (SmolStr::from("path"), Value::from(below)),
                (SmolStr::from("blob"), Value::from(blob(bytes))),
            ]);
            let parent = parent_of(&stem, &ids);
            for (name, value) in [("id", id.clone()), ("title", front.title), ("parent", parent)] {
                if let Some(value) = value {
                    arguments.insert(name.into(), value.into());
                }
            }
            self.push(path, "knowledge.import_page", Value::Map(arguments));
            if let Some(id) = id {
                ids.insert(stem, id);
            }
        }
        ids
    }

    /// Reads what a page's file says between a first line `---` and the next one.
    fn front(&mut self, path: &SmolStr, bytes: &[u8]) -> Front {
        let source = String::from_utf8_lossy(bytes);
        let mut lines = source.lines();
        if lines.next() != Some("---") {
            return Front::default();
        }
        let inner: Vec<&str> = lines.take_while(|line| *line != "---").collect();
        if inner.len() + 1 >= source.lines().count() {
            return Front::default();
        }
        // The first line stays empty, so that places are those of the file.
        let text = format!("\n{}\n", inner.join("\n"));
        let report = Report::new(path.clone(), &source);
        let mut front = Front::default();
        if let Some(node) = yaml::read(&report, text.as_bytes()) {
            let fields = node.fields(&report, "what stands before a page", &["id", "title"]);
            front = Front { id: fields.text("id"), title: fields.text("title") };
        }
        self.problems.extend(report.into_problems());
        front
    }

    fn database(&mut self, path: &SmolStr, bytes: &Arc<[u8]>, pages: &BTreeMap<SmolStr, SmolStr>) -> Option<Database> {
        let folder = path.rfind('/').map_or(FOLDER, |slash| &path[..=slash]);
        let (stem, node) = self.yaml(path, bytes, folder)?;
        let Value::Map(mut definition) = node.to_value() else { return None };
        let title = definition.entry("title".into()).or_insert_with(|| stem.clone().into()).clone();
        let rows = definition.remove("rows").filter(|rows| *rows != Value::Null);
        let place = path.strip_prefix(FOLDER).unwrap_or(path);
        if let Some(parent) = parent_of(place, pages) {
            definition.entry("parent".into()).or_insert_with(|| parent.into());
        }
        let names = [Some(&title), definition.get("id")].into_iter().flatten();
        let properties = definition.get("properties").map(properties).unwrap_or_default();
        Some(Database {
            path: path.clone(),
            names: names.filter_map(Value::as_text).map(str::to_lowercase).collect(),
            has_id_property: properties.iter().any(|(name, _)| *name == "id"),
            relations: properties.into_iter().filter_map(|(name, of)| Some((name, of?))).collect(),
            stem,
            title,
            definition: Value::Map(definition),
            rows,
        })
    }
}

/// Takes the relations `deferred` out of `rows`. Returns the calls that set them later; the rows that they are about get ids.
fn put_off(database: &Database, rows: &mut [Value], deferred: &[&SmolStr]) -> Vec<(SmolStr, Value)> {
    let mut later = Vec::new();
    for (number, row) in (1..).zip(rows) {
        let Value::Map(row) = row else { continue };
        let taken: BTreeMap<SmolStr, Value> = deferred
            .iter()
            .filter_map(|name| row.remove_entry(*name))
            .filter(|(_, value)| *value != Value::Null)
            .collect();
        if taken.is_empty() {
            continue;
        }
        let id = row.entry("id".into()).or_insert_with(|| slug(&format!("{}-{number}", database.stem)).into()).clone();
        later.push((database.path.clone(), map! { "row" => id, "properties" => Value::Map(taken) }));
    }
    later
}

/// Returns the names of the properties of a definition, each with the database that it relates to, if it is a relation.
fn properties(definition: &Value) -> Vec<(SmolStr, Option<String>)> {
    let related = |property: &Value| {
        let is_relation = property.get("type").and_then(Value::as_text) == Some("relation");
        property.get("database").and_then(Value::as_text).filter(|_| is_relation).map(str::to_lowercase)
    };
    match definition {
        Value::Map(map) => map.iter().map(|(name, property)| (name.clone(), related(property))).collect(),
        Value::List(items) => items
            .iter()
            .filter_map(|item| Some((item.get("name").and_then(Value::as_text)?.into(), related(item))))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) => Vec::new(),
    }
}

/// Returns the id of the nearest page in whose folder `place` lies.
fn parent_of(place: &str, pages: &BTreeMap<SmolStr, SmolStr>) -> Option<SmolStr> {
    let mut folder = place;
    while let Some((above, _)) = folder.rsplit_once('/') {
        if let Some(id) = pages.get(above) {
            return Some(id.clone());
        }
        folder = above;
    }
    None
}

/// Returns the id that follows from a name: its letters and digits, a hyphen for everything else.
fn slug(name: &str) -> SmolStr {
    let plain = |each: char| if each.is_ascii_alphanumeric() || each == '_' { each } else { '-' };
    name.chars().map(plain).take(ID_BYTES_MAX).collect::<String>().into()
}
