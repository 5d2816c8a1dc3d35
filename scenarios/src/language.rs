//! The language of checks, conditions and personas: Starlark, hermetic and deterministic, with limits. A script asks its questions of a
//! [`Stage`]; what a question means is not known here.
//!
//! The interpreter is the crate `starlark`. Its own way to hand context to native functions wants `unsafe` in this crate; the handler of `print`
//! does not. So a native function leaves its question on the module, calls `print`, and finds the answer there.

mod convert;
mod guard;
mod library;
mod limits;
mod program;
mod vocabulary;

pub use guard::{NESTING_MAX, SOURCE_BYTES_MAX};
pub use library::RANGE_MAX;
pub use limits::{CALL_DEPTH_MAX, HEAP_BYTES_MAX, STATEMENTS_MAX, TICKS_MAX};
pub(crate) use program::{Argument, Failure, Language, Program, Stage};
pub use vocabulary::Vocabulary;
