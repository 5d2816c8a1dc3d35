//! Tests of chat through its tools, on the bench. The caller is `Ann Lee`. The model has a file of its own.

mod model;

use dayshift_engine::{Rejection, SmolStr, Value, map};

use super::{
    CHANNEL_MEMBERS_MAX, CHAT_NAME_BYTES_MAX, CHAT_TEXT_BYTES_MAX, CONVERSATION_MESSAGES_MAX, CONVERSATIONS_MAX,
    ChatEvent, ChatState, HISTORY_MESSAGES_MAX,
};
use crate::service::Service;
use crate::testing::Bench;

fn bench() -> Bench<ChatState> {
    Bench::new(ChatState::new())
}

fn send(bench: &mut Bench<ChatState>, with: &str, text: &str) -> Result<Value, Rejection> {
    bench.call("chat.send", map! { "with" => with, "text" => text })
}

fn post(bench: &mut Bench<ChatState>, from: &str, with: &str, text: &str) -> Result<Value, Rejection> {
    bench.call("chat.post", map! { "from" => from, "with" => with, "text" => text })
}

fn open(bench: &mut Bench<ChatState>, channel: &str, members: &[&str]) -> Result<Value, Rejection> {
    bench.call("chat.open_channel", map! { "channel" => channel, "members" => members.to_vec() })
}

fn code(result: Result<Value, Rejection>) -> String {
    result.map_or_else(|rejection| rejection.code.into_owned(), |answer| format!("no refusal but {answer}"))
}

fn length(answer: &Value, name: &str) -> Option<usize> {
    answer.get(name).and_then(Value::as_list).map(<[Value]>::len)
}

#[test]
fn both_sides_of_a_direct_conversation_see_the_same_messages() {
    let mut bench = bench();
    send(&mut bench, "Ben Cho", "Is it paid?").expect("sent");
    let written = ["chat:", "chat:*", "chat:Ann Lee+Ben Cho", "chat:Ann Lee+Ben Cho/", "chat:Ann Lee+Ben Cho/*"];
    assert_eq!(bench.written_keys()[..5], written);
    assert_eq!(bench.written_keys()[5..], ["chat:Ann Lee+Ben Cho/1"]);
    bench.desk.name = SmolStr::from("Ben Cho");
    send(&mut bench, "Ann Lee", "Not yet.").expect("answered");
    assert_eq!(bench.read_keys(), ["chat:Ann Lee+Ben Cho"]);
    let history = bench.call("chat.history", map! { "with" => "Ann Lee" }).expect("read");
    assert_eq!(
        history.to_string(),
        r#"{"conversation":"Ann Lee+Ben Cho","messages":[{"from":"Ann Lee","number":1,"text":"Is it paid?","time":"2026-03-16T09:00:01+01:00"},{"from":"Ben Cho","number":2,"text":"Not yet.","time":"2026-03-16T09:00:02+01:00"}],"older":0}"#
    );
    assert_eq!(
        bench.ask("messages", map! { "conversation" => "Ben Cho+Ann Lee" }).ok().as_ref(),
        history.get("messages")
    );
}

#[test]
fn reading_marks_are_kept_apart_from_what_is_graded() {
    let mut bench = bench();
    post(&mut bench, "Ben", "Ann Lee", "one").expect("posted");
    post(&mut bench, "Ben", "Ann Lee", "two").expect("posted");
    let unread = |bench: &mut Bench<ChatState>| {
        let list = bench.call("chat.conversations", map! {}).expect("listed");
        list.get("conversations").and_then(Value::as_list).and_then(|all| all[0].get("unread").cloned())
    };
    assert_eq!(unread(&mut bench), Some(Value::Int(2)));
    let before = bench.service.digest();
    bench.call("chat.history", map! { "with" => "Ben" }).expect("read");
    assert_eq!(bench.written_keys(), ["chat:marks/", "chat:marks/*", "chat:marks/Ann Lee+Ben/Ann Lee"]);
    assert_eq!(bench.service.digest(), before);
    assert_eq!(unread(&mut bench), Some(Value::Int(0)));
    bench.call("chat.history", map! { "with" => "Ben" }).expect("read");
    assert!(bench.written_keys().is_empty(), "nothing new was seen");
}

#[test]
fn a_history_reads_the_conversation_and_the_messages_it_shows() {
    let mut bench = bench();
    for text in ["one", "two", "three"] {
        post(&mut bench, "Ben", "Ann Lee", text).expect("posted");
    }
    let part = bench.call("chat.history", map! { "with" => "Ben", "limit" => 1_i64, "before" => 3_i64 }).expect("read");
    assert_eq!(part.get("older"), Some(&Value::Int(1)));
    let keys = ["chat:Ann Lee+Ben", "chat:Ann Lee+Ben/", "chat:Ann Lee+Ben/2", "chat:marks/Ann Lee+Ben/Ann Lee"];
    assert_eq!(bench.read_keys(), keys);
}

#[test]
fn a_conversation_that_is_not_there_is_empty_and_its_absence_is_read() {
    let mut bench = bench();
    let history = bench.call("chat.history", map! { "with" => "Ben" }).expect("read");
    assert_eq!(length(&history, "messages"), Some(0));
    assert_eq!(bench.read_keys(), ["chat:Ann Lee+Ben", "chat:Ann Lee+Ben/", "chat:marks/Ann Lee+Ben/Ann Lee"]);
    assert_eq!(bench.ask("messages", map! { "conversation" => "Ann Lee+Ben" }), Ok(Value::Null));
}

#[test]
fn only_members_read_and_write_a_channel() {
    let mut bench = bench();
    open(&mut bench, "#team", &["Ben", "Ann Lee", "Ben"]).expect("opened");
    bench.call("chat.send", map! { "channel" => "team", "text" => "hello" }).expect("sent");
    assert_eq!(bench.read_keys(), ["chat:#team"]);
    assert_eq!(bench.written_keys(), ["chat:#team/", "chat:#team/*", "chat:#team/1"]);
    open(&mut bench, "board", &["Cleo"]).expect("opened");
    assert_eq!(code(bench.call("chat.send", map! { "channel" => "board", "text" => "x" })), "chat/not-a-member");
    assert_eq!(code(bench.call("chat.history", map! { "channel" => "board" })), "chat/not-a-member");
    assert_eq!(code(bench.call("chat.history", map! { "channel" => "none" })), "chat/unknown-channel");
    let outsider = map! { "from" => "Ben", "channel" => "board", "text" => "x" };
    assert_eq!(code(bench.call("chat.post", outsider)), "chat/not-a-member");
    let list = bench.call("chat.conversations", map! {}).expect("listed");
    assert_eq!(
        list.to_string(),
        r##"{"conversations":[{"conversation":"#team","kind":"channel","messages":1,"others":["Ben"],"unread":0}]}"##
    );
    assert_eq!(bench.ask("conversations", map! {}), Ok(["#board", "#team"].into_iter().collect()));
}

#[test]
fn a_channel_opened_again_has_other_members_and_the_same_messages() {
    let mut bench = bench();
    open(&mut bench, "team", &["Ann Lee"]).expect("opened");
    bench.call("chat.send", map! { "channel" => "team", "text" => "hello" }).expect("sent");
    open(&mut bench, "team", &["Ben"]).expect("changed");
    assert_eq!(bench.written_keys(), ["chat:#team", "chat:*"]);
    assert_eq!(code(bench.call("chat.history", map! { "channel" => "team" })), "chat/not-a-member");
    for name in ["#team", "team"] {
        let messages = bench.ask("messages", map! { "conversation" => name }).expect("answered");
        assert_eq!(messages.as_list().map(<[Value]>::len), Some(1), "{name}");
    }
    assert_eq!(bench.ask("messages", map! { "conversation" => "none" }), Ok(Value::Null));
}

#[test]
fn a_post_can_bring_its_time_but_none_from_the_future() {
    let mut bench = bench();
    let at = |time: &str| map! { "from" => "Ben", "with" => "Ann Lee", "text" => "x", "time" => time };
    let posted = bench.call("chat.post", at("2026-03-13T12:00:00Z")).expect("posted");
    assert_eq!(posted.get("time"), Some(&"2026-03-13T13:00:00+01:00".into()));
    assert_eq!(code(bench.call("chat.post", at("2027-01-01T00:00:00Z"))), "chat/bad-time");
}

#[test]
fn when_something_was_said_is_not_graded_but_who_and_what_are() {
    let digest = |from: &str, text: &str, time: &str| {
        let mut bench = bench();
        let post = map! { "from" => from, "with" => "Cleo", "text" => text, "time" => time };
        bench.call("chat.post", post).expect("posted");
        bench.service.digest()
    };
    let one = digest("Ben", "x", "2026-03-13T12:00:00Z");
    assert_eq!(one, digest("Ben", "x", "2026-03-13T13:00:00Z"));
    assert_ne!(one, digest("Ben", "y", "2026-03-13T12:00:00Z"));
    assert_ne!(one, digest("Dan", "x", "2026-03-13T12:00:00Z"));
}

#[test]
fn calls_that_make_no_sense_are_refused_and_change_nothing() {
    let mut bench = bench();
    send(&mut bench, "Ben", "hello").expect("sent");
    let before = (bench.service.digest(), bench.service.dump());
    assert_eq!(code(send(&mut bench, "Ann Lee", "x")), "chat/to-yourself");
    assert_eq!(code(send(&mut bench, "Ben", " \n")), "chat/bad-text");
    for name in ["", "a+b", "a/b", "#a", "*", " a", "marks/x"] {
        assert_eq!(code(send(&mut bench, name, "x")), "chat/bad-name", "{name:?}");
    }
    assert_eq!(code(bench.call("chat.send", map! { "text" => "x" })), "chat/bad-place");
    let both = map! { "text" => "x", "with" => "Ben", "channel" => "team" };
    assert_eq!(code(bench.call("chat.send", both)), "chat/bad-place");
    assert_eq!(code(bench.call("chat.history", map! { "with" => "Ben", "limit" => 0_i64 })), "chat/bad-range");
    assert_eq!(code(open(&mut bench, "team", &[])), "chat/bad-members");
    assert_eq!((bench.service.digest(), bench.service.dump()), before);
}

#[test]
fn texts_names_and_members_have_limits() {
    let mut bench = bench();
    send(&mut bench, "Ben", &"x".repeat(CHAT_TEXT_BYTES_MAX)).expect("exactly at the limit");
    assert_eq!(code(send(&mut bench, "Ben", &"x".repeat(CHAT_TEXT_BYTES_MAX + 1))), "chat/bad-text");
    send(&mut bench, &"n".repeat(CHAT_NAME_BYTES_MAX), "x").expect("exactly at the limit");
    assert_eq!(code(send(&mut bench, &"n".repeat(CHAT_NAME_BYTES_MAX + 1), "x")), "chat/bad-name");
    let names: Vec<String> = (0..=CHANNEL_MEMBERS_MAX).map(|index| format!("p{index}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    open(&mut bench, "team", &names[1..]).expect("exactly at the limit");
    assert_eq!(code(open(&mut bench, "team", &names)), "chat/bad-members");
}

#[test]
fn a_full_conversation_takes_no_more_and_a_history_shows_its_end() {
    let mut bench = bench();
    for _ in 0..CONVERSATION_MESSAGES_MAX {
        post(&mut bench, "Ben", "Ann Lee", "x").expect("there is room");
    }
    assert_eq!(code(send(&mut bench, "Ben", "x")), "chat/conversation-full");
    assert!(bench.read_keys().contains(&"chat:Ann Lee+Ben/"));
    let history = bench.call("chat.history", map! { "with" => "Ben", "limit" => i64::MAX }).expect("read");
    assert_eq!(length(&history, "messages"), Some(HISTORY_MESSAGES_MAX));
    assert_eq!(history.get("older"), Some(&Value::from(CONVERSATION_MESSAGES_MAX - HISTORY_MESSAGES_MAX)));
}

#[test]
fn no_more_conversations_are_opened_than_fit() {
    let mut bench = bench();
    for index in 0..CONVERSATIONS_MAX {
        send(&mut bench, &format!("p{index}"), "x").expect("there is room");
    }
    assert_eq!(code(send(&mut bench, "more", "x")), "chat/too-many-conversations");
    assert_eq!(code(open(&mut bench, "more", &["Ann Lee"])), "chat/too-many-conversations");
    send(&mut bench, "p0", "y").expect("a known conversation needs no room");
}

#[test]
fn questions_that_make_no_sense_are_refused() {
    let mut bench = bench();
    assert_eq!(code(bench.ask("messages", map! {})), "query/bad-arguments");
    assert_eq!(code(bench.ask("colour", map! {})), "query/unknown");
}

#[test]
fn events_round_trip_and_differences_name_messages() {
    let mut bench = bench();
    let event = ChatEvent::ConversationOpened { conversation: "#a".into(), members: vec!["b".into()] };
    let stored = rmp_serde::to_vec_named(&event).expect("an event can be stored");
    assert_eq!(rmp_serde::from_slice(&stored).ok(), Some(event));
    send(&mut bench, "Ben", "one").expect("sent");
    let before = bench.service.clone();
    send(&mut bench, "Ben", "two").expect("sent");
    send(&mut bench, "Cleo", "three").expect("sent");
    let mut differences = Vec::new();
    before.differences(&bench.service, &mut differences);
    let shown: Vec<(&str, bool)> = differences.iter().map(|each| (each.key.as_str(), each.left.is_some())).collect();
    assert_eq!(shown, [("chat:Ann Lee+Cleo", false), ("chat:Ann Lee+Ben/2", false), ("chat:Ann Lee+Cleo/1", false)]);
}
