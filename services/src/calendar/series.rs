//! All components with one UID, and the instances that follow from them within a range: rules and extra dates, without the excepted ones, with changed
//! instances in place of those that they change.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::Arc;

use chrono_tz::Tz;
use dayshift_engine::{Budget, Canonical, Graded, OverBudget, Rejection, SmolStr};

use super::component::Component;
use super::known::{Known, walk};
use super::limits::INSTANCES_MAX;
use super::moment::{DAY_SECONDS, Moment, OFFSET_SECONDS_MAX, Zone};
use super::rule::Rule;

/// All components with one UID: at most one that others change, and the changed instances in order.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) components: Arc<[Component]>,
    /// What its rules give around the time at which it came in, a member for each rule of the master.
    known: Arc<[Known]>,
}

/// What is known of a series follows from it.
impl PartialEq for Series {
    fn eq(&self, other: &Self) -> bool {
        self.components == other.components
    }
}

/// One time at which an event takes place.
#[derive(Clone, Debug)]
pub(crate) struct Instance<'a> {
    /// What it says.
    pub(crate) component: &'a Component,
    /// Which instance of its series it is; nothing for an event that does not repeat.
    pub(crate) recurrence_id: Option<Moment>,
    pub(crate) start: Moment,
    pub(crate) end: Moment,
    /// The instants for whoever asked.
    pub(crate) start_instant: i64,
    pub(crate) end_instant: i64,
}

/// A range of time that somebody asks for, half-open, in instants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) from: i64,
    pub(crate) until: i64,
    /// The zone of dates and floating times.
    pub(crate) local: Tz,
}

/// Why the instances within a range are not told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RangeFault {
    /// There are more than [`INSTANCES_MAX`].
    TooMany,
    /// Looking for them takes more than the call may.
    OverBudget(OverBudget),
}

impl From<OverBudget> for RangeFault {
    fn from(over: OverBudget) -> Self {
        Self::OverBudget(over)
    }
}

impl From<RangeFault> for Rejection {
    fn from(fault: RangeFault) -> Self {
        match fault {
            RangeFault::OverBudget(over) => over.into(),
            RangeFault::TooMany => Self::new(
                "calendar/too-many-instances",
                format!("the range holds more than {INSTANCES_MAX} instances; ask for a shorter one"),
            ),
        }
    }
}

impl Span {
    /// Returns the range that holds every instance that a calendar can write.
    pub(crate) fn everything(local: Tz) -> Self {
        Self { from: i64::MIN / 4, until: i64::MAX / 4, local }
    }

    /// Returns whether something from `start` to `end` overlaps the range. What lasts no time at all counts strictly inside only.
    pub(crate) fn overlaps(&self, start: i64, end: i64) -> bool {
        start < self.until && end > self.from
    }
}

impl Graded for Series {
    fn canonical(&self, into: &mut Canonical) {
        self.components.iter().for_each(|component| into.bytes(component.identity.as_bytes()));
    }
}

impl Series {
    /// Returns the series of `components`, put in order: the one without RECURRENCE-ID first, then the others by theirs.
    /// It came in at the instant `now`.
    pub(crate) fn new(mut components: Vec<Component>, now: i64) -> Self {
        components.sort_by(|left, right| left.recurrence_id.cmp(&right.recurrence_id));
        let master = components.first().filter(|first| first.recurrence_id.is_none());
        let known = master.map(|master| master.rules.iter().map(|rule| Known::count(rule, master, now)).collect());
        Self { known: known.unwrap_or_default(), components: components.into() }
    }

    /// Returns the component that the others change, or the first of the others if there is none.
    pub(crate) fn main(&self) -> &Component {
        self.components.first().expect("a series has at least one component")
    }

    /// Returns the component that the others change.
    pub(crate) fn master(&self) -> Option<&Component> {
        self.components.first().filter(|first| first.recurrence_id.is_none())
    }

    /// Returns the changed instances.
    pub(crate) fn exceptions(&self) -> &[Component] {
        &self.components[usize::from(self.master().is_some())..]
    }

    /// Returns whether it can have more than one instance.
    pub(crate) fn repeats(&self) -> bool {
        self.components.len() > 1 || self.main().repeats() || self.main().recurrence_id.is_some()
    }

    /// Returns the instants between which everything of an event that does not repeat lies, right to within [`OFFSET_SECONDS_MAX`].
    pub(crate) fn rough_range(&self) -> (i64, i64) {
        let main = self.main();
        (main.start.rough_instant(), main.end.rough_instant())
    }

    /// Returns the instances that overlap `span`, in order.
    pub(crate) fn within(&self, span: Span, budget: &Budget) -> Result<Vec<Instance<'_>>, RangeFault> {
        let main = self.main();
        let dates = main.except_dates.len() + main.extra_dates.len();
        budget.work(16 + (dates + 8 * self.components.len()) as u64)?;
        let mut found = Vec::new();
        if let Some(master) = self.master() {
            let changed: BTreeMap<i64, &Component> =
                self.exceptions().iter().filter_map(|each| Some((id_of(each, span.local)?, each))).collect();
            if master.repeats() {
                self.expand(master, &changed, span, budget, &mut found)?;
            } else if !changed.contains_key(&master.start.instant(span.local)) {
                found.push(instance(master, None, master.start.clone(), master.end.clone(), span.local));
            }
        }
        let excepted = |each: &Component| {
            let id = each.recurrence_id.as_ref().zip(self.master());
            id.is_some_and(|(id, master)| is_excepted(master, id, span.local))
        };
        for each in self.exceptions().iter().filter(|each| !excepted(each)) {
            found.push(instance(each, each.recurrence_id.clone(), each.start.clone(), each.end.clone(), span.local));
        }
        found.retain(|instance| span.overlaps(instance.start_instant, instance.end_instant));
        found.sort_by(|left, right| {
            (left.start_instant, &left.recurrence_id).cmp(&(right.start_instant, &right.recurrence_id))
        });
        Ok(found)
    }

    /// Returns the instance with `recurrence_id`, at the instant `id`, if the series has it.
    pub(crate) fn instance(&self, id: i64, local: Tz, budget: &Budget) -> Result<Option<Instance<'_>>, RangeFault> {
        // Its place may have moved anywhere, so look for the changed one first, then where the rules put it.
        let changed = self.exceptions().iter().find(|each| id_of(each, local) == Some(id));
        if let Some(each) = changed {
            let id = each.recurrence_id.clone();
            return Ok(Some(instance(each, id, each.start.clone(), each.end.clone(), local)));
        }
        let shift = self.shift_seconds();
        let span = Span { from: id - shift - 1, until: id + shift + 1, local };
        let matches =
            |instance: &Instance<'_>| instance.recurrence_id.as_ref().unwrap_or(&instance.start).instant(local) == id;
        // What lasts no time counts strictly inside, so the span reaches a second to both sides.
        Ok(self.within(span, budget)?.into_iter().find(matches))
    }

    fn expand<'a>(
        &'a self,
        master: &'a Component,
        changed: &BTreeMap<i64, &'a Component>,
        span: Span,
        budget: &Budget,
        found: &mut Vec<Instance<'a>>,
    ) -> Result<(), RangeFault> {
        let slack = self.shift_seconds() + self.longest_seconds() + OFFSET_SECONDS_MAX;
        let (from, until) = (span.from.saturating_sub(slack), span.until.saturating_add(slack));
        let mut starts: BTreeMap<i64, Option<i64>> = BTreeMap::new();
        let mut is_first_allowed = master.rules.is_empty();
        for (rule, known) in master.rules.iter().zip(&*self.known) {
            is_first_allowed |= !is_behind(rule, &master.start, span.local);
            match known.between(from, until) {
                Some(known) => starts.extend(known.iter().map(|wall| (*wall, None))),
                None => count(rule, master, from..=until, budget, &mut starts)?,
            }
        }
        if is_first_allowed && (from..=until).contains(&master.start.wall_seconds) {
            starts.entry(master.start.wall_seconds).or_default();
        }
        for (date, lasts) in &master.extra_dates {
            let wall = if date.zone == master.start.zone || matches!(date.zone, Zone::Date | Zone::Floating) {
                date.wall_seconds
            } else {
                master.start.zone.wall(date.instant(span.local), span.local)
            };
            if (from..=until).contains(&wall) {
                starts.insert(wall, *lasts);
            }
        }
        if starts.is_empty() {
            return Ok(());
        }
        budget.work(8 * starts.len() as u64)?;
        let excepted = Excepted::of(master, span.local);
        for (wall, lasts) in starts {
            let start = Moment::new(wall, master.start.zone.clone());
            let id = start.instant(span.local);
            if changed.contains_key(&id) || excepted.contains(&start, id) {
                continue;
            }
            let following = changed.range(..=id).rev().find(|(_, each)| each.and_following);
            let instance = match following {
                Some((_, base)) => {
                    let moved = base.start.wall_seconds - base.recurrence_id.as_ref().map_or(0, |id| id.wall_seconds);
                    let begins = Moment::new(wall + moved, base.start.zone.clone());
                    let ends = end_of(&begins, base.duration_seconds(), &base.end.zone);
                    instance(base, Some(start), begins, ends, span.local)
                }
                None => {
                    let ends = end_of(&start, lasts.unwrap_or_else(|| master.duration_seconds()), &master.end.zone);
                    instance(master, Some(start.clone()), start, ends, span.local)
                }
            };
            if span.overlaps(instance.start_instant, instance.end_instant) {
                found.push(instance);
            }
        }
        Ok(())
    }

    /// Returns how far changed instances that take the following ones along have moved them.
    fn shift_seconds(&self) -> i64 {
        let moved = self.exceptions().iter().filter(|each| each.and_following).map(|each| {
            let id = each.recurrence_id.as_ref().map_or(0, |id| id.wall_seconds);
            (each.start.wall_seconds - id).abs()
        });
        moved.max().unwrap_or_default()
    }

    fn longest_seconds(&self) -> i64 {
        let periods = self.main().extra_dates.iter().filter_map(|(_, lasts)| *lasts);
        periods.chain(self.components.iter().map(Component::duration_seconds)).max().unwrap_or_default()
    }
}

/// Adds the starts by `rule` within `window`.
fn count(
    rule: &Rule,
    master: &Component,
    window: RangeInclusive<i64>,
    budget: &Budget,
    starts: &mut BTreeMap<i64, Option<i64>>,
) -> Result<(), RangeFault> {
    let mut is_too_many = false;
    let from = *window.start();
    walk(rule, master, window, budget, |wall| {
        if wall >= from {
            starts.entry(wall).or_default();
            is_too_many = starts.len() > INSTANCES_MAX;
        }
        if is_too_many { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    if is_too_many { Err(RangeFault::TooMany) } else { Ok(()) }
}

/// The dates on which a series does not take place.
struct Excepted {
    instants: Vec<i64>,
    days: Vec<i64>,
}

impl Excepted {
    fn of(master: &Component, local: Tz) -> Self {
        let (days, instants): (Vec<&Moment>, Vec<&Moment>) =
            master.except_dates.iter().partition(|date| date.is_date());
        let mut instants: Vec<i64> = instants.into_iter().map(|date| except_instant(master, date, local)).collect();
        let mut days: Vec<i64> = days.into_iter().map(Moment::day).collect();
        instants.sort_unstable();
        days.sort_unstable();
        Self { instants, days }
    }

    fn contains(&self, start: &Moment, instant: i64) -> bool {
        self.instants.binary_search(&instant).is_ok() || self.days.binary_search(&start.day()).is_ok()
    }
}

fn is_excepted(master: &Component, id: &Moment, local: Tz) -> bool {
    Excepted::of(master, local).contains(id, id.instant(local))
}

/// Returns the instant that an exception date means. A date without a zone hangs where the series does.
fn except_instant(master: &Component, date: &Moment, local: Tz) -> i64 {
    match (&date.zone, &master.start.zone) {
        (Zone::Floating, zone) => zone.instant(date.wall_seconds, local),
        (_, Zone::Date) => Moment::new(date.day() * DAY_SECONDS, Zone::Date).instant(local),
        _ => date.instant(local),
    }
}

/// Returns the instant that the RECURRENCE-ID of a changed instance names.
fn id_of(component: &Component, local: Tz) -> Option<i64> {
    component.recurrence_id.as_ref().map(|id| id.instant(local))
}

fn is_behind(rule: &Rule, start: &Moment, local: Tz) -> bool {
    rule.until.as_ref().is_some_and(|until| start.instant(local) > until.instant(local))
}

/// Returns the end of what begins at `start` and lasts so long, in the zone in which the end is written.
fn end_of(start: &Moment, seconds: i64, zone: &Zone) -> Moment {
    if start.zone == *zone {
        return start.later(seconds);
    }
    let instant = start.rough_instant() + seconds;
    Moment::new(zone.wall(instant, Tz::UTC), zone.clone())
}

fn instance(
    component: &Component,
    recurrence_id: Option<Moment>,
    start: Moment,
    end: Moment,
    local: Tz,
) -> Instance<'_> {
    let start_instant = start.instant(local);
    // A clock that goes forward within an event of no length on the wall must not end it before it starts.
    let end_instant = end.instant(local).max(start_instant);
    Instance { component, recurrence_id, start, end, start_instant, end_instant }
}

/// The identity of one event for messages: a calendar and a UID.
pub(crate) fn shown(calendar: &str, uid: &SmolStr) -> String {
    format!("'{uid}' in '{calendar}'")
}
