//! What calls read and write: the keys, precise to the property.

use super::*;

fn id(bench: &mut Office, row: &str) -> String {
    text(&bench.ask("row", dayshift_engine::map! { "row" => row }).expect("a row"), "id")
}

#[test]
fn an_update_writes_the_property_and_the_databases_content() {
    let mut bench = tasks();
    let (row, database) = (id(&mut bench, "a"), text(&good(&mut bench, "database", r#"{"database": "Tasks"}"#), "id"));
    good(&mut bench, "update_row", &format!(r#"{{"row": "{row}", "properties": {{"Hours": 4}}}}"#));
    let written = bench.written_keys().join(" ");
    assert!(written.contains(&format!("knowledge:row/{row}/Hours")), "{written}");
    assert!(written.contains(&format!("knowledge:db/{database}/*")), "{written}");
    assert!(!written.contains(&format!("knowledge:row/{row}/Size")), "{written}");
    assert!(!bench.written_keys().contains(&format!("knowledge:db/{database}/").as_str()), "{written}");
}

#[test]
fn a_computed_property_reads_what_it_comes_from() {
    let mut bench = tasks();
    let (row, project) = (id(&mut bench, "a"), id(&mut bench, "Alpha"));
    bench.ask("property", dayshift_engine::map! { "row" => row.clone(), "name" => "Budget" }).expect("a property");
    let read = bench.read_keys().join(" ");
    assert!(read.contains(&format!("knowledge:row/{row}/Project")), "{read}");
    assert!(read.contains(&format!("knowledge:row/{project}/Budget")), "{read}");
    assert!(!read.contains(&format!("knowledge:row/{row}/Hours")), "{read}");
    bench.ask("property", dayshift_engine::map! { "row" => row.clone(), "name" => "Cost" }).expect("a property");
    assert!(bench.read_keys().contains(&format!("knowledge:row/{row}/Hours").as_str()));
}

#[test]
fn a_query_reads_the_scan_and_the_items_that_it_shows() {
    let mut bench = tasks();
    let (shown, hidden) = (id(&mut bench, "b"), id(&mut bench, "a"));
    let database = text(&good(&mut bench, "database", r#"{"database": "Tasks"}"#), "id");
    good(
        &mut bench,
        "query",
        r#"{"database": "Tasks", "filter": {"property": "Done", "equals": true}, "properties": ["Note"]}"#,
    );
    let read = bench.read_keys();
    for key in [
        format!("knowledge:db/{database}/"),
        format!("knowledge:db/{database}/*"),
        format!("knowledge:row/{shown}/Note"),
        format!("knowledge:row/{shown}/Done"),
    ] {
        assert!(read.contains(&key.as_str()), "{key} in {read:?}");
    }
    assert!(!read.iter().any(|key| key.contains(&hidden)), "{read:?}");
    assert!(!read.contains(&format!("knowledge:row/{shown}/Hours").as_str()), "{read:?}");
}

#[test]
fn a_new_row_changes_the_membership_and_so_does_archiving_one() {
    let mut bench = tasks();
    let database = text(&good(&mut bench, "database", r#"{"database": "Tasks"}"#), "id");
    let membership = format!("knowledge:db/{database}/");
    good(&mut bench, "create_row", r#"{"database": "Tasks", "properties": {"Name": "g"}}"#);
    assert!(bench.written_keys().contains(&membership.as_str()));
    good(&mut bench, "archive", r#"{"page": "g"}"#);
    assert!(bench.written_keys().contains(&membership.as_str()));
}

#[test]
fn a_page_is_read_and_written_by_its_content() {
    let mut bench = tasks();
    let page = text(&good(&mut bench, "create_page", r#"{"title": "Notes", "markdown": "One."}"#), "id");
    assert!(bench.written_keys().contains(&"knowledge:"));
    good(&mut bench, "append", r#"{"page": "Notes", "markdown": "Two."}"#);
    assert!(bench.written_keys().contains(&format!("knowledge:page/{page}/blocks").as_str()));
    assert!(!bench.written_keys().contains(&format!("knowledge:page/{page}").as_str()));
    good(&mut bench, "read_page", &format!(r#"{{"page": "{page}"}}"#));
    let read = bench.read_keys();
    assert!(read.contains(&format!("knowledge:page/{page}/blocks").as_str()), "{read:?}");
    assert!(read.contains(&format!("knowledge:page/{page}/children").as_str()), "{read:?}");
}
