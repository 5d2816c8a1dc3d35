//! What a log can say of itself and what is believed of it: each way in which somebody once got a score without the work, with the outcome
//! that it has now. `SECURITY.md` and `docs/trust.md` point here by name.

use std::sync::{Arc, Mutex};

use dayshift_engine::codec::{Stored, encode};
use dayshift_engine::{
    Actor, Blobs, Errand, EventId, Head, Host, Input, Outside, OutsideAct, Record, RecordHash, Request, Seed, Seq,
    ToolCall, Value, map,
};
use dayshift_runs::{
    Execution, Library, PackageIs, Provenance, PublicKey, Run, RunError, RunNote, RunRow, Scrutiny, SecretKey,
    SignatureState, Statement, Summary, load_file,
};
use dayshift_scenarios::{Package, Scenario, built_in};
use dayshift_services::{Office, OfficeEvent};
use dayshift_stores::MemoryStore;
use dayshift_tests::{memory_library, play, played, scenario};

const SCENARIO: &str = "payment-change-v1";

fn looked_at(run: &Run, scrutiny: &Scrutiny) -> Result<Provenance, RunError> {
    run.provenance(&run.scenario, scrutiny, |_| {})
}

fn codes(provenance: &Provenance) -> Vec<&'static str> {
    provenance.objections.iter().map(|objection| objection.code).collect()
}

fn summary(run: &Run, scrutiny: &Scrutiny) -> Summary {
    let provenance = looked_at(run, scrutiny).expect("it is executed again");
    let report = run.grade(None).expect("it is graded");
    Summary::new(run, &report, None, provenance, run.seed().expect("a seed"))
}

/// Returns the log with every record changed by `change`, and the chain made anew, so that it verifies.
fn rechained(run: &Run, mut change: impl FnMut(&mut Record<OfficeEvent>)) -> Run {
    let mut previous = RecordHash::default();
    let mut records: Vec<Arc<[u8]>> = Vec::new();
    for bytes in &run.records {
        let mut record: Record<OfficeEvent> =
            Stored::new(bytes).and_then(|stored| stored.record()).expect("it decodes");
        change(&mut record);
        let bytes: Arc<[u8]> = encode(previous, &record).into();
        previous = RecordHash::of(&bytes);
        records.push(bytes);
    }
    let end = Head { count: records.len() as u64, hash: previous };
    let whole = dayshift_engine::verify_chain(records.iter().map(|record| &**record), Head::default(), end);
    assert_eq!(whole, Ok(()), "the forged chain is whole");
    Run { records, ..run.clone() }
}

/// Plays the scenario with an agent that only hands over, while somebody stages what the reference does.
fn staged(scenario: &Scenario<Office>, library: &Library) -> Run {
    let reference = played(scenario, "reference", 7);
    let (mut live, _) = library.start(scenario, Seed::new(7), "nobody").expect("it starts");
    for exchange in reference.transcript().expect("a transcript").exchanges {
        match exchange.input {
            Input::Call(call) => {
                let time = live.episode().now();
                let act = OutsideAct::Call(call);
                let outside = Outside { event: EventId::outside("helper"), time, actor: Actor::World, act };
                live.outside(outside).expect("it is staged");
            }
            Input::HandOver { .. } => drop(live.input(Input::HandOver { text: String::new() }).expect("handed over")),
            Input::Turn { .. } => {}
        }
    }
    let id = live.finish(0).expect("it finishes");
    library.load(&id).expect("it loads")
}

/// Returns a built-in scenario with a file of it changed: an impostor, which bears its name.
fn impostor(path: &str, change: impl Fn(&str) -> String) -> Scenario<Office> {
    let package = built_in(SCENARIO).expect("it is installed");
    let text = String::from_utf8(package.get(path).expect("the file").to_vec()).expect("text");
    let package = package.with_file(path, change(&text).into_bytes()).expect("it fits");
    Scenario::load(package).unwrap_or_else(|problems| panic!("{problems:?}"))
}

#[test]
fn a_log_that_was_played_as_it_says_passes_and_says_what_it_rests_on() {
    let run = played(&scenario(SCENARIO), "reference", 7);
    let summary = summary(&run, &Scrutiny::default());
    assert!(summary.passed);
    let found = summary.provenance;
    assert_eq!((found.execution, found.scenario.package), (Execution::Again, PackageIs::Installed));
    assert_eq!((found.outside.acts, found.outside.allowed, found.host.results), (0, false, 0));
    assert!(found.checks.own && found.checks.digest.as_deref() == Some(&*found.scenario.digest));
    assert_eq!((found.signature, found.claimed), (SignatureState::Unsigned, vec!["agent"]));
}

#[test]
fn staged_acts_and_no_work_do_not_pass_whatever_they_score() {
    let run = staged(&scenario(SCENARIO), &memory_library());
    let idle = played(&scenario(SCENARIO), "noop", 7).grade(None).expect("it is graded");
    let report = run.grade(None).expect("it is graded");
    assert!(report.score > idle.score, "the acts do work: {}", report.score);
    let summary = summary(&run, &Scrutiny::default());
    assert!(!summary.passed);
    assert!(summary.provenance.outside.acts > 0 && !summary.provenance.outside.allowed);
    assert_eq!(codes(&summary.provenance), ["provenance/outside-not-allowed"]);
    // Taking the log on trust changes nothing about that.
    let trusted = looked_at(&run, &Scrutiny { execution: Execution::Trusted, ..Scrutiny::default() }).expect("trusted");
    assert_eq!(codes(&trusted), ["provenance/outside-not-allowed"]);
}

const NOTE: &str = "\
id: note-v1
title: A note
request: Write hello into /note.txt.
requirements: [{id: note, text: The note is there.}]
agent: {name: ann, address: ann@acme.example}
office: {zone: Europe/Berlin}
epoch: 2026-03-16 08:00
days: [{name: mon, opens: 09:00, ends: 17:00, notification: Go.}]
checks: [{id: note, title: The note is there., requirement: note}]
";

#[test]
fn a_full_score_that_somebody_staged_does_not_pass() {
    let files =
        [("scenario.yaml", NOTE), ("checks.star", "def note():\n    return files.text('/note.txt') == 'hello'\n")];
    let files = files.map(|(path, text)| (path, text.as_bytes().to_vec()));
    let package = Package::from_files("note-v1", files).expect("a package");
    let scenario: Scenario<Office> = Scenario::load(package).unwrap_or_else(|problems| panic!("{problems:?}"));
    let library = memory_library();
    let (mut live, _) = library.start(&scenario, Seed::new(1), "nobody").expect("it starts");
    let call = ToolCall::new("files.write", map! { "path" => "/note.txt", "text" => "hello" });
    let (time, act) = (live.episode().now(), OutsideAct::Call(call));
    live.outside(Outside { event: EventId::outside("helper"), time, actor: Actor::World, act }).expect("it is staged");
    live.input(Input::HandOver { text: String::new() }).expect("handed over");
    let run = library.load(&live.finish(0).expect("it finishes")).expect("it loads");
    let report = run.grade(None).expect("it is graded");
    assert!(report.passed && report.score == 1.0, "by the records alone it passes: {}", report.score);
    let summary = summary(&run, &Scrutiny::default());
    assert_eq!((summary.score, summary.passed), (1.0, false));
    assert_eq!(codes(&summary.provenance), ["provenance/outside-not-allowed"]);
}

#[test]
fn a_single_line_that_somebody_tells_the_agent_from_outside_counts_as_such_an_act() {
    let library = memory_library();
    let (mut live, _) = library.start(&scenario(SCENARIO), Seed::new(7), "nobody").expect("it starts");
    let (time, act) = (live.episode().now(), OutsideAct::Tell("The new account is right.".to_owned()));
    live.outside(Outside { event: EventId::outside("hint"), time, actor: Actor::World, act }).expect("it is told");
    let run = library.load(&live.finish(0).expect("it finishes")).expect("it loads");
    let found = looked_at(&run, &Scrutiny::default()).expect("it is executed again");
    assert_eq!((found.outside.acts, codes(&found)), (1, vec!["provenance/outside-not-allowed"]));
}

#[test]
fn a_scenario_may_allow_acts_from_outside_and_the_report_counts_them() {
    let allowing = impostor("scenario.yaml", |text| format!("{text}\noutside: allowed\n"));
    let run = staged(&allowing, &memory_library());
    let named = Scrutiny { package: Some(allowing.digest()), ..Scrutiny::default() };
    let found = looked_at(&run, &named).expect("it is executed again");
    assert!(found.outside.acts > 0 && found.outside.allowed);
    assert_eq!(codes(&found), Vec::<&str>::new());
}

#[test]
fn a_log_cannot_allow_itself_what_its_installed_scenario_does_not() {
    let allowing = impostor("scenario.yaml", |text| format!("{text}\noutside: allowed\n"));
    let run = staged(&allowing, &memory_library());
    assert!(!summary(&run, &Scrutiny::default()).passed);
}

#[test]
fn an_impostor_of_an_installed_scenario_does_not_pass() {
    let easy = impostor("scenario.yaml", |text| text.replace("threshold: 0.75", "threshold: 0"));
    let run = played(&easy, "noop", 7);
    assert!(run.grade(None).expect("it is graded").passed, "by its own account");
    let summary = summary(&run, &Scrutiny::default());
    assert!(!summary.passed);
    assert_eq!(summary.provenance.scenario.package, PackageIs::Another);
    assert_eq!(codes(&summary.provenance), ["provenance/another-package"]);
}

#[test]
fn a_package_that_the_caller_names_is_taken_for_what_it_is_and_no_other() {
    let own = impostor("scenario.yaml", |text| text.replace("description: >", "description: >\n  Ours."));
    let run = played(&own, "reference", 7);
    let named = |digest| Scrutiny { package: Some(digest), ..Scrutiny::default() };
    let found = looked_at(&run, &named(own.digest())).expect("it is executed again");
    assert_eq!((found.scenario.package, codes(&found)), (PackageIs::Named, Vec::new()));
    let installed = looked_at(&run, &named(scenario(SCENARIO).digest())).expect("it is executed again");
    assert_eq!(codes(&installed), ["provenance/another-package"]);
}

#[test]
fn records_whose_chain_was_made_anew_are_not_graded() {
    let run = played(&scenario(SCENARIO), "reference", 7);
    let forgeries: [(&str, Run); 4] = [
        (
            "calls that do what they did not ask for",
            rechained(&run, |record| {
                if let Request::Call { arguments, .. } = &mut record.head.request
                    && record.head.actor == Actor::Agent
                {
                    *arguments = dayshift_engine::Payload::Inline(map! {});
                }
            }),
        ),
        (
            "what the agent did in the name of the world",
            rechained(&run, |record| {
                if record.head.actor == Actor::Agent && matches!(record.head.request, Request::Call { .. }) {
                    record.head.actor = Actor::World;
                    record.head.turn = None;
                }
            }),
        ),
        (
            "another time",
            rechained(&run, |record| {
                if record.seq.get() + 2 > run.head().count {
                    record.time = dayshift_engine::SimTime::from_millis(record.time.as_millis() + 1);
                }
            }),
        ),
        ("events that nothing asked for", {
            let events: Vec<OfficeEvent> = run
                .records
                .iter()
                .flat_map(|bytes| {
                    let record: Record<OfficeEvent> =
                        Stored::new(bytes).and_then(|stored| stored.record()).expect("it decodes");
                    if record.head.actor == Actor::Agent { record.events } else { Vec::new() }
                })
                .collect();
            let mut first = true;
            rechained(&played(&scenario(SCENARIO), "noop", 7), |record| {
                if record.head.actor == Actor::Agent && std::mem::take(&mut first) {
                    record.events = events.clone();
                }
            })
        }),
    ];
    for (what, forged) in forgeries {
        let error = looked_at(&forged, &Scrutiny::default()).expect_err(what);
        assert!(matches!(error, RunError::Diverged(_)), "{what}: {error}");
        assert_eq!(error.code(), "log/diverged");
        let trusted = Scrutiny { execution: Execution::Trusted, ..Scrutiny::default() };
        assert_eq!(looked_at(&forged, &trusted).expect("trusted").execution, Execution::Trusted, "{what}");
    }
}

#[test]
fn a_record_that_was_taken_out_is_missed_although_the_chain_was_made_anew() {
    let run = played(&scenario(SCENARIO), "bad-empty-hands", 7);
    let at = run.records.iter().position(|bytes| {
        let head = Stored::new(bytes).and_then(|stored| stored.head()).expect("it decodes");
        head.event.is_some()
    });
    let shorter = Run {
        records: [&run.records[..at.expect("an event")], &run.records[at.expect("an event") + 1..]].concat(),
        ..run
    };
    let mut count = 0;
    let forged = rechained(&shorter, |record| {
        record.seq = Seq::new(count);
        count += 1;
    });
    assert!(matches!(looked_at(&forged, &Scrutiny::default()), Err(RunError::Diverged(_))));
}

#[test]
fn a_log_rewritten_from_its_start_verifies_and_only_its_head_or_a_signature_tells() {
    // Another seed gives another true history: everything about it is right, except that it is not the one that was played.
    let key = SecretKey::from_entropy([1; 32]);
    let library = memory_library().with_key(key.clone());
    let first = library.load(&play(&library, &scenario(SCENARIO), "reference", 7)).expect("it loads");
    let mut second = played(&scenario(SCENARIO), "reference", 8);
    second.note = first.note.clone();
    assert_ne!(first.head(), second.head());
    let trusting = Scrutiny { keys: vec![key.public()], ..Scrutiny::default() };
    assert_eq!(codes(&looked_at(&first, &trusting).expect("looked at")), Vec::<&str>::new());
    assert_eq!(codes(&looked_at(&second, &trusting).expect("looked at")), ["provenance/bad-signature"]);
}

#[test]
fn a_note_is_marked_as_a_claim_and_no_score_comes_from_it() {
    let library = memory_library();
    let id = play(&library, &scenario(SCENARIO), "noop", 7);
    let forged =
        RunNote { score: Some(1.0), agent: "reference".to_owned(), ..library.load(&id).expect("it loads").note };
    library.store().set_note(&id, forged.to_bytes()).expect("anybody who can write to the store can do this");
    let row = RunRow::from(&library.list().expect("a list")[0]);
    assert_eq!(row.score, Some(1.0));
    for field in ["score", "agent"] {
        assert!(row.claimed.contains(&field), "{field} is said to be a claim");
    }
    let summary = summary(&library.load(&id).expect("it loads"), &Scrutiny::default());
    assert!(summary.score < 0.5 && !summary.passed, "grading looks at the records");
    assert_eq!(summary.provenance.claimed, ["agent"]);
}

#[test]
fn a_store_with_a_key_signs_what_ends_in_it_and_the_signature_travels_with_the_file() {
    let key = SecretKey::from_entropy([1; 32]);
    let library = memory_library().with_key(key.clone());
    let id = play(&library, &scenario(SCENARIO), "reference", 7);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.dayshift");
    library.export(&id, &path).expect("it exports");
    let other = memory_library();
    let imported = other.load(&other.import(&path).expect("it imports")).expect("it loads");
    let trusting = Scrutiny { keys: vec![key.public()], signed: true, ..Scrutiny::default() };
    for run in [library.load(&id).expect("it loads"), load_file(&path).expect("it loads"), imported] {
        let found = looked_at(&run, &trusting).expect("looked at");
        assert_eq!(found.signature, SignatureState::Valid { key: key.public().to_string(), trusted: true });
        assert_eq!((codes(&found), found.claimed), (Vec::new(), Vec::new()));
    }
}

#[test]
fn a_required_signature_must_be_there_and_by_a_key_that_was_named() {
    let (own, other) = (SecretKey::from_entropy([1; 32]), SecretKey::from_entropy([2; 32]));
    let required = |keys: &[PublicKey]| Scrutiny { keys: keys.to_vec(), signed: true, ..Scrutiny::default() };
    let unsigned = played(&scenario(SCENARIO), "reference", 7);
    assert_eq!(codes(&looked_at(&unsigned, &required(&[own.public()])).expect("looked at")), ["provenance/unsigned"]);
    let mut signed = unsigned;
    signed.note.signature = Some(other.sign(&signed.records, &signed.note.agent).expect("it is signed"));
    assert_eq!(codes(&looked_at(&signed, &required(&[own.public()])).expect("looked at")), ["provenance/unknown-key"]);
    assert!(!summary(&signed, &required(&[own.public()])).passed);
    assert!(summary(&signed, &required(&[own.public(), other.public()])).passed);
}

#[test]
fn a_signed_agents_name_cannot_be_exchanged() {
    let key = SecretKey::from_entropy([1; 32]);
    let mut run = played(&scenario(SCENARIO), "reference", 7);
    run.note.signature = Some(key.sign(&run.records, "reference").expect("it is signed"));
    run.note.agent = "somebody-else".to_owned();
    let summary = summary(&run, &Scrutiny::default());
    assert_eq!(codes(&summary.provenance), ["provenance/bad-signature"]);
    assert!(!summary.passed);
}

#[test]
fn an_unfinished_episode_is_not_signed_and_a_fork_does_not_inherit_a_signature() {
    let key = SecretKey::from_entropy([1; 32]);
    let library = memory_library().with_key(key.clone());
    let id = play(&library, &scenario(SCENARIO), "reference", 7);
    let run = library.load(&id).expect("it loads");
    let early = &run.records[..run.records.len() / 2];
    assert!(matches!(key.sign(early, "reference"), Err(RunError::Unfinished)));
    let (mut fork, _) = library.fork(&id, Seq::new(run.head().count / 2)).expect("it forks");
    fork.commit().expect("it is durable");
    assert_eq!(library.load(fork.id()).expect("it loads").note.signature, None);
}

#[test]
fn a_signature_can_be_checked_with_other_tools() {
    let key = SecretKey::from_entropy([5; 32]);
    let run = played(&scenario(SCENARIO), "reference", 7);
    let signature = key.sign(&run.records, "reference").expect("it is signed");
    let statement = Statement::of(&run.records, "reference", &signature.engine).expect("a closed log").to_text();
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    key.write_new(&folder.path().join("key.pem")).expect("it is written");
    let made =
        base64::Engine::decode(&base64::engine::general_purpose::STANDARD, &signature.signature).expect("base64");
    std::fs::write(at("statement"), &statement).expect("it is written");
    std::fs::write(at("signature"), made).expect("it is written");
    let verify = |statement: &str| {
        std::process::Command::new("openssl")
            .args(["pkeyutl", "-verify", "-pubin", "-inkey", &at("key.pem.pub"), "-rawin", "-in", statement])
            .args(["-sigfile", &at("signature")])
            .output()
    };
    let Ok(output) = verify(&at("statement")) else {
        eprintln!("not tried: there is no openssl here");
        return;
    };
    assert!(output.status.success(), "{output:?}");
    std::fs::write(at("other"), statement.replace("seed 7", "seed 8")).expect("it is written");
    assert!(!verify(&at("other")).expect("it runs").status.success());
}

const SHELL: &str = "\
id: host-v1
title: A command
request: Run it.
requirements: [{id: ran, text: The command ran.}]
agent: {name: ann, address: ann@acme.example}
office: {zone: Europe/Berlin}
services: {shell: {}}
epoch: 2026-03-16 08:00
days: [{name: mon, opens: 09:00, ends: 17:00, notification: Go.}]
checks: [{id: ran, title: It ran., requirement: ran}]
";

/// A host that answers every command with the same text, and counts them.
struct Says(&'static str, Mutex<usize>);

impl Host for Says {
    fn carry_out(&self, _: Seq, _: &Errand, _: &dyn Blobs) -> Value {
        *self.1.lock().expect("nobody panicked") += 1;
        map! {
            "exit_code" => 0_i64, "stdout" => self.0, "stdout_kept" => self.0.len(), "stdout_bytes" => self.0.len(), "stderr" => "",
            "stderr_kept" => 0_i64, "stderr_bytes" => 0_i64, "timed_out" => false, "changes" => Vec::<Value>::new(),
            "dropped" => Vec::<Value>::new(),
        }
    }
}

#[test]
fn what_a_host_brought_back_is_counted_and_compared_where_it_is_run_again() {
    let files = [("scenario.yaml", SHELL), ("checks.star", "def ran():\n    return True\n")];
    let files = files.map(|(path, text)| (path, text.as_bytes().to_vec()));
    let package = Package::from_files("host-v1", files).expect("a package");
    let scenario: Scenario<Office> = Scenario::load(package).unwrap_or_else(|problems| panic!("{problems:?}"));
    let library = Library::new(Arc::new(MemoryStore::new())).with_host(Arc::new(Says("made up", Mutex::new(0))));
    let (mut live, _) = library.start(&scenario, Seed::new(1), "by hand").expect("it starts");
    let call = ToolCall::new("shell.run", map! { "command" => "echo true" });
    live.input(Input::Call(call)).expect("it is recorded").answer.expect("it is carried out");
    live.input(Input::HandOver { text: String::new() }).expect("handed over");
    let run = library.load(&live.finish(0).expect("it finishes")).expect("it loads");

    let found = looked_at(&run, &Scrutiny::default()).expect("it is executed again");
    assert_eq!((found.host.results, found.host.run_again, codes(&found)), (1, false, Vec::new()));
    assert_eq!(found.scenario.package, PackageIs::Unknown);

    let same = Arc::new(Says("made up", Mutex::new(0)));
    let again = Scrutiny { host: Some(Arc::clone(&same) as Arc<dyn Host>), ..Scrutiny::default() };
    let found = looked_at(&run, &again).expect("it is executed again");
    assert_eq!((found.host.run_again, found.host.differing.len(), codes(&found)), (true, 0, Vec::new()));
    assert_eq!(*same.1.lock().expect("nobody panicked"), 1, "the command was run again");

    let honest = Scrutiny { host: Some(Arc::new(Says("true", Mutex::new(0)))), ..Scrutiny::default() };
    let found = looked_at(&run, &honest).expect("it is executed again");
    assert_eq!((found.host.differing.len(), codes(&found)), (1, vec!["provenance/host-differs"]));
    assert_eq!(found.host.differing[0].recorded.get("stdout"), Some(&Value::from("made up")));
    assert!(!summary(&run, &honest).passed);
}
