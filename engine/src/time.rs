//! Simulated time: an instant and a span, in milliseconds. Nothing here can ask the host what time it is; chrono is used for the
//! calendar arithmetic and for RFC 3339 text.

use std::fmt;
use std::ops::{Add, Sub};
use std::str::FromStr;

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};

/// An instant of simulated time: milliseconds since 1970-01-01T00:00:00Z, negative before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SimTime(i64);

/// A span of simulated time in milliseconds, never negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SimDuration(u64);

impl SimTime {
    /// Returns the instant `milliseconds` after the Unix epoch.
    #[must_use]
    pub const fn from_millis(milliseconds: i64) -> Self {
        Self(milliseconds)
    }

    /// Returns the milliseconds since the Unix epoch.
    #[must_use]
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Returns the same instant in chrono's terms; the ends of chrono's range stand in for instants outside of it.
    #[must_use]
    pub fn to_chrono(self) -> DateTime<Utc> {
        let end = if self.0 < 0 { DateTime::<Utc>::MIN_UTC } else { DateTime::<Utc>::MAX_UTC };
        DateTime::from_timestamp_millis(self.0).unwrap_or(end)
    }

    /// Returns the span from `earlier` to this instant; zero if `earlier` is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> SimDuration {
        SimDuration(self.0.saturating_sub(earlier.0).max(0).unsigned_abs())
    }
}

impl SimDuration {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// Returns a span of `milliseconds`.
    #[must_use]
    pub const fn from_millis(milliseconds: u64) -> Self {
        Self(milliseconds)
    }

    /// Returns a span of `seconds`.
    #[must_use]
    pub const fn from_seconds(seconds: u64) -> Self {
        Self(seconds.saturating_mul(1000))
    }

    /// Returns the span in milliseconds.
    #[must_use]
    pub const fn as_millis(self) -> u64 {
        self.0
    }
}

impl<Tz: chrono::TimeZone> From<DateTime<Tz>> for SimTime {
    fn from(instant: DateTime<Tz>) -> Self {
        Self(instant.timestamp_millis())
    }
}

impl Add<SimDuration> for SimTime {
    type Output = Self;

    fn add(self, span: SimDuration) -> Self {
        Self(self.0.saturating_add_unsigned(span.0))
    }
}

impl Sub<SimDuration> for SimTime {
    type Output = Self;

    fn sub(self, span: SimDuration) -> Self {
        Self(self.0.saturating_sub_unsigned(span.0))
    }
}

impl fmt::Display for SimTime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.to_chrono().to_rfc3339_opts(SecondsFormat::AutoSi, true))
    }
}

impl FromStr for SimTime {
    type Err = chrono::ParseError;

    /// Reads RFC 3339 with an offset; text without one is refused, not guessed.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        DateTime::parse_from_rfc3339(text).map(Self::from)
    }
}

impl fmt::Display for SimDuration {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, rest) = (self.0 / 1000, self.0 % 1000);
        let parts = [
            (seconds / 86_400, "d"),
            (seconds / 3600 % 24, "h"),
            (seconds / 60 % 60, "min"),
            (seconds % 60, "s"),
            (rest, "ms"),
        ];
        let text: Vec<String> =
            parts.iter().filter(|(count, _)| *count > 0).map(|(count, unit)| format!("{count} {unit}")).collect();
        if text.is_empty() { formatter.write_str("0 s") } else { formatter.write_str(&text.join(" ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_text_round_trips_and_keeps_the_instant() {
        let time: SimTime = "2026-03-16T09:00:00+01:00".parse().expect("a good time");
        assert_eq!(time.to_string(), "2026-03-16T08:00:00Z");
        assert_eq!(time.to_string().parse::<SimTime>(), Ok(time));
    }

    #[test]
    fn time_without_offset_is_refused() {
        assert!("2026-03-16T09:00:00".parse::<SimTime>().is_err());
    }

    #[test]
    fn arithmetic_saturates_at_the_ends() {
        let last = SimTime::from_millis(i64::MAX);
        assert_eq!(last + SimDuration::from_millis(1), last);
        assert!(last.to_string().starts_with('+'));
    }
}
