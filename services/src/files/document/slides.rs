//! The text of a presentation (PresentationML, ECMA-376 part 1, clause 19): slide after slide in their order, with the notes of the speaker.

use std::collections::BTreeMap;

use dayshift_engine::Budget;

use super::package::{Node, Package, Relation, attribute, walk};
use super::{Text, Unreadable};

const PRESENTATION: &str = "ppt/presentation.xml";

pub(super) fn text_of(package: &mut Package<'_>) -> Result<Text, Unreadable> {
    let parts = slides(package)?;
    let mut text = Text { parts: Some(("slides", parts.len())), ..Text::default() };
    for (index, part) in parts.iter().enumerate() {
        if text.is_cut {
            break;
        }
        let (slide, is_hidden) = shapes(&package.xml(part)?.unwrap_or_default(), package.budget())?;
        text.line(&format!("[slide {}{}]", index + 1, if is_hidden { ", hidden" } else { "" }));
        text.push(slide.as_str());
        let relations = package.relations(part)?;
        let Some(notes) = relations.iter().find(|relation| relation.kind.ends_with("/notesSlide")) else { continue };
        let (notes, _) = shapes(&package.xml(&notes.target)?.unwrap_or_default(), package.budget())?;
        if !notes.as_str().trim().is_empty() {
            text.line("[notes]");
            text.push(notes.as_str());
        }
    }
    Ok(text)
}

/// Returns the parts of the slides in the order in which they are shown.
fn slides(package: &mut Package<'_>) -> Result<Vec<String>, Unreadable> {
    let xml = package.xml(PRESENTATION)?.unwrap_or_default();
    let relations = package.relations(PRESENTATION)?;
    // The first of those with one id counts.
    let targets: BTreeMap<&str, &Relation> = relations.iter().rev().map(|found| (found.id.as_str(), found)).collect();
    let mut parts = Vec::new();
    walk(&xml, package.budget(), |node| {
        if let Node::Open(element) = node
            && element.local_name().as_ref() == "sldId"
        {
            // The element has an id of its own too; that of the relationship is the one with a prefix.
            let mut ids = element.attributes();
            let found = ids
                .with_checks(false)
                .flatten()
                .find_map(|id| targets.get(&*id.value).filter(|_| id.key.local_name().as_ref() == "id"));
            parts.extend(found.map(|relation| relation.target.clone()));
        }
        Ok(true)
    })?;
    Ok(parts)
}

/// Returns the paragraphs of all shapes of a slide or its notes, and whether the slide is hidden.
fn shapes(xml: &str, budget: &Budget) -> Result<(Text, bool), Unreadable> {
    let mut text = Text::default();
    let mut is_hidden = false;
    let mut is_run = false;
    // Slide numbers and dates, which the program fills in.
    let mut is_field = false;
    let mut skipped = 0_usize;
    walk(xml, budget, |node| {
        match node {
            // What is for programs that do not know the part before it says the same once more.
            Node::Open(element) if skipped > 0 || element.local_name().as_ref() == "Fallback" => skipped += 1,
            Node::Close(_) if skipped > 0 => skipped -= 1,
            Node::Open(element) => match element.local_name().as_ref() {
                "sld" => is_hidden = attribute(element, "show").is_some_and(|show| matches!(&*show, "0" | "false")),
                "t" => is_run = true,
                "fld" => is_field = true,
                "br" => text.push("\n"),
                "tr" => text.open_row(),
                "tc" => text.open_cell(),
                _ => {}
            },
            Node::Close(name) => match name.as_str() {
                "t" => is_run = false,
                "fld" => is_field = false,
                "p" if text.is_in_row() => text.end_paragraph(),
                "p" => text.end_line(),
                "tr" => text.close_row(budget)?,
                _ => {}
            },
            Node::Text(run) if is_run && !is_field && skipped == 0 => text.push(run),
            Node::Text(_) => {}
        }
        Ok(!text.is_cut)
    })?;
    text.end_line();
    Ok((text, is_hidden))
}
