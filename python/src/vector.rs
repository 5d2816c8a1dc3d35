//! Many episodes of one scenario, stepped together in threads with the interpreter released.

use std::sync::{Arc, Mutex, PoisonError};

use dayshift_engine::{Input, Seed};
use dayshift_runs::RunError;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rayon::prelude::*;

use crate::env::{Stepped, input_of, ready, stepped};
use crate::episode::{PyEpisode, info, lock, observation};
use crate::error::{closed, raised};
use crate::live::{Live, Outcome, Ready, Rewarding};
use crate::scenario::rewarding;

/// One dict an episode.
type Dicts<'py> = Vec<Bound<'py, PyDict>>;

/// `n` episodes of one scenario. An episode that has ended is skipped until the next reset: its step is `None`.
#[pyclass(name = "VectorEnv", module = "dayshift", frozen)]
pub(crate) struct PyVectorEnv {
    ready: Arc<Ready>,
    rewarding: Rewarding,
    count: usize,
    pool: rayon::ThreadPool,
    lives: Mutex<Vec<Arc<Mutex<Live>>>>,
}

#[pymethods]
impl PyVectorEnv {
    /// Makes `n` environments that `threads` threads step (as many as there are cores, if nothing is said).
    #[new]
    #[pyo3(signature = (scenario, n, *, threads = None, reward = "final"))]
    fn new(
        py: Python<'_>,
        scenario: &Bound<'_, PyAny>,
        n: usize,
        threads: Option<usize>,
        reward: &str,
    ) -> PyResult<Self> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build();
        let pool = pool.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        let (ready, rewarding) = (ready(py, scenario)?, rewarding(reward)?);
        Ok(Self { ready, rewarding, count: n, pool, lives: Mutex::default() })
    }

    /// Opens all episodes anew, with the seeds given or 0, 1, 2, …; returns observations and what is said besides.
    #[pyo3(signature = (*, seeds = None))]
    fn reset<'py>(&self, py: Python<'py>, seeds: Option<Vec<u64>>) -> PyResult<(Dicts<'py>, Dicts<'py>)> {
        let seeds = seeds.unwrap_or_else(|| (0..self.count as u64).collect());
        if seeds.len() != self.count {
            return Err(PyValueError::new_err(format!("{} seeds for {} episodes", seeds.len(), self.count)));
        }
        let start = |seed: u64| Live::start(Arc::clone(&self.ready), None, Seed::new(seed), "python", self.rewarding);
        let opened: Result<Vec<(Live, Outcome)>, RunError> =
            py.detach(|| self.pool.install(|| seeds.into_par_iter().map(start).collect()));
        let (mut lives, mut shown, mut besides) = (Vec::new(), Vec::new(), Vec::new());
        for (live, outcome) in opened.map_err(raised)? {
            lives.push(Arc::new(Mutex::new(live)));
            shown.push(observation(py, &outcome)?);
            besides.push(info(py, &outcome)?);
        }
        *self.lives.lock().unwrap_or_else(PoisonError::into_inner) = lives;
        Ok((shown, besides))
    }

    /// Takes one action in every episode: a step's action, a list of them (done in order, answered by the last, rewards summed), or
    /// `None` to skip. Returns a list of five-tuples, `None` where an episode was skipped or had ended.
    fn step<'py>(&self, py: Python<'py>, actions: &Bound<'py, PyList>) -> PyResult<Vec<Option<Stepped<'py>>>> {
        let lives = self.lives()?;
        if actions.len() != lives.len() {
            let message = format!("{} actions for {} episodes", actions.len(), lives.len());
            return Err(PyValueError::new_err(message));
        }
        let inputs = actions.iter().map(|action| inputs_of(&action)).collect::<PyResult<Vec<_>>>()?;
        let work: Vec<(Arc<Mutex<Live>>, Vec<Input>)> = lives.into_iter().zip(inputs).collect();
        let done: Result<Vec<Option<Outcome>>, RunError> = py.detach(|| {
            let each = |(live, inputs): (Arc<Mutex<Live>>, Vec<Input>)| take(&mut lock(&live), inputs);
            self.pool.install(|| work.into_par_iter().map(each).collect())
        });
        let done = done.map_err(raised)?;
        done.iter().map(|outcome| outcome.as_ref().map(|outcome| stepped(py, outcome)).transpose()).collect()
    }

    /// The episodes, for what goes beyond steps.
    #[getter]
    fn episodes(&self) -> PyResult<Vec<PyEpisode>> {
        Ok(self.lives()?.iter().map(PyEpisode::sharing).collect())
    }

    fn __len__(&self) -> usize {
        self.count
    }

    fn __repr__(&self) -> String {
        format!(
            "VectorEnv({:?}, n={}, threads={})",
            self.ready.scenario.id(),
            self.count,
            self.pool.current_num_threads()
        )
    }
}

impl PyVectorEnv {
    fn lives(&self) -> PyResult<Vec<Arc<Mutex<Live>>>> {
        let lives = self.lives.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if lives.is_empty() && self.count > 0 {
            return Err(closed("there are no episodes yet; call reset first"));
        }
        Ok(lives)
    }
}

fn inputs_of(action: &Bound<'_, PyAny>) -> PyResult<Vec<Input>> {
    if action.is_none() {
        return Ok(Vec::new());
    }
    match action.cast::<PyList>() {
        Ok(actions) => actions.iter().map(|action| input_of(&action)).collect(),
        Err(_) => Ok(vec![input_of(action)?]),
    }
}

/// Feeds `inputs` until the episode ends. Returns the last outcome with the rewards of all.
fn take(live: &mut Live, inputs: Vec<Input>) -> Result<Option<Outcome>, RunError> {
    let mut last: Option<Outcome> = None;
    for input in inputs {
        if live.episode().is_closed() {
            break;
        }
        let mut outcome = live.input(input)?;
        outcome.reward += last.as_ref().map_or(0.0, |before| before.reward);
        last = Some(outcome);
    }
    Ok(last)
}
