//! Sums, counts, means and extremes of whatever they are given: numbers of areas and arrays count, texts there do not; what is written into
//! the call itself counts as a number or is an error.

use super::{Function, MANY, given_number, given_whole, whole};
use crate::sheets::cell::{CellError, CellValue};
use crate::sheets::formula::evaluate::{Evaluator, LOOKED_AT_PER_UNIT};
use crate::sheets::formula::operand::{Format, Operand, Table};
use crate::sheets::formula::value::{Fault, Res, finite, number_of};

pub(super) const FUNCTIONS: &[Function] = &[
    whole("SUM", 0, MANY, |on, a| total(on, a).map(Operand::from)),
    whole("PRODUCT", 1, MANY, |on, a| Ok(finite(product(&numbers(on, a)?))?.into())),
    whole("SUMSQ", 1, MANY, |on, a| Ok(finite(numbers(on, a)?.iter().map(|number| number * number).sum())?.into())),
    whole("AVERAGE", 1, MANY, |on, a| Ok(finite(mean(&numbers(on, a)?)?)?.into())),
    whole("AVERAGEA", 1, MANY, |on, a| Ok(finite(mean(&numbers_of_all(on, a)?)?)?.into())),
    whole("COUNT", 1, MANY, |on, a| {
        let mut count = 0_u64;
        for operand in a {
            match operand {
                Operand::Value(value, _) => count += u64::from(number_of(value).is_ok()),
                Operand::Omitted => count += 1,
                Operand::Area(_) | Operand::Array(_) => {
                    each_value(on, operand, |value| {
                        count += u64::from(matches!(value, CellValue::Number(_)));
                        Ok(())
                    })?;
                }
                Operand::Lambda(_) => {}
            }
        }
        Ok(Operand::from(count as f64))
    }),
    whole("COUNTA", 1, MANY, |on, a| {
        let mut count = 0_u64;
        for operand in a {
            each_value(on, operand, |value| {
                count += u64::from(*value != CellValue::Empty);
                Ok(())
            })?;
            count += u64::from(matches!(operand, Operand::Omitted));
        }
        Ok(Operand::from(count as f64))
    }),
    whole("COUNTBLANK", 1, 1, |on, a| {
        let table = on.table(&a[0])?;
        let mut filled = 0_u64;
        each_of(on, &table, |value| {
            filled += u64::from(!is_blank(value));
            Ok(())
        })?;
        Ok(Operand::from((u64::from(table.rows()) * u64::from(table.columns()) - filled) as f64))
    }),
    whole("MIN", 1, MANY, |on, a| extreme(on, a, &numbers(on, a)?, f64::min)),
    whole("MAX", 1, MANY, |on, a| extreme(on, a, &numbers(on, a)?, f64::max)),
    whole("MINA", 1, MANY, |on, a| extreme(on, a, &numbers_of_all(on, a)?, f64::min)),
    whole("MAXA", 1, MANY, |on, a| extreme(on, a, &numbers_of_all(on, a)?, f64::max)),
    whole("SUBTOTAL", 2, MANY, |on, a| {
        let code = given_whole(on, a, 0, 0)?;
        subtotal(on, if code > 100 { code - 100 } else { code }, &a[1..], false)
    }),
    whole("AGGREGATE", 3, MANY, |on, a| {
        let (code, option) = (given_whole(on, a, 0, 0)?, given_whole(on, a, 1, 0)?);
        if !(0..=7).contains(&option) {
            return Err(CellError::Value.into());
        }
        let skips_errors = matches!(option, 2 | 3 | 6 | 7);
        if (1..=13).contains(&code) {
            return subtotal(on, code, &a[2..], skips_errors);
        }
        let mut numbers = kept_numbers(on, &a[2..3], skips_errors)?;
        numbers.sort_by(f64::total_cmp);
        let part = given_number(on, a, 3, f64::NAN)?;
        let result = match code {
            14 => super::statistics::ranked(&numbers, part, true)?,
            15 => super::statistics::ranked(&numbers, part, false)?,
            16 => super::statistics::percentile(&numbers, part)?,
            17 => super::statistics::percentile(&numbers, part.trunc() / 4.0)?,
            18 => super::statistics::percentile_exclusive(&numbers, part)?,
            19 => super::statistics::percentile_exclusive(&numbers, part.trunc() / 4.0)?,
            _ => return Err(CellError::Value.into()),
        };
        Ok(finite(result)?.into())
    }),
];

/// Calls `each` with every value of an operand; with an area's only those that are there.
pub(super) fn each_value<'a>(
    on: &Evaluator<'a>,
    operand: &Operand<'a>,
    mut each: impl FnMut(&CellValue) -> Res<()>,
) -> Res<()> {
    match operand {
        Operand::Value(value, _) => each(value),
        Operand::Omitted => Ok(()),
        Operand::Lambda(_) => Err(CellError::Calculation.into()),
        Operand::Area(_) | Operand::Array(_) => each_of(on, &on.table(operand)?, each),
    }
}

/// Calls `each` with every value of a table that is there.
pub(super) fn each_of(on: &Evaluator<'_>, table: &Table, mut each: impl FnMut(&CellValue) -> Res<()>) -> Res<()> {
    on.budget().work(table.len() as u64 / LOOKED_AT_PER_UNIT)?;
    match table {
        Table::Sparse { cells, .. } => cells.iter().try_for_each(|(_, _, value)| each(value)),
        Table::Dense(grid) => grid.cells.iter().try_for_each(each),
    }
}

/// Calls `each` with every number that operands are given for.
///
/// # Errors
///
/// The first error among them; `#VALUE!` for a text in the call itself that is no number.
pub(super) fn each_number<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>], mut each: impl FnMut(f64)) -> Res<()> {
    for operand in operands {
        match operand {
            Operand::Value(value, _) => each(number_of(value)?),
            Operand::Omitted => each(0.0),
            Operand::Area(_) | Operand::Array(_) | Operand::Lambda(_) => each_value(on, operand, |value| {
                match value {
                    CellValue::Number(number) => each(*number),
                    CellValue::Error(error) => return Err((*error).into()),
                    CellValue::Empty | CellValue::Text(_) | CellValue::Bool(_) => {}
                }
                Ok(())
            })?,
        }
    }
    Ok(())
}

/// Returns the numbers that operands are given for.
pub(super) fn numbers<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>]) -> Res<Vec<f64>> {
    let mut numbers = Vec::new();
    each_number(on, operands, |number| numbers.push(number))?;
    on.budget().bytes(size_of_val(numbers.as_slice()) as u64 / LOOKED_AT_PER_UNIT)?;
    Ok(numbers)
}

/// Returns the numbers that operands are given for, where texts count as zero and truth values as one and zero.
pub(super) fn numbers_of_all<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>]) -> Res<Vec<f64>> {
    let mut numbers = Vec::new();
    for operand in operands {
        if let Operand::Value(value, _) = operand {
            numbers.push(number_of(value)?);
            continue;
        }
        each_value(on, operand, |value| {
            match value {
                CellValue::Number(number) => numbers.push(*number),
                CellValue::Bool(truth) => numbers.push(f64::from(u8::from(*truth))),
                CellValue::Text(_) => numbers.push(0.0),
                CellValue::Error(error) => return Err((*error).into()),
                CellValue::Empty => {}
            }
            Ok(())
        })?;
    }
    Ok(numbers)
}

/// Returns whether a value counts as blank: nothing, or a text without characters.
pub(super) fn is_blank(value: &CellValue) -> bool {
    match value {
        CellValue::Empty => true,
        CellValue::Text(text) => text.is_empty(),
        CellValue::Number(_) | CellValue::Bool(_) | CellValue::Error(_) => false,
    }
}

fn total<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>]) -> Res<CellValue> {
    let mut sum = 0.0;
    each_number(on, operands, |number| sum += number)?;
    finite(sum)
}

fn product(numbers: &[f64]) -> f64 {
    if numbers.is_empty() { 0.0 } else { numbers.iter().product() }
}

/// Returns the mean of numbers.
///
/// # Errors
///
/// `#DIV/0!` without any.
pub(super) fn mean(numbers: &[f64]) -> Res<f64> {
    if numbers.is_empty() {
        return Err(CellError::Division.into());
    }
    Ok(numbers.iter().sum::<f64>() / numbers.len() as f64)
}

fn extreme<'a>(
    on: &Evaluator<'a>,
    operands: &[Operand<'a>],
    numbers: &[f64],
    choose: fn(f64, f64) -> f64,
) -> Res<Operand<'a>> {
    let chosen = numbers.iter().copied().reduce(choose).unwrap_or_default();
    Ok(Operand::Value(finite(chosen)?, format_of_first(on, operands)))
}

/// Returns the format of the first operand, which the result of a choice among them takes over.
pub(super) fn format_of_first<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>]) -> Format {
    let format = on.format(operands.first()?);
    format.filter(|code| crate::sheets::format::is_date_format(code))
}

fn subtotal<'a>(on: &Evaluator<'a>, code: i64, operands: &[Operand<'a>], skips_errors: bool) -> Res<Operand<'a>> {
    use super::statistics::{median, most_frequent, variance};
    if code == 3 {
        let mut count = 0_u64;
        for operand in operands {
            each_value(on, operand, |value| {
                let counts = *value != CellValue::Empty && !(skips_errors && matches!(value, CellValue::Error(_)));
                count += u64::from(counts);
                Ok(())
            })?;
        }
        return Ok(Operand::from(count as f64));
    }
    let numbers = kept_numbers(on, operands, skips_errors)?;
    let result = match code {
        1 => mean(&numbers)?,
        2 => numbers.len() as f64,
        4 => numbers.iter().copied().reduce(f64::max).unwrap_or_default(),
        5 => numbers.iter().copied().reduce(f64::min).unwrap_or_default(),
        6 => product(&numbers),
        7 => variance(&numbers, true)?.sqrt(),
        8 => variance(&numbers, false)?.sqrt(),
        9 => numbers.iter().sum(),
        10 => variance(&numbers, true)?,
        11 => variance(&numbers, false)?,
        12 => median(numbers)?,
        13 => most_frequent(&numbers)?,
        _ => return Err(CellError::Value.into()),
    };
    Ok(finite(result)?.into())
}

/// Returns the numbers of operands, without errors if `skips_errors` holds.
fn kept_numbers<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>], skips_errors: bool) -> Res<Vec<f64>> {
    if !skips_errors {
        return numbers(on, operands);
    }
    let mut kept = Vec::new();
    for operand in operands {
        each_value(on, operand, |value| {
            if let CellValue::Number(number) = value {
                kept.push(*number);
            }
            Ok::<_, Fault>(())
        })?;
    }
    Ok(kept)
}
