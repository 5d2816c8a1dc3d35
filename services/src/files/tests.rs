//! Tests of the workspace through its tools, on the bench. The keys, the limits, the questions and the model have files of their own.

mod budgets;
mod keys;
mod limits;
mod model;
mod names;
mod outside;
mod questions;
mod read;

use dayshift_engine::{Rejection, Value, map};

use super::FilesState;
use crate::service::Service;
use crate::testing::Bench;

fn bench() -> Bench<FilesState> {
    Bench::new(FilesState::new())
}

/// Returns a bench whose workspace holds these text files.
fn bench_with(files: &[(&str, &str)]) -> Bench<FilesState> {
    let mut bench = bench();
    for (path, text) in files {
        write(&mut bench, path, text);
    }
    bench
}

fn write(bench: &mut Bench<FilesState>, path: &str, text: &str) {
    bench.call("files.write", map! { "path" => path, "text" => text }).expect("the file can be written");
}

fn text(bench: &mut Bench<FilesState>, path: &str) -> Option<String> {
    let text = bench.ask("text", map! { "path" => path }).expect("a good question");
    text.as_text().map(str::to_owned)
}

fn code(result: Result<Value, Rejection>) -> String {
    result.map_or_else(|rejection| rejection.code.into_owned(), |answer| format!("no refusal but {answer}"))
}

fn field(answer: &Value, name: &str) -> Value {
    answer.get(name).cloned().unwrap_or_default()
}

#[test]
fn what_is_written_is_read_back_with_its_lines_counted() {
    let mut bench = bench();
    let written = bench.call("files.write", map! { "path" => "/a/b/c.txt", "text" => "one\ntwo\n" });
    assert_eq!(written, Ok(map! { "path" => "/a/b/c.txt", "bytes" => 8_i64, "created" => true }));
    let read = bench.call("files.read", map! { "path" => "/a/./b/c.txt" });
    let expected = map! {
        "path" => "/a/b/c.txt", "bytes" => 8_i64, "start_line" => 1_i64, "lines" => 2_i64, "total_lines" => 2_i64, "text" => "one\ntwo\n",
    };
    assert_eq!(read, Ok(expected));
}

#[test]
fn a_part_of_a_text_says_where_to_go_on() {
    let mut bench = bench_with(&[("/a", "1\n2\n3\n4")]);
    let part =
        bench.call("files.read", map! { "path" => "/a", "start_line" => 2_i64, "lines" => 2_i64 }).expect("read");
    assert_eq!(field(&part, "text"), "2\n3\n".into());
    assert_eq!(field(&part, "next_line"), Value::Int(4));
    let rest = bench.call("files.read", map! { "path" => "/a", "start_line" => 4_i64 }).expect("read");
    assert_eq!((field(&rest, "text"), field(&rest, "next_line")), ("4".into(), Value::Null));
    let behind = bench.call("files.read", map! { "path" => "/a", "start_line" => 5_i64 });
    assert_eq!(code(behind), "files/bad-range");
}

#[test]
fn bytes_that_are_no_text_come_as_base64_by_range() {
    let mut bench = bench();
    bench.call("files.write", map! { "path" => "/b", "base64" => "/wD+AQ==" }).expect("written");
    let all = bench.call("files.read", map! { "path" => "/b" }).expect("read");
    assert_eq!((field(&all, "base64"), field(&all, "next_byte")), ("/wD+AQ==".into(), Value::Null));
    let part =
        bench.call("files.read", map! { "path" => "/b", "start_byte" => 1_i64, "bytes" => 2_i64 }).expect("read");
    assert_eq!((field(&part, "base64"), field(&part, "next_byte")), ("AP4=".into(), Value::Int(3)));
    let behind = bench.call("files.read", map! { "path" => "/b", "start_byte" => 5_i64 });
    assert_eq!(code(behind), "files/bad-range");
    let both = bench.call("files.read", map! { "path" => "/b", "start_byte" => 0_i64, "lines" => 1_i64 });
    assert_eq!(code(both), "files/bad-range");
}

#[test]
fn a_write_needs_exactly_one_content() {
    let mut bench = bench();
    assert_eq!(code(bench.call("files.write", map! { "path" => "/a" })), "files/bad-content");
    let both = bench.call("files.write", map! { "path" => "/a", "text" => "x", "base64" => "eA==" });
    assert_eq!(code(both), "files/bad-content");
    let bad = bench.call("files.write", map! { "path" => "/a", "base64" => "%" });
    assert_eq!(code(bad), "files/bad-base64");
}

#[test]
fn append_goes_on_where_the_file_ends_and_creates_it() {
    let mut bench = bench();
    bench.call("files.append", map! { "path" => "/log/a", "text" => "x\n" }).expect("created");
    bench.call("files.append", map! { "path" => "/log/a", "text" => "y" }).expect("appended");
    assert_eq!(text(&mut bench, "/log/a").as_deref(), Some("x\ny"));
}

#[test]
fn edits_and_appends_keep_line_ends_and_the_byte_order_mark() {
    let mut bench = bench_with(&[("/a.csv", "\u{feff}id,sum\r\n1,5\r\n")]);
    let edit = map! { "path" => "/a.csv", "old" => "id,sum\n1,5", "new" => "id,sum\n1,6\n2,7" };
    bench.call("files.edit", edit).expect("edited");
    bench.call("files.append", map! { "path" => "/a.csv", "text" => "3,8\n" }).expect("appended");
    assert_eq!(text(&mut bench, "/a.csv").as_deref(), Some("\u{feff}id,sum\r\n1,6\r\n2,7\r\n3,8\r\n"));
    let read = bench.call("files.read", map! { "path" => "/a.csv", "lines" => 1_i64 }).expect("read");
    assert_eq!(field(&read, "text"), "id,sum\r\n".into());
}

#[test]
fn utf16_text_is_read_searched_and_edited_as_text_and_stays_utf16() {
    let mut bench = bench();
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let blob = bench.blob(&utf16("\u{feff}Müller\t5\r\n"));
    bench.call("files.import", map! { "path" => "/u.tsv", "blob" => blob }).expect("imported");
    let read = bench.call("files.read", map! { "path" => "/u.tsv" }).expect("read");
    assert_eq!((field(&read, "text"), field(&read, "encoding")), ("Müller\t5\r\n".into(), "utf-16le".into()));
    let found = bench.call("files.search", map! { "query" => "^Mü", "regex" => true }).expect("searched");
    assert_eq!(field(&found, "matches").as_list().map(<[Value]>::len), Some(1));
    bench.call("files.edit", map! { "path" => "/u.tsv", "old" => "5", "new" => "6" }).expect("edited");
    bench.call("files.append", map! { "path" => "/u.tsv", "text" => "Öz\t7\n" }).expect("appended");
    let frame = dayshift_engine::Frame::new();
    let content = bench.service.content("/u.tsv", &frame).expect("there").clone();
    assert_eq!(content, dayshift_engine::Content::Inline(utf16("\u{feff}Müller\t6\r\nÖz\t7\r\n").into()));
    assert_eq!(
        bench.ask("table", map! { "path" => "/u.tsv" }).map(|table| table.to_string()),
        Ok(r#"[["Müller","6"],["Öz","7"]]"#.into())
    );
}

#[test]
fn an_edit_must_match_exactly_once() {
    let mut bench = bench_with(&[("/a", "cat\ndog\ncat\n")]);
    let edit = |old: &str, new: &str| map! { "path" => "/a", "old" => old, "new" => new };
    assert_eq!(code(bench.call("files.edit", edit("bird", "x"))), "files/no-match");
    let several = bench.call("files.edit", edit("cat", "x")).expect_err("ambiguous");
    assert_eq!(several.code, "files/several-matches");
    assert!(several.message.contains("lines 1, 3"), "{several}");
    assert_eq!(code(bench.call("files.edit", edit("", "x"))), "files/bad-edit");
    assert_eq!(code(bench.call("files.edit", edit("cat", "cat"))), "files/bad-edit");
    bench.call("files.edit", edit("dog\ncat", "dog\ncow")).expect("unique");
    assert_eq!(text(&mut bench, "/a").as_deref(), Some("cat\ndog\ncow\n"));
    let all = map! { "path" => "/a", "old" => "c", "new" => "C", "replace_all" => true };
    assert_eq!(bench.call("files.edit", all).map(|answer| field(&answer, "replaced")), Ok(Value::Int(2)));
    assert_eq!(text(&mut bench, "/a").as_deref(), Some("Cat\ndog\nCow\n"));
}

#[test]
fn what_is_no_text_cannot_be_edited() {
    let mut bench = bench();
    bench.call("files.write", map! { "path" => "/b", "base64" => "/w==" }).expect("written");
    assert_eq!(code(bench.call("files.edit", map! { "path" => "/b", "old" => "a", "new" => "b" })), "files/not-text");
}

#[test]
fn a_list_is_in_order_and_pages() {
    let mut bench = bench_with(&[("/b.txt", "b"), ("/a.txt", "aa"), ("/c/d", "")]);
    let list = bench.call("files.list", map! { "limit" => 2_i64 }).expect("listed");
    assert_eq!(
        list.to_string(),
        r#"{"entries":[{"bytes":2,"kind":"file","modified":"2026-03-16T09:00:02+01:00","name":"a.txt"},{"bytes":1,"kind":"file","modified":"2026-03-16T09:00:01+01:00","name":"b.txt"}],"next":"b.txt","path":"/","total":3}"#
    );
    let rest = bench.call("files.list", map! { "after" => "b.txt" }).expect("listed");
    assert_eq!(field(&rest, "entries").to_string(), r#"[{"kind":"folder","name":"c"}]"#);
    assert_eq!(code(bench.call("files.list", map! { "path" => "/a.txt" })), "files/not-a-folder");
    assert_eq!(code(bench.call("files.list", map! { "path" => "/x" })), "files/not-found");
    assert_eq!(code(bench.call("files.list", map! { "limit" => 0_i64 })), "files/bad-range");
}

#[test]
fn stat_tells_files_from_folders() {
    let mut bench = bench_with(&[("/a/b", "xyz")]);
    let file = map! {
        "path" => "/a/b", "kind" => "file", "bytes" => 3_i64, "mode" => "0644", "modified" => "2026-03-16T09:00:01+01:00",
    };
    assert_eq!(bench.call("files.stat", map! { "path" => "/a/b" }), Ok(file));
    let folder = map! { "path" => "/a", "kind" => "folder", "entries" => 1_i64 };
    assert_eq!(bench.call("files.stat", map! { "path" => "/a/" }), Ok(folder));
    assert_eq!(bench.call("files.stat", map! { "path" => "/" }).map(|root| field(&root, "kind")), Ok("folder".into()));
    assert_eq!(code(bench.call("files.stat", map! { "path" => "/c" })), "files/not-found");
}

#[test]
fn a_moved_folder_takes_everything_along_and_keeps_times() {
    let mut bench = bench_with(&[("/a/b/c.txt", "c"), ("/a/d.txt", "d")]);
    bench.call("files.make_folder", map! { "path" => "/a/empty" }).expect("made");
    let moved = bench.call("files.move", map! { "source" => "/a", "target" => "/z" });
    assert_eq!(moved, Ok(map! { "path" => "/z", "entries" => 5_i64 }));
    assert_eq!(
        bench.service.dump().as_map().map(|map| map.keys().map(|key| key.to_string()).collect()),
        Some(vec![
            "/z".to_owned(),
            "/z/b".to_owned(),
            "/z/b/c.txt".to_owned(),
            "/z/d.txt".to_owned(),
            "/z/empty".to_owned(),
        ])
    );
    let stat = bench.call("files.stat", map! { "path" => "/z/b/c.txt" }).expect("there");
    assert_eq!(field(&stat, "modified"), "2026-03-16T09:00:01+01:00".into());
}

#[test]
fn a_copy_leaves_its_source_and_is_new() {
    let mut bench = bench_with(&[("/a/b.txt", "b")]);
    bench.call("files.copy", map! { "source" => "/a", "target" => "/z" }).expect("copied");
    write(&mut bench, "/a/b.txt", "changed");
    assert_eq!(text(&mut bench, "/z/b.txt").as_deref(), Some("b"));
    let stat = bench.call("files.stat", map! { "path" => "/z/b.txt" }).expect("there");
    assert_eq!(field(&stat, "modified"), "2026-03-16T09:00:02+01:00".into());
}

#[test]
fn an_existing_folder_as_target_takes_the_entry_in() {
    let mut bench = bench_with(&[("/a.txt", "a"), ("/in/b.txt", "b")]);
    let moved = bench.call("files.move", map! { "source" => "/a.txt", "target" => "/in/" });
    assert_eq!(moved.map(|answer| field(&answer, "path")), Ok("/in/a.txt".into()));
    assert_eq!(code(bench.call("files.move", map! { "source" => "/in/a.txt", "target" => "/no/" })), "files/not-found");
    assert_eq!(
        code(bench.call("files.move", map! { "source" => "/in/a.txt", "target" => "/no/x" })),
        "files/not-found"
    );
    let under_a_file = bench.call("files.move", map! { "source" => "/in/a.txt", "target" => "/in/b.txt/x" });
    assert_eq!(code(under_a_file), "files/not-a-folder");
}

#[test]
fn a_file_is_replaced_only_when_asked_and_only_by_a_file() {
    let mut bench = bench_with(&[("/a", "a"), ("/b", "b"), ("/f/x", "x")]);
    assert_eq!(code(bench.call("files.move", map! { "source" => "/a", "target" => "/b" })), "files/exists");
    let folder = map! { "source" => "/f", "target" => "/b", "overwrite" => true };
    assert_eq!(code(bench.call("files.move", folder)), "files/exists");
    let itself = map! { "source" => "/a", "target" => "/a", "overwrite" => true };
    assert_eq!(code(bench.call("files.move", itself)), "files/exists");
    bench.call("files.move", map! { "source" => "/a", "target" => "/b", "overwrite" => true }).expect("replaced");
    assert_eq!((text(&mut bench, "/a"), text(&mut bench, "/b").as_deref()), (None, Some("a")));
}

#[test]
fn a_folder_cannot_be_put_into_itself_nor_the_workspace_anywhere() {
    let mut bench = bench_with(&[("/a/b/c", "c")]);
    assert_eq!(code(bench.call("files.copy", map! { "source" => "/a", "target" => "/a/b" })), "files/into-itself");
    assert_eq!(code(bench.call("files.move", map! { "source" => "/a", "target" => "/a/x" })), "files/into-itself");
    assert_eq!(code(bench.call("files.move", map! { "source" => "/", "target" => "/a" })), "files/workspace");
    assert_eq!(code(bench.call("files.delete", map! { "path" => "/a/../" })), "files/workspace");
}

#[test]
fn a_folder_with_entries_is_deleted_only_when_asked() {
    let mut bench = bench_with(&[("/a/b/c", "c"), ("/a/d", "d")]);
    assert_eq!(code(bench.call("files.delete", map! { "path" => "/a" })), "files/not-empty");
    let deleted = bench.call("files.delete", map! { "path" => "/a", "recursive" => true });
    assert_eq!(deleted, Ok(map! { "path" => "/a", "deleted" => 4_i64 }));
    assert_eq!(bench.service.digest(), FilesState::new().digest());
    assert_eq!(bench.service.entries(), 0);
}

#[test]
fn making_a_folder_that_is_there_changes_nothing() {
    let mut bench = bench_with(&[("/file", "")]);
    let made = |created| Ok(map! { "path" => "/a/b", "created" => created });
    assert_eq!(bench.call("files.make_folder", map! { "path" => "/a/b" }), made(true));
    assert_eq!(bench.call("files.make_folder", map! { "path" => "/a/b/" }), made(false));
    assert!(bench.written_keys().is_empty());
    assert_eq!(code(bench.call("files.make_folder", map! { "path" => "/file" })), "files/not-a-folder");
    assert_eq!(code(bench.call("files.make_folder", map! { "path" => "/file/x" })), "files/not-a-folder");
}

#[test]
fn find_knows_names_paths_and_depth() {
    let files = [("/a.csv", ""), ("/r/b.csv", ""), ("/r/s/c.csv", ""), ("/r/s/d.md", "")];
    let mut bench = bench_with(&files);
    let mut find = |pattern: &str, path: &str| {
        let found = bench.call("files.find", map! { "pattern" => pattern, "path" => path }).expect("a good pattern");
        field(&found, "paths").to_string()
    };
    assert_eq!(find("*.csv", "/"), r#"["/a.csv","/r/b.csv","/r/s/c.csv"]"#);
    assert_eq!(find("*.csv", "/r/s"), r#"["/r/s/c.csv"]"#);
    assert_eq!(find("/r/*.csv", "/"), r#"["/r/b.csv"]"#);
    assert_eq!(find("s/*", "/r"), r#"["/r/s/c.csv","/r/s/d.md"]"#);
    assert_eq!(find("/r/**/*.{csv,md}", "/x"), r#"["/r/b.csv","/r/s/c.csv","/r/s/d.md"]"#);
    assert_eq!(find("/*/s", "/"), r#"["/r/s"]"#);
    assert_eq!(find("/none/*", "/"), "[]");
}

#[test]
fn search_returns_lines_with_their_numbers() {
    let mut bench = bench_with(&[("/a.txt", "Total: 5\nx\ntotal: 6\n"), ("/b/c.md", "\u{feff}total (7)\r\n")]);
    bench.call("files.write", map! { "path" => "/bin", "base64" => "/wB0b3RhbA==" }).expect("written");
    let mut search = |arguments: Value| {
        let found = bench.call("files.search", arguments).expect("a good query");
        field(&found, "matches").to_string()
    };
    assert_eq!(
        search(map! { "query" => "total" }),
        r#"[{"line":3,"path":"/a.txt","text":"total: 6"},{"line":1,"path":"/b/c.md","text":"total (7)"}]"#
    );
    assert_eq!(
        search(map! { "query" => "^total: \\d$", "regex" => true, "ignore_case" => true }),
        r#"[{"line":1,"path":"/a.txt","text":"Total: 5"},{"line":3,"path":"/a.txt","text":"total: 6"}]"#
    );
    assert_eq!(
        search(map! { "query" => "(7", "glob" => "*.md" }),
        r#"[{"line":1,"path":"/b/c.md","text":"total (7)"}]"#
    );
    assert_eq!(search(map! { "query" => "x", "path" => "/a.txt" }), r#"[{"line":2,"path":"/a.txt","text":"x"}]"#);
    assert_eq!(code(bench.call("files.search", map! { "query" => "x", "path" => "/no" })), "files/not-found");
}

#[test]
fn patterns_that_cannot_be_read_are_refused() {
    let mut bench = bench();
    assert_eq!(code(bench.call("files.find", map! { "pattern" => "[a" })), "files/bad-pattern");
    assert_eq!(code(bench.call("files.find", map! { "pattern" => "" })), "files/bad-pattern");
    let regex = bench.call("files.search", map! { "query" => "(", "regex" => true }).expect_err("unclosed");
    assert_eq!(regex.code, "files/bad-pattern");
    assert!(regex.message.contains("unclosed group"), "{regex}");
}

#[test]
fn an_import_keeps_bytes_time_and_mode() {
    let mut bench = bench();
    let bytes: Vec<u8> = (0..=255).cycle().take(3000).collect();
    let blob = bench.blob(&bytes);
    let import =
        map! { "path" => "/in/x.bin", "blob" => blob.as_str(), "modified" => "2026-01-02T03:04:05Z", "mode" => "0755" };
    bench.call("files.import", import).expect("imported");
    assert_eq!(bench.accesses.blobs.iter().map(ToString::to_string).collect::<Vec<_>>(), std::slice::from_ref(&blob));
    let stat = bench.call("files.stat", map! { "path" => "/in/x.bin" }).expect("there");
    assert_eq!((field(&stat, "mode"), field(&stat, "modified")), ("0755".into(), "2026-01-02T04:04:05+01:00".into()));
    assert_eq!(bench.ask("digest", map! { "path" => "/in/x.bin" }), Ok(blob.into()));
    write(&mut bench, "/in/x.bin", "new");
    let stat = bench.call("files.stat", map! { "path" => "/in/x.bin" }).expect("there");
    assert_eq!(field(&stat, "mode"), "0755".into());
}

#[test]
fn an_import_that_makes_no_sense_is_refused() {
    let mut bench = bench_with(&[("/folder/x", "")]);
    let blob = bench.blob(b"x");
    let mut import = |path: &str, blob: &str, mode: &str| {
        code(bench.call("files.import", map! { "path" => path, "blob" => blob, "mode" => mode }))
    };
    assert_eq!(import("/a", "xyz", "0644"), "files/unknown-blob");
    assert_eq!(import("/a", &"0".repeat(64), "0644"), "files/unknown-blob");
    assert_eq!(import("/a", &blob, "0999"), "files/bad-mode");
    assert_eq!(import("/a", &blob, "10000"), "files/bad-mode");
    assert_eq!(import("/folder", &blob, "0644"), "files/is-a-folder");
    assert_eq!(import("/a/", &blob, "0644"), "files/bad-path");
}

#[test]
fn the_digest_knows_contents_and_modes_but_no_times() {
    let digest = |mode: &str, modified: &str, bytes: &[u8]| {
        let mut bench = bench();
        let blob = bench.blob(bytes);
        let import = map! { "path" => "/a", "blob" => blob, "modified" => modified, "mode" => mode };
        bench.call("files.import", import).expect("imported");
        bench.service.digest()
    };
    let one = digest("0644", "2026-01-01T00:00:00Z", b"x");
    assert_eq!(one, digest("0644", "2026-02-02T00:00:00Z", b"x"));
    assert_ne!(one, digest("0755", "2026-01-01T00:00:00Z", b"x"));
    assert_ne!(one, digest("0644", "2026-01-01T00:00:00Z", b"y"));
}

#[test]
fn a_refused_call_leaves_the_workspace_unchanged() {
    let mut bench = bench_with(&[("/a/b", "b")]);
    let before = (bench.service.digest(), bench.service.dump());
    let calls = [
        ("files.write", map! { "path" => "/a", "text" => "x" }),
        ("files.write", map! { "path" => "/a/b/c", "text" => "x" }),
        ("files.append", map! { "path" => "/a", "text" => "x" }),
        ("files.edit", map! { "path" => "/a/c", "old" => "x", "new" => "y" }),
        ("files.move", map! { "source" => "/none", "target" => "/x" }),
        ("files.copy", map! { "source" => "/a", "target" => "/a/x" }),
        ("files.delete", map! { "path" => "/a" }),
        ("files.make_folder", map! { "path" => "/a/b" }),
    ];
    for (tool, arguments) in calls {
        assert!(bench.call(tool, arguments).is_err(), "{tool}");
        assert!(bench.written_keys().is_empty(), "{tool}");
    }
    assert_eq!((bench.service.digest(), bench.service.dump()), before);
}

#[test]
fn what_another_service_saves_is_there() {
    let mut bench = bench();
    let frame = dayshift_engine::Frame::new();
    let context = dayshift_engine::Context {
        seq: bench.seq,
        time: bench.time,
        actor: &bench.actor,
        turn: None,
        allowance: dayshift_engine::Allowance::default(),
        seed: dayshift_engine::Seed::new(1),
        frame: &frame,
        blobs: &bench.blobs,
    };
    let (events, path) = bench.service.save("/in/./a.pdf", b"pdf".to_vec(), &context).expect("saved");
    assert_eq!(path.as_str(), "/in/a.pdf");
    let mut canonical = dayshift_engine::Canonical::default();
    let actor = bench.actor.clone();
    for event in events {
        let stored = rmp_serde::to_vec_named(&event).expect("an event can be stored");
        let event = rmp_serde::from_slice(&stored).expect("and read");
        let mut applying = dayshift_engine::Applying::new(bench.seq, bench.time, &actor, None, &mut canonical);
        bench.service.apply(event, &mut applying);
    }
    assert_eq!(text(&mut bench, "/in/a.pdf").as_deref(), Some("pdf"));
    let frame = dayshift_engine::Frame::new();
    assert_eq!(bench.service.content("/in/a.pdf", &frame).map(dayshift_engine::Content::bytes), Ok(3));
    assert_eq!(frame.close().reads.len(), 1);
}

#[test]
fn differences_name_the_entries_that_differ() {
    let mut bench = bench_with(&[("/a/x", "1"), ("/a/y", "2"), ("/b", "3")]);
    let before = bench.service.clone();
    write(&mut bench, "/a/x", "9");
    write(&mut bench, "/n/z", "4");
    bench.call("files.delete", map! { "path" => "/b" }).expect("deleted");
    let mut differences = Vec::new();
    before.differences(&bench.service, &mut differences);
    let shown: Vec<String> = differences
        .iter()
        .map(|each| format!("{} {} {}", each.key, each.left.is_some(), each.right.is_some()))
        .collect();
    assert_eq!(shown, ["files:/b true false", "files:/n false true", "files:/a/x true true", "files:/n/z false true"]);
    let mut none = Vec::new();
    bench.service.differences(&bench.service.clone(), &mut none);
    assert!(none.is_empty());
}
