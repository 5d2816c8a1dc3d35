//! Where the files of other programs are, and how those programs read back what we made of them (`tests/foreign/README.md`). Not a test itself.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use dayshift_engine::Seed;
use serde_json::Value as Json;

/// A file that another program made.
#[derive(Clone, Debug)]
pub struct Specimen {
    /// Where it comes from and what it is called, for people.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// Where tests find material, and the Python with the packages that read it.
#[derive(Debug)]
pub struct Material {
    python: Option<PathBuf>,
}

impl Default for Material {
    fn default() -> Self {
        Self::find()
    }
}

impl Material {
    /// Looks for the Python that `cargo xtask python` makes.
    ///
    /// # Panics
    ///
    /// In continuous integration, if it or the packages' own material is missing.
    #[must_use]
    pub fn find() -> Self {
        let python = root().join("target/venv/bin/python");
        let can = |python: &PathBuf| {
            let mut command = Command::new(python);
            command.args(["-c", "import docx, icalendar, openpyxl, pptx, recurring_ical_events"]).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        };
        let python = Some(python).filter(can).filter(|_| sources().is_dir());
        #[expect(clippy::disallowed_methods, reason = "a test asks where it runs")]
        let is_ci = std::env::var("CI").is_ok() || std::env::var("DAYSHIFT_CI").is_ok();
        assert!(python.is_some() || !is_ci, "Python's packages or their sources are missing; run `cargo xtask python`");
        if python.is_none() {
            eprintln!("not read back by other programs, which are missing; run `cargo xtask python`");
        }
        Self { python }
    }

    /// Returns whether there are other programs to read back with, and their packages' material.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.python.is_some()
    }

    /// Returns the files below `tests/foreign/material/FOLDER` whose names end in one of `endings`.
    #[must_use]
    pub fn committed(&self, folder: &str, endings: &[&str]) -> Vec<Specimen> {
        below(&root().join("tests/foreign/material").join(folder), "material", endings)
    }

    /// Returns files from the source distribution of a Python package, if it is there.
    ///
    /// # Panics
    ///
    /// If the distribution is there and has no such file.
    #[must_use]
    pub fn distribution(&self, package: &str, folder: &str, endings: &[&str]) -> Vec<Specimen> {
        if self.python.is_none() {
            return Vec::new();
        }
        let unpacked = std::fs::read_dir(sources()).into_iter().flatten().flatten().map(|entry| entry.path());
        let named = |path: &PathBuf| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&format!("{package}-")))
        };
        let found: Vec<_> = unpacked.filter(|path| path.is_dir() && named(path)).collect();
        let files: Vec<_> = found.iter().flat_map(|path| below(&path.join(folder), package, endings)).collect();
        assert!(!files.is_empty(), "the sources of {package} hold nothing in {folder}");
        files
    }

    /// Returns files that a Python package installs, if it is there.
    ///
    /// # Panics
    ///
    /// If the package is there and has no such file.
    #[must_use]
    pub fn package(&self, package: &str, endings: &[&str]) -> Vec<Specimen> {
        let Some(python) = &self.python else { return Vec::new() };
        let script = format!("import {package}, pathlib; print(pathlib.Path({package}.__file__).parent)");
        let output = Command::new(python).args(["-c", &script]).output().expect("Python runs");
        let folder = String::from_utf8(output.stdout).expect("a path is text");
        let files = below(Path::new(folder.trim()), package, endings);
        assert!(!files.is_empty(), "the package {package} holds no {endings:?}");
        files
    }

    /// Returns files that a crate in Cargo's registry brings along.
    ///
    /// # Panics
    ///
    /// If the workspace does not depend on the crate, or it has no such file.
    #[must_use]
    pub fn crated(&self, name: &str, folder: &str, endings: &[&str]) -> Vec<Specimen> {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["metadata", "--format-version", "1", "--locked", "--offline"]).current_dir(root());
        let output = cargo.output().expect("Cargo runs");
        let metadata: Json = serde_json::from_slice(&output.stdout).expect("JSON");
        let packages = metadata["packages"].as_array().expect("packages");
        let manifest = packages.iter().find(|package| package["name"] == name).expect("a crate that we depend on");
        let manifest = Path::new(manifest["manifest_path"].as_str().expect("a path"));
        let files = below(&manifest.with_file_name(folder), name, endings);
        assert!(!files.is_empty(), "the crate {name} holds nothing in {folder}");
        files
    }

    /// Lets `tests/python/SCRIPT` look at cases, one JSON object each, and returns its answers in their order; none if there is no Python.
    ///
    /// # Panics
    ///
    /// If Python fails or does not answer every case.
    #[must_use]
    pub fn read_back(&self, script: &str, cases: &[Json]) -> Vec<Json> {
        let Some(python) = &self.python else { return Vec::new() };
        let mut child = Command::new(python)
            .arg(root().join("tests/python").join(script))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Python starts");
        let lines: String = cases.iter().map(|case| format!("{case}\n")).collect();
        let mut input = child.stdin.take().expect("a pipe");
        let answers: Vec<Json> = std::thread::scope(|scope| {
            scope.spawn(move || input.write_all(lines.as_bytes()).expect("Python reads"));
            let output = child.wait_with_output().expect("Python ends");
            assert!(output.status.success(), "{script} failed");
            let text = String::from_utf8(output.stdout).expect("JSON is text");
            text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
        });
        assert_eq!(answers.len(), cases.len(), "{script} answers every case");
        answers
    }
}

impl Specimen {
    /// Returns copies of the file that were cut off, and some with bytes changed, taken out or doubled; the same ones every time.
    #[must_use]
    pub fn damaged(&self) -> Vec<Vec<u8>> {
        let bytes = &self.bytes;
        let mut random = Seed::new(7).stream(&self.name);
        let cut = [3, 5, 9].into_iter().map(|part| bytes[..bytes.len() * part / 10].to_vec());
        let mut copies: Vec<Vec<u8>> = cut.collect();
        for _ in 0..9 {
            let mut copy = bytes.clone();
            for _ in 0..=random.below(6) {
                let at = random.below(copy.len().max(1) as u64) as usize;
                let end = (at + random.below(40) as usize).min(copy.len());
                match random.below(3) {
                    0 => copy[at..end].iter_mut().for_each(|byte| *byte = random.below(256) as u8),
                    1 => drop(copy.drain(at..end)),
                    _ => copy.extend_from_within(at..end),
                }
            }
            copies.push(copy);
        }
        copies
    }
}

/// Returns the faults that the answers of a script name, each with its case.
#[must_use]
pub fn faults(answers: &[Json]) -> Vec<String> {
    let each = answers.iter().flat_map(|answer| {
        let faults = answer["faults"].as_array().into_iter().flatten();
        faults.map(|fault| {
            format!("{}: {}", answer["name"].as_str().unwrap_or_default(), fault.as_str().unwrap_or_default())
        })
    });
    each.collect()
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Where `cargo xtask python` unpacks source distributions.
fn sources() -> PathBuf {
    root().join("target/venv/sources")
}

fn below(folder: &Path, origin: &str, endings: &[&str]) -> Vec<Specimen> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(current) = open.pop() {
        for entry in std::fs::read_dir(&current).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if path.is_dir() {
                open.push(path);
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                let relative = path.strip_prefix(folder).unwrap_or(&path);
                let bytes = std::fs::read(&path).expect("a file that is there");
                found.push(Specimen { name: format!("{origin}: {}", relative.display()), bytes });
            }
        }
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}
