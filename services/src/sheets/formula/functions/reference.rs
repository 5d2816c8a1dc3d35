//! Functions about references: where they stand, how large they are, and references that are computed.

use formualizer_parse::parser::{ASTNodeType, ReferenceType};

use super::lookup::dimensions;
use super::{Function, each, given, given_whole, lazy, text_at, whole, whole_number, whole_number_or};
use crate::sheets::a1::{Area, CellRef, RangeText, qualified};
use crate::sheets::cell::{CellError, CellValue};
use crate::sheets::formula::evaluate::Evaluator;
use crate::sheets::formula::operand::{Grid, Operand, Region};
use crate::sheets::formula::value::{Res, text_of, truth_of};
use crate::sheets::locate::same_name;

pub(super) const FUNCTIONS: &[Function] = &[
    whole("ROW", 0, 1, |on, a| numbered(on, a, |area| (area.first.row, area.last.row), false)),
    whole("COLUMN", 0, 1, |on, a| numbered(on, a, |area| (area.first.column, area.last.column), true)),
    whole("ROWS", 1, 1, |on, a| Ok(f64::from(dimensions(on, &a[0])?.0).into())),
    whole("COLUMNS", 1, 1, |on, a| Ok(f64::from(dimensions(on, &a[0])?.1).into())),
    whole("AREAS", 1, 1, |on, a| on.region_of(&a[0]).map(|_| 1.0.into())),
    whole("ISREF", 1, 1, |_, a| Ok(matches!(a[0], Operand::Area(_)).into())),
    whole("ISFORMULA", 1, 1, |on, a| {
        let cell = on.region_of(&a[0])?.cell(0, 0);
        Ok(cell.is_some_and(|cell| cell.formula().is_some()).into())
    }),
    whole("FORMULATEXT", 1, 1, |on, a| {
        let cell = on.region_of(&a[0])?.cell(0, 0);
        let text = cell.and_then(|cell| cell.formula()).ok_or(CellError::NotAvailable)?;
        Ok(CellValue::Text(text.clone()).into())
    }),
    whole("SHEET", 0, 1, |on, a| {
        let worksheet = match a.first() {
            None => &on.place.worksheet,
            Some(operand) => on.region_of(operand)?.worksheet,
        };
        let place = on.book.peek_order().iter().position(|name| *name == worksheet);
        Ok(Operand::from((place.ok_or(CellError::NotAvailable)? + 1) as f64))
    }),
    whole("SHEETS", 0, 1, |on, a| Ok(if a.is_empty() { on.book.cells.len() as f64 } else { 1.0 }.into())),
    each("ADDRESS", 2, 5, |on, a| {
        let (row, column) = (whole_number(a, 0)? - 1, whole_number(a, 1)? - 1);
        let (Ok(row), Ok(column)) = (u32::try_from(row), u32::try_from(column)) else {
            return Err(CellError::Value.into());
        };
        let at = CellRef::new(row, column).ok_or(CellError::Value)?;
        let kind = whole_number_or(a, 2, 1)?;
        let is_a1 =
            a.get(3).map_or(Ok(true), |value| if *value == CellValue::Empty { Ok(true) } else { truth_of(value) })?;
        let text = if is_a1 { in_a1(at, kind)? } else { in_r1c1(at, kind)? };
        let text = if a.len() > 4 { qualified(&text_at(a, 4)?, &text) } else { text };
        on.text_value(&text)
    }),
    lazy("OFFSET", 3, 5, |on, nodes| {
        let operands = on.evaluated(nodes)?;
        let region = on.region_of(&operands[0])?;
        let Area { first, .. } = region.area;
        let height = given_whole(on, &operands, 3, i64::from(region.area.rows()))?;
        let width = given_whole(on, &operands, 4, i64::from(region.area.columns()))?;
        if height == 0 || width == 0 {
            return Err(CellError::Reference.into());
        }
        let along = |start: u32, by: i64, size: i64| -> Res<(u32, u32)> {
            let from = i64::from(start) + by;
            let (from, to) = if size > 0 { (from, from + size - 1) } else { (from + size + 1, from) };
            let place = |number: i64| u32::try_from(number).map_err(|_| CellError::Reference);
            Ok((place(from)?, place(to)?))
        };
        let (top, bottom) = along(first.row, given_whole(on, &operands, 1, 0)?, height)?;
        let (left, right) = along(first.column, given_whole(on, &operands, 2, 0)?, width)?;
        let corner = |row, column| CellRef::new(row, column).ok_or(CellError::Reference);
        let area = Area { first: corner(top, left)?, last: corner(bottom, right)? };
        Ok(Operand::Area(on.looked_at(Region { area, ..region })))
    }),
    whole("INDIRECT", 1, 2, |on, a| {
        let text = text_of(&on.single(&a[0])?)?;
        if given(on, a, 1)?.is_some_and(|flag| matches!(truth_of(&flag), Ok(false))) {
            return Err(CellError::Reference.into());
        }
        let bad = |_| CellError::Reference;
        let (worksheet, rest) = match text.parse().map_err(|_| CellError::Reference)? {
            RangeText::Inside(worksheet, rest) => (Some(worksheet), rest),
            RangeText::Bare(rest) => (None, rest),
            RangeText::Worksheet(_) => return Err(CellError::Reference.into()),
        };
        match rest.parse::<Area>() {
            Ok(area) => {
                let reference = reference_to(worksheet.map(|name| name.to_string()), area);
                on.resolve(&reference).map(Operand::Area)
            }
            Err(_) if worksheet.is_none() => {
                let known = on.book.names.peek_all().any(|(name, _)| same_name(&name.0, &rest));
                if !known {
                    return Err(CellError::Reference.into());
                }
                on.resolve(&ReferenceType::NamedRange(rest.to_string())).map(Operand::Area)
            }
            Err(error) => Err(bad(error).into()),
        }
    }),
    lazy("CELL", 1, 2, |on, nodes| {
        let wanted = text_of(&on.single(&on.evaluate(&nodes[0])?)?)?.to_lowercase();
        let region = match nodes.get(1).map(|node| (on.evaluate(node), &node.node_type)) {
            Some((operand, ASTNodeType::Reference { .. })) => on.region_of(&operand?)?,
            Some((operand, _)) => on.region_of(&operand?)?,
            None => return Err(CellError::Value.into()),
        };
        let at = region.area.first;
        match wanted.as_str() {
            "row" => Ok(f64::from(at.row + 1).into()),
            "col" => Ok(f64::from(at.column + 1).into()),
            "address" => Ok(on.text_value(&in_a1(at, 1)?)?.into()),
            "contents" => Ok(region.cell(0, 0).map_or(CellValue::Empty, |cell| cell.value.clone()).into()),
            "type" => {
                let value = region.cell(0, 0).map_or(CellValue::Empty, |cell| cell.value.clone());
                let letter = match value {
                    CellValue::Empty => "b",
                    CellValue::Text(_) => "l",
                    CellValue::Number(_) | CellValue::Bool(_) | CellValue::Error(_) => "v",
                };
                Ok(on.text_value(letter)?.into())
            }
            _ => Err(CellError::Value.into()),
        }
    }),
];

fn numbered<'a>(
    on: &Evaluator<'a>,
    operands: &[Operand<'a>],
    bounds: fn(&Area) -> (u32, u32),
    along_row: bool,
) -> Res<Operand<'a>> {
    let Some(operand) = operands.first() else {
        return Ok(f64::from(bounds(&Area::cell(on.place.at)).0 + 1).into());
    };
    let (first, last) = bounds(&on.region_of(operand)?.area);
    if first == last {
        return Ok(f64::from(first + 1).into());
    }
    let mut cells = on.room(u64::from(last - first) + 1)?;
    cells.extend((first..=last).map(|number| CellValue::Number(f64::from(number + 1))));
    Ok(if along_row { Grid::row(cells)? } else { Grid::column(cells)? }.into())
}

/// Writes a place with dollar signs: 1 both fixed, 2 the row, 3 the column, 4 none.
fn in_a1(at: CellRef, kind: i64) -> Res<String> {
    let text = at.to_string();
    let digits = text.find(|c: char| c.is_ascii_digit()).unwrap_or_default();
    let (letters, digits) = text.split_at(digits);
    Ok(match kind {
        1 => format!("${letters}${digits}"),
        2 => format!("{letters}${digits}"),
        3 => format!("${letters}{digits}"),
        4 => text,
        _ => return Err(CellError::Value.into()),
    })
}

fn in_r1c1(at: CellRef, kind: i64) -> Res<String> {
    let (row, column) = (at.row + 1, at.column + 1);
    Ok(match kind {
        1 => format!("R{row}C{column}"),
        2 => format!("R{row}C[{column}]"),
        3 => format!("R[{row}]C{column}"),
        4 => format!("R[{row}]C[{column}]"),
        _ => return Err(CellError::Value.into()),
    })
}

fn reference_to(sheet: Option<String>, area: Area) -> ReferenceType {
    ReferenceType::Range {
        sheet,
        start_row: Some(area.first.row + 1),
        start_col: Some(area.first.column + 1),
        end_row: Some(area.last.row + 1),
        end_col: Some(area.last.column + 1),
        start_row_abs: true,
        start_col_abs: true,
        end_row_abs: true,
        end_col_abs: true,
    }
}
