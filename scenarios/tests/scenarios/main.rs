//! Scenarios over a small world of its own: names with values, and inboxes. That it works here proves that the crate knows no office.

mod faults;
mod isolation;
mod limits;
mod playing;
mod toy;
mod words;
