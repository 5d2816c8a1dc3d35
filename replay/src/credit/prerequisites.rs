//! Which turns a check's progress rests on, and how far back each lies: a 0-1 breadth-first search from the check, which is itself
//! a reader, over the dependency edges.

use std::collections::{BTreeMap, VecDeque};

use dayshift_engine::{Seq, Turn};

use super::{Edges, Step, Trace};

/// What a walk back from one check's evidence found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prerequisites {
    /// The distance of each turn other than the one that flipped the check: the least number of entries into a different agent
    /// turn on a path, from 1.
    pub turns: BTreeMap<Turn, u32>,
    /// The distance at which an untracked read hides what lies beyond, if there is one on a path; the nearest counts.
    pub untracked: Option<u32>,
}

/// Returns the prerequisites of what `turn` achieved, seen from the last writers `roots` of the check's evidence. Edges inside a
/// turn and into exogenous records cost nothing: the world is passed through, and never paid.
#[must_use]
pub fn prerequisites(trace: &Trace, edges: &Edges, roots: &[Seq], turn: Turn) -> Prerequisites {
    let mut walk = Walk { distances: BTreeMap::new(), open: VecDeque::new() };
    for step in roots.iter().filter_map(|root| trace.step(*root)) {
        let enters = step.agent_turn().is_some_and(|own| own != turn);
        walk.reach(step, 0, enters);
    }
    let mut found = Prerequisites::default();
    while let Some((distance, seq)) = walk.open.pop_front() {
        if walk.distances[&seq] < distance {
            continue;
        }
        let Some(step) = trace.step(seq) else { continue };
        if step.untracked {
            found.untracked = Some(found.untracked.map_or(distance + 1, |nearest| nearest.min(distance + 1)));
        }
        for source in edges.sources(seq).filter_map(|(source, _)| trace.step(source)) {
            let enters = source.agent_turn().is_some_and(|own| step.agent_turn() != Some(own));
            walk.reach(source, distance, enters);
        }
    }
    for (seq, distance) in walk.distances {
        if let Some(own) = trace.step(seq).and_then(Step::agent_turn).filter(|own| *own != turn) {
            found.turns.entry(own).and_modify(|nearest| *nearest = distance.min(*nearest)).or_insert(distance);
        }
    }
    found
}

struct Walk {
    distances: BTreeMap<Seq, u32>,
    open: VecDeque<(u32, Seq)>,
}

impl Walk {
    /// Notes that `step` was reached from something at `distance`, entering another turn or not.
    fn reach(&mut self, step: &Step, distance: u32, enters: bool) {
        let reached = distance + u32::from(enters);
        if self.distances.get(&step.seq).is_some_and(|known| *known <= reached) {
            return;
        }
        self.distances.insert(step.seq, reached);
        if enters {
            self.open.push_back((reached, step.seq));
        } else {
            self.open.push_front((reached, step.seq));
        }
    }
}
