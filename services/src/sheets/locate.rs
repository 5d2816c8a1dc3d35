//! From the names in a call to the workbook, worksheet and area that they mean, traced. Does not read cells.

use dayshift_engine::{Collection, Frame, Rejection, SmolStr};

use super::a1::{Area, CellRef, GRID_COLUMNS_MAX, GRID_ROWS_MAX, RangeText, qualified};
use super::cell::Cell;
use super::state::{Book, Name, SheetsState};

/// A range that was found.
pub(super) struct Located<'a> {
    /// The workbook's exact name.
    pub(super) name: &'a SmolStr,
    pub(super) book: &'a Book,
    /// The worksheet's exact name.
    pub(super) worksheet: &'a SmolStr,
    pub(super) cells: &'a Collection<CellRef, Cell>,
    pub(super) area: Area,
}

impl Located<'_> {
    /// Returns `area` of this worksheet as text that a call can give again.
    pub(super) fn text_of(&self, area: Area) -> String {
        if area == Area::WHOLE {
            qualified(self.worksheet, &"").trim_end_matches('!').to_owned()
        } else {
            qualified(self.worksheet, &area)
        }
    }
}

impl SheetsState {
    /// Returns the workbook that `text` names or that has it as its id.
    ///
    /// # Errors
    ///
    /// `sheets/unknown-book`.
    pub(super) fn book(&self, frame: &Frame, text: &str) -> Result<(&SmolStr, &Book), Rejection> {
        let mut key = Name(text.into());
        if !self.books.contains(frame, &key) {
            match self.ids.get(text) {
                Some(name) => key = Name(name.clone()),
                None => {
                    // That there is none of that id rests on the whole list.
                    let _ = self.books.list(frame);
                    return Err(unknown_book(text));
                }
            }
            if !self.books.contains(frame, &key) {
                return Err(unknown_book(text));
            }
        }
        let found = self.contents.get_key_value(&key.0).map(|(name, book)| (name, &**book));
        found.ok_or_else(|| unknown_book(text))
    }

    /// Returns what `range` means in the workbook `book`.
    ///
    /// # Errors
    ///
    /// `sheets/unknown-book`, `sheets/unknown-worksheet`, `sheets/bad-range`, `sheets/outside-grid`.
    pub(super) fn locate(&self, frame: &Frame, book: &str, range: &str) -> Result<Located<'_>, Rejection> {
        let (name, book) = self.book(frame, book)?;
        let text: RangeText = range.parse().map_err(|_| bad_range(range))?;
        match text {
            RangeText::Worksheet(worksheet) => located(name, book, book.worksheet(frame, &worksheet)?, Area::WHOLE),
            RangeText::Inside(worksheet, rest) => {
                let worksheet = book.worksheet(frame, &worksheet)?;
                let area = rest.parse().map_err(|_| bad_area(range, &rest))?;
                located(name, book, worksheet, area)
            }
            RangeText::Bare(text) => {
                if let Ok(area) = text.parse() {
                    let order = book.order(frame);
                    let first = order.first().ok_or_else(|| bad_range(range))?;
                    book.worksheets.get(frame, &Name((*first).clone()));
                    return located(name, book, first, area);
                }
                if let Some(named) = book.name(frame, &text) {
                    return located(name, book, book.worksheet(frame, &named.0)?, named.1);
                }
                let worksheet = book.worksheet(frame, &text).map_err(|_| bad_area(range, &text))?;
                located(name, book, worksheet, Area::WHOLE)
            }
        }
    }
}

impl Book {
    /// Returns the exact name of the worksheet `text`; capital and small letters make no difference.
    ///
    /// # Errors
    ///
    /// `sheets/unknown-worksheet`.
    pub(super) fn worksheet(&self, frame: &Frame, text: &str) -> Result<&SmolStr, Rejection> {
        if self.worksheets.contains(frame, &Name(text.into()))
            && let Some((exact, _)) = self.cells.get_key_value(text)
        {
            return Ok(exact);
        }
        let order = self.order(frame);
        let found = order.iter().find(|name| same_name(name, text)).copied();
        if let Some(exact) = found {
            self.worksheets.get(frame, &Name(exact.clone()));
        }
        found.ok_or_else(|| {
            let names: Vec<&str> = order.iter().map(|name| name.as_str()).collect();
            Rejection::new(
                "sheets/unknown-worksheet",
                format!("there is no worksheet '{text}'; the workbook has: {}", names.join(", ")),
            )
        })
    }

    /// Returns the worksheet and area that the name `text` stands for.
    pub(super) fn name(&self, frame: &Frame, text: &str) -> Option<(SmolStr, Area)> {
        let range = self.names.get(frame, &Name(text.into())).cloned().or_else(|| {
            let exact = self.names.list(frame).find(|name| same_name(&name.0, text))?;
            self.names.get(frame, exact).cloned()
        })?;
        Some((range.worksheet, range.area))
    }
}

/// Whether two names of worksheets or ranges mean the same one.
pub(super) fn same_name(one: &str, other: &str) -> bool {
    one == other || one.to_lowercase() == other.to_lowercase()
}

pub(super) fn bad_range(range: &str) -> Rejection {
    Rejection::new(
        "sheets/bad-range",
        format!("'{range}' is not a range; give a worksheet and A1 form, such as Sheet1!A1:C4, Sheet1!A:G or Sheet1"),
    )
}

fn located<'a>(
    name: &'a SmolStr,
    book: &'a Book,
    worksheet: &'a SmolStr,
    area: Area,
) -> Result<Located<'a>, Rejection> {
    let cells = book.cells.get(worksheet).ok_or_else(|| bad_range(worksheet))?;
    Ok(Located { name, book, worksheet, cells, area })
}

/// Says whether a range is nonsense or only beyond the grid.
fn bad_area(range: &str, rest: &str) -> Rejection {
    let looks_right = rest.split(':').all(|corner| {
        let corner: String = corner.chars().filter(|character| *character != '$').collect();
        let digits = corner.trim_start_matches(|character: char| character.is_ascii_alphabetic());
        !corner.is_empty()
            && corner.len() - digits.len() <= 3
            && !digits.is_empty()
            && !digits.starts_with('0')
            && digits.bytes().all(|byte| byte.is_ascii_digit())
    });
    if looks_right {
        Rejection::new(
            "sheets/outside-grid",
            format!(
                "'{range}' lies outside of the grid, which has {GRID_ROWS_MAX} rows and {GRID_COLUMNS_MAX} columns (A to XFD)"
            ),
        )
    } else {
        bad_range(range)
    }
}

fn unknown_book(text: &str) -> Rejection {
    Rejection::new("sheets/unknown-book", format!("there is no workbook '{text}'; sheets.books lists them"))
}
