//! What two lists of numbers have to do with each other: correlation, lines through points, sums of pairs.

use super::{Function, MANY, given_number, whole};
use crate::sheets::cell::{CellError, CellValue};
use crate::sheets::formula::evaluate::Evaluator;
use crate::sheets::formula::operand::{Grid, Operand};
use crate::sheets::formula::value::{Res, finite};

pub(super) const FUNCTIONS: &[Function] = &[
    whole("SUMPRODUCT", 1, MANY, |on, a| {
        let grids = a.iter().map(|operand| on.grid(operand)).collect::<Res<Vec<_>>>()?;
        let (rows, columns) = (grids[0].rows, grids[0].columns);
        if grids.iter().any(|grid| (grid.rows, grid.columns) != (rows, columns)) {
            return Err(CellError::Value.into());
        }
        let mut sum = 0.0;
        for index in 0..grids[0].cells.len() {
            on.budget().work(1)?;
            let mut product = 1.0;
            for grid in &grids {
                product *= match &grid.cells[index] {
                    CellValue::Number(number) => *number,
                    CellValue::Error(error) => return Err((*error).into()),
                    // Also a text that looks like a number.
                    CellValue::Empty | CellValue::Text(_) | CellValue::Bool(_) => 0.0,
                };
            }
            sum += product;
        }
        Ok(finite(sum)?.into())
    }),
    whole("SUMX2MY2", 2, 2, |on, a| pair_sum(on, a, |x, y| x * x - y * y)),
    whole("SUMX2PY2", 2, 2, |on, a| pair_sum(on, a, |x, y| x * x + y * y)),
    whole("SUMXMY2", 2, 2, |on, a| pair_sum(on, a, |x, y| (x - y) * (x - y))),
    whole("CORREL", 2, 2, |on, a| Ok(finite(correlation(&moments(&pairs(on, a)?)?)?)?.into())),
    whole("PEARSON", 2, 2, |on, a| Ok(finite(correlation(&moments(&pairs(on, a)?)?)?)?.into())),
    whole("RSQ", 2, 2, |on, a| {
        let correlation = correlation(&moments(&pairs(on, a)?)?)?;
        Ok(finite(correlation * correlation)?.into())
    }),
    whole("COVAR", 2, 2, |on, a| covariance(on, a, 0.0)),
    whole("COVARIANCE.P", 2, 2, |on, a| covariance(on, a, 0.0)),
    whole("COVARIANCE.S", 2, 2, |on, a| covariance(on, a, 1.0)),
    whole("SLOPE", 2, 2, |on, a| Ok(finite(line(on, a)?.0)?.into())),
    whole("INTERCEPT", 2, 2, |on, a| Ok(finite(line(on, a)?.1)?.into())),
    whole("FORECAST", 3, 3, forecast),
    whole("FORECAST.LINEAR", 3, 3, forecast),
    whole("STEYX", 2, 2, |on, a| {
        let m = moments(&pairs(on, a)?)?;
        if m.count < 3.0 || m.yy == 0.0 {
            return Err(CellError::Division.into());
        }
        // The pairs are (y, x).
        Ok(finite(((m.xx - m.xy * m.xy / m.yy) / (m.count - 2.0)).sqrt())?.into())
    }),
    whole("TREND", 1, 4, |on, a| fitted(on, a, false)),
    whole("GROWTH", 1, 4, |on, a| fitted(on, a, true)),
    whole("LINEST", 1, 4, |on, a| {
        let (slope, start) = fit(on, a, false)?;
        Ok(Grid::row(vec![CellValue::Number(slope), CellValue::Number(start)])?.into())
    }),
    whole("LOGEST", 1, 4, |on, a| {
        let (slope, start) = fit(on, a, true)?;
        Ok(Grid::row(vec![CellValue::Number(libm::exp(slope)), CellValue::Number(libm::exp(start))])?.into())
    }),
];

/// Sums over the first (x) and second (y) numbers of pairs, as deviations from their means.
struct Moments {
    count: f64,
    x: f64,
    y: f64,
    xx: f64,
    yy: f64,
    xy: f64,
}

/// Returns the pairs of numbers at the same places of two operands; places where one has none are left out.
fn pairs<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>]) -> Res<Vec<(f64, f64)>> {
    let (first, second) = (on.grid(&operands[0])?, on.grid(&operands[1])?);
    if first.cells.len() != second.cells.len() {
        return Err(CellError::NotAvailable.into());
    }
    on.budget().work(first.cells.len() as u64)?;
    let mut pairs = Vec::new();
    for pair in first.cells.iter().zip(&second.cells) {
        match pair {
            (CellValue::Error(error), _) | (_, CellValue::Error(error)) => return Err((*error).into()),
            (CellValue::Number(first), CellValue::Number(second)) => pairs.push((*first, *second)),
            _ => {}
        }
    }
    Ok(pairs)
}

fn pair_sum<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>], term: fn(f64, f64) -> f64) -> Res<Operand<'a>> {
    Ok(finite(pairs(on, operands)?.into_iter().map(|(x, y)| term(x, y)).sum())?.into())
}

fn moments(pairs: &[(f64, f64)]) -> Res<Moments> {
    if pairs.is_empty() {
        return Err(CellError::Division.into());
    }
    let count = pairs.len() as f64;
    let (x, y) =
        (pairs.iter().map(|pair| pair.0).sum::<f64>() / count, pairs.iter().map(|pair| pair.1).sum::<f64>() / count);
    let sum = |term: &dyn Fn(f64, f64) -> f64| pairs.iter().map(|pair| term(pair.0 - x, pair.1 - y)).sum::<f64>();
    Ok(Moments { count, x, y, xx: sum(&|x, _| x * x), yy: sum(&|_, y| y * y), xy: sum(&|x, y| x * y) })
}

fn correlation(m: &Moments) -> Res<f64> {
    if m.xx == 0.0 || m.yy == 0.0 { Err(CellError::Division.into()) } else { Ok(m.xy / (m.xx * m.yy).sqrt()) }
}

fn covariance<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>], less: f64) -> Res<Operand<'a>> {
    let m = moments(&pairs(on, operands)?)?;
    if m.count <= less { Err(CellError::Division.into()) } else { Ok(finite(m.xy / (m.count - less))?.into()) }
}

/// Returns slope and start of the line through points whose y come first.
fn line<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>]) -> Res<(f64, f64)> {
    through(&pairs(on, operands)?)
}

fn through(pairs: &[(f64, f64)]) -> Res<(f64, f64)> {
    let m = moments(pairs)?;
    if m.yy == 0.0 {
        return Err(CellError::Division.into());
    }
    let slope = m.xy / m.yy;
    Ok((slope, m.x - slope * m.y))
}

fn forecast<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>]) -> Res<Operand<'a>> {
    let (slope, start) = line(on, &operands[1..])?;
    Ok(finite(start + slope * given_number(on, operands, 0, 0.0)?)?.into())
}

/// Returns the line of one variable through the first operand's numbers, at those of the second or at 1, 2, 3 and so on.
fn fit<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>], is_log: bool) -> Res<(f64, f64)> {
    let y = on.grid(&operands[0])?;
    let counted = || Grid { cells: (1..=y.cells.len()).map(|n| CellValue::Number(n as f64)).collect(), ..*y };
    let x: Operand<'a> = match operands.get(1) {
        None | Some(Operand::Omitted) => counted().into(),
        Some(given) => given.clone(),
    };
    let mut points = pairs(on, &[Operand::Array(y), x])?;
    if is_log {
        if points.iter().any(|(y, _)| *y <= 0.0) {
            return Err(CellError::Number.into());
        }
        points.iter_mut().for_each(|(y, _)| *y = libm::log(*y));
    }
    through(&points)
}

fn fitted<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>], is_log: bool) -> Res<Operand<'a>> {
    let (slope, start) = fit(on, operands, is_log)?;
    let wanted = match operands.get(2) {
        None | Some(Operand::Omitted) => operands.get(1),
        given => given,
    };
    let grid = match wanted {
        None | Some(Operand::Omitted) => {
            let y = on.grid(&operands[0])?;
            std::rc::Rc::new(Grid { cells: (1..=y.cells.len()).map(|n| CellValue::Number(n as f64)).collect(), ..*y })
        }
        Some(given) => on.grid(given)?,
    };
    let mut cells = on.room(grid.cells.len() as u64)?;
    for value in &grid.cells {
        let y = start + slope * super::number_of(value)?;
        cells.push(finite(if is_log { libm::exp(y) } else { y })?);
    }
    Ok(Grid { cells, ..*grid }.into())
}
