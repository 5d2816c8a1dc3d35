//! A recurrence rule (RFC 5545, 3.3.10) over the time that a clock on the wall shows, and what is asked of one before it is followed. Counting is done
//! in [`super::expand`].

use std::borrow::Cow;
use std::ops::{ControlFlow, RangeInclusive};

use dayshift_engine::{Budget, OverBudget, Rejection, SmolStr};
use serde::{Deserialize, Serialize};

use super::expand::{self, Walked};
use super::limits::{RULE_COUNT_MAX, RULE_INSTANCES_PER_DAY_MAX, RULE_STEPS_PER_DAY_MAX};
use super::moment::{DAY_SECONDS, Moment};

/// How often a rule repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Every {
    /// FREQ=SECONDLY.
    Second,
    /// FREQ=MINUTELY.
    Minute,
    /// FREQ=HOURLY.
    Hour,
    /// FREQ=DAILY.
    Day,
    /// FREQ=WEEKLY.
    Week,
    /// FREQ=MONTHLY.
    Month,
    /// FREQ=YEARLY.
    Year,
}

/// One rule, as it was understood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// The rule as it was written.
    pub text: SmolStr,
    /// How often it repeats.
    pub every: Every,
    /// INTERVAL, at least 1.
    pub interval: u16,
    /// COUNT.
    pub count: Option<u32>,
    /// UNTIL: no instance lies behind it.
    pub until: Option<Moment>,
    /// WKST, in days from Monday.
    pub week_start: u8,
    /// BYMONTH.
    pub by_month: Vec<u8>,
    /// BYWEEKNO.
    pub by_week: Vec<i8>,
    /// BYYEARDAY.
    pub by_year_day: Vec<i16>,
    /// BYMONTHDAY.
    pub by_month_day: Vec<i8>,
    /// BYDAY: which one (0 for each), and the days from Monday.
    pub by_day: Vec<(i16, u8)>,
    /// BYHOUR.
    pub by_hour: Vec<u8>,
    /// BYMINUTE.
    pub by_minute: Vec<u8>,
    /// BYSECOND.
    pub by_second: Vec<u8>,
    /// BYSETPOS.
    pub by_position: Vec<i32>,
}

/// Why a rule is not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RuleFault {
    /// It is not RFC 5545, or says something that the standard forbids.
    NotUnderstood,
    /// COUNT is larger than [`RULE_COUNT_MAX`].
    CountTooLarge,
    /// It has more than [`RULE_INSTANCES_PER_DAY_MAX`] instances within a day.
    TooDense,
    /// It never happens.
    Never,
    /// Looking for its instances takes more than the call may.
    OverBudget(OverBudget),
}

impl From<OverBudget> for RuleFault {
    fn from(over: OverBudget) -> Self {
        Self::OverBudget(over)
    }
}

impl From<RuleFault> for Rejection {
    fn from(fault: RuleFault) -> Self {
        match fault {
            RuleFault::OverBudget(over) => over.into(),
            RuleFault::NotUnderstood | RuleFault::CountTooLarge | RuleFault::TooDense | RuleFault::Never => {
                Self::new("calendar/bad-rule", fault.sentence())
            }
        }
    }
}

impl RuleFault {
    /// Returns a sentence that says what to do instead.
    pub(crate) fn sentence(self) -> String {
        match self {
            Self::NotUnderstood => {
                "the rule is not one of RFC 5545; write it like FREQ=WEEKLY;BYDAY=MO,WE;COUNT=10".into()
            }
            Self::CountTooLarge => {
                format!("COUNT is at most {RULE_COUNT_MAX}; give a smaller one, or UNTIL, or neither")
            }
            Self::TooDense => format!(
                "the rule has more than {RULE_INSTANCES_PER_DAY_MAX} instances within a day; repeat less often, or make one longer event"
            ),
            Self::Never => "no day fits the rule; give one that happens".into(),
            Self::OverBudget(over) => over.to_string(),
        }
    }
}

impl Rule {
    /// Checks what needs counting: that the rule happens, and not too often.
    pub(crate) fn check(&self, start_wall: i64, budget: &Budget) -> Result<(), RuleFault> {
        if self.count.is_some_and(|count| count > RULE_COUNT_MAX) {
            return Err(RuleFault::CountTooLarge);
        }
        if !self.is_allowed() {
            return Err(RuleFault::NotUnderstood);
        }
        if self.steps().step_seconds().is_some_and(|step| DAY_SECONDS / step > RULE_STEPS_PER_DAY_MAX) {
            return Err(RuleFault::TooDense);
        }
        let mut first = None;
        self.walk(start_wall, start_wall..=i64::MAX, budget, |wall| {
            first = Some(wall);
            ControlFlow::Break(())
        })?;
        let Some(first) = first else { return Err(RuleFault::Never) };
        // The first day tells; a rule that is sparse at first does not have to be counted for centuries.
        let mut count = 0;
        self.walk(start_wall, first..=first + DAY_SECONDS - 1, budget, |wall| {
            count += usize::from(wall >= first);
            if count > RULE_INSTANCES_PER_DAY_MAX { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if count > RULE_INSTANCES_PER_DAY_MAX { Err(RuleFault::TooDense) } else { Ok(()) }
    }

    /// Shows `visit` the instances from about `window`'s begin to its end, in order, until it breaks off or there are none left. UNTIL is for the
    /// caller, who knows where the wall stands. Some earlier instances may be shown too.
    ///
    /// # Errors
    ///
    /// What the budget says when it is used up.
    pub(crate) fn walk(
        &self,
        start_wall: i64,
        window: RangeInclusive<i64>,
        budget: &Budget,
        visit: impl FnMut(i64) -> ControlFlow<()>,
    ) -> Result<Walked, OverBudget> {
        expand::walk(&self.steps(), start_wall, window, budget, visit)
    }

    /// Returns whether the standard allows the parts of the rule beside its frequency, and their numbers.
    fn is_allowed(&self) -> bool {
        let every = self.every;
        let (position_max, nth) = match every {
            Every::Year | Every::Day => (366, -52..=53),
            Every::Month => (31, -5..=5),
            Every::Week => (53, -7..=8),
            Every::Hour => (24, -3..=4),
            Every::Minute | Every::Second => (60, -8..=9),
        };
        let is_picking = !(self.by_month.is_empty()
            && self.by_week.is_empty()
            && self.by_year_day.is_empty()
            && self.by_month_day.is_empty()
            && self.by_day.is_empty()
            && self.by_hour.is_empty()
            && self.by_minute.is_empty()
            && self.by_second.is_empty());
        // What a rule takes from its start counts as picked for the positions.
        let is_picking = is_picking || every != Every::Second;
        (self.by_week.is_empty() || every == Every::Year)
            && (self.by_year_day.is_empty() || !matches!(every, Every::Month | Every::Week | Every::Day))
            && (self.by_month_day.is_empty() || every != Every::Week)
            && (self.by_position.is_empty() || is_picking)
            && self.by_position.iter().all(|position| (1..=position_max).contains(&position.abs()))
            && self.by_day.iter().all(|(number, _)| nth.contains(number))
            && self.by_month.iter().all(|month| (1..=12).contains(month))
            && self.by_month_day.iter().all(|day| (1..=31).contains(&day.unsigned_abs()))
            && self.by_year_day.iter().all(|day| (1..=366).contains(&day.unsigned_abs()))
            && self.by_week.iter().all(|week| (1..=53).contains(&week.unsigned_abs()))
            && self.by_hour.iter().all(|hour| *hour < 24)
            && self.by_minute.iter().chain(&self.by_second).all(|part| *part < 60)
    }

    /// Returns the same rule in larger steps where it picks hours, minutes or seconds from small ones: `FREQ=MINUTELY;BYHOUR=9` is every day's
    /// ninth hour with all its minutes. Otherwise most steps would be in vain.
    fn steps(&self) -> Cow<'_, Self> {
        let is_picking = !(self.by_hour.is_empty() && self.by_minute.is_empty() && self.by_second.is_empty());
        if self.interval != 1 || !self.by_position.is_empty() || !is_picking || self.step_seconds().is_none() {
            return Cow::Borrowed(self);
        }
        let mut larger = self.clone();
        let all = |picked: &mut Vec<u8>, count: u8| {
            if picked.is_empty() {
                picked.extend(0..count);
            }
        };
        if larger.every == Every::Second {
            all(&mut larger.by_second, 60);
            larger.every = Every::Minute;
        }
        if larger.every == Every::Minute && !(larger.by_hour.is_empty() && larger.by_minute.is_empty()) {
            all(&mut larger.by_minute, 60);
            larger.every = Every::Hour;
        }
        if larger.every == Every::Hour && !larger.by_hour.is_empty() {
            larger.every = Every::Day;
        }
        Cow::Owned(larger)
    }

    /// Returns the length of a step of less than a day, as the rule takes it at its most.
    fn step_seconds(&self) -> Option<i64> {
        let unit = match self.every {
            Every::Second => 1,
            Every::Minute => 60,
            Every::Hour => 3600,
            Every::Day | Every::Week | Every::Month | Every::Year => return None,
        };
        Some(unit * i64::from(self.interval.max(1)))
    }
}
