//! Moments, red lines, untracked reads, options of the ledger, and edges, by example.

use std::collections::BTreeSet;

use dayshift_engine::{Actor, Key, Read, ReadKind, Seq, Turn, Value};
use dayshift_replay::credit::{
    Check, Config, CreditError, Crossing, Edges, Entry, Ledger, Movement, Step, Trace, Verdicts,
};

#[test]
fn a_fallen_constraint_is_a_regression_of_the_turn_that_broke_it() {
    let trace = trace(&[agent(1, 1), agent(2, 2)]);
    let verdicts = verdicts(&trace, &[("kept", 3.0, 1.0), ("done", 1.0, 0.0)], &[(0, 2, 1.0, 0.0)], &[]).unwrap();
    let ledger = settle(&trace, &verdicts, &Config::default());
    assert_eq!(ledger.credit[&Turn::new(2)].regression, -0.75);
    assert_eq!((ledger.start, ledger.end), (0.75, 0.0));
}

#[test]
fn a_red_line_takes_what_exceeds_its_cap_from_the_turn_that_crossed_it() {
    let trace = trace(&[agent(1, 1), agent(2, 2)]);
    let verdicts = verdicts(&trace, &[("done", 1.0, 0.0)], &[(0, 2, 0.0, 1.0)], &[("leak", 1, 0.25)]).unwrap();
    let ledger = settle(&trace, &verdicts, &Config::default());
    let last = ledger.rows.last().unwrap();
    assert_eq!((last.check.as_str(), last.amount), ("leak", -0.75));
    assert_eq!(last.entry, Entry::RedLine { turn: Some(Turn::new(1)) });
    assert_eq!(ledger.credit[&Turn::new(1)].amount, -0.75);
    assert_eq!(ledger.end, 0.25);
    assert!(ledger.imbalance().abs() < 1e-12);
}

#[test]
fn a_second_red_line_takes_only_what_the_first_left_above_its_cap() {
    let trace = trace(&[agent(1, 1), agent(2, 2), world(3)]);
    let lines = [("deeper", 2, 0.1), ("leak", 1, 0.25), ("late", 3, 0.5)];
    let verdicts = verdicts(&trace, &[("done", 1.0, 0.0)], &[(0, 2, 0.0, 1.0)], &lines).unwrap();
    let ledger = settle(&trace, &verdicts, &Config::new(0.0, 0.7).unwrap());
    let charged: Vec<_> = ledger.rows[1..].iter().map(|row| (row.check.as_str(), row.amount)).collect();
    assert_eq!(charged, [("leak", -0.75), ("deeper", -0.15), ("late", 0.0)]);
    assert!(ledger.imbalance().abs() < 1e-12);
}

#[test]
fn a_red_line_above_the_score_takes_nothing() {
    let trace = trace(&[agent(1, 1)]);
    let verdicts = verdicts(&trace, &[("done", 1.0, 0.5)], &[], &[("leak", 1, 0.5)]).unwrap();
    let ledger = settle(&trace, &verdicts, &Config::default());
    assert_eq!(ledger.credit[&Turn::new(1)].amount, 0.0);
    assert_eq!(ledger.end, 0.5);
}

#[test]
fn a_red_line_crossed_by_the_world_goes_to_the_exogenous_account() {
    let trace = trace(&[agent(1, 1), world(2)]);
    let verdicts = verdicts(&trace, &[("done", 1.0, 0.0)], &[(0, 1, 0.0, 1.0)], &[("leak", 2, 0.0)]).unwrap();
    let ledger = settle(&trace, &verdicts, &Config::default());
    assert_eq!((ledger.exogenous, ledger.credit[&Turn::new(1)].amount), (-1.0, 1.0));
}

#[test]
fn what_was_so_when_the_day_opened_is_exogenous() {
    // A check of the second day: record 2 opens it, and the level that the first day left is nobody's.
    let trace = trace(&[agent(1, 1), world(2), agent(3, 2)]);
    let moves = [(0, 2, 0.0, 0.5), (0, 3, 0.5, 1.0)];
    let verdicts = verdicts(&trace, &[("noon", 1.0, 0.0)], &moves, &[]).unwrap();
    let ledger = settle(&trace, &verdicts, &Config::default());
    assert_eq!(ledger.exogenous, 0.5);
    assert_eq!(ledger.credit[&Turn::new(1)].amount, 0.0);
    assert_eq!(ledger.credit[&Turn::new(2)].amount, 0.5);
}

#[test]
fn a_partial_repair_above_the_old_mark_is_new_only_above_it() {
    let trace = trace(&[agent(1, 1), agent(2, 2), agent(3, 3)]);
    let moves = [(0, 1, 0.0, 0.5), (0, 2, 0.5, 0.25), (0, 3, 0.25, 1.0)];
    let verdicts = verdicts(&trace, &[("done", 1.0, 0.0)], &moves, &[]).unwrap();
    let rows = settle(&trace, &verdicts, &Config::default()).rows;
    let turn = Turn::new(3);
    assert_eq!((rows[2].entry, rows[2].amount), (Entry::Regained { turn }, 0.25));
    assert_eq!((rows[3].entry, rows[3].amount), (Entry::Flip { turn }, 0.5));
}

#[test]
fn lasting_credit_counts_a_partly_lost_level_up_to_where_it_ended() {
    let trace = trace(&[agent(1, 1), world(2)]);
    let moves = [(0, 1, 0.0, 1.0), (0, 2, 1.0, 0.25)];
    let verdicts = verdicts(&trace, &[("done", 1.0, 0.0)], &moves, &[]).unwrap();
    let ledger = settle(&trace, &verdicts, &Config::default().lasting_only());
    assert_eq!(ledger.credit[&Turn::new(1)].amount, 0.25);
    assert_eq!(ledger.exogenous, 0.0);
}

#[test]
fn an_untracked_read_on_the_path_takes_a_share_that_nobody_gets() {
    let mut reader = agent(2, 2);
    reader.untracked = true;
    reader.reads.push(read(1, ReadKind::Item));
    let trace = trace(&[agent(1, 1), reader]);
    let verdicts = verdicts(&trace, &[("done", 1.0, 0.0)], &[(0, 2, 0.0, 1.0)], &[]).unwrap();
    let ledger = settle(&trace, &verdicts, &Config::default());
    // Turn 1 and the unknown both lie at distance 1, and share 0.3.
    assert!((ledger.credit[&Turn::new(1)].amount - 0.15).abs() < 1e-12);
    assert!((ledger.unattributed - 0.15).abs() < 1e-12);
    assert!((ledger.credit[&Turn::new(2)].amount - 0.7).abs() < 1e-12);
}

#[test]
fn an_untracked_read_off_the_path_takes_nothing() {
    let mut bystander = agent(1, 1);
    bystander.untracked = true;
    let trace = trace(&[bystander, agent(2, 2)]);
    let verdicts = verdicts(&trace, &[("done", 1.0, 0.0)], &[(0, 2, 0.0, 1.0)], &[]).unwrap();
    assert_eq!(settle(&trace, &verdicts, &Config::default()).unattributed, 0.0);
}

#[test]
fn an_evaluation_that_read_untracked_leaves_a_share_unattributed() {
    let trace = trace(&[agent(1, 1)]);
    let mut moved = movement(0, 1, 0.0, 1.0);
    moved.untracked = true;
    let checks = vec![Check { id: "done".into(), weight: 1.0, start: 0.0 }];
    let verdicts = Verdicts::new(&trace, checks, vec![moved], Vec::new()).unwrap();
    assert!((settle(&trace, &verdicts, &Config::default()).unattributed - 0.3).abs() < 1e-12);
}

#[test]
fn credit_follows_items_and_membership_and_not_scans() {
    for (kind, shared) in [(ReadKind::Item, 0.3), (ReadKind::Membership, 0.3), (ReadKind::Scan, 0.0)] {
        let mut reader = agent(2, 2);
        reader.reads.push(read(1, kind));
        let trace = trace(&[agent(1, 1), reader]);
        let verdicts = verdicts(&trace, &[("done", 1.0, 0.0)], &[(0, 2, 0.0, 1.0)], &[]).unwrap();
        let ledger = settle(&trace, &verdicts, &Config::default());
        assert!((ledger.credit[&Turn::new(1)].amount - shared).abs() < 1e-12, "{kind:?}");
    }
}

#[test]
fn a_far_prerequisite_weighs_no_more_when_the_near_one_is_not_paid() {
    let mut middle = agent(2, 2);
    middle.reads.push(read(1, ReadKind::Item));
    let mut last = agent(3, 3);
    last.reads.push(read(2, ReadKind::Item));
    let trace = trace(&[agent(1, 1), middle, last]);
    let verdicts = verdicts(&trace, &[("done", 1.0, 0.0)], &[(0, 3, 0.0, 1.0)], &[]).unwrap();
    let ledger = settle(&trace, &verdicts, &Config::default().audited([Turn::new(1)].into()));
    assert!((ledger.credit[&Turn::new(1)].amount - 0.3 * 0.7).abs() < 1e-12);
    assert!((ledger.credit[&Turn::new(3)].amount - 0.79).abs() < 1e-12);
}

#[test]
fn a_value_flows_from_the_first_output_that_held_it() {
    let steps = [calls(1, 1, "", "INV-7731"), calls(2, 2, "", "INV-7731"), calls(3, 3, "INV-7731", "")];
    assert_eq!(sources(&steps, &[], 3), ["1 tof"]);
}

#[test]
fn an_echo_of_what_was_asked_is_no_source() {
    let steps = [calls(1, 1, "INV-7731", "INV-7731"), calls(2, 2, "INV-7731", "")];
    assert_eq!(sources(&steps, &[], 2), [""; 0]);
}

#[test]
fn what_the_prompt_or_a_schema_holds_is_no_discovery() {
    let steps = [calls(1, 1, "", "INV-7731"), calls(2, 2, "INV-7731", "")];
    assert_eq!(sources(&steps, &["INV-7731"], 2), [""; 0]);
}

#[test]
fn what_the_agent_invented_is_no_discovery_when_it_is_answered_later() {
    let steps = [calls(1, 1, "INV-7731", ""), calls(2, 2, "", "INV-7731"), calls(3, 3, "INV-7731", "")];
    assert_eq!(sources(&steps, &[], 3), [""; 0]);
}

#[test]
fn nothing_flows_inside_a_turn() {
    let steps = [calls(1, 1, "", "INV-7731"), calls(2, 1, "INV-7731", "")];
    assert_eq!(sources(&steps, &[], 2), [""; 0]);
}

#[test]
fn a_read_explains_an_edge_before_lineage_and_flow_do() {
    let mut last = calls(2, 2, "INV-7731", "");
    last.causes.push(Seq::new(1));
    assert_eq!(sources(&[calls(1, 1, "", "INV-7731"), last.clone()], &[], 2), ["1 lineage"]);
    last.reads.push(read(1, ReadKind::Item));
    assert_eq!(sources(&[calls(1, 1, "", "INV-7731"), last], &[], 2), ["1 raw"]);
}

#[test]
fn weights_are_normalised_to_one() {
    let trace = trace(&[agent(1, 1)]);
    let checks = [("a", 3.0, 0.0), ("b", 1.0, 0.0)];
    let verdicts = verdicts(&trace, &checks, &[(0, 1, 0.0, 1.0)], &[]).unwrap();
    assert_eq!(settle(&trace, &verdicts, &Config::default()).end, 0.75);
}

#[test]
fn checks_without_weight_give_no_credit() {
    let trace = trace(&[agent(1, 1)]);
    let verdicts = verdicts(&trace, &[("a", 0.0, 0.0)], &[(0, 1, 0.0, 1.0)], &[]).unwrap();
    assert_eq!(settle(&trace, &verdicts, &Config::default()).credit[&Turn::new(1)].amount, 0.0);
}

#[test]
fn a_row_reads_flat_as_json() {
    let trace = trace(&[agent(1, 1)]);
    let verdicts = verdicts(&trace, &[("done", 1.0, 0.0)], &[(0, 1, 0.0, 1.0)], &[]).unwrap();
    let rows = settle(&trace, &verdicts, &Config::default()).rows;
    let expected = r#"{"check":"done","at":1,"kind":"flip","turn":1,"amount":1.0}"#;
    assert_eq!(serde_json::to_string(&rows[0]).unwrap(), expected);
}

#[test]
fn movements_that_do_not_join_are_refused() {
    let trace = trace(&[agent(1, 1), agent(2, 2)]);
    let moves = [(0, 1, 0.0, 0.5), (0, 2, 0.75, 1.0)];
    let found = verdicts(&trace, &[("done", 1.0, 0.0)], &moves, &[]);
    let at = Seq::new(2);
    assert_eq!(found, Err(CreditError::Discontinuous { check: "done".into(), at, before: 0.75, stood: 0.5 }));
}

#[test]
fn verdicts_about_unknown_things_are_refused() {
    let trace = trace(&[agent(1, 1)]);
    let checks = [("done", 1.0, 0.0)];
    let refused = |checks: &[_], moves: &[_], lines: &[_]| verdicts(&trace, checks, moves, lines).unwrap_err();
    assert_eq!(refused(&checks, &[(1, 1, 0.0, 1.0)], &[]), CreditError::UnknownCheck { check: 1, checks: 1 });
    assert_eq!(refused(&checks, &[(0, 2, 0.0, 1.0)], &[]), CreditError::UnknownRecord { seq: Seq::new(2) });
    assert_eq!(refused(&checks, &[], &[("leak", 2, 0.5)]), CreditError::UnknownRecord { seq: Seq::new(2) });
    assert!(matches!(refused(&checks, &[(0, 1, 0.0, 1.5)], &[]), CreditError::Range { .. }));
    assert!(matches!(refused(&checks, &[], &[("leak", 1, f64::NAN)]), CreditError::Range { .. }));
    assert!(matches!(refused(&[("done", -1.0, 0.0)], &[], &[]), CreditError::Number { .. }));
    assert!(matches!(refused(&[("done", f64::INFINITY, 0.0)], &[], &[]), CreditError::Number { .. }));
}

#[test]
fn evidence_from_a_later_record_is_refused() {
    let trace = trace(&[agent(1, 1), agent(2, 2)]);
    let moved = Movement { roots: vec![Seq::new(2)], ..movement(0, 1, 0.0, 1.0) };
    let checks = vec![Check { id: "done".into(), weight: 1.0, start: 0.0 }];
    let found = Verdicts::new(&trace, checks, vec![moved], Vec::new());
    assert_eq!(found, Err(CreditError::Forward { seq: Seq::new(1), source_seq: Seq::new(2) }));
}

fn agent(seq: u64, turn: u32) -> Step {
    Step { actor: Actor::Agent, turn: Some(Turn::new(turn)), ..world(seq) }
}

fn world(seq: u64) -> Step {
    Step {
        seq: Seq::new(seq),
        actor: Actor::World,
        turn: None,
        reads: Vec::new(),
        causes: Vec::new(),
        arguments: Value::Null,
        output: Value::Null,
        writes: Vec::new(),
        untracked: false,
    }
}

fn calls(seq: u64, turn: u32, argument: &str, output: &str) -> Step {
    Step { arguments: argument.into(), output: output.into(), ..agent(seq, turn) }
}

fn sources(steps: &[Step], known: &[&str], seq: u64) -> Vec<String> {
    let edges = Edges::of(&trace(steps), &known.iter().map(|value| (*value).into()).collect());
    edges.sources(Seq::new(seq)).map(|(source, edge)| format!("{source} {}", edge.kind())).collect()
}

fn read(written: u64, kind: ReadKind) -> Read {
    Read { key: Key::new("files:/a.txt"), kind, written: Seq::new(written) }
}

fn trace(steps: &[Step]) -> Trace {
    Trace::new(steps.to_vec()).unwrap()
}

/// Checks as (id, weight, start), movements as (check, at, before, after), red lines as (id, at, cap).
fn verdicts(
    trace: &Trace,
    checks: &[(&str, f64, f64)],
    moves: &[(usize, u64, f64, f64)],
    lines: &[(&str, u64, f64)],
) -> Result<Verdicts, CreditError> {
    let checks = checks.iter().map(|(id, weight, start)| Check { id: (*id).into(), weight: *weight, start: *start });
    let moves = moves.iter().map(|(check, at, before, after)| movement(*check, *at, *before, *after));
    let lines = lines.iter().map(|(id, at, cap)| Crossing { red_line: (*id).into(), at: Seq::new(*at), cap: *cap });
    Verdicts::new(trace, checks.collect(), moves.collect(), lines.collect())
}

/// A movement whose evidence the moving record itself wrote last.
fn movement(check: usize, at: u64, before: f64, after: f64) -> Movement {
    Movement { check, at: Seq::new(at), before, after, roots: vec![Seq::new(at)], untracked: false }
}

fn settle(trace: &Trace, verdicts: &Verdicts, config: &Config) -> Ledger {
    Ledger::settle(trace, &Edges::of(trace, &BTreeSet::new()), verdicts, config)
}
