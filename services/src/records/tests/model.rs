//! Random commands against a simple reference model, and the codec of events.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::service::Service;

#[derive(Clone, Debug)]
enum Command {
    Create { id: Option<u8>, name: String, cents: i64 },
    Update { id: u8, name: Option<String>, cents: Option<i64> },
    Pay { id: u8, cents: i64 },
    Remove { id: u8 },
}

#[derive(Clone, Debug, PartialEq)]
struct Row {
    name: String,
    cents: i64,
}

fn command() -> impl Strategy<Value = Command> {
    let name = "[a-c]{0,2}";
    let cents = -500_i64..500;
    prop_oneof![
        (proptest::option::of(0..6_u8), name, cents.clone()).prop_map(|(id, name, cents)| Command::Create {
            id,
            name,
            cents
        }),
        (0..6_u8, proptest::option::of(name), proptest::option::of(cents.clone()))
            .prop_map(|(id, name, cents)| Command::Update { id, name, cents }),
        (0..6_u8, cents).prop_map(|(id, cents)| Command::Pay { id, cents }),
        (0..6_u8).prop_map(|id| Command::Remove { id }),
    ]
}

fn money(cents: i64) -> String {
    format!("{}{}.{:02}", if cents < 0 { "-" } else { "" }, cents.abs() / 100, cents.abs() % 100)
}

/// The reference: names are unique and required, a payment may not make the balance negative, numbers go on from the highest.
#[derive(Default)]
struct Model {
    rows: BTreeMap<String, Row>,
    last: u64,
}

impl Model {
    fn taken(&self, name: &str, except: &str) -> bool {
        self.rows.iter().any(|(id, row)| id != except && row.name == name)
    }

    fn run(&mut self, command: &Command) -> Result<(), &'static str> {
        match command {
            Command::Create { id, name, cents } => {
                let id = id.map_or_else(|| format!("R{}", self.last + 1), |id| format!("R{id}"));
                if self.rows.contains_key(&id) {
                    return Err("records/row-exists");
                }
                self.check_name(name, "")?;
                self.last = self.last.max(id[1..].parse().expect("a number"));
                self.rows.insert(id, Row { name: name.clone(), cents: *cents });
            }
            Command::Update { id, name, cents } => {
                let id = format!("R{id}");
                if !self.rows.contains_key(&id) {
                    return Err("records/unknown-row");
                }
                if name.is_none() && cents.is_none() {
                    return Err("records/nothing-to-change");
                }
                if let Some(name) = name {
                    self.check_name(name, &id)?;
                }
                let row = self.rows.get_mut(&id).expect("just seen");
                row.name = name.clone().unwrap_or_else(|| row.name.clone());
                row.cents = cents.unwrap_or(row.cents);
            }
            Command::Pay { id, cents } => {
                let row = self.rows.get_mut(&format!("R{id}")).ok_or("records/unknown-row")?;
                if row.cents < *cents {
                    return Err("records/guard-failed");
                }
                row.cents -= cents;
            }
            Command::Remove { id } => {
                self.rows.remove(&format!("R{id}")).ok_or("records/unknown-row")?;
            }
        }
        Ok(())
    }

    fn check_name(&self, name: &str, except: &str) -> Result<(), &'static str> {
        match name {
            "" => Err("records/required"),
            name if self.taken(name, except) => Err("records/not-unique"),
            _ => Ok(()),
        }
    }

    fn value(&self) -> Value {
        let rows = self.rows.iter().map(|(id, row)| {
            (id.as_str().into(), dayshift_engine::map! { "name" => row.name.clone(), "balance" => money(row.cents) })
        });
        dayshift_engine::map! { "accounts" => Value::Map(rows.collect()) }
    }
}

fn accounts() -> Bench<RecordsState> {
    let mut bench = Bench::new(RecordsState::new());
    good(
        &mut bench,
        "records.define",
        r#"{"table": {"table": "accounts", "id": {"prefix": "R"}, "fields": {
            "name": {"type": "text", "required": true, "unique": true}, "balance": "decimal"}, "actions": {
            "pay": {"parameters": {"amount": "decimal"}, "guard": [{"field": "balance", "op": "ge", "value": "$arguments.amount"}],
                "effects": [{"decrement": {"balance": "$arguments.amount"}}]}}}}"#,
    );
    bench
}

fn run(bench: &mut Bench<RecordsState>, command: &Command) -> Result<Value, Rejection> {
    let table = dayshift_engine::map! { "table" => "accounts" };
    let Value::Map(mut arguments) = table else { unreachable!("a map") };
    let mut values = BTreeMap::new();
    let tool = match command {
        Command::Create { id, name, cents } => {
            arguments.insert("id".into(), Value::from(id.map(|id| format!("R{id}"))));
            values.insert("name".into(), Value::from(name.clone()));
            values.insert("balance".into(), Value::from(money(*cents)));
            arguments.insert("values".into(), Value::Map(values));
            "records.create"
        }
        Command::Update { id, name, cents } => {
            arguments.insert("id".into(), Value::from(format!("R{id}")));
            values.extend(name.clone().map(|name| ("name".into(), Value::from(name))));
            values.extend(cents.map(|cents| ("balance".into(), Value::from(money(cents)))));
            arguments.insert("values".into(), Value::Map(values));
            "records.update"
        }
        Command::Pay { id, cents } => {
            arguments.insert("id".into(), Value::from(format!("R{id}")));
            arguments.insert("action".into(), Value::from("pay"));
            arguments.insert("arguments".into(), dayshift_engine::map! { "amount" => money(*cents) });
            "records.act"
        }
        Command::Remove { id } => {
            arguments.insert("id".into(), Value::from(format!("R{id}")));
            "records.remove"
        }
    };
    bench.call(tool, Value::Map(arguments))
}

proptest! {
    #[test]
    fn random_commands_lead_where_the_model_says(commands in proptest::collection::vec(command(), 1..60)) {
        let mut bench = accounts();
        let mut model = Model::default();
        for command in &commands {
            let before = bench.service.digest();
            let done = run(&mut bench, command);
            let expected = model.run(command);
            prop_assert_eq!(done.as_ref().err().map(|rejection| rejection.code.as_ref()), expected.err(), "{:?}", command);
            if done.is_err() {
                prop_assert_eq!(bench.service.digest(), before);
            }
            prop_assert_eq!(bench.service.dump(), model.value());
            prop_assert!(bench.service.tables.values().all(|table| table.is_consistent()));
            for name in ["a", "bb"] {
                let count = bench.ask("count", dayshift_engine::map! { "table" => "accounts", "where" => dayshift_engine::map! { "name" => name } });
                prop_assert_eq!(count, Ok(Value::from(model.rows.values().filter(|row| row.name == name).count())));
            }
        }
        // The digest depends on what is there alone: laid out afresh, the same rows have it too.
        let mut fresh = accounts();
        for (id, row) in &model.rows {
            let values = dayshift_engine::map! { "name" => row.name.clone(), "balance" => money(row.cents) };
            let call = dayshift_engine::map! { "table" => "accounts", "id" => id.clone(), "values" => values };
            prop_assert!(fresh.call("records.create", call).is_ok());
        }
        prop_assert_eq!(fresh.service.digest(), bench.service.digest());
        let mut differences = Vec::new();
        fresh.service.differences(&bench.service, &mut differences);
        prop_assert_eq!(differences, Vec::new());
    }
}

#[test]
fn events_come_back_from_their_bytes() {
    use super::super::{NewRow, Outage, OutageKind, RecordsEvent};
    let time = "2026-03-16T08:00:00Z".parse().expect("a good time");
    let events = vec![
        RecordsEvent::TableDefined { definition: example() },
        RecordsEvent::RowsCreated {
            table: "t".into(),
            rows: vec![NewRow { id: "1".into(), values: vec![("x".into(), json(r#"{"a": [1, 2.5, null]}"#))] }],
            action: None,
        },
        RecordsEvent::FieldsChanged {
            table: "t".into(),
            id: "1".into(),
            changes: vec![("x".into(), Value::Null)],
            action: Some("approve".into()),
        },
        RecordsEvent::RowRemoved { table: "t".into(), id: "1".into(), action: None },
        RecordsEvent::OutageScheduled {
            table: None,
            outage: Outage { from: time, until: time, kind: OutageKind::Late { seconds: 5 }, percent: 30 },
        },
    ];
    let bytes = rmp_serde::to_vec_named(&events).expect("events encode");
    assert_eq!(rmp_serde::from_slice::<Vec<RecordsEvent>>(&bytes).expect("events decode"), events);
}
