//! A message made ready for the parser: a copy of the same length, so that all offsets hold, in which what the parser stumbles over says the same in
//! another way. Only the header of the message itself is touched, and only the copy: the message keeps its bytes.
//!
//! - A character that is split over two encoded words (RFC 2047 forbids it, and programs do it): the words become one.
//! - A zone of one or two letters at the end of a date, such as `UT`, where the parser takes three bytes and with them the next line.

use std::borrow::Cow;
use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mail_parser::decoders::base64::base64_decode;

/// Returns `bytes`, mended where there is something to mend.
pub(super) fn mended(bytes: &[u8]) -> Cow<'_, [u8]> {
    let mut out = Cow::Borrowed(bytes);
    for field in fields(bytes) {
        let (line, start) = (&bytes[field.clone()], field.start);
        let changes: Vec<(Range<usize>, Vec<u8>)> = short_zone(line).into_iter().chain(joined_words(line)).collect();
        for (range, text) in changes {
            out.to_mut()[start + range.start..start + range.end].copy_from_slice(&text);
        }
    }
    debug_assert_eq!(out.len(), bytes.len());
    out
}

/// Returns where the header fields lie, each with its folded lines and its line end.
fn fields(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    while start < bytes.len() {
        let end = memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |at| start + at + 1);
        match (bytes[start], found.last_mut()) {
            (b'\n', _) => break,
            (b'\r', _) if bytes[start..end] == *b"\r\n" => break,
            (b' ' | b'\t', Some(last)) => last.end = end,
            _ => found.push(start..end),
        }
        start = end;
    }
    found
}

/// Returns the change of a date's zone of one or two letters into digits that say the same: `UT` and the military letters are UTC (RFC 5322, 4.3).
fn short_zone(line: &[u8]) -> Option<(Range<usize>, Vec<u8>)> {
    let name = line.split(|byte| *byte == b':').next()?.trim_ascii();
    if !name.eq_ignore_ascii_case(b"date") && !name.eq_ignore_ascii_case(b"resent-date") {
        return None;
    }
    let end = line.trim_ascii_end().len();
    let letters = line[..end].iter().rev().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let is_apart = end.checked_sub(letters + 1).is_some_and(|before| matches!(line[before], b' ' | b'\t'));
    let digits: &[u8] = match letters {
        1 => b"+",
        2 => b"+0",
        _ => return None,
    };
    is_apart.then(|| (end - letters..end, digits.to_vec()))
}

/// One encoded word within a field.
struct Word<'a> {
    range: Range<usize>,
    charset: &'a [u8],
    is_base64: bool,
    text: &'a [u8],
}

/// Returns the changes of neighbouring encoded words of one charset and encoding into one word. What that is shorter goes into the word's language,
/// which nobody reads.
fn joined_words(line: &[u8]) -> Vec<(Range<usize>, Vec<u8>)> {
    let mut changes = Vec::new();
    let mut run: Vec<Word<'_>> = Vec::new();
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'=', &line[at..]).map(|found| at + found) {
        let Some(word) = word_at(line, found) else {
            at = found + 1;
            continue;
        };
        at = word.range.end;
        let continues = run.last().is_some_and(|last| {
            line[last.range.end..word.range.start].iter().all(u8::is_ascii_whitespace)
                && last.charset.eq_ignore_ascii_case(word.charset)
                && last.is_base64 == word.is_base64
        });
        if !continues {
            changes.extend(joined(&run));
            run.clear();
        }
        run.push(word);
    }
    changes.extend(joined(&run));
    changes
}

fn joined(run: &[Word<'_>]) -> Option<(Range<usize>, Vec<u8>)> {
    let [first, .., last] = run else { return None };
    let text = if first.is_base64 {
        let decoded = run.iter().map(|word| base64_decode(word.text)).collect::<Option<Vec<_>>>()?;
        STANDARD.encode(decoded.concat()).into_bytes()
    } else {
        run.iter().flat_map(|word| word.text).copied().collect()
    };
    let range = first.range.start..last.range.end;
    let encoding: &[u8] = if first.is_base64 { b"?B?" } else { b"?Q?" };
    let taken = b"=?".len() + first.charset.len() + encoding.len() + text.len() + b"?=".len();
    let mut language = vec![b'x'; range.len().checked_sub(taken)?];
    if let Some(mark) = language.first_mut() {
        *mark = b'*';
    }
    Some((range, [b"=?", first.charset, &language, encoding, &text, b"?="].concat()))
}

/// Returns the encoded word that begins at `start`.
fn word_at(line: &[u8], start: usize) -> Option<Word<'_>> {
    let rest = line[start..].strip_prefix(b"=?")?;
    let mut parts = rest.splitn(4, |byte| *byte == b'?');
    let (charset, encoding, text, after) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let is_base64 = match encoding {
        b"b" | b"B" => true,
        b"q" | b"Q" => false,
        _ => return None,
    };
    let is_plain = |part: &[u8]| part.iter().all(|byte| byte.is_ascii_graphic());
    if !after.starts_with(b"=") || charset.is_empty() || !is_plain(charset) || !is_plain(text) {
        return None;
    }
    let length = b"=?".len() + charset.len() + encoding.len() + text.len() + b"???".len() - 1 + b"?=".len();
    let charset = charset.split(|byte| *byte == b'*').next()?;
    Some(Word { range: start..start + length, charset, is_base64, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(source: &str) -> String {
        let source = mended(source.as_bytes()).into_owned();
        let parsed = mail_parser::MessageParser::default().parse(&source).expect("a message");
        parsed.subject().unwrap_or_default().to_owned()
    }

    #[test]
    fn a_character_that_is_split_over_two_words_is_whole() {
        let split = "Subject: =?utf-8?b?0LTQvtGB0YLQsNCy0LvQ?=\r\n\t=?UTF-8*ru?B?tdC90L4uIA==?= =?utf-8?q?=C3?=\r\n =?utf-8?q?=BC.?= x\r\n\r\nbody";
        assert_eq!(subject(split), "доставлено. ü. x");
        assert_eq!(mended(split.as_bytes()).len(), split.len());
        for alone in [
            "Subject: =?utf-8?q?a?= b =?utf-8?q?c?=\n\n",
            "Subject: =?utf-8?q?a?= =?latin1?q?c?=\n\n",
            "Subject: =?a =?= ?=\n\n",
            "S: =?=?=?=?",
        ] {
            assert!(matches!(mended(alone.as_bytes()), Cow::Borrowed(_)), "{alone:?}");
        }
    }

    #[test]
    fn a_short_zone_does_not_swallow_the_next_field() {
        for (end, zone) in [("\n", "UT"), ("\r\n", "Z"), ("\n", "Z"), ("\r\n", "UT"), ("\n", "GMT"), ("\n", "EST")] {
            let source = format!("Date: Sat, 22 Apr 2006 17:14:50 {zone}{end}From: bob@b.example{end}{end}x");
            let mended = mended(source.as_bytes());
            let parsed = mail_parser::MessageParser::default().parse(&*mended).expect("a message");
            assert_eq!(parsed.from().and_then(|from| from.first()?.address()), Some("bob@b.example"), "{source:?}");
            let hours = if zone == "EST" { 5 } else { 0 };
            assert_eq!(
                parsed.date().map(mail_parser::DateTime::to_timestamp),
                Some(1_145_726_090 + hours * 3600),
                "{source:?}"
            );
        }
    }

    #[test]
    fn the_body_is_left_alone() {
        let source = b"Subject: x\n\nDate: 1 Jan 2026 00:00:00 UT\n=?utf-8?q?=C3?= =?utf-8?q?=BC?=\n";
        assert!(matches!(mended(source), Cow::Borrowed(_)));
    }

    proptest::proptest! {
        #[test]
        fn any_header_keeps_its_length(parts in proptest::collection::vec(proptest::sample::select(vec![
            "=?utf-8?b?", "=?utf-8?q?", "?=", "w6w=", "=C3", " ", "\r\n ", "\n", "\r\n", "Date: ", "UT", "Z", "x", "?", "=", "*", "é",
        ]), 0..40)) {
            let text = parts.concat();
            proptest::prop_assert_eq!(mended(text.as_bytes()).len(), text.len());
        }
    }
}
