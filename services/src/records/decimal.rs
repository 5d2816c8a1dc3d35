//! Exact decimals: amounts of money compare and add without rounding. Not for measurements, which are floats.

use dayshift_engine::Value;

/// How many digits may follow the point.
pub const DECIMAL_SCALE_MAX: u32 = 9;

/// How many digits may stand before the point.
pub const DECIMAL_WHOLE_DIGITS_MAX: usize = 28;

const UNITS: i128 = 10_i128.pow(DECIMAL_SCALE_MAX);
const LIMIT: i128 = 10_i128.pow(DECIMAL_WHOLE_DIGITS_MAX as u32) * UNITS;

/// One exact decimal, in units of 10^-9. Always within ±10^28.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Decimal(i128);

impl Decimal {
    /// Returns the decimal that a value stands for: text, a whole number, or a number with the digits that it prints with.
    pub(super) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Text(text) => Self::parse(text),
            Value::Int(number) => Some(Self(i128::from(*number) * UNITS)),
            Value::Float(number) if number.is_finite() => Self::parse(&number.to_string()),
            Value::Null | Value::Bool(_) | Value::Float(_) | Value::List(_) | Value::Map(_) => None,
        }
    }

    /// Returns the decimal that `text` writes: an optional sign, digits, and optionally a point with digits.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (negative, digits) = match text.as_bytes() {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            rest => (false, rest),
        };
        if let Some(units) = short(digits) {
            return Some(Self(if negative { -units } else { units }));
        }
        let mut units: i128 = 0;
        let mut fraction: Option<u32> = None;
        let mut seen = false;
        for byte in digits {
            match (byte, &mut fraction) {
                (b'.', None) if seen => fraction = Some(0),
                (b'0', Some(count)) if *count >= DECIMAL_SCALE_MAX => continue,
                (b'0'..=b'9', Some(count)) if *count < DECIMAL_SCALE_MAX => {
                    *count += 1;
                    units += i128::from(byte - b'0') * 10_i128.pow(DECIMAL_SCALE_MAX - *count);
                }
                (b'0'..=b'9', None) => {
                    units = units * 10 + i128::from(byte - b'0') * UNITS;
                    if units >= LIMIT {
                        return None;
                    }
                    seen = true;
                }
                _ => return None,
            }
        }
        let complete = seen && fraction != Some(0);
        complete.then_some(Self(if negative { -units } else { units }))
    }

    /// Returns the canonical text with exactly `scale` digits after the point, or nothing if the value has more.
    pub(super) fn text(self, scale: u32) -> Option<String> {
        let step = 10_i128.pow(DECIMAL_SCALE_MAX.checked_sub(scale)?);
        if self.0 % step != 0 {
            return None;
        }
        let magnitude = self.0.unsigned_abs();
        let (whole, rest) = (magnitude / UNITS.unsigned_abs(), magnitude % UNITS.unsigned_abs() / step.unsigned_abs());
        let sign = if self.0 < 0 { "-" } else { "" };
        Some(if scale == 0 {
            format!("{sign}{whole}")
        } else {
            format!("{sign}{whole}.{rest:0width$}", width = scale as usize)
        })
    }

    /// Returns the sum, or nothing if it is too large to keep.
    pub(super) fn plus(self, other: Self) -> Option<Self> {
        let sum = self.0 + other.0;
        (sum.abs() < LIMIT).then_some(Self(sum))
    }

    /// Returns the decimal with the other sign.
    pub(super) fn negated(self) -> Self {
        Self(-self.0)
    }
}

/// Returns the units of a number that fits into 64 bits with all its digits, as nearly all do; a scan reads thousands of them.
fn short(digits: &[u8]) -> Option<i128> {
    const DIGITS_MAX: usize = 18;
    if digits.len() > DIGITS_MAX {
        return None;
    }
    let (mut number, mut fraction) = (0_u64, None);
    for (at, byte) in digits.iter().enumerate() {
        match byte {
            b'0'..=b'9' => number = number * 10 + u64::from(byte - b'0'),
            b'.' if fraction.is_none() && at > 0 => fraction = Some(digits.len() - at - 1),
            _ => return None,
        }
    }
    let scale = u32::try_from(fraction.unwrap_or(0)).ok().filter(|scale| *scale <= DECIMAL_SCALE_MAX)?;
    let complete = !digits.is_empty() && fraction != Some(0);
    complete.then(|| i128::from(number) * i128::from(10_u64.pow(DECIMAL_SCALE_MAX - scale)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn canonical(text: &str, scale: u32) -> Option<String> {
        Decimal::parse(text)?.text(scale)
    }

    #[test]
    fn a_decimal_has_one_text_at_its_scale() {
        for (text, scale, expected) in [
            ("5", 2, Some("5.00")),
            ("5.0", 2, Some("5.00")),
            ("-0.5", 2, Some("-0.50")),
            ("-0", 2, Some("0.00")),
            ("007.10", 2, Some("7.10")),
            ("1.500", 2, Some("1.50")),
            ("1.505", 2, None),
            ("12", 0, Some("12")),
            ("0.123456789000", 9, Some("0.123456789")),
            ("0.1234567891", 9, None),
        ] {
            assert_eq!(canonical(text, scale).as_deref(), expected, "{text} at {scale}");
        }
    }

    #[test]
    fn what_is_no_decimal_is_refused() {
        for text in ["", "-", ".", ".5", "5.", "1e3", "1,000", "1 000", "--1", "1.2.3", "abc", "½"] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
    }

    #[test]
    fn whole_digits_are_limited() {
        let digits = |count: usize| Decimal::parse(&"9".repeat(count));
        assert!(digits(DECIMAL_WHOLE_DIGITS_MAX - 1).is_some());
        assert!(digits(DECIMAL_WHOLE_DIGITS_MAX).is_some());
        assert!(digits(DECIMAL_WHOLE_DIGITS_MAX + 1).is_none());
    }

    #[test]
    fn a_tenth_and_two_tenths_are_three_tenths() {
        let of = |number: f64| Decimal::of(&Value::Float(number)).expect("a short float");
        assert_eq!(of(0.1).plus(of(0.2)), Decimal::parse("0.3"));
    }

    proptest! {
        #[test]
        fn leading_noughts_change_nothing_but_the_way_of_reading(text in "[0-9]{0,9}(\\.[0-9]{0,9})?", sign in "[-+]?") {
            let long = format!("{sign}{}{text}", "0".repeat(20));
            let whole = text.starts_with(|first: char| first.is_ascii_digit());
            prop_assert_eq!(Decimal::parse(&format!("{sign}{text}")), Decimal::parse(&long).filter(|_| whole));
        }

        #[test]
        fn text_and_order_agree_with_cents(left in -1_000_000_000_i64..1_000_000_000, right in -1_000_000_000_i64..1_000_000_000) {
            let text = |cents: i64| {
                let sign = if cents < 0 { "-" } else { "" };
                format!("{sign}{}.{:02}", cents.abs() / 100, cents.abs() % 100)
            };
            let of = |cents: i64| Decimal::parse(&text(cents)).expect("two digits");
            prop_assert_eq!(of(left).cmp(&of(right)), left.cmp(&right));
            prop_assert_eq!(of(left).plus(of(right)), Some(of(left + right)));
            prop_assert_eq!(of(left).text(2), Some(text(left)));
        }
    }
}
