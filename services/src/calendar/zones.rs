//! From a TZID to a zone: the IANA database, what the file itself defines (VTIMEZONE), and names that other programs use for IANA's zones.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use calcard::common::PartialDateTime;
use calcard::common::timezone::Tz as Guess;
use calcard::icalendar::{ICalendar, ICalendarComponent, ICalendarComponentType, ICalendarProperty, ICalendarValue};
use chrono_tz::Tz;
use dayshift_engine::SmolStr;

use super::moment::{CustomZone, Moment, Zone, wall_of};
use super::parse::{rule_of, whole};

/// The first and last instants for which a file's own rules are followed (1970 and 2070), in seconds since 1970.
const OWN_RULES_SECONDS: (i64, i64) = (0, 3_155_760_000);
/// The most changes of a zone that are kept.
const CHANGES_MAX: usize = 400;

/// The zones that one file defines.
#[derive(Debug, Default)]
pub(crate) struct Zones {
    own: BTreeMap<SmolStr, Zone>,
}

impl Zones {
    /// Returns the zones that were defined before.
    pub(crate) fn known(zones: impl IntoIterator<Item = (SmolStr, Zone)>) -> Self {
        Self { own: zones.into_iter().collect() }
    }

    /// Adds what the VTIMEZONE `text` defines. Returns its TZID, if it has one.
    pub(crate) fn define(&mut self, text: &str) -> Option<SmolStr> {
        let calendar = whole(text)?;
        let component = calendar.components.first()?;
        let id = component.property(&ICalendarProperty::Tzid).and_then(|entry| entry.values.first()?.as_text())?;
        let id = SmolStr::from(id);
        let lic = component.entries.iter().find(|entry| entry.name.as_str().eq_ignore_ascii_case("X-LIC-LOCATION"));
        let lic = lic.and_then(|entry| entry.values.first()?.as_text()?.parse::<Tz>().ok());
        if id.parse::<Tz>().is_err() {
            let zone = lic.map(Zone::of).or_else(|| custom(&id, &calendar).map(|zone| Zone::Custom(Arc::new(zone))));
            if let Some(zone) = zone {
                self.own.entry(id.clone()).or_insert(zone);
            }
        }
        Some(id)
    }

    /// Returns the zone that `id` names; one that nobody knows counts as floating, as Python's icalendar has it.
    pub(crate) fn resolve(&self, id: &str) -> Zone {
        if let Ok(tz) = id.parse::<Tz>() {
            return Zone::of(tz);
        }
        if let Some(zone) = self.own.get(id) {
            return zone.clone();
        }
        match id.parse::<Guess>() {
            Ok(Guess::Tz(tz)) => Zone::of(tz),
            Ok(Guess::Fixed(_) | Guess::Floating) | Err(()) => Zone::Floating,
        }
    }
}

fn custom(id: &SmolStr, calendar: &ICalendar) -> Option<CustomZone> {
    let mut changes: Vec<(i64, i32, i32)> = Vec::new();
    for component in &calendar.components {
        if matches!(component.component_type, ICalendarComponentType::Standard | ICalendarComponentType::Daylight) {
            observance(component, &mut changes);
        }
    }
    changes.sort_unstable();
    changes.dedup();
    changes.truncate(CHANGES_MAX);
    let first_offset_seconds = changes.first()?.1;
    Some(CustomZone {
        id: id.clone(),
        first_offset_seconds,
        changes: changes.into_iter().map(|(at, _, to)| (at, to)).collect(),
    })
}

/// Adds the changes of one STANDARD or DAYLIGHT: the instant, the offset before and the offset from then on.
fn observance(component: &ICalendarComponent, changes: &mut Vec<(i64, i32, i32)>) {
    let offset = |property| component.property(property).and_then(|entry| seconds_east(entry.values.first()?));
    let (Some(from), Some(to)) = (offset(&ICalendarProperty::Tzoffsetfrom), offset(&ICalendarProperty::Tzoffsetto))
    else {
        return;
    };
    let wall = |value: &ICalendarValue| wall_of(value.as_partial_date_time()?.to_date_time()?.date_time);
    let start = component.property(&ICalendarProperty::Dtstart).and_then(|entry| wall(entry.values.first()?));
    let Some(start) = start else { return };
    let mut add = |wall: i64| changes.push((wall - i64::from(from), from, to));
    add(start);
    for entry in component.properties(&ICalendarProperty::Rdate) {
        entry.values.iter().filter_map(wall).take(CHANGES_MAX).for_each(&mut add);
    }
    for entry in component.properties(&ICalendarProperty::Rrule) {
        let Some(ICalendarValue::RecurrenceRule(rule)) = entry.values.first() else { continue };
        let Some(rule) = rule_of(rule, "", &Zone::Floating) else { continue };
        if rule.check(start).is_err() {
            continue;
        }
        let until = rule.until.as_ref().map_or(i64::MAX, |until: &Moment| match until.zone {
            Zone::Utc => until.wall_seconds + i64::from(from),
            Zone::Date | Zone::Floating | Zone::Named(_) | Zone::Custom(_) => until.wall_seconds,
        });
        let mut left = CHANGES_MAX;
        let walked = rule.walk(start, OWN_RULES_SECONDS.0, |wall| {
            if wall > until.min(OWN_RULES_SECONDS.1) || left == 0 {
                return ControlFlow::Break(());
            }
            left -= 1;
            add(wall);
            ControlFlow::Continue(())
        });
        debug_assert!(walked.is_ok(), "a checked rule can be walked");
    }
}

fn seconds_east(value: &ICalendarValue) -> Option<i32> {
    let PartialDateTime { tz_hour, tz_minute, tz_minus, .. } = value.as_partial_date_time()?;
    let seconds = i32::from((*tz_hour)?) * 3600 + i32::from(tz_minute.unwrap_or_default()) * 60;
    Some(if *tz_minus { -seconds } else { seconds })
}
