//! What is kept beside a run's log, outside of the chain: who played it, what it scored, how long it took, who signed it. Nothing of it is
//! needed to replay or grade the run, and no record stands behind it: whoever holds the log can write another note. A signature, which covers
//! the agent's name, is what changes that.

use serde::{Deserialize, Serialize};

use crate::signature::Signature;

/// The note beside a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunNote {
    /// The scenario's id.
    pub scenario: String,
    /// The seed.
    pub seed: u64,
    /// Who played, as it was named on the command line.
    pub agent: String,
    /// The score, once the run was graded at its end.
    pub score: Option<f64>,
    /// Whether the episode came to its end.
    pub finished: bool,
    /// How long it took, in wall-clock milliseconds.
    pub wall_millis: u64,
    /// The run and position that it was forked from.
    pub forked_from: Option<(String, u64)>,
    /// The signature of the closed log, if somebody signed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
}

impl RunNote {
    /// Returns the stored form: JSON, so that a person can read it.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a note of plain data is JSON")
    }

    /// Reads the stored form. A note that cannot be read is an empty one: nothing depends on it.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        serde_json::from_slice(bytes).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_round_trips_and_an_unreadable_one_is_empty() {
        let note = RunNote { scenario: "a-v1".into(), seed: 7, score: Some(0.5), ..RunNote::default() };
        assert_eq!(RunNote::from_bytes(&note.to_bytes()), note);
        assert_eq!(RunNote::from_bytes(b"\xff"), RunNote::default());
    }
}
