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
            other @ (Value::Null
            | Value::Int(_)
            | Value::Float(_)
            | Value::Text(_)
            | Value::List(_)
            | Value::Map(_)) => Err(format!(
                "{}: '{function}' returned {other}; return True, or a text that says why not",
                self.program.file()
            )),
        }
    }
}

/// What a guard sees: what `ask` answers.
struct GuardStage<'a> {
    ask: Ask<'a>,
}

impl Stage for GuardStage<'_> {
    fn answer(&self, day: Option<&str>, question: &str, arguments: Value) -> Result<Value, String> {
        match question {
            "scene.now" => (self.ask)("clock.now", &map! {}),
            _ if day.is_some() || question.starts_with("scene.") => {
                Err("a guard sees records and the time, as they are now".to_owned())
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::{Language, Vocabulary};

    const SOURCE: &str = r#"
def verified(row, arguments, actor):
    if actor != "ann":
        return "only Ann may"
    found = records.rows("calls", where = {"ticket": row.id})
    return True if found else "call back about {} first".format(arguments.iban)

def late(row, arguments, actor):
    return now() < "2026-03-17"

def no_verdict(row, arguments, actor):
    return 7

def endless(row, arguments, actor):
    return len([x for x in range(1000000) for y in range(1000)])

def yesterday(row, arguments, actor):
    return at("mon").records.row("calls", "C-1") == None

def too_few(row):
    return True
"#;

    fn judge(function: &str, actor: &str, calls: &Value) -> Result<Option<String>, String> {
        let language = Language::new(&Vocabulary::OFFICE).expect("the office's vocabulary");
        let guards =
            ScenarioGuards::new(Arc::new(language.read("guards.star", SOURCE.as_bytes()).expect("it is read")));
        let ask = |question: &str, arguments: &Value| match question {
            "records.rows" => {
                assert_eq!(*arguments, map! { "table" => "calls", "where" => map! { "ticket" => "T-1" } });
                Ok(calls.clone())
            }
            "clock.now" => Ok(Value::from("2026-03-16T09:00:00+01:00")),
            other => Err(format!("no {other} here")),
        };
        guards.judge(function, &map! { "id" => "T-1" }, &map! { "iban" => "DE1" }, actor, &ask)
    }

    #[test]
    fn a_function_says_yes_or_why_not() {
        let (none, one) = (Value::List(Vec::new()), Value::List(vec![map! { "id" => "C-1" }]));
        assert_eq!(judge("verified", "ann", &one), Ok(None));
        assert_eq!(judge("verified", "ann", &none), Ok(Some("call back about DE1 first".to_owned())));
        assert_eq!(judge("verified", "bob", &one), Ok(Some("only Ann may".to_owned())));
        assert_eq!(judge("late", "ann", &none), Ok(None));
    }

    #[test]
    fn what_is_no_verdict_is_a_fault_with_its_line() {
        for (function, words) in [
            ("no_verdict", "returned 7"),
            ("endless", "guards.star:15: it does more than"),
            ("yesterday", "as they are now"),
            ("too_few", "guards.star"),
            ("nowhere", "nowhere"),
        ] {
            let fault = judge(function, "ann", &Value::Null).expect_err(function);
            assert!(fault.contains(words), "{function}: {fault}");
        }
    }
}
