//! Every backend passes the one conformance suite.

use std::path::PathBuf;
use std::sync::Arc;

use dayshift_stores::conformance::{self, Place};
use dayshift_stores::{MemoryStore, SegmentStore, SledStore, Store, StoreError};
use tempfile::TempDir;

struct InMemory(Arc<MemoryStore>);

impl Place for InMemory {
    fn open(&self) -> Arc<dyn Store> {
        self.0.clone()
    }
}

struct InFolder {
    folder: TempDir,
    open: fn(PathBuf) -> Result<Arc<dyn Store>, StoreError>,
}

impl InFolder {
    fn path(&self) -> PathBuf {
        self.folder.path().join("store")
    }
}

impl Place for InFolder {
    fn open(&self) -> Arc<dyn Store> {
        (self.open)(self.path()).expect("the store opens")
    }
}

fn memory() -> InMemory {
    InMemory(Arc::new(MemoryStore::new()))
}

fn segment() -> InFolder {
    let open = |path| SegmentStore::open(path).map(|store| Arc::new(store) as Arc<dyn Store>);
    InFolder { folder: tempfile::tempdir().expect("a temporary folder"), open }
}

fn sled() -> InFolder {
    let open = |path| SledStore::open(path).map(|store| Arc::new(store) as Arc<dyn Store>);
    InFolder { folder: tempfile::tempdir().expect("a temporary folder"), open }
}

macro_rules! suite {
    ($backend:ident: $($test:ident),* $(,)?) => {
        mod $backend {
            $(#[test]
            fn $test() {
                super::conformance::$test(&super::$backend());
            })*
        }
    };
    ($($backend:ident),*) => {
        $(suite!($backend:
            what_was_appended_is_read,
            forks_share_and_go_on,
            wrong_appends_are_refused,
            wrong_branches_are_refused,
            notes_are_replaced,
            discarded_branches_are_gone,
            blobs_are_kept,
            large_records_are_kept,
            many_branches_grow_at_once,
        );)*
    };
}

suite!(memory, segment, sled);

fn a_second_opener_is_told(place: &InFolder) {
    let store = place.open();
    let Err(refused) = (place.open)(place.path()) else { panic!("a second opener is refused") };
    assert!(matches!(refused, StoreError::Locked { .. }));
    let sentence = refused.to_string();
    assert!(
        sentence.contains(&place.path().display().to_string()) && sentence.contains("open elsewhere"),
        "{sentence}"
    );
    drop(store);
    assert!((place.open)(place.path()).is_ok(), "the lock goes with the store");
}

#[test]
fn a_second_opener_of_a_segment_store_is_told() {
    a_second_opener_is_told(&segment());
}

#[test]
fn a_second_opener_of_a_sled_store_is_told() {
    a_second_opener_is_told(&sled());
}

#[test]
fn a_folder_with_other_files_is_no_store() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("thesis.txt"), "mine").expect("a file is written");
    assert!(matches!(SegmentStore::open(folder.path()), Err(StoreError::NotAStore { .. })));
    assert_eq!(std::fs::read_dir(folder.path()).expect("listed").count(), 1, "nothing was added to it");
}
