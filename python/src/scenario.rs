//! Scenarios: built in, from a folder, or from files in memory; with checks and personas in Python if a program brings some.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use dayshift_engine::{BlobId, Moment, Seed, SmolStr, Value, map};
use dayshift_replay::moment_name;
use dayshift_runs::{RunError, load_scenario};
use dayshift_scenarios::{Package, Scenario, built_in_names};
use dayshift_services::Office;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::check::{PyCheck, PythonChecks, PythonPersonas};
use crate::convert::to_python;
use crate::episode::PyEpisode;
use crate::error::raised;
use crate::live::{Live, Ready, Rewarding};
use crate::store::PyStore;

/// A scenario. Immutable; its initial world is laid out once and shared by all its episodes.
#[pyclass(name = "Scenario", module = "dayshift", frozen)]
pub(crate) struct PyScenario {
    scenario: Scenario<Office>,
    ready: OnceLock<Arc<Ready>>,
}

impl PyScenario {
    fn of(scenario: Scenario<Office>) -> Self {
        Self { scenario, ready: OnceLock::new() }
    }

    /// Loads the scenario that `name` means: an id or a folder.
    pub(crate) fn load(py: Python<'_>, name: &str) -> PyResult<Self> {
        py.detach(|| load_scenario(name)).map(Self::of).map_err(raised)
    }

    /// Returns the digest of the package.
    pub(crate) fn package(&self) -> BlobId {
        self.scenario.digest()
    }

    pub(crate) fn ready(&self, py: Python<'_>) -> PyResult<Arc<Ready>> {
        if let Some(ready) = self.ready.get() {
            return Ok(Arc::clone(ready));
        }
        let made = py.detach(|| Ready::new(self.scenario.clone())).map_err(raised)?;
        Ok(Arc::clone(self.ready.get_or_init(|| Arc::new(made))))
    }
}

#[pymethods]
impl PyScenario {
    /// Loads a built-in scenario by its id, or a package by the path of its folder.
    #[new]
    fn new(py: Python<'_>, name: PathBuf) -> PyResult<Self> {
        Self::load(py, &name.to_string_lossy())
    }

    /// Returns the scenario whose package holds `files`: contents by path.
    #[staticmethod]
    fn from_files(py: Python<'_>, name: &str, files: BTreeMap<String, Bound<'_, PyBytes>>) -> PyResult<Self> {
        let files: Vec<(String, Vec<u8>)> =
            files.into_iter().map(|(path, bytes)| (path, bytes.as_bytes().to_vec())).collect();
        let loaded = py.detach(|| {
            let package = Package::from_files(name, files).map_err(RunError::Scenario)?;
            Scenario::load(package).map_err(RunError::Scenario)
        });
        loaded.map(Self::of).map_err(raised)
    }

    /// The id, which ends in `-vN`.
    #[getter]
    fn id(&self) -> &str {
        self.scenario.id()
    }

    /// The title.
    #[getter]
    fn title(&self) -> &str {
        self.scenario.title()
    }

    /// What the agent is asked for.
    #[getter]
    fn request(&self) -> &str {
        self.scenario.request()
    }

    /// The digest of the package, hexadecimal.
    #[getter]
    fn digest(&self) -> String {
        self.scenario.digest().to_string()
    }

    /// The names of the days.
    #[getter]
    fn days(&self) -> Vec<String> {
        self.scenario.script().plan().days.iter().map(|day| day.name.to_string()).collect()
    }

    /// The checks: dicts with `id`, `title`, `requirement`, `weight` and `moment`.
    #[getter]
    fn checks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let days: Vec<SmolStr> = self.scenario.script().plan().days.iter().map(|day| day.name.clone()).collect();
        let rows: Value = self
            .scenario
            .checks()
            .specs()
            .iter()
            .map(|spec| {
                map! {
                    "id" => spec.id.clone(),
                    "title" => spec.title.clone(),
                    "requirement" => spec.requirement.clone(),
                    "weight" => spec.weight,
                    "moment" => moment_name(spec.moment, &days),
                }
            })
            .collect();
        to_python(py, &rows)
    }

    /// The names of the recorded solutions.
    #[getter]
    fn solutions(&self) -> Vec<String> {
        self.scenario.solutions().iter().map(|solution| solution.name.to_string()).collect()
    }

    /// The score that passes.
    #[getter]
    fn threshold(&self) -> f64 {
        self.scenario.checks().threshold()
    }

    /// Returns the tools that an agent has: dicts with `name`, `description` and `parameters` (JSON schema).
    fn tools<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.ready(py)?.tools())
    }

    /// Returns the scenario with these checks instead of its own. What their functions read through the scene is their evidence.
    #[pyo3(signature = (checks, *, threshold = None))]
    fn with_checks(&self, checks: Vec<PyRef<'_, PyCheck>>, threshold: Option<f64>) -> PyResult<Self> {
        let threshold = threshold.unwrap_or_else(|| self.scenario.checks().threshold());
        let days = self.days();
        let checks = PythonChecks::new(&checks, &days, threshold, self.scenario.zone())?;
        Ok(Self::of(self.scenario.clone().with_checks(Arc::new(checks))))
    }

    /// Returns the scenario in which these people, scripted in the package, follow functions of Python: `function(memory, scene)` returns
    /// `None`, or a dict with `memory`, `do` (list of `{"tool", "arguments"}`) and `wake_seconds`.
    fn with_personas(&self, personas: BTreeMap<String, Py<PyAny>>) -> PyResult<Self> {
        let script = PythonPersonas::new(self.scenario.script(), personas, self.scenario.zone())?;
        Ok(Self::of(self.scenario.clone().with_script(Arc::new(script))))
    }

    /// Opens an episode: in memory, or recorded by `store`.
    #[pyo3(signature = (*, seed = 0, store = None, agent = "python", reward = "final"))]
    fn start(
        &self,
        py: Python<'_>,
        seed: u64,
        store: Option<PyRef<'_, PyStore>>,
        agent: &str,
        reward: &str,
    ) -> PyResult<PyEpisode> {
        let (ready, rewarding) = (self.ready(py)?, rewarding(reward)?);
        let library = store.map(|store| Arc::clone(&store.library));
        let opened = py.detach(|| Live::start(ready, library, Seed::new(seed), agent, rewarding));
        let (live, outcome) = opened.map_err(raised)?;
        Ok(PyEpisode::new(live, outcome.notices))
    }

    fn __repr__(&self) -> String {
        format!("Scenario({:?})", self.scenario.id())
    }
}

/// Returns when steps are rewarded.
pub(crate) fn rewarding(name: &str) -> PyResult<Rewarding> {
    match name {
        "none" => Ok(Rewarding::Never),
        "final" => Ok(Rewarding::Final),
        "day" => Ok(Rewarding::Day),
        "step" => Ok(Rewarding::Step),
        other => Err(pyo3::exceptions::PyValueError::new_err(format!(
            "there is no reward '{other}'; use none, final, day or step"
        ))),
    }
}

/// Returns what `moment` means on `days`.
pub(crate) fn moment(text: &str, red_line: Option<f64>, days: &[String]) -> PyResult<Moment> {
    let bad = |message: String| Err(pyo3::exceptions::PyValueError::new_err(message));
    match (text, red_line) {
        ("throughout", cap) => Ok(Moment::Throughout { cap }),
        (_, Some(_)) => bad("a red line counts throughout: moment='throughout'".to_owned()),
        ("final", None) => Ok(Moment::Final),
        (other, None) => {
            let name = other.strip_prefix("end of ").unwrap_or(other);
            match days.iter().position(|day| day == name) {
                Some(index) => Ok(Moment::EndOfDay(index)),
                None => bad(format!(
                    "'{other}' is no moment; use final, throughout, or 'end of DAY' with one of {}",
                    days.join(", ")
                )),
            }
        }
    }
}

/// Returns the ids of the built-in scenarios.
#[pyfunction]
pub(crate) fn scenarios() -> Vec<&'static str> {
    built_in_names().collect()
}

/// Returns keyword arguments as a value.
pub(crate) fn keywords(arguments: Option<&Bound<'_, PyDict>>) -> PyResult<Value> {
    arguments.map_or_else(|| Ok(map! {}), |arguments| crate::convert::to_value(arguments.as_any()))
}
