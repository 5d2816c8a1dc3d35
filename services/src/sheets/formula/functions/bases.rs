//! Numbers in other notations: bases, bits, Roman numerals.

use super::{Function, each, number, number_or, text_at, whole_number, whole_number_or};
use crate::sheets::cell::{CellError, CellValue};
use crate::sheets::formula::evaluate::Evaluator;
use crate::sheets::formula::value::{Res, finite, number_in};

pub(super) const FUNCTIONS: &[Function] = &[
    each("BASE", 2, 3, |on, a| {
        let (number, base, width) = (whole_number(a, 0)?, whole_number(a, 1)?, whole_number_or(a, 2, 0)?);
        if number < 0 || !(2..=36).contains(&base) || !(0..=255).contains(&width) {
            return Err(CellError::Number.into());
        }
        on.text_value(&format!(
            "{:0>width$}",
            digits(number.unsigned_abs(), base.unsigned_abs()),
            width = width as usize
        ))
    }),
    each("DECIMAL", 2, 2, |_, a| {
        let base = whole_number(a, 1)?;
        if !(2..=36).contains(&base) {
            return Err(CellError::Number.into());
        }
        let read = i64::from_str_radix(text_at(a, 0)?.trim(), base as u32).ok().filter(|number| *number >= 0);
        finite(read.ok_or(CellError::Number)? as f64)
    }),
    each("BIN2DEC", 1, 1, |_, a| finite(read(a, 2)? as f64)),
    each("BIN2OCT", 1, 2, |on, a| written(on, read(a, 2)?, 8, a)),
    each("BIN2HEX", 1, 2, |on, a| written(on, read(a, 2)?, 16, a)),
    each("OCT2DEC", 1, 1, |_, a| finite(read(a, 8)? as f64)),
    each("OCT2BIN", 1, 2, |on, a| written(on, read(a, 8)?, 2, a)),
    each("OCT2HEX", 1, 2, |on, a| written(on, read(a, 8)?, 16, a)),
    each("HEX2DEC", 1, 1, |_, a| finite(read(a, 16)? as f64)),
    each("HEX2BIN", 1, 2, |on, a| written(on, read(a, 16)?, 2, a)),
    each("HEX2OCT", 1, 2, |on, a| written(on, read(a, 16)?, 8, a)),
    each("DEC2BIN", 1, 2, |on, a| written(on, whole_number(a, 0)?, 2, a)),
    each("DEC2OCT", 1, 2, |on, a| written(on, whole_number(a, 0)?, 8, a)),
    each("DEC2HEX", 1, 2, |on, a| written(on, whole_number(a, 0)?, 16, a)),
    each("BITAND", 2, 2, |_, a| finite((bits(a, 0)? & bits(a, 1)?) as f64)),
    each("BITOR", 2, 2, |_, a| finite((bits(a, 0)? | bits(a, 1)?) as f64)),
    each("BITXOR", 2, 2, |_, a| finite((bits(a, 0)? ^ bits(a, 1)?) as f64)),
    each("BITLSHIFT", 2, 2, |_, a| shifted(bits(a, 0)?, whole_number(a, 1)?)),
    each("BITRSHIFT", 2, 2, |_, a| shifted(bits(a, 0)?, -whole_number(a, 1)?)),
    each("ROMAN", 1, 2, |on, a| {
        let mut left = whole_number(a, 0)?;
        if !(0..4_000).contains(&left) {
            return Err(CellError::Value.into());
        }
        let mut text = String::new();
        for (value, letters) in ROMAN {
            while left >= value {
                left -= value;
                text.push_str(letters);
            }
        }
        on.text_value(&text)
    }),
    each("ARABIC", 1, 1, |_, a| {
        let text = text_at(a, 0)?.trim().to_ascii_uppercase();
        let (text, sign) = text.strip_prefix('-').map_or((text.as_str(), 1.0), |rest| (rest, -1.0));
        let mut total = 0;
        let mut rest = text;
        while !rest.is_empty() {
            let (value, letters) =
                ROMAN.into_iter().find(|(_, letters)| rest.starts_with(letters)).ok_or(CellError::Value)?;
            total += value;
            rest = &rest[letters.len()..];
        }
        finite(sign * total as f64)
    }),
    each("NUMBERVALUE", 1, 3, |_, a| {
        let mark = |index: usize, default: char| -> Res<char> {
            Ok(if a.len() > index { text_at(a, index)?.chars().next().ok_or(CellError::Value)? } else { default })
        };
        let (point, group) = (mark(1, '.')?, mark(2, ',')?);
        let text: String = text_at(a, 0)?.chars().filter(|c| !c.is_whitespace() && *c != group).collect();
        let text = text.replace(point, ".");
        if text.is_empty() {
            return finite(0.0);
        }
        let percents = text.len() - text.trim_end_matches('%').len();
        let number = number_in(text.trim_end_matches('%')).ok_or(CellError::Value)?;
        finite((0..percents).fold(number, |number, _| number / 100.0))
    }),
];

const ROMAN: [(i64, &str); 13] = [
    (1000, "M"),
    (900, "CM"),
    (500, "D"),
    (400, "CD"),
    (100, "C"),
    (90, "XC"),
    (50, "L"),
    (40, "XL"),
    (10, "X"),
    (9, "IX"),
    (5, "V"),
    (4, "IV"),
    (1, "I"),
];

/// How many digits a number in another notation has; the first bit of the longest says that it is below zero.
const DIGITS_MAX: usize = 10;

fn digits(mut number: u64, base: u64) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit((number % base) as u32, 36).unwrap_or('0').to_ascii_uppercase());
        number /= base;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

fn span_of(base: u32) -> i64 {
    i64::from(base).pow(DIGITS_MAX as u32)
}

fn read(arguments: &[CellValue], base: u32) -> Res<i64> {
    let text = text_at(arguments, 0)?;
    if text.len() > DIGITS_MAX || text.starts_with(['+', '-']) {
        return Err(CellError::Number.into());
    }
    if text.is_empty() {
        return Ok(0);
    }
    let number = i64::from_str_radix(&text, base).map_err(|_| CellError::Number)?;
    Ok(if number >= span_of(base) / 2 { number - span_of(base) } else { number })
}

fn written(on: &Evaluator<'_>, number: i64, base: u32, arguments: &[CellValue]) -> Res<CellValue> {
    let span = span_of(base);
    if !(-span / 2..span / 2).contains(&number) {
        return Err(CellError::Number.into());
    }
    let text = digits((if number < 0 { number + span } else { number }).unsigned_abs(), u64::from(base));
    let width = if arguments.len() > 1 && number >= 0 { number_or(arguments, 1, 0.0)?.trunc() } else { 0.0 };
    if width < 0.0 || width > DIGITS_MAX as f64 || (width > 0.0 && text.len() > width as usize) {
        return Err(CellError::Number.into());
    }
    on.text_value(&format!("{text:0>width$}", width = width as usize))
}

fn bits(arguments: &[CellValue], index: usize) -> Res<i64> {
    let number = number(arguments, index)?;
    if number.fract() != 0.0 || !(0.0..281_474_976_710_656.0).contains(&number) {
        return Err(CellError::Number.into());
    }
    Ok(number as i64)
}

fn shifted(bits: i64, by: i64) -> Res<CellValue> {
    if by.abs() > 53 {
        return Err(CellError::Number.into());
    }
    let shifted = if by >= 0 { i128::from(bits) << by } else { i128::from(bits) >> -by };
    if shifted >= 1 << 48 { Err(CellError::Number.into()) } else { finite(shifted as f64) }
}
