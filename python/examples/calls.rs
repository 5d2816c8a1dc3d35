//! What a call costs without Python: the baseline of `python/benches/overhead.py`, which runs this and makes the same calls itself.

#![expect(clippy::disallowed_methods, reason = "a measurement asks the clock and its arguments")]

use std::sync::Arc;
use std::time::Instant;

use dayshift_engine::{Blobs, Episode, MemoryBlobs, Seed, ToolCall, map};
use dayshift_runs::load_scenario;
use dayshift_services::Office;

/// After how many calls a fresh fork goes on, so that the simulated day does not end.
const CALLS_A_FORK: usize = 50;

fn main() {
    let count: usize = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(20_000);
    let scenario = load_scenario("payment-change-v1").expect("it is built in");
    let blobs: Arc<dyn Blobs> = Arc::new(MemoryBlobs::new());
    let prefix = scenario.prefix(Office::default(), &blobs).expect("it lays out");
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let opened = Episode::open(&prefix, Seed::new(7), scenario.script(), Arc::clone(&blobs));
        let origin = opened.expect("it opens").0;
        let mut episode = origin.clone();
        let started = Instant::now();
        for number in 0..count {
            if number % CALLS_A_FORK == 0 {
                episode = origin.clone();
            }
            let call = ToolCall::new("files.stat", map! { "path" => "/policies/payment-policy.md" });
            let step = episode.call(call).expect("a call");
            assert!(step.answer.is_ok(), "{:?}", step.answer);
        }
        best = best.min(started.elapsed().as_secs_f64() / count as f64);
    }
    println!("{:.3}", best * 1e6);
}
