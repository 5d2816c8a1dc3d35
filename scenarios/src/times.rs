//! Times as authors write them: durations ("2h", "30 min"), clock times in the office's zone, moments of a named day. Ambiguity is refused,
//! not guessed.

use chrono::{Datelike, Days, LocalResult, NaiveDate, NaiveDateTime, NaiveTime, TimeZone};
use chrono_tz::Tz;
use dayshift_engine::{SimDuration, SimTime, SmolStr};

/// The longest duration that a scenario can name, in days.
pub const DURATION_DAYS_MAX: u64 = 3660;

/// The years in which a scenario can play: in all of them, local times and sums with durations can be told.
pub const YEAR_MIN: i32 = 1900;
/// See [`YEAR_MIN`].
pub const YEAR_MAX: i32 = 9000;

const DAY_SECONDS: u64 = 86_400;

/// The office's zone and the days whose names moments may use.
#[derive(Clone, Debug)]
pub(crate) struct Calendar {
    pub(crate) zone: Tz,
    pub(crate) days: Vec<(SmolStr, SimTime)>,
}

impl Calendar {
    /// Returns the moment that `text` names: `mon 10:30`, `mon + 2h`, `mon`, `2026-03-16 10:30` or RFC 3339 with an offset.
    ///
    /// # Errors
    ///
    /// A sentence that says what is wrong and what to write.
    pub(crate) fn moment(&self, text: &str) -> Result<SimTime, String> {
        self.any_moment(text).and_then(admit)
    }

    fn any_moment(&self, text: &str) -> Result<SimTime, String> {
        let text = text.trim();
        if let Ok(time) = text.parse() {
            return Ok(time);
        }
        if let Some(local) = parse_local(text) {
            return self.local(local);
        }
        let (day, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let (day, rest) =
            day.split_once('+').map_or((day, rest.to_owned()), |(day, more)| (day, format!("+{more}{rest}")));
        let Some((_, opens)) = self.days.iter().find(|(name, _)| name == day) else {
            let names: Vec<&str> = self.days.iter().map(|(name, _)| name.as_str()).collect();
            let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(format!("'{text}' is no moment: there is no day '{day}' (days: {known})"));
        };
        let rest = rest.trim();
        if rest.is_empty() {
            return Ok(*opens);
        }
        if let Some(offset) = rest.strip_prefix('+') {
            return parse_duration(offset).map(|offset| *opens + offset);
        }
        let clock = parse_clock(rest).ok_or_else(|| format!("'{rest}' is no clock time such as 10:30"))?;
        self.local(self.date_of(*opens).and_time(clock))
    }

    /// Returns the calendar date on which `time` falls in the office's zone.
    pub(crate) fn date_of(&self, time: SimTime) -> NaiveDate {
        time.to_chrono().with_timezone(&self.zone).date_naive()
    }

    /// Returns the instant of a local time.
    ///
    /// # Errors
    ///
    /// A sentence, when the clocks were moved so that the time does not exist or comes twice.
    pub(crate) fn local(&self, local: NaiveDateTime) -> Result<SimTime, String> {
        if !is_admitted(local.year()) {
            return Err(out_of_range(local.year()));
        }
        match self.zone.from_local_datetime(&local) {
            LocalResult::Single(time) => Ok(time.into()),
            LocalResult::Ambiguous(..) => {
                Err(format!("{local} comes twice in {} because the clocks are put back; write an offset", self.zone))
            }
            LocalResult::None => {
                Err(format!("{local} does not exist in {} because the clocks are put forward", self.zone))
            }
        }
    }

    /// Returns the instant of `clock` on the date that is `days` after that of `from`.
    pub(crate) fn clock_after(&self, from: SimTime, days: u64, clock: NaiveTime) -> Result<SimTime, String> {
        let date = self.date_of(from).checked_add_days(Days::new(days)).ok_or("the date is out of range")?;
        self.local(date.and_time(clock))
    }
}

/// Makes sure that a scenario can play at `time`.
///
/// # Errors
///
/// A sentence, when its year is out of range.
pub(crate) fn admit(time: SimTime) -> Result<SimTime, String> {
    let year = time.to_chrono().year();
    if is_admitted(year) { Ok(time) } else { Err(out_of_range(year)) }
}

fn is_admitted(year: i32) -> bool {
    (YEAR_MIN..=YEAR_MAX).contains(&year)
}

fn out_of_range(year: i32) -> String {
    format!("the year {year} is out of range; use the years {YEAR_MIN} to {YEAR_MAX}")
}

/// Returns the duration that `text` writes: numbers with units d, h, min, s.
///
/// # Errors
///
/// A sentence that says what to write.
pub(crate) fn parse_duration(text: &str) -> Result<SimDuration, String> {
    let bad = || format!("'{}' is no duration; write for example 2h, 30 min or 1 d 4 h", text.trim());
    let mut rest = text.trim();
    let mut seconds = 0_u64;
    if rest.is_empty() {
        return Err(bad());
    }
    while !rest.is_empty() {
        let digits = rest.find(|character: char| !character.is_ascii_digit()).ok_or_else(bad)?;
        let number: u64 = rest[..digits].parse().map_err(|_| bad())?;
        rest = rest[digits..].trim_start();
        let letters = rest.find(|character: char| !character.is_ascii_alphabetic()).unwrap_or(rest.len());
        let unit = match &rest[..letters] {
            "d" | "day" | "days" => DAY_SECONDS,
            "h" | "hour" | "hours" => 3600,
            "m" | "min" | "minute" | "minutes" => 60,
            "s" | "sec" | "second" | "seconds" => 1,
            _ => return Err(bad()),
        };
        rest = rest[letters..].trim_start();
        seconds = number.checked_mul(unit).and_then(|more| seconds.checked_add(more)).ok_or_else(bad)?;
    }
    if seconds > DURATION_DAYS_MAX * DAY_SECONDS {
        return Err(format!("'{}' is longer than {DURATION_DAYS_MAX} days; write less", text.trim()));
    }
    Ok(SimDuration::from_seconds(seconds))
}

/// Returns the clock time that `text` writes, such as `9:05` or `17:30:15`.
pub(crate) fn parse_clock(text: &str) -> Option<NaiveTime> {
    let text = text.trim();
    ["%H:%M", "%H:%M:%S"].iter().find_map(|format| NaiveTime::parse_from_str(text, format).ok())
}

/// Returns the local time that `text` writes, such as `2026-03-16 09:00`.
pub(crate) fn parse_local(text: &str) -> Option<NaiveDateTime> {
    let formats = ["%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"];
    formats.iter().find_map(|format| NaiveDateTime::parse_from_str(text.trim(), format).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calendar() -> Calendar {
        let opens = "2026-03-16T09:00:00+01:00".parse().expect("a good time");
        Calendar { zone: chrono_tz::Europe::Berlin, days: vec![("mon".into(), opens)] }
    }

    fn moment(text: &str) -> Result<String, String> {
        calendar().moment(text).map(|time| time.to_string())
    }

    #[test]
    fn a_moment_is_a_day_with_a_clock_time_or_an_offset() {
        assert_eq!(moment("mon 10:30").as_deref(), Ok("2026-03-16T09:30:00Z"));
        assert_eq!(moment("mon + 2h").as_deref(), Ok("2026-03-16T10:00:00Z"));
        assert_eq!(moment("mon+30 min").as_deref(), Ok("2026-03-16T08:30:00Z"));
        assert_eq!(moment("mon").as_deref(), Ok("2026-03-16T08:00:00Z"));
        assert_eq!(moment("2026-07-01 09:00").as_deref(), Ok("2026-07-01T07:00:00Z"));
        assert_eq!(moment("2026-07-01T09:00:00Z").as_deref(), Ok("2026-07-01T09:00:00Z"));
    }

    #[test]
    fn a_local_time_that_comes_twice_or_never_is_refused() {
        assert!(moment("2026-10-25 02:30").unwrap_err().contains("comes twice"));
        assert!(moment("2026-03-29 02:30").unwrap_err().contains("does not exist"));
    }

    #[test]
    fn a_moment_of_an_unknown_day_names_the_known_ones() {
        assert!(moment("tue 10:30").unwrap_err().contains("(days: mon)"));
        assert!(moment("mon half past").is_err());
    }

    #[test]
    fn a_moment_out_of_range_is_refused_however_it_is_written() {
        for text in [
            "1899-12-31 12:00",
            "9001-01-01 12:00",
            "+262142-12-31 23:59",
            "-262143-01-01 00:00",
            "9999-12-31T23:59:59Z",
            "0001-01-01T00:00:00Z",
        ] {
            assert!(moment(text).unwrap_err().contains("out of range"), "{text}");
        }
        assert!(moment("1900-01-02 00:00").is_ok() && moment("9000-12-31 12:00").is_ok());
        let late = Calendar {
            zone: chrono_tz::Tz::UTC,
            days: vec![("last".into(), "9000-12-31T09:00:00Z".parse().expect("a time"))],
        };
        assert!(late.moment("last + 2 d").unwrap_err().contains("out of range"));
    }

    #[test]
    fn durations_add_their_parts_and_have_a_limit() {
        assert_eq!(parse_duration("1 d 2h 30min"), Ok(SimDuration::from_seconds(95_400)));
        assert_eq!(parse_duration(&format!("{DURATION_DAYS_MAX} d")).map(|_| ()), Ok(()));
        for bad in ["", "2", "h", "2 weeks", "-1 h", &format!("{} d", DURATION_DAYS_MAX + 1), "99999999999999999999 s"]
        {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }
}
