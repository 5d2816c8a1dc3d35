//! What a report rests on, and what speaks against it. A chain that is whole says only that nobody altered a record without rewriting what
//! follows; so a log is executed again before it is graded, and whatever cannot be found out that way is said: which package it is, what came
//! from outside, what a host brought back, whose checks graded it, who signed it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use dayshift_engine::codec::Stored;
use dayshift_engine::{BlobId, Blobs, Errand, Host, Recorded, Seq, SmolStr, Value};
use dayshift_replay::{Fed, Inputs, Reexecution};
use dayshift_scenarios::{Scenario, built_in};
use dayshift_services::Office;
use serde::Serialize;

use crate::error::RunError;
use crate::run::Run;
use crate::signature::{PublicKey, SignatureState, signature_state};

/// How a log is looked at before it is believed.
#[derive(Clone, Default)]
pub struct Scrutiny {
    /// Whether it is executed again.
    pub execution: Execution,
    /// Who runs again what a host brought back; nobody, if nothing is said.
    pub host: Option<Arc<dyn Host>>,
    /// The digest of the package that it should be of; of the installed one of its name, if nothing is said.
    pub package: Option<BlobId>,
    /// The keys that are trusted.
    pub keys: Vec<PublicKey>,
    /// Whether it must be signed by one of them.
    pub signed: bool,
}

/// How a report comes to believe that a log's inputs led to its records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Execution {
    /// Every input was executed again, and every record came out the same.
    #[default]
    Again,
    /// This process played the episode itself.
    Live,
    /// It was taken on trust.
    Trusted,
}

/// What a report rests on. Public interface: change it only with a CHANGELOG line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Provenance {
    /// The package that the log was made with.
    pub scenario: Origin,
    /// How it is known that the inputs led to the records.
    pub execution: Execution,
    /// What came from outside of the timeline.
    pub outside: OutsideActs,
    /// What the host brought back for calls, such as what a command printed.
    pub host: HostResults,
    /// The checks that made the verdicts.
    pub checks: ChecksOrigin,
    /// The version of the engine that made the report.
    pub engine: &'static str,
    /// Who vouches for the log.
    pub signature: SignatureState,
    /// The fields of the report that no record and no trusted signature stands behind.
    pub claimed: Vec<&'static str>,
    /// What speaks against the log. A log against which something speaks does not pass, whatever its score.
    pub objections: Vec<Objection>,
}

/// The package that a log was made with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// Its id, by its own account.
    pub id: SmolStr,
    /// Its digest, hexadecimal.
    pub digest: String,
    /// Which package that is.
    pub package: PackageIs,
}

/// Which package a log was made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PackageIs {
    /// The one that is installed under its id.
    Installed,
    /// The one that the caller named, which is not installed.
    Named,
    /// Another one than the caller named, or than is installed under its id.
    Another,
    /// Nothing is installed under its id, and the caller named none.
    Unknown,
}

/// What came from outside of the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct OutsideActs {
    /// How many acts.
    pub acts: usize,
    /// Whether the scenario allows any.
    pub allowed: bool,
}

/// What the host brought back for calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HostResults {
    /// How many results the log holds.
    pub results: usize,
    /// Whether what they were brought for was done again.
    pub run_again: bool,
    /// Those that came out otherwise.
    pub differing: Vec<HostDifference>,
}

/// A result of the host that came out otherwise.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HostDifference {
    /// The record of the call.
    pub record: Seq,
    /// What was brought then.
    pub recorded: Value,
    /// What was brought now.
    pub now: Value,
}

/// The checks that made the verdicts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChecksOrigin {
    /// The digest of the package that holds them, hexadecimal; none if they are functions of the calling program.
    pub digest: Option<String>,
    /// Whether they are those of the log's own package.
    pub own: bool,
}

/// Something that speaks against a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Objection {
    /// The stable code.
    pub code: &'static str,
    /// What it is, for people.
    pub message: String,
}

impl Scrutiny {
    /// Returns how an episode is looked at that this process has just played itself, with the package of `scenario`.
    #[must_use]
    pub fn live(scenario: &Scenario<Office>) -> Self {
        Self { execution: Execution::Live, package: Some(scenario.digest()), ..Self::default() }
    }
}

impl Run {
    /// Finds out what a report on this run rests on, which the checks of `judge` grade. `progress` hears how many records came out the same.
    ///
    /// # Errors
    ///
    /// [`RunError::Diverged`] when the log, executed again, comes out otherwise; [`RunError::Replay`] when it cannot be executed.
    pub fn provenance(
        &self,
        judge: &Scenario<Office>,
        scrutiny: &Scrutiny,
        progress: impl FnMut(u64),
    ) -> Result<Provenance, RunError> {
        let mut host = HostResults { results: results(self)?, ..HostResults::default() };
        if scrutiny.execution == Execution::Again {
            let again =
                scrutiny.host.as_ref().map(|host| Again::new(self, Arc::clone(host))).transpose()?.map(Arc::new);
            let outcome = match &again {
                Some(again) => self.reexecute_on(Arc::clone(again) as Arc<dyn Host>, progress)?,
                None => self.reexecute(progress)?,
            };
            if let Reexecution::Diverged(divergence) = outcome {
                return Err(RunError::Diverged(divergence));
            }
            if let Some(again) = again {
                host.run_again = true;
                host.differing = again.differing();
            }
        }
        let signature = signature_state(&self.records, &self.note, &scrutiny.keys);
        let vouched = matches!(signature, SignatureState::Valid { trusted: true, .. });
        let own = judge.digest() == self.scenario.digest() && judge.has_own_checks();
        let mut provenance = Provenance {
            scenario: self.origin(scrutiny),
            execution: scrutiny.execution,
            outside: OutsideActs { acts: outside_acts(self)?, allowed: self.scenario.allows_outside() },
            host,
            checks: ChecksOrigin { digest: judge.has_own_checks().then(|| judge.digest().to_string()), own },
            engine: env!("CARGO_PKG_VERSION"),
            signature,
            claimed: if vouched || scrutiny.execution == Execution::Live { Vec::new() } else { vec!["agent"] },
            objections: Vec::new(),
        };
        provenance.objections = provenance.object(scrutiny);
        Ok(provenance)
    }

    fn origin(&self, scrutiny: &Scrutiny) -> Origin {
        let (id, digest) = (SmolStr::from(self.scenario.id()), self.scenario.digest());
        let installed = installed(&id);
        let package = match (scrutiny.package, installed) {
            (Some(named), _) if named != digest => PackageIs::Another,
            (_, Some(installed)) if installed == digest => PackageIs::Installed,
            (Some(_), _) => PackageIs::Named,
            (None, Some(_)) => PackageIs::Another,
            (None, None) => PackageIs::Unknown,
        };
        Origin { id, digest: digest.to_string(), package }
    }
}

impl Provenance {
    /// Returns whether nothing speaks against the log.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.objections.is_empty()
    }

    fn object(&self, scrutiny: &Scrutiny) -> Vec<Objection> {
        let mut objections = Vec::new();
        let mut object = |code, message| objections.push(Objection { code, message });
        if self.scenario.package == PackageIs::Another {
            let wanted = if scrutiny.package.is_some() { "the one that was named" } else { "the one installed here" };
            let message = format!("the log's package calls itself {} and is not {wanted}", self.scenario.id);
            object("provenance/another-package", message);
        }
        if self.outside.acts > 0 && !self.outside.allowed {
            let message = format!("{} act(s) came from outside, and the scenario allows none", self.outside.acts);
            object("provenance/outside-not-allowed", message);
        }
        if let Some(first) = self.host.differing.first() {
            let message = format!(
                "{} of {} result(s) of the host came out otherwise, the first at record {}",
                self.host.differing.len(),
                self.host.results,
                first.record
            );
            object("provenance/host-differs", message);
        }
        match &self.signature {
            SignatureState::Invalid { key } => {
                object("provenance/bad-signature", format!("the signature beside it is not one of this log by {key}"));
            }
            SignatureState::Unsigned if scrutiny.signed => {
                object("provenance/unsigned", "it is not signed, and a signature is required".to_owned());
            }
            SignatureState::Valid { key, trusted: false } if scrutiny.signed => {
                object("provenance/unknown-key", format!("it is signed by {key}, which is not a key that was named"));
            }
            SignatureState::Unsigned | SignatureState::Valid { .. } => {}
        }
        objections
    }
}

/// Returns the digest of the package that is installed under `id`.
fn installed(id: &str) -> Option<BlobId> {
    // A digest covers every byte of a package, and a trainer asks for the same one all the time.
    static KNOWN: Mutex<BTreeMap<SmolStr, BlobId>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(digest) = known.get(id) {
        return Some(*digest);
    }
    let digest = built_in(id).ok()?.digest();
    known.insert(id.into(), digest);
    Some(digest)
}

fn outside_acts(run: &Run) -> Result<usize, RunError> {
    let inputs = Inputs::of(&run.records, &*run.blobs)?.inputs;
    Ok(inputs.iter().filter(|(_, fed)| matches!(fed, Fed::Outside(_))).count())
}

fn results(run: &Run) -> Result<usize, RunError> {
    let mut count = 0;
    for record in &run.records {
        count += usize::from(Stored::new(record)?.head()?.brought.is_some());
    }
    Ok(count)
}

/// A host that does again what was done for a log, notes what comes out otherwise, and brings back what was recorded, so that execution goes on.
struct Again {
    recorded: Recorded,
    host: Arc<dyn Host>,
    differing: Mutex<Vec<HostDifference>>,
}

impl Again {
    fn new(run: &Run, host: Arc<dyn Host>) -> Result<Self, RunError> {
        Ok(Self { recorded: Recorded::of(&run.records, &*run.blobs)?, host, differing: Mutex::default() })
    }

    fn differing(&self) -> Vec<HostDifference> {
        self.differing.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Host for Again {
    fn carry_out(&self, record: Seq, errand: &Errand, blobs: &dyn Blobs) -> Value {
        let recorded = self.recorded.carry_out(record, errand, blobs);
        let now = self.host.carry_out(record, errand, blobs);
        if now != recorded {
            let difference = HostDifference { record, recorded: recorded.clone(), now };
            self.differing.lock().unwrap_or_else(PoisonError::into_inner).push(difference);
        }
        recorded
    }
}
