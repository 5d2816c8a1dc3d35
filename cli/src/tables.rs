//! Tables of checks, credit and ledgers for people.

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{CellAlignment, ContentArrangement, Table};
use dayshift_replay::credit::{Entry, Row};
use dayshift_runs::{CheckRow, CreditRow, Summary};

use crate::talk::{self, GREEN, RED, paint, visible};

/// How many keys of a check's evidence a table names.
const EVIDENCE_SHOWN_MAX: usize = 2;

/// Prints the score and the checks.
pub(crate) fn score(summary: &Summary) {
    let passed = match (summary.passed, summary.provenance.is_clean()) {
        (true, _) => paint("passed", GREEN),
        (false, true) => paint("did not pass", RED),
        (false, false) => paint("did not pass, for what it rests on", RED),
    };
    let capped = if summary.uncapped > summary.score {
        format!(" (capped by a red line; {:.3} without)", summary.uncapped)
    } else {
        String::new()
    };
    let provisional = if summary.finished { "" } else { ", unfinished: the verdicts are provisional" };
    talk::print(&format!("score {:.3}{capped}: {passed}{provisional}", summary.score));
    let days: Vec<String> = summary.days.iter().map(|(day, share)| format!("{} {share:.2}", visible(day))).collect();
    if !days.is_empty() {
        talk::print(&format!("by day: {}", days.join(", ")));
    }
    let mut table = table(&["check", "counts at", "weight", "level", "evidence"]);
    for check in &summary.checks {
        table.add_row([
            format!("{}\n{}", visible(&check.id), visible(&check.title)),
            visible(&check.day).into_owned(),
            format!("{:.3}", check.weight),
            level(check.level),
            evidence(check),
        ]);
    }
    align(&mut table, &[2, 3]);
    talk::print(&table.to_string());
    for failure in &summary.script_failures {
        let said = failure.to_string();
        let said = format!("a script of the scenario failed ({}): {}", visible(&failure.code), visible(&said));
        talk::print(&paint(&said, RED));
    }
}

/// Prints the credit of every turn.
pub(crate) fn credit(summary: &Summary) {
    let Some(rows) = &summary.credit else { return };
    let mut table = table(&["turn", "day", "credit", "direct", "prerequisite", "regression", ""]);
    let largest = rows.iter().map(|row| row.amount.abs()).fold(f64::EPSILON, f64::max);
    for row in rows {
        table.add_row([
            row.turn.to_string(),
            visible(&row.day).into_owned(),
            signed(row.amount),
            signed(row.direct),
            signed(row.prerequisite),
            signed(row.regression),
            bar(row, largest),
        ]);
    }
    align(&mut table, &[0, 2, 3, 4, 5]);
    talk::print(&table.to_string());
    let sum: f64 = rows.iter().map(|row| row.amount).sum();
    let unattributed = summary.unattributed.filter(|amount| amount.abs() > 1e-12);
    let rest = unattributed.map(|amount| format!(", unattributed {amount:+.3}")).unwrap_or_default();
    talk::print(&format!(
        "from the start {:.3}, credit {sum:+.3}, exogenous {:+.3}{rest}: score {:.3}",
        summary.start, summary.exogenous, summary.score
    ));
    let held = summary.checks.iter().filter(|check| check.start > 0.0);
    let held: Vec<String> =
        held.map(|check| format!("{} {:.3}", visible(&check.id), check.weight * check.start)).collect();
    if !held.is_empty() {
        talk::print(&format!("held from the start: {}", held.join(", ")));
    }
}

/// Prints the rows of a ledger.
pub(crate) fn ledger(rows: &[Row]) {
    let mut table = table(&["record", "check", "kind", "turn", "amount"]);
    for row in rows {
        let (kind, turn) = match row.entry {
            Entry::Exogenous => ("exogenous".to_owned(), None),
            Entry::Regression { turn } => ("regression".to_owned(), Some(turn)),
            Entry::Regained { turn } => ("regained".to_owned(), Some(turn)),
            Entry::Prerequisite { turn, flip, distance } => {
                (format!("prerequisite of turn {flip}, distance {distance}"), Some(turn))
            }
            Entry::Unattributed { flip, distance } => {
                (format!("unattributed, of turn {flip}, distance {distance}"), None)
            }
            Entry::Flip { turn } => ("flip".to_owned(), Some(turn)),
            Entry::RedLine { turn } => ("red line".to_owned(), turn),
        };
        let turn = turn.map_or("-".to_owned(), |turn| turn.to_string());
        table.add_row([row.at.to_string(), visible(&row.check).into_owned(), kind, turn, signed(row.amount)]);
    }
    align(&mut table, &[0, 3, 4]);
    talk::print(&table.to_string());
}

/// Returns an empty table with `header`.
pub(crate) fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
    if table.width().is_none() {
        table.set_width(120);
    }
    table.set_header(header.iter().copied());
    table
}

/// Aligns the columns of numbers to the right.
pub(crate) fn align(table: &mut Table, columns: &[usize]) {
    for column in columns {
        if let Some(column) = table.column_mut(*column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

fn level(level: f64) -> String {
    if level >= 1.0 {
        "✔ 1".to_owned()
    } else if level <= 0.0 {
        "✘ 0".to_owned()
    } else {
        format!("◐ {level:.2}")
    }
}

/// Names the evidence that was written last, since that is what made the verdict; content that merely was there comes after it.
fn evidence(check: &CheckRow) -> String {
    if let Some(error) = &check.error {
        return format!("cannot be evaluated: {}", visible(error));
    }
    let mut shown: Vec<_> = check.evidence.iter().filter(|evidence| !evidence.key.ends_with('*')).collect();
    shown.sort_by_key(|evidence| std::cmp::Reverse((evidence.turn.is_some(), evidence.record)));
    let rest = shown.len().saturating_sub(EVIDENCE_SHOWN_MAX);
    let mut lines: Vec<String> = shown
        .into_iter()
        .take(EVIDENCE_SHOWN_MAX)
        .map(|evidence| match evidence.turn {
            Some(turn) => format!("{} (turn {turn})", visible(&evidence.key)),
            None => visible(&evidence.key).into_owned(),
        })
        .collect();
    if rest > 0 {
        lines.push(format!("and {rest} more"));
    }
    lines.join("\n")
}

fn signed(amount: f64) -> String {
    if amount.abs() < 5e-4 { "0".to_owned() } else { format!("{amount:+.3}") }
}

fn bar(row: &CreditRow, largest: f64) -> String {
    let width = (row.amount.abs() / largest * 20.0).round() as usize;
    if row.amount < 0.0 { "▒".repeat(width) } else { "█".repeat(width) }
}
