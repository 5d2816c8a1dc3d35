//! The recorded steps that credit walks over: one for each record of a log, as plain data. Not the log itself.

use std::collections::{BTreeMap, BTreeSet};

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

/// A maximal run of records with one actor and turn, where the turn of a reaction is that of whoever set it off: checks are evaluated where it
/// ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The first record.
    pub first: Seq,
    /// The last record.
    pub last: Seq,
    /// Who acted.
    pub actor: Actor,
    /// The turn that it belongs to; nothing for what the world did by itself.
    pub turn: Option<Turn>,
}

/// Finds out to whom records belong, one after the other in log order: the agent's to their own turn, a reaction to the turn of the latest
/// agent record behind it, found through causes and passing through other reactions only. What has no agent behind it belongs to nobody.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Owners {
    /// For each record that belongs to a turn: the agent's record, and its turn.
    behind: BTreeMap<Seq, (Seq, Turn)>,
}

impl Owners {
    /// Notes the next record and returns the turn that it belongs to.
    pub(crate) fn next(&mut self, seq: Seq, actor: &Actor, turn: Option<Turn>, causes: &[Seq]) -> Option<Turn> {
        let owner = if actor.is_exogenous() {
            causes.iter().filter_map(|cause| self.behind.get(cause).copied()).max()
        } else {
            turn.map(|turn| (seq, turn))
        };
        self.behind.extend(owner.map(|owner| (seq, owner)));
        owner.map(|(_, turn)| turn)
    }

    /// Returns the turn that the record `seq` belongs to.
    pub(crate) fn of(&self, seq: Seq) -> Option<Turn> {
        self.behind.get(&seq).map(|(_, turn)| *turn)
    }
}

/// The steps of one episode in log order, checked: positions rise, agent records have turns that never go back, and
/// every dependency points to an earlier record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    steps: Vec<Step>,
    owners: Owners,
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
        let mut owners = Owners::default();
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
            owners.next(step.seq, &step.actor, step.turn, &step.causes);
        }
        Ok(Self { steps, owners })
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

    /// Returns the turn that the record `seq` belongs to: the agent's own, or the one that set off a reaction. What the world did by itself
    /// belongs to none.
    #[must_use]
    pub fn owner(&self, seq: Seq) -> Option<Turn> {
        self.owners.of(seq)
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
            let turn = self.owner(step.seq);
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
    fn a_reaction_belongs_to_the_latest_agent_record_behind_it() {
        let caused = |seq, causes: &[u64]| Step {
            causes: causes.iter().copied().map(Seq::new).collect(),
            ..step(seq, Actor::Persona("ann".into()), None)
        };
        let steps = vec![
            step(1, Actor::Agent, Some(1)),
            step(2, Actor::Agent, Some(2)),
            caused(3, &[1]),
            caused(4, &[2, 3]),
            caused(5, &[3]),
            caused(6, &[]),
            caused(7, &[6]),
        ];
        let trace = Trace::new(steps).unwrap();
        let owners: Vec<_> = (1..=7).map(|seq| trace.owner(Seq::new(seq)).map(Turn::get)).collect();
        assert_eq!(owners, [Some(1), Some(2), Some(1), Some(2), Some(1), None, None]);
    }

    #[test]
    fn a_reaction_does_not_pass_through_the_agents_own_causes() {
        let mut copy = step(3, Actor::Agent, Some(2));
        copy.causes.push(Seq::new(1));
        let mut answer = step(4, Actor::World, None);
        answer.causes.push(Seq::new(3));
        let trace = Trace::new(vec![step(1, Actor::Agent, Some(1)), copy, answer]).unwrap();
        assert_eq!(trace.owner(Seq::new(4)), Some(Turn::new(2)));
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
