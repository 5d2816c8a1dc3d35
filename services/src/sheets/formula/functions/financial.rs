//! Loans, savings, cash flows and depreciation.

use super::{Function, MANY, each, given_number, number, number_or, whole};
use crate::sheets::cell::{CellError, CellValue};
use crate::sheets::formula::evaluate::Evaluator;
use crate::sheets::formula::operand::Operand;
use crate::sheets::formula::value::{Res, finite};

pub(super) const FUNCTIONS: &[Function] = &[
    each("PMT", 3, 5, |_, a| {
        finite(payment(number(a, 0)?, number(a, 1)?, number(a, 2)?, number_or(a, 3, 0.0)?, number_or(a, 4, 0.0)?)?)
    }),
    each("IPMT", 4, 6, |_, a| finite(parts_of_payment(a)?.0)),
    each("PPMT", 4, 6, |_, a| finite(parts_of_payment(a)?.1)),
    each("FV", 3, 5, |_, a| {
        finite(future(number(a, 0)?, number(a, 1)?, number(a, 2)?, number_or(a, 3, 0.0)?, number_or(a, 4, 0.0)?))
    }),
    each("PV", 3, 5, |_, a| {
        let (rate, periods, payment) = (number(a, 0)?, number(a, 1)?, number(a, 2)?);
        let (future, due) = (number_or(a, 3, 0.0)?, number_or(a, 4, 0.0)?);
        if rate == 0.0 {
            return finite(-future - payment * periods);
        }
        let growth = libm::pow(1.0 + rate, periods);
        finite(-(future + payment * (1.0 + rate * due) * (growth - 1.0) / rate) / growth)
    }),
    each("NPER", 3, 5, |_, a| {
        let (rate, payment, present) = (number(a, 0)?, number(a, 1)?, number(a, 2)?);
        let (future, due) = (number_or(a, 3, 0.0)?, number_or(a, 4, 0.0)?);
        if rate == 0.0 {
            return if payment == 0.0 { Err(CellError::Number.into()) } else { finite(-(present + future) / payment) };
        }
        let part = payment * (1.0 + rate * due) / rate;
        let ratio = (part - future) / (present + part);
        if ratio <= 0.0 { Err(CellError::Number.into()) } else { finite(libm::log(ratio) / libm::log(1.0 + rate)) }
    }),
    each("RATE", 3, 6, |_, a| {
        let (periods, payment, present) = (number(a, 0)?, number(a, 1)?, number(a, 2)?);
        let (future_value, due, guess) = (number_or(a, 3, 0.0)?, number_or(a, 4, 0.0)?, number_or(a, 5, 0.1)?);
        let value = |rate: f64| future_value - future(rate, periods, payment, present, due);
        root(guess, value)
    }),
    each("ISPMT", 4, 4, |_, a| {
        let (rate, period, periods, present) = (number(a, 0)?, number(a, 1)?, number(a, 2)?, number(a, 3)?);
        finite(-present * rate * (1.0 - period / periods))
    }),
    each("CUMIPMT", 6, 6, |on, a| {
        on.budget().work(number(a, 4)?.abs() as u64)?;
        cumulated(a, |parts| parts.0)
    }),
    each("CUMPRINC", 6, 6, |on, a| {
        on.budget().work(number(a, 4)?.abs() as u64)?;
        cumulated(a, |parts| parts.1)
    }),
    whole("NPV", 2, MANY, |on, a| {
        let rate = given_number(on, a, 0, 0.0)?;
        let flows = super::aggregate::numbers(on, &a[1..])?;
        Ok(finite(present_value(rate, &flows) / (1.0 + rate))?.into())
    }),
    whole("IRR", 1, 2, |on, a| {
        let (flows, guess) = (super::aggregate::numbers(on, &a[..1])?, given_number(on, a, 1, 0.1)?);
        changes_sign(&flows)?;
        on.budget().work(flows.len() as u64 * STEPS_MAX as u64 / 8)?;
        Ok(root(guess, |rate| present_value(rate, &flows))?.into())
    }),
    whole("XNPV", 3, 3, |on, a| {
        let (flows, days) = dated(on, &a[1..])?;
        Ok(finite(dated_value(given_number(on, a, 0, 0.0)?, &flows, &days))?.into())
    }),
    whole("XIRR", 2, 3, |on, a| {
        let ((flows, days), guess) = (dated(on, a)?, given_number(on, a, 2, 0.1)?);
        changes_sign(&flows)?;
        on.budget().work(flows.len() as u64 * STEPS_MAX as u64)?;
        Ok(root(guess, |rate| dated_value(rate, &flows, &days))?.into())
    }),
    whole("MIRR", 3, 3, |on, a| {
        let flows = super::aggregate::numbers(on, &a[..1])?;
        let (finance, reinvest) = (given_number(on, a, 1, 0.0)?, given_number(on, a, 2, 0.0)?);
        changes_sign(&flows).map_err(|_| CellError::Division)?;
        let part = |keep: fn(f64) -> f64| flows.iter().map(|flow| keep(*flow)).collect::<Vec<_>>();
        let (gains, losses) = (part(|flow| flow.max(0.0)), part(|flow| flow.min(0.0)));
        let periods = flows.len() as f64 - 1.0;
        let grown = present_value(reinvest, &gains) * libm::pow(1.0 + reinvest, periods);
        Ok(finite(libm::pow(-grown / present_value(finance, &losses), 1.0 / periods) - 1.0)?.into())
    }),
    each("SLN", 3, 3, |_, a| {
        let life = number(a, 2)?;
        if life == 0.0 { Err(CellError::Division.into()) } else { finite((number(a, 0)? - number(a, 1)?) / life) }
    }),
    each("SYD", 4, 4, |_, a| {
        let (cost, salvage, life, period) = (number(a, 0)?, number(a, 1)?, number(a, 2)?, number(a, 3)?);
        if life <= 0.0 || period <= 0.0 || period > life {
            return Err(CellError::Number.into());
        }
        finite((cost - salvage) * (life - period + 1.0) * 2.0 / (life * (life + 1.0)))
    }),
    each("DB", 4, 5, |_, a| declining(a)),
    each("DDB", 4, 5, |_, a| {
        let (cost, salvage, life, period) = (number(a, 0)?, number(a, 1)?, number(a, 2)?, number(a, 3)?);
        let factor = number_or(a, 4, 2.0)?;
        if cost < 0.0 || salvage < 0.0 || life <= 0.0 || !(1.0..=life).contains(&period) || factor <= 0.0 {
            return Err(CellError::Number.into());
        }
        let rate = (factor / life).min(1.0);
        let before = cost * libm::pow(1.0 - rate, period - 1.0);
        finite((before * rate).min((before - salvage).max(0.0)))
    }),
    each("EFFECT", 2, 2, |_, a| {
        let (nominal, periods) = (number(a, 0)?, number(a, 1)?.trunc());
        if nominal <= 0.0 || periods < 1.0 {
            return Err(CellError::Number.into());
        }
        finite(libm::pow(1.0 + nominal / periods, periods) - 1.0)
    }),
    each("NOMINAL", 2, 2, |_, a| {
        let (effective, periods) = (number(a, 0)?, number(a, 1)?.trunc());
        if effective <= 0.0 || periods < 1.0 {
            return Err(CellError::Number.into());
        }
        finite((libm::pow(1.0 + effective, 1.0 / periods) - 1.0) * periods)
    }),
    each("RRI", 3, 3, |_, a| finite(libm::pow(number(a, 2)? / number(a, 1)?, 1.0 / number(a, 0)?) - 1.0)),
    each("PDURATION", 3, 3, |_, a| {
        let (rate, present, future) = (number(a, 0)?, number(a, 1)?, number(a, 2)?);
        if rate <= 0.0 || present <= 0.0 || future <= 0.0 {
            return Err(CellError::Number.into());
        }
        finite((libm::log(future) - libm::log(present)) / libm::log(1.0 + rate))
    }),
    each("DOLLARDE", 2, 2, |_, a| {
        let (price, parts) = fractional(a)?;
        let scale = libm::pow(10.0, libm::log10(parts).ceil());
        finite(price.trunc() + price.fract() * scale / parts)
    }),
    each("DOLLARFR", 2, 2, |_, a| {
        let (price, parts) = fractional(a)?;
        let scale = libm::pow(10.0, libm::log10(parts).ceil());
        finite(price.trunc() + price.fract() * parts / scale)
    }),
];

/// How many steps a search for a rate takes at most.
const STEPS_MAX: usize = 100;

/// Returns what a loan or a saving is worth at its end.
fn future(rate: f64, periods: f64, payment: f64, present: f64, due: f64) -> f64 {
    if rate == 0.0 {
        return -present - payment * periods;
    }
    let growth = libm::pow(1.0 + rate, periods);
    -(present * growth + payment * (1.0 + rate * due) * (growth - 1.0) / rate)
}

fn payment(rate: f64, periods: f64, present: f64, future: f64, due: f64) -> Res<f64> {
    if periods == 0.0 {
        return Err(CellError::Number.into());
    }
    if rate == 0.0 {
        return Ok(-(present + future) / periods);
    }
    let growth = libm::pow(1.0 + rate, periods);
    Ok(-rate * (future + present * growth) / ((1.0 + rate * due) * (growth - 1.0)))
}

/// Returns the interest and the principal of one payment: rate, period, periods, present, future, due.
fn parts_of_payment(arguments: &[CellValue]) -> Res<(f64, f64)> {
    let (rate, period, periods) = (number(arguments, 0)?, number(arguments, 1)?, number(arguments, 2)?);
    let (present, end, due) = (number(arguments, 3)?, number_or(arguments, 4, 0.0)?, number_or(arguments, 5, 0.0)?);
    if !(1.0..=periods).contains(&period) {
        return Err(CellError::Number.into());
    }
    let payment = payment(rate, periods, present, end, due)?;
    let interest = if due != 0.0 && period == 1.0 {
        0.0
    } else {
        let owed = future(rate, period - 1.0, payment, present, due);
        if due == 0.0 { owed * rate } else { (owed - payment) * rate }
    };
    Ok((interest, payment - interest))
}

/// Adds up a part of payments: rate, periods, present, first, last, due.
fn cumulated(arguments: &[CellValue], part: fn((f64, f64)) -> f64) -> Res<CellValue> {
    let (rate, periods, present) = (number(arguments, 0)?, number(arguments, 1)?, number(arguments, 2)?);
    let (first, last, due) = (number(arguments, 3)?.ceil(), number(arguments, 4)?.floor(), number(arguments, 5)?);
    if rate <= 0.0 || periods <= 0.0 || present <= 0.0 || first < 1.0 || last < first || last > periods {
        return Err(CellError::Number.into());
    }
    let mut sum = 0.0;
    let mut period = first;
    while period <= last {
        let given = [rate, period, periods, present, 0.0, due].map(CellValue::Number);
        sum += part(parts_of_payment(&given)?);
        period += 1.0;
    }
    finite(sum)
}

fn present_value(rate: f64, flows: &[f64]) -> f64 {
    flows.iter().rev().fold(0.0, |sum, flow| sum / (1.0 + rate) + flow)
}

fn dated<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>]) -> Res<(Vec<f64>, Vec<f64>)> {
    let flows = super::aggregate::numbers(on, &operands[..1])?;
    let days = super::aggregate::numbers(on, &operands[1..2])?;
    if flows.len() != days.len() || flows.is_empty() { Err(CellError::Number.into()) } else { Ok((flows, days)) }
}

fn dated_value(rate: f64, flows: &[f64], days: &[f64]) -> f64 {
    let start = days.first().copied().unwrap_or_default();
    flows.iter().zip(days).map(|(flow, day)| flow / libm::pow(1.0 + rate, (day - start) / 365.0)).sum()
}

fn changes_sign(flows: &[f64]) -> Res<()> {
    let is_sound = flows.iter().any(|flow| *flow > 0.0) && flows.iter().any(|flow| *flow < 0.0);
    if is_sound { Ok(()) } else { Err(CellError::Number.into()) }
}

/// Returns the rate at which `value` is zero: by Newton's method from a guess, and between bounds where that leads away.
fn root(guess: f64, value: impl Fn(f64) -> f64) -> Res<CellValue> {
    let mut rate = guess;
    for _ in 0..STEPS_MAX {
        let here = value(rate);
        let width = 1e-6 * rate.abs().max(1e-2);
        let slope = (value(rate + width) - value(rate - width)) / (2.0 * width);
        let next = rate - here / slope;
        if !next.is_finite() || next <= -1.0 {
            break;
        }
        if (next - rate).abs() < 1e-13 * next.abs().max(1.0) {
            return finite(next);
        }
        rate = next;
    }
    bisected(value)
}

fn bisected(value: impl Fn(f64) -> f64) -> Res<CellValue> {
    const BOUNDS: [f64; 9] = [-0.999_999, -0.9, -0.5, 0.0, 0.1, 0.5, 1.0, 10.0, 1_000.0];
    for pair in BOUNDS.windows(2) {
        let (mut low, mut high) = (pair[0], pair[1]);
        let (at_low, at_high) = (value(low), value(high));
        if !at_low.is_finite() || !at_high.is_finite() || at_low.signum() == at_high.signum() {
            continue;
        }
        for _ in 0..STEPS_MAX {
            let middle = f64::midpoint(low, high);
            if value(middle).signum() == at_low.signum() { low = middle } else { high = middle }
        }
        return finite(f64::midpoint(low, high));
    }
    Err(CellError::Number.into())
}

/// Depreciates by a fixed rate: cost, salvage, life, period, months in the first year.
fn declining(arguments: &[CellValue]) -> Res<CellValue> {
    let (cost, salvage, life) = (number(arguments, 0)?, number(arguments, 1)?, number(arguments, 2)?);
    let (period, months) = (number(arguments, 3)?.trunc(), number_or(arguments, 4, 12.0)?.trunc());
    let is_sound = cost > 0.0 && salvage >= 0.0 && (1.0..=1_000.0).contains(&life) && (1.0..=12.0).contains(&months);
    if !is_sound || !(1.0..=life + 1.0).contains(&period) {
        return Err(CellError::Number.into());
    }
    let rate = (1.0 - libm::pow(salvage / cost, 1.0 / life)) * 1_000.0;
    let rate = rate.round() / 1_000.0;
    let mut total = 0.0;
    let mut part = 0.0;
    let mut year = 1.0;
    while year <= period {
        part = if year == 1.0 { cost * rate * months / 12.0 } else { (cost - total) * rate };
        if year > life {
            part *= (12.0 - months) / 12.0;
        }
        total += part;
        year += 1.0;
    }
    finite(part)
}

fn fractional(arguments: &[CellValue]) -> Res<(f64, f64)> {
    let (price, parts) = (number(arguments, 0)?, number(arguments, 1)?.trunc());
    if parts < 0.0 {
        return Err(CellError::Number.into());
    }
    if parts == 0.0 { Err(CellError::Division.into()) } else { Ok((price, parts)) }
}
