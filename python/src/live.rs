//! One episode that a Python program plays: in memory or recorded by a store, with a grader at its side if steps are rewarded. No Python here,
//! so that all of it runs with the interpreter released.

use std::sync::Arc;

use chrono::SecondsFormat;
use dayshift_engine::{
    Actor, Audience, Blobs, Checks, Episode, EventId, Host, Input, MemoryBlobs, Outside, OutsideAct, Prefix, Rejection,
    Seed, Seq, SimTime, SmolStr, Step, ToolSpec, Value, World, map,
};
use dayshift_replay::Grader;
use dayshift_runs::{Library, LiveRun, Run, RunError, RunNote};
use dayshift_sandbox::Sandbox;
use dayshift_scenarios::Scenario;
use dayshift_services::Office;

/// When a step is rewarded. The rewards of an episode sum to its score unless there are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rewarding {
    /// Never: nothing is graded while it is played.
    Never,
    /// At the end of the episode.
    Final,
    /// When a day ends: by what the score has moved since the day before.
    Day,
    /// At every step: by what the score has moved.
    Step,
}

/// A scenario made ready once for all its episodes: its initial world and its blobs.
pub(crate) struct Ready {
    pub(crate) scenario: Scenario<Office>,
    prefix: Prefix<Office>,
    blobs: Arc<dyn Blobs>,
    host: Arc<dyn Host>,
}

impl Ready {
    pub(crate) fn new(scenario: Scenario<Office>) -> Result<Self, RunError> {
        let blobs: Arc<dyn Blobs> = Arc::new(MemoryBlobs::new());
        let prefix = scenario.prefix(dayshift_runs::office(&scenario), &blobs)?;
        Ok(Self { scenario, prefix, blobs, host: Arc::new(Sandbox::new()) })
    }

    /// Returns the tools that an agent has, as JSON schemas.
    pub(crate) fn tools(&self) -> Value {
        let world = self.prefix.world();
        let offered = |spec: &&&ToolSpec| spec.audience == Audience::Everybody && world.offers(spec);
        let shown = |spec: &&ToolSpec| {
            map! { "name" => spec.name, "description" => spec.summary, "parameters" => spec.schema() }
        };
        Office::tools().iter().filter(offered).map(shown).collect()
    }
}

/// Where the records of an episode go.
enum Body {
    /// Nowhere: they live as long as the episode.
    Memory(Box<Episode<Office>>),
    /// To a store.
    Stored(Box<LiveRun>),
}

/// One episode.
pub(crate) struct Live {
    ready: Arc<Ready>,
    library: Option<Arc<Library>>,
    body: Body,
    note: RunNote,
    rewarding: Rewarding,
    /// The grader and the episode that it folds, as far as it has come.
    judge: Option<Box<(Grader<Office>, Episode<Office>)>>,
    /// What was rewarded so far.
    rewarded: f64,
    /// What was shown last, so that equal times are not written out twice.
    shown: (SimTime, String),
}

/// What one step brought.
pub(crate) struct Outcome {
    pub(crate) seq: Seq,
    pub(crate) answer: Result<Value, Rejection>,
    pub(crate) notices: Vec<String>,
    pub(crate) reward: f64,
    pub(crate) closed: bool,
    pub(crate) day: SmolStr,
    pub(crate) time: String,
}

impl Live {
    /// Opens an episode.
    pub(crate) fn start(
        ready: Arc<Ready>,
        library: Option<Arc<Library>>,
        seed: Seed,
        agent: &str,
        rewarding: Rewarding,
    ) -> Result<(Self, Outcome), RunError> {
        let scenario = &ready.scenario;
        let (body, step) = match &library {
            Some(library) => {
                let (live, step) = library.start(scenario, seed, agent)?;
                (Body::Stored(Box::new(live)), step)
            }
            None => {
                let blobs = Arc::new(MemoryBlobs::over(Arc::clone(&ready.blobs)));
                let (mut episode, step) = Episode::open(&ready.prefix, seed, scenario.script(), blobs)?;
                episode.set_host(Arc::clone(&ready.host));
                (Body::Memory(Box::new(episode)), step)
            }
        };
        let note = RunNote {
            scenario: scenario.id().to_owned(),
            seed: seed.get(),
            agent: agent.to_owned(),
            ..RunNote::default()
        };
        let mut live = Self {
            ready,
            library,
            body,
            note,
            rewarding,
            judge: None,
            rewarded: 0.0,
            shown: (SimTime::from_millis(i64::MIN), String::new()),
        };
        // The level of the initial world is part of the first reward, so that rewards sum to the score.
        let outcome = live.outcome(step, 0.0)?;
        Ok((live, outcome))
    }

    pub(crate) fn episode(&self) -> &Episode<Office> {
        match &self.body {
            Body::Memory(episode) => episode,
            Body::Stored(live) => live.episode(),
        }
    }

    pub(crate) fn scenario(&self) -> &Scenario<Office> {
        &self.ready.scenario
    }

    pub(crate) fn tools(&self) -> Value {
        self.ready.tools()
    }

    /// Returns the run's id in its store.
    pub(crate) fn id(&self) -> Option<String> {
        if let Body::Stored(live) = &self.body { Some(live.id().to_string()) } else { None }
    }

    /// Feeds one input of the agent.
    pub(crate) fn input(&mut self, input: Input) -> Result<Outcome, RunError> {
        let ends_day = matches!(input, Input::HandOver { .. });
        let step = match &mut self.body {
            Body::Memory(episode) => episode.input(input)?,
            Body::Stored(live) => live.input(input)?,
        };
        let reward = self.due(&step, ends_day)?;
        self.outcome(step, reward)
    }

    /// Stages something from outside.
    pub(crate) fn stage(
        &mut self,
        name: &str,
        time: Option<SimTime>,
        actor: Actor,
        act: OutsideAct,
    ) -> Result<Outcome, RunError> {
        let time = time.unwrap_or_else(|| self.episode().now());
        let outside = Outside { event: EventId::outside(name), time, actor, act };
        let step = match &mut self.body {
            Body::Memory(episode) => episode.outside(outside)?,
            Body::Stored(live) => live.outside(outside)?,
        };
        let reward = self.due(&step, false)?;
        self.outcome(step, reward)
    }

    /// Returns an independent episode that goes on from here. What a store records is forked there.
    pub(crate) fn fork(&mut self) -> Result<Self, RunError> {
        let mut note = self.note.clone();
        let body = match (&mut self.body, &self.library) {
            (Body::Memory(episode), _) => Body::Memory(episode.clone()),
            (Body::Stored(live), Some(library)) => {
                live.commit()?;
                let last = Seq::new(live.episode().log().head().count - 1);
                let (fork, _) = library.fork(live.id(), last)?;
                note.forked_from = Some((live.id().to_string(), last.get()));
                Body::Stored(Box::new(fork))
            }
            (Body::Stored(live), None) => Body::Memory(Box::new(live.episode().clone())),
        };
        Ok(Self {
            ready: Arc::clone(&self.ready),
            library: self.library.clone(),
            body,
            note,
            rewarding: self.rewarding,
            judge: self.judge.clone(),
            rewarded: self.rewarded,
            shown: self.shown.clone(),
        })
    }

    /// Waits until everything is durable, and keeps the score of a finished episode beside it.
    pub(crate) fn settle(&mut self) -> Result<(), RunError> {
        let Body::Stored(live) = &mut self.body else { return Ok(()) };
        live.commit()?;
        if live.episode().is_closed() {
            let episode = live.episode().clone();
            let Body::Stored(live) = std::mem::replace(&mut self.body, Body::Memory(Box::new(episode))) else {
                return Ok(());
            };
            live.finish(0)?;
        }
        Ok(())
    }

    /// Returns everything that happened so far as a run of its own.
    pub(crate) fn run(&self) -> Run {
        let episode = self.episode();
        let mut note = self.note.clone();
        note.finished = episode.is_closed();
        Run {
            name: self.id().unwrap_or_else(|| "in memory".to_owned()),
            note,
            records: episode.log().since(0).cloned().collect(),
            blobs: Arc::clone(episode.blobs()),
            scenario: self.scenario().clone(),
        }
    }

    /// Returns the reward of a step: nothing unless one is due.
    fn due(&mut self, step: &Step, ends_day: bool) -> Result<f64, RunError> {
        let due = match self.rewarding {
            Rewarding::Never => false,
            Rewarding::Final => step.closed,
            Rewarding::Day => ends_day || step.closed,
            Rewarding::Step => true,
        };
        if due { self.reward() } else { Ok(0.0) }
    }

    fn outcome(&mut self, step: Step, reward: f64) -> Result<Outcome, RunError> {
        if step.closed {
            self.settle()?;
        }
        let episode = self.episode();
        let (now, day) = (episode.now(), episode.day().get() as usize);
        let days = &episode.script().plan().days;
        let day = day.checked_sub(1).and_then(|index| days.get(index)).map(|day| day.name.clone()).unwrap_or_default();
        if self.shown.0 != now {
            let local = now.to_chrono().with_timezone(&self.ready.scenario.zone());
            self.shown = (now, local.to_rfc3339_opts(SecondsFormat::Secs, false));
        }
        let Step { seq, answer, notices, closed } = step;
        Ok(Outcome { seq, answer, notices, reward, closed, day, time: self.shown.1.clone() })
    }

    /// Brings the grader up to date and returns what the score has moved since the last reward.
    fn reward(&mut self) -> Result<f64, RunError> {
        let judge = self.judge.take();
        let mut judge = judge.unwrap_or_else(|| {
            let checks: Arc<dyn Checks<Office>> = self.scenario().checks();
            let blank = Episode::blank(Office::default(), self.scenario().script(), Arc::clone(self.episode().blobs()));
            Box::new((Grader::new(checks), blank))
        });
        let (grader, folded) = &mut *judge;
        for record in self.episode().log().since(folded.log().head().count) {
            grader.absorb(folded, Arc::clone(record))?;
        }
        grader.settle(folded);
        let (_, score) = grader.scores();
        self.judge = Some(judge);
        let reward = score - self.rewarded;
        self.rewarded = score;
        Ok(reward)
    }
}
