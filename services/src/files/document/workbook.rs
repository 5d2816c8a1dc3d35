//! The text of a workbook: each worksheet under a line with its name, its rows as lines of comma-separated values (RFC 4180), so that a row
//! is a row whatever its cells hold. Values, no formulas: those are for the `sheets` service.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use calamine::{DataRef, ExcelDateTime, Reader, SheetType, SheetVisible, Xlsx};
use dayshift_engine::Budget;

use super::package::Package;
use super::{DOCUMENT_CELLS_MAX, DOCUMENT_TEXT_BYTES_MAX, Text, Unreadable};

/// From how many empty rows on a line stands for them.
const EMPTY_ROWS_MIN: usize = 10;

/// How many columns a worksheet has at most, in any program.
pub(super) const COLUMNS_MAX: usize = 16_384;

pub(super) fn text_of(bytes: &[u8], budget: &Budget) -> Result<Text, Unreadable> {
    // The library unpacks whole parts at once.
    Package::open(bytes, budget)?.check_size()?;
    // On some damaged files the library panics (a row number that overflows): that is a bad file, and must not end an episode.
    catch_unwind(AssertUnwindSafe(|| xlsx(bytes)))
        .unwrap_or_else(|_| Err(damaged("its cells stand in places that no worksheet has")))
}

fn xlsx(bytes: &[u8]) -> Result<Text, Unreadable> {
    let mut file: Xlsx<Cursor<&[u8]>> = Xlsx::new(Cursor::new(bytes)).map_err(damaged)?;
    let sheets: Vec<(String, bool)> = file
        .sheets_metadata()
        .iter()
        .filter(|sheet| sheet.typ == SheetType::WorkSheet)
        .map(|sheet| (sheet.name.clone(), sheet.visible != SheetVisible::Visible))
        .collect();
    let mut rows = Rows::default();
    for (name, is_hidden) in sheets {
        rows.open(&name, is_hidden);
        let mut reader = file.worksheet_cells_reader(&name).map_err(damaged)?;
        let mut at = 0;
        while let Some(cell) = reader.next_cell().map_err(damaged)? {
            let text = shown(cell.get_value());
            if text.is_empty() {
                continue;
            }
            let (line, column) = (cell.get_position().0 as usize, cell.get_position().1 as usize);
            if line < at || column >= COLUMNS_MAX || (line == at && column < rows.row.len()) {
                return Err(damaged("its cells are in no order"));
            }
            if line > at {
                rows.end_row(1);
                rows.empty += line - at - 1;
                at = line;
            }
            rows.row.resize(column, String::new());
            rows.place(text, 1);
            if rows.is_full() {
                break;
            }
        }
        rows.end_row(1);
    }
    Ok(rows.into_text())
}

/// Returns a value as people read it.
fn shown(value: &DataRef<'_>) -> String {
    match value {
        DataRef::Empty => String::new(),
        DataRef::Int(number) => number.to_string(),
        DataRef::Float(number) => number.to_string(),
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => text.clone(),
        DataRef::SharedString(text) => (*text).to_owned(),
        DataRef::Bool(truth) => if *truth { "TRUE" } else { "FALSE" }.to_owned(),
        DataRef::Error(error) => error.to_string(),
        DataRef::DateTime(time) => show_time(time),
    }
}

fn show_time(time: &ExcelDateTime) -> String {
    if time.is_duration() {
        let seconds = (time.as_f64() * 86_400.0).round();
        let (hours, rest) = ((seconds / 3_600.0).trunc(), seconds.abs() % 3_600.0);
        return format!("{hours}:{:02}:{:02}", (rest / 60.0).trunc(), rest % 60.0);
    }
    let (year, month, day, hours, minutes, seconds, _) = time.to_ymd_hms_milli();
    let date = format!("{year:04}-{month:02}-{day:02}");
    if (hours, minutes, seconds) == (0, 0, 0) { date } else { format!("{date} {hours:02}:{minutes:02}:{seconds:02}") }
}

/// The rows of a workbook on their way into text.
#[derive(Default)]
pub(super) struct Rows {
    text: Text,
    sheets: usize,
    cells: usize,
    /// The cells of the current row, and how much text is in them.
    row: Vec<String>,
    row_bytes: usize,
    /// Rows without a value, which only count if another row follows.
    empty: usize,
}

impl Rows {
    /// Begins the worksheet `name`.
    pub(super) fn open(&mut self, name: &str, is_hidden: bool) {
        self.empty = 0;
        self.sheets += 1;
        self.text.line(&format!("[sheet {name}{}]", if is_hidden { ", hidden" } else { "" }));
    }

    /// Adds `times` cells with this text at the end of the current row.
    pub(super) fn place(&mut self, text: String, times: usize) {
        for _ in 0..times.min(COLUMNS_MAX.saturating_sub(self.row.len())) {
            self.row_bytes += text.len();
            if self.row_bytes > DOCUMENT_TEXT_BYTES_MAX {
                self.text.is_cut = true;
                return;
            }
            self.row.push(text.clone());
        }
    }

    /// Ends the current row, which stands for `times` equal ones. Empty cells at its end stand for the rest of the worksheet.
    pub(super) fn end_row(&mut self, times: usize) {
        self.row_bytes = 0;
        let mut row = std::mem::take(&mut self.row);
        row.truncate(row.iter().rposition(|text| !text.is_empty()).map_or(0, |last| last + 1));
        if row.is_empty() {
            self.empty = self.empty.saturating_add(times);
            return;
        }
        if self.empty >= EMPTY_ROWS_MIN {
            self.text.line(&format!("[{} empty rows]", self.empty));
        } else {
            (0..self.empty).for_each(|_| self.text.push("\n"));
        }
        self.empty = 0;
        let mut line = csv::Writer::from_writer(Vec::new());
        // Writing texts into memory gives no error.
        let written = line.write_record(&row).ok().and_then(|()| line.into_inner().ok()).unwrap_or_default();
        let line = String::from_utf8_lossy(&written);
        for _ in 0..times {
            if self.is_full() {
                break;
            }
            self.cells += row.len();
            self.text.push(&line);
        }
    }

    /// Returns whether no more is taken.
    pub(super) fn is_full(&self) -> bool {
        self.text.is_cut || self.cells >= DOCUMENT_CELLS_MAX
    }

    pub(super) fn into_text(mut self) -> Text {
        self.text.is_cut |= self.is_full();
        self.text.parts = Some(("worksheets", self.sheets));
        self.text
    }
}

fn damaged(why: impl ToString) -> Unreadable {
    Unreadable::Damaged { what: "a workbook", why: why.to_string() }
}
