//! Calendars of other programs: taken in as a scenario's are, read, changed and added to through the tools, and given back. Python's icalendar package
//! reads what came of it. What "the rest is unchanged" means: every content line but SUMMARY, SEQUENCE, DTSTAMP and LAST-MODIFIED of the changed event
//! is as it was and where it was, and the package finds the same components, properties (unknown ones too), parameters and alarms.

use std::path::Path;

use dayshift_engine::{Value, map};
use dayshift_tests::{Bench, Material, Specimen, faults};
use serde_json::json;

const SUMMARY: &str = "Changed, by; Dayshift \\ Grüße";
const DESCRIPTION: &str = "Two lines,\nand a long second one; long enough to be folded, with Grüße and 你好 in it.";

#[test]
fn calendars_of_other_programs_survive() {
    let material = Material::find();
    let mut specimens = material.committed("calendars", &[".ics"]);
    let committed = specimens.len();
    specimens.extend(material.package("icalendar", &[".ics"]));
    specimens.extend(material.package("recurring_ical_events", &[".ics"]));
    // Every tenth: the parser's own material is mostly made by a fuzzer, and the service's tests try what is like it.
    specimens.extend(material.crated("calcard", "resources/ical", &[".ics"]).into_iter().step_by(10));
    eprintln!("{} calendars, {committed} of them committed", specimens.len());
    assert!(committed >= 9 && specimens.len() >= committed + 80, "material is missing");
    let folder = tempfile::tempdir().expect("a folder");
    let mut refused = Vec::new();
    let mut cases = Vec::new();
    for (number, specimen) in specimens.iter().enumerate() {
        match treat(specimen, &folder.path().join(number.to_string())) {
            Ok(case) => cases.push(case),
            Err(refusal) => refused.push(format!("{}: {refusal}", specimen.name)),
        }
    }
    let changed = cases.iter().filter(|case| case["after"].is_string()).count();
    let answers = material.read_back("foreign_calendar.py", &cases);
    let understood = answers.iter().filter(|answer| answer["understood"] == true).count();
    eprintln!("{changed} changed, {} refused; Python understands {understood}", refused.len());
    let faults = faults(&answers);
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    assert!(changed >= specimens.len() / 2, "only {changed} of {} could be changed", specimens.len());
    assert!(refused.iter().all(|line| line.contains("BEGIN:VCALENDAR")), "{}", refused.join("\n"));
    assert!(!material.is_complete() || understood >= cases.len() / 2, "Python understands only {understood}");
}

/// Does to one calendar what an agent would, and returns what Python is to look at, or why the file was refused.
fn treat(specimen: &Specimen, folder: &Path) -> Result<serde_json::Value, dayshift_engine::Rejection> {
    let Specimen { name, bytes } = specimen;
    let mut bench = Bench::new();
    let blob = bench.blob(bytes);
    let answer = bench.call("calendar.import", map! { "calendar" => "real", "blob" => blob })?;
    assert!(bench.calendar("real").as_ref() == Some(bytes), "{name}: an untouched calendar comes out otherwise");
    std::fs::create_dir_all(folder).expect("a folder");
    let keep = |file: &str, bytes: &[u8]| {
        let path = folder.join(file);
        std::fs::write(&path, bytes).expect("a file can be written");
        path.to_string_lossy().into_owned()
    };
    let mut case = json!({ "name": name, "before": keep("before.ics", bytes), "summary": SUMMARY });

    let all = bench.ask("calendar.find", &map! { "calendar" => "real", "text" => "" }).expect("a good question");
    let uids: Vec<_> = all.as_list().unwrap_or_default().iter().filter_map(|event| event.get("uid")).collect();
    let events = answer.get("events").and_then(Value::as_int).unwrap_or_default();
    assert_eq!(uids.len() as i64, events, "{name}: all events are found");
    if let Some(uid) = uids.iter().filter_map(|uid| uid.as_text()).find(|uid| !uid.contains("@dayshift")) {
        let about = map! { "calendar" => "real", "uid" => uid };
        bench.call("calendar.read", about).unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
        let change = map! { "calendar" => "real", "uid" => uid, "scope" => "all", "summary" => SUMMARY };
        bench.call("calendar.update", change).unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
        case["uid"] = uid.into();
        case["after"] = keep("after.ics", &bench.calendar("real").expect("it is there")).into();
        let made = map! {
            "calendar" => "real", "summary" => "Made here", "start" => "2026-03-18T10:00:00", "end" => "2026-03-18T11:00:00",
            "zone" => "Europe/Berlin", "description" => DESCRIPTION, "rrule" => "FREQ=WEEKLY;COUNT=3",
        };
        let made = bench.call("calendar.create", made).unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
        case["made_uid"] = made.get("uid").and_then(Value::as_text).unwrap_or_default().into();
        case["made_summary"] = "Made here".into();
        case["made_description"] = DESCRIPTION.into();
        case["made"] = keep("made.ics", &bench.calendar("real").expect("it is there")).into();
    }
    Ok(case)
}

#[test]
fn damaged_calendars_are_refused_in_words_or_kept_as_they_are() {
    let specimens = Material::find().committed("calendars", &[".ics"]);
    let mut kept = 0;
    for specimen in &specimens {
        for bytes in specimen.damaged() {
            let mut bench = Bench::new();
            let blob = bench.blob(&bytes);
            match bench.call("calendar.import", map! { "calendar" => "real", "blob" => blob }) {
                Ok(_) => {
                    kept += 1;
                    let file = bench.calendar("real");
                    assert!(file.as_ref() == Some(&bytes), "{}: the bytes stay", specimen.name);
                    let year = map! { "from" => "2026-01-01T00:00:00Z", "until" => "2027-01-01T00:00:00Z" };
                    bench
                        .call("calendar.events", year)
                        .unwrap_or_else(|refusal| panic!("{}: {refusal}", specimen.name));
                }
                Err(refusal) => assert_eq!(refusal.code, "calendar/bad-file", "{}: {refusal}", specimen.name),
            }
        }
    }
    assert!(kept > specimens.len() * 6, "only {kept} were kept");
}
