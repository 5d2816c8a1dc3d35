//! Sending and delivering.

use super::*;

#[test]
fn a_message_lands_in_every_recipients_inbox_and_in_sent() {
    let mut bench = bench();
    let arguments = map! {
        "to" => vec!["Bob <BOB@acme.example>", "carl@acme.example"], "cc" => vec!["dora@acme.example"],
        "bcc" => vec!["eve@acme.example", "bob@ACME.example"], "subject" => "Roof", "body" => "It leaks.",
    };
    bench.call("mail.send", arguments).expect("a good message");
    for address in ["bob", "carl", "dora", "eve"] {
        let inbox = messages(&mut bench, &format!("{address}@acme.example"), "INBOX");
        assert_eq!(inbox.len(), 1, "{address}");
        assert_eq!(text(&inbox[0], "from"), "Ann Lee <ann@acme.example>");
        assert!(list(&inbox[0], "bcc").is_empty());
    }
    let sent = messages(&mut bench, "ann@acme.example", "Sent");
    assert_eq!(sent.len(), 1);
    assert_eq!(list(&sent[0], "bcc"), [Value::from("eve@acme.example")]);
    assert!(messages(&mut bench, "ann@acme.example", "INBOX").is_empty());
}

#[test]
fn the_bytes_do_not_name_blind_recipients() {
    let mut bench = bench();
    let arguments =
        map! { "to" => vec!["bob@b.example"], "bcc" => vec!["eve@b.example"], "subject" => "s", "body" => "b" };
    bench.call("mail.send", arguments).expect("a good message");
    assert!(!source(&bench, "bob@b.example", "INBOX", 1).contains("eve"));
}

#[test]
fn the_to_header_holds_bare_addresses_and_from_the_real_one() {
    let mut bench = bench();
    let arguments = map! { "to" => vec!["bob@b.example", "carl@b.example"], "subject" => "s", "body" => "b" };
    bench.call("mail.send", arguments).expect("a good message");
    let source = source(&bench, "bob@b.example", "INBOX", 1);
    assert!(source.contains("\r\nTo: bob@b.example, carl@b.example\r\n"), "{source}");
    assert!(source.contains("\r\nFrom: \"Ann Lee\" <ann@acme.example>\r\n"), "{source}");
    assert!(source.contains("\r\nDate: Mon, 16 Mar 2026 09:00:01 +0100\r\n"), "{source}");
}

#[test]
fn the_same_letter_has_the_same_bytes_and_id_in_two_worlds() {
    let (mut left, mut right) = (bench(), bench());
    let id = send(&mut left, "bob@b.example", "Grüße", "Äpfel");
    assert_eq!(id, send(&mut right, "bob@b.example", "Grüße", "Äpfel"));
    assert_eq!(source(&left, "bob@b.example", "INBOX", 1), source(&right, "bob@b.example", "INBOX", 1));
}

#[test]
fn the_moment_of_sending_makes_no_difference_to_the_graded_state() {
    let (mut left, mut right) = (bench(), bench());
    send(&mut left, "bob@b.example", "s", "b");
    right.call("mail.folders", map! {}).expect("folders");
    send(&mut right, "bob@b.example", "s", "b");
    assert_eq!(left.service.graded_digest(), right.service.graded_digest());
    let mut differences = Vec::new();
    crate::Service::differences(&left.service, &right.service, &mut differences);
    assert_eq!(differences, []);
}

#[test]
fn a_letter_sent_twice_has_two_ids() {
    let mut bench = bench();
    let first = send(&mut bench, "bob@b.example", "s", "b");
    let second = send(&mut bench, "bob@b.example", "s", "b");
    assert_ne!(text(&first, "message_id"), text(&second, "message_id"));
}

#[test]
fn a_body_comes_back_as_it_was_written() {
    for body in [
        "",
        "a",
        "a\n",
        "a\n\n",
        "two  spaces \nand tab\t\n",
        ".\n..\n",
        "From here\n>From",
        "Größe\n王\n",
        &"x".repeat(3000),
        "--b\n--\n",
    ] {
        let mut bench = bench();
        send(&mut bench, "bob@b.example", "s", body);
        assert_eq!(text(&messages(&mut bench, "bob@b.example", "INBOX")[0], "body"), body);
    }
}

#[test]
fn a_subject_comes_back_as_it_was_written() {
    for subject in ["Plain", "Grüße aus Köln", "报价单", "long ".repeat(60).trim_end(), "a: b; \"c\" <d>"] {
        let mut bench = bench();
        send(&mut bench, "bob@b.example", subject, "b");
        assert_eq!(text(&messages(&mut bench, "bob@b.example", "INBOX")[0], "subject"), subject);
    }
}

#[test]
fn delivered_mail_keeps_its_senders_name_and_thread() {
    let mut bench = bench();
    let first = deliver(&mut bench, "Bob Ray <bob@b.example>", "Question", "When?");
    let arguments = map! {
        "from" => "bob@b.example", "sender_name" => "Bob R.", "to" => vec!["ann@acme.example"], "subject" => "Re: Question",
        "body" => "Well?", "in_reply_to" => text(&first, "message_id"),
    };
    bench.call("mail.deliver", arguments).expect("a good message");
    let inbox = messages(&mut bench, "ann@acme.example", "INBOX");
    assert_eq!(text(&inbox[0], "from"), "Bob Ray <bob@b.example>");
    assert_eq!(text(&inbox[1], "from"), "Bob R. <bob@b.example>");
    assert_eq!(inbox[1].get("in_reply_to"), inbox[0].get("id"));
}

#[test]
fn delivered_files_come_with_the_message() {
    let mut bench = bench();
    let blob = bench.blob(b"a,b\r\n1,2\n\xff\xfe");
    let file = map! { "name" => "Größe.csv", "blob" => blob, "media_type" => "text/csv" };
    let arguments = map! {
        "from" => "bob@b.example", "to" => vec!["ann@acme.example"], "subject" => "s", "body" => "b", "files" => vec![file],
    };
    bench.call("mail.deliver", arguments).expect("a good message");
    let shown = read(&mut bench, 1);
    let part = &list(&shown, "attachments")[0];
    assert_eq!((text(part, "name"), text(part, "media_type"), int(part, "bytes")), ("Größe.csv", "text/csv", 11));
    assert_eq!(saved(&bench, 1, "Größe.csv"), b"a,b\r\n1,2\n\xff\xfe");
}

#[test]
fn a_draft_is_sent_with_what_it_holds() {
    let mut bench = bench();
    bench.call("mail.save_draft", map! { "subject" => "Plan", "body" => "to come" }).expect("a draft");
    let arguments = map! { "uid" => 1_i64, "to" => vec!["bob@b.example"], "bcc" => vec!["eve@b.example"], "subject" => "Plan", "body" => "done" };
    bench.call("mail.save_draft", arguments).expect("a new version");
    assert_eq!(messages(&mut bench, "ann@acme.example", "Drafts").len(), 1);
    assert_eq!(code(bench.call("mail.send_draft", map! { "uid" => 1_i64 })), "mail/unknown-draft");
    bench.call("mail.send_draft", map! { "uid" => 2_i64 }).expect("a draft with recipients");
    assert!(messages(&mut bench, "ann@acme.example", "Drafts").is_empty());
    for address in ["bob@b.example", "eve@b.example"] {
        assert_eq!(text(&messages(&mut bench, address, "INBOX")[0], "body"), "done");
    }
    let source = source(&bench, "bob@b.example", "INBOX", 1);
    assert!(source.contains("Date: Mon, 16 Mar 2026 09:00:04 +0100\r\n"), "{source}");
    assert_eq!(source.matches("Message-ID:").count(), 1);
}

#[test]
fn a_refused_message_leaves_the_state_as_it_was() {
    let mut bench = bench();
    send(&mut bench, "bob@b.example", "s", "b");
    let before = bench.service.graded_digest();
    let cases = [
        (map! { "to" => Vec::<&str>::new(), "subject" => "s", "body" => "b" }, "mail/no-recipient"),
        (map! { "to" => vec!["bob"], "subject" => "s", "body" => "b" }, "mail/bad-address"),
        (map! { "to" => vec!["a@b.c"], "subject" => "a\nBcc: d@e.f", "body" => "b" }, "mail/bad-subject"),
        (map! { "to" => vec!["a@b.c"], "subject" => "s", "body" => "b", "attachments" => vec!["/a"] }, "mail/no-files"),
    ];
    for (arguments, refusal) in cases {
        assert_eq!(code(bench.call("mail.send", arguments)), refusal);
        assert_eq!(bench.service.graded_digest(), before);
    }
}

#[test]
fn who_has_no_address_has_no_mail() {
    let mut bench = bench();
    bench.desk.address = "".into();
    assert_eq!(code(bench.call("mail.list", map! {})), "mail/no-mailbox");
}

/// Returns the bytes of a message as text.
pub(super) fn source(bench: &Bench<MailState>, address: &str, folder: &str, uid: u32) -> String {
    String::from_utf8(raw(bench, address, folder, uid)).expect("a message that we wrote is ASCII")
}

/// Returns the bytes of a message.
pub(super) fn raw(bench: &Bench<MailState>, address: &str, folder: &str, uid: u32) -> Vec<u8> {
    use dayshift_engine::{Blobs as _, Content, Frame};
    match bench.service.source(&Frame::new(), address, folder, uid).expect("a message that is there") {
        Content::Inline(bytes) => bytes.to_vec(),
        Content::Blob { id, .. } => bench.blobs.get(*id).expect("a blob that is kept").to_vec(),
    }
}

/// Returns the content of an attachment as `mail.save_attachment` gets it.
pub(super) fn saved(bench: &Bench<MailState>, uid: i64, name: &str) -> Vec<u8> {
    use dayshift_engine::{Context, Frame, Seed, ToolCall};
    let frame = Frame::new();
    let context = Context {
        seq: bench.seq,
        time: bench.time,
        actor: &bench.actor,
        turn: None,
        allowance: dayshift_engine::Allowance::default(),
        seed: Seed::new(7),
        frame: &frame,
        blobs: &bench.blobs,
    };
    let call = ToolCall::new("mail.save_attachment", map! { "path" => "/x", "uid" => uid, "attachment" => name });
    bench.service.attachment(&call, &bench.desk, &context).expect("an attachment that is there").1
}
