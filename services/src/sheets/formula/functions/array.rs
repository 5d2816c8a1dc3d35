//! Functions that make arrays or take them apart: filtering, sorting, stacking, cutting.

use std::cmp::Ordering;
use std::rc::Rc;

use super::{Function, MANY, given, given_number, given_truth, given_whole, whole};
use crate::sheets::cell::{CellError, CellValue};
use crate::sheets::formula::evaluate::Evaluator;
use crate::sheets::formula::operand::{Grid, Operand};
use crate::sheets::formula::value::{Res, compare, finite, same, truth_of};

pub(super) const FUNCTIONS: &[Function] = &[
    whole("SEQUENCE", 1, 4, |on, a| {
        let (rows, columns) = (size(given_whole(on, a, 0, 1)?)?, size(given_whole(on, a, 1, 1)?)?);
        let (start, step) = (given_number(on, a, 2, 1.0)?, given_number(on, a, 3, 1.0)?);
        let mut cells = on.room(rows as u64 * columns as u64)?;
        for index in 0..rows * columns {
            cells.push(finite(start + step * index as f64)?);
        }
        Ok(Grid::new(rows, columns, cells)?.into())
    }),
    whole("RANDARRAY", 0, 5, |on, a| {
        let (rows, columns) = (size(given_whole(on, a, 0, 1)?)?, size(given_whole(on, a, 1, 1)?)?);
        let (low, high) = (given_number(on, a, 2, 0.0)?, given_number(on, a, 3, 1.0)?);
        let is_whole = given_truth(on, a, 4, false)?;
        if low > high {
            return Err(CellError::Value.into());
        }
        let mut cells = on.room(rows as u64 * columns as u64)?;
        for _ in 0..rows * columns {
            on.budget().work(8)?;
            let span = if is_whole { high.floor() - low.ceil() + 1.0 } else { high - low };
            let number = on.chance() * span;
            cells.push(finite(if is_whole { low.ceil() + number.floor() } else { low + number })?);
        }
        Ok(Grid::new(rows, columns, cells)?.into())
    }),
    whole("FILTER", 2, MANY, |on, a| {
        let grid = on.grid(&a[0])?;
        let keep = on.grid(&a[1])?;
        let by_row = keep.columns == 1 && keep.rows == grid.rows;
        if !(by_row || keep.rows == 1 && keep.columns == grid.columns) {
            return Err(CellError::Value.into());
        }
        let mut kept = Vec::new();
        for (index, value) in (0..).zip(&keep.cells) {
            if truth_of(value)? {
                kept.push(index);
            }
        }
        if kept.is_empty() {
            return given(on, a, 2)?.map_or(Err(CellError::Calculation.into()), |value| Ok(value.into()));
        }
        if by_row { chosen_rows(on, &grid, &kept) } else { chosen_columns(on, &grid, &kept) }
    }),
    whole("SORT", 1, 4, |on, a| {
        let grid = on.grid(&a[0])?;
        let by_column = given_truth(on, a, 3, false)?;
        let index = given_whole(on, a, 1, 1)? - 1;
        let downwards = given_whole(on, a, 2, 1)? == -1 || matches!(given(on, a, 2)?, Some(CellValue::Bool(false)));
        let index = u32::try_from(index).map_err(|_| CellError::Value)?;
        let lines = if by_column { grid.columns } else { grid.rows };
        if index >= if by_column { grid.rows } else { grid.columns } {
            return Err(CellError::Value.into());
        }
        let key = |line: u32| if by_column { grid.at(index, line) } else { grid.at(line, index) };
        let order = ordered(on, lines, |one, other| in_order(key(one), key(other), downwards))?;
        if by_column { chosen_columns(on, &grid, &order) } else { chosen_rows(on, &grid, &order) }
    }),
    whole("SORTBY", 2, MANY, |on, a| {
        let grid = on.grid(&a[0])?;
        let mut keys: Vec<(Rc<Grid>, bool)> = Vec::new();
        for (index, operand) in a.iter().enumerate().skip(1).step_by(2) {
            let key = on.grid(operand)?;
            if key.cells.len() != grid.rows as usize {
                return Err(CellError::Value.into());
            }
            keys.push((key, given_whole(on, a, index + 1, 1)? == -1));
        }
        let order = ordered(on, grid.rows, |one, other| {
            let by =
                |(key, down): &(Rc<Grid>, bool)| in_order(&key.cells[one as usize], &key.cells[other as usize], *down);
            keys.iter().map(by).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        })?;
        chosen_rows(on, &grid, &order)
    }),
    whole("UNIQUE", 1, 3, |on, a| {
        let grid = on.grid(&a[0])?;
        let (by_column, only_once) = (given_truth(on, a, 1, false)?, given_truth(on, a, 2, false)?);
        let grid = if by_column { Rc::new(grid.transposed()) } else { grid };
        let by_value = |one: u32, other: u32| {
            let pairs = grid.row_of(one).iter().zip(grid.row_of(other));
            pairs.map(|(one, other)| in_order(one, other, false)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        };
        let order = ordered(on, grid.rows, by_value)?;
        let groups = order.chunk_by(|one, other| {
            grid.row_of(*one).iter().zip(grid.row_of(*other)).all(|(one, other)| same(one, other))
        });
        let mut kept: Vec<u32> = groups
            .filter(|group| !only_once || group.len() == 1)
            .filter_map(|group| group.iter().min().copied())
            .collect();
        kept.sort_unstable();
        let Operand::Array(found) = chosen_rows(on, &grid, &kept)? else { return Err(CellError::Calculation.into()) };
        Ok(if by_column { found.transposed().into() } else { Operand::Array(found) })
    }),
    whole("TAKE", 2, 3, |on, a| {
        let grid = on.grid(&a[0])?;
        let span = |wanted: Option<i64>, count: u32| match wanted {
            None => (0, count),
            Some(wanted) if wanted >= 0 => (0, count.min(clamped(wanted))),
            Some(wanted) => (count - count.min(clamped(-wanted)), count),
        };
        cut_out(on, &grid, a, span)
    }),
    whole("DROP", 2, 3, |on, a| {
        let grid = on.grid(&a[0])?;
        let span = |wanted: Option<i64>, count: u32| match wanted {
            None => (0, count),
            Some(wanted) if wanted >= 0 => (count.min(clamped(wanted)), count),
            Some(wanted) => (0, count - count.min(clamped(-wanted))),
        };
        cut_out(on, &grid, a, span)
    }),
    whole("CHOOSEROWS", 2, MANY, |on, a| {
        let grid = on.grid(&a[0])?;
        let rows = places(on, &a[1..], grid.rows)?;
        chosen_rows(on, &grid, &rows)
    }),
    whole("CHOOSECOLS", 2, MANY, |on, a| {
        let grid = on.grid(&a[0])?;
        let columns = places(on, &a[1..], grid.columns)?;
        chosen_columns(on, &grid, &columns)
    }),
    whole("VSTACK", 1, MANY, |on, a| {
        let grids = a.iter().map(|operand| on.grid(operand)).collect::<Res<Vec<_>>>()?;
        stacked(on, &grids).map(Operand::from)
    }),
    whole("HSTACK", 1, MANY, |on, a| {
        let turned = |operand| on.grid(operand).map(|grid| Rc::new(grid.transposed()));
        let grids = a.iter().map(turned).collect::<Res<Vec<_>>>()?;
        Ok(stacked(on, &grids)?.transposed().into())
    }),
    whole("TOCOL", 1, 3, |on, a| Ok(Grid::column(strung(on, a)?)?.into())),
    whole("TOROW", 1, 3, |on, a| Ok(Grid::row(strung(on, a)?)?.into())),
    whole("FLATTEN", 1, MANY, |on, a| {
        let mut cells = Vec::new();
        for operand in a {
            cells.extend(on.grid(operand)?.cells.iter().cloned());
        }
        Ok(Grid::column(cells)?.into())
    }),
    whole("WRAPROWS", 2, 3, |on, a| wrapped(on, a).map(Operand::from)),
    whole("WRAPCOLS", 2, 3, |on, a| Ok(wrapped(on, a)?.transposed().into())),
    whole("EXPAND", 2, 4, |on, a| {
        let grid = on.grid(&a[0])?;
        let rows = size(given_whole(on, a, 1, i64::from(grid.rows))?)?;
        let columns = size(given_whole(on, a, 2, i64::from(grid.columns))?)?;
        if rows < grid.rows as usize || columns < grid.columns as usize {
            return Err(CellError::Value.into());
        }
        let filler = given(on, a, 3)?.unwrap_or(CellValue::Error(CellError::NotAvailable));
        let mut cells = on.room(rows as u64 * columns as u64)?;
        for row in 0..rows as u32 {
            for column in 0..columns as u32 {
                let inside = row < grid.rows && column < grid.columns;
                cells.push(if inside { grid.at(row, column).clone() } else { filler.clone() });
            }
        }
        Ok(Grid::new(rows, columns, cells)?.into())
    }),
    whole("TRANSPOSE", 1, 1, |on, a| {
        let grid = on.grid(&a[0])?;
        drop(on.room(grid.cells.len() as u64)?);
        Ok(grid.transposed().into())
    }),
];

fn size(number: i64) -> Res<usize> {
    match u32::try_from(number) {
        Ok(0) => Err(CellError::Calculation.into()),
        Ok(number) => Ok(number as usize),
        Err(_) => Err(if number < 0 { CellError::Value } else { CellError::Number }.into()),
    }
}

fn clamped(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Compares for sorting: numbers, texts, truth values, errors, and empty cells at the end in either direction.
fn in_order(one: &CellValue, other: &CellValue, downwards: bool) -> Ordering {
    match (one, other) {
        (CellValue::Empty, CellValue::Empty) => Ordering::Equal,
        (CellValue::Empty, _) => Ordering::Greater,
        (_, CellValue::Empty) => Ordering::Less,
        (one, other) if downwards => compare(other, one),
        (one, other) => compare(one, other),
    }
}

/// Returns the numbers of `count` lines in order; equal ones keep theirs.
fn ordered(on: &Evaluator<'_>, count: u32, compare: impl Fn(u32, u32) -> Ordering) -> Res<Vec<u32>> {
    on.budget().work(u64::from(count) * u64::from(count.max(2).ilog2()))?;
    let mut order: Vec<u32> = (0..count).collect();
    order.sort_by(|one, other| compare(*one, *other));
    Ok(order)
}

fn chosen_rows<'a>(on: &Evaluator<'a>, grid: &Grid, rows: &[u32]) -> Res<Operand<'a>> {
    let mut cells = on.room(rows.len() as u64 * u64::from(grid.columns))?;
    rows.iter().for_each(|row| cells.extend_from_slice(grid.row_of(*row)));
    Ok(Grid::new(rows.len(), grid.columns as usize, cells)?.into())
}

fn chosen_columns<'a>(on: &Evaluator<'a>, grid: &Grid, columns: &[u32]) -> Res<Operand<'a>> {
    let mut cells = on.room(columns.len() as u64 * u64::from(grid.rows))?;
    for row in 0..grid.rows {
        cells.extend(columns.iter().map(|column| grid.at(row, *column).clone()));
    }
    Ok(Grid::new(grid.rows as usize, columns.len(), cells)?.into())
}

/// Reads numbers of lines from 1 on, or from the end below zero.
fn places<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>], count: u32) -> Res<Vec<u32>> {
    let mut places = Vec::new();
    for number in super::aggregate::numbers(on, operands)? {
        let number = super::cut(number)?;
        let place = if number < 0 { i64::from(count) + number } else { number - 1 };
        places.push(u32::try_from(place).ok().filter(|place| *place < count).ok_or(CellError::Value)?);
    }
    Ok(places)
}

fn cut_out<'a>(
    on: &Evaluator<'a>,
    grid: &Grid,
    operands: &[Operand<'a>],
    span: impl Fn(Option<i64>, u32) -> (u32, u32),
) -> Res<Operand<'a>> {
    let wanted = |index| given(on, operands, index)?.map(|value| super::cut(super::number_of(&value)?)).transpose();
    let (top, bottom) = span(wanted(1)?, grid.rows);
    let (left, right) = span(wanted(2)?, grid.columns);
    let mut cells = on.room(u64::from(bottom - top) * u64::from(right - left))?;
    for row in top..bottom {
        cells.extend_from_slice(&grid.row_of(row)[left as usize..right as usize]);
    }
    Ok(Grid::new((bottom - top) as usize, (right - left) as usize, cells)?.into())
}

fn stacked(on: &Evaluator<'_>, grids: &[Rc<Grid>]) -> Res<Grid> {
    let columns = grids.iter().map(|grid| grid.columns).max().unwrap_or_default();
    let rows: u64 = grids.iter().map(|grid| u64::from(grid.rows)).sum();
    let mut cells = on.room(rows * u64::from(columns))?;
    for grid in grids {
        for row in 0..grid.rows {
            cells.extend_from_slice(grid.row_of(row));
            let missing = (columns - grid.columns) as usize;
            cells.extend(std::iter::repeat_n(CellValue::Error(CellError::NotAvailable), missing));
        }
    }
    Grid::new(rows as usize, columns as usize, cells)
}

/// Returns the values of a box one after the other; 1 leaves out empty ones, 2 errors, 3 both.
fn strung<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>]) -> Res<Vec<CellValue>> {
    let grid = on.grid(&operands[0])?;
    let left_out = given_whole(on, operands, 1, 0)?;
    let by_column = given_truth(on, operands, 2, false)?;
    let mut cells = on.room(grid.cells.len() as u64)?;
    let turned = if by_column { grid.transposed() } else { (*grid).clone() };
    cells.extend(turned.cells.into_iter().filter(|value| match value {
        CellValue::Empty => !matches!(left_out, 1 | 3),
        CellValue::Error(_) => !matches!(left_out, 2 | 3),
        CellValue::Number(_) | CellValue::Text(_) | CellValue::Bool(_) => true,
    }));
    Ok(cells)
}

fn wrapped<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>]) -> Res<Grid> {
    let grid = on.grid(&operands[0])?;
    let width = size(given_whole(on, operands, 1, 1)?)?;
    let filler = given(on, operands, 2)?.unwrap_or(CellValue::Error(CellError::NotAvailable));
    let rows = grid.cells.len().div_ceil(width);
    let mut cells = on.room(rows as u64 * width as u64)?;
    cells.extend_from_slice(&grid.cells);
    cells.resize(rows * width, filler);
    Grid::new(rows, width, cells)
}
