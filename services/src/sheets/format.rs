//! What a cell shows: its value through its number format. The format codes are those of ECMA-376, and `ssfmt` (a port of SheetJS' SSF,
//! measured against its vectors) writes them.

use dayshift_engine::SmolStr;
use ssfmt::{FormatOptions, NumberFormat};

use super::cell::{Cell, CellValue};

/// The format code of a date alone.
pub(super) const DATE: &str = "yyyy-mm-dd";
/// The format code of a date with a time.
pub(super) const DATE_TIME: &str = "yyyy-mm-dd hh:mm:ss";
/// The format code of a time of day.
pub(super) const TIME: &str = "hh:mm:ss";
/// The longest format code, in bytes.
pub const FORMAT_BYTES_MAX: usize = 255;

/// From here on, a whole number is shown in scientific notation, because a number no longer holds every digit of it.
const WHOLE_SHOWN_MAX: f64 = 1e15;

/// Returns what `cell` shows; nothing for a cell without a value.
#[must_use]
pub fn formatted(cell: &Cell) -> SmolStr {
    match &cell.value {
        CellValue::Empty => SmolStr::default(),
        CellValue::Text(text) => formatted_text(text, &cell.format),
        CellValue::Bool(truth) => if *truth { "TRUE" } else { "FALSE" }.into(),
        CellValue::Error(error) => error.as_str().into(),
        CellValue::Number(number) => formatted_number(*number, &cell.format),
    }
}

/// Returns whether `code` is a format that this office can show numbers in.
#[must_use]
pub fn is_known_format(code: &str) -> bool {
    code.len() <= FORMAT_BYTES_MAX && (code.is_empty() || NumberFormat::parse(code).is_ok())
}

/// Returns whether numbers in the format `code` are dates or times.
pub(super) fn is_date_format(code: &str) -> bool {
    !code.is_empty() && NumberFormat::parse(code).is_ok_and(|format| format.is_date_format())
}

fn formatted_number(number: f64, code: &str) -> SmolStr {
    if code.is_empty() || code.eq_ignore_ascii_case("general") || code == "@" {
        return general(number);
    }
    // A code that cannot be read shows the number plainly, as it does in other offices.
    ssfmt::format(number, code, &FormatOptions::default()).map_or_else(|_| general(number), SmolStr::from)
}

fn general(number: f64) -> SmolStr {
    if number.fract() == 0.0 && number.abs() < WHOLE_SHOWN_MAX {
        // Adding zero turns -0 into 0.
        return smol_str::format_smolstr!("{}", number + 0.0);
    }
    ssfmt::format(number, "General", &FormatOptions::default())
        .map_or_else(|_| smol_str::format_smolstr!("{number}"), SmolStr::from)
}

/// A format has a place for text only in its fourth section, or if it is `@` with more around it.
fn formatted_text(text: &SmolStr, code: &str) -> SmolStr {
    if !code.contains('@') || code == "@" {
        return text.clone();
    }
    match NumberFormat::parse(code) {
        Ok(format) => format.format_text(text, &FormatOptions::default()).into(),
        Err(_) => text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(number: f64, code: &str) -> String {
        formatted_number(number, code).to_string()
    }

    #[test]
    fn a_number_shows_through_its_format() {
        for (number, code, text) in [
            (5.0, "", "5"),
            (5.0, "0.00", "5.00"),
            (0.05, "0%", "5%"),
            (0.1234, "0.00%", "12.34%"),
            (1234.5, "#,##0.00", "1,234.50"),
            (12.5, "[$€]#,##0.00", "€12.50"),
            (12.5, "\"$\"#,##0.00", "$12.50"),
            (-12.5, "\"$\"#,##0.00", "-$12.50"),
            (46097.0, DATE, "2026-03-16"),
            (46097.375, DATE_TIME, "2026-03-16 09:00:00"),
            (0.5, TIME, "12:00:00"),
            (46097.0, "m/d/yyyy", "3/16/2026"),
            (1500.0, "0.00E+00", "1.50E+03"),
            (7.0, "000", "007"),
        ] {
            assert_eq!(shown(number, code), text, "{number} as {code}");
        }
    }

    #[test]
    fn a_plain_number_shows_without_noise() {
        for (number, text) in [
            (0.1 + 0.2, "0.3"),
            (-0.0, "0"),
            (1.5, "1.5"),
            (1_234_567_890_123.0, "1234567890123"),
            (1.0 / 3.0, "0.333333333"),
            (1e20, "1E+20"),
        ] {
            assert_eq!(shown(number, ""), text);
        }
    }

    #[test]
    fn a_code_that_cannot_be_read_shows_the_number_plainly() {
        assert!(!is_known_format("[>"));
        assert_eq!(shown(5.0, "[>"), "5");
        assert!(is_known_format(&"0".repeat(FORMAT_BYTES_MAX)));
        assert!(!is_known_format(&"0".repeat(FORMAT_BYTES_MAX + 1)));
    }

    #[test]
    fn dates_are_told_from_numbers_by_their_format() {
        assert!(is_date_format(DATE));
        assert!(!is_date_format("0.00"));
        assert!(!is_date_format(""));
    }
}
