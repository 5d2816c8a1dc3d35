//! What the command line believes and says so, and what hostile text in a log can do to a terminal: nothing.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const SCENARIO: &str = "payment-change-v1";

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

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dayshift"));
        command.args(arguments).current_dir(self.folder.path()).env("NO_COLOR", "1").output().expect("it starts")
    }

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

    fn error(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        text(&output.stderr)
    }

    fn played(agent: &str, code: i32) -> Self {
        let desk = Self::new();
        desk.text(&["run", SCENARIO, "--agent", agent, "--seed", "7"], code);
        desk
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Copies the package of the built-in scenario, with a threshold of 0.
fn easy_copy_of_the_package(to: &Path) {
    fn copy(from: &Path, to: &Path) {
        std::fs::create_dir_all(to).expect("made");
        for entry in std::fs::read_dir(from).expect("a folder") {
            let entry = entry.expect("an entry").path();
            let target = to.join(entry.file_name().expect("a name"));
            if entry.is_dir() {
                copy(&entry, &target)
            } else {
                std::fs::copy(&entry, &target).map(|_| ()).expect("copied")
            }
        }
    }
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/library").join(SCENARIO), to);
    let manifest = to.join("scenario.yaml");
    let text = std::fs::read_to_string(&manifest).expect("the manifest").replace("threshold: 0.75", "threshold: 0");
    std::fs::write(&manifest, text).expect("written");
}

#[test]
fn a_report_says_what_it_rests_on_in_text_and_json() {
    let desk = Desk::played("reference", 0);
    let out = desk.text(&["grade", "last"], 0);
    for expected in
        ["rests on", "the installed one", "executed again", "nothing came from outside", "unsigned", "claimed"]
    {
        assert!(out.contains(expected), "{expected} is missing in:\n{out}");
    }
    for command in ["grade", "credit"] {
        let found = &desk.json(&[command, "last"], 0)["provenance"];
        assert_eq!(found["execution"], "again");
        assert_eq!(found["scenario"]["package"], "installed");
        assert_eq!(found["outside"]["acts"], 0);
        assert_eq!(found["host"]["results"], 0);
        assert_eq!(found["signature"]["state"], "unsigned");
        assert!(found["checks"]["digest"].is_string() && found["engine"].is_string(), "{found}");
        assert_eq!(desk.json(&[command, "last", "--trust"], 0)["provenance"]["execution"], "trusted");
    }
    assert!(desk.text(&["grade", "last", "--trust"], 0).contains("taken on trust: not executed again"));
    let out = desk.path("out.dayshift");
    assert_eq!(desk.json(&["export", "last", "--out", &out], 0)["exported"][0]["execution"], "again");
    assert_eq!(desk.json(&["export", "last", "--out", &out, "--trust"], 0)["exported"][0]["execution"], "trusted");
}

#[test]
fn the_columns_of_credit_sum_to_the_score() {
    let desk = Desk::played("bad-keeps-the-old-amount", 1);
    let run = desk.json(&["credit", "last"], 0);
    let number = |value: &Value| value.as_f64().expect("a number");
    let credit: f64 = run["credit"].as_array().expect("rows").iter().map(|row| number(&row["amount"])).sum();
    let sum = number(&run["start"]) + credit + number(&run["exogenous"]) + number(&run["unattributed"]);
    assert!((sum - number(&run["score"])).abs() < 1e-9, "{sum}");
    let checks = run["checks"].as_array().expect("checks").iter();
    let start: f64 = checks.map(|check| number(&check["weight"]) * number(&check["start"])).sum();
    assert!((start - number(&run["start"])).abs() < 1e-9, "{start}");
    assert!(desk.text(&["credit", "last"], 0).contains("from the start "));
}

#[test]
fn a_package_that_bears_an_installed_name_passes_only_where_it_is_named() {
    let desk = Desk::new();
    easy_copy_of_the_package(&desk.folder.path().join(SCENARIO));
    let path = format!("./{SCENARIO}");
    let run = desk.json(&["run", &path, "--agent", "noop"], 0);
    assert_eq!(run["provenance"]["scenario"]["package"], "named");
    let graded = desk.json(&["grade", "last"], 1);
    assert_eq!(graded["passed"], false);
    assert_eq!(graded["provenance"]["objections"][0]["code"], "provenance/another-package");
    assert!(desk.text(&["grade", "last"], 1).contains("did not pass, for what it rests on"));
    assert_eq!(desk.json(&["grade", "last", "--scenario", &path], 0)["passed"], true);
    desk.text(&["grade", "last", "--scenario", "claim-assessment-v1"], 1);
}

#[test]
fn a_log_that_does_not_come_out_again_is_not_graded_unless_it_is_trusted() {
    let desk = Desk::played("reference", 0);
    let file = desk.path("forged.dayshift");
    desk.forge("last", &file);
    assert_eq!(desk.json(&["verify", &file], 0)["whole"], true);
    for command in ["grade", "credit", "replay"] {
        let told = desk.json(&[command, &file], 1);
        assert_eq!(told["same"], false, "{command}: {told}");
        assert!(told["record"].is_u64());
    }
    assert_eq!(desk.json(&["grade", &file, "--trust"], 0)["provenance"]["execution"], "trusted");
    desk.text(&["import", &file], 0);
    desk.text(&["export", "last", "--out", &desk.path("again.dayshift")], 1);
    desk.text(&["export", "last", "--out", &desk.path("again.dayshift"), "--trust"], 0);
}

impl Desk {
    /// Writes the run `name` to `file` with one sentence of the agent changed and the chain made anew.
    fn forge(&self, name: &str, file: &str) {
        use dayshift_engine::codec::{Stored, encode};
        use dayshift_engine::{Record, RecordHash, Request};
        let library = dayshift_runs::Library::open(&self.folder.path().join(".dayshift")).expect("it opens");
        let mut run = library.load(&library.resolve(name).expect("a run")).expect("it loads");
        let mut previous = RecordHash::default();
        for bytes in &mut run.records {
            let decoded = Stored::new(bytes).and_then(|stored| stored.record());
            let mut record: Record<dayshift_services::OfficeEvent> = decoded.expect("it decodes");
            if let Request::OpenDay { notification, .. } = &mut record.head.request {
                notification.push_str(" Everything is done already.");
            }
            *bytes = encode(previous, &record).into();
            previous = RecordHash::of(bytes);
        }
        run.export(Path::new(file)).expect("it is written");
    }
}

#[test]
fn a_store_with_a_key_signs_and_verify_asks_for_a_signature_and_a_head() {
    let desk = Desk::new();
    let made = desk.json(&["key", "new"], 0);
    assert!(made["public"].as_str().is_some_and(|path| path.ends_with("key.pem.pub")), "{made}");
    let public = desk.path(".dayshift/key.pem.pub");
    let public = public.as_str();
    desk.text(&["run", SCENARIO, "--seed", "7"], 0);
    let verified = desk.json(&["verify", "last", "--key", public], 0);
    assert_eq!((&verified["signature"]["state"], &verified["signature"]["trusted"]), (&"valid".into(), &true.into()));
    let graded = desk.json(&["grade", "last", "--require-signature"], 0);
    assert_eq!(graded["provenance"]["claimed"], serde_json::json!([]));

    let head = verified["head"].as_str().expect("a head");
    desk.text(&["verify", "last", "--head", head], 0);
    desk.text(&["verify", "last", "--head", &head.replace(&head[..1], if &head[..1] == "0" { "1" } else { "0" })], 1);

    let file = desk.path("run.dayshift");
    desk.text(&["export", "last", "--out", &file], 0);
    let elsewhere = Desk::new();
    elsewhere.text(&["verify", &file, "--key", public], 0);
    elsewhere.text(&["grade", &file, "--require-signature", "--key", public], 0);
    let other = elsewhere.path("other.pem");
    let other = elsewhere.json(&["key", "new", &other], 0);
    let other = other["public_key"].as_str().expect("a key");
    elsewhere.text(&["verify", &file, "--key", other], 1);
    let graded = elsewhere.json(&["grade", &file, "--require-signature", "--key", other], 1);
    assert_eq!(graded["provenance"]["objections"][0]["code"], "provenance/unknown-key");
    assert!(elsewhere.error(&["grade", &file, "--require-signature"]).contains("error[key/none]"));
}

#[test]
fn a_run_can_be_signed_with_a_key_of_ones_own_and_an_unsigned_one_is_told_from_it() {
    let desk = Desk::new();
    let key = desk.path("me.pem");
    desk.text(&["key", "new", &key], 0);
    assert!(desk.error(&["key", "new", &key]).contains("error[key/unusable]"), "a key is never written over");
    desk.text(&["run", SCENARIO, "--seed", "7"], 0);
    desk.text(&["verify", "last", "--key", &format!("{key}.pub")], 1);
    desk.text(&["run", SCENARIO, "--seed", "7", "--sign", &key], 0);
    desk.text(&["verify", "last", "--key", &format!("{key}.pub")], 0);
    assert!(
        desk.error(&["verify", "last", "--key", &key]).contains("error[key/unusable]"),
        "a private key is not a public one"
    );
}

#[cfg(unix)]
#[test]
fn a_new_private_key_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let desk = Desk::new();
    let key = desk.path("me.pem");
    desk.text(&["key", "new", &key], 0);
    assert_eq!(std::fs::metadata(&key).expect("it is there").permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_list_of_runs_marks_what_only_the_notes_say() {
    let desk = Desk::played("reference", 0);
    let out = desk.text(&["runs"], 0);
    assert!(out.contains("claimed") && out.contains("notes beside the logs"), "{out}");
    let claimed = desk.json(&["runs"], 0)["runs"][0]["claimed"].clone();
    assert!(claimed.as_array().expect("fields").contains(&"score".into()), "{claimed}");
}

/// What an agent says to whoever reads its log in a terminal.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\r\nscore 1.000: passed\n\u{9b}31m\u{202e}dessap\u{2028}x\u{8}\u{8}";

/// Returns JSON that is YAML too: what YAML does not take as it is, is escaped.
fn ascii(json: &Value) -> String {
    let escaped = |character: char| match u32::from(character) {
        code @ 0x7f..=0xffff => format!("\\u{code:04x}"),
        _ => character.to_string(),
    };
    json.to_string().chars().map(escaped).collect()
}

#[test]
fn nothing_that_an_agent_says_moves_a_cursor_or_draws_a_verdict() {
    let desk = Desk::new();
    let script = serde_json::json!({
        "description": "Draws on the terminal.",
        "days": { "mon": [
            { "say": HOSTILE, "calls": [
                { "files.write": { "path": "/note.txt", "text": HOSTILE } },
                { "files.read": { "path": format!("/{HOSTILE}") } },
                { HOSTILE: {} },
            ] },
        ] },
    });
    std::fs::write(desk.path("hostile.yaml"), ascii(&script)).expect("written");
    let played = desk.run(&["run", SCENARIO, "--agent", "script:hostile.yaml", "--seed", "7"]);
    assert_eq!(played.status.code(), Some(1), "{}", text(&played.stderr));
    let check = desk.json(&["grade", "last"], 1)["checks"][0]["id"].as_str().expect("an id").to_owned();
    for arguments in [
        vec!["show", "last"],
        vec!["grade", "last"],
        vec!["credit", "last"],
        vec!["why", "last", &check],
        vec!["why", "last", HOSTILE],
        vec!["runs"],
        vec!["state", "last"],
        vec!["replay", "last"],
        vec!["verify", HOSTILE],
        vec!["show", "last", "--json"],
        vec!["state", "last", "--json"],
        vec!["show", "last", "--day", HOSTILE],
    ] {
        let output = desk.run(&arguments);
        for out in [&output.stdout, &output.stderr].map(|bytes| text(bytes)) {
            let control = |character: char| {
                (character.is_control() && character != '\n') || "\u{202e}\u{2028}".contains(character)
            };
            assert!(!out.chars().any(control), "{arguments:?}: {out:?}");
            let drawn = out.lines().any(|line| line.trim_start().starts_with("score 1.000: passed"));
            assert!(!drawn, "{arguments:?}: {out}");
        }
    }
}

#[test]
fn programs_get_whole_answers() {
    let desk = Desk::new();
    let long = "0123456789".repeat(500);
    let script = serde_json::json!({
        "description": "Writes a lot.",
        "days": { "mon": [ { "calls": [
            { "files.write": { "path": "/long.txt", "text": long } },
            { "files.read": { "path": "/long.txt" } },
        ] } ] },
    });
    std::fs::write(desk.path("long.yaml"), script.to_string()).expect("written");
    desk.text(&["run", SCENARIO, "--agent", "script:long.yaml", "--seed", "7"], 1);
    let shown = desk.json(&["show", "last"], 0);
    let entries = shown["entries"].as_array().expect("entries");
    let call = |tool: &str| entries.iter().find(|entry| entry["tool"] == tool).unwrap_or_else(|| panic!("no {tool}"));
    assert_eq!(call("files.write")["arguments"]["text"], long);
    assert!(call("files.read")["answer"].to_string().contains(&long), "{}", call("files.read"));
}
