//! One bit flips where a store rests: nothing is lost but the records it hits, what is missing is said exactly, and nothing panics. 100 flips of each
//! kind; `DAYSHIFT_BIT_FLIPS=1000` tries more, and prints what came out.

#![expect(clippy::disallowed_methods, reason = "the number of flips may come from the environment")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};

use dayshift_stores::conformance::{all, fork, grow, id, make};
use dayshift_stores::{Damage, Finding, Kind, Store, open, open_reading, quarantine, read_after};
use tempfile::TempDir;

const FLIPS: usize = 100;
const NAMES: [&str; 4] = ["root", "child", "other", "late"];

/// A stream of numbers that is the same every time (splitmix64).
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }
}

fn scratch() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a temporary folder")
}

/// A closed store, and all that is known about it.
struct Rested {
    folder: TempDir,
    kind: Kind,
    records: BTreeMap<&'static str, Vec<Vec<u8>>>,
    notes: BTreeMap<String, Vec<u8>>,
    /// The files of the log, and which of their bytes are not zero.
    files: Vec<(PathBuf, Vec<usize>)>,
    /// Where each record stands, in every copy.
    places: BTreeMap<(&'static str, usize), Copies>,
}

/// Where copies of one record stand: the file's index, and the bytes.
type Copies = Vec<(usize, Range<usize>)>;

fn rested(kind: Kind) -> Rested {
    let folder = scratch();
    let store = open(folder.path().join("store"), Some(kind)).expect("it opens");
    make(&*store, "root");
    for batch in 1..7 {
        grow(&*store, "root", batch, 40 + 30 * batch);
    }
    make(&*store, "gone");
    grow(&*store, "gone", 40, 300);
    fork(&*store, "child", "root", 10);
    make(&*store, "other");
    for batch in 1..9 {
        grow(&*store, "child", 1 + batch % 3, 60);
        grow(&*store, "other", batch, 200);
        store.set_note(&id("other"), format!("note {batch}").into_bytes()).expect("a note is set");
    }
    grow(&*store, "other", 2, 9_000);
    store.discard(&id("gone")).expect("discarded");
    make(&*store, "late");
    grow(&*store, "late", 30, 100);
    let records: BTreeMap<_, _> = NAMES.map(|name| (name, all(&*store, name, 0))).into();
    let notes = notes(&*store);
    drop(store);
    let log = folder.path().join("store/log-1");
    let mut files = Vec::new();
    let mut places: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for path in files_below(&log) {
        let bytes = fs::read(&path).expect("read");
        let magic: Vec<usize> =
            bytes.windows(4).enumerate().filter(|(_, w)| *w == b"DSR\x01").map(|(at, _)| at).collect();
        for (name, records) in &records {
            for (position, record) in records.iter().enumerate() {
                let copies = magic.iter().filter(|&&at| bytes[at..].starts_with(record));
                let copies = copies.map(|&at| (files.len(), at..at + record.len()));
                places.entry((*name, position)).or_default().extend(copies);
            }
        }
        let used = (0..bytes.len()).filter(|&at| bytes[at] != 0).collect();
        files.push((path.strip_prefix(&log).expect("below").to_owned(), used));
    }
    Rested { folder, kind, records, notes, files, places }
}

fn notes(store: &dyn Store) -> BTreeMap<String, Vec<u8>> {
    store.branches().expect("listed").into_iter().map(|info| (info.id.to_string(), info.note)).collect()
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("listed") {
        let path = entry.expect("listed").path();
        if path.is_dir() { found.extend(files_below(&path)) } else { found.push(path) }
    }
    found.sort();
    found
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

/// What a flip did.
#[derive(Default)]
struct Outcome {
    lost: usize,
    /// Records that it hit and that were found all the same, in another copy.
    hit: usize,
    is_rebuilt: bool,
}

impl Rested {
    fn flipped(&self, file: usize, at: usize, bit: usize, is_closed: bool) -> Outcome {
        let about =
            format!("{:?}: bit {bit} of byte {at} of {}, closed: {is_closed}", self.kind, self.files[file].0.display());
        let copy = scratch();
        let path = copy.path().join("store");
        copy_folder(&self.folder.path().join("store"), &path);
        let victim = path.join("log-1").join(&self.files[file].0);
        let mut bytes = fs::read(&victim).expect("read");
        bytes[at] ^= 1 << bit;
        fs::write(&victim, &bytes).expect("written");
        if !is_closed {
            let _only_a_database_has_one = fs::remove_file(path.join("log-1/seal"));
        }
        let store = open(&path, None).unwrap_or_else(|error| panic!("{about}: {error}"));
        let findings = store.findings();
        let mut outcome =
            Outcome { is_rebuilt: findings.iter().any(|f| matches!(f, Finding::Rebuilt { .. })), ..Outcome::default() };
        for (&name, records) in &self.records {
            let there = everything(&*store, &path, name);
            let missing: BTreeSet<usize> = (0..records.len()).filter(|&at| !there.contains(&records[at])).collect();
            for position in 0..records.len() {
                let is_hit =
                    self.places[&(name, position)].iter().any(|(of, range)| *of == file && range.contains(&at));
                assert!(is_hit || !missing.contains(&position), "{about}: {name} lost record {position}: {findings:?}");
                outcome.hit += usize::from(is_hit);
            }
            outcome.lost += missing.len();
            let is_said = |finding: &Finding| match finding {
                Finding::Salvaged { branch, lost, .. } => {
                    *branch == id(name) && (lost.start..lost.end).map(|seq| seq as usize).eq(missing.iter().copied())
                }
                Finding::Damaged(Damage::Branch { branch, .. }) => *branch == id(name),
                Finding::TornTail { .. }
                | Finding::Damaged(_)
                | Finding::HeadDerived { .. }
                | Finding::Rebuilt { .. } => false,
            };
            assert!(
                missing.is_empty() || findings.iter().any(is_said),
                "{about}: {name} without {missing:?}: {findings:?}"
            );
            let verified = store.verify(&id(name), &mut |_| ());
            assert_eq!(verified.is_ok(), missing.is_empty(), "{about}: {name}: {verified:?}");
        }
        let notes = notes(&*store);
        for (name, note) in &self.notes {
            let is_hit = window_hits(note, &bytes, at);
            assert!(notes.get(name) == Some(note) || is_hit, "{about}: the note of {name} is {:?}", notes.get(name));
        }
        outcome
    }
}

/// Returns whether the byte at `at` may belong to a copy of `note`, or to what stands around it in its value or frame.
fn window_hits(note: &[u8], bytes: &[u8], at: usize) -> bool {
    let around = &bytes[at.saturating_sub(note.len() + 600)..bytes.len().min(at + note.len() + 600)];
    note.is_empty() || around.windows(4).any(|window| window == &note[..4])
}

/// Returns all records of a branch that can be had: from the store, or from its quarantine.
fn everything(store: &dyn Store, path: &Path, name: &str) -> BTreeSet<Vec<u8>> {
    if store.verify(&id(name), &mut |_| ()).is_ok() {
        return all(store, name, 0).into_iter().collect();
    }
    let mut found = BTreeSet::new();
    for kept in quarantine(path).expect("listed").into_iter().filter(|kept| kept.branch == id(name)) {
        let aside = open_reading(&kept.log).expect("what is in quarantine opens");
        let read = aside.read(&kept.branch, 0, &mut |record| {
            found.insert(record.to_vec());
            ControlFlow::Continue(())
        });
        read.expect("what is whole is read");
        read_after(&kept.log, &kept.branch, &mut |_, record| {
            found.insert(record.to_vec());
        })
        .expect("what is whole after the lost records is read");
    }
    found
}

fn flips(kind: Kind, seed: u64) {
    let count = std::env::var("DAYSHIFT_BIT_FLIPS").ok().and_then(|count| count.parse().ok()).unwrap_or(FLIPS);
    let rested = rested(kind);
    let mut draw = Draw(seed);
    let used: usize = rested.files.iter().map(|(_, used)| used.len()).sum();
    let (mut hit, mut lost, mut rebuilt) = (0, 0, 0);
    for trial in 0..count {
        let mut place = draw.below(used);
        let (file, at) = rested
            .files
            .iter()
            .enumerate()
            .find_map(|(file, (_, used))| {
                let at = used.get(place).copied();
                place = place.wrapping_sub(used.len());
                at.map(|at| (file, at))
            })
            .expect("a byte below the number of bytes");
        let outcome = rested.flipped(file, at, draw.below(8), trial % 2 == 0);
        hit += outcome.hit;
        lost += outcome.lost;
        rebuilt += usize::from(outcome.is_rebuilt);
    }
    println!("{kind:?}: {count} flips over {used} bytes, {rebuilt} rebuilds, {hit} records hit, {lost} lost");
    assert!(rebuilt > 0, "the flips bite");
}

#[test]
fn a_bit_that_flips_in_a_segment_store_loses_nothing_but_what_it_hits() {
    flips(Kind::Segment, 8);
}

#[test]
fn a_bit_that_flips_in_a_sled_store_loses_nothing_but_what_it_hits() {
    flips(Kind::Sled, 9);
}
