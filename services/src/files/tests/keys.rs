//! Which keys each tool reads and writes.

use dayshift_engine::{ReadKind, Seq, map};

use super::{bench, bench_with, write};

#[test]
fn a_read_reads_the_one_file() {
    let mut bench = bench_with(&[("/a/b.txt", "b")]);
    for tool in ["files.read", "files.stat"] {
        bench.call(tool, map! { "path" => "/a/b.txt" }).expect("there");
        assert_eq!(bench.read_keys(), ["files:/a/b.txt"]);
        assert_eq!(bench.accesses.reads[0].written, Seq::new(1));
        assert!(bench.written_keys().is_empty());
    }
}

#[test]
fn overwriting_writes_the_file_and_the_scan_of_its_folder() {
    let mut bench = bench_with(&[("/a/b.txt", "b")]);
    write(&mut bench, "/a/b.txt", "c");
    assert_eq!(bench.written_keys(), ["files:/a/*", "files:/a/b.txt"]);
    assert_eq!(bench.read_keys(), ["files:/a/b.txt"]);
}

#[test]
fn creating_writes_the_membership_too_and_reads_the_folders_that_lead_there() {
    let mut bench = bench_with(&[("/a/b.txt", "b")]);
    write(&mut bench, "/a/c.txt", "c");
    assert_eq!(bench.written_keys(), ["files:/a/", "files:/a/*", "files:/a/c.txt"]);
    assert_eq!(bench.read_keys(), ["files:/a", "files:/a/c.txt"]);
    write(&mut bench, "/a/d/e.txt", "e");
    let written = ["files:/a/", "files:/a/*", "files:/a/d", "files:/a/d/", "files:/a/d/*", "files:/a/d/e.txt"];
    assert_eq!(bench.written_keys(), written);
}

#[test]
fn absence_is_read_with_the_record_that_caused_it() {
    let mut bench = bench_with(&[("/a/b.txt", "b")]);
    bench.ask("exists", map! { "path" => "/x/y/z" }).expect("a good question");
    assert_eq!(bench.read_keys(), ["files:/x/y/z"]);
    assert_eq!(bench.accesses.reads[0].written, Seq::new(0));
    bench.call("files.delete", map! { "path" => "/a", "recursive" => true }).expect("deleted");
    let written = ["files:/", "files:/*", "files:/a", "files:/a/", "files:/a/*", "files:/a/b.txt"];
    assert_eq!(bench.written_keys(), written);
    bench.ask("exists", map! { "path" => "/a/b.txt" }).expect("a good question");
    assert_eq!(bench.read_keys(), ["files:/a/b.txt"]);
    assert_eq!(bench.accesses.reads[0].written, Seq::new(2));
}

#[test]
fn a_list_reads_the_folder_its_membership_and_what_it_shows() {
    let mut bench = bench_with(&[("/a/b", ""), ("/a/c", ""), ("/a/d", "")]);
    bench.call("files.list", map! { "path" => "/a", "limit" => 2_i64 }).expect("listed");
    assert_eq!(bench.read_keys(), ["files:/a", "files:/a/", "files:/a/b", "files:/a/c"]);
    assert_eq!(bench.accesses.reads[1].kind, ReadKind::Membership);
}

#[test]
fn a_find_reads_the_membership_of_the_folders_it_goes_through() {
    let mut bench = bench_with(&[("/a/b/c.csv", ""), ("/x/y/z.csv", ""), ("/a/n.csv", "")]);
    bench.call("files.find", map! { "pattern" => "/a/*.csv" }).expect("found");
    assert_eq!(bench.read_keys(), ["files:/a", "files:/a/"]);
    bench.call("files.find", map! { "pattern" => "*.csv" }).expect("found");
    assert_eq!(bench.read_keys(), ["files:/", "files:/a/", "files:/a/b/", "files:/x/", "files:/x/y/"]);
}

#[test]
fn a_search_scans_folders_and_reads_the_files_that_match() {
    let mut bench = bench_with(&[("/a/b", "yes"), ("/a/c", "no")]);
    bench.call("files.search", map! { "query" => "yes" }).expect("searched");
    assert_eq!(bench.read_keys(), ["files:/", "files:/*", "files:/a/", "files:/a/*", "files:/a/b"]);
    assert_eq!(bench.accesses.reads[1].kind, ReadKind::Scan);
}

#[test]
fn a_copy_and_a_move_read_everything_they_take_along() {
    for tool in ["files.copy", "files.move"] {
        let mut bench = bench_with(&[("/a/b/c", "c")]);
        bench.call(tool, map! { "source" => "/a", "target" => "/z" }).expect("taken along");
        let read = ["files:/a", "files:/a/", "files:/a/b", "files:/a/b/", "files:/a/b/c", "files:/z"];
        assert_eq!(bench.read_keys(), read);
        let copied =
            ["files:/", "files:/*", "files:/z", "files:/z/", "files:/z/*", "files:/z/b", "files:/z/b/", "files:/z/b/*"];
        for key in copied.iter().chain(&["files:/z/b/c"]) {
            assert!(bench.written_keys().contains(key), "{key}");
        }
        let takes_away = bench.written_keys().contains(&"files:/a/b/c");
        assert_eq!(takes_away, tool == "files.move");
    }
}

#[test]
fn edits_and_appends_read_what_they_change() {
    let mut bench = bench_with(&[("/a", "x")]);
    bench.call("files.edit", map! { "path" => "/a", "old" => "x", "new" => "y" }).expect("edited");
    assert_eq!(bench.read_keys(), ["files:/a"]);
    assert_eq!(bench.accesses.reads[0].written, Seq::new(1));
    bench.call("files.append", map! { "path" => "/a", "text" => "z" }).expect("appended");
    assert_eq!(bench.accesses.reads[0].written, Seq::new(2));
    assert_eq!(bench.written_keys(), ["files:/*", "files:/a"]);
}

#[test]
fn a_new_folder_changes_the_membership_of_the_one_that_holds_it() {
    let mut bench = bench();
    bench.call("files.make_folder", map! { "path" => "/a" }).expect("made");
    assert_eq!(bench.written_keys(), ["files:/", "files:/*", "files:/a"]);
}

#[test]
fn an_import_writes_what_a_write_would() {
    let mut bench = bench();
    let blob = bench.blob(b"x");
    bench.call("files.import", map! { "path" => "/a", "blob" => blob }).expect("imported");
    assert_eq!(bench.written_keys(), ["files:/", "files:/*", "files:/a"]);
    assert_eq!(bench.read_keys(), ["files:/a"]);
}
