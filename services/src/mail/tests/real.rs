//! Messages as real programs write them: charsets, transfer encodings, nested parts, broken headers.

use proptest::prelude::*;

use super::sending::{raw, saved};
use super::*;

/// Imports `source`, checks that its bytes stay as they are, and returns what is read.
fn taken_in(source: &[u8]) -> (Bench<MailState>, Value) {
    let mut bench = bench();
    import(&mut bench, source);
    assert_eq!(raw(&bench, "ann@acme.example", "INBOX", 1), source);
    let shown = read(&mut bench, 1);
    (bench, shown)
}

#[test]
fn latin_1_in_quoted_printable_with_encoded_words() {
    let (_, shown) = taken_in(
        b"Return-Path: <m.mueller@firma.example>\r\nReceived: from mx.firma.example (mx.firma.example [192.0.2.1])\r\n\tby mail.acme.example with ESMTP id x1; Mon, 2 Mar 2026 10:11:12 +0100\r\n\
From: =?iso-8859-1?Q?J=FCrgen_M=FCller?= <M.Mueller@Firma.Example>\r\nTo: \"Lee, Ann\" <ann@acme.example>,\r\n =?iso-8859-1?q?Bj=F6rn?= <bjoern@acme.example>\r\n\
Subject: =?iso-8859-1?Q?Angebot_f=FCr_das?=\r\n =?iso-8859-1?Q?_Dach?=\r\nDate: Mon, 2 Mar 2026 10:11:10 +0100 (CET)\r\nMessage-ID: <1@firma.example>\r\n\
MIME-Version: 1.0\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nSch=F6ne Gr=FC=DFe, 5 =\r\nTage\r\n",
    );
    assert_eq!(text(&shown, "from"), "Jürgen Müller <m.mueller@firma.example>");
    assert_eq!(text(&shown, "to"), "\"Lee, Ann\" <ann@acme.example>, Björn <bjoern@acme.example>");
    assert_eq!(text(&shown, "subject"), "Angebot für das Dach");
    assert_eq!(text(&shown, "body"), "Schöne Grüße, 5 Tage\n");
    assert_eq!(text(&shown, "date"), "2026-03-02T10:11:10+01:00");
    assert_eq!(text(&shown, "time"), "2026-03-02T10:11:10+01:00");
    assert_eq!(text(&shown, "message_id"), "1@firma.example");
}

#[test]
fn raw_8_bit_latin_1_without_encoding() {
    let (_, shown) = taken_in(b"Subject: x\r\nContent-Type: text/plain; charset=ISO-8859-15\r\nContent-Transfer-Encoding: 8bit\r\n\r\n100 \xa4 f\xfcr alles\r\n");
    assert_eq!(text(&shown, "body"), "100 € für alles\n");
}

#[test]
fn gb2312_in_base64() {
    let (_, shown) = taken_in(
        b"From: =?gb2312?B?1cXOsA==?= <zhang@x.example>\r\nSubject: =?gb2312?B?sai82w==?=\r\nContent-Type: text/plain;\r\n\tcharset=\"gb2312\"\r\nContent-Transfer-Encoding: base64\r\n\r\nxOO6w6OsysC95w==\r\n",
    );
    assert_eq!(text(&shown, "from"), "张伟 <zhang@x.example>");
    assert_eq!((text(&shown, "subject"), text(&shown, "body")), ("报价", "你好，世界"));
}

#[test]
fn shift_jis_and_iso_2022_jp() {
    let (_, shown) = taken_in(b"Subject: =?ISO-2022-JP?B?GyRCJDMkcxsoQg==?=\r\nContent-Type: text/plain; charset=Shift_JIS\r\n\r\n\x82\xb1\x82\xf1\r\n");
    assert_eq!((text(&shown, "subject"), text(&shown, "body")), ("こん", "こん\n"));
}

const NESTED: &[u8] = b"From: bob@b.example\r\nTo: ann@acme.example\r\nSubject: nested\r\nMIME-Version: 1.0\r\n\
Content-Type: multipart/mixed; boundary=\"out er\"\r\n\r\nThis is a preamble.\r\n--out er\r\n\
Content-Type: multipart/related; boundary=rel\r\n\r\n--rel\r\nContent-Type: multipart/alternative; boundary=alt\r\n\r\n\
--alt\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nThe plain text.\r\n--alt\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>The <i>HTML</i> text.<img src=\"cid:logo\"></p>\r\n--alt--\r\n\
--rel\r\nContent-Type: image/png; name=logo.png\r\nContent-ID: <logo>\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: inline; filename=logo.png\r\n\r\niVBORw0KGgo=\r\n--rel--\r\n\
--out er\r\nContent-Type: application/pdf;\r\n name*0*=utf-8''Jahres%C3%BCbersicht;\r\n name*1*=%202026.pdf\r\nContent-Disposition: attachment;\r\n filename*=iso-8859-1'de'Jahres%FCbersicht%202026.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\nJVBERi0xLjQK\r\n\
--out er\r\nContent-Type: text/csv; charset=iso-8859-1\r\nContent-Disposition: attachment; filename=\"=?utf-8?B?R3LDtsOfZS5jc3Y=?=\"\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nf=FCr;1=0D=0A\r\n\
--out er\r\nContent-Type: message/rfc822\r\n\r\nFrom: carl@c.example\r\nSubject: Inner\r\n\r\ninner body\r\n\
--out er--\r\nAn epilogue.\r\n";

#[test]
fn nested_multiparts_with_an_inline_image() {
    let (mut bench, shown) = taken_in(NESTED);
    assert_eq!(text(&shown, "body"), "The plain text.");
    let parts: Vec<(&str, &str, bool)> = list(&shown, "attachments")
        .iter()
        .map(|part| (text(part, "name"), text(part, "media_type"), part.get("inline") == Some(&Value::Bool(true))))
        .collect();
    let expected = [
        ("logo.png", "image/png", true),
        ("Jahresübersicht 2026.pdf", "application/pdf", false),
        ("Größe.csv", "text/csv", false),
        ("Inner.eml", "message/rfc822", false),
    ];
    assert_eq!(parts, expected);
    let message = bench.ask("message", map! { "address" => "ann@acme.example", "uid" => 1_i64 }).expect("a message");
    assert_eq!(text(&message, "html"), "<p>The <i>HTML</i> text.<img src=\"cid:logo\"></p>");
}

#[test]
fn attachments_are_the_bytes_that_were_attached() {
    let (bench, shown) = taken_in(NESTED);
    assert_eq!(saved(&bench, 1, "logo.png"), b"\x89PNG\r\n\x1a\n");
    assert_eq!(saved(&bench, 1, "Jahresübersicht 2026.pdf"), b"%PDF-1.4\n");
    assert_eq!(saved(&bench, 1, "3"), b"f\xfcr;1\r\n");
    assert_eq!(saved(&bench, 1, "Inner.eml"), b"From: carl@c.example\r\nSubject: Inner\r\n\r\ninner body");
    for part in list(&shown, "attachments") {
        assert_eq!(int(part, "bytes"), saved(&bench, 1, text(part, "name")).len() as i64);
    }
}

#[test]
fn a_forward_carries_nested_and_named_parts_on() {
    let (mut bench, _) = taken_in(NESTED);
    bench
        .call("mail.forward", map! { "uid" => 1_i64, "to" => vec!["ann@acme.example"], "body" => "" })
        .expect("a forward");
    let forwarded = messages(&mut bench, "ann@acme.example", "INBOX").remove(1);
    let names: Vec<&str> = list(&forwarded, "attachments").iter().map(|part| text(part, "name")).collect();
    assert_eq!(names, ["logo.png", "Jahresübersicht 2026.pdf", "Größe.csv", "Inner.eml"]);
    assert_eq!(saved(&bench, 2, "Größe.csv"), b"f\xfcr;1\r\n");
    assert_eq!(saved(&bench, 2, "Inner.eml"), saved(&bench, 1, "Inner.eml"));
}

#[test]
fn an_encoded_nested_message_is_its_decoded_bytes() {
    let (bench, _) = taken_in(
        b"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: message/rfc822; name=in.eml\r\nContent-Transfer-Encoding: base64\r\n\r\nU3ViamVjdDogaW4NCg0KeA0K\r\n--b--\r\n",
    );
    assert_eq!(saved(&bench, 1, "in.eml"), b"Subject: in\r\n\r\nx\r\n");
}

#[test]
fn what_old_programs_write_is_understood() {
    let (mut bench, shown) = taken_in(
        b"From VM Wed Feb  7 14:01:12 2001\nReturn-path: <x@y.example>\nSUBJECT: =?utf-8?b?0LTQvtGB0YLQsNCy0LvQ?=\n =?utf-8?b?tdC90L4=?=\nDate: Sat, 22 Apr 2006 17:14:50 UT\nFrom: bob@b.example\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\nhello\n--x\nContent-Type: image/png\nContent-Disposition: attachment; filename=cat.png\nContent-Transfer-Encoding: x-uuencode\n\nbegin 644 cat.png\n#0V%T\n`\nend\n\n--x--\n",
    );
    assert_eq!((text(&shown, "subject"), text(&shown, "from")), ("доставлено", "bob@b.example"));
    let all = bench.call("mail.read", map! { "uid" => 1_i64, "headers" => true }).expect("it is there");
    let names: Vec<&str> = list(&all, "headers").iter().map(|header| text(header, "name")).collect();
    assert_eq!(names, ["Return-path", "SUBJECT", "Date", "From", "MIME-Version", "Content-Type"]);
    assert_eq!(saved(&bench, 1, "cat.png"), b"Cat");
}

#[test]
fn html_alone_is_read_as_text() {
    let (_, shown) = taken_in(
        b"Subject: news\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<html><head><style>p{}</style></head><body><p>Dear&nbsp;Ann,</p><p>5 &lt; 6<br>bye</p></body></html>",
    );
    let body = text(&shown, "body").replace('\u{a0}', " ");
    assert_eq!(body.split_whitespace().collect::<Vec<_>>().join(" "), "Dear Ann, 5 < 6 bye");
}

#[test]
fn folded_and_broken_headers_do_not_hurt() {
    let (_, shown) = taken_in(
        b"From: Bob\r\n <bob@b.example>\r\nthis line is no header\r\nSubject: a\r\n\tb\r\n c\r\nDate: sometime\r\nTo: undisclosed-recipients:;\r\nMessage-ID: none\r\nX-Bytes: \xff\xfe\r\n\r\nbody\r\n",
    );
    assert_eq!(text(&shown, "from"), "Bob <bob@b.example>");
    assert_eq!(text(&shown, "subject"), "a b c");
    assert_eq!(text(&shown, "date"), "unknown");
    assert_eq!(text(&shown, "body"), "body\n");
}

#[test]
fn bare_line_feeds_and_a_missing_last_boundary_are_read() {
    let (bench, shown) = taken_in(
        b"Subject: unix\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\nhello\n--b\nContent-Type: application/octet-stream\nContent-Disposition: attachment; filename=a.bin\nContent-Transfer-Encoding: base64\n\nAAEC\n",
    );
    assert_eq!(text(&shown, "body"), "hello");
    assert_eq!(saved(&bench, 1, "a.bin"), [0, 1, 2]);
}

#[test]
fn what_is_no_message_is_kept_as_bytes() {
    for source in [
        &b""[..],
        b"\0\0\0",
        b"no headers here",
        b"\r\n\r\n",
        &[0xff; 2000],
        b":",
        b"Content-Type: multipart/mixed; boundary=\r\n\r\n--\r\n",
    ] {
        taken_in(source);
    }
}

#[test]
fn a_message_without_an_id_gets_one_that_stays() {
    let (mut bench, shown) = taken_in(b"Subject: x\r\n\r\ny\r\n");
    let id = text(&shown, "message_id").to_owned();
    assert!(id.ends_with("@no-message-id.invalid"));
    assert!(bench.call("mail.read", map! { "message_id" => id }).is_ok());
}

#[test]
fn an_imported_draft_is_sent_without_its_bcc_header() {
    let mut bench = bench();
    let source = b"Bcc: Eve\r\n <eve@e.example>\r\nFrom: someone@else.example\r\nTo: bob@b.example\r\nSubject: d\r\nX-Keep: 1\r\n\r\nBcc: body\r\n";
    let blob = bench.blob(source);
    let arguments = map! { "address" => "ann@acme.example", "folder" => "Drafts", "blob" => blob, "flags" => vec!["draft", "seen"] };
    bench.call("mail.import", arguments).expect("an import");
    bench.call("mail.send_draft", map! { "uid" => 1_i64 }).expect("a draft");
    let sent = String::from_utf8(raw(&bench, "eve@e.example", "INBOX", 1)).expect("text");
    assert!(!sent.contains("eve@") && !sent.contains("someone@"), "{sent}");
    assert!(sent.contains("X-Keep: 1\r\n\r\nBcc: body\r\n"), "{sent}");
    assert_eq!(messages(&mut bench, "bob@b.example", "INBOX").len(), 1);
}

#[test]
fn all_headers_are_shown_on_request() {
    let mut bench = bench();
    import(&mut bench, b"Received: from a\r\n\tby b\r\nX-Mailer: Foo 1\r\nSubject: x\r\n\r\ny\r\n");
    let shown = bench.call("mail.read", map! { "uid" => 1_i64, "headers" => true }).expect("the message");
    let headers: Vec<(&str, &str)> =
        list(&shown, "headers").iter().map(|header| (text(header, "name"), text(header, "value"))).collect();
    assert_eq!(headers, [("Received", "from a\tby b"), ("X-Mailer", "Foo 1"), ("Subject", "x")]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_message_is_kept_and_read_as_far_as_it_goes(
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..40_usize, prop::sample::select(FRAGMENTS.to_vec())), 1..8),
    ) {
        let mut source = NESTED.to_vec();
        for (at, dropped, fragment) in edits {
            let start = at.index(source.len() + 1);
            let end = (start + dropped).min(source.len());
            source.splice(start..end, fragment.iter().copied());
        }
        let (mut bench, shown) = taken_in(&source);
        for part in list(&shown, "attachments") {
            saved(&bench, 1, &int(part, "number").to_string());
        }
        bench.call("mail.forward", map! { "uid" => 1_i64, "to" => vec!["bob@b.example"], "body" => "" }).expect("a forward");
        bench.ask("message", map! { "address" => "ann@acme.example", "uid" => 1_i64 }).expect("a message");
    }
}

/// What damaged messages have in odd places.
const FRAGMENTS: [&[u8]; 16] = [
    b"",
    b"\r\n",
    b"\r\n\r\n",
    b"--alt",
    b"--out er--",
    b"\xff",
    b"\0",
    b"=",
    b"=?gb2312?B?1",
    b"Content-Type: message/rfc822\r\n\r\n",
    b"Content-Type: multipart/digest; boundary=rel\r\n\r\n--rel\r\n",
    b"Content-Transfer-Encoding: quoted-printable\r\n",
    b"Date: 99999999999 Jan 99999999 99:99:99 +9999\r\n",
    b"To: :,;<>@(((\"",
    b"&#x110000;<!--",
    b"filename*0*=utf-8''%",
];
