//! The office's figures: calls in a world of 10,000 rows and 10,000 files, forks, folding, and the reset of a small world.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use dayshift_benches::office::{large, read_file, read_row, small, stat_file, update, write_file};
use dayshift_engine::{Episode, ToolCall};
use dayshift_services::Office;

const ITEMS: usize = 10_000;

/// A named maker of calls, from an item and a round.
type Maker = (&'static str, fn(usize, u64) -> ToolCall);

const CALLS: [Maker; 5] = [
    ("records.update", update),
    ("records.read", |index, _| read_row(index)),
    ("files.write", write_file),
    ("files.read", |index, _| read_file(index)),
    ("files.stat", |index, _| stat_file(index)),
];

fn calls(criterion: &mut Criterion) {
    let opened = large(ITEMS).open();
    let mut group = criterion.benchmark_group("office call");
    let mut round = 0_u64;
    for (name, make) in CALLS {
        group.bench_function(name, |bench| {
            let mut episode = opened.clone();
            bench.iter_batched(
                || {
                    round += 1;
                    make(round as usize * 7919 % ITEMS, round)
                },
                |call| {
                    let step = episode.call(call).expect("recorded");
                    assert!(step.answer.is_ok(), "{:?}", step.answer);
                    step
                },
                BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}

fn folding(criterion: &mut Criterion) {
    let opened = large(ITEMS).open();
    let mut episode = opened.clone();
    for round in 0..30_000_u64 {
        let item = round as usize * 7919 % ITEMS;
        let (_, make) = CALLS[round as usize % CALLS.len()];
        episode.call(make(item, round)).expect("recorded");
    }
    let tail: Vec<Arc<[u8]>> = episode.log().since(opened.log().len() as u64).cloned().collect();
    let mut group = criterion.benchmark_group("office fold");
    group.throughput(Throughput::Elements(tail.len() as u64));
    group.bench_function("verify, decode and apply", |bench| {
        bench.iter_batched(
            || opened.clone(),
            |mut episode| {
                for record in &tail {
                    episode.absorb(Arc::clone(record)).expect("it follows");
                }
                episode
            },
            BatchSize::LargeInput,
        );
    });
    group.finish();
}

fn forks(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("office fork");
    let opened = large(ITEMS).open();
    group.bench_function("a world of 20,000 items", |bench| {
        bench.iter_with_large_drop(|| black_box(opened.clone()));
    });
    group.bench_function("and its first write", |bench| {
        bench.iter_batched(
            || (opened.clone(), update(17, 1)),
            |(mut episode, call): (Episode<Office>, ToolCall)| {
                episode.call(call).expect("recorded");
                episode
            },
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

fn reset(criterion: &mut Criterion) {
    let work = small();
    criterion.bench_function("office reset (200 mails, 100 rows, 50 files)", |bench| {
        bench.iter_with_large_drop(|| black_box(work.open()));
    });
}

criterion_group!(office, calls, folding, forks, reset);
criterion_main!(office);
