//! Dependency-closed replay: which records of an episode still make sense when some turns are taken out. A pure rule; whoever
//! calls it brings the world and executes.

use std::collections::BTreeSet;

use dayshift_engine::{Seq, SmolStr, Turn, Value};

use super::{Step, Trace, entities};

/// The rule for one trace, prepared once and run with as many sets of turns as needed.
#[derive(Clone, Debug)]
pub struct ClosedReplay<'a> {
    steps: Vec<Prepared<'a>>,
}

/// What a replay did with each record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ran {
    /// The records that were executed.
    pub executed: BTreeSet<Seq>,
    /// The records that were dropped: taken out, without a source for what they use, or without their cause.
    pub dropped: BTreeSet<Seq>,
}

#[derive(Clone, Debug)]
struct Prepared<'a> {
    step: &'a Step,
    tracked: BTreeSet<SmolStr>,
    answered: BTreeSet<SmolStr>,
}

impl<'a> ClosedReplay<'a> {
    /// Returns the rule for `trace`. `known` holds the entities of the prompt and of the tools' schemas.
    #[must_use]
    pub fn new(trace: &'a Trace, known: &BTreeSet<SmolStr>) -> Self {
        let mut known = known.clone();
        let mut obtained = BTreeSet::new();
        let mut steps = Vec::with_capacity(trace.steps().len());
        for step in trace.steps() {
            let mut prepared = Prepared { step, tracked: BTreeSet::new(), answered: BTreeSet::new() };
            if !step.actor.is_exogenous() {
                let arguments = entities(&step.arguments);
                prepared.answered = entities(&step.output);
                for value in &arguments {
                    if !obtained.contains(value) {
                        known.insert(value.clone());
                    } else if !known.contains(value) {
                        prepared.tracked.insert(value.clone());
                    }
                }
                obtained.extend(prepared.answered.difference(&arguments).cloned());
            }
            steps.push(prepared);
        }
        Self { steps }
    }

    /// Replays with only the agent's turns in `keep`, calling `execute` for each record that runs, in log order; it returns what
    /// the record answered this time.
    ///
    /// Dropped are: the agent's records in other turns; agent records one of whose tracked values (obtained from an output in the
    /// recording, and not known before) no output of this replay holds; and exogenous records one of whose causes was dropped.
    ///
    /// # Errors
    ///
    /// What `execute` returns, at once.
    pub fn run<E>(
        &self,
        keep: &BTreeSet<Turn>,
        mut execute: impl FnMut(&'a Step) -> Result<Value, E>,
    ) -> Result<Ran, E> {
        let mut ran = Ran::default();
        let mut available: BTreeSet<SmolStr> = BTreeSet::new();
        for Prepared { step, tracked, answered } in &self.steps {
            let runs = match step.agent_turn() {
                Some(turn) => keep.contains(&turn) && tracked.is_subset(&available),
                None => !step.causes.iter().any(|cause| ran.dropped.contains(cause)),
            };
            if !runs {
                ran.dropped.insert(step.seq);
                continue;
            }
            let output = execute(step)?;
            ran.executed.insert(step.seq);
            if step.actor.is_exogenous() {
                continue;
            }
            // Most records answer what they answered in the recording, whose entities are at hand.
            if output == step.output {
                available.extend(answered.iter().cloned());
            } else {
                available.extend(entities(&output));
            }
        }
        Ok(ran)
    }
}
