//! Changes to the bytes of an event: lines are set, all others stay.

use calcard::icalendar::ICalendarProperty;
use dayshift_engine::{BlobId, Budget, Rejection, SmolStr, ToolCall};

use super::component::{Attendee, Component, Party};
use super::limits::{ATTENDEES_MAX, DESCRIPTION_BYTES_MAX, DURATION_DAYS_MAX, LINE_BYTES_MAX, RULE_BYTES_MAX};
use super::lookup::{TimeForm, party, time_of};
use super::moment::{DAY_SECONDS, Moment};
use super::rule::RuleFault;
use super::source::edit;
use super::write;
use crate::service::Desk;

/// Lines to set, by name; `None` takes the line out. A name that stands twice is written twice.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes(pub(crate) Vec<(&'static str, Option<String>)>);

impl Changes {
    pub(crate) fn set(&mut self, name: &'static str, line: String) {
        self.0.push((name, Some(line)));
    }

    pub(crate) fn take_out(&mut self, name: &'static str) {
        self.0.push((name, None));
    }

    /// Returns `component` with these lines in place of its own of the same names.
    pub(crate) fn apply(&self, component: &[u8]) -> Vec<u8> {
        let written = |name: &str| -> String {
            self.0.iter().filter(|(each, _)| *each == name).filter_map(|(_, line)| line.as_deref()).collect()
        };
        let mut done: Vec<&str> = Vec::new();
        let present: Vec<String> =
            super::source::lines(component).into_iter().filter(|line| line.depth == 1).map(|line| line.name).collect();
        let mut added = String::new();
        let mut seen: Vec<&str> = Vec::new();
        for (name, _) in &self.0 {
            if !present.iter().any(|each| each == name) && !seen.contains(name) {
                seen.push(name);
                added.push_str(&written(name));
            }
        }
        edit(component, &added, |line| {
            let (name, _) = self.0.iter().find(|(name, _)| *name == line.name)?;
            if done.contains(name) {
                return Some(String::new());
            }
            done.push(name);
            Some(written(name))
        })
    }
}

/// Returns the lines that `call` asks to set apart from times, rule and people.
pub(crate) fn plain_changes(call: &ToolCall) -> Result<Changes, Rejection> {
    let mut changes = Changes::default();
    if let Some(summary) = call.optional_text("summary") {
        if summary.trim().is_empty() || summary.contains(['\n', '\r']) || summary.len() > LINE_BYTES_MAX {
            return Err(Rejection::new(
                "calendar/bad-summary",
                format!("a summary is one line of at most {LINE_BYTES_MAX} bytes; put the rest into description"),
            ));
        }
        changes.set("SUMMARY", write::text(ICalendarProperty::Summary, &clean(summary)));
    }
    let mut long = |name, property, argument, bytes_max: usize| {
        let Some(text) = call.optional_text(argument) else { return Ok(()) };
        if text.len() > bytes_max {
            return Err(Rejection::new(
                "calendar/text-too-long",
                format!("{argument} has {} bytes, at most {bytes_max} are kept; shorten it", text.len()),
            ));
        }
        if text.is_empty() {
            changes.take_out(name);
        } else {
            changes.set(name, write::text(property, &clean(text)));
        }
        Ok(())
    };
    long("DESCRIPTION", ICalendarProperty::Description, "description", DESCRIPTION_BYTES_MAX)?;
    long("LOCATION", ICalendarProperty::Location, "location", LINE_BYTES_MAX)?;
    if let Some(busy) = call.get("busy").and_then(dayshift_engine::Value::as_bool) {
        changes.set("TRANSP", write::bare("TRANSP", if busy { "OPAQUE" } else { "TRANSPARENT" }));
    }
    if let Some(status) = call.optional_text("status") {
        changes.set("STATUS", write::bare("STATUS", &status.to_ascii_uppercase()));
    }
    Ok(changes)
}

/// Takes out what a line of an iCalendar file cannot carry: control characters, and carriage returns before line feeds.
fn clean(text: &str) -> String {
    text.chars().filter(|character| !character.is_control() || matches!(character, '\n' | '\t')).collect()
}

/// Returns start and end as the call gives them, or nothing if it gives neither.
pub(crate) fn times(
    call: &ToolCall,
    repeats: bool,
    desk: &Desk,
) -> Result<(Option<Moment>, Option<Moment>), Rejection> {
    let all_day = call.get("all_day").and_then(dayshift_engine::Value::as_bool);
    let form = TimeForm { zone: call.optional_text("zone"), all_day, repeats };
    let read = |name| call.optional_text(name).map(|text| time_of(name, text, &form, desk)).transpose();
    Ok((read("start")?, read("end")?))
}

/// Refuses times that no event can have.
pub(crate) fn check_times(start: &Moment, end: &Moment, desk: &Desk) -> Result<(), Rejection> {
    if start.is_date() != end.is_date() {
        return Err(Rejection::new(
            "calendar/bad-time",
            "start and end must both be dates or both be times; give both",
        ));
    }
    let lasts = end.instant(desk.zone) - start.instant(desk.zone);
    if lasts < 0 || (start.is_date() && lasts == 0) {
        return Err(Rejection::new(
            "calendar/ends-before-start",
            "the event ends before it starts; give a later end (for all day: the first day after the last)",
        ));
    }
    if lasts > DURATION_DAYS_MAX * DAY_SECONDS {
        return Err(Rejection::new(
            "calendar/too-long",
            format!("an event lasts at most {DURATION_DAYS_MAX} days; make it repeat instead"),
        ));
    }
    Ok(())
}

/// Sets the lines of start and end.
pub(crate) fn set_times(changes: &mut Changes, start: &Moment, end: &Moment) {
    changes.set("DTSTART", write::moment(ICalendarProperty::Dtstart, start));
    changes.set("DTEND", write::moment(ICalendarProperty::Dtend, end));
    changes.take_out("DURATION");
}

/// Returns the text of the call's rule without what people put before it.
pub(crate) fn rule_text(call: &ToolCall) -> Option<&str> {
    let text = call.optional_text("rrule")?.trim();
    Some(text.strip_prefix("RRULE:").unwrap_or(text))
}

/// Checks the text of a rule for an event that starts at `start`.
pub(crate) fn check_rule(text: &str, start: &Moment, budget: &Budget) -> Result<(), Rejection> {
    let is_plain = text.len() <= RULE_BYTES_MAX && text.bytes().all(|byte| byte.is_ascii_graphic());
    let rule = if is_plain { super::parse::parse_rule(text, start, budget) } else { Err(RuleFault::NotUnderstood) };
    match rule {
        Ok(rule) if rule.until.as_ref().is_some_and(|until| until.rough_instant() < start.rough_instant()) => {
            Err(Rejection::new("calendar/bad-rule", "UNTIL lies before the start; give a later one"))
        }
        Ok(_) => Ok(()),
        Err(fault) => Err(fault.into()),
    }
}

/// Returns whom the call invites, each once, or nothing if it does not say.
pub(crate) fn invited(call: &ToolCall) -> Result<Option<Vec<Party>>, Rejection> {
    if call.get("attendees").is_none() {
        return Ok(None);
    }
    let mut parties: Vec<Party> = Vec::new();
    for text in call.texts("attendees") {
        let party = party(text)?;
        if !parties.iter().any(|each| each.address == party.address) {
            parties.push(party);
        }
    }
    if parties.len() > ATTENDEES_MAX {
        return Err(Rejection::new(
            "calendar/too-many-attendees",
            format!("an event has at most {ATTENDEES_MAX} attendees; invite a list's address instead"),
        ));
    }
    Ok(Some(parties))
}

/// Sets the lines of the attendees: who was invited before keeps the answer.
pub(crate) fn set_attendees(changes: &mut Changes, parties: &[Party], before: Option<&Component>, organizer: &str) {
    if parties.is_empty() {
        changes.take_out("ATTENDEE");
    }
    for party in parties {
        let old = before.and_then(|component| component.attendee(&party.address));
        let fresh = if party.address == organizer { "ACCEPTED" } else { "NEEDS-ACTION" };
        let answer = old.map_or(SmolStr::new_static(fresh), |old| old.answer.clone());
        changes.set("ATTENDEE", write::attendee(&Attendee { party: party.clone(), answer }));
    }
}

/// Returns a UID that follows from what an event says.
pub(crate) fn uid_of(content: &[u8], is_taken: impl Fn(&SmolStr) -> bool) -> SmolStr {
    let base = format!("{}@dayshift", BlobId::of(content).short());
    free(&base, is_taken)
}

/// How many numbers are tried one after the other before they are looked for in larger steps.
const TRIED_ONE_BY_ONE: u64 = 16;

/// Returns `base`, or `base` with a number before it that makes it new. However many there are already, few are looked at: steps double until a number
/// is free, and halve between the last taken one and that.
pub(crate) fn free(base: &str, is_taken: impl Fn(&SmolStr) -> bool) -> SmolStr {
    let numbered = |number: u64| if number == 1 { SmolStr::from(base) } else { format!("{number}-{base}").into() };
    let mut taken = 0;
    let mut step = 1;
    loop {
        let uid = numbered(taken + step);
        if !is_taken(&uid) {
            break;
        }
        taken += step;
        step = if taken < TRIED_ONE_BY_ONE { 1 } else { step * 2 };
    }
    let mut free = taken + step;
    while free - taken > 1 {
        let middle = taken + (free - taken) / 2;
        if is_taken(&numbered(middle)) { taken = middle } else { free = middle }
    }
    numbered(free)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn the_next_free_number_is_found_in_a_few_looks() {
        for count in [0_u64, 1, 2, 15, 16, 17, 18, 100, 1_999, 20_000] {
            let looks = Cell::new(0);
            let is_taken = |uid: &SmolStr| {
                looks.set(looks.get() + 1);
                let number = uid.split_once('-').map_or(1, |(number, _)| number.parse().expect("a number"));
                number <= count
            };
            let expected = if count == 0 { "x@y".to_owned() } else { format!("{}-x@y", count + 1) };
            assert_eq!(free("x@y", is_taken), expected);
            assert!(looks.get() <= 45, "{count}: {}", looks.get());
        }
    }
}
