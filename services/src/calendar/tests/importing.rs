//! iCalendar files in and out: the same bytes where nobody touched them, and no panic whatever the bytes.

use dayshift_engine::{Value, map};
use proptest::prelude::*;

use super::{act, bench, code, create, events, export, file, import, int, list, starts, text};
use crate::calendar::CalendarState;
use crate::testing::Bench;

/// A file as other programs write them: a zone of its own, folded lines, unknown properties, a task, an exception, an alarm.
const REAL: &str = "BEGIN:VCALENDAR\r\nPRODID:-//Microsoft Corporation//Outlook 16.0 MIMEDIR//EN\r\nVERSION:2.0\r\nX-WR-CALNAME:Plan\r\nBEGIN:VTIMEZONE\r\nTZID:Own Standard Time\r\nBEGIN:STANDARD\r\nDTSTART:16011028T030000\r\nRRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10\r\nTZOFFSETFROM:+0200\r\nTZOFFSETTO:+0100\r\nEND:STANDARD\r\nBEGIN:DAYLIGHT\r\nDTSTART:16010325T020000\r\nRRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3\r\nTZOFFSETFROM:+0100\r\nTZOFFSETTO:+0200\r\nEND:DAYLIGHT\r\nEND:VTIMEZONE\r\nBEGIN:VEVENT\r\nUID:series@x\r\nDTSTAMP:20260101T000000Z\r\nDTSTART;TZID=\"Own Standard Time\":20260316T090000\r\nDTEND;TZID=\"Own Standard Time\":20260316T093000\r\nRRULE:FREQ=WEEKLY;COUNT=4\r\nEXDATE;TZID=\"Own Standard Time\":20260323T090000\r\nSUMMARY:Stand\r\n up\\, daily\r\nX-MICROSOFT-CDO-BUSYSTATUS:BUSY\r\nBEGIN:VALARM\r\nTRIGGER:-PT15M\r\nACTION:DISPLAY\r\nDESCRIPTION:Reminder\r\nEND:VALARM\r\nEND:VEVENT\r\nBEGIN:VTODO\r\nUID:todo@x\r\nSUMMARY:Not an event\r\nEND:VTODO\r\nBEGIN:VEVENT\r\nUID:series@x\r\nRECURRENCE-ID;TZID=\"Own Standard Time\":20260330T090000\r\nDTSTART;TZID=\"Own Standard Time\":20260331T100000\r\nDTEND;TZID=\"Own Standard Time\":20260331T103000\r\nSUMMARY:Moved\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";

fn import_refused(source: &[u8]) -> String {
    let mut bench = bench();
    let blob = bench.blob(source);
    code(bench.call("calendar.import", map! { "calendar" => "new", "blob" => blob }))
}

#[test]
fn an_untouched_file_comes_out_with_the_bytes_that_went_in() {
    let mut bench = bench();
    let answer = import(&mut bench, "plan", REAL.as_bytes());
    assert_eq!((int(&answer, "events"), int(&answer, "kept_as_bytes")), (1, 0));
    assert_eq!(String::from_utf8(export(&bench, "plan")).expect("text"), REAL);
}

#[test]
fn a_zone_that_the_file_defines_is_followed_over_the_change_of_the_clocks() {
    let mut bench = bench();
    import(&mut bench, "plan", REAL.as_bytes());
    let found = starts(&mut bench, "plan", "2026-03-01T00:00:00+01:00", "2026-06-01T00:00:00+02:00");
    let expected = ["2026-03-16T09:00:00+01:00", "2026-03-31T10:00:00+02:00", "2026-04-06T09:00:00+02:00"];
    assert_eq!(found, expected);
}

#[test]
fn a_touched_event_changes_and_the_rest_of_the_file_stays() {
    let mut bench = bench();
    import(&mut bench, "plan", REAL.as_bytes());
    let more = map! { "scope" => "one", "recurrence_id" => "2026-04-06T09:00:00+02:00", "summary" => "Last" };
    act(&mut bench, "calendar.update", "plan", "series@x", more).expect("a change");
    create(&mut bench, "plan", "2026-05-01T09:00:00+02:00", "2026-05-01T10:00:00+02:00", map! {});
    let out = String::from_utf8(export(&bench, "plan")).expect("text");
    assert!(out.starts_with("BEGIN:VCALENDAR\r\nPRODID:-//Microsoft"));
    assert!(out.contains("BEGIN:VTODO\r\nUID:todo@x\r\nSUMMARY:Not an event\r\nEND:VTODO\r\n"));
    assert!(out.contains("SUMMARY:Stand\r\n up\\, daily\r\n"));
    assert!(out.contains("TZID:Europe/Berlin"), "the new event's zone is defined: {out}");
    let again = import(&mut bench, "copy", out.as_bytes());
    assert_eq!((int(&again, "events"), int(&again, "kept_as_bytes")), (2, 0));
    let range = ("2026-03-01T00:00:00+01:00", "2026-06-01T00:00:00+02:00");
    let shown = |bench: &mut Bench<CalendarState>, calendar: &str| -> Vec<(String, String)> {
        let found = events(bench, calendar, range.0, range.1);
        found.iter().map(|event| (text(event, "start").to_owned(), text(event, "summary").to_owned())).collect()
    };
    assert_eq!(shown(&mut bench, "plan"), shown(&mut bench, "copy"));
}

/// A finding of the fuzzer: an instance that was changed did not know any more whose it is.
#[test]
fn an_event_without_a_uid_stays_one_event_when_it_changes() {
    let source = file(
        "BEGIN:VEVENT\nDTSTART:20260401T090000Z\nDTEND:20260401T100000Z\nRRULE:FREQ=DAILY;COUNT=5\nSUMMARY:Night\nEND:VEVENT",
    );
    let changes = [
        map! { "scope" => "all", "location" => "Room 1" },
        map! { "scope" => "one", "recurrence_id" => "2026-04-02T09:00:00Z", "summary" => "Other" },
        map! { "scope" => "following", "recurrence_id" => "2026-04-03T09:00:00Z", "summary" => "Later" },
    ];
    for count in 0..=changes.len() {
        let mut bench = bench();
        import(&mut bench, "plan", &source);
        let found = events(&mut bench, "plan", "2026-04-01T00:00:00Z", "2026-04-02T00:00:00Z");
        let uid = text(&found[0], "uid").to_owned();
        for change in &changes[..count] {
            act(&mut bench, "calendar.update", "plan", &uid, change.clone()).expect("a change");
        }
        let out = export(&bench, "plan");
        import(&mut bench, "again", &out);
        let shown = |bench: &mut Bench<CalendarState>, calendar: &str| -> Vec<(String, String, String)> {
            let found = events(bench, calendar, "2026-04-01T00:00:00Z", "2026-05-01T00:00:00Z");
            let row = |event: &Value| ["uid", "start", "summary"].map(|name| text(event, name).to_owned()).into();
            found.iter().map(row).collect()
        };
        assert_eq!(shown(&mut bench, "plan"), shown(&mut bench, "again"), "{count} changes");
    }
}

/// A finding of the fuzzer: what came behind the event in which a file was cut off counted to it.
#[test]
fn what_is_added_to_a_file_that_was_cut_off_is_there() {
    let whole = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:a\r\nDTSTART:20260401T090000Z\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\nUID:b\r\nDTSTART:20260402T090000Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
    for end in 16..=whole.len() {
        for closing in ["", "\r\nEND:VCALENDAR\r\n"] {
            let source = format!("{}{closing}", &whole[..end]);
            let mut bench = bench();
            let known = int(&import(&mut bench, "plan", source.as_bytes()), "events");
            assert_eq!(export(&bench, "plan"), source.as_bytes());
            create(&mut bench, "plan", "2026-05-01T09:00:00Z", "2026-05-01T10:00:00Z", map! { "zone" => "UTC" });
            let out = export(&bench, "plan");
            let again = int(&import(&mut bench, "again", &out), "events");
            assert_eq!(again, known + 1, "{}", String::from_utf8_lossy(&out));
        }
    }
}

/// Findings of the property test below: pieces whose surroundings begin what they do not end were taken for unfinished and put behind the others.
#[test]
fn stray_lines_come_out_where_they_came_in() {
    let event = "BEGIN:VEVENT\r\nUID:1\r\nDTSTART:20260316T090000Z\r\nEND:VEVENT\r\n";
    let zone = "BEGIN:VTIMEZONE\r\nTZID:Z\r\nBEGIN:STANDARD\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n";
    let (begin, end) = ("BEGIN:VCALENDAR\r\n", "END:VCALENDAR\r\n");
    for stray in
        ["BEGIN:VTIMEZONE\r\n", "BEGIN:STANDARD\r\nTZID:Z\r\n", "BEGIN:VEVENT\r\nUID:2\r\n", "END:VEVENT\r\n", begin]
    {
        for source in [
            format!("{begin}{event}{end}{stray}{begin}{zone}{event}{end}"),
            format!("{begin}{zone}{end}{stray}{zone}{begin}{event}{end}"),
            format!("{begin}{begin}{zone}{stray}{end}{end}{begin}{event}{zone}"),
            format!("{begin}{event}{stray}{end}{begin}{stray}{end}{begin}{zone}{event}{stray}"),
            format!("{begin}{zone}{event}{stray}\r\n{begin}{stray}{event}{end}{end}"),
        ] {
            let mut bench = bench();
            import(&mut bench, "plan", source.as_bytes());
            assert_eq!(String::from_utf8_lossy(&export(&bench, "plan")), source);
            let known =
                bench.ask("events", map! { "calendar" => "plan" }).expect("events").as_list().map_or(0, <[_]>::len);
            create(&mut bench, "plan", "2026-05-01T09:00:00Z", "2026-05-01T10:00:00Z", map! { "zone" => "UTC" });
            let out = export(&bench, "plan");
            let again = int(&import(&mut bench, "again", &out), "events");
            assert_eq!(again as usize, known + 1, "{}", String::from_utf8_lossy(&out));
        }
    }
}

#[test]
fn a_character_that_a_fold_cuts_is_one_character() {
    let mut bench = bench();
    let text = "Gr\u{fc}\u{df}e \u{20ac} \u{1f600} aus K\u{f6}ln";
    for at in 1..text.len() {
        let fold =
            |name: &str| [name.as_bytes(), &text.as_bytes()[..at], b"\r\n ", &text.as_bytes()[at..], b"\r\n"].concat();
        let event = [
            b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTART:20260401T090000Z\r\n".to_vec(),
            fold("SUMMARY:"),
            fold("DESCRIPTION:"),
            fold("LOCATION:"),
            [
                b"ATTENDEE;CN=\"".to_vec(),
                text.as_bytes()[..at].to_vec(),
                b"\r\n\t".to_vec(),
                text.as_bytes()[at..].to_vec(),
            ]
            .concat(),
            b"\":mailto:bob@acme.example\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n".to_vec(),
        ]
        .concat();
        import(&mut bench, &format!("c{at}"), &event);
        assert_eq!(export(&bench, &format!("c{at}")), event);
        let event = bench.ask("event", map! { "calendar" => format!("c{at}"), "uid" => "1" }).expect("an event");
        let name = text_of(&list(&event, "attendees")[0], "name");
        assert_eq!(
            [text_of(&event, "summary"), text_of(&event, "description"), text_of(&event, "location"), name],
            [text; 4],
            "{at}"
        );
    }
}

fn text_of<'a>(value: &'a Value, name: &str) -> &'a str {
    super::text(value, name)
}

#[test]
fn zones_are_known_by_the_names_that_programs_give_them() {
    for (id, expected) in [
        ("Europe/Berlin", "2026-07-01T09:00:00+02:00"),
        ("europe/berlin", "2026-07-01T09:00:00+02:00"),
        ("AMERICA/NEW_YORK", "2026-07-01T09:00:00-04:00"),
        ("UTC+01:00", "2026-07-01T09:00:00+01:00"),
        ("GMT+0100", "2026-07-01T09:00:00+01:00"),
        ("GMT-5", "2026-07-01T09:00:00-05:00"),
        ("utc+0530", "2026-07-01T09:00:00+05:30"),
        ("+09:00", "2026-07-01T09:00:00+09:00"),
        ("UTC", "2026-07-01T09:00:00+00:00"),
        ("gmt+00:00", "2026-07-01T09:00:00+00:00"),
        ("W. Europe Standard Time", "2026-07-01T09:00:00+02:00"),
        ("W. Europe Standard Time 1", "2026-07-01T09:00:00+02:00"),
        ("Tokyo Standard Time 12", "2026-07-01T09:00:00+09:00"),
    ] {
        let mut bench = bench();
        let event = format!("BEGIN:VEVENT\nUID:1\nDTSTART;TZID=\"{id}\":20260701T090000\nEND:VEVENT");
        let answer = import(&mut bench, "plan", &file(&event));
        assert_eq!(answer.get("unknown_zones"), None, "{id}");
        let event = bench.ask("event", map! { "calendar" => "plan", "uid" => "1" }).expect("an event");
        assert_eq!(text(&event, "start"), expected, "{id}");
    }
}

#[test]
fn a_zone_that_nobody_knows_is_told_and_never_floats_in_silence() {
    for id in ["Middle/Earth", "UTC+25:00", "GMT+1:0:0", "W. Mordor Standard Time 1", "Europe/Berlin 2x"] {
        let mut bench = bench();
        let event = format!("BEGIN:VEVENT\nUID:1\nSUMMARY:x\nDTSTART;TZID=\"{id}\":20260701T090000\nEND:VEVENT");
        let answer = import(&mut bench, "plan", &file(&event));
        let expected = map! { "uid" => "1", "summary" => "x", "zones" => vec![id] };
        assert_eq!(list(&answer, "unknown_zones"), [expected], "{id}");
        let found = events(&mut bench, "plan", "2026-06-30T00:00:00Z", "2026-07-02T00:00:00Z");
        assert!(text(&found[0], "zone_unknown").contains(id), "{id}");
        let problems = bench.ask("problems", map! {}).expect("a good question");
        assert!(text(&problems.as_list().expect("a list")[0], "problem").contains(id), "{problems}");
        let out = export(&bench, "plan");
        assert_eq!(import(&mut bench, "again", &out).get("unknown_zones"), answer.get("unknown_zones"));
    }
}

#[test]
fn a_file_that_defines_a_zone_wins_over_the_database() {
    let zone = |to: &str, from: &str| {
        format!(
            "BEGIN:VTIMEZONE\nTZID:Europe/Berlin\nBEGIN:STANDARD\nDTSTART:19701025T030000\nRRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10\nTZOFFSETFROM:{from}\nTZOFFSETTO:{to}\nEND:STANDARD\nBEGIN:DAYLIGHT\nDTSTART:19700329T020000\nRRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3\nTZOFFSETFROM:{to}\nTZOFFSETTO:{from}\nEND:DAYLIGHT\nEND:VTIMEZONE"
        )
    };
    let fixed = "BEGIN:VTIMEZONE\nTZID:Europe/Berlin\nBEGIN:STANDARD\nDTSTART:19700101T000000\nTZOFFSETFROM:+0300\nTZOFFSETTO:+0300\nEND:STANDARD\nEND:VTIMEZONE".to_owned();
    for (zone, expected, is_named) in [
        (zone("+0100", "+0200"), "2026-07-01T09:00:00+02:00", true),
        (zone("+0300", "+0400"), "2026-07-01T09:00:00+04:00", false),
        (fixed, "2026-07-01T09:00:00+03:00", false),
    ] {
        let mut bench = bench();
        let event = "BEGIN:VEVENT\nUID:1\nDTSTART;TZID=Europe/Berlin:20260701T090000\nSUMMARY:x\nEND:VEVENT";
        import(&mut bench, "plan", &file(&format!("{zone}\n{event}")));
        let start = |bench: &mut Bench<CalendarState>| {
            let event = bench.ask("event", map! { "calendar" => "plan", "uid" => "1" }).expect("an event");
            text(&event, "start").to_owned()
        };
        assert_eq!(start(&mut bench), expected);
        let series =
            bench.service.peek_shelf(&"plan".into()).expect("it").events.peek(&"1".into()).expect("it").clone();
        assert_eq!(matches!(series.main().start.zone, crate::calendar::Zone::Named(_)), is_named);
        act(&mut bench, "calendar.update", "plan", "1", map! { "summary" => "y" }).expect("a change");
        assert_eq!(start(&mut bench), expected, "a change of the summary moves nothing");
    }
}

/// A zone goes by the name that the line has, not by the one that the database has for it.
#[test]
fn a_zone_that_the_file_defines_under_its_own_name_is_not_defined_again() {
    let mut bench = bench();
    let zone = "BEGIN:VTIMEZONE\nTZID:/vendor.example/Europe/Berlin\nBEGIN:STANDARD\nDTSTART:20251026T030000\nTZOFFSETFROM:+0200\nTZOFFSETTO:+0100\nEND:STANDARD\nEND:VTIMEZONE";
    let event =
        "BEGIN:VEVENT\nUID:a\nDTSTART;TZID=/vendor.example/Europe/Berlin:20260105T090000\nSUMMARY:x\nEND:VEVENT";
    import(&mut bench, "plan", &file(&format!("{zone}\n{event}")));
    act(&mut bench, "calendar.update", "plan", "a", map! { "summary" => "y" }).expect("a change");
    let out = String::from_utf8(export(&bench, "plan")).expect("text");
    assert_eq!(out.matches("BEGIN:VTIMEZONE").count(), 1, "{out}");
}

#[test]
fn a_second_file_adds_its_events_and_replaces_those_of_the_same_uid() {
    let mut bench = bench();
    import(&mut bench, "plan", REAL.as_bytes());
    let second = file(
        "BEGIN:VEVENT\nUID:series@x\nDTSTART:20260401T090000Z\nSUMMARY:Replaced\nEND:VEVENT\nBEGIN:VEVENT\nUID:b\nDTSTART:20260402T090000Z\nEND:VEVENT",
    );
    import(&mut bench, "plan", &second);
    let found = events(&mut bench, "plan", "2026-03-31T23:00:00Z", "2026-04-03T00:00:00Z");
    let names: Vec<&str> = found.iter().map(|event| text(event, "summary")).collect();
    assert_eq!(names, ["Replaced", ""]);
    let out = String::from_utf8(export(&bench, "plan")).expect("text");
    assert_eq!(out.matches("BEGIN:VCALENDAR").count(), 1);
}

#[test]
fn a_rule_that_cannot_be_followed_is_kept_and_takes_place_once() {
    let mut bench = bench();
    let source = file("BEGIN:VEVENT\nUID:1\nDTSTART:20260316T090000Z\nRRULE:FREQ=SECONDLY\nSUMMARY:Tick\nEND:VEVENT");
    let answer = import(&mut bench, "team", &source);
    assert_eq!(list(&answer, "not_repeated").len(), 1);
    let found = events(&mut bench, "team", "2026-03-01T00:00:00Z", "2027-03-01T00:00:00Z");
    assert_eq!(found.len(), 1);
    assert!(found[0].get("not_repeated_because").is_some());
    assert_eq!(export(&bench, "team"), source);
}

#[test]
fn what_cannot_be_read_is_kept_as_bytes() {
    let mut bench = bench();
    let source = file("BEGIN:VEVENT\nUID:1\nDTSTART:someday\nEND:VEVENT\nBEGIN:VEVENT\nUID:2\nEND:VEVENT");
    let answer = import(&mut bench, "team", &source);
    assert_eq!((int(&answer, "events"), int(&answer, "kept_as_bytes")), (0, 2));
    assert_eq!(export(&bench, "team"), source);
}

#[test]
fn a_file_that_is_none_and_a_blob_that_is_none_are_refused() {
    assert_eq!(import_refused(b"From: ann@acme.example\r\n\r\nhello"), "calendar/bad-file");
    let arguments = map! { "calendar" => "new", "blob" => "nothing" };
    assert_eq!(code(bench().call("calendar.import", arguments)), "calendar/unknown-blob");
    let arguments = map! { "calendar" => "a/b", "blob" => "nothing" };
    assert_eq!(code(bench().call("calendar.import", arguments)), "calendar/bad-name");
}

#[test]
fn this_and_following_of_a_file_takes_the_later_instances_along() {
    let mut bench = bench();
    let source = file(
        "BEGIN:VEVENT\nUID:1\nDTSTART:20260316T090000Z\nDTEND:20260316T100000Z\nRRULE:FREQ=DAILY;COUNT=4\nSUMMARY:a\nEND:VEVENT\nBEGIN:VEVENT\nUID:1\nRECURRENCE-ID;RANGE=THISANDFUTURE:20260318T090000Z\nDTSTART:20260318T110000Z\nDTEND:20260318T113000Z\nSUMMARY:b\nEND:VEVENT",
    );
    import(&mut bench, "team", &source);
    let found = events(&mut bench, "team", "2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z");
    let shown: Vec<(&str, &str)> =
        found.iter().map(|event| (&text(event, "end")[8..16], text(event, "summary"))).collect();
    assert_eq!(shown, [("16T11:00", "a"), ("17T11:00", "a"), ("18T12:30", "b"), ("19T12:30", "b")]);
}

fn shuffled() -> impl Strategy<Value = Vec<u8>> {
    let parts = vec![
        "BEGIN:VCALENDAR\r\n",
        "END:VCALENDAR\r\n",
        "BEGIN:VEVENT\r\n",
        "END:VEVENT\r\n",
        "BEGIN:VTIMEZONE\r\n",
        "END:VTIMEZONE\r\n",
        "BEGIN:STANDARD\r\n",
        "END:STANDARD\r\n",
        "TZID:Z\r\n",
        "TZOFFSETFROM:+0100\r\n",
        "TZOFFSETTO:-9999\r\n",
        "DTSTART:20260316T090000\r\n",
        "DTSTART;TZID=Z:20260329T023000\r\n",
        "DTSTART;VALUE=DATE:99991231\r\n",
        "DTSTART:00010101T000000Z\r\n",
        "DTEND:00000000T999999\r\n",
        "DURATION:-P99999999W\r\n",
        "RRULE:FREQ=YEARLY;BYMONTHDAY=-31;BYDAY=5MO\r\n",
        "RRULE:FREQ=DAILY;COUNT=5000;BYSETPOS=366\r\n",
        "RRULE:FREQ=HOURLY;UNTIL=2026\r\n",
        "RDATE;VALUE=PERIOD:20260316T090000Z/PT1H\r\n",
        "EXDATE:20260316T090000Z,2026\r\n",
        "RECURRENCE-ID;RANGE=THISANDFUTURE:20260316T090000Z\r\n",
        "UID:1\r\n",
        "ATTENDEE;PARTSTAT=ACCEPTED:mailto:é@x\r\n",
        " folded\r\n",
        "SUMMARY:\u{feff}ß\r\n",
        "\r\n",
    ];
    proptest::collection::vec(proptest::sample::select(parts), 0..40).prop_map(|parts| {
        let mut bytes = b"BEGIN:VCALENDAR\r\n".to_vec();
        bytes.extend(parts.concat().into_bytes());
        bytes
    })
}

fn survives(bytes: &[u8]) {
    let mut bench = bench();
    let blob = bench.blob(bytes);
    if bench.call("calendar.import", map! { "calendar" => "new", "blob" => blob }).is_err() {
        return;
    }
    assert_eq!(export(&bench, "new"), bytes, "an untouched file comes out as it went in");
    let range = map! { "calendar" => "new", "from" => "2026-03-01T00:00:00Z", "until" => "2026-05-01T00:00:00Z" };
    let _ = bench.call("calendar.events", range);
    let events = bench.ask("events", map! { "calendar" => "new" }).expect("a good question");
    for event in events.as_list().expect("a list") {
        let uid = text(event, "uid").to_owned();
        let _ = act(&mut bench, "calendar.update", "new", &uid, map! { "scope" => "all", "summary" => "x" });
        let more = map! { "scope" => "following", "recurrence_id" => "2026-03-16T09:00:00Z" };
        let _ = act(&mut bench, "calendar.delete", "new", &uid, more);
    }
    let _ = crate::service::Service::dump(&bench.service);
    let _: Value = bench.call("calendar.calendars", map! {}).expect("a listing");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn any_bytes_can_be_tried(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        survives(&bytes);
    }

    #[test]
    fn any_lines_of_calendars_can_be_tried(bytes in shuffled()) {
        survives(&bytes);
    }
}
