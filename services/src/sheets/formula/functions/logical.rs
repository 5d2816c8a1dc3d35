//! Decisions, names for parts of a formula, and functions that a formula defines.

use formualizer_parse::parser::{ASTNode, ASTNodeType, ReferenceType};

use super::{Function, MANY, each, lazy, whole};
use crate::sheets::cell::{CellError, CellValue};
use crate::sheets::formula::evaluate::{CALL_COST, Evaluator, is_single};
use crate::sheets::formula::operand::{Binding, Grid, Lambda, Operand};
use crate::sheets::formula::value::{Res, compare, truth_of};

pub(super) const FUNCTIONS: &[Function] = &[
    each("TRUE", 0, 0, |_, _| Ok(CellValue::Bool(true))),
    each("FALSE", 0, 0, |_, _| Ok(CellValue::Bool(false))),
    each("NOT", 1, 1, |_, a| Ok(CellValue::Bool(!truth_of(&a[0])?))),
    whole("AND", 1, MANY, |on, a| Ok(truths(on, a)?.into_iter().all(|truth| truth).into())),
    whole("OR", 1, MANY, |on, a| Ok(truths(on, a)?.into_iter().any(|truth| truth).into())),
    whole("XOR", 1, MANY, |on, a| Ok((truths(on, a)?.into_iter().filter(|truth| *truth).count() % 2 == 1).into())),
    lazy("IF", 2, 3, |on, nodes| {
        let condition = on.evaluate(&nodes[0])?;
        if is_single(&condition) {
            let truth = truth_of(&on.single(&condition)?)?;
            return match (truth, nodes.get(2)) {
                (true, _) => kept(on.evaluate(&nodes[1])?),
                (false, Some(other)) => kept(on.evaluate(other)?),
                (false, None) => Ok(false.into()),
            };
        }
        let yes = on.grid(&on.evaluate(&nodes[1])?)?;
        let no = match nodes.get(2) {
            Some(node) => on.grid(&on.evaluate(node)?)?,
            None => std::rc::Rc::new(Grid::single(CellValue::Bool(false))),
        };
        let condition = on.grid(&condition)?;
        merged(on, &[&condition, &yes, &no], |values| match truth_of(&values[0]) {
            Ok(true) => values[1].clone(),
            Ok(false) => values[2].clone(),
            Err(_) => error_or(&values[0], CellError::Value),
        })
    }),
    lazy("IFS", 2, MANY, |on, nodes| {
        for pair in nodes.chunks(2) {
            let condition = on.evaluate(&pair[0])?;
            if truth_of(&on.single(&condition)?)? {
                return pair.get(1).map_or(Err(CellError::NotAvailable.into()), |node| kept(on.evaluate(node)?));
            }
        }
        Err(CellError::NotAvailable.into())
    }),
    lazy("SWITCH", 3, MANY, |on, nodes| {
        let value = on.single(&on.evaluate(&nodes[0])?)?;
        if let CellValue::Error(error) = value {
            return Err(error.into());
        }
        for pair in nodes[1..].chunks(2) {
            let [case, result] = pair else { return kept(on.evaluate(&pair[0])?) };
            let case = on.single(&on.evaluate(case)?)?;
            if !matches!(case, CellValue::Error(_)) && compare(&value, &case).is_eq() {
                return kept(on.evaluate(result)?);
            }
        }
        Err(CellError::NotAvailable.into())
    }),
    lazy("IFERROR", 1, 2, |on, nodes| caught(on, nodes, |_| true)),
    lazy("IFNA", 2, 2, |on, nodes| caught(on, nodes, |error| error == CellError::NotAvailable)),
    lazy("LET", 3, MANY, |on, nodes| {
        if nodes.len().is_multiple_of(2) {
            return Err(CellError::Value.into());
        }
        let mut scope = on.scope();
        for pair in nodes.chunks_exact(2) {
            let name = name_of(&pair[0]).ok_or(CellError::Name)?;
            let value = on.within(scope.clone(), &pair[1])?;
            scope = Binding::add(&scope, name, value);
        }
        on.within(scope, &nodes[nodes.len() - 1])
    }),
    lazy("LAMBDA", 1, MANY, |on, nodes| {
        let [parameters @ .., body] = nodes else { return Err(CellError::Value.into()) };
        let parameters = parameters.iter().map(name_of).collect::<Option<Vec<_>>>().ok_or(CellError::Value)?;
        Ok(Operand::Lambda(std::rc::Rc::new(Lambda { parameters, body, scope: on.scope() })))
    }),
    whole("MAP", 2, MANY, |on, a| {
        let [grids @ .., lambda] = a else { return Err(CellError::Value.into()) };
        let lambda = lambda_of(lambda)?;
        let grids = grids.iter().map(|operand| on.grid(operand)).collect::<Res<Vec<_>>>()?;
        let (rows, columns) = (grids[0].rows, grids[0].columns);
        let mut cells = on.room(u64::from(rows) * u64::from(columns))?;
        for row in 0..rows {
            for column in 0..columns {
                let values = grids.iter().map(|grid| grid.spread(row, column).into()).collect();
                cells.push(on.single(&on.apply(lambda, values)?)?);
            }
        }
        Ok(Grid { rows, columns, cells }.into())
    }),
    whole("REDUCE", 3, 3, |on, a| {
        let (grid, lambda) = (on.grid(&a[1])?, lambda_of(&a[2])?);
        let mut state = a[0].clone();
        for value in &grid.cells {
            state = on.apply(lambda, vec![state, value.clone().into()])?;
        }
        Ok(state)
    }),
    whole("SCAN", 3, 3, |on, a| {
        let (grid, lambda) = (on.grid(&a[1])?, lambda_of(&a[2])?);
        let mut state = a[0].clone();
        let mut cells = on.room(grid.cells.len() as u64)?;
        for value in &grid.cells {
            state = on.apply(lambda, vec![state, value.clone().into()])?;
            cells.push(on.single(&state)?);
        }
        Ok(Grid { cells, ..*grid }.into())
    }),
    whole("BYROW", 2, 2, |on, a| {
        let (grid, lambda) = (on.grid(&a[0])?, lambda_of(&a[1])?);
        let rows = (0..grid.rows).map(|row| Grid::row(grid.row_of(row).to_vec()));
        Ok(Grid::column(by(on, lambda, rows)?)?.into())
    }),
    whole("BYCOL", 2, 2, |on, a| {
        let (grid, lambda) = (on.grid(&a[0])?, lambda_of(&a[1])?);
        let columns = (0..grid.columns).map(|column| Grid::column(grid.column_of(column).cloned().collect()));
        Ok(Grid::row(by(on, lambda, columns)?)?.into())
    }),
    whole("MAKEARRAY", 3, 3, |on, a| {
        let (rows, columns) = (super::given_whole(on, a, 0, 1)?, super::given_whole(on, a, 1, 1)?);
        let lambda = lambda_of(&a[2])?;
        let (Ok(rows), Ok(columns)) = (u32::try_from(rows), u32::try_from(columns)) else {
            return Err(CellError::Value.into());
        };
        let mut cells = on.room(u64::from(rows) * u64::from(columns))?;
        for row in 1..=rows {
            for column in 1..=columns {
                let place = vec![f64::from(row).into(), f64::from(column).into()];
                cells.push(on.single(&on.apply(lambda, place)?)?);
            }
        }
        Ok(Grid::new(rows as usize, columns as usize, cells)?.into())
    }),
    whole("ARRAYFORMULA", 1, 1, |_, a| Ok(a[0].clone())),
];

/// Returns what a branch came to: a value that was left out is zero.
fn kept(operand: Operand<'_>) -> Res<Operand<'_>> {
    Ok(if matches!(operand, Operand::Omitted) { 0.0.into() } else { operand })
}

fn error_or(value: &CellValue, otherwise: CellError) -> CellValue {
    if matches!(value, CellValue::Error(_)) { value.clone() } else { CellValue::Error(otherwise) }
}

/// Returns the truth values of operands: texts in areas do not count, and there must be at least one.
fn truths<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>]) -> Res<Vec<bool>> {
    let mut truths = Vec::new();
    for operand in operands {
        if let Operand::Value(value, _) = operand {
            truths.push(truth_of(value)?);
            continue;
        }
        super::aggregate::each_value(on, operand, |value| {
            match value {
                CellValue::Number(_) | CellValue::Bool(_) | CellValue::Error(_) => truths.push(truth_of(value)?),
                CellValue::Empty | CellValue::Text(_) => {}
            }
            Ok(())
        })?;
    }
    if truths.is_empty() { Err(CellError::Value.into()) } else { Ok(truths) }
}

/// Puts boxes together value by value.
fn merged<'a>(on: &Evaluator<'a>, grids: &[&Grid], merge: impl Fn(&[CellValue]) -> CellValue) -> Res<Operand<'a>> {
    let rows = grids.iter().map(|grid| grid.rows).max().unwrap_or(1);
    let columns = grids.iter().map(|grid| grid.columns).max().unwrap_or(1);
    let mut cells = on.room(u64::from(rows) * u64::from(columns))?;
    for row in 0..rows {
        for column in 0..columns {
            on.budget().work(CALL_COST / 2)?;
            let values: Vec<CellValue> = grids.iter().map(|grid| grid.spread(row, column)).collect();
            cells.push(merge(&values));
        }
    }
    Ok(Grid::new(rows as usize, columns as usize, cells)?.into())
}

/// Returns the first argument, and the second in the place of errors that `is_caught`.
fn caught<'a>(on: &Evaluator<'a>, nodes: &'a [ASTNode], is_caught: fn(CellError) -> bool) -> Res<Operand<'a>> {
    let first = on.evaluate(&nodes[0])?;
    let instead = || match nodes.get(1) {
        Some(node) => on.evaluate(node),
        None => Ok(CellValue::Empty.into()),
    };
    if is_single(&first) {
        return match &first {
            Operand::Lambda(_) | Operand::Omitted => kept(first),
            Operand::Value(..) | Operand::Area(_) | Operand::Array(_) => match on.single(&first)? {
                CellValue::Error(error) if is_caught(error) => kept(instead()?),
                CellValue::Empty
                | CellValue::Number(_)
                | CellValue::Text(_)
                | CellValue::Bool(_)
                | CellValue::Error(_) => Ok(first),
            },
        };
    }
    let (first, instead) = (on.grid(&first)?, on.grid(&instead()?)?);
    merged(on, &[&first, &instead], |values| match &values[0] {
        CellValue::Error(error) if is_caught(*error) => values[1].clone(),
        value @ (CellValue::Empty
        | CellValue::Number(_)
        | CellValue::Text(_)
        | CellValue::Bool(_)
        | CellValue::Error(_)) => value.clone(),
    })
}

fn name_of(node: &ASTNode) -> Option<&str> {
    match &node.node_type {
        ASTNodeType::Reference { reference: ReferenceType::NamedRange(name), .. } => Some(name),
        ASTNodeType::Reference { .. }
        | ASTNodeType::Literal(_)
        | ASTNodeType::Omitted
        | ASTNodeType::UnaryOp { .. }
        | ASTNodeType::BinaryOp { .. }
        | ASTNodeType::Function { .. }
        | ASTNodeType::Call { .. }
        | ASTNodeType::Array(_) => None,
    }
}

fn lambda_of<'o, 'a>(operand: &'o Operand<'a>) -> Res<&'o Lambda<'a>> {
    match operand {
        Operand::Lambda(lambda) => Ok(lambda),
        Operand::Value(CellValue::Error(error), _) => Err((*error).into()),
        Operand::Value(..) | Operand::Area(_) | Operand::Array(_) | Operand::Omitted => Err(CellError::Value.into()),
    }
}

fn by<'a>(on: &Evaluator<'a>, lambda: &Lambda<'a>, parts: impl Iterator<Item = Res<Grid>>) -> Res<Vec<CellValue>> {
    parts
        .map(|part| {
            let part = part?;
            on.budget().work(part.cells.len() as u64)?;
            on.single(&on.apply(lambda, vec![part.into()])?)
        })
        .collect()
}
