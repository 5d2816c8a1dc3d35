//! Every limit, at it, below and above.

use std::ops::ControlFlow;

use dayshift_engine::{Budget, Value, map};

use super::super::limits::*;
use super::super::moment::DAY_SECONDS;
use super::super::rule::RuleFault;
use super::super::{CalendarEvent, CalendarState, Moment, Zone};
use super::{act, bench, code, create, file};
use crate::testing::Bench;

fn tried(bench: &mut Bench<CalendarState>, more: Value) -> Option<String> {
    let mut arguments = map! { "calendar" => "ann", "summary" => "x", "start" => "2026-03-16", "end" => "2026-03-17" };
    super::merge(&mut arguments, more);
    bench.call("calendar.create", arguments).err().map(|refusal| refusal.code.into_owned())
}

fn imported(source: &[u8]) -> Option<String> {
    let mut bench = bench();
    let blob = bench.blob(source);
    let arguments = map! { "calendar" => "new", "blob" => blob };
    bench.call("calendar.import", arguments).err().map(|refusal| refusal.code.into_owned())
}

#[test]
fn texts_have_their_length() {
    let mut bench = bench();
    for (name, most, refusal) in [
        ("summary", LINE_BYTES_MAX, "calendar/bad-summary"),
        ("location", LINE_BYTES_MAX, "calendar/text-too-long"),
        ("description", DESCRIPTION_BYTES_MAX, "calendar/text-too-long"),
    ] {
        let mut with = |bytes: usize| tried(&mut bench, map! { name => "x".repeat(bytes) });
        assert_eq!((with(most - 1), with(most)), (None, None), "{name}");
        assert_eq!(with(most + 1).as_deref(), Some(refusal), "{name}");
    }
    let mut search = |bytes: usize| bench.call("calendar.search", map! { "text" => "x".repeat(bytes) });
    assert!(search(SEARCH_TEXT_BYTES_MAX - 1).is_ok() && search(SEARCH_TEXT_BYTES_MAX).is_ok());
    assert_eq!(code(search(SEARCH_TEXT_BYTES_MAX + 1)), "calendar/bad-search");
}

#[test]
fn names_and_addresses_have_their_length() {
    let mut bench = bench();
    let mut made = |bytes: usize| {
        bench
            .call("calendar.make", map! { "calendar" => "x".repeat(bytes) })
            .err()
            .map(|refusal| refusal.code.into_owned())
    };
    assert_eq!((made(NAME_BYTES_MAX - 1), made(NAME_BYTES_MAX)), (None, None));
    assert_eq!(made(NAME_BYTES_MAX + 1).as_deref(), Some("calendar/bad-name"));
    let mut invited = |bytes: usize| {
        let address = format!("{}@acme.example", "x".repeat(bytes - "@acme.example".len()));
        tried(&mut bench, map! { "attendees" => vec![address] })
    };
    assert_eq!((invited(ADDRESS_BYTES_MAX - 1), invited(ADDRESS_BYTES_MAX)), (None, None));
    assert_eq!(invited(ADDRESS_BYTES_MAX + 1).as_deref(), Some("calendar/bad-address"));
}

#[test]
fn an_event_has_so_many_attendees() {
    let mut bench = bench();
    let mut with = |count: usize| {
        let who: Vec<String> = (0..count).map(|number| format!("p{number}@acme.example")).collect();
        tried(&mut bench, map! { "attendees" => who })
    };
    assert_eq!((with(ATTENDEES_MAX - 1), with(ATTENDEES_MAX)), (None, None));
    assert_eq!(with(ATTENDEES_MAX + 1).as_deref(), Some("calendar/too-many-attendees"));
}

#[test]
fn a_rule_counts_so_far_and_is_so_dense_and_so_long() {
    let at = Moment::new(0, Zone::Utc);
    let check = |rule: &str| super::super::parse::parse_rule(rule, &at, &Budget::default()).map(drop);
    let counted = |count: u32| check(&format!("FREQ=DAILY;COUNT={count}"));
    assert_eq!((counted(RULE_COUNT_MAX - 1), counted(RULE_COUNT_MAX)), (Ok(()), Ok(())));
    assert_eq!(counted(RULE_COUNT_MAX + 1), Err(RuleFault::CountTooLarge));
    let apart = |minutes: i64| check(&format!("FREQ=MINUTELY;INTERVAL={minutes}"));
    let densest = DAY_SECONDS / 60 / RULE_INSTANCES_PER_DAY_MAX as i64;
    assert_eq!((apart(densest + 1), apart(densest)), (Ok(()), Ok(())));
    assert_eq!(apart(densest - 1), Err(RuleFault::TooDense));
    let steps = |minutes: i64| check(&format!("FREQ=SECONDLY;INTERVAL={minutes};BYHOUR=9;BYMINUTE=0"));
    let smallest = DAY_SECONDS / RULE_STEPS_PER_DAY_MAX;
    assert_eq!((steps(smallest + 1), steps(smallest)), (Ok(()), Ok(())));
    assert_eq!(steps(smallest - 1), Err(RuleFault::TooDense));
    assert_eq!(check("FREQ=SECONDLY;BYHOUR=9;BYMINUTE=0;BYSECOND=0"), Ok(()), "that is daily");
    let mut bench = bench();
    let mut long = |bytes: usize| {
        let rule = "FREQ=DAILY".to_owned();
        let rule = format!("{rule}{}", ";".repeat(bytes - rule.len()));
        tried(&mut bench, map! { "rrule" => rule })
    };
    assert_eq!((long(RULE_BYTES_MAX - 1), long(RULE_BYTES_MAX)), (None, None));
    assert_eq!(long(RULE_BYTES_MAX + 1).as_deref(), Some("calendar/bad-rule"));
}

#[test]
fn a_rule_costs_what_is_looked_at_of_it() {
    let at = Moment::new(1_767_225_600, Zone::Utc);
    let cost = |rule: &str, days: i64| {
        let budget = Budget::default();
        let rule = super::super::parse::parse_rule(rule, &at, &budget).expect("a good rule");
        let before = budget.work_left();
        let window = at.wall_seconds..=at.wall_seconds + days * DAY_SECONDS;
        rule.walk(at.wall_seconds, window, &budget, |_| ControlFlow::Continue(())).expect("a cheap walk");
        before - budget.work_left()
    };
    let rare = "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYDAY=SU";
    assert!(cost(rare, 7) < 1_000 && cost(rare, 365 * 400) < 1_000_000, "{} {}", cost(rare, 7), cost(rare, 365 * 400));
    assert!(cost("FREQ=MINUTELY;INTERVAL=15", 1) < 1_000);
    assert!(cost("FREQ=SECONDLY;BYYEARDAY=-1;BYHOUR=0;BYMINUTE=0;BYSECOND=0", 365) < 10_000);
}

#[test]
fn a_walk_ends_with_its_budget() {
    let at = Moment::new(0, Zone::Utc);
    let rule = super::super::parse::parse_rule("FREQ=HOURLY", &at, &Budget::default()).expect("a good rule");
    let walked = |units: u64| {
        let mut seen = 0;
        let walked = rule.walk(0, 0..=3_600 * 99, &Budget::new(units, 0), |_| {
            seen += 1;
            ControlFlow::Continue(())
        });
        (walked.is_ok(), seen)
    };
    let needed = (0..2_000).find(|units| walked(*units).0).expect("enough");
    assert_eq!(walked(needed), (true, 100));
    assert!(!walked(needed - 1).0 && walked(needed - 1).1 >= 99);
}

/// Rare rules are one call's work, or one call's refusal, however many; every hour, minute and second of a year is never expanded.
#[test]
fn many_rare_rules_and_dense_ones_are_bounded_for_the_call() {
    let every = |most: usize| (0..most).map(|each| each.to_string()).collect::<Vec<_>>().join(",");
    let days: Vec<String> = (1..=366).map(|day| day.to_string()).collect();
    let dense = format!(
        "FREQ=YEARLY;BYYEARDAY={};BYHOUR={};BYMINUTE={};BYSECOND={}",
        days.join(","),
        every(24),
        every(60),
        every(60)
    );
    let at = Moment::new(0, Zone::Utc);
    let budget = Budget::default();
    assert_eq!(super::super::parse::parse_rule(&dense, &at, &budget).map(drop), Err(RuleFault::TooDense));
    let picked = format!("{dense};BYSETPOS=-1,366");
    let rule = super::super::parse::parse_rule(&picked, &at, &budget).expect("two instances a year");
    let mut seen = Vec::new();
    rule.walk(0, 0..=366 * DAY_SECONDS, &budget, |wall| {
        seen.push(wall);
        ControlFlow::Continue(())
    })
    .expect("a cheap walk");
    assert_eq!(seen, [365, 365 * DAY_SECONDS - 1, 365 * DAY_SECONDS + 365]);
    assert!(budget.work_left() > dayshift_engine::CALL_WORK_MAX - 100_000);

    let event = |number: usize| {
        format!(
            "BEGIN:VEVENT\nUID:{number}\nDTSTART:20260101T090000Z\nSUMMARY:x\nRRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYDAY=SU\nEND:VEVENT\n"
        )
    };
    let events: String = (0..300).map(event).collect();
    let mut bench = bench();
    super::import(&mut bench, "rare", &file(&events));
    let search = map! { "text" => "x", "from" => "2031-01-01T00:00:00Z", "until" => "2031-02-01T00:00:00Z" };
    let found = bench.call("calendar.search", search).expect("a search that can be done");
    assert_eq!(super::int(&found, "total"), 0);
    bench.limits = Some((200_000, 1 << 20));
    let search = map! { "text" => "x", "from" => "2031-01-01T00:00:00Z", "until" => "3999-02-01T00:00:00Z" };
    assert_eq!(code(bench.call("calendar.search", search)), "budget/work");
}

#[test]
fn a_range_holds_so_many_instances() {
    let mut bench = bench();
    let more = map! { "rrule" => "FREQ=HOURLY", "zone" => "UTC" };
    create(&mut bench, "ann", "2026-01-01T00:00:00", "2026-01-01T00:30:00", more);
    let mut count = |hours: usize| {
        let until = super::super::moment::show_instant(1_767_225_600 + 3600 * hours as i64, chrono_tz::UTC);
        bench.call("calendar.events", map! { "from" => "2026-01-01T00:00:00Z", "until" => until, "limit" => 1_i64 })
    };
    // Around the range, what may overlap it is looked at too.
    assert!(count(INSTANCES_MAX - 100).is_ok());
    assert_eq!(code(count(INSTANCES_MAX + 1)), "calendar/too-many-instances");
}

#[test]
fn an_event_lasts_so_long() {
    let mut bench = bench();
    let mut lasting = |days: i64| {
        let until = super::super::moment::show_instant(1_773_619_200 + days * DAY_SECONDS, chrono_tz::UTC);
        tried(&mut bench, map! { "start" => "2026-03-16T00:00:00Z", "end" => until })
    };
    assert_eq!((lasting(DURATION_DAYS_MAX - 1), lasting(DURATION_DAYS_MAX)), (None, None));
    assert_eq!(lasting(DURATION_DAYS_MAX + 1).as_deref(), Some("calendar/too-long"));
}

#[test]
fn a_page_shows_so_many() {
    let mut bench = bench();
    let mut page = |limit: usize| {
        let range = map! { "from" => "2026-01-01T00:00:00Z", "until" => "2027-01-01T00:00:00Z", "limit" => limit };
        bench.call("calendar.events", range)
    };
    assert!(page(1).is_ok() && page(PAGE_MAX - 1).is_ok() && page(PAGE_MAX).is_ok());
    assert_eq!((code(page(0)), code(page(PAGE_MAX + 1))), ("calendar/bad-limit".into(), "calendar/bad-limit".into()));
}

#[test]
fn there_are_so_many_calendars() {
    let mut bench = Bench::new(CalendarState::default());
    for number in 0..CALENDARS_MAX {
        super::make(&mut bench, &format!("c{number}"), None);
    }
    assert_eq!(code(bench.call("calendar.make", map! { "calendar" => "one more" })), "calendar/too-many-calendars");
}

#[test]
fn a_calendar_holds_so_many_events() {
    let many = |count: usize| {
        let events: Vec<String> =
            (0..count).map(|uid| format!("BEGIN:VEVENT\nUID:{uid}\nDTSTART:20260316T090000Z\nEND:VEVENT")).collect();
        file(&events.join("\n"))
    };
    assert_eq!(imported(&many(EVENTS_MAX + 1)).as_deref(), Some("calendar/calendar-full"));
    let mut bench = bench();
    super::import(&mut bench, "ann", &many(EVENTS_MAX - 1));
    assert_eq!(tried(&mut bench, map! {}), None);
    assert_eq!(tried(&mut bench, map! {}).as_deref(), Some("calendar/calendar-full"));
}

#[test]
fn a_series_has_so_many_exceptions() {
    let exceptions = |count: usize| {
        let each = |number: usize| {
            let day = super::super::moment::naive(1_767_225_600 + DAY_SECONDS * number as i64).format("%Y%m%d");
            format!("BEGIN:VEVENT\nUID:1\nRECURRENCE-ID:{day}T000000Z\nDTSTART:{day}T120000Z\nEND:VEVENT\n")
        };
        let all: String = (0..count).map(each).collect();
        file(&format!("BEGIN:VEVENT\nUID:1\nDTSTART:20260101T000000Z\nRRULE:FREQ=DAILY\nEND:VEVENT\n{all}"))
    };
    assert_eq!((imported(&exceptions(EXCEPTIONS_MAX - 1)), imported(&exceptions(EXCEPTIONS_MAX))), (None, None));
    assert_eq!(imported(&exceptions(EXCEPTIONS_MAX + 1)).as_deref(), Some("calendar/too-many-exceptions"));
    let mut bench = bench();
    super::import(&mut bench, "ann", &exceptions(EXCEPTIONS_MAX));
    let more = map! { "scope" => "one", "recurrence_id" => "2030-01-01T00:00:00Z", "summary" => "x" };
    assert_eq!(code(act(&mut bench, "calendar.update", "ann", "1", more)), "calendar/too-many-exceptions");
}

#[test]
fn files_and_components_have_their_size() {
    let padded = |bytes: usize| {
        let event = "BEGIN:VEVENT\r\nUID:1\r\nDTSTART:20260316T090000Z\r\nX-PAD:\r\nEND:VEVENT\r\n";
        let pad = "x".repeat(bytes - event.len());
        let event = event.replace("X-PAD:", &format!("X-PAD:{pad}"));
        format!("BEGIN:VCALENDAR\r\n{event}END:VCALENDAR\r\n").into_bytes()
    };
    assert_eq!((imported(&padded(COMPONENT_BYTES_MAX - 1)), imported(&padded(COMPONENT_BYTES_MAX))), (None, None));
    assert_eq!(imported(&padded(COMPONENT_BYTES_MAX + 1)).as_deref(), Some("calendar/event-too-large"));
    let sized = |bytes: usize| {
        let mut file = file("X-A:1");
        file.resize(bytes, b'\n');
        file
    };
    assert_eq!((imported(&sized(FILE_BYTES_MAX - 1)), imported(&sized(FILE_BYTES_MAX))), (None, None));
    assert_eq!(imported(&sized(FILE_BYTES_MAX + 1)).as_deref(), Some("calendar/file-too-large"));
}

#[test]
fn rules_and_dates_of_an_imported_event_are_taken_up_to_their_number() {
    let rules = |count: usize| {
        let mut bench = bench();
        let rules = "RRULE:FREQ=DAILY;COUNT=2\n".repeat(count);
        super::import(
            &mut bench,
            "ann",
            &file(&format!("BEGIN:VEVENT\nUID:1\nDTSTART:20260316T090000Z\n{rules}END:VEVENT")),
        );
        bench
            .service
            .peek_shelf(&"ann".into())
            .expect("a calendar")
            .events
            .peek(&"1".into())
            .expect("it")
            .main()
            .rules
            .len()
    };
    assert_eq!((rules(RULES_MAX - 1), rules(RULES_MAX), rules(RULES_MAX + 1)), (RULES_MAX - 1, RULES_MAX, RULES_MAX));
    let dates = |count: usize| {
        let mut bench = bench();
        let dates = "EXDATE:20260316T090000Z\n".repeat(count);
        super::import(
            &mut bench,
            "ann",
            &file(&format!("BEGIN:VEVENT\nUID:1\nDTSTART:20260316T090000Z\n{dates}END:VEVENT")),
        );
        bench
            .service
            .peek_shelf(&"ann".into())
            .expect("a calendar")
            .events
            .peek(&"1".into())
            .expect("it")
            .main()
            .except_dates
            .len()
    };
    let most = RECURRENCE_DATES_MAX;
    assert_eq!((dates(most - 1), dates(most), dates(most + 1)), (most - 1, most, most));
}

#[test]
fn an_event_without_components_is_a_deletion() {
    let mut bench = bench();
    let uid = create(&mut bench, "ann", "2026-03-16", "2026-03-17", map! {});
    let before = bench.service.graded_digest();
    let event = CalendarEvent::EventSaved { calendar: "ann".into(), uid: uid.clone().into(), components: Vec::new() };
    let actor = dayshift_engine::Actor::World;
    let mut canonical = dayshift_engine::Canonical::default();
    let mut applying = dayshift_engine::Applying::new(bench.seq, bench.time, &actor, None, &mut canonical);
    bench.service.apply_event(event, &mut applying);
    assert_ne!(bench.service.graded_digest(), before);
    assert_eq!(code(act(&mut bench, "calendar.read", "ann", &uid, map! {})), "calendar/unknown-event");
}
