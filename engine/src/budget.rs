//! What one decision may cost. Every parser, expander and evaluator that works on something from outside draws on the budget of the frame
//! that is open while it runs: work in units that are counted, not timed, so that the same call is refused at the same point on every
//! machine, and bytes of intermediate memory.

use std::cell::Cell;

use crate::tool::Rejection;

/// How much work one call may cost, unless the scenario says otherwise. A unit is about what it takes to touch a byte of text, compare two
/// values or step to the next occurrence: a release build does some 50 to 500 million a second.
pub const CALL_WORK_MAX: u64 = 100_000_000;

/// How many bytes of intermediate results one call may make, unless the scenario says otherwise (128 MiB). What is freed again counts too.
pub const CALL_BYTES_MAX: u64 = 128 << 20;

/// The code of a call that would cost more work than one call may.
pub const BUDGET_WORK: &str = "budget/work";

/// The code of a call that would need more memory than one call may.
pub const BUDGET_BYTES: &str = "budget/bytes";

/// How much a decision may still cost. Interior mutability lets everything that reads the world draw on one budget.
#[derive(Debug)]
pub struct Budget {
    work_max: u64,
    bytes_max: u64,
    work_left: Cell<u64>,
    bytes_left: Cell<u64>,
}

/// A budget is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OverBudget {
    /// Too much work.
    #[error("this needs more than the {0} units of work that one call may use; ask for less at once")]
    Work(u64),
    /// Too much memory.
    #[error("this needs more than the {0} bytes of intermediate results that one call may make; ask for less at once")]
    Bytes(u64),
}

impl Budget {
    /// Returns a budget of `work` units and `bytes`.
    #[must_use]
    pub const fn new(work: u64, bytes: u64) -> Self {
        Self { work_max: work, bytes_max: bytes, work_left: Cell::new(work), bytes_left: Cell::new(bytes) }
    }

    /// Draws `units` of work. Call it before the work is done.
    ///
    /// # Errors
    ///
    /// [`OverBudget::Work`] when fewer are left; then none are left.
    pub fn work(&self, units: u64) -> Result<(), OverBudget> {
        draw(&self.work_left, units).ok_or(OverBudget::Work(self.work_max))
    }

    /// Draws `bytes` of memory, which is also as much work. Call it before the memory is taken.
    ///
    /// # Errors
    ///
    /// [`OverBudget::Bytes`] or [`OverBudget::Work`] when less is left; then nothing is left.
    pub fn bytes(&self, bytes: u64) -> Result<(), OverBudget> {
        draw(&self.bytes_left, bytes).ok_or(OverBudget::Bytes(self.bytes_max))?;
        self.work(bytes)
    }

    /// Returns how much work is left, in units.
    #[must_use]
    pub fn work_left(&self) -> u64 {
        self.work_left.get()
    }

    /// Returns how much memory is left, in bytes.
    #[must_use]
    pub fn bytes_left(&self) -> u64 {
        self.bytes_left.get()
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(CALL_WORK_MAX, CALL_BYTES_MAX)
    }
}

impl From<OverBudget> for Rejection {
    fn from(over: OverBudget) -> Self {
        let code = match over {
            OverBudget::Work(_) => BUDGET_WORK,
            OverBudget::Bytes(_) => BUDGET_BYTES,
        };
        Self::new(code, over.to_string())
    }
}

fn draw(left: &Cell<u64>, amount: u64) -> Option<()> {
    let rest = left.get().checked_sub(amount);
    left.set(rest.unwrap_or(0));
    rest.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_budget_can_be_used_and_no_unit_more() {
        let budget = Budget::new(10, 4);
        assert_eq!(budget.work(6), Ok(()));
        assert_eq!(budget.bytes(4), Ok(()));
        assert_eq!((budget.work_left(), budget.bytes_left()), (0, 0));
        assert_eq!(budget.work(1), Err(OverBudget::Work(10)));
        assert_eq!(budget.bytes(1), Err(OverBudget::Bytes(4)));
    }

    #[test]
    fn a_budget_that_was_overdrawn_stays_empty() {
        let budget = Budget::new(10, 10);
        assert_eq!(budget.work(11), Err(OverBudget::Work(10)));
        assert_eq!(budget.work(1), Err(OverBudget::Work(10)));
        assert_eq!(Rejection::from(OverBudget::Work(10)).code, BUDGET_WORK);
        assert_eq!(Rejection::from(OverBudget::Bytes(10)).code, BUDGET_BYTES);
    }
}
