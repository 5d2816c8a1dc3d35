//! GDPO: every reward is normalised in its group by itself before they are added, so that a rare one is not drowned by a common one;
//! the sum is then whitened over the batch.

use super::{Moments, Normalisation, Std, finite, group_advantages, rows_of, same_length, total_rewards};
use crate::credit::{CreditError, config::within};

/// How numbers are brought to mean 0 and standard deviation 1 over a batch.
#[derive(Clone, Debug, PartialEq)]
pub struct Whitening {
    /// How often each row counts, for instance its tokens; nothing: once each.
    pub weights: Option<Vec<f64>>,
    /// What is added to the standard deviation before it divides, in 0..=1.
    pub eps: f64,
}

/// Returns GDPO's advantages: `columns` holds one list of rewards for each objective, `weights` one number for each objective. A
/// missing reward adds nothing to its row.
///
/// # Errors
///
/// Those of [`group_advantages`] and [`whiten`]; [`CreditError::Length`] unless the columns are of one length and there is one weight for each.
pub fn gdpo<G: Ord>(
    columns: &[Vec<Option<f64>>],
    weights: &[f64],
    groups: &[G],
    normalisation: Normalisation,
    whitening: &Whitening,
) -> Result<Vec<f64>, CreditError> {
    rows_of(columns, weights)?;
    let mut normalised = Vec::with_capacity(columns.len());
    for column in columns {
        let advantages = group_advantages(column, groups, normalisation)?;
        normalised.push(advantages.into_iter().map(Some).collect());
    }
    let sums: Vec<f64> = total_rewards(&normalised, weights)?.into_iter().map(Option::unwrap_or_default).collect();
    whiten(&sums, whitening)
}

/// Returns `numbers` with their mean taken off, divided by their unbiased standard deviation. Where that is zero, all are 0.
///
/// # Errors
///
/// [`CreditError::Length`] unless there is one weight for each number, [`CreditError::NotFinite`] or [`CreditError::Number`] for what is no
/// number or no weight, [`CreditError::Range`] for an `eps` outside 0..=1.
pub fn whiten(numbers: &[f64], whitening: &Whitening) -> Result<Vec<f64>, CreditError> {
    within("eps", whitening.eps, 0.0, 1.0)?;
    numbers.iter().try_for_each(|number| finite("a number to whiten", *number))?;
    let weights = whitening.weights.clone().unwrap_or_else(|| vec![1.0; numbers.len()]);
    same_length("whitening weights", weights.len(), numbers.len())?;
    if let Some(value) = weights.iter().find(|weight| !(weight.is_finite() && **weight >= 0.0)) {
        return Err(CreditError::Number { what: "a whitening weight", value: *value });
    }
    let moments = Moments::weighted(numbers, &weights, Std::Unbiased);
    let scaled = |number: &f64| moments.std.map_or(0.0, |std| (number - moments.mean) / (std + whitening.eps));
    Ok(numbers.iter().map(scaled).collect())
}
