//! Runs the Python tests (`python/tests/*.py`) under pytest on the module as cargo has just built it: no wheel is needed for that.

#![expect(clippy::disallowed_methods, reason = "a test asks its environment where the build and the interpreter are")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

#[test]
fn the_python_tests_pass() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let Some(interpreter) = interpreter(here) else {
        assert!(env::var_os("DAYSHIFT_CI").is_none(), "there is no Python with pytest; `cargo xtask python` makes one");
        eprintln!("not tried: there is no Python with pytest; `cargo xtask python` makes one");
        return;
    };
    let built = env::current_exe().expect("a test has a path").with_file_name("lib_dayshift.so");
    let folder = tempfile::tempdir().expect("a folder");
    let package = folder.path().join("dayshift");
    copy(&here.join("python/dayshift"), &package);
    fs::copy(&built, package.join("_dayshift.abi3.so")).unwrap_or_else(|error| panic!("{}: {error}", built.display()));
    let mut pytest = Command::new(interpreter);
    pytest.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]).arg(here.join("tests"));
    pytest.current_dir(folder.path()).env("PYTHONPATH", folder.path()).env("PYTHONDONTWRITEBYTECODE", "1");
    let done = pytest.output().expect("pytest starts");
    let said = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
    eprintln!("{said}");
}

/// Returns a Python that has pytest: that of the environment which `cargo xtask python` makes, or the host's.
fn interpreter(here: &Path) -> Option<PathBuf> {
    let candidates = [here.join("../target/venv/bin/python"), PathBuf::from("python3")];
    let usable = |python: &PathBuf| {
        Command::new(python).args(["-c", "import pytest"]).output().is_ok_and(|output| output.status.success())
    };
    candidates.into_iter().find(usable)
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("the package is there").flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            if entry.file_name() != "__pycache__" {
                copy(&path, &target);
            }
        } else if path.extension().is_none_or(|ending| ending != "so") {
            fs::copy(&path, &target).expect("the file is copied");
        }
    }
}
