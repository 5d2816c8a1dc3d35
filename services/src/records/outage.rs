//! Outages by schedule: in a span of simulated time a table refuses calls or answers late, the same in every run of one seed.

use dayshift_engine::{Actor, Context, Rejection, SmolStr, ToolCall, Wait};

use super::TableEntry;
use super::event::{Outage, OutageKind, RecordsEvent};
use super::scene::{Scene, shared_text};
use crate::service::Desk;

/// How many outages one table may have.
pub const OUTAGES_MAX: usize = 100;

/// How late an answer may be, in seconds: a day.
pub const OUTAGE_LATE_SECONDS_MAX: u32 = 86_400;

const LATE_SECONDS_DEFAULT: i64 = 60;

/// Returns how long the caller waits for an answer from the table, if it answers at all.
///
/// # Errors
///
/// `records/unavailable` or `records/rate-limited` while an outage hits the call.
pub(super) fn strike(
    name: &SmolStr,
    entry: &TableEntry,
    desk: &Desk,
    context: &Context<'_>,
) -> Result<Option<Wait>, Rejection> {
    let hit = |outage: &&Outage| {
        outage.from <= context.time
            && context.time < outage.until
            && (outage.percent >= 100 || context.stream("records/outage").below(100) < u64::from(outage.percent))
    };
    if entry.outages.is_empty() || matches!(context.actor, Actor::World | Actor::Scenario) {
        return Ok(None);
    }
    let Some(outage) = entry.outages.iter().find(hit) else { return Ok(None) };
    match outage.kind {
        OutageKind::Fails if outage.percent < 100 => Err(Rejection::new(
            "records/unavailable",
            format!("the table {name} failed to answer; try the same call again"),
        )),
        OutageKind::Fails => Err(Rejection::new(
            "records/unavailable",
            format!("the table {name} is out of order; do something else and try again later"),
        )),
        OutageKind::RateLimits => Err(Rejection::new(
            "records/rate-limited",
            format!("there were too many calls to {name}; wait until {} or try again later", desk.show(outage.until)),
        )),
        OutageKind::Late { seconds } => {
            let late = dayshift_engine::SimDuration::from_seconds(u64::from(seconds));
            Ok(Some(Wait::Until(context.time + late)))
        }
    }
}

/// Decides an outage.
pub(super) fn disrupt(scene: &Scene<'_>, call: &ToolCall) -> Result<RecordsEvent, Rejection> {
    let bad = |message: String| Rejection::new("records/bad-outage", message);
    let table = call.get("table").map(|table| shared_text(Some(table)));
    let names: Vec<SmolStr> = match &table {
        Some(name) => vec![name.clone()],
        None => scene.state.entries.list(scene.frame).cloned().collect(),
    };
    for name in &names {
        if scene.table(name)?.entry.outages.len() >= OUTAGES_MAX {
            return Err(bad(format!("{name} has {OUTAGES_MAX} outages already; make one of several")));
        }
    }
    let (from, until) = (call.time("from").unwrap_or_default(), call.time("until").unwrap_or_default());
    if from >= until {
        return Err(bad("an outage must end after it starts; mind from and until".to_owned()));
    }
    let percent = u8::try_from(call.int("percent").unwrap_or(100)).ok().filter(|percent| (1..=100).contains(percent));
    let percent = percent.ok_or_else(|| bad("percent takes a number from 1 to 100".to_owned()))?;
    let kind = match call.text("kind") {
        "fails" => OutageKind::Fails,
        "rate_limits" => OutageKind::RateLimits,
        _ => {
            let seconds = u32::try_from(call.int("seconds").unwrap_or(LATE_SECONDS_DEFAULT)).ok();
            let seconds = seconds.filter(|seconds| (1..=OUTAGE_LATE_SECONDS_MAX).contains(seconds));
            let seconds =
                seconds.ok_or_else(|| bad(format!("seconds takes a number from 1 to {OUTAGE_LATE_SECONDS_MAX}")))?;
            OutageKind::Late { seconds }
        }
    };
    Ok(RecordsEvent::OutageScheduled { table, outage: Outage { from, until, kind, percent } })
}
