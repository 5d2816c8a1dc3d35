//! Our expansion against that of others: Python's dateutil for rules alone, recurring-ical-events for whole events, on generated rules across changes
//! of the clocks. `cargo xtask python` installs them; without them the test fails in continuous integration and says so elsewhere.

use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use dayshift_engine::{Budget, RandomStream, Seed};
use serde_json as json;

use super::super::moment::{naive, parse_naive};
use super::super::parse::{parse, parse_rule};
use super::super::series::{Series, Span};
use super::super::source::{PieceKind, split};
use super::super::zones::Zones;
use super::super::{Moment, Zone};

/// How many rules are compared.
const CASES: u64 = 1_200;
const SEED: u64 = 5545;
const ZONES: [&str; 9] = [
    "Europe/Berlin",
    "America/New_York",
    "Australia/Sydney",
    "Australia/Lord_Howe",
    "America/St_Johns",
    "Asia/Kolkata",
    "UTC",
    "floating",
    "date",
];
const DAYS: [&str; 7] = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];

/// One generated event and the range that is asked for.
struct Case {
    file: String,
    rule: String,
    start: String,
    from: String,
    until: String,
}

#[test]
fn expansion_agrees_with_python() {
    let Some(python) = python() else { return };
    let cases: Vec<Case> = (0..CASES).map(case).collect();
    let answers = ask(&python, &cases);
    assert_eq!(answers.len(), cases.len(), "Python answers every case");
    let mut instances = 0;
    let mut differing = Vec::new();
    for (number, (case, answer)) in cases.iter().zip(&answers).enumerate() {
        let (ours, theirs) = (expand(case), pairs(&answer["instances"]));
        instances += theirs.len();
        if ours != theirs {
            differing.push(format!("case {number}\n{}\nours   {ours:?}\ntheirs {theirs:?}", describe(case)));
        }
        let (ours, theirs) = (count(case), texts(&answer["rule"]));
        if ours != theirs {
            differing.push(format!("rule of case {number}\n{}\nours   {ours:?}\ntheirs {theirs:?}", describe(case)));
        }
    }
    let shown = differing.iter().take(40).cloned().collect::<Vec<_>>().join("\n\n");
    assert!(differing.is_empty(), "{} of {CASES} cases of seed {SEED} differ:\n{shown}", differing.len());
    assert!(instances > 10_000, "the ranges hold instances to compare: {instances}");
}

/// The calendars with which Python's packages test themselves: 200 and more, written by many programs, some of them broken on purpose.
#[test]
fn files_of_other_programs_come_out_as_they_went_in() {
    let Some(python) = python() else { return };
    let script = "import icalendar, recurring_ical_events, pathlib\nfor package in (icalendar, recurring_ical_events):\n    for path in sorted(pathlib.Path(package.__file__).parent.rglob('*.ics')): print(path)";
    let output = Command::new(python).args(["-c", script]).output().expect("Python runs");
    let paths = String::from_utf8(output.stdout).expect("paths are text");
    let mut events = 0;
    let mut kept = 0;
    for path in paths.lines() {
        let source = std::fs::read(path).expect("a file that is there");
        if split(&source).is_err() {
            continue;
        }
        kept += 1;
        let mut bench = super::bench();
        let answer = super::import(&mut bench, "real", &source);
        events += super::int(&answer, "events");
        assert!(super::export(&bench, "real") == source, "{path} comes out otherwise");
        let shown = bench.ask("events", dayshift_engine::map! { "calendar" => "real" }).expect("a good question");
        for event in shown.as_list().expect("a list") {
            let uid = super::text(event, "uid").to_owned();
            let more = dayshift_engine::map! { "scope" => "all", "summary" => "Changed" };
            super::act(&mut bench, "calendar.update", "real", &uid, more)
                .unwrap_or_else(|refusal| panic!("{path}: {refusal}"));
        }
        let again = super::export(&bench, "real");
        let answer = super::import(&mut bench, "again", &again);
        assert_eq!(super::int(&answer, "events"), shown.as_list().map_or(0, <[_]>::len) as i64, "{path}");
    }
    assert!(kept >= 100 && events >= 200, "{kept} files with {events} events");
}

/// Returns a Python that has the packages, or nothing outside of continuous integration.
fn python() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let candidates = [root.join("target/venv/bin/python"), PathBuf::from("python3")];
    let can = |python: &PathBuf| {
        let mut command = Command::new(python);
        command.args(["-c", "import dateutil, icalendar, recurring_ical_events"]).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let found = candidates.into_iter().find(can);
    #[expect(clippy::disallowed_methods, reason = "a test asks where it runs")]
    let is_ci = std::env::var("CI").is_ok() || std::env::var("DAYSHIFT_CI").is_ok();
    assert!(found.is_some() || !is_ci, "Python's packages are missing; run `cargo xtask python`");
    if found.is_none() {
        eprintln!("not compared with Python, whose packages are missing; run `cargo xtask python`");
    }
    found
}

fn ask(python: &Path, cases: &[Case]) -> Vec<json::Value> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/python/recurrence.py");
    let mut child =
        Command::new(python).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("Python starts");
    let lines: String = cases
        .iter()
        .enumerate()
        .map(|(id, case)| {
            let line = json::json!({
                "id": id, "file": case.file, "rule": case.rule, "start": case.start, "from": case.from, "until": case.until,
            });
            format!("{line}\n")
        })
        .collect();
    let mut input = child.stdin.take().expect("a pipe");
    // Python answers line by line: write from a file's worth at once would fill both pipes.
    std::thread::scope(|scope| {
        scope.spawn(move || input.write_all(lines.as_bytes()).expect("Python reads"));
        let output = child.wait_with_output().expect("Python ends");
        assert!(output.status.success(), "Python failed");
        let text = String::from_utf8(output.stdout).expect("JSON is text");
        text.lines().map(|line| json::from_str(line).expect("JSON")).collect()
    })
}

fn expand(case: &Case) -> Vec<(String, String)> {
    let file = split(case.file.as_bytes()).expect("a file");
    let (_, bytes) = file.pieces.iter().find(|(kind, _)| *kind == PieceKind::Event).expect("an event");
    let content = dayshift_engine::Content::Inline((*bytes).into());
    let (_, component) = parse(bytes, content, &Zones::default(), &Budget::default())
        .expect("a cheap event")
        .expect("an event that can be read");
    let span = Span { from: wall(&case.from), until: wall(&case.until), local: chrono_tz::UTC };
    // As it came in at the begin of the range, so that what is known then and what is counted anew are both compared.
    let now = if span.from % 2 == 0 { span.from } else { i64::MIN / 4 };
    let series = Series::new(vec![component], now);
    let found = series.within(span, &Budget::default()).expect("not too many");
    let mut shown: Vec<(String, String)> =
        found.iter().map(|each| (text(each.start_instant), text(each.end_instant))).collect();
    shown.sort();
    shown
}

/// Returns what the rule alone gives in the range, on the wall.
fn count(case: &Case) -> Vec<String> {
    let start = wall(&case.start);
    let Ok(rule) = parse_rule(&case.rule, &Moment::new(start, Zone::Floating), &Budget::default()) else {
        return Vec::new();
    };
    let (from, until) = (wall(&case.from), wall(&case.until));
    let mut found = Vec::new();
    rule.walk(start, from..=i64::MAX, &Budget::default(), |at| {
        if at > until {
            return ControlFlow::Break(());
        }
        if at >= from {
            found.push(text(at));
        }
        ControlFlow::Continue(())
    })
    .expect("a checked rule");
    found
}

/// Generates case `number`.
fn case(number: u64) -> Case {
    let mut random = Seed::new(SEED).stream(&format!("rule/{number}"));
    let random = &mut random;
    let zone = *random.choose(&ZONES).expect("a zone");
    let year = 2015 + random.below(10) as i64;
    let hours = ["00:00:00", "01:30:00", "02:00:00", "02:30:00", "03:00:00", "09:00:00", "17:45:10", "23:30:00"];
    let time = if zone == "date" { "00:00:00" } else { random.choose(&hours).expect("an hour") };
    let day = format!("{year}-{:02}-{:02}", 1 + random.below(12), 1 + random.below(28));
    let start = wall(&format!("{day}T{time}"));
    let plain = rule(random, zone == "date");
    let until = random.below(3) == 0 && !plain.contains("COUNT");
    let until = until.then(|| start + 86_400 * (1 + random.below(2_000) as i64));
    let write = |wall: i64| match zone {
        "date" => format!(";VALUE=DATE:{}", naive(wall).format("%Y%m%d")),
        "UTC" => format!(":{}", naive(wall).format("%Y%m%dT%H%M%SZ")),
        "floating" => format!(":{}", naive(wall).format("%Y%m%dT%H%M%S")),
        zone => format!(";TZID={zone}:{}", naive(wall).format("%Y%m%dT%H%M%S")),
    };
    let mut lines = vec!["BEGIN:VEVENT".to_owned(), "UID:1".to_owned(), format!("DTSTART{}", write(start))];
    let lasts = match (zone, random.below(4)) {
        ("date", _) => 86_400 * (1 + random.below(3) as i64),
        (_, 0) => 60 * (1 + random.below(60) as i64),
        (_, 1) => 3_600 * (20 + random.below(10) as i64),
        _ => 3_600,
    };
    lines.push(format!("DTEND{}", write(start + lasts)));
    let ending = until.map(|until| match zone {
        "date" => format!(";UNTIL={}", naive(until).format("%Y%m%d")),
        "floating" => format!(";UNTIL={}", naive(until).format("%Y%m%dT%H%M%S")),
        _ => format!(";UNTIL={}", naive(until).format("%Y%m%dT%H%M%SZ")),
    });
    lines.push(format!("RRULE:{plain}{}", ending.unwrap_or_default()));
    for name in ["EXDATE", "RDATE"] {
        for _ in 0..random.below(3) {
            lines.push(format!("{name}{}", write(start + 86_400 * random.below(60) as i64)));
        }
    }
    lines.push("END:VEVENT".to_owned());
    // Python counts from the start, so what repeats within a day is looked at soon after it.
    let is_dense = plain.starts_with("FREQ=MINUTELY") || plain.starts_with("FREQ=HOURLY");
    let (after_days, days) = if is_dense { (200, 40) } else { (1_500, 240) };
    let from = start - 86_400 * 30 + 86_400 * random.below(after_days) as i64 + 17 + random.below(2) as i64;
    Case {
        file: format!(
            "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//T//EN\r\n{}\r\nEND:VCALENDAR\r\n",
            lines.join("\r\n")
        ),
        rule: plain,
        start: text(start),
        from: text(from),
        until: text(from + 86_400 * (1 + random.below(days) as i64)),
    }
}

/// Generates a rule that RFC 5545 allows.
fn rule(random: &mut RandomStream, is_date: bool) -> String {
    let frequencies = ["DAILY", "WEEKLY", "WEEKLY", "MONTHLY", "MONTHLY", "YEARLY", "YEARLY", "HOURLY", "MINUTELY"];
    let every = *random.choose(&frequencies[..frequencies.len() - if is_date { 2 } else { 0 }]).expect("a frequency");
    let mut parts = vec![format!("FREQ={every}")];
    let interval = match every {
        "MINUTELY" => 20 + random.below(2_000),
        "HOURLY" => 1 + random.below(50),
        _ => 1 + random.below(4),
    };
    if interval > 1 {
        parts.push(format!("INTERVAL={interval}"));
    }
    let has_months = random.below(4) == 0;
    if has_months {
        parts.push(format!("BYMONTH={}", numbers(random, 3, 1, 12)));
    }
    let mut is_set = has_months;
    match (every, random.below(6)) {
        ("YEARLY", 0) => parts.push(format!("BYWEEKNO={}", signed(random, 3, 53))),
        ("YEARLY", 1) => parts.push(format!("BYYEARDAY={}", signed(random, 4, 366))),
        ("YEARLY" | "MONTHLY", 2) => parts.push(format!("BYMONTHDAY={}", signed(random, 4, 31))),
        ("YEARLY", 3) => parts.push(format!("BYDAY={}", days(random, if has_months { 5 } else { 53 }))),
        ("MONTHLY", 3 | 4) => parts.push(format!("BYDAY={}", days(random, 5))),
        ("YEARLY", 4) => parts.push(format!("BYDAY={}", days(random, 0))),
        ("MONTHLY", 1) => parts.push(format!("BYDAY={};BYMONTHDAY={}", days(random, 0), signed(random, 5, 31))),
        ("WEEKLY", 0..=3) => parts.push(format!("BYDAY={}", days(random, 0))),
        ("DAILY" | "HOURLY", 0) => parts.push(format!("BYDAY={}", days(random, 0))),
        ("DAILY" | "HOURLY" | "MINUTELY", 1) => parts.push(format!("BYMONTHDAY={}", signed(random, 5, 31))),
        ("HOURLY" | "MINUTELY", 2) => parts.push(format!("BYHOUR={}", numbers(random, 4, 0, 23))),
        _ => is_set = false,
    }
    is_set |= parts.iter().any(|part| part.starts_with("BYDAY") || part.starts_with("BYMONTHDAY"));
    if !is_date && matches!(every, "DAILY" | "WEEKLY" | "MONTHLY" | "YEARLY") && random.below(5) == 0 {
        parts.push(format!("BYHOUR={}", numbers(random, 3, 0, 23)));
        if random.below(2) == 0 {
            parts.push(format!("BYMINUTE={}", numbers(random, 2, 0, 59)));
        }
    }
    if is_set && matches!(every, "MONTHLY" | "YEARLY") && random.below(3) == 0 {
        parts.push(format!("BYSETPOS={}", signed(random, 2, 4)));
    }
    if random.below(4) == 0 {
        parts.push(format!("WKST={}", random.choose(&DAYS).expect("a day")));
    }
    if random.below(4) == 0 {
        parts.push(format!("COUNT={}", 1 + random.below(300)));
    }
    parts.join(";")
}

fn numbers(random: &mut RandomStream, most: u64, low: u64, high: u64) -> String {
    let picked: Vec<String> =
        (0..1 + random.below(most)).map(|_| (low + random.below(high - low + 1)).to_string()).collect();
    picked.join(",")
}

fn signed(random: &mut RandomStream, most: u64, high: u64) -> String {
    let mut one = || {
        let number = 1 + random.below(high) as i64;
        if random.below(3) == 0 { -number } else { number }.to_string()
    };
    let picked: Vec<String> = (0..most).map(|_| one()).collect();
    picked.join(",")
}

fn days(random: &mut RandomStream, ordinal: u64) -> String {
    let picked: Vec<String> = (0..1 + random.below(3))
        .map(|_| {
            let day = *random.choose(&DAYS).expect("a day");
            if ordinal > 0 { format!("{}{day}", signed(random, 1, ordinal)) } else { day.to_owned() }
        })
        .collect();
    picked.join(",")
}

fn wall(text: &str) -> i64 {
    parse_naive(text).unwrap_or_else(|| panic!("a bad time {text}"))
}

fn text(seconds: i64) -> String {
    naive(seconds).format("%Y-%m-%dT%H:%M:%S").to_string()
}

fn texts(value: &json::Value) -> Vec<String> {
    let items = value.as_array().expect("a list").iter();
    items.map(|item| item.as_str().expect("text").to_owned()).collect()
}

fn pairs(value: &json::Value) -> Vec<(String, String)> {
    let items = value.as_array().expect("a list").iter();
    items.map(texts).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
}

fn describe(case: &Case) -> String {
    format!("{}from {} until {}", case.file, case.from, case.until)
}
