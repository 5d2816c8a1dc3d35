//! The facts that the state of `records` is a fold of. They carry everything `apply` needs and are part of the log format: a shape that was
//! shipped is never edited.

use dayshift_engine::{Canonical, Graded, SimTime, SmolStr, Value};
use serde::{Deserialize, Serialize};

/// One fact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordsEvent {
    /// A table came to be, without rows.
    TableDefined {
        /// The author's definition, which `decide` has read without a fault. What can be read once can be read for ever: the language
        /// of definitions only grows.
        definition: Value,
    },
    /// Rows came to be.
    RowsCreated {
        /// The table.
        table: SmolStr,
        /// The rows, in order.
        rows: Vec<NewRow>,
        /// The action that created them, if one did.
        action: Option<SmolStr>,
    },
    /// Fields of a row got new values.
    FieldsChanged {
        /// The table.
        table: SmolStr,
        /// The row.
        id: SmolStr,
        /// The fields and their new values, canonical.
        changes: Vec<(SmolStr, Value)>,
        /// The action that changed them, if one did.
        action: Option<SmolStr>,
    },
    /// A row was removed.
    RowRemoved {
        /// The table.
        table: SmolStr,
        /// The row.
        id: SmolStr,
        /// The action that removed it, if one did.
        action: Option<SmolStr>,
    },
    /// Outages were scheduled, for one table or for all that there are.
    OutageScheduled {
        /// The table; all if absent.
        table: Option<SmolStr>,
        /// The outage.
        outage: Outage,
    },
}

/// A row that came to be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewRow {
    /// The row's id.
    pub id: SmolStr,
    /// The fields that are not empty and their values, canonical.
    pub values: Vec<(SmolStr, Value)>,
}

/// A span of simulated time in which a table does not answer as it should.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outage {
    /// When it starts.
    pub from: SimTime,
    /// When it is over.
    pub until: SimTime,
    /// What goes wrong.
    pub kind: OutageKind,
    /// How many of a hundred calls it hits, 1 to 100.
    pub percent: u8,
}

/// What goes wrong in an outage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutageKind {
    /// Calls are refused with `records/unavailable`.
    Fails,
    /// Calls are refused with `records/rate-limited`.
    RateLimits,
    /// Calls are answered after so many seconds (on a flowing clock).
    Late {
        /// How late.
        seconds: u32,
    },
}

impl Graded for Outage {
    fn canonical(&self, into: &mut Canonical) {
        into.int(self.from.as_millis());
        into.int(self.until.as_millis());
        let (kind, seconds) = match self.kind {
            OutageKind::Fails => ("fails", 0),
            OutageKind::RateLimits => ("rate_limits", 0),
            OutageKind::Late { seconds } => ("late", seconds),
        };
        into.text(kind);
        into.int(i64::from(seconds));
        into.int(i64::from(self.percent));
    }
}
