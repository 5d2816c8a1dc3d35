//! Walks a formula that was read: literals, references, operators, calls. Everything that it does draws on the budget of the call, and how
//! deep it goes is limited, so that no formula takes the process down.

use std::cell::{Cell as Slot, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use dayshift_engine::{Budget, SmolStr};
use formualizer_common::LiteralValue;
use formualizer_parse::parser::{ASTNode, ASTNodeType, BinaryOperator, ReferenceType, UnaryOperator};

use super::functions::{self, Call, Function};
use super::operand::{Binding, Format, Grid, Lambda, Operand, Placed, Region, Scope, Table, meaning};
use super::value::{Fault, Res, TextBuilder};
use super::{FORMULA_AREA_CELLS_MAX, Surroundings, error_of, format_of, operators};
use crate::sheets::a1::{Area, CellRef, GRID_COLUMNS_MAX, GRID_ROWS_MAX};
use crate::sheets::cell::{CellError, CellValue, Precedent};
use crate::sheets::index::FormulaAt;
use crate::sheets::state::Book;

/// How many steps deep a calculation may go: the parser's trees have up to 256 levels, and functions that call themselves add to them.
const DEPTH_MAX: u32 = 320;

/// What a step of the walk costs.
const STEP_COST: u64 = 4;
/// What calling a function costs, and each value of an array that it is called for.
pub(super) const CALL_COST: u64 = 8;
/// What visiting a cell of a worksheet costs.
const VISIT_COST: u64 = 2;
/// How many values that are held in memory can be looked at for one unit.
pub(super) const LOOKED_AT_PER_UNIT: u64 = 4;
/// From how many cells on an area is kept for the next formula that looks at it.
const KEPT_CELLS_MIN: u64 = 256;
/// How many areas are kept or remembered.
const KEPT_AREAS_MAX: usize = 256;

/// Areas that were looked at: how many cells each had, and from the second time on what they hold.
pub(super) type Kept = BTreeMap<Precedent, Option<Rc<Vec<Placed>>>>;

/// One calculation.
pub(super) struct Evaluator<'a> {
    pub(super) book: &'a Book,
    pub(super) place: &'a FormulaAt,
    pub(super) surroundings: &'a Surroundings<'a>,
    looked: RefCell<BTreeSet<Precedent>>,
    scope: RefCell<Scope<'a>>,
    depth: Slot<u32>,
    draws: Slot<u64>,
}

impl<'a> Evaluator<'a> {
    pub(super) fn new(book: &'a Book, place: &'a FormulaAt, surroundings: &'a Surroundings<'a>) -> Self {
        Self {
            book,
            place,
            surroundings,
            looked: RefCell::default(),
            scope: RefCell::default(),
            depth: Slot::default(),
            draws: Slot::default(),
        }
    }

    /// Returns what was looked at.
    pub(super) fn into_looked(self) -> BTreeSet<Precedent> {
        self.looked.into_inner()
    }

    pub(super) fn budget(&self) -> &'a Budget {
        self.surroundings.budget
    }

    /// Returns a text to put together.
    pub(super) fn text(&self) -> TextBuilder<'a> {
        TextBuilder::new(self.budget())
    }

    /// Returns `text` as a value.
    ///
    /// # Errors
    ///
    /// `#VALUE!` when it is longer than a cell may hold.
    pub(super) fn text_value(&self, text: &str) -> Res<CellValue> {
        let mut builder = self.text();
        builder.push(text)?;
        Ok(builder.finish())
    }

    /// Returns a number from 0 up to 1, another one each time.
    pub(super) fn chance(&self) -> f64 {
        self.draws.set(self.draws.get() + 1);
        let sheet = self.book.peek_order().iter().position(|name| **name == self.place.worksheet).unwrap_or_default();
        let CellRef { row, column } = self.place.at;
        let parts = [sheet as u64, u64::from(row), u64::from(column), self.draws.get()];
        let mixed = parts.iter().fold(self.surroundings.seed, |state, part| mix(state ^ mix(*part)));
        (mixed >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Evaluates a part of a formula. Errors of the calculation are values; only a spent budget ends it.
    pub(super) fn evaluate(&self, node: &'a ASTNode) -> Res<Operand<'a>> {
        if self.depth.get() >= DEPTH_MAX {
            return Ok(CellError::Calculation.into());
        }
        self.budget().work(STEP_COST)?;
        self.depth.set(self.depth.get() + 1);
        let outcome = self.step(node);
        self.depth.set(self.depth.get() - 1);
        match outcome {
            Err(Fault::Error(error)) => Ok(error.into()),
            Ok(_) | Err(Fault::Over(_)) => outcome,
        }
    }

    fn step(&self, node: &'a ASTNode) -> Res<Operand<'a>> {
        match &node.node_type {
            ASTNodeType::Literal(literal) => Ok(value_of(literal).into()),
            ASTNodeType::Omitted => Ok(Operand::Omitted),
            ASTNodeType::Reference { reference, .. } => self.reference(reference),
            ASTNodeType::UnaryOp { op, expr } => self.unary(*op, expr),
            ASTNodeType::BinaryOp { op, left, right } => self.binary(*op, left, right),
            ASTNodeType::Function { name, args } => self.call_named(name, args),
            ASTNodeType::Call { callee, args } => match self.evaluate(callee)? {
                Operand::Lambda(lambda) => self.apply(&lambda, self.evaluated(args)?),
                Operand::Value(CellValue::Error(error), _) => Err(error.into()),
                Operand::Value(..) | Operand::Area(_) | Operand::Array(_) | Operand::Omitted => {
                    Err(CellError::Value.into())
                }
            },
            ASTNodeType::Array(rows) => self.array(rows),
        }
    }

    fn array(&self, rows: &'a [Vec<ASTNode>]) -> Res<Operand<'a>> {
        let columns = rows.first().map_or(0, Vec::len);
        if rows.iter().any(|row| row.len() != columns) {
            return Err(CellError::Value.into());
        }
        let mut cells = Vec::new();
        for node in rows.iter().flatten() {
            let value = self.evaluate(node)?;
            cells.push(self.single(&value)?);
        }
        Ok(Grid::new(rows.len(), columns, cells)?.into())
    }

    fn unary(&self, op: UnaryOperator, node: &'a ASTNode) -> Res<Operand<'a>> {
        let operand = self.evaluate(node)?;
        match op {
            UnaryOperator::Plus => Ok(operand),
            UnaryOperator::Minus | UnaryOperator::Percent => operators::unary(self, op, &operand),
            UnaryOperator::ImplicitIntersection => Ok(self.intersected(operand)),
            UnaryOperator::Spill | _ => Err(CellError::Reference.into()),
        }
    }

    fn binary(&self, op: BinaryOperator, left: &'a ASTNode, right: &'a ASTNode) -> Res<Operand<'a>> {
        let left = self.evaluate(left)?;
        let right = self.evaluate(right)?;
        match op {
            BinaryOperator::Range => self.spanned(&left, &right),
            BinaryOperator::Intersection => self.shared(&left, &right),
            BinaryOperator::Add
            | BinaryOperator::Subtract
            | BinaryOperator::Multiply
            | BinaryOperator::Divide
            | BinaryOperator::Power
            | BinaryOperator::Concat
            | BinaryOperator::Equal
            | BinaryOperator::NotEqual
            | BinaryOperator::Less
            | BinaryOperator::Greater
            | BinaryOperator::LessEqual
            | BinaryOperator::GreaterEqual => operators::binary(self, op, &left, &right),
            BinaryOperator::Union | _ => Err(CellError::Value.into()),
        }
    }

    /// Returns the box that two references span.
    fn spanned(&self, left: &Operand<'a>, right: &Operand<'a>) -> Res<Operand<'a>> {
        let (left, right) = (self.region_of(left)?, self.region_of(right)?);
        if left.worksheet != right.worksheet {
            return Err(CellError::Value.into());
        }
        let both = Area::spanning(left.area.first, right.area.first);
        let ends = Area::spanning(left.area.last, right.area.last);
        let area = Area::spanning(both.first, ends.last);
        Ok(Operand::Area(self.looked_at(Region { area, ..left })))
    }

    /// Returns the cells that two references share.
    fn shared(&self, left: &Operand<'a>, right: &Operand<'a>) -> Res<Operand<'a>> {
        let (left, right) = (self.region_of(left)?, self.region_of(right)?);
        let (one, other) = (left.area, right.area);
        let first =
            CellRef { row: one.first.row.max(other.first.row), column: one.first.column.max(other.first.column) };
        let last = CellRef { row: one.last.row.min(other.last.row), column: one.last.column.min(other.last.column) };
        if left.worksheet != right.worksheet || first.row > last.row || first.column > last.column {
            return Err(CellError::Null.into());
        }
        Ok(Operand::Area(Region { area: Area { first, last }, ..left }))
    }

    /// Returns the cell of an area that stands in the formula's row or column; the first value of an array.
    fn intersected(&self, operand: Operand<'a>) -> Operand<'a> {
        match operand {
            Operand::Area(region) if region.area.is_cell() => operand,
            Operand::Area(region) => {
                let Area { first, last } = region.area;
                let mut at = first;
                if first.row != last.row {
                    at.row = self.place.at.row;
                }
                if first.column != last.column {
                    at.column = self.place.at.column;
                }
                if region.area.contains(at) {
                    Operand::Area(Region { area: Area::cell(at), ..region })
                } else {
                    CellError::Value.into()
                }
            }
            Operand::Array(grid) => grid.at(0, 0).clone().into(),
            Operand::Value(..) | Operand::Lambda(_) | Operand::Omitted => operand,
        }
    }

    fn reference(&self, reference: &ReferenceType) -> Res<Operand<'a>> {
        if let ReferenceType::NamedRange(name) = reference
            && let Some(value) = meaning(&self.scope.borrow(), name)
        {
            return Ok(value);
        }
        self.resolve(reference).map(Operand::Area)
    }

    /// Returns the area that a reference means, and remembers that it was looked at.
    pub(super) fn resolve(&self, reference: &ReferenceType) -> Res<Region<'a>> {
        let is_name = matches!(reference, ReferenceType::NamedRange(_));
        let missing = if is_name { CellError::Name } else { CellError::Reference };
        let found = self.book.precedent(reference, &self.place.worksheet).ok_or(missing)?;
        let known = self.book.cells.get_key_value(&found.worksheet);
        let region = known.map(|(worksheet, cells)| Region { worksheet, cells, area: found.area });
        self.looked.borrow_mut().insert(found);
        region.ok_or(Fault::Error(CellError::Reference))
    }

    /// Remembers that an area was looked at which the formula does not name.
    pub(super) fn looked_at(&self, region: Region<'a>) -> Region<'a> {
        self.looked.borrow_mut().insert(Precedent { worksheet: region.worksheet.clone(), area: region.area });
        region
    }

    /// Returns the area that an operand is.
    ///
    /// # Errors
    ///
    /// The error that it is; `#VALUE!` when it is no reference.
    pub(super) fn region_of(&self, operand: &Operand<'a>) -> Res<Region<'a>> {
        match operand {
            Operand::Area(region) => Ok(*region),
            Operand::Value(CellValue::Error(error), _) => Err((*error).into()),
            Operand::Value(..) | Operand::Array(_) | Operand::Lambda(_) | Operand::Omitted => {
                Err(CellError::Value.into())
            }
        }
    }

    /// Evaluates arguments.
    pub(super) fn evaluated(&self, nodes: &'a [ASTNode]) -> Res<Vec<Operand<'a>>> {
        nodes.iter().map(|node| self.evaluate(node)).collect()
    }

    fn call_named(&self, name: &str, nodes: &'a [ASTNode]) -> Res<Operand<'a>> {
        let bound = meaning(&self.scope.borrow(), name);
        if let Some(Operand::Lambda(lambda)) = bound {
            return self.apply(&lambda, self.evaluated(nodes)?);
        }
        let function = functions::find(name).ok_or(CellError::Name)?;
        self.budget().work(CALL_COST)?;
        if !function.takes(nodes.len()) {
            return Err(CellError::Value.into());
        }
        match function.call {
            Call::Lazy(call) => call(self, nodes),
            Call::Whole(call) => call(self, &self.evaluated(nodes)?).map(|operand| shown_as(operand, function.format)),
            Call::Each(call) => self.lifted(function, call, &self.evaluated(nodes)?, true),
            Call::EachWithErrors(call) => self.lifted(function, call, &self.evaluated(nodes)?, false),
        }
    }

    /// Calls a function that takes single values: once, or for every value of the arrays that it is given.
    fn lifted(
        &self,
        function: &Function,
        call: functions::EachCall,
        arguments: &[Operand<'a>],
        stops_at_errors: bool,
    ) -> Res<Operand<'a>> {
        let once = |values: &[CellValue]| -> Res<CellValue> {
            if stops_at_errors && let Some(CellValue::Error(error)) = values.iter().find(|value| is_error(value)) {
                return Err((*error).into());
            }
            call(self, values)
        };
        if arguments.iter().all(is_single) {
            let values = arguments.iter().map(|argument| self.single(argument)).collect::<Res<Vec<_>>>()?;
            return Ok(Operand::Value(once(&values)?, function.format));
        }
        let grids = arguments.iter().map(|argument| self.grid(argument)).collect::<Res<Vec<_>>>()?;
        let rows = grids.iter().map(|grid| grid.rows).max().unwrap_or(1);
        let columns = grids.iter().map(|grid| grid.columns).max().unwrap_or(1);
        let mut cells = self.room(u64::from(rows) * u64::from(columns))?;
        let mut values = Vec::with_capacity(grids.len());
        for row in 0..rows {
            for column in 0..columns {
                self.budget().work(CALL_COST)?;
                values.clear();
                values.extend(grids.iter().map(|grid| grid.spread(row, column)));
                cells.push(match once(&values) {
                    Ok(value) => value,
                    Err(Fault::Error(error)) => CellValue::Error(error),
                    Err(over @ Fault::Over(_)) => return Err(over),
                });
            }
        }
        Ok(Grid::new(rows as usize, columns as usize, cells)?.into())
    }

    /// Calls a function that the formula defines.
    pub(super) fn apply(&self, lambda: &Lambda<'a>, arguments: Vec<Operand<'a>>) -> Res<Operand<'a>> {
        if arguments.len() > lambda.parameters.len() {
            return Err(CellError::Value.into());
        }
        self.budget().work(CALL_COST)?;
        let mut scope = lambda.scope.clone();
        let rest = std::iter::repeat_with(|| Operand::Omitted);
        for (name, argument) in lambda.parameters.iter().zip(arguments.into_iter().chain(rest)) {
            scope = Binding::add(&scope, name, argument);
        }
        self.within(scope, lambda.body)
    }

    /// Evaluates a part of a formula in which names mean what `scope` says.
    pub(super) fn within(&self, scope: Scope<'a>, node: &'a ASTNode) -> Res<Operand<'a>> {
        let outer = self.scope.replace(scope);
        let outcome = self.evaluate(node);
        self.scope.replace(outer);
        outcome
    }

    /// Returns what names mean here.
    pub(super) fn scope(&self) -> Scope<'a> {
        self.scope.borrow().clone()
    }

    /// Returns an operand as one value: of an area or an array the first.
    pub(super) fn single(&self, operand: &Operand<'a>) -> Res<CellValue> {
        match operand {
            Operand::Value(value, _) => Ok(value.clone()),
            Operand::Area(region) => {
                self.budget().work(VISIT_COST)?;
                Ok(region.cell(0, 0).map_or(CellValue::Empty, |cell| cell.value.clone()))
            }
            Operand::Array(grid) => Ok(grid.at(0, 0).clone()),
            Operand::Lambda(_) => Err(CellError::Calculation.into()),
            Operand::Omitted => Ok(CellValue::Empty),
        }
    }

    /// Returns the format that an operand's value is shown in, as far as a result takes it over.
    pub(super) fn format(&self, operand: &Operand<'a>) -> Format {
        match operand {
            Operand::Value(_, format) => *format,
            Operand::Area(region) => region.cell(0, 0).and_then(|cell| format_of(&cell.format)),
            Operand::Array(_) | Operand::Lambda(_) | Operand::Omitted => None,
        }
    }

    /// Returns room for `count` values.
    ///
    /// # Errors
    ///
    /// `#NUM!` when there are more than an area may have.
    pub(super) fn room(&self, count: u64) -> Res<Vec<CellValue>> {
        if count > FORMULA_AREA_CELLS_MAX {
            return Err(CellError::Number.into());
        }
        self.budget().bytes(count * size_of::<CellValue>() as u64 / LOOKED_AT_PER_UNIT)?;
        // At most a million.
        Ok(Vec::with_capacity(count as usize))
    }

    /// Returns an operand as a box of values in memory. An open area ends where the data ends.
    pub(super) fn grid(&self, operand: &Operand<'a>) -> Res<Rc<Grid>> {
        match operand {
            Operand::Array(grid) => Ok(Rc::clone(grid)),
            Operand::Area(region) if !region.area.is_cell() => self.dense(region),
            Operand::Value(..) | Operand::Area(_) | Operand::Lambda(_) | Operand::Omitted => {
                Ok(Rc::new(Grid::single(self.single(operand)?)))
            }
        }
    }

    fn dense(&self, region: &Region<'a>) -> Res<Rc<Grid>> {
        let region = self.trimmed(region)?;
        let mut cells = self.room(region.area.cells())?;
        cells.resize(region.area.cells() as usize, CellValue::Empty);
        let columns = region.area.columns() as usize;
        let Area { first, .. } = region.area;
        for (at, cell) in region.filled() {
            self.budget().work(VISIT_COST)?;
            cells[(at.row - first.row) as usize * columns + (at.column - first.column) as usize] = cell.value.clone();
        }
        Ok(Rc::new(Grid::new(region.area.rows() as usize, columns, cells)?))
    }

    /// Returns an area without what lies behind the last cell with data, if it is open there.
    fn trimmed(&self, region: &Region<'a>) -> Res<Region<'a>> {
        if !region.area.is_open() {
            return Ok(*region);
        }
        let Area { first, last } = region.area;
        let mut end = first;
        for (at, _) in region.filled() {
            self.budget().work(VISIT_COST)?;
            end.row = end.row.max(at.row);
            end.column = end.column.max(at.column);
        }
        if last.row != GRID_ROWS_MAX - 1 {
            end.row = last.row;
        }
        if last.column != GRID_COLUMNS_MAX - 1 {
            end.column = last.column;
        }
        Ok(Region { area: Area { first, last: end }, ..*region })
    }

    /// Returns an operand as values with their places, of which an area's empty cells are not held.
    ///
    /// # Errors
    ///
    /// `#NUM!` for an area of more cells than a formula may look at.
    pub(super) fn table(&self, operand: &Operand<'a>) -> Res<Table> {
        let Operand::Area(region) = operand else { return Ok(Table::Dense(self.grid(operand)?)) };
        let (rows, columns) = (region.area.rows(), region.area.columns());
        let cells = self.filled(region)?;
        Ok(Table::Sparse { rows, columns, cells })
    }

    fn filled(&self, region: &Region<'a>) -> Res<Rc<Vec<Placed>>> {
        if !region.area.is_open() && region.area.cells() > FORMULA_AREA_CELLS_MAX {
            return Err(CellError::Number.into());
        }
        if region.area.cells() < KEPT_CELLS_MIN {
            return self.visited(region).map(Rc::new);
        }
        let area = Precedent { worksheet: region.worksheet.clone(), area: region.area };
        let known = self.surroundings.kept.borrow().get(&area).cloned();
        if let Some(Some(cells)) = known {
            self.budget().work(1 + cells.len() as u64 / LOOKED_AT_PER_UNIT)?;
            return Ok(cells);
        }
        let cells = Rc::new(self.visited(region)?);
        let mut kept = self.surroundings.kept.borrow_mut();
        if kept.len() >= KEPT_AREAS_MAX {
            kept.clear();
        }
        // What is looked at twice is likely to be looked at a third time.
        kept.insert(area, known.is_some().then(|| Rc::clone(&cells)));
        Ok(cells)
    }

    fn visited(&self, region: &Region<'a>) -> Res<Vec<Placed>> {
        let Area { first, .. } = region.area;
        let mut cells = Vec::new();
        for (at, cell) in region.filled() {
            self.budget().work(VISIT_COST)?;
            if cell.value != CellValue::Empty {
                cells.push((at.row - first.row, at.column - first.column, cell.value.clone()));
            }
        }
        if cells.len() as u64 > FORMULA_AREA_CELLS_MAX {
            return Err(CellError::Number.into());
        }
        Ok(cells)
    }
}

/// Returns whether an operand is one value.
pub(super) fn is_single(operand: &Operand<'_>) -> bool {
    match operand {
        Operand::Value(..) | Operand::Lambda(_) | Operand::Omitted => true,
        Operand::Area(region) => region.area.is_cell(),
        Operand::Array(grid) => grid.cells.len() == 1,
    }
}

fn is_error(value: &CellValue) -> bool {
    matches!(value, CellValue::Error(_))
}

fn shown_as(operand: Operand<'_>, format: Format) -> Operand<'_> {
    match operand {
        Operand::Value(value, None) => Operand::Value(value, format),
        Operand::Value(..) | Operand::Area(_) | Operand::Array(_) | Operand::Lambda(_) | Operand::Omitted => operand,
    }
}

fn value_of(literal: &LiteralValue) -> CellValue {
    match literal {
        LiteralValue::Int(number) => CellValue::Number(*number as f64),
        LiteralValue::Number(number) if number.is_finite() => CellValue::Number(*number),
        LiteralValue::Text(text) => CellValue::Text(SmolStr::new(text)),
        LiteralValue::Boolean(truth) => CellValue::Bool(*truth),
        LiteralValue::Empty => CellValue::Empty,
        LiteralValue::Error(error) => CellValue::Error(error_of(error.kind)),
        LiteralValue::Number(_) => CellValue::Error(CellError::Number),
        // The parser makes none of these.
        LiteralValue::Array(_)
        | LiteralValue::Date(_)
        | LiteralValue::DateTime(_)
        | LiteralValue::Time(_)
        | LiteralValue::Duration(_)
        | LiteralValue::Pending => CellValue::Error(CellError::Calculation),
    }
}

/// Mixes the bits of a number (the finaliser of SplitMix64; Steele, Lea and Flood, 2014).
const fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}
