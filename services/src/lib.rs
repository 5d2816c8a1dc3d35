//! The office: the [`dayshift_engine::World`] that we ship. Each service has its own folder with the same floor plan (state, events and
//! `apply`, commands and `decide`, tools, keys); services do not know each other, and the office joins them.

pub mod calendar;
pub mod chat;
pub mod clock;
mod cursor;
pub mod files;
pub mod knowledge;
mod lowercase;
pub mod mail;
mod office;
pub mod people;
pub mod records;
mod service;
pub mod sheets;
pub mod shell;
#[cfg(test)]
mod testing;

pub use office::{Office, OfficeEvent};
pub use service::{Desk, Service, unknown_question};
