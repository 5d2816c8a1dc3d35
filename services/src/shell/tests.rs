//! The shell by itself, and what is read of what a host brings back.

use dayshift_engine::{Actor, Context, Frame, MemoryBlobs, Seed, Seq, SimTime, ToolCall, Value, map};

use super::*;
use crate::testing::Bench;

fn order(bench: &Bench<ShellState>, actor: &Actor, arguments: Value) -> Result<Value, Rejection> {
    let frame = Frame::new();
    let (seq, time, blobs) = (Seq::default(), SimTime::from_millis(1_773_651_600_000), MemoryBlobs::new());
    let context = Context {
        seq,
        time,
        actor,
        turn: None,
        allowance: dayshift_engine::Allowance::default(),
        seed: Seed::new(1),
        frame: &frame,
        blobs: &blobs,
    };
    bench.service.order(&ToolCall::new(RUN, arguments), "/in", &bench.desk, &context)
}

fn code(result: Result<Value, Rejection>) -> String {
    result.map_or_else(|rejection| rejection.code.into_owned(), |answer| format!("no refusal but {answer}"))
}

#[test]
fn a_shell_is_off_until_it_is_turned_on() {
    let mut bench = Bench::new(ShellState::default());
    let run = map! { "command" => "true" };
    assert!(!bench.service.is_on());
    assert_eq!(code(order(&bench, &Actor::Agent, run.clone())), "shell/off");
    bench.call("shell.turn_on", map! { "timeout_seconds" => 5_i64 }).expect("turned on");
    assert_eq!(bench.written_keys(), ["shell:limits"]);
    assert!(bench.service.is_on());
    let order = order(&bench, &Actor::Agent, run).expect("an order");
    let usual = Limits::default();
    let expected = map! {
        "kind" => "shell", "command" => "true", "folder" => "/in", "timeout_seconds" => 5_i64, "memory_mib" => i64::from(usual.memory_mib),
        "output_bytes" => i64::from(usual.output_bytes), "processes" => i64::from(usual.processes), "changes_max" => CHANGES_MAX,
        "zone" => "Europe/Berlin", "now" => 1_773_651_600_000_i64,
    };
    assert_eq!(order, expected);
}

#[test]
fn commands_and_times_outside_of_the_limits_are_refused() {
    let mut bench = Bench::new(ShellState::default());
    bench.call("shell.turn_on", map! {}).expect("turned on");
    let run = |arguments: Value| code(order(&bench, &Actor::Agent, arguments));
    assert!(run(map! { "command" => "x".repeat(COMMAND_BYTES_MAX) }).starts_with("no refusal"));
    for command in ["x".repeat(COMMAND_BYTES_MAX + 1), String::new(), " \n".to_owned(), "a\0b".to_owned()] {
        assert_eq!(run(map! { "command" => command }), "shell/bad-command");
    }
    let most = i64::from(Limits::default().timeout_seconds);
    assert!(run(map! { "command" => "x", "timeout_seconds" => most }).starts_with("no refusal"));
    for timeout in [0, -1, most + 1] {
        assert_eq!(run(map! { "command" => "x", "timeout_seconds" => timeout }), "shell/bad-timeout");
    }
    let by_world = order(&bench, &Actor::World, map! { "command" => "x" });
    assert_eq!(code(by_world), "shell/not-yours");
}

#[test]
fn a_scenario_gives_a_command_so_much_and_no_more() {
    let most = [
        ("timeout_seconds", TIMEOUT_SECONDS_MAX),
        ("memory_mib", MEMORY_MIB_MAX),
        ("output_bytes", OUTPUT_BYTES_MAX),
        ("processes", PROCESSES_MAX),
    ];
    for (name, most) in most {
        let mut bench = Bench::new(ShellState::default());
        let mut turn_on = |asked: i64| code(bench.call("shell.turn_on", map! { name => asked }));
        assert!(turn_on(1).starts_with("no refusal") && turn_on(i64::from(most)).starts_with("no refusal"), "{name}");
        assert_eq!((turn_on(0), turn_on(i64::from(most) + 1)), ("shell/bad-limit".into(), "shell/bad-limit".into()));
    }
}

#[test]
fn an_outcome_says_what_was_left_out_and_what_changed() {
    let blob = "ab".repeat(32);
    let brought = map! {
        "exit_code" => 0_i64, "stdout" => "12345", "stdout_kept" => 5_i64, "stdout_bytes" => 25_i64, "stderr" => "", "timed_out" => true,
        "changes" => vec![
            map! { "path" => "/old", "kind" => "deleted" },
            map! { "path" => "/new", "kind" => "folder" },
            map! { "path" => "/new/a", "kind" => "file", "blob" => blob.as_str(), "mode" => 0o755_i64 },
        ],
        "dropped" => vec![map! { "path" => "/pipe", "why" => "a pipe" }],
    };
    let Brought { answer, changes } = Brought::read(&brought).expect("an outcome");
    let expected = map! {
        "exit_code" => 0_i64, "stdout" => "12345\n[20 more bytes were left out]", "stderr" => "", "timed_out" => true,
        "deleted" => vec!["/old"], "changed" => vec!["/new", "/new/a"], "dropped" => vec![map! { "path" => "/pipe", "why" => "a pipe" }],
    };
    assert_eq!(answer, expected);
    assert_eq!(
        changes[2],
        Change::File { path: "/new/a".to_owned(), blob: blob.parse().expect("a name"), mode: 0o755 }
    );
}

#[test]
fn an_answer_names_so_many_paths() {
    let changes = |count: usize| {
        let list: Vec<Value> = (0..count).map(|at| map! { "path" => format!("/{at}"), "kind" => "folder" }).collect();
        let Brought { answer, .. } = Brought::read(&map! { "changes" => list }).expect("an outcome");
        let named = answer.get("changed").and_then(Value::as_list).map(<[Value]>::len);
        (named, answer.get("changed_total").cloned())
    };
    assert_eq!(changes(PATHS_SHOWN_MAX), (Some(PATHS_SHOWN_MAX), None));
    assert_eq!(changes(PATHS_SHOWN_MAX + 1), (Some(PATHS_SHOWN_MAX), Some((PATHS_SHOWN_MAX + 1).into())));
}

#[test]
fn what_cannot_be_run_or_read_is_refused_with_its_code() {
    let read = |value: Value| Brought::read(&value).map(|brought| brought.answer);
    assert_eq!(code(read(Value::Null)), "shell/unavailable");
    let missing = read(map! { "unavailable" => "install bubblewrap" }).expect_err("not there");
    assert_eq!((&*missing.code, missing.message.as_str()), ("shell/unavailable", "install bubblewrap"));
    assert_eq!(code(read(map! { "refused" => "too many" })), "shell/too-much-changed");
    for changes in [map! { "path" => "/a" }, map! { "path" => "/a", "kind" => "file", "blob" => "x", "mode" => 1_i64 }]
    {
        assert_eq!(code(read(map! { "changes" => vec![changes] })), "shell/bad-outcome");
    }
    assert_eq!(code(read(map! { "exit_code" => 0_i64 })), "shell/bad-outcome");
}
