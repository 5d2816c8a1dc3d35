//! What `files.read` shows of documents, pictures, texts in other charsets and anything else; and that edits keep how a text is kept.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dayshift_engine::{Content, Frame, Value, map};
use proptest::prelude::*;

use super::{bench, code, field};
use crate::files::{FilesState, IMAGE_BYTES_MAX};
use crate::testing::Bench;

const LETTER: &[u8] = include_bytes!("../../../tests/material/letter.pdf");
const STAMP: &[u8] = include_bytes!("../../../tests/material/stamp.png");

fn import(bench: &mut Bench<FilesState>, path: &str, bytes: &[u8]) {
    let blob = bench.blob(bytes);
    bench.call("files.import", map! { "path" => path, "blob" => blob }).expect("imported");
}

fn bytes(bench: &Bench<FilesState>, path: &str) -> Vec<u8> {
    let content = bench.service.content(path, &Frame::new()).expect("there").clone();
    match content {
        Content::Inline(bytes) => bytes.to_vec(),
        Content::Blob { .. } => panic!("a large file"),
    }
}

#[test]
fn a_document_is_read_like_a_text_whatever_its_name() {
    let mut bench = bench();
    import(&mut bench, "/letter", LETTER);
    let read = bench.call("files.read", map! { "path" => "/letter", "lines" => 2_i64 }).expect("read");
    assert_eq!(bench.read_keys(), ["files:/letter"]);
    let expected = map! {
        "path" => "/letter", "bytes" => LETTER.len(), "media_type" => "application/pdf", "pages" => 2_i64, "start_line" => 1_i64,
        "lines" => 2_i64, "total_lines" => 10_i64, "next_line" => 3_i64, "text" => "[page 1]\nOffer no. 4711\n",
    };
    assert_eq!(read, expected);
    let rest = bench.call("files.read", map! { "path" => "/letter", "start_line" => 10_i64 }).expect("read");
    assert_eq!((field(&rest, "text"), field(&rest, "next_line")), ("Terms: 30 days net.\n".into(), Value::Null));
    let behind = bench.call("files.read", map! { "path" => "/letter", "start_line" => 11_i64 });
    assert_eq!(code(behind), "files/bad-range");
    let raw = map! { "path" => "/letter", "start_byte" => 0_i64, "bytes" => 5_i64 };
    let raw = bench.call("files.read", raw).expect("read");
    assert_eq!((field(&raw, "base64"), field(&raw, "media_type")), ("JVBERi0=".into(), "application/pdf".into()));
    assert_eq!(
        code(bench.call("files.edit", map! { "path" => "/letter", "old" => "4711", "new" => "1" })),
        "files/not-text"
    );
}

#[test]
fn a_check_reads_the_same_text_of_a_document() {
    let mut bench = bench();
    import(&mut bench, "/letter.pdf", LETTER);
    let lines = bench.ask("lines", map! { "path" => "/letter.pdf" }).expect("a good question");
    assert_eq!(lines.as_list().and_then(<[Value]>::last), Some(&"Terms: 30 days net.".into()));
    import(&mut bench, "/locked.pdf", include_bytes!("../../../tests/material/locked.pdf"));
    assert!(bench.ask("text", map! { "path" => "/locked.pdf" }).expect("a good question").as_text().is_some());
}

#[test]
fn documents_that_cannot_be_read_are_refused_with_a_reason() {
    let mut bench = bench();
    import(&mut bench, "/locked.pdf", include_bytes!("../../../tests/material/locked.pdf"));
    assert_eq!(code(bench.call("files.read", map! { "path" => "/locked.pdf" })), "files/encrypted");
    import(&mut bench, "/damaged.docx", &include_bytes!("../../../tests/material/report.docx")[..9000]);
    assert_eq!(code(bench.call("files.read", map! { "path" => "/damaged.docx" })), "files/damaged");
    bench.call("files.read", map! { "path" => "/damaged.docx", "start_byte" => 0_i64 }).expect("its bytes are there");
    // A text about PDF that begins like one stays a text.
    import(&mut bench, "/about.txt", b"%PDF- is how a PDF begins.\n");
    let about = bench.call("files.read", map! { "path" => "/about.txt" }).expect("read");
    assert_eq!(field(&about, "text"), "%PDF- is how a PDF begins.\n".into());
}

#[test]
fn a_picture_comes_as_image_content() {
    let mut bench = bench();
    import(&mut bench, "/stamp", STAMP);
    let image = map! { "media_type" => "image/png", "width" => 120_i64, "height" => 40_i64, "base64" => STANDARD.encode(STAMP) };
    let expected = map! { "path" => "/stamp", "bytes" => STAMP.len(), "media_type" => "image/png", "image" => image };
    assert_eq!(bench.call("files.read", map! { "path" => "/stamp" }), Ok(expected));
    let padded = |bytes: usize| [STAMP, &vec![0; bytes - STAMP.len()]].concat();
    import(&mut bench, "/large.png", &padded(IMAGE_BYTES_MAX));
    assert!(bench.call("files.read", map! { "path" => "/large.png" }).is_ok());
    import(&mut bench, "/larger.png", &padded(IMAGE_BYTES_MAX + 1));
    assert_eq!(code(bench.call("files.read", map! { "path" => "/larger.png" })), "files/image-too-large");
    bench.call("files.read", map! { "path" => "/larger.png", "start_byte" => 0_i64 }).expect("its bytes are there");
}

#[test]
fn what_has_no_text_says_what_it_is() {
    let mut bench = bench();
    import(&mut bench, "/sound", b"ID3\x03\0\0\0\0\0\0 and so on");
    let read = bench.call("files.read", map! { "path" => "/sound" }).expect("read");
    assert_eq!(field(&read, "media_type"), "audio/mpeg".into());
    assert!(field(&read, "base64").as_text().is_some());
}

#[test]
fn windows_1252_is_read_and_stays_what_it_is() {
    let mut bench = bench();
    import(&mut bench, "/l.csv", b"name;sum\r\nM\xfcller;5 \x80\r\n");
    let read = bench.call("files.read", map! { "path" => "/l.csv" }).expect("read");
    assert_eq!(field(&read, "text"), "name;sum\r\nMüller;5 €\r\n".into());
    assert_eq!(field(&read, "encoding"), "windows-1252".into());
    let found = bench.call("files.search", map! { "query" => "Müll" }).expect("searched");
    assert_eq!(field(&found, "matches").as_list().map(<[Value]>::len), Some(1));
    bench.call("files.edit", map! { "path" => "/l.csv", "old" => "5 €", "new" => "6 £" }).expect("edited");
    bench.call("files.append", map! { "path" => "/l.csv", "text" => "Zoë;7\n" }).expect("appended");
    assert_eq!(bytes(&bench, "/l.csv"), b"name;sum\r\nM\xfcller;6 \xa3\r\nZo\xeb;7\r\n");
    let edit = map! { "path" => "/l.csv", "old" => "6 £", "new" => "6 → 7" };
    let refused = bench.call("files.edit", edit).expect_err("not in the charset");
    assert_eq!(refused.code, "files/not-encodable");
    assert!(refused.message.contains("'→'"), "{refused}");
    assert_eq!(code(bench.call("files.append", map! { "path" => "/l.csv", "text" => "☃" })), "files/not-encodable");
}

/// How a text is kept.
#[derive(Clone, Copy, Debug)]
enum Kept {
    Utf8,
    Utf8Marked,
    Utf16Le,
    Utf16Be,
    Windows1252,
}

fn keep(text: &str, kept: Kept) -> Vec<u8> {
    let marked = format!("\u{feff}{text}");
    match kept {
        Kept::Utf8 => text.as_bytes().to_vec(),
        Kept::Utf8Marked => marked.into_bytes(),
        Kept::Utf16Le => marked.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        Kept::Utf16Be => marked.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        // The characters of these tests have the same numbers there.
        Kept::Windows1252 => text.chars().map(|character| u8::try_from(character).expect("Latin 1")).collect(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// A replaced piece and an added line change nothing else: line ends, byte order mark and charset stay.
    #[test]
    fn edits_keep_line_ends_mark_and_charset(
        before in proptest::collection::vec("[a-z ]{0,12}", 0..5),
        after in proptest::collection::vec("[a-z ]{0,12}", 0..5),
        new in "[a-zäöüßé]{0,4}(\n[a-z]{0,3}){0,2}",
        added in "[a-z]{0,5}\n?",
        is_crlf in any::<bool>(),
        kept in prop::sample::select(vec![Kept::Utf8, Kept::Utf8Marked, Kept::Utf16Le, Kept::Utf16Be, Kept::Windows1252]),
    ) {
        let ended = |text: &str| if is_crlf { text.replace('\n', "\r\n") } else { text.to_owned() };
        let head = format!("a long line of plain words first, é\n{}", before.iter().map(|line| format!("{line}\n")).collect::<String>());
        let tail = after.iter().map(|line| format!("\n{line}")).collect::<String>() + "\n";
        let mut bench = bench();
        import(&mut bench, "/a", &keep(&ended(&format!("{head}OLD{tail}")), kept));
        bench.call("files.edit", map! { "path" => "/a", "old" => "OLD", "new" => new.as_str() }).expect("edited");
        prop_assert_eq!(bytes(&bench, "/a"), keep(&ended(&format!("{head}{new}{tail}")), kept));
        bench.call("files.append", map! { "path" => "/a", "text" => added.as_str() }).expect("appended");
        prop_assert_eq!(bytes(&bench, "/a"), keep(&ended(&format!("{head}{new}{tail}{added}")), kept));
        let read = bench.call("files.read", map! { "path" => "/a" }).expect("read");
        prop_assert_eq!(field(&read, "text"), ended(&format!("{head}{new}{tail}{added}")).into());
    }
}
