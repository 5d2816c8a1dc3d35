//! The instances of a rule, period by period: the days that a year has for it as a set of bits, and the times of a day. Nothing is expanded before it
//! is asked for, and every period, day and instance is drawn from a budget, so that a rare rule costs what it takes to look and a dense one what is
//! taken of it. It knows walls only; zones and UNTIL are for the caller.

use std::ops::{ControlFlow, RangeInclusive};

use chrono::{Datelike, NaiveDate};
use dayshift_engine::{Budget, OverBudget};

use super::moment::{DAY_SECONDS, naive};
use super::rule::{Every, Rule};

/// What it costs to find the days of one year, in units of work.
const YEAR_WORK: u64 = 200;
/// The last year that a calendar can write.
const LAST_YEAR: i32 = 9999;
/// Days from the first of the year 1 to 1970.
const EPOCH_DAYS: i32 = 719_163;

/// How a walk over the instances of a rule ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Walked {
    /// There are no more instances.
    All,
    /// There may be more behind the end of what was asked for, or behind where the visitor broke off.
    Some,
}

/// A rule with everything said that it would take from its start (RFC 5545, 3.3.10), as sets.
#[derive(Debug)]
struct Pattern<'a> {
    rule: &'a Rule,
    start_wall: i64,
    months: u16,
    /// BYMONTHDAY from the first and from the last day of the month.
    month_days: (u32, u32),
    /// BYYEARDAY from both ends.
    year_days: (Days, Days),
    /// BYWEEKNO from both ends.
    weeks: (u64, u64),
    /// BYDAY without numbers.
    weekdays: u8,
    /// BYDAY with numbers, for each day of the week from both ends.
    nth: [(u64, u64); 7],
    hours: Vec<i64>,
    minutes: Vec<i64>,
    seconds: Vec<i64>,
    positions: Vec<i64>,
}

/// A set of the days of a year.
type Days = [u64; 6];

/// The days of one year on which a rule may take place.
struct Year {
    /// Its first day and the one behind its last, in days since 1970.
    range: (i64, i64),
    days: Days,
}

/// The instances of one period: every day with every time.
struct Period {
    days: Vec<i64>,
    hours: RangeOr,
    minutes: RangeOr,
}

/// The hours or minutes of a period: those of the rule, or the one in which the period lies.
#[derive(Clone, Copy)]
enum RangeOr {
    Rule,
    One(i64),
}

/// Shows `visit` the instances of `rule` with its start at `start_wall`, in order, from about `window`'s begin to its end. Some earlier ones may be
/// shown too.
pub(crate) fn walk(
    rule: &Rule,
    start_wall: i64,
    window: RangeInclusive<i64>,
    budget: &Budget,
    visit: impl FnMut(i64) -> ControlFlow<()>,
) -> Result<Walked, OverBudget> {
    let lists = rule.by_month.len() + rule.by_month_day.len() + rule.by_year_day.len() + rule.by_week.len();
    let times = rule.by_hour.len() + rule.by_minute.len() + rule.by_second.len();
    budget.work((lists + times + rule.by_day.len() + rule.by_position.len()) as u64 + 16)?;
    let pattern = Pattern::of(rule, start_wall);
    let mut walk = Walk { pattern: &pattern, window, budget, visit, left: rule.count, year: None };
    match rule.every {
        Every::Second | Every::Minute | Every::Hour => walk.times(),
        Every::Day | Every::Week | Every::Month | Every::Year => walk.days(),
    }
}

impl<'a> Pattern<'a> {
    fn of(rule: &'a Rule, start_wall: i64) -> Self {
        let start = naive(start_wall);
        let (day, second) = (start.date(), start_wall.rem_euclid(DAY_SECONDS));
        let bit = |set: u64, at: i64| set | 1_u64.checked_shl(at as u32).unwrap_or_default();
        let both = |values: &mut dyn Iterator<Item = i64>| {
            values.fold(
                (0, 0),
                |(first, last), value| {
                    if value > 0 { (bit(first, value), last) } else { (first, bit(last, -value)) }
                },
            )
        };
        let mut months = both(&mut rule.by_month.iter().map(|each| i64::from(*each))).0 as u16;
        let mut month_days = both(&mut rule.by_month_day.iter().map(|each| i64::from(*each)));
        let is_bare = rule.by_week.is_empty()
            && rule.by_year_day.is_empty()
            && rule.by_month_day.is_empty()
            && rule.by_day.is_empty();
        let mut weekdays = 0_u8;
        let mut nth = [(0, 0); 7];
        if is_bare {
            match rule.every {
                Every::Year | Every::Month => {
                    month_days.0 = bit(0, i64::from(day.day()));
                    if rule.every == Every::Year && months == 0 {
                        months = 1 << day.month();
                    }
                }
                Every::Week => weekdays = 1 << day.weekday().num_days_from_monday(),
                Every::Day | Every::Hour | Every::Minute | Every::Second => {}
            }
        }
        for (number, weekday) in &rule.by_day {
            let weekday = usize::from(weekday % 7);
            // Only months and years have a first and a last of them.
            if *number == 0 || !matches!(rule.every, Every::Month | Every::Year) {
                weekdays |= 1 << weekday;
            } else if *number > 0 {
                nth[weekday].0 = bit(nth[weekday].0, i64::from(*number));
            } else {
                nth[weekday].1 = bit(nth[weekday].1, -i64::from(*number));
            }
        }
        let mut year_days = (Days::default(), Days::default());
        for day in &rule.by_year_day {
            let at = usize::from(day.unsigned_abs().saturating_sub(1)) % 384;
            let set = if *day > 0 { &mut year_days.0 } else { &mut year_days.1 };
            set[at / 64] |= 1 << (at % 64);
        }
        let times = |picked: &[u8], from_start: i64| {
            let mut times: Vec<i64> = picked.iter().map(|each| i64::from(*each)).collect();
            if times.is_empty() {
                times.push(from_start);
            }
            times.sort_unstable();
            times.dedup();
            times
        };
        let mut positions: Vec<i64> = rule.by_position.iter().map(|each| i64::from(*each)).collect();
        positions.sort_unstable();
        positions.dedup();
        Self {
            rule,
            start_wall,
            months,
            month_days: (month_days.0 as u32, month_days.1 as u32),
            year_days,
            weeks: both(&mut rule.by_week.iter().map(|each| i64::from(*each))),
            weekdays,
            nth,
            hours: times(&rule.by_hour, second / 3600),
            minutes: times(&rule.by_minute, second / 60 % 60),
            seconds: times(&rule.by_second, second % 60),
            positions,
        }
    }

    /// Returns the days of `year` on which the rule may take place.
    fn year(&self, year: i32) -> Year {
        let first = day_number(year, 1, 1);
        let next = day_number(year + 1, 1, 1);
        let length = next - first;
        let has_nth = self.nth.iter().any(|both| *both != (0, 0));
        let mut days = Days::default();
        let mut month_begin = first;
        for month in 1..=12 {
            let month_end = if month == 12 { next } else { day_number(year, month + 1, 1) };
            let is_in = self.months == 0 || self.months & (1 << month) != 0;
            for day in (month_begin..month_end).filter(|_| is_in) {
                let at = (day - first) as usize;
                let is_month_day = self.month_days == (0, 0)
                    || self.month_days.0 & (1 << (day - month_begin + 1)) != 0
                    || self.month_days.1 & (1 << (month_end - day)) != 0;
                let has = |set: &Days, at: usize| set[at / 64] & (1 << (at % 64)) != 0;
                let is_year_day = self.rule.by_year_day.is_empty()
                    || has(&self.year_days.0, at)
                    || has(&self.year_days.1, (next - day - 1) as usize);
                // A number counts within the month, or within the year if the rule says nothing of months.
                let is_of_year = self.rule.every == Every::Year && self.months == 0;
                let range = if is_of_year { (first, length) } else { (month_begin, month_end - month_begin) };
                let is_weekday = (self.weekdays == 0 && !has_nth) || self.is_weekday(day, range);
                let is_week = self.weeks == (0, 0) || self.is_week(day, year);
                if is_month_day && is_year_day && is_weekday && is_week {
                    days[at / 64] |= 1 << (at % 64);
                }
            }
            month_begin = month_end;
        }
        Year { range: (first, next), days }
    }

    fn is_weekday(&self, day: i64, (first, length): (i64, i64)) -> bool {
        let weekday = weekday(day);
        if self.weekdays & (1 << weekday) != 0 {
            return true;
        }
        let (from_first, from_last) = ((day - first) / 7 + 1, (first + length - 1 - day) / 7 + 1);
        let (forward, backward) = self.nth[weekday as usize];
        forward & (1 << from_first) != 0 || backward & (1 << from_last) != 0
    }

    /// Returns whether `day` of `year` lies in one of the weeks by number: the first one has at least four days of its year.
    fn is_week(&self, day: i64, year: i32) -> bool {
        let week_1 = |year: i32| {
            let first = day_number(year, 1, 1);
            let back = (weekday(first) - i64::from(self.rule.week_start)).rem_euclid(7);
            if back <= 3 { first - back } else { first + 7 - back }
        };
        let (mut begin, mut end) = (week_1(year), week_1(year + 1));
        if day < begin {
            (begin, end) = (week_1(year - 1), begin);
        } else if day >= end {
            (begin, end) = (end, week_1(year + 2));
        }
        let (from_first, from_last) = ((day - begin) / 7 + 1, (end - 1 - day) / 7 + 1);
        self.weeks.0 & (1 << from_first) != 0 || self.weeks.1 & (1 << from_last) != 0
    }
}

/// A walk on its way.
struct Walk<'a, V> {
    pattern: &'a Pattern<'a>,
    window: RangeInclusive<i64>,
    budget: &'a Budget,
    visit: V,
    left: Option<u32>,
    year: Option<Year>,
}

impl<V: FnMut(i64) -> ControlFlow<()>> Walk<'_, V> {
    /// Walks over days, weeks, months or years.
    fn days(&mut self) -> Result<Walked, OverBudget> {
        let rule = self.pattern.rule;
        let interval = i64::from(rule.interval.max(1));
        let start = self.pattern.start_wall.div_euclid(DAY_SECONDS);
        let week = start - (weekday(start) - i64::from(rule.week_start)).rem_euclid(7);
        // Periods in units of the rule: years, months since year 0, or days.
        let (unit, first, sought) = {
            let from = *self.window.start();
            let sought = if rule.count.is_some() { self.pattern.start_wall } else { from.max(self.pattern.start_wall) };
            let date = |wall: i64| naive(wall).date();
            let months = |date: NaiveDate| i64::from(date.year()) * 12 + i64::from(date.month0());
            match rule.every {
                Every::Year => (1, i64::from(date(self.pattern.start_wall).year()), i64::from(date(sought).year())),
                Every::Month => (1, months(date(self.pattern.start_wall)), months(date(sought))),
                Every::Week => (7, week, sought.div_euclid(DAY_SECONDS)),
                Every::Day | Every::Hour | Every::Minute | Every::Second => (1, start, sought.div_euclid(DAY_SECONDS)),
            }
        };
        let step = unit * interval;
        let mut period = first + (sought - first).div_euclid(step).max(0) * step;
        loop {
            let days = match rule.every {
                Every::Year => (day_number_of_month(period * 12), day_number_of_month(period * 12 + 12)),
                Every::Month => (day_number_of_month(period), day_number_of_month(period + 1)),
                Every::Week => (period, period + 7),
                Every::Day | Every::Hour | Every::Minute | Every::Second => (period, period + 1),
            };
            if days.0 >= day_number(LAST_YEAR + 1, 1, 1) {
                return Ok(Walked::All);
            }
            if days.0 * DAY_SECONDS > *self.window.end() {
                return Ok(Walked::Some);
            }
            self.budget.work(1 + (days.1 - days.0) as u64 / 8)?;
            let picked = self.picked(days)?;
            period += step;
            if !picked.is_empty() {
                let period = Period { days: picked, hours: RangeOr::Rule, minutes: RangeOr::Rule };
                if let Some(walked) = self.period(&period)? {
                    return Ok(walked);
                }
            } else if matches!(rule.every, Every::Day | Every::Week) {
                let next = self.next_picked(days.1)?;
                period += (next - period).div_euclid(step).max(0) * step;
            }
        }
    }

    /// Walks over hours, minutes or seconds. Where a day, an hour or a minute does not fit, all of it is passed over at once.
    fn times(&mut self) -> Result<Walked, OverBudget> {
        let rule = self.pattern.rule;
        let unit = match rule.every {
            Every::Second => 1,
            Every::Minute => 60,
            Every::Hour | Every::Day | Every::Week | Every::Month | Every::Year => 3600,
        };
        let step = unit * i64::from(rule.interval.max(1));
        let first = self.pattern.start_wall.div_euclid(unit) * unit;
        let sought = if rule.count.is_some() { first } else { (*self.window.start()).max(first) };
        let mut at = first + (sought - first).div_euclid(step) * step;
        let ends = day_number(LAST_YEAR + 1, 1, 1) * DAY_SECONDS;
        let has = |picked: &[u8], value: i64| picked.is_empty() || picked.iter().any(|each| i64::from(*each) == value);
        while at < ends {
            if at > *self.window.end() {
                return Ok(Walked::Some);
            }
            self.budget.work(1)?;
            let (day, hour, minute) =
                (at.div_euclid(DAY_SECONDS), at.rem_euclid(DAY_SECONDS) / 3600, at.rem_euclid(3600) / 60);
            let days = self.picked((day, day + 1))?;
            let next = if days.is_empty() {
                self.next_picked(day + 1)? * DAY_SECONDS
            } else if !has(&rule.by_hour, hour) {
                at - at.rem_euclid(3600) + 3600
            } else if rule.every != Every::Hour && !has(&rule.by_minute, minute) {
                at - at.rem_euclid(60) + 60
            } else {
                if rule.every != Every::Second || has(&rule.by_second, at.rem_euclid(60)) {
                    let walked = match rule.every {
                        Every::Second => self.shown(at)?,
                        Every::Minute => {
                            self.period(&Period { days, hours: RangeOr::One(hour), minutes: RangeOr::One(minute) })?
                        }
                        Every::Hour | Every::Day | Every::Week | Every::Month | Every::Year => {
                            self.period(&Period { days, hours: RangeOr::One(hour), minutes: RangeOr::Rule })?
                        }
                    };
                    if let Some(walked) = walked {
                        return Ok(walked);
                    }
                }
                at + 1
            };
            at += (next - at + step - 1).div_euclid(step) * step;
        }
        Ok(Walked::All)
    }

    /// Returns those of the days from `days.0` to before `days.1` on which the rule may take place.
    fn picked(&mut self, days: (i64, i64)) -> Result<Vec<i64>, OverBudget> {
        let mut picked = Vec::new();
        let mut day = days.0;
        while day < days.1 {
            let year = match &self.year {
                Some(year) if (year.range.0..year.range.1).contains(&day) => year,
                Some(_) | None => {
                    self.budget.work(YEAR_WORK)?;
                    self.year.insert(self.pattern.year(naive(day * DAY_SECONDS).date().year()))
                }
            };
            if !(year.range.0..year.range.1).contains(&day) {
                // Beyond what a calendar can write.
                break;
            }
            let end = days.1.min(year.range.1);
            picked.extend((day..end).filter(|day| {
                let at = (day - year.range.0) as usize;
                year.days[at / 64] & (1 << (at % 64)) != 0
            }));
            day = end;
        }
        Ok(picked)
    }

    /// Returns the first day from `day` on that may be one on which the rule takes place, or the first of the next year if this one has none.
    fn next_picked(&mut self, day: i64) -> Result<i64, OverBudget> {
        // Finding a year's days, where that is still to do.
        self.picked((day, day + 1))?;
        let Some(year) = self.year.as_ref().filter(|year| (year.range.0..year.range.1).contains(&day)) else {
            return Ok(day);
        };
        let at = (day - year.range.0) as usize;
        for (index, word) in year.days.iter().enumerate().skip(at / 64) {
            let word = if index == at / 64 { word >> (at % 64) << (at % 64) } else { *word };
            if word != 0 {
                return Ok(year.range.0 + (index * 64) as i64 + i64::from(word.trailing_zeros()));
            }
        }
        Ok(year.range.1)
    }

    /// Shows the instances of one period, or those of them at the positions of the rule.
    fn period(&mut self, period: &Period) -> Result<Option<Walked>, OverBudget> {
        let pattern = self.pattern;
        let of = |own: RangeOr, all: &[i64]| match own {
            RangeOr::Rule => all.to_vec(),
            RangeOr::One(one) => vec![one],
        };
        let (hours, minutes, seconds) =
            (of(period.hours, &pattern.hours), of(period.minutes, &pattern.minutes), &pattern.seconds);
        let at = |day: i64, hour: i64, minute: i64, second: i64| day * DAY_SECONDS + hour * 3600 + minute * 60 + second;
        if pattern.positions.is_empty() {
            for day in &period.days {
                if (day + 1) * DAY_SECONDS <= *self.window.start() && self.left.is_none() {
                    continue;
                }
                for hour in &hours {
                    for minute in &minutes {
                        for second in seconds {
                            if let Some(walked) = self.shown(at(*day, *hour, *minute, *second))? {
                                return Ok(Some(walked));
                            }
                        }
                    }
                }
            }
            return Ok(None);
        }
        let (per_minute, per_hour) = (seconds.len(), seconds.len() * minutes.len());
        let per_day = per_hour * hours.len();
        let all = (per_day * period.days.len()) as i64;
        self.budget.work(pattern.positions.len() as u64)?;
        let places = pattern.positions.iter().map(|position| if *position > 0 { position - 1 } else { all + position });
        let mut places: Vec<usize> =
            places.filter(|place| (0..all).contains(place)).map(|place| place as usize).collect();
        places.sort_unstable();
        places.dedup();
        for place in places {
            let within = place % per_day;
            let wall = at(
                period.days[place / per_day],
                hours[within / per_hour],
                minutes[within % per_hour / per_minute],
                seconds[within % per_minute],
            );
            if let Some(walked) = self.shown(wall)? {
                return Ok(Some(walked));
            }
        }
        Ok(None)
    }

    /// Shows one instance. Returns how the walk ended, if it did.
    fn shown(&mut self, wall: i64) -> Result<Option<Walked>, OverBudget> {
        self.budget.work(1)?;
        if wall < self.pattern.start_wall {
            return Ok(None);
        }
        if wall > *self.window.end() {
            return Ok(Some(Walked::Some));
        }
        if let Some(left) = &mut self.left {
            if *left == 0 {
                return Ok(Some(Walked::All));
            }
            *left -= 1;
        }
        if (self.visit)(wall).is_break() {
            return Ok(Some(Walked::Some));
        }
        Ok((self.left == Some(0)).then_some(Walked::All))
    }
}

/// Returns the day of the week, in days from Monday.
fn weekday(day: i64) -> i64 {
    (day + 3).rem_euclid(7)
}

/// Returns a day in days since 1970. The ends of the calendar stand in for what lies beyond.
fn day_number(year: i32, month: u32, day: u32) -> i64 {
    let date = NaiveDate::from_ymd_opt(year, month, day).unwrap_or_default();
    i64::from(date.num_days_from_ce() - EPOCH_DAYS)
}

/// Returns the first day of the month `months` after the begin of year 0, in days since 1970.
fn day_number_of_month(months: i64) -> i64 {
    let year = months.div_euclid(12).clamp(0, i64::from(LAST_YEAR) + 1) as i32;
    day_number(year, months.rem_euclid(12) as u32 + 1, 1)
}
