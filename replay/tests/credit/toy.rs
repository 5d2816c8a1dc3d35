//! The reference's toy workspace: a map of keys to values with six operations. It stands in for a world, so that the vectors can be
//! executed; operations and arguments are plain values, as a call carries them.

use std::collections::{BTreeMap, BTreeSet};

use dayshift_engine::{Actor, Key, Read, ReadKind, Seq, SmolStr, Turn, Value, map};
use dayshift_replay::credit::{Check, ClosedReplay, Edges, Movement, Step, Trace, Verdicts};

/// One event to execute.
#[derive(Clone, Debug)]
pub(crate) struct ToyEvent {
    pub(crate) seq: Seq,
    pub(crate) actor: Actor,
    pub(crate) turn: Option<Turn>,
    pub(crate) op: SmolStr,
    pub(crate) arguments: Value,
    pub(crate) causes: Vec<Seq>,
}

/// A check that is true when every key holds the wanted value.
#[derive(Clone, Debug)]
pub(crate) struct ToyCheck {
    pub(crate) id: SmolStr,
    pub(crate) weight: f64,
    pub(crate) wanted: Vec<(SmolStr, Value)>,
}

/// The workspace, with the event that last wrote each key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Toy {
    pub(crate) state: BTreeMap<SmolStr, Value>,
    written: BTreeMap<SmolStr, Seq>,
}

/// What one operation did.
pub(crate) struct Executed {
    pub(crate) reads: Vec<Read>,
    pub(crate) writes: Vec<Key>,
    pub(crate) output: Value,
}

/// An episode that was executed: what credit needs, and what the tests compare.
pub(crate) struct Recorded {
    pub(crate) trace: Trace,
    pub(crate) verdicts: Verdicts,
    pub(crate) end: Toy,
    /// What the segments of each turn moved the score by, its reactions included.
    pub(crate) potential: BTreeMap<Turn, f64>,
}

impl Toy {
    pub(crate) fn new(initial: &BTreeMap<SmolStr, Value>) -> Self {
        Self { state: initial.clone(), written: BTreeMap::new() }
    }

    pub(crate) fn execute(&mut self, seq: Seq, op: &str, arguments: &Value) -> Executed {
        let text = |name: &str| SmolStr::from(arguments.get(name).and_then(Value::as_text).expect("an argument"));
        let (read, write, output): (Vec<SmolStr>, Option<(SmolStr, Value)>, Value) = match op {
            "read" => {
                let key = text("k");
                let value = self.value(&key);
                (vec![key], None, map! { "value" => value })
            }
            "write" => {
                (vec![], Some((text("k"), arguments.get("v").cloned().unwrap_or_default())), map! { "ok" => true })
            }
            "del" => (vec![], Some((text("k"), Value::Null)), map! { "ok" => true }),
            "copy" => {
                let value = self.value(&text("src"));
                let ok = value != Value::Null;
                (vec![text("src")], Some((text("dst"), value)), map! { "ok" => ok })
            }
            "concat" => {
                let sources = arguments.get("srcs").and_then(Value::as_list).expect("sources");
                let sources: Vec<SmolStr> = sources.iter().map(|one| one.as_text().expect("a key").into()).collect();
                let texts = sources.iter().map(|key| self.value(key).as_text().unwrap_or("None").to_owned());
                let joined = texts.collect::<Vec<_>>().join("+");
                (sources, Some((text("dst"), joined.into())), map! { "ok" => true })
            }
            "noop" => (vec![], None, map! {}),
            other => panic!("the toy knows no operation {other}"),
        };
        let reads =
            read.iter().map(|key| Read { key: Key::new(key.clone()), kind: ReadKind::Item, written: self.writer(key) });
        let reads = reads.collect();
        let writes = write.iter().map(|(key, _)| Key::new(key.clone())).collect();
        if let Some((key, value)) = write {
            self.state.insert(key.clone(), value);
            self.written.insert(key, seq);
        }
        Executed { reads, writes, output }
    }

    fn value(&self, key: &str) -> Value {
        self.state.get(key).cloned().unwrap_or_default()
    }

    fn writer(&self, key: &str) -> Seq {
        self.written.get(key).copied().unwrap_or_default()
    }
}

impl ToyCheck {
    pub(crate) fn level(&self, toy: &Toy) -> f64 {
        if self.wanted.iter().all(|(key, value)| toy.value(key) == *value) { 1.0 } else { 0.0 }
    }

    pub(crate) fn roots(&self, toy: &Toy) -> Vec<Seq> {
        self.wanted.iter().map(|(key, _)| toy.writer(key)).collect()
    }
}

/// Executes `events` and notes how the checks moved at the end of every segment.
pub(crate) fn record(events: &[ToyEvent], initial: &BTreeMap<SmolStr, Value>, checks: &[ToyCheck]) -> Recorded {
    let mut toy = Toy::new(initial);
    let mut levels: Vec<f64> = checks.iter().map(|check| check.level(&toy)).collect();
    let declared = checks
        .iter()
        .zip(&levels)
        .map(|(check, start)| Check { id: check.id.clone(), weight: check.weight, start: *start })
        .collect();
    let mut steps: Vec<Step> = Vec::new();
    let mut movements = Vec::new();
    let mut potential = BTreeMap::new();
    let owners = owners(events);
    for (index, event) in events.iter().enumerate() {
        let done = toy.execute(event.seq, &event.op, &event.arguments);
        steps.push(Step {
            seq: event.seq,
            actor: event.actor.clone(),
            turn: event.turn,
            reads: done.reads,
            causes: event.causes.clone(),
            arguments: event.arguments.clone(),
            output: done.output,
            writes: done.writes,
            untracked: false,
        });
        let owner = owners[&event.seq];
        let goes_on = events.get(index + 1).is_some_and(|next| next.actor == event.actor && owners[&next.seq] == owner);
        if goes_on {
            continue;
        }
        for (check, toy_check) in checks.iter().enumerate() {
            let (before, after) = (levels[check], toy_check.level(&toy));
            if before != after {
                let roots = toy_check.roots(&toy);
                movements.push(Movement { check, at: event.seq, before, after, roots, untracked: false });
                levels[check] = after;
                if let Some(turn) = owner {
                    *potential.entry(turn).or_default() += toy_check.weight * (after - before);
                }
            }
        }
    }
    let trace = Trace::new(steps).expect("the toy's events come in order");
    let verdicts = Verdicts::new(&trace, declared, movements, Vec::new()).expect("the toy's movements join");
    Recorded { trace, verdicts, end: toy, potential }
}

/// Finds out to which turn each event belongs, as the reference does: by walking back from each through exogenous causes.
pub(crate) fn owners(events: &[ToyEvent]) -> BTreeMap<Seq, Option<Turn>> {
    let known: BTreeMap<Seq, &ToyEvent> = events.iter().map(|event| (event.seq, event)).collect();
    let owner = |event: &ToyEvent| {
        if event.actor == Actor::Agent {
            return event.turn;
        }
        let mut open = event.causes.clone();
        let mut seen = BTreeSet::new();
        let mut latest: Option<&ToyEvent> = None;
        while let Some(seq) = open.pop() {
            let Some(cause) = known.get(&seq).filter(|_| seen.insert(seq)) else { continue };
            if cause.actor != Actor::Agent {
                open.extend(&cause.causes);
            } else if latest.is_none_or(|latest| latest.seq < seq) {
                latest = Some(cause);
            }
        }
        latest.and_then(|latest| latest.turn)
    };
    events.iter().map(|event| (event.seq, owner(event))).collect()
}

/// Replays with only the turns in `keep`, dependency-closed, and returns the weighted score.
pub(crate) fn replay(
    events: &[ToyEvent],
    initial: &BTreeMap<SmolStr, Value>,
    checks: &[ToyCheck],
    rule: &ClosedReplay<'_>,
    keep: &BTreeSet<Turn>,
) -> f64 {
    let operations: BTreeMap<Seq, &SmolStr> = events.iter().map(|event| (event.seq, &event.op)).collect();
    let mut toy = Toy::new(initial);
    let ran = rule.run(keep, |step| Ok::<_, ()>(toy.execute(step.seq, operations[&step.seq], &step.arguments).output));
    ran.expect("the toy never fails");
    checks.iter().map(|check| check.weight * check.level(&toy)).sum()
}

/// Returns the edges as the reference prints them: `later->earlier` with the kind.
pub(crate) fn kinds(edges: &Edges) -> BTreeMap<String, String> {
    edges.iter().map(|(seq, source, edge)| (format!("{seq}->{source}"), edge.kind().to_owned())).collect()
}
