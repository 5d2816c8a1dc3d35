//! A run that is being played: an episode, its recorder, and a grader that follows it for step rewards.

use std::sync::Arc;

use dayshift_engine::{Checks, Day, Episode, Input, Outside, Plan, Step};
use dayshift_replay::Grader;
use dayshift_scenarios::{Agent, Observation};
use dayshift_services::Office;
use dayshift_stores::BranchId;

use crate::error::RunError;
use crate::note::RunNote;
use crate::recorder::Recorder;
use crate::signature::SecretKey;

/// A run that is being played. Dropping it leaves an unfinished run that verifies and can be resumed.
pub struct LiveRun {
    id: BranchId,
    episode: Episode<Office>,
    checks: Arc<dyn Checks<Office>>,
    note: RunNote,
    recorder: Recorder,
    key: Option<SecretKey>,
}

impl LiveRun {
    pub(crate) fn new(
        id: BranchId,
        episode: Episode<Office>,
        checks: Arc<dyn Checks<Office>>,
        note: RunNote,
        recorder: Recorder,
    ) -> Self {
        Self { id, episode, checks, note, recorder, key: None }
    }

    /// Lets the run be signed by `key` when it is finished.
    #[must_use]
    pub fn signed_by(self, key: Option<SecretKey>) -> Self {
        Self { key, ..self }
    }

    /// Returns the run's id.
    #[must_use]
    pub fn id(&self) -> &BranchId {
        &self.id
    }

    /// Returns the episode.
    #[must_use]
    pub fn episode(&self) -> &Episode<Office> {
        &self.episode
    }

    /// Lets `agent` act until the episode closes. `progress` hears how many records there are after each step.
    ///
    /// # Errors
    ///
    /// [`RunError::Agent`] when the agent cannot go on; as [`Self::input`] otherwise. Everything up to there is recorded.
    pub fn play(
        &mut self,
        agent: &mut dyn Agent,
        opening: Step,
        mut progress: impl FnMut(u64),
    ) -> Result<(), RunError> {
        let mut last = opening;
        while !self.episode.is_closed() {
            let day = self.episode.day();
            let script = Arc::clone(self.episode.script());
            let name = day_name(script.plan(), day);
            let observation = Observation { day, day_name: name, time: self.episode.now(), last: &last };
            let input = agent.act(&observation)?;
            last = self.input(input)?;
            progress(self.episode.log().head().count);
        }
        Ok(())
    }

    /// Feeds one input and hands its records to the store. They are durable after [`Self::commit`], and at the latest when the turn
    /// or the day ends.
    ///
    /// # Errors
    ///
    /// [`RunError::Episode`] when the episode cannot go on, [`RunError::Store`] when the store refuses.
    pub fn input(&mut self, input: Input) -> Result<Step, RunError> {
        let ends_turn = !matches!(input, Input::Call(_));
        let step = self.episode.input(input)?;
        self.recorder.record(&self.episode)?;
        if ends_turn {
            self.recorder.wait()?;
        }
        Ok(step)
    }

    /// Stages something from outside and hands its records to the store; durable as after [`Self::input`].
    ///
    /// # Errors
    ///
    /// As [`Self::input`].
    pub fn outside(&mut self, outside: Outside) -> Result<Step, RunError> {
        let step = self.episode.outside(outside)?;
        self.recorder.record(&self.episode)?;
        Ok(step)
    }

    /// Waits until everything that happened so far is durable.
    ///
    /// # Errors
    ///
    /// [`RunError::Store`] when a write failed.
    pub fn commit(&mut self) -> Result<(), RunError> {
        self.recorder.record(&self.episode)?;
        self.recorder.wait()
    }

    /// Makes everything durable, grades the run if it has ended, signs it if there is a key, and keeps score and signature beside the log.
    ///
    /// # Errors
    ///
    /// [`RunError::Store`] when a write failed.
    pub fn finish(mut self, wall_millis: u64) -> Result<BranchId, RunError> {
        self.commit()?;
        self.note.finished = self.episode.is_closed();
        self.note.wall_millis += wall_millis;
        if self.note.finished {
            let mut grader = Grader::new(Arc::clone(&self.checks));
            let mut shadow =
                Episode::blank(Office::default(), Arc::clone(self.episode.script()), Arc::clone(self.episode.blobs()));
            for record in self.episode.log().since(0) {
                grader.absorb(&mut shadow, Arc::clone(record))?;
            }
            self.note.score = Some(grader.report(&shadow).score);
            if let Some(key) = &self.key {
                let records: Vec<Arc<[u8]>> = self.episode.log().since(0).cloned().collect();
                self.note.signature = Some(key.sign(&records, &self.note.agent)?);
            }
        }
        self.recorder.annotate(&self.note)?;
        Ok(self.id)
    }
}

/// Returns the name of a day; empty before the first one opens.
pub(crate) fn day_name(plan: &Plan, day: Day) -> &str {
    (day.get() as usize).checked_sub(1).and_then(|index| plan.days.get(index)).map_or("", |day| day.name.as_str())
}
