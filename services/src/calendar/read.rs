//! The calls that only look: calendars, events within a range, one event, search, free and busy times, conflicts.

use std::collections::{BTreeMap, BTreeSet};

use dayshift_engine::{Budget, Context, Decision, Frame, OverBudget, Rejection, SmolStr, ToolCall, Value, map};

use super::component::{Attendee, Component};
use super::event::CalendarEvent;
use super::limits::SEARCH_TEXT_BYTES_MAX;
use super::lookup::{instance_of, limit_of, span_of};
use super::moment::{DAY_SECONDS, Moment, show_instant};
use super::series::{Instance, RangeFault, Series, Span};
use super::state::CalendarState;
use crate::cursor::{Cursor, Part};
use crate::lowercase::folded;
use crate::service::Desk;

/// An instance with where it is.
pub(crate) struct Placed<'a> {
    pub(crate) calendar: SmolStr,
    pub(crate) uid: &'a SmolStr,
    pub(crate) instance: Instance<'a>,
}

impl CalendarState {
    pub(crate) fn decide_calendars(&self, context: &Context<'_>) -> Result<Decision<CalendarEvent>, Rejection> {
        Ok(Decision::answer(self.list_calendars(context.frame)))
    }

    pub(crate) fn decide_events(
        &self,
        call: &ToolCall,
        desk: &Desk,
        context: &Context<'_>,
    ) -> Result<Decision<CalendarEvent>, Rejection> {
        let limit = limit_of(call)?;
        let names = self.named(call.optional_text("calendar"), context.frame)?;
        let placed = self.placed(&names, span_of(call, desk.zone)?, context.frame)?;
        let after = after(call, 3)?;
        Ok(Decision::answer(self.page(&placed, limit, after.as_ref(), desk, context.frame)))
    }

    pub(crate) fn decide_read(
        &self,
        call: &ToolCall,
        desk: &Desk,
        context: &Context<'_>,
    ) -> Result<Decision<CalendarEvent>, Rejection> {
        let found = self.find(call, context.frame)?;
        let show = |moment: &Moment| moment.show_in(desk.zone);
        let answer = match call.optional_text("recurrence_id") {
            Some(id) => {
                let instance = instance_of(&found, id, desk.zone, context.budget())?;
                let mut row = row(&found.calendar, &found.uid, &instance, desk, &show);
                details(&mut row, instance.component);
                row
            }
            None => whole(&found.calendar, &found.uid, found.series, desk, &show),
        };
        Ok(Decision::answer(answer))
    }

    pub(crate) fn decide_search(
        &self,
        call: &ToolCall,
        desk: &Desk,
        context: &Context<'_>,
    ) -> Result<Decision<CalendarEvent>, Rejection> {
        let text = call.text("text");
        if text.trim().is_empty() || text.len() > SEARCH_TEXT_BYTES_MAX {
            return Err(Rejection::new(
                "calendar/bad-search",
                format!("give a text of 1 to {SEARCH_TEXT_BYTES_MAX} bytes to look for; calendar.events lists a range"),
            ));
        }
        let needle = folded(text);
        let limit = limit_of(call)?;
        let is_ranged = call.get("from").is_some() || call.get("until").is_some();
        let span = span_of(call, desk.zone)?;
        let after = after(call, 2)?;
        let mut last = None;
        let mut is_more = false;
        let mut rows = Vec::new();
        let mut total = 0_usize;
        for name in self.named(call.optional_text("calendar"), context.frame)? {
            let (name, _, shelf) = self.calendar(&name, context.frame)?;
            for (uid, series) in shelf.events.scan(context.frame) {
                let size: usize = series.components.iter().map(text_bytes).sum();
                context.budget().work(8 + size as u64)?;
                if !series.components.iter().any(|component| mentions(component, &needle)) {
                    continue;
                }
                if is_ranged && !reaches(series, span, context.budget())? {
                    continue;
                }
                total += 1;
                let text = |text: &SmolStr| Part::Text(text.to_string());
                let place = Cursor { parts: vec![text(&name), text(uid)], place: 0 };
                if after.as_ref().is_some_and(|after| !place.is_behind(after)) {
                    continue;
                }
                is_more |= rows.len() == limit;
                if rows.len() < limit {
                    last = Some(place);
                    shelf.events.get(context.frame, uid);
                    rows.push(whole(&name, uid, series, desk, &|moment| moment.show_in(desk.zone)));
                }
            }
        }
        let mut page = map! { "events" => rows, "total" => total, "more" => is_more };
        if let (Value::Map(page), Some(last), true) = (&mut page, last, is_more) {
            page.insert("cursor".into(), last.write().into());
        }
        Ok(Decision::answer(page))
    }

    pub(crate) fn decide_free_busy(
        &self,
        call: &ToolCall,
        desk: &Desk,
        context: &Context<'_>,
    ) -> Result<Decision<CalendarEvent>, Rejection> {
        let frame = context.frame;
        let span = span_of(call, desk.zone)?;
        let mut asked: BTreeMap<SmolStr, (Vec<SmolStr>, Option<SmolStr>)> = BTreeMap::new();
        for who in call.texts("who") {
            let address = super::lookup::party(who)?.address;
            let names = self.calendars_of(&address, frame);
            if names.is_empty() {
                return Err(Rejection::new(
                    "calendar/no-calendar",
                    format!("'{address}' has no calendar here; calendar.calendars shows who has one"),
                ));
            }
            asked.insert(address.clone(), (names, Some(address)));
        }
        for name in call.texts("calendars") {
            let (name, info, _) = self.calendar(name, frame)?;
            asked.insert(name.clone(), (vec![name], info.owner.clone()));
        }
        if asked.is_empty() {
            return Err(Rejection::new("calendar/who", "say whose time: give who (addresses) or calendars (names)"));
        }
        let left_out: BTreeSet<&str> = call.texts("without").collect();
        let mut all = Vec::new();
        let mut rows = BTreeMap::new();
        for (key, (names, owner)) in asked {
            let mut placed = self.placed(&self.taking(names, frame), span, frame)?;
            placed.retain(|each| !left_out.contains(each.uid.as_str()));
            let taken = placed.iter().filter(|each| takes(each, owner.as_deref()));
            let busy = merged(taken.map(|each| clipped(&each.instance, span)).collect());
            for each in placed.iter().filter(|each| takes(each, owner.as_deref())) {
                self.note(each, frame);
            }
            all.extend(busy.iter().copied());
            rows.insert(key, busy.iter().map(|range| show_range(*range, desk)).collect());
        }
        let free = gaps(&merged(all), span);
        let free: Value = free.into_iter().map(|range| show_range(range, desk)).collect();
        Ok(Decision::answer(map! { "busy" => Value::Map(rows), "all_free" => free }))
    }

    pub(crate) fn decide_conflicts(
        &self,
        call: &ToolCall,
        desk: &Desk,
        context: &Context<'_>,
    ) -> Result<Decision<CalendarEvent>, Rejection> {
        let frame = context.frame;
        let span = span_of(call, desk.zone)?;
        let limit = limit_of(call)?;
        let mut names: Vec<SmolStr> = call.texts("calendars").map(SmolStr::from).collect();
        if names.is_empty() {
            names = self.named(None, frame)?;
        }
        let names = self.taking(names, frame);
        let mut pairs = Vec::new();
        let mut total = 0_usize;
        for name in names {
            let (name, info, _) = self.calendar(&name, frame)?;
            let placed = self.placed(&[name], span, frame)?;
            let taken: Vec<&Placed<'_>> = placed.iter().filter(|each| takes(each, info.owner.as_deref())).collect();
            for (index, first) in taken.iter().enumerate() {
                let later = taken[index + 1..].iter();
                let overlapping = later.take_while(|second| second.instance.start_instant < first.instance.end_instant);
                for second in overlapping.filter(|second| second.instance.end_instant > second.instance.start_instant) {
                    total += 1;
                    context.budget().work(1)?;
                    if pairs.len() < limit {
                        self.note(first, frame);
                        self.note(second, frame);
                        let show = |placed: &Placed<'_>| {
                            row(&placed.calendar, placed.uid, &placed.instance, desk, &|moment| {
                                moment.show_in(desk.zone)
                            })
                        };
                        pairs.push(Value::List(vec![show(first), show(second)]));
                    }
                }
            }
        }
        let is_more = total > pairs.len();
        Ok(Decision::answer(map! { "conflicts" => pairs, "total" => total, "more" => is_more }))
    }

    /// Returns those of the calendars `names` in which what stands takes time, and notes the reads.
    pub(crate) fn taking(&self, names: Vec<SmolStr>, frame: &Frame) -> Vec<SmolStr> {
        let leaves_free = |name: &SmolStr| self.calendars.get(frame, name).is_some_and(|info| info.free);
        names.into_iter().filter(|name| !leaves_free(name)).collect()
    }

    /// Returns all calendars for people.
    pub(crate) fn list_calendars(&self, frame: &Frame) -> Value {
        let names: Vec<SmolStr> = self.calendars.list(frame).cloned().collect();
        let shown = names.iter().filter_map(|name| {
            let info = self.calendars.get(frame, name)?;
            let shelf = self.shelf(frame, name)?;
            drop(shelf.events.list(frame));
            let mut shown = map! {
                "name" => name.clone(),
                "owner" => info.owner.clone(),
                "description" => info.description.clone(),
                "events" => shelf.events.len(),
            };
            if let (true, Value::Map(shown)) = (info.free, &mut shown) {
                shown.insert("leaves_time_free".into(), true.into());
            }
            Some(shown)
        });
        shown.collect()
    }

    /// Returns the calendar `name`, or all.
    pub(crate) fn named(&self, name: Option<&str>, frame: &Frame) -> Result<Vec<SmolStr>, Rejection> {
        match name {
            Some(name) => Ok(vec![self.calendar(name, frame)?.0]),
            None => Ok(self.calendars.list(frame).cloned().collect()),
        }
    }

    /// Returns the instances in these calendars that overlap `span`, in order of time.
    pub(crate) fn placed(&self, names: &[SmolStr], span: Span, frame: &Frame) -> Result<Vec<Placed<'_>>, Rejection> {
        let mut placed = Vec::new();
        for name in names {
            let (calendar, _, shelf) = self.calendar(name, frame)?;
            let within = shelf.within(frame, span)?;
            placed.extend(within.into_iter().map(|(uid, instance)| Placed {
                calendar: calendar.clone(),
                uid,
                instance,
            }));
        }
        if names.len() > 1 {
            placed.sort_by_key(|each| each.instance.start_instant);
        }
        Ok(placed)
    }

    /// Notes that an event was shown.
    pub(crate) fn note(&self, placed: &Placed<'_>, frame: &Frame) {
        if let Some(shelf) = self.peek_shelf(&placed.calendar) {
            shelf.events.get(frame, placed.uid);
        }
    }

    fn page(&self, placed: &[Placed<'_>], limit: usize, after: Option<&Cursor>, desk: &Desk, frame: &Frame) -> Value {
        let is_left = |each: &&Placed<'_>| after.is_none_or(|after| cursor_at(each).is_behind(after));
        let mut left = placed.iter().filter(is_left);
        let shown: Vec<&Placed<'_>> = left.by_ref().take(limit).collect();
        let rows: Value = shown
            .iter()
            .map(|each| {
                self.note(each, frame);
                let mut row = row(&each.calendar, each.uid, &each.instance, desk, &|moment| moment.show_in(desk.zone));
                answers(&mut row, each.instance.component);
                row
            })
            .collect();
        let is_more = left.next().is_some();
        let mut page = map! { "events" => rows, "total" => placed.len(), "more" => is_more };
        if let (Value::Map(page), Some(last), true) = (&mut page, shown.last(), is_more) {
            page.insert("cursor".into(), cursor_at(last).write().into());
        }
        page
    }
}

/// Returns where a page ended, as the call says. Its order has `parts` parts.
fn after(call: &ToolCall, parts: usize) -> Result<Option<Cursor>, Rejection> {
    let read = |text: &str| {
        Cursor::read(text, parts).ok_or_else(|| {
            Rejection::new(
                "calendar/bad-cursor",
                format!("'{text}' is not a cursor of this listing; ask again without one, and follow what it answers"),
            )
        })
    };
    call.optional_text("cursor").map(read).transpose()
}

/// Returns the place of an instance in a listing.
fn cursor_at(placed: &Placed<'_>) -> Cursor {
    let text = |text: &SmolStr| Part::Text(text.to_string());
    let instance = &placed.instance;
    let id = instance.recurrence_id.as_ref().map_or(0, |id| id.wall_seconds.cast_unsigned() ^ (1 << 63));
    Cursor { parts: vec![Part::Whole(instance.start_instant), text(&placed.calendar), text(placed.uid)], place: id }
}

/// Returns whether an instance takes the time of `owner`: it is busy, and the owner has not declined.
fn takes(placed: &Placed<'_>, owner: Option<&str>) -> bool {
    let component = placed.instance.component;
    let answer = owner.and_then(|owner| component.attendee(owner)).map(|attendee| attendee.answer.as_str());
    component.is_busy() && answer != Some("DECLINED")
}

/// Returns whether any instance lies within the range. Most do soon after its begin, if at all, so that is where it is looked first.
fn reaches(series: &Series, span: Span, budget: &Budget) -> Result<bool, OverBudget> {
    let soon = Span { until: span.until.min(span.from.saturating_add(400 * DAY_SECONDS)), ..span };
    for span in [soon, span] {
        match series.within(span, budget) {
            Ok(found) if found.is_empty() => {}
            // A series with too many instances within the range is surely within it.
            Ok(_) | Err(RangeFault::TooMany) => return Ok(true),
            Err(RangeFault::OverBudget(over)) => return Err(over),
        }
    }
    Ok(false)
}

/// Returns how much text a search looks at.
fn text_bytes(component: &Component) -> usize {
    let people = component.attendees.iter().map(|attendee| &attendee.party).chain(&component.organizer);
    let people: usize = people.map(|party| party.address.len() + party.name.len()).sum();
    component.summary.len() + component.description.len() + component.location.len() + people
}

fn mentions(component: &Component, needle: &str) -> bool {
    let has = |text: &str| folded(text).contains(needle);
    let people = component.attendees.iter().map(|attendee| &attendee.party).chain(&component.organizer);
    has(&component.summary)
        || has(&component.description)
        || has(&component.location)
        || people.into_iter().any(|party| has(&party.address) || has(&party.name))
}

fn clipped(instance: &Instance<'_>, span: Span) -> (i64, i64) {
    (instance.start_instant.max(span.from), instance.end_instant.min(span.until))
}

fn merged(mut ranges: Vec<(i64, i64)>) -> Vec<(i64, i64)> {
    ranges.retain(|(start, end)| start < end);
    ranges.sort_unstable();
    let mut out: Vec<(i64, i64)> = Vec::new();
    for (start, end) in ranges {
        match out.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            Some(_) | None => out.push((start, end)),
        }
    }
    out
}

fn gaps(busy: &[(i64, i64)], span: Span) -> Vec<(i64, i64)> {
    let mut free = Vec::new();
    let mut from = span.from;
    for (start, end) in busy {
        if from < *start {
            free.push((from, *start));
        }
        from = *end;
    }
    if from < span.until {
        free.push((from, span.until));
    }
    free
}

fn show_range((start, end): (i64, i64), desk: &Desk) -> Value {
    map! { "start" => show_instant(start, desk.zone), "end" => show_instant(end, desk.zone) }
}

/// Returns an instance as a listing shows it. What is empty is left out.
pub(crate) fn row(
    calendar: &str,
    uid: &str,
    instance: &Instance<'_>,
    desk: &Desk,
    show: &dyn Fn(&Moment) -> String,
) -> Value {
    let mut row = map! {
        "calendar" => calendar,
        "uid" => uid,
        "start" => show(&instance.start),
        "end" => show(&instance.end),
    };
    common(&mut row, instance.component, desk);
    if let (Value::Map(row), Some(id)) = (&mut row, &instance.recurrence_id) {
        row.insert("recurrence_id".into(), show(id).into());
    }
    row
}

/// Returns an event with all that is known of it.
pub(crate) fn whole(
    calendar: &str,
    uid: &str,
    series: &Series,
    desk: &Desk,
    show: &dyn Fn(&Moment) -> String,
) -> Value {
    let main = series.main();
    let mut row = map! {
        "calendar" => calendar,
        "uid" => uid,
        "start" => show(&main.start),
        "end" => show(&main.end),
    };
    common(&mut row, main, desk);
    details(&mut row, main);
    if let Value::Map(row) = &mut row {
        let exceptions: Vec<Value> = series
            .exceptions()
            .iter()
            .map(|each| {
                map! {
                    "recurrence_id" => each.recurrence_id.as_ref().map(show),
                    "start" => show(&each.start),
                    "end" => show(&each.end),
                    "summary" => each.summary.clone(),
                }
            })
            .collect();
        if !exceptions.is_empty() {
            row.insert("exceptions".into(), Value::List(exceptions));
        }
        if !main.except_dates.is_empty() {
            row.insert("except_dates".into(), main.except_dates.iter().map(show).collect());
        }
        if !main.extra_dates.is_empty() {
            row.insert("extra_dates".into(), main.extra_dates.iter().map(|(date, _)| show(date)).collect());
        }
    }
    row
}

fn common(row: &mut Value, component: &Component, desk: &Desk) {
    let Value::Map(row) = row else { return };
    row.insert("summary".into(), component.summary.clone().into());
    row.insert("all_day".into(), component.start.is_date().into());
    let mut optional = |name: &'static str, value: Option<Value>| {
        if let Some(value) = value {
            row.insert(name.into(), value);
        }
    };
    let text = |text: &SmolStr| (!text.is_empty()).then(|| Value::from(text.clone()));
    optional("location", text(&component.location));
    optional("status", (!component.status.is_empty()).then(|| component.status.to_ascii_lowercase().into()));
    optional("zone", component.start.zone.name().map(Value::from));
    optional("rrule", component.rules.first().map(|rule| rule.text.clone().into()));
    let unknown = component.unknown_zones.iter().map(|id| format!("'{id}'")).collect::<Vec<_>>().join(", ");
    let unknown = format!("no time zone is called {unknown}; the times are shown as they stand in the file");
    optional("zone_unknown", (!component.unknown_zones.is_empty()).then(|| unknown.into()));
    optional("not_repeated_because", component.fault.as_ref().map(|fault| fault.clone().into()));
    optional("busy", component.is_transparent.then_some(Value::Bool(false)));
    let mine = component.attendee(&desk.address).map(|attendee| attendee.answer.to_ascii_lowercase());
    optional("my_answer", mine.map(Value::from));
}

/// Adds whether the event takes its time, and who has answered what.
fn answers(row: &mut Value, component: &Component) {
    let Value::Map(row) = row else { return };
    row.insert("busy".into(), component.is_busy().into());
    if !component.attendees.is_empty() {
        let answer = |each: &Attendee| (each.party.address.clone(), each.answer.to_ascii_lowercase().into());
        row.insert("answers".into(), Value::Map(component.attendees.iter().map(answer).collect()));
    }
}

/// Adds what a listing leaves out.
pub(crate) fn details(row: &mut Value, component: &Component) {
    let Value::Map(row) = row else { return };
    if !component.description.is_empty() {
        row.insert("description".into(), component.description.clone().into());
    }
    if let Some(organizer) = &component.organizer {
        row.insert("organizer".into(), organizer.address.clone().into());
    }
    if !component.attendees.is_empty() {
        let shown = component.attendees.iter().map(|attendee| {
            map! {
                "address" => attendee.party.address.clone(),
                "name" => attendee.party.name.clone(),
                "answer" => attendee.answer.to_ascii_lowercase(),
            }
        });
        row.insert("attendees".into(), shown.collect());
    }
    if !component.alarms.is_empty() {
        row.insert("alarms".into(), component.alarms.clone().into());
    }
}
