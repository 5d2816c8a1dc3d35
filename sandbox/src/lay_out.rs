//! The copy of the workspace on the host's disk, with simulated times, and what else a command needs. It goes away with its owner.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use dayshift_engine::{Blobs, Content, Errand, SimTime};
use tempfile::TempDir;

/// A folder of the host that holds the copy (`workspace`), a place for what a command writes elsewhere (`tmp`), and who is who (`passwd`).
pub(crate) struct Scratch {
    folder: TempDir,
}

impl Scratch {
    /// Lays `errand`'s entries out. They belong to `owner`, if it is somebody else.
    pub(crate) fn new(errand: &Errand, blobs: &dyn Blobs, owner: Option<u32>) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("dayshift-shell-").tempdir()?;
        let scratch = Self { folder };
        fs::create_dir(scratch.workspace())?;
        fs::create_dir(scratch.tmp())?;
        fs::write(scratch.passwd(), "user:x:1000:1000:user:/tmp:/bin/bash\n")?;
        for entry in &errand.entries {
            let path = scratch.inside(&entry.path);
            let Some(content) = &entry.content else {
                fs::create_dir(&path)?;
                continue;
            };
            let mut file = File::create_new(&path)?;
            file.write_all(&load(content, blobs)?)?;
            file.set_permissions(Permissions::from_mode(entry.mode & 0o777))?;
            file.set_modified(host_time(entry.modified))?;
        }
        // From the last to the first: what is put into a folder changes the folder's time.
        for entry in errand.entries.iter().rev().filter(|entry| entry.content.is_none()) {
            File::open(scratch.inside(&entry.path))?.set_modified(host_time(entry.modified))?;
        }
        if let Some(owner) = owner {
            let own = |path: &Path| chown(path, Some(owner), Some(owner));
            own(scratch.folder.path())?;
            own(&scratch.workspace())?;
            own(&scratch.tmp())?;
            for entry in &errand.entries {
                own(&scratch.inside(&entry.path))?;
            }
        }
        Ok(scratch)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    pub(crate) fn tmp(&self) -> PathBuf {
        self.folder.path().join("tmp")
    }

    pub(crate) fn passwd(&self) -> PathBuf {
        self.folder.path().join("passwd")
    }

    /// Returns where the entry at `path`, a canonical path of the simulated workspace, is on the host.
    fn inside(&self, path: &str) -> PathBuf {
        self.workspace().join(path.trim_start_matches('/'))
    }
}

impl Drop for Scratch {
    /// Makes folders that a command closed open again, so that they can be removed.
    fn drop(&mut self) {
        let mut open = vec![self.workspace(), self.tmp()];
        while let Some(folder) = open.pop() {
            // What cannot be opened cannot be removed either, and is left to the host's own cleaning.
            let _ = fs::set_permissions(&folder, Permissions::from_mode(0o700));
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            open.extend(
                entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()),
            );
        }
    }
}

fn load(content: &Content, blobs: &dyn Blobs) -> io::Result<std::sync::Arc<[u8]>> {
    match content {
        Content::Inline(bytes) => Ok(bytes.clone()),
        Content::Blob { id, .. } => {
            blobs.get(*id).ok_or_else(|| io::Error::other(format!("the content {id} is missing")))
        }
    }
}

fn host_time(time: SimTime) -> SystemTime {
    let millis = time.as_millis();
    let distance = Duration::from_millis(millis.unsigned_abs());
    if millis < 0 { SystemTime::UNIX_EPOCH - distance } else { SystemTime::UNIX_EPOCH + distance }
}
