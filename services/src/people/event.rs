//! What happens to the office's directory: the facts that its state is a fold of.

use chrono_tz::Tz;
use dayshift_engine::{SmolStr, Value};
use serde::{Deserialize, Serialize};

/// One fact about the people of the office.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PeopleEvent {
    /// A person is in the directory, new or with new particulars.
    PersonIntroduced {
        /// The name by which calls and chat know the person.
        name: SmolStr,
        /// The name as it is written in a letter.
        display: SmolStr,
        /// The mail address, lower case.
        address: SmolStr,
        /// What the person does, if that was said.
        role: Option<SmolStr>,
        /// Whether this is the agent.
        agent: bool,
    },
    /// The office keeps this zone and these hours.
    OfficeSettled {
        /// The time zone.
        #[serde(with = "zone_name")]
        zone: Tz,
        /// The working hours, if they were said.
        workday: Option<Workday>,
        /// The services that the office does without: their tools are not offered. Sorted.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        without: Vec<SmolStr>,
    },
    /// A persona remembers this from now on, instead of what it remembered before.
    MemoryKept {
        /// The persona's name.
        persona: SmolStr,
        /// What it remembers.
        memory: Value,
    },
}

/// The working hours of every weekday, in minutes since midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workday {
    /// When it starts.
    pub start_minutes: u16,
    /// When it ends, later than it starts.
    pub end_minutes: u16,
}

/// Stores a zone by its IANA name.
mod zone_name {
    use chrono_tz::Tz;
    use dayshift_engine::SmolStr;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(zone: &Tz, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(zone.name())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Tz, D::Error> {
        let name = SmolStr::deserialize(deserializer)?;
        name.parse().map_err(|_| serde::de::Error::custom(format!("there is no time zone {name:?}")))
    }
}
