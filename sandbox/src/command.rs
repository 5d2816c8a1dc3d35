//! One command under bubblewrap: what it sees, what it may use, and when it is stopped.

use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use dayshift_engine::{Value, map};

use crate::changes::{CHANGED_BYTES_MAX, Changes, FILE_BYTES_MAX};
use crate::lay_out::Scratch;
use crate::{REMEDY, WORKSPACE, processes};

/// Whom the command belongs to on the host if this program is root: the kernel does not hold root to the number of its processes.
const NOBODY: u32 = 65_534;
/// How often it is looked whether the command has ended.
const TICK: Duration = Duration::from_millis(5);
/// How often its memory, its processes and what it wrote are looked at.
const WATCH: Duration = Duration::from_millis(50);
/// How long a probe, and the end of a command that was ended, may take.
const PROBE: Duration = Duration::from_secs(10);
/// How many bytes of one stream are read at all before the command is stopped, for each byte that is kept.
const FLOOD_FACTOR: u64 = 1024;

/// Folders of the host that a command sees, unchangeable, if they are there.
const SYSTEM: [&str; 12] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc/alternatives",
    "/etc/fonts",
    "/etc/ld.so.cache",
    "/etc/mime.types",
    "/etc/python3",
    "/etc/localtime",
];

/// What a command may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    timeout: Duration,
    memory_bytes: u64,
    output_bytes: usize,
    processes: u32,
    pub(crate) changes_max: usize,
}

impl Limits {
    /// Reads them out of an order; nothing if it is for no command.
    pub(crate) fn of(order: &Value) -> Option<Self> {
        let number = |name: &str| order.get(name).and_then(Value::as_int).and_then(|number| u64::try_from(number).ok());
        if order.get("kind").and_then(Value::as_text) != Some("shell") {
            return None;
        }
        Some(Self {
            timeout: Duration::from_secs(number("timeout_seconds")?),
            memory_bytes: number("memory_mib")?.checked_mul(1 << 20)?,
            output_bytes: usize::try_from(number("output_bytes")?).ok()?,
            processes: u32::try_from(number("processes")?).ok()?,
            changes_max: usize::try_from(number("changes_max")?).ok()?,
        })
    }
}

/// Bubblewrap, found and tried.
#[derive(Clone, Debug)]
pub(crate) struct Bubblewrap {
    program: PathBuf,
    /// As whom it runs, if not as this program does.
    owner: Option<u32>,
    /// Whether it can forbid a command to make namespaces of its own, in which it could mount what no limit counts (0.8 and later).
    closes_namespaces: bool,
}

/// What running a command came to.
pub(crate) struct Ran {
    exit_code: Option<i32>,
    stdout: Stream,
    stderr: Stream,
    timed_out: bool,
    stopped: Option<String>,
}

/// What a command printed: the beginning, and how much there was.
#[derive(Default)]
struct Stream {
    kept: Vec<u8>,
    bytes: u64,
}

impl Bubblewrap {
    /// Looks for it in the folders of `PATH`.
    pub(crate) fn find() -> Result<Self, String> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let found = std::env::split_paths(&path).map(|folder| folder.join("bwrap")).find(|program| program.is_file());
        match found {
            Some(program) => Self::tried(&program),
            None => Err(format!("bubblewrap is not installed: {REMEDY}")),
        }
    }

    /// Tries `program`: as nobody if this program is root, otherwise as it is.
    pub(crate) fn tried(program: &Path) -> Result<Self, String> {
        let program = program.to_owned();
        let is_root = tempfile::tempfile().and_then(|file| file.metadata()).is_ok_and(|file| file.uid() == 0);
        let owners = if is_root { vec![Some(NOBODY), None] } else { vec![None] };
        let mut why = String::new();
        for closes_namespaces in [true, false] {
            for owner in &owners {
                let bubblewrap = Self { program: program.clone(), owner: *owner, closes_namespaces };
                match bubblewrap.probe() {
                    Ok(()) => return Ok(bubblewrap),
                    Err(error) => why = error,
                }
            }
        }
        Err(format!("bubblewrap does not work here ({why}): {REMEDY}"))
    }

    /// Returns whom the files belong to that the command works on, if not to this program.
    pub(crate) fn owner(&self) -> Option<u32> {
        self.owner
    }

    fn probe(&self) -> Result<(), String> {
        let nothing = dayshift_engine::Errand { order: Value::Null, entries: Vec::new() };
        let scratch = Scratch::new(&nothing, &dayshift_engine::MemoryBlobs::new(), self.owner);
        let scratch = scratch.map_err(|error| error.to_string())?;
        let limits =
            Limits { timeout: PROBE, memory_bytes: 256 << 20, output_bytes: 1024, processes: 16, changes_max: 1 };
        let order = map! { "command" => "true", "folder" => "/" };
        let ran = self.run(&order, &limits, &scratch).map_err(|error| error.to_string())?;
        if ran.exit_code == Some(0) {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&ran.stderr.kept).lines().next().unwrap_or("it says nothing").to_owned();
        Err(said)
    }

    /// Runs the command of `order` over the copy in `scratch`.
    pub(crate) fn run(&self, order: &Value, limits: &Limits, scratch: &Scratch) -> io::Result<Ran> {
        let mut child = self.command(order, limits, scratch).spawn()?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let most = limits.output_bytes;
        thread::scope(|scope| {
            let stdout = scope.spawn(move || stdout.map(|stream| Stream::read(stream, most)).unwrap_or_default());
            let stderr = scope.spawn(move || stderr.map(|stream| Stream::read(stream, most)).unwrap_or_default());
            let mut watch = Watch { limits, scratch, started: Instant::now(), timed_out: false, stopped: None };
            let status = watch.until_it_ends(&mut child);
            // With its first process, everything in the sandbox has ended: the streams are closed.
            let (stdout, stderr) = (stdout.join().unwrap_or_default(), stderr.join().unwrap_or_default());
            let status = status?;
            let is_flood = |stream: &Stream| stream.bytes > most as u64 * FLOOD_FACTOR;
            let flooded = is_flood(&stdout) || is_flood(&stderr);
            let stopped = watch.stopped.or_else(|| flooded.then(|| "it printed without end".to_owned()));
            let ended = !watch.timed_out && stopped.is_none();
            let exit_code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).filter(|_| ended);
            Ok(Ran { exit_code, stdout, stderr, timed_out: watch.timed_out, stopped })
        })
    }

    /// Returns the command line: what is seen is listed, and nothing else is there.
    fn command(&self, order: &Value, limits: &Limits, scratch: &Scratch) -> Command {
        let text = |name: &str| order.get(name).and_then(Value::as_text).unwrap_or_default();
        let mut command = Command::new(&self.program);
        command.args(["--unshare-all", "--unshare-user", "--uid", "1000", "--gid", "1000", "--hostname", "office"]);
        // When the first process of the namespace has ended, the kernel has ended all others: nothing goes on once the command is over.
        command.args(["--as-pid-1", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]);
        if self.closes_namespaces {
            command.arg("--disable-userns");
        }
        for path in SYSTEM.iter().map(Path::new).filter(|path| path.symlink_metadata().is_ok()) {
            match path.read_link() {
                // Where the system's folders have moved below /usr, links stand in their places.
                Ok(target) if !path.starts_with("/etc") => command.arg("--symlink").arg(target).arg(path),
                Ok(_) | Err(_) => command.arg("--ro-bind").arg(path).arg(path),
            };
        }
        command.arg("--ro-bind").arg(scratch.passwd()).arg("/etc/passwd");
        command.args(["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]);
        command.arg("--bind").arg(scratch.workspace()).arg(WORKSPACE);
        command.arg("--bind").arg(scratch.tmp()).arg("/tmp");
        command
            .args(["--remount-ro", "/", "--chdir"])
            .arg(format!("{WORKSPACE}{}", text("folder").trim_end_matches('/')));
        // The kernel's limits on each process: memory, number of processes, size of a file, processor time, open files, no memory dumps.
        // Programs reserve more addresses than they take memory, so what a process reserves may be twice as much.
        let memory_kib = (limits.memory_bytes >> 9).to_string();
        let seconds = (limits.timeout.as_secs() + 1).to_string();
        let file_kib = (FILE_BYTES_MAX >> 10).to_string();
        command.args(["--", "bash", "-c"]);
        command.arg("umask 022; ulimit -c 0 -n 256 -v \"$1\" -u \"$2\" -f \"$3\" -t \"$4\" || exit 126; bash -c \"$5\"; exit $?");
        // The shell that sets the limits is a process too.
        let processes = (limits.processes + 1).to_string();
        command.args(["bash", &memory_kib, &processes, &file_kib, &seconds, text("command")]);
        command.env_clear();
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin").env("HOME", "/tmp").env("USER", "user");
        command.env("LANG", "C.UTF-8").env("TZ", text("zone")).env("TMPDIR", "/tmp").env("TERM", "dumb");
        command.current_dir(scratch.folder()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(owner) = self.owner {
            command.uid(owner).gid(owner);
        }
        command
    }
}

/// Watches over a running command.
struct Watch<'a> {
    limits: &'a Limits,
    scratch: &'a Scratch,
    started: Instant,
    timed_out: bool,
    stopped: Option<String>,
}

impl Watch<'_> {
    /// Waits until the command ends by itself or has to be ended.
    fn until_it_ends(&mut self, child: &mut Child) -> io::Result<std::process::ExitStatus> {
        let mut looked = Instant::now();
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            if self.started.elapsed() > self.limits.timeout {
                self.timed_out = true;
            } else if looked.elapsed() > WATCH {
                self.stopped = self.fault(child.id());
                looked = Instant::now();
            }
            if self.timed_out || self.stopped.is_some() {
                return end(child);
            }
            thread::sleep(TICK);
        }
    }

    /// Returns what the command takes too much of.
    fn fault(&self, process: u32) -> Option<String> {
        let usage = processes::usage(process);
        let Limits { memory_bytes, processes, .. } = *self.limits;
        if usage.memory_bytes > memory_bytes {
            return Some(format!("it took more than {} MiB of memory", memory_bytes >> 20));
        }
        // The shell that sets the limits is one of them.
        if usage.processes > processes + 1 {
            return Some(format!("it had more than {processes} processes"));
        }
        // The copy itself was there before.
        let most = CHANGED_BYTES_MAX + WORKSPACE_BYTES;
        let written = processes::written(&[self.scratch.workspace(), self.scratch.tmp()], most);
        (written > most).then(|| format!("it wrote more than {CHANGED_BYTES_MAX} bytes"))
    }
}

/// Ends a command: its namespace goes with it, and every process in there.
fn end(child: &mut Child) -> io::Result<std::process::ExitStatus> {
    let inside = processes::below(child.id());
    child.kill()?;
    let status = child.wait()?;
    let killed = Instant::now();
    while inside.iter().any(|process| processes::is_there(*process)) {
        if killed.elapsed() > PROBE {
            return Err(io::Error::other("a process of the command does not end"));
        }
        thread::sleep(TICK);
    }
    Ok(status)
}

/// How large the copy of the workspace may be, in bytes.
const WORKSPACE_BYTES: u64 = 256 << 20;

impl Stream {
    /// Reads all of `stream` and keeps its beginning. A flood is not read to its end: then the pipe closes, which ends whoever writes on.
    fn read(mut stream: impl Read, most: usize) -> Self {
        let mut read = Self::default();
        let mut buffer = [0; 16 << 10];
        while let Ok(count) = stream.read(&mut buffer) {
            if count == 0 || read.bytes > most as u64 * FLOOD_FACTOR {
                break;
            }
            read.bytes += count as u64;
            let room = most - read.kept.len();
            read.kept.extend_from_slice(&buffer[..count.min(room)]);
        }
        read
    }

    /// Returns the text that was kept, without a character that was cut.
    fn text(&self) -> String {
        let is_cut = self.bytes > self.kept.len() as u64;
        let whole = match std::str::from_utf8(&self.kept) {
            Err(error) if is_cut && error.error_len().is_none() => &self.kept[..error.valid_up_to()],
            Ok(_) | Err(_) => &self.kept,
        };
        String::from_utf8_lossy(whole).into_owned()
    }
}

impl Ran {
    /// Returns this as it is recorded.
    pub(crate) fn outcome(self, changes: Changes) -> Value {
        let count = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
        map! {
            "exit_code" => self.exit_code.map(i64::from),
            "stdout" => self.stdout.text(),
            "stdout_kept" => self.stdout.kept.len(),
            "stdout_bytes" => count(self.stdout.bytes),
            "stderr" => self.stderr.text(),
            "stderr_kept" => self.stderr.kept.len(),
            "stderr_bytes" => count(self.stderr.bytes),
            "timed_out" => self.timed_out,
            "stopped" => self.stopped,
            "changes" => changes.list,
            "dropped" => changes.dropped,
            "refused" => changes.refused,
        }
    }
}
