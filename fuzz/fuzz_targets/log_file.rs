//! Arbitrary bytes as a portable log: refused with a reason or read, never a panic.

#![no_main]

use dayshift_stores::PortableLog;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(log) = PortableLog::parse("fuzz.dayshift", bytes.to_vec()) else { return };
    assert_eq!(log.records().len() as u64, log.head().count);
    for id in log.blob_ids() {
        let content = log.blob(id).expect("a log in memory is read").expect("a listed blob is there");
        assert_eq!(dayshift_engine::BlobId::of(content), id);
    }
});
