//! The commands that list, verify, grade, credit and move runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dayshift_engine::Host;
use dayshift_replay::credit::Config;
use dayshift_runs::{
    Execution, LOG_ENDING, Library, Run, RunError, RunRow, Scrutiny, SecretKey, SignatureState, Summary, Verified,
    load_file, load_scenario, signature_of_file, verify_file,
};
use dayshift_sandbox::Sandbox;
use dayshift_scenarios::built_in_names;
use dayshift_stores::BranchId;

use crate::arguments::{Belief, Format};
use crate::tables;
use crate::talk::{self, DIM, Failure, Verdict, paint, progress};
use crate::trust;

/// What every command knows.
pub(crate) struct Desk {
    pub(crate) store: PathBuf,
    pub(crate) json: bool,
}

impl Desk {
    /// Opens the store, and says what it noticed while opening.
    pub(crate) fn library(&self) -> Result<Library, Failure> {
        Ok(told(Library::open(&self.store)?.with_host(host())))
    }

    /// Opens the store to be read: nothing in it is written, locked or made.
    pub(crate) fn reading(&self) -> Result<Library, Failure> {
        Ok(told(Library::open_reading(&self.store)?))
    }

    /// Opens the store for playing: runs that end are signed with the key at `path`, or else with the store's own if it has one.
    pub(crate) fn signing_library(&self, path: Option<&Path>) -> Result<Library, Failure> {
        let library = self.library()?;
        let key = match path {
            Some(path) => Some(SecretKey::read(path)?),
            None => SecretKey::of_store(&self.store)?,
        };
        Ok(match key {
            Some(key) => library.with_key(key),
            None => library,
        })
    }

    /// Loads a run by id, beginning, `last`, or path.
    pub(crate) fn load(&self, name: &str) -> Result<Run, Failure> {
        if let Some(path) = as_file(name) {
            return Ok(load_file(path)?);
        }
        let library = self.reading()?;
        let id = library.resolve(name)?;
        Ok(library.load(&id)?)
    }
}

/// Says what was noticed while a store was opened.
fn told(library: Library) -> Library {
    for finding in library.findings() {
        talk::warn(&format!("note: {finding}"));
    }
    library
}

/// Returns who carries out the errands of calls: the shell's commands run under bubblewrap, where it is there.
pub(crate) fn host() -> Arc<dyn Host> {
    Arc::new(Sandbox::new())
}

/// Knobs of the credit command.
pub(crate) struct CreditOptions {
    pub(crate) audit: bool,
    pub(crate) rho: f64,
    pub(crate) gamma: f64,
    pub(crate) lasting_only: bool,
    pub(crate) audited: bool,
}

/// Returns `name` as a path, if it looks like one: an ending, a slash, or a file of that name.
pub(crate) fn as_file(name: &str) -> Option<&Path> {
    let path = Path::new(name);
    let ending = path.extension().is_some_and(|ending| ending == LOG_ENDING);
    (ending || name.contains('/') || path.is_file()).then_some(path)
}

/// Lists the scenarios.
pub(crate) fn list(desk: &Desk) -> Result<Verdict, Failure> {
    let mut rows = Vec::new();
    for name in built_in_names() {
        let scenario = load_scenario(name)?;
        let days = scenario.script().plan().days.len();
        let checks = scenario.checks().specs().len();
        rows.push((
            scenario.id().to_string(),
            scenario.title().to_owned(),
            scenario.family().map(str::to_owned),
            days,
            checks,
        ));
    }
    if desk.json {
        let scenarios: Vec<_> = rows
            .iter()
            .map(|(id, title, family, days, checks)| {
                serde_json::json!({ "id": id, "title": title, "family": family, "days": days, "checks": checks })
            })
            .collect();
        talk::print_json(&serde_json::json!({ "scenarios": scenarios, "families": [] }));
        return Ok(Verdict::Good);
    }
    let mut table = tables::table(&["scenario", "title", "days", "checks"]);
    for (id, title, _, days, checks) in rows {
        table.add_row([id, title, days.to_string(), checks.to_string()]);
    }
    tables::align(&mut table, &[2, 3]);
    talk::print(&table.to_string());
    Ok(Verdict::Good)
}

/// Lists the runs.
pub(crate) fn runs(desk: &Desk) -> Result<Verdict, Failure> {
    let runs = desk.reading()?.list()?;
    if desk.json {
        let rows: Vec<RunRow> = runs.iter().map(RunRow::from).collect();
        talk::print_json(&serde_json::json!({ "runs": rows }));
        return Ok(Verdict::Good);
    }
    if runs.is_empty() {
        eprintln!("the store holds no runs yet; `dayshift run SCENARIO` makes one");
    }
    let mut table = tables::table(&["run", "scenario", "seed", "agent", "records", "head", "claimed score"]);
    for run in runs {
        let score = match run.note.score {
            Some(score) => format!("{score:.3}"),
            None if run.note.finished => "-".to_owned(),
            None => "unfinished".to_owned(),
        };
        table.add_row([
            run.id.to_string(),
            talk::visible(&run.note.scenario).into_owned(),
            run.note.seed.to_string(),
            talk::visible(&run.note.agent).into_owned(),
            run.head.count.to_string(),
            run.head.hash.short(),
            score,
        ]);
    }
    tables::align(&mut table, &[2, 4, 6]);
    talk::print(&table.to_string());
    let note = "records and head are the log's; the rest is what the notes beside the logs claim: `dayshift grade RUN` finds out";
    talk::print(&paint(note, DIM));
    Ok(Verdict::Good)
}

/// Removes a run.
pub(crate) fn discard(desk: &Desk, name: &str) -> Result<Verdict, Failure> {
    let library = desk.library()?;
    let id = library.resolve(name)?;
    library.discard(&id)?;
    report(desk, &serde_json::json!({ "discarded": id.as_str() }), &format!("discarded {id}"));
    Ok(Verdict::Good)
}

/// Verifies a run: that it is whole, and if asked that it is the very log that ended so, or that one of `keys` signed.
pub(crate) fn verify(desk: &Desk, name: &str, wanted: Option<&str>, keys: &[String]) -> Result<Verdict, Failure> {
    let required = !keys.is_empty();
    let keys = trust::keys(desk, keys)?;
    let verified = match as_file(name) {
        Some(path) => verify_file(path),
        None => {
            let library = desk.reading()?;
            let id = library.resolve(name)?;
            let bar = progress("verifying", None);
            let verified = library.verify(&id, |count| bar.set_position(count));
            bar.finish_and_clear();
            verified
        }
    };
    match verified {
        Ok(Verified { head, blobs }) => {
            let is_wanted = wanted.is_none_or(|wanted| head.hash.to_string() == wanted.to_ascii_lowercase());
            let signature = match as_file(name) {
                Some(path) => signature_of_file(path, &keys)?,
                None => {
                    let library = desk.reading()?;
                    library.signature(&library.resolve(name)?, &keys)?
                }
            };
            let (signed, said) = match &signature {
                SignatureState::Unsigned => (!required, "unsigned".to_owned()),
                SignatureState::Valid { key, trusted } => {
                    let which = if *trusted { "a trusted key" } else { "which nobody named as trusted" };
                    (*trusted || !required, format!("signed by {key}, {which}"))
                }
                SignatureState::Invalid { key } => {
                    (false, format!("the signature beside it is not one of this log by {}", talk::visible(key)))
                }
            };
            let other = if is_wanted { "" } else { ", which is another head than it should have" };
            let line = format!("whole: {} records, {blobs} blobs, head {}{other}; {said}", head.count, head.hash);
            let json = serde_json::json!({
                "whole": true, "records": head.count, "blobs": blobs, "head": head.hash.to_string(), "head_is_wanted": is_wanted,
                "signature": signature,
            });
            report(desk, &json, &line);
            Ok(Verdict::of(is_wanted && signed))
        }
        Err(error) if is_damage(&error) => {
            let failure = Failure::from(error);
            let json = serde_json::json!({ "whole": false, "fault": failure.message });
            report(desk, &json, &format!("damaged: {}", failure.message));
            Ok(Verdict::Bad)
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns whether an error says that what is stored is not what was written.
fn is_damage(error: &RunError) -> bool {
    matches!(
        error,
        RunError::Store(dayshift_stores::StoreError::Damaged(_)) | RunError::BlobMissing(_) | RunError::Codec(_)
    )
}

/// Grades a run.
pub(crate) fn grade(desk: &Desk, name: &str, checks: Option<&str>, belief: &Belief) -> Result<Verdict, Failure> {
    let scrutiny = trust::scrutiny(desk, belief)?;
    let run = desk.load(name)?;
    let other = checks.map(load_scenario).transpose()?;
    let judge = other.as_ref().unwrap_or(&run.scenario);
    let Some(provenance) = trust::provenance(desk, &run, judge, &scrutiny)? else { return Ok(Verdict::Bad) };
    let graded = run.grade(other.as_ref())?;
    let summary = Summary::new(&run, &graded, None, provenance, run.seed()?);
    if desk.json {
        talk::print_json(&summary);
    } else {
        talk::print(&headline(&summary));
        tables::score(&summary);
        trust::tell(&summary.provenance);
    }
    Ok(Verdict::of(summary.passed))
}

/// Credits a run.
pub(crate) fn credit(desk: &Desk, name: &str, options: &CreditOptions, belief: &Belief) -> Result<Verdict, Failure> {
    let scrutiny = trust::scrutiny(desk, belief)?;
    let run = desk.load(name)?;
    let Some(provenance) = trust::provenance(desk, &run, &run.scenario, &scrutiny)? else { return Ok(Verdict::Bad) };
    let account = run.account()?;
    let mut config = Config::new(options.rho, options.gamma)?;
    if options.lasting_only {
        config = config.lasting_only();
    }
    let mut ledger = account.ledger(&config);
    let mut audited = None;
    if options.audit || options.audited {
        let bar = progress("replaying without turns", None);
        let found = account.audit(&ledger, |count| bar.set_position(count))?;
        bar.finish_and_clear();
        if options.audited {
            let necessary = found.audit.necessary.iter().filter(|(_, loss)| **loss > 1e-12);
            ledger = account.ledger(&config.audited(necessary.map(|(turn, _)| *turn).collect()));
        }
        audited = Some(found);
    }
    let mut summary = Summary::new(&run, account.report(), Some(&ledger), provenance, run.seed()?);
    if let Some(audited) = &audited {
        summary = summary.with_audit(audited);
    }
    if desk.json {
        talk::print_json(&summary);
        return Ok(Verdict::Good);
    }
    talk::print(&headline(&summary));
    tables::credit(&summary);
    tables::ledger(&ledger.rows);
    if let Some(audit) = &summary.audit {
        let share = |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{share:.2}"));
        talk::print(&format!(
            "audit over {} replays: slices sound {}/{}; precision {}, recall {} against necessary turns; rank correlation with Shapley {}; credit on null turns {:.3}",
            audit.replays,
            audit.slices_sound,
            audit.slices_tried,
            share(audit.precision),
            share(audit.recall),
            share(audit.rank_correlation),
            audit.null_credit,
        ));
        let mut table = tables::table(&["turn", "necessary", "sufficient", "Shapley"]);
        for (turn, necessary) in &audit.necessary {
            let number = |numbers: &std::collections::BTreeMap<_, f64>| {
                numbers.get(turn).map_or("-".to_owned(), |number| format!("{number:+.3}"))
            };
            table.add_row([
                turn.to_string(),
                format!("{necessary:+.3}"),
                number(&audit.sufficient),
                number(&audit.shapley),
            ]);
        }
        tables::align(&mut table, &[0, 1, 2, 3]);
        talk::print(&table.to_string());
    }
    trust::tell(&summary.provenance);
    Ok(Verdict::Good)
}

/// Writes runs as files, each executed again first unless it is trusted.
pub(crate) fn export(
    desk: &Desk,
    names: &[String],
    format: Format,
    out: &Path,
    trusted: bool,
) -> Result<Verdict, Failure> {
    let Format::Log = format;
    let library = desk.reading()?;
    let ids = names.iter().map(|name| library.resolve(name)).collect::<Result<Vec<BranchId>, _>>()?;
    let several = ids.len() > 1 || out.is_dir();
    if several {
        std::fs::create_dir_all(out).map_err(|error| {
            Failure::new("export/cannot-write", format!("cannot make the folder {}: {error}", out.display()))
        })?;
    }
    let mut written = Vec::new();
    let execution = if trusted { Execution::Trusted } else { Execution::Again };
    let scrutiny = Scrutiny { execution, ..Scrutiny::default() };
    for id in &ids {
        let run = library.load(id)?;
        if trust::provenance(desk, &run, &run.scenario, &scrutiny)?.is_none() {
            return Ok(Verdict::Bad);
        }
        let path = if several { out.join(format!("{id}.{LOG_ENDING}")) } else { out.to_owned() };
        let head = library.export(id, &path)?;
        if !desk.json {
            let said = if trusted { ", taken on trust" } else { ", executed again" };
            talk::print(&format!(
                "{id}: {} records, head {}{said} -> {}",
                head.count,
                head.hash.short(),
                path.display()
            ));
        }
        written.push(serde_json::json!({
            "run": id.as_str(), "file": path.display().to_string(), "records": head.count, "head": head.hash.to_string(),
            "execution": execution,
        }));
    }
    if desk.json {
        talk::print_json(&serde_json::json!({ "exported": written }));
    }
    Ok(Verdict::Good)
}

/// Brings a file into the store.
pub(crate) fn import(desk: &Desk, file: &Path) -> Result<Verdict, Failure> {
    let id = desk.library()?.import(file)?;
    report(desk, &serde_json::json!({ "run": id.as_str() }), &format!("imported as {id}"));
    Ok(Verdict::Good)
}

/// Writes the store anew.
pub(crate) fn compact(desk: &Desk) -> Result<Verdict, Failure> {
    dayshift_stores::compact(&desk.store)?;
    report(desk, &serde_json::json!({ "compacted": true }), "compacted");
    Ok(Verdict::Good)
}

/// Returns the line that says which run this is.
pub(crate) fn headline(summary: &Summary) -> String {
    format!(
        "{} · {} · seed {} · {} · {} turns · {} records · head {}",
        talk::visible(&summary.run),
        talk::visible(&summary.scenario),
        summary.seed,
        talk::visible(&summary.agent),
        summary.turns,
        summary.records,
        &summary.head[..12.min(summary.head.len())],
    )
}

/// Prints what a short command came to.
pub(crate) fn report(desk: &Desk, json: &serde_json::Value, line: &str) {
    if desk.json {
        talk::print_json(json);
    } else {
        talk::print(line);
    }
}
