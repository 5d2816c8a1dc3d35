//! Every limit, at, below and above.

use super::super::*;
use super::*;

fn one_field() -> Bench<RecordsState> {
    let mut bench = Bench::new(RecordsState::new());
    good(
        &mut bench,
        "records.define",
        r#"{"table": {"table": "t", "fields": {"x": "text", "tags": "list", "extra": "any"}}}"#,
    );
    bench
}

/// Returns the code with which a definition with so many `what` is refused, if it is.
fn define(definition: &str) -> Option<String> {
    let mut bench = Bench::new(RecordsState::new());
    call(&mut bench, "records.define", &format!(r#"{{"table": {definition}}}"#))
        .err()
        .map(|rejection| rejection.code.into_owned())
}

fn numbered(count: usize, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(",")
}

#[test]
fn tables_are_limited() {
    let mut bench = Bench::new(RecordsState::new());
    let define = |number: usize| format!(r#"{{"table": {{"table": "t{number}", "fields": {{"x": "text"}}}}}}"#);
    for number in 0..TABLES_MAX {
        good(&mut bench, "records.define", &define(number));
    }
    assert_eq!(code(&mut bench, "records.define", &define(TABLES_MAX)), "records/too-many-tables");
}

#[test]
fn parts_of_a_definition_are_limited() {
    let bad = Some("records/bad-definition".to_owned());
    let fields = |count| {
        format!(r#"{{"table": "t", "fields": {{{}}}}}"#, numbered(count, |each| format!(r#""f{each}": "text""#)))
    };
    let action = |body: &str| format!(r#"{{"table": "t", "fields": {{"x": "text"}}, "actions": {{"a": {body}}}}}"#);
    let actions = |count| {
        let each = |each| format!(r#""a{each}": {{"effects": [{{"remove": true}}]}}"#);
        format!(r#"{{"table": "t", "fields": {{"x": "text"}}, "actions": {{{}}}}}"#, numbered(count, each))
    };
    let effects =
        |count| action(&format!(r#"{{"effects": [{}]}}"#, numbered(count, |_| r#"{"remove": true}"#.to_owned())));
    let guards = |count| {
        let guards = numbered(count, |_| r#"{"x": "a"}"#.to_owned());
        action(&format!(r#"{{"guard": [{guards}], "effects": [{{"remove": true}}]}}"#))
    };
    let name = |bytes: usize| format!(r#"{{"table": "{}", "fields": {{"x": "text"}}}}"#, "t".repeat(bytes));
    let cases: [(&dyn Fn(usize) -> String, usize); 5] = [
        (&fields, FIELDS_MAX),
        (&actions, ACTIONS_MAX),
        (&effects, EFFECTS_MAX),
        (&guards, GUARDS_MAX),
        (&name, NAME_BYTES_MAX),
    ];
    for (definition, max) in cases {
        assert_eq!(define(&definition(max - 1)), None, "below {max}");
        assert_eq!(define(&definition(max)), None, "at {max}");
        assert_eq!(define(&definition(max + 1)), bad, "above {max}");
    }
}

#[test]
fn conditions_are_limited_in_depth_number_and_reach() {
    let mut bench = one_field();
    let mut query = |filter: &str| {
        let arguments = format!(r#"{{"table": "t", "where": {filter}}}"#);
        call(&mut bench, "records.query", &arguments).map_err(|rejection| rejection.message)
    };
    // The innermost comparison is a level of its own.
    let nested = |depth: usize| r#"{"not": "#.repeat(depth - 1) + r#"{"x": "a"}"# + &"}".repeat(depth - 1);
    assert!(query(&nested(CONDITION_DEPTH_MAX - 1)).is_ok());
    assert!(query(&nested(CONDITION_DEPTH_MAX)).is_ok());
    assert!(query(&nested(CONDITION_DEPTH_MAX + 1)).is_err_and(|sentence| sentence.contains("nest deeper")));
    let many = |count| format!("[{}]", numbered(count, |_| r#"{"x": "a"}"#.to_owned()));
    assert!(query(&many(CONDITIONS_MAX - 1)).is_ok());
    assert!(query(&many(CONDITIONS_MAX)).is_ok());
    assert!(query(&many(CONDITIONS_MAX + 1)).is_err_and(|sentence| sentence.contains("comparisons")));

    let mut bench = Bench::new(RecordsState::new());
    good(
        &mut bench,
        "records.define",
        r#"{"table": {"table": "t", "fields": {"r": {"type": "reference", "table": "t"}}}}"#,
    );
    let mut path = |steps: usize| {
        let arguments = format!(r#"{{"table": "t", "where": {{"{}r": null}}}}"#, "r.".repeat(steps));
        call(&mut bench, "records.query", &arguments).is_ok()
    };
    assert_eq!((path(PATH_STEPS_MAX - 1), path(PATH_STEPS_MAX), path(PATH_STEPS_MAX + 1)), (true, true, false));
}

#[test]
fn text_lists_and_ids_are_limited() {
    let mut bench = one_field();
    let mut create = |values: &str, id: &str| {
        let arguments = format!(r#"{{"table": "t", "id": "{id}", "values": {values}}}"#);
        call(&mut bench, "records.create", &arguments).err().map(|rejection| rejection.code.into_owned())
    };
    let bad = Some("records/bad-value".to_owned());
    for (difference, expected) in [(-1, None), (0, None), (1, bad)] {
        let sized = |max: usize| max.saturating_add_signed(difference);
        let text = format!(r#"{{"x": "{}"}}"#, "x".repeat(sized(FIELD_TEXT_BYTES_MAX)));
        assert_eq!(create(&text, &format!("text{difference}")), expected);
        let any = format!(r#"{{"extra": "{}"}}"#, "x".repeat(sized(FIELD_TEXT_BYTES_MAX)));
        assert_eq!(create(&any, &format!("any{difference}")), expected);
        let list = format!(r#"{{"tags": [{}]}}"#, numbered(sized(FIELD_LIST_ITEMS_MAX), |_| r#""a""#.to_owned()));
        assert_eq!(create(&list, &format!("list{difference}")), expected);
        let bad_id = expected.map(|_| "records/bad-id".to_owned());
        assert_eq!(create("{}", &"i".repeat(sized(ROW_ID_BYTES_MAX))), bad_id);
    }
}

#[test]
fn rows_of_an_import_and_of_a_table_are_limited() {
    let mut bench = one_field();
    let import = |count| format!(r#"{{"table": "t", "rows": [{}]}}"#, numbered(count, |_| "{}".to_owned()));
    assert_eq!(code(&mut bench, "records.import", &import(IMPORT_ROWS_MAX + 1)), "records/too-many-rows");
    good(&mut bench, "records.import", &import(IMPORT_ROWS_MAX - 1));
    for _ in 1..TABLE_ROWS_MAX / IMPORT_ROWS_MAX {
        good(&mut bench, "records.import", &import(IMPORT_ROWS_MAX));
    }
    good(&mut bench, "records.create", r#"{"table": "t", "values": {}}"#);
    let last = good(&mut bench, "records.query", r#"{"table": "t", "limit": 1}"#);
    assert_eq!(last.get("total"), Some(&Value::from(TABLE_ROWS_MAX)));
    let (code_of, sentence) = refused_quickly(&mut bench, r#"{"table": "t", "values": {}}"#);
    assert_eq!(code_of, "records/too-many-rows");
    assert!(sentence.contains("100000 rows"), "{sentence}");
}

fn refused_quickly(bench: &mut Bench<RecordsState>, arguments: &str) -> (String, String) {
    let rejection = call(bench, "records.create", arguments).expect_err("one row too many");
    (rejection.code.into_owned(), rejection.message)
}

#[test]
fn a_page_and_its_sorting_are_limited() {
    let mut bench = one_field();
    let rows = numbered(PAGE_ROWS_MAX + 1, |_| "{}".to_owned());
    good(&mut bench, "records.import", &format!(r#"{{"table": "t", "rows": [{rows}]}}"#));
    let mut shown = |rest: &str| {
        let answer = call(&mut bench, "records.query", &format!(r#"{{"table": "t"{rest}}}"#)).ok()?;
        answer.get("rows").and_then(Value::as_list).map(<[Value]>::len)
    };
    assert_eq!(shown(""), Some(PAGE_ROWS_DEFAULT));
    for (limit, expected) in [(0, None), (1, Some(1)), (PAGE_ROWS_MAX, Some(PAGE_ROWS_MAX)), (PAGE_ROWS_MAX + 1, None)]
    {
        assert_eq!(shown(&format!(r#", "limit": {limit}"#)), expected, "{limit}");
    }
    for (count, expected) in [(SORT_FIELDS_MAX, Some(1)), (SORT_FIELDS_MAX + 1, None)] {
        let sort = numbered(count, |_| r#""x""#.to_owned());
        assert_eq!(shown(&format!(r#", "limit": 1, "sort": [{sort}]"#)), expected, "{count}");
    }
}

#[test]
fn outages_are_limited() {
    let mut bench = one_field();
    let disrupt = r#"{"from": "2026-03-17T10:00:00Z", "until": "2026-03-17T11:00:00Z", "kind": "fails"}"#;
    for _ in 0..OUTAGES_MAX {
        good(&mut bench, "records.disrupt", disrupt);
    }
    assert_eq!(code(&mut bench, "records.disrupt", disrupt), "records/bad-outage");
}

#[test]
fn a_long_history_forgets_its_older_half_and_says_so() {
    let mut bench = one_field();
    good(&mut bench, "records.create", r#"{"table": "t", "id": "r", "values": {}}"#);
    let mut told = |changes: usize| {
        for number in 0..changes {
            good(
                &mut bench,
                "records.update",
                &format!(r#"{{"table": "t", "id": "r", "values": {{"x": "{number}"}}}}"#),
            );
        }
        let history = good(&mut bench, "records.history", r#"{"table": "t", "id": "r"}"#);
        let entries = history.get("entries").and_then(Value::as_list).expect("entries").to_vec();
        assert_eq!(
            entries.last().and_then(|entry| entry.get("changes")?.get("x")?.get("to").cloned()),
            Some(Value::from((changes - 1).to_string()))
        );
        (entries.len(), history.get("forgotten").and_then(Value::as_int))
    };
    assert_eq!(told(AUDIT_ENTRIES_MAX - 2), (AUDIT_ENTRIES_MAX - 1, Some(0)));
    assert_eq!(told(1), (AUDIT_ENTRIES_MAX, Some(0)));
    assert_eq!(told(1), (AUDIT_ENTRIES_MAX / 2 + 1, Some(500)));
}

#[test]
fn a_decimal_has_so_many_digits_after_the_point() {
    let define = |scale: u32| {
        let definition =
            format!(r#"{{"table": {{"table": "t", "fields": {{"x": {{"type": "decimal", "scale": {scale}}}}}}}}}"#);
        call(&mut Bench::new(RecordsState::new()), "records.define", &definition)
    };
    for scale in [DECIMAL_SCALE_MAX - 1, DECIMAL_SCALE_MAX] {
        define(scale).expect("it fits");
    }
    assert_eq!(define(DECIMAL_SCALE_MAX + 1).expect_err("it is too much").code, "records/bad-definition");
}
