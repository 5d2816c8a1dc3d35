//! Scripts that fail while an episode runs: on record, told apart, and no end of the episode.

use std::sync::Arc;

use dayshift_engine::codec::Stored;
use dayshift_engine::toy::{Toy, ToyCondition, ToyEvent, ToyScript};
use dayshift_engine::{
    Actor, Blobs, CONDITION_FAILED, Episode, EventId, Genesis, Input, Key, MemoryBlobs, Outcome, PERSONA_FAILED, Plan,
    PlannedCommand, PlannedDay, PlannedEvent, PlannedPersona, Prefix, REFERENCE_MISSING, Record, Request,
    SCRIPT_MESSAGE_CHARS_MAX, Script, Seed, SimDuration, SimTime, ToolCall, Value, When, World, map,
};

const HOUR: i64 = 3_600_000;

fn hour(hour: i64) -> SimTime {
    SimTime::from_millis(hour * HOUR)
}

fn write(name: &str, value: impl Into<Value>) -> ToolCall {
    ToolCall::new("toy.write", map! { "k" => name, "v" => value.into() })
}

fn event(id: &str, when: When, call: ToolCall) -> PlannedEvent {
    let commands = vec![PlannedCommand { actor: Actor::World, call }];
    PlannedEvent { id: EventId::new(id), when, commands, notice: None }
}

/// Petra looks at `mood` when somebody writes to her; an event waits for `weather` to be good; both scripts fail at "bad". Two more events
/// hang together: the second copies what the first answers, if it answers.
fn script() -> ToyScript {
    let day = |name: &str, opens: i64| PlannedDay {
        name: name.into(),
        opens: hour(opens),
        ends: hour(opens + 8),
        notification: format!("Good morning, {name}."),
        closing: None,
    };
    let condition = When::Condition { opens: hour(9), deadline: hour(80), at_deadline: false };
    let plan = Plan {
        days: vec![day("mon", 9), day("tue", 33), day("wed", 57)],
        events: vec![
            event("picnic", condition, write("picnic", "yes")),
            event("first", When::At(hour(20)), write("forbidden", "x")),
            event("second", When::At(hour(21)), write("seen", "{{first.ok}}")),
            event("third", When::At(hour(22)), write("third", "yes")),
        ],
        personas: vec![PlannedPersona {
            name: "petra".into(),
            watches: vec![Key::new("toy:to-petra")],
            delay: SimDuration::from_seconds(60),
            wakes: Some(hour(10)),
        }],
        closes: hour(81),
        ..Plan::default()
    };
    ToyScript {
        plan,
        conditions: [(0, ToyCondition::Fragile("weather".into()))].into(),
        reactions: [(0, (vec![write("from-petra", "hello")], 9))].into(),
        fragile: [(0, "mood".into())].into(),
    }
}

struct Table {
    prefix: Prefix<Toy>,
    script: Arc<dyn Script<Toy>>,
    blobs: Arc<MemoryBlobs>,
}

fn table() -> Table {
    let script = script();
    assert_eq!(script.plan.validate(), Ok(()));
    let (blobs, script) = (Arc::new(MemoryBlobs::new()), script.shared());
    let digest = blobs.put(Arc::from(*b"manifest"));
    let genesis = Genesis { scenario: "toy-v1".into(), digest, blobs: vec![digest], epoch: hour(0) };
    let prefix = Prefix::build(Toy::default(), genesis, Vec::new(), Arc::clone(&script), blobs.clone());
    Table { prefix: prefix.expect("it lays out"), script, blobs }
}

impl Table {
    fn open(&self) -> Episode<Toy> {
        let opened = Episode::open(&self.prefix, Seed::new(3), Arc::clone(&self.script), self.blobs.clone());
        opened.expect("it opens").0
    }
}

fn records(episode: &Episode<Toy>) -> Vec<Record<ToyEvent>> {
    let stored = episode.log().since(0).map(|bytes| Stored::new(bytes).and_then(|stored| stored.record()));
    stored.collect::<Result<_, _>>().expect("a record of its own log decodes")
}

/// The refusals of scripts and references, as `code actor event`.
fn failures(episode: &Episode<Toy>) -> Vec<String> {
    let failed = |record: &Record<ToyEvent>| {
        let rejection = record.outcome.rejection()?;
        let event = record.head.event.as_ref().map(|event| format!(" {event}")).unwrap_or_default();
        Some(format!("{} {}{event}", rejection.code, record.head.actor))
    };
    records(episode).iter().filter_map(failed).collect()
}

fn inputs() -> Vec<Input> {
    let hand_over = || Input::HandOver { text: String::new() };
    vec![
        Input::Call(write("mood", "bad")),
        Input::Call(write("to-petra", "hello?")),
        Input::Call(write("weather", "bad")),
        hand_over(),
        Input::Call(write("mood", "fine")),
        Input::Call(write("weather", "fair")),
        hand_over(),
        Input::Call(write("to-petra", "again")),
        Input::Call(write("weather", "bad")),
        Input::Call(write("weather", "good")),
        hand_over(),
    ]
}

fn play(table: &Table) -> Episode<Toy> {
    let mut episode = table.open();
    for input in inputs() {
        episode.input(input).expect("the episode goes on");
    }
    assert!(episode.is_closed());
    episode
}

#[test]
fn a_persona_whose_script_fails_is_a_refused_look_and_the_episode_goes_on() {
    let table = table();
    let mut episode = table.open();
    episode.call(write("mood", "bad")).expect("written");
    let asked = episode.call(write("to-petra", "hello?")).expect("written").seq;
    episode.hand_over("").expect("the episode goes on");
    let all = records(&episode);
    let look = all.iter().find(|record| record.head.request == Request::Look).expect("she looked");
    assert_eq!(look.head.actor, Actor::Persona("petra".into()));
    assert_eq!(look.head.causes, [asked]);
    assert!(look.reads.iter().any(|read| read.key == Key::new("toy:mood")), "what it read before it failed");
    let rejection = look.outcome.rejection().expect("it failed");
    assert_eq!((&*rejection.code, rejection.message.as_str()), (PERSONA_FAILED, "mood: it is bad"));
    assert_eq!(episode.world().peek("from-petra"), Value::Null);
    let looks = all.iter().filter(|record| record.head.request == Request::Look).count();
    assert_eq!(looks, 1, "her wake at ten was dropped, as her look at a minute past nine took its place");
}

#[test]
fn a_persona_that_failed_looks_again_with_its_old_memory_when_something_comes() {
    let table = table();
    let mut episode = table.open();
    episode.hand_over("").expect("her first look, at ten");
    assert_eq!(episode.world().peek("from-petra"), Value::from("hello"));
    for mood in ["bad", "fine"] {
        episode.call(write("mood", mood)).expect("written");
        episode.call(write("to-petra", mood)).expect("written");
        episode.hand_over("").expect("the episode goes on");
    }
    let memories: Vec<Value> = records(&episode)
        .iter()
        .filter(|record| record.head.request == Request::Look && record.head.event.is_none())
        .map(|record| match &record.outcome {
            Outcome::Answered(payload) => {
                payload.load(record.seq, &*table.blobs).expect("there").get("memory").cloned().unwrap_or_default()
            }
            Outcome::Refused(_) | Outcome::Done => Value::Null,
        })
        .collect();
    assert_eq!(memories, [Value::Int(1), Value::Null, Value::Int(2)]);
}

#[test]
fn a_condition_whose_script_fails_is_on_record_once_a_write_and_may_hold_later() {
    let episode = play(&table());
    let picnic = failures(&episode).into_iter().filter(|failure| failure.ends_with("picnic")).collect::<Vec<_>>();
    assert_eq!(picnic, [format!("{CONDITION_FAILED} world picnic"), format!("{CONDITION_FAILED} world picnic")]);
    assert_eq!(episode.world().peek("picnic"), Value::from("yes"), "it held in the end");
    let firing = episode.schedule().firing(0).expect("it happened");
    assert_eq!((firing.records.len(), firing.complete), (1, true), "a failed look is none of its records");
}

#[test]
fn an_event_that_refers_to_what_did_not_come_about_is_refused_and_the_next_one_happens() {
    let episode = play(&table());
    assert!(failures(&episode).contains(&format!("{REFERENCE_MISSING} world second")), "{:?}", failures(&episode));
    assert_eq!(episode.world().peek("seen"), Value::Null);
    assert_eq!(episode.world().peek("third"), Value::from("yes"));
}

#[test]
fn two_runs_with_failing_scripts_give_the_same_bytes() {
    let (one, two) = (play(&table()), play(&table()));
    assert!(failures(&one).len() >= 5, "{:?}", failures(&one));
    assert!(one.log().since(0).eq(two.log().since(0)));
}

#[test]
fn an_episode_with_failing_scripts_resumed_after_any_record_ends_with_the_same_log() {
    let table = table();
    let whole = play(&table);
    let opened = table.prefix.log().len() + 1;
    for count in opened..=whole.log().len() {
        let kept: Vec<_> = whole.log().since(0).take(count).cloned().collect();
        let resumed = Episode::resume(Toy::default(), &kept, Arc::clone(&table.script), table.blobs.clone());
        let mut episode = resumed.expect("it resumes");
        episode.settle().expect("it settles");
        let taken = records(&episode).iter().filter(|record| record.head.actor == Actor::Agent).count();
        for input in inputs().into_iter().skip(taken) {
            episode.input(input).expect("the input is taken");
        }
        assert_eq!(episode.log().head(), whole.log().head(), "resumed after {count} records");
        assert_eq!(episode.world().digest(), whole.world().digest());
    }
}

#[test]
fn a_long_message_of_a_failed_script_is_cut_where_the_limit_says() {
    for (over, kept) in [(0, SCRIPT_MESSAGE_CHARS_MAX), (1, SCRIPT_MESSAGE_CHARS_MAX)] {
        let table = table();
        let mut episode = table.open();
        let length = SCRIPT_MESSAGE_CHARS_MAX - "mood: it is bad".len() + over;
        episode.call(write("length", i64::try_from(length).expect("small"))).expect("written");
        episode.call(write("mood", "bad")).expect("written");
        episode.call(write("to-petra", "hello?")).expect("written");
        episode.hand_over("").expect("the episode goes on");
        let look = records(&episode).into_iter().find(|record| record.head.request == Request::Look);
        let message = look.and_then(|look| look.outcome.rejection().cloned()).expect("it failed").message;
        assert_eq!(message.chars().count(), kept);
    }
}
