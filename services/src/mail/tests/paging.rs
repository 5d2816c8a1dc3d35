//! Pages of listings and searches while the world goes on: nothing is left out, nothing shown twice.

use super::*;

fn subjects(page: &Value) -> Vec<String> {
    list(page, "messages").iter().map(|each| text(each, "subject").to_owned()).collect()
}

/// Goes through all pages of a tool, with something happening after the first.
fn pages(
    bench: &mut Bench<MailState>,
    tool: &str,
    mut arguments: Value,
    between: impl FnOnce(&mut Bench<MailState>),
) -> Vec<String> {
    let mut between = Some(between);
    let mut shown = Vec::new();
    loop {
        let page = bench.call(tool, arguments.clone()).expect("a page");
        shown.extend(subjects(&page));
        let Some(cursor) = page.get("cursor").and_then(Value::as_text) else { return shown };
        if let Value::Map(arguments) = &mut arguments {
            arguments.insert("cursor".into(), cursor.into());
        }
        between.take().into_iter().for_each(|happens| happens(bench));
    }
}

fn filled() -> Bench<MailState> {
    let mut bench = bench();
    for subject in ["1", "2", "3", "4", "5", "6"] {
        deliver(&mut bench, "bob@b.example", subject, "word");
    }
    bench
}

#[test]
fn what_arrives_between_two_pages_hides_nothing() {
    for (tool, asked) in [
        ("mail.list", map! { "limit" => 2_i64 }),
        ("mail.list", map! { "limit" => 2_i64, "unread" => true }),
        ("mail.search", map! { "limit" => 2_i64, "text" => "word" }),
    ] {
        let shown = pages(&mut filled(), tool, asked, |bench| {
            deliver(bench, "bob@b.example", "new", "word");
        });
        assert_eq!(shown, ["6", "5", "4", "3", "2", "1"], "{tool}");
    }
}

#[test]
fn the_message_at_the_cursor_can_be_read_moved_or_deleted() {
    for change in ["mail.read", "mail.move", "mail.delete"] {
        for (tool, asked) in [
            ("mail.list", map! { "limit" => 2_i64, "unread" => true }),
            ("mail.search", map! { "limit" => 2_i64, "unread" => true, "text" => "word" }),
        ] {
            let shown = pages(&mut filled(), tool, asked, |bench| {
                for uid in [5_i64, 6] {
                    let mut arguments = map! { "uid" => uid };
                    if let (Value::Map(arguments), "mail.move") = (&mut arguments, change) {
                        arguments.insert("destination".into(), "Archive".into());
                    }
                    bench.call(change, arguments).expect("a message");
                }
            });
            let once: std::collections::BTreeSet<&String> = shown.iter().collect();
            assert!((1..=6).all(|number| once.contains(&number.to_string())), "{tool} {change}: {shown:?}");
        }
    }
}

#[test]
fn a_message_that_moves_before_it_is_shown_is_shown_where_it_lies() {
    let shown = pages(&mut filled(), "mail.search", map! { "limit" => 2_i64, "text" => "word" }, |bench| {
        for uid in [4_i64, 1] {
            bench.call("mail.move", map! { "uid" => uid, "destination" => "Archive" }).expect("a message");
        }
    });
    assert_eq!(shown, ["6", "5", "4", "3", "2", "1"]);
}

#[test]
fn a_listing_goes_by_the_time_at_which_messages_came_in() {
    let mut bench = bench();
    for (subject, received) in
        [("second", "2026-03-02T08:00:00Z"), ("third", "2026-03-03T08:00:00Z"), ("first", "2026-03-01T08:00:00Z")]
    {
        let blob = bench.blob(format!("Subject: {subject}\r\n\r\nb").as_bytes());
        let arguments = map! { "address" => "ann@acme.example", "blob" => blob, "received" => received };
        bench.call("mail.import", arguments).expect("a message");
    }
    for limit in 1..=3_i64 {
        let shown = pages(&mut bench, "mail.list", map! { "limit" => limit }, |_| {});
        assert_eq!(shown, ["third", "second", "first"]);
    }
}

#[test]
fn cursors_of_older_logs_still_work() {
    let mut bench = filled();
    let page = bench.call("mail.list", map! { "limit" => 2_i64, "cursor" => "5" }).expect("a page");
    assert_eq!(subjects(&page), ["4", "3"]);
    let page = bench.call("mail.search", map! { "limit" => 2_i64, "cursor" => "2", "text" => "word" }).expect("a page");
    assert_eq!(subjects(&page), ["4", "3"]);
    for cursor in ["x", "1 x", " ", "99999999999999999999 1"] {
        assert_eq!(code(bench.call("mail.list", map! { "cursor" => cursor })), "mail/bad-cursor", "{cursor:?}");
        assert_eq!(code(bench.call("mail.search", map! { "cursor" => cursor })), "mail/bad-cursor", "{cursor:?}");
    }
}
