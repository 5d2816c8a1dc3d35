//! What a command changed: the copy of the workspace held against what was laid out, by content, permission bits and what is there. Only files
//! and folders come back; anything else is named and left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, FileType, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

use dayshift_engine::{BlobId, Blobs, Errand, ErrandEntry, Value, map};

use crate::WORKSPACE;
use crate::lay_out::Scratch;

/// The largest file that is brought back, in bytes (8 MiB, as large as the workspace takes).
pub(crate) const FILE_BYTES_MAX: u64 = 8 << 20;
/// How much changed content is brought back, in bytes (64 MiB).
pub(crate) const CHANGED_BYTES_MAX: u64 = 64 << 20;
/// How many entries are looked at before a workspace counts as flooded.
const ENTRIES_MAX: usize = 200_000;
/// The longest path, and the longest name in it, that the simulated workspace takes.
const PATH_BYTES_MAX: usize = 1024;
const NAME_BYTES_MAX: usize = 255;
const DEPTH_MAX: usize = 32;
/// How many things that were left out are named.
const DROPPED_MAX: usize = 200;

/// What a command changed.
#[derive(Default)]
pub(crate) struct Changes {
    /// The changes as they are recorded, deletions first, each kind in the order of its paths.
    pub(crate) list: Vec<Value>,
    /// What is not brought back, and why.
    pub(crate) dropped: Vec<Value>,
    /// Why nothing is brought back.
    pub(crate) refused: Option<String>,
}

/// An entry that is there after the command.
enum Found {
    Folder,
    File(PathBuf),
}

pub(crate) fn between(
    scratch: &Scratch,
    errand: &Errand,
    changes_max: usize,
    blobs: &dyn Blobs,
) -> io::Result<Changes> {
    let before: BTreeMap<&str, &ErrandEntry> = errand.entries.iter().map(|entry| (&*entry.path, entry)).collect();
    let mut changes = Changes::default();
    let Some(after) = changes.walk(&scratch.workspace())? else { return Ok(changes) };
    let mut gone: BTreeSet<&str> = BTreeSet::new();
    for (path, entry) in &before {
        let stays = match after.get(*path) {
            Some(Found::Folder) => entry.content.is_none(),
            Some(Found::File(_)) => entry.content.is_some(),
            None => false,
        };
        let inside_gone = path.match_indices('/').skip(1).any(|(at, _)| gone.contains(&path[..at]));
        if !stays && !inside_gone {
            gone.insert(path);
            changes.list.push(map! { "path" => *path, "kind" => "deleted" });
        }
    }
    let mut files = Vec::new();
    let mut bytes_left = CHANGED_BYTES_MAX;
    for (path, found) in &after {
        let was = before.get(path.as_str());
        match found {
            Found::Folder if was.is_some_and(|entry| entry.content.is_none()) => {}
            Found::Folder => changes.list.push(map! { "path" => path.as_str(), "kind" => "folder" }),
            Found::File(host) => {
                let metadata = fs::metadata(host)?;
                let mode = metadata.permissions().mode() & 0o777;
                if metadata.len() > FILE_BYTES_MAX {
                    changes.drop(path, format!("a file of {} bytes, over {FILE_BYTES_MAX}", metadata.len()));
                    continue;
                }
                let content = read(host, mode)?;
                let id = BlobId::of(&content);
                let same = was.is_some_and(|entry| {
                    entry.mode & 0o777 == mode && entry.content.as_ref().is_some_and(|content| content.id() == id)
                });
                if same {
                    continue;
                }
                let Some(left) = bytes_left.checked_sub(content.len() as u64) else {
                    changes.refuse(format!(
                        "the command wrote more than {CHANGED_BYTES_MAX} bytes; nothing was kept, write less at once"
                    ));
                    return Ok(changes);
                };
                bytes_left = left;
                let id = blobs.put(content.into());
                let mode = i64::from(mode);
                files
                    .push(map! { "path" => path.as_str(), "kind" => "file", "blob" => id.to_string(), "mode" => mode });
            }
        }
    }
    changes.list.extend(files);
    if changes.list.len() > changes_max {
        let count = changes.list.len();
        changes.refuse(format!(
            "the command changed {count} files and folders, over {changes_max}; nothing was kept, change less at once"
        ));
    }
    Ok(changes)
}

impl Changes {
    /// Returns the files and folders below `root` by their paths in the simulated workspace; nothing if there are too many.
    fn walk(&mut self, root: &Path) -> io::Result<Option<BTreeMap<String, Found>>> {
        let mut found = BTreeMap::new();
        let mut open = vec![(root.to_owned(), String::new())];
        let canonical = root.canonicalize()?;
        while let Some((folder, path)) = open.pop() {
            if fs::read_dir(&folder).is_err() {
                // The command closed it; it is ours all the same.
                fs::set_permissions(&folder, Permissions::from_mode(0o700))?;
            }
            for entry in fs::read_dir(&folder)? {
                let entry = entry?;
                let host = entry.path();
                let Some(name) = entry.file_name().to_str().map(str::to_owned) else {
                    self.drop(&format!("{path}/{}", entry.file_name().to_string_lossy()), "a name that is no UTF-8");
                    continue;
                };
                let path = format!("{path}/{name}");
                if name == "*"
                    || name.len() > NAME_BYTES_MAX
                    || path.len() > PATH_BYTES_MAX
                    || path.matches('/').count() > DEPTH_MAX
                {
                    self.drop(&path, "a path that the workspace does not take");
                    continue;
                }
                let kind = entry.file_type()?;
                if kind.is_dir() {
                    open.push((host, path.clone()));
                    found.insert(path, Found::Folder);
                } else if kind.is_file() {
                    found.insert(path, Found::File(host));
                } else if kind.is_symlink() {
                    match linked(&host, root, &canonical) {
                        Some(target) => drop(found.insert(path, Found::File(target))),
                        None => self.drop(&path, "a symbolic link that leads to no file of the workspace"),
                    }
                } else {
                    self.drop(&path, name_of(kind));
                }
                if found.len() + self.dropped.len() > ENTRIES_MAX {
                    self.refuse(format!(
                        "the command left more than {ENTRIES_MAX} files; nothing was kept, write fewer"
                    ));
                    return Ok(None);
                }
            }
        }
        Ok(Some(found))
    }

    fn drop(&mut self, path: &str, why: impl Into<String>) {
        if self.dropped.len() < DROPPED_MAX {
            self.dropped.push(map! { "path" => path, "why" => why.into() });
            self.dropped.sort_by_key(|dropped| dropped.get("path").and_then(Value::as_text).map(str::to_owned));
        }
    }

    fn refuse(&mut self, why: String) {
        self.list.clear();
        self.refused = Some(why);
    }
}

/// Returns the file of the workspace that the link at `host` leads to. The workspace has no links: the file stands in for it.
fn linked(host: &Path, root: &Path, canonical: &Path) -> Option<PathBuf> {
    let target = fs::read_link(host).ok()?;
    // What is absolute is meant inside the sandbox.
    let target = match target.strip_prefix(WORKSPACE) {
        Ok(inside) => root.join(inside),
        Err(_) if target.is_absolute() => return None,
        Err(_) => host.parent()?.join(target),
    };
    let target = target.canonicalize().ok()?;
    (target.starts_with(canonical) && fs::symlink_metadata(&target).ok()?.is_file()).then_some(target)
}

fn read(host: &Path, mode: u32) -> io::Result<Vec<u8>> {
    match fs::read(host) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            fs::set_permissions(host, Permissions::from_mode(mode | 0o400))?;
            fs::read(host)
        }
        read => read,
    }
}

fn name_of(kind: FileType) -> &'static str {
    if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}
