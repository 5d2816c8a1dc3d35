//! The kernel's figures: a call, a fork, decoding and applying, chain verification against raw BLAKE3. docs/performance.md reports them.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use dayshift_benches::toy::{read, workload, write};
use dayshift_engine::toy::Toy;
use dayshift_engine::{Episode, Head, verify_chain};

const ITEMS: usize = 10_000;
const RECORDS: usize = 20_000;

fn calls(criterion: &mut Criterion) {
    let work = workload(ITEMS);
    let mut group = criterion.benchmark_group("call");
    let opened = work.open();
    let mut round = 0;
    for (name, make) in [("write", write as fn(usize, u64) -> _), ("read", |index, _| read(index))] {
        group.bench_function(name, |bench| {
            let mut episode = opened.clone();
            bench.iter_batched(
                || {
                    round += 1;
                    make(round as usize * 7919 % ITEMS, round)
                },
                |call| episode.call(call).expect("recorded"),
                BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}

fn forks(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("fork");
    for (items, calls) in [(100, 100), (10_000, 100), (10_000, 50_000)] {
        let work = workload(items);
        let records = work.log(items, calls);
        let episode = Episode::resume(Toy::default(), &records, Arc::clone(&work.script), Arc::clone(&work.blobs))
            .expect("it resumes");
        group.bench_function(format!("{items} items, {} records", records.len()), |bench| {
            bench.iter_with_large_drop(|| black_box(episode.clone()));
        });
    }
    group.finish();
}

fn folding(criterion: &mut Criterion) {
    let work = workload(ITEMS);
    let records = work.log(ITEMS, RECORDS);
    let opened = work.open();
    let tail = &records[opened.log().len()..];
    let mut group = criterion.benchmark_group("fold");
    group.throughput(Throughput::Elements(tail.len() as u64));
    group.bench_function("verify, decode and apply", |bench| {
        bench.iter_batched(
            || opened.clone(),
            |mut episode| {
                for record in tail {
                    episode.absorb(Arc::clone(record)).expect("it follows");
                }
                episode
            },
            BatchSize::LargeInput,
        );
    });
    group.finish();
}

fn chain(criterion: &mut Criterion) {
    let work = workload(ITEMS);
    let records = work.log(ITEMS, RECORDS);
    let mut end = Head::default();
    for record in &records {
        end = end.follow(record).expect("it follows");
    }
    let bytes: usize = records.iter().map(|record| record.len()).sum();
    let mut group = criterion.benchmark_group("chain");
    group.throughput(Throughput::Bytes(bytes as u64));
    group.bench_function("verify", |bench| {
        bench.iter(|| verify_chain(records.iter().map(|record| &**record), Head::default(), end).expect("whole"));
    });
    group.bench_function("raw BLAKE3 on the same records (baseline)", |bench| {
        bench.iter(|| records.iter().fold(0_u8, |sum, record| sum ^ blake3::hash(record).as_bytes()[0]));
    });
    group.finish();
}

criterion_group!(kernel, calls, forks, folding, chain);
criterion_main!(kernel);
