//! Credit against its reference: the recorded vectors, and properties on random episodes of a toy workspace.

mod toy;
mod vectors;
