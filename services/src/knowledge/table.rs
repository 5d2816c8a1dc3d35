//! The rows of one database in traced storage. Changes only by `apply`.
//!
//! Every row holds a piece for itself (`knowledge:row/ID`), one for every stored property (`knowledge:row/ID/property`), empty or not, and
//! one for its times (`knowledge:row/ID/#edited`). Which rows there are is `knowledge:db/ID/`, and their content taken together `knowledge:db/ID/*`.

use std::fmt;
use std::sync::Arc;

use dayshift_engine::{
    Applying, Canonical, Collection, Difference, Frame, Graded, Key, ReadKind, Seq, SimTime, SmolStr, StateDigest,
    Tracked, Value,
};
use imbl::OrdMap;

use super::schema::Schema;

/// When somebody last touched something, and who. It never counts in a digest.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Stamps {
    pub(super) created: SimTime,
    pub(super) created_by: SmolStr,
    pub(super) edited: SimTime,
    pub(super) edited_by: SmolStr,
}

impl Graded for Stamps {
    fn canonical(&self, _: &mut Canonical) {}
}

/// The name of a piece of a row. A row's own piece comes first, then its properties in the schema's order, then its times.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Piece {
    row: SmolStr,
    part: Part,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Head,
    Property(u16, SmolStr),
    Stamps,
}

impl fmt::Display for Piece {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.row)?;
        match &self.part {
            Part::Head => Ok(()),
            Part::Property(_, name) => write!(formatter, "/{name}"),
            Part::Stamps => formatter.write_str("/#edited"),
        }
    }
}

/// What a piece holds.
#[derive(Clone, Debug)]
enum Cell {
    /// The row is there. It was the so-many-th of the office, which orders rows and counts for nothing else.
    Head { position: u64, archived: bool },
    /// The value of a property.
    Property(Value),
    /// The row's times.
    Stamps(Box<Stamps>),
}

impl PartialEq for Cell {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Head { archived: left, .. }, Self::Head { archived: right, .. }) => left == right,
            (Self::Property(left), Self::Property(right)) => left == right,
            (Self::Stamps(_), Self::Stamps(_)) => true,
            (Self::Head { .. } | Self::Property(_) | Self::Stamps(_), _) => false,
        }
    }
}

impl Graded for Cell {
    fn canonical(&self, into: &mut Canonical) {
        match self {
            Self::Head { archived, .. } => into.bool(*archived),
            Self::Property(value) => into.value(value),
            Self::Stamps(_) => into.text("times"),
        }
    }
}

/// One row as scans look at it, in one piece of memory: ten thousand rows are looked through without fetching every piece from where it
/// lies. Derived from the pieces.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) id: SmolStr,
    pub(super) archived: bool,
    pub(super) stamps: Stamps,
    pub(super) position: u64,
    /// In the order of the schema's properties; computed ones hold nothing.
    values: Vec<Value>,
}

impl Row {
    /// Returns the stored value of the property at `place` in the schema.
    pub(super) fn value(&self, place: usize) -> &Value {
        self.values.get(place).unwrap_or(&Value::Null)
    }

    /// Returns the stored values of all properties in order.
    pub(super) fn values(&self) -> impl Iterator<Item = &Value> {
        self.values.iter()
    }
}

/// A row is there, archived or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Member;

impl Graded for Member {
    fn canonical(&self, _: &mut Canonical) {}
}

/// The rows of one database.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// Which rows there are.
    members: Collection<SmolStr, Member>,
    pieces: Collection<Piece, Cell>,
    /// Derived: whole rows, in the order in which they came to be.
    rows: OrdMap<u64, Arc<Row>>,
    /// Which record last changed anything of any row.
    content: Tracked<Seq>,
    content_key: Key,
}

impl Table {
    /// Returns the empty table of the database `id`.
    pub(super) fn new(id: &SmolStr) -> Self {
        let content_key = Key::new(format!("knowledge:db/{id}/*"));
        Self {
            members: Collection::ungraded(format!("knowledge:db/{id}/")),
            pieces: Collection::new("knowledge:row/"),
            rows: OrdMap::new(),
            content: Tracked::new(content_key.clone(), Seq::default()),
            content_key,
        }
    }

    /// Returns how many rows there are, archived ones included, without noting a read.
    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    /// Returns whether the row `id` is archived; nothing if there is no such row.
    pub(super) fn archived(&self, frame: &Frame, id: &SmolStr) -> Option<bool> {
        match self.pieces.get(frame, &head(id))? {
            Cell::Head { archived, .. } => Some(*archived),
            Cell::Property(_) | Cell::Stamps(_) => None,
        }
    }

    /// Returns the stored value of a property of a row, and notes the read unless `frame` is none: for pieces whose scan was noted.
    pub(super) fn value(&self, frame: Option<&Frame>, id: &SmolStr, place: usize, name: &SmolStr) -> &Value {
        let piece = property(id, place, name);
        let cell = match frame {
            Some(frame) => self.pieces.get(frame, &piece),
            None => self.pieces.peek(&piece),
        };
        match cell {
            Some(Cell::Property(value)) => value,
            _ => &Value::Null,
        }
    }

    /// Returns a row's times, and notes the read unless `frame` is none.
    pub(super) fn stamps(&self, frame: Option<&Frame>, id: &SmolStr) -> Option<&Stamps> {
        let piece = Piece { row: id.clone(), part: Part::Stamps };
        let cell = match frame {
            Some(frame) => self.pieces.get(frame, &piece),
            None => self.pieces.peek(&piece),
        };
        match cell {
            Some(Cell::Stamps(stamps)) => Some(stamps),
            _ => None,
        }
    }

    /// Returns the whole row, without noting a read.
    pub(super) fn peek_row(&self, id: &SmolStr) -> Option<&Row> {
        self.rows.get(&self.position(id)?).map(|row| &**row)
    }

    /// Returns all rows, archived ones too, in the order in which they came to be, and notes a scan.
    pub(super) fn scan(&self, frame: &Frame) -> impl Iterator<Item = &Row> {
        self.note_scan(frame);
        self.peek_rows()
    }

    /// Notes that the content of every row was looked at.
    pub(super) fn note_scan(&self, frame: &Frame) {
        drop(self.members.list(frame));
        frame.note(ReadKind::Scan, self.content_key.clone(), *self.content.peek());
    }

    /// Returns all rows, archived ones too, in the order in which they came to be, without noting a read.
    pub(super) fn peek_rows(&self) -> impl Iterator<Item = &Row> {
        self.rows.values().map(|row| &**row)
    }

    /// Adds a row.
    pub(super) fn insert(
        &mut self,
        applying: &mut Applying<'_>,
        schema: &Schema,
        id: &SmolStr,
        position: u64,
        values: Vec<(SmolStr, Value)>,
        stamps: Stamps,
    ) {
        let mut cells = vec![Value::Null; schema.properties.len()];
        for (name, value) in values {
            if let Some((place, _)) = schema.property(&name) {
                cells[place] = value;
            }
        }
        self.members.insert(applying, id.clone(), Member);
        self.pieces.insert(applying, head(id), Cell::Head { position, archived: false });
        for ((place, each), value) in schema.properties.iter().enumerate().zip(&cells) {
            if each.kind.is_stored() {
                self.pieces.insert(applying, property(id, place, &each.name), Cell::Property(value.clone()));
            }
        }
        let row = Row { id: id.clone(), archived: false, stamps: stamps.clone(), position, values: cells };
        self.rows.insert(position, Arc::new(row));
        let stamps = Cell::Stamps(Box::new(stamps));
        self.pieces.insert(applying, Piece { row: id.clone(), part: Part::Stamps }, stamps);
        self.changed(applying);
    }

    /// Changes one property of a row.
    pub(super) fn set(
        &mut self,
        applying: &mut Applying<'_>,
        id: &SmolStr,
        place: usize,
        name: &SmolStr,
        value: Value,
    ) {
        let kept = value.clone();
        if self.pieces.update(applying, &property(id, place, name), |cell| *cell = Cell::Property(value)) {
            self.change_row(id, |row| row.values[place] = kept);
        }
        self.changed(applying);
    }

    /// Puts a row into the archive, or takes it out. Membership changes: a listing does not show what is archived.
    pub(super) fn archive(&mut self, applying: &mut Applying<'_>, id: &SmolStr, to: bool) {
        self.pieces.update(applying, &head(id), |cell| {
            if let Cell::Head { archived, .. } = cell {
                *archived = to;
            }
        });
        self.change_row(id, |row| row.archived = to);
        self.members.remove(applying, id);
        self.members.insert(applying, id.clone(), Member);
        self.changed(applying);
    }

    /// Notes who edited a row, and when.
    pub(super) fn touch(&mut self, applying: &mut Applying<'_>, id: &SmolStr, by: &SmolStr) {
        let time = applying.time;
        self.pieces.update(applying, &Piece { row: id.clone(), part: Part::Stamps }, |cell| {
            if let Cell::Stamps(stamps) = cell {
                stamps.edited = time;
                stamps.edited_by = by.clone();
            }
        });
        self.change_row(id, |row| {
            row.stamps.edited = time;
            row.stamps.edited_by = by.clone();
        });
        self.changed(applying);
    }

    /// Returns the digest of the rows.
    pub(super) fn digest(&self) -> StateDigest {
        self.pieces.digest()
    }

    /// Adds the pieces in which this table differs from `other`.
    pub(super) fn differences(&self, other: &Self, into: &mut Vec<Difference>) {
        let show = |cell: &Cell| match cell {
            Cell::Head { archived, .. } => Value::from(if *archived { "archived" } else { "there" }),
            Cell::Property(value) => value.clone(),
            Cell::Stamps(_) => Value::Null,
        };
        let graded = |cell: Option<&Cell>| !matches!(cell, Some(Cell::Stamps(_)));
        for (key, left, right) in self.pieces.differences(&other.pieces) {
            if graded(left) && graded(right) {
                into.push(Difference { key, left: left.map(show), right: right.map(show) });
            }
        }
    }

    fn position(&self, id: &SmolStr) -> Option<u64> {
        match self.pieces.peek(&head(id))? {
            Cell::Head { position, .. } => Some(*position),
            Cell::Property(_) | Cell::Stamps(_) => None,
        }
    }

    fn change_row(&mut self, id: &SmolStr, change: impl FnOnce(&mut Row)) {
        if let Some(row) = self.position(id).and_then(|position| self.rows.get_mut(&position)) {
            change(Arc::make_mut(row));
        }
    }

    fn changed(&mut self, applying: &mut Applying<'_>) {
        if *self.content.peek() != applying.seq {
            let seq = applying.seq;
            self.content.set(applying, seq);
        }
    }
}

fn head(id: &SmolStr) -> Piece {
    Piece { row: id.clone(), part: Part::Head }
}

fn property(id: &SmolStr, place: usize, name: &SmolStr) -> Piece {
    // There are at most `PROPERTIES_MAX` properties.
    Piece { row: id.clone(), part: Part::Property(place as u16, name.clone()) }
}

#[cfg(test)]
impl Table {
    /// Returns whether the row `id` is archived, without noting a read.
    fn archived_unnoted(&self, id: &SmolStr) -> Option<bool> {
        match self.pieces.peek(&head(id))? {
            Cell::Head { archived, .. } => Some(*archived),
            Cell::Property(_) | Cell::Stamps(_) => None,
        }
    }

    /// Returns whether the derived rows are what the pieces say.
    pub(super) fn is_consistent(&self, schema: &Schema) -> bool {
        let heads = self.pieces.peek_all().filter(|(piece, _)| piece.part == Part::Head).count();
        heads == self.rows.len()
            && self.members.len() == heads
            && self.rows.iter().all(|(position, row)| {
                let values = schema.properties.iter().enumerate();
                let values = values.map(|(place, each)| self.value(None, &row.id, place, &each.name).clone()).collect();
                let rebuilt = Row {
                    id: row.id.clone(),
                    archived: self.archived_unnoted(&row.id) == Some(true),
                    stamps: self.stamps(None, &row.id).cloned().unwrap_or_default(),
                    position: self.position(&row.id).unwrap_or_default(),
                    values,
                };
                rebuilt == **row && *position == row.position
            })
    }
}
