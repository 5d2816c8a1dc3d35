//! A scenario, loaded: everything that a package says, checked against itself and against the tools of a world.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use dayshift_engine::{
    BlobId, Blobs, Checks, EpisodeError, Genesis, Prefix, Scene, Script, SimTime, SmolStr, ToolCall, Value, World, map,
};

use crate::agents::{Agent, Noop, Scripted};
use crate::checks::StarlarkChecks;
use crate::examples::{self, Examples};
use crate::guards::{GUARDS_PATH, Named, ScenarioGuards};
use crate::language::{Isolation, Language, Program, Vocabulary};
use crate::library::is_built_in;
use crate::manifest::{CHECKS_PATH, FunctionName, MANIFEST_PATH, Manifest, Person, PersonaEntry, Requirement};
use crate::package::Package;
use crate::problem::{Place, Problem, Report, did_you_mean};
use crate::script::{PersonaScript, ScenarioScript};
use crate::setup::{self, SetupCall};
use crate::solution::Solution;
use crate::stage::{House, Viewer};
use crate::timeline::Timeline;
use crate::yaml;

/// A scenario over the world `W`. A clone shares everything.
pub struct Scenario<W> {
    id: SmolStr,
    title: String,
    family: Option<SmolStr>,
    request: String,
    requirements: Vec<Requirement>,
    agent: Person,
    people: Vec<Person>,
    package: Package,
    digest: BlobId,
    epoch: SimTime,
    setup: Vec<SetupCall>,
    script: Arc<ScenarioScript>,
    checks: Arc<StarlarkChecks>,
    solutions: Vec<Arc<Solution>>,
    examples: Vec<Examples>,
    guards: ScenarioGuards,
    allows_outside: bool,
    own_script: Option<Arc<dyn Script<W>>>,
    own_checks: Option<Arc<dyn Checks<W>>>,
}

impl<W> Clone for Scenario<W> {
    fn clone(&self) -> Self {
        Self {
            id: self.id.clone(),
            title: self.title.clone(),
            family: self.family.clone(),
            request: self.request.clone(),
            requirements: self.requirements.clone(),
            agent: self.agent.clone(),
            people: self.people.clone(),
            package: self.package.clone(),
            digest: self.digest,
            epoch: self.epoch,
            setup: self.setup.clone(),
            script: Arc::clone(&self.script),
            checks: Arc::clone(&self.checks),
            solutions: self.solutions.clone(),
            examples: self.examples.clone(),
            guards: self.guards.clone(),
            allows_outside: self.allows_outside,
            own_script: self.own_script.clone(),
            own_checks: self.own_checks.clone(),
        }
    }
}

/// Why the initial world of a scenario cannot be laid out.
#[derive(Debug, thiserror::Error)]
pub enum PrefixError {
    /// A service refused what a file brings.
    #[error("{0}")]
    Refused(Box<Problem>),
    /// Anything else.
    #[error(transparent)]
    Episode(#[from] EpisodeError),
}

impl<W> fmt::Debug for Scenario<W> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Scenario").field("id", &self.id).field("digest", &self.digest).finish_non_exhaustive()
    }
}

impl<W: World> Scenario<W> {
    /// Loads `package`, whose scripts ask the office's questions.
    ///
    /// # Errors
    ///
    /// Every fault that was found, with file, line and remedy.
    pub fn load(package: Package) -> Result<Self, Vec<Problem>> {
        Self::load_with(package, &Vocabulary::OFFICE)
    }

    /// Loads `package`, whose scripts ask the questions of `vocabulary`.
    ///
    /// # Errors
    ///
    /// As [`Self::load`].
    pub fn load_with(package: Package, vocabulary: &Vocabulary) -> Result<Self, Vec<Problem>> {
        Self::load_in(package, vocabulary, None)
    }

    /// Loads `package`, whose scripts ask the questions of `vocabulary`. They are evaluated by the processes of `isolation`, unless the package is
    /// a built-in one.
    ///
    /// # Errors
    ///
    /// As [`Self::load`].
    pub fn load_isolated(
        package: Package,
        vocabulary: &Vocabulary,
        isolation: &Arc<Isolation>,
    ) -> Result<Self, Vec<Problem>> {
        let isolation = (!is_built_in(&package)).then_some(isolation);
        Self::load_in(package, vocabulary, isolation)
    }

    fn load_in(
        package: Package,
        vocabulary: &Vocabulary,
        isolation: Option<&Arc<Isolation>>,
    ) -> Result<Self, Vec<Problem>> {
        let Some(bytes) = package.get(MANIFEST_PATH).cloned() else {
            let message = "the package has no scenario.yaml";
            let problem = Problem::of_file("scenario/missing-file", MANIFEST_PATH, message, "add it");
            return Err(vec![problem]);
        };
        let source = String::from_utf8_lossy(&bytes);
        let report = Report::new(MANIFEST_PATH, &source);
        let Some(root) = yaml::read(&report, &bytes) else { return Err(report.into_problems()) };
        let mut problems = Vec::new();
        let loaded = Loading { vocabulary, isolation, package: &package, problems: &mut problems }.load(&root, &report);
        problems.splice(0..0, report.into_problems());
        match loaded {
            Some(scenario) if problems.is_empty() => Ok(Self { digest: package.digest(), package, ..scenario }),
            _ => Err(problems),
        }
    }

    /// Returns the id, which ends in `-vN`.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the title.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Returns the family that the scenario belongs to, if it says so.
    #[must_use]
    pub fn family(&self) -> Option<&str> {
        self.family.as_deref()
    }

    /// Returns what the agent is asked for.
    #[must_use]
    pub fn request(&self) -> &str {
        &self.request
    }

    /// Returns what the request asks for, point by point.
    #[must_use]
    pub fn requirements(&self) -> &[Requirement] {
        &self.requirements
    }

    /// Returns who the agent is.
    #[must_use]
    pub fn agent_person(&self) -> &Person {
        &self.agent
    }

    /// Returns everybody else.
    #[must_use]
    pub fn people(&self) -> &[Person] {
        &self.people
    }

    /// Returns the files.
    #[must_use]
    pub fn package(&self) -> &Package {
        &self.package
    }

    /// Returns the office's time zone.
    #[must_use]
    pub fn zone(&self) -> chrono_tz::Tz {
        self.script.house.zone
    }

    /// Returns the digest of the package.
    #[must_use]
    pub fn digest(&self) -> BlobId {
        self.digest
    }

    /// Returns the timeline, the conditions and the personas.
    #[must_use]
    pub fn script(&self) -> Arc<dyn Script<W>> {
        self.own_script.clone().unwrap_or_else(|| Arc::clone(&self.script) as Arc<dyn Script<W>>)
    }

    /// Returns the scenario with another script than the package's: conditions and personas written in the language of a door. The timeline
    /// must be the package's own. A log alone then no longer re-executes; it still verifies and folds.
    #[must_use]
    pub fn with_script(mut self, script: Arc<dyn Script<W>>) -> Self {
        self.own_script = Some(script);
        self
    }

    /// Returns the scenario with other checks than the package's, written in the language of a door.
    #[must_use]
    pub fn with_checks(mut self, checks: Arc<dyn Checks<W>>) -> Self {
        self.own_checks = Some(checks);
        self
    }

    /// Returns the checks.
    #[must_use]
    pub fn checks(&self) -> Arc<dyn Checks<W>> {
        self.own_checks.clone().unwrap_or_else(|| Arc::clone(&self.checks) as Arc<dyn Checks<W>>)
    }

    /// Returns whether the checks are the package's, and not those of a door.
    #[must_use]
    pub fn has_own_checks(&self) -> bool {
        self.own_checks.is_none()
    }

    /// Returns whether somebody may stage acts from outside of the timeline. A log with acts that its scenario does not allow does not pass.
    #[must_use]
    pub fn allows_outside(&self) -> bool {
        self.allows_outside
    }

    /// Returns the functions that judge actions on business tables. Whoever builds the office of this scenario hands them in.
    #[must_use]
    pub fn guards(&self) -> &ScenarioGuards {
        &self.guards
    }

    /// Returns the calls that lay out the initial world, each with the file that it comes from.
    #[must_use]
    pub fn setup(&self) -> &[SetupCall] {
        &self.setup
    }

    /// Returns the recorded solutions, in name order.
    #[must_use]
    pub fn solutions(&self) -> &[Arc<Solution>] {
        &self.solutions
    }

    /// Returns the examples that the package's functions carry.
    #[must_use]
    pub fn examples(&self) -> &[Examples] {
        &self.examples
    }

    /// Returns whether `function` of `checks.star` holds for one of its examples, or for anything else that it could be `given`, in `scene`.
    ///
    /// # Errors
    ///
    /// What the script says.
    pub fn holds_for(&self, function: &str, given: &Value, scene: &Scene<'_, W>) -> Result<bool, String> {
        self.checks.holds_for(function, given, scene)
    }

    /// Keeps the package's blobs and returns what the genesis record says.
    pub fn genesis(&self, blobs: &dyn Blobs) -> Genesis {
        let blobs = self.package.to_blobs(blobs);
        Genesis { scenario: self.id.clone(), digest: self.digest, blobs, epoch: self.epoch }
    }

    /// Lays out the initial world in `world`.
    ///
    /// # Errors
    ///
    /// [`PrefixError::Refused`] with the file that a service refused.
    pub fn prefix(&self, world: W, blobs: &Arc<dyn Blobs>) -> Result<Prefix<W>, PrefixError> {
        let genesis = self.genesis(&**blobs);
        let calls = self.setup.iter().map(|setup| setup.call.clone()).collect();
        Prefix::build(world, genesis, calls, self.script(), Arc::clone(blobs)).map_err(|error| {
            if let EpisodeError::Setup { index, tool, rejection } = error {
                let file = self.setup.get(index).map(|setup| setup.file.clone()).unwrap_or_default();
                let message = format!("{tool} refused this: {rejection}");
                let remedy = "correct the file, or what scenario.yaml says of it";
                PrefixError::Refused(Box::new(Problem::of_file("scenario/refused", file, message, remedy)))
            } else {
                PrefixError::Episode(error)
            }
        })
    }

    /// Returns the agent `name`: `noop`, or the solution of that name (`reference`).
    ///
    /// # Errors
    ///
    /// `scenario/unknown-agent` when there is none.
    pub fn agent(&self, name: &str) -> Result<Box<dyn Agent>, Problem> {
        if name == "noop" {
            return Ok(Box::new(Noop));
        }
        if let Some(solution) = self.solutions.iter().find(|solution| solution.name == name) {
            return Ok(Box::new(Scripted::new(Arc::clone(solution))));
        }
        let known: Vec<&str> = ["noop"].into_iter().chain(self.solutions.iter().map(|s| s.name.as_str())).collect();
        let message = format!("{} has no agent '{name}'", self.id);
        let remedy = did_you_mean(name, &known);
        Err(Problem::of_file("scenario/unknown-agent", MANIFEST_PATH, message, remedy))
    }

    /// Returns the agent that follows a solution from outside of the package.
    ///
    /// # Errors
    ///
    /// Every fault of the solution.
    pub fn scripted(&self, file: &str, bytes: &[u8]) -> Result<Scripted, Vec<Problem>> {
        let days: Vec<&str> = self.script.plan.days.iter().map(|day| day.name.as_str()).collect();
        let checks: Vec<&str> = self.checks.specs.iter().map(|spec| spec.id.as_str()).collect();
        Ok(Scripted::new(Arc::new(Solution::read(file, bytes, &self.package, &days, &checks)?)))
    }
}

/// The reading of one package. Problems of other files than `scenario.yaml` are gathered here.
struct Loading<'a> {
    vocabulary: &'a Vocabulary,
    /// Where scripts are evaluated, if not here.
    isolation: Option<&'a Arc<Isolation>>,
    package: &'a Package,
    problems: &'a mut Vec<Problem>,
}

impl Loading<'_> {
    fn load<'r, W: World>(mut self, root: &'r yaml::Node, report: &'r Report<'r>) -> Option<Scenario<W>> {
        let manifest = Manifest::read(root, report, self.package);
        let timeline = Timeline::read(&manifest, report, self.package);
        for (place, call) in &timeline.commands {
            if let Some((message, remedy)) = tool_fault::<W>(call) {
                report.add("scenario/bad-call", *place, message, remedy);
            }
        }
        let (setup, guards) = setup::calls(&manifest, &timeline.commands, self.package, self.problems);
        for each in &setup {
            if let Some((message, remedy)) = tool_fault::<W>(&each.call) {
                self.problems.push(Problem::of_file("scenario/bad-call", each.file.clone(), message, remedy));
            }
        }
        let house = Arc::new(House {
            vocabulary: *self.vocabulary,
            zone: manifest.calendar.zone,
            days: manifest.days.iter().map(|day| day.name.clone()).collect(),
            people: manifest.people.iter().map(|person| person.name.clone()).collect(),
        });
        let language = match self.isolation {
            Some(isolation) => Language::apart(self.vocabulary, isolation),
            None => Language::new(self.vocabulary).map_err(|problem| self.problems.push(problem)).ok()?,
        };
        let mut programs = BTreeMap::new();
        let program = self.program(&language, &mut programs, CHECKS_PATH, report, Place::default());
        let wanted = timeline.conditions.iter().flatten().chain(manifest.checks.iter().map(|check| &check.function));
        wanted.for_each(|function| known_function(program.as_deref(), function, report));
        let personas: Vec<Option<PersonaScript>> = manifest
            .personas
            .iter()
            .map(|entry| self.persona(&manifest, entry, &language, &mut programs, report))
            .collect();
        let solutions = self.solutions(&manifest);
        let judges = match self.package.get(GUARDS_PATH) {
            Some(_) => self.program(&language, &mut programs, GUARDS_PATH, report, Place::default()),
            None => program.clone(),
        };
        self.known_guards(judges.as_deref(), &guards);
        let (program, judges) = (program?, judges?);
        let examples = examples::read(self.package, &program).unwrap_or_else(|problems| {
            self.problems.extend(problems);
            Vec::new()
        });
        let conditions = timeline.conditions.iter().map(|name| name.as_ref().map(|name| name.name.clone())).collect();
        let checks = StarlarkChecks {
            house: Arc::clone(&house),
            program: Arc::clone(&program),
            specs: manifest.checks.iter().map(|check| check.spec.clone()).collect(),
            functions: manifest.checks.iter().map(|check| check.function.name.clone()).collect(),
            threshold: manifest.threshold,
            asks_for_changes: self.package.get(CHECKS_PATH).is_some_and(|source| names_changes(source)),
        };
        let personas = personas.into_iter().collect::<Option<Vec<_>>>()?;
        Some(Scenario {
            id: manifest.id,
            title: manifest.title,
            family: manifest.family,
            request: manifest.request,
            requirements: manifest.requirements,
            agent: manifest.agent,
            people: manifest.people,
            package: self.package.clone(),
            digest: BlobId::default(),
            epoch: manifest.epoch,
            setup,
            script: Arc::new(ScenarioScript { house, plan: timeline.plan, program, conditions, personas }),
            checks: Arc::new(checks),
            solutions,
            examples,
            guards: ScenarioGuards::new(judges),
            allows_outside: manifest.allows_outside,
            own_script: None,
            own_checks: None,
        })
    }

    /// Reads the script at `path`, once.
    fn program(
        &mut self,
        language: &Language,
        programs: &mut BTreeMap<SmolStr, Option<Arc<Program>>>,
        path: &str,
        report: &Report<'_>,
        place: Place,
    ) -> Option<Arc<Program>> {
        if let Some(program) = programs.get(path) {
            return program.clone();
        }
        let program = match self.package.get(path).map(|source| language.read(path, source)) {
            Some(Ok(program)) => Some(Arc::new(program)),
            Some(Err(problem)) => {
                self.problems.push(problem);
                None
            }
            None => {
                let rule = if path.split('/').any(|part| part == "..") {
                    "scenario/climbs-out"
                } else {
                    "scenario/missing-file"
                };
                report.add(
                    rule,
                    place,
                    format!("there is no script '{path}' in the package"),
                    "add the file or correct the path",
                );
                None
            }
        };
        programs.insert(path.into(), program.clone());
        program
    }

    fn persona(
        &mut self,
        manifest: &Manifest<'_>,
        entry: &PersonaEntry<'_>,
        language: &Language,
        programs: &mut BTreeMap<SmolStr, Option<Arc<Program>>>,
        report: &Report<'_>,
    ) -> Option<PersonaScript> {
        let program = self.program(language, programs, &entry.file, report, entry.function.place)?;
        known_function(Some(&program), &entry.function, report);
        let (person, agent) = (&manifest.people[entry.person], &manifest.agent);
        let mut pair = [person.name.as_str(), agent.name.as_str()];
        pair.sort_unstable();
        let me = map! {
            "name" => person.name.clone(),
            "display" => person.display.clone(),
            "address" => person.address.clone(),
            "role" => person.role.clone(),
            "agent" => agent.name.clone(),
            "agent_address" => agent.address.clone(),
        };
        let viewer = Viewer {
            name: person.name.clone(),
            address: person.address.clone(),
            conversation: pair.join("+").into(),
            sees: entry.sees.clone(),
        };
        Some(PersonaScript { program, function: entry.function.name.clone(), viewer, me })
    }

    /// Makes sure that the functions are there that tables name as rules.
    fn known_guards(&mut self, program: Option<&Program>, guards: &[Named]) {
        let Some(program) = program else { return };
        let known = program.functions();
        for guard in guards.iter().filter(|guard| !known.contains(&guard.function.as_str())) {
            let message = format!("{} has no function '{}'", program.file(), guard.function);
            let remedy = if known.is_empty() {
                "define it there, or write the rule as a condition".to_owned()
            } else {
                did_you_mean(&guard.function, &known)
            };
            let source = self.package.get(&guard.file).map(|bytes| String::from_utf8_lossy(bytes)).unwrap_or_default();
            let problem = Problem::of_file("scenario/unknown-function", guard.file.clone(), message, &remedy);
            self.problems.push(problem.at(guard.place, &source));
        }
    }

    fn solutions(&mut self, manifest: &Manifest<'_>) -> Vec<Arc<Solution>> {
        let days: Vec<&str> = manifest.days.iter().map(|day| day.name.as_str()).collect();
        let checks: Vec<&str> = manifest.checks.iter().map(|check| check.spec.id.as_str()).collect();
        let mut solutions = Vec::new();
        for (path, bytes) in self.package.below("solutions/") {
            match Solution::read(path, bytes, self.package, &days, &checks) {
                Ok(solution) => solutions.push(Arc::new(solution)),
                Err(problems) => self.problems.extend(problems),
            }
        }
        solutions
    }
}

/// Returns whether a script names the question for changes. A comment that does costs a little time and nothing else.
fn names_changes(source: &[u8]) -> bool {
    String::from_utf8_lossy(source)
        .split(|character: char| !character.is_alphanumeric() && character != '_')
        .any(|word| word == "changes")
}

fn known_function(program: Option<&Program>, function: &FunctionName, report: &Report<'_>) {
    let Some(program) = program else { return };
    let known = program.functions();
    if !known.contains(&function.name.as_str()) {
        let message = format!("{} has no function '{}'", program.file(), function.name);
        let remedy = if known.is_empty() { "define it there".to_owned() } else { did_you_mean(&function.name, &known) };
        report.add("scenario/unknown-function", function.place, message, remedy);
    }
}

/// Returns what is wrong with a call backstage before any world sees it, and what to do instead.
fn tool_fault<W: World>(call: &ToolCall) -> Option<(String, String)> {
    let tools = W::tools();
    let Some(spec) = tools.iter().find(|tool| tool.name == call.tool) else {
        let service = call.tool.split('.').next().unwrap_or_default();
        let names = tools.iter().map(|tool| tool.name);
        let same: Vec<&str> = names.clone().filter(|name| name.split('.').next() == Some(service)).collect();
        let known = if same.is_empty() { names.collect() } else { same };
        return Some((format!("there is no tool '{}'", call.tool), did_you_mean(&call.tool, &known)));
    };
    let fault = spec.admit(call).err().filter(|_| !has_reference(&call.arguments))?;
    Some((fault.to_string(), "correct the arguments".to_owned()))
}

fn has_reference(value: &Value) -> bool {
    match value {
        Value::Text(text) => text.contains("{{"),
        Value::List(items) => items.iter().any(has_reference),
        Value::Map(map) => map.values().any(has_reference),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => false,
    }
}
