//! Blobs as files of our own, named by the hash of their content: `blobs/ab/abcdef…`. A blob is durable before [`BlobFiles::put`] returns, so
//! that a record which names it is never there without it.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dayshift_engine::BlobId;

use crate::error::{Damage, StoreError};
use crate::folder::sync_dir;

const FRESH_PREFIX: &str = "fresh-";

/// The folder of blobs.
#[derive(Debug)]
pub(crate) struct BlobFiles {
    root: PathBuf,
    /// What this process knows to be durable: a file that is merely there may be another thread's, on its way.
    durable: Mutex<BTreeSet<BlobId>>,
    fresh: AtomicU64,
}

impl BlobFiles {
    /// Opens the folder, makes it if it is missing, and removes what interrupted writes left.
    pub(crate) fn open(store: &Path) -> Result<Self, StoreError> {
        let root = store.join("blobs");
        if !root.exists() {
            fs::create_dir_all(&root).map_err(StoreError::io("create", &root))?;
            sync_dir(store)?;
        }
        for entry in fs::read_dir(&root).map_err(StoreError::io("list", &root))? {
            let path = entry.map_err(StoreError::io("list", &root))?.path();
            if path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(FRESH_PREFIX)) {
                fs::remove_file(&path).map_err(StoreError::io("remove", &path))?;
            }
        }
        Ok(Self { root, durable: Mutex::default(), fresh: AtomicU64::new(0) })
    }

    /// Returns the folder of blobs of a store that is only read.
    pub(crate) fn reading(store: &Path) -> Self {
        Self { root: store.join("blobs"), durable: Mutex::default(), fresh: AtomicU64::new(0) }
    }

    /// Keeps `content`, whose name is `id`, and returns when it is durable.
    pub(crate) fn put(&self, id: BlobId, content: &[u8]) -> Result<(), StoreError> {
        if self.durable.lock().unwrap_or_else(PoisonError::into_inner).contains(&id) {
            return Ok(());
        }
        let path = self.path(id);
        let dir = path.parent().unwrap_or(&self.root);
        if !matches!(self.get(id), Ok(Some(_))) {
            let fresh = self.root.join(format!("{FRESH_PREFIX}{}", self.fresh.fetch_add(1, Ordering::Relaxed)));
            let mut file = File::create(&fresh).map_err(StoreError::io("create", &fresh))?;
            let written = file.write_all(content).and_then(|()| file.sync_all());
            if let Err(error) = written {
                let _best_effort = fs::remove_file(&fresh);
                return Err(StoreError::io("write", &fresh)(error));
            }
            fs::create_dir_all(dir).map_err(StoreError::io("create", dir))?;
            fs::rename(&fresh, &path).map_err(StoreError::io("rename", &fresh))?;
        } else {
            File::open(&path).and_then(|file| file.sync_all()).map_err(StoreError::io("sync", &path))?;
        }
        sync_dir(dir)?;
        sync_dir(&self.root)?;
        self.durable.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
        Ok(())
    }

    /// Returns the content of `id` after checking its hash.
    pub(crate) fn get(&self, id: BlobId) -> Result<Option<Arc<[u8]>>, StoreError> {
        let path = self.path(id);
        let content = match fs::read(&path) {
            Ok(content) => content,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StoreError::io("read", &path)(error)),
        };
        if BlobId::of(&content) == id { Ok(Some(content.into())) } else { Err(Damage::Blob { id }.into()) }
    }

    fn path(&self, id: BlobId) -> PathBuf {
        let name = id.to_string();
        self.root.join(&name[..2]).join(&name)
    }
}
