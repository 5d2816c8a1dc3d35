//! The office of a scenario: empty, with the scenario's functions to judge what is done to business tables. They come from the package, which
//! travels with the log, so that a log alone can be executed again.

use std::sync::Arc;

use dayshift_scenarios::{Scenario, ScenarioGuards};
use dayshift_services::Office;
use dayshift_services::records::{Deed, Guards};

/// Returns the empty office in which `scenario` is laid out and played.
#[must_use]
pub fn office(scenario: &Scenario<Office>) -> Office {
    Office::with_guards(Arc::new(Judge(scenario.guards().clone())))
}

#[derive(Debug)]
struct Judge(ScenarioGuards);

impl Guards for Judge {
    fn judge(&self, function: &str, deed: &Deed<'_>) -> Result<Option<String>, String> {
        let ask = |question: &str, arguments: &_| deed.ask(question, arguments);
        self.0.judge(function, &deed.row, &deed.arguments, deed.actor, &ask)
    }
}
