//! The credit vectors on the real kernel: a toy world speaks their operations, the episode records them, grading finds the movements, and
//! credit and audit come out as the reference computed them.

use std::collections::BTreeMap;
use std::sync::Arc;

use dayshift_engine::toy::{Toy, ToyCondition, ToyScript};
use dayshift_engine::{
    Actor, Blobs, CheckSpec, Checks, Episode, EventId, Genesis, MemoryBlobs, Moment, Plan, PlannedCommand, PlannedDay,
    PlannedEvent, Prefix, Scene, Script, ScriptError, Seed, Seq, SimTime, SmolStr, ToolCall, Turn, Value, When, World,
    map,
};
use dayshift_replay::Account;
use dayshift_replay::credit::Config;
use serde_json::Value as Json;

const TOLERANCE: f64 = 1e-9;

/// Checks that hold when named values are what they should be.
struct Expectations {
    specs: Vec<CheckSpec>,
    wanted: Vec<Vec<(SmolStr, Value)>>,
}

impl Checks<Toy> for Expectations {
    fn specs(&self) -> &[CheckSpec] {
        &self.specs
    }

    fn threshold(&self) -> f64 {
        0.75
    }

    fn level(&self, index: usize, scene: &Scene<'_, Toy>) -> Result<f64, ScriptError> {
        let mut holds = true;
        for (name, wanted) in &self.wanted[index] {
            let found = scene.world.query("toy.value", &map! { "k" => name.clone() }, &scene.looking());
            holds &= found.as_ref() == Ok(wanted);
        }
        Ok(f64::from(u8::from(holds)))
    }
}

struct Case {
    account: Account<Toy>,
}

fn value(json: &Json) -> Value {
    serde_json::from_value(json.clone()).expect("JSON is a value")
}

fn call(event: &Json) -> ToolCall {
    ToolCall::new(format!("toy.{}", event["op"].as_str().expect("an op")), value(&event["args"]))
}

/// What each check of a case expects: the vectors name only the keys, and the reference's cases the values.
fn wanted(case: &str, key: &str) -> &'static str {
    match (case, key) {
        ("vtca_conjunction", "a") => "x",
        ("vtca_conjunction", "b") => "y",
        ("vtca_conjunction", "c") => "z",
        ("vtca_chain_read_write", _) => "INV-7731",
        ("vtca_exogenous_flip_and_read", _) => "2026-11-03",
        ("vtca_regress_and_regain", _) => "TKT-4410",
        ("vtca_exogenous_regress_resets_reference", _) => "B-204",
        ("vtca_reply_chain_through_npc", _) => "PO-55120",
        ("vtca_two_checks_one_turn", _) => "AC-9001",
        ("vtca_reaction_flips", "status") => "released",
        ("vtca_reaction_flips", "draft") => "RPT-2201",
        ("vtca_reaction_breaks_agent_repairs", "plan") => "room-104",
        ("vtca_reaction_to_a_reaction", "room") => "room-311",
        ("vtca_reaction_after_a_later_turn", "amount") => "4711.50",
        ("vtca_reaction_after_a_later_turn", "approval") => "yes-4711",
        ("vtca_reaction_then_world" | "vtca_world_then_reaction", "a") => "x-100",
        ("vtca_reaction_then_world" | "vtca_world_then_reaction", "b") => "y-200",
        (other, key) => panic!("no expectation for {key} of {other}"),
    }
}

fn expectations(case: &Json) -> Expectations {
    let id = case["id"].as_str().expect("an id");
    let mut made = Expectations { specs: Vec::new(), wanted: Vec::new() };
    for check in case["checks"].as_array().expect("checks") {
        made.specs.push(CheckSpec {
            id: check["id"].as_str().expect("an id").into(),
            title: String::new(),
            weight: check["w"].as_f64().expect("a weight"),
            requirement: "r".into(),
            moment: Moment::Final,
        });
        let keys = check["keys"].as_array().expect("keys").iter().map(|key| key.as_str().expect("a key"));
        made.wanted.push(keys.map(|key| (key.into(), Value::from(wanted(id, key)))).collect());
    }
    made
}

/// Plays a case on the kernel. Exogenous events are conditions on the length of the log.
fn play(case: &Json) -> Case {
    let events = case["events"].as_array().expect("events");
    let init = case["init"].as_object().expect("an initial state");
    let setup: Vec<ToolCall> = init
        .iter()
        .map(|(name, held)| ToolCall::new("toy.write", map! { "k" => name.as_str(), "v" => value(held) }))
        .collect();
    // Genesis, the initial values, the opening, the first day.
    let mut position = 3 + setup.len() as u64;
    let mut places: BTreeMap<u64, Seq> = BTreeMap::new();
    let mut script = ToyScript { plan: plan(), ..ToyScript::default() };
    let mut turn = 0;
    for event in events {
        let seq = event["seq"].as_u64().expect("a position");
        if event["actor"] == "agent" {
            let own = event["turn"].as_u64().expect("a turn");
            // Each turn begins with a message.
            position += u64::from(own != turn);
            turn = own;
        } else {
            let causes = event["causes"].as_array().expect("causes").iter();
            let causes = causes.map(|cause| places[&cause.as_u64().expect("a position")]).collect();
            script.conditions.insert(script.plan.events.len(), ToyCondition::Records(position, causes));
            script.plan.events.push(conditional(seq, actor(event), call(event)));
        }
        places.insert(seq, Seq::new(position));
        position += 1;
    }
    let blobs: Arc<MemoryBlobs> = Arc::new(MemoryBlobs::new());
    let script = script.shared();
    let mut episode = open(setup, &script, &blobs);
    let mut turn = 0;
    for event in events.iter().filter(|event| event["actor"] == "agent") {
        let own = event["turn"].as_u64().expect("a turn");
        if own != turn {
            episode.begin_turn("").expect("a turn begins");
            turn = own;
        }
        let step = episode.call(call(event)).expect("a call is recorded");
        assert_eq!(step.seq, places[&event["seq"].as_u64().expect("a position")]);
        assert_eq!(step.answer, Ok(value(&event["out"])));
    }
    let records: Vec<Arc<[u8]>> = episode.log().since(0).cloned().collect();
    let blank = Episode::blank(Toy::default(), script, blobs);
    let checks = Arc::new(expectations(case));
    let account =
        Account::of(blank, &records, checks, case["prompt"].as_str().expect("a prompt")).expect("it is graded");
    Case { account }
}

fn plan() -> Plan {
    let day = PlannedDay {
        name: "day".into(),
        opens: SimTime::from_millis(0),
        ends: SimTime::from_millis(1),
        notification: String::new(),
        closing: None,
    };
    Plan { days: vec![day], closes: SimTime::from_millis(1), ..Plan::default() }
}

fn actor(event: &Json) -> Actor {
    match event["actor"].as_str().expect("an actor") {
        "exo" => Actor::World,
        name => Actor::Persona(name.into()),
    }
}

fn conditional(seq: u64, actor: Actor, call: ToolCall) -> PlannedEvent {
    PlannedEvent {
        id: EventId::new(format!("exogenous-{seq}")),
        when: When::Condition { opens: SimTime::from_millis(0), deadline: SimTime::from_millis(1), at_deadline: false },
        commands: vec![PlannedCommand { actor, call }],
        notice: None,
    }
}

fn open(setup: Vec<ToolCall>, script: &Arc<dyn Script<Toy>>, blobs: &Arc<MemoryBlobs>) -> Episode<Toy> {
    let digest = blobs.put(Arc::from(*b"toy"));
    let genesis = Genesis { scenario: "toy-v1".into(), digest, blobs: vec![digest], epoch: SimTime::from_millis(0) };
    let prefix = Prefix::build(Toy::default(), genesis, setup, Arc::clone(script), blobs.clone()).expect("it lays out");
    Episode::open(&prefix, Seed::new(1), Arc::clone(script), blobs.clone()).expect("it opens").0
}

fn cases() -> Vec<Json> {
    let vectors: Json = serde_json::from_str(include_str!("vectors/vtca_vectors.json")).expect("the vectors are JSON");
    vectors["cases"].as_array().expect("cases").clone()
}

fn assert_by_turn(what: &str, case: &Json, found: &BTreeMap<Turn, f64>, wanted: &Json) {
    let wanted = wanted.as_object().expect("numbers by turn");
    assert_eq!(found.len(), wanted.len(), "{what} of {}", case["id"]);
    for (turn, amount) in wanted {
        let turn = Turn::new(turn.parse().expect("a turn"));
        let amount = amount.as_f64().expect("a number");
        assert!(
            (found[&turn] - amount).abs() < TOLERANCE,
            "{what} of turn {turn} in {}: {} != {amount}",
            case["id"],
            found[&turn]
        );
    }
}

#[test]
fn every_vector_played_on_the_kernel_earns_the_recorded_credit() {
    for case in cases() {
        let ledger = play(&case).account.ledger(&Config::new(0.3, 0.7).expect("good knobs"));
        let credit = ledger.credit.iter().map(|(turn, credit)| (*turn, credit.amount)).collect();
        assert_by_turn("credit", &case, &credit, &case["credit"]);
        assert!((ledger.exogenous - case["exogenous"].as_f64().expect("a number")).abs() < TOLERANCE, "{}", case["id"]);
        assert_eq!(ledger.rows.len(), case["ledger"].as_array().expect("rows").len(), "{}", case["id"]);
        for (row, wanted) in ledger.rows.iter().zip(case["ledger"].as_array().expect("rows")) {
            assert_eq!(row.check, wanted["check"].as_str().expect("a check"), "{}", case["id"]);
            assert!((row.amount - wanted["amount"].as_f64().expect("a number")).abs() < TOLERANCE, "{}", case["id"]);
        }
    }
}

#[test]
fn every_vector_played_on_the_kernel_is_audited_as_recorded() {
    for case in cases() {
        let account = play(&case).account;
        let ledger = account.ledger(&Config::default());
        let audited = account.audit(&ledger, |_| {}).expect("it is audited");
        assert_by_turn("necessary", &case, &audited.audit.necessary, &case["audit"]["necessary"]);
        assert_by_turn("shapley", &case, &audited.audit.shapley, &case["audit"]["shapley"]);
        assert_eq!(audited.soundness.sound, audited.soundness.tried, "{}", case["id"]);
    }
}

#[test]
fn credit_and_the_exogenous_account_sum_to_what_the_score_moved() {
    for case in cases() {
        let account = play(&case).account;
        let ledger = account.ledger(&Config::default());
        assert!(ledger.imbalance().abs() < TOLERANCE, "{}", case["id"]);
        assert!((ledger.end - account.report().score).abs() < TOLERANCE, "{}", case["id"]);
        assert!((ledger.start - account.report().start).abs() < TOLERANCE, "{}", case["id"]);
    }
}

/// Plays `calls`, each in a turn of its own, beside `events` that each happen when the log is so long, and grades whether `a` is "x" and `b` "y".
fn played(
    events: Vec<(u64, PlannedEvent)>,
    calls: &[ToolCall],
) -> (Vec<Result<Value, dayshift_engine::Rejection>>, Account<Toy>) {
    let blobs: Arc<MemoryBlobs> = Arc::new(MemoryBlobs::new());
    let mut script = ToyScript { plan: plan(), ..ToyScript::default() };
    for (index, (length, event)) in events.into_iter().enumerate() {
        script.conditions.insert(index, ToyCondition::Records(length, Vec::new()));
        script.plan.events.push(event);
    }
    let script = script.shared();
    let mut episode = open(Vec::new(), &script, &blobs);
    let mut answers = Vec::new();
    for call in calls {
        episode.begin_turn("").expect("a turn begins");
        answers.push(episode.call(call.clone()).expect("a call is recorded").answer);
    }
    let records: Vec<Arc<[u8]>> = episode.log().since(0).cloned().collect();
    let spec = |id: &str| CheckSpec {
        id: id.into(),
        title: String::new(),
        weight: 1.0,
        requirement: "r".into(),
        moment: Moment::Final,
    };
    let wanted = vec![vec![("a".into(), Value::from("x"))], vec![("b".into(), Value::from("y"))]];
    let checks = Arc::new(Expectations { specs: vec![spec("a"), spec("b")], wanted });
    let account = Account::of(Episode::blank(Toy::default(), script, blobs), &records, checks, "").expect("graded");
    (answers, account)
}

fn write(name: &str, held: &str) -> ToolCall {
    ToolCall::new("toy.write", map! { "k" => name, "v" => held })
}

#[test]
fn a_tool_that_is_not_for_agents_is_refused_live_and_in_the_audit() {
    let secret = ToolCall::new("toy.secret", map! { "k" => "a" });
    let (answers, account) = played(Vec::new(), &[write("a", "x"), secret, write("b", "y")]);
    assert_eq!(answers[1].as_ref().expect_err("it is refused").code, "call/unknown-tool");
    assert_eq!(account.report().score, 1.0);
    let audited = account.audit(&account.ledger(&Config::default()), |_| {}).expect("it is audited");
    // Had the audit executed it, "a" would be gone.
    assert_eq!(audited.audit.full, account.report().score);
    assert_eq!(audited.audit.necessary.values().copied().collect::<Vec<_>>(), [0.5, 0.0, 0.5]);
}

#[test]
fn the_world_may_use_such_a_tool_live_and_in_the_audit() {
    let event = conditional(1, Actor::World, ToolCall::new("toy.secret", map! { "k" => "a" }));
    let (_, account) = played(vec![(5, event)], &[write("a", "x"), write("b", "y")]);
    assert_eq!(account.report().score, 0.5);
    let audited = account.audit(&account.ledger(&Config::default()), |_| {}).expect("it is audited");
    assert_eq!(audited.audit.full, 0.5);
}

#[test]
fn what_the_arguments_of_a_call_forbid_is_refused_in_the_audit_as_it_was_live() {
    let calls =
        [write("a", "x"), ToolCall::new("toy.write", map! { "k" => "a", "v" => "z", "extra" => "e" }), write("b", "y")];
    let (answers, account) = played(Vec::new(), &calls);
    assert!(answers[1].is_err());
    let audited = account.audit(&account.ledger(&Config::default()), |_| {}).expect("it is audited");
    assert_eq!(audited.audit.full, account.report().score);
}
