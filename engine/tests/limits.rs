//! What an episode may use: calls that cannot be taken in are refused on record, and an episode that has used up its bytes or records ends.

use std::sync::Arc;

use dayshift_engine::toy::{Toy, ToyScript};
use dayshift_engine::{
    ARGUMENTS_BYTES_MAX, Clock, EPISODE_FULL, Episode, EpisodeLimits, Genesis, Input, MemoryBlobs, Plan, PlannedDay,
    Prefix, Request, Script, Seed, SimTime, ToolCall, VALUE_DEPTH_MAX, Value, map,
};

const HOUR: i64 = 3_600_000;

struct Table {
    prefix: Prefix<Toy>,
    script: Arc<dyn Script<Toy>>,
    blobs: Arc<MemoryBlobs>,
}

fn table(clock: Clock, limits: EpisodeLimits) -> Table {
    let day = |name: &str, hour: i64| PlannedDay {
        name: name.into(),
        opens: SimTime::from_millis(hour * HOUR),
        ends: SimTime::from_millis((hour + 8) * HOUR),
        notification: format!("Good morning, {name}."),
        closing: Some("It is getting late.".to_owned()),
    };
    let plan = Plan {
        days: vec![day("mon", 9), day("tue", 33)],
        closes: SimTime::from_millis(42 * HOUR),
        clock,
        limits,
        ..Plan::default()
    };
    let script = ToyScript { plan, ..ToyScript::default() }.shared();
    let blobs = Arc::new(MemoryBlobs::new());
    let genesis =
        Genesis { scenario: "toy-v1".into(), digest: Default::default(), blobs: Vec::new(), epoch: SimTime::default() };
    let prefix =
        Prefix::build(Toy::default(), genesis, Vec::new(), Arc::clone(&script), blobs.clone()).expect("laid out");
    Table { prefix, script, blobs }
}

impl Table {
    fn open(&self) -> Episode<Toy> {
        let opened = Episode::open(&self.prefix, Seed::new(1), Arc::clone(&self.script), self.blobs.clone());
        opened.expect("it opens").0
    }

    /// Returns the episode as it is after only the first `count` records of `whole`.
    fn cut(&self, whole: &Episode<Toy>, count: usize) -> Episode<Toy> {
        let records: Vec<_> = whole.log().since(0).take(count).cloned().collect();
        Episode::resume(Toy::default(), &records, Arc::clone(&self.script), self.blobs.clone()).expect("it resumes")
    }
}

fn write(value: Value) -> ToolCall {
    ToolCall::new("toy.write", map! { "k" => "a", "v" => value })
}

fn nested(levels: usize) -> Value {
    (0..levels).fold(Value::Null, |value, _| Value::List(vec![value]))
}

#[test]
fn arguments_that_nest_too_deep_are_refused_on_record_and_not_kept() {
    let mut episode = table(Clock::Staged, EpisodeLimits::default()).open();
    let step = episode.call(write(nested(VALUE_DEPTH_MAX + 1))).expect("recorded");
    assert_eq!(step.answer.expect_err("refused").code, "call/unreadable-arguments");
    assert!(episode.log().stored(step.seq).expect("there").head().expect("reads").blobs.is_empty());
}

#[test]
fn arguments_up_to_the_limit_are_kept_and_longer_ones_are_not() {
    let mut episode = table(Clock::Staged, EpisodeLimits::default()).open();
    let mut send = |bytes: usize| {
        // Four texts, since each argument has a limit of its own.
        let rest = bytes - "kv".len() - "a".len() - 2 - 5 * 4;
        let texts: Vec<Value> =
            (0..4).map(|index| "x".repeat(rest / 4 + usize::from(index == 0) * (rest % 4)).into()).collect();
        let call = ToolCall::new("toy.nothing", map! { "k" => "a", "v" => Value::List(texts) });
        let step = episode.call(call).expect("recorded");
        let kept = episode.schedule().stored_bytes();
        (step.answer.expect_err("refused").code.into_owned(), kept)
    };
    // No such tool: the arguments are kept all the same, as everything that was asked.
    let (code, kept) = send(ARGUMENTS_BYTES_MAX - 1000);
    assert_eq!(code, "call/unknown-tool");
    assert!(kept > 31 << 20);
    let (_, after) = send(ARGUMENTS_BYTES_MAX + 1000);
    assert!(after - kept < 1000, "{} more bytes", after - kept);
}

#[test]
fn what_could_not_be_read_is_refused_with_its_reason() {
    let mut episode = table(Clock::Staged, EpisodeLimits::default()).open();
    let call = ToolCall::unreadable("toy.write", "'v' is a whole number beyond 64 bits");
    let refusal = episode.call(call).expect("recorded").answer.expect_err("refused");
    assert_eq!(
        (refusal.code.as_ref(), refusal.message.as_str()),
        ("call/unreadable-arguments", "'v' is a whole number beyond 64 bits")
    );
}

fn small() -> EpisodeLimits {
    EpisodeLimits { episode_records_max: 12, ..EpisodeLimits::default() }
}

#[test]
fn an_episode_that_has_used_up_its_records_says_so_and_ends() {
    let mut episode = table(Clock::Staged, small()).open();
    let mut steps = Vec::new();
    while !episode.is_closed() {
        steps.push(episode.input(Input::Call(write(1_i64.into()))).expect("recorded"));
        assert!(steps.len() < 100, "it never ends");
    }
    let last = steps.last().expect("a step");
    assert_eq!((last.notices.as_slice(), last.closed), ([EPISODE_FULL.to_owned()].as_slice(), true));
    assert!(last.answer.is_ok(), "the call that used up the records was done");
    assert!(steps[..steps.len() - 1].iter().all(|step| step.notices.is_empty()));
}

#[test]
fn an_episode_that_has_used_up_its_bytes_ends_and_the_same_blob_counts_once() {
    let limits = EpisodeLimits { episode_bytes_max: 200_000, ..EpisodeLimits::default() };
    let mut episode = table(Clock::Staged, limits).open();
    // Refused, so that the arguments are all that is kept.
    let ask = |text: String| ToolCall::new("toy.nothing", map! { "v" => text });
    for _ in 0..20 {
        assert!(!episode.call(ask("y".repeat(50_000))).expect("recorded").closed);
    }
    let closed: Vec<bool> = (b'a'..=b'd')
        .map_while(|letter| {
            episode.call(ask(char::from(letter).to_string().repeat(50_000))).ok().map(|step| step.closed)
        })
        .collect();
    assert_eq!(closed.last(), Some(&true));
}

#[test]
fn a_full_episode_that_was_cut_off_after_any_record_ends_with_the_same_log() {
    let table = table(Clock::Staged, small());
    let mut whole = table.open();
    while !whole.is_closed() {
        whole.call(write(1_i64.into())).expect("recorded");
    }
    let head = whole.log().head();
    // From the opening on: before it there is no episode yet.
    for count in 2..head.count {
        let mut cut = table.cut(&whole, usize::try_from(count).expect("small"));
        cut.settle().expect("settles");
        while !cut.is_closed() {
            cut.call(write(1_i64.into())).expect("recorded");
        }
        assert_eq!(cut.log().head(), head, "cut after {count} records");
    }
}

#[test]
fn a_refused_call_takes_no_time() {
    let mut episode = table(Clock::Flowing, EpisodeLimits::default()).open();
    let before = episode.now();
    let refused = ToolCall::new("toy.write", map! { "k" => "forbidden", "v" => 1_i64 });
    assert!(episode.call(refused).expect("recorded").answer.is_err());
    assert_eq!(episode.now(), before);
    episode.call(write(1_i64.into())).expect("recorded");
    assert!(episode.now() > before);
}

#[test]
fn shortly_before_the_day_ends_the_agent_is_told_once_and_whoever_waits_wakes_up() {
    let table = table(Clock::Flowing, EpisodeLimits::default());
    let mut episode = table.open();
    let step = episode.call(ToolCall::new("toy.wait", map! {})).expect("waited");
    assert_eq!(step.notices, ["It is getting late."]);
    assert_eq!(episode.now(), SimTime::from_millis(17 * HOUR - 900_000));
    let step = episode.call(write(1_i64.into())).expect("done");
    assert!(step.notices.is_empty());
    let step = episode.hand_over("").expect("handed over");
    assert_eq!(step.notices, ["Good morning, tue."], "what was said of yesterday's end is no news");
    let told = |record: &Arc<[u8]>| {
        let head = dayshift_engine::codec::Stored::new(record).and_then(|stored| stored.head()).expect("reads");
        matches!(head.request, Request::Notify { .. })
    };
    assert_eq!(episode.log().since(0).filter(|record| told(record)).count(), 1);
}
