//! Header values that come in pieces: encoded words (RFC 2047) and parameters (RFC 2045, continued and encoded as RFC 2231 has it). The pieces of one
//! value are joined as octets and decoded once, since programs split characters between them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use encoding_rs::{Encoding, REPLACEMENT, UTF_8};
use mail_parser::decoders::base64::base64_decode;

/// The most pieces of one parameter that are read.
const PIECES_MAX: usize = 1000;

/// Returns the encoding that a charset's label stands for (WHATWG Encoding, 4.2): often a superset of what the label says, as programs mean it. Nothing if it
/// is none of these.
pub(super) fn encoding_of(label: &[u8]) -> Option<&'static Encoding> {
    Encoding::for_label(label).filter(|encoding| *encoding != REPLACEMENT)
}

/// One encoded word within a field.
pub(super) struct Word<'a> {
    range: Range<usize>,
    charset: &'a [u8],
    octets: Vec<u8>,
}

/// Returns where runs of encoded words lie in `line`, with only blanks between them, and what each run says. A run of words whose charset is unknown is left out.
pub(super) fn runs(line: &[u8]) -> Vec<(Range<usize>, String)> {
    let mut found = Vec::new();
    let mut run: Vec<Word<'_>> = Vec::new();
    let mut at = 0;
    while let Some(next) = memchr::memmem::find(&line[at..], b"=?").map(|next| at + next) {
        let Some(word) = word_at(line, next) else {
            at = next + 2;
            continue;
        };
        at = word.range.end;
        let continues = run.last().is_some_and(|last| line[last.range.end..next].iter().all(u8::is_ascii_whitespace));
        if !continues {
            found.extend(decoded(&run));
            run.clear();
        }
        run.push(word);
    }
    found.extend(decoded(&run));
    found
}

/// Returns what `value` says: text with encoded words among it.
pub(super) fn decode_words(value: &[u8]) -> String {
    let mut text = String::new();
    let mut at = 0;
    for (range, words) in runs(value) {
        text.push_str(&plain(&value[at..range.start]));
        text.push_str(&words);
        at = range.end;
    }
    text.push_str(&plain(&value[at..]));
    text
}

/// Returns octets that nobody encoded as text.
fn plain(octets: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(octets)
}

fn decoded(run: &[Word<'_>]) -> Option<(Range<usize>, String)> {
    let (first, last) = (run.first()?, run.last()?);
    let mut text = String::new();
    for same in run.chunk_by(|one, next| one.charset.eq_ignore_ascii_case(next.charset)) {
        let octets: Vec<u8> = same.iter().flat_map(|word| word.octets.iter().copied()).collect();
        let encoding = encoding_of(same.first()?.charset)?;
        text.push_str(&encoding.decode_without_bom_handling(&octets).0);
    }
    Some((first.range.start..last.range.end, text))
}

/// Returns the encoded word that begins at `start`.
fn word_at(line: &[u8], start: usize) -> Option<Word<'_>> {
    let rest = line[start..].strip_prefix(b"=?")?;
    let mut parts = rest.splitn(4, |byte| *byte == b'?');
    let (charset, encoding, text, after) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let is_plain = |part: &[u8]| part.iter().all(u8::is_ascii_graphic);
    if !after.starts_with(b"=")
        || charset.is_empty()
        || !is_plain(charset)
        || text.iter().any(|byte| matches!(byte, b'\r' | b'\n'))
    {
        return None;
    }
    let octets = match encoding {
        b"b" | b"B" => base64_decode(text)?,
        b"q" | b"Q" => quoted(text),
        _ => return None,
    };
    let length = b"=?".len() + charset.len() + encoding.len() + text.len() + b"??".len() + b"?=".len();
    // What follows an asterisk is the language (RFC 2231, 5).
    let charset = charset.split(|byte| *byte == b'*').next()?;
    Some(Word { range: start..start + length, charset, octets })
}

/// Returns the octets of a word in the encoding Q.
fn quoted(text: &[u8]) -> Vec<u8> {
    unescaped(text, b'=', |byte| if byte == b'_' { b' ' } else { byte })
}

/// Returns `text` with each `mark` and the two hexadecimal digits behind it as the octet that they stand for.
fn unescaped(text: &[u8], mark: u8, other: impl Fn(u8) -> u8) -> Vec<u8> {
    let digit = |at: usize| text.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let mut octets = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match (byte == mark).then(|| digit(at + 1).zip(digit(at + 2))).flatten() {
            Some((high, low)) => {
                octets.push((high << 4 | low) as u8);
                at += 3;
            }
            None => {
                octets.push(other(byte));
                at += 1;
            }
        }
    }
    octets
}

/// One piece of a parameter's value.
struct Piece {
    is_encoded: bool,
    octets: Vec<u8>,
}

/// Returns the value of the parameter `name` of a field's `value`, such as the `filename` of a Content-Disposition: decoded, on one line.
pub(super) fn parameter(value: &[u8], name: &str) -> Option<String> {
    let mut pieces: BTreeMap<u32, Piece> = BTreeMap::new();
    let (mut whole, mut extended) = (None, None);
    for (key, octets) in parameters(value) {
        let mut parts = key.split('*');
        if parts.next() != Some(name) {
            continue;
        }
        match (parts.next(), parts.next()) {
            (None, _) => whole = whole.or(Some(octets)),
            (Some(""), _) => extended = extended.or(Some(Piece { is_encoded: true, octets })),
            (Some(number), encoded) => {
                let Ok(number) = number.parse() else { continue };
                pieces.entry(number).or_insert(Piece { is_encoded: encoded.is_some(), octets });
            }
        }
    }
    // What says its charset counts more than what is there for programs that cannot read that (RFC 6266, 4.3).
    let pieces: Vec<Piece> = match (extended, pieces.is_empty()) {
        (Some(extended), _) => vec![extended],
        (None, false) => pieces.into_values().collect(),
        (None, true) => vec![Piece { is_encoded: false, octets: whole? }],
    };
    Some(joined(&pieces))
}

/// Joins the pieces of one value. The first one, if it is encoded, names the charset of all.
fn joined(pieces: &[Piece]) -> String {
    let mut charset: &[u8] = b"";
    let mut octets = Vec::new();
    let mut is_encoded = false;
    for (index, piece) in pieces.iter().enumerate() {
        let mut own = piece.octets.as_slice();
        if piece.is_encoded {
            is_encoded = true;
            let mut parts = own.splitn(3, |byte| *byte == b'\'');
            if let (0, Some(named), Some(_), Some(rest)) = (index, parts.next(), parts.next(), parts.next()) {
                (charset, own) = (named, rest);
            }
            octets.extend(unescaped(own, b'%', |byte| byte));
        } else {
            octets.extend_from_slice(own);
        }
    }
    if !is_encoded {
        return decode_words(&octets);
    }
    encoding_of(charset).unwrap_or(UTF_8).decode_without_bom_handling(&octets).0.into_owned()
}

/// Returns the parameters of a field's value, names in lower case, values as they stand there without their quotation marks and line ends.
fn parameters(value: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut at = skip(value, 0, b";");
    while at < value.len() && found.len() < PIECES_MAX {
        // Behind the semicolon.
        at += 1;
        let end = value[at..].iter().position(|byte| matches!(byte, b'=' | b';')).map_or(value.len(), |end| at + end);
        let name = String::from_utf8_lossy(value[at..end].trim_ascii()).to_ascii_lowercase();
        if value.get(end) != Some(&b'=') {
            at = end;
            continue;
        }
        let start = value[end + 1..]
            .iter()
            .position(|byte| !byte.is_ascii_whitespace())
            .map_or(value.len(), |start| end + 1 + start);
        let (octets, after) = if value.get(start) == Some(&b'"') {
            let (text, after) = quoted_string(value, start + 1);
            (text, skip(value, after, b";"))
        } else {
            let after = skip(value, start, b";");
            (without_line_ends(value[start..after].trim_ascii()), after)
        };
        found.push((name.replace(|each: char| each.is_ascii_whitespace(), ""), octets));
        at = after;
    }
    found
}

/// Returns where the first of `ends` stands from `at` on that is in no quotation.
fn skip(value: &[u8], mut at: usize, ends: &[u8]) -> usize {
    while let Some(byte) = value.get(at) {
        match byte {
            byte if ends.contains(byte) => return at,
            b'"' => at = quoted_string(value, at + 1).1,
            _ => at += 1,
        }
    }
    value.len()
}

/// Returns the text of the quotation whose first character is at `at`, and what follows its closing mark.
fn quoted_string(value: &[u8], mut at: usize) -> (Vec<u8>, usize) {
    let mut text = Vec::new();
    while let Some(byte) = value.get(at) {
        match byte {
            b'"' => return (text, at + 1),
            // Before anything but a mark, the backslash is one of a path, as some programs send it.
            b'\\' if matches!(value.get(at + 1), Some(b'"' | b'\\')) => {
                text.push(value[at + 1]);
                at += 1;
            }
            b'\r' | b'\n' => {}
            byte => text.push(*byte),
        }
        at += 1;
    }
    (text, at)
}

fn without_line_ends(text: &[u8]) -> Vec<u8> {
    text.iter().copied().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_of_mixed_kinds_are_one_text() {
        let cases: [(&str, &str); 6] = [
            ("=?utf-8?B?R3LD?= =?utf-8?Q?=BC=C3=9Fe?=", "Grüße"),
            ("=?UTF-8?Q?=E4=BC?=\r\n =?utf-8?b?mg==?= x", "会 x"),
            ("a =?iso-8859-1?q?=80_5?= b", "a € 5 b"),
            ("=?utf-8?q?=C3=A9?= =?iso-8859-1?q?=E9?=", "éé"),
            ("=?utf-8?q?a?= b =?utf-8?q?c?=", "a b c"),
            ("=?utf-8*de?q?f=C3=BCr?=", "für"),
        ];
        for (source, text) in cases {
            assert_eq!(decode_words(source.as_bytes()), text, "{source}");
        }
        // Neither is in the charset that the label says, both are in the one that it stands for.
        let superset = [
            ("=?gb2312?B?6V8=?=", encoding_rs::GBK.decode(b"\xe9\x5f").0),
            ("=?ks_c_5601-1987?B?sKE=?= =?KS_C_5601-1987?q?=8Cc?=", encoding_rs::EUC_KR.decode(b"\xb0\xa1\x8cc").0),
        ];
        for (source, text) in superset {
            assert_eq!(decode_words(source.as_bytes()), text, "{source}");
        }
        for alone in ["=?a =?= ?=", "=?=?=?=?", "=?utf-8?x?a?=", "=?no-such-charset?q?a?="] {
            assert_eq!(decode_words(alone.as_bytes()), alone);
        }
    }

    #[test]
    fn a_parameter_in_pieces_is_decoded_once() {
        let cases = [
            ("attachment; filename*0*=utf-8''Gr%C3; filename*1*=%BC%C3%9Fe; filename*2=.pdf", "Grüße.pdf"),
            ("attachment;\r\n filename*1=\"b.txt\";\r\n filename*0=\"a; \"", "a; b.txt"),
            ("attachment; filename*=iso-8859-1'de'%80%20uro.txt; filename=\"x.txt\"", "€ uro.txt"),
            ("attachment; filename=\"=?utf-8?Q?R=C3?= =?utf-8?B?qXN1bQ==?=.doc\"", "Résum.doc"),
            ("attachment; filename*0=\"=?utf-8?Q?a\"; filename*1=\"=C3=A9?=\"", "aé"),
            ("attachment; FileName = plain name.txt ; size=3", "plain name.txt"),
            ("attachment; filename=\"a \\\"b\\\".txt\"", "a \"b\".txt"),
            ("attachment; filename*0*='';filename*1*=%E2%82;filename*2*=%AC", "€"),
        ];
        for (value, name) in cases {
            assert_eq!(parameter(value.as_bytes(), "filename").as_deref(), Some(name), "{value}");
        }
        assert_eq!(
            parameter(b"text/plain; charset=utf-8; name*0*=utf-8''%C3; name*1*=%A4", "name").as_deref(),
            Some("ä")
        );
        assert_eq!(parameter(b"attachment; x=\"filename=y\"", "filename"), None);
    }

    proptest! {
        #[test]
        fn any_value_can_be_tried(parts in prop::collection::vec(prop::sample::select(vec![
            "=?utf-8?b?", "=?utf-8?q?", "?=", "w6w=", "=C3", " ", "\r\n ", "filename", "*0*", "*1", "*", "=", ";", "\"", "\\", "%C3", "''", "é",
        ]), 0..40)) {
            let value = parts.concat();
            let _ = parameter(value.as_bytes(), "filename");
            let _ = decode_words(value.as_bytes());
        }

        #[test]
        fn text_cut_anywhere_into_words_of_any_kind_is_whole(text in "[ -~äß€会]{1,30}", cuts in prop::collection::vec((1_usize..6, any::<bool>()), 1..30)) {
            use base64::Engine as _;
            let mut rest = text.as_bytes();
            let mut words = Vec::new();
            for (length, is_base64) in cuts.into_iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (piece, after) = rest.split_at(length.min(rest.len()));
                rest = after;
                words.push(if is_base64 {
                    format!("=?utf-8?B?{}?=", base64::engine::general_purpose::STANDARD.encode(piece))
                } else {
                    format!("=?UTF-8?q?{}?=", piece.iter().map(|byte| format!("={byte:02X}")).collect::<String>())
                });
            }
            prop_assert_eq!(decode_words(words.join(" ").as_bytes()), text);
        }
    }
}
