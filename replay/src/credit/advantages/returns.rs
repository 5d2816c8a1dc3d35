//! Turn-level returns, advantages from them, and generalised advantage estimation over turns.

use super::{Normalisation, Yardstick, finite, group_advantages, same_length, yardsticks};
use crate::credit::{CreditError, config::within};

/// What a turn's return is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnBaseline {
    /// The returns of whole trajectories of the group: those of their first turns.
    Episode,
    /// The returns of the same turn in the trajectories of the group that are long enough.
    Position,
}

/// Returns the discounted sum of each turn's reward and all later ones.
///
/// # Errors
///
/// [`CreditError::Range`] for a `gamma` outside 0..=1, [`CreditError::NotFinite`] for a reward that is no number.
pub fn turn_returns(rewards: &[f64], gamma: f64) -> Result<Vec<f64>, CreditError> {
    within("gamma", gamma, 0.0, 1.0)?;
    rewards.iter().try_for_each(|reward| finite("a turn's reward", *reward))?;
    let mut returns = vec![0.0; rewards.len()];
    let mut later = 0.0;
    for (slot, reward) in returns.iter_mut().zip(rewards).rev() {
        later = reward + gamma * later;
        *slot = later;
    }
    Ok(returns)
}

/// Returns the advantage of each turn of each trajectory: its return against `baseline`.
///
/// With [`TurnBaseline::Episode`], every turn is centred and scaled as the first turns of its group are; with
/// [`TurnBaseline::Position`], the turns at one position are a group of their own. A trajectory that has no company gets what
/// `normalisation` says of singletons.
///
/// # Errors
///
/// Those of [`turn_returns`] and [`group_advantages`].
pub fn turn_return_advantages<G: Ord + Clone>(
    rewards: &[Vec<f64>],
    groups: &[G],
    gamma: f64,
    normalisation: Normalisation,
    baseline: TurnBaseline,
) -> Result<Vec<Vec<f64>>, CreditError> {
    same_length("groups", groups.len(), rewards.len())?;
    let returns: Vec<Vec<f64>> = rewards.iter().map(|row| turn_returns(row, gamma)).collect::<Result<_, _>>()?;
    match baseline {
        TurnBaseline::Position => by_position(&returns, groups, normalisation),
        TurnBaseline::Episode => against_episodes(&returns, groups, normalisation),
    }
}

/// Returns generalised advantage estimates over the turns of one trajectory, whose last turn ends it: the value after it is 0.
///
/// # Errors
///
/// [`CreditError::Range`] for `gamma` or `lambda` outside 0..=1, [`CreditError::Length`] unless there is one value for each reward,
/// [`CreditError::NotFinite`] for what is no number.
pub fn gae(rewards: &[f64], values: &[f64], gamma: f64, lambda: f64) -> Result<Vec<f64>, CreditError> {
    within("gamma", gamma, 0.0, 1.0)?;
    within("lambda", lambda, 0.0, 1.0)?;
    same_length("values", values.len(), rewards.len())?;
    rewards.iter().try_for_each(|reward| finite("a turn's reward", *reward))?;
    values.iter().try_for_each(|value| finite("a turn's value", *value))?;
    let mut advantages = vec![0.0; rewards.len()];
    let (mut next_value, mut later) = (0.0, 0.0);
    for (slot, (reward, value)) in advantages.iter_mut().zip(rewards.iter().zip(values)).rev() {
        let surprise = reward + gamma * next_value - value;
        later = surprise + gamma * lambda * later;
        next_value = *value;
        *slot = later;
    }
    Ok(advantages)
}

fn by_position<G: Ord + Clone>(
    returns: &[Vec<f64>],
    groups: &[G],
    normalisation: Normalisation,
) -> Result<Vec<Vec<f64>>, CreditError> {
    let places = || returns.iter().zip(groups).flat_map(|(row, group)| (0..row.len()).map(move |turn| (group, turn)));
    let keys: Vec<(G, usize)> = places().map(|(group, turn)| (group.clone(), turn)).collect();
    let rewards: Vec<Option<f64>> = returns.iter().flatten().copied().map(Some).collect();
    let mut advantages = group_advantages(&rewards, &keys, normalisation)?.into_iter();
    Ok(returns.iter().map(|row| advantages.by_ref().take(row.len()).collect()).collect())
}

fn against_episodes<G: Ord + Clone>(
    returns: &[Vec<f64>],
    groups: &[G],
    normalisation: Normalisation,
) -> Result<Vec<Vec<f64>>, CreditError> {
    let firsts: Vec<Option<f64>> = returns.iter().map(|row| row.first().copied()).collect();
    let measured = |(row, yardstick): (&Vec<f64>, Yardstick)| row.iter().map(|x| yardstick.measure(*x)).collect();
    Ok(returns.iter().zip(yardsticks(&firsts, groups, normalisation)?).map(measured).collect())
}
