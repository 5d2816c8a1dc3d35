//! Combining credit with a trajectory's advantage: A(i, t) = A(i) + lambda * x(i, t), where x is credit, centred, scaled to unit
//! root mean square over the group, and bounded by rescaling a whole trajectory. Clipping would break neutrality.

use super::{CreditError, config::within};

/// What is taken off a turn's credit before it is scaled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Centre {
    /// The trajectory's own mean, so that credit moves advantage inside a trajectory and adds none.
    #[default]
    Trajectory,
    /// Nothing.
    None,
    /// The mean, over the other trajectories of the group, of their mean credit.
    GroupLeaveOneOut,
}

/// The knobs of the combination.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Combination {
    lambda: f64,
    bound: f64,
    sigma_min: f64,
    centre: Centre,
}

/// The advantage of each turn of each trajectory.
pub type Combined = Vec<Vec<f64>>;

impl Combination {
    /// The largest value of any knob.
    pub const KNOB_MAX: f64 = 1e6;

    /// Returns a combination that adds `lambda` times the scaled credit, no turn's scaled credit exceeding `bound`; a group whose
    /// credit varies by less than `sigma_min` is scaled by that instead.
    ///
    /// # Errors
    ///
    /// [`CreditError::Range`] unless `lambda` and `bound` are in 0..=1e6 and `sigma_min` in 1e-9..=1e6.
    pub fn new(lambda: f64, bound: f64, sigma_min: f64, centre: Centre) -> Result<Self, CreditError> {
        within("lambda", lambda, 0.0, Self::KNOB_MAX)?;
        within("bound", bound, 0.0, Self::KNOB_MAX)?;
        within("sigma_min", sigma_min, 1e-9, Self::KNOB_MAX)?;
        Ok(Self { lambda, bound, sigma_min, centre })
    }

    /// Returns the same combination with another centre.
    #[must_use]
    pub const fn centred(mut self, centre: Centre) -> Self {
        self.centre = centre;
        self
    }
}

impl Default for Combination {
    /// Returns lambda 0.5, bound 1, sigma_min 0.1, centred on the trajectory.
    fn default() -> Self {
        Self { lambda: 0.5, bound: 1.0, sigma_min: 0.1, centre: Centre::Trajectory }
    }
}

/// Returns the advantage of each turn: `advantages` holds one for each trajectory, `credits` one for each of its turns, and `tokens`
/// the weight of each turn in its trajectory's mean (nothing: all alike).
///
/// # Errors
///
/// [`CreditError::Length`] where the lists do not match, [`CreditError::Number`] for a weight that is negative or not finite.
pub fn combine(
    advantages: &[f64],
    credits: &[Vec<f64>],
    tokens: Option<&[Vec<f64>]>,
    combination: Combination,
) -> Result<Combined, CreditError> {
    same_length("credits", credits.len(), advantages.len())?;
    if let Some(tokens) = tokens {
        same_length("tokens", tokens.len(), credits.len())?;
        for (tokens, credits) in tokens.iter().zip(credits) {
            same_length("a trajectory's tokens", tokens.len(), credits.len())?;
            if let Some(value) = tokens.iter().find(|weight| !(weight.is_finite() && **weight >= 0.0)) {
                return Err(CreditError::Number { what: "a turn's tokens", value: *value });
            }
        }
    }
    let centred = centre(credits, tokens, combination.centre);
    let turns = centred.iter().map(Vec::len).sum::<usize>();
    let squares: f64 = centred.iter().flatten().map(|x| x * x).sum();
    let spread = if turns > 0 { (squares / turns as f64).sqrt() } else { 0.0 };
    let scale = spread.max(combination.sigma_min);
    let combined = advantages.iter().zip(centred).map(|(advantage, row)| {
        let scaled: Vec<f64> = row.into_iter().map(|x| x / scale).collect();
        let largest = scaled.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
        let shrink = if largest > combination.bound { combination.bound / largest } else { 1.0 };
        scaled.into_iter().map(|x| advantage + combination.lambda * shrink * x).collect()
    });
    Ok(combined.collect())
}

fn centre(credits: &[Vec<f64>], tokens: Option<&[Vec<f64>]>, centre: Centre) -> Vec<Vec<f64>> {
    let means: Vec<f64> = match centre {
        Centre::Trajectory => {
            let mean = |(index, row): (usize, &Vec<f64>)| weighted_mean(row, tokens.map(|tokens| &tokens[index][..]));
            credits.iter().enumerate().map(mean).collect()
        }
        Centre::None => vec![0.0; credits.len()],
        Centre::GroupLeaveOneOut => {
            let own: Vec<f64> = credits.iter().map(|row| weighted_mean(row, None)).collect();
            let total: f64 = own.iter().sum();
            let others = own.len().saturating_sub(1);
            own.iter().map(|mean| if others > 0 { (total - mean) / others as f64 } else { 0.0 }).collect()
        }
    };
    credits.iter().zip(means).map(|(row, mean)| row.iter().map(|x| x - mean).collect()).collect()
}

fn weighted_mean(row: &[f64], weights: Option<&[f64]>) -> f64 {
    let total = weights.map_or(row.len() as f64, |weights| weights.iter().sum());
    let sum: f64 =
        weights.map_or_else(|| row.iter().sum(), |weights| row.iter().zip(weights).map(|(x, weight)| x * weight).sum());
    if total > 0.0 { sum / total } else { 0.0 }
}

fn same_length(what: &'static str, found: usize, expected: usize) -> Result<(), CreditError> {
    if found == expected { Ok(()) } else { Err(CreditError::Length { what, found, expected }) }
}
