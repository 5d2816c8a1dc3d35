//! Markdown in and out of blocks. Reading is `pulldown-cmark`'s (CommonMark with GFM's tables, task lists, strikethrough and alerts);
//! what is ours is the mapping to blocks and the writing. Not a renderer, and no HTML but `<details>`.
//!
//! `pulldown-cmark` was taken over `comrak`: it hands out events and so needs no tree of its own beside ours, has two small dependencies
//! instead of a dozen, and never recurses. Comrak's own CommonMark writer would not have helped: it writes its tree, not ours, and does
//! not promise that what it writes reads back the same.
//!
//! **Stable by construction**: [`blocks`] returns only trees that read back as themselves from what [`text`] writes of them. Where Markdown
//! cannot say what was meant (a style that ends inside a word, say), the next best reading is kept, and where none settles, the source is
//! kept as a block of code, so that nothing is lost.

mod inline;
mod read;
mod write;

use dayshift_engine::Rejection;

use super::block::{BLOCK_DEPTH_MAX, BLOCK_TEXT_BYTES_MAX, Block, BlockKind, TABLE_CELLS_MAX};
pub(super) use write::text;

/// How long one piece of Markdown may be, in bytes (1 MiB).
pub const MARKDOWN_BYTES_MAX: usize = 1 << 20;

/// How often a reading may be written and read again before it counts as one that does not settle.
const ROUNDS_MAX: usize = 4;

/// Why Markdown is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Deep,
    LongText,
    LargeTable,
}

/// Returns the blocks that `markdown` writes, without ids.
pub(super) fn blocks(markdown: &str) -> Result<Vec<Block>, Rejection> {
    if markdown.len() > MARKDOWN_BYTES_MAX {
        return Err(Rejection::new(
            "knowledge/too-large",
            format!("the Markdown is over {MARKDOWN_BYTES_MAX} bytes; write it in several steps"),
        ));
    }
    // What follows may take any text, also line ends of other systems; NUL cannot be part of Markdown.
    let markdown = markdown.replace("\r\n", "\n").replace('\r', "\n").replace('\0', "\u{fffd}");
    let mut blocks = read::read(&markdown).map_err(refusal)?;
    for _ in 0..ROUNDS_MAX {
        match read::read(&write::text(&blocks)) {
            Ok(again) if again == blocks => return Ok(blocks),
            Ok(again) => blocks = again,
            Err(_) => break,
        }
    }
    let source = markdown.trim_matches('\n');
    let kept = vec![Block::draft(BlockKind::Code { language: "markdown".into() }, source)];
    if source.len() > BLOCK_TEXT_BYTES_MAX {
        return Err(refusal(Fault::LongText));
    }
    Ok(kept)
}

fn refusal(fault: Fault) -> Rejection {
    match fault {
        Fault::Deep => Rejection::new(
            "knowledge/too-deep",
            format!("the blocks nest deeper than {BLOCK_DEPTH_MAX} levels; flatten the lists and quotations"),
        ),
        Fault::LongText => Rejection::new(
            "knowledge/too-large",
            format!("the text of one block is over {BLOCK_TEXT_BYTES_MAX} bytes; break it into paragraphs"),
        ),
        Fault::LargeTable => Rejection::new(
            "knowledge/too-large",
            format!("one table has over {TABLE_CELLS_MAX} cells; make it a database or several tables"),
        ),
    }
}

#[cfg(test)]
mod tests;
