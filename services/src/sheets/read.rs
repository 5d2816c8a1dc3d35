//! Looking at cells: ranges, searches and lists, traced. Changes nothing.

use std::collections::BTreeSet;

use dayshift_engine::{Collection, Frame, Rejection, SmolStr, Value, map};

use super::a1::{Area, CellRef, qualified};
use super::cell::{Cell, Precedent};
use super::format::formatted;
use super::locate::Located;
use super::shown::ShownIndex;
use super::state::{Book, SheetsState, cells_in};

/// The most rows that one reading returns.
pub const READ_ROWS_MAX: u32 = 10_000;
/// The most cells that one reading returns, empty ones in between included.
pub const READ_CELLS_MAX: usize = 200_000;
/// The most cells that one search returns.
pub const FIND_MATCHES_MAX: usize = 1_000;
/// How many cells a formula's area notes one by one; of a larger one the rest is noted as a scan of the worksheet.
pub const PRECEDENTS_NOTED_MAX: usize = 1_000;

/// How cells are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    Formatted,
    Values,
    Formulas,
}

impl Shown {
    /// Returns the way that an argument names; without one, formatted.
    pub(super) fn named(text: Option<&str>) -> Self {
        match text {
            Some("values") => Self::Values,
            Some("formulas") => Self::Formulas,
            Some(_) | None => Self::Formatted,
        }
    }

    pub(super) fn show(self, cell: &Cell) -> Value {
        match self {
            Self::Formatted => Value::Text(formatted(cell)),
            Self::Values => cell.value.to_value(),
            Self::Formulas => cell.formula().map_or_else(|| cell.value.to_value(), |text| Value::Text(text.clone())),
        }
    }

    /// Returns what stands for an empty cell between others.
    fn gap(self) -> Value {
        if self == Self::Values { Value::Null } else { Value::from("") }
    }
}

/// What a search looks for.
pub(super) struct Search<'a> {
    pub(super) text: &'a str,
    pub(super) whole: bool,
    pub(super) case: bool,
    pub(super) formulas: bool,
}

impl Search<'_> {
    /// Returns whether what a cell shows is what is looked for; `wanted` is the text, in small letters unless case counts.
    fn matches(&self, shown: &str, wanted: &str) -> bool {
        let small;
        let shown = if self.case {
            shown
        } else {
            small = shown.to_lowercase();
            &small
        };
        if self.whole { shown == wanted } else { shown.contains(wanted) }
    }
}

impl SheetsState {
    pub(super) fn list_books(&self, frame: &Frame) -> Value {
        let names: Vec<_> = self.books.list(frame).cloned().collect();
        names
            .iter()
            .filter_map(|name| Some(map! { "book" => name.0.clone(), "id" => self.books.get(frame, name)?.id.clone() }))
            .collect()
    }
}

impl Book {
    pub(super) fn list_worksheets(&self, frame: &Frame) -> Value {
        self.order(frame)
            .into_iter()
            .filter_map(|worksheet| {
                let cells = self.cells.get(worksheet)?;
                let _ = cells.list(frame);
                let extent = self.shown(worksheet).and_then(ShownIndex::extent);
                Some(map! {
                    "worksheet" => worksheet.clone(),
                    "rows" => extent.map_or(0, |(rows, _)| rows),
                    "columns" => extent.map_or(0, |(_, columns)| columns),
                })
            })
            .collect()
    }

    /// Returns where a text stands: the cells that match, and whether there are more than are returned.
    pub(super) fn find(&self, frame: &Frame, only: Option<&SmolStr>, search: &Search<'_>) -> (Value, bool) {
        let wanted = if search.case { search.text.to_owned() } else { search.text.to_lowercase() };
        let mut found = Vec::new();
        let mut precedents = BTreeSet::new();
        let mut more = false;
        let worksheets = if let Some(only) = only { vec![only] } else { self.order(frame) };
        for worksheet in worksheets {
            let Some(cells) = self.cells.get(worksheet) else { continue };
            // The index stands for a look at every cell.
            drop(cells.scan(frame));
            for at in self.candidates(worksheet, search, &wanted) {
                let Some(cell) = cells.peek(&at) else { continue };
                let shown = match cell.formula() {
                    Some(formula) if search.formulas => formula.clone(),
                    Some(_) | None => formatted(cell),
                };
                if shown.is_empty() || !search.matches(&shown, &wanted) {
                    continue;
                }
                if found.len() == FIND_MATCHES_MAX {
                    more = true;
                    break;
                }
                cells.get(frame, &at);
                precedents.extend(cell.precedents());
                found.push(map! { "ref" => qualified(worksheet, &at), "text" => shown });
            }
        }
        self.note_precedents(frame, &precedents);
        (Value::List(found), more)
    }

    /// Returns the cells of a worksheet that a search has to look at, row by row.
    fn candidates<'s>(
        &'s self,
        worksheet: &'s SmolStr,
        search: &Search<'_>,
        wanted: &str,
    ) -> Box<dyn Iterator<Item = CellRef> + 's> {
        // In lower case a letter may depend on its neighbours (the Greek sigma), so that what has a text need not have its lower case.
        match self.shown(worksheet) {
            Some(shown) if !search.case || wanted.is_ascii() => Box::new(shown.holding(&wanted.to_lowercase())),
            Some(_) | None => {
                Box::new(self.cells.get(worksheet).into_iter().flat_map(Collection::peek_all).map(|(at, _)| *at))
            }
        }
    }

    /// Notes what formula cells rest on besides themselves. A column of formulas over one table rests on it once.
    fn note_precedents(&self, frame: &Frame, precedents: &BTreeSet<&Precedent>) {
        for precedent in precedents {
            self.note_area(frame, precedent, |_| true);
        }
    }

    /// Notes the cells of an area that `wanted` lets through as read, the first ones by themselves and the rest as a scan.
    pub(super) fn note_area(&self, frame: &Frame, area: &Precedent, wanted: impl Fn(CellRef) -> bool) {
        let Some(cells) = self.cells.get(&area.worksheet) else {
            let _ = self.order(frame);
            return;
        };
        if area.area.is_cell() {
            if wanted(area.area.first) {
                cells.get(frame, &area.area.first);
            }
            return;
        }
        let _ = cells.list(frame);
        let mut inside = cells_in(cells, area.area).filter(|(at, _)| wanted(*at));
        for (at, _) in inside.by_ref().take(PRECEDENTS_NOTED_MAX) {
            cells.get(frame, &at);
        }
        if inside.next().is_some() {
            let _ = cells.scan(frame);
        }
    }
}

impl Located<'_> {
    /// Returns the rows of the range: trailing empty cells and rows cut off, inner ones kept.
    ///
    /// # Errors
    ///
    /// `sheets/read-too-large`.
    pub(super) fn rows(&self, frame: &Frame, shown: Shown) -> Result<Vec<Value>, Rejection> {
        if self.area.is_cell() {
            let cell = self.get(frame, self.area.first).filter(|cell| !cell.is_blank());
            return Ok(cell.map(|cell| Value::List(vec![shown.show(cell)])).into_iter().collect());
        }
        let _ = self.cells.list(frame);
        let mut rows: Vec<Value> = Vec::new();
        let mut row: Vec<Value> = Vec::new();
        let mut total = 0;
        let mut precedents = BTreeSet::new();
        for (at, cell) in cells_in(self.cells, self.area) {
            self.cells.get(frame, &at);
            precedents.extend(cell.precedents());
            if cell.is_blank() {
                continue;
            }
            let (down, across) = (at.row - self.area.first.row, (at.column - self.area.first.column) as usize);
            if down >= READ_ROWS_MAX {
                return Err(self.too_large());
            }
            while rows.len() < down as usize {
                total += row.len();
                rows.push(Value::List(std::mem::take(&mut row)));
            }
            if total + across >= READ_CELLS_MAX {
                return Err(self.too_large());
            }
            row.resize_with(across, || shown.gap());
            row.push(shown.show(cell));
        }
        if !row.is_empty() {
            rows.push(Value::List(row));
        }
        self.book.note_precedents(frame, &precedents);
        Ok(rows)
    }

    /// Returns one cell of the worksheet.
    pub(super) fn get(&self, frame: &Frame, at: CellRef) -> Option<&Cell> {
        let cell = self.cells.get(frame, &at)?;
        self.book.note_precedents(frame, &cell.precedents().iter().collect());
        Some(cell)
    }

    fn too_large(&self) -> Rejection {
        let first = self.area.first;
        let part = Area { first, last: CellRef { row: first.row + 999, column: self.area.last.column } };
        Rejection::new(
            "sheets/read-too-large",
            format!(
                "{} holds more than {READ_ROWS_MAX} rows or {READ_CELLS_MAX} cells; read it in parts, such as {}",
                self.text_of(self.area),
                self.text_of(part)
            ),
        )
    }
}
