//! What the parts of a formula come to: single values, areas of a worksheet, arrays in memory, and functions that a formula defines. An area
//! stays a reference for as long as it can, so that empty cells cost nothing and a reference can be asked where it points.

use std::rc::Rc;

use dayshift_engine::{Collection, SmolStr};
use formualizer_parse::parser::ASTNode;

use super::value::Res;
use crate::sheets::a1::{Area, CellRef};
use crate::sheets::cell::{Cell, CellError, CellValue};
use crate::sheets::state::cells_in;

/// The format that a result calls for, as a code.
pub(super) type Format = Option<&'static str>;

/// What a part of a formula comes to.
#[derive(Clone)]
pub(super) enum Operand<'a> {
    /// One value, with the format that it calls for.
    Value(CellValue, Format),
    /// Cells of a worksheet.
    Area(Region<'a>),
    /// Values in memory.
    Array(Rc<Grid>),
    /// A function that the formula defines.
    Lambda(Rc<Lambda<'a>>),
    /// An argument that was left out between commas.
    Omitted,
}

impl From<CellValue> for Operand<'_> {
    fn from(value: CellValue) -> Self {
        Self::Value(value, None)
    }
}

impl From<f64> for Operand<'_> {
    fn from(number: f64) -> Self {
        Self::Value(CellValue::Number(number), None)
    }
}

impl From<bool> for Operand<'_> {
    fn from(truth: bool) -> Self {
        Self::Value(CellValue::Bool(truth), None)
    }
}

impl From<CellError> for Operand<'_> {
    fn from(error: CellError) -> Self {
        Self::Value(CellValue::Error(error), None)
    }
}

impl From<Grid> for Operand<'_> {
    fn from(grid: Grid) -> Self {
        Self::Array(Rc::new(grid))
    }
}

/// An area of a worksheet.
#[derive(Clone, Copy)]
pub(super) struct Region<'a> {
    pub(super) worksheet: &'a SmolStr,
    pub(super) cells: &'a Collection<CellRef, Cell>,
    pub(super) area: Area,
}

impl<'a> Region<'a> {
    /// Returns the cell at `row` and `column`, counted from the corner of the area.
    pub(super) fn cell(&self, row: u32, column: u32) -> Option<&'a Cell> {
        let at = CellRef::new(self.area.first.row.checked_add(row)?, self.area.first.column.checked_add(column)?)?;
        if self.area.contains(at) { self.cells.peek(&at) } else { None }
    }

    /// Returns the cells that are there, row by row.
    pub(super) fn filled(&self) -> impl Iterator<Item = (CellRef, &'a Cell)> + use<'a> {
        cells_in(self.cells, self.area)
    }

    /// Returns the box of the same corner that `rows` and `columns` span, as far as the grid goes.
    pub(super) fn resized(&self, rows: u32, columns: u32) -> Self {
        let Area { first, .. } = self.area;
        let row = first.row.saturating_add(rows - 1).min(CellRef::LAST.row);
        let column = first.column.saturating_add(columns - 1).min(CellRef::LAST.column);
        Self { area: Area { first, last: CellRef { row, column } }, ..*self }
    }
}

/// A box of values in memory.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Grid {
    pub(super) rows: u32,
    pub(super) columns: u32,
    /// Row by row.
    pub(super) cells: Vec<CellValue>,
}

impl Grid {
    /// Returns the box of one value.
    pub(super) fn single(value: CellValue) -> Self {
        Self { rows: 1, columns: 1, cells: vec![value] }
    }

    /// Returns a column of values; nothing without any.
    pub(super) fn column(cells: Vec<CellValue>) -> Res<Self> {
        Self::new(cells.len(), 1, cells)
    }

    /// Returns a row of values; nothing without any.
    pub(super) fn row(cells: Vec<CellValue>) -> Res<Self> {
        Self::new(1, cells.len(), cells)
    }

    /// Returns a box.
    ///
    /// # Errors
    ///
    /// `#CALC!` when it is empty.
    pub(super) fn new(rows: usize, columns: usize, cells: Vec<CellValue>) -> Res<Self> {
        let (Ok(rows), Ok(columns)) = (u32::try_from(rows), u32::try_from(columns)) else {
            return Err(CellError::Number.into());
        };
        if rows == 0 || columns == 0 { Err(CellError::Calculation.into()) } else { Ok(Self { rows, columns, cells }) }
    }

    /// Returns the value at a place of the box.
    pub(super) fn at(&self, row: u32, column: u32) -> &CellValue {
        self.cells.get(row as usize * self.columns as usize + column as usize).unwrap_or(&CellValue::Empty)
    }

    /// Returns the value at a place when the box is spread over a larger one: a single row, column or value goes on.
    pub(super) fn spread(&self, row: u32, column: u32) -> CellValue {
        let row = if self.rows == 1 { 0 } else { row };
        let column = if self.columns == 1 { 0 } else { column };
        if row < self.rows && column < self.columns {
            self.at(row, column).clone()
        } else {
            CellValue::Error(CellError::NotAvailable)
        }
    }

    /// Returns one row of the box.
    pub(super) fn row_of(&self, row: u32) -> &[CellValue] {
        let start = row as usize * self.columns as usize;
        self.cells.get(start..start + self.columns as usize).unwrap_or_default()
    }

    /// Returns one column of the box.
    pub(super) fn column_of(&self, column: u32) -> impl Iterator<Item = &CellValue> {
        (0..self.rows).map(move |row| self.at(row, column))
    }

    /// Returns the box with rows and columns exchanged.
    pub(super) fn transposed(&self) -> Self {
        let cells = (0..self.columns).flat_map(|column| self.column_of(column).cloned()).collect();
        Self { rows: self.columns, columns: self.rows, cells }
    }
}

/// Values with their places, of which only those are held that are there.
#[derive(Clone)]
pub(super) enum Table {
    /// Of a worksheet. Places count from the corner of the area.
    Sparse { rows: u32, columns: u32, cells: Rc<Vec<Placed>> },
    /// In memory.
    Dense(Rc<Grid>),
}

/// A value at a place: row, column, value.
pub(super) type Placed = (u32, u32, CellValue);

impl Table {
    pub(super) fn rows(&self) -> u32 {
        match self {
            Self::Sparse { rows, .. } => *rows,
            Self::Dense(grid) => grid.rows,
        }
    }

    pub(super) fn columns(&self) -> u32 {
        match self {
            Self::Sparse { columns, .. } => *columns,
            Self::Dense(grid) => grid.columns,
        }
    }

    /// Returns how many values are there.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Sparse { cells, .. } => cells.len(),
            Self::Dense(grid) => grid.cells.len(),
        }
    }

    /// Returns the value that is `index`-th of those that are there, row by row, with its place.
    pub(super) fn nth(&self, index: usize) -> (u32, u32, &CellValue) {
        match self {
            Self::Sparse { cells, .. } => {
                cells.get(index).map_or((0, 0, &CellValue::Empty), |(row, column, value)| (*row, *column, value))
            }
            Self::Dense(grid) => {
                let columns = grid.columns as usize;
                // A box has at most `u32::MAX` rows and columns.
                let (row, column) = ((index / columns) as u32, (index % columns) as u32);
                (row, column, grid.at(row, column))
            }
        }
    }

    /// Returns the values that are there with their places, row by row.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u32, &CellValue)> {
        (0..self.len()).map(|index| self.nth(index))
    }
}

/// A function that a formula defines: the names of what it takes, and what it comes to.
pub(super) struct Lambda<'a> {
    pub(super) parameters: Vec<&'a str>,
    pub(super) body: &'a ASTNode,
    /// What names meant where it was defined.
    pub(super) scope: Scope<'a>,
}

/// What names mean: a chain, so that a function that was defined somewhere keeps the meanings of that place.
pub(super) type Scope<'a> = Option<Rc<Binding<'a>>>;

/// One name of a chain.
pub(super) struct Binding<'a> {
    pub(super) name: &'a str,
    pub(super) value: Operand<'a>,
    pub(super) outer: Scope<'a>,
}

impl<'a> Binding<'a> {
    /// Returns `scope` with one more name.
    pub(super) fn add(scope: &Scope<'a>, name: &'a str, value: Operand<'a>) -> Scope<'a> {
        Some(Rc::new(Self { name, value, outer: scope.clone() }))
    }
}

/// Returns what `name` means in `scope`.
pub(super) fn meaning<'a>(scope: &Scope<'a>, name: &str) -> Option<Operand<'a>> {
    let mut next = scope.as_ref();
    while let Some(binding) = next {
        if binding.name.eq_ignore_ascii_case(name) {
            return Some(binding.value.clone());
        }
        next = binding.outer.as_ref();
    }
    None
}
