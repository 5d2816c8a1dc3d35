//! The commands for stores and files that are damaged: what is in quarantine, and imports that take what is whole.

use std::path::Path;

use dayshift_runs::{Imported, RunNote};

use crate::commands::{Desk, report};
use crate::tables;
use crate::talk::{self, Failure, Verdict};

/// Lists what is in quarantine.
pub(crate) fn quarantine(desk: &Desk) -> Result<Verdict, Failure> {
    let kept = dayshift_stores::quarantine(&desk.store)?;
    if desk.json {
        let rows: Vec<_> = kept
            .iter()
            .map(|run| {
                let lost = run.lost.as_ref().map(|lost| [lost.start, lost.end.saturating_sub(1)]);
                serde_json::json!({
                    "store": run.log.display().to_string(), "run": run.branch.as_str(),
                    "scenario": RunNote::from_bytes(&run.note).scenario,
                    "whole": run.whole, "lost": lost, "after": run.after,
                })
            })
            .collect();
        talk::print_json(&serde_json::json!({ "quarantine": rows }));
        return Ok(Verdict::Good);
    }
    if kept.is_empty() {
        talk::warn("nothing is in quarantine");
        return Ok(Verdict::Good);
    }
    let mut table = tables::table(&["run", "scenario", "whole records", "lost", "whole after", "read it with"]);
    for run in kept {
        let lost = run.lost.map_or("-".to_owned(), |lost| format!("{} to {}", lost.start, lost.end.saturating_sub(1)));
        table.add_row([
            run.branch.to_string(),
            talk::visible(&RunNote::from_bytes(&run.note).scenario).into_owned(),
            run.whole.to_string(),
            lost,
            run.after.to_string(),
            format!("--store {}", run.log.display()),
        ]);
    }
    tables::align(&mut table, &[2, 4]);
    talk::print(&table.to_string());
    Ok(Verdict::Good)
}

/// Brings in what is whole of a file.
pub(crate) fn import_salvaged(desk: &Desk, file: &Path) -> Result<Verdict, Failure> {
    let Imported { id, records, fault, blobs_missing } = desk.library()?.import_salvaged(file)?;
    let fault = fault.map(|fault| fault.to_string());
    let blobs: Vec<String> = blobs_missing.iter().map(ToString::to_string).collect();
    let json = serde_json::json!({
        "run": id.as_str(), "records": records, "fault": fault, "blobs_missing": blobs,
    });
    let whole = if fault.is_some() { "its whole records" } else { "all its records" };
    report(desk, &json, &format!("imported as {id} with {whole}: {records}"));
    if let Some(fault) = fault {
        talk::warn(&format!("note: {fault}"));
    }
    if !blobs.is_empty() {
        eprintln!(
            "note: {} blobs that its records name are missing, so it may not replay: {}",
            blobs.len(),
            blobs.join(", ")
        );
    }
    Ok(Verdict::Good)
}
