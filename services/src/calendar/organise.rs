//! Deleting events or instances of them, and answering invitations.

use calcard::icalendar::ICalendarProperty;
use dayshift_engine::{Context, Decision, Rejection, SmolStr, ToolCall, map};

use super::component::Component;
use super::create::with_reached;
use super::draft::Changes;
use super::event::CalendarEvent;
use super::lookup::{Found, instance_of, reread};
use super::moment::Moment;
use super::source::edit;
use super::split::{Split, split_at};
use super::state::CalendarState;
use super::update::{Scope, exception, name, rewritten, with_exception};
use super::write;
use crate::service::Desk;

impl CalendarState {
    pub(crate) fn decide_delete(
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
        let at = instance.map(|instance| instance.recurrence_id.unwrap_or(instance.start));
        let components = match (scope, &at) {
            (Scope::One, Some(at)) => without(&found, at, desk, context)?,
            (Scope::Following, Some(at)) => match split_at(&found, at, None, desk.zone, context)? {
                Split::Whole => Vec::new(),
                Split::Both { before, .. } => before,
            },
            (Scope::All, _) | (Scope::One | Scope::Following, None) => Vec::new(),
        };
        let deleted = match (scope, found.series.repeats()) {
            (Scope::One, _) => "one instance",
            (Scope::Following, _) => "the instance and all following",
            (Scope::All, true) => "all instances",
            (Scope::All, false) => "the event",
        };
        let answer = map! { "calendar" => found.calendar.clone(), "uid" => found.uid.clone(), "deleted" => deleted };
        let mut events = Vec::new();
        let reached = self.save(&found, found.uid.clone(), components, &mut events, context)?;
        Ok(Decision::change(events, with_reached(answer, reached)))
    }

    pub(crate) fn decide_respond(
        &self,
        call: &ToolCall,
        desk: &Desk,
        context: &Context<'_>,
    ) -> Result<Decision<CalendarEvent>, Rejection> {
        let found = self.find(call, context.frame)?;
        let answer = call.text("answer").to_ascii_uppercase();
        let main = found.series.main();
        let is_invited =
            |address: &SmolStr| found.series.components.iter().any(|each| each.attendee(address).is_some());
        let candidates = [Some(&desk.address), found.info.owner.as_ref()];
        let Some(me) = candidates.into_iter().flatten().find(|address| is_invited(address)).cloned() else {
            return Err(Rejection::new(
                "calendar/not-invited",
                "neither you nor the calendar's owner is an attendee of this event; there is nothing to answer",
            ));
        };
        let id = call.optional_text("recurrence_id");
        let components = answered(&found, id, &me, &answer, desk, context)?;
        let (calendar, uid) = (found.calendar.clone(), found.uid.clone());
        let mut events = vec![CalendarEvent::EventSaved { calendar: calendar.clone(), uid: uid.clone(), components }];
        let mut told = None;
        if let Some(organizer) = main.organizer.as_ref().filter(|organizer| organizer.address != me) {
            for name in self.calendars_of(&organizer.address, context.frame) {
                let (name, info, shelf) = self.calendar(&name, context.frame)?;
                let Some(series) = shelf.events.get(context.frame, &uid).filter(|_| name != calendar) else { continue };
                let theirs = Found { calendar: name.clone(), info, shelf, uid: uid.clone(), series };
                // The organiser may have taken the instance or the attendee away meanwhile; then there is nothing to tell.
                if let Ok(components) = answered(&theirs, id, &me, &answer, desk, context) {
                    events.push(CalendarEvent::EventSaved { calendar: name, uid: uid.clone(), components });
                    told = Some(organizer.address.clone());
                }
            }
        }
        let answer =
            map! { "calendar" => calendar, "uid" => uid, "answer" => answer.to_ascii_lowercase(), "told" => told };
        Ok(Decision::change(events, answer))
    }
}

/// Returns the components without the instance `at`.
fn without(found: &Found<'_>, at: &Moment, desk: &Desk, context: &Context<'_>) -> Result<Vec<Component>, Rejection> {
    let instant = at.instant(desk.zone);
    let is_other = |each: &&Component| each.recurrence_id.as_ref().map(|id| id.instant(desk.zone)) != Some(instant);
    let mut components: Vec<Component> = found.series.components.iter().filter(is_other).cloned().collect();
    if let Some(master) = found.series.master() {
        let mut changes = Changes::default();
        let date = Moment::new(at.wall_seconds, master.start.zone.clone());
        for date in master.except_dates.iter().chain([&date]) {
            changes.set("EXDATE", write::moment(ICalendarProperty::Exdate, date));
        }
        let changed = rewritten(found, master, changes, context)?;
        components.retain(|each| each.recurrence_id.is_some());
        components.insert(0, changed);
    }
    Ok(components)
}

/// Returns the components with the answer of the attendee `me` to all of the event or to one instance.
fn answered(
    found: &Found<'_>,
    recurrence_id: Option<&str>,
    me: &str,
    answer: &str,
    desk: &Desk,
    context: &Context<'_>,
) -> Result<Vec<Component>, Rejection> {
    if let Some(id) = recurrence_id.filter(|_| found.series.repeats()) {
        let instance = instance_of(found, id, desk.zone, context.budget())?;
        let id = instance.recurrence_id.clone().unwrap_or_else(|| instance.start.clone());
        let mut changes = Changes::default();
        super::draft::set_times(&mut changes, &instance.start, &instance.end);
        let changed = exception(found, &instance, &id, changes, desk, context)?;
        let changed = Component { sequence: instance.component.sequence, ..changed };
        let changed = with_answer(found, &changed, me, answer, context)?;
        return Ok(with_exception(found, changed, desk));
    }
    found.series.components.iter().map(|each| with_answer(found, each, me, answer, context)).collect()
}

fn with_answer(
    found: &Found<'_>,
    component: &Component,
    me: &str,
    answer: &str,
    context: &Context<'_>,
) -> Result<Component, Rejection> {
    if component.attendee(me).is_none() {
        return Ok(component.clone());
    }
    let bytes = context.load(&component.source)?;
    let needle = me.to_lowercase();
    let mut named = Changes::default();
    name(&mut named, &bytes, &found.uid);
    let changed = edit(&named.apply(&bytes), "", |line| {
        let is_mine = line.name == "ATTENDEE"
            && String::from_utf8_lossy(&super::source::unfold(line.bytes))
                .to_lowercase()
                .ends_with(&format!(":{needle}"));
        if is_mine { write::answered(line, answer) } else { None }
    });
    reread(changed, component.place, &found.shelf.zones(), context)
}
