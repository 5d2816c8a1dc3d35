//! What happens to the workspace: the facts that its state is a fold of. They hold no bytes of large files, only the names of their blobs.

use dayshift_engine::{Content, SimTime};
use serde::{Deserialize, Serialize};

use super::path::EntryPath;

/// One fact about the workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FilesEvent {
    /// A file has a new content, whether it was there before or not.
    FileWritten {
        /// The file.
        path: EntryPath,
        /// The whole content.
        content: Content,
        /// The permission bits, such as 0o644.
        mode: u32,
        /// When the content was last changed, if that was not now: an imported file keeps its time.
        modified: Option<SimTime>,
    },
    /// A folder is there.
    FolderMade {
        /// The folder.
        path: EntryPath,
    },
    /// A file or a folder with all that is in it stands elsewhere, and replaced a file that stood there.
    EntryMoved {
        /// Where it stood.
        source: EntryPath,
        /// Where it stands.
        target: EntryPath,
    },
    /// A file or a folder with all that is in it stands elsewhere too, and replaced a file that stood there.
    EntryCopied {
        /// Where it stands.
        source: EntryPath,
        /// Where the copy stands.
        target: EntryPath,
    },
    /// A file or a folder with all that is in it is gone.
    EntryDeleted {
        /// Where it stood.
        path: EntryPath,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_round_trips_and_a_path_that_is_not_canonical_is_refused() {
        let path = EntryPath::parse("/a").expect("a good path");
        let event = FilesEvent::EntryMoved { source: path, target: EntryPath::default() };
        let stored = rmp_serde::to_vec_named(&event).expect("an event can be stored");
        assert_eq!(rmp_serde::from_slice::<FilesEvent>(&stored).ok(), Some(event));
        let mut damaged = stored;
        let at = damaged.windows(2).position(|pair| pair == b"/a").expect("the path is in there");
        damaged[at] = b'a';
        assert!(rmp_serde::from_slice::<FilesEvent>(&damaged).is_err());
    }
}
