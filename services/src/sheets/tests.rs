//! Tests of the spreadsheet service on the bench: tools, keys, refusals.

use dayshift_engine::{Rejection, Value, map};
use proptest::prelude::*;

use super::*;
use crate::testing::Bench;

pub(super) fn bench() -> Bench<SheetsState> {
    let mut bench = Bench::new(SheetsState::new());
    bench.call("sheets.create", map! { "name" => "Ledger" }).expect("created");
    bench
}

pub(super) fn rows<const N: usize>(rows: [Vec<Value>; N]) -> Value {
    rows.into_iter().map(Value::List).collect()
}

/// Returns a row of the JSON-like cells that are given.
macro_rules! row {
    ($($cell:expr),* $(,)?) => { vec![$(Value::from($cell)),*] };
}
pub(super) use row;

pub(super) fn write(bench: &mut Bench<SheetsState>, range: &str, rows: Value, mode: &str) -> Result<Value, Rejection> {
    bench.call("sheets.write", map! { "book" => "Ledger", "range" => range, "rows" => rows, "mode" => mode })
}

pub(super) fn read(bench: &mut Bench<SheetsState>, range: &str, shown: &str) -> String {
    let answer = bench.call("sheets.read", map! { "book" => "Ledger", "range" => range, "as" => shown }).expect("read");
    answer.get("rows").expect("rows").to_string()
}

fn append(bench: &mut Bench<SheetsState>, range: &str, rows: Value) -> Result<String, Rejection> {
    let answer = bench.call("sheets.append", map! { "book" => "Ledger", "range" => range, "rows" => rows })?;
    Ok(answer.get("updated_range").and_then(Value::as_text).expect("a range").to_owned())
}

/// Makes sure that everything that is derived from the cells is what the cells say.
pub(super) fn check_derived(state: &SheetsState) {
    let mut total = state.books.digest();
    for (name, book) in &state.contents {
        let mut formulas = super::index::FormulaIndex::default();
        for (worksheet, cells) in &book.cells {
            let mut shown = super::shown::ShownIndex::default();
            cells.peek_all().for_each(|(at, cell)| shown.set(*at, cell));
            assert_eq!(book.shown(worksheet), Some(&shown), "what {worksheet} of {name} shows");
            cells.peek_all().for_each(|(at, cell)| formulas.insert(worksheet, *at, cell));
            total += cells.digest();
        }
        total += book.worksheets.digest();
        total += book.names.digest();
        assert_eq!(book.formulas, formulas, "the index of {name}");
    }
    assert_eq!(state.digest(), total);
}

fn code<T>(result: Result<T, Rejection>) -> String {
    result.err().expect("a refusal").code.into_owned()
}

#[test]
fn five_and_the_texts_five_stay_three_things() {
    let mut bench = bench();
    write(&mut bench, "A1", rows([row![5_i64, "5", "5.00", 5.5, true]]), "raw").expect("written");
    assert_eq!(read(&mut bench, "A1:E1", "values"), r#"[[5,"5","5.00",5.5,true]]"#);
    assert_eq!(read(&mut bench, "A1:E1", "formatted"), r#"[["5","5","5.00","5.5","TRUE"]]"#);
}

#[test]
fn text_as_typed_by_a_user_becomes_numbers_with_a_format() {
    let mut bench = bench();
    write(&mut bench, "A1", rows([row!["5%", "1,234.50", "2026-03-16", "007", "true", "'007"]]), "user")
        .expect("written");
    assert_eq!(read(&mut bench, "A1:F1", "values"), r#"[[0.05,1234.5,46097,7,true,"007"]]"#);
    assert_eq!(read(&mut bench, "A1:F1", "formatted"), r#"[["5%","1,234.50","2026-03-16","7","TRUE","007"]]"#);
}

#[test]
fn a_number_typed_into_a_percentage_stays_one() {
    let mut bench = bench();
    write(&mut bench, "A1", rows([row!["5%"]]), "user").expect("written");
    write(&mut bench, "A1", rows([row![0.07]]), "raw").expect("written");
    assert_eq!(read(&mut bench, "A1", "formatted"), r#"[["7%"]]"#);
}

#[test]
fn trailing_empty_cells_and_rows_are_cut_and_inner_ones_kept() {
    let mut bench = bench();
    let table = rows([row!["", "a", ""], row!["", "", ""], row!["b", "", "c"], row!["", "", ""]]);
    write(&mut bench, "B2:D5", table, "raw").expect("written");
    assert_eq!(read(&mut bench, "B2:F9", "formatted"), r#"[["","a"],[],["b","","c"]]"#);
    assert_eq!(read(&mut bench, "B2:F9", "values"), r#"[[null,"a"],[],["b",null,"c"]]"#);
    assert_eq!(read(&mut bench, "Sheet1", "formatted"), r#"[[],["","","a"],[],["","b","","c"]]"#);
    assert_eq!(read(&mut bench, "B:C", "formatted"), r#"[[],["","a"],[],["b"]]"#);
    assert_eq!(read(&mut bench, "F1:H9", "formatted"), "[]");
    assert_eq!(read(&mut bench, "A1", "formatted"), "[]");
}

#[test]
fn null_leaves_a_cell_and_empty_text_empties_it() {
    let mut bench = bench();
    write(&mut bench, "A1", rows([row!["a", "b", "c"]]), "raw").expect("written");
    write(&mut bench, "A1", rows([row![Value::Null, "", "d"]]), "raw").expect("written");
    assert_eq!(read(&mut bench, "A1:C1", "formatted"), r#"[["a","","d"]]"#);
    assert_eq!(bench.written_keys(), Vec::<&str>::new(), "reading writes nothing");
}

#[test]
fn a_single_cell_is_an_anchor_and_a_larger_range_a_border() {
    let mut bench = bench();
    let table = || rows([row!["a", "b"], row!["c", "d"]]);
    write(&mut bench, "Sheet1!B2", table(), "raw").expect("an anchor takes a table");
    write(&mut bench, "Sheet1!A1:C4", table(), "raw").expect("a box may be larger than the data");
    let before = bench.service.digest();
    for range in ["A1:B1", "A1:A2", "A:A", "1:1"] {
        let refusal = write(&mut bench, range, table(), "raw").expect_err("too much for the range");
        assert_eq!(refusal.code, "sheets/write-exceeds-range", "{range}");
    }
    assert_eq!(code(write(&mut bench, "XFD1", table(), "raw")), "sheets/write-exceeds-range");
    assert_eq!(code(write(&mut bench, "A1048576", table(), "raw")), "sheets/write-exceeds-range");
    assert_eq!(bench.service.digest(), before);
}

#[test]
fn appended_rows_go_below_the_table_in_its_first_column() {
    let mut bench = bench();
    assert_eq!(
        append(&mut bench, "Sheet1", rows([row!["x"]])).as_deref(),
        Ok("Sheet1!A1"),
        "an empty sheet starts at its first cell"
    );
    bench.call("sheets.clear", map! { "book" => "Ledger", "range" => "Sheet1" }).expect("cleared");
    write(&mut bench, "B2", rows([row!["name", "amount"], row!["a", 1_i64]]), "raw").expect("written");
    assert_eq!(append(&mut bench, "Sheet1", rows([row!["b", 2_i64]])).as_deref(), Ok("Sheet1!B4:C4"));
    assert_eq!(append(&mut bench, "Sheet1!B2:C2", rows([row!["c", 3_i64]])).as_deref(), Ok("Sheet1!B5:C5"));
    assert_eq!(append(&mut bench, "Sheet1!A:G", rows([row!["d"], row!["e"]])).as_deref(), Ok("Sheet1!B6:B7"));
    assert_eq!(append(&mut bench, "Sheet1!E3", rows([row!["apart"]])).as_deref(), Ok("Sheet1!E3"));
}

/// The example of the Sheets API's documentation of `values.append`: tables at A1:C2 and B4:D6.
#[test]
fn append_finds_the_table_that_the_documentation_says() {
    for (range, target) in [
        ("Sheet1", "Sheet1!B7"),
        ("B4", "Sheet1!B7"),
        ("C5:D5", "Sheet1!B7"),
        ("B2:D4", "Sheet1!B7"),
        ("A3:G10", "Sheet1!B7"),
        ("A1", "Sheet1!A3"),
        ("E4", "Sheet1!E4"),
        ("A4", "Sheet1!A4"),
    ] {
        let mut bench = bench();
        let one = Value::from(1_i64);
        write(&mut bench, "A1:C2", rows([vec![one.clone(); 3], vec![one.clone(); 3]]), "raw").expect("written");
        write(&mut bench, "B4:D6", rows([vec![one.clone(); 3], vec![one.clone(); 3], vec![one.clone(); 3]]), "raw")
            .expect("written");
        assert_eq!(append(&mut bench, range, rows([row![9_i64]])).as_deref(), Ok(target), "{range}");
    }
}

#[test]
fn appending_over_filled_cells_is_refused() {
    let mut bench = bench();
    write(&mut bench, "A1", rows([row!["a"], row![""], row!["b"]]), "raw").expect("written");
    let before = bench.service.digest();
    assert_eq!(code(append(&mut bench, "A1", rows([row!["x"], row!["y"]]))), "sheets/append-would-overwrite");
    assert_eq!(bench.service.digest(), before);
}

#[test]
fn clearing_keeps_formats_and_forgets_the_rest() {
    let mut bench = bench();
    write(&mut bench, "A1", rows([row!["5%", "x"]]), "user").expect("written");
    bench.call("sheets.clear", map! { "book" => "Ledger", "range" => "Sheet1!A1:B1" }).expect("cleared");
    assert_eq!(read(&mut bench, "Sheet1", "formatted"), "[]");
    write(&mut bench, "A1", rows([row![0.5, 0.5]]), "raw").expect("written");
    assert_eq!(read(&mut bench, "Sheet1", "formatted"), r#"[["50%","0.5"]]"#);
}

#[test]
fn reading_one_cell_notes_that_cell_and_no_membership() {
    let mut bench = bench();
    write(&mut bench, "C4", rows([row!["x"]]), "raw").expect("written");
    read(&mut bench, "Sheet1!C4", "values");
    assert_eq!(bench.read_keys(), ["sheets:Ledger", "sheets:Ledger/Sheet1", "sheets:Ledger/Sheet1!C4"]);
    let reads = &bench.accesses.reads;
    let written = reads.iter().find(|read| read.key.as_str().ends_with("!C4")).expect("the cell").written;
    assert_eq!(written.get(), 2, "the write was the second call");
    read(&mut bench, "Sheet1!D4", "values");
    assert!(bench.read_keys().contains(&"sheets:Ledger/Sheet1!D4"), "absence is a fact too");
}

#[test]
fn reading_a_box_notes_the_membership_and_each_cell_shown() {
    let mut bench = bench();
    write(&mut bench, "A1", rows([row!["a", "b"], row!["c", "d"]]), "raw").expect("written");
    read(&mut bench, "Sheet1!A1:A9", "values");
    assert_eq!(
        bench.read_keys(),
        [
            "sheets:Ledger",
            "sheets:Ledger/Sheet1",
            "sheets:Ledger/Sheet1!",
            "sheets:Ledger/Sheet1!A1",
            "sheets:Ledger/Sheet1!A2"
        ]
    );
}

#[test]
fn searching_notes_a_scan_and_the_cells_that_matched() {
    let mut bench = bench();
    write(&mut bench, "A1", rows([row!["Alpha", "beta"], row!["ALPHABET", "gamma"]]), "raw").expect("written");
    let answer = bench.call("sheets.find", map! { "book" => "Ledger", "text" => "alpha" }).expect("found");
    assert_eq!(
        answer.to_string(),
        r#"{"matches":[{"ref":"Sheet1!A1","text":"Alpha"},{"ref":"Sheet1!A2","text":"ALPHABET"}],"more":false}"#
    );
    for key in ["sheets:Ledger/Sheet1!*", "sheets:Ledger/Sheet1!", "sheets:Ledger/Sheet1!A1", "sheets:Ledger/Sheet1!A2"]
    {
        assert!(bench.read_keys().contains(&key), "{key}");
    }
    assert!(!bench.read_keys().contains(&"sheets:Ledger/Sheet1!B1"));
    let find = |bench: &mut Bench<SheetsState>, extra: (&'static str, bool)| {
        let arguments = map! { "book" => "Ledger", "text" => "alpha", extra.0 => extra.1 };
        bench.call("sheets.find", arguments).expect("found").get("matches").and_then(Value::as_list).map(<[_]>::len)
    };
    assert_eq!(find(&mut bench, ("whole", true)), Some(1));
    assert_eq!(find(&mut bench, ("case", true)), Some(0));
}

#[test]
fn a_write_names_the_cells_that_it_wrote() {
    let mut bench = bench();
    write(&mut bench, "A1", rows([row!["a", "b"]]), "raw").expect("written");
    assert_eq!(
        bench.written_keys(),
        [
            "sheets:Ledger/Sheet1!",
            "sheets:Ledger/Sheet1!",
            "sheets:Ledger/Sheet1!*",
            "sheets:Ledger/Sheet1!*",
            "sheets:Ledger/Sheet1!A1",
            "sheets:Ledger/Sheet1!B1"
        ]
    );
    write(&mut bench, "A1", rows([row!["c"]]), "raw").expect("written");
    assert_eq!(bench.written_keys(), ["sheets:Ledger/Sheet1!*", "sheets:Ledger/Sheet1!A1"], "no new member");
    assert!(!bench.read_keys().contains(&"sheets:Ledger/Sheet1!A1"), "overwriting does not read what was there");
}

#[test]
fn names_that_look_like_keys_do_not_run_into_each_other() {
    let mut bench = Bench::new(SheetsState::new());
    for book in ["a", "a/b", "a%2Fb"] {
        bench.call("sheets.create", map! { "name" => book, "worksheet" => "c!d" }).expect("created");
    }
    let keys: Vec<String> =
        bench.service.books.peek_all().map(|(name, _)| bench.service.books.key_of(name).to_string()).collect();
    assert_eq!(keys, ["sheets:a", "sheets:a%252Fb", "sheets:a%2Fb"]);
    bench
        .call("sheets.write", map! { "book" => "a/b", "range" => "'c!d'!A1", "rows" => rows([row![1_i64]]) })
        .expect("written");
    assert!(bench.written_keys().contains(&"sheets:a%2Fb/c%21d!A1"));
}

#[test]
fn a_workbook_is_found_by_its_id_too() {
    let mut bench = bench();
    let books = bench.call("sheets.books", map! {}).expect("listed");
    let id = books.as_list().expect("a list")[0].get("id").and_then(Value::as_text).expect("an id").to_owned();
    let answer = bench.call("sheets.worksheets", map! { "book" => id }).expect("found");
    assert_eq!(answer.to_string(), r#"[{"columns":0,"rows":0,"worksheet":"Sheet1"}]"#);
}

#[test]
fn what_is_not_there_is_refused_with_a_code_of_its_own() {
    let mut bench = bench();
    let mut read = |book: &str, range: &str| code(bench.call("sheets.read", map! { "book" => book, "range" => range }));
    assert_eq!(read("Nothing", "A1"), "sheets/unknown-book");
    assert_eq!(read("Ledger", "Sheet9!A1"), "sheets/unknown-worksheet");
    assert_eq!(read("Ledger", "Sheet1!A1:"), "sheets/bad-range");
    assert_eq!(read("Ledger", ""), "sheets/bad-range");
    assert_eq!(read("Ledger", "no such thing"), "sheets/bad-range");
    assert_eq!(read("Ledger", "Sheet1!A1048577"), "sheets/outside-grid");
    assert_eq!(read("Ledger", "Sheet1!XFE1:XFE2"), "sheets/outside-grid");
    assert!(bench.read_keys().contains(&"sheets:Ledger/Sheet1"));
}

#[test]
fn capital_letters_make_no_difference_in_a_worksheet_s_name() {
    let mut bench = bench();
    write(&mut bench, "sheet1!b2", rows([row!["x"]]), "raw").expect("written");
    assert_eq!(read(&mut bench, "SHEET1!$B$2", "values"), r#"[["x"]]"#);
    assert_eq!(
        code(bench.call("sheets.add_worksheet", map! { "book" => "Ledger", "name" => "SHEET1" })),
        "sheets/worksheet-exists"
    );
}

#[test]
fn worksheets_are_added_renamed_and_deleted() {
    let mut bench = bench();
    write(&mut bench, "A1", rows([row!["x"]]), "raw").expect("written");
    bench.call("sheets.add_worksheet", map! { "book" => "Ledger", "name" => "Two words" }).expect("added");
    bench
        .call("sheets.rename_worksheet", map! { "book" => "Ledger", "worksheet" => "Sheet1", "name" => "Data" })
        .expect("renamed");
    assert!(
        bench.written_keys().contains(&"sheets:Ledger/Sheet1!A1"),
        "the old key is gone, and that is a change of it"
    );
    assert!(bench.written_keys().contains(&"sheets:Ledger/Data!A1"));
    assert_eq!(read(&mut bench, "A1", "values"), r#"[["x"]]"#, "it stays the first one");
    bench.call("sheets.delete_worksheet", map! { "book" => "Ledger", "worksheet" => "Data" }).expect("deleted");
    let names = bench.ask("worksheets", map! { "book" => "Ledger" }).expect("answered").to_string();
    assert_eq!(names, r#"[{"columns":0,"rows":0,"worksheet":"Two words"}]"#);
    let last = bench.call("sheets.delete_worksheet", map! { "book" => "Ledger", "worksheet" => "Two words" });
    assert_eq!(code(last), "sheets/last-worksheet");
}

#[test]
fn names_have_limits() {
    let mut bench = Bench::new(SheetsState::new());
    let mut create = |name: String| bench.call("sheets.create", map! { "name" => name });
    assert!(create("n".repeat(BOOK_NAME_BYTES_MAX - 1)).is_ok());
    assert!(create("n".repeat(BOOK_NAME_BYTES_MAX)).is_ok());
    assert_eq!(code(create("n".repeat(BOOK_NAME_BYTES_MAX + 1))), "sheets/bad-name");
    assert_eq!(code(create("two\nlines".to_owned())), "sheets/bad-name");
    assert_eq!(code(create("n".repeat(BOOK_NAME_BYTES_MAX))), "sheets/book-exists");
    let mut add = |name: String| {
        bench.call("sheets.add_worksheet", map! { "book" => "n".repeat(BOOK_NAME_BYTES_MAX), "name" => name })
    };
    assert!(add("w".repeat(WORKSHEET_NAME_BYTES_MAX - 1)).is_ok());
    assert!(add("w".repeat(WORKSHEET_NAME_BYTES_MAX)).is_ok());
    assert_eq!(code(add("w".repeat(WORKSHEET_NAME_BYTES_MAX + 1))), "sheets/bad-name");
    assert_eq!(code(add("a:b".to_owned())), "sheets/bad-name");
}

#[test]
fn workbooks_and_worksheets_have_limits() {
    let mut bench = Bench::new(SheetsState::new());
    for number in 0..BOOKS_MAX {
        bench.call("sheets.create", map! { "name" => format!("book {number}") }).expect("created");
    }
    assert_eq!(code(bench.call("sheets.create", map! { "name" => "one more" })), "sheets/too-many-books");
    let add = |bench: &mut Bench<SheetsState>, number: usize| {
        bench.call("sheets.add_worksheet", map! { "book" => "book 0", "name" => format!("tab {number}") })
    };
    for number in 1..WORKSHEETS_MAX {
        add(&mut bench, number).expect("added");
    }
    assert_eq!(code(add(&mut bench, WORKSHEETS_MAX)), "sheets/too-many-worksheets");
}

#[test]
fn cells_and_calls_have_limits() {
    let mut bench = bench();
    let wide = |cells: usize| rows([vec![Value::from(1_i64); cells]]);
    write(&mut bench, "A1", wide(WRITE_CELLS_MAX - 1), "raw").expect("below");
    write(&mut bench, "A1", wide(WRITE_CELLS_MAX), "raw").expect("at");
    assert_eq!(code(write(&mut bench, "A1", wide(WRITE_CELLS_MAX + 1), "raw")), "sheets/too-many-cells");
    let long = |bytes: usize| rows([row!["x".repeat(bytes)]]);
    write(&mut bench, "A1", long(CELL_TEXT_BYTES_MAX - 1), "raw").expect("below");
    write(&mut bench, "A1", long(CELL_TEXT_BYTES_MAX), "raw").expect("at");
    assert_eq!(code(write(&mut bench, "A1", long(CELL_TEXT_BYTES_MAX + 1), "raw")), "sheets/text-too-long");
    assert_eq!(code(write(&mut bench, "A1", rows([vec![]]), "raw")), "sheets/no-rows");
    assert_eq!(code(write(&mut bench, "A1", rows([row![map! {}]]), "raw")), "sheets/bad-value");
}

#[test]
fn readings_have_a_limit_of_rows() {
    let mut bench = bench();
    let last = |row: u32| format!("A{row}");
    write(&mut bench, &last(READ_ROWS_MAX - 1), rows([row!["x"], row!["y"]]), "raw").expect("written");
    let mut read = |range: &str| {
        let answer = bench.call("sheets.read", map! { "book" => "Ledger", "range" => range })?;
        Ok::<_, Rejection>(answer.get("rows").and_then(Value::as_list).map(<[_]>::len))
    };
    assert_eq!(read("A:A"), Ok(Some(READ_ROWS_MAX as usize)));
    assert_eq!(read(&format!("A1:A{}", READ_ROWS_MAX - 1)), Ok(Some(READ_ROWS_MAX as usize - 1)));
    write(&mut bench, &last(READ_ROWS_MAX + 1), rows([row!["z"]]), "raw").expect("written");
    let refusal = bench.call("sheets.read", map! { "book" => "Ledger", "range" => "A:A" }).expect_err("too many");
    assert_eq!(refusal.code, "sheets/read-too-large");
    assert!(refusal.message.contains("Sheet1!A1:A1000"), "{}", refusal.message);
}

#[test]
fn readings_have_a_limit_of_cells() {
    let mut bench = bench();
    let (width, height) = (200, READ_CELLS_MAX / 200);
    let edge = |column: u32, row: usize| CellRef::new(row as u32, column).expect("inside the grid").to_string();
    for row in (0..height).step_by(100) {
        let column: Value = (row..row + 100).map(|_| Value::List(row!["x"])).collect();
        write(&mut bench, &edge(width - 1, row), column, "raw").expect("written");
    }
    bench.call("sheets.clear", map! { "book" => "Ledger", "range" => edge(width - 1, height - 1) }).expect("cleared");
    let read = |bench: &mut Bench<SheetsState>| {
        let answer = bench.call("sheets.read", map! { "book" => "Ledger", "range" => "Sheet1" })?;
        Ok::<_, Rejection>(answer.get("rows").and_then(Value::as_list).map(<[_]>::len))
    };
    write(&mut bench, &edge(width - 2, height - 1), rows([row!["x"]]), "raw").expect("written");
    assert_eq!(read(&mut bench), Ok(Some(height)), "one cell below");
    write(&mut bench, &edge(width - 1, height - 1), rows([row!["x"]]), "raw").expect("written");
    assert_eq!(read(&mut bench), Ok(Some(height)), "at the limit");
    write(&mut bench, &edge(0, height), rows([row!["x"]]), "raw").expect("written");
    assert_eq!(code(read(&mut bench)), "sheets/read-too-large", "one cell above");
}

#[test]
fn searches_have_a_limit_of_matches() {
    let mut bench = bench();
    let find = |bench: &mut Bench<SheetsState>| {
        let answer = bench.call("sheets.find", map! { "book" => "Ledger", "text" => "x" }).expect("found");
        let matches = answer.get("matches").and_then(Value::as_list).map(<[_]>::len);
        (matches, answer.get("more").and_then(Value::as_bool))
    };
    write(&mut bench, "A1", rows([vec![Value::from("x"); FIND_MATCHES_MAX]]), "raw").expect("written");
    assert_eq!(find(&mut bench), (Some(FIND_MATCHES_MAX), Some(false)));
    write(&mut bench, "A2", rows([row!["x"]]), "raw").expect("written");
    assert_eq!(find(&mut bench), (Some(FIND_MATCHES_MAX), Some(true)));
}

#[test]
fn questions_answer_absence_with_null_and_nonsense_with_an_error() {
    let mut bench = bench();
    write(&mut bench, "C4", rows([row!["12.50", "5%"]]), "user").expect("written");
    let mut ask = |verb: &str, arguments: Value| bench.ask(verb, arguments).map(|answer| answer.to_string());
    let at = |book: &str, text: &str| map! { "book" => book, "ref" => text };
    assert_eq!(ask("value", at("Ledger", "Sheet1!C4")).as_deref(), Ok("12.5"));
    assert_eq!(ask("text", at("Ledger", "Sheet1!D4")).as_deref(), Ok("\"5%\""));
    assert_eq!(ask("formula", at("Ledger", "Sheet1!C4")).as_deref(), Ok("null"));
    assert_eq!(ask("value", at("Ledger", "Sheet1!Z9")).as_deref(), Ok("null"));
    assert_eq!(ask("value", at("Ledger", "Gone!A1")).as_deref(), Ok("null"));
    assert_eq!(ask("value", at("Gone", "Sheet1!A1")).as_deref(), Ok("null"));
    assert_eq!(ask("rows", map! { "book" => "Ledger", "range" => "C4:E5" }).as_deref(), Ok(r#"[["12.5","5%"]]"#));
    assert_eq!(ask("books", map! {}).map(|books| books.contains("Ledger")), Ok(true));
    assert_eq!(
        ask("find", map! { "book" => "Ledger", "text" => "5%" }).as_deref(),
        Ok(r#"[{"ref":"Sheet1!D4","text":"5%"}]"#)
    );
    assert_eq!(code(ask("value", at("Ledger", "Sheet1!A1:B2"))), "query/bad-arguments");
    assert_eq!(code(ask("value", at("Ledger", "!A1"))), "query/bad-arguments");
    assert_eq!(code(ask("value", map! { "book" => "Ledger" })), "query/bad-arguments");
    assert_eq!(code(ask("colour", map! {})), "query/unknown");
}

#[test]
fn a_fork_does_not_see_what_the_other_writes() {
    let mut bench = bench();
    write(&mut bench, "A1", rows([row!["x"]]), "raw").expect("written");
    let fork = bench.service.clone();
    write(&mut bench, "A1", rows([row!["y"]]), "raw").expect("written");
    assert_ne!(fork.digest(), bench.service.digest());
    let mut differences = Vec::new();
    fork.differences(&bench.service, &mut differences);
    let shown: Vec<String> = differences.iter().map(|each| each.key.to_string()).collect();
    assert_eq!(shown, ["sheets:Ledger/Sheet1!A1"]);
    write(&mut bench, "A1", rows([row!["x"]]), "raw").expect("written");
    assert_eq!(fork.digest(), bench.service.digest(), "the same content is the same world");
}

/// A workbook as a plain map, with the semantics that the documentation states.
#[derive(Default)]
struct Model(std::collections::BTreeMap<(u32, u32), String>);

impl Model {
    fn rows(&self, first: (u32, u32), last: (u32, u32)) -> Vec<Vec<String>> {
        let mut rows: Vec<Vec<String>> = (first.0..=last.0)
            .map(|row| {
                let cell = |column| self.0.get(&(row, column)).cloned().unwrap_or_default();
                let mut cells: Vec<String> = (first.1..=last.1).map(cell).collect();
                while cells.last().is_some_and(String::is_empty) {
                    cells.pop();
                }
                cells
            })
            .collect();
        while rows.last().is_some_and(Vec::is_empty) {
            rows.pop();
        }
        rows
    }
}

#[derive(Clone, Debug)]
enum Step {
    Write(u32, u32, Vec<Vec<Option<String>>>),
    Clear(u32, u32, u32, u32),
    Append(Vec<String>),
}

fn step() -> impl Strategy<Value = Step> {
    let cell = prop_oneof![Just(None), Just(Some(String::new())), "[a-c]{1,3}".prop_map(Some)];
    let table = prop::collection::vec(prop::collection::vec(cell, 1..4), 1..4);
    prop_oneof![
        (0_u32..8, 0_u32..5, table).prop_map(|(row, column, rows)| Step::Write(row, column, rows)),
        (0_u32..8, 0_u32..5, 0_u32..4, 0_u32..4)
            .prop_map(|(row, column, down, across)| Step::Clear(row, column, down, across)),
        prop::collection::vec("[a-c]{1,3}", 1..4).prop_map(Step::Append),
    ]
}

proptest! {
    #[test]
    fn a_worksheet_behaves_like_a_plain_map(steps in prop::collection::vec(step(), 1..20), corner in (0_u32..8, 0_u32..5, 0_u32..8, 0_u32..5)) {
        let mut bench = bench();
        let mut model = Model::default();
        for step in steps {
            match step {
                Step::Write(row, column, cells) => {
                    let at = CellRef::new(row, column).expect("inside the grid");
                    let values: Value = cells.iter().map(|row| row.iter().map(|cell| Value::from(cell.clone())).collect::<Value>()).collect();
                    write(&mut bench, &at.to_string(), values, "raw").expect("written");
                    for (down, row_cells) in (row..).zip(&cells) {
                        for (across, cell) in (column..).zip(row_cells) {
                            match cell.as_deref() {
                                None => {}
                                Some("") => drop(model.0.remove(&(down, across))),
                                Some(text) => drop(model.0.insert((down, across), text.to_owned())),
                            }
                        }
                    }
                }
                Step::Clear(row, column, down, across) => {
                    let first = CellRef::new(row, column).expect("inside the grid");
                    let last = CellRef::new(row + down, column + across).expect("inside the grid");
                    bench.call("sheets.clear", map! { "book" => "Ledger", "range" => Area::spanning(first, last).to_string() }).expect("cleared");
                    model.0.retain(|(r, c), _| !(row..=row + down).contains(r) || !(column..=column + across).contains(c));
                }
                Step::Append(cells) => {
                    let values: Value = [cells.iter().map(|cell| Value::from(cell.clone())).collect::<Value>()].into_iter().collect();
                    append(&mut bench, "Sheet1", values).expect("appended");
                    let bottom = model.0.keys().map(|(row, _)| *row).max();
                    let (row, left) = bottom.map_or((0, 0), |bottom| {
                        let filled = |row: u32| model.0.keys().any(|(r, _)| *r == row);
                        let top = (0..=bottom).rev().take_while(|row| filled(*row)).last().unwrap_or(bottom);
                        let left = model.0.keys().filter(|(r, _)| *r >= top).map(|(_, c)| *c).min().unwrap_or(0);
                        (bottom + 1, left)
                    });
                    for (column, cell) in (left..).zip(cells) {
                        model.0.insert((row, column), cell);
                    }
                }
            }
        }
        let (first, last) = ((corner.0, corner.1), (corner.0 + corner.2, corner.1 + corner.3));
        let area = Area::spanning(CellRef::new(first.0, first.1).expect("inside"), CellRef::new(last.0, last.1).expect("inside"));
        let expected: Value = model.rows(first, last).into_iter().map(|row| row.into_iter().collect::<Value>()).collect();
        prop_assert_eq!(read(&mut bench, &area.to_string(), "formatted"), expected.to_string());
        let everything: Value = model.rows((0, 0), (40, 20)).into_iter().map(|row| row.into_iter().collect::<Value>()).collect();
        prop_assert_eq!(read(&mut bench, "Sheet1", "formatted"), everything.to_string());
        check_derived(&bench.service);
    }
}
