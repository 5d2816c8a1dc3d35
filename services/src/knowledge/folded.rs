//! All that a search can find, in lower case and side by side: one text for each page, database and row, in the order in which they came to be.
//! It is derived from titles, properties and blocks, kept by `apply`, and never graded. What a text is found in is looked at again.

use std::sync::Arc;

use dayshift_engine::{Budget, SmolStr, Value};
use imbl::OrdMap;
use memchr::memmem::Finder;

use super::block::{Block, BlockKind};
use super::event::KnowledgeEvent;
use super::{ContentOf, KnowledgeState, Node};
use crate::lowercase::push_lowercase;

/// The texts of all pages, databases and rows, by position.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Folded(OrdMap<u64, (SmolStr, Arc<str>)>);

impl Folded {
    /// Returns what may have `lower`, a text in lower case, in it, in the order in which it came to be: all that has it, and some more.
    /// When the budget is used up nothing more has it, and whoever asked refuses the call.
    pub(super) fn holding<'s>(
        &'s self,
        lower: &str,
        budget: &'s Budget,
    ) -> impl Iterator<Item = &'s SmolStr> + use<'s> {
        let needle = Finder::new(lower.as_bytes()).into_owned();
        let found = self.0.values().filter(move |(_, text)| {
            budget.work(1 + text.len() as u64 / 8).is_ok() && needle.find(text.as_bytes()).is_some()
        });
        found.map(|(id, _)| id)
    }
}

/// Returns what an event changes the text of.
pub(super) fn touched(event: &KnowledgeEvent) -> Vec<SmolStr> {
    match event {
        KnowledgeEvent::PageCreated { id, .. } | KnowledgeEvent::DatabaseDefined { id, .. } => vec![id.clone()],
        KnowledgeEvent::PageRetitled { page, .. }
        | KnowledgeEvent::BlocksAppended { page, .. }
        | KnowledgeEvent::BlockReplaced { page, .. } => vec![page.clone()],
        KnowledgeEvent::RowsCreated { rows, .. } => rows.iter().map(|row| row.id.clone()).collect(),
        KnowledgeEvent::RowChanged { row, .. } => vec![row.clone()],
        KnowledgeEvent::OptionsAdded { .. } | KnowledgeEvent::ArchiveChanged { .. } => Vec::new(),
    }
}

impl KnowledgeState {
    /// Makes the text of a page, database or row anew.
    pub(super) fn fold_text(&mut self, id: &SmolStr) {
        if let Some((position, text)) = self.text_of(id) {
            self.folded.0.insert(position, (id.clone(), text.into()));
        }
    }

    /// Returns the position and the text of a page, database or row.
    fn text_of(&self, id: &SmolStr) -> Option<(u64, String)> {
        let mut text = String::new();
        let position = match self.nodes.get(id)? {
            Node::Page => {
                let page = self.pages.peek(id)?;
                push_lowercase(&mut text, &page.title);
                page.position
            }
            Node::Database => {
                let database = self.databases.peek(id)?;
                push_lowercase(&mut text, &database.schema.title);
                push_lowercase(&mut text, &database.schema.description);
                return Some((database.position, text));
            }
            Node::Row(database) => {
                let row = self.tables.get(database)?.peek_row(id)?;
                for value in row.values() {
                    match value {
                        Value::Text(own) => push_lowercase(&mut text, own),
                        Value::List(items) => {
                            items.iter().filter_map(Value::as_text).for_each(|own| push_lowercase(&mut text, own))
                        }
                        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Map(_) => {}
                    }
                }
                row.position
            }
        };
        if let Some(content) = self.contents.peek(&ContentOf(id.clone())) {
            content.0.iter().for_each(|block| add_block(&mut text, block));
        }
        Some((position, text))
    }
}

fn add_block(text: &mut String, block: &Block) {
    push_lowercase(text, &block.text);
    if let BlockKind::Table { rows } = &block.kind {
        rows.iter().flatten().for_each(|cell| push_lowercase(text, cell));
    }
    block.children.iter().for_each(|child| add_block(text, child));
}

#[cfg(test)]
impl KnowledgeState {
    /// Returns whether the texts are what everything else says.
    pub(super) fn texts_are_consistent(&self) -> bool {
        let all = self.nodes.keys().filter_map(|id| self.text_of(id).map(|(at, text)| (at, (id.clone(), text.into()))));
        self.folded == Folded(all.collect())
    }
}
