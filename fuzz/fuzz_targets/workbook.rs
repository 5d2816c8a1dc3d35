//! Arbitrary bytes as a workbook: refused or taken in and given back byte for byte; then read, changed, written, and taken in again with the
//! same cells. Input that starts with `PK` is an XLSX file as it is; with `csv` and a line end a CSV file; any other is the parts of an XLSX file (workbook,
//! worksheet, shared strings, styles), each ended by a NUL, so that mutations reach the XML and not the checksums around it.

#![no_main]

use std::io::{Cursor, Write as _};

use dayshift_engine::{Value, map};
use dayshift_fuzz::{Bench, run, texts};
use libfuzzer_sys::fuzz_target;
use zip::write::SimpleFileOptions;

/// The parts that every file has, and the names of those that come from the input.
const FIXED: [(&str, &str); 3] = [
    (
        "[Content_Types].xml",
        r#"<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>"#,
    ),
    (
        "_rels/.rels",
        r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#,
    ),
    (
        "xl/_rels/workbook.xml.rels",
        r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings" Target="sharedStrings.xml"/><Relationship Id="rId3" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/></Relationships>"#,
    ),
];
const PARTS: [&str; 4] = ["xl/workbook.xml", "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/styles.xml"];

fuzz_target!(|bytes: &[u8]| {
    run(|| {
        let (format, file) = match bytes.strip_prefix(b"csv\n") {
            Some(csv) => ("csv", csv.to_vec()),
            None if bytes.starts_with(b"PK") => ("xlsx", bytes.to_vec()),
            None => ("xlsx", zipped(bytes)),
        };
        let mut bench = Bench::new();
        let blob = bench.blob(&file);
        let arguments = map! { "book" => "Real", "format" => format, "blob" => blob };
        let Ok(answer) = bench.call("sheets.import", arguments) else { return };
        let names = answer.get("worksheets").and_then(Value::as_list).unwrap_or_default();
        let names: Vec<String> = names.iter().filter_map(|name| name.as_text().map(str::to_owned)).collect();
        if format == "xlsx" {
            assert!(bench.workbook("Real").as_deref() == Ok(&file[..]), "the bytes stay");
        }
        for name in &names {
            let whole = quoted(name);
            let _ = bench.call("sheets.read", map! { "book" => "Real", "range" => whole });
        }
        let _ = bench.call("sheets.find", map! { "book" => "Real", "text" => "1" });
        // Not in a corner of the grid: a worksheet that reaches there is too large to be read and compared.
        let first = format!("{}!A1", quoted(&names[0]));
        let cells = Value::List(vec![Value::List(vec![Value::Int(5)])]);
        let _ = bench.call("sheets.write", map! { "book" => "Real", "range" => first, "rows" => cells });
        let Ok(written) = bench.workbook("Real") else { return };
        let blob = bench.blob(&written);
        let again = bench
            .call("sheets.import", map! { "book" => "Again", "format" => "xlsx", "blob" => blob })
            .expect("what was written can be taken in");
        assert_eq!(again.get("worksheets").map(|names| names.as_list().map_or(0, <[_]>::len)), Some(names.len()));
        let sheets = bench.call("sheets.worksheets", map! { "book" => "Again" }).expect("it is there");
        for (old, new) in names.iter().zip(texts(Some(&sheets), "worksheet")) {
            for shown in ["values", "formulas", "formatted"] {
                let mut read = |book: &str, name: &str| {
                    let answer =
                        bench.call("sheets.read", map! { "book" => book, "range" => quoted(name), "as" => shown });
                    answer.ok().and_then(|answer| answer.get("rows").cloned())
                };
                assert_eq!(read("Real", old), read("Again", &new), "{shown} of {old}");
            }
        }
    });
});

fn quoted(name: &str) -> String {
    format!("'{}'", name.replace('\'', "''"))
}

fn zipped(bytes: &[u8]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let fixed = FIXED.iter().map(|(name, text)| (*name, text.as_bytes()));
    for (name, content) in fixed.chain(PARTS.into_iter().zip(bytes.split(|byte| *byte == 0))) {
        zip.start_file(name, options).expect("a part");
        zip.write_all(content).expect("its content");
    }
    zip.finish().expect("a file").into_inner()
}
