//! Rows that come in between: what stands below moves down, and merged cells, named ranges and formulas follow. The cells move when the event
//! is applied; the formulas' new texts and what they come to are events of their own, as for every other change.

use std::collections::BTreeSet;
use std::sync::Arc;

use dayshift_engine::{Applying, SmolStr};

use super::a1::{Area, CellRef, GRID_ROWS_MAX, RangeText, qualified};
use super::cell::{Cell, Input, Precedent};
use super::formula::replace_ranges;
use super::index::FormulaAt;
use super::locate::same_name;
use super::state::{Book, Name, NamedRange};

/// What a reference becomes whose row has left the grid.
const LOST: &str = "#REF!";

/// Empty rows that come to stand above one that was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Insertion {
    /// The row above which they come, from 0: the first of them.
    pub(super) at: u32,
    /// How many they are.
    pub(super) count: u32,
}

impl Insertion {
    /// Returns where a row is afterwards.
    fn row(self, row: u32) -> u32 {
        if row < self.at { row } else { row.saturating_add(self.count) }
    }

    fn cell(self, at: CellRef) -> CellRef {
        CellRef { row: self.row(at.row), ..at }
    }

    /// Returns where an area is afterwards; one that the new rows come into grows. What runs to the end of the grid still does.
    pub(super) fn area(self, area: Area) -> Area {
        let last = if area.last.row == GRID_ROWS_MAX - 1 { area.last } else { self.cell(area.last) };
        Area { first: self.cell(area.first), last: CellRef { row: last.row.min(GRID_ROWS_MAX - 1), ..last } }
    }

    /// Returns where a cell was before; nothing for one of the new rows.
    pub(super) fn before(self, at: CellRef) -> Option<CellRef> {
        if at.row < self.at {
            return Some(at);
        }
        let row = at.row.checked_sub(self.count).filter(|row| *row >= self.at)?;
        Some(CellRef { row, ..at })
    }

    /// Returns the box around what an area held before.
    pub(super) fn area_before(self, area: Area) -> Option<Area> {
        let first = CellRef { row: area.first.row.max(self.at + self.count), ..area.first };
        let first = if area.first.row < self.at { area.first } else { self.before(first)? };
        let last = if area.last.row == GRID_ROWS_MAX - 1 {
            area.last
        } else {
            self.before(area.last).or_else(|| Some(CellRef { row: self.at.checked_sub(1)?, ..area.last }))?
        };
        (first.row <= last.row).then_some(Area { first, last })
    }

    /// Returns a formula that stands on `own` as it reads once the rows have come into `worksheet`; nothing if it stays as it is.
    pub(super) fn formula(self, text: &str, own: &str, worksheet: &str) -> Option<String> {
        replace_ranges(text, |source| match source.parse() {
            Ok(RangeText::Inside(named, rest)) if same_name(&named, worksheet) => {
                let moved = self.reference(&rest)?;
                Some(if moved == LOST { moved } else { qualified(&named, &moved) })
            }
            Ok(RangeText::Bare(rest)) if own == worksheet => self.reference(&rest),
            Ok(RangeText::Inside(..) | RangeText::Bare(_) | RangeText::Worksheet(_)) | Err(_) => None,
        })
    }

    /// Returns the reference `A1`, `$A$1:B2` or `2:5` as it reads afterwards; nothing if it stays as it is or is no such reference.
    fn reference(self, text: &str) -> Option<String> {
        let corners: Vec<(&str, u32)> = text.split(':').map(row_of).collect::<Option<_>>()?;
        if corners.len() > 2 || corners.iter().all(|(_, row)| *row < self.at) {
            return None;
        }
        let mut moved = String::with_capacity(text.len() + 2);
        for (start, row) in corners {
            let row = self.row(row);
            if row >= GRID_ROWS_MAX {
                return Some(LOST.to_owned());
            }
            if !moved.is_empty() {
                moved.push(':');
            }
            moved.push_str(start);
            moved.push_str(&(row + 1).to_string());
        }
        Some(moved)
    }
}

/// Splits one corner of a reference into all before its row number, and the row from 0.
fn row_of(corner: &str) -> Option<(&str, u32)> {
    let digits = corner.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (start, digits) = corner.split_at(corner.len() - digits);
    let letters = start.trim_matches('$');
    let is_plain = letters.len() <= 3 && letters.bytes().all(|byte| byte.is_ascii_alphabetic());
    let row: u32 = digits.parse().ok().filter(|row| is_plain && (1..=GRID_ROWS_MAX).contains(row))?;
    Some((start, row - 1))
}

impl Book {
    /// Returns the last row of a worksheet that holds anything, a format included.
    pub(super) fn last_row(&self, worksheet: &SmolStr) -> Option<u32> {
        self.cells.get(worksheet)?.peek_all().next_back().map(|(at, _)| at.row)
    }

    /// Returns the formulas that rows coming into `worksheet` can change: those that stand below, and those that look there.
    pub(super) fn formulas_below(&self, worksheet: &SmolStr, insertion: Insertion) -> BTreeSet<FormulaAt> {
        let looks_there = |at: &FormulaAt| {
            let reads = self.peek(&at.worksheet, at.at).map(Cell::precedents).unwrap_or_default();
            reads.iter().any(|read| read.worksheet == *worksheet && read.area.last.row >= insertion.at)
        };
        let all = self.formulas.all();
        let found = all.filter(|at| (at.worksheet == *worksheet && at.at.row >= insertion.at) || looks_there(at));
        found.cloned().collect()
    }

    /// Moves everything down that stands below. Texts of formulas stay; what they read is known anew.
    pub(super) fn insert_rows(&mut self, worksheet: &SmolStr, insertion: Insertion, applying: &mut Applying<'_>) {
        let readers = self.formulas_below(worksheet, insertion);
        for at in &readers {
            let reads = self.peek(&at.worksheet, at.at).map(|cell| cell.precedents().to_vec()).unwrap_or_default();
            self.formulas.remove(&at.worksheet, at.at, &reads);
        }
        let Some(cells) = self.cells.get_mut(worksheet) else { return };
        let from = CellRef { row: insertion.at, column: 0 };
        let below: Vec<CellRef> = cells.peek_range(from..).map(|(at, _)| *at).collect();
        // From the end, so that nothing is overwritten.
        for at in below.into_iter().rev() {
            if let Some(cell) = cells.remove(applying, &at) {
                cells.insert(applying, insertion.cell(at), cell);
            }
        }
        for reader in &readers {
            let own = reader.worksheet == *worksheet;
            let at = if own { insertion.cell(reader.at) } else { reader.at };
            if let Some(cells) = self.cells.get_mut(&reader.worksheet) {
                let moves = |read: &Precedent| read.worksheet == *worksheet && insertion.area(read.area) != read.area;
                if cells.peek(&at).is_some_and(|cell| cell.precedents().iter().any(moves)) {
                    cells.update(applying, &at, |cell| move_precedents(cell, worksheet, insertion));
                }
                if let Some(cell) = cells.peek(&at) {
                    self.formulas.insert(&reader.worksheet, at, cell);
                }
            }
        }
        self.show_anew(worksheet, insertion.at);
        self.worksheets.update(applying, &Name(worksheet.clone()), |entry| {
            entry.merged = entry.merged.iter().map(|area| insertion.area(*area)).collect();
        });
        let named: Vec<(Name, NamedRange)> = self
            .names
            .peek_all()
            .filter(|(_, range)| range.worksheet == *worksheet && range.area.last.row >= insertion.at)
            .map(|(name, range)| (name.clone(), NamedRange { area: insertion.area(range.area), ..range.clone() }))
            .collect();
        for (name, range) in named {
            self.names.insert(applying, name, range);
        }
    }
}

fn move_precedents(cell: &mut Cell, worksheet: &SmolStr, insertion: Insertion) {
    let Some(input) = &mut cell.input else { return };
    if let Input::Formula { reads, .. } = Arc::make_mut(input) {
        for read in reads.iter_mut().filter(|read| read.worksheet == *worksheet) {
            read.area = insertion.area(read.area);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(text: &str, own: &str) -> Option<String> {
        Insertion { at: 4, count: 2 }.formula(text, own, "Data")
    }

    #[test]
    fn references_to_what_moves_follow_and_others_stay() {
        for (text, expected) in [
            ("=A4+A5", Some("=A4+A7")),
            ("=SUM(A1:A4)", None),
            ("=SUM(A1:$B$5)", Some("=SUM(A1:$B$7)")),
            ("=SUM(A:A)+$C6+d$7", Some("=SUM(A:A)+$C8+d$9")),
            ("=SUM(5:7)", Some("=SUM(7:9)")),
            ("=\"A5\"&Total5x&Other!A5", None),
            ("=Data!A5", Some("=Data!A7")),
            ("='Data'!A5:A9", Some("=Data!A7:A11")),
            ("=A1048576", Some("=#REF!")),
        ] {
            assert_eq!(moved(text, "Data").as_deref(), expected, "{text}");
        }
        assert_eq!(moved("=A5+data!A5", "Notes").as_deref(), Some("=A5+data!A7"));
    }

    #[test]
    fn areas_grow_where_rows_come_into_them() {
        let insertion = Insertion { at: 4, count: 2 };
        for (before, after) in
            [("A1:A4", "A1:A4"), ("A1:A5", "A1:A7"), ("A5:A6", "A7:A8"), ("A:B", "A:B"), ("A3:A", "A3:A")]
        {
            let area = |text: &str| text.parse::<Area>().expect("an area");
            assert_eq!(insertion.area(area(before)), area(after), "{before}");
            assert_eq!(insertion.area_before(area(after)), Some(area(before)), "{after}");
        }
        assert_eq!(insertion.area_before("A5:A6".parse().expect("an area")), None);
        assert_eq!(insertion.before(CellRef { row: 5, column: 0 }), None);
    }
}
