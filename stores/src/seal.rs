//! The seal of a closed log in a database: sizes and checksums of its files (its heads apart, which can be derived), written when it closes and removed
//! before it opens. A database under its seal is
//! as it was left. Without a seal (it was killed, or is older than seals) or with a broken one nothing is known, and the database must not
//! be opened in place: it cuts its file off at the first bytes that it cannot read.
//!
//! The checksum is against accidents; against a forger the chain stands.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::folder::{replace_file, sync_dir};

const NAME: &str = "seal";
const FIRST_LINE: &str = "dayshift seal 1";

/// What the seal of a folder says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sealed {
    /// There is nothing to seal yet.
    Fresh,
    /// The files are as they were left.
    Whole,
    /// There is no seal.
    Absent,
    /// The files, or the seal, are not as they were left.
    Broken,
}

/// Compares the files of a log with its seal.
pub(crate) fn check(log: &Path) -> Result<Sealed, StoreError> {
    let files = sealed_files(log)?;
    match fs::read(log.join(NAME)) {
        Ok(seal) if seal == describe(log, &files)?.into_bytes() => Ok(Sealed::Whole),
        Ok(_) => Ok(Sealed::Broken),
        Err(_) if files.is_empty() => Ok(Sealed::Fresh),
        Err(_) => Ok(Sealed::Absent),
    }
}

/// Seals the files of a log, which nobody writes any more.
pub(crate) fn close(log: &Path) -> Result<(), StoreError> {
    replace_file(&log.join(NAME), describe(log, &sealed_files(log)?)?.as_bytes())
}

fn sealed_files(log: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let mut files = files_below(log)?;
    let apart = ["seal", "seal.new", "heads", "heads.new"].map(|name| log.join(name));
    files.retain(|path| !apart.contains(path));
    Ok(files)
}

/// Removes the seal.
pub(crate) fn open(log: &Path) -> Result<(), StoreError> {
    let path = log.join(NAME);
    if path.exists() {
        fs::remove_file(&path).map_err(StoreError::io("remove", &path))?;
        sync_dir(log)?;
    }
    Ok(())
}

fn describe(log: &Path, files: &[PathBuf]) -> Result<String, StoreError> {
    let mut text = format!("{FIRST_LINE}\n");
    for path in files {
        let (bytes, check) = checksum(path)?;
        let name = path.strip_prefix(log).unwrap_or(path);
        text.push_str(&format!("{} {bytes} {check:08x}\n", name.display()));
    }
    Ok(text)
}

/// Returns the files below a folder, in the order of their names.
pub(crate) fn files_below(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(StoreError::io("list", &folder))? {
            let path = entry.map_err(StoreError::io("list", &folder))?.path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    Ok(found)
}

fn checksum(path: &Path) -> Result<(u64, u32), StoreError> {
    let mut file = File::open(path).map_err(StoreError::io("open", path))?;
    let mut buffer = vec![0; 1 << 20];
    let (mut bytes, mut check) = (0, 0);
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok((bytes, check)),
            Ok(count) => {
                check = crc32c::crc32c_append(check, &buffer[..count]);
                bytes += count as u64;
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(StoreError::io("read", path)(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_tells_every_change_from_none() {
        let log = tempfile::tempdir().expect("a temporary folder");
        assert_eq!(check(log.path()).expect("checked"), Sealed::Fresh);
        fs::create_dir_all(log.path().join("part/inner")).expect("made");
        fs::write(log.path().join("part/one"), b"one").expect("written");
        fs::write(log.path().join("part/inner/two"), b"two").expect("written");
        assert_eq!(check(log.path()).expect("checked"), Sealed::Absent);
        close(log.path()).expect("sealed");
        assert_eq!(check(log.path()).expect("checked"), Sealed::Whole);
        fs::write(log.path().join("part/inner/two"), b"twp").expect("written");
        assert_eq!(check(log.path()).expect("checked"), Sealed::Broken);
        fs::write(log.path().join("part/inner/two"), b"two").expect("written");
        assert_eq!(check(log.path()).expect("checked"), Sealed::Whole);
        open(log.path()).expect("removed");
        assert_eq!(check(log.path()).expect("checked"), Sealed::Absent);
    }
}
