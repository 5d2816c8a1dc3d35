//! From a TZID to a zone: what the file itself defines (VTIMEZONE), the IANA database, names that other programs use for its zones, and plain offsets.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use calcard::common::PartialDateTime;
use calcard::common::timezone::Tz as Guess;
use calcard::icalendar::{
    ICalendar, ICalendarComponent, ICalendarComponentType, ICalendarEntry, ICalendarProperty, ICalendarValue,
};
use chrono_tz::Tz;
use dayshift_engine::{Budget, OverBudget, SmolStr};

use super::limits::RULES_MAX;
use super::moment::{CustomZone, DAY_SECONDS, Moment, Zone, wall_of};
use super::parse::{joined, rule_of, whole};
use super::rule::RuleFault;

/// The first and last instants for which a file's own rules are followed (1970 and 2070), in seconds since 1970.
const OWN_RULES_SECONDS: (i64, i64) = (0, 3_155_760_000);
/// The instants between which a file's zone is compared with the database's (2010 and 2037): before, programs write
/// today's rules for ever, whatever the clocks did.
const AGREEMENT_SECONDS: (i64, i64) = (1_262_304_000, 2_114_380_800);
/// How long after its last change a file that lists the changes one by one surely says all: the shortest time between two in common zones, less some.
const CERTAIN_SECONDS: i64 = 120 * DAY_SECONDS;
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

    /// Adds what a VTIMEZONE defines. Returns its TZID, if it has one. What the file says of a zone wins over what the database says of one of that
    /// name; where both say the same, the zone is the database's, which goes on where the file ends.
    ///
    /// # Errors
    ///
    /// What the budget says when it is used up.
    pub(crate) fn define(&mut self, bytes: &[u8], budget: &Budget) -> Result<Option<SmolStr>, OverBudget> {
        budget.work(4 * bytes.len() as u64)?;
        let Some(calendar) = whole(&joined(bytes)) else { return Ok(None) };
        let Some(component) = calendar.components.first() else { return Ok(None) };
        let text = |entry: &ICalendarEntry| entry.values.first().and_then(|value| value.as_text()).map(SmolStr::from);
        let Some(id) = component.property(&ICalendarProperty::Tzid).and_then(text) else { return Ok(None) };
        let lic = component.entries.iter().find(|entry| entry.name.as_str().eq_ignore_ascii_case("X-LIC-LOCATION"));
        let known = database(&id).or_else(|| lic.and_then(text).and_then(|name| database(&name)));
        let zone = match (custom(&id, &calendar, budget)?, known) {
            (Some((own, certain_until)), Some(tz)) if agrees(&own, certain_until, tz) => Some(Zone::of(tz)),
            (Some((own, _)), _) => Some(Zone::Custom(Arc::new(own))),
            (None, known) => known.map(Zone::of),
        };
        if let Some(zone) = zone {
            self.own.entry(id.clone()).or_insert(zone);
        }
        Ok(Some(id))
    }

    /// Returns the zone that `id` names, or nothing if nobody knows one of that name.
    pub(crate) fn resolve(&self, id: &str) -> Option<Zone> {
        if let Some(zone) = self.own.get(id) {
            return Some(zone.clone());
        }
        database(id).map(Zone::of).or_else(|| fixed(id))
    }
}

/// Returns the zone of the database that `id` means: by its own name in any case, or by a name that other programs have for it.
pub(crate) fn database(id: &str) -> Option<Tz> {
    if let Ok(tz) = id.parse::<Tz>() {
        return Some(tz);
    }
    let id = id.trim();
    let same = |tz: &&Tz| tz.name().eq_ignore_ascii_case(id);
    if let Some(tz) = chrono_tz::TZ_VARIANTS.iter().find(same) {
        return Some(*tz);
    }
    let guess = |id: &str| match id.parse::<Guess>() {
        Ok(Guess::Tz(tz)) => Some(tz),
        Ok(Guess::Fixed(_) | Guess::Floating) | Err(()) => None,
    };
    // Outlook numbers the zones of a file that it defines more than once: "W. Europe Standard Time 1".
    guess(id).or_else(|| {
        let (name, number) = id.rsplit_once(' ')?;
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| guess(name.trim_end()))?
    })
}

/// Returns the zone of an offset: `UTC+01:00`, `GMT+0100`, `UTC-5`, `+01:00`.
pub(crate) fn fixed(id: &str) -> Option<Zone> {
    let text = id.trim();
    let prefix = ["UTC", "GMT", "Z"]
        .into_iter()
        .find(|prefix| text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix)));
    let rest = text.get(prefix.map_or(0, str::len)..)?.trim();
    if rest.is_empty() {
        return prefix.map(|_| Zone::Utc);
    }
    let (sign, digits) = match rest.chars().next()? {
        '+' => (1, &rest[1..]),
        '-' => (-1, &rest[1..]),
        '\u{2212}' => (-1, rest.strip_prefix('\u{2212}')?),
        _ => return None,
    };
    if !digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b':') {
        return None;
    }
    let (hours, minutes): (i32, i32) = match digits.split_once(':') {
        Some((hours, minutes)) if minutes.len() == 2 => (hours.parse().ok()?, minutes.parse().ok()?),
        Some(_) => return None,
        None if digits.len() <= 2 => (digits.parse().ok()?, 0),
        None if digits.len() <= 4 => {
            let (hours, minutes) = digits.split_at(digits.len() - 2);
            (hours.parse().ok()?, minutes.parse().ok()?)
        }
        None => return None,
    };
    if hours > 14 || minutes > 59 {
        return None;
    }
    let first_offset_seconds = sign * (hours * 3600 + minutes * 60);
    if first_offset_seconds == 0 {
        return Some(Zone::Utc);
    }
    Some(Zone::Custom(Arc::new(CustomZone { id: id.into(), first_offset_seconds, changes: Vec::new() })))
}

/// Returns whether a file's own zone has the clocks of `tz` from its first change on, as far as the file says.
fn agrees(own: &CustomZone, certain_until: i64, tz: Tz) -> bool {
    let tz = Zone::Named(tz);
    let Some((first, _)) = own.changes.first() else { return false };
    let from = (*first).max(AGREEMENT_SECONDS.0);
    let until = certain_until.min(AGREEMENT_SECONDS.1);
    let same = |instant: i64| tz.wall(instant, Tz::UTC) - instant == i64::from(own.offset_at(instant));
    // Each change of ours, and in between as often as any zone changes.
    let changes = own.changes.iter().map(|(at, _)| *at).filter(|at| (from..=until).contains(at));
    let steps = (from..=until).step_by(20 * DAY_SECONDS as usize);
    changes.flat_map(|at| [at, at.max(from + 1) - 1]).chain(steps).chain([from, until.max(from)]).all(same)
}

/// Returns the zone that a VTIMEZONE defines, and until when it is certain that it says all.
fn custom(id: &SmolStr, calendar: &ICalendar, budget: &Budget) -> Result<Option<(CustomZone, i64)>, OverBudget> {
    let mut changes: Vec<(i64, i32, i32)> = Vec::new();
    let mut goes_on = false;
    for component in &calendar.components {
        if matches!(component.component_type, ICalendarComponentType::Standard | ICalendarComponentType::Daylight) {
            goes_on |= observance(component, &mut changes, budget)?;
        }
    }
    changes.sort_unstable();
    changes.dedup();
    changes.truncate(CHANGES_MAX);
    let Some((_, first_offset_seconds, _)) = changes.first().copied() else { return Ok(None) };
    let last = changes.last().map_or(0, |(at, ..)| *at);
    let certain_until = if goes_on || changes.len() == 1 { last } else { last.saturating_add(CERTAIN_SECONDS) };
    let certain_until = if changes.len() == 1 { i64::MAX } else { certain_until };
    let changes = changes.into_iter().map(|(at, _, to)| (at, to)).collect();
    Ok(Some((CustomZone { id: id.clone(), first_offset_seconds, changes }, certain_until)))
}

/// Adds the changes of one STANDARD or DAYLIGHT: the instant, the offset before and the offset from then on. Returns whether they go on without an end.
fn observance(
    component: &ICalendarComponent,
    changes: &mut Vec<(i64, i32, i32)>,
    budget: &Budget,
) -> Result<bool, OverBudget> {
    let offset = |property| component.property(property).and_then(|entry| seconds_east(entry.values.first()?));
    let (Some(from), Some(to)) = (offset(&ICalendarProperty::Tzoffsetfrom), offset(&ICalendarProperty::Tzoffsetto))
    else {
        return Ok(false);
    };
    let wall = |value: &ICalendarValue| wall_of(value.as_partial_date_time()?.to_date_time()?.date_time);
    let start = component.property(&ICalendarProperty::Dtstart).and_then(|entry| wall(entry.values.first()?));
    let Some(start) = start else { return Ok(false) };
    let mut add = |wall: i64| changes.push((wall - i64::from(from), from, to));
    add(start);
    for entry in component.properties(&ICalendarProperty::Rdate) {
        entry.values.iter().filter_map(wall).take(CHANGES_MAX).for_each(&mut add);
    }
    let mut goes_on = false;
    for entry in component.properties(&ICalendarProperty::Rrule).take(RULES_MAX) {
        let Some(ICalendarValue::RecurrenceRule(rule)) = entry.values.first() else { continue };
        let Some(rule) = rule_of(rule, "", &Zone::Floating) else { continue };
        match rule.check(start, budget) {
            Ok(()) => {}
            Err(RuleFault::OverBudget(over)) => return Err(over),
            Err(_) => continue,
        }
        goes_on |= rule.until.is_none() && rule.count.is_none();
        let until = rule.until.as_ref().map_or(i64::MAX, |until: &Moment| match until.zone {
            Zone::Utc => until.wall_seconds + i64::from(from),
            Zone::Date | Zone::Floating | Zone::Named(_) | Zone::Custom(_) => until.wall_seconds,
        });
        let mut left = CHANGES_MAX;
        rule.walk(start, OWN_RULES_SECONDS.0..=until.min(OWN_RULES_SECONDS.1), budget, |wall| {
            if left == 0 {
                return ControlFlow::Break(());
            }
            left -= 1;
            add(wall);
            ControlFlow::Continue(())
        })?;
    }
    Ok(goes_on)
}

fn seconds_east(value: &ICalendarValue) -> Option<i32> {
    let PartialDateTime { tz_hour, tz_minute, tz_minus, .. } = value.as_partial_date_time()?;
    let seconds = i32::from((*tz_hour)?) * 3600 + i32::from(tz_minute.unwrap_or_default()) * 60;
    Some(if *tz_minus { -seconds } else { seconds })
}
