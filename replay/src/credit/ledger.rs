//! The ledger: one row for each part of each movement of a check, whom it went to and why, so that credit always sums to what the
//! score moved by itself. It decides nothing about what a check means.

use std::collections::{BTreeMap, BTreeSet};

use dayshift_engine::{Seq, SmolStr, Turn};
use serde::Serialize;

use super::{Config, Edges, Movement, Prerequisites, Trace, Verdicts, prerequisites};

/// One entry of the account.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The check, or the red line.
    pub check: SmolStr,
    /// The record at which the level moved: the last of its segment.
    pub at: Seq,
    /// Whom the amount goes to, and why.
    #[serde(flatten)]
    pub entry: Entry,
    /// The amount, in units of the score.
    pub amount: f64,
}

/// Whom an amount goes to, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Entry {
    /// The world moved the level by itself: nobody is credited or blamed.
    Exogenous,
    /// The turn lowered the level.
    Regression {
        /// The turn that is blamed.
        turn: Turn,
    },
    /// The turn restored a level that the agent had lost.
    Regained {
        /// The turn that is paid.
        turn: Turn,
    },
    /// The turn did what new progress rests on.
    Prerequisite {
        /// The turn that is paid.
        turn: Turn,
        /// The turn that made the progress.
        flip: Turn,
        /// How many turns back it lies, from 1.
        distance: u32,
    },
    /// The progress rests on something that was read untracked: nobody is paid for what cannot be shown.
    Unattributed {
        /// The turn that made the progress.
        flip: Turn,
        /// How many turns back the unknown begins, from 1.
        distance: u32,
    },
    /// The turn made new progress.
    Flip {
        /// The turn that is paid.
        turn: Turn,
    },
    /// A red line capped the score; the turn is nothing if the world crossed it by itself.
    RedLine {
        /// The turn that is blamed.
        turn: Option<Turn>,
    },
}

/// What one turn earned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct TurnCredit {
    /// The sum of the parts below.
    pub amount: f64,
    /// What it achieved itself: new progress and regained levels.
    pub direct: f64,
    /// What later turns achieved by resting on it.
    pub prerequisite: f64,
    /// What it lost: regressions and red lines; not positive.
    pub regression: f64,
}

/// The whole account of one episode.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ledger {
    /// Every row, in log order; within a record in check order; within a movement regained, prerequisites by distance and turn,
    /// unattributed, flip; red lines last.
    pub rows: Vec<Row>,
    /// Every turn of the agent, those that earned nothing included.
    pub credit: BTreeMap<Turn, TurnCredit>,
    /// What the world moved the score by without the agent behind it.
    pub exogenous: f64,
    /// What could not be attributed to a turn.
    pub unattributed: f64,
    /// The score of the initial world.
    pub start: f64,
    /// The score at the end, capped by the red lines that were crossed.
    pub end: f64,
}

impl Ledger {
    /// Returns the account of `verdicts` over `trace`, whose dependencies are `edges`.
    #[must_use]
    pub fn settle(trace: &Trace, edges: &Edges, verdicts: &Verdicts, config: &Config) -> Self {
        let weights = verdicts.weights();
        let ends = verdicts.ends();
        let score =
            |levels: &mut dyn Iterator<Item = f64>| weights.iter().zip(levels).map(|(w, level)| w * level).sum();
        let start = score(&mut verdicts.checks().iter().map(|check| check.start));
        let end = score(&mut ends.iter().copied());
        let mut ledger = Self {
            rows: Vec::new(),
            credit: trace.turns().into_iter().map(|turn| (turn, TurnCredit::default())).collect(),
            exogenous: 0.0,
            unattributed: 0.0,
            start,
            end,
        };
        let mut marks: Vec<f64> = verdicts.checks().iter().map(|check| check.start).collect();
        for movement in verdicts.movements() {
            let index = movement.check;
            let check = &verdicts.checks()[index];
            // What stands neither at the start nor at the end is levelled off, which leaves every sum as it was.
            let ceiling = if config.is_lasting_only() { check.start.max(ends[index]) } else { 1.0 };
            let fall_or_rise = Moved {
                check: &check.id,
                weight: weights[index],
                before: movement.before.min(ceiling),
                after: movement.after.min(ceiling),
                movement,
            };
            let turn = trace.owner(movement.at);
            let walk = |turn| walk(trace, edges, movement, turn, config);
            ledger.book(&fall_or_rise, turn, &mut marks[index], config, walk);
        }
        ledger.book_red_lines(trace, verdicts);
        ledger
    }

    /// Returns by how much the account misses the score: zero but for rounding.
    #[must_use]
    pub fn imbalance(&self) -> f64 {
        let credited: f64 = self.credit.values().map(|credit| credit.amount).sum();
        credited + self.unattributed + self.exogenous - (self.end - self.start)
    }

    /// Returns the turns that earned more than rounding.
    #[must_use]
    pub fn credited(&self) -> BTreeSet<Turn> {
        self.credit.iter().filter(|(_, credit)| credit.amount > 1e-12).map(|(turn, _)| *turn).collect()
    }

    /// Books one movement; `mark` is the highest level that the check has reached, as far as the agent can still claim it.
    fn book(
        &mut self,
        moved: &Moved<'_>,
        turn: Option<Turn>,
        mark: &mut f64,
        config: &Config,
        walk: impl Fn(Turn) -> Prerequisites,
    ) {
        let change = moved.after - moved.before;
        if change == 0.0 {
            return;
        }
        let Some(turn) = turn else {
            *mark = if change < 0.0 { mark.min(moved.after) } else { mark.max(moved.after) };
            self.push(moved, Entry::Exogenous, moved.weight * change);
            return;
        };
        if change < 0.0 {
            self.push(moved, Entry::Regression { turn }, moved.weight * change);
            return;
        }
        let new = (moved.after - *mark).max(0.0);
        let regained = change - new;
        *mark = mark.max(moved.after);
        if regained > 0.0 {
            self.push(moved, Entry::Regained { turn }, moved.weight * regained);
        }
        if new > 0.0 {
            self.share(moved, turn, moved.weight * new, &walk(turn), config);
        }
    }

    /// Shares new `progress` of the turn `flip` with what it rests on.
    fn share(&mut self, moved: &Moved<'_>, flip: Turn, progress: f64, found: &Prerequisites, config: &Config) {
        let mut entries: Vec<(u32, Entry)> = found
            .turns
            .iter()
            .map(|(turn, distance)| (*distance, Entry::Prerequisite { turn: *turn, flip, distance: *distance }))
            .collect();
        entries.sort_by_key(|(distance, _)| *distance);
        // What an untracked read hides weighs as much as one turn would.
        entries.extend(found.untracked.map(|distance| (distance, Entry::Unattributed { flip, distance })));
        let weight = |distance: u32| config.gamma().powf(f64::from(distance - 1));
        let total: f64 = entries.iter().map(|(distance, _)| weight(*distance)).sum();
        let mut rest = progress;
        for (distance, entry) in entries {
            let amount = config.rho() * progress * weight(distance) / total.max(1.0);
            rest -= amount;
            self.push(moved, entry, amount);
        }
        self.push(moved, Entry::Flip { turn: flip }, rest);
    }

    /// Charges each crossing with what it takes from the score that the caps before it left.
    fn book_red_lines(&mut self, trace: &Trace, verdicts: &Verdicts) {
        for crossing in verdicts.crossings() {
            let excess = (self.end - crossing.cap).max(0.0);
            let turn = trace.owner(crossing.at);
            self.end -= excess;
            self.enter(Row {
                check: crossing.red_line.clone(),
                at: crossing.at,
                entry: Entry::RedLine { turn },
                amount: -excess,
            });
        }
    }

    fn push(&mut self, moved: &Moved<'_>, entry: Entry, amount: f64) {
        self.enter(Row { check: moved.check.clone(), at: moved.movement.at, entry, amount });
    }

    /// Adds a row and moves its amount into the account that it names.
    fn enter(&mut self, row: Row) {
        let amount = row.amount;
        match row.entry {
            Entry::Exogenous | Entry::RedLine { turn: None } => self.exogenous += amount,
            Entry::Unattributed { .. } => self.unattributed += amount,
            Entry::Regression { turn } | Entry::RedLine { turn: Some(turn) } => {
                self.pay(turn, amount).regression += amount;
            }
            Entry::Regained { turn } | Entry::Flip { turn } => self.pay(turn, amount).direct += amount,
            Entry::Prerequisite { turn, .. } => self.pay(turn, amount).prerequisite += amount,
        }
        self.rows.push(row);
    }

    fn pay(&mut self, turn: Turn, amount: f64) -> &mut TurnCredit {
        let credit = self.credit.entry(turn).or_default();
        credit.amount += amount;
        credit
    }
}

/// A movement with its check's weight, levelled as the configuration asks.
struct Moved<'a> {
    check: &'a SmolStr,
    weight: f64,
    before: f64,
    after: f64,
    movement: &'a Movement,
}

/// Walks back from a movement, and leaves only the prerequisites that are paid.
fn walk(trace: &Trace, edges: &Edges, movement: &Movement, turn: Turn, config: &Config) -> Prerequisites {
    let mut found = prerequisites(trace, edges, &movement.roots, turn);
    found.turns.retain(|turn, _| config.pays(*turn));
    if movement.untracked {
        found.untracked = Some(1);
    }
    found
}
