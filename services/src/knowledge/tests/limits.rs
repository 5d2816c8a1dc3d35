//! Every limit, below, at and above.

use dayshift_engine::map;

use super::super::*;
use super::{Office, call, code, good, tasks, text};
use crate::testing::Bench;

/// Tries `limit - 1`, `limit` and `limit + 1`, each on a fresh bench: the first two are good, the third is refused with `expected`.
fn limited(limit: usize, expected: &str, mut attempt: impl FnMut(&mut Office, usize) -> Result<Value, Rejection>) {
    for count in [limit - 1, limit] {
        let mut bench = tasks();
        attempt(&mut bench, count).unwrap_or_else(|rejection| panic!("{count}: {rejection}"));
    }
    let mut bench = tasks();
    let refused = attempt(&mut bench, limit + 1).expect_err("it is over the limit");
    assert_eq!(refused.code, expected);
}

#[test]
fn blocks_of_a_page() {
    limited(PAGE_BLOCKS_MAX, "knowledge/too-many-blocks", |bench, count| {
        good(bench, "create_page", r#"{"title": "Page", "markdown": "- one"}"#);
        let markdown = "- x\n".repeat(count - 1);
        bench.call("knowledge.append", map! { "page" => "Page", "markdown" => markdown })
    });
}

#[test]
fn depth_of_blocks_also_counts_where_they_are_put() {
    limited(BLOCK_DEPTH_MAX, "knowledge/too-deep", |bench, depth| {
        let nested: String = (0..depth - 1).map(|level| format!("{}- x\n", "  ".repeat(level))).collect();
        let page = text(&good(bench, "create_page", r#"{"title": "Page", "markdown": "- a\n  - b"}"#), "id");
        let content = bench.service.content(&Frame::new(), &page.as_str().into());
        let inner = content[0].children[0].id.clone();
        bench.call("knowledge.replace_block", map! { "page" => page, "block" => inner, "markdown" => nested })
    });
}

#[test]
fn levels_of_pages() {
    limited(PAGE_LEVELS_MAX, "knowledge/too-deep", |bench, levels| {
        let mut last = good(bench, "create_page", r#"{"title": "Top"}"#);
        for _ in 1..levels {
            let parent = text(&last, "id");
            last = bench.call("knowledge.create_page", map! { "title" => "Below", "parent" => parent })?;
        }
        Ok(last)
    });
}

#[test]
fn properties_of_a_database() {
    limited(PROPERTIES_MAX, "knowledge/bad-definition", |bench, count| {
        let properties = (1..count).map(|index| (SmolStr::from(format!("p{index}")), Value::from("text")));
        let mut properties: std::collections::BTreeMap<SmolStr, Value> = properties.collect();
        properties.insert("Name".into(), "title".into());
        bench.call(
            "knowledge.define",
            map! { "database" => map! { "title" => "Wide", "properties" => Value::Map(properties) } },
        )
    });
}

#[test]
fn options_of_a_property() {
    let options = |count: usize| (0..count).map(|index| format!("o{index}")).collect::<Value>();
    limited(OPTIONS_MAX, "knowledge/bad-definition", |bench, count| {
        let kind = map! { "type" => "select", "options" => options(count) };
        let properties = map! { "Name" => "title", "Kind" => kind };
        bench.call("knowledge.define", map! { "database" => map! { "title" => "Many", "properties" => properties } })
    });
    limited(OPTIONS_MAX, "knowledge/too-many-options", |bench, count| {
        // Size has three options.
        let rows = (0..count - 3).map(|index| map! { "Size" => format!("o{index}") });
        bench.call("knowledge.import_rows", map! { "database" => "Tasks", "rows" => Value::List(rows.collect()) })
    });
}

#[test]
fn length_of_names_and_values() {
    limited(NAME_BYTES_MAX, "knowledge/bad-title", |bench, bytes| {
        bench.call("knowledge.create_page", map! { "title" => "x".repeat(bytes) })
    });
    limited(PROPERTY_BYTES_MAX, "knowledge/too-large", |bench, bytes| {
        let properties = map! { "Note" => "x".repeat(bytes) };
        bench.call("knowledge.update_row", map! { "row" => "a", "properties" => properties })
    });
    limited(PROPERTY_ITEMS_MAX, "knowledge/bad-value", |bench, count| {
        let people: Value = (0..count).map(|index| format!("p{index}")).collect();
        bench.call("knowledge.update_row", map! { "row" => "a", "properties" => map! { "Who" => people } })
    });
}

#[test]
fn rows_of_a_page_and_results_of_a_search() {
    limited(QUERY_ROWS_MAX, "knowledge/bad-limit", |bench, limit| {
        bench.call("knowledge.query", map! { "database" => "Tasks", "limit" => limit })
    });
    limited(SEARCH_RESULTS_MAX, "knowledge/bad-limit", |bench, limit| {
        bench.call("knowledge.search", map! { "query" => "x", "limit" => limit })
    });
    assert_eq!(code(&mut tasks(), "query", r#"{"database": "Tasks", "limit": 0}"#), "knowledge/bad-limit");
}

#[test]
fn sorts_of_a_query() {
    limited(SORTS_MAX, "knowledge/bad-sort", |bench, count| {
        let sorts: Value = (0..count).map(|_| "Hours").collect();
        bench.call("knowledge.query", map! { "database" => "Tasks", "sorts" => sorts })
    });
}

#[test]
fn depth_and_size_of_filters() {
    let condition = || map! { "property" => "Hours", "equals" => 3_i64 };
    limited(FILTER_DEPTH_MAX, "knowledge/bad-filter", |bench, depth| {
        let filter = (0..depth).fold(condition(), |inner, _| map! { "and" => vec![inner] });
        bench.call("knowledge.query", map! { "database" => "Tasks", "filter" => filter })
    });
    limited(FILTER_CONDITIONS_MAX, "knowledge/bad-filter", |bench, count| {
        let filter = map! { "or" => Value::List(vec![condition(); count]) };
        bench.call("knowledge.query", map! { "database" => "Tasks", "filter" => filter })
    });
}

#[test]
fn rows_of_an_import_and_of_a_database() {
    let mut bench = Bench::new(KnowledgeState::new());
    good(&mut bench, "define", r#"{"database": {"title": "Big", "properties": {"Name": "title"}}}"#);
    let rows = |count: usize| map! { "database" => "Big", "rows" => Value::List(vec![map! {}; count]) };
    let refused = bench.call("knowledge.import_rows", rows(IMPORT_ROWS_MAX + 1)).expect_err("too many at once");
    assert_eq!(refused.code, "knowledge/too-many-rows");
    bench.call("knowledge.import_rows", rows(IMPORT_ROWS_MAX)).expect("at the limit");
    let mut bench = Bench::new(KnowledgeState::new());
    good(&mut bench, "define", r#"{"database": {"title": "Big", "properties": {"Name": "title"}}}"#);
    bench.call("knowledge.import_rows", rows(ROWS_MAX - 1)).expect("below the limit");
    call(&mut bench, "create_row", r#"{"database": "Big", "properties": {}}"#).expect("at the limit");
    assert_eq!(code(&mut bench, "create_row", r#"{"database": "Big", "properties": {}}"#), "knowledge/too-many-rows");
}

#[test]
fn databases_and_pages() {
    let mut bench = Bench::new(KnowledgeState::new());
    for _ in 0..DATABASES_MAX {
        good(&mut bench, "define", r#"{"database": {"title": "One", "properties": {}}}"#);
    }
    assert_eq!(
        code(&mut bench, "define", r#"{"database": {"title": "One", "properties": {}}}"#),
        "knowledge/too-many-databases"
    );
    for _ in 0..PAGES_MAX {
        good(&mut bench, "create_page", r#"{"title": "One"}"#);
    }
    assert_eq!(code(&mut bench, "create_page", r#"{"title": "One"}"#), "knowledge/too-many-pages");
}

#[test]
fn steps_and_depth_of_a_computation() {
    let chain = |length: usize| {
        let mut bench = Bench::new(KnowledgeState::new());
        let formula = |index: usize| {
            let source = if index == 0 { "1".to_owned() } else { format!("prop(\"f{}\") + 1", index - 1) };
            (SmolStr::from(format!("f{index}")), map! { "type" => "formula", "expression" => source })
        };
        let properties = Value::Map((0..length).map(formula).collect());
        bench
            .call("knowledge.define", map! { "database" => map! { "title" => "Chain", "properties" => properties } })
            .expect("good");
        good(&mut bench, "create_row", r#"{"database": "Chain", "properties": {"Name": "x"}}"#);
        super::property(&mut bench, "x", &format!("f{}", length - 1))
    };
    assert_eq!(chain(COMPUTE_DEPTH_MAX - 1), Value::from(COMPUTE_DEPTH_MAX - 1));
    assert_eq!(chain(COMPUTE_DEPTH_MAX), Value::from(COMPUTE_DEPTH_MAX));
    assert!(chain(COMPUTE_DEPTH_MAX + 1).get("error").is_some());

    // Eight properties that each ask the one before twenty times would take twenty to the eighth steps.
    let mut bench = Bench::new(KnowledgeState::new());
    let formula = |index: usize| {
        let source =
            if index == 0 { "1".to_owned() } else { vec![format!("prop(\"f{}\")", index - 1); 20].join(" + ") };
        (SmolStr::from(format!("f{index}")), map! { "type" => "formula", "expression" => source })
    };
    let properties = Value::Map((0..8).map(formula).collect());
    bench
        .call("knowledge.define", map! { "database" => map! { "title" => "Wide", "properties" => properties } })
        .expect("good");
    good(&mut bench, "create_row", r#"{"database": "Wide", "properties": {"Name": "x"}}"#);
    assert_eq!(super::property(&mut bench, "x", "f2"), Value::Int(400));
    assert!(super::property(&mut bench, "x", "f7").get("error").is_some());
}

#[test]
fn a_value_takes_so_many_steps_to_compute() {
    let mut bench = Bench::new(KnowledgeState::new());
    good(
        &mut bench,
        "define",
        r#"{"database": {"title": "Rows", "properties": {"Name": "title", "Items": {"type": "relation", "database": "Rows"},
            "Count": {"type": "rollup", "relation": "Items", "property": "Name", "function": "count"},
            "Sum": {"type": "rollup", "relation": "Items", "property": "Count", "function": "sum"}}}}"#,
    );
    // One step for each of 100 rows, and one for each row that those lead to.
    const WIDE: usize = PROPERTY_ITEMS_MAX;
    let leaves = COMPUTE_STEPS_MAX as usize / WIDE - 1;
    let ids = |name: &str, count: usize| (0..count).map(|number| format!("{name}{number}")).collect::<Value>();
    let row = |id: String, items: Value| map! { "id" => id.clone(), "Name" => id, "Items" => items };
    let mut rows: Vec<Value> = (0..=leaves).map(|number| row(format!("leaf{number}"), Value::Null)).collect();
    rows.extend((0..WIDE).map(|number| row(format!("mid{number}"), ids("leaf", leaves))));
    rows.push(row("top".to_owned(), ids("mid", WIDE)));
    bench.call("knowledge.import_rows", map! { "database" => "Rows", "rows" => rows }).expect("good rows");
    let mut sum = |leaves: usize| {
        let change = map! { "row" => "mid0", "properties" => map! { "Items" => ids("leaf", leaves) } };
        bench.call("knowledge.update_row", change).expect("a good change");
        super::property(&mut bench, "top", "Sum")
    };
    assert_eq!(sum(leaves - 1), Value::from(leaves * WIDE - 1), "below the limit");
    assert_eq!(sum(leaves), Value::from(leaves * WIDE), "at the limit");
    assert!(sum(leaves + 1).to_string().contains("too many steps"), "above the limit");
}
