//! Keys that sign logs, and how closely a program looks at a log before it believes it.

use std::path::PathBuf;
use std::sync::Arc;

use dayshift_engine::BlobId;
use dayshift_runs::{Execution, PublicKey, RunError, Scrutiny, SecretKey};
use dayshift_sandbox::Sandbox;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

use crate::error::raised;

/// A private key that signs logs. It is in a file that only its owner can read.
#[pyclass(name = "Key", module = "dayshift", frozen)]
pub(crate) struct PyKey {
    pub(crate) key: SecretKey,
}

#[pymethods]
impl PyKey {
    /// Reads the key in the file `path`.
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| SecretKey::read(&path)).map(|key| Self { key }).map_err(raised)
    }

    /// Makes a key in the new file `path`, and writes the public one to `path` with `.pub` behind it.
    #[staticmethod]
    fn create(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let mut entropy = [0; 32];
        getrandom::fill(&mut entropy).map_err(|error| PyOSError::new_err(error.to_string()))?;
        let key = SecretKey::from_entropy(entropy);
        py.detach(|| key.write_new(&path)).map_err(raised)?;
        Ok(Self { key })
    }

    /// The public key: the base64 of its 32 bytes.
    #[getter]
    fn public(&self) -> String {
        self.key.public().to_string()
    }

    fn __repr__(&self) -> String {
        format!("Key({:?})", self.public())
    }
}

/// What a program asks of a log.
pub(crate) struct Asked {
    pub(crate) trust: bool,
    pub(crate) host: bool,
    pub(crate) keys: Vec<String>,
    pub(crate) require_signature: bool,
    /// The package that the log must be of, if the program knows it.
    pub(crate) package: Option<BlobId>,
}

impl Asked {
    /// Returns how closely the log is looked at.
    pub(crate) fn scrutiny(self) -> PyResult<Scrutiny> {
        let keys = trusted(&self.keys).map_err(raised)?;
        if self.require_signature && keys.is_empty() {
            return Err(PyValueError::new_err("a signature is required and no key is trusted: name one in `keys`"));
        }
        if self.trust && self.host {
            return Err(PyValueError::new_err(
                "`trust` takes the log as it stands, so `host` has nothing to run again",
            ));
        }
        Ok(Scrutiny {
            execution: if self.trust { Execution::Trusted } else { Execution::Again },
            host: self.host.then(|| Arc::new(Sandbox::new()) as _),
            package: self.package,
            keys,
            signed: self.require_signature,
        })
    }
}

/// Reads public keys: files, or base64.
pub(crate) fn trusted(keys: &[String]) -> Result<Vec<PublicKey>, RunError> {
    keys.iter().map(|key| PublicKey::read(key)).collect()
}
