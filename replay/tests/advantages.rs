//! Group advantages against numbers that trainers' own code computed (their names and versions stand in the vector file; they work in
//! f32, hence the tolerance).

use std::collections::{BTreeMap, BTreeSet};

use dayshift_replay::credit::CreditError;
use dayshift_replay::credit::advantages::{
    Baseline, EpisodeStatistics, GigpoConfig, GigpoRow, Normalisation, Scale, Singleton, Std, TurnBaseline, Whitening,
    gae, gdpo, gigpo, group_advantages, total_rewards, turn_return_advantages, whiten,
};
use proptest::prelude::*;
use serde_json::Value as Json;

/// The vectors' algorithms that are no group advantage of ours: losses, token placement, state graphs, fuzzy anchors, other estimators.
const NOT_OFFERED: [&str; 6] = ["loss_agg", "gigpo_groups", "bilevel_gae", "spa_rl", "rewardflow", "maxrl"];

#[test]
fn every_vector_of_an_offered_algorithm_is_reproduced() {
    let mut reproduced = BTreeMap::<String, usize>::new();
    assert_eq!(vectors().len(), 105);
    for vector in vectors() {
        let id = text(&vector["id"]);
        let algorithm = text(&vector["algo"]);
        if NOT_OFFERED.contains(&algorithm.as_str()) {
            continue;
        }
        let outputs = computed(&algorithm, &vector);
        assert!(!outputs.is_empty(), "{id} compares nothing");
        for (name, found) in outputs {
            compare(&id, &found, &flat(&vector["output"][name]), vector["tol"].as_f64().unwrap());
        }
        *reproduced.entry(algorithm).or_default() += 1;
    }
    let counts = [
        ("drgrpo_adv", 17),
        ("gae_token_masked", 1),
        ("gagpo", 1),
        ("gdpo", 14),
        ("gigpo", 4),
        ("grpo", 39),
        ("mt_grpo", 1),
        ("rloo", 9),
        ("turn_ppo", 1),
        ("turn_rtg_grpo", 1),
        ("turn_rtg_position", 1),
        ("vineppo", 1),
    ];
    assert_eq!(reproduced, counts.map(|(name, count)| (name.to_owned(), count)).into());
}

#[test]
fn equal_rewards_give_no_advantage_however_large_they_are() {
    let rewards = [Some(1e12), Some(1e12 + 1e-4), Some(1e12)];
    assert_eq!(group_advantages(&rewards, &["a"; 3], Normalisation::GRPO), Ok(vec![0.0; 3]));
}

#[test]
fn a_row_without_rewards_gets_nothing_and_counts_in_no_mean() {
    let rewards = [Some(1.0), None, Some(0.0)];
    assert_eq!(group_advantages(&rewards, &["a"; 3], Normalisation::DR_GRPO), Ok(vec![0.5, 0.0, -0.5]));
}

#[test]
fn wrong_lengths_and_numbers_are_refused() {
    let grpo = Normalisation::GRPO;
    let one = [Some(1.0)];
    let length = CreditError::Length { what: "groups", found: 0, expected: 1 };
    assert_eq!(group_advantages::<u8>(&one, &[], grpo), Err(length));
    let infinite = group_advantages(&[Some(f64::INFINITY)], &["a"], grpo);
    assert_eq!(infinite, Err(CreditError::NotFinite { what: "a reward", value: f64::INFINITY }));
    assert!(group_advantages(&one, &["a"], Normalisation { eps: 1.5, ..grpo }).is_err());
    assert!(gae(&[1.0], &[], 1.0, 1.0).is_err());
    assert!(gae(&[1.0], &[0.0], 1.1, 1.0).is_err());
}

proptest! {
    #[test]
    fn a_group_has_no_advantage_over_itself(rewards in prop::collection::vec(-2.0..2.0, 1..9)) {
        let rewards: Vec<Option<f64>> = rewards.into_iter().map(Some).collect();
        let groups = vec!["a"; rewards.len()];
        for normalisation in [Normalisation::GRPO, Normalisation::DR_GRPO, Normalisation::RLOO] {
            let sum: f64 = group_advantages(&rewards, &groups, normalisation).unwrap().iter().sum();
            prop_assert!(sum.abs() < 1e-6, "{sum}");
        }
    }

    #[test]
    fn groups_do_not_see_each_other(left in prop::collection::vec(-2.0..2.0, 1..6), right in prop::collection::vec(-2.0..2.0, 1..6)) {
        let rewards: Vec<Option<f64>> = left.iter().chain(&right).copied().map(Some).collect();
        let groups: Vec<bool> = (0..rewards.len()).map(|place| place < left.len()).collect();
        let together = group_advantages(&rewards, &groups, Normalisation::GRPO).unwrap();
        let alone = group_advantages(&rewards[..left.len()], &groups[..left.len()], Normalisation::GRPO).unwrap();
        prop_assert_eq!(&together[..left.len()], &alone[..]);
    }
}

/// Returns what ours gives for a vector, by the name of the output that it is compared with.
fn computed(algorithm: &str, vector: &Json) -> Vec<(&'static str, Vec<f64>)> {
    let params = &vector["params"];
    let input = &vector["input"];
    let number = |name: &str| params[name].as_f64().unwrap();
    match algorithm {
        "grpo" | "drgrpo_adv" | "rloo" => {
            let rewards = rewards(vector);
            let found = group_advantages(&rewards, &groups(input, rewards.len()), normalisation(algorithm, vector));
            vec![("advantages", found.unwrap())]
        }
        "gdpo" => vec![("advantages", gdpo_of(vector))],
        "gigpo" => gigpo_of(vector),
        "turn_ppo" => {
            let found =
                gae(&flat(&input["turn_rewards"]), &flat(&input["turn_values"]), number("gamma"), number("lam"));
            vec![("advantages", found.unwrap())]
        }
        "vineppo" => {
            // One step back is GAE with lambda 0; a value that was not sampled is what follows from the next.
            let rewards = flat(&input["step_rewards"]);
            let mut values: Vec<Option<f64>> = list(&input["mc_values"]).iter().map(Json::as_f64).collect();
            values[rewards.len()] = Some(0.0);
            for step in (0..rewards.len()).rev() {
                values[step] = values[step].or_else(|| Some(rewards[step] + values[step + 1]?));
            }
            let values: Vec<f64> = values.into_iter().take(rewards.len()).flatten().collect();
            vec![("advantages", gae(&rewards, &values, 1.0, 0.0).unwrap())]
        }
        "gae_token_masked" => {
            // Only what the policy wrote counts; observations get what the next written token gets.
            let mask = flat(&input["mask"]);
            let written = |numbers: &Json| -> Vec<f64> {
                flat(numbers).into_iter().zip(&mask).filter(|(_, kept)| **kept > 0.0).map(|(x, _)| x).collect()
            };
            let rewards = written(&input["token_rewards"]);
            let raw = gae(&rewards, &written(&input["values"]), number("gamma"), number("lam")).unwrap();
            let white = whiten(&raw, &Whitening { weights: None, eps: 1e-8 }).unwrap();
            let next = |place: usize| mask[..place].iter().filter(|kept| **kept > 0.0).count();
            vec![("advantages", (0..mask.len()).map(|place| white[next(place)]).collect())]
        }
        "turn_rtg_grpo" | "turn_rtg_position" => {
            let rewards = rows(&input["token_rewards"]);
            let (knobs, baseline) = if algorithm == "turn_rtg_grpo" {
                (Normalisation::GRPO, TurnBaseline::Episode)
            } else {
                (Normalisation::DR_GRPO, TurnBaseline::Position)
            };
            let groups = groups(input, rewards.len());
            let found = turn_return_advantages(&rewards, &groups, number("gamma"), knobs, baseline).unwrap();
            vec![("advantages", found.into_iter().flatten().collect())]
        }
        "gagpo" => gagpo_of(vector),
        "mt_grpo" => vec![("advantages", mt_grpo_of(vector))],
        unknown => panic!("no rule for {unknown}"),
    }
}

/// Maps what the sources say about themselves to our knobs.
fn normalisation(algorithm: &str, vector: &Json) -> Normalisation {
    let params = &vector["params"];
    let id = text(&vector["id"]);
    let preset = match algorithm {
        "rloo" => Normalisation::RLOO,
        "drgrpo_adv" => Normalisation::DR_GRPO,
        _ => Normalisation::GRPO,
    };
    let raw = id.starts_with("verl_") || id.starts_with("skyrl_grpo");
    Normalisation {
        baseline: if params["leave_one_out"] == true { Baseline::LeaveOneOut } else { preset.baseline },
        std: if id.starts_with("art_") { Std::Biased } else { Std::Unbiased },
        scale: if params["scale_rewards"] == "batch" { Scale::Batch } else { preset.scale },
        singleton: if raw { Singleton::Raw } else { Singleton::Zero },
        eps: params["epsilon"].as_f64().unwrap_or(preset.eps),
    }
}

fn rewards(vector: &Json) -> Vec<Option<f64>> {
    let input = &vector["input"];
    if input["rewards_per_func"].is_array() {
        let columns = columns(input);
        return total_rewards(&columns, &vec![1.0; columns.len()]).unwrap();
    }
    let rewards = flat(&input["rewards"]);
    let penalty = &vector["params"]["length_penalty"];
    if !penalty.is_object() {
        return rewards.into_iter().map(Some).collect();
    }
    // This source takes a penalty off first: relative length, times the group's mean reward.
    let relative = |name: &str| -> Vec<f64> {
        let lengths = flat(&input[name]);
        let longest = lengths.iter().copied().fold(0.0, f64::max);
        lengths.into_iter().map(|length| length / longest).collect()
    };
    let (tokens, turns) = (relative("output_tokens"), relative("turns"));
    let weight = |name: &str| penalty[name].as_f64().unwrap();
    let mean = rewards.iter().sum::<f64>() / rewards.len() as f64;
    let shaped = rewards.iter().zip(tokens.iter().zip(&turns)).map(|(reward, (tokens, turns))| {
        let cost = weight("num_output_tokens_weight") * tokens + weight("num_turns_weight") * turns;
        Some(reward - mean * cost)
    });
    shaped.collect()
}

fn gdpo_of(vector: &Json) -> Vec<f64> {
    let params = &vector["params"];
    let columns = columns(&vector["input"]);
    let weights = if params["weights"].is_array() { flat(&params["weights"]) } else { vec![1.0; columns.len()] };
    let eps = params["epsilon"].as_f64().or(params["epsilon_group"].as_f64()).unwrap();
    let by_completion = text(&vector["id"]).starts_with("trl_") || text(&vector["id"]).starts_with("nvlabs_");
    let lengths = &vector["input"]["response_lengths"];
    let whitening =
        Whitening { weights: lengths.is_array().then(|| flat(lengths)), eps: if by_completion { eps } else { 1e-8 } };
    let groups = groups(&vector["input"], columns[0].len());
    gdpo(&columns, &weights, &groups, Normalisation { eps, ..Normalisation::GRPO }, &whitening).unwrap()
}

fn gigpo_rows(input: &Json) -> Vec<GigpoRow<String>> {
    let name = |list_name: &str, place: usize| text(&input[list_name][place]);
    let (rewards, scores) = (flat(&input["step_rewards"]), flat(&input["episode_score_per_row"]));
    let row = |place: usize| GigpoRow {
        group: name("uid", place),
        trajectory: name("traj_uid", place),
        anchor: name("anchor_obs", place),
        reward: rewards[place],
        score: scores[place],
    };
    (0..rewards.len()).map(row).collect()
}

fn gigpo_of(vector: &Json) -> Vec<(&'static str, Vec<f64>)> {
    let params = &vector["params"];
    let trajectories = text(&vector["id"]).contains("trajstats");
    let config = GigpoConfig {
        gamma: params["gamma"].as_f64().unwrap(),
        omega: params["omega"].as_f64().unwrap(),
        normalisation: if params["mode"] == "mean_norm" { Normalisation::DR_GRPO } else { Normalisation::GRPO },
        statistics: if trajectories { EpisodeStatistics::Trajectories } else { EpisodeStatistics::Steps },
    };
    let found = gigpo(&gigpo_rows(&vector["input"]), config).unwrap();
    let mut outputs = vec![("episode_adv", found.episode), ("advantages", found.advantages)];
    if !trajectories {
        outputs.extend([("step_returns", found.returns), ("step_adv", found.step)]);
    }
    outputs
}

/// GAE whose values are the mean returns of the steps that share an anchor, then normalised over the steps of the group.
fn gagpo_of(vector: &Json) -> Vec<(&'static str, Vec<f64>)> {
    let number = |name: &str| vector["params"][name].as_f64().unwrap();
    let rows = gigpo_rows(&vector["input"]);
    let config = GigpoConfig {
        gamma: number("gamma"),
        omega: 1.0,
        normalisation: Normalisation::DR_GRPO,
        statistics: EpisodeStatistics::Steps,
    };
    let returns = gigpo(&rows, config).unwrap();
    // A step's part without division is its return minus the mean of its anchor; alone, that is the whole return.
    let alone = |row: &GigpoRow<String>| {
        rows.iter().filter(|other| other.group == row.group && other.anchor == row.anchor).count() == 1
    };
    let value = |place: usize| returns.returns[place] - if alone(&rows[place]) { 0.0 } else { returns.step[place] };
    let trajectories: BTreeSet<&String> = rows.iter().map(|row| &row.trajectory).collect();
    let mut raw = vec![0.0; rows.len()];
    for trajectory in trajectories {
        let places: Vec<usize> = (0..rows.len()).filter(|place| rows[*place].trajectory == *trajectory).collect();
        let rewards: Vec<f64> = places.iter().map(|place| rows[*place].reward).collect();
        let values: Vec<f64> = places.iter().map(|place| value(*place)).collect();
        for (place, advantage) in
            places.into_iter().zip(gae(&rewards, &values, number("gamma"), number("lam")).unwrap())
        {
            raw[place] = advantage;
        }
    }
    let wrapped: Vec<Option<f64>> = raw.iter().copied().map(Some).collect();
    let groups: Vec<&String> = rows.iter().map(|row| &row.group).collect();
    let advantages = group_advantages(&wrapped, &groups, Normalisation::GRPO).unwrap();
    vec![("raw", raw), ("advantages", advantages)]
}

/// Outcome and turn rewards are normalised apart; tokens before the tool's result get both, those after it the outcome's. Without a
/// result, the rewards are added first.
fn mt_grpo_of(vector: &Json) -> Vec<f64> {
    let input = &vector["input"];
    let eps = vector["params"]["epsilon"].as_f64().unwrap();
    let normalised = |rewards: &[f64]| {
        let rewards: Vec<Option<f64>> = rewards.iter().copied().map(Some).collect();
        group_advantages(&rewards, &vec![0; rewards.len()], Normalisation { eps, ..Normalisation::GRPO }).unwrap()
    };
    let (outcomes, turns) = (flat(&input["outcome_rewards"]), flat(&input["turn_rewards"]));
    let sums: Vec<f64> = outcomes.iter().zip(&turns).map(|(outcome, turn)| outcome + turn).collect();
    let (outcome, turn, both) = (normalised(&outcomes), normalised(&turns), normalised(&sums));
    let results = flat(&input["result_segment_index"]);
    let mut tokens = Vec::new();
    for (row, mask) in rows(&input["completion_mask"]).iter().enumerate() {
        let result = mask.iter().position(|written| *written == 0.0).unwrap_or(mask.len());
        tokens.extend((0..mask.len()).map(|place| match (results[row] >= 0.0, place < result) {
            (true, true) => outcome[row] + turn[row],
            (true, false) => outcome[row],
            (false, _) => both[row],
        }));
    }
    tokens
}

fn columns(input: &Json) -> Vec<Vec<Option<f64>>> {
    if let Some(columns) = input["rewards"].as_object() {
        return columns.values().map(|column| flat(column).into_iter().map(Some).collect()).collect();
    }
    let rows = list(&input["rewards_per_func"]);
    (0..list(&rows[0]).len()).map(|column| rows.iter().map(|row| row[column].as_f64()).collect()).collect()
}

/// Groups are named, or are runs of as many generations, or are all one.
fn groups(input: &Json, rows: usize) -> Vec<String> {
    if input["group"].is_array() {
        return list(&input["group"]).iter().map(text).collect();
    }
    let size = input["num_generations"].as_u64().or(input["num_samples"].as_u64()).unwrap_or(rows as u64);
    (0..rows as u64).map(|row| (row / size).to_string()).collect()
}

fn compare(id: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{id}");
    for (found, expected) in found.iter().zip(expected) {
        if expected.is_nan() {
            // This source divides by the standard deviation of one number; ours gives a singleton nothing.
            assert_eq!(*found, 0.0, "{id}");
        } else {
            assert!((found - expected).abs() <= tolerance, "{id}: {found} is not {expected}");
        }
    }
}

fn vectors() -> Vec<Json> {
    let file: Json = serde_json::from_str(include_str!("vectors/rl_vectors.json")).unwrap();
    list(&file["vectors"]).to_vec()
}

fn rows(json: &Json) -> Vec<Vec<f64>> {
    list(json).iter().map(flat).collect()
}

/// Returns the numbers of a list, or of a list of lists, in order; the text `nan` is NaN.
fn flat(json: &Json) -> Vec<f64> {
    if let Some(items) = json.as_array() {
        return items.iter().flat_map(flat).collect();
    }
    vec![if json == "nan" { f64::NAN } else { json.as_f64().expect("a number") }]
}

fn list(json: &Json) -> &[Json] {
    json.as_array().map_or(&[], Vec::as_slice)
}

fn text(json: &Json) -> String {
    json.as_str().expect("text").to_owned()
}
