//! From the bytes of a VEVENT to a [`Component`]. calcard reads the values; what it cannot read stays in the bytes.

use std::panic::{AssertUnwindSafe, catch_unwind};

use calcard::common::{IanaString as _, PartialDateTime};
use calcard::icalendar::{
    ICalendar, ICalendarComponent, ICalendarComponentType, ICalendarEntry, ICalendarFrequency, ICalendarParameterName,
    ICalendarPeriod, ICalendarProperty, ICalendarRecurrenceRule, ICalendarValue, ICalendarValueType,
};
use calcard::{Entry, Parser};
use chrono::Weekday;
use dayshift_engine::{BlobId, Budget, Content, OverBudget, SmolStr};

use super::component::{Attendee, Component, Party};
use super::limits::{ATTENDEES_MAX, DURATION_DAYS_MAX, RECURRENCE_DATES_MAX, RULES_MAX};
use super::moment::{DAY_SECONDS, Moment, Zone, wall_of};
use super::rule::{Every, Rule, RuleFault};
use super::source::{lines, tzids, unfold};
use super::zones::Zones;

/// The lines that change whenever a program touches an event, and say nothing about it.
const VOLATILE: [&str; 4] = ["DTSTAMP", "CREATED", "LAST-MODIFIED", "SEQUENCE"];

/// The most names of unknown zones that are kept of an event.
const UNKNOWN_ZONES_MAX: usize = 8;

/// Returns the one component that `text` holds, with its parts, as calcard reads it.
///
/// calcard promises not to panic; should it break the promise, the text counts as unreadable.
pub(crate) fn whole(text: &str) -> Option<ICalendar> {
    let entry = catch_unwind(AssertUnwindSafe(|| Parser::new(text).entry())).ok()?;
    if let Entry::ICalendar(calendar) = entry { Some(calendar) } else { None }
}

/// The UID of a VEVENT, if it has one, and what it says.
pub(crate) type Parsed = (Option<SmolStr>, Component);

/// Returns the content lines of a component as text. Lines are unfolded as octets before they are decoded (RFC 5545, 3.1): a fold may stand within a
/// character.
pub(crate) fn joined(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for line in lines(bytes) {
        text.push_str(&String::from_utf8_lossy(&unfold(line.bytes)));
        text.push_str("\r\n");
    }
    text
}

/// Returns the UID of the VEVENT and what it says, or nothing if it has no start that can be read.
///
/// # Errors
///
/// What the budget says when it is used up.
pub(crate) fn parse(
    bytes: &[u8],
    source: Content,
    zones: &Zones,
    budget: &Budget,
) -> Result<Option<Parsed>, OverBudget> {
    // Every line is read a few times: by us, by calcard, and for what is graded.
    budget.work(4 * bytes.len() as u64)?;
    let text = joined(bytes);
    let Some(calendar) = whole(&text) else { return Ok(None) };
    let is_event = |first: &&ICalendarComponent| first.component_type == ICalendarComponentType::VEvent;
    let Some(event) = calendar.components.first().filter(is_event) else { return Ok(None) };
    let reader = Reader { event, zones };
    let Some(start) = reader.moment(&ICalendarProperty::Dtstart) else { return Ok(None) };
    let end = reader.end(&start);
    let uid = reader.text(&ICalendarProperty::Uid);
    let mut component = Component {
        source,
        identity: identity(bytes),
        place: 0,
        is_ours: false,
        summary: reader.text(&ICalendarProperty::Summary),
        description: reader.text(&ICalendarProperty::Description),
        location: reader.text(&ICalendarProperty::Location),
        recurrence_id: reader.moment(&ICalendarProperty::RecurrenceId),
        and_following: reader.has_range(),
        rules: Vec::new(),
        extra_dates: reader.extra_dates(),
        except_dates: reader.dates(&ICalendarProperty::Exdate),
        fault: None,
        unknown_zones: unknown_zones(bytes, zones),
        status: SmolStr::from(reader.word(&ICalendarProperty::Status).to_ascii_uppercase()),
        is_transparent: reader.word(&ICalendarProperty::Transp).eq_ignore_ascii_case("TRANSPARENT"),
        sequence: reader.number(&ICalendarProperty::Sequence),
        organizer: event.property(&ICalendarProperty::Organizer).and_then(party),
        attendees: event.properties(&ICalendarProperty::Attendee).filter_map(attendee).take(ATTENDEES_MAX).collect(),
        alarms: alarms(bytes),
        start,
        end,
    };
    match rules(bytes, &component, budget) {
        Ok(rules) => component.rules = rules,
        Err(RuleFault::OverBudget(over)) => return Err(over),
        Err(fault) => component.fault = Some(fault.sentence().into()),
    }
    Ok(Some((Some(uid).filter(|uid| !uid.is_empty()), component)))
}

/// Returns the rules of the event, checked.
fn rules(bytes: &[u8], component: &Component, budget: &Budget) -> Result<Vec<Rule>, RuleFault> {
    let own = lines(bytes).into_iter().filter(|line| line.depth == 1 && line.name == "RRULE").take(RULES_MAX);
    let texts = own.filter_map(|line| {
        let text = String::from_utf8_lossy(&unfold(line.bytes)).into_owned();
        text.split_once(':').map(|(_, value)| value.trim().to_owned())
    });
    texts.map(|text| parse_rule(&text, &component.start, budget)).collect()
}

/// Reads the rule `text` of an event that starts at `start`, and checks it.
pub(crate) fn parse_rule(text: &str, start: &Moment, budget: &Budget) -> Result<Rule, RuleFault> {
    budget.work(4 * text.len() as u64)?;
    plausible(text)?;
    let calendar = whole(&format!("BEGIN:VEVENT\r\nRRULE:{text}\r\nEND:VEVENT\r\n")).ok_or(RuleFault::NotUnderstood)?;
    let entry = calendar.components.first().and_then(|event| event.property(&ICalendarProperty::Rrule));
    let Some(ICalendarValue::RecurrenceRule(rule)) = entry.and_then(|entry| entry.values.first()) else {
        return Err(RuleFault::NotUnderstood);
    };
    let rule = rule_of(rule, text, &start.zone).ok_or(RuleFault::NotUnderstood)?;
    rule.check(start.wall_seconds, budget)?;
    Ok(rule)
}

/// Refuses what calcard would read as something else: unknown parts, and numbers that wrap around.
fn plausible(text: &str) -> Result<(), RuleFault> {
    let mut has_until = false;
    let mut has_count = false;
    for part in text.split(';').filter(|part| !part.is_empty()) {
        let (name, value) = part.split_once('=').ok_or(RuleFault::NotUnderstood)?;
        let each = |range: std::ops::RangeInclusive<i64>| {
            value.split(',').all(|number| {
                number.parse().is_ok_and(|number: i64| range.contains(&number) && (number != 0 || *range.start() == 0))
            })
        };
        let is_good = match name.to_ascii_uppercase().as_str() {
            "FREQ" | "WKST" | "BYDAY" => {
                value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-,".contains(&byte))
            }
            "UNTIL" => {
                has_until = true;
                value.bytes().all(|byte| byte.is_ascii_alphanumeric())
            }
            "COUNT" => {
                has_count = true;
                let count: u64 = value.parse().map_err(|_| RuleFault::NotUnderstood)?;
                if count > u64::from(super::limits::RULE_COUNT_MAX) {
                    return Err(RuleFault::CountTooLarge);
                }
                count > 0
            }
            "INTERVAL" => each(1..=i64::from(u16::MAX)),
            "BYSECOND" | "BYMINUTE" => each(0..=59),
            "BYHOUR" => each(0..=23),
            "BYMONTHDAY" => each(-31..=31),
            "BYYEARDAY" | "BYSETPOS" => each(-366..=366),
            "BYWEEKNO" => each(-53..=53),
            "BYMONTH" => each(1..=12),
            _ => false,
        };
        if !is_good {
            return Err(RuleFault::NotUnderstood);
        }
    }
    if has_until && has_count { Err(RuleFault::NotUnderstood) } else { Ok(()) }
}

/// Returns calcard's `rule`, written as `text`, of an event in `zone`, as ours.
pub(crate) fn rule_of(rule: &ICalendarRecurrenceRule, text: &str, zone: &Zone) -> Option<Rule> {
    let day = |weekday: calcard::icalendar::ICalendarWeekday| Weekday::from(weekday).num_days_from_monday() as u8;
    let until = match &rule.until {
        Some(until) => Some(until_of(until, zone)?),
        None => None,
    };
    Some(Rule {
        text: text.into(),
        every: match rule.freq {
            ICalendarFrequency::Yearly => Every::Year,
            ICalendarFrequency::Monthly => Every::Month,
            ICalendarFrequency::Weekly => Every::Week,
            ICalendarFrequency::Daily => Every::Day,
            ICalendarFrequency::Hourly => Every::Hour,
            ICalendarFrequency::Minutely => Every::Minute,
            ICalendarFrequency::Secondly => Every::Second,
        },
        interval: rule.interval.unwrap_or(1).max(1),
        count: rule.count,
        until,
        week_start: rule.wkst.map_or(0, day),
        by_month: rule.bymonth.iter().map(|month| month.month()).collect(),
        by_week: rule.byweekno.clone(),
        by_year_day: rule.byyearday.clone(),
        by_month_day: rule.bymonthday.clone(),
        by_day: rule.byday.iter().map(|each| (each.ordwk.unwrap_or(0), day(each.weekday))).collect(),
        by_hour: rule.byhour.clone(),
        by_minute: rule.byminute.clone(),
        by_second: rule.bysecond.clone(),
        by_position: rule.bysetpos.clone(),
    })
}

/// Returns UNTIL. A date means that whole day where the event is, as every program has it that writes one; a local time means the event's zone.
fn until_of(until: &PartialDateTime, zone: &Zone) -> Option<Moment> {
    let wall = wall_of(until.to_date_time()?.date_time)?;
    if until.hour.is_none() {
        return Some(Moment::new(wall + DAY_SECONDS - 1, zone.clone()));
    }
    match zone {
        // A date has no hour that UNTIL could cut off.
        Zone::Date => Some(Moment::new(wall - wall.rem_euclid(DAY_SECONDS), Zone::Date)),
        Zone::Floating => Some(Moment::new(wall, Zone::Floating)),
        Zone::Utc | Zone::Named(_) | Zone::Custom(_) if until.tz_hour.is_some() => Some(Moment::new(wall, Zone::Utc)),
        Zone::Utc | Zone::Named(_) | Zone::Custom(_) => Some(Moment::new(wall, zone.clone())),
    }
}

/// What one VEVENT says, property by property.
struct Reader<'a> {
    event: &'a ICalendarComponent,
    zones: &'a Zones,
}

impl Reader<'_> {
    fn text(&self, property: &ICalendarProperty) -> SmolStr {
        let entry = self.event.property(property);
        // calcard takes a comma for a separator in some properties; a text is one text.
        let parts: Vec<&str> =
            entry.map(|entry| entry.values.iter().filter_map(|value| value.as_text()).collect()).unwrap_or_default();
        SmolStr::from(parts.join(","))
    }

    fn word(&self, property: &ICalendarProperty) -> String {
        match self.event.property(property).and_then(|entry| entry.values.first()) {
            Some(ICalendarValue::Status(status)) => status.as_str().to_owned(),
            Some(ICalendarValue::Transparency(transparency)) => transparency.as_str().to_owned(),
            Some(value) => value.as_text().unwrap_or_default().to_owned(),
            None => String::new(),
        }
    }

    fn number(&self, property: &ICalendarProperty) -> i64 {
        self.event.property(property).and_then(|entry| entry.values.first()?.as_integer()).unwrap_or_default()
    }

    fn moment(&self, property: &ICalendarProperty) -> Option<Moment> {
        let entry = self.event.property(property)?;
        self.moment_of(entry, entry.values.first()?.as_partial_date_time()?)
    }

    fn moment_of(&self, entry: &ICalendarEntry, time: &PartialDateTime) -> Option<Moment> {
        let wall = wall_of(time.to_date_time()?.date_time)?;
        let zone = match (time.hour, time.tz_hour, entry.tz_id()) {
            (None, ..) => Zone::Date,
            (Some(_), Some(0), _) if time.tz_minute.unwrap_or_default() == 0 => Zone::Utc,
            // A time whose zone nobody knows floats, and the event says so (see [`unknown_zones`]).
            (Some(_), _, Some(id)) => self.zones.resolve(id).unwrap_or(Zone::Floating),
            (Some(_), _, None) => Zone::Floating,
        };
        Some(Moment::new(wall, zone))
    }

    fn end(&self, start: &Moment) -> Moment {
        let duration = || {
            let entry = self.event.property(&ICalendarProperty::Duration)?;
            let Some(ICalendarValue::Duration(duration)) = entry.values.first() else { return None };
            Some(start.later(duration.as_seconds().clamp(0, DURATION_DAYS_MAX * DAY_SECONDS)))
        };
        let end = self.moment(&ICalendarProperty::Dtend).or_else(duration);
        let end = end.unwrap_or_else(|| start.later(if start.is_date() { DAY_SECONDS } else { 0 }));
        let end = match (start.is_date(), end.is_date()) {
            (true, false) => {
                let day = end.day() + i64::from(end.wall_seconds % DAY_SECONDS != 0);
                Moment::new(day * DAY_SECONDS, Zone::Date)
            }
            (false, true) => Moment::new(end.wall_seconds, start.zone.clone()),
            (true, true) | (false, false) => end,
        };
        let lasts = end.rough_instant() - start.rough_instant();
        if lasts < 0 {
            start.clone()
        } else if lasts > DURATION_DAYS_MAX * DAY_SECONDS {
            start.later(DURATION_DAYS_MAX * DAY_SECONDS)
        } else {
            end
        }
    }

    fn has_range(&self) -> bool {
        self.event
            .property(&ICalendarProperty::RecurrenceId)
            .is_some_and(|entry| entry.has_parameter(&ICalendarParameterName::Range))
    }

    fn dates(&self, property: &ICalendarProperty) -> Vec<Moment> {
        let entries = self.event.properties(property);
        let dates = entries.flat_map(|entry| {
            entry.values.iter().filter_map(move |value| self.moment_of(entry, value.as_partial_date_time()?))
        });
        dates.take(RECURRENCE_DATES_MAX).collect()
    }

    fn extra_dates(&self) -> Vec<(Moment, Option<i64>)> {
        let entries = self.event.properties(&ICalendarProperty::Rdate);
        let dates = entries.flat_map(|entry| {
            entry.values.iter().filter_map(move |value| {
                if let ICalendarValue::PartialDateTime(time) = value {
                    return Some((self.moment_of(entry, time)?, None));
                }
                let ICalendarValue::Period(period) = value else { return None };
                match period {
                    ICalendarPeriod::Range { start, end } => {
                        let start = self.moment_of(entry, start)?;
                        let lasts = self.moment_of(entry, end)?.wall_seconds - start.wall_seconds;
                        Some((start, Some(lasts.max(0))))
                    }
                    ICalendarPeriod::Duration { start, duration } => {
                        Some((self.moment_of(entry, start)?, Some(duration.as_seconds().max(0))))
                    }
                }
            })
        });
        dates.take(RECURRENCE_DATES_MAX).collect()
    }
}

fn party(entry: &ICalendarEntry) -> Option<Party> {
    let address = entry.calendar_address().or_else(|| entry.values.first()?.as_text())?;
    let address = address.trim();
    let bare =
        address.get(..7).filter(|start| start.eq_ignore_ascii_case("mailto:")).map_or(address, |_| &address[7..]);
    let name = entry.parameter(&ICalendarParameterName::Cn).and_then(|value| value.as_text()).unwrap_or_default();
    Some(Party { address: bare.to_lowercase().into(), name: name.into() })
}

fn attendee(entry: &ICalendarEntry) -> Option<Attendee> {
    let answer = entry.parameter(&ICalendarParameterName::Partstat).and_then(|value| value.as_text());
    let answer = answer.unwrap_or("NEEDS-ACTION").to_ascii_uppercase();
    Some(Attendee { party: party(entry)?, answer: answer.into() })
}

/// Returns the triggers of the alarms, as they are written.
fn alarms(bytes: &[u8]) -> Vec<SmolStr> {
    let triggers = lines(bytes).into_iter().filter(|line| line.depth == 2 && line.name == "TRIGGER");
    let texts = triggers.map(|line| String::from_utf8_lossy(&unfold(line.bytes)).into_owned());
    texts.filter_map(|text| Some(SmolStr::from(text.split_once(':')?.1))).take(20).collect()
}

/// Returns the zones that the event's own lines name and that nobody knows.
fn unknown_zones(bytes: &[u8], zones: &Zones) -> Vec<SmolStr> {
    tzids(bytes)
        .into_iter()
        .filter(|id| !id.is_empty() && zones.resolve(id).is_none())
        .take(UNKNOWN_ZONES_MAX)
        .collect()
}

fn identity(bytes: &[u8]) -> BlobId {
    let kept = lines(bytes).into_iter().filter(|line| line.depth > 1 || !VOLATILE.contains(&line.name.as_str()));
    let mut kept: Vec<Vec<u8>> = kept.map(|line| unfold(line.bytes)).collect();
    kept.sort_unstable();
    BlobId::of(&kept.join(&b'\n'))
}

/// Returns whether the type is a date.
pub(crate) const DATE: ICalendarValueType = ICalendarValueType::Date;
