//! The bytes of an iCalendar file, taken apart and put together again without loss: components, and the content lines of one component (RFC 5545,
//! 3.1). It knows where a line ends and what it is called, not what it means; that is for [`super::parse`].

use std::ops::Range;

use dayshift_engine::SmolStr;

use super::limits::COMPONENT_DEPTH_MAX;

/// What a piece of a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PieceKind {
    /// A VEVENT.
    Event,
    /// A VTIMEZONE.
    Zone,
    /// Anything else between the file's head and tail.
    Other,
}

/// A file in pieces: its head, the pieces and its tail, one after another, are the file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct File<'a> {
    pub(crate) head: &'a [u8],
    pub(crate) pieces: Vec<(PieceKind, &'a [u8])>,
    pub(crate) tail: &'a [u8],
}

/// Why bytes cannot be taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SplitFault {
    /// There is no VCALENDAR.
    NoCalendar,
    /// Components nest too deeply.
    TooDeep,
}

/// Which components are open while the lines of a file pass by. A file is taken apart and put together by this one reading.
#[derive(Debug, Default)]
pub(crate) struct Nesting {
    open: Vec<String>,
}

/// What a line does to the components that are open.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Nothing,
    Begins,
    Ends(String),
    /// A calendar ends within an unfinished component: nothing is open any more.
    Abandons,
}

impl Nesting {
    /// Lets the lines of `piece` pass.
    pub(crate) fn pass(&mut self, piece: &[u8]) {
        for line in physical_lines(piece) {
            self.step(&piece[line]);
        }
    }

    /// Returns whether a component that is put here belongs to a calendar and to nothing else.
    pub(crate) fn is_within_calendar(&self) -> bool {
        self.open.len() == 1
    }

    fn step(&mut self, line: &[u8]) -> Step {
        match boundary(line) {
            // Outside of a calendar nothing counts but the begin of one.
            Some((true, name)) if self.open.is_empty() && name != "VCALENDAR" => Step::Nothing,
            Some((true, name)) => {
                self.open.push(name);
                Step::Begins
            }
            Some((false, name)) if self.open.last() == Some(&name) => {
                self.open.pop();
                Step::Ends(name)
            }
            Some((false, name)) if name == "VCALENDAR" && !self.open.is_empty() => {
                self.open.clear();
                Step::Abandons
            }
            Some((false, _)) | None => Step::Nothing,
        }
    }
}

/// Takes `bytes` apart.
pub(crate) fn split(bytes: &[u8]) -> Result<File<'_>, SplitFault> {
    let mut cuts: Vec<(PieceKind, Range<usize>)> = Vec::new();
    let mut nesting = Nesting::default();
    let (mut gap, mut piece, mut begun, mut head_end, mut last_end) = (0, 0, None, None, None);
    for line in physical_lines(bytes) {
        match nesting.step(&bytes[line.clone()]) {
            Step::Begins => {
                if nesting.open.len() == 2 {
                    piece = line.start;
                    begun.get_or_insert(piece);
                }
                if nesting.open.len() > COMPONENT_DEPTH_MAX {
                    return Err(SplitFault::TooDeep);
                }
            }
            Step::Ends(name) if nesting.is_within_calendar() => {
                head_end.get_or_insert(piece);
                if gap < piece && head_end != Some(piece) {
                    cuts.push((PieceKind::Other, gap..piece));
                }
                let kind = match name.as_str() {
                    "VEVENT" => PieceKind::Event,
                    "VTIMEZONE" => PieceKind::Zone,
                    _ => PieceKind::Other,
                };
                cuts.push((kind, piece..line.end));
                gap = line.end;
            }
            // A calendar that ends within an unfinished component: what was begun stays in the gap.
            Step::Ends(_) | Step::Abandons if nesting.open.is_empty() => last_end = Some(line.start),
            Step::Ends(_) | Step::Abandons | Step::Nothing => {}
        }
    }
    if head_end.is_none() && last_end.is_none() && nesting.open.is_empty() {
        return Err(SplitFault::NoCalendar);
    }
    // The head ends where a component begins, also if none is finished.
    if head_end.is_none()
        && let Some(begun) = begun
    {
        head_end = Some(begun);
        gap = begun;
    }
    let tail = last_end.unwrap_or(bytes.len()).max(gap);
    let head = head_end.unwrap_or(tail).min(tail);
    if head_end.is_some() && gap < tail {
        cuts.push((PieceKind::Other, gap..tail));
    }
    let pieces = cuts.into_iter().map(|(kind, range)| (kind, &bytes[range])).collect();
    Ok(File { head: &bytes[..head], pieces, tail: &bytes[tail..] })
}

/// One content line of a component: its name in capitals, and the bytes that it takes with its folds and its end.
#[derive(Clone, Debug)]
pub(crate) struct Line<'a> {
    pub(crate) name: String,
    pub(crate) bytes: &'a [u8],
    /// How many components it lies in, counting the outermost: 1 for a property of the event itself.
    pub(crate) depth: usize,
}

/// Returns the content lines of one component, with its BEGIN and END.
pub(crate) fn lines(component: &[u8]) -> Vec<Line<'_>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for line in physical_lines(component) {
        let is_folded = matches!(component.get(line.start), Some(b' ' | b'\t'));
        match found.last_mut() {
            Some(last) if is_folded => last.end = line.end,
            Some(_) | None => found.push(line),
        }
    }
    let mut depth = 0;
    let mut out = Vec::with_capacity(found.len());
    for range in found {
        let bytes = &component[range];
        let edge = boundary(bytes);
        if matches!(edge, Some((true, _))) {
            depth += 1;
        }
        out.push(Line { name: name_of(bytes), bytes, depth });
        if matches!(edge, Some((false, _))) {
            depth = depth.saturating_sub(1);
        }
    }
    out
}

/// Returns `component` with its own lines put through `change`: `None` keeps the line's bytes, and text takes its place. `added` comes behind its
/// own properties. Lines end as the component's do.
pub(crate) fn edit(component: &[u8], added: &str, mut change: impl FnMut(&Line<'_>) -> Option<String>) -> Vec<u8> {
    let bare = !component.windows(2).any(|pair| pair == b"\r\n");
    let ended = |text: &str| if bare { text.replace("\r\n", "\n") } else { text.to_owned() };
    let mut out = Vec::with_capacity(component.len() + added.len());
    let mut is_added = false;
    for line in lines(component) {
        let is_edge = line.name == "BEGIN" || line.name == "END";
        let closes = (line.name == "BEGIN" && line.depth == 2) || (line.name == "END" && line.depth == 1);
        if closes && !is_added {
            is_added = true;
            out.extend_from_slice(ended(added).as_bytes());
        }
        match (line.depth == 1 && !is_edge).then(|| change(&line)).flatten() {
            Some(text) => out.extend_from_slice(ended(&text).as_bytes()),
            None => out.extend_from_slice(line.bytes),
        }
    }
    out
}

/// Returns the line's text without folds and end.
pub(crate) fn unfold(line: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len());
    for (index, range) in physical_lines(line).enumerate() {
        let part = trim_end(&line[range]);
        out.extend_from_slice(if index == 0 { part } else { part.get(1..).unwrap_or_default() });
    }
    out
}

/// Returns the time zones that the lines of a component name (TZID), each once.
pub(crate) fn tzids(component: &[u8]) -> Vec<SmolStr> {
    let mut found = Vec::new();
    for line in lines(component) {
        let text = unfold(line.bytes);
        for parameter in parameters(&text) {
            let Some((name, value)) = parameter.split_once('=') else { continue };
            let value = SmolStr::from(value.trim_matches('"'));
            if name.trim().eq_ignore_ascii_case("TZID") && !found.contains(&value) {
                found.push(value);
            }
        }
    }
    found
}

/// Returns the parameters of an unfolded line. Quoted values may hold the signs that separate others.
fn parameters(line: &[u8]) -> Vec<&str> {
    let (mut is_quoted, mut start, mut found) = (false, None, Vec::new());
    for (at, byte) in line.iter().enumerate() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b':' | b';' if !is_quoted => {
                found.extend(start.and_then(|start| std::str::from_utf8(&line[start..at]).ok()));
                start = Some(at + 1);
                if *byte == b':' {
                    break;
                }
            }
            _ => {}
        }
    }
    found
}

fn physical_lines(bytes: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        if start >= bytes.len() {
            return None;
        }
        let end = memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |at| start + at + 1);
        let range = start..end;
        start = end;
        Some(range)
    })
}

fn trim_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Returns whether the line begins or ends a component, and which, in capitals.
fn boundary(line: &[u8]) -> Option<(bool, String)> {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    let begins = line.len() > 6 && line[..6].eq_ignore_ascii_case(b"BEGIN:");
    let ends = line.len() > 4 && line[..4].eq_ignore_ascii_case(b"END:");
    if !begins && !ends {
        return None;
    }
    let name = trim_end(&line[if begins { 6 } else { 4 }..]).trim_ascii();
    // A name that was cut off whole is none.
    (!name.is_empty()).then(|| (begins, String::from_utf8_lossy(name).to_ascii_uppercase()))
}

fn name_of(line: &[u8]) -> String {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    let end = line.iter().position(|byte| matches!(byte, b':' | b';' | b'\r' | b'\n')).unwrap_or(line.len());
    String::from_utf8_lossy(line[..end].trim_ascii()).to_ascii_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &[u8] = b"BEGIN:VCALENDAR\r\nPRODID:x\r\nBEGIN:VTIMEZONE\r\nTZID:A\r\nBEGIN:STANDARD\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n\r\nBEGIN:VEVENT\r\nUID:1\r\nSUMMARY:a\r\n  b\r\nBEGIN:VALARM\r\nSUMMARY:no\r\nEND:VALARM\r\nEND:VEVENT\r\nX-LATE:1\r\nEND:VCALENDAR\r\n";

    fn joined(file: &File<'_>) -> Vec<u8> {
        let pieces = file.pieces.iter().map(|(_, bytes)| *bytes);
        [file.head].into_iter().chain(pieces).chain([file.tail]).flatten().copied().collect()
    }

    #[test]
    fn a_file_is_its_pieces() {
        let file = split(FILE).expect("a file");
        assert_eq!(file.head, b"BEGIN:VCALENDAR\r\nPRODID:x\r\n");
        assert_eq!(file.tail, b"END:VCALENDAR\r\n");
        let kinds: Vec<PieceKind> = file.pieces.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, [PieceKind::Zone, PieceKind::Other, PieceKind::Event, PieceKind::Other]);
        assert_eq!(joined(&file), FILE);
    }

    #[test]
    fn an_edit_touches_only_the_events_own_lines() {
        let file = split(FILE).expect("a file");
        let event = file.pieces[2].1;
        let edited = edit(event, "X-NEW:1\r\n", |line| (line.name == "SUMMARY").then(|| "SUMMARY:c\r\n".to_owned()));
        let expected = "BEGIN:VEVENT\r\nUID:1\r\nSUMMARY:c\r\nX-NEW:1\r\nBEGIN:VALARM\r\nSUMMARY:no\r\nEND:VALARM\r\nEND:VEVENT\r\n";
        assert_eq!(String::from_utf8_lossy(&edited), expected);
        assert_eq!(edit(event, "", |_| None), event);
    }

    #[test]
    fn the_zones_that_lines_name_are_found() {
        let event = b"BEGIN:VEVENT\r\nDTSTART;X=\"a:b;TZID=No\";TZID=Europe/Ber\r\n lin:20260101T000000\r\nDTEND;tzid=\"Own; Zone\":2\r\nSUMMARY:x;TZID=No:y\r\nEXDATE;TZID=Europe/Berlin:3\r\nEND:VEVENT\r\n";
        assert_eq!(tzids(event), ["Europe/Berlin", "Own; Zone"]);
    }

    #[test]
    fn what_is_no_calendar_is_refused_and_deep_nesting_too() {
        assert_eq!(split(b"hello"), Err(SplitFault::NoCalendar));
        assert_eq!(split(b""), Err(SplitFault::NoCalendar));
        let nested = |depth: usize| format!("BEGIN:VCALENDAR\n{}", "BEGIN:X\n".repeat(depth - 1));
        assert!(split(nested(COMPONENT_DEPTH_MAX).as_bytes()).is_ok());
        assert_eq!(split(nested(COMPONENT_DEPTH_MAX + 1).as_bytes()), Err(SplitFault::TooDeep));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_that_can_be_taken_apart_can_be_put_together(
            lines in proptest::collection::vec(proptest::sample::select(vec![
                "BEGIN:VCALENDAR\r\n", "END:VCALENDAR\n", "BEGIN:VEVENT\n", "END:VEVENT\r\n", "X:1\n", " fold\n", "BEGIN:VTIMEZONE\n",
                "END:VTIMEZONE\n", "\n", "junk",
            ]), 0..30),
        ) {
            let text = lines.concat();
            if let Ok(file) = split(text.as_bytes()) {
                proptest::prop_assert_eq!(joined(&file), text.as_bytes());
                for (kind, piece) in file.pieces {
                    if kind == PieceKind::Event {
                        proptest::prop_assert_eq!(edit(piece, "", |_| None), piece);
                    }
                }
            }
        }
    }
}
