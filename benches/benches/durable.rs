//! Durable appends: 64 concurrent episodes on each store, against what the same disk gives otherwise in the same run. The segment store is
//! held against a bare loop that writes 64 records and calls fdatasync; the sled store against itself with one episode, which is one
//! insert and one synced flush at a time.

#![expect(clippy::disallowed_methods, reason = "a benchmark measures wall-clock time over threads")]

use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use dayshift_engine::Head;
use dayshift_stores::sample::{follow, record};
use dayshift_stores::{Append, BranchId, Kind, NewBranch, Store, open};

const EPISODES: u64 = 64;
const BODY_BYTES: usize = 203;

/// Appends `rounds` records to each of `episodes` branches, one at a time, each waiting until it is durable.
fn append(store: &Arc<dyn Store>, episodes: u64, rounds: u64, run: &mut u64) -> Duration {
    *run += 1;
    let branches: Vec<BranchId> =
        (0..episodes).map(|episode| BranchId::new(format!("e{run}-{episode}")).expect("a good name")).collect();
    for id in &branches {
        store.create(NewBranch { id: id.clone(), parent: None, note: Vec::new() }).expect("it is made");
    }
    let started = Instant::now();
    std::thread::scope(|scope| {
        for branch in branches {
            scope.spawn(move || {
                let mut head = Head::default();
                for _ in 0..rounds {
                    let made = record(head, BODY_BYTES);
                    let next = follow(head, &made);
                    let batch = Append { branch: branch.clone(), after: head, records: vec![made], blobs: Vec::new() };
                    store.append(batch).and_then(|ticket| ticket.wait()).expect("it is durable");
                    head = next;
                }
            });
        }
    });
    started.elapsed()
}

fn stores(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("durable appends");
    group.sample_size(10).throughput(Throughput::Elements(EPISODES));
    for kind in [Kind::Segment, Kind::Sled] {
        let folder = tempfile::tempdir().expect("a folder");
        let store: Arc<dyn Store> = Arc::from(open(folder.path().join("store"), Some(kind)).expect("it opens"));
        let mut run = 0;
        group.bench_function(format!("{kind:?}, 64 episodes"), |bench| {
            bench.iter_custom(|rounds| append(&store, EPISODES, rounds, &mut run));
        });
        group.bench_function(format!("{kind:?}, one episode, 64 appends one after the other (baseline)"), |bench| {
            bench.iter_custom(|rounds| append(&store, 1, rounds * EPISODES, &mut run));
        });
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut file = File::create(folder.path().join("bare")).expect("a file");
    let mut head = Head::default();
    group.bench_function("bare write of 64 records and fdatasync (baseline)", |bench| {
        bench.iter(|| {
            let mut bytes = Vec::new();
            for _ in 0..EPISODES {
                let made = record(head, BODY_BYTES);
                head = follow(head, &made);
                bytes.extend_from_slice(&made);
            }
            file.write_all(&bytes).expect("it is written");
            file.sync_data().expect("it is durable");
        });
    });
    group.finish();
}

criterion_group!(durable, stores);
criterion_main!(durable);
