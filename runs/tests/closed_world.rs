//! The closed world: what checks are told of what changed, and through whom.

use std::path::Path;
use std::sync::Arc;

use dayshift_engine::{Blobs, Episode, Input, MemoryBlobs, Seed, ToolCall, Value, map};
use dayshift_replay::{Grader, Report, grade};
use dayshift_runs::office;
use dayshift_scenarios::{Package, Scenario};
use dayshift_services::Office;

const STARTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../cli/starter");

/// The starter package with one more check, `asked`, whose body is `body`.
fn scenario(body: &str) -> Scenario<Office> {
    let starter = Package::from_directory(Path::new(STARTER)).expect("the starter package is there");
    let files = starter.below("").map(|(path, bytes)| (path.clone(), bytes.to_vec()));
    let files = files.map(|(path, bytes)| match path.as_str() {
        "scenario.yaml" => {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            (path, format!("{text}\n  - {{id: asked, title: Asked, requirement: note}}\n").into_bytes())
        }
        "checks.star" => {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            (path, format!("{text}\ndef asked():\n    {body}\n").into_bytes())
        }
        _ => (path, bytes),
    });
    let package = Package::from_files("starter-v1", files).expect("its files are good");
    Scenario::load(package).unwrap_or_else(|problems| panic!("{problems:#?}"))
}

fn call(tool: &str, arguments: Value) -> Input {
    Input::Call(ToolCall::new(tool, arguments))
}

fn write(path: &str, text: &str) -> Input {
    call("files.write", map! { "path" => path, "text" => text })
}

fn hand_over() -> Input {
    Input::HandOver { text: String::new() }
}

/// Plays `inputs`, hands over what is left, and returns the report.
fn graded(body: &str, inputs: Vec<Input>) -> Report {
    let scenario = scenario(body);
    let blobs: Arc<dyn Blobs> = Arc::new(MemoryBlobs::new());
    let prefix = scenario.prefix(office(&scenario), &blobs).expect("laid out");
    let opened = Episode::open(&prefix, Seed::new(1), scenario.script(), Arc::clone(&blobs));
    let (mut episode, _) = opened.expect("it opens");
    for input in inputs {
        let step = episode.input(input.clone()).expect("it goes on");
        assert!(step.answer.is_ok(), "{input:?}: {:?}", step.answer);
    }
    while !episode.is_closed() {
        episode.input(hand_over()).expect("it goes on");
    }
    let records: Vec<_> = episode.log().since(0).cloned().collect();
    let blank = Episode::blank(office(&scenario), scenario.script(), blobs);
    grade(blank, &records, scenario.checks()).expect("it is graded")
}

/// Asserts that the check `asked`, whose body is `body`, stands at `level` in the end.
#[track_caller]
fn stands_at(level: f64, body: &str, inputs: Vec<Input>) -> Vec<String> {
    let report = graded(body, inputs);
    let verdict = report.verdicts.iter().find(|verdict| verdict.spec.id == "asked").expect("it is there");
    assert_eq!((verdict.level, verdict.error.as_deref()), (level, None));
    verdict.evidence.iter().map(|evidence| evidence.read.key.to_string()).collect()
}

const NOTHING: &str = "return not changes()";

#[test]
fn an_agent_that_changes_nothing_leaves_no_changes_whatever_others_do() {
    stands_at(
        1.0,
        NOTHING,
        vec![call("mail.list", map! {}), call("files.read", map! { "path" => "/refund-policy.md" })],
    );
}

#[test]
fn a_reading_mark_is_no_change() {
    stands_at(1.0, NOTHING, vec![call("mail.read", map! { "message_id" => "o7.1@customer.example" })]);
}

#[test]
fn what_was_not_asked_for_is_the_evidence_and_what_may_change_is_not() {
    let body = "return not changes(except_ = [\"files:/notes/\", \"mail\"])";
    let evidence = stands_at(0.0, body, vec![write("/notes/a.md", "a"), write("/stray.md", "b")]);
    assert!(evidence.contains(&"files:/stray.md".to_owned()), "{evidence:?}");
    assert!(!evidence.contains(&"files:/notes/a.md".to_owned()), "{evidence:?}");
}

#[test]
fn what_was_done_and_undone_is_no_change() {
    let undone = vec![write("/stray.md", "b"), hand_over(), call("files.delete", map! { "path" => "/stray.md" })];
    stands_at(1.0, NOTHING, undone);
    let policy = "return not changes(except_ = [\"files:/refunds.md\"])";
    stands_at(1.0, policy, vec![write("/refunds.md", "b")]);
}

#[test]
fn a_change_has_what_was_there_before_and_after_and_whose_it_is() {
    let body = "found = [c for c in changes() if c.key == \"records:orders/O-7/refunded\"]\n    \
                return len(found) == 1 and found[0].service == \"records\" and found[0].place == \"orders/O-7/refunded\" and \
                number(found[0].before) == None and number(found[0].after) == 20 and found[0].turn == 1 and found[0].day == \"mon\" and \
                found[0].by == \"agent\"";
    let update = |amount: &str| {
        call("records.update", map! { "table" => "orders", "id" => "O-7", "values" => map! { "refunded" => amount } })
    };
    let inputs = vec![Input::Turn { text: String::new() }, update("10.00"), update("20.00")];
    stands_at(1.0, body, inputs);
}

#[test]
fn reactions_of_personas_and_events_are_told_apart_from_what_the_agent_did() {
    let asked = || {
        let question = map! { "with" => "omar", "text" => "Do you approve O-7?" };
        vec![call("chat.send", question), call("clock.wait", map! { "until" => "2026-03-16T11:00:00+01:00" })]
    };
    let keys = |by: &str, expected: &str| {
        format!("return [c.key for c in changes(by = {by}) if c.service == \"records\"] == {expected}")
    };
    stands_at(1.0, &keys("\"agent\"", "[]"), asked());
    stands_at(1.0, &keys("\"persona:omar\"", "[\"records:orders/O-7/approved_by\"]"), asked());
    stands_at(1.0, &keys("\"persona\"", "[\"records:orders/O-7/approved_by\"]"), asked());
    let world = "[\"records:orders/O-7/amount\", \"records:orders/O-7/note\"]";
    stands_at(1.0, &keys("\"world\"", world), asked());
    let all = "[\"records:orders/O-7/amount\", \"records:orders/O-7/approved_by\", \"records:orders/O-7/note\"]";
    stands_at(1.0, &keys("None", all), asked());
}

#[test]
fn changes_can_begin_where_a_day_was_handed_over() {
    let body = "return [c.key for c in changes(since = \"mon\")] == [\"files:/b.md\"]";
    stands_at(1.0, body, vec![write("/a.md", "a"), hand_over(), write("/b.md", "b")]);
}

#[test]
fn nonsense_is_refused_with_a_sentence() {
    for (body, sentence) in [
        ("return not changes(by = \"omar\")", "'by' is"),
        ("return not changes(by = \"persona:otto\")", "persona:otto"),
        ("return not changes(since = \"fri\")", "the days are mon, tue"),
        ("return not changes(except_ = [1])", "list of keys"),
    ] {
        let report = graded(body, Vec::new());
        let verdict = report.verdicts.last().expect("it is there");
        let error = verdict.error.clone().unwrap_or_default();
        assert!(error.contains(sentence), "{body}: {error}");
    }
}

#[test]
fn a_condition_does_not_ask_for_changes() {
    let body = "return True\n\ndef all_refunds_are_booked():\n    return not changes()";
    let report = graded(body, Vec::new());
    assert!(report.finished, "the episode went on without it");
}

#[test]
fn the_change_of_the_check_is_credited_to_the_turn_that_made_it() {
    let turn = || Input::Turn { text: String::new() };
    let inputs =
        vec![turn(), call("mail.list", map! {}), turn(), write("/stray.md", "x"), turn(), call("mail.list", map! {})];
    let report = graded(NOTHING, inputs);
    let moves: Vec<_> = report.moves.iter().filter(|each| report.verdicts[each.check].spec.id == "asked").collect();
    assert_eq!(moves.len(), 1);
    assert_eq!(moves[0].turn.map(dayshift_engine::Turn::get), Some(2));
}

#[test]
fn a_grader_that_is_asked_for_the_outcome_alone_comes_to_the_same_levels() {
    let scenario = scenario("return not changes(except_ = [\"mail\"])");
    for name in ["noop", "reference", "bad-monday-only", "bad-no-approval"] {
        let blobs: Arc<dyn Blobs> = Arc::new(MemoryBlobs::new());
        let prefix = scenario.prefix(office(&scenario), &blobs).expect("laid out");
        let opened = Episode::open(&prefix, Seed::new(1), scenario.script(), Arc::clone(&blobs));
        let (mut episode, opening) = opened.expect("it opens");
        let mut agent = scenario.agent(name).expect("known");
        let played = dayshift_scenarios::run(&mut episode, opening, &mut *agent, |_, _, _| Ok::<(), String>(()));
        assert!(played.is_ok(), "{name}");
        let report = |mut grader: Grader<Office>| {
            let mut shadow = Episode::blank(office(&scenario), scenario.script(), Arc::clone(&blobs));
            for record in episode.log().since(0) {
                grader.absorb(&mut shadow, Arc::clone(record)).expect("it follows");
            }
            grader.report(&shadow)
        };
        let whole = report(Grader::new(scenario.checks()));
        let outcome = report(Grader::of_outcome(scenario.checks()));
        let levels = |report: &Report| -> Vec<f64> { report.verdicts.iter().map(|verdict| verdict.level).collect() };
        assert_eq!(levels(&whole), levels(&outcome), "{name}");
        assert_eq!(
            (whole.score, whole.crossings, whole.passed),
            (outcome.score, outcome.crossings, outcome.passed),
            "{name}"
        );
        assert!(outcome.evaluations < whole.evaluations || name == "noop", "{name}: it looks less often");
    }
}
