//! The environment: Gymnasium's five-tuple over episodes of one scenario.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use dayshift_engine::{Input, Seed, SmolStr, ToolCall, Value};
use dayshift_runs::{Library, Scrutiny};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::convert::{to_call, to_python, to_text};
use crate::episode::{PyEpisode, info, lock, observation};
use crate::error::{closed, raised};
use crate::live::{Live, Outcome, Ready, Rewarding};
use crate::log::PyLog;
use crate::report::{PyCredit, PyReport};
use crate::scenario::{PyScenario, rewarding};
use crate::store::PyStore;

/// A step's five-tuple.
pub(crate) type Stepped<'py> = (Bound<'py, PyDict>, f64, bool, bool, Bound<'py, PyDict>);

/// An environment. `step` takes `{"tool": …, "arguments": {…}}`, `{"say": text}` (begins a turn) or `{"hand_over": text}` (ends the day).
#[pyclass(name = "Env", module = "dayshift", frozen)]
pub(crate) struct PyEnv {
    ready: Arc<Ready>,
    library: Option<Arc<Library>>,
    rewarding: Rewarding,
    live: Mutex<Option<Arc<Mutex<Live>>>>,
}

impl PyEnv {
    fn live(&self) -> PyResult<Arc<Mutex<Live>>> {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner).clone();
        live.ok_or_else(|| closed("there is no episode yet; call reset first"))
    }

    fn feed(&self, py: Python<'_>, input: Input) -> PyResult<Outcome> {
        let live = self.live()?;
        py.detach(|| lock(&live).input(input)).map_err(raised)
    }

    fn episode(&self) -> PyResult<PyEpisode> {
        Ok(PyEpisode::sharing(&self.live()?))
    }
}

#[pymethods]
impl PyEnv {
    /// Opens a new episode and returns its first observation and what is said besides, with `request` and `tools`.
    #[pyo3(signature = (*, seed = None, options = None))]
    fn reset<'py>(
        &self,
        py: Python<'py>,
        seed: Option<u64>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>)> {
        let agent = match options.map(|options| options.get_item("agent")).transpose()?.flatten() {
            Some(agent) => agent.extract::<String>()?,
            None => "python".to_owned(),
        };
        let opened = py.detach(|| {
            let (ready, library) = (Arc::clone(&self.ready), self.library.clone());
            Live::start(ready, library, Seed::new(seed.unwrap_or(0)), &agent, self.rewarding)
        });
        let (live, outcome) = opened.map_err(raised)?;
        let (shown, besides) = (observation(py, &outcome)?, info(py, &outcome)?);
        besides.set_item("request", self.ready.scenario.request())?;
        besides.set_item("run", live.id())?;
        *self.live.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(Mutex::new(live)));
        Ok((shown, besides))
    }

    /// Takes one step and returns observation, reward, terminated, truncated, info.
    fn step<'py>(&self, py: Python<'py>, action: &Bound<'py, PyAny>) -> PyResult<Stepped<'py>> {
        let outcome = self.feed(py, input_of(action)?)?;
        stepped(py, &outcome)
    }

    /// Begins a turn with what the agent says, or ends the day with it if `hand_over`.
    #[pyo3(signature = (text, *, hand_over = false))]
    fn say<'py>(&self, py: Python<'py>, text: &Bound<'py, PyString>, hand_over: bool) -> PyResult<Stepped<'py>> {
        let text = text.to_string_lossy().into_owned();
        let input = if hand_over { Input::HandOver { text } } else { Input::Turn { text } };
        let outcome = self.feed(py, input)?;
        stepped(py, &outcome)
    }

    /// Ends the day; the next one opens, or the episode ends.
    #[pyo3(signature = (text = ""))]
    fn hand_over<'py>(&self, py: Python<'py>, text: &str) -> PyResult<Stepped<'py>> {
        self.say(py, &PyString::new(py, text), true)
    }

    /// Returns an independent environment whose episode goes on from here.
    fn fork(&self, py: Python<'_>) -> PyResult<Self> {
        let live = self.live()?;
        let forked = py.detach(|| lock(&live).fork()).map_err(raised)?;
        Ok(Self {
            ready: Arc::clone(&self.ready),
            library: self.library.clone(),
            rewarding: self.rewarding,
            live: Mutex::new(Some(Arc::new(Mutex::new(forked)))),
        })
    }

    /// Returns the verdicts on what happened so far; provisional until the episode has ended.
    fn grade(&self, py: Python<'_>) -> PyResult<PyReport> {
        let run = self.live_run(py)?;
        crate::report::grade(py, &run, &Scrutiny::live(&run.scenario))
    }

    /// Returns the credit of every turn. With `audit`, each is also replayed without, which takes long.
    #[pyo3(signature = (*, rho = 0.3, gamma = 0.7, audit = false))]
    fn credit(&self, py: Python<'_>, rho: f64, gamma: f64, audit: bool) -> PyResult<PyCredit> {
        let run = self.live_run(py)?;
        crate::report::credit(py, &run, &Scrutiny::live(&run.scenario), (rho, gamma), audit)
    }

    /// Returns the tools that an agent has: dicts with `name`, `description` and `parameters` (JSON schema).
    fn tools<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.ready.tools())
    }

    /// The log so far.
    #[getter]
    fn log(&self, py: Python<'_>) -> PyResult<PyLog> {
        Ok(PyLog::made_here(self.live_run(py)?))
    }

    /// The episode, for what goes beyond steps.
    #[getter(episode)]
    fn py_episode(&self) -> PyResult<PyEpisode> {
        self.episode()
    }

    /// The id of the scenario.
    #[getter]
    fn scenario(&self) -> &str {
        self.ready.scenario.id()
    }

    /// Waits until everything is durable, and lets the episode go.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner).take();
        py.detach(|| live.map_or(Ok(()), |live| lock(&live).settle())).map_err(raised)
    }

    fn __repr__(&self) -> String {
        format!("Env({:?})", self.ready.scenario.id())
    }
}

impl PyEnv {
    fn live_run(&self, py: Python<'_>) -> PyResult<dayshift_runs::Run> {
        let live = self.live()?;
        Ok(py.detach(|| lock(&live).run()))
    }
}

/// Returns the scenario that `what` means: one, an id, or a folder.
pub(crate) fn ready(py: Python<'_>, what: &Bound<'_, PyAny>) -> PyResult<Arc<Ready>> {
    match what.cast::<PyScenario>() {
        Ok(scenario) => scenario.get().ready(py),
        Err(_) => PyScenario::load(py, &what.extract::<PathBuf>()?.to_string_lossy())?.ready(py),
    }
}

/// Makes an environment of a scenario: its id, the path of its folder, or a `Scenario`. `store` records its episodes (a `Store`, or the path
/// of its folder); `reward` says when steps are rewarded: `final`, `day` or `step`. Rewards sum to the score in each case.
#[pyfunction]
#[pyo3(signature = (scenario, *, store = None, reward = "final"))]
pub(crate) fn make(
    py: Python<'_>,
    scenario: &Bound<'_, PyAny>,
    store: Option<&Bound<'_, PyAny>>,
    reward: &str,
) -> PyResult<PyEnv> {
    let library = match store {
        None => None,
        Some(store) => Some(match store.cast::<PyStore>() {
            Ok(store) => Arc::clone(&store.get().library),
            Err(_) => PyStore::open(py, store.extract::<PathBuf>()?, None)?.library,
        }),
    };
    Ok(PyEnv { ready: ready(py, scenario)?, library, rewarding: rewarding(reward)?, live: Mutex::new(None) })
}

/// Returns the five-tuple of a step.
pub(crate) fn stepped<'py>(py: Python<'py>, outcome: &Outcome) -> PyResult<Stepped<'py>> {
    Ok((observation(py, outcome)?, outcome.reward, outcome.closed, false, info(py, outcome)?))
}

/// Reads an action.
pub(crate) fn input_of(action: &Bound<'_, PyAny>) -> PyResult<Input> {
    let py = action.py();
    let action = action.cast::<PyDict>().map_err(|_| {
        PyTypeError::new_err("an action is a dict: {'tool', 'arguments'}, {'say': text} or {'hand_over': text}")
    })?;
    if let Some(tool) = action.get_item(pyo3::intern!(py, "tool"))? {
        let tool: SmolStr = to_text(&tool)?.into();
        return match action.get_item(pyo3::intern!(py, "arguments"))? {
            Some(arguments) => Ok(Input::Call(to_call(tool, &arguments)?)),
            None => Ok(Input::Call(ToolCall { tool, arguments: Value::Map(std::collections::BTreeMap::new()) })),
        };
    }
    if let Some(text) = action.get_item("say")? {
        return Ok(Input::Turn { text: to_text(&text)? });
    }
    if let Some(text) = action.get_item("hand_over")? {
        return Ok(Input::HandOver { text: to_text(&text)? });
    }
    if let Some(reason) = action.get_item("unreadable")? {
        return Ok(Input::Call(ToolCall::unreadable("", to_text(&reason)?)));
    }
    Err(PyValueError::new_err("an action has 'tool' (and 'arguments'), 'say', 'hand_over' or 'unreadable'"))
}
