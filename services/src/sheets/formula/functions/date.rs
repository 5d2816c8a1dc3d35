//! Dates and times. A day is a number of days since 1899-12-30, a time a part of a day.

use chrono::{Datelike, Days, Months, NaiveDate};

use super::{Function, each, number, number_or, text_at, truth_or, whole_number, whole_number_or};
use crate::sheets::cell::{CellError, CellValue};
use crate::sheets::format::{DATE, DATE_TIME, TIME};
use crate::sheets::formula::value::{Res, decimal, finite, number_in};
use crate::sheets::typed::serial_of;

pub(super) const FUNCTIONS: &[Function] = &[
    each("TODAY", 0, 0, |on, _| finite(now(on.surroundings.seconds).floor())).shown(DATE),
    each("NOW", 0, 0, |on, _| finite(now(on.surroundings.seconds))).shown(DATE_TIME),
    each("DATE", 3, 3, |_, a| {
        let year = whole_number(a, 0)?;
        let year = if (0..1900).contains(&year) { year + 1900 } else { year };
        finite(day_of(year, whole_number(a, 1)?, whole_number(a, 2)?)?)
    })
    .shown(DATE),
    each("TIME", 3, 3, |_, a| {
        let seconds = whole_number(a, 0)? * 3_600 + whole_number(a, 1)? * 60 + whole_number(a, 2)?;
        if seconds < 0 {
            Err(CellError::Number.into())
        } else {
            finite((seconds % DAY_SECONDS) as f64 / DAY_SECONDS as f64)
        }
    })
    .shown(TIME),
    each("YEAR", 1, 1, |_, a| finite(f64::from(date(number(a, 0)?)?.year()))),
    each("MONTH", 1, 1, |_, a| finite(f64::from(date(number(a, 0)?)?.month()))),
    each("DAY", 1, 1, |_, a| finite(f64::from(date(number(a, 0)?)?.day()))),
    each("HOUR", 1, 1, |_, a| finite((seconds_of(number(a, 0)?)? / 3_600) as f64)),
    each("MINUTE", 1, 1, |_, a| finite((seconds_of(number(a, 0)?)? / 60 % 60) as f64)),
    each("SECOND", 1, 1, |_, a| finite((seconds_of(number(a, 0)?)? % 60) as f64)),
    each("WEEKDAY", 1, 2, |_, a| {
        let from_monday = i64::from(date(number(a, 0)?)?.weekday().num_days_from_monday());
        finite(match whole_number_or(a, 1, 1)? {
            1 => (from_monday + 1) % 7 + 1,
            2 => from_monday + 1,
            3 => from_monday,
            start @ 11..=17 => (from_monday - (start - 11)).rem_euclid(7) + 1,
            _ => return Err(CellError::Number.into()),
        } as f64)
    }),
    each("WEEKNUM", 1, 2, |_, a| {
        let day = date(number(a, 0)?)?;
        // The first day of the week, counted from Monday.
        let start = match whole_number_or(a, 1, 1)? {
            1 | 17 => 6,
            2 | 11 => 0,
            kind @ 12..=16 => kind - 11,
            21 => return finite(f64::from(day.iso_week().week())),
            _ => return Err(CellError::Number.into()),
        };
        let first = NaiveDate::from_ymd_opt(day.year(), 1, 1).ok_or(CellError::Number)?;
        let lead = (i64::from(first.weekday().num_days_from_monday()) - start).rem_euclid(7);
        finite(((i64::from(day.ordinal0()) + lead) / 7 + 1) as f64)
    }),
    each("ISOWEEKNUM", 1, 1, |_, a| finite(f64::from(date(number(a, 0)?)?.iso_week().week()))),
    each("EDATE", 2, 2, |_, a| finite(serial_of(months_later(date(number(a, 0)?)?, whole_number(a, 1)?)?))).shown(DATE),
    each("EOMONTH", 2, 2, |_, a| {
        let month = months_later(date(number(a, 0)?)?, whole_number(a, 1)?)?;
        finite(serial_of(last_day(month)?))
    })
    .shown(DATE),
    each("DAYS", 2, 2, |_, a| finite(number(a, 0)?.floor() - number(a, 1)?.floor())),
    each("DAYS360", 2, 3, |_, a| {
        finite(days_360(date(number(a, 0)?)?, date(number(a, 1)?)?, truth_or(a, 2, false)?) as f64)
    }),
    each("DATEDIF", 3, 3, |_, a| difference(date(number(a, 0)?)?, date(number(a, 1)?)?, &text_at(a, 2)?)),
    each("YEARFRAC", 2, 3, |_, a| {
        let (one, other) = (date(number(a, 0)?)?, date(number(a, 1)?)?);
        year_part(one.min(other), one.max(other), whole_number_or(a, 2, 0)?)
    }),
    each("DATEVALUE", 1, 1, |_, a| {
        finite(number_in(&text_at(a, 0)?).filter(|number| *number >= 1.0).ok_or(CellError::Value)?.floor())
    })
    .shown(DATE),
    each("TIMEVALUE", 1, 1, |_, a| finite(number_in(&text_at(a, 0)?).ok_or(CellError::Value)?.rem_euclid(1.0)))
        .shown(TIME),
    each("EPOCHTODATE", 1, 2, |_, a| {
        let per_second = match whole_number_or(a, 1, 1)? {
            1 => 1.0,
            2 => 1e3,
            3 => 1e6,
            _ => return Err(CellError::Number.into()),
        };
        finite(number_or(a, 0, 0.0)? / per_second / DAY_SECONDS as f64 + UNIX_DAY)
    })
    .shown(DATE_TIME),
];

const DAY_SECONDS: i64 = 86_400;
/// The first day of Unix time.
const UNIX_DAY: f64 = 25_569.0;
/// The last day that a worksheet shows: 9999-12-31.
const DAY_MAX: f64 = 2_958_465.0;
const EPOCH: NaiveDate = NaiveDate::from_ymd_opt(1899, 12, 30).expect("a day of the calendar");

fn now(seconds: i64) -> f64 {
    seconds as f64 / DAY_SECONDS as f64 + UNIX_DAY
}

/// Returns the day that a number is.
///
/// # Errors
///
/// `#NUM!` for one that no worksheet shows.
pub(super) fn date(number: f64) -> Res<NaiveDate> {
    if !(0.0..DAY_MAX + 1.0).contains(&number) {
        return Err(CellError::Number.into());
    }
    EPOCH.checked_add_days(Days::new(number.floor() as u64)).ok_or(CellError::Number.into())
}

/// Returns the day of a year, month and day, of which month and day may run over.
fn day_of(year: i64, month: i64, day: i64) -> Res<f64> {
    let months = year.checked_mul(12).and_then(|months| months.checked_add(month - 1)).ok_or(CellError::Number)?;
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
    let year = i32::try_from(year).map_err(|_| CellError::Number)?;
    let first = NaiveDate::from_ymd_opt(year, month as u32, 1).ok_or(CellError::Number)?;
    let serial = serial_of(first) + (day - 1) as f64;
    if (0.0..=DAY_MAX).contains(&serial) { Ok(serial) } else { Err(CellError::Number.into()) }
}

fn seconds_of(number: f64) -> Res<i64> {
    if number < 0.0 {
        return Err(CellError::Number.into());
    }
    let seconds = decimal(number.rem_euclid(1.0) * DAY_SECONDS as f64);
    Ok(seconds.round() as i64 % DAY_SECONDS)
}

fn months_later(day: NaiveDate, months: i64) -> Res<NaiveDate> {
    let by = u32::try_from(months.unsigned_abs()).map_err(|_| CellError::Number)?;
    let moved =
        if months < 0 { day.checked_sub_months(Months::new(by)) } else { day.checked_add_months(Months::new(by)) };
    moved.filter(|day| (0.0..=DAY_MAX).contains(&serial_of(*day))).ok_or(CellError::Number.into())
}

fn last_day(day: NaiveDate) -> Res<NaiveDate> {
    let last =
        day.with_day(1).and_then(|first| first.checked_add_months(Months::new(1))).and_then(|next| next.pred_opt());
    last.ok_or(CellError::Number.into())
}

/// Counts days in a year of twelve months of thirty, as it is done in the United States or in Europe.
fn days_360(from: NaiveDate, to: NaiveDate, is_european: bool) -> i64 {
    let is_last_of_february = |day: NaiveDate| day.month() == 2 && day.succ_opt().is_some_and(|next| next.month() == 3);
    let (mut start, mut end) = (i64::from(from.day()), i64::from(to.day()));
    if is_european {
        (start, end) = (start.min(30), end.min(30));
    } else {
        if is_last_of_february(from) {
            start = 30;
        }
        start = start.min(30);
        if end == 31 && start == 30 {
            end = 30;
        }
    }
    let months = i64::from(to.year() - from.year()) * 12 + i64::from(to.month()) - i64::from(from.month());
    months * 30 + end - start
}

/// Returns how many whole months lie between two days.
fn months_between(from: NaiveDate, to: NaiveDate) -> i64 {
    let months = i64::from(to.year() - from.year()) * 12 + i64::from(to.month()) - i64::from(from.month());
    months - i64::from(to.day() < from.day())
}

fn difference(from: NaiveDate, to: NaiveDate, unit: &str) -> Res<CellValue> {
    if to < from {
        return Err(CellError::Number.into());
    }
    let days = |from: NaiveDate| (to - from).num_days();
    let months = months_between(from, to);
    finite(match unit.to_ascii_uppercase().as_str() {
        "Y" => months / 12,
        "M" => months,
        "D" => days(from),
        "YM" => months % 12,
        // As Excel has it: what the months leave over counts from the month before the end.
        "MD" if to.day() >= from.day() => i64::from(to.day()) - i64::from(from.day()),
        "MD" => {
            let month_before = last_day(months_later(to, -1)?)?;
            i64::from(to.day()) + i64::from(month_before.day()) - i64::from(from.day())
        }
        "YD" => days(months_later(from, months / 12 * 12)?),
        _ => return Err(CellError::Number.into()),
    } as f64)
}

fn year_part(from: NaiveDate, to: NaiveDate, basis: i64) -> Res<CellValue> {
    let days = (to - from).num_days() as f64;
    finite(match basis {
        0 => days_360(from, to, false) as f64 / 360.0,
        1 => {
            let leap = |year: i32| f64::from(u8::from(NaiveDate::from_ymd_opt(year, 2, 29).is_some()));
            let within_a_year =
                months_between(from, to) < 12 || (months_between(from, to) == 12 && from.day() == to.day());
            if within_a_year {
                let has_leap_day = (from.year()..=to.year()).any(|year| {
                    NaiveDate::from_ymd_opt(year, 2, 29).is_some_and(|leap_day| from <= leap_day && leap_day <= to)
                });
                days / if has_leap_day || (from.year() == to.year() && leap(from.year()) > 0.0) { 366.0 } else { 365.0 }
            } else {
                let years = f64::from(to.year() - from.year() + 1);
                let length = (from.year()..=to.year()).map(|year| 365.0 + leap(year)).sum::<f64>() / years;
                days / length
            }
        }
        2 => days / 360.0,
        3 => days / 365.0,
        4 => days_360(from, to, true) as f64 / 360.0,
        _ => return Err(CellError::Number.into()),
    })
}
