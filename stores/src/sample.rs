//! Records for tests: a chain of any length whose bodies are filler. Not for anything but tests.

use std::sync::Arc;

use dayshift_engine::{Envelope, Head, Seq, SimTime};

/// Returns `count` records that follow `head`, each with a body of `body_bytes`, and the head after them.
#[must_use]
pub fn chain(head: Head, count: usize, body_bytes: usize) -> (Vec<Arc<[u8]>>, Head) {
    let mut head = head;
    let records = (0..count)
        .map(|_| {
            let record = record(head, body_bytes);
            head = follow(head, &record);
            record
        })
        .collect();
    (records, head)
}

/// Returns a record that follows `head`, with a body of `body_bytes` that depends on the position and the history.
#[must_use]
pub fn record(head: Head, body_bytes: usize) -> Arc<[u8]> {
    let envelope = Envelope {
        seq: Seq::new(head.count),
        time: SimTime::from_millis(i64::try_from(head.count).unwrap_or(i64::MAX)),
        previous: head.hash,
        section_bytes: [u32::try_from(body_bytes).unwrap_or(u32::MAX), 0, 0, 0],
    };
    let seed = head.count.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(head.hash.as_bytes()[0]);
    let body = (0..body_bytes as u64).map(|at| (seed.wrapping_add(at).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 56) as u8);
    envelope.to_bytes().into_iter().chain(body).collect()
}

/// Returns the head after `record`.
///
/// # Panics
///
/// If the record does not follow `head`: a bug of the test.
#[must_use]
pub fn follow(head: Head, record: &[u8]) -> Head {
    head.follow(record).expect("a sample record follows the head that it was made for")
}
