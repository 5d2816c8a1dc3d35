//! Holds new values against a table's schema before they become events: types, required and unique fields, references, ids. One draft
//! serves one call, so that rows created together do not clash with each other.

use std::collections::{BTreeMap, BTreeSet};

use dayshift_engine::{Rejection, SmolStr, Value};

use super::condition::Operand;
use super::evaluate::Evaluator;
use super::event::NewRow;
use super::kind::{self, FieldKind, is_empty};
use super::scene::{Found, Scene};
use super::schema::Field;
use super::table::index_text;

/// How many rows one table may hold.
pub const TABLE_ROWS_MAX: usize = 100_000;

/// In whose name values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Authority {
    /// A caller's own: read-only fields are not for it.
    Caller,
    /// An action's: it may set every field.
    Action,
    /// The scenario's: every field, and references may point at rows that come later.
    Backstage,
}

/// The rows of one call that are not yet there.
pub(super) struct Draft<'a> {
    scene: Scene<'a>,
    authority: Authority,
    batches: BTreeMap<SmolStr, Batch>,
}

#[derive(Default)]
struct Batch {
    ids: BTreeSet<SmolStr>,
    unique: BTreeSet<(SmolStr, SmolStr)>,
    last_number: Option<u64>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(scene: Scene<'a>, authority: Authority) -> Self {
        Self { scene, authority, batches: BTreeMap::new() }
    }

    /// Returns the new row that `values` write, with the id `id` or the next one that is free.
    pub(super) fn create(
        &mut self,
        table: Found<'_>,
        id: Option<&SmolStr>,
        values: &BTreeMap<SmolStr, Value>,
    ) -> Result<NewRow, Rejection> {
        let schema = table.schema();
        let named = values.iter().map(|(name, value)| Ok((&table.field(name)?.name, value)));
        let values: BTreeMap<&SmolStr, &Value> = named.collect::<Result<_, Rejection>>()?;
        let pending = self.batches.get(&schema.name).map_or(0, |batch| batch.ids.len());
        if table.rows.len() + pending >= TABLE_ROWS_MAX {
            return Err(Rejection::new(
                "records/too-many-rows",
                format!(
                    "{} holds {TABLE_ROWS_MAX} rows already, the most that it may; change a row instead",
                    schema.name
                ),
            ));
        }
        let id = self.id(table, id)?;
        let defaults = Evaluator::new(self.scene);
        let mut row = NewRow { id, values: Vec::with_capacity(values.len()) };
        for field in &schema.fields {
            let given = values.get(&field.name).copied();
            let value = match (given, &field.default) {
                (None | Some(Value::Null), Some(default)) => default_value(&defaults, default)?,
                (Some(given), _) => self.admit(table, field, given)?,
                (None, None) => Value::Null,
            };
            if field.required && is_empty(&value) {
                return Err(required(table, field));
            }
            if value == Value::Null {
                continue;
            }
            self.claim(table, field, &value, None)?;
            row.values.push((field.name.clone(), value));
        }
        Ok(row)
    }

    /// Returns the canonical form of `value` for `field`, free to be put into the row `id`.
    pub(super) fn change(
        &mut self,
        table: Found<'_>,
        id: &SmolStr,
        field: &Field,
        value: &Value,
    ) -> Result<Value, Rejection> {
        let value = self.admit(table, field, value)?;
        self.claim(table, field, &value, Some(id))?;
        Ok(value)
    }

    fn admit(&self, table: Found<'_>, field: &Field, value: &Value) -> Result<Value, Rejection> {
        let name = &table.schema().name;
        if field.read_only && self.authority == Authority::Caller {
            return Err(Rejection::new(
                "records/read-only",
                format!("{name}.{} cannot be set directly; see in records.tables which action changes it", field.name),
            ));
        }
        if field.required && is_empty(value) {
            return Err(required(table, field));
        }
        if *value == Value::Null {
            return Ok(Value::Null);
        }
        let value = field.kind.admit(value).ok_or_else(|| {
            let given = if matches!(value, Value::Text(text) if text.len() > 100) {
                "so long a text".to_owned()
            } else {
                value.to_string()
            };
            Rejection::new(
                "records/bad-value",
                format!("{name}.{} takes {}, not {given}", field.name, field.kind.takes()),
            )
        })?;
        self.refers(&field.kind, &value, field, name)?;
        Ok(value)
    }

    /// Makes sure that a reference points at a row that is there, or comes to be in this call.
    fn refers(&self, kind: &FieldKind, value: &Value, field: &Field, name: &SmolStr) -> Result<(), Rejection> {
        let (FieldKind::Reference(target), Value::Text(id)) = (kind, value) else { return Ok(()) };
        if self.authority == Authority::Backstage
            || self.batches.get(target).is_some_and(|batch| batch.ids.contains(id))
        {
            return Ok(());
        }
        if self.scene.find(target).is_some_and(|table| table.rows.has(self.scene.frame, id)) {
            return Ok(());
        }
        Err(Rejection::new(
            "records/dangling-reference",
            format!(
                "{name}.{} refers to a row of {target}, and there is no '{id}'; find the id with records.query",
                field.name
            ),
        ))
    }

    /// Claims the value of a unique field for the row `id` (a new row if absent).
    fn claim(&mut self, table: Found<'_>, field: &Field, value: &Value, id: Option<&SmolStr>) -> Result<(), Rejection> {
        if !field.unique || is_empty(value) {
            return Ok(());
        }
        let name = &table.schema().name;
        let holder = table.rows.holder(self.scene.frame, &field.name, value, id);
        let claimed =
            self.batches.entry(name.clone()).or_default().unique.insert((field.name.clone(), index_text(value)));
        if holder.is_none() && claimed {
            return Ok(());
        }
        let holder = holder.map_or_else(|| "another row of this call".to_owned(), |holder| format!("'{holder}'"));
        Err(Rejection::new(
            "records/not-unique",
            format!("{name}.{} must be unique and {holder} has {value} already; use another value", field.name),
        ))
    }

    fn id(&mut self, table: Found<'_>, id: Option<&SmolStr>) -> Result<SmolStr, Rejection> {
        let schema = table.schema();
        let batch = self.batches.entry(schema.name.clone()).or_default();
        if let Some(id) = id {
            if !kind::is_row_id(id) {
                return Err(Rejection::new(
                    "records/bad-id",
                    format!(
                        "'{id}' cannot be an id: at most {} bytes, no slash, no control character, no space at its ends",
                        kind::ROW_ID_BYTES_MAX
                    ),
                ));
            }
            if table.rows.has(self.scene.frame, id) || !batch.ids.insert(id.clone()) {
                return Err(Rejection::new(
                    "records/row-exists",
                    format!(
                        "{} has a row '{id}' already; change it with records.update, or leave the id out",
                        schema.name
                    ),
                ));
            }
            return Ok(id.clone());
        }
        let mut number = batch.last_number.unwrap_or_else(|| table.rows.last_number(self.scene.frame));
        loop {
            number = number.checked_add(1).ok_or_else(|| {
                Rejection::new("records/bad-id", format!("{} has run out of numbers; give an id", schema.name))
            })?;
            let id = SmolStr::from(format!("{}{number:0width$}", schema.id.prefix, width = schema.id.digits));
            // A number may be taken under another spelling ("7" and "007"), never twice under the same.
            if !table.rows.has(self.scene.frame, &id) && batch.ids.insert(id.clone()) {
                batch.last_number = Some(number);
                return Ok(id);
            }
        }
    }
}

fn default_value(defaults: &Evaluator<'_>, default: &Operand) -> Result<Value, Rejection> {
    defaults.value(default).map(std::borrow::Cow::into_owned)
}

fn required(table: Found<'_>, field: &Field) -> Rejection {
    Rejection::new(
        "records/required",
        format!("{}.{} must not be empty; give {}", table.schema().name, field.name, field.kind.takes()),
    )
}
