//! How the command line speaks: progress and sentences on stderr, data on stdout, and three ways to end.

use std::io::{IsTerminal, Write};

use dayshift_engine::{EpisodeError, SimTime};
use dayshift_replay::ReplayError;
use dayshift_replay::credit::CreditError;
use dayshift_runs::RunError;
use dayshift_stores::StoreError;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How a command that could tell ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Good, passed, or the same: exit 0.
    Good,
    /// Failed or different: exit 1.
    Bad,
}

impl Verdict {
    /// Returns good if `truth` holds.
    pub(crate) fn of(truth: bool) -> Self {
        if truth { Self::Good } else { Self::Bad }
    }
}

/// A command that could not tell: exit 2.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl Failure {
    /// Returns a failure with a stable code and a sentence.
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Self::new(error.code(), with_sources(&error))
    }
}

impl From<ReplayError> for Failure {
    fn from(error: ReplayError) -> Self {
        RunError::from(error).into()
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        RunError::from(error).into()
    }
}

impl From<EpisodeError> for Failure {
    fn from(error: EpisodeError) -> Self {
        RunError::from(error).into()
    }
}

impl From<CreditError> for Failure {
    fn from(error: CreditError) -> Self {
        RunError::from(error).into()
    }
}

/// Returns the sentence of an error with those of its causes, where they add something.
fn with_sources(error: &dyn std::error::Error) -> String {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let text = cause.to_string();
        if !message.contains(&text) {
            message = format!("{message}: {text}");
        }
        source = cause.source();
    }
    message
}

/// Prints data and a line end. A reader that closed the pipe has what it wanted.
pub(crate) fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    if writeln!(out, "{text}").is_err() {
        std::process::exit(0);
    }
}

/// Prints a value as pretty JSON.
pub(crate) fn print_json(value: &impl serde::Serialize) {
    match serde_json::to_string_pretty(value) {
        Ok(text) => print(&text),
        Err(error) => eprintln!("this cannot be written as JSON: {error}"),
    }
}

/// Returns a progress bar on stderr, `length` steps long; a spinner if that is not known. It shows only on a terminal.
pub(crate) fn progress(what: &str, length: Option<u64>) -> ProgressBar {
    let target =
        if std::io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(length, target);
    let template = if length.is_some() { "{msg} {wide_bar} {pos}/{len} {eta}" } else { "{msg} {spinner} {pos}" };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.set_message(what.to_owned());
    bar
}

/// Returns whether stdout takes colours.
pub(crate) fn colours() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// Returns `text` in a terminal's colour number, where colours are taken.
pub(crate) fn paint(text: &str, colour: u8) -> String {
    if colours() { format!("\u{1b}[{colour}m{text}\u{1b}[0m") } else { text.to_owned() }
}

/// Returns a simulated time for people, in the office's zone.
pub(crate) fn clock(time: SimTime, zone: chrono_tz::Tz) -> String {
    time.to_chrono().with_timezone(&zone).format("%a %d %b %H:%M").to_string()
}

pub(crate) const GREEN: u8 = 32;
pub(crate) const RED: u8 = 31;
pub(crate) const YELLOW: u8 = 33;
pub(crate) const DIM: u8 = 2;
pub(crate) const BOLD: u8 = 1;
