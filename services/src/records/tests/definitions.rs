//! Definitions, and what agents and authors are told of them.

use super::*;

fn define(definition: &str) -> (String, String) {
    let mut bench = Bench::new(RecordsState::new());
    refused(&mut bench, "records.define", &format!(r#"{{"table": {definition}}}"#))
}

#[test]
fn the_documented_example_is_read_and_has_no_problems() {
    let mut bench = office();
    assert_eq!(ask(&mut bench, "problems", "{}"), Value::List(Vec::new()));
    assert_eq!(ask(&mut bench, "count", r#"{"table": "payments"}"#), Value::Int(1));
}

#[test]
fn an_agent_sees_fields_actions_and_rules() {
    let mut bench = office();
    let tables = good(&mut bench, "records.tables", "{}");
    let keys = ["records:", "records:callbacks", "records:ledger", "records:payments", "records:suppliers"];
    assert_eq!(bench.read_keys(), keys);
    let payments = &tables.get("tables").and_then(Value::as_list).expect("tables")[2];
    assert_eq!(payments.get("create"), Some(&json("[]")));
    assert_eq!(payments.get("id"), Some(&Value::from("payment_id")));
    let fields = payments.get("fields").and_then(Value::as_list).expect("fields");
    assert_eq!(
        fields[0],
        json(r#"{"name": "amount", "type": "decimal", "scale": 2, "required": true, "read_only": true}"#)
    );
    let actions = payments.get("actions").and_then(Value::as_list).expect("actions");
    let rules = r#"["only an open payment can be changed", "a payment change needs a verified call-back"]"#;
    assert_eq!(actions[1].get("rules"), Some(&json(rules)));
    assert_eq!(actions[1].get("by"), Some(&json(r#"["agent"]"#)));
}

#[test]
fn a_table_is_defined_once() {
    let mut bench = office();
    let again = r#"{"table": {"table": "ledger", "fields": {"a": "text"}}}"#;
    assert_eq!(code(&mut bench, "records.define", again), "records/table-exists");
}

#[test]
fn a_faulty_definition_is_refused_with_its_place() {
    for (definition, place) in [
        (r#"{}"#, "table:"),
        (r#"{"table": "a b", "fields": {"x": "text"}}"#, "table:"),
        (r#"{"table": "7up", "fields": {"x": "text"}}"#, "table:"),
        (r#"{"table": "t"}"#, "t.fields:"),
        (r#"{"table": "t", "fields": {"x": "text"}, "rows": []}"#, "t: 'rows'"),
        (r#"{"table": "t", "fields": ["x"]}"#, "t.fields:"),
        (r#"{"table": "t", "fields": {"x": "string"}}"#, "t.fields.x.type:"),
        (r#"{"table": "t", "fields": {"x": {"type": "text", "requird": true}}}"#, "t.fields.x: 'requird'"),
        (r#"{"table": "t", "fields": {"x": {"type": "text", "required": "yes"}}}"#, "t.fields.x.required:"),
        (r#"{"table": "t", "fields": {"x": {"type": "choice"}}}"#, "t.fields.x.options:"),
        (r#"{"table": "t", "fields": {"x": {"type": "text", "options": ["a"]}}}"#, "t.fields.x.options:"),
        (r#"{"table": "t", "fields": {"x": {"type": "reference"}}}"#, "t.fields.x.table:"),
        (r#"{"table": "t", "fields": {"x": {"type": "decimal", "scale": 10}}}"#, "t.fields.x.scale:"),
        (r#"{"table": "t", "fields": {"x": {"type": "integer", "default": "1"}}}"#, "t.fields.x: the field takes"),
        (r#"{"table": "t", "fields": {"x": {"type": "date", "default": "$now"}}}"#, "t.fields.x: the field takes"),
        (r#"{"table": "t", "fields": {"x": {"type": "text", "default": "$id"}}}"#, "t.fields.x.default:"),
        (r#"{"table": "t", "fields": {"audit": "text"}}"#, "t.fields.audit:"),
        (r#"{"table": "t", "fields": {"exists": "text"}}"#, "t.fields.exists:"),
        (r#"{"table": "t", "fields": {"id": "text"}}"#, "t.fields.id:"),
        (r#"{"table": "t", "id": {"digits": 0}, "fields": {"x": "text"}}"#, "t.id.digits:"),
        (r#"{"table": "t", "id": {"prefix": "a/"}, "fields": {"x": "text"}}"#, "t.id.prefix:"),
        (r#"{"table": "t", "create": "agent", "fields": {"x": "text"}}"#, "t.create:"),
    ] {
        let (code_of, sentence) = define(definition);
        assert_eq!(code_of, "records/bad-definition", "{definition}");
        assert!(sentence.starts_with(place), "{definition}: {sentence}");
    }
}

#[test]
fn a_faulty_action_is_refused_with_its_place() {
    for (action, place) in [
        (r#"{}"#, "t.actions.a.effects: an action needs"),
        (r#"{"effects": [{"set": {"y": 1}}]}"#, "t.actions.a.effects.y:"),
        (r#"{"effects": [{"set": {"x": "soon"}}]}"#, "t.actions.a.effects.x:"),
        (r#"{"effects": [{"set": {"x": "$arguments.n"}}]}"#, "t.actions.a.effects.x:"),
        (r#"{"effects": [{"set": {"x": "$row.y"}}]}"#, "t.actions.a.effects.x:"),
        (r#"{"effects": [{"set": {"x": "$later"}}]}"#, "t.actions.a.effects.x: '$later'"),
        (r#"{"effects": [{"set": {"x": 1}, "remove": true}]}"#, "t.actions.a.effects: an effect is one of"),
        (r#"{"effects": [{"on": "x", "set": {"z": 1}}]}"#, "t.actions.a.effects.on:"),
        (r#"{"effects": [{"create": {"values": {}}}]}"#, "t.actions.a.effects.create.table:"),
        (r#"{"effects": [{"remove": true}], "guard": {"x": 1}}"#, "t.actions.a.guard: write a list"),
        (r#"{"effects": [{"remove": true}], "guard": [{"y": 1}]}"#, "t.actions.a.guard: the table has no field 'y'"),
        (r#"{"effects": [{"remove": true}], "guard": [{"x": 1, "else": 5}]}"#, "t.actions.a.guard.else:"),
        (
            r#"{"effects": [{"remove": true}], "guard": [{"argument": "n", "value": 1}]}"#,
            "t.actions.a.guard: the action has no",
        ),
        (
            r#"{"effects": [{"remove": true}], "guard": [{"exists": {"tabel": "t"}}]}"#,
            "t.actions.a.guard: exists takes",
        ),
    ] {
        let definition = format!(r#"{{"table": "t", "fields": {{"x": "integer"}}, "actions": {{"a": {action}}}}}"#);
        let (code_of, sentence) = define(&definition);
        assert_eq!(code_of, "records/bad-definition", "{definition}");
        assert!(sentence.starts_with(place), "{definition}: {sentence}");
    }
}

#[test]
fn what_does_not_fit_between_tables_is_a_problem_and_a_clear_refusal() {
    let mut bench = Bench::new(RecordsState::new());
    good(
        &mut bench,
        "records.define",
        r#"{"table": {"table": "t", "fields": {"x": "integer", "r": {"type": "reference", "table": "t"}, "s": {"type": "reference", "table": "gone"}},
            "actions": {
                "guarded": {"guard": [{"exists": {"table": "callbacks"}}], "effects": [{"set": {"x": 1}}]},
                "far": {"guard": [{"r.y": 1}], "effects": [{"set": {"x": "$row.x.z"}}]},
                "new": {"effects": [{"create": {"table": "t", "values": {"y": 1}}}]}}}}"#,
    );
    good(&mut bench, "records.import", r#"{"table": "t", "rows": [{"id": "1", "r": "2"}]}"#);
    let problems = ask(&mut bench, "problems", "{}");
    let expected = [
        "t.far: t has no field 'y'",
        "t.far: 'x.z' goes through a field that is no reference",
        "t.guarded: there is no table 'callbacks'",
        "t.new: t has no field 'y'",
        "t.r of '1' refers to a row '2' of t that is not there",
        "t.s refers to a table 'gone' that is not there",
    ];
    let problems = problems.as_list().expect("a list");
    assert_eq!(problems.len(), expected.len(), "{problems:?}");
    for (problem, expected) in problems.iter().zip(expected) {
        assert!(problem.as_text().is_some_and(|text| text.starts_with(expected)), "{problem}");
    }
    for (action, expected) in
        [("guarded", "records/unknown-table"), ("far", "records/unknown-field"), ("new", "records/unknown-field")]
    {
        assert_eq!(
            code(&mut bench, "records.act", &format!(r#"{{"table": "t", "id": "1", "action": "{action}"}}"#)),
            expected
        );
    }
}

#[test]
fn a_log_with_a_faulty_definition_changes_nothing() {
    use crate::service::Service;
    let mut state = RecordsState::new();
    let mut canonical = dayshift_engine::Canonical::default();
    let seq = dayshift_engine::Seq::new(1);
    let mut applying = dayshift_engine::Applying::new(
        seq,
        dayshift_engine::SimTime::default(),
        &dayshift_engine::Actor::World,
        None,
        &mut canonical,
    );
    state.apply(super::super::RecordsEvent::TableDefined { definition: Value::Int(5) }, &mut applying);
    let nowhere = super::super::RecordsEvent::RowRemoved { table: "t".into(), id: "1".into(), action: None };
    state.apply(nowhere, &mut applying);
    assert_eq!(state.digest(), RecordsState::new().digest());
}
