//! Pages: content, blocks, places, search.

use super::*;

fn wiki() -> Office {
    let mut bench = tasks();
    good(
        &mut bench,
        "create_page",
        r##"{"title": "Handbook", "markdown": "# Rules\n\n- one\n  - inner\n- two\n\nThe end."}"##,
    );
    good(
        &mut bench,
        "create_page",
        r#"{"title": "Travel", "parent": "Handbook", "markdown": "Book **economy** flights."}"#,
    );
    bench
}

fn markdown(bench: &mut Office, page: &str) -> String {
    bench.ask("markdown", dayshift_engine::map! { "page" => page }).expect("a page").as_text().expect("text").to_owned()
}

/// Returns the id of the block whose text is `wanted`.
fn block(bench: &mut Office, page: &str, wanted: &str) -> String {
    fn find(blocks: &[Value], wanted: &str) -> Option<String> {
        blocks.iter().find_map(|block| {
            if block.get("text").and_then(Value::as_text) == Some(wanted) {
                return block.get("id").and_then(Value::as_text).map(str::to_owned);
            }
            find(block.get("children").and_then(Value::as_list).unwrap_or_default(), wanted)
        })
    }
    let page = bench
        .call("knowledge.read_page", dayshift_engine::map! { "page" => page, "with_blocks" => true })
        .expect("a page");
    find(page.get("blocks").and_then(Value::as_list).expect("blocks"), wanted).expect("a block")
}

#[test]
fn a_page_reads_as_it_was_written() {
    let mut bench = wiki();
    let page = good(&mut bench, "read_page", r#"{"page": "handbook", "with_times": true}"#);
    assert_eq!(text(&page, "markdown"), "# Rules\n\n- one\n  - inner\n- two\n\nThe end.");
    assert_eq!(text(&page, "created_by"), "Ann Lee");
    assert!(page.get("pages").expect("pages").to_string().contains("Travel"));
    assert!(page.get("blocks").is_none());
}

#[test]
fn blocks_are_appended_replaced_and_deleted() {
    let mut bench = wiki();
    good(&mut bench, "append", r#"{"page": "Handbook", "markdown": "- [ ] new"}"#);
    let inner = block(&mut bench, "Handbook", "inner");
    good(
        &mut bench,
        "replace_block",
        &format!(r#"{{"page": "Handbook", "block": "{inner}", "markdown": "- changed\n- twice"}}"#),
    );
    assert_eq!(
        markdown(&mut bench, "Handbook"),
        "# Rules\n\n- one\n  - changed\n  - twice\n- two\n\nThe end.\n\n- [ ] new"
    );
    let rules = block(&mut bench, "Handbook", "Rules");
    good(&mut bench, "delete_block", &format!(r#"{{"page": "Handbook", "block": "{rules}"}}"#));
    assert!(markdown(&mut bench, "Handbook").starts_with("- one"));
    assert_eq!(
        code(&mut bench, "delete_block", &format!(r#"{{"page": "Handbook", "block": "{rules}"}}"#)),
        "knowledge/unknown-block"
    );
    assert_eq!(code(&mut bench, "append", r#"{"page": "Handbook", "markdown": "  "}"#), "knowledge/nothing-to-add");
}

#[test]
fn a_row_has_content_too() {
    let mut bench = wiki();
    good(&mut bench, "append", r#"{"page": "a", "markdown": "Called at noon."}"#);
    let row = good(&mut bench, "read_page", r#"{"page": "a"}"#);
    assert_eq!(text(&row, "markdown"), "Called at noon.");
    assert_eq!(text(&row, "kind"), "row");
    assert_eq!(row.get("properties").and_then(|all| all.get("Hours")), Some(&Value::Int(3)));
}

#[test]
fn a_search_finds_titles_before_content() {
    let mut bench = wiki();
    good(&mut bench, "create_page", r#"{"title": "Economy", "parent": "Travel"}"#);
    let results = good(&mut bench, "search", r#"{"query": "ECONOMY"}"#);
    let titles: Vec<String> = results
        .get("results")
        .and_then(Value::as_list)
        .expect("results")
        .iter()
        .map(|hit| text(hit, "title"))
        .collect();
    assert_eq!(titles, ["Economy", "Travel"]);
    let rows = good(&mut bench, "search", r#"{"query": "bob", "kind": "row"}"#);
    assert_eq!(rows.get("total"), Some(&Value::Int(2)));
    assert!(rows.to_string().contains("Note: Call Bob"), "{rows}");
    assert_eq!(
        good(&mut bench, "search", r#"{"query": "tasks", "kind": "database"}"#).get("total"),
        Some(&Value::Int(1))
    );
    assert_eq!(good(&mut bench, "search", r#"{"query": "a.*", "kind": "row"}"#).get("total"), Some(&Value::Int(0)));
}

#[test]
fn what_lies_under_an_archived_page_is_not_found() {
    let mut bench = wiki();
    good(&mut bench, "archive", r#"{"page": "Handbook"}"#);
    assert_eq!(good(&mut bench, "search", r#"{"query": "Travel"}"#).get("total"), Some(&Value::Int(0)));
    assert_eq!(ask(&mut bench, "pages", "{}"), json("[]"));
}

#[test]
fn titles_find_pages_unless_two_have_one() {
    let mut bench = wiki();
    good(&mut bench, "create_page", r#"{"title": "travel"}"#);
    assert_eq!(code(&mut bench, "read_page", r#"{"page": "Travel"}"#), "knowledge/ambiguous-title");
    assert_eq!(code(&mut bench, "read_page", r#"{"page": "Nowhere"}"#), "knowledge/unknown-page");
    assert_eq!(code(&mut bench, "create_page", r#"{"title": " "}"#), "knowledge/bad-title");
    assert_eq!(code(&mut bench, "create_page", r#"{"title": "x", "parent": "Nowhere"}"#), "knowledge/unknown-page");
}

#[test]
fn a_markdown_file_becomes_a_page_called_by_its_heading() {
    let mut bench = wiki();
    let blob = bench.blob("# Größe\r\n\r\nText.\r\n".as_bytes());
    good(
        &mut bench,
        "import_page",
        &format!(r#"{{"blob": "{blob}", "path": "/wiki/size.md", "parent": "Handbook", "id": "size"}}"#),
    );
    assert_eq!(text(&ask(&mut bench, "page", r#"{"page": "size"}"#), "title"), "Größe");
    assert_eq!(markdown(&mut bench, "Größe"), "Text.");
    let plain = bench.blob(b"Just text.");
    good(&mut bench, "import_page", &format!(r#"{{"blob": "{plain}", "path": "/wiki/size.md"}}"#));
    assert_eq!(markdown(&mut bench, "size"), "Text.", "an id comes before a title");
}

#[test]
fn ids_sort_in_the_order_of_creation_and_look_like_uuids() {
    let mut bench = wiki();
    let ids: Vec<String> = (0..3)
        .map(|index| text(&good(&mut bench, "create_page", &format!(r#"{{"title": "page {index}"}}"#)), "id"))
        .collect();
    assert!(ids.is_sorted(), "{ids:?}");
    assert!(ids.iter().all(|id| id.len() == 36 && id.as_bytes()[14] == b'4'), "{ids:?}");
}
