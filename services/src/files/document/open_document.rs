//! The text of an OpenDocument file (OASIS OpenDocument 1.3, part 3): paragraphs as lines, the rows of a spreadsheet as lines of
//! comma-separated values. Read here and not by the library for workbooks, which lays out every cell that a repetition stands for.

use dayshift_engine::Budget;
use quick_xml::events::BytesStart;

use super::package::{Node, Package, attribute, walk};
use super::workbook::{COLUMNS_MAX, Rows};
use super::{DOCUMENT_TEXT_BYTES_MAX, Text, Unreadable};

/// How many spaces are taken that one element stands for.
const SPACES_MAX: usize = 100;

pub(super) fn text_of(package: &mut Package<'_>) -> Result<Text, Unreadable> {
    let xml = package.xml("content.xml")?.ok_or_else(|| Unreadable::Damaged {
        what: "an office document",
        why: "its part content.xml is missing".to_owned(),
    })?;
    let mut is_spreadsheet = false;
    walk(&xml, package.budget(), |node| {
        if let Node::Open(element) = node {
            is_spreadsheet |= element.local_name().as_ref() == "spreadsheet";
        }
        Ok(!is_spreadsheet)
    })?;
    if is_spreadsheet { spreadsheet(&xml, package.budget()) } else { prose(&xml, package.budget()) }
}

/// Returns the paragraphs and tables of a text or a presentation.
fn prose(xml: &str, budget: &Budget) -> Result<Text, Unreadable> {
    let mut text = Text::default();
    let mut slides = 0;
    let mut depth = 0_usize;
    let mut skipped = 0_usize;
    walk(xml, budget, |node| {
        match node {
            Node::Open(element) if skipped > 0 || is_apart(element.local_name().as_ref()) => skipped += 1,
            Node::Close(_) if skipped > 0 => skipped -= 1,
            Node::Open(element) => match element.local_name().as_ref() {
                "p" | "h" => depth += 1,
                "s" => text.push(&" ".repeat(count(element, "c").min(SPACES_MAX))),
                "tab" => text.push("\t"),
                "line-break" => text.push("\n"),
                "list-item" if !text.is_in_row() && text.is_at_line_start() => text.push("- "),
                "table-row" => text.open_row(),
                "table-cell" | "covered-table-cell" => text.open_cell(),
                "page" => {
                    slides += 1;
                    text.line(&format!("[slide {slides}]"));
                }
                "notes" => text.line("[notes]"),
                _ => {}
            },
            Node::Close(name) => match name.as_str() {
                "p" | "h" => {
                    depth = depth.saturating_sub(1);
                    text.end_paragraph();
                }
                "table-row" => text.close_row(budget)?,
                _ => {}
            },
            Node::Text(run) if depth > 0 && skipped == 0 => text.push(&run.replace(['\n', '\r'], " ")),
            Node::Text(_) => {}
        }
        Ok(!text.is_cut)
    })?;
    text.parts = (slides > 0).then_some(("slides", slides));
    Ok(text)
}

/// Returns whether an element holds what is no text of the document: what was deleted, remarks, and what fields fill in.
fn is_apart(name: &str) -> bool {
    matches!(name, "tracked-changes" | "annotation" | "forms" | "page-number" | "date-time")
}

/// Returns the worksheets of a spreadsheet. What stands for many equal cells or rows is taken as often, up to the limits.
fn spreadsheet(xml: &str, budget: &Budget) -> Result<Text, Unreadable> {
    let mut rows = Rows::default();
    let (mut cell, mut cell_times, mut row_times) = (String::new(), 1, 1);
    // Programs end each row with a cell that stands for all the empty ones up to the last column: only those that a value follows are laid out.
    let mut blank = 0_usize;
    let (mut depth, mut skipped) = (0_usize, 0_usize);
    walk(xml, budget, |node| {
        match node {
            Node::Open(element) if skipped > 0 || is_apart(element.local_name().as_ref()) => skipped += 1,
            Node::Close(_) if skipped > 0 => skipped -= 1,
            Node::Open(element) => match element.local_name().as_ref() {
                "table" => rows.open(&attribute(element, "name").unwrap_or_default(), false),
                "table-row" => {
                    row_times = count(element, "number-rows-repeated");
                    blank = 0;
                }
                "table-cell" | "covered-table-cell" => {
                    cell.clear();
                    cell_times = count(element, "number-columns-repeated");
                }
                "p" => {
                    depth += 1;
                    if !cell.is_empty() {
                        cell.push('\n');
                    }
                }
                "s" => cell.push(' '),
                _ => {}
            },
            Node::Close(name) => match name.as_str() {
                "p" => depth = depth.saturating_sub(1),
                "table-cell" | "covered-table-cell" if cell.is_empty() => blank = blank.saturating_add(cell_times),
                "table-cell" | "covered-table-cell" => {
                    let text = cell_times.min(COLUMNS_MAX) * cell.len();
                    let laid_out =
                        blank.min(COLUMNS_MAX) + cell_times.min(COLUMNS_MAX) + text.min(DOCUMENT_TEXT_BYTES_MAX);
                    budget.work(laid_out as u64)?;
                    rows.place(String::new(), std::mem::take(&mut blank));
                    rows.place(std::mem::take(&mut cell), cell_times);
                }
                "table-row" => rows.end_row(row_times),
                _ => {}
            },
            Node::Text(run) if depth > 0 && skipped == 0 => cell.push_str(run),
            Node::Text(_) => {}
        }
        Ok(!rows.is_full())
    })?;
    Ok(rows.into_text())
}

fn count(element: &BytesStart<'_>, name: &str) -> usize {
    attribute(element, name).and_then(|count| count.parse().ok()).unwrap_or(1)
}
