//! The language of checks, conditions and personas: Starlark, hermetic and deterministic, with limits. A script asks its questions of a
//! [`Stage`]; what a question means is not known here.
//!
//! The interpreter is the crate `starlark`. Its own way to hand context to native functions wants `unsafe` in this crate; the handler of `print`
//! does not. So a native function leaves its question on the module, calls `print`, and finds the answer there.

mod convert;
mod guard;
mod isolation;
mod library;
mod limits;
mod methods;
mod program;
mod serve;
mod vocabulary;

pub use guard::{NESTING_MAX, SOURCE_BYTES_MAX};
pub use isolation::{Isolation, SCRIPT_MESSAGE_BYTES_MAX, ScriptHost, ScriptProcess};
pub use library::{RANGE_MAX, TEXT_MADE_BYTES_MAX};
pub use limits::{CALL_DEPTH_MAX, HEAP_BYTES_MAX, SCRIPT_WORK_MAX, STATEMENTS_MAX, TICKS_MAX};
pub(crate) use program::{Argument, Language, Program, Stage};
pub use serve::serve_scripts;
pub use vocabulary::{Verb, Vocabulary};
