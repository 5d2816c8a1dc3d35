//! What a command changed: the copy of the workspace held against what was laid out, by content, permission bits and what is there. Only files
//! and folders come back; anything else is named and left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, FileType, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

use dayshift_engine::{BlobId, Blobs, Errand, ErrandEntry, Value, map};

use crate::WORKSPACE;

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
/// How many links are followed to one file, and how many steps all of them may take.
const LINKS_MAX: usize = 40;
const LINK_STEPS_MAX: usize = 2_000_000;

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

/// Returns what differs between `errand`'s entries and what is below `root`, where nobody changes anything any more.
pub(crate) fn between(root: &Path, errand: &Errand, changes_max: usize, blobs: &dyn Blobs) -> io::Result<Changes> {
    let before: BTreeMap<&str, &ErrandEntry> = errand.entries.iter().map(|entry| (&*entry.path, entry)).collect();
    let mut changes = Changes::default();
    let Some(after) = changes.walk(root)? else { return Ok(changes) };
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
                let metadata = fs::symlink_metadata(host)?;
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
        let mut links = BTreeMap::new();
        let mut open = vec![(root.to_owned(), String::new())];
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
                    links.insert(path, fs::read_link(&host)?);
                } else {
                    self.drop(&path, name_of(kind));
                }
                if found.len() + links.len() + self.dropped.len() > ENTRIES_MAX {
                    self.refuse(format!(
                        "the command left more than {ENTRIES_MAX} files; nothing was kept, write fewer"
                    ));
                    return Ok(None);
                }
            }
        }
        let mut steps = LINK_STEPS_MAX;
        let mut stand_ins = Vec::new();
        for path in links.keys() {
            match linked(path, &found, &links, &mut steps) {
                Some(target) => stand_ins.push((path.clone(), Found::File(target))),
                None => self.drop(path, "a symbolic link that leads to no file of the workspace"),
            }
        }
        found.extend(stand_ins);
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

/// Returns the file of the workspace that the link at `path` leads to. The workspace has no links: the file stands in for it. The host's own way to
/// follow links would lead out of the workspace.
fn linked(
    path: &str,
    found: &BTreeMap<String, Found>,
    links: &BTreeMap<String, PathBuf>,
    steps: &mut usize,
) -> Option<PathBuf> {
    let parts_of = |path: &Path| -> Option<Vec<String>> {
        path.components().rev().map(|part| part.as_os_str().to_str().map(str::to_owned)).collect()
    };
    let mut here = String::new();
    // What is still to be walked, the next part last.
    let mut rest = parts_of(Path::new(path.trim_start_matches('/')))?;
    let mut followed = 0;
    while let Some(part) = rest.pop() {
        *steps = steps.checked_sub(1)?;
        match part.as_str() {
            "." => continue,
            ".." => {
                // What climbs out of the workspace is meant for something else.
                here.truncate(here.rfind('/')?);
                continue;
            }
            _ => here = format!("{here}/{part}"),
        }
        if let Some(target) = links.get(&here) {
            followed += 1;
            if followed > LINKS_MAX {
                return None;
            }
            here.truncate(here.rfind('/')?);
            let inside: &Path = match target.strip_prefix(WORKSPACE) {
                Ok(inside) => {
                    here.clear();
                    inside
                }
                Err(_) if target.is_absolute() => return None,
                Err(_) => target,
            };
            rest.extend(parts_of(inside)?);
        } else if matches!(found.get(&here), None | Some(Found::File(_))) && !rest.is_empty() {
            return None;
        }
    }
    match found.get(&here)? {
        Found::File(host) => Some(host.clone()),
        Found::Folder => None,
    }
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
