//! Working days: how many there are between two days, and which one is so many later.

use std::collections::BTreeSet;

use chrono::{Datelike, NaiveDate};

use super::date::date;
use super::{Function, given, given_number, given_whole, whole};
use crate::sheets::cell::{CellError, CellValue};
use crate::sheets::format::DATE;
use crate::sheets::formula::evaluate::Evaluator;
use crate::sheets::formula::operand::Operand;
use crate::sheets::formula::value::{Res, finite};
use crate::sheets::typed::serial_of;

pub(super) const FUNCTIONS: &[Function] = &[
    whole("NETWORKDAYS", 2, 3, |on, a| count(on, a, SATURDAY_AND_SUNDAY, 2)),
    whole("NETWORKDAYS.INTL", 2, 4, |on, a| count(on, a, weekend(on, a, 2)?, 3)),
    whole("WORKDAY", 2, 3, |on, a| later(on, a, SATURDAY_AND_SUNDAY, 2)).shown(DATE),
    whole("WORKDAY.INTL", 2, 4, |on, a| later(on, a, weekend(on, a, 2)?, 3)).shown(DATE),
];

/// Which days of the week are free, from Monday on.
type Weekend = [bool; 7];

const SATURDAY_AND_SUNDAY: Weekend = [false, false, false, false, false, true, true];

/// Reads a weekend: a number of the usual list, or seven digits of which a 1 is a free day.
fn weekend<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>], index: usize) -> Res<Weekend> {
    if let Some(CellValue::Text(text)) = given(on, operands, index)? {
        let mut days = [false; 7];
        if text.len() != 7 || !text.bytes().all(|byte| matches!(byte, b'0' | b'1')) {
            return Err(CellError::Value.into());
        }
        days.iter_mut().zip(text.bytes()).for_each(|(day, byte)| *day = byte == b'1');
        return Ok(days);
    }
    let mut days = [false; 7];
    match given_whole(on, operands, index, 1)? {
        pair @ 1..=7 => [5, 6].into_iter().for_each(|day| days[((pair - 1 + day) % 7) as usize] = true),
        single @ 11..=17 => days[((single - 11 + 6) % 7) as usize] = true,
        _ => return Err(CellError::Number.into()),
    }
    Ok(days)
}

fn holidays<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>], index: usize) -> Res<BTreeSet<NaiveDate>> {
    match operands.get(index) {
        None | Some(Operand::Omitted) => Ok(BTreeSet::new()),
        Some(operand) => super::aggregate::numbers(on, std::slice::from_ref(operand))?.into_iter().map(date).collect(),
    }
}

fn is_free(day: NaiveDate, weekend: Weekend, holidays: &BTreeSet<NaiveDate>) -> bool {
    weekend[day.weekday().num_days_from_monday() as usize] || holidays.contains(&day)
}

fn count<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>], weekend: Weekend, index: usize) -> Res<Operand<'a>> {
    let (one, other) = (date(given_number(on, operands, 0, 0.0)?)?, date(given_number(on, operands, 1, 0.0)?)?);
    let holidays = holidays(on, operands, index)?;
    let (from, to) = (one.min(other), one.max(other));
    let days = (to - from).num_days() + 1;
    // Whole weeks are counted as such.
    let free_a_week = weekend.iter().filter(|free| **free).count() as i64;
    let mut working = days / 7 * (7 - free_a_week);
    let rest = from.iter_days().take((days % 7) as usize);
    working += rest.filter(|day| !weekend[day.weekday().num_days_from_monday() as usize]).count() as i64;
    let within = holidays.range(from..=to).filter(|day| !weekend[day.weekday().num_days_from_monday() as usize]);
    working -= within.count() as i64;
    Ok(finite(if one > other { -working } else { working } as f64)?.into())
}

fn later<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>], weekend: Weekend, index: usize) -> Res<Operand<'a>> {
    let mut day = date(given_number(on, operands, 0, 0.0)?)?;
    let by = given_whole(on, operands, 1, 0)?;
    let holidays = holidays(on, operands, index)?;
    if weekend.iter().all(|free| *free) {
        return Err(CellError::Value.into());
    }
    let mut left = by.abs();
    while left > 0 {
        on.budget().work(1)?;
        let next = if by > 0 { day.succ_opt() } else { day.pred_opt() };
        day = next.ok_or(CellError::Number)?;
        // Beyond what a worksheet shows there is no day.
        date(serial_of(day))?;
        left -= i64::from(!is_free(day, weekend, &holidays));
    }
    Ok(finite(serial_of(day))?.into())
}
