//! Replies, forwards, threads.

use super::sending::saved;
use super::*;

#[test]
fn a_reply_quotes_and_refers_and_prefixes_once() {
    let mut bench = bench();
    let first = deliver(&mut bench, "Bob Ray <bob@b.example>", "Roof", "It leaks.\n\n> since when?");
    bench.call("mail.reply", map! { "uid" => 1_i64, "body" => "I come." }).expect("a reply");
    let reply = messages(&mut bench, "bob@b.example", "INBOX").remove(0);
    let quoted =
        "I come.\n\nOn 2026-03-16T09:00:01+01:00, Bob Ray <bob@b.example> wrote:\n> It leaks.\n>\n>> since when?\n";
    assert_eq!(text(&reply, "body"), quoted);
    assert_eq!(text(&reply, "new_text"), "I come.");
    assert_eq!(text(&reply, "subject"), "Re: Roof");
    assert_eq!(text(&reply, "in_reply_to"), text(&first, "message_id"));
    bench.desk.address = "bob@b.example".into();
    bench.call("mail.reply", map! { "uid" => 1_i64, "body" => "Thanks." }).expect("a reply");
    let answer = messages(&mut bench, "ann@acme.example", "INBOX").remove(1);
    assert_eq!(text(&answer, "subject"), "Re: Roof");
    assert_eq!(
        list(&answer, "references"),
        [first.get("message_id").expect("an id").clone(), reply.get("id").expect("an id").clone()]
    );
}

#[test]
fn a_reply_marks_the_original_as_answered() {
    let mut bench = bench();
    deliver(&mut bench, "bob@b.example", "Roof", "It leaks.");
    bench.call("mail.reply", map! { "uid" => 1_i64, "body" => "I come." }).expect("a reply");
    bench
        .call("mail.forward", map! { "uid" => 1_i64, "to" => vec!["carl@c.example"], "body" => "" })
        .expect("a forward");
    let flags =
        map! { "flags" => messages(&mut bench, "ann@acme.example", "INBOX")[0].get("flags").expect("flags").clone() };
    assert_eq!(list(&flags, "flags"), [Value::from("$Forwarded"), "\\Answered".into()]);
}

#[test]
fn a_reply_to_all_keeps_everybody_but_oneself_once() {
    let mut bench = bench();
    let arguments = map! {
        "from" => "bob@b.example", "to" => vec!["ann@acme.example", "Carl <carl@c.example>"],
        "cc" => vec!["dora@d.example", "bob@b.example"], "subject" => "Re: s", "body" => "b",
    };
    bench.call("mail.deliver", arguments).expect("a message");
    let more = map! { "uid" => 1_i64, "body" => "ok", "cc" => vec!["eve@e.example", "carl@c.example"] };
    let sent = bench.call("mail.reply_all", more).expect("a reply");
    assert_eq!(list(&sent, "to"), [Value::from("bob@b.example"), "Carl <carl@c.example>".into()]);
    assert_eq!(list(&sent, "cc"), [Value::from("dora@d.example"), "eve@e.example".into()]);
}

#[test]
fn a_reply_goes_where_the_sender_wants_it() {
    let mut bench = bench();
    import(&mut bench, b"From: Bob <bob@b.example>\r\nReply-To: office@b.example\r\nTo: ann@acme.example\r\nSubject: AW: x\r\n\r\nhello\r\n");
    let sent = bench.call("mail.reply", map! { "uid" => 1_i64, "body" => "ok" }).expect("a reply");
    assert_eq!(list(&sent, "to"), [Value::from("office@b.example")]);
}

#[test]
fn a_reply_to_ones_own_message_goes_where_that_went() {
    let mut bench = bench();
    send(&mut bench, "bob@b.example", "s", "b");
    let sent = bench.call("mail.reply", map! { "folder" => "Sent", "uid" => 1_i64, "body" => "and" }).expect("a reply");
    assert_eq!(list(&sent, "to"), [Value::from("bob@b.example")]);
}

#[test]
fn a_forward_carries_the_text_and_the_attachments() {
    let mut bench = bench();
    let file = map! { "name" => "Größe.bin", "blob" => bench.blob(&[0, 255, 13, 10]) };
    let arguments = map! {
        "from" => "bob@b.example", "to" => vec!["ann@acme.example"], "subject" => "Plan", "body" => "See file.", "files" => vec![file],
    };
    bench.call("mail.deliver", arguments).expect("a message");
    bench
        .call("mail.forward", map! { "uid" => 1_i64, "to" => vec!["ann@acme.example"], "body" => "FYI" })
        .expect("a forward");
    let forwarded = messages(&mut bench, "ann@acme.example", "INBOX").remove(1);
    assert_eq!(text(&forwarded, "subject"), "Fwd: Plan");
    assert!(
        text(&forwarded, "body").starts_with("FYI\n\n---------- Forwarded message ----------\nFrom: bob@b.example\n")
    );
    assert!(text(&forwarded, "body").ends_with("\n\nSee file."));
    assert_eq!(saved(&bench, 2, "Größe.bin"), [0, 255, 13, 10]);
}

#[test]
fn a_thread_holds_together_across_folders_and_gaps() {
    let mut bench = bench();
    let message = |id: &str, refers: &str| {
        format!("From: b@b.example\r\nTo: ann@acme.example\r\nMessage-ID: <{id}>\r\n{refers}Subject: {id}\r\n\r\nx\r\n")
            .into_bytes()
    };
    import(&mut bench, &message("d@x", "References: <a@x> <b@x> <c@x>\r\n"));
    import(&mut bench, &message("a@x", ""));
    import(&mut bench, &message("c@x", "In-Reply-To: <b@x>\r\n"));
    import(&mut bench, &message("other@x", ""));
    bench.call("mail.move", map! { "message_id" => "c@x", "destination" => "Archive" }).expect("a move");
    for id in ["a@x", "b@x", "d@x"] {
        let thread = bench.ask("thread", map! { "message_id" => id }).expect("a thread");
        let mut ids: Vec<&str> = thread.as_list().expect("a list").iter().map(|each| text(each, "id")).collect();
        ids.sort_unstable();
        assert_eq!(ids, ["a@x", "c@x", "d@x"], "asked for {id}");
    }
    let answer = bench.call("mail.thread", map! { "uid" => 2_i64 }).expect("a thread");
    assert_eq!(list(&answer, "messages").len(), 3);
}

#[test]
fn messages_that_refer_to_each_other_in_a_circle_end() {
    let mut bench = bench();
    for (id, parent) in [("a@x", "b@x"), ("b@x", "a@x"), ("c@x", "c@x")] {
        import(&mut bench, format!("Message-ID: <{id}>\r\nIn-Reply-To: <{parent}>\r\n\r\nx").as_bytes());
    }
    let thread = bench.ask("thread", map! { "message_id" => "a@x" }).expect("a thread");
    assert_eq!(thread.as_list().map(<[Value]>::len), Some(2));
    let alone = bench.ask("thread", map! { "message_id" => "c@x" }).expect("a thread");
    assert_eq!(alone.as_list().map(<[Value]>::len), Some(1));
}
