//! What every store must do, as functions that a test of each backend calls. Not how well it does it under a kill or a power cut: that takes
//! processes, and is in `tests/`.

use std::ops::ControlFlow;
use std::sync::Arc;

use dayshift_engine::{BlobId, Head, RECORD_BYTES_MAX};

use crate::branch::{BranchId, NOTE_BYTES_MAX, NewBranch, Parent};
use crate::error::StoreError;
use crate::sample::{chain, record};
use crate::store::{Append, Store};

/// A place that a store can be opened in again and again.
pub trait Place {
    /// Opens the store. A store that forgets returns the same one each time.
    fn open(&self) -> Arc<dyn Store>;
}

/// Returns a branch's name.
///
/// # Panics
///
/// If the text is no name: a bug of the test.
#[must_use]
pub fn id(text: &str) -> BranchId {
    BranchId::new(text).expect("a test names its branches well")
}

/// Makes a branch without a parent.
///
/// # Panics
///
/// If the store refuses.
pub fn make(store: &dyn Store, branch: &str) {
    store.create(NewBranch { id: id(branch), parent: None, note: Vec::new() }).expect("a new branch is made");
}

/// Makes a branch that shares the first `count` records of another.
///
/// # Panics
///
/// If the store refuses.
pub fn fork(store: &dyn Store, branch: &str, parent: &str, count: u64) {
    let parent = Some(Parent { branch: id(parent), count });
    store.create(NewBranch { id: id(branch), parent, note: Vec::new() }).expect("a fork is made");
}

/// Appends `count` records of `body_bytes` and waits until they are durable.
///
/// # Panics
///
/// If the store refuses.
pub fn grow(store: &dyn Store, branch: &str, count: usize, body_bytes: usize) -> Head {
    let after = store.head(&id(branch)).expect("the branch is there");
    let (records, head) = chain(after, count, body_bytes);
    let ticket = store.append(Append { branch: id(branch), after, records, blobs: Vec::new() });
    let reached = ticket.expect("the append is accepted").wait().expect("the append is durable");
    assert_eq!(reached, head);
    head
}

/// Returns all records of a branch from a position on.
///
/// # Panics
///
/// If the store refuses.
#[must_use]
pub fn all(store: &dyn Store, branch: &str, from: u64) -> Vec<Vec<u8>> {
    let mut records = Vec::new();
    let read = store.read(&id(branch), from, &mut |record| {
        records.push(record.to_vec());
        ControlFlow::Continue(())
    });
    read.expect("the branch is read");
    records
}

fn verified(store: &dyn Store, branch: &str) -> Head {
    store.verify(&id(branch), &mut |_| ()).expect("the branch verifies")
}

fn as_vecs(records: &[Arc<[u8]>]) -> Vec<Vec<u8>> {
    records.iter().map(|record| record.to_vec()).collect()
}

/// What was appended is read in order, from any position, and verifies, also after reopening.
///
/// # Panics
///
/// If it does not.
pub fn what_was_appended_is_read(place: &dyn Place) {
    let (expected, end) = chain(Head::default(), 100, 50);
    let store = place.open();
    make(&*store, "run");
    assert_eq!(all(&*store, "run", 0), Vec::<Vec<u8>>::new());
    assert_eq!(verified(&*store, "run"), Head::default());
    grow(&*store, "run", 1, 50);
    grow(&*store, "run", 60, 50);
    assert_eq!(grow(&*store, "run", 39, 50), end);
    drop(store);
    let store = place.open();
    assert_eq!(store.findings(), []);
    assert_eq!(store.head(&id("run")).expect("the branch is there"), end);
    for from in [0, 1, 2, 31, 32, 60, 61, 62, 99, 100, 101] {
        assert_eq!(
            all(&*store, "run", from),
            as_vecs(expected.get(from as usize..).unwrap_or_default()),
            "from {from}"
        );
    }
    assert_eq!(verified(&*store, "run"), end);
    let mut seen = 0;
    let read = store.read(&id("run"), 10, &mut |_| {
        seen += 1;
        if seen == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(read.is_ok() && seen == 5, "a reader stops where it wants");
    grow(&*store, "run", 3, 50);
    assert_eq!(verified(&*store, "run").count, 103);
}

/// Forks, and forks of forks, share their parents' records and go on by themselves.
///
/// # Panics
///
/// If they do not.
pub fn forks_share_and_go_on(place: &dyn Place) {
    let store = place.open();
    make(&*store, "root");
    grow(&*store, "root", 40, 30);
    fork(&*store, "child", "root", 25);
    grow(&*store, "child", 10, 31);
    fork(&*store, "grandchild", "child", 30);
    grow(&*store, "grandchild", 7, 32);
    fork(&*store, "early", "child", 5);
    grow(&*store, "early", 2, 33);
    fork(&*store, "bare", "child", 35);
    fork(&*store, "empty", "root", 0);
    grow(&*store, "empty", 1, 34);
    grow(&*store, "root", 5, 30);
    drop(store);
    let store = place.open();
    assert_eq!(store.findings(), []);
    let root = all(&*store, "root", 0);
    let child = all(&*store, "child", 0);
    let counts = [("root", 45), ("child", 35), ("grandchild", 37), ("early", 7), ("bare", 35), ("empty", 1)];
    for (branch, count) in counts {
        assert_eq!(verified(&*store, branch).count, count, "{branch}");
        assert_eq!(all(&*store, branch, 0).len() as u64, count, "{branch}");
    }
    assert_eq!(child[..25], root[..25]);
    assert_ne!(child[25], root[25]);
    assert_eq!(all(&*store, "grandchild", 0)[..30], child[..30]);
    assert_eq!(all(&*store, "grandchild", 28).len(), 9);
    assert_eq!(all(&*store, "early", 0)[..5], root[..5]);
    assert_eq!(all(&*store, "bare", 0), child);
    let infos = store.branches().expect("branches are listed");
    let names: Vec<_> = infos.iter().map(|info| info.id.to_string()).collect();
    assert_eq!(names, ["root", "child", "grandchild", "early", "bare", "empty"], "in the order of making");
    assert_eq!(infos[2].parent, Some(Parent { branch: id("child"), count: 30 }));
}

/// An append that follows another head, or does not continue the chain, is refused and changes nothing.
///
/// # Panics
///
/// If it is not.
pub fn wrong_appends_are_refused(place: &dyn Place) {
    let store = place.open();
    make(&*store, "run");
    let (first, one) = chain(Head::default(), 1, 10);
    grow(&*store, "run", 2, 10);
    let append = |after: Head, records: Vec<Arc<[u8]>>| {
        store.append(Append { branch: id("run"), after, records, blobs: Vec::new() }).map(|_| ())
    };
    let head = store.head(&id("run")).expect("the branch is there");
    assert!(matches!(append(one, vec![record(one, 11)]), Err(StoreError::StaleHead { asked: 1, has: 2, .. })));
    assert!(matches!(append(head, first), Err(StoreError::BadRecord { .. })));
    assert!(matches!(append(head, vec![Arc::from(*b"no record")]), Err(StoreError::BadRecord { .. })));
    let forged = Head { count: 2, ..one };
    assert!(matches!(append(forged, vec![record(forged, 1)]), Err(StoreError::StaleHead { .. })));
    let missing = Append { branch: id("nobody"), after: Head::default(), records: Vec::new(), blobs: Vec::new() };
    assert!(matches!(store.append(missing), Err(StoreError::UnknownBranch { .. })));
    assert_eq!(store.head(&id("run")).expect("the branch is there"), head);
    assert_eq!(all(&*store, "run", 0).len(), 2);
}

/// Branches that cannot be made are refused, with the reason.
///
/// # Panics
///
/// If they are not.
pub fn wrong_branches_are_refused(place: &dyn Place) {
    let store = place.open();
    make(&*store, "run");
    grow(&*store, "run", 2, 10);
    let create = |name: &str, parent: Option<(&str, u64)>, note: usize| {
        let parent = parent.map(|(branch, count)| Parent { branch: id(branch), count });
        store.create(NewBranch { id: id(name), parent, note: vec![0; note] })
    };
    assert!(matches!(create("run", None, 0), Err(StoreError::BranchExists { .. })));
    assert!(matches!(create("a", Some(("nobody", 0)), 0), Err(StoreError::UnknownBranch { .. })));
    assert!(matches!(create("a", Some(("run", 3)), 0), Err(StoreError::ForkBeyondEnd { asked: 3, has: 2, .. })));
    assert!(matches!(create("a", None, NOTE_BYTES_MAX + 1), Err(StoreError::TooLarge { .. })));
    assert!(create("a", Some(("run", 2)), NOTE_BYTES_MAX).is_ok());
}

/// Notes are replaced, and outlive a reopening.
///
/// # Panics
///
/// If they do not.
pub fn notes_are_replaced(place: &dyn Place) {
    let store = place.open();
    store.create(NewBranch { id: id("run"), parent: None, note: b"first".to_vec() }).expect("a branch is made");
    assert_eq!(store.branches().expect("branches are listed")[0].note, b"first");
    store.set_note(&id("run"), b"second".to_vec()).expect("a note is set");
    drop(store);
    let store = place.open();
    assert_eq!(store.branches().expect("branches are listed")[0].note, b"second");
    assert!(matches!(store.set_note(&id("nobody"), Vec::new()), Err(StoreError::UnknownBranch { .. })));
}

/// A discarded branch is gone; one that others share is kept; a name can be used again.
///
/// # Panics
///
/// If they are not.
pub fn discarded_branches_are_gone(place: &dyn Place) {
    let store = place.open();
    make(&*store, "root");
    grow(&*store, "root", 10, 20);
    fork(&*store, "child", "root", 5);
    grow(&*store, "child", 50, 20);
    assert!(matches!(store.discard(&id("root")), Err(StoreError::BranchShared { children: 1, .. })));
    store.discard(&id("child")).expect("a leaf is discarded");
    assert!(matches!(store.head(&id("child")), Err(StoreError::UnknownBranch { .. })));
    drop(store);
    let store = place.open();
    assert_eq!(store.findings(), []);
    assert_eq!(store.branches().expect("branches are listed").len(), 1);
    store.discard(&id("root")).expect("a branch without children is discarded");
    make(&*store, "root");
    grow(&*store, "root", 3, 21);
    drop(store);
    let store = place.open();
    assert_eq!(store.findings(), []);
    assert_eq!(verified(&*store, "root").count, 3);
    assert_eq!(all(&*store, "root", 0).len(), 3);
}

/// Blobs come back as they were put, under their own name only.
///
/// # Panics
///
/// If they do not.
pub fn blobs_are_kept(place: &dyn Place) {
    let store = place.open();
    make(&*store, "run");
    let content: Arc<[u8]> = vec![7; 100_000].into();
    let blob = store.put_blob(&content).expect("a blob is kept");
    assert_eq!(store.put_blob(&content).expect("a blob is kept twice"), blob);
    let other: Arc<[u8]> = Arc::from(*b"other");
    let append = |blobs| {
        let (records, _) = chain(Head::default(), 1, 10);
        store.append(Append { branch: id("run"), after: Head::default(), records, blobs })
    };
    let misnamed = append(vec![(blob, Arc::clone(&other))]);
    assert!(matches!(misnamed, Err(StoreError::BlobMisnamed { .. })));
    append(vec![(BlobId::of(&other), Arc::clone(&other))]).expect("accepted").wait().expect("durable");
    drop(store);
    let store = place.open();
    assert_eq!(store.blob(blob).expect("read"), Some(content));
    assert_eq!(store.blob(BlobId::of(&other)).expect("read"), Some(other));
    assert_eq!(store.blob(BlobId::of(b"never put")).expect("read"), None);
}

/// Records of any allowed size are kept, small and large mixed, and larger ones are refused.
///
/// # Panics
///
/// If they are not.
pub fn large_records_are_kept(place: &dyn Place) {
    let store = place.open();
    make(&*store, "run");
    for body_bytes in [0, 8_000, 8_124, 8_192, 9_000, 20_000, 1, 300_000, 5_000_000, 40] {
        grow(&*store, "run", 1, body_bytes);
    }
    grow(&*store, "run", 70, 700);
    let head = store.head(&id("run")).expect("the branch is there");
    let oversized = vec![record(head, RECORD_BYTES_MAX)];
    let refused = store.append(Append { branch: id("run"), after: head, records: oversized, blobs: Vec::new() });
    assert!(matches!(refused, Err(StoreError::TooLarge { .. })));
    drop(store);
    let store = place.open();
    assert_eq!(verified(&*store, "run"), head);
    let sizes: Vec<usize> = all(&*store, "run", 0).iter().map(Vec::len).collect();
    assert_eq!(sizes[8], 5_000_068);
    assert_eq!(sizes.len(), 80);
}

/// Many branches grow at once, from many threads, and appends that are not waited for arrive in order.
///
/// # Panics
///
/// If they do not.
pub fn many_branches_grow_at_once(place: &dyn Place) {
    let store = place.open();
    make(&*store, "root");
    grow(&*store, "root", 3, 20);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let store = &store;
            scope.spawn(move || {
                for branch in 0..8 {
                    let name = format!("run-{thread}-{branch}");
                    fork(&**store, &name, "root", 3);
                    let mut after = store.head(&id(&name)).expect("the branch is there");
                    let mut tickets = Vec::new();
                    for step in 0..10 {
                        let (records, head) = chain(after, 1 + step % 3, 40);
                        let append = Append { branch: id(&name), after, records, blobs: Vec::new() };
                        tickets.push(store.append(append).expect("accepted"));
                        after = head;
                    }
                    assert_eq!(all(&**store, &name, 0).len() as u64, after.count, "a reader sees what was accepted");
                    for ticket in tickets {
                        ticket.wait().expect("durable");
                    }
                }
            });
        }
    });
    drop(store);
    let store = place.open();
    assert_eq!(store.findings(), []);
    assert_eq!(store.branches().expect("branches are listed").len(), 65);
    for thread in 0..8 {
        for branch in 0..8 {
            assert_eq!(verified(&*store, &format!("run-{thread}-{branch}")).count, 22);
        }
    }
}
