//! Changing an event: all of it, one instance, or one instance and all that follow. Changing one makes an exception; changing those that follow
//! ends the series before them and begins another.

use calcard::icalendar::ICalendarProperty;
use dayshift_engine::{Context, Decision, Rejection, SmolStr, ToolCall, map};

use super::component::Component;
use super::create::{host, with_reached};
use super::draft::{
    Changes, check_rule, check_times, free, invited, plain_changes, rule_text, set_attendees, set_times, times,
};
use super::event::CalendarEvent;
use super::limits::EXCEPTIONS_MAX;
use super::lookup::{Found, instance_of, reread};
use super::moment::{Moment, Zone};
use super::series::Instance;
use super::split::{Split, moved, split_at};
use super::state::CalendarState;
use super::write;
use crate::service::Desk;

/// Which instances of an event a call means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// One instance.
    One,
    /// One instance and all later ones.
    Following,
    /// All.
    All,
}

impl Scope {
    /// Returns the scope that the call names for an event that repeats or does not.
    pub(crate) fn of(call: &ToolCall, found: &Found<'_>) -> Result<Self, Rejection> {
        let scope = match call.optional_text("scope") {
            Some("one") => Self::One,
            Some("following") => Self::Following,
            Some(_) => Self::All,
            None if found.series.repeats() => {
                return Err(Rejection::new(
                    "calendar/which-instances",
                    "the event repeats; give scope: one or following with recurrence_id, or all",
                ));
            }
            None => Self::All,
        };
        if !found.series.repeats() {
            return Ok(Self::All);
        }
        if scope != Self::All && call.optional_text("recurrence_id").is_none() {
            return Err(Rejection::new(
                "calendar/which-instance",
                "scope one and following need recurrence_id; calendar.events shows those of the instances",
            ));
        }
        Ok(scope)
    }
}

impl CalendarState {
    pub(crate) fn decide_update(
        &self,
        call: &ToolCall,
        desk: &Desk,
        context: &Context<'_>,
    ) -> Result<Decision<CalendarEvent>, Rejection> {
        let found = self.find(call, context.frame)?;
        let scope = Scope::of(call, &found)?;
        let instance = call
            .optional_text("recurrence_id")
            .map(|id| instance_of(&found, id, desk.zone, context.budget()))
            .transpose()?;
        let work = Work { call, desk, context, found: &found };
        if !work.is_moving() && (call.get("zone").is_some() || call.get("all_day").is_some()) {
            return Err(Rejection::new(
                "calendar/bad-time",
                "zone and all_day say how start and end are meant; give start and end with them",
            ));
        }
        let mut events = Vec::new();
        let (uid, after) = match (scope, &instance) {
            (Scope::One, Some(instance)) => (found.uid.clone(), work.one(instance)?),
            (Scope::Following, Some(instance)) => {
                let at = instance.recurrence_id.clone().unwrap_or_else(|| instance.start.clone());
                let base = format!("{}-{}", found.uid, at.show().replace([':', '-', '+'], ""));
                let uid = free(&base, |uid| self.is_taken(uid, context));
                let split = split_at(&found, &at, Some(&uid), desk.zone, context)?;
                match split {
                    Split::Both { before, after } => {
                        self.save(&found, found.uid.clone(), before, &mut events, context)?;
                        let after = work.all(&after, Some(instance))?;
                        (uid, after)
                    }
                    Split::Whole => (found.uid.clone(), work.all(&found.series.components, Some(instance))?),
                }
            }
            (Scope::All, _) | (Scope::One | Scope::Following, None) => {
                (found.uid.clone(), work.all(&found.series.components, instance.as_ref())?)
            }
        };
        let shown = after.iter().find(|each| is_of(each, instance.as_ref(), scope, desk)).or(after.first());
        let shown =
            shown.ok_or_else(|| Rejection::new("calendar/unknown-instance", "there is nothing left to change"))?;
        let answer = map! {
            "calendar" => found.calendar.clone(),
            "uid" => uid.clone(),
            "start" => shown.start.show_in(desk.zone),
            "end" => shown.end.show_in(desk.zone),
            "recurrence_id" => shown.recurrence_id.as_ref().map(|id| id.show_in(desk.zone)),
        };
        let reached = self.save(&found, uid, after, &mut events, context)?;
        Ok(Decision::change(events, with_reached(answer, reached)))
    }

    /// Adds that an event has these components now, here and, if its organiser's calendar is this one, with everybody invited. An event without
    /// components is deleted. Returns whom it reached.
    pub(crate) fn save(
        &self,
        found: &Found<'_>,
        uid: SmolStr,
        components: Vec<Component>,
        events: &mut Vec<CalendarEvent>,
        context: &Context<'_>,
    ) -> Result<Vec<SmolStr>, Rejection> {
        let calendar = found.calendar.clone();
        let before: &[Component] = if uid == found.uid { &found.series.components } else { &[] };
        let organizes = |each: &Component| match (&each.organizer, &found.info.owner) {
            (Some(organizer), Some(owner)) => organizer.address == *owner,
            // A shared calendar: whoever changes it speaks for it.
            (Some(_), None) => true,
            (None, _) => false,
        };
        let is_organizers = before.iter().chain(&components).any(organizes);
        let mut reached = Vec::new();
        let mut copies = Vec::new();
        if is_organizers {
            reached = self.carry(&calendar, &uid, before, &components, &mut copies, context)?;
        }
        events.push(if components.is_empty() {
            CalendarEvent::EventDeleted { calendar, uid }
        } else {
            CalendarEvent::EventSaved { calendar, uid, components }
        });
        events.append(&mut copies);
        Ok(reached)
    }
}

/// Returns whether the component is the one that a call was about.
fn is_of(component: &Component, instance: Option<&Instance<'_>>, scope: Scope, desk: &Desk) -> bool {
    let id = instance.and_then(|instance| instance.recurrence_id.as_ref()).map(|id| id.instant(desk.zone));
    match scope {
        Scope::One => component.recurrence_id.as_ref().map(|id| id.instant(desk.zone)) == id,
        Scope::Following | Scope::All => component.recurrence_id.is_none(),
    }
}

/// One update at work.
struct Work<'a> {
    call: &'a ToolCall,
    desk: &'a Desk,
    context: &'a Context<'a>,
    found: &'a Found<'a>,
}

impl Work<'_> {
    /// Returns the components after a change of one instance.
    fn one(&self, instance: &Instance<'_>) -> Result<Vec<Component>, Rejection> {
        if self.call.get("rrule").is_some() {
            return Err(Rejection::new("calendar/bad-rule", "one instance has no rule; use scope following or all"));
        }
        let id = instance.recurrence_id.clone().unwrap_or_else(|| instance.start.clone());
        let (start, end) = self.new_times(&instance.start, &instance.end, false)?;
        let mut changes = self.changes(instance.component)?;
        set_times(&mut changes, &start, &end);
        let changed = exception(self.found, instance, &id, changes, self.desk, self.context)?;
        Ok(with_exception(self.found, changed, self.desk))
    }

    /// Returns the components after a change of all of them. The times given are those of `instance`, or of the first.
    fn all(&self, components: &[Component], instance: Option<&Instance<'_>>) -> Result<Vec<Component>, Rejection> {
        let Some(main) = components.first() else { return Ok(Vec::new()) };
        let repeats = main.repeats() || self.call.get("rrule").is_some();
        let base = instance.map_or((&main.start, &main.end), |instance| (&instance.start, &instance.end));
        let (start, end) = self.new_times(base.0, base.1, repeats)?;
        // Another day of an instance moves the series by as much.
        let shift = if base.0.zone == start.zone { start.wall_seconds - base.0.wall_seconds } else { 0 };
        let start = if instance.is_some() && base.0.zone == start.zone { main.start.later(shift) } else { start };
        let end = if instance.is_some() { resized(&start, base, &end, shift, main) } else { end };
        let is_moving = self.is_moving();
        if is_moving {
            check_times(&start, &end, self.desk)?;
        }
        let is_new_rule = self.call.get("rrule").is_some();
        let is_reset = main.recurrence_id.is_none() && (is_new_rule || start.zone != main.start.zone);
        let mut out = Vec::new();
        for component in components {
            if is_reset && component.recurrence_id.is_some() {
                continue;
            }
            let mut changes = self.changes(component)?;
            match &component.recurrence_id {
                None => {
                    // Odd times that came with a file stay as odd as they are until somebody gives others.
                    if is_moving {
                        set_times(&mut changes, &start, &end);
                    }
                    self.rule(&mut changes, component, &start, shift)?;
                    shift_dates(&mut changes, component, shift, is_reset);
                }
                Some(id) if shift != 0 => {
                    changes.set("RECURRENCE-ID", recurrence_id(component, &id.later(shift)));
                    set_times(&mut changes, &component.start.later(shift), &component.end.later(shift));
                }
                Some(_) => {}
            }
            out.push(self.rewritten(component, &changes)?);
        }
        Ok(out)
    }

    /// Returns the times after the change: an end that is not given keeps the length.
    fn new_times(&self, old_start: &Moment, old_end: &Moment, repeats: bool) -> Result<(Moment, Moment), Rejection> {
        let (start, end) = times(self.call, repeats, self.desk)?;
        // A time given with an offset keeps the zone in which the event hangs, unless another is asked for.
        let keep = |new: Moment, old: &Moment| {
            if self.call.get("zone").is_none() && !new.is_date() && !old.is_date() {
                Moment::new(old.zone.wall(new.instant(self.desk.zone), self.desk.zone), old.zone.clone())
            } else {
                new
            }
        };
        let start = start.map(|start| keep(start, old_start));
        let end = end.map(|end| keep(end, old_end));
        let (start, end) = match (start, end) {
            (Some(start), Some(end)) => (start, end),
            (Some(start), None) => {
                if start.is_date() != old_start.is_date() {
                    return Err(Rejection::new(
                        "calendar/bad-time",
                        "the event changes between all day and hours; give end too",
                    ));
                }
                let lasts = old_end.instant(self.desk.zone) - old_start.instant(self.desk.zone);
                let end = if old_start.zone == old_end.zone {
                    start.later(old_end.wall_seconds - old_start.wall_seconds)
                } else {
                    let zone = old_end.zone.clone();
                    Moment::new(zone.wall(start.instant(self.desk.zone) + lasts, self.desk.zone), zone)
                };
                (start, end)
            }
            (None, Some(end)) => (old_start.clone(), end),
            (None, None) => return Ok((old_start.clone(), old_end.clone())),
        };
        check_times(&start, &end, self.desk)?;
        Ok((start, end))
    }

    fn is_moving(&self) -> bool {
        self.call.get("start").is_some() || self.call.get("end").is_some()
    }

    /// Returns the lines that the call sets in `component`, but for times and rule.
    fn changes(&self, component: &Component) -> Result<Changes, Rejection> {
        let mut changes = plain_changes(self.call)?;
        if let Some(parties) = invited(self.call)? {
            let organizer = match &component.organizer {
                Some(party) => party.clone(),
                None => {
                    let host = host(self.desk, self.found.info)?;
                    if !parties.is_empty() {
                        changes.set("ORGANIZER", write::organizer(&host.organizer, host.sent_by));
                    }
                    host.organizer
                }
            };
            set_attendees(&mut changes, &parties, Some(component), &organizer.address);
        }
        Ok(changes)
    }

    fn rule(&self, changes: &mut Changes, old: &Component, start: &Moment, seconds: i64) -> Result<(), Rejection> {
        match rule_text(self.call) {
            Some("") => changes.take_out("RRULE"),
            Some(text) => {
                check_rule(text, start, self.context.budget())?;
                changes.set("RRULE", write::bare("RRULE", text));
            }
            None if seconds != 0 && old.rules.iter().any(|rule| rule.until.is_some()) => {
                for rule in &old.rules {
                    changes.set("RRULE", write::bare("RRULE", &moved(rule, start, seconds)));
                }
            }
            None => {}
        }
        Ok(())
    }

    fn rewritten(&self, component: &Component, changes: &Changes) -> Result<Component, Rejection> {
        rewritten(self.found, component, changes.clone(), self.context)
    }
}

/// Returns the end of all instances when one of them got `end`.
fn resized(start: &Moment, base: (&Moment, &Moment), end: &Moment, moved: i64, main: &Component) -> Moment {
    if end.zone != base.1.zone {
        return end.clone();
    }
    let longer = (end.wall_seconds - base.1.wall_seconds) - moved;
    if main.end.zone == start.zone {
        start.later(main.end.wall_seconds - main.start.wall_seconds + longer)
    } else {
        main.end.later(moved + longer)
    }
}

/// Sets the extra and excepted dates of a series that moved, or takes the excepted ones out of one that got another rule.
fn shift_dates(changes: &mut Changes, component: &Component, moved: i64, is_reset: bool) {
    if is_reset {
        changes.take_out("EXDATE");
        return;
    }
    if moved == 0 {
        return;
    }
    for date in &component.except_dates {
        let date = if date.is_date() { date.clone() } else { in_zone(date, &component.start.zone).later(moved) };
        changes.set("EXDATE", write::moment(ICalendarProperty::Exdate, &date));
    }
    for (date, _) in component.extra_dates.iter().filter(|(_, lasts)| lasts.is_none()) {
        let date = in_zone(date, &component.start.zone).later(moved);
        changes.set("RDATE", write::moment(ICalendarProperty::Rdate, &date));
    }
}

/// Returns the same time on the wall of `zone`.
pub(crate) fn in_zone(date: &Moment, zone: &Zone) -> Moment {
    match (&date.zone, zone) {
        (Zone::Date | Zone::Floating, _) | (_, Zone::Date | Zone::Floating) => date.clone(),
        _ => Moment::new(zone.wall(date.rough_instant(), chrono_tz::UTC), zone.clone()),
    }
}

/// Returns the RECURRENCE-ID line `id` of a component, with its RANGE.
pub(crate) fn recurrence_id(component: &Component, id: &Moment) -> String {
    let line = write::moment(ICalendarProperty::RecurrenceId, id);
    if !component.and_following {
        return line;
    }
    line.replacen("RECURRENCE-ID", "RECURRENCE-ID;RANGE=THISANDFUTURE", 1)
}

/// Returns `component` with changed lines and a later SEQUENCE.
pub(crate) fn rewritten(
    found: &Found<'_>,
    component: &Component,
    mut changes: Changes,
    context: &Context<'_>,
) -> Result<Component, Rejection> {
    stamp(&mut changes, component.sequence + 1, context);
    let bytes = context.load(&component.source)?;
    name(&mut changes, &bytes, &found.uid);
    reread(changes.apply(&bytes), component.place, &found.shelf.zones(), context)
}

/// Sets the UID of a component that came in without one: what it got was made of its bytes, which change now.
pub(crate) fn name(changes: &mut Changes, component: &[u8], uid: &SmolStr) {
    let is_named = super::source::lines(component).iter().any(|line| line.depth == 1 && line.name == "UID");
    if !is_named {
        changes.set("UID", write::text(ICalendarProperty::Uid, uid));
    }
}

/// Sets what every change of an event sets.
pub(crate) fn stamp(changes: &mut Changes, sequence: i64, context: &Context<'_>) {
    changes.set("SEQUENCE", write::bare("SEQUENCE", &sequence.to_string()));
    changes.set("DTSTAMP", write::stamp(ICalendarProperty::Dtstamp, context.time));
    changes.set("LAST-MODIFIED", write::stamp(ICalendarProperty::LastModified, context.time));
}

/// Returns the changed instance `id` of a series, made of what it was before and `changes`.
pub(crate) fn exception(
    found: &Found<'_>,
    instance: &Instance<'_>,
    id: &Moment,
    mut changes: Changes,
    desk: &Desk,
    context: &Context<'_>,
) -> Result<Component, Rejection> {
    let old = instance.component;
    let is_there = old.recurrence_id.as_ref().map(|id| id.instant(desk.zone)) == Some(id.instant(desk.zone));
    if !is_there {
        if found.series.exceptions().len() >= EXCEPTIONS_MAX {
            return Err(Rejection::new(
                "calendar/too-many-exceptions",
                format!("a series has at most {EXCEPTIONS_MAX} changed instances; change the following ones instead"),
            ));
        }
        for name in ["RRULE", "RDATE", "EXDATE"] {
            changes.take_out(name);
        }
        changes.set("RECURRENCE-ID", write::moment(ICalendarProperty::RecurrenceId, id));
    }
    let mut component = rewritten(found, old, changes, context)?;
    if !is_there {
        component.place = found.shelf.next_place;
    }
    Ok(component)
}

/// Returns all components of the event with `changed` in its place.
pub(crate) fn with_exception(found: &Found<'_>, changed: Component, desk: &Desk) -> Vec<Component> {
    let id = changed.recurrence_id.as_ref().map(|id| id.instant(desk.zone));
    let same = |each: &&Component| each.recurrence_id.as_ref().map(|id| id.instant(desk.zone)) != id;
    found.series.components.iter().filter(same).cloned().chain([changed]).collect()
}
