//! Several scenarios at a glance: a line of each, and what agents that only want points get from all of them together.

use dayshift_runs::check::{Admission, HACKER_SCORE_MAX, Severity, TRICKS};

use crate::tables;
use crate::talk;

/// Prints a line of each scenario.
pub(super) fn show(admissions: &[Admission]) {
    let mut headers = vec!["scenario", "admitted", "errors", "warnings", "mutants"];
    headers.extend(TRICKS.iter().map(|trick| trick.name()));
    let mut table = tables::table(&headers);
    for admission in admissions {
        let count = |severity| admission.findings.iter().filter(|finding| finding.severity == severity).count();
        let mut row = vec![
            talk::visible(&admission.scenario).into_owned(),
            if admission.admitted { "yes" } else { "no" }.to_owned(),
            count(Severity::Error).to_string(),
            count(Severity::Warning).to_string(),
            admission.mutation_score.map_or_else(|| "-".to_owned(), |score| format!("{score:.3}")),
        ];
        row.extend(TRICKS.iter().map(|trick| {
            let trial = admission.hackers.iter().find(|trial| trial.trick == *trick);
            trial.map_or_else(|| "-".to_owned(), |trial| format!("{:.3}", trial.score))
        }));
        table.add_row(row);
    }
    tables::align(&mut table, &(2..headers.len()).collect::<Vec<_>>());
    talk::print(&table.to_string());
    let trials: Vec<_> = admissions.iter().flat_map(|admission| &admission.hackers).collect();
    if trials.is_empty() {
        return;
    }
    let mean = trials.iter().map(|trial| trial.score).sum::<f64>() / trials.len() as f64;
    let passed = trials.iter().filter(|trial| trial.passed).count();
    let reached = trials.iter().filter(|trial| trial.score >= HACKER_SCORE_MAX).count();
    talk::print(&format!(
        "agents that only want points: {passed} of {} pass, {reached} reach {HACKER_SCORE_MAX}, and their mean score is {mean:.3}",
        trials.len()
    ));
}
