//! The starts that rules give around the time at which an event came in, counted once: most questions are about those weeks, and counting a rule takes
//! longer than all the rest. It follows from the event and its record's time, and a test counts anew.

use std::ops::{ControlFlow, RangeInclusive};

use chrono_tz::Tz;
use dayshift_engine::{Budget, OverBudget};

use super::component::Component;
use super::expand::Walked;
use super::moment::{DAY_SECONDS, OFFSET_SECONDS_MAX, Zone};
use super::rule::Rule;

/// How far back and ahead starts are counted, in seconds.
const BEFORE_SECONDS: i64 = 60 * DAY_SECONDS;
const AFTER_SECONDS: i64 = 400 * DAY_SECONDS;
/// The most starts that are kept of one rule.
const STARTS_MAX: usize = 512;
/// How much work finding them may cost; a rule that needs more is counted whenever somebody asks, from the budget of that call.
const WORK_MAX: u64 = 50_000;

/// The starts of one rule between two times on the wall, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    from: i64,
    until: i64,
    starts: Vec<i64>,
}

impl Known {
    /// Counts `rule` of `component` around the instant `now`.
    pub(crate) fn count(rule: &Rule, component: &Component, now: i64) -> Self {
        let first = component.start.wall_seconds;
        let begin = (now - BEFORE_SECONDS).max(first);
        let end = begin.saturating_add(BEFORE_SECONDS + AFTER_SECONDS);
        let mut starts = Vec::new();
        let mut reached = end;
        let budget = Budget::new(WORK_MAX, 0);
        let walked = walk(rule, component, begin..=end, &budget, |wall| {
            if starts.len() == STARTS_MAX {
                reached = wall - 1;
                return ControlFlow::Break(());
            }
            if wall >= begin {
                starts.push(wall);
            }
            ControlFlow::Continue(())
        });
        starts.shrink_to_fit();
        match walked {
            Ok(walked) => Self {
                from: if begin == first { i64::MIN } else { begin },
                until: if walked == Walked::All { i64::MAX } else { reached },
                starts,
            },
            // Nothing is known, so whoever asks counts, and hears why it cannot be done.
            Err(_) => Self { from: i64::MAX, until: i64::MIN, starts: Vec::new() },
        }
    }

    /// Returns the starts from `from` to `until`, if all of them are known.
    pub(crate) fn between(&self, from: i64, until: i64) -> Option<&[i64]> {
        if from < self.from || until > self.until {
            return None;
        }
        let first = self.starts.partition_point(|start| *start < from);
        let end = self.starts.partition_point(|start| *start <= until);
        Some(&self.starts[first..end.max(first)])
    }
}

/// Shows `visit` the starts by `rule` from about `window`'s begin to its end, or to its UNTIL.
pub(crate) fn walk(
    rule: &Rule,
    component: &Component,
    window: RangeInclusive<i64>,
    budget: &Budget,
    mut visit: impl FnMut(i64) -> ControlFlow<()>,
) -> Result<Walked, OverBudget> {
    let start = &component.start;
    // UNTIL hangs where the event does: of a floating one, both are compared on the wall.
    let last = rule.until.as_ref().map(|last| last.instant(Tz::UTC));
    let is_floating = matches!(start.zone, Zone::Date | Zone::Floating);
    // No wall is further from UTC than that, so what lies behind it need not be looked for.
    let end = last.map_or(i64::MAX, |last| last.saturating_add(OFFSET_SECONDS_MAX));
    let until = (*window.end()).min(end);
    let mut is_over = end <= *window.end();
    let window = (*window.start()).max(start.wall_seconds)..=until;
    let walked = rule.walk(start.wall_seconds, window, budget, |wall| {
        let at = if is_floating { wall } else { start.zone.instant(wall, Tz::UTC) };
        if last.is_some_and(|last| at > last) {
            is_over = true;
            return ControlFlow::Break(());
        }
        let visited = visit(wall);
        is_over &= visited.is_continue();
        visited
    })?;
    Ok(if is_over { Walked::All } else { walked })
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::super::zones::Zones;
    use super::*;

    #[test]
    fn what_is_known_is_what_counting_gives() {
        let now = 1_773_619_200;
        for rule in [
            "FREQ=DAILY",
            "FREQ=HOURLY",
            "FREQ=WEEKLY;BYDAY=MO,WE;COUNT=700",
            "FREQ=MONTHLY;BYDAY=-5MO",
            "FREQ=WEEKLY;UNTIL=20260401T000000Z",
            "FREQ=YEARLY",
        ] {
            for start in ["20200105T093000", "20260314T093000", "20260601T093000"] {
                let text =
                    format!("BEGIN:VEVENT\r\nDTSTART;TZID=Europe/Berlin:{start}\r\nRRULE:{rule}\r\nEND:VEVENT\r\n");
                let content = dayshift_engine::Content::Inline(text.as_bytes().into());
                let budget = Budget::default();
                let parsed = parse(text.as_bytes(), content, &Zones::default(), &budget).expect("a cheap event");
                let (_, component) = parsed.expect("an event");
                let known = Known::count(&component.rules[0], &component, now);
                let mut compared = 0;
                for day in -100..500 {
                    let (from, until) = (now + day * DAY_SECONDS, now + (day + 3) * DAY_SECONDS);
                    let mut counted = Vec::new();
                    walk(&component.rules[0], &component, from..=until, &budget, |wall| {
                        if wall >= from {
                            counted.push(wall);
                        }
                        ControlFlow::Continue(())
                    })
                    .expect("a good rule");
                    if let Some(found) = known.between(from, until) {
                        compared += 1;
                        assert_eq!(found, counted, "{rule} from {start} on day {day}");
                    }
                }
                assert!(compared >= 18, "{rule} from {start}: {compared}");
            }
        }
    }
}
