//! Everything that reads a log back. It never writes to the log that it reads.

pub mod credit;
