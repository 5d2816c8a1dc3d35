//! What checks and personas written in Python see: a world at a moment. Every read through it is noted, as those of Starlark are.

use std::sync::{Arc, Mutex, PoisonError};

use chrono::SecondsFormat;
use chrono_tz::Tz;
use dayshift_engine::{
    Accesses, Blobs, CLOCK_KEY, Day, Frame, Key, Log, PastCall, ReadKind, Scene, Seed, Seq, SimTime, SmolStr, Turn,
    Value, World, map,
};
use dayshift_services::Office;
use dayshift_services::files::TreeEntry;
use imbl::OrdMap;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::convert::to_python;
use crate::scenario::keywords;

/// A file or folder: path, size, digest, permission bits, time, record.
type Entry = (String, Option<u64>, Option<String>, u32, i64, u64);

/// A world at a moment. Keeping one keeps that moment: a scene does not move.
#[pyclass(name = "Scene", module = "dayshift", frozen)]
pub(crate) struct PyScene {
    world: Office,
    past: OrdMap<SmolStr, Office>,
    log: Log,
    time: SimTime,
    day: Day,
    seed: Seed,
    zone: Tz,
    blobs: Arc<dyn Blobs>,
    frame: Arc<Mutex<Frame>>,
}

impl PyScene {
    pub(crate) fn of(scene: &Scene<'_, Office>, zone: Tz) -> Self {
        Self {
            world: scene.world.clone(),
            past: scene.past.clone(),
            log: scene.log.clone(),
            time: scene.time,
            day: scene.day,
            seed: scene.seed,
            zone,
            blobs: Arc::clone(scene.blobs),
            frame: Arc::default(),
        }
    }

    /// Returns what was read so far, and begins anew.
    pub(crate) fn take(&self) -> Accesses {
        std::mem::take(&mut *self.frame.lock().unwrap_or_else(PoisonError::into_inner)).close()
    }

    fn with<R>(&self, look: impl FnOnce(&Scene<'_, Office>) -> R) -> R {
        let frame = self.frame.lock().unwrap_or_else(PoisonError::into_inner);
        look(&Scene {
            world: &self.world,
            past: &self.past,
            log: &self.log,
            changes: None,
            time: self.time,
            day: self.day,
            seed: self.seed,
            frame: &frame,
            blobs: &self.blobs,
        })
    }

    fn show(&self, time: SimTime) -> String {
        time.to_chrono().with_timezone(&self.zone).to_rfc3339_opts(SecondsFormat::AutoSi, false)
    }

    fn show_call(&self, call: &PastCall) -> Value {
        let (answer, code) = match &call.answer {
            Ok(answer) => (answer.clone(), None),
            Err(rejection) => (Value::Null, Some(rejection.code.to_string())),
        };
        map! {
            "seq" => call.seq.get(),
            "time" => self.show(call.time),
            "turn" => call.turn.map(Turn::get),
            "tool" => call.tool.clone(),
            "arguments" => call.arguments.clone(),
            "ok" => code.is_none(),
            "answer" => answer,
            "code" => code,
        }
    }
}

#[pymethods]
impl PyScene {
    /// Answers a question of a service, such as `scene.ask("mail.messages", address="ann@acme.example")`; the questions are those of
    /// check scripts. What is absent is `None`.
    #[pyo3(signature = (question, **arguments))]
    fn ask<'py>(
        &self,
        py: Python<'py>,
        question: &str,
        arguments: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let arguments = keywords(arguments)?;
        let answer = py.detach(|| self.with(|scene| scene.world.query(question, &arguments, &scene.looking())));
        let answer = answer.map_err(|rejection| PyValueError::new_err(rejection.to_string()))?;
        to_python(py, &answer)
    }

    /// Returns the world as it was when `day` was handed over; a day that is not over yet is the world now.
    fn at(&self, day: &str) -> Self {
        Self {
            world: self.past.get(day).unwrap_or(&self.world).clone(),
            past: self.past.clone(),
            log: self.log.clone(),
            time: self.time,
            day: self.day,
            seed: self.seed,
            zone: self.zone,
            blobs: Arc::clone(&self.blobs),
            frame: Arc::clone(&self.frame),
        }
    }

    /// Returns the agent's calls so far, of one tool or of all.
    #[pyo3(signature = (tool = None))]
    fn calls<'py>(&self, py: Python<'py>, tool: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
        let calls = self.with(|scene| scene.calls(tool)).map_err(|error| PyValueError::new_err(error.to_string()))?;
        to_python(py, &calls.iter().map(|call| self.show_call(call)).collect())
    }

    /// Returns what the agent said so far: dicts with `seq`, `turn` and `text`.
    fn messages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let messages = self.with(|scene| scene.messages()).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let rows = messages
            .into_iter()
            .map(|(seq, turn, text)| map! { "seq" => seq.get(), "turn" => turn.get(), "text" => text })
            .collect();
        to_python(py, &rows)
    }

    /// The simulated time, RFC 3339 with the office's offset.
    #[getter]
    fn now(&self) -> String {
        let frame = self.frame.lock().unwrap_or_else(PoisonError::into_inner);
        frame.note(ReadKind::Item, Key::new(CLOCK_KEY), Seq::default());
        self.show(self.time)
    }

    /// The number of the current day, from 1; 0 before the first one opens.
    #[getter]
    fn day(&self) -> u32 {
        self.day.get()
    }

    /// Returns the bytes of the file at `path`, or `None` if there is none.
    fn file<'py>(&self, py: Python<'py>, path: &str) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let bytes = self.with(|scene| match scene.world.files().content(path, scene.frame) {
            Ok(content) => scene.looking().load(content).map(Some),
            Err(refused) if ["files/not-found", "files/is-a-folder"].contains(&&*refused.code) => Ok(None),
            Err(refused) => Err(refused),
        });
        let bytes = bytes.map_err(|rejection| PyValueError::new_err(rejection.to_string()))?;
        Ok(bytes.map(|bytes| PyBytes::new(py, &bytes)))
    }

    /// Returns the messages of a folder as they were sent (RFC 5322), oldest first.
    fn mailbox<'py>(&self, py: Python<'py>, address: &str, folder: &str) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let sources = self.with(|scene| {
            let (mail, looking) = (scene.world.mail(), scene.looking());
            let asked = map! { "address" => address, "folder" => folder };
            let shown = scene.world.query("mail.messages", &asked, &looking)?;
            let uids = shown.as_list().unwrap_or_default().iter();
            let uids =
                uids.filter_map(|row| row.get("uid").and_then(Value::as_int)).filter_map(|uid| u32::try_from(uid).ok());
            let found = uids.filter_map(|uid| mail.source(scene.frame, &address.to_lowercase(), folder, uid));
            found.map(|content| looking.load(content)).collect::<Result<Vec<_>, _>>()
        });
        let sources = sources.map_err(|rejection| PyValueError::new_err(rejection.to_string()))?;
        Ok(sources.iter().map(|source| PyBytes::new(py, source)).collect())
    }

    /// Returns every file and folder of the workspace: tuples of path, size in bytes (`None` for a folder), digest, permission bits, when
    /// it was changed (milliseconds since 1970) and the record that last wrote it. Notes no read.
    fn tree(&self) -> Vec<Entry> {
        let entries = self.world.files().tree().into_iter();
        let row = |entry: TreeEntry| {
            let TreeEntry { path, file, modified, written } = entry;
            let (bytes, digest, mode) = match file {
                Some((content, mode)) => (Some(content.bytes()), Some(content.id().to_string()), mode),
                None => (None, None, 0o755),
            };
            (path, bytes, digest, mode, modified.as_millis(), written.get())
        };
        entries.map(row).collect()
    }

    /// Says that something was read which no key stands for, such as a file outside of the world. Credit reports that part as unattributed.
    fn note_untracked(&self) {
        self.frame.lock().unwrap_or_else(PoisonError::into_inner).note_untracked();
    }

    fn __repr__(&self) -> String {
        format!("Scene(day={}, time={:?})", self.day, self.show(self.time))
    }
}
