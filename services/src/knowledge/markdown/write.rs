//! Writing blocks as Markdown, in one way only: ATX headings, `-` and `1.` for items, backquote fences, pipe tables.

use super::inline::longest_run;
use super::{Block, BlockKind};

/// Returns the Markdown of `blocks`, without a line end after the last line.
pub(in super::super) fn text(blocks: &[Block]) -> String {
    let mut lines = Vec::new();
    write(blocks, &mut lines);
    lines.join("\n")
}

/// Adds the lines of `blocks`. Blank lines stand between blocks, but not between items of a list.
fn write(blocks: &[Block], lines: &mut Vec<String>) {
    let mut number = 0;
    for (index, block) in blocks.iter().enumerate() {
        if index > 0 && !(block.kind.is_list_item() && blocks[index - 1].kind.is_list_item()) {
            lines.push(String::new());
        }
        let next = block.start.map_or(number + 1, |start| start as usize);
        number = if block.kind == BlockKind::NumberedListItem { next } else { 0 };
        block_lines(block, number, lines);
    }
}

fn block_lines(block: &Block, number: usize, lines: &mut Vec<String>) {
    match &block.kind {
        BlockKind::Paragraph => lines.extend(block.text.split('\n').map(str::to_owned)),
        BlockKind::Heading1 => lines.push(heading("#", &block.text)),
        BlockKind::Heading2 => lines.push(heading("##", &block.text)),
        BlockKind::Heading3 => lines.push(heading("###", &block.text)),
        BlockKind::BulletedListItem => item("- ", "", block, lines),
        BlockKind::NumberedListItem => item(&format!("{number}. "), "", block, lines),
        BlockKind::ToDo { checked } => item("- ", if *checked { "[x] " } else { "[ ] " }, block, lines),
        BlockKind::Quote => quote(None, block, lines),
        BlockKind::Callout { tone } => quote(Some(tone), block, lines),
        BlockKind::Toggle => {
            lines.push(format!("<details><summary>{}</summary>", block.text));
            lines.push(String::new());
            write(&block.children, lines);
            if !block.children.is_empty() {
                lines.push(String::new());
            }
            lines.push("</details>".to_owned());
        }
        BlockKind::Code { language } => {
            let fence = "`".repeat(longest_run(&block.text, '`').max(2) + 1);
            lines.push(format!("{fence}{language}"));
            if !block.text.is_empty() {
                lines.extend(block.text.split('\n').map(str::to_owned));
            }
            lines.push(fence);
        }
        BlockKind::Divider => lines.push("---".to_owned()),
        BlockKind::Table { rows } => table(rows, lines),
    }
    if matches!(
        block.kind,
        BlockKind::Paragraph | BlockKind::Heading1 | BlockKind::Heading2 | BlockKind::Heading3 | BlockKind::Code { .. }
    ) && !block.children.is_empty()
    {
        // Markdown never nests into these; whoever built such a tree gets its children after it.
        lines.push(String::new());
        write(&block.children, lines);
    }
}

fn heading(marks: &str, text: &str) -> String {
    if text.is_empty() { marks.to_owned() } else { format!("{marks} {text}") }
}

/// Adds the block's own text and its children, without the marker and the indentation.
fn inside(block: &Block, marker: &str) -> Vec<String> {
    let mut lines = Vec::new();
    if !block.text.is_empty() || !marker.is_empty() {
        let mut text = block.text.split('\n');
        lines.push(format!("{marker}{}", text.next().unwrap_or_default()));
        lines.extend(text.map(str::to_owned));
    }
    if let Some(first) = block.children.first() {
        if !lines.is_empty() && !first.kind.is_list_item() {
            lines.push(String::new());
        }
        write(&block.children, &mut lines);
    }
    lines
}

fn item(bullet: &str, marker: &str, block: &Block, lines: &mut Vec<String>) {
    let indent = " ".repeat(bullet.len());
    let mut inside = inside(block, marker).into_iter();
    if block.text.is_empty() && marker.is_empty() {
        lines.push(bullet.trim_end().to_owned());
    } else {
        lines.push(format!("{bullet}{}", inside.next().unwrap_or_default()));
    }
    lines.extend(inside.map(|line| if line.is_empty() { line } else { format!("{indent}{line}") }));
}

fn quote(tone: Option<&str>, block: &Block, lines: &mut Vec<String>) {
    let mut inside = inside(block, "");
    if let Some(tone) = tone {
        inside.insert(0, format!("[!{tone}]"));
    }
    if inside.is_empty() {
        inside.push(String::new());
    }
    lines.extend(inside.into_iter().map(|line| if line.is_empty() { ">".to_owned() } else { format!("> {line}") }));
}

fn table(rows: &[Vec<dayshift_engine::SmolStr>], lines: &mut Vec<String>) {
    let row_line = |cells: &[dayshift_engine::SmolStr]| {
        let mut line = String::from("|");
        for cell in cells {
            line.push(' ');
            line.push_str(cell);
            line.push_str(" |");
        }
        line
    };
    for (index, row) in rows.iter().enumerate() {
        lines.push(row_line(row));
        if index == 0 {
            lines.push(format!("|{}", " --- |".repeat(row.len())));
        }
    }
}
