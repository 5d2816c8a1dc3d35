//! The invariants that the compiler cannot see: who may name whom, how large a file may grow, and what no file may say.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The size from which a source file needs to be taken apart, in lines.
const FILE_LINES_MAX: usize = 900;

/// The crates whose bytes must not depend on the host.
const CORE: [&str; 4] = ["engine", "services", "scenarios", "replay"];

/// Checks everything, and reports all faults at once.
pub(crate) fn check(root: &Path) -> Result<(), String> {
    eprintln!("== tidy");
    let mut faults = Vec::new();
    let sources = sources(root)?;
    for (path, text) in &sources {
        size(path, text, &mut faults);
        header(path, text, &mut faults);
        wire_json(path, text, &mut faults);
        host_paths(path, text, &mut faults);
        random_seeds(path, text, &mut faults);
    }
    one_seed(root, &mut faults);
    crate::limits::check(root, &sources, &mut faults);
    one_file_names_sled(&sources, &mut faults);
    services_know_only_themselves(&sources, &mut faults);
    core_builds_without(root, &["tokio", "sled"], &mut faults)?;
    if faults.is_empty() { Ok(()) } else { Err(format!("tidy found {} faults:\n{}", faults.len(), faults.join("\n"))) }
}

/// Returns the tracked source files, relative to the root, with their text.
pub(crate) fn sources(root: &Path) -> Result<Vec<(PathBuf, String)>, String> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for entry in entries.flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                folders.push(path);
            } else if name.ends_with(".rs") {
                let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
                found.push((path.strip_prefix(root).unwrap_or(&path).to_owned(), text));
            }
        }
    }
    found.sort();
    Ok(found)
}

fn size(path: &Path, text: &str, faults: &mut Vec<String>) {
    let lines = text.lines().count();
    if lines > FILE_LINES_MAX {
        faults.push(format!("{}: {lines} lines; take it apart (at most {FILE_LINES_MAX})", path.display()));
    }
}

fn header(path: &Path, text: &str, faults: &mut Vec<String>) {
    let first = text.lines().find(|line| !line.starts_with("#!")).unwrap_or_default();
    if !first.starts_with("//!") && !path.starts_with("fuzz") {
        faults.push(format!("{}: begins without a //! line that says what it is", path.display()));
    }
}

/// Wire JSON stays in the doors: the core's libraries do not name serde_json.
fn wire_json(path: &Path, text: &str, faults: &mut Vec<String>) {
    let library = CORE.iter().any(|name| path.starts_with(Path::new(name).join("src")));
    let is_test = path.components().any(|part| part.as_os_str().to_string_lossy().starts_with("tests"));
    // A name in a text, such as the key under which serde_json hands over a number, is no use of the crate.
    let uses =
        |line: &str| !line.trim_start().starts_with("//") && line.replace("\"$serde_json", "").contains("serde_json::");
    let named = text.lines().any(uses);
    if library && !is_test && named {
        faults.push(format!("{}: names serde_json; values of the core are dayshift_engine::Value", path.display()));
    }
}

fn host_paths(path: &Path, text: &str, faults: &mut Vec<String>) {
    // Put together here, so that this file does not find itself.
    let needles = ["/work".to_owned() + "/", "/home".to_owned() + "/", "/root".to_owned() + "/"];
    for needle in needles.iter().filter(|needle| text.contains(needle.as_str())) {
        faults.push(format!("{}: names a path of one machine ({needle})", path.display()));
    }
}

/// The variable from which proptest takes its seed.
const SEED_VARIABLE: &str = "PROPTEST_RNG_SEED";

/// Property tests draw from one seed, which stands in cargo's configuration.
fn one_seed(root: &Path, faults: &mut Vec<String>) {
    let path = root.join(".cargo/config.toml");
    let text = fs::read_to_string(path).unwrap_or_default();
    let is_set = |line: &str| {
        let value =
            line.strip_prefix(SEED_VARIABLE).map(|rest| rest.trim_start_matches([' ', '=', '"']).trim_end_matches('"'));
        value.is_some_and(|value| value.parse::<u64>().is_ok())
    };
    if !text.lines().any(is_set) {
        faults.push(format!(
            ".cargo/config.toml: sets no number as {SEED_VARIABLE}, so that property tests draw random seeds"
        ));
    }
}

/// A configuration that does not start from proptest's default one does not see the seed; a runner of one's own draws another.
fn random_seeds(path: &Path, text: &str, faults: &mut Vec<String>) {
    // Put together here, so that this file does not find itself.
    let (runner, own_seed) = ("TestRunner".to_owned() + "::", "Rng".to_owned() + "Seed");
    for (number, line) in text.lines().enumerate() {
        let sees_seed = |line: &str| line.contains("with_cases(") || line.contains("ProptestConfig::default()");
        let fault = if line.contains(&("#![proptest".to_owned() + "_config(")) && !sees_seed(line) {
            "a proptest configuration that does not start from ProptestConfig::default() draws random seeds"
        } else if line.contains(&runner) && !line.contains(&(runner.clone() + "deterministic()")) {
            "a runner of property tests is TestRunner::deterministic(), or draws random seeds"
        } else if line.contains(&own_seed) || line.contains(&("rng_".to_owned() + "seed")) {
            "the seed of property tests stands in .cargo/config.toml and nowhere else"
        } else {
            continue;
        };
        faults.push(format!("{}:{}: {fault}", path.display(), number + 1));
    }
}

fn one_file_names_sled(sources: &[(PathBuf, String)], faults: &mut Vec<String>) {
    let naming: Vec<String> = sources
        .iter()
        .filter(|(path, text)| !path.starts_with("xtask") && text.contains("sled::"))
        .map(|(path, _)| path.display().to_string())
        .collect();
    if naming.len() != 1 {
        faults.push(format!("exactly one file may name sled, and these do: {}", naming.join(", ")));
    }
}

fn services_know_only_themselves(sources: &[(PathBuf, String)], faults: &mut Vec<String>) {
    let folder = Path::new("services/src");
    let services: Vec<String> = sources
        .iter()
        .filter_map(|(path, _)| path.strip_prefix(folder).ok()?.components().next())
        .map(|part| part.as_os_str().to_string_lossy().trim_end_matches(".rs").to_owned())
        .filter(|name| {
            !["cursor", "lib", "lowercase", "office", "service", "testing", "limits"].contains(&name.as_str())
        })
        .collect();
    for (path, text) in sources {
        let Ok(inside) = path.strip_prefix(folder) else { continue };
        let own = inside
            .components()
            .next()
            .map(|part| part.as_os_str().to_string_lossy().trim_end_matches(".rs").to_owned());
        for other in services.iter().filter(|name| Some(*name) != own.as_ref()) {
            let shared = ["lib", "office", "testing"].contains(&own.as_deref().unwrap_or_default());
            if !shared && text.contains(&format!("crate::{other}::")) {
                faults
                    .push(format!("{}: names the service '{other}'; services do not know each other", path.display()));
            }
        }
    }
}

fn core_builds_without(root: &Path, banned: &[&str], faults: &mut Vec<String>) -> Result<(), String> {
    for name in CORE {
        let package = format!("dayshift-{name}");
        let output = Command::new("cargo")
            .args(["tree", "--locked", "--prefix", "none", "--edges", "normal", "--package", &package])
            .current_dir(root)
            .output()
            .map_err(|error| format!("cargo tree: {error}"))?;
        if !output.status.success() {
            return Err(format!("cargo tree --package {package} failed: {}", String::from_utf8_lossy(&output.stderr)));
        }
        let tree = String::from_utf8_lossy(&output.stdout).into_owned();
        for package in banned.iter().filter(|banned| tree.lines().any(|line| line.split(' ').next() == Some(**banned)))
        {
            faults.push(format!("dayshift-{name} builds with {package}; the core may not"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults_of(line: &str) -> usize {
        let mut faults = Vec::new();
        random_seeds(Path::new("some.rs"), line, &mut faults);
        faults.len()
    }

    #[test]
    fn a_property_test_that_would_draw_a_random_seed_is_a_fault() {
        let config = |inside: &str| "#![proptest".to_owned() + "_config(" + inside + ")]";
        assert_eq!(faults_of(&config("ProptestConfig::with_cases(64)")), 0);
        assert_eq!(faults_of(&config("ProptestConfig { cases: 9, ..ProptestConfig::default() }")), 0);
        assert_eq!(faults_of(&config("mine()")), 1);
        assert_eq!(faults_of(&("let mut runner = TestRunner".to_owned() + "::deterministic();")), 0);
        assert_eq!(faults_of(&("let mut runner = TestRunner".to_owned() + "::new(config);")), 1);
        assert_eq!(faults_of(&("use proptest::test_runner::Rng".to_owned() + "Seed;")), 1);
    }

    #[test]
    fn the_seed_is_set_for_whoever_runs_the_tests() {
        let mut faults = Vec::new();
        one_seed(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")), &mut faults);
        assert_eq!(faults, Vec::<String>::new());
    }
}
