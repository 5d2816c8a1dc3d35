//! The commands `new` and `check`, run as a user runs them.

use std::path::Path;
use std::process::{Command, Output};

fn dayshift(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dayshift"));
    command.current_dir(folder).args(arguments).output().expect("the program runs")
}

fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).expect("stdout is JSON")
}

#[test]
fn a_new_package_is_admitted_under_its_own_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let made = dayshift(folder.path(), &["new", "lamps-v1"]);
    assert_eq!(made.status.code(), Some(0), "{}", String::from_utf8_lossy(&made.stderr));
    let checked = dayshift(folder.path(), &["--json", "check", "./lamps-v1"]);
    let report = json(&checked);
    assert_eq!(checked.status.code(), Some(0), "{report:#}");
    assert_eq!(report["scenario"], "lamps-v1");
    assert_eq!(report["admitted"], true);
    assert!(report["mutation_score"].as_f64().is_some_and(|score| score >= 0.9));
    let errors =
        report["findings"].as_array().expect("findings").iter().filter(|finding| finding["severity"] == "error");
    assert_eq!(errors.count(), 0);
}

#[test]
fn a_broken_package_exits_with_1_and_names_rule_file_line_and_remedy() {
    let folder = tempfile::tempdir().expect("a folder");
    dayshift(folder.path(), &["new", "lamps-v1"]);
    let path = folder.path().join("lamps-v1/scenario.yaml");
    let text = std::fs::read_to_string(&path).expect("the file is there");
    std::fs::write(&path, text.replace("weight: 3", "wieght: 3")).expect("it is written");
    let checked = dayshift(folder.path(), &["--json", "check", "lamps-v1"]);
    assert_eq!(checked.status.code(), Some(1));
    let finding = &json(&checked)["findings"][0];
    assert_eq!(finding["rule"], "scenario/unknown-key");
    assert_eq!(finding["file"], "scenario.yaml");
    assert!(finding["line"].is_u64());
    assert_eq!(finding["remedy"], "did you mean 'weight'?");
    let shown = dayshift(folder.path(), &["check", "lamps-v1"]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("not admitted"));
}

#[test]
fn a_folder_that_is_not_empty_is_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let taken = folder.path().join("lamps-v1");
    std::fs::create_dir(&taken).expect("it is made");
    std::fs::write(taken.join("mine.txt"), "mine").expect("it is written");
    let made = dayshift(folder.path(), &["new", "lamps-v1"]);
    assert_eq!(made.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&made.stderr).contains("error[new/not-empty]"));
    assert_eq!(std::fs::read_dir(&taken).expect("it is there").count(), 1);
}

#[test]
fn a_name_that_is_no_id_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["lamps", "Lamps-v1", "lamps-v", "lamps-vone", "."] {
        let made = dayshift(folder.path(), &["new", name]);
        assert_eq!(made.status.code(), Some(2), "{name}");
        assert!(String::from_utf8_lossy(&made.stderr).contains("error[new/bad-name]"), "{name}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("it is there").count(), 0);
}

#[test]
fn a_package_that_is_not_there_cannot_be_judged() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["./none-v1", "none-v1"] {
        let checked = dayshift(folder.path(), &["--json", "check", name]);
        assert_eq!(checked.status.code(), Some(2), "{name}");
        assert!(json(&checked)["error"]["code"].is_string());
    }
}
