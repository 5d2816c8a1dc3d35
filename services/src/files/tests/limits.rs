//! Each limit at, below and above.

use dayshift_engine::{Applying, Canonical, Content, Value, map};

use super::{bench, bench_with, code, field, write};
use crate::files::{
    DEPTH_MAX, ENTRIES_MAX, EntryPath, FILE_BYTES_MAX, FIND_RESULTS_MAX, FOLDER_ENTRIES_MAX, FilesEvent, FilesState,
    LIST_ENTRIES_MAX, PATTERN_BYTES_MAX, READ_BINARY_BYTES_MAX, READ_LINES_MAX, READ_TEXT_BYTES_MAX, REGEX_BYTES_MAX,
    SEARCH_BYTES_MAX, SEARCH_HEAVY_BYTES_MAX, SEARCH_LINE_BYTES_MAX, SEARCH_MATCHES_MAX, SUBTREE_ENTRIES_MAX,
};
use crate::service::Service;
use crate::testing::Bench;

/// Puts `count` empty files into `folder` without the way through the tools.
fn fill(bench: &mut Bench<FilesState>, folder: &str, count: usize) {
    let mut canonical = Canonical::default();
    for index in 0..count {
        let path = EntryPath::parse(&format!("{folder}/{index:06}")).expect("a good path");
        let event = FilesEvent::FileWritten { path, content: Content::Inline([].into()), mode: 0o644, modified: None };
        let mut applying = Applying::new(bench.seq, bench.time, &bench.actor, None, &mut canonical);
        bench.service.apply(event, &mut applying);
    }
}

#[test]
fn a_file_over_the_limit_is_refused_before_it_is_built() {
    let mut bench = bench();
    write(&mut bench, "/a", &"x".repeat(FILE_BYTES_MAX - 1));
    bench.call("files.append", map! { "path" => "/a", "text" => "x" }).expect("exactly full");
    let more = bench.call("files.append", map! { "path" => "/a", "text" => "x" });
    assert_eq!(code(more), "files/too-large");
    let blow_up = map! { "path" => "/a", "old" => "x", "new" => "y".repeat(1 << 20), "replace_all" => true };
    assert_eq!(code(bench.call("files.edit", blow_up)), "files/too-large");
    let blob = bench.blob(&vec![0; FILE_BYTES_MAX + 1]);
    let import = bench.call("files.import", map! { "path" => "/b", "blob" => blob });
    assert_eq!(code(import), "files/too-large");
    let blob = bench.blob(&vec![0; FILE_BYTES_MAX]);
    bench.call("files.import", map! { "path" => "/b", "blob" => blob }).expect("exactly full");
}

#[test]
fn a_full_folder_takes_no_more() {
    let mut bench = bench();
    fill(&mut bench, "/full", FOLDER_ENTRIES_MAX - 1);
    write(&mut bench, "/full/last", "");
    let more = bench.call("files.write", map! { "path" => "/full/more", "text" => "" });
    assert_eq!(code(more), "files/folder-full");
    assert!(bench.read_keys().contains(&"files:/full/"));
    write(&mut bench, "/full/last", "again");
    let renamed = map! { "source" => "/full/last", "target" => "/full/renamed" };
    bench.call("files.move", renamed).expect("a rename needs no room");
    let copied = map! { "source" => "/full/renamed", "target" => "/full/copy" };
    assert_eq!(code(bench.call("files.copy", copied)), "files/folder-full");
}

#[test]
fn a_full_workspace_takes_no_more() {
    let mut bench = bench();
    fill(&mut bench, "/a", 10_000);
    for folder in 1..10 {
        fill(&mut bench, &format!("/{folder}"), (ENTRIES_MAX - 10_000) / 9 - 2);
    }
    let room = ENTRIES_MAX - bench.service.entries();
    fill(&mut bench, "/a", 10_000 + room - 1);
    assert_eq!(bench.service.entries(), ENTRIES_MAX - 1);
    assert_eq!(code(bench.call("files.write", map! { "path" => "/new/x", "text" => "" })), "files/workspace-full");
    assert!(bench.accesses.untracked);
    write(&mut bench, "/new", "");
    assert_eq!(code(bench.call("files.make_folder", map! { "path" => "/more" })), "files/workspace-full");
}

#[test]
fn a_subtree_over_the_limit_is_not_taken_along() {
    let mut bench = bench();
    fill(&mut bench, "/a", SUBTREE_ENTRIES_MAX - 1);
    bench.call("files.copy", map! { "source" => "/a", "target" => "/b" }).expect("exactly at the limit");
    write(&mut bench, "/a/more", "");
    for (tool, arguments) in [
        ("files.copy", map! { "source" => "/a", "target" => "/c" }),
        ("files.move", map! { "source" => "/a", "target" => "/c" }),
        ("files.delete", map! { "path" => "/a", "recursive" => true }),
    ] {
        assert_eq!(code(bench.call(tool, arguments)), "files/too-many-entries", "{tool}");
    }
    bench.call("files.delete", map! { "path" => "/b", "recursive" => true }).expect("exactly at the limit");
}

#[test]
fn moving_cannot_make_a_path_too_deep_or_too_long() {
    let mut bench = bench();
    let deep = "/d".repeat(DEPTH_MAX - 2);
    bench.call("files.make_folder", map! { "path" => deep.as_str() }).expect("made");
    write(&mut bench, "/one/two", "");
    bench.call("files.copy", map! { "source" => "/one", "target" => deep.as_str() }).expect("exactly at the limit");
    write(&mut bench, "/one/two3/three", "");
    let target = format!("{deep}/x");
    let copy = bench.call("files.copy", map! { "source" => "/one", "target" => target.as_str() });
    assert_eq!(code(copy), "files/path-too-deep");
    let name = "n".repeat(250);
    let long = format!("/{name}/{name}/{name}/{name}");
    write(&mut bench, &format!("{long}/0123456789"), "");
    bench.call("files.make_folder", map! { "path" => "/12345678" }).expect("made");
    let inside = map! { "source" => format!("/{name}"), "target" => "/12345678" };
    assert_eq!(bench.call("files.move", inside).map(|answer| field(&answer, "entries")), Ok(Value::Int(5)));
    let renamed = map! { "source" => "/12345678", "target" => "/123456789" };
    assert_eq!(code(bench.call("files.move", renamed)), "files/path-too-long");
}

#[test]
fn a_list_and_a_find_show_so_many_and_say_that_there_are_more() {
    let mut bench = bench();
    fill(&mut bench, "/a", LIST_ENTRIES_MAX.max(FIND_RESULTS_MAX));
    assert_eq!(LIST_ENTRIES_MAX, FIND_RESULTS_MAX);
    let list = |bench: &mut Bench<FilesState>| {
        let list = bench.call("files.list", map! { "path" => "/a", "limit" => i64::MAX }).expect("listed");
        let find = bench.call("files.find", map! { "pattern" => "/a/*" }).expect("found");
        let shown = field(&list, "entries").as_list().map(<[Value]>::len);
        let found = field(&find, "paths").as_list().map(<[Value]>::len);
        (shown, field(&list, "next") != Value::Null, found, field(&find, "truncated"))
    };
    assert_eq!(list(&mut bench), (Some(LIST_ENTRIES_MAX), false, Some(FIND_RESULTS_MAX), false.into()));
    write(&mut bench, "/a/x", "");
    assert_eq!(list(&mut bench), (Some(LIST_ENTRIES_MAX), true, Some(FIND_RESULTS_MAX), true.into()));
}

#[test]
fn a_read_shows_so_many_lines_and_bytes() {
    let mut bench = bench_with(&[
        ("/lines", &"x\n".repeat(READ_LINES_MAX)),
        ("/more", &"x\n".repeat(READ_LINES_MAX + 1)),
        ("/long", &"é".repeat(READ_TEXT_BYTES_MAX / 2)),
        ("/longer", &format!("a{}", "é".repeat(READ_TEXT_BYTES_MAX / 2))),
    ]);
    let mut read = |path: &str| {
        let read = bench.call("files.read", map! { "path" => path }).expect("read");
        let length = field(&read, "text").as_text().map(str::len);
        (field(&read, "lines"), field(&read, "next_line"), field(&read, "line_cut"), length)
    };
    assert_eq!(read("/lines"), (Value::from(READ_LINES_MAX), Value::Null, Value::Null, Some(READ_LINES_MAX * 2)));
    let next = Value::from(READ_LINES_MAX + 1);
    assert_eq!(read("/more"), (Value::from(READ_LINES_MAX), next, Value::Null, Some(READ_LINES_MAX * 2)));
    assert_eq!(read("/long"), (Value::Int(1), Value::Null, Value::Null, Some(READ_TEXT_BYTES_MAX)));
    assert_eq!(read("/longer"), (Value::Int(1), Value::Null, true.into(), Some(READ_TEXT_BYTES_MAX - 1)));
}

#[test]
fn a_read_of_bytes_shows_so_many() {
    let mut bench = bench();
    for (size, next) in
        [(READ_BINARY_BYTES_MAX, Value::Null), (READ_BINARY_BYTES_MAX + 1, READ_BINARY_BYTES_MAX.into())]
    {
        let blob = bench.blob(&vec![0xff; size]);
        bench.call("files.import", map! { "path" => "/b", "blob" => blob }).expect("imported");
        let read = bench.call("files.read", map! { "path" => "/b" }).expect("read");
        assert_eq!(field(&read, "next_byte"), next);
    }
}

#[test]
fn patterns_over_the_limit_are_refused() {
    let mut bench = bench();
    let fits = "x".repeat(PATTERN_BYTES_MAX);
    let long = "x".repeat(PATTERN_BYTES_MAX + 1);
    for (tool, name) in [("files.find", "pattern"), ("files.search", "query")] {
        bench.call(tool, map! { name => fits.as_str() }).expect("exactly at the limit");
        assert_eq!(code(bench.call(tool, map! { name => long.as_str() })), "files/bad-pattern", "{tool}");
    }
}

#[test]
fn a_regular_expression_may_be_so_large() {
    let mut bench = bench();
    let search = |bench: &mut Bench<FilesState>, query: String| {
        code(bench.call("files.search", map! { "query" => query, "regex" => true }))
    };
    // About 24 bytes a repetition: just below and above REGEX_BYTES_MAX.
    let repeated = |count: usize| format!("(?:a{{{count}}})");
    assert!(search(&mut bench, repeated(REGEX_BYTES_MAX / 64)).starts_with("no refusal"));
    assert_eq!(search(&mut bench, repeated(REGEX_BYTES_MAX / 16)), "files/bad-pattern");
    assert!(search(&mut bench, "a{1000}".to_owned()).starts_with("no refusal"));
    assert_eq!(search(&mut bench, "(?:a{1000}){1000}".to_owned()), "files/bad-pattern");
    assert_eq!(search(&mut bench, "(".repeat(1000)), "files/bad-pattern");
}

#[test]
fn a_search_reads_so_many_bytes_and_then_stops() {
    let mut bench = bench();
    let half = vec![b' '; FILE_BYTES_MAX];
    let blob = bench.blob(&half);
    let files = usize::try_from(SEARCH_BYTES_MAX).expect("small") / FILE_BYTES_MAX;
    for index in 0..files {
        bench.call("files.import", map! { "path" => format!("/{index}"), "blob" => blob.as_str() }).expect("imported");
    }
    let truncated = |bench: &mut Bench<FilesState>, query: &str| {
        let found = bench.call("files.search", map! { "query" => query, "regex" => true }).expect("searched");
        field(&found, "truncated")
    };
    assert_eq!(truncated(&mut bench, "x"), false.into());
    write(&mut bench, "/x", "x");
    assert_eq!(truncated(&mut bench, "x"), true.into());
    let heavy = "a{1000}b{1000}";
    let mut bench = bench_with(&[("/a", &" ".repeat(usize::try_from(SEARCH_HEAVY_BYTES_MAX).expect("small")))]);
    assert_eq!(truncated(&mut bench, heavy), false.into());
    write(&mut bench, "/b", " ");
    assert_eq!(truncated(&mut bench, heavy), true.into());
}

#[test]
fn a_search_returns_so_many_lines_and_so_much_of_each() {
    let line = "x".repeat(SEARCH_LINE_BYTES_MAX + 1);
    let mut bench = bench_with(&[("/a", &"x\n".repeat(SEARCH_MATCHES_MAX - 1)), ("/b", &line)]);
    let found = bench.call("files.search", map! { "query" => "x" }).expect("searched");
    let matches = field(&found, "matches");
    let matches = matches.as_list().expect("a list");
    assert_eq!((matches.len(), field(&found, "truncated")), (SEARCH_MATCHES_MAX, false.into()));
    let last = field(&matches[SEARCH_MATCHES_MAX - 1], "text");
    assert_eq!(last.as_text().map(str::len), Some(SEARCH_LINE_BYTES_MAX));
    write(&mut bench, "/c", "x");
    let found = bench.call("files.search", map! { "query" => "x" }).expect("searched");
    assert_eq!(field(&found, "truncated"), true.into());
}
