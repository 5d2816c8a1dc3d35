//! Changing cells: writing, appending and clearing ranges. Decides; what a formula comes to is found elsewhere.

use dayshift_engine::{Context, Decision, Rejection, SmolStr, ToolCall, Value, map};

use super::a1::{Area, CellRef, GRID_COLUMNS_MAX, GRID_ROWS_MAX};
use super::cell::{CELL_TEXT_BYTES_MAX, CellValue, FORMULA_BYTES_MAX, Input, Precedent};
use super::event::{CellWritten, SheetsEvent};
use super::locate::Located;
use super::shown::ShownIndex;
use super::state::{SheetsState, cells_in};
use super::typed::{Typed, typed};
use crate::service::Desk;

/// The most cells that one call writes.
pub const WRITE_CELLS_MAX: usize = 10_000;

/// How entered text is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Text stays text.
    Raw,
    /// Text is read as if a user typed it.
    User,
}

impl Mode {
    pub(super) fn named(text: Option<&str>, default: Self) -> Self {
        match text {
            Some("user") => Self::User,
            Some("raw") => Self::Raw,
            Some(_) | None => default,
        }
    }
}

impl SheetsState {
    pub(super) fn write(
        &self,
        call: &ToolCall,
        desk: &Desk,
        context: &Context<'_>,
    ) -> Result<Decision<SheetsEvent>, Rejection> {
        let located = self.locate(context.frame, call.text("book"), call.text("range"))?;
        let rows = Rows::of(call)?;
        let room =
            if located.area.is_cell() { Area { first: located.area.first, last: CellRef::LAST } } else { located.area };
        if rows.height > room.rows() || rows.width > room.columns() {
            return Err(located.no_room(&rows));
        }
        self.put(&located, &rows, room.first, Vec::new(), desk, context)
    }

    pub(super) fn append(
        &self,
        call: &ToolCall,
        desk: &Desk,
        context: &Context<'_>,
    ) -> Result<Decision<SheetsEvent>, Rejection> {
        let located = self.locate(context.frame, call.text("book"), call.text("range"))?;
        let rows = Rows::of(call)?;
        // Where the table ends rests on which cells there are.
        let _ = located.cells.list(context.frame);
        let start = located.below_table();
        let fits = start
            .filter(|start| rows.height <= GRID_ROWS_MAX - start.row && rows.width <= GRID_COLUMNS_MAX - start.column);
        let Some(start) = fits else { return Err(located.no_room(&rows)) };
        if call.flag("insert") {
            return self.append_between(&located, &rows, start, desk, context);
        }
        let target = rows.area_from(start);
        if let Some((taken, _)) = cells_in(located.cells, target).find(|(_, cell)| !cell.is_blank()) {
            return Err(Rejection::new(
                "sheets/append-would-overwrite",
                format!(
                    "{} is filled and stands below the table; write to a range of your choice with sheets.write",
                    located.text_of(Area::cell(taken))
                ),
            ));
        }
        self.put(&located, &rows, start, Vec::new(), desk, context)
    }

    /// Appends rows for which what stands below makes room.
    fn append_between(
        &self,
        located: &Located<'_>,
        rows: &Rows<'_>,
        start: CellRef,
        desk: &Desk,
        context: &Context<'_>,
    ) -> Result<Decision<SheetsEvent>, Rejection> {
        let last = located.book.last_row(located.worksheet).unwrap_or_default();
        if last >= GRID_ROWS_MAX - rows.height {
            return Err(Rejection::new(
                "sheets/outside-grid",
                format!(
                    "{} rows more would move the last row of '{}' out of the grid, which has {GRID_ROWS_MAX} rows; append without insert",
                    rows.height, located.worksheet
                ),
            ));
        }
        // What moves down holds what it held: that is read as well.
        let below = Area { first: CellRef { row: start.row, column: 0 }, last: CellRef::LAST };
        let below = Precedent { worksheet: located.worksheet.clone(), area: below };
        located.book.note_area(context.frame, &below, |_| true);
        let inserted = SheetsEvent::RowsInserted {
            book: located.name.clone(),
            worksheet: located.worksheet.clone(),
            at: start.row,
            count: rows.height,
        };
        self.put(located, rows, start, vec![inserted], desk, context)
    }

    pub(super) fn clear(
        &self,
        call: &ToolCall,
        desk: &Desk,
        context: &Context<'_>,
    ) -> Result<Decision<SheetsEvent>, Rejection> {
        let located = self.locate(context.frame, call.text("book"), call.text("range"))?;
        let answer = map! { "cleared_range" => located.text_of(located.area) };
        let event = SheetsEvent::CellsCleared {
            book: located.name.clone(),
            worksheet: located.worksheet.clone(),
            area: located.area,
        };
        let events = self.settle(located.name, located.book, vec![event], desk, context)?;
        Ok(Decision::change(events, answer))
    }

    fn put(
        &self,
        located: &Located<'_>,
        rows: &Rows<'_>,
        start: CellRef,
        mut events: Vec<SheetsEvent>,
        desk: &Desk,
        context: &Context<'_>,
    ) -> Result<Decision<SheetsEvent>, Rejection> {
        let mut cells = Vec::new();
        for (down, row) in (start.row..).zip(&rows.rows) {
            for (across, value) in (start.column..).zip(*row) {
                let at = CellRef { row: down, column: across };
                if let Some(written) = entered(value, at, rows.mode)? {
                    cells.push(written);
                }
            }
        }
        let updated = rows.area_from(start);
        let answer = map! {
            "updated_range" => located.text_of(updated),
            "updated_rows" => rows.height,
            "updated_columns" => rows.width,
            "updated_cells" => cells.len(),
        };
        if !cells.is_empty() {
            let (book, worksheet) = (located.name.clone(), located.worksheet.clone());
            events.push(SheetsEvent::CellsWritten { book, worksheet, cells });
        }
        if events.is_empty() {
            return Ok(Decision::answer(answer));
        }
        let events = self.settle(located.name, located.book, events, desk, context)?;
        Ok(Decision::change(events, answer))
    }
}

/// The rows of a call.
struct Rows<'a> {
    rows: Vec<&'a [Value]>,
    height: u32,
    width: u32,
    mode: Mode,
}

impl<'a> Rows<'a> {
    fn of(call: &'a ToolCall) -> Result<Self, Rejection> {
        let rows: Vec<&[Value]> = call.list("rows").iter().filter_map(Value::as_list).collect();
        let total: usize = rows.iter().map(|row| row.len()).sum();
        if total > WRITE_CELLS_MAX || rows.len() > WRITE_CELLS_MAX {
            return Err(Rejection::new(
                "sheets/too-many-cells",
                format!("one call writes at most {WRITE_CELLS_MAX} cells, and these are {total}; write them in parts"),
            ));
        }
        let width = rows.iter().map(|row| row.len()).max().unwrap_or_default();
        if width == 0 {
            return Err(Rejection::new(
                "sheets/no-rows",
                "there is nothing to write; give at least one row with one cell",
            ));
        }
        // Both are at most `WRITE_CELLS_MAX`.
        let (height, width) = (rows.len() as u32, width as u32);
        Ok(Self { rows, height, width, mode: Mode::named(call.optional_text("mode"), Mode::Raw) })
    }

    /// Returns the box that the rows fill from `start` on, cut at the grid's edge.
    fn area_from(&self, start: CellRef) -> Area {
        let last = CellRef {
            row: (start.row + self.height - 1).min(GRID_ROWS_MAX - 1),
            column: (start.column + self.width - 1).min(GRID_COLUMNS_MAX - 1),
        };
        Area { first: start, last }
    }
}

impl Located<'_> {
    /// Returns where a row goes that is appended to the table in the range: below the table's last row, in its first column. Without a
    /// table that is the range's first cell; nothing if the grid ends there.
    fn below_table(&self) -> Option<CellRef> {
        let Some(last) = self.last_filled() else { return Some(self.area.first) };
        let shown = self.book.shown(self.worksheet)?;
        let (bottom, left) = if self.area.is_open() {
            (last.row, self.block_left(shown, last.row))
        } else {
            let first = shown.first_in_row(last.row, self.area.first.column, self.area.last.column)?;
            let region = shown.region(Area { first, last });
            (region.last.row, region.first.column)
        };
        CellRef::new(bottom + 1, left)
    }

    /// Returns the last filled cell of the range. Takes time for the cells behind it, not for those before.
    fn last_filled(&self) -> Option<CellRef> {
        let cells = self.cells.peek_range(self.area.first..=self.area.last).rev();
        let mut filled = cells.filter(|(at, cell)| self.area.contains(**at) && !cell.is_blank());
        filled.next().map(|(at, _)| *at)
    }

    /// Returns the first column of the block of filled rows that ends with `bottom`.
    fn block_left(&self, shown: &ShownIndex, bottom: u32) -> u32 {
        let (left, right) = (self.area.first.column, self.area.last.column);
        let rows = (self.area.first.row..=bottom).rev();
        let firsts = rows.map_while(|row| shown.first_in_row(row, left, right));
        firsts.map(|at| at.column).min().unwrap_or(left)
    }

    fn no_room(&self, rows: &Rows<'_>) -> Rejection {
        Rejection::new(
            "sheets/write-exceeds-range",
            format!(
                "{} rows of up to {} cells do not fit into {}; give a range that holds them, or its first cell alone",
                rows.height,
                rows.width,
                self.text_of(self.area)
            ),
        )
    }
}

/// Returns what a cell holds once `value` was entered; nothing if it stays as it is.
///
/// # Errors
///
/// `sheets/text-too-long`, `sheets/formula-too-long`, `sheets/bad-value`.
pub(super) fn entered(value: &Value, at: CellRef, mode: Mode) -> Result<Option<CellWritten>, Rejection> {
    let plain = |value| Ok(Some(CellWritten { at, value, format: None, input: None }));
    match value {
        Value::Null => Ok(None),
        Value::Bool(truth) => plain(CellValue::Bool(*truth)),
        Value::Int(number) => plain(CellValue::Number(*number as f64)),
        Value::Float(number) if number.is_finite() => plain(CellValue::Number(*number)),
        Value::Float(_) => Err(bad_value(at, "a number that is not finite")),
        Value::List(_) | Value::Map(_) => Err(bad_value(at, value.kind())),
        Value::Text(text) if text.len() > CELL_TEXT_BYTES_MAX => Err(Rejection::new(
            "sheets/text-too-long",
            format!("the text for {at} has {} bytes; a cell holds at most {CELL_TEXT_BYTES_MAX}", text.len()),
        )),
        Value::Text(text) if text.is_empty() => plain(CellValue::Empty),
        Value::Text(text) if mode == Mode::Raw => plain(CellValue::Text(text.clone())),
        Value::Text(text) if text.starts_with('=') && text.len() > 1 && !text.chars().any(is_no_character) => {
            formula(text, at).map(Some)
        }
        Value::Text(text) => Ok(Some(user_entered(text, at))),
    }
}

/// Returns whether `character` can stand in no file of formulas: a control character that XML does not know (XML 1.0, 2.2). Text with one is text.
fn is_no_character(character: char) -> bool {
    matches!(character, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}

fn user_entered(text: &SmolStr, at: CellRef) -> CellWritten {
    let Typed { value, format } = typed(text);
    let says_it_all = match &value {
        CellValue::Text(kept) => kept == text,
        CellValue::Empty => true,
        CellValue::Number(_) | CellValue::Bool(_) | CellValue::Error(_) => value.to_value().to_string() == **text,
    };
    let input = (!says_it_all).then(|| Input::Typed(text.clone()));
    // A plain number leaves the format that a cell has: 5 typed into a percentage stays one.
    CellWritten { at, value, format: (!format.is_empty()).then_some(format), input }
}

/// Returns a formula that was not computed yet.
fn formula(text: &SmolStr, at: CellRef) -> Result<CellWritten, Rejection> {
    if text.len() > FORMULA_BYTES_MAX {
        return Err(Rejection::new(
            "sheets/formula-too-long",
            format!("the formula for {at} has {} bytes; a formula has at most {FORMULA_BYTES_MAX}", text.len()),
        ));
    }
    let input = Input::Formula { text: text.clone(), reads: Vec::new(), volatile: false };
    Ok(CellWritten { at, value: CellValue::Empty, format: None, input: Some(input) })
}

fn bad_value(at: CellRef, kind: &str) -> Rejection {
    Rejection::new("sheets/bad-value", format!("{at} cannot hold {kind}; give text, a number, true, false or null"))
}
