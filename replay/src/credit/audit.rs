//! The counterfactual audit: what each turn was worth when the episode is replayed without it. It checks that credit means
//! something, and is generic over how a set of turns is replayed and scored.

use std::collections::{BTreeMap, BTreeSet};

use dayshift_engine::{RandomStream, Turn};

use super::{Edges, Trace};

/// Up to how many turns Shapley values are exact: every coalition is replayed.
pub const SHAPLEY_EXACT_TURNS_MAX: usize = 12;
/// How many random orders are drawn beyond that; each is walked forwards and backwards.
pub const SHAPLEY_PERMUTATION_PAIRS: usize = 200;

/// Marginal contributions smaller than this are rounding.
const NULL_CONTRIBUTION_MAX: f64 = 1e-12;

/// What replaying with and without turns showed.
#[derive(Clone, Debug, PartialEq)]
pub struct Audit {
    /// The value of all turns together.
    pub full: f64,
    /// The value of none.
    pub empty: f64,
    /// For each turn, what is lost without it.
    pub necessary: BTreeMap<Turn, f64>,
    /// For each turn, what it and the turns that it rests on achieve alone.
    pub sufficient: BTreeMap<Turn, f64>,
    /// For each turn, its Shapley value; they sum to `full - empty`.
    pub shapley: BTreeMap<Turn, f64>,
    /// The turns that changed nothing in any coalition that was replayed.
    pub null_turns: BTreeSet<Turn>,
    /// Whether the Shapley values are exact, and not estimated.
    pub exact: bool,
}

/// Returns the audit of `turns`. `value` replays with the given turns only and scores the result; it is called once for each
/// different set. `stream` orders the permutations where there are too many turns for exact values.
///
/// # Errors
///
/// What `value` returns, at once.
pub fn audit<E>(
    trace: &Trace,
    edges: &Edges,
    turns: &BTreeSet<Turn>,
    stream: &mut RandomStream,
    value: impl FnMut(&BTreeSet<Turn>) -> Result<f64, E>,
) -> Result<Audit, E> {
    let mut memo = Memo { value, known: BTreeMap::new() };
    let full = memo.get(turns)?;
    let empty = memo.get(&BTreeSet::new())?;
    let mut necessary = BTreeMap::new();
    let mut sufficient = BTreeMap::new();
    for turn in turns {
        let mut others = turns.clone();
        others.remove(turn);
        necessary.insert(*turn, full - memo.get(&others)?);
        let slice: BTreeSet<Turn> = edges.slice(trace, trace.records_of(*turn)).intersection(turns).copied().collect();
        sufficient.insert(*turn, memo.get(&slice)? - empty);
    }
    let order: Vec<Turn> = turns.iter().copied().collect();
    let exact = order.len() <= SHAPLEY_EXACT_TURNS_MAX;
    let gains = if exact { exact_gains(&order, &mut memo)? } else { sampled_gains(&order, &mut memo, stream)? };
    Ok(Audit { full, empty, necessary, sufficient, shapley: gains.shapley, null_turns: gains.null_turns, exact })
}

/// Values that were computed, so that no set is replayed twice.
struct Memo<F> {
    value: F,
    known: BTreeMap<BTreeSet<Turn>, f64>,
}

struct Gains {
    shapley: BTreeMap<Turn, f64>,
    null_turns: BTreeSet<Turn>,
}

fn exact_gains<E, F: FnMut(&BTreeSet<Turn>) -> Result<f64, E>>(order: &[Turn], memo: &mut Memo<F>) -> Result<Gains, E> {
    let count = order.len();
    let mut values = Vec::with_capacity(1 << count);
    for mask in 0_usize..1 << count {
        let coalition = (0..count).filter(|index| mask >> index & 1 == 1).map(|index| order[index]).collect();
        values.push(memo.get(&coalition)?);
    }
    // The chance that exactly a given coalition of k comes before a turn in a random order: k! (n - k - 1)! / n!.
    let chances: Vec<f64> = (0..count).map(|k| factorial(k) * factorial(count - k - 1) / factorial(count)).collect();
    let mut gains = Gains::none(order);
    for (index, turn) in order.iter().enumerate() {
        for mask in (0_usize..1 << count).filter(|mask| mask >> index & 1 == 0) {
            gains.add(*turn, chances[mask.count_ones() as usize], values[mask | 1 << index] - values[mask]);
        }
    }
    Ok(gains)
}

fn sampled_gains<E, F: FnMut(&BTreeSet<Turn>) -> Result<f64, E>>(
    order: &[Turn],
    memo: &mut Memo<F>,
    stream: &mut RandomStream,
) -> Result<Gains, E> {
    let mut gains = Gains::none(order);
    let chance = 0.5 / SHAPLEY_PERMUTATION_PAIRS as f64;
    for _ in 0..SHAPLEY_PERMUTATION_PAIRS {
        let mut drawn = order.to_vec();
        stream.shuffle(&mut drawn);
        // The same order backwards as well: the antithetic pair varies less than two free draws.
        for backwards in [false, true] {
            let mut coalition = BTreeSet::new();
            let mut last = memo.get(&coalition)?;
            for step in 0..drawn.len() {
                let turn = drawn[if backwards { drawn.len() - 1 - step } else { step }];
                coalition.insert(turn);
                let next = memo.get(&coalition)?;
                gains.add(turn, chance, next - last);
                last = next;
            }
        }
    }
    Ok(gains)
}

fn factorial(number: usize) -> f64 {
    (1..=number).map(|factor| factor as f64).product()
}

impl<E, F: FnMut(&BTreeSet<Turn>) -> Result<f64, E>> Memo<F> {
    fn get(&mut self, turns: &BTreeSet<Turn>) -> Result<f64, E> {
        if let Some(value) = self.known.get(turns) {
            return Ok(*value);
        }
        let value = (self.value)(turns)?;
        self.known.insert(turns.clone(), value);
        Ok(value)
    }
}

impl Gains {
    fn none(order: &[Turn]) -> Self {
        Self { shapley: order.iter().map(|turn| (*turn, 0.0)).collect(), null_turns: order.iter().copied().collect() }
    }

    fn add(&mut self, turn: Turn, chance: f64, contribution: f64) {
        *self.shapley.entry(turn).or_default() += chance * contribution;
        if contribution.abs() > NULL_CONTRIBUTION_MAX {
            self.null_turns.remove(&turn);
        }
    }
}
