//! One command under bubblewrap: what it may use, and when it is stopped. What it can write is in memory that the kernel limits, and gone with it.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use dayshift_engine::{Blobs, Errand, SimTime, Value, map};

use crate::cgroup::Group;
use crate::changes::{CHANGED_BYTES_MAX, Changes, FILE_BYTES_MAX};
use crate::root::{Piece, Root, pieces};
use crate::{REMEDY, WORKSPACE, archive, processes};

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
/// How much a command may write outside of the workspace, in bytes (64 MiB).
const ELSEWHERE_BYTES_MAX: u64 = 64 << 20;
/// How many files and folders a command may make, in the workspace and outside of it, besides those that were there.
const FILES_MAX: u64 = 200_000;

/// The first shell: says that it is there, unpacks the workspace, and becomes a shell that runs the command within the kernel's limits on each process:
/// memory, number of processes, size of a file, processor time, open files, no memory dumps. Programs reserve more addresses than they take memory, so
/// what a process reserves may be twice as much.
const FIRST: &str = "printf .; tar -xpf - --no-same-owner || exit 126; exec </dev/null; touch -d \"@$7\" /tmp; cd -- \"$6\" || exit 126; \
                     unset OLDPWD; umask 022; ulimit -c 0 -n 256 -v \"$1\" -u \"$2\" -f \"$3\" -t \"$4\" || exit 126; bash -c \"$5\"; exit $?";

/// Opens the filter of calls, then becomes bubblewrap.
const WITH_FILTER: &str = "filter=$1; shift; exec \"$@\" 9<\"$filter\"";

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
    /// What a command sees of the host.
    pieces: Arc<[Piece]>,
    /// As whom it runs, if not as this program does.
    owner: Option<u32>,
    /// Whether it can forbid a command to make namespaces of its own, in which it could mount what no limit counts (0.8 and later).
    closes_namespaces: bool,
}

/// What running a command came to.
pub(crate) struct Ran {
    /// The workspace as the command left it. It exists as long as this is open.
    workspace: File,
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
        let pieces: Arc<[Piece]> = pieces().into();
        let is_root = tempfile::tempfile().and_then(|file| file.metadata()).is_ok_and(|file| file.uid() == 0);
        let owners = if is_root { vec![Some(NOBODY), None] } else { vec![None] };
        let mut why = String::new();
        for closes_namespaces in [true, false] {
            for owner in &owners {
                let (program, pieces) = (program.clone(), Arc::clone(&pieces));
                let bubblewrap = Self { program, pieces, owner: *owner, closes_namespaces };
                match bubblewrap.probe() {
                    Ok(()) => return Ok(bubblewrap),
                    Err(error) => why = error,
                }
            }
        }
        Err(format!("bubblewrap does not work here ({why}): {REMEDY}"))
    }

    fn probe(&self) -> Result<(), String> {
        let limits =
            Limits { timeout: PROBE, memory_bytes: 256 << 20, output_bytes: 1024, processes: 16, changes_max: 1 };
        let order = map! { "command" => "echo tried > tried", "folder" => "/" };
        let errand = Errand { order, entries: Vec::new() };
        let ran =
            self.run(&errand, &limits, &dayshift_engine::MemoryBlobs::new()).map_err(|error| error.to_string())?;
        if ran.exit_code != Some(0) {
            return Err(ran.stderr.first_line());
        }
        match std::fs::read(ran.workspace().join("tried")) {
            Ok(text) if text == b"tried\n" => Ok(()),
            Ok(_) => Err("what a command wrote came back changed".to_owned()),
            Err(error) => Err(format!("what a command wrote cannot be read: {error}")),
        }
    }

    /// Runs the command of `errand` over a copy of its entries.
    pub(crate) fn run(&self, errand: &Errand, limits: &Limits, blobs: &dyn Blobs) -> io::Result<Ran> {
        let workspace_bytes = archive::unpacked_bytes(errand) + CHANGED_BYTES_MAX;
        let written_max = workspace_bytes + ELSEWHERE_BYTES_MAX;
        // What it writes is memory too. Two more processes: bubblewrap, and the shell that sets the limits.
        let group = Group::new(limits.memory_bytes + written_max, limits.processes + 2);
        let root = Root::new(&self.pieces, self.owner)?;
        let mut child = self.command(&errand.order, limits, workspace_bytes, &root).spawn()?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let most = limits.output_bytes;
        let (ready, is_ready) = channel();
        thread::scope(|scope| {
            let stdout = scope.spawn(move || stdout.map(|stream| Stream::after_sign(stream, most, &ready)));
            let stderr = scope.spawn(move || stderr.map(|stream| Stream::read(stream, most)));
            let opened = Opened::when_ready(&child, &is_ready, group.as_ref(), errand.entries.len());
            let opened = match opened {
                Ok(opened) => opened,
                Err(error) => {
                    child.kill()?;
                    child.wait()?;
                    let said = stderr.join().ok().flatten().unwrap_or_default();
                    return Err(if said.bytes > 0 { io::Error::other(said.first_line()) } else { error });
                }
            };
            let now = now_of(&errand.order);
            let unpacked = scope.spawn(move || {
                let mut stdin = stdin.map(io::BufWriter::new);
                stdin.as_mut().map_or(Ok(()), |stdin| archive::write(errand, now, blobs, stdin))
            });
            let mut watch = Watch { limits, opened: &opened, started: Instant::now(), timed_out: false, stopped: None };
            let status = watch.until_it_ends(&mut child);
            let (timed_out, stopped) = (watch.timed_out, watch.stopped);
            // With its first process, everything in the sandbox has ended: the streams are closed.
            let (stdout, stderr) = (stdout.join().ok().flatten(), stderr.join().ok().flatten());
            let (stdout, stderr) = (stdout.unwrap_or_default(), stderr.unwrap_or_default());
            let status = status?;
            if !timed_out && stopped.is_none() {
                unpacked.join().map_err(|_| io::Error::other("the workspace could not be copied"))??;
            }
            let out_of_memory = group.as_ref().is_some_and(Group::ran_out_of_memory);
            let flooded = [&stdout, &stderr].iter().any(|stream| stream.bytes > most as u64 * FLOOD_FACTOR);
            let stopped = stopped
                .or_else(|| out_of_memory.then(|| too_much_memory(limits)))
                .or_else(|| flooded.then(|| "it printed without end".to_owned()));
            let ended = !timed_out && stopped.is_none();
            let exit_code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).filter(|_| ended);
            Ok(Ran { workspace: opened.workspace, exit_code, stdout, stderr, timed_out, stopped })
        })
    }

    /// Returns the command line: what is seen is listed, and nothing else is there.
    fn command(&self, order: &Value, limits: &Limits, workspace_bytes: u64, root: &Root<'_>) -> Command {
        let text = |name: &str| order.get(name).and_then(Value::as_text).unwrap_or_default();
        let filter = Some(root.filter()).filter(|filter| filter.exists());
        let mut command = match &filter {
            None => Command::new(&self.program),
            Some(filter) => {
                let mut command = Command::new("/bin/sh");
                command.args(["-c", WITH_FILTER, "sh"]).arg(filter).arg(&self.program).args(["--seccomp", "9"]);
                command
            }
        };
        command.args(["--unshare-all", "--unshare-user", "--uid", "1000", "--gid", "1000", "--hostname", "office"]);
        // When the first process of the namespace has ended, the kernel has ended all others: nothing goes on once the command is over.
        command.args(["--as-pid-1", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]);
        if self.closes_namespaces {
            command.arg("--disable-userns");
        }
        command.args(root.arguments());
        command.args(["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]);
        command.args(["--perms", "0755", "--size", &workspace_bytes.to_string(), "--tmpfs", WORKSPACE]);
        command.args(["--perms", "1777", "--size", &ELSEWHERE_BYTES_MAX.to_string(), "--tmpfs", "/tmp"]);
        command.args(["--remount-ro", "/", "--chdir", WORKSPACE, "--", "bash", "-c", FIRST, "bash"]);
        let memory_kib = (limits.memory_bytes >> 9).to_string();
        let seconds = (limits.timeout.as_secs() + 1).to_string();
        let file_kib = (FILE_BYTES_MAX >> 10).to_string();
        // The shell that sets the limits is a process too.
        let processes = (limits.processes + 1).to_string();
        command.args([&memory_kib, &processes, &file_kib, &seconds, text("command")]);
        command.arg(format!("{WORKSPACE}{}", text("folder").trim_end_matches('/')));
        command.arg((now_of(order).as_millis().div_euclid(1000)).to_string());
        command.env_clear();
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin").env("HOME", "/tmp").env("USER", "user");
        command.env("LANG", "C.UTF-8").env("TZ", text("zone")).env("TMPDIR", "/tmp").env("TERM", "dumb");
        command.current_dir(root.folder());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(owner) = self.owner {
            command.uid(owner).gid(owner);
        }
        command
    }
}

/// Returns what time it is in the simulation.
fn now_of(order: &Value) -> SimTime {
    order.get("now").and_then(Value::as_int).map(SimTime::from_millis).unwrap_or_default()
}

/// The file systems that a command writes to, opened from outside: they can be looked at, and last until this is dropped.
struct Opened {
    workspace: File,
    elsewhere: File,
    /// How many files and folders there may be.
    files_max: u64,
}

impl Opened {
    /// Waits until the first shell is there.
    fn when_ready(child: &Child, is_ready: &Receiver<()>, group: Option<&Group>, entries: usize) -> io::Result<Self> {
        match is_ready.recv_timeout(PROBE) {
            Ok(()) => {}
            Err(RecvTimeoutError::Timeout) => return Err(io::Error::other("bubblewrap does not start")),
            Err(RecvTimeoutError::Disconnected) => return Err(io::Error::other("bubblewrap ended at once")),
        }
        let inside = processes::below(child.id());
        let first = inside.first().ok_or_else(|| io::Error::other("the sandbox has no process"))?;
        if let Some(group) = group {
            [child.id()].iter().chain(&inside).for_each(|process| group.take(*process));
        }
        let open = |path: &str| File::open(format!("/proc/{first}/root{path}"));
        Ok(Self { workspace: open(WORKSPACE)?, elsewhere: open("/tmp")?, files_max: FILES_MAX + entries as u64 })
    }
}

/// Watches over a running command.
struct Watch<'a> {
    limits: &'a Limits,
    opened: &'a Opened,
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
            return Some(too_much_memory(self.limits));
        }
        // The shell that sets the limits is one of them.
        if usage.processes > processes + 1 {
            return Some(format!("it had more than {processes} processes"));
        }
        // How much is written the kernel limits; how many files there are it does not.
        let files = [&self.opened.workspace, &self.opened.elsewhere].map(files_on).iter().sum::<u64>();
        (files > self.opened.files_max).then(|| format!("it made more than {FILES_MAX} files"))
    }
}

fn too_much_memory(limits: &Limits) -> String {
    format!("it took more than {} MiB of memory", limits.memory_bytes >> 20)
}

/// Returns how many files and folders there are on a file system, also such as have no name any more.
fn files_on(folder: &File) -> u64 {
    rustix::fs::fstatvfs(folder).map_or(0, |system| system.f_files.saturating_sub(system.f_ffree))
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

impl Stream {
    /// Reads the sign that the first shell gives, says so, then goes on as [`Self::read`] does.
    fn after_sign(mut stream: impl Read, most: usize, ready: &Sender<()>) -> Self {
        let mut sign = [0];
        match stream.read_exact(&mut sign) {
            Ok(()) if sign == *b"." && ready.send(()).is_ok() => Self::read(stream, most),
            Ok(()) | Err(_) => Self::default(),
        }
    }

    /// Returns its first line, or that there is none.
    fn first_line(&self) -> String {
        String::from_utf8_lossy(&self.kept).lines().next().unwrap_or("it says nothing").to_owned()
    }

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
    /// Returns where the workspace can be read.
    pub(crate) fn workspace(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.workspace.as_raw_fd()))
    }

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
