//! Blocks: what a page's content is made of, as a tree. Their text is inline Markdown in canonical form, so that styles and links
//! survive; [`super::markdown`] turns whole trees into Markdown and back.

use dayshift_engine::{Canonical, Graded, SmolStr, Value, map};
use serde::{Deserialize, Serialize};

/// How many blocks one page may hold, nested ones included.
pub const PAGE_BLOCKS_MAX: usize = 2_000;

/// How deep blocks may nest; a page's own blocks are at depth 1.
pub const BLOCK_DEPTH_MAX: usize = 8;

/// How long one block's text may be, in bytes. Notion stops at 2,000 characters per piece of text, of which a block may have many.
pub const BLOCK_TEXT_BYTES_MAX: usize = 64 << 10;

/// How many cells one table block may hold.
pub const TABLE_CELLS_MAX: usize = 5_000;

/// One block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// The block's id, unique in the office.
    pub id: SmolStr,
    /// What it is.
    pub kind: BlockKind,
    /// Its own text: inline Markdown; the code itself for code; empty for a divider and a table.
    #[serde(default, skip_serializing_if = "SmolStr::is_empty")]
    pub text: SmolStr,
    /// The number with which a numbered list begins that does not begin with 1; on its first item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<u32>,
    /// The blocks inside of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Block>,
}

/// What a block is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockKind {
    /// A paragraph.
    Paragraph,
    /// A heading of level 1.
    #[serde(rename = "heading_1")]
    Heading1,
    /// A heading of level 2.
    #[serde(rename = "heading_2")]
    Heading2,
    /// A heading of level 3; deeper ones of Markdown become this.
    #[serde(rename = "heading_3")]
    Heading3,
    /// An item of a bulleted list.
    BulletedListItem,
    /// An item of a numbered list. Its number is its place among its neighbours.
    NumberedListItem,
    /// Something to do.
    ToDo {
        /// Whether it is done.
        checked: bool,
    },
    /// A quotation.
    Quote,
    /// A callout, in Markdown a quotation that opens with `[!NOTE]`, `[!TIP]`, `[!IMPORTANT]`, `[!WARNING]` or `[!CAUTION]`.
    Callout {
        /// The word, in upper case.
        tone: SmolStr,
    },
    /// A toggle, in Markdown `<details><summary>…</summary>`.
    Toggle,
    /// Code.
    Code {
        /// The language; may be empty.
        language: SmolStr,
    },
    /// A horizontal line.
    Divider,
    /// A table. The first row is its header.
    Table {
        /// Rows of cells, inline Markdown each; all rows are as long as the first.
        rows: Vec<Vec<SmolStr>>,
    },
}

impl BlockKind {
    /// Returns the name of the kind, as Notion has it.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Paragraph => "paragraph",
            Self::Heading1 => "heading_1",
            Self::Heading2 => "heading_2",
            Self::Heading3 => "heading_3",
            Self::BulletedListItem => "bulleted_list_item",
            Self::NumberedListItem => "numbered_list_item",
            Self::ToDo { .. } => "to_do",
            Self::Quote => "quote",
            Self::Callout { .. } => "callout",
            Self::Toggle => "toggle",
            Self::Code { .. } => "code",
            Self::Divider => "divider",
            Self::Table { .. } => "table",
        }
    }

    /// Returns whether this is an item of a list, bulleted, numbered or to do.
    pub(super) const fn is_list_item(&self) -> bool {
        matches!(self, Self::BulletedListItem | Self::NumberedListItem | Self::ToDo { .. })
    }
}

impl Block {
    /// Returns a block without an id and without children, as parsing makes it.
    pub(super) fn draft(kind: BlockKind, text: impl Into<SmolStr>) -> Self {
        Self { id: SmolStr::default(), kind, text: text.into(), start: None, children: Vec::new() }
    }

    /// Returns the block as a value for people and for checks.
    #[must_use]
    pub fn value(&self) -> Value {
        let mut value = map! { "id" => self.id.clone(), "kind" => self.kind.name() };
        let Value::Map(map) = &mut value else { return value };
        if !self.text.is_empty() {
            map.insert("text".into(), self.text.clone().into());
        }
        if let Some(start) = self.start {
            map.insert("start".into(), i64::from(start).into());
        }
        match &self.kind {
            BlockKind::ToDo { checked } => drop(map.insert("checked".into(), (*checked).into())),
            BlockKind::Callout { tone } => drop(map.insert("tone".into(), tone.clone().into())),
            BlockKind::Code { language } => drop(map.insert("language".into(), language.clone().into())),
            BlockKind::Table { rows } => {
                let rows = rows.iter().map(|row| row.iter().cloned().collect::<Value>());
                map.insert("rows".into(), Value::List(rows.collect()));
            }
            BlockKind::Paragraph
            | BlockKind::Heading1
            | BlockKind::Heading2
            | BlockKind::Heading3
            | BlockKind::BulletedListItem
            | BlockKind::NumberedListItem
            | BlockKind::Quote
            | BlockKind::Toggle
            | BlockKind::Divider => {}
        }
        if !self.children.is_empty() {
            map.insert("children".into(), Value::List(self.children.iter().map(Self::value).collect()));
        }
        value
    }
}

/// Returns how many blocks there are, nested ones included.
pub(super) fn count(blocks: &[Block]) -> usize {
    blocks.iter().map(|block| 1 + count(&block.children)).sum()
}

/// Returns how deep the blocks nest.
pub(super) fn depth(blocks: &[Block]) -> usize {
    blocks.iter().map(|block| 1 + depth(&block.children)).max().unwrap_or(0)
}

/// Returns the block `id`, wherever it is.
pub(super) fn find<'a>(blocks: &'a [Block], id: &str) -> Option<&'a Block> {
    blocks.iter().find_map(|block| if block.id == id { Some(block) } else { find(&block.children, id) })
}

/// Puts `new` in the place of the block `id`. Returns whether there was one.
pub(super) fn replace(blocks: &mut Vec<Block>, id: &str, new: &[Block]) -> bool {
    if let Some(place) = blocks.iter().position(|block| block.id == id) {
        blocks.splice(place..=place, new.iter().cloned());
        return true;
    }
    blocks.iter_mut().any(|block| replace(&mut block.children, id, new))
}

/// The content of one page. Cloning shares the blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct Content(pub(super) std::sync::Arc<Vec<Block>>);

/// Two contents are equal when they say the same, whatever the ids of their blocks.
impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        same(&self.0, &other.0)
    }
}

fn same(left: &[Block], right: &[Block]) -> bool {
    left.len() == right.len()
        && left.iter().zip(right).all(|(left, right)| {
            left.kind == right.kind
                && left.text == right.text
                && left.start == right.start
                && same(&left.children, &right.children)
        })
}

impl Graded for Content {
    /// Which ids the blocks have does not count: two pages that say the same are the same.
    fn canonical(&self, into: &mut Canonical) {
        write(&self.0, into);
    }
}

fn write(blocks: &[Block], into: &mut Canonical) {
    into.int(blocks.len() as i64);
    for block in blocks {
        into.text(block.kind.name());
        into.text(&block.text);
        if let Some(start) = block.start {
            into.int(i64::from(start));
        }
        match &block.kind {
            BlockKind::ToDo { checked } => into.bool(*checked),
            BlockKind::Callout { tone } => into.text(tone),
            BlockKind::Code { language } => into.text(language),
            BlockKind::Table { rows } => {
                into.int(rows.len() as i64);
                for row in rows {
                    into.int(row.len() as i64);
                    row.iter().for_each(|cell| into.text(cell));
                }
            }
            BlockKind::Paragraph
            | BlockKind::Heading1
            | BlockKind::Heading2
            | BlockKind::Heading3
            | BlockKind::BulletedListItem
            | BlockKind::NumberedListItem
            | BlockKind::Quote
            | BlockKind::Toggle
            | BlockKind::Divider => {}
        }
        write(&block.children, into);
    }
}
