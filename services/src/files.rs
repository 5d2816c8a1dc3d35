//! The workspace: a tree of folders and files. The bytes of small files lie in the events that wrote them, those of large ones are blobs,
//! named by their content. It never touches the host's file system.
//!
//! Keys: `files:/a/b.txt` is a file or folder, `files:/a/` the membership of a folder, `files:/a/*` the content of its members. Writing a
//! file writes its own key and its folder's scan key; creating and deleting also the folder's membership.

mod decide;
mod document;
mod event;
mod keys;
mod name;
mod outside;
mod path;
mod query;
mod read;
mod search;
mod state;
mod text;
mod tools;
mod tree;

use dayshift_engine::{
    Applying, Context, Decision, Difference, Looking, Rejection, StateDigest, ToolCall, ToolSpec, Value,
};

use crate::service::{Desk, Service};

pub use document::{
    DOCUMENT_CELLS_MAX, DOCUMENT_PARTS_MAX, DOCUMENT_TEXT_BYTES_MAX, DOCUMENT_UNPACKED_BYTES_MAX, PDF_PAGES_MAX,
};
pub use event::FilesEvent;
pub(crate) use name::file_name;
pub use outside::HostChange;
pub use path::{DEPTH_MAX, EntryPath, NAME_BYTES_MAX, PATH_BYTES_MAX};
pub use state::FilesState;
pub use tree::TreeEntry;

/// The largest file, in bytes (8 MiB).
pub const FILE_BYTES_MAX: usize = 8 << 20;
/// How many files and folders one folder may hold.
pub const FOLDER_ENTRIES_MAX: usize = 20_000;
/// How many files and folders a workspace may hold.
pub const ENTRIES_MAX: usize = 100_000;
/// How many files and folders one move, copy or deletion may take along.
pub const SUBTREE_ENTRIES_MAX: usize = 10_000;
/// How many entries one `files.list` shows.
pub const LIST_ENTRIES_MAX: usize = 1000;
/// How many lines one `files.read` shows.
pub const READ_LINES_MAX: usize = 2000;
/// How many bytes of text one `files.read` shows (256 KiB).
pub const READ_TEXT_BYTES_MAX: usize = 256 << 10;
/// How many bytes one `files.read` shows as base64 (64 KiB).
pub const READ_BINARY_BYTES_MAX: usize = 64 << 10;
/// The largest picture that one `files.read` shows, in bytes (3 MiB; a third more as base64).
pub const IMAGE_BYTES_MAX: usize = 3 << 20;
/// How many paths one `files.find` returns.
pub const FIND_RESULTS_MAX: usize = 1000;
/// The longest glob pattern, text or regular expression that is looked for, in bytes.
pub const PATTERN_BYTES_MAX: usize = 1024;
/// How many matching lines one `files.search` returns.
pub const SEARCH_MATCHES_MAX: usize = 500;
/// How much of a matching line `files.search` shows, in bytes.
pub const SEARCH_LINE_BYTES_MAX: usize = 400;
/// How many bytes of content one `files.search` reads before it stops (16 MiB).
pub const SEARCH_BYTES_MAX: u64 = 16 << 20;
/// The same for a regular expression whose program is larger than [`REGEX_LIGHT_BYTES_MAX`] (1 MiB).
pub const SEARCH_HEAVY_BYTES_MAX: u64 = 1 << 20;
/// The largest program of a regular expression, in bytes (256 KiB).
pub const REGEX_BYTES_MAX: usize = 256 << 10;
/// The largest program that counts as light, in bytes (32 KiB).
pub const REGEX_LIGHT_BYTES_MAX: usize = 32 << 10;
/// The permission bits of a file that did not bring its own.
pub const MODE_DEFAULT: u32 = 0o644;

impl Service for FilesState {
    type Event = FilesEvent;

    const TOOLS: &'static [ToolSpec] = tools::TOOLS;

    fn decide(&self, call: &ToolCall, desk: &Desk, context: &Context<'_>) -> Result<Decision<FilesEvent>, Rejection> {
        self.decide_command(tools::Command::parse(call)?, desk, context)
    }

    fn apply(&mut self, event: FilesEvent, applying: &mut Applying<'_>) {
        self.change(event, applying);
    }

    fn query(&self, verb: &str, arguments: &Value, desk: &Desk, looking: &Looking<'_>) -> Result<Value, Rejection> {
        self.answer_question(verb, arguments, desk, looking)
    }

    fn digest(&self) -> StateDigest {
        self.total()
    }

    fn differences(&self, other: &Self, into: &mut Vec<Difference>) {
        self.compare(other, into);
    }

    fn dump(&self) -> Value {
        self.show()
    }
}

#[cfg(test)]
mod tests;
