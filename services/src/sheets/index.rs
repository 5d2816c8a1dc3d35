//! Where a workbook's formulas stand and what they read: an index that is derived from the cells, kept by `apply`, and never graded.
//!
//! Small areas are looked up cell by cell, large ones one by one; a column of formulas over one table shares one entry.

use std::collections::BTreeSet;
use std::ops::Bound;

use dayshift_engine::SmolStr;
use imbl::{OrdMap, OrdSet};

use super::a1::{Area, CellRef};
use super::cell::{Cell, Precedent};

/// Up to how many cells an area is indexed cell by cell.
const POINTS_CELLS_MAX: u64 = 16;

/// Where a formula stands. Ordered by worksheet, then row by row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FormulaAt {
    pub(super) worksheet: SmolStr,
    pub(super) at: CellRef,
}

/// The index.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FormulaIndex {
    points: OrdMap<FormulaAt, OrdSet<FormulaAt>>,
    areas: OrdMap<Precedent, OrdSet<FormulaAt>>,
    all: OrdSet<FormulaAt>,
    volatile: OrdSet<FormulaAt>,
    /// Those that read nothing, or nothing that is known: an import keeps formulas that cannot be read.
    unread: OrdSet<FormulaAt>,
}

impl FormulaIndex {
    /// Returns all formulas in order.
    pub(super) fn all(&self) -> impl Iterator<Item = &FormulaAt> {
        self.all.iter()
    }

    /// Returns whether there are no formulas.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns the formulas of which no precedents are known, in order.
    pub(super) fn unread(&self) -> impl Iterator<Item = &FormulaAt> {
        self.unread.iter()
    }

    /// Returns the formulas whose value can change without any precedent changing, in order.
    pub(super) fn volatile(&self) -> impl Iterator<Item = &FormulaAt> {
        self.volatile.iter()
    }

    /// Calls `each` with every formula that reads the cell. A formula that reads it twice may come twice.
    pub(super) fn readers(&self, cell: &FormulaAt, mut each: impl FnMut(&FormulaAt)) {
        if let Some(readers) = self.points.get(cell) {
            readers.iter().for_each(&mut each);
        }
        for (area, readers) in &self.areas {
            if area.worksheet == cell.worksheet && area.area.contains(cell.at) {
                readers.iter().for_each(&mut each);
            }
        }
    }

    /// Returns the formulas that read anything of a worksheet for whose name `matches` holds, in order. Names of worksheets that are not there
    /// count as well.
    pub(super) fn mentioning(&self, matches: impl Fn(&str) -> bool) -> BTreeSet<FormulaAt> {
        let mut found = BTreeSet::new();
        let start = |worksheet: &SmolStr| FormulaAt { worksheet: worksheet.clone(), at: CellRef::default() };
        let end = |worksheet: &SmolStr| FormulaAt { worksheet: worksheet.clone(), at: CellRef::LAST };
        // From one worksheet to the next, whatever is between.
        let mut next = self.points.get_min().map(|(point, _)| point.worksheet.clone());
        while let Some(worksheet) = next {
            if matches(&worksheet) {
                let readers = self.points.range(start(&worksheet)..=end(&worksheet)).flat_map(|(_, readers)| readers);
                found.extend(readers.cloned());
            }
            let behind = (Bound::Excluded(end(&worksheet)), Bound::Unbounded);
            next = self.points.range(behind).next().map(|(point, _)| point.worksheet.clone());
        }
        let areas = self.areas.iter().filter(|(area, _)| matches(&area.worksheet));
        found.extend(areas.flat_map(|(_, readers)| readers).cloned());
        found
    }

    /// Puts the formula of `cell` in, if it has one.
    pub(super) fn insert(&mut self, worksheet: &SmolStr, at: CellRef, cell: &Cell) {
        if cell.formula().is_none() {
            return;
        }
        let formula = FormulaAt { worksheet: worksheet.clone(), at };
        for precedent in cell.precedents() {
            if precedent.area.cells() <= POINTS_CELLS_MAX {
                for point in points(precedent) {
                    self.points.entry(point).or_default().insert(formula.clone());
                }
            } else {
                self.areas.entry(precedent.clone()).or_default().insert(formula.clone());
            }
        }
        if cell.is_volatile() {
            self.volatile.insert(formula.clone());
        }
        if cell.precedents().is_empty() {
            self.unread.insert(formula.clone());
        }
        self.all.insert(formula);
    }

    /// Takes the formula at a cell out, if there is one.
    pub(super) fn remove(&mut self, worksheet: &SmolStr, at: CellRef, precedents: &[Precedent]) {
        if self.all.is_empty() {
            return;
        }
        let formula = FormulaAt { worksheet: worksheet.clone(), at };
        if self.all.remove(&formula).is_none() {
            return;
        }
        self.volatile.remove(&formula);
        self.unread.remove(&formula);
        for precedent in precedents {
            if precedent.area.cells() <= POINTS_CELLS_MAX {
                for point in points(precedent) {
                    drop_reader(&mut self.points, &point, &formula);
                }
            } else {
                drop_reader(&mut self.areas, precedent, &formula);
            }
        }
    }
}

fn points(precedent: &Precedent) -> impl Iterator<Item = FormulaAt> + '_ {
    let Area { first, last } = precedent.area;
    (first.row..=last.row).flat_map(move |row| {
        (first.column..=last.column)
            .map(move |column| FormulaAt { worksheet: precedent.worksheet.clone(), at: CellRef { row, column } })
    })
}

fn drop_reader<K: Ord + Clone>(index: &mut OrdMap<K, OrdSet<FormulaAt>>, key: &K, formula: &FormulaAt) {
    let Some(readers) = index.get_mut(key) else { return };
    readers.remove(formula);
    if readers.is_empty() {
        index.remove(key);
    }
}
