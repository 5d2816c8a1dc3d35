//! Formulas that grow: texts, arrays, searches and areas. Each ends as an error value or a refusal before it takes much time or memory.

use dayshift_engine::Value;

use super::SheetsState;
use super::cell::CELL_TEXT_BYTES_MAX;
use super::tests::{bench, read, row, rows, write};
use crate::service::Service as _;
use crate::testing::Bench;

/// Enters a formula; returns what it shows, or the code of the refusal.
fn outcome(bench: &mut Bench<SheetsState>, formula: &str) -> String {
    match write(bench, "C1", rows([row![formula]]), "user") {
        Ok(_) => read(bench, "C1", "values"),
        Err(refusal) => refusal.code.into_owned(),
    }
}

#[test]
fn no_text_in_between_is_longer_than_a_cell_may_hold() {
    let mut bench = bench();
    for formula in [
        r#"=SUBSTITUTE(SUBSTITUTE(REPT("a",32767),"a",REPT("b",32767)),"b",REPT("c",32767))"#,
        r#"=LEN(REPT("a",32767)&"b")"#,
        r#"=LET(a,REPT("x",20000),b,a&a,c,b&b,d,c&c,e,d&d,LEN(e&e))"#,
        r#"=LEN(CONCAT(REPT("a",32767),REPT("b",32767)))"#,
        r#"=LEN(CONCATENATE(REPT("a",32767),"b"))"#,
        r#"=LEN(TEXTJOIN(REPT(",",32767),FALSE,{1,2,3}))"#,
        r#"=LEN(REPLACE(REPT("a",32767),1,0,"b"))"#,
        r#"=LEN(REPT(REPT("a",32767),2))"#,
        r#"=LEN(UPPER(REPT("ß",16384)&"x"))"#,
        r#"=LEN(ARRAYTOTEXT(SEQUENCE(100000)))"#,
        r#"=LEN(REGEXREPLACE(REPT("a",32767),"a","bb"))"#,
        r#"=LEN(ENCODEURL(REPT("ä",16000)))"#,
        r#"=REDUCE("x",SEQUENCE(1000),LAMBDA(a,b,a&a))"#,
        r#"=LEN(JOIN(REPT(",",32767),{1,2,3}))"#,
    ] {
        assert_eq!(outcome(&mut bench, formula), r##"[["#VALUE!"]]"##, "{formula}");
    }
    let longest = format!("=LEN(REPT(\"a\",{CELL_TEXT_BYTES_MAX}))");
    assert_eq!(outcome(&mut bench, &longest), "[[32767]]");
}

#[test]
fn arrays_have_a_limit() {
    let mut bench = bench();
    for formula in [
        "=SUM(SEQUENCE(1000001))",
        "=SUM(SEQUENCE(1048576,16384))",
        "=SUM(MAKEARRAY(100000,100000,LAMBDA(r,c,r)))",
        "=SUM(SEQUENCE(100000)*SEQUENCE(1,100000))",
        "=SUM(EXPAND(1,100000,100000,0))",
        "=SUM(MUNIT(100000))",
        "=SUM(MMULT(SEQUENCE(100000),SEQUENCE(1,100000)))",
        "=SUM(RANDARRAY(1000000,1000000))",
    ] {
        assert_eq!(outcome(&mut bench, formula), r##"[["#NUM!"]]"##, "{formula}");
    }
    assert_eq!(outcome(&mut bench, "=SUM(SEQUENCE(1000,100))"), "[[5000050000]]");
}

#[test]
fn what_is_looked_at_draws_on_the_budget_of_the_call() {
    for formula in [
        // Thousands of characters against a pattern of stars, from each of them on.
        r#"=SEARCH(REPT("*a",500)&"b",REPT("a",20000))"#,
        "=SUM(MAP(SEQUENCE(1000),LAMBDA(x,SUM(SEQUENCE(1000)*x))))",
        "=REDUCE(0,SEQUENCE(1000000),LAMBDA(a,b,a+b))",
        "=SUM(MMULT(SEQUENCE(500,500),SEQUENCE(500,500)))",
        r#"=ROWS(MAP(SEQUENCE(3000),LAMBDA(x,REPT("a",1000))))"#,
        "=SUM(SORT(SEQUENCE(100000),1,-1))",
        "=SUM(UNIQUE(SEQUENCE(100000)))",
        r#"=SUM(COUNTIF(SEQUENCE(10000),SEQUENCE(10000)))"#,
        "=CUMIPMT(0.01,1000000000,1000,1,1000000000,0)",
        "=WORKDAY(1,1000000000)",
    ] {
        let mut bench = bench();
        bench.limits = Some((1_000_000, 1 << 20));
        let before = bench.service.digest();
        let code = outcome(&mut bench, formula);
        let is_bounded = code == "sheets/too-expensive" || code == r##"[["#NUM!"]]"##;
        assert!(is_bounded, "{formula}: {code}");
        assert!(code != "sheets/too-expensive" || bench.service.digest() == before, "a refusal changes nothing");
    }
}

#[test]
fn a_function_that_calls_itself_goes_only_so_deep() {
    let mut bench = bench();
    for formula in [
        "=LET(f,LAMBDA(g,n,g(g,n+1)),f(f,1))",
        "=LET(f,LAMBDA(g,n,g(g,n+1)+g(g,n+1)),f(f,1))",
        "=LET(f,LAMBDA(g,n,SUM(MAP({1,2},LAMBDA(x,g(g,n+1))))),f(f,1))",
    ] {
        let code = outcome(&mut bench, formula);
        assert!(code == r##"[["#CALC!"]]"## || code == "sheets/too-expensive", "{formula}: {code}");
    }
    assert_eq!(outcome(&mut bench, "=LET(f,LAMBDA(g,n,IF(n<2,1,n*g(g,n-1))),f(f,10))"), "[[3628800]]");
}

#[test]
fn a_column_of_formulas_over_one_table_is_cheap() {
    let mut bench = bench();
    let table: Value = (0..2_000_i64).map(|number| Value::List(row![number, number % 7])).collect();
    write(&mut bench, "A1", table, "raw").expect("written");
    let formulas: Value = (1..=2_000)
        .map(|number| {
            Value::List(row![format!("=SUMIF(B:B,B{number},A:A)"), format!("=VLOOKUP(A{number},A:B,2,FALSE)")])
        })
        .collect();
    write(&mut bench, "D1", formulas, "user").expect("within the budget");
    assert_eq!(read(&mut bench, "E2000", "values"), "[[4]]");
}

#[test]
fn whole_columns_and_the_whole_grid_cost_what_is_there() {
    let mut bench = bench();
    bench.limits = Some((20_000, 1 << 20));
    user(&mut bench, "A1", "1");
    user(&mut bench, "B1048576", "2");
    assert_eq!(outcome(&mut bench, "=SUM(A:B)+COUNTA(A:B)"), "[[5]]");
    assert_eq!(outcome(&mut bench, "=COUNTBLANK(A:B)"), "[[2097150]]");
    bench.limits = None;
    assert_eq!(outcome(&mut bench, "=COUNTIF(A:B,\">1\")"), "[[1]]");
    assert_eq!(outcome(&mut bench, "=COUNTIF(A:B,\"\")"), "[[2097150]]");
}

fn user(bench: &mut Bench<SheetsState>, range: &str, text: &str) {
    write(bench, range, rows([row![text]]), "user").expect("written");
}
