//! Making workbooks, and adding, renaming and deleting worksheets. Decides.

use dayshift_engine::{BlobId, Context, Decision, Frame, Rejection, SmolStr, ToolCall, map};

use super::event::SheetsEvent;
use super::locate::same_name;
use super::state::{BOOK_NAME_BYTES_MAX, BOOKS_MAX, Book, Name, SheetsState, WORKSHEET_NAME_BYTES_MAX, WORKSHEETS_MAX};
use crate::service::Desk;

/// The name of a new workbook's worksheet.
pub(super) const FIRST_WORKSHEET: &str = "Sheet1";

impl SheetsState {
    pub(super) fn create(&self, call: &ToolCall, context: &Context<'_>) -> Result<Decision<SheetsEvent>, Rejection> {
        let (book, id) = self.new_book(call.text("name"), context)?;
        let worksheet = worksheet_name(call.optional_text("worksheet").unwrap_or(FIRST_WORKSHEET))?;
        let answer = map! { "book" => book.clone(), "id" => id.clone(), "worksheet" => worksheet.clone() };
        let added = SheetsEvent::WorksheetAdded { book: book.clone(), worksheet };
        Ok(Decision::change(vec![SheetsEvent::BookCreated { book, id }, added], answer))
    }

    /// Returns the name and the id of a workbook that is to be made.
    ///
    /// # Errors
    ///
    /// `sheets/bad-name`, `sheets/book-exists`, `sheets/too-many-books`.
    pub(super) fn new_book(&self, name: &str, context: &Context<'_>) -> Result<(SmolStr, SmolStr), Rejection> {
        let book = book_name(name)?;
        if self.books.contains(context.frame, &Name(book.clone())) {
            return Err(Rejection::new(
                "sheets/book-exists",
                format!("there is a workbook '{book}' already; write to it, or choose another name"),
            ));
        }
        if self.books.len() >= BOOKS_MAX {
            let _ = self.books.list(context.frame);
            return Err(Rejection::new(
                "sheets/too-many-books",
                format!("there are {BOOKS_MAX} workbooks, the most there may be; use one of them"),
            ));
        }
        // Position and name alone make the id, so that it does not depend on the seed: initial worlds are shared by all episodes.
        let digest = BlobId::of(format!("sheets/{}/{book}", context.seq).as_bytes());
        Ok((book, digest.to_string()[..32].into()))
    }

    pub(super) fn add_worksheet(
        &self,
        call: &ToolCall,
        desk: &Desk,
        context: &Context<'_>,
    ) -> Result<Decision<SheetsEvent>, Rejection> {
        let (name, book) = self.book(context.frame, call.text("book"))?;
        let worksheet = book.free_name(context.frame, call.text("name"), None)?;
        book.room_for_worksheets(context.frame, 1)?;
        let answer = map! { "worksheet" => worksheet.clone() };
        let event = SheetsEvent::WorksheetAdded { book: name.clone(), worksheet };
        Ok(Decision::change(self.settle(name, book, vec![event], desk, context)?, answer))
    }

    pub(super) fn rename_worksheet(
        &self,
        call: &ToolCall,
        desk: &Desk,
        context: &Context<'_>,
    ) -> Result<Decision<SheetsEvent>, Rejection> {
        let (name, book) = self.book(context.frame, call.text("book"))?;
        let worksheet = book.worksheet(context.frame, call.text("worksheet"))?;
        let to = book.free_name(context.frame, call.text("name"), Some(worksheet))?;
        let answer = map! { "worksheet" => to.clone() };
        if to == *worksheet {
            return Ok(Decision::answer(answer));
        }
        let event = SheetsEvent::WorksheetRenamed { book: name.clone(), worksheet: worksheet.clone(), to };
        Ok(Decision::change(self.settle(name, book, vec![event], desk, context)?, answer))
    }

    pub(super) fn delete_worksheet(
        &self,
        call: &ToolCall,
        desk: &Desk,
        context: &Context<'_>,
    ) -> Result<Decision<SheetsEvent>, Rejection> {
        let (name, book) = self.book(context.frame, call.text("book"))?;
        let worksheet = book.worksheet(context.frame, call.text("worksheet"))?;
        if book.order(context.frame).len() == 1 {
            return Err(Rejection::new(
                "sheets/last-worksheet",
                format!("'{worksheet}' is the only worksheet; add another one first, or clear it with sheets.clear"),
            ));
        }
        let answer = map! { "deleted" => worksheet.clone() };
        let event = SheetsEvent::WorksheetDeleted { book: name.clone(), worksheet: worksheet.clone() };
        Ok(Decision::change(self.settle(name, book, vec![event], desk, context)?, answer))
    }
}

impl Book {
    /// Returns `text` as the name of a worksheet that may be added, or that `renamed` may get.
    ///
    /// # Errors
    ///
    /// `sheets/bad-name`, `sheets/worksheet-exists`.
    fn free_name(&self, frame: &Frame, text: &str, renamed: Option<&SmolStr>) -> Result<SmolStr, Rejection> {
        let name = worksheet_name(text)?;
        let taken = |other: &&&SmolStr| Some(**other) != renamed && same_name(other, &name);
        match self.order(frame).iter().find(taken) {
            Some(other) => Err(Rejection::new(
                "sheets/worksheet-exists",
                format!("there is a worksheet '{other}' already; choose another name"),
            )),
            None => Ok(name),
        }
    }

    /// Makes sure that `more` worksheets may be added.
    ///
    /// # Errors
    ///
    /// `sheets/too-many-worksheets`.
    pub(super) fn room_for_worksheets(&self, frame: &Frame, more: usize) -> Result<(), Rejection> {
        if self.order(frame).len() + more > WORKSHEETS_MAX {
            return Err(Rejection::new(
                "sheets/too-many-worksheets",
                format!("a workbook has at most {WORKSHEETS_MAX} worksheets; use another workbook"),
            ));
        }
        Ok(())
    }
}

/// Returns `text` as the name of a worksheet.
///
/// # Errors
///
/// `sheets/bad-name`.
pub(super) fn worksheet_name(text: &str) -> Result<SmolStr, Rejection> {
    let text = text.trim();
    let forbidden = |character: char| character.is_control() || "[]*?/\\:".contains(character);
    if text.is_empty()
        || text.len() > WORKSHEET_NAME_BYTES_MAX
        || text.contains(forbidden)
        || text.starts_with('\'')
        || text.ends_with('\'')
    {
        return Err(Rejection::new(
            "sheets/bad-name",
            format!(
                "a worksheet's name has 1 to {WORKSHEET_NAME_BYTES_MAX} bytes, none of [ ] * ? / \\ : in it, and no apostrophe at an end"
            ),
        ));
    }
    Ok(text.into())
}

fn book_name(text: &str) -> Result<SmolStr, Rejection> {
    let text = text.trim();
    if text.is_empty() || text.len() > BOOK_NAME_BYTES_MAX || text.contains(char::is_control) {
        return Err(Rejection::new(
            "sheets/bad-name",
            format!(
                "a workbook's name has 1 to {BOOK_NAME_BYTES_MAX} bytes and no line breaks or other control characters"
            ),
        ));
    }
    Ok(text.into())
}
