//! A store of runs, as the command line uses it.

use std::path::PathBuf;
use std::sync::Arc;

use dayshift_runs::{Library, RunError, RunRow, SecretKey};
use dayshift_sandbox::Sandbox;
use pyo3::prelude::*;

use crate::convert::serialized;
use crate::error::raised;
use crate::key::PyKey;
use crate::log::PyLog;

/// A store in a folder; a new one is made with sled. One process opens it at a time. Runs that end are signed with `key`, or with the store's own
/// key if it has one (`dayshift key new`).
#[pyclass(name = "Store", module = "dayshift", frozen)]
pub(crate) struct PyStore {
    pub(crate) library: Arc<Library>,
    path: PathBuf,
}

impl PyStore {
    pub(crate) fn open(py: Python<'_>, path: PathBuf, key: Option<SecretKey>) -> PyResult<Self> {
        let library = py.detach(|| {
            let library = Library::open(&path)?.with_host(Arc::new(Sandbox::new()));
            let key = key.map_or_else(|| SecretKey::of_store(&path), |key| Ok(Some(key)))?;
            Ok(if let Some(key) = key { library.with_key(key) } else { library })
        });
        Ok(Self { library: Arc::new(library.map_err(raised)?), path })
    }
}

#[pymethods]
impl PyStore {
    #[new]
    #[pyo3(signature = (path, *, key = None))]
    fn new(py: Python<'_>, path: PathBuf, key: Option<PyRef<'_, PyKey>>) -> PyResult<Self> {
        let key = key.map(|key| key.key.clone());
        Self::open(py, path, key)
    }

    /// Returns the runs, oldest first: dicts with `run`, `scenario`, `seed`, `agent`, `records`, `head`, `score`, `finished`,
    /// `forked_from`, and `claimed`: those of them that only the note beside the log says.
    fn runs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let runs = py.detach(|| self.library.list()).map_err(raised)?;
        serialized(py, &runs.iter().map(RunRow::from).collect::<Vec<_>>())
    }

    /// Returns the log of a run, by its id, a unique beginning of one, or `last`.
    fn load(&self, py: Python<'_>, run: &str) -> PyResult<PyLog> {
        let loaded = py.detach(|| self.library.load(&self.library.resolve(run)?));
        loaded.map(PyLog::new).map_err(raised)
    }

    /// Walks the chain of a run and looks at every blob. Returns the number of records.
    fn verify(&self, py: Python<'_>, run: &str) -> PyResult<u64> {
        let verified = py.detach(|| self.library.verify(&self.library.resolve(run)?, |_| {}));
        verified.map(|verified| verified.head.count).map_err(raised)
    }

    /// Brings a log file in and returns the run's id.
    #[pyo3(name = "import_")]
    fn import(&self, py: Python<'_>, path: PathBuf) -> PyResult<String> {
        py.detach(|| Ok::<_, RunError>(self.library.import(&path)?.to_string())).map_err(raised)
    }

    fn __repr__(&self) -> String {
        format!("Store({:?})", self.path.display().to_string())
    }
}
