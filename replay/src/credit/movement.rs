//! What grading hands to credit: how the effective level of each check moved, and which red lines were crossed. How a level was
//! evaluated, and which keys it read, is grading's business.
//!
//! A check that counts at the end of a day is expressed by movements that stop there; what happened to it before the day opened is
//! one movement at the opening record, which is the world's. A constraint starts at 1 and its movements only fall.

use std::collections::BTreeMap;

use dayshift_engine::{Seq, SmolStr};

use super::{CreditError, Trace};

/// A named, weighted test of the world.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Its id, which ledger rows carry.
    pub id: SmolStr,
    /// Its weight before normalisation, not negative.
    pub weight: f64,
    /// Its level in the initial world, in 0..=1.
    pub start: f64,
}

/// One check's level moved within one segment.
#[derive(Clone, Debug, PartialEq)]
pub struct Movement {
    /// The check, counted from 0.
    pub check: usize,
    /// The last record of the segment: whoever made it moved the level.
    pub at: Seq,
    /// The level where the segment began, in 0..=1.
    pub before: f64,
    /// The level where the segment ended, in 0..=1.
    pub after: f64,
    /// The last writers of the keys that the evaluation read, at that moment (0: nobody since the beginning).
    pub roots: Vec<Seq>,
    /// Whether the evaluation read something that no key stands for.
    pub untracked: bool,
}

/// A red line was crossed: from then on the score cannot exceed the cap.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossing {
    /// The red line's id, which its ledger row carries.
    pub red_line: SmolStr,
    /// The record that crossed it.
    pub at: Seq,
    /// The largest score that remains possible, in 0..=1.
    pub cap: f64,
}

/// Everything that grading found in one episode, checked against its trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdicts {
    checks: Vec<Check>,
    movements: Vec<Movement>,
    crossings: Vec<Crossing>,
}

impl Verdicts {
    /// Returns the verdicts over `trace`. Movements and crossings are put into log order, those of one record into check order.
    ///
    /// # Errors
    ///
    /// [`CreditError::Number`] for a weight that is negative or not finite, [`CreditError::Range`] for a level or cap outside 0..=1,
    /// [`CreditError::UnknownCheck`] and [`CreditError::UnknownRecord`] for what does not exist, [`CreditError::Forward`] for
    /// evidence from a later record, and [`CreditError::Discontinuous`] where a check's movements do not join.
    pub fn new(
        trace: &Trace,
        checks: Vec<Check>,
        mut movements: Vec<Movement>,
        mut crossings: Vec<Crossing>,
    ) -> Result<Self, CreditError> {
        for check in &checks {
            if !(check.weight.is_finite() && check.weight >= 0.0) {
                return Err(CreditError::Number { what: "a check's weight", value: check.weight });
            }
            level("a check's start", check.start)?;
        }
        movements.sort_by_key(|movement| (movement.at, movement.check));
        crossings.sort_by(|left, right| (left.at, &left.red_line).cmp(&(right.at, &right.red_line)));
        let mut stood: Vec<f64> = checks.iter().map(|check| check.start).collect();
        for movement in &movements {
            let Some(check) = checks.get(movement.check) else {
                return Err(CreditError::UnknownCheck { check: movement.check, checks: checks.len() });
            };
            known(trace, movement.at)?;
            if let Some(root) = movement.roots.iter().find(|root| **root > movement.at) {
                return Err(CreditError::Forward { seq: movement.at, source_seq: *root });
            }
            level("a check's level", movement.after)?;
            let stood = &mut stood[movement.check];
            if movement.before != *stood {
                let (at, before) = (movement.at, movement.before);
                return Err(CreditError::Discontinuous { check: check.id.clone(), at, before, stood: *stood });
            }
            *stood = movement.after;
        }
        for crossing in &crossings {
            known(trace, crossing.at)?;
            level("a red line's cap", crossing.cap)?;
        }
        Ok(Self { checks, movements, crossings })
    }

    /// Returns the checks.
    #[must_use]
    pub fn checks(&self) -> &[Check] {
        &self.checks
    }

    /// Returns the movements in log order.
    #[must_use]
    pub fn movements(&self) -> &[Movement] {
        &self.movements
    }

    /// Returns the crossings in log order.
    #[must_use]
    pub fn crossings(&self) -> &[Crossing] {
        &self.crossings
    }

    /// Returns the weights, normalised to sum to 1. Where all are zero, they stay zero.
    #[must_use]
    pub fn weights(&self) -> Vec<f64> {
        let total: f64 = self.checks.iter().map(|check| check.weight).sum();
        let scale = if total > 0.0 { total } else { 1.0 };
        self.checks.iter().map(|check| check.weight / scale).collect()
    }

    /// Returns the level at which each check ended.
    #[must_use]
    pub fn ends(&self) -> Vec<f64> {
        let last: BTreeMap<usize, f64> = self.movements.iter().map(|one| (one.check, one.after)).collect();
        let end = |(index, check): (usize, &Check)| last.get(&index).copied().unwrap_or(check.start);
        self.checks.iter().enumerate().map(end).collect()
    }
}

fn level(name: &'static str, value: f64) -> Result<(), CreditError> {
    super::config::within(name, value, 0.0, 1.0)
}

fn known(trace: &Trace, seq: Seq) -> Result<(), CreditError> {
    trace.step(seq).map(|_| ()).ok_or(CreditError::UnknownRecord { seq })
}
