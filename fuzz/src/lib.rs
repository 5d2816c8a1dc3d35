//! What the targets share: the office that tests use, and a way to run a target's body in which a panic that our code contains is none.

#[path = "../../tests/src/office.rs"]
mod office;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, Once};

use dayshift_engine::Value;

pub use office::Bench;

thread_local! {
    /// Where the last panic was, and what it said.
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs the body of a target. libFuzzer's own hook aborts on every panic, also on one inside a library that our code catches and turns into a
/// refusal, as users get it. Here only a panic that reaches this place is a finding; of the contained ones, each place is told once.
///
/// # Panics
///
/// If the body does: the process ends.
pub fn run(body: impl FnOnce()) {
    static QUIET: Once = Once::new();
    static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    QUIET.call_once(|| {
        panic::set_hook(Box::new(|info| {
            let place = info.location().map(ToString::to_string).unwrap_or_default();
            let message = info.payload_as_str().unwrap_or("a panic without words");
            LAST.with_borrow_mut(|last| *last = format!("{place}: {message}"));
        }));
    });
    let outcome = panic::catch_unwind(AssertUnwindSafe(body));
    let last = LAST.take();
    if outcome.is_err() {
        eprintln!("finding: {last}");
        std::process::abort();
    }
    if let Some(place) = last.split(": ").next().filter(|place| !place.is_empty())
        && TOLD.lock().is_ok_and(|mut told| told.insert(place.to_owned()))
    {
        eprintln!("contained: {last}");
    }
}

/// Returns the texts called `name` in the maps of `list`.
pub fn texts(list: Option<&Value>, name: &str) -> Vec<String> {
    let list = list.and_then(Value::as_list).unwrap_or_default();
    list.iter().filter_map(|each| each.get(name)?.as_text().map(str::to_owned)).collect()
}
