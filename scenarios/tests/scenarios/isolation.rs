//! Scripts that are evaluated elsewhere: the same levels, the same log, and nothing lost when the process that evaluates them is.

#![expect(clippy::disallowed_methods, reason = "a thread stands in for the process")]

use std::io::{PipeReader, PipeWriter, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dayshift_engine::{Episode, Frame};
use dayshift_scenarios::{Isolation, Scenario, ScriptHost, ScriptProcess, built_in, is_built_in, serve_scripts};

use crate::playing::play;
use crate::toy::{CHECKS, Toy, VOCABULARY, load, package};

/// Starts threads instead of processes. Each ends after so many messages.
#[derive(Debug)]
struct Threads {
    started: Arc<AtomicUsize>,
    messages: usize,
}

struct Thread {
    input: PipeWriter,
    output: PipeReader,
    messages: usize,
}

impl ScriptHost for Threads {
    fn start(&self) -> Result<Box<dyn ScriptProcess>, String> {
        self.started.fetch_add(1, Ordering::Relaxed);
        let (mut far_input, input) = std::io::pipe().map_err(|error| error.to_string())?;
        let (output, mut far_output) = std::io::pipe().map_err(|error| error.to_string())?;
        std::thread::spawn(move || serve_scripts(&mut far_input, &mut far_output));
        Ok(Box::new(Thread { input, output, messages: self.messages }))
    }
}

impl ScriptProcess for Thread {
    fn is_usable(&mut self) -> bool {
        true
    }

    fn begin(&mut self) {}

    fn send(&mut self, message: &[u8]) -> Result<(), String> {
        let size = u32::try_from(message.len()).expect("short");
        let sent = self.input.write_all(&size.to_le_bytes()).and_then(|()| self.input.write_all(message));
        sent.map_err(|error| error.to_string())
    }

    fn receive(&mut self) -> Result<Vec<u8>, String> {
        self.messages = self.messages.checked_sub(1).ok_or("was lost")?;
        let mut size = [0; 4];
        self.output.read_exact(&mut size).map_err(|error| error.to_string())?;
        let mut message = vec![0; u32::from_le_bytes(size) as usize];
        self.output.read_exact(&mut message).map_err(|error| error.to_string())?;
        Ok(message)
    }
}

fn threads(messages: usize) -> (Arc<Isolation>, Arc<AtomicUsize>) {
    let started = Arc::new(AtomicUsize::new(0));
    (Isolation::new(Box::new(Threads { started: Arc::clone(&started), messages })), started)
}

fn isolated(changes: &[(&str, &str)], isolation: &Arc<Isolation>) -> Scenario<Toy> {
    Scenario::load_isolated(package(changes), &VOCABULARY, isolation).expect("loads")
}

fn played(scenario: &Scenario<Toy>) -> (Episode<Toy>, Vec<Result<f64, String>>) {
    let mut agent = scenario.agent("reference").expect("known");
    let (episode, _) = play(scenario, &mut *agent);
    let checks = scenario.checks();
    let level = |index| checks.level(index, &episode.scene(&Frame::new())).map_err(|error| error.to_string());
    let levels = (0..checks.specs().len()).map(level).collect();
    (episode, levels)
}

#[test]
fn an_episode_is_the_same_wherever_its_scripts_are_evaluated() {
    let (isolation, started) = threads(usize::MAX);
    let (here, levels_here) = played(&load(&[]).expect("loads"));
    let (apart, levels_apart) = played(&isolated(&[], &isolation));
    assert_eq!(here.log().head(), apart.log().head(), "every byte of the log");
    assert_eq!(levels_here, levels_apart);
    assert_eq!(started.load(Ordering::Relaxed), 1, "one process serves them all");
}

#[test]
fn a_fault_of_a_script_is_told_in_the_same_words() {
    for broken in [
        CHECKS.replace("== 42", "== 42 + nothing"),
        format!("{CHECKS}\nX = 1 // 0\n"),
        format!("{CHECKS}\ndef late(:\n"),
    ] {
        let (isolation, _) = threads(usize::MAX);
        let here = load(&[("checks.star", &broken)]).map(drop);
        let apart = Scenario::<Toy>::load_isolated(package(&[("checks.star", &broken)]), &VOCABULARY, &isolation);
        assert_eq!(here, apart.map(drop), "{broken}");
        assert!(here.is_err());
    }
    let (isolation, _) = threads(usize::MAX);
    let failing = CHECKS.replace("== 42", "== [][0]");
    let levels = |scenario: &Scenario<Toy>| played(scenario).1;
    let here = levels(&load(&[("checks.star", &failing)]).expect("loads"));
    assert_eq!(here, levels(&isolated(&[("checks.star", &failing)], &isolation)));
    assert!(here[0].as_ref().is_err_and(|error| error.contains("checks.star:")), "{here:?}");
}

#[test]
fn a_process_that_is_lost_fails_one_evaluation_and_the_next_one_has_a_new_process() {
    // Reading the two scripts takes two messages; the third process lives as long as the others.
    let (isolation, started) = threads(3);
    let scenario = isolated(&[], &isolation);
    let (_, levels) = played(&isolated(&[], &threads(usize::MAX).0));
    let episode = played(&scenario).0;
    let checks = scenario.checks();
    let mut lost = 0;
    for index in (0..checks.specs().len()).cycle().take(12) {
        match checks.level(index, &episode.scene(&Frame::new())) {
            Ok(level) => assert_eq!(Ok(level), levels[index]),
            Err(error) => {
                assert!(error.to_string().contains("checks.star") && error.to_string().contains("was lost"), "{error}");
                lost += 1;
            }
        }
    }
    assert!(lost > 0 && lost < 12, "{lost}");
    assert!(started.load(Ordering::Relaxed) > 1);
}

#[test]
fn where_no_process_starts_the_package_is_refused_and_says_so() {
    #[derive(Debug)]
    struct Nowhere;
    impl ScriptHost for Nowhere {
        fn start(&self) -> Result<Box<dyn ScriptProcess>, String> {
            Err("there is no room".to_owned())
        }
    }
    let isolation = Isolation::new(Box::new(Nowhere));
    let problems =
        Scenario::<Toy>::load_isolated(package(&[]), &VOCABULARY, &isolation).map(drop).expect_err("refused");
    assert!(problems[0].message.contains("could not be started: there is no room"), "{:?}", problems[0]);
}

#[test]
fn only_what_is_built_in_byte_for_byte_is_evaluated_here() {
    let name = dayshift_scenarios::built_in_names().next().expect("there are some");
    let own = built_in(name).expect("it is there");
    assert!(is_built_in(&own));
    let checks = own.get("checks.star").expect("it has checks").to_vec();
    let changed = own.clone().with_file("checks.star", [&checks[..], b"\n"].concat()).expect("a good path");
    assert!(!is_built_in(&changed), "the same name is not enough");
    assert!(!is_built_in(&own.with_file("more.txt", *b"x").expect("a good path")), "nor are the same files and more");
    assert!(!is_built_in(&package(&[])));
}
