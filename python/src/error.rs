//! The exceptions of the module, and which of them an error of ours becomes. Each carries `code` (stable) and `message`.

use dayshift_engine::{EpisodeError, Rejection};
use dayshift_replay::Divergence;
use dayshift_runs::RunError;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(dayshift, DayshiftError, PyException, "The base of every error of dayshift.");
create_exception!(
    dayshift,
    Rejected,
    DayshiftError,
    "A call was refused; it is on record. `code` and `message` say why and what to do."
);
create_exception!(dayshift, Closed, DayshiftError, "The episode has ended, or was never reset.");
create_exception!(
    dayshift,
    BadScenario,
    DayshiftError,
    "A scenario has faults; `problems` lists them with file, line and remedy."
);
create_exception!(dayshift, StoreFailed, DayshiftError, "A store or a log file cannot be read or written.");
create_exception!(
    dayshift,
    Divergence_,
    DayshiftError,
    "Re-execution came out otherwise: `record` says where, `differences` what."
);

/// Adds the exceptions to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("DayshiftError", py.get_type::<DayshiftError>())?;
    module.add("Rejected", py.get_type::<Rejected>())?;
    module.add("Closed", py.get_type::<Closed>())?;
    module.add("BadScenario", py.get_type::<BadScenario>())?;
    module.add("StoreFailed", py.get_type::<StoreFailed>())?;
    let divergence = py.get_type::<Divergence_>();
    divergence.setattr("__name__", "Divergence")?;
    divergence.setattr("__qualname__", "Divergence")?;
    module.add("Divergence", divergence)
}

/// Returns the exception for an error between a door and its runs.
pub(crate) fn raised(error: RunError) -> PyErr {
    if let RunError::Diverged(divergence) = &error {
        return diverged(divergence);
    }
    let (code, message) = (error.code(), error.to_string());
    Python::attach(|py| {
        let exception = match &error {
            RunError::Scenario(problems) => {
                let listed: Vec<String> = problems.iter().map(ToString::to_string).collect();
                let exception = BadScenario::new_err(message.clone());
                let _set = exception.value(py).setattr("problems", listed);
                exception
            }
            RunError::Prefix(_) => BadScenario::new_err(message.clone()),
            RunError::Episode(EpisodeError::Closed) | RunError::Finished => Closed::new_err(message.clone()),
            RunError::Store(_) | RunError::Codec(_) | RunError::BlobMissing(_) => StoreFailed::new_err(message.clone()),
            _ => DayshiftError::new_err(message.clone()),
        };
        coded(py, exception, code, &message)
    })
}

/// Returns the exception for a refused call.
pub(crate) fn rejected(rejection: &Rejection) -> PyErr {
    Python::attach(|py| {
        let exception = Rejected::new_err(rejection.to_string());
        coded(py, exception, &rejection.code, &rejection.message)
    })
}

/// Returns the exception for a log that is not the one it should be.
pub(crate) fn unverified(code: &str, message: &str) -> PyErr {
    Python::attach(|py| coded(py, StoreFailed::new_err(message.to_owned()), code, message))
}

/// Returns the exception for something that has ended or not begun.
pub(crate) fn closed(message: &str) -> PyErr {
    Python::attach(|py| coded(py, Closed::new_err(message.to_owned()), "episode/closed", message))
}

/// Returns the exception for a log that came out otherwise.
pub(crate) fn diverged(divergence: &Divergence) -> PyErr {
    let message = format!(
        "record {} ({}) came out otherwise: {}",
        divergence.seq,
        divergence.what,
        divergence
            .differences
            .first()
            .map_or_else(String::new, |(part, was, now)| format!("{part} was {was}, is {now}")),
    );
    Python::attach(|py| {
        let exception = Divergence_::new_err(message.clone());
        let value = exception.value(py);
        let _record = value.setattr("record", divergence.seq.get());
        let _differences = value.setattr("differences", divergence.differences.clone());
        let _keys = value.setattr("keys", divergence.keys.iter().map(ToString::to_string).collect::<Vec<_>>());
        coded(py, exception, "replay/diverged", &message)
    })
}

fn coded(py: Python<'_>, exception: PyErr, code: &str, message: &str) -> PyErr {
    let value = exception.value(py);
    // An exception of our own takes any attribute; if it did not, the message still says everything.
    let _code = value.setattr("code", code);
    let _message = value.setattr("message", message);
    exception
}
