//! The rows of one table in traced storage, the index of its unique fields, and the numbering of its ids. Changes only by `apply`.
//!
//! One collection holds both the existence of a row (`records:table/id`) and its fields (`records:table/id/field`). Every row holds a
//! piece for every field of the schema, empty ones too, so that membership changes when rows come and go and at no other time.

use std::fmt;
use std::sync::Arc;

use dayshift_engine::{
    Applying, Canonical, Collection, Difference, Frame, Graded, Key, ReadKind, Seq, SmolStr, StateDigest, Tracked,
    Value,
};
use imbl::OrdMap;

use super::audit::{Audit, AuditEntry, AuditOf, FieldChange, What};
use super::kind::is_empty;
use super::schema::Schema;
use super::whole::{Row, Rows};

/// The highest number in an id that numbering goes on from; a higher one is a name like any other, so that nobody can use the numbers up.
const NUMBER_MAX: u64 = 1_000_000_000_000;

/// The name of a piece of a table: a row, or one field of it. A row's own piece comes before its fields.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Piece {
    row: SmolStr,
    field: Option<SmolStr>,
}

impl Piece {
    pub(super) fn row(id: &SmolStr) -> Self {
        Self { row: id.clone(), field: None }
    }

    pub(super) fn field(id: &SmolStr, field: &SmolStr) -> Self {
        Self { row: id.clone(), field: Some(field.clone()) }
    }
}

impl fmt::Display for Piece {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.row)?;
        match &self.field {
            None => Ok(()),
            Some(field) => {
                formatter.write_str("/")?;
                formatter.write_str(field)
            }
        }
    }
}

/// What a piece holds.
#[derive(Clone, Debug, PartialEq)]
enum Cell {
    /// The row is there.
    Row,
    /// The value of a field.
    Field(Value),
}

impl Graded for Cell {
    fn canonical(&self, into: &mut Canonical) {
        match self {
            Self::Row => into.text("row"),
            Self::Field(value) => into.value(value),
        }
    }
}

impl Cell {
    fn value(&self) -> Value {
        match self {
            Self::Row => Value::Bool(true),
            Self::Field(value) => value.clone(),
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Numbering {
    last: u64,
    written: Seq,
}

/// The rows of one table.
#[derive(Clone, Debug)]
pub(super) struct Table {
    schema: Arc<Schema>,
    pieces: Collection<Piece, Cell>,
    audits: Collection<AuditOf, Audit>,
    unique: OrdMap<(SmolStr, SmolStr), SmolStr>,
    numbering_key: Key,
    numbering: Tracked<Numbering>,
    /// Derived: whole rows.
    whole: Rows,
    positions: u64,
}

impl Table {
    /// Returns the empty table of `schema`.
    pub(super) fn new(schema: Arc<Schema>) -> Self {
        let prefix = SmolStr::from(format!("records:{}/", schema.name));
        let numbering_key = Key::new(format!("{prefix}#"));
        Self {
            schema,
            pieces: Collection::new(prefix.clone()),
            audits: Collection::ungraded(prefix),
            unique: OrdMap::new(),
            numbering: Tracked::new(numbering_key.clone(), Numbering::default()),
            numbering_key,
            whole: Rows::default(),
            positions: 0,
        }
    }

    /// Returns whether there is a row `id`.
    pub(super) fn has(&self, frame: &Frame, id: &SmolStr) -> bool {
        self.pieces.contains(frame, &Piece::row(id))
    }

    /// Returns the value of a field of the row `id`.
    pub(super) fn get(&self, frame: &Frame, id: &SmolStr, field: &SmolStr) -> Option<&Value> {
        match self.pieces.get(frame, &Piece::field(id, field))? {
            Cell::Field(value) => Some(value),
            Cell::Row => None,
        }
    }

    /// Returns the row `id` without noting a read: for rows whose scan has been noted.
    pub(super) fn peek_row(&self, id: &SmolStr) -> Option<&Row> {
        self.whole.get(id)
    }

    /// Returns how many rows there are, without noting a read.
    pub(super) fn len(&self) -> usize {
        self.whole.len()
    }

    /// Notes that the content of the whole table is depended on.
    pub(super) fn note_scan(&self, frame: &Frame) {
        drop(self.pieces.scan(frame));
    }

    /// Returns all rows in the order of their ids, and notes a scan.
    pub(super) fn scan(&self, frame: &Frame) -> impl Iterator<Item = &Row> {
        self.note_scan(frame);
        self.peek_rows()
    }

    /// Returns all rows in the order of their ids without noting a read: for dumps, and after the scan was noted.
    pub(super) fn peek_rows(&self) -> impl Iterator<Item = &Row> {
        self.whole.iter()
    }

    /// Returns the row other than `except` that holds `value` in a unique field, and notes what that depends on.
    pub(super) fn holder(
        &self,
        frame: &Frame,
        field: &SmolStr,
        value: &Value,
        except: Option<&SmolStr>,
    ) -> Option<&SmolStr> {
        self.note_scan(frame);
        let holder = self.unique.get(&(field.clone(), index_text(value))).filter(|holder| Some(*holder) != except)?;
        let _ = self.get(frame, holder, field);
        Some(holder)
    }

    /// Returns the last number that an id of this table has had. Which number comes next is compared on replay, like a scan, and
    /// earns nobody credit: that a row is the seventh is not the merit of the sixth.
    pub(super) fn last_number(&self, frame: &Frame) -> u64 {
        let numbering = self.numbering.peek();
        frame.note(ReadKind::Scan, self.numbering_key.clone(), numbering.written);
        numbering.last
    }

    /// Returns the history of the row `id`, which outlives the row.
    pub(super) fn audit(&self, frame: &Frame, id: &SmolStr) -> Option<&Audit> {
        self.audits.get(frame, &AuditOf(id.clone()))
    }

    /// Adds a row, in place of the one that has its id, if any.
    pub(super) fn insert(
        &mut self,
        applying: &mut Applying<'_>,
        id: SmolStr,
        values: Vec<(SmolStr, Value)>,
        action: Option<SmolStr>,
    ) {
        if self.pieces.peek(&Piece::row(&id)).is_some() {
            self.take(applying, &id);
        }
        let schema = Arc::clone(&self.schema);
        let mut cells = vec![Value::Null; schema.fields.len()];
        for (name, value) in values {
            if let Some(position) = schema.position(&name) {
                cells[position] = value;
            }
        }
        self.positions += 1;
        self.pieces.insert(applying, Piece::row(&id), Cell::Row);
        self.whole.insert(Row::new(id.clone(), self.positions, cells.clone()));
        for (field, value) in schema.fields.iter().zip(cells) {
            self.index(field.unique, &field.name, &Value::Null, &value, &id);
            self.pieces.insert(applying, Piece::field(&id, &field.name), Cell::Field(value));
        }
        let number = id.strip_prefix(schema.id.prefix.as_str()).and_then(|digits| digits.parse().ok());
        let number = number.filter(|number| *number <= NUMBER_MAX).unwrap_or(0);
        if number > self.numbering.peek().last {
            self.numbering.set(applying, Numbering { last: number, written: applying.seq });
        }
        self.remember(applying, id, What::Created, action, Vec::new());
    }

    /// Changes fields of the row `id`, if it is there.
    pub(super) fn change(
        &mut self,
        applying: &mut Applying<'_>,
        id: SmolStr,
        values: Vec<(SmolStr, Value)>,
        action: Option<SmolStr>,
    ) {
        let mut changes = Vec::with_capacity(values.len());
        for (field, to) in values {
            let mut from = Value::Null;
            let kept = to.clone();
            let there = self.pieces.update(applying, &Piece::field(&id, &field), |cell| {
                if let Cell::Field(value) = cell {
                    from = std::mem::replace(value, kept);
                }
            });
            if there {
                let unique = self.schema.field(&field).is_some_and(|field| field.unique);
                if let Some(position) = self.schema.position(&field) {
                    self.whole.set(&id, position, to.clone());
                }
                self.index(unique, &field, &from, &to, &id);
                changes.push(FieldChange { field, from, to });
            }
        }
        if !changes.is_empty() {
            self.remember(applying, id, What::Changed, action, changes);
        }
    }

    /// Takes the row `id` out, if it is there.
    pub(super) fn remove(&mut self, applying: &mut Applying<'_>, id: SmolStr, action: Option<SmolStr>) {
        if self.take(applying, &id) {
            self.remember(applying, id, What::Removed, action, Vec::new());
        }
    }

    /// Returns the digest of the rows.
    pub(super) fn digest(&self) -> StateDigest {
        self.pieces.digest()
    }

    /// Returns this table without its rows.
    pub(super) fn emptied(&self) -> Self {
        Self::new(Arc::clone(&self.schema))
    }

    /// Returns all rows for people: a map by id.
    pub(super) fn dump(&self) -> Value {
        let rows = self.peek_rows().map(|row| {
            let fields = self.schema.fields.iter().enumerate();
            let fields = fields.map(|(position, field)| (field.name.clone(), row.value(position).clone()));
            (row.id.clone(), Value::Map(fields.collect()))
        });
        Value::Map(rows.collect())
    }

    /// Adds the pieces in which this table differs from `other`.
    pub(super) fn differences(&self, other: &Self, into: &mut Vec<Difference>) {
        let pieces = self.pieces.differences(&other.pieces);
        into.extend(pieces.into_iter().map(|(key, left, right)| Difference {
            key,
            left: left.map(Cell::value),
            right: right.map(Cell::value),
        }));
    }

    fn take(&mut self, applying: &mut Applying<'_>, id: &SmolStr) -> bool {
        if self.pieces.remove(applying, &Piece::row(id)).is_none() {
            return false;
        }
        self.whole.remove(id);
        let schema = Arc::clone(&self.schema);
        for field in &schema.fields {
            if let Some(Cell::Field(value)) = self.pieces.remove(applying, &Piece::field(id, &field.name)) {
                self.index(field.unique, &field.name, &value, &Value::Null, id);
            }
        }
        true
    }

    fn index(&mut self, unique: bool, field: &SmolStr, from: &Value, to: &Value, id: &SmolStr) {
        if !unique {
            return;
        }
        if !is_empty(from) {
            self.unique.remove(&(field.clone(), index_text(from)));
        }
        if !is_empty(to) {
            self.unique.insert((field.clone(), index_text(to)), id.clone());
        }
    }

    fn remember(
        &mut self,
        applying: &mut Applying<'_>,
        id: SmolStr,
        what: What,
        action: Option<SmolStr>,
        changes: Vec<FieldChange>,
    ) {
        let entry =
            AuditEntry { time: applying.time, seq: applying.seq, actor: applying.actor.clone(), what, action, changes };
        let key = AuditOf(id);
        let mut entry = Some(entry);
        let add = |audit: &mut Audit| {
            if let Some(entry) = entry.take() {
                audit.push(entry);
            }
        };
        if !self.audits.update(applying, &key, add) {
            let mut audit = Audit::default();
            entry.into_iter().for_each(|entry| audit.push(entry));
            self.audits.insert(applying, key, audit);
        }
    }
}

/// Returns the text under which the index of unique fields keeps a value.
pub(super) fn index_text(value: &Value) -> SmolStr {
    match value {
        Value::Text(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::List(_) | Value::Map(_) => {
            SmolStr::from(value.to_string())
        }
    }
}

#[cfg(test)]
impl Table {
    /// Returns whether the derived rows are what the pieces say.
    pub(super) fn is_consistent(&self) -> bool {
        let heads = self.pieces.peek_all().filter(|(_, cell)| **cell == Cell::Row).map(|(piece, _)| &piece.row);
        let rebuilt = heads.map(|id| {
            let value = |name: &SmolStr| self.pieces.peek(&Piece::field(id, name)).map(Cell::value).unwrap_or_default();
            (id, self.schema.fields.iter().map(|field| value(&field.name)).collect::<Vec<_>>())
        });
        let fields = 0..self.schema.fields.len();
        let derived = self.peek_rows().map(|row| (&row.id, fields.clone().map(|at| row.value(at).clone()).collect()));
        rebuilt.eq(derived)
    }
}
