//! Parts of texts: from the left, from the right, between, before and after something, by pattern. Places count characters from 1.

use dayshift_engine::SmolStr;
use regex::{Regex, RegexBuilder};

use super::{Function, each, given, given_truth, given_whole, text_at, truth_or, whole, whole_number, whole_number_or};
use crate::sheets::cell::{CellError, CellValue};
use crate::sheets::formula::evaluate::Evaluator;
use crate::sheets::formula::operand::{Grid, Operand};
use crate::sheets::formula::pattern::Pattern;
use crate::sheets::formula::value::{Res, finite, text_of};

pub(super) const FUNCTIONS: &[Function] = &[
    each("LEFT", 1, 2, |on, a| {
        let (text, count) = (text_at(a, 0)?, size(whole_number_or(a, 1, 1)?)?);
        on.text_value(&text[..place(&text, count)])
    }),
    each("RIGHT", 1, 2, |on, a| {
        let (text, count) = (text_at(a, 0)?, size(whole_number_or(a, 1, 1)?)?);
        let all = text.chars().count();
        on.text_value(&text[place(&text, all - all.min(count))..])
    }),
    each("MID", 3, 3, |on, a| {
        let (text, start, count) = (text_at(a, 0)?, whole_number(a, 1)?, size(whole_number(a, 2)?)?);
        let rest = &text[place(&text, from_one(start)?)..];
        on.text_value(&rest[..place(rest, count)])
    }),
    each("REPLACE", 4, 4, |on, a| {
        let (text, start, count, new) =
            (text_at(a, 0)?, from_one(whole_number(a, 1)?)?, size(whole_number(a, 2)?)?, text_at(a, 3)?);
        let from = place(&text, start);
        let to = from + place(&text[from..], count);
        let mut result = on.text();
        result.push(&text[..from])?;
        result.push(&new)?;
        result.push(&text[to..])?;
        Ok(result.finish())
    }),
    each("FIND", 2, 3, |on, a| {
        let (wanted, text, start) = (text_at(a, 0)?, text_at(a, 1)?, from_one(whole_number_or(a, 2, 1)?)?);
        on.budget().work(text.len() as u64 / 16)?;
        let from = place(&text, start);
        let found = text[from..].find(wanted.as_str()).ok_or(CellError::Value)?;
        finite((start + text[from..from + found].chars().count() + 1) as f64)
    }),
    each("SEARCH", 2, 3, |on, a| {
        let (wanted, text, start) = (text_at(a, 0)?, text_at(a, 1)?, from_one(whole_number_or(a, 2, 1)?)?);
        on.budget().work(text.len() as u64 / 8)?;
        let found = Pattern::new(&wanted).find(&text, start, on.budget())?.ok_or(CellError::Value)?;
        finite((found + 1) as f64)
    }),
    each("TEXTBEFORE", 2, 6, |on, a| {
        let (text, found) = split_at(on, a)?;
        match found {
            Some((at, _)) => on.text_value(&text[..at]),
            None => absent(a),
        }
    }),
    each("TEXTAFTER", 2, 6, |on, a| {
        let (text, found) = split_at(on, a)?;
        match found {
            Some((at, length)) => on.text_value(&text[at + length..]),
            None => absent(a),
        }
    }),
    whole("TEXTSPLIT", 2, 6, |on, a| {
        let text = text_of(&on.single(&a[0])?)?;
        let marks = |index: usize| -> Res<Vec<SmolStr>> {
            match a.get(index) {
                None | Some(Operand::Omitted) => Ok(Vec::new()),
                Some(operand) => on.grid(operand)?.cells.iter().map(text_of).collect(),
            }
        };
        let (columns, rows) = (marks(1)?, marks(2)?);
        let (skips_empty, ignores_case) = (given_truth(on, a, 3, false)?, given_whole(on, a, 4, 0)? == 1);
        let filler = given(on, a, 5)?.unwrap_or(CellValue::Error(CellError::NotAvailable));
        let mut lines: Vec<Vec<&str>> = Vec::new();
        for line in pieces(on, &text, &rows, ignores_case)? {
            let mut line = pieces(on, line, &columns, ignores_case)?;
            line.retain(|piece| !skips_empty || !piece.is_empty());
            lines.push(line);
        }
        lines.retain(|line| !skips_empty || !line.is_empty());
        let width = lines.iter().map(Vec::len).max().unwrap_or_default();
        let mut cells = on.room(lines.len() as u64 * width as u64)?;
        for line in &lines {
            for column in 0..width {
                cells.push(line.get(column).map_or(Ok(filler.clone()), |piece| on.text_value(piece))?);
            }
        }
        Ok(Grid::new(lines.len(), width, cells)?.into())
    }),
    whole("SPLIT", 2, 4, |on, a| {
        let (text, mark) = (text_of(&on.single(&a[0])?)?, text_of(&on.single(&a[1])?)?);
        let (by_each, skips_empty) = (given_truth(on, a, 2, true)?, given_truth(on, a, 3, true)?);
        if mark.is_empty() {
            return Err(CellError::Value.into());
        }
        let marks: Vec<SmolStr> =
            if by_each { mark.chars().map(|c| SmolStr::from(c.to_string())).collect() } else { vec![mark] };
        let mut parts = pieces(on, &text, &marks, false)?;
        parts.retain(|piece| !skips_empty || !piece.is_empty());
        let cells = parts.into_iter().map(|piece| crate::sheets::typed::typed(piece).value).collect();
        Ok(Grid::row(cells)?.into())
    }),
    each("REGEXMATCH", 2, 2, |on, a| Ok(CellValue::Bool(expression(on, a, false)?.is_match(&text_at(a, 0)?)))),
    each("REGEXTEST", 2, 3, |on, a| {
        let ignores_case = truth_or(a, 2, false)?;
        Ok(CellValue::Bool(expression(on, a, ignores_case)?.is_match(&text_at(a, 0)?)))
    }),
    each("REGEXEXTRACT", 2, 2, |on, a| {
        let (expression, text) = (expression(on, a, false)?, text_at(a, 0)?);
        let found = expression.captures(&text).ok_or(CellError::NotAvailable)?;
        on.text_value(found.get(1).or_else(|| found.get(0)).map_or("", |part| part.as_str()))
    }),
    each("REGEXREPLACE", 3, 3, |on, a| {
        let (expression, text, new) = (expression(on, a, false)?, text_at(a, 0)?, text_at(a, 2)?);
        let mut result = on.text();
        let mut done = 0;
        for found in expression.captures_iter(&text) {
            on.budget().work(8)?;
            let Some(all) = found.get(0) else { continue };
            result.push(&text[done..all.start()])?;
            // What a group held is put in, which is bounded by the text times the groups named.
            on.budget().bytes((text.len() * (1 + new.matches('$').count())) as u64 / 16)?;
            let mut put = String::new();
            found.expand(&new, &mut put);
            result.push(&put)?;
            done = all.end();
        }
        result.push(&text[done..])?;
        Ok(result.finish())
    }),
    whole("LEFTB", 1, 2, |on, a| bytes(on, a, |text, count| (0, text.len().min(count)))),
    whole("RIGHTB", 1, 2, |on, a| bytes(on, a, |text, count| (text.len() - text.len().min(count), text.len()))),
];

/// The longest regular expression, in bytes, and how much memory it may need once it is read.
const EXPRESSION_BYTES_MAX: usize = 1_000;
const EXPRESSION_SIZE_MAX: usize = 1 << 20;

fn size(number: i64) -> Res<usize> {
    usize::try_from(number).map_err(|_| CellError::Value.into())
}

fn from_one(number: i64) -> Res<usize> {
    size(number - 1)
}

/// Returns where the character `index` begins, the end of the text if it has fewer.
fn place(text: &str, index: usize) -> usize {
    text.char_indices().nth(index).map_or(text.len(), |(at, _)| at)
}

fn absent(arguments: &[CellValue]) -> Res<CellValue> {
    match arguments.get(5) {
        Some(instead) if *instead != CellValue::Empty => Ok(instead.clone()),
        _ => Err(CellError::NotAvailable.into()),
    }
}

/// Returns the text, and where the mark that was asked for stands in it and how long it is.
fn split_at(on: &Evaluator<'_>, arguments: &[CellValue]) -> Res<(SmolStr, Option<(usize, usize)>)> {
    let (text, mark) = (text_at(arguments, 0)?, text_at(arguments, 1)?);
    let number =
        if matches!(arguments.get(2), None | Some(CellValue::Empty)) { 1 } else { whole_number(arguments, 2)? };
    let ignores_case = whole_number_or(arguments, 3, 0)? == 1;
    if number == 0 {
        return Err(CellError::Value.into());
    }
    on.budget().work(text.len() as u64 / 8)?;
    let found: Vec<usize> = if ignores_case && text.is_ascii() && mark.is_ascii() {
        let (text, mark) = (text.to_ascii_lowercase(), mark.to_ascii_lowercase());
        text.match_indices(mark.as_str()).map(|(at, _)| at).collect()
    } else {
        text.match_indices(mark.as_str()).map(|(at, _)| at).collect()
    };
    let index = usize::try_from(number.abs() - 1).unwrap_or(usize::MAX);
    let at = if number > 0 { found.get(index) } else { found.iter().rev().nth(index) }.copied();
    let ends = whole_number_or(arguments, 4, 0)? == 1 && at.is_none() && index == found.len();
    let end = if number > 0 { (text.len(), 0) } else { (0, 0) };
    Ok((text.clone(), at.map(|at| (at, mark.len())).or(ends.then_some(end))))
}

/// Cuts a text at every one of `marks`.
fn pieces<'t>(on: &Evaluator<'_>, text: &'t str, marks: &[SmolStr], ignores_case: bool) -> Res<Vec<&'t str>> {
    if marks.is_empty() {
        return Ok(vec![text]);
    }
    if marks.iter().any(|mark| mark.is_empty()) {
        return Err(CellError::Value.into());
    }
    on.budget().work((text.len() as u64 / 4).saturating_mul(marks.len() as u64))?;
    let begins = |rest: &str, mark: &str| {
        rest.starts_with(mark)
            || (ignores_case && rest.get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark)))
    };
    let (mut parts, mut start, mut at) = (Vec::new(), 0, 0);
    while at < text.len() {
        let rest = &text[at..];
        match marks.iter().find(|mark| begins(rest, mark)) {
            Some(mark) => {
                parts.push(&text[start..at]);
                at += mark.len();
                start = at;
            }
            None => at += rest.chars().next().map_or(1, char::len_utf8),
        }
    }
    parts.push(&text[start..]);
    Ok(parts)
}

fn expression(on: &Evaluator<'_>, arguments: &[CellValue], ignores_case: bool) -> Res<Regex> {
    let (text, wanted) = (text_at(arguments, 0)?, text_at(arguments, 1)?);
    if wanted.len() > EXPRESSION_BYTES_MAX {
        return Err(CellError::Value.into());
    }
    // To read an expression takes longer than to look for most; the search is linear in both.
    on.budget().work(10_000 + (text.len() as u64).saturating_mul(1 + wanted.len() as u64 / 16))?;
    let mut builder = RegexBuilder::new(&wanted);
    builder.size_limit(EXPRESSION_SIZE_MAX).dfa_size_limit(EXPRESSION_SIZE_MAX).case_insensitive(ignores_case);
    builder.build().map_err(|_| CellError::Value.into())
}

fn bytes<'a>(on: &Evaluator<'a>, operands: &[Operand<'a>], cut: fn(&str, usize) -> (usize, usize)) -> Res<Operand<'a>> {
    let text = text_of(&on.single(&operands[0])?)?;
    let (from, to) = cut(&text, size(given_whole(on, operands, 1, 1)?)?);
    // Half a character is none.
    let part = text.get(from..to).unwrap_or_default();
    Ok(on.text_value(part)?.into())
}
