//! Files into workbooks: CSV through the `csv` crate, XLSX through `calamine`. Decides; the cells go into the events, and the file's bytes are
//! kept as long as nothing is changed.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use calamine::{DataRef, Reader, SheetType, Xlsx, XlsxError};
use dayshift_engine::{BlobId, Context, Decision, Rejection, SmolStr, ToolCall, Value, map};

use super::a1::{Area, CellRef, RangeText};
use super::cell::{CELL_TEXT_BYTES_MAX, CellError, CellValue, FORMULA_BYTES_MAX, Input};
use super::event::{CellWritten, SheetsEvent};
use super::format::FORMAT_BYTES_MAX;
use super::locate::same_name;
use super::state::{Book, Name, SheetsState};
use super::structure::{FIRST_WORKSHEET, worksheet_name};
use super::typed::typed;
use super::write::{Mode, entered};
use crate::service::Desk;

/// The largest file that is imported, in bytes (32 MiB).
pub const IMPORT_BYTES_MAX: usize = 32 << 20;
/// The most cells that a file may have.
pub const IMPORT_CELLS_MAX: usize = 200_000;
/// The most text and formulas that a file may have, in bytes (32 MiB), so that they fit into one record.
pub const IMPORT_TEXT_BYTES_MAX: usize = 32 << 20;

/// Days between the epochs of the two date systems that files use.
const DATES_1904_DAYS: f64 = 1_462.0;

type XlsxFile<'a> = Xlsx<Cursor<&'a [u8]>>;
type Cells = BTreeMap<CellRef, CellWritten>;

/// Why a worksheet cannot be read: the file is broken, or we do not take it.
enum Fault {
    Broken(XlsxError),
    Refused(Rejection),
}

impl Fault {
    fn into_rejection(self) -> Rejection {
        match self {
            Self::Broken(error) => bad_xlsx(&error),
            Self::Refused(rejection) => rejection,
        }
    }
}

impl From<XlsxError> for Fault {
    fn from(error: XlsxError) -> Self {
        Self::Broken(error)
    }
}

impl From<Rejection> for Fault {
    fn from(rejection: Rejection) -> Self {
        Self::Refused(rejection)
    }
}

/// A worksheet as a file has it.
#[derive(Default)]
struct Sheet {
    name: SmolStr,
    cells: Vec<CellWritten>,
    merged: Vec<Area>,
}

/// A file, read.
#[derive(Default)]
struct File {
    sheets: Vec<Sheet>,
    names: Vec<(SmolStr, SmolStr, Area)>,
    text_bytes: usize,
    cells: usize,
}

impl SheetsState {
    pub(super) fn import(
        &self,
        call: &ToolCall,
        desk: &Desk,
        context: &Context<'_>,
    ) -> Result<Decision<SheetsEvent>, Rejection> {
        let bytes = blob(call.text("blob"), context)?;
        let format = call.text("format");
        let only = call.optional_text("worksheet");
        let file = if format == "csv" {
            let mode = Mode::named(call.optional_text("mode"), Mode::User);
            File::of_csv(&bytes, worksheet_name(only.unwrap_or(FIRST_WORKSHEET))?, mode)?
        } else {
            // On some damaged files the parser panics (a row number that overflows): that is a bad file, and must not end an episode.
            catch_unwind(AssertUnwindSafe(|| File::of_xlsx(&bytes, only))).unwrap_or_else(|_| Err(damaged_xlsx()))?
        };
        let mut events = Vec::new();
        let is_new = !self.books.contains(context.frame, &Name(call.text("book").trim().into()));
        let fresh;
        let (name, book) = if is_new {
            let (name, id) = self.new_book(call.text("book"), context)?;
            fresh = (name.clone(), Book::new(&name));
            events.push(SheetsEvent::BookCreated { book: name, id });
            (&fresh.0, &fresh.1)
        } else {
            self.book(context.frame, call.text("book").trim())?
        };
        let answer = map! {
            "book" => name.clone(),
            "worksheets" => file.sheets.iter().map(|sheet| sheet.name.clone()).collect::<Value>(),
            "cells" => file.cells,
        };
        let is_whole = is_new && (format == "csv" || only.is_none());
        events.extend(self.settle(name, book, file.events(name, book, context)?, desk, context)?);
        if is_whole {
            let source = context.store(bytes.to_vec());
            events.push(SheetsEvent::BookImported { book: name.clone(), format: format.into(), source });
        }
        Ok(Decision::change(events, answer))
    }
}

impl File {
    fn of_csv(bytes: &[u8], worksheet: SmolStr, mode: Mode) -> Result<Self, Rejection> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            bad_csv(&format!("it is not UTF-8 text (at byte {}); convert it first", error.valid_up_to()))
        })?;
        let text = with_blank_lines(text.strip_prefix('\u{feff}').unwrap_or(text));
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter(&text))
            .from_reader(text.as_bytes());
        let mut file = Self::default();
        let mut sheet = Sheet { name: worksheet, ..Sheet::default() };
        let mut record = csv::StringRecord::new();
        let mut row = 0;
        while reader.read_record(&mut record).map_err(|error| bad_csv(&error.to_string()))? {
            for (column, field) in (0_u32..).zip(&record) {
                if field.is_empty() {
                    continue;
                }
                let at =
                    CellRef::new(row, column).ok_or_else(|| bad_csv("it has more rows or columns than a worksheet"))?;
                file.count(field.len())?;
                sheet.cells.extend(csv_cell(field, at, mode)?);
            }
            row += 1;
        }
        file.sheets.push(sheet);
        Ok(file)
    }

    fn of_xlsx(bytes: &[u8], only: Option<&str>) -> Result<Self, Rejection> {
        let mut xlsx: XlsxFile<'_> = Xlsx::new(Cursor::new(bytes)).map_err(|error| bad_xlsx(&error))?;
        let sheets = xlsx.sheets_metadata().iter().filter(|sheet| sheet.typ == SheetType::WorkSheet);
        let mut names: Vec<String> = sheets.map(|sheet| sheet.name.clone()).collect();
        if names.is_empty() {
            return Err(Rejection::new("sheets/bad-xlsx", "the XLSX file has no worksheet; add one"));
        }
        if let Some(only) = only {
            let known = names.join(", ");
            names.retain(|name| same_name(name, only));
            if names.is_empty() {
                return Err(Rejection::new(
                    "sheets/unknown-worksheet",
                    format!("the file has no worksheet '{only}'; it has: {known}"),
                ));
            }
        }
        let mut file = Self::default();
        for name in &names {
            let sheet = file.xlsx_sheet(&mut xlsx, name)?;
            file.sheets.push(sheet);
        }
        let defined = xlsx.defined_names().to_vec();
        file.names = defined.iter().filter_map(|(name, formula)| file.named(name, formula)).collect();
        Ok(file)
    }

    /// Reads one worksheet, in passes over its stream instead of a dense table: a file may fill the first and the last cell alone.
    fn xlsx_sheet(&mut self, xlsx: &mut XlsxFile<'_>, name: &str) -> Result<Sheet, Rejection> {
        let mut cells = BTreeMap::new();
        let unknown = self.xlsx_values(xlsx, name, &mut cells).map_err(Fault::into_rejection)?;
        self.xlsx_formulas(xlsx, name, &mut cells).map_err(Fault::into_rejection)?;
        give_unknown_errors(&mut cells, unknown);
        self.xlsx_formats(xlsx, name, &mut cells).map_err(Fault::into_rejection)?;
        let merged = xlsx.merge_cells_by_sheet_name(name).map_err(|error| bad_xlsx(&error))?;
        let merged = merged.iter().map(|area| Ok(Area { first: place(area.start)?, last: place(area.end)? }));
        let mut merged = merged.collect::<Result<Vec<_>, Rejection>>()?;
        merged.sort_unstable();
        Ok(Sheet { name: worksheet_name(name)?, cells: cells.into_values().collect(), merged })
    }

    /// Reads the values. Returns the errors in cells that the parser does not know and whose places it does not tell, in order.
    fn xlsx_values(&mut self, xlsx: &mut XlsxFile<'_>, name: &str, cells: &mut Cells) -> Result<Vec<CellError>, Fault> {
        let shift = if xlsx.has_1904_epoch() { DATES_1904_DAYS } else { 0.0 };
        let mut reader = xlsx.worksheet_cells_reader(name)?;
        let mut unknown = Vec::new();
        loop {
            let cell = match reader.next_cell() {
                Ok(Some(cell)) => cell,
                Ok(None) => return Ok(unknown),
                // An error that came after the parser's list, as #SPILL!. The parser goes on behind it.
                Err(XlsxError::CellError(error)) => {
                    self.count(0)?;
                    unknown.push(error.parse().unwrap_or(CellError::NotAvailable));
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            let value = xlsx_value(cell.get_value(), shift);
            if value == CellValue::Empty {
                continue;
            }
            self.count(if let CellValue::Text(text) = &value { text.len() } else { 0 })?;
            let at = place(cell.get_position())?;
            cells.insert(at, CellWritten { at, value, format: Some(SmolStr::default()), input: None });
        }
    }

    fn xlsx_formulas(&mut self, xlsx: &mut XlsxFile<'_>, name: &str, cells: &mut Cells) -> Result<(), Fault> {
        let mut reader = xlsx.worksheet_cells_reader(name)?;
        while let Some(cell) = reader.next_formula()? {
            let formula = cell.get_value();
            if formula.is_empty() || formula.len() >= FORMULA_BYTES_MAX {
                // What is too long to be computed here keeps the value that it came to.
                continue;
            }
            let at = place(cell.get_position())?;
            if !cells.contains_key(&at) {
                self.count(0)?;
            }
            self.count_text(formula.len())?;
            // Files mark functions that came after the format was made.
            let text = format!("={}", plain_functions(formula));
            let blank = || CellWritten { at, value: CellValue::Empty, format: Some(SmolStr::default()), input: None };
            cells.entry(at).or_insert_with(blank).input =
                Some(Input::Formula { text: text.into(), reads: Vec::new(), volatile: false });
        }
        Ok(())
    }

    fn xlsx_formats(&mut self, xlsx: &mut XlsxFile<'_>, name: &str, cells: &mut Cells) -> Result<(), Fault> {
        let mut reader = xlsx.worksheet_cells_reader(name)?;
        let formats: Vec<Option<SmolStr>> = reader.styles().iter().map(number_format).collect();
        while let Some((row, column, style)) = reader.next_style_id()? {
            let Some(format) = formats.get(style).cloned().flatten() else { continue };
            let at = place((row, column))?;
            if !cells.contains_key(&at) {
                self.count(0)?;
            }
            let blank = || CellWritten { at, value: CellValue::Empty, format: None, input: None };
            cells.entry(at).or_insert_with(blank).format = Some(format);
        }
        Ok(())
    }

    /// Returns a defined name that stands for an area of one of the file's worksheets.
    fn named(&self, name: &str, formula: &str) -> Option<(SmolStr, SmolStr, Area)> {
        // Names that the program keeps for itself, such as print areas.
        if name.starts_with("_xl") {
            return None;
        }
        let Ok(RangeText::Inside(worksheet, rest)) = formula.parse() else { return None };
        let sheet = self.sheets.iter().find(|sheet| same_name(&sheet.name, &worksheet))?;
        Some((name.into(), sheet.name.clone(), rest.parse().ok()?))
    }

    fn count(&mut self, text_bytes: usize) -> Result<(), Rejection> {
        self.cells += 1;
        self.count_text(text_bytes)
    }

    fn count_text(&mut self, text_bytes: usize) -> Result<(), Rejection> {
        self.text_bytes += text_bytes;
        if self.cells > IMPORT_CELLS_MAX || self.text_bytes > IMPORT_TEXT_BYTES_MAX {
            return Err(Rejection::new(
                "sheets/import-too-large",
                format!(
                    "the file has more than {IMPORT_CELLS_MAX} cells or {IMPORT_TEXT_BYTES_MAX} bytes of text; split it into several workbooks"
                ),
            ));
        }
        Ok(())
    }

    /// Returns what the file means for the workbook: worksheets and names first, so that formulas find them.
    fn events(self, name: &SmolStr, book: &Book, context: &Context<'_>) -> Result<Vec<SheetsEvent>, Rejection> {
        let order = book.order(context.frame);
        let mut events = Vec::new();
        let mut filled = Vec::new();
        let mut added = 0;
        for mut sheet in self.sheets {
            if let Some(there) = order.iter().find(|there| same_name(there, &sheet.name)) {
                sheet.name = (*there).clone();
                let (book, worksheet) = (name.clone(), sheet.name.clone());
                events.push(SheetsEvent::CellsCleared { book, worksheet, area: Area::WHOLE });
            } else {
                added += 1;
                events.push(SheetsEvent::WorksheetAdded { book: name.clone(), worksheet: sheet.name.clone() });
            }
            filled.push(sheet);
        }
        book.room_for_worksheets(context.frame, added)?;
        let named = self.names.into_iter().map(|(range, worksheet, area)| SheetsEvent::RangeNamed {
            book: name.clone(),
            name: range,
            worksheet,
            area,
        });
        events.extend(named);
        for Sheet { name: worksheet, cells, merged } in filled {
            if !merged.is_empty() {
                let (book, worksheet) = (name.clone(), worksheet.clone());
                events.push(SheetsEvent::CellsMerged { book, worksheet, areas: merged });
            }
            if !cells.is_empty() {
                events.push(SheetsEvent::CellsWritten { book: name.clone(), worksheet, cells });
            }
        }
        Ok(events)
    }
}

/// Gives errors whose places were not told to the formulas that came to nothing. Programs write what every formula came to, so these are the ones.
fn give_unknown_errors(cells: &mut Cells, unknown: Vec<CellError>) {
    let blank = |cell: &&mut CellWritten| cell.value == CellValue::Empty && cell.input.is_some();
    for (cell, error) in cells.values_mut().filter(blank).zip(unknown) {
        cell.value = CellValue::Error(error);
    }
}

/// Returns `formula` without the marks of functions that came after the format was made, and these functions in capitals: LibreOffice leaves the name
/// of one that it does not know in small letters.
fn plain_functions(formula: &str) -> String {
    let mut parts = formula.split("_xlfn.");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let part = part.strip_prefix("_xlws.").unwrap_or(part);
        let length = part.find(|sign: char| !sign.is_ascii_alphanumeric() && sign != '.').unwrap_or(part.len());
        plain.push_str(&part[..length].to_ascii_uppercase());
        plain.push_str(&part[length..]);
    }
    plain
}

fn blob(text: &str, context: &Context<'_>) -> Result<Arc<[u8]>, Rejection> {
    let unknown = || {
        Rejection::new(
            "sheets/unknown-blob",
            format!("there is no blob '{text}'; give the name under which the file was kept"),
        )
    };
    let id: BlobId = text.parse().map_err(|_| unknown())?;
    let bytes = context.blobs.get(id).ok_or_else(unknown)?;
    context.frame.note_blob(id);
    if bytes.len() > IMPORT_BYTES_MAX {
        return Err(Rejection::new(
            "sheets/import-too-large",
            format!("the file has {} bytes; at most {IMPORT_BYTES_MAX} are imported, so split it", bytes.len()),
        ));
    }
    Ok(bytes)
}

fn csv_cell(field: &str, at: CellRef, mode: Mode) -> Result<Option<CellWritten>, Rejection> {
    let cell = match entered(&Value::from(field), at, mode) {
        Ok(cell) => cell,
        Err(_) => {
            return Err(bad_csv(&format!(
                "the field for {at} has {} bytes; a cell holds at most {CELL_TEXT_BYTES_MAX}",
                field.len()
            )));
        }
    };
    Ok(cell.map(|mut cell| {
        // What only looks like a formula is text, as a formula that cannot be read would stop the whole import.
        if let Some(Input::Formula { text, .. }) = &cell.input
            && super::formula::Formula::read(text).is_err()
        {
            cell.value = CellValue::Text(text.clone());
            cell.input = None;
        }
        cell.format = Some(cell.format.unwrap_or_default());
        cell
    }))
}

/// Returns the sign that separates the fields: of comma, semicolon and tab the one that the first line has most of.
fn delimiter(text: &str) -> u8 {
    let mut counts = [(b',', 0), (b';', 0), (b'\t', 0)];
    let mut quoted = false;
    for byte in text.bytes() {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' if !quoted => break,
            byte if !quoted => counts.iter_mut().filter(|(sign, _)| *sign == byte).for_each(|(_, count)| *count += 1),
            _ => {}
        }
    }
    // The first of equals is the comma.
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map_or(b',', |(sign, _)| sign)
}

/// Marks blank lines, which the reader would skip, as rows with one empty field.
fn with_blank_lines(text: &str) -> String {
    let mut marked = String::with_capacity(text.len());
    let mut quoted = false;
    for line in text.split_inclusive('\n') {
        if !quoted && matches!(line, "\n" | "\r\n") {
            marked.push_str("\"\"");
        }
        quoted ^= line.bytes().filter(|byte| *byte == b'"').count() % 2 == 1;
        marked.push_str(line);
    }
    marked
}

fn xlsx_value(value: &DataRef<'_>, shift: f64) -> CellValue {
    match value {
        DataRef::Int(number) => CellValue::Number(*number as f64),
        DataRef::Float(number) if number.is_finite() => CellValue::Number(*number),
        DataRef::Float(_) => CellValue::Error(CellError::Number),
        DataRef::String(text) => CellValue::Text(cut(text)),
        DataRef::SharedString(text) => CellValue::Text(cut(text)),
        DataRef::Bool(truth) => CellValue::Bool(*truth),
        DataRef::DateTime(moment) if moment.is_duration() => CellValue::Number(moment.as_f64()),
        DataRef::DateTime(moment) => CellValue::Number(moment.as_f64() + shift),
        // ISO dates are rare in files and always unambiguous.
        DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => typed(text).value,
        DataRef::Error(error) => CellValue::Error(error.to_string().parse().unwrap_or(CellError::NotAvailable)),
        DataRef::Empty => CellValue::Empty,
    }
}

/// Cuts text that no program lets a user enter.
fn cut(text: &str) -> SmolStr {
    text[..text.floor_char_boundary(CELL_TEXT_BYTES_MAX)].into()
}

fn number_format(style: &calamine::Style) -> Option<SmolStr> {
    let format = style.number_format.as_ref()?;
    let code = format.format_id.and_then(currency_format).unwrap_or(&format.format_code);
    let is_plain = code.is_empty() || code.eq_ignore_ascii_case("general") || code.len() > FORMAT_BYTES_MAX;
    (!is_plain).then(|| code.into())
}

/// Returns the formats that files name by number and the parser does not know: amounts in the currency of the place, which are dollars here as in
/// the programs that write them.
pub(super) fn currency_format(id: u32) -> Option<&'static str> {
    match id {
        5 => Some(r##""$"#,##0_);("$"#,##0)"##),
        6 => Some(r##""$"#,##0_);[Red]("$"#,##0)"##),
        7 => Some(r##""$"#,##0.00_);("$"#,##0.00)"##),
        8 => Some(r##""$"#,##0.00_);[Red]("$"#,##0.00)"##),
        _ => None,
    }
}

fn place((row, column): (u32, u32)) -> Result<CellRef, Rejection> {
    CellRef::new(row, column)
        .ok_or_else(|| Rejection::new("sheets/bad-xlsx", "the file has a cell outside of the grid; repair it"))
}

fn bad_csv(why: &str) -> Rejection {
    Rejection::new("sheets/bad-csv", format!("the CSV file cannot be read: {why}"))
}

fn damaged_xlsx() -> Rejection {
    Rejection::new("sheets/bad-xlsx", "the XLSX file cannot be read: its cells are damaged; save it again as .xlsx")
}

fn bad_xlsx(error: &XlsxError) -> Rejection {
    Rejection::new("sheets/bad-xlsx", format!("the XLSX file cannot be read: {error}; save it again as .xlsx"))
}
