//! How the command line speaks: progress and sentences on stderr, data on stdout, and three ways to end.

use std::borrow::Cow;
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

/// Prints data and a line end. A reader that closed the pipe has what it wanted. Control characters other than line ends and our own colours
/// are made visible, whatever they came from; text that must stay on its line goes through [`visible`] first.
pub(crate) fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    if writeln!(out, "{}", harmless(text)).is_err() {
        std::process::exit(0);
    }
}

/// Says something on stderr, with control characters made visible.
pub(crate) fn warn(text: &str) {
    eprintln!("{}", harmless(text));
}

/// Returns `text` on one line: every character that could move the cursor, end the line, change the direction of reading or begin a terminal's
/// sequence is shown as a sign for it. For text out of a log or a package.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    shown(text, |_| false)
}

/// Returns `text` with its line ends, and everything else as [`visible`] shows it.
pub(crate) fn visible_lines(text: &str) -> Cow<'_, str> {
    shown(text, |character| character == '\n')
}

fn shown(text: &str, keeps: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(is_control) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if keeps(character) || !is_control(character) {
            out.push(character);
        } else if let Some(picture) = picture(character) {
            out.push(picture);
        } else {
            out.push_str(&format!("<U+{:04X}>", u32::from(character)));
        }
    }
    Cow::Owned(out)
}

/// Returns whether a terminal does something with a character instead of showing it, or shows what follows elsewhere.
fn is_control(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn picture(character: char) -> Option<char> {
    match u32::from(character) {
        code @ 0..=0x1f => char::from_u32(0x2400 + code),
        0x7f => Some('\u{2421}'),
        _ => None,
    }
}

/// Returns what may go to a terminal: line ends and our colours stay, other control characters are shown.
fn harmless(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|character| is_control(character) && character != '\n') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        out.push_str(&visible_lines(&rest[..at]));
        rest = &rest[at..];
        let length = colour(rest).unwrap_or(0);
        out.push_str(&rest[..length]);
        rest = &rest[length..];
        if length == 0 {
            out.push('\u{241b}');
            rest = &rest[1..];
        }
    }
    out.push_str(&visible_lines(rest));
    Cow::Owned(out)
}

/// Returns the length of the colour of ours that `text` begins with.
fn colour(text: &str) -> Option<usize> {
    const OURS: [u8; 6] = [0, BOLD, DIM, RED, GREEN, YELLOW];
    if !colours() {
        return None;
    }
    OURS.iter()
        .map(|colour| format!("\u{1b}[{colour}m"))
        .find(|sequence| text.starts_with(sequence.as_str()))
        .map(|one| one.len())
}

/// Returns JSON with the control characters that JSON leaves as they are escaped.
fn escaped(json: &str) -> Cow<'_, str> {
    if !json.chars().any(|character| is_control(character) && character != '\n') {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        if is_control(character) && character != '\n' {
            out.push_str(&format!("\\u{:04x}", u32::from(character)));
        } else {
            out.push(character);
        }
    }
    Cow::Owned(out)
}

/// Prints a value as pretty JSON.
pub(crate) fn print_json(value: &impl serde::Serialize) {
    match serde_json::to_string_pretty(value) {
        Ok(text) => print(&escaped(&text)),
        Err(error) => warn(&format!("this cannot be written as JSON: {error}")),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_others_stays_on_its_line_and_shows_its_control_characters() {
        assert_eq!(
            visible("a\u{1b}[2J\r\nscore 1.000: passed\u{7f}\u{9b}31m"),
            "a␛[2J␍␊score 1.000: passed␡<U+009B>31m"
        );
        assert_eq!(visible("\u{202e}dessap"), "<U+202E>dessap");
        assert_eq!(visible("Grüße, 日本 👩\u{200d}💻"), "Grüße, 日本 👩\u{200d}💻");
        assert_eq!(visible_lines("a\nb\u{8}"), "a\nb␈");
    }

    #[test]
    fn nothing_that_is_printed_moves_the_cursor() {
        // Tests write to no terminal, so no colour is ours here either.
        assert_eq!(harmless("a\u{1b}[32mb\u{1b}]0;title\u{7}\n\tc"), "a␛[32mb␛]0;title␇\n␉c");
    }

    #[test]
    fn json_keeps_its_meaning_when_its_control_characters_are_escaped() {
        let value = serde_json::json!({ "text": "a\u{9b}b\u{202e}c\u{1b}\n" });
        let text = serde_json::to_string(&value).expect("JSON");
        let escaped = escaped(&text);
        assert!(!escaped.chars().any(is_control), "{escaped}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).expect("JSON"), value);
    }
}
