//! Checks and personas that are functions of Python. What they read through the scene is noted as theirs.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono_tz::Tz;
use dayshift_engine::{
    Accesses, CheckSpec, Checks, Plan, Reaction, Scene, Script, ScriptError, SimDuration, SmolStr, ToolCall, Value,
};
use dayshift_services::Office;
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};

use crate::convert::{to_python, to_value};
use crate::scenario::moment;
use crate::scene::PyScene;

/// A check: `function(scene)` returns True, False or a level in [0, 1].
#[pyclass(name = "Check", module = "dayshift", frozen)]
pub(crate) struct PyCheck {
    id: String,
    function: Py<PyAny>,
    weight: f64,
    moment: String,
    red_line: Option<f64>,
    title: String,
    requirement: String,
}

#[pymethods]
impl PyCheck {
    /// Makes a check. `moment` is `final`, `throughout` or `end of DAY`; `red_line` is what the score is capped at once it fails.
    #[new]
    #[pyo3(signature = (id, function, *, weight = 1.0, moment = "final", red_line = None, title = "", requirement = ""))]
    fn new(
        id: String,
        function: Py<PyAny>,
        weight: f64,
        moment: &str,
        red_line: Option<f64>,
        title: &str,
        requirement: &str,
    ) -> PyResult<Self> {
        if !(weight >= 0.0 && weight.is_finite()) {
            return Err(PyValueError::new_err(format!("the weight of '{id}' is {weight}; it is at least 0")));
        }
        if red_line.is_some_and(|cap| !(0.0..=1.0).contains(&cap)) {
            return Err(PyValueError::new_err(format!("the red line of '{id}' is not from 0 to 1")));
        }
        let (moment, title, requirement) = (moment.to_owned(), title.to_owned(), requirement.to_owned());
        Ok(Self { id, function, weight, moment, red_line, title, requirement })
    }

    /// The id.
    #[getter]
    fn id(&self) -> &str {
        &self.id
    }

    fn __repr__(&self) -> String {
        format!("Check({:?}, weight={}, moment={:?})", self.id, self.weight, self.moment)
    }
}

/// The checks of a program.
pub(crate) struct PythonChecks {
    specs: Vec<CheckSpec>,
    functions: Vec<Py<PyAny>>,
    threshold: f64,
    zone: Tz,
}

impl PythonChecks {
    pub(crate) fn new(checks: &[PyRef<'_, PyCheck>], days: &[String], threshold: f64, zone: Tz) -> PyResult<Self> {
        let mut specs: Vec<CheckSpec> = Vec::new();
        let mut functions = Vec::new();
        for check in checks {
            if specs.iter().any(|spec| spec.id == check.id) {
                return Err(PyValueError::new_err(format!("the check '{}' is there twice", check.id)));
            }
            specs.push(CheckSpec {
                id: check.id.as_str().into(),
                title: check.title.clone(),
                weight: check.weight,
                requirement: check.requirement.as_str().into(),
                moment: moment(&check.moment, check.red_line, days)?,
            });
            functions.push(check.function.clone_ref(check.py()));
        }
        Ok(Self { specs, functions, threshold, zone })
    }
}

impl Checks<Office> for PythonChecks {
    fn specs(&self) -> &[CheckSpec] {
        &self.specs
    }

    fn threshold(&self) -> f64 {
        self.threshold
    }

    fn level(&self, index: usize, scene: &Scene<'_, Office>) -> Result<f64, ScriptError> {
        let name = || self.specs[index].id.to_string();
        let seen = Python::attach(|py| {
            let shown = Py::new(py, PyScene::of(scene, self.zone))?;
            let answer = self.functions[index].call1(py, (shown.clone_ref(py),));
            let level = answer.and_then(|answer| level_of(answer.bind(py)));
            Ok::<_, PyErr>((level, shown.get().take()))
        });
        let (level, accesses) = seen.map_err(|error| failed(name(), &error))?;
        note(scene, accesses);
        level.map_err(|error| failed(name(), &error))
    }
}

fn level_of(answer: &Bound<'_, PyAny>) -> PyResult<f64> {
    if let Ok(flag) = answer.cast::<PyBool>() {
        return Ok(f64::from(u8::from(flag.is_true())));
    }
    let level: f64 = answer.extract().map_err(|_| {
        PyTypeError::new_err(format!("a check returned {answer}; return True, False or a number from 0 to 1"))
    })?;
    if (0.0..=1.0).contains(&level) {
        return Ok(level);
    }
    Err(PyValueError::new_err(format!("a check returned {level}; return True, False or a number from 0 to 1")))
}

/// A script of which some personas are functions of a program.
pub(crate) struct PythonPersonas {
    script: Arc<dyn Script<Office>>,
    functions: BTreeMap<usize, Py<PyAny>>,
    zone: Tz,
}

impl PythonPersonas {
    pub(crate) fn new(
        script: Arc<dyn Script<Office>>,
        personas: BTreeMap<String, Py<PyAny>>,
        zone: Tz,
    ) -> PyResult<Self> {
        let mut functions = BTreeMap::new();
        for (name, function) in personas {
            let known = &script.plan().personas;
            let index = known.iter().position(|persona| persona.name == name).ok_or_else(|| {
                let known: Vec<&str> = known.iter().map(|persona| persona.name.as_str()).collect();
                PyKeyError::new_err(format!("there is no persona '{name}'; the scenario scripts {}", known.join(", ")))
            })?;
            functions.insert(index, function);
        }
        Ok(Self { script, functions, zone })
    }
}

impl Script<Office> for PythonPersonas {
    fn plan(&self) -> &Plan {
        self.script.plan()
    }

    fn holds(&self, index: usize, scene: &Scene<'_, Office>) -> Result<bool, ScriptError> {
        self.script.holds(index, scene)
    }

    fn react(&self, index: usize, memory: &Value, scene: &Scene<'_, Office>) -> Result<Reaction, ScriptError> {
        let Some(function) = self.functions.get(&index) else { return self.script.react(index, memory, scene) };
        let name = || self.script.plan().personas[index].name.to_string();
        let seen = Python::attach(|py| {
            let shown = Py::new(py, PyScene::of(scene, self.zone))?;
            let answer = function.call1(py, (to_python(py, memory)?, shown.clone_ref(py)));
            let reaction = answer.and_then(|answer| reaction_of(answer.bind(py), memory));
            Ok::<_, PyErr>((reaction, shown.get().take()))
        });
        let (reaction, accesses) = seen.map_err(|error| failed(name(), &error))?;
        note(scene, accesses);
        reaction.map_err(|error| failed(name(), &error))
    }
}

fn reaction_of(answer: &Bound<'_, PyAny>, memory: &Value) -> PyResult<Reaction> {
    if answer.is_none() {
        return Ok(Reaction { memory: memory.clone(), ..Reaction::default() });
    }
    let answer = answer
        .cast::<PyDict>()
        .map_err(|_| PyTypeError::new_err("a persona returns None or a dict with 'memory', 'do' and 'wake_seconds'"))?;
    let mut reaction = Reaction { memory: memory.clone(), ..Reaction::default() };
    for (key, item) in answer.iter() {
        match &*key.extract::<String>()? {
            "memory" => reaction.memory = to_value(&item)?,
            "do" => {
                for call in item.try_iter()? {
                    let call = to_value(&call?)?;
                    let tool = call.get("tool").and_then(Value::as_text);
                    let tool = tool.ok_or_else(|| PyValueError::new_err("what a persona does needs a 'tool'"))?;
                    let arguments = call.get("arguments").cloned().unwrap_or_else(|| Value::Map(BTreeMap::new()));
                    reaction.commands.push(ToolCall::new(SmolStr::from(tool), arguments));
                }
            }
            "wake_seconds" => reaction.wake = item.extract::<Option<u64>>()?.map(SimDuration::from_seconds),
            other => {
                return Err(PyKeyError::new_err(format!(
                    "a persona returned '{other}'; known are memory, do, wake_seconds"
                )));
            }
        }
    }
    Ok(reaction)
}

/// Notes in the scene's frame what a function read.
fn note(scene: &Scene<'_, Office>, accesses: Accesses) {
    let Accesses { reads, causes, untracked, missing, blobs: _ } = accesses;
    for read in reads {
        scene.frame.note(read.kind, read.key, read.written);
    }
    causes.into_iter().for_each(|cause| scene.frame.note_cause(cause));
    if untracked {
        scene.frame.note_untracked();
    }
    if let Some(id) = missing {
        scene.frame.note_missing(id);
    }
}

fn failed(name: String, error: &PyErr) -> ScriptError {
    ScriptError { name, message: Python::attach(|py| describe(py, error)) }
}

/// Returns the error with the file and line where it was raised.
fn describe(py: Python<'_>, error: &PyErr) -> String {
    let mut place = String::new();
    let mut next = error.traceback(py).map(Bound::into_any);
    while let Some(frame) = next {
        let line = frame.getattr("tb_lineno").and_then(|line| line.extract::<u32>());
        let code = frame.getattr("tb_frame").and_then(|frame| frame.getattr("f_code"));
        let file = code.and_then(|code| code.getattr("co_filename")).and_then(|file| file.extract::<String>());
        if let (Ok(line), Ok(file)) = (line, file) {
            let name = file.rsplit('/').next().unwrap_or(&file).to_owned();
            place = format!("{name}:{line}: ");
        }
        next = frame.getattr("tb_next").ok().filter(|next| !next.is_none());
    }
    format!("{place}{error}")
}
