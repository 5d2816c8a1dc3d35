//! Logs: what happened, whole, with everything that is derived from it.

use std::path::PathBuf;

use chrono::SecondsFormat;
use dayshift_engine::codec::Stored;
use dayshift_engine::{BlobId, Key, Outcome, PastCall, Request, Seq, Turn, Value, World, map};
use dayshift_replay::Reexecution;
use dayshift_runs::{Run, RunError, SignatureState, load_file, signature_of_file, verify_file};
use pyo3::prelude::*;

use crate::check::PyCheck;
use crate::convert::to_python;
use crate::error::{diverged, raised, unverified};
use crate::key::{Asked, PyKey, trusted};
use crate::report::{PyCredit, PyReport, credit, grade, judged_by};
use crate::scenario::PyScenario;

/// One run's log, with its blobs and its scenario. It does not change when the episode goes on.
#[pyclass(name = "Log", module = "dayshift", frozen)]
pub(crate) struct PyLog {
    run: Run,
    /// The package that it must be of, if this process played it.
    package: Option<BlobId>,
}

impl PyLog {
    /// Returns a log that came from elsewhere.
    pub(crate) fn new(run: Run) -> Self {
        Self { run, package: None }
    }

    /// Returns the log of an episode that this process plays.
    pub(crate) fn made_here(run: Run) -> Self {
        let package = Some(run.scenario.digest());
        Self { run, package }
    }
}

#[pymethods]
impl PyLog {
    /// The id of the scenario.
    #[getter]
    fn scenario(&self) -> &str {
        self.run.scenario.id()
    }

    /// The hash at the end, hexadecimal.
    #[getter]
    fn head(&self) -> String {
        self.run.head().hash.to_string()
    }

    /// How many records there are.
    fn __len__(&self) -> usize {
        self.run.records.len()
    }

    /// Writes the log as one portable file, blobs and scenario included.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.run.export(&path)).map(|_| ()).map_err(raised)
    }

    /// Returns the records: dicts with `seq`, `time`, `day`, `actor`, `turn`, `event`, `kind`, `tool`, `arguments`, `answer`, `refused`,
    /// `text`, `reads` (keys) and `causes`.
    fn records<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let rows = py.detach(|| self.run.records.iter().map(|record| self.show(record)).collect::<Result<Vec<_>, _>>());
        to_python(py, &rows.map(Value::List).map_err(raised)?)
    }

    /// Walks the hash chain. Raises `StoreFailed` at the first record at fault.
    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        let walked = py.detach(|| {
            let mut log = dayshift_engine::Log::new();
            self.run.records.iter().try_for_each(|record| log.push(record.clone()))
        });
        walked.map_err(|link| raised(RunError::Episode(link.into())))
    }

    /// Executes every input again and compares bytes; returns how many records came out the same. Raises `Divergence` at the first
    /// difference.
    fn replay(&self, py: Python<'_>) -> PyResult<u64> {
        reexecuted(py, &self.run)
    }

    /// Returns the log signed by `key`. The episode must have ended.
    fn sign(&self, py: Python<'_>, key: PyRef<'_, PyKey>) -> PyResult<Self> {
        let key = key.key.clone();
        let signature = py.detach(|| key.sign(&self.run.records, &self.run.note.agent)).map_err(raised)?;
        let mut run = self.run.clone();
        run.note.signature = Some(signature);
        Ok(Self { run, package: self.package })
    }

    /// Returns the verdicts, by the scenario's checks or by `checks`. The log is executed again first, unless it is taken on `trust`: raises
    /// `Divergence` if it comes out otherwise. With `host`, commands are run again whose results it holds. `scenario` is what it must be a log of
    /// (the installed one of its name, if nothing is said), `keys` are public keys to trust: files, or base64.
    #[pyo3(signature = (*, checks = None, trust = false, host = false, scenario = None, keys = Vec::new(), require_signature = false))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python, each with a default")]
    fn grade(
        &self,
        py: Python<'_>,
        checks: Option<Vec<PyRef<'_, PyCheck>>>,
        trust: bool,
        host: bool,
        scenario: Option<PyRef<'_, PyScenario>>,
        keys: Vec<String>,
        require_signature: bool,
    ) -> PyResult<PyReport> {
        let package = scenario.map_or(self.package, |scenario| Some(scenario.package()));
        let scrutiny = Asked { trust, host, keys, require_signature, package }.scrutiny()?;
        grade(py, &judged_by(self.run.clone(), checks)?, &scrutiny)
    }

    /// Returns the credit of every turn, by the scenario's checks or by `checks`. With `audit`, each is also replayed without, which takes
    /// long. The log is executed again first, unless it is taken on `trust`.
    #[pyo3(signature = (*, checks = None, rho = 0.3, gamma = 0.7, audit = false, trust = false))]
    fn credit(
        &self,
        py: Python<'_>,
        checks: Option<Vec<PyRef<'_, PyCheck>>>,
        rho: f64,
        gamma: f64,
        audit: bool,
        trust: bool,
    ) -> PyResult<PyCredit> {
        let asked = Asked { trust, host: false, keys: Vec::new(), require_signature: false, package: self.package };
        credit(py, &judged_by(self.run.clone(), checks)?, &asked.scrutiny()?, (rho, gamma), audit)
    }

    /// Returns the whole graded state of the world after record `at`; at the end if nothing is said.
    #[pyo3(signature = (at = None))]
    fn state<'py>(&self, py: Python<'py>, at: Option<u64>) -> PyResult<Bound<'py, PyAny>> {
        let state = py.detach(|| Ok(self.run.episode_at(at.map(Seq::new))?.world().dump()));
        to_python(py, &state.map_err(raised)?)
    }

    fn __repr__(&self) -> String {
        format!(
            "Log({:?}, records={}, head={:?})",
            self.run.scenario.id(),
            self.run.records.len(),
            self.run.head().hash.short()
        )
    }
}

impl PyLog {
    fn show(&self, record: &[u8]) -> Result<Value, RunError> {
        let stored = Stored::new(record)?;
        let head = stored.head()?;
        let local = stored.time().to_chrono().with_timezone(&self.run.scenario.zone());
        let keys = stored.reads()?.into_iter().map(|read| read.key).map(|key: Key| key.to_string());
        let kind = match &head.request {
            Request::Genesis { .. } => "genesis",
            Request::Open { .. } => "open",
            Request::OpenDay { .. } => "open_day",
            Request::Call { .. } => "call",
            Request::Message { hand_over: true, .. } => "hand_over",
            Request::Message { .. } => "message",
            Request::Notify { .. } => "notify",
            Request::Look => "look",
            Request::EndDay => "end_day",
            Request::Close => "close",
        };
        let text = match &head.request {
            Request::OpenDay { notification: text, .. } | Request::Message { text, .. } | Request::Notify { text } => {
                Some(text.clone())
            }
            _ => None,
        };
        let refused = match stored.outcome()? {
            Outcome::Refused(rejection) => Some(rejection.code.to_string()),
            Outcome::Done | Outcome::Answered(_) => None,
        };
        let call = PastCall::read(stored, &*self.run.blobs)?;
        let (tool, arguments, answer) = match call {
            Some(call) => (Some(call.tool), call.arguments, call.answer.unwrap_or_default()),
            None => (None, Value::Null, Value::Null),
        };
        Ok(map! {
            "seq" => stored.seq().get(),
            "time" => local.to_rfc3339_opts(SecondsFormat::AutoSi, false),
            "day" => head.day.get(),
            "actor" => head.actor.to_string(),
            "turn" => head.turn.map(Turn::get),
            "event" => head.event.map(|event| event.to_string()),
            "kind" => kind,
            "tool" => tool,
            "arguments" => arguments,
            "answer" => answer,
            "refused" => refused,
            "text" => text,
            "reads" => keys.collect::<Value>(),
            "causes" => head.causes.iter().map(|cause| Value::from(cause.get())).collect::<Value>(),
        })
    }
}

fn reexecuted(py: Python<'_>, run: &Run) -> PyResult<u64> {
    match py.detach(|| run.reexecute(|_| {})).map_err(raised)? {
        Reexecution::Same { head, .. } => Ok(head.count),
        Reexecution::Diverged(divergence) => Err(diverged(&divergence)),
    }
}

/// Loads a log file.
#[pyfunction]
pub(crate) fn load(py: Python<'_>, path: PathBuf) -> PyResult<PyLog> {
    py.detach(|| load_file(&path)).map(PyLog::new).map_err(raised)
}

/// Executes every input of a log file again and compares bytes; returns how many records came out the same. Raises `Divergence` at the
/// first difference.
#[pyfunction]
pub(crate) fn replay(py: Python<'_>, path: PathBuf) -> PyResult<u64> {
    let run = py.detach(|| load_file(&path)).map_err(raised)?;
    reexecuted(py, &run)
}

/// Verifies a log file: chain, blobs and footer; that it ends with `head`, if that is given, and that one of `keys` signed it, if there are any.
/// Returns the number of records. Raises `StoreFailed` at the first fault.
#[pyfunction]
#[pyo3(signature = (path, *, head = None, keys = Vec::new()))]
pub(crate) fn verify(py: Python<'_>, path: PathBuf, head: Option<String>, keys: Vec<String>) -> PyResult<u64> {
    let verified = py.detach(|| verify_file(&path)).map_err(raised)?;
    let found = verified.head.hash.to_string();
    if head.is_some_and(|head| head.to_ascii_lowercase() != found) {
        return Err(unverified("verify/another-head", &format!("the log ends with {found}, which is another head")));
    }
    if keys.is_empty() {
        return Ok(verified.head.count);
    }
    let state = py.detach(|| {
        let keys = trusted(&keys)?;
        signature_of_file(&path, &keys)
    });
    let (code, message) = match state.map_err(raised)? {
        SignatureState::Valid { trusted: true, .. } => return Ok(verified.head.count),
        SignatureState::Valid { key, .. } => {
            ("verify/unknown-key", format!("the log is signed by {key} and by no key that was named"))
        }
        SignatureState::Unsigned => ("verify/unsigned", "the log is not signed".to_owned()),
        SignatureState::Invalid { .. } => {
            ("verify/bad-signature", "the signature beside the log is not one of it".to_owned())
        }
    };
    Err(unverified(code, &message))
}
