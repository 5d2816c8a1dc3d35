//! The tree of folders and files, how events change it, and how it is read. Each folder's members are one traced collection, so that a
//! path that is read by its name needs no walk: a file can only be there if its folders are.

use std::borrow::Cow;
use std::ops::Bound;
use std::sync::Arc;

use dayshift_engine::{
    Applying, Canonical, Collection, Content, Difference, Frame, Graded, ReadKind, Rejection, Seq, SimTime, SmolStr,
    StateDigest, Value, map,
};
use imbl::OrdMap;
use imbl::ordmap::DiffItem;

use super::event::FilesEvent;
use super::keys;
use super::path::EntryPath;

/// The workspace.
#[derive(Clone, Debug)]
pub struct FilesState {
    /// By the stem of the folder's path. A folder that was deleted keeps its (empty) collection, which remembers who emptied it; whether
    /// it is there is for its parent to say.
    folders: OrdMap<SmolStr, Folder>,
    digest: StateDigest,
    entries: usize,
}

/// A file or a folder, as the folder that holds it sees it.
#[derive(Clone, Debug)]
pub(super) enum Entry {
    File(File),
    Folder { modified: SimTime },
}

/// A file.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) content: Content,
    pub(super) mode: u32,
    pub(super) modified: SimTime,
}

/// What the workspace itself looks like: it is always there.
static ROOT: Entry = Entry::Folder { modified: SimTime::from_millis(0) };

impl FilesState {
    /// Returns an empty workspace.
    #[must_use]
    pub fn new() -> Self {
        let folders = OrdMap::unit(SmolStr::default(), Folder::new(""));
        Self { folders, digest: StateDigest::default(), entries: 0 }
    }

    /// Returns the content of the file at `path` and notes the read.
    ///
    /// # Errors
    ///
    /// The codes of [`EntryPath::parse`], `files/not-found` when nothing is there, `files/is-a-folder` when it is no file.
    pub fn content(&self, path: &str, frame: &Frame) -> Result<&Content, Rejection> {
        let path = EntryPath::parse(path)?;
        self.file(&path, frame).map(|file| &file.content)
    }

    /// Returns the file at `path` and notes the read.
    pub(super) fn file(&self, path: &EntryPath, frame: &Frame) -> Result<&File, Rejection> {
        match self.look(path, frame) {
            Some(Entry::File(file)) => Ok(file),
            Some(Entry::Folder { .. }) => Err(is_a_folder(path)),
            None => Err(not_found(path)),
        }
    }

    /// Returns what is at `path` and notes the read, also when nothing is there.
    pub(super) fn look(&self, path: &EntryPath, frame: &Frame) -> Option<&Entry> {
        let Some((parent, name)) = path.split() else { return Some(&ROOT) };
        match self.folders.get(parent) {
            Some(folder) => folder.0.get(frame, &SmolStr::from(name)),
            None => {
                frame.note(ReadKind::Item, keys::item(path), Seq::default());
                None
            }
        }
    }

    /// Returns the names in the folder at `path`, which is there, in order, and notes the read of its membership.
    pub(super) fn names(&self, path: &EntryPath, frame: &Frame) -> impl DoubleEndedIterator<Item = &SmolStr> {
        self.folders.get(path.stem()).into_iter().flat_map(|folder| folder.0.list(frame))
    }

    /// Returns the names in the folder at `path`, which is there, that stand after `after` in their order, and notes the read of its membership.
    pub(super) fn names_after(&self, path: &EntryPath, after: &str, frame: &Frame) -> impl Iterator<Item = &SmolStr> {
        let first = if after.is_empty() { Bound::Unbounded } else { Bound::Excluded(SmolStr::from(after)) };
        self.folders.get(path.stem()).into_iter().flat_map(move |folder| {
            drop(folder.0.list(frame));
            folder.0.peek_range((first.clone(), Bound::Unbounded)).map(|(name, _)| name)
        })
    }

    /// Returns the entries of the folder at `path`, which is there, in order, and notes that all of them were looked at.
    pub(super) fn scan(&self, path: &EntryPath, frame: &Frame) -> impl Iterator<Item = (&SmolStr, &Entry)> {
        self.folders.get(path.stem()).into_iter().flat_map(|folder| folder.0.scan(frame))
    }

    /// Returns the entry `name` of the folder at `path` without noting a read: for what a noted listing or scan covers.
    pub(super) fn peek_in(&self, path: &EntryPath, name: &SmolStr) -> Option<&Entry> {
        self.folders.get(path.stem())?.0.peek(name)
    }

    /// Returns how many entries the folder at `path` has, without noting a read.
    pub(super) fn peek_len(&self, path: &EntryPath) -> usize {
        self.folders.get(path.stem()).map_or(0, |folder| folder.0.len())
    }

    /// Shows every folder that holds something, by the stem of its path, without noting a read.
    pub(super) fn peek_folders(&self, mut visit: impl FnMut(&str, &Collection<SmolStr, Entry>)) {
        self.folders.iter().for_each(|(stem, folder)| visit(stem, &folder.0));
    }

    /// Returns how many files and folders there are, without noting a read.
    pub(super) fn entries(&self) -> usize {
        self.entries
    }

    /// Changes the workspace by one event.
    pub(super) fn change(&mut self, event: FilesEvent, applying: &mut Applying<'_>) {
        match event {
            FilesEvent::FileWritten { path, content, mode, modified } => {
                let modified = modified.unwrap_or(applying.time);
                self.make_room(applying, &path);
                self.put(applying, &path, Entry::File(File { content, mode, modified }));
            }
            FilesEvent::FolderMade { path } => self.make_folder(applying, &path),
            FilesEvent::EntryMoved { source, target } => {
                if source.is_root() || source.holds(&target) {
                    return;
                }
                let taken = self.gather(&source);
                self.take_out(applying, &source);
                self.place(applying, &target, taken);
            }
            FilesEvent::EntryCopied { source, target } => {
                if source.holds(&target) {
                    return;
                }
                let mut taken = self.gather(&source);
                for (_, entry) in &mut taken {
                    *entry.modified_mut() = applying.time;
                }
                self.place(applying, &target, taken);
            }
            FilesEvent::EntryDeleted { path } => self.take_out(applying, &path),
        }
    }

    /// Returns the digest of all paths, contents and modes.
    pub(super) fn total(&self) -> StateDigest {
        self.digest
    }

    /// Adds the entries in which this differs from `other`, in key order within each folder.
    pub(super) fn compare(&self, other: &Self, into: &mut Vec<Difference>) {
        let empty = Folder::new("");
        for difference in self.folders.diff(&other.folders) {
            match difference {
                // The side that is there knows the keys.
                DiffItem::Add(_, there) => {
                    into.extend(there.compare(&empty).into_iter().map(|Difference { key, left, right }| Difference {
                        key,
                        left: right,
                        right: left,
                    }))
                }
                DiffItem::Remove(_, here) => into.extend(here.compare(&empty)),
                DiffItem::Update { old: (_, here), new: (_, there) } => into.extend(here.compare(there)),
            }
        }
    }

    /// Returns every file and folder by its path.
    pub(super) fn show(&self) -> Value {
        let entries = self.folders.iter().flat_map(|(stem, folder)| {
            folder.0.peek_all().map(move |(name, entry)| (SmolStr::from(format!("{stem}/{name}")), entry.show()))
        });
        Value::Map(entries.collect())
    }

    pub(super) fn peek(&self, path: &EntryPath) -> Option<&Entry> {
        let Some((parent, name)) = path.split() else { return Some(&ROOT) };
        self.folders.get(parent)?.0.peek(&SmolStr::from(name))
    }

    /// Puts `entry` at `path`; the folder that holds it is there.
    fn put(&mut self, applying: &mut Applying<'_>, path: &EntryPath, entry: Entry) {
        let Some((parent, name)) = path.split() else { return };
        if matches!(entry, Entry::Folder { .. }) {
            self.open_folder(path.stem());
        }
        let digest = &mut self.digest;
        let entries = &mut self.entries;
        if let Some(folder) = self.folders.get_mut(parent) {
            let members = Arc::make_mut(&mut folder.0);
            let (old, len) = (members.digest(), members.len());
            members.insert(applying, SmolStr::from(name), entry);
            *digest += members.digest();
            *digest -= old;
            *entries += members.len() - len;
        }
    }

    /// Takes the one entry at `path` out of its folder.
    fn remove(&mut self, applying: &mut Applying<'_>, parent: &str, name: &SmolStr) {
        if let Some(folder) = self.folders.get_mut(parent) {
            let members = Arc::make_mut(&mut folder.0);
            let old = members.digest();
            if members.remove(applying, name).is_some() {
                self.entries -= 1;
            }
            self.digest += members.digest();
            self.digest -= old;
        }
    }

    /// Takes the entry at `path` out with everything in it. The workspace itself is emptied and stays.
    fn take_out(&mut self, applying: &mut Applying<'_>, path: &EntryPath) {
        if matches!(self.peek(path), Some(Entry::Folder { .. })) {
            for stem in self.subtree(path) {
                let names: Vec<SmolStr> = self
                    .folders
                    .get(&stem)
                    .map(|folder| folder.0.peek_all().map(|(name, _)| name.clone()).collect())
                    .unwrap_or_default();
                for name in names {
                    self.remove(applying, &stem, &name);
                }
            }
        }
        if let Some((parent, name)) = path.split() {
            self.remove(applying, parent, &SmolStr::from(name));
        }
    }

    /// Returns copies of the entry at `path` and everything in it, holders before what they hold, by what follows `path` in their paths.
    fn gather(&self, path: &EntryPath) -> Vec<(SmolStr, Entry)> {
        let Some(entry) = self.peek(path) else { return Vec::new() };
        let mut taken = vec![(SmolStr::default(), entry.clone())];
        if matches!(entry, Entry::Folder { .. }) {
            for stem in self.subtree(path) {
                let suffix = &stem[path.stem().len()..];
                if let Some(folder) = self.folders.get(&stem) {
                    taken.extend(
                        folder
                            .0
                            .peek_all()
                            .map(|(name, entry)| (SmolStr::from(format!("{suffix}/{name}")), entry.clone())),
                    );
                }
            }
        }
        taken
    }

    /// Puts what [`Self::gather`] took under `target`, in the place of what was there.
    fn place(&mut self, applying: &mut Applying<'_>, target: &EntryPath, taken: Vec<(SmolStr, Entry)>) {
        if taken.is_empty() || target.is_root() {
            return;
        }
        self.make_room(applying, target);
        for (suffix, entry) in taken {
            self.put(applying, &target.with_suffix(&suffix), entry);
        }
    }

    /// Returns the stems of the folder at `path` and of all folders that are or were in it, in order.
    fn subtree(&self, path: &EntryPath) -> Vec<SmolStr> {
        let below = format!("{}/", path.stem());
        let mut stems = vec![SmolStr::from(path.stem())];
        let deeper =
            self.folders.range::<_, str>((Bound::Included(below.as_str()), Bound::Unbounded)).map(|(stem, _)| stem);
        stems.extend(deeper.take_while(|stem| stem.starts_with(&below)).cloned());
        stems
    }

    /// Makes sure that a file can be put at `path`: its folders are there, and it is no folder itself.
    fn make_room(&mut self, applying: &mut Applying<'_>, path: &EntryPath) {
        match self.peek(path) {
            Some(Entry::File(_)) => {}
            Some(Entry::Folder { .. }) => self.take_out(applying, path),
            None => {
                if let Some(parent) = path.parent() {
                    self.make_folder(applying, &parent);
                }
            }
        }
    }

    /// Makes sure that there is a folder at `path`, which may take the place of a file.
    fn make_folder(&mut self, applying: &mut Applying<'_>, path: &EntryPath) {
        let mut missing = Vec::new();
        let mut next = Some(path.clone());
        while let Some(path) = next {
            if matches!(self.peek(&path), Some(Entry::Folder { .. })) {
                break;
            }
            next = path.parent();
            missing.push(path);
        }
        for path in missing.iter().rev() {
            self.put(applying, path, Entry::Folder { modified: applying.time });
        }
    }

    fn open_folder(&mut self, stem: &str) {
        if !self.folders.contains_key(stem) {
            self.folders.insert(SmolStr::from(stem), Folder::new(stem));
        }
    }
}

impl Default for FilesState {
    fn default() -> Self {
        Self::new()
    }
}

impl Entry {
    fn modified_mut(&mut self) -> &mut SimTime {
        match self {
            Self::File(File { modified, .. }) | Self::Folder { modified } => modified,
        }
    }

    /// Returns the graded state of the entry for people; the text too, where it is short.
    fn show(&self) -> Value {
        match self {
            Self::Folder { .. } => map! { "kind" => "folder" },
            Self::File(File { content, mode, modified: _ }) => {
                let text = match content {
                    Content::Inline(bytes) => std::str::from_utf8(bytes).ok(),
                    Content::Blob { .. } => None,
                };
                map! {
                    "kind" => "file",
                    "bytes" => content.bytes(),
                    "digest" => content.id().to_string(),
                    "mode" => show_mode(*mode).into_owned(),
                    "text" => text,
                }
            }
        }
    }
}

/// Equal is what grades equally: when something was written makes no difference.
impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(one), Self::File(two)) => one.mode == two.mode && one.content == two.content,
            (Self::Folder { .. }, Self::Folder { .. }) => true,
            (Self::File(_), Self::Folder { .. }) | (Self::Folder { .. }, Self::File(_)) => false,
        }
    }
}

impl Graded for Entry {
    fn canonical(&self, into: &mut Canonical) {
        match self {
            Self::File(File { content, mode, modified: _ }) => {
                into.bool(true);
                into.int(i64::from(*mode));
                content.canonical(into);
            }
            Self::Folder { .. } => into.bool(false),
        }
    }
}

/// The members of one folder.
#[derive(Clone, Debug)]
struct Folder(Arc<Collection<SmolStr, Entry>>);

impl Folder {
    fn new(stem: &str) -> Self {
        Self(Arc::new(Collection::new(keys::prefix(stem))))
    }

    fn compare(&self, other: &Self) -> Vec<Difference> {
        let show = |entry: Option<&Entry>| entry.map(Entry::show);
        let differences = self.0.differences(&other.0).into_iter();
        differences.map(|(key, left, right)| Difference { key, left: show(left), right: show(right) }).collect()
    }
}

/// Folders that are shared are the same without a look inside.
impl PartialEq for Folder {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.digest() == other.0.digest()
    }
}

/// Returns permission bits as octal digits, such as `0644`.
pub(super) fn show_mode(mode: u32) -> Cow<'static, str> {
    match mode {
        0o644 => Cow::Borrowed("0644"),
        0o755 => Cow::Borrowed("0755"),
        other => Cow::Owned(format!("{other:04o}")),
    }
}

pub(super) fn not_found(path: &EntryPath) -> Rejection {
    Rejection::new("files/not-found", format!("nothing is at {path}; look with files.list or files.find what is there"))
}

pub(super) fn is_a_folder(path: &EntryPath) -> Rejection {
    Rejection::new("files/is-a-folder", format!("{path} is a folder; name a file in it"))
}
