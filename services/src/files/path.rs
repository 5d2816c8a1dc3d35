//! Paths of the workspace: absolute, `/`-separated, normalised, and unable to leave it. Not paths of the host.

use std::borrow::Borrow;
use std::fmt;

use dayshift_engine::{Rejection, SmolStr};
use serde::{Deserialize, Serialize};
use smol_str::SmolStrBuilder;

use crate::lowercase::composed;

/// The longest path, in bytes.
pub const PATH_BYTES_MAX: usize = 1024;
/// The longest name of one file or folder, in bytes.
pub const NAME_BYTES_MAX: usize = 255;
/// How many names a path may hold.
pub const DEPTH_MAX: usize = 32;

/// A canonical path, such as `/reports/march.csv`. The workspace itself is the empty text inside and prints as `/`, so that the text of a
/// folder followed by `/` starts the path of everything in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EntryPath(#[serde(deserialize_with = "canonical")] SmolStr);

impl EntryPath {
    /// Returns the path that `text` names. `.` and `..` are resolved, and one `/` at the end is left out. A letter and its marks are one character, however
    /// they were written: two spellings of a name that look alike are one name.
    ///
    /// # Errors
    ///
    /// `files/bad-path`, `files/path-too-long` or `files/path-too-deep`.
    pub fn parse(text: &str) -> Result<Self, Rejection> {
        let text = &*composed(text);
        if text.len() > PATH_BYTES_MAX {
            return Err(Rejection::new(
                "files/path-too-long",
                format!("a path may hold at most {PATH_BYTES_MAX} bytes; use shorter names"),
            ));
        }
        let Some(inner) = text.strip_prefix('/') else {
            return Err(bad_path(text, "it must be absolute: start it with '/'"));
        };
        let inner = inner.strip_suffix('/').unwrap_or(inner);
        if inner.is_empty() {
            return if text == "//" { Err(bad_path(text, EMPTY_NAME)) } else { Ok(Self::default()) };
        }
        let mut depth: usize = 0;
        let mut dotted = false;
        for name in inner.split('/') {
            check_name(name, text)?;
            dotted |= matches!(name, "." | "..");
            depth += 1;
        }
        if dotted {
            return Self::resolve(inner, text);
        }
        check_depth(depth)?;
        Ok(Self(SmolStr::from(&text[..=inner.len()])))
    }

    /// Returns the path as text: `/` for the workspace itself.
    #[must_use]
    pub fn as_str(&self) -> &str {
        if self.is_root() { "/" } else { &self.0 }
    }

    /// Returns the path as text that is empty for the workspace itself.
    #[must_use]
    pub fn stem(&self) -> &str {
        &self.0
    }

    /// Returns whether this is the workspace itself.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the [`Self::stem`] of the folder that holds this and the name that it has there; nothing for the workspace itself.
    #[must_use]
    pub fn split(&self) -> Option<(&str, &str)> {
        self.0.rsplit_once('/')
    }

    /// Returns the name in the folder that holds this; empty for the workspace itself.
    #[must_use]
    pub fn name(&self) -> &str {
        self.split().map_or("", |(_, name)| name)
    }

    /// Returns the folder that holds this; nothing for the workspace itself.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        self.split().map(|(parent, _)| Self(SmolStr::from(parent)))
    }

    /// Returns how many names the path holds.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.0.bytes().filter(|byte| *byte == b'/').count()
    }

    /// Returns whether `other` is this or lies in it at any depth.
    #[must_use]
    pub fn holds(&self, other: &Self) -> bool {
        other.0.strip_prefix(self.0.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Returns the path of the entry `name` of this folder. `name` is one that an entry has.
    #[must_use]
    pub fn join(&self, name: &str) -> Self {
        let mut text = SmolStrBuilder::new();
        text.push_str(&self.0);
        text.push('/');
        text.push_str(name);
        Self(text.finish())
    }

    /// Returns this path with `suffix`, which is empty or starts with `/`, at its end. `suffix` comes from another path.
    pub(super) fn with_suffix(&self, suffix: &str) -> Self {
        if suffix.is_empty() {
            return self.clone();
        }
        Self(format!("{}{suffix}", self.0).into())
    }

    /// Refuses a path that is too long or too deep, which only moving and copying can make.
    pub(super) fn check_limits(bytes: usize, depth: usize) -> Result<(), Rejection> {
        if bytes > PATH_BYTES_MAX {
            return Err(Rejection::new(
                "files/path-too-long",
                format!("a path would be {bytes} bytes long, over {PATH_BYTES_MAX}; choose a shorter target"),
            ));
        }
        check_depth(depth)
    }

    fn resolve(inner: &str, text: &str) -> Result<Self, Rejection> {
        let mut names = Vec::new();
        for name in inner.split('/') {
            match name {
                "." => {}
                ".." => {
                    names.pop().ok_or_else(|| bad_path(text, "'..' climbs out of the workspace; stay below '/'"))?;
                }
                name => names.push(name),
            }
        }
        check_depth(names.len())?;
        Ok(names.iter().fold(Self::default(), |path, name| path.join(name)))
    }
}

impl fmt::Display for EntryPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl Borrow<str> for EntryPath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

const EMPTY_NAME: &str = "a name between two '/' is empty; leave one '/' out";

fn check_name(name: &str, text: &str) -> Result<(), Rejection> {
    if name.is_empty() {
        return Err(bad_path(text, EMPTY_NAME));
    }
    if name.len() > NAME_BYTES_MAX {
        return Err(Rejection::new(
            "files/path-too-long",
            format!("a name may hold at most {NAME_BYTES_MAX} bytes; use a shorter one"),
        ));
    }
    if name == "*" {
        // Its key would be that of the folder's scan.
        return Err(bad_path(text, "no file can be called '*'; use files.find for patterns"));
    }
    if name.bytes().any(|byte| byte == 0) {
        return Err(bad_path(text, "it holds a NUL character; leave it out"));
    }
    Ok(())
}

fn check_depth(depth: usize) -> Result<(), Rejection> {
    if depth > DEPTH_MAX {
        return Err(Rejection::new(
            "files/path-too-deep",
            format!("a path may hold at most {DEPTH_MAX} names, this one holds {depth}; use fewer folders"),
        ));
    }
    Ok(())
}

fn bad_path(text: &str, why: &str) -> Rejection {
    Rejection::new("files/bad-path", format!("the path {text:?} cannot be used: {why}"))
}

/// Reads a path of a stored event, which must be canonical already but for the spelling of its characters, which older logs have as it came: a log that says
/// otherwise is damaged.
fn canonical<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<SmolStr, D::Error> {
    let text = SmolStr::deserialize(deserializer)?;
    if text.is_empty() {
        return Ok(text);
    }
    match EntryPath::parse(&text) {
        Ok(path) if path.0 == text => Ok(text),
        Ok(path) if *path.0 == *composed(&text) => Ok(path.0),
        Ok(_) | Err(_) => Err(serde::de::Error::custom(format!("the path {text:?} is not canonical"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<String, String> {
        EntryPath::parse(text).map(|path| path.to_string()).map_err(|rejection| rejection.code.into_owned())
    }

    #[test]
    fn a_path_is_normalised() {
        assert_eq!(parsed("/a/b.txt").as_deref(), Ok("/a/b.txt"));
        assert_eq!(parsed("/a/./x/../b.txt").as_deref(), Ok("/a/b.txt"));
        assert_eq!(parsed("/a/b/").as_deref(), Ok("/a/b"));
        assert_eq!(parsed("/").as_deref(), Ok("/"));
        assert_eq!(parsed("/a/..").as_deref(), Ok("/"));
        assert_eq!(parsed("/re\u{301}sume\u{301}.txt").as_deref(), Ok("/résumé.txt"));
    }

    #[test]
    fn a_path_that_climbs_out_or_is_malformed_is_refused() {
        for text in ["", "a", "../a", "/..", "/a/../../b", "//", "/a//b", "//a", "/a\0b", "/*", "/a/*/b"] {
            assert_eq!(parsed(text), Err("files/bad-path".to_owned()), "{text:?}");
        }
    }

    #[test]
    fn length_and_depth_are_refused_above_their_limits_only() {
        let name = "n".repeat(NAME_BYTES_MAX);
        assert!(parsed(&format!("/{name}")).is_ok());
        assert_eq!(parsed(&format!("/{name}n")), Err("files/path-too-long".to_owned()));
        let long = format!("/{name}").repeat(4);
        assert_eq!(long.len(), PATH_BYTES_MAX);
        assert!(parsed(&long).is_ok());
        assert_eq!(parsed(&format!("{long}/")), Err("files/path-too-long".to_owned()));
        assert!(parsed(&"/d".repeat(DEPTH_MAX)).is_ok());
        assert_eq!(parsed(&"/d".repeat(DEPTH_MAX + 1)), Err("files/path-too-deep".to_owned()));
    }

    #[test]
    fn a_folder_holds_itself_and_what_lies_in_it_only() {
        let path = |text| EntryPath::parse(text).expect("a good path");
        assert!(path("/a").holds(&path("/a")) && path("/a").holds(&path("/a/b")) && path("/").holds(&path("/a")));
        assert!(!path("/a").holds(&path("/ab")) && !path("/a/b").holds(&path("/a")));
    }

    proptest::proptest! {
        #[test]
        fn every_accepted_path_is_canonical(text in "[/.a*\\u{0}é]{0,12}") {
            if let Ok(path) = EntryPath::parse(&text) {
                proptest::prop_assert_eq!(EntryPath::parse(path.as_str()), Ok(path.clone()));
                proptest::prop_assert!(!path.as_str().split('/').any(|name| name == ".."));
            }
        }
    }
}
