//! Comparing: a run with its re-execution, a world with another, a world at a point.

use dayshift_engine::{Difference, Seq, Value, World};
use dayshift_replay::{Divergence, Reexecution};

use crate::commands::Desk;
use crate::talk::{self, Failure, GREEN, RED, Verdict, paint, progress};

/// How long a value is shown in a difference, in characters.
const VALUE_CHARS_MAX: usize = 200;

/// Executes a run again.
pub(crate) fn replay(desk: &Desk, name: &str) -> Result<Verdict, Failure> {
    let run = desk.load(name)?;
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

fn tell_divergence(desk: &Desk, run: &str, divergence: &Divergence) {
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
    talk::print(&format!("diverged at record {}, {}", divergence.seq, divergence.what));
    for (part, recorded, now) in &divergence.differences {
        talk::print(&format!("  {part}"));
        talk::print(&paint(&format!("    - recorded: {}", clip(recorded)), RED));
        talk::print(&paint(&format!("    + now:      {}", clip(now)), GREEN));
    }
}

/// Prints a world.
pub(crate) fn state(desk: &Desk, name: &str, at: Option<u64>) -> Result<Verdict, Failure> {
    let run = desk.load(name)?;
    let episode = run.episode_at(at.map(Seq::new))?;
    let world = episode.world();
    let record = episode.log().head().count - 1;
    eprintln!("the world of {} after record {record}, {}, digest {}", run.name, episode.now(), world.digest());
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
    talk::print(&format!("  {}", difference.key));
    let shown = |value: &Option<Value>| value.as_ref().map_or("nothing".to_owned(), |value| clip(&value.to_string()));
    talk::print(&paint(&format!("    - {}", shown(&difference.left)), RED));
    talk::print(&paint(&format!("    + {}", shown(&difference.right)), GREEN));
}

fn clip(text: &str) -> String {
    if text.chars().count() <= VALUE_CHARS_MAX {
        return text.to_owned();
    }
    text.chars().take(VALUE_CHARS_MAX).chain(['…']).collect()
}
