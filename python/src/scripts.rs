//! The processes that evaluate the scripts of packages which are not installed: a Python with nothing but this module in it.

use std::path::PathBuf;

use dayshift_runs::isolate_scripts;
use dayshift_sandbox::{ScriptWorkers, serve_scripts};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

/// Loads the module from the path that it is given, without the package around it, and serves.
const SERVE: &str = "import importlib.machinery as m, importlib.util as u, sys
l = m.ExtensionFileLoader('_dayshift', sys.argv[1])
s = u.spec_from_file_location('_dayshift', sys.argv[1], loader=l)
x = u.module_from_spec(s)
l.exec_module(x)
x._serve_scripts()";

/// Has such scripts evaluated by processes of `interpreter` that load the module at `module`.
#[pyfunction]
pub(crate) fn _isolate_scripts(interpreter: PathBuf, module: String) {
    let arguments = ["-I".to_owned(), "-S".to_owned(), "-c".to_owned(), SERVE.to_owned(), module];
    isolate_scripts(Box::new(ScriptWorkers::new(interpreter, arguments)));
}

/// Evaluates scripts for the process that started this one.
#[pyfunction]
pub(crate) fn _serve_scripts(py: Python<'_>) -> PyResult<()> {
    py.detach(serve_scripts).map_err(|error| PyOSError::new_err(error.to_string()))
}
