//! A new scenario: writes the starter package, which is small, complete, commented, and passes `check`. Its files are those below
//! `cli/starter/`, embedded in the binary.

use std::path::Path;

use crate::commands::Desk;
use crate::talk::{self, Failure, Verdict};

/// The id that the starter's files carry; the folder's name takes its place.
const STARTER_ID: &str = "starter-v1";

/// The longest name of a package, in bytes.
const NAME_BYTES_MAX: usize = 64;

macro_rules! starter {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../starter/", $path)))),*]
    };
}

/// The files of the starter package.
const STARTER: &[(&str, &str)] = starter![
    "scenario.yaml",
    "checks.star",
    "examples.yaml",
    "personas/omar.star",
    "world/files/refund-policy.md",
    "world/mail/ann@acme.example/INBOX/001-carla.eml",
    "world/records/orders.yaml",
    "inject/tue/ben.eml",
    "solutions/reference.yaml",
    "solutions/bad-monday-only.yaml",
    "solutions/bad-no-approval.yaml",
];

/// Writes the starter package to the folder `dir`.
pub(crate) fn new(desk: &Desk, dir: &Path) -> Result<Verdict, Failure> {
    let name = dir.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if !is_id(name) {
        let message = format!(
            "'{name}' cannot be a scenario's id: use a-z, 0-9, '-', '_' and '.', and end it in -v1, such as my-scenario-v1"
        );
        return Err(Failure::new("new/bad-name", message));
    }
    let is_taken = match std::fs::read_dir(dir) {
        Ok(mut entries) => entries.next().is_some(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
        Err(error) => return Err(cannot_write(dir, &error)),
    };
    if is_taken {
        let message = format!("{} is not empty; name a folder that is not there yet", dir.display());
        return Err(Failure::new("new/not-empty", message));
    }
    for (path, text) in STARTER {
        let target = dir.join(path);
        let folder = target.parent().unwrap_or(dir);
        std::fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
        std::fs::write(&target, text.replace(STARTER_ID, name)).map_err(|error| cannot_write(&target, &error))?;
    }
    if desk.json {
        let files: Vec<&str> = STARTER.iter().map(|(path, _)| *path).collect();
        talk::print_json(&serde_json::json!({ "scenario": name, "folder": dir.display().to_string(), "files": files }));
    } else {
        talk::print(&format!("{}: {} files", dir.display(), STARTER.len()));
        for (path, _) in STARTER {
            talk::print(&format!("  {path}"));
        }
        eprintln!("read scenario.yaml first; `dayshift check {}` says whether it is good", shown(dir));
    }
    Ok(Verdict::Good)
}

/// Returns a path as the other commands take it for one.
fn shown(dir: &Path) -> String {
    let text = dir.display().to_string();
    if text.contains('/') { text } else { format!("./{text}") }
}

fn is_id(name: &str) -> bool {
    let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
    let version = name.rsplit_once("-v").map(|(_, version)| version);
    name.len() <= NAME_BYTES_MAX
        && !name.starts_with(['.', '-'])
        && name.chars().all(good)
        && version.is_some_and(|version| !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit()))
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new("new/cannot-write", format!("{} cannot be written: {error}", path.display()))
}
