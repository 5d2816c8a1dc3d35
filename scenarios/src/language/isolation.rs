//! Scripts that are evaluated in a process of their own: the near side. The interpreter cannot bound everything (how deep values nest, what comparing
//! shared parts costs), so the scripts of packages that nobody vouches for are handed to a process with limits, which asks its questions back. How
//! such a process is started and limited is for a door to say; nothing here touches the host.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, TryLockError};

use dayshift_engine::{SmolStr, Value};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::program::{Argument, Failure, Stage};

/// The longest message between a door and a process that evaluates scripts, in bytes (64 MiB).
pub const SCRIPT_MESSAGE_BYTES_MAX: usize = 64 << 20;

/// How deep a message may nest: a value and what it travels in.
const MESSAGE_DEPTH_MAX: usize = 160;

/// How many processes are kept for the next evaluation.
const IDLE_MAX: usize = 16;

/// How many scripts one process keeps read.
const PROGRAMS_MAX: usize = 64;

/// Starts processes that evaluate scripts.
pub trait ScriptHost: Send + Sync + fmt::Debug {
    /// Starts one, which runs [`serve_scripts`](super::serve_scripts) within limits.
    ///
    /// # Errors
    ///
    /// A sentence that says why that does not work here.
    fn start(&self) -> Result<Box<dyn ScriptProcess>, String>;
}

/// A process that evaluates scripts. Dropping it ends it.
pub trait ScriptProcess: Send {
    /// Returns whether it can still be used: it has not ended, and this is not a process that was forked off the one that started it.
    fn is_usable(&mut self) -> bool;

    /// Says that an evaluation begins: what it may use is counted from here on.
    fn begin(&mut self);

    /// Sends a message.
    ///
    /// # Errors
    ///
    /// A sentence that goes on after the name of the script, when the process is gone.
    fn send(&mut self, message: &[u8]) -> Result<(), String>;

    /// Waits for the next message.
    ///
    /// # Errors
    ///
    /// A sentence that goes on after the name of the script, when the process ended or had to be ended.
    fn receive(&mut self) -> Result<Vec<u8>, String>;
}

/// The processes that evaluate the scripts of packages that are not installed.
#[derive(Debug)]
pub struct Isolation {
    host: Box<dyn ScriptHost>,
    idle: Mutex<Vec<Worker>>,
    programs: AtomicU32,
}

/// What the near side says.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ToProcess {
    /// Read a script, and keep it as `program`.
    Read { program: u32, prelude: String, file: SmolStr, source: String },
    /// Call a function of a script.
    Call { program: u32, function: String, arguments: Vec<(bool, Value)> },
    /// What was asked is answered.
    Answer(Result<Value, String>),
    /// Forget all scripts.
    Forget,
}

/// What the far side says.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum FromProcess {
    /// The script was read, and has these functions.
    Read(Result<Vec<SmolStr>, Failure>),
    /// A question of the script that is evaluated.
    Ask { day: Option<String>, question: String, arguments: Value },
    /// What the function returned.
    Done(Result<Value, Failure>),
}

/// One script, in whichever process.
pub(super) struct RemoteProgram {
    isolation: Arc<Isolation>,
    id: u32,
    prelude: Arc<str>,
    file: SmolStr,
    source: Arc<str>,
}

struct Worker {
    process: Box<dyn ScriptProcess>,
    programs: BTreeSet<u32>,
}

impl fmt::Debug for Worker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Worker").field("programs", &self.programs).finish_non_exhaustive()
    }
}

impl Isolation {
    /// Returns the processes that `host` starts. None is started before it is needed.
    #[must_use]
    pub fn new(host: Box<dyn ScriptHost>) -> Arc<Self> {
        Arc::new(Self { host, idle: Mutex::default(), programs: AtomicU32::new(0) })
    }

    /// Reads a script over `prelude`. Returns its functions, sorted.
    pub(super) fn read(
        self: &Arc<Self>,
        prelude: &Arc<str>,
        file: &str,
        source: &str,
    ) -> Result<(RemoteProgram, Vec<SmolStr>), Failure> {
        let program = RemoteProgram {
            isolation: Arc::clone(self),
            id: self.programs.fetch_add(1, Ordering::Relaxed),
            prelude: Arc::clone(prelude),
            file: file.into(),
            source: source.into(),
        };
        let (functions, worker) = self
            .worker()
            .and_then(|mut worker| Ok((worker.read(&program)?, worker)))
            .map_err(|why| program.failure(why))?;
        self.keep(worker);
        functions.map(|functions| (program, functions))
    }

    /// Returns a process: one that is idle, or a new one. It never waits: another thread's hold on the idle ones may outlive that thread in a
    /// process that was forked.
    fn worker(&self) -> Result<Worker, String> {
        while let Some(mut worker) = self.with_idle(Vec::pop).flatten() {
            if worker.process.is_usable() {
                return Ok(worker);
            }
        }
        let process = self.host.start().map_err(|why| {
            format!("scripts of packages that are not installed run in a process of their own, which could not be started: {why}")
        })?;
        Ok(Worker { process, programs: BTreeSet::new() })
    }

    fn keep(&self, worker: Worker) {
        self.with_idle(|idle| {
            if idle.len() < IDLE_MAX {
                idle.push(worker);
            }
        });
    }

    fn with_idle<T>(&self, with: impl FnOnce(&mut Vec<Worker>) -> T) -> Option<T> {
        match self.idle.try_lock() {
            Ok(mut idle) => Some(with(&mut idle)),
            Err(TryLockError::Poisoned(poisoned)) => Some(with(&mut poisoned.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

impl RemoteProgram {
    /// Calls `function` with `arguments` before `stage`. A process that fails takes no other evaluation with it.
    pub(super) fn call(&self, function: &str, arguments: &[Argument<'_>], stage: &dyn Stage) -> Result<Value, Failure> {
        let mut worker = self.isolation.worker().map_err(|why| self.failure(why))?;
        let done =
            worker.call(self, function, arguments, stage).map_err(|why| self.failure(format!("'{function}' {why}")))?;
        self.isolation.keep(worker);
        done
    }

    fn failure(&self, message: String) -> Failure {
        Failure { file: self.file.clone(), line: 0, message }
    }
}

impl Worker {
    fn read(&mut self, program: &RemoteProgram) -> Result<Result<Vec<SmolStr>, Failure>, String> {
        if self.programs.len() >= PROGRAMS_MAX {
            self.send(&ToProcess::Forget)?;
            self.programs.clear();
        }
        self.process.begin();
        let (prelude, source) = (program.prelude.to_string(), program.source.to_string());
        self.send(&ToProcess::Read { program: program.id, prelude, file: program.file.clone(), source })?;
        match self.receive()? {
            FromProcess::Read(read) => {
                if read.is_ok() {
                    self.programs.insert(program.id);
                }
                Ok(read)
            }
            FromProcess::Ask { question, .. } => Err(format!("asks {question} before there is a world")),
            FromProcess::Done(_) => Err(confused()),
        }
    }

    fn call(
        &mut self,
        program: &RemoteProgram,
        function: &str,
        arguments: &[Argument<'_>],
        stage: &dyn Stage,
    ) -> Result<Result<Value, Failure>, String> {
        if !self.programs.contains(&program.id)
            && let Err(failure) = self.read(program)?
        {
            return Ok(Err(failure));
        }
        self.process.begin();
        let arguments = arguments.iter().map(|argument| argument.parts()).collect();
        self.send(&ToProcess::Call { program: program.id, function: function.to_owned(), arguments })?;
        loop {
            match self.receive()? {
                FromProcess::Ask { day, question, arguments } => {
                    let answer = stage.answer(day.as_deref(), &question, arguments);
                    self.send(&ToProcess::Answer(answer))?;
                }
                FromProcess::Done(done) => return Ok(done),
                FromProcess::Read(_) => return Err(confused()),
            }
        }
    }

    fn send(&mut self, message: &ToProcess) -> Result<(), String> {
        let bytes = encode(message);
        if bytes.len() > SCRIPT_MESSAGE_BYTES_MAX {
            return Err(format!(
                "is given more than {SCRIPT_MESSAGE_BYTES_MAX} bytes at once; ask a narrower question"
            ));
        }
        self.process.send(&bytes)
    }

    fn receive(&mut self) -> Result<FromProcess, String> {
        let bytes = self.process.receive()?;
        decode(&bytes).ok_or_else(confused)
    }
}

fn confused() -> String {
    "ran in a process that answered with something else; try again".to_owned()
}

pub(super) fn encode<T: Serialize>(message: &T) -> Vec<u8> {
    // Writing plain data into memory cannot fail.
    rmp_serde::to_vec(message).unwrap_or_default()
}

pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let mut decoder = rmp_serde::Deserializer::from_read_ref(bytes);
    decoder.set_max_depth(MESSAGE_DEPTH_MAX);
    T::deserialize(&mut decoder).ok()
}
