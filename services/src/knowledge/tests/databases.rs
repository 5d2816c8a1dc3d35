//! Databases: the documented example, values in and out, rollups and formulas, the archive.

use super::*;

#[test]
fn the_documented_example_is_laid_out_and_computed() {
    let mut bench = vendors();
    let row = ask(&mut bench, "row", r#"{"row": "Rohde"}"#);
    let properties = row.get("properties").expect("properties");
    for (name, value) in [
        ("Name", r#""Rohde""#),
        ("Limit", "1500"),
        ("Tier", r#""Gold""#),
        ("Tags", r#"["local"]"#),
        ("Renewal", r#""2026-03-31""#),
        ("Owner", r#"["Ann Lee"]"#),
        ("Approved", "true"),
        ("Half", "750"),
        ("Notes", r#""""#),
        ("Hotline", "null"),
        ("Papers", "[]"),
        ("Group limit", "0"),
    ] {
        assert_eq!(properties.get(name), Some(&json(value)), "{name}");
    }
    assert_eq!(property(&mut bench, "Rohde Nord", "Group limit"), Value::Int(1500));
    assert_eq!(ask(&mut bench, "markdown", r#"{"page": "Rohde Nord"}"#), Value::from("Call **before** ordering."));
}

#[test]
fn a_row_has_every_property_even_if_nothing_was_set() {
    let mut bench = tasks();
    let id = text(&good(&mut bench, "create_row", r#"{"database": "Tasks", "properties": {}}"#), "id");
    let row = bench.ask("row", dayshift_engine::map! { "row" => id }).expect("a row");
    let properties = row.get("properties").and_then(Value::as_map).expect("properties");
    assert_eq!(properties.len(), 17);
    assert_eq!(properties.get("Hours"), Some(&Value::Null));
    assert_eq!(properties.get("Size"), Some(&Value::Null));
    assert_eq!(properties.get("Name"), Some(&Value::from("")));
    assert_eq!(properties.get("Done"), Some(&Value::Bool(false)));
}

#[test]
fn an_update_changes_the_named_properties_only() {
    let mut bench = tasks();
    good(&mut bench, "update_row", r#"{"row": "a", "properties": {"Hours": 5, "Note": null}}"#);
    assert_eq!(property(&mut bench, "a", "Hours"), Value::Int(5));
    assert_eq!(property(&mut bench, "a", "Note"), Value::from(""));
    assert_eq!(property(&mut bench, "a", "Size"), Value::from("L"));
}

#[test]
fn an_unknown_option_is_created_but_a_status_is_not() {
    let mut bench = tasks();
    good(&mut bench, "update_row", r#"{"row": "a", "properties": {"Size": "XL", "Tags": ["x", "new"]}}"#);
    let schema = good(&mut bench, "database", r#"{"database": "tasks"}"#).to_string();
    assert!(schema.contains(r#"["S","M","L","XL"]"#) && schema.contains(r#"["x","y","z","new"]"#), "{schema}");
    assert_eq!(
        code(&mut bench, "update_row", r#"{"row": "a", "properties": {"State": "Started"}}"#),
        "knowledge/bad-value"
    );
}

#[test]
fn a_value_of_the_wrong_kind_is_refused() {
    let mut bench = tasks();
    for properties in [
        r#"{"Hours": "5"}"#,
        r#"{"Name": 5}"#,
        r#"{"Size": ["S"]}"#,
        r#"{"Tags": [1]}"#,
        r#"{"Due": "tomorrow"}"#,
        r#"{"Due": "2026-03-16T09:00:00"}"#,
        r#"{"Due": {"start": "2026-03-16", "end": "2026-03-15"}}"#,
        r#"{"Done": "yes"}"#,
        r#"{"Project": ["Gamma"]}"#,
        r#"{"Size": "a,b"}"#,
        r#"{"Due": {"start": "2026-03-29T02:30:00", "zone": "Europe/Berlin"}}"#,
        r#"{"Due": {"start": "2026-10-25T02:30:00", "zone": "Europe/Berlin"}}"#,
    ] {
        let arguments = format!(r#"{{"row": "a", "properties": {properties}}}"#);
        assert_eq!(code(&mut bench, "update_row", &arguments), "knowledge/bad-value", "{properties}");
    }
    for name in ["Cost", "Budget", "Made", "By"] {
        let arguments = format!(r#"{{"row": "a", "properties": {{"{name}": 1}}}}"#);
        assert_eq!(code(&mut bench, "update_row", &arguments), "knowledge/read-only", "{name}");
    }
    assert_eq!(
        code(&mut bench, "update_row", r#"{"row": "a", "properties": {"hours": 1}}"#),
        "knowledge/unknown-property"
    );
    assert_eq!(code(&mut bench, "update_row", r#"{"row": "a", "properties": {}}"#), "knowledge/nothing-to-change");
    assert_eq!(
        code(&mut bench, "update_row", r#"{"row": "zz", "properties": {"Hours": 1}}"#),
        "knowledge/unknown-page"
    );
}

#[test]
fn wall_clock_time_with_a_zone_gets_its_offset() {
    let mut bench = tasks();
    good(
        &mut bench,
        "update_row",
        r#"{"row": "a", "properties": {"Due": {"start": "2026-07-01T09:00", "zone": "Europe/Berlin"}}}"#,
    );
    let due = property(&mut bench, "a", "Due");
    assert_eq!(due, json(r#"{"start": "2026-07-01T09:00:00+02:00", "end": null, "zone": "Europe/Berlin"}"#));
}

#[test]
fn a_composed_and_a_decomposed_spelling_are_one_name() {
    let (composed, decomposed) = ("Pr\u{fc}fung", "Pru\u{308}fung");
    for (defined, called) in [(composed, decomposed), (decomposed, composed)] {
        let mut bench = Bench::new(KnowledgeState::new());
        let definition = format!(
            r#"{{"database": {{"title": "{defined}", "properties": {{"Name": "title", "{defined}": {{"type": "select", "options": ["{defined}"]}}, "Tags": "multi_select"}}}}}}"#
        );
        good(&mut bench, "define", &definition);
        let row = format!(
            r#"{{"database": "{called}", "properties": {{"Name": "{defined}", "{called}": "{called}", "Tags": ["{called}", "{defined}"]}}}}"#
        );
        good(&mut bench, "create_row", &row);
        let filter = format!(
            r#"{{"database": "{called}", "filter": {{"property": "{called}", "select": {{"equals": "{called}"}}}}}}"#
        );
        let found = good(&mut bench, "query", &filter);
        assert_eq!(found.get("total"), Some(&Value::Int(1)), "{called:?}");
        let tags = property(&mut bench, defined, "Tags");
        assert_eq!(tags.as_list().map(<[_]>::len), Some(1), "{tags}");
        good(&mut bench, "update_row", &format!(r#"{{"row": "{called}", "properties": {{"{called}": null}}}}"#));
        good(&mut bench, "read_page", &format!(r#"{{"page": "{called}"}}"#));
    }
}

#[test]
fn rollups_and_formulas_follow_what_they_come_from() {
    let mut bench = tasks();
    assert_eq!(property(&mut bench, "c", "Budgets"), json("[10]"));
    assert_eq!(property(&mut bench, "a", "Cost"), Value::Int(300));
    assert_eq!(property(&mut bench, "b", "Late"), Value::Bool(true));
    assert_eq!(property(&mut bench, "a", "Late"), Value::Bool(false));
    good(&mut bench, "update_row", r#"{"row": "Beta", "properties": {"Budget": 5}}"#);
    assert_eq!(property(&mut bench, "c", "Budget"), Value::Int(15));
    good(&mut bench, "archive", r#"{"page": "Alpha"}"#);
    assert_eq!(property(&mut bench, "c", "Budget"), Value::Int(5));
}

#[test]
fn formulas_in_a_circle_are_errors_as_values() {
    let mut bench = Bench::new(KnowledgeState::new());
    good(
        &mut bench,
        "define",
        r#"{"database": {"title": "Circle", "properties": {"Name": "title", "Self": {"type": "formula", "expression": "prop(\"Other\") + 1"},
            "Other": {"type": "formula", "expression": "prop(\"Self\") + prop(\"Self\")"}}}}"#,
    );
    good(&mut bench, "create_row", r#"{"database": "Circle", "properties": {"Name": "one"}}"#);
    let value = property(&mut bench, "one", "Self");
    assert!(value.get("error").is_some(), "{value}");
}

#[test]
fn what_is_archived_is_not_shown_and_comes_back_where_it_was() {
    let mut bench = tasks();
    let id = text(&ask(&mut bench, "row", r#"{"row": "b"}"#), "id");
    let before = digest(&bench);
    good(&mut bench, "archive", r#"{"page": "b"}"#);
    assert_eq!(titles(&mut bench, r#"{"database": "Tasks"}"#), "a c d e f");
    assert_eq!(
        code(&mut bench, "update_row", &format!(r#"{{"row": "{id}", "properties": {{"Hours": 1}}}}"#)),
        "knowledge/archived"
    );
    assert_eq!(code(&mut bench, "archive", &format!(r#"{{"page": "{id}"}}"#)), "knowledge/archived");
    good(&mut bench, "restore", &format!(r#"{{"page": "{id}"}}"#));
    assert_eq!(titles(&mut bench, r#"{"database": "Tasks"}"#), "a b c d e f");
    assert_eq!(digest(&bench), before);
    assert_eq!(code(&mut bench, "restore", &format!(r#"{{"page": "{id}"}}"#)), "knowledge/not-archived");
    good(&mut bench, "archive", r#"{"page": "Tasks"}"#);
    assert_eq!(code(&mut bench, "query", r#"{"database": "Tasks"}"#), "knowledge/unknown-database");
}

#[test]
fn rows_come_from_csv() {
    let mut bench = tasks();
    let blob = bench.blob(
        b"\xef\xbb\xbfName,Hours,Tags,Done,Due,Project\nfirst,2.50,\"x, q\",Yes,2026-03-17,Beta\nsecond,,,no,,\n",
    );
    good(&mut bench, "import_rows", &format!(r#"{{"database": "Tasks", "blob": "{blob}"}}"#));
    assert_eq!(property(&mut bench, "first", "Hours"), Value::Float(2.5));
    assert_eq!(property(&mut bench, "first", "Tags"), json(r#"["x", "q"]"#));
    assert_eq!(property(&mut bench, "first", "Done"), Value::Bool(true));
    assert_eq!(property(&mut bench, "second", "Hours"), Value::Null);
    let bad = bench.blob(b"Name,Hours\nx,many\n");
    assert_eq!(
        code(&mut bench, "import_rows", &format!(r#"{{"database": "Tasks", "blob": "{bad}"}}"#)),
        "knowledge/bad-value"
    );
}

#[test]
fn bad_definitions_are_refused_with_a_sentence() {
    let mut bench = tasks();
    for definition in [
        "{}",
        r#"{"title": "X", "properties": {"A": "title", "B": "title"}}"#,
        r#"{"title": "X", "properties": {"A": "colour"}}"#,
        r#"{"title": "X", "properties": {"A": {"type": "formula", "expression": "1 +"}}}"#,
        r#"{"title": "X", "properties": {"A": {"type": "formula", "expression": "prop(\"B\")"}}}"#,
        r#"{"title": "X", "properties": {"A": {"type": "rollup", "relation": "B", "property": "C", "function": "sum"}}}"#,
        r#"{"title": "X", "properties": {"A": {"type": "number", "options": []}}}"#,
        r#"{"title": "X", "properties": [{"name": "A", "type": "text"}, {"name": "A", "type": "text"}]}"#,
    ] {
        assert_eq!(
            code(&mut bench, "define", &format!(r#"{{"database": {definition}}}"#)),
            "knowledge/bad-definition",
            "{definition}"
        );
    }
}

#[test]
fn questions_find_rows_by_simple_equality() {
    let mut bench = tasks();
    let found = ask(&mut bench, "find", r#"{"database": "Tasks", "property": "Size", "value": "S"}"#);
    assert_eq!(found.get("properties").and_then(|all| all.get("Name")), Some(&Value::from("b")));
    for (condition, count) in [
        (r#"{"Size": "S"}"#, 2),
        (r#"{"Hours": 3.0}"#, 2),
        (r#"{"Tags": "x"}"#, 2),
        (r#"{"Tags": ["x", "y"]}"#, 1),
        (r#"{"Done": false}"#, 5),
        (r#"{"Project": "Alpha"}"#, 2),
        (r#"{"Size": null}"#, 2),
        (r#"{"Cost": 300, "Size": "M"}"#, 1),
        (r#"{"Due": "2026-03-16"}"#, 1),
        ("{}", 6),
    ] {
        let arguments = format!(r#"{{"database": "Tasks", "where": {condition}}}"#);
        assert_eq!(ask(&mut bench, "count", &arguments), Value::Int(count), "{condition}");
    }
    assert_eq!(ask(&mut bench, "rows", r#"{"database": "Nothing"}"#), Value::Null);
    assert_eq!(ask(&mut bench, "row", r#"{"row": "Nothing"}"#), Value::Null);
    let unknown = bench.ask("nonsense", Value::Null).expect_err("no such question");
    assert_eq!(unknown.code, "query/unknown");
}
