//! A scenario's folder in memory: paths and bytes, and the manifest that gives the whole its digest. What the files mean is not known here.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use dayshift_engine::{BlobId, Blobs, SmolStr};
use serde::{Deserialize, Serialize};

use crate::problem::Problem;

/// How many files a package may hold.
pub const PACKAGE_FILES_MAX: usize = 10_000;

/// The largest file of a package, in bytes (64 MiB).
pub const PACKAGE_FILE_BYTES_MAX: u64 = 64 << 20;

/// The largest package, in bytes (256 MiB).
pub const PACKAGE_BYTES_MAX: u64 = 256 << 20;

/// The longest path inside a package, in bytes.
pub const PACKAGE_PATH_BYTES_MAX: usize = 512;

/// How deep the folders of a package may nest.
pub const PACKAGE_DEPTH_MAX: usize = 32;

/// The version of the manifest.
const MANIFEST_FORMAT: u32 = 1;

/// A package: its files by path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    name: Option<SmolStr>,
    files: BTreeMap<SmolStr, Arc<[u8]>>,
}

/// The stored list of a package's files.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    format: u32,
    files: Vec<ManifestFile>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ManifestFile {
    path: SmolStr,
    blob: BlobId,
    bytes: u64,
}

/// Why a package cannot be got back from blobs.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// A blob is missing.
    #[error("the package refers to the blob {0}, which is missing; import the log with its blobs")]
    Missing(BlobId),
    /// The manifest does not decode.
    #[error("the blob {0} is no list of a package's files")]
    Manifest(BlobId),
    /// A path or a size breaks the rules.
    #[error("the package breaks a rule: {0}")]
    Rule(Box<Problem>),
}

impl Package {
    /// Reads the folder at `root`. Hidden files (a name that starts with a dot) are left out; a symbolic link counts as the file that it
    /// leads to, and may not lead out of the folder.
    ///
    /// # Errors
    ///
    /// Every file that breaks a rule or cannot be read.
    pub fn from_directory(root: &Path) -> Result<Self, Vec<Problem>> {
        let shown = root.file_name().map_or_else(|| root.to_string_lossy(), |name| name.to_string_lossy());
        let canonical = root.canonicalize().map_err(|error| {
            let message = format!("the folder cannot be read: {error}");
            vec![Problem::of_file("package/unreadable", &*shown, message, "give the path of a scenario's folder")]
        })?;
        let mut walk = Walk { root: &canonical, files: BTreeMap::new(), bytes: 0, problems: Vec::new() };
        walk.folder(&canonical, "", 0);
        if !walk.problems.is_empty() {
            return Err(walk.problems);
        }
        let name = canonical.file_name().map(|name| SmolStr::from(name.to_string_lossy()));
        Ok(Self { name, files: walk.files })
    }

    /// Returns the package `name` of `files`.
    ///
    /// # Errors
    ///
    /// Every file that breaks a rule.
    pub fn from_files<P: Into<SmolStr>, B: Into<Arc<[u8]>>>(
        name: impl Into<SmolStr>,
        files: impl IntoIterator<Item = (P, B)>,
    ) -> Result<Self, Vec<Problem>> {
        let mut package = Self { name: Some(name.into()), files: BTreeMap::new() };
        let mut problems = Vec::new();
        let mut total = 0;
        for (path, bytes) in files {
            let (path, bytes) = (path.into(), bytes.into());
            total += bytes.len() as u64;
            match admit(&path, bytes.len() as u64, package.files.len(), total) {
                Ok(()) => {
                    package.files.insert(path, bytes);
                }
                Err(problem) => problems.push(problem),
            }
        }
        if problems.is_empty() { Ok(package) } else { Err(problems) }
    }

    /// Gets a package back from its blobs, so that a log alone is enough to grade it.
    ///
    /// # Errors
    ///
    /// [`PackageError`] when a blob is missing, or what is there is no package.
    pub fn from_blobs(digest: BlobId, blobs: &dyn Blobs) -> Result<Self, PackageError> {
        let manifest = blobs.get(digest).ok_or(PackageError::Missing(digest))?;
        let manifest: Manifest = rmp_serde::from_slice(&manifest).map_err(|_| PackageError::Manifest(digest))?;
        if manifest.format != MANIFEST_FORMAT {
            return Err(PackageError::Manifest(digest));
        }
        let mut package = Self { name: None, files: BTreeMap::new() };
        let mut total = 0;
        for file in manifest.files {
            let bytes = blobs.get(file.blob).ok_or(PackageError::Missing(file.blob))?;
            if bytes.len() as u64 != file.bytes {
                return Err(PackageError::Manifest(digest));
            }
            total += file.bytes;
            admit(&file.path, file.bytes, package.files.len(), total)
                .map_err(|problem| PackageError::Rule(Box::new(problem)))?;
            package.files.insert(file.path, bytes);
        }
        if package.digest() == digest { Ok(package) } else { Err(PackageError::Manifest(digest)) }
    }

    /// Keeps the manifest and every file. Returns the names of all these blobs, sorted; [`Self::digest`] is among them.
    pub fn to_blobs(&self, blobs: &dyn Blobs) -> Vec<BlobId> {
        let manifest = Arc::<[u8]>::from(self.manifest());
        let contents = self.files.values().map(Arc::clone).chain([manifest]);
        let mut ids: Vec<BlobId> = contents.map(|content| blobs.put(content)).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Returns the name of the folder, if the package came from one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the digest: the name of the blob that lists the files.
    #[must_use]
    pub fn digest(&self) -> BlobId {
        BlobId::of(&self.manifest())
    }

    /// Returns whether the package holds these files, and no others. One digest stands for one set of files.
    pub(crate) fn holds_exactly(&self, files: &[(&str, &[u8])]) -> bool {
        self.files.len() == files.len()
            && files.iter().all(|(path, bytes)| self.files.get(*path).is_some_and(|held| **held == **bytes))
    }

    /// Returns the bytes of the file at `path`.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<&Arc<[u8]>> {
        self.files.get(path)
    }

    /// Returns the files below `folder` (which ends in a slash; empty for all) in path order.
    pub fn below(&self, folder: &str) -> impl Iterator<Item = (&SmolStr, &Arc<[u8]>)> {
        self.files.range(SmolStr::from(folder)..).take_while(move |(path, _)| path.starts_with(folder))
    }

    /// Returns the package with the file at `path` holding `bytes`, for a validator that mutates packages.
    ///
    /// # Errors
    ///
    /// When the file breaks a rule.
    pub fn with_file(mut self, path: impl Into<SmolStr>, bytes: impl Into<Arc<[u8]>>) -> Result<Self, Problem> {
        let (path, bytes) = (path.into(), bytes.into());
        let total = self.files.values().map(|bytes| bytes.len() as u64).sum::<u64>() + bytes.len() as u64;
        admit(&path, bytes.len() as u64, self.files.len(), total)?;
        self.files.insert(path, bytes);
        Ok(self)
    }

    /// Returns the canonical list of the files: one package, one encoding.
    fn manifest(&self) -> Vec<u8> {
        let entry = |(path, bytes): (&SmolStr, &Arc<[u8]>)| ManifestFile {
            path: path.clone(),
            blob: BlobId::of(bytes),
            bytes: bytes.len() as u64,
        };
        let manifest = Manifest { format: MANIFEST_FORMAT, files: self.files.iter().map(entry).collect() };
        // Writing plain data into memory cannot fail.
        rmp_serde::to_vec_named(&manifest).unwrap_or_default()
    }
}

/// Holds a file against the rules of paths and sizes.
fn admit(path: &str, bytes: u64, count: usize, total: u64) -> Result<(), Problem> {
    let refuse = |rule, message: String, remedy: &str| Err(Problem::of_file(rule, path, message, remedy));
    if let Some(fault) = path_fault(path) {
        return refuse("package/bad-path", format!("the path {fault}"), "name files by plain relative paths");
    }
    if count >= PACKAGE_FILES_MAX {
        let message = format!("the package has more than {PACKAGE_FILES_MAX} files");
        return refuse("package/too-many-files", message, "leave out what the scenario does not need");
    }
    if bytes > PACKAGE_FILE_BYTES_MAX {
        let message = format!("the file has {bytes} bytes, and at most {PACKAGE_FILE_BYTES_MAX} are read");
        return refuse("package/file-too-large", message, "make it smaller or leave it out");
    }
    if total > PACKAGE_BYTES_MAX {
        let message = format!("the package has more than {PACKAGE_BYTES_MAX} bytes");
        return refuse("package/too-large", message, "leave out what the scenario does not need");
    }
    Ok(())
}

/// Returns what is wrong with a path inside a package.
fn path_fault(path: &str) -> Option<&'static str> {
    if path.is_empty() || path.len() > PACKAGE_PATH_BYTES_MAX {
        return Some("is empty or too long");
    }
    if path.starts_with('/') {
        return Some("is absolute");
    }
    if path.contains('\\') || path.chars().any(char::is_control) {
        return Some("holds a backslash or a control character");
    }
    if path.split('/').count() > PACKAGE_DEPTH_MAX {
        return Some("nests too deep");
    }
    if path.split('/').any(|part| part == "..") {
        return Some("climbs out of the package");
    }
    path.split('/').any(|part| part.is_empty() || part == ".").then_some("has an empty part")
}

struct Walk<'a> {
    root: &'a Path,
    files: BTreeMap<SmolStr, Arc<[u8]>>,
    bytes: u64,
    problems: Vec<Problem>,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Path, prefix: &str, depth: usize) {
        if depth > PACKAGE_DEPTH_MAX {
            let message = format!("folders nest deeper than {PACKAGE_DEPTH_MAX}");
            return self.refuse("package/bad-path", prefix, message, "make the tree flatter");
        }
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => return self.unreadable(prefix, &error),
        };
        let mut names = Vec::new();
        for entry in entries {
            match entry.map(|entry| entry.file_name().into_string()) {
                Ok(Ok(name)) if name.starts_with('.') => {}
                Ok(Ok(name)) => names.push(name),
                Ok(Err(name)) => {
                    let path = format!("{prefix}{}", name.to_string_lossy());
                    self.refuse("package/bad-path", &path, "the name is not UTF-8", "rename the file");
                }
                Err(error) => self.unreadable(prefix, &error),
            }
        }
        names.sort_unstable();
        for name in names {
            self.entry(&folder.join(&name), &format!("{prefix}{name}"), depth);
        }
    }

    fn entry(&mut self, at: &Path, path: &str, depth: usize) {
        if self.files.len() > PACKAGE_FILES_MAX {
            return;
        }
        let (link, real) = match fs::symlink_metadata(at).and_then(|link| Ok((link, at.canonicalize()?))) {
            Ok(found) => found,
            Err(error) => return self.unreadable(path, &error),
        };
        if link.is_dir() {
            return self.folder(at, &format!("{path}/"), depth + 1);
        }
        if !real.starts_with(self.root) {
            let message = "the symbolic link leads out of the package";
            return self.refuse("package/climbs-out", path, message, "copy the file into the package");
        }
        let size = match fs::metadata(&real) {
            Ok(metadata) if metadata.is_file() => metadata.len(),
            Ok(_) => {
                let message = "this is neither a file nor a folder";
                return self.refuse("package/not-a-file", path, message, "replace it by the file that is meant");
            }
            Err(error) => return self.unreadable(path, &error),
        };
        self.bytes = self.bytes.saturating_add(size);
        if let Err(problem) = admit(path, size, self.files.len(), self.bytes) {
            return self.problems.push(problem);
        }
        match fs::read(&real) {
            Ok(bytes) => {
                self.files.insert(path.into(), bytes.into());
            }
            Err(error) => self.unreadable(path, &error),
        }
    }

    fn unreadable(&mut self, path: &str, error: &std::io::Error) {
        self.refuse("package/unreadable", path, format!("this cannot be read: {error}"), "make it readable");
    }

    fn refuse(&mut self, rule: &'static str, path: &str, message: impl Into<String>, remedy: &str) {
        self.problems.push(Problem::of_file(rule, path, message, remedy));
    }
}
