//! A control group for one command, where this program may make one: the kernel then counts all its memory, also what no process shows, and its
//! processes. Without one, the limits of single processes, the sizes of its file systems and the watch hold alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// Where control groups are mounted.
const MOUNT: &str = "/sys/fs/cgroup";

/// How often removing a group is tried: its last processes may still be on their way out.
const REMOVALS: u32 = 50;

/// One of the two versions of one group; the first one has a folder for each controller.
#[derive(Debug)]
pub(crate) struct Group {
    folders: Vec<PathBuf>,
    /// Where the kernel counts the processes that it ended for want of memory.
    ended: Option<PathBuf>,
}

impl Group {
    /// Makes a group of at most so much; nothing where that is not possible.
    pub(crate) fn new(memory_bytes: u64, processes: u32) -> Option<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let name = format!("dayshift-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let mut group = Self { folders: Vec::new(), ended: None };
        for line in own.lines() {
            let mut parts = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
            let path = path.trim_start_matches('/');
            if controllers.is_empty() {
                group.unified(&Path::new(MOUNT).join(path).join(&name), memory_bytes, processes);
            } else if controllers.split(',').any(|controller| controller == "memory") {
                group.memory(&Path::new(MOUNT).join("memory").join(path).join(&name), memory_bytes);
            } else if controllers.split(',').any(|controller| controller == "pids") {
                group.pids(&Path::new(MOUNT).join("pids").join(path).join(&name), processes);
            }
        }
        (!group.folders.is_empty()).then_some(group)
    }

    /// Takes a process in, with all that it starts from now on.
    pub(crate) fn take(&self, process: u32) {
        for folder in &self.folders {
            // A process that has ended needs no group.
            let _ = fs::write(folder.join("cgroup.procs"), process.to_string());
        }
    }

    /// Returns whether the kernel ended a process because the group had taken all its memory.
    pub(crate) fn ran_out_of_memory(&self) -> bool {
        let text = self.ended.as_ref().and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
        text.lines().filter_map(|line| line.strip_prefix("oom_kill ")).any(|count| count.trim() != "0")
    }

    fn unified(&mut self, folder: &Path, memory_bytes: u64, processes: u32) {
        if fs::create_dir(folder).is_err() {
            return;
        }
        self.folders.push(folder.to_owned());
        if fs::write(folder.join("memory.max"), memory_bytes.to_string()).is_err() {
            // The controllers are with the first version, or were not handed down.
            let _ = fs::remove_dir(folder);
            self.folders.pop();
            return;
        }
        let _ = fs::write(folder.join("memory.swap.max"), "0");
        let _ = fs::write(folder.join("memory.oom.group"), "1");
        let _ = fs::write(folder.join("pids.max"), processes.to_string());
        self.ended = Some(folder.join("memory.events"));
    }

    fn memory(&mut self, folder: &Path, memory_bytes: u64) {
        if fs::create_dir(folder).is_err() {
            return;
        }
        self.folders.push(folder.to_owned());
        let _ = fs::write(folder.join("memory.limit_in_bytes"), memory_bytes.to_string());
        let _ = fs::write(folder.join("memory.memsw.limit_in_bytes"), memory_bytes.to_string());
        self.ended = Some(folder.join("memory.oom_control"));
    }

    fn pids(&mut self, folder: &Path, processes: u32) {
        if fs::create_dir(folder).is_ok() {
            self.folders.push(folder.to_owned());
            let _ = fs::write(folder.join("pids.max"), processes.to_string());
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for folder in &self.folders {
            for _ in 0..REMOVALS {
                if fs::remove_dir(folder).is_ok() || !folder.exists() {
                    break;
                }
                thread::sleep(Duration::from_millis(2));
            }
        }
    }
}
