//! What checks ask.

use super::*;

#[test]
fn messages_come_oldest_first_with_all_that_checks_look_at() {
    let mut bench = bench();
    deliver(&mut bench, "Bob <bob@b.example>", "one", "first\n");
    deliver(&mut bench, "carl@c.example", "two", "second");
    let inbox = messages(&mut bench, "ANN@acme.example", "inbox");
    assert_eq!(inbox.len(), 2);
    let first = &inbox[0];
    assert_eq!(
        (int(first, "uid"), text(first, "from"), text(first, "from_address")),
        (1, "Bob <bob@b.example>", "bob@b.example")
    );
    assert_eq!((text(first, "subject"), text(first, "body")), ("one", "first\n"));
    assert_eq!(list(first, "to"), [Value::from("ann@acme.example")]);
    assert_eq!(text(first, "time"), "2026-03-16T09:00:01+01:00");
}

#[test]
fn counting_reads_the_membership_and_counting_some_a_scan() {
    let mut bench = bench();
    deliver(&mut bench, "bob@b.example", "one", "b");
    deliver(&mut bench, "carl@c.example", "two", "b");
    assert_eq!(bench.ask("count", map! { "address" => "ann@acme.example" }), Ok(Value::Int(2)));
    assert_eq!(bench.read_keys(), ["mail:ann@acme.example/INBOX/"]);
    assert_eq!(bench.ask("count", map! { "address" => "ann@acme.example", "from" => "BOB" }), Ok(Value::Int(1)));
    assert!(bench.read_keys().contains(&"mail:ann@acme.example/INBOX/*"));
    assert!(bench.read_keys().contains(&"mail:ann@acme.example/INBOX/1"));
}

#[test]
fn a_search_reads_the_folder_and_the_matches() {
    let mut bench = bench();
    deliver(&mut bench, "bob@b.example", "one", "b");
    deliver(&mut bench, "carl@c.example", "two", "b");
    let found = bench.ask("search", map! { "address" => "ann@acme.example", "text" => "TWO" }).expect("a search");
    assert_eq!(found.as_list().map(|found| int(&found[0], "uid")), Some(2));
    let items: Vec<&str> = bench.read_keys().into_iter().filter(|key| !key.contains('#')).collect();
    assert_eq!(
        items,
        ["mail:ann@acme.example/INBOX/", "mail:ann@acme.example/INBOX/*", "mail:ann@acme.example/INBOX/2"]
    );
}

#[test]
fn sent_is_what_somebody_sent() {
    let mut bench = bench();
    send(&mut bench, "bob@b.example", "s", "b");
    let sent = bench.ask("sent", map! { "address" => "ann@acme.example" }).expect("a list");
    assert_eq!(sent.as_list().map(<[Value]>::len), Some(1));
    let nobody = bench.ask("sent", map! { "address" => "nobody@x.example" }).expect("a list");
    assert_eq!(nobody, Value::List(Vec::new()));
    assert_eq!(bench.read_keys(), ["mail:nobody@x.example/Sent/"]);
}

#[test]
fn one_message_comes_with_html_and_headers_and_an_absent_one_is_null() {
    let mut bench = bench();
    import(&mut bench, b"Subject: x\r\nX-Kind: a\r\n b\r\nContent-Type: text/html\r\n\r\n<p>Hi <b>you</b></p>\r\n");
    let message = bench.ask("message", map! { "address" => "ann@acme.example", "uid" => 1_i64 }).expect("a message");
    assert_eq!(text(&message, "html"), "<p>Hi <b>you</b></p>\r\n");
    assert_eq!(text(&message, "body").trim(), "Hi you");
    assert_eq!(list(&message, "headers")[1], map! { "name" => "X-Kind", "value" => "a b" });
    assert_eq!(bench.ask("message", map! { "address" => "ann@acme.example", "uid" => 2_i64 }), Ok(Value::Null));
}

#[test]
fn a_question_that_makes_no_sense_is_refused() {
    let mut bench = bench();
    assert_eq!(code(bench.ask("weather", map! {})), "query/unknown");
    assert_eq!(code(bench.ask("messages", map! { "adress" => "a@b.c" })), "query/bad-arguments");
    assert_eq!(code(bench.ask("messages", map! { "address" => 1_i64 })), "query/bad-arguments");
    assert_eq!(code(bench.ask("search", map! { "since" => "monday" })), "query/bad-arguments");
    assert_eq!(code(bench.ask("message", map! {})), "query/bad-arguments");
}

#[test]
fn differences_name_the_messages_and_flags_that_differ() {
    let (mut left, mut right) = (bench(), bench());
    deliver(&mut left, "bob@b.example", "one", "b");
    deliver(&mut right, "bob@b.example", "two", "b");
    right.call("mail.flag", map! { "uid" => 1_i64, "add" => vec!["flagged"] }).expect("a flag");
    let mut differences = Vec::new();
    crate::Service::differences(&left.service, &right.service, &mut differences);
    let keys: Vec<&str> = differences.iter().map(|each| each.key.as_str()).collect();
    let expected =
        ["mail:ann@acme.example/INBOX/1", "mail:ann@acme.example/INBOX#flags/1", "mail:bob@b.example/Sent/1"];
    assert_eq!(keys, expected);
    let subject = |value: &Option<Value>| value.as_ref().map(|value| text(value, "subject").to_owned());
    assert_eq!(
        (subject(&differences[0].left), subject(&differences[0].right)),
        (Some("one".into()), Some("two".into()))
    );
}

#[test]
fn the_dump_shows_every_mailbox() {
    let mut bench = bench();
    deliver(&mut bench, "bob@b.example", "one", "b");
    let dump = crate::Service::dump(&bench.service);
    let inbox = dump.get("ann@acme.example").and_then(|mailbox| mailbox.get("INBOX")).expect("an inbox");
    assert_eq!(inbox.as_list().map(|rows| text(&rows[0], "subject")), Some("one"));
}

#[test]
fn marks_and_flags_are_shown_and_read_only_where_a_question_asks_for_them() {
    let mut bench = bench();
    deliver(&mut bench, "bob@b.example", "one", "b");
    send(&mut bench, "bob@b.example", "s", "b");
    let id = text(&messages(&mut bench, "ann@acme.example", "INBOX")[0], "id").to_owned();
    for (verb, more) in [
        ("messages", map! {}),
        ("sent", map! {}),
        ("search", map! { "subject" => "one" }),
        ("message", map! { "message_id" => id.clone() }),
        ("thread", map! { "message_id" => id.clone() }),
    ] {
        bench.ask(verb, more.clone()).expect("a good question");
        assert!(bench.read_keys().iter().all(|key| !key.contains('#')), "{verb}: {:?}", bench.read_keys());
        if verb == "thread" {
            continue;
        }
        let Value::Map(mut asked) = more else { unreachable!("arguments are a map") };
        asked.insert("flags".into(), true.into());
        let answer = bench.ask(verb, Value::Map(asked)).expect("a good question");
        let first = answer.as_list().map_or(&answer, |all| &all[0]);
        assert!(first.get("flags").is_some() && first.get("unread").is_some(), "{verb}: {first}");
        assert!(bench.read_keys().iter().any(|key| key.contains("#flags/")), "{verb}: {:?}", bench.read_keys());
    }
}

#[test]
fn a_message_is_unread_until_it_is_read() {
    let mut bench = bench();
    deliver(&mut bench, "bob@b.example", "one", "b");
    assert_eq!(messages(&mut bench, "ann@acme.example", "INBOX")[0].get("unread"), Some(&Value::Bool(true)));
    read(&mut bench, 1);
    assert_eq!(messages(&mut bench, "ann@acme.example", "INBOX")[0].get("unread"), Some(&Value::Bool(false)));
}
