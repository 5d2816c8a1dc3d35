//! Dates of properties: a day, or an instant with an offset, or a span of either, with an optional zone. Text without an offset is
//! refused, not guessed.

use chrono::{DateTime, Datelike, Days, Months, NaiveDate, NaiveDateTime, TimeZone};
use chrono_tz::Tz;
use dayshift_engine::{SmolStr, Value, map};

/// One end of a date: a whole day or an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// A day without a zone.
    Day(NaiveDate),
    /// An instant, as milliseconds since the Unix epoch, with the offset that it was written with, in seconds east.
    Instant { millis: i64, offset_seconds: i32 },
}

impl Moment {
    /// Returns the moment that `text` writes: `2026-03-16`, or RFC 3339 with an offset.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if !text.starts_with(|first: char| first.is_ascii_digit()) {
            return None;
        }
        if let [_, _, _, _, b'-', _, _, b'-', _, _] = text.as_bytes() {
            let number = |range: std::ops::Range<usize>| -> Option<u32> {
                text.get(range).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()))?.parse().ok()
            };
            let year = i32::try_from(number(0..4)?).ok()?;
            return NaiveDate::from_ymd_opt(year, number(5..7)?, number(8..10)?).map(Self::Day);
        }
        let time = DateTime::parse_from_rfc3339(text).ok()?;
        Some(Self::Instant { millis: time.timestamp_millis(), offset_seconds: time.offset().local_minus_utc() })
    }

    /// Returns the day on which the moment is, for an instant in `zone`.
    pub(super) fn day(self, zone: Tz) -> NaiveDate {
        match self {
            Self::Day(day) => day,
            Self::Instant { millis, .. } => instant(millis).with_timezone(&zone).date_naive(),
        }
    }

    /// Returns the instant, for a day its first in `zone`.
    pub(super) fn millis(self, zone: Tz) -> i64 {
        match self {
            Self::Day(day) => start_of(day, zone),
            Self::Instant { millis, .. } => millis,
        }
    }

    /// Returns canonical text.
    pub(super) fn text(self) -> String {
        match self {
            Self::Day(day) => day.format("%Y-%m-%d").to_string(),
            Self::Instant { millis, offset_seconds } => {
                let utc = instant(millis);
                let seconds = chrono::SecondsFormat::AutoSi;
                match chrono::FixedOffset::east_opt(offset_seconds) {
                    Some(offset) if offset_seconds != 0 => utc.with_timezone(&offset).to_rfc3339_opts(seconds, false),
                    _ => utc.to_rfc3339_opts(seconds, true),
                }
            }
        }
    }

    /// Returns the moment moved by whole units; nothing if there is no such unit or no such date.
    pub(super) fn plus(self, amount: i64, unit: &str, zone: Tz) -> Option<Self> {
        let (months, days, millis) = match unit.trim_end_matches('s') {
            "year" => (amount.checked_mul(12)?, 0, 0),
            "quarter" => (amount.checked_mul(3)?, 0, 0),
            "month" => (amount, 0, 0),
            "week" => (0, amount.checked_mul(7)?, 0),
            "day" => (0, amount, 0),
            "hour" => (0, 0, amount.checked_mul(3_600_000)?),
            "minute" => (0, 0, amount.checked_mul(60_000)?),
            _ => return None,
        };
        match self {
            Self::Day(day) if millis == 0 => moved(day, months, days).map(Self::Day),
            Self::Day(day) => {
                let millis = start_of(day, zone).checked_add(millis)?;
                Some(Self::Instant { millis, offset_seconds: offset(millis, zone) })
            }
            Self::Instant { millis: from, offset_seconds } => {
                let local = instant(from).with_timezone(&zone).naive_local();
                let to = if months == 0 && days == 0 {
                    from.checked_add(millis)?
                } else {
                    let local = NaiveDateTime::new(moved(local.date(), months, days)?, local.time());
                    zone.from_local_datetime(&local)
                        .earliest()
                        .map_or_else(|| start_of(local.date(), zone), |time| time.timestamp_millis())
                };
                DateTime::from_timestamp_millis(to)?;
                let offset_seconds = if millis == 0 { offset(to, zone) } else { offset_seconds };
                Some(Self::Instant { millis: to, offset_seconds })
            }
        }
    }
}

/// A date property's value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Date {
    pub(super) start: Moment,
    pub(super) end: Option<Moment>,
}

impl Date {
    /// Returns the date that a canonical value holds.
    pub(super) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Text(text) => Some(Self { start: Moment::parse(text)?, end: None }),
            Value::Map(map) => {
                let start = Moment::parse(map.get("start")?.as_text()?)?;
                let end = map.get("end").and_then(Value::as_text).and_then(Moment::parse);
                Some(Self { start, end })
            }
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::List(_) => None,
        }
    }
}

/// Returns the canonical form of a date as somebody wrote it: text for one moment, otherwise an object with start, end and zone.
///
/// # Errors
///
/// A sentence that says what a date takes.
pub(super) fn admit(value: &Value) -> Result<Value, String> {
    const SHAPE: &str =
        "a day such as \"2026-03-16\", an RFC 3339 time with an offset, or {\"start\", \"end\", \"zone\"} of such";
    let refusal = || format!("it takes {SHAPE}, not {value}");
    match value {
        Value::Text(text) => Moment::parse(text).map(|moment| moment.text().into()).ok_or_else(refusal),
        Value::Map(map) => {
            if map.keys().any(|key| !["start", "end", "zone", "time_zone"].contains(&key.as_str())) {
                return Err(refusal());
            }
            let zone = match map.get("zone").or_else(|| map.get("time_zone")) {
                None | Some(Value::Null) => None,
                Some(zone) => {
                    let name = zone.as_text().and_then(|name| name.parse::<Tz>().ok());
                    Some(name.ok_or_else(|| format!("{zone} is no IANA time zone such as \"Europe/Berlin\""))?)
                }
            };
            let end_of = |key: &str| match map.get(key) {
                None | Some(Value::Null) => Ok(None),
                Some(end) => end.as_text().and_then(|text| in_zone(text, zone)).map(Some).ok_or_else(refusal),
            };
            let start = end_of("start")?.ok_or_else(refusal)?;
            let end = end_of("end")?;
            if let Some(end) = end {
                if matches!(start, Moment::Day(_)) != matches!(end, Moment::Day(_)) {
                    return Err("its start and end must both be days or both be times".to_owned());
                }
                if end.millis(Tz::UTC) < start.millis(Tz::UTC) {
                    return Err("its end is before its start".to_owned());
                }
            }
            if end.is_none() && zone.is_none() {
                return Ok(start.text().into());
            }
            let zone = zone.map(|zone| SmolStr::from(zone.name()));
            Ok(map! { "start" => start.text(), "end" => end.map(Moment::text), "zone" => zone })
        }
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::List(_) => Err(refusal()),
    }
}

/// Returns the moment that `text` writes; wall-clock time without an offset is read in `zone`, if it is there once.
fn in_zone(text: &str, zone: Option<Tz>) -> Option<Moment> {
    if let Some(moment) = Moment::parse(text) {
        return Some(moment);
    }
    let local = ["%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M"]
        .iter()
        .find_map(|format| NaiveDateTime::parse_from_str(text, format).ok())?;
    let time = zone?.from_local_datetime(&local).single()?;
    Some(Moment::Instant { millis: time.timestamp_millis(), offset_seconds: offset(time.timestamp_millis(), zone?) })
}

/// Returns the instant at which `day` starts in `zone`.
pub(super) fn start_of(day: NaiveDate, zone: Tz) -> i64 {
    let midnight = day.and_time(chrono::NaiveTime::MIN);
    let time = zone.from_local_datetime(&midnight).earliest();
    // Where a clock change swallows midnight, the day starts an hour later.
    time.or_else(|| zone.from_local_datetime(&(midnight + chrono::TimeDelta::hours(1))).earliest())
        .map_or_else(|| midnight.and_utc().timestamp_millis(), |time| time.timestamp_millis())
}

/// Returns `day` moved; nothing if there is no such day.
pub(super) fn moved(day: NaiveDate, months: i64, days: i64) -> Option<NaiveDate> {
    let step = Months::new(u32::try_from(months.unsigned_abs()).ok()?);
    let day = if months < 0 { day.checked_sub_months(step) } else { day.checked_add_months(step) }?;
    let step = Days::new(days.unsigned_abs());
    let day = if days < 0 { day.checked_sub_days(step) } else { day.checked_add_days(step) }?;
    (0..=9999).contains(&day.year()).then_some(day)
}

/// Returns the day of an instant in `zone`.
pub(super) fn today(millis: i64, zone: Tz) -> NaiveDate {
    instant(millis).with_timezone(&zone).date_naive()
}

fn instant(millis: i64) -> DateTime<chrono::Utc> {
    dayshift_engine::SimTime::from_millis(millis).to_chrono()
}

fn offset(millis: i64, zone: Tz) -> i32 {
    use chrono::Offset;
    instant(millis).with_timezone(&zone).offset().fix().local_minus_utc()
}
