//! What about 550 formulas come to over one small worksheet, one a line of `tests/material/formulas.tsv`: formula, value, what is shown. Most values were
//! what the formula library that was used before came to as well; the others follow Excel.

use dayshift_engine::Value;

use super::SheetsState;
use super::tests::{bench, read, write};
use crate::testing::Bench;

const CASES: &str = include_str!("../../tests/material/formulas.tsv");

/// Numbers, texts, dates, a database and an error to compute over.
fn ledger() -> Bench<SheetsState> {
    let mut bench = bench();
    let mut enter = |range: &str, rows: &[&[&str]]| {
        let rows: Value = rows.iter().map(|row| row.iter().map(|cell| Value::from(*cell)).collect::<Value>()).collect();
        write(&mut bench, range, rows, "user").expect("written");
    };
    enter(
        "A1",
        &[
            &["3", "1", "2026-03-16", "apple", "", "a*b", "2"],
            &["4", "2", "2026-03-20", "Banana", "", "axb", "4"],
            &["five", "3", "2026-04-01", "cherry", "", "a", "5"],
            &["TRUE", "4", "2026-12-31", "apple", "", "", "4"],
            &["", "5", "2027-01-01", "'10", "", "", "5"],
        ],
    );
    enter(
        "E7",
        &[
            &["Name", "Amount", "Kind"],
            &["Ann", "10", "x"],
            &["Bob", "20", "y"],
            &["Cid", "30", "x"],
            &[""],
            &["Name"],
            &["Bob"],
        ],
    );
    enter("H1", &[&["=1/0"], &["2"], &["3"]]);
    bench
}

#[test]
fn formulas_come_to_what_office_programs_show() {
    let mut wrong = Vec::new();
    for case in CASES.lines() {
        let mut parts = case.split('\t');
        let (Some(formula), Some(value), Some(shown)) = (parts.next(), parts.next(), parts.next()) else {
            panic!("a line has three parts: {case}");
        };
        let mut bench = ledger();
        let rows: Value = [[formula].into_iter().map(Value::from).collect::<Value>()].into_iter().collect();
        write(&mut bench, "J20", rows, "user").expect(formula);
        let (is_value, is_shown) = (read(&mut bench, "J20", "values"), read(&mut bench, "J20", "formatted"));
        if (is_value.as_str(), is_shown.as_str()) != (value, shown) {
            wrong.push(format!("{formula}: {is_value} shown as {is_shown}, not {value} shown as {shown}"));
        }
    }
    assert!(CASES.lines().count() > 500, "the cases are there");
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}
