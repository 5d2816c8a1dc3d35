//! Arbitrary bytes as an iCalendar file: refused or taken in, and then given back byte for byte; shown, changed, answered and deleted from. A
//! changed file can be taken in again, with as many events.

#![no_main]

use dayshift_engine::{Value, map};
use dayshift_fuzz::{Bench, run, texts};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    run(|| {
        let mut bench = Bench::new();
        let blob = bench.blob(bytes);
        let arguments = map! { "calendar" => "real", "blob" => blob, "owner" => "ann@acme.example" };
        let Ok(answer) = bench.call("calendar.import", arguments) else { return };
        assert_eq!(bench.calendar("real").as_deref(), Some(bytes), "the bytes stay");
        let events = answer.get("events").and_then(Value::as_int).unwrap_or_default();
        let (from, until) = ("2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z");
        let range = map! { "from" => from, "until" => until };
        let _ = bench.call("calendar.events", range.clone());
        let _ = bench.call("calendar.conflicts", range);
        let mine = map! { "from" => from, "until" => until, "who" => vec!["ann@acme.example"] };
        let _ = bench.call("calendar.free_busy", mine);
        let all = bench.ask("calendar.find", &map! { "calendar" => "real", "text" => "" }).expect("a good question");
        let uids = texts(Some(&all), "uid");
        assert_eq!(uids.len() as i64, events, "all events are found");
        for (number, uid) in uids.iter().take(3).enumerate() {
            let about = |more: Value| {
                let mut arguments = map! { "calendar" => "real", "uid" => uid.as_str() };
                if let (Value::Map(arguments), Value::Map(more)) = (&mut arguments, more) {
                    arguments.extend(more);
                }
                arguments
            };
            let shown = bench.call("calendar.read", about(map! {})).expect("a listed event is there");
            let start = shown.get("start").cloned().unwrap_or(Value::Null);
            let changed = map! { "scope" => "all", "summary" => "Changed, and; how\\", "location" => "Room 1" };
            let _ = bench.call("calendar.update", about(changed));
            let _ = bench.call("calendar.respond", about(map! { "answer" => "accepted" }));
            let one = map! { "scope" => "one", "recurrence_id" => start.clone(), "description" => "Only this one" };
            let _ = bench.call("calendar.update", about(one));
            let moved = map! {
                "scope" => "following", "recurrence_id" => start.clone(),
                "start" => "2026-04-01T10:00:00+02:00", "end" => "2026-04-01T11:00:00+02:00",
            };
            let _ = bench.call("calendar.update", about(moved));
            if number == 1 {
                let _ = bench.call("calendar.delete", about(map! { "scope" => "one", "recurrence_id" => start }));
            }
        }
        let left = bench.ask("calendar.find", &map! { "calendar" => "real", "text" => "" }).expect("a good question");
        let written = bench.calendar("real").expect("the calendar is there");
        let blob = bench.blob(&written);
        let again = bench
            .call("calendar.import", map! { "calendar" => "again", "blob" => blob })
            .expect("what was written can be taken in");
        let count = left.as_list().map_or(0, <[_]>::len) as i64;
        assert_eq!(again.get("events").and_then(Value::as_int), Some(count), "nothing is lost on the way out and in");
    });
});
