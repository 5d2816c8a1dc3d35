//! Scenarios: the package format, its loader, the language of checks, and the people of a scenario. No store and no network; generic over the
//! world, which is reached by questions and calls alone.

mod agents;
mod checks;
mod examples;
mod guards;
mod language;
mod library;
mod lines;
mod manifest;
mod package;
mod problem;
mod scenario;
mod script;
mod setup;
mod solution;
mod stage;
mod timeline;
mod times;
mod yaml;

pub use agents::{Agent, AgentError, Noop, Observation, RunError, Scripted, run};
pub use checks::StarlarkChecks;
pub use examples::{EXAMPLES_MIN, EXAMPLES_PATH, Example, Examples};
pub use guards::{Ask, ScenarioGuards};
pub use language::{
    CALL_DEPTH_MAX, HEAP_BYTES_MAX, Isolation, NESTING_MAX, RANGE_MAX, SCRIPT_MESSAGE_BYTES_MAX, SCRIPT_WORK_MAX,
    SOURCE_BYTES_MAX, STATEMENTS_MAX, ScriptHost, ScriptProcess, TEXT_MADE_BYTES_MAX, TICKS_MAX, Verb, Vocabulary,
    serve_scripts,
};
pub use library::{built_in, built_in_names, is_built_in};
pub use lines::Lines;
pub use manifest::{ITEMS_MAX, NAME_BYTES_MAX, Person, Requirement, THRESHOLD_DEFAULT, WEIGHT_MAX, WEIGHT_MIN};
pub use package::{
    PACKAGE_BYTES_MAX, PACKAGE_DEPTH_MAX, PACKAGE_FILE_BYTES_MAX, PACKAGE_FILES_MAX, PACKAGE_PATH_BYTES_MAX, Package,
    PackageError,
};
pub use problem::{PROBLEMS_MAX, Problem};
pub use scenario::{PrefixError, Scenario};
pub use script::{REACTION_CALLS_MAX, ScenarioScript};
pub use setup::SetupCall;
pub use solution::{Solution, SolutionCall, SolutionTurn};
pub use stage::{CHANGES_MAX, CHANGES_PATTERNS_MAX};
pub use times::{DURATION_DAYS_MAX, YEAR_MAX, YEAR_MIN};
pub use yaml::{YAML_BYTES_MAX, YAML_NODES_MAX};
