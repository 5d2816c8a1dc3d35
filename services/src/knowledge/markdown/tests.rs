//! Markdown in and out: what is read as what, stability, and arbitrary input.

use proptest::prelude::*;

use super::*;

fn read(markdown: &str) -> Vec<Block> {
    blocks(markdown).unwrap_or_else(|rejection| panic!("{markdown:?}: {rejection}"))
}

fn kinds(markdown: &str) -> Vec<&'static str> {
    fn walk(blocks: &[Block], kinds: &mut Vec<&'static str>) {
        for block in blocks {
            kinds.push(block.kind.name());
            walk(&block.children, kinds);
        }
    }
    let mut kinds = Vec::new();
    walk(&read(markdown), &mut kinds);
    kinds
}

#[test]
fn every_kind_of_block_is_read_and_written_as_it_was() {
    let page = include_str!("every_kind.md").trim_end();
    assert_eq!(text(&read(page)), page);
    assert_eq!(
        kinds(page),
        [
            "heading_1",
            "paragraph",
            "heading_2",
            "bulleted_list_item",
            "bulleted_list_item",
            "numbered_list_item",
            "numbered_list_item",
            "bulleted_list_item",
            "heading_3",
            "to_do",
            "to_do",
            "quote",
            "paragraph",
            "callout",
            "bulleted_list_item",
            "toggle",
            "paragraph",
            "bulleted_list_item",
            "code",
            "divider",
            "table",
            "numbered_list_item",
            "code",
            "numbered_list_item",
            "paragraph",
        ]
    );
}

#[test]
fn other_ways_to_write_the_same_come_out_in_ours() {
    for (theirs, ours) in [
        ("Title\n=====\n\nText", "# Title\n\nText"),
        ("* a\n* b", "- a\n- b"),
        ("- a\n\n- b", "- a\n- b"),
        ("3) a\n4) b", "3. a\n4. b"),
        ("    code", "```\ncode\n```"),
        ("#### deep", "### deep"),
        ("__a__ and _b_", "**a** and *b*"),
        ("<https://acme.example/a>", "[https://acme.example/a](https://acme.example/a)"),
        ("a [b][c]\n\n[c]: https://acme.example", "a [b](https://acme.example)"),
        ("***", "---"),
        (
            "snake_case, 2 * 3, C#, -5, a|b, [a], AT&T, ~5, x! 3.5",
            "snake_case, 2 * 3, C#, -5, a|b, [a], AT&T, ~5, x! 3.5",
        ),
        ("wow![a](https://acme.example)", "wow![a](https://acme.example)"),
        ("wow\\![a](https://acme.example)", "wow\\![a](https://acme.example)"),
        ("\\# no \\*star\\* \\&amp;", "\\# no \\*star\\* \\&amp;"),
        ("line\r\nline", "line\nline"),
        ("<details><summary></summary>\u{e9}", "<details><summary></summary>\n\n\u{e9}\n\n</details>"),
        ("1) a\n1) b", "1. a\n2. b"),
    ] {
        assert_eq!(text(&read(theirs)), ours, "{theirs:?}");
    }
}

#[test]
fn numbers_in_headings_starts_of_lists_and_html_come_back_as_they_went_in() {
    for page in [
        "# 1. Every morning\n\n## 2) Every evening\n\n### 10. - Never",
        "| 1. One | 2) Two |\n| --- | --- |\n| 3. Three | - four |",
        "<details><summary>1. Every morning</summary>\n\n3. three\n4. four\n\n</details>",
        "0. zero\n1. one",
        "7. seven\n\n   more\n\n   42. inner\n   43. inner\n8. eight",
        "<div>x</div>",
        "<div class=\"a|b\">\n  <p>*not* emphasised</p>\n</div>",
        "<!-- a comment\n\n   of two paragraphs -->\n\ntext",
        "<pre>\n\n  x = 1\n</pre>",
        "a <b>bold</b> and H<sub>2</sub>O<br/>",
        "# A <kbd>key</kbd>",
        "- <b>item</b>\n- <div>item</div>",
        "2026\\. That was the year",
    ] {
        assert_eq!(text(&read(page)), page);
    }
    let list = read("5. five\n6. six");
    assert_eq!((list[0].start, list[1].start), (Some(5), None));
    assert_eq!(list[0].value().get("start"), Some(&dayshift_engine::Value::Int(5)));
}

#[test]
fn depth_is_limited() {
    let nested =
        |depth: usize| "> ".repeat(depth - 1) + "x\n>" + &"> ".repeat(depth - 2) + "\n" + &"> ".repeat(depth - 1) + "y";
    assert_eq!(super::super::block::depth(&read(&nested(BLOCK_DEPTH_MAX - 1))), BLOCK_DEPTH_MAX - 1);
    assert_eq!(super::super::block::depth(&read(&nested(BLOCK_DEPTH_MAX))), BLOCK_DEPTH_MAX);
    let refused = blocks(&nested(BLOCK_DEPTH_MAX + 1)).expect_err("too deep");
    assert_eq!(refused.code, "knowledge/too-deep");
    assert_eq!(blocks(&">".repeat(100_000)).expect_err("far too deep").code, "knowledge/too-deep");
}

#[test]
fn the_length_of_a_text_is_limited() {
    for (bytes, good) in
        [(BLOCK_TEXT_BYTES_MAX - 1, true), (BLOCK_TEXT_BYTES_MAX, true), (BLOCK_TEXT_BYTES_MAX + 1, false)]
    {
        assert_eq!(blocks(&"x".repeat(bytes)).is_ok(), good, "{bytes}");
        assert_eq!(blocks(&format!("```\n{}\n```", "x".repeat(bytes))).is_ok(), good, "{bytes}");
    }
}

#[test]
fn the_length_of_markdown_is_limited() {
    let lines = |bytes: usize| {
        let line = "0123456789abcdef\n\n";
        let text = line.repeat(bytes / line.len() + 1);
        blocks(&text[..bytes]).is_ok()
    };
    assert!(lines(MARKDOWN_BYTES_MAX - 1));
    assert!(lines(MARKDOWN_BYTES_MAX));
    assert!(!lines(MARKDOWN_BYTES_MAX + 1));
}

#[test]
fn the_cells_of_a_table_are_limited() {
    let table = |rows: usize| {
        let rows: String = "| a | b | c | d | e |\n".repeat(rows - 1);
        blocks(&format!("| a | b | c | d | e |\n|---|---|---|---|---|\n{rows}")).is_ok()
    };
    assert!(table(TABLE_CELLS_MAX / 5 - 1));
    assert!(table(TABLE_CELLS_MAX / 5));
    assert!(!table(TABLE_CELLS_MAX / 5 + 1));
}

/// Returns pieces that mean something in Markdown, in any order.
fn soup() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("\n"),
        Just("\n\n"),
        Just("  "),
        Just("    "),
        Just("- "),
        Just("1. "),
        Just("> "),
        Just("#"),
        Just("# "),
        Just("*"),
        Just("**"),
        Just("_"),
        Just("`"),
        Just("```\n"),
        Just("~~~"),
        Just("~~"),
        Just("[ ] "),
        Just("[x] "),
        Just("["),
        Just("]("),
        Just(")"),
        Just("!["),
        Just("|"),
        Just("| - |\n"),
        Just("---"),
        Just("==="),
        Just("\\"),
        Just("&amp;"),
        Just("&#10;"),
        Just("<b>"),
        Just("<details><summary>"),
        Just("</summary>"),
        Just("</details>"),
        Just("<!--"),
        Just("[!NOTE]"),
        Just("a"),
        Just("b c"),
        Just("\t"),
        Just("<https://x.example>"),
        Just(" \"t\""),
        Just("é"),
        Just("+ "),
        Just("10) "),
        Just("\u{a0}"),
        Just(":"),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Returns whether reading gave up and kept the source.
fn was_kept(blocks: &[Block]) -> bool {
    matches!(blocks, [Block { kind: BlockKind::Code { language }, .. }] if language == "markdown")
}

#[test]
fn hardly_any_source_does_not_settle_and_is_kept_as_code() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let kept = (0..2_000)
        .filter(|_| {
            let markdown = soup().new_tree(&mut runner).expect("a soup").current();
            blocks(&markdown).is_ok_and(|blocks| was_kept(&blocks))
        })
        .count();
    assert!(kept < 100, "{kept} of 2000 soups were kept as code");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn what_was_read_once_reads_back_as_itself(markdown in soup()) {
        if let Ok(first) = blocks(&markdown) {
            let written = text(&first);
            prop_assert_eq!(read::read(&written).expect("it was read before"), first.clone());
            prop_assert_eq!(blocks(&written).expect("it was read before"), first);
        }
    }

    #[test]
    fn arbitrary_text_never_panics_and_reads_back_as_itself(markdown in any::<String>()) {
        if let Ok(first) = blocks(&markdown) {
            prop_assert_eq!(blocks(&text(&first)).expect("it was read before"), first);
        }
    }

    #[test]
    fn plain_words_are_kept_as_they_are(words in "[A-Za-z0-9,;!?'\" é€%/()-]{1,40}") {
        let words = format!("x{words}");
        let written = text(&read(&words));
        prop_assert_eq!(written.split_whitespace().collect::<Vec<_>>(), words.split_whitespace().collect::<Vec<_>>());
    }
}
