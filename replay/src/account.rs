//! The account of one graded log: its dependency graph, its credit per turn, and the counterfactual audit that shows whether the credit
//! means something. The formulas live in [`crate::credit`]; here the log fills their inputs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dayshift_engine::codec::{Stored, encode};
use dayshift_engine::{
    Again, Checks, Episode, PastCall, Record, Rejection, Request, Seed, Seq, SmolStr, Turn, Value, World, map,
};

use crate::ReplayError;
use crate::credit::{
    Audit, Check, ClosedReplay, Config, Crossing, Edges, Fidelity, Ledger, Movement, SliceTarget, Soundness, Step,
    Trace, Verdicts, audit, entities, slice_soundness,
};
use crate::grade::{Grader, Report};

/// By how much two scores of one history may differ, for rounding.
const SCORE_TOLERANCE: f64 = 1e-9;

/// A log with its verdicts and its dependency graph.
pub struct Account<W: World> {
    report: Report,
    trace: Trace,
    edges: Edges,
    verdicts: Verdicts,
    known: BTreeSet<SmolStr>,
    seed: Seed,
    /// The records from the opening on, decoded.
    records: Vec<Record<W::Event>>,
    /// The episode and its grader as they were when the first record after the opening came.
    opening: (Episode<W>, Grader<W>),
}

/// What the counterfactual audit found.
#[derive(Clone, Debug, PartialEq)]
pub struct Audited {
    /// What each turn was worth.
    pub audit: Audit,
    /// How well credit agrees with it.
    pub fidelity: Fidelity,
    /// How many checks the backward closure of their evidence reproduces alone.
    pub soundness: Soundness,
    /// How many sets of turns were replayed.
    pub replays: u64,
}

impl<W: World> Account<W> {
    /// Folds and grades `records` on `blank`, and gathers the dependency graph. `prompt` is what the agent knows from the start.
    ///
    /// # Errors
    ///
    /// [`ReplayError`] when the log does not decode, does not follow, or was never opened.
    pub fn of(
        blank: Episode<W>,
        records: &[Arc<[u8]>],
        checks: Arc<dyn Checks<W>>,
        prompt: &str,
    ) -> Result<Self, ReplayError> {
        let mut grader = Grader::new(checks);
        let mut episode = blank;
        let mut opening = None;
        let mut seed = Seed::default();
        let mut steps = Vec::new();
        let mut decoded = Vec::new();
        let mut known = entities(&Value::from(prompt));
        known.extend(W::tools().iter().flat_map(|spec| entities(&spec.schema())));
        for record in records {
            grader.absorb(&mut episode, Arc::clone(record))?;
            let stored = Stored::new(record)?;
            match stored.head()?.request {
                Request::Open { seed: drawn } => {
                    seed = drawn;
                    opening = Some((episode.clone(), grader.clone()));
                }
                // What the agent was told outright is nobody's discovery.
                Request::OpenDay { notification: text, .. } | Request::Notify { text } => {
                    known.extend(entities(&Value::from(text)));
                }
                Request::Genesis { .. }
                | Request::Call { .. }
                | Request::Message { .. }
                | Request::Look
                | Request::EndDay
                | Request::Close => {}
            }
            if opening.is_some() {
                steps.push(step_of(stored, &episode)?);
                decoded.push(stored.record()?);
            }
        }
        let opening = opening.ok_or(ReplayError::NotOpened)?;
        let report = grader.report(&episode);
        let trace = Trace::new(steps)?;
        let edges = Edges::of(&trace, &known);
        let verdicts = verdicts(&trace, &report)?;
        Ok(Self { report, trace, edges, verdicts, known, seed, records: decoded, opening })
    }

    /// Returns the verdicts.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Returns the records that credit walks over: those after the opening.
    #[must_use]
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Returns the dependency graph.
    #[must_use]
    pub fn edges(&self) -> &Edges {
        &self.edges
    }

    /// Returns the credit of every turn, and its ledger.
    #[must_use]
    pub fn ledger(&self, config: &Config) -> Ledger {
        Ledger::settle(&self.trace, &self.edges, &self.verdicts, config)
    }

    /// Replays the log without each turn and each set of turns that the audit asks for. `progress` hears how many were replayed.
    ///
    /// # Errors
    ///
    /// [`ReplayError`] when a replay fails; [`ReplayError::AuditDiffers`] when the replay of all turns does not come to the report's score.
    pub fn audit(&self, ledger: &Ledger, mut progress: impl FnMut(u64)) -> Result<Audited, ReplayError> {
        let closed = ClosedReplay::new(&self.trace, &self.known);
        let mut replays = 0;
        let mut stream = self.seed.stream("audit/shapley");
        let audited = audit(&self.trace, &self.edges, &self.trace.turns(), &mut stream, |keep| {
            replays += 1;
            progress(replays);
            Ok::<f64, ReplayError>(self.ablate(&closed, keep)?.score)
        })?;
        // Each call executed again must do what it did: else the log does not say what happened, and the audit means nothing.
        if (audited.full - self.report.score).abs() > SCORE_TOLERANCE {
            return Err(ReplayError::AuditDiffers { score: self.report.score, again: audited.full });
        }
        let targets: Vec<SliceTarget> = self.slice_targets();
        let soundness = slice_soundness(&self.trace, &self.edges, &targets, |check, keep| {
            Ok::<f64, ReplayError>(self.ablate(&closed, keep)?.verdicts[check].level)
        })?;
        let fidelity = Fidelity::of(ledger, &audited);
        Ok(Audited { audit: audited, fidelity, soundness, replays })
    }

    /// Replays the log with only the turns in `keep`, dependency-closed, and grades it.
    ///
    /// # Errors
    ///
    /// [`ReplayError`] when the replay fails.
    pub fn without(&self, keep: &BTreeSet<Turn>) -> Result<Report, ReplayError> {
        self.ablate(&ClosedReplay::new(&self.trace, &self.known), keep)
    }

    fn ablate(&self, closed: &ClosedReplay<'_>, keep: &BTreeSet<Turn>) -> Result<Report, ReplayError> {
        let (mut episode, mut grader) = self.opening.clone();
        let opened = self.report.opened;
        let mut places = BTreeMap::from([(opened, opened)]);
        closed.run(keep, |step| {
            if step.seq == opened {
                return Ok(Value::Null);
            }
            self.perform(&mut episode, &mut grader, &mut places, step)
        })?;
        Ok(grader.report(&episode))
    }

    /// Executes one recorded step on a shortened episode, at its original time. Returns what it answers now. `places` says where the records
    /// executed so far stand in the shortened log.
    fn perform(
        &self,
        episode: &mut Episode<W>,
        grader: &mut Grader<W>,
        places: &mut BTreeMap<Seq, Seq>,
        step: &Step,
    ) -> Result<Value, ReplayError> {
        let first = self.report.opened.get();
        let original = &self.records[(step.seq.get() - first) as usize];
        let Again { mut record, answer } = episode.decide_again(original)?;
        let kept = |cause: &Seq| if cause.get() < first { Some(*cause) } else { places.get(cause).copied() };
        record.head.causes = original.head.causes.iter().filter_map(kept).collect();
        places.insert(step.seq, record.seq);
        let output = if matches!(original.head.request, Request::Call { .. }) {
            output_of(answer.as_ref())
        } else {
            step.output.clone()
        };
        grader.absorb(episode, encode(episode.log().head().hash, &record).into())?;
        Ok(output)
    }

    /// Returns the checks that the agent brought to their level, with the last writers of their evidence.
    fn slice_targets(&self) -> Vec<SliceTarget> {
        let brought = |index: usize| {
            let last = self.report.moves.iter().rev().find(|step| step.check == index)?;
            let verdict = &self.report.verdicts[index];
            let earned = last.turn.is_some() && verdict.level > verdict.start;
            earned.then(|| SliceTarget { check: index, roots: last.roots.clone(), level: verdict.level })
        };
        (0..self.report.verdicts.len()).filter_map(brought).collect()
    }
}

/// Reads what credit needs of one record, which `episode` has just absorbed.
fn step_of<W: World>(stored: Stored<'_>, episode: &Episode<W>) -> Result<Step, ReplayError> {
    let head = stored.head()?;
    let (arguments, output) = match PastCall::read(stored, &**episode.blobs())? {
        Some(call) => (call.arguments, output_of(call.answer.as_ref())),
        None => (Value::Null, Value::Null),
    };
    Ok(Step {
        seq: stored.seq(),
        actor: head.actor,
        turn: head.turn,
        reads: stored.reads()?,
        causes: head.causes,
        arguments,
        output,
        writes: episode.last_writes().to_vec(),
        untracked: head.untracked,
    })
}

fn output_of(answer: Result<&Value, &Rejection>) -> Value {
    match answer {
        Ok(value) => value.clone(),
        Err(rejection) => map! { "code" => rejection.code.to_string(), "message" => rejection.message.clone() },
    }
}

/// Puts a report into credit's terms.
fn verdicts(trace: &Trace, report: &Report) -> Result<Verdicts, ReplayError> {
    let checks = report.verdicts.iter().map(|verdict| Check {
        id: verdict.spec.id.clone(),
        weight: verdict.weight,
        start: verdict.start,
    });
    let movements = report.moves.iter().map(|step| Movement {
        check: step.check,
        at: step.at,
        before: step.before,
        after: step.after,
        roots: step.roots.clone(),
        untracked: step.untracked,
    });
    let crossings = report.crossings.iter().map(|crossed| Crossing {
        red_line: report.verdicts[crossed.check].spec.id.clone(),
        at: crossed.at,
        cap: crossed.cap,
    });
    Ok(Verdicts::new(trace, checks.collect(), movements.collect(), crossings.collect())?)
}
