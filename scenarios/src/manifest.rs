//! What `scenario.yaml` says, resolved: who, when, what is asked, what is checked. The timeline's events have a file of their own.

use chrono_tz::Tz;
use dayshift_engine::{Clock, EpisodeLimits, Moment, PlannedDay, SimTime, SmolStr};

use crate::package::Package;
use crate::problem::{Place, Report, did_you_mean};
use crate::times::{Calendar, admit, parse_clock, parse_local};
use crate::yaml::{Fields, Node, Shape};

/// The file that describes a scenario.
pub(crate) const MANIFEST_PATH: &str = "scenario.yaml";

/// The file that holds checks and conditions.
pub(crate) const CHECKS_PATH: &str = "checks.star";

/// How many days, people, events, checks or requirements a scenario may have, each.
pub const ITEMS_MAX: usize = 1000;

/// The longest name of a person, day, event or check, in bytes.
pub const NAME_BYTES_MAX: usize = 64;

/// The largest weight of a check, and the smallest that is not 0: a score is a quotient of sums of weights, which must stay exact enough.
pub const WEIGHT_MAX: f64 = 1e6;
/// See [`WEIGHT_MAX`].
pub const WEIGHT_MIN: f64 = 1e-6;

/// The score from which on an episode passes, unless the scenario says otherwise.
pub const THRESHOLD_DEFAULT: f64 = 0.75;

const KEYS: [&str; 20] = [
    "id",
    "title",
    "family",
    "request",
    "requirements",
    "agent",
    "office",
    "people",
    "clock",
    "epoch",
    "days",
    "closes",
    "channels",
    "services",
    "events",
    "limits",
    "outside",
    "threshold",
    "checks",
    "description",
];

/// One thing that the request asks for, in words, so that checks can be held against it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// The name, unique in the scenario.
    pub id: SmolStr,
    /// What is asked for.
    pub text: String,
}

/// Somebody in the office.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// The name by which calls and chat know the person.
    pub name: SmolStr,
    /// The name as people write it.
    pub display: String,
    /// The mail address.
    pub address: SmolStr,
    /// What the person does, if anything is said.
    pub role: Option<SmolStr>,
}

/// A name of a function in a script, and where the name stands.
#[derive(Clone, Debug)]
pub(crate) struct FunctionName {
    pub(crate) name: SmolStr,
    pub(crate) place: Place,
}

/// A person with a script.
#[derive(Clone, Debug)]
pub(crate) struct PersonaEntry<'a> {
    pub(crate) person: usize,
    pub(crate) file: SmolStr,
    pub(crate) function: FunctionName,
    pub(crate) sees: Vec<SmolStr>,
    pub(crate) fields: &'a Node,
}

/// A check before its script is read.
#[derive(Clone, Debug)]
pub(crate) struct CheckEntry {
    pub(crate) spec: dayshift_engine::CheckSpec,
    pub(crate) function: FunctionName,
}

/// Everything that `scenario.yaml` says but the events.
#[derive(Debug)]
pub(crate) struct Manifest<'a> {
    pub(crate) id: SmolStr,
    pub(crate) title: String,
    pub(crate) family: Option<SmolStr>,
    pub(crate) request: String,
    pub(crate) requirements: Vec<Requirement>,
    pub(crate) agent: Person,
    pub(crate) people: Vec<Person>,
    pub(crate) personas: Vec<PersonaEntry<'a>>,
    pub(crate) workday: Option<(SmolStr, SmolStr)>,
    pub(crate) clock: Clock,
    pub(crate) epoch: SimTime,
    pub(crate) calendar: Calendar,
    pub(crate) days: Vec<PlannedDay>,
    pub(crate) closes: SimTime,
    pub(crate) channels: Vec<(SmolStr, bool)>,
    /// What the shell may use, by name, if the scenario turns it on.
    pub(crate) shell: Option<Vec<(SmolStr, u32)>>,
    /// Services that the scenario turns on or off by name.
    pub(crate) services: Vec<(SmolStr, bool)>,
    pub(crate) limits: EpisodeLimits,
    pub(crate) threshold: f64,
    /// Whether acts may be staged from outside of the timeline.
    pub(crate) allows_outside: bool,
    pub(crate) checks: Vec<CheckEntry>,
    pub(crate) events: &'a [Node],
}

impl<'a> Manifest<'a> {
    /// Reads the tree of `scenario.yaml`. Whatever is wrong is noted in `report`; what stands in for it is never used then.
    pub(crate) fn read(root: &'a Node, report: &'a Report<'a>, package: &Package) -> Self {
        let fields = root.fields(report, "the scenario", &KEYS);
        let (zone, workday) = office(&fields, report);
        let mut calendar = Calendar { zone, days: Vec::new() };
        let epoch = epoch(&fields, report, &calendar);
        let days = days(&fields, report, &mut calendar, epoch);
        let last = days.last().map_or(epoch, |day| day.ends);
        let closes = moment(&fields, "closes", report, &calendar).unwrap_or(last);
        if closes < last {
            let place = fields.get("closes").map(|node| node.place).unwrap_or_default();
            let message = "the scenario closes before its last day ends";
            report.add("scenario/bad-time", place, message, "let 'closes' come after the last day's 'ends'");
        }
        let requirements = requirements(&fields, report);
        let agent = match fields.need("agent") {
            Some(node) => person(&node.fields(report, "the agent", &["name", "display", "address", "role"]), report),
            None => Person { name: "agent".into(), display: String::new(), address: SmolStr::default(), role: None },
        };
        let (people, personas) = people(&fields, report, &agent);
        let checks = checks(&fields, report, &calendar, &requirements);
        Self {
            id: id(&fields, report, package),
            title: fields.need_text("title").into(),
            family: fields.text("family"),
            request: fields.need_text("request").into(),
            limits: limits(&fields, report),
            services: services(&fields, report),
            threshold: share(&fields, "threshold", report).unwrap_or(THRESHOLD_DEFAULT),
            allows_outside: outside(&fields, report),
            channels: channels(&fields, report),
            shell: shell(&fields, report),
            clock: clock(&fields, report),
            events: at_most(fields.items("events"), "events", report),
            requirements,
            agent,
            people,
            personas,
            workday,
            epoch,
            calendar,
            days,
            closes,
            checks,
        }
    }
}

/// Returns the name under `key`, which must be one that keys and scripts can hold.
pub(crate) fn name_of(fields: &Fields<'_>, key: &str, report: &Report<'_>) -> SmolStr {
    let name = fields.need_text(key);
    let Some(node) = fields.get(key) else { return name };
    let good =
        |character: char| character.is_ascii_lowercase() || character.is_ascii_digit() || "-_.".contains(character);
    if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.chars().all(good) {
        let message = format!("'{name}' is no name");
        let remedy = format!("use 1 to {NAME_BYTES_MAX} of a-z, 0-9, '-', '_' and '.'");
        report.add("scenario/bad-name", node.place, message, remedy);
    }
    name
}

/// Returns the moment under `key`, if it is there.
pub(crate) fn moment(fields: &Fields<'_>, key: &str, report: &Report<'_>, calendar: &Calendar) -> Option<SimTime> {
    let node = fields.get(key)?;
    let text = node.text(report, &format!("'{key}'"))?;
    calendar.moment(&text).map_err(|fault| bad_time(report, node, &fault)).ok()
}

/// Notes a time that cannot be read.
pub(crate) fn bad_time(report: &Report<'_>, node: &Node, fault: &str) {
    let remedy = "write a moment such as 'mon 10:30', 'mon + 2h', '2026-03-16 10:30', or RFC 3339 with an offset";
    report.add("scenario/bad-time", node.place, fault, remedy);
}

/// Notes that the name at `place` is used already.
pub(crate) fn twice(report: &Report<'_>, place: Place, what: &str, name: &str) {
    report.add("scenario/twice", place, format!("the {what} '{name}' is there twice"), "give each a name of its own");
}

fn id(fields: &Fields<'_>, report: &Report<'_>, package: &Package) -> SmolStr {
    let id = name_of(fields, "id", report);
    let place = fields.get("id").map(|node| node.place).unwrap_or_default();
    let version = id.rsplit_once("-v").map(|(_, version)| version);
    if !id.is_empty()
        && !version.is_some_and(|version| !version.is_empty() && version.bytes().all(|b| b.is_ascii_digit()))
    {
        report.add("scenario/bad-id", place, format!("the id '{id}' has no version"), "let it end in -v1, -v2, …");
    }
    if let Some(folder) = package.name().filter(|folder| *folder != id && !id.is_empty()) {
        let message = format!("the id '{id}' is not the name of the folder '{folder}'");
        report.add("scenario/bad-id", place, message, "rename one of them");
    }
    id
}

fn office(fields: &Fields<'_>, report: &Report<'_>) -> (Tz, Option<(SmolStr, SmolStr)>) {
    let Some(node) = fields.need("office") else { return (Tz::UTC, None) };
    let office = node.fields(report, "the office", &["zone", "workday"]);
    let name = office.need_text("zone");
    let zone = name.parse().unwrap_or_else(|_| {
        let place = office.get("zone").map(|node| node.place).unwrap_or_default();
        if !name.is_empty() {
            let remedy = "use a name of the IANA database, such as Europe/Berlin";
            report.add("scenario/bad-zone", place, format!("there is no time zone '{name}'"), remedy);
        }
        Tz::UTC
    });
    let workday = office.text("workday").and_then(|text| {
        let ends = text.split_once('-').map(|(from, to)| (from.trim(), to.trim()));
        let good = ends.filter(|(from, to)| parse_clock(from).is_some() && parse_clock(to).is_some());
        if good.is_none() {
            let place = office.get("workday").map(|node| node.place).unwrap_or_default();
            report.add("scenario/bad-time", place, format!("'{text}' is no workday"), "write for example 09:00-17:00");
        }
        good.map(|(from, to)| (from.into(), to.into()))
    });
    (zone, workday)
}

fn epoch(fields: &Fields<'_>, report: &Report<'_>, calendar: &Calendar) -> SimTime {
    moment(fields, "epoch", report, calendar).unwrap_or_else(|| {
        let _ = fields.need("epoch");
        SimTime::default()
    })
}

fn days(fields: &Fields<'_>, report: &Report<'_>, calendar: &mut Calendar, epoch: SimTime) -> Vec<PlannedDay> {
    let mut days: Vec<PlannedDay> = Vec::new();
    if fields.need("days").is_some() && fields.items("days").is_empty() {
        report.add("scenario/no-days", fields.place(), "the scenario has no days", "add at least one to 'days'");
    }
    for (index, node) in at_most(fields.items("days"), "days", report).iter().enumerate() {
        let day = node.fields(report, "a day", &["name", "opens", "ends", "notification"]);
        let name = name_of(&day, "name", report);
        // A clock time alone means the date after that of the day ahead; the first day has the epoch's.
        let date = days.last().map_or((epoch, 0), |before| (before.opens, u64::from(index > 0)));
        let opens = day.need("opens").and_then(|node| day_time(node, report, calendar, date)).unwrap_or(epoch);
        let ends = day.need("ends").and_then(|node| day_time(node, report, calendar, (opens, 0))).unwrap_or(opens);
        if days.iter().any(|other| other.name == name) {
            twice(report, node.place, "day", &name);
        }
        if opens < days.last().map_or(epoch, |before| before.ends) {
            let message = format!("day '{name}' opens before the epoch or the end of the day ahead of it");
            report.add("scenario/bad-time", node.place, message, "put the days in the order of time");
        }
        if ends < opens {
            let message = format!("day '{name}' ends before it opens");
            report.add("scenario/bad-time", node.place, message, "let 'ends' come after 'opens'");
        }
        calendar.days.push((name.clone(), opens));
        let notification = day.need_text("notification").trim_end().into();
        days.push(PlannedDay { name, opens, ends, notification, closing: None });
    }
    days
}

fn day_time(node: &Node, report: &Report<'_>, calendar: &Calendar, (from, days): (SimTime, u64)) -> Option<SimTime> {
    let text = node.text(report, "a day's time")?;
    let time = match parse_clock(&text) {
        Some(clock) => calendar.clock_after(from, days, clock),
        None => match parse_local(&text) {
            Some(local) => calendar.local(local),
            None => text.parse().map_err(|_| format!("'{text}' is no time of a day")).and_then(admit),
        },
    };
    time.map_err(|fault| {
        let remedy = "write a clock time such as 09:00, or a date with it: 2026-03-16 09:00";
        report.add("scenario/bad-time", node.place, fault, remedy);
    })
    .ok()
}

fn requirements(fields: &Fields<'_>, report: &Report<'_>) -> Vec<Requirement> {
    let mut requirements: Vec<Requirement> = Vec::new();
    let _ = fields.need("requirements");
    for node in at_most(fields.items("requirements"), "requirements", report) {
        let fields = node.fields(report, "a requirement", &["id", "text"]);
        let requirement = Requirement { id: name_of(&fields, "id", report), text: fields.need_text("text").into() };
        if requirements.iter().any(|other| other.id == requirement.id) {
            twice(report, node.place, "requirement", &requirement.id);
        }
        requirements.push(requirement);
    }
    requirements
}

fn person(fields: &Fields<'_>, report: &Report<'_>) -> Person {
    let name = name_of(fields, "name", report);
    let address = fields.need_text("address");
    if let Some(node) = fields.get("address")
        && !address.split_once('@').is_some_and(|(local, host)| !local.is_empty() && !host.is_empty())
    {
        let message = format!("'{address}' is no mail address");
        report.add("scenario/bad-address", node.place, message, "write for example ann@acme.example");
    }
    let display = fields.text("display").map_or_else(|| name.to_string(), Into::into);
    Person { name, display, address: address.to_lowercase().into(), role: fields.text("role") }
}

fn people<'a>(fields: &Fields<'a>, report: &'a Report<'a>, agent: &Person) -> (Vec<Person>, Vec<PersonaEntry<'a>>) {
    const KEYS: [&str; 10] =
        ["name", "display", "address", "role", "persona", "function", "delay", "wakes", "watches", "sees"];
    let (mut people, mut personas): (Vec<Person>, Vec<PersonaEntry<'a>>) = (Vec::new(), Vec::new());
    for node in at_most(fields.items("people"), "people", report) {
        let fields = node.fields(report, "a person", &KEYS);
        let person = person(&fields, report);
        if people.iter().chain([agent]).any(|other| other.name == person.name) {
            twice(report, node.place, "person", &person.name);
        }
        if people.iter().chain([agent]).any(|other| other.address == person.address) {
            twice(report, node.place, "address", &person.address);
        }
        if let Some(file) = fields.text("persona") {
            let function = FunctionName {
                name: fields.text("function").unwrap_or("react".into()),
                place: fields.get("function").or(fields.get("persona")).map(|node| node.place).unwrap_or_default(),
            };
            let sees = fields.texts("sees");
            personas.push(PersonaEntry { person: people.len(), file, function, sees, fields: node });
        } else if let Some(key) =
            ["function", "delay", "wakes", "watches", "sees"].iter().find(|key| fields.get(key).is_some())
        {
            let message = format!("'{key}' says nothing about a person without a script");
            report.add("scenario/no-persona", node.place, message, "add 'persona: personas/NAME.star' or leave it out");
        }
        people.push(person);
    }
    (people, personas)
}

fn clock(fields: &Fields<'_>, report: &Report<'_>) -> Clock {
    match fields.text("clock").as_deref() {
        None | Some("staged") => Clock::Staged,
        Some("flowing") => Clock::Flowing,
        Some(other) => {
            let place = fields.get("clock").map(|node| node.place).unwrap_or_default();
            report.add("scenario/bad-clock", place, format!("there is no clock '{other}'"), "use staged or flowing");
            Clock::Staged
        }
    }
}

fn outside(fields: &Fields<'_>, report: &Report<'_>) -> bool {
    match fields.text("outside").as_deref() {
        None | Some("refused") => false,
        Some("allowed") => true,
        Some(other) => {
            let place = fields.get("outside").map(|node| node.place).unwrap_or_default();
            let message = format!("'outside' cannot be '{other}'");
            report.add("scenario/bad-outside", place, message, "use allowed or refused (default)");
            false
        }
    }
}

fn channels(fields: &Fields<'_>, report: &Report<'_>) -> Vec<(SmolStr, bool)> {
    let Some(node) = fields.get("channels") else { return Vec::new() };
    let mut channels = Vec::new();
    for (name, node) in node.entries(report, "'channels'") {
        match node.text(report, "a channel's loudness").as_deref() {
            Some("loud") => channels.push((name.text.clone(), true)),
            Some("silent") => channels.push((name.text.clone(), false)),
            Some(other) => {
                let message = format!("a channel is not '{other}'");
                report.add("scenario/bad-loudness", node.place, message, "write loud or silent");
            }
            None => {}
        }
    }
    channels
}

/// The limits that a scenario can set, in the order of [`EpisodeLimits`].
const LIMIT_KEYS: [&str; 6] =
    ["turns_per_day", "calls_per_turn", "call_work", "call_bytes", "episode_bytes", "episode_records"];

/// Returns what an episode may use. A scenario can lower the limits of memory and raise all others.
fn limits(fields: &Fields<'_>, report: &Report<'_>) -> EpisodeLimits {
    let mut limits = EpisodeLimits::default();
    let Some(given) = fields.get("limits").map(|node| node.fields(report, "limits", &LIMIT_KEYS)) else {
        return limits;
    };
    let small = |key: &str, or: u32| whole(&given, key, report).unwrap_or(or);
    limits.turns_per_day_max = small("turns_per_day", limits.turns_per_day_max);
    limits.calls_per_turn_max = small("calls_per_turn", limits.calls_per_turn_max);
    let large = |key: &str, or: u64, most: u64| {
        let number = whole(&given, key, report).map_or(or, u64::from);
        if number > most {
            let place = given.get(key).map(|node| node.place).unwrap_or_default();
            report.add(
                "scenario/out-of-range",
                place,
                format!("'{key}' is over {most}"),
                "write less, or leave it out",
            );
        }
        number.min(most)
    };
    limits.call_work_max = large("call_work", limits.call_work_max, limits.call_work_max);
    limits.call_bytes_max = large("call_bytes", limits.call_bytes_max, limits.call_bytes_max);
    limits.episode_bytes_max = large("episode_bytes", limits.episode_bytes_max, 4 << 30);
    limits.episode_records_max = large("episode_records", limits.episode_records_max, 10_000_000);
    limits
}

/// The services that a scenario can turn on or off; the others are always there.
pub(crate) const OPTIONAL_SERVICES: [&str; 4] = ["calendar", "knowledge", "records", "sheets"];

/// What `services` can name: the optional ones, and the shell with what it may use.
const SERVICE_KEYS: [&str; 5] = ["shell", "calendar", "knowledge", "records", "sheets"];

/// Returns the services that the scenario turns on or off by name.
fn services(fields: &Fields<'_>, report: &Report<'_>) -> Vec<(SmolStr, bool)> {
    let Some(node) = fields.get("services") else { return Vec::new() };
    let services = node.fields(report, "'services'", &SERVICE_KEYS);
    let given = OPTIONAL_SERVICES.iter().filter(|name| services.get(name).is_some());
    given.map(|name| (SmolStr::from(*name), services.truth(name))).collect()
}

/// What a scenario can say of the shell.
const SHELL_KEYS: [&str; 4] = ["timeout_seconds", "memory_mib", "output_bytes", "processes"];

/// Returns what the shell may use, if it is among the services that are off unless they are named.
fn shell(fields: &Fields<'_>, report: &Report<'_>) -> Option<Vec<(SmolStr, u32)>> {
    let services = fields.get("services")?.fields(report, "'services'", &SERVICE_KEYS);
    let node = services.get("shell")?;
    let limits = node.fields(report, "the shell", &SHELL_KEYS);
    let given = SHELL_KEYS.iter().filter(|key| limits.get(key).is_some());
    Some(given.filter_map(|key| Some(((*key).into(), whole(&limits, key, report)?))).collect())
}

fn checks(
    fields: &Fields<'_>,
    report: &Report<'_>,
    calendar: &Calendar,
    requirements: &[Requirement],
) -> Vec<CheckEntry> {
    let mut checks: Vec<CheckEntry> = Vec::new();
    let _ = fields.need("checks");
    for node in at_most(fields.items("checks"), "checks", report) {
        let keys = ["id", "title", "weight", "requirement", "moment", "red_line", "function"];
        let fields = node.fields(report, "a check", &keys);
        let id = name_of(&fields, "id", report);
        if checks.iter().any(|other| other.spec.id == id) {
            twice(report, node.place, "check", &id);
        }
        let requirement = fields.need_text("requirement");
        let known: Vec<&str> = requirements.iter().map(|requirement| requirement.id.as_str()).collect();
        if let Some(node) = fields.get("requirement").filter(|_| !known.contains(&requirement.as_str())) {
            let message = format!("there is no requirement '{requirement}'");
            report.add("scenario/unknown-requirement", node.place, message, did_you_mean(&requirement, &known));
        }
        let cap = share(&fields, "red_line", report);
        let weight = fields.number("weight").unwrap_or(if cap.is_some() { 0.0 } else { 1.0 });
        if weight != 0.0 && !(WEIGHT_MIN..=WEIGHT_MAX).contains(&weight) {
            let place = fields.get("weight").map(|node| node.place).unwrap_or_default();
            let remedy = format!("write 0, or a number from {WEIGHT_MIN} to {WEIGHT_MAX}");
            report.add("scenario/bad-weight", place, format!("a weight is {weight}"), remedy);
        }
        let function = FunctionName {
            name: fields.text("function").unwrap_or_else(|| id.replace(['-', '.'], "_").into()),
            place: fields.get("function").map_or(node.place, |node| node.place),
        };
        let moment = check_moment(&fields, report, calendar, cap);
        let title = fields.need_text("title").into();
        checks
            .push(CheckEntry { spec: dayshift_engine::CheckSpec { id, title, weight, requirement, moment }, function });
    }
    if !checks.is_empty() && !checks.iter().any(|check| check.spec.weight > 0.0) {
        report.add(
            "scenario/bad-weight",
            fields.place(),
            "no check has a weight",
            "give at least one a weight above 0",
        );
    }
    checks
}

fn check_moment(fields: &Fields<'_>, report: &Report<'_>, calendar: &Calendar, cap: Option<f64>) -> Moment {
    let text = fields.text("moment");
    let place = fields.get("moment").map(|node| node.place).unwrap_or_default();
    let moment = match text.as_deref().map(str::trim) {
        None if cap.is_some() => Moment::Throughout { cap },
        None | Some("final") => Moment::Final,
        Some("throughout") => Moment::Throughout { cap },
        Some(other) => {
            let day = other.strip_prefix("end of ").map(str::trim).unwrap_or(other);
            let names: Vec<&str> = calendar.days.iter().map(|(name, _)| name.as_str()).collect();
            match names.iter().position(|name| *name == day) {
                Some(index) => Moment::EndOfDay(index),
                None => {
                    let message = format!("'{other}' is no moment of a check");
                    let remedy = format!("write final, throughout, or 'end of DAY' with one of {}", names.join(", "));
                    report.add("scenario/unknown-day", place, message, remedy);
                    Moment::Final
                }
            }
        }
    };
    if cap.is_some() && !matches!(moment, Moment::Throughout { .. }) {
        let message = "a red line counts throughout";
        report.add("scenario/bad-moment", place, message, "write 'moment: throughout' or leave 'red_line' out");
    }
    moment
}

/// Returns the number from 0 to 1 under `key`, if it is there.
fn share(fields: &Fields<'_>, key: &str, report: &Report<'_>) -> Option<f64> {
    let number = fields.number(key)?;
    if (0.0..=1.0).contains(&number) {
        return Some(number);
    }
    let place = fields.get(key).map(|node| node.place).unwrap_or_default();
    report.add("scenario/out-of-range", place, format!("'{key}' is {number}"), "write a number from 0 to 1");
    None
}

fn whole(fields: &Fields<'_>, key: &str, report: &Report<'_>) -> Option<u32> {
    let node = fields.get(key)?;
    let found = if let Shape::Int(number) = node.shape { u32::try_from(number).ok().filter(|n| *n > 0) } else { None };
    if found.is_none() {
        let message = format!("'{key}' is no whole number above 0");
        report.add("scenario/out-of-range", node.place, message, "write 1 or more, or leave it out");
    }
    found
}

fn at_most<'a>(items: &'a [Node], what: &str, report: &Report<'_>) -> &'a [Node] {
    if items.len() <= ITEMS_MAX {
        return items;
    }
    let message = format!("there are {} {what}, and at most {ITEMS_MAX} are read", items.len());
    report.add("scenario/too-many", items[ITEMS_MAX].place, message, "make the scenario smaller");
    &items[..ITEMS_MAX]
}
