//! The command line as its users meet it: every command, its JSON, its exit code, and one clear sentence for what cannot be done.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const SCENARIO: &str = "payment-change-v1";

/// A folder with a store in it.
struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dayshift"));
        command.args(arguments).current_dir(self.folder.path()).env("NO_COLOR", "1");
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("it starts")
    }

    /// Returns what a command prints, which must end with `code`.
    fn text(&self, arguments: &[&str], code: i32) -> String {
        let output = self.run(arguments);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {out}\n{err}");
        assert!(!err.contains("panicked"), "{arguments:?}: {err}");
        out
    }

    fn json(&self, arguments: &[&str], code: i32) -> Value {
        let out = self.text(&[arguments, &["--json"]].concat(), code);
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {out}"))
    }

    fn played(agent: &str, code: i32) -> (Self, Value) {
        let desk = Self::new();
        let run = desk.json(&["run", SCENARIO, "--agent", agent, "--seed", "7"], code);
        (desk, run)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_run_prints_its_timeline_score_and_credit() {
    let desk = Desk::new();
    let out = desk.text(&["run", SCENARIO, "--agent", "reference", "--seed", "7"], 0);
    for expected in ["── mon ──", "◆", "silent", "score 1.000: passed", "prerequisite", "credit +"] {
        assert!(out.contains(expected), "{expected} is missing in:\n{out}");
    }
}

#[test]
fn a_run_as_json_has_the_documented_fields() {
    let (_, run) = Desk::played("reference", 0);
    for field in [
        "run",
        "scenario",
        "seed",
        "head",
        "records",
        "turns",
        "score",
        "passed",
        "checks",
        "exogenous",
        "credit",
        "ledger",
    ] {
        assert!(!run[field].is_null(), "{field}");
    }
    assert_eq!(run["score"], 1.0);
    let check = &run["checks"][0];
    for field in ["id", "day", "weight", "level"] {
        assert!(!check[field].is_null(), "{field}");
    }
    let evidence = &check["evidence"][0];
    assert!(evidence["key"].is_string() && evidence["record"].is_u64(), "{evidence}");
    for field in ["turn", "day", "amount", "direct", "prerequisite", "regression"] {
        assert!(!run["credit"][0][field].is_null(), "{field}");
    }
}

#[test]
fn an_idle_agent_does_not_pass_and_the_exit_code_says_so() {
    let (desk, run) = Desk::played("noop", 1);
    assert_eq!(run["passed"], false);
    desk.text(&["grade", "last"], 1);
}

#[test]
fn every_reading_command_works_on_a_run_and_on_its_file() {
    let (desk, run) = Desk::played("reference", 0);
    let file = desk.path("run.dayshift");
    desk.text(&["export", "last", "--out", &file], 0);
    for name in ["last", file.as_str()] {
        assert_eq!(desk.json(&["verify", name], 0)["head"], run["head"]);
        assert_eq!(desk.json(&["replay", name], 0)["same"], true);
        assert_eq!(desk.json(&["grade", name], 0)["score"], run["score"]);
        assert_eq!(desk.json(&["credit", name], 0)["credit"], run["credit"]);
        assert!(desk.json(&["state", name], 0)["world"]["records"].is_object());
        let check = run["checks"][0]["id"].as_str().expect("an id");
        assert!(!desk.json(&["why", name, check], 0)["path"].as_array().expect("a path").is_empty());
        assert!(desk.text(&["why", name, check], 0).contains("└─"));
        let day = desk.json(&["show", name, "--day", "2"], 0);
        let entries = day["entries"].as_array().expect("entries");
        assert!(!entries.is_empty() && entries.iter().all(|entry| entry["day"] == "tue"), "{entries:?}");
    }
}

#[test]
fn an_exported_log_imported_into_another_store_is_the_same() {
    let (desk, run) = Desk::played("reference", 0);
    let file = desk.path("run.dayshift");
    desk.text(&["export", "last", "--out", &file], 0);
    let other = Desk::new();
    let imported = other.json(&["import", &file], 0);
    assert_eq!(imported["run"], run["run"]);
    assert_eq!(other.json(&["verify", "last"], 0)["head"], run["head"]);
    assert_eq!(other.json(&["replay", "last"], 0)["same"], true);
    assert_eq!(other.json(&["diff", "last", &file], 0)["same"], true);
}

#[test]
fn a_fork_shares_its_parents_records_and_can_be_played_on() {
    let (desk, run) = Desk::played("reference", 0);
    let id = run["run"].as_str().expect("an id");
    let entries = desk.json(&["show", "last", "--day", "mon"], 0);
    let at = entries["entries"].as_array().and_then(|entries| entries.last()?["record"].as_u64()).expect("a record");
    let fork = desk.json(&["fork", id, "--at", &at.to_string(), "--agent", "reference"], 0);
    assert_eq!(fork["head"], run["head"], "the same agent does the same again");
    let idle = desk.json(&["fork", id, "--at", &at.to_string(), "--agent", "noop"], 1);
    assert_ne!(idle["head"], run["head"]);
    let difference = desk.json(&["diff", id, idle["run"].as_str().expect("an id")], 1);
    assert!(!difference["differences"].as_array().expect("differences").is_empty());
    assert_eq!(desk.json(&["verify", "last"], 0)["whole"], true);
    let runs = desk.json(&["runs"], 0);
    assert_eq!(runs["runs"].as_array().map(Vec::len), Some(3));
}

#[test]
fn an_unfinished_run_verifies_and_can_be_resumed() {
    let (desk, run) = Desk::played("reference", 0);
    let id = run["run"].as_str().expect("an id");
    let entries = desk.json(&["show", "last"], 0);
    let at = entries["entries"][12]["record"].as_u64().expect("a record");
    let fork = desk.json(&["fork", id, "--at", &at.to_string()], 0);
    let fork = fork["run"].as_str().expect("an id");
    assert_eq!(desk.json(&["runs"], 0)["runs"][1]["finished"], false);
    assert_eq!(desk.json(&["verify", fork], 0)["whole"], true);
    let resumed = desk.json(&["resume", fork, "--agent", "reference"], 0);
    assert_eq!(resumed["head"], run["head"]);
    desk.text(&["discard", fork], 0);
    desk.text(&["verify", fork], 2);
}

#[test]
fn the_audit_finds_slices_sound_and_credit_in_step_with_necessity() {
    let (desk, _) = Desk::played("bad-empty-hands", 1);
    let audit = &desk.json(&["credit", "last", "--audit"], 0)["audit"];
    assert!(audit["replays"].as_u64().is_some_and(|replays| replays > 0), "{audit}");
    assert!(audit["slices_tried"].as_u64().is_some_and(|tried| tried > 0), "{audit}");
}

#[test]
fn nothing_of_the_host_shows_in_a_log() {
    let (_, plain) = Desk::played("reference", 0);
    for (name, value) in [
        ("TZ", "Pacific/Chatham"),
        ("LANG", "tr_TR.UTF-8"),
        ("LC_ALL", "C"),
        ("HOME", "/nonexistent"),
        ("RUST_BACKTRACE", "full"),
        ("SOURCE_DATE_EPOCH", "1"),
    ] {
        let desk = Desk::new();
        let elsewhere = tempfile::tempdir().expect("a folder");
        let store = desk.path("store");
        let arguments = ["run", SCENARIO, "--agent", "reference", "--seed", "7", "--json", "--store", &store];
        let output =
            desk.command(&arguments).env(name, value).current_dir(elsewhere.path()).output().expect("it starts");
        let run: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(run["head"], plain["head"], "{name}={value}");
    }
}

#[test]
fn a_log_with_an_altered_byte_is_told_and_the_record_named() {
    let (desk, _) = Desk::played("noop", 1);
    let file = desk.path("run.dayshift");
    desk.text(&["export", "last", "--out", &file], 0);
    let mut bytes = std::fs::read(&file).expect("it is there");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, &bytes).expect("it is written");
    let verdict = desk.json(&["verify", &file], 1);
    assert_eq!(verdict["whole"], false);
    let fault = verdict["fault"].as_str().expect("a sentence");
    assert!(["record", "blob", "damaged"].iter().any(|word| fault.contains(word)), "{fault}");
    desk.text(&["grade", &file], 2);
}

#[test]
fn what_cannot_be_done_is_one_sentence_with_a_code_and_exit_two() {
    let desk = Desk::new();
    std::fs::write(desk.folder.path().join("junk.dayshift"), b"no log at all").expect("it is written");
    for (arguments, code) in [
        (vec!["verify", "last"], "run/none"),
        (vec!["run", "paymnt-change-v1"], "scenario/bad"),
        (vec!["run", SCENARIO, "--agent", "nobody"], "agent/unknown"),
        (vec!["run", SCENARIO, "--agent", "script:nowhere.yaml"], "agent/unknown"),
        (vec!["run", SCENARIO, "--agent", "robot:x"], "agent/unknown"),
        (vec!["verify", "junk.dayshift"], "store/not-a-store"),
        (vec!["import", "junk.dayshift"], "store/not-a-store"),
        (vec!["verify", "./missing.dayshift"], "store/failed"),
        (vec!["grade", "abc"], "run/unknown"),
    ] {
        let output = desk.run(&arguments);
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {err}");
        assert!(err.contains(&format!("error[{code}]")), "{arguments:?}: {err}");
        assert!(!err.contains("panicked"), "{arguments:?}: {err}");
    }
    let (desk, _) = Desk::played("noop", 1);
    for (arguments, code) in [
        (vec!["state", "last", "--at", "999999"], "run/beyond-end"),
        (vec!["fork", "last", "--at", "0"], "run/before-opening"),
        (vec!["resume", "last"], "run/finished"),
        (vec!["why", "last", "no-such-check"], "check/unknown"),
        (vec!["show", "last", "--day", "sunday"], "run/unknown-day"),
        (vec!["credit", "last", "--rho", "0.9"], "credit/bad-input"),
        (vec!["grade", "zzz"], "run/unknown"),
    ] {
        let output = desk.run(&arguments);
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {err}");
        assert!(err.contains(&format!("error[{code}]")), "{arguments:?}: {err}");
        let json: Value =
            serde_json::from_slice(&desk.run(&[&arguments[..], &["--json"]].concat()).stdout).expect("JSON");
        assert_eq!(json["error"]["code"], code);
    }
}

#[test]
fn a_store_that_another_process_has_open_is_told() {
    let desk = Desk::new();
    let store = dayshift_stores::open(desk.folder.path().join(".dayshift"), None).expect("it opens");
    let output = desk.run(&["compact"]);
    assert_eq!(desk.json(&["runs"], 0)["runs"].as_array().map(Vec::len), Some(0), "reading needs no lock");
    drop(store);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("error[store/locked]"), "{}", text(&output.stderr));
}

#[test]
fn a_script_file_plays_like_the_solution_that_it_is() {
    let (_, reference) = Desk::played("reference", 0);
    let desk = Desk::new();
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/library");
    let script = format!("script:{}", library.join(SCENARIO).join("solutions/reference.yaml").display());
    let run = desk.json(&["run", SCENARIO, "--agent", &script, "--seed", "7"], 0);
    assert_eq!(run["head"], reference["head"]);
    let path = library.join(SCENARIO).display().to_string();
    let run = desk.json(&["run", &path, "--agent", "reference", "--seed", "7"], 0);
    assert_eq!(run["head"], reference["head"], "a package on disk is the same as the built-in one");
}

#[test]
fn the_list_names_scenarios_with_their_days_and_checks() {
    let listed = Desk::new().json(&["list"], 0);
    let scenarios = listed["scenarios"].as_array().expect("scenarios");
    assert!(scenarios.iter().any(|each| each["id"] == SCENARIO && each["days"] == 3), "{listed}");
    assert!(listed["families"].is_array());
}

#[test]
fn what_is_whole_of_a_log_that_was_cut_off_is_imported_as_an_unfinished_run() {
    let (desk, run) = Desk::played("reference", 0);
    let file = desk.path("run.dayshift");
    desk.text(&["export", "last", "--out", &file], 0);
    let whole = std::fs::read(&file).expect("read");
    std::fs::write(&file, &whole[..whole.len() / 3]).expect("written");
    let verified = desk.json(&["verify", &file], 1);
    assert!(verified["fault"].as_str().expect("a sentence").contains("import --salvage"), "{verified}");
    let refused = desk.run(&["import", &file]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("error[log/cut-off]"), "{}", text(&refused.stderr));
    let other = Desk::new();
    let imported = other.json(&["import", &file, "--salvage"], 0);
    assert!(imported["records"].as_u64().expect("a count") < run["records"].as_u64().expect("a count"), "{imported}");
    // Those of the scenario are installed; those that the run made came after its records and are cut off too.
    assert!(imported["blobs_missing"].as_array().is_some_and(|missing| missing.len() < 10), "{imported}");
    let runs = other.json(&["runs"], 0);
    assert_eq!(
        (&runs["runs"][0]["finished"], &runs["runs"][0]["score"]),
        (&Value::Bool(false), &Value::Null),
        "{runs}"
    );
}

#[test]
fn a_damaged_run_is_listed_in_quarantine_and_what_is_whole_of_it_can_be_shown() {
    let (desk, run) = Desk::played("reference", 0);
    let store = dayshift_stores::open(desk.folder.path().join(".dayshift"), None).expect("it opens");
    let id = store.branches().expect("listed").pop().expect("the run").id;
    let mut records = Vec::new();
    let read = store.read(&id, 0, &mut |record| {
        records.push(record.to_vec());
        std::ops::ControlFlow::Continue(())
    });
    read.expect("read");
    drop(store);
    // In every copy of it.
    let victim = records.len() - 6;
    let db = desk.folder.path().join(".dayshift/log-1/sled/db");
    let mut bytes = std::fs::read(&db).expect("read");
    let needle = &records[victim];
    let places: Vec<usize> = (0..bytes.len() - needle.len()).filter(|&at| bytes[at..].starts_with(needle)).collect();
    assert!(!places.is_empty(), "the record is in the file");
    for at in places {
        bytes[at + needle.len() - 1] ^= 1;
    }
    std::fs::write(&db, bytes).expect("written");
    let listed = desk.run(&["runs", "--json"]);
    assert!(text(&listed.stderr).contains("damaged"), "{}", text(&listed.stderr));
    // Something that writes opens the store, and rebuilds it.
    let rebuilt = desk.run(&["compact"]);
    assert_eq!(rebuilt.status.code(), Some(0), "{}", text(&rebuilt.stderr));
    let kept = desk.json(&["runs", "--quarantine"], 0);
    let row =
        kept["quarantine"].as_array().expect("rows").iter().find(|row| row["run"] == run["run"]).expect("the run");
    assert_eq!((row["whole"].as_u64(), row["after"].as_u64()), (Some(victim as u64), Some(5)), "{row}");
    assert_eq!(row["lost"], serde_json::json!([victim, victim]));
    let aside = row["store"].as_str().expect("a folder");
    let shown = desk.json(&["--store", aside, "show", id.as_str()], 0);
    assert!(shown.to_string().len() > 1_000, "{shown}");
}

#[test]
fn a_pipe_is_refused_wherever_a_file_is_asked_for() {
    let desk = Desk::new();
    let pipe = desk.path("pipe.dayshift");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    let script = format!("script:{pipe}");
    for arguments in [
        ["import", &pipe].as_slice(),
        &["import", &pipe, "--salvage"],
        &["verify", &pipe],
        &["show", &pipe],
        &["run", SCENARIO, "--agent", &script],
    ] {
        let output = desk.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains("error[file/not-a-file]"), "{arguments:?}: {}", text(&output.stderr));
    }
}
