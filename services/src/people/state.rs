//! The directory, the office's settings and the personas' memories, how events change them, and how they are read.

use chrono_tz::Tz;
use dayshift_engine::{
    Actor, Applying, Canonical, Collection, Frame, Graded, Key, Looking, Rejection, SmolStr, Tracked, Value, map,
};

use super::event::{PeopleEvent, Workday};
use crate::service::{Desk, unknown_question};

/// The people of the office.
#[derive(Clone, Debug)]
pub struct PeopleState {
    pub(super) people: Collection<SmolStr, Person>,
    memories: Collection<SmolStr, Value>,
    settings: Tracked<Settings>,
    /// The agent's name, for its desk; the person's entry says the same.
    agent: Option<SmolStr>,
}

/// One person of the office.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// The name as it is written in a letter.
    pub display: SmolStr,
    /// The mail address, lower case.
    pub address: SmolStr,
    /// What the person does.
    pub role: Option<SmolStr>,
    /// Whether this is the agent.
    pub is_agent: bool,
}

/// What holds for the whole office.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Settings {
    zone: Tz,
    workday: Option<Workday>,
    without: Vec<SmolStr>,
}

const QUESTIONS: &[&str] = &["list", "memory", "office", "person"];

impl PeopleState {
    /// Returns an office without people, in UTC.
    #[must_use]
    pub fn new() -> Self {
        Self {
            people: Collection::new("people:"),
            memories: Collection::ungraded("people:memory/"),
            settings: Tracked::new(
                Key::new("people:office/settings"),
                Settings { zone: Tz::UTC, workday: None, without: Vec::new() },
            ),
            agent: None,
        }
    }

    /// Returns the desk at which `actor` sits. It is no read: who calls is given with the call. An agent or persona that was not
    /// introduced has no address; the world and the scenario are both called `world`.
    #[must_use]
    pub fn desk(&self, actor: &Actor) -> Desk {
        let name = match actor {
            Actor::Scenario | Actor::World => SmolStr::new_static("world"),
            Actor::Agent => self.agent.clone().unwrap_or(SmolStr::new_static("agent")),
            Actor::Persona(name) => name.clone(),
        };
        let person = self.people.peek(&name);
        let address = person.map(|person| person.address.clone()).unwrap_or_default();
        let display = person.map_or_else(|| name.clone(), |person| person.display.as_str().into());
        Desk { name, display, address, zone: self.settings.peek().zone }
    }

    /// Returns the person called `name` and notes the read.
    pub fn person(&self, name: &str, frame: &Frame) -> Option<&Person> {
        self.people.get(frame, &SmolStr::from(name))
    }

    /// Returns what `persona` remembers and notes the read.
    pub fn memory(&self, persona: &str, frame: &Frame) -> Option<&Value> {
        self.memories.get(frame, &SmolStr::from(persona))
    }

    /// Returns the office's working hours, if they are settled, and notes the read.
    pub fn workday(&self, frame: &Frame) -> Option<Workday> {
        self.settings.get(frame).workday
    }

    /// Returns whether the office has the service `service`. Not a read: what tools there are is the same all through an episode.
    #[must_use]
    pub fn has_service(&self, service: &str) -> bool {
        !self.settings.peek().without.iter().any(|without| without == service)
    }

    /// Returns the name as it is written in a letter of the person called `name`, without noting a read; the bare name of one who is unknown.
    #[must_use]
    pub fn display(&self, name: &SmolStr) -> SmolStr {
        self.people.peek(name).map_or_else(|| name.clone(), |person| person.display.clone())
    }

    /// Returns the agent's name without noting a read.
    pub(super) fn agent(&self) -> Option<&SmolStr> {
        self.agent.as_ref()
    }

    pub(super) fn change(&mut self, event: PeopleEvent, applying: &mut Applying<'_>) {
        match event {
            PeopleEvent::PersonIntroduced { name, display, address, role, agent } => {
                if agent {
                    self.agent = Some(name.clone());
                } else if self.agent.as_ref() == Some(&name) {
                    self.agent = None;
                }
                self.people.insert(applying, name, Person { display, address, role, is_agent: agent });
            }
            PeopleEvent::OfficeSettled { zone, workday, without } => {
                self.settings.set(applying, Settings { zone, workday, without });
            }
            PeopleEvent::MemoryKept { persona, memory } => self.memories.insert(applying, persona, memory),
        }
    }

    pub(super) fn answer_question(
        &self,
        verb: &str,
        arguments: &Value,
        looking: &Looking<'_>,
    ) -> Result<Value, Rejection> {
        let argument = |name: &str| {
            arguments.get(name).and_then(Value::as_text).ok_or_else(|| {
                Rejection::new("query/bad-arguments", format!("the question needs the text argument '{name}'; give it"))
            })
        };
        match verb {
            "list" => Ok(self.people.list(looking.frame).cloned().collect()),
            "person" => {
                let name = argument("name")?;
                Ok(self.person(name, looking.frame).map(|person| person.show_as(name)).into())
            }
            "memory" => Ok(self.memory(argument("persona")?, looking.frame).cloned().unwrap_or_default()),
            "office" => Ok(self.settings.get(looking.frame).show()),
            _ => Err(unknown_question("people", verb, QUESTIONS)),
        }
    }
}

impl Default for PeopleState {
    fn default() -> Self {
        Self::new()
    }
}

impl Person {
    /// Returns the particulars for people.
    pub(super) fn show(&self) -> Value {
        map! {
            "display" => self.display.clone(),
            "address" => self.address.clone(),
            "role" => self.role.clone(),
            "agent" => self.is_agent,
        }
    }

    /// Returns an entry of the directory.
    pub(super) fn show_as(&self, name: &str) -> Value {
        map! {
            "name" => name,
            "display" => self.display.clone(),
            "address" => self.address.clone(),
            "role" => self.role.clone(),
        }
    }
}

impl Graded for Person {
    fn canonical(&self, into: &mut Canonical) {
        into.text(&self.display);
        into.text(&self.address);
        into.text(self.role.as_deref().unwrap_or_default());
        into.bool(self.role.is_some());
        into.bool(self.is_agent);
    }
}

impl Settings {
    fn show(&self) -> Value {
        let clock = |minutes: u16| format!("{:02}:{:02}", minutes / 60, minutes % 60);
        map! {
            "zone" => self.zone.name(),
            "workday_start" => self.workday.map(|workday| clock(workday.start_minutes)),
            "workday_end" => self.workday.map(|workday| clock(workday.end_minutes)),
        }
    }
}
