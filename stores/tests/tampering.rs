//! Bytes that were altered where they rest are found, and the record at fault is named. Never are other records read in silence.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dayshift_engine::{BadLink, BlobId, Head};
use dayshift_stores::conformance::{all, fork, grow, id, make};
use dayshift_stores::{Damage, Finding, Kind, MemoryStore, PortableLog, Store, StoreError, export, import, open};
use tempfile::TempDir;

/// Returns a temporary folder, in memory where the machine has that: these tests open stores thousands of times and need no disk.
fn scratch() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a temporary folder")
}

/// Returns the position of the record that a damage names.
fn named(damage: &Damage) -> Option<u64> {
    let Damage::Record { link, .. } = damage else { return None };
    Some(match link {
        BadLink::Malformed { seq }
        | BadLink::Position { seq, .. }
        | BadLink::Previous { seq }
        | BadLink::Head { seq }
        | BadLink::Truncated { seq, .. } => seq.get(),
    })
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

/// Returns which of `records` the byte at `at` of `file` belongs to.
fn owner(file: &[u8], records: &[Vec<u8>], at: usize) -> Option<u64> {
    let inside = |record: &Vec<u8>| find(file, record).is_some_and(|from| (from..from + record.len()).contains(&at));
    records.iter().position(inside).map(|position| position as u64)
}

struct Exported {
    folder: TempDir,
    file: Vec<u8>,
    records: Vec<Vec<u8>>,
    blob: BlobId,
    head: Head,
}

impl Exported {
    fn path(&self) -> PathBuf {
        self.folder.path().join("run.dayshift")
    }
}

fn exported() -> Exported {
    let store = MemoryStore::new();
    make(&store, "root");
    grow(&store, "root", 4, 20);
    fork(&store, "run", "root", 3);
    grow(&store, "run", 3, 25);
    let blob = store.put_blob(&Arc::from(*b"a blob of some bytes")).expect("kept");
    let folder = scratch();
    let path = folder.path().join("run.dayshift");
    let head = export(&store, &id("run"), &[blob], &path, b"note").expect("exported");
    let file = fs::read(&path).expect("read");
    Exported { folder, file, records: all(&store, "run", 0), blob, head }
}

#[test]
fn a_portable_log_brings_everything_along() {
    let exported = exported();
    let log = PortableLog::open(exported.path()).expect("it opens");
    assert_eq!((log.branch(), log.note(), log.head()), (&id("run"), b"note".as_slice(), exported.head));
    assert_eq!(log.records().map(|record| record.expect("read").to_vec()).collect::<Vec<_>>(), exported.records);
    assert_eq!(log.blob(exported.blob).expect("read").as_deref(), Some(b"a blob of some bytes".as_slice()));
    let store = MemoryStore::new();
    assert_eq!(import(&store, &log, &id("again"), log.note()).expect("imported"), exported.head);
    assert_eq!(all(&store, "again", 0), exported.records);
    assert!(store.blob(exported.blob).expect("read").is_some());
    assert_eq!(store.verify(&id("again"), &mut |_| ()).expect("verified"), exported.head);
}

#[test]
fn exports_of_the_same_log_are_the_same_bytes() {
    assert_eq!(exported().file, exported().file);
}

#[test]
fn every_altered_byte_of_a_portable_log_is_found_and_its_record_named() {
    let exported = exported();
    for at in 0..exported.file.len() {
        for bit in [0, 6] {
            let mut altered = exported.file.clone();
            altered[at] ^= 1 << bit;
            let found = PortableLog::parse("run.dayshift", altered).expect_err("an altered byte must be found");
            let StoreError::Damaged(damage) = found else { panic!("byte {at}: {found}") };
            if let Some(owner) = owner(&exported.file, &exported.records, at) {
                assert_eq!(named(&damage), Some(owner), "byte {at}: {damage}");
            }
        }
    }
}

#[test]
fn every_shortened_portable_log_is_found() {
    let exported = exported();
    for length in 0..exported.file.len() {
        assert!(PortableLog::parse("run.dayshift", exported.file[..length].to_vec()).is_err(), "{length} bytes");
    }
    let longer = [exported.file.as_slice(), &[0]].concat();
    assert!(PortableLog::parse("run.dayshift", longer).is_err(), "a byte more");
}

#[test]
fn text_is_no_portable_log() {
    let parsed = PortableLog::parse("notes.txt", b"dear diary".repeat(100));
    assert!(matches!(parsed, Err(StoreError::NotAStore { .. })));
    assert!(PortableLog::parse("empty", Vec::new()).is_err());
}

/// A closed store, and what its branches hold.
struct Rested {
    folder: TempDir,
    kind: Kind,
    branches: Vec<(&'static str, Vec<Vec<u8>>)>,
    notes: Vec<Vec<u8>>,
}

fn rested(kind: Kind) -> Rested {
    let folder = scratch();
    let names = ["root", "left", "right"];
    let store = open(folder.path().join("store"), Some(kind)).expect("it opens");
    make(&*store, "root");
    grow(&*store, "root", 3, 20);
    fork(&*store, "left", "root", 2);
    grow(&*store, "left", 2, 25);
    fork(&*store, "right", "root", 3);
    grow(&*store, "right", 1, 30);
    grow(&*store, "left", 1, 26);
    grow(&*store, "right", 2, 31);
    let branches = names.map(|name| (name, all(&*store, name, 0))).to_vec();
    let notes = store.branches().expect("listed").into_iter().map(|info| info.note).collect();
    Rested { folder, kind, branches, notes }
}

impl Rested {
    fn log(&self) -> PathBuf {
        self.folder.path().join("store/log-1")
    }

    /// Opens the store with one byte altered, and returns the findings and what verification says of each branch. Panics if other
    /// records than those that were written are read in silence.
    fn with_altered(&self, file: &Path, at: usize, mask: u8) -> Outcome {
        let copy = scratch();
        copy_folder(&self.folder.path().join("store"), copy.path());
        let victim = copy.path().join("log-1").join(file);
        let mut bytes = fs::read(&victim).expect("read");
        bytes[at] ^= mask;
        fs::write(&victim, bytes).expect("written");
        let store = match open(copy.path(), Some(self.kind)) {
            Ok(store) => store,
            Err(error) => return Outcome { refused: Some(error), ..Outcome::default() },
        };
        let mut outcome = Outcome { findings: store.findings(), ..Outcome::default() };
        for (name, records) in &self.branches {
            match store.verify(&id(name), &mut |_| ()) {
                Err(StoreError::Damaged(damage)) => outcome.damaged.push(damage),
                Err(other) => outcome.refused = Some(other),
                Ok(_) => assert_eq!(&all(&*store, name, 0), records, "{name} verifies with other records, byte {at}"),
            }
        }
        let notes: Vec<_> = store.branches().expect("listed").into_iter().map(|info| info.note).collect();
        assert!(notes == self.notes || outcome.is_found(), "other notes in silence, byte {at}");
        outcome
    }
}

#[derive(Debug, Default)]
struct Outcome {
    refused: Option<StoreError>,
    findings: Vec<Finding>,
    damaged: Vec<Damage>,
}

impl Outcome {
    fn is_found(&self) -> bool {
        self.refused.is_some() || !self.findings.is_empty() || !self.damaged.is_empty()
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("listed") {
        let path = entry.expect("listed").path();
        let target = to.join(path.file_name().expect("it has a name"));
        if path.is_dir() {
            copy_folder(&path, &target);
        } else {
            fs::copy(&path, &target).expect("copied");
        }
    }
}

#[test]
fn every_altered_byte_of_a_segment_file_is_found_and_its_record_named() {
    let rested = rested(Kind::Segment);
    let file = Path::new("00000001.segment");
    let bytes = fs::read(rested.log().join(file)).expect("read");
    for at in 0..bytes.len() {
        let outcome = rested.with_altered(file, at, 1);
        assert!(outcome.is_found(), "byte {at} of {}", bytes.len());
        for (name, records) in &rested.branches {
            let Some(owner) = owner(&bytes, records, at) else { continue };
            let of_branch = |damage: &&Damage| matches!(damage, Damage::Record { branch, .. } if branch == &id(name));
            let damage = outcome.damaged.iter().find(of_branch);
            assert_eq!(damage.and_then(named), Some(owner), "byte {at} of {name}: {outcome:?}");
        }
    }
}

#[test]
fn every_altered_byte_of_the_heads_is_found() {
    for kind in [Kind::Segment, Kind::Sled] {
        let rested = rested(kind);
        let bytes = fs::read(rested.log().join("heads")).expect("read");
        for at in (0..bytes.len()).step_by(if kind == Kind::Sled { 7 } else { 1 }) {
            assert!(rested.with_altered(Path::new("heads"), at, 1).is_found(), "{kind:?}, byte {at}");
        }
    }
}

#[test]
fn whole_records_cut_from_the_end_of_a_segment_file_are_missed() {
    let rested = rested(Kind::Segment);
    let path = rested.log().join("00000001.segment");
    let bytes = fs::read(&path).expect("read");
    let last = rested.branches[2].1.last().expect("a record");
    let mut frame = bytes.windows(7).take(find(&bytes, last).expect("it is there")).enumerate();
    let cut = frame.rfind(|(_, window)| window == b"DSFRAME").expect("a frame").0;
    fs::write(&path, &bytes[..cut]).expect("written");
    let store = open(rested.folder.path().join("store"), None).expect("it opens");
    let verified = store.verify(&id("right"), &mut |_| ());
    let Err(StoreError::Damaged(damage)) = verified else { panic!("the cut must be found: {verified:?}") };
    assert_eq!(named(&damage), Some(4), "{damage}");
    assert!(store.verify(&id("left"), &mut |_| ()).is_ok(), "other branches are whole");
    assert!(matches!(store.append(append_nothing("right", &*store)), Err(StoreError::Damaged(_))));
    fork(&*store, "rescued", "right", 4);
    assert_eq!(grow(&*store, "rescued", 2, 10).count, 6);
}

fn append_nothing(branch: &str, store: &dyn Store) -> dayshift_stores::Append {
    let after = store.head(&id(branch)).expect("there");
    dayshift_stores::Append { branch: id(branch), after, records: Vec::new(), blobs: Vec::new() }
}

#[test]
fn altered_bytes_of_sled_files_are_found_or_change_nothing_that_is_read() {
    let rested = rested(Kind::Sled);
    let mut found = 0;
    let mut tried = 0;
    for entry in fs::read_dir(rested.log().join("sled")).expect("listed") {
        let path = entry.expect("listed").path();
        if path.is_dir() {
            continue;
        }
        let name = Path::new("sled").join(path.file_name().expect("it has a name"));
        let bytes = fs::read(&path).expect("read");
        let used: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at] != 0).collect();
        for &at in used.iter().step_by((used.len() / 150).max(1)) {
            tried += 1;
            found += usize::from(rested.with_altered(&name, at, 0x10).is_found());
        }
    }
    assert!(tried > 100 && found > 0, "{found} of {tried} found");
}

#[test]
fn an_altered_blob_is_found() {
    for kind in [Kind::Segment, Kind::Sled] {
        let folder = scratch();
        let store = open(folder.path(), Some(kind)).expect("it opens");
        let content: Arc<[u8]> = Arc::from(*b"content");
        let blob = store.put_blob(&content).expect("kept");
        drop(store);
        let name = blob.to_string();
        let path = folder.path().join("blobs").join(&name[..2]).join(&name);
        fs::write(&path, b"contend").expect("written");
        let store = open(folder.path(), None).expect("it opens");
        assert!(matches!(store.blob(blob), Err(StoreError::Damaged(Damage::Blob { id })) if id == blob));
        store.put_blob(&content).expect("putting it again mends it");
        assert_eq!(store.blob(blob).expect("read"), Some(content));
    }
}
