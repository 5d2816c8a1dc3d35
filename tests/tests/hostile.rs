//! An agent that wants the program to stumble makes some thousand calls, the same in every run: each is answered or refused with a code, and the
//! office goes on serving. How long each takes is
//! measured by `cargo run --release --package dayshift-tests --example hostile`.

use dayshift_engine::map;
use dayshift_tests::{Hostile, furnished};

/// How many calls a seed makes here. Some are dear in a build without optimisations.
const CALLS: usize = 150;

#[test]
fn whatever_an_agent_calls_is_answered_or_refused_and_the_office_goes_on() {
    for seed in 0..4 {
        let mut bench = furnished();
        let mut hostile = Hostile::new(seed);
        let mut answered = 0;
        for number in 0..CALLS {
            let (tool, arguments) = hostile.next_call();
            // The bench itself asserts that a refusal has a code and a sentence, and that reading changes nothing.
            let outcome = bench.call(tool, arguments);
            answered += usize::from(outcome.is_ok());
            assert!(number < CALLS, "seed {seed}, call {number}");
        }
        let mut works =
            |tool: &str, arguments| assert!(bench.call(tool, arguments).is_ok(), "{tool} after seed {seed}");
        works("files.list", map! {});
        works("mail.folders", map! {});
        works("sheets.books", map! {});
        assert!(answered > CALLS / 20, "seed {seed}: only {answered} calls get past the first look");
    }
}
