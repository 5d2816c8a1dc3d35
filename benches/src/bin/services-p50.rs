//! Prints the median and the 95th percentile of every tool of every service, each call timed by itself in a fresh fork of one world, as the
//! rows of docs/performance.md; time that the thread waited for a processor is left out. Arguments are texts; a case is timed when its name has one of them in it, all without arguments. It ends
//! with 1 if a median misses what is wanted.

#![expect(clippy::disallowed_methods, reason = "it measures wall-clock time")]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use dayshift_benches::services::{CASES, Case, world};
use dayshift_engine::{Episode, Rejection};
use dayshift_services::Office;

/// How many calls of each case are timed, after a tenth of that which are not.
const CALLS: usize = 300;

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let opened = world().open();
    let mut missed = false;
    println!("| call | wanted | p50 | p95 |\n|---|---|---|---|");
    for case in CASES.iter().filter(|case| wanted.is_empty() || wanted.iter().any(|text| case.name.contains(text))) {
        let bound = Duration::from_micros(case.wanted.micros_max());
        let figures = match time(&opened, case) {
            Ok(times) => {
                let (p50, p95) = (times[CALLS / 2], times[CALLS * 95 / 100]);
                missed |= p50 >= bound;
                let mark = if p50 < bound { "" } else { "**" };
                format!("{mark}{}{mark} | {}", show(p50), show(p95))
            }
            Err(refusal) => {
                missed = true;
                format!("refused: {refusal} | ")
            }
        };
        println!("| {} | < {} ms | {figures} |", case.name, bound.as_millis());
    }
    ExitCode::from(u8::from(missed))
}

/// Returns how long each call took, shortest first.
fn time(opened: &Episode<Office>, case: &Case) -> Result<Vec<Duration>, Rejection> {
    let mut times = Vec::with_capacity(CALLS);
    for round in 0..CALLS + CALLS / 10 {
        let mut episode = opened.clone();
        let call = (case.make)(&mut episode, round);
        let waited = waited();
        let started = Instant::now();
        let step = episode.call(call).expect("it is recorded");
        let took = started.elapsed().saturating_sub(self::waited().saturating_sub(waited));
        step.answer?;
        if round >= CALLS / 10 {
            times.push(took);
        }
    }
    times.sort_unstable();
    Ok(times)
}

/// Returns how long this thread has waited for a processor so far, as Linux tells it: on a machine with much to do, most of a call of some
/// milliseconds is waiting. Elsewhere it is zero.
fn waited() -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(told.split(' ').nth(1).and_then(|nanos| nanos.parse().ok()).unwrap_or_default())
}

fn show(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    if micros < 1_000.0 { format!("{micros:.1} µs") } else { format!("{:.2} ms", micros / 1_000.0) }
}
