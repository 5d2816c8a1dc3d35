//! Dependency-closed replay and the counterfactual audit.

use std::collections::BTreeSet;

use dayshift_engine::{Actor, Seed, Seq, Turn, map};
use dayshift_replay::credit::{
    ClosedReplay, Config, Edges, Fidelity, SHAPLEY_EXACT_TURNS_MAX, SliceTarget, audit, slice_soundness,
};
use proptest::prelude::*;

use crate::episodes::{Episode, episode};
use crate::toy::{ToyCheck, ToyEvent};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn replaying_every_turn_repeats_the_recording(episode in episode()) {
        let recorded = episode.record();
        let rule = ClosedReplay::new(&recorded.trace, &BTreeSet::new());
        let ran = rule.run(&recorded.trace.turns(), |step| Ok::<_, ()>(step.output.clone())).unwrap();
        prop_assert!(ran.dropped.is_empty());
        prop_assert_eq!(ran.executed.len(), episode.events.len());
    }

    #[test]
    fn the_backward_closure_alone_reaches_the_same_level(episode in episode()) {
        let recorded = episode.record();
        let edges = Edges::of(&recorded.trace, &BTreeSet::new());
        let rule = ClosedReplay::new(&recorded.trace, &BTreeSet::new());
        let targets: Vec<SliceTarget> = episode
            .checks
            .iter()
            .enumerate()
            .filter(|(_, check)| check.level(&recorded.end) == 1.0)
            .map(|(check, toy)| SliceTarget { check, roots: toy.roots(&recorded.end), level: 1.0 })
            .collect();
        let found = slice_soundness(&recorded.trace, &edges, &targets, |check, keep| {
            let alone = ToyCheck { weight: 1.0, ..episode.checks[check].clone() };
            Ok::<_, ()>(episode.replay(&[alone], &rule, keep))
        });
        let found = found.unwrap();
        prop_assert_eq!(found.sound, targets.len());
        prop_assert_eq!(found.tried, targets.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn shapley_values_sum_to_what_all_turns_achieve(episode in episode()) {
        let recorded = episode.record();
        let edges = Edges::of(&recorded.trace, &BTreeSet::new());
        let rule = ClosedReplay::new(&recorded.trace, &BTreeSet::new());
        let turns: BTreeSet<Turn> = recorded.trace.turns().into_iter().take(8).collect();
        let mut stream = Seed::new(0).stream("audit");
        let found = audit(&recorded.trace, &edges, &turns, &mut stream, |keep| {
            Ok::<_, ()>(episode.replay(&episode.checks, &rule, keep))
        });
        let found = found.unwrap();
        prop_assert!((found.shapley.values().sum::<f64>() - (found.full - found.empty)).abs() < 1e-9);
        for turn in &found.null_turns {
            prop_assert!(found.shapley[turn].abs() < 1e-9 && found.necessary[turn].abs() < 1e-9);
        }
    }
}

#[test]
fn a_value_read_in_the_same_turn_keeps_its_source_in_the_slice() {
    // Turn 2 reads what turn 1 copied and writes it on: no credit flows inside a turn, but without turn 1 there is nothing to read.
    let episode = Episode {
        initial: [("src0".into(), "ID-2041".into())].into_iter().collect(),
        events: vec![
            event(1, Actor::Agent, Some(1), "copy", map! { "src" => "src0", "dst" => "k0" }, &[]),
            event(2, Actor::Agent, Some(2), "read", map! { "k" => "k0" }, &[]),
            event(3, Actor::Agent, Some(2), "write", map! { "k" => "k1", "v" => "ID-2041" }, &[]),
        ],
        checks: Vec::new(),
    };
    let recorded = episode.record();
    let edges = Edges::of(&recorded.trace, &BTreeSet::new());
    assert_eq!(edges.sources(Seq::new(3)).count(), 0);
    assert_eq!(edges.slice(&recorded.trace, [Seq::new(3)]), turns(&[1, 2]));
}

#[test]
fn a_record_is_dropped_with_the_output_that_its_argument_came_from() {
    let recorded = reply_chain().record();
    let rule = ClosedReplay::new(&recorded.trace, &BTreeSet::new());
    let ran = rule.run(&turns(&[1, 3]), |step| Ok::<_, ()>(step.output.clone())).unwrap();
    assert_eq!(ran.dropped, seqs(&[3, 4]));
}

#[test]
fn a_reply_is_dropped_with_the_message_that_caused_it() {
    let recorded = reply_chain().record();
    let rule = ClosedReplay::new(&recorded.trace, &BTreeSet::new());
    let ran = rule.run(&turns(&[2]), |step| Ok::<_, ()>(step.output.clone())).unwrap();
    assert_eq!(ran.dropped, seqs(&[1, 2, 4]));
}

#[test]
fn a_value_that_was_known_before_needs_no_source() {
    let recorded = reply_chain().record();
    let rule = ClosedReplay::new(&recorded.trace, &["PO-55120".into()].into_iter().collect());
    let ran = rule.run(&turns(&[3]), |step| Ok::<_, ()>(step.output.clone())).unwrap();
    assert!(ran.executed.contains(&Seq::new(4)));
}

#[test]
fn an_error_of_the_world_ends_the_replay() {
    let recorded = reply_chain().record();
    let rule = ClosedReplay::new(&recorded.trace, &BTreeSet::new());
    assert_eq!(rule.run(&turns(&[1]), |_| Err("broken")), Err("broken"));
}

#[test]
fn shapley_values_are_exact_up_to_twelve_turns_and_estimated_beyond() {
    for (count, exact) in [(11, true), (SHAPLEY_EXACT_TURNS_MAX as u32, true), (13, false)] {
        let players: BTreeSet<Turn> = (1..=count).map(Turn::new).collect();
        let recorded = reply_chain().record();
        let edges = Edges::of(&recorded.trace, &BTreeSet::new());
        let mut stream = Seed::new(0).stream("audit");
        // Two turns are needed together; all others change nothing.
        let together = |keep: &BTreeSet<Turn>| Ok::<_, ()>(f64::from(turns(&[2, 5]).is_subset(keep)));
        let found = audit(&recorded.trace, &edges, &players, &mut stream, together).unwrap();
        assert_eq!(found.exact, exact);
        // An antithetic pair puts each of the two last exactly once, so that even the estimate has no error here.
        assert!((found.shapley[&Turn::new(2)] - 0.5).abs() < 1e-9, "{found:?}");
        assert!((found.shapley[&Turn::new(5)] - 0.5).abs() < 1e-9, "{found:?}");
        assert_eq!(found.null_turns.len(), count as usize - 2);
    }
}

#[test]
fn no_set_of_turns_is_replayed_twice() {
    let recorded = reply_chain().record();
    let edges = Edges::of(&recorded.trace, &BTreeSet::new());
    let mut seen = Vec::new();
    let mut stream = Seed::new(0).stream("audit");
    let value = |keep: &BTreeSet<Turn>| {
        seen.push(keep.clone());
        Ok::<_, ()>(keep.len() as f64)
    };
    audit(&recorded.trace, &edges, &turns(&[1, 2, 3]), &mut stream, value).unwrap();
    let distinct: BTreeSet<_> = seen.iter().cloned().collect();
    assert_eq!((seen.len(), distinct.len()), (8, 8));
}

#[test]
fn a_slice_that_misses_the_level_is_counted_as_unsound() {
    let recorded = reply_chain().record();
    let edges = Edges::of(&recorded.trace, &BTreeSet::new());
    let targets = [1.0, 0.5].map(|level| SliceTarget { check: 0, roots: vec![Seq::new(4)], level });
    let found = slice_soundness(&recorded.trace, &edges, &targets, |_, keep| {
        assert_eq!(*keep, turns(&[1, 2, 3]));
        Ok::<_, ()>(0.5)
    });
    let found = found.unwrap();
    assert_eq!((found.sound, found.tried, found.rate()), (1, 2, Some(0.5)));
}

#[test]
fn credit_on_a_chain_agrees_with_the_audit() {
    let episode = reply_chain();
    let recorded = episode.record();
    let edges = Edges::of(&recorded.trace, &BTreeSet::new());
    let rule = ClosedReplay::new(&recorded.trace, &BTreeSet::new());
    let mut stream = Seed::new(0).stream("audit");
    let value = |keep: &BTreeSet<Turn>| Ok::<_, ()>(episode.replay(&episode.checks, &rule, keep));
    let found = audit(&recorded.trace, &edges, &recorded.trace.turns(), &mut stream, value).unwrap();
    assert!((found.sufficient[&Turn::new(3)] - 1.0).abs() < 1e-9);
    assert!(found.sufficient[&Turn::new(2)].abs() < 1e-9);
    let fidelity = Fidelity::of(&episode.settle(&Config::default()), &found);
    assert_eq!((fidelity.precision, fidelity.recall, fidelity.null_credit), (Some(1.0), Some(1.0), 0.0));
    assert_eq!(fidelity.rank_correlation, None, "all Shapley values are one third");
}

/// Turn 1 asks, a colleague replies, turn 2 reads the reply, turn 3 books what it said.
fn reply_chain() -> Episode {
    let petra = Actor::Persona("petra".into());
    Episode {
        initial: [].into_iter().collect(),
        events: vec![
            event(1, Actor::Agent, Some(1), "write", map! { "k" => "sent/1", "v" => "which PO?" }, &[]),
            event(2, petra, None, "write", map! { "k" => "inbox/9", "v" => "PO-55120" }, &[1]),
            event(3, Actor::Agent, Some(2), "read", map! { "k" => "inbox/9" }, &[]),
            event(4, Actor::Agent, Some(3), "write", map! { "k" => "erp/po", "v" => "PO-55120" }, &[]),
        ],
        checks: vec![ToyCheck { id: "po".into(), weight: 1.0, wanted: vec![("erp/po".into(), "PO-55120".into())] }],
    }
}

fn event(
    seq: u64,
    actor: Actor,
    turn: Option<u32>,
    op: &str,
    arguments: dayshift_engine::Value,
    causes: &[u64],
) -> ToyEvent {
    let causes = causes.iter().map(|cause| Seq::new(*cause)).collect();
    ToyEvent { seq: Seq::new(seq), actor, turn: turn.map(Turn::new), op: op.into(), arguments, causes }
}

fn turns(numbers: &[u32]) -> BTreeSet<Turn> {
    numbers.iter().map(|number| Turn::new(*number)).collect()
}

fn seqs(numbers: &[u64]) -> BTreeSet<Seq> {
    numbers.iter().map(|number| Seq::new(*number)).collect()
}
