//! Where the parts of a scenario stand in its files, for whoever reports on them. Nothing here is needed to run an episode, and nothing is
//! checked: a package that does not load has no lines worth knowing.

use std::collections::BTreeMap;

use dayshift_engine::SmolStr;

use crate::manifest::{CHECKS_PATH, MANIFEST_PATH};
use crate::package::Package;
use crate::problem::Report;
use crate::yaml::{self, Node, Shape};

/// The lines, from 1, of what `scenario.yaml` and `checks.star` name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// The request.
    pub request: Option<u32>,
    /// By requirement.
    pub requirements: BTreeMap<SmolStr, u32>,
    /// By person.
    pub people: BTreeMap<SmolStr, u32>,
    /// By event.
    pub events: BTreeMap<SmolStr, u32>,
    /// By day: its notification.
    pub days: BTreeMap<SmolStr, u32>,
    /// By check.
    pub checks: BTreeMap<SmolStr, u32>,
    /// By check: its function in `checks.star`.
    pub check_functions: BTreeMap<SmolStr, SmolStr>,
    /// The functions in `checks.star` that checks and conditions name.
    pub used: Vec<SmolStr>,
    /// By function of `checks.star`: the line of its `def`.
    pub functions: BTreeMap<SmolStr, u32>,
}

impl Lines {
    /// Returns the lines of what `package` names.
    #[must_use]
    pub fn of(package: &Package) -> Self {
        let mut lines = Self::default();
        if let Some(bytes) = package.get(MANIFEST_PATH) {
            let source = String::from_utf8_lossy(bytes);
            let report = Report::new(MANIFEST_PATH, &source);
            if let Some(root) = yaml::read(&report, bytes) {
                lines.manifest(&root);
            }
        }
        if let Some(bytes) = package.get(CHECKS_PATH) {
            for (index, line) in String::from_utf8_lossy(bytes).lines().enumerate() {
                if let Some((name, _)) = line.strip_prefix("def ").and_then(|rest| rest.split_once('(')) {
                    lines.functions.insert(name.trim().into(), u32::try_from(index + 1).unwrap_or(u32::MAX));
                }
            }
        }
        lines
    }

    fn manifest(&mut self, root: &Node) {
        self.request = entry(root, "request").map(|node| node.place.line);
        self.requirements = named(root, "requirements", "id");
        self.people = named(root, "people", "name");
        self.events = named(root, "events", "id");
        self.days = named(root, "days", "name");
        self.checks = named(root, "checks", "id");
        for node in items(root, "checks") {
            let Some(id) = text(node, "id") else { continue };
            let function = text(node, "function").unwrap_or_else(|| id.replace(['-', '.'], "_").into());
            self.used.push(function.clone());
            self.check_functions.insert(id, function);
        }
        self.used.extend(items(root, "events").iter().filter_map(|node| text(node, "when")));
    }
}

fn entry<'a>(node: &'a Node, key: &str) -> Option<&'a Node> {
    let Shape::Map(entries) = &node.shape else { return None };
    entries.iter().find(|(name, _)| name.text == key).map(|(_, node)| node)
}

fn items<'a>(root: &'a Node, key: &str) -> &'a [Node] {
    match entry(root, key).map(|node| &node.shape) {
        Some(Shape::List(items)) => items,
        _ => &[],
    }
}

fn text(node: &Node, key: &str) -> Option<SmolStr> {
    match entry(node, key).map(|node| &node.shape) {
        Some(Shape::Text(text)) => Some(text.clone()),
        _ => None,
    }
}

fn named(root: &Node, list: &str, key: &str) -> BTreeMap<SmolStr, u32> {
    items(root, list).iter().filter_map(|node| Some((text(node, key)?, node.place.line))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_functions_are_found_at_their_lines() {
        let manifest = "request: Do it.\nchecks:\n  - {id: paid-in-full}\n  - id: told\n    function: was_told\nevents:\n  - {id: fee, when: late}\n";
        let script = "# checks\ndef paid_in_full():\n    return True\n";
        let package = Package::from_files(
            "x",
            [("scenario.yaml", manifest), ("checks.star", script)].map(|(path, text)| (path, text.as_bytes())),
        );
        let lines = Lines::of(&package.expect("it is a package"));
        assert_eq!(lines.request, Some(1));
        assert_eq!(lines.checks.get("paid-in-full"), Some(&3));
        assert_eq!(lines.checks.get("told"), Some(&4));
        assert_eq!(lines.events.get("fee"), Some(&7));
        assert_eq!(lines.functions.get("paid_in_full"), Some(&2));
        assert_eq!(lines.used, ["paid_in_full", "was_told", "late"]);
    }
}
