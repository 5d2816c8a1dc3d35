//! A recurrence rule (RFC 5545, 3.3.10) over the time that a clock on the wall shows. The rrule crate counts; here are the bounds on its work, and a
//! start that jumps over years nobody asks for.

use std::ops::ControlFlow;

use chrono::{Datelike, Month, TimeZone, Weekday};
use dayshift_engine::SmolStr;
use rrule::{Frequency, NWeekday, RRule, RRuleSet, Tz};
use serde::{Deserialize, Serialize};

use super::limits::{RULE_COUNT_MAX, RULE_INSTANCES_PER_DAY_MAX};
use super::moment::{DAY_SECONDS, Moment, naive, wall_of};

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
        }
    }
}

impl Rule {
    /// Checks what needs counting: that the rule happens, and not too often.
    pub(crate) fn check(&self, start_wall: i64) -> Result<(), RuleFault> {
        if self.count.is_some_and(|count| count > RULE_COUNT_MAX) {
            return Err(RuleFault::CountTooLarge);
        }
        let mut first = Vec::with_capacity(RULE_INSTANCES_PER_DAY_MAX + 1);
        self.walk(start_wall, start_wall, |wall| {
            first.push(wall);
            let is_enough = first.len() > RULE_INSTANCES_PER_DAY_MAX;
            // The first ones tell; a rule that is sparse at first does not have to be counted for centuries.
            if is_enough || wall - first[0] > 2 * DAY_SECONDS {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        match (first.first(), first.get(RULE_INSTANCES_PER_DAY_MAX)) {
            (None, _) => Err(RuleFault::Never),
            (Some(first), Some(last)) if last - first < DAY_SECONDS => Err(RuleFault::TooDense),
            (Some(_), Some(_) | None) => Ok(()),
        }
    }

    /// Shows `visit` the instances from about `from_wall` on, in order, until it breaks off or there are none left. UNTIL is for the caller, who knows
    /// where the wall stands. Some earlier instances may be shown too.
    pub(crate) fn walk(
        &self,
        start_wall: i64,
        from_wall: i64,
        mut visit: impl FnMut(i64) -> ControlFlow<()>,
    ) -> Result<(), RuleFault> {
        let begin = if self.count.is_some() { start_wall } else { self.jump(start_wall, from_wall) };
        let at = |wall: i64| Tz::UTC.from_utc_datetime(&naive(wall));
        let rule = self.explicit(start_wall).validate(at(begin)).map_err(|_| RuleFault::NotUnderstood)?;
        let set = RRuleSet::new(at(begin)).rrule(rule).limit();
        for instance in &set {
            let Some(wall) = wall_of(instance.naive_utc()) else { break };
            if visit(wall).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Returns the rule for the library, with what it would take from its start said in so many words, so that the start can move.
    fn explicit(&self, start_wall: i64) -> RRule<rrule::Unvalidated> {
        let start = naive(start_wall);
        let mut by_month = self.by_month.clone();
        let mut by_month_day = self.by_month_day.clone();
        let is_bare = self.by_week.is_empty()
            && self.by_year_day.is_empty()
            && self.by_month_day.is_empty()
            && self.by_day.is_empty();
        if is_bare && matches!(self.every, Every::Month | Every::Year) {
            by_month_day.push(start.day() as i8);
            if self.every == Every::Year && by_month.is_empty() {
                by_month.push(start.month() as u8);
            }
        }
        let months: Vec<Month> = by_month.iter().filter_map(|month| Month::try_from(*month).ok()).collect();
        let weekday = |days: u8| Weekday::try_from(days % 7).unwrap_or(Weekday::Mon);
        let days = self.by_day.iter().map(|(nth, day)| match nth {
            0 => NWeekday::Every(weekday(*day)),
            nth => NWeekday::Nth(*nth, weekday(*day)),
        });
        let rule = RRule::new(self.every.frequency())
            .interval(self.interval)
            .week_start(weekday(self.week_start))
            .by_month(&months)
            .by_month_day(by_month_day)
            .by_week_no(self.by_week.clone())
            .by_year_day(self.by_year_day.clone())
            .by_weekday(days.collect())
            .by_hour(self.by_hour.clone())
            .by_minute(self.by_minute.clone())
            .by_second(self.by_second.clone())
            .by_set_pos(self.by_position.clone());
        match self.count {
            Some(count) => rule.count(count),
            None => rule,
        }
    }

    /// Returns a start in step with `start_wall`, one period or more before `from_wall`, from which the same instances follow.
    fn jump(&self, start_wall: i64, from_wall: i64) -> i64 {
        let interval = i64::from(self.interval.max(1));
        let unit = match self.every {
            Every::Second => 1,
            Every::Minute => 60,
            Every::Hour => 3600,
            Every::Day => DAY_SECONDS,
            Every::Week => 7 * DAY_SECONDS,
            Every::Month | Every::Year => return self.jump_months(start_wall, from_wall, interval),
        };
        let step = unit * interval;
        let steps = (from_wall - start_wall).div_euclid(step) - 1;
        if steps > 0 { start_wall + steps * step } else { start_wall }
    }

    fn jump_months(&self, start_wall: i64, from_wall: i64, interval: i64) -> i64 {
        let months = |wall: i64| {
            let date = naive(wall).date();
            i64::from(date.year()) * 12 + i64::from(date.month0())
        };
        let step = if self.every == Every::Year { 12 * interval } else { interval };
        let steps = (months(from_wall) - months(start_wall)).div_euclid(step) - 1;
        if steps <= 0 {
            return start_wall;
        }
        let mut month = months(start_wall) + steps * step;
        if self.every == Every::Year {
            month -= month.rem_euclid(12);
        }
        let day = chrono::NaiveDate::from_ymd_opt((month.div_euclid(12)) as i32, month.rem_euclid(12) as u32 + 1, 1);
        let time = naive(start_wall).time();
        day.and_then(|day| wall_of(day.and_time(time))).unwrap_or(start_wall)
    }
}

impl Every {
    fn frequency(self) -> Frequency {
        match self {
            Self::Second => Frequency::Secondly,
            Self::Minute => Frequency::Minutely,
            Self::Hour => Frequency::Hourly,
            Self::Day => Frequency::Daily,
            Self::Week => Frequency::Weekly,
            Self::Month => Frequency::Monthly,
            Self::Year => Frequency::Yearly,
        }
    }
}
