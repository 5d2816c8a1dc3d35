//! The kernel alone: a toy world of many named values, and a long log of writes and reads on it.

use std::sync::Arc;

use dayshift_engine::toy::{Toy, ToyScript};
use dayshift_engine::{
    Blobs, Episode, Genesis, MemoryBlobs, Plan, PlannedDay, Prefix, Script, Seed, SimTime, ToolCall, Value, map,
};

/// A scenario without a timeline, whose turns hold as many calls as anybody wants.
#[must_use]
pub fn script() -> Arc<dyn Script<Toy>> {
    let day = PlannedDay {
        name: "day".into(),
        opens: SimTime::from_millis(0),
        ends: SimTime::from_millis(1),
        notification: String::new(),
        closing: None,
    };
    let plan = Plan {
        days: vec![day],
        closes: SimTime::from_millis(1),
        limits: dayshift_engine::EpisodeLimits {
            calls_per_turn_max: u32::MAX,
            ..dayshift_engine::EpisodeLimits::default()
        },
        ..Plan::default()
    };
    ToyScript { plan, ..ToyScript::default() }.shared()
}

/// Returns the call that writes the value number `index`; `round` makes the content differ.
#[must_use]
pub fn write(index: usize, round: u64) -> ToolCall {
    ToolCall::new("toy.write", map! { "k" => format!("item/{index:06}"), "v" => format!("value {round} of {index}") })
}

/// Returns the call that reads the value number `index`.
#[must_use]
pub fn read(index: usize) -> ToolCall {
    ToolCall::new("toy.read", map! { "k" => format!("item/{index:06}") })
}

/// A prefix of `items` values, and what belongs to it.
pub struct Workload {
    /// The prefix.
    pub prefix: Prefix<Toy>,
    /// The script.
    pub script: Arc<dyn Script<Toy>>,
    /// The blobs.
    pub blobs: Arc<dyn Blobs>,
}

/// Lays out a world of `items` values.
///
/// # Panics
///
/// If the kernel refuses its own workload.
#[must_use]
pub fn workload(items: usize) -> Workload {
    let (script, blobs): (_, Arc<dyn Blobs>) = (script(), Arc::new(MemoryBlobs::new()));
    let digest = blobs.put(Arc::from(*b"bench"));
    let genesis = Genesis { scenario: "bench-v1".into(), digest, blobs: vec![digest], epoch: SimTime::from_millis(0) };
    let setup = (0..items).map(|index| write(index, 0)).collect();
    let prefix = Prefix::build(Toy::default(), genesis, setup, Arc::clone(&script), Arc::clone(&blobs))
        .expect("the workload lays out");
    Workload { prefix, script, blobs }
}

impl Workload {
    /// Opens an episode.
    ///
    /// # Panics
    ///
    /// If the kernel refuses its own workload.
    #[must_use]
    pub fn open(&self) -> Episode<Toy> {
        let opened = Episode::open(&self.prefix, Seed::new(1), Arc::clone(&self.script), Arc::clone(&self.blobs));
        opened.expect("the workload opens").0
    }

    /// Returns the log of `calls` calls, two reads for each write.
    ///
    /// # Panics
    ///
    /// If the kernel refuses its own workload.
    #[must_use]
    pub fn log(&self, items: usize, calls: usize) -> Vec<Arc<[u8]>> {
        let mut episode = self.open();
        for index in 0..calls {
            let item = index * 7919 % items;
            let call = if index % 3 == 0 { write(item, index as u64) } else { read(item) };
            let step = episode.call(call).expect("recorded");
            assert!(step.answer.is_ok(), "{:?}", step.answer);
        }
        episode.log().since(0).cloned().collect()
    }
}

/// Returns the value number `index` without a trace, to keep results alive.
#[must_use]
pub fn peek(episode: &Episode<Toy>, index: usize) -> Value {
    episode.world().peek(&format!("item/{index:06}"))
}
