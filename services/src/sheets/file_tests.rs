//! Tests of files on the bench: what comes in, what goes out, and what is refused.

use dayshift_engine::{Frame, Looking, Rejection, Value, map};
use proptest::prelude::*;
use rust_xlsxwriter::{Format, Formula, Workbook};

use super::tests::{bench, read, row, rows, write};
use super::*;
use crate::testing::Bench;

fn import(bench: &mut Bench<SheetsState>, book: &str, format: &str, bytes: &[u8]) -> Result<Value, Rejection> {
    let blob = bench.blob(bytes);
    bench.call("sheets.import", map! { "book" => book, "format" => format, "blob" => blob })
}

fn export_csv(bench: &Bench<SheetsState>, worksheet: &str) -> String {
    let frame = Frame::new();
    let looking = Looking { time: bench.time, frame: &frame, blobs: &bench.blobs };
    String::from_utf8(bench.service.export_csv("Ledger", worksheet, &looking).expect("exported")).expect("text")
}

fn export_xlsx(bench: &Bench<SheetsState>, book: &str) -> Result<Vec<u8>, Rejection> {
    let frame = Frame::new();
    let looking = Looking { time: bench.time, frame: &frame, blobs: &bench.blobs };
    bench.service.export_xlsx(book, &looking)
}

fn shown(bench: &mut Bench<SheetsState>, book: &str, range: &str, shown: &str) -> String {
    bench.ask("rows", map! { "book" => book, "range" => range, "as" => shown }).expect("answered").to_string()
}

/// Two worksheets with numbers, texts, a truth value, a date, a formula with its value, formats, merged cells and a name.
fn workbook() -> Vec<u8> {
    let mut file = Workbook::new();
    let (money, day) = (Format::new().set_num_format("#,##0.00"), Format::new().set_num_format("yyyy-mm-dd"));
    let data = file.add_worksheet();
    data.set_name("Data").expect("a name");
    data.write_string(0, 0, "Item").expect("written");
    data.write_string(0, 1, "007").expect("written");
    data.write_number_with_format(1, 1, 1234.5, &money).expect("written");
    data.write_number_with_format(2, 1, 46097, &day).expect("written");
    data.write_boolean(3, 1, true).expect("written");
    data.write_formula(4, 1, Formula::new("=B2*2").set_result("2469")).expect("written");
    data.merge_range(6, 0, 7, 2, "wide", &Format::new()).expect("merged");
    let sum = file.add_worksheet();
    sum.set_name("Sum up").expect("a name");
    sum.write_formula(0, 0, Formula::new("=SUM(Data!B2:B2)+Rate").set_result("1234.75")).expect("written");
    sum.write_number(1, 0, 0.25).expect("written");
    file.define_name("Rate", "='Sum up'!$A$2").expect("named");
    file.save_to_buffer().expect("saved")
}

#[test]
fn a_workbook_file_comes_in_with_values_formulas_formats_and_names() {
    let mut bench = Bench::new(SheetsState::new());
    let answer = import(&mut bench, "Ledger", "xlsx", &workbook()).expect("imported");
    assert_eq!(answer.get("worksheets").map(ToString::to_string).as_deref(), Some(r#"["Data","Sum up"]"#));
    assert_eq!(
        read(&mut bench, "Data", "formatted"),
        r#"[["Item","007"],["","1,234.50"],["","2026-03-16"],["","TRUE"],["","2469"],[],["wide"]]"#
    );
    assert_eq!(read(&mut bench, "Data!B2:B5", "values"), "[[1234.5],[46097],[true],[2469]]");
    assert_eq!(read(&mut bench, "Data!B5", "formulas"), r#"[["=B2*2"]]"#);
    assert_eq!(read(&mut bench, "'Sum up'!A1", "values"), "[[1234.75]]");
    assert_eq!(read(&mut bench, "rate", "values"), "[[0.25]]");
    assert!(bench.service.dump().to_string().contains("'Sum up'!A2"));
}

#[test]
fn imported_formulas_are_computed_when_their_precedents_change() {
    let mut bench = Bench::new(SheetsState::new());
    import(&mut bench, "Ledger", "xlsx", &workbook()).expect("imported");
    write(&mut bench, "Data!B2", rows([row![10_i64]]), "raw").expect("written");
    assert_eq!(read(&mut bench, "Data!B5", "values"), "[[20]]");
    assert_eq!(read(&mut bench, "'Sum up'!A1", "values"), "[[10.25]]");
    write(&mut bench, "Rate", rows([row![1_i64]]), "raw").expect("written");
    assert_eq!(read(&mut bench, "'Sum up'!A1", "values"), "[[11]]");
}

#[test]
fn an_unchanged_file_goes_out_as_it_came_in() {
    let mut bench = Bench::new(SheetsState::new());
    let bytes = workbook();
    import(&mut bench, "Ledger", "xlsx", &bytes).expect("imported");
    assert!(export_xlsx(&bench, "Ledger") == Ok(bytes.clone()));
    write(&mut bench, "Data!A2", rows([row!["changed"]]), "raw").expect("written");
    assert!(export_xlsx(&bench, "Ledger") != Ok(bytes));
}

#[test]
fn a_changed_workbook_survives_going_out_and_coming_in() {
    let mut bench = Bench::new(SheetsState::new());
    import(&mut bench, "Ledger", "xlsx", &workbook()).expect("imported");
    write(&mut bench, "Data!D1", rows([row!["5%", "=1/0", "#N/A", "x"]]), "user").expect("written");
    let bytes = export_xlsx(&bench, "Ledger").expect("exported");
    import(&mut bench, "Again", "xlsx", &bytes).expect("imported");
    for range in ["Data", "'Sum up'"] {
        for way in ["formatted", "values"] {
            assert_eq!(
                shown(&mut bench, "Ledger", range, way),
                shown(&mut bench, "Again", range, way),
                "{range} {way}"
            );
        }
    }
    assert_eq!(shown(&mut bench, "Again", "Data!E1", "formulas"), r#"[["=1/0"]]"#);
    let merged = |book: &str| {
        bench.service.contents[book].worksheets.peek_all().map(|(_, entry)| entry.merged.clone()).collect::<Vec<_>>()
    };
    assert_eq!(merged("Ledger"), merged("Again"));
    assert_eq!(merged("Again")[0].len(), 1);
}

#[test]
fn what_a_formula_came_to_keeps_its_kind_in_a_file() {
    let mut bench = bench();
    let cells = row![
        "=TEXT(5,\"0\")",
        "=\"TRUE\"",
        "=\"#N/A\"",
        "=1/0",
        "=E1",
        "=\"1e3\"&\"\"",
        "=A1=B1",
        "#N/A",
        "#SPILL!",
        "=\"_x0041_\"&\"\"",
        "_x0041_"
    ];
    write(&mut bench, "A1", rows([cells]), "user").expect("written");
    let values = r##"[["5","TRUE","#N/A","#DIV/0!","#CIRC!","1e3",false,"#N/A","#SPILL!","_x0041_","_x0041_"]]"##;
    assert_eq!(shown(&mut bench, "Ledger", "A1:K1", "values"), values);
    let bytes = export_xlsx(&bench, "Ledger").expect("exported");
    import(&mut bench, "Again", "xlsx", &bytes).expect("imported");
    let cells = |book: &str| -> Vec<CellValue> {
        bench.service.contents[book].cells["Sheet1"].peek_all().map(|(_, cell)| cell.value.clone()).collect()
    };
    assert_eq!(cells("Ledger"), cells("Again"));
    // An error that stands alone is no formula.
    assert_eq!(shown(&mut bench, "Again", "H1", "formulas"), r##"[["#N/A"]]"##);
    let xml = part(&bytes, "xl/worksheets/sheet1.xml").expect("a worksheet");
    assert!(xml.contains(r#"t="e"><v>#N/A</v>"#) && !xml.contains(['\u{fdd0}', '\u{fdd1}', '\u{fdd2}']), "{xml}");
}

#[test]
fn formats_that_a_file_names_by_number_are_known() {
    use super::import::currency_format;
    for id in 5..=8 {
        let code = currency_format(id).expect("a format");
        assert!(is_known_format(code), "{code}");
    }
    assert_eq!(currency_format(9), None);
}

/// Returns the text of one part of an XLSX file.
fn part(file: &[u8], name: &str) -> Option<String> {
    use std::io::Read as _;
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(file)).ok()?;
    let mut text = String::new();
    archive.by_name(name).ok()?.read_to_string(&mut text).ok()?;
    Some(text)
}

#[test]
fn the_same_workbook_gives_the_same_bytes() {
    let mut bench = bench();
    write(&mut bench, "A1", rows([row!["5%", "2026-03-16", "=A1*2"]]), "user").expect("written");
    let (one, other) = (export_xlsx(&bench, "Ledger"), export_xlsx(&bench, "Ledger"));
    assert!(one.is_ok() && one == other);
    bench.time = bench.time + dayshift_engine::SimDuration::from_seconds(3600);
    assert!(export_xlsx(&bench, "Ledger") != one, "the simulated time is in the file");
}

#[test]
fn a_csv_file_comes_in_as_typed_and_goes_out_as_shown() {
    let mut bench = Bench::new(SheetsState::new());
    let text = "\u{feff}name,amount,when\r\nMüller,\"1,234.50\",2026-03-16\r\n\r\n\"two\nlines\",5%,=B2*2\r\n";
    import(&mut bench, "Ledger", "csv", text.as_bytes()).expect("imported");
    assert_eq!(
        read(&mut bench, "Sheet1", "values"),
        r#"[["name","amount","when"],["Müller",1234.5,46097],[],["two\nlines",0.05,2469]]"#
    );
    assert_eq!(export_csv(&bench, ""), text, "nothing was changed");
    write(&mut bench, "A1", rows([row!["who"]]), "raw").expect("written");
    assert_eq!(
        export_csv(&bench, "sheet1"),
        "who,amount,when\r\nMüller,\"1,234.50\",2026-03-16\r\n,,\r\n\"two\nlines\",5%,2469\r\n"
    );
}

#[test]
fn a_csv_file_may_come_in_raw_with_semicolons_and_into_a_worksheet() {
    let mut bench = bench();
    let blob = bench.blob(b"007;=1+1\n8;\"a;b\"\n");
    let arguments =
        map! { "book" => "Ledger", "format" => "csv", "blob" => blob, "worksheet" => "sheet1", "mode" => "raw" };
    bench.call("sheets.import", arguments).expect("imported");
    assert_eq!(read(&mut bench, "Sheet1", "values"), r#"[["007","=1+1"],["8","a;b"]]"#);
}

#[test]
fn importing_again_replaces_the_worksheet() {
    let mut bench = Bench::new(SheetsState::new());
    import(&mut bench, "Ledger", "csv", b"a,b,c\nd,e,f\n").expect("imported");
    import(&mut bench, "Ledger", "csv", b"x\n").expect("imported");
    assert_eq!(read(&mut bench, "Sheet1", "values"), r#"[["x"]]"#);
    assert_eq!(export_csv(&bench, ""), "x\r\n");
}

#[test]
fn what_only_looks_like_a_formula_in_a_csv_file_stays_text() {
    let mut bench = Bench::new(SheetsState::new());
    import(&mut bench, "Ledger", "csv", b"=== totals ===,=SUM(\n").expect("imported");
    assert_eq!(read(&mut bench, "Sheet1", "values"), r#"[["=== totals ===","=SUM("]]"#);
}

#[test]
fn what_no_file_of_formulas_can_hold_is_text_and_comes_back() {
    let mut bench = Bench::new(SheetsState::new());
    import(&mut bench, "Ledger", "csv", b"=4\x01+5,=4+5\n").expect("imported");
    let before = shown(&mut bench, "Ledger", "Sheet1", "formulas");
    let written = export_xlsx(&bench, "Ledger").expect("exported");
    import(&mut bench, "Again", "xlsx", &written).expect("imported");
    assert_eq!(shown(&mut bench, "Again", "Sheet1", "formulas"), before);
    assert_eq!(
        shown(&mut bench, "Again", "Sheet1", "values"),
        Value::List(vec![Value::List(vec!["=4\u{1}+5".into(), 9_i64.into()])]).to_string()
    );
}

#[test]
fn an_apostrophe_alone_is_an_empty_cell() {
    let mut bench = Bench::new(SheetsState::new());
    import(&mut bench, "Ledger", "csv", b"1,',2\n").expect("imported");
    assert_eq!(shown(&mut bench, "Ledger", "Sheet1", "values"), "[[1,null,2]]");
}

#[test]
fn broken_files_are_refused_and_leave_nothing_behind() {
    let mut bench = Bench::new(SheetsState::new());
    let before = bench.service.digest();
    let mut refused = |format: &str, bytes: &[u8]| {
        import(&mut bench, "Ledger", format, bytes).expect_err("refused").code.into_owned()
    };
    assert_eq!(refused("xlsx", b"not a zip file"), "sheets/bad-xlsx");
    assert_eq!(refused("xlsx", b""), "sheets/bad-xlsx");
    let whole = workbook();
    assert_eq!(refused("xlsx", &whole[..whole.len() / 2]), "sheets/bad-xlsx");
    assert_eq!(refused("csv", b"caf\xe9,1\n"), "sheets/bad-csv");
    let long = "x".repeat(CELL_TEXT_BYTES_MAX + 1);
    assert_eq!(refused("csv", long.as_bytes()), "sheets/bad-csv");
    let unknown = bench.call("sheets.import", map! { "book" => "Ledger", "format" => "csv", "blob" => "0".repeat(64) });
    assert_eq!(unknown.expect_err("refused").code, "sheets/unknown-blob");
    assert_eq!(bench.service.digest(), before);
}

#[test]
fn files_have_a_limit_of_cells() {
    let mut bench = Bench::new(SheetsState::new());
    let cells = |count: usize| {
        let mut text = "1,1,1,1\n".repeat(count / 4);
        text.push_str(&"1\n".repeat(count % 4));
        text
    };
    let mut take = |text: &str| {
        let answer =
            import(&mut bench, "Ledger", "csv", text.as_bytes()).map_err(|refusal| refusal.code.into_owned())?;
        Ok::<_, String>(answer.get("cells").and_then(Value::as_int).unwrap_or_default())
    };
    assert_eq!(take(&cells(IMPORT_CELLS_MAX - 1)), Ok(IMPORT_CELLS_MAX as i64 - 1));
    assert_eq!(take(&cells(IMPORT_CELLS_MAX)), Ok(IMPORT_CELLS_MAX as i64));
    assert_eq!(take(&cells(IMPORT_CELLS_MAX + 1)), Err("sheets/import-too-large".to_owned()));
}

#[test]
fn files_have_a_limit_of_bytes() {
    let mut bench = Bench::new(SheetsState::new());
    for (bytes, code) in [
        (IMPORT_BYTES_MAX - 1, "sheets/bad-xlsx"),
        (IMPORT_BYTES_MAX, "sheets/bad-xlsx"),
        (IMPORT_BYTES_MAX + 1, "sheets/import-too-large"),
    ] {
        let refusal = import(&mut bench, "Ledger", "xlsx", &vec![0; bytes]).expect_err("refused");
        assert_eq!(refusal.code, code, "{bytes}");
    }
}

#[test]
fn files_have_a_limit_of_text() {
    let mut bench = Bench::new(SheetsState::new());
    let mut take = |bytes: usize| {
        let mut file = Workbook::new();
        let sheet = file.add_worksheet();
        let long = "x".repeat(CELL_TEXT_BYTES_MAX);
        let full = (bytes / CELL_TEXT_BYTES_MAX) as u32;
        for row in 0..full {
            sheet.write_string(row, 0, long.as_str()).expect("written");
        }
        sheet.write_string(full, 0, "y".repeat(bytes % CELL_TEXT_BYTES_MAX)).expect("written");
        let bytes = file.save_to_buffer().expect("saved");
        import(&mut bench, "Ledger", "xlsx", &bytes).map(drop).map_err(|refusal| refusal.code.into_owned())
    };
    assert_eq!(take(IMPORT_TEXT_BYTES_MAX - 1), Ok(()));
    assert_eq!(take(IMPORT_TEXT_BYTES_MAX), Ok(()));
    assert_eq!(take(IMPORT_TEXT_BYTES_MAX + 1), Err("sheets/import-too-large".to_owned()));
}

#[test]
fn an_event_survives_its_stored_form() {
    let mut bench = Bench::new(SheetsState::new());
    let blob = bench.blob(&workbook());
    let call = dayshift_engine::ToolCall::new(
        "sheets.import",
        map! { "book" => "Ledger", "format" => "xlsx", "blob" => blob },
    );
    let frame = Frame::new();
    let context = dayshift_engine::Context {
        seq: dayshift_engine::Seq::new(1),
        time: bench.time,
        actor: &dayshift_engine::Actor::Scenario,
        turn: None,
        allowance: dayshift_engine::Allowance::default(),
        seed: dayshift_engine::Seed::new(7),
        frame: &frame,
        blobs: &bench.blobs,
    };
    let decision = bench.service.decide(&call, &bench.desk, &context).expect("decided");
    let bytes = rmp_serde::to_vec_named(&decision.events).expect("encoded");
    let events: Vec<SheetsEvent> = rmp_serde::from_slice(&bytes).expect("decoded");
    assert_eq!(events, decision.events);
    import(&mut bench, "Ledger", "xlsx", &workbook()).expect("imported");
}

#[test]
fn damaged_bytes_of_a_workbook_are_no_panic() {
    let whole = workbook();
    // Every single damaged byte of a small workbook: refused or read, never a panic.
    for at in (0..whole.len()).step_by(11) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x15;
        let mut bench = Bench::new(SheetsState::new());
        let _ = import(&mut bench, "C", "xlsx", &damaged);
    }
}

proptest! {
    #[test]
    fn no_file_panics(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0_usize..4_000, flip in any::<u8>()) {
        let mut bench = Bench::new(SheetsState::new());
        let _ = import(&mut bench, "A", "csv", &bytes);
        let _ = import(&mut bench, "B", "xlsx", &bytes);
        let mut damaged = workbook();
        let at = cut % damaged.len();
        damaged[at] ^= flip;
        let _ = import(&mut bench, "C", "xlsx", &damaged);
    }
}
