//! What was acknowledged outlives a `kill -9` and a power cut. The test starts itself as the process that appends, ends that at random moments,
//! opening included, and looks at what is left.
//!
//! `DAYSHIFT_CRASH_TRIALS` and `DAYSHIFT_POWER_CUTS` raise the number of trials per backend; `DAYSHIFT_CRASH_SEED` chooses the moments. A power cut
//! is a loop-mounted ext4 file system that is shut down without flushing its log, which takes root; where that cannot be had, the run says so.

#![expect(
    clippy::disallowed_methods,
    reason = "a crash test is about real time, real processes and the settings of its run"
)]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use dayshift_engine::{Head, RecordHash};
use dayshift_stores::conformance::{grow, id};
use dayshift_stores::sample::{follow, record};
use dayshift_stores::{Append, BranchId, Finding, Kind, NewBranch, Parent, Store, StoreError, Ticket, open};

const KILLS: u64 = 6;
const POWER_CUTS: u64 = 2;

/// How many trials share a folder before a fresh one is taken.
const TRIALS_PER_FOLDER: u64 = 20;

const THREADS: u64 = 4;

/// The size of a disk whose power is cut (2 GiB), and of one that fills up (32 MiB).
const DISK_BYTES: u64 = 2 << 30;
const SMALL_DISK_BYTES: u64 = 32 << 20;

/// What is removed from a full disk before it is looked at (18 MiB): a log that was not closed is copied first.
const BALLAST_BYTES: usize = 18 << 20;

/// After how many appends a thread goes on in a new branch.
const APPENDS_PER_BRANCH: u64 = 40;

/// How often a file system is mounted again before it counts as lost.
const REMOUNTS_MAX: u64 = 100;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [_, "append-until-killed", kind, path, seed] => {
            child(kind_of(kind), Path::new(path), seed.parse().unwrap_or(1))
        }
        [_, "--list", ..] => println!("crash: test"),
        _ => parent(),
    }
}

fn parent() {
    let seed = setting("DAYSHIFT_CRASH_SEED", 1);
    let kills = setting("DAYSHIFT_CRASH_TRIALS", KILLS);
    let cuts = setting("DAYSHIFT_POWER_CUTS", POWER_CUTS);
    for kind in [Kind::Segment, Kind::Sled] {
        let mut tally = Tally::default();
        let mut random = Random(seed ^ 0x5eed);
        for first in (0..kills).step_by(TRIALS_PER_FOLDER as usize) {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let mut site = Site::new(kind, folder.path().join("store"));
            for trial in first..kills.min(first + TRIALS_PER_FOLDER) {
                site.trial(seed + trial, &mut random, &mut tally, &mut |_| ());
            }
        }
        println!("kill -9, {kind:?}: {tally}");
        match Disk::new(DISK_BYTES) {
            None => println!("power cut, {kind:?}: not tried, this machine lets nobody mount a loop device here"),
            Some(disk) => {
                let mut tally = Tally::default();
                let mut site = Site::new(kind, disk.mount.join("store"));
                for trial in 0..cuts {
                    site.trial(seed + trial, &mut random, &mut tally, &mut |cut| match cut {
                        Cut::Off => disk.cut(),
                        Cut::Back => disk.back(),
                    });
                }
                println!("power cut, {kind:?}: {tally}");
            }
        }
        if let Some(disk) = Disk::new(SMALL_DISK_BYTES) {
            let mut tally = Tally::default();
            let ballast = disk.mount.join("ballast");
            std::fs::write(&ballast, vec![0; BALLAST_BYTES]).expect("the ballast is written");
            Site::new(kind, disk.mount.join("store")).fill_up(seed, &ballast, &mut tally);
            println!("full disk, {kind:?}: {tally}");
        }
    }
}

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn kind_of(name: &str) -> Kind {
    if name == Kind::Sled.as_str() { Kind::Sled } else { Kind::Segment }
}

/// What is done around the kill.
enum Cut {
    /// Before it: the power goes.
    Off,
    /// After it: the power is back.
    Back,
}

#[derive(Default)]
struct Tally {
    trials: u64,
    while_opening: u64,
    acknowledged: u64,
    torn: u64,
}

impl std::fmt::Display for Tally {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { trials, while_opening, acknowledged, torn } = self;
        write!(
            formatter,
            "{trials} trials ({while_opening} while opening), {acknowledged} acknowledged records, 0 lost, {torn} unfinished writes cut off"
        )
    }
}

/// A store that is crashed again and again, and what it acknowledged.
struct Site {
    kind: Kind,
    path: PathBuf,
    acknowledged: BTreeMap<String, (u64, String)>,
}

impl Site {
    fn new(kind: Kind, path: PathBuf) -> Self {
        Self { kind, path, acknowledged: BTreeMap::new() }
    }

    fn trial(&mut self, seed: u64, random: &mut Random, tally: &mut Tally, around: &mut dyn FnMut(Cut)) {
        let Running { mut child, reader, opened } = Running::start(self.kind, &self.path, seed);
        if random.below(4) > 0 {
            while !opened.load(Ordering::Acquire) && child.try_wait().expect("the child is asked").is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
            std::thread::sleep(Duration::from_micros(random.below(250_000)));
        } else {
            std::thread::sleep(Duration::from_micros(random.below(60_000)));
        }
        around(Cut::Off);
        child.kill().expect("the child is killed");
        child.wait().expect("the child is gone");
        let acknowledged = reader.join().expect("the reader reads to the end");
        around(Cut::Back);
        tally.trials += 1;
        tally.while_opening += u64::from(!opened.load(Ordering::Acquire));
        for (branch, count, hash) in acknowledged {
            let before = self.acknowledged.insert(branch, (count, hash)).map_or(0, |(count, _)| count);
            tally.acknowledged += count.saturating_sub(before);
        }
        self.inspect(seed, tally);
    }

    /// Lets the process append until nothing more fits, and it ends by itself.
    fn fill_up(&mut self, seed: u64, ballast: &Path, tally: &mut Tally) {
        let Running { mut child, reader, opened } = Running::start(self.kind, &self.path, seed);
        let ended = child.wait().expect("the child ends");
        assert!(
            ended.success() && opened.load(Ordering::Acquire),
            "{:?}: a full disk is an error, no crash",
            self.kind
        );
        for (branch, count, hash) in reader.join().expect("the reader reads to the end") {
            let before = self.acknowledged.insert(branch, (count, hash)).map_or(0, |(count, _)| count);
            tally.acknowledged += count.saturating_sub(before);
        }
        assert!(tally.acknowledged > 0, "something fits before the disk is full");
        tally.trials += 1;
        std::fs::remove_file(ballast).expect("the ballast is removed");
        self.inspect(seed, tally);
    }

    /// Opens what is left and looks whether everything acknowledged is there, and whether it goes on.
    fn inspect(&mut self, seed: u64, tally: &mut Tally) {
        let place = format!("{:?}, seed {seed}", self.kind);
        let store = open(&self.path, Some(self.kind)).unwrap_or_else(|error| panic!("{place}: does not open: {error}"));
        for finding in store.findings() {
            assert!(matches!(finding, Finding::TornTail { .. }), "{place}: {finding}");
            tally.torn += 1;
        }
        for (branch, (count, hash)) in &self.acknowledged {
            let branch = id(branch);
            let head = store.verify(&branch, &mut |_| ()).unwrap_or_else(|error| panic!("{place}: {error}"));
            assert!(head.count >= *count, "{place}: {branch} has {} of {count} acknowledged records", head.count);
            if let Some(last) = count.checked_sub(1) {
                let mut found = String::new();
                let read = store.read(&branch, last, &mut |record| {
                    found = RecordHash::of(record).to_string();
                    ControlFlow::Break(())
                });
                read.unwrap_or_else(|error| panic!("{place}: {error}"));
                assert_eq!(&found, hash, "{place}: record {last} of {branch} is another one");
            }
        }
        let last = store.branches().expect("branches are listed").pop();
        for info in store.branches().expect("branches are listed") {
            store.verify(&info.id, &mut |_| ()).unwrap_or_else(|error| panic!("{place}: {error}"));
        }
        if let Some(info) = last {
            let head = grow(&*store, info.id.as_str(), 2, 100);
            self.acknowledged.insert(info.id.to_string(), (head.count, head.hash.to_string()));
        }
    }
}

type Acknowledged = Vec<(String, u64, String)>;

/// The process that appends.
struct Running {
    child: Child,
    /// Reads what it acknowledges.
    reader: JoinHandle<Acknowledged>,
    /// Whether its store is open.
    opened: Arc<AtomicBool>,
}

impl Running {
    fn start(kind: Kind, path: &Path, seed: u64) -> Self {
        let program = std::env::current_exe().expect("the test knows its own program");
        let mut command = Command::new(program);
        command.arg("append-until-killed").arg(kind.as_str()).arg(path).arg(seed.to_string());
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the child starts");
        let output = child.stdout.take().expect("its output is piped");
        let opened = Arc::new(AtomicBool::new(false));
        let tell = Arc::clone(&opened);
        let reader = std::thread::Builder::new().spawn(move || acknowledged(output, &tell)).expect("a thread starts");
        Self { child, reader, opened }
    }
}

/// Reads `open`, and then `BRANCH COUNT HASH` for every append that became durable. A line that the kill cut off does not count.
fn acknowledged(output: impl Read, opened: &AtomicBool) -> Acknowledged {
    let mut lines = BufReader::new(output);
    let mut acknowledged = Vec::new();
    let mut line = String::new();
    while lines.read_line(&mut line).is_ok_and(|bytes| bytes > 0) && line.ends_with('\n') {
        match line.split_whitespace().collect::<Vec<_>>()[..] {
            ["open"] => opened.store(true, Ordering::Release),
            [branch, count, hash] => {
                acknowledged.push((branch.to_owned(), count.parse().expect("a count"), hash.to_owned()));
            }
            _ => panic!("the child said {line:?}"),
        }
        line.clear();
    }
    acknowledged
}

fn child(kind: Kind, path: &Path, seed: u64) {
    let store: Arc<dyn Store> = match open(path, Some(kind)) {
        Ok(store) => store.into(),
        // The power is gone already.
        Err(StoreError::Io { .. }) => return,
        Err(other) => panic!("the child cannot open the store: {other}"),
    };
    say("open\n");
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let store = &store;
            scope.spawn(move || {
                let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (thread + 1));
                // Ends when the store does.
                let _the_power_is_gone = append_for_ever(&**store, thread, &mut random);
            });
        }
    });
}

fn append_for_ever(store: &dyn Store, thread: u64, random: &mut Random) -> Result<(), StoreError> {
    let prefix = format!("w{thread}-");
    let mine: Vec<_> = store.branches()?.into_iter().filter(|info| info.id.as_str().starts_with(&prefix)).collect();
    let mut number = mine.len() as u64;
    let mut last = mine.last().map(|info| (info.id.clone(), info.head));
    loop {
        let branch = BranchId::new(format!("{prefix}{number}"))?;
        let parent = last.filter(|_| random.below(2) == 0);
        let parent = parent.map(|(branch, head)| Parent { branch, count: random.below(head.count + 1) });
        store.create(NewBranch { id: branch.clone(), parent, note: vec![7; 20] })?;
        let mut after = store.head(&branch)?;
        acknowledge(&branch, after);
        let mut waiting: Vec<Ticket> = Vec::new();
        for _ in 0..APPENDS_PER_BRANCH {
            let append = batch(&branch, after, random);
            let ticket = store.append(append)?;
            after = ticket.head();
            waiting.push(ticket);
            if waiting.len() > random.below(4) as usize {
                for ticket in waiting.drain(..) {
                    acknowledge(&branch, ticket.wait()?);
                }
            }
        }
        for ticket in waiting {
            acknowledge(&branch, ticket.wait()?);
        }
        if random.below(8) == 0 {
            store.set_note(&branch, vec![8; 100])?;
        }
        last = Some((branch, after));
        number += 1;
    }
}

fn batch(branch: &BranchId, after: Head, random: &mut Random) -> Append {
    let mut head = after;
    let records = (0..=random.below(8)).map(|_| {
        let body_bytes = if random.below(60) == 0 { 12_000 } else { random.below(500) };
        let record = record(head, body_bytes as usize);
        head = follow(head, &record);
        record
    });
    Append { branch: branch.clone(), after, records: records.collect(), blobs: Vec::new() }
}

fn acknowledge(branch: &BranchId, head: Head) {
    say(&format!("{branch} {} {}\n", head.count, head.hash));
}

fn say(line: &str) {
    let mut output = std::io::stdout().lock();
    // When nobody listens the test is over.
    let _nobody_listens = output.write_all(line.as_bytes()).and_then(|()| output.flush());
}

/// A loop-mounted file system whose power can be cut.
struct Disk {
    folder: tempfile::TempDir,
    mount: PathBuf,
}

impl Disk {
    fn new(bytes: u64) -> Option<Self> {
        let folder = tempfile::tempdir().ok()?;
        let mount = folder.path().join("mount");
        std::fs::create_dir(&mount).ok()?;
        let image = folder.path().join("image");
        std::fs::File::create(&image).and_then(|file| file.set_len(bytes)).ok()?;
        run("mkfs.ext4", &["-q".as_ref(), "-F".as_ref(), image.as_os_str()]).ok()?;
        let disk = Self { folder, mount };
        run("mount", &["-o".as_ref(), "loop".as_ref(), image.as_os_str(), disk.mount.as_os_str()]).ok()?;
        Some(disk)
    }

    /// Shuts the file system down without flushing its log: what was not synced is gone.
    fn cut(&self) {
        let program = "import fcntl, os, struct, sys; \
            fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587d, struct.pack('I', 2))";
        run("python3", &["-c".as_ref(), program.as_ref(), self.mount.as_os_str()])
            .expect("the file system is shut down");
    }

    /// Mounts what reached the disk.
    fn back(&self) {
        let image = self.folder.path().join("image");
        // A process that took a copy of the mounts meanwhile (a sandbox) keeps the file system, still without power, until it ends.
        for _ in 0..REMOUNTS_MAX {
            run("umount", &[self.mount.as_os_str()]).expect("the file system is unmounted");
            run("mount", &["-o".as_ref(), "loop".as_ref(), image.as_os_str(), self.mount.as_os_str()])
                .expect("mounted");
            if std::fs::read_dir(&self.mount).is_ok_and(|mut entries| entries.all(|entry| entry.is_ok())) {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("the file system stays without power: somebody else keeps it mounted");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _it_may_not_be_mounted = run("umount", &[self.mount.as_os_str()]);
    }
}

fn run(program: &str, arguments: &[&std::ffi::OsStr]) -> Result<(), String> {
    let output = Command::new(program).args(arguments).output().map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

/// Moments and sizes that a seed repeats (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound.max(1)
    }
}
