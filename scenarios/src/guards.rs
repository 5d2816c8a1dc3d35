//! Rules of business tables that are functions of the package's scripts: `def may_approve(row, arguments, actor)`. Deterministic and limited as all
//! scripts are; what they read is noted in the call that they judge.

use std::fmt;
use std::sync::Arc;

use dayshift_engine::{SmolStr, Value, map};

use crate::language::{Argument, Program, Stage};

/// Where the functions are, if a package has this file; otherwise they are among the checks.
pub(crate) const GUARDS_PATH: &str = "world/records/guards.star";

/// Answers a question of a function: its name, and its arguments.
pub type Ask<'a> = &'a dyn Fn(&str, &Value) -> Result<Value, String>;

/// The functions of one package.
#[derive(Clone)]
pub struct ScenarioGuards {
    program: Arc<Program>,
}

impl fmt::Debug for ScenarioGuards {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ScenarioGuards").field("file", &self.program.file()).finish()
    }
}

impl ScenarioGuards {
    pub(crate) fn new(program: Arc<Program>) -> Self {
        Self { program }
    }

    /// Asks `function` whether `actor` may do something to `row` with `arguments`. Returns nothing if so, otherwise why not.
    ///
    /// # Errors
    ///
    /// A sentence with file and line, when the function fails or returns neither a truth value nor a text.
    pub fn judge(
        &self,
        function: &str,
        row: &Value,
        arguments: &Value,
        actor: &str,
        ask: Ask<'_>,
    ) -> Result<Option<String>, String> {
        let actor = Value::from(actor);
        let given = [Argument::Attributes(row), Argument::Attributes(arguments), Argument::Plain(&actor)];
        let answer = self.program.call(function, &given, &GuardStage { ask });
        match answer.map_err(|failure| failure.to_string())? {
            Value::Bool(true) => Ok(None),
            Value::Bool(false) => Ok(Some(format!("the rule '{}' does not hold", function.replace('_', " ")))),
            Value::Text(why) if !why.trim().is_empty() => Ok(Some(why.to_string())),
            other => Err(format!(
                "{}: '{function}' returned {other}; return True, or a text that says why not",
                self.program.file()
            )),
        }
    }
}

/// What a guard sees: what `ask` answers, as it is now.
struct GuardStage<'a> {
    ask: Ask<'a>,
}

impl Stage for GuardStage<'_> {
    fn answer(&self, day: Option<&str>, question: &str, arguments: Value) -> Result<Value, String> {
        if day.is_some() {
            return Err("a guard sees the world as it is now".to_owned());
        }
        match question {
            "scene.now" => (self.ask)("clock.now", &map! {}),
            _ => (self.ask)(question, &arguments),
        }
    }
}

/// A function that a table names.
pub(crate) struct Named {
    /// The table's file.
    pub(crate) file: SmolStr,
    pub(crate) function: SmolStr,
    pub(crate) place: crate::problem::Place,
}
