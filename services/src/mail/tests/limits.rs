//! The limits, each at, below and above.

use super::sending::raw;
use super::*;
use crate::mail::limits::*;

/// Checks that `max` is admitted and one more is refused with `refusal`.
fn holds(tool: &str, max: usize, refusal: &str, arguments: impl Fn(usize) -> Value) {
    for (size, is_good) in [(max - 1, true), (max, true), (max + 1, false)] {
        let mut bench = bench();
        deliver(&mut bench, "bob@b.example", "s", "b");
        match bench.call(tool, arguments(size)) {
            Ok(_) => assert!(is_good, "{size} is admitted by {tool}"),
            Err(found) => assert_eq!((is_good, &*found.code), (false, refusal), "{size}"),
        }
    }
}

#[test]
fn recipients() {
    holds("mail.send", RECIPIENTS_MAX, "mail/too-many-recipients", |count| {
        let to: Vec<String> = (0..count).map(|number| format!("p{number}@b.example")).collect();
        map! { "to" => to, "subject" => "s", "body" => "b" }
    });
}

#[test]
fn subjects() {
    holds("mail.send", SUBJECT_BYTES_MAX, "mail/bad-subject", |length| {
        map! { "to" => vec!["a@b.c"], "subject" => "s".repeat(length), "body" => "b" }
    });
}

#[test]
fn folder_names() {
    holds(
        "mail.create_folder",
        FOLDER_NAME_BYTES_MAX,
        "mail/bad-folder",
        |length| map! { "folder" => "f".repeat(length) },
    );
}

#[test]
fn flag_lengths() {
    holds(
        "mail.flag",
        FLAG_BYTES_MAX,
        "mail/bad-flag",
        |length| map! { "uid" => 1_i64, "add" => vec!["f".repeat(length)] },
    );
}

#[test]
fn flag_counts() {
    holds("mail.flag", FLAGS_MAX, "mail/too-many-flags", |count| {
        map! { "uid" => 1_i64, "add" => (0..count).map(|number| format!("f{number}")).collect::<Vec<_>>() }
    });
}

#[test]
fn list_pages() {
    holds("mail.list", LIST_PAGE_MAX, "mail/bad-limit", |limit| map! { "limit" => limit });
}

#[test]
fn search_results() {
    holds("mail.search", SEARCH_RESULTS_MAX, "mail/bad-limit", |limit| map! { "limit" => limit });
}

#[test]
fn search_texts() {
    holds(
        "mail.search",
        SEARCH_TEXT_BYTES_MAX,
        "mail/bad-search",
        |length| map! { "text" => "王".repeat(length / 3) + &"x".repeat(length % 3) },
    );
}

#[test]
fn folders() {
    let mut bench = bench();
    for number in 0..FOLDERS_MAX {
        bench.call("mail.create_folder", map! { "folder" => format!("f{number}") }).expect("a folder");
    }
    assert_eq!(code(bench.call("mail.create_folder", map! { "folder" => "one more" })), "mail/too-many-folders");
}

#[test]
fn attachments() {
    for (count, is_good) in [(ATTACHMENTS_MAX - 1, true), (ATTACHMENTS_MAX, true), (ATTACHMENTS_MAX + 1, false)] {
        let mut bench = bench();
        let blob = bench.blob(b"x");
        let file = || map! { "name" => "a.txt", "blob" => blob.clone() };
        let arguments = map! {
            "from" => "b@b.c", "to" => vec!["a@b.c"], "subject" => "s", "body" => "b", "files" => (0..count).map(|_| file()).collect::<Vec<_>>(),
        };
        let result = bench.call("mail.deliver", arguments);
        assert_eq!(result.is_ok(), is_good, "{count}");
        if !is_good {
            assert_eq!(code(result), "mail/too-many-attachments");
        }
    }
}

#[test]
fn imported_messages() {
    for (length, is_good) in [(MESSAGE_BYTES_MAX - 1, true), (MESSAGE_BYTES_MAX, true), (MESSAGE_BYTES_MAX + 1, false)]
    {
        let mut bench = bench();
        let mut source = b"Subject: long\r\n\r\n".to_vec();
        source.resize(length, b'x');
        let blob = bench.blob(&source);
        let result = bench.call("mail.import", map! { "address" => "ann@acme.example", "blob" => blob });
        assert_eq!(result.is_ok(), is_good, "{length}");
        if is_good {
            assert_eq!(raw(&bench, "ann@acme.example", "INBOX", 1), source);
        } else {
            assert_eq!(code(result), "mail/message-too-large");
        }
    }
}

#[test]
fn sent_messages() {
    let mut bench = bench();
    let blob = bench.blob(&vec![0; MESSAGE_BYTES_MAX * 3 / 4]);
    let arguments = map! {
        "from" => "b@b.c", "to" => vec!["a@b.c"], "subject" => "s", "body" => "b",
        "files" => vec![map! { "name" => "a.bin", "blob" => blob }],
    };
    assert_eq!(code(bench.call("mail.deliver", arguments)), "mail/message-too-large");
}

#[test]
fn shown_bodies_go_on_from_their_offset() {
    for (length, pages) in
        [(BODY_SHOWN_CHARS_MAX - 1, 1), (BODY_SHOWN_CHARS_MAX, 1), (BODY_SHOWN_CHARS_MAX + 1, 2), (100_000, 5)]
    {
        let mut bench = bench();
        let body: String = "aé王x\n".chars().cycle().take(length).collect();
        deliver(&mut bench, "bob@b.example", "s", &body);
        let (mut whole, mut offset, mut count) = (String::new(), Some(0), 0);
        while let Some(start) = offset {
            let shown = bench.call("mail.read", map! { "uid" => 1_i64, "offset" => start }).expect("a page");
            whole.push_str(text(&shown, "body"));
            assert_eq!(shown.get("note").is_some(), shown.get("next_offset").is_some());
            offset = shown.get("next_offset").and_then(Value::as_int);
            count += 1;
        }
        assert_eq!((whole == body, count), (true, pages), "{length}");
    }
}

#[test]
fn kept_texts_are_cut_and_the_rest_is_read_from_the_message() {
    for length in [TEXT_KEPT_BYTES_MAX - 1, TEXT_KEPT_BYTES_MAX, TEXT_KEPT_BYTES_MAX + 1] {
        let mut bench = bench();
        let body = "b".repeat(length - 5) + "1 end";
        deliver(&mut bench, "bob@b.example", "s", &body);
        assert_eq!(text(&messages(&mut bench, "ann@acme.example", "INBOX")[0], "body"), body);
        let found = bench.call("mail.search", map! { "text" => "1 end" }).expect("a search");
        assert_eq!(int(&found, "total"), i64::from(length <= TEXT_KEPT_BYTES_MAX), "{length}");
    }
}

#[test]
fn references_keep_the_first_and_the_last() {
    let mut bench = bench();
    let ids: Vec<String> = (0..REFERENCES_MAX + 5).map(|number| format!("<r{number}@x>")).collect();
    import(&mut bench, format!("Message-ID: <m@x>\r\nReferences: {}\r\n\r\nx", ids.join("\r\n ")).as_bytes());
    let kept = list(&messages(&mut bench, "ann@acme.example", "INBOX")[0], "references").to_vec();
    assert_eq!(kept.len(), REFERENCES_MAX);
    assert_eq!((&kept[0], &kept[1]), (&Value::from("r0@x"), &Value::from("r6@x")));
}

#[test]
fn messages_within_messages() {
    let nested = |depth: usize| "Content-Type: message/rfc822\r\n\r\n".repeat(depth) + "Subject: in\r\n\r\nx\r\n";
    for (depth, parts) in
        [(NESTED_MESSAGES_MAX - 1, 1), (NESTED_MESSAGES_MAX, 1), (NESTED_MESSAGES_MAX + 1, 0), (200_000, 0)]
    {
        let mut bench = bench();
        import(&mut bench, nested(depth).as_bytes());
        assert_eq!(list(&read(&mut bench, 1), "attachments").len(), parts, "{depth}");
    }
}

#[test]
fn snippets() {
    for (length, is_cut) in [(SNIPPET_CHARS_MAX - 1, false), (SNIPPET_CHARS_MAX, false), (SNIPPET_CHARS_MAX + 1, true)]
    {
        for body in ["王".repeat(length), "王 ".repeat(length / 2) + &"王".repeat(length % 2)] {
            let mut bench = bench();
            deliver(&mut bench, "bob@b.example", "s", &body);
            let page = bench.call("mail.list", map! {}).expect("a listing");
            let snippet = text(&list(&page, "messages")[0], "snippet").to_owned();
            let is_exact = body.trim_end() == snippet;
            assert_eq!(
                (snippet.ends_with('…'), is_exact),
                (!is_exact, body.trim_end().chars().count() <= SNIPPET_CHARS_MAX)
            );
            assert!(is_cut || is_exact, "{length}");
        }
    }
}

#[test]
fn threads() {
    for (size, shown) in [
        (THREAD_MESSAGES_MAX - 1, THREAD_MESSAGES_MAX - 1),
        (THREAD_MESSAGES_MAX, THREAD_MESSAGES_MAX),
        (THREAD_MESSAGES_MAX + 1, THREAD_MESSAGES_MAX),
    ] {
        let mut bench = bench();
        for number in 0..size {
            import(&mut bench, format!("Message-ID: <{number}@x>\r\nIn-Reply-To: <0@x>\r\n\r\nx").as_bytes());
        }
        let thread = bench.ask("thread", map! { "message_id" => "1@x" }).expect("a thread");
        assert_eq!(thread.as_list().map(<[Value]>::len), Some(shown), "{size}");
    }
}

#[test]
fn listed_parts() {
    for (count, shown) in [
        (PARTS_LISTED_MAX - 1, PARTS_LISTED_MAX - 1),
        (PARTS_LISTED_MAX, PARTS_LISTED_MAX),
        (PARTS_LISTED_MAX + 1, PARTS_LISTED_MAX),
    ] {
        let mut bench = bench();
        let part = "--b\r\nContent-Type: image/png\r\nContent-Disposition: attachment\r\n\r\nx\r\n";
        import(
            &mut bench,
            format!("Content-Type: multipart/mixed; boundary=b\r\n\r\n{}--b--\r\n", part.repeat(count)).as_bytes(),
        );
        assert_eq!(list(&read(&mut bench, 1), "attachments").len(), shown, "{count}");
    }
}
