//! What kind of thing a value is.

use super::{Function, each, each_with_errors, whole};
use crate::sheets::cell::{CellError, CellValue};
use crate::sheets::formula::operand::Operand;

pub(super) const FUNCTIONS: &[Function] = &[
    each_with_errors("ISBLANK", 1, 1, |_, a| Ok(CellValue::Bool(a[0] == CellValue::Empty))),
    each_with_errors("ISNUMBER", 1, 1, |_, a| Ok(CellValue::Bool(matches!(a[0], CellValue::Number(_))))),
    each_with_errors("ISTEXT", 1, 1, |_, a| Ok(CellValue::Bool(matches!(a[0], CellValue::Text(_))))),
    each_with_errors("ISNONTEXT", 1, 1, |_, a| Ok(CellValue::Bool(!matches!(a[0], CellValue::Text(_))))),
    each_with_errors("ISLOGICAL", 1, 1, |_, a| Ok(CellValue::Bool(matches!(a[0], CellValue::Bool(_))))),
    each_with_errors("ISERROR", 1, 1, |_, a| Ok(CellValue::Bool(matches!(a[0], CellValue::Error(_))))),
    each_with_errors("ISERR", 1, 1, |_, a| {
        Ok(CellValue::Bool(matches!(a[0], CellValue::Error(error) if error != CellError::NotAvailable)))
    }),
    each_with_errors("ISNA", 1, 1, |_, a| Ok(CellValue::Bool(a[0] == CellValue::Error(CellError::NotAvailable)))),
    each_with_errors("ERROR.TYPE", 1, 1, |_, a| {
        let CellValue::Error(error) = a[0] else { return Err(CellError::NotAvailable.into()) };
        let number = match error {
            CellError::Null => 1.0,
            CellError::Division => 2.0,
            CellError::Value => 3.0,
            CellError::Reference => 4.0,
            CellError::Name => 5.0,
            CellError::Number => 6.0,
            CellError::NotAvailable => 7.0,
            CellError::Spill => 9.0,
            CellError::Calculation => 14.0,
            CellError::Circular => return Err(CellError::NotAvailable.into()),
        };
        Ok(CellValue::Number(number))
    }),
    each("NA", 0, 0, |_, _| Err(CellError::NotAvailable.into())),
    each("N", 1, 1, |_, a| {
        Ok(match &a[0] {
            CellValue::Number(number) => CellValue::Number(*number),
            CellValue::Bool(truth) => CellValue::Number(f64::from(u8::from(*truth))),
            CellValue::Empty | CellValue::Text(_) | CellValue::Error(_) => CellValue::Number(0.0),
        })
    }),
    each("T", 1, 1, |_, a| {
        Ok(if matches!(a[0], CellValue::Text(_)) { a[0].clone() } else { CellValue::Text(Default::default()) })
    }),
    whole("TYPE", 1, 1, |on, a| {
        let number = match &a[0] {
            Operand::Array(_) => 64.0,
            Operand::Area(region) if !region.area.is_cell() => 64.0,
            Operand::Lambda(_) => 128.0,
            Operand::Value(..) | Operand::Area(_) | Operand::Omitted => match on.single(&a[0])? {
                CellValue::Empty | CellValue::Number(_) => 1.0,
                CellValue::Text(_) => 2.0,
                CellValue::Bool(_) => 4.0,
                CellValue::Error(_) => 16.0,
            },
        };
        Ok(number.into())
    }),
];
