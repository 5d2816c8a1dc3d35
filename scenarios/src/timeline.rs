//! The timeline: `events` and `people` of `scenario.yaml` become the kernel's plan. Which functions its conditions and personas call is kept
//! beside it.

use std::collections::BTreeSet;
use std::sync::Arc;

use dayshift_engine::{
    Actor, Alert, BadPlan, BlobId, Clock, EventId, Key, Plan, PlannedCommand, PlannedDay, PlannedEvent, PlannedPersona,
    SimDuration, SmolStr, ToolCall, Value, When,
};

use crate::manifest::{FunctionName, MANIFEST_PATH, Manifest, moment, name_of, twice};
use crate::package::Package;
use crate::problem::{Place, Report, did_you_mean};
use crate::times::parse_duration;
use crate::yaml::{Fields, Node, Shape};

const KEYS: [&str; 12] =
    ["id", "at", "after", "delay", "when", "opens", "deadline", "at_deadline", "as", "do", "loud", "silent"];

/// The plan, with what stands behind its conditions and where its commands were written.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    pub(crate) plan: Plan,
    /// By event: the function of its condition, if it has one.
    pub(crate) conditions: Vec<Option<FunctionName>>,
    /// Every command with its place, for holding it against the world's tools.
    pub(crate) commands: Vec<(Place, ToolCall)>,
}

impl Timeline {
    pub(crate) fn read<'a>(manifest: &Manifest<'a>, report: &'a Report<'a>, package: &Package) -> Self {
        let mut timeline = Self {
            plan: Plan {
                days: manifest.days.iter().map(|day| told_when_it_ends(day, manifest)).collect(),
                events: Vec::new(),
                personas: Vec::new(),
                alerts: alerts(manifest),
                clock: manifest.clock,
                closes: manifest.closes,
                limits: manifest.limits,
            },
            ..Self::default()
        };
        let reader = Reader { manifest, report, package };
        for node in manifest.events {
            reader.event(node, &mut timeline);
        }
        reader.references(&timeline);
        timeline.plan.personas = manifest.personas.iter().map(|persona| reader.persona(persona)).collect();
        if let Err(fault) = timeline.plan.validate() {
            reader.bad_plan(&timeline, &fault);
        }
        timeline
    }
}

struct Reader<'a, 'm> {
    manifest: &'m Manifest<'a>,
    report: &'a Report<'a>,
    package: &'m Package,
}

impl<'a> Reader<'a, '_> {
    fn event(&self, node: &'a Node, timeline: &mut Timeline) {
        let fields = node.fields(self.report, "an event", &KEYS);
        let id = name_of(&fields, "id", self.report);
        if timeline.plan.events.iter().any(|event| event.id.as_str() == id) {
            twice(self.report, node.place, "event", &id);
        }
        let (when, condition) = self.when(&fields);
        let actor = self.actor(&fields);
        let mut commands = Vec::new();
        for item in fields.items("do") {
            let Some(call) = self.command(item) else { continue };
            timeline.commands.push((item.place, call.clone()));
            commands.push(PlannedCommand { actor: actor.clone(), call });
        }
        let notice = self.notice(&fields, &commands);
        timeline.plan.events.push(PlannedEvent { id: EventId::new(id), when, commands, notice });
        timeline.conditions.push(condition);
    }

    fn when(&self, fields: &Fields<'a>) -> (When, Option<FunctionName>) {
        let kinds = ["at", "after", "when"].iter().filter(|key| fields.get(key).is_some()).count();
        if kinds != 1 {
            let message = if kinds == 0 { "the event does not say when" } else { "the event says twice when" };
            let remedy = "give exactly one of 'at', 'after' (with 'delay') and 'when' (with 'deadline')";
            self.report.add("scenario/bad-event", fields.place(), message, remedy);
        }
        if let Some(other) = fields.text("after") {
            self.only_with(fields, &["opens", "deadline", "at_deadline"], "'when'");
            let delay = self.duration(fields, "delay");
            return (When::After { event: EventId::new(other), delay }, None);
        }
        self.only_with(fields, &["delay"], "'after'");
        if let Some(node) = fields.get("when") {
            let name = node.text(self.report, "'when'").unwrap_or_default();
            let calendar = &self.manifest.calendar;
            let opens = moment(fields, "opens", self.report, calendar).unwrap_or(self.manifest.epoch);
            let deadline = moment(fields, "deadline", self.report, calendar).unwrap_or(self.manifest.closes);
            let when = When::Condition { opens, deadline, at_deadline: fields.truth("at_deadline") };
            return (when, Some(FunctionName { name, place: node.place }));
        }
        self.only_with(fields, &["opens", "deadline", "at_deadline"], "'when'");
        let at = moment(fields, "at", self.report, &self.manifest.calendar).unwrap_or(self.manifest.epoch);
        (When::At(at), None)
    }

    fn only_with(&self, fields: &Fields<'_>, keys: &[&str], with: &str) {
        for node in keys.iter().filter_map(|key| fields.get(key)) {
            let message = format!("this key goes with {with} only");
            self.report.add("scenario/bad-event", node.place, message, "leave it out");
        }
    }

    fn duration(&self, fields: &Fields<'_>, key: &str) -> SimDuration {
        let Some(node) = fields.get(key) else { return SimDuration::ZERO };
        let Some(text) = node.text(self.report, &format!("'{key}'")) else { return SimDuration::ZERO };
        parse_duration(&text).unwrap_or_else(|fault| {
            self.report.add("scenario/bad-duration", node.place, fault, "units are d, h, min and s");
            SimDuration::ZERO
        })
    }

    fn actor(&self, fields: &Fields<'_>) -> Actor {
        let Some(name) = fields.text("as").filter(|name| name != "world") else { return Actor::World };
        let mut known: Vec<&str> = self.manifest.people.iter().map(|person| person.name.as_str()).collect();
        if !known.contains(&name.as_str()) {
            known.push("world");
            let place = fields.get("as").map(|node| node.place).unwrap_or_default();
            let message = format!("there is no person '{name}'");
            self.report.add("scenario/unknown-person", place, message, did_you_mean(&name, &known));
        }
        Actor::Persona(name)
    }

    /// Reads `tool: {arguments}`.
    fn command(&self, node: &Node) -> Option<ToolCall> {
        let [(tool, arguments)] = node.entries(self.report, "each item of 'do'") else {
            let message = "each item of 'do' is one tool with its arguments";
            self.report.add("scenario/bad-command", node.place, message, "write '- service.verb: {argument: value}'");
            return None;
        };
        Some(ToolCall::new(tool.text.clone(), call_arguments(arguments, self.report, self.package)))
    }

    /// Returns the line that tells the agent; nothing for a silent event.
    fn notice(&self, fields: &Fields<'_>, commands: &[PlannedCommand]) -> Option<String> {
        let loud = fields.get("loud");
        if fields.truth("silent") {
            if let Some(node) = loud {
                let message = "an event is either loud or silent";
                self.report.add("scenario/bad-loudness", node.place, message, "leave one of the two out");
            }
            return None;
        }
        let services = commands.iter().filter_map(|command| command.call.tool.split('.').next());
        match loud.map(|node| &node.shape) {
            Some(Shape::Bool(false)) => None,
            Some(Shape::Bool(true)) => {
                Some(services.map(default_line).next().unwrap_or("Something happened.").to_owned())
            }
            Some(_) => fields.text("loud").map(Into::into),
            None => services
                .filter(|service| self.manifest.channels.iter().any(|(name, loud)| *loud && name == service))
                .map(|service| default_line(service).to_owned())
                .next(),
        }
    }

    fn persona(&self, entry: &crate::manifest::PersonaEntry<'a>) -> PlannedPersona {
        let person = &self.manifest.people[entry.person];
        let names = ["name", "display", "address", "role", "persona", "function", "delay", "wakes", "watches", "sees"];
        let fields = entry.fields.fields(self.report, "a person", &names);
        let mut pair = [person.name.as_str(), self.manifest.agent.name.as_str()];
        pair.sort_unstable();
        let mut watches =
            vec![Key::new(format!("mail:{}/INBOX/", person.address)), Key::new(format!("chat:{}/", pair.join("+")))];
        watches.extend(fields.texts("watches").into_iter().map(Key::new));
        PlannedPersona {
            name: person.name.clone(),
            watches,
            delay: self.duration(&fields, "delay"),
            wakes: moment(&fields, "wakes", self.report, &self.manifest.calendar),
        }
    }

    /// Makes sure that every `{{event.field}}` names an event.
    fn references(&self, timeline: &Timeline) {
        let events: BTreeSet<&str> = timeline.plan.events.iter().map(|event| event.id.as_str()).collect();
        for (place, call) in &timeline.commands {
            let mut arguments = call.arguments.clone();
            let unknown = std::cell::RefCell::new(None);
            let _ = dayshift_engine::template::fill(&mut arguments, &|reference| {
                let event = reference.split('.').next().unwrap_or_default();
                if !events.contains(event) || !reference.contains('.') {
                    *unknown.borrow_mut() = Some(reference.to_owned());
                }
                Some(Value::Null)
            });
            if let Some(reference) = unknown.into_inner() {
                let message = format!("'{{{{{reference}}}}}' refers to no event's answer");
                let remedy = "write {{EVENT.FIELD}} with the id of an event of this scenario";
                self.report.add("scenario/bad-reference", *place, message, remedy);
            }
        }
    }

    fn bad_plan(&self, timeline: &Timeline, fault: &BadPlan) {
        let (id, remedy) = match fault {
            // These were noted where they stand.
            BadPlan::NoDays | BadPlan::Twice(_) | BadPlan::DayOrder(_) => return,
            BadPlan::Unknown { event, .. } => (event, "name an event of this scenario after 'after'"),
            BadPlan::Cycle(events) => match events.first() {
                Some(event) => (event, "let one of them happen at a time or on a condition"),
                None => return,
            },
            BadPlan::Never(event) => (event, "move it before the end of the scenario, or move 'closes'"),
            BadPlan::Empty(event) => (event, "add 'do' or 'loud'"),
        };
        let place = timeline.plan.event_index(id).and_then(|index| self.manifest.events.get(index));
        let place = place.map(|node| node.place).unwrap_or_default();
        self.report.add("scenario/bad-timeline", place, fault.to_string(), remedy);
    }
}

/// Returns the arguments of a call; a map with `from: inject/…` or `from: world/…` gets the file's blob in its place.
pub(crate) fn call_arguments(node: &Node, report: &Report<'_>, package: &Package) -> Value {
    let Shape::Map(entries) = &node.shape else {
        if !matches!(node.shape, Shape::Null) {
            let message = format!("the arguments of a tool are a map, not {}", node.kind());
            report.add("scenario/wrong-type", node.place, message, "write 'argument: value' below the tool");
        }
        return Value::Map(std::collections::BTreeMap::new());
    };
    let mut arguments = std::collections::BTreeMap::new();
    for (name, value) in entries {
        if name.text == "from"
            && let Shape::Text(path) = &value.shape
            && (path.starts_with("inject/") || path.starts_with("world/"))
        {
            if let Some(blob) = file_blob(package, path, value.place, report) {
                arguments.insert(SmolStr::from("blob"), Value::from(blob.to_string()));
            }
        } else {
            arguments.insert(name.text.clone(), value.to_value());
        }
    }
    Value::Map(arguments)
}

fn file_blob(package: &Package, path: &str, place: Place, report: &Report<'_>) -> Option<BlobId> {
    let found = package.get(path).map(|bytes: &Arc<[u8]>| BlobId::of(bytes));
    if found.is_none() {
        let climbs = path.split('/').any(|part| part == "..");
        let (rule, message) = if climbs {
            ("scenario/climbs-out", format!("'{path}' climbs out of the package"))
        } else {
            ("scenario/missing-file", format!("there is no file '{path}' in the package"))
        };
        report.add(rule, place, message, format!("add the file, or correct the path in {MANIFEST_PATH}"));
    }
    found
}

/// Returns what the agent notices by itself: its inbox and its conversations, where their channels are loud.
/// Returns `day` with the hour of its end, which the agent is told in the morning and again shortly before; on a staged clock there is none.
fn told_when_it_ends(day: &PlannedDay, manifest: &Manifest<'_>) -> PlannedDay {
    if manifest.clock == Clock::Staged {
        return day.clone();
    }
    let ends = day.ends.to_chrono().with_timezone(&manifest.calendar.zone).format("%H:%M");
    PlannedDay {
        notification: format!("{}\nYour day ends at {ends}.", day.notification),
        closing: Some(format!("It is getting late: your day ends at {ends}.")),
        ..day.clone()
    }
}

fn alerts(manifest: &Manifest<'_>) -> Vec<Alert> {
    let loud = |service: &str| manifest.channels.iter().any(|(name, loud)| *loud && name == service);
    let mut alerts = Vec::new();
    if loud("mail") {
        let key = Key::new(format!("mail:{}/INBOX/", manifest.agent.address));
        alerts.push(Alert { key, line: default_line("mail").to_owned() });
    }
    if loud("chat") {
        for person in &manifest.people {
            let mut pair = [person.name.as_str(), manifest.agent.name.as_str()];
            pair.sort_unstable();
            let key = Key::new(format!("chat:{}/", pair.join("+")));
            alerts.push(Alert { key, line: format!("{} wrote to you in chat.", person.display) });
        }
    }
    alerts
}

fn default_line(service: &str) -> &'static str {
    match service {
        "mail" => "You have new mail.",
        "chat" => "You have a new chat message.",
        "files" => "Something changed among the files.",
        "sheets" => "A workbook changed.",
        "records" => "A business record changed.",
        "calendars" | "calendar" => "Your calendar changed.",
        "knowledge" => "The knowledge base changed.",
        _ => "Something changed.",
    }
}
