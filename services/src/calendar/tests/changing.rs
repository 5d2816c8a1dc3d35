//! Changing and deleting one instance, those that follow, and all.

use dayshift_engine::{Value, map};

use super::{act, bench, code, create, events, export, import, starts, text};

const FROM: &str = "2026-03-01T00:00:00+01:00";
const UNTIL: &str = "2026-06-01T00:00:00+02:00";

/// Returns a bench with a weekly event over the change to summer time, five times from 16 March on.
fn weekly() -> (crate::testing::Bench<crate::calendar::CalendarState>, String) {
    let mut bench = bench();
    let more = map! { "rrule" => "FREQ=WEEKLY;COUNT=5" };
    let uid = create(&mut bench, "ann", "2026-03-16T09:00:00+01:00", "2026-03-16T10:00:00+01:00", more);
    (bench, uid)
}

#[test]
fn moving_one_instance_makes_an_exception() {
    let (mut bench, uid) = weekly();
    let more = map! {
        "scope" => "one", "recurrence_id" => "2026-03-30T09:00:00+02:00",
        "start" => "2026-03-31T11:00:00+02:00", "summary" => "Moved",
    };
    act(&mut bench, "calendar.update", "ann", &uid, more).expect("a change");
    let found = events(&mut bench, "ann", FROM, UNTIL);
    let shown: Vec<(&str, &str)> = found.iter().map(|event| (text(event, "start"), text(event, "summary"))).collect();
    assert_eq!(shown[2], ("2026-03-31T11:00:00+02:00", "Moved"));
    assert_eq!(text(&found[2], "end"), "2026-03-31T12:00:00+02:00", "the length stays");
    assert_eq!(text(&found[2], "recurrence_id"), "2026-03-30T09:00:00+02:00");
    assert_eq!(shown.len(), 5);
}

#[test]
fn changing_an_exception_again_keeps_one_exception() {
    let (mut bench, uid) = weekly();
    let id = "2026-03-30T09:00:00+02:00";
    for start in ["2026-03-31T11:00:00+02:00", "2026-04-01T11:00:00+02:00"] {
        let more = map! { "scope" => "one", "recurrence_id" => id, "start" => start };
        act(&mut bench, "calendar.update", "ann", &uid, more).expect("a change");
    }
    let found = starts(&mut bench, "ann", FROM, UNTIL);
    assert_eq!(found[2], "2026-04-01T11:00:00+02:00");
    assert_eq!(found.len(), 5);
}

#[test]
fn changing_the_following_ones_begins_another_series() {
    let (mut bench, uid) = weekly();
    let more = map! {
        "scope" => "following", "recurrence_id" => "2026-03-30T09:00:00+02:00", "start" => "2026-03-30T13:00:00+02:00",
    };
    let answer = act(&mut bench, "calendar.update", "ann", &uid, more).expect("a change");
    assert_ne!(text(&answer, "uid"), uid);
    let found = starts(&mut bench, "ann", FROM, UNTIL);
    let expected = [
        "2026-03-16T09:00:00+01:00",
        "2026-03-23T09:00:00+01:00",
        "2026-03-30T13:00:00+02:00",
        "2026-04-06T13:00:00+02:00",
        "2026-04-13T13:00:00+02:00",
    ];
    assert_eq!(found, expected);
}

#[test]
fn changing_all_moves_the_exceptions_along() {
    let (mut bench, uid) = weekly();
    let more = map! { "scope" => "one", "recurrence_id" => "2026-03-23T09:00:00+01:00", "start" => "2026-03-24T09:00:00+01:00" };
    act(&mut bench, "calendar.update", "ann", &uid, more).expect("a change");
    let more = map! { "scope" => "one", "recurrence_id" => "2026-04-06T09:00:00+02:00" };
    act(&mut bench, "calendar.delete", "ann", &uid, more).expect("a deletion");
    let more = map! { "scope" => "all", "start" => "2026-03-16T10:30:00+01:00", "summary" => "Later" };
    act(&mut bench, "calendar.update", "ann", &uid, more).expect("a change");
    let found = starts(&mut bench, "ann", FROM, UNTIL);
    let expected = [
        "2026-03-16T10:30:00+01:00",
        "2026-03-24T10:30:00+01:00",
        "2026-03-30T10:30:00+02:00",
        "2026-04-13T10:30:00+02:00",
    ];
    assert_eq!(found, expected);
}

#[test]
fn changing_all_from_a_later_instance_moves_all_by_as_much() {
    let (mut bench, uid) = weekly();
    let more = map! {
        "scope" => "all", "recurrence_id" => "2026-04-06T09:00:00+02:00", "start" => "2026-04-07T08:00:00+02:00",
        "end" => "2026-04-07T08:30:00+02:00",
    };
    act(&mut bench, "calendar.update", "ann", &uid, more).expect("a change");
    let found = events(&mut bench, "ann", FROM, UNTIL);
    assert_eq!(
        (text(&found[0], "start"), text(&found[0], "end")),
        ("2026-03-17T08:00:00+01:00", "2026-03-17T08:30:00+01:00")
    );
    assert_eq!(text(&found[4], "start"), "2026-04-14T08:00:00+02:00");
}

#[test]
fn moving_all_moves_the_end_of_the_rule_along() {
    let mut bench = bench();
    let more = map! { "rrule" => "FREQ=DAILY;UNTIL=20260318T080000Z" };
    let uid = create(&mut bench, "ann", "2026-03-16T09:00:00+01:00", "2026-03-16T10:00:00+01:00", more);
    let more = map! { "scope" => "all", "start" => "2026-03-28T09:30:00+01:00" };
    act(&mut bench, "calendar.update", "ann", &uid, more).expect("a change");
    let found = starts(&mut bench, "ann", FROM, UNTIL);
    assert_eq!(found, ["2026-03-28T09:30:00+01:00", "2026-03-29T09:30:00+02:00", "2026-03-30T09:30:00+02:00"]);
}

#[test]
fn another_rule_takes_the_place_of_the_old_one() {
    let (mut bench, uid) = weekly();
    let more = map! { "scope" => "all", "rrule" => "FREQ=DAILY;COUNT=2" };
    act(&mut bench, "calendar.update", "ann", &uid, more).expect("a change");
    assert_eq!(starts(&mut bench, "ann", FROM, UNTIL).len(), 2);
    let more = map! { "scope" => "all", "rrule" => "" };
    act(&mut bench, "calendar.update", "ann", &uid, more).expect("a change");
    assert_eq!(starts(&mut bench, "ann", FROM, UNTIL).len(), 1);
}

#[test]
fn deleting_takes_out_one_those_that_follow_or_all() {
    let (mut bench, uid) = weekly();
    let more = map! { "scope" => "one", "recurrence_id" => "2026-03-16T09:00:00+01:00" };
    act(&mut bench, "calendar.delete", "ann", &uid, more).expect("a deletion");
    assert_eq!(starts(&mut bench, "ann", FROM, UNTIL).len(), 4);
    let more = map! { "scope" => "following", "recurrence_id" => "2026-04-06T09:00:00+02:00" };
    act(&mut bench, "calendar.delete", "ann", &uid, more).expect("a deletion");
    let found = starts(&mut bench, "ann", FROM, UNTIL);
    assert_eq!(found, ["2026-03-23T09:00:00+01:00", "2026-03-30T09:00:00+02:00"]);
    act(&mut bench, "calendar.delete", "ann", &uid, map! { "scope" => "all" }).expect("a deletion");
    assert!(starts(&mut bench, "ann", FROM, UNTIL).is_empty());
    assert_eq!(code(act(&mut bench, "calendar.read", "ann", &uid, map! {})), "calendar/unknown-event");
}

#[test]
fn a_repeating_event_is_not_changed_before_it_is_clear_which_instances_are_meant() {
    let (mut bench, uid) = weekly();
    let before = bench.service.graded_digest();
    assert_eq!(code(act(&mut bench, "calendar.delete", "ann", &uid, map! {})), "calendar/which-instances");
    let one = || map! { "scope" => "one" };
    assert_eq!(code(act(&mut bench, "calendar.delete", "ann", &uid, one())), "calendar/which-instance");
    assert_eq!(code(act(&mut bench, "calendar.update", "ann", &uid, one())), "calendar/which-instance");
    assert_eq!(bench.service.graded_digest(), before);
}

#[test]
fn a_change_and_back_is_no_difference() {
    let mut bench = bench();
    let uid = create(&mut bench, "ann", "2026-03-16T09:00:00+01:00", "2026-03-16T10:00:00+01:00", map! {});
    let before = bench.service.clone();
    for summary in ["Other", "Meeting"] {
        act(&mut bench, "calendar.update", "ann", &uid, map! { "summary" => summary }).expect("a change");
    }
    assert_eq!(bench.service.graded_digest(), before.graded_digest());
    let mut differences = Vec::new();
    crate::service::Service::differences(&bench.service, &before, &mut differences);
    assert_eq!(differences, []);
}

#[test]
fn a_change_keeps_every_line_that_it_does_not_concern() {
    let mut bench = bench();
    let source = super::file(
        "BEGIN:VEVENT\nUID:1\nDTSTAMP:20260101T000000Z\nX-ODD;P=\"a;b\":kept, as\n  it is\nDTSTART;TZID=Europe/Berlin:20260316T090000\nDURATION:PT1H\nSUMMARY:Old\nBEGIN:VALARM\nACTION:DISPLAY\nTRIGGER:-PT15M\nSUMMARY:alarm\nEND:VALARM\nEND:VEVENT",
    );
    import(&mut bench, "team", &source);
    let more = map! { "summary" => "New", "start" => "2026-03-16T11:00:00+01:00" };
    act(&mut bench, "calendar.update", "team", "1", more).expect("a change");
    let out = String::from_utf8(export(&bench, "team")).expect("text");
    for kept in [
        "X-ODD;P=\"a;b\":kept, as\r\n  it is\r\n",
        "SUMMARY:New\r\n",
        "BEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER:-PT15M\r\nSUMMARY:alarm\r\nEND:VALARM\r\n",
        "DTSTART;TZID=Europe/Berlin:20260316T110000\r\n",
        "DTEND;TZID=Europe/Berlin:20260316T120000\r\n",
    ] {
        assert!(out.contains(kept), "{kept} is missing in {out}");
    }
    assert!(!out.contains("DURATION"));
}

#[test]
fn odd_times_of_a_file_stay_until_others_are_given() {
    let mut bench = bench();
    let source = super::file(
        "BEGIN:VEVENT\nUID:1\nDTSTART;VALUE=DATE:20260316\nDTEND;VALUE=DATE:20260316\nSUMMARY:Old\nEND:VEVENT",
    );
    import(&mut bench, "team", &source);
    act(&mut bench, "calendar.update", "team", "1", map! { "summary" => "New" }).expect("a change");
    let out = String::from_utf8(export(&bench, "team")).expect("text");
    assert!(out.contains("DTEND;VALUE=DATE:20260316\r\n"), "{out}");
    let end = map! { "end" => "2026-03-16" };
    assert_eq!(code(act(&mut bench, "calendar.update", "team", "1", end)), "calendar/ends-before-start");
    let zone = map! { "zone" => "UTC" };
    assert_eq!(code(act(&mut bench, "calendar.update", "team", "1", zone)), "calendar/bad-time");
}

#[test]
fn a_changed_event_can_turn_all_day() {
    let (mut bench, uid) = weekly();
    let more = map! { "scope" => "all", "start" => "2026-03-16", "end" => "2026-03-17" };
    act(&mut bench, "calendar.update", "ann", &uid, more).expect("a change");
    assert_eq!(starts(&mut bench, "ann", FROM, UNTIL)[2], "2026-03-30");
    let half = map! { "scope" => "all", "start" => "2026-03-16T10:00:00+01:00" };
    assert_eq!(code(act(&mut bench, "calendar.update", "ann", &uid, half)), "calendar/bad-time");
}

#[test]
fn splitting_keeps_what_is_excepted_on_its_side() {
    let (mut bench, uid) = weekly();
    for id in ["2026-03-23T09:00:00+01:00", "2026-04-13T09:00:00+02:00"] {
        act(&mut bench, "calendar.delete", "ann", &uid, map! { "scope" => "one", "recurrence_id" => id })
            .expect("a deletion");
    }
    let more = map! { "scope" => "following", "recurrence_id" => "2026-03-30T09:00:00+02:00", "summary" => "New" };
    act(&mut bench, "calendar.update", "ann", &uid, more).expect("a change");
    let found = events(&mut bench, "ann", FROM, UNTIL);
    let shown: Vec<&str> = found.iter().map(|event| text(event, "summary")).collect();
    assert_eq!(shown, ["Meeting", "New", "New"]);
    assert!(found.iter().all(|event| event.get("recurrence_id").is_some_and(|id| *id != Value::Null)));
}
