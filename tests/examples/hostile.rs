//! Times hostile calls: `cargo run --release --package dayshift-tests --example hostile -- SEEDS CALLS` makes so many calls for each of so many
//! seeds, and prints the slowest ones, what came of all of them, and the most memory that the process had.

#![expect(clippy::disallowed_methods, reason = "a measurement looks at the clock")]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use dayshift_tests::{Hostile, furnished};

/// How many of the slowest calls are shown.
const SHOWN: usize = 10;
/// How much of a call's arguments is shown, in characters.
const SHOWN_CHARS: usize = 100;

fn main() {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<u64>().expect("a whole number"));
    let (seeds, calls) = (numbers.next().unwrap_or(20), numbers.next().unwrap_or(200));
    let mut slowest: Vec<(Duration, String)> = Vec::new();
    let mut outcomes: BTreeMap<String, u64> = BTreeMap::new();
    for seed in 0..seeds {
        let mut bench = furnished();
        let mut hostile = Hostile::new(seed);
        for number in 0..calls {
            let (tool, arguments) = hostile.next_call();
            let shown: String = arguments.to_string().chars().take(SHOWN_CHARS).collect();
            let started = Instant::now();
            let outcome = bench.call(tool, arguments);
            let took = started.elapsed();
            let code = outcome.map_or_else(|refusal| refusal.code.into_owned(), |_| "answered".to_owned());
            slowest.push((took, format!("seed {seed} call {number}: {tool} {shown} → {code}")));
            *outcomes.entry(code).or_default() += 1;
        }
        slowest.sort_by_key(|(took, _)| std::cmp::Reverse(*took));
        slowest.truncate(SHOWN);
    }
    for (took, call) in &slowest {
        println!("{:>8.1} ms  {call}", took.as_secs_f64() * 1000.0);
    }
    println!("{} calls:", seeds * calls);
    for (code, count) in &outcomes {
        println!("{count:>8}  {code}");
    }
    println!("peak memory: {}", peak());
}

/// Returns the most memory that the process had, as the kernel shows it.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or_else(|| "unknown on this system".to_owned(), |line| line.trim().to_owned())
}
