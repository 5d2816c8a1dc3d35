//! Where events lie in time, so that a listing of a week does not look at ten years. Instants are rough (see
//! [`super::moment::Moment::rough_instant`]); whoever asks looks again. It follows from the events, and a test builds it anew.

use dayshift_engine::SmolStr;
use imbl::{OrdMap, OrdSet};

use super::moment::{DAY_SECONDS, OFFSET_SECONDS_MAX};
use super::series::{Series, Span};

/// What lasts longer than this is looked at for every range, in seconds.
const SHORT_SECONDS_MAX: i64 = 7 * DAY_SECONDS;

/// Where the events of one calendar lie in time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Index {
    /// Events that do not repeat and last up to a week, by their start.
    short: OrdMap<(i64, SmolStr), i64>,
    /// Events that do not repeat and last longer.
    long: OrdMap<SmolStr, (i64, i64)>,
    /// Events that repeat.
    repeating: OrdSet<SmolStr>,
}

impl Index {
    pub(crate) fn insert(&mut self, uid: &SmolStr, series: &Series) {
        let (start, end) = series.rough_range();
        if series.repeats() {
            self.repeating.insert(uid.clone());
        } else if end - start > SHORT_SECONDS_MAX {
            self.long.insert(uid.clone(), (start, end));
        } else {
            self.short.insert((start, uid.clone()), end);
        }
    }

    pub(crate) fn remove(&mut self, uid: &SmolStr, series: &Series) {
        self.repeating.remove(uid);
        self.long.remove(uid);
        self.short.remove(&(series.rough_range().0, uid.clone()));
    }

    /// Returns the events that may have an instance within `span`, in no order that means anything, each once.
    pub(crate) fn candidates(&self, span: Span) -> impl Iterator<Item = &SmolStr> {
        let from = span.from.saturating_sub(OFFSET_SECONDS_MAX);
        let until = span.until.saturating_add(OFFSET_SECONDS_MAX);
        let first = (from.saturating_sub(SHORT_SECONDS_MAX), SmolStr::default());
        let short = self.short.range(first..(until, SmolStr::default()));
        let short = short.filter(move |(_, end)| **end >= from).map(|((_, uid), _)| uid);
        let long = self.long.iter().filter(move |(_, (start, end))| *start <= until && *end >= from);
        short.chain(long.map(|(uid, _)| uid)).chain(self.repeating.iter())
    }
}
