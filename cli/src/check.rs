//! Checking: validates a scenario and prints what was found. The rules and trials are in `dayshift-runs`.

mod overview;

use std::path::{Path, PathBuf};
use std::process::Command;

use dayshift_runs::check::{
    Admission, CheckOptions, Finding, HACKER_SCORE_MAX, MUTATION_SCORE_MIN, Mutation, NOOP_SCORE_MAX, SEEDS, Severity,
    check as examine,
};
use dayshift_scenarios::{Package, built_in, built_in_names};

use crate::tables;
use crate::talk::{self, BOLD, DIM, Failure, GREEN, RED, Verdict, YELLOW, paint, progress, visible, visible_lines};

/// Checks one scenario and prints everything; or several, all that are installed if none is named, and prints a line of each.
pub(crate) fn check(desk: &crate::commands::Desk, names: &[String], threads: usize) -> Result<Verdict, Failure> {
    let processors = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = if threads == 0 { processors() } else { threads };
    if let [name] = names {
        let admission = admission(name, threads)?;
        if desk.json {
            talk::print_json(&admission);
        } else {
            show(&admission);
        }
        return Ok(Verdict::of(admission.admitted));
    }
    let installed: Vec<String> = built_in_names().map(str::to_owned).collect();
    let names = if names.is_empty() { &installed } else { names };
    let admissions: Vec<Admission> = names.iter().map(|name| admission(name, threads)).collect::<Result<_, _>>()?;
    if desk.json {
        talk::print_json(&admissions);
    } else {
        overview::show(&admissions);
    }
    Ok(Verdict::of(admissions.iter().all(|admission| admission.admitted)))
}

/// Checks the scenario or package called `name`.
fn admission(name: &str, threads: usize) -> Result<Admission, Failure> {
    let path = Path::new(name);
    let is_folder = name.contains('/') || path.is_dir();
    if is_folder && !path.is_dir() {
        return Err(Failure::new(
            "scenario/missing",
            format!("there is no folder {name}; `dayshift new {name}` makes one"),
        ));
    }
    let package = if is_folder { Package::from_directory(path) } else { built_in(name) };
    let admission = match package {
        Ok(package) => {
            let elsewhere = || other_process(name, is_folder.then_some(path));
            let bar = progress(&format!("checking {name}"), Some(0));
            let report = |done: usize, total: usize| {
                bar.set_length(total as u64);
                bar.set_position(done as u64);
            };
            let host = Some(crate::commands::host());
            let admission =
                examine(package, &CheckOptions { threads, host, elsewhere: Some(&elsewhere), progress: &report })?;
            bar.finish_and_clear();
            admission
        }
        Err(problems) if is_folder => Admission::refused(name, String::new(), &problems),
        Err(problems) => return Err(dayshift_runs::RunError::Scenario(problems).into()),
    };
    Ok(admission)
}

/// Plays the reference solution in a process of its own, in another time zone, language and folder, and returns the head hash.
fn other_process(name: &str, folder: Option<&Path>) -> Result<String, String> {
    let program = std::env::current_exe().map_err(|error| format!("this program cannot find itself: {error}"))?;
    let scratch = Scratch::new()?;
    let scenario = match folder {
        Some(folder) => folder.canonicalize().map_err(|error| error.to_string())?.into_os_string(),
        None => name.into(),
    };
    let seed = SEEDS[0].to_string();
    let output = Command::new(program)
        .args(["--json", "--store", "store", "run"])
        .arg(scenario)
        .args(["--agent", "reference", "--seed", &seed])
        .current_dir(&scratch.0)
        .env("TZ", "Pacific/Kiritimati")
        .env("LANG", "tr_TR.UTF-8")
        .env("LC_ALL", "tr_TR.UTF-8")
        .output()
        .map_err(|error| format!("no other process could be started: {error}"))?;
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    match summary.get("head").and_then(serde_json::Value::as_str) {
        Some(head) => Ok(head.to_owned()),
        None => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}

/// A folder that goes away with its owner.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self, String> {
        let path = std::env::temp_dir().join(format!("dayshift-check-{}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(|error| format!("{} cannot be made: {error}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Left-overs in the host's folder for such things harm nobody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Prints the report for people.
fn show(admission: &Admission) {
    agents(admission);
    if let Some(mutation) = &admission.mutants {
        mutants(mutation);
    }
    sabotage(admission);
    hackers(admission);
    changes(admission);
    findings(&admission.findings);
    let count = |severity| admission.findings.iter().filter(|finding| finding.severity == severity).count();
    let counts = format!(
        "{} errors, {} warnings, {} notes",
        count(Severity::Error),
        count(Severity::Warning),
        count(Severity::Note)
    );
    let verdict = if admission.admitted { paint("admitted", GREEN) } else { paint("not admitted", RED) };
    talk::print(&format!("{}: {verdict} ({counts})", paint(&visible(&admission.scenario), BOLD)));
}

fn agents(admission: &Admission) {
    if admission.agents.is_empty() {
        return;
    }
    let mut table = tables::table(&["agent", "score", "passed", "fails"]);
    for trial in &admission.agents {
        let fails: Vec<&str> = trial.fails.iter().map(|id| id.as_str()).collect();
        let fails = if fails.len() == admission.checks.len() { "every check".to_owned() } else { fails.join(", ") };
        let fails = visible(&fails).into_owned();
        let passed = if trial.passed { "yes" } else { "no" };
        table.add_row([visible(&trial.agent).into_owned(), format!("{:.3}", trial.score), passed.to_owned(), fails]);
    }
    tables::align(&mut table, &[1]);
    talk::print(&table.to_string());
    talk::print(&paint(&format!("the reference must come to 1, doing nothing to at most {NOOP_SCORE_MAX}"), DIM));
}

fn mutants(mutation: &Mutation) {
    let mut table = tables::table(&["agents that do one thing wrong", "killed", "of"]);
    for (kind, (killed, all)) in &mutation.kinds {
        let kind = serde_json::to_value(kind).ok().and_then(|kind| kind.as_str().map(|kind| kind.replace('_', " ")));
        table.add_row([kind.unwrap_or_default(), killed.to_string(), all.to_string()]);
    }
    tables::align(&mut table, &[1, 2]);
    talk::print(&table.to_string());
    let score = mutation.score().map_or("none".to_owned(), |score| format!("{score:.3}"));
    let mut line = format!("mutation score {score} (at least {MUTATION_SCORE_MIN}); {} tried", mutation.tried);
    if mutation.equivalent > 0 {
        line.push_str(&format!(", {} of them come to the reference's world and do not count", mutation.equivalent));
    }
    if mutation.left_out > 0 {
        line.push_str(&format!(", {} more left out", mutation.left_out));
    }
    talk::print(&line);
}

fn sabotage(admission: &Admission) {
    let Some(trial) = &admission.sabotage else { return };
    let calls: Vec<String> = trial.calls.iter().map(|(tool, count)| format!("{count} {tool}")).collect();
    talk::print(&format!(
        "taking away what persons and events need ({}): {:.3} if nothing else is done, {:.3} with all of the reference besides",
        calls.join(", "),
        trial.alone,
        trial.besides
    ));
}

fn hackers(admission: &Admission) {
    if admission.hackers.is_empty() {
        return;
    }
    let mut table = tables::table(&["agents that only want points", "calls", "score", "passed", "checks", "earned"]);
    for trial in &admission.hackers {
        let earned: Vec<&str> = trial.earned.iter().map(|id| id.as_str()).collect();
        table.add_row([
            trial.trick.name().to_owned(),
            trial.calls.to_string(),
            format!("{:.3}", trial.score),
            if trial.passed { "yes" } else { "no" }.to_owned(),
            format!("{} of {}", earned.len(), trial.checks),
            visible(&earned.join(", ")).into_owned(),
        ]);
    }
    tables::align(&mut table, &[1, 2]);
    talk::print(&table.to_string());
    talk::print(&paint(&format!("none may pass, and none may reach {HACKER_SCORE_MAX}"), DIM));
}

fn changes(admission: &Admission) {
    if admission.changes.is_empty() {
        return;
    }
    let mut table = tables::table(&["what the world does by itself", "", "an agent that ignores it loses"]);
    for trial in &admission.changes {
        let lost = if trial.lost_without.is_empty() { &trial.lost_ignoring } else { &trial.lost_without };
        let lost: Vec<&str> = lost.iter().map(|id| id.as_str()).collect();
        let lost = match (trial.happens, lost.is_empty()) {
            (false, _) => "does not happen to the reference".to_owned(),
            (true, true) => "nothing".to_owned(),
            (true, false) => lost.join(", "),
        };
        table.add_row([
            visible(&trial.change).into_owned(),
            if trial.loud { "loud" } else { "silent" }.to_owned(),
            lost,
        ]);
    }
    talk::print(&table.to_string());
}

fn findings(findings: &[Finding]) {
    if findings.is_empty() {
        return;
    }
    let mut table = tables::table(&["", "where", "what is wrong, and what to do"]);
    for finding in findings {
        let (word, colour) = match finding.severity {
            Severity::Error => ("error", RED),
            Severity::Warning => ("warning", YELLOW),
            Severity::Note => ("note", DIM),
        };
        let place = finding.line.map_or_else(|| finding.file.clone(), |line| format!("{}:{line}", finding.file));
        table.add_row([
            format!("{}\n{}", paint(word, colour), finding.rule.strip_prefix("scenario/").unwrap_or(finding.rule)),
            visible(&place).into_owned(),
            format!("{}\n→ {}", visible_lines(&finding.message), visible_lines(&finding.remedy)),
        ]);
    }
    talk::print(&table.to_string());
}
