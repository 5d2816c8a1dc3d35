//! Same inputs, same bytes: across runs, stores, and the portable file.

use dayshift_replay::Reexecution;
use dayshift_runs::load_file;
use dayshift_stores::Kind;
use dayshift_tests::{head_of, library, memory_library, play, scenarios};

const SEED: u64 = 7;

#[test]
fn two_runs_in_one_process_give_one_head() {
    for scenario in scenarios() {
        for agent in ["reference", "noop"] {
            let heads = [(); 2].map(|()| head_of(&memory_library(), &scenario, agent, SEED));
            assert_eq!(heads[0], heads[1], "{} by {agent}", scenario.id());
        }
    }
}

#[test]
fn every_store_holds_the_same_bytes() {
    for scenario in scenarios() {
        let memory = head_of(&memory_library(), &scenario, "reference", SEED);
        for kind in [Kind::Sled, Kind::Segment] {
            let folder = tempfile::tempdir().expect("a folder");
            let store = dayshift_stores::open(folder.path().join("store"), Some(kind)).expect("it opens");
            let head = head_of(&library(store.into()), &scenario, "reference", SEED);
            assert_eq!(head, memory, "{} on {kind:?}", scenario.id());
        }
    }
}

#[test]
fn a_log_that_was_exported_and_imported_is_the_same_log() {
    for scenario in scenarios() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.dayshift");
        let library = memory_library();
        let id = play(&library, &scenario, "reference", SEED);
        let head = library.export(&id, &path).expect("it exports");
        assert_eq!(load_file(&path).expect("it loads").head(), head);
        let other = memory_library();
        let imported = other.import(&path).expect("it imports");
        let run = other.load(&imported).expect("it loads");
        assert_eq!(run.head(), head);
        assert!(matches!(run.reexecute(|_| {}), Ok(Reexecution::Same { .. })), "{}", scenario.id());
    }
}

#[test]
fn the_world_folded_from_the_log_is_the_world_that_was_played() {
    for scenario in scenarios() {
        let library = memory_library();
        let id = play(&library, &scenario, "reference", SEED);
        let run = library.load(&id).expect("it loads");
        let folded = run.episode_at(None).expect("it folds");
        let Ok(Reexecution::Same { head, .. }) = run.reexecute(|_| {}) else { panic!("{} diverged", scenario.id()) };
        assert_eq!(folded.log().head(), head);
    }
}
