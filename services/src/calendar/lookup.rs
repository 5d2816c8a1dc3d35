//! What most calls need: which calendar, which event, which instance, which time.

use chrono_tz::Tz;
use dayshift_engine::{Budget, Context, Frame, Rejection, SimTime, SmolStr, ToolCall};

use super::component::{Component, Party};
use super::event::Role;
use super::limits::{ADDRESS_BYTES_MAX, INSTANCES_MAX, NAME_BYTES_MAX, PAGE_DEFAULT, PAGE_MAX};
use super::moment::{Moment, Zone, parse_date, parse_naive, show_instant, times_shown};
use super::series::{Instance, RangeFault, Series, Span, shown};
use super::state::{CalendarState, Info, Shelf};
use super::zones::Zones;
use crate::lowercase::composed;
use crate::service::Desk;

/// An event that a call names.
pub(crate) struct Found<'a> {
    pub(crate) calendar: SmolStr,
    pub(crate) info: &'a Info,
    pub(crate) shelf: &'a Shelf,
    pub(crate) uid: SmolStr,
    pub(crate) series: &'a Series,
}

/// The particulars of a time argument.
pub(crate) struct TimeForm<'a> {
    pub(crate) zone: Option<&'a str>,
    pub(crate) all_day: Option<bool>,
    pub(crate) repeats: bool,
}

impl CalendarState {
    /// Returns the calendar `name` and its events.
    pub(crate) fn calendar(&self, name: &str, frame: &Frame) -> Result<(SmolStr, &Info, &Shelf), Rejection> {
        let name = self.spelled(name);
        let shelf = self.shelf(frame, &name);
        match self.calendars.peek(&name).zip(shelf) {
            Some((info, shelf)) => Ok((name, info, shelf)),
            None => Err(Rejection::new(
                "calendar/unknown-calendar",
                format!("there is no calendar '{name}'; calendar.calendars lists them"),
            )),
        }
    }

    /// Returns the event that `calendar` and `uid` of the call name.
    pub(crate) fn find(&self, call: &ToolCall, frame: &Frame) -> Result<Found<'_>, Rejection> {
        let (calendar, info, shelf) = self.calendar(call.text("calendar"), frame)?;
        let uid = SmolStr::from(call.text("uid"));
        match shelf.events.get(frame, &uid) {
            Some(series) => Ok(Found { calendar, info, shelf, uid, series }),
            None => Err(Rejection::new(
                "calendar/unknown-event",
                format!(
                    "there is no event {}; calendar.events and calendar.search show the uids",
                    shown(&calendar, &uid)
                ),
            )),
        }
    }

    /// Returns the names of the calendars that `address` owns, in order.
    pub(crate) fn calendars_of(&self, address: &str, frame: &Frame) -> Vec<SmolStr> {
        let names: Vec<SmolStr> = self.calendars.list(frame).cloned().collect();
        let owns =
            |name: &SmolStr| self.calendars.get(frame, name).is_some_and(|info| info.owner.as_deref() == Some(address));
        names.into_iter().filter(owns).collect()
    }
}

impl Shelf {
    /// Returns the zones that the calendar's files define.
    pub(crate) fn zones(&self) -> Zones {
        Zones::known(self.kept.peek_all().filter_map(|(_, kept)| match &kept.role {
            Role::Zone { id, zone } => Some((id.clone(), zone.clone())),
            Role::Head | Role::Other | Role::Tail => None,
        }))
    }

    /// Returns the instances of all events that overlap `span`, in order of time, and notes what was looked at and what is returned.
    pub(crate) fn within(&self, frame: &Frame, span: Span) -> Result<Vec<(&SmolStr, Instance<'_>)>, Rejection> {
        // The index stands for a scan of all events.
        drop(self.events.scan(frame));
        let mut found = Vec::new();
        for uid in self.index.candidates(span) {
            let Some(series) = self.events.peek(uid) else { continue };
            let instances = series.within(span, frame.budget())?;
            if found.len() + instances.len() > INSTANCES_MAX {
                return Err(RangeFault::TooMany.into());
            }
            found.extend(instances.into_iter().map(|instance| (uid, instance)));
        }
        found.sort_by(|(left_uid, left), (right_uid, right)| {
            let key = |uid, instance: &Instance<'_>| (instance.start_instant, uid, instance.recurrence_id.clone());
            (left.start_instant, *left_uid)
                .cmp(&(right.start_instant, *right_uid))
                .then_with(|| key(*left_uid, left).cmp(&key(*right_uid, right)))
        });
        Ok(found)
    }
}

/// Returns the instance that `recurrence_id` names.
pub(crate) fn instance_of<'a>(
    found: &Found<'a>,
    recurrence_id: &str,
    local: Tz,
    budget: &Budget,
) -> Result<Instance<'a>, Rejection> {
    let zone = found.series.main().recurrence_id.as_ref().map_or(&found.series.main().start.zone, |id| &id.zone);
    let at = parse_instant(recurrence_id, zone, local)?;
    found.series.instance(at, local, budget)?.ok_or_else(|| {
        Rejection::new(
            "calendar/unknown-instance",
            format!(
                "the event {} has no instance {recurrence_id}; take a recurrence_id from calendar.events",
                shown(&found.calendar, &found.uid)
            ),
        )
    })
}

fn parse_instant(text: &str, zone: &Zone, local: Tz) -> Result<i64, Rejection> {
    if let Ok(time) = text.parse::<SimTime>() {
        return Ok(time.as_millis().div_euclid(1000));
    }
    let wall = parse_naive(text).or_else(|| parse_date(text).map(|date| date.wall_seconds));
    wall.map(|wall| zone.instant(wall, local)).ok_or_else(|| {
        Rejection::new(
            "calendar/bad-recurrence-id",
            format!("'{text}' is no recurrence_id; take one from calendar.events, such as 2026-03-16T09:00:00+01:00"),
        )
    })
}

/// Returns the range of the call's `from` and `until`.
pub(crate) fn span_of(call: &ToolCall, local: Tz) -> Result<Span, Rejection> {
    parse_range(call.time("from"), call.time("until"), local)
}

/// Returns the range between two times; one that is not given lies beyond everything.
pub(crate) fn parse_range(from: Option<SimTime>, until: Option<SimTime>, local: Tz) -> Result<Span, Rejection> {
    let seconds = |time: SimTime| time.as_millis().div_euclid(1000);
    let everything = Span::everything(local);
    let from = from.map_or(everything.from, seconds);
    let until = until.map_or(everything.until, seconds);
    if from >= until {
        return Err(Rejection::new(
            "calendar/empty-range",
            "the range ends before it begins; give an until after from",
        ));
    }
    Ok(Span { from, until, local })
}

/// Returns the call's `limit`.
pub(crate) fn limit_of(call: &ToolCall) -> Result<usize, Rejection> {
    match call.int("limit") {
        None => Ok(PAGE_DEFAULT),
        Some(limit) => usize::try_from(limit).ok().filter(|limit| (1..=PAGE_MAX).contains(limit)).ok_or_else(|| {
            Rejection::new("calendar/bad-limit", format!("limit is 1 to {PAGE_MAX}; ask for shorter ranges instead"))
        }),
    }
}

/// Returns a good name for a calendar.
pub(crate) fn calendar_name(name: &str) -> Result<SmolStr, Rejection> {
    let name = &*composed(name);
    let is_good = !name.trim().is_empty()
        && name.trim() == name
        && name.len() <= NAME_BYTES_MAX
        && !name.chars().any(|character| character.is_control() || "/#*".contains(character));
    if is_good {
        return Ok(name.into());
    }
    Err(Rejection::new(
        "calendar/bad-name",
        format!("a calendar's name is one line of at most {NAME_BYTES_MAX} bytes without / # and *; choose another"),
    ))
}

/// Reads an address, with or without a name.
pub(crate) fn party(text: &str) -> Result<Party, Rejection> {
    let text = text.trim();
    let (name, address) = match text.strip_suffix('>').and_then(|text| text.split_once('<')) {
        Some((name, address)) => (name.trim().trim_matches('"').trim(), address.trim()),
        None => ("", text),
    };
    let is_good = address.len() <= ADDRESS_BYTES_MAX
        && name.len() <= ADDRESS_BYTES_MAX
        && address.split_once('@').is_some_and(|(user, host)| !user.is_empty() && !host.is_empty())
        && !text.chars().any(char::is_control)
        && !address.chars().any(|character| character.is_whitespace() || "<>,;:\"".contains(character))
        && !name.contains(['<', '>', '"']);
    if is_good {
        return Ok(Party { address: address.to_lowercase().into(), name: name.into() });
    }
    Err(Rejection::new(
        "calendar/bad-address",
        format!("'{text}' is no address; write ann@acme.example or Ann Lee <ann@acme.example>"),
    ))
}

/// Reads a time argument.
pub(crate) fn time_of(name: &str, text: &str, form: &TimeForm<'_>, desk: &Desk) -> Result<Moment, Rejection> {
    if let Some(date) = parse_date(text) {
        if form.all_day == Some(false) {
            return Err(Rejection::new(
                "calendar/bad-time",
                format!("{name} '{text}' is a date and all_day is false; give an hour, or leave all_day out"),
            ));
        }
        return Ok(date);
    }
    if form.all_day == Some(true) {
        return Err(Rejection::new(
            "calendar/bad-time",
            format!("{name} '{text}' of an all-day event must be a date such as 2026-03-16"),
        ));
    }
    let zone = form.zone.map(zone_of).transpose()?;
    if let Ok(time) = text.parse::<SimTime>() {
        return with_offset(name, text, time, zone, form, desk);
    }
    let Some(wall) = parse_naive(text) else {
        return Err(Rejection::new(
            "calendar/bad-time",
            format!("{name} '{text}' is no time; write 2026-03-16T09:00:00+01:00, or without offset and with zone"),
        ));
    };
    let Some(zone) = zone else {
        return Err(Rejection::new(
            "calendar/no-zone",
            format!("{name} '{text}' says no offset; add one, such as +01:00, or give zone"),
        ));
    };
    if let Zone::Named(tz) = &zone
        && times_shown(*tz, wall) != 1
    {
        let why = if times_shown(*tz, wall) == 0 { "is skipped" } else { "comes twice" };
        return Err(Rejection::new(
            "calendar/ambiguous-time",
            format!("{name} '{text}' {why} in {tz} because the clocks change; give it with its offset"),
        ));
    }
    Ok(Moment::new(wall, zone))
}

fn with_offset(
    name: &str,
    text: &str,
    time: SimTime,
    zone: Option<Zone>,
    form: &TimeForm<'_>,
    desk: &Desk,
) -> Result<Moment, Rejection> {
    let instant = time.as_millis().div_euclid(1000);
    if let Some(zone) = zone {
        return Ok(Moment::new(zone.wall(instant, desk.zone), zone));
    }
    let offset_of =
        |shown: &str| shown.get(19..).map(|end| end[end.find(['+', '-', 'Z', 'z']).unwrap_or(0)..].to_owned());
    let here = show_instant(instant, desk.zone);
    if text.ends_with(['Z', 'z']) {
        return Ok(Moment::new(instant, Zone::Utc));
    }
    if offset_of(&here) == offset_of(text) {
        let zone = Zone::of(desk.zone);
        return Ok(Moment::new(zone.wall(instant, desk.zone), zone));
    }
    if form.repeats {
        return Err(Rejection::new(
            "calendar/no-zone",
            format!("{name} '{text}' repeats, and its offset is not that of {}; give zone too", desk.zone),
        ));
    }
    Ok(Moment::new(instant, Zone::Utc))
}

/// Returns the zone that an argument names.
pub(crate) fn zone_of(name: &str) -> Result<Zone, Rejection> {
    if name.eq_ignore_ascii_case("floating") {
        return Ok(Zone::Floating);
    }
    super::zones::database(name).map(Zone::of).ok_or_else(|| {
        Rejection::new(
            "calendar/unknown-zone",
            format!("there is no time zone '{name}'; use a name of the IANA database such as Europe/Berlin"),
        )
    })
}

/// Reads `component` anew after a change of its bytes; what stays the same stays.
pub(crate) fn reread(bytes: Vec<u8>, place: u64, zones: &Zones, context: &Context<'_>) -> Result<Component, Rejection> {
    if bytes.len() > super::limits::COMPONENT_BYTES_MAX {
        return Err(Rejection::new("calendar/event-too-large", "the event gets too large; write less, or split it"));
    }
    let parsed = super::parse::parse(&bytes, context.store(bytes.clone()), zones, context.budget())?;
    match parsed {
        Some((_, component)) => Ok(Component { place, is_ours: true, ..component }),
        None => Err(Rejection::new(
            "calendar/bad-event",
            "the event cannot be changed so, since its times could not be read then; give start and end",
        )),
    }
}
