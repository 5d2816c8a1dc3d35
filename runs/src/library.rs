//! The runs of one store: starting, resuming, forking, finding, moving.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, Hasher};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use dayshift_engine::codec::Stored;
use dayshift_engine::{BlobId, Blobs, Episode, Head, Host, Log, MemoryBlobs, RecordHash, Seed, Seq, Step};
use dayshift_scenarios::{Package, Scenario, built_in};
use dayshift_services::Office;
use dayshift_stores::{BranchId, BranchInfo, Damage, Finding, NewBranch, Parent, PortableLog, Store, StoreError};
use serde::Serialize;

use crate::blobs::StoreBlobs;
use crate::error::RunError;
use crate::live::LiveRun;
use crate::note::RunNote;
use crate::office::office;
use crate::recorder::{Recorder, append_of};
use crate::run::Run;
use crate::signature::{PublicKey, SecretKey, SignatureState, signature_state};

/// How the branches are named that hold a scenario's initial world.
const PREFIX: &str = "prefix-";

/// How many names are tried for a scenario's initial world before something is wrong with more than a branch.
const PREFIX_ATTEMPTS_MAX: u32 = 100;

/// The ending of an exported log.
pub const LOG_ENDING: &str = "dayshift";

/// A store as a library of runs.
pub struct Library {
    store: Arc<dyn Store>,
    blobs: Arc<dyn Blobs>,
    host: Option<Arc<dyn Host>>,
    key: Option<SecretKey>,
    /// The initial worlds that this library has held against the store's.
    checked: Mutex<BTreeMap<RecordHash, BranchId>>,
}

/// What an import that takes what it can get brought in.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The new run.
    pub id: BranchId,
    /// How many records it has.
    pub records: u64,
    /// What is wrong with the file, if anything is.
    pub fault: Option<Damage>,
    /// The blobs that its records name and that are nowhere to be had.
    pub blobs_missing: Vec<BlobId>,
}

/// One run, as a list shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunInfo {
    /// Its id.
    pub id: BranchId,
    /// Where its log ends.
    pub head: Head,
    /// What is kept beside it.
    pub note: RunNote,
}

/// One run, as programs read a list. Public interface: change it only with a CHANGELOG line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunRow {
    /// Its id.
    pub run: String,
    /// The scenario's id.
    pub scenario: String,
    /// The seed.
    pub seed: u64,
    /// Who played.
    pub agent: String,
    /// How many records its log has.
    pub records: u64,
    /// The hash at the end, hexadecimal.
    pub head: String,
    /// The score, once it has ended.
    pub score: Option<f64>,
    /// Whether it has ended.
    pub finished: bool,
    /// The run and position that it was forked from.
    pub forked_from: Option<(String, u64)>,
    /// The fields that only the note beside the log says: whoever can write to the store can write them.
    pub claimed: &'static [&'static str],
}

/// What a list takes from the note beside a log.
const CLAIMED: &[&str] = &["scenario", "seed", "agent", "score", "finished"];

impl From<&RunInfo> for RunRow {
    fn from(info: &RunInfo) -> Self {
        let RunInfo { id, head, note } = info;
        Self {
            run: id.to_string(),
            scenario: note.scenario.clone(),
            seed: note.seed,
            agent: note.agent.clone(),
            records: head.count,
            head: head.hash.to_string(),
            score: note.score,
            finished: note.finished,
            forked_from: note.forked_from.clone(),
            claimed: CLAIMED,
        }
    }
}

impl Library {
    /// Returns the library of `store`.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        let blobs = Arc::new(StoreBlobs::new(Arc::clone(&store)));
        Self { store, blobs, host: None, key: None, checked: Mutex::default() }
    }

    /// Lets the calls of runs that are played send `host` on errands, such as running a command. Without it they are refused.
    #[must_use]
    pub fn with_host(self, host: Arc<dyn Host>) -> Self {
        Self { host: Some(host), ..self }
    }

    /// Signs runs that are played from now on with `key` when they end.
    #[must_use]
    pub fn with_key(self, key: SecretKey) -> Self {
        Self { key: Some(key), ..self }
    }

    /// Opens the library in the folder `path`; a new one is made with sled.
    ///
    /// # Errors
    ///
    /// [`RunError::Store`] when the folder is in use elsewhere or is no store.
    pub fn open(path: &Path) -> Result<Self, RunError> {
        Ok(Self::new(Arc::from(dayshift_stores::open(path, None)?)))
    }

    /// Opens the library in the folder `path` to be read: nothing is written, locked or made, so it works on a full disk, in a folder that cannot be
    /// written, and beside a process that plays. A log in quarantine can be opened too.
    ///
    /// # Errors
    ///
    /// [`RunError::Store`] when the folder is no store or cannot be read.
    pub fn open_reading(path: &Path) -> Result<Self, RunError> {
        Ok(Self::new(Arc::from(dayshift_stores::open_reading(path)?)))
    }

    /// Returns the store.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Returns what the store noticed and mended when it was opened.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        self.store.findings()
    }

    /// Returns the runs, oldest first.
    ///
    /// # Errors
    ///
    /// [`RunError::Store`] when the store refuses.
    pub fn list(&self) -> Result<Vec<RunInfo>, RunError> {
        let mut branches: Vec<BranchInfo> = self.store.branches()?;
        // A run has a note and an initial world has none, so a run of any name is listed.
        branches.retain(|branch| !is_prefix(branch));
        branches.sort_by_key(|branch| branch.rank);
        let info =
            |branch: BranchInfo| RunInfo { id: branch.id, head: branch.head, note: RunNote::from_bytes(&branch.note) };
        Ok(branches.into_iter().map(info).collect())
    }

    /// Returns the run that `name` means: an id, a unique beginning of one, or `last`.
    ///
    /// # Errors
    ///
    /// [`RunError::Empty`], [`RunError::Unknown`] or [`RunError::Ambiguous`].
    pub fn resolve(&self, name: &str) -> Result<BranchId, RunError> {
        let runs = self.list()?;
        if name == "last" {
            return runs.last().map(|run| run.id.clone()).ok_or(RunError::Empty);
        }
        if let Some(run) = runs.iter().find(|run| run.id.as_str() == name) {
            return Ok(run.id.clone());
        }
        let mut found: Vec<BranchId> =
            runs.into_iter().map(|run| run.id).filter(|id| !name.is_empty() && id.as_str().starts_with(name)).collect();
        match found.len() {
            0 => Err(RunError::Unknown(name.to_owned())),
            1 => Ok(found.remove(0)),
            _ => Err(RunError::Ambiguous {
                prefix: name.to_owned(),
                runs: found.iter().map(ToString::to_string).collect(),
            }),
        }
    }

    /// Loads the run `id`.
    ///
    /// # Errors
    ///
    /// [`RunError::Store`] when it is damaged; as [`Run::new`] otherwise.
    pub fn load(&self, id: &BranchId) -> Result<Run, RunError> {
        let info = self.info(id)?;
        Run::new(id.to_string(), info.note, self.records(id)?, Arc::clone(&self.blobs))
    }

    /// Walks the chain of the run `id` and looks at every blob that it names. `progress` hears how many records were walked.
    ///
    /// # Errors
    ///
    /// [`RunError::Store`] names the first record or blob at fault.
    pub fn verify(&self, id: &BranchId, mut progress: impl FnMut(u64)) -> Result<Verified, RunError> {
        let head = self.store.verify(id, &mut progress)?;
        let blobs = self.blobs_of(id)?;
        for blob in &blobs {
            self.store.blob(*blob)?.ok_or(RunError::BlobMissing(*blob))?;
        }
        Ok(Verified { head, blobs: blobs.len() })
    }

    /// Returns how the run `id` stands to the signature beside it, of which `trusted` names the keys that the reader trusts.
    ///
    /// # Errors
    ///
    /// [`RunError::Store`] when it is damaged or not there.
    pub fn signature(&self, id: &BranchId, trusted: &[PublicKey]) -> Result<SignatureState, RunError> {
        let note = self.info(id)?.note;
        Ok(signature_state(&self.records(id)?, &note, trusted))
    }

    /// Starts a run of `scenario`: lays out the initial world, once for all its runs, and opens the first day.
    ///
    /// # Errors
    ///
    /// [`RunError::Episode`] when the scenario cannot be laid out, [`RunError::Store`] when the store refuses.
    pub fn start(&self, scenario: &Scenario<Office>, seed: Seed, agent: &str) -> Result<(LiveRun, Step), RunError> {
        let prefix = scenario.prefix(office(scenario), &self.blobs)?;
        let shared = self.keep_prefix(prefix.log())?;
        let (episode, step) = Episode::open(&prefix, seed, scenario.script(), Arc::clone(&self.blobs))?;
        let note = RunNote {
            scenario: scenario.id().to_string(),
            seed: seed.get(),
            agent: agent.to_owned(),
            ..RunNote::default()
        };
        let parent = Parent { branch: shared, count: prefix.log().head().count };
        let live = self.begin(episode, scenario.checks(), note, parent)?;
        Ok((live, step))
    }

    /// Goes on with an unfinished run.
    ///
    /// # Errors
    ///
    /// [`RunError::Finished`] when it has ended; as [`Self::load`] otherwise.
    pub fn resume(&self, id: &BranchId) -> Result<(LiveRun, Run), RunError> {
        let run = self.load(id)?;
        let mut episode = run.episode_at(None)?;
        if episode.is_closed() {
            return Err(RunError::Finished);
        }
        episode.settle()?;
        let recorder = Recorder::new(Arc::clone(&self.store), id.clone())?;
        self.connect(&mut episode);
        let live = LiveRun::new(id.clone(), episode, run.scenario.checks(), run.note.clone(), recorder);
        let mut live = live.signed_by(self.key.clone());
        live.commit()?;
        Ok((live, run))
    }

    /// Makes a new run that shares the records of `id` up to and including `at`.
    ///
    /// # Errors
    ///
    /// [`RunError::Beyond`] or [`RunError::BeforeOpening`] when it cannot be forked there.
    pub fn fork(&self, id: &BranchId, at: Seq) -> Result<(LiveRun, Run), RunError> {
        let run = self.load(id)?;
        let opened = run.opened()?;
        if at < opened {
            return Err(RunError::BeforeOpening { asked: at.get(), first: opened.get() });
        }
        let mut episode = run.episode_at(Some(at))?;
        let note = RunNote {
            forked_from: Some((id.to_string(), at.get())),
            score: None,
            signature: None,
            finished: false,
            wall_millis: 0,
            ..run.note.clone()
        };
        episode.settle()?;
        let parent = Parent { branch: id.clone(), count: at.get() + 1 };
        let live = self.begin(episode, run.scenario.checks(), note, parent)?;
        Ok((live, run))
    }

    /// Removes the run `id`.
    ///
    /// # Errors
    ///
    /// [`RunError::Store`] when other runs were forked from it.
    pub fn discard(&self, id: &BranchId) -> Result<(), RunError> {
        Ok(self.store.discard(id)?)
    }

    /// Writes the run `id` as one portable file, blobs included.
    ///
    /// # Errors
    ///
    /// [`RunError::Store`] when the run is damaged or the file cannot be written.
    pub fn export(&self, id: &BranchId, path: &Path) -> Result<Head, RunError> {
        let info = self.info(id)?;
        Ok(dayshift_stores::export(&*self.store, id, &self.blobs_of(id)?, path, &info.note.to_bytes())?)
    }

    /// Brings a portable file in as a run of its own. One whose name is taken, or is kept for initial worlds, gets another one.
    ///
    /// # Errors
    ///
    /// [`RunError::Store`] when the file is damaged or no portable log, [`RunError::BlobMissing`] when neither the file nor the store has a
    /// blob that its records name.
    pub fn import(&self, path: &Path) -> Result<BranchId, RunError> {
        let log = PortableLog::open(path)?;
        if let Some(missing) = self.missing_blobs(&log)?.first() {
            return Err(RunError::BlobMissing(*missing));
        }
        let id = self.free_name(log.branch())?;
        dayshift_stores::import(&*self.store, &log, &id, log.note())?;
        Ok(id)
    }

    /// Brings in what is whole of a portable file that is cut off, altered, or without some of its blobs, as an unfinished run. Blobs of an installed
    /// scenario come from there.
    ///
    /// # Errors
    ///
    /// [`RunError::Store`] when not even the beginning of the file is whole.
    pub fn import_salvaged(&self, path: &Path) -> Result<Imported, RunError> {
        let (log, fault) = PortableLog::salvage(path)?;
        let mut note = RunNote::from_bytes(log.note());
        if fault.is_some() {
            note = RunNote { score: None, finished: false, signature: None, ..note };
        }
        let mut blobs_missing = Vec::new();
        for id in self.missing_blobs(&log)? {
            match self.installed_blob(&note.scenario, id) {
                Some(content) => {
                    self.store.put_blob(&content)?;
                }
                None => blobs_missing.push(id),
            }
        }
        let id = self.free_name(log.branch())?;
        dayshift_stores::import(&*self.store, &log, &id, &note.to_bytes())?;
        Ok(Imported { id, records: log.head().count, fault, blobs_missing })
    }

    /// Returns the blobs that the records of a portable log name and that neither it nor the store holds.
    fn missing_blobs(&self, log: &PortableLog) -> Result<Vec<BlobId>, RunError> {
        let mut missing = BTreeSet::new();
        let there: BTreeSet<BlobId> = log.blob_ids().collect();
        for record in log.records() {
            missing.extend(Stored::new(&record?)?.head()?.blobs.into_iter().filter(|id| !there.contains(id)));
        }
        let mut absent = Vec::new();
        for id in missing {
            if !matches!(self.store.blob(id), Ok(Some(_))) {
                absent.push(id);
            }
        }
        Ok(absent)
    }

    /// Returns a blob that the installed scenario of this name lays out.
    fn installed_blob(&self, scenario: &str, id: BlobId) -> Option<Arc<[u8]>> {
        if self.blobs.get(id).is_none()
            && let Ok(scenario) = built_in(scenario).and_then(Scenario::load)
        {
            let _its_blobs_are_in_memory_now = scenario.prefix(office(&scenario), &self.blobs);
        }
        self.blobs.get(id)
    }

    /// Returns `name` if a run can have it, and another one if not.
    fn free_name(&self, name: &BranchId) -> Result<BranchId, RunError> {
        let taken = self.store.branches()?.iter().any(|branch| branch.id == *name);
        // An old store's command line takes these for initial worlds, and `last` for the newest run.
        let is_reserved = name.as_str().starts_with(PREFIX) || name.as_str() == "last";
        if taken || is_reserved { new_id() } else { Ok(name.clone()) }
    }

    /// Brings in a run that was made without a store.
    ///
    /// # Errors
    ///
    /// [`RunError::Store`] when the store refuses, [`RunError::BlobMissing`] when a blob of the run is not there.
    pub fn adopt(&self, run: &Run) -> Result<BranchId, RunError> {
        let id = new_id()?;
        self.store.create(NewBranch { id: id.clone(), parent: None, note: run.note.to_bytes() })?;
        let append = append_of(id.clone(), Head::default(), &run.records, &*run.blobs)?;
        self.store.append(append)?.wait()?;
        Ok(id)
    }

    fn records(&self, id: &BranchId) -> Result<Vec<Arc<[u8]>>, RunError> {
        let mut records: Vec<Arc<[u8]>> = Vec::new();
        self.store.read(id, 0, &mut |record| {
            records.push(record.into());
            ControlFlow::Continue(())
        })?;
        Ok(records)
    }

    fn info(&self, id: &BranchId) -> Result<RunInfo, RunError> {
        let unknown = || RunError::Unknown(id.to_string());
        self.list()?.into_iter().find(|run| run.id == *id).ok_or_else(unknown)
    }

    fn connect(&self, episode: &mut Episode<Office>) {
        if let Some(host) = &self.host {
            episode.set_host(Arc::clone(host));
        }
    }

    fn begin(
        &self,
        mut episode: Episode<Office>,
        checks: Arc<dyn dayshift_engine::Checks<Office>>,
        note: RunNote,
        parent: Parent,
    ) -> Result<LiveRun, RunError> {
        self.connect(&mut episode);
        let id = new_id()?;
        self.store.create(NewBranch { id: id.clone(), parent: Some(parent), note: note.to_bytes() })?;
        let recorder = Recorder::new(Arc::clone(&self.store), id.clone())?;
        let mut live = LiveRun::new(id, episode, checks, note, recorder).signed_by(self.key.clone());
        live.commit()?;
        Ok(live)
    }

    /// Makes sure that the store holds a scenario's initial world, and returns the branch that does. What counts is what a branch holds: one that has
    /// the name and is damaged, or another log, is left alone, and the next name is taken.
    fn keep_prefix(&self, log: &Log) -> Result<BranchId, RunError> {
        let hash = log.head().hash;
        if let Some(known) = self.checked.lock().unwrap_or_else(PoisonError::into_inner).get(&hash) {
            return Ok(known.clone());
        }
        let name = format!("{PREFIX}{}", hash.short());
        for attempt in 1..=PREFIX_ATTEMPTS_MAX {
            let shared = if attempt == 1 { name.clone() } else { format!("{name}-{attempt}") };
            let shared = BranchId::new(shared)?;
            if self.holds_prefix(&shared, log)? {
                self.checked.lock().unwrap_or_else(PoisonError::into_inner).insert(hash, shared.clone());
                return Ok(shared);
            }
        }
        Err(RunError::PrefixBlocked(name))
    }

    /// Returns whether a branch holds an initial world, which it is given if it is new or was cut off while it was being written.
    fn holds_prefix(&self, shared: &BranchId, log: &Log) -> Result<bool, RunError> {
        let branch = self.store.branches()?.into_iter().find(|branch| branch.id == *shared);
        match branch {
            Some(branch) if branch.parent.is_some() || !branch.note.is_empty() => return Ok(false),
            Some(_) => {}
            None => self.store.create(NewBranch { id: shared.clone(), parent: None, note: Vec::new() })?,
        }
        let after = match self.store.verify(shared, &mut |_| ()) {
            Ok(head) => head,
            Err(StoreError::Damaged(_)) => return Ok(false),
            Err(other) => return Err(other.into()),
        };
        if after == log.head() {
            return Ok(true);
        }
        let last = after.count.checked_sub(1).map(|last| log.get(Seq::new(last)));
        let ends_alike = match last {
            None => true,
            Some(last) => last.is_some_and(|last| RecordHash::of(last) == after.hash),
        };
        if ends_alike {
            self.store.append(append_of(shared.clone(), after, log.since(after.count), &*self.blobs)?)?.wait()?;
        }
        Ok(ends_alike)
    }

    fn blobs_of(&self, id: &BranchId) -> Result<Vec<BlobId>, RunError> {
        let mut blobs = Vec::new();
        let mut fault = None;
        self.store.read(id, 0, &mut |record| match Stored::new(record).and_then(|stored| stored.head()) {
            Ok(head) => {
                blobs.extend(head.blobs);
                ControlFlow::Continue(())
            }
            Err(error) => {
                fault = Some(error);
                ControlFlow::Break(())
            }
        })?;
        if let Some(error) = fault {
            return Err(error.into());
        }
        blobs.sort_unstable();
        blobs.dedup();
        Ok(blobs)
    }
}

/// Returns whether a branch holds a scenario's initial world.
fn is_prefix(branch: &BranchInfo) -> bool {
    branch.id.as_str().starts_with(PREFIX) && branch.note.is_empty()
}

/// Loads a built-in scenario by its id, or a package by the path of its folder.
///
/// # Errors
///
/// [`RunError::Scenario`] with every fault that was found.
pub fn load_scenario(name: &str) -> Result<Scenario<Office>, RunError> {
    let path = Path::new(name);
    let package = if name.contains('/') || path.is_dir() { Package::from_directory(path) } else { built_in(name) };
    package.and_then(Scenario::load).map_err(RunError::Scenario)
}

/// What verifying found whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Where the log ends.
    pub head: Head,
    /// How many blobs it names; each was read.
    pub blobs: usize,
}

/// Loads a run from a portable file, without a store. Its bytes are all checked first.
///
/// # Errors
///
/// [`RunError::Store`] when the file is damaged or no portable log; as [`Run::new`] otherwise.
pub fn load_file(path: &Path) -> Result<Run, RunError> {
    let log = PortableLog::open(path)?;
    let blobs = MemoryBlobs::new();
    for id in log.blob_ids() {
        if let Some(content) = log.blob(id)? {
            blobs.put(content);
        }
    }
    let records = log.records().collect::<Result<_, _>>()?;
    Run::new(path.display().to_string(), RunNote::from_bytes(log.note()), records, Arc::new(blobs))
}

/// Returns how the log in a portable file stands to the signature beside it, of which `trusted` names the keys that the reader trusts.
///
/// # Errors
///
/// [`RunError::Store`] when the file is damaged or no portable log.
pub fn signature_of_file(path: &Path, trusted: &[PublicKey]) -> Result<SignatureState, RunError> {
    let log = PortableLog::open(path)?;
    let records: Vec<Arc<[u8]>> = log.records().collect::<Result<_, _>>()?;
    Ok(signature_state(&records, &RunNote::from_bytes(log.note()), trusted))
}

/// Verifies a portable file, without a store.
///
/// # Errors
///
/// [`RunError::Store`] names the record, the blob or the place at fault.
pub fn verify_file(path: &Path) -> Result<Verified, RunError> {
    let log = PortableLog::open(path)?;
    let mut blobs: BTreeSet<BlobId> = BTreeSet::new();
    for record in log.records() {
        blobs.extend(Stored::new(&record?)?.head()?.blobs);
    }
    let there: BTreeSet<BlobId> = log.blob_ids().collect();
    match blobs.iter().find(|id| !there.contains(id)) {
        Some(missing) => Err(RunError::BlobMissing(*missing)),
        None => Ok(Verified { head: log.head(), blobs: blobs.len() }),
    }
}

/// Draws a new run's id: ten hexadecimal digits. Ids name runs and never enter a log, so they may come from the host.
fn new_id() -> Result<BranchId, RunError> {
    let mut hasher = std::hash::RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    Ok(BranchId::new(format!("{:010x}", hasher.finish() & 0xff_ffff_ffff))?)
}
