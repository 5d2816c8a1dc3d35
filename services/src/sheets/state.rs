//! The state of the spreadsheet service and how events change it. Cells live in one traced collection a worksheet; everything else that is
//! derived from them (where formulas stand and what they read) is an index that `apply` keeps.

use std::fmt::{self, Write as _};
use std::sync::Arc;

use dayshift_engine::{
    Applying, Canonical, Collection, Content, Difference, Frame, Graded, SmolStr, StateDigest, Value, map,
};
use imbl::OrdMap;
use smol_str::SmolStrBuilder;

use super::a1::{Area, CellRef};
use super::cell::{Cell, CellValue, Input};
use super::event::{CellWritten, SheetsEvent};
use super::index::FormulaIndex;
use super::insert::Insertion;
use super::shown::ShownIndex;

/// How many workbooks there may be.
pub const BOOKS_MAX: usize = 1_000;
/// How many worksheets a workbook may have.
pub const WORKSHEETS_MAX: usize = 200;
/// The longest name of a workbook, in bytes.
pub const BOOK_NAME_BYTES_MAX: usize = 255;
/// The longest name of a worksheet, in bytes.
pub const WORKSHEET_NAME_BYTES_MAX: usize = 100;

/// How many cells beside an area are passed by one by one: to look for the next row takes as long.
const PASSED_CELLS_MAX: usize = 24;

/// A name as a piece of a key: what would look like the border between two pieces is written as `%` and two hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name(pub(super) SmolStr);

impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest: &str = &self.0;
        while let Some(at) = rest.find(['%', '/', '!', '*']) {
            formatter.write_str(&rest[..at])?;
            write!(formatter, "%{:02X}", rest.as_bytes()[at])?;
            rest = &rest[at + 1..];
        }
        formatter.write_str(rest)
    }
}

/// The entry of a workbook in the list of workbooks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BookEntry {
    pub(super) id: SmolStr,
}

impl Graded for BookEntry {
    /// The id is left out: two worlds in which the same workbook was made at different moments are the same.
    fn canonical(&self, into: &mut Canonical) {
        into.bool(true);
    }
}

/// The entry of a worksheet in its workbook.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Worksheet {
    /// Larger numbers stand further behind; gaps are left by worksheets that went away.
    pub(super) position: u32,
    pub(super) merged: Arc<[Area]>,
}

impl Graded for Worksheet {
    fn canonical(&self, into: &mut Canonical) {
        into.int(i64::from(self.position));
        self.merged.iter().for_each(|area| into.text(&area.to_string()));
    }
}

/// What a name in a workbook stands for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NamedRange {
    pub(super) worksheet: SmolStr,
    pub(super) area: Area,
}

impl Graded for NamedRange {
    fn canonical(&self, into: &mut Canonical) {
        into.text(&self.worksheet);
        into.text(&self.area.to_string());
    }
}

/// The file that a workbook came from, as long as nothing was changed.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) format: SmolStr,
    pub(super) content: Content,
}

/// One workbook.
#[derive(Clone, Debug)]
pub(super) struct Book {
    pub(super) worksheets: Collection<Name, Worksheet>,
    pub(super) names: Collection<Name, NamedRange>,
    /// The cells of each worksheet, by its exact name.
    pub(super) cells: OrdMap<SmolStr, Collection<CellRef, Cell>>,
    pub(super) formulas: FormulaIndex,
    /// What the cells of each worksheet show; nothing on a fork on which a change is only tried.
    shown: Option<OrdMap<SmolStr, ShownIndex>>,
    pub(super) source: Option<Source>,
}

/// The state of the spreadsheet service.
#[derive(Clone, Debug)]
pub struct SheetsState {
    pub(super) books: Collection<Name, BookEntry>,
    /// What is in each workbook. Behind a pointer, so that changing one leaves its neighbours alone.
    pub(super) contents: OrdMap<SmolStr, Arc<Book>>,
    /// Names by id: an index, not a fact of its own.
    pub(super) ids: OrdMap<SmolStr, SmolStr>,
    /// The sum of the workbooks' digests.
    digest: StateDigest,
}

impl Default for SheetsState {
    fn default() -> Self {
        Self::new()
    }
}

impl SheetsState {
    /// Returns a service without workbooks.
    #[must_use]
    pub fn new() -> Self {
        Self {
            books: Collection::new("sheets:"),
            contents: OrdMap::new(),
            ids: OrdMap::new(),
            digest: StateDigest::default(),
        }
    }

    pub(super) fn fold(&mut self, event: SheetsEvent, applying: &mut Applying<'_>) {
        match event {
            SheetsEvent::BookCreated { book, id } => {
                self.contents.insert(book.clone(), Arc::new(Book::new(&book)));
                self.ids.insert(id.clone(), book.clone());
                self.books.insert(applying, Name(book), BookEntry { id });
            }
            SheetsEvent::BookImported { book, format, source } => {
                if let Some(book) = self.contents.get_mut(&book) {
                    Arc::make_mut(book).source = Some(Source { format, content: source });
                }
            }
            SheetsEvent::WorksheetAdded { ref book, .. }
            | SheetsEvent::WorksheetRenamed { ref book, .. }
            | SheetsEvent::WorksheetDeleted { ref book, .. }
            | SheetsEvent::CellsWritten { ref book, .. }
            | SheetsEvent::CellsCleared { ref book, .. }
            | SheetsEvent::RowsInserted { ref book, .. }
            | SheetsEvent::CellsMerged { ref book, .. }
            | SheetsEvent::RangeNamed { ref book, .. } => {
                // An event for a workbook that is not there changes nothing.
                if let Some(book) = self.contents.get_mut(book).map(Arc::make_mut) {
                    self.digest -= book.digest();
                    book.fold(event, applying);
                    self.digest += book.digest();
                }
            }
        }
    }

    pub(super) fn total(&self) -> StateDigest {
        let mut total = self.books.digest();
        total += self.digest;
        total
    }

    pub(super) fn compare(&self, other: &Self, into: &mut Vec<Difference>) {
        collect(&self.books, &other.books, into, |entry| map! { "id" => entry.id.clone() });
        let names: std::collections::BTreeSet<&SmolStr> = self.contents.keys().chain(other.contents.keys()).collect();
        for name in names {
            let empty = Book::new(name);
            let here = self.contents.get(name).map_or(&empty, Arc::as_ref);
            let there = other.contents.get(name).map_or(&empty, Arc::as_ref);
            if here.digest() == there.digest() {
                continue;
            }
            collect(&here.worksheets, &there.worksheets, into, show_worksheet);
            collect(&here.names, &there.names, into, show_name);
            let worksheets: std::collections::BTreeSet<&SmolStr> =
                here.cells.keys().chain(there.cells.keys()).collect();
            for worksheet in worksheets {
                let empty = Collection::new(cells_prefix(name, worksheet));
                let left = here.cells.get(worksheet).unwrap_or(&empty);
                let right = there.cells.get(worksheet).unwrap_or(&empty);
                collect(left, right, into, show_cell);
            }
        }
    }

    pub(super) fn show(&self) -> Value {
        let books = self.contents.iter().map(|(name, book)| (name.clone(), book.show()));
        Value::Map(books.collect())
    }
}

impl Book {
    pub(super) fn new(name: &SmolStr) -> Self {
        let name = Name(name.clone());
        Self {
            worksheets: Collection::new(format!("sheets:{name}/")),
            names: Collection::new(format!("sheets:{name}/names/")),
            cells: OrdMap::new(),
            formulas: FormulaIndex::default(),
            shown: Some(OrdMap::new()),
            source: None,
        }
    }

    /// Returns a fork on which a change can be tried. What its cells show is not kept.
    pub(super) fn for_trial(&self) -> Self {
        Self { shown: None, ..self.clone() }
    }

    /// Returns what the cells of a worksheet show, without noting a read.
    pub(super) fn shown(&self, worksheet: &SmolStr) -> Option<&ShownIndex> {
        self.shown.as_ref()?.get(worksheet)
    }

    /// Returns the worksheets in the order in which they stand, without noting a read.
    pub(super) fn peek_order(&self) -> Vec<&SmolStr> {
        let mut worksheets: Vec<(u32, &SmolStr)> =
            self.worksheets.peek_all().map(|(name, entry)| (entry.position, &name.0)).collect();
        worksheets.sort_unstable();
        worksheets.into_iter().map(|(_, name)| name).collect()
    }

    /// Returns the worksheets in the order in which they stand, and notes that their membership was read.
    pub(super) fn order(&self, frame: &Frame) -> Vec<&SmolStr> {
        let _ = self.worksheets.list(frame);
        self.peek_order()
    }

    /// Returns the value of a cell without noting a read.
    pub(super) fn peek(&self, worksheet: &SmolStr, at: CellRef) -> Option<&Cell> {
        self.cells.get(worksheet)?.peek(&at)
    }

    /// Changes the workbook, which then is no longer what a file says.
    pub(super) fn fold(&mut self, event: SheetsEvent, applying: &mut Applying<'_>) {
        self.source = None;
        match event {
            SheetsEvent::BookCreated { .. } | SheetsEvent::BookImported { .. } => {}
            SheetsEvent::WorksheetAdded { worksheet, .. } => self.add_worksheet(&worksheet, applying),
            SheetsEvent::WorksheetRenamed { worksheet, to, .. } => self.rename_worksheet(&worksheet, &to, applying),
            SheetsEvent::WorksheetDeleted { worksheet, .. } => self.delete_worksheet(&worksheet, applying),
            SheetsEvent::CellsWritten { worksheet, cells, .. } => self.write(&worksheet, cells, applying),
            SheetsEvent::CellsCleared { worksheet, area, .. } => self.clear(&worksheet, area, applying),
            SheetsEvent::RowsInserted { worksheet, at, count, .. } => {
                self.insert_rows(&worksheet, Insertion { at, count }, applying);
            }
            SheetsEvent::CellsMerged { worksheet, areas, .. } => {
                self.worksheets.update(applying, &Name(worksheet), |entry| entry.merged = areas.into());
            }
            SheetsEvent::RangeNamed { name, worksheet, area, .. } => {
                self.names.insert(applying, Name(name), NamedRange { worksheet, area });
            }
        }
    }

    fn digest(&self) -> StateDigest {
        let mut total = self.worksheets.digest();
        total += self.names.digest();
        total += self.cells.values().map(Collection::digest).sum();
        total
    }

    fn add_worksheet(&mut self, worksheet: &SmolStr, applying: &mut Applying<'_>) {
        let position = self.worksheets.peek_all().map(|(_, entry)| entry.position + 1).max().unwrap_or_default();
        self.put_worksheet(worksheet, Worksheet { position, merged: [].into() }, applying);
    }

    fn put_worksheet(&mut self, worksheet: &SmolStr, entry: Worksheet, applying: &mut Applying<'_>) {
        let prefix = self.cells_prefix(worksheet);
        self.worksheets.insert(applying, Name(worksheet.clone()), entry);
        self.cells.insert(worksheet.clone(), Collection::new(prefix));
        if let Some(shown) = &mut self.shown {
            shown.insert(worksheet.clone(), ShownIndex::default());
        }
    }

    fn rename_worksheet(&mut self, worksheet: &SmolStr, to: &SmolStr, applying: &mut Applying<'_>) {
        let Some(entry) = self.worksheets.remove(applying, &Name(worksheet.clone())) else { return };
        let Some(mut cells) = self.cells.remove(worksheet) else { return };
        self.put_worksheet(to, entry, applying);
        if let Some(shown) = &mut self.shown
            && let Some(index) = shown.remove(worksheet)
        {
            shown.insert(to.clone(), index);
        }
        let all: Vec<(CellRef, Cell)> = cells.peek_all().map(|(at, cell)| (*at, cell.clone())).collect();
        for (at, mut cell) in all {
            self.formulas.remove(worksheet, at, cell.precedents());
            cells.remove(applying, &at);
            rename_precedents(&mut cell, worksheet, to);
            self.formulas.insert(to, at, &cell);
            if let Some(renamed) = self.cells.get_mut(to) {
                renamed.insert(applying, at, cell);
            }
        }
        let named: Vec<(Name, NamedRange)> = self
            .names
            .peek_all()
            .filter(|(_, range)| range.worksheet == *worksheet)
            .map(|(name, range)| (name.clone(), NamedRange { worksheet: to.clone(), area: range.area }))
            .collect();
        for (name, range) in named {
            self.names.insert(applying, name, range);
        }
    }

    fn delete_worksheet(&mut self, worksheet: &SmolStr, applying: &mut Applying<'_>) {
        if let Some(mut cells) = self.cells.remove(worksheet) {
            let all: Vec<CellRef> = cells.peek_all().map(|(at, _)| *at).collect();
            for at in all {
                if let Some(cell) = cells.remove(applying, &at) {
                    self.formulas.remove(worksheet, at, cell.precedents());
                }
            }
        }
        self.worksheets.remove(applying, &Name(worksheet.clone()));
        if let Some(shown) = &mut self.shown {
            shown.remove(worksheet);
        }
        let named = self.names.peek_all().filter(|(_, range)| range.worksheet == *worksheet);
        let named: Vec<Name> = named.map(|(name, _)| name.clone()).collect();
        for name in named {
            self.names.remove(applying, &name);
        }
    }

    pub(super) fn write(&mut self, worksheet: &SmolStr, cells: Vec<CellWritten>, applying: &mut Applying<'_>) {
        let Some(all) = self.cells.get_mut(worksheet) else { return };
        let mut shown = self.shown.as_mut().and_then(|shown| shown.get_mut(worksheet));
        for written in cells {
            let at = written.at;
            let old = all.peek(&at);
            if let Some(old) = old {
                self.formulas.remove(worksheet, at, old.precedents());
            }
            let format = written.format.or_else(|| old.map(|old| old.format.clone())).unwrap_or_default();
            let cell = Cell { value: written.value, format, input: written.input.map(Arc::new) };
            if let Some(shown) = &mut shown {
                shown.set(at, &cell);
            }
            if cell.is_blank() && cell.format.is_empty() {
                all.remove(applying, &at);
                continue;
            }
            self.formulas.insert(worksheet, at, &cell);
            all.insert(applying, at, cell);
        }
    }

    fn clear(&mut self, worksheet: &SmolStr, area: Area, applying: &mut Applying<'_>) {
        let Some(all) = self.cells.get_mut(worksheet) else { return };
        let mut shown = self.shown.as_mut().and_then(|shown| shown.get_mut(worksheet));
        let found: Vec<(CellRef, SmolStr)> = cells_in(all, area).map(|(at, cell)| (at, cell.format.clone())).collect();
        for (at, format) in found {
            if let Some(shown) = &mut shown {
                shown.remove(at);
            }
            if let Some(old) = all.peek(&at) {
                self.formulas.remove(worksheet, at, old.precedents());
            }
            if format.is_empty() {
                all.remove(applying, &at);
            } else {
                all.insert(applying, at, Cell { value: CellValue::Empty, format, input: None });
            }
        }
    }

    /// Finds anew what the cells from a row on show.
    pub(super) fn show_anew(&mut self, worksheet: &SmolStr, from: u32) {
        let Some(shown) = self.shown.as_mut().and_then(|shown| shown.get_mut(worksheet)) else { return };
        let Some(cells) = self.cells.get(worksheet) else { return };
        shown.cut(from);
        for (at, cell) in cells.peek_range(CellRef { row: from, column: 0 }..) {
            shown.set(*at, cell);
        }
    }

    fn cells_prefix(&self, worksheet: &SmolStr) -> SmolStr {
        let mut prefix = SmolStrBuilder::new();
        prefix.push_str(self.worksheets.prefix());
        // Writing into memory cannot fail.
        let _ = write!(prefix, "{}!", Name(worksheet.clone()));
        prefix.finish()
    }

    fn show(&self) -> Value {
        let worksheets = self.peek_order().into_iter().map(|worksheet| {
            let cells = self.cells.get(worksheet).into_iter().flat_map(Collection::peek_all);
            let cells = cells.map(|(at, cell)| (SmolStr::from(at.to_string()), show_cell(cell)));
            map! { "worksheet" => worksheet.clone(), "cells" => Value::Map(cells.collect()) }
        });
        let names = self.names.peek_all().map(|(name, range)| (name.0.clone(), show_name(range)));
        map! { "worksheets" => worksheets.collect::<Value>(), "names" => Value::Map(names.collect()) }
    }
}

/// Returns the cells of `all` that lie in `area`, row by row, without noting a read. Takes time for what is there, not for the size of
/// the area.
pub(super) fn cells_in(all: &Collection<CellRef, Cell>, area: Area) -> impl Iterator<Item = (CellRef, &Cell)> {
    let mut cells = all.peek_range(area.first..=area.last);
    let mut passed = 0;
    std::iter::from_fn(move || {
        loop {
            let (at, cell) = cells.next()?;
            if area.contains(*at) {
                passed = 0;
                return Some((*at, cell));
            }
            passed += 1;
            if passed == PASSED_CELLS_MAX {
                passed = 0;
                let row = if at.column < area.first.column { at.row } else { at.row + 1 };
                cells = all.peek_range(CellRef { row, column: area.first.column }..=area.last);
            }
        }
    })
}

fn cells_prefix(book: &SmolStr, worksheet: &SmolStr) -> String {
    format!("sheets:{}/{}!", Name(book.clone()), Name(worksheet.clone()))
}

fn rename_precedents(cell: &mut Cell, from: &SmolStr, to: &SmolStr) {
    let Some(input) = &mut cell.input else { return };
    if let Input::Formula { reads, .. } = Arc::make_mut(input) {
        for precedent in reads.iter_mut().filter(|precedent| precedent.worksheet == *from) {
            precedent.worksheet = to.clone();
        }
    }
}

fn collect<K: Ord + Clone + fmt::Display, V: Clone + PartialEq + Graded>(
    here: &Collection<K, V>,
    there: &Collection<K, V>,
    into: &mut Vec<Difference>,
    show: impl Fn(&V) -> Value,
) {
    let differences = here.differences(there).into_iter();
    into.extend(differences.map(|(key, left, right)| Difference {
        key,
        left: left.map(&show),
        right: right.map(&show),
    }));
}

fn show_cell(cell: &Cell) -> Value {
    let mut shown = map! { "value" => cell.value.to_value() };
    if let Value::Map(map) = &mut shown {
        if let Some(formula) = cell.formula() {
            map.insert("formula".into(), formula.clone().into());
        }
        if !cell.format.is_empty() {
            map.insert("format".into(), cell.format.clone().into());
        }
    }
    shown
}

fn show_worksheet(entry: &Worksheet) -> Value {
    map! {
        "position" => entry.position,
        "merged" => entry.merged.iter().map(ToString::to_string).collect::<Value>(),
    }
}

fn show_name(range: &NamedRange) -> Value {
    Value::from(super::a1::qualified(&range.worksheet, &range.area))
}
