//! The shell from end to end: a scenario turns it on, a solution runs commands, and the log is replayed where there is no bubblewrap.

use std::path::Path;
use std::process::{Command, Output};

const SCENARIO: &str = r#"id: shell-v1
title: A shell
request: Add the numbers up.
requirements: [{id: sum, text: The sum stands in /sum.txt.}]
agent: {name: ann, address: ann@acme.example}
office: {zone: Europe/Berlin}
services: {shell: {timeout_seconds: 20}}
epoch: 2026-03-16 08:00
days: [{name: mon, opens: 09:00, ends: 17:00, notification: Add the numbers in /numbers.txt up.}]
checks: [{id: sum-is-right, title: The sum is right., requirement: sum}]
"#;

const CHECKS: &str = r#"def sum_is_right():
    return files.text("/sum.txt") == "6\n"
"#;

const REFERENCE: &str = r#"description: Adds up with a command whose result is another each time.
days:
  mon:
    - calls:
        - shell.run: {command: "s=0; while read n; do s=$((s+n)); done < numbers.txt; echo $s > sum.txt; head -c 3000 /dev/urandom > noise; date +%N"}
        - shell.run: {command: "exit 4", folder: /}
        - shell.run: {command: "true", folder: /nowhere}
"#;

fn package(folder: &Path, manifest: &str) {
    let root = folder.join("shell-v1");
    std::fs::create_dir_all(root.join("world/files")).expect("made");
    std::fs::create_dir_all(root.join("solutions")).expect("made");
    for (name, text) in [
        ("scenario.yaml", manifest),
        ("checks.star", CHECKS),
        ("solutions/reference.yaml", REFERENCE),
        ("world/files/numbers.txt", "1\n2\n3\n"),
    ] {
        std::fs::write(root.join(name), text).expect("written");
    }
}

/// Runs the program, with the folders of `path` as its `PATH`.
fn dayshift(folder: &Path, path: Option<&str>, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dayshift"));
    if let Some(path) = path {
        command.env("PATH", path);
    }
    command.current_dir(folder).args(["--store", "store"]).args(arguments).output().expect("the program runs")
}

fn json(output: &Output) -> serde_json::Value {
    let shown = || String::from_utf8_lossy(&output.stderr).into_owned();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", shown()))
}

fn played(folder: &Path, path: Option<&str>) -> serde_json::Value {
    json(&dayshift(folder, path, &["--json", "run", "./shell-v1", "--agent", "reference", "--seed", "1"]))
}

/// Returns the program's own timeline of the last run.
fn shown(folder: &Path) -> String {
    String::from_utf8_lossy(&dayshift(folder, None, &["show", "last"]).stdout).into_owned()
}

fn assert_replays_anywhere(folder: &Path) {
    for path in [None, Some("/nonexistent")] {
        let replayed = dayshift(folder, path, &["replay", "last"]);
        assert_eq!(replayed.status.code(), Some(0), "{}", String::from_utf8_lossy(&replayed.stderr));
    }
}

#[test]
fn commands_are_run_once_and_replayed_without_bubblewrap() {
    let folder = tempfile::tempdir().expect("a folder");
    package(folder.path(), SCENARIO);
    let first = played(folder.path(), None);
    if shown(folder.path()).contains("shell/unavailable") {
        eprintln!("no command was run here: bubblewrap does not work; see the other test");
        assert_eq!(first["score"], 0.0);
    } else {
        assert_eq!(first["score"], 1.0, "{first:#}");
        let again = played(folder.path(), None);
        assert_ne!(first["head"], again["head"], "what commands bring back is an input like any other");
        let shown = shown(folder.path());
        assert!(shown.contains(r#""exit_code":4"#) && shown.contains("files/not-found"), "{shown}");
    }
    assert_replays_anywhere(folder.path());
    let exported = dayshift(folder.path(), None, &["export", "last", "--out", "run.dayshift"]);
    assert_eq!(exported.status.code(), Some(0), "{}", String::from_utf8_lossy(&exported.stderr));
    let file = folder.path().join("run.dayshift");
    assert_eq!(dayshift(folder.path(), Some("/nonexistent"), &["replay", "run.dayshift"]).status.code(), Some(0));
    // One altered byte of what a command brought back.
    let mut bytes = std::fs::read(&file).expect("exported");
    let needle = b"stdout_bytes";
    if let Some(at) = bytes.windows(needle.len()).position(|window| window == needle) {
        bytes[at + needle.len()] ^= 1;
        std::fs::write(&file, bytes).expect("altered");
        assert_eq!(dayshift(folder.path(), None, &["verify", "run.dayshift"]).status.code(), Some(1));
        assert_ne!(dayshift(folder.path(), None, &["replay", "run.dayshift"]).status.code(), Some(0));
    }
}

#[test]
fn without_bubblewrap_commands_are_refused_and_the_refusal_is_on_record() {
    let folder = tempfile::tempdir().expect("a folder");
    package(folder.path(), SCENARIO);
    let summary = played(folder.path(), Some("/nonexistent"));
    assert_eq!(summary["score"], 0.0);
    let shown = shown(folder.path());
    assert!(shown.contains("shell/unavailable") && shown.contains("apt-get install bubblewrap"), "{shown}");
    assert_replays_anywhere(folder.path());
}

#[test]
fn there_is_no_shell_unless_the_scenario_turns_it_on() {
    let folder = tempfile::tempdir().expect("a folder");
    package(folder.path(), &SCENARIO.replace("services: {shell: {timeout_seconds: 20}}\n", ""));
    played(folder.path(), None);
    let without = shown(folder.path());
    assert!(without.contains("call/unknown-tool") && !without.contains("shell, "), "{without}");
    for (limits, rule) in [
        ("{shell: {timeout_seconds: 601}}", "scenario/refused"),
        ("{shell: {time: 1}}", "scenario/unknown-key"),
        ("{fax: {}}", "scenario/unknown-key"),
    ] {
        package(folder.path(), &SCENARIO.replace("{shell: {timeout_seconds: 20}}", limits));
        let checked = dayshift(folder.path(), None, &["--json", "check", "./shell-v1"]);
        let report = json(&checked);
        let rules: Vec<&str> = report["findings"]
            .as_array()
            .expect("findings")
            .iter()
            .filter_map(|finding| finding["rule"].as_str())
            .collect();
        assert!(rules.contains(&rule), "{limits}: {rules:?}");
    }
}
