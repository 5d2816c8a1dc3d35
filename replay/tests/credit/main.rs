//! Credit against its reference: the recorded vectors, and properties on random episodes of a toy workspace.

mod combination;
mod episodes;
mod ledger;
mod properties;
mod replaying;
mod toy;
mod vectors;
