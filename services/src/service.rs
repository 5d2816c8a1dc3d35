//! What every service of the office offers to [`crate::Office`], and the desk at which a caller sits.

use chrono::SecondsFormat;
use chrono_tz::Tz;
use dayshift_engine::{
    Applying, Context, Decision, Difference, Looking, Rejection, SimTime, SmolStr, StateDigest, ToolCall, ToolSpec,
    Value,
};

/// The place from which a call is made: who sits there, and which time zone the office keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Desk {
    /// The caller's name, as colleagues know it.
    pub name: SmolStr,
    /// The caller's name as it stands in a letter's head.
    pub display: SmolStr,
    /// The caller's mail address, lower case; empty for the world and the scenario, which have none.
    pub address: SmolStr,
    /// The office's time zone.
    pub zone: Tz,
}

impl Desk {
    /// Returns `time` as RFC 3339 text with the offset of the office's zone.
    #[must_use]
    pub fn show(&self, time: SimTime) -> String {
        time.to_chrono().with_timezone(&self.zone).to_rfc3339_opts(SecondsFormat::Secs, false)
    }
}

/// One service: a part of the world with its own events, tools and questions.
pub trait Service: Clone {
    /// The facts that this service's state is a fold of.
    type Event;

    /// The tools, agent-facing and backstage, in any order.
    const TOOLS: &'static [ToolSpec];

    /// Decides what follows from `call`, one of [`Self::TOOLS`], admitted.
    ///
    /// # Errors
    ///
    /// A [`Rejection`] whose code starts with the service's name.
    fn decide(&self, call: &ToolCall, desk: &Desk, context: &Context<'_>) -> Result<Decision<Self::Event>, Rejection>;

    /// Changes the state by one event. Total.
    fn apply(&mut self, event: Self::Event, applying: &mut Applying<'_>);

    /// Answers the question `verb` of a check, a condition or a persona. What is absent is [`Value::Null`].
    ///
    /// # Errors
    ///
    /// `query/unknown` when there is no such question, `query/bad-arguments` when its arguments make no sense.
    fn query(&self, verb: &str, arguments: &Value, desk: &Desk, looking: &Looking<'_>) -> Result<Value, Rejection>;

    /// Returns the digest of the graded state.
    fn digest(&self) -> StateDigest;

    /// Adds the graded pieces in which this differs from `other`, in key order within each collection.
    fn differences(&self, other: &Self, into: &mut Vec<Difference>);

    /// Returns the graded state as one value for people.
    fn dump(&self) -> Value;
}

/// Returns the refusal of a question that no service knows.
#[must_use]
pub fn unknown_question(service: &str, verb: &str, known: &[&str]) -> Rejection {
    Rejection::new("query/unknown", format!("{service} has no question '{verb}'; it answers: {}", known.join(", ")))
}
