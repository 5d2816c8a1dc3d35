//! Functions that look only at cells for which conditions hold: `SUMIF` and its kin, and those of databases. A condition is a value, or a
//! text with a comparison before it (`>5`, `<>open`), with `*`, `?` and `~`.

use super::aggregate::is_blank;
use super::{Function, MANY, whole};
use crate::sheets::cell::{CellError, CellValue};
use crate::sheets::formula::evaluate::{Evaluator, LOOKED_AT_PER_UNIT, is_single};
use crate::sheets::formula::operand::{Grid, Operand, Table};
use crate::sheets::formula::pattern::Pattern;
use crate::sheets::formula::value::{Fault, Res, compare, compare_text, finite, number_in};

pub(super) const FUNCTIONS: &[Function] = &[
    whole("COUNTIF", 2, 2, |on, a| for_each_criterion(on, a, &[1], |on, a| count(on, a))),
    whole("COUNTIFS", 2, MANY, |on, a| for_each_criterion(on, a, &odd(a.len(), 1), |on, a| count(on, a))),
    whole("SUMIF", 2, 3, |on, a| for_each_criterion(on, a, &[1], |on, a| sum(&picked_by_one(on, a)?))),
    whole("SUMIFS", 3, MANY, |on, a| {
        for_each_criterion(on, a, &odd(a.len(), 2), |on, a| sum(&picked(on, &a[0], &a[1..])?))
    }),
    whole("AVERAGEIF", 2, 3, |on, a| {
        for_each_criterion(on, a, &[1], |on, a| finite(super::aggregate::mean(&picked_by_one(on, a)?)?))
    }),
    whole("AVERAGEIFS", 3, MANY, |on, a| {
        for_each_criterion(on, a, &odd(a.len(), 2), |on, a| {
            finite(super::aggregate::mean(&picked(on, &a[0], &a[1..])?)?)
        })
    }),
    whole("MINIFS", 3, MANY, |on, a| {
        for_each_criterion(on, a, &odd(a.len(), 2), |on, a| extreme(&picked(on, &a[0], &a[1..])?, f64::min))
    }),
    whole("MAXIFS", 3, MANY, |on, a| {
        for_each_criterion(on, a, &odd(a.len(), 2), |on, a| extreme(&picked(on, &a[0], &a[1..])?, f64::max))
    }),
    whole("DSUM", 3, 3, |on, a| Ok(sum(&rows_numbers(on, a)?)?.into())),
    whole("DAVERAGE", 3, 3, |on, a| Ok(finite(super::aggregate::mean(&rows_numbers(on, a)?)?)?.into())),
    whole("DCOUNT", 3, 3, |on, a| Ok(Operand::from(rows_numbers(on, a)?.len() as f64))),
    whole("DCOUNTA", 3, 3, |on, a| {
        let filled = rows_values(on, a)?.iter().filter(|value| **value != CellValue::Empty).count();
        Ok(Operand::from(filled as f64))
    }),
    whole("DMAX", 3, 3, |on, a| Ok(extreme(&rows_numbers(on, a)?, f64::max)?.into())),
    whole("DMIN", 3, 3, |on, a| Ok(extreme(&rows_numbers(on, a)?, f64::min)?.into())),
    whole("DPRODUCT", 3, 3, |on, a| Ok(finite(rows_numbers(on, a)?.iter().product())?.into())),
    whole("DSTDEV", 3, 3, |on, a| spread(on, a, true, f64::sqrt)),
    whole("DSTDEVP", 3, 3, |on, a| spread(on, a, false, f64::sqrt)),
    whole("DVAR", 3, 3, |on, a| spread(on, a, true, |variance| variance)),
    whole("DVARP", 3, 3, |on, a| spread(on, a, false, |variance| variance)),
    whole("DGET", 3, 3, |on, a| {
        let mut values = rows_values(on, a)?;
        match values.len() {
            0 => Err(CellError::Value.into()),
            1 => Ok(values.remove(0).into()),
            _ => Err(CellError::Number.into()),
        }
    }),
];

/// How many places conditions can be asked for: sixteen whole columns. A place is a byte, given back when the function is done.
const PLACES_MAX: u64 = 1 << 24;

/// A condition on one value.
pub(super) struct Criterion {
    op: Op,
    wanted: Wanted,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Op {
    Equal,
    NotEqual,
    Less,
    Greater,
    LessEqual,
    GreaterEqual,
}

enum Wanted {
    /// A blank cell, or a text without characters; by `=` and `<>` alone only the former.
    Blank {
        or_empty_text: bool,
    },
    Number(f64),
    Bool(bool),
    Error(CellError),
    Text(String),
    Pattern(Pattern),
}

impl Criterion {
    /// Reads a condition.
    pub(super) fn new(value: &CellValue) -> Self {
        let text = match value {
            CellValue::Text(text) => text.as_str(),
            CellValue::Empty => return Self { op: Op::Equal, wanted: Wanted::Number(0.0) },
            CellValue::Number(number) => return Self { op: Op::Equal, wanted: Wanted::Number(*number) },
            CellValue::Bool(truth) => return Self { op: Op::Equal, wanted: Wanted::Bool(*truth) },
            CellValue::Error(error) => return Self { op: Op::Equal, wanted: Wanted::Error(*error) },
        };
        const OPS: [(&str, Op); 6] = [
            ("<=", Op::LessEqual),
            (">=", Op::GreaterEqual),
            ("<>", Op::NotEqual),
            ("<", Op::Less),
            (">", Op::Greater),
            ("=", Op::Equal),
        ];
        let found = OPS.into_iter().find_map(|(mark, op)| Some((text.strip_prefix(mark)?, op)));
        let (rest, op) = found.unwrap_or((text, Op::Equal));
        let wanted = if rest.is_empty() {
            Wanted::Blank { or_empty_text: found.is_none() }
        } else if let Some(number) = number_in(rest) {
            Wanted::Number(number)
        } else if rest.eq_ignore_ascii_case("true") || rest.eq_ignore_ascii_case("false") {
            Wanted::Bool(rest.eq_ignore_ascii_case("true"))
        } else if let Ok(error) = rest.parse() {
            Wanted::Error(error)
        } else if Pattern::is_one(rest) && matches!(op, Op::Equal | Op::NotEqual) {
            Wanted::Pattern(Pattern::new(rest))
        } else {
            Wanted::Text(rest.to_owned())
        };
        Self { op, wanted }
    }

    /// Returns whether the condition holds for a value.
    pub(super) fn holds(&self, value: &CellValue, on: &Evaluator<'_>) -> Res<bool> {
        let is_equality = matches!(self.op, Op::Equal | Op::NotEqual);
        let order = match (&self.wanted, value) {
            (Wanted::Blank { or_empty_text }, value) => {
                let is_blank = if *or_empty_text { is_blank(value) } else { *value == CellValue::Empty };
                return Ok(match self.op {
                    Op::Equal => is_blank,
                    Op::NotEqual => !is_blank,
                    Op::Less | Op::Greater | Op::LessEqual | Op::GreaterEqual => false,
                });
            }
            (Wanted::Number(wanted), CellValue::Number(number)) => Some(number.total_cmp(wanted)),
            (Wanted::Number(wanted), CellValue::Text(text)) if is_equality => {
                let begins = text.starts_with(|c: char| !c.is_alphabetic());
                let number = if begins { number_in(text) } else { None };
                number.map(|number| number.total_cmp(wanted))
            }
            (Wanted::Bool(wanted), CellValue::Bool(truth)) => Some(truth.cmp(wanted)),
            (Wanted::Error(wanted), CellValue::Error(error)) => Some(error.cmp(wanted)),
            (Wanted::Text(wanted), CellValue::Text(text)) => Some(compare_text(text, wanted)),
            (Wanted::Pattern(pattern), CellValue::Text(text)) => {
                let matches = pattern.matches(text, on.budget())?;
                return Ok(matches == (self.op == Op::Equal));
            }
            _ => None,
        };
        Ok(match (self.op, order) {
            (Op::NotEqual, order) => order.is_none_or(std::cmp::Ordering::is_ne),
            (Op::Equal, Some(order)) => order.is_eq(),
            (Op::Less, Some(order)) => order.is_lt(),
            (Op::Greater, Some(order)) => order.is_gt(),
            (Op::LessEqual, Some(order)) => order.is_le(),
            (Op::GreaterEqual, Some(order)) => order.is_ge(),
            (_, None) => false,
        })
    }
}

/// The places of a box at which conditions hold.
struct Chosen {
    rows: u32,
    columns: u32,
    /// The part of the box that is held, row by row; behind it everything is empty.
    held_rows: u32,
    held_columns: u32,
    places: Vec<bool>,
    /// Whether the conditions hold for empty cells behind that part.
    behind: bool,
}

impl Chosen {
    fn new(on: &Evaluator<'_>, tables: &[Table]) -> Res<Self> {
        let (rows, columns) = tables.first().map_or((0, 0), |table| (table.rows(), table.columns()));
        if tables.iter().any(|table| (table.rows(), table.columns()) != (rows, columns)) {
            return Err(CellError::Value.into());
        }
        let held = |reach: &dyn Fn(&Table) -> u32| tables.iter().map(reach).max().unwrap_or_default();
        let held_rows = held(&|table| match table {
            Table::Sparse { cells, .. } => cells.last().map_or(0, |(row, _, _)| row + 1),
            Table::Dense(grid) => grid.rows,
        });
        let held_columns = held(&|table| match table {
            Table::Sparse { cells, columns: 1, .. } => u32::from(!cells.is_empty()),
            Table::Sparse { cells, .. } => cells.iter().map(|(_, column, _)| column + 1).max().unwrap_or_default(),
            Table::Dense(grid) => grid.columns,
        });
        let count = u64::from(held_rows) * u64::from(held_columns);
        if count > PLACES_MAX {
            return Err(CellError::Number.into());
        }
        on.budget().work(count / 8)?;
        Ok(Self { rows, columns, held_rows, held_columns, places: vec![true; count as usize], behind: true })
    }

    /// Keeps only places at which the condition holds as well.
    fn narrow(&mut self, on: &Evaluator<'_>, table: &Table, criterion: &Criterion) -> Res<()> {
        on.budget().work((self.places.len() + table.len()) as u64 / LOOKED_AT_PER_UNIT)?;
        let for_blank = criterion.holds(&CellValue::Empty, on)?;
        self.behind &= for_blank;
        let mut next = 0;
        for (row, column, value) in table.iter() {
            let at = row as usize * self.held_columns as usize + column as usize;
            if !for_blank {
                self.places[next..at].fill(false);
            }
            next = at + 1;
            if self.places[at] && !criterion.holds(value, on)? {
                self.places[at] = false;
            }
        }
        if !for_blank {
            self.places[next..].fill(false);
        }
        Ok(())
    }

    fn has(&self, row: u32, column: u32) -> bool {
        if row >= self.rows || column >= self.columns {
            false
        } else if row < self.held_rows && column < self.held_columns {
            self.places[row as usize * self.held_columns as usize + column as usize]
        } else {
            self.behind
        }
    }

    fn count(&self) -> u64 {
        let held = self.places.iter().filter(|chosen| **chosen).count() as u64;
        let all = u64::from(self.rows) * u64::from(self.columns);
        held + if self.behind { all - self.places.len() as u64 } else { 0 }
    }
}

/// Returns the indices from `start` on, every other one, below `count`.
fn odd(count: usize, start: usize) -> Vec<usize> {
    (start..count).step_by(2).collect()
}

/// Calls `once`; when a condition is an array, once for each of its values. (Of a second array the first value counts.)
fn for_each_criterion<'a>(
    on: &Evaluator<'a>,
    operands: &[Operand<'a>],
    criteria: &[usize],
    once: impl Fn(&Evaluator<'a>, &[Operand<'a>]) -> Res<CellValue>,
) -> Res<Operand<'a>> {
    let Some(index) = criteria.iter().find(|index| !is_single(&operands[**index])) else {
        return Ok(once(on, operands)?.into());
    };
    let grid = on.grid(&operands[*index])?;
    let mut cells = on.room(grid.cells.len() as u64)?;
    let mut operands = operands.to_vec();
    for value in &grid.cells {
        operands[*index] = value.clone().into();
        cells.push(match once(on, &operands) {
            Ok(value) => value,
            Err(Fault::Error(error)) => CellValue::Error(error),
            Err(over @ Fault::Over(_)) => return Err(over),
        });
    }
    Ok(Grid { cells, ..*grid }.into())
}

/// Returns the places at which all conditions hold, of operands that are areas and conditions in turn.
fn chosen<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>]) -> Res<Chosen> {
    if !operands.len().is_multiple_of(2) {
        return Err(CellError::Value.into());
    }
    let tables = operands.iter().step_by(2).map(|operand| on.table(operand)).collect::<Res<Vec<_>>>()?;
    let mut chosen = Chosen::new(on, &tables)?;
    for (table, operand) in tables.iter().zip(operands.iter().skip(1).step_by(2)) {
        chosen.narrow(on, table, &Criterion::new(&on.single(operand)?))?;
    }
    Ok(chosen)
}

fn count<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>]) -> Res<CellValue> {
    finite(chosen(on, operands)?.count() as f64)
}

/// Returns the numbers of an operand at the places at which conditions on others hold.
fn picked<'a>(on: &Evaluator<'a>, from: &Operand<'a>, conditions: &[Operand<'a>]) -> Res<Vec<f64>> {
    let chosen = chosen(on, conditions)?;
    let table = on.table(from)?;
    if (table.rows(), table.columns()) != (chosen.rows, chosen.columns) {
        return Err(CellError::Value.into());
    }
    numbers_at(on, &table, &chosen)
}

/// Likewise for one condition; the area that is picked from takes the shape of the one that is asked.
fn picked_by_one<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>]) -> Res<Vec<f64>> {
    let chosen = chosen(on, &operands[..2])?;
    let from = match operands.get(2) {
        None | Some(Operand::Omitted) => operands[0].clone(),
        Some(Operand::Area(region)) => {
            let resized = region.resized(chosen.rows, chosen.columns);
            let is_same = resized.area == region.area;
            Operand::Area(if is_same { resized } else { on.looked_at(resized) })
        }
        Some(other) => other.clone(),
    };
    numbers_at(on, &on.table(&from)?, &chosen)
}

fn numbers_at(on: &Evaluator<'_>, table: &Table, chosen: &Chosen) -> Res<Vec<f64>> {
    on.budget().work(table.len() as u64 / LOOKED_AT_PER_UNIT)?;
    let mut numbers = Vec::new();
    for (row, column, value) in table.iter() {
        match value {
            CellValue::Number(number) if chosen.has(row, column) => numbers.push(*number),
            CellValue::Error(error) if chosen.has(row, column) => return Err((*error).into()),
            CellValue::Empty | CellValue::Text(_) | CellValue::Bool(_) | CellValue::Number(_) | CellValue::Error(_) => {
            }
        }
    }
    Ok(numbers)
}

fn sum(numbers: &[f64]) -> Res<CellValue> {
    finite(numbers.iter().fold(0.0, |sum, number| sum + number))
}

fn extreme(numbers: &[f64], choose: fn(f64, f64) -> f64) -> Res<CellValue> {
    finite(numbers.iter().copied().reduce(choose).unwrap_or_default())
}

/// Returns the values in the column of a database whose rows meet the conditions: rows of alternatives under the columns' names.
fn rows_values<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>]) -> Res<Vec<CellValue>> {
    let (database, wanted, conditions) = (on.grid(&operands[0])?, on.single(&operands[1])?, on.grid(&operands[2])?);
    let named = |value: &CellValue| {
        let same = |name: &&u32| compare(database.at(0, **name), value).is_eq() && *value != CellValue::Empty;
        (0..database.columns).collect::<Vec<_>>().iter().find(same).copied()
    };
    let column = match &wanted {
        CellValue::Number(number) => super::cut(*number).ok().and_then(|number| u32::try_from(number - 1).ok()),
        value @ (CellValue::Empty | CellValue::Text(_) | CellValue::Bool(_) | CellValue::Error(_)) => named(value),
    };
    let column = column.filter(|column| *column < database.columns).ok_or(CellError::Value)?;
    let columns: Vec<Option<u32>> = (0..conditions.columns).map(|column| named(conditions.at(0, column))).collect();
    let mut values = Vec::new();
    for row in 1..database.rows {
        for alternative in 1..conditions.rows {
            on.budget().work(u64::from(conditions.columns))?;
            let mut holds = true;
            for (place, asked) in columns.iter().enumerate() {
                let condition = conditions.at(alternative, place as u32);
                let Some(asked) = asked.filter(|_| *condition != CellValue::Empty) else { continue };
                holds = holds && begins(condition).holds(database.at(row, asked), on)?;
            }
            if holds {
                values.push(database.at(row, column).clone());
                break;
            }
        }
    }
    Ok(values)
}

/// In conditions on a database a plain text stands for all that begin with it.
fn begins(condition: &CellValue) -> Criterion {
    let criterion = Criterion::new(condition);
    match (&criterion.wanted, condition) {
        (Wanted::Text(wanted), CellValue::Text(text)) if wanted == text.as_str() => {
            Criterion { op: Op::Equal, wanted: Wanted::Pattern(Pattern::new(&format!("{text}*"))) }
        }
        _ => criterion,
    }
}

fn rows_numbers<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>]) -> Res<Vec<f64>> {
    let mut numbers = Vec::new();
    for value in rows_values(on, operands)? {
        match value {
            CellValue::Number(number) => numbers.push(number),
            CellValue::Error(error) => return Err(error.into()),
            CellValue::Empty | CellValue::Text(_) | CellValue::Bool(_) => {}
        }
    }
    Ok(numbers)
}

fn spread<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>], is_sample: bool, then: fn(f64) -> f64) -> Res<Operand<'a>> {
    Ok(finite(then(super::statistics::variance(&rows_numbers(on, operands)?, is_sample)?))?.into())
}
