//! Opens a file that somebody named, after seeing that it is one: a pipe would wait for ever, and a device may never end.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use crate::error::StoreError;

/// Opens the ordinary file at `path` for reading, and returns it with its size in bytes.
///
/// # Errors
///
/// [`StoreError::NotAFile`] for folders, pipes, sockets and devices; [`StoreError::Io`].
pub fn open_file(path: impl AsRef<Path>) -> Result<(File, u64), StoreError> {
    let path = path.as_ref();
    let kind = fs::metadata(path).map_err(StoreError::io("read", path))?.file_type();
    let what = if kind.is_file() {
        None
    } else if kind.is_dir() {
        Some("a folder")
    } else if kind.is_fifo() {
        Some("a pipe")
    } else if kind.is_socket() {
        Some("a socket")
    } else {
        Some("a device")
    };
    if let Some(what) = what {
        return Err(StoreError::NotAFile { path: path.to_owned(), what });
    }
    let file = File::open(path).map_err(StoreError::io("read", path))?;
    let length = file.metadata().map_err(StoreError::io("read", path))?.len();
    Ok((file, length))
}

/// Reads the ordinary file at `path`, which may have up to `bytes_max` bytes.
///
/// # Errors
///
/// As [`open_file`], and [`StoreError::TooLarge`].
pub fn read_file(path: impl AsRef<Path>, bytes_max: u64) -> Result<Vec<u8>, StoreError> {
    let path = path.as_ref();
    let (file, length) = open_file(path)?;
    let mut bytes = Vec::new();
    file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(StoreError::io("read", path))?;
    if bytes.len() as u64 > bytes_max {
        return Err(StoreError::TooLarge { what: "a file", bytes: length.max(bytes.len() as u64), bytes_max });
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_is_refused_with_what_it_is() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let refused = |path: &Path| match open_file(path) {
            Err(StoreError::NotAFile { what, .. }) => what,
            other => panic!("{}: {other:?}", path.display()),
        };
        assert_eq!(refused(folder.path()), "a folder");
        assert_eq!(refused(Path::new("/dev/null")), "a device");
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs");
        assert!(made.success());
        assert_eq!(refused(&pipe), "a pipe");
        let _listener = std::os::unix::net::UnixListener::bind(folder.path().join("socket")).expect("bound");
        assert_eq!(refused(&folder.path().join("socket")), "a socket");
    }

    #[test]
    fn a_file_up_to_the_limit_is_read_and_one_byte_more_is_refused() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("file");
        fs::write(&path, [7; 100]).expect("written");
        assert_eq!(read_file(&path, 100).expect("read").len(), 100);
        assert!(matches!(read_file(&path, 99), Err(StoreError::TooLarge { bytes: 100, bytes_max: 99, .. })));
    }
}
