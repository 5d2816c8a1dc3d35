//! A font of a PDF as far as text needs it: which characters its codes stand for, and how wide they are (ISO 32000-1, 9.6 to 9.10).

use std::collections::BTreeMap;

use hayro_cmap::{BfString, CMap};
use lopdf::{Dictionary, Document, Encoding, Object};

use super::pdf::{STREAM_BYTES_MAX, number};
use super::pdf_widths::standard_width;

/// How many widths one font may give.
const WIDTHS_MAX: usize = 70_000;

/// The width of a glyph without one, as a part of the height.
const WIDTH_DEFAULT: f64 = 0.5;

/// A font.
#[derive(Default)]
pub(super) struct Font {
    /// What the codes stand for, where the document says so.
    to_unicode: Option<CMap>,
    codes: Codes,
    widths: BTreeMap<u32, f64>,
    /// Widths of whole ranges: first code, last code, width.
    ranges: Vec<(u32, u32, f64)>,
    width_default: f64,
}

/// How codes lie in a text.
enum Codes {
    /// One byte each, with what the encoding makes of them.
    Simple(Vec<String>),
    /// Two bytes each; what they stand for is in the document, or they are UTF-16.
    Wide { is_utf16: bool },
}

impl Default for Codes {
    fn default() -> Self {
        Self::Simple(Vec::new())
    }
}

/// One glyph of a text.
pub(super) struct Glyph {
    pub(super) text: String,
    /// As a part of the height.
    pub(super) width: f64,
    /// Whether the extra space between words is added.
    pub(super) is_space: bool,
}

impl Font {
    pub(super) fn read(font: &Dictionary, document: &Document) -> Self {
        let to_unicode = font.get_deref(b"ToUnicode", document).and_then(Object::as_stream);
        let to_unicode = to_unicode.and_then(|stream| stream.get_plain_content_with_limit(STREAM_BYTES_MAX));
        let to_unicode = to_unicode.ok().and_then(|content| CMap::parse(&content, |_| None));
        let kind = font.get(b"Subtype").and_then(Object::as_name).unwrap_or_default();
        let mut read = Self { to_unicode, width_default: WIDTH_DEFAULT, ..Self::default() };
        if kind == b"Type0" {
            read.read_wide(font, document);
        } else {
            read.read_simple(font, kind, document);
        }
        read
    }

    /// Returns the glyphs of a text.
    pub(super) fn glyphs<'a>(&'a self, bytes: &'a [u8]) -> impl Iterator<Item = Glyph> + 'a {
        let step = if matches!(self.codes, Codes::Simple(_)) { 1 } else { 2 };
        bytes.chunks(step).map(move |code| {
            let is_space = code == [32];
            let code = code.iter().fold(0, |code, byte| (code << 8) | u32::from(*byte));
            Glyph { text: self.text(code), width: self.width(code), is_space }
        })
    }

    fn text(&self, code: u32) -> String {
        match self.to_unicode.as_ref().and_then(|map| map.lookup_bf_string(code)) {
            Some(BfString::Char(character)) => return character.to_string(),
            Some(BfString::String(text)) => return text,
            None => {}
        }
        match &self.codes {
            Codes::Simple(encoding) => encoding.get(code as usize).cloned().unwrap_or_default(),
            Codes::Wide { is_utf16: true } => char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER).to_string(),
            Codes::Wide { is_utf16: false } => char::REPLACEMENT_CHARACTER.to_string(),
        }
    }

    fn width(&self, code: u32) -> f64 {
        if let Some(width) = self.widths.get(&code) {
            return *width;
        }
        let range = self.ranges.iter().find(|(first, last, _)| (*first..=*last).contains(&code));
        range.map_or(self.width_default, |(.., width)| *width)
    }

    /// Reads a composite font, whose codes are numbers of glyphs.
    fn read_wide(&mut self, font: &Dictionary, document: &Document) {
        let encoding = font.get_deref(b"Encoding", document).and_then(Object::as_name).unwrap_or_default();
        let is_utf16 =
            encoding.starts_with(b"Uni") && encoding.windows(4).any(|part| part == b"UCS2" || part == b"UTF1");
        self.codes = Codes::Wide { is_utf16 };
        self.width_default = 1.0;
        let below = font.get_deref(b"DescendantFonts", document).and_then(Object::as_array);
        let below = below.ok().and_then(|fonts| document.dereference(fonts.first()?).ok());
        let Some((_, Object::Dictionary(below))) = below else { return };
        if let Ok(width) = below.get_deref(b"DW", document) {
            self.width_default = number(width) / 1000.0;
        }
        // `first [w w w]` gives widths one by one, `first last w` those of a range.
        let mut items = below.get_deref(b"W", document).and_then(Object::as_array).map_or(&[][..], Vec::as_slice);
        while let [first, second, rest @ ..] = items {
            let first = code(first);
            match document.dereference(second) {
                Ok((_, Object::Array(widths))) => {
                    let room = WIDTHS_MAX.saturating_sub(self.widths.len());
                    let codes = first..=u32::MAX;
                    self.widths.extend(codes.zip(widths.iter().take(room).map(|width| number(width) / 1000.0)));
                    items = rest;
                }
                Ok((_, last)) if self.ranges.len() < WIDTHS_MAX => {
                    let Some((width, rest)) = rest.split_first() else { break };
                    self.ranges.push((first, code(last), number(width) / 1000.0));
                    items = rest;
                }
                Ok(_) | Err(_) => break,
            }
        }
    }

    /// Reads a simple font, whose codes are bytes.
    fn read_simple(&mut self, font: &Dictionary, kind: &[u8], document: &Document) {
        let encoding = encoding(font, kind, document);
        let scale = match font.get_deref(b"FontMatrix", document).and_then(Object::as_array) {
            Ok(matrix) if kind == b"Type3" => matrix.first().map_or(0.001, number),
            Ok(_) | Err(_) => 0.001,
        };
        match font.get_deref(b"Widths", document).and_then(Object::as_array) {
            Ok(widths) => {
                let first = font.get_deref(b"FirstChar", document).map_or(0, code);
                let width = |item| document.dereference(item).map_or(0.0, |(_, width)| number(width) * scale);
                self.widths.extend((first..=255).zip(widths.iter().map(width)));
            }
            // The fonts that every program has need not give theirs.
            Err(_) => {
                let name = font.get(b"BaseFont").and_then(Object::as_name).unwrap_or_default();
                let width = |text: &String| standard_width(name, text.chars().next().unwrap_or(' '));
                self.widths.extend((0..).zip(encoding.iter().map(width)));
            }
        }
        self.codes = Codes::Simple(encoding);
    }
}

/// Returns what a simple font's encoding makes of each byte.
fn encoding(font: &Dictionary, kind: &[u8], document: &Document) -> Vec<String> {
    let entry = font.get_deref(b"Encoding", document);
    let (base, differences) = match entry {
        Ok(Object::Name(name)) => (Some(name.as_slice()), None),
        Ok(Object::Dictionary(entry)) => (
            entry.get_deref(b"BaseEncoding", document).and_then(Object::as_name).ok(),
            entry.get_deref(b"Differences", document).and_then(Object::as_array).ok(),
        ),
        Ok(_) | Err(_) => (None, None),
    };
    let usual: &[u8] = if kind == b"TrueType" { b"WinAnsiEncoding" } else { b"StandardEncoding" };
    let base = base.unwrap_or(usual).to_vec();
    let mut texts = table(Object::Name(base), 0..=255);
    let mut at = 0_usize;
    for item in differences.map_or(&[][..], Vec::as_slice) {
        if let Object::Integer(code) = item {
            at = usize::try_from(*code).unwrap_or(texts.len());
        } else if let Object::Name(name) = item {
            if let Some(text) = texts.get_mut(at) {
                *text = glyph_text(name).unwrap_or_default();
            }
            at = at.saturating_add(1);
        }
    }
    texts
}

/// Returns the text of the glyph called `name`, by the library's list or by the rules for names that hold a number.
fn glyph_text(name: &[u8]) -> Option<String> {
    // What follows a full stop names a variant of the same character.
    let plain = name.split(|byte| *byte == b'.').next().unwrap_or_default();
    let text = std::str::from_utf8(plain).ok()?;
    let by_number = text.strip_prefix("uni").or_else(|| text.strip_prefix('u')).filter(|digits| digits.len() >= 4);
    if let Some(character) = by_number.and_then(|digits| u32::from_str_radix(digits, 16).ok()).and_then(char::from_u32)
    {
        return Some(character.to_string());
    }
    let mut entry = Dictionary::new();
    entry.set("Type", Object::Name(b"Encoding".to_vec()));
    entry.set("Differences", Object::Array(vec![Object::Integer(0), Object::Name(plain.to_vec())]));
    let mut font = Dictionary::new();
    font.set("Type", Object::Name(b"Font".to_vec()));
    font.set("Encoding", Object::Dictionary(entry));
    // A name that the library does not know makes it fall back on the standard encoding.
    match font.get_font_encoding_with_limit(&Document::new(), 0) {
        Ok(encoding @ Encoding::Differences(_)) => encoding.bytes_to_string(&[0]).ok().filter(|text| !text.is_empty()),
        Ok(_) | Err(_) => None,
    }
}

/// Returns what the named encoding makes of `codes`. The library sees no more of the font than that name: it would lay out a whole mapping to
/// Unicode, however large.
fn table(name: Object, codes: std::ops::RangeInclusive<u8>) -> Vec<String> {
    let mut font = Dictionary::new();
    font.set("Type", Object::Name(b"Font".to_vec()));
    font.set("Encoding", name);
    let document = Document::new();
    let encoding = font.get_font_encoding_with_limit(&document, 0);
    let text = |code| encoding.as_ref().ok().and_then(|encoding| encoding.bytes_to_string(&[code]).ok());
    codes.map(|code| text(code).unwrap_or_default()).collect()
}

fn code(object: &Object) -> u32 {
    object.as_i64().ok().and_then(|code| u32::try_from(code).ok()).unwrap_or(0)
}
