//! Arbitrary text as Markdown: refused or made into blocks. What a page reads as makes the same page again; its blocks can be appended, replaced
//! and searched.

#![no_main]

use dayshift_engine::{Value, map};
use dayshift_fuzz::{Bench, run, texts};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    run(|| {
        let text = String::from_utf8_lossy(bytes);
        let mut bench = Bench::new();
        let blob = bench.blob(bytes);
        let _ = bench.call("knowledge.import_page", map! { "blob" => blob, "path" => "notes/file.md" });
        let Ok(page) = bench.call("knowledge.create_page", map! { "title" => "One", "markdown" => &*text }) else {
            return;
        };
        let (first, blocks) = read(&mut bench, &page);
        let made = map! { "title" => "Two", "markdown" => first.as_str() };
        let other = bench.call("knowledge.create_page", made).expect("what a page reads as is a page");
        let (again, _) = read(&mut bench, &other);
        assert_eq!(first, again, "a page reads as what makes it again");
        let id = page.get("id").cloned().unwrap_or(Value::Null);
        let _ = bench.call("knowledge.append", map! { "page" => id.clone(), "markdown" => &*text });
        if let Some(block) = blocks.first() {
            let replaced = map! { "page" => id.clone(), "block" => block.as_str(), "markdown" => &*text };
            let _ = bench.call("knowledge.replace_block", replaced);
        }
        let (changed, _) = read(&mut bench, &page);
        let word: String = first.split_whitespace().next().unwrap_or("x").chars().take(50).collect();
        let _ = bench.call("knowledge.search", map! { "query" => word });
        let _ = bench.call("knowledge.create_page", map! { "title" => "Three", "markdown" => changed });
    });
});

/// Returns the page's Markdown and the ids of its blocks.
fn read(bench: &mut Bench, page: &Value) -> (String, Vec<String>) {
    let id = page.get("id").cloned().unwrap_or(Value::Null);
    let shown = bench.call("knowledge.read_page", map! { "page" => id, "with_blocks" => true }).expect("it is there");
    let markdown = shown.get("markdown").and_then(Value::as_text).unwrap_or_default().to_owned();
    (markdown, texts(shown.get("blocks"), "id"))
}
