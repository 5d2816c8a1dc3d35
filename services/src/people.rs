//! The people of the office: who is who (names, addresses, roles), the office's time zone and hours, and what personas remember between
//! two moments. It says at which desk a caller sits; it does not decide what a persona does.
//!
//! Keys: `people:NAME` is a person, `people:` who there is, `people:office/settings` zone and hours, `people:memory/NAME` a persona's
//! memory, which no check grades.

mod decide;
mod event;
mod state;
mod tools;

use dayshift_engine::{
    Applying, Context, Decision, Difference, Looking, Rejection, StateDigest, ToolCall, ToolSpec, Value,
};

use crate::service::{Desk, Service};

pub use event::{PeopleEvent, Workday};
pub use state::{PeopleState, Person};

/// The longest name of a person, in bytes.
pub const PERSON_NAME_BYTES_MAX: usize = 64;
/// The longest display name, address or role, in bytes.
pub const PERSON_TEXT_BYTES_MAX: usize = 254;
/// How many people an office has at most.
pub const PEOPLE_MAX: usize = 2000;
/// How many people one `people.list` shows.
pub const PEOPLE_SHOWN_MAX: usize = 200;
/// The largest memory of a persona, in bytes of compact JSON (64 KiB).
pub const MEMORY_BYTES_MAX: usize = 64 << 10;

impl Service for PeopleState {
    type Event = PeopleEvent;

    const TOOLS: &'static [ToolSpec] = tools::TOOLS;

    fn decide(&self, call: &ToolCall, _desk: &Desk, context: &Context<'_>) -> Result<Decision<PeopleEvent>, Rejection> {
        self.decide_command(tools::Command::parse(call)?, context)
    }

    fn apply(&mut self, event: PeopleEvent, applying: &mut Applying<'_>) {
        self.change(event, applying);
    }

    fn query(&self, verb: &str, arguments: &Value, _desk: &Desk, looking: &Looking<'_>) -> Result<Value, Rejection> {
        self.answer_question(verb, arguments, looking)
    }

    fn digest(&self) -> StateDigest {
        self.people.digest()
    }

    fn differences(&self, other: &Self, into: &mut Vec<Difference>) {
        let show = |person: Option<&Person>| person.map(Person::show);
        let differences = self.people.differences(&other.people).into_iter();
        into.extend(differences.map(|(key, left, right)| Difference { key, left: show(left), right: show(right) }));
    }

    fn dump(&self) -> Value {
        Value::Map(self.people.peek_all().map(|(name, person)| (name.clone(), person.show())).collect())
    }
}

#[cfg(test)]
mod tests;
