//! Errands: the host is asked once, what it brings back is on record, and a log without any has the bytes that it always had.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dayshift_engine::codec::Stored;
use dayshift_engine::toy::{Toy, ToyScript};
use dayshift_engine::{
    Blobs, Episode, Errand, Genesis, Host, MemoryBlobs, Outcome, PAYLOAD_INLINE_BYTES_MAX, Plan, PlannedDay, Prefix,
    Recorded, Seed, Seq, SimTime, ToolCall, Value, map,
};

/// A host that says something else each time.
#[derive(Default)]
struct Fickle {
    asked: AtomicU64,
    padding: usize,
}

impl Host for Fickle {
    fn carry_out(&self, seq: Seq, errand: &Errand, _blobs: &dyn Blobs) -> Value {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        let order = errand.order.to_string();
        map! { "asked" => i64::try_from(asked).expect("few"), "at" => seq.to_string(), "order" => order, "padding" => "x".repeat(self.padding) }
    }
}

struct Table {
    prefix: Prefix<Toy>,
    script: Arc<dyn dayshift_engine::Script<Toy>>,
    blobs: Arc<MemoryBlobs>,
}

impl Table {
    fn new() -> Self {
        let opens = SimTime::from_millis(0);
        let day =
            PlannedDay { name: "mon".into(), opens, ends: opens, notification: "Hello.".to_owned(), closing: None };
        let script = ToyScript { plan: Plan { days: vec![day], ..Plan::default() }, ..ToyScript::default() }.shared();
        let blobs = Arc::new(MemoryBlobs::new());
        let digest = blobs.put(Arc::from(*b"manifest"));
        let genesis = Genesis { scenario: "toy-v1".into(), digest, blobs: vec![digest], epoch: opens };
        let prefix = Prefix::build(Toy::default(), genesis, Vec::new(), Arc::clone(&script), blobs.clone());
        Self { prefix: prefix.expect("laid out"), script, blobs }
    }

    fn open(&self, host: Option<Arc<dyn Host>>) -> Episode<Toy> {
        let opened = Episode::open(&self.prefix, Seed::new(1), Arc::clone(&self.script), self.blobs.clone());
        let mut episode = opened.expect("opened").0;
        if let Some(host) = host {
            episode.set_host(host);
        }
        episode
    }
}

fn play(episode: &mut Episode<Toy>) -> Vec<Arc<[u8]>> {
    let calls = [
        ToolCall::new("toy.write", map! { "k" => "a", "v" => "before" }),
        ToolCall::new("toy.ask", map! { "k" => "a" }),
        ToolCall::new("toy.ask", map! { "k" => "b" }),
        ToolCall::new("toy.read", map! { "k" => "b" }),
    ];
    for call in calls {
        episode.call(call).expect("recorded");
    }
    episode.log().since(0).map(Arc::clone).collect()
}

#[test]
fn what_the_host_brings_back_is_recorded_and_decides() {
    let table = Table::new();
    let host = Arc::new(Fickle::default());
    let mut episode = table.open(Some(host.clone()));
    let records = play(&mut episode);
    assert_eq!(host.asked.load(Ordering::Relaxed), 2);
    let brought = episode.world().peek("a");
    assert_eq!(brought.get("order").and_then(Value::as_text), Some(r#"{"kind":"toy","value":"before"}"#));
    let with: Vec<usize> = (0..records.len())
        .filter(|index| {
            Stored::new(&records[*index]).and_then(|stored| stored.head()).expect("whole").brought.is_some()
        })
        .collect();
    assert_eq!(with.len(), 2);
    assert_eq!(brought.get("at").and_then(Value::as_text), Some(with[0].to_string().as_str()));
}

#[test]
fn executing_a_log_again_asks_nobody_and_gives_the_same_bytes() {
    for padding in [0, PAYLOAD_INLINE_BYTES_MAX] {
        let table = Table::new();
        let host = Arc::new(Fickle { padding, ..Fickle::default() });
        let records = play(&mut table.open(Some(host.clone())));
        let other = play(&mut table.open(Some(host)));
        assert_ne!(records, other, "the host says something else each time");
        let recorded = Recorded::of(&records, &*table.blobs).expect("whole");
        assert_eq!(play(&mut table.open(Some(Arc::new(recorded)))), records);
    }
}

#[test]
fn without_a_host_the_world_refuses_and_so_it_does_again() {
    let table = Table::new();
    let records = play(&mut table.open(None));
    let refused = |record: &Arc<[u8]>| {
        let outcome = Stored::new(record).and_then(|stored| stored.outcome()).expect("whole");
        matches!(outcome, Outcome::Refused(rejection) if rejection.code == "toy/nobody")
    };
    assert_eq!(records.iter().filter(|record| refused(record)).count(), 2);
    let recorded = Recorded::of(&records, &*table.blobs).expect("whole");
    assert_eq!(recorded, Recorded::default());
    assert_eq!(play(&mut table.open(Some(Arc::new(recorded)))), records);
}

#[test]
fn a_record_without_an_errand_says_nothing_of_one() {
    let table = Table::new();
    let records = play(&mut table.open(Some(Arc::new(Fickle::default()))));
    let naming = records.iter().filter(|record| record.windows(8).any(|window| window == b"\xa7brought")).count();
    assert_eq!(naming, 2);
}
