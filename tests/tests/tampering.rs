//! A real run as a portable file: whichever byte is altered, verifying finds it and says where.

use dayshift_runs::{RunError, verify_file};
use dayshift_stores::StoreError;
use dayshift_tests::{memory_library, play, scenario};

/// How many places of the file are tried; a prime step visits records, blobs and frames alike.
const PLACES: usize = 400;

#[test]
fn an_altered_byte_of_a_real_run_is_found_and_its_place_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.dayshift");
    let library = memory_library();
    let id = play(&library, &scenario("payment-change-v1"), "reference", 7);
    library.export(&id, &path).expect("it exports");
    assert!(verify_file(&path).is_ok());
    let whole = std::fs::read(&path).expect("it is there");
    for place in 0..PLACES {
        let at = place * whole.len() / PLACES + place % 7;
        let mut altered = whole.clone();
        altered[at] ^= 1 << (place % 8);
        std::fs::write(&path, &altered).expect("it is written");
        let error = verify_file(&path).expect_err("an altered byte is found");
        assert!(
            matches!(error, RunError::Store(StoreError::Damaged(_) | StoreError::NotAStore { .. })),
            "byte {at}: {error}"
        );
        let said = error.to_string();
        let named = ["record", "blob", "byte", "head", "frame"].iter().any(|word| said.contains(word));
        assert!(named, "byte {at}: {said}");
    }
}

#[test]
fn a_file_that_ends_early_is_found_wherever_it_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.dayshift");
    let library = memory_library();
    let id = play(&library, &scenario("payment-change-v1"), "noop", 7);
    library.export(&id, &path).expect("it exports");
    let whole = std::fs::read(&path).expect("it is there");
    for part in 0..60 {
        std::fs::write(&path, &whole[..part * whole.len() / 60]).expect("it is written");
        assert!(verify_file(&path).is_err(), "cut to {part} sixtieths");
    }
}
