//! Every built-in scenario is solvable, not vacuous and not hackable by the bad agents that come with it.

use std::collections::{BTreeMap, BTreeSet};

use dayshift_engine::codec::Stored;
use dayshift_engine::{Input, Outcome, Request, Seed, ToolCall, When, map};
use dayshift_scenarios::built_in_names;
use dayshift_tests::{has_shell, memory_library, played, scenarios};

const SEED: u64 = 7;

#[test]
fn there_are_at_least_fourteen_each_with_at_least_eight_checks() {
    assert!(built_in_names().count() >= 14);
    for scenario in scenarios() {
        assert!(scenario.checks().specs().len() >= 8, "{}", scenario.id());
    }
}

#[test]
fn every_service_carries_at_least_four_scenarios() {
    let mut carried: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let scenarios = scenarios();
    for scenario in &scenarios {
        let run = played(scenario, "reference", SEED);
        let inputs = run.transcript().expect("it is read").exchanges.into_iter().map(|exchange| exchange.input);
        let tools = inputs.filter_map(|input| if let Input::Call(call) = input { Some(call.tool) } else { None });
        let services: BTreeSet<String> = tools.filter_map(|tool| Some(tool.split_once('.')?.0.to_owned())).collect();
        for service in services {
            carried.entry(service).or_default().push(scenario.id().to_owned());
        }
    }
    let mut expected = vec!["calendar", "chat", "clock", "files", "knowledge", "mail", "records", "sheets"];
    // Where none runs, its scenarios are not among them.
    expected.extend(scenarios.iter().any(has_shell).then_some("shell"));
    for service in expected {
        let by = carried.get(service).map_or(&[][..], Vec::as_slice);
        assert!(by.len() >= 4, "{service} carries only {}: {}", by.len(), by.join(", "));
    }
}

#[test]
fn the_reference_solution_satisfies_every_check() {
    for scenario in scenarios() {
        let report = played(&scenario, "reference", SEED).grade(None).expect("it is graded");
        for verdict in &report.verdicts {
            assert!(verdict.error.is_none(), "{}: {}: {:?}", scenario.id(), verdict.spec.id, verdict.error);
            assert!(verdict.level >= 1.0, "{}: {} stands at {}", scenario.id(), verdict.spec.id, verdict.level);
        }
        assert!(report.passed && report.strict && report.finished, "{}", scenario.id());
    }
}

#[test]
fn an_agent_that_does_nothing_scores_at_most_a_fifth() {
    for scenario in scenarios() {
        let report = played(&scenario, "noop", SEED).grade(None).expect("it is graded");
        assert!(report.score <= 0.2, "{}: {}", scenario.id(), report.score);
    }
}

#[test]
fn every_bad_agent_fails() {
    for scenario in scenarios() {
        let bad: Vec<String> = scenario
            .solutions()
            .iter()
            .map(|solution| solution.name.to_string())
            .filter(|name| name.starts_with("bad"))
            .collect();
        assert!(bad.len() >= 3, "{} has only {} bad agents", scenario.id(), bad.len());
        for name in bad {
            let report = played(&scenario, &name, SEED).grade(None).expect("it is graded");
            assert!(!report.passed, "{}: {name} passes with {}", scenario.id(), report.score);
        }
    }
}

#[test]
fn every_scenario_has_what_a_living_world_needs() {
    for scenario in scenarios() {
        let script = scenario.script();
        let plan = script.plan();
        let id = scenario.id();
        assert!(plan.days.len() >= 3, "{id}: days");
        assert!(plan.events.iter().any(|event| event.notice.is_some()), "{id}: a loud change");
        assert!(plan.events.iter().any(|event| event.notice.is_none()), "{id}: a silent change");
        assert!(
            plan.events.iter().any(|event| matches!(event.when, When::Condition { .. })),
            "{id}: a conditional event"
        );
        assert!(!plan.personas.is_empty(), "{id}: a persona");
        let red = |moment| matches!(moment, dayshift_engine::Moment::Throughout { cap: Some(_) });
        assert!(scenario.checks().specs().iter().any(|spec| red(spec.moment)), "{id}: a red line");
    }
}

#[test]
fn credit_of_every_agent_sums_to_what_the_score_moved() {
    for scenario in scenarios() {
        let names: Vec<String> =
            scenario.solutions().iter().map(|solution| solution.name.to_string()).chain(["noop".to_owned()]).collect();
        for name in names {
            let account = played(&scenario, &name, SEED).account().expect("it is accounted");
            let ledger = account.ledger(&dayshift_replay::credit::Config::default());
            assert!(ledger.imbalance().abs() < 1e-9, "{} by {name}: {}", scenario.id(), ledger.imbalance());
            assert!((ledger.end - account.report().score).abs() < 1e-9, "{} by {name}", scenario.id());
        }
    }
}

#[test]
fn everybody_bears_a_word_out_of_the_blue() {
    for scenario in scenarios() {
        let library = memory_library();
        let (mut live, _) = library.start(&scenario, Seed::new(SEED), "chatty").expect("it starts");
        for persona in &scenario.script().plan().personas {
            let text = "Hello, what about it? I need a word with you today.";
            let address =
                scenario.people().iter().find(|person| person.name == persona.name).map(|person| &person.address);
            let address = address.expect("a persona is one of the people").clone();
            let chat = ToolCall::new("chat.send", map! { "with" => persona.name.clone(), "text" => text });
            let mail = ToolCall::new("mail.send", map! { "to" => vec![address], "subject" => "Hello", "body" => text });
            for call in [chat, mail] {
                live.input(Input::Call(call)).expect("it is recorded");
            }
        }
        while !live.episode().is_closed() {
            live.input(Input::HandOver { text: String::new() }).expect("the day ends");
        }
        for record in live.episode().log().since(0) {
            let stored = Stored::new(record).expect("stored");
            let (head, outcome) = (stored.head().expect("a head"), stored.outcome().expect("an outcome"));
            if let (Request::Look, Outcome::Refused(rejection)) = (&head.request, &outcome) {
                panic!("{}: {}: {rejection}", scenario.id(), head.actor);
            }
        }
    }
}
