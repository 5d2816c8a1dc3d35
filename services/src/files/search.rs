//! Looking through the tree: by name (`files.find`) and by content (`files.search`). Both go through a folder's entries in order of their
//! names, then through its folders in that order.

use std::ops::ControlFlow;

use dayshift_engine::{Content, Context, Frame, Rejection, SmolStr, Value, map};
use globset::{GlobBuilder, GlobMatcher};
use regex::{Regex, RegexBuilder};

use super::path::EntryPath;
use super::state::{Entry, FilesState, not_found};
use super::text::{cut_to, decode, without_mark};
use super::tools::Search;
use super::{
    PATTERN_BYTES_MAX, REGEX_BYTES_MAX, REGEX_LIGHT_BYTES_MAX, SEARCH_BYTES_MAX, SEARCH_HEAVY_BYTES_MAX,
    SEARCH_LINE_BYTES_MAX,
};

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
        let by_name = !pattern.contains('/');
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

/// Returns what a line must match, and how many bytes may be read for it.
fn compile(search: &Search<'_>) -> Result<(Regex, u64), Rejection> {
    let query = search.query;
    if query.is_empty() || query.len() > PATTERN_BYTES_MAX {
        return Err(bad_pattern(format!("a query holds 1 to {PATTERN_BYTES_MAX} bytes; shorten it")));
    }
    let source = if search.is_regex { query.to_owned() } else { regex::escape(query) };
    let build = |bytes_max| {
        RegexBuilder::new(&source)
            .case_insensitive(search.ignore_case)
            .size_limit(bytes_max)
            .dfa_size_limit(REGEX_BYTES_MAX)
            .build()
    };
    if let Ok(light) = build(REGEX_LIGHT_BYTES_MAX) {
        return Ok((light, SEARCH_BYTES_MAX));
    }
    match build(REGEX_BYTES_MAX) {
        Ok(heavy) => Ok((heavy, SEARCH_HEAVY_BYTES_MAX)),
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

fn bad_pattern(message: String) -> Rejection {
    Rejection::new("files/bad-pattern", message)
}
