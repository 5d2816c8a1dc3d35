//! How well credit agrees with the audit: precision and recall of the credited turns, what null turns got, rank correlation with
//! Shapley values, and whether slices are sound.

use std::collections::{BTreeMap, BTreeSet};

use dayshift_engine::{Seq, Turn};
use serde::Serialize;

use super::{Audit, Edges, Ledger, Trace};

/// A loss smaller than this is rounding.
const NECESSARY_MIN: f64 = 1e-12;
/// Numbers that differ by less than this share a rank.
const TIE_MAX: f64 = 1e-12;

/// The agreement of one ledger with one audit. A share without a denominator is nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Fidelity {
    /// Of the turns that earned something, the share that was necessary.
    pub precision: Option<f64>,
    /// Of the turns that were necessary, the share that earned something.
    pub recall: Option<f64>,
    /// The credit, without sign, on turns that changed nothing in any coalition.
    pub null_credit: f64,
    /// Spearman's rank correlation of credit with Shapley values; nothing where either does not vary.
    pub rank_correlation: Option<f64>,
}

/// One check to be reached again from its slice alone.
#[derive(Clone, Debug, PartialEq)]
pub struct SliceTarget {
    /// The check, counted from 0.
    pub check: usize,
    /// The last writers of its evidence at the end.
    pub roots: Vec<Seq>,
    /// The level that it ended at.
    pub level: f64,
}

/// How many slices reached the recorded level when replayed alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Soundness {
    /// Those that did.
    pub sound: usize,
    /// All that were tried.
    pub tried: usize,
}

impl Fidelity {
    /// Returns how well `ledger` agrees with `audit`, over the turns that were audited.
    #[must_use]
    pub fn of(ledger: &Ledger, audit: &Audit) -> Self {
        let necessary: BTreeSet<Turn> =
            audit.necessary.iter().filter(|(_, loss)| **loss > NECESSARY_MIN).map(|(turn, _)| *turn).collect();
        let credited: BTreeSet<Turn> =
            ledger.credited().into_iter().filter(|turn| audit.necessary.contains_key(turn)).collect();
        let both = credited.intersection(&necessary).count();
        let amount = |turn: &Turn| ledger.credit.get(turn).map_or(0.0, |credit| credit.amount);
        let pairs: Vec<(f64, f64)> = audit.shapley.iter().map(|(turn, value)| (amount(turn), *value)).collect();
        Self {
            precision: share(both, credited.len()),
            recall: share(both, necessary.len()),
            null_credit: audit.null_turns.iter().map(|turn| amount(turn).abs()).sum(),
            rank_correlation: spearman(&pairs),
        }
    }
}

impl Soundness {
    /// Returns the share of sound slices, or nothing if none was tried.
    #[must_use]
    pub fn rate(self) -> Option<f64> {
        share(self.sound, self.tried)
    }
}

/// Replays the slice of each target alone and counts those that reach the recorded level. `replay` gets the check and the
/// turns to keep, and returns the level.
///
/// # Errors
///
/// What `replay` returns, at once.
pub fn slice_soundness<E>(
    trace: &Trace,
    edges: &Edges,
    targets: &[SliceTarget],
    mut replay: impl FnMut(usize, &BTreeSet<Turn>) -> Result<f64, E>,
) -> Result<Soundness, E> {
    let mut soundness = Soundness::default();
    for target in targets {
        let slice = edges.slice(trace, target.roots.iter().copied());
        let level = replay(target.check, &slice)?;
        soundness.tried += 1;
        soundness.sound += usize::from((level - target.level).abs() <= TIE_MAX);
    }
    Ok(soundness)
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Returns the correlation of the ranks, where equal numbers share the mean of their ranks.
fn spearman(pairs: &[(f64, f64)]) -> Option<f64> {
    let left = ranks(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>());
    let right = ranks(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>());
    let middle = (pairs.len() as f64 + 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| (a - middle) * (b - middle)).sum() };
    let spread = (product(&left, &left) * product(&right, &right)).sqrt();
    (spread > 0.0).then(|| product(&left, &right) / spread)
}

fn ranks(numbers: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|left, right| numbers[*left].total_cmp(&numbers[*right]));
    let mut ranks = BTreeMap::new();
    let mut first = 0;
    while first < order.len() {
        let tied = order[first..].iter().take_while(|at| numbers[**at] - numbers[order[first]] <= TIE_MAX).count();
        // Ranks count from 1; the tied share the mean of first + 1 ..= first + tied.
        let mean = first as f64 + (tied as f64 + 1.0) / 2.0;
        ranks.extend(order[first..first + tied].iter().map(|at| (*at, mean)));
        first += tied;
    }
    ranks.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tied_numbers_share_the_mean_of_their_ranks() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
    }

    #[test]
    fn the_rank_correlation_ignores_everything_but_order() {
        assert_eq!(spearman(&[(0.0, 1.0), (0.1, 50.0), (9.0, 51.0)]), Some(1.0));
        assert_eq!(spearman(&[(0.0, 3.0), (1.0, 2.0), (2.0, 1.0)]), Some(-1.0));
        assert_eq!(spearman(&[(1.0, 3.0), (1.0, 2.0)]), None);
        assert_eq!(spearman(&[]), None);
    }
}
