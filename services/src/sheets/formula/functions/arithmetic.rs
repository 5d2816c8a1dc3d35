//! Arithmetic: rounding, division, powers and roots, counting of possibilities, chance.

use super::{Function, MANY, each, number, number_or, whole, whole_number};
use crate::sheets::cell::{CellError, CellValue};
use crate::sheets::formula::evaluate::Evaluator;
use crate::sheets::formula::operand::Operand;
use crate::sheets::formula::operators::power;
use crate::sheets::formula::value::{Res, decimal, finite, number_of, power_of_ten};

pub(super) const FUNCTIONS: &[Function] = &[
    each("ABS", 1, 1, |_, a| finite(number(a, 0)?.abs())),
    each("SIGN", 1, 1, |_, a| {
        let number = number(a, 0)?;
        finite(if number == 0.0 { 0.0 } else { number.signum() })
    }),
    each("INT", 1, 1, |_, a| finite(decimal(number(a, 0)?).floor())),
    each("TRUNC", 1, 2, |_, a| rounded(number(a, 0)?, number_or(a, 1, 0.0)?, f64::trunc)),
    each("ROUND", 2, 2, |_, a| rounded(number(a, 0)?, number(a, 1)?, f64::round)),
    each("ROUNDUP", 2, 2, |_, a| rounded(number(a, 0)?, number(a, 1)?, away)),
    each("ROUNDDOWN", 2, 2, |_, a| rounded(number(a, 0)?, number(a, 1)?, f64::trunc)),
    each("MROUND", 2, 2, |_, a| {
        let (number, step) = (number(a, 0)?, number(a, 1)?);
        if number * step < 0.0 { Err(CellError::Number.into()) } else { stepped(number, step, f64::round) }
    }),
    each("CEILING", 1, 2, |_, a| stepped_by_sign(number(a, 0)?, number_or(a, 1, 1.0)?, f64::ceil)),
    each("FLOOR", 1, 2, |_, a| stepped_by_sign(number(a, 0)?, number_or(a, 1, 1.0)?, f64::floor)),
    each("CEILING.MATH", 1, 3, |_, a| {
        let (number, step, mode) = (number(a, 0)?, number_or(a, 1, 1.0)?.abs(), number_or(a, 2, 0.0)?);
        let away = mode != 0.0 && number < 0.0;
        stepped(number, step, if away { f64::floor } else { f64::ceil })
    }),
    each("FLOOR.MATH", 1, 3, |_, a| {
        let (number, step, mode) = (number(a, 0)?, number_or(a, 1, 1.0)?.abs(), number_or(a, 2, 0.0)?);
        let away = mode != 0.0 && number < 0.0;
        stepped(number, step, if away { f64::ceil } else { f64::floor })
    }),
    each("CEILING.PRECISE", 1, 2, |_, a| stepped(number(a, 0)?, number_or(a, 1, 1.0)?.abs(), f64::ceil)),
    each("ISO.CEILING", 1, 2, |_, a| stepped(number(a, 0)?, number_or(a, 1, 1.0)?.abs(), f64::ceil)),
    each("FLOOR.PRECISE", 1, 2, |_, a| stepped(number(a, 0)?, number_or(a, 1, 1.0)?.abs(), f64::floor)),
    each("EVEN", 1, 1, |_, a| finite(away(number(a, 0)? / 2.0) * 2.0)),
    each("ODD", 1, 1, |_, a| {
        let number = number(a, 0)?;
        let sign = if number < 0.0 { -1.0 } else { 1.0 };
        finite(sign * (((number.abs() - 1.0).max(0.0) / 2.0).ceil() * 2.0 + 1.0))
    }),
    each("MOD", 2, 2, |_, a| {
        let (number, by) = (number(a, 0)?, number(a, 1)?);
        if by == 0.0 {
            return Err(CellError::Division.into());
        }
        let rest = libm::fmod(number, by);
        finite(if rest != 0.0 && (rest < 0.0) != (by < 0.0) { rest + by } else { rest })
    }),
    each("QUOTIENT", 2, 2, |_, a| {
        let by = number(a, 1)?;
        if by == 0.0 { Err(CellError::Division.into()) } else { finite((number(a, 0)? / by).trunc()) }
    }),
    each("POWER", 2, 2, |_, a| power(number(a, 0)?, number(a, 1)?)),
    each("POW", 2, 2, |_, a| power(number(a, 0)?, number(a, 1)?)),
    each("SQRT", 1, 1, |_, a| finite(number(a, 0)?.sqrt())),
    each("SQRTPI", 1, 1, |_, a| finite((number(a, 0)? * std::f64::consts::PI).sqrt())),
    each("EXP", 1, 1, |_, a| finite(libm::exp(number(a, 0)?))),
    each("LN", 1, 1, |_, a| logarithm(number(a, 0)?, libm::log)),
    each("LOG10", 1, 1, |_, a| logarithm(number(a, 0)?, libm::log10)),
    each("LOG", 1, 2, |_, a| {
        let (number, base) = (number(a, 0)?, number_or(a, 1, 10.0)?);
        if base == 10.0 {
            return logarithm(number, libm::log10);
        }
        if base == 2.0 {
            return logarithm(number, libm::log2);
        }
        if base == 1.0 {
            return Err(CellError::Division.into());
        }
        if base <= 0.0 { Err(CellError::Number.into()) } else { logarithm(number, |n| libm::log(n) / libm::log(base)) }
    }),
    each("PI", 0, 0, |_, _| Ok(CellValue::Number(std::f64::consts::PI))),
    each("FACT", 1, 1, |_, a| factorial(number(a, 0)?.trunc(), 1)),
    each("FACTDOUBLE", 1, 1, |_, a| factorial(number(a, 0)?.trunc(), 2)),
    each("COMBIN", 2, 2, |_, a| combinations(number(a, 0)?.trunc(), number(a, 1)?.trunc())),
    each("COMBINA", 2, 2, |_, a| {
        let (from, take) = (number(a, 0)?.trunc(), number(a, 1)?.trunc());
        if from == 0.0 && take == 0.0 { finite(1.0) } else { combinations(from + take - 1.0, take) }
    }),
    each("PERMUT", 2, 2, |_, a| {
        let (from, take) = (number(a, 0)?.trunc(), number(a, 1)?.trunc());
        if take < 0.0 || from < take || take > FACTORS_MAX {
            return Err(CellError::Number.into());
        }
        finite((0..take as u32).map(|step| from - f64::from(step)).product())
    }),
    each("PERMUTATIONA", 2, 2, |_, a| {
        let (from, take) = (number(a, 0)?.trunc(), number(a, 1)?.trunc());
        if from < 0.0 || take < 0.0 { Err(CellError::Number.into()) } else { finite(libm::pow(from, take)) }
    }),
    whole("GCD", 1, MANY, |on, operands| fold_whole(on, operands, 0, |one, other| Some(divisor(one, other)))),
    whole("LCM", 1, MANY, |on, operands| {
        fold_whole(on, operands, 1, |one, other| match divisor(one, other) {
            0 => Some(0),
            shared => (one / shared).checked_mul(other),
        })
    }),
    whole("MULTINOMIAL", 1, MANY, |on, operands| {
        let numbers = super::aggregate::numbers(on, operands)?;
        let (mut total, mut result) = (0.0, 1.0);
        for number in numbers {
            total += number.trunc();
            let CellValue::Number(ways) = combinations(total, number.trunc())? else { continue };
            result *= ways;
        }
        Ok(Operand::from(finite(result)?))
    }),
    whole("SERIESSUM", 4, 4, |on, operands| {
        let (x, first, step) = (
            super::given_number(on, operands, 0, 0.0)?,
            super::given_number(on, operands, 1, 0.0)?,
            super::given_number(on, operands, 2, 0.0)?,
        );
        let mut sum = 0.0;
        for (index, factor) in super::aggregate::numbers(on, &operands[3..])?.into_iter().enumerate() {
            sum += factor * libm::pow(x, first + step * index as f64);
        }
        Ok(Operand::from(finite(sum)?))
    }),
    each("RAND", 0, 0, |on, _| Ok(CellValue::Number(on.chance()))),
    each("RANDBETWEEN", 2, 2, |on, a| {
        let (low, high) = (number(a, 0)?.ceil(), number(a, 1)?.floor());
        if high < low {
            Err(CellError::Number.into())
        } else {
            finite(low + (on.chance() * (high - low + 1.0)).floor())
        }
    }),
    each("DELTA", 1, 2, |_, a| finite(f64::from(u8::from(number(a, 0)? == number_or(a, 1, 0.0)?)))),
    each("GESTEP", 1, 2, |_, a| finite(f64::from(u8::from(number(a, 0)? >= number_or(a, 1, 0.0)?)))),
    each("ISEVEN", 1, 1, |_, a| Ok(CellValue::Bool(whole_number(a, 0)? % 2 == 0))),
    each("ISODD", 1, 1, |_, a| Ok(CellValue::Bool(whole_number(a, 0)? % 2 != 0))),
];

/// From here on, a product of that many factors is larger than a number can be.
const FACTORS_MAX: f64 = 1_100.0;

/// Rounds away from zero.
fn away(number: f64) -> f64 {
    if number < 0.0 { number.floor() } else { number.ceil() }
}

/// Rounds to a number of decimals as `round` says; what people see as a half is one.
pub(super) fn rounded(number: f64, decimals: f64, round: fn(f64) -> f64) -> Res<CellValue> {
    let decimals = decimals.trunc().clamp(-310.0, 310.0) as i32;
    if decimals > 20 {
        return finite(number);
    }
    let scaled = if decimals < 0 { number / power_of_ten(-decimals) } else { number * power_of_ten(decimals) };
    if !scaled.is_finite() {
        return finite(number);
    }
    let round = round(decimal(scaled));
    finite(if decimals < 0 { round * power_of_ten(-decimals) } else { round / power_of_ten(decimals) })
}

fn stepped(number: f64, step: f64, round: fn(f64) -> f64) -> Res<CellValue> {
    if step == 0.0 { finite(0.0) } else { finite(decimal(round(decimal(number / step)) * step)) }
}

/// A step below zero rounds the other way, and is refused for a number above zero.
fn stepped_by_sign(number: f64, step: f64, round: fn(f64) -> f64) -> Res<CellValue> {
    if number > 0.0 && step < 0.0 { Err(CellError::Number.into()) } else { stepped(number, step, round) }
}

fn logarithm(number: f64, log: impl Fn(f64) -> f64) -> Res<CellValue> {
    if number <= 0.0 { Err(CellError::Number.into()) } else { finite(log(number)) }
}

fn factorial(number: f64, step: usize) -> Res<CellValue> {
    if !(0.0..=FACTORS_MAX).contains(&number) {
        return Err(CellError::Number.into());
    }
    finite((1..=number as u32).rev().step_by(step).map(f64::from).product())
}

/// Returns in how many ways `take` things can be taken from `from`.
pub(super) fn combinations(from: f64, take: f64) -> Res<CellValue> {
    if take < 0.0 || from < take {
        return Err(CellError::Number.into());
    }
    let take = take.min(from - take);
    if take > FACTORS_MAX {
        return Err(CellError::Number.into());
    }
    let ways = (1..=take as u32).fold(1.0, |ways: f64, step| ways * (from - take + f64::from(step)) / f64::from(step));
    finite(if ways < 9e15 { ways.round() } else { ways })
}

fn divisor(one: i64, other: i64) -> i64 {
    if other == 0 { one } else { divisor(other, one % other) }
}

fn fold_whole<'a>(
    on: &Evaluator<'a>,
    operands: &[Operand<'a>],
    start: i64,
    fold: impl Fn(i64, i64) -> Option<i64>,
) -> Res<Operand<'a>> {
    let mut result = start;
    for number in super::aggregate::numbers(on, operands)? {
        let number = super::cut(number_of(&CellValue::Number(number))?)?;
        if number < 0 {
            return Err(CellError::Number.into());
        }
        result = fold(result, number).ok_or(CellError::Number)?;
    }
    Ok(Operand::from(finite(result as f64)?))
}
