//! What loading a PDF would cost at most, told by one pass over its bytes before the library lays out its objects: each takes some hundred bytes of
//! memory where the file may have two.
//!
//! An object can stand anywhere that the cross-reference table points to, even in the middle of another. So nothing is believed of the outside of a
//! header (`1 0 obj`) that stands in a text, a comment or a stream: from there on, everything is counted.

/// The most headers of objects that comments may hold: to read one takes a walk over the rest of its line.
const HEADERS_IN_COMMENTS_MAX: usize = 100;

/// What a PDF amounts to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Survey {
    /// How many objects it can hold at most, nested ones too.
    pub(super) objects: u64,
    /// How many bytes there are from each object's header to the next end of an object.
    pub(super) spanned: u64,
    headers_in_comments: usize,
}

/// Where the pass stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Open,
    /// In a text, at this depth of brackets.
    Text(u32),
    Comment,
}

impl Survey {
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut survey = Self::default();
        let mut place = Place::Open;
        let mut is_certain = true;
        let mut is_in_token = false;
        // Of the headers since the last end of an object: how many, and the sum of their positions.
        let (mut open, mut open_at) = (0_u64, 0_u64);
        // Up to here, no stream is passed over.
        let mut hidden_until = 0;
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if byte == b'o' && bytes[at..].starts_with(b"obj") {
                if bytes[..at].ends_with(b"end") {
                    survey.spanned += (open * at as u64).saturating_sub(open_at);
                    (open, open_at) = (0, 0);
                } else if ends_header(bytes, at) {
                    (open, open_at) = (open + 1, open_at + at as u64);
                    survey.headers_in_comments += usize::from(place == Place::Comment);
                    is_certain &= place == Place::Open;
                }
            }
            if !is_certain {
                survey.objects += u64::from(begins_token(byte, &mut is_in_token));
                at += 1;
                continue;
            }
            match (place, byte) {
                (Place::Comment, b'\n' | b'\r') => place = Place::Open,
                (Place::Comment, _) => {}
                (Place::Text(_), b'\\') => at += 1,
                (Place::Text(depth), b'(') => place = Place::Text(depth + 1),
                (Place::Text(1), b')') => place = Place::Open,
                (Place::Text(depth), b')') => place = Place::Text(depth - 1),
                (Place::Text(_), _) => {}
                (Place::Open, b'(') => {
                    survey.objects += 1;
                    (place, is_in_token) = (Place::Text(1), false);
                }
                (Place::Open, b'%') => (place, is_in_token) = (Place::Comment, false),
                (Place::Open, b's') if !is_in_token && at >= hidden_until && bytes[at..].starts_with(b"stream") => {
                    survey.objects += 1;
                    match end_of_stream(bytes, at) {
                        Ok(last) => at = last,
                        Err(end) => hidden_until = end,
                    }
                }
                (Place::Open, _) => survey.objects += u64::from(begins_token(byte, &mut is_in_token)),
            }
            at += 1;
        }
        survey
    }

    /// Returns whether the headers of its objects stand where no program puts them.
    pub(super) fn is_contrived(&self) -> bool {
        self.headers_in_comments > HEADERS_IN_COMMENTS_MAX
    }
}

/// Returns whether the `obj` at `at` can end the header of an object. A comment may stand before it.
fn ends_header(bytes: &[u8], at: usize) -> bool {
    let before = bytes[..at].trim_ascii_end();
    let has_line_end = bytes[before.len()..at].iter().any(|byte| matches!(byte, b'\r' | b'\n'));
    has_line_end || before.last().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'\0')
}

/// Returns the last byte of the stream that begins at `start`, or where it ends if an object is hidden in it.
fn end_of_stream(bytes: &[u8], start: usize) -> Result<usize, usize> {
    let Some(length) = memchr::memmem::find(&bytes[start..], b"endstream") else { return Err(bytes.len()) };
    let end = start + length + b"endstream".len();
    let mut objects = memchr::memmem::find_iter(&bytes[start..end], b"obj");
    if objects.any(|found| ends_header(bytes, start + found)) { Err(end) } else { Ok(end - 1) }
}

/// Returns whether a token begins with `byte`.
fn begins_token(byte: u8, is_in_token: &mut bool) -> bool {
    let was_in_token = *is_in_token;
    match byte {
        b'\0' | b'\t' | b'\n' | b'\x0c' | b'\r' | b' ' => {
            *is_in_token = false;
            false
        }
        b'[' | b'<' | b'(' => {
            *is_in_token = false;
            true
        }
        b']' | b'>' | b')' | b'{' | b'}' => {
            *is_in_token = false;
            false
        }
        b'/' => {
            *is_in_token = true;
            true
        }
        _ => {
            *is_in_token = true;
            !was_in_token
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_streams_texts_and_comments_hold_is_not_counted() {
        let objects = |text: &str| Survey::of(text.as_bytes()).objects;
        assert_eq!(objects("1 0 obj [1 2 (a b (c) \\) d) /N] endobj"), 3 + 5 + 1);
        assert_eq!(objects("1 0 obj << /A 1 >> stream\n1 2 3 4 5 6 7 8\nendstream endobj"), 3 + 4 + 1 + 1);
        assert_eq!(objects("% 1 2 3 4\n1 0 obj 7 endobj"), 5);
    }

    #[test]
    fn an_object_that_hides_is_counted() {
        for hidden in [
            "1 0 obj (\n2 0 obj [0 0 0 0 0 0 0 0 0 0]) endobj",
            "1 0 obj << >> stream\n2 0 obj [0 0 0 0 0 0 0 0 0 0] endobj endstream",
            "% 1 0 obj [0 0 0 0 0 0 0 0 0 0]",
            "1 0 obj [ (2 0 obj \\( ) 0 0 0 0 0 0 0 0 0 0 ]",
        ] {
            assert!(Survey::of(hidden.as_bytes()).objects >= 10, "{hidden}");
        }
        let comments = "% 1 0 obj\n".repeat(HEADERS_IN_COMMENTS_MAX);
        assert!(!Survey::of(comments.as_bytes()).is_contrived());
        assert!(Survey::of(format!("{comments}% 1 0 obj").as_bytes()).is_contrived());
    }

    #[test]
    fn objects_that_share_an_end_are_measured_each() {
        assert_eq!(Survey::of(b"1 0 obj 2 0 obj endobj").spanned, (19 - 4) + (19 - 12));
    }
}
