//! The keys of the workspace: `files:/a/b.txt` a file or folder, `files:/a/` a folder's membership, `files:/a/*` the content of all its
//! members.

use dayshift_engine::{Key, SmolStr};
use smol_str::SmolStrBuilder;

use super::path::EntryPath;

/// Returns the start of the keys of everything in the folder whose path has the stem `stem`; also the key of its membership.
pub(super) fn prefix(stem: &str) -> SmolStr {
    text(&["files:", stem, "/"])
}

/// Returns the key of the file or folder at `path`.
pub(super) fn item(path: &EntryPath) -> Key {
    Key::new(text(&["files:", path.as_str()]))
}

fn text(parts: &[&str]) -> SmolStr {
    let mut text = SmolStrBuilder::new();
    parts.iter().for_each(|part| text.push_str(part));
    text.finish()
}
