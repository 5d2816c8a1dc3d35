//! What the XLSX library cannot say of a cell: that what a formula came to is a text although it reads as a number, that it is an error of those that came
//! after the library's list, and that an error stands there without a formula. Such cells are written with marks, which are taken out of the finished
//! file. The marks are noncharacters of Unicode, which no program writes.

use std::borrow::Cow;
use std::io::{Cursor, Read as _, Write as _};

use rust_xlsxwriter::Formula;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

use super::cell::{CellError, CellValue};

/// Before a result that is text.
const TEXT: char = '\u{fdd0}';
/// Before a result that is an error.
const ERROR: char = '\u{fdd1}';
/// In the place of a formula that there is none.
const NO_FORMULA: char = '\u{fdd2}';

/// Returns the formula of a cell with what it came to, and whether it has a mark.
pub(super) fn formula(text: &str, value: &CellValue) -> (Formula, bool) {
    let (result, is_marked) = match value {
        CellValue::Number(number) => (number.to_string(), false),
        CellValue::Bool(truth) => (if *truth { "TRUE" } else { "FALSE" }.to_owned(), false),
        CellValue::Text(text) if is_mistaken(text) => (format!("{TEXT}{}", escaped(text)), true),
        CellValue::Text(text) => (escaped(text), false),
        CellValue::Error(error) => (format!("{ERROR}{error}"), true),
        CellValue::Empty => (String::new(), false),
    };
    (Formula::new(text).set_result(result), is_marked)
}

/// Returns an error without a formula, or, for one that came after the parsers' lists, the formula that is nothing but this error: of a cell that holds
/// an error that a parser does not know it tells the formula alone. It has a mark.
pub(super) fn error(error: CellError) -> Formula {
    let text = match error {
        CellError::Null
        | CellError::Division
        | CellError::Value
        | CellError::Reference
        | CellError::Name
        | CellError::Number
        | CellError::NotAvailable => format!("={NO_FORMULA}"),
        CellError::Spill | CellError::Circular | CellError::Calculation => format!("={error}"),
    };
    Formula::new(text).set_result(format!("{ERROR}{error}"))
}

/// Returns `text` with what looks like an escaped character (`_x0041_`; ECMA-376, 22.9.2.19) escaped itself, which the library forgets in results.
fn escaped(text: &str) -> String {
    let is_escape =
        |rest: &[u8]| matches!(rest, [b'_', b'x', digits @ .., b'_'] if digits.iter().all(u8::is_ascii_hexdigit));
    let mut out = String::with_capacity(text.len());
    for (at, character) in text.char_indices() {
        if text.as_bytes().get(at..at + 7).is_some_and(is_escape) {
            out.push_str("_x005F");
        }
        out.push(character);
    }
    out
}

/// Returns whether the library, or this file, takes the result `text` for something else.
fn is_mistaken(text: &str) -> bool {
    text.parse::<f64>().is_ok() || matches!(text, "TRUE" | "FALSE") || text.starts_with(['#', TEXT, ERROR])
}

/// Returns the finished file without marks.
///
/// # Errors
///
/// What the archive fails with; the library has just written it.
pub(super) fn unmarked(file: &[u8]) -> Result<Vec<u8>, ZipError> {
    let mut old = ZipArchive::new(Cursor::new(file))?;
    let mut new = ZipWriter::new(Cursor::new(Vec::with_capacity(file.len())));
    for index in 0..old.len() {
        let mut entry = old.by_index(index)?;
        if !entry.name()?.starts_with("xl/worksheets/sheet") {
            new.raw_copy_file(entry)?;
            continue;
        }
        let mut xml = String::new();
        entry.read_to_string(&mut xml)?;
        let time = entry.last_modified().unwrap_or_else(DateTime::default);
        let options =
            SimpleFileOptions::default().compression_method(CompressionMethod::Deflated).last_modified_time(time);
        new.start_file(entry.name()?, options)?;
        for cell in xml.split_inclusive("</c>") {
            new.write_all(plain(cell).as_bytes())?;
        }
    }
    Ok(new.finish()?.into_inner())
}

/// Returns the XML of one cell, and of what stands before it, without marks.
fn plain(cell: &str) -> Cow<'_, str> {
    if !cell.contains([TEXT, ERROR, NO_FORMULA]) {
        return Cow::Borrowed(cell);
    }
    let cell = cell.replacen(&format!("<f>{NO_FORMULA}</f>"), "", 1).replacen(&format!("<v>{TEXT}"), "<v>", 1);
    match cell.split_once(&format!("<v>{ERROR}")) {
        Some((before, after)) => Cow::Owned(format!("{}<v>{after}", before.replacen(r#" t="str""#, r#" t="e""#, 1))),
        None => Cow::Owned(cell),
    }
}
