//! Chores: `cargo xtask ci` is what continuous integration runs, `cargo xtask tidy` checks what the compiler cannot. Not needed at run time.

#![expect(clippy::disallowed_methods, reason = "a chore is no part of the core: it reads its environment")]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

mod limits;
mod tidy;

/// The packages that tests compare with, the first two of which bring calendars along, and those under which the Python module is tested.
const PYTHON_PACKAGES: [&str; 10] = [
    "icalendar==7.3.2",
    "recurring-ical-events==3.8.2",
    "openpyxl==3.1.5",
    "python-dateutil==2.9.0.post0",
    "python-docx==1.2.0",
    "python-pptx==1.0.2",
    "gymnasium==1.4.0",
    "mypy==2.4.1",
    "pytest==9.0.2",
    "tqdm==4.70.1",
];

/// The packages whose source distributions bring material that tests read: mail, workbooks and documents. Not installed.
const PYTHON_SOURCES: [&str; 5] =
    ["flufl.bounce==6.0.0", "mail-parser==4.8.0", "pyexcel-xlsx==0.6.1", "python-docx==1.2.0", "python-pptx==1.0.2"];

/// The name under which the property tests are a fuzz target.
const PROPERTIES: &str = "properties";

const USAGE: &str = "usage: cargo xtask COMMAND

  ci      formats, lints, tidies and tests everything, as continuous integration does
  tidy    checks the invariants that the compiler cannot see
  limits  writes docs/limits.md from the limits in the code
  python  installs the Python packages that tests compare with, and unpacks those that bring files to read, into target/venv
  fuzz [SECONDS [TARGET]]   runs every fuzz target, or one, for so long (default 60); the target `properties` is the property tests,
                            drawn from other seeds than continuous integration draws from";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["ci"] => ci(),
        ["tidy"] => tidy::check(&root()),
        ["limits"] => tidy::sources(&root()).and_then(|sources| limits::write(&root(), &sources)),
        ["python"] => python(),
        ["fuzz"] => fuzz("60", None),
        ["fuzz", seconds] => fuzz(seconds, None),
        ["fuzz", seconds, target] => fuzz(seconds, Some(target)),
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn ci() -> Result<(), String> {
    for component in ["rustfmt", "clippy"] {
        ensure_component(component)?;
    }
    step("format", cargo(["fmt", "--all", "--", "--check"]))?;
    tidy::check(&root())?;
    step("lint", cargo(["clippy", "--workspace", "--all-targets", "--locked", "--", "--deny", "warnings"]))?;
    python()?;
    bubblewrap();
    // Tests that read files of the crates that we depend on ask cargo for all of them, those of other systems too.
    step("fetch", cargo(["fetch", "--locked"]))?;
    let mut test = cargo(["test", "--workspace", "--locked", "--no-fail-fast"]);
    // Tests that compare with other programs fail under this instead of saying that they could not.
    test.env("DAYSHIFT_CI", "1");
    step("test", test)?;
    let mut documentation = cargo(["doc", "--workspace", "--no-deps", "--locked", "--quiet"]);
    // Links into private modules are for those who read the source.
    documentation.env("RUSTDOCFLAGS", "--deny warnings --allow rustdoc::private_intra_doc_links");
    step("documentation", documentation)?;
    eprintln!("everything passed");
    Ok(())
}

/// Installs what tests compare with into a virtual environment of its own, and unpacks what they read, unless that was done.
fn python() -> Result<(), String> {
    let venv = root().join("target/venv");
    let interpreter = venv.join("bin/python");
    if !is_done(&venv.join("installed"), &PYTHON_PACKAGES) {
        let mut make = Command::new("python3");
        make.args(["-m", "venv"]).arg(&venv);
        step("make a Python environment", make)?;
        let mut install = Command::new(&interpreter);
        install.args(["-m", "pip", "install", "--quiet"]).args(PYTHON_PACKAGES);
        step("install Python packages", install)?;
        done(&venv.join("installed"), &PYTHON_PACKAGES)?;
    }
    let sources = venv.join("sources");
    if !is_done(&sources.join("unpacked"), &PYTHON_SOURCES) {
        let mut download = Command::new(&interpreter);
        download
            .args(["-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "--dest"])
            .arg(&sources);
        download.args(PYTHON_SOURCES);
        step("fetch the sources of Python packages", download)?;
        let files = std::fs::read_dir(&sources).map_err(|error| format!("{}: {error}", sources.display()))?;
        for file in files.flatten().map(|entry| entry.path()).filter(|path| path.extension() == Some("gz".as_ref())) {
            let mut unpack = Command::new(&interpreter);
            unpack.args(["-m", "tarfile", "--extract"]).arg(&file).arg(&sources);
            step("unpack them", unpack)?;
        }
        done(&sources.join("unpacked"), &PYTHON_SOURCES)?;
    }
    Ok(())
}

/// Installs what the shell's commands run under, where that can be done. Where it cannot, its tests say so and check that the program does too.
fn bubblewrap() {
    let is_there = || Command::new("bwrap").arg("--version").output().is_ok_and(|output| output.status.success());
    if is_there() {
        return;
    }
    eprintln!("== install bubblewrap");
    for arguments in [&["update"][..], &["install", "--yes", "bubblewrap"]] {
        let installed = Command::new("apt-get").args(arguments).env("DEBIAN_FRONTEND", "noninteractive").status();
        if !installed.is_ok_and(|status| status.success()) {
            break;
        }
    }
    if !is_there() {
        eprintln!("note: bubblewrap cannot be installed here; tests of the shell check that it says so");
    }
}

/// Returns whether `mark` says that this very list was dealt with.
fn is_done(mark: &Path, list: &[&str]) -> bool {
    std::fs::read_to_string(mark).is_ok_and(|text| text == list.join("\n"))
}

fn done(mark: &Path, list: &[&str]) -> Result<(), String> {
    std::fs::write(mark, list.join("\n")).map_err(|error| format!("{}: {error}", mark.display()))
}

/// Runs every fuzz target, or the one called `only`, under libFuzzer. cargo-fuzz asks for a nightly compiler; `RUSTC_BOOTSTRAP` lets the stable one do.
/// No sanitizer: our crates forbid `unsafe`, and without one the targets run on any toolchain, several times as fast.
fn fuzz(seconds: &str, only: Option<&str>) -> Result<(), String> {
    if only == Some(PROPERTIES) {
        return properties(seconds);
    }
    if !cargo(["fuzz", "--version"]).output().is_ok_and(|output| output.status.success()) {
        step("install cargo-fuzz", cargo(["install", "cargo-fuzz", "--locked"]))?;
    }
    let listed = cargo(["fuzz", "list"]).output().map_err(|error| format!("cargo fuzz list: {error}"))?;
    let limit = format!("-max_total_time={seconds}");
    for target in
        String::from_utf8_lossy(&listed.stdout).lines().filter(|target| only.is_none_or(|only| only == *target))
    {
        let (found, seeds) = (format!("fuzz/corpus-work/{target}"), format!("fuzz/seeds/{target}"));
        std::fs::create_dir_all(root().join(&found)).map_err(|error| format!("{found}: {error}"))?;
        let mut run = cargo(["fuzz", "run", "--release", "--sanitizer", "none", "--codegen-units", "16", target]);
        run.args([&found, &seeds]).args(["--", &limit, "-rss_limit_mb=2048", "-timeout=20"]);
        run.env("RUSTC_BOOTSTRAP", "1");
        step(&format!("fuzz {target}"), run)?;
    }
    if only.is_none() { properties(seconds) } else { Ok(()) }
}

/// Runs the property tests from one random seed after another, for so long. What they find becomes a case of its own.
fn properties(seconds: &str) -> Result<(), String> {
    let seconds = seconds.parse().map_err(|_| format!("'{seconds}' is no number of seconds"))?;
    let (begin, most) = (Instant::now(), Duration::from_secs(seconds));
    while begin.elapsed() < most {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|error| error.to_string())?;
        let seed = (now.as_nanos() as u64).to_string();
        let mut test = cargo(["test", "--locked"]);
        test.args(
            ["engine", "services", "stores", "scenarios", "replay"].map(|name| format!("--package=dayshift-{name}")),
        );
        test.env("PROPTEST_RNG_SEED", &seed);
        step(&format!("property tests from PROPTEST_RNG_SEED={seed}"), test)?;
    }
    Ok(())
}

/// Installs a component of the toolchain, where rustup is there and the component is not.
fn ensure_component(component: &str) -> Result<(), String> {
    let tool = if component == "rustfmt" { "fmt" } else { component };
    if cargo([tool, "--version"]).output().is_ok_and(|output| output.status.success()) {
        return Ok(());
    }
    let mut add = Command::new("rustup");
    add.args(["component", "add", component]);
    step(&format!("install {component}"), add)
}

fn step(name: &str, mut command: Command) -> Result<(), String> {
    eprintln!("== {name}");
    let status = command.status().map_err(|error| format!("{name}: cannot start: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{name} failed ({status})")) }
}

fn cargo<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(arguments: I) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

fn root() -> PathBuf {
    // The manifest of this crate lies one folder below the root.
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}
