//! The combination of credit with a trajectory's advantage, against the recorded vectors and on random groups.

use dayshift_replay::credit::{Centre, Combination, CreditError, combine};
use proptest::prelude::*;
use serde_json::Value as Json;

#[test]
fn every_centre_reproduces_the_reference() {
    let file: Json = serde_json::from_str(include_str!("../vectors/vtca_vectors.json")).unwrap();
    let recorded = &file["combine"];
    let advantages: Vec<f64> = serde_json::from_value(recorded["a_traj"].clone()).unwrap();
    let credits: Vec<Vec<f64>> = serde_json::from_value(recorded["credits"].clone()).unwrap();
    let tokens: Vec<Vec<f64>> = serde_json::from_value(recorded["weights"].clone()).unwrap();
    for (name, centre, tokens) in [
        ("trajectory", Centre::Trajectory, None),
        ("none", Centre::None, None),
        ("group_loo", Centre::GroupLeaveOneOut, None),
        ("trajectory_tokens", Centre::Trajectory, Some(tokens.as_slice())),
    ] {
        let expected: Vec<Vec<f64>> = serde_json::from_value(recorded["out"][name].clone()).unwrap();
        let found = combine(&advantages, &credits, tokens, Combination::default().centred(centre)).unwrap();
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
            assert!((found - expected).abs() < 1e-9, "{name}: {found} is not {expected}");
        }
    }
}

#[test]
fn lists_of_different_lengths_are_refused() {
    let short = combine(&[1.0, 2.0], &[vec![0.1]], None, Combination::default());
    assert_eq!(short, Err(CreditError::Length { what: "credits", found: 1, expected: 2 }));
    let tokens = combine(&[1.0], &[vec![0.1, 0.2]], Some(&[vec![1.0]]), Combination::default());
    assert_eq!(tokens, Err(CreditError::Length { what: "a trajectory's tokens", found: 1, expected: 2 }));
}

#[test]
fn a_trajectory_without_turns_stays_without() {
    let found = combine(&[0.5, 1.0], &[vec![], vec![0.0, 0.0]], None, Combination::default()).unwrap();
    assert_eq!(found, [vec![], vec![1.0, 1.0]]);
}

#[test]
fn knobs_outside_their_range_are_refused() {
    assert!(Combination::new(0.0, 0.0, 1e-9, Centre::Trajectory).is_ok());
    assert!(Combination::new(-0.1, 1.0, 0.1, Centre::Trajectory).is_err());
    assert!(Combination::new(0.5, f64::NAN, 0.1, Centre::Trajectory).is_err());
    assert!(Combination::new(0.5, 1.0, 0.0, Centre::Trajectory).is_err());
}

type Group = (Vec<f64>, Vec<Vec<f64>>, Vec<Vec<f64>>);

fn group() -> impl Strategy<Value = Group> {
    let turn = (prop_oneof![2 => Just(0.0), 1 => -0.5..1.0], 1.0..50.0);
    let trajectory = (-3.0..3.0, prop::collection::vec(turn, 1..9));
    prop::collection::vec(trajectory, 1..6).prop_map(|rows| {
        let advantages = rows.iter().map(|(advantage, _)| *advantage).collect();
        let credits = rows.iter().map(|(_, turns)| turns.iter().map(|(credit, _)| *credit).collect()).collect();
        let tokens = rows.iter().map(|(_, turns)| turns.iter().map(|(_, tokens)| *tokens).collect()).collect();
        (advantages, credits, tokens)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_trajectory_keeps_its_mean_advantage((advantages, credits, tokens) in group()) {
        let found = combine(&advantages, &credits, Some(&tokens), Combination::default()).unwrap();
        for ((advantage, row), tokens) in advantages.iter().zip(&found).zip(&tokens) {
            let weighted: f64 = row.iter().zip(tokens).map(|(x, weight)| x * weight).sum();
            prop_assert!((weighted / tokens.iter().sum::<f64>() - advantage).abs() < 1e-9);
        }
    }

    #[test]
    fn no_turn_moves_further_than_lambda_times_the_bound((advantages, credits, tokens) in group()) {
        for centre in [Centre::Trajectory, Centre::None, Centre::GroupLeaveOneOut] {
            let combination = Combination::default().centred(centre);
            let found = combine(&advantages, &credits, Some(&tokens), combination).unwrap();
            for (advantage, row) in advantages.iter().zip(&found) {
                prop_assert!(row.iter().all(|x| (x - advantage).abs() <= 0.5 + 1e-9));
            }
        }
    }

    #[test]
    fn a_large_advantage_keeps_its_sign((advantages, credits, tokens) in group()) {
        let found = combine(&advantages, &credits, Some(&tokens), Combination::default()).unwrap();
        for (advantage, row) in advantages.iter().zip(&found).filter(|(advantage, _)| advantage.abs() > 0.5) {
            prop_assert!(row.iter().all(|x| x * advantage > 0.0));
        }
    }
}
