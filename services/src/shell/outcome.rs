//! What the host brings back from running a command, read from plain data: it comes out of a record too, and may be anything.

use dayshift_engine::{BlobId, Rejection, Value, map};

use super::PATHS_SHOWN_MAX;

/// What a command came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Brought {
    /// What the caller is told.
    pub answer: Value,
    /// What the command changed in the workspace: deletions first, then folders before what is in them.
    pub changes: Vec<Change>,
}

/// One change of the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// What was at this path is gone.
    Deleted(String),
    /// There is a folder.
    Folder(String),
    /// There is a file with this content.
    File {
        /// Its path.
        path: String,
        /// Its content.
        blob: BlobId,
        /// Its permission bits.
        mode: u32,
    },
}

impl Change {
    /// Returns the path.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            Self::Deleted(path) | Self::Folder(path) | Self::File { path, .. } => path,
        }
    }

    fn read(value: &Value) -> Option<Self> {
        let path = value.get("path")?.as_text()?.to_owned();
        Some(match value.get("kind")?.as_text()? {
            "deleted" => Self::Deleted(path),
            "folder" => Self::Folder(path),
            "file" => Self::File {
                path,
                blob: value.get("blob")?.as_text()?.parse().ok()?,
                mode: value.get("mode").and_then(Value::as_int).and_then(|mode| u32::try_from(mode).ok())?,
            },
            _ => return None,
        })
    }
}

impl Brought {
    /// Reads what the host brought back.
    ///
    /// # Errors
    ///
    /// `shell/unavailable` when it could not run anything, `shell/too-much-changed` when what the command changed was not kept,
    /// `shell/bad-outcome` when this is no outcome.
    pub fn read(value: &Value) -> Result<Self, Rejection> {
        if *value == Value::Null {
            return Err(Rejection::new("shell/unavailable", "this program runs no commands; use the other tools"));
        }
        if let Some(why) = value.get("unavailable").and_then(Value::as_text) {
            return Err(Rejection::new("shell/unavailable", why));
        }
        if let Some(why) = value.get("refused").and_then(Value::as_text) {
            return Err(Rejection::new("shell/too-much-changed", why));
        }
        let listed = value.get("changes").and_then(Value::as_list).ok_or_else(bad_outcome)?;
        let changes = listed.iter().map(Change::read).collect::<Option<Vec<_>>>().ok_or_else(bad_outcome)?;
        Ok(Self { answer: answer(value, &changes), changes })
    }
}

fn answer(value: &Value, changes: &[Change]) -> Value {
    let mut answer = map! {
        "exit_code" => value.get("exit_code").cloned(),
        "stdout" => shown(value, "stdout", "stdout_bytes"),
        "stderr" => shown(value, "stderr", "stderr_bytes"),
    };
    let Value::Map(map) = &mut answer else { return answer };
    if value.get("timed_out").and_then(Value::as_bool) == Some(true) {
        map.insert("timed_out".into(), true.into());
    }
    if let Some(why) = value.get("stopped").filter(|why| **why != Value::Null) {
        map.insert("stopped".into(), why.clone());
    }
    let deleted = |change: &&Change| matches!(change, Change::Deleted(_));
    let mut name = |key: &str, paths: Vec<&str>| {
        if !paths.is_empty() {
            map.insert(key.into(), paths.iter().take(PATHS_SHOWN_MAX).map(|path| (*path).to_owned()).collect());
        }
        if paths.len() > PATHS_SHOWN_MAX {
            map.insert(format!("{key}_total").into(), paths.len().into());
        }
    };
    name("deleted", changes.iter().filter(deleted).map(Change::path).collect());
    name("changed", changes.iter().filter(|change| !deleted(change)).map(Change::path).collect());
    if let Some(dropped) = value.get("dropped").and_then(Value::as_list).filter(|dropped| !dropped.is_empty()) {
        map.insert("dropped".into(), dropped.iter().take(PATHS_SHOWN_MAX).cloned().collect());
    }
    answer
}

/// Returns a stream of the command, and how much of it was left out.
fn shown(value: &Value, stream: &str, total: &str) -> String {
    let text = value.get(stream).and_then(Value::as_text).unwrap_or_default();
    let kept = value.get(&format!("{stream}_kept")).and_then(Value::as_int).unwrap_or_default();
    let total = value.get(total).and_then(Value::as_int).unwrap_or_default();
    if total > kept { format!("{text}\n[{} more bytes were left out]", total - kept) } else { text.to_owned() }
}

fn bad_outcome() -> Rejection {
    Rejection::new("shell/bad-outcome", "what the command came to cannot be read; run it again")
}
