//! What agents are told of calendars, and what the scenario can do besides.

use dayshift_engine::{Audience, Effect, Kind, Parameter, ToolSpec};

const TEXTS: Kind = Kind::List(&Kind::Text);
const SCOPE: Kind = Kind::Choice(&["one", "following", "all"]);

const CALENDAR: Parameter = Parameter::required("calendar", Kind::Text, "the calendar's name");
const CALENDAR_OPTIONAL: Parameter =
    Parameter::optional("calendar", Kind::Text, "the calendar's name; all calendars if left out");
const CALENDARS: Parameter = Parameter::optional("calendars", TEXTS, "names of calendars");
const UID: Parameter = Parameter::required("uid", Kind::Text, "the event's uid, as listings give it");
const RECURRENCE_ID: Parameter =
    Parameter::optional("recurrence_id", Kind::Text, "which instance of a repeating event, as listings give it");
const SCOPE_PARAMETER: Parameter = Parameter::optional(
    "scope",
    SCOPE,
    "for a repeating event: one (that instance), following (it and all later ones) or all; one and following need recurrence_id",
);
const FROM: Parameter = Parameter::required("from", Kind::Time, "the begin of the range");
const UNTIL: Parameter = Parameter::required("until", Kind::Time, "the end of the range, not in it");
const LIMIT: Parameter = Parameter::optional("limit", Kind::Int, "how many to show, 1 to 500; 100 if left out");
const CURSOR: Parameter = Parameter::optional("cursor", Kind::Text, "the cursor that the last page ended with");
const SUMMARY: Parameter = Parameter::required("summary", Kind::Text, "what it is, one line");
const START: Parameter = Parameter::required(
    "start",
    Kind::Text,
    "when it begins: 2026-03-16T09:00:00+01:00; or 2026-03-16T09:00:00 with zone; or 2026-03-16 for all day",
);
const END: Parameter =
    Parameter::required("end", Kind::Text, "when it ends, in the form of start; for all day the first day after it");
const ALL_DAY: Parameter = Parameter::optional("all_day", Kind::Bool, "true if start and end are dates");
const ZONE: Parameter = Parameter::optional(
    "zone",
    Kind::Text,
    "the time zone in which it is meant, such as Europe/Berlin, UTC, or floating; a repeating event keeps its hour there when clocks change",
);
const DESCRIPTION: Parameter = Parameter::optional("description", Kind::Text, "more about it");
const LOCATION: Parameter = Parameter::optional("location", Kind::Text, "where it is");
const ATTENDEES: Parameter = Parameter::optional(
    "attendees",
    TEXTS,
    "who is invited, each as ann@acme.example or Ann Lee <ann@acme.example>; it appears in their calendars here",
);
const RRULE: Parameter =
    Parameter::optional("rrule", Kind::Text, "how it repeats (RFC 5545), such as FREQ=WEEKLY;BYDAY=MO,WE;COUNT=10");
const BUSY: Parameter = Parameter::optional("busy", Kind::Bool, "false if it leaves the time free; true if left out");

const fn reads(
    name: &'static str,
    summary: &'static str,
    parameters: &'static [Parameter],
    cost_seconds: u32,
) -> ToolSpec {
    ToolSpec { name, summary, parameters, effect: Effect::Reads, audience: Audience::Everybody, cost_seconds }
}

const fn writes(
    name: &'static str,
    summary: &'static str,
    parameters: &'static [Parameter],
    cost_seconds: u32,
) -> ToolSpec {
    ToolSpec { name, summary, parameters, effect: Effect::Writes, audience: Audience::Everybody, cost_seconds }
}

const fn backstage(name: &'static str, summary: &'static str, parameters: &'static [Parameter]) -> ToolSpec {
    ToolSpec { name, summary, parameters, effect: Effect::Writes, audience: Audience::Backstage, cost_seconds: 0 }
}

/// The tools of calendars, sorted by name.
pub(crate) const TOOLS: &[ToolSpec] = &[
    reads("calendar.calendars", "Lists the calendars, with whose they are and how many events they hold.", &[], 5),
    reads(
        "calendar.conflicts",
        "Finds pairs of events that take the same time, within each of the calendars.",
        &[FROM, UNTIL, CALENDARS, LIMIT],
        15,
    ),
    writes(
        "calendar.create",
        "Creates an event. Whoever is invited and has a calendar here finds it there, to be answered.",
        &[
            CALENDAR,
            SUMMARY,
            START,
            END,
            ALL_DAY,
            ZONE,
            DESCRIPTION,
            LOCATION,
            ATTENDEES,
            RRULE,
            BUSY,
            Parameter::optional("uid", Kind::Text, "a uid of your own; one is made if left out"),
        ],
        60,
    ),
    writes(
        "calendar.delete",
        "Deletes an event, or instances of a repeating one. The organiser's deletion cancels it for everybody here.",
        &[CALENDAR, UID, SCOPE_PARAMETER, RECURRENCE_ID],
        10,
    ),
    reads(
        "calendar.events",
        "Lists what takes place within a range, each instance of a repeating event by itself, in order of time, with the answers of those invited. What overlaps the range is in.",
        &[FROM, UNTIL, CALENDAR_OPTIONAL, LIMIT, CURSOR],
        10,
    ),
    reads(
        "calendar.free_busy",
        "Shows when people or calendars are busy within a range, and when all of them are free.",
        &[
            FROM,
            UNTIL,
            Parameter::optional("who", TEXTS, "addresses of people who have calendars here"),
            CALENDARS,
            Parameter::optional("without", TEXTS, "uids of events to leave out, such as the one that is to be moved"),
        ],
        10,
    ),
    backstage(
        "calendar.import",
        "Puts an iCalendar file into a calendar, which is made if there is none. Its bytes stay as they are.",
        &[
            CALENDAR,
            Parameter::required("blob", Kind::Text, "the blob that holds the file (RFC 5545)"),
            Parameter::optional("owner", Kind::Text, "whose calendar it is: a mail address"),
        ],
    ),
    backstage(
        "calendar.make",
        "Makes a calendar.",
        &[
            CALENDAR,
            Parameter::optional("owner", Kind::Text, "whose calendar it is: a mail address"),
            Parameter::optional("description", Kind::Text, "what it is for"),
            Parameter::optional(
                "free",
                Kind::Bool,
                "true if what stands in it leaves the time free; false if left out",
            ),
        ],
    ),
    reads(
        "calendar.read",
        "Shows one event, or one instance of a repeating one, with its attendees and their answers.",
        &[CALENDAR, UID, RECURRENCE_ID],
        15,
    ),
    writes(
        "calendar.respond",
        "Answers an invitation. The organiser's calendar learns of it.",
        &[
            CALENDAR,
            UID,
            Parameter::required("answer", Kind::Choice(&["accepted", "declined", "tentative"]), "the answer"),
            RECURRENCE_ID,
        ],
        15,
    ),
    reads(
        "calendar.search",
        "Finds events by a part of their summary, description, location or people (upper and lower case count alike).",
        &[
            Parameter::required("text", Kind::Text, "the text to look for"),
            CALENDAR_OPTIONAL,
            Parameter::optional("from", Kind::Time, "takes place at this time or later"),
            Parameter::optional("until", Kind::Time, "begins before this time"),
            LIMIT,
            CURSOR,
        ],
        15,
    ),
    writes(
        "calendar.update",
        "Changes an event: what you name changes, the rest stays. The organiser's change reaches everybody here.",
        &[
            CALENDAR,
            UID,
            SCOPE_PARAMETER,
            RECURRENCE_ID,
            Parameter { required: false, ..SUMMARY },
            Parameter { required: false, ..START },
            Parameter { required: false, ..END },
            ALL_DAY,
            ZONE,
            DESCRIPTION,
            LOCATION,
            ATTENDEES,
            RRULE,
            BUSY,
            Parameter::optional("status", Kind::Choice(&["confirmed", "tentative", "cancelled"]), "its status"),
        ],
        60,
    ),
];
