//! Every tool of every service in one world (see `dayshift_benches::services`), each call in a fresh fork, so that the world stays the same
//! however often a call is made. docs/performance.md reports the medians.

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use dayshift_benches::services::{CASES, world};

fn tools(criterion: &mut Criterion) {
    let opened = world().open();
    let mut group = criterion.benchmark_group("services");
    for case in CASES {
        let mut round = 0;
        group.bench_function(case.name, |bench| {
            bench.iter_batched(
                || {
                    round += 1;
                    let mut episode = opened.clone();
                    let call = (case.make)(&mut episode, round);
                    (episode, call)
                },
                |(mut episode, call)| {
                    let step = episode.call(call).expect("it is recorded");
                    assert!(step.answer.is_ok(), "{}: {:?}", case.name, step.answer);
                    (episode, step)
                },
                BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}

criterion_group!(services, tools);
criterion_main!(services);
