//! Cutting a series in two: what comes before an instance, and it with what follows.

use std::ops::ControlFlow;

use calcard::icalendar::ICalendarProperty;
use chrono_tz::Tz;
use dayshift_engine::{Budget, Context, OverBudget, Rejection, SmolStr};

use super::component::Component;
use super::draft::Changes;
use super::lookup::{Found, reread};
use super::moment::{DAY_SECONDS, Moment, Zone};
use super::rule::Rule;
use super::update::{in_zone, name, stamp};
use super::write;

/// A series, cut.
pub(crate) enum Split {
    /// Nothing comes before the instance: it is the first.
    Whole,
    /// The components before, and those from the instance on, under another UID; none of these if none was asked for.
    Both {
        /// What comes before.
        before: Vec<Component>,
        /// What follows.
        after: Vec<Component>,
    },
}

/// Cuts the series before the instance `at`. What follows gets `uid`; without one it is left out.
pub(crate) fn split_at(
    found: &Found<'_>,
    at: &Moment,
    uid: Option<&SmolStr>,
    local: Tz,
    context: &Context<'_>,
) -> Result<Split, Rejection> {
    let instant = at.instant(local);
    let is_before = |date: &Moment| date.instant(local) < instant;
    let Some(master) = found.series.master() else {
        let (before, _): (Vec<Component>, Vec<Component>) = found
            .series
            .components
            .iter()
            .cloned()
            .partition(|each| each.recurrence_id.as_ref().is_some_and(is_before));
        return Ok(if before.is_empty() { Split::Whole } else { Split::Both { before, after: Vec::new() } });
    };
    if !is_before(&master.start) {
        return Ok(Split::Whole);
    }
    let mut earlier = Changes::default();
    let mut later = Changes::default();
    for rule in &master.rules {
        let passed = passed(rule, master, instant, local, context.budget())?;
        earlier.set("RRULE", write::bare("RRULE", &ended(rule, at)));
        later.set("RRULE", write::bare("RRULE", &continued(rule, passed)));
    }
    dates(&mut earlier, master, is_before);
    dates(&mut later, master, |date| !is_before(date));
    let zones = found.shelf.zones();
    let bytes = context.load(&master.source)?;
    stamp(&mut earlier, master.sequence + 1, context);
    name(&mut earlier, &bytes, &found.uid);
    let mut before = vec![reread(earlier.apply(&bytes), master.place, &zones, context)?];
    let mut after = Vec::new();
    let (kept, moved): (Vec<&Component>, Vec<&Component>) =
        found.series.exceptions().iter().partition(|each| each.recurrence_id.as_ref().is_some_and(is_before));
    before.extend(kept.into_iter().cloned());
    if let Some(uid) = uid {
        let place = found.shelf.next_place;
        later.set("UID", write::text(ICalendarProperty::Uid, uid));
        stamp(&mut later, 0, context);
        let start = Moment::new(at.wall_seconds, master.start.zone.clone());
        later.set("DTSTART", write::moment(ICalendarProperty::Dtstart, &start));
        later.set("DTEND", write::moment(ICalendarProperty::Dtend, &end(master, &start)));
        later.take_out("DURATION");
        after.push(reread(later.apply(&bytes), place, &zones, context)?);
        for (each, place) in moved.into_iter().zip(place + 1..) {
            let mut changes = Changes::default();
            changes.set("UID", write::text(ICalendarProperty::Uid, uid));
            let bytes = context.load(&each.source)?;
            after.push(reread(changes.apply(&bytes), place, &zones, context)?);
        }
    }
    Ok(Split::Both { before, after })
}

fn end(master: &Component, start: &Moment) -> Moment {
    if master.start.zone == master.end.zone {
        start.later(master.duration_seconds())
    } else {
        let instant = start.rough_instant() + master.duration_seconds();
        Moment::new(master.end.zone.wall(instant, Tz::UTC), master.end.zone.clone())
    }
}

/// Sets the extra and excepted dates that `belongs` lets through.
fn dates(changes: &mut Changes, master: &Component, belongs: impl Fn(&Moment) -> bool) {
    changes.take_out("EXDATE");
    changes.take_out("RDATE");
    for date in master.except_dates.iter().filter(|date| belongs(date)) {
        changes.set("EXDATE", write::moment(ICalendarProperty::Exdate, &in_zone(date, &master.start.zone)));
    }
    for (date, _) in master.extra_dates.iter().filter(|(date, _)| belongs(date)) {
        changes.set("RDATE", write::moment(ICalendarProperty::Rdate, &in_zone(date, &master.start.zone)));
    }
}

/// Returns how many instances of a counted rule come before the instant.
fn passed(rule: &Rule, master: &Component, instant: i64, local: Tz, budget: &Budget) -> Result<u32, OverBudget> {
    let mut passed = 0;
    if rule.count.is_none() {
        return Ok(passed);
    }
    let start = master.start.wall_seconds;
    rule.walk(start, start..=i64::MAX, budget, |wall| {
        if master.start.zone.instant(wall, local) >= instant {
            return ControlFlow::Break(());
        }
        passed += 1;
        ControlFlow::Continue(())
    })?;
    Ok(passed)
}

/// Returns the rule's text, ending before the instance `at`.
fn ended(rule: &Rule, at: &Moment) -> String {
    let last = match &at.zone {
        Zone::Date => Moment::new(at.wall_seconds - DAY_SECONDS, Zone::Date),
        Zone::Floating => at.later(-1),
        Zone::Utc | Zone::Named(_) | Zone::Custom(_) => Moment::new(at.rough_instant() - 1, Zone::Utc),
    };
    format!("{};UNTIL={}", without(rule, &["COUNT", "UNTIL"]), value_of(&last))
}

/// Returns the rule's text for a series that starts at `start` and has moved by `seconds` on the wall: its end moves along.
pub(crate) fn moved(rule: &Rule, start: &Moment, seconds: i64) -> String {
    let Some(until) = &rule.until else { return rule.text.to_string() };
    let until = match (&until.zone, &start.zone) {
        (_, Zone::Date) => Moment::new(until.later(seconds).day() * DAY_SECONDS, Zone::Date),
        (_, Zone::Floating) => until.later(seconds),
        (_, zone) => {
            let wall = zone.wall(until.rough_instant(), Tz::UTC).saturating_add(seconds);
            Moment::new(zone.instant(wall, Tz::UTC), Zone::Utc)
        }
    };
    format!("{};UNTIL={}", without(rule, &["UNTIL"]), value_of(&until))
}

fn value_of(moment: &Moment) -> String {
    let line = write::moment(ICalendarProperty::Dtstart, moment);
    line.trim_end().rsplit(':').next().unwrap_or_default().to_owned()
}

/// Returns the rule's text with the instances that are left of a counted one.
fn continued(rule: &Rule, passed: u32) -> String {
    match rule.count {
        Some(count) => format!("{};COUNT={}", without(rule, &["COUNT"]), count.saturating_sub(passed).max(1)),
        None => rule.text.to_string(),
    }
}

fn without(rule: &Rule, names: &[&str]) -> String {
    let is_named = |part: &&str| {
        let name = part.split('=').next().unwrap_or_default();
        !part.is_empty() && !names.iter().any(|each| each.eq_ignore_ascii_case(name))
    };
    rule.text.split(';').filter(is_named).collect::<Vec<_>>().join(";")
}
