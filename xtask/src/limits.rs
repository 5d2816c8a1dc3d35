//! The table of limits in `docs/limits.md`: every constant `…_MAX` of the code with what it says of itself. `cargo xtask limits` writes the page,
//! `tidy` refuses one that is out of date.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// The page, relative to the root.
const PAGE: &str = "docs/limits.md";

/// The crates whose limits a user can meet, in the order of the page.
const CRATES: [&str; 8] = ["engine", "services", "scenarios", "sandbox", "stores", "replay", "runs", "python"];

const HEAD: &str = "# Limits

Everything that comes from outside (an agent's calls, a package, a log, a command) has a limit. What is over it is refused with one sentence and
a code, and nothing is cut off in silence.

**A call** draws on a budget of work, counted in units and not in seconds, and of bytes of intermediate results. Both are the same on every
machine, so a call that is refused live is refused in a replay too. Over the budget, an agent gets `budget/work` or `budget/bytes`.
**An episode** may make so many records and bytes of log and blobs; with the record that reaches a limit the agent is told, and the episode ends.
A scenario can set `limits` ([scenario-format.md](scenario-format.md)): `turns_per_day`, `calls_per_turn`, `call_work`, `call_bytes`, `episode_bytes`,
`episode_records`.

This page is written by `cargo xtask limits` from the constants in the code; `cargo xtask tidy` refuses a stale one.
";

/// One constant.
struct Limit {
    name: String,
    value: String,
    says: String,
    file: String,
}

/// Writes the page.
pub(crate) fn write(root: &Path, sources: &[(PathBuf, String)]) -> Result<(), String> {
    fs::write(root.join(PAGE), page(sources)).map_err(|error| format!("{PAGE}: {error}"))
}

/// Notes a page that says something else than the code.
pub(crate) fn check(root: &Path, sources: &[(PathBuf, String)], faults: &mut Vec<String>) {
    if fs::read_to_string(root.join(PAGE)).unwrap_or_default() != page(sources) {
        faults.push(format!("{PAGE}: is out of date; run cargo xtask limits"));
    }
}

fn page(sources: &[(PathBuf, String)]) -> String {
    let mut page = HEAD.to_owned();
    for name in CRATES {
        let limits: Vec<Limit> = sources
            .iter()
            .filter(|(path, _)| path.starts_with(name))
            .flat_map(|(path, text)| limits(path, text))
            .collect();
        if limits.is_empty() {
            continue;
        }
        let _ = write!(page, "\n## {name}\n\n| limit | value | what it bounds | where |\n|---|---|---|---|\n");
        for Limit { name, value, says, file } in limits {
            let _ = writeln!(page, "| `{name}` | {value} | {says} | `{file}` |");
        }
    }
    page
}

/// Returns the documented constants `…_MAX` of a source file, tests left out.
fn limits(path: &Path, text: &str) -> Vec<Limit> {
    let file = path.display().to_string();
    let is_test = |part: &str| part.starts_with("tests") || part.ends_with("tests.rs") || part == "testing.rs";
    if file.split('/').any(is_test) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut says: Vec<&str> = Vec::new();
    for line in text.lines().map(str::trim) {
        if line == "mod tests {" {
            break;
        }
        if let Some(doc) = line.strip_prefix("///") {
            says.push(doc.trim());
            continue;
        }
        if let Some((name, value)) = constant(line)
            && !says.is_empty()
        {
            found.push(Limit { name, value, says: plain(&says.join(" ")), file: file.clone() });
        }
        says.clear();
    }
    found
}

/// Returns the name and the value of a constant `…_MAX` that stands on one line.
fn constant(line: &str) -> Option<(String, String)> {
    let rest = line.split_once("const ")?;
    if !(rest.0.is_empty() || rest.0.starts_with("pub")) {
        return None;
    }
    let (name, rest) = rest.1.split_once(':')?;
    let (_, value) = rest.split_once('=')?;
    name.ends_with("_MAX").then(|| (name.to_owned(), shown(value.trim().trim_end_matches(';'))))
}

/// Returns a value as people read it: shifts worked out, thousands apart.
fn shown(value: &str) -> String {
    let number = |text: &str| text.replace('_', "").parse::<u64>().ok();
    let worked = match value.split_once("<<") {
        Some((left, right)) => number(left.trim())
            .zip(number(right.trim()))
            .and_then(|(left, right)| left.checked_shl(u32::try_from(right).ok()?)),
        None => number(value),
    };
    let Some(worked) = worked else { return format!("`{value}`") };
    let digits = worked.to_string();
    let groups: Vec<&str> = {
        let first = digits.len() % 3;
        let mut groups: Vec<&str> = (first..digits.len()).step_by(3).map(|at| &digits[at..at + 3]).collect();
        if first > 0 {
            groups.insert(0, &digits[..first]);
        }
        groups
    };
    groups.join(",")
}

/// Returns documentation without links of rustdoc and without what would break a table.
fn plain(text: &str) -> String {
    text.replace("[`", "`").replace("`]", "`").replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_documented_limit_is_a_row_and_an_undocumented_one_is_not() {
        let text = "/// How long it is ([`Thing`]), in bytes.\npub const LENGTH_BYTES_MAX: usize = 8 << 20;\nconst INNER_MAX: u32 = 3;\n";
        let found = limits(Path::new("engine/src/thing.rs"), text);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].name.as_str(), found[0].value.as_str()), ("LENGTH_BYTES_MAX", "8,388,608"));
        assert_eq!(found[0].says, "How long it is (`Thing`), in bytes.");
    }

    #[test]
    fn values_are_shown_as_people_read_them() {
        assert_eq!(
            (shown("1_000"), shown("999"), shown("u32::MAX")),
            ("1,000".into(), "999".into(), "`u32::MAX`".into())
        );
    }

    #[test]
    fn limits_of_tests_are_left_out() {
        let text = "/// Says so.\nconst SIZE_MAX: u32 = 3;\n";
        assert!(limits(Path::new("engine/src/tests/thing.rs"), text).is_empty());
        assert!(limits(Path::new("engine/src/thing.rs"), &format!("mod tests {{\n{text}")).is_empty());
    }
}
