//! The initial world: the files below `world/` become backstage calls, in one order that depends on the package alone.

mod calendars;
mod knowledge;

use std::collections::BTreeMap;
use std::sync::Arc;

use dayshift_engine::{BlobId, SmolStr, ToolCall, Value, map};

use crate::guards::{GUARDS_PATH, Named};
use crate::manifest::{Manifest, OPTIONAL_SERVICES, Person};
use crate::package::Package;
use crate::problem::{Place, Problem, Report};
use crate::times::Calendar;
use crate::yaml::{self, Node, Shape};

/// One call of the initial world and the file that it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct SetupCall {
    /// The file, relative to the package.
    pub file: SmolStr,
    /// The call.
    pub call: ToolCall,
}

const FOLDERS: [&str; 7] = ["files", "mail", "sheets", "records", "chat", "calendars", "knowledge"];

/// Returns the calls that lay out the initial world: office, people, files, mail, calendars, sheets, definitions of records, their rows,
/// pages and databases, chat.
/// Also returns the functions that tables name as rules.
pub(crate) fn calls(
    manifest: &Manifest<'_>,
    timeline: &[(Place, ToolCall)],
    package: &Package,
    problems: &mut Vec<Problem>,
) -> (Vec<SetupCall>, Vec<Named>) {
    let mut setup = Setup { package, calendar: &manifest.calendar, calls: Vec::new(), guards: Vec::new(), problems };
    setup.office(manifest, timeline);
    setup.unknown_folders();
    setup.files();
    setup.mail();
    setup.calendars(manifest);
    setup.sheets();
    setup.records();
    setup.knowledge();
    setup.chat();
    (setup.calls, setup.guards)
}

struct Setup<'a> {
    package: &'a Package,
    calendar: &'a Calendar,
    calls: Vec<SetupCall>,
    guards: Vec<Named>,
    problems: &'a mut Vec<Problem>,
}

impl Setup<'_> {
    fn push(&mut self, file: &str, tool: &str, arguments: Value) {
        self.calls.push(SetupCall { file: file.into(), call: ToolCall::new(tool, arguments) });
    }

    fn refuse(&mut self, rule: &'static str, file: &str, message: impl Into<String>, remedy: &str) {
        self.problems.push(Problem::of_file(rule, file, message, remedy));
    }

    fn office(&mut self, manifest: &Manifest<'_>, timeline: &[(Place, ToolCall)]) {
        let mut office = BTreeMap::from([(SmolStr::from("zone"), Value::from(manifest.calendar.zone.name()))]);
        if let Some((start, end)) = &manifest.workday {
            office.insert("workday_start".into(), start.clone().into());
            office.insert("workday_end".into(), end.clone().into());
        }
        let without = self.without(manifest, timeline);
        if !without.is_empty() {
            office.insert("without".into(), without.into());
        }
        let file = crate::manifest::MANIFEST_PATH;
        self.push(file, "people.settle", Value::Map(office));
        self.push(file, "people.introduce", introduction(&manifest.agent, true));
        for person in &manifest.people {
            self.push(file, "people.introduce", introduction(person, false));
        }
        if let Some(limits) = &manifest.shell {
            let limits = limits.iter().map(|(name, limit)| (name.clone(), Value::from(i64::from(*limit))));
            self.push(file, "shell.turn_on", Value::Map(limits.collect()));
        }
    }

    /// Returns the services that the office does without: those that the scenario turns off, and those in which nothing is or will be, unless it
    /// turns them on.
    fn without(&self, manifest: &Manifest<'_>, timeline: &[(Place, ToolCall)]) -> Vec<&'static str> {
        let holds = |service: &str| {
            let folder = if service == "calendar" { "calendars" } else { service };
            self.package.below(&format!("world/{folder}/")).next().is_some()
                || timeline.iter().any(|(_, call)| call.tool.split('.').next() == Some(service))
        };
        let is_on = |service: &str| {
            manifest.services.iter().find(|(name, _)| name == service).map_or_else(|| holds(service), |(_, on)| *on)
        };
        OPTIONAL_SERVICES.into_iter().filter(|service| !is_on(service)).collect()
    }

    fn unknown_folders(&mut self) {
        let mut unknown: Vec<SmolStr> = Vec::new();
        for (path, _) in self.package.below("world/") {
            let below = path.strip_prefix("world/").unwrap_or(path);
            let folder = below.split_once('/').map(|(folder, _)| folder);
            if folder.is_none_or(|folder| !FOLDERS.contains(&folder)) && unknown.last().is_none_or(|last| last != path)
            {
                unknown.push(path.clone());
            }
        }
        for path in unknown {
            let remedy = "move it below world/files, mail, calendars, sheets, records, knowledge or chat";
            self.refuse("scenario/unknown-folder", &path, "no service takes this file", remedy);
        }
    }

    fn files(&mut self) {
        for (path, bytes) in self.package.below("world/files/") {
            let target = path.strip_prefix("world/files").unwrap_or(path);
            let arguments = map! { "path" => target, "blob" => blob(bytes) };
            self.calls.push(SetupCall { file: path.clone(), call: ToolCall::new("files.import", arguments) });
        }
    }

    fn mail(&mut self) {
        for (path, bytes) in self.package.below("world/mail/") {
            let parts: Vec<&str> = path.strip_prefix("world/mail/").unwrap_or(path).split('/').collect();
            let [address, folders @ .., name] = parts.as_slice() else { continue };
            if folders.is_empty() || !address.contains('@') || !name.ends_with(".eml") {
                let remedy = "put messages at world/mail/ADDRESS/FOLDER/NAME.eml, for example …/INBOX/001.eml";
                let problem =
                    Problem::of_file("scenario/bad-mail-path", path.clone(), "this is no place of a message", remedy);
                self.problems.push(problem);
                continue;
            }
            let folder = folders.join("/");
            let arguments = map! { "address" => *address, "folder" => folder, "blob" => blob(bytes) };
            self.calls.push(SetupCall { file: path.clone(), call: ToolCall::new("mail.import", arguments) });
        }
    }

    fn sheets(&mut self) {
        for (path, bytes) in self.package.below("world/sheets/") {
            let name = path.rsplit('/').next().unwrap_or(path);
            match name.rsplit_once('.') {
                Some((stem, format @ ("csv" | "xlsx"))) => {
                    let arguments = map! { "book" => stem, "format" => format, "blob" => blob(bytes) };
                    self.calls.push(SetupCall { file: path.clone(), call: ToolCall::new("sheets.import", arguments) });
                }
                _ => self.problems.push(Problem::of_file(
                    "scenario/bad-sheet",
                    path.clone(),
                    "a workbook is a .csv or .xlsx file",
                    "save it in one of these formats",
                )),
            }
        }
    }

    /// All definitions come before all rows, so that references between tables resolve.
    fn records(&mut self) {
        let mut rows = Vec::new();
        for (path, bytes) in self.package.below("world/records/").filter(|(path, _)| *path != GUARDS_PATH) {
            let Some((stem, node)) = self.yaml(path, bytes, "world/records/") else { continue };
            let Value::Map(mut definition) = node.to_value() else {
                let message = "a table is a map with 'fields' and 'rows'";
                self.refuse("scenario/bad-table", path, message, "see docs/scenario-format.md");
                continue;
            };
            self.guards.extend(functions(path, &node));
            let table = definition.entry("table".into()).or_insert_with(|| stem.into()).clone();
            if let Some(found) = definition.remove("rows").filter(|rows| *rows != Value::Null) {
                rows.push((path.clone(), map! { "table" => table, "rows" => found }));
            }
            self.push(path, "records.define", map! { "table" => Value::Map(definition) });
        }
        for (path, arguments) in rows {
            self.push(&path, "records.import", arguments);
        }
    }

    fn chat(&mut self) {
        for (path, bytes) in self.package.below("world/chat/") {
            let Some((_, node)) = self.yaml(path, bytes, "world/chat/") else { continue };
            let source = String::from_utf8_lossy(bytes);
            let report = Report::new(path.clone(), &source);
            let fields = node.fields(&report, "the chat", &["channels", "messages"]);
            for channel in fields.items("channels") {
                let channel = channel.fields(&report, "a channel", &["name", "members"]);
                let members = channel.texts("members");
                let arguments = map! { "channel" => channel.need_text("name"), "members" => members };
                self.push(path, "chat.open_channel", arguments);
            }
            for message in fields.items("messages") {
                let arguments = self.chat_message(message, &report);
                self.push(path, "chat.post", arguments);
            }
            self.problems.extend(report.into_problems());
        }
    }

    fn chat_message(&self, node: &Node, report: &Report<'_>) -> Value {
        let fields = node.fields(report, "a message", &["from", "with", "channel", "text", "time"]);
        let mut arguments = BTreeMap::from([
            (SmolStr::from("from"), Value::from(fields.need_text("from"))),
            (SmolStr::from("text"), Value::from(fields.need_text("text"))),
        ]);
        for key in ["with", "channel"] {
            if let Some(text) = fields.text(key) {
                arguments.insert(key.into(), text.into());
            }
        }
        if fields.get("with").is_some() == fields.get("channel").is_some() {
            let message = "a message goes either to a person or to a channel";
            report.add("scenario/bad-message", fields.place(), message, "give 'with: NAME' or 'channel: NAME'");
        }
        let time = fields.need("time");
        if let Some((node, text)) = time.and_then(|node| Some((node, node.text(report, "'time'")?))) {
            match self.calendar.moment(&text) {
                Ok(time) => {
                    arguments.insert("time".into(), time.into());
                }
                Err(fault) => crate::manifest::bad_time(report, node, &fault),
            }
        }
        Value::Map(arguments)
    }

    /// Reads a YAML file below `folder`. Returns it with the name without its ending.
    fn yaml(&mut self, path: &SmolStr, bytes: &Arc<[u8]>, folder: &str) -> Option<(SmolStr, Node)> {
        let stem = path.strip_prefix(folder).and_then(|name| name.strip_suffix(".yaml"));
        let Some(stem) = stem.filter(|stem| !stem.contains('/')) else {
            let problem =
                Problem::of_file("scenario/bad-file", path.clone(), "this is no .yaml file", "rename or move it");
            self.problems.push(problem);
            return None;
        };
        let source = String::from_utf8_lossy(bytes);
        let report = Report::new(path.clone(), &source);
        let node = yaml::read(&report, bytes);
        let is_map = node.as_ref().is_none_or(|node| matches!(node.shape, Shape::Map(_) | Shape::Null));
        if !is_map {
            report.add(
                "scenario/wrong-type",
                Place { line: 1, column: 1 },
                "the file must hold a map",
                "write 'key: value'",
            );
        }
        self.problems.extend(report.into_problems());
        node.filter(|_| is_map).map(|node| (stem.into(), node))
    }
}

/// Returns the functions that the actions of a table name as their rules: texts under `guard`, alone or in a list.
fn functions(file: &SmolStr, table: &Node) -> Vec<Named> {
    let entries = |node: &Node| if let Shape::Map(entries) = &node.shape { entries.clone() } else { Vec::new() };
    let under =
        |node: &Node, key: &str| entries(node).into_iter().find(|(name, _)| name.text == key).map(|(_, node)| node);
    let actions = under(table, "actions").map(|actions| entries(&actions)).unwrap_or_default();
    let guards = actions.iter().filter_map(|(_, action)| under(action, "guard"));
    let items = guards.flat_map(|guard| if let Shape::List(items) = guard.shape { items } else { vec![guard] });
    let named = |item: Node| {
        let Shape::Text(function) = item.shape else { return None };
        Some(Named { file: file.clone(), function, place: item.place })
    };
    items.filter_map(named).collect()
}

fn introduction(person: &Person, agent: bool) -> Value {
    let mut arguments = BTreeMap::from([
        (SmolStr::from("name"), Value::from(person.name.clone())),
        (SmolStr::from("display"), Value::from(person.display.clone())),
        (SmolStr::from("address"), Value::from(person.address.clone())),
    ]);
    if let Some(role) = &person.role {
        arguments.insert("role".into(), role.clone().into());
    }
    if agent {
        arguments.insert("agent".into(), true.into());
    }
    Value::Map(arguments)
}

fn blob(bytes: &[u8]) -> String {
    BlobId::of(bytes).to_string()
}
