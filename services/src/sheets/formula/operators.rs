//! Operators: arithmetic, comparison and joining of values and of arrays, and which format a result calls for.

use std::cmp::Ordering;

use formualizer_common::numfmt::{FormatClass, NumberFormat};
use formualizer_parse::parser::{BinaryOperator, UnaryOperator};

use super::evaluate::{CALL_COST, Evaluator, is_single};
use super::operand::{Format, Grid, Operand};
use super::value::{Fault, Res, compare, finite, number_of, text_of};
use crate::sheets::cell::{CellError, CellValue};
use crate::sheets::format::{DATE, DATE_TIME, TIME};

/// How spans of time are shown.
const SPAN: &str = "[h]:mm:ss";

/// Applies an operator to one operand.
pub(super) fn unary<'a>(on: &Evaluator<'a>, op: UnaryOperator, operand: &Operand<'a>) -> Res<Operand<'a>> {
    let once = |value: &CellValue| {
        let number = number_of(value)?;
        match op {
            UnaryOperator::Minus => finite(-number),
            UnaryOperator::Percent => finite(number / 100.0),
            UnaryOperator::Plus | UnaryOperator::Spill | UnaryOperator::ImplicitIntersection | _ => Ok(value.clone()),
        }
    };
    if is_single(operand) {
        return Ok(once(&on.single(operand)?)?.into());
    }
    let grid = on.grid(operand)?;
    let mut cells = on.room(grid.cells.len() as u64)?;
    for value in &grid.cells {
        on.budget().work(1)?;
        cells.push(as_value(once(value))?);
    }
    Ok(Grid { cells, ..*grid }.into())
}

/// Applies an operator to two operands; of arrays, to each pair of their values.
pub(super) fn binary<'a>(
    on: &Evaluator<'a>,
    op: BinaryOperator,
    left: &Operand<'a>,
    right: &Operand<'a>,
) -> Res<Operand<'a>> {
    if is_single(left) && is_single(right) {
        let value = apply(on, op, &on.single(left)?, &on.single(right)?)?;
        let format = match op {
            BinaryOperator::Add => format_of_sum(true, on.format(left), on.format(right)),
            BinaryOperator::Subtract => format_of_sum(false, on.format(left), on.format(right)),
            BinaryOperator::Multiply
            | BinaryOperator::Divide
            | BinaryOperator::Power
            | BinaryOperator::Concat
            | BinaryOperator::Equal
            | BinaryOperator::NotEqual
            | BinaryOperator::Less
            | BinaryOperator::Greater
            | BinaryOperator::LessEqual
            | BinaryOperator::GreaterEqual
            | BinaryOperator::Range
            | BinaryOperator::Union
            | BinaryOperator::Intersection
            | _ => None,
        };
        return Ok(Operand::Value(value, format));
    }
    let (left, right) = (on.grid(left)?, on.grid(right)?);
    let (rows, columns) = (left.rows.max(right.rows), left.columns.max(right.columns));
    let mut cells = on.room(u64::from(rows) * u64::from(columns))?;
    for row in 0..rows {
        for column in 0..columns {
            on.budget().work(CALL_COST / 4)?;
            cells.push(as_value(apply(on, op, &left.spread(row, column), &right.spread(row, column)))?);
        }
    }
    Ok(Grid::new(rows as usize, columns as usize, cells)?.into())
}

fn as_value(outcome: Res<CellValue>) -> Res<CellValue> {
    match outcome {
        Err(Fault::Error(error)) => Ok(CellValue::Error(error)),
        Ok(_) | Err(Fault::Over(_)) => outcome,
    }
}

fn apply(on: &Evaluator<'_>, op: BinaryOperator, left: &CellValue, right: &CellValue) -> Res<CellValue> {
    if let CellValue::Error(error) = left {
        return Err((*error).into());
    }
    if let CellValue::Error(error) = right {
        return Err((*error).into());
    }
    let numbers = || Ok::<_, Fault>((number_of(left)?, number_of(right)?));
    match op {
        BinaryOperator::Add => numbers().and_then(|(left, right)| finite(left + right)),
        BinaryOperator::Subtract => numbers().and_then(|(left, right)| finite(left - right)),
        BinaryOperator::Multiply => numbers().and_then(|(left, right)| finite(left * right)),
        BinaryOperator::Divide => match numbers()? {
            (_, 0.0) => Err(CellError::Division.into()),
            (left, right) => finite(left / right),
        },
        BinaryOperator::Power => numbers().and_then(|(left, right)| power(left, right)),
        BinaryOperator::Concat => {
            let mut text = on.text();
            text.push(&text_of(left)?)?;
            text.push(&text_of(right)?)?;
            Ok(text.finish())
        }
        BinaryOperator::Equal
        | BinaryOperator::NotEqual
        | BinaryOperator::Less
        | BinaryOperator::Greater
        | BinaryOperator::LessEqual
        | BinaryOperator::GreaterEqual => {
            if let (CellValue::Text(left), CellValue::Text(right)) = (left, right) {
                on.budget().work(left.len().min(right.len()) as u64 / 16)?;
            }
            Ok(CellValue::Bool(holds(op, compare(left, right))))
        }
        BinaryOperator::Range | BinaryOperator::Union | BinaryOperator::Intersection | _ => {
            Err(CellError::Value.into())
        }
    }
}

/// Raises a number to a power.
///
/// # Errors
///
/// `#NUM!` for roots of negative numbers, `#DIV/0!` for zero to a negative power.
pub(super) fn power(base: f64, exponent: f64) -> Res<CellValue> {
    if base == 0.0 && exponent < 0.0 {
        return Err(CellError::Division.into());
    }
    finite(libm::pow(base, exponent))
}

fn holds(op: BinaryOperator, order: Ordering) -> bool {
    match op {
        BinaryOperator::Equal => order.is_eq(),
        BinaryOperator::NotEqual => order.is_ne(),
        BinaryOperator::Less => order.is_lt(),
        BinaryOperator::Greater => order.is_gt(),
        BinaryOperator::LessEqual => order.is_le(),
        BinaryOperator::GreaterEqual => order.is_ge(),
        BinaryOperator::Add
        | BinaryOperator::Subtract
        | BinaryOperator::Multiply
        | BinaryOperator::Divide
        | BinaryOperator::Power
        | BinaryOperator::Concat
        | BinaryOperator::Range
        | BinaryOperator::Union
        | BinaryOperator::Intersection
        | _ => false,
    }
}

/// What a format shows, as far as sums care.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Percent,
    Date,
    Time,
    DateTime,
    Span,
    Other,
}

fn kind(format: Format) -> Kind {
    let Some(code) = format else { return Kind::Plain };
    match code {
        DATE => return Kind::Date,
        DATE_TIME => return Kind::DateTime,
        TIME => return Kind::Time,
        SPAN => return Kind::Span,
        _ => {}
    }
    match NumberFormat::parse(code).class() {
        FormatClass::General | FormatClass::Number { .. } => Kind::Plain,
        FormatClass::Percent { .. } => Kind::Percent,
        FormatClass::Date => Kind::Date,
        FormatClass::Time => Kind::Time,
        FormatClass::DateTime => Kind::DateTime,
        FormatClass::Duration => Kind::Span,
        FormatClass::Currency { .. }
        | FormatClass::Text
        | FormatClass::Scientific
        | FormatClass::Fraction
        | FormatClass::Other
        | _ => Kind::Other,
    }
}

/// Returns the format that a sum or a difference calls for: a day and a number is a day, a day and a time is a moment, two days are neither.
fn format_of_sum(is_sum: bool, left: Format, right: Format) -> Format {
    if left.is_none() && right.is_none() {
        return None;
    }
    match (kind(left), kind(right)) {
        (Kind::Date, Kind::Time) | (Kind::Time, Kind::Date) if is_sum => Some(DATE_TIME),
        (Kind::Date, Kind::Percent) | (Kind::Percent, Kind::Date) if is_sum => Some(DATE),
        (Kind::Date, Kind::Plain) => Some(DATE),
        (Kind::Time, Kind::Plain) => Some(TIME),
        (Kind::DateTime, Kind::Plain) => Some(DATE_TIME),
        (Kind::Span, Kind::Plain) => Some(SPAN),
        (Kind::Plain, Kind::Date) if is_sum => Some(DATE),
        (Kind::Plain, Kind::Time) if is_sum => Some(TIME),
        (Kind::Plain, Kind::DateTime) if is_sum => Some(DATE_TIME),
        (Kind::Plain, Kind::Span) if is_sum => Some(SPAN),
        _ => None,
    }
}
