//! The transfer encoding of before MIME (`x-uuencode`), which old programs still name in it: `begin 644 name`, lines of which the first character says how
//! many bytes they hold, `end`. POSIX.1-2017, uuencode.

/// Returns the names under which messages announce the encoding.
pub(super) fn is_named(encoding: &str) -> bool {
    ["x-uuencode", "x-uue", "uuencode"].iter().any(|name| encoding.trim().eq_ignore_ascii_case(name))
}

/// Returns what `text` encodes, or nothing if it has no `begin`. Damaged lines hold what can be read of them.
pub(super) fn decoded(text: &[u8]) -> Option<Vec<u8>> {
    let mut lines = text.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines.find(|line| line.starts_with(b"begin "))?;
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    for line in lines {
        let [length, rest @ ..] = line else { continue };
        if line == b"end" {
            break;
        }
        let bytes = usize::from(six_bits(*length));
        // Some programs cut trailing spaces, which stand for zeroes.
        let mut digits = rest.iter().map(|digit| six_bits(*digit)).chain(std::iter::repeat(0));
        let mut left = bytes.min(rest.len().div_ceil(4) * 3);
        while left > 0 {
            let group = [(); 4].map(|()| digits.next().unwrap_or_default());
            let three = [group[0] << 2 | group[1] >> 4, group[1] << 4 | group[2] >> 2, group[2] << 6 | group[3]];
            out.extend_from_slice(&three[..left.min(3)]);
            left = left.saturating_sub(3);
        }
    }
    Some(out)
}

fn six_bits(character: u8) -> u8 {
    character.wrapping_sub(b' ') & 0x3f
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_other_programs_encoded_is_decoded() {
        // As Python's binascii writes it, with spaces and with backticks for zero.
        for text in ["begin 644 a.bin\r\n#0V%T\r\n`\r\nend\r\n", "begin 644 a.bin\n#0V%T\n \nend\n"] {
            assert_eq!(decoded(text.as_bytes()).as_deref(), Some(&b"Cat"[..]));
        }
        assert_eq!(decoded(b"x\nbegin 644 z\n#````\n!00\nend\nafter"), Some(vec![0, 0, 0, b'A']));
        assert_eq!(decoded(b"no such thing"), None);
        assert!(is_named(" X-UUEncode ") && !is_named("base64"));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_can_be_tried(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..300)) {
            let text = [b"begin 644 x\n", &bytes[..]].concat();
            proptest::prop_assert!(decoded(&text).is_some_and(|out| out.len() <= text.len()));
        }
    }
}
