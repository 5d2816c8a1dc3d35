//! A font of a PDF as far as text needs it: which characters its codes stand for, and how wide they are (ISO 32000-1, 9.6 to 9.10).

use std::collections::{BTreeMap, BinaryHeap};

use dayshift_engine::{Budget, OverBudget};
use hayro_cmap::{BfString, CMap};
use lopdf::{Dictionary, Document, Encoding, Object};

use super::pdf::{STREAM_BYTES_MAX, number};
use super::pdf_widths::standard_width;

/// How many widths one font may give.
const WIDTHS_MAX: usize = 70_000;

/// How many bytes of memory a mapping to Unicode takes for each byte that it is written in.
const MAPPING_BYTES_PER_BYTE: u64 = 8;
/// What it costs to read a font, without what it brings.
const FONT_WORK: u64 = 5_000;
/// What it costs to read one width.
const WIDTH_WORK: u64 = 10;
/// What it costs to find out which character the name of a glyph stands for.
const NAME_WORK: u64 = 500;

/// The width of a glyph without one, as a part of the height.
const WIDTH_DEFAULT: f64 = 0.5;

/// A font.
#[derive(Default)]
pub(super) struct Font {
    /// What the codes stand for, where the document says so.
    to_unicode: Option<CMap>,
    codes: Codes,
    widths: BTreeMap<u32, f64>,
    /// Widths of whole ranges, by their first codes. No two have a code in common.
    ranges: Vec<Range>,
    width_default: f64,
}

/// Codes that have one width.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Range {
    first: u32,
    last: u32,
    width: f64,
}

/// The characters that names of glyphs stand for, as far as they came up in a document.
pub(super) type GlyphNames = BTreeMap<Vec<u8>, Option<String>>;

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
    pub(super) fn read(
        font: &Dictionary,
        document: &Document,
        names: &mut GlyphNames,
        budget: &Budget,
    ) -> Result<Self, OverBudget> {
        budget.work(FONT_WORK)?;
        let to_unicode = font.get_deref(b"ToUnicode", document).and_then(Object::as_stream);
        let to_unicode = to_unicode.and_then(|stream| stream.get_plain_content_with_limit(STREAM_BYTES_MAX));
        let to_unicode = to_unicode.unwrap_or_default();
        budget.bytes((to_unicode.len() as u64).saturating_mul(MAPPING_BYTES_PER_BYTE))?;
        let to_unicode = CMap::parse(&to_unicode, |_| None).filter(|_| !to_unicode.is_empty());
        let kind = font.get(b"Subtype").and_then(Object::as_name).unwrap_or_default();
        let mut read = Self { to_unicode, width_default: WIDTH_DEFAULT, ..Self::default() };
        if kind == b"Type0" {
            read.read_wide(font, document, budget)?;
        } else {
            read.read_simple(font, kind, document, names, budget)?;
        }
        Ok(read)
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
        let at = self.ranges.partition_point(|range| range.first <= code);
        let range = at.checked_sub(1).map(|before| self.ranges[before]).filter(|range| code <= range.last);
        range.map_or(self.width_default, |range| range.width)
    }

    /// Reads a composite font, whose codes are numbers of glyphs.
    fn read_wide(&mut self, font: &Dictionary, document: &Document, budget: &Budget) -> Result<(), OverBudget> {
        let encoding = font.get_deref(b"Encoding", document).and_then(Object::as_name).unwrap_or_default();
        let is_utf16 =
            encoding.starts_with(b"Uni") && encoding.windows(4).any(|part| part == b"UCS2" || part == b"UTF1");
        self.codes = Codes::Wide { is_utf16 };
        self.width_default = 1.0;
        let below = font.get_deref(b"DescendantFonts", document).and_then(Object::as_array);
        let below = below.ok().and_then(|fonts| document.dereference(fonts.first()?).ok());
        let Some((_, Object::Dictionary(below))) = below else { return Ok(()) };
        if let Ok(width) = below.get_deref(b"DW", document) {
            self.width_default = number(width) / 1000.0;
        }
        // `first [w w w]` gives widths one by one, `first last w` those of a range.
        let mut items = below.get_deref(b"W", document).and_then(Object::as_array).map_or(&[][..], Vec::as_slice);
        let mut ranges = Vec::new();
        while let [first, second, rest @ ..] = items {
            budget.work(WIDTH_WORK)?;
            let first = code(first);
            match document.dereference(second) {
                Ok((_, Object::Array(widths))) => {
                    let room = WIDTHS_MAX.saturating_sub(self.widths.len());
                    budget.bytes(widths.len().min(room) as u64 * WIDTH_WORK)?;
                    let codes = first..=u32::MAX;
                    self.widths.extend(codes.zip(widths.iter().take(room).map(|width| number(width) / 1000.0)));
                    items = rest;
                }
                Ok((_, last)) if ranges.len() < WIDTHS_MAX => {
                    let Some((width, rest)) = rest.split_first() else { break };
                    ranges.push(Range { first, last: code(last), width: number(width) / 1000.0 });
                    items = rest;
                }
                Ok(_) | Err(_) => break,
            }
        }
        budget.bytes((ranges.len() * size_of::<Range>()) as u64)?;
        self.ranges = apart(&ranges);
        Ok(())
    }

    /// Reads a simple font, whose codes are bytes.
    fn read_simple(
        &mut self,
        font: &Dictionary,
        kind: &[u8],
        document: &Document,
        names: &mut GlyphNames,
        budget: &Budget,
    ) -> Result<(), OverBudget> {
        let encoding = encoding(font, kind, document, names, budget)?;
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
        Ok(())
    }
}

/// Returns `ranges` without what they have in common, by their first codes: each code belongs to the first range that has it.
fn apart(ranges: &[Range]) -> Vec<Range> {
    let mut by_first: Vec<usize> = (0..ranges.len()).filter(|at| ranges[*at].first <= ranges[*at].last).collect();
    by_first.sort_by_key(|at| ranges[*at].first);
    let mut coming = by_first.into_iter().peekable();
    // The ranges that have begun; the first in the list is on top.
    let mut open = BinaryHeap::new();
    let mut found: Vec<Range> = Vec::with_capacity(ranges.len());
    let mut code = 0;
    loop {
        while let Some(at) = coming.next_if(|at| ranges[*at].first <= code) {
            open.push(std::cmp::Reverse(at));
        }
        while open.peek().is_some_and(|top| ranges[top.0].last < code) {
            open.pop();
        }
        let next = coming.peek().map(|at| ranges[*at].first);
        let Some(top) = open.peek() else {
            let Some(next) = next else { return found };
            code = next;
            continue;
        };
        let Range { last, width, .. } = ranges[top.0];
        let last = next.map_or(last, |next| last.min(next - 1));
        found.push(Range { first: code, last, width });
        let Some(after) = last.checked_add(1) else { return found };
        code = after;
    }
}

/// Returns what a simple font's encoding makes of each byte.
fn encoding(
    font: &Dictionary,
    kind: &[u8],
    document: &Document,
    names: &mut GlyphNames,
    budget: &Budget,
) -> Result<Vec<String>, OverBudget> {
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
        budget.work(WIDTH_WORK)?;
        if let Object::Integer(code) = item {
            at = usize::try_from(*code).unwrap_or(texts.len());
        } else if let Object::Name(name) = item {
            if let Some(text) = texts.get_mut(at) {
                if !names.contains_key(name) {
                    budget.bytes(NAME_WORK)?;
                    names.insert(name.clone(), glyph_text(name));
                }
                *text = names.get(name).cloned().flatten().unwrap_or_default();
            }
            at = at.saturating_add(1);
        }
    }
    Ok(texts)
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_code_has_the_width_of_the_first_range_that_has_it(
            given in prop::collection::vec((0_u32..40, 0_u32..40, 0_u8..9), 0..20),
            code in 0_u32..45,
        ) {
            let ranges: Vec<Range> =
                given.iter().map(|(first, last, width)| Range { first: *first, last: *last, width: f64::from(*width) }).collect();
            let slow = ranges.iter().find(|range| (range.first..=range.last).contains(&code)).map(|range| range.width);
            let font = Font { ranges: apart(&ranges), width_default: -1.0, ..Font::default() };
            prop_assert_eq!(font.width(code), slow.unwrap_or(-1.0));
            prop_assert!(font.ranges.windows(2).all(|pair| pair[0].last < pair[1].first));
        }
    }
}
