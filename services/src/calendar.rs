//! Calendars: several by name, with events as RFC 5545 has them, kept as their bytes beside what was understood of them once. It carries no network
//! protocol: doors do that.
//!
//! # Keys
//!
//! | key | what it stands for | graded |
//! |---|---|---|
//! | `calendar:` | which calendars there are | yes |
//! | `calendar:NAME` | whose a calendar is, and what it is for | yes |
//! | `calendar:NAME/` | which events it has; `…/*` the content of all | yes |
//! | `calendar:NAME/UID` | an event with all its instances | yes |
//! | `calendar:NAME#kept/PLACE` | a piece of an imported file that is no event | yes |
//!
//! # What is in a range
//!
//! An instance is in a range when it starts before the range's end and ends after its begin; so one that lasts no time at all is in only when it lies
//! strictly inside. An all-day event lasts from midnight to midnight of whoever asks; a floating one takes place at its hour there.
//!
//! # What is graded of an event
//!
//! Its lines, in any order, but for DTSTAMP, CREATED, LAST-MODIFIED and SEQUENCE. UIDs of events created here follow from what they say, so the
//! same event has the same UID in every world.
//!
//! # Rules
//!
//! A rule runs over the clock on the wall of its event's zone, so that nine o'clock stays nine o'clock when the clocks change. A rule that cannot be
//! followed (not understood, too dense, never happening; see [`limits`]) is refused where it is given; in an imported file the event is kept and
//! takes place once, and its listing says why.

mod backstage;
mod component;
mod create;
mod draft;
mod event;
mod expand;
mod index;
mod known;
pub mod limits;
mod lookup;
mod moment;
mod organise;
mod parse;
mod query;
mod read;
mod rule;
mod series;
mod source;
mod split;
mod state;
#[cfg(test)]
mod tests;
mod tools;
mod update;
mod write;
mod zones;

use std::collections::BTreeSet;

use dayshift_engine::{
    Applying, Collection, Context, Decision, Difference, Looking, Rejection, StateDigest, ToolCall, ToolSpec, Value,
    map,
};

pub use component::{Attendee, Component, Party};
pub use event::{CalendarEvent, Kept, Role};
pub use moment::{CustomZone, Moment, Zone};
pub use rule::{Every, Rule};
pub use state::CalendarState;

use crate::service::{Desk, Service};

impl Service for CalendarState {
    type Event = CalendarEvent;

    const TOOLS: &'static [ToolSpec] = tools::TOOLS;

    fn decide(
        &self,
        call: &ToolCall,
        desk: &Desk,
        context: &Context<'_>,
    ) -> Result<Decision<CalendarEvent>, Rejection> {
        match call.tool.as_str() {
            "calendar.calendars" => self.decide_calendars(context),
            "calendar.conflicts" => self.decide_conflicts(call, desk, context),
            "calendar.create" => self.decide_create(call, desk, context),
            "calendar.delete" => self.decide_delete(call, desk, context),
            "calendar.events" => self.decide_events(call, desk, context),
            "calendar.free_busy" => self.decide_free_busy(call, desk, context),
            "calendar.import" => self.decide_import(call, context),
            "calendar.make" => self.decide_make(call, context),
            "calendar.read" => self.decide_read(call, desk, context),
            "calendar.respond" => self.decide_respond(call, desk, context),
            "calendar.search" => self.decide_search(call, desk, context),
            "calendar.update" => self.decide_update(call, desk, context),
            other => Err(Rejection::new("calendar/unknown-tool", format!("calendar has no tool '{other}'"))),
        }
    }

    fn apply(&mut self, event: CalendarEvent, applying: &mut Applying<'_>) {
        self.apply_event(event, applying);
    }

    fn query(&self, verb: &str, arguments: &Value, desk: &Desk, looking: &Looking<'_>) -> Result<Value, Rejection> {
        self.answer(verb, arguments, desk, looking)
    }

    fn digest(&self) -> StateDigest {
        self.graded_digest()
    }

    fn differences(&self, other: &Self, into: &mut Vec<Difference>) {
        let show = |info: Option<&state::Info>| {
            info.map(|info| {
                map! { "owner" => info.owner.clone(), "description" => info.description.clone(), "free" => info.free }
            })
        };
        let calendars = self.calendars.differences(&other.calendars).into_iter();
        into.extend(calendars.map(|(key, left, right)| Difference { key, left: show(left), right: show(right) }));
        let names: BTreeSet<_> = self.shelves.keys().chain(other.shelves.keys()).collect();
        for name in names {
            let none = Collection::new(format!("calendar:{name}/"));
            let left = self.peek_shelf(name).map_or(&none, |shelf| &shelf.events);
            let right = other.peek_shelf(name).map_or(&none, |shelf| &shelf.events);
            let identities = |series: Option<&series::Series>| {
                series.map(|series| series.components.iter().map(|each| each.identity).collect::<Vec<_>>())
            };
            let differing = left.differences(right).into_iter();
            let differing = differing.filter(|(_, left, right)| identities(*left) != identities(*right));
            into.extend(differing.map(|(key, left, right)| Difference {
                key,
                left: left.map(query::show_series),
                right: right.map(query::show_series),
            }));
            let none = Collection::new(format!("calendar:{name}#kept/"));
            let left = self.peek_shelf(name).map_or(&none, |shelf| &shelf.kept);
            let right = other.peek_shelf(name).map_or(&none, |shelf| &shelf.kept);
            let show = |kept: Option<&Kept>| kept.map(|kept| Value::from(kept.bytes.id().to_string()));
            let pieces = left.differences(right).into_iter();
            into.extend(pieces.map(|(key, left, right)| Difference { key, left: show(left), right: show(right) }));
        }
    }

    fn dump(&self) -> Value {
        self.dump_all()
    }
}
