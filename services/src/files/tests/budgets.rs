//! What one call on files may cost: each tool that goes through much draws on the budget, at and above it.

use dayshift_engine::{Actor, BUDGET_WORK, Budget, Context, Frame, Seed, ToolCall, Turn};

use super::*;

/// Makes a call with what it may cost. Returns its answer and what it cost.
fn call_with(bench: &Bench<FilesState>, tool: &str, arguments: &Value, work: u64) -> (Result<Value, Rejection>, u64) {
    let frame = Frame::with_budget(Budget::new(work, 100_000_000));
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
    let call = ToolCall::new(tool, arguments.clone());
    let answer = bench.service.decide(&call, &bench.desk, &context).map(|decision| decision.answer);
    (answer, work - frame.budget().work_left())
}

#[test]
fn each_call_takes_all_of_its_budget_and_no_more() {
    let text = "one line\nTwo Straßen\n".repeat(50);
    let bench = bench_with(&[("/a/one.txt", &text), ("/a/two.md", &text), ("/b/c/three.txt", "x")]);
    let cases = [
        ("files.find", map! { "pattern" => "*.txt" }),
        ("files.find", map! { "pattern" => "/a/{one,two}.*" }),
        ("files.search", map! { "query" => "Two" }),
        ("files.search", map! { "query" => "STRASSE", "ignore_case" => true }),
        ("files.search", map! { "query" => "^T.o", "regex" => true, "glob" => "**/*.txt" }),
        ("files.search", map! { "query" => r"\w\d", "regex" => true }),
        ("files.edit", map! { "path" => "/a/one.txt", "old" => "one", "new" => "1", "replace_all" => true }),
    ];
    for (tool, arguments) in cases {
        let (answer, work) = call_with(&bench, tool, &arguments, u64::MAX);
        assert!(answer.is_ok() && work > 0, "{tool} {arguments}: {answer:?}");
        assert_eq!(call_with(&bench, tool, &arguments, work).0, answer, "{tool} {arguments}");
        let refused = call_with(&bench, tool, &arguments, work - 1).0;
        assert_eq!(code(refused), BUDGET_WORK, "{tool} {arguments}");
    }
}
