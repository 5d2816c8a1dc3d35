//! What a command believes and why: how closely a log is looked at, what a report says it rests on, and keys.

use std::path::PathBuf;

use dayshift_runs::{
    Execution, HostResults, PackageIs, Provenance, PublicKey, Run, RunError, Scrutiny, SecretKey, SignatureState,
    load_scenario,
};
use dayshift_scenarios::Scenario;
use dayshift_services::Office;

use crate::arguments::Belief;
use crate::commands::{self, Desk};
use crate::compare;
use crate::talk::{self, DIM, Failure, RED, Verdict, paint, progress, visible};

/// Returns how closely a log is looked at.
pub(crate) fn scrutiny(desk: &Desk, belief: &Belief) -> Result<Scrutiny, Failure> {
    let keys = keys(desk, &belief.key)?;
    if belief.require_signature && keys.is_empty() {
        let message =
            "a signature is required and no key is trusted; name one with --key, since anybody can make a key";
        return Err(Failure::new("key/none", message));
    }
    let package = belief.scenario.as_deref().map(load_scenario).transpose()?.map(|scenario| scenario.digest());
    Ok(Scrutiny {
        execution: if belief.trust { Execution::Trusted } else { Execution::Again },
        host: belief.host.then(commands::host),
        package,
        keys,
        signed: belief.require_signature,
    })
}

/// Returns the keys that are trusted: those that were named, and the store's own.
pub(crate) fn keys(desk: &Desk, named: &[String]) -> Result<Vec<PublicKey>, Failure> {
    let mut keys = named.iter().map(|name| PublicKey::read(name)).collect::<Result<Vec<_>, _>>()?;
    if let Some(own) = SecretKey::of_store(&desk.store)? {
        keys.push(own.public());
    }
    Ok(keys)
}

/// Finds out what a report on `run` rests on; nothing if the log came out otherwise, which is then told.
pub(crate) fn provenance(
    desk: &Desk,
    run: &Run,
    judge: &Scenario<Office>,
    scrutiny: &Scrutiny,
) -> Result<Option<Provenance>, Failure> {
    let bar = progress("executing again", Some(run.records.len() as u64));
    let found = run.provenance(judge, scrutiny, |count| bar.set_position(count));
    bar.finish_and_clear();
    match found {
        Ok(provenance) => Ok(Some(provenance)),
        Err(RunError::Diverged(divergence)) => {
            compare::tell_divergence(desk, &run.name, &divergence);
            talk::warn("its records are not what its inputs lead to; --trust takes them as they stand");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Prints what a report rests on.
pub(crate) fn tell(provenance: &Provenance) {
    let Provenance { scenario, execution, outside, host, checks, engine, signature, claimed, objections } = provenance;
    let line = |name: &str, text: &str| talk::print(&format!("  {} {text}", paint(&format!("{name:<10}"), DIM)));
    talk::print("rests on");
    let which = match scenario.package {
        PackageIs::Installed => "the installed one",
        PackageIs::Named => "the one that was named; it is not installed",
        PackageIs::Another => "not the one it should be",
        PackageIs::Unknown => "none of that name is installed",
    };
    line("package", &format!("{} {}, {which}", visible(&scenario.id), short(&scenario.digest)));
    let executed = match execution {
        Execution::Again => "executed again: every input led to the same records",
        Execution::Live => "played by this process",
        Execution::Trusted => "taken on trust: not executed again",
    };
    line("execution", executed);
    let staged = match (outside.acts, outside.allowed) {
        (0, _) => "nothing came from outside".to_owned(),
        (acts, true) => format!("{acts} act(s) came from outside, which the scenario allows"),
        (acts, false) => format!("{acts} act(s) came from outside, which the scenario does not allow"),
    };
    line("outside", &staged);
    line("host", &host_text(host));
    let judged = match (&checks.digest, checks.own) {
        (None, _) => "functions of the calling program".to_owned(),
        (Some(digest), true) => format!("of the same package {}", short(digest)),
        (Some(digest), false) => format!("of another package, {}", short(digest)),
    };
    line("checks", &judged);
    line("engine", engine);
    let signed = match signature {
        SignatureState::Unsigned => "unsigned".to_owned(),
        SignatureState::Valid { key, trusted: true } => format!("by {key}, a trusted key"),
        SignatureState::Valid { key, trusted: false } => format!("by {key}, which nobody named as trusted"),
        SignatureState::Invalid { key } => format!("not a signature of this log by {}", visible(key)),
    };
    line("signature", &signed);
    if !claimed.is_empty() {
        line("claimed", &format!("{}: the note beside the log says so, and nothing else", claimed.join(", ")));
    }
    for objection in objections {
        talk::print(&paint(&format!("  ✘ {}: {}", objection.code, visible(&objection.message)), RED));
    }
}

fn host_text(host: &HostResults) -> String {
    match (host.results, host.run_again) {
        (0, _) => "brought nothing back".to_owned(),
        (results, false) => format!("{results} result(s) taken as they were recorded; --host runs them again"),
        (results, true) => {
            format!("{results} result(s), run again: {} came out otherwise", host.differing.len())
        }
    }
}

fn short(digest: &str) -> &str {
    digest.get(..12).unwrap_or(digest)
}

/// Makes a key: for the store, or in a file.
pub(crate) fn new_key(desk: &Desk, path: Option<PathBuf>) -> Result<Verdict, Failure> {
    let path = match path {
        Some(path) => path,
        None => {
            // A store signs with the key in its folder, which opening makes.
            drop(desk.library()?);
            SecretKey::path_in_store(&desk.store)
        }
    };
    let mut entropy = [0; 32];
    getrandom::fill(&mut entropy)
        .map_err(|error| Failure::new("key/no-entropy", format!("the host gives no entropy: {error}")))?;
    let key = SecretKey::from_entropy(entropy);
    let public = key.write_new(&path)?;
    let json = serde_json::json!({
        "key": path.display().to_string(), "public": public.display().to_string(), "public_key": key.public().to_string(),
    });
    let line = format!("{} signs; {} is for those who verify: {}", path.display(), public.display(), key.public());
    commands::report(desk, &json, &line);
    Ok(Verdict::Good)
}
