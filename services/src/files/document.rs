//! What a file is by its bytes, and the text of those files that hold text and are none: PDF, Office Open XML and OpenDocument. Knows no
//! workspace. Everything is limited by constants, so that a small file cannot unpack into a large one.

mod open_document;
mod package;
mod pdf;
mod pdf_font;
mod pdf_line;
mod pdf_survey;
mod pdf_widths;
mod slides;
mod word;
mod workbook;

#[cfg(test)]
mod budget_tests;
#[cfg(test)]
mod tests;

use dayshift_engine::{Budget, OverBudget};
use imagesize::{ImageType, blob_size};

use super::text::{cut_to, decode};
use package::Package;

/// How much text is taken out of one document, in bytes (4 MiB). What is behind it is left out, and the answer says so.
pub const DOCUMENT_TEXT_BYTES_MAX: usize = 4 << 20;
/// How many bytes the parts of a document may unpack into that are read for its text (64 MiB).
pub const DOCUMENT_UNPACKED_BYTES_MAX: usize = 64 << 20;
/// How many parts the archive of a document may have.
pub const DOCUMENT_PARTS_MAX: usize = 10_000;
/// How many cells are read from one workbook.
pub const DOCUMENT_CELLS_MAX: usize = 200_000;
/// How many pages of a PDF are read.
pub const PDF_PAGES_MAX: usize = 2_000;

/// What it costs to move a byte of a table's row into a line.
const ROW_WORK_PER_BYTE: u64 = 4;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sniffed {
    pub(super) media_type: &'static str,
    pub(super) form: Form,
}

/// How a file is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Document(Kind),
    Image {
        width: usize,
        height: usize,
    },
    /// As text if it is some, otherwise as bytes.
    Other,
}

/// A kind of document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Pdf,
    Word,
    Slides,
    Workbook,
    OpenDocument,
}

/// Why a document gives no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// It is not what it begins like.
    Damaged { what: &'static str, why: String },
    /// It wants a password.
    Encrypted,
    /// It unpacks into too much.
    TooMuch { what: &'static str, max: usize },
    /// To read it costs more than the call may.
    Over(OverBudget),
}

impl From<OverBudget> for Unreadable {
    fn from(over: OverBudget) -> Self {
        Self::Over(over)
    }
}

impl Unreadable {
    fn unpacked() -> Self {
        Self::TooMuch { what: "bytes", max: DOCUMENT_UNPACKED_BYTES_MAX }
    }
}

/// The media type of what could be anything.
pub(super) const UNKNOWN: &str = "application/octet-stream";

/// Returns whether `bytes` are a document or a picture and no text, even if all of them are characters: some PDFs are.
pub(super) fn is_no_text(bytes: &[u8], budget: &Budget) -> Result<bool, OverBudget> {
    Ok(match sniff(bytes).form {
        Form::Document(_) if decode(bytes).is_none() => true,
        Form::Document(kind) => match text_of(kind, bytes, budget) {
            Err(Unreadable::Over(over)) => return Err(over),
            Err(Unreadable::Damaged { .. }) => false,
            Ok(_) | Err(Unreadable::Encrypted | Unreadable::TooMuch { .. }) => true,
        },
        Form::Image { .. } => true,
        Form::Other => false,
    })
}

/// Returns what `bytes` are.
pub(super) fn sniff(bytes: &[u8]) -> Sniffed {
    let media_type = infer::get(bytes).map_or(UNKNOWN, |found| found.mime_type());
    let form = match media_type {
        "application/pdf" => Form::Document(Kind::Pdf),
        "image/png" | "image/jpeg" | "image/gif" | "image/webp" => image(bytes),
        // Whatever is put into one archive begins alike; only its parts tell what it is.
        _ if bytes.starts_with(b"PK\x03\x04") => {
            let own = Budget::default();
            let package = Package::open(bytes, &own);
            return package
                .map_or_else(|_| package::sniff_damaged(bytes), Package::sniff)
                .unwrap_or(Sniffed { media_type: "application/zip", form: Form::Other });
        }
        _ => Form::Other,
    };
    Sniffed { media_type, form }
}

/// Returns the text of `bytes`, a document of `kind`. What that costs is drawn from `budget`.
pub(super) fn text_of(kind: Kind, bytes: &[u8], budget: &Budget) -> Result<Text, Unreadable> {
    budget.work(bytes.len() as u64)?;
    match kind {
        Kind::Pdf => pdf::text_of(bytes, budget),
        Kind::Word => word::text_of(&mut Package::open(bytes, budget)?),
        Kind::Slides => slides::text_of(&mut Package::open(bytes, budget)?),
        Kind::Workbook => workbook::text_of(bytes, budget),
        Kind::OpenDocument => open_document::text_of(&mut Package::open(bytes, budget)?),
    }
}

fn image(bytes: &[u8]) -> Form {
    let known = |kind: &ImageType| matches!(kind, ImageType::Png | ImageType::Jpeg | ImageType::Gif | ImageType::Webp);
    if imagesize::image_type(bytes).is_ok_and(|kind| known(&kind))
        && let Ok(size) = blob_size(bytes)
    {
        return Form::Image { width: size.width, height: size.height };
    }
    Form::Other
}

/// The text of a document, as it is gathered: lines, up to [`DOCUMENT_TEXT_BYTES_MAX`]. The cells of a table row make one line, with tabs
/// between them.
#[derive(Debug, Default)]
pub(super) struct Text {
    out: String,
    /// The open table rows, outermost first, each with the text of its cells so far.
    rows: Vec<Vec<String>>,
    /// Whether more text was there than fits.
    pub(super) is_cut: bool,
    /// What it has how many of: pages, slides, worksheets.
    pub(super) parts: Option<(&'static str, usize)>,
}

impl Text {
    pub(super) fn as_str(&self) -> &str {
        &self.out
    }

    /// Adds `text` within the current line or cell.
    fn push(&mut self, text: &str) {
        match self.rows.last_mut() {
            // What stands in a row between its cells belongs to none.
            Some(row) => row.last_mut().into_iter().for_each(|cell| cell.push_str(text)),
            None => {
                let room = DOCUMENT_TEXT_BYTES_MAX.saturating_sub(self.out.len());
                let fitting = cut_to(text, room.min(text.len()));
                self.out.push_str(fitting);
                self.is_cut |= fitting.len() < text.len();
            }
        }
    }

    /// Ends a paragraph, also an empty one. Paragraphs of one cell share its line.
    fn end_paragraph(&mut self) {
        self.push(if self.rows.is_empty() { "\n" } else { " " });
    }

    /// Ends the current line, unless nothing is on it.
    fn end_line(&mut self) {
        if !self.is_at_line_start() {
            self.push("\n");
        }
    }

    /// Adds `text` as a line of its own.
    fn line(&mut self, text: &str) {
        self.end_line();
        self.push(text);
        self.push("\n");
    }

    fn open_row(&mut self) {
        self.rows.push(Vec::new());
    }

    fn open_cell(&mut self) {
        if let Some(row) = self.rows.last_mut() {
            row.push(String::new());
        }
    }

    /// Ends a row: it becomes a line, or a part of the cell that its table stands in.
    fn close_row(&mut self, budget: &Budget) -> Result<(), OverBudget> {
        let Some(cells) = self.rows.pop() else { return Ok(()) };
        // The text of a table within tables moves up once for each of them.
        budget.work(cells.iter().map(|cell| ROW_WORK_PER_BYTE * (1 + cell.len() as u64)).sum())?;
        let cells: Vec<String> = cells.iter().map(|cell| cell.trim().replace(['\n', '\r', '\t'], " ")).collect();
        self.push(&cells.join("\t"));
        self.end_paragraph();
        Ok(())
    }

    fn is_in_row(&self) -> bool {
        !self.rows.is_empty()
    }

    fn is_at_line_start(&self) -> bool {
        self.out.is_empty() || self.out.ends_with('\n')
    }
}
