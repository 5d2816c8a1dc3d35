//! One VEVENT as it was understood once, beside its bytes.

use dayshift_engine::{BlobId, Content, SmolStr};
use serde::{Deserialize, Serialize};

use super::moment::Moment;
use super::rule::Rule;

/// One VEVENT: an event, a series, or one changed instance of a series.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Component {
    /// Its bytes, from BEGIN to END.
    pub source: Content,
    /// The digest of its lines but for DTSTAMP, CREATED, LAST-MODIFIED and SEQUENCE, whose order does not matter: what is graded.
    pub identity: BlobId,
    /// Where it stands among the pieces of its calendar.
    pub place: u64,
    /// Whether it was written here, and did not come with a file.
    pub is_ours: bool,
    /// SUMMARY.
    pub summary: SmolStr,
    /// DESCRIPTION.
    pub description: SmolStr,
    /// LOCATION.
    pub location: SmolStr,
    /// DTSTART.
    pub start: Moment,
    /// DTEND, or what follows from DURATION or from neither; never before the start.
    pub end: Moment,
    /// RECURRENCE-ID: which instance of its series this is.
    pub recurrence_id: Option<Moment>,
    /// Whether the RECURRENCE-ID is for that instance and all after it.
    pub and_following: bool,
    /// RRULE.
    pub rules: Vec<Rule>,
    /// RDATE, with the length in seconds where it is a period.
    pub extra_dates: Vec<(Moment, Option<i64>)>,
    /// EXDATE.
    pub except_dates: Vec<Moment>,
    /// Why its rules are not followed, if they are not.
    pub fault: Option<SmolStr>,
    /// The TZIDs that nobody knows; its times with one of them float.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_zones: Vec<SmolStr>,
    /// STATUS in capitals, empty if there is none.
    pub status: SmolStr,
    /// Whether it leaves its time free (TRANSP).
    pub is_transparent: bool,
    /// SEQUENCE.
    pub sequence: i64,
    /// ORGANIZER.
    pub organizer: Option<Party>,
    /// ATTENDEE.
    pub attendees: Vec<Attendee>,
    /// The TRIGGERs of its alarms as they are written.
    pub alarms: Vec<SmolStr>,
}

/// Somebody by address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Party {
    /// The address in lower case, without `mailto:`.
    pub address: SmolStr,
    /// The name (CN), empty if there is none.
    pub name: SmolStr,
}

/// Somebody who is invited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attendee {
    /// Who.
    pub party: Party,
    /// PARTSTAT in capitals.
    pub answer: SmolStr,
}

impl Component {
    /// Returns whether the component repeats by rules that are followed or by extra dates.
    pub(crate) fn repeats(&self) -> bool {
        !(self.rules.is_empty() && self.extra_dates.is_empty())
    }

    /// Returns how long it lasts: on the wall where start and end hang in one zone, so that a night's work ends at the same hour when the clock
    /// changes, and in real seconds otherwise.
    pub(crate) fn duration_seconds(&self) -> i64 {
        if self.start.zone == self.end.zone {
            self.end.wall_seconds - self.start.wall_seconds
        } else {
            self.end.rough_instant() - self.start.rough_instant()
        }
    }

    /// Returns the attendee with `address`.
    pub(crate) fn attendee(&self, address: &str) -> Option<&Attendee> {
        self.attendees.iter().find(|attendee| attendee.party.address == address)
    }

    /// Returns whether it takes its time: neither transparent nor cancelled.
    pub(crate) fn is_busy(&self) -> bool {
        !self.is_transparent && self.status != "CANCELLED"
    }
}
