//! Reading Markdown into blocks: a stack of open containers, fed with the parser's events. Depth is checked while reading, so that no
//! tree is ever built that would be too deep to walk.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the parser's events are its own; what is not named here is inline"
)]

use dayshift_engine::SmolStr;
use pulldown_cmark::{
    BlockQuoteKind, CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd, TextMergeStream,
};

use super::inline::Inline;
use super::{BLOCK_DEPTH_MAX, BLOCK_TEXT_BYTES_MAX, Block, BlockKind, Fault, TABLE_CELLS_MAX};

/// Returns the blocks that `markdown` writes, once read.
pub(super) fn read(markdown: &str) -> Result<Vec<Block>, Fault> {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS | Options::ENABLE_GFM;
    let mut reader = Reader::default();
    for event in TextMergeStream::new(Parser::new_ext(markdown, options)) {
        reader.event(event)?;
    }
    reader.flush()?;
    while !reader.open.is_empty() {
        reader.close_container()?;
    }
    Ok(reader.done)
}

/// A block that is still open.
#[derive(Debug)]
struct Open {
    block: Block,
    /// Whether the next paragraph is this block's own text.
    takes_text: bool,
    /// Whether `<details>` opened it, so that `</details>` closes it.
    by_html: bool,
}

#[derive(Debug, Default)]
struct Reader {
    done: Vec<Block>,
    open: Vec<Open>,
    /// Whether each open list is numbered, and the number with which it begins, until its first item takes that.
    lists: Vec<(bool, Option<u32>)>,
    inline: Inline,
    /// What the inline text that is being collected belongs to.
    leaf: Option<BlockKind>,
    code: Option<(SmolStr, String)>,
    html: Option<String>,
    table: Option<Vec<Vec<SmolStr>>>,
    cells: usize,
}

impl Reader {
    fn event(&mut self, event: Event<'_>) -> Result<(), Fault> {
        if let Some((_, code)) = &mut self.code
            && let Event::Text(text) = &event
        {
            code.push_str(text);
            // The last line's end is not part of the code.
            return within(code.trim_end_matches('\n').len());
        }
        if let Some(html) = &mut self.html
            && let Event::Html(text) | Event::Text(text) | Event::InlineHtml(text) = &event
        {
            html.push_str(text);
            return within(html.len());
        }
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::Rule => {
                self.flush()?;
                self.push(Block::draft(BlockKind::Divider, ""))
            }
            Event::TaskListMarker(checked) => {
                if let Some(open) = self.open.last_mut() {
                    open.block.kind = BlockKind::ToDo { checked };
                    open.block.start = None;
                }
                Ok(())
            }
            other => {
                self.inline.add(&other);
                within(self.inline.len())
            }
        }
    }

    fn start(&mut self, tag: &Tag<'_>) -> Result<(), Fault> {
        match tag {
            Tag::Paragraph => self.leaf(BlockKind::Paragraph, false),
            Tag::Heading { level, .. } => {
                let kind = match level {
                    HeadingLevel::H1 => BlockKind::Heading1,
                    HeadingLevel::H2 => BlockKind::Heading2,
                    HeadingLevel::H3 | HeadingLevel::H4 | HeadingLevel::H5 | HeadingLevel::H6 => BlockKind::Heading3,
                };
                self.leaf(kind, true)
            }
            Tag::BlockQuote(kind) => {
                let kind = kind.map_or(BlockKind::Quote, |kind| BlockKind::Callout { tone: tone(kind).into() });
                self.container(kind, false)
            }
            Tag::List(first) => {
                self.flush()?;
                let start = first.and_then(|first| u32::try_from(first).ok()).filter(|first| *first != 1);
                self.lists.push((first.is_some(), start));
                Ok(())
            }
            Tag::Item => {
                let (numbered, start) = self.lists.last_mut().map_or((false, None), |(is, start)| (*is, start.take()));
                self.container(
                    if numbered { BlockKind::NumberedListItem } else { BlockKind::BulletedListItem },
                    false,
                )?;
                if let Some(open) = self.open.last_mut() {
                    open.block.start = start;
                }
                Ok(())
            }
            Tag::CodeBlock(kind) => {
                self.flush()?;
                let language = match kind {
                    CodeBlockKind::Fenced(info) => language(info),
                    CodeBlockKind::Indented => SmolStr::default(),
                };
                self.code = Some((language, String::new()));
                Ok(())
            }
            Tag::HtmlBlock => {
                self.flush()?;
                self.html = Some(String::new());
                Ok(())
            }
            Tag::Table(_) => {
                self.flush()?;
                self.table = Some(Vec::new());
                Ok(())
            }
            Tag::TableHead | Tag::TableRow => {
                self.table.get_or_insert_default().push(Vec::new());
                Ok(())
            }
            Tag::TableCell => {
                self.inline.one_line = true;
                Ok(())
            }
            inline => {
                self.inline.add(&Event::Start(inline.clone()));
                within(self.inline.len())
            }
        }
    }

    fn end(&mut self, tag: TagEnd) -> Result<(), Fault> {
        match tag {
            TagEnd::Paragraph | TagEnd::Heading(_) => self.flush(),
            TagEnd::BlockQuote(_) | TagEnd::Item => {
                self.flush()?;
                while self.open.last().is_some_and(|open| open.by_html) {
                    self.close_container()?;
                }
                self.close_container()
            }
            TagEnd::List(_) => {
                self.lists.pop();
                Ok(())
            }
            TagEnd::CodeBlock => {
                let (language, mut code) = self.code.take().unwrap_or_default();
                if code.ends_with('\n') {
                    code.pop();
                }
                within(code.len())?;
                self.push(Block::draft(BlockKind::Code { language }, code))
            }
            TagEnd::HtmlBlock => {
                let html = self.html.take().unwrap_or_default();
                self.html_block(&html)
            }
            TagEnd::TableCell => {
                let cell = self.inline.take();
                self.inline.one_line = false;
                self.cells += 1;
                if self.cells > TABLE_CELLS_MAX {
                    return Err(Fault::LargeTable);
                }
                if let Some(row) = self.table.as_mut().and_then(|rows| rows.last_mut()) {
                    row.push(cell.into());
                }
                Ok(())
            }
            TagEnd::TableHead | TagEnd::TableRow => Ok(()),
            TagEnd::Table => {
                self.cells = 0;
                let rows = self.table.take().unwrap_or_default();
                self.push(Block::draft(BlockKind::Table { rows }, ""))
            }
            inline => {
                self.inline.add(&Event::End(inline));
                Ok(())
            }
        }
    }

    fn leaf(&mut self, kind: BlockKind, one_line: bool) -> Result<(), Fault> {
        self.flush()?;
        self.inline.one_line = one_line;
        self.leaf = Some(kind);
        Ok(())
    }

    fn container(&mut self, kind: BlockKind, by_html: bool) -> Result<(), Fault> {
        self.flush()?;
        if let Some(parent) = self.open.last_mut() {
            parent.takes_text = false;
        }
        if self.open.len() >= BLOCK_DEPTH_MAX {
            return Err(Fault::Deep);
        }
        let takes_text = !by_html;
        self.open.push(Open { block: Block::draft(kind, ""), takes_text, by_html });
        Ok(())
    }

    fn close_container(&mut self) -> Result<(), Fault> {
        match self.open.pop() {
            Some(open) => self.push(open.block),
            None => Ok(()),
        }
    }

    /// Ends the text that is being collected and puts it where it belongs.
    fn flush(&mut self) -> Result<(), Fault> {
        let kind = self.leaf.take();
        if self.inline.is_blank()
            && !matches!(kind, Some(BlockKind::Heading1 | BlockKind::Heading2 | BlockKind::Heading3))
        {
            self.inline.take();
            self.inline.one_line = false;
            return Ok(());
        }
        let text = self.inline.take();
        self.inline.one_line = false;
        within(text.len())?;
        let kind = kind.unwrap_or(BlockKind::Paragraph);
        if kind == BlockKind::Paragraph
            && let Some(open) = self.open.last_mut().filter(|open| open.takes_text)
        {
            open.block.text = text.into();
            open.takes_text = false;
            return Ok(());
        }
        if kind == BlockKind::Paragraph && text.is_empty() {
            return Ok(());
        }
        self.push(Block::draft(kind, text))
    }

    fn push(&mut self, block: Block) -> Result<(), Fault> {
        if self.open.len() >= BLOCK_DEPTH_MAX {
            return Err(Fault::Deep);
        }
        match self.open.last_mut() {
            Some(parent) => {
                parent.takes_text = false;
                parent.block.children.push(block);
            }
            None => self.done.push(block),
        }
        Ok(())
    }

    /// Opens or closes toggles; any other HTML is kept as it is, in a paragraph.
    fn html_block(&mut self, html: &str) -> Result<(), Fault> {
        let mut rest = html.trim();
        let mut text = String::new();
        while !rest.is_empty() {
            if let Some((summary, after)) = toggle_start(rest) {
                self.html_text(&mut text)?;
                let summary = inline_of(summary);
                self.container(BlockKind::Toggle, true)?;
                if let Some(open) = self.open.last_mut() {
                    open.block.text = summary.into();
                }
                rest = after.trim_start();
            } else if let Some(after) = rest.strip_prefix("</details>")
                && self.open.last().is_some_and(|open| open.by_html)
            {
                self.html_text(&mut text)?;
                self.close_container()?;
                rest = after.trim_start();
            } else {
                let mark = rest.char_indices().skip(1).find(|(_, character)| *character == '<');
                let end = mark.map_or(rest.len(), |(at, _)| at);
                text.push_str(&rest[..end]);
                rest = &rest[end..];
            }
        }
        self.html_text(&mut text)
    }

    fn html_text(&mut self, text: &mut String) -> Result<(), Fault> {
        let text = std::mem::take(text);
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        let text = lines.join("\n");
        let text = text.trim_matches('\n');
        if text.trim().is_empty() {
            return Ok(());
        }
        within(text.len())?;
        self.flush()?;
        match self.open.last_mut().filter(|open| open.takes_text) {
            Some(open) => {
                open.block.text = text.into();
                open.takes_text = false;
                Ok(())
            }
            None => self.push(Block::draft(BlockKind::Paragraph, text)),
        }
    }
}

fn within(bytes: usize) -> Result<(), Fault> {
    if bytes > BLOCK_TEXT_BYTES_MAX { Err(Fault::LongText) } else { Ok(()) }
}

fn tone(kind: BlockQuoteKind) -> &'static str {
    match kind {
        BlockQuoteKind::Note => "NOTE",
        BlockQuoteKind::Tip => "TIP",
        BlockQuoteKind::Important => "IMPORTANT",
        BlockQuoteKind::Warning => "WARNING",
        BlockQuoteKind::Caution => "CAUTION",
    }
}

/// Returns the first word of a fence's info text, without what could end or escape it.
fn language(info: &str) -> SmolStr {
    let word = info.split_whitespace().next().unwrap_or_default();
    word.chars().filter(|character| !"`~\\&".contains(*character)).collect()
}

/// Returns the summary of the toggle that `html` opens with, and what follows.
fn toggle_start(html: &str) -> Option<(&str, &str)> {
    let inside = html.strip_prefix("<details>")?.trim_start().strip_prefix("<summary>")?;
    inside.split_once("</summary>")
}

/// Returns the canonical inline Markdown of a toggle's summary, on one line.
fn inline_of(summary: &str) -> String {
    let options = Options::ENABLE_STRIKETHROUGH;
    let mut inline = Inline::default();
    inline.one_line = true;
    // Read as a heading, a summary is one line of text, whatever it begins with; marks at its end are not those of a heading.
    let line = summary.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = line.trim_end_matches('#');
    let marks = &line[text.len()..];
    let is_escaped = text.ends_with('\\');
    let escape = if marks.is_empty() || is_escaped { "" } else { "\\" };
    for event in TextMergeStream::new(Parser::new_ext(&format!("# {text}{escape}{marks}"), options)) {
        inline.add(&event);
    }
    inline.take().replace('\n', " ")
}
