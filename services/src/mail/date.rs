//! The dates of messages: RFC 5322, the forms of before it, and those that programs send though no standard has them. A date that is none (31 Feb) is not
//! read as another one.

use chrono::{NaiveDate, NaiveTime};
use dayshift_engine::SimTime;

/// The longest date that is looked at, in bytes.
const DATE_BYTES_MAX: usize = 200;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// The zones that have a name in RFC 5322, 4.3, and those of Europe, in minutes east of Greenwich.
const ZONES: [(&str, i64); 20] = [
    ("ut", 0),
    ("utc", 0),
    ("gmt", 0),
    ("est", -300),
    ("edt", -240),
    ("cst", -360),
    ("cdt", -300),
    ("mst", -420),
    ("mdt", -360),
    ("pst", -480),
    ("pdt", -420),
    ("wet", 0),
    ("west", 60),
    ("bst", 60),
    ("cet", 60),
    ("met", 60),
    ("cest", 120),
    ("mest", 120),
    ("eet", 120),
    ("eest", 180),
];

/// What is known of a date so far.
#[derive(Default)]
struct Found {
    numbers: Vec<(u32, usize)>,
    month: Option<u32>,
    /// How many numbers stood before the month.
    before_month: usize,
    date: Option<NaiveDate>,
    time: Option<NaiveTime>,
    is_afternoon: Option<bool>,
    zone_minutes: Option<i64>,
}

/// Returns the moment that the value of a Date field stands for. Without a zone it is in UTC, without a time at midnight.
pub(super) fn parse(value: &str) -> Option<SimTime> {
    if value.len() > DATE_BYTES_MAX {
        return None;
    }
    let plain = without_comments(value);
    let mut found = Found::default();
    for word in plain.split(|each: char| each.is_whitespace() || each == ',').filter(|word| !word.is_empty()) {
        found.take(word)?;
    }
    found.moment()
}

impl Found {
    /// Takes the next word. Returns nothing if it belongs into no date.
    fn take(&mut self, word: &str) -> Option<()> {
        let lower = word.to_ascii_lowercase();
        if let Some((date, time)) = lower.split_once('t').filter(|(date, time)| date.len() == 10 && !time.is_empty()) {
            self.take_dashed(date)?;
            return self.take_time(time);
        }
        if lower.contains(':') && !lower.starts_with(['+', '-']) {
            return self.take_time(&lower);
        }
        if let Some(sign) = lower.chars().next().filter(|first| matches!(first, '+' | '-')) {
            return self.take_offset(&lower[1..], if sign == '-' { -1 } else { 1 });
        }
        if lower.contains('-') || lower.contains('/') {
            return self.take_dashed(&lower);
        }
        if lower.bytes().all(|byte| byte.is_ascii_digit()) {
            self.numbers.push((lower.parse().ok()?, lower.len()));
            return Some(());
        }
        self.take_name(lower.trim_end_matches('.'))
    }

    fn take_name(&mut self, name: &str) -> Option<()> {
        let month = MONTHS.iter().zip(1..).find(|(month, _)| name.len() >= 3 && month.starts_with(name));
        if let Some((_, month)) = month {
            self.before_month = self.numbers.len();
            return self.month.replace(month).is_none().then_some(());
        }
        if name.len() >= 2 && WEEKDAYS.iter().any(|day| day.starts_with(name)) {
            return Some(());
        }
        if matches!(name, "am" | "pm") {
            self.is_afternoon = Some(name == "pm");
            return Some(());
        }
        let named = ZONES.iter().find(|(zone, _)| *zone == name).map(|(_, minutes)| *minutes);
        // The letters of the military stand for nothing certain, nor do other names (RFC 5322, 4.3).
        let is_name = name.len() <= 5 && name.bytes().all(|byte| byte.is_ascii_alphabetic());
        let unknown = (is_name && self.time.is_some()).then_some(0);
        // A name of a zone that stands behind its digits says nothing more.
        let after_digits = self.zone_minutes.filter(|_| name.chars().all(char::is_alphabetic));
        self.zone_minutes = Some(after_digits.or(named).or(unknown)?);
        Some(())
    }

    /// Takes a date in one word: `2026-03-10`, `10-Mar-2026`, `2026/03/10`.
    fn take_dashed(&mut self, word: &str) -> Option<()> {
        let parts: Vec<&str> = word.split(['-', '/']).collect();
        let [first, second, third] = parts.as_slice() else { return None };
        if first.len() == 4 {
            let date = NaiveDate::from_ymd_opt(first.parse().ok()?, second.parse().ok()?, third.parse().ok()?)?;
            return self.date.replace(date).is_none().then_some(());
        }
        // Of digits alone nobody knows which is the month.
        if second.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        self.take(first)?;
        self.take_name(second)?;
        self.take(third)
    }

    /// Takes a time with what stands right behind it: `09:30`, `9:30:15.25`, `09:30:00z`, `09:30+01:00`.
    fn take_time(&mut self, word: &str) -> Option<()> {
        let end = word.find(|each: char| !(each.is_ascii_digit() || matches!(each, ':' | '.'))).unwrap_or(word.len());
        let (time, behind) = word.split_at(end);
        let mut parts = time.split(':');
        let hour = parts.next()?.parse().ok()?;
        let minute = parts.next()?.parse().ok()?;
        let second = parts.next().map_or(Some(0), |second| second.split('.').next()?.parse().ok())?;
        if parts.next().is_some() || second > 60 {
            return None;
        }
        // A leap second is valid in RFC 5322.
        let time = NaiveTime::from_hms_opt(hour, minute, second.min(59))?;
        if self.time.replace(time).is_some() {
            return None;
        }
        if behind.is_empty() { Some(()) } else { self.take(behind) }
    }

    fn take_offset(&mut self, digits: &str, sign: i64) -> Option<()> {
        let digits = digits.replace(':', "");
        let number: i64 = digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
        let (hours, minutes) = match digits.len() {
            1 | 2 => (number, 0),
            3 | 4 => (number / 100, number % 100),
            _ => return None,
        };
        if hours > 23 || minutes > 59 {
            return None;
        }
        self.zone_minutes = Some(sign * (hours * 60 + minutes));
        Some(())
    }

    fn moment(&self) -> Option<SimTime> {
        let date = match (self.date, self.month) {
            (Some(date), None) if self.numbers.is_empty() => date,
            (None, Some(month)) => {
                let (day, year) = match self.numbers.as_slice() {
                    // Only one of these can be no year: that of four digits, or the one behind the month.
                    [(year, 4), (day, _)] if self.before_month > 0 => (*day, (*year, 4)),
                    [(day, 1 | 2), year] => (*day, *year),
                    _ => return None,
                };
                NaiveDate::from_ymd_opt(i32::try_from(whole_year(year)?).ok()?, month, day)?
            }
            (Some(_), _) | (None, None) => return None,
        };
        let mut time = self.time.unwrap_or_default();
        if let Some(is_afternoon) = self.is_afternoon {
            use chrono::Timelike as _;
            let hour =
                Some(time.hour()).filter(|hour| (1..=12).contains(hour))? % 12 + if is_afternoon { 12 } else { 0 };
            time = time.with_hour(hour)?;
        }
        let seconds = date.and_time(time).and_utc().timestamp() - self.zone_minutes.unwrap_or(0) * 60;
        let is_plausible = (1900..=3000).contains(&chrono::Datelike::year(&date));
        is_plausible.then(|| SimTime::from_millis(seconds * 1000))
    }
}

/// Returns a year of two or three digits as RFC 5322, 4.3 reads it.
fn whole_year((year, digits): (u32, usize)) -> Option<u32> {
    match digits {
        2 if year < 50 => Some(2000 + year),
        2 | 3 => Some(1900 + year),
        4 => Some(year),
        _ => None,
    }
}

fn without_comments(value: &str) -> String {
    let mut depth = 0_usize;
    let mut plain = String::with_capacity(value.len());
    for character in value.chars() {
        match character {
            '(' => depth += 1,
            ')' => {
                depth = depth.saturating_sub(1);
                plain.push(' ');
            }
            character if depth == 0 => plain.push(character),
            _ => {}
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(value: &str) -> Option<String> {
        parse(value).map(|time| time.to_chrono().to_rfc3339_opts(chrono::SecondsFormat::Secs, true))
    }

    #[test]
    fn dates_are_read_as_their_writers_meant_them() {
        let cases = [
            ("Tue, 10 Mar 2026 09:30:15 +0100", "2026-03-10T08:30:15Z"),
            ("10 Mar 26 09:30 EST", "2026-03-10T14:30:00Z"),
            ("Tue, 10 Mar 2026 09:30", "2026-03-10T09:30:00Z"),
            ("10 March 2026", "2026-03-10T00:00:00Z"),
            ("10 March 2026 23:59:60 -0000", "2026-03-10T23:59:59Z"),
            ("Tue Mar 10 09:30:00 2026", "2026-03-10T09:30:00Z"),
            ("Tuesday, March 10, 2026 9:30 PM GMT", "2026-03-10T21:30:00Z"),
            ("12:05 am 1 Jan 2026", "2026-01-01T00:05:00Z"),
            ("10-Mar-2026 09:30:00 +05:30", "2026-03-10T04:00:00Z"),
            ("2026-03-10T09:30:00.123+01:00", "2026-03-10T08:30:00Z"),
            ("2026-03-10 09:30:00 Z", "2026-03-10T09:30:00Z"),
            ("Fri, 21 Nov 97 09:55:06 -0600 (CST)", "1997-11-21T15:55:06Z"),
            ("21 Nov 101 09:55 UT", "2001-11-21T09:55:00Z"),
            ("Mon, 29 Feb 2028 00:00:00 +0000", "2028-02-29T00:00:00Z"),
            ("Sat, 22 Apr 2006 17:14:50 Z", "2006-04-22T17:14:50Z"),
            ("10 Mar 2026 09:30 XYZ", "2026-03-10T09:30:00Z"),
            ("Tue, 10 Mar 2026 09:30:00 +0100 CET", "2026-03-10T08:30:00Z"),
        ];
        for (value, moment) in cases {
            assert_eq!(read(value).unwrap_or_default(), moment, "{value}");
        }
    }

    #[test]
    fn what_is_no_date_is_not_read_as_another() {
        for value in [
            "",
            "31 Feb 2026 10:00:00 +0000",
            "29 Feb 2026",
            "32 Jan 2026",
            "0 Jan 2026",
            "10 Mar",
            "March 2026",
            "tomorrow",
            "10/03/2026",
            "10 Mar 2026 25:00",
            "10 Mar 2026 09:61",
            "XYZ 10 Mar 2026",
            "10 Mar 2026 9:30 +2500",
            "10 Mar Apr 2026",
            "1773135000",
            "0",
        ] {
            assert_eq!(read(value), None, "{value}");
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_tried(text in "[0-9A-Za-z:+,/ ().-]{0,40}") {
            let _ = parse(&text);
        }

        #[test]
        fn a_date_as_the_standard_has_it_is_read(seconds in 0_i64..4_000_000_000, hours in -11_i32..12) {
            let zone = chrono::FixedOffset::east_opt(hours * 3600).expect("a zone");
            let written = chrono::DateTime::from_timestamp(seconds, 0).expect("a time").with_timezone(&zone).to_rfc2822();
            prop_assert_eq!(parse(&written), Some(SimTime::from_millis(seconds * 1000)));
        }
    }
}
