//! The methods of text that can make something huge of something small (`replace`, `join`, `format`) become calls of bounded functions:
//! `a.replace(b, c)` is compiled as `_replace(a, b, c)`. Methods that look at all of what they belong to are counted: `a.count(b)` is compiled as
//! `_counted("count", a, b)`. So are texts with names in them: `f"{x}"` is compiled as `_format("{x}", x = x)`. The interpreter offers no hook for
//! methods, and the spans of its syntax tree leave out brackets, so this works on the tokens of a source that the parser has admitted. Lines stay where
//! they are.

use super::guard::string_bytes;
use super::library::{BOUNDED_METHODS, COUNTED_METHODS};
use crate::problem::Place;

/// Words that end an expression before an opening bracket: what follows is no call.
const KEYWORDS: [&str; 14] =
    ["and", "or", "not", "in", "if", "else", "elif", "for", "return", "lambda", "def", "pass", "break", "continue"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A name, a number, or a text: something that an expression can end with.
    Operand,
    Keyword,
    Dot,
    Open,
    Close,
    /// The end of a statement's line.
    End,
    Operator,
}

#[derive(Clone, Copy, Debug)]
struct Token<'a> {
    kind: Kind,
    text: &'a str,
    at: usize,
    /// For a bracket: the token of its other half.
    other: Option<usize>,
}

/// One change of the source: at a position, how many bytes go, what comes.
struct Edit {
    at: usize,
    /// Which of several changes at one place comes first.
    rank: u32,
    bytes: usize,
    text: String,
}

/// Returns `source`, which the parser has admitted, with bounded calls in place of unbounded ones.
///
/// # Errors
///
/// The place and a sentence, for what cannot be bounded.
pub(super) fn bound(source: &str) -> Result<String, (Place, String)> {
    let tokens = tokens(source);
    let mut edits = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let next = |more: usize| tokens.get(index + more);
        if matches!(token.text, "*=" | "%=") {
            let message = format!("'{}' is not offered; write 'x = x {} y'", token.text, &token.text[..1]);
            return Err((place(source, token.at), message));
        }
        if let Some(changes) = text_with_names(token) {
            edits.extend(changes);
        }
        let Some(method) = next(1).filter(|_| token.kind == Kind::Dot) else { continue };
        let is_bounded = BOUNDED_METHODS.contains(&method.text);
        if !is_bounded && !COUNTED_METHODS.contains(&method.text) {
            continue;
        }
        let Some(open) = next(2).filter(|open| open.text == "(") else {
            if !is_bounded {
                // An attribute of that name, or a method that is handed on.
                continue;
            }
            let message = format!("'.{}' without a call is not offered; call it where it stands", method.text);
            return Err((place(source, token.at), message));
        };
        let end = open.at + 1;
        let lines = "\n".repeat(source[token.at..end].matches('\n').count());
        let text = if is_bounded { format!("_{}(", method.text) } else { format!("_counted(\"{}\", ", method.text) };
        // Of several calls that begin at one place the outermost comes first, and it is the last one in the source.
        let rank = u32::MAX - 1 - u32::try_from(index).unwrap_or(0);
        edits.push(Edit { at: start_of(&tokens, index), rank, bytes: 0, text });
        edits.push(Edit { at: token.at, rank: 1, bytes: end - token.at, text: format!(", {lines}") });
    }
    edits.sort_by_key(|edit| (edit.at, edit.rank));
    Ok(apply(source, &edits))
}

/// Returns the changes that make a call of a text with names in it, which the parser has admitted: in braces there are names and nothing else.
fn text_with_names(token: &Token<'_>) -> Option<[Edit; 2]> {
    let prefix = token.text.find(['"', '\'']).filter(|_| token.kind == Kind::Operand)?;
    let letters = &token.text[..prefix];
    if !letters.contains('f') {
        return None;
    }
    let mut names: Vec<&str> = Vec::new();
    let text = token.text[prefix..].replace("{{", "  ");
    let mut at = 0;
    while let Some(open) = text[at..].find('{') {
        let start = at + open + 1;
        let end = text[start..].find(['}', '!', ':']).map_or(text.len(), |end| start + end);
        // As long as the two texts are, so that places are the same.
        let name = token.text[prefix..].get(start..end).unwrap_or_default().trim();
        if !names.contains(&name) {
            names.push(name);
        }
        at = end;
    }
    let arguments: String = names.iter().map(|name| format!(", {name} = {name}")).collect();
    let opened = format!("_format({}", letters.replace('f', ""));
    Some([
        Edit { at: token.at, rank: u32::MAX, bytes: prefix, text: opened },
        Edit { at: token.at + token.text.len(), rank: 0, bytes: 0, text: format!("{arguments})") },
    ])
}

fn apply(source: &str, edits: &[Edit]) -> String {
    let mut changed = String::with_capacity(source.len());
    let mut done = 0;
    for edit in edits {
        changed.push_str(source.get(done..edit.at).unwrap_or_default());
        changed.push_str(&edit.text);
        done = edit.at + edit.bytes;
    }
    changed.push_str(source.get(done..).unwrap_or_default());
    changed
}

/// Returns where the operand of the dot at `dot` begins: names, texts and brackets, called, indexed and dotted.
fn start_of(tokens: &[Token<'_>], dot: usize) -> usize {
    let mut at = dot;
    loop {
        // Step onto the token that ends the operand, and from a closing bracket onto the opening one.
        at = at.saturating_sub(1);
        let token = &tokens[at];
        if token.kind == Kind::Close {
            at = token.other.unwrap_or(at);
            let before = at.checked_sub(1).map(|before| tokens[before].kind);
            if tokens[at].text != "{" && matches!(before, Some(Kind::Operand | Kind::Close)) {
                continue;
            }
        }
        match at.checked_sub(1).map(|before| tokens[before].kind) {
            Some(Kind::Dot) => at -= 1,
            _ => return tokens[at].at,
        }
    }
}

fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut tokens: Vec<Token<'_>> = Vec::new();
    let mut open = Vec::new();
    let mut at = 0;
    while let Some(character) = source[at..].chars().next() {
        let rest = &source[at..];
        let (kind, bytes) = match character {
            '#' => (None, rest.find('\n').unwrap_or(rest.len())),
            '\n' => ((open.is_empty()).then_some(Kind::End), 1),
            '\\' => (None, 1 + rest.chars().nth(1).map_or(0, char::len_utf8)),
            '"' | '\'' => (Some(Kind::Operand), string_bytes(rest)),
            '(' | '[' | '{' => (Some(Kind::Open), 1),
            ')' | ']' | '}' => (Some(Kind::Close), 1),
            '.' if !rest[1..].starts_with(|next: char| next.is_ascii_digit()) => (Some(Kind::Dot), 1),
            '.' | '0'..='9' => (Some(Kind::Operand), number_bytes(rest)),
            letter if letter.is_alphabetic() || letter == '_' => word(rest),
            '*' | '%' if rest[1..].starts_with('=') => (Some(Kind::Operator), 2),
            space if space.is_whitespace() => (None, space.len_utf8()),
            other => (Some(Kind::Operator), other.len_utf8()),
        };
        if let Some(kind) = kind {
            let other = if kind == Kind::Close { open.pop() } else { None };
            if kind == Kind::Open {
                open.push(tokens.len());
            }
            tokens.push(Token { kind, text: &rest[..bytes], at, other });
        }
        at += bytes;
    }
    tokens
}

/// Reads a name, a keyword, or a text with letters before its quotes.
fn word(rest: &str) -> (Option<Kind>, usize) {
    let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
    let word = &rest[..end];
    if matches!(word, "f" | "r" | "b" | "fr" | "rf" | "br" | "rb") && rest[end..].starts_with(['"', '\'']) {
        return (Some(Kind::Operand), end + string_bytes(&rest[end..]));
    }
    (Some(if KEYWORDS.contains(&word) { Kind::Keyword } else { Kind::Operand }), end)
}

fn number_bytes(rest: &str) -> usize {
    rest.find(|character: char| !character.is_alphanumeric() && character != '.').unwrap_or(rest.len())
}

fn place(source: &str, at: usize) -> Place {
    let before = source.get(..at).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Place { line: number(line), column: number(column) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operand_is_found_however_it_is_written() {
        for (source, changed) in [
            ("x.replace(a, b)", "_replace(x, a, b)"),
            ("y = f(x)[0].g.join(a)", "y = _join(f(x)[0].g, a)"),
            ("return (a + b).join([c.join(d)])", "return _join((a + b), [_join(c, d)])"),
            ("((a)).replace(b, c).replace(d, e)", "_replace(_replace(((a)), b, c), d, e)"),
            ("f'{x}'.format()", "_format(_format('{x}', x = x), )"),
            ("a + fr'{x}{{y}}{z!r}{x}'", "a + _format(r'{x}{{y}}{z!r}{x}', x = x, z = z)"),
            ("f'no names'.join(c).count(d)", "_counted(\"count\", _join(_format('no names'), c), d)"),
            ("row.count + row.count(x)", "row.count + _counted(\"count\", row, x)"),
            ("mail.count(a, folder = b)", "_counted(\"count\", mail, a, folder = b)"),
            ("a\n(b).join(c)", "a\n_join((b), c)"),
            ("{1: 2}[1].join(c)", "_join({1: 2}[1], c)"),
            ("1.5 if x else y.join(z)", "1.5 if x else _join(y, z)"),
            ("'.join(' + \"# .join(\" # .join(", "'.join(' + \"# .join(\" # .join("),
        ] {
            assert_eq!(bound(source).as_deref(), Ok(changed));
        }
    }

    #[test]
    fn lines_stay_where_they_are() {
        assert_eq!(bound("(a\n .join\n (b))").map(|text| text.matches('\n').count()), Ok(2));
    }

    #[test]
    fn what_cannot_be_bounded_is_refused_where_it_stands() {
        assert_eq!(bound("x = 1\ny = x.join").map_err(|(place, _)| (place.line, place.column)), Err((2, 6)));
        assert_eq!(bound("x *= 2").map_err(|(place, _)| place.line), Err(1));
    }
}
