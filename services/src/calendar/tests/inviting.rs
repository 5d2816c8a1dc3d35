//! Invitations: into whose calendars an event comes, whose answer reaches whom, and what the organiser's changes do.

use dayshift_engine::map;

use super::{act, bench, code, create, list, starts, text};

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
