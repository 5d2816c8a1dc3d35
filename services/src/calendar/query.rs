//! What checks, conditions and personas can ask of calendars. Times are shown where the event hangs: with the offset there, as a date, or without
//! offset. What is empty is left out, as CalDAV clients have it.

use std::collections::BTreeMap;

use chrono_tz::Tz;
use dayshift_engine::{Frame, Looking, Rejection, SimTime, SmolStr, Value, map};

use super::lookup::parse_range;
use super::moment::Moment;
use super::read::{details, row, whole};
use super::state::CalendarState;
use crate::lowercase::folded;
use crate::service::{Desk, unknown_question};

/// The questions.
const QUESTIONS: [&str; 5] = ["calendars", "event", "events", "find", "problems"];

impl CalendarState {
    pub(crate) fn answer(
        &self,
        verb: &str,
        arguments: &Value,
        desk: &Desk,
        looking: &Looking<'_>,
    ) -> Result<Value, Rejection> {
        let allowed: &[&str] = match verb {
            "calendars" | "problems" => &[],
            "events" => &["calendar", "from", "until"],
            "event" => &["calendar", "uid"],
            "find" => &["calendar", "text"],
            _ => return Err(unknown_question("calendar", verb, &QUESTIONS)),
        };
        let asked = Asked::of(verb, arguments, allowed)?;
        let frame = looking.frame;
        match verb {
            "calendars" => Ok(self.list_calendars(frame)),
            "problems" => Ok(self.problems(frame)),
            "event" => self.ask_event(asked.needed("calendar")?, asked.needed("uid")?, desk, frame),
            "find" => self.ask_find(asked.needed("calendar")?, asked.needed("text")?, desk, frame),
            _ => self.ask_events(&asked, desk, frame),
        }
    }

    fn ask_event(&self, calendar: &str, uid: &str, desk: &Desk, frame: &Frame) -> Result<Value, Rejection> {
        let (calendar, uid) = (self.spelled(calendar), SmolStr::from(uid));
        let series = self.shelf(frame, &calendar).and_then(|shelf| shelf.events.get(frame, &uid));
        Ok(series.map(|series| whole(&calendar, &uid, series, desk, &Moment::show)).unwrap_or_default())
    }

    /// Returns the events that are not as whoever wrote their file meant them, a row for each: its calendar, its uid, and a sentence.
    fn problems(&self, frame: &Frame) -> Value {
        let names: Vec<SmolStr> = self.calendars.list(frame).cloned().collect();
        let mut rows = Vec::new();
        for (name, shelf) in names.iter().filter_map(|name| Some((name, self.shelf(frame, name)?))) {
            for (uid, series) in shelf.events.scan(frame) {
                for id in series.components.iter().flat_map(|each| &each.unknown_zones) {
                    let problem = format!(
                        "'{}' has the time zone '{id}', which nobody knows; its times float",
                        series.main().summary
                    );
                    rows.push(map! { "calendar" => name.clone(), "uid" => uid.clone(), "problem" => problem });
                }
            }
        }
        Value::List(rows)
    }

    fn ask_find(&self, calendar: &str, text: &str, desk: &Desk, frame: &Frame) -> Result<Value, Rejection> {
        let calendar = self.spelled(calendar);
        let Some(shelf) = self.shelf(frame, &calendar) else { return Ok(Value::Null) };
        let needle = folded(text);
        let matching = shelf.events.scan(frame).filter(|(_, series)| {
            series.components.iter().any(|component| folded(&component.summary).contains(&needle))
        });
        let shown = matching.map(|(uid, series)| {
            shelf.events.get(frame, uid);
            whole(&calendar, uid, series, desk, &Moment::show)
        });
        Ok(shown.collect())
    }

    /// Returns the instances that overlap a range, or, without one, all events as they stand.
    fn ask_events(&self, asked: &Asked<'_>, desk: &Desk, frame: &Frame) -> Result<Value, Rejection> {
        let calendar = self.spelled(asked.needed("calendar")?);
        let (from, until) = (asked.time("from")?, asked.time("until")?);
        let Some(shelf) = self.shelf(frame, &calendar) else { return Ok(Value::Null) };
        if let (None, None) = (from, until) {
            let uids: Vec<&SmolStr> = shelf.events.list(frame).collect();
            let shown = uids.into_iter().filter_map(|uid| {
                let series = shelf.events.get(frame, uid)?;
                Some(whole(&calendar, uid, series, desk, &Moment::show))
            });
            return Ok(shown.collect());
        }
        let span = parse_range(from, until, desk.zone)?;
        let found = shelf.within(frame, span)?;
        let shown = found.iter().map(|(uid, instance)| {
            shelf.events.get(frame, uid);
            let mut row = row(&calendar, uid, instance, desk, &Moment::show);
            details(&mut row, instance.component);
            row
        });
        Ok(shown.collect())
    }

    /// Returns the whole graded state for people.
    pub(crate) fn dump_all(&self) -> Value {
        let desk = nobody();
        let calendars = self.calendars.peek_all().map(|(name, info)| {
            let shelf = self.peek_shelf(name);
            let events = shelf.into_iter().flat_map(|shelf| shelf.events.peek_all());
            let rows: Value = events.map(|(uid, series)| whole(name, uid, series, &desk, &Moment::show)).collect();
            let entry = map! {
                "owner" => info.owner.clone(),
                "description" => info.description.clone(),
                "events" => rows,
            };
            (name.clone(), entry)
        });
        Value::Map(calendars.collect())
    }
}

/// Returns a desk in Greenwich at which nobody sits.
pub(crate) fn nobody() -> Desk {
    Desk { name: SmolStr::default(), display: SmolStr::default(), address: SmolStr::default(), zone: Tz::UTC }
}

/// What a question asks about.
struct Asked<'a> {
    verb: &'a str,
    given: BTreeMap<&'a str, &'a str>,
}

impl<'a> Asked<'a> {
    fn of(verb: &'a str, arguments: &'a Value, allowed: &[&str]) -> Result<Self, Rejection> {
        let mut given = BTreeMap::new();
        let map = match arguments {
            Value::Null => return Ok(Self { verb, given }),
            Value::Map(map) => map,
            Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::List(_) => {
                return Err(bad("a question takes named arguments"));
            }
        };
        for (name, value) in map.iter().filter(|(_, value)| **value != Value::Null) {
            if !allowed.contains(&name.as_str()) {
                return Err(bad(format!("calendar.{verb} has no argument '{name}'; it takes: {}", allowed.join(", "))));
            }
            let text =
                value.as_text().ok_or_else(|| bad(format!("the argument '{name}' of calendar.{verb} is text")))?;
            given.insert(name.as_str(), text);
        }
        Ok(Self { verb, given })
    }

    fn needed(&self, name: &str) -> Result<&'a str, Rejection> {
        let missing = || bad(format!("calendar.{} needs the argument '{name}'; give it", self.verb));
        self.given.get(name).copied().ok_or_else(missing)
    }

    fn time(&self, name: &str) -> Result<Option<SimTime>, Rejection> {
        let read = |text: &&str| {
            text.parse()
                .map_err(|_| bad(format!("'{name}' of calendar.{} is an RFC 3339 time with an offset", self.verb)))
        };
        self.given.get(name).map(read).transpose()
    }
}

fn bad(sentence: impl Into<String>) -> Rejection {
    Rejection::new("query/bad-arguments", sentence)
}

/// Returns the graded difference of two spans of events as values.
pub(crate) fn show_series(series: &super::series::Series) -> Value {
    whole("", "", series, &nobody(), &Moment::show)
}
