//! Comparing: a run with its re-execution, a world with another, a world at a point.

use dayshift_engine::{Difference, Seq, Value, World};
use dayshift_replay::{Divergence, Reexecution};
use dayshift_runs::{Provenance, Run, Scrutiny};

use crate::commands::{self, Desk};
use crate::talk::{self, Failure, GREEN, RED, Verdict, paint, progress, visible};
use crate::trust;

/// How long a value is shown in a difference, in characters.
const VALUE_CHARS_MAX: usize = 200;

/// How much of what two values have in common is shown ahead of their difference, in characters.
const CONTEXT_CHARS: usize = 40;

/// Executes a run again.
pub(crate) fn replay(desk: &Desk, name: &str, host: bool) -> Result<Verdict, Failure> {
    let run = desk.load(name)?;
    if host {
        return replay_on_host(desk, &run);
    }
    let bar = progress("replaying", Some(run.records.len() as u64));
    let outcome = run.reexecute(|count| bar.set_position(count))?;
    bar.finish_and_clear();
    match outcome {
        Reexecution::Same { head, inputs } => {
            if desk.json {
                talk::print_json(&serde_json::json!({
                    "same": true, "run": run.name, "records": head.count, "inputs": inputs, "head": head.hash.to_string(),
                }));
            } else {
                talk::print(&format!("same: {inputs} inputs gave the same {} records, head {}", head.count, head.hash));
            }
            Ok(Verdict::Good)
        }
        Reexecution::Diverged(divergence) => {
            tell_divergence(desk, &run.name, &divergence);
            Ok(Verdict::Bad)
        }
    }
}

/// Executes a run again with the sandbox, and tells which results of commands came out otherwise.
fn replay_on_host(desk: &Desk, run: &Run) -> Result<Verdict, Failure> {
    let scrutiny = Scrutiny { host: Some(commands::host()), ..Scrutiny::default() };
    let Some(Provenance { host, .. }) = trust::provenance(desk, run, &run.scenario, &scrutiny)? else {
        return Ok(Verdict::Bad);
    };
    let same = host.differing.is_empty();
    if desk.json {
        let head = run.head();
        talk::print_json(&serde_json::json!({
            "same": same, "run": run.name, "records": head.count, "head": head.hash.to_string(), "host": host,
        }));
        return Ok(Verdict::of(same));
    }
    let word = if same { "same" } else { "different" };
    talk::print(&format!(
        "{word}: {} result(s) of the host, run again, {} otherwise",
        host.results,
        host.differing.len()
    ));
    for difference in &host.differing {
        talk::print(&format!("  record {}", difference.record));
        tell_pair(&difference.recorded.to_string(), &difference.now.to_string(), ("recorded: ", "now:      "));
    }
    Ok(Verdict::of(same))
}

/// Tells where a log came out otherwise.
pub(crate) fn tell_divergence(desk: &Desk, run: &str, divergence: &Divergence) {
    if desk.json {
        let differences: Vec<_> = divergence
            .differences
            .iter()
            .map(|(part, recorded, now)| serde_json::json!({ "part": part, "recorded": recorded, "now": now }))
            .collect();
        let keys: Vec<String> = divergence.keys.iter().map(ToString::to_string).collect();
        talk::print_json(&serde_json::json!({
            "same": false, "run": run, "record": divergence.seq.get(), "what": divergence.what, "differences": differences, "keys": keys,
        }));
        return;
    }
    talk::print(&format!("diverged at record {}, {}", divergence.seq, visible(&divergence.what)));
    for (part, recorded, now) in &divergence.differences {
        talk::print(&format!("  {}", visible(part)));
        tell_pair(recorded, now, ("recorded: ", "now:      "));
    }
}

/// Prints a world.
pub(crate) fn state(desk: &Desk, name: &str, at: Option<u64>) -> Result<Verdict, Failure> {
    let run = desk.load(name)?;
    let episode = run.episode_at(at.map(Seq::new))?;
    let world = episode.world();
    let record = episode.log().head().count - 1;
    let (name, now, digest) = (&run.name, episode.now(), world.digest());
    talk::warn(&format!("the world of {name} after record {record}, {now}, digest {digest}"));
    if desk.json {
        talk::print_json(&serde_json::json!({
            "run": run.name, "record": record, "time": episode.now().to_string(), "digest": world.digest().to_string(), "world": world.dump(),
        }));
    } else {
        talk::print_json(&world.dump());
    }
    Ok(Verdict::Good)
}

/// Prints what differs between two worlds.
pub(crate) fn diff(desk: &Desk, left: (&str, Option<u64>), right: (&str, Option<u64>)) -> Result<Verdict, Failure> {
    let world = |(name, at): (&str, Option<u64>)| -> Result<_, Failure> {
        Ok(desk.load(name)?.episode_at(at.map(Seq::new))?.world().clone())
    };
    let differences = world(left)?.differences(&world(right)?);
    if desk.json {
        let rows: Vec<_> = differences
            .iter()
            .map(|each| serde_json::json!({ "key": each.key.as_str(), "left": each.left, "right": each.right }))
            .collect();
        talk::print_json(&serde_json::json!({ "same": rows.is_empty(), "differences": rows }));
    } else if differences.is_empty() {
        talk::print("same: no graded piece differs");
    } else {
        talk::print(&format!("{} pieces differ", differences.len()));
        differences.iter().for_each(tell_difference);
    }
    Ok(Verdict::of(differences.is_empty()))
}

fn tell_difference(difference: &Difference) {
    talk::print(&format!("  {}", visible(difference.key.as_str())));
    let shown = |value: &Option<Value>| value.as_ref().map_or("nothing".to_owned(), Value::to_string);
    tell_pair(&shown(&difference.left), &shown(&difference.right), ("", ""));
}

/// Prints two texts, one below the other, from shortly before the place where they begin to differ.
fn tell_pair(left: &str, right: &str, labels: (&str, &str)) {
    let (left, right) = windows(left, right);
    talk::print(&paint(&format!("    - {}{}", labels.0, visible(&left)), RED));
    talk::print(&paint(&format!("    + {}{}", labels.1, visible(&right)), GREEN));
}

/// Returns of two texts what can be shown: the part around the place where they begin to differ, so that they never look the same.
fn windows(left: &str, right: &str) -> (String, String) {
    let common = left.chars().zip(right.chars()).take_while(|(left, right)| left == right).count();
    let skipped = if common > VALUE_CHARS_MAX / 2 { common - CONTEXT_CHARS } else { 0 };
    (clip(left, skipped), clip(right, skipped))
}

fn clip(text: &str, skipped: usize) -> String {
    let mut rest = text.chars().skip(skipped);
    let mut shown: String = if skipped > 0 { "…".to_owned() } else { String::new() };
    shown.extend(rest.by_ref().take(VALUE_CHARS_MAX));
    if rest.next().is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_long_texts_that_differ_are_never_shown_as_the_same() {
        for common in [0, 10, 99, 100, 101, 150, 199, 200, 5000] {
            let text = |end: &str| format!("{}{end}{}", "ä".repeat(common), "z".repeat(500));
            let (left, right) = windows(&text("1"), &text("2"));
            assert_ne!(left, right, "{common}");
            assert!(left.chars().count() <= VALUE_CHARS_MAX + 2);
        }
        let (left, right) = windows(&"a".repeat(300), &"a".repeat(301));
        assert_ne!(left, right);
    }

    #[test]
    fn a_short_text_is_shown_whole() {
        assert_eq!(windows("same 1", "same 2"), ("same 1".to_owned(), "same 2".to_owned()));
    }
}
