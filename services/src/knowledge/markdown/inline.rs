//! Inline Markdown: text with styles and links, rebuilt from a parser's events in one canonical form with as few escapes as are safe.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the parser's events are its own; what is not named here is not inline"
)]

use pulldown_cmark::{Event, LinkType, Tag, TagEnd};

/// Collects inline events into canonical inline Markdown.
#[derive(Debug, Default)]
pub(super) struct Inline {
    text: String,
    /// What to write when the innermost open link or image ends.
    targets: Vec<String>,
    /// Whether a line break becomes a space: in headings and cells.
    pub(super) one_line: bool,
}

impl Inline {
    /// Adds an event. Returns whether it was an inline one.
    pub(super) fn add(&mut self, event: &Event<'_>) -> bool {
        match event {
            Event::Text(text) => escape(text, self.one_line, &mut self.text),
            Event::Code(code) => self.code(code),
            Event::Html(html) | Event::InlineHtml(html) if self.one_line && html.contains(['|', '\n']) => {
                escape(html, true, &mut self.text);
            }
            Event::Html(html) | Event::InlineHtml(html) => self.text.push_str(html),
            Event::SoftBreak if self.one_line => self.text.push(' '),
            Event::HardBreak if self.one_line => self.text.push(' '),
            Event::SoftBreak => self.text.push('\n'),
            Event::HardBreak => self.text.push_str("\\\n"),
            Event::Start(tag) => return self.open(tag),
            Event::End(tag) => return self.close(*tag),
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                escape(text, self.one_line, &mut self.text);
            }
            Event::Rule | Event::TaskListMarker(_) => return false,
        }
        true
    }

    /// Returns what was collected, trimmed, and starts anew.
    pub(super) fn take(&mut self) -> String {
        let text = std::mem::take(&mut self.text);
        self.targets.clear();
        let trimmed = text.trim_matches([' ', '\t', '\n']);
        // A backslash that was to break the last line has no line to break.
        let mut trimmed = trimmed;
        while let Some(shorter) = trimmed.strip_suffix("\\").filter(|rest| trailing_backslashes(rest).is_multiple_of(2))
        {
            trimmed = shorter.trim_end_matches([' ', '\t', '\n']);
        }
        trimmed.to_owned()
    }

    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    pub(super) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    fn open(&mut self, tag: &Tag<'_>) -> bool {
        match tag {
            Tag::Emphasis => self.text.push('*'),
            Tag::Strong => self.text.push_str("**"),
            Tag::Strikethrough => self.text.push_str("~~"),
            Tag::Link { link_type, dest_url, title, .. } => {
                // An exclamation mark would make an image of the link.
                if self.text.ends_with('!') && trailing_backslashes(&self.text[..self.text.len() - 1]).is_multiple_of(2)
                {
                    self.text.truncate(self.text.len() - 1);
                    self.text.push_str("\\!");
                }
                self.targets.push(match link_type {
                    LinkType::Autolink | LinkType::Email => target(dest_url, ""),
                    _ => target(dest_url, title),
                });
                self.text.push('[');
            }
            Tag::Image { dest_url, title, .. } => {
                self.targets.push(target(dest_url, title));
                self.text.push_str("![");
            }
            _ => return false,
        }
        true
    }

    fn close(&mut self, tag: TagEnd) -> bool {
        match tag {
            TagEnd::Emphasis => self.text.push('*'),
            TagEnd::Strong => self.text.push_str("**"),
            TagEnd::Strikethrough => self.text.push_str("~~"),
            TagEnd::Link | TagEnd::Image => {
                let target = self.targets.pop().unwrap_or_default();
                self.text.push_str(&target);
            }
            _ => return false,
        }
        true
    }

    fn code(&mut self, code: &str) {
        let fence = "`".repeat(longest_run(code, '`') + 1);
        let pad = code.starts_with('`')
            || code.ends_with('`')
            || (code.starts_with(' ') && code.ends_with(' ') && !code.trim().is_empty());
        let pad = if pad { " " } else { "" };
        let code = if self.one_line { code.replace('|', "\\|") } else { code.to_owned() };
        self.text.push_str(&format!("{fence}{pad}{code}{pad}{fence}"));
    }
}

/// Returns the length of the longest run of `character` in `text`.
pub(super) fn longest_run(text: &str, character: char) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for other in text.chars() {
        run = if other == character { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

fn trailing_backslashes(text: &str) -> usize {
    text.len() - text.trim_end_matches('\\').len()
}

fn target(url: &str, title: &str) -> String {
    let mut out = String::from("](");
    let plain =
        !url.is_empty() && url.chars().all(|character| character.is_ascii_graphic() && !"()<>\\&".contains(character));
    if plain || url.is_empty() && title.is_empty() {
        out.push_str(url);
    } else {
        out.push('<');
        for character in url.chars() {
            match character {
                '<' | '>' | '\\' | '&' => out.extend(['\\', character]),
                '\n' | '\r' => out.push_str("%0A"),
                other => out.push(other),
            }
        }
        out.push('>');
    }
    if !title.is_empty() {
        out.push_str(" \"");
        for character in title.chars() {
            match character {
                '"' | '\\' | '&' => out.extend(['\\', character]),
                '\n' => out.push(' '),
                other => out.push(other),
            }
        }
        out.push('"');
    }
    out.push(')');
    out
}

/// Adds `text` to `out` so that it reads back as itself. Escapes only where a character could mean something: `snake_case`, `2 * 3`, `C#`,
/// `-5` and `[a]` stay as they are.
fn escape(text: &str, one_line: bool, out: &mut String) {
    let mut characters = text.char_indices().peekable();
    while let Some((index, character)) = characters.next() {
        let before = out.chars().next_back();
        let after = characters.peek().map(|(_, after)| *after);
        let line_start = before.is_none_or(|before| before == '\n');
        let spaced = before.is_none_or(char::is_whitespace);
        let ends = after.is_none_or(char::is_whitespace);
        let escaped = match character {
            '\\' => after.is_none_or(|after| after.is_ascii_punctuation() || after == '\n'),
            '`' => true,
            '*' => line_start && !one_line || !(spaced && ends),
            '_' => !(before.is_some_and(char::is_alphanumeric) && after.is_some_and(char::is_alphanumeric)),
            '~' => !(spaced && after.is_some_and(|after| after.is_ascii_digit())),
            '[' => line_start || before == Some('!'),
            ']' => after == Some('('),
            '|' => one_line || line_start,
            '<' => after.is_none_or(|after| after.is_ascii_alphabetic() || "/!?".contains(after)),
            '&' => is_entity(&text[index..]),
            '#' => line_start || spaced && after.is_none_or(|after| after == '#'),
            '-' | '+' => line_start && !one_line && (ends || after == Some('-')),
            '=' | '>' => line_start,
            ':' => line_start && after == Some('-'),
            '.' | ')' => !one_line && ends && follows_number(out),
            _ => false,
        };
        if escaped {
            out.push('\\');
        }
        match character {
            // A tab or a break inside of text came from an entity or from HTML.
            '\n' => out.push(if line_start { ' ' } else { '\n' }),
            ' ' | '\t' if line_start => {}
            other => out.push(other),
        }
    }
}

/// Returns whether `text`, which starts with an ampersand, could start with an entity.
fn is_entity(text: &str) -> bool {
    let name = text[1..].trim_start_matches('#');
    name.find(|character: char| !character.is_ascii_alphanumeric()).is_some_and(|end| name[end..].starts_with(';'))
}

/// Returns whether the last line of `text` is nothing but a number, after which a point would make an item of it.
fn follows_number(text: &str) -> bool {
    let line = text.rsplit('\n').next().unwrap_or_default();
    (1..=9).contains(&line.len()) && line.bytes().all(|byte| byte.is_ascii_digit())
}
