//! Logs from elsewhere: their names block nothing, their blobs are there or missed, and an initial world is known by what it holds.

use std::path::Path;
use std::sync::Arc;

use dayshift_engine::Seed;
use dayshift_runs::{Library, RunError, RunNote, load_file};
use dayshift_stores::{BranchId, Kind, MemoryStore, NewBranch, Store, export, open};
use dayshift_tests::{memory_library, play, scenario};

const SCENARIO: &str = "payment-change-v1";

fn prefix_of(store: &dyn Store) -> BranchId {
    let branches = store.branches().expect("listed");
    let prefix = branches.into_iter().find(|branch| branch.id.as_str().starts_with("prefix-"));
    prefix.expect("the initial world has a branch").id
}

/// Writes a log whose name is that of the scenario's initial world.
fn impostor(path: &Path, note: &[u8]) -> BranchId {
    let library = memory_library();
    let run = play(&library, &scenario(SCENARIO), "noop", 3);
    library.export(&run, path).expect("it exports");
    let loaded = load_file(path).expect("it loads");
    let name = prefix_of(&**library.store());
    let store = MemoryStore::new();
    store.create(NewBranch { id: name.clone(), parent: None, note: Vec::new() }).expect("made");
    let records = loaded.records.clone();
    let blobs: Vec<_> = library.store().branches().expect("listed").into_iter().map(|branch| branch.id).collect();
    assert!(!blobs.is_empty());
    let append =
        dayshift_stores::Append { branch: name.clone(), after: Default::default(), records, blobs: Vec::new() };
    store.append(append).expect("accepted").wait().expect("kept");
    let ids: Vec<_> = dayshift_stores::PortableLog::open(path).expect("whole").blob_ids().collect();
    for id in &ids {
        store.put_blob(&library.store().blob(*id).expect("read").expect("there")).expect("kept");
    }
    export(&store, &name, &ids, path, note).expect("it exports");
    name
}

#[test]
fn an_imported_log_with_the_name_of_an_initial_world_gets_another_and_blocks_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("impostor.dayshift");
    let name = impostor(&path, &RunNote::default().to_bytes());
    let library = memory_library();
    let id = library.import(&path).expect("it is a whole log");
    assert_ne!(id, name);
    assert!(library.list().expect("listed").iter().any(|run| run.id == id), "it is listed");
    assert!(library.start(&scenario(SCENARIO), Seed::new(1), "noop").is_ok());
}

#[test]
fn a_branch_that_has_the_name_of_an_initial_world_and_holds_another_log_blocks_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("impostor.dayshift");
    let name = impostor(&path, b"");
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let log = dayshift_stores::PortableLog::open(&path).expect("whole");
    dayshift_stores::import(&*store, &log, &name, b"").expect("imported under its name");
    let library = Library::new(Arc::clone(&store));
    let (live, _) = library.start(&scenario(SCENARIO), Seed::new(1), "noop").expect("it starts");
    let parent = store.branches().expect("listed").into_iter().find(|branch| branch.id == *live.id());
    let parent = parent.and_then(|branch| branch.parent).expect("a run shares its initial world");
    assert_ne!(parent.branch, name);
    assert!(parent.branch.as_str().starts_with(name.as_str()), "{}", parent.branch);
}

#[test]
fn damage_in_an_initial_world_blocks_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store");
    let library = Library::new(Arc::from(open(&path, Some(Kind::Segment)).expect("it opens")));
    play(&library, &scenario(SCENARIO), "noop", 3);
    drop(library);
    let file = path.join("log-1/00000001.segment");
    let mut bytes = std::fs::read(&file).expect("read");
    let third = bytes.windows(4).enumerate().filter(|(_, window)| *window == b"DSR\x01").nth(2).expect("a record").0;
    bytes[third + 90] ^= 1;
    std::fs::write(&file, bytes).expect("written");
    let library = Library::new(Arc::from(open(&path, None).expect("a damaged store opens")));
    assert!(!library.findings().is_empty());
    let id = play(&library, &scenario(SCENARIO), "noop", 3);
    assert!(library.verify(&id, |_| ()).is_ok());
}

#[test]
fn a_log_whose_blobs_are_missing_is_refused_unless_it_is_salvaged() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.dayshift");
    let library = memory_library();
    let run = play(&library, &scenario(SCENARIO), "noop", 3);
    // Exported without its blobs.
    let note = library.list().expect("listed").remove(0).note;
    export(&**library.store(), &run, &[], &path, &note.to_bytes()).expect("it exports");
    let other = memory_library();
    assert!(matches!(other.import(&path), Err(RunError::BlobMissing(_))));
    assert_eq!(other.list().expect("listed"), [], "nothing is left of it");
    let imported = other.import_salvaged(&path).expect("it is salvaged");
    assert_eq!(imported.fault, None);
    assert_eq!(imported.blobs_missing, [], "the scenario is installed");
    assert!(other.load(&imported.id).and_then(|run| run.grade(None)).is_ok());
    // A store that has them misses none.
    assert!(library.import(&path).is_ok());
}
