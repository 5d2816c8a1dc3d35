//! The episode loop on the toy world: what is recorded, what is refused, and that everything is a fold.

use std::sync::Arc;

use dayshift_engine::codec::Stored;
use dayshift_engine::toy::{Toy, ToyCondition, ToyEvent, ToyScript, toy_read};
use dayshift_engine::{
    Actor, Blobs, Clock, Episode, EpisodeError, EpisodeLimits, EventId, Frame, Genesis, Input, Key, MemoryBlobs,
    Outcome, Plan, PlannedCommand, PlannedDay, PlannedEvent, PlannedPersona, Prefix, Record, Request, Seed,
    SimDuration, SimTime, ToolCall, Value, When, World, map,
};

const HOUR: i64 = 3_600_000;

fn day(name: &str, hour: i64) -> PlannedDay {
    PlannedDay {
        name: name.into(),
        opens: SimTime::from_millis(hour * HOUR),
        ends: SimTime::from_millis((hour + 8) * HOUR),
        notification: format!("Good morning, {name}."),
        closing: None,
    }
}

fn plan(events: Vec<PlannedEvent>) -> Plan {
    Plan {
        days: vec![day("mon", 9), day("tue", 33), day("wed", 57)],
        events,
        closes: SimTime::from_millis(70 * HOUR),
        ..Plan::default()
    }
}

fn event(id: &str, when: When, name: &str, notice: Option<&str>) -> PlannedEvent {
    let call = ToolCall::new("toy.write", map! { "k" => name, "v" => id });
    PlannedEvent {
        id: EventId::new(id),
        when,
        commands: vec![PlannedCommand { actor: Actor::World, call }],
        notice: notice.map(str::to_owned),
    }
}

fn at(hour: i64) -> When {
    When::At(SimTime::from_millis(hour * HOUR))
}

struct Table {
    prefix: Prefix<Toy>,
    script: Arc<dyn dayshift_engine::Script<Toy>>,
    blobs: Arc<MemoryBlobs>,
}

fn table(script: ToyScript) -> Table {
    assert_eq!(script.plan.validate(), Ok(()));
    let blobs = Arc::new(MemoryBlobs::new());
    let script = script.shared();
    let digest = blobs.put(Arc::from(*b"manifest"));
    let genesis = Genesis { scenario: "toy-v1".into(), digest, blobs: vec![digest], epoch: SimTime::from_millis(0) };
    let setup = vec![write("start", "there")];
    let prefix =
        Prefix::build(Toy::default(), genesis, setup, Arc::clone(&script), blobs.clone()).expect("it lays out");
    Table { prefix, script, blobs }
}

impl Table {
    fn open(&self, seed: u64) -> (Episode<Toy>, Vec<String>) {
        let (episode, step) =
            Episode::open(&self.prefix, Seed::new(seed), Arc::clone(&self.script), self.blobs.clone())
                .expect("it opens");
        (episode, step.notices)
    }

    fn resume(&self, episode: &Episode<Toy>, count: usize) -> Episode<Toy> {
        let records: Vec<_> = episode.log().since(0).take(count).cloned().collect();
        Episode::resume(Toy::default(), &records, Arc::clone(&self.script), self.blobs.clone()).expect("it resumes")
    }
}

fn write(name: &str, value: &str) -> ToolCall {
    ToolCall::new("toy.write", map! { "k" => name, "v" => value })
}

fn read(name: &str) -> ToolCall {
    ToolCall::new("toy.read", map! { "k" => name })
}

fn records(episode: &Episode<Toy>) -> Vec<Record<ToyEvent>> {
    episode
        .log()
        .since(0)
        .map(|bytes| Stored::new(bytes).and_then(|stored| stored.record()).expect("a record of its own log decodes"))
        .collect()
}

fn busy_script() -> ToyScript {
    let mut watched = event("asked", When::At(SimTime::default()), "answer", Some("an answer came"));
    watched.when = When::Condition {
        opens: SimTime::from_millis(9 * HOUR),
        deadline: SimTime::from_millis(60 * HOUR),
        at_deadline: false,
    };
    let mut plan = plan(vec![
        event("night", at(20), "silent", None),
        event("loud", at(21), "loud", Some("something happened")),
        event(
            "later",
            When::After { event: EventId::new("asked"), delay: SimDuration::from_seconds(7200) },
            "later",
            None,
        ),
        watched,
    ]);
    plan.personas.push(PlannedPersona {
        name: "petra".into(),
        watches: vec![Key::new("toy:to-petra")],
        delay: SimDuration::from_seconds(60),
        wakes: None,
    });
    ToyScript {
        plan,
        conditions: [(3, ToyCondition::Holds("question".into(), Value::from("why")))].into(),
        reactions: [(0, (vec![write("from-petra", "hello"), write("to-petra", "note to self")], 2))].into(),
        ..ToyScript::default()
    }
}

/// Plays three busy days.
fn play(table: &Table, seed: u64) -> Episode<Toy> {
    let (mut episode, _) = table.open(seed);
    for input in inputs() {
        episode.input(input).expect("the input is taken");
    }
    assert!(episode.is_closed());
    episode
}

fn inputs() -> Vec<Input> {
    let text = |text: &str| text.to_owned();
    vec![
        Input::Turn { text: text("let me look") },
        Input::Call(read("start")),
        Input::Call(write("to-petra", "hello?")),
        Input::Call(ToolCall::new("toy.write", map! { "k" => "forbidden", "v" => 1_i64 })),
        Input::HandOver { text: text("done for monday") },
        Input::Turn { text: String::new() },
        Input::Call(write("question", "why")),
        Input::Call(write("big", &"x".repeat(5000))),
        Input::Call(read("big")),
        Input::HandOver { text: String::new() },
        Input::Call(ToolCall::new("toy.copy", map! { "src" => "answer", "dst" => "copy" })),
        Input::HandOver { text: text("done") },
    ]
}

#[test]
fn a_read_is_recorded_with_the_record_that_wrote_it() {
    let table = table(ToyScript { plan: plan(vec![]), ..ToyScript::default() });
    let (mut episode, _) = table.open(1);
    let wrote = episode.call(write("a", "1")).expect("written").seq;
    let read = episode.call(read("a")).expect("read");
    assert_eq!(read.answer, Ok(map! { "value" => "1" }));
    assert_eq!(records(&episode)[read.seq.get() as usize].reads, vec![toy_read("a", wrote.get())]);
}

#[test]
fn a_refusal_is_a_record_without_events() {
    let table = table(ToyScript { plan: plan(vec![]), ..ToyScript::default() });
    let (mut episode, _) = table.open(1);
    let before = episode.world().digest();
    let step = episode.call(ToolCall::new("toy.write", map! { "k" => "forbidden", "v" => 1_i64 })).expect("recorded");
    assert_eq!(step.answer.as_ref().err().map(|rejection| &*rejection.code), Some("toy/forbidden"));
    let record = &records(&episode)[step.seq.get() as usize];
    assert!(record.events.is_empty());
    assert!(matches!(&record.outcome, Outcome::Refused(rejection) if rejection.code == "toy/forbidden"));
    assert_eq!(episode.world().digest(), before);
}

#[test]
fn a_backstage_tool_does_not_exist_for_the_agent() {
    let table = table(ToyScript { plan: plan(vec![]), ..ToyScript::default() });
    let (mut episode, _) = table.open(1);
    let step = episode.call(ToolCall::new("toy.secret", map! { "k" => "x" })).expect("recorded");
    let rejection = step.answer.expect_err("refused");
    assert_eq!(rejection.code, "call/unknown-tool");
    assert!(!rejection.message.contains("secret,"), "{}", rejection.message);
}

#[test]
fn a_loud_event_is_a_line_of_the_next_notification_and_a_silent_one_is_not() {
    let table = table(ToyScript {
        plan: plan(vec![event("night", at(20), "silent", None), event("loud", at(21), "loud", Some("news"))]),
        ..ToyScript::default()
    });
    let (mut episode, first) = table.open(1);
    assert_eq!(first, ["Good morning, mon."]);
    let step = episode.hand_over("").expect("handed over");
    assert_eq!(step.notices, ["Good morning, tue.\n- news"]);
    assert_eq!(episode.world().peek("silent"), Value::from("night"));
    let step = episode.hand_over("").expect("handed over");
    assert_eq!(step.notices, ["Good morning, wed."], "a line is told once");
}

#[test]
fn an_exogenous_event_bears_the_time_at_which_it_was_due() {
    let table = table(ToyScript { plan: plan(vec![event("night", at(20), "silent", None)]), ..ToyScript::default() });
    let (mut episode, _) = table.open(1);
    episode.hand_over("").expect("handed over");
    let fired = records(&episode).into_iter().find(|record| record.head.event.is_some()).expect("it happened");
    assert_eq!(fired.time, SimTime::from_millis(20 * HOUR));
}

#[test]
fn a_conditional_event_follows_the_write_that_makes_it_true_and_names_it_as_its_cause() {
    let table = table(busy_script());
    let (mut episode, _) = table.open(1);
    let step = episode.call(write("question", "why")).expect("written");
    assert_eq!(step.notices, ["an answer came"]);
    let fired: Vec<_> = records(&episode).into_iter().filter(|record| record.head.event.is_some()).collect();
    assert_eq!(fired[0].head.causes, [step.seq]);
    assert_eq!(fired[1].head.causes, [fired[0].seq]);
    let step = episode.hand_over("").expect("handed over");
    assert_eq!(episode.world().peek("later"), Value::from("later"), "two hours after it");
    assert_eq!(step.notices, ["Good morning, tue.\n- something happened"], "what was told with an answer is no news");
}

#[test]
fn a_persona_looks_when_a_watched_key_is_written_and_its_deeds_follow_from_its_look() {
    let table = table(busy_script());
    let (mut episode, _) = table.open(1);
    let asked = episode.call(write("to-petra", "hello?")).expect("written").seq;
    episode.hand_over("").expect("handed over");
    let all = records(&episode);
    let look = all.iter().find(|record| record.head.request == Request::Look).expect("she looked");
    assert_eq!(look.head.causes, [asked]);
    let deed = all.iter().find(|record| record.head.causes == [look.seq]).expect("she acted");
    assert_eq!(deed.head.actor, Actor::Persona("petra".into()));
    assert_eq!(episode.world().peek("from-petra"), Value::from("hello"));
    assert_eq!(all.iter().filter(|record| record.head.request == Request::Look).count(), 1, "her own note is no news");
}

#[test]
fn what_a_persona_does_where_the_agent_looks_is_told() {
    let mut script = busy_script();
    let key = Key::new("toy:from-petra");
    script.plan.alerts.push(dayshift_engine::Alert { key, line: "petra wrote".to_owned() });
    let table = table(script);
    let (mut episode, _) = table.open(1);
    episode.call(write("to-petra", "hello?")).expect("written");
    let step = episode.hand_over("").expect("handed over");
    assert_eq!(step.notices, ["Good morning, tue.\n- petra wrote\n- something happened"]);
}

#[test]
fn two_runs_of_the_same_inputs_give_the_same_bytes() {
    let (one, two) = (play(&table(busy_script()), 7), play(&table(busy_script()), 7));
    assert_eq!(one.log().head(), two.log().head());
    assert!(one.log().since(0).eq(two.log().since(0)));
    assert_ne!(one.log().head(), play(&table(busy_script()), 8).log().head(), "the seed is part of the log");
}

#[test]
fn an_episode_resumed_after_any_record_ends_with_the_same_log() {
    let table = table(busy_script());
    let whole = play(&table, 7);
    let opened = table.prefix.log().len() + 1;
    for count in opened..=whole.log().len() {
        let mut episode = table.resume(&whole, count);
        episode.settle().expect("it settles");
        let taken = records(&episode).iter().filter(|record| record.head.actor == Actor::Agent).count();
        // A turn without words leaves a record too, so inputs and the agent's records correspond one to one.
        for input in inputs().into_iter().skip(taken) {
            episode.input(input).expect("the input is taken");
        }
        assert_eq!(episode.log().head(), whole.log().head(), "resumed after {count} records");
        assert_eq!(episode.world().digest(), whole.world().digest());
    }
}

#[test]
fn a_fork_is_independent_of_its_parent() {
    let table = table(busy_script());
    let (mut parent, _) = table.open(7);
    parent.call(write("a", "1")).expect("written");
    let mut fork = parent.clone();
    fork.call(write("a", "2")).expect("written");
    assert_eq!(parent.world().peek("a"), Value::from("1"));
    assert_eq!(fork.world().peek("a"), Value::from("2"));
    assert_eq!(fork.log().get(parent_last(&parent)), parent.log().get(parent_last(&parent)));
    let differences = parent.world().differences(fork.world());
    assert_eq!(differences.len(), 1);
    assert_eq!(differences[0].key, Key::new("toy:a"));
}

fn parent_last(episode: &Episode<Toy>) -> dayshift_engine::Seq {
    dayshift_engine::Seq::new(episode.log().head().count - 1)
}

#[test]
fn large_arguments_and_answers_are_blobs_that_the_record_names() {
    let table = table(busy_script());
    let (mut episode, _) = table.open(7);
    episode.call(write("big", &"x".repeat(5000))).expect("written");
    let step = episode.call(read("big")).expect("read");
    let record = &records(&episode)[step.seq.get() as usize];
    assert_eq!(record.head.blobs.len(), 1);
    assert!(table.blobs.get(record.head.blobs[0]).is_some());
    assert!(episode.log().get(step.seq).expect("there").len() < 1000);
    assert_eq!(step.answer, Ok(map! { "value" => "x".repeat(5000) }));
}

#[test]
fn calls_are_seen_by_scripts_with_their_answers_and_refusals() {
    let table = table(busy_script());
    let episode = play(&table, 7);
    let frame = Frame::new();
    let calls = episode.scene(&frame).calls(Some("toy.write")).expect("they decode");
    assert_eq!(calls.len(), 4, "personas and events are not the agent");
    assert!(calls[1].answer.is_err());
    assert_eq!(calls[3].arguments.get("v").and_then(Value::as_text).map(str::len), Some(5000));
    assert!(frame.close().reads.iter().any(|read| read.key.as_str() == "log:calls/toy.write"));
}

#[test]
fn a_closed_episode_takes_no_input() {
    let mut episode = play(&table(busy_script()), 7);
    let head = episode.log().head();
    assert!(matches!(episode.call(read("a")), Err(EpisodeError::Closed)));
    assert_eq!(episode.log().head(), head);
}

#[test]
fn a_staged_clock_refuses_to_wait() {
    let table = table(ToyScript { plan: plan(vec![]), ..ToyScript::default() });
    let (mut episode, _) = table.open(1);
    let step = episode.call(ToolCall::new("toy.wait", map! {})).expect("recorded");
    assert_eq!(step.answer.expect_err("refused").code, "clock/stands-still");
}

fn flowing(events: Vec<PlannedEvent>) -> ToyScript {
    ToyScript { plan: Plan { clock: Clock::Flowing, ..plan(events) }, ..ToyScript::default() }
}

#[test]
fn on_a_flowing_clock_a_call_costs_its_seconds_and_the_world_moves_between_two_calls() {
    let minute = SimDuration::from_seconds(60);
    let due = SimTime::from_millis(9 * HOUR) + minute;
    let table = table(flowing(vec![event("soon", When::At(due), "soon", None)]));
    let (mut episode, _) = table.open(1);
    episode.call(ToolCall::new("toy.noop", map! {})).expect("done");
    assert_eq!(episode.now(), due);
    assert_eq!(episode.world().peek("soon"), Value::from("soon"));
}

#[test]
fn waiting_jumps_to_the_next_thing_that_the_agent_would_notice() {
    let table = table(flowing(vec![
        event("silent", at(10), "silent", None),
        event("loud", at(12), "loud", Some("a knock on the door")),
    ]));
    let (mut episode, _) = table.open(1);
    let step = episode.call(ToolCall::new("toy.wait", map! {})).expect("waited");
    assert_eq!(step.notices, ["a knock on the door"]);
    assert_eq!(episode.now(), SimTime::from_millis(12 * HOUR));
}

#[test]
fn on_a_flowing_clock_the_day_ends_when_its_time_is_up() {
    let table = table(flowing(vec![]));
    let (mut episode, _) = table.open(1);
    let step = episode.call(ToolCall::new("toy.wait", map! {})).expect("waited");
    assert_eq!(step.notices, ["Good morning, tue."]);
    assert!(records(&episode).iter().any(|record| record.head.request == Request::EndDay));
}

#[test]
fn a_condition_on_the_time_is_looked_at_when_the_clock_moves() {
    let mut timed = event("timed", at(1), "timed", None);
    timed.when = When::Condition {
        opens: SimTime::from_millis(0),
        deadline: SimTime::from_millis(70 * HOUR),
        at_deadline: false,
    };
    let script = ToyScript {
        plan: plan(vec![timed]),
        conditions: [(0, ToyCondition::Time(33 * HOUR))].into(),
        ..ToyScript::default()
    };
    let (mut episode, _) = table(script).open(1);
    assert_eq!(episode.world().peek("timed"), Value::Null);
    episode.hand_over("").expect("handed over");
    assert_eq!(episode.world().peek("timed"), Value::from("timed"));
}

#[test]
fn personas_that_set_one_another_off_without_end_are_an_error_and_not_a_hang() {
    let mut plan = plan(vec![]);
    for (name, watches) in [("ping", "toy:ping"), ("pong", "toy:pong")] {
        plan.personas.push(PlannedPersona {
            name: name.into(),
            watches: vec![Key::new(watches)],
            delay: SimDuration::ZERO,
            wakes: None,
        });
    }
    let reactions = [(0, (vec![write("pong", "x")], i64::MAX)), (1, (vec![write("ping", "x")], i64::MAX))].into();
    let (mut episode, _) = table(ToyScript { plan, reactions, ..ToyScript::default() }).open(1);
    assert!(matches!(episode.call(write("ping", "x")), Err(EpisodeError::Restless { .. })));
}

#[test]
fn too_many_calls_in_a_turn_are_refused_and_another_turn_helps() {
    let plan = Plan { limits: EpisodeLimits { calls_per_turn_max: 2, ..EpisodeLimits::default() }, ..plan(vec![]) };
    let (mut episode, _) = table(ToyScript { plan, ..ToyScript::default() }).open(1);
    episode.begin_turn("").expect("begun");
    for _ in 0..2 {
        assert!(episode.call(read("a")).expect("recorded").answer.is_ok());
    }
    assert_eq!(episode.call(read("a")).expect("recorded").answer.expect_err("refused").code, "turn/too-many-calls");
    episode.begin_turn("").expect("begun");
    assert!(episode.call(read("a")).expect("recorded").answer.is_ok());
}

#[test]
fn an_altered_record_is_not_absorbed() {
    let table = table(busy_script());
    let episode = play(&table, 7);
    let mut records: Vec<Arc<[u8]>> = episode.log().since(0).cloned().collect();
    let mut altered = records[3].to_vec();
    let last = altered.len() - 1;
    altered[last] ^= 1;
    records[3] = altered.into();
    let resumed = Episode::resume(Toy::default(), &records, Arc::clone(&table.script), table.blobs.clone());
    assert!(matches!(resumed, Err(EpisodeError::Link(_) | EpisodeError::Codec(_))));
}

#[test]
fn waiting_until_a_time_is_not_cut_short_by_a_notice() {
    let table = table(flowing(vec![event("loud", at(10), "loud", Some("a knock on the door"))]));
    let (mut episode, _) = table.open(1);
    let until = SimTime::from_millis(12 * HOUR);
    let call = ToolCall::new("toy.wait", map! { "until" => until.to_string() });
    let step = episode.call(call).expect("waited");
    assert_eq!((step.notices, episode.now()), (vec!["a knock on the door".to_owned()], until));
}
