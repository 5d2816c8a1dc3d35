//! A world that somebody stages by hand: what comes from outside is recorded in the world's name, belongs to no turn, and re-executes.

use std::sync::Arc;

use dayshift_engine::codec::Stored;
use dayshift_engine::toy::{Toy, ToyScript};
use dayshift_engine::{
    Actor, Blobs, Episode, EpisodeError, EventId, Genesis, MemoryBlobs, Outside, OutsideAct, Plan, PlannedCommand,
    PlannedDay, PlannedEvent, Prefix, Recorded, Request, Script, Seed, SimTime, ToolCall, When, map,
};
use dayshift_replay::{Reexecution, reexecute};

const HOUR: i64 = 3_600_000;

fn hours(count: i64) -> SimTime {
    SimTime::from_millis(count * HOUR)
}

fn write(name: &str, value: &str) -> ToolCall {
    ToolCall::new("toy.write", map! { "k" => name, "v" => value })
}

fn staged(name: &str, hour: i64, act: OutsideAct) -> Outside {
    Outside { event: EventId::outside(name), time: hours(hour), actor: Actor::World, act }
}

struct Table {
    script: Arc<dyn Script<Toy>>,
    blobs: Arc<dyn Blobs>,
}

impl Table {
    fn new() -> Self {
        let day = |name: &str, hour| PlannedDay {
            name: name.into(),
            opens: hours(hour),
            ends: hours(hour + 8),
            notification: format!("Good morning, {name}."),
            closing: None,
        };
        let planned = PlannedEvent {
            id: EventId::new("planned"),
            when: When::At(hours(11)),
            commands: vec![PlannedCommand { actor: Actor::World, call: write("planned", "yes") }],
            notice: None,
        };
        let plan = Plan {
            days: vec![day("mon", 9), day("tue", 33)],
            events: vec![planned],
            closes: hours(48),
            ..Plan::default()
        };
        Self { script: ToyScript { plan, ..ToyScript::default() }.shared(), blobs: Arc::new(MemoryBlobs::new()) }
    }

    fn open(&self, seed: Seed) -> Episode<Toy> {
        let digest = self.blobs.put(Arc::from(*b"manifest"));
        let genesis = Genesis { scenario: "toy-v1".into(), digest, blobs: vec![digest], epoch: hours(0) };
        let prefix =
            Prefix::build(Toy::default(), genesis, Vec::new(), Arc::clone(&self.script), Arc::clone(&self.blobs))
                .expect("it lays out");
        Episode::open(&prefix, seed, Arc::clone(&self.script), Arc::clone(&self.blobs)).expect("it opens").0
    }

    /// Plays two days between which somebody stages things, one of them large, one refused.
    fn play(&self) -> Episode<Toy> {
        let mut episode = self.open(Seed::new(3));
        let stage = |episode: &mut Episode<Toy>, outside| episode.outside(outside).expect("it is staged");
        stage(&mut episode, staged("stage0", 9, OutsideAct::Call(write("a", &"x".repeat(5000)))));
        stage(&mut episode, staged("stage0", 9, OutsideAct::Tell("a came".to_owned())));
        episode.call(ToolCall::new("toy.read", map! { "k" => "a" })).expect("read");
        stage(&mut episode, staged("stage1", 12, OutsideAct::Call(write("forbidden", "b"))));
        episode.hand_over("").expect("handed over");
        stage(&mut episode, staged("stage2", 34, OutsideAct::Call(write("a", "2"))));
        episode.hand_over("").expect("handed over");
        assert!(episode.is_closed());
        episode
    }
}

#[test]
fn a_staged_log_executes_again_to_the_same_bytes() {
    let table = Table::new();
    let records: Vec<_> = table.play().log().since(0).cloned().collect();
    let came_to =
        reexecute(&records, &*table.blobs, Arc::new(Recorded::default()), |seed| Ok(table.open(seed)), |_| {})
            .expect("it executes");
    let Reexecution::Same { inputs, head } = came_to else { panic!("{came_to:?}") };
    assert_eq!((inputs, head.count), (7, records.len() as u64));
}

#[test]
fn what_was_due_before_a_staged_act_happens_before_it() {
    let episode = Table::new().play();
    let of = |id: EventId| {
        let records = episode.log().since(0).map(|bytes| Stored::new(bytes).expect("stored"));
        let found = records.filter(|stored| stored.head().expect("a head").event.as_ref() == Some(&id));
        found.map(|stored| (stored.seq(), stored.time())).collect::<Vec<_>>()
    };
    let (planned, staged) = (of(EventId::new("planned")), of(EventId::outside("stage1")));
    assert_eq!((planned[0].1, staged[0].1), (hours(11), hours(12)));
    assert!(planned[0].0 < staged[0].0);
}

#[test]
fn a_staged_act_belongs_to_the_world_and_to_no_turn() {
    let episode = Table::new().play();
    let heads = episode.log().since(0).map(|bytes| Stored::new(bytes).expect("stored").head().expect("a head"));
    let staged: Vec<_> = heads.filter(|head| head.event.as_ref().is_some_and(EventId::is_outside)).collect();
    assert_eq!(staged.len(), 4);
    assert!(staged.iter().all(|head| head.actor == Actor::World && head.turn.is_none()));
    assert!(matches!(&staged[1].request, Request::Notify { text } if text == "a came"));
}

#[test]
fn the_agent_and_planned_names_cannot_come_from_outside() {
    let mut episode = Table::new().open(Seed::new(1));
    let before = episode.log().head();
    let own = Outside { actor: Actor::Agent, ..staged("x", 9, OutsideAct::Tell("hello".to_owned())) };
    assert!(matches!(episode.outside(own), Err(EpisodeError::NotOutside(_))));
    let planned = Outside { event: EventId::new("planned"), ..staged("x", 9, OutsideAct::Tell("hello".to_owned())) };
    assert!(matches!(episode.outside(planned), Err(EpisodeError::NotOutside(_))));
    assert_eq!(episode.log().head(), before);
}
