//! The folder of a store on disk: who has it open, of which kind it is, and which generation of its log counts. Not what the log looks like.
//!
//! ```text
//! STORE       "dayshift store 1", the kind, the generation in use: replaced by renaming
//! lock        locked while a process has the store open
//! blobs/      content by its hash
//! log-N/      the log of generation N, in the kind's own form, with its file of heads
//! log-N.quarantine/   a log that was found damaged and was rebuilt; it can be read
//! log-N.torn/   what was cut off of segment files as the remains of unfinished writes
//! ```

use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::error::StoreError;

const MARKER: &str = "STORE";
const FIRST_LINE: &str = "dayshift store 1";

/// How long an opener waits for a lock that is being released.
const LOCK_WAIT: Duration = Duration::from_millis(1500);

/// The form of a store's log on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// An embedded database.
    #[default]
    Sled,
    /// Plain append-only files.
    Segment,
}

impl Kind {
    /// Returns the name that the store's folder carries.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sled => "sled",
            Self::Segment => "segment",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        [Self::Sled, Self::Segment].into_iter().find(|kind| kind.as_str() == name)
    }
}

/// A store's folder that this process has open.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    kind: Kind,
    generation: u64,
    /// Held, not read: the lock goes when the file is closed.
    _lock: File,
}

impl Folder {
    /// Opens the folder, and makes it first if it is missing or empty.
    pub(crate) fn open(path: &Path, kind: Kind) -> Result<Self, StoreError> {
        let found = detect(path)?;
        fs::create_dir_all(path).map_err(StoreError::io("create", path))?;
        let lock = lock(path)?;
        // Again under the lock: another process may have made the store meanwhile.
        let found = if found.is_some() { found } else { detect(path)? };
        if let Some(found) = found.filter(|&found| found != kind) {
            let reason = format!("it holds a {} store, so open it as that", found.as_str());
            return Err(StoreError::NotAStore { path: path.to_owned(), reason });
        }
        let generation = match read_marker(path)? {
            Some((_, generation)) => generation,
            None => {
                let made = path.join("log-1");
                fs::create_dir_all(&made).map_err(StoreError::io("create", &made))?;
                write_marker(path, kind, 1)?;
                1
            }
        };
        let folder = Self { path: path.to_owned(), kind, generation, _lock: lock };
        folder.sweep()?;
        Ok(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the folder of the log that counts.
    pub(crate) fn log(&self) -> PathBuf {
        self.path.join(format!("log-{}", self.generation))
    }

    /// Makes an empty folder for the next generation of the log, which does not count yet.
    pub(crate) fn begin_generation(&self) -> Result<PathBuf, StoreError> {
        let next = self.path.join(format!("log-{}", self.generation + 1));
        if next.exists() {
            fs::remove_dir_all(&next).map_err(StoreError::io("remove", &next))?;
        }
        fs::create_dir_all(&next).map_err(StoreError::io("create", &next))?;
        Ok(next)
    }

    /// Lets the next generation count, in one step that a crash cannot split.
    pub(crate) fn finish_generation(&mut self) -> Result<(), StoreError> {
        sync_dir(&self.path)?;
        write_marker(&self.path, self.kind, self.generation + 1)?;
        self.generation += 1;
        Ok(())
    }

    /// Removes the log of the generation before.
    pub(crate) fn remove_previous(&self) -> Result<(), StoreError> {
        let old = self.path.join(format!("log-{}", self.generation - 1));
        fs::remove_dir_all(&old).map_err(StoreError::io("remove", &old))?;
        sync_dir(&self.path)
    }

    /// Moves the log of the generation before out of the way, and returns where it is now.
    pub(crate) fn quarantine_previous(&self) -> Result<PathBuf, StoreError> {
        self.quarantine(&self.path.join(format!("log-{}", self.generation - 1)))
    }

    fn quarantine(&self, old: &Path) -> Result<PathBuf, StoreError> {
        let mut to = old.with_extension("quarantine");
        for copy in 2.. {
            if !to.exists() {
                break;
            }
            to = old.with_extension(format!("quarantine-{copy}"));
        }
        fs::rename(old, &to).map_err(StoreError::io("rename", old))?;
        sync_dir(&self.path)?;
        Ok(to)
    }

    /// Tidies up after an interrupted rebuild or compaction: removes a generation that does not count yet, keeps one that counted aside.
    fn sweep(&self) -> Result<(), StoreError> {
        for entry in fs::read_dir(&self.path).map_err(StoreError::io("list", &self.path))? {
            let path = entry.map_err(StoreError::io("list", &self.path))?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let number = name.strip_prefix("log-").and_then(|number| number.parse::<u64>().ok());
            match number {
                Some(number) if number > self.generation || number == 0 => {
                    fs::remove_dir_all(&path).map_err(StoreError::io("remove", &path))?;
                }
                Some(number) if number < self.generation => {
                    self.quarantine(&path)?;
                }
                Some(_) | None => {}
            }
        }
        Ok(())
    }
}

/// Returns the kind of the store in `path`, or nothing if the folder is missing or empty.
///
/// # Errors
///
/// [`StoreError::NotAStore`] when there is something else in it.
pub fn detect(path: &Path) -> Result<Option<Kind>, StoreError> {
    if let Some((kind, _)) = read_marker(path)? {
        return Ok(Some(kind));
    }
    if !path.exists() {
        return Ok(None);
    }
    // A kill while the store was made leaves these and nothing else.
    let ours = ["lock", "log-1", "STORE.new"];
    for entry in fs::read_dir(path).map_err(StoreError::io("list", path))? {
        let name = entry.map_err(StoreError::io("list", path))?.file_name();
        if !ours.iter().any(|our| name == *our) {
            let reason = "it holds other files and no file STORE: choose an empty or a new folder".to_owned();
            return Err(StoreError::NotAStore { path: path.to_owned(), reason });
        }
    }
    Ok(None)
}

/// Returns the folder of the log that counts in the store in `path`, or nothing if there is no store.
pub(crate) fn log_in_use(path: &Path) -> Result<Option<PathBuf>, StoreError> {
    match read_marker(path)? {
        Some((_, generation)) => Ok(Some(path.join(format!("log-{generation}")))),
        None => detect(path).map(|_| None),
    }
}

/// Returns the logs of the store in `path` that are in quarantine, oldest first.
pub(crate) fn quarantined_logs(path: &Path) -> Result<Vec<PathBuf>, StoreError> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(path).map_err(StoreError::io("list", path))? {
        let log = entry.map_err(StoreError::io("list", path))?.path();
        let ending = log.extension().map(|ending| ending.to_string_lossy().into_owned()).unwrap_or_default();
        if log.is_dir() && ending.starts_with("quarantine") {
            let stem = log.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            let number: u64 = stem.strip_prefix("log-").and_then(|number| number.parse().ok()).unwrap_or(0);
            found.push((number, log));
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(_, log)| log).collect())
}

fn read_marker(path: &Path) -> Result<Option<(Kind, u64)>, StoreError> {
    let marker = path.join(MARKER);
    let text = match fs::read(&marker) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StoreError::io("read", &marker)(error)),
    };
    let bad = |reason: &str| StoreError::NotAStore { path: path.to_owned(), reason: reason.to_owned() };
    let (body, check) = text
        .trim_end_matches('\n')
        .rsplit_once('\n')
        .ok_or_else(|| bad("its file STORE is cut off: restore it from a copy"))?;
    if check != check_line(body) || !text.ends_with('\n') {
        return Err(bad("its file STORE is damaged: restore it from a copy"));
    }
    let mut lines = body.lines();
    if lines.next() != Some(FIRST_LINE) {
        return Err(bad("it was written by another version: use that one"));
    }
    let kind = lines.next().and_then(|line| Kind::from_name(line.strip_prefix("kind ")?));
    let generation = lines.next().and_then(|line| line.strip_prefix("generation ")?.parse().ok());
    kind.zip(generation).map(Some).ok_or_else(|| bad("its file STORE names no kind that is known: use a newer version"))
}

fn check_line(body: &str) -> String {
    format!("check {:08x}", crc32c::crc32c(body.as_bytes()))
}

fn write_marker(path: &Path, kind: Kind, generation: u64) -> Result<(), StoreError> {
    let body = format!("{FIRST_LINE}\nkind {}\ngeneration {generation}", kind.as_str());
    replace_file(&path.join(MARKER), format!("{body}\n{}\n", check_line(&body)).as_bytes())
}

fn lock(path: &Path) -> Result<File, StoreError> {
    let name = path.join("lock");
    let file =
        File::options().create(true).truncate(false).write(true).open(&name).map_err(StoreError::io("open", &name))?;

    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if begun.elapsed() > LOCK_WAIT => {
                return Err(StoreError::Locked { path: path.to_owned() });
            }
            Err(TryLockError::WouldBlock) => pause(),
            Err(TryLockError::Error(error)) => return Err(StoreError::io("lock", &name)(error)),
        }
    }
}

/// Waits a moment for another process.
pub(crate) fn pause() {
    std::thread::sleep(Duration::from_millis(10));
}

/// Writes a file under another name, makes it durable, and renames it into place.
pub(crate) fn replace_file(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let fresh = path.with_file_name(name);
    let mut file = File::create(&fresh).map_err(StoreError::io("create", &fresh))?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(StoreError::io("write", &fresh))?;
    fs::rename(&fresh, path).map_err(StoreError::io("rename", &fresh))?;
    sync_dir(path.parent().unwrap_or(Path::new(".")))
}

/// Makes the names in a folder durable.
pub(crate) fn sync_dir(path: &Path) -> Result<(), StoreError> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    File::open(path).and_then(|dir| dir.sync_all()).map_err(StoreError::io("sync", path))
}
