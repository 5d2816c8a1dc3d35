//! Rules of business tables that are functions of the package: they refuse the agent in their own words, and a log alone, which carries its
//! package, is executed again with them.

use dayshift_engine::{Input, Seed, ToolCall, Value, map};
use dayshift_replay::Reexecution;
use dayshift_runs::load_file;
use dayshift_scenarios::{Package, Problem, Scenario};
use dayshift_services::Office;
use dayshift_tests::memory_library;

const SCENARIO: &str = "\
id: guarded-v1
title: A guarded table
request: Change the account once it was verified.
requirements:
  - {id: change, text: The account is changed.}
agent: {name: ann, display: Ann Lee, address: ann@acme.example}
office: {zone: Europe/Berlin}
epoch: 2026-03-16 08:00
days:
  - {name: mon, opens: 09:00, ends: 17:00, notification: Good morning.}
checks:
  - {id: changed, title: The account was changed., requirement: change}
";

const CHECKS: &str = "\
def changed():
    return records.field('payments', 'P-1', 'iban') == 'DE2'
";

const PAYMENTS: &str = "\
fields: {iban: {type: text, read_only: true}, amount: decimal}
actions:
  change_account:
    parameters: {iban: {type: text, required: true}}
    guard: may_change
    effects:
      - set: {iban: $arguments.iban}
rows:
  - {id: P-1, iban: DE1, amount: 100}
";

const CALLS: &str = "fields: {payment: text, verified: boolean}\n";

const GUARDS: &str = "\
def may_change(row, arguments, actor):
    if arguments.iban == row.iban:
        return 'the account is that one already'
    calls = records.rows('calls', where = {'payment': row.id, 'verified': True})
    return True if calls else 'nobody has verified {} with a call-back'.format(arguments.iban)
";

fn scenario(changed: &[(&str, &str)]) -> Result<Scenario<Office>, Vec<Problem>> {
    let mut files = std::collections::BTreeMap::from([
        ("scenario.yaml", SCENARIO),
        ("checks.star", CHECKS),
        ("world/records/payments.yaml", PAYMENTS),
        ("world/records/calls.yaml", CALLS),
        ("world/records/guards.star", GUARDS),
    ]);
    for (path, text) in changed {
        files.insert(path, text);
    }
    let files = files.into_iter().map(|(path, text)| (path, text.as_bytes().to_vec()));
    Scenario::load(Package::from_files("guarded-v1", files).expect("the files are a package"))
}

fn change(iban: &str) -> ToolCall {
    let arguments = map! { "iban" => iban };
    ToolCall::new(
        "records.act",
        map! { "table" => "payments", "id" => "P-1", "action" => "change_account", "arguments" => arguments },
    )
}

#[test]
fn a_function_of_the_package_judges_and_a_log_alone_is_executed_again_with_it() {
    let library = memory_library();
    let scenario = scenario(&[]).expect("it loads");
    let (mut live, _) = library.start(&scenario, Seed::new(7), "by hand").expect("it starts");
    let mut call = |call: ToolCall| live.input(Input::Call(call)).expect("it is recorded").answer;
    let refused = |answer: Result<Value, dayshift_engine::Rejection>| {
        let rejection = answer.expect_err("it is refused");
        assert_eq!(rejection.code, "records/guard-refused");
        rejection.message
    };
    assert_eq!(refused(call(change("DE1"))), "'change_account' was not done: the account is that one already");
    assert_eq!(refused(call(change("DE2"))), "'change_account' was not done: nobody has verified DE2 with a call-back");
    let values = map! { "payment" => "P-1", "verified" => true };
    call(ToolCall::new("records.create", map! { "table" => "calls", "values" => values })).expect("it is created");
    call(change("DE2")).expect("it was verified");
    let id = live.finish(0).expect("it finishes");

    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.dayshift");
    library.export(&id, &path).expect("it exports");
    let run = load_file(&path).expect("it loads");
    match run.reexecute(|_| {}).expect("it is executed again") {
        Reexecution::Same { head, .. } => assert_eq!(head, run.head()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_rule_without_a_function_is_named_where_it_stands() {
    let misspelt = PAYMENTS.replace("may_change", "may_chance");
    let problems = scenario(&[("world/records/payments.yaml", &misspelt)]).map(|_| ()).expect_err("a fault");
    let [problem] = problems.as_slice() else { panic!("{problems:?}") };
    let shown = problem.to_string();
    assert_eq!(problem.rule, "scenario/unknown-function");
    assert!(shown.contains("world/records/payments.yaml:5") && shown.contains("may_change"), "{shown}");
}

#[test]
fn without_a_file_of_their_own_functions_are_among_the_checks() {
    let checks = format!("{CHECKS}\n{GUARDS}");
    let files = [("scenario.yaml", SCENARIO), ("checks.star", &checks), ("world/records/payments.yaml", PAYMENTS)];
    let files = files.map(|(path, text)| (path, text.as_bytes().to_vec()));
    let package = Package::from_files("guarded-v1", files).expect("a package");
    Scenario::<Office>::load(package).expect("it loads");
}
