//! The text of a Word document (WordprocessingML, ECMA-376 part 1, clause 17): its paragraphs as lines, the cells of a table row on one line,
//! then headers, footers, notes and comments. Deleted text of tracked changes is left out.

use dayshift_engine::Budget;

use super::package::{Node, Package, attribute, walk};
use super::{Text, Unreadable};

/// Other parts with text, by the start of their names, and the mark above them.
const PARTS: [(&str, &str); 5] = [
    ("word/header", "[header]"),
    ("word/footer", "[footer]"),
    ("word/footnotes", "[footnotes]"),
    ("word/endnotes", "[endnotes]"),
    ("word/comments.", "[comments]"),
];

pub(super) fn text_of(package: &mut Package<'_>) -> Result<Text, Unreadable> {
    let mut text = Text::default();
    let body = package.xml("word/document.xml")?.unwrap_or_default();
    story(&body, &mut text, package.budget())?;
    for (start, mark) in PARTS {
        for name in package.names(start).iter().filter(|name| name.ends_with(".xml")) {
            let mut inner = Text::default();
            story(&package.xml(name)?.unwrap_or_default(), &mut inner, package.budget())?;
            if !inner.as_str().trim().is_empty() {
                text.line(mark);
                text.push(inner.as_str().trim_matches('\n'));
                text.push("\n");
            }
        }
    }
    Ok(text)
}

/// Adds the paragraphs of one part.
fn story(xml: &str, text: &mut Text, budget: &Budget) -> Result<(), Unreadable> {
    let mut is_run = false;
    let mut skipped = 0_usize;
    walk(xml, budget, |node| {
        match node {
            // What is for programs that do not know the part before it says the same once more.
            Node::Open(element) if skipped > 0 || element.local_name().as_ref() == "Fallback" => skipped += 1,
            Node::Close(_) if skipped > 0 => skipped -= 1,
            Node::Open(element) => match element.local_name().as_ref() {
                "t" => is_run = true,
                // With a position it is the definition of a tab stop.
                "tab" | "ptab" if attribute(element, "pos").is_none() => text.push("\t"),
                "br" | "cr" => text.push("\n"),
                "noBreakHyphen" => text.push("-"),
                "tr" => text.open_row(),
                "tc" => text.open_cell(),
                "numPr" if !text.is_in_row() && text.is_at_line_start() => text.push("- "),
                "comment" => text.push(&format!("{}: ", attribute(element, "author").unwrap_or_default())),
                _ => {}
            },
            Node::Close(name) => match name.as_str() {
                "t" => is_run = false,
                "p" => text.end_paragraph(),
                "tr" => text.close_row(budget)?,
                _ => {}
            },
            Node::Text(run) if is_run && skipped == 0 => text.push(run),
            Node::Text(_) => {}
        }
        Ok(!text.is_cut)
    })
}
