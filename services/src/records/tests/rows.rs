//! Reading, creating, changing and removing rows, and their history.

use super::*;

#[test]
fn reading_one_field_reads_the_table_the_row_and_that_field() {
    let mut bench = office();
    let row = good(&mut bench, "records.read", r#"{"table": "payments", "id": "PAY-0001", "fields": ["amount"]}"#);
    assert_eq!(row, json(r#"{"payment_id": "PAY-0001", "amount": "1250.00"}"#));
    assert_eq!(
        bench.read_keys(),
        ["records:payments", "records:payments/PAY-0001", "records:payments/PAY-0001/amount"]
    );
}

#[test]
fn reading_a_row_shows_every_field_details_too() {
    let mut bench = office();
    let row = good(&mut bench, "records.read", r#"{"table": "payments", "id": "PAY-0001"}"#);
    let expected = r#"{"payment_id": "PAY-0001", "amount": "1250.00", "approved_at": null, "approved_by": null, "due": "2026-03-20",
        "iban": null, "invoice": "INV-77", "notes": null, "status": "open", "supplier": "S-1"}"#;
    assert_eq!(row, json(expected));
}

#[test]
fn reading_what_is_not_there_is_refused_and_still_a_read() {
    let mut bench = office();
    assert_eq!(code(&mut bench, "records.read", r#"{"table": "payments", "id": "PAY-9"}"#), "records/unknown-row");
    assert!(bench.read_keys().contains(&"records:payments/PAY-9"));
    let (code_of, sentence) = refused(&mut bench, "records.read", r#"{"table": "payment", "id": "PAY-0001"}"#);
    assert_eq!(code_of, "records/unknown-table");
    assert!(sentence.contains("callbacks, ledger, payments, suppliers"), "{sentence}");
    assert_eq!(bench.read_keys(), ["records:", "records:payment"]);
    let unknown = r#"{"table": "payments", "id": "PAY-0001", "fields": ["amout"]}"#;
    assert_eq!(code(&mut bench, "records.read", unknown), "records/unknown-field");
}

#[test]
fn changing_a_field_writes_that_field_and_the_history_and_no_membership() {
    let mut bench = office();
    let answer = good(
        &mut bench,
        "records.update",
        r#"{"table": "payments", "id": "PAY-0001", "values": {"due": "2026-04-01"}}"#,
    );
    assert_eq!(answer, json(r#"{"payment_id": "PAY-0001", "due": "2026-04-01"}"#));
    let mut written = bench.written_keys();
    written.dedup();
    assert_eq!(written, ["records:payments/*", "records:payments/PAY-0001/audit", "records:payments/PAY-0001/due"]);
    assert_eq!(bench.read_keys(), ["records:payments", "records:payments/PAY-0001"]);
    assert_eq!(
        ask(&mut bench, "field", r#"{"table": "payments", "id": "PAY-0001", "field": "due"}"#),
        Value::from("2026-04-01")
    );
}

#[test]
fn creating_a_row_writes_it_its_fields_and_the_membership() {
    let mut bench = office();
    let answer = good(
        &mut bench,
        "records.create",
        r#"{"table": "callbacks", "values": {"payment": "PAY-0001", "verified": true}}"#,
    );
    assert_eq!(answer, json(r#"{"id": "1"}"#));
    let mut written = bench.written_keys();
    written.dedup();
    assert_eq!(
        written,
        [
            "records:callbacks/",
            "records:callbacks/#",
            "records:callbacks/*",
            "records:callbacks/1",
            "records:callbacks/1/audit",
            "records:callbacks/1/payment",
            "records:callbacks/1/verified",
        ]
    );
    assert!(bench.read_keys().contains(&"records:payments/PAY-0001"), "the reference was looked up");
}

#[test]
fn ids_count_on_from_the_highest_and_never_come_back() {
    let mut bench = office();
    let create = r#"{"table": "suppliers", "values": {"name": "Neu"}}"#;
    assert_eq!(good(&mut bench, "records.create", create), json(r#"{"id": "S-3"}"#));
    good(&mut bench, "records.remove", r#"{"table": "suppliers", "id": "S-3"}"#);
    assert_eq!(good(&mut bench, "records.create", create), json(r#"{"id": "S-4"}"#));
    let named = r#"{"table": "suppliers", "id": "S-Rohde", "values": {"name": "Rohde"}}"#;
    assert_eq!(good(&mut bench, "records.create", named), json(r#"{"id": "S-Rohde"}"#));
    assert_eq!(code(&mut bench, "records.create", named), "records/row-exists");
}

#[test]
fn nobody_can_use_the_numbers_up() {
    let mut bench = office();
    let huge = r#"{"table": "suppliers", "id": "S-18446744073709551615", "values": {"name": "x"}}"#;
    good(&mut bench, "records.create", huge);
    let next = r#"{"table": "suppliers", "values": {"name": "Neu"}}"#;
    assert_eq!(good(&mut bench, "records.create", next), json(r#"{"id": "S-3"}"#));
}

#[test]
fn a_default_fills_what_is_left_out_or_null_and_still_counts_as_required() {
    let mut bench = Bench::new(RecordsState::new());
    good(
        &mut bench,
        "records.define",
        r#"{"table": {"table": "t", "fields": {"by": {"type": "text", "default": "$actor"}, "day": {"type": "date", "default": "$today"},
            "at": {"type": "time", "default": "$now"}, "state": {"type": "text", "default": "new", "required": true},
            "must": {"type": "text", "default": "", "required": true}}}}"#,
    );
    assert_eq!(code(&mut bench, "records.create", r#"{"table": "t", "values": {}}"#), "records/required");
    good(&mut bench, "records.create", r#"{"table": "t", "values": {"must": "x", "state": null}}"#);
    let expected = r#"{"id": "1", "by": "Ann Lee", "day": "2026-03-16", "at": "2026-03-16T08:00:03Z", "state": "new", "must": "x"}"#;
    assert_eq!(ask(&mut bench, "row", r#"{"table": "t", "id": "1"}"#), json(expected));
}

#[test]
fn an_id_that_cannot_be_part_of_a_key_is_refused() {
    let mut bench = office();
    for id in ["a/b", "*", " a", "a ", "a\\nb", ""] {
        let arguments = format!(r#"{{"table": "suppliers", "id": "{id}", "values": {{"name": "x"}}}}"#);
        assert_eq!(code(&mut bench, "records.create", &arguments), "records/bad-id", "{id:?}");
    }
}

#[test]
fn values_that_do_not_fit_are_refused_with_the_code_of_their_fault() {
    let mut bench = office();
    for (table, values, expected) in [
        ("suppliers", r#"{}"#, "records/required"),
        ("suppliers", r#"{"name": ""}"#, "records/required"),
        ("suppliers", r#"{"name": 5}"#, "records/bad-value"),
        ("suppliers", r#"{"name": "x", "limit": "12.345"}"#, "records/bad-value"),
        ("suppliers", r#"{"name": "x", "limit": "1,000"}"#, "records/bad-value"),
        ("suppliers", r#"{"name": "x", "status": "Active"}"#, "records/bad-value"),
        ("suppliers", r#"{"name": "x", "tags": ["a", 1]}"#, "records/bad-value"),
        ("suppliers", r#"{"name": "x", "colour": "red"}"#, "records/unknown-field"),
        ("callbacks", r#"{"payment": "PAY-7"}"#, "records/dangling-reference"),
        ("callbacks", r#"{"verified": "yes"}"#, "records/bad-value"),
        ("payments", r#"{"supplier": "S-1"}"#, "records/not-allowed"),
    ] {
        let arguments = format!(r#"{{"table": "{table}", "values": {values}}}"#);
        assert_eq!(code(&mut bench, "records.create", &arguments), expected, "{arguments}");
    }
    for (values, expected) in [
        (r#"{"status": "paid"}"#, "records/read-only"),
        (r#"{"due": "2026-02-30"}"#, "records/bad-value"),
        (r#"{"due": "20 March"}"#, "records/bad-value"),
        (r#"{"supplier": null}"#, "records/required"),
        (r#"{"supplier": "S-9"}"#, "records/dangling-reference"),
        (r#"{}"#, "records/nothing-to-change"),
        (r#"{"payment_id": "PAY-2"}"#, "records/unknown-field"),
    ] {
        let arguments = format!(r#"{{"table": "payments", "id": "PAY-0001", "values": {values}}}"#);
        assert_eq!(code(&mut bench, "records.update", &arguments), expected, "{arguments}");
    }
}

#[test]
fn a_refusal_says_what_to_do_instead() {
    let mut bench = office();
    let arguments = r#"{"table": "suppliers", "values": {"name": "x", "status": "closed"}}"#;
    let (_, sentence) = refused(&mut bench, "records.create", arguments);
    assert_eq!(sentence, r#"suppliers.status takes one of active, blocked, not "closed""#);
}

#[test]
fn a_unique_field_refuses_a_second_holder_and_frees_what_is_given_up() {
    let mut bench = office();
    let import = |row: &str| format!(r#"{{"table": "payments", "rows": [{row}]}}"#);
    let second = import(r#"{"supplier": "S-1", "amount": 1, "invoice": "INV-77"}"#);
    assert_eq!(code(&mut bench, "records.import", &second), "records/not-unique");
    assert!(bench.read_keys().contains(&"records:payments/PAY-0001/invoice"), "the holder decided it");
    good(&mut bench, "records.set", r#"{"table": "payments", "id": "PAY-0001", "values": {"invoice": "INV-77"}}"#);
    good(&mut bench, "records.set", r#"{"table": "payments", "id": "PAY-0001", "values": {"invoice": "INV-78"}}"#);
    good(&mut bench, "records.import", &second);
    good(&mut bench, "records.remove", r#"{"table": "payments", "id": "PAY-0002"}"#);
    good(&mut bench, "records.import", &second);
    let twice = r#"{"table": "payments", "rows": [{"supplier": "S-1", "amount": 1, "invoice": "A"}, {"supplier": "S-1", "amount": 1, "invoice": "A"}]}"#;
    let (code_of, sentence) = refused(&mut bench, "records.import", twice);
    assert_eq!(code_of, "records/not-unique");
    assert!(sentence.starts_with("row 2 of payments"), "{sentence}");
    let empty =
        r#"{"table": "payments", "rows": [{"supplier": "S-1", "amount": 1}, {"supplier": "S-1", "amount": 1}]}"#;
    good(&mut bench, "records.import", empty);
}

#[test]
fn the_world_sets_what_a_caller_may_not() {
    let mut bench = office();
    good(
        &mut bench,
        "records.set",
        r#"{"table": "payments", "id": "PAY-0001", "values": {"amount": 1250.5, "status": "paid"}}"#,
    );
    assert_eq!(
        ask(&mut bench, "field", r#"{"table": "payments", "id": "PAY-0001", "field": "amount"}"#),
        Value::from("1250.50")
    );
    assert_eq!(
        code(&mut bench, "records.set", r#"{"table": "payments", "id": "PAY-0001", "values": {"amount": "x"}}"#),
        "records/bad-value"
    );
}

#[test]
fn a_removed_row_is_gone_and_its_history_stays() {
    let mut bench = office();
    good(&mut bench, "records.update", r#"{"table": "suppliers", "id": "S-2", "values": {"limit": "20"}}"#);
    good(&mut bench, "records.remove", r#"{"table": "suppliers", "id": "S-2"}"#);
    assert_eq!(code(&mut bench, "records.read", r#"{"table": "suppliers", "id": "S-2"}"#), "records/unknown-row");
    assert_eq!(code(&mut bench, "records.remove", r#"{"table": "suppliers", "id": "S-2"}"#), "records/unknown-row");
    let history = good(&mut bench, "records.history", r#"{"table": "suppliers", "id": "S-2"}"#);
    assert!(bench.read_keys().contains(&"records:suppliers/S-2/audit"));
    let entries = history.get("entries").and_then(Value::as_list).expect("entries");
    let told: Vec<_> = entries.iter().map(|entry| (entry.get("what").cloned(), entry.get("by").cloned())).collect();
    let expected = [("created", "system"), ("changed", "you"), ("removed", "system")];
    assert_eq!(told, expected.map(|(what, by)| (Some(Value::from(what)), Some(Value::from(by)))));
    assert_eq!(entries[1].get("changes"), Some(&json(r#"{"limit": {"from": "10.00", "to": "20.00"}}"#)));
}

#[test]
fn the_history_stays_out_of_the_graded_state() {
    let mut direct = office();
    let mut roundabout = office();
    good(&mut direct, "records.update", r#"{"table": "suppliers", "id": "S-2", "values": {"limit": "20"}}"#);
    good(&mut roundabout, "records.update", r#"{"table": "suppliers", "id": "S-2", "values": {"limit": "30"}}"#);
    good(&mut roundabout, "records.update", r#"{"table": "suppliers", "id": "S-2", "values": {"limit": "20"}}"#);
    assert_eq!(direct.service.digest_now(), roundabout.service.digest_now());
}

#[test]
fn two_worlds_differ_in_the_pieces_that_differ() {
    use crate::service::Service;
    let mut left = office();
    let mut right = office();
    good(&mut left, "records.update", r#"{"table": "suppliers", "id": "S-2", "values": {"limit": "20"}}"#);
    good(&mut right, "records.create", r#"{"table": "callbacks", "values": {"verified": true}}"#);
    let mut differences = Vec::new();
    left.service.differences(&right.service, &mut differences);
    let keys: Vec<&str> = differences.iter().map(|difference| difference.key.as_str()).collect();
    let callback = ["records:callbacks/1", "records:callbacks/1/payment", "records:callbacks/1/verified"];
    assert_eq!(keys, [&callback[..], &["records:suppliers/S-2/limit"]].concat());
    assert_eq!(differences[3].left, Some(Value::from("20.00")));
    assert_eq!(differences[3].right, Some(Value::from("10.00")));
}

#[test]
fn the_order_of_creation_shows_in_listings_and_not_in_the_digest() {
    let mut bench = office();
    let mut other = office();
    for (bench, ids) in [(&mut bench, ["b", "a"]), (&mut other, ["a", "b"])] {
        for id in ids {
            good(bench, "records.create", &format!(r#"{{"table": "callbacks", "id": "{id}", "values": {{}}}}"#));
        }
    }
    assert_eq!(bench.service.digest_now(), other.service.digest_now());
    let rows = good(&mut bench, "records.query", r#"{"table": "callbacks", "fields": ["id"]}"#);
    assert_eq!(rows.get("rows"), Some(&json(r#"[{"id": "b"}, {"id": "a"}]"#)));
}

#[test]
fn a_composed_and_a_decomposed_spelling_are_one_name() {
    let mut bench = Bench::new(RecordsState::new());
    let (composed, decomposed) = ("Pr\u{fc}fung", "Pru\u{308}fung");
    for (defined, called) in [(composed, decomposed), (decomposed, composed)] {
        let mut bench = Bench { service: bench.service.clone(), ..Bench::new(RecordsState::new()) };
        let definition = format!(
            r#"{{"table": {{"table": "{defined}", "fields": {{"{defined}": "text", "state": {{"type": "choice", "options": ["{defined}"]}}, "z": "text"}}}}}}"#
        );
        good(&mut bench, "records.define", &definition);
        let create = format!(
            r#"{{"table": "{called}", "id": "1", "values": {{"{called}": "{called}", "state": "{called}", "z": "x"}}}}"#
        );
        good(&mut bench, "records.create", &create);
        for condition in [
            format!(r#"{{"{called}": "{defined}"}}"#),
            format!(r#"{{"state": "{defined}"}}"#),
            format!(r#"[{{"field": "{called}", "op": "contains", "value": "PR\u00dcF"}}]"#),
        ] {
            let found = good(&mut bench, "records.query", &format!(r#"{{"table": "{called}", "where": {condition}}}"#));
            assert_eq!(found.get("total"), Some(&Value::Int(1)), "{condition}");
        }
        let twice = format!(r#"{{"table": {{"table": "{called}", "fields": {{"a": "text"}}}}}}"#);
        assert_eq!(code(&mut bench, "records.define", &twice), "records/table-exists");
    }
    let twice = format!(r#"{{"table": {{"table": "t", "fields": {{"{composed}": "text", "{decomposed}": "text"}}}}}}"#);
    assert_eq!(code(&mut bench, "records.define", &twice), "records/bad-definition");
}

#[test]
fn several_rows_are_created_and_changed_in_one_call_or_none_is() {
    let mut bench = office();
    let made = good(
        &mut bench,
        "records.create",
        r#"{"table": "suppliers", "rows": [{"name": "A"}, {"name": "B", "status": "blocked"}, {"id": "S-77", "name": "C"}]}"#,
    );
    assert_eq!(made, json(r#"{"ids": ["S-3", "S-4", "S-77"]}"#));
    let refusal = refused(
        &mut bench,
        "records.create",
        r#"{"table": "suppliers", "rows": [{"name": "D"}, {"status": "blocked"}]}"#,
    );
    assert_eq!(refusal.0, "records/required");
    assert!(refusal.1.starts_with("row 2 of suppliers"), "{}", refusal.1);
    let changed = good(
        &mut bench,
        "records.update",
        r#"{"table": "suppliers", "ids": ["S-4", "S-3", "S-3"], "values": {"status": "active"}}"#,
    );
    assert_eq!(changed, json(r#"{"rows": [{"id": "S-3", "status": "active"}, {"id": "S-4", "status": "active"}]}"#));
    let both = r#"{"table": "suppliers", "ids": ["S-3", "S-99"], "values": {"status": "blocked"}}"#;
    assert_eq!(code(&mut bench, "records.update", both), "records/unknown-row");
    for (tool, arguments, expected) in [
        ("records.update", r#"{"table": "suppliers", "values": {"status": "blocked"}}"#, "records/which-rows"),
        (
            "records.update",
            r#"{"table": "suppliers", "id": "S-3", "ids": ["S-4"], "values": {"status": "blocked"}}"#,
            "records/which-rows",
        ),
        (
            "records.update",
            r#"{"table": "suppliers", "ids": [], "values": {"status": "blocked"}}"#,
            "records/too-many-rows",
        ),
        ("records.create", r#"{"table": "suppliers"}"#, "records/no-values"),
        ("records.create", r#"{"table": "suppliers", "values": {"name": "x"}, "rows": []}"#, "records/which-rows"),
        ("records.create", r#"{"table": "suppliers", "rows": []}"#, "records/too-many-rows"),
    ] {
        assert_eq!(code(&mut bench, tool, arguments), expected, "{arguments}");
    }
    let rows = |count: usize| vec![r#"{"name": "x"}"#; count].join(",");
    let create = |count: usize| format!(r#"{{"table": "suppliers", "rows": [{}]}}"#, rows(count));
    good(&mut bench, "records.create", &create(crate::records::CALL_ROWS_MAX));
    assert_eq!(code(&mut bench, "records.create", &create(crate::records::CALL_ROWS_MAX + 1)), "records/too-many-rows");
}

#[test]
fn a_row_of_ones_own_can_be_corrected_where_the_table_allows_it() {
    let mut bench = Bench::new(RecordsState::new());
    for (table, correct) in [("strict", ""), ("kind", r#", "correct": ["agent"]"#)] {
        let definition = format!(
            r#"{{"table": {{"table": "{table}", "fields": {{"name": "text", "seen": {{"type": "boolean", "read_only": true}}}}, "update": []{correct}}}}}"#
        );
        good(&mut bench, "records.define", &definition);
        good(
            &mut bench,
            "records.import",
            &format!(r#"{{"table": "{table}", "rows": [{{"id": "theirs", "name": "x"}}]}}"#),
        );
        good(
            &mut bench,
            "records.create",
            &format!(r#"{{"table": "{table}", "id": "own", "values": {{"name": "x"}}}}"#),
        );
    }
    let update = |table: &str, id: &str, field: &str| {
        format!(r#"{{"table": "{table}", "id": "{id}", "values": {{"{field}": null}}}}"#)
    };
    assert_eq!(code(&mut bench, "records.update", &update("strict", "own", "name")), "records/not-allowed");
    assert_eq!(code(&mut bench, "records.update", &update("kind", "theirs", "name")), "records/not-allowed");
    assert_eq!(code(&mut bench, "records.update", &update("kind", "own", "seen")), "records/read-only");
    good(&mut bench, "records.update", &update("kind", "own", "name"));
    let both = r#"{"table": "kind", "ids": ["own", "theirs"], "values": {"name": "y"}}"#;
    assert_eq!(code(&mut bench, "records.update", both), "records/not-allowed");
    let tables = good(&mut bench, "records.tables", "{}");
    let shown = tables.get("tables").and_then(Value::as_list).expect("tables");
    assert_eq!((shown[0].get("correct_own").is_some(), shown[1].get("correct_own").is_some()), (true, false));
}
