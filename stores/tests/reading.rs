//! Stores that are only read, heads that are lost, and files that are cut off or forged.

#![expect(
    clippy::disallowed_methods,
    reason = "a bound on the time that a forged file takes is held against the clock"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dayshift_stores::conformance::{all, fork, grow, id, make};
use dayshift_stores::{
    Damage, Finding, Kind, MemoryStore, NewBranch, PortableLog, Store, StoreError, compact, export, import, open,
    open_reading,
};

const KINDS: [Kind; 2] = [Kind::Segment, Kind::Sled];

fn filled(path: &Path, kind: Kind) -> [Vec<Vec<u8>>; 2] {
    let store = open(path, Some(kind)).expect("it opens");
    make(&*store, "root");
    grow(&*store, "root", 20, 100);
    make(&*store, "gone");
    grow(&*store, "gone", 5, 100);
    fork(&*store, "child", "root", 12);
    grow(&*store, "child", 7, 9_000);
    store.set_note(&id("child"), b"first".to_vec()).expect("a note is set");
    store.set_note(&id("child"), b"second".to_vec()).expect("a note is set");
    store.discard(&id("gone")).expect("discarded");
    ["root", "child"].map(|name| all(&*store, name, 0))
}

fn snapshot(path: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(path).expect("listed") {
        let path = entry.expect("listed").path();
        if path.is_dir() {
            found.extend(snapshot(&path));
        } else {
            found.push((path.display().to_string(), fs::read(&path).expect("read")));
        }
    }
    found.sort();
    found
}

#[test]
fn a_store_that_is_only_read_shows_what_an_open_one_does_and_touches_nothing() {
    for kind in KINDS {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("store");
        let expected = filled(&path, kind);
        let opened = open(&path, None).expect("it opens").branches().expect("listed");
        let store = open_reading(&path).expect("it opens");
        assert_eq!(store.findings(), [], "{kind:?}");
        assert_eq!(store.branches().expect("listed"), opened, "{kind:?}");
        for (name, records) in ["root", "child"].iter().zip(&expected) {
            assert_eq!(&all(&*store, name, 0), records, "{kind:?}");
            assert_eq!(store.verify(&id(name), &mut |_| ()).expect("whole").count, records.len() as u64);
        }
        drop(store);
        let before = snapshot(&path);
        drop(open_reading(&path).expect("it opens"));
        assert_eq!(snapshot(&path), before, "{kind:?}");
    }
}

#[test]
fn a_store_that_is_only_read_takes_no_changes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    filled(folder.path(), Kind::Segment);
    let store = open_reading(folder.path()).expect("it opens");
    let new = NewBranch { id: id("new"), parent: None, note: Vec::new() };
    assert!(matches!(store.create(new), Err(StoreError::ReadOnly { .. })));
    assert!(matches!(store.set_note(&id("root"), Vec::new()), Err(StoreError::ReadOnly { .. })));
    assert!(matches!(store.discard(&id("root")), Err(StoreError::ReadOnly { .. })));
    assert!(matches!(store.put_blob(&Arc::from(*b"blob")), Err(StoreError::ReadOnly { .. })));
}

#[test]
fn a_store_is_read_while_another_has_it_open() {
    for kind in KINDS {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let writer = open(folder.path(), Some(kind)).expect("it opens");
        make(&*writer, "run");
        grow(&*writer, "run", 40, 100);
        let reader = open_reading(folder.path()).expect("it opens");
        assert_eq!(all(&*reader, "run", 0).len(), 40, "{kind:?}");
        grow(&*writer, "run", 3, 100);
        assert_eq!(all(&*open_reading(folder.path()).expect("it opens"), "run", 0).len(), 43, "{kind:?}");
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_read() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("store");
    let expected = filled(&path, Kind::Sled);
    let set = |mode: u32| {
        for entry in [path.clone(), path.join("log-1"), path.join("log-1/sled")] {
            fs::set_permissions(entry, fs::Permissions::from_mode(mode)).expect("set");
        }
    };
    set(0o555);
    let store = open_reading(&path).expect("it opens");
    assert_eq!(all(&*store, "root", 0), expected[0]);
    set(0o755);
}

#[test]
fn a_folder_that_is_not_there_reads_as_an_empty_store_and_is_not_made() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("nothing");
    assert_eq!(open_reading(&path).expect("it opens").branches().expect("listed"), []);
    assert!(!path.exists());
}

#[test]
fn heads_that_are_emptied_or_gone_are_derived_and_the_runs_stay_sound() {
    for kind in KINDS {
        for is_gone in [false, true] {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let expected = filled(folder.path(), kind);
            let heads = folder.path().join("log-1/heads");
            if is_gone {
                fs::remove_file(&heads).expect("removed")
            } else {
                fs::write(&heads, b"").expect("emptied")
            }
            let read = open_reading(folder.path()).expect("it opens");
            assert_eq!(all(&*read, "child", 0), expected[1], "{kind:?}");
            drop(read);
            let store = open(folder.path(), None).expect("it opens");
            let derived = Finding::HeadDerived { branch: id("child"), count: 19 };
            assert!(store.findings().contains(&derived), "{kind:?}: {:?}", store.findings());
            assert_eq!(store.verify(&id("child"), &mut |_| ()).expect("sound").count, 19);
            fork(&*store, "another", "root", 20);
            grow(&*store, "another", 2, 50);
            drop(store);
            compact(folder.path()).expect("compacted");
            let store = open(folder.path(), None).expect("it opens");
            assert_eq!(store.findings(), [], "{kind:?}");
            assert_eq!(all(&*store, "root", 0), expected[0], "{kind:?}");
            assert_eq!(all(&*store, "another", 0).len(), 22, "{kind:?}");
        }
    }
}

#[test]
fn a_sled_store_that_was_not_closed_and_is_whole_opens_without_a_finding() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let expected = filled(folder.path(), Kind::Sled);
    fs::remove_file(folder.path().join("log-1/seal")).expect("it was sealed");
    let store = open(folder.path(), None).expect("it opens");
    assert_eq!(store.findings(), []);
    assert_eq!(all(&*store, "child", 0), expected[1]);
    assert_eq!(store.branches().expect("listed")[1].note, b"second");
}

struct Cut {
    file: Vec<u8>,
    records: Vec<Vec<u8>>,
}

fn exported(folder: &Path) -> Cut {
    let store = MemoryStore::new();
    make(&store, "run");
    grow(&store, "run", 9, 40);
    let blob = store.put_blob(&Arc::from(*b"a blob of some bytes")).expect("kept");
    let path = folder.join("whole.dayshift");
    export(&store, &id("run"), &[blob], &path, b"note").expect("exported");
    Cut { file: fs::read(&path).expect("read"), records: all(&store, "run", 0) }
}

#[test]
fn a_log_that_is_cut_anywhere_says_so_and_its_whole_records_are_brought_in() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Cut { file, records } = exported(folder.path());
    let path = folder.path().join("cut.dayshift");
    let header = 100;
    for length in (header..file.len()).step_by(5) {
        fs::write(&path, &file[..length]).expect("written");
        let whole = records
            .iter()
            .filter(|record| file[..length].windows(record.len()).any(|window| window == record.as_slice()));
        let whole: Vec<_> = whole.cloned().collect();
        match PortableLog::open(&path) {
            Err(StoreError::Damaged(Damage::CutOff { records, .. })) => assert_eq!(records, whole.len() as u64),
            // Not even the header is there.
            Err(StoreError::NotAStore { .. }) if length < 150 => continue,
            other => panic!("{length} bytes: {other:?}"),
        }
        let (log, fault) = PortableLog::salvage(&path).expect("the header is whole");
        assert!(matches!(fault, Some(Damage::CutOff { .. })), "{length} bytes: {fault:?}");
        let store = MemoryStore::new();
        import(&store, &log, &id("again"), b"").expect("imported");
        assert_eq!(all(&store, "again", 0), whole, "{length} bytes");
    }
}

#[test]
fn of_an_altered_log_the_records_before_the_altered_one_are_brought_in() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Cut { mut file, records } = exported(folder.path());
    let at = file.windows(records[4].len()).position(|window| window == records[4].as_slice()).expect("it is there");
    file[at + 80] ^= 1;
    let path = folder.path().join("altered.dayshift");
    fs::write(&path, file).expect("written");
    let (log, fault) = PortableLog::salvage(&path).expect("read");
    assert!(matches!(fault, Some(Damage::Record { whole: 4, .. })), "{fault:?}");
    assert_eq!(log.records().map(|record| record.expect("read").to_vec()).collect::<Vec<_>>(), records[..4]);
    assert_eq!(log.blob_ids().len(), 1);
}

/// Returns a frame header that claims `length` bytes at `at`.
fn header(at: usize, length: u32) -> Vec<u8> {
    [b"DSFRAME\x01".as_slice(), &length.to_le_bytes(), &[7; 4], &(at as u64).to_le_bytes()].concat()
}

#[test]
fn forged_frame_headers_that_overlap_are_refused_in_linear_time() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Cut { file, .. } = exported(folder.path());
    let mut forged = file;
    while forged.len() < 4 << 20 {
        let at = forged.len();
        forged.extend(header(at, (4 << 20) - at as u32));
    }
    let begun = Instant::now();
    assert!(PortableLog::parse("forged.dayshift", forged.clone()).is_err());
    let path = folder.path().join("forged.dayshift");
    fs::write(&path, &forged).expect("written");
    assert!(PortableLog::open(&path).is_err());
    // The same in a store's own file.
    let store = folder.path().join("store");
    filled(&store, Kind::Segment);
    let segment = store.join("log-1/00000001.segment");
    let mut bytes = fs::read(&segment).expect("read");
    while bytes.len() < 4 << 20 {
        let at = bytes.len();
        bytes.extend(header(at, (4 << 20) - at as u32));
    }
    fs::write(&segment, bytes).expect("written");
    assert_eq!(all(&*open(&store, None).expect("it opens"), "root", 0).len(), 20);
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[test]
fn a_pipe_is_refused_and_does_not_hang() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pipe = folder.path().join("pipe.dayshift");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    assert!(matches!(PortableLog::open(&pipe), Err(StoreError::NotAFile { what: "a pipe", .. })));
    assert!(matches!(PortableLog::open(folder.path()), Err(StoreError::NotAFile { what: "a folder", .. })));
    assert!(matches!(PortableLog::salvage("/dev/zero"), Err(StoreError::NotAFile { what: "a device", .. })));
}
