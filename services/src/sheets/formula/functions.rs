//! The functions that formulas can call, by name, and what each takes. Names and meanings are those of Excel and Google Sheets.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use formualizer_parse::parser::ASTNode;

use super::evaluate::Evaluator;
use super::operand::{Format, Operand};
use super::value::{Fault, Res, number_of, text_of, truth_of};
use crate::sheets::cell::{CellError, CellValue};

mod aggregate;
mod arithmetic;
mod array;
mod bases;
mod criteria;
mod date;
mod distribution;
mod financial;
mod information;
mod logical;
mod lookup;
mod matrix;
mod reference;
mod regression;
mod statistics;
mod text;
mod text_parts;
mod trigonometry;
mod workday;

/// Calls a function with single values.
pub(super) type EachCall = fn(&Evaluator<'_>, &[CellValue]) -> Res<CellValue>;

/// How a function is called.
#[derive(Clone, Copy)]
pub(super) enum Call {
    /// With single values; for arrays, once for each of their values. An error among them is what it comes to.
    Each(EachCall),
    /// Likewise, but it is shown errors as well.
    EachWithErrors(EachCall),
    /// With whatever its arguments came to.
    Whole(for<'a> fn(&Evaluator<'a>, &[Operand<'a>]) -> Res<Operand<'a>>),
    /// With its arguments as they are written.
    Lazy(for<'a> fn(&Evaluator<'a>, &'a [ASTNode]) -> Res<Operand<'a>>),
}

/// A function.
#[derive(Clone, Copy)]
pub(super) struct Function {
    name: &'static str,
    /// How many arguments it takes, at least and at most.
    least: usize,
    most: usize,
    pub(super) call: Call,
    /// The format that its result calls for.
    pub(super) format: Format,
}

impl Function {
    /// Returns whether it can be called with `count` arguments.
    pub(super) const fn takes(&self, count: usize) -> bool {
        self.least <= count && count <= self.most
    }

    /// Returns the function with a format that its result calls for.
    const fn shown(self, format: &'static str) -> Self {
        Self { format: Some(format), ..self }
    }
}

/// As many arguments as fit into a formula.
const MANY: usize = 255;

const fn each(name: &'static str, least: usize, most: usize, call: EachCall) -> Function {
    Function { name, least, most, call: Call::Each(call), format: None }
}

const fn each_with_errors(name: &'static str, least: usize, most: usize, call: EachCall) -> Function {
    Function { name, least, most, call: Call::EachWithErrors(call), format: None }
}

const fn whole(
    name: &'static str,
    least: usize,
    most: usize,
    call: for<'a> fn(&Evaluator<'a>, &[Operand<'a>]) -> Res<Operand<'a>>,
) -> Function {
    Function { name, least, most, call: Call::Whole(call), format: None }
}

const fn lazy(
    name: &'static str,
    least: usize,
    most: usize,
    call: for<'a> fn(&Evaluator<'a>, &'a [ASTNode]) -> Res<Operand<'a>>,
) -> Function {
    Function { name, least, most, call: Call::Lazy(call), format: None }
}

const TABLES: [&[Function]; 19] = [
    aggregate::FUNCTIONS,
    arithmetic::FUNCTIONS,
    array::FUNCTIONS,
    bases::FUNCTIONS,
    criteria::FUNCTIONS,
    date::FUNCTIONS,
    distribution::FUNCTIONS,
    financial::FUNCTIONS,
    information::FUNCTIONS,
    logical::FUNCTIONS,
    lookup::FUNCTIONS,
    matrix::FUNCTIONS,
    reference::FUNCTIONS,
    regression::FUNCTIONS,
    statistics::FUNCTIONS,
    text::FUNCTIONS,
    text_parts::FUNCTIONS,
    trigonometry::FUNCTIONS,
    workday::FUNCTIONS,
];

/// Functions whose value can change without anything that they are given changing.
const VOLATILE: [&str; 7] = ["INDIRECT", "NOW", "OFFSET", "RAND", "RANDARRAY", "RANDBETWEEN", "TODAY"];

/// Returns the function of that name, in capital or small letters, also with the marks that files put before newer names.
pub(super) fn find(name: &str) -> Option<&'static Function> {
    static INDEX: OnceLock<BTreeMap<&'static str, &'static Function>> = OnceLock::new();
    let index = INDEX.get_or_init(|| TABLES.into_iter().flatten().map(|function| (function.name, function)).collect());
    let name = name.to_ascii_uppercase();
    let plain =
        ["_XLFN.", "_XLWS."].into_iter().fold(name.as_str(), |name, mark| name.strip_prefix(mark).unwrap_or(name));
    index.get(plain).copied()
}

/// Returns whether a formula that calls the function is computed on every change.
pub(super) fn is_volatile(name: &str) -> bool {
    VOLATILE.iter().any(|volatile| volatile.eq_ignore_ascii_case(name))
}

/// Returns the names of all functions, sorted.
#[cfg(test)]
pub(super) fn names() -> std::collections::BTreeSet<&'static str> {
    TABLES.into_iter().flatten().map(|function| function.name).collect()
}

/// Returns the argument at `index` as a number.
fn number(arguments: &[CellValue], index: usize) -> Res<f64> {
    arguments.get(index).map_or(Err(Fault::Error(CellError::Value)), number_of)
}

/// Returns the argument at `index` as a number, `default` if it was not given.
fn number_or(arguments: &[CellValue], index: usize, default: f64) -> Res<f64> {
    arguments.get(index).map_or(Ok(default), number_of)
}

/// Returns the argument at `index` as a whole number, cut off towards zero.
fn whole_number(arguments: &[CellValue], index: usize) -> Res<i64> {
    number(arguments, index).and_then(cut)
}

/// Returns the argument at `index` as a whole number, `default` if it was not given.
fn whole_number_or(arguments: &[CellValue], index: usize, default: i64) -> Res<i64> {
    arguments.get(index).map_or(Ok(default), |value| cut(number_of(value)?))
}

/// Cuts a number off towards zero.
fn cut(number: f64) -> Res<i64> {
    // Beyond this, numbers are no longer exact.
    if number.abs() < 9e15 { Ok(number.trunc() as i64) } else { Err(Fault::Error(CellError::Number)) }
}

/// Returns the argument at `index` as a text.
fn text_at(arguments: &[CellValue], index: usize) -> Res<dayshift_engine::SmolStr> {
    arguments.get(index).map_or(Err(Fault::Error(CellError::Value)), text_of)
}

/// Returns the argument at `index` as a truth value, `default` if it was not given.
fn truth_or(arguments: &[CellValue], index: usize, default: bool) -> Res<bool> {
    arguments.get(index).map_or(Ok(default), truth_of)
}

/// Returns the operand at `index` as one value; nothing if it was not given.
fn given<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>], index: usize) -> Res<Option<CellValue>> {
    match operands.get(index) {
        None | Some(Operand::Omitted) => Ok(None),
        Some(operand) => on.single(operand).map(Some),
    }
}

/// Returns the operand at `index` as a number, `default` if it was not given.
fn given_number<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>], index: usize, default: f64) -> Res<f64> {
    given(on, operands, index)?.map_or(Ok(default), |value| number_of(&value))
}

/// Returns the operand at `index` as a whole number, `default` if it was not given.
fn given_whole<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>], index: usize, default: i64) -> Res<i64> {
    given(on, operands, index)?.map_or(Ok(default), |value| cut(number_of(&value)?))
}

/// Returns the operand at `index` as a truth value, `default` if it was not given.
fn given_truth<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>], index: usize, default: bool) -> Res<bool> {
    given(on, operands, index)?.map_or(Ok(default), |value| truth_of(&value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_stands_once_and_in_capitals() {
        let all: Vec<&str> = TABLES.into_iter().flatten().map(|function| function.name).collect();
        assert_eq!(all.len(), names().len(), "a name stands twice");
        assert!(all.iter().all(|name| *name == name.to_ascii_uppercase()));
        assert!(VOLATILE.iter().all(|name| find(name).is_some()));
    }

    #[test]
    fn a_name_is_found_however_it_is_written() {
        for name in ["sum", "SUM", "_xlfn.IFS", "_xlfn._xlws.SORT"] {
            assert!(find(name).is_some(), "{name}");
        }
        assert!(find("NOSUCHFUNCTION").is_none());
    }
}
