//! The workspace and the host: what is laid out for a program that runs over a copy of it, and what is taken over of what the program changed.

use std::collections::{BTreeMap, BTreeSet};

use dayshift_engine::{BlobId, CONTENT_INLINE_BYTES_MAX, Content, Context, ErrandEntry, Frame, Rejection};

use super::event::FilesEvent;
use super::path::EntryPath;
use super::state::{Entry, FilesState, is_a_folder, not_found};
use super::{ENTRIES_MAX, FILE_BYTES_MAX, FOLDER_ENTRIES_MAX};

/// A change that a program made to a copy of the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostChange<'a> {
    /// What was at this path is gone.
    Deleted(&'a str),
    /// There is a folder.
    Folder(&'a str),
    /// There is a file with the content that this blob has.
    File {
        /// Its path.
        path: &'a str,
        /// Its content.
        blob: BlobId,
        /// Its permission bits.
        mode: u32,
    },
}

impl FilesState {
    /// Returns the canonical path of the folder `path`, and notes the read.
    ///
    /// # Errors
    ///
    /// The codes of [`EntryPath::parse`], `files/not-found` or `files/not-a-folder`.
    pub fn folder(&self, path: &str, frame: &Frame) -> Result<EntryPath, Rejection> {
        let path = EntryPath::parse(path)?;
        match self.look(&path, frame) {
            Some(Entry::Folder { .. }) => Ok(path),
            Some(Entry::File(_)) => {
                Err(Rejection::new("files/not-a-folder", format!("{path} is a file; name the folder that holds it")))
            }
            None => Err(not_found(&path)),
        }
    }

    /// Returns everything in the workspace, each folder before what is in it, and notes that all of it was looked at.
    ///
    /// # Errors
    ///
    /// `files/too-much-to-copy` when there are more than `entries_max` entries or they hold more than `bytes_max` bytes.
    pub fn lay_out(&self, entries_max: usize, bytes_max: u64, frame: &Frame) -> Result<Vec<ErrandEntry>, Rejection> {
        let mut entries = Vec::new();
        let mut bytes = 0;
        let mut open = vec![EntryPath::default()];
        while let Some(folder) = open.pop() {
            for (name, entry) in self.scan(&folder, frame) {
                let path = folder.join(name);
                let (content, mode, modified) = match entry {
                    Entry::File(file) => (Some(file.content.clone()), file.mode, file.modified),
                    Entry::Folder { modified } => (None, 0o755, *modified),
                };
                bytes += content.as_ref().map_or(0, Content::bytes);
                if content.is_none() {
                    open.push(path.clone());
                }
                entries.push(ErrandEntry { path: path.as_str().into(), content, mode, modified });
                if entries.len() > entries_max || bytes > bytes_max {
                    return Err(Rejection::new(
                        "files/too-much-to-copy",
                        format!(
                            "the workspace holds more than {entries_max} entries or {bytes_max} bytes, too much to copy for a program; delete some, or use the other tools"
                        ),
                    ));
                }
            }
        }
        entries.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(entries)
    }

    /// Returns the events that make the workspace what `changes` say: deletions, then folders, then files, each in the order of their paths.
    ///
    /// # Errors
    ///
    /// The codes of [`EntryPath::parse`], `files/too-large`, `files/is-a-folder`, `files/folder-full` and `files/workspace-full`; then nothing
    /// of it is taken over.
    pub fn take_over<'c>(
        &self,
        changes: impl IntoIterator<Item = HostChange<'c>>,
        context: &Context<'_>,
    ) -> Result<Vec<FilesEvent>, Rejection> {
        let mut deleted = BTreeSet::new();
        let mut folders = BTreeSet::new();
        let mut files = BTreeMap::new();
        for change in changes {
            match change {
                HostChange::Deleted(path) => drop(deleted.insert(EntryPath::parse(path)?)),
                HostChange::Folder(path) => drop(folders.insert(EntryPath::parse(path)?)),
                HostChange::File { path, blob, mode } => {
                    context.frame.note_blob(blob);
                    files.insert(EntryPath::parse(path)?, (blob, mode & 0o777));
                }
            }
        }
        self.check_changes(&deleted, &folders, &files)?;
        let mut events: Vec<FilesEvent> = deleted
            .iter()
            .filter(|path| !path.is_root() && self.peek(path).is_some())
            .map(|path| FilesEvent::EntryDeleted { path: path.clone() })
            .collect();
        events.extend(folders.into_iter().map(|path| FilesEvent::FolderMade { path }));
        for (path, (blob, mode)) in files {
            let bytes = context.load(&Content::Blob { id: blob, bytes: 0 })?;
            if bytes.len() > FILE_BYTES_MAX {
                return Err(Rejection::new(
                    "files/too-large",
                    format!("{path} would be {} bytes long, over {FILE_BYTES_MAX}; write smaller files", bytes.len()),
                ));
            }
            let content = if bytes.len() <= CONTENT_INLINE_BYTES_MAX {
                Content::Inline(bytes)
            } else {
                Content::Blob { id: blob, bytes: bytes.len() as u64 }
            };
            events.push(FilesEvent::FileWritten { path, content, mode, modified: None });
        }
        Ok(events)
    }

    /// Refuses changes that would leave no tree, or more of one than fits.
    fn check_changes(
        &self,
        deleted: &BTreeSet<EntryPath>,
        folders: &BTreeSet<EntryPath>,
        files: &BTreeMap<EntryPath, (BlobId, u32)>,
    ) -> Result<(), Rejection> {
        let mut added: BTreeMap<EntryPath, usize> = BTreeMap::new();
        for path in folders.iter().chain(files.keys()) {
            let is_folder = folders.contains(path);
            if path.is_root() || (is_folder && files.contains_key(path)) {
                return Err(is_a_folder(path));
            }
            let gone = std::iter::successors(Some(path.clone()), EntryPath::parent).any(|path| deleted.contains(&path));
            match self.peek(path).filter(|_| !gone) {
                Some(Entry::Folder { .. }) if !is_folder => return Err(is_a_folder(path)),
                Some(_) => {}
                None => *added.entry(path.parent().unwrap_or_default()).or_default() += 1,
            }
        }
        if let Some((folder, _)) =
            added.iter().find(|(folder, count)| self.peek_len(folder) + **count > FOLDER_ENTRIES_MAX)
        {
            return Err(Rejection::new(
                "files/folder-full",
                format!("{folder} would hold more than {FOLDER_ENTRIES_MAX} entries; use several folders"),
            ));
        }
        if self.entries() + added.values().sum::<usize>() > ENTRIES_MAX {
            return Err(Rejection::new(
                "files/workspace-full",
                format!("the workspace would hold more than {ENTRIES_MAX} entries; delete some first"),
            ));
        }
        Ok(())
    }
}
