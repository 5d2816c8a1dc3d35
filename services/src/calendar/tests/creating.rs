//! Creating events: times, zones, rules, and what is refused.

use dayshift_engine::{Value, map};

use super::{act, bench, code, create, starts, text};

fn refused(start: &str, end: &str, more: Value) -> String {
    let mut arguments = map! { "calendar" => "ann", "summary" => "Meeting", "start" => start, "end" => end };
    super::merge(&mut arguments, more);
    code(bench().call("calendar.create", arguments))
}

#[test]
fn a_created_event_is_listed_at_its_time() {
    let mut bench = bench();
    create(&mut bench, "ann", "2026-03-17T14:00:00+01:00", "2026-03-17T15:00:00+01:00", map! {});
    let found = starts(&mut bench, "ann", "2026-03-17T00:00:00+01:00", "2026-03-18T00:00:00+01:00");
    assert_eq!(found, ["2026-03-17T14:00:00+01:00"]);
}

#[test]
fn a_weekly_event_keeps_its_hour_when_the_clocks_change() {
    let mut bench = bench();
    let more = map! { "rrule" => "FREQ=WEEKLY;COUNT=3" };
    create(&mut bench, "ann", "2026-03-23T09:00:00+01:00", "2026-03-23T09:30:00+01:00", more);
    let found = starts(&mut bench, "ann", "2026-03-01T00:00:00+01:00", "2026-05-01T00:00:00+01:00");
    assert_eq!(found, ["2026-03-23T09:00:00+01:00", "2026-03-30T09:00:00+02:00", "2026-04-06T09:00:00+02:00"]);
}

#[test]
fn an_all_day_event_has_no_zone_and_reads_as_dates() {
    let mut bench = bench();
    let uid = create(&mut bench, "ann", "2026-03-28", "2026-03-30", map! {});
    let event = bench.ask("event", map! { "calendar" => "ann", "uid" => uid }).expect("a good question");
    assert_eq!((text(&event, "start"), text(&event, "end")), ("2026-03-28", "2026-03-30"));
    assert_eq!(event.get("zone"), None);
    let found = starts(&mut bench, "ann", "2026-03-29T23:59:59+02:00", "2026-03-30T00:00:01+02:00");
    assert_eq!(found, ["2026-03-28"], "its last second is in");
    let found = starts(&mut bench, "ann", "2026-03-30T00:00:00+02:00", "2026-03-31T00:00:00+02:00");
    assert!(found.is_empty(), "the day after is not");
}

#[test]
fn a_time_without_offset_takes_the_zone_that_is_given() {
    let mut bench = bench();
    let more = map! { "zone" => "America/New_York" };
    let uid = create(&mut bench, "ann", "2026-03-17T14:00", "2026-03-17T15:00:00", more);
    let event = bench.ask("event", map! { "calendar" => "ann", "uid" => uid }).expect("a good question");
    assert_eq!((text(&event, "start"), text(&event, "zone")), ("2026-03-17T14:00:00-04:00", "America/New_York"));
}

#[test]
fn utc_reads_back_with_its_offset_written_out() {
    let mut bench = bench();
    let uid = create(&mut bench, "ann", "2026-03-20T14:00:00Z", "2026-03-20T15:00:00Z", map! {});
    let event = bench.ask("event", map! { "calendar" => "ann", "uid" => uid }).expect("a good question");
    assert_eq!(text(&event, "start"), "2026-03-20T14:00:00+00:00");
    assert_eq!((event.get("description"), event.get("location")), (None, None), "what is empty is left out");
}

#[test]
fn ambiguous_times_are_refused() {
    assert_eq!(refused("2026-03-17T14:00:00", "2026-03-17T15:00:00", map! {}), "calendar/no-zone");
    let berlin = || map! { "zone" => "Europe/Berlin" };
    assert_eq!(refused("2026-03-29T02:30:00", "2026-03-29T04:00:00", berlin()), "calendar/ambiguous-time");
    assert_eq!(refused("2026-10-25T02:30:00", "2026-10-25T04:00:00", berlin()), "calendar/ambiguous-time");
    let weekly = map! { "rrule" => "FREQ=WEEKLY" };
    assert_eq!(refused("2026-03-17T14:00:00-05:00", "2026-03-17T15:00:00-05:00", weekly), "calendar/no-zone");
}

#[test]
fn times_that_no_event_can_have_are_refused() {
    let plain = || map! {};
    assert_eq!(refused("2026-03-17T14:00:00Z", "2026-03-17T13:00:00Z", plain()), "calendar/ends-before-start");
    assert_eq!(refused("2026-03-17", "2026-03-17", plain()), "calendar/ends-before-start");
    assert_eq!(refused("2026-03-17", "2026-03-17T13:00:00Z", plain()), "calendar/bad-time");
    assert_eq!(refused("next Monday", "2026-03-17T13:00:00Z", plain()), "calendar/bad-time");
    assert_eq!(refused("2026-03-17", "2026-03-18", map! { "all_day" => false }), "calendar/bad-time");
    assert_eq!(refused("2026-03-17T13:00:00Z", "2026-03-18", map! { "all_day" => true }), "calendar/bad-time");
    let nowhere = map! { "zone" => "Europe/Atlantis" };
    assert_eq!(refused("2026-03-17T13:00:00", "2026-03-17T14:00:00", nowhere), "calendar/unknown-zone");
}

#[test]
fn hostile_rules_are_refused_at_once() {
    for rule in [
        "FREQ=SECONDLY",
        "FREQ=MINUTELY",
        "FREQ=MINUTELY;INTERVAL=14",
        "FREQ=DAILY;COUNT=4294967296",
        "FREQ=DAILY;COUNT=5001",
        "FREQ=DAILY;COUNT=0",
        "FREQ=DAILY;COUNT=-1",
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=31",
        "FREQ=MINUTELY;BYMONTH=2;BYMONTHDAY=30;BYSECOND=7",
        "FREQ=DAILY;BYHOUR=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23;BYMINUTE=0,10,20,30,40,50",
        "FREQ=DAILY;INTERVAL=0",
        "FREQ=DAILY;INTERVAL=65537",
        "FREQ=SOMETIMES",
        "FREQ=DAILY;BYEASTER=1",
        "FREQ=DAILY;COUNT=3;UNTIL=20270101T000000Z",
        "FREQ=DAILY;UNTIL=20200101T000000Z",
        "FREQ=DAILY\r\nATTENDEE:mailto:x@y.example",
        "daily",
        "",
    ] {
        let more = map! { "rrule" => rule };
        let got = refused("2026-03-17T13:00:00Z", "2026-03-17T14:00:00Z", more);
        assert_eq!(got, "calendar/bad-rule", "{rule}");
    }
}

#[test]
fn a_rule_without_end_is_shown_far_in_the_future_without_counting_up_to_it() {
    let mut bench = bench();
    let more = map! { "rrule" => "FREQ=MINUTELY;INTERVAL=15;UNTIL=99991231T235959Z" };
    create(&mut bench, "ann", "1971-03-17T13:00:00Z", "1971-03-17T13:05:00Z", more);
    let found = starts(&mut bench, "ann", "9998-03-17T13:00:00Z", "9998-03-17T13:31:00Z");
    assert_eq!(found.len(), 3);
}

#[test]
fn the_same_event_has_the_same_uid_in_every_world_and_a_second_one_another() {
    let (mut here, mut there) = (bench(), bench());
    create(&mut there, "bob", "2026-03-17T14:00:00Z", "2026-03-17T15:00:00Z", map! { "location" => "Room 2" });
    let make = |bench: &mut _| create(bench, "ann", "2026-03-17T14:00:00Z", "2026-03-17T15:00:00Z", map! {});
    let first = make(&mut here);
    assert_eq!(first, make(&mut there));
    assert_ne!(first, make(&mut here));
}

#[test]
fn a_uid_of_ones_own_can_be_given_once() {
    let mut bench = bench();
    let uid = create(&mut bench, "ann", "2026-03-17", "2026-03-18", map! { "uid" => "deadline/1" });
    assert_eq!(uid, "deadline/1");
    let again = map! { "summary" => "x", "start" => "2026-03-17", "end" => "2026-03-18" };
    assert_eq!(code(act(&mut bench, "calendar.create", "ann", "deadline/1", again)), "calendar/event-exists");
}

#[test]
fn text_of_any_kind_survives_the_file_format() {
    let mut bench = bench();
    let description =
        "a, b; c\\n \\ \"quoted\"\nsecond line: 中文字符 and a long tail ".to_owned() + &"word ".repeat(100);
    let more = map! { "description" => description.clone(), "location" => "Room; 2, left" };
    let uid = create(&mut bench, "ann", "2026-03-17", "2026-03-18", more);
    let event = bench.ask("event", map! { "calendar" => "ann", "uid" => uid }).expect("a good question");
    assert_eq!(text(&event, "description"), description);
    assert_eq!(text(&event, "location"), "Room; 2, left");
}
