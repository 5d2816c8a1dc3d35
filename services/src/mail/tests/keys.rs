//! What calls read and write: credit and dependency-closed replay live on these keys.

use dayshift_engine::ReadKind;

use super::*;

#[test]
fn reading_a_message_reads_that_message_alone() {
    let mut bench = bench();
    deliver(&mut bench, "bob@b.example", "one", "1");
    let written = bench.seq;
    deliver(&mut bench, "bob@b.example", "two", "2");
    read(&mut bench, 1);
    assert_eq!(
        bench.read_keys(),
        ["mail:ann@acme.example/INBOX#flags/1", "mail:ann@acme.example/INBOX#seen/1", "mail:ann@acme.example/INBOX/1"]
    );
    assert!(bench.accesses.reads.iter().any(|read| read.key.as_str().ends_with("INBOX/1") && read.written == written));
}

#[test]
fn reading_writes_nothing_but_the_reading_mark() {
    let mut bench = bench();
    deliver(&mut bench, "bob@b.example", "one", "1");
    read(&mut bench, 1);
    let marks = [
        "mail:ann@acme.example/INBOX#seen/",
        "mail:ann@acme.example/INBOX#seen/*",
        "mail:ann@acme.example/INBOX#seen/1",
    ];
    assert_eq!(bench.written_keys(), marks);
    read(&mut bench, 1);
    assert!(bench.written_keys().is_empty(), "the second reading leaves no new mark");
}

#[test]
fn an_empty_folder_is_read_as_a_membership_that_the_first_message_writes() {
    let mut bench = bench();
    bench.call("mail.list", map! {}).expect("an empty listing");
    assert_eq!(bench.read_keys(), ["mail:ann@acme.example/INBOX/"]);
    deliver(&mut bench, "bob@b.example", "one", "1");
    assert!(bench.written_keys().contains(&"mail:ann@acme.example/INBOX/"));
}

#[test]
fn a_listing_reads_the_membership_and_the_messages_that_it_shows() {
    let mut bench = bench();
    for subject in ["one", "two", "three"] {
        deliver(&mut bench, "bob@b.example", subject, "b");
    }
    bench.call("mail.list", map! { "limit" => 1_i64 }).expect("a listing");
    let read: Vec<&str> = bench.read_keys().into_iter().filter(|key| !key.contains('#')).collect();
    assert_eq!(read, ["mail:ann@acme.example/INBOX/", "mail:ann@acme.example/INBOX/3"]);
}

#[test]
fn a_search_reads_by_scan_and_then_the_matches() {
    let mut bench = bench();
    for subject in ["one", "two"] {
        deliver(&mut bench, "bob@b.example", subject, "b");
    }
    bench.call("mail.search", map! { "subject" => "TWO", "folder" => "inbox" }).expect("a search");
    let scans = bench.accesses.reads.iter().filter(|read| read.kind == ReadKind::Scan);
    assert_eq!(scans.map(|read| read.key.as_str()).collect::<Vec<_>>(), ["mail:ann@acme.example/INBOX/*"]);
    assert!(bench.read_keys().contains(&"mail:ann@acme.example/INBOX/2"));
    assert!(!bench.read_keys().contains(&"mail:ann@acme.example/INBOX/1"));
}

#[test]
fn sending_depends_on_no_earlier_mail() {
    let mut bench = bench();
    send(&mut bench, "bob@b.example", "one", "1");
    send(&mut bench, "bob@b.example", "two", "2");
    let written: Vec<u64> = bench.accesses.reads.iter().map(|read| read.written.get()).collect();
    assert_eq!(written, [0], "only the absence of its own id: {:?}", bench.read_keys());
}

#[test]
fn a_reply_depends_on_the_message_that_it_answers() {
    let mut bench = bench();
    deliver(&mut bench, "bob@b.example", "one", "1");
    bench.call("mail.reply", map! { "uid" => 1_i64, "body" => "yes" }).expect("a reply");
    assert!(bench.read_keys().contains(&"mail:ann@acme.example/INBOX/1"));
}

#[test]
fn a_flag_is_written_apart_from_the_message() {
    let mut bench = bench();
    deliver(&mut bench, "bob@b.example", "one", "1");
    bench.call("mail.flag", map! { "uid" => 1_i64, "add" => vec!["flagged"] }).expect("a flag");
    assert!(bench.written_keys().iter().all(|key| key.starts_with("mail:ann@acme.example/INBOX#flags/")));
}

#[test]
fn a_move_writes_both_folders() {
    let mut bench = bench();
    deliver(&mut bench, "bob@b.example", "one", "1");
    bench.call("mail.move", map! { "uid" => 1_i64, "destination" => "Archive" }).expect("a move");
    for key in ["mail:ann@acme.example/INBOX/", "mail:ann@acme.example/INBOX/1", "mail:ann@acme.example/Archive/1"] {
        assert!(bench.written_keys().contains(&key), "{key}");
    }
}

#[test]
fn events_survive_their_encoding() {
    use dayshift_engine::{Actor, Applying, Canonical, Context, Frame, Seed, ToolCall};
    let bench = bench();
    let (frame, actor) = (Frame::new(), Actor::Agent);
    let context = Context {
        seq: bench.seq,
        time: bench.time,
        actor: &actor,
        turn: None,
        allowance: dayshift_engine::Allowance::default(),
        seed: Seed::new(7),
        frame: &frame,
        blobs: &bench.blobs,
    };
    let arguments = map! { "to" => vec!["Bob <bob@b.example>"], "subject" => "Grüße", "body" => "x".repeat(5000) };
    let call = ToolCall::new("mail.send", arguments);
    let events = crate::Service::decide(&bench.service, &call, &bench.desk, &context).expect("a good message").events;
    let bytes = rmp_serde::to_vec(&events).expect("events can be encoded");
    let decoded: Vec<crate::mail::MailEvent> = rmp_serde::from_slice(&bytes).expect("events can be decoded");
    assert_eq!(events, decoded);
    let digest = |events: Vec<crate::mail::MailEvent>| {
        let (mut state, mut canonical) = (MailState::default(), Canonical::default());
        for event in events {
            let mut applying = Applying::new(bench.seq, bench.time, &actor, None, &mut canonical);
            crate::Service::apply(&mut state, event, &mut applying);
        }
        state.graded_digest()
    };
    assert_eq!(digest(events), digest(decoded));
}
