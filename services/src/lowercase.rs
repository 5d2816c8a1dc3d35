//! Text as searches without regard to case compare it. Shared by the services that keep such text; no service itself.

/// Adds `piece` to `text` in lower case, and a line end, so that no match spans two pieces.
pub(crate) fn push_lowercase(text: &mut String, piece: &str) {
    if piece.is_ascii() {
        let start = text.len();
        text.push_str(piece);
        text[start..].make_ascii_lowercase();
    } else {
        text.push_str(&piece.to_lowercase());
    }
    text.push('\n');
}
