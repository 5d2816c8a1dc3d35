//! The knobs of credit, each checked where it is set.

use std::collections::BTreeSet;

use dayshift_engine::Turn;

use super::CreditError;

/// How new progress is shared between the turn that flipped a check and the turns that it rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    rho: f64,
    gamma: f64,
    lasting_only: bool,
    necessary: Option<BTreeSet<Turn>>,
}

impl Config {
    /// The largest share of new progress that prerequisites may get together.
    pub const RHO_MAX: f64 = 0.5;

    /// Returns a configuration in which prerequisites share at most `rho` of new progress, a turn at distance d weighing
    /// `gamma` to the power d - 1.
    ///
    /// # Errors
    ///
    /// [`CreditError::Range`] unless `rho` is in 0..=0.5 and `gamma` in 0..=1.
    pub fn new(rho: f64, gamma: f64) -> Result<Self, CreditError> {
        within("rho", rho, 0.0, Self::RHO_MAX)?;
        within("gamma", gamma, 0.0, 1.0)?;
        Ok(Self { rho, gamma, lasting_only: false, necessary: None })
    }

    /// Returns the same configuration, crediting only progress that still stands at the end: a level above both where a check
    /// started and where it ended earns nothing, and losing it costs nothing. Credit still sums to the score.
    #[must_use]
    pub fn lasting_only(mut self) -> Self {
        self.lasting_only = true;
        self
    }

    /// Returns the same configuration, paying only those prerequisite turns that an audit found `necessary`. What the others
    /// would have got stays with the turn that flipped the check.
    #[must_use]
    pub fn audited(mut self, necessary: BTreeSet<Turn>) -> Self {
        self.necessary = Some(necessary);
        self
    }

    /// Returns the share of new progress that prerequisites may get together.
    #[must_use]
    pub const fn rho(&self) -> f64 {
        self.rho
    }

    /// Returns the factor by which each further turn weighs less.
    #[must_use]
    pub const fn gamma(&self) -> f64 {
        self.gamma
    }

    pub(super) const fn is_lasting_only(&self) -> bool {
        self.lasting_only
    }

    pub(super) fn pays(&self, turn: Turn) -> bool {
        self.necessary.as_ref().is_none_or(|necessary| necessary.contains(&turn))
    }
}

impl Default for Config {
    /// Returns rho 0.3 and gamma 0.7, with all progress and all prerequisites paid.
    fn default() -> Self {
        Self { rho: 0.3, gamma: 0.7, lasting_only: false, necessary: None }
    }
}

/// Refuses a knob outside its range; NaN is outside every range.
pub(super) fn within(name: &'static str, value: f64, low: f64, high: f64) -> Result<(), CreditError> {
    if (low..=high).contains(&value) { Ok(()) } else { Err(CreditError::Range { name, value, low, high }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rho_may_reach_a_half_and_not_pass_it() {
        assert!(Config::new(0.0, 0.7).is_ok());
        assert!(Config::new(0.5, 0.7).is_ok());
        assert!(Config::new(0.500_001, 0.7).is_err());
        assert!(Config::new(-0.1, 0.7).is_err());
        assert!(Config::new(f64::NAN, 0.7).is_err());
    }

    #[test]
    fn gamma_lies_between_zero_and_one() {
        assert!(Config::new(0.3, 1.0).is_ok());
        assert!(Config::new(0.3, 0.0).is_ok());
        assert!(Config::new(0.3, 1.1).is_err());
        assert!(Config::new(0.3, f64::INFINITY).is_err());
    }
}
