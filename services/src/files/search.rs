//! Looking through the tree: by name (`files.find`) and by content (`files.search`). Both go through a folder's entries in order of their
//! names, then through its folders in that order.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

use dayshift_engine::{Content, Context, Frame, Rejection, SmolStr, Value, map};
use globset::{GlobBuilder, GlobMatcher};
use memchr::memmem::Finder;
use regex::{Regex, RegexBuilder};

use super::path::EntryPath;
use super::state::{Entry, FilesState, not_found};
use super::text::{cut_to, decode, without_mark};
use super::tools::Search;
use super::{
    PATTERN_BYTES_MAX, REGEX_BYTES_MAX, REGEX_LIGHT_BYTES_MAX, SEARCH_BYTES_MAX, SEARCH_HEAVY_BYTES_MAX,
    SEARCH_LINE_BYTES_MAX,
};
use crate::lowercase::{composed, folded};

/// What it costs to come to an entry of a folder.
const ENTRY_WORK: u64 = 20;
/// What it costs to hold a byte of a line against a light regular expression, and against a heavy one.
const LIGHT_WORK_PER_BYTE: u64 = 4;
const HEAVY_WORK_PER_BYTE: u64 = 64;
/// What it costs to hold a byte of a path against a pattern.
const GLOB_WORK_PER_BYTE: u64 = 4;

impl FilesState {
    /// Returns the paths below `path` that `pattern` fits, at most `limit`, and whether there are more. Reads the membership of the folders
    /// that it went through.
    pub(super) fn find(
        &self,
        path: &EntryPath,
        pattern: &str,
        limit: usize,
        frame: &Frame,
    ) -> Result<(Vec<Value>, bool), Rejection> {
        let glob = Glob::parse(path, pattern)?;
        if !matches!(self.look(&glob.base, frame), Some(Entry::Folder { .. })) {
            return Ok((Vec::new(), false));
        }
        let mut found = Vec::new();
        let mut more = false;
        let mut open = vec![glob.base.clone()];
        while let Some(folder) = open.pop() {
            let is_deep_enough = glob.levels.is_some_and(|levels| folder.depth() - glob.base.depth() + 1 >= levels);
            let mut inner = Vec::new();
            for name in self.names(&folder, frame) {
                frame.budget().work(ENTRY_WORK + glob.work(&folder, name))?;
                if glob.fits(&folder, name) {
                    if found.len() == limit {
                        more = true;
                        break;
                    }
                    found.push(folder.join(name).as_str().into());
                }
                // What kind of entry a name stands for only changes with the membership, which is noted.
                if !is_deep_enough && matches!(self.peek_in(&folder, name), Some(Entry::Folder { .. })) {
                    inner.push(folder.join(name));
                }
            }
            if more {
                break;
            }
            open.extend(inner.into_iter().rev());
        }
        Ok((found, more))
    }

    /// Returns the lines that `search` finds. Reads the content of the folders that it went through, and the files with a match.
    pub(super) fn search(&self, search: &Search<'_>, context: &Context<'_>) -> Result<Value, Rejection> {
        let (needle, mut bytes_left) = compile(search)?;
        let glob = search.glob.map(|glob| Glob::parse(&search.path, glob)).transpose()?;
        let mut matches = Vec::new();
        let mut stopped = false;
        let mut look_in = |path: &EntryPath, content: &Content| -> Result<ControlFlow<()>, Rejection> {
            if content.bytes() > bytes_left {
                return Ok(ControlFlow::Break(()));
            }
            bytes_left -= content.bytes();
            let bytes = context.load(content)?;
            let Some((text, _)) = decode(&bytes) else { return Ok(ControlFlow::Continue(())) };
            for (index, line) in without_mark(&text).lines().enumerate() {
                context.budget().work(needle.work_per_byte * (1 + line.len() as u64))?;
                if !needle.is_match(line) {
                    continue;
                }
                if matches.len() == search.limit {
                    return Ok(ControlFlow::Break(()));
                }
                self.look(path, context.frame);
                let text = cut_to(line, SEARCH_LINE_BYTES_MAX);
                matches.push(map! { "path" => path.as_str(), "line" => index + 1, "text" => text });
            }
            Ok(ControlFlow::Continue(()))
        };
        match self.look(&search.path, context.frame) {
            None => return Err(not_found(&search.path)),
            Some(Entry::File(file)) => stopped = look_in(&search.path, &file.content)?.is_break(),
            Some(Entry::Folder { .. }) => {
                let mut open = vec![search.path.clone()];
                'folders: while let Some(folder) = open.pop() {
                    let mut inner = Vec::new();
                    for (name, entry) in self.scan(&folder, context.frame) {
                        context.budget().work(ENTRY_WORK + glob.as_ref().map_or(0, |glob| glob.work(&folder, name)))?;
                        match entry {
                            Entry::Folder { .. } => inner.push(folder.join(name)),
                            Entry::File(file) => {
                                if glob.as_ref().is_some_and(|glob| !glob.fits(&folder, name)) {
                                    continue;
                                }
                                if look_in(&folder.join(name), &file.content)?.is_break() {
                                    stopped = true;
                                    break 'folders;
                                }
                            }
                        }
                    }
                    open.extend(inner.into_iter().rev());
                }
            }
        }
        Ok(map! { "matches" => matches, "truncated" => stopped })
    }
}

/// A glob pattern and where it can fit.
struct Glob {
    matcher: GlobMatcher,
    /// The deepest folder that holds everything that can fit.
    base: EntryPath,
    /// How many levels below `base` lie what can fit, unless the pattern reaches any depth.
    levels: Option<usize>,
    /// Whether the pattern is held against names instead of paths.
    by_name: bool,
}

impl Glob {
    fn parse(below: &EntryPath, pattern: &str) -> Result<Self, Rejection> {
        if pattern.is_empty() || pattern.len() > PATTERN_BYTES_MAX {
            return Err(bad_pattern(format!("a pattern holds 1 to {PATTERN_BYTES_MAX} bytes; shorten it")));
        }
        let pattern = &*composed(pattern);
        let by_name = !pattern.contains('/');
        let pattern = &*plain(pattern);
        let (mut base, mut rest) = match pattern.strip_prefix('/') {
            Some(rest) => (EntryPath::default(), rest),
            None => (below.clone(), pattern),
        };
        // Folders that the pattern names outright need not be searched for.
        while let Some((name, tail)) = rest.split_once('/') {
            if matches!(name, "" | "." | "..") || name.contains(['*', '?', '[', ']', '{', '}', '\\']) {
                break;
            }
            base = base.join(name);
            rest = tail;
        }
        // A bracket or a brace may hold a '/': then names cannot be told apart by it.
        let any_depth = by_name || rest.contains("**") || rest.contains(['{', '[']);
        let levels = (!any_depth).then(|| rest.split('/').count());
        let matcher = GlobBuilder::new(rest)
            .literal_separator(true)
            .backslash_escape(true)
            .build()
            .map_err(|error| {
                bad_pattern(format!("the pattern {pattern:?} cannot be used ({}); correct it", error.kind()))
            })?
            .compile_matcher();
        Ok(Self { matcher, base, levels, by_name })
    }

    /// Returns what it costs to find out whether the name in `folder` fits.
    fn work(&self, folder: &EntryPath, name: &str) -> u64 {
        let between =
            if self.by_name { 0 } else { folder.stem().len() - self.base.stem().len().min(folder.stem().len()) };
        GLOB_WORK_PER_BYTE * (between + name.len()) as u64
    }

    fn fits(&self, folder: &EntryPath, name: &SmolStr) -> bool {
        if self.by_name {
            return self.matcher.is_match(name.as_str());
        }
        match folder.stem().strip_prefix(self.base.stem()) {
            Some("") => self.matcher.is_match(name.as_str()),
            Some(between) if between.starts_with('/') => self.matcher.is_match(format!("{}/{name}", &between[1..])),
            Some(_) | None => false,
        }
    }
}

/// What a line must match.
struct Needle {
    kind: NeedleKind,
    /// What it costs to hold a byte of a line against it.
    work_per_byte: u64,
}

enum NeedleKind {
    /// A text, or a text without regard to case, folded.
    Text {
        finder: Box<Finder<'static>>,
        is_folded: bool,
    },
    Regex(Box<Regex>),
}

impl Needle {
    /// Returns whether `line` matches, whichever way its letters and their marks were written.
    fn is_match(&self, line: &str) -> bool {
        match &self.kind {
            NeedleKind::Text { finder, is_folded: true } if line.is_ascii() => {
                finder.find(&line.as_bytes().to_ascii_lowercase()).is_some()
            }
            NeedleKind::Text { finder, is_folded: true } => finder.find(folded(line).as_bytes()).is_some(),
            NeedleKind::Text { finder, is_folded: false } => finder.find(composed(line).as_bytes()).is_some(),
            NeedleKind::Regex(regex) => regex.is_match(&composed(line)),
        }
    }
}

/// Returns what a line must match, and how many bytes may be read for it.
fn compile(search: &Search<'_>) -> Result<(Needle, u64), Rejection> {
    let query = &*composed(search.query);
    if query.is_empty() || query.len() > PATTERN_BYTES_MAX {
        return Err(bad_pattern(format!("a query holds 1 to {PATTERN_BYTES_MAX} bytes; shorten it")));
    }
    if !search.is_regex {
        let is_folded = search.ignore_case;
        let text = if is_folded { folded(query) } else { query.to_owned() };
        let kind = NeedleKind::Text { finder: Box::new(Finder::new(text.as_bytes()).into_owned()), is_folded };
        return Ok((Needle { kind, work_per_byte: 1 + u64::from(is_folded) }, SEARCH_BYTES_MAX));
    }
    let source = query;
    let regex = |regex, work_per_byte| Needle { kind: NeedleKind::Regex(Box::new(regex)), work_per_byte };
    let build = |bytes_max| {
        RegexBuilder::new(source)
            .case_insensitive(search.ignore_case)
            .size_limit(bytes_max)
            .dfa_size_limit(REGEX_BYTES_MAX)
            .build()
    };
    if let Ok(light) = build(REGEX_LIGHT_BYTES_MAX) {
        return Ok((regex(light, LIGHT_WORK_PER_BYTE), SEARCH_BYTES_MAX));
    }
    match build(REGEX_BYTES_MAX) {
        Ok(heavy) => Ok((regex(heavy, HEAVY_WORK_PER_BYTE), SEARCH_HEAVY_BYTES_MAX)),
        Err(regex::Error::CompiledTooBig(_)) => {
            Err(bad_pattern("the regular expression is too large; use smaller repetitions".to_owned()))
        }
        Err(error) => {
            let text = error.to_string();
            let reason = text.lines().last().unwrap_or_default().trim().trim_start_matches("error: ");
            Err(bad_pattern(format!(
                "the regular expression cannot be used ({reason}); correct it, or leave 'regex' out"
            )))
        }
    }
}

/// Returns a pattern that says the same to the library as to people: `./` is no folder, and a brace that lists no alternatives is one.
fn plain(pattern: &str) -> Cow<'_, str> {
    let is_plain = |text: &str| !text.contains(['{', '}']) && !text.starts_with("./") && !text.contains("/./");
    if is_plain(pattern) {
        return Cow::Borrowed(pattern);
    }
    let bytes = pattern.as_bytes();
    let pairs = lists(bytes);
    let mut out = Vec::with_capacity(bytes.len() + 8);
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let begins_name = at == 0 || bytes[at - 1] == b'/';
        match byte {
            b'.' if begins_name && bytes.get(at + 1) == Some(&b'/') => at += 1,
            b'\\' => {
                out.extend(bytes.get(at..at + 2).unwrap_or(b"\\"));
                at += 1;
            }
            b'{' | b'}' if !pairs.contains(&at) => out.extend([b'\\', byte]),
            byte => out.push(byte),
        }
        at += 1;
    }
    Cow::Owned(String::from_utf8_lossy(&out).into_owned())
}

/// Returns where the braces stand that begin and end a list of alternatives, or stand in brackets, where they mean themselves.
fn lists(pattern: &[u8]) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    // The open braces, and whether there was a comma.
    let mut open: Vec<(usize, bool)> = Vec::new();
    let mut at = 0;
    while let Some(byte) = pattern.get(at) {
        match byte {
            b'\\' => at += 1,
            b'[' => {
                // A bracket that is first in a class belongs to it.
                let first = at + 1 + usize::from(matches!(pattern.get(at + 1), Some(b'!' | b'^')));
                if let Some(end) = pattern.iter().skip(first + 1).position(|byte| *byte == b']') {
                    found.extend((at..first + 1 + end).filter(|inside| matches!(pattern[*inside], b'{' | b'}')));
                    at = first + 1 + end;
                }
            }
            b'{' => open.push((at, false)),
            b',' => open.last_mut().into_iter().for_each(|(_, has_comma)| *has_comma = true),
            b'}' => {
                if let Some((start, true)) = open.pop() {
                    found.extend([start, at]);
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

fn bad_pattern(message: String) -> Rejection {
    Rejection::new("files/bad-pattern", message)
}
