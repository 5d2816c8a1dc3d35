//! One formula: reading its text, what it names, and what it comes to. The language and its functions are `formualizer`'s; this file is the
//! only one that knows it. The library owns no cells: it asks [`Surroundings`] for them, for the time and for the seed, and nothing else.
//!
//! Compared with `ironcalc_base` 0.9, which has as many functions but computes only inside a workbook of its own, asks the host for the time
//! and keeps hash maps, `formualizer-eval` takes its cells from a trait, its clock from another and its randomness from a seed, and can
//! be built without the host's clock at all.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};

use chrono::{DateTime, NaiveDateTime, NaiveTime, Timelike, Utc};
use dayshift_engine::SmolStr;
use formualizer_common::numfmt::builtin_code;
use formualizer_common::{ExcelError, ExcelErrorKind, LiteralValue};
use formualizer_eval::engine::DateSystem;
use formualizer_eval::engine::range_view::RangeView;
use formualizer_eval::format::FormatId;
use formualizer_eval::function::{FnCaps, Function};
use formualizer_eval::interpreter::Interpreter;
use formualizer_eval::timezone::{ClockProvider, FixedClock, TimeZoneSpec};
use formualizer_eval::traits::{
    EvaluationContext, FunctionProvider, NamedRangeResolver, Range, RangeResolver, ReferenceResolver, Resolver,
    SourceResolver, Table, TableResolver,
};
use formualizer_parse::parser::{
    ASTNode, CollectPolicy, ReferenceType, TableReference, parse_with_volatility_classifier,
};
use formualizer_parse::tokenizer::{TokenSubType, Tokenizer};

use super::a1::{Area, CellRef, GRID_COLUMNS_MAX, GRID_ROWS_MAX, RangeText, qualified};
use super::cell::{CELL_TEXT_BYTES_MAX, Cell, CellError, CellValue, Precedent};
use super::format::{DATE, DATE_TIME, TIME, is_date_format};
use super::index::FormulaAt;
use super::locate::same_name;
use super::state::{Book, cells_in};
use super::typed::serial_of;

/// The most cells that a formula may look at in one area, empty ones in between included.
pub const FORMULA_AREA_CELLS_MAX: u64 = 1_000_000;

/// What computing the formulas that one change reaches may cost: about as many cells as they may look at.
pub const COMPUTE_COST_MAX: u64 = 50_000_000;

/// How many columns an area may have at the price of its cells.
const COLUMNS_MIN: u64 = 256;
/// What each column beyond them costs besides: the library sets up about 20 KiB for one and keeps 3 of them, however few rows it has.
const COLUMN_COST: u64 = 1_000;

/// What looking up a function costs.
const CALL_COST: u64 = 16;
/// What looking up a function costs that makes an array of any size; the library looks each call up several times.
const GROWING_CALL_COST: u64 = 20_000;
/// Functions that make arrays of any size, so that a few of them in one another never end.
const GROWING_CALLS: [&str; 4] = ["SEQUENCE", "RANDARRAY", "MAKEARRAY", "EXPAND"];
/// From how many cells on an area is kept for the next formula that looks at it.
const KEPT_CELLS_MIN: u64 = 256;
/// Looking at an area again costs this part of building it.
const AGAIN_COST_PART: u64 = 16;

/// A formula that was read.
pub(super) struct Formula {
    tree: ASTNode,
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
        load_functions();
        let tree = catch_unwind(AssertUnwindSafe(|| parse_with_volatility_classifier(text, is_volatile)))
            .map_err(|_| "it cannot be read".to_owned())?
            .map_err(|error| error.message)?;
        let volatile = tree.contains_volatile();
        Ok(Self { tree, volatile })
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

/// What formulas are computed in: a workbook, the time and a seed.
pub(super) struct Surroundings {
    clock: FixedClock,
    seed: u64,
    /// The areas that were looked at, so that a column of formulas over one table builds it once.
    built: Mutex<Vec<(Precedent, RangeView<'static>)>>,
    budget: Budget,
}

/// What computing has cost. A count, not a clock, so that every machine stops at the same place.
#[derive(Default)]
struct Budget(AtomicU64);

impl Budget {
    /// Adds to the cost. Returns whether that is still allowed.
    fn charge(&self, cost: u64) -> bool {
        self.0.fetch_add(cost, Ordering::Relaxed).saturating_add(cost) <= COMPUTE_COST_MAX
    }

    fn is_spent(&self) -> bool {
        self.0.load(Ordering::Relaxed) > COMPUTE_COST_MAX
    }
}

impl Surroundings {
    /// Returns surroundings in which it is `now`, seen from `offset_seconds` east of Greenwich.
    pub(super) fn new(now: DateTime<Utc>, offset_seconds: i32, seed: u64) -> Self {
        let clock = FixedClock::new(now, TimeZoneSpec::FixedOffsetSeconds(offset_seconds));
        Self { clock, seed, built: Mutex::default(), budget: Budget::default() }
    }

    /// Returns whether computing has cost more than it may; what was computed then counts for nothing.
    pub(super) fn is_spent(&self) -> bool {
        self.budget.is_spent()
    }

    /// Forgets what was built from the cell, which has changed.
    pub(super) fn forget(&self, changed: &FormulaAt) {
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        built.retain(|(area, _)| area.worksheet != changed.worksheet || !area.area.contains(changed.at));
    }

    /// Returns what `formula`, which stands at `place`, comes to, and the areas that it looked at.
    pub(super) fn compute(&self, book: &Book, formula: &Formula, place: &FormulaAt) -> Outcome {
        let view = View { surroundings: self, book, looked: Mutex::default() };
        let sheet = book.peek_order().iter().position(|name| **name == place.worksheet).unwrap_or_default();
        // There are at most `WORKSHEETS_MAX` worksheets. The seed mixes this number in.
        let cell = formualizer_eval::CellRef::new_absolute(sheet as u16, place.at.row, place.at.column);
        let computed = catch_unwind(AssertUnwindSafe(|| {
            let interpreter = Interpreter::new_with_cell(&view, &place.worksheet, cell);
            interpreter.evaluate_ast(&formula.tree).map(formualizer_eval::traits::CalcValue::into_scalar_parts)
        }));
        let (value, format) = match computed {
            Ok(Ok((value, format))) => came_to(value, format),
            Ok(Err(error)) => (CellValue::Error(error_of(error.kind)), None),
            // The library's mistake, not the caller's; it must not cost the episode.
            Err(_) => (CellValue::Error(CellError::Calculation), None),
        };
        Outcome { value, format, looked: view.looked.into_inner().unwrap_or_else(PoisonError::into_inner) }
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

/// A workbook as a formula sees it, with a list of what was looked at. (The traits ask for `Sync`, hence the lock; there is one thread.)
struct View<'a> {
    surroundings: &'a Surroundings,
    book: &'a Book,
    looked: Mutex<BTreeSet<Precedent>>,
}

impl View<'_> {
    fn area(&self, reference: &ReferenceType, worksheet: &str) -> Result<Precedent, ExcelError> {
        let found = self.book.precedent(reference, &worksheet.into()).ok_or_else(|| {
            let is_name = matches!(reference, ReferenceType::NamedRange(_));
            ExcelError::from(if is_name { ExcelErrorKind::Name } else { ExcelErrorKind::Ref })
        })?;
        self.looked.lock().unwrap_or_else(PoisonError::into_inner).insert(found.clone());
        if self.book.cells.contains_key(&found.worksheet) {
            Ok(found)
        } else {
            Err(ExcelError::from(ExcelErrorKind::Ref))
        }
    }

    fn rows(&self, area: &Precedent) -> Result<Vec<Vec<LiteralValue>>, ExcelError> {
        let Some(cells) = self.book.cells.get(&area.worksheet) else { return Err(ExcelErrorKind::Ref.into()) };
        let mut extent = area.area;
        if extent.is_open() {
            // An open range ends where the data ends; its start stays, so that positions in it stay right.
            extent.last = extent.first;
            for (at, _) in cells_in(cells, area.area) {
                extent.last.row = extent.last.row.max(at.row);
                extent.last.column = extent.last.column.max(at.column);
            }
            if area.area.last.row != GRID_ROWS_MAX - 1 {
                extent.last.row = area.area.last.row;
            }
            if area.area.last.column != GRID_COLUMNS_MAX - 1 {
                extent.last.column = area.area.last.column;
            }
        }
        let columns_cost = u64::from(extent.columns()).saturating_sub(COLUMNS_MIN) * COLUMN_COST;
        if extent.cells() > FORMULA_AREA_CELLS_MAX || !self.surroundings.budget.charge(extent.cells() + columns_cost) {
            return Err(ExcelErrorKind::Num.into());
        }
        let mut rows = vec![vec![LiteralValue::Empty; extent.columns() as usize]; extent.rows() as usize];
        for (at, cell) in cells_in(cells, extent) {
            let (down, across) = (at.row - extent.first.row, at.column - extent.first.column);
            rows[down as usize][across as usize] = literal(cell);
        }
        Ok(rows)
    }

    fn cell(&self, sheet: Option<&str>, row: u32, column: u32, current: &str) -> Result<Option<&Cell>, ExcelError> {
        let sheet = sheet.map(str::to_owned);
        let reference = ReferenceType::Cell { sheet, row, col: column, row_abs: true, col_abs: true };
        let area = self.area(&reference, current)?;
        Ok(self.book.peek(&area.worksheet, area.area.first))
    }
}

impl EvaluationContext for View<'_> {
    fn materialized_array_cells(&self) -> u64 {
        FORMULA_AREA_CELLS_MAX
    }

    fn resolve_range_view<'c>(&'c self, reference: &ReferenceType, sheet: &str) -> Result<RangeView<'c>, ExcelError> {
        let area = match self.area(reference, sheet) {
            Ok(area) => area,
            // A single cell that is not there is an error as a value, so that functions that catch errors see it.
            Err(error) if matches!(reference, ReferenceType::Cell { .. }) => {
                return Ok(RangeView::from_owned_rows(vec![vec![LiteralValue::Error(error)]], DateSystem::Excel1900));
            }
            Err(error) => return Err(error),
        };
        let mut built = self.surroundings.built.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, view)) = built.iter().find(|(known, _)| *known == area) {
            let (rows, columns) = view.dims();
            let allowed = self.surroundings.budget.charge(1 + (rows * columns) as u64 / AGAIN_COST_PART);
            return if allowed { Ok(view.clone()) } else { Err(ExcelErrorKind::Num.into()) };
        }
        let view = RangeView::from_owned_rows(self.rows(&area)?, DateSystem::Excel1900);
        // Small areas are built again faster than they are kept right.
        if area.area.cells() > KEPT_CELLS_MIN {
            built.push((area, view.clone()));
        }
        Ok(view)
    }

    fn resolve_cell_reference_value(
        &self,
        sheet: Option<&str>,
        row: u32,
        column: u32,
        current: &str,
    ) -> Result<LiteralValue, ExcelError> {
        match self.cell(sheet, row, column, current) {
            Ok(cell) => Ok(cell.map_or(LiteralValue::Empty, literal)),
            Err(error) => Ok(LiteralValue::Error(error)),
        }
    }

    fn resolve_cell_format(&self, sheet: Option<&str>, row: u32, column: u32, current: &str) -> Option<FormatId> {
        format_id(&self.cell(sheet, row, column, current).ok()??.format)
    }

    fn clock(&self) -> &dyn ClockProvider {
        &self.surroundings.clock
    }

    fn workbook_seed(&self) -> u64 {
        self.surroundings.seed
    }
}

impl ReferenceResolver for View<'_> {
    fn resolve_cell_reference(&self, sheet: Option<&str>, row: u32, column: u32) -> Result<LiteralValue, ExcelError> {
        Ok(self.cell(sheet, row, column, sheet.unwrap_or_default())?.map_or(LiteralValue::Empty, literal))
    }
}

impl RangeResolver for View<'_> {
    fn resolve_range_reference(
        &self,
        _sheet: Option<&str>,
        _first_row: Option<u32>,
        _first_column: Option<u32>,
        _last_row: Option<u32>,
        _last_column: Option<u32>,
    ) -> Result<Box<dyn Range>, ExcelError> {
        // Areas go through `resolve_range_view`, which knows the worksheet that the formula stands on.
        Err(ExcelErrorKind::Ref.into())
    }
}

impl NamedRangeResolver for View<'_> {
    fn resolve_named_range_reference(&self, name: &str) -> Result<Vec<Vec<LiteralValue>>, ExcelError> {
        let area = self.area(&ReferenceType::NamedRange(name.to_owned()), "")?;
        self.rows(&area)
    }
}

impl TableResolver for View<'_> {
    fn resolve_table_reference(&self, _table: &TableReference) -> Result<Box<dyn Table>, ExcelError> {
        Err(ExcelErrorKind::Ref.into())
    }
}

impl FunctionProvider for View<'_> {
    fn get_function(&self, namespace: &str, name: &str) -> Option<Arc<dyn Function>> {
        let is_growing = GROWING_CALLS.iter().any(|growing| growing.eq_ignore_ascii_case(name));
        let allowed = self.surroundings.budget.charge(if is_growing { GROWING_CALL_COST } else { CALL_COST });
        allowed.then(|| formualizer_eval::function_registry::get(namespace, name)).flatten()
    }
}

impl SourceResolver for View<'_> {}

impl Resolver for View<'_> {}

fn load_functions() {
    static LOADED: Once = Once::new();
    LOADED.call_once(formualizer_eval::builtins::load_builtins);
}

fn is_volatile(name: &str) -> bool {
    let caps = formualizer_eval::function_registry::get("", name).map(|function| function.caps());
    caps.is_some_and(|caps| caps.intersects(FnCaps::VOLATILE | FnCaps::DYNAMIC_DEPENDENCY))
}

fn literal(cell: &Cell) -> LiteralValue {
    match &cell.value {
        CellValue::Empty => LiteralValue::Empty,
        CellValue::Number(number) => LiteralValue::Number(*number),
        CellValue::Text(text) => LiteralValue::Text(text.to_string()),
        CellValue::Bool(truth) => LiteralValue::Boolean(*truth),
        CellValue::Error(error) => LiteralValue::Error(kind_of(*error).into()),
    }
}

/// Turns a result into a cell's value, and names the format that it calls for.
fn came_to(value: LiteralValue, format: Option<FormatId>) -> (CellValue, Option<&'static str>) {
    let plain = |value| (value, format.and_then(format_code));
    match value {
        LiteralValue::Int(number) => plain(CellValue::Number(number as f64)),
        LiteralValue::Number(number) if number.is_finite() => plain(CellValue::Number(number + 0.0)),
        LiteralValue::Number(_) => (CellValue::Error(CellError::Number), None),
        LiteralValue::Text(text) if text.len() > CELL_TEXT_BYTES_MAX => (CellValue::Error(CellError::Value), None),
        LiteralValue::Text(text) => (CellValue::Text(text.into()), None),
        LiteralValue::Boolean(truth) => (CellValue::Bool(truth), None),
        LiteralValue::Array(mut rows) if rows.len() == 1 && rows[0].len() == 1 => {
            came_to(rows.remove(0).remove(0), format)
        }
        // A formula fills one cell; what needs more says so.
        LiteralValue::Array(_) => (CellValue::Error(CellError::Spill), None),
        LiteralValue::Date(date) => (CellValue::Number(serial_of(date)), Some(DATE)),
        LiteralValue::DateTime(moment) => (CellValue::Number(serial_of_moment(moment)), Some(DATE_TIME)),
        LiteralValue::Time(time) => (CellValue::Number(day_part(time)), Some(TIME)),
        LiteralValue::Duration(span) => {
            (CellValue::Number(span.num_milliseconds() as f64 / 86_400_000.0), Some("[h]:mm:ss"))
        }
        LiteralValue::Empty => (CellValue::Empty, None),
        LiteralValue::Pending => (CellValue::Error(CellError::Calculation), None),
        LiteralValue::Error(error) => (CellValue::Error(error_of(error.kind)), None),
    }
}

fn serial_of_moment(moment: NaiveDateTime) -> f64 {
    serial_of(moment.date()) + day_part(moment.time())
}

fn day_part(time: NaiveTime) -> f64 {
    f64::from(time.num_seconds_from_midnight()) / 86_400.0
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

const fn kind_of(error: CellError) -> ExcelErrorKind {
    match error {
        CellError::Null => ExcelErrorKind::Null,
        CellError::Division => ExcelErrorKind::Div,
        CellError::Value => ExcelErrorKind::Value,
        CellError::Reference => ExcelErrorKind::Ref,
        CellError::Name => ExcelErrorKind::Name,
        CellError::Number => ExcelErrorKind::Num,
        CellError::NotAvailable => ExcelErrorKind::Na,
        CellError::Spill => ExcelErrorKind::Spill,
        CellError::Circular => ExcelErrorKind::Circ,
        CellError::Calculation => ExcelErrorKind::Calc,
    }
}

/// Returns the library's number for a format, as far as it has one; other dates count as dates.
fn format_id(code: &str) -> Option<FormatId> {
    match code {
        "" => None,
        DATE => Some(FormatId::DATE),
        DATE_TIME => Some(FormatId::DATETIME),
        TIME => Some(FormatId::TIME),
        code => {
            let builtin = (0..=49).find(|id| builtin_code(*id) == Some(code)).map(FormatId);
            builtin.or_else(|| is_date_format(code).then_some(FormatId::DATE))
        }
    }
}

fn format_code(id: FormatId) -> Option<&'static str> {
    match id {
        FormatId::GENERAL => None,
        FormatId::DATE => Some(DATE),
        FormatId::DATETIME => Some(DATE_TIME),
        FormatId::TIME => Some(TIME),
        FormatId(id) => builtin_code(id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computing_may_cost_so_much_and_no_more() {
        let budget = Budget::default();
        assert!(budget.charge(COMPUTE_COST_MAX - 1));
        assert!(budget.charge(1));
        assert!(!budget.is_spent());
        assert!(!budget.charge(1));
        assert!(budget.is_spent());
    }

    #[test]
    fn only_references_are_renamed() {
        let rename = |text: &str| rename_worksheet(text, "Old", "New one");
        assert_eq!(rename("=Old!A1+old!B2:C3").as_deref(), Some("='New one'!A1+'New one'!B2:C3"));
        assert_eq!(rename("=\"Old!A1\"&Older!A1&Old"), None);
        assert_eq!(rename("='Old'!A:A").as_deref(), Some("='New one'!A:A"));
    }
}
