//! Who changed what of a row, and when. Ungraded: it tells how a world came about, not what it is.

use std::fmt;
use std::sync::Arc;

use dayshift_engine::{Actor, Canonical, Graded, Seq, SimTime, SmolStr, Value, map};

/// How many entries a row's history may have; beyond it the older half is forgotten (the log still has it).
pub const AUDIT_ENTRIES_MAX: usize = 1_000;

/// The name of a row's history: `records:table/id/audit`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct AuditOf(pub(super) SmolStr);

impl fmt::Display for AuditOf {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)?;
        formatter.write_str("/audit")
    }
}

/// What happened to a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Created,
    Changed,
    Removed,
}

/// One thing that happened to a row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AuditEntry {
    pub(super) seq: Seq,
    pub(super) time: SimTime,
    pub(super) actor: Actor,
    pub(super) what: What,
    pub(super) action: Option<SmolStr>,
    pub(super) changes: Vec<FieldChange>,
}

/// One field that changed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FieldChange {
    pub(super) field: SmolStr,
    pub(super) from: Value,
    pub(super) to: Value,
}

/// The history of one row: a list that shares its past, so that adding to it costs one allocation, forked or not.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Audit {
    last: Option<Arc<Link>>,
    length: usize,
    forgotten: usize,
}

#[derive(Debug, PartialEq)]
struct Link {
    entry: AuditEntry,
    before: Option<Arc<Link>>,
}

impl Audit {
    /// Adds an entry.
    pub(super) fn push(&mut self, entry: AuditEntry) {
        if self.length >= AUDIT_ENTRIES_MAX {
            *self = self.newer_half();
        }
        self.last = Some(Arc::new(Link { entry, before: self.last.take() }));
        self.length += 1;
    }

    /// Returns the entries, oldest first.
    pub(super) fn entries(&self) -> Vec<&AuditEntry> {
        let mut entries = Vec::with_capacity(self.length);
        let mut next = self.last.as_deref();
        while let Some(link) = next {
            entries.push(&link.entry);
            next = link.before.as_deref();
        }
        entries.reverse();
        entries
    }

    /// Returns who created the row, if that is still known.
    pub(super) fn created_by(&self) -> Option<&Actor> {
        let mut link = self.last.as_deref()?;
        while let Some(before) = link.before.as_deref() {
            link = before;
        }
        (link.entry.what == What::Created).then_some(&link.entry.actor)
    }

    /// Returns how many older entries have been forgotten.
    pub(super) fn forgotten(&self) -> usize {
        self.forgotten
    }

    fn newer_half(&self) -> Self {
        let entries = self.entries();
        let dropped = entries.len() / 2;
        let last = entries[dropped..]
            .iter()
            .fold(None, |before, entry| Some(Arc::new(Link { entry: (*entry).clone(), before })));
        Self { last, length: entries.len() - dropped, forgotten: self.forgotten + dropped }
    }
}

impl Graded for Audit {
    fn canonical(&self, _into: &mut Canonical) {}
}

impl AuditEntry {
    /// Returns the entry as one value: `time` is shown by `show_time`, the actor by `show_actor`.
    pub(super) fn value(
        &self,
        show_time: impl Fn(SimTime) -> String,
        show_actor: impl Fn(&Actor) -> String,
        show: impl Fn(&SmolStr, &Value) -> Value,
    ) -> Value {
        let changes = self.changes.iter().map(|change| {
            let pair = map! { "from" => show(&change.field, &change.from), "to" => show(&change.field, &change.to) };
            (change.field.clone(), pair)
        });
        map! {
            "time" => show_time(self.time),
            "by" => show_actor(&self.actor),
            "what" => match self.what {
                What::Created => "created",
                What::Changed => "changed",
                What::Removed => "removed",
            },
            "action" => self.action.clone(),
            "changes" => Value::Map(changes.collect()),
        }
    }
}
