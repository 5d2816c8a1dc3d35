//! Names as people see them: two spellings that look alike are one, patterns say what they say in a shell.

use super::*;

/// "résumé" with its marks as characters of their own, as some file systems have it.
const DECOMPOSED: &str = "re\u{301}sume\u{301}";

fn found(bench: &mut Bench<FilesState>, pattern: &str) -> Vec<String> {
    let answer = bench.call("files.find", map! { "pattern" => pattern }).expect("a good pattern");
    let paths = answer.get("paths").and_then(Value::as_list).expect("paths");
    paths.iter().filter_map(Value::as_text).map(str::to_owned).collect()
}

#[test]
fn a_composed_and_a_decomposed_spelling_are_one_name() {
    let mut bench = bench_with(&[(&format!("/{DECOMPOSED}/{DECOMPOSED}.txt"), "one")]);
    assert_eq!(text(&mut bench, "/résumé/résumé.txt").as_deref(), Some("one"));
    write(&mut bench, "/résumé/résumé.txt", "two");
    assert_eq!(text(&mut bench, &format!("/{DECOMPOSED}/{DECOMPOSED}.txt")).as_deref(), Some("two"));
    assert_eq!(found(&mut bench, &format!("{DECOMPOSED}*")), ["/résumé", "/résumé/résumé.txt"]);
    let listed = bench.call("files.list", map! { "path" => format!("/{DECOMPOSED}") }).expect("a folder");
    assert_eq!(field(&listed, "total"), Value::Int(1));
}

#[test]
fn content_is_found_however_its_letters_were_written() {
    let mut bench = bench_with(&[("/a", &format!("{DECOMPOSED}\n")), ("/b", "die Straße\nrésumé\n")]);
    let mut lines = |query: &str, ignore_case: bool, regex: bool| {
        let asked = map! { "query" => query, "ignore_case" => ignore_case, "regex" => regex };
        let answer = bench.call("files.search", asked).expect("a search");
        answer.get("matches").and_then(Value::as_list).map_or(0, <[Value]>::len)
    };
    assert_eq!(lines("résumé", false, false), 2);
    assert_eq!(lines(DECOMPOSED, false, false), 2);
    assert_eq!(lines("^r.sum.$", false, true), 2);
    assert_eq!(lines("STRASSE", true, false), 1);
    assert_eq!(lines("STRASSE", false, false), 0);
}

#[test]
fn patterns_say_what_they_say_in_a_shell() {
    let mut bench =
        bench_with(&[("/readme.md", ""), ("/sub/readme.md", ""), ("/a{b}.txt", ""), ("/ab.txt", ""), ("/x{.txt", "")]);
    assert_eq!(found(&mut bench, "./readme.md"), ["/readme.md"]);
    assert_eq!(found(&mut bench, "/./sub/./readme.md"), ["/sub/readme.md"]);
    assert_eq!(found(&mut bench, "a{b}.txt"), ["/a{b}.txt"]);
    assert_eq!(found(&mut bench, "a{b,{b}}.txt"), ["/ab.txt", "/a{b}.txt"]);
    assert_eq!(found(&mut bench, "x{.txt"), ["/x{.txt"]);
    assert_eq!(found(&mut bench, "{readme,ab}.*"), ["/ab.txt", "/readme.md", "/sub/readme.md"]);
    assert_eq!(found(&mut bench, r"a\{b\}.txt"), ["/a{b}.txt"]);
    assert_eq!(found(&mut bench, "a[{]b[}].txt"), ["/a{b}.txt"]);
}

#[test]
fn a_listing_goes_on_after_a_name_that_is_gone() {
    let mut bench = bench_with(&[("/a", ""), ("/b", ""), ("/c", ""), ("/d", "")]);
    let page = bench.call("files.list", map! { "limit" => 2_i64 }).expect("a page");
    assert_eq!(field(&page, "next"), Value::from("b"));
    bench.call("files.delete", map! { "path" => "/b" }).expect("a file");
    write(&mut bench, "/0", "");
    let page = bench.call("files.list", map! { "limit" => 2_i64, "after" => "b" }).expect("a page");
    let names: Vec<Value> = page
        .get("entries")
        .and_then(Value::as_list)
        .expect("entries")
        .iter()
        .map(|entry| field(entry, "name"))
        .collect();
    assert_eq!(names, ["c", "d"].map(Value::from));
}
