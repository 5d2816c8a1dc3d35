//! Embeds the built-in scenarios: writes a list of `include_bytes!` for every file below `library/`, in name order. The list speaks of paths
//! relative to the crate alone, so the same sources give the same binary on every machine.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=library");
    #[expect(clippy::disallowed_methods, reason = "a build script is told by the environment where it stands")]
    let (crate_root, out) = (env::var("CARGO_MANIFEST_DIR"), env::var("OUT_DIR"));
    let library = PathBuf::from(crate_root.map_err(io::Error::other)?).join("library");
    let mut code = String::from("&[\n");
    for scenario in names(&library)? {
        if !library.join(&scenario).is_dir() {
            continue;
        }
        let mut files = Vec::new();
        walk(&library.join(&scenario), "", &mut files)?;
        writeln!(code, "    ({scenario:?}, &[").map_err(io::Error::other)?;
        for file in files {
            let below = format!("/library/{scenario}/{file}");
            writeln!(code, "        ({file:?}, include_bytes!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {below:?}))),")
                .map_err(io::Error::other)?;
        }
        code.push_str("    ]),\n");
    }
    code.push_str("]\n");
    fs::write(PathBuf::from(out.map_err(io::Error::other)?).join("library.rs"), code)
}

/// Adds the paths of the files below `folder`, relative to where the walk began.
fn walk(folder: &Path, prefix: &str, files: &mut Vec<String>) -> io::Result<()> {
    for name in names(folder)? {
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
        if folder.join(&name).is_dir() {
            walk(&folder.join(&name), &path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// Returns the names in `folder` in order, hidden ones left out; none if there is no such folder.
fn names(folder: &Path) -> io::Result<Vec<String>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().into_string().map_err(|_| io::Error::other("a name in library/ is not UTF-8"))?;
        if !name.starts_with('.') {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}
