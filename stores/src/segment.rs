//! The parts of the segment store: what it finds when it opens, where records are, and where the next frame goes.

pub(crate) mod index;
pub(crate) mod reader;
pub(crate) mod scan;
pub(crate) mod tail;
