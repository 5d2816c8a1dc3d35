//! Arbitrary bytes as a record: refused or decoded, never a panic; what decodes is encoded and decoded to the same again.

#![no_main]

use dayshift_engine::Record;
use dayshift_engine::codec::{Stored, encode};
use dayshift_services::OfficeEvent;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(stored) = Stored::new(bytes) else { return };
    let Ok(record) = stored.record::<OfficeEvent>() else { return };
    let again = encode(Default::default(), &record);
    let decoded: Record<OfficeEvent> =
        Stored::new(&again).and_then(|stored| stored.record()).expect("what was encoded decodes");
    // NaN is not equal to itself, so compare what is written.
    assert_eq!(encode(Default::default(), &decoded), again);
});
