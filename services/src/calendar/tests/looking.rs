//! Listing, reading, searching, free and busy times, conflicts, questions, and what each of them notes.

use dayshift_engine::{Value, map};

use super::{act, bench, code, create, import, int, list, starts, text};
use crate::calendar::CalendarState;
use crate::testing::Bench;

#[test]
fn what_lasts_no_time_is_in_a_range_only_strictly_inside() {
    let mut bench = bench();
    create(&mut bench, "ann", "2026-03-17T14:00:00Z", "2026-03-17T14:00:00Z", map! {});
    let mut count = |from, until| starts(&mut bench, "ann", from, until).len();
    assert_eq!(count("2026-03-17T14:00:00Z", "2026-03-17T15:00:00Z"), 0);
    assert_eq!(count("2026-03-17T13:00:00Z", "2026-03-17T14:00:00Z"), 0);
    assert_eq!(count("2026-03-17T13:59:59Z", "2026-03-17T14:00:01Z"), 1);
}

#[test]
fn what_overlaps_a_range_is_in_and_what_touches_it_is_not() {
    let mut bench = bench();
    create(&mut bench, "ann", "2026-03-17T14:00:00Z", "2026-03-17T15:00:00Z", map! {});
    let mut count = |from, until| starts(&mut bench, "ann", from, until).len();
    assert_eq!(count("2026-03-17T15:00:00Z", "2026-03-17T16:00:00Z"), 0);
    assert_eq!(count("2026-03-17T13:00:00Z", "2026-03-17T14:00:00Z"), 0);
    assert_eq!(count("2026-03-17T14:59:59Z", "2026-03-17T16:00:00Z"), 1);
    assert_eq!(count("2026-03-17T13:00:00Z", "2026-03-17T14:00:01Z"), 1);
}

#[test]
fn events_of_all_calendars_come_in_order_of_time() {
    let mut bench = bench();
    create(&mut bench, "ann", "2026-03-17T14:00:00Z", "2026-03-17T15:00:00Z", map! {});
    create(&mut bench, "bob", "2026-03-17T09:00:00Z", "2026-03-17T15:00:00Z", map! {});
    let range = map! { "from" => "2026-03-17T00:00:00Z", "until" => "2026-03-18T00:00:00Z" };
    let answer = bench.call("calendar.events", range).expect("a good range");
    let calendars: Vec<&str> = list(&answer, "events").iter().map(|event| text(event, "calendar")).collect();
    assert_eq!(calendars, ["bob", "ann"]);
}

#[test]
fn a_listing_says_that_there_is_more() {
    let mut bench = bench();
    for hour in 10..13 {
        let (start, end) = (format!("2026-03-17T{hour}:00:00Z"), format!("2026-03-17T{hour}:30:00Z"));
        create(&mut bench, "ann", &start, &end, map! {});
    }
    let range = map! { "from" => "2026-03-17T00:00:00Z", "until" => "2026-03-18T00:00:00Z", "limit" => 2_i64 };
    let answer = bench.call("calendar.events", range).expect("a good range");
    assert_eq!((list(&answer, "events").len(), int(&answer, "total")), (2, 3));
    assert_eq!(answer.get("more"), Some(&Value::Bool(true)));
}

#[test]
fn a_listing_notes_the_membership_a_scan_and_the_events_that_it_shows() {
    let mut bench = bench();
    let uid = create(&mut bench, "ann", "2026-03-17T14:00:00Z", "2026-03-17T15:00:00Z", map! {});
    create(&mut bench, "ann", "2026-04-17T14:00:00Z", "2026-04-17T15:00:00Z", map! {});
    starts(&mut bench, "ann", "2026-03-17T00:00:00Z", "2026-03-18T00:00:00Z");
    let item = format!("calendar:ann/{uid}");
    assert_eq!(bench.read_keys(), ["calendar:ann", "calendar:ann/", "calendar:ann/*", item.as_str()]);
}

#[test]
fn creating_writes_the_item_the_membership_and_the_scan() {
    let mut bench = bench();
    let uid = create(&mut bench, "ann", "2026-03-17T14:00:00Z", "2026-03-17T15:00:00Z", map! {});
    let item = format!("calendar:ann/{uid}");
    assert_eq!(bench.written_keys(), ["calendar:ann/", "calendar:ann/*", item.as_str()]);
}

#[test]
fn unknown_calendars_events_and_instances_are_refused() {
    let mut bench = bench();
    let uid = create(&mut bench, "ann", "2026-03-17T14:00:00Z", "2026-03-17T15:00:00Z", map! {});
    assert_eq!(code(act(&mut bench, "calendar.read", "carl", "x", map! {})), "calendar/unknown-calendar");
    assert_eq!(code(act(&mut bench, "calendar.read", "ann", "x", map! {})), "calendar/unknown-event");
    let other = map! { "recurrence_id" => "2026-03-18T14:00:00Z" };
    assert_eq!(code(act(&mut bench, "calendar.read", "ann", &uid, other)), "calendar/unknown-instance");
    let bad = map! { "recurrence_id" => "the second" };
    assert_eq!(code(act(&mut bench, "calendar.read", "ann", &uid, bad)), "calendar/bad-recurrence-id");
    let range = map! { "from" => "2026-03-18T00:00:00Z", "until" => "2026-03-18T00:00:00Z" };
    assert_eq!(code(bench.call("calendar.events", range)), "calendar/empty-range");
}

#[test]
fn search_looks_into_summaries_descriptions_places_and_people() {
    let mut bench = bench();
    create(&mut bench, "ann", "2026-03-17", "2026-03-18", map! { "summary" => "Budget review" });
    create(&mut bench, "bob", "2026-03-17", "2026-03-18", map! { "description" => "the BUDGET again" });
    create(&mut bench, "team", "2026-04-17", "2026-04-18", map! { "location" => "Budget room" });
    let mut total = |arguments| int(&bench.call("calendar.search", arguments).expect("a good search"), "total");
    assert_eq!(total(map! { "text" => "budget" }), 3);
    assert_eq!(total(map! { "text" => "budget", "calendar" => "bob" }), 1);
    assert_eq!(total(map! { "text" => "budget", "from" => "2026-04-01T00:00:00Z" }), 1);
    assert_eq!(code(bench.call("calendar.search", map! { "text" => " " })), "calendar/bad-search");
}

#[test]
fn free_busy_merges_what_overlaps_and_leaves_out_what_is_free_or_declined() {
    let mut bench = bench();
    create(&mut bench, "ann", "2026-03-17T09:00:00+01:00", "2026-03-17T10:00:00+01:00", map! {});
    create(&mut bench, "ann", "2026-03-17T09:30:00+01:00", "2026-03-17T11:00:00+01:00", map! {});
    create(&mut bench, "ann", "2026-03-17T12:00:00+01:00", "2026-03-17T13:00:00+01:00", map! { "busy" => false });
    let more = map! { "attendees" => vec!["bob@acme.example"] };
    let uid = create(&mut bench, "team", "2026-03-17T15:00:00+01:00", "2026-03-17T16:00:00+01:00", more);
    act(&mut bench, "calendar.respond", "bob", &uid, map! { "answer" => "declined" }).expect("an answer");
    let arguments = map! {
        "from" => "2026-03-17T08:00:00+01:00", "until" => "2026-03-17T18:00:00+01:00",
        "who" => vec!["ann@acme.example", "bob@acme.example"],
    };
    let answer = bench.call("calendar.free_busy", arguments).expect("a good question");
    let busy = answer.get("busy").expect("busy");
    let expected = r#"{"ann@acme.example":[{"end":"2026-03-17T11:00:00+01:00","start":"2026-03-17T09:00:00+01:00"}],"bob@acme.example":[]}"#;
    assert_eq!(busy.to_string(), expected);
    assert_eq!(list(&answer, "all_free").len(), 2);
    let nobody = map! { "from" => "2026-03-17T08:00:00Z", "until" => "2026-03-17T18:00:00Z" };
    assert_eq!(code(bench.call("calendar.free_busy", nobody)), "calendar/who");
}

#[test]
fn conflicts_are_pairs_within_one_calendar() {
    let mut bench = bench();
    create(&mut bench, "ann", "2026-03-17T09:00:00Z", "2026-03-17T10:00:00Z", map! { "summary" => "first" });
    create(&mut bench, "ann", "2026-03-17T09:30:00Z", "2026-03-17T11:00:00Z", map! { "summary" => "second" });
    create(&mut bench, "ann", "2026-03-17T11:00:00Z", "2026-03-17T12:00:00Z", map! { "summary" => "third" });
    create(&mut bench, "bob", "2026-03-17T09:00:00Z", "2026-03-17T10:00:00Z", map! { "summary" => "elsewhere" });
    let range = map! { "from" => "2026-03-17T00:00:00Z", "until" => "2026-03-18T00:00:00Z" };
    let answer = bench.call("calendar.conflicts", range).expect("a good range");
    let pairs = list(&answer, "conflicts");
    assert_eq!(pairs.len(), 1);
    let names: Vec<&str> = pairs[0].as_list().expect("a pair").iter().map(|event| text(event, "summary")).collect();
    assert_eq!(names, ["first", "second"]);
}

#[test]
fn questions_answer_as_caldav_clients_see_it() {
    let mut bench = bench();
    import(
        &mut bench,
        "team",
        &super::file(
            "BEGIN:VEVENT\nUID:f\nSUMMARY:Floating\nDTSTART:20260320T140000\nEND:VEVENT\nBEGIN:VEVENT\nUID:z\nSUMMARY:Zoned\nDTSTART;TZID=Asia/Shanghai:20260320T140000\nEND:VEVENT\nBEGIN:VEVENT\nUID:n\nSUMMARY:Nowhere\nDTSTART;TZID=\"UTC+08:00\":20260320T140000\nEND:VEVENT",
        ),
    );
    let mut start = |uid: &str| {
        let event = bench.ask("event", map! { "calendar" => "team", "uid" => uid }).expect("a good question");
        text(&event, "start").to_owned()
    };
    assert_eq!(start("f"), "2026-03-20T14:00:00");
    assert_eq!(start("z"), "2026-03-20T14:00:00+08:00");
    assert_eq!(start("n"), "2026-03-20T14:00:00+08:00");
}

#[test]
fn a_composed_and_a_decomposed_spelling_are_one_calendar_and_one_text() {
    let (composed, decomposed) = ("B\u{fc}ro", "Bu\u{308}ro");
    for (made, called) in [(composed, decomposed), (decomposed, composed)] {
        let mut bench = bench();
        super::make(&mut bench, made, None);
        let more = map! { "summary" => format!("{made} Stra\u{df}e"), "zone" => "UTC" };
        create(&mut bench, called, "2026-03-17T09:00:00", "2026-03-17T10:00:00", more);
        assert_eq!(super::events(&mut bench, called, "2026-03-17T00:00:00Z", "2026-03-18T00:00:00Z").len(), 1);
        assert_eq!(
            bench.ask("events", map! { "calendar" => called }).expect("events").as_list().map_or(0, <[_]>::len),
            1
        );
        for text in [format!("{called} STRASSE"), called.to_uppercase()] {
            let found = bench.call("calendar.search", map! { "text" => text, "calendar" => made }).expect("a search");
            assert_eq!(super::int(&found, "total"), 1);
        }
        assert_eq!(code(bench.call("calendar.make", map! { "calendar" => called })), "calendar/calendar-exists");
    }
}

/// A page ends at a time, not at an event: what comes, goes or moves in between hides nothing.
#[test]
fn pages_lose_nothing_when_events_come_go_and_move_between_them() {
    let mut bench = bench();
    let daily = map! { "rrule" => "FREQ=DAILY;COUNT=3", "zone" => "UTC", "uid" => "series" };
    create(&mut bench, "ann", "2026-03-17T09:00:00", "2026-03-17T10:00:00", daily);
    for (uid, calendar) in [("a", "team"), ("b", "bob"), ("c", "ann"), ("d", "ann")] {
        let more = map! { "zone" => "UTC", "uid" => uid };
        create(&mut bench, calendar, "2026-03-17T09:00:00", "2026-03-17T09:30:00", more);
    }
    let page = |bench: &mut Bench<CalendarState>, tool: &str, cursor: Option<&str>| {
        let mut range = map! { "from" => "2026-03-17T00:00:00Z", "until" => "2026-03-20T00:00:00Z", "limit" => 2_i64, "cursor" => cursor };
        if tool == "calendar.search" {
            super::merge(&mut range, map! { "text" => "meeting" });
        }
        let answer = bench.call(tool, range).expect("a good range");
        let uids: Vec<String> = list(&answer, "events").iter().map(|event| text(event, "uid").to_owned()).collect();
        (uids, answer.get("cursor").and_then(Value::as_text).map(str::to_owned))
    };
    for (tool, expected) in [
        ("calendar.events", ["c", "d", "series", "b", "a", "series", "series"].as_slice()),
        ("calendar.search", ["c", "d", "series", "b", "a"].as_slice()),
    ] {
        let mut bench = Bench { service: bench.service.clone(), ..super::bench() };
        let (mut seen, mut cursor) = page(&mut bench, tool, None);
        act(&mut bench, "calendar.delete", "ann", "d", map! {}).expect("a deletion");
        act(&mut bench, "calendar.update", "ann", "c", map! { "start" => "2026-03-17T01:00:00Z" }).expect("a move");
        while let Some(at) = cursor {
            let (more, next) = page(&mut bench, tool, Some(&at));
            seen.extend(more);
            cursor = next;
        }
        assert_eq!(seen, expected, "{tool}");
    }
}

#[test]
fn a_cursor_that_is_none_is_refused() {
    let range = map! { "from" => "2026-03-17T00:00:00Z", "until" => "2026-03-20T00:00:00Z", "cursor" => "c" };
    assert_eq!(code(bench().call("calendar.events", range)), "calendar/bad-cursor");
    assert_eq!(code(bench().call("calendar.search", map! { "text" => "x", "cursor" => "" })), "calendar/bad-cursor");
}

#[test]
fn a_listing_shows_who_answered_and_whether_the_time_is_taken() {
    let mut bench = bench();
    let more = map! { "attendees" => vec!["bob@acme.example", "eve@acme.example"], "zone" => "UTC" };
    let uid = create(&mut bench, "ann", "2026-03-17T09:00:00", "2026-03-17T10:00:00", more);
    let more = map! { "busy" => false, "zone" => "UTC" };
    create(&mut bench, "ann", "2026-03-17T11:00:00", "2026-03-17T12:00:00", more);
    bench.desk.address = "bob@acme.example".into();
    act(&mut bench, "calendar.respond", "bob", &uid, map! { "answer" => "declined" }).expect("an answer");
    bench.desk.address = "ann@acme.example".into();
    let found = super::events(&mut bench, "ann", "2026-03-17T00:00:00Z", "2026-03-18T00:00:00Z");
    let answers = map! { "bob@acme.example" => "declined", "eve@acme.example" => "needs-action" };
    assert_eq!((found[0].get("answers"), found[0].get("busy")), (Some(&answers), Some(&Value::Bool(true))));
    assert_eq!((found[1].get("answers"), found[1].get("busy")), (None, Some(&Value::Bool(false))));
}

#[test]
fn free_busy_can_leave_an_event_out() {
    let mut bench = bench();
    let utc = || map! { "zone" => "UTC" };
    let uid = create(&mut bench, "ann", "2026-03-17T09:00:00", "2026-03-17T10:00:00", utc());
    create(&mut bench, "ann", "2026-03-17T09:30:00", "2026-03-17T11:00:00", utc());
    let mut busy = |without: Vec<String>| {
        let range = map! { "from" => "2026-03-17T08:00:00Z", "until" => "2026-03-17T12:00:00Z", "who" => vec!["ann@acme.example"], "without" => without };
        let answer = bench.call("calendar.free_busy", range).expect("a good range");
        list(answer.get("busy").expect("busy"), "ann@acme.example")
            .iter()
            .map(|each| text(each, "start").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(busy(Vec::new()), ["2026-03-17T10:00:00+01:00"]);
    assert_eq!(busy(vec![uid]), ["2026-03-17T10:30:00+01:00"]);
}

#[test]
fn find_looks_at_summaries_only_and_the_empty_text_finds_all() {
    let mut bench = bench();
    create(&mut bench, "ann", "2026-03-17", "2026-03-18", map! { "summary" => "Budget", "description" => "review" });
    let mut count = |text: &str| {
        let answer = bench.ask("find", map! { "calendar" => "ann", "text" => text }).expect("a good question");
        answer.as_list().expect("a list").len()
    };
    assert_eq!((count("BUDG"), count("review"), count("")), (1, 0, 1));
}

#[test]
fn questions_about_what_is_absent_are_answered_with_nothing() {
    let mut bench = bench();
    assert_eq!(bench.ask("event", map! { "calendar" => "ann", "uid" => "x" }), Ok(Value::Null));
    assert_eq!(bench.ask("events", map! { "calendar" => "carl" }), Ok(Value::Null));
    assert_eq!(bench.read_keys(), ["calendar:carl", "calendar:carl/"]);
    assert_eq!(code(bench.ask("event", map! { "calendar" => "ann" })), "query/bad-arguments");
    assert_eq!(code(bench.ask("weather", map! {})), "query/unknown");
}

#[test]
fn a_calendar_that_leaves_the_time_free_is_listed_and_takes_no_time() {
    let mut bench = bench();
    let arguments =
        map! { "calendar" => "holidays", "owner" => "bob@acme.example", "description" => "A feed", "free" => true };
    bench.call("calendar.make", arguments).expect("a calendar that can be made");
    for calendar in ["holidays", "bob"] {
        create(&mut bench, calendar, "2026-03-16T09:00:00+01:00", "2026-03-16T10:00:00+01:00", map! {});
        create(&mut bench, calendar, "2026-03-16T09:30:00+01:00", "2026-03-16T10:30:00+01:00", map! {});
    }
    let range = || map! { "from" => "2026-03-16T00:00:00+01:00", "until" => "2026-03-17T00:00:00+01:00" };
    let conflicts = bench.call("calendar.conflicts", range()).expect("an answer");
    assert_eq!(conflicts.get("total"), Some(&dayshift_engine::Value::Int(1)), "only Bob's own two meetings");
    let mut asked = range();
    super::merge(&mut asked, map! { "calendars" => vec!["holidays"] });
    let busy = bench.call("calendar.free_busy", asked).expect("an answer");
    assert_eq!(list(busy.get("busy").expect("rows"), "holidays").len(), 0);
    let listed = bench.call("calendar.calendars", map! {}).expect("an answer");
    let holidays = listed.as_list().expect("calendars").iter().find(|each| text(each, "name") == "holidays");
    let holidays = holidays.expect("it is listed");
    assert_eq!(holidays.get("leaves_time_free"), Some(&dayshift_engine::Value::Bool(true)));
    assert_eq!(text(holidays, "description"), "A feed");
}
