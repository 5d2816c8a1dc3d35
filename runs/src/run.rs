//! One run, read back: its records, its blobs and its scenario, which travels with the log. Everything a door shows of a run comes from here.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use dayshift_engine::codec::Stored;
use dayshift_engine::{
    Blobs, Episode, Head, Host, RecordHead, Recorded, Request, Seed, Seq, SmolStr, Step, Turn, Value,
};
use dayshift_replay::{Account, Reexecution, ReplayError, Report, Transcript, grade, reexecute};
use dayshift_scenarios::{Agent, Observation, Package, Scenario};
use dayshift_services::Office;
use dayshift_stores::MemoryStore;

use crate::error::RunError;
use crate::library::Library;
use crate::live::day_name;
use crate::note::RunNote;
use crate::office::office;

/// One run, whole in memory. A clone shares everything.
#[derive(Clone)]
pub struct Run {
    /// Its id, or the path of the file that it came from.
    pub name: String,
    /// What is kept beside it.
    pub note: RunNote,
    /// Its records, in order.
    pub records: Vec<Arc<[u8]>>,
    /// Where its blobs are.
    pub blobs: Arc<dyn Blobs>,
    /// Its scenario, as it was when the run was made.
    pub scenario: Scenario<Office>,
}

impl Run {
    /// Returns the run that `records` are, with the scenario that they name.
    ///
    /// # Errors
    ///
    /// [`RunError::Codec`] when the genesis record does not decode; [`RunError::Scenario`] when its package is not whole.
    pub fn new(name: String, note: RunNote, records: Vec<Arc<[u8]>>, blobs: Arc<dyn Blobs>) -> Result<Self, RunError> {
        let genesis = Stored::new(records.first().ok_or(ReplayError::NotOpened)?)?.head()?;
        let Request::Genesis { digest, .. } = genesis.request else {
            return Err(ReplayError::Scenario("the log does not begin with a genesis record".to_owned()).into());
        };
        let package = Package::from_blobs(digest, &*blobs)
            .map_err(|error| ReplayError::Scenario(format!("{error}; verify the run")))?;
        let scenario = Scenario::load(package).map_err(RunError::Scenario)?;
        Ok(Self { name, note, records, blobs, scenario })
    }

    /// Writes the run as one portable file, blobs included.
    ///
    /// # Errors
    ///
    /// [`RunError::Store`] when the file cannot be written, [`RunError::BlobMissing`] when a blob is not there.
    pub fn export(&self, path: &Path) -> Result<Head, RunError> {
        let library = Library::new(Arc::new(MemoryStore::new()));
        library.export(&library.adopt(self)?, path)
    }

    /// Returns where the log ends.
    #[must_use]
    pub fn head(&self) -> Head {
        let hash = self.records.last().map(|record| dayshift_engine::RecordHash::of(record)).unwrap_or_default();
        Head { count: self.records.len() as u64, hash }
    }

    /// Returns the names of the scenario's days.
    #[must_use]
    pub fn days(&self) -> Vec<SmolStr> {
        self.scenario.script().plan().days.iter().map(|day| day.name.clone()).collect()
    }

    /// Returns an episode without records, to fold this run's into.
    #[must_use]
    pub fn blank(&self) -> Episode<Office> {
        Episode::blank(office(&self.scenario), self.scenario.script(), Arc::clone(&self.blobs))
    }

    /// Returns the episode as it was after record `at`; at its end if nothing is said.
    ///
    /// # Errors
    ///
    /// [`RunError::Beyond`] when there is no such record; [`RunError::Episode`] when a record does not follow.
    pub fn episode_at(&self, at: Option<Seq>) -> Result<Episode<Office>, RunError> {
        let last = (self.records.len() as u64).saturating_sub(1);
        let at = at.map_or(last, Seq::get);
        if at > last {
            return Err(RunError::Beyond { asked: at, last });
        }
        let mut episode = self.blank();
        for record in self.records.iter().take(at as usize + 1) {
            episode.absorb(Arc::clone(record))?;
        }
        Ok(episode)
    }

    /// Returns the position of the opening record; what is before it depends on the scenario alone.
    ///
    /// # Errors
    ///
    /// [`ReplayError::NotOpened`] when there is none.
    pub fn opened(&self) -> Result<Seq, RunError> {
        for record in &self.records {
            let stored = Stored::new(record)?;
            if matches!(stored.head()?.request, Request::Open { .. }) {
                return Ok(stored.seq());
            }
        }
        Err(ReplayError::NotOpened.into())
    }

    /// Grades the run, by its own checks or by those of another version of its scenario.
    ///
    /// # Errors
    ///
    /// [`RunError::Replay`] when the log cannot be read back.
    pub fn grade(&self, other: Option<&Scenario<Office>>) -> Result<Report, RunError> {
        let checks = other.unwrap_or(&self.scenario).checks();
        Ok(grade(self.blank(), &self.records, checks)?)
    }

    /// Grades the run and gathers its dependency graph, for credit.
    ///
    /// # Errors
    ///
    /// [`RunError::Replay`] when the log cannot be read back.
    pub fn account(&self) -> Result<Account<Office>, RunError> {
        let prompt = self.scenario.request();
        Ok(Account::of(self.blank(), &self.records, self.scenario.checks(), prompt)?)
    }

    /// Executes every input again and compares bytes. `progress` hears how many records came out the same.
    ///
    /// # Errors
    ///
    /// [`RunError::Replay`] when the log cannot be read back.
    pub fn reexecute(&self, progress: impl FnMut(u64)) -> Result<Reexecution, RunError> {
        // What a host brought back is an input too, and is not fetched again.
        self.reexecute_on(Arc::new(Recorded::of(&self.records, &*self.blobs)?), progress)
    }

    /// Executes every input again, with `host` for what was fetched from one, and compares bytes. `progress` hears how many records came out
    /// the same.
    ///
    /// # Errors
    ///
    /// [`RunError::Replay`] when the log cannot be read back.
    pub fn reexecute_on(&self, host: Arc<dyn Host>, progress: impl FnMut(u64)) -> Result<Reexecution, RunError> {
        let open = |seed: Seed| {
            let prefix = self.scenario.prefix(office(&self.scenario), &self.blobs);
            let prefix = prefix.map_err(|error| ReplayError::Scenario(error.to_string()))?;
            Ok(Episode::open(&prefix, seed, self.scenario.script(), Arc::clone(&self.blobs))?.0)
        };
        Ok(reexecute(&self.records, &*self.blobs, host, open, progress)?)
    }

    /// Returns what the agent did and was told.
    ///
    /// # Errors
    ///
    /// [`RunError::Replay`] when the log cannot be read back.
    pub fn transcript(&self) -> Result<Transcript, RunError> {
        Ok(Transcript::of(&self.records, &*self.blobs)?)
    }

    /// Brings `agent` back to where it was: shows it what it already did and was told, up to record `until`. Returns the last step.
    ///
    /// # Errors
    ///
    /// [`RunError::OtherAgent`] when it does something else than the log says.
    pub fn catch_up(&self, until: Option<Seq>, agent: &mut dyn Agent) -> Result<Step, RunError> {
        let transcript = self.transcript()?;
        let script = self.scenario.script();
        let (seq, notices) = (self.opened()?, transcript.opening);
        let mut last = Step { seq, answer: Ok(Value::Null), notices, closed: false };
        for exchange in transcript.exchanges {
            if until.is_some_and(|until| exchange.step.seq > until) {
                break;
            }
            let day_name = day_name(script.plan(), exchange.day);
            let observation = Observation { day: exchange.day, day_name, time: exchange.time, last: &last };
            if agent.act(&observation)? != exchange.input {
                return Err(RunError::OtherAgent(exchange.step.seq.get()));
            }
            last = exchange.step;
        }
        Ok(last)
    }

    /// Returns the name of the day on which each turn was taken.
    #[must_use]
    pub fn day_of_turn(&self) -> BTreeMap<Turn, String> {
        let days = self.days();
        let heads = self.records.iter().filter_map(|record| Stored::new(record).ok()?.head().ok());
        let named = |head: RecordHead| {
            let day = (head.day.get() as usize).checked_sub(1).and_then(|index| days.get(index));
            Some((head.turn?, day.map(ToString::to_string).unwrap_or_default()))
        };
        heads.filter_map(named).collect()
    }

    /// Returns the seed.
    ///
    /// # Errors
    ///
    /// [`ReplayError::NotOpened`] when the episode was never opened.
    pub fn seed(&self) -> Result<u64, RunError> {
        Self::seed_of(&self.records)
    }

    /// Returns the seed of the log that `records` are.
    ///
    /// # Errors
    ///
    /// As [`Self::seed`].
    pub(crate) fn seed_of(records: &[Arc<[u8]>]) -> Result<u64, RunError> {
        for record in records {
            if let Request::Open { seed } = Stored::new(record)?.head()?.request {
                return Ok(seed.get());
            }
        }
        Err(ReplayError::NotOpened.into())
    }
}
