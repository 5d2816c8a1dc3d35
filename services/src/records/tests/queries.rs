//! `records.query` and the questions of checks.

use super::*;

fn tickets() -> Bench<RecordsState> {
    let mut bench = Bench::new(RecordsState::new());
    good(
        &mut bench,
        "records.define",
        r#"{"table": {"table": "customers", "fields": {"tier": {"type": "choice", "options": ["gold", "silver"]}}}}"#,
    );
    good(
        &mut bench,
        "records.define",
        r#"{"table": {"table": "tickets", "id": {"name": "ticket_id", "prefix": "T-"}, "fields": {
            "title": "text", "body": {"type": "text", "detail": true}, "priority": "integer", "fee": "decimal", "open": "boolean",
            "due": "date", "at": "time", "tags": "list", "extra": "any", "customer": {"type": "reference", "table": "customers"}}}}"#,
    );
    good(
        &mut bench,
        "records.import",
        r#"{"table": "customers", "rows": [{"id": "C-1", "tier": "gold"}, {"id": "C-2", "tier": "silver"}]}"#,
    );
    good(
        &mut bench,
        "records.import",
        r#"{"table": "tickets", "rows": [
            {"ticket_id": "T-1", "title": "Printer", "body": "long", "priority": 2, "fee": "9.90", "open": true, "due": "2026-03-20",
             "at": "2026-03-16T09:00:00+01:00", "tags": ["office", "paper"], "extra": {"rooms": [1, 2]}, "customer": "C-1"},
            {"ticket_id": "T-2", "title": "printer again", "priority": 10, "fee": "10", "open": false, "due": "2026-03-18",
             "at": "2026-03-16T08:30:00Z", "tags": ["paper"], "customer": "C-2"},
            {"ticket_id": "T-10", "title": "VPN", "priority": 2, "fee": "100.00", "open": true},
            {"ticket_id": "T-3"}]}"#,
    );
    bench
}

fn found(bench: &mut Bench<RecordsState>, rest: &str) -> Vec<String> {
    let answer = good(bench, "records.query", &format!(r#"{{"table": "tickets", {rest}}}"#));
    let rows = answer.get("rows").and_then(Value::as_list).expect("rows");
    rows.iter().map(|row| row.get("ticket_id").and_then(Value::as_text).expect("an id").to_owned()).collect()
}

#[test]
fn every_operator_finds_its_rows() {
    let mut bench = tickets();
    for (filter, expected) in [
        (r#"{}"#, vec!["T-1", "T-2", "T-10", "T-3"]),
        (r#"{"open": true}"#, vec!["T-1", "T-10"]),
        (r#"{"open": true, "priority": 2, "due": "2026-03-20"}"#, vec!["T-1"]),
        (r#"{"priority": [10, 3]}"#, vec!["T-2"]),
        (r#"{"priority": null}"#, vec!["T-3"]),
        (r#"{"fee": "10.00"}"#, vec!["T-2"]),
        (r#"{"fee": 9.9}"#, vec!["T-1"]),
        (r#"{"extra": {"rooms": [1, 2]}}"#, vec!["T-1"]),
        (r#"[{"field": "priority", "op": "ne", "value": 2}]"#, vec!["T-2", "T-3"]),
        (r#"{"field": "fee", "op": "gt", "value": "9.905"}"#, vec!["T-2", "T-10"]),
        (r#"{"field": "fee", "op": "lt", "value": 100}"#, vec!["T-1", "T-2"]),
        (r#"{"field": "fee", "op": "le", "value": "10"}"#, vec!["T-1", "T-2"]),
        (r#"{"field": "priority", "op": "ge", "value": 10}"#, vec!["T-2"]),
        (r#"{"field": "at", "op": "lt", "value": "2026-03-16T09:15:00+01:00"}"#, vec!["T-1"]),
        (r#"{"field": "title", "op": "contains", "value": "PRINTER"}"#, vec!["T-1", "T-2"]),
        (r#"{"field": "tags", "op": "contains", "value": "office"}"#, vec!["T-1"]),
        (r#"{"field": "tags", "op": "contains", "value": "off"}"#, vec![]),
        (r#"{"field": "due", "op": "in", "value": ["2026-03-18", "2026-03-19"]}"#, vec!["T-2"]),
        (r#"{"field": "due", "op": "is_empty"}"#, vec!["T-10", "T-3"]),
        (r#"{"field": "due", "op": "is_empty", "value": false}"#, vec!["T-1", "T-2"]),
        (r#"{"not": {"open": true}}"#, vec!["T-2", "T-3"]),
        (
            r#"{"any": [{"priority": 10}, {"all": [{"open": true}, {"field": "fee", "op": "gt", "value": 50}]}]}"#,
            vec!["T-2", "T-10"],
        ),
        (r#"{"customer.tier": "gold"}"#, vec!["T-1"]),
        (r#"{"field": "customer.tier", "op": "is_empty"}"#, vec!["T-10", "T-3"]),
    ] {
        assert_eq!(found(&mut bench, &format!(r#""where": {filter}"#)), expected, "{filter}");
    }
}

#[test]
fn a_condition_that_makes_no_sense_is_refused() {
    let mut bench = tickets();
    for (filter, expected) in [
        (r#"{"color": "red"}"#, "records/unknown-field"),
        (r#"{"priority": "high"}"#, "records/bad-condition"),
        (r#"{"customer.tier": "bronze"}"#, "records/bad-condition"),
        (r#"{"title.length": 3}"#, "records/bad-condition"),
        (r#"{"field": "tags", "op": "lt", "value": "a"}"#, "records/bad-condition"),
        (r#"{"field": "title", "op": "like", "value": "a"}"#, "records/bad-condition"),
        (r#"{"field": "title", "op": "eq"}"#, "records/bad-condition"),
        (r#"{"field": "title", "op": "in", "value": "a"}"#, "records/bad-condition"),
        (r#"{"field": "title", "value": "a", "values": 1}"#, "records/bad-condition"),
        (r#"{"exists": {"table": "customers"}}"#, "records/bad-condition"),
        (r#"{"argument": "x", "value": 1}"#, "records/bad-condition"),
        (r#"{"not": {}, "open": true}"#, "records/bad-condition"),
        (r#""open""#, "records/bad-condition"),
    ] {
        assert_eq!(
            code(&mut bench, "records.query", &format!(r#"{{"table": "tickets", "where": {filter}}}"#)),
            expected,
            "{filter}"
        );
    }
}

#[test]
fn rows_sort_by_value_with_empty_ones_last_and_ties_in_order_of_creation() {
    let mut bench = tickets();
    assert_eq!(found(&mut bench, r#""sort": ["priority"]"#), ["T-1", "T-10", "T-2", "T-3"]);
    assert_eq!(found(&mut bench, r#""sort": ["-priority"]"#), ["T-2", "T-1", "T-10", "T-3"]);
    assert_eq!(found(&mut bench, r#""sort": ["-fee"]"#), ["T-10", "T-2", "T-1", "T-3"]);
    assert_eq!(found(&mut bench, r#""sort": ["priority", "-fee"]"#), ["T-10", "T-1", "T-2", "T-3"]);
    assert_eq!(found(&mut bench, r#""sort": ["at"]"#), ["T-1", "T-2", "T-10", "T-3"]);
    assert_eq!(code(&mut bench, "records.query", r#"{"table": "tickets", "sort": ["tags"]}"#), "records/bad-sort");
    assert_eq!(
        code(&mut bench, "records.query", r#"{"table": "tickets", "sort": ["colour"]}"#),
        "records/unknown-field"
    );
}

#[test]
fn rows_are_found_by_their_id() {
    let mut bench = office();
    let mut ids = |table: &str, condition: &str| -> Vec<String> {
        let answer = good(&mut bench, "records.query", &format!(r#"{{"table": "{table}", "where": {condition}}}"#));
        let rows = answer.get("rows").and_then(Value::as_list).expect("rows");
        rows.iter()
            .map(|row| row.get("id").or(row.get("payment_id")).and_then(Value::as_text).expect("an id").to_owned())
            .collect()
    };
    assert_eq!(ids("suppliers", r#"{"id": "S-2"}"#), ["S-2"]);
    assert_eq!(ids("suppliers", r#"{"id": ["S-2", "S-1", "S-9"]}"#), ["S-1", "S-2"]);
    assert_eq!(ids("suppliers", r#"[{"field": "id", "op": "ne", "value": "S-1"}]"#), ["S-2"]);
    assert_eq!(ids("suppliers", r#"[{"field": "id", "op": "contains", "value": "-1"}]"#), ["S-1"]);
    let all = ids("payments", "{}");
    let own = ids("payments", r#"{"supplier.id": ["S-1", "S-2"]}"#);
    assert_eq!(own, ids("payments", r#"{"supplier": ["S-1", "S-2"]}"#), "of {all:?}");
    let count = ask(&mut bench, "count", r#"{"table": "suppliers", "where": {"id": "S-1"}}"#);
    assert_eq!(count, Value::Int(1));
}

/// A page ends at a place in the order, not at a row: what comes, goes or moves in between hides nothing.
#[test]
fn pages_lose_nothing_when_rows_come_go_and_move_between_them() {
    let mut bench = Bench::new(RecordsState::new());
    good(&mut bench, "records.define", r#"{"table": {"table": "t", "fields": {"fee": "integer", "name": "text"}}}"#);
    let rows: Vec<String> = (1..=6)
        .map(|number| format!(r#"{{"id": "{number}", "fee": {}, "name": "n\u001f{number}"}}"#, number * 10))
        .collect();
    good(&mut bench, "records.import", &format!(r#"{{"table": "t", "rows": [{}]}}"#, rows.join(",")));
    for sort in [r#"["fee"]"#, r#"["name", "-fee"]"#, "[]"] {
        let mut bench = Bench { service: bench.service.clone(), ..Bench::new(RecordsState::new()) };
        bench.seq = dayshift_engine::Seq::new(99);
        let page = |bench: &mut Bench<RecordsState>, cursor: &Value| {
            let call = format!(
                r#"{{"table": "t", "sort": {sort}, "limit": 2, "where": [{{"field": "fee", "op": "gt", "value": 0}}], "cursor": {cursor}}}"#
            );
            let call = call.replace(r#", "cursor": null"#, "");
            let answer = good(bench, "records.query", &call);
            let rows = answer.get("rows").and_then(Value::as_list).expect("rows").to_vec();
            let ids: Vec<String> =
                rows.iter().map(|row| row.get("id").and_then(Value::as_text).expect("an id").to_owned()).collect();
            (ids, answer.get("cursor").cloned().unwrap_or_default())
        };
        let (first, cursor) = page(&mut bench, &Value::Null);
        assert_eq!(first, ["1", "2"], "{sort}");
        // The row at the cursor no longer matches, one before it is gone, one arrives in front, and one behind.
        good(&mut bench, "records.update", r#"{"table": "t", "id": "2", "values": {"fee": -1, "name": "zz"}}"#);
        good(&mut bench, "records.remove", r#"{"table": "t", "id": "1"}"#);
        good(&mut bench, "records.create", r#"{"table": "t", "id": "early", "values": {"fee": 5, "name": "a"}}"#);
        good(&mut bench, "records.create", r#"{"table": "t", "id": "late", "values": {"fee": 99, "name": "z"}}"#);
        let mut seen = Vec::new();
        let mut next = cursor;
        while next != Value::Null {
            let (ids, cursor) = page(&mut bench, &next);
            seen.extend(ids);
            next = cursor;
        }
        let expected: &[&str] =
            if sort == "[]" { &["3", "4", "5", "6", "early", "late"] } else { &["3", "4", "5", "6", "late"] };
        assert_eq!(seen, expected, "{sort}");
    }
}

#[test]
fn a_query_ends_with_its_budget() {
    let mut bench = Bench::new(RecordsState::new());
    good(
        &mut bench,
        "records.define",
        r#"{"table": {"table": "t", "fields": {"name": "text", "other": {"type": "reference", "table": "t"}}}}"#,
    );
    let rows: Vec<String> = (0..500).map(|number| format!(r#"{{"name": "{}{number}"}}"#, "x".repeat(200))).collect();
    good(&mut bench, "records.import", &format!(r#"{{"table": "t", "rows": [{}]}}"#, rows.join(",")));
    let one = r#"{"field": "name", "op": "contains", "value": "yyyyyyyyyyyyyyyyyyyyyyyyy"}"#;
    let query = format!(r#"{{"table": "t", "where": {{"any": [{}]}}}}"#, [one; 20].join(","));
    good(&mut bench, "records.query", &query);
    bench.limits = Some((100_000, 1 << 20));
    assert_eq!(code(&mut bench, "records.query", &query), "budget/work");
    assert_eq!(bench.ask("count", json(&query)).expect_err("a refusal").code, "budget/work");
}

#[test]
fn pages_follow_each_other_by_cursor() {
    let mut bench = tickets();
    let mut cursor = "null".to_owned();
    let mut pages = Vec::new();
    loop {
        let query =
            format!(r#"{{"table": "tickets", "sort": ["-fee"], "limit": 3, "fields": [], "cursor": {cursor}}}"#);
        let answer = good(&mut bench, "records.query", &query);
        assert_eq!(answer.get("total"), Some(&Value::Int(4)));
        pages.push(answer.get("rows").and_then(Value::as_list).map_or(0, <[Value]>::len));
        match answer.get("cursor") {
            Some(Value::Text(next)) => cursor = format!("{next:?}"),
            _ => break,
        }
    }
    assert_eq!(pages, [3, 1]);
    good(&mut bench, "records.remove", r#"{"table": "tickets", "id": "T-1"}"#);
    let stale = r#"{"table": "tickets", "sort": ["-fee"], "cursor": "T-1"}"#;
    assert_eq!(code(&mut bench, "records.query", stale), "records/stale-cursor");
}

#[test]
fn a_query_reads_a_scan_and_what_it_shows_of_the_matches() {
    let mut bench = tickets();
    let query = r#"{"table": "tickets", "where": {"customer.tier": "gold"}, "fields": ["title"]}"#;
    assert_eq!(good(&mut bench, "records.query", query).get("total"), Some(&Value::Int(1)));
    assert_eq!(
        bench.read_keys(),
        [
            "records:customers",
            "records:customers/",
            "records:customers/*",
            "records:tickets",
            "records:tickets/",
            "records:tickets/*",
            "records:tickets/T-1",
            "records:tickets/T-1/customer",
            "records:tickets/T-1/title",
        ]
    );
}

#[test]
fn a_query_leaves_details_out_unless_asked() {
    let mut bench = tickets();
    let query = |rest: &str| format!(r#"{{"table": "tickets", "where": {{"priority": 10}}{rest}}}"#);
    let row =
        |answer: Value| answer.get("rows").and_then(Value::as_list).and_then(<[Value]>::first).cloned().expect("a row");
    assert_eq!(row(good(&mut bench, "records.query", &query(""))).get("body"), None);
    assert_eq!(
        row(good(&mut bench, "records.query", &query(r#", "fields": ["body"]"#))).get("body"),
        Some(&Value::Null)
    );
}

#[test]
fn an_agent_sees_times_in_the_offices_zone_and_a_check_in_utc() {
    let mut bench = tickets();
    let row = good(&mut bench, "records.read", r#"{"table": "tickets", "id": "T-2", "fields": ["at"]}"#);
    assert_eq!(row.get("at"), Some(&Value::from("2026-03-16T09:30:00+01:00")));
    assert_eq!(
        ask(&mut bench, "field", r#"{"table": "tickets", "id": "T-2", "field": "at"}"#),
        Value::from("2026-03-16T08:30:00Z")
    );
}

#[test]
fn checks_ask_for_rows_fields_and_counts() {
    let mut bench = tickets();
    assert_eq!(ask(&mut bench, "tables", "{}"), json(r#"["customers", "tickets"]"#));
    assert_eq!(ask(&mut bench, "count", r#"{"table": "tickets", "where": {"open": true}}"#), Value::Int(2));
    assert_eq!(
        bench.read_keys(),
        [
            "records:tickets",
            "records:tickets/",
            "records:tickets/*",
            "records:tickets/T-1",
            "records:tickets/T-1/open",
            "records:tickets/T-10",
            "records:tickets/T-10/open",
        ]
    );
    assert_eq!(ask(&mut bench, "count", r#"{"table": "tickets"}"#), Value::Int(4));
    assert_eq!(
        ask(&mut bench, "rows", r#"{"table": "customers", "where": {"tier": "gold"}}"#),
        json(r#"[{"id": "C-1", "tier": "gold"}]"#)
    );
    assert_eq!(
        ask(&mut bench, "row", r#"{"table": "customers", "id": "C-2"}"#),
        json(r#"{"id": "C-2", "tier": "silver"}"#)
    );
    assert_eq!(
        ask(&mut bench, "field", r#"{"table": "customers", "id": "C-2", "field": "tier"}"#),
        Value::from("silver")
    );
    assert_eq!(bench.read_keys(), ["records:customers", "records:customers/C-2/tier"]);
    let audit = ask(&mut bench, "audit", r#"{"table": "customers", "id": "C-2"}"#);
    let first = audit.as_list().and_then(<[Value]>::first).expect("one entry");
    assert_eq!(first.get("by"), Some(&Value::from("world")));
    assert_eq!(first.get("seq"), Some(&Value::Int(3)));
}

#[test]
fn what_is_absent_is_null_to_a_check() {
    let mut bench = tickets();
    for (verb, arguments) in [
        ("row", r#"{"table": "customers", "id": "C-9"}"#),
        ("row", r#"{"table": "nothing", "id": "C-1"}"#),
        ("field", r#"{"table": "customers", "id": "C-9", "field": "tier"}"#),
        ("field", r#"{"table": "customers", "id": "C-1", "field": "colour"}"#),
        ("rows", r#"{"table": "nothing"}"#),
        ("count", r#"{"table": "nothing"}"#),
        ("audit", r#"{"table": "customers", "id": "C-9"}"#),
    ] {
        assert_eq!(ask(&mut bench, verb, arguments), Value::Null, "{verb} {arguments}");
        assert!(!bench.read_keys().is_empty(), "absence is a read");
    }
}

#[test]
fn a_question_that_makes_no_sense_is_refused() {
    let mut bench = tickets();
    for (verb, arguments, expected) in [
        ("rowz", "{}", "query/unknown"),
        ("row", r#"{"table": "customers"}"#, "query/bad-arguments"),
        ("row", r#"{"table": "customers", "id": 5}"#, "query/bad-arguments"),
        ("count", r#"{"table": "customers", "were": {}}"#, "query/bad-arguments"),
        ("count", r#"{"table": "customers", "where": {"tier": "bronze"}}"#, "query/bad-arguments"),
        ("count", r#"{"table": "customers", "where": {"teir": "gold"}}"#, "query/bad-arguments"),
        ("tables", "[]", "query/bad-arguments"),
    ] {
        let rejection = bench.ask(verb, json(arguments)).expect_err(arguments);
        assert_eq!(rejection.code, expected, "{verb} {arguments}");
    }
}
