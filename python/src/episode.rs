//! An episode that a program plays call by call.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dayshift_engine::{Actor, Frame, Input, OutsideAct, SimTime, SmolStr, ToolCall, Value, World, map};
use dayshift_runs::Scrutiny;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::check::PyCheck;
use crate::convert::{to_call, to_python, to_value};
use crate::error::{raised, rejected};
use crate::live::{Live, Outcome};
use crate::log::PyLog;
use crate::report::{PyCredit, PyReport, credit, grade, judged_by};
use crate::scene::PyScene;

/// An episode. A clone of the handle is the same episode; [`PyEpisode::fork`] makes another one.
#[pyclass(name = "Episode", module = "dayshift", frozen)]
pub(crate) struct PyEpisode {
    pub(crate) live: Arc<Mutex<Live>>,
    opening: Vec<String>,
}

/// Locks an episode. Only with the interpreter released, so that a thread which waits for the lock does not hold up the one that has it.
pub(crate) fn lock(live: &Mutex<Live>) -> MutexGuard<'_, Live> {
    live.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PyEpisode {
    pub(crate) fn new(live: Live, opening: Vec<String>) -> Self {
        Self { live: Arc::new(Mutex::new(live)), opening }
    }

    pub(crate) fn sharing(live: &Arc<Mutex<Live>>) -> Self {
        Self { live: Arc::clone(live), opening: Vec::new() }
    }

    fn feed(&self, py: Python<'_>, input: Input) -> PyResult<Outcome> {
        py.detach(|| lock(&self.live).input(input)).map_err(raised)
    }
}

#[pymethods]
impl PyEpisode {
    /// What the agent was told when the first day opened.
    #[getter]
    fn opening(&self) -> Vec<String> {
        self.opening.clone()
    }

    /// Makes one call and returns its answer.
    ///
    /// Raises `Rejected` when it is refused (which is recorded), `Closed` when the episode has ended.
    #[pyo3(signature = (tool, **arguments))]
    fn call<'py>(
        &self,
        py: Python<'py>,
        tool: &str,
        arguments: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = match arguments {
            Some(arguments) => to_call(tool.into(), arguments.as_any())?,
            None => ToolCall::new(tool, map! {}),
        };
        let outcome = self.feed(py, Input::Call(call))?;
        outcome.answer.map_err(|rejection| rejected(&rejection)).and_then(|answer| to_python(py, &answer))
    }

    /// Begins a turn with what the agent says. Calls that follow belong to it.
    #[pyo3(signature = (text = ""))]
    fn say(&self, py: Python<'_>, text: &str) -> PyResult<Vec<String>> {
        Ok(self.feed(py, Input::Turn { text: text.to_owned() })?.notices)
    }

    /// Ends the day and returns what the agent is told: the next day's notification, or nothing when the episode has ended.
    #[pyo3(signature = (text = ""))]
    fn hand_over(&self, py: Python<'_>, text: &str) -> PyResult<Vec<String>> {
        Ok(self.feed(py, Input::HandOver { text: text.to_owned() })?.notices)
    }

    /// Stages a command from outside, in the world's name or a persona's: an exogenous event called `event`. Backstage tools are allowed.
    /// `time` is RFC 3339; the clock does not go back.
    ///
    /// Raises `Rejected` when the world refuses it (which is recorded).
    #[pyo3(signature = (event, tool, arguments, *, time = None, persona = None))]
    fn stage<'py>(
        &self,
        py: Python<'py>,
        event: &str,
        tool: &str,
        arguments: &Bound<'py, PyDict>,
        time: Option<&str>,
        persona: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let act = OutsideAct::Call(ToolCall::new(tool, to_value(arguments.as_any())?));
        let (time, actor) = (moment(time)?, persona.map_or(Actor::World, |name| Actor::Persona(SmolStr::from(name))));
        let outcome = py.detach(|| lock(&self.live).stage(event, time, actor, act)).map_err(raised)?;
        outcome.answer.map_err(|rejection| rejected(&rejection)).and_then(|answer| to_python(py, &answer))
    }

    /// Tells the agent something from outside: a loud event. It is on record, and part of what the agent was told.
    #[pyo3(signature = (event, text, *, time = None))]
    fn tell(&self, py: Python<'_>, event: &str, text: String, time: Option<&str>) -> PyResult<()> {
        let time = moment(time)?;
        let told = py.detach(|| lock(&self.live).stage(event, time, Actor::World, OutsideAct::Tell(text)));
        told.map(|_| ()).map_err(raised)
    }

    /// Keeps bytes beside the log and returns their name, for arguments called `blob`.
    fn blob(&self, py: Python<'_>, content: &Bound<'_, PyBytes>) -> String {
        let content: Arc<[u8]> = content.as_bytes().into();
        py.detach(|| lock(&self.live).episode().blobs().put(content).to_string())
    }

    /// Returns the world as it is now. Reading it is not recorded.
    fn scene(&self, py: Python<'_>) -> PyScene {
        py.detach(|| {
            let live = lock(&self.live);
            let frame = Frame::new();
            PyScene::of(&live.episode().scene(&frame), live.scenario().zone())
        })
    }

    /// Returns an independent episode that goes on from here.
    fn fork(&self, py: Python<'_>) -> PyResult<Self> {
        let forked = py.detach(|| lock(&self.live).fork()).map_err(raised)?;
        Ok(Self::new(forked, self.opening.clone()))
    }

    /// Returns the verdicts on what happened so far, by the scenario's checks or by `checks`; provisional until the episode has ended.
    #[pyo3(signature = (*, checks = None))]
    fn grade(&self, py: Python<'_>, checks: Option<Vec<PyRef<'_, PyCheck>>>) -> PyResult<PyReport> {
        let run = py.detach(|| lock(&self.live).run());
        let run = judged_by(run, checks)?;
        grade(py, &run, &Scrutiny::live(&run.scenario))
    }

    /// Returns the credit of every turn, by the scenario's checks or by `checks`. With `audit`, each is also replayed without, which takes
    /// long.
    #[pyo3(signature = (*, checks = None, rho = 0.3, gamma = 0.7, audit = false))]
    fn credit(
        &self,
        py: Python<'_>,
        checks: Option<Vec<PyRef<'_, PyCheck>>>,
        rho: f64,
        gamma: f64,
        audit: bool,
    ) -> PyResult<PyCredit> {
        let run = py.detach(|| lock(&self.live).run());
        let run = judged_by(run, checks)?;
        credit(py, &run, &Scrutiny::live(&run.scenario), (rho, gamma), audit)
    }

    /// Returns the tools that an agent has: dicts with `name`, `description` and `parameters` (JSON schema).
    fn tools<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &py.detach(|| lock(&self.live).tools()))
    }

    /// The log so far.
    #[getter]
    fn log(&self, py: Python<'_>) -> PyLog {
        PyLog::made_here(py.detach(|| lock(&self.live).run()))
    }

    /// Returns the whole graded state of the world, by service.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let state: Value = py.detach(|| lock(&self.live).episode().world().dump());
        to_python(py, &state)
    }

    /// The run's id in its store; `None` for an episode in memory, and after a stored one has ended.
    #[getter]
    fn run(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| lock(&self.live).id())
    }

    /// The hash at the end of the log, hexadecimal.
    #[getter]
    fn head(&self, py: Python<'_>) -> String {
        py.detach(|| lock(&self.live).episode().log().head().hash.to_string())
    }

    /// How many records the log has.
    fn __len__(&self, py: Python<'_>) -> usize {
        py.detach(|| lock(&self.live).episode().log().len())
    }

    /// Whether the episode has ended.
    #[getter]
    fn closed(&self, py: Python<'_>) -> bool {
        py.detach(|| lock(&self.live).episode().is_closed())
    }

    /// The number of the current day, from 1.
    #[getter]
    fn day(&self, py: Python<'_>) -> u32 {
        py.detach(|| lock(&self.live).episode().day().get())
    }

    /// The number of the agent's last turn; 0 before the first.
    #[getter]
    fn turn(&self, py: Python<'_>) -> u32 {
        py.detach(|| lock(&self.live).episode().turn().get())
    }

    /// Waits until everything is durable, if the episode is recorded by a store.
    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| lock(&self.live).settle()).map_err(raised)
    }
}

fn moment(text: Option<&str>) -> PyResult<Option<SimTime>> {
    let parse = |text: &str| {
        text.parse().map_err(|_| PyValueError::new_err(format!("'{text}' is no time; write RFC 3339 with an offset")))
    };
    text.map(parse).transpose()
}

/// Returns what a step shows the agent: `answer`, `error` (`None`, or `code` and `message`) and `notices`.
pub(crate) fn observation<'py>(py: Python<'py>, outcome: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let shown = PyDict::new(py);
    match &outcome.answer {
        Ok(answer) => {
            shown.set_item(pyo3::intern!(py, "answer"), to_python(py, answer)?)?;
            shown.set_item(pyo3::intern!(py, "error"), py.None())?;
        }
        Err(rejection) => {
            let error = PyDict::new(py);
            error.set_item(pyo3::intern!(py, "code"), &*rejection.code)?;
            error.set_item(pyo3::intern!(py, "message"), &rejection.message)?;
            shown.set_item(pyo3::intern!(py, "answer"), py.None())?;
            shown.set_item(pyo3::intern!(py, "error"), error)?;
        }
    }
    shown.set_item(pyo3::intern!(py, "notices"), PyList::new(py, &outcome.notices)?)?;
    Ok(shown)
}

/// Returns what a step says besides: `day`, `time` and `record`.
pub(crate) fn info<'py>(py: Python<'py>, outcome: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let info = PyDict::new(py);
    info.set_item(pyo3::intern!(py, "day"), &*outcome.day)?;
    info.set_item(pyo3::intern!(py, "time"), &outcome.time)?;
    info.set_item(pyo3::intern!(py, "record"), outcome.seq.get())?;
    Ok(info)
}
