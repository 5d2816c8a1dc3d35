//! Recorded solutions: what an agent says and calls, by day and turn. The reference solution proves that a scenario is solvable; known-bad ones
//! must fail.

use dayshift_engine::{SmolStr, Value};

use crate::package::Package;
use crate::problem::{Place, Problem, Report, did_you_mean};
use crate::timeline::call_arguments;
use crate::yaml::{self, Node, Shape};

/// A recorded solution.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// The name: the file's, without its ending.
    pub name: SmolStr,
    /// The file, relative to the package.
    pub file: SmolStr,
    /// What this agent does, in a sentence.
    pub description: String,
    /// Whether it must pass, if the author says so; `reference` must.
    pub passes: Option<bool>,
    /// The checks at which it must not reach level 1.
    pub fails: Vec<SmolStr>,
    /// By day: what it does, in order.
    pub days: Vec<(SmolStr, Vec<SolutionTurn>)>,
}

/// One turn of a solution.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SolutionTurn {
    /// The line at which it stands.
    pub line: u32,
    /// What is said; nothing for a turn that only hands over.
    pub say: Option<String>,
    /// The calls, in order.
    pub calls: Vec<SolutionCall>,
    /// Whether the day is handed over after the calls, and with which words.
    pub hand_over: Option<String>,
}

/// One call of a solution. Texts in its arguments may refer to an earlier answer as `{{NAME.field}}`.
#[derive(Clone, Debug, PartialEq)]
pub struct SolutionCall {
    /// The line at which it stands.
    pub line: u32,
    /// The tool.
    pub tool: SmolStr,
    /// The arguments.
    pub arguments: Value,
    /// The name under which the answer is kept.
    pub answer_name: Option<SmolStr>,
}

impl Solution {
    /// Reads the solution `bytes` of `file`; `days` and `checks` are the names that it may use.
    ///
    /// # Errors
    ///
    /// Every fault, with its place.
    pub fn read(
        file: &str,
        bytes: &[u8],
        package: &Package,
        days: &[&str],
        checks: &[&str],
    ) -> Result<Self, Vec<Problem>> {
        let source = String::from_utf8_lossy(bytes);
        let report = Report::new(file, &source);
        let solution = yaml::read(&report, bytes).map(|root| read_root(file, &root, &report, package, days, checks));
        let problems = report.into_problems();
        match solution {
            Some(solution) if problems.is_empty() => Ok(solution),
            _ => Err(problems),
        }
    }
}

fn read_root(
    file: &str,
    root: &Node,
    report: &Report<'_>,
    package: &Package,
    days: &[&str],
    checks: &[&str],
) -> Solution {
    let fields = root.fields(report, "the solution", &["description", "passes", "fails", "days"]);
    let fails = fields.texts("fails");
    for (id, node) in fails.iter().zip(fields.items("fails")) {
        if !checks.contains(&id.as_str()) {
            let message = format!("there is no check '{id}'");
            report.add("solution/unknown-check", node.place, message, did_you_mean(id, checks));
        }
    }
    let mut read_days = Vec::new();
    for (day, turns) in fields.need("days").map_or(&[] as &[_], |node| node.entries(report, "'days'")) {
        if !days.contains(&day.text.as_str()) {
            let message = format!("there is no day '{}'", day.text);
            report.add("solution/unknown-day", day.place, message, did_you_mean(&day.text, days));
        }
        let turns = turns.items(report, "the turns of a day").iter().map(|turn| read_turn(turn, report, package));
        read_days.push((day.text.clone(), turns.collect()));
    }
    let name = file.rsplit('/').next().unwrap_or(file);
    Solution {
        name: name.strip_suffix(".yaml").unwrap_or(name).into(),
        file: file.into(),
        description: fields.text("description").map(Into::into).unwrap_or_default(),
        passes: fields.get("passes").and_then(|node| node.truth(report, "'passes'")),
        fails,
        days: read_days,
    }
}

fn read_turn(node: &Node, report: &Report<'_>, package: &Package) -> SolutionTurn {
    let fields = node.fields(report, "a turn", &["say", "calls", "hand_over"]);
    let calls: Vec<_> = fields.items("calls").iter().filter_map(|call| read_call(call, report, package)).collect();
    let hand_over = match fields.get("hand_over").map(|node| (&node.shape, node)) {
        None | Some((Shape::Bool(false), _)) => None,
        Some((Shape::Bool(true), _)) => Some(String::new()),
        Some((_, node)) => node.text(report, "'hand_over'").map(Into::into),
    };
    let said = fields.text("say").map(String::from);
    let say = said.or_else(|| (!calls.is_empty() || hand_over.is_none()).then(String::new));
    SolutionTurn { line: node.place.line, say, calls, hand_over }
}

/// Reads `service.verb: {arguments}`, perhaps with `as: NAME`.
fn read_call(node: &Node, report: &Report<'_>, package: &Package) -> Option<SolutionCall> {
    let entries = node.entries(report, "a call");
    let mut tools = entries.iter().filter(|(name, _)| name.text != "as");
    let (Some((tool, arguments)), None) = (tools.next(), tools.next()) else {
        bad_call(report, node.place);
        return None;
    };
    let answer_name = entries.iter().find(|(name, _)| name.text == "as");
    Some(SolutionCall {
        line: tool.place.line,
        tool: tool.text.clone(),
        arguments: call_arguments(arguments, report, package),
        answer_name: answer_name.and_then(|(_, node)| node.text(report, "'as'")),
    })
}

fn bad_call(report: &Report<'_>, place: Place) {
    let remedy = "write '- service.verb: {argument: value}', and 'as: NAME' below it to refer to its answer";
    report.add("solution/bad-call", place, "a call is one tool with its arguments", remedy);
}
