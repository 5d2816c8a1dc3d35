//! Real messages as other programs write them, and mail as people know it.

use dayshift_engine::{BUDGET_WORK, Budget, Content};

use super::*;
use crate::mail::limits::{BATCH_MESSAGES_MAX, REFERENCES_BYTES_MAX};
use crate::mail::parse;

fn names(shown: &Value) -> Vec<&str> {
    list(shown, "attachments").iter().map(|part| text(part, "name")).collect()
}

#[test]
fn names_of_attachments_come_in_pieces() {
    let part = |header: &str| format!("--x\r\n{header}\r\n\r\nbody\r\n");
    let parts = [
        "Content-Type: application/pdf\r\nContent-Disposition: attachment;\r\n filename*0*=utf-8''Gr%C3;\r\n filename*1*=%BC%C3%9Fe;\r\n filename*2=.pdf",
        "Content-Type: application/pdf;\r\n name*0*=iso-8859-1'de'M%E4;\r\n name*1=rz.pdf\r\nContent-Disposition: attachment",
        "Content-Type: application/pdf; name=\"=?utf-8?B?0LTQ?= =?utf-8?Q?=BE.pdf?=\"\r\nContent-Disposition: attachment",
        "Content-Type: application/pdf\r\nContent-Disposition: attachment; filename=\"=?ks_c_5601-1987?B?sKE=?=.pdf\"",
    ];
    let source = format!(
        "From: bob@b.example\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n{}--x--\r\n",
        parts.map(part).concat()
    );
    let mut bench = bench();
    import(&mut bench, source.as_bytes());
    assert_eq!(names(&read(&mut bench, 1)), ["Grüße.pdf", "März.pdf", "до.pdf", "가.pdf"]);
}

#[test]
fn subjects_and_names_of_mixed_words_are_whole_and_the_attachments_behind_them_too() {
    let source = "Subject: =?utf-8?B?R3LD?= =?utf-8?Q?=BC=C3=9Fe_aus_der_Abteilung_f=C3?=\r\n =?utf-8?B?vHIgRmluYW56ZW4=?=\r\n\
        From: =?utf-8?Q?J=C3?= =?utf-8?B?vHJnZW4=?= <j@b.example>\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n\
        --x\r\nContent-Type: application/octet-stream\r\nContent-Disposition: attachment; filename=a.bin\r\nContent-Transfer-Encoding: base64\r\n\r\nAAEC\r\n--x--\r\n";
    let mut bench = bench();
    import(&mut bench, source.as_bytes());
    let shown = read(&mut bench, 1);
    assert_eq!(text(&shown, "subject"), "Grüße aus der Abteilung für Finanzen");
    assert_eq!(text(&shown, "from"), "Jürgen <j@b.example>");
    let found = parse::attachments(source.as_bytes(), |index| index == 0, &Budget::default());
    assert_eq!(found, Ok(vec![vec![0, 1, 2]]));
}

#[test]
fn a_charset_stands_for_what_programs_mean_by_it() {
    let body = |charset: &str, octets: &[u8]| {
        let head = format!("Content-Type: text/plain; charset={charset}\r\n\r\n");
        let bytes = [head.as_bytes(), octets].concat();
        parse::parse(&bytes, Content::Inline([].into()), &Budget::default()).expect("a small message").text
    };
    assert_eq!(body("iso-8859-1", b"\x80 5 \x93x\x94"), "€ 5 “x”");
    assert_eq!(body("iso-8859-9", b"\x80 5 \xfd"), "€ 5 ı");
    assert_eq!(body("us-ascii", b"caf\xe9"), "café");
    assert_eq!(&*body("gb2312", b"\xe9\x5f"), &*encoding_rs::GBK.decode(b"\xe9\x5f").0);
    assert_eq!(&*body("ks_c_5601-1987", b"\x8c\x63"), &*encoding_rs::EUC_KR.decode(b"\x8c\x63").0);
    assert_eq!(body("tis-620", b"\x80 \xa1"), "€ ก");
}

#[test]
fn a_date_that_is_none_is_unknown() {
    let date = |value: &str| {
        let mut bench = bench();
        import(&mut bench, format!("Date: {value}\r\nSubject: s\r\n\r\nb").as_bytes());
        text(&read(&mut bench, 1), "date").to_owned()
    };
    assert_eq!(date("10 Mar 26 09:30 EST"), "2026-03-10T15:30:00+01:00");
    assert_eq!(date("10 March 2026 09:30"), "2026-03-10T10:30:00+01:00");
    for value in ["31 Feb 2026 10:00:00 +0000", "yesterday", "", "0", "Thu, 00 Jan 1970 00:00:00 +0000"] {
        assert_eq!(date(value), "unknown", "{value:?}");
    }
}

#[test]
fn a_long_thread_keeps_its_first_and_its_last_messages() {
    let mut bench = bench();
    let first = text(&deliver(&mut bench, "bob@b.example", "s", "b"), "message_id").to_owned();
    let mut last = first.clone();
    for number in 0..30 {
        let answered = bench.call("mail.reply", map! { "message_id" => last.clone(), "body" => format!("{number}") });
        last = text(&answered.expect("an answer"), "message_id").to_owned();
    }
    let shown = bench.call("mail.read", map! { "message_id" => last, "headers" => true }).expect("the last answer");
    let references = list(&shown, "references");
    assert_eq!(references.first().and_then(Value::as_text), Some(first.as_str()));
    assert_eq!(references.last().and_then(Value::as_text), Some(text(&shown, "in_reply_to")));
    let header = list(&shown, "headers").iter().find(|header| text(header, "name") == "References").expect("the field");
    let length = "References: ".len() + text(header, "value").len();
    assert!((REFERENCES_BYTES_MAX - 200..=REFERENCES_BYTES_MAX).contains(&length), "{length}");
}

#[test]
fn reading_shows_the_flags_after_it() {
    let mut bench = bench();
    deliver(&mut bench, "bob@b.example", "s", "b");
    assert_eq!(list(&read(&mut bench, 1), "flags"), [Value::from("\\Seen")]);
}

#[test]
fn what_is_quoted_can_be_left_out() {
    let mut bench = bench();
    deliver(&mut bench, "bob@b.example", "s", "Yes.\n\nOn Monday, Ann wrote:\n> Is it so?\n> Really?\n");
    let shown = bench.call("mail.read", map! { "uid" => 1_i64, "quotes" => false }).expect("a message");
    assert_eq!(text(&shown, "body"), "Yes.");
    assert!(text(&read(&mut bench, 1), "body").contains("> Is it so?"));
}

#[test]
fn ones_own_messages_are_not_unread() {
    let mut bench = bench();
    for folder in ["Sent", "Drafts"] {
        let blob = bench.blob(b"From: ann@acme.example\r\nSubject: s\r\n\r\nb");
        let arguments = map! { "address" => "ann@acme.example", "blob" => blob, "folder" => folder };
        bench.call("mail.import", arguments).expect("a message");
    }
    send(&mut bench, "bob@b.example", "s", "b");
    let answer = bench.call("mail.folders", map! {}).expect("folders");
    assert!(list(&answer, "folders").iter().all(|folder| int(folder, "unread") == 0));
}

#[test]
fn several_messages_are_done_in_one_call() {
    let mut bench = bench();
    let ids: Vec<String> = (0..4)
        .map(|number| text(&deliver(&mut bench, "bob@b.example", &number.to_string(), "b"), "message_id").to_owned())
        .collect();
    let flagged =
        bench.call("mail.flag", map! { "uids" => vec![1_i64, 3, 1], "add" => vec!["flagged", "seen"] }).expect("flags");
    assert_eq!(list(&flagged, "messages").len(), 2);
    let moved = map! { "message_ids" => ids[..2].to_vec(), "destination" => "Archive" };
    assert_eq!(list(&bench.call("mail.move", moved).expect("a move"), "messages").len(), 2);
    assert_eq!(messages(&mut bench, "ann@acme.example", "Archive").len(), 2);
    let missing = map! { "uids" => vec![3_i64, 99] };
    assert_eq!(code(bench.call("mail.delete", missing)), "mail/unknown-message");
    assert_eq!(messages(&mut bench, "ann@acme.example", "INBOX").len(), 2, "all or none");
    bench.call("mail.delete", map! { "uids" => vec![3_i64, 4] }).expect("a deletion");
    assert_eq!(messages(&mut bench, "ann@acme.example", "Trash").len(), 2);
    for (arguments, refusal) in [
        (map! { "uids" => Value::List(Vec::new()) }, "mail/which-message"),
        (map! { "uids" => vec![1_i64], "uid" => 1_i64 }, "mail/which-message"),
        (map! { "uids" => vec![1_i64], "message_ids" => vec!["x"] }, "mail/which-message"),
        (map! { "uids" => vec![1_i64; BATCH_MESSAGES_MAX + 1] }, "mail/too-many-messages"),
    ] {
        assert_eq!(code(bench.call("mail.delete", arguments)), refusal);
    }
}

#[test]
fn folders_are_found_however_their_names_are_spelled_and_messages_whatever_their_case() {
    let mut bench = bench();
    bench.call("mail.create_folder", map! { "folder" => "Re\u{301}sume\u{301}s" }).expect("a folder");
    assert_eq!(code(bench.call("mail.create_folder", map! { "folder" => "Résumés" })), "mail/folder-exists");
    deliver(&mut bench, "bob@b.example", "Umzug in die Hauptstraße", "re\u{301}sume\u{301}");
    for (argument, sought) in [("subject", "HAUPTSTRASSE"), ("text", "RÉSUMÉ"), ("query", "hauptstraße")] {
        let answer = bench.call("mail.search", map! { argument => sought }).expect("a search");
        assert_eq!(int(&answer, "total"), 1, "{sought}");
    }
}

#[test]
fn the_same_message_again_reads_no_more_than_the_second_time() {
    let mut bench = bench();
    let id = |answer: &Value| text(answer, "message_id").to_owned();
    let first = id(&send(&mut bench, "bob@b.example", "s", "b"));
    let (local, domain) = first.split_once('@').expect("an id");
    for copy in 2..20 {
        assert_eq!(id(&send(&mut bench, "bob@b.example", "s", "b")), format!("{local}.{copy}@{domain}"));
        assert_eq!(bench.accesses.reads.len(), 2, "copy {copy}");
    }
}

#[test]
fn a_message_in_the_way_of_the_next_copy_is_passed_over() {
    let mut bench = bench();
    let first = text(&send(&mut bench, "bob@b.example", "s", "b"), "message_id").to_owned();
    let (local, domain) = first.split_once('@').expect("an id");
    import(&mut bench, format!("Message-ID: <{local}.3@{domain}>\r\nSubject: forged\r\n\r\nb").as_bytes());
    let next: Vec<String> =
        (0..2).map(|_| text(&send(&mut bench, "bob@b.example", "s", "b"), "message_id").to_owned()).collect();
    assert_eq!(next, [format!("{local}.2@{domain}"), format!("{local}.4@{domain}")]);
}

#[test]
fn taking_a_message_apart_takes_all_of_its_budget_and_no_more() {
    let bytes = b"Subject: s\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Transfer-Encoding: x-uuencode\r\nContent-Disposition: attachment\r\n\r\nbegin 644 a\r\n#0V%T\r\n`\r\nend\r\n--x--\r\n";
    type Reader = fn(&[u8], &Budget) -> bool;
    let readers: [(&str, Reader); 4] = [
        ("parse", |bytes, budget| parse::parse(bytes, Content::Inline([].into()), budget).is_ok()),
        ("whole_text", |bytes, budget| parse::whole_text(bytes, budget).is_ok()),
        ("html_body", |bytes, budget| parse::html_body(bytes, budget).is_ok()),
        ("attachments", |bytes, budget| parse::attachments(bytes, |_| true, budget).is_ok()),
    ];
    for (name, reader) in readers {
        let budget = Budget::default();
        let before = budget.work_left();
        assert!(reader(bytes, &budget), "{name}");
        let work = before - budget.work_left();
        assert!(reader(bytes, &Budget::new(work, 0)) && !reader(bytes, &Budget::new(work - 1, 0)), "{name}");
    }
}

#[test]
fn a_search_takes_all_of_its_budget_and_no_more() {
    use dayshift_engine::{Actor, Context, Frame, Seed, ToolCall, Turn};

    use crate::service::Service as _;

    let mut bench = bench();
    (0..20).for_each(|number| drop(deliver(&mut bench, "bob@b.example", &number.to_string(), "word")));
    let call_with = |work: u64| {
        let frame = Frame::with_budget(Budget::new(work, 0));
        let context = Context {
            seq: bench.seq,
            time: bench.time,
            actor: &Actor::Agent,
            turn: Some(Turn::new(1)),
            allowance: dayshift_engine::Allowance::default(),
            seed: Seed::new(7),
            frame: &frame,
            blobs: &bench.blobs,
        };
        let call = ToolCall::new("mail.search", map! { "text" => "word" });
        let answer = bench.service.decide(&call, &bench.desk, &context).map(|decision| decision.answer);
        (answer, work - frame.budget().work_left())
    };
    let (answer, work) = call_with(u64::MAX);
    assert!(answer.is_ok() && work > 0);
    assert!(call_with(work).0.is_ok());
    assert_eq!(code(call_with(work - 1).0), BUDGET_WORK);
}

#[test]
fn a_line_of_carriage_returns_ends_at_once() {
    let text = format!("a{}\nb\r", "\r".repeat(1_000_000));
    assert_eq!(parse::unix_lines(&text), "a\nb\r");
}
