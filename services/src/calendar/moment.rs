//! A time as a calendar has it: what the clock on the wall shows, and where that wall stands. An all-day date has no zone at all, a floating time
//! takes the zone of whoever looks, and everything else becomes an instant. Never the host's zone.

use std::sync::Arc;

use chrono::{DateTime, Datelike, FixedOffset, LocalResult, NaiveDate, NaiveDateTime, Offset, SecondsFormat, TimeZone};
use chrono_tz::Tz;
use dayshift_engine::SmolStr;
use serde::{Deserialize, Serialize};

/// The seconds of a day.
pub(crate) const DAY_SECONDS: i64 = 86_400;
/// How far the clock on any wall can be from UTC, with room to spare, in seconds.
pub(crate) const OFFSET_SECONDS_MAX: i64 = 26 * 3600;

/// Where a time is meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Zone {
    /// A date: the whole day, wherever one is.
    Date,
    /// A time of day, wherever one is.
    Floating,
    /// UTC.
    Utc,
    /// A zone of the IANA database.
    Named(#[serde(with = "by_name")] Tz),
    /// A zone that the calendar's file defines itself.
    Custom(Arc<CustomZone>),
}

/// A zone defined by a VTIMEZONE whose name no database knows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CustomZone {
    /// Its TZID.
    pub id: SmolStr,
    /// The offset before the first change, in seconds east of UTC.
    pub first_offset_seconds: i32,
    /// The changes in order: the instant (seconds since 1970 in UTC) and the offset from then on, in seconds east of UTC.
    pub changes: Vec<(i64, i32)>,
}

/// A time on a wall: seconds since 1970-01-01T00:00:00 as the clock there counts them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Moment {
    /// What the clock shows.
    pub wall_seconds: i64,
    /// Where it hangs.
    pub zone: Zone,
}

/// Zones are in the order of their kinds, then of their names; chrono-tz has none for its own.
impl Ord for Zone {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let own = |zone: &Self| if let Self::Custom(own) = zone { Some(Arc::clone(own)) } else { None };
        let rank = |zone: &Self| match zone {
            Self::Date => 0,
            Self::Floating => 1,
            Self::Utc => 2,
            Self::Named(_) => 3,
            Self::Custom(_) => 4,
        };
        (rank(self), self.name()).cmp(&(rank(other), other.name())).then_with(|| own(self).cmp(&own(other)))
    }
}

impl PartialOrd for Zone {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Zone {
    /// Returns the zone `tz`, with UTC by its own name.
    pub(crate) fn of(tz: Tz) -> Self {
        if matches!(tz, Tz::UTC | Tz::Etc__UTC | Tz::Zulu) { Self::Utc } else { Self::Named(tz) }
    }

    /// Returns the instant at which the clock on the wall shows `wall_seconds`; `local` stands for wherever one is. A time that a change to
    /// summer time skips counts with the offset before the change, one that comes twice is the first (RFC 5545, 3.3.5).
    pub(crate) fn instant(&self, wall_seconds: i64, local: Tz) -> i64 {
        match self {
            Self::Utc => wall_seconds,
            Self::Date | Self::Floating => tz_instant(local, wall_seconds),
            Self::Named(tz) => tz_instant(*tz, wall_seconds),
            Self::Custom(zone) => zone.instant(wall_seconds),
        }
    }

    /// Returns what the clock on the wall shows at `instant`.
    pub(crate) fn wall(&self, instant: i64, local: Tz) -> i64 {
        instant + i64::from(self.offset_seconds(instant, local))
    }

    fn offset_seconds(&self, instant: i64, local: Tz) -> i32 {
        match self {
            Self::Utc => 0,
            Self::Date | Self::Floating => tz_offset(local, instant),
            Self::Named(tz) => tz_offset(*tz, instant),
            Self::Custom(zone) => zone.offset_at(instant),
        }
    }

    /// Returns the name for people, if there is one to show.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Date => None,
            Self::Floating => Some("floating"),
            Self::Utc => Some("UTC"),
            Self::Named(tz) => Some(tz.name()),
            Self::Custom(zone) => Some(&zone.id),
        }
    }
}

impl CustomZone {
    pub(crate) fn offset_at(&self, instant: i64) -> i32 {
        match self.changes.partition_point(|(at, _)| *at <= instant) {
            0 => self.first_offset_seconds,
            after => self.changes[after - 1].1,
        }
    }

    fn instant(&self, wall_seconds: i64) -> i64 {
        let mut before = self.first_offset_seconds;
        let mut began = i64::MIN;
        let mut offset = before;
        for (at, next) in &self.changes {
            if wall_seconds - i64::from(offset) < *at {
                break;
            }
            (before, offset, began) = (offset, *next, *at);
        }
        let instant = wall_seconds - i64::from(offset);
        if instant < began { wall_seconds - i64::from(before) } else { instant }
    }
}

impl Moment {
    pub(crate) fn new(wall_seconds: i64, zone: Zone) -> Self {
        Self { wall_seconds, zone }
    }

    /// Returns the instant, in seconds since 1970 in UTC.
    pub(crate) fn instant(&self, local: Tz) -> i64 {
        self.zone.instant(self.wall_seconds, local)
    }

    /// Returns the instant for an index: right to within [`OFFSET_SECONDS_MAX`], and the same for everybody.
    pub(crate) fn rough_instant(&self) -> i64 {
        self.instant(Tz::UTC)
    }

    pub(crate) fn is_date(&self) -> bool {
        self.zone == Zone::Date
    }

    /// Returns the day on the wall, in days since 1970.
    pub(crate) fn day(&self) -> i64 {
        self.wall_seconds.div_euclid(DAY_SECONDS)
    }

    /// Returns the same clock in the same place, `seconds` later on the wall.
    pub(crate) fn later(&self, seconds: i64) -> Self {
        Self { wall_seconds: self.wall_seconds.saturating_add(seconds), zone: self.zone.clone() }
    }

    /// Returns the time as its own place writes it: a date, a time without offset, or RFC 3339 with the offset there.
    pub(crate) fn show(&self) -> String {
        let naive = naive(self.wall_seconds);
        match &self.zone {
            Zone::Date => naive.format("%Y-%m-%d").to_string(),
            Zone::Floating => naive.format("%Y-%m-%dT%H:%M:%S").to_string(),
            Zone::Utc | Zone::Named(_) | Zone::Custom(_) => {
                let instant = self.instant(Tz::UTC);
                rfc3339(instant, self.zone.offset_seconds(instant, Tz::UTC))
            }
        }
    }

    /// Returns the time as somebody in `local` reads it: like [`Self::show`], but an instant has the offset of `local`.
    pub(crate) fn show_in(&self, local: Tz) -> String {
        match &self.zone {
            Zone::Date | Zone::Floating => self.show(),
            Zone::Utc | Zone::Named(_) | Zone::Custom(_) => show_instant(self.instant(local), local),
        }
    }
}

/// Returns `instant` as RFC 3339 with the offset of `local`.
pub(crate) fn show_instant(instant: i64, local: Tz) -> String {
    rfc3339(instant, tz_offset(local, instant))
}

fn rfc3339(instant: i64, offset_seconds: i32) -> String {
    let offset = FixedOffset::east_opt(offset_seconds).unwrap_or_else(|| FixedOffset::east_opt(0).expect("zero fits"));
    offset.from_utc_datetime(&naive(instant)).to_rfc3339_opts(SecondsFormat::Secs, false)
}

/// Returns `seconds` since 1970 as chrono has it; the ends of the calendar (years 1 and 9999) stand in for what lies beyond.
pub(crate) fn naive(seconds: i64) -> NaiveDateTime {
    DateTime::from_timestamp(seconds.clamp(YEAR_1_SECONDS, YEAR_9999_SECONDS), 0)
        .expect("the years 1 to 9999 fit chrono")
        .naive_utc()
}

const YEAR_1_SECONDS: i64 = -62_135_596_800;
const YEAR_9999_SECONDS: i64 = 253_402_300_799;

/// Returns the seconds since 1970 of a time on the wall, if its year is one that a calendar can write (1 to 9999).
pub(crate) fn wall_of(naive: NaiveDateTime) -> Option<i64> {
    (1..=9999).contains(&naive.year()).then(|| naive.and_utc().timestamp())
}

/// Reads `2026-03-16`.
pub(crate) fn parse_date(text: &str) -> Option<Moment> {
    let date = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().filter(|_| text.len() == 10)?;
    Some(Moment::new(wall_of(date.and_hms_opt(0, 0, 0)?)?, Zone::Date))
}

/// Reads `2026-03-16T09:00:00`, also without seconds.
pub(crate) fn parse_naive(text: &str) -> Option<i64> {
    let read = |form| NaiveDateTime::parse_from_str(text, form).ok();
    read("%Y-%m-%dT%H:%M:%S").or_else(|| read("%Y-%m-%dT%H:%M")).and_then(wall_of)
}

/// Returns how often the clock in `tz` shows `wall_seconds`: never when summer time skips it, twice when it ends.
pub(crate) fn times_shown(tz: Tz, wall_seconds: i64) -> usize {
    match tz.offset_from_local_datetime(&naive(wall_seconds)) {
        LocalResult::None => 0,
        LocalResult::Single(_) => 1,
        LocalResult::Ambiguous(..) => 2,
    }
}

fn tz_offset(tz: Tz, instant: i64) -> i32 {
    tz.offset_from_utc_datetime(&naive(instant)).fix().local_minus_utc()
}

fn tz_instant(tz: Tz, wall_seconds: i64) -> i64 {
    let offset = |wall: i64| tz.offset_from_local_datetime(&naive(wall));
    let found = match offset(wall_seconds) {
        LocalResult::Single(offset) | LocalResult::Ambiguous(offset, _) => offset,
        // No zone changes twice within a day, so yesterday's offset is the one before the gap.
        LocalResult::None => match offset(wall_seconds - DAY_SECONDS) {
            LocalResult::Single(offset) | LocalResult::Ambiguous(offset, _) => offset,
            LocalResult::None => tz.offset_from_utc_datetime(&naive(wall_seconds)),
        },
    };
    wall_seconds - i64::from(found.fix().local_minus_utc())
}

/// Serialises a zone of the IANA database by its name.
mod by_name {
    use chrono_tz::Tz;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(tz: &Tz, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(tz.name())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Tz, D::Error> {
        let name = String::deserialize(deserializer)?;
        name.parse().map_err(|_| serde::de::Error::custom(format!("unknown time zone '{name}'")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BERLIN: Tz = Tz::Europe__Berlin;

    fn wall(text: &str) -> i64 {
        parse_naive(text).expect("a good time")
    }

    #[test]
    fn a_time_that_summer_time_skips_counts_with_the_offset_before() {
        let moment = Moment::new(wall("2026-03-29T02:30:00"), Zone::Named(BERLIN));
        assert_eq!(moment.instant(Tz::UTC), wall("2026-03-29T01:30:00"));
        assert_eq!(times_shown(BERLIN, moment.wall_seconds), 0);
    }

    #[test]
    fn a_time_that_comes_twice_is_the_first() {
        let moment = Moment::new(wall("2026-10-25T02:30:00"), Zone::Named(BERLIN));
        assert_eq!(moment.instant(Tz::UTC), wall("2026-10-25T00:30:00"));
        assert_eq!(times_shown(BERLIN, moment.wall_seconds), 2);
    }

    #[test]
    fn a_custom_zone_treats_gaps_and_folds_as_a_named_one() {
        let changes = vec![(wall("2026-03-29T01:00:00"), 7200), (wall("2026-10-25T01:00:00"), 3600)];
        let zone = CustomZone { id: "Own".into(), first_offset_seconds: 3600, changes };
        for hour in 0..24 * 365 {
            let time = wall("2026-01-01T00:00:00") + hour * 3600 + 1800;
            assert_eq!(zone.instant(time), tz_instant(BERLIN, time), "{}", naive(time));
            assert_eq!(zone.offset_at(time), tz_offset(BERLIN, time), "{}", naive(time));
        }
    }

    #[test]
    fn an_all_day_date_begins_at_midnight_of_whoever_looks() {
        let date = parse_date("2026-03-28").expect("a date");
        assert_eq!(date.instant(Tz::UTC) - date.instant(BERLIN), 3600);
        assert_eq!(date.show_in(BERLIN), "2026-03-28");
    }
}
