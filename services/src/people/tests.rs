//! Tests of the directory through its tools, on the bench.

mod model;

use dayshift_engine::{Actor, Frame, Rejection, Value, map};

use super::{
    MEMORY_BYTES_MAX, PEOPLE_MAX, PEOPLE_SHOWN_MAX, PERSON_NAME_BYTES_MAX, PERSON_TEXT_BYTES_MAX, PeopleState,
};
use crate::service::Service;
use crate::testing::Bench;

fn bench() -> Bench<PeopleState> {
    let mut bench = Bench::new(PeopleState::new());
    let ann = map! { "name" => "ann", "display" => "Ann Lee", "address" => "Ann@Acme.example", "agent" => true };
    bench.call("people.introduce", ann).expect("introduced");
    let ben = map! { "name" => "ben", "display" => "Ben Cho", "address" => "ben@acme.example", "role" => "Controller" };
    bench.call("people.introduce", ben).expect("introduced");
    bench
}

fn code(result: Result<Value, Rejection>) -> String {
    result.map_or_else(|rejection| rejection.code.into_owned(), |answer| format!("no refusal but {answer}"))
}

fn introduce(bench: &mut Bench<PeopleState>, name: &str, address: &str) -> Result<Value, Rejection> {
    bench.call("people.introduce", map! { "name" => name, "display" => "X", "address" => address })
}

#[test]
fn introducing_writes_the_person_and_who_there_is() {
    let bench = bench();
    assert_eq!(bench.written_keys(), ["people:", "people:*", "people:ben"]);
    assert_eq!(bench.read_keys(), ["people:", "people:*"]);
}

#[test]
fn the_directory_is_listed_and_searched() {
    let mut bench = bench();
    let list = bench.call("people.list", map! {}).expect("listed");
    assert_eq!(
        list.to_string(),
        r#"{"people":[{"address":"ann@acme.example","display":"Ann Lee","name":"ann","role":null},{"address":"ben@acme.example","display":"Ben Cho","name":"ben","role":"Controller"}],"total":2}"#
    );
    assert_eq!(bench.read_keys(), ["people:", "people:ann", "people:ben"]);
    let found = bench.call("people.list", map! { "query" => "CONTROL" }).expect("listed");
    assert_eq!(found.get("total"), Some(&Value::Int(1)));
    assert_eq!(bench.read_keys(), ["people:", "people:*", "people:ben"]);
}

#[test]
fn one_person_is_read_by_name() {
    let mut bench = bench();
    let ben = bench.call("people.read", map! { "name" => "ben" }).expect("there");
    assert_eq!(ben.get("address"), Some(&"ben@acme.example".into()));
    assert_eq!(bench.read_keys(), ["people:ben"]);
    assert_eq!(code(bench.call("people.read", map! { "name" => "cat" })), "people/unknown-person");
    assert_eq!(bench.read_keys(), ["people:cat"]);
}

#[test]
fn particulars_that_make_no_sense_are_refused_and_change_nothing() {
    let mut bench = bench();
    let before = bench.service.digest();
    for name in ["", "a/b", "a+b", "#a", "*", " a", "a\n", "world", "a:b"] {
        assert_eq!(code(introduce(&mut bench, name, "x@y.example")), "people/bad-name", "{name:?}");
    }
    for address in ["", "x", "@y", "x@", "x y@z", "X <x@y>", "x@y@z", "a@b,c@d"] {
        assert_eq!(code(introduce(&mut bench, "cat", address)), "people/bad-address", "{address:?}");
    }
    assert_eq!(code(introduce(&mut bench, "cat", "BEN@acme.example")), "people/address-taken");
    let second = map! { "name" => "cat", "display" => "Cat", "address" => "cat@acme.example", "agent" => true };
    assert_eq!(code(bench.call("people.introduce", second)), "people/agent-taken");
    let empty = map! { "name" => "cat", "display" => "", "address" => "cat@acme.example" };
    assert_eq!(code(bench.call("people.introduce", empty)), "people/bad-text");
    assert_eq!(bench.service.digest(), before);
}

#[test]
fn a_person_can_be_introduced_again_with_new_particulars() {
    let mut bench = bench();
    introduce(&mut bench, "ben", "ben@acme.example").expect("the address is his own");
    assert_eq!(bench.written_keys(), ["people:*", "people:ben"]);
    let frame = Frame::new();
    assert_eq!(bench.service.person("ben", &frame).map(|ben| ben.display.as_str()), Some("X"));
}

#[test]
fn every_actor_sits_at_a_desk() {
    let mut bench = bench();
    bench.call("people.settle", map! { "zone" => "Asia/Tokyo" }).expect("settled");
    let desk = |actor| {
        let desk = bench.service.desk(&actor);
        (desk.name.to_string(), desk.address.to_string(), desk.zone.name())
    };
    assert_eq!(desk(Actor::Agent), ("ann".into(), "ann@acme.example".into(), "Asia/Tokyo"));
    assert_eq!(desk(Actor::Persona("ben".into())), ("ben".into(), "ben@acme.example".into(), "Asia/Tokyo"));
    assert_eq!(desk(Actor::Persona("cat".into())), ("cat".into(), String::new(), "Asia/Tokyo"));
    assert_eq!(desk(Actor::World), ("world".into(), String::new(), "Asia/Tokyo"));
    assert_eq!(desk(Actor::Scenario), ("world".into(), String::new(), "Asia/Tokyo"));
}

#[test]
fn the_office_keeps_its_zone_and_hours() {
    let mut bench = bench();
    let hours = map! { "zone" => "Europe/Berlin", "workday_start" => "09:00", "workday_end" => "17:30" };
    bench.call("people.settle", hours.clone()).expect("settled");
    assert_eq!(bench.written_keys(), ["people:office/settings"]);
    assert_eq!(bench.ask("office", map! {}), Ok(hours));
    assert_eq!(bench.read_keys(), ["people:office/settings"]);
    assert_eq!(code(bench.call("people.settle", map! { "zone" => "Mars/Base" })), "people/unknown-zone");
    for (start, end) in [("9", "17:00"), ("17:00", "09:00"), ("09:00", "09:00"), ("09:00", "24:00"), ("9:000", "17:00")]
    {
        let hours = map! { "zone" => "UTC", "workday_start" => start, "workday_end" => end };
        assert_eq!(code(bench.call("people.settle", hours)), "people/bad-workday", "{start} {end}");
    }
    assert_eq!(
        code(bench.call("people.settle", map! { "zone" => "UTC", "workday_start" => "09:00" })),
        "people/bad-workday"
    );
}

#[test]
fn a_memory_is_kept_apart_from_what_is_graded() {
    let mut bench = bench();
    let before = bench.service.digest();
    bench.call("people.remember", map! { "persona" => "ben", "memory" => vec![1_i64, 2] }).expect("remembered");
    assert_eq!(bench.written_keys(), ["people:memory/", "people:memory/*", "people:memory/ben"]);
    assert_eq!(bench.service.digest(), before);
    assert_eq!(bench.ask("memory", map! { "persona" => "ben" }), Ok(vec![1_i64, 2].into()));
    assert_eq!(bench.read_keys(), ["people:memory/ben"]);
    bench.call("people.remember", map! { "persona" => "ben", "memory" => Value::Null }).expect("forgotten");
    assert_eq!(bench.ask("memory", map! { "persona" => "ben" }), Ok(Value::Null));
}

#[test]
fn names_memories_and_the_office_have_limits() {
    let mut bench = bench();
    let name = "n".repeat(PERSON_NAME_BYTES_MAX);
    introduce(&mut bench, &name, "n@acme.example").expect("exactly at the limit");
    assert_eq!(code(introduce(&mut bench, &format!("{name}n"), "m@acme.example")), "people/bad-name");
    let memory = |bytes: usize| map! { "persona" => "ben", "memory" => "m".repeat(bytes - 2) };
    bench.call("people.remember", memory(MEMORY_BYTES_MAX)).expect("exactly at the limit");
    assert_eq!(code(bench.call("people.remember", memory(MEMORY_BYTES_MAX + 1))), "people/memory-too-large");
    for index in bench.service.people.len()..PEOPLE_MAX {
        introduce(&mut bench, &format!("p{index}"), &format!("p{index}@acme.example")).expect("there is room");
    }
    assert_eq!(code(introduce(&mut bench, "more", "more@acme.example")), "people/too-many");
    introduce(&mut bench, "ben", "ben@acme.example").expect("a known person needs no room");
    let list = bench.call("people.list", map! { "limit" => i64::MAX }).expect("listed");
    assert_eq!(list.get("people").and_then(Value::as_list).map(<[Value]>::len), Some(PEOPLE_SHOWN_MAX));
    assert_eq!(list.get("total"), Some(&Value::from(PEOPLE_MAX)));
    assert_eq!(code(bench.call("people.list", map! { "limit" => 0_i64 })), "people/bad-limit");
}

#[test]
fn questions_are_answered_or_refused() {
    let mut bench = bench();
    assert_eq!(bench.ask("list", map! {}), Ok(["ann", "ben"].into_iter().collect()));
    assert_eq!(bench.ask("person", map! { "name" => "cat" }), Ok(Value::Null));
    assert_eq!(code(bench.ask("person", map! {})), "query/bad-arguments");
    assert_eq!(code(bench.ask("colour", map! {})), "query/unknown");
}

#[test]
fn events_round_trip_and_differences_name_people() {
    let mut bench = bench();
    let event =
        super::PeopleEvent::OfficeSettled { zone: chrono_tz::Europe::Berlin, workday: None, without: Vec::new() };
    let stored = rmp_serde::to_vec_named(&event).expect("an event can be stored");
    assert_eq!(rmp_serde::from_slice(&stored).ok(), Some(event));
    let before = bench.service.clone();
    introduce(&mut bench, "cat", "cat@acme.example").expect("introduced");
    let mut differences = Vec::new();
    before.differences(&bench.service, &mut differences);
    assert_eq!(differences.len(), 1);
    assert_eq!((differences[0].key.as_str(), &differences[0].left), ("people:cat", &None));
}

#[test]
fn roles_and_addresses_hold_so_many_bytes() {
    let introduce = |role: usize, local: usize| {
        let mut bench = Bench::new(PeopleState::new());
        let address = format!("{}@x.example", "a".repeat(local - "@x.example".len()));
        bench.call(
            "people.introduce",
            map! { "name" => "ann", "display" => "Ann", "address" => address, "role" => "r".repeat(role) },
        )
    };
    for below in [PERSON_TEXT_BYTES_MAX - 1, PERSON_TEXT_BYTES_MAX] {
        introduce(below, below).expect("it fits");
    }
    assert_eq!(code(introduce(PERSON_TEXT_BYTES_MAX + 1, 20)), "people/bad-text");
    assert_eq!(code(introduce(20, PERSON_TEXT_BYTES_MAX + 1)), "people/bad-address");
}
