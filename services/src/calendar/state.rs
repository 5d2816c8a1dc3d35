//! The calendars: their particulars, their events by UID with an index by time, and what imported files hold besides. All of it is a fold of
//! [`CalendarEvent`]s.

use std::sync::Arc;

use dayshift_engine::{Applying, Canonical, Collection, Frame, Graded, Key, ReadKind, Seq, SmolStr, StateDigest};
use imbl::OrdMap;

use super::event::{CalendarEvent, Kept};
use super::index::Index;
use super::series::Series;
use crate::lowercase::composed;

/// What is known of a calendar besides its events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Info {
    pub(crate) owner: Option<SmolStr>,
    pub(crate) description: SmolStr,
    /// Whether what stands in it leaves the time free.
    pub(crate) free: bool,
}

impl Graded for Info {
    fn canonical(&self, into: &mut Canonical) {
        into.bool(self.owner.is_some());
        into.text(self.owner.as_deref().unwrap_or_default());
        into.text(&self.description);
        if self.free {
            into.bool(true);
        }
    }
}

impl Graded for Kept {
    fn canonical(&self, into: &mut Canonical) {
        into.bytes(self.bytes.id().as_bytes());
    }
}

/// The events of one calendar.
#[derive(Clone, Debug)]
pub(crate) struct Shelf {
    pub(crate) events: Collection<SmolStr, Series>,
    pub(crate) kept: Collection<u64, Kept>,
    pub(crate) index: Index,
    /// The place that the next piece gets.
    pub(crate) next_place: u64,
}

impl Shelf {
    fn new(calendar: &str) -> Self {
        Self {
            events: Collection::new(format!("calendar:{calendar}/")),
            kept: Collection::new(format!("calendar:{calendar}#kept/")),
            index: Index::default(),
            next_place: 0,
        }
    }

    fn digest(&self) -> StateDigest {
        let mut digest = self.events.digest();
        digest += self.kept.digest();
        digest
    }
}

/// All calendars. See [`crate::calendar`] for the keys.
#[derive(Clone, Debug)]
pub struct CalendarState {
    pub(crate) calendars: Collection<SmolStr, Info>,
    pub(crate) shelves: OrdMap<SmolStr, Arc<Shelf>>,
    digest: StateDigest,
}

impl Default for CalendarState {
    fn default() -> Self {
        Self { calendars: Collection::new("calendar:"), shelves: OrdMap::new(), digest: StateDigest::default() }
    }
}

impl CalendarState {
    /// Returns the events of `calendar`, or notes that there was no such calendar.
    pub(crate) fn shelf(&self, frame: &Frame, calendar: &SmolStr) -> Option<&Shelf> {
        if self.calendars.get(frame, calendar).is_none() {
            frame.note(ReadKind::Membership, Key::new(format!("calendar:{calendar}/")), Seq::default());
        }
        self.peek_shelf(calendar)
    }

    /// Returns the name of a calendar as it is kept: a composed and a decomposed spelling are one name.
    pub(crate) fn spelled(&self, name: &str) -> SmolStr {
        // A calendar from an older log may be kept as somebody wrote it.
        if name.is_ascii() || self.shelves.contains_key(name) { name.into() } else { (*composed(name)).into() }
    }

    pub(crate) fn peek_shelf(&self, calendar: &SmolStr) -> Option<&Shelf> {
        self.shelves.get(calendar).map(Arc::as_ref)
    }

    pub(crate) fn graded_digest(&self) -> StateDigest {
        let mut digest = self.digest;
        digest += self.calendars.digest();
        digest
    }

    pub(crate) fn apply_event(&mut self, event: CalendarEvent, applying: &mut Applying<'_>) {
        match event {
            CalendarEvent::CalendarMade { calendar, owner, description, free } => {
                self.change(&calendar, applying, |_, _| ());
                self.calendars.insert(applying, calendar, Info { owner, description, free });
            }
            CalendarEvent::PiecesKept { calendar, pieces } => self.change(&calendar, applying, |shelf, applying| {
                for (place, kept) in pieces {
                    shelf.next_place = shelf.next_place.max(place + 1);
                    shelf.kept.insert(applying, place, kept);
                }
            }),
            CalendarEvent::EventSaved { calendar, uid, components } => {
                if components.is_empty() {
                    return self.forget(&calendar, &uid, applying);
                }
                self.change(&calendar, applying, |shelf, applying| {
                    let last = components.iter().map(|component| component.place + 1).max();
                    shelf.next_place = shelf.next_place.max(last.unwrap_or_default());
                    let series = Series::new(components, applying.time.as_millis().div_euclid(1000));
                    if let Some(old) = shelf.events.peek(&uid) {
                        shelf.index.remove(&uid, old);
                    }
                    shelf.index.insert(&uid, &series);
                    shelf.events.insert(applying, uid, series);
                });
            }
            CalendarEvent::EventDeleted { calendar, uid } => self.forget(&calendar, &uid, applying),
        }
    }

    fn forget(&mut self, calendar: &SmolStr, uid: &SmolStr, applying: &mut Applying<'_>) {
        if self.peek_shelf(calendar).is_none_or(|shelf| shelf.events.peek(uid).is_none()) {
            return;
        }
        self.change(calendar, applying, |shelf, applying| {
            if let Some(old) = shelf.events.remove(applying, uid) {
                shelf.index.remove(uid, &old);
            }
        });
    }

    /// Changes the events of a calendar, which gets its shelf now if it has none, and keeps the digest of all shelves.
    fn change(
        &mut self,
        calendar: &SmolStr,
        applying: &mut Applying<'_>,
        change: impl FnOnce(&mut Shelf, &mut Applying<'_>),
    ) {
        let slot = self.shelves.entry(calendar.clone()).or_insert_with(|| Arc::new(Shelf::new(calendar)));
        let shelf = Arc::make_mut(slot);
        self.digest -= shelf.digest();
        change(shelf, applying);
        self.digest += shelf.digest();
    }
}
