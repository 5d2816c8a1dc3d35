//! The simulated clock as a caller sees it. It has no state: the time comes with every call, and the kernel moves it.
//!
//! Keys: `clock:now` is the time. No record writes it; the kernel knows this key.

use chrono::{DateTime, Datelike, Timelike};
use chrono_tz::Tz;
use dayshift_engine::{
    Allowance, Applying, Audience, Context, Decision, Difference, Effect, Frame, Key, Kind, Looking, Parameter,
    ReadKind, Rejection, Seq, SimTime, SmolStr, StateDigest, ToolCall, ToolSpec, Value, Wait, map,
};
use serde::{Deserialize, Serialize};

use crate::service::{Desk, Service, unknown_question};

/// The clock: nothing to remember.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockState;

/// Nothing happens to the clock: there is no such event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockEvent {}

const TOOLS: &[ToolSpec] = &[
    ToolSpec {
        name: "clock.now",
        summary: "Returns the time, the weekday, the office's time zone, when your day ends, and how many calls and turns you have left.",
        parameters: &[],
        effect: Effect::Reads,
        audience: Audience::Everybody,
        cost_seconds: 0,
    },
    ToolSpec {
        name: "clock.wait",
        summary: "Waits until the given time, or without one until something is brought to your notice; at the latest until shortly before the day ends. Answers the time that was reached and what woke you.",
        parameters: &[Parameter::optional(
            "until",
            Kind::Time,
            "wait until this time, whatever happens before it; it must lie before the end of the day",
        )],
        effect: Effect::Reads,
        audience: Audience::Everybody,
        cost_seconds: 0,
    },
];

/// The code of a wait that would use up the day.
const DAY_ENDS: &str = "clock/day-ends";

const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

impl Service for ClockState {
    type Event = ClockEvent;

    const TOOLS: &'static [ToolSpec] = TOOLS;

    fn decide(&self, call: &ToolCall, desk: &Desk, context: &Context<'_>) -> Result<Decision<ClockEvent>, Rejection> {
        match call.tool.as_str() {
            "clock.now" => {
                note_now(context.frame);
                let mut answer = now(context.time, desk);
                if let Value::Map(map) = &mut answer {
                    map.extend(left(&context.allowance, desk));
                }
                Ok(Decision::answer(answer))
            }
            "clock.wait" => wait(call.time("until"), desk, context),
            other => {
                Err(Rejection::new("clock/unknown-tool", format!("clock has no tool '{other}'; use a listed one")))
            }
        }
    }

    fn apply(&mut self, event: ClockEvent, _applying: &mut Applying<'_>) {
        match event {}
    }

    fn query(&self, verb: &str, _arguments: &Value, desk: &Desk, looking: &Looking<'_>) -> Result<Value, Rejection> {
        if verb != "now" {
            return Err(unknown_question("clock", verb, &["now"]));
        }
        note_now(looking.frame);
        Ok(now(looking.time, desk))
    }

    fn digest(&self) -> StateDigest {
        StateDigest::default()
    }

    fn differences(&self, _other: &Self, _into: &mut Vec<Difference>) {}

    fn dump(&self) -> Value {
        map! {}
    }
}

fn wait(until: Option<SimTime>, desk: &Desk, context: &Context<'_>) -> Result<Decision<ClockEvent>, Rejection> {
    let (wait, until) = match until {
        None => {
            refuse_near_the_end(desk, context)?;
            (Wait::NextNotice, None)
        }
        Some(until) => {
            note_now(context.frame);
            if until <= context.time {
                let time = desk.show(context.time);
                return Err(Rejection::new("clock/past", format!("it is {time} already; wait until a later time")));
            }
            if let Some(ends) = context.allowance.day_ends.filter(|ends| until >= *ends) {
                let ends = desk.show(ends);
                let message =
                    format!("your day ends at {ends}; wait until an earlier time, or hand over to end it now");
                return Err(Rejection::new(DAY_ENDS, message));
            }
            (Wait::Until(until), Some(desk.show(until)))
        }
    };
    Ok(Decision { events: Vec::new(), answer: map! { "asked_until" => until }, wait: Some(wait) })
}

/// Refuses to wait for a notice when the last one of the day has been given: the wait would use up the day.
fn refuse_near_the_end(desk: &Desk, context: &Context<'_>) -> Result<(), Rejection> {
    let Allowance { day_ends: Some(ends), closing: Some(closing), .. } = context.allowance else { return Ok(()) };
    if context.time < closing {
        return Ok(());
    }
    note_now(context.frame);
    let ends = desk.show(ends);
    let message =
        format!("your day ends at {ends}, soon; finish your work, wait until a given time before that, or hand over");
    Err(Rejection::new(DAY_ENDS, message))
}

/// Returns what a caller that has waited is answered: the time that was reached, and what woke it.
pub(crate) fn waited(answer: &Value, now: SimTime, notices: &[String], desk: &Desk) -> Value {
    map! {
        "time" => desk.show(now),
        "asked_until" => answer.get("asked_until").cloned(),
        "woken_by" => notices.to_vec(),
    }
}

/// Returns what the caller has left, if the kernel says so.
fn left(allowance: &Allowance, desk: &Desk) -> Vec<(SmolStr, Value)> {
    vec![
        ("day_ends".into(), allowance.day_ends.map(|ends| desk.show(ends)).into()),
        ("calls_left_in_turn".into(), allowance.calls_left.into()),
        ("turns_left_today".into(), allowance.turns_left.into()),
    ]
}

fn note_now(frame: &Frame) {
    frame.note(ReadKind::Item, Key::new("clock:now"), Seq::default());
}

fn now(time: SimTime, desk: &Desk) -> Value {
    let local: DateTime<Tz> = time.to_chrono().with_timezone(&desk.zone);
    map! {
        "time" => desk.show(time),
        "zone" => desk.zone.name(),
        "date" => format!("{:04}-{:02}-{:02}", local.year(), local.month(), local.day()),
        "minutes" => local.hour() * 60 + local.minute(),
        "weekday" => WEEKDAYS[local.weekday().num_days_from_monday() as usize],
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::Bench;

    #[test]
    fn now_is_told_in_the_zone_of_the_office() {
        let mut bench = Bench::new(ClockState);
        let expected = map! {
            "time" => "2026-03-16T09:00:01+01:00", "zone" => "Europe/Berlin", "date" => "2026-03-16", "minutes" => 540_i64,
            "weekday" => "Monday",
        };
        let mut told = expected.clone();
        if let Value::Map(map) = &mut told {
            map.extend(left(&Allowance::default(), &bench.desk));
        }
        assert_eq!(bench.call("clock.now", map! {}), Ok(told));
        assert_eq!(bench.read_keys(), ["clock:now"]);
        assert_eq!(bench.accesses.reads[0].written, Seq::default());
        assert!(bench.written_keys().is_empty());
        assert_eq!(bench.ask("now", map! {}), Ok(expected));
        assert_eq!(bench.read_keys(), ["clock:now"]);
    }

    #[test]
    fn the_day_is_that_of_the_office_and_not_of_utc() {
        let mut bench = Bench::new(ClockState);
        bench.time = "2026-03-29T22:30:00Z".parse().expect("a good time");
        let now = bench.ask("now", map! {}).expect("answered");
        assert_eq!(now.get("time"), Some(&"2026-03-30T00:30:00+02:00".into()));
        assert_eq!(now.get("weekday"), Some(&"Monday".into()));
    }

    #[test]
    fn waiting_is_left_to_the_kernel() {
        let bench = Bench::new(ClockState);
        let frame = Frame::new();
        let context = Context {
            seq: bench.seq,
            time: bench.time,
            actor: &bench.actor,
            turn: None,
            allowance: dayshift_engine::Allowance::default(),
            seed: dayshift_engine::Seed::new(1),
            frame: &frame,
            blobs: &bench.blobs,
        };
        let wait = |arguments| {
            let call = ToolCall::new("clock.wait", arguments);
            bench.service.decide(&call, &bench.desk, &context).map(|decision| (decision.wait, decision.answer))
        };
        assert_eq!(wait(map! {}), Ok((Some(Wait::NextNotice), map! { "asked_until" => Value::Null })));
        let until = "2026-03-16T08:00:01Z".parse().expect("a good time");
        let shown = map! { "asked_until" => "2026-03-16T09:00:01+01:00" };
        assert_eq!(wait(map! { "until" => "2026-03-16T08:00:01Z" }), Ok((Some(Wait::Until(until)), shown)));
        let past = wait(map! { "until" => "2026-03-16T08:00:00Z" }).expect_err("it is past");
        assert_eq!(past.code, "clock/past");
    }

    #[test]
    fn waiting_for_a_notice_reads_nothing_and_waiting_for_a_time_reads_the_clock() {
        let mut bench = Bench::new(ClockState);
        bench.call("clock.wait", map! {}).expect("waits");
        assert!(bench.read_keys().is_empty());
        bench.call("clock.wait", map! { "until" => "2027-01-01T00:00:00Z" }).expect("waits");
        assert_eq!(bench.read_keys(), ["clock:now"]);
    }

    #[test]
    fn other_questions_are_unknown() {
        let mut bench = Bench::new(ClockState);
        assert_eq!(
            bench.ask("then", map! {}).map_err(|rejection| rejection.code.into_owned()),
            Err("query/unknown".into())
        );
    }

    proptest! {
        /// The reference counts days and minutes by itself (Hinnant, "chrono-compatible low-level date algorithms"), in zones without
        /// summer time.
        #[test]
        fn now_and_waits_agree_with_counting(steps in prop::collection::vec((-3_000_000_i64..3_000_000, 0_usize..4), 1..20)) {
            let zones = [("UTC", 0), ("Asia/Tokyo", 9 * 60), ("Etc/GMT+5", -5 * 60), ("Asia/Kolkata", 5 * 60 + 30)];
            let mut bench = Bench::new(ClockState);
            for (seconds, zone) in steps {
                let (name, offset_minutes) = zones[zone];
                bench.desk.zone = name.parse().expect("a zone");
                let now = bench.call("clock.now", map! {}).expect("it is told");
                let local = bench.time.as_millis().div_euclid(60_000) + offset_minutes;
                let days = local.div_euclid(1_440);
                let (year, month, day) = civil(days);
                prop_assert_eq!(now.get("minutes"), Some(&Value::Int(local.rem_euclid(1_440))));
                prop_assert_eq!(now.get("date"), Some(&Value::from(format!("{year:04}-{month:02}-{day:02}"))));
                // The first of January 1970 was a Thursday.
                prop_assert_eq!(now.get("weekday"), Some(&Value::from(WEEKDAYS[(days + 3).rem_euclid(7) as usize])));
                let until = SimTime::from_millis(bench.time.as_millis() + seconds * 1_000);
                let frame = Frame::new();
                let context = Context {
                    seq: Seq::default(), time: bench.time, actor: &bench.actor, turn: None, allowance: dayshift_engine::Allowance::default(), seed: dayshift_engine::Seed::new(7),
                    frame: &frame, blobs: &bench.blobs,
                };
                let call = ToolCall::new("clock.wait", map! { "until" => until });
                let waits = bench.service.decide(&call, &bench.desk, &context);
                if seconds > 0 {
                    prop_assert_eq!(waits.expect("it is later").wait, Some(Wait::Until(until)));
                    bench.time = until;
                } else {
                    prop_assert_eq!(waits.expect_err("it is past").code, "clock/past");
                }
            }
        }
    }

    fn civil(days: i64) -> (i64, i64, i64) {
        let shifted = days + 719_468;
        let era = shifted.div_euclid(146_097);
        let of_era = shifted.rem_euclid(146_097);
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * of_year + 2) / 153;
        let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
        (era * 400 + year_of_era + i64::from(month <= 2), month, of_year - (153 * shifted_month + 2) / 5 + 1)
    }
}
