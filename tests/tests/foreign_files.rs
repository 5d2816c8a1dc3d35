//! Documents of other programs: put into the workspace as a scenario's are, read, copied, edited, attached and saved through the tools, and given back.
//! What "the rest is unchanged" means: a file keeps its bytes, and an edit of a text changes the piece that it names, whatever its line ends and encoding.
//! Where `files.read` shows the text of a document, python-docx and python-pptx say what must be in it.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dayshift_engine::{Value, map};
use dayshift_tests::{Bench, Material, Specimen, faults, read_file};
use serde_json::json;

#[test]
fn documents_of_other_programs_survive() {
    let material = Material::find();
    let mut specimens = material.committed("files", &[""]);
    let committed = specimens.len();
    specimens.extend(material.committed("mail", &["-plain.eml"]));
    specimens.extend(material.distribution("python_docx", "features/steps/test_files", &[".docx"]));
    specimens.extend(material.distribution(
        "python_docx",
        "tests/test_files",
        &[".docx", ".png", ".jpg", ".gif", ".tif", ".bmp"],
    ));
    specimens.extend(material.distribution("python_pptx", "features/steps/test_files", &[".pptx"]));
    specimens.extend(material.distribution("python_pptx", "tests/test_files", &[".pptx", ".png", ".jpg", ".xml"]));
    eprintln!("{} files, {committed} of them committed", specimens.len());
    assert!(committed >= 12 && (!material.is_complete() || specimens.len() >= committed + 80), "material is missing");
    let folder = tempfile::tempdir().expect("a folder");
    let cases: Vec<_> = specimens
        .iter()
        .enumerate()
        .map(|(number, specimen)| treat(specimen, &folder.path().join(number.to_string())))
        .collect();
    let edited = cases.iter().filter(|case| case["edited"].is_string()).count();
    let answers = material.read_back("foreign_files.py", &cases);
    let compared: i64 = answers.iter().filter_map(|answer| answer["compared"].as_i64()).sum();
    eprintln!("{edited} edited; {compared} pieces of text compared");
    let faults = faults(&answers);
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    assert!(edited >= 5, "only {edited} could be edited");
}

/// Does to one file what an agent would, and returns what Python is to look at.
fn treat(specimen: &Specimen, folder: &Path) -> serde_json::Value {
    let Specimen { name, bytes } = specimen;
    let ending = name.rsplit_once('.').map(|(_, ending)| format!(".{}", ending.to_lowercase())).unwrap_or_default();
    let path = format!("/in/file{ending}");
    let mut bench = Bench::new();
    let blob = bench.blob(bytes);
    let mut call = |tool: &str, arguments: Value| {
        bench.call(tool, arguments).unwrap_or_else(|refusal| panic!("{name}: {tool}: {refusal}"))
    };
    call("files.import", map! { "path" => path.as_str(), "blob" => blob });
    let shown = call("files.read", map! { "path" => path.as_str() });
    let text = shown.get("text").and_then(Value::as_text).map(str::to_owned);
    call("files.stat", map! { "path" => path.as_str() });
    let copy = read_file(&mut bench, &path);
    let mut call = |tool: &str, arguments: Value| {
        bench.call(tool, arguments).unwrap_or_else(|refusal| panic!("{name}: {tool}: {refusal}"))
    };
    let written = format!("/out/written{ending}");
    call("files.write", map! { "path" => written.as_str(), "base64" => STANDARD.encode(&copy) });
    let moved = format!("/out/moved{ending}");
    call("files.move", map! { "source" => written.as_str(), "target" => moved.as_str() });
    let letter = map! { "to" => vec!["ann@acme.example"], "subject" => "A file", "body" => "See it.", "attachments" => vec![moved.as_str()] };
    call("mail.send", letter);
    let saved = format!("/out/saved{ending}");
    call("mail.save_attachment", map! { "uid" => 1_i64, "path" => saved.as_str() });
    let message = bench.message("ann@acme.example", "Sent", 1).expect("what was sent is in Sent");
    let after = read_file(&mut bench, &saved);

    std::fs::create_dir_all(folder).expect("a folder");
    let keep = |file: &str, bytes: &[u8]| {
        let path = folder.join(file);
        std::fs::write(&path, bytes).expect("a file can be written");
        path.to_string_lossy().into_owned()
    };
    let mut case = json!({
        "name": name, "ending": ending, "before": keep(&format!("before{ending}"), bytes), "after": keep(&format!("after{ending}"), &after),
        "message": keep("message.eml", &message), "text": text,
    });
    // A text is edited where a piece of it stands once.
    if let Ok(whole) = std::str::from_utf8(bytes)
        && let Some(old) = whole.split_whitespace().find(|word| whole.matches(word).count() == 1)
    {
        let edit = map! { "path" => saved.as_str(), "old" => old, "new" => "Dayshift" };
        bench.call("files.edit", edit).unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
        case["old"] = old.into();
        case["new"] = "Dayshift".into();
        case["edited"] = keep(&format!("edited{ending}"), &read_file(&mut bench, &saved)).into();
    }
    case
}
