//! Arbitrary text as a range and as what a user types into it: refused or understood. What an answer calls a range is understood again as the
//! same one, and what is written reads the same twice.

#![no_main]

use std::str::FromStr;
use std::sync::OnceLock;

use dayshift_engine::{Value, map};
use dayshift_fuzz::{Bench, run};
use dayshift_services::sheets::{Area, CellRef};
use libfuzzer_sys::fuzz_target;

const BOOK: &str = "Fuzz";

fuzz_target!(|bytes: &[u8]| {
    run(|| {
        let text = String::from_utf8_lossy(bytes);
        let (range, typed) = text.split_once('\n').unwrap_or((&text, "=SUM(A1:B2)&\"x\""));
        reads_back::<Area>(range);
        reads_back::<CellRef>(range);
        let mut bench = Bench::new();
        for (tool, arguments) in [
            ("sheets.create", map! { "name" => BOOK }),
            ("sheets.add_worksheet", map! { "book" => BOOK, "name" => "My tab" }),
            ("sheets.add_worksheet", map! { "book" => BOOK, "name" => "It's" }),
            ("sheets.write", map! { "book" => BOOK, "range" => "A1", "rows" => numbers() }),
        ] {
            bench.call(tool, arguments).expect("a workbook to try ranges on");
        }
        let place = |more: Value| {
            let mut arguments = map! { "book" => BOOK, "range" => range };
            if let (Value::Map(arguments), Value::Map(more)) = (&mut arguments, more) {
                arguments.extend(more);
            }
            arguments
        };
        let cells = Value::List(vec![Value::List(vec![typed.into()])]);
        let written = bench.call("sheets.write", place(map! { "rows" => cells.clone(), "mode" => "user" }));
        let Ok(read) = bench.call("sheets.read", place(map! { "as" => "formulas" })) else {
            assert!(written.is_err(), "'{range}' can be written and not read");
            return;
        };
        let name = read.get("range").and_then(Value::as_text).expect("an answer names its range").to_owned();
        let again = bench.call("sheets.read", map! { "book" => BOOK, "range" => name.as_str(), "as" => "formulas" });
        assert_eq!(again.as_ref(), Ok(&read), "'{range}' is '{name}'");
        let _ = bench.call("sheets.append", place(map! { "rows" => cells, "mode" => "user" }));
        let _ = bench.call("sheets.clear", place(map! {}));
    });
});

fn reads_back<T: FromStr + ToString + PartialEq + std::fmt::Debug>(text: &str) {
    let Ok(read) = text.parse::<T>() else { return };
    let again = read.to_string().parse::<T>();
    assert_eq!(again.ok().as_ref(), Some(&read), "'{text}' is shown as '{}'", read.to_string());
}

fn numbers() -> Value {
    static NUMBERS: OnceLock<Value> = OnceLock::new();
    let row = |row: i64| Value::List((1..=4).map(|column| Value::Int(row * 10 + column)).collect());
    NUMBERS.get_or_init(|| Value::List((1..=4).map(row).collect())).clone()
}
