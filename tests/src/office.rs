//! An office with one agent in it, in which tests and fuzz targets make calls as the kernel would: admitted, decided, stored, applied. It keeps no
//! log. Not a test itself; `fuzz/` compiles this file too.

use dayshift_engine::{
    Actor, Applying, Audience, Canonical, Context, Effect, Frame, Looking, MemoryBlobs, Rejection, Seed, Seq,
    SimDuration, SimTime, ToolCall, Turn, Value, World, map,
};
use dayshift_engine::{Blobs as _, codec};
use dayshift_services::{Office, OfficeEvent};

/// An office whose agent is `Ann Lee <ann@acme.example>`, in Europe/Berlin. The time starts at 2026-03-16T08:00:00Z and moves a second a call.
#[derive(Debug)]
pub struct Bench {
    office: Office,
    blobs: MemoryBlobs,
    canonical: Canonical,
    seq: Seq,
    time: SimTime,
}

impl Default for Bench {
    fn default() -> Self {
        Self::new()
    }
}

impl Bench {
    /// Returns an office with nothing in it but the agent.
    ///
    /// # Panics
    ///
    /// If the office does not take an agent in.
    #[must_use]
    pub fn new() -> Self {
        let mut bench = Self {
            office: Office::default(),
            blobs: MemoryBlobs::new(),
            canonical: Canonical::default(),
            seq: Seq::default(),
            time: SimTime::from_millis(1_773_648_000_000),
        };
        let agent = map! { "name" => "ann", "display" => "Ann Lee", "address" => "ann@acme.example", "agent" => true };
        for (tool, arguments) in [("people.settle", map! { "zone" => "Europe/Berlin" }), ("people.introduce", agent)] {
            bench.call(tool, arguments).expect("an office takes an agent in");
        }
        bench
    }

    /// Returns the office.
    #[must_use]
    pub fn office(&self) -> &Office {
        &self.office
    }

    /// Keeps `bytes` as a blob and returns its name, for the `blob` argument of an import.
    pub fn blob(&self, bytes: &[u8]) -> String {
        self.blobs.put(bytes.into()).to_string()
    }

    /// Makes a call: in the world's name if the tool is for backstage alone, in the agent's otherwise.
    ///
    /// # Errors
    ///
    /// The call's refusal.
    ///
    /// # Panics
    ///
    /// If a refusal has no code or sentence, if what follows cannot be stored and read back, or if a tool that only reads changes graded state.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, Rejection> {
        let spec = Office::tools().iter().find(|spec| spec.name == tool).unwrap_or_else(|| panic!("no tool {tool}"));
        let call = ToolCall::new(tool, arguments);
        self.seq = self.seq.next();
        self.time = self.time + SimDuration::from_seconds(1);
        let frame = Frame::new();
        let (actor, turn) = match spec.audience {
            Audience::Backstage => (Actor::World, None),
            Audience::Everybody => (Actor::Agent, Some(Turn::new(1))),
        };
        let (seq, time, seed) = (self.seq, self.time, Seed::new(7));
        let context = Context {
            seq,
            time,
            actor: &actor,
            turn,
            allowance: dayshift_engine::Allowance::default(),
            seed,
            frame: &frame,
            blobs: &self.blobs,
        };
        let decision =
            spec.admit(&call).and_then(|()| self.office.decide(&call, &context)).inspect_err(|rejection| {
                assert!(rejection.code.contains('/') && !rejection.message.is_empty(), "{tool}: {rejection:?}");
            })?;
        let before = (spec.effect == Effect::Reads).then(|| self.office.digest());
        for event in decision.events {
            let mut applying = Applying::new(seq, time, &actor, None, &mut self.canonical);
            self.office.apply(stored(&event), &mut applying);
        }
        if let Some(before) = before {
            assert_eq!(before, self.office.digest(), "{tool} only reads, yet graded state changed");
        }
        // An answer goes into a record, too.
        let answer = codec::decode_value(&codec::encode_value(&decision.answer));
        answer.map_err(|fault| panic!("{tool}: the answer {} cannot be read back: {fault:?}", decision.answer))
    }

    /// Asks a question as a check would.
    ///
    /// # Errors
    ///
    /// The question's refusal.
    pub fn ask(&self, question: &str, arguments: &Value) -> Result<Value, Rejection> {
        self.look(|looking| self.office.query(question, arguments, looking))
    }

    /// Looks at the office as a door that exports does.
    pub fn look<T>(&self, look: impl FnOnce(&Looking<'_>) -> T) -> T {
        let frame = Frame::new();
        look(&Looking { time: self.time, frame: &frame, blobs: &self.blobs })
    }

    /// Returns the bytes of a message as they were sent or imported.
    #[must_use]
    pub fn message(&self, address: &str, folder: &str, uid: u32) -> Option<Vec<u8>> {
        self.look(|looking| {
            let source = self.office.mail().source(looking.frame, address, folder, uid)?;
            looking.load(source).ok().map(|bytes| bytes.to_vec())
        })
    }

    /// Returns a calendar as an iCalendar file, if it is there.
    #[must_use]
    pub fn calendar(&self, name: &str) -> Option<Vec<u8>> {
        self.look(|looking| self.office.calendar().export(name, |content| looking.load(content)).ok().flatten())
    }

    /// Returns a workbook as an XLSX file.
    ///
    /// # Errors
    ///
    /// The export's refusal.
    pub fn workbook(&self, name: &str) -> Result<Vec<u8>, Rejection> {
        self.look(|looking| self.office.sheets().export_xlsx(name, looking))
    }
}

/// Returns the event as it comes back from a log.
fn stored(event: &OfficeEvent) -> OfficeEvent {
    use dayshift_engine::{Day, Outcome, Record, RecordHead, Request};
    let head = RecordHead {
        actor: Actor::World,
        turn: None,
        day: Day::default(),
        event: None,
        causes: Vec::new(),
        request: Request::Look,
        wait: None,
        blobs: Vec::new(),
        untracked: false,
        brought: None,
    };
    let record = Record {
        seq: Seq::default(),
        time: SimTime::from_millis(0),
        head,
        reads: Vec::new(),
        events: vec![event.clone()],
        outcome: Outcome::Done,
    };
    let bytes = codec::encode(Default::default(), &record);
    let read = codec::Stored::new(&bytes).and_then(|stored| stored.events::<OfficeEvent>());
    let event = read.unwrap_or_else(|fault| panic!("an event cannot be read back: {fault}")).pop();
    event.expect("the one event that was stored")
}
