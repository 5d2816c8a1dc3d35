//! A recurrence rule (RFC 5545, 3.3.10) over the time that a clock on the wall shows. The rrule crate counts; here are the bounds on its work, and a
//! start that jumps over years nobody asks for.

use std::borrow::Cow;
use std::ops::ControlFlow;

use chrono::{Datelike, Month, TimeZone, Weekday};
use dayshift_engine::SmolStr;
use rrule::{Frequency, NWeekday, RRule, RRuleSet, Tz};
use serde::{Deserialize, Serialize};

use super::limits::{RULE_COUNT_MAX, RULE_INSTANCES_PER_DAY_MAX, RULE_STEPS_MAX, RULE_STEPS_PER_DAY_MAX};
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
        if self.steps().step_seconds().is_some_and(|step| DAY_SECONDS / step > RULE_STEPS_PER_DAY_MAX) {
            return Err(RuleFault::TooDense);
        }
        let mut first = Vec::with_capacity(RULE_INSTANCES_PER_DAY_MAX + 1);
        self.walk(start_wall, start_wall, |wall| {
            first.push(wall);
            let is_enough = first.len() > RULE_INSTANCES_PER_DAY_MAX;
            // The first ones tell; a rule that is sparse at first does not have to be counted for centuries.
            let is_late = wall - first[0] > 2 * DAY_SECONDS;
            if is_enough || is_late { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        match (first.first(), first.get(RULE_INSTANCES_PER_DAY_MAX)) {
            (None, _) => Err(RuleFault::Never),
            (Some(first), Some(last)) if last - first < DAY_SECONDS => Err(RuleFault::TooDense),
            (Some(_), Some(_) | None) => Ok(()),
        }
    }

    /// Shows `visit` the instances from about `from_wall` on, in order, until it breaks off or there are none left. UNTIL is for the caller, who knows
    /// where the wall stands. Some earlier instances may be shown too.
    ///
    /// # Errors
    ///
    /// [`RuleFault::NotUnderstood`] if the library cannot count it, [`RuleFault::TooDense`] if it takes more than [`RULE_STEPS_MAX`] steps.
    pub(crate) fn walk(
        &self,
        start_wall: i64,
        from_wall: i64,
        mut visit: impl FnMut(i64) -> ControlFlow<()>,
    ) -> Result<(), RuleFault> {
        let steps = self.steps();
        let begin = if self.count.is_some() { start_wall } else { steps.jump(start_wall, from_wall) };
        let at = |wall: i64| Tz::UTC.from_utc_datetime(&naive(wall));
        let (rule, picks) = steps.explicit(start_wall);
        let rule = rule.validate(at(begin)).map_err(|_| RuleFault::NotUnderstood)?;
        let set = RRuleSet::new(at(begin)).rrule(rule).limit();
        let mut left = self.count.unwrap_or(u32::MAX);
        for (step, instance) in set.into_iter().enumerate() {
            let Some(wall) = wall_of(instance.naive_utc()) else { break };
            if step >= RULE_STEPS_MAX {
                return Err(RuleFault::TooDense);
            }
            if !picks.fit(wall) {
                continue;
            }
            if left == 0 || visit(wall).is_break() {
                break;
            }
            left = if self.count.is_some() { left - 1 } else { left };
        }
        Ok(())
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

    /// Returns the rule for the library, with what it would take from its start said in so many words, so that the start can move.
    /// What the library gets wrong is left out of it, and comes back as what to pick from its instances: hours within smaller steps (rrule 0.14
    /// loses step there), and the fifth last weekday of a month (which it refuses).
    fn explicit(&self, start_wall: i64) -> (RRule<rrule::Unvalidated>, Picks) {
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
        let mut picks = Picks::default();
        if self.every == Every::Month && self.by_position.is_empty() && self.by_day.iter().any(|(nth, _)| *nth == -5) {
            picks.days = self.by_day.clone();
        }
        let days = self.by_day.iter().map(|(nth, day)| match nth {
            0 => NWeekday::Every(weekday(*day)),
            _ if !picks.days.is_empty() => NWeekday::Every(weekday(*day)),
            nth => NWeekday::Nth(*nth, weekday(*day)),
        });
        let days: Vec<NWeekday> = days.collect();
        let take = |limits: bool, values: &Vec<u8>, picked: &mut Vec<u8>| {
            if limits {
                picked.clone_from(values);
                Vec::new()
            } else {
                values.clone()
            }
        };
        let by_hour =
            take(matches!(self.every, Every::Second | Every::Minute | Every::Hour), &self.by_hour, &mut picks.hours);
        let by_minute = take(matches!(self.every, Every::Second | Every::Minute), &self.by_minute, &mut picks.minutes);
        let by_second = take(self.every == Every::Second, &self.by_second, &mut picks.seconds);
        let rule = RRule::new(self.every.frequency())
            .interval(self.interval)
            .week_start(weekday(self.week_start))
            .by_month(&months)
            .by_month_day(by_month_day)
            .by_week_no(self.by_week.clone())
            .by_year_day(self.by_year_day.clone())
            .by_weekday(days)
            .by_hour(by_hour)
            .by_minute(by_minute)
            .by_second(by_second)
            .by_set_pos(self.by_position.clone());
        (rule, picks)
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

/// What is picked from the instances that the library gives. What is empty picks all.
#[derive(Debug, Default)]
struct Picks {
    hours: Vec<u8>,
    minutes: Vec<u8>,
    seconds: Vec<u8>,
    /// BYDAY of a month.
    days: Vec<(i16, u8)>,
}

impl Picks {
    fn fit(&self, wall: i64) -> bool {
        let among =
            |picked: &[u8], value: i64| picked.is_empty() || picked.iter().any(|each| i64::from(*each) == value);
        let second = wall.rem_euclid(DAY_SECONDS);
        among(&self.hours, second / 3600)
            && among(&self.minutes, second / 60 % 60)
            && among(&self.seconds, second % 60)
            && self.fit_day(wall)
    }

    fn fit_day(&self, wall: i64) -> bool {
        if self.days.is_empty() {
            return true;
        }
        let date = naive(wall).date();
        let (day, length) = (i64::from(date.day0()), i64::from(date.num_days_in_month()));
        let from_first = day / 7 + 1;
        let from_last = -((length - 1 - day) / 7 + 1);
        let weekday = date.weekday().num_days_from_monday();
        self.days.iter().any(|(nth, each)| {
            u32::from(*each) == weekday && (*nth == 0 || [from_first, from_last].contains(&i64::from(*nth)))
        })
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
