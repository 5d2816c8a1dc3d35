//! Statistics of one list of numbers: middle values, spread, ranks, percentiles.

use super::aggregate::{format_of_first, mean, numbers, numbers_of_all};
use super::{Function, MANY, given_number, given_truth, given_whole, whole};
use crate::sheets::cell::{CellError, CellValue};
use crate::sheets::formula::evaluate::Evaluator;
use crate::sheets::formula::operand::{Grid, Operand};
use crate::sheets::formula::value::{Res, finite};

pub(super) const FUNCTIONS: &[Function] = &[
    whole("MEDIAN", 1, MANY, |on, a| Ok(finite(median(numbers(on, a)?)?)?.into())),
    whole("MODE", 1, MANY, |on, a| Ok(finite(most_frequent(&numbers(on, a)?)?)?.into())),
    whole("MODE.SNGL", 1, MANY, |on, a| Ok(finite(most_frequent(&numbers(on, a)?)?)?.into())),
    whole("MODE.MULT", 1, MANY, |on, a| {
        let numbers = numbers(on, a)?;
        let (count, found) = modes(&numbers);
        if count < 2 {
            return Err(CellError::NotAvailable.into());
        }
        Ok(Grid::column(found.into_iter().map(CellValue::Number).collect())?.into())
    }),
    whole("STDEV", 1, MANY, |on, a| Ok(finite(variance(&numbers(on, a)?, true)?.sqrt())?.into())),
    whole("STDEV.S", 1, MANY, |on, a| Ok(finite(variance(&numbers(on, a)?, true)?.sqrt())?.into())),
    whole("STDEVA", 1, MANY, |on, a| Ok(finite(variance(&numbers_of_all(on, a)?, true)?.sqrt())?.into())),
    whole("STDEVP", 1, MANY, |on, a| Ok(finite(variance(&numbers(on, a)?, false)?.sqrt())?.into())),
    whole("STDEV.P", 1, MANY, |on, a| Ok(finite(variance(&numbers(on, a)?, false)?.sqrt())?.into())),
    whole("STDEVPA", 1, MANY, |on, a| Ok(finite(variance(&numbers_of_all(on, a)?, false)?.sqrt())?.into())),
    whole("VAR", 1, MANY, |on, a| Ok(finite(variance(&numbers(on, a)?, true)?)?.into())),
    whole("VAR.S", 1, MANY, |on, a| Ok(finite(variance(&numbers(on, a)?, true)?)?.into())),
    whole("VARA", 1, MANY, |on, a| Ok(finite(variance(&numbers_of_all(on, a)?, true)?)?.into())),
    whole("VARP", 1, MANY, |on, a| Ok(finite(variance(&numbers(on, a)?, false)?)?.into())),
    whole("VAR.P", 1, MANY, |on, a| Ok(finite(variance(&numbers(on, a)?, false)?)?.into())),
    whole("VARPA", 1, MANY, |on, a| Ok(finite(variance(&numbers_of_all(on, a)?, false)?)?.into())),
    whole("AVEDEV", 1, MANY, |on, a| {
        let numbers = numbers(on, a)?;
        let middle = mean(&numbers)?;
        Ok(finite(mean(&numbers.iter().map(|number| (number - middle).abs()).collect::<Vec<_>>())?)?.into())
    }),
    whole("DEVSQ", 1, MANY, |on, a| Ok(finite(deviations(&numbers(on, a)?, 2)?)?.into())),
    whole("GEOMEAN", 1, MANY, |on, a| {
        let numbers = positive(on, a)?;
        Ok(finite(libm::exp(mean(&numbers.iter().map(|number| libm::log(*number)).collect::<Vec<_>>())?))?.into())
    }),
    whole("HARMEAN", 1, MANY, |on, a| {
        let numbers = positive(on, a)?;
        Ok(finite(numbers.len() as f64 / numbers.iter().map(|number| 1.0 / number).sum::<f64>())?.into())
    }),
    whole("TRIMMEAN", 2, 2, |on, a| {
        let (numbers, part) = (sorted(on, &a[..1])?, given_number(on, a, 1, 0.0)?);
        if !(0.0..1.0).contains(&part) {
            return Err(CellError::Number.into());
        }
        let cut = (numbers.len() as f64 * part / 2.0).floor() as usize;
        Ok(finite(mean(numbers.get(cut..numbers.len() - cut).unwrap_or_default())?)?.into())
    }),
    whole("SKEW", 1, MANY, |on, a| {
        let numbers = numbers(on, a)?;
        let (count, deviation) = (numbers.len() as f64, variance(&numbers, true)?.sqrt());
        if count < 3.0 || deviation == 0.0 {
            return Err(CellError::Division.into());
        }
        let sum = deviations(&numbers, 3)? / deviation.powi(3);
        Ok(finite(count / ((count - 1.0) * (count - 2.0)) * sum)?.into())
    }),
    whole("SKEW.P", 1, MANY, |on, a| {
        let numbers = numbers(on, a)?;
        let deviation = variance(&numbers, false)?.sqrt();
        if numbers.len() < 3 || deviation == 0.0 {
            return Err(CellError::Division.into());
        }
        Ok(finite(deviations(&numbers, 3)? / numbers.len() as f64 / deviation.powi(3))?.into())
    }),
    whole("KURT", 1, MANY, |on, a| {
        let numbers = numbers(on, a)?;
        let (n, deviation) = (numbers.len() as f64, variance(&numbers, true)?.sqrt());
        if n < 4.0 || deviation == 0.0 {
            return Err(CellError::Division.into());
        }
        let sum = deviations(&numbers, 4)? / deviation.powi(4);
        let (two, three) = ((n - 1.0) * (n - 2.0) * (n - 3.0), (n - 2.0) * (n - 3.0));
        Ok(finite(n * (n + 1.0) / two * sum - 3.0 * (n - 1.0) * (n - 1.0) / three)?.into())
    }),
    whole("LARGE", 2, 2, |on, a| pick(on, a, true)),
    whole("SMALL", 2, 2, |on, a| pick(on, a, false)),
    whole("RANK", 2, 3, |on, a| rank(on, a, false)),
    whole("RANK.EQ", 2, 3, |on, a| rank(on, a, false)),
    whole("RANK.AVG", 2, 3, |on, a| rank(on, a, true)),
    whole("PERCENTILE", 2, 2, |on, a| part(on, a, percentile, 1.0)),
    whole("PERCENTILE.INC", 2, 2, |on, a| part(on, a, percentile, 1.0)),
    whole("PERCENTILE.EXC", 2, 2, |on, a| part(on, a, percentile_exclusive, 1.0)),
    whole("QUARTILE", 2, 2, |on, a| part(on, a, percentile, 4.0)),
    whole("QUARTILE.INC", 2, 2, |on, a| part(on, a, percentile, 4.0)),
    whole("QUARTILE.EXC", 2, 2, |on, a| part(on, a, percentile_exclusive, 4.0)),
    whole("PERCENTRANK", 2, 3, |on, a| percent_rank(on, a, 0.0)),
    whole("PERCENTRANK.INC", 2, 3, |on, a| percent_rank(on, a, 0.0)),
    whole("PERCENTRANK.EXC", 2, 3, |on, a| percent_rank(on, a, 1.0)),
    whole("FREQUENCY", 2, 2, |on, a| {
        let (numbers, bounds) = (sorted(on, &a[..1])?, numbers(on, &a[1..])?);
        let below = |bound: f64| numbers.partition_point(|number| *number <= bound);
        let mut ordered = bounds.clone();
        ordered.sort_by(f64::total_cmp);
        let mut counts: Vec<f64> = Vec::with_capacity(bounds.len() + 1);
        for bound in &bounds {
            let before = ordered.iter().rev().find(|other| *other < bound).map_or(0, |other| below(*other));
            counts.push((below(*bound) - before) as f64);
        }
        counts.push((numbers.len() - ordered.last().map_or(0, |last| below(*last))) as f64);
        Ok(Grid::column(counts.into_iter().map(CellValue::Number).collect())?.into())
    }),
];

/// Returns the numbers of operands in order.
pub(super) fn sorted<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>]) -> Res<Vec<f64>> {
    let mut numbers = numbers(on, operands)?;
    on.budget().work(numbers.len() as u64)?;
    numbers.sort_by(f64::total_cmp);
    Ok(numbers)
}

fn positive<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>]) -> Res<Vec<f64>> {
    let numbers = numbers(on, operands)?;
    let is_sound = !numbers.is_empty() && numbers.iter().all(|number| *number > 0.0);
    if is_sound { Ok(numbers) } else { Err(CellError::Number.into()) }
}

/// Returns the middle of numbers.
///
/// # Errors
///
/// `#NUM!` without any.
pub(super) fn median(mut numbers: Vec<f64>) -> Res<f64> {
    numbers.sort_by(f64::total_cmp);
    percentile(&numbers, 0.5)
}

/// Returns the number that is there most often, of several the one that comes first.
///
/// # Errors
///
/// `#N/A` when none is there twice.
pub(super) fn most_frequent(numbers: &[f64]) -> Res<f64> {
    let (count, found) = modes(numbers);
    if count < 2 {
        Err(CellError::NotAvailable.into())
    } else {
        found.first().copied().ok_or(CellError::NotAvailable.into())
    }
}

/// Returns how often the most frequent numbers are there, and those in the order in which they come first.
fn modes(numbers: &[f64]) -> (usize, Vec<f64>) {
    let mut places: Vec<(f64, usize)> = numbers.iter().copied().zip(0..).collect();
    places.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    let groups: Vec<&[(f64, usize)]> = places.chunk_by(|one, other| one.0 == other.0).collect();
    let most = groups.iter().map(|group| group.len()).max().unwrap_or_default();
    let mut found: Vec<(usize, f64)> =
        groups.into_iter().filter(|group| group.len() == most).map(|group| (group[0].1, group[0].0)).collect();
    found.sort_by_key(|(place, _)| *place);
    (most, found.into_iter().map(|(_, number)| number).collect())
}

/// Returns the sum of the deviations from the mean, raised to a power.
pub(super) fn deviations(numbers: &[f64], power: i32) -> Res<f64> {
    let middle = mean(numbers)?;
    Ok(numbers.iter().map(|number| (number - middle).powi(power)).sum())
}

/// Returns the variance of numbers, as a sample of more or as all that there are.
///
/// # Errors
///
/// `#DIV/0!` for too few of them.
pub(super) fn variance(numbers: &[f64], is_sample: bool) -> Res<f64> {
    let count = numbers.len() as f64 - f64::from(u8::from(is_sample));
    if count <= 0.0 { Err(CellError::Division.into()) } else { Ok(deviations(numbers, 2)? / count) }
}

/// Returns the `place`-th number of those in order, from the top or from the bottom.
///
/// # Errors
///
/// `#NUM!` when there are not so many.
pub(super) fn ranked(numbers: &[f64], place: f64, from_top: bool) -> Res<f64> {
    let place = place.ceil();
    if !(1.0..=numbers.len() as f64).contains(&place) {
        return Err(CellError::Number.into());
    }
    let index = place as usize - 1;
    Ok(if from_top { numbers[numbers.len() - 1 - index] } else { numbers[index] })
}

/// Returns the number below which a part of those in order lies, ends included.
///
/// # Errors
///
/// `#NUM!` for a part that is none, or without numbers.
pub(super) fn percentile(numbers: &[f64], part: f64) -> Res<f64> {
    if numbers.is_empty() || !(0.0..=1.0).contains(&part) {
        return Err(CellError::Number.into());
    }
    Ok(between(numbers, part * (numbers.len() - 1) as f64))
}

/// Returns the number below which a part of those in order lies, ends excluded.
///
/// # Errors
///
/// `#NUM!` for a part that lies outside.
pub(super) fn percentile_exclusive(numbers: &[f64], part: f64) -> Res<f64> {
    let place = part * (numbers.len() + 1) as f64 - 1.0;
    if numbers.is_empty() || !(0.0..=(numbers.len() - 1) as f64).contains(&place) {
        return Err(CellError::Number.into());
    }
    Ok(between(numbers, place))
}

fn between(numbers: &[f64], place: f64) -> f64 {
    let low = place.floor() as usize;
    let high = numbers.get(low + 1).copied().unwrap_or(numbers[low]);
    numbers[low] + (high - numbers[low]) * place.fract()
}

fn part<'a>(
    on: &Evaluator<'a>,
    operands: &[Operand<'a>],
    find: fn(&[f64], f64) -> Res<f64>,
    parts: f64,
) -> Res<Operand<'a>> {
    let part = given_number(on, operands, 1, 0.0)?;
    let part = if parts > 1.0 { part.trunc() / parts } else { part };
    Ok(finite(find(&sorted(on, &operands[..1])?, part)?)?.into())
}

fn pick<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>], from_top: bool) -> Res<Operand<'a>> {
    let numbers = sorted(on, &operands[..1])?;
    let places = on.grid(&operands[1])?;
    if places.cells.len() == 1 {
        let number = ranked(&numbers, given_number(on, operands, 1, 0.0)?, from_top)?;
        return Ok(Operand::Value(finite(number)?, format_of_first(on, operands)));
    }
    let mut cells = on.room(places.cells.len() as u64)?;
    for place in &places.cells {
        let found = super::number_of(place).and_then(|place| ranked(&numbers, place, from_top));
        cells.push(found.map_or(CellValue::Error(CellError::Number), CellValue::Number));
    }
    Ok(Grid { cells, ..*places }.into())
}

fn rank<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>], is_mean: bool) -> Res<Operand<'a>> {
    let number = given_number(on, operands, 0, 0.0)?;
    let upwards = given_truth(on, operands, 2, false)?;
    let (mut before, mut same) = (0.0, 0.0);
    super::aggregate::each_number(on, &operands[1..2], |other| {
        let is_before = if upwards { other < number } else { other > number };
        before += f64::from(u8::from(is_before));
        same += f64::from(u8::from(other == number));
    })?;
    if same == 0.0 {
        return Err(CellError::NotAvailable.into());
    }
    Ok(finite(before + 1.0 + if is_mean { (same - 1.0) / 2.0 } else { 0.0 })?.into())
}

fn percent_rank<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>], ends: f64) -> Res<Operand<'a>> {
    let numbers = sorted(on, &operands[..1])?;
    let number = given_number(on, operands, 1, 0.0)?;
    let digits = given_whole(on, operands, 2, 3)?.clamp(1, 15);
    let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else { return Err(CellError::Number.into()) };
    if number < *first || number > *last {
        return Err(CellError::NotAvailable.into());
    }
    let low = numbers.partition_point(|other| *other < number);
    let place = if numbers[low] == number {
        low as f64
    } else {
        let (below, above) = (numbers[low - 1], numbers[low]);
        (low - 1) as f64 + (number - below) / (above - below)
    };
    let count = numbers.len() as f64 - 1.0 + 2.0 * ends;
    let rank = if count == 0.0 { 1.0 } else { (place + ends) / count };
    Ok(super::arithmetic::rounded(rank, digits as f64, f64::trunc)?.into())
}
