//! Looking values up: `VLOOKUP`, `MATCH`, `XLOOKUP`, `INDEX` and their kin. An exact search takes the first that is equal (texts without
//! regard to case, with `*` and `?`); one for the nearest trusts that the values are in order.

use std::cmp::Ordering;

use super::{Function, MANY, given_truth, given_whole, lazy, whole};
use crate::sheets::a1::Area;
use crate::sheets::cell::{CellError, CellValue};
use crate::sheets::formula::evaluate::{Evaluator, LOOKED_AT_PER_UNIT, is_single};
use crate::sheets::formula::operand::{Grid, Operand, Region, Table};
use crate::sheets::formula::pattern::Pattern;
use crate::sheets::formula::value::{Fault, Res, compare, same};

pub(super) const FUNCTIONS: &[Function] = &[
    whole("VLOOKUP", 3, 4, |on, a| look_along(on, a, Line::Column)),
    whole("HLOOKUP", 3, 4, |on, a| look_along(on, a, Line::Row)),
    whole("LOOKUP", 2, 3, |on, a| {
        for_each(on, &a[0], |on, value| {
            let table = on.table(&a[1])?;
            let line = if table.columns() > table.rows() { Line::Row } else { Line::Column };
            let index = Search { nearest: Nearest::Below, patterns: false, backwards: false, ordered: true }
                .find(on, &table, line, 0, value)?
                .ok_or(CellError::NotAvailable)?;
            match a.get(2) {
                None if line == Line::Column => element(on, &a[1], index, table.columns() - 1),
                None => element(on, &a[1], table.rows() - 1, index),
                Some(result) => {
                    let shape = on.table(result)?;
                    if shape.columns() > shape.rows() {
                        element(on, result, 0, index)
                    } else {
                        element(on, result, index, 0)
                    }
                }
            }
        })
    }),
    whole("MATCH", 2, 3, |on, a| {
        let nearest = match given_whole(on, a, 2, 1)?.signum() {
            0 => Nearest::None,
            1 => Nearest::Below,
            _ => Nearest::Above,
        };
        let search = Search {
            nearest,
            patterns: nearest == Nearest::None,
            backwards: false,
            ordered: nearest == Nearest::Below,
        };
        position(on, a, &search)
    }),
    whole("XMATCH", 2, 4, |on, a| position(on, a, &search_of(on, a, 2)?)),
    whole("XLOOKUP", 3, 6, |on, a| {
        let search = search_of(on, a, 4)?;
        for_each(on, &a[0], |on, value| {
            let table = on.table(&a[1])?;
            let line = line_of(&table)?;
            match search.find(on, &table, line, 0, value)? {
                Some(index) => strip(on, &a[2], line, index),
                None => match a.get(3) {
                    None | Some(Operand::Omitted) => Err(CellError::NotAvailable.into()),
                    Some(instead) => Ok(instead.clone()),
                },
            }
        })
    }),
    whole("INDEX", 2, 4, |on, a| {
        let (mut row, mut column) = (given_whole(on, a, 1, 0)?, given_whole(on, a, 2, 0)?);
        let (rows, columns) = dimensions(on, &a[0])?;
        if rows == 1 && a.len() == 2 {
            (row, column) = (1, row);
        }
        if row < 0 || column < 0 {
            return Err(CellError::Value.into());
        }
        if row > i64::from(rows) || column > i64::from(columns) {
            return Err(CellError::Reference.into());
        }
        let pick = |number: i64, count: u32| {
            if number == 0 { (0, count) } else { (u32::try_from(number - 1).unwrap_or_default(), 1) }
        };
        let ((row, height), (column, width)) = (pick(row, rows), pick(column, columns));
        part(on, &a[0], row, column, height, width)
    }),
    lazy("CHOOSE", 2, MANY, |on, nodes| {
        let number = super::number_of(&on.single(&on.evaluate(&nodes[0])?)?)?;
        let node = super::cut(number).ok().and_then(|number| usize::try_from(number).ok()).filter(|number| *number > 0);
        let node = node.and_then(|number| nodes.get(number)).ok_or(CellError::Value)?;
        Ok(match on.evaluate(node)? {
            Operand::Omitted => 0.0.into(),
            operand @ (Operand::Value(..) | Operand::Area(_) | Operand::Array(_) | Operand::Lambda(_)) => operand,
        })
    }),
];

/// In which direction values to search follow each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Line {
    Column,
    Row,
}

/// What counts when no value is equal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nearest {
    None,
    Below,
    Above,
}

struct Search {
    nearest: Nearest,
    patterns: bool,
    backwards: bool,
    /// Whether the values are trusted to be in rising order.
    ordered: bool,
}

impl Search {
    /// Returns where along a line of a table `wanted` is, or what is nearest.
    fn find(&self, on: &Evaluator<'_>, table: &Table, line: Line, across: u32, wanted: &CellValue) -> Res<Option<u32>> {
        if let CellValue::Error(error) = wanted {
            return Err((*error).into());
        }
        let pattern = match wanted {
            CellValue::Text(text) if self.patterns && Pattern::is_one(text) => Some(Pattern::new(text)),
            CellValue::Empty | CellValue::Number(_) | CellValue::Text(_) | CellValue::Bool(_) | CellValue::Error(_) => {
                None
            }
        };
        on.budget().work(1 + table.len() as u64 / LOOKED_AT_PER_UNIT)?;
        let along = |(row, column, value)| match line {
            Line::Column if column == across => Some((row, value)),
            Line::Row if row == across => Some((column, value)),
            Line::Column | Line::Row => None,
        };
        let mut best: Option<(u32, &CellValue)> = None;
        let count = table.len();
        for step in 0..count {
            let index = if self.backwards { count - 1 - step } else { step };
            let Some((place, value)) = along(table.nth(index)) else { continue };
            let matches = match (&pattern, value) {
                (Some(pattern), CellValue::Text(text)) => pattern.matches(text, on.budget())?,
                (Some(_), _) => false,
                (None, value) => same(value, wanted) && *value != CellValue::Empty,
            };
            if matches && !self.ordered {
                return Ok(Some(place));
            }
            if self.nearest == Nearest::None || !is_of_one_kind(value, wanted) {
                continue;
            }
            let order = compare(value, wanted);
            let (fits, wanted_order) = match self.nearest {
                Nearest::Below => (order.is_le(), Ordering::Greater),
                Nearest::Above => (order.is_ge(), Ordering::Less),
                Nearest::None => (false, Ordering::Equal),
            };
            let is_better = |best: &CellValue| {
                let order = compare(value, best);
                // In order, the last of equal ones counts.
                order == wanted_order || (self.ordered && order.is_eq())
            };
            if fits && best.is_none_or(|(_, best)| is_better(best)) {
                best = Some((place, value));
            } else if self.ordered && order.is_gt() {
                break;
            }
        }
        Ok(best.map(|(place, _)| place))
    }
}

fn is_of_one_kind(one: &CellValue, other: &CellValue) -> bool {
    match (one, other) {
        (CellValue::Number(_), CellValue::Number(_) | CellValue::Empty)
        | (CellValue::Text(_), CellValue::Text(_))
        | (CellValue::Bool(_), CellValue::Bool(_)) => true,
        (
            CellValue::Empty | CellValue::Number(_) | CellValue::Text(_) | CellValue::Bool(_) | CellValue::Error(_),
            _,
        ) => false,
    }
}

/// Reads the way of matching and of searching that newer functions take.
fn search_of<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>], index: usize) -> Res<Search> {
    let (nearest, patterns) = match given_whole(on, operands, index, 0)? {
        0 => (Nearest::None, false),
        -1 => (Nearest::Below, false),
        1 => (Nearest::Above, false),
        2 => (Nearest::None, true),
        _ => return Err(CellError::Value.into()),
    };
    let backwards = match given_whole(on, operands, index + 1, 1)? {
        1 | 2 => false,
        -1 | -2 => true,
        _ => return Err(CellError::Value.into()),
    };
    Ok(Search { nearest, patterns, backwards, ordered: false })
}

fn line_of(table: &Table) -> Res<Line> {
    match (table.rows(), table.columns()) {
        (_, 1) => Ok(Line::Column),
        (1, _) => Ok(Line::Row),
        _ => Err(CellError::Value.into()),
    }
}

/// Calls `once` with a value; with each of them when there are several.
fn for_each<'a>(
    on: &Evaluator<'a>,
    operand: &Operand<'a>,
    once: impl Fn(&Evaluator<'a>, &CellValue) -> Res<Operand<'a>>,
) -> Res<Operand<'a>> {
    if is_single(operand) {
        return once(on, &on.single(operand)?);
    }
    let grid = on.grid(operand)?;
    let mut cells = on.room(grid.cells.len() as u64)?;
    for value in &grid.cells {
        cells.push(match once(on, value).and_then(|found| on.single(&found)) {
            Ok(value) => value,
            Err(Fault::Error(error)) => CellValue::Error(error),
            Err(over @ Fault::Over(_)) => return Err(over),
        });
    }
    Ok(Grid { cells, ..*grid }.into())
}

fn look_along<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>], line: Line) -> Res<Operand<'a>> {
    let ordered = given_truth(on, operands, 3, true)?;
    let number = given_whole(on, operands, 2, 1)?;
    if number < 1 {
        return Err(CellError::Value.into());
    }
    let (rows, columns) = dimensions(on, &operands[1])?;
    let across = u32::try_from(number - 1).unwrap_or(u32::MAX);
    if across >= if line == Line::Column { columns } else { rows } {
        return Err(CellError::Reference.into());
    }
    // Only the first column or row is searched.
    let keys = match line {
        Line::Column => part(on, &operands[1], 0, 0, rows, 1)?,
        Line::Row => part(on, &operands[1], 0, 0, 1, columns)?,
    };
    let table = on.table(&keys)?;
    let nearest = if ordered { Nearest::Below } else { Nearest::None };
    let search = Search { nearest, patterns: !ordered, backwards: false, ordered };
    for_each(on, &operands[0], |on, value| {
        let found = search.find(on, &table, line, 0, value)?.ok_or(CellError::NotAvailable)?;
        match line {
            Line::Column => element(on, &operands[1], found, across),
            Line::Row => element(on, &operands[1], across, found),
        }
    })
}

fn position<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>], search: &Search) -> Res<Operand<'a>> {
    let table = on.table(&operands[1])?;
    let line = line_of(&table).map_err(|_| CellError::NotAvailable)?;
    for_each(on, &operands[0], |on, value| {
        let found = search.find(on, &table, line, 0, value)?.ok_or(CellError::NotAvailable)?;
        Ok(f64::from(found + 1).into())
    })
}

/// Returns how many rows and columns an operand has.
pub(super) fn dimensions<'a>(on: &Evaluator<'a>, operand: &Operand<'a>) -> Res<(u32, u32)> {
    match operand {
        Operand::Area(region) => Ok((region.area.rows(), region.area.columns())),
        Operand::Value(CellValue::Error(error), _) => Err((*error).into()),
        Operand::Value(..) | Operand::Array(_) | Operand::Lambda(_) | Operand::Omitted => {
            let grid = on.grid(operand)?;
            Ok((grid.rows, grid.columns))
        }
    }
}

fn element<'a>(on: &Evaluator<'a>, operand: &Operand<'a>, row: u32, column: u32) -> Res<Operand<'a>> {
    part(on, operand, row, column, 1, 1)
}

/// Returns the row or column of `operand` at `index`.
fn strip<'a>(on: &Evaluator<'a>, operand: &Operand<'a>, line: Line, index: u32) -> Res<Operand<'a>> {
    let (rows, columns) = dimensions(on, operand)?;
    match line {
        Line::Column if index < rows => part(on, operand, index, 0, 1, columns),
        Line::Row if index < columns => part(on, operand, 0, index, rows, 1),
        Line::Column | Line::Row => Err(CellError::Value.into()),
    }
}

/// Returns a part of an operand: of an area a reference.
fn part<'a>(
    on: &Evaluator<'a>,
    operand: &Operand<'a>,
    row: u32,
    column: u32,
    height: u32,
    width: u32,
) -> Res<Operand<'a>> {
    if let Operand::Area(region) = operand {
        let mut first = region.area.first;
        first.row += row;
        first.column += column;
        let corner = Region { area: Area { first, last: first }, ..*region };
        return Ok(Operand::Area(corner.resized(height, width)));
    }
    let grid = on.grid(operand)?;
    if (row, column, height, width) == (0, 0, grid.rows, grid.columns) {
        return Ok(Operand::Array(grid));
    }
    let mut cells = on.room(u64::from(height) * u64::from(width))?;
    for row in row..row + height {
        cells.extend((column..column + width).map(|column| grid.at(row, column).clone()));
    }
    if cells.len() == 1 {
        return Ok(cells.remove(0).into());
    }
    Ok(Grid::new(height as usize, width as usize, cells)?.into())
}
