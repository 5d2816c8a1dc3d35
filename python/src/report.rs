//! What grading and credit say, as Python reads it: attributes by the names of `dayshift run --json`.

use std::sync::Arc;

use dayshift_replay::credit::Config;
use dayshift_runs::{Run, Scrutiny, Summary};
use pyo3::exceptions::{PyAttributeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::check::{PyCheck, PythonChecks};
use crate::convert::serialized;
use crate::error::raised;

/// The verdicts of a run: `score`, `passed`, `strict`, `checks`, `days`, and what else `dayshift grade --json` prints.
#[pyclass(name = "Report", module = "dayshift", frozen)]
pub(crate) struct PyReport {
    data: Py<PyDict>,
}

/// The credit of a run's turns: `credit`, `ledger`, `exogenous`, and what else `dayshift credit --json` prints.
#[pyclass(name = "Credit", module = "dayshift", frozen)]
pub(crate) struct PyCredit {
    data: Py<PyDict>,
}

#[pymethods]
impl PyReport {
    fn __getattr__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        attribute(self.data.bind(py), name)
    }

    /// Returns everything as a dict.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.data.bind(py).copy()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let data = self.data.bind(py);
        Ok(format!("Report(score={}, passed={})", attribute(data, "score")?, attribute(data, "passed")?))
    }
}

#[pymethods]
impl PyCredit {
    fn __getattr__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        attribute(self.data.bind(py), name)
    }

    /// Returns the credit by turn.
    fn by_turn<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let turns = PyDict::new(py);
        for row in attribute(self.data.bind(py), "credit")?.try_iter()? {
            let row = row?;
            turns.set_item(row.get_item("turn")?, row.get_item("amount")?)?;
        }
        Ok(turns)
    }

    /// Returns everything as a dict.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.data.bind(py).copy()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let data = self.data.bind(py);
        Ok(format!("Credit(turns={}, exogenous={})", attribute(data, "turns")?, attribute(data, "exogenous")?))
    }
}

fn attribute<'py>(data: &Bound<'py, PyDict>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    data.get_item(name)?.ok_or_else(|| {
        let names: Vec<String> = data.keys().iter().map(|key| key.to_string()).collect();
        PyAttributeError::new_err(format!("there is no '{name}'; there are {}", names.join(", ")))
    })
}

/// Returns `run` with these checks instead of its scenario's.
pub(crate) fn judged_by(run: Run, checks: Option<Vec<PyRef<'_, PyCheck>>>) -> PyResult<Run> {
    let Some(checks) = checks else { return Ok(run) };
    let days: Vec<String> = run.days().iter().map(ToString::to_string).collect();
    let (threshold, zone) = (run.scenario.checks().threshold(), run.scenario.zone());
    let checks = PythonChecks::new(&checks, &days, threshold, zone)?;
    Ok(Run { scenario: run.scenario.with_checks(Arc::new(checks)), ..run })
}

/// Grades `run`, looked at as `scrutiny` says.
pub(crate) fn grade(py: Python<'_>, run: &Run, scrutiny: &Scrutiny) -> PyResult<PyReport> {
    let summary = py.detach(|| {
        let provenance = run.provenance(&run.scenario, scrutiny, |_| {})?;
        let report = run.grade(None)?;
        Ok(Summary::new(run, &report, None, provenance, run.seed()?))
    });
    let summary = summary.map_err(raised)?;
    Ok(PyReport { data: serialized(py, &summary)?.cast_into::<PyDict>()?.unbind() })
}

/// Credits the turns of `run`, looked at as `scrutiny` says.
pub(crate) fn credit(
    py: Python<'_>,
    run: &Run,
    scrutiny: &Scrutiny,
    (rho, gamma): (f64, f64),
    audit: bool,
) -> PyResult<PyCredit> {
    let config = Config::new(rho, gamma).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let summary = py.detach(|| {
        let provenance = run.provenance(&run.scenario, scrutiny, |_| {})?;
        let account = run.account()?;
        let ledger = account.ledger(&config);
        let summary = Summary::new(run, account.report(), Some(&ledger), provenance, run.seed()?);
        Ok(if audit { summary.with_audit(&account.audit(&ledger, |_| {})?) } else { summary })
    });
    let summary = summary.map_err(raised)?;
    Ok(PyCredit { data: serialized(py, &summary)?.cast_into::<PyDict>()?.unbind() })
}
