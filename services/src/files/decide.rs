//! What follows from a command on the workspace: events and an answer, or a refusal.

use dayshift_engine::{
    BlobId, CONTENT_INLINE_BYTES_MAX, Content, Context, Decision, Frame, Rejection, SimTime, Value, map,
};

use super::document;
use super::event::FilesEvent;
use super::path::EntryPath;
use super::state::{Entry, File, FilesState, is_a_folder, not_found, show_mode};
use super::text::{Encoding, decode, encode, is_crlf, line_at, to_crlf};
use super::tools::{self, Command, Transfer};
use super::{ENTRIES_MAX, FILE_BYTES_MAX, FOLDER_ENTRIES_MAX, MODE_DEFAULT, SUBTREE_ENTRIES_MAX};
use crate::lowercase::composed;
use crate::service::Desk;

type Decided = Result<Decision<FilesEvent>, Rejection>;

/// How many places of an ambiguous edit are named.
const PLACES_SHOWN_MAX: usize = 5;

impl FilesState {
    /// Decides to write `bytes` to the file at `path`, for another service. Returns the events and the canonical path.
    ///
    /// # Errors
    ///
    /// The codes of [`EntryPath::parse`], `files/is-a-folder`, `files/not-a-folder`, `files/too-large`, `files/folder-full` and
    /// `files/workspace-full`.
    pub fn save(
        &self,
        path: &str,
        bytes: Vec<u8>,
        context: &Context<'_>,
    ) -> Result<(Vec<FilesEvent>, EntryPath), Rejection> {
        let path = tools::file_path(path)?;
        let (events, _) = self.write(&path, bytes, context)?;
        Ok((events, path))
    }

    pub(super) fn decide_command(&self, command: Command<'_>, desk: &Desk, context: &Context<'_>) -> Decided {
        match command {
            Command::List { path, after, limit } => self.decide_list(&path, after, limit, desk, context),
            Command::Stat { path } => {
                self.stat(&path, desk, context.frame).map(Decision::answer).ok_or_else(|| not_found(&path))
            }
            Command::ReadText { path, first, limit } => {
                self.read_text(&path, first, limit, context).map(Decision::answer)
            }
            Command::ReadBytes { path, start, limit } => {
                self.read_bytes(&path, start, limit, context).map(Decision::answer)
            }
            Command::Write { path, bytes } => {
                let length = bytes.len();
                let (events, created) = self.write(&path, bytes.into_owned(), context)?;
                Ok(Decision::change(events, written(&path, length, created)))
            }
            Command::Append { path, text } => self.decide_append(&path, text, context),
            Command::Edit { path, old, new, all } => self.decide_edit(&path, old, new, all, context),
            Command::Transfer(transfer) => self.decide_transfer(transfer, context.frame),
            Command::Delete { path, recursive } => self.decide_delete(path, recursive, context.frame),
            Command::MakeFolder { path } => self.decide_make_folder(path, context.frame),
            Command::Find { path, pattern, limit } => {
                let (found, more) = self.find(&path, pattern, limit, context.frame)?;
                Ok(Decision::answer(map! { "paths" => found, "truncated" => more }))
            }
            Command::Search(search) => self.search(&search, context).map(Decision::answer),
            Command::Import { path, blob, modified, mode } => self.decide_import(path, blob, modified, mode, context),
        }
    }

    /// Returns what is known of the entry at `path`, if there is one.
    pub(super) fn stat(&self, path: &EntryPath, desk: &Desk, frame: &Frame) -> Option<Value> {
        Some(match self.look(path, frame)? {
            Entry::File(file) => map! {
                "path" => path.as_str(),
                "kind" => "file",
                "bytes" => file.content.bytes(),
                "mode" => &*show_mode(file.mode),
                "modified" => desk.show(file.modified),
            },
            Entry::Folder { .. } => map! {
                "path" => path.as_str(),
                "kind" => "folder",
                "entries" => self.names(path, frame).count(),
            },
        })
    }

    fn decide_list(&self, path: &EntryPath, after: &str, limit: usize, desk: &Desk, context: &Context<'_>) -> Decided {
        self.check_folder(path, context.frame)?;
        let mut entries = Vec::new();
        let mut next = None;
        let after = &*composed(after);
        for name in self.names_after(path, after, context.frame) {
            if entries.len() == limit {
                next = entries.last().and_then(|entry: &Value| entry.get("name").cloned());
                break;
            }
            // The listing names it, so it is there.
            let Some(entry) = self.look(&path.join(name), context.frame) else { continue };
            entries.push(match entry {
                Entry::File(file) => map! {
                    "name" => name.clone(),
                    "kind" => "file",
                    "bytes" => file.content.bytes(),
                    "modified" => desk.show(file.modified),
                },
                Entry::Folder { .. } => map! { "name" => name.clone(), "kind" => "folder" },
            });
        }
        let total = self.peek_len(path);
        Ok(Decision::answer(map! { "path" => path.as_str(), "entries" => entries, "total" => total, "next" => next }))
    }

    fn decide_append(&self, path: &EntryPath, text: &str, context: &Context<'_>) -> Decided {
        let old = match self.look(path, context.frame) {
            Some(Entry::File(file)) => context.load(&file.content)?,
            Some(Entry::Folder { .. }) => return Err(is_a_folder(path)),
            None => [].into(),
        };
        let added = match decode(&old) {
            Some((old, encoding)) => {
                let text = if is_crlf(&old) { to_crlf(text) } else { text.into() };
                encode(text, encoding).map_err(|character| not_encodable(path, encoding, character))?
            }
            None => text.as_bytes().to_vec(),
        };
        let mut bytes = Vec::with_capacity(old.len() + added.len());
        bytes.extend_from_slice(&old);
        bytes.extend_from_slice(&added);
        let length = bytes.len();
        let (events, created) = self.write(path, bytes, context)?;
        Ok(Decision::change(events, written(path, length, created)))
    }

    fn decide_edit(&self, path: &EntryPath, old: &str, new: &str, all: bool, context: &Context<'_>) -> Decided {
        let bytes = context.load(&self.file(path, context.frame)?.content)?;
        let is_no_text = document::is_no_text(&bytes, context.budget())?;
        let Some((text, encoding)) = decode(&bytes).filter(|_| !is_no_text) else {
            return Err(Rejection::new(
                "files/not-text",
                format!("{path} is no text and cannot be edited; write it as a whole with base64"),
            ));
        };
        if old.is_empty() || old == new {
            return Err(Rejection::new(
                "files/bad-edit",
                "the old text must not be empty and must differ from the new one; use files.append to add text",
            ));
        }
        context.budget().work(text.len() as u64)?;
        let crlf = is_crlf(&text);
        let (old, new) = if crlf { (to_crlf(old), to_crlf(new)) } else { (old.into(), new.into()) };
        let count = text.matches(&*old).count();
        if count == 0 {
            return Err(Rejection::new(
                "files/no-match",
                format!("the old text does not stand in {path}; read the file and copy the text exactly"),
            ));
        }
        if count > 1 && !all {
            let places = text.match_indices(&*old).take(PLACES_SHOWN_MAX).map(|(at, _)| line_at(&text, at).to_string());
            let places: Vec<String> = places.collect();
            return Err(Rejection::new(
                "files/several-matches",
                format!(
                    "the old text stands {count} times in {path}, first in lines {}; include more of its surroundings or set replace_all",
                    places.join(", ")
                ),
            ));
        }
        // Before the new text is built: a short old text and a long new one could fill the memory.
        let length = (text.len() - count * old.len()).saturating_add(count.saturating_mul(new.len()));
        check_size(path, encoding.bytes_min(length))?;
        context.budget().bytes(length as u64)?;
        let changed = encode(text.replace(&*old, &new).into(), encoding);
        let changed = changed.map_err(|character| not_encodable(path, encoding, character))?;
        let length = changed.len();
        let (events, _) = self.write(path, changed, context)?;
        Ok(Decision::change(events, map! { "path" => path.as_str(), "replaced" => count, "bytes" => length }))
    }

    fn decide_transfer(&self, transfer: Transfer, frame: &Frame) -> Decided {
        let Transfer { source, mut target, into_folder, overwrite, keep_source } = transfer;
        if source.is_root() {
            return Err(the_workspace());
        }
        let entry = self.look(&source, frame).ok_or_else(|| not_found(&source))?;
        let is_file = matches!(entry, Entry::File(_));
        let mut there = self.look(&target, frame);
        if matches!(there, Some(Entry::Folder { .. })) {
            target = target.join(source.name());
            there = self.look(&target, frame);
        } else if into_folder {
            self.check_folder(&target, frame)?;
        }
        if !is_file && source.holds(&target) && source != target {
            return Err(Rejection::new(
                "files/into-itself",
                format!("{source} cannot be put into itself; choose a target outside of it"),
            ));
        }
        let replaces = overwrite && is_file && source != target && matches!(there, Some(Entry::File(_)));
        if there.is_some() && !replaces {
            return Err(Rejection::new(
                "files/exists",
                format!(
                    "{target} is there already; choose another target, or set overwrite to replace a file by a file"
                ),
            ));
        }
        if let Some(parent) = target.parent().filter(|_| there.is_none()) {
            self.check_folder(&parent, frame)?;
        }
        let taken = self.survey(&source, frame, |inner| {
            self.look(inner, frame);
        })?;
        EntryPath::check_limits(target.stem().len() + taken.suffix_bytes, target.depth() + taken.levels)?;
        if there.is_none() && (keep_source || source.parent() != target.parent()) {
            self.check_room(&target, if keep_source { taken.entries } else { 0 }, frame)?;
        }
        let answer = map! { "path" => target.as_str(), "entries" => taken.entries };
        let event = if keep_source {
            FilesEvent::EntryCopied { source, target }
        } else {
            FilesEvent::EntryMoved { source, target }
        };
        Ok(Decision::change(vec![event], answer))
    }

    fn decide_delete(&self, path: EntryPath, recursive: bool, frame: &Frame) -> Decided {
        if path.is_root() {
            return Err(the_workspace());
        }
        let entry = self.look(&path, frame).ok_or_else(|| not_found(&path))?;
        let mut deleted = 1;
        if matches!(entry, Entry::Folder { .. }) {
            if !recursive && self.names(&path, frame).next().is_some() {
                return Err(Rejection::new(
                    "files/not-empty",
                    format!("{path} is not empty; set recursive to delete all that is in it"),
                ));
            }
            deleted = self.survey(&path, frame, |_| {})?.entries;
        }
        let answer = map! { "path" => path.as_str(), "deleted" => deleted };
        Ok(Decision::change(vec![FilesEvent::EntryDeleted { path }], answer))
    }

    fn decide_make_folder(&self, path: EntryPath, frame: &Frame) -> Decided {
        match self.look(&path, frame) {
            Some(Entry::Folder { .. }) => Ok(Decision::answer(map! { "path" => path.as_str(), "created" => false })),
            Some(Entry::File(_)) => Err(not_a_folder(&path)),
            None => {
                let mut events = self.missing_folders(&path, frame)?;
                self.check_room(&path, events.len() + 1, frame)?;
                let answer = map! { "path" => path.as_str(), "created" => true };
                events.push(FilesEvent::FolderMade { path });
                Ok(Decision::change(events, answer))
            }
        }
    }

    fn decide_import(
        &self,
        path: EntryPath,
        blob: BlobId,
        modified: Option<SimTime>,
        mode: u32,
        context: &Context<'_>,
    ) -> Decided {
        let bytes = context.blobs.get(blob).ok_or_else(|| {
            Rejection::new(
                "files/unknown-blob",
                format!("there is no blob {blob}; put the content into the store first"),
            )
        })?;
        check_size(&path, bytes.len())?;
        let (mut events, there) = self.prepare(&path, context.frame)?;
        let created = there.is_none();
        let answer = written(&path, bytes.len(), created);
        let content = if bytes.len() <= CONTENT_INLINE_BYTES_MAX {
            Content::Inline(bytes)
        } else {
            context.frame.note_blob(blob);
            Content::Blob { id: blob, bytes: bytes.len() as u64 }
        };
        events.push(FilesEvent::FileWritten { path, content, mode, modified });
        Ok(Decision::change(events, answer))
    }

    /// Returns the events that write `bytes` to the file at `path`, and whether it is new. Its permission bits stay.
    fn write(
        &self,
        path: &EntryPath,
        bytes: Vec<u8>,
        context: &Context<'_>,
    ) -> Result<(Vec<FilesEvent>, bool), Rejection> {
        check_size(path, bytes.len())?;
        let (mut events, there) = self.prepare(path, context.frame)?;
        let mode = there.map_or(MODE_DEFAULT, |file| file.mode);
        let content = context.store(bytes);
        events.push(FilesEvent::FileWritten { path: path.clone(), content, mode, modified: None });
        Ok((events, there.is_none()))
    }

    /// Returns the events that make the folders for a file at `path`, and the file that is there now.
    fn prepare(&self, path: &EntryPath, frame: &Frame) -> Result<(Vec<FilesEvent>, Option<&File>), Rejection> {
        match self.look(path, frame) {
            Some(Entry::File(file)) => Ok((Vec::with_capacity(1), Some(file))),
            Some(Entry::Folder { .. }) => Err(is_a_folder(path)),
            None => {
                let events = self.missing_folders(path, frame)?;
                self.check_room(path, events.len() + 1, frame)?;
                Ok((events, None))
            }
        }
    }

    /// Returns the events that make the folders that lead to `path` and are not there.
    fn missing_folders(&self, path: &EntryPath, frame: &Frame) -> Result<Vec<FilesEvent>, Rejection> {
        let mut missing = Vec::new();
        let mut next = path.parent();
        while let Some(folder) = next {
            match self.look(&folder, frame) {
                Some(Entry::Folder { .. }) => break,
                Some(Entry::File(_)) => return Err(not_a_folder(&folder)),
                None => {
                    next = folder.parent();
                    missing.push(FilesEvent::FolderMade { path: folder });
                }
            }
        }
        missing.reverse();
        Ok(missing)
    }

    /// Refuses a new entry at `path` if the folder that holds it is full, or the workspace would be with `added` more. Room is read
    /// only where there is none: otherwise every new file would depend on every other.
    fn check_room(&self, path: &EntryPath, added: usize, frame: &Frame) -> Result<(), Rejection> {
        let parent = path.parent().unwrap_or_default();
        if self.peek_len(&parent) >= FOLDER_ENTRIES_MAX {
            let entries = self.names(&parent, frame).count();
            return Err(Rejection::new(
                "files/folder-full",
                format!("{parent} holds {entries} entries and no more fit in; use another folder"),
            ));
        }
        if self.entries() + added > ENTRIES_MAX {
            frame.note_untracked();
            return Err(Rejection::new(
                "files/workspace-full",
                format!("the workspace would hold more than {ENTRIES_MAX} entries; delete some first"),
            ));
        }
        Ok(())
    }

    fn check_folder(&self, path: &EntryPath, frame: &Frame) -> Result<(), Rejection> {
        match self.look(path, frame) {
            Some(Entry::Folder { .. }) => Ok(()),
            Some(Entry::File(_)) => Err(not_a_folder(path)),
            None => Err(Rejection::new(
                "files/not-found",
                format!(
                    "there is no folder {path}; make it with files.make_folder, or look with files.list what is there"
                ),
            )),
        }
    }

    /// Measures the entry at `path` and everything in it by reading the membership of its folders; `visit` sees each entry below it.
    fn survey(&self, path: &EntryPath, frame: &Frame, visit: impl Fn(&EntryPath)) -> Result<Survey, Rejection> {
        let mut survey = Survey { entries: 1, suffix_bytes: 0, levels: 0 };
        let mut open = Vec::new();
        if matches!(self.peek(path), Some(Entry::Folder { .. })) {
            open.push(path.clone());
        }
        while let Some(folder) = open.pop() {
            for name in self.names(&folder, frame) {
                let inner = folder.join(name);
                survey.entries += 1;
                survey.suffix_bytes = survey.suffix_bytes.max(inner.stem().len() - path.stem().len());
                survey.levels = survey.levels.max(inner.depth() - path.depth());
                if survey.entries > SUBTREE_ENTRIES_MAX {
                    return Err(Rejection::new(
                        "files/too-many-entries",
                        format!("{path} holds more than {SUBTREE_ENTRIES_MAX} entries; take its folders one by one"),
                    ));
                }
                visit(&inner);
                // What kind of entry a name stands for only changes with the membership, which is noted.
                if matches!(self.peek_in(&folder, name), Some(Entry::Folder { .. })) {
                    open.push(inner);
                }
            }
        }
        Ok(survey)
    }
}

/// What an entry and everything in it amount to.
struct Survey {
    entries: usize,
    /// The length of the longest path below the entry, without the entry's own.
    suffix_bytes: usize,
    /// How deep folders nest below the entry.
    levels: usize,
}

fn written(path: &EntryPath, length: usize, created: bool) -> Value {
    map! { "path" => path.as_str(), "bytes" => length, "created" => created }
}

fn check_size(path: &EntryPath, bytes: usize) -> Result<(), Rejection> {
    if bytes > FILE_BYTES_MAX {
        return Err(Rejection::new(
            "files/too-large",
            format!("{path} would be {bytes} bytes long, over {FILE_BYTES_MAX}; split it into several files"),
        ));
    }
    Ok(())
}

fn not_encodable(path: &EntryPath, encoding: Encoding, character: char) -> Rejection {
    Rejection::new(
        "files/not-encodable",
        format!(
            "{path} is kept in {}, which has no {character:?}; use other characters, or write the whole file, which makes it UTF-8",
            encoding.name()
        ),
    )
}

fn the_workspace() -> Rejection {
    Rejection::new("files/workspace", "the workspace itself cannot be moved, copied or deleted; name something in it")
}

fn not_a_folder(path: &EntryPath) -> Rejection {
    Rejection::new("files/not-a-folder", format!("{path} is a file and holds nothing; choose another path"))
}
