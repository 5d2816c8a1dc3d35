//! Texts: length, case, joining, replacing, what a number looks like. No text becomes longer than a cell may hold.

use super::{Function, MANY, each, number, number_or, text_at, truth_or, whole, whole_number, whole_number_or};
use crate::sheets::cell::{Cell, CellError, CellValue};
use crate::sheets::format::formatted;
use crate::sheets::formula::operand::Operand;
use crate::sheets::formula::value::{Res, finite, number_in, text_of};

pub(super) const FUNCTIONS: &[Function] = &[
    each("LEN", 1, 1, |on, a| {
        let text = text_at(a, 0)?;
        on.budget().work(text.len() as u64 / 16)?;
        finite(text.chars().map(char::len_utf16).sum::<usize>() as f64)
    }),
    each("LENB", 1, 1, |_, a| finite(text_at(a, 0)?.len() as f64)),
    each("UPPER", 1, 1, |on, a| on.text_value(&text_at(a, 0)?.to_uppercase())),
    each("LOWER", 1, 1, |on, a| on.text_value(&text_at(a, 0)?.to_lowercase())),
    each("PROPER", 1, 1, |on, a| {
        let mut proper = String::new();
        let mut is_inside = false;
        for character in text_at(a, 0)?.chars() {
            if is_inside {
                proper.extend(character.to_lowercase());
            } else {
                proper.extend(character.to_uppercase());
            }
            is_inside = character.is_alphabetic();
        }
        on.text_value(&proper)
    }),
    each("TRIM", 1, 1, |on, a| {
        let text = text_at(a, 0)?;
        let words: Vec<&str> = text.split(' ').filter(|word| !word.is_empty()).collect();
        on.text_value(&words.join(" "))
    }),
    each("CLEAN", 1, 1, |on, a| {
        let text: String = text_at(a, 0)?.chars().filter(|c| !c.is_ascii_control()).collect();
        on.text_value(&text)
    }),
    whole("CONCAT", 1, MANY, |on, a| {
        let mut text = on.text();
        for operand in a {
            super::aggregate::each_value(on, operand, |value| text.push(&text_of(value)?))?;
        }
        Ok(text.finish().into())
    }),
    each("CONCATENATE", 1, MANY, |on, a| {
        let mut text = on.text();
        for value in a {
            text.push(&text_of(value)?)?;
        }
        Ok(text.finish())
    }),
    whole("TEXTJOIN", 3, MANY, |on, a| {
        let between = on.grid(&a[0])?;
        let skips_empty = super::given_truth(on, a, 1, true)?;
        let mut text = on.text();
        let mut joined = 0;
        for operand in &a[2..] {
            let grid = if skips_empty { None } else { Some(on.grid(operand)?) };
            let mut push = |value: &CellValue| -> Res<()> {
                on.budget().work(1)?;
                let part = text_of(value)?;
                if skips_empty && part.is_empty() {
                    return Ok(());
                }
                if joined > 0 {
                    text.push(&text_of(&between.cells[(joined - 1) % between.cells.len()])?)?;
                }
                joined += 1;
                text.push(&part)
            };
            match grid {
                Some(grid) => grid.cells.iter().try_for_each(push)?,
                None => super::aggregate::each_value(on, operand, &mut push)?,
            }
        }
        Ok(text.finish().into())
    }),
    whole("JOIN", 2, MANY, |on, a| {
        let between = text_of(&on.single(&a[0])?)?;
        let mut text = on.text();
        let mut is_first = true;
        for operand in &a[1..] {
            for value in &on.grid(operand)?.cells {
                if !is_first {
                    text.push(&between)?;
                }
                is_first = false;
                text.push(&text_of(value)?)?;
            }
        }
        Ok(text.finish().into())
    }),
    each("REPT", 2, 2, |on, a| {
        let (part, count) = (text_at(a, 0)?, number(a, 1)?.trunc());
        if count < 0.0 || count * part.len() as f64 > crate::sheets::cell::CELL_TEXT_BYTES_MAX as f64 {
            return Err(CellError::Value.into());
        }
        on.text_value(&part.repeat(count as usize))
    }),
    each("SUBSTITUTE", 3, 4, |on, a| {
        let (text, old, new) = (text_at(a, 0)?, text_at(a, 1)?, text_at(a, 2)?);
        let wanted = if a.len() > 3 { Some(whole_number(a, 3)?) } else { None };
        if wanted.is_some_and(|number| number < 1) {
            return Err(CellError::Value.into());
        }
        if old.is_empty() {
            return on.text_value(&text);
        }
        let mut result = on.text();
        let mut done = 0;
        for (found, (at, _)) in (1..).zip(text.match_indices(old.as_str())) {
            if wanted.is_none_or(|number| number == found) {
                result.push(&text[done..at])?;
                result.push(&new)?;
                done = at + old.len();
            }
        }
        result.push(&text[done..])?;
        Ok(result.finish())
    }),
    each("EXACT", 2, 2, |_, a| Ok(CellValue::Bool(text_at(a, 0)? == text_at(a, 1)?))),
    each("VALUE", 1, 1, |_, a| match &a[0] {
        CellValue::Text(text) => finite(number_in(text).ok_or(CellError::Value)?),
        CellValue::Bool(_) => Err(CellError::Value.into()),
        CellValue::Empty | CellValue::Number(_) | CellValue::Error(_) => finite(number(a, 0)?),
    }),
    each("TEXT", 2, 2, |on, a| {
        let code = text_at(a, 1)?;
        let value = match &a[0] {
            CellValue::Text(text) => number_in(text).map_or_else(|| a[0].clone(), CellValue::Number),
            CellValue::Empty => CellValue::Number(0.0),
            CellValue::Number(_) | CellValue::Bool(_) | CellValue::Error(_) => a[0].clone(),
        };
        if code.len() > crate::sheets::format::FORMAT_BYTES_MAX {
            return Err(CellError::Value.into());
        }
        if code.is_empty() {
            return on.text_value("");
        }
        on.budget().work(64)?;
        on.text_value(&formatted(&Cell { value, format: code, input: None }))
    }),
    each("FIXED", 1, 3, |on, a| {
        let (number, decimals) = (number(a, 0)?, whole_number_or(a, 1, 2)?.clamp(-15, 15));
        let has_commas = !truth_or(a, 2, false)?;
        on.text_value(&fixed(number, decimals, has_commas)?)
    }),
    each("DOLLAR", 1, 2, |on, a| {
        let (number, decimals) = (number(a, 0)?, whole_number_or(a, 1, 2)?.clamp(-15, 15));
        let text = fixed(number.abs(), decimals, true)?;
        on.text_value(&if number < 0.0 { format!("(${text})") } else { format!("${text}") })
    }),
    each("CHAR", 1, 1, |on, a| {
        let code = u8::try_from(whole_number(a, 0)?).ok().filter(|code| *code > 0).ok_or(CellError::Value)?;
        let bytes = [code];
        let (text, _) = encoding_rs::WINDOWS_1252.decode_without_bom_handling(&bytes);
        on.text_value(&text)
    }),
    each("CODE", 1, 1, |_, a| {
        let text = text_at(a, 0)?;
        let first = text.chars().next().ok_or(CellError::Value)?;
        let mut buffer = [0; 4];
        let (bytes, _, is_lossy) = encoding_rs::WINDOWS_1252.encode(first.encode_utf8(&mut buffer));
        finite(if is_lossy {
            f64::from(u32::from(first))
        } else {
            f64::from(bytes.first().copied().unwrap_or_default())
        })
    }),
    each("UNICHAR", 1, 1, |on, a| {
        let code = u32::try_from(whole_number(a, 0)?).ok().and_then(char::from_u32).filter(|c| *c != '\0');
        on.text_value(code.ok_or(CellError::Value)?.encode_utf8(&mut [0; 4]))
    }),
    each("UNICODE", 1, 1, |_, a| finite(f64::from(u32::from(text_at(a, 0)?.chars().next().ok_or(CellError::Value)?)))),
    each("ASC", 1, 1, |on, a| on.text_value(&text_at(a, 0)?)),
    each("VALUETOTEXT", 1, 2, |on, a| on.text_value(&shown(&a[0], number_or(a, 1, 0.0)? != 0.0)?)),
    whole("ARRAYTOTEXT", 1, 2, |on, a| {
        let grid = on.grid(&a[0])?;
        let is_strict = super::given_number(on, a, 1, 0.0)? != 0.0;
        let mut text = on.text();
        text.push(if is_strict { "{" } else { "" })?;
        for (index, value) in grid.cells.iter().enumerate() {
            let starts_row = index % grid.columns as usize == 0;
            let between = if !is_strict {
                ", "
            } else if starts_row {
                ";"
            } else {
                ","
            };
            text.push(if index == 0 { "" } else { between })?;
            text.push(&shown(value, is_strict)?)?;
        }
        text.push(if is_strict { "}" } else { "" })?;
        Ok(text.finish().into())
    }),
    whole("HYPERLINK", 1, 2, |on, a| Ok(on.single(a.last().unwrap_or(&Operand::Omitted))?.into())),
    each("ENCODEURL", 1, 1, |on, a| {
        let mut text = on.text();
        for byte in text_at(a, 0)?.bytes() {
            if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
                text.push(char::from(byte).encode_utf8(&mut [0; 4]))?;
            } else {
                text.push(&format!("%{byte:02X}"))?;
            }
        }
        Ok(text.finish())
    }),
];

fn fixed(number: f64, decimals: i64, has_commas: bool) -> Res<String> {
    let CellValue::Number(rounded) = super::arithmetic::rounded(number, decimals as f64, f64::round)? else {
        return Err(CellError::Value.into());
    };
    let text = format!("{:.*}", usize::try_from(decimals).unwrap_or_default(), rounded.abs());
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let sign = if rounded < 0.0 { "-" } else { "" };
    if !has_commas {
        return Ok(format!("{sign}{text}"));
    }
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    Ok(format!("{sign}{grouped}{rest}"))
}

fn shown(value: &CellValue, is_strict: bool) -> Res<String> {
    Ok(match value {
        CellValue::Text(text) if is_strict => format!("\"{}\"", text.replace('"', "\"\"")),
        CellValue::Error(error) => error.to_string(),
        CellValue::Empty | CellValue::Number(_) | CellValue::Text(_) | CellValue::Bool(_) => {
            text_of(value)?.to_string()
        }
    })
}
