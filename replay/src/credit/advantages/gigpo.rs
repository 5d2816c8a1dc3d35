//! GiGPO: the advantage of a whole episode in its group, plus that of each step among the steps that started from the same place (its
//! anchor: for us the digest of the world, or the text that was seen).

use std::collections::{BTreeMap, BTreeSet};

use super::{Normalisation, Yardstick, group_advantages, turn_returns, yardsticks};
use crate::credit::{CreditError, config::within};

/// One step (turn) of one trajectory. The steps of a trajectory come in order.
#[derive(Clone, Debug, PartialEq)]
pub struct GigpoRow<K> {
    /// The task instance, shared by the group.
    pub group: K,
    /// The trajectory.
    pub trajectory: K,
    /// Where the step started from.
    pub anchor: K,
    /// The step's own reward.
    pub reward: f64,
    /// The score of the whole trajectory, the same in each of its rows.
    pub score: f64,
}

/// Over what an episode's statistics are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EpisodeStatistics {
    /// One number for each trajectory, as the paper has it.
    Trajectories,
    /// One number for each step, so that long trajectories weigh more, as the released code does.
    Steps,
}

/// GiGPO's knobs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GigpoConfig {
    /// By how much a step's later rewards count less, in 0..=1.
    pub gamma: f64,
    /// The weight of the step's part, in 0..=1e6.
    pub omega: f64,
    /// How both parts are normalised.
    pub normalisation: Normalisation,
    /// Over what an episode's statistics are taken.
    pub statistics: EpisodeStatistics,
}

/// GiGPO's advantages, one number for each row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gigpo {
    /// The discounted return from the step on.
    pub returns: Vec<f64>,
    /// The episode's part.
    pub episode: Vec<f64>,
    /// The step's part.
    pub step: Vec<f64>,
    /// `episode + omega * step`.
    pub advantages: Vec<f64>,
}

/// Returns GiGPO's advantages of `rows`.
///
/// # Errors
///
/// [`CreditError::Range`] for a knob outside its range, [`CreditError::NotFinite`] for a reward or score that is no number.
pub fn gigpo<K: Ord + Clone>(rows: &[GigpoRow<K>], config: GigpoConfig) -> Result<Gigpo, CreditError> {
    within("omega", config.omega, 0.0, 1e6)?;
    let returns = step_returns(rows, config.gamma)?;
    let anchors: Vec<(K, K)> = rows.iter().map(|row| (row.group.clone(), row.anchor.clone())).collect();
    let wrapped: Vec<Option<f64>> = returns.iter().copied().map(Some).collect();
    let step = group_advantages(&wrapped, &anchors, config.normalisation)?;
    let episode = episode_part(rows, config)?;
    let advantages = episode.iter().zip(&step).map(|(episode, step)| episode + config.omega * step).collect();
    Ok(Gigpo { returns, episode, step, advantages })
}

fn step_returns<K: Ord>(rows: &[GigpoRow<K>], gamma: f64) -> Result<Vec<f64>, CreditError> {
    let mut places = BTreeMap::<(&K, &K), Vec<usize>>::new();
    for (place, row) in rows.iter().enumerate() {
        places.entry((&row.group, &row.trajectory)).or_default().push(place);
    }
    let mut returns = vec![0.0; rows.len()];
    for places in places.into_values() {
        let rewards: Vec<f64> = places.iter().map(|place| rows[*place].reward).collect();
        for (place, value) in places.into_iter().zip(turn_returns(&rewards, gamma)?) {
            returns[place] = value;
        }
    }
    Ok(returns)
}

fn episode_part<K: Ord + Clone>(rows: &[GigpoRow<K>], config: GigpoConfig) -> Result<Vec<f64>, CreditError> {
    let groups: Vec<&K> = rows.iter().map(|row| &row.group).collect();
    let mut seen = BTreeSet::new();
    // A row that is left out counts in no mean; its own advantage is measured with the yardstick of its trajectory's first row.
    let counted: Vec<Option<f64>> = rows
        .iter()
        .map(|row| {
            let first = seen.insert((&row.group, &row.trajectory));
            (first || config.statistics == EpisodeStatistics::Steps).then_some(row.score)
        })
        .collect();
    let yardsticks = yardsticks(&counted, &groups, config.normalisation)?;
    let mut firsts = BTreeMap::<(&K, &K), Yardstick>::new();
    let measured = rows
        .iter()
        .zip(yardsticks)
        .map(|(row, own)| firsts.entry((&row.group, &row.trajectory)).or_insert(own).measure(row.score));
    Ok(measured.collect())
}
