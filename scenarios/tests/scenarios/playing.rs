//! A scenario is played to its end, by agents that need no model.

use std::convert::Infallible;
use std::sync::Arc;

use dayshift_engine::{Episode, Frame, Moment, Seed, Value, World as _};
use dayshift_scenarios::{Agent, Package, Scenario, run};

use crate::toy::{Toy, VOCABULARY, blobs, load, package};

pub(crate) fn play(scenario: &Scenario<Toy>, agent: &mut dyn Agent) -> (Episode<Toy>, Vec<String>) {
    let blobs = blobs();
    let prefix = scenario.prefix(Toy::new(), &blobs).expect("laid out");
    let (mut episode, opening) =
        Episode::open(&prefix, Seed::new(7), scenario.script(), Arc::clone(&blobs)).expect("opened");
    let mut told = opening.notices.clone();
    run(&mut episode, opening, agent, |_, _, step| {
        told.extend(step.notices.iter().cloned());
        Ok::<(), Infallible>(())
    })
    .expect("played");
    (episode, told)
}

fn play_as(name: &str) -> (Scenario<Toy>, Episode<Toy>, Vec<String>) {
    let scenario = load(&[]).expect("loads");
    let mut agent = scenario.agent(name).expect("known");
    let (episode, told) = play(&scenario, &mut *agent);
    (scenario, episode, told)
}

fn levels(scenario: &Scenario<Toy>, episode: &Episode<Toy>) -> Vec<f64> {
    let checks = scenario.checks();
    let level = |index| {
        let frame = Frame::new();
        checks.level(index, &episode.scene(&frame)).expect("evaluates")
    };
    (0..checks.specs().len()).map(level).collect()
}

#[test]
fn the_reference_solution_reaches_the_levels_that_its_work_deserves() {
    let (scenario, episode, _) = play_as("reference");
    assert!(episode.is_closed());
    assert_eq!(levels(&scenario, &episode), [1.0, 0.5, 1.0]);
}

#[test]
fn an_agent_that_does_nothing_misses_what_it_should_have_done() {
    let (scenario, episode, _) = play_as("noop");
    assert_eq!(levels(&scenario, &episode), [0.0, 0.5, 1.0]);
}

#[test]
fn events_happen_on_time_on_conditions_and_after_one_another_loud_or_silent() {
    let (_, episode, told) = play_as("reference");
    let dump = episode.world().dump();
    assert_eq!(dump.get("seen"), Some(&Value::Bool(true)));
    assert_eq!(dump.get("seen-by").and_then(Value::as_text), Some("ben"));
    assert_eq!(dump.get("price"), Some(&Value::Int(12)));
    assert!(told.iter().any(|line| line.contains("The total was seen.")), "{told:?}");
    assert!(told.iter().any(|line| line.contains("You have new mail.")), "{told:?}");
}

#[test]
fn a_persona_answers_each_message_once_and_remembers() {
    let (_, episode, _) = play_as("reference");
    assert_eq!(episode.world().dump().get("ben-count"), Some(&Value::Int(1)));
}

#[test]
fn the_initial_world_holds_the_files_of_the_package() {
    let (_, episode, _) = play_as("noop");
    assert_eq!(episode.world().dump().get("/shared/note.txt").and_then(Value::as_text), Some("Hello"));
}

#[test]
fn one_scenario_seed_and_agent_give_one_log() {
    let heads = [play_as("reference"), play_as("reference")].map(|(_, episode, _)| episode.log().head().hash);
    assert_eq!(heads[0], heads[1]);
}

#[test]
fn what_a_check_read_is_its_evidence_in_the_past_as_well() {
    let (scenario, episode, _) = play_as("reference");
    let frame = Frame::new();
    scenario.checks().level(1, &episode.scene(&frame)).expect("evaluates");
    let reads = frame.close().reads;
    let writers: Vec<u64> =
        reads.iter().filter(|read| read.key.as_str() == "kv:price").map(|r| r.written.get()).collect();
    assert_eq!(writers.len(), 2, "once as it was on Monday, once as it is: {reads:?}");
    assert_eq!(writers[0], 0);
}

#[test]
fn moments_weights_and_titles_of_checks_are_as_written() {
    let scenario = load(&[]).expect("loads");
    let checks = scenario.checks();
    let moments: Vec<Moment> = checks.specs().iter().map(|spec| spec.moment).collect();
    assert_eq!(moments, [Moment::EndOfDay(0), Moment::Final, Moment::Throughout { cap: Some(0.3) }]);
    let weights: Vec<f64> = checks.specs().iter().map(|spec| spec.weight).collect();
    assert_eq!(weights, [2.0, 1.0, 0.0]);
    assert!((checks.threshold() - 0.6).abs() < 1e-12);
}

#[test]
fn a_package_comes_back_from_its_blobs() {
    let blobs = blobs();
    let original = package(&[]);
    let ids = original.to_blobs(&*blobs);
    assert!(ids.contains(&original.digest()));
    let back = Package::from_blobs(original.digest(), &*blobs).expect("all there");
    assert_eq!(back.digest(), original.digest());
    assert_eq!(Scenario::<Toy>::load_with(back, &VOCABULARY).expect("loads").id(), "toy-v1");
}

#[test]
fn one_changed_byte_changes_the_digest() {
    assert_ne!(package(&[]).digest(), package(&[("world/files/shared/note.txt", "Hallo")]).digest());
}
