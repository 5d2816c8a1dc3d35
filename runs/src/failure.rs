//! Scripts of a scenario that failed while an episode ran. The episode goes on, and its log says which script and why.

use dayshift_engine::codec::{CodecError, Stored};
use dayshift_engine::{CONDITION_FAILED, PERSONA_FAILED, REFERENCE_MISSING, Seq};
use serde::Serialize;

/// One failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ScriptFailure {
    /// The record that says so.
    pub record: Seq,
    /// Whose script: `persona NAME`, `the condition of EVENT` or `the event EVENT`.
    pub script: String,
    /// The stable code.
    pub code: String,
    /// The script's message, with file and line where they are known.
    pub message: String,
}

impl ScriptFailure {
    /// Reads the failure that a record holds, if it does.
    ///
    /// # Errors
    ///
    /// [`CodecError`] when the record does not decode.
    pub fn of(stored: Stored<'_>) -> Result<Option<Self>, CodecError> {
        let outcome = stored.outcome()?;
        let Some(rejection) = outcome.rejection() else { return Ok(None) };
        let head = stored.head()?;
        let event = head.event.as_ref().map(ToString::to_string).unwrap_or_default();
        let script = match &*rejection.code {
            PERSONA_FAILED => head.actor.to_string(),
            CONDITION_FAILED => format!("the condition of '{event}'"),
            REFERENCE_MISSING => format!("the event '{event}'"),
            _ => return Ok(None),
        };
        let (code, message) = (rejection.code.to_string(), rejection.message.clone());
        Ok(Some(Self { record: stored.seq(), script, code, message }))
    }

    /// Returns all failures of a log, in its order.
    ///
    /// # Errors
    ///
    /// [`CodecError`] when a record does not decode.
    pub fn all<'r>(records: impl IntoIterator<Item = &'r std::sync::Arc<[u8]>>) -> Result<Vec<Self>, CodecError> {
        let read = records.into_iter().map(|record| Self::of(Stored::new(record)?));
        read.filter_map(Result::transpose).collect()
    }
}

impl std::fmt::Display for ScriptFailure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} failed at record {}: {}", self.script, self.record, self.message)
    }
}
