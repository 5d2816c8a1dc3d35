//! Writing lines of an iCalendar file. calcard escapes and folds.

use calcard::common::PartialDateTime;
use calcard::icalendar::{
    ICalendar, ICalendarComponent, ICalendarComponentType, ICalendarEntry, ICalendarParameter, ICalendarParameterName,
    ICalendarParameterValue, ICalendarProperty, ICalendarValue,
};
use chrono::{Datelike, Timelike};
use dayshift_engine::SimTime;

use super::component::{Attendee, Party};
use super::moment::{DAY_SECONDS, Moment, Zone, naive};
use super::parse::{DATE, whole};
use super::source::{Line, unfold};

/// What a file of ours begins with.
pub(crate) const HEAD: &str =
    "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Dayshift//Calendar//EN\r\nCALSCALE:GREGORIAN\r\n";
/// What a file of ours ends with.
pub(crate) const TAIL: &str = "END:VCALENDAR\r\n";

/// Returns the line `property` with `text`.
pub(crate) fn text(property: ICalendarProperty, text: &str) -> String {
    line(&ICalendarEntry::new(property).with_value(text.to_owned()))
}

/// Returns the line of a word or a rule, which takes no escapes.
pub(crate) fn bare(name: &str, value: &str) -> String {
    format!("{name}:{value}\r\n")
}

/// Returns the line `property` with a time, in its zone.
pub(crate) fn moment(property: ICalendarProperty, moment: &Moment) -> String {
    moments(property, std::slice::from_ref(moment))
}

/// Returns the line `property` with times in the zone of the first.
pub(crate) fn moments(property: ICalendarProperty, moments: &[Moment]) -> String {
    let mut entry = ICalendarEntry::new(property);
    match moments.first().map(|first| &first.zone) {
        Some(Zone::Date) => {
            entry.add_param(ICalendarParameter::new(
                ICalendarParameterName::Value,
                ICalendarParameterValue::Value(DATE),
            ));
        }
        Some(Zone::Named(tz)) => entry.add_param(tzid(tz.name())),
        Some(Zone::Custom(zone)) => entry.add_param(tzid(&zone.id)),
        Some(Zone::Utc | Zone::Floating) | None => {}
    }
    entry.values = moments.iter().map(value).collect();
    line(&entry)
}

/// Returns the line of a moment of simulated time, in UTC.
pub(crate) fn stamp(property: ICalendarProperty, time: SimTime) -> String {
    moment(property, &Moment::new(time.as_millis().div_euclid(1000), Zone::Utc))
}

/// Returns the ORGANIZER line of `party`, in whose name `sent_by` acts, if somebody does (SENT-BY, RFC 5545 section 3.2.18).
pub(crate) fn organizer(party: &Party, sent_by: Option<&str>) -> String {
    let mut entry = ICalendarEntry::new(ICalendarProperty::Organizer);
    if !party.name.is_empty() {
        entry.add_param(ICalendarParameter::cn(party.name.to_string()));
    }
    if let Some(address) = sent_by {
        entry.add_param(ICalendarParameter::sent_by(format!("mailto:{address}")));
    }
    line(&entry.with_value(format!("mailto:{}", party.address)))
}

/// Returns the ATTENDEE line.
pub(crate) fn attendee(attendee: &Attendee) -> String {
    let mut entry = ICalendarEntry::new(ICalendarProperty::Attendee);
    if !attendee.party.name.is_empty() {
        entry.add_param(ICalendarParameter::cn(attendee.party.name.to_string()));
    }
    entry.add_param(partstat(&attendee.answer));
    entry.add_param(ICalendarParameter::new(ICalendarParameterName::Rsvp, ICalendarParameterValue::Bool(true)));
    line(&entry.with_value(format!("mailto:{}", attendee.party.address)))
}

/// Returns the ATTENDEE line `old` with another answer and all else as it was, or nothing if it cannot be read.
pub(crate) fn answered(old: &Line<'_>, answer: &str) -> Option<String> {
    let text = format!("BEGIN:VEVENT\r\n{}\r\nEND:VEVENT\r\n", String::from_utf8_lossy(&unfold(old.bytes)));
    let mut entry = whole(&text)?.components.into_iter().next()?.entries.into_iter().next()?;
    entry.params.retain(|param| param.name != ICalendarParameterName::Partstat);
    entry.add_param(partstat(answer));
    Some(line(&entry))
}

/// Returns the VTIMEZONE of an IANA zone for the years around the instants from `first` to `last`.
pub(crate) fn zone(name: &str, first: i64, last: i64) -> Option<String> {
    let mut calendar = ICalendar { components: vec![ICalendarComponent::new(ICalendarComponentType::VCalendar)] };
    calendar.add_timezone(name, first - 366 * DAY_SECONDS, last + 3 * 366 * DAY_SECONDS)?;
    let text = calendar.to_string();
    let begin = text.find("BEGIN:VTIMEZONE")?;
    let end = text.rfind("END:VTIMEZONE")?;
    Some(format!("{}END:VTIMEZONE\r\n", &text[begin..end]))
}

fn partstat(answer: &str) -> ICalendarParameter {
    ICalendarParameter::new(ICalendarParameterName::Partstat, ICalendarParameterValue::Text(answer.to_owned()))
}

fn tzid(name: &str) -> ICalendarParameter {
    ICalendarParameter::new(ICalendarParameterName::Tzid, ICalendarParameterValue::Text(name.to_owned()))
}

fn value(moment: &Moment) -> ICalendarValue {
    let time = naive(moment.wall_seconds);
    let is_timed = !moment.is_date();
    let utc = (moment.zone == Zone::Utc).then_some(0);
    ICalendarValue::PartialDateTime(Box::new(PartialDateTime {
        year: u16::try_from(time.year()).ok(),
        month: Some(time.month() as u8),
        day: Some(time.day() as u8),
        hour: is_timed.then_some(time.hour() as u8),
        minute: is_timed.then_some(time.minute() as u8),
        second: is_timed.then_some(time.second() as u8),
        tz_hour: utc,
        tz_minute: utc,
        tz_minus: false,
    }))
}

fn line(entry: &ICalendarEntry) -> String {
    let mut out = String::new();
    entry.write_to(&mut out).expect("a string takes every line");
    out
}
