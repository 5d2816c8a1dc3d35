//! Single values inside of a formula: what they count as (numbers, texts, truth values), how they compare, and how a calculation stops.

use std::cmp::Ordering;

use dayshift_engine::{Budget, OverBudget, SmolStr};

use crate::sheets::cell::{CELL_TEXT_BYTES_MAX, CellError, CellValue};
use crate::sheets::typed::typed;

/// Why a calculation stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It came to an error, which is a value like others one level up.
    Error(CellError),
    /// The call's budget is used up, which ends the call.
    Over(OverBudget),
}

impl From<CellError> for Fault {
    fn from(error: CellError) -> Self {
        Self::Error(error)
    }
}

impl From<OverBudget> for Fault {
    fn from(over: OverBudget) -> Self {
        Self::Over(over)
    }
}

/// What a step of a calculation comes to.
pub(super) type Res<T> = Result<T, Fault>;

/// The longest text that is tried as a number.
const NUMBER_TEXT_BYTES_MAX: usize = 64;

/// The exponents of ten between which a number is written without one.
const PLAIN_EXPONENTS: std::ops::RangeInclusive<i32> = -9..=20;

/// Returns the number that a value counts as.
///
/// # Errors
///
/// `#VALUE!` for a text that is none; the error that it is.
pub(super) fn number_of(value: &CellValue) -> Res<f64> {
    match value {
        CellValue::Empty => Ok(0.0),
        CellValue::Number(number) => Ok(*number),
        CellValue::Bool(truth) => Ok(f64::from(u8::from(*truth))),
        CellValue::Text(text) => number_in(text).ok_or(Fault::Error(CellError::Value)),
        CellValue::Error(error) => Err(Fault::Error(*error)),
    }
}

/// Returns the number that a text would be if a user typed it.
pub(super) fn number_in(text: &str) -> Option<f64> {
    if text.len() > NUMBER_TEXT_BYTES_MAX {
        return None;
    }
    match typed(text).value {
        CellValue::Number(number) => Some(number),
        CellValue::Empty | CellValue::Text(_) | CellValue::Bool(_) | CellValue::Error(_) => None,
    }
}

/// Returns the text that a value counts as.
///
/// # Errors
///
/// The error that it is.
pub(super) fn text_of(value: &CellValue) -> Res<SmolStr> {
    Ok(match value {
        CellValue::Empty => SmolStr::default(),
        CellValue::Number(number) => number_text(*number),
        CellValue::Bool(truth) => if *truth { "TRUE" } else { "FALSE" }.into(),
        CellValue::Text(text) => text.clone(),
        CellValue::Error(error) => return Err(Fault::Error(*error)),
    })
}

/// Returns the truth value that a value counts as.
///
/// # Errors
///
/// `#VALUE!` for a text that is none; the error that it is.
pub(super) fn truth_of(value: &CellValue) -> Res<bool> {
    match value {
        CellValue::Empty => Ok(false),
        CellValue::Number(number) => Ok(*number != 0.0),
        CellValue::Bool(truth) => Ok(*truth),
        CellValue::Text(text) if text.eq_ignore_ascii_case("true") => Ok(true),
        CellValue::Text(text) if text.eq_ignore_ascii_case("false") => Ok(false),
        CellValue::Text(_) => Err(Fault::Error(CellError::Value)),
        CellValue::Error(error) => Err(Fault::Error(*error)),
    }
}

/// Returns a number as a value: `#NUM!` if it is not finite, and no negative zero.
pub(super) fn finite(number: f64) -> Res<CellValue> {
    if number.is_finite() { Ok(CellValue::Number(number + 0.0)) } else { Err(Fault::Error(CellError::Number)) }
}

/// Returns a number with 15 significant digits, as formulas join it to text.
pub(super) fn number_text(number: f64) -> SmolStr {
    if number.fract() == 0.0 && number.abs() < 1e15 {
        return smol_str::format_smolstr!("{}", number + 0.0);
    }
    let written = format!("{:.14e}", number.abs());
    let (mantissa, exponent) = written.split_once('e').unwrap_or((&written, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let digits = digits.trim_end_matches('0');
    let sign = if number < 0.0 { "-" } else { "" };
    if !PLAIN_EXPONENTS.contains(&exponent) {
        let (first, rest) = digits.split_at(1.min(digits.len()));
        let point = if rest.is_empty() { "" } else { "." };
        let direction = if exponent < 0 { '-' } else { '+' };
        return smol_str::format_smolstr!("{sign}{first}{point}{rest}E{direction}{:02}", exponent.abs());
    }
    if exponent < 0 {
        let zeros = "0".repeat(usize::try_from(-exponent - 1).unwrap_or_default());
        return smol_str::format_smolstr!("{sign}0.{zeros}{digits}");
    }
    let whole = usize::try_from(exponent).unwrap_or_default() + 1;
    if digits.len() <= whole {
        return smol_str::format_smolstr!("{sign}{digits}{}", "0".repeat(whole - digits.len()));
    }
    smol_str::format_smolstr!("{sign}{}.{}", &digits[..whole], &digits[whole..])
}

/// Returns a number as its 15 significant digits say it, so that what people see as one half is one.
pub(super) fn decimal(number: f64) -> f64 {
    if number.fract() == 0.0 { number } else { format!("{number:.14e}").parse().unwrap_or(number) }
}

/// Returns ten to the power of `exponent`, as exactly as a number can be.
pub(super) fn power_of_ten(exponent: i32) -> f64 {
    const EXACT: [f64; 23] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ];
    usize::try_from(exponent)
        .ok()
        .and_then(|index| EXACT.get(index).copied())
        .unwrap_or_else(|| format!("1e{exponent}").parse().unwrap_or(f64::NAN))
}

/// Compares two values: numbers before texts before truth values, texts without regard to case, an empty cell as the other's zero. Errors
/// are equal to everything; whoever compares looks for them first.
pub(super) fn compare(left: &CellValue, right: &CellValue) -> Ordering {
    match (left, right) {
        (CellValue::Number(left), CellValue::Number(right)) => left.total_cmp(right),
        (CellValue::Text(left), CellValue::Text(right)) => compare_text(left, right),
        (CellValue::Bool(left), CellValue::Bool(right)) => left.cmp(right),
        (CellValue::Empty, CellValue::Empty) => Ordering::Equal,
        (CellValue::Empty, other) => compare(&zero_of(other), other),
        (other, CellValue::Empty) => compare(other, &zero_of(other)),
        (left, right) => rank(left).cmp(&rank(right)),
    }
}

fn zero_of(value: &CellValue) -> CellValue {
    match value {
        CellValue::Text(_) => CellValue::Text(SmolStr::default()),
        CellValue::Bool(_) => CellValue::Bool(false),
        CellValue::Empty | CellValue::Number(_) | CellValue::Error(_) => CellValue::Number(0.0),
    }
}

fn rank(value: &CellValue) -> u8 {
    match value {
        CellValue::Empty | CellValue::Number(_) => 0,
        CellValue::Text(_) => 1,
        CellValue::Bool(_) => 2,
        CellValue::Error(_) => 3,
    }
}

/// Compares two texts without regard to case.
pub(super) fn compare_text(left: &str, right: &str) -> Ordering {
    if left.is_ascii() && right.is_ascii() {
        return left
            .bytes()
            .map(|byte| byte.to_ascii_lowercase())
            .cmp(right.bytes().map(|byte| byte.to_ascii_lowercase()));
    }
    left.chars().flat_map(char::to_lowercase).cmp(right.chars().flat_map(char::to_lowercase))
}

/// Returns whether two values are the same for those who look something up: of one kind and equal.
pub(super) fn same(left: &CellValue, right: &CellValue) -> bool {
    match (left, right) {
        (CellValue::Error(left), CellValue::Error(right)) => left == right,
        (CellValue::Error(_), _) | (_, CellValue::Error(_)) => false,
        (left, right) => compare(left, right) == Ordering::Equal,
    }
}

/// A text that is being put together, no longer than a cell may hold.
pub(super) struct TextBuilder<'a> {
    text: String,
    budget: &'a Budget,
}

impl<'a> TextBuilder<'a> {
    pub(super) fn new(budget: &'a Budget) -> Self {
        Self { text: String::new(), budget }
    }

    /// Adds to the text.
    ///
    /// # Errors
    ///
    /// `#VALUE!` when it becomes longer than a cell may hold.
    pub(super) fn push(&mut self, more: &str) -> Res<()> {
        if self.text.len() + more.len() > CELL_TEXT_BYTES_MAX {
            return Err(Fault::Error(CellError::Value));
        }
        self.budget.bytes(more.len() as u64)?;
        self.text.push_str(more);
        Ok(())
    }

    pub(super) fn finish(self) -> CellValue {
        CellValue::Text(self.text.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_joined_to_text_with_fifteen_digits() {
        for (number, text) in [
            (1.0 / 3.0, "0.333333333333333"),
            (-2.5, "-2.5"),
            (1e20, "100000000000000000000"),
            (1e21, "1E+21"),
            (1.25e-10, "1.25E-10"),
            (0.000_123, "0.000123"),
            (123_456_789_012_345_680.0, "123456789012346000"),
            (-0.0, "0"),
            (0.1 + 0.2, "0.3"),
        ] {
            assert_eq!(number_text(number), text, "{number:e}");
        }
    }

    #[test]
    fn values_of_different_kinds_have_an_order() {
        let text = |text: &str| CellValue::Text(text.into());
        assert_eq!(compare(&CellValue::Number(9.0), &text("1")), Ordering::Less);
        assert_eq!(compare(&text("z"), &CellValue::Bool(false)), Ordering::Less);
        assert_eq!(compare(&text("STRASSE"), &text("strasse")), Ordering::Equal);
        assert_eq!(compare(&CellValue::Empty, &text("")), Ordering::Equal);
        assert_eq!(compare(&CellValue::Empty, &CellValue::Number(0.0)), Ordering::Equal);
    }

    #[test]
    fn a_text_grows_up_to_what_a_cell_holds() {
        let budget = Budget::default();
        let mut text = TextBuilder::new(&budget);
        assert_eq!(text.push(&"x".repeat(CELL_TEXT_BYTES_MAX)), Ok(()));
        assert_eq!(text.push("x"), Err(Fault::Error(CellError::Value)));
    }
}
