//! Appending with rows that come in between: what moves, what follows, what is refused, what is read.

use dayshift_engine::{Rejection, Value, map};
use proptest::prelude::*;

use super::tests::{bench, check_derived, read, row, rows, write};
use super::*;
use crate::testing::Bench;

fn append(bench: &mut Bench<SheetsState>, range: &str, rows: Value) -> Result<String, Rejection> {
    let arguments = map! { "book" => "Ledger", "range" => range, "rows" => rows, "mode" => "user", "insert" => true };
    let answer = bench.call("sheets.append", arguments)?;
    Ok(answer.get("updated_range").and_then(Value::as_text).expect("a range").to_owned())
}

/// A table at A1:B3 with its sum two rows below, a note beside, and another worksheet that looks at all of it.
fn table() -> Bench<SheetsState> {
    let mut bench = bench();
    write(&mut bench, "A1", rows([row!["name", "amount"], row!["a", "1"], row!["b", "2"]]), "user").expect("written");
    write(&mut bench, "A5", rows([row!["total", "=SUM(B2:B3)", "5%"]]), "user").expect("written");
    write(&mut bench, "D6", rows([row!["=B5*10"]]), "user").expect("written");
    bench.call("sheets.add_worksheet", map! { "book" => "Ledger", "name" => "Other" }).expect("added");
    write(&mut bench, "Other!A1", rows([row!["=Sheet1!B5", "=COUNTA(Sheet1!A:A)", "=SUM(Sheet1!$B$2:$B5)"]]), "user")
        .expect("written");
    bench
}

#[test]
fn what_stands_below_moves_down_and_formulas_follow() {
    let mut bench = table();
    assert_eq!(append(&mut bench, "A1:B1", rows([row!["c", "3"], row!["d", "4"]])).as_deref(), Ok("Sheet1!A4:B5"));
    assert_eq!(
        read(&mut bench, "Sheet1", "formulas"),
        r#"[["name","amount"],["a",1],["b",2],["c",3],["d",4],[],["total","=SUM(B2:B3)",0.05],["","","","=B7*10"]]"#
    );
    assert_eq!(read(&mut bench, "Sheet1!A7:D8", "formatted"), r#"[["total","3","5%"],["","","","30"]]"#);
    assert_eq!(
        read(&mut bench, "Other!A1:C1", "formulas"),
        r#"[["=Sheet1!B7","=COUNTA(Sheet1!A:A)","=SUM(Sheet1!$B$2:$B7)"]]"#
    );
    assert_eq!(read(&mut bench, "Other!A1:C1", "values"), "[[3,6,13]]");
    check_derived(&bench.service);
    // The formulas go on following what they name.
    write(&mut bench, "B2", rows([row![10_i64]]), "raw").expect("written");
    assert_eq!(read(&mut bench, "Other!A1:C1", "values"), "[[12,6,31]]");
}

#[test]
fn without_insert_filled_cells_below_are_not_overwritten() {
    let mut bench = table();
    let four = rows([row!["c"], row!["d"], row!["e"]]);
    let arguments = map! { "book" => "Ledger", "range" => "A1:B1", "rows" => four };
    let refusal = bench.call("sheets.append", arguments).expect_err("the total is in the way");
    assert_eq!(refusal.code, "sheets/append-would-overwrite");
}

#[test]
fn a_formula_that_is_appended_reads_what_it_says_where_it_stands() {
    let mut bench = table();
    append(&mut bench, "A1:B1", rows([row!["c", "=B3+B6"]])).expect("appended");
    assert_eq!(read(&mut bench, "Sheet1!A4:B6", "values"), r#"[["c",5],[],["total",3]]"#);
}

#[test]
fn moved_cells_are_written_and_what_they_held_is_read() {
    let mut bench = table();
    append(&mut bench, "A1:B1", rows([row!["c", "3"]])).expect("appended");
    let written = bench.written_keys();
    for key in
        ["sheets:Ledger/Sheet1!A4", "sheets:Ledger/Sheet1!A5", "sheets:Ledger/Sheet1!A6", "sheets:Ledger/Other!A1"]
    {
        assert!(written.contains(&key), "{key} in {written:?}");
    }
    assert!(!written.contains(&"sheets:Ledger/Sheet1!A3"));
    let read = bench.read_keys();
    for key in ["sheets:Ledger/Sheet1!A5", "sheets:Ledger/Sheet1!C5", "sheets:Ledger/Sheet1!B2"] {
        assert!(read.contains(&key), "{key} in {read:?}");
    }
}

#[test]
fn rows_that_would_leave_the_grid_are_refused() {
    let mut bench = table();
    write(&mut bench, "F1048575", rows([row!["end"]]), "raw").expect("written");
    append(&mut bench, "A1:B1", rows([row!["c", "3"]])).expect("the last row takes it");
    let before = bench.service.digest();
    let refusal = append(&mut bench, "A1:B1", rows([row!["d", "4"]])).expect_err("it would fall off");
    assert_eq!(refusal.code, "sheets/outside-grid");
    assert_eq!(bench.service.digest(), before);
}

#[test]
fn the_event_survives_its_encoding() {
    let event = SheetsEvent::RowsInserted { book: "Ledger".into(), worksheet: "Sheet1".into(), at: 4, count: 2 };
    let bytes = rmp_serde::to_vec_named(&event).expect("it encodes");
    assert_eq!(rmp_serde::from_slice::<SheetsEvent>(&bytes).expect("it decodes"), event);
}

proptest! {
    #[test]
    fn formulas_come_to_what_computing_them_anew_gives(
        cells in prop::collection::btree_map((0_u32..12, 0_u32..4), 0_usize..9, 1..30),
        refs in prop::collection::vec((0_u32..14, 0_u32..4), 8),
        count in 1_u32..4,
    ) {
        let mut bench = bench();
        let name = |at: (u32, u32)| CellRef::new(at.0, at.1).expect("inside").to_string();
        let text = |kind: usize| match kind {
            0 => "7".to_owned(),
            1 => "x".to_owned(),
            2 => "=ROW()".to_owned(),
            3 => format!("=SUM({}:{})", name(refs[0]), name(refs[1])),
            4 => format!("=COUNTA({}:{})", name(refs[2]), name(refs[3])),
            5 => "=COUNT(A:A)".to_owned(),
            6 => format!("={}", name(refs[4])),
            7 => format!("=Sheet1!${}", name(refs[5])),
            _ => format!("=SUM({}:{})", refs[6].0 + 1, refs[7].0 + 1),
        };
        for (at, kind) in &cells {
            write(&mut bench, &name(*at), rows([row![text(*kind)]]), "user").expect("written");
        }
        let before = bench.service.clone();
        let new: Value = (0..count).map(|number| Value::List(vec![Value::from(format!("new {number}"))])).collect();
        let target = append(&mut bench, "B3", new).expect("there is room");
        let start: CellRef = target.trim_start_matches("Sheet1!").split(':').next().and_then(|first| first.parse().ok()).expect("a cell");
        check_derived(&bench.service);
        // What is no formula is where it belongs.
        for (at, _) in cells.iter().filter(|(_, kind)| **kind < 2) {
            let moved = (if at.0 < start.row { at.0 } else { at.0 + count }, at.1);
            let old = Bench { service: before.clone(), ..Bench::new(SheetsState::new()) };
            let shown = |mut bench: Bench<SheetsState>, at| read(&mut bench, &name(at), "values");
            let now = Bench { service: bench.service.clone(), ..Bench::new(SheetsState::new()) };
            prop_assert_eq!(shown(old, *at), shown(now, moved));
        }
        // Entering every formula again changes nothing.
        let formulas = bench.call("sheets.read", map! { "book" => "Ledger", "range" => "Sheet1", "as" => "formulas" }).expect("read");
        let shown = bench.service.show();
        for (row, line) in (0..).zip(formulas.get("rows").and_then(Value::as_list).expect("rows")) {
            for (column, cell) in (0..).zip(line.as_list().expect("a row")) {
                if let Some(text) = cell.as_text().filter(|text| text.starts_with('=')) {
                    write(&mut bench, &name((row, column)), rows([row![text]]), "user").expect("written");
                }
            }
        }
        prop_assert_eq!(bench.service.show(), shown);
    }
}
