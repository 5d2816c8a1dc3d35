//! What a check of a scenario finds: a rule with a stable id, a place, what is wrong and what to do.

use dayshift_scenarios::Problem;
use serde::Serialize;

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The scenario is not admitted.
    Error,
    /// Worth a look; the scenario is admitted nevertheless.
    Warning,
    /// Good to know.
    Note,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The stable id of the rule, `scenario/what`. Ids are for ever.
    pub rule: &'static str,
    /// How much it weighs.
    pub severity: Severity,
    /// The file, relative to the package.
    pub file: String,
    /// The line, from 1, where one is at fault.
    pub line: Option<u32>,
    /// What is wrong.
    pub message: String,
    /// What to do instead.
    pub remedy: String,
}

/// Where findings are gathered.
#[derive(Debug, Default)]
pub(super) struct Findings(Vec<Finding>);

/// A place in the package.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) file: String,
    pub(super) line: Option<u32>,
}

impl From<&Problem> for Finding {
    fn from(problem: &Problem) -> Self {
        Self {
            rule: problem.rule,
            severity: Severity::Error,
            file: problem.file.to_string(),
            line: problem.line,
            message: problem.message.to_string(),
            remedy: problem.remedy.to_string(),
        }
    }
}

impl Place {
    pub(super) fn new(file: impl Into<String>, line: Option<u32>) -> Self {
        Self { file: file.into(), line: line.filter(|line| *line > 0) }
    }
}

impl Findings {
    pub(super) fn error(
        &mut self,
        rule: &'static str,
        place: Place,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.add(Severity::Error, rule, place, message.into(), remedy.into());
    }

    pub(super) fn warning(
        &mut self,
        rule: &'static str,
        place: Place,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.add(Severity::Warning, rule, place, message.into(), remedy.into());
    }

    pub(super) fn note(
        &mut self,
        rule: &'static str,
        place: Place,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.add(Severity::Note, rule, place, message.into(), remedy.into());
    }

    pub(super) fn problem(&mut self, problem: &Problem) {
        self.0.push(problem.into());
    }

    pub(super) fn admits(&self) -> bool {
        self.0.iter().all(|finding| finding.severity != Severity::Error)
    }

    /// Returns the findings, errors first; within a severity as they were found.
    pub(super) fn into_sorted(mut self) -> Vec<Finding> {
        self.0.sort_by_key(|finding| finding.severity);
        self.0
    }

    fn add(&mut self, severity: Severity, rule: &'static str, place: Place, message: String, remedy: String) {
        let finding = Finding { rule, severity, file: place.file, line: place.line, message, remedy };
        if !self.0.contains(&finding) {
            self.0.push(finding);
        }
    }
}
