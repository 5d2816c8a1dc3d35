//! Workbooks of other programs: taken in as a scenario's are, read, changed through the tools, and written again. openpyxl reads what came of it. What "the
//! rest is unchanged" means for a workbook that was changed: names and order of worksheets, values, formulas, what formulas came to, number formats, merged
//! cells and named ranges. Fonts, colours, widths, comments, links, conditional formats, validation, tables and hidden worksheets are not kept then. A workbook
//! that was not changed keeps its bytes.

use std::path::Path;

use dayshift_engine::{Looking, Value, map};
use dayshift_tests::{Bench, Material, Specimen, faults};
use serde_json::json;

/// A text, as no formula of the material takes one in.
const WRITTEN: &str = "Dayshift was here";

#[test]
fn workbooks_of_other_programs_survive() {
    let material = Material::find();
    let mut specimens = material.committed("sheets", &[".xlsx"]);
    let committed = specimens.len();
    specimens.extend(material.distribution("pyexcel_xlsx", "tests/fixtures", &[".xlsx"]));
    eprintln!("{} workbooks, {committed} of them committed", specimens.len());
    assert!(committed >= 15 && (!material.is_complete() || specimens.len() >= committed + 8), "material is missing");
    let folder = tempfile::tempdir().expect("a folder");
    let cases: Vec<_> = specimens
        .iter()
        .enumerate()
        .map(|(number, specimen)| treat(specimen, &folder.path().join(number.to_string())))
        .collect();
    let answers = material.read_back("foreign_sheets.py", &cases);
    let faults = faults(&answers);
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    let unread: Vec<_> = answers.iter().filter(|answer| answer["understood"] != true).collect();
    assert!(unread.is_empty(), "openpyxl cannot read what it is compared with: {unread:?}");
}

/// Does to one workbook what an agent would, and returns what Python is to look at.
fn treat(specimen: &Specimen, folder: &Path) -> serde_json::Value {
    let Specimen { name, bytes } = specimen;
    let mut bench = Bench::new();
    let mut call = |tool: &str, arguments: Value| {
        bench.call(tool, arguments).unwrap_or_else(|refusal| panic!("{name}: {tool}: {refusal}"))
    };
    call("sheets.create", map! { "name" => "beside" });
    let blob = bench.blob(bytes);
    let mut call = |tool: &str, arguments: Value| {
        bench.call(tool, arguments).unwrap_or_else(|refusal| panic!("{name}: {tool}: {refusal}"))
    };
    call("sheets.import", map! { "book" => "Real", "format" => "xlsx", "blob" => blob });
    let sheets = call("sheets.worksheets", map! { "book" => "Real" });
    let sheets: Vec<String> = sheets.as_list().map_or_else(
        || panic!("{name}: no list of worksheets: {sheets}"),
        |sheets| sheets.iter().filter_map(|sheet| sheet.get("worksheet")?.as_text().map(str::to_owned)).collect(),
    );
    let mut volatile = Vec::new();
    for sheet in &sheets {
        for shown in ["formatted", "values", "formulas"] {
            let arguments = map! { "book" => "Real", "range" => quoted(sheet), "as" => shown };
            // A sparse worksheet is too large to be read whole; its corners are not.
            if bench.call("sheets.read", arguments).is_err() {
                let arguments = map! { "book" => "Real", "range" => format!("{}!A1:C5", quoted(sheet)), "as" => shown };
                bench.call("sheets.read", arguments).unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
            }
        }
        for function in ["TODAY(", "NOW(", "RAND(", "RANDBETWEEN("] {
            let arguments =
                map! { "book" => "Real", "text" => function, "worksheet" => sheet.as_str(), "formulas" => true };
            let found = bench.call("sheets.find", arguments).unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
            let cells = found.get("matches").and_then(Value::as_list).unwrap_or_default().iter();
            volatile.extend(cells.filter_map(|cell| Some((sheet.clone(), cell.get("cell")?.as_text()?.to_owned()))));
        }
    }
    assert!(bench.workbook("Real").as_ref() == Ok(bytes), "{name}: an untouched workbook comes out otherwise");
    let write = map! {
        "book" => "Real", "range" => format!("{}!ZZ999", quoted(&sheets[0])),
        "rows" => Value::List(vec![Value::List(vec![WRITTEN.into()])]),
    };
    bench.call("sheets.write", write).unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
    let after = bench.workbook("Real").unwrap_or_else(|refusal| panic!("{name}: {refusal}"));

    std::fs::create_dir_all(folder).expect("a folder");
    let keep = |file: &str, bytes: &[u8]| {
        let path = folder.join(file);
        std::fs::write(&path, bytes).expect("a file can be written");
        path.to_string_lossy().into_owned()
    };
    json!({
        "name": name, "before": keep("before.xlsx", bytes), "after": keep("after.xlsx", &after),
        "worksheet": sheets[0], "cell": "ZZ999", "written": WRITTEN, "recomputed": volatile,
    })
}

/// Tables as LibreOffice writes them, with each of its separators: the cells are the same, and so are the bytes as long as nothing is changed.
#[test]
fn tables_of_other_programs_are_the_same_cells() {
    let material = Material::find();
    let specimens = material.committed("sheets", &[".csv"]);
    assert_eq!(specimens.len(), 3, "the material is there");
    for Specimen { name, bytes } in &specimens {
        let mut bench = Bench::new();
        let blob = bench.blob(bytes);
        let import = map! { "book" => "Real", "format" => "csv", "blob" => blob };
        bench.call("sheets.import", import).unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
        let export = |bench: &Bench| {
            let csv = |looking: &Looking<'_>| bench.office().sheets().export_csv("Real", "", looking);
            bench.look(csv).unwrap_or_else(|refusal| panic!("{name}: {refusal}"))
        };
        assert!(export(&bench) == *bytes, "{name}: an untouched table comes out otherwise");
        let read = |bench: &mut Bench, range: &str| {
            let arguments = map! { "book" => "Real", "range" => range, "as" => "values" };
            bench
                .call("sheets.read", arguments)
                .expect("it is there")
                .get("rows")
                .map(ToString::to_string)
                .unwrap_or_default()
        };
        assert_eq!(read(&mut bench, "A1:D1"), r#"[["Item","Amount","Due","Share"]]"#, "{name}");
        assert_eq!(read(&mut bench, "A4:A5"), r#"[["Beams & boards"],["Grüße"]]"#, "{name}");
        let write =
            map! { "book" => "Real", "range" => "B3", "rows" => Value::List(vec![Value::List(vec![7_i64.into()])]) };
        bench.call("sheets.write", write).expect("written");
        let after = export(&bench);
        let blob = bench.blob(&after);
        bench.call("sheets.import", map! { "book" => "Again", "format" => "csv", "blob" => blob }).expect("imported");
        let rows = |bench: &mut Bench, book: &str| {
            let arguments = map! { "book" => book, "range" => "A1:D6", "as" => "formatted" };
            bench.call("sheets.read", arguments).expect("it is there").get("rows").map(ToString::to_string)
        };
        assert_eq!(rows(&mut bench, "Real"), rows(&mut bench, "Again"), "{name}");
    }
}

#[test]
fn damaged_workbooks_are_refused_in_words_or_read() {
    let specimens = Material::find().committed("sheets", &[".xlsx", ".csv"]);
    let mut refused = 0;
    for specimen in &specimens {
        let format = if specimen.name.ends_with(".csv") { "csv" } else { "xlsx" };
        for bytes in specimen.damaged() {
            let mut bench = Bench::new();
            let blob = bench.blob(&bytes);
            match bench.call("sheets.import", map! { "book" => "Real", "format" => format, "blob" => blob }) {
                Ok(_) => drop(bench.call("sheets.worksheets", map! { "book" => "Real" }).expect("it is there")),
                Err(refusal) => {
                    refused += 1;
                    let codes = ["sheets/bad-xlsx", "sheets/bad-csv", "sheets/bad-name"];
                    assert!(codes.contains(&&*refusal.code), "{}: {refusal}", specimen.name);
                }
            }
        }
    }
    assert!(refused > specimens.len() * 4, "only {refused} were refused");
}

fn quoted(name: &str) -> String {
    format!("'{}'", name.replace('\'', "''"))
}
