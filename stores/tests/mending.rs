//! Damaged and overgrown stores: a sled log that is damaged is kept aside and rebuilt, what it lost stays marked, and a compaction keeps all that counts.

use std::fs;
use std::path::Path;

use dayshift_stores::conformance::{all, fork, grow, id, make};
use dayshift_stores::{Damage, Finding, Kind, StoreError, compact, detect, open};

fn filled(path: &Path, kind: Kind) -> Vec<Vec<u8>> {
    let store = open(path, Some(kind)).expect("it opens");
    make(&*store, "gone");
    grow(&*store, "gone", 300, 400);
    make(&*store, "root");
    grow(&*store, "root", 50, 100);
    fork(&*store, "child", "root", 20);
    grow(&*store, "child", 30, 9_000);
    store.set_note(&id("child"), b"kept".to_vec()).expect("a note is set");
    store.discard(&id("gone")).expect("discarded");
    all(&*store, "child", 0)
}

fn bytes_below(path: &Path) -> u64 {
    let entries = fs::read_dir(path).expect("listed").map(|entry| entry.expect("listed").path());
    entries.map(|path| if path.is_dir() { bytes_below(&path) } else { fs::metadata(&path).expect("there").len() }).sum()
}

#[test]
fn a_compaction_keeps_every_branch_and_drops_what_was_discarded() {
    for kind in [Kind::Segment, Kind::Sled] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let records = filled(folder.path(), kind);
        let before = bytes_below(folder.path());
        compact(folder.path()).expect("compacted");
        if kind == Kind::Segment {
            assert!(bytes_below(folder.path()) + 100_000 < before, "it shrinks");
        }
        let store = open(folder.path(), None).expect("it opens");
        assert_eq!(store.findings(), [], "{kind:?}");
        assert_eq!(all(&*store, "child", 0), records);
        assert_eq!(store.branches().expect("listed")[1].note, b"kept");
        assert_eq!(store.branches().expect("listed").len(), 2);
        assert_eq!(grow(&*store, "child", 1, 10).count, 51);
    }
}

#[test]
fn a_store_that_is_open_is_not_compacted() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = open(folder.path(), None).expect("it opens");
    assert!(matches!(compact(folder.path()), Err(StoreError::Locked { .. })));
    drop(store);
    assert!(compact(folder.path()).is_ok());
}

#[test]
fn the_kind_of_a_store_is_found_by_itself_and_another_is_refused() {
    for (kind, other) in [(Kind::Segment, Kind::Sled), (Kind::Sled, Kind::Segment)] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("store");
        assert_eq!(detect(&path).expect("looked at"), None);
        filled(&path, kind);
        assert_eq!(detect(&path).expect("looked at"), Some(kind));
        assert!(open(&path, None).is_ok());
        assert!(matches!(open(&path, Some(other)), Err(StoreError::NotAStore { .. })));
    }
}

#[test]
fn every_altered_byte_of_the_marker_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    filled(folder.path(), Kind::Segment);
    let marker = folder.path().join("STORE");
    let bytes = fs::read(&marker).expect("read");
    for at in 0..bytes.len() {
        let mut altered = bytes.clone();
        altered[at] ^= 4;
        fs::write(&marker, altered).expect("written");
        assert!(matches!(open(folder.path(), None), Err(StoreError::NotAStore { .. })), "byte {at}");
    }
}

#[test]
fn a_sled_log_that_is_garbage_is_kept_aside_and_its_branches_reported() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    filled(folder.path(), Kind::Sled);
    let file = folder.path().join("log-1/sled/db");
    let length = fs::metadata(&file).expect("there").len() as usize;
    fs::write(&file, vec![0xa5; length]).expect("written");
    let store = open(folder.path(), None).expect("a damaged store opens");
    let findings = store.findings();
    let lost = |name: &str, count| Finding::Damaged(Damage::Branch { branch: id(name), count });
    assert!(findings.contains(&lost("root", 50)), "{findings:?}");
    // Its records are too large for the database, so they are in files of their own.
    let is_told = |finding: &Finding| match finding {
        Finding::Salvaged { branch, lost, after, .. } => *branch == id("child") && *lost == (0..20) && *after == 30,
        Finding::TornTail { .. } | Finding::Damaged(_) | Finding::HeadDerived { .. } | Finding::Rebuilt { .. } => false,
    };
    assert!(findings.iter().any(is_told), "{findings:?}");
    let kept = findings.iter().find_map(|finding| match finding {
        Finding::Rebuilt { quarantine, .. } => Some(quarantine.clone()),
        Finding::TornTail { .. } | Finding::Damaged(_) | Finding::HeadDerived { .. } | Finding::Salvaged { .. } => None,
    });
    assert!(kept.is_some_and(|path| path.join("sled/db").exists()), "the damaged bytes are kept");
    make(&*store, "fresh");
    grow(&*store, "fresh", 3, 10);
    drop(store);
    let store = open(folder.path(), None).expect("it opens again");
    assert!(store.findings().contains(&lost("root", 50)), "what was lost is not forgotten");
    assert_eq!(store.verify(&id("fresh"), &mut |_| ()).expect("whole").count, 3);
}

#[test]
fn a_sled_log_that_was_put_back_to_an_earlier_state_is_rebuilt_and_its_branches_stay_marked() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("store");
    let store = open(&path, Some(Kind::Sled)).expect("it opens");
    make(&*store, "run");
    grow(&*store, "run", 5, 50);
    drop(store);
    let sled = path.join("log-1/sled");
    let earlier: Vec<_> = fs::read_dir(&sled).expect("listed").map(|entry| entry.expect("listed").path()).collect();
    let earlier: Vec<_> =
        earlier.into_iter().filter(|path| path.is_file()).map(|path| (fs::read(&path).expect("read"), path)).collect();
    let store = open(&path, None).expect("it opens");
    grow(&*store, "run", 4, 50);
    drop(store);
    for entry in
        fs::read_dir(&sled).expect("listed").map(|entry| entry.expect("listed").path()).filter(|path| path.is_file())
    {
        fs::remove_file(entry).expect("removed");
    }
    for (bytes, path) in earlier {
        fs::write(path, bytes).expect("written");
    }
    for _ in 0..2 {
        let store = open(&path, None).expect("it opens");
        let verified = store.verify(&id("run"), &mut |_| ());
        assert!(
            matches!(verified, Err(StoreError::Damaged(Damage::Record { whole: 5, .. }))),
            "cut, and marked: {verified:?}"
        );
    }
    let store = open(&path, None).expect("it opens");
    assert!(!store.findings().iter().any(|finding| matches!(finding, Finding::Rebuilt { .. })), "it is rebuilt once");
    fork(&*store, "rescued", "run", 5);
    assert_eq!(grow(&*store, "rescued", 1, 50).count, 6);
}
