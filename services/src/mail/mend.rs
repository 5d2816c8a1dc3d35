//! A message made ready for the parser: a copy in which what the parser stumbles over says the same in another way. Only the header of the message
//! itself is touched, and only the copy: the message keeps its bytes.
//!
//! - Encoded words become one word in UTF-8: programs split characters between words, of one kind and of two, and name charsets by labels that stand for
//!   their supersets.
//! - A zone of one or two letters at the end of a date, such as `UT`, where the parser takes three bytes and with them the next line.

use std::borrow::Cow;
use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::header::runs;

/// Returns `bytes`, mended where there is something to mend.
pub(super) fn mended(bytes: &[u8]) -> Cow<'_, [u8]> {
    let mut out = Vec::new();
    // Up to here, `bytes` is in `out`.
    let mut done = 0;
    for field in fields(bytes) {
        let (line, start) = (&bytes[field.clone()], field.start);
        let words = runs(line).into_iter().map(|(range, text)| (range, in_utf8(&text)));
        let zone = short_zone(line).map(|(range, digits)| (range, String::from_utf8_lossy(&digits).into_owned()));
        for (range, text) in words.chain(zone) {
            out.extend_from_slice(&bytes[done..start + range.start]);
            out.extend_from_slice(text.as_bytes());
            done = start + range.end;
        }
    }
    if done == 0 {
        return Cow::Borrowed(bytes);
    }
    out.extend_from_slice(&bytes[done..]);
    Cow::Owned(out)
}

/// Returns `text` as one encoded word.
fn in_utf8(text: &str) -> String {
    format!("=?utf-8?B?{}?=", STANDARD.encode(text))
}

/// Returns where the header fields lie, each with its folded lines and its line end.
pub(super) fn fields(bytes: &[u8]) -> Vec<Range<usize>> {
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
        let mixed =
            "Subject: =?utf-8?b?w6TD?= =?UTF-8?Q?=B6abcdefghijklmnopqrstuvwxyz=C3?=\n =?utf-8?b?vA==?= x\n\nbody";
        assert_eq!(subject(mixed), "äöabcdefghijklmnopqrstuvwxyzü x");
        assert_eq!(subject("Subject: =?iso-8859-9?q?=80=FD?=\n\n"), "€ı");
        for alone in ["Subject: =?a =?= ?=\n\n", "S: =?=?=?=?", "Subject: plain\n\n=?utf-8?q?a?="] {
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
        fn whatever_follows_the_header_is_kept(parts in proptest::collection::vec(proptest::sample::select(vec![
            "=?utf-8?b?", "=?utf-8?q?", "?=", "w6w=", "=C3", " ", "\r\n ", "Date: ", "UT", "Z", "x", "?", "=", "*", "é",
        ]), 0..40)) {
            let text = format!("{}\n\n{}", parts.concat(), parts.concat());
            let mended = mended(text.as_bytes());
            let body = format!("\n\n{}", parts.concat());
            proptest::prop_assert!(mended.ends_with(body.as_bytes()));
        }
    }
}
