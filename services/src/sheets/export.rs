//! Workbooks into files: CSV through the `csv` crate, XLSX through `rust_xlsxwriter`. The same workbook at the same simulated time gives the
//! same bytes; one that was imported and not changed gives the bytes that it came from.

use dayshift_engine::{Collection, Looking, Rejection};
use rust_xlsxwriter::{DocProperties, ExcelDateTime, Format, Workbook, Worksheet, XlsxError};

use super::a1::{Area, CellRef, qualified};
use super::cell::{Cell, CellValue};
use super::exact;
use super::format::formatted;
use super::state::{Book, SheetsState};

impl SheetsState {
    /// Returns a worksheet of a workbook as CSV with what its cells show, the first one if `worksheet` is empty.
    ///
    /// # Errors
    ///
    /// `sheets/unknown-book`, `sheets/unknown-worksheet`, `sheets/cannot-export`.
    pub fn export_csv(&self, book: &str, worksheet: &str, looking: &Looking<'_>) -> Result<Vec<u8>, Rejection> {
        let (_, book) = self.book(looking.frame, book)?;
        let order = book.order(looking.frame);
        let first = order.first().copied();
        let worksheet = if worksheet.is_empty() {
            first.ok_or_else(no_worksheet)?
        } else {
            book.worksheet(looking.frame, worksheet)?
        };
        let cells = book.cells.get(worksheet).ok_or_else(no_worksheet)?;
        // A CSV file became a workbook with one worksheet.
        if let Some(source) = book.source.as_ref().filter(|source| source.format == "csv") {
            let _ = cells.scan(looking.frame);
            return looking.load(&source.content).map(|bytes| bytes.to_vec());
        }
        write_csv(cells, looking).map_err(|error| cannot_export(&error.to_string()))
    }

    /// Returns a workbook as XLSX: values, formulas with what they came to, number formats, merged cells and named ranges.
    ///
    /// # Errors
    ///
    /// `sheets/unknown-book`, `sheets/cannot-export` when the format has no room for it, as for long names of worksheets.
    pub fn export_xlsx(&self, book: &str, looking: &Looking<'_>) -> Result<Vec<u8>, Rejection> {
        let (_, book) = self.book(looking.frame, book)?;
        if let Some(source) = book.source.as_ref().filter(|source| source.format == "xlsx") {
            book.scan_all(looking);
            return looking.load(&source.content).map(|bytes| bytes.to_vec());
        }
        let (file, is_marked) = write_xlsx(book, looking).map_err(|error| cannot_export(&error.to_string()))?;
        if !is_marked {
            return Ok(file);
        }
        exact::unmarked(&file).map_err(|error| cannot_export(&error.to_string()))
    }
}

impl Book {
    fn scan_all(&self, looking: &Looking<'_>) {
        for worksheet in self.order(looking.frame) {
            if let Some(cells) = self.cells.get(worksheet) {
                let _ = cells.scan(looking.frame);
            }
        }
        let _ = self.names.scan(looking.frame);
    }
}

fn write_csv(cells: &Collection<CellRef, Cell>, looking: &Looking<'_>) -> Result<Vec<u8>, csv::Error> {
    let filled: Vec<(&CellRef, &Cell)> = cells.scan(looking.frame).filter(|(_, cell)| !cell.is_blank()).collect();
    let width = filled.iter().map(|(at, _)| at.column as usize + 1).max().unwrap_or_default();
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    let mut row = vec![String::new(); width];
    let mut filled = filled.into_iter().peekable();
    let mut number = 0;
    while filled.peek().is_some() {
        row.iter_mut().for_each(String::clear);
        while let Some((at, cell)) = filled.next_if(|(at, _)| at.row == number) {
            row[at.column as usize] = formatted(cell).into();
        }
        writer.write_record(&row)?;
        number += 1;
    }
    writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))
}

/// Returns the file, and whether there are marks in it ([`exact`]).
fn write_xlsx(book: &Book, looking: &Looking<'_>) -> Result<(Vec<u8>, bool), XlsxError> {
    let mut file = Workbook::new();
    let mut is_marked = false;
    // Otherwise the library asks the host for the time.
    let created = ExcelDateTime::from_timestamp(looking.time.as_millis().div_euclid(1_000))?;
    file.set_properties(&DocProperties::new().set_creation_datetime(&created));
    for name in book.order(looking.frame) {
        let sheet = file.add_worksheet();
        sheet.set_name(name.as_str())?;
        let key = super::state::Name(name.clone());
        if let Some(entry) = book.worksheets.get(looking.frame, &key) {
            for Area { first, last } in entry.merged.iter() {
                // Columns are below 16,384.
                let (left, right) = (first.column as u16, last.column as u16);
                sheet.merge_range(first.row, left, last.row, right, "", &Format::new())?;
            }
        }
        let cells = book.cells.get(name).into_iter().flat_map(|cells| cells.scan(looking.frame));
        for (at, cell) in cells {
            is_marked |= write_cell(sheet, *at, cell)?;
        }
    }
    for (name, range) in book.names.scan(looking.frame) {
        let Area { first, last } = range.area;
        let area = if range.area.is_cell() { locked(first) } else { format!("{}:{}", locked(first), locked(last)) };
        file.define_name(name.0.as_str(), &format!("={}", qualified(&range.worksheet, &area)))?;
    }
    Ok((file.save_to_buffer()?, is_marked))
}

/// Returns `$C$4`.
fn locked(at: CellRef) -> String {
    let text = at.to_string();
    let letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    format!("${}${}", &text[..letters], &text[letters..])
}

/// Writes a cell, and returns whether it has a mark.
fn write_cell(sheet: &mut Worksheet, at: CellRef, cell: &Cell) -> Result<bool, XlsxError> {
    let (row, column) = (at.row, at.column as u16);
    let format =
        if cell.format.is_empty() { Format::new() } else { Format::new().set_num_format(cell.format.as_str()) };
    if let Some(text) = cell.formula() {
        let (formula, is_marked) = exact::formula(text, &cell.value);
        sheet.write_formula_with_format(row, column, formula, &format)?;
        return Ok(is_marked);
    }
    match &cell.value {
        CellValue::Number(number) => sheet.write_number_with_format(row, column, *number, &format)?,
        CellValue::Text(text) => sheet.write_string_with_format(row, column, text.as_str(), &format)?,
        CellValue::Bool(truth) => sheet.write_boolean_with_format(row, column, *truth, &format)?,
        CellValue::Error(error) => sheet.write_formula_with_format(row, column, exact::error(*error), &format)?,
        CellValue::Empty => sheet.write_blank(row, column, &format)?,
    };
    Ok(matches!(cell.value, CellValue::Error(_)))
}

fn no_worksheet() -> Rejection {
    cannot_export("the workbook has no worksheet")
}

fn cannot_export(why: &str) -> Rejection {
    Rejection::new("sheets/cannot-export", format!("the workbook cannot be written to this format: {why}"))
}
