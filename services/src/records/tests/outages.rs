//! Outages by schedule.

use dayshift_engine::{Actor, SimDuration};

use super::super::OUTAGE_LATE_SECONDS_MAX;
use super::*;

const READ: &str = r#"{"table": "suppliers", "id": "S-1", "fields": ["limit"]}"#;

fn disrupt(rest: &str) -> String {
    format!(r#"{{"from": "2026-03-16T10:00:00Z", "until": "2026-03-16T11:00:00Z", {rest}}}"#)
}

/// Sets the bench's clock so that the next call is made at `time`.
fn at(bench: &mut Bench<RecordsState>, time: &str) {
    bench.time = time.parse::<dayshift_engine::SimTime>().expect("a good time") - SimDuration::from_seconds(1);
}

#[test]
fn a_table_fails_from_the_first_second_of_an_outage_to_the_last() {
    let mut bench = office();
    good(&mut bench, "records.disrupt", &disrupt(r#""kind": "fails", "table": "suppliers""#));
    for (time, works) in [
        ("2026-03-16T09:59:59Z", true),
        ("2026-03-16T10:00:00Z", false),
        ("2026-03-16T10:59:59Z", false),
        ("2026-03-16T11:00:00Z", true),
    ] {
        at(&mut bench, time);
        let answer = call(&mut bench, "records.read", READ);
        assert_eq!(answer.is_ok(), works, "{time}");
        if let Err(rejection) = answer {
            assert_eq!(rejection.code, "records/unavailable");
            assert_eq!(bench.read_keys(), ["records:suppliers"], "the outage is a dependency");
        }
    }
    at(&mut bench, "2026-03-16T10:30:00Z");
    good(&mut bench, "records.read", r#"{"table": "payments", "id": "PAY-0001"}"#);
}

#[test]
fn an_outage_of_all_tables_spares_the_world_and_checks() {
    let mut bench = office();
    good(&mut bench, "records.disrupt", &disrupt(r#""kind": "rate_limits""#));
    at(&mut bench, "2026-03-16T10:00:00Z");
    let (code_of, sentence) = refused(&mut bench, "records.read", READ);
    assert_eq!(code_of, "records/rate-limited");
    assert!(sentence.contains("wait until 2026-03-16T12:00:00+01:00"), "{sentence}");
    assert_eq!(ask(&mut bench, "count", r#"{"table": "suppliers"}"#), Value::Int(2));
    bench.actor = Actor::World;
    good(&mut bench, "records.read", READ);
}

#[test]
fn a_share_of_the_calls_fails_and_the_same_ones_every_time() {
    let mut bench = office();
    good(&mut bench, "records.disrupt", &disrupt(r#""kind": "fails", "percent": 30"#));
    at(&mut bench, "2026-03-16T10:00:00Z");
    let mut again =
        Bench { service: bench.service.clone(), seq: bench.seq, time: bench.time, ..Bench::new(RecordsState::new()) };
    let outcome = |bench: &mut Bench<RecordsState>| {
        (0..1000).map(|_| call(bench, "records.read", READ).is_ok()).collect::<Vec<_>>()
    };
    let first = outcome(&mut bench);
    assert_eq!(first, outcome(&mut again));
    let failures = first.iter().filter(|works| !**works).count();
    assert!((240..360).contains(&failures), "{failures}");
}

#[test]
fn a_late_table_makes_the_caller_wait() {
    use crate::service::Service;
    let mut bench = office();
    good(&mut bench, "records.disrupt", &disrupt(r#""kind": "late", "seconds": 90"#));
    let frame = dayshift_engine::Frame::new();
    let time = "2026-03-16T10:00:00Z".parse().expect("a good time");
    let context = dayshift_engine::Context {
        seq: bench.seq.next(),
        time,
        actor: &bench.actor,
        turn: None,
        allowance: dayshift_engine::Allowance::default(),
        seed: dayshift_engine::Seed::new(7),
        frame: &frame,
        blobs: &bench.blobs,
    };
    let read = dayshift_engine::ToolCall::new("records.read", json(READ));
    let decision = bench.service.decide(&read, &bench.desk, &context).expect("an answer, if late");
    assert_eq!(decision.wait, Some(dayshift_engine::Wait::Until(time + SimDuration::from_seconds(90))));
}

#[test]
fn an_outage_that_makes_no_sense_is_refused() {
    let mut bench = office();
    let backwards = r#"{"from": "2026-03-16T10:00:00Z", "until": "2026-03-16T10:00:00Z", "kind": "fails"}"#;
    assert_eq!(code(&mut bench, "records.disrupt", backwards), "records/bad-outage");
    let above = format!(r#""kind": "late", "seconds": {}"#, OUTAGE_LATE_SECONDS_MAX + 1);
    for (rest, expected) in [
        (r#""kind": "fails", "percent": 0"#, "records/bad-outage"),
        (r#""kind": "fails", "percent": 101"#, "records/bad-outage"),
        (r#""kind": "late", "seconds": 0"#, "records/bad-outage"),
        (above.as_str(), "records/bad-outage"),
        (r#""kind": "fails", "table": "nothing""#, "records/unknown-table"),
        (r#""kind": "explodes""#, "call/wrong-type"),
    ] {
        assert_eq!(code(&mut bench, "records.disrupt", &disrupt(rest)), expected, "{rest}");
    }
    for seconds in [OUTAGE_LATE_SECONDS_MAX - 1, OUTAGE_LATE_SECONDS_MAX] {
        good(
            &mut bench,
            "records.disrupt",
            &disrupt(&format!(r#""kind": "late", "seconds": {seconds}, "percent": 1"#)),
        );
    }
}
