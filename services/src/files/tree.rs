//! The whole workspace at once, for doors that lay it out on a disk.

use dayshift_engine::{Content, Seq, SimTime};

use super::state::{Entry, FilesState};

/// One file or folder of the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeEntry {
    /// Its path, from the root: `/a/b.txt`.
    pub path: String,
    /// Its content and permission bits; nothing for a folder.
    pub file: Option<(Content, u32)>,
    /// When it was last changed.
    pub modified: SimTime,
    /// The record that last wrote it.
    pub written: Seq,
}

impl FilesState {
    /// Returns every file and folder but the root, a folder ahead of what it holds. Notes no read: who looks at the laid-out files notes those.
    #[must_use]
    pub fn tree(&self) -> Vec<TreeEntry> {
        let mut found = Vec::with_capacity(self.entries());
        self.peek_folders(|stem, members| {
            for (name, entry) in members.peek_all() {
                let (file, modified) = match entry {
                    Entry::File(file) => (Some((file.content.clone(), file.mode)), file.modified),
                    Entry::Folder { modified } => (None, *modified),
                };
                found.push(TreeEntry {
                    path: format!("{stem}/{name}"),
                    file,
                    modified,
                    written: members.written(name),
                });
            }
        });
        found.sort_by(|one, other| one.path.cmp(&other.path));
        found
    }
}
