//! Random commands against a simple reference model; the codec of events; derived state.

use std::collections::BTreeMap;

use dayshift_engine::map;
use proptest::prelude::*;

use super::super::*;
use super::{Office, good};
use crate::testing::Bench;

#[derive(Clone, Debug)]
enum Command {
    Create { name: String, hours: Option<i64>, tags: Vec<String> },
    Update { row: usize, hours: Option<i64>, done: bool },
    Archive { row: usize },
    Restore { row: usize },
    Append { row: usize, lines: Vec<String> },
}

fn command() -> impl Strategy<Value = Command> {
    let hours = || proptest::option::of(-3_i64..4);
    prop_oneof![
        3 => ("[a-c]", hours(), proptest::collection::vec("[xyz]", 0..3))
            .prop_map(|(name, hours, tags)| Command::Create { name, hours, tags }),
        3 => (0..8_usize, hours(), any::<bool>()).prop_map(|(row, hours, done)| Command::Update { row, hours, done }),
        1 => (0..8_usize).prop_map(|row| Command::Archive { row }),
        1 => (0..8_usize).prop_map(|row| Command::Restore { row }),
        1 => (0..8_usize, proptest::collection::vec("[a-z]{1,4}", 1..3)).prop_map(|(row, lines)| Command::Append { row, lines }),
    ]
}

#[derive(Clone, Debug, Default)]
struct Row {
    name: String,
    hours: Option<i64>,
    tags: Vec<String>,
    done: bool,
    archived: bool,
    lines: Vec<String>,
}

/// The reference: rows in the order of creation; what is archived cannot be changed.
#[derive(Default)]
struct Model {
    rows: Vec<Row>,
}

impl Model {
    fn run(&mut self, command: &Command) -> Result<(), &'static str> {
        let live = |rows: &mut Vec<Row>, row: usize| match rows.get(row) {
            None => Err("knowledge/unknown-page"),
            Some(row) if row.archived => Err("knowledge/archived"),
            Some(_) => Ok(row),
        };
        match command {
            Command::Create { name, hours, tags } => {
                let mut unique: Vec<String> = Vec::new();
                tags.iter().for_each(|tag| {
                    if !unique.contains(tag) {
                        unique.push(tag.clone());
                    }
                });
                self.rows.push(Row { name: name.clone(), hours: *hours, tags: unique, ..Row::default() });
            }
            Command::Update { row, hours, done } => {
                let row = live(&mut self.rows, *row)?;
                self.rows[row].hours = *hours;
                self.rows[row].done = *done;
            }
            Command::Archive { row } => {
                let row = live(&mut self.rows, *row)?;
                self.rows[row].archived = true;
            }
            Command::Restore { row } => match self.rows.get_mut(*row) {
                None => return Err("knowledge/unknown-page"),
                Some(row) if !row.archived => return Err("knowledge/not-archived"),
                Some(row) => row.archived = false,
            },
            Command::Append { row, lines } => {
                let row = live(&mut self.rows, *row)?;
                self.rows[row].lines.extend(lines.iter().cloned());
            }
        }
        Ok(())
    }

    /// Returns the names of the rows that have at least `hours`, by hours descending and then by creation.
    fn at_least(&self, hours: i64) -> Vec<String> {
        let mut rows: Vec<&Row> =
            self.rows.iter().filter(|row| !row.archived && row.hours.is_some_and(|own| own >= hours)).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.hours));
        rows.into_iter().map(|row| row.name.clone()).collect()
    }
}

fn office() -> Office {
    let mut bench = Bench::new(KnowledgeState::new());
    good(
        &mut bench,
        "define",
        r#"{"database": {"title": "Rows", "properties": {"Name": "title", "Hours": "number", "Tags": "multi_select", "Done": "checkbox"}}}"#,
    );
    bench
}

fn run(bench: &mut Office, ids: &mut Vec<String>, command: &Command) -> Result<Value, Rejection> {
    let id = |row: &usize| ids.get(*row).cloned().unwrap_or_else(|| "nothing".to_owned());
    let (tool, arguments) = match command {
        Command::Create { name, hours, tags } => {
            let properties = map! { "Name" => name.clone(), "Hours" => *hours, "Tags" => tags.clone() };
            ("create_row", map! { "database" => "Rows", "properties" => properties })
        }
        Command::Update { row, hours, done } => {
            ("update_row", map! { "row" => id(row), "properties" => map! { "Hours" => *hours, "Done" => *done } })
        }
        Command::Archive { row } => ("archive", map! { "page" => id(row) }),
        Command::Restore { row } => ("restore", map! { "page" => id(row) }),
        Command::Append { row, lines } => ("append", map! { "page" => id(row), "markdown" => lines.join("\n\n") }),
    };
    let answer = bench.call(&format!("knowledge.{tool}"), arguments)?;
    if tool == "create_row" {
        ids.push(super::text(&answer, "id"));
    }
    Ok(answer)
}

/// Returns what is derived, computed anew from what is not.
fn rebuilt(state: &KnowledgeState) -> (BTreeMap<SmolStr, Node>, BTreeMap<ChildrenOf, Vec<SmolStr>>) {
    let mut nodes = BTreeMap::new();
    let mut children: BTreeMap<ChildrenOf, Vec<(u64, SmolStr)>> = BTreeMap::new();
    for (id, page) in state.pages.peek_all() {
        nodes.insert(id.clone(), Node::Page);
        children.entry(ChildrenOf(page.parent.clone())).or_default().push((page.position, id.clone()));
    }
    for (id, database) in state.databases.peek_all() {
        nodes.insert(id.clone(), Node::Database);
        children.entry(ChildrenOf(database.parent.clone())).or_default().push((database.position, id.clone()));
        for row in state.tables[id].peek_rows() {
            nodes.insert(row.id.clone(), Node::Row(id.clone()));
        }
    }
    let sorted = children.into_iter().map(|(key, mut ids)| {
        ids.sort_unstable();
        (key, ids.into_iter().map(|(_, id)| id).collect())
    });
    (nodes, sorted.collect())
}

fn derived(state: &KnowledgeState) -> (BTreeMap<SmolStr, Node>, BTreeMap<ChildrenOf, Vec<SmolStr>>) {
    let nodes = state.nodes.iter().map(|(id, node)| (id.clone(), node.clone())).collect();
    let children = state.children.peek_all().map(|(key, ids)| (key.clone(), ids.0.iter().cloned().collect())).collect();
    (nodes, children)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_service_agrees_with_the_model(commands in proptest::collection::vec(command(), 1..40), hours in -3_i64..4) {
        let (mut bench, mut model, mut ids) = (office(), Model::default(), Vec::new());
        for command in &commands {
            let (expected, before) = (model.run(command), bench.service.digest());
            match (run(&mut bench, &mut ids, command), expected) {
                (Ok(_), Ok(())) => {}
                (Err(rejection), Err(code)) => {
                    prop_assert_eq!(rejection.code, code);
                    prop_assert_eq!(bench.service.digest(), before);
                }
                (answer, expected) => prop_assert!(false, "{command:?}: {answer:?} but the model says {expected:?}"),
            }
        }
        for (id, row) in ids.iter().zip(&model.rows) {
            let shown = bench.ask("row", map! { "row" => id.clone() }).expect("a row");
            let tags: Value = row.tags.iter().cloned().collect();
            let expected = map! { "Name" => row.name.clone(), "Hours" => row.hours, "Tags" => tags, "Done" => row.done };
            prop_assert_eq!(shown.get("properties"), Some(&expected));
            let markdown = bench.ask("markdown", map! { "page" => id.clone() }).expect("a row");
            prop_assert_eq!(markdown, Value::from(row.lines.join("\n\n")));
        }
        let filter = map! { "property" => "Hours", "number" => map! { "greater_than_or_equal_to" => hours } };
        let query = map! { "database" => "Rows", "filter" => filter, "sorts" => vec!["-Hours"] };
        let found = bench.call("knowledge.query", query.clone()).expect("a good query");
        let name = |row: &Value| row.get("properties").and_then(|all| all.get("Name")).and_then(Value::as_text).map(str::to_owned);
        let names: Vec<String> = found.get("rows").and_then(Value::as_list).expect("rows").iter().filter_map(name).collect();
        prop_assert_eq!(&names, &model.at_least(hours));

        // Page by page comes to the same.
        let (mut paged, mut cursor) = (Vec::new(), Value::Null);
        loop {
            let Value::Map(mut page) = query.clone() else { unreachable!() };
            page.insert("limit".into(), 2_i64.into());
            page.insert("cursor".into(), cursor);
            let page = bench.call("knowledge.query", Value::Map(page)).expect("a good query");
            paged.extend(page.get("rows").and_then(Value::as_list).expect("rows").iter().filter_map(name));
            cursor = page.get("cursor").cloned().unwrap_or_default();
            if cursor == Value::Null {
                break;
            }
        }
        prop_assert_eq!(paged, names);
        prop_assert_eq!(derived(&bench.service), rebuilt(&bench.service));
        prop_assert!(bench.service.texts_are_consistent());
        for (id, database) in bench.service.databases.peek_all() {
            prop_assert!(bench.service.tables[id].is_consistent(&database.schema));
        }
    }

    #[test]
    fn order_of_independent_writes_does_not_show_in_the_digest(left in -3_i64..4, right in -3_i64..4) {
        let lay_out = |swap: bool| {
            let mut bench = office();
            let mut ids = Vec::new();
            for name in ["a", "b"] {
                run(&mut bench, &mut ids, &Command::Create { name: name.into(), hours: None, tags: Vec::new() }).expect("good");
            }
            let updates = [Command::Update { row: 0, hours: Some(left), done: true }, Command::Update { row: 1, hours: Some(right), done: true }];
            let order = if swap { [1, 0] } else { [0, 1] };
            for index in order {
                run(&mut bench, &mut ids, &updates[index]).expect("good");
            }
            bench.service.digest()
        };
        prop_assert_eq!(lay_out(false), lay_out(true));
    }
}

#[test]
fn events_survive_their_encoding() {
    let mut ids = Ids::new(Seq::new(70_000));
    let mut blocks = markdown::blocks(include_str!("../markdown/every_kind.md")).expect("good Markdown");
    ids.label(&mut blocks);
    let row = NewRow { id: ids.next(), values: vec![("Hours".into(), Value::Float(1.5))], blocks: blocks.clone() };
    for event in [
        KnowledgeEvent::PageCreated {
            id: ids.next(),
            title: "x".into(),
            parent: None,
            blocks: blocks.clone(),
            by: "ann".into(),
        },
        KnowledgeEvent::PageRetitled { page: ids.next(), title: "y".into(), by: "ann".into() },
        KnowledgeEvent::BlocksAppended { page: ids.next(), blocks: blocks.clone(), by: "ann".into() },
        KnowledgeEvent::BlockReplaced { page: ids.next(), block: ids.next(), blocks, by: "ann".into() },
        KnowledgeEvent::DatabaseDefined {
            id: ids.next(),
            parent: Some(ids.next()),
            definition: super::example(),
            by: "ann".into(),
        },
        KnowledgeEvent::OptionsAdded { database: ids.next(), property: "Size".into(), options: vec!["S".into()] },
        KnowledgeEvent::RowsCreated { database: ids.next(), rows: vec![row], by: "ann".into() },
        KnowledgeEvent::RowChanged { row: ids.next(), changes: vec![("Hours".into(), Value::Null)], by: "ann".into() },
        KnowledgeEvent::ArchiveChanged { id: ids.next(), archived: true, by: "ann".into() },
    ] {
        let bytes = rmp_serde::to_vec_named(&event).expect("it encodes");
        let back: KnowledgeEvent = rmp_serde::from_slice(&bytes).expect("it decodes");
        assert_eq!(back, event);
    }
}

#[test]
fn a_fork_differs_in_what_was_written_to_it() {
    let mut bench = super::tasks();
    let before = bench.service.clone();
    good(&mut bench, "update_row", r#"{"row": "a", "properties": {"Hours": 4}}"#);
    good(&mut bench, "create_page", r#"{"title": "New"}"#);
    let mut differences = Vec::new();
    before.differences(&bench.service, &mut differences);
    let keys: Vec<&str> = differences.iter().map(|difference| difference.key.as_str()).collect();
    assert_eq!(keys.len(), 3, "{keys:?}");
    assert!(keys[2].ends_with("/Hours") && keys[2].starts_with("knowledge:row/"), "{keys:?}");
}
