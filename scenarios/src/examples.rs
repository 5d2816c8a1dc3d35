//! Examples of texts beside the functions of `checks.star` that judge them: `examples.yaml`. A function that looks for words is only as fair as the
//! words that its author thought of, so it carries right paraphrases and near misses, which `check` runs. Nothing here is needed to run an episode.

use dayshift_engine::{Scene, SmolStr, Value, World};

use crate::checks::StarlarkChecks;
use crate::language::{Argument, Program};
use crate::manifest::CHECKS_PATH;
use crate::package::Package;
use crate::problem::{Problem, Report, did_you_mean};
use crate::stage::OpenStage;
use crate::yaml::{self, Node};

/// Where the examples of a package stand.
pub const EXAMPLES_PATH: &str = "examples.yaml";

/// How many right paraphrases, and how many near misses, a function carries at least.
pub const EXAMPLES_MIN: usize = 2;

/// The examples of one function.
#[derive(Clone, Debug, PartialEq)]
pub struct Examples {
    /// The function of `checks.star`, which takes one argument.
    pub function: SmolStr,
    /// The line at which they begin.
    pub line: u32,
    /// What it must hold for.
    pub hits: Vec<Example>,
    /// What it must not hold for.
    pub misses: Vec<Example>,
}

/// One example.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// The line at which it stands.
    pub line: u32,
    /// What the function is called with: a text, or a dict such as a message.
    pub given: Value,
}

/// Reads the examples of `package`, whose functions are those of `program`.
///
/// # Errors
///
/// Every fault, with its place.
pub(crate) fn read(package: &Package, program: &Program) -> Result<Vec<Examples>, Vec<Problem>> {
    let Some(bytes) = package.get(EXAMPLES_PATH) else { return Ok(Vec::new()) };
    let source = String::from_utf8_lossy(bytes);
    let report = Report::new(EXAMPLES_PATH, &source);
    let known = program.functions();
    let mut all = Vec::new();
    if let Some(root) = yaml::read(&report, bytes) {
        for (function, node) in root.entries(&report, "the examples") {
            if !known.contains(&function.text.as_str()) {
                let message = format!("{CHECKS_PATH} has no function '{}'", function.text);
                report.add("scenario/unknown-function", function.place, message, did_you_mean(&function.text, &known));
            }
            let fields = node.fields(&report, "the examples of a function", &["hits", "misses"]);
            let of = |name| fields.items(name).iter().map(example).collect();
            let (hits, misses) = (of("hits"), of("misses"));
            all.push(Examples { function: function.text.clone(), line: function.place.line, hits, misses });
        }
    }
    let problems = report.into_problems();
    if problems.is_empty() { Ok(all) } else { Err(problems) }
}

fn example(node: &Node) -> Example {
    Example { line: node.place.line, given: node.to_value() }
}

impl StarlarkChecks {
    /// Returns whether `function` holds for `given` in `scene`: it returns `True`, 1, or something that is not empty.
    ///
    /// # Errors
    ///
    /// What the script says.
    pub(crate) fn holds_for<W: World>(
        &self,
        function: &str,
        given: &Value,
        scene: &Scene<'_, W>,
    ) -> Result<bool, String> {
        let stage = OpenStage { house: &self.house, scene };
        let answer = self.program.call(function, &[Argument::Plain(given)], &stage);
        Ok(match answer.map_err(|failure| failure.to_string())? {
            Value::Null => false,
            Value::Bool(holds) => holds,
            Value::Int(level) => level >= 1,
            Value::Float(level) => level >= 1.0,
            Value::Text(text) => !text.is_empty(),
            Value::List(items) => !items.is_empty(),
            Value::Map(entries) => !entries.is_empty(),
        })
    }
}
