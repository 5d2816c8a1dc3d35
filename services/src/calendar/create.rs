//! Creating an event, and carrying an organiser's event into the calendars of those who are invited.

use calcard::icalendar::ICalendarProperty;
use dayshift_engine::{Context, Decision, Rejection, SmolStr, ToolCall, Value, map};

use super::component::{Component, Party};
use super::draft::{
    Changes, check_rule, check_times, invited, plain_changes, rule_text, set_attendees, set_times, times, uid_of,
};
use super::event::CalendarEvent;
use super::limits::{EVENTS_MAX, LINE_BYTES_MAX};
use super::lookup::reread;
use super::series::shown;
use super::state::{CalendarState, Info, Shelf};
use super::write;
use crate::service::Desk;

impl CalendarState {
    pub(crate) fn decide_create(
        &self,
        call: &ToolCall,
        desk: &Desk,
        context: &Context<'_>,
    ) -> Result<Decision<CalendarEvent>, Rejection> {
        let (calendar, info, shelf) = self.calendar(call.text("calendar"), context.frame)?;
        shelf.room(&calendar, 1)?;
        let rule = rule_text(call);
        let (start, end) = times(call, rule.is_some(), desk)?;
        let (Some(start), Some(end)) = (start, end) else {
            return Err(Rejection::new("calendar/bad-time", "an event has a start and an end; give both"));
        };
        check_times(&start, &end, desk)?;
        let mut changes = plain_changes(call)?;
        set_times(&mut changes, &start, &end);
        if let Some(rule) = rule {
            check_rule(rule, &start, context.budget())?;
            changes.set("RRULE", write::bare("RRULE", rule));
        }
        let parties = invited(call)?.unwrap_or_default();
        if !parties.is_empty() {
            let host = host(desk, info)?;
            changes.set("ORGANIZER", write::organizer(&host.organizer, host.sent_by));
            set_attendees(&mut changes, &parties, None, &host.organizer.address);
        }
        let content = changes.apply(b"BEGIN:VEVENT\r\nEND:VEVENT\r\n");
        let is_taken = |uid: &SmolStr| self.is_taken(uid, context);
        let uid = match call.optional_text("uid") {
            Some(uid) => own_uid(uid, &calendar, shelf, context)?,
            None => uid_of(&[calendar.as_bytes(), &content].concat(), is_taken),
        };
        let mut head = Changes::default();
        head.set("UID", write::text(ICalendarProperty::Uid, &uid));
        head.set("DTSTAMP", write::stamp(ICalendarProperty::Dtstamp, context.time));
        head.set("CREATED", write::stamp(ICalendarProperty::Created, context.time));
        let event = reread(head.apply(&content), shelf.next_place, &shelf.zones(), context)?;
        let answer = map! {
            "calendar" => calendar.clone(),
            "uid" => uid.clone(),
            "start" => event.start.show_in(desk.zone),
            "end" => event.end.show_in(desk.zone),
        };
        let mut events = vec![CalendarEvent::EventSaved {
            calendar: calendar.clone(),
            uid: uid.clone(),
            components: vec![event.clone()],
        }];
        let reached = self.carry(&calendar, &uid, &[], &[event], &mut events, context)?;
        Ok(Decision::change(events, with_reached(answer, reached)))
    }

    /// Adds what an organiser's change from `before` to `after` does to the calendars of those invited: who is invited has the event, who no
    /// longer is has it no more. Returns whom it reached.
    pub(crate) fn carry(
        &self,
        calendar: &SmolStr,
        uid: &SmolStr,
        before: &[Component],
        after: &[Component],
        events: &mut Vec<CalendarEvent>,
        context: &Context<'_>,
    ) -> Result<Vec<SmolStr>, Rejection> {
        let frame = context.frame;
        let addresses = |components: &[Component]| -> std::collections::BTreeSet<SmolStr> {
            components.iter().flat_map(|each| each.attendees.iter().map(|each| each.party.address.clone())).collect()
        };
        let (old, new) = (addresses(before), addresses(after));
        let owner = self.calendar(calendar, frame)?.1.owner.as_ref();
        let mut reached = Vec::new();
        // Whose calendar it is has the event already.
        for address in old.union(&new).filter(|address| Some(*address) != owner) {
            // An invitation comes into the first calendar of its owner that is no feed.
            let Some(theirs) = self.taking(self.calendars_of(address, frame), frame).into_iter().next() else {
                continue;
            };
            let (theirs, _, shelf) = self.calendar(&theirs, frame)?;
            let has = shelf.events.contains(frame, uid);
            if !new.contains(address) {
                if has {
                    events.push(CalendarEvent::EventDeleted { calendar: theirs, uid: uid.clone() });
                    reached.push(address.clone());
                }
                continue;
            }
            let places = shelf.events.peek(uid).map(|series| series.main().place);
            if !has {
                shelf.room(&theirs, 1)?;
            }
            let first = places.unwrap_or(shelf.next_place);
            let copy = |(index, each): (usize, &Component)| {
                let place = if index == 0 { first } else { shelf.next_place + index as u64 };
                Component { place, ..each.clone() }
            };
            let components = after.iter().enumerate().map(copy).collect();
            events.push(CalendarEvent::EventSaved { calendar: theirs, uid: uid.clone(), components });
            reached.push(address.clone());
        }
        Ok(reached)
    }

    /// Returns whether any calendar has an event `uid`, so that a new one does not become the other's copy.
    pub(crate) fn is_taken(&self, uid: &SmolStr, context: &Context<'_>) -> bool {
        self.shelves.values().any(|shelf| shelf.events.contains(context.frame, uid))
    }
}

impl Shelf {
    /// Refuses `more` events beyond what a calendar holds.
    pub(crate) fn room(&self, calendar: &str, more: usize) -> Result<(), Rejection> {
        if self.events.len() + more <= EVENTS_MAX {
            return Ok(());
        }
        Err(Rejection::new(
            "calendar/calendar-full",
            format!(
                "'{calendar}' holds {EVENTS_MAX} events, which is all that it can; delete some, or use another calendar"
            ),
        ))
    }
}

/// In whose name an invitation goes out.
pub(crate) struct Host<'a> {
    /// Whose event it is.
    pub(crate) organizer: Party,
    /// Who acts in the organiser's name, if it is somebody else.
    pub(crate) sent_by: Option<&'a str>,
}

/// Returns in whose name somebody at `desk` invites to an event of a calendar: its owner's, so that the calendar in which an event was created
/// is the organiser's, from which changes go out and to which answers come back; or, in a calendar of nobody, the own.
pub(crate) fn host<'a>(desk: &'a Desk, info: &Info) -> Result<Host<'a>, Rejection> {
    let own = (!desk.address.is_empty()).then_some(desk.address.as_str());
    match &info.owner {
        Some(owner) if Some(owner.as_str()) != own => {
            let organizer = Party { address: owner.clone(), name: SmolStr::default() };
            Ok(Host { organizer, sent_by: own })
        }
        Some(_) | None => own
            .map(|address| Party { address: address.into(), name: desk.name.clone() })
            .map(|organizer| Host { organizer, sent_by: None })
            .ok_or_else(|| {
                Rejection::new(
                    "calendar/no-organizer",
                    "nobody sits here who could invite; use a calendar that has an owner",
                )
            }),
    }
}

/// Adds to an answer whose calendars an invitation or a change of it reached.
pub(crate) fn with_reached(mut answer: Value, reached: Vec<SmolStr>) -> Value {
    if let Value::Map(map) = &mut answer
        && !reached.is_empty()
    {
        map.insert("reached".into(), reached.into());
    }
    answer
}

fn own_uid(uid: &str, calendar: &str, shelf: &Shelf, context: &Context<'_>) -> Result<SmolStr, Rejection> {
    if uid.trim().is_empty() || uid.len() > LINE_BYTES_MAX || uid.chars().any(char::is_control) || uid == "*" {
        return Err(Rejection::new("calendar/bad-uid", "a uid is one short line; leave it out to have one made"));
    }
    let uid = SmolStr::from(uid);
    if shelf.events.contains(context.frame, &uid) {
        let event = shown(calendar, &uid);
        return Err(Rejection::new(
            "calendar/event-exists",
            format!("there is an event {event} already; use calendar.update"),
        ));
    }
    Ok(uid)
}
