//! A day as an agent lives it on a flowing clock: when it ends is told, waiting never uses it up, what wakes the agent has a name, and an effect
//! carries the time at which its call ended.

use dayshift_engine::{Input, Seed, Step, ToolCall, Value, map};
use dayshift_runs::LiveRun;
use dayshift_scenarios::{Package, Scenario};
use dayshift_services::Office;
use dayshift_tests::memory_library;

const SCENARIO: &str = "\
id: short-day-v1
title: A short day
request: Answer what comes in.
requirements:
  - {id: answer, text: It is answered.}
agent: {name: ann, display: Ann Lee, address: ann@acme.example}
people:
  - {name: bo, display: Bo Berg, address: bo@acme.example, persona: personas/bo.star, wakes: mon 10:00}
office: {zone: Europe/Berlin}
clock: flowing
channels: {mail: loud, chat: loud}
epoch: 2026-03-16 08:00
days:
  - {name: mon, opens: 09:00, ends: 15:30, notification: Good morning.}
  - {name: tue, opens: 09:00, ends: 16:30, notification: Good morning again.}
checks:
  - {id: answered, title: It was answered., requirement: answer}
";

const CHECKS: &str = "def answered():\n    return len(mail.messages('bo@acme.example', 'INBOX')) > 0\n";

const BO: &str = "\
def react(me, memory):
    if memory.get('sent'):
        return {'memory': memory}
    mail = call('mail.send', to = [me.agent_address], subject = 'Invoice 17', body = 'Is it paid?')
    line = call('chat.send', **{'with': me.agent, 'text': 'I sent you a mail.'})
    return {'memory': {'sent': True}, 'do': [mail, line]}
";

fn start() -> (LiveRun, Step) {
    let files = [("scenario.yaml", SCENARIO), ("checks.star", CHECKS), ("personas/bo.star", BO)];
    let files = files.map(|(path, text)| (path, text.as_bytes().to_vec()));
    let package = Package::from_files("short-day-v1", files).expect("a package");
    let scenario = Scenario::<Office>::load(package)
        .unwrap_or_else(|problems| panic!("{}", problems.iter().map(ToString::to_string).collect::<String>()));
    memory_library().start(&scenario, Seed::new(7), "by hand").expect("it starts")
}

fn call(live: &mut LiveRun, tool: &str, arguments: Value) -> Step {
    live.input(Input::Call(ToolCall::new(tool, arguments))).expect("it is recorded")
}

fn field(step: &Step, name: &str) -> Value {
    step.answer.as_ref().expect("it is done").get(name).cloned().unwrap_or_default()
}

#[test]
fn the_end_of_the_day_stands_in_the_mornings_notice_and_in_what_the_clock_says() {
    let (mut live, opening) = start();
    assert_eq!(opening.notices, ["Good morning.\nYour day ends at 15:30."]);
    let now = call(&mut live, "clock.now", map! {});
    assert_eq!(field(&now, "day_ends"), "2026-03-16T15:30:00+01:00".into());
    assert_eq!(field(&now, "calls_left_in_turn"), Value::Int(255));
    assert_eq!(field(&call(&mut live, "clock.now", map! {}), "calls_left_in_turn"), Value::Int(254));
}

#[test]
fn whoever_waits_is_told_what_time_it_is_and_who_wrote() {
    let (mut live, _) = start();
    let step = call(&mut live, "clock.wait", map! {});
    assert_eq!(field(&step, "time"), "2026-03-16T10:00:00+01:00".into());
    assert_eq!(
        field(&step, "woken_by"),
        vec!["New mail from Bo Berg <bo@acme.example>: Invoice 17", "Bo Berg wrote to you in chat."].into()
    );
}

#[test]
fn waiting_stops_before_the_day_ends_and_never_hands_it_over() {
    let (mut live, _) = start();
    let late = "It is getting late: your day ends at 15:30.";
    let mut waits = 0;
    loop {
        let step = call(&mut live, "clock.wait", map! {});
        waits += 1;
        if field(&step, "woken_by").as_list().is_some_and(|lines| lines.contains(&late.into())) {
            assert_eq!(field(&step, "time"), "2026-03-16T15:15:00+01:00".into());
            break;
        }
        assert!(waits < 10, "the day never ends");
    }
    for arguments in
        [map! {}, map! { "until" => "2026-03-16T15:30:00+01:00" }, map! { "until" => "2026-03-17T09:00:00+01:00" }]
    {
        let refusal = call(&mut live, "clock.wait", arguments).answer.expect_err("it would use up the day");
        assert_eq!(refusal.code, "clock/day-ends");
        assert!(refusal.message.contains("15:30:00+01:00"), "{refusal}");
    }
    let step = call(&mut live, "clock.wait", map! { "until" => "2026-03-16T15:29:59+01:00" });
    assert_eq!(field(&step, "time"), "2026-03-16T15:29:59+01:00".into());
    assert!(step.notices.is_empty(), "the day goes on: {:?}", step.notices);
}

#[test]
fn what_an_agent_sends_bears_the_time_at_which_it_had_been_sent() {
    let (mut live, _) = start();
    let sent = call(&mut live, "chat.send", map! { "with" => "bo", "text" => "Yes." });
    let after = call(&mut live, "clock.now", map! {});
    let history = call(&mut live, "chat.history", map! { "with" => "bo" });
    let messages = field(&history, "messages");
    let said =
        messages.as_list().and_then(|messages| messages.first()).and_then(|message| message.get("time")).cloned();
    assert_eq!(said, Some(field(&after, "time")));
    assert_eq!(field(&sent, "time"), field(&after, "time"));
}

#[test]
fn own_chat_messages_are_not_unread() {
    let (mut live, _) = start();
    call(&mut live, "chat.send", map! { "with" => "bo", "text" => "Yes." });
    let listed = field(&call(&mut live, "chat.conversations", map! {}), "conversations");
    let conversation = listed.as_list().and_then(|all| all.first()).expect("one");
    // Bo has answered; what Ann wrote herself is no news to her.
    assert_eq!(
        (conversation.get("messages"), conversation.get("unread")),
        (Some(&Value::Int(2)), Some(&Value::Int(1)))
    );
}

#[test]
fn services_in_which_nothing_is_are_not_offered_unless_the_scenario_says_so() {
    let (mut live, _) = start();
    let refusal = call(&mut live, "records.tables", map! {}).answer.expect_err("there are none");
    assert_eq!(refusal.code, "call/unknown-tool");
    assert!(!refusal.message.contains("records,"), "{refusal}");
    let with = SCENARIO.replace("clock: flowing\n", "clock: flowing\nservices: {sheets: true, calendar: false}\n");
    let files = [("scenario.yaml", with.as_str()), ("checks.star", CHECKS), ("personas/bo.star", BO)];
    let package = Package::from_files("short-day-v1", files.map(|(path, text)| (path, text.as_bytes().to_vec())));
    let scenario = Scenario::<Office>::load(package.expect("a package")).expect("it loads");
    let (mut live, _) = memory_library().start(&scenario, Seed::new(7), "by hand").expect("it starts");
    assert!(call(&mut live, "sheets.books", map! {}).answer.is_ok());
    assert!(call(&mut live, "calendar.calendars", map! {}).answer.is_err());
}
