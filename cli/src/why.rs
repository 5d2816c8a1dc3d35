//! Why a verdict is what it is: the path from it back through keys, events and calls to turns, drawn as a tree.

use std::collections::BTreeSet;

use dayshift_engine::codec::Stored;
use dayshift_engine::{ReadKind, Request, Seq};
use dayshift_replay::Account;
use dayshift_replay::credit::Edge;
use dayshift_runs::Run;
use dayshift_services::Office;

use crate::commands::Desk;
use crate::talk::{self, DIM, Failure, Verdict, paint, visible};

/// How far back the tree goes.
const DEPTH_MAX: usize = 12;

/// Explains a verdict.
pub(crate) fn why(desk: &Desk, name: &str, check: &str) -> Result<Verdict, Failure> {
    let run = desk.load(name)?;
    let account = run.account()?;
    let report = account.report();
    let Some(verdict) = report.verdicts.iter().find(|verdict| verdict.spec.id == check) else {
        let known: Vec<&str> = report.verdicts.iter().map(|verdict| verdict.spec.id.as_str()).collect();
        let message = format!("there is no check '{check}'; the checks are {}", known.join(", "));
        return Err(Failure::new("check/unknown", message));
    };
    let mut tree = Tree { run: &run, account: &account, shown: BTreeSet::new(), nodes: Vec::new() };
    let mut last = Vec::new();
    let mut initial = 0;
    for evidence in verdict.evidence.iter().filter(|evidence| evidence.read.kind != ReadKind::Scan) {
        if evidence.read.written <= report.opened {
            initial += 1;
        } else {
            last.push((evidence.read.key.to_string(), evidence.read.written));
        }
    }
    last.sort_by_key(|(key, written)| (std::cmp::Reverse(*written), key.clone()));
    for (key, written) in &last {
        tree.walk(*written, &format!("read {key}"), 1);
    }
    if desk.json {
        let moves: Vec<_> = report
            .moves
            .iter()
            .filter(|step| report.verdicts[step.check].spec.id == check)
            .map(|step| {
                serde_json::json!({
                    "record": step.at, "actor": step.actor.to_string(), "turn": step.turn, "before": step.before, "after": step.after,
                })
            })
            .collect();
        talk::print_json(&serde_json::json!({
            "run": run.name, "initial": initial, "check": check, "level": verdict.level, "error": verdict.error, "moves": moves, "path": tree.nodes,
        }));
        return Ok(Verdict::Good);
    }
    talk::print(&format!("{} stands at {:.2}: {}", visible(check), verdict.level, visible(&verdict.spec.title)));
    if let Some(error) = &verdict.error {
        talk::print(&format!("  it cannot be evaluated: {}", visible(error)));
    }
    for step in report.moves.iter().filter(|step| report.verdicts[step.check].spec.id == check) {
        let who = match step.turn {
            Some(turn) if step.actor.is_exogenous() => format!("{}, set off by turn {turn}", step.actor),
            Some(turn) => format!("turn {turn}"),
            None => step.actor.to_string(),
        };
        talk::print(&format!("  {:.2} → {:.2} at record {} by {who}", step.before, step.after, step.at));
    }
    if initial > 0 {
        talk::print(&paint(&format!("   it also read {initial} piece(s) of the initial world, unchanged"), DIM));
    }
    for node in &tree.nodes {
        let indent = "   ".repeat(node.depth);
        let repeated = if node.repeated { paint(" (shown above)", DIM) } else { String::new() };
        talk::print(&format!(
            "{indent}└─ {} ← {}{repeated}",
            paint(&visible(&node.edge), DIM),
            visible(&node.record_text)
        ));
    }
    Ok(Verdict::Good)
}

struct Tree<'a> {
    run: &'a Run,
    account: &'a Account<Office>,
    shown: BTreeSet<Seq>,
    nodes: Vec<Node>,
}

/// One step of the path back.
#[derive(serde::Serialize)]
struct Node {
    depth: usize,
    /// How the step before depends on this record.
    edge: String,
    record: Seq,
    /// Who did what there.
    record_text: String,
    turn: Option<dayshift_engine::Turn>,
    /// Whether what is behind it was shown before.
    repeated: bool,
}

impl Tree<'_> {
    fn walk(&mut self, record: Seq, edge: &str, depth: usize) {
        let known = self.account.trace().step(record);
        let repeated = known.is_some() && !self.shown.insert(record);
        self.nodes.push(Node {
            depth,
            edge: edge.to_owned(),
            record,
            record_text: self.text(record),
            turn: known.and_then(|step| step.agent_turn()),
            repeated,
        });
        if repeated || known.is_none() || depth >= DEPTH_MAX {
            return;
        }
        let sources: Vec<(Seq, String)> =
            self.account.edges().sources(record).map(|(source, edge)| (source, edge_text(edge))).collect();
        for (source, edge) in sources {
            if self.account.trace().step(source).is_some() {
                self.walk(source, &edge, depth + 1);
            }
        }
    }

    fn text(&self, record: Seq) -> String {
        let stored = self.run.records.get(record.get() as usize).and_then(|bytes| Stored::new(bytes).ok());
        let Some((stored, head)) = stored.and_then(|stored| Some((stored, stored.head().ok()?))) else {
            return format!("#{record}");
        };
        if record <= self.account.report().opened {
            return format!("#{record} the initial world");
        }
        let what = match &head.request {
            Request::Call { tool, .. } => tool.to_string(),
            Request::Message { .. } => "a message".to_owned(),
            Request::Look => "a look".to_owned(),
            Request::OpenDay { name, .. } => format!("the opening of {name}"),
            Request::Genesis { .. }
            | Request::Open { .. }
            | Request::Notify { .. }
            | Request::EndDay
            | Request::Close => "the timeline".to_owned(),
        };
        let who = head.turn.map_or_else(|| head.actor.to_string(), |turn| format!("turn {turn}"));
        let event = head.event.map(|event| format!(" ({event})")).unwrap_or_default();
        format!("#{record} {who}: {what}{event}, {}", talk::clock(stored.time(), self.run.scenario.zone()))
    }
}

fn edge_text(edge: &Edge) -> String {
    match edge {
        Edge::ReadAfterWrite { key } => format!("read {key}"),
        Edge::Lineage => "because of".to_owned(),
        Edge::ToolOutputFlow { value } => format!("used '{value}'"),
    }
}
