//! What checks can ask.

use dayshift_engine::{BlobId, Value, map};

use super::{bench_with, code};

#[test]
fn questions_about_what_is_there_are_answered() {
    let mut bench = bench_with(&[("/a/t.csv", "\u{feff}id,name\r\n1,\"Lee, Ann\"\r\n2\r\n"), ("/a/u.tsv", "1\t2\n")]);
    let mut ask =
        |verb: &str, path: &str| bench.ask(verb, map! { "path" => path }).expect("a good question").to_string();
    assert_eq!(ask("exists", "/a/t.csv"), "true");
    assert_eq!(ask("list", "/a"), r#"["t.csv","u.tsv"]"#);
    assert_eq!(ask("lines", "/a/t.csv"), r#"["id,name","1,\"Lee, Ann\"","2"]"#);
    assert_eq!(ask("table", "/a/t.csv"), r#"[["id","name"],["1","Lee, Ann"],["2"]]"#);
    assert_eq!(ask("table", "/a/u.tsv"), r#"[["1","2"]]"#);
    assert_eq!(ask("text", "/a/u.tsv"), r#""1\t2\n""#);
    assert_eq!(ask("digest", "/a/u.tsv"), format!("\"{}\"", BlobId::of(b"1\t2\n")));
    assert!(ask("stat", "/a/u.tsv").contains(r#""bytes":4"#));
    let found = bench.ask("find", map! { "pattern" => "/a/*.csv" });
    assert_eq!(found, Ok(["/a/t.csv"].into_iter().collect()));
}

#[test]
fn what_is_absent_is_null() {
    let mut bench = bench_with(&[]);
    for verb in ["list", "lines", "table", "text", "digest", "stat"] {
        assert_eq!(bench.ask(verb, map! { "path" => "/none" }), Ok(Value::Null), "{verb}");
        assert_eq!(bench.read_keys(), ["files:/none"]);
    }
    assert_eq!(bench.ask("exists", map! { "path" => "/none" }), Ok(false.into()));
    assert_eq!(bench.ask("exists", map! { "path" => "/" }), Ok(true.into()));
    assert_eq!(bench.ask("text", map! { "path" => "/" }), Ok(Value::Null));
}

#[test]
fn questions_that_make_no_sense_are_refused() {
    let mut bench = bench_with(&[]);
    assert_eq!(code(bench.ask("colour", map! {})), "query/unknown");
    assert_eq!(code(bench.ask("text", map! {})), "query/bad-arguments");
    assert_eq!(code(bench.ask("text", map! { "path" => "a" })), "query/bad-arguments");
    assert_eq!(code(bench.ask("find", map! { "pattern" => "[" })), "query/bad-arguments");
    assert_eq!(code(bench.ask("find", map! { "pattern" => "a", "path" => 1_i64 })), "query/bad-arguments");
}
