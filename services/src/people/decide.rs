//! What follows from a command on the directory: events and an answer, or a refusal.

use dayshift_engine::{Context, Decision, Frame, Rejection, SmolStr, Value, map};

use super::PEOPLE_MAX;
use super::event::PeopleEvent;
use super::state::{PeopleState, Person};
use super::tools::Command;

type Decided = Result<Decision<PeopleEvent>, Rejection>;

impl PeopleState {
    pub(super) fn decide_command(&self, command: Command<'_>, context: &Context<'_>) -> Decided {
        match command {
            Command::Introduce { name, display, address, role, agent } => {
                self.check_introduction(&name, &address, agent, context.frame)?;
                let answer = map! { "name" => name.clone(), "address" => address.clone() };
                let event = PeopleEvent::PersonIntroduced { name, display, address, role, agent };
                Ok(Decision::change(vec![event], answer))
            }
            Command::Settle { zone, workday, without } => {
                let answer = map! { "zone" => zone.name() };
                Ok(Decision::change(vec![PeopleEvent::OfficeSettled { zone, workday, without }], answer))
            }
            Command::Remember { persona, memory } => {
                let answer = map! { "persona" => persona.clone() };
                Ok(Decision::change(vec![PeopleEvent::MemoryKept { persona, memory: memory.clone() }], answer))
            }
            Command::List { query, limit } => Ok(Decision::answer(self.list(query.as_deref(), limit, context.frame))),
            Command::Read { name } => match self.person(name, context.frame) {
                Some(person) => Ok(Decision::answer(person.show_as(name))),
                None => Err(Rejection::new(
                    "people/unknown-person",
                    format!("nobody is called {name:?}; look with people.list who there is"),
                )),
            },
        }
    }

    fn check_introduction(&self, name: &SmolStr, address: &str, agent: bool, frame: &Frame) -> Result<(), Rejection> {
        if let Some(other) = self.agent().filter(|other| agent && *other != name) {
            return Err(Rejection::new(
                "people/agent-taken",
                format!("the agent is {other:?} already; introduce {name:?} as a colleague"),
            ));
        }
        let mut others = self.people.scan(frame).filter(|(other, _)| *other != name);
        if let Some((other, _)) = others.find(|(_, person)| person.address == address) {
            return Err(Rejection::new(
                "people/address-taken",
                format!("{address} belongs to {other:?}; give every person an address of their own"),
            ));
        }
        if self.people.len() >= PEOPLE_MAX && self.people.peek(name).is_none() {
            return Err(Rejection::new(
                "people/too-many",
                format!("an office has at most {PEOPLE_MAX} people; introduce fewer"),
            ));
        }
        Ok(())
    }

    fn list(&self, query: Option<&str>, limit: usize, frame: &Frame) -> Value {
        let names: Vec<&SmolStr> = match query {
            None => self.people.list(frame).collect(),
            Some(query) => {
                let fits = |(name, person): &(&SmolStr, &Person)| {
                    let texts =
                        [name.as_str(), &person.display, &person.address, person.role.as_deref().unwrap_or_default()];
                    texts.iter().any(|text| text.to_lowercase().contains(query))
                };
                self.people.scan(frame).filter(fits).map(|(name, _)| name).collect()
            }
        };
        let shown = names.iter().take(limit);
        let shown: Value =
            shown.filter_map(|name| self.people.get(frame, name).map(|person| person.show_as(name))).collect();
        map! { "people" => shown, "total" => names.len() }
    }
}
