//! Credit: from the movements of verdicts to the turns that earned them (design: "Credit: from verdicts to turns").
//!
//! These are the pure algorithms, over plain data: a [`Trace`] of what each record read, wrote and answered, and the
//! [`Movement`]s of the checks. They know no world, no log format and no check language; whoever folds a log fills the inputs.
//! The formulas are this project's own definition.

pub mod advantages;
mod audit;
mod closed;
mod combine;
mod config;
mod edges;
mod entities;
mod error;
mod fidelity;
mod ledger;
mod movement;
mod prerequisites;
mod trace;

pub use audit::{Audit, SHAPLEY_EXACT_TURNS_MAX, SHAPLEY_PERMUTATION_PAIRS, audit};
pub use closed::{ClosedReplay, Ran};
pub use combine::{Centre, Combination, Combined, combine};
pub use config::Config;
pub use edges::{Edge, Edges};
pub use entities::entities;
pub use error::CreditError;
pub use fidelity::{Fidelity, SliceTarget, Soundness, slice_soundness};
pub use ledger::{Entry, Ledger, Row, TurnCredit};
pub use movement::{Check, Crossing, Movement, Verdicts};
pub use prerequisites::{Prerequisites, prerequisites};
pub(crate) use trace::Owners;
pub use trace::{Segment, Step, Trace};
