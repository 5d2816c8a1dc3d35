//! What must hold for the credit of any episode.

use std::collections::{BTreeMap, BTreeSet};

use dayshift_engine::{Actor, Seq, SmolStr, Turn, Value};
use dayshift_replay::credit::{Config, Edges, Entry, Ledger, Row, Trace, Verdicts};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::episodes::{Episode, config, episode, exogenous_episode};
use crate::toy::ToyEvent;

const TOLERANCE: f64 = 1e-9;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn credit_sums_to_what_the_score_moved_by_itself(episode in episode(), config in config()) {
        let ledger = episode.settle(&config);
        prop_assert!(ledger.imbalance().abs() < TOLERANCE, "{}", ledger.imbalance());
        let rows: f64 = ledger.rows.iter().map(|row| row.amount).sum();
        prop_assert!((rows - (ledger.end - ledger.start)).abs() < TOLERANCE);
        for credit in ledger.credit.values() {
            let parts = credit.direct + credit.prerequisite + credit.regression;
            prop_assert!((credit.amount - parts).abs() < TOLERANCE);
        }
    }

    #[test]
    fn the_score_of_the_ledger_is_that_of_the_world(episode in episode()) {
        let end = episode.record().end;
        let score: f64 = episode.checks.iter().map(|check| check.weight * check.level(&end)).sum();
        prop_assert!((episode.settle(&Config::default()).end - score).abs() < TOLERANCE);
    }

    #[test]
    fn prerequisites_share_at_most_rho_of_new_progress(episode in episode(), config in config()) {
        let rows = episode.settle(&config).rows;
        let shared = sum(&rows, |entry| matches!(entry, Entry::Prerequisite { .. }));
        let progress = shared + sum(&rows, |entry| matches!(entry, Entry::Flip { .. }));
        prop_assert!(shared <= config.rho() * progress + TOLERANCE);
    }

    #[test]
    fn prerequisites_are_other_turns_and_never_pay(episode in episode(), config in config()) {
        for row in episode.settle(&config).rows {
            if let Entry::Prerequisite { turn, flip, distance } = row.entry {
                // A reaction may rest on what a turn did after the one that set it off; its records are earlier all the same.
                prop_assert!(turn != flip && distance >= 1 && row.amount >= 0.0, "{row:?}");
            }
        }
    }

    #[test]
    fn without_rho_every_turn_gets_its_potential_difference_with_its_reactions(episode in episode()) {
        let potential = episode.record().potential;
        for (turn, credit) in episode.settle(&Config::new(0.0, 0.7).unwrap()).credit {
            let moved = potential.get(&turn).copied().unwrap_or_default();
            prop_assert!((credit.amount - moved).abs() < TOLERANCE);
        }
    }

    #[test]
    fn an_inserted_irrelevant_turn_gets_nothing_and_changes_nobody(
        episode in episode(),
        config in config(),
        place in any::<Index>(),
    ) {
        let (longer, inserted) = with_idle_turn(&episode, place);
        let found = longer.settle(&config);
        prop_assert_eq!(found.credit[&inserted].amount, 0.0);
        for (turn, credit) in episode.settle(&config).credit {
            let same = found.credit[&doubled(turn)].amount;
            prop_assert!((same - credit.amount).abs() < TOLERANCE);
        }
    }

    #[test]
    fn an_amount_is_exogenous_only_where_no_turn_is_behind_it(episode in episode(), config in config()) {
        let owners = crate::toy::owners(&episode.events);
        for row in episode.settle(&config).rows {
            prop_assert_eq!(row.entry == Entry::Exogenous, owners[&row.at].is_none(), "{:?}", row);
        }
    }

    #[test]
    fn the_order_of_checks_changes_no_row(episode in episode(), config in config(), places in Just([3, 0, 2, 1]).prop_shuffle()) {
        let mut shuffled = episode.clone();
        shuffled.checks = places.iter().map(|place| episode.checks[*place].clone()).collect();
        prop_assert_eq!(in_check_order(episode.settle(&config)), in_check_order(shuffled.settle(&config)));
    }

    #[test]
    fn the_names_of_keys_change_no_row(episode in episode(), config in config()) {
        prop_assert_eq!(episode.settle(&config), renamed(&episode).settle(&config));
    }

    #[test]
    fn splitting_a_turn_into_more_calls_changes_no_credit(episode in episode(), config in config()) {
        let mut split = episode.clone();
        split.events = episode.events.iter().flat_map(in_two_calls).collect();
        let found = split.renumbered().settle(&config);
        for (turn, credit) in episode.settle(&config).credit {
            prop_assert!((found.credit[&turn].amount - credit.amount).abs() < TOLERANCE);
        }
    }

    #[test]
    fn an_episode_without_the_agent_credits_nobody(episode in exogenous_episode(), config in config()) {
        let ledger = episode.settle(&config);
        prop_assert!(ledger.credit.is_empty());
        prop_assert!((ledger.exogenous - (ledger.end - ledger.start)).abs() < TOLERANCE);
    }

    #[test]
    fn identical_logs_give_identical_ledgers(episode in episode(), config in config()) {
        prop_assert_eq!(episode.settle(&config), episode.clone().settle(&config));
    }

    #[test]
    fn lasting_credit_sums_to_the_score_and_ignores_what_was_lost(episode in episode(), config in config()) {
        let ledger = episode.settle(&config.lasting_only());
        prop_assert!(ledger.imbalance().abs() < TOLERANCE, "{}", ledger.imbalance());
        let end = episode.record().end;
        // No check starts fulfilled: the keys that checks look at are empty.
        let lost: BTreeSet<&SmolStr> =
            episode.checks.iter().filter(|check| check.level(&end) == 0.0).map(|check| &check.id).collect();
        prop_assert!(ledger.rows.iter().all(|row| !lost.contains(&row.check)));
    }

    #[test]
    fn audited_credit_pays_only_necessary_prerequisites(episode in episode(), config in config(), bits in any::<u16>()) {
        let necessary: BTreeSet<Turn> = (0..16).filter(|bit| bits >> bit & 1 == 1).map(Turn::new).collect();
        let ledger = episode.settle(&config.audited(necessary.clone()));
        prop_assert!(ledger.imbalance().abs() < TOLERANCE, "{}", ledger.imbalance());
        for row in ledger.rows {
            if let Entry::Prerequisite { turn, .. } = row.entry {
                prop_assert!(necessary.contains(&turn));
            }
        }
    }

    #[test]
    fn untracked_reads_take_from_the_shared_part_alone(episode in episode(), config in config(), bits in any::<u16>()) {
        let recorded = episode.record();
        let mut steps = recorded.trace.steps().to_vec();
        for step in &mut steps {
            step.untracked = bits >> step.seq.get() & 1 == 1;
        }
        let trace = Trace::new(steps).unwrap();
        let edges = Edges::of(&trace, &BTreeSet::new());
        let ledger = Ledger::settle(&trace, &edges, &recorded.verdicts, &config);
        prop_assert!(ledger.imbalance().abs() < TOLERANCE, "{}", ledger.imbalance());
        let shared = sum(&ledger.rows, |entry| matches!(entry, Entry::Prerequisite { .. } | Entry::Unattributed { .. }));
        let progress = shared + sum(&ledger.rows, |entry| matches!(entry, Entry::Flip { .. }));
        prop_assert!(shared <= config.rho() * progress + TOLERANCE);
        prop_assert!(ledger.unattributed >= 0.0);
    }

    #[test]
    fn movements_may_be_passed_in_any_order(episode in episode(), config in config()) {
        let recorded = episode.record();
        let verdicts = &recorded.verdicts;
        let backwards = verdicts.movements().iter().rev().cloned().collect();
        let turned = Verdicts::new(&recorded.trace, verdicts.checks().to_vec(), backwards, Vec::new()).unwrap();
        let edges = Edges::of(&recorded.trace, &BTreeSet::new());
        prop_assert_eq!(episode.settle(&config), Ledger::settle(&recorded.trace, &edges, &turned, &config));
    }
}

fn sum(rows: &[Row], counts: impl Fn(&Entry) -> bool) -> f64 {
    rows.iter().filter(|row| counts(&row.entry)).map(|row| row.amount).sum()
}

fn in_check_order(ledger: Ledger) -> Vec<Row> {
    let mut rows = ledger.rows;
    rows.sort_by(|left, right| (&left.check, left.at).cmp(&(&right.check, right.at)));
    rows
}

fn doubled(turn: Turn) -> Turn {
    Turn::new(turn.get() * 2)
}

/// Returns the episode with all turn numbers doubled and one turn without effect put between two segments, where no turn is cut.
fn with_idle_turn(episode: &Episode, place: Index) -> (Episode, Turn) {
    let mut longer = episode.clone();
    for event in &mut longer.events {
        event.seq = Seq::new(event.seq.get() * 2);
        event.turn = event.turn.map(doubled);
        event.causes.iter_mut().for_each(|cause| *cause = Seq::new(cause.get() * 2));
    }
    let turn_before = |place: usize| longer.events[..place].iter().rev().find_map(|event| event.turn);
    let turn_after = |place: usize| longer.events[place..].iter().find_map(|event| event.turn);
    let cuts_nothing = |place: &usize| {
        let ends = [place.checked_sub(1), Some(*place)].map(|at| longer.events.get(at?));
        let same_actor =
            matches!(ends, [Some(left), Some(right)] if left.actor == right.actor && left.turn == right.turn);
        let same_turn = turn_before(*place).is_some() && turn_before(*place) == turn_after(*place);
        !same_actor && !same_turn
    };
    let places: Vec<usize> = (0..=longer.events.len()).filter(cuts_nothing).collect();
    let place = *place.get(&places);
    let turn = turn_before(place).unwrap_or_default().next();
    let idle = ToyEvent {
        seq: Seq::new(place as u64 * 2 + 1),
        actor: Actor::Agent,
        turn: Some(turn),
        op: "noop".into(),
        arguments: Value::Map(BTreeMap::new()),
        causes: Vec::new(),
    };
    longer.events.insert(place, idle);
    (longer, turn)
}

/// Returns the event twice, if it is the agent's: the second call repeats what the first did.
fn in_two_calls(event: &ToyEvent) -> Vec<ToyEvent> {
    let first = ToyEvent { seq: Seq::new(event.seq.get() * 2), ..event.clone() };
    let first = ToyEvent { causes: event.causes.iter().map(|cause| Seq::new(cause.get() * 2)).collect(), ..first };
    let second = ToyEvent { seq: first.seq.next(), ..first.clone() };
    if event.actor == Actor::Agent { vec![first, second] } else { vec![first] }
}

fn renamed(episode: &Episode) -> Episode {
    let rename = |key: &str| SmolStr::from(format!("room-{}/{key}", key.len()));
    let mut renamed = episode.clone();
    renamed.initial = episode.initial.iter().map(|(key, value)| (rename(key), value.clone())).collect();
    for event in &mut renamed.events {
        if let Value::Map(arguments) = &mut event.arguments {
            for name in ["k", "src", "dst"] {
                if let Some(Value::Text(key)) = arguments.get_mut(name) {
                    *key = rename(key);
                }
            }
        }
    }
    for check in &mut renamed.checks {
        for (key, _) in &mut check.wanted {
            *key = rename(key);
        }
    }
    renamed
}
