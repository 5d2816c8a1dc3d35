//! Named actions: rules, effects, rights.

use dayshift_engine::Actor;

use super::*;

fn verified() -> Bench<RecordsState> {
    let mut bench = office();
    good(
        &mut bench,
        "records.create",
        r#"{"table": "callbacks", "values": {"payment": "PAY-0001", "verified": true}}"#,
    );
    bench
}

const CHANGE: &str =
    r#"{"table": "payments", "id": "PAY-0001", "action": "change_account", "arguments": {"iban": "DE02"}}"#;
const APPROVE: &str = r#"{"table": "payments", "id": "PAY-0001", "action": "approve"}"#;

#[test]
fn an_action_is_refused_with_the_sentence_of_the_rule_that_fails() {
    let mut bench = office();
    let (code_of, sentence) = refused(&mut bench, "records.act", CHANGE);
    assert_eq!(code_of, "records/guard-failed");
    assert_eq!(sentence, "'change_account' was not done: a payment change needs a verified call-back");
    assert_eq!(
        bench.read_keys(),
        [
            "records:callbacks",
            "records:callbacks/",
            "records:callbacks/*",
            "records:payments",
            "records:payments/PAY-0001",
            "records:payments/PAY-0001/status",
        ]
    );
}

#[test]
fn a_call_back_that_was_not_verified_does_not_count() {
    let mut bench = office();
    good(
        &mut bench,
        "records.create",
        r#"{"table": "callbacks", "values": {"payment": "PAY-0001", "verified": false}}"#,
    );
    assert_eq!(code(&mut bench, "records.act", CHANGE), "records/guard-failed");
}

#[test]
fn an_action_whose_rules_hold_is_done_and_depends_on_what_let_it_through() {
    let mut bench = verified();
    let answer = good(&mut bench, "records.act", CHANGE);
    assert_eq!(answer.get("changed"), Some(&json(r#"{"iban": "DE02"}"#)));
    assert!(bench.read_keys().contains(&"records:callbacks/1/verified"));
    assert_eq!(
        ask(&mut bench, "field", r#"{"table": "payments", "id": "PAY-0001", "field": "iban"}"#),
        Value::from("DE02")
    );
    let audit = ask(&mut bench, "audit", r#"{"table": "payments", "id": "PAY-0001"}"#);
    let last = audit.as_list().and_then(<[Value]>::last).expect("an entry");
    assert_eq!(last.get("action"), Some(&Value::from("change_account")));
    assert_eq!(last.get("by"), Some(&Value::from("agent")));
}

#[test]
fn an_action_sets_adds_and_creates_in_one_go() {
    let mut bench = office();
    let answer = good(&mut bench, "records.act", APPROVE);
    assert_eq!(answer.get("created"), Some(&json(r#"[{"table": "ledger", "id": "L001"}]"#)));
    assert_eq!(
        answer.get("changed"),
        Some(&json(r#"{"status": "approved", "approved_by": "Ann Lee", "approved_at": "2026-03-16T09:00:07+01:00"}"#))
    );
    assert_eq!(
        ask(&mut bench, "row", r#"{"table": "ledger", "id": "L001"}"#),
        json(r#"{"id": "L001", "payment": "PAY-0001", "amount": "1250.00"}"#)
    );
    assert_eq!(
        ask(&mut bench, "field", r#"{"table": "suppliers", "id": "S-1", "field": "committed"}"#),
        Value::from("1250.00")
    );
}

#[test]
fn a_rule_compares_money_exactly_through_a_reference() {
    let mut bench = office();
    for (limit, expected) in [("1249.99", false), ("1250", true)] {
        good(
            &mut bench,
            "records.set",
            &format!(r#"{{"table": "suppliers", "id": "S-1", "values": {{"limit": "{limit}"}}}}"#),
        );
        let done = call(&mut bench, "records.act", APPROVE);
        assert_eq!(done.is_ok(), expected, "{done:?}");
        assert!(bench.read_keys().contains(&"records:suppliers/S-1/limit"));
    }
    good(&mut bench, "records.set", r#"{"table": "suppliers", "id": "S-1", "values": {"status": "blocked"}}"#);
    assert_eq!(refused(&mut bench, "records.act", APPROVE).1, "'approve' was not done: the supplier is blocked");
}

#[test]
fn only_those_named_may_act() {
    let mut bench = verified();
    bench.actor = Actor::Persona("paul".into());
    assert_eq!(code(&mut bench, "records.act", CHANGE), "records/not-allowed");
    assert_eq!(
        code(&mut bench, "records.update", r#"{"table": "payments", "id": "PAY-0001", "values": {"due": null}}"#),
        "records/not-allowed"
    );
    bench.actor = Actor::Persona("petra".into());
    good(&mut bench, "records.update", r#"{"table": "payments", "id": "PAY-0001", "values": {"due": null}}"#);
    bench.actor = Actor::World;
    good(&mut bench, "records.act", CHANGE);
}

#[test]
fn arguments_are_held_against_the_parameters() {
    let mut bench = verified();
    for (arguments, expected) in [
        (r#"{}"#, "records/bad-argument"),
        (r#"{"iban": ""}"#, "records/bad-argument"),
        (r#"{"iban": 5}"#, "records/bad-argument"),
        (r#"{"iban": "DE02", "bic": "X"}"#, "records/bad-argument"),
    ] {
        let act = format!(
            r#"{{"table": "payments", "id": "PAY-0001", "action": "change_account", "arguments": {arguments}}}"#
        );
        assert_eq!(code(&mut bench, "records.act", &act), expected, "{arguments}");
    }
    let unknown = r#"{"table": "payments", "id": "PAY-0001", "action": "pay"}"#;
    let (code_of, sentence) = refused(&mut bench, "records.act", unknown);
    assert_eq!(code_of, "records/unknown-action");
    assert!(sentence.ends_with("it has: approve, change_account"), "{sentence}");
    let absent = r#"{"table": "payments", "id": "PAY-7", "action": "approve"}"#;
    assert_eq!(code(&mut bench, "records.act", absent), "records/unknown-row");
}

/// Returns a bench with stock of which orders take.
fn shop() -> Bench<RecordsState> {
    let mut bench = Bench::new(RecordsState::new());
    good(
        &mut bench,
        "records.define",
        r#"{"table": {"table": "products", "fields": {"stock": "integer", "price": "decimal", "note": "text"}, "actions": {
            "take": {"parameters": {"count": {"type": "integer", "required": true}, "by": {"type": "date", "default": "$today"}},
                "guard": [{"argument": "count", "op": "gt", "value": 0}, {"argument": "count", "op": "le", "value": "$row.stock"},
                    {"field": "note", "op": "ne", "value": "$$id", "else": "it is marked"}],
                "effects": [{"decrement": {"stock": "$arguments.count"}}, {"decrement": {"stock": 0}}, {"set": {"note": "$arguments.by"}}]},
            "raise": {"parameters": {"by": {"type": "decimal", "scale": 3}}, "effects": [{"increment": {"price": "$arguments.by"}}]},
            "drop": {"effects": [{"remove": true}]}}}}"#,
    );
    good(
        &mut bench,
        "records.define",
        r#"{"table": {"table": "orders", "fields": {"product": {"type": "reference", "table": "products"}}, "actions": {
            "fill": {"effects": [{"on": "product", "decrement": {"stock": 1}}]}}}}"#,
    );
    good(&mut bench, "records.import", r#"{"table": "products", "rows": [{"id": "P", "stock": 5}, {"id": "Q"}]}"#);
    good(&mut bench, "records.import", r#"{"table": "orders", "rows": [{"id": "O", "product": "P"}, {"id": "E"}]}"#);
    bench
}

fn act(action: &str, arguments: &str) -> String {
    format!(r#"{{"table": "products", "id": "P", "action": "{action}", "arguments": {arguments}}}"#)
}

#[test]
fn a_rule_without_a_sentence_says_what_it_asks_for() {
    let mut bench = shop();
    assert_eq!(
        refused(&mut bench, "records.act", &act("take", r#"{"count": 6}"#)).1,
        r#"'take' was not done: the argument count must be at most "$row.stock""#
    );
}

#[test]
fn amounts_add_exactly_and_start_from_nothing() {
    let mut bench = shop();
    good(&mut bench, "records.act", &act("take", r#"{"count": 2}"#));
    assert_eq!(
        ask(&mut bench, "row", r#"{"table": "products", "id": "P"}"#),
        json(r#"{"id": "P", "stock": 3, "price": null, "note": "2026-03-16"}"#)
    );
    for _ in 0..3 {
        good(&mut bench, "records.act", &act("raise", r#"{"by": "0.1"}"#));
    }
    assert_eq!(ask(&mut bench, "field", r#"{"table": "products", "id": "P", "field": "price"}"#), Value::from("0.30"));
    assert_eq!(code(&mut bench, "records.act", &act("raise", r#"{"by": "0.001"}"#)), "records/bad-value");
    assert_eq!(code(&mut bench, "records.act", &act("raise", "{}")), "records/bad-value");
}

#[test]
fn a_dollar_is_written_with_two() {
    let mut bench = shop();
    good(&mut bench, "records.set", r#"{"table": "products", "id": "P", "values": {"note": "$id"}}"#);
    assert_eq!(
        refused(&mut bench, "records.act", &act("take", r#"{"count": 1}"#)).1,
        "'take' was not done: it is marked"
    );
}

#[test]
fn a_row_that_others_refer_to_is_not_removed_by_an_action() {
    let mut bench = shop();
    let (code_of, sentence) = refused(&mut bench, "records.act", &act("drop", "{}"));
    assert_eq!(code_of, "records/still-referenced");
    assert!(sentence.contains("'O' of orders"), "{sentence}");
    good(&mut bench, "records.update", r#"{"table": "orders", "id": "O", "values": {"product": "Q"}}"#);
    good(&mut bench, "records.act", &act("drop", "{}"));
    assert_eq!(ask(&mut bench, "row", r#"{"table": "products", "id": "P"}"#), Value::Null);
}

#[test]
fn an_effect_on_a_related_row_needs_one() {
    let mut bench = shop();
    good(&mut bench, "records.act", r#"{"table": "orders", "id": "O", "action": "fill"}"#);
    assert_eq!(ask(&mut bench, "field", r#"{"table": "products", "id": "P", "field": "stock"}"#), Value::Int(4));
    assert_eq!(
        code(&mut bench, "records.act", r#"{"table": "orders", "id": "E", "action": "fill"}"#),
        "records/dangling-reference"
    );
}
