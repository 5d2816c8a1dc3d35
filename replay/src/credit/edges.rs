//! The dependency graph over records: who used what whom wrote, derived or answered. Every edge points to an earlier record, so the
//! graph is acyclic; turns are formed from it last, by whoever asks.

use std::collections::{BTreeMap, BTreeSet};

use dayshift_engine::{Key, ReadKind, Seq, SmolStr, Turn};

use super::{Trace, entities};

/// Why one record depends on another, with the evidence. Where several reasons hold, the first in this order is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edge {
    /// It read a key that the other last wrote.
    ReadAfterWrite {
        /// The first such key.
        key: Key,
    },
    /// It derives from the other, or was caused by it.
    Lineage,
    /// Its arguments hold a value that the other answered first.
    ToolOutputFlow {
        /// The first such value.
        value: SmolStr,
    },
}

/// The dependency edges of one trace: for each record, the earlier records that it depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edges {
    sources: BTreeMap<Seq, BTreeMap<Seq, Edge>>,
    /// Flows from an earlier call of the same turn. They are no evidence, since a turn's calls are asked before any is answered, and
    /// credit does not follow them; but dependency-closed replay looks for the value, so a slice must hold its source.
    within_turns: BTreeMap<Seq, BTreeSet<Seq>>,
}

impl Edge {
    /// Returns the short name of the reason: `raw`, `lineage` or `tof`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::ReadAfterWrite { .. } => "raw",
            Self::Lineage => "lineage",
            Self::ToolOutputFlow { .. } => "tof",
        }
    }
}

impl Edges {
    /// Returns the edges of `trace`. `known` holds the entities of the prompt and of the tools' schemas, which are nobody's discovery.
    ///
    /// A value flows from the earliest output that is not an echo of its own call's arguments, and only into another turn: re-reading
    /// what was read earns nothing. A value that the agent used before any output held it is its own invention.
    #[must_use]
    pub fn of(trace: &Trace, known: &BTreeSet<SmolStr>) -> Self {
        let mut edges = Self::default();
        let mut origins: BTreeMap<SmolStr, (Seq, Option<Turn>)> = BTreeMap::new();
        let mut known = known.clone();
        for step in trace.steps() {
            // Scans are not followed: a search would tie its caller to everything that it passed over.
            for read in step.reads.iter().filter(|read| read.kind != ReadKind::Scan) {
                edges.add(step.seq, read.written, || Edge::ReadAfterWrite { key: read.key.clone() });
            }
            for cause in &step.causes {
                edges.add(step.seq, *cause, || Edge::Lineage);
            }
            if step.actor.is_exogenous() {
                continue;
            }
            let arguments = entities(&step.arguments);
            for value in arguments.iter().filter(|value| !known.contains(*value)) {
                match origins.get(value) {
                    Some((origin, turn)) if *turn != step.turn => {
                        edges.add(step.seq, *origin, || Edge::ToolOutputFlow { value: value.clone() });
                    }
                    Some((origin, _)) => {
                        edges.within_turns.entry(step.seq).or_default().insert(*origin);
                    }
                    None => {}
                }
            }
            for value in entities(&step.output) {
                if !arguments.contains(&value) && !known.contains(&value) {
                    origins.entry(value).or_insert((step.seq, step.turn));
                }
            }
            known.extend(arguments.into_iter().filter(|value| !origins.contains_key(value)));
        }
        edges
    }

    /// Returns the records that `seq` depends on, earliest first, with the reason for each.
    pub fn sources(&self, seq: Seq) -> impl Iterator<Item = (Seq, &Edge)> {
        self.sources.get(&seq).into_iter().flatten().map(|(source, edge)| (*source, edge))
    }

    /// Returns every edge as (record, earlier record, reason), in order.
    pub fn iter(&self) -> impl Iterator<Item = (Seq, Seq, &Edge)> {
        self.sources.iter().flat_map(|(seq, sources)| sources.iter().map(|(source, edge)| (*seq, *source, edge)))
    }

    /// Returns `roots` and everything that they need, directly or through others: their backward closure.
    #[must_use]
    pub fn closure(&self, roots: impl IntoIterator<Item = Seq>) -> BTreeSet<Seq> {
        let mut open: Vec<Seq> = roots.into_iter().collect();
        let mut reached = BTreeSet::new();
        while let Some(seq) = open.pop() {
            if seq.get() != 0 && reached.insert(seq) {
                open.extend(self.sources(seq).map(|(source, _)| source));
                open.extend(self.within_turns.get(&seq).into_iter().flatten());
            }
        }
        reached
    }

    /// Returns the agent's turns in the backward closure of `roots`: the slice that should be enough to reach the same level.
    #[must_use]
    pub fn slice(&self, trace: &Trace, roots: impl IntoIterator<Item = Seq>) -> BTreeSet<Turn> {
        self.closure(roots).into_iter().filter_map(|seq| trace.step(seq)?.agent_turn()).collect()
    }

    /// Adds an edge unless one is there already. Record 0 stands for "since the beginning" and is no source.
    fn add(&mut self, seq: Seq, source: Seq, edge: impl FnOnce() -> Edge) {
        if source.get() != 0 {
            self.sources.entry(seq).or_default().entry(source).or_insert_with(edge);
        }
    }
}
