//! Text inside files: lines, line ends, the byte order mark, and exact replacement. Knows no files.

use std::borrow::Cow;

use encoding_rs::WINDOWS_1252;

/// The byte order mark with which some programs start a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Of a text in windows-1252, at most one byte in this many may be outside of ASCII: what has more is in another language's charset.
const WINDOWS_1252_BYTES_PER_FOREIGN_MIN: usize = 4;

/// How text is kept as bytes. UTF-16 counts only with a byte order mark: without one it would be a guess. ISO-8859-1 is read as
/// windows-1252, as browsers do: they differ in control characters that no text holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Utf16Le,
    Utf16Be,
    Windows1252,
}

impl Encoding {
    /// Returns the encoding's name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16Le => "utf-16le",
            Self::Utf16Be => "utf-16be",
            Self::Windows1252 => "windows-1252",
        }
    }

    /// Returns how many bytes a text takes at least that takes `bytes` in UTF-8.
    pub(super) fn bytes_min(self, bytes: usize) -> usize {
        match self {
            Self::Utf8 => bytes,
            // Three bytes of UTF-8 are two of UTF-16 and can be one of windows-1252.
            Self::Utf16Le | Self::Utf16Be => bytes / 3 * 2,
            Self::Windows1252 => bytes / 3,
        }
    }
}

/// A run of whole lines of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Lines<'a> {
    pub(super) text: &'a str,
    pub(super) count: usize,
    /// Whether the last line is not whole, because it alone is longer than was allowed.
    pub(super) cut: bool,
}

/// Returns the text that `bytes` are, a byte order mark included, and its encoding; nothing if they are no text.
pub(super) fn decode(bytes: &[u8]) -> Option<(Cow<'_, str>, Encoding)> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Some((Cow::Borrowed(text), Encoding::Utf8));
    }
    let (encoding, unit): (_, fn([u8; 2]) -> u16) = match bytes {
        [0xff, 0xfe, ..] => (Encoding::Utf16Le, u16::from_le_bytes),
        [0xfe, 0xff, ..] => (Encoding::Utf16Be, u16::from_be_bytes),
        _ => return windows_1252(bytes).map(|text| (text, Encoding::Windows1252)),
    };
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    let text = char::decode_utf16(pairs.iter().map(|pair| unit(*pair))).collect::<Result<String, _>>().ok()?;
    Some((Cow::Owned(text), encoding))
}

/// Returns the text that `bytes` are in windows-1252, if that is no guess: they look like a text that is mostly ASCII, and like none in UTF-8
/// that was damaged.
fn windows_1252(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let is_control = |byte: &u8| matches!(byte, 0..=8 | 11 | 14..=31 | 127);
    let is_undefined = |byte: &u8| matches!(byte, 0x81 | 0x8d | 0x8f | 0x90 | 0x9d);
    if bytes.iter().any(|byte| is_control(byte) || is_undefined(byte)) {
        return None;
    }
    let foreign = bytes.iter().filter(|byte| !byte.is_ascii()).count();
    let is_mostly_ascii = foreign * WINDOWS_1252_BYTES_PER_FOREIGN_MIN <= bytes.len();
    if !is_mostly_ascii || bytes.utf8_chunks().any(|chunk| !chunk.valid().is_ascii()) {
        return None;
    }
    WINDOWS_1252.decode_without_bom_handling_and_without_replacement(bytes)
}

/// Returns `text` as bytes, without adding a byte order mark; or the first character that `encoding` does not have.
pub(super) fn encode(text: Cow<'_, str>, encoding: Encoding) -> Result<Vec<u8>, char> {
    match encoding {
        Encoding::Utf8 => Ok(text.into_owned().into_bytes()),
        Encoding::Utf16Le => Ok(text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
        Encoding::Utf16Be => Ok(text.encode_utf16().flat_map(u16::to_be_bytes).collect()),
        Encoding::Windows1252 => {
            let (bytes, _, is_lossy) = WINDOWS_1252.encode(&text);
            if !is_lossy {
                return Ok(bytes.into_owned());
            }
            let mut buffer = [0; 4];
            let is_missing = |character: &char| WINDOWS_1252.encode(character.encode_utf8(&mut buffer)).2;
            Err(text.chars().find(is_missing).unwrap_or(char::REPLACEMENT_CHARACTER))
        }
    }
}

/// Returns the text that `bytes` are, with a replacement character for what is none.
pub(super) fn decode_lossy(bytes: &[u8]) -> Cow<'_, str> {
    decode(bytes).map_or_else(|| String::from_utf8_lossy(bytes), |(text, _)| text)
}

/// Returns `text` without a byte order mark at its start.
pub(super) fn without_mark(text: &str) -> &str {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

/// Returns how many lines `text` has. A line end closes a line and opens none.
pub(super) fn count_lines(text: &str) -> usize {
    let ends = text.bytes().filter(|byte| *byte == b'\n').count();
    ends + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

/// Returns the lines of `text` from number `first` (from 1), at most `lines_max` lines and, if the first of them leaves room, at most
/// `bytes_max` bytes.
pub(super) fn take_lines(text: &str, first: usize, lines_max: usize, bytes_max: usize) -> Lines<'_> {
    let mut rest = text;
    for _ in 1..first {
        rest = rest.find('\n').map_or("", |end| &rest[end + 1..]);
    }
    let mut end = 0;
    let mut count = 0;
    while count < lines_max && end < rest.len() {
        let next = rest[end..].find('\n').map_or(rest.len(), |at| end + at + 1);
        if next > bytes_max {
            if count == 0 {
                return Lines { text: cut_to(rest, bytes_max), count: 1, cut: true };
            }
            break;
        }
        end = next;
        count += 1;
    }
    Lines { text: &rest[..end], count, cut: false }
}

/// Returns the longest start of `text` that is at most `bytes_max` long and splits no character.
pub(super) fn cut_to(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

/// Returns whether every line end of `text` is CR LF, and there is one.
pub(super) fn is_crlf(text: &str) -> bool {
    let mut found = false;
    let bytes = text.as_bytes();
    for (index, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
        if index == 0 || bytes[index - 1] != b'\r' {
            return false;
        }
        found = true;
    }
    found
}

/// Returns `text` with CR LF for each line end that is a bare LF.
pub(super) fn to_crlf(text: &str) -> Cow<'_, str> {
    if !text.contains('\n') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut last = '\0';
    for character in text.chars() {
        if character == '\n' && last != '\r' {
            out.push('\r');
        }
        out.push(character);
        last = character;
    }
    Cow::Owned(out)
}

/// Returns the number (from 1) of the line in which the byte at `offset` lies.
pub(super) fn line_at(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset].iter().filter(|byte| **byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_utf8_or_utf16_with_a_mark() {
        let text = "\u{feff}aé\u{1f600}";
        for encoding in [Encoding::Utf8, Encoding::Utf16Le, Encoding::Utf16Be] {
            let bytes = encode(text.into(), encoding).expect("every character");
            assert_eq!(decode(&bytes), Some((text.into(), encoding)));
            assert_eq!(decode_lossy(&bytes), text);
        }
        for bytes in [&b"\xff"[..], b"\xff\xfea", b"\xff\xfe\x00\xd8", b"\xfe\xff\xd8\x00", b"a\xff"] {
            assert_eq!(decode(bytes), None, "{bytes:?}");
        }
        assert_eq!(decode_lossy(b"a\xff"), "a\u{fffd}");
    }

    #[test]
    fn text_that_is_mostly_ascii_can_be_windows_1252() {
        let bytes = b"caf\xe9, 5 \x80\r\n";
        assert_eq!(decode(bytes), Some(("café, 5 €\r\n".into(), Encoding::Windows1252)));
        assert_eq!(encode("café, 5 €\r\n".into(), Encoding::Windows1252), Ok(bytes.to_vec()));
        assert_eq!(encode("naïve → ☃".into(), Encoding::Windows1252), Err('→'));
        let guesses: [&[u8]; 5] = [
            b"plain text and \xc3\xa9 and \xe9: damaged UTF-8",
            b"plain text with a NUL\0 and \xe9",
            b"plain text with \x81 that windows-1252 does not have",
            b"\xcf\xf0\xe8\xe2\xe5\xf2 cp1251",
            b"\x1f\x8b\x08 some bytes \xe9",
        ];
        for bytes in guesses {
            assert_eq!(decode(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn lines_are_counted_as_people_count_them() {
        let counts = ["", "a", "a\n", "a\nb", "a\n\n", "\n", "a\r\nb\r\n"].map(count_lines);
        assert_eq!(counts, [0, 1, 1, 2, 2, 1, 2]);
    }

    #[test]
    fn lines_are_taken_whole_until_a_limit() {
        let take = |first, lines, bytes| take_lines("one\ntwo\nthree", first, lines, bytes);
        assert_eq!(take(2, 1, 100), Lines { text: "two\n", count: 1, cut: false });
        assert_eq!(take(1, 9, 8), Lines { text: "one\ntwo\n", count: 2, cut: false });
        assert_eq!(take(1, 9, 7), Lines { text: "one\n", count: 1, cut: false });
        assert_eq!(take(3, 9, 3), Lines { text: "thr", count: 1, cut: true });
        assert_eq!(take(4, 9, 9), Lines { text: "", count: 0, cut: false });
    }

    #[test]
    fn a_cut_splits_no_character() {
        assert_eq!(cut_to("aé", 2), "a");
        assert_eq!(cut_to("aé", 3), "aé");
    }

    #[test]
    fn line_ends_are_crlf_only_if_all_of_them_are() {
        assert!(is_crlf("a\r\nb\r\n") && !is_crlf("a\r\nb\n") && !is_crlf("a") && !is_crlf("\n"));
        assert_eq!(to_crlf("a\nb\r\n\n"), "a\r\nb\r\n\r\n");
    }

    #[test]
    fn an_offset_lies_in_a_line() {
        assert_eq!([0, 1, 2, 4].map(|offset| line_at("a\nb\nc", offset)), [1, 1, 2, 3]);
    }
}
