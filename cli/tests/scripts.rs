//! Packages from strangers, played as a user plays them: whatever a script does, the program ends soon and with a sentence that names the script.

#![expect(clippy::disallowed_methods, reason = "how long a program takes is what these tests are about")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// How long a debug build on a machine with other work may take; a release build by itself takes less than 2 seconds.
const PATIENCE: Duration = Duration::from_secs(40);

/// What a script does, at its beginning and in a check, and what the program says of it.
const HOSTILE: &[(&str, &str, &str, &str)] = &[
    ("tuples that nest, frozen", "X = ()\nfor i in range(400000):\n    X = ((X,),)\n", "True", "script"),
    ("tuples that nest, hashed", "", "len({deep(400000): 1}) == 1", "checks.star"),
    ("tuples that nest, shown", "", "len(str(deep(400000))) > 0", "checks.star"),
    ("parts that are shared, shown", "", "len(str(shared(60))) > 0", "checks.star"),
    ("parts that are shared, compared", "", "shared(60) == shared(60)", "checks.star"),
    ("parts that are shared, ordered", "", "shared(60) < shared(60)", "checks.star"),
    ("parts that are shared, hashed", "", "len({frozen(60): 1}) == 1", "checks.star"),
    ("parts that are shared, given back", "", "shared(60)", "checks.star"),
    ("parts that are shared, asked with", "", "files.exists(shared(60))", "checks.star"),
    ("parts that are shared, in a text", "", "len(f'{shared(60)}') > 0", "checks.star"),
    ("large parts in a text", "", "len(large(200)) > 0", "checks.star"),
    ("whole numbers that grow", "", "grown(1000000) > 0", "checks.star"),
    ("whole numbers that are shifted", "", "shifted(1000) > 0", "checks.star"),
    ("whole numbers that are shown", "", "len(str(1 << 4000000)) > 0", "checks.star"),
    ("a list that is pushed along", "", "pushed(900000) > 0", "checks.star"),
    ("a list that is searched", "", "searched(900000)", "checks.star"),
    ("a text that is counted", "", "counted(900000) > 0", "checks.star"),
    ("a pattern that is tried", "", "tried(900000)", "checks.star"),
    ("words that are looked for", "", "looked(900000)", "checks.star"),
    ("a list that is sorted", "", "ordered(1000)", "checks.star"),
    ("a list that is multiplied in place", "", "doubled(40) > 0", "checks.star"),
];

/// What the checks call.
const HELPERS: &str = r#"
def deep(n):
    x = ()
    for i in range(n):
        x = ((x,),)
    return x

def shared(n):
    x = ["a"]
    for i in range(n):
        x = [x, x]
    return x

def frozen(n):
    x = ("a",)
    for i in range(n):
        x = (x, x)
    return x

def large(n):
    x = "a" * 1000000
    parts = []
    for i in range(n):
        parts.append(f"{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}{x}")
    return parts

def grown(n):
    x = 1
    kept = []
    for i in range(n):
        x += x
        kept.append(x)
    return len(kept)

def shifted(n):
    return len([1 << 4000000 for i in range(n)])

def pushed(n):
    x = []
    for i in range(n):
        x.insert(0, i)
    return len(x)

def searched(n):
    x = list(range(n))
    return [i for i in range(n) if -1 in x] == []

def counted(n):
    x = "a" * 1000000
    return len([1 for i in range(n) if x.count("b") == 0])

def tried(n):
    x = "a" * 1000000
    return [i for i in range(n) if matches("(a|b)*c", x)] == []

def looked(n):
    x = "a" * 1000000
    return [i for i in range(n) if contains_any(x, ["b", "c"])] == []

def ordered(n):
    x = ["a" * 100000 + str(i) for i in range(500)]
    return [i for i in range(n) if sorted(x) == []] == []

def doubled(n):
    x = ["a"]
    for i in range(n):
        x += x
    return len(x)
"#;

fn dayshift(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dayshift"));
    command.current_dir(folder).args(arguments).output().expect("the program runs")
}

/// Makes a package whose first check does something else.
fn package(folder: &Path, top: &str, check: &str) -> PathBuf {
    let made = dayshift(folder, &["new", "lamps-v1"]);
    assert_eq!(made.status.code(), Some(0), "{}", String::from_utf8_lossy(&made.stderr));
    let path = folder.join("lamps-v1/checks.star");
    let text = std::fs::read_to_string(&path).expect("it is there");
    let own = "return records.field(\"orders\", \"O-7\", \"approved_by\") == \"omar\"";
    assert!(text.contains(own));
    let hostile = format!("{HELPERS}\n{top}\n{}", text.replace(own, &format!("return {check}")));
    std::fs::write(&path, hostile).expect("it is written");
    path
}

#[test]
fn a_hostile_script_ends_with_a_sentence_that_names_it() {
    for (what, top, check, said) in HOSTILE {
        let folder = tempfile::tempdir().expect("a folder");
        package(folder.path(), top, check);
        let started = Instant::now();
        let played = dayshift(folder.path(), &["run", "./lamps-v1", "--agent", "noop"]);
        let took = started.elapsed();
        let output = String::from_utf8_lossy(&played.stdout) + String::from_utf8_lossy(&played.stderr);
        assert!(matches!(played.status.code(), Some(1 | 2)), "{what}: {:?} {output}", played.status);
        assert!(output.contains(said), "{what}: {output}");
        assert!(took < PATIENCE, "{what}: {took:?}");
        eprintln!("{what}: {took:?}: {}", output.lines().find(|line| line.contains(said)).unwrap_or_default());
    }
}

#[test]
fn a_log_that_carries_a_hostile_script_does_no_more_than_the_package() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = package(folder.path(), "", "True");
    let played = dayshift(folder.path(), &["run", "./lamps-v1", "--agent", "noop"]);
    assert!(matches!(played.status.code(), Some(0 | 1)), "{}", String::from_utf8_lossy(&played.stderr));
    let exported = dayshift(folder.path(), &["export", "last", "--out", "log.dayshift"]);
    assert_eq!(exported.status.code(), Some(0), "{}", String::from_utf8_lossy(&exported.stderr));
    // The same log, graded by checks that nest: in the package's own process they would end it.
    let text = std::fs::read_to_string(&path).expect("it is there");
    let nests = format!("{text}\nX = ()\nfor i in range(400000):\n    X = ((X,),)\n");
    std::fs::write(&path, nests).expect("it is written");
    let graded = dayshift(folder.path(), &["--json", "grade", "log.dayshift", "--checks", "./lamps-v1"]);
    assert_eq!(graded.status.code(), Some(2), "{:?}", graded.status);
    assert!(String::from_utf8_lossy(&graded.stdout).contains("checks.star"), "{graded:?}");
}

#[test]
fn a_package_that_is_not_built_in_is_played_as_it_always_was() {
    let folder = tempfile::tempdir().expect("a folder");
    dayshift(folder.path(), &["new", "lamps-v1"]);
    let played = dayshift(folder.path(), &["run", "./lamps-v1"]);
    assert_eq!(played.status.code(), Some(0), "{}", String::from_utf8_lossy(&played.stderr));
    let replayed = dayshift(folder.path(), &["replay", "last"]);
    assert_eq!(replayed.status.code(), Some(0), "{}", String::from_utf8_lossy(&replayed.stderr));
}
