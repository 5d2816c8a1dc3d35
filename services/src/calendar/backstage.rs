//! What comes in from outside and goes out again: calendars as they are made, and iCalendar files, byte for byte where nobody touched them.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono_tz::Tz;
use dayshift_engine::{BlobId, Content, Context, Decision, Rejection, SmolStr, ToolCall, Value, map};

use super::component::Component;
use super::event::{CalendarEvent, Kept, Role};
use super::limits::{CALENDARS_MAX, COMPONENT_BYTES_MAX, EXCEPTIONS_MAX, FILE_BYTES_MAX, LINE_BYTES_MAX};
use super::lookup::{calendar_name, party};
use super::parse::parse;
use super::source::{File, Nesting, PieceKind, SplitFault, split, tzids};
use super::state::{CalendarState, Shelf};
use super::write;
use super::zones::Zones;

impl CalendarState {
    pub(crate) fn decide_make(
        &self,
        call: &ToolCall,
        context: &Context<'_>,
    ) -> Result<Decision<CalendarEvent>, Rejection> {
        let calendar = calendar_name(&self.spelled(call.text("calendar")))?;
        if self.calendars.contains(context.frame, &calendar) {
            return Err(Rejection::new(
                "calendar/calendar-exists",
                format!("there is a calendar '{calendar}' already; use it, or choose another name"),
            ));
        }
        let description = SmolStr::from(call.text("description"));
        if description.len() > LINE_BYTES_MAX {
            return Err(Rejection::new(
                "calendar/text-too-long",
                format!("a calendar's description has at most {LINE_BYTES_MAX} bytes; shorten it"),
            ));
        }
        let event = self.made(&calendar, owner_of(call)?, description, call.flag("free"))?;
        Ok(Decision::change(vec![event], map! { "calendar" => calendar }))
    }

    pub(crate) fn decide_import(
        &self,
        call: &ToolCall,
        context: &Context<'_>,
    ) -> Result<Decision<CalendarEvent>, Rejection> {
        let calendar = calendar_name(&self.spelled(call.text("calendar")))?;
        let owner = owner_of(call)?;
        let bytes = blob(call.text("blob"), context)?;
        if bytes.len() > FILE_BYTES_MAX {
            return Err(Rejection::new(
                "calendar/file-too-large",
                format!("the file has {} bytes, at most {FILE_BYTES_MAX} can be imported; split it", bytes.len()),
            ));
        }
        let file = split(&bytes).map_err(bad_file)?;
        let mut events = Vec::new();
        if !self.calendars.contains(context.frame, &calendar) {
            events.push(self.made(&calendar, owner, SmolStr::default(), false)?);
        }
        let shelf = self.peek_shelf(&calendar);
        let mut import = Import::new(shelf, context);
        import.take(&file)?;
        if let Some(shelf) = shelf {
            shelf.room(
                &calendar,
                import.series.keys().filter(|uid| !shelf.events.contains(context.frame, uid)).count(),
            )?;
        } else if import.series.len() > super::limits::EVENTS_MAX {
            return Err(Rejection::new(
                "calendar/calendar-full",
                "the file has more events than a calendar holds; split it",
            ));
        }
        let answer = map! {
            "calendar" => calendar.clone(),
            "events" => import.series.len(),
            "kept_as_bytes" => import.unread,
            "not_repeated" => import.faults(),
        };
        let answer = with_unknown_zones(answer, &import.series);
        if !import.kept.is_empty() {
            events.push(CalendarEvent::PiecesKept { calendar: calendar.clone(), pieces: import.kept });
        }
        events.extend(import.series.into_iter().map(|(uid, components)| CalendarEvent::EventSaved {
            calendar: calendar.clone(),
            uid,
            components,
        }));
        Ok(Decision::change(events, answer))
    }

    fn made(
        &self,
        calendar: &SmolStr,
        owner: Option<SmolStr>,
        description: SmolStr,
        free: bool,
    ) -> Result<CalendarEvent, Rejection> {
        if self.calendars.len() >= CALENDARS_MAX {
            return Err(Rejection::new(
                "calendar/too-many-calendars",
                format!("there are {CALENDARS_MAX} calendars, which is all that can be; use one that is there"),
            ));
        }
        Ok(CalendarEvent::CalendarMade { calendar: calendar.clone(), owner, description, free })
    }

    /// Returns a calendar as an iCalendar file, or nothing if there is no such calendar. A file that was imported and not touched comes out with
    /// the bytes that went in; what was touched keeps every line that nobody changed. `load` fetches content that rests beside the log.
    ///
    /// # Errors
    ///
    /// What `load` fails with.
    pub fn export<E>(
        &self,
        calendar: &str,
        mut load: impl FnMut(&Content) -> Result<Arc<[u8]>, E>,
    ) -> Result<Option<Vec<u8>>, E> {
        let Some(shelf) = self.peek_shelf(&calendar.into()) else { return Ok(None) };
        let mut pieces: BTreeMap<(u64, usize), (bool, &Content)> = BTreeMap::new();
        let (mut head, mut tail) = (None, None);
        for (place, kept) in shelf.kept.peek_all() {
            match kept.role {
                Role::Head => head = Some(&kept.bytes),
                Role::Tail => tail = Some(&kept.bytes),
                Role::Zone { .. } => drop(pieces.insert((*place, 0), (true, &kept.bytes))),
                Role::Other => drop(pieces.insert((*place, 0), (false, &kept.bytes))),
            }
        }
        let components = shelf.events.peek_all().flat_map(|(_, series)| series.components.iter());
        for (index, component) in components.enumerate() {
            pieces.insert((component.place, index + 1), (true, &component.source));
        }
        let mut out = Joined::new(match head {
            Some(head) => load(head)?,
            None => write::HEAD.as_bytes().into(),
        });
        for text in missing_zones(shelf, &mut load)? {
            out.component(text.into_bytes().into());
        }
        for (is_component, content) in pieces.into_values() {
            let bytes = load(content)?;
            if is_component { out.component(bytes) } else { out.stray(bytes) }
        }
        out.stray(match tail {
            Some(tail) => load(tail)?,
            None => write::TAIL.as_bytes().into(),
        });
        Ok(Some(out.bytes()))
    }
}

/// The pieces of a file that is put together. What came in with a file stands in the order in which it came, so that it comes out as it went in. A
/// component that was added comes behind all of that, unless a piece begins something and does not end it, which would swallow the component: then it
/// comes before that piece.
struct Joined {
    pieces: Vec<Arc<[u8]>>,
    nesting: Nesting,
    /// Where a component can stand that cannot stand at the end.
    place: usize,
}

impl Joined {
    fn new(head: Arc<[u8]>) -> Self {
        let mut joined = Self { pieces: Vec::new(), nesting: Nesting::default(), place: 0 };
        joined.stray(head);
        joined
    }

    /// Adds an event or a zone. It leaves open what was open before it.
    fn component(&mut self, bytes: Arc<[u8]>) {
        if self.nesting.is_within_calendar() {
            self.stray(bytes);
        } else {
            self.pieces.insert(self.place, bytes);
            self.place += 1;
        }
    }

    /// Adds anything else.
    fn stray(&mut self, bytes: Arc<[u8]>) {
        self.nesting.pass(&bytes);
        self.pieces.push(bytes);
        if self.nesting.is_within_calendar() {
            self.place = self.pieces.len();
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.pieces.iter().map(|piece| piece.len() + 2).sum());
        self.pieces.iter().for_each(|piece| append(&mut out, piece));
        out
    }
}

/// Adds a piece, on a line of its own also behind a file that was cut off within one.
fn append(out: &mut Vec<u8>, piece: &[u8]) {
    if !piece.is_empty() && out.last().is_some_and(|last| *last != b'\n') {
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(piece);
}

/// Returns the VTIMEZONEs of the zones that lines of events written here name and no piece of a file defines.
fn missing_zones<E>(shelf: &Shelf, load: &mut impl FnMut(&Content) -> Result<Arc<[u8]>, E>) -> Result<Vec<String>, E> {
    let defined: Vec<&str> = shelf
        .kept
        .peek_all()
        .filter_map(|(_, kept)| match &kept.role {
            Role::Zone { id, .. } => Some(id.as_str()),
            Role::Head | Role::Other | Role::Tail => None,
        })
        .collect();
    let mut used: BTreeMap<SmolStr, (i64, i64)> = BTreeMap::new();
    let components = shelf.events.peek_all().flat_map(|(_, series)| series.components.iter());
    // A file that came in without a definition goes out without one: only what was written here is completed.
    for component in components.filter(|component| component.is_ours) {
        // A file may call a zone by another name than the database: what counts is the name in the line.
        let named = tzids(&load(&component.source)?);
        for id in named.into_iter().filter(|id| !defined.contains(&id.as_str()) && id.parse::<Tz>().is_ok()) {
            let (one, other) = (component.start.rough_instant(), component.end.rough_instant());
            let range = used.entry(id).or_insert((one, one));
            *range = (range.0.min(one).min(other), range.1.max(one).max(other));
        }
    }
    Ok(used.into_iter().filter_map(|(name, (first, last))| write::zone(&name, first, last)).collect())
}

/// A file on its way in.
struct Import<'a> {
    context: &'a Context<'a>,
    zones: Zones,
    /// The TZIDs that files before this one have defined; a file that defines one twice keeps both.
    known: Vec<SmolStr>,
    has_head: bool,
    place: u64,
    kept: Vec<(u64, Kept)>,
    series: BTreeMap<SmolStr, Vec<Component>>,
    unread: usize,
}

impl<'a> Import<'a> {
    fn new(shelf: Option<&Shelf>, context: &'a Context<'a>) -> Self {
        let known =
            shelf.into_iter().flat_map(|shelf| shelf.kept.peek_all()).filter_map(|(_, kept)| match &kept.role {
                Role::Zone { id, .. } => Some(id.clone()),
                Role::Head | Role::Other | Role::Tail => None,
            });
        Self {
            context,
            zones: Zones::default(),
            known: known.collect(),
            has_head: shelf.is_some_and(|shelf| !shelf.kept.is_empty()),
            place: shelf.map_or(0, |shelf| shelf.next_place),
            kept: Vec::new(),
            series: BTreeMap::new(),
            unread: 0,
        }
    }

    fn take(&mut self, file: &File<'_>) -> Result<(), Rejection> {
        let largest = file.pieces.iter().map(|(_, bytes)| bytes.len()).max().unwrap_or_default();
        if largest > COMPONENT_BYTES_MAX {
            return Err(Rejection::new(
                "calendar/event-too-large",
                format!("one component of the file has {largest} bytes, at most {COMPONENT_BYTES_MAX} are taken"),
            ));
        }
        let zones: Vec<Option<SmolStr>> = file
            .pieces
            .iter()
            .map(|(kind, bytes)| match kind {
                PieceKind::Zone => self.zones.define(bytes, self.context.budget()),
                PieceKind::Event | PieceKind::Other => Ok(None),
            })
            .collect::<Result<_, _>>()?;
        let has_head = self.has_head;
        if !has_head {
            self.keep(Role::Head, file.head);
        }
        for ((kind, bytes), zone) in file.pieces.iter().zip(zones) {
            match (kind, zone) {
                (PieceKind::Event, _) => self.event(bytes)?,
                (PieceKind::Zone, Some(id)) if self.known.contains(&id) => {}
                (PieceKind::Zone, Some(id)) => {
                    // One that defines nothing, under a name that nobody knows, stays as it is.
                    match self.zones.resolve(&id) {
                        Some(zone) => self.keep(Role::Zone { id, zone }, bytes),
                        None => self.keep(Role::Other, bytes),
                    }
                }
                (PieceKind::Zone | PieceKind::Other, _) => self.keep(Role::Other, bytes),
            }
        }
        if !has_head {
            self.keep(Role::Tail, file.tail);
        }
        Ok(())
    }

    fn event(&mut self, bytes: &[u8]) -> Result<(), Rejection> {
        let source = self.context.store(bytes.to_vec());
        let Some((uid, component)) = parse(bytes, source, &self.zones, self.context.budget())? else {
            self.unread += 1;
            self.keep(Role::Other, bytes);
            return Ok(());
        };
        let uid = uid.filter(|uid| uid != "*");
        let uid = uid.unwrap_or_else(|| format!("{}@dayshift", BlobId::of(bytes).short()).into());
        let component = Component { place: self.place, ..component };
        let components = self.series.entry(uid).or_default();
        if components.len() > EXCEPTIONS_MAX {
            return Err(Rejection::new(
                "calendar/too-many-exceptions",
                format!("a series of the file has more than {EXCEPTIONS_MAX} changed instances; take some out"),
            ));
        }
        let same = components.iter().position(|each| each.recurrence_id == component.recurrence_id);
        self.place += 1;
        match same {
            // Of two that say they are the same, the later revision counts; the other's bytes stay.
            Some(at) => {
                let (new, old) = if component.sequence >= components[at].sequence {
                    (component.clone(), std::mem::replace(&mut components[at], component))
                } else {
                    (components[at].clone(), component)
                };
                debug_assert!(new.sequence >= old.sequence);
                self.unread += 1;
                self.kept.push((old.place, Kept { role: Role::Other, bytes: old.source }));
            }
            None => components.push(component),
        }
        Ok(())
    }

    fn keep(&mut self, role: Role, bytes: &[u8]) {
        let kept = Kept { role, bytes: self.context.store(bytes.to_vec()) };
        self.kept.push((self.place, kept));
        self.place += 1;
    }

    fn faults(&self) -> Value {
        let all = self.series.iter().flat_map(|(uid, components)| components.iter().map(move |each| (uid, each)));
        all.filter_map(|(uid, each)| {
            let fault = each.fault.clone()?;
            Some(map! { "uid" => uid.clone(), "summary" => each.summary.clone(), "because" => fault })
        })
        .collect()
    }
}

/// Adds to the answer the events whose times have a zone that nobody knows.
fn with_unknown_zones(mut answer: Value, series: &BTreeMap<SmolStr, Vec<Component>>) -> Value {
    let all = series.iter().flat_map(|(uid, components)| components.iter().map(move |each| (uid, each)));
    let marked = all.filter(|(_, each)| !each.unknown_zones.is_empty());
    let rows: Vec<Value> = marked
        .map(|(uid, each)| {
            let zones: Value = each.unknown_zones.iter().cloned().collect();
            map! { "uid" => uid.clone(), "summary" => each.summary.clone(), "zones" => zones }
        })
        .collect();
    if let Value::Map(answer) = &mut answer
        && !rows.is_empty()
    {
        answer.insert("unknown_zones".into(), Value::List(rows));
    }
    answer
}

fn owner_of(call: &ToolCall) -> Result<Option<SmolStr>, Rejection> {
    call.optional_text("owner").map(|owner| party(owner).map(|party| party.address)).transpose()
}

fn bad_file(fault: SplitFault) -> Rejection {
    match fault {
        SplitFault::NoCalendar => Rejection::new(
            "calendar/bad-file",
            "the blob is no iCalendar file: it has no line BEGIN:VCALENDAR; import a .ics file",
        ),
        SplitFault::TooDeep => {
            Rejection::new("calendar/bad-file", "the components of the file nest too deeply; import a plainer one")
        }
    }
}

fn blob(id: &str, context: &Context<'_>) -> Result<Arc<[u8]>, Rejection> {
    let unknown =
        || Rejection::new("calendar/unknown-blob", format!("there is no blob '{id}'; keep the content first"));
    let id: BlobId = id.parse().map_err(|_| unknown())?;
    context.blobs.get(id).ok_or_else(unknown)
}
