//! Calendars against a simple model: random commands, the answers that the model expects, and the state built anew from its events.

use std::collections::BTreeMap;

use dayshift_engine::{Actor, Applying, Canonical, Context, Frame, Seed, ToolCall, map};
use proptest::prelude::*;

use super::super::index::Index;
use super::{act, bench, create, events, text};
use crate::calendar::{CalendarEvent, CalendarState};
use crate::service::Service as _;
use crate::testing::Bench;

const FROM: &str = "2026-01-01T00:00:00Z";
const UNTIL: &str = "2027-01-01T00:00:00Z";
const CALENDARS: [&str; 2] = ["ann", "team"];

/// A command; numbers choose among what is there.
#[derive(Clone, Debug)]
enum Command {
    Create { calendar: usize, day: u32, count: u32 },
    MoveOne { event: usize, instance: usize, hours: u32 },
    MoveAll { event: usize, hours: u32 },
    RenameFollowing { event: usize, instance: usize },
    DeleteOne { event: usize, instance: usize },
    DeleteFollowing { event: usize, instance: usize },
    DeleteAll { event: usize },
}

/// What the model knows of one series: for each instance its id, its start (both in hours since 2026-01-01T00:00Z) and its name.
#[derive(Clone, Debug, Default)]
struct Modelled {
    instances: Vec<(u32, u32, String)>,
}

type Model = BTreeMap<(&'static str, String), Modelled>;

fn command() -> impl Strategy<Value = Command> {
    let (event, instance) = (0..1000_usize, 0..1000_usize);
    prop_oneof![
        3 => (0..2_usize, 0..200_u32, 1..6_u32).prop_map(|(calendar, day, count)| Command::Create { calendar, day, count }),
        2 => (event.clone(), instance.clone(), 1..40_u32)
            .prop_map(|(event, instance, hours)| Command::MoveOne { event, instance, hours }),
        1 => (event.clone(), 1..40_u32).prop_map(|(event, hours)| Command::MoveAll { event, hours }),
        1 => (event.clone(), instance.clone()).prop_map(|(event, instance)| Command::RenameFollowing { event, instance }),
        2 => (event.clone(), instance.clone()).prop_map(|(event, instance)| Command::DeleteOne { event, instance }),
        1 => (event.clone(), instance).prop_map(|(event, instance)| Command::DeleteFollowing { event, instance }),
        1 => event.prop_map(|event| Command::DeleteAll { event }),
    ]
}

fn time(hours: u32) -> String {
    super::super::moment::naive(1_767_225_600 + i64::from(hours) * 3600).format("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn run(bench: &mut Bench<CalendarState>, model: &mut Model, command: &Command) {
    if let Command::Create { calendar, day, count } = command {
        let calendar = CALENDARS[*calendar];
        let start = day * 24 + 9;
        let more = map! { "rrule" => format!("FREQ=DAILY;COUNT={count}"), "summary" => "x" };
        let uid = create(bench, calendar, &time(start), &time(start + 1), more);
        let instances = (0..*count).map(|number| (start + number * 24, start + number * 24, "x".to_owned()));
        model.insert((calendar, uid), Modelled { instances: instances.collect() });
        return;
    }
    let (Command::MoveOne { event, .. }
    | Command::MoveAll { event, .. }
    | Command::RenameFollowing { event, .. }
    | Command::DeleteOne { event, .. }
    | Command::DeleteFollowing { event, .. }
    | Command::DeleteAll { event }) = command
    else {
        unreachable!("creation is done above")
    };
    let Some(key) = (!model.is_empty()).then(|| model.keys().nth(event % model.len()).expect("in range").clone())
    else {
        return;
    };
    let (calendar, uid) = (key.0, key.1.clone());
    let mut series = model.remove(&key).expect("it is there");
    if series.instances.is_empty() {
        act(bench, "calendar.delete", calendar, &uid, map! { "scope" => "all" }).expect("an empty series can go");
        return;
    }
    let pick = |instance: &usize| instance % series.instances.len();
    match command {
        Command::Create { .. } => {}
        Command::MoveOne { instance, hours, .. } => {
            let at = pick(instance);
            let (id, start, _) = series.instances[at].clone();
            let more = map! { "scope" => "one", "recurrence_id" => time(id), "start" => time(start + hours) };
            act(bench, "calendar.update", calendar, &uid, more).expect("an instance can move");
            series.instances[at].1 = start + hours;
        }
        Command::MoveAll { hours, .. } => {
            let (id, start, _) = series.instances[0].clone();
            let more = map! { "scope" => "all", "recurrence_id" => time(id), "start" => time(start + hours) };
            act(bench, "calendar.update", calendar, &uid, more).expect("a series can move");
            for instance in &mut series.instances {
                *instance = (instance.0 + hours, instance.1 + hours, instance.2.clone());
            }
        }
        Command::RenameFollowing { instance, .. } => {
            let at = pick(instance);
            let more =
                map! { "scope" => "following", "recurrence_id" => time(series.instances[at].0), "summary" => "y" };
            let answer = act(bench, "calendar.update", calendar, &uid, more).expect("a series can be cut");
            let mut following = Modelled { instances: series.instances.split_off(at) };
            following.instances.iter_mut().for_each(|instance| instance.2 = "y".to_owned());
            let new = text(&answer, "uid").to_owned();
            if new == uid {
                series = following;
            } else {
                model.insert((calendar, new), following);
            }
        }
        Command::DeleteOne { instance, .. } => {
            let at = pick(instance);
            let more = map! { "scope" => "one", "recurrence_id" => time(series.instances[at].0) };
            act(bench, "calendar.delete", calendar, &uid, more).expect("an instance can go");
            series.instances.remove(at);
        }
        Command::DeleteFollowing { instance, .. } => {
            let at = pick(instance);
            let more = map! { "scope" => "following", "recurrence_id" => time(series.instances[at].0) };
            act(bench, "calendar.delete", calendar, &uid, more).expect("a series can be cut");
            series.instances.truncate(at);
        }
        Command::DeleteAll { .. } => {
            act(bench, "calendar.delete", calendar, &uid, map! { "scope" => "all" }).expect("a series can go");
            return;
        }
    }
    let is_there = bench.service.peek_shelf(&calendar.into()).expect("it").events.peek(&uid.as_str().into()).is_some();
    if is_there {
        model.insert((calendar, uid), series);
    } else {
        assert!(series.instances.is_empty(), "what is gone had no instances left");
    }
}

fn shown(bench: &mut Bench<CalendarState>, calendar: &str) -> Vec<(i64, String)> {
    let seconds = |text: &str| text.parse::<dayshift_engine::SimTime>().expect("a time").as_millis() / 1000;
    let found = events(bench, calendar, FROM, UNTIL);
    let mut shown: Vec<(i64, String)> =
        found.iter().map(|event| (seconds(text(event, "start")), text(event, "summary").to_owned())).collect();
    shown.sort();
    shown
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn calendars_do_what_the_model_does(commands in proptest::collection::vec(command(), 1..20)) {
        let mut bench = bench();
        let mut model = Model::new();
        for command in &commands {
            run(&mut bench, &mut model, command);
            for calendar in CALENDARS {
                let own = model.iter().filter(|((name, _), _)| *name == calendar).flat_map(|(_, series)| &series.instances);
                let mut expected: Vec<(i64, String)> =
                    own.map(|(_, start, name)| (1_767_225_600 + i64::from(*start) * 3600, name.clone())).collect();
                expected.sort();
                prop_assert_eq!(shown(&mut bench, calendar), expected, "after {:?}", command);
            }
        }
        for shelf in bench.service.shelves.values() {
            let mut index = Index::default();
            shelf.events.peek_all().for_each(|(uid, series)| index.insert(uid, series));
            prop_assert!(index == shelf.index, "the index follows from the events");
        }
    }
}

#[test]
fn events_survive_the_log_and_build_the_same_state() {
    let mut bench = bench();
    let more = map! { "rrule" => "FREQ=WEEKLY;COUNT=3", "attendees" => vec!["bob@acme.example"] };
    let arguments = map! { "calendar" => "ann", "summary" => "x", "start" => "2026-03-16T09:00:00+01:00", "end" => "2026-03-16T10:00:00+01:00" };
    let mut arguments = arguments;
    super::merge(&mut arguments, more);
    let frame = Frame::new();
    let actor = Actor::Agent;
    let (seq, time) = (bench.seq.next(), bench.time);
    let context = Context {
        seq,
        time,
        actor: &actor,
        turn: None,
        allowance: dayshift_engine::Allowance::default(),
        seed: Seed::new(7),
        frame: &frame,
        blobs: &bench.blobs,
    };
    let call = ToolCall::new("calendar.create", arguments);
    let decision = bench.service.decide(&call, &bench.desk, &context).expect("an event that can be created");
    assert_eq!(decision.events.len(), 2, "Ann's and Bob's");
    let mut other = bench.service.clone();
    let mut canonical = Canonical::default();
    for event in decision.events {
        let bytes = rmp_serde::to_vec_named(&event).expect("an event that can be written");
        let read: CalendarEvent = rmp_serde::from_slice(&bytes).expect("an event that can be read");
        assert_eq!(read, event);
        bench.service.apply(event, &mut Applying::new(seq, time, &actor, None, &mut canonical));
        other.apply(read, &mut Applying::new(seq, time, &actor, None, &mut canonical));
    }
    assert_eq!(bench.service.digest(), other.digest());
    let mut differences = Vec::new();
    bench.service.differences(&other, &mut differences);
    assert_eq!(differences, []);
}
