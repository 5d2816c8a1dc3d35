//! Chores: `cargo xtask ci` is what continuous integration runs, `cargo xtask tidy` checks what the compiler cannot. Not needed at run time.

#![expect(clippy::disallowed_methods, reason = "a chore is no part of the core: it reads its environment")]

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

mod tidy;

/// The packages that tests compare with.
const PYTHON_PACKAGES: [&str; 3] = ["icalendar==7.3.2", "python-dateutil==2.9.0.post0", "recurring-ical-events==3.8.2"];

const USAGE: &str = "usage: cargo xtask COMMAND

  ci      formats, lints, tidies and tests everything, as continuous integration does
  tidy    checks the invariants that the compiler cannot see
  python  installs the Python packages that tests compare with, into target/venv
  fuzz [SECONDS]   runs every fuzz target for so long (default 60)";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["ci"] => ci(),
        ["tidy"] => tidy::check(&root()),
        ["python"] => python(),
        ["fuzz"] => fuzz("60"),
        ["fuzz", seconds] => fuzz(seconds),
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

/// Installs what tests compare with into a virtual environment of its own, unless it is there.
fn python() -> Result<(), String> {
    let venv = root().join("target/venv");
    let interpreter = venv.join("bin/python");
    let mut installed = Command::new(&interpreter);
    installed.args(["-c", "import dateutil, icalendar, recurring_ical_events"]);
    if installed.output().is_ok_and(|output| output.status.success()) {
        return Ok(());
    }
    let mut make = Command::new("python3");
    make.args(["-m", "venv"]).arg(&venv);
    step("make a Python environment", make)?;
    let mut install = Command::new(&interpreter);
    install.args(["-m", "pip", "install", "--quiet"]).args(PYTHON_PACKAGES);
    step("install Python packages", install)
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

/// Runs every fuzz target under libFuzzer. cargo-fuzz asks for a nightly compiler; `RUSTC_BOOTSTRAP` lets the stable one do.
fn fuzz(seconds: &str) -> Result<(), String> {
    if !cargo(["fuzz", "--version"]).output().is_ok_and(|output| output.status.success()) {
        step("install cargo-fuzz", cargo(["install", "cargo-fuzz", "--locked"]))?;
    }
    let listed = cargo(["fuzz", "list"]).output().map_err(|error| format!("cargo fuzz list: {error}"))?;
    let limit = format!("-max_total_time={seconds}");
    for target in String::from_utf8_lossy(&listed.stdout).lines() {
        let (found, seeds) = (format!("fuzz/corpus-work/{target}"), format!("fuzz/seeds/{target}"));
        std::fs::create_dir_all(root().join(&found)).map_err(|error| format!("{found}: {error}"))?;
        let mut run = cargo(["fuzz", "run", target, &found, &seeds, "--", &limit]);
        run.env("RUSTC_BOOTSTRAP", "1");
        step(&format!("fuzz {target}"), run)?;
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
