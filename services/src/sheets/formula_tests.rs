//! Tests of formulas on the bench: what they come to, when they are computed, what they rest on.

use dayshift_engine::{ReadKind, Value, map};
use proptest::prelude::*;

use super::tests::{bench, check_derived, read, row, rows, write};
use super::*;
use crate::testing::Bench;

fn user(bench: &mut Bench<SheetsState>, range: &str, table: Value) {
    write(bench, range, table, "user").expect("written");
}

/// Enters one formula into a worksheet of its own and returns what it shows.
fn shows(formula: &str) -> String {
    let mut bench = bench();
    user(&mut bench, "A1", rows([row!["3"], row!["4"], row!["five"], row!["TRUE"]]));
    user(&mut bench, "C1", rows([row![formula]]));
    read(&mut bench, "C1", "formatted")
}

#[test]
fn formulas_come_to_values() {
    for (formula, shown) in [
        ("=1+2*3", "7"),
        ("=SUM(A1:A2)", "7"),
        ("=sum(a:a)", "7"),
        ("=A1&\" and \"&A3", "3 and five"),
        ("=IF(A1>A2,\"more\",\"less\")", "less"),
        ("=AVERAGE(A1:A4)", "3.5"),
        ("=COUNTA(A1:A9)", "4"),
        ("=VLOOKUP(3,A1:B4,1,FALSE)", "3"),
        ("=INDEX(A1:A4,MATCH(4,A1:A4,0))", "4"),
        ("=ROUND(2/3,2)", "0.67"),
        ("=SUMIF(A1:A4,\">3\")", "4"),
        ("=A9", ""),
        ("=A9+1", "1"),
        ("=1/0", "#DIV/0!"),
        ("=NOSUCHFUNCTION(1)", "#NAME?"),
        ("=Nowhere!A1", "#REF!"),
        ("=nosuchname", "#NAME?"),
        ("=A3+1", "#VALUE!"),
        ("=NA()", "#N/A"),
        ("=SQRT(-1)", "#NUM!"),
        ("=IFERROR(1/0,\"none\")", "none"),
        ("=Sheet1!A1*'Sheet1'!A2", "12"),
        ("=INDIRECT(\"A2\")", "4"),
        ("=DATE(2026,3,16)", "2026-03-16"),
        ("=LEN(A3)", "4"),
        ("=SUMPRODUCT(A1:A2,A1:A2)", "25"),
        ("=LET(x,A1,x*2)", "6"),
        ("=XLOOKUP(4,A1:A4,A1:A4)", "4"),
        ("=A1:A2", "#SPILL!"),
        ("=C1", "#CIRC!"),
    ] {
        assert_eq!(shows(formula), format!("[[\"{shown}\"]]"), "{formula}");
    }
}

#[test]
fn a_formula_is_read_as_formula_value_and_text() {
    let mut bench = bench();
    user(&mut bench, "A1", rows([row!["2", "=A1*2.5"]]));
    assert_eq!(read(&mut bench, "B1", "formulas"), r#"[["=A1*2.5"]]"#);
    assert_eq!(read(&mut bench, "B1", "values"), "[[5]]");
    let formula = bench.ask("formula", map! { "book" => "Ledger", "ref" => "B1" }).expect("answered");
    assert_eq!(formula, Value::from("=A1*2.5"));
}

#[test]
fn a_formula_written_raw_stays_text() {
    let mut bench = bench();
    write(&mut bench, "A1", rows([row!["=1+1"]]), "raw").expect("written");
    assert_eq!(read(&mut bench, "A1", "values"), r#"[["=1+1"]]"#);
}

#[test]
fn a_formula_that_cannot_be_read_is_refused_and_nothing_changes() {
    let mut bench = bench();
    let before = bench.service.digest();
    for text in ["=1+", "=SUM(", "=)", "=A1 A2 +"] {
        let refusal = write(&mut bench, "A1", rows([row!["kept", text]]), "user").expect_err(text);
        assert_eq!(refusal.code, "sheets/bad-formula", "{text}");
        assert!(refusal.message.contains("B1"), "{}", refusal.message);
    }
    let long = format!("={}1", "1+".repeat(FORMULA_BYTES_MAX));
    assert_eq!(
        write(&mut bench, "A1", rows([row![long]]), "user").expect_err("too long").code,
        "sheets/formula-too-long"
    );
    assert_eq!(bench.service.digest(), before);
}

#[test]
fn formulas_have_a_limit_of_length() {
    let mut bench = bench();
    let mut enter = |bytes: usize| {
        let text = format!("=\"{}\"", "x".repeat(bytes - 3));
        write(&mut bench, "A1", rows([row![text]]), "user").map_err(|refusal| refusal.code)
    };
    assert!(enter(FORMULA_BYTES_MAX - 1).is_ok());
    assert!(enter(FORMULA_BYTES_MAX).is_ok());
    assert_eq!(enter(FORMULA_BYTES_MAX + 1), Err("sheets/formula-too-long".into()));
}

#[test]
fn formulas_have_a_limit_of_cells_in_one_area() {
    let mut bench = bench();
    let rows_max = FORMULA_AREA_CELLS_MAX / 10;
    for (height, value) in [(rows_max - 1, "[[1]]"), (rows_max, "[[1]]"), (rows_max + 1, r##"[["#NUM!"]]"##)] {
        write(&mut bench, "B2", rows([row![1_i64]]), "raw").expect("written");
        user(&mut bench, "Z1", rows([row![format!("=SUM(A1:J{height})")]]));
        assert_eq!(read(&mut bench, "Z1", "values"), value, "{height} rows");
    }
}

#[test]
fn areas_of_many_columns_cost_what_their_cells_do() {
    let mut bench = bench();
    let column: Value = (1..=400).map(|row| Value::List(row![format!("=SUM(Z{row}:TZZ{row})")])).collect();
    assert!(write(&mut bench, "A1", column, "user").is_ok());
}

#[test]
fn a_change_that_costs_too_much_to_compute_is_refused_and_nothing_changes() {
    let mut bench = bench();
    let mut enter = |count: usize| {
        let column: Value = (0..count).map(|_| Value::List(row!["=SUM(SEQUENCE(1000,1000))"])).collect();
        let before = bench.service.digest();
        let result = write(&mut bench, "A1", column, "user").map_err(|refusal| refusal.code);
        assert_eq!(bench.service.digest() == before, result.is_err());
        result.map(|_| read(&mut bench, &format!("A{count}"), "values"))
    };
    assert_eq!(enter(2).as_deref(), Ok("[[500000500000]]"));
    assert_eq!(enter(1_000), Err("sheets/too-expensive".into()));
}

#[test]
fn a_function_that_calls_itself_for_ever_ends_as_an_error() {
    let mut bench = bench();
    user(&mut bench, "A1", rows([row!["=LET(f,LAMBDA(g,n,g(g,n+1)),f(f,1))"]]));
    assert!(read(&mut bench, "A1", "values").contains('#'));
}

#[test]
fn a_change_reaches_every_formula_that_rests_on_it() {
    let mut bench = bench();
    bench.call("sheets.add_worksheet", map! { "book" => "Ledger", "name" => "Sum up" }).expect("added");
    user(&mut bench, "A1", rows([row!["1", "=A1+1", "=B1+1"]]));
    user(&mut bench, "'Sum up'!A1", rows([row!["=SUM(Sheet1!A:C)"]]));
    assert_eq!(read(&mut bench, "'Sum up'!A1", "values"), "[[6]]");
    write(&mut bench, "A1", rows([row![10_i64]]), "raw").expect("written");
    let mut written = bench.written_keys();
    written.retain(|key| key.ends_with('1'));
    assert_eq!(
        written,
        ["sheets:Ledger/Sheet1!A1", "sheets:Ledger/Sheet1!B1", "sheets:Ledger/Sheet1!C1", "sheets:Ledger/Sum up!A1"]
    );
    assert_eq!(read(&mut bench, "Sheet1", "values"), "[[10,11,12]]");
    assert_eq!(read(&mut bench, "'Sum up'!A1", "values"), "[[33]]");
    bench.call("sheets.clear", map! { "book" => "Ledger", "range" => "A1" }).expect("cleared");
    assert_eq!(read(&mut bench, "'Sum up'!A1", "values"), "[[3]]");
}

#[test]
fn a_formula_whose_value_stays_is_not_written() {
    let mut bench = bench();
    user(&mut bench, "A1", rows([row!["1", "=A1>0"]]));
    write(&mut bench, "A1", rows([row![2_i64]]), "raw").expect("written");
    assert!(!bench.written_keys().contains(&"sheets:Ledger/Sheet1!B1"));
}

#[test]
fn reading_a_formula_notes_its_precedents() {
    let mut bench = bench();
    user(&mut bench, "A1", rows([row!["1", "2", "=A1+B1", "=SUM(A1:B1)"]]));
    read(&mut bench, "C1", "values");
    for key in ["sheets:Ledger/Sheet1!A1", "sheets:Ledger/Sheet1!B1", "sheets:Ledger/Sheet1!C1"] {
        assert!(bench.read_keys().contains(&key), "{key}");
    }
    assert!(!bench.read_keys().contains(&"sheets:Ledger/Sheet1!"), "single cells rest on no others");
    read(&mut bench, "D1", "values");
    assert!(bench.read_keys().contains(&"sheets:Ledger/Sheet1!"), "an area rests on which cells there are");
    assert!(bench.read_keys().contains(&"sheets:Ledger/Sheet1!A1"));
}

#[test]
fn computing_a_formula_notes_its_precedents_but_not_what_the_call_itself_writes() {
    let mut bench = bench();
    user(&mut bench, "A1", rows([row!["1", "2"]]));
    user(&mut bench, "C1", rows([row!["=A1+B1"]]));
    assert!(bench.read_keys().contains(&"sheets:Ledger/Sheet1!A1"));
    write(&mut bench, "A1", rows([row![5_i64]]), "raw").expect("written");
    assert!(!bench.read_keys().contains(&"sheets:Ledger/Sheet1!A1"));
    assert!(bench.read_keys().contains(&"sheets:Ledger/Sheet1!B1"), "the sum was computed again and rests on it");
}

#[test]
fn a_large_area_is_noted_cell_by_cell_only_so_far() {
    let mut bench = bench();
    for (count, scans) in
        [(PRECEDENTS_NOTED_MAX - 1, false), (PRECEDENTS_NOTED_MAX, false), (PRECEDENTS_NOTED_MAX + 1, true)]
    {
        let column: Value = (0..count).map(|_| Value::List(row![1_i64])).collect();
        write(&mut bench, "A1", column, "raw").expect("written");
        user(&mut bench, "B1", rows([row!["=SUM(A:A)"]]));
        read(&mut bench, "Sheet1!B1", "values");
        assert_eq!(bench.accesses.reads.iter().any(|read| read.kind == ReadKind::Scan), scans, "{count}");
        let items = bench.accesses.reads.iter().filter(|read| read.key.as_str().contains("!A")).count();
        assert_eq!(items, count.min(PRECEDENTS_NOTED_MAX));
    }
}

#[test]
fn formulas_that_depend_on_themselves_are_errors_and_recover() {
    let mut bench = bench();
    user(&mut bench, "A1", rows([row!["=B1", "=C1+1", "=A1", "=A1+1", "=IFERROR(A1,7)"]]));
    assert_eq!(read(&mut bench, "A1:E1", "formatted"), r##"[["#CIRC!","#CIRC!","#CIRC!","#CIRC!","7"]]"##);
    user(&mut bench, "C1", rows([row!["4"]]));
    assert_eq!(read(&mut bench, "A1:E1", "formatted"), r#"[["5","5","4","6","5"]]"#);
}

#[test]
fn the_time_comes_from_the_call_and_moves_with_the_next_change() {
    let mut bench = bench();
    user(&mut bench, "A1", rows([row!["=TODAY()", "=NOW()", "=HOUR(B1)"]]));
    assert_eq!(read(&mut bench, "A1:C1", "formatted"), r#"[["2026-03-16","2026-03-16 09:00:02","9"]]"#);
    write(&mut bench, "A9", rows([row!["x"]]), "raw").expect("written");
    assert_eq!(read(&mut bench, "B1", "formatted"), r#"[["2026-03-16 09:00:04"]]"#);
    assert!(bench.written_keys().is_empty());
}

#[test]
fn chance_is_the_same_in_every_run_and_differs_between_changes() {
    let run = || {
        let mut bench = bench();
        user(&mut bench, "A1", rows([row!["=RAND()", "=RAND()", "=RANDBETWEEN(1,1000000)"]]));
        let first = read(&mut bench, "A1:C1", "values");
        write(&mut bench, "A9", rows([row!["x"]]), "raw").expect("written");
        (first, read(&mut bench, "A1:C1", "values"))
    };
    let (first, second) = run();
    assert_ne!(first, second);
    assert_eq!((first, second), run());
}

#[test]
fn a_computed_reference_follows_what_it_points_at() {
    let mut bench = bench();
    user(&mut bench, "A1", rows([row!["A3"], row!["=INDIRECT(A1)"], row!["=4*2"], row!["9"]]));
    assert_eq!(read(&mut bench, "A2", "values"), "[[8]]");
    user(&mut bench, "A3", rows([row!["=4*3"]]));
    assert_eq!(read(&mut bench, "A2", "values"), "[[12]]");
    assert!(bench.read_keys().contains(&"sheets:Ledger/Sheet1!A3"), "it rests on what it looked at");
    user(&mut bench, "A1", rows([row!["A4"]]));
    assert_eq!(read(&mut bench, "A2", "values"), "[[9]]");
}

#[test]
fn a_renamed_worksheet_is_followed_by_formulas() {
    let mut bench = bench();
    bench.call("sheets.add_worksheet", map! { "book" => "Ledger", "name" => "Other" }).expect("added");
    user(&mut bench, "Sheet1!A1", rows([row!["3"], row!["=A1*2"]]));
    user(&mut bench, "Other!A1", rows([row!["=sheet1!$A$1 + SUM(Sheet1!A1:A2)&\"Sheet1!A1\""]]));
    bench
        .call("sheets.rename_worksheet", map! { "book" => "Ledger", "worksheet" => "Sheet1", "name" => "It's new" })
        .expect("renamed");
    assert_eq!(
        read(&mut bench, "Other!A1", "formulas"),
        r#"[["='It''s new'!$A$1 + SUM('It''s new'!A1:A2)&\"Sheet1!A1\""]]"#
    );
    assert_eq!(read(&mut bench, "Other!A1", "values"), r#"[["12Sheet1!A1"]]"#);
    user(&mut bench, "'It''s new'!A1", rows([row!["4"]]));
    assert_eq!(read(&mut bench, "Other!A1", "values"), r#"[["16Sheet1!A1"]]"#);
    assert_eq!(read(&mut bench, "'It''s new'!A2", "values"), "[[8]]");
    check_derived(&bench.service);
}

#[test]
fn a_deleted_worksheet_leaves_errors_that_its_successor_heals() {
    let mut bench = bench();
    bench.call("sheets.add_worksheet", map! { "book" => "Ledger", "name" => "Other" }).expect("added");
    user(&mut bench, "Other!A1", rows([row!["3"]]));
    user(&mut bench, "Sheet1!A1", rows([row!["=Other!A1", "=SUM(Other!A1:A2)"]]));
    bench.call("sheets.delete_worksheet", map! { "book" => "Ledger", "worksheet" => "Other" }).expect("deleted");
    assert_eq!(read(&mut bench, "Sheet1!A1:B1", "values"), r##"[["#REF!","#REF!"]]"##);
    bench.call("sheets.add_worksheet", map! { "book" => "Ledger", "name" => "Other" }).expect("added");
    assert_eq!(read(&mut bench, "Sheet1!A1:B1", "values"), "[[null,0]]");
    check_derived(&bench.service);
}

#[test]
fn a_date_plus_days_is_a_date() {
    let mut bench = bench();
    user(&mut bench, "A1", rows([row!["2026-03-16", "=A1+7"]]));
    assert_eq!(read(&mut bench, "B1", "formatted"), r#"[["2026-03-23"]]"#);
}

#[test]
fn deep_and_hungry_formulas_end_as_errors_and_never_as_a_crash() {
    let mut bench = bench();
    for text in [
        format!("={}1{}", "(".repeat(4000), ")".repeat(4000)),
        format!("={}1", "-".repeat(8000)),
        format!("={}1{}", "ABS(".repeat(1600), ")".repeat(1600)),
        format!("=1{}", "+1".repeat(4000)),
        "=REPT(\"x\",1E9)".to_owned(),
        "=SEQUENCE(100000,100000)".to_owned(),
        "=SUM(A1:XFD1048576)".to_owned(),
        "=LAMBDA(x,x)".to_owned(),
        "=FACT(1E308)".to_owned(),
        "={1,2;3}".to_owned(),
        "=#REF!A1".to_owned(),
        "=[1]Sheet1!A1".to_owned(),
        "=Table1[Amount]".to_owned(),
        "=Sheet1:Sheet2!A1".to_owned(),
    ] {
        let _ = write(&mut bench, "C1", rows([row![text]]), "user");
        read(&mut bench, "Sheet1!C1", "values");
    }
}

#[derive(Clone, Debug)]
enum Entry {
    Number(i32),
    Sum(u32, u32),
    Plus(u32),
    Empty,
}

fn entry() -> impl Strategy<Value = Entry> {
    prop_oneof![
        (-99..99).prop_map(Entry::Number),
        (0_u32..8, 0_u32..8).prop_map(|(from, to)| Entry::Sum(from.min(to), from.max(to))),
        (0_u32..8).prop_map(Entry::Plus),
        Just(Entry::Empty),
    ]
}

fn text_of(entry: &Entry) -> String {
    match entry {
        Entry::Number(number) => number.to_string(),
        Entry::Sum(from, to) => format!("=SUM(A{}:A{})", from + 1, to + 1),
        Entry::Plus(at) => format!("=A{}+1", at + 1),
        Entry::Empty => String::new(),
    }
}

proptest! {
    #[test]
    fn the_order_of_entering_never_shows(entries in prop::collection::vec(entry(), 8), order in Just((0..8_u32).collect::<Vec<_>>()).prop_shuffle()) {
        let at_once = {
            let mut bench = bench();
            user(&mut bench, "A1", entries.iter().map(|entry| Value::List(row![text_of(entry)])).collect());
            bench
        };
        let mut one_by_one = bench();
        for at in order {
            user(&mut one_by_one, &format!("A{}", at + 1), rows([row![text_of(&entries[at as usize])]]));
        }
        prop_assert_eq!(at_once.service.digest(), one_by_one.service.digest());
        prop_assert_eq!(at_once.service.dump(), one_by_one.service.dump());
        check_derived(&one_by_one.service);
    }

    #[test]
    fn no_formula_text_panics(text in "=[A-C1-3+*(),:!'\"#$%&;{}\\[\\] a-c]{0,20}") {
        let mut bench = bench();
        let _ = write(&mut bench, "D4", rows([row![text]]), "user");
    }
}

#[test]
fn what_stands_between_two_circles_is_none() {
    let mut bench = bench();
    user(&mut bench, "A1", rows([row!["=COUNT(A1:B1)", "=COUNTA(C1)", "=C1"]]));
    assert_eq!(read(&mut bench, "A1:C1", "formatted"), r##"[["#CIRC!","1","#CIRC!"]]"##);
    // However it came to be.
    user(&mut bench, "B1", rows([row!["=COUNTA(C1)"]]));
    assert_eq!(read(&mut bench, "A1:C1", "formatted"), r##"[["#CIRC!","1","#CIRC!"]]"##);
}
