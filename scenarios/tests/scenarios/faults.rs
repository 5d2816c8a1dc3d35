//! Every fault of a package is named with file, line and remedy, and nothing panics.

use std::fs;

use dayshift_engine::{Frame, Seed, Value};
use dayshift_scenarios::{Package, Problem, Scenario};
use proptest::prelude::*;

use crate::toy::{CHECKS, Toy, VOCABULARY, YAML, blobs, load, package};

/// Returns the problems of the scenario with `from` replaced by `to` in its scenario.yaml.
fn problems(from: &str, to: &str) -> Vec<Problem> {
    assert!(YAML.contains(from), "{from}");
    load(&[("scenario.yaml", &YAML.replacen(from, to, 1))]).map(|_| ()).expect_err("a fault")
}

/// Makes sure that the replacement gives a problem with `rule`, on the line where it stands, that says all of `words`.
#[track_caller]
fn expect(from: &str, to: &str, rule: &str, words: &[&str]) {
    let found = problems(from, to);
    let Some(problem) = found.iter().find(|problem| problem.rule == rule) else { panic!("no {rule} in {found:#?}") };
    let shown = problem.to_string();
    assert!(words.iter().all(|word| shown.contains(word)), "{shown}");
    assert_eq!(problem.file, "scenario.yaml");
    assert!(problem.line.is_some(), "{shown}");
}

#[test]
fn malformed_yaml_names_the_line() {
    expect("title: A toy", "title: [A toy", "yaml/malformed", &["scenario.yaml:"]);
    expect("title: A toy", "title: A\ntitle: B", "yaml/malformed", &["title"]);
}

#[test]
fn an_unknown_key_names_the_one_that_was_meant() {
    expect("title: A toy", "tilte: A toy", "scenario/unknown-key", &["scenario.yaml:2:1", "did you mean 'title'?"]);
    expect("silent}", "silent}\nclokc: staged", "scenario/unknown-key", &["did you mean 'clock'?"]);
    expect("weight: 2", "wieght: 2", "scenario/unknown-key", &["did you mean 'weight'?"]);
}

#[test]
fn a_missing_key_is_named() {
    expect("request: Set the total.\n", "", "scenario/missing-key", &["'request'"]);
}

#[test]
fn several_faults_are_all_told() {
    let text = YAML.replace("title: A toy", "tilte: A toy").replace("weight: 2", "weight: two");
    let found = load(&[("scenario.yaml", &text)]).map(|_| ()).expect_err("faults");
    let rules: Vec<&str> = found.iter().map(|problem| problem.rule).collect();
    assert_eq!(rules, ["scenario/unknown-key", "scenario/wrong-type", "scenario/missing-key"]);
}

#[test]
fn names_that_stand_for_nothing_are_refused_where_they_stand() {
    expect("id: toy-v1", "id: toy", "scenario/bad-id", &["'toy'", "-v1"]);
    expect("id: toy-v1", "id: boy-v1", "scenario/bad-id", &["folder"]);
    expect("Europe/Berlin", "Europe/Berlni", "scenario/bad-zone", &["IANA"]);
    expect("at: tue 10:00", "at: wed 08:00", "scenario/bad-time", &["no day 'wed'", "mon, tue"]);
    expect("at: tue 10:00", "at: tue 25:00", "scenario/bad-time", &["25:00"]);
    expect("moment: end of mon", "moment: end of sun", "scenario/unknown-day", &["mon, tue"]);
    expect("as: ben", "as: bne", "scenario/unknown-person", &["did you mean 'ben'?"]);
    expect("delay: 30 min", "delay: soon", "scenario/bad-duration", &["2h"]);
    expect("when: total_is_set", "when: total_was_set", "scenario/unknown-function", &["did you mean 'total_is_set'?"]);
    expect("requirement: quiet", "requirement: quite", "scenario/unknown-requirement", &["did you mean 'quiet'?"]);
    expect("id: no-shout", "id: no-cry", "scenario/unknown-function", &["no_cry"]);
    expect("kv.set: {key: price, value: 12}", "kv.sett: {key: a}", "scenario/bad-call", &["did you mean 'kv.set'?"]);
    expect("kv.set: {key: price, value: 12}", "kv.set: {key: a}", "scenario/bad-call", &["value"]);
    expect("{{seen.key}}", "{{saw.key}}", "scenario/bad-reference", &["saw.key"]);
    expect("personas/ben.star", "personas/bob.star", "scenario/missing-file", &["personas/bob.star"]);
    expect("personas/ben.star", "../ben.star", "scenario/climbs-out", &["../ben.star"]);
    expect("red_line: 0.3", "red_line: 3", "scenario/out-of-range", &["0 to 1"]);
}

#[test]
fn a_check_without_requirement_is_refused() {
    expect(", requirement: quiet", "", "scenario/missing-key", &["'requirement'"]);
}

#[test]
fn an_event_file_that_is_missing_or_climbs_out_is_refused() {
    let call = "kv.set: {key: price, value: 12}";
    expect(call, "files.import: {path: /a, from: inject/a.txt}", "scenario/missing-file", &["inject/a.txt"]);
    expect(call, "files.import: {path: /a, from: inject/../../a}", "scenario/climbs-out", &["climbs out"]);
}

#[test]
fn an_event_file_becomes_its_blob() {
    let text = YAML.replace("kv.set: {key: price, value: 12}", "files.import: {path: /a, from: inject/a.txt}");
    let scenario = load(&[("scenario.yaml", &text), ("inject/a.txt", "x")]).expect("loads");
    let script = scenario.script();
    let arguments = &script.plan().events[0].commands[0].call.arguments;
    assert_eq!(arguments.get("blob").and_then(Value::as_text).map(str::len), Some(64));
    assert_eq!(arguments.get("from"), None);
}

#[test]
fn events_that_wait_for_one_another_are_refused() {
    let text = YAML.replace("when: total_is_set\n    deadline: tue 16:00", "after: thanks");
    let found = load(&[("scenario.yaml", &text)]).map(|_| ()).expect_err("a circle");
    assert!(
        found.iter().any(|p| p.rule == "scenario/bad-timeline" && p.message.contains("wait for one another")),
        "{found:?}"
    );
}

#[test]
fn an_event_that_can_never_happen_is_refused() {
    expect("at: tue 10:00", "at: 2027-01-01 08:00", "scenario/bad-timeline", &["can never happen"]);
}

#[test]
fn an_event_says_when_exactly_once() {
    expect("    at: tue 10:00\n", "", "scenario/bad-event", &["does not say when"]);
    expect("at: tue 10:00", "at: tue 10:00\n    after: seen", "scenario/bad-event", &["twice"]);
}

#[test]
fn a_fault_of_a_script_names_its_line() {
    let found = load(&[("checks.star", &CHECKS.replace("return kv.get(\"total\") == 42", "return nothing"))]);
    let found = found.map(|_| ()).expect_err("a fault");
    let shown = found[0].to_string();
    assert!(shown.starts_with("checks.star:6:1: ") && shown.contains("nothing"), "{shown}");
}

#[test]
fn a_solution_with_an_unknown_day_or_check_is_refused() {
    let found =
        load(&[("solutions/bad.yaml", "fails: [total-wrong]\ndays: {mno: []}\n")]).map(|_| ()).expect_err("faults");
    let rules: Vec<&str> = found.iter().map(|problem| problem.rule).collect();
    assert_eq!(rules, ["solution/unknown-check", "solution/unknown-day"]);
}

#[test]
fn what_a_service_refuses_at_the_start_names_the_file() {
    let scenario = load(&[]).expect("loads");
    let empty = Package::from_files("toy-v1", [("scenario.yaml", YAML.as_bytes())]).expect("good paths");
    assert!(Scenario::<Toy>::load_with(empty, &VOCABULARY).is_err());
    assert!(scenario.prefix(Toy::new(), &blobs()).is_ok());
}

#[test]
fn paths_that_climb_out_are_no_paths_of_a_package() {
    for path in ["../a", "a/../../b", "/a", "a//b", "a/./b", "", "a\\b", "a\nb"] {
        let found = Package::from_files("x-v1", [(path, b"x".as_slice())]).expect_err(path);
        assert_eq!(found[0].rule, "package/bad-path", "{path:?}");
    }
}

#[test]
fn a_folder_is_read_and_a_link_that_leads_out_is_refused() {
    let outside = tempfile::tempdir().expect("a folder");
    fs::write(outside.path().join("secret"), "s").expect("written");
    let root = tempfile::tempdir().expect("a folder");
    let folder = root.path().join("toy-v1");
    fs::create_dir_all(folder.join("world/files")).expect("made");
    fs::write(folder.join("scenario.yaml"), YAML).expect("written");
    fs::write(folder.join(".hidden"), "h").expect("written");
    let read = Package::from_directory(&folder).expect("reads");
    assert_eq!(read.below("").map(|(path, _)| path.as_str()).collect::<Vec<_>>(), ["scenario.yaml"]);
    std::os::unix::fs::symlink(outside.path().join("secret"), folder.join("world/files/s")).expect("linked");
    let found = Package::from_directory(&folder).expect_err("leads out");
    assert_eq!((found[0].rule, found[0].file.as_str()), ("package/climbs-out", "world/files/s"));
}

#[test]
fn a_folder_that_is_not_there_says_so() {
    let found = Package::from_directory(std::path::Path::new("no/such/folder-v1")).expect_err("nothing there");
    assert_eq!(found[0].rule, "package/unreadable");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_change_of_a_package_makes_the_loader_panic(at in 0..YAML.len(), junk in "[ -~\n]{0,12}", cut in 0_usize..40) {
        let end = (at + cut).min(YAML.len());
        if YAML.is_char_boundary(at) && YAML.is_char_boundary(end) {
            let text = format!("{}{junk}{}", &YAML[..at], &YAML[end..]);
            if let Err(found) = load(&[("scenario.yaml", &text)]) {
                prop_assert!(!found.is_empty());
            }
        }
    }

    #[test]
    fn no_bytes_make_the_yaml_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let package = package(&[]).with_file("scenario.yaml", bytes).expect("a good path");
        prop_assert!(Scenario::<Toy>::load_with(package, &VOCABULARY).is_err());
    }

    #[test]
    fn no_change_of_the_checks_makes_the_loader_panic(at in 0..CHECKS.len(), junk in "[ -~\n]{0,12}") {
        let text = format!("{}{junk}{}", &CHECKS[..at], &CHECKS[at..]);
        let _ = load(&[("checks.star", &text)]);
    }
}

#[test]
fn a_level_that_is_none_is_refused_by_name() {
    let scenario = load(&[("checks.star", &CHECKS.replace("== 42", "and 'yes'"))]).expect("loads");
    let blobs = blobs();
    let prefix = scenario.prefix(Toy::new(), &blobs).expect("laid out");
    let (mut episode, _) =
        dayshift_engine::Episode::open(&prefix, Seed::new(1), scenario.script(), blobs).expect("opened");
    let set = dayshift_engine::ToolCall::new("kv.set", dayshift_engine::map! { "key" => "total", "value" => 1_i64 });
    episode.call(set).expect("called");
    let frame = Frame::new();
    let error = scenario.checks().level(0, &episode.scene(&frame)).expect_err("no level").to_string();
    assert!(error.starts_with("total-right: checks.star") && error.contains("number from 0 to 1"), "{error}");
}

#[test]
fn a_weight_with_which_no_score_can_be_told_is_refused() {
    for weight in ["1e308", "1000001", "1e-7", "5e-324", "-1", ".nan", ".inf", "-.inf"] {
        let found = problems("weight: 2", &format!("weight: {weight}"));
        assert!(
            found.iter().any(|problem| ["scenario/bad-weight", "yaml/malformed"].contains(&problem.rule)),
            "{weight}: {found:?}"
        );
    }
    for weight in ["0", "0.000001", "1000000", "1e6"] {
        assert!(
            load(&[("scenario.yaml", &YAML.replacen("weight: 2", &format!("weight: {weight}"), 1))]).is_ok(),
            "{weight}"
        );
    }
}

#[test]
fn a_time_that_no_calendar_reaches_is_refused() {
    for epoch in
        ["+262142-12-31 23:59", "-262143-01-01 00:00", "9999-12-31T23:59:59Z", "0001-01-01 08:00", "1899-12-31 23:00"]
    {
        expect("epoch: 2026-03-16 08:00", &format!("epoch: \"{epoch}\""), "scenario/bad-time", &["out of range"]);
    }
    for (from, to) in [
        (
            "opens: 09:00, ends: 17:00, notification: Set",
            "opens: \"+262142-12-31 23:59\", ends: 17:00, notification: Set",
        ),
        ("closes: tue + 12h", "closes: 9001-01-01 00:00"),
        ("at: tue 10:00", "at: \"9999-12-31T23:59:59-12:00\""),
    ] {
        expect(from, to, "scenario/bad-time", &["out of range"]);
    }
}

#[test]
fn many_faults_and_long_words_end_soon_and_in_few_words() {
    let keys: String = (0..200_000).map(|number| format!("key-{number}: 1\n")).collect();
    let long = format!("{}: 1\n", "k".repeat(1 << 20));
    let names: String =
        (0..900).map(|number| format!("  - {{name: {}, opens: 09:00}}\n", "n".repeat(4000 + number))).collect();
    for text in [
        format!("{YAML}{keys}"),
        format!("{YAML}{long}"),
        YAML.replacen("closes:", &format!("more:\n{names}closes:"), 1),
    ] {
        let found = load(&[("scenario.yaml", &text)]).map(drop).expect_err("faults");
        assert!(found.len() <= 101, "{}", found.len());
        assert!(found.iter().all(|problem| problem.to_string().len() < 8000));
    }
}
