//! Guards that are functions of a scenario's scripts. What a function is and how it is evaluated is not known here: whoever builds the office
//! hands in a [`Guards`], made of the scenario's package, so that a log, which carries its package, can be executed again.

use std::fmt::Debug;

use dayshift_engine::{CLOCK_KEY, Key, ReadKind, Rejection, Seq, SmolStr, Value};

use super::questions;
use super::scene::{Found, Scene};

/// Judges actions by functions. The same function and the same answers must lead to the same verdict, whenever and wherever it is asked.
pub trait Guards: Debug + Send + Sync {
    /// Returns nothing if `function` lets the deed be done, otherwise why not.
    ///
    /// # Errors
    ///
    /// A sentence for the author, when the function is not there, fails, or returns what is no verdict.
    fn judge(&self, function: &str, deed: &Deed<'_>) -> Result<Option<String>, String>;
}

/// What somebody is about to do with a row, and the tables as they are.
pub struct Deed<'a> {
    /// The row as it is: fields by name, the id under its name.
    pub row: Value,
    /// The action's arguments, all of them, empty ones as null.
    pub arguments: Value,
    /// The name of who acts.
    pub actor: &'a str,
    scene: &'a Scene<'a>,
}

impl Deed<'_> {
    /// Answers a question of a function: of `records`, or `clock.now`. What is read becomes a dependency of the call.
    ///
    /// # Errors
    ///
    /// A sentence for the author.
    pub fn ask(&self, question: &str, arguments: &Value) -> Result<Value, String> {
        match question.split_once('.') {
            Some(("records", verb)) => {
                questions::answer(self.scene, verb, arguments).map_err(|rejection| rejection.to_string())
            }
            Some(("clock", "now")) => {
                self.scene.frame.note(ReadKind::Item, Key::new(CLOCK_KEY), Seq::default());
                Ok(self.scene.desk.show(self.scene.time).into())
            }
            _ => Err(format!("a guard sees records and the time alone, and cannot ask {question}")),
        }
    }
}

/// Holds the action `action` on the row `id` against `function`.
///
/// # Errors
///
/// `records/guard-refused` with the function's own sentence, `records/guard-fault` when it cannot be evaluated.
pub(super) fn hold(
    scene: &Scene<'_>,
    table: Found<'_>,
    id: &SmolStr,
    action: &str,
    function: &str,
    arguments: Value,
) -> Result<(), Rejection> {
    let fault = |why: String| {
        Err(Rejection::new(
            "records/guard-fault",
            format!(
                "'{action}' cannot be done: its rule '{function}' is at fault: {why}; tell whoever runs this office"
            ),
        ))
    };
    let Some(guards) = &scene.state.guards else { return fault("no rules were handed in".to_owned()) };
    let deed = Deed { row: questions::row(scene, table, id), arguments, actor: &scene.desk.name, scene };
    match guards.judge(function, &deed) {
        Ok(None) => Ok(()),
        Ok(Some(why)) => Err(Rejection::new("records/guard-refused", format!("'{action}' was not done: {why}"))),
        Err(why) => fault(why),
    }
}
