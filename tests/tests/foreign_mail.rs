//! Messages of other programs: taken in as a scenario's are, read, flagged, moved, answered and passed on through the tools, and given back. Python's
//! email package reads what came of it. What "the rest is unchanged" means: the message keeps its very bytes wherever it is moved; an attachment that
//! is saved or passed on has the bytes that Python decodes; an answer quotes and refers to it.

use dayshift_engine::{Value, map};
use dayshift_tests::{Bench, Material, Specimen, faults, read_file};
use serde_json::json;

const ANN: &str = "ann@acme.example";
const ANSWER: &str = "Thank you, Grüße.";

#[test]
fn mail_of_other_programs_survives() {
    let material = Material::find();
    let mut specimens = material.committed("mail", &[".eml"]);
    let committed = specimens.len();
    specimens.extend(material.crated("mail-parser", "resources/eml", &[".eml"]));
    specimens.extend(material.distribution("flufl_bounce", "tests/data", &[".txt"]));
    specimens.extend(material.distribution("mail_parser", "tests/mails", &[""]));
    eprintln!("{} messages, {committed} of them committed", specimens.len());
    let packaged = if material.is_complete() { 200 } else { 50 };
    assert!(committed >= 20 && specimens.len() >= committed + packaged, "material is missing");
    let folder = tempfile::tempdir().expect("a folder");
    let mut answered = 0;
    let cases: Vec<_> = specimens
        .iter()
        .enumerate()
        .map(|(number, specimen)| {
            let case = treat(specimen, &folder.path().join(number.to_string()));
            answered += usize::from(case["reply"].is_string());
            case
        })
        .collect();
    let answers = material.read_back("foreign_mail.py", &cases);
    let understood = answers.iter().filter(|answer| answer["understood"] == true).count();
    eprintln!("{answered} answered; Python understands {understood} without defects");
    let faults = faults(&answers);
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    assert!(answered >= specimens.len() / 2, "only {answered} could be answered");
    assert!(!material.is_complete() || understood >= specimens.len() / 2, "Python understands only {understood}");
}

/// Does to one message what an agent would, and returns what Python is to look at.
fn treat(specimen: &Specimen, folder: &std::path::Path) -> serde_json::Value {
    let Specimen { name, bytes } = specimen;
    let mut bench = Bench::new();
    let blob = bench.blob(bytes);
    let import = map! { "address" => ANN, "folder" => "INBOX", "blob" => blob };
    bench.call("mail.import", import).unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
    let shown = bench.call("mail.read", map! { "uid" => 1_i64, "headers" => true }).expect("it is there");
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_text).unwrap_or_default().to_owned();
    let list = |value: &Value, key: &str| value.get(key).and_then(Value::as_list).unwrap_or_default().to_vec();

    std::fs::create_dir_all(folder).expect("a folder");
    let keep = |file: &str, bytes: &[u8]| {
        let path = folder.join(file);
        std::fs::write(&path, bytes).expect("a file can be written");
        path.to_string_lossy().into_owned()
    };
    let attachments: Vec<_> = (1_i64..)
        .zip(list(&shown, "attachments"))
        .map(|(number, part)| {
            let path = format!("/saved/{number}");
            let arguments = map! { "uid" => 1_i64, "attachment" => number, "path" => path.as_str() };
            bench.call("mail.save_attachment", arguments).unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
            let content = read_file(&mut bench, &path);
            assert_eq!(part.get("bytes").and_then(Value::as_int), Some(content.len() as i64), "{name}: {part}");
            let (file_name, media_type) = (text(&part, "name"), text(&part, "media_type"));
            json!({ "name": file_name, "media_type": media_type, "path": keep(&format!("attachment-{number}"), &content) })
        })
        .collect();

    let reply = bench.call("mail.reply", map! { "uid" => 1_i64, "body" => ANSWER });
    let reply = reply.ok().map(|_| keep("reply.eml", &sent(&bench, 1)));
    let forward = map! { "uid" => 1_i64, "to" => vec!["bob@partner.example"], "body" => ANSWER };
    bench.call("mail.forward", forward).unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
    let forward = keep("forward.eml", &sent(&bench, if reply.is_some() { 2 } else { 1 }));

    bench.call("mail.flag", map! { "uid" => 1_i64, "add" => vec!["flagged", "done"] }).expect("it can be flagged");
    assert!(bench.message(ANN, "INBOX", 1).as_ref() == Some(bytes), "{name}: the bytes stay");
    bench.call("mail.move", map! { "uid" => 1_i64, "destination" => "Archive" }).expect("it can be moved");
    assert!(bench.message(ANN, "Archive", 1).as_ref() == Some(bytes), "{name}: the bytes go along");
    let found = bench.call("mail.search", map! { "folder" => "Archive" }).expect("a search");
    assert_eq!(list(&found, "messages").len(), 1, "{name}: a search finds it");

    let headers: Vec<_> = list(&shown, "headers")
        .iter()
        .map(|header| json!({ "name": text(header, "name"), "value": text(header, "value") }))
        .collect();
    json!({
        "name": name, "source": keep("source.eml", bytes), "answer": ANSWER, "reply": reply, "forward": forward,
        "headers": headers, "subject": text(&shown, "subject"), "from": text(&shown, "from"), "body": whole(&mut bench, &shown),
        "attachments": attachments,
    })
}

/// Returns the bytes of the message in Sent with this number.
fn sent(bench: &Bench, uid: u32) -> Vec<u8> {
    bench.message(ANN, "Sent", uid).expect("what was sent is in Sent")
}

/// Returns the body that a reading began, with what further readings show.
fn whole(bench: &mut Bench, shown: &Value) -> String {
    let mut body = shown.get("body").and_then(Value::as_text).unwrap_or_default().to_owned();
    let mut next = shown.get("next_offset").and_then(Value::as_int);
    while let Some(offset) = next {
        let arguments = map! { "folder" => "Archive", "uid" => 1_i64, "offset" => offset };
        let more = bench.call("mail.read", arguments).expect("it goes on");
        body.push_str(more.get("body").and_then(Value::as_text).unwrap_or_default());
        next = more.get("next_offset").and_then(Value::as_int);
    }
    body
}

#[test]
fn damaged_mail_is_kept_as_it_is_and_can_be_answered() {
    let specimens = Material::find().committed("mail", &[".eml"]);
    for specimen in &specimens {
        for bytes in specimen.damaged() {
            let mut bench = Bench::new();
            let blob = bench.blob(&bytes);
            let import = map! { "address" => ANN, "folder" => "INBOX", "blob" => blob };
            bench.call("mail.import", import).unwrap_or_else(|refusal| panic!("{}: {refusal}", specimen.name));
            assert!(bench.message(ANN, "INBOX", 1).as_ref() == Some(&bytes), "{}: the bytes stay", specimen.name);
            bench.call("mail.read", map! { "uid" => 1_i64, "headers" => true }).expect("it is there");
            let forward = map! { "uid" => 1_i64, "to" => vec!["bob@partner.example"], "body" => ANSWER };
            bench.call("mail.forward", forward).unwrap_or_else(|refusal| panic!("{}: {refusal}", specimen.name));
        }
    }
}
