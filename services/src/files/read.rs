//! What `files.read` shows of a file: lines of its text, the text of a document, a picture, or a range of bytes. What a file is, is told by its
//! bytes and not by its name.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dayshift_engine::{Context, Rejection, SmolStr, Value, map};

use super::document::{self, Form, Text, Unreadable};
use super::path::EntryPath;
use super::state::FilesState;
use super::text::{Encoding, Lines, count_lines, decode, take_lines, without_mark};
use super::{IMAGE_BYTES_MAX, READ_BINARY_BYTES_MAX, READ_TEXT_BYTES_MAX};

impl FilesState {
    /// Returns the lines from `first` on, at most `limit`, of the text that the file at `path` is or holds; a picture as image content; the
    /// first bytes of anything else.
    pub(super) fn read_text(
        &self,
        path: &EntryPath,
        first: usize,
        limit: usize,
        context: &Context<'_>,
    ) -> Result<Value, Rejection> {
        let bytes = context.load(&self.file(path, context.frame)?.content)?;
        let sniffed = document::sniff(&bytes);
        match sniffed.form {
            Form::Document(kind) => match document::text_of(kind, &bytes, context.budget()) {
                Ok(text) => return show_document(path, &bytes, sniffed.media_type, &text, first, limit),
                // A text about PDF may begin like one.
                Err(Unreadable::Damaged { .. }) if decode(&bytes).is_some() => {}
                Err(unreadable) => return Err(refuse(path, unreadable)),
            },
            Form::Image { width, height } => return show_image(path, &bytes, sniffed.media_type, width, height),
            Form::Other => {}
        }
        // Some archives and sounds are characters and zeroes all through.
        let is_binary = sniffed.media_type != document::UNKNOWN && bytes.contains(&0);
        let Some((text, encoding)) = decode(&bytes).filter(|_| !is_binary) else {
            return Ok(show_bytes(path, &bytes, sniffed.media_type, 0, READ_BINARY_BYTES_MAX));
        };
        let mut answer = map! { "path" => path.as_str(), "bytes" => bytes.len() };
        if encoding != Encoding::Utf8 {
            put(&mut answer, "encoding", encoding.name());
        }
        show_lines(answer, path, without_mark(&text), first, limit)
    }

    /// Returns the bytes of the file at `path` from `start` on, at most `limit`.
    pub(super) fn read_bytes(
        &self,
        path: &EntryPath,
        start: usize,
        limit: usize,
        context: &Context<'_>,
    ) -> Result<Value, Rejection> {
        let bytes = context.load(&self.file(path, context.frame)?.content)?;
        if start > bytes.len() {
            return Err(Rejection::new(
                "files/bad-range",
                format!("{path} has {} bytes; start_byte {start} lies behind them", bytes.len()),
            ));
        }
        Ok(show_bytes(path, &bytes, document::sniff(&bytes).media_type, start, limit))
    }
}

/// Adds the lines of `text` from `first` on to `answer`, and where to go on.
fn show_lines(mut answer: Value, path: &EntryPath, text: &str, first: usize, limit: usize) -> Result<Value, Rejection> {
    let total = count_lines(text);
    if first > total.max(1) {
        return Err(Rejection::new(
            "files/bad-range",
            format!("{path} has {total} lines; start_line {first} lies behind them"),
        ));
    }
    let Lines { text, count, cut } = take_lines(text, first, limit, READ_TEXT_BYTES_MAX);
    put(&mut answer, "start_line", first);
    put(&mut answer, "lines", count);
    put(&mut answer, "total_lines", total);
    put(&mut answer, "text", text);
    if first + count <= total {
        put(&mut answer, "next_line", first + count);
    }
    if cut {
        put(&mut answer, "line_cut", true);
    }
    Ok(answer)
}

fn show_document(
    path: &EntryPath,
    bytes: &[u8],
    media_type: &'static str,
    text: &Text,
    first: usize,
    limit: usize,
) -> Result<Value, Rejection> {
    let mut answer = map! { "path" => path.as_str(), "bytes" => bytes.len(), "media_type" => media_type };
    if let Some((what, count)) = text.parts {
        put(&mut answer, what, count);
    }
    if text.is_cut {
        put(&mut answer, "text_cut", true);
    }
    show_lines(answer, path, text.as_str(), first, limit)
}

/// Returns a picture in a form that a door can hand on as image content.
fn show_image(
    path: &EntryPath,
    bytes: &Arc<[u8]>,
    media_type: &'static str,
    width: usize,
    height: usize,
) -> Result<Value, Rejection> {
    if bytes.len() > IMAGE_BYTES_MAX {
        return Err(Rejection::new(
            "files/image-too-large",
            format!(
                "{path} is a picture of {width} x {height} pixels and {} bytes, and at most {IMAGE_BYTES_MAX} bytes are shown; read it in parts with start_byte",
                bytes.len()
            ),
        ));
    }
    let image = map! {
        "media_type" => media_type,
        "width" => width,
        "height" => height,
        "base64" => STANDARD.encode(bytes),
    };
    Ok(map! { "path" => path.as_str(), "bytes" => bytes.len(), "media_type" => media_type, "image" => image })
}

fn show_bytes(path: &EntryPath, bytes: &[u8], media_type: &'static str, start: usize, limit: usize) -> Value {
    let end = start.saturating_add(limit).min(bytes.len());
    map! {
        "path" => path.as_str(),
        "bytes" => bytes.len(),
        "media_type" => media_type,
        "start_byte" => start,
        "base64" => STANDARD.encode(&bytes[start..end]),
        "next_byte" => (end < bytes.len()).then_some(end),
    }
}

fn refuse(path: &EntryPath, unreadable: Unreadable) -> Rejection {
    match unreadable {
        Unreadable::Damaged { what, why } => Rejection::new(
            "files/damaged",
            format!(
                "{path} begins like {what} and cannot be read as one ({why}); read its bytes with start_byte, or get it again"
            ),
        ),
        Unreadable::Encrypted => Rejection::new(
            "files/encrypted",
            format!("{path} is encrypted and opens only with a password; ask for a copy without one"),
        ),
        Unreadable::Over(over) => over.into(),
        Unreadable::TooMuch { what, max } => Rejection::new(
            "files/too-much-inside",
            format!("{path} holds more than {max} {what} once unpacked, which is not read; ask for a smaller file"),
        ),
    }
}

fn put(answer: &mut Value, name: &'static str, value: impl Into<Value>) {
    if let Value::Map(map) = answer {
        map.insert(SmolStr::new_static(name), value.into());
    }
}
