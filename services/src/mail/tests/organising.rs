//! Folders, moving, flags, deleting, reading marks.

use super::*;

#[test]
fn numbers_never_come_back() {
    let mut bench = bench();
    for _ in 0..3 {
        deliver(&mut bench, "bob@b.example", "s", "b");
    }
    for folder in ["INBOX", "Trash"] {
        let uid = int(messages(&mut bench, "ann@acme.example", folder).last().expect("a message"), "uid");
        bench.call("mail.delete", map! { "folder" => folder, "uid" => uid }).expect("a deletion");
    }
    deliver(&mut bench, "bob@b.example", "new", "b");
    let uids: Vec<i64> =
        messages(&mut bench, "ann@acme.example", "INBOX").iter().map(|each| int(each, "uid")).collect();
    assert_eq!(uids, [1, 2, 4]);
    assert!(messages(&mut bench, "ann@acme.example", "Trash").is_empty());
}

#[test]
fn a_moved_message_keeps_flags_and_reading_mark() {
    let mut bench = bench();
    deliver(&mut bench, "bob@b.example", "s", "b");
    bench.call("mail.flag", map! { "uid" => 1_i64, "add" => vec!["flagged", "todo", "seen"] }).expect("flags");
    bench.call("mail.create_folder", map! { "folder" => "Projects/Roof" }).expect("a folder");
    bench.call("mail.move", map! { "uid" => 1_i64, "destination" => "Projects/Roof" }).expect("a move");
    let moved = messages(&mut bench, "ann@acme.example", "Projects/Roof");
    assert_eq!(list(&moved[0], "flags"), [Value::from("\\Flagged"), "\\Seen".into(), "todo".into()]);
    assert!(messages(&mut bench, "ann@acme.example", "INBOX").is_empty());
}

#[test]
fn flags_are_graded_and_reading_marks_are_not() {
    let mut bench = bench();
    deliver(&mut bench, "bob@b.example", "s", "b");
    let before = bench.service.graded_digest();
    bench.call("mail.flag", map! { "uid" => 1_i64, "add" => vec!["\\Seen"] }).expect("a mark");
    assert_eq!(bench.service.graded_digest(), before);
    bench.call("mail.flag", map! { "uid" => 1_i64, "add" => vec!["\\Flagged"] }).expect("a flag");
    assert_ne!(bench.service.graded_digest(), before);
    bench.call("mail.flag", map! { "uid" => 1_i64, "remove" => vec!["Flagged", "seen"] }).expect("no flags");
    assert_eq!(bench.service.graded_digest(), before);
    assert!(list(&messages(&mut bench, "ann@acme.example", "INBOX")[0], "flags").is_empty());
}

#[test]
fn folders_count_messages_and_unread_ones() {
    let mut bench = bench();
    deliver(&mut bench, "bob@b.example", "one", "b");
    deliver(&mut bench, "bob@b.example", "two", "b");
    read(&mut bench, 2);
    let answer = bench.call("mail.folders", map! {}).expect("folders");
    let names: Vec<&str> = list(&answer, "folders").iter().map(|folder| text(folder, "name")).collect();
    assert_eq!(names, ["INBOX", "Sent", "Drafts", "Archive", "Trash"]);
    let inbox = &list(&answer, "folders")[0];
    assert_eq!((int(inbox, "messages"), int(inbox, "unread")), (2, 1));
}

#[test]
fn a_listing_is_newest_first_and_goes_on_from_its_cursor() {
    let mut bench = bench();
    for subject in ["1", "2", "3", "4", "5"] {
        deliver(&mut bench, "bob@b.example", subject, "b");
    }
    read(&mut bench, 4);
    let subjects =
        |page: &Value| list(page, "messages").iter().map(|each| text(each, "subject").to_owned()).collect::<Vec<_>>();
    let first = bench.call("mail.list", map! { "limit" => 2_i64 }).expect("a page");
    assert_eq!(subjects(&first), ["5", "4"]);
    let next = map! { "limit" => 2_i64, "cursor" => text(&first, "cursor"), "unread" => true };
    let second = bench.call("mail.list", next).expect("a page");
    assert_eq!(subjects(&second), ["3", "2"]);
    let last = bench.call("mail.list", map! { "limit" => 3_i64, "cursor" => text(&second, "cursor") }).expect("a page");
    assert_eq!((subjects(&last), last.get("cursor")), (vec!["1".to_owned()], Some(&Value::Null)));
    let unread = bench.call("mail.list", map! { "unread" => true }).expect("a page");
    assert_eq!(subjects(&unread), ["5", "3", "2", "1"]);
}

#[test]
fn a_message_is_found_by_its_id_wherever_it_was_moved() {
    let mut bench = bench();
    let id = text(&deliver(&mut bench, "bob@b.example", "s", "b"), "message_id").to_owned();
    bench.call("mail.move", map! { "message_id" => format!("<{id}>"), "destination" => "archive" }).expect("a move");
    let shown = bench.call("mail.read", map! { "message_id" => id.clone() }).expect("the message");
    assert_eq!(text(&shown, "folder"), "Archive");
    assert_eq!(code(bench.call("mail.read", map! { "message_id" => id, "folder" => "INBOX" })), "mail/unknown-message");
}

#[test]
fn nobody_reads_other_peoples_mail() {
    let mut bench = bench();
    let id = text(&send(&mut bench, "bob@b.example", "s", "b"), "message_id").to_owned();
    bench.desk.address = "carl@b.example".into();
    assert_eq!(code(bench.call("mail.read", map! { "message_id" => id })), "mail/unknown-message");
}

#[test]
fn what_makes_no_sense_is_refused_and_changes_nothing() {
    let mut bench = bench();
    deliver(&mut bench, "bob@b.example", "s", "b");
    bench.call("mail.create_folder", map! { "folder" => "Work" }).expect("a folder");
    let before = bench.service.graded_digest();
    let cases = [
        ("mail.read", map! { "uid" => 2_i64 }, "mail/unknown-message"),
        ("mail.read", map! { "uid" => -1_i64 }, "mail/unknown-message"),
        ("mail.read", map! { "uid" => i64::MAX }, "mail/unknown-message"),
        ("mail.read", map! {}, "mail/which-message"),
        ("mail.read", map! { "uid" => 1_i64, "message_id" => "x" }, "mail/which-message"),
        ("mail.read", map! { "uid" => 1_i64, "offset" => -1_i64 }, "mail/bad-offset"),
        ("mail.move", map! { "uid" => 1_i64, "destination" => "Nowhere" }, "mail/unknown-folder"),
        ("mail.move", map! { "uid" => 1_i64, "destination" => "a//b" }, "mail/bad-folder"),
        ("mail.create_folder", map! { "folder" => "inbox" }, "mail/folder-exists"),
        ("mail.create_folder", map! { "folder" => "Work" }, "mail/folder-exists"),
        ("mail.create_folder", map! { "folder" => "a#b" }, "mail/bad-folder"),
        ("mail.flag", map! { "uid" => 1_i64 }, "mail/which-flag"),
        ("mail.flag", map! { "uid" => 1_i64, "add" => vec!["two words"] }, "mail/bad-flag"),
        ("mail.list", map! { "cursor" => "x" }, "mail/bad-cursor"),
        ("mail.list", map! { "limit" => 0_i64 }, "mail/bad-limit"),
        ("mail.send_draft", map! { "uid" => 1_i64 }, "mail/unknown-draft"),
        ("mail.import", map! { "address" => "a@b.c", "blob" => "00" }, "mail/unknown-blob"),
        ("mail.import", map! { "address" => "a@b.c", "blob" => "00".repeat(32) }, "mail/unknown-blob"),
        ("mail.save_attachment", map! { "uid" => 1_i64, "path" => "/a" }, "mail/no-files"),
    ];
    for (tool, arguments, refusal) in cases {
        assert_eq!(code(bench.call(tool, arguments)), refusal, "{tool}");
        assert_eq!(bench.service.graded_digest(), before, "{tool}");
    }
}

#[test]
fn search_finds_by_every_field() {
    let mut bench = bench();
    let file = map! { "name" => "Plan.pdf", "blob" => bench.blob(b"%PDF-") };
    let arguments = map! {
        "from" => "Bob Ray <bob@b.example>", "to" => vec!["ann@acme.example", "carl@c.example"], "subject" => "Der ÄRGER",
        "body" => "The roof leaks.", "files" => vec![file],
    };
    bench.call("mail.deliver", arguments).expect("a message");
    deliver(&mut bench, "dora@d.example", "other", "nothing");
    read(&mut bench, 2);
    for filter in [
        map! { "from" => "RAY" },
        map! { "from" => "bob@" },
        map! { "to" => "carl" },
        map! { "subject" => "ärger" },
        map! { "text" => "ROOF LEAKS" },
        map! { "text" => "plan.PDF" },
        map! { "query" => "ärger" },
        map! { "query" => "roof", "text" => "leaks" },
        map! { "has_attachment" => true },
        map! { "unread" => true },
        map! { "before" => "2026-03-16T09:00:02+01:00" },
        map! { "from" => "b.example", "text" => "roof", "since" => "2026-03-16T08:00:01Z", "folder" => "INBOX" },
    ] {
        let answer = bench.call("mail.search", filter.clone()).expect("a search");
        let uids: Vec<i64> = list(&answer, "messages").iter().map(|each| int(each, "uid")).collect();
        assert_eq!((uids, int(&answer, "total")), (vec![1], 1), "{filter}");
    }
    for filter in [
        map! { "text" => "r.of" },
        map! { "query" => "other roof" },
        map! { "from" => "ann" },
        map! { "since" => "2026-03-17T00:00:00Z" },
    ] {
        let answer = bench.call("mail.search", filter.clone()).expect("a search");
        assert_eq!(int(&answer, "total"), 0, "{filter}");
    }
}

#[test]
fn a_search_is_newest_first_over_all_folders_and_pages() {
    let mut bench = bench();
    for subject in ["1", "2", "3"] {
        deliver(&mut bench, "bob@b.example", subject, "word");
    }
    bench.call("mail.move", map! { "uid" => 2_i64, "destination" => "Archive" }).expect("a move");
    let first = bench.call("mail.search", map! { "text" => "word", "limit" => 2_i64 }).expect("a search");
    let second = bench
        .call("mail.search", map! { "text" => "word", "limit" => 2_i64, "cursor" => text(&first, "cursor") })
        .expect("a search");
    let subjects: Vec<&str> =
        [&first, &second].iter().flat_map(|page| list(page, "messages")).map(|each| text(each, "subject")).collect();
    assert_eq!(subjects, ["3", "2", "1"]);
    assert_eq!(second.get("cursor"), Some(&Value::Null));
}
