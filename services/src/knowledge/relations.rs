//! Relations with two ends: a property of one database and a property `back` of the other, each of which shows what the other leads to. What
//! one event writes to the one end, `apply` writes to the other. An end that is not there is none: the relation then leads one way.

use std::collections::BTreeSet;

use dayshift_engine::{Applying, Rejection, SmolStr, Value};

use super::KnowledgeState;
use super::needle::same;
use super::scene::{Found, Scene};
use super::schema::{Property, PropertyKind, Schema};

/// How many rows the end of a two-way relation may lead to, counting those that others put there.
pub const RELATED_ROWS_MAX: usize = 2_000;

/// The other end of a two-way relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Back {
    pub(super) database: SmolStr,
    /// The property, by its place and its name.
    pub(super) place: usize,
    pub(super) name: SmolStr,
}

impl KnowledgeState {
    /// Returns the other end of a property of `database`, if it is a relation that has one, without noting a read.
    pub(super) fn back(&self, database: &SmolStr, property: &Property) -> Option<Back> {
        let PropertyKind::Relation { database: to, back: Some(back) } = &property.kind else { return None };
        let to = self.peek_database(to)?;
        let own = &self.databases.peek(database)?.schema;
        let (place, other) = self.databases.peek(to)?.schema.property(back)?;
        pairs(property, (database, own), other).then(|| Back { database: to.clone(), place, name: other.name.clone() })
    }

    /// Returns the id of the database that `name` is the id or, alone among those that are not archived, the title of.
    fn peek_database(&self, name: &str) -> Option<&SmolStr> {
        if let Some((id, _)) = self.tables.get_key_value(name) {
            return Some(id);
        }
        let mut titled = self
            .databases
            .peek_all()
            .filter(|(_, database)| !database.archived && same(&database.schema.title, name))
            .map(|(id, _)| id);
        titled.next().filter(|_| titled.next().is_none())
    }

    /// Lets the other ends of a row's relation follow: `row` is taken out where `from` led and put in where `to` leads.
    pub(super) fn follow(&mut self, applying: &mut Applying<'_>, back: &Back, row: &SmolStr, from: &Value, to: &Value) {
        for (other, add) in turned(from, to) {
            let Some(table) = self.tables.get_mut(&back.database).map(std::sync::Arc::make_mut) else { return };
            let Some(there) = table.peek_row(&other) else { continue };
            if let Some(value) = with(there.value(back.place), row, add) {
                table.set(applying, &other, back.place, &back.name, value);
                self.fold_text(&other);
            }
        }
    }
}

/// Rows that a decision is about to lead to others, so that no end gets too long.
#[derive(Default)]
pub(super) struct Ends {
    added: std::collections::BTreeMap<(SmolStr, SmolStr), BTreeSet<SmolStr>>,
}

impl Ends {
    /// Notes the read of the other ends of a property that changes, and makes sure that they have room.
    ///
    /// # Errors
    ///
    /// `knowledge/too-many-related`.
    pub(super) fn admit(
        &mut self,
        scene: &Scene<'_>,
        found: Found<'_>,
        property: &Property,
        row: &SmolStr,
        from: &Value,
        to: &Value,
    ) -> Result<(), Rejection> {
        let Some(back) = scene.state.back(found.id, property) else { return Ok(()) };
        let Some(target) = scene.database_by_id(&back.database) else { return Ok(()) };
        for (other, add) in turned(from, to) {
            let there = target.table.value(Some(scene.frame), &other, back.place, &back.name);
            let there = there.as_list().unwrap_or_default();
            if !add || there.iter().any(|item| item.as_text() == Some(row)) {
                continue;
            }
            let added = self.added.entry((back.name.clone(), other.clone())).or_default();
            added.insert(row.clone());
            if there.len() + added.len() > RELATED_ROWS_MAX {
                return Err(Rejection::new(
                    "knowledge/too-many-related",
                    format!(
                        "'{}' of the row '{other}' would lead to more than {RELATED_ROWS_MAX} rows; relate this row to another",
                        back.name
                    ),
                ));
            }
        }
        Ok(())
    }
}

/// Makes sure that the relations of a new database and those that lead to it from others agree about their other ends.
///
/// # Errors
///
/// `knowledge/bad-definition`.
pub(super) fn check(scene: &Scene<'_>, id: &SmolStr, schema: &Schema) -> Result<(), Rejection> {
    let own = (id, schema);
    for property in &schema.properties {
        let PropertyKind::Relation { database, back: Some(back) } = &property.kind else { continue };
        if names(database, own) {
            agree(own, property, own, back)?;
        } else if let Some(found) = scene.find_database(database)? {
            agree(own, property, (found.id, found.schema()), back)?;
        }
    }
    for (other, database) in scene.state.databases.scan(scene.frame) {
        for property in &database.schema.properties {
            let PropertyKind::Relation { database: to, back: Some(back) } = &property.kind else { continue };
            if names(to, own) {
                agree((other, &database.schema), property, own, back)?;
            }
        }
    }
    Ok(())
}

/// A database: its id and its schema.
type End<'s> = (&'s SmolStr, &'s Schema);

/// Returns whether `name` is the id or the title of a database.
fn names(name: &str, database: End<'_>) -> bool {
    name == database.0.as_str() || same(&database.1.title, name)
}

/// Returns whether `other` is the other end of `property` of the database `own`: it leads to it and names `property`.
fn pairs(property: &Property, own: End<'_>, other: &Property) -> bool {
    matches!(&other.kind, PropertyKind::Relation { database, back: Some(back) } if *back == property.name && names(database, own))
}

fn agree(own: End<'_>, property: &Property, other: End<'_>, back: &str) -> Result<(), Rejection> {
    let found = other.1.property(back).is_some_and(|(_, there)| pairs(property, own, there));
    if found {
        return Ok(());
    }
    let (title, there, name) = (&own.1.title, &other.1.title, &property.name);
    Err(Rejection::new(
        "knowledge/bad-definition",
        format!(
            "'{name}' of '{title}' has its other end in '{back}' of '{there}', which must be {{type: relation, database: {title}, back: {name}}}"
        ),
    ))
}

/// Returns the rows that a relation no longer leads to, and those that it leads to now, each with whether it does.
fn turned(from: &Value, to: &Value) -> Vec<(SmolStr, bool)> {
    let ids = |value: &Value| -> Vec<SmolStr> {
        value.as_list().unwrap_or_default().iter().filter_map(Value::as_text).map(SmolStr::from).collect()
    };
    let (from, to) = (ids(from), ids(to));
    let gone = from.iter().filter(|id| !to.contains(id)).map(|id| (id.clone(), false));
    let come = to.iter().filter(|id| !from.contains(id)).map(|id| (id.clone(), true));
    gone.chain(come).collect()
}

/// Returns a list of rows with `row` at its end, or without it; nothing if that is what it is.
fn with(value: &Value, row: &SmolStr, add: bool) -> Option<Value> {
    let mut items = value.as_list().unwrap_or_default().to_vec();
    let is_there = items.iter().any(|item| item.as_text() == Some(row));
    if is_there == add {
        return None;
    }
    if add {
        items.push(row.clone().into());
    } else {
        items.retain(|item| item.as_text() != Some(row));
    }
    Some(if items.is_empty() { Value::Null } else { Value::List(items) })
}
