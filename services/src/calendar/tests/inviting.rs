//! Invitations: into whose calendars an event comes, whose answer reaches whom, and what the organiser's changes do.

use dayshift_engine::map;

use super::{act, bench, code, create, events, list, starts, text};

const FROM: &str = "2026-03-01T00:00:00+01:00";
const UNTIL: &str = "2026-06-01T00:00:00+02:00";

/// Returns a bench where Ann has invited Bob, and somebody outside, to a weekly event.
fn invited() -> (crate::testing::Bench<crate::calendar::CalendarState>, String) {
    let mut bench = bench();
    let more = map! {
        "attendees" => vec!["Bob Ray <Bob@acme.example>", "cleo@else.example"], "rrule" => "FREQ=WEEKLY;COUNT=3",
    };
    let uid = create(&mut bench, "ann", "2026-03-16T09:00:00+01:00", "2026-03-16T10:00:00+01:00", more);
    (bench, uid)
}

fn answer(
    bench: &mut crate::testing::Bench<crate::calendar::CalendarState>,
    calendar: &str,
    uid: &str,
    recurrence_id: Option<&str>,
) -> String {
    let event =
        act(bench, "calendar.read", calendar, uid, map! { "recurrence_id" => recurrence_id }).expect("an event");
    text(&list(&event, "attendees")[0], "answer").to_owned()
}

#[test]
fn an_invitation_is_in_the_attendees_calendar_to_be_answered() {
    let (mut bench, uid) = invited();
    assert_eq!(answer(&mut bench, "bob", &uid, None), "needs-action");
    assert_eq!(starts(&mut bench, "bob", FROM, UNTIL).len(), 3);
}

#[test]
fn an_answer_reaches_the_organisers_calendar() {
    let (mut bench, uid) = invited();
    let told = act(&mut bench, "calendar.respond", "bob", &uid, map! { "answer" => "accepted" }).expect("an answer");
    assert_eq!(text(&told, "told"), "ann@acme.example");
    assert_eq!(answer(&mut bench, "bob", &uid, None), "accepted");
    assert_eq!(answer(&mut bench, "ann", &uid, None), "accepted");
}

#[test]
fn an_answer_to_one_instance_leaves_the_others() {
    let (mut bench, uid) = invited();
    let id = "2026-03-23T09:00:00+01:00";
    let more = map! { "answer" => "declined", "recurrence_id" => id };
    act(&mut bench, "calendar.respond", "bob", &uid, more).expect("an answer");
    for calendar in ["ann", "bob"] {
        assert_eq!(answer(&mut bench, calendar, &uid, Some(id)), "declined");
        assert_eq!(answer(&mut bench, calendar, &uid, None), "needs-action");
    }
    assert_eq!(starts(&mut bench, "bob", FROM, UNTIL).len(), 3);
}

#[test]
fn who_is_not_invited_cannot_answer() {
    let (mut bench, uid) = invited();
    assert_eq!(
        code(act(&mut bench, "calendar.respond", "ann", &uid, map! { "answer" => "accepted" })),
        "calendar/not-invited"
    );
}

#[test]
fn the_organisers_change_reaches_the_attendees_and_keeps_answers() {
    let (mut bench, uid) = invited();
    act(&mut bench, "calendar.respond", "bob", &uid, map! { "answer" => "tentative" }).expect("an answer");
    act(&mut bench, "calendar.update", "ann", &uid, map! { "scope" => "all", "location" => "Room 4" })
        .expect("a change");
    let event = act(&mut bench, "calendar.read", "bob", &uid, map! {}).expect("an event");
    assert_eq!(text(&event, "location"), "Room 4");
    assert_eq!(answer(&mut bench, "bob", &uid, None), "tentative");
}

#[test]
fn an_attendees_change_stays_in_the_attendees_calendar() {
    let (mut bench, uid) = invited();
    act(&mut bench, "calendar.update", "bob", &uid, map! { "scope" => "all", "summary" => "Mine" }).expect("a change");
    let event = act(&mut bench, "calendar.read", "ann", &uid, map! {}).expect("an event");
    assert_eq!(text(&event, "summary"), "Meeting");
}

#[test]
fn who_is_no_longer_invited_loses_the_event_and_who_is_new_gets_it() {
    let (mut bench, uid) = invited();
    super::make(&mut bench, "dan", Some("dan@acme.example"));
    let more = map! { "scope" => "all", "attendees" => vec!["dan@acme.example"] };
    act(&mut bench, "calendar.update", "ann", &uid, more).expect("a change");
    assert!(starts(&mut bench, "bob", FROM, UNTIL).is_empty());
    assert_eq!(starts(&mut bench, "dan", FROM, UNTIL).len(), 3);
}

#[test]
fn the_organisers_deletion_cancels_for_everybody_and_the_attendees_for_nobody_else() {
    let (mut bench, uid) = invited();
    let more = map! { "scope" => "one", "recurrence_id" => "2026-03-23T09:00:00+01:00" };
    act(&mut bench, "calendar.delete", "ann", &uid, more).expect("a deletion");
    assert_eq!(starts(&mut bench, "bob", FROM, UNTIL).len(), 2);
    act(&mut bench, "calendar.delete", "bob", &uid, map! { "scope" => "all" }).expect("a deletion");
    assert_eq!(starts(&mut bench, "ann", FROM, UNTIL).len(), 2);
    act(&mut bench, "calendar.delete", "ann", &uid, map! { "scope" => "all" }).expect("a deletion");
    assert!(starts(&mut bench, "ann", FROM, UNTIL).is_empty());
}

#[test]
fn the_organiser_splitting_a_series_splits_it_for_everybody() {
    let (mut bench, uid) = invited();
    let more = map! {
        "scope" => "following", "recurrence_id" => "2026-03-23T09:00:00+01:00", "start" => "2026-03-23T12:00:00+01:00",
    };
    act(&mut bench, "calendar.update", "ann", &uid, more).expect("a change");
    let expected = ["2026-03-16T09:00:00+01:00", "2026-03-23T12:00:00+01:00", "2026-03-30T12:00:00+02:00"];
    for calendar in ["ann", "bob"] {
        assert_eq!(starts(&mut bench, calendar, FROM, UNTIL), expected, "{calendar}");
    }
}

#[test]
fn addresses_that_are_none_are_refused() {
    for address in ["bob", "@acme.example", "bob@", "a b@acme.example", "x@y.example\r\nSUMMARY:z", ""] {
        let arguments = map! {
            "calendar" => "ann", "summary" => "x", "start" => "2026-03-16", "end" => "2026-03-17", "attendees" => vec![address],
        };
        assert_eq!(code(bench().call("calendar.create", arguments)), "calendar/bad-address", "{address}");
    }
}

/// Returns a bench where Ann has invited Bob and Dan to a weekly event in the calendar of Carl, for whom she works.
fn invited_for_carl(attendees: Vec<&str>) -> (crate::testing::Bench<crate::calendar::CalendarState>, String) {
    let mut bench = bench();
    super::make(&mut bench, "carl", Some("carl@acme.example"));
    super::make(&mut bench, "dan", Some("dan@acme.example"));
    let more = map! { "attendees" => attendees, "rrule" => "FREQ=WEEKLY;COUNT=3" };
    let uid = create(&mut bench, "carl", "2026-03-16T09:00:00+01:00", "2026-03-16T10:00:00+01:00", more);
    (bench, uid)
}

/// Who the answer of a call says it reached.
fn reached(answer: &dayshift_engine::Value) -> Vec<&str> {
    answer
        .get("reached")
        .and_then(dayshift_engine::Value::as_list)
        .unwrap_or_default()
        .iter()
        .map(|who| who.as_text().unwrap_or_default())
        .collect()
}

#[test]
fn an_invitation_from_another_persons_calendar_is_in_that_persons_name() {
    let (mut bench, uid) = invited_for_carl(vec!["bob@acme.example"]);
    for calendar in ["carl", "bob"] {
        let event = act(&mut bench, "calendar.read", calendar, &uid, map! {}).expect("an event");
        assert_eq!(text(&event, "organizer"), "carl@acme.example");
    }
    let file = String::from_utf8(super::export(&bench, "carl")).expect("text").replace("\r\n ", "");
    assert!(file.contains("SENT-BY=\"mailto:ann@acme.example\""), "{file}");
}

#[test]
fn changes_in_the_calendar_where_an_event_was_created_reach_all_attendees_and_say_whom() {
    let both = vec!["bob@acme.example", "carl@acme.example", "dan@acme.example"];
    let (mut bench, uid) = invited_for_carl(both);
    let later = map! { "scope" => "all", "location" => "Room 4" };
    let answer = act(&mut bench, "calendar.update", "carl", &uid, later).expect("a change");
    assert_eq!(reached(&answer), ["bob@acme.example", "dan@acme.example"]);
    for calendar in ["bob", "dan"] {
        let event = act(&mut bench, "calendar.read", calendar, &uid, map! {}).expect("an event");
        assert_eq!(text(&event, "location"), "Room 4", "{calendar}");
    }
    let one = map! { "scope" => "one", "recurrence_id" => "2026-03-23T09:00:00+01:00" };
    let answer = act(&mut bench, "calendar.delete", "carl", &uid, one).expect("a deletion");
    assert_eq!(reached(&answer), ["bob@acme.example", "dan@acme.example"]);
    let answer = act(&mut bench, "calendar.delete", "carl", &uid, map! { "scope" => "all" }).expect("a deletion");
    assert_eq!(reached(&answer), ["bob@acme.example", "dan@acme.example"]);
    for calendar in ["ann", "bob", "carl", "dan"] {
        assert!(starts(&mut bench, calendar, FROM, UNTIL).is_empty(), "{calendar}");
    }
}

#[test]
fn an_answer_reaches_the_calendar_of_whom_the_invitation_was_sent_for() {
    let (mut bench, uid) = invited_for_carl(vec!["bob@acme.example"]);
    let told = act(&mut bench, "calendar.respond", "bob", &uid, map! { "answer" => "declined" }).expect("an answer");
    assert_eq!(text(&told, "told"), "carl@acme.example");
    assert_eq!(answer(&mut bench, "carl", &uid, None), "declined");
}

#[test]
fn attendees_who_are_added_later_to_an_event_without_any_are_reached_too() {
    let mut bench = bench();
    super::make(&mut bench, "carl", Some("carl@acme.example"));
    let uid = create(&mut bench, "carl", "2026-03-16T09:00:00+01:00", "2026-03-16T10:00:00+01:00", map! {});
    let more = map! { "scope" => "all", "attendees" => vec!["bob@acme.example"] };
    let invited = act(&mut bench, "calendar.update", "carl", &uid, more).expect("a change");
    assert_eq!(reached(&invited), ["bob@acme.example"]);
    let more = map! { "scope" => "all", "start" => "2026-03-16T11:00:00+01:00" };
    let moved = act(&mut bench, "calendar.update", "carl", &uid, more).expect("a change");
    assert_eq!(reached(&moved), ["bob@acme.example"]);
    assert_eq!(starts(&mut bench, "bob", FROM, UNTIL), ["2026-03-16T11:00:00+01:00"]);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(48))]

    /// Whoever's calendar an event is created in, and whatever changes there, its attendees have what is there.
    #[test]
    fn attendees_have_what_is_in_the_calendar_where_the_event_was_created(
        home in proptest::sample::select(vec!["ann", "carl", "team"]),
        changes in proptest::collection::vec((0_u8..4, 0_u32..3), 1..6),
    ) {
        let mut bench = bench();
        super::make(&mut bench, "carl", Some("carl@acme.example"));
        super::make(&mut bench, "dan", Some("dan@acme.example"));
        let more = map! { "attendees" => vec!["bob@acme.example", "dan@acme.example"], "rrule" => "FREQ=DAILY;COUNT=4" };
        create(&mut bench, home, "2026-03-16T09:00:00+01:00", "2026-03-16T10:00:00+01:00", more);
        for (what, number) in changes {
            let there = events(&mut bench, home, FROM, UNTIL);
            let Some(instance) = there.get(number as usize) else { continue };
            let id = instance.get("recurrence_id").cloned().unwrap_or_default();
            let uid = text(instance, "uid").to_owned();
            let one = map! { "scope" => "one", "recurrence_id" => id.clone(), "summary" => format!("Changed {number}") };
            let changed = match what {
                0 => act(&mut bench, "calendar.update", home, &uid, one),
                1 => {
                    let all = map! { "scope" => "all", "location" => format!("Room {number}") };
                    act(&mut bench, "calendar.update", home, &uid, all)
                }
                2 => act(&mut bench, "calendar.delete", home, &uid, map! { "scope" => "one", "recurrence_id" => id }),
                _ => {
                    let all = map! { "scope" => "all", "attendees" => vec!["dan@acme.example", "bob@acme.example"] };
                    act(&mut bench, "calendar.update", home, &uid, all)
                }
            };
            proptest::prop_assert!(changed.is_ok(), "{changed:?}");
        }
        let seen = |bench: &mut crate::testing::Bench<_>, calendar: &str| -> Vec<(String, String, String)> {
            events(bench, calendar, FROM, UNTIL).iter().map(|each| {
                let location = each.get("location").and_then(dayshift_engine::Value::as_text).unwrap_or_default();
                (text(each, "start").to_owned(), text(each, "summary").to_owned(), location.to_owned())
            }).collect()
        };
        let expected = seen(&mut bench, home);
        proptest::prop_assert_eq!(&seen(&mut bench, "bob"), &expected);
        proptest::prop_assert_eq!(&seen(&mut bench, "dan"), &expected);
    }
}
