//! The calendars of the initial world: iCalendar files, and beside them what no such file says.

use std::collections::BTreeMap;

use dayshift_engine::{SmolStr, Value};

use super::{Setup, blob};
use crate::manifest::Manifest;
use crate::problem::Report;

const FOLDER: &str = "world/calendars/";

/// How a side file says that a calendar is nobody's.
const NOBODY: &str = "nobody";

impl Setup<'_> {
    /// A calendar is called like its file. One that is called like a person is that person's, any other the agent's, unless a side file says
    /// whose it is.
    pub(super) fn calendars(&mut self, manifest: &Manifest<'_>) {
        let name_of = |path: &SmolStr, ending: &str| {
            let name = path.strip_prefix(FOLDER).and_then(|name| name.strip_suffix(ending));
            name.filter(|name| !name.contains('/')).map(SmolStr::from)
        };
        for (path, bytes) in self.package.below(FOLDER) {
            if let Some(name) = name_of(path, ".ics") {
                let side = SmolStr::from(format!("{FOLDER}{name}.yaml"));
                let is_described = self.package.get(&side).is_some();
                if is_described {
                    self.described(&side, &name, manifest);
                }
                let owner = default_owner(&name, manifest);
                let mut arguments = BTreeMap::from([
                    (SmolStr::from("calendar"), Value::from(name)),
                    (SmolStr::from("blob"), Value::from(blob(bytes))),
                ]);
                if !is_described {
                    arguments.insert("owner".into(), owner.into());
                }
                self.push(path, "calendar.import", Value::Map(arguments));
                continue;
            }
            match name_of(path, ".yaml") {
                // One beside a file was taken with it.
                Some(name) if self.package.get(&format!("{FOLDER}{name}.ics")).is_some() => {}
                Some(name) => self.described(path, &name, manifest),
                None => self.refuse(
                    "scenario/bad-calendar",
                    path,
                    "a calendar is a .ics file, with a .yaml file of the same name beside it that says more",
                    "put it at world/calendars/NAME.ics",
                ),
            }
        }
    }

    /// Makes the calendar that a side file describes.
    fn described(&mut self, path: &SmolStr, name: &SmolStr, manifest: &Manifest<'_>) {
        let Some(bytes) = self.package.get(path) else { return };
        let Some((_, node)) = self.yaml(path, bytes, FOLDER) else { return };
        let source = String::from_utf8_lossy(bytes);
        let report = Report::new(path.clone(), &source);
        let fields = node.fields(&report, "the calendar", &["owner", "description", "leaves_time_free"]);
        let mut arguments = BTreeMap::from([(SmolStr::from("calendar"), Value::from(name.clone()))]);
        let owner = match fields.text("owner") {
            None => Some(default_owner(name, manifest)),
            Some(owner) if owner == NOBODY => None,
            Some(owner) if owner.contains('@') => Some(owner),
            Some(owner) => {
                let known = manifest.people.iter().chain([&manifest.agent]).find(|person| person.name == owner);
                if known.is_none() {
                    let place = fields.get("owner").map(|node| node.place).unwrap_or_default();
                    let message = format!("nobody is called '{owner}'");
                    let remedy = "name a person of scenario.yaml, write an address, or 'nobody'";
                    report.add("scenario/unknown-person", place, message, remedy);
                }
                known.map(|person| person.address.clone())
            }
        };
        if let Some(owner) = owner {
            arguments.insert("owner".into(), owner.into());
        }
        if let Some(description) = fields.text("description") {
            arguments.insert("description".into(), description.into());
        }
        if fields.truth("leaves_time_free") {
            arguments.insert("free".into(), true.into());
        }
        self.problems.extend(report.into_problems());
        self.push(path, "calendar.make", Value::Map(arguments));
    }
}

/// Returns whose a calendar is of which nothing else is said.
fn default_owner(name: &str, manifest: &Manifest<'_>) -> SmolStr {
    manifest.people.iter().find(|person| person.name == name).unwrap_or(&manifest.agent).address.clone()
}
