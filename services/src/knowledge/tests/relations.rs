//! Relations with two ends: examples, refusals, the limit, and random commands against a simple model.

use std::collections::BTreeMap;

use dayshift_engine::map;
use proptest::prelude::*;

use super::super::*;
use super::{Office, call, code, good, property, text};
use crate::testing::Bench;

/// Two databases: orders lead to customers and back, and customers to their parents and back.
fn office() -> Office {
    let mut bench = Bench::new(KnowledgeState::new());
    good(
        &mut bench,
        "define",
        r#"{"database": {"title": "Customers", "properties": {"Name": "title",
            "Orders": {"type": "relation", "database": "Orders", "back": "Customer"},
            "Parent": {"type": "relation", "database": "Customers", "back": "Children"},
            "Children": {"type": "relation", "database": "Customers", "back": "Parent"},
            "Friends": {"type": "relation", "database": "Customers", "back": "Friends"}}}}"#,
    );
    good(
        &mut bench,
        "define",
        r#"{"database": {"title": "Orders", "properties": {"Name": "title",
            "Customer": {"type": "relation", "database": "Customers", "back": "Orders"}}}}"#,
    );
    bench
}

/// Creates a row and returns its id.
fn create(bench: &mut Office, database: &str, name: &str) -> String {
    let arguments = map! { "database" => database, "properties" => map! { "Name" => name } };
    text(&bench.call("knowledge.create_row", arguments).expect("a good row"), "id")
}

fn relate(bench: &mut Office, row: &str, name: &'static str, to: &[&str]) -> Result<Value, Rejection> {
    let properties = map! { name => to.iter().map(|id| Value::from(*id)).collect::<Value>() };
    bench.call("knowledge.update_row", map! { "row" => row, "properties" => properties })
}

fn list(ids: &[&str]) -> Value {
    ids.iter().map(|id| Value::from(*id)).collect()
}

#[test]
fn setting_one_end_sets_the_other_in_one_event() {
    let mut bench = office();
    let (ann, bob) = (create(&mut bench, "Customers", "Ann"), create(&mut bench, "Customers", "Bob"));
    let order = create(&mut bench, "Orders", "O-1");
    relate(&mut bench, &order, "Customer", &[&ann]).expect("related");
    assert_eq!(property(&mut bench, &ann, "Orders"), list(&[&order]));
    relate(&mut bench, &order, "Customer", &[&bob]).expect("related");
    let key = |row: &str| format!("knowledge:row/{row}/Orders");
    assert!(bench.written_keys().contains(&key(&ann).as_str()) && bench.written_keys().contains(&key(&bob).as_str()));
    assert!(bench.read_keys().contains(&key(&ann).as_str()) && bench.read_keys().contains(&key(&bob).as_str()));
    assert_eq!(property(&mut bench, &ann, "Orders"), list(&[]));
    assert_eq!(property(&mut bench, &bob, "Orders"), list(&[&order]));
    relate(&mut bench, &bob, "Orders", &[]).expect("related");
    assert_eq!(property(&mut bench, &order, "Customer"), list(&[]));
}

#[test]
fn rows_of_one_import_lead_to_each_other() {
    let mut bench = office();
    good(
        &mut bench,
        "import_rows",
        r#"{"database": "Customers", "rows": [
            {"id": "a", "Name": "Ann", "Parent": ["Bob"]}, {"id": "b", "Name": "Bob", "Children": ["Cyd"]}, {"id": "c", "Name": "Cyd"}]}"#,
    );
    assert_eq!(property(&mut bench, "b", "Children"), list(&["c", "a"]));
    assert_eq!(property(&mut bench, "c", "Parent"), list(&["b"]));
}

#[test]
fn a_search_finds_what_the_other_end_shows() {
    let mut bench = office();
    let order = create(&mut bench, "Orders", "O-1");
    let ann = create(&mut bench, "Customers", "Ann");
    relate(&mut bench, &order, "Customer", &[&ann]).expect("related");
    let found = bench.call("knowledge.search", map! { "query" => order.clone() }).expect("a search");
    assert_eq!(found.get("total"), Some(&Value::Int(1)), "{found}");
    assert!(bench.service.texts_are_consistent());
}

#[test]
fn ends_that_do_not_name_each_other_are_refused() {
    let mut bench = office();
    for definition in [
        r#"{"title": "Notes", "properties": {"For": {"type": "relation", "database": "Customers", "back": "Notes"}}}"#,
        r#"{"title": "Notes", "properties": {"For": {"type": "relation", "database": "Customers", "back": "Name"}}}"#,
        r#"{"title": "Notes", "properties": {"For": {"type": "relation", "database": "Customers", "back": "Orders"}}}"#,
        r#"{"title": "Notes", "properties": {"For": {"type": "relation", "database": "Notes", "back": "From"}}}"#,
    ] {
        assert_eq!(code(&mut bench, "define", &format!(r#"{{"database": {definition}}}"#)), "knowledge/bad-definition");
    }
    // The other database may come later, but then it must know its end.
    good(
        &mut bench,
        "define",
        r#"{"database": {"title": "Early", "properties": {"Late": {"type": "relation", "database": "Late", "back": "Early"}}}}"#,
    );
    assert_eq!(
        code(&mut bench, "define", r#"{"database": {"title": "Late", "properties": {}}}"#),
        "knowledge/bad-definition"
    );
    good(
        &mut bench,
        "define",
        r#"{"database": {"title": "Late", "properties": {"Early": {"type": "relation", "database": "Early", "back": "Late"}}}}"#,
    );
    let shown = good(&mut bench, "database", r#"{"database": "Late"}"#);
    assert!(shown.to_string().contains(r#""back":"Late""#), "{shown}");
}

#[test]
fn one_end_leads_to_so_many_rows_and_no_more() {
    let mut bench = office();
    good(&mut bench, "import_rows", r#"{"database": "Customers", "rows": [{"id": "ann", "Name": "Ann"}]}"#);
    let rows = |from: usize, to: usize| -> Value {
        (from..to).map(|number| map! { "Name" => format!("O-{number}"), "Customer" => vec!["ann"] }).collect()
    };
    let import = |bench: &mut Office, rows: Value| {
        bench.call("knowledge.import_rows", map! { "database" => "Orders", "rows" => rows })
    };
    import(&mut bench, rows(0, RELATED_ROWS_MAX - 1)).expect("below the limit");
    import(&mut bench, rows(RELATED_ROWS_MAX - 1, RELATED_ROWS_MAX)).expect("at the limit");
    assert_eq!(import(&mut bench, rows(0, 1)).expect_err("above the limit").code, "knowledge/too-many-related");
    let last = create(&mut bench, "Orders", "last");
    assert_eq!(relate(&mut bench, &last, "Customer", &["ann"]).expect_err("above").code, "knowledge/too-many-related");
    assert!(call(&mut bench, "update_row", r#"{"row": "O-7", "properties": {"Customer": []}}"#).is_ok());
    relate(&mut bench, &last, "Customer", &["ann"]).expect("there is room again");
}

/// The properties of the model: each with the database that it leads from, and its other end.
const ENDS: [(&str, usize, usize); 5] =
    [("Customer", 1, 1), ("Orders", 0, 0), ("Parent", 0, 3), ("Children", 0, 2), ("Friends", 0, 4)];

proptest! {
    #[test]
    fn both_ends_say_the_same_as_the_model(
        commands in prop::collection::vec((0_usize..5, 0_usize..4, prop::collection::vec(0_usize..4, 0..4)), 1..25),
    ) {
        let mut bench = office();
        let rows = [["a", "b", "c", "d"], ["p", "q", "r", "s"]];
        for (database, names) in ["Customers", "Orders"].iter().zip(rows) {
            let rows: Value = names.iter().map(|id| map! { "id" => *id, "Name" => *id }).collect();
            bench.call("knowledge.import_rows", map! { "database" => *database, "rows" => rows }).expect("good rows");
        }
        // The reference: pairs, by the end that they were said at. What one end shows is what the pairs of both say.
        let mut model: BTreeMap<(usize, &str), Vec<&str>> = BTreeMap::new();
        for (end, from, to) in &commands {
            let (name, database, back) = ENDS[*end];
            let row = rows[database][*from];
            let target = usize::from(name == "Orders");
            let mut wanted: Vec<&str> = Vec::new();
            for id in to.iter().map(|place| rows[target][*place]) {
                if !wanted.contains(&id) {
                    wanted.push(id);
                }
            }
            relate(&mut bench, row, name, &wanted).expect("related");
            let old = model.insert((*end, row), wanted.clone()).unwrap_or_default();
            for gone in old.iter().filter(|id| !wanted.contains(id)) {
                model.entry((back, gone)).or_default().retain(|id| *id != row);
            }
            for come in wanted.iter().filter(|id| !old.contains(id)) {
                let other = model.entry((back, come)).or_default();
                if !other.contains(&row) {
                    other.push(row);
                }
            }
        }
        for (end, (name, database, back)) in ENDS.iter().enumerate() {
            for row in rows[*database] {
                let shown = property(&mut bench, row, name);
                let expected = model.get(&(end, row)).cloned().unwrap_or_default();
                prop_assert_eq!(&shown, &list(&expected), "{} of {}", name, row);
                for other in expected {
                    let there = property(&mut bench, other, ENDS[*back].0);
                    prop_assert!(there.as_list().is_some_and(|ids| ids.contains(&Value::from(row))), "{} and {}", row, other);
                }
            }
        }
        prop_assert!(bench.service.texts_are_consistent());
        for (id, database) in bench.service.databases.peek_all() {
            prop_assert!(bench.service.tables[id].is_consistent(&database.schema));
        }
    }
}
