//! A bench on which one service is tried alone: calls are admitted, decided, applied and traced as the kernel does it. Test code only.

use dayshift_engine::{
    Accesses, Actor, Applying, Audience, Blobs, Budget, Canonical, Context, Effect, Frame, Key, Looking, MemoryBlobs,
    Rejection, Seed, Seq, SimTime, SmolStr, ToolCall, Turn, Value,
};

use crate::service::{Desk, Service};

/// One service on a bench. The time starts at 2026-03-16T08:00:00Z and moves a second a call.
pub(crate) struct Bench<S> {
    pub(crate) service: S,
    pub(crate) desk: Desk,
    pub(crate) actor: Actor,
    pub(crate) time: SimTime,
    pub(crate) seq: Seq,
    pub(crate) blobs: MemoryBlobs,
    /// What the last call or question read.
    pub(crate) accesses: Accesses,
    /// The keys that the last call wrote, sorted.
    pub(crate) writes: Vec<Key>,
    /// The work and the bytes that a call may cost, where a test wants less than usual.
    pub(crate) limits: Option<(u64, u64)>,
}

impl<S: Service> Bench<S> {
    /// Returns a bench for `service` at which the agent `Ann Lee <ann@acme.example>` sits, in Europe/Berlin.
    pub(crate) fn new(service: S) -> Self {
        Self {
            service,
            desk: Desk {
                name: SmolStr::from("Ann Lee"),
                display: SmolStr::from("Ann Lee"),
                address: SmolStr::from("ann@acme.example"),
                zone: chrono_tz::Europe::Berlin,
            },
            actor: Actor::Agent,
            time: "2026-03-16T08:00:00Z".parse().expect("a good time"),
            seq: Seq::default(),
            blobs: MemoryBlobs::new(),
            accesses: Accesses::default(),
            writes: Vec::new(),
            limits: None,
        }
    }

    /// Keeps `bytes` as a blob and returns its name, for the `blob` argument of an import.
    pub(crate) fn blob(&self, bytes: &[u8]) -> String {
        self.blobs.put(bytes.into()).to_string()
    }

    /// Makes a call as the kernel would. A backstage tool is called in the world's name.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, Rejection> {
        let spec = S::TOOLS.iter().find(|spec| spec.name == tool).unwrap_or_else(|| panic!("no tool {tool}"));
        let call = ToolCall::new(tool, arguments);
        self.seq = self.seq.next();
        self.time = self.time + dayshift_engine::SimDuration::from_seconds(1);
        self.writes.clear();
        let limits = self.limits.map(|(work, bytes)| Budget::new(work, bytes));
        let frame = limits.map_or_else(Frame::new, Frame::with_budget);
        let actor = if spec.audience == Audience::Backstage { Actor::World } else { self.actor.clone() };
        let context = Context {
            seq: self.seq,
            time: self.time,
            actor: &actor,
            turn: Some(Turn::new(1)),
            allowance: dayshift_engine::Allowance::default(),
            seed: Seed::new(7),
            frame: &frame,
            blobs: &self.blobs,
        };
        let decided = spec.admit(&call).and_then(|()| self.service.decide(&call, &self.desk, &context));
        self.accesses = frame.close();
        let decision = decided?;
        let before = self.service.digest();
        let mut canonical = Canonical::default();
        for event in decision.events {
            let mut applying = Applying::new(self.seq, self.time, &actor, Some(&mut self.writes), &mut canonical);
            self.service.apply(event, &mut applying);
        }
        self.writes.sort();
        if spec.effect == Effect::Reads {
            assert_eq!(before, self.service.digest(), "{tool} only reads, yet graded state changed");
        }
        Ok(decision.answer)
    }

    /// Asks a question as a check would.
    pub(crate) fn ask(&mut self, verb: &str, arguments: Value) -> Result<Value, Rejection> {
        let limits = self.limits.map(|(work, bytes)| Budget::new(work, bytes));
        let frame = limits.map_or_else(Frame::new, Frame::with_budget);
        let looking = Looking { time: self.time, frame: &frame, blobs: &self.blobs };
        let answer = self.service.query(verb, &arguments, &self.desk, &looking);
        self.accesses = frame.close();
        answer
    }

    /// Returns the keys that the last call or question read, in order.
    pub(crate) fn read_keys(&self) -> Vec<&str> {
        self.accesses.reads.iter().map(|read| read.key.as_str()).collect()
    }

    /// Returns the keys that the last call wrote, in order.
    pub(crate) fn written_keys(&self) -> Vec<&str> {
        self.writes.iter().map(Key::as_str).collect()
    }
}
