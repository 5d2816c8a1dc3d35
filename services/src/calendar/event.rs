//! What can happen to calendars. An event carries everything that `apply` needs: components are read before, not again.

use dayshift_engine::{Content, SmolStr};
use serde::{Deserialize, Serialize};

use super::component::Component;

/// One fact about calendars.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CalendarEvent {
    /// A calendar was made, or got other particulars.
    CalendarMade {
        /// Its name.
        calendar: SmolStr,
        /// Whose it is: a mail address in lower case.
        owner: Option<SmolStr>,
        /// What it is for.
        description: SmolStr,
        /// Whether what stands in it leaves the time free, as in a feed of holidays (RFC 6638 section 9.1).
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        free: bool,
    },
    /// A file came in; these pieces of it are no events and are kept as they are.
    PiecesKept {
        /// The calendar.
        calendar: SmolStr,
        /// The pieces by their place.
        pieces: Vec<(u64, Kept)>,
    },
    /// An event was created, imported or changed: these are all its components now.
    EventSaved {
        /// The calendar.
        calendar: SmolStr,
        /// The event's UID.
        uid: SmolStr,
        /// The component that the others change, if there is one, and the changed instances.
        components: Vec<Component>,
    },
    /// An event was deleted, with all its instances.
    EventDeleted {
        /// The calendar.
        calendar: SmolStr,
        /// The event's UID.
        uid: SmolStr,
    },
}

/// A piece of a file that is no event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// What it is.
    pub role: Role,
    /// Its bytes.
    pub bytes: Content,
}

/// What a kept piece is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Everything before the first component.
    Head,
    /// A VTIMEZONE with this TZID, and the zone that it defines if no database knows it.
    Zone {
        /// The TZID.
        id: SmolStr,
        /// The zone.
        zone: super::moment::Zone,
    },
    /// Another component, or lines between components.
    Other,
    /// Everything after the last component.
    Tail,
}
