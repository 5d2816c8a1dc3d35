//! Re-execution: feeds the recorded inputs to a fresh episode and compares every record byte for byte. Stops at the first divergence and
//! says what differs.

use std::sync::Arc;

use dayshift_engine::codec::Stored;
use dayshift_engine::{
    Actor, Blobs, CodecError, Episode, EpisodeError, Head, Host, Input, Key, Outcome, Outside, OutsideAct, Payload,
    Record, RecordHead, Request, Seed, Seq, SimTime, SmolStr, Step, ToolCall, World,
};

use crate::ReplayError;

/// What re-execution came to.
#[derive(Debug)]
pub enum Reexecution {
    /// Every record came out the same.
    Same {
        /// Where the log ends.
        head: Head,
        /// How many inputs were fed.
        inputs: usize,
    },
    /// A record came out otherwise.
    Diverged(Box<Divergence>),
}

/// The first record that came out otherwise.
#[derive(Debug)]
pub struct Divergence {
    /// The record.
    pub seq: Seq,
    /// When it was recorded.
    pub time: Option<SimTime>,
    /// Who acted, and what was asked, for people.
    pub what: String,
    /// What differs: the part, as it was recorded, as it came out now.
    pub differences: Vec<(String, String, String)>,
    /// The keys among the differences in reading: where to look first.
    pub keys: Vec<Key>,
}

/// The inputs of a log: what its bytes are a function of, besides scenario, seed and format.
#[derive(Clone, Debug, PartialEq)]
pub struct Inputs {
    /// The seed.
    pub seed: Seed,
    /// The position of the opening record; what is before it depends on the scenario alone.
    pub opened: Seq,
    /// The agent's messages and calls and what was staged from outside, each with the record that holds it.
    pub inputs: Vec<(Seq, Fed)>,
}

/// One input of a log.
#[derive(Clone, Debug, PartialEq)]
pub enum Fed {
    /// The agent's.
    Agent(Input),
    /// Somebody's who stages the world by hand.
    Outside(Outside),
}

impl Fed {
    /// Feeds the input to `episode`.
    ///
    /// # Errors
    ///
    /// As [`Episode::input`] and [`Episode::outside`].
    pub fn feed<W: World>(self, episode: &mut Episode<W>) -> Result<Step, EpisodeError> {
        match self {
            Self::Agent(input) => episode.input(input),
            Self::Outside(outside) => episode.outside(outside),
        }
    }
}

impl Inputs {
    /// Reads the inputs out of stored records.
    ///
    /// # Errors
    ///
    /// [`ReplayError::Codec`] when a record does not decode, [`ReplayError::NotOpened`] when the episode was never opened.
    pub fn of(records: &[Arc<[u8]>], blobs: &dyn Blobs) -> Result<Self, ReplayError> {
        let mut opened = None;
        let mut inputs = Vec::new();
        for bytes in records {
            let stored = Stored::new(bytes)?;
            let head = stored.head()?;
            let seq = stored.seq();
            match head {
                RecordHead { request: Request::Open { seed }, .. } => opened = Some((seed, seq)),
                RecordHead { request: Request::Message { text, hand_over }, .. } => {
                    let input = if hand_over { Input::HandOver { text } } else { Input::Turn { text } };
                    inputs.push((seq, Fed::Agent(input)));
                }
                RecordHead { request: Request::Call { tool, arguments }, actor: Actor::Agent, .. } => {
                    inputs.push((seq, Fed::Agent(Input::Call(call(seq, tool, &arguments, blobs)?))));
                }
                RecordHead { request, actor, event: Some(event), .. } if event.is_outside() => {
                    let act = match request {
                        Request::Call { tool, arguments } => OutsideAct::Call(call(seq, tool, &arguments, blobs)?),
                        Request::Notify { text } => OutsideAct::Tell(text),
                        Request::Genesis { .. }
                        | Request::Open { .. }
                        | Request::OpenDay { .. }
                        | Request::Message { .. }
                        | Request::Look
                        | Request::EndDay
                        | Request::Close => continue,
                    };
                    inputs.push((seq, Fed::Outside(Outside { event, time: stored.time(), actor, act })));
                }
                _ => {}
            }
        }
        let (seed, opened) = opened.ok_or(ReplayError::NotOpened)?;
        Ok(Self { seed, opened, inputs })
    }
}

/// Executes every input of `records` again on an episode that `open` opens with the recorded seed, and compares bytes. What was fetched from a
/// host comes from `host`: [`dayshift_engine::Recorded`], unless it is to be fetched again. `progress` hears of every record that came out the same.
///
/// # Errors
///
/// [`ReplayError`] when the log does not decode or the episode cannot go on.
pub fn reexecute<W: World>(
    records: &[Arc<[u8]>],
    blobs: &dyn Blobs,
    host: Arc<dyn Host>,
    open: impl FnOnce(Seed) -> Result<Episode<W>, ReplayError>,
    mut progress: impl FnMut(u64),
) -> Result<Reexecution, ReplayError> {
    let Inputs { seed, inputs, .. } = Inputs::of(records, blobs)?;
    let mut episode = open(seed)?;
    episode.set_host(host);
    let mut compared = 0_usize;
    let fed = inputs.len();
    for input in std::iter::once(None).chain(inputs.into_iter().map(|(_, input)| Some(input))) {
        if let Some(input) = input {
            input.feed(&mut episode)?;
        }
        for now in episode.log().since(compared as u64) {
            let Some(recorded) = records.get(compared) else {
                // The recorded episode was cut off here: what follows was owed and never recorded.
                break;
            };
            if recorded != now {
                return Ok(Reexecution::Diverged(Box::new(explain::<W>(recorded, now)?)));
            }
            compared += 1;
        }
        progress(compared as u64);
    }
    match records.get(compared) {
        Some(recorded) => Ok(Reexecution::Diverged(Box::new(missing::<W>(recorded)?))),
        None => {
            let hash = records.last().map(|record| dayshift_engine::RecordHash::of(record)).unwrap_or_default();
            Ok(Reexecution::Same { head: Head { count: records.len() as u64, hash }, inputs: fed })
        }
    }
}

fn call(seq: Seq, tool: SmolStr, arguments: &Payload, blobs: &dyn Blobs) -> Result<ToolCall, CodecError> {
    Ok(ToolCall { tool, arguments: arguments.load(seq, blobs)? })
}

fn explain<W: World>(recorded: &[u8], now: &[u8]) -> Result<Divergence, CodecError> {
    let (recorded, now) = (Stored::new(recorded)?, Stored::new(now)?);
    let (left, right): (Record<W::Event>, Record<W::Event>) = (recorded.record()?, now.record()?);
    let mut differences = Vec::new();
    let mut compare = |part: &str, left: String, right: String| {
        if left != right {
            differences.push((part.to_owned(), left, right));
        }
    };
    compare("time", left.time.to_string(), right.time.to_string());
    compare("actor", left.head.actor.to_string(), right.head.actor.to_string());
    compare("turn", format!("{:?}", left.head.turn), format!("{:?}", right.head.turn));
    compare("event", format!("{:?}", left.head.event), format!("{:?}", right.head.event));
    compare("causes", format!("{:?}", left.head.causes), format!("{:?}", right.head.causes));
    compare("request", format!("{:?}", left.head.request), format!("{:?}", right.head.request));
    compare("answer", outcome(&left.outcome), outcome(&right.outcome));
    compare("blobs", format!("{:?}", left.head.blobs), format!("{:?}", right.head.blobs));
    compare("brought by the host", format!("{:?}", left.head.brought), format!("{:?}", right.head.brought));
    let mut keys = Vec::new();
    for read in &left.reads {
        if !right.reads.contains(read) {
            let other = right.reads.iter().find(|other| other.key == read.key);
            let now = other.map_or("not read".to_owned(), |other| format!("written by record {}", other.written));
            differences.push((format!("read of {}", read.key), format!("written by record {}", read.written), now));
            keys.push(read.key.clone());
        }
    }
    for read in right.reads.iter().filter(|read| !left.reads.iter().any(|other| other.key == read.key)) {
        differences.push((
            format!("read of {}", read.key),
            "not read".to_owned(),
            format!("written by record {}", read.written),
        ));
        keys.push(read.key.clone());
    }
    for index in 0..left.events.len().max(right.events.len()) {
        let show = |events: &[W::Event]| events.get(index).map_or("none".to_owned(), |event| format!("{event:?}"));
        let (before, after) = (show(&left.events), show(&right.events));
        if before != after {
            differences.push((format!("event {}", index + 1), before, after));
        }
    }
    if differences.is_empty() {
        let note = "the same content in other bytes: the log was written by another version";
        differences.push(("encoding".to_owned(), note.to_owned(), String::new()));
    }
    Ok(Divergence { seq: left.seq, time: Some(left.time), what: what(&left), differences, keys })
}

fn missing<W: World>(recorded: &[u8]) -> Result<Divergence, CodecError> {
    let record: Record<W::Event> = Stored::new(recorded)?.record()?;
    let differences = vec![("record".to_owned(), what(&record), "nothing happened".to_owned())];
    Ok(Divergence { seq: record.seq, time: Some(record.time), what: what(&record), differences, keys: Vec::new() })
}

fn what<E>(record: &Record<E>) -> String {
    let request = match &record.head.request {
        Request::Genesis { .. } => "the genesis".to_owned(),
        Request::Open { .. } => "the opening".to_owned(),
        Request::OpenDay { name, .. } => format!("the opening of {name}"),
        Request::Call { tool, .. } => format!("a call of {tool}"),
        Request::Message { .. } => "a message".to_owned(),
        Request::Notify { .. } => "a notice".to_owned(),
        Request::Look => "a look".to_owned(),
        Request::EndDay => "the end of a day".to_owned(),
        Request::Close => "the end".to_owned(),
    };
    format!("{request} by {}", record.head.actor)
}

fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Done => "none".to_owned(),
        Outcome::Answered(payload) => format!("{payload:?}"),
        Outcome::Refused(rejection) => rejection.to_string(),
    }
}
