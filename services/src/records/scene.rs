//! What a decision or a question looks with: the state, the frame that notes, the desk and the time. Finds tables and rows, or says in one
//! sentence why there is none.

use dayshift_engine::{Frame, Rejection, SimTime, SmolStr, Value};

use super::schema::{Field, Schema};
use super::table::Table;
use super::{RecordsState, TableEntry};
use crate::lowercase::composed;
use crate::service::Desk;

#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) state: &'a RecordsState,
    pub(super) frame: &'a Frame,
    pub(super) desk: &'a Desk,
    pub(super) time: SimTime,
}

/// One table, found: what it is and what it holds.
#[derive(Clone, Copy)]
pub(super) struct Found<'a> {
    pub(super) entry: &'a TableEntry,
    pub(super) rows: &'a Table,
}

impl<'a> Found<'a> {
    pub(super) fn schema(self) -> &'a Schema {
        &self.entry.schema
    }

    /// Returns the field `name`.
    pub(super) fn field(self, name: &str) -> Result<&'a Field, Rejection> {
        self.schema().field(name).ok_or_else(|| {
            Rejection::new(
                "records/unknown-field",
                format!("{} has no field '{name}'; it has: {}", self.schema().name, self.schema().field_names()),
            )
        })
    }
}

impl<'a> Scene<'a> {
    /// Returns the table `name`, if there is one, and notes the read of its definition.
    pub(super) fn find(&self, name: &SmolStr) -> Option<Found<'a>> {
        let spelled =
            (!name.is_ascii() && !self.state.tables.contains_key(name)).then(|| SmolStr::from(&*composed(name)));
        let name = spelled.as_ref().unwrap_or(name);
        let entry = self.state.entries.get(self.frame, name)?;
        self.state.tables.get(name).map(|rows| Found { entry, rows })
    }

    /// Returns the table `name`.
    pub(super) fn table(&self, name: &SmolStr) -> Result<Found<'a>, Rejection> {
        self.find(name).ok_or_else(|| {
            let names: Vec<&str> = self.state.entries.list(self.frame).map(SmolStr::as_str).collect();
            let names =
                if names.is_empty() { "there are none".to_owned() } else { format!("there are: {}", names.join(", ")) };
            Rejection::new("records/unknown-table", format!("there is no table '{name}'; {names}"))
        })
    }

    /// Makes sure that there is a row `id`.
    pub(super) fn row(&self, table: Found<'_>, id: &SmolStr) -> Result<(), Rejection> {
        if table.rows.has(self.frame, id) {
            return Ok(());
        }
        let name = &table.schema().name;
        Err(Rejection::new(
            "records/unknown-row",
            format!("{name} has no row '{id}'; look for it with records.query, and mind upper and lower case"),
        ))
    }

    /// Returns the fields `names` of the row `id` (all if there are none), as the caller sees them, with the id under its name.
    pub(super) fn show(&self, table: Found<'_>, id: &SmolStr, fields: &[&Field]) -> Value {
        let mut out = std::collections::BTreeMap::new();
        for field in fields {
            let value = table.rows.get(self.frame, id, &field.name).unwrap_or(&Value::Null);
            out.insert(field.name.clone(), field.kind.show(value, self.desk));
        }
        out.insert(table.schema().id.name.clone(), Value::Text(id.clone()));
        Value::Map(out)
    }
}

/// Returns the text that `value` holds, sharing it.
pub(super) fn shared_text(value: Option<&Value>) -> SmolStr {
    match value {
        Some(Value::Text(text)) => text.clone(),
        _ => SmolStr::default(),
    }
}
