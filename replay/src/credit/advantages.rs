//! Advantages of trajectories and turns, as trainers compute them: GRPO, Dr.GRPO, RLOO, GDPO, GiGPO, turn-level returns, and
//! generalised advantage estimation over turns. Pure arithmetic in f64; no policy, no loss, no tokens but as weights.

mod gdpo;
mod gigpo;
mod returns;

use std::collections::BTreeMap;

pub use gdpo::{Whitening, gdpo, whiten};
pub use gigpo::{EpisodeStatistics, Gigpo, GigpoConfig, GigpoRow, gigpo};
pub use returns::{TurnBaseline, gae, turn_return_advantages, turn_returns};

use super::{CreditError, config::within};

/// What a reward is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Baseline {
    /// The mean of its group.
    Mean,
    /// The mean of the others in its group.
    LeaveOneOut,
}

/// How a standard deviation is estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Std {
    /// Over n - 1.
    Unbiased,
    /// Over n.
    Biased,
}

/// Whose standard deviation divides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// That of the rewards that the baseline is the mean of.
    Group,
    /// That of all rewards.
    Batch,
    /// Nobody's (trainers also call this `std: none`).
    None,
}

/// What a reward without company in its group gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Singleton {
    /// Nothing: there is nobody to compare with.
    Zero,
    /// The reward itself.
    Raw,
}

/// The knobs in which trainers differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Normalisation {
    /// What a reward is compared with.
    pub baseline: Baseline,
    /// How a standard deviation is estimated.
    pub std: Std,
    /// Whose standard deviation divides.
    pub scale: Scale,
    /// What a reward without company gets.
    pub singleton: Singleton,
    /// What is added to a standard deviation before it divides, in 0..=1.
    pub eps: f64,
}

impl Normalisation {
    /// Group-relative policy optimisation: mean of the group, divided by its standard deviation.
    pub const GRPO: Self = Self {
        baseline: Baseline::Mean,
        std: Std::Unbiased,
        scale: Scale::Group,
        singleton: Singleton::Zero,
        eps: 1e-6,
    };
    /// GRPO "done right": mean of the group, nothing divided.
    pub const DR_GRPO: Self = Self { scale: Scale::None, ..Self::GRPO };
    /// REINFORCE leave-one-out: mean of the others, nothing divided.
    pub const RLOO: Self = Self { baseline: Baseline::LeaveOneOut, ..Self::DR_GRPO };
}

/// Returns the advantage of each reward within its group. A missing reward is left out of every mean and gets 0.
///
/// A standard deviation of at most 1e-8 times the larger of 1 and the largest reward counts as zero. Around a mean that contains the
/// reward the advantage is then 0; around the mean of others the difference stays undivided.
///
/// # Errors
///
/// [`CreditError::Length`] unless there is one group for each reward, [`CreditError::NotFinite`] for a reward that is no number,
/// [`CreditError::Range`] for an `eps` outside 0..=1.
pub fn group_advantages<G: Ord>(
    rewards: &[Option<f64>],
    groups: &[G],
    normalisation: Normalisation,
) -> Result<Vec<f64>, CreditError> {
    let yardsticks = yardsticks(rewards, groups, normalisation)?;
    let measure =
        |(reward, yardstick): (&Option<f64>, Yardstick)| reward.map_or(0.0, |reward| yardstick.measure(reward));
    Ok(rewards.iter().zip(yardsticks).map(measure).collect())
}

/// Returns the weighted sum of each row over the columns of rewards that it has; a row that has none is missing.
///
/// # Errors
///
/// [`CreditError::Length`] unless the columns are of one length and there is one weight for each.
pub fn total_rewards(columns: &[Vec<Option<f64>>], weights: &[f64]) -> Result<Vec<Option<f64>>, CreditError> {
    let rows = rows_of(columns, weights)?;
    let total = |row: usize| {
        let present = columns.iter().zip(weights).filter_map(|(column, weight)| Some(column[row]? * weight));
        present.fold(None, |sum: Option<f64>, part| Some(sum.unwrap_or(0.0) + part))
    };
    Ok((0..rows).map(total).collect())
}

/// What the numbers of one row are measured with.
#[derive(Clone, Copy)]
enum Yardstick {
    /// The row has no company.
    Alone(Singleton),
    /// Its group does not vary.
    Flat,
    /// The mean to take off, and what to divide by.
    Against { mean: f64, divisor: f64 },
}

impl Yardstick {
    fn measure(self, number: f64) -> f64 {
        match self {
            Self::Alone(Singleton::Zero) | Self::Flat => 0.0,
            Self::Alone(Singleton::Raw) => number,
            Self::Against { mean, divisor } => (number - mean) / divisor,
        }
    }
}

/// Returns the yardstick of each row; that of a row without a reward measures nothing.
fn yardsticks<G: Ord>(
    rewards: &[Option<f64>],
    groups: &[G],
    normalisation: Normalisation,
) -> Result<Vec<Yardstick>, CreditError> {
    same_length("groups", groups.len(), rewards.len())?;
    within("eps", normalisation.eps, 0.0, 1.0)?;
    let mut members: BTreeMap<&G, Vec<f64>> = BTreeMap::new();
    let mut batch = Vec::new();
    for (reward, group) in rewards.iter().zip(groups) {
        if let Some(reward) = reward {
            finite("a reward", *reward)?;
            members.entry(group).or_default().push(*reward);
            batch.push(*reward);
        }
    }
    let batch = Moments::of(&batch, normalisation.std);
    let of = |(reward, group): (&Option<f64>, &G)| {
        let (Some(reward), Some(group)) = (reward, members.get(group)) else { return Yardstick::Flat };
        if group.len() == 1 {
            return Yardstick::Alone(normalisation.singleton);
        }
        let own = match normalisation.baseline {
            Baseline::Mean => Moments::of(group, normalisation.std),
            Baseline::LeaveOneOut => Moments::of(&without(group, *reward), normalisation.std),
        };
        let spread = match normalisation.scale {
            Scale::None => return Yardstick::Against { mean: own.mean, divisor: 1.0 },
            Scale::Group => own.std,
            Scale::Batch => batch.std,
        };
        match (spread, normalisation.baseline) {
            (Some(std), _) => Yardstick::Against { mean: own.mean, divisor: std + normalisation.eps },
            (None, Baseline::Mean) => Yardstick::Flat,
            (None, Baseline::LeaveOneOut) => Yardstick::Against { mean: own.mean, divisor: 1.0 },
        }
    };
    Ok(rewards.iter().zip(groups).map(of).collect())
}

/// A mean, and a standard deviation unless it is zero or cannot be told.
struct Moments {
    mean: f64,
    std: Option<f64>,
}

impl Moments {
    /// Differences of this size, relative to the numbers, are rounding.
    const ZERO_STD: f64 = 1e-8;

    fn of(numbers: &[f64], std: Std) -> Self {
        let ones = vec![1.0; numbers.len()];
        Self::weighted(numbers, &ones, std)
    }

    /// Each number counts as often as its weight says.
    fn weighted(numbers: &[f64], weights: &[f64], std: Std) -> Self {
        let total: f64 = weights.iter().sum();
        if total <= 0.0 {
            return Self { mean: 0.0, std: None };
        }
        let mean = numbers.iter().zip(weights).map(|(x, weight)| x * weight).sum::<f64>() / total;
        let squares: f64 = numbers.iter().zip(weights).map(|(x, weight)| weight * (x - mean).powi(2)).sum();
        let freedom = match std {
            Std::Unbiased => total - 1.0,
            Std::Biased => total,
        };
        let largest = numbers.iter().fold(1.0_f64, |largest, x| largest.max(x.abs()));
        let std = (squares / freedom).sqrt();
        Self { mean, std: (freedom > 0.0 && std > Self::ZERO_STD * largest).then_some(std) }
    }
}

/// Returns the numbers without one that equals `left_out`.
fn without(numbers: &[f64], left_out: f64) -> Vec<f64> {
    let mut others = numbers.to_vec();
    if let Some(place) = others.iter().position(|number| *number == left_out) {
        others.swap_remove(place);
    }
    others
}

fn rows_of(columns: &[Vec<Option<f64>>], weights: &[f64]) -> Result<usize, CreditError> {
    same_length("weights", weights.len(), columns.len())?;
    let rows = columns.first().map_or(0, Vec::len);
    for column in columns {
        same_length("a column of rewards", column.len(), rows)?;
    }
    for weight in weights {
        finite("a weight", *weight)?;
    }
    Ok(rows)
}

fn same_length(what: &'static str, found: usize, expected: usize) -> Result<(), CreditError> {
    if found == expected { Ok(()) } else { Err(CreditError::Length { what, found, expected }) }
}

fn finite(what: &'static str, value: f64) -> Result<(), CreditError> {
    if value.is_finite() { Ok(()) } else { Err(CreditError::NotFinite { what, value }) }
}
