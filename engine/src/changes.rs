//! What changed in a world since its episode opened, and through whom: the difference between worlds, kept as it grows. Whoever grades a log
//! notes what each record changed in the graded state; a record that wrote what was there already, or only a reading mark, changed nothing.
//!
//! The unit is a *change*: one piece, from what it was before somebody touched it to what the same one left there. Writes to a piece that
//! follow one another without anybody else's between them are one change, and none if the last of them restores what the first one found.

use std::sync::Arc;

use imbl::OrdMap;
use smol_str::{SmolStr, format_smolstr};

use crate::access::Key;
use crate::id::{Actor, Day, Seq, Turn};
use crate::value::Value;
use crate::world::Difference;

/// The changes of one episode. A clone shares everything with its origin.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// By piece and record, so that the writes to one piece stand together in their order.
    writes: OrdMap<(Key, Seq), Arc<Change>>,
    /// By actor, the empty name for all: the record that last changed something.
    last: OrdMap<SmolStr, Seq>,
    /// By day: the record with which it was handed over.
    ends: OrdMap<Day, Seq>,
}

/// One piece that somebody changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The piece.
    pub key: Key,
    /// Who changed it.
    pub actor: Actor,
    /// The agent's turn, if the agent did.
    pub turn: Option<Turn>,
    /// The day on which it was last changed.
    pub day: Day,
    /// The record that last changed it.
    pub record: Seq,
    /// What was there before; nothing if the piece was not there.
    pub before: Option<Value>,
    /// What is there now, or was before somebody else changed it again.
    pub after: Option<Value>,
}

impl Changes {
    /// Notes what the record `seq` of `actor` changed: `differences` from the world before it to the world after it.
    pub fn note(
        &mut self,
        seq: Seq,
        (actor, turn, day): (&Actor, Option<Turn>, Day),
        differences: impl IntoIterator<Item = Difference>,
    ) {
        let before = self.writes.len();
        for Difference { key, left, right } in differences {
            let change =
                Change { key: key.clone(), actor: actor.clone(), turn, day, record: seq, before: left, after: right };
            self.writes.insert((key, seq), Arc::new(change));
        }
        if self.writes.len() > before {
            self.last.insert(SmolStr::default(), seq);
            self.last.insert(format_smolstr!("{actor}"), seq);
        }
    }

    /// Notes that `day` was handed over by the record `seq`.
    pub fn end_day(&mut self, day: Day, seq: Seq) {
        self.ends.insert(day, seq);
    }

    /// Returns the key of whatever `actor` changes, of all actors without one, and the record that last changed something of it.
    #[must_use]
    pub fn trace(&self, actor: Option<&str>) -> (Key, Seq) {
        let name = actor.unwrap_or_default();
        (changes_key(name), self.last.get(name).copied().unwrap_or_default())
    }

    /// Returns how many writes are looked through by [`Self::since`].
    #[must_use]
    pub fn len(&self) -> usize {
        self.writes.len()
    }

    /// Returns whether nothing was changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }

    /// Returns what was changed since `day` was handed over, since the opening without a day, in the order of the pieces. A day that is not
    /// over yet is now: nothing was changed since.
    #[must_use]
    pub fn since(&self, day: Option<Day>) -> Vec<Change> {
        let from = match day {
            None => Seq::default(),
            Some(day) => match self.ends.get(&day) {
                Some(end) => *end,
                None => return Vec::new(),
            },
        };
        let mut found: Vec<Change> = Vec::new();
        // The changes of the piece that is being looked at begin here.
        let mut start = 0;
        for ((key, _), write) in self.writes.iter().filter(|((_, seq), _)| *seq > from) {
            if found.get(start).is_none_or(|first| first.key != *key) {
                start = found.len();
            }
            match found[start..].last_mut() {
                Some(last) if last.actor == write.actor => {
                    let before = last.before.take();
                    *last = Change { before, ..Change::clone(write) };
                    if last.before == last.after {
                        found.pop();
                    }
                }
                _ => found.push(Change::clone(write)),
            }
        }
        found
    }
}

/// Returns the keys that a record of `actor` writes by changing something, as questions about changes read them.
#[must_use]
pub fn changes_keys(actor: &Actor) -> [Key; 2] {
    [changes_key(""), changes_key(&format_smolstr!("{actor}"))]
}

fn changes_key(actor: &str) -> Key {
    Key::new(format_smolstr!("log:changes/{actor}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MONDAY: Day = Day::new(1);

    struct Bench(Changes, u64);

    impl Bench {
        fn new() -> Self {
            Self(Changes::default(), 0)
        }

        fn write(&mut self, actor: &Actor, key: &str, before: i64, after: i64) {
            self.1 += 1;
            let value = |number: i64| (number > 0).then_some(Value::Int(number));
            let difference = Difference { key: Key::new(key), left: value(before), right: value(after) };
            self.0.note(Seq::new(self.1), (actor, None, MONDAY), [difference]);
        }

        fn shown(&self, day: Option<Day>) -> Vec<String> {
            let number = |value: &Option<Value>| value.as_ref().and_then(Value::as_int).unwrap_or_default();
            let show = |change: &Change| {
                format!(
                    "{} {} {}->{} #{}",
                    change.actor,
                    change.key,
                    number(&change.before),
                    number(&change.after),
                    change.record
                )
            };
            self.0.since(day).iter().map(show).collect()
        }
    }

    #[test]
    fn writes_of_one_actor_to_one_piece_are_one_change() {
        let mut bench = Bench::new();
        bench.write(&Actor::Agent, "a", 0, 1);
        bench.write(&Actor::Agent, "b", 5, 6);
        bench.write(&Actor::Agent, "a", 1, 2);
        assert_eq!(bench.shown(None), ["agent a 0->2 #3", "agent b 5->6 #2"]);
    }

    #[test]
    fn what_was_done_and_undone_is_no_change() {
        let mut bench = Bench::new();
        bench.write(&Actor::Agent, "a", 1, 2);
        bench.write(&Actor::Agent, "a", 2, 1);
        assert_eq!(bench.shown(None), Vec::<String>::new());
    }

    #[test]
    fn each_actor_has_a_change_of_its_own() {
        let mut bench = Bench::new();
        let ben = Actor::Persona("ben".into());
        bench.write(&Actor::Agent, "a", 0, 1);
        bench.write(&ben, "a", 1, 2);
        bench.write(&Actor::World, "a", 2, 3);
        assert_eq!(bench.shown(None), ["agent a 0->1 #1", "persona:ben a 1->2 #2", "world a 2->3 #3"]);
    }

    #[test]
    fn undoing_what_was_done_after_somebody_else_leaves_the_others_change() {
        let mut bench = Bench::new();
        bench.write(&Actor::World, "a", 1, 2);
        bench.write(&Actor::Agent, "a", 2, 9);
        bench.write(&Actor::Agent, "a", 9, 2);
        assert_eq!(bench.shown(None), ["world a 1->2 #1"]);
    }

    #[test]
    fn a_day_that_was_handed_over_is_where_later_changes_begin() {
        let mut bench = Bench::new();
        bench.write(&Actor::Agent, "a", 0, 1);
        bench.0.end_day(MONDAY, Seq::new(1));
        bench.write(&Actor::Agent, "a", 1, 2);
        assert_eq!(bench.shown(Some(MONDAY)), ["agent a 1->2 #2"]);
        assert_eq!(bench.shown(Some(MONDAY.next())), Vec::<String>::new(), "that day is not over");
    }

    #[test]
    fn the_trace_names_the_last_record_of_each_actor() {
        let mut bench = Bench::new();
        bench.write(&Actor::Agent, "a", 0, 1);
        bench.write(&Actor::World, "b", 0, 1);
        assert_eq!(bench.0.trace(Some("agent")), (Key::new("log:changes/agent"), Seq::new(1)));
        assert_eq!(bench.0.trace(None), (Key::new("log:changes/"), Seq::new(2)));
        assert_eq!(bench.0.trace(Some("persona:ben")).1, Seq::new(0));
    }
}
