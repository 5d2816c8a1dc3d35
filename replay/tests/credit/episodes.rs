//! Random episodes of the toy workspace, drawn as the reference draws them: four ids in source keys, five keys to fill, one event in
//! five by somebody else, four checks of equal weight.

use std::collections::{BTreeMap, BTreeSet};

use dayshift_engine::{Actor, Seq, SmolStr, Turn, Value, map};
use dayshift_replay::credit::{ClosedReplay, Config, Edges, Ledger};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::toy::{Recorded, ToyCheck, ToyEvent, record, replay};

const KEYS: [&str; 5] = ["k0", "k1", "k2", "k3", "k4"];
const SOURCES: [&str; 4] = ["src0", "src1", "src2", "src3"];
const IDS: [&str; 4] = ["ID-2041", "ID-3377", "ID-5520", "ID-9186"];

/// One episode, ready to be executed.
#[derive(Clone, Debug)]
pub(crate) struct Episode {
    pub(crate) initial: BTreeMap<SmolStr, Value>,
    pub(crate) events: Vec<ToyEvent>,
    pub(crate) checks: Vec<ToyCheck>,
}

impl Episode {
    pub(crate) fn record(&self) -> Recorded {
        record(&self.events, &self.initial, &self.checks)
    }

    pub(crate) fn settle(&self, config: &Config) -> Ledger {
        let recorded = self.record();
        let edges = Edges::of(&recorded.trace, &BTreeSet::new());
        Ledger::settle(&recorded.trace, &edges, &recorded.verdicts, config)
    }

    /// Returns the weighted score of `checks` after a dependency-closed replay of the turns in `keep`.
    pub(crate) fn replay(&self, checks: &[ToyCheck], rule: &ClosedReplay<'_>, keep: &BTreeSet<Turn>) -> f64 {
        replay(&self.events, &self.initial, checks, rule, keep)
    }

    /// Returns the same episode with its events numbered from 1 again; causes keep naming the same events.
    pub(crate) fn renumbered(mut self) -> Self {
        let places: BTreeMap<Seq, Seq> =
            self.events.iter().zip(1..).map(|(event, place)| (event.seq, Seq::new(place))).collect();
        for event in &mut self.events {
            event.seq = places[&event.seq];
            for cause in &mut event.causes {
                *cause = places[cause];
            }
        }
        self
    }
}

/// One drawn event, before turns are counted.
#[derive(Clone, Debug)]
struct Drawn {
    actor: Actor,
    starts_turn: bool,
    op: &'static str,
    key: &'static str,
    source: &'static str,
    value: &'static str,
    cause: Option<Index>,
}

/// Returns episodes of 3 to 12 events by the agent, the world and a colleague.
pub(crate) fn episode() -> impl Strategy<Value = Episode> {
    let event = prop_oneof![4 => agent_event(), 1 => exogenous_event()];
    (prop::collection::vec(event, 3..13), prop::collection::vec(wanted(), 4)).prop_map(assemble)
}

/// Returns episodes in which the agent does nothing.
pub(crate) fn exogenous_episode() -> impl Strategy<Value = Episode> {
    (prop::collection::vec(exogenous_event(), 1..8), prop::collection::vec(wanted(), 4)).prop_map(assemble)
}

/// Returns configurations over the whole range of the knobs.
pub(crate) fn config() -> impl Strategy<Value = Config> {
    let rho = prop_oneof![Just(0.0), Just(0.3), Just(0.5), 0.0..=0.5];
    let gamma = prop_oneof![Just(0.5), Just(0.7), Just(1.0), 0.0..=1.0];
    (rho, gamma).prop_map(|(rho, gamma)| Config::new(rho, gamma).unwrap())
}

fn agent_event() -> impl Strategy<Value = Drawn> {
    let op = prop::sample::select(vec!["read", "read", "write", "write", "copy", "del", "noop"]);
    let source = prop::sample::select([KEYS.as_slice(), SOURCES.as_slice()].concat());
    let value = prop::sample::select([IDS.as_slice(), &["lit"]].concat());
    (prop::bool::weighted(0.7), op, prop::sample::select(KEYS.to_vec()), source, value).prop_map(
        |(starts_turn, op, key, source, value)| Drawn {
            actor: Actor::Agent,
            starts_turn,
            op,
            key,
            source,
            value,
            cause: None,
        },
    )
}

fn exogenous_event() -> impl Strategy<Value = Drawn> {
    let actor = prop::sample::select(vec![Actor::World, Actor::World, Actor::Persona("petra".into())]);
    let op = prop::sample::select(vec!["write", "del"]);
    let cause = prop::option::weighted(0.3, any::<Index>());
    (actor, op, prop::sample::select(KEYS.to_vec()), prop::sample::select(IDS.to_vec()), cause).prop_map(
        |(actor, op, key, value, cause)| Drawn { actor, starts_turn: false, op, key, source: key, value, cause },
    )
}

fn wanted() -> impl Strategy<Value = BTreeMap<&'static str, &'static str>> {
    let pair = (prop::sample::select(KEYS.to_vec()), prop::sample::select(IDS.to_vec()));
    prop::collection::vec(pair, 1..3).prop_map(|pairs| pairs.into_iter().collect())
}

fn assemble((drawn, wanted): (Vec<Drawn>, Vec<BTreeMap<&'static str, &'static str>>)) -> Episode {
    let mut turn = Turn::new(0);
    let mut after_agent = false;
    let mut events = Vec::new();
    for (place, one) in drawn.into_iter().enumerate() {
        let acts = one.actor == Actor::Agent;
        if acts && (!after_agent || one.starts_turn) {
            turn = turn.next();
        }
        after_agent = acts;
        let arguments = match one.op {
            "read" => map! { "k" => one.source },
            "write" => map! { "k" => one.key, "v" => one.value },
            "copy" => map! { "src" => one.source, "dst" => one.key },
            "del" => map! { "k" => one.key },
            _ => map! {},
        };
        let causes = one.cause.filter(|_| place > 0).map(|index| Seq::new(index.index(place) as u64 + 1));
        events.push(ToyEvent {
            seq: Seq::new(place as u64 + 1),
            actor: one.actor,
            turn: acts.then_some(turn),
            op: one.op.into(),
            arguments,
            causes: causes.into_iter().collect(),
        });
    }
    let initial = SOURCES.iter().zip(IDS).map(|(key, id)| ((*key).into(), id.into())).collect();
    let checks = wanted.into_iter().enumerate().map(|(index, pairs)| ToyCheck {
        id: format!("c{index}").into(),
        weight: 0.25,
        wanted: pairs.into_iter().map(|(key, value)| (key.into(), value.into())).collect(),
    });
    Episode { initial, events, checks: checks.collect() }
}
