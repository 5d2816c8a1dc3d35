//! The recorded steps that credit walks over: one for each record of a log, as plain data. Not the log itself.

use std::collections::BTreeSet;

use dayshift_engine::{Actor, Key, Read, Seq, Turn, Value};

use super::CreditError;

/// What credit needs to know of one record.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The record's position, from 1.
    pub seq: Seq,
    /// Who acted.
    pub actor: Actor,
    /// The turn; only an agent's counts.
    pub turn: Option<Turn>,
    /// What was read to decide it. Scans are carried, and not followed.
    pub reads: Vec<Read>,
    /// Explicit lineage: the records that this one derives from.
    pub causes: Vec<Seq>,
    /// What was asked.
    pub arguments: Value,
    /// What was answered, a refusal included.
    pub output: Value,
    /// The keys that were written.
    pub writes: Vec<Key>,
    /// Whether something was read that no key stands for.
    pub untracked: bool,
}

/// A maximal run of records with one actor and turn: checks are evaluated where it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The first record.
    pub first: Seq,
    /// The last record.
    pub last: Seq,
    /// Who acted.
    pub actor: Actor,
    /// The agent's turn; nothing for everybody else.
    pub turn: Option<Turn>,
}

/// The steps of one episode in log order, checked: positions rise, agent records have turns that never go back, and
/// every dependency points to an earlier record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    steps: Vec<Step>,
}

impl Step {
    /// Returns the turn that credit may pay for this record: the agent's, or nothing if somebody else acted.
    #[must_use]
    pub fn agent_turn(&self) -> Option<Turn> {
        if self.actor.is_exogenous() { None } else { self.turn }
    }
}

impl Trace {
    /// Returns the trace over `steps`.
    ///
    /// # Errors
    ///
    /// [`CreditError::StepOrder`], [`CreditError::TurnMissing`], [`CreditError::TurnOrder`] or [`CreditError::Forward`].
    pub fn new(steps: Vec<Step>) -> Result<Self, CreditError> {
        let mut last = Seq::new(0);
        let mut turn = Turn::new(0);
        for step in &steps {
            if step.seq <= last {
                return Err(CreditError::StepOrder { seq: step.seq });
            }
            last = step.seq;
            if !step.actor.is_exogenous() {
                let own = step.turn.ok_or(CreditError::TurnMissing { seq: step.seq })?;
                if own < turn {
                    return Err(CreditError::TurnOrder { seq: step.seq, turn: own });
                }
                turn = own;
            }
            let mut sources = step.reads.iter().map(|read| read.written).chain(step.causes.iter().copied());
            if let Some(source_seq) = sources.find(|source| *source >= step.seq) {
                return Err(CreditError::Forward { seq: step.seq, source_seq });
            }
        }
        Ok(Self { steps })
    }

    /// Returns the steps in log order.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns the step at position `seq`, if the trace holds it.
    #[must_use]
    pub fn step(&self, seq: Seq) -> Option<&Step> {
        self.steps.binary_search_by_key(&seq, |step| step.seq).ok().map(|index| &self.steps[index])
    }

    /// Returns the agent's turns.
    #[must_use]
    pub fn turns(&self) -> BTreeSet<Turn> {
        self.steps.iter().filter_map(Step::agent_turn).collect()
    }

    /// Returns the positions of the records of `turn`.
    #[must_use]
    pub fn records_of(&self, turn: Turn) -> Vec<Seq> {
        self.steps.iter().filter(|step| step.agent_turn() == Some(turn)).map(|step| step.seq).collect()
    }

    /// Returns the segments in log order.
    #[must_use]
    pub fn segments(&self) -> Vec<Segment> {
        let mut segments: Vec<Segment> = Vec::new();
        for step in &self.steps {
            let turn = step.agent_turn();
            match segments.last_mut() {
                Some(open) if open.actor == step.actor && open.turn == turn => open.last = step.seq,
                Some(_) | None => {
                    segments.push(Segment { first: step.seq, last: step.seq, actor: step.actor.clone(), turn });
                }
            }
        }
        segments
    }
}

#[cfg(test)]
mod tests {
    use dayshift_engine::ReadKind;

    use super::*;

    fn step(seq: u64, actor: Actor, turn: Option<u32>) -> Step {
        Step {
            seq: Seq::new(seq),
            actor,
            turn: turn.map(Turn::new),
            reads: Vec::new(),
            causes: Vec::new(),
            arguments: Value::Null,
            output: Value::Null,
            writes: Vec::new(),
            untracked: false,
        }
    }

    #[test]
    fn a_world_record_between_two_records_of_a_turn_splits_its_segment() {
        let steps = vec![
            step(1, Actor::Agent, Some(1)),
            step(2, Actor::Agent, Some(1)),
            step(3, Actor::World, Some(1)),
            step(4, Actor::Agent, Some(1)),
        ];
        let bounds: Vec<_> =
            Trace::new(steps).unwrap().segments().iter().map(|one| (one.first.get(), one.last.get())).collect();
        assert_eq!(bounds, [(1, 2), (3, 3), (4, 4)]);
    }

    #[test]
    fn a_trace_refuses_records_out_of_order() {
        let steps = vec![step(2, Actor::World, None), step(2, Actor::World, None)];
        assert_eq!(Trace::new(steps), Err(CreditError::StepOrder { seq: Seq::new(2) }));
        assert_eq!(Trace::new(vec![step(0, Actor::World, None)]), Err(CreditError::StepOrder { seq: Seq::new(0) }));
    }

    #[test]
    fn a_trace_refuses_an_agent_record_without_a_turn() {
        let steps = vec![step(1, Actor::Agent, None)];
        assert_eq!(Trace::new(steps), Err(CreditError::TurnMissing { seq: Seq::new(1) }));
    }

    #[test]
    fn a_trace_refuses_a_turn_that_comes_back() {
        let steps = vec![step(1, Actor::Agent, Some(2)), step(2, Actor::Agent, Some(1))];
        assert_eq!(Trace::new(steps), Err(CreditError::TurnOrder { seq: Seq::new(2), turn: Turn::new(1) }));
    }

    #[test]
    fn a_trace_refuses_a_dependency_that_is_not_earlier() {
        let mut reader = step(1, Actor::Agent, Some(1));
        reader.reads.push(Read { key: Key::new("a"), kind: ReadKind::Item, written: Seq::new(1) });
        assert_eq!(Trace::new(vec![reader]), Err(CreditError::Forward { seq: Seq::new(1), source_seq: Seq::new(1) }));
    }
}
