//! What `run`, `grade` and `credit` say of a run, as programs read it. Public interface: change it only with a CHANGELOG line.

use std::collections::BTreeMap;

use dayshift_engine::{Seq, SmolStr, Turn};
use dayshift_replay::credit::{Ledger, Row};
use dayshift_replay::{Audited, Report, moment_name};
use serde::Serialize;

use crate::failure::ScriptFailure;
use crate::provenance::Provenance;
use crate::run::Run;

/// One run, graded, with its credit.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The run's id, or the path of its file.
    pub run: String,
    /// The scenario's id.
    pub scenario: String,
    /// The seed.
    pub seed: u64,
    /// Who played.
    pub agent: String,
    /// The head hash, hexadecimal.
    pub head: String,
    /// How many records the log has.
    pub records: u64,
    /// How many turns the agent took.
    pub turns: u32,
    /// Whether the episode came to its end.
    pub finished: bool,
    /// The score in [0, 1], capped by red lines.
    pub score: f64,
    /// The score before red lines.
    pub uncapped: f64,
    /// Whether it reaches the scenario's threshold and nothing in `provenance` speaks against it.
    pub passed: bool,
    /// Whether every check stands at its full level.
    pub strict: bool,
    /// The weighted share of each day's checks, by the day's name.
    pub days: BTreeMap<String, f64>,
    /// The digest of the package whose checks graded the run, hexadecimal.
    pub checks_digest: String,
    /// The version of the engine that graded it.
    pub engine: &'static str,
    /// What the report rests on.
    pub provenance: Provenance,
    /// The checks, in the author's order.
    pub checks: Vec<CheckRow>,
    /// The scripts of the scenario that failed while the episode ran, in the order of the log.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub script_failures: Vec<ScriptFailure>,
    /// The score of the initial world: the shares of the checks that hold from the start. With `exogenous`, `unattributed` and the credit of all
    /// turns it sums to `score`.
    pub start: f64,
    /// What the world moved the score by without the agent behind it.
    pub exogenous: f64,
    /// The credit of every turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credit: Option<Vec<CreditRow>>,
    /// The ledger behind the credit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ledger: Option<Vec<Row>>,
    /// What could not be attributed to a turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unattributed: Option<f64>,
    /// The counterfactual audit, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit: Option<AuditRow>,
}

/// One check.
#[derive(Clone, Debug, Serialize)]
pub struct CheckRow {
    /// Its id.
    pub id: SmolStr,
    /// What it tests.
    pub title: String,
    /// The requirement that it covers.
    pub requirement: SmolStr,
    /// When it counts: the end of a day, final, throughout, or a red line.
    pub day: String,
    /// Its share of the score.
    pub weight: f64,
    /// Its level in the initial world, in [0, 1].
    pub start: f64,
    /// Its level in [0, 1].
    pub level: f64,
    /// Why it could not be evaluated, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What it read.
    pub evidence: Vec<EvidenceRow>,
}

/// One piece of evidence.
#[derive(Clone, Debug, Serialize)]
pub struct EvidenceRow {
    /// What was read.
    pub key: String,
    /// The record that last wrote it; 0 if none did.
    pub record: Seq,
    /// The turn of that record, if the agent made it.
    pub turn: Option<Turn>,
}

/// One turn's credit.
#[derive(Clone, Debug, Serialize)]
pub struct CreditRow {
    /// The turn.
    pub turn: Turn,
    /// The day's name.
    pub day: String,
    /// What it earned, in units of the score.
    pub amount: f64,
    /// What it achieved itself.
    pub direct: f64,
    /// What later turns achieved by resting on it.
    pub prerequisite: f64,
    /// What it lost.
    pub regression: f64,
}

/// What the counterfactual audit found.
#[derive(Clone, Debug, Serialize)]
pub struct AuditRow {
    /// The score with all turns, replayed.
    pub full: f64,
    /// The score with none.
    pub empty: f64,
    /// For each turn, what is lost without it.
    pub necessary: BTreeMap<Turn, f64>,
    /// For each turn, what it and its ancestors achieve alone.
    pub sufficient: BTreeMap<Turn, f64>,
    /// For each turn, its Shapley value.
    pub shapley: BTreeMap<Turn, f64>,
    /// Whether the Shapley values are exact.
    pub exact: bool,
    /// Of the turns that earned something, the share that was necessary.
    pub precision: Option<f64>,
    /// Of the turns that were necessary, the share that earned something.
    pub recall: Option<f64>,
    /// The credit on turns that changed nothing in any coalition.
    pub null_credit: f64,
    /// Spearman's rank correlation of credit with Shapley values.
    pub rank_correlation: Option<f64>,
    /// How many of the checks that the agent achieved their slice reproduces alone.
    pub slices_sound: usize,
    /// How many were tried.
    pub slices_tried: usize,
    /// How many sets of turns were replayed.
    pub replays: u64,
}

impl Summary {
    /// Returns what a report and a ledger say of `run`, and what they rest on.
    #[must_use]
    pub fn new(run: &Run, report: &Report, ledger: Option<&Ledger>, provenance: Provenance, seed: u64) -> Self {
        let names = run.days();
        let day_of_turn = run.day_of_turn();
        let days = report.days.iter();
        let days = days.filter_map(|(day, share)| Some((names.get(*day)?.to_string(), *share))).collect();
        let credit = ledger.map(|ledger| {
            ledger
                .credit
                .iter()
                .map(|(turn, credit)| CreditRow {
                    turn: *turn,
                    day: day_of_turn.get(turn).cloned().unwrap_or_default(),
                    amount: credit.amount,
                    direct: credit.direct,
                    prerequisite: credit.prerequisite,
                    regression: credit.regression,
                })
                .collect()
        });
        Self {
            run: run.name.clone(),
            scenario: run.scenario.id().to_string(),
            seed,
            agent: run.note.agent.clone(),
            head: report.head.hash.to_string(),
            records: report.head.count,
            turns: report.turns,
            finished: report.finished,
            score: report.score,
            uncapped: report.uncapped,
            passed: report.passed && provenance.is_clean(),
            strict: report.strict && provenance.is_clean(),
            days,
            checks_digest: provenance.checks.digest.clone().unwrap_or_default(),
            engine: provenance.engine,
            checks: report.verdicts.iter().map(|verdict| check_row(verdict, &names)).collect(),
            // The log was graded, so it decodes.
            script_failures: ScriptFailure::all(&run.records).unwrap_or_default(),
            start: report.start,
            exogenous: ledger.map_or_else(|| exogenous(report), |ledger| ledger.exogenous),
            credit,
            ledger: ledger.map(|ledger| ledger.rows.clone()),
            unattributed: ledger.map(|ledger| ledger.unattributed),
            audit: None,
            provenance,
        }
    }

    /// Adds what the counterfactual audit found.
    #[must_use]
    pub fn with_audit(mut self, audited: &Audited) -> Self {
        let Audited { audit, fidelity, soundness, replays } = audited;
        self.audit = Some(AuditRow {
            full: audit.full,
            empty: audit.empty,
            necessary: audit.necessary.clone(),
            sufficient: audit.sufficient.clone(),
            shapley: audit.shapley.clone(),
            exact: audit.exact,
            precision: fidelity.precision,
            recall: fidelity.recall,
            null_credit: fidelity.null_credit,
            rank_correlation: fidelity.rank_correlation,
            slices_sound: soundness.sound,
            slices_tried: soundness.tried,
            replays: *replays,
        });
        self
    }
}

fn check_row(verdict: &dayshift_replay::Verdict, days: &[SmolStr]) -> CheckRow {
    let evidence = verdict.evidence.iter().map(|evidence| EvidenceRow {
        key: evidence.read.key.to_string(),
        record: evidence.read.written,
        turn: evidence.turn,
    });
    CheckRow {
        id: verdict.spec.id.clone(),
        title: verdict.spec.title.clone(),
        requirement: verdict.spec.requirement.clone(),
        day: moment_name(verdict.spec.moment, days),
        weight: verdict.weight,
        start: verdict.start,
        level: verdict.level,
        error: verdict.error.clone(),
        evidence: evidence.collect(),
    }
}

/// Returns what the world moved the score by without the agent behind it, without a ledger.
fn exogenous(report: &Report) -> f64 {
    let foreign = report.moves.iter().filter(|step| step.turn.is_none());
    foreign.map(|step| report.verdicts[step.check].weight * (step.after - step.before)).sum()
}
