//! Cells and areas of cells in A1 form, and the range texts that name them. Not formulas: those have references of their own.

use std::fmt;
use std::str::FromStr;

use dayshift_engine::SmolStr;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use smol_str::SmolStrBuilder;

/// How many rows a worksheet has.
pub const GRID_ROWS_MAX: u32 = 1_048_576;
/// How many columns a worksheet has.
pub const GRID_COLUMNS_MAX: u32 = 16_384;

/// One cell's place, both numbers from 0. Ordered row by row; shown as `C4`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellRef {
    /// The row, from 0.
    pub row: u32,
    /// The column, from 0.
    pub column: u32,
}

impl CellRef {
    /// The last cell of the grid.
    pub const LAST: Self = Self { row: GRID_ROWS_MAX - 1, column: GRID_COLUMNS_MAX - 1 };

    /// Returns the cell at `row` and `column`, both from 0, if the grid has it.
    #[must_use]
    pub const fn new(row: u32, column: u32) -> Option<Self> {
        if row < GRID_ROWS_MAX && column < GRID_COLUMNS_MAX { Some(Self { row, column }) } else { None }
    }
}

impl fmt::Display for CellRef {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_column(formatter, self.column)?;
        // A buffer and one write: keys are made of these, thousands a read.
        let mut digits = [0_u8; 10];
        let mut start = digits.len();
        let mut number = self.row + 1;
        while number > 0 {
            start -= 1;
            digits[start] = b'0' + u8::try_from(number % 10).unwrap_or_default();
            number /= 10;
        }
        formatter.write_str(std::str::from_utf8(&digits[start..]).unwrap_or_default())
    }
}

impl FromStr for CellRef {
    type Err = BadReference;

    /// Reads `C4`, also in lower case and with `$`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match corner(text)? {
            Corner { row: Some(row), column: Some(column) } => Ok(Self { row, column }),
            Corner { .. } => Err(BadReference),
        }
    }
}

/// A box of cells, both corners included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Area {
    /// The top left cell.
    pub first: CellRef,
    /// The bottom right cell.
    pub last: CellRef,
}

impl Area {
    /// The whole grid.
    pub const WHOLE: Self = Self { first: CellRef { row: 0, column: 0 }, last: CellRef::LAST };

    /// Returns the box that `one` and `other` span, in whichever order they are given.
    #[must_use]
    pub fn spanning(one: CellRef, other: CellRef) -> Self {
        Self {
            first: CellRef { row: one.row.min(other.row), column: one.column.min(other.column) },
            last: CellRef { row: one.row.max(other.row), column: one.column.max(other.column) },
        }
    }

    /// Returns the box of one cell.
    #[must_use]
    pub const fn cell(cell: CellRef) -> Self {
        Self { first: cell, last: cell }
    }

    /// Returns whether this is one cell.
    #[must_use]
    pub fn is_cell(&self) -> bool {
        self.first == self.last
    }

    /// Returns whether `cell` lies inside.
    #[must_use]
    pub const fn contains(&self, cell: CellRef) -> bool {
        self.first.row <= cell.row
            && cell.row <= self.last.row
            && self.first.column <= cell.column
            && cell.column <= self.last.column
    }

    /// Returns how many rows it has.
    #[must_use]
    pub const fn rows(&self) -> u32 {
        self.last.row - self.first.row + 1
    }

    /// Returns how many columns it has.
    #[must_use]
    pub const fn columns(&self) -> u32 {
        self.last.column - self.first.column + 1
    }

    /// Returns how many cells it has.
    #[must_use]
    pub const fn cells(&self) -> u64 {
        self.rows() as u64 * self.columns() as u64
    }

    /// Returns whether it runs to the end of the grid downwards or to the right, so that its far corner names no data.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.last.row == GRID_ROWS_MAX - 1 || self.last.column == GRID_COLUMNS_MAX - 1
    }
}

impl fmt::Display for Area {
    /// Writes `A1`, `A1:C4`, `A:C`, `2:5`, `A2:C` or `A1:XFD1048576`, whichever is shortest and reads back as the same box.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all_rows = self.last.row == GRID_ROWS_MAX - 1;
        let all_columns = self.first.column == 0 && self.last.column == GRID_COLUMNS_MAX - 1;
        if self.is_cell() {
            self.first.fmt(formatter)
        } else if all_columns && (self.first.row > 0 || !all_rows) {
            write!(formatter, "{}:{}", self.first.row + 1, self.last.row + 1)
        } else if all_rows && self.first.row == 0 && !all_columns {
            write_column(formatter, self.first.column)?;
            formatter.write_str(":")?;
            write_column(formatter, self.last.column)
        } else if all_rows && !all_columns {
            write!(formatter, "{}:", self.first)?;
            write_column(formatter, self.last.column)
        } else {
            write!(formatter, "{}:{}", self.first, self.last)
        }
    }
}

impl FromStr for Area {
    type Err = BadReference;

    /// Reads a cell, a box, open columns (`A:G`), open rows (`2:5`) or a box without an end (`A2:C`, `A2:5`), also in lower case and
    /// with `$`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let Some((one, other)) = text.split_once(':') else { return text.parse().map(Self::cell) };
        let (one, other) = (corner(one)?, corner(other)?);
        let (rows, columns) = ((one.row, other.row), (one.column, other.column));
        let (top, bottom) = match rows {
            (Some(one), Some(other)) => (one.min(other), one.max(other)),
            (Some(only), None) | (None, Some(only)) => (only, GRID_ROWS_MAX - 1),
            (None, None) => (0, GRID_ROWS_MAX - 1),
        };
        let (left, right) = match columns {
            (Some(one), Some(other)) => (one.min(other), one.max(other)),
            (Some(only), None) | (None, Some(only)) => (only, GRID_COLUMNS_MAX - 1),
            (None, None) => (0, GRID_COLUMNS_MAX - 1),
        };
        Ok(Self { first: CellRef { row: top, column: left }, last: CellRef { row: bottom, column: right } })
    }
}

/// Text that is no reference in A1 form, or lies outside of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a cell or range in A1 form")]
pub struct BadReference;

/// A range text cut into the worksheet it names, if it names one, and the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RangeText {
    /// `'My tab'` or `Tab!`-less text in quotes: the whole worksheet.
    Worksheet(SmolStr),
    /// `Tab!rest`.
    Inside(SmolStr, SmolStr),
    /// Text without a worksheet: a box of the first worksheet, a named range, or a worksheet's name.
    Bare(SmolStr),
}

impl FromStr for RangeText {
    type Err = BadReference;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        if text.is_empty() {
            return Err(BadReference);
        }
        if let Some(quoted) = text.strip_prefix('\'') {
            let (name, rest) = unquote(quoted).ok_or(BadReference)?;
            return match rest {
                "" => Ok(Self::Worksheet(name)),
                rest => rest.strip_prefix('!').map(|rest| Self::Inside(name, rest.into())).ok_or(BadReference),
            };
        }
        Ok(match text.rsplit_once('!') {
            Some((worksheet, rest)) if !worksheet.is_empty() => Self::Inside(worksheet.into(), rest.into()),
            Some(_) => return Err(BadReference),
            None => Self::Bare(text.into()),
        })
    }
}

/// Returns `worksheet!rest`, the worksheet's name in quotes where a formula or a range needs them.
#[must_use]
pub(super) fn qualified(worksheet: &str, rest: &dyn fmt::Display) -> String {
    let plain = worksheet.chars().all(|character| character.is_alphanumeric() || character == '_')
        && !worksheet.starts_with(|character: char| character.is_ascii_digit())
        && worksheet.parse::<CellRef>().is_err();
    if plain { format!("{worksheet}!{rest}") } else { format!("'{}'!{rest}", worksheet.replace('\'', "''")) }
}

/// Serialises a value by its text form.
macro_rules! serde_as_text {
    ($name:ident) => {
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                SmolStr::deserialize(deserializer)?.parse().map_err(de::Error::custom)
            }
        }
    };
}

serde_as_text!(CellRef);
serde_as_text!(Area);

struct Corner {
    row: Option<u32>,
    column: Option<u32>,
}

fn corner(text: &str) -> Result<Corner, BadReference> {
    let text = text.trim();
    let unlocked = text.strip_prefix('$').unwrap_or(text);
    let letters = unlocked.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (column, digits) = unlocked.split_at(letters);
    // `$5` locks a row and `$C` a column; `$C$5` both.
    let digits = if letters > 0 { digits.strip_prefix('$').unwrap_or(digits) } else { digits };
    let column = if column.is_empty() { None } else { Some(parse_column(column).ok_or(BadReference)?) };
    let row = if digits.is_empty() { None } else { Some(parse_row(digits).ok_or(BadReference)?) };
    if row.is_none() && column.is_none() { Err(BadReference) } else { Ok(Corner { row, column }) }
}

fn parse_row(digits: &str) -> Option<u32> {
    if digits.len() > 7 || digits.starts_with('0') || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse::<u32>().ok()?.checked_sub(1).filter(|row| *row < GRID_ROWS_MAX)
}

fn parse_column(letters: &str) -> Option<u32> {
    if letters.len() > 3 {
        return None;
    }
    let number =
        letters.bytes().fold(0_u32, |number, letter| number * 26 + u32::from(letter.to_ascii_uppercase() - b'A') + 1);
    number.checked_sub(1).filter(|column| *column < GRID_COLUMNS_MAX)
}

fn write_column(formatter: &mut fmt::Formatter<'_>, column: u32) -> fmt::Result {
    let mut letters = [0_u8; 7];
    let mut start = letters.len();
    let mut number = column + 1;
    while number > 0 {
        start -= 1;
        number -= 1;
        letters[start] = b'A' + u8::try_from(number % 26).unwrap_or_default();
        number /= 26;
    }
    formatter.write_str(std::str::from_utf8(&letters[start..]).unwrap_or_default())
}

/// Takes a quoted name off the start of `text`, which follows the opening quote; a doubled quote stands for one.
fn unquote(text: &str) -> Option<(SmolStr, &str)> {
    let mut name = SmolStrBuilder::new();
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        if character != '\'' {
            name.push(character);
        } else if characters.next_if(|(_, next)| *next == '\'').is_some() {
            name.push('\'');
        } else {
            let name = name.finish();
            return (!name.is_empty()).then(|| (name, &text[at + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cell_ref() -> impl Strategy<Value = CellRef> {
        (0..GRID_ROWS_MAX, 0..GRID_COLUMNS_MAX).prop_map(|(row, column)| CellRef { row, column })
    }

    proptest! {
        #[test]
        fn a_cell_reads_back_from_its_text(cell in cell_ref()) {
            let text = cell.to_string();
            prop_assert_eq!(text.parse::<CellRef>(), Ok(cell));
            prop_assert_eq!(text.to_lowercase().parse::<CellRef>(), Ok(cell));
        }

        #[test]
        fn a_box_reads_back_from_its_text(one in cell_ref(), other in cell_ref()) {
            let area = Area::spanning(one, other);
            prop_assert_eq!(area.to_string().parse::<Area>(), Ok(area));
        }

        #[test]
        fn an_open_box_reads_back_from_its_text(one in cell_ref(), other in cell_ref(), open in 0_u8..8) {
            let mut area = Area::spanning(one, other);
            if open & 1 != 0 { area.first.row = 0; area.last.row = GRID_ROWS_MAX - 1; }
            if open & 2 != 0 { area.first.column = 0; area.last.column = GRID_COLUMNS_MAX - 1; }
            if open & 4 != 0 { area.last.row = GRID_ROWS_MAX - 1; }
            prop_assert_eq!(area.to_string().parse::<Area>(), Ok(area));
        }

        #[test]
        fn no_text_panics_the_parser(text in "\\PC{0,12}") {
            let _ = text.parse::<Area>();
            let _ = text.parse::<RangeText>();
        }

        #[test]
        fn a_worksheet_name_survives_quoting(name in "[a-zA-Z0-9 '._-]{1,12}") {
            let text = qualified(&name, &"A1");
            prop_assert_eq!(text.parse::<RangeText>(), Ok(RangeText::Inside(name.into(), "A1".into())));
        }
    }

    #[test]
    fn dollars_and_lower_case_name_the_same_cell() {
        for text in ["C4", "c4", "$C$4", "$c4", "C$4"] {
            assert_eq!(text.parse(), Ok(CellRef { row: 3, column: 2 }), "{text}");
        }
    }

    #[test]
    fn cells_order_row_by_row() {
        let mut cells: Vec<CellRef> = ["B1", "A2", "A1", "AA1"].map(|text| text.parse().expect("a cell")).into();
        cells.sort();
        let texts: Vec<String> = cells.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["A1", "B1", "AA1", "A2"]);
    }

    #[test]
    fn the_grid_ends_at_its_last_row_and_column() {
        assert_eq!("XFD1048576".parse(), Ok(CellRef::LAST));
        assert_eq!("XFE1".parse::<CellRef>(), Err(BadReference));
        assert_eq!("A1048577".parse::<CellRef>(), Err(BadReference));
        assert_eq!(CellRef::new(GRID_ROWS_MAX - 1, GRID_COLUMNS_MAX - 1), Some(CellRef::LAST));
        assert_eq!(CellRef::new(GRID_ROWS_MAX, 0), None);
        assert_eq!(CellRef::new(0, GRID_COLUMNS_MAX), None);
    }

    #[test]
    fn nonsense_is_no_reference() {
        for text in ["", "A", "1", "A0", "A01", "A1B", "A-1", "A1:", ":A1", "A1:B2:C3", "ABCD1", "A$$1"] {
            assert!(text.parse::<CellRef>().is_err(), "{text}");
        }
        assert!("A1:".parse::<Area>().is_err());
    }

    #[test]
    fn open_ranges_run_to_the_end_of_the_grid() {
        let columns: Area = "A:G".parse().expect("columns");
        assert_eq!((columns.first.row, columns.last.row, columns.last.column), (0, GRID_ROWS_MAX - 1, 6));
        let rows: Area = "2:5".parse().expect("rows");
        assert_eq!((rows.first.row, rows.last.row, rows.last.column), (1, 4, GRID_COLUMNS_MAX - 1));
        let tail: Area = "A2:C".parse().expect("columns from a row on");
        assert_eq!((tail.first.row, tail.last.row), (1, GRID_ROWS_MAX - 1));
    }

    #[test]
    fn a_range_text_names_its_worksheet_with_and_without_quotes() {
        let parse = |text: &str| text.parse::<RangeText>();
        assert_eq!(parse("Sheet1!A1"), Ok(RangeText::Inside("Sheet1".into(), "A1".into())));
        assert_eq!(parse("'It''s mine'!a:g"), Ok(RangeText::Inside("It's mine".into(), "a:g".into())));
        assert_eq!(parse("'My tab'"), Ok(RangeText::Worksheet("My tab".into())));
        assert_eq!(parse("A1:B2"), Ok(RangeText::Bare("A1:B2".into())));
        assert_eq!(parse("'open"), Err(BadReference));
        assert_eq!(parse("!A1"), Err(BadReference));
    }
}
