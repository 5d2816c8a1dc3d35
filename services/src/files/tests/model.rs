//! The workspace against a simple model: random calls on both, which must agree on every refusal and every byte.

use std::collections::{BTreeMap, BTreeSet};

use dayshift_engine::{Applying, Canonical, Content, Rejection, Value, map};
use proptest::prelude::*;

use crate::files::{EntryPath, FilesEvent, FilesState};
use crate::service::Service;
use crate::testing::Bench;

#[derive(Clone, Debug)]
enum Step {
    Write(String, Vec<u8>),
    Append(String, String),
    Edit(String, String, String),
    Move(String, String, bool),
    Copy(String, String, bool),
    Delete(String, bool),
    MakeFolder(String),
}

/// Files and folders in two flat sets. The workspace itself is not among the folders.
#[derive(Clone, Debug, Default)]
struct Model {
    files: BTreeMap<String, Vec<u8>>,
    folders: BTreeSet<String>,
}

impl Model {
    fn is_folder(&self, path: &str) -> bool {
        path.is_empty() || self.folders.contains(path)
    }

    fn is_there(&self, path: &str) -> bool {
        self.is_folder(path) || self.files.contains_key(path)
    }

    /// Makes the folder at `path` and those that lead to it; false if a file is in the way.
    fn make_folder(&mut self, path: &str) -> bool {
        let ends = path.match_indices('/').map(|(at, _)| at).skip(1).chain([path.len()]);
        let all: Vec<String> = ends.filter(|end| *end > 0).map(|end| path[..end].to_owned()).collect();
        if all.iter().any(|folder| self.files.contains_key(folder)) {
            return false;
        }
        self.folders.extend(all);
        true
    }

    fn write(&mut self, path: &str, bytes: Vec<u8>) -> bool {
        if self.is_folder(path) || !self.make_folder(parent(path)) {
            return false;
        }
        self.files.insert(path.to_owned(), bytes);
        true
    }

    fn below(path: &str, other: &str) -> bool {
        other == path || other.starts_with(&format!("{path}/"))
    }

    fn delete(&mut self, path: &str, recursive: bool) -> bool {
        let inside = self.files.keys().chain(&self.folders).any(|other| other != path && Self::below(path, other));
        if !self.is_there(path) || (inside && !recursive) {
            return false;
        }
        self.files.retain(|other, _| !Self::below(path, other));
        self.folders.retain(|other| !Self::below(path, other));
        true
    }

    fn transfer(&mut self, source: &str, target: &str, overwrite: bool, keep: bool) -> bool {
        if !self.is_there(source) {
            return false;
        }
        let name = &source[source.rfind('/').map_or(0, |at| at)..];
        let target = if self.is_folder(target) { format!("{target}{name}") } else { target.to_owned() };
        let replaces = overwrite && self.files.contains_key(source) && self.files.contains_key(&target);
        if Self::below(source, &target) || (self.is_there(&target) && !replaces) || !self.is_folder(parent(&target)) {
            return false;
        }
        let moved = |path: &str| format!("{target}{}", &path[source.len()..]);
        let files: Vec<(String, Vec<u8>)> = self
            .files
            .iter()
            .filter(|(path, _)| Self::below(source, path))
            .map(|(path, bytes)| (moved(path), bytes.clone()))
            .collect();
        let folders: Vec<String> =
            self.folders.iter().filter(|path| Self::below(source, path)).map(|path| moved(path)).collect();
        if !keep {
            self.delete(source, true);
        }
        self.files.extend(files);
        self.folders.extend(folders);
        true
    }

    /// Does `step`; false if it must be refused, and nothing has changed.
    fn step(&mut self, step: &Step) -> bool {
        let before = self.clone();
        let done = match step {
            Step::Write(path, bytes) => self.write(path, bytes.clone()),
            Step::Append(path, text) => {
                let mut bytes = self.files.get(path).cloned().unwrap_or_default();
                bytes.extend_from_slice(text.as_bytes());
                self.write(path, bytes)
            }
            Step::Edit(path, old, new) => {
                let text = self.files.get(path).and_then(|bytes| String::from_utf8(bytes.clone()).ok());
                match text {
                    Some(text) if old != new && text.matches(old.as_str()).count() == 1 => {
                        self.write(path, text.replace(old.as_str(), new).into_bytes())
                    }
                    Some(_) | None => false,
                }
            }
            Step::Move(source, target, overwrite) => self.transfer(source, target, *overwrite, false),
            Step::Copy(source, target, overwrite) => self.transfer(source, target, *overwrite, true),
            Step::Delete(path, recursive) => self.delete(path, *recursive),
            Step::MakeFolder(path) => !self.files.contains_key(path) && self.make_folder(path),
        };
        if !done {
            *self = before;
        }
        done
    }
}

fn parent(path: &str) -> &str {
    path.rfind('/').map_or("", |at| &path[..at])
}

fn call(bench: &mut Bench<FilesState>, step: &Step) -> Result<Value, Rejection> {
    use base64::Engine as _;
    let base64 = |bytes: &[u8]| base64::engine::general_purpose::STANDARD.encode(bytes);
    match step {
        Step::Write(path, bytes) => {
            bench.call("files.write", map! { "path" => path.as_str(), "base64" => base64(bytes) })
        }
        Step::Append(path, text) => {
            bench.call("files.append", map! { "path" => path.as_str(), "text" => text.as_str() })
        }
        Step::Edit(path, old, new) => {
            bench.call("files.edit", map! { "path" => path.as_str(), "old" => old.as_str(), "new" => new.as_str() })
        }
        Step::Move(source, target, overwrite) | Step::Copy(source, target, overwrite) => {
            let tool = if matches!(step, Step::Move(..)) { "files.move" } else { "files.copy" };
            let arguments =
                map! { "source" => source.as_str(), "target" => target.as_str(), "overwrite" => *overwrite };
            bench.call(tool, arguments)
        }
        Step::Delete(path, recursive) => {
            bench.call("files.delete", map! { "path" => path.as_str(), "recursive" => *recursive })
        }
        Step::MakeFolder(path) => bench.call("files.make_folder", map! { "path" => path.as_str() }),
    }
}

/// Returns the workspace as the model sees it.
fn seen(service: &FilesState, bench: &Bench<FilesState>) -> Model {
    let mut model = Model::default();
    for (path, entry) in service.dump().as_map().expect("a map") {
        if entry.get("kind").and_then(Value::as_text) == Some("folder") {
            model.folders.insert(path.to_string());
        } else {
            let frame = dayshift_engine::Frame::new();
            let content = service.content(path, &frame).expect("a file");
            let looking = dayshift_engine::Looking { time: bench.time, frame: &frame, blobs: &bench.blobs };
            model.files.insert(path.to_string(), looking.load(content).expect("the content is there").to_vec());
        }
    }
    model
}

fn paths() -> impl Strategy<Value = String> {
    prop::collection::vec("[abc]", 1..4).prop_map(|names| format!("/{}", names.join("/")))
}

/// Returns `bytes` so that they are text if they are UTF-8 and no text otherwise: other charsets are not in the model.
fn text_or_not(mut bytes: Vec<u8>) -> Vec<u8> {
    if std::str::from_utf8(&bytes).is_err() {
        bytes.push(0);
    }
    bytes
}

fn steps() -> impl Strategy<Value = Step> {
    let bytes = prop_oneof![
        prop::collection::vec(0..0xfe_u8, 0..6).prop_map(text_or_not),
        prop::collection::vec(Just(b'x'), 1020..1030),
        "[xy]{0,3}".prop_map(String::into_bytes),
    ];
    prop_oneof![
        4 => (paths(), bytes).prop_map(|(path, bytes)| Step::Write(path, bytes)),
        1 => (paths(), "[xy]{0,3}").prop_map(|(path, text)| Step::Append(path, text)),
        2 => (paths(), "[xy]{1,2}", "[xyz]{0,2}").prop_map(|(path, old, new)| Step::Edit(path, old, new)),
        2 => (paths(), paths(), any::<bool>()).prop_map(|(source, target, over)| Step::Move(source, target, over)),
        2 => (paths(), paths(), any::<bool>()).prop_map(|(source, target, over)| Step::Copy(source, target, over)),
        1 => (paths(), any::<bool>()).prop_map(|(path, recursive)| Step::Delete(path, recursive)),
        1 => paths().prop_map(Step::MakeFolder),
    ]
}

fn events() -> impl Strategy<Value = FilesEvent> {
    let path = || {
        prop_oneof![9 => paths(), 1 => Just("/".to_owned())]
            .prop_map(|text| EntryPath::parse(&text).expect("a good path"))
    };
    prop_oneof![
        (path(), "[xy]{0,2}").prop_map(|(path, text)| FilesEvent::FileWritten {
            path,
            content: Content::Inline(text.into_bytes().into()),
            mode: 0o644,
            modified: None,
        }),
        path().prop_map(|path| FilesEvent::FolderMade { path }),
        (path(), path()).prop_map(|(source, target)| FilesEvent::EntryMoved { source, target }),
        (path(), path()).prop_map(|(source, target)| FilesEvent::EntryCopied { source, target }),
        path().prop_map(|path| FilesEvent::EntryDeleted { path }),
    ]
}

proptest! {
    #[test]
    fn any_events_can_be_applied_and_leave_a_tree(events in prop::collection::vec(events(), 1..30)) {
        let mut bench = Bench::new(FilesState::new());
        let mut canonical = Canonical::default();
        for event in &events {
            let mut applying = Applying::new(bench.seq, bench.time, &bench.actor, None, &mut canonical);
            bench.service.apply(event.clone(), &mut applying);
        }
        let model = seen(&bench.service, &bench);
        prop_assert_eq!(bench.service.entries(), model.files.len() + model.folders.len());
        for path in model.files.keys().chain(&model.folders) {
            prop_assert!(model.is_folder(parent(path)), "{} hangs in the air after {:?}", path, events);
        }
        let mut fresh = Bench::new(FilesState::new());
        for folder in &model.folders {
            call(&mut fresh, &Step::MakeFolder(folder.clone())).expect("made");
        }
        for (path, bytes) in &model.files {
            call(&mut fresh, &Step::Write(path.clone(), bytes.clone())).expect("written");
        }
        prop_assert_eq!(fresh.service.digest(), bench.service.digest());
    }

    #[test]
    fn any_calls_have_the_same_outcome_as_on_the_model(steps in prop::collection::vec(steps(), 1..40)) {
        let mut bench = Bench::new(FilesState::new());
        let mut model = Model::default();
        for step in &steps {
            let before = bench.service.clone();
            let result = call(&mut bench, step);
            prop_assert_eq!(result.is_ok(), model.step(step), "{:?} gave {:?}", step, result);
            let now = seen(&bench.service, &bench);
            prop_assert_eq!(&now.files, &model.files);
            prop_assert_eq!(&now.folders, &model.folders);
            prop_assert_eq!(bench.service.entries(), model.files.len() + model.folders.len());
            let mut differences = Vec::new();
            before.differences(&bench.service, &mut differences);
            prop_assert_eq!(differences.is_empty(), before.digest() == bench.service.digest());
        }
        // The digest depends on what is there, not on the way there.
        let mut fresh = Bench::new(FilesState::new());
        for folder in &model.folders {
            call(&mut fresh, &Step::MakeFolder(folder.clone())).expect("made");
        }
        for (path, bytes) in &model.files {
            call(&mut fresh, &Step::Write(path.clone(), bytes.clone())).expect("written");
        }
        prop_assert_eq!(fresh.service.digest(), bench.service.digest());
    }
}
