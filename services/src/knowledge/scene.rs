//! What a decision or a question looks with: the state, the frame that notes, the desk and the time. Finds pages, databases and rows by id
//! or title, computes what is not stored, or says in one sentence why not.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

use dayshift_engine::{Frame, Rejection, SimTime, SmolStr, Value, map};

use super::formula::Surroundings;
use super::needle::same;
use super::rollup::error;
use super::schema::{PropertyKind, Schema};
use super::table::{Row, Table};
use super::{Database, KnowledgeState, Node};
use crate::service::Desk;

/// How many steps it may take to compute one value, over all the formulas and rollups that it leads to.
pub const COMPUTE_STEPS_MAX: u32 = 10_000;

/// How deep formulas and rollups may lead from one to the next.
pub const COMPUTE_DEPTH_MAX: usize = 8;

#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) state: &'a KnowledgeState,
    pub(super) frame: &'a Frame,
    pub(super) desk: &'a Desk,
    pub(super) time: SimTime,
}

/// One database, found.
#[derive(Clone, Copy)]
pub(super) struct Found<'a> {
    pub(super) id: &'a SmolStr,
    pub(super) database: &'a Database,
    pub(super) table: &'a Arc<Table>,
}

impl<'a> Found<'a> {
    pub(super) fn schema(self) -> &'a Schema {
        &self.database.schema
    }
}

/// Whether reads of single pieces are noted, or a scan was noted that covers them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Looks {
    Noted,
    Scanned,
}

impl<'a> Scene<'a> {
    /// Returns the database `id`, archived or not, if there is one.
    pub(super) fn database_by_id(&self, id: &str) -> Option<Found<'a>> {
        let (id, table) = self.state.tables.get_key_value(id)?;
        let database = self.state.databases.get(self.frame, id)?;
        Some(Found { id, database, table })
    }

    /// Returns the database that `name` is the id or the title of. Titles compare without regard to case; the archive is left out.
    pub(super) fn find_database(&self, name: &str) -> Result<Option<Found<'a>>, Rejection> {
        if let Some(found) = self.database_by_id(name) {
            return Ok(Some(found));
        }
        // A title is looked for in each of them.
        self.frame.budget().work(4 * self.state.databases.len() as u64)?;
        let titled = self
            .state
            .databases
            .scan(self.frame)
            .filter(|(_, database)| !database.archived && same(&database.schema.title, name));
        let mut ids: Vec<(u64, &SmolStr)> = titled.map(|(id, database)| (database.position, id)).collect();
        ids.sort_unstable();
        match ids.as_slice() {
            [] => Ok(None),
            [(_, id)] => Ok(self.database_by_id(id)),
            several => Err(ambiguous("database", name, several.iter().map(|(_, id)| *id))),
        }
    }

    /// Returns the database that `name` is the id or the title of.
    pub(super) fn database(&self, name: &str) -> Result<Found<'a>, Rejection> {
        let found = self.find_database(name)?;
        found.ok_or_else(|| {
            let mut titles: Vec<&str> =
                self.state.databases.peek_all().map(|(_, each)| each.schema.title.as_str()).collect();
            titles.truncate(20);
            let titles = if titles.is_empty() {
                "there are none".to_owned()
            } else {
                format!("there are: {}", titles.join(", "))
            };
            Rejection::new("knowledge/unknown-database", format!("there is no database '{name}'; {titles}"))
        })
    }

    /// Returns the id of the page, row or database that `name` is the id or the title of; pages come before rows.
    pub(super) fn find_page(&self, name: &str) -> Result<Option<SmolStr>, Rejection> {
        let id = SmolStr::from(name);
        if self.state.nodes.contains_key(&id) {
            return Ok(Some(id));
        }
        self.frame.budget().work(4 * self.state.nodes.len() as u64)?;
        let titled = self.state.pages.scan(self.frame).filter(|(_, page)| !page.archived && same(&page.title, name));
        let mut ids: Vec<(u64, SmolStr)> = titled.map(|(id, page)| (page.position, id.clone())).collect();
        if ids.is_empty() {
            for (id, _) in self.state.databases.peek_all() {
                let Some(found) = self.database_by_id(id) else { continue };
                let place = found.schema().title_place();
                let rows = found.table.scan(self.frame);
                let rows = rows
                    .filter(|row| !row.archived && row.value(place).as_text().is_some_and(|title| same(title, name)));
                ids.extend(rows.map(|row| (row.position, row.id.clone())));
            }
        }
        ids.sort_unstable();
        match ids.as_slice() {
            [] => Ok(None),
            [(_, id)] => Ok(Some(id.clone())),
            several => Err(ambiguous("page", name, several.iter().map(|(_, id)| id))),
        }
    }

    /// Returns the id of the page or row that `name` is the id or the title of.
    pub(super) fn page(&self, name: &str) -> Result<SmolStr, Rejection> {
        match self.find_page(name)? {
            Some(id) if matches!(self.state.nodes.get(&id), Some(Node::Database)) => Err(Rejection::new(
                "knowledge/not-a-page",
                format!("'{name}' is a database; use knowledge.query for its rows"),
            )),
            Some(id) => Ok(id),
            None => Err(Rejection::new(
                "knowledge/unknown-page",
                format!("there is no page or row '{name}'; look for it with knowledge.search"),
            )),
        }
    }

    /// Returns the database that the row `id` belongs to, if there is such a row, and notes the read of the row.
    pub(super) fn row(&self, id: &str) -> Option<(Found<'a>, SmolStr)> {
        let (id, node) = self.state.nodes.get_key_value(id)?;
        let Node::Row(database) = node else { return None };
        let found = self.database_by_id(database)?;
        found.table.archived(self.frame, id)?;
        Some((found, id.clone()))
    }

    /// Returns the database of the row that `name` is the id or the title of.
    pub(super) fn expect_row(&self, name: &str) -> Result<(Found<'a>, SmolStr), Rejection> {
        let id = self.page(name)?;
        self.row(&id).ok_or_else(|| {
            Rejection::new("knowledge/not-a-row", format!("'{name}' is a page, not a row; it has no properties"))
        })
    }

    /// Returns the title of a page, row or database, and notes the read.
    pub(super) fn title(&self, id: &SmolStr) -> SmolStr {
        match self.state.nodes.get(id) {
            Some(Node::Page) => self.state.pages.get(self.frame, id).map(|page| page.title.clone()).unwrap_or_default(),
            Some(Node::Database) => {
                self.database_by_id(id).map(|found| found.schema().title.clone()).unwrap_or_default()
            }
            Some(Node::Row(_)) => match self.row(id) {
                Some((found, id)) => {
                    let place = found.schema().title_place();
                    let value = found.table.value(Some(self.frame), &id, place, &found.schema().properties[place].name);
                    value.as_text().unwrap_or_default().into()
                }
                None => SmolStr::default(),
            },
            None => SmolStr::default(),
        }
    }

    /// Returns the value of a property of a row as everybody sees it: empty ones in their empty form, computed ones computed.
    pub(super) fn value(&self, found: Found<'a>, row: &SmolStr, place: usize, looks: Looks) -> Value {
        Compute::new(*self, looks).value(found, Subject { id: row, whole: None }, place, 0)
    }

    /// Returns all properties of a row by name.
    pub(super) fn properties(&self, found: Found<'a>, row: &SmolStr) -> Value {
        let properties = found.schema().properties.iter().enumerate();
        let values = properties.map(|(place, each)| (each.name.clone(), self.value(found, row, place, Looks::Noted)));
        Value::Map(values.collect::<BTreeMap<_, _>>())
    }

    /// Returns a row as agents see it.
    pub(super) fn show_row(&self, found: Found<'a>, row: &SmolStr) -> Value {
        let archived = found.table.archived(self.frame, row) == Some(true);
        let mut value = map! { "id" => row.clone(), "properties" => self.properties(found, row) };
        if let Value::Map(map) = &mut value
            && archived
        {
            map.insert("archived".into(), true.into());
        }
        value
    }

    /// Notes that the content of every database that the property's value can come from was looked at.
    pub(super) fn note_scans(&self, found: Found<'a>, place: usize, depth: usize) {
        if depth > COMPUTE_DEPTH_MAX {
            return;
        }
        match &found.schema().properties[place].kind {
            PropertyKind::Rollup { relation, property, .. } => {
                let relation = found.schema().property(relation).map(|(_, relation)| &relation.kind);
                if let Some(PropertyKind::Relation { database, .. }) = relation
                    && let Ok(Some(target)) = self.find_database(database)
                {
                    target.table.note_scan(self.frame);
                    if let Some((place, _)) = target.schema().property(property) {
                        self.note_scans(target, place, depth + 1);
                    }
                }
            }
            PropertyKind::Formula { formula, .. } => {
                for name in formula.properties() {
                    if let Some((place, _)) = found.schema().property(name) {
                        self.note_scans(found, place, depth + 1);
                    }
                }
            }
            PropertyKind::Title
            | PropertyKind::Text
            | PropertyKind::Number { .. }
            | PropertyKind::Select { .. }
            | PropertyKind::MultiSelect { .. }
            | PropertyKind::Status { .. }
            | PropertyKind::Date
            | PropertyKind::People
            | PropertyKind::Checkbox
            | PropertyKind::Url
            | PropertyKind::Email
            | PropertyKind::Phone
            | PropertyKind::Files
            | PropertyKind::Relation { .. }
            | PropertyKind::CreatedTime
            | PropertyKind::LastEditedTime
            | PropertyKind::CreatedBy
            | PropertyKind::LastEditedBy => {}
        }
    }
}

/// The row that a value belongs to, and the row as a scan sees it, if one does.
#[derive(Clone, Copy)]
struct Subject<'r> {
    id: &'r SmolStr,
    whole: Option<&'r Row>,
}

/// Computes values of rows.
pub(super) struct Compute<'a> {
    scene: Scene<'a>,
    looks: Looks,
    steps: Cell<u32>,
    /// The databases that relations lead to, by what the relations call them.
    targets: RefCell<BTreeMap<SmolStr, Option<Found<'a>>>>,
}

impl<'a> Compute<'a> {
    pub(super) fn new(scene: Scene<'a>, looks: Looks) -> Self {
        Self { scene, looks, steps: Cell::new(COMPUTE_STEPS_MAX), targets: RefCell::default() }
    }

    /// Returns the value of one more row, with all the steps that it may take.
    pub(super) fn of_row(&self, found: Found<'a>, row: &Row, place: usize) -> Value {
        self.steps.set(COMPUTE_STEPS_MAX);
        self.value(found, Subject { id: &row.id, whole: Some(row) }, place, 0)
    }

    fn target(&self, database: &SmolStr) -> Option<Found<'a>> {
        let mut targets = self.targets.borrow_mut();
        *targets.entry(database.clone()).or_insert_with(|| self.scene.find_database(database).ok().flatten())
    }

    fn value(&self, found: Found<'a>, row: Subject<'_>, place: usize, depth: usize) -> Value {
        let property = &found.schema().properties[place];
        let frame = (self.looks == Looks::Noted).then_some(self.scene.frame);
        let stamps = || match row.whole {
            Some(row) => row.stamps.clone(),
            None => found.table.stamps(frame, row.id).cloned().unwrap_or_default(),
        };
        match &property.kind {
            PropertyKind::CreatedTime => self.scene.desk.show(stamps().created).into(),
            PropertyKind::LastEditedTime => self.scene.desk.show(stamps().edited).into(),
            PropertyKind::CreatedBy => stamps().created_by.into(),
            PropertyKind::LastEditedBy => stamps().edited_by.into(),
            PropertyKind::Formula { formula, .. } => {
                if depth >= COMPUTE_DEPTH_MAX {
                    return error("it leads through too many formulas and rollups, or in a circle");
                }
                formula.compute(&FormulaRow { compute: self, found, row, depth })
            }
            PropertyKind::Rollup { relation, property, function } => {
                if depth >= COMPUTE_DEPTH_MAX {
                    return error("it leads through too many formulas and rollups, or in a circle");
                }
                match self.related(found, row, relation, property, depth) {
                    Ok(values) if self.draw(8 * values.iter().map(size).sum::<usize>()) => function.combine(&values),
                    Ok(_) => error("it takes more than one call may"),
                    Err(fault) => error(&fault),
                }
            }
            PropertyKind::Title
            | PropertyKind::Text
            | PropertyKind::Number { .. }
            | PropertyKind::Select { .. }
            | PropertyKind::MultiSelect { .. }
            | PropertyKind::Status { .. }
            | PropertyKind::Date
            | PropertyKind::People
            | PropertyKind::Checkbox
            | PropertyKind::Url
            | PropertyKind::Email
            | PropertyKind::Phone
            | PropertyKind::Files
            | PropertyKind::Relation { .. } => {
                let value = self.stored(found, row, place);
                if *value == Value::Null { property.kind.empty() } else { value.clone() }
            }
        }
    }

    /// Returns the stored value of a property.
    fn stored<'s>(&self, found: Found<'s>, row: Subject<'s>, place: usize) -> &'s Value {
        match row.whole {
            Some(row) => row.value(place),
            None => {
                let frame = (self.looks == Looks::Noted).then_some(self.scene.frame);
                found.table.value(frame, row.id, place, &found.schema().properties[place].name)
            }
        }
    }

    /// Returns the values of `property` of the rows that `relation` leads to; archived rows do not count.
    fn related(
        &self,
        found: Found<'a>,
        row: Subject<'_>,
        relation: &str,
        property: &str,
        depth: usize,
    ) -> Result<Vec<Value>, String> {
        let frame = (self.looks == Looks::Noted).then_some(self.scene.frame);
        let gone = || format!("there is no property '{property}' at the other end of '{relation}'");
        let (place, relation) = found.schema().property(relation).ok_or_else(gone)?;
        let PropertyKind::Relation { database, .. } = &relation.kind else { return Err(gone()) };
        let target = self.target(database).ok_or_else(|| format!("there is no database '{database}'"))?;
        let (target_place, _) = target.schema().property(property).ok_or_else(gone)?;
        let ids = self.stored(found, row, place).as_list().unwrap_or_default();
        let mut values = Vec::with_capacity(ids.len());
        for id in ids {
            if !self.step() {
                return Err("it takes too many steps".to_owned());
            }
            let Value::Text(id) = id else { continue };
            let there = match frame {
                Some(frame) => (target.table.archived(frame, id) == Some(false)).then_some(Subject { id, whole: None }),
                None => {
                    let row = target.table.peek_row(id).filter(|row| !row.archived);
                    row.map(|row| Subject { id, whole: Some(row) })
                }
            };
            if let Some(there) = there {
                let value = self.value(target, there, target_place, depth + 1);
                match value.get("error").and_then(Value::as_text) {
                    Some(fault) => return Err(fault.to_owned()),
                    None => values.push(value),
                }
            }
        }
        Ok(values)
    }

    fn step(&self) -> bool {
        self.draw(4) && {
            let left = self.steps.get();
            self.steps.set(left.saturating_sub(1));
            left > 0
        }
    }

    /// Draws on the call's budget. Whoever asked refuses the call when that is used up: what was computed meanwhile is shown to nobody.
    fn draw(&self, units: usize) -> bool {
        self.scene.frame.budget().work(units as u64).is_ok()
    }
}

/// Returns about how much there is to touch of a value.
pub(super) fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => 1,
        Value::Text(text) => 1 + text.len() / 8,
        Value::List(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Map(map) => 1 + map.values().map(size).sum::<usize>(),
    }
}

/// One row, as a formula sees it.
struct FormulaRow<'c, 'a> {
    compute: &'c Compute<'a>,
    found: Found<'a>,
    row: Subject<'c>,
    depth: usize,
}

impl Surroundings for FormulaRow<'_, '_> {
    fn property(&self, name: &str) -> Value {
        match self.found.schema().property(name) {
            Some((place, property)) => {
                let value = self.compute.value(self.found, self.row, place, self.depth + 1);
                // To a formula, an empty text is a text and an empty number is nothing.
                if value == Value::Null { property.kind.empty() } else { value }
            }
            None => error("a property that it speaks of is not there"),
        }
    }

    fn step(&self) -> bool {
        self.compute.step()
    }

    fn makes(&self, bytes: usize) -> bool {
        self.compute.scene.frame.budget().bytes(bytes as u64).is_ok()
    }

    fn now(&self) -> (i64, chrono_tz::Tz) {
        (self.compute.scene.time.as_millis(), self.compute.scene.desk.zone)
    }
}

fn ambiguous<'i>(what: &str, name: &str, ids: impl Iterator<Item = &'i SmolStr>) -> Rejection {
    let ids: Vec<&str> = ids.take(10).map(SmolStr::as_str).collect();
    Rejection::new(
        "knowledge/ambiguous-title",
        format!("there is more than one {what} called '{name}'; say which by its id: {}", ids.join(", ")),
    )
}
