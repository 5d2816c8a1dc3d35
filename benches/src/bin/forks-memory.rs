//! Measures the memory of many live forks: 10,000 forks of a world of 10,000 rows, each with 20 changes. Prints resident bytes.

use dayshift_benches::office::{large, update};

const ITEMS: usize = 10_000;
const FORKS: usize = 10_000;
const CHANGES: usize = 20;

fn main() {
    let origin = large(ITEMS).open();
    let before = resident_kib();
    let forks: Vec<_> = (0..FORKS)
        .map(|fork| {
            let mut episode = origin.clone();
            for change in 0..CHANGES {
                let step = episode.call(update((fork * 31 + change * 499) % ITEMS, fork as u64)).expect("recorded");
                assert!(step.answer.is_ok(), "{:?}", step.answer);
            }
            episode
        })
        .collect();
    let after = resident_kib();
    println!("{} forks of a world of {ITEMS} rows and {ITEMS} files, {CHANGES} changes each", forks.len());
    println!(
        "before: {} MiB; after: {} MiB; a fork: {} KiB",
        before / 1024,
        after / 1024,
        (after - before) / FORKS as u64
    );
}

/// Returns the resident memory of this process as Linux tells it, in KiB.
fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells what a process uses");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("it tells resident memory");
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number")
}
