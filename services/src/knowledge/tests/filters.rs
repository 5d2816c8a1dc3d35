//! Queries: every operator, sorts, cursors.

use super::*;

fn filtered(bench: &mut Office, filter: &str) -> String {
    titles(bench, &format!(r#"{{"database": "Tasks", "filter": {filter}}}"#))
}

#[test]
fn every_operator_of_every_type_finds_its_rows() {
    let mut bench = tasks();
    for (property, filter, found) in [
        ("Name", r#""title": {"equals": "a"}"#, "a"),
        ("Note", r#""rich_text": {"contains": "CALL"}"#, "a b"),
        ("Note", r#""rich_text": {"does_not_contain": "call"}"#, "c d e f"),
        ("Note", r#""rich_text": {"starts_with": "call"}"#, "a b"),
        ("Note", r#""rich_text": {"ends_with": "bob"}"#, "a d"),
        ("Note", r#""rich_text": {"equals": "Call Bob"}"#, "a"),
        ("Note", r#""rich_text": {"does_not_equal": "Call Bob"}"#, "b c d e f"),
        ("Note", r#""rich_text": {"is_empty": true}"#, "c e f"),
        ("Note", r#""rich_text": {"is_not_empty": true}"#, "a b d"),
        ("Hours", r#""number": {"equals": 3}"#, "a c"),
        ("Hours", r#""number": {"does_not_equal": 3}"#, "b d e f"),
        ("Hours", r#""number": {"greater_than": 1.5}"#, "a c"),
        ("Hours", r#""number": {"greater_than_or_equal_to": 1.5}"#, "a b c"),
        ("Hours", r#""number": {"less_than": 0}"#, "f"),
        ("Hours", r#""number": {"less_than_or_equal_to": 0}"#, "e f"),
        ("Hours", r#""number": {"is_empty": true}"#, "d"),
        ("Hours", r#""greater_than": 0, "less_than": 3"#, "b"),
        ("Size", r#""select": {"equals": "S"}"#, "b e"),
        ("Size", r#""select": {"does_not_equal": "S"}"#, "a c d f"),
        ("Size", r#""is_empty": true"#, "d f"),
        ("Tags", r#""multi_select": {"contains": "x"}"#, "a b"),
        ("Tags", r#""multi_select": {"does_not_contain": "x"}"#, "c d e f"),
        ("State", r#""status": {"equals": "Done"}"#, "a"),
        ("State", r#""status": {"is_not_empty": true}"#, "a e"),
        ("Done", r#""checkbox": {"equals": true}"#, "b"),
        ("Done", r#""checkbox": {"does_not_equal": true}"#, "a c d e f"),
        ("Due", r#""date": {"equals": "2026-03-20"}"#, "c"),
        ("Due", r#""date": {"before": "2026-03-16"}"#, "b f"),
        ("Due", r#""date": {"on_or_before": "2026-03-16"}"#, "a b f"),
        ("Due", r#""date": {"after": "2026-03-20T07:59:59Z"}"#, "c d"),
        ("Due", r#""date": {"on_or_after": "2026-03-20"}"#, "c d"),
        ("Due", r#""date": {"past_week": {}}"#, "a b"),
        ("Due", r#""date": {"past_month": {}}"#, "a b f"),
        ("Due", r#""date": {"past_year": {}}"#, "a b f"),
        ("Due", r#""date": {"this_week": {}}"#, "a c"),
        ("Due", r#""date": {"next_week": {}}"#, "a c"),
        ("Due", r#""date": {"next_month": {}}"#, "a c d"),
        ("Due", r#""date": {"next_year": {}}"#, "a c d"),
        ("Due", r#""date": {"is_empty": true}"#, "e"),
        ("Who", r#""people": {"contains": "Ann Lee"}"#, "b"),
        ("Papers", r#""files": {"is_not_empty": true}"#, "e"),
        ("Project", r#""relation": {"contains": "Beta"}"#, "c"),
        ("Project", r#""relation": {"is_empty": true}"#, "b d e f"),
        ("Budgets", r#""rollup": {"any": {"number": {"greater_than": 5}}}"#, "a c"),
        ("Budgets", r#""rollup": {"every": {"number": {"greater_than": 5}}}"#, "a b c d e f"),
        ("Budgets", r#""rollup": {"none": {"number": {"greater_than": 5}}}"#, "b d e f"),
        ("Budget", r#""rollup": {"number": {"equals": 10}}"#, "a c"),
        ("Cost", r#""formula": {"number": {"greater_than": 200}}"#, "a c"),
        ("Late", r#""formula": {"checkbox": {"equals": true}}"#, "b f"),
        ("Made", r#""created_time": {"on_or_after": "2026-03-16"}"#, "a b c d e f"),
        ("By", r#""created_by": {"contains": "Ann Lee"}"#, "a b c d e f"),
    ] {
        let filter = format!(r#"{{"property": "{property}", {filter}}}"#);
        assert_eq!(filtered(&mut bench, &filter), found, "{filter}");
    }
    assert_eq!(filtered(&mut bench, r#"{"timestamp": "created_time", "created_time": {"before": "2026-03-16"}}"#), "");
    assert_eq!(
        filtered(&mut bench, r#"{"timestamp": "last_edited_time", "last_edited_time": {"this_week": {}}}"#),
        "a b c d e f"
    );
}

#[test]
fn filters_combine() {
    let mut bench = tasks();
    let filter = r#"{"or": [{"property": "Done", "checkbox": {"equals": true}},
        {"and": [{"property": "Hours", "number": {"equals": 3}}, {"property": "Size", "select": {"equals": "M"}}]}]}"#;
    assert_eq!(filtered(&mut bench, filter), "b c");
    assert_eq!(filtered(&mut bench, r#"{"and": []}"#), "a b c d e f");
    assert_eq!(filtered(&mut bench, r#"{"or": []}"#), "");
}

#[test]
fn a_filter_that_makes_no_sense_is_refused() {
    let mut bench = tasks();
    for (filter, expected) in [
        (r#"{"property": "Size", "number": {"equals": 3}}"#, "knowledge/bad-filter"),
        (r#"{"property": "Hours", "number": {"equals": "3"}}"#, "knowledge/bad-filter"),
        (r#"{"property": "Hours", "number": {"contains": 3}}"#, "knowledge/bad-filter"),
        (r#"{"property": "Due", "date": {"before": "soon"}}"#, "knowledge/bad-filter"),
        (r#"{"property": "Hours"}"#, "knowledge/bad-filter"),
        (r#"{"number": {"equals": 3}}"#, "knowledge/bad-filter"),
        (r#"{"and": [], "or": []}"#, "knowledge/bad-filter"),
        (r#"{"timestamp": "deleted_time", "equals": "2026-03-16"}"#, "knowledge/bad-filter"),
        (r#"{"property": "Colour", "equals": "x"}"#, "knowledge/unknown-property"),
    ] {
        assert_eq!(
            code(&mut bench, "query", &format!(r#"{{"database": "Tasks", "filter": {filter}}}"#)),
            expected,
            "{filter}"
        );
    }
}

#[test]
fn sorts_are_stable_and_empty_values_come_last() {
    let mut bench = tasks();
    for (sorts, found) in [
        (r#"["Hours"]"#, "f e b a c d"),
        (r#"["-Hours"]"#, "a c b e f d"),
        (r#"[{"property": "Size", "direction": "ascending"}]"#, "b e c a d f"),
        (r#"["Size", "-Hours"]"#, "b e c a f d"),
        (r#"[{"property": "Due", "direction": "descending"}]"#, "d c a b f e"),
        (r#"[{"timestamp": "created_time", "direction": "descending"}]"#, "f e d c b a"),
        (r#"["-Done", "-Name"]"#, "b f e d c a"),
        (r#"["-Cost"]"#, "a c b d e f"),
    ] {
        assert_eq!(titles(&mut bench, &format!(r#"{{"database": "Tasks", "sorts": {sorts}}}"#)), found, "{sorts}");
    }
    assert_eq!(code(&mut bench, "query", r#"{"database": "Tasks", "sorts": [{"by": "x"}]}"#), "knowledge/bad-sort");
}

#[test]
fn a_cursor_goes_on_where_the_page_ended_whatever_happened_in_between() {
    let mut bench = tasks();
    let first = good(&mut bench, "query", r#"{"database": "Tasks", "sorts": ["Name"], "limit": 3}"#);
    let cursor = text(&first, "cursor");
    good(&mut bench, "create_row", r#"{"database": "Tasks", "properties": {"Name": "aa"}}"#);
    good(&mut bench, "create_row", r#"{"database": "Tasks", "properties": {"Name": "dd"}}"#);
    good(&mut bench, "archive", r#"{"page": "c"}"#);
    let rest = titles(&mut bench, &format!(r#"{{"database": "Tasks", "sorts": ["Name"], "cursor": "{cursor}"}}"#));
    assert_eq!(rest, "d dd e f");
    assert_eq!(code(&mut bench, "query", r#"{"database": "Tasks", "cursor": "nowhere"}"#), "knowledge/unknown-cursor");
}

/// A page ends at a place in the order, not at a row: one that has moved since hides nothing.
#[test]
fn a_page_loses_nothing_when_the_row_at_its_end_moves() {
    for sorts in [r#"["Name"]"#, r#"["-Hours", "Name"]"#, "[]"] {
        let mut bench = tasks();
        let query = |cursor: &str| format!(r#"{{"database": "Tasks", "sorts": {sorts}, "limit": 2{cursor}}}"#);
        let all = titles(&mut bench, &format!(r#"{{"database": "Tasks", "sorts": {sorts}}}"#));
        let all: Vec<&str> = all.split(' ').collect();
        let first = good(&mut bench, "query", &query(""));
        let mut cursor = text(&first, "cursor");
        good(
            &mut bench,
            "update_row",
            &format!(r#"{{"row": "{}", "properties": {{"Name": "zz", "Hours": -5}}}}"#, all[1]),
        );
        let mut seen = Vec::new();
        loop {
            let page = query(&format!(r#", "cursor": "{cursor}""#));
            let shown = titles(&mut bench, &page);
            seen.extend(shown.split(' ').filter(|title| *title != "zz").map(str::to_owned));
            match good(&mut bench, "query", &page).get("cursor").and_then(Value::as_text) {
                Some(next) => cursor = next.to_owned(),
                None => break,
            }
        }
        assert_eq!(seen, all[2..], "{sorts}");
    }
}

/// Each row of `C` leads to all of `B`, and each of these to all of `A`: a million steps for a page of ten rows.
#[test]
fn rollups_of_rollups_and_filters_end_with_their_budget() {
    let mut bench = Bench::new(KnowledgeState::new());
    let database = |title: &str, more: &str| {
        format!(r#"{{"database": {{"title": "{title}", "properties": {{"Name": "title", "Text": "text"{more}}}}}}}"#)
    };
    let relation = |to: &str, of: &str| {
        format!(
            r#", "To": {{"type": "relation", "database": "{to}"}}, "Sum": {{"type": "rollup", "relation": "To", "property": "{of}", "function": "show_original"}}, "F": {{"type": "formula", "expression": "length(concat(prop(\"Sum\"), prop(\"Sum\"), prop(\"Sum\")))"}}"#
        )
    };
    good(&mut bench, "define", &database("A", ""));
    good(&mut bench, "define", &database("B", &relation("A", "Text")));
    good(&mut bench, "define", &database("C", &relation("B", "Sum")));
    let names = |prefix: &str| (0..50).map(|number| format!(r#""{prefix}{number}""#)).collect::<Vec<_>>().join(", ");
    for number in 0..50 {
        let text = "x".repeat(100);
        good(
            &mut bench,
            "create_row",
            &format!(r#"{{"database": "A", "properties": {{"Name": "a{number}", "Text": "{text}"}}}}"#),
        );
    }
    for (name, to) in [("B", "a"), ("C", "b")] {
        for number in 0..50 {
            let lower = name.to_lowercase();
            good(
                &mut bench,
                "create_row",
                &format!(
                    r#"{{"database": "{name}", "properties": {{"Name": "{lower}{number}", "To": [{}]}}}}"#,
                    names(to)
                ),
            );
        }
    }
    let queries = [
        r#"{"database": "C", "filter": {"property": "Sum", "rollup": {"any": {"rich_text": {"contains": "y"}}}}}"#,
        r#"{"database": "C", "sorts": ["F"]}"#,
        r#"{"database": "C"}"#,
    ];
    bench.limits = Some((100_000, 128 << 20));
    for query in queries {
        assert_eq!(code(&mut bench, "query", query), "budget/work", "{query}");
    }
    bench.limits = Some((100_000_000, 100_000));
    assert_eq!(code(&mut bench, "query", queries[1]), "budget/bytes");
    bench.limits = Some((200, 1 << 20));
    assert_eq!(code(&mut bench, "search", r#"{"query": "nothing of this"}"#), "budget/work");
}

#[test]
fn relative_dates_follow_the_simulated_time() {
    let mut bench = tasks();
    let week = r#"{"property": "Due", "date": {"this_week": {}}}"#;
    assert_eq!(filtered(&mut bench, week), "a c");
    bench.time = "2026-03-30T08:00:00Z".parse().expect("a good time");
    assert_eq!(filtered(&mut bench, week), "d");
}
