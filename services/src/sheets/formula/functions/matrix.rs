//! Matrices: products, inverses, determinants.

use super::{Function, given_whole, whole};
use crate::sheets::cell::{CellError, CellValue};
use crate::sheets::formula::evaluate::Evaluator;
use crate::sheets::formula::operand::{Grid, Operand};
use crate::sheets::formula::value::{Res, finite};

pub(super) const FUNCTIONS: &[Function] = &[
    whole("MMULT", 2, 2, |on, a| {
        let (left, right) = (matrix(on, &a[0])?, matrix(on, &a[1])?);
        if left.columns != right.rows {
            return Err(CellError::Value.into());
        }
        let count = left.rows as u64 * right.columns as u64;
        let mut cells = on.room(count)?;
        on.budget().work(count.saturating_mul(left.columns as u64) / 4)?;
        for row in 0..left.rows {
            for column in 0..right.columns {
                let sum = (0..left.columns).map(|k| left.at(row, k) * right.at(k, column)).sum();
                cells.push(finite(sum)?);
            }
        }
        Ok(Grid::new(left.rows, right.columns, cells)?.into())
    }),
    whole("MDETERM", 1, 1, |on, a| {
        let matrix = square(on, &a[0])?;
        Ok(finite(eliminated(matrix, None).unwrap_or_default())?.into())
    }),
    whole("MINVERSE", 1, 1, |on, a| {
        let matrix = square(on, &a[0])?;
        let size = matrix.rows;
        let mut inverse = unit(size);
        eliminated(matrix, Some(&mut inverse)).ok_or(CellError::Number)?;
        let cells = inverse.numbers.into_iter().map(finite).collect::<Res<_>>()?;
        Ok(Grid::new(size, size, cells)?.into())
    }),
    whole("MUNIT", 1, 1, |on, a| {
        let size = usize::try_from(given_whole(on, a, 0, 0)?).map_err(|_| CellError::Value)?;
        drop(on.room((size as u64).saturating_mul(size as u64))?);
        Ok(Grid::new(size, size, unit(size).numbers.into_iter().map(CellValue::Number).collect())?.into())
    }),
];

/// The largest matrix that is inverted.
const SIZE_MAX: usize = 200;

struct Matrix {
    rows: usize,
    columns: usize,
    numbers: Vec<f64>,
}

impl Matrix {
    fn at(&self, row: usize, column: usize) -> f64 {
        self.numbers[row * self.columns + column]
    }

    fn swap(&mut self, one: usize, other: usize) {
        for column in 0..self.columns {
            self.numbers.swap(one * self.columns + column, other * self.columns + column);
        }
    }

    /// Adds `factor` times the row `from` to the row `to`.
    fn add(&mut self, to: usize, from: usize, factor: f64) {
        for column in 0..self.columns {
            self.numbers[to * self.columns + column] += factor * self.numbers[from * self.columns + column];
        }
    }

    fn scale(&mut self, row: usize, factor: f64) {
        self.numbers[row * self.columns..(row + 1) * self.columns].iter_mut().for_each(|number| *number *= factor);
    }
}

fn unit(size: usize) -> Matrix {
    let numbers = (0..size * size).map(|index| f64::from(u8::from(index / size == index % size))).collect();
    Matrix { rows: size, columns: size, numbers }
}

fn matrix<'a>(on: &Evaluator<'a>, operand: &Operand<'a>) -> Res<Matrix> {
    let grid = on.grid(operand)?;
    let mut numbers = Vec::with_capacity(grid.cells.len());
    for value in &grid.cells {
        match value {
            CellValue::Number(number) => numbers.push(*number),
            CellValue::Error(error) => return Err((*error).into()),
            CellValue::Empty | CellValue::Text(_) | CellValue::Bool(_) => return Err(CellError::Value.into()),
        }
    }
    Ok(Matrix { rows: grid.rows as usize, columns: grid.columns as usize, numbers })
}

fn square<'a>(on: &Evaluator<'a>, operand: &Operand<'a>) -> Res<Matrix> {
    let matrix = matrix(on, operand)?;
    if matrix.rows != matrix.columns || matrix.rows > SIZE_MAX {
        return Err(CellError::Value.into());
    }
    on.budget().work((matrix.rows as u64).pow(3))?;
    Ok(matrix)
}

/// Eliminates a matrix by rows with the largest pivot first, and does the same to `other`. Returns the determinant; nothing if it is zero.
fn eliminated(mut matrix: Matrix, mut other: Option<&mut Matrix>) -> Option<f64> {
    let mut determinant = 1.0;
    for step in 0..matrix.rows {
        let pivot =
            (step..matrix.rows).max_by(|a, b| matrix.at(*a, step).abs().total_cmp(&matrix.at(*b, step).abs()))?;
        if matrix.at(pivot, step) == 0.0 {
            return None;
        }
        if pivot != step {
            matrix.swap(pivot, step);
            determinant = -determinant;
            if let Some(other) = &mut other {
                other.swap(pivot, step);
            }
        }
        let value = matrix.at(step, step);
        determinant *= value;
        matrix.scale(step, 1.0 / value);
        if let Some(other) = &mut other {
            other.scale(step, 1.0 / value);
        }
        for row in (0..matrix.rows).filter(|row| *row != step) {
            let factor = -matrix.at(row, step);
            matrix.add(row, step, factor);
            if let Some(other) = &mut other {
                other.add(row, step, factor);
            }
        }
    }
    Some(determinant)
}
