//! Processes that evaluate scripts: how they are started and what they may use. The kernel holds each to its memory, and it is ended when an
//! evaluation takes too much processor time or memory, or crashes; whoever waits for it then gets a sentence, and the next evaluation a new process.

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt, parent_id};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use dayshift_scenarios::{SCRIPT_MESSAGE_BYTES_MAX, ScriptHost, ScriptProcess};

/// How much processor time one evaluation may take. Time counts here only as the last resort: what a script may do is counted in steps.
pub const SCRIPT_CPU_MAX: Duration = Duration::from_millis(1500);

/// How much memory a process that evaluates scripts may hold, in bytes (192 MiB).
pub const SCRIPT_RESIDENT_BYTES_MAX: u64 = 192 << 20;

/// How much the kernel lets such a process reserve for data, in KiB: its memory, its stack, and what its runtime keeps.
const DATA_KIB: u64 = 640 << 10;

/// How long an evaluation may take by the clock, where processor time cannot be told or the machine is busy with other things.
const WALL_MAX: Duration = Duration::from_secs(60);

/// How often it is looked what an evaluation takes.
const WATCH: Duration = Duration::from_millis(10);

/// How often a process looks whether whoever started it is still there.
const ORPHAN: Duration = Duration::from_millis(500);

/// How many clock ticks of processor time Linux counts in a second.
const TICKS_PER_SECOND: u64 = 100;

/// How large a page of memory is, in bytes.
const PAGE_BYTES: u64 = 4096;

/// The first bytes that such a process writes: it is one, and of this version.
const HELLO: &[u8] = concat!("dayshift scripts ", env!("CARGO_PKG_VERSION"), "\n").as_bytes();

/// Sets the limits that are the kernel's, then becomes the program.
const LIMITED: &str = "ulimit -c 0; ulimit -n 64; ulimit -d \"$1\"; shift; exec \"$@\"";

/// Starts processes by running a program.
#[derive(Clone, Debug)]
pub struct ScriptWorkers {
    program: PathBuf,
    arguments: Vec<String>,
}

impl ScriptWorkers {
    /// Returns those that `program` becomes with `arguments`, by calling [`serve_scripts`].
    #[must_use]
    pub fn new(program: PathBuf, arguments: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { program, arguments: arguments.into_iter().map(Into::into).collect() }
    }
}

impl ScriptHost for ScriptWorkers {
    fn start(&self) -> Result<Box<dyn ScriptProcess>, String> {
        let fault = |error: io::Error| format!("{}: {error}", self.program.display());
        let mut command = Command::new("/bin/sh");
        command.args(["-c", LIMITED, "sh", &DATA_KIB.to_string()]).arg(&self.program).args(&self.arguments);
        // What interrupts this program is not meant for it.
        command.current_dir("/").process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(fault)?;
        let (Some(stdin), Some(mut stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("its streams are not there".to_owned());
        };
        // One message at a time: the other side waits for an answer to each.
        let (sender, messages) = sync_channel(1);
        thread::Builder::new()
            .name("dayshift-scripts".to_owned())
            .spawn(move || {
                let mut hello = vec![0; HELLO.len()];
                let mut next = stdout.read_exact(&mut hello).map(|()| hello);
                while next.is_ok() && sender.send(next).is_ok() {
                    next = read_message(&mut stdout);
                }
            })
            .map_err(fault)?;
        let now = Instant::now();
        let mut worker =
            Worker { child, stdin, messages, owner: std::process::id(), began: now, cpu_before: Duration::ZERO };
        match worker.receive() {
            Ok(hello) if hello == HELLO => Ok(Box::new(worker)),
            Ok(_) => Err(format!("{} is another version of this program; start it again", self.program.display())),
            Err(why) => Err(format!("{} {why}", self.program.display())),
        }
    }
}

struct Worker {
    child: Child,
    stdin: ChildStdin,
    messages: Receiver<io::Result<Vec<u8>>>,
    /// The process that started it.
    owner: u32,
    began: Instant,
    cpu_before: Duration,
}

impl ScriptProcess for Worker {
    fn is_usable(&mut self) -> bool {
        self.is_ours() && matches!(self.child.try_wait(), Ok(None))
    }

    fn begin(&mut self) {
        self.began = Instant::now();
        self.cpu_before = usage(self.child.id()).map_or(Duration::ZERO, |usage| usage.cpu);
    }

    fn send(&mut self, message: &[u8]) -> Result<(), String> {
        let size = u32::try_from(message.len()).map_err(|_| "is given too much at once".to_owned())?;
        let sent = self.stdin.write_all(&size.to_le_bytes()).and_then(|()| self.stdin.write_all(message));
        sent.map_err(|_| self.why_it_ended())
    }

    fn receive(&mut self) -> Result<Vec<u8>, String> {
        loop {
            match self.messages.recv_timeout(WATCH) {
                Ok(Ok(message)) => return Ok(message),
                Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => return Err(self.why_it_ended()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Some(why) = self.fault() {
                // What is killed already has ended by itself, which is as well.
                let _ = self.child.kill();
                return Err(why);
            }
        }
    }
}

impl Worker {
    fn is_ours(&self) -> bool {
        self.owner == std::process::id()
    }

    /// Returns what the evaluation takes too much of.
    fn fault(&self) -> Option<String> {
        if self.began.elapsed() > WALL_MAX {
            return Some(format!("took more than {} seconds; let it do less", WALL_MAX.as_secs()));
        }
        let usage = usage(self.child.id())?;
        if usage.cpu.saturating_sub(self.cpu_before) > SCRIPT_CPU_MAX {
            let seconds = SCRIPT_CPU_MAX.as_secs_f64();
            return Some(format!("took more than {seconds} seconds of processor time; let it do less"));
        }
        (usage.resident_bytes > SCRIPT_RESIDENT_BYTES_MAX).then(too_much_memory)
    }

    /// Returns why the process is gone.
    fn why_it_ended(&mut self) -> String {
        // Its stream is closed, so that this does not take long; if it does, it is ended.
        let started = Instant::now();
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if started.elapsed() < WATCH * 100 => thread::sleep(Duration::from_millis(1)),
                Ok(None) | Err(_) => {
                    let _ = self.child.kill();
                    break self.child.wait().ok();
                }
            }
        };
        status.map_or_else(|| "ended for no known reason; try again".to_owned(), ending)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // In a process that was forked off, the child belongs to somebody else.
        if self.is_ours() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

fn ending(status: ExitStatus) -> String {
    const ABORTED: i32 = 6;
    const BUS: i32 = 7;
    const KILLED: i32 = 9;
    const SEGMENT: i32 = 11;
    match status.signal() {
        Some(SEGMENT | BUS) => "overflowed the stack; nest values less deep".to_owned(),
        Some(ABORTED | KILLED) => too_much_memory(),
        Some(signal) => format!("was ended by signal {signal}; try again"),
        None => format!("ended its process with {}; try again", status.code().unwrap_or(-1)),
    }
}

fn too_much_memory() -> String {
    format!("took more than {} MiB of memory; keep less at once", SCRIPT_RESIDENT_BYTES_MAX >> 20)
}

/// What a process has taken.
struct Usage {
    cpu: Duration,
    resident_bytes: u64,
}

/// Returns what the process `id` has taken; nothing where the system does not say.
fn usage(id: u32) -> Option<Usage> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name, in parentheses, may hold anything.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let ticks = number(11)?.saturating_add(number(12)?);
    Some(Usage {
        cpu: Duration::from_millis(ticks.saturating_mul(1000) / TICKS_PER_SECOND),
        resident_bytes: number(21)?.saturating_mul(PAGE_BYTES),
    })
}

fn read_message(stream: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut size = [0; 4];
    stream.read_exact(&mut size)?;
    let size = u32::from_le_bytes(size) as usize;
    if size > SCRIPT_MESSAGE_BYTES_MAX {
        return Err(io::Error::other("a message that is too long"));
    }
    let mut message = vec![0; size];
    stream.read_exact(&mut message)?;
    Ok(message)
}

/// Is a process that evaluates scripts: answers on the standard streams until they end, or whoever started it does.
///
/// # Errors
///
/// When the streams break off in the middle of a message.
pub fn serve_scripts() -> io::Result<()> {
    let starter = parent_id();
    // A script that runs on would not see that its streams are closed.
    thread::spawn(move || {
        while parent_id() == starter {
            thread::sleep(ORPHAN);
        }
        std::process::exit(0);
    });
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    output.write_all(HELLO)?;
    output.flush()?;
    dayshift_scenarios::serve_scripts(&mut input, &mut output)
}
