//! Spreadsheets: workbooks of worksheets of typed cells, in the terms of Google Sheets and Excel. Cells live in traced collections, so that
//! every reading is a dependency and a fork is cheap; formulas are computed when a call is decided, and events carry what they came to. A
//! formula fills one cell: one that comes to several values shows `#SPILL!`.
//!
//! Keys: `sheets:` the list of workbooks, `sheets:book` one of them, `sheets:book/` the list of its worksheets, `sheets:book/tab` one of
//! them, `sheets:book/tab!` which cells it has, `sheets:book/tab!C4` one of them, `sheets:book/tab!*` what all of them hold, and
//! `sheets:book/names/` and `sheets:book/names/name` its named ranges.

mod a1;
mod cell;
mod event;
mod exact;
mod export;
#[cfg(test)]
mod file_tests;
mod format;
mod formula;
#[cfg(test)]
mod formula_budget_tests;
#[cfg(test)]
mod formula_tests;
#[cfg(test)]
mod formula_value_tests;
mod import;
mod index;
mod insert;
#[cfg(test)]
mod insert_tests;
mod locate;
mod question;
mod read;
mod recalculate;
mod shown;
mod state;
mod structure;
#[cfg(test)]
mod tests;
mod tools;
mod typed;
mod write;

use dayshift_engine::{
    Applying, Context, Decision, Difference, Looking, Rejection, StateDigest, ToolCall, ToolSpec, Value, map,
};

pub use a1::{Area, BadReference, CellRef, GRID_COLUMNS_MAX, GRID_ROWS_MAX};
pub use cell::{CELL_TEXT_BYTES_MAX, Cell, CellError, CellValue, FORMULA_BYTES_MAX, Input, Precedent};
pub use event::{CellWritten, SheetsEvent};
pub use format::{FORMAT_BYTES_MAX, formatted, is_known_format};
pub use formula::FORMULA_AREA_CELLS_MAX;
pub use import::{IMPORT_BYTES_MAX, IMPORT_CELLS_MAX, IMPORT_TEXT_BYTES_MAX};
pub use read::{FIND_MATCHES_MAX, PRECEDENTS_NOTED_MAX, READ_CELLS_MAX, READ_ROWS_MAX};
pub use state::{BOOK_NAME_BYTES_MAX, BOOKS_MAX, SheetsState, WORKSHEET_NAME_BYTES_MAX, WORKSHEETS_MAX};
pub use typed::{Typed, serial_of, typed};
pub use write::WRITE_CELLS_MAX;

use self::read::{Search, Shown};
use crate::service::{Desk, Service};

impl Service for SheetsState {
    type Event = SheetsEvent;

    const TOOLS: &'static [ToolSpec] = tools::TOOLS;

    fn decide(&self, call: &ToolCall, desk: &Desk, context: &Context<'_>) -> Result<Decision<SheetsEvent>, Rejection> {
        let frame = context.frame;
        match call.tool.as_str() {
            "sheets.books" => Ok(Decision::answer(self.list_books(frame))),
            "sheets.create" => self.create(call, context),
            "sheets.worksheets" => {
                let (_, book) = self.book(frame, call.text("book"))?;
                Ok(Decision::answer(book.list_worksheets(frame)))
            }
            "sheets.read" => {
                let located = self.locate(frame, call.text("book"), call.text("range"))?;
                let rows = located.rows(frame, Shown::named(call.optional_text("as")))?;
                Ok(Decision::answer(map! { "range" => located.text_of(located.area), "rows" => rows }))
            }
            "sheets.write" => self.write(call, desk, context),
            "sheets.append" => self.append(call, desk, context),
            "sheets.clear" => self.clear(call, desk, context),
            "sheets.find" => self.search(call, context),
            "sheets.add_worksheet" => self.add_worksheet(call, desk, context),
            "sheets.rename_worksheet" => self.rename_worksheet(call, desk, context),
            "sheets.delete_worksheet" => self.delete_worksheet(call, desk, context),
            "sheets.import" => self.import(call, desk, context),
            tool => Err(Rejection::new("sheets/unknown-tool", format!("there is no tool {tool} in this service"))),
        }
    }

    fn apply(&mut self, event: SheetsEvent, applying: &mut Applying<'_>) {
        self.fold(event, applying);
    }

    fn query(&self, verb: &str, arguments: &Value, _desk: &Desk, looking: &Looking<'_>) -> Result<Value, Rejection> {
        self.answer(verb, arguments, looking)
    }

    fn digest(&self) -> StateDigest {
        self.total()
    }

    fn differences(&self, other: &Self, into: &mut Vec<Difference>) {
        self.compare(other, into);
    }

    fn dump(&self) -> Value {
        self.show()
    }
}

impl SheetsState {
    fn search(&self, call: &ToolCall, context: &Context<'_>) -> Result<Decision<SheetsEvent>, Rejection> {
        let frame = context.frame;
        let (_, book) = self.book(frame, call.text("book"))?;
        let only = call.optional_text("worksheet").map(|name| book.worksheet(frame, name)).transpose()?;
        let text = call.text("text");
        if text.is_empty() {
            return Err(Rejection::new(
                "sheets/empty-search",
                "give the text to look for; sheets.read shows a whole worksheet",
            ));
        }
        let search =
            Search { text, whole: call.flag("whole"), case: call.flag("case"), formulas: call.flag("formulas") };
        let (matches, more) = book.find(frame, only, &search);
        Ok(Decision::answer(map! { "matches" => matches, "more" => more }))
    }
}
