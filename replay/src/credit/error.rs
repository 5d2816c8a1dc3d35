//! What can be wrong with the inputs of credit. Nothing here is an agent's mistake: a rejected input is a fault of whoever
//! filled it from a log.

use dayshift_engine::{Seq, SmolStr, Turn};

/// An input that credit cannot be computed from.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CreditError {
    /// Records do not come in the order of their positions, or one has position 0.
    #[error("record {seq} does not follow the records before it: pass steps in log order, from record 1 on")]
    StepOrder {
        /// The record that is out of order.
        seq: Seq,
    },
    /// A record of the agent names no turn.
    #[error("record {seq} is the agent's and has no turn: every agent record belongs to one")]
    TurnMissing {
        /// The record without a turn.
        seq: Seq,
    },
    /// The agent's turns go backwards.
    #[error("record {seq} belongs to turn {turn}, which ended earlier: turns follow each other")]
    TurnOrder {
        /// The record that is out of order.
        seq: Seq,
        /// The turn that it names.
        turn: Turn,
    },
    /// A record depends on itself or on a later one.
    #[error("record {seq} depends on record {source_seq}, which is not earlier: dependencies point backwards")]
    Forward {
        /// The record that depends.
        seq: Seq,
        /// The record that it names.
        source_seq: Seq,
    },
    /// A knob lies outside its range.
    #[error("{name} is {value}, outside {low}..={high}: choose a number inside")]
    Range {
        /// The knob.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The smallest allowed value.
        low: f64,
        /// The largest allowed value.
        high: f64,
    },
    /// A number that must be finite is not, or one that must not be negative is.
    #[error("{what} is {value}: it must be a finite number that is not negative")]
    Number {
        /// What the number stands for.
        what: &'static str,
        /// The number.
        value: f64,
    },
    /// A number is NaN or infinite.
    #[error("{what} is {value}: it must be a finite number")]
    NotFinite {
        /// What the number stands for.
        what: &'static str,
        /// The number.
        value: f64,
    },
    /// A movement names a check that does not exist.
    #[error("a movement names check {check} of {checks}: checks are counted from 0")]
    UnknownCheck {
        /// The index that was named.
        check: usize,
        /// How many checks there are.
        checks: usize,
    },
    /// A movement or crossing names a record that is not in the trace.
    #[error("a verdict names record {seq}, which the trace does not hold: pass every record of the episode")]
    UnknownRecord {
        /// The record that was named.
        seq: Seq,
    },
    /// Two movements of one check do not join.
    #[error("check {check} moves from {before} at record {at}, but stood at {stood}: movements must join")]
    Discontinuous {
        /// The check's id.
        check: SmolStr,
        /// Where the movement was seen.
        at: Seq,
        /// The level that it starts from.
        before: f64,
        /// The level that the check stood at.
        stood: f64,
    },
    /// Lists that describe the same rows differ in length.
    #[error("{what} has {found} rows where {expected} are needed: pass one for each")]
    Length {
        /// Which list.
        what: &'static str,
        /// How long it is.
        found: usize,
        /// How long it must be.
        expected: usize,
    },
}
