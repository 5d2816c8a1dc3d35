//! The timeline drawn: days, turns, calls, exogenous events (loud and silent), personas, and how the verdicts moved.

use dayshift_engine::{Day, SimTime, When};
use dayshift_replay::Report;
use dayshift_runs::Run;
use dayshift_runs::timeline::{Entry, What, short, timeline as entries};

use crate::commands::Desk;
use crate::talk::{self, BOLD, DIM, Failure, GREEN, RED, Verdict, YELLOW, paint, visible};

/// Shows a run.
pub(crate) fn show(desk: &Desk, name: &str, day: Option<&str>, turn: Option<u32>) -> Result<Verdict, Failure> {
    let run = desk.load(name)?;
    let day = day.map(|day| day_name(&run, day)).transpose()?;
    let report = run.grade(None)?;
    if desk.json {
        let kept: Vec<Entry> =
            entries(&run, &report)?.into_iter().filter(|entry| keeps(entry, day.as_deref(), turn)).collect();
        let waiting = waiting(&run)?;
        talk::print_json(&serde_json::json!({ "run": run.name, "entries": kept, "waiting": waiting }));
    } else {
        timeline(&run, &report, day.as_deref(), turn)?;
        for line in waiting(&run)? {
            talk::print(&paint(&format!("  … {}", visible(&line)), DIM));
        }
    }
    Ok(Verdict::Good)
}

/// Prints the timeline of a run, or that part of it.
pub(crate) fn timeline(run: &Run, report: &Report, day: Option<&str>, turn: Option<u32>) -> Result<(), Failure> {
    let zone = run.scenario.zone();
    let mut shown_turn = None;
    for entry in entries(run, report)? {
        if !keeps(&entry, day, turn) {
            continue;
        }
        let time = entry.time.parse::<SimTime>().map(|time| talk::clock(time, zone)).unwrap_or_default();
        if entry.turn.is_some() && entry.turn != shown_turn {
            shown_turn = entry.turn;
            let turn = entry.turn.map(|turn| turn.to_string()).unwrap_or_default();
            talk::print(&format!("  {} {}", paint(&format!("turn {turn}"), BOLD), paint(&time, DIM)));
        }
        line(&entry, &time);
        for change in &entry.verdicts {
            let (arrow, colour) = if change.after > change.before { ("▲", GREEN) } else { ("▼", RED) };
            let text = format!("        {arrow} {} {:.2} → {:.2}", visible(&change.check), change.before, change.after);
            talk::print(&paint(&text, colour));
        }
    }
    Ok(())
}

fn line(entry: &Entry, time: &str) {
    let record = paint(&format!("#{:<5}", entry.record.get()), DIM);
    match &entry.what {
        What::Day { notification } => {
            talk::print(&paint(&format!("── {} ── {time} {}", visible(&entry.day), "─".repeat(60)), BOLD));
            for told in notification.lines() {
                talk::print(&format!("  │ {}", visible(told)));
            }
        }
        What::Message { text, hand_over } => {
            let mark = if *hand_over { "⏎ hands over" } else { "says" };
            let text = if text.is_empty() {
                String::new()
            } else {
                format!(": {}", visible(&short(&text.replace('\n', " "))))
            };
            talk::print(&format!("    {record} {mark}{text}"));
        }
        What::Call { tool, arguments, answer, refused, event, loud } => {
            let foreign = entry.turn.is_none();
            let who = match (foreign, event) {
                (false, _) => String::new(),
                (true, Some(event)) => {
                    let loudness = if *loud { "loud" } else { "silent" };
                    paint(&format!("◆ {time} {} ({loudness}, {}): ", visible(event), visible(&entry.actor)), YELLOW)
                }
                (true, None) => paint(&format!("◇ {time} {}: ", visible(&entry.actor)), YELLOW),
            };
            let indent = if foreign { "  " } else { "    " };
            let tool = visible(tool);
            talk::print(&format!("{indent}{record} {who}{tool} {}", visible(&short(&arguments.to_string()))));
            match refused {
                Some(code) => {
                    let why = short(answer.as_text().unwrap_or_default());
                    talk::print(&paint(&format!("{indent}       ✘ {code}: {}", visible(&why)), RED));
                }
                None if !foreign => {
                    let answer = short(&answer.to_string());
                    talk::print(&paint(&format!("{indent}       → {}", visible(&answer)), DIM));
                }
                None => {}
            }
        }
        What::Notice { text, .. } => {
            talk::print(&format!("  {record} {} {}", paint("✉ told:", YELLOW), visible(text)));
        }
        What::Look { commands } => {
            let text = format!("◇ {time} {} looks, and does {commands} thing(s)", visible(&entry.actor));
            talk::print(&format!("  {record} {}", paint(&text, DIM)));
        }
        What::Failed { script, code, message } => {
            let text = format!("◇ {time} {} ✘ {code}: {}", visible(script), visible(message));
            talk::print(&format!("  {record} {}", paint(&text, RED)));
        }
        What::EndDay => talk::print(&format!("  {record} {time} the day's time is up")),
        What::Close => talk::print(&paint(&format!("── end ── {time} {}", "─".repeat(60)), BOLD)),
    }
}

fn keeps(entry: &Entry, day: Option<&str>, turn: Option<u32>) -> bool {
    day.is_none_or(|day| entry.day == day) && turn.is_none_or(|turn| entry.turn.is_some_and(|own| own.get() == turn))
}

/// Returns the name of the day that `given` means: its name, or its number from 1.
fn day_name(run: &Run, given: &str) -> Result<String, Failure> {
    let days = run.days();
    let by_number = given.parse::<Day>().ok().and_then(|number| days.get((number.get() as usize).checked_sub(1)?));
    let found = days.iter().find(|name| *name == given).or(by_number);
    found.map(ToString::to_string).ok_or_else(|| {
        let names: Vec<&str> = days.iter().map(|name| name.as_str()).collect();
        Failure::new("run/unknown-day", format!("there is no day '{given}'; the days are {}", names.join(", ")))
    })
}

/// Returns a line for every exogenous event that has not happened, which says what it waits for.
fn waiting(run: &Run) -> Result<Vec<String>, Failure> {
    let episode = run.episode_at(None)?;
    let script = run.scenario.script();
    let plan = script.plan();
    let mut lines = Vec::new();
    for (index, event) in plan.events.iter().enumerate() {
        if episode.schedule().firing(index).is_some() {
            continue;
        }
        let why = match &event.when {
            When::At(time) => format!("is due at {time}"),
            When::After { event: other, delay } => format!("comes {delay} after '{other}', which has not happened"),
            When::Condition { deadline, .. } => match episode.schedule().awaited(index) {
                Some(reads) => {
                    let keys: Vec<&str> = reads.iter().map(|read| read.key.as_str()).take(4).collect();
                    format!("waits until {deadline} for its condition, which last read {}", keys.join(", "))
                }
                None => format!("waits until {deadline} for its condition"),
            },
        };
        lines.push(format!("'{}' has not happened: it {why}", event.id));
    }
    Ok(lines)
}
