//! One formula: reading its text, what it names, and what it comes to. Its text is read by `formualizer-parse`; the evaluator over it is
//! ours (`formula/`), for three reasons that no library was found to meet together: cells stay in the workbook's persistent maps and are
//! asked for one by one, every step draws on the budget of the call (no text, array or search grows without being counted), and every
//! machine computes the same bits (`libm` for what the hardware does not round).
//!
//! Compared: `formualizer-eval` 0.13 (cells from a trait; no bound on texts in between; brings arrow, about a hundred crates and minutes of
//! building), `ironcalc_base` 0.9 (computes inside a workbook of its own, asks the host for the time), `truecalc-core` 9 (light, and cells
//! from a trait, but no bounds either and nine major versions within a year).

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use chrono::{DateTime, Utc};
use dayshift_engine::{Budget, OverBudget, SmolStr};
use formualizer_common::ExcelErrorKind;
use formualizer_common::numfmt::builtin_code;
use formualizer_parse::parser::{ASTNode, CollectPolicy, ReferenceType, parse_with_volatility_classifier};
use formualizer_parse::tokenizer::{TokenSubType, Tokenizer};

use self::evaluate::{Evaluator, Kept};
use self::operand::{Format, Operand};
use self::value::Fault;
use super::a1::{Area, CellRef, GRID_COLUMNS_MAX, GRID_ROWS_MAX, RangeText, qualified};
use super::cell::{CELL_TEXT_BYTES_MAX, CellError, CellValue, Precedent};
use super::format::{DATE, DATE_TIME, TIME, is_date_format};
use super::index::FormulaAt;
use super::locate::same_name;
use super::state::Book;

mod evaluate;
mod functions;
mod operand;
mod operators;
mod pattern;
mod value;

/// The most cells that a formula may look at in one area, empty ones in between included.
pub const FORMULA_AREA_CELLS_MAX: u64 = 1_000_000;

/// What reading a formula costs for each byte of its text.
const READ_COST: u64 = 2;

/// A formula that was read.
pub(super) struct Formula {
    tree: ASTNode,
    text_bytes: u64,
    /// Whether its value can change without any precedent changing.
    pub(super) volatile: bool,
}

impl Formula {
    /// Reads the formula `text`, with its equals sign.
    ///
    /// # Errors
    ///
    /// A sentence that says what is wrong with it.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let tree = catch_unwind(AssertUnwindSafe(|| parse_with_volatility_classifier(text, functions::is_volatile)))
            .map_err(|_| "it cannot be read".to_owned())?
            .map_err(|error| error.message)?;
        let volatile = tree.contains_volatile();
        Ok(Self { tree, text_bytes: text.len() as u64, volatile })
    }

    /// Returns the areas that the formula names when it stands on `worksheet`, sorted.
    pub(super) fn names(&self, worksheet: &SmolStr, book: &Book) -> BTreeSet<Precedent> {
        let policy = CollectPolicy { expand_small_ranges: false, range_expansion_limit: 0, include_names: true };
        let references = self.tree.collect_references(&policy);
        references.iter().filter_map(|reference| book.precedent(reference, worksheet)).collect()
    }
}

/// Returns the formula `text` with every mention of the worksheet `from` turned into one of `to`; nothing if there is none.
pub(super) fn rename_worksheet(text: &str, from: &str, to: &str) -> Option<String> {
    replace_ranges(text, |source| match source.parse() {
        Ok(RangeText::Inside(worksheet, rest)) if same_name(&worksheet, from) => Some(qualified(to, &rest)),
        Ok(RangeText::Inside(..) | RangeText::Bare(_) | RangeText::Worksheet(_)) | Err(_) => None,
    })
}

/// Returns the formula `text` with the references and names for which `other` has something else replaced; nothing if there are none.
pub(super) fn replace_ranges(text: &str, mut other: impl FnMut(&str) -> Option<String>) -> Option<String> {
    let tokens = Tokenizer::new(text).ok()?;
    let mut replaced = String::with_capacity(text.len());
    let mut copied = 0;
    for token in tokens.items.iter().filter(|token| token.subtype == TokenSubType::Range) {
        if let Some(other) = other(text.get(token.start..token.end)?) {
            replaced.push_str(text.get(copied..token.start)?);
            replaced.push_str(&other);
            copied = token.end;
        }
    }
    (copied > 0).then(|| {
        replaced.push_str(&text[copied..]);
        replaced
    })
}

/// What formulas are computed in: the time, a seed, and the budget that computing draws on.
pub(super) struct Surroundings<'a> {
    /// The local clock, in seconds of Unix time.
    seconds: i64,
    seed: u64,
    budget: &'a Budget,
    /// The areas that were looked at, so that a column of formulas over one table visits its cells twice and not a thousand times.
    kept: RefCell<Kept>,
}

impl<'a> Surroundings<'a> {
    /// Returns surroundings in which it is `now`, seen from `offset_seconds` east of Greenwich.
    pub(super) fn new(now: DateTime<Utc>, offset_seconds: i32, seed: u64, budget: &'a Budget) -> Self {
        let seconds = now.timestamp() + i64::from(offset_seconds);
        Self { seconds, seed, budget, kept: RefCell::default() }
    }

    /// Forgets what was kept of the cell, which has changed.
    pub(super) fn forget(&self, changed: &FormulaAt) {
        let holds = |area: &Precedent| area.worksheet == changed.worksheet && area.area.contains(changed.at);
        self.kept.borrow_mut().retain(|area, cells| cells.is_none() || !holds(area));
    }

    /// Returns what `formula`, which stands at `place`, comes to, and the areas that it looked at.
    ///
    /// # Errors
    ///
    /// The budget is used up.
    pub(super) fn compute(&self, book: &Book, formula: &Formula, place: &FormulaAt) -> Result<Outcome, OverBudget> {
        self.budget.work(formula.text_bytes * READ_COST)?;
        let on = Evaluator::new(book, place, self);
        let (value, format) = match on.evaluate(&formula.tree).and_then(|operand| came_to(&on, &operand)) {
            Ok(found) => found,
            Err(Fault::Error(error)) => (CellValue::Error(error), None),
            Err(Fault::Over(over)) => return Err(over),
        };
        Ok(Outcome { value, format, looked: on.into_looked() })
    }
}

/// What a formula came to.
pub(super) struct Outcome {
    pub(super) value: CellValue,
    /// The format that the result calls for: a date, a percentage.
    pub(super) format: Option<&'static str>,
    /// What it looked at.
    pub(super) looked: BTreeSet<Precedent>,
}

impl Book {
    /// Returns the area that a reference of a formula on `worksheet` means; nothing for a name that is not known here.
    fn precedent(&self, reference: &ReferenceType, worksheet: &SmolStr) -> Option<Precedent> {
        let named = |sheet: &Option<String>| match sheet {
            Some(text) => self.cells.keys().find(|name| same_name(name, text)).cloned().unwrap_or_else(|| text.into()),
            None => worksheet.clone(),
        };
        match reference {
            ReferenceType::Cell { sheet, row, col, .. } => {
                let cell = CellRef::new(row.checked_sub(1)?, col.checked_sub(1)?)?;
                Some(Precedent { worksheet: named(sheet), area: Area::cell(cell) })
            }
            ReferenceType::Range { sheet, start_row, start_col, end_row, end_col, .. } => {
                let from = |bound: &Option<u32>| bound.map_or(Some(0), |number| number.checked_sub(1));
                let to = |bound: &Option<u32>, max: u32| bound.map_or(Some(max - 1), |number| number.checked_sub(1));
                let first = CellRef::new(from(start_row)?, from(start_col)?)?;
                let last = CellRef::new(to(end_row, GRID_ROWS_MAX)?, to(end_col, GRID_COLUMNS_MAX)?)?;
                Some(Precedent { worksheet: named(sheet), area: Area::spanning(first, last) })
            }
            ReferenceType::NamedRange(text) => {
                let (_, range) = self.names.peek_all().find(|(name, _)| same_name(&name.0, text))?;
                Some(Precedent { worksheet: range.worksheet.clone(), area: range.area })
            }
            ReferenceType::Cell3D { .. }
            | ReferenceType::Range3D { .. }
            | ReferenceType::External(_)
            | ReferenceType::Table(_) => None,
        }
    }
}

/// Turns a result into a cell's value, and names the format that it calls for.
fn came_to<'a>(on: &Evaluator<'a>, operand: &Operand<'a>) -> Result<(CellValue, Format), Fault> {
    // A formula fills one cell; what needs more says so.
    if !evaluate::is_single(operand) {
        return Ok((CellValue::Error(CellError::Spill), None));
    }
    Ok(match on.single(operand)? {
        CellValue::Number(number) if number.is_finite() => (CellValue::Number(number + 0.0), on.format(operand)),
        CellValue::Number(_) => (CellValue::Error(CellError::Number), None),
        CellValue::Text(text) if text.len() > CELL_TEXT_BYTES_MAX => (CellValue::Error(CellError::Value), None),
        value @ CellValue::Empty => (value, None),
        value @ (CellValue::Text(_) | CellValue::Bool(_) | CellValue::Error(_)) => (value, None),
    })
}

const fn error_of(kind: ExcelErrorKind) -> CellError {
    match kind {
        ExcelErrorKind::Null => CellError::Null,
        ExcelErrorKind::Ref => CellError::Reference,
        ExcelErrorKind::Name => CellError::Name,
        ExcelErrorKind::Value => CellError::Value,
        ExcelErrorKind::Div => CellError::Division,
        ExcelErrorKind::Na => CellError::NotAvailable,
        ExcelErrorKind::Num => CellError::Number,
        ExcelErrorKind::Spill => CellError::Spill,
        ExcelErrorKind::Circ => CellError::Circular,
        ExcelErrorKind::Error | ExcelErrorKind::NImpl | ExcelErrorKind::Calc | ExcelErrorKind::Cancelled | _ => {
            CellError::Calculation
        }
    }
}

/// Returns the format that a result takes over from a cell: dates and times in their plain forms, and the formats that every workbook has.
fn format_of(code: &str) -> Format {
    match code {
        "" => None,
        DATE => Some(DATE),
        DATE_TIME => Some(DATE_TIME),
        TIME => Some(TIME),
        code => {
            let builtin = (1..=49).find_map(|id| builtin_code(id).filter(|known| *known == code).map(|_| id));
            match builtin {
                Some(14) => Some(DATE),
                Some(21) => Some(TIME),
                Some(22) => Some(DATE_TIME),
                Some(id) => builtin_code(id),
                None => is_date_format(code).then_some(DATE),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_references_are_renamed() {
        let rename = |text: &str| rename_worksheet(text, "Old", "New one");
        assert_eq!(rename("=Old!A1+old!B2:C3").as_deref(), Some("='New one'!A1+'New one'!B2:C3"));
        assert_eq!(rename("=\"Old!A1\"&Older!A1&Old"), None);
        assert_eq!(rename("='Old'!A:A").as_deref(), Some("='New one'!A:A"));
    }
}
