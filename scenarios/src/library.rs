//! The scenarios that come with Dayshift, embedded in the binary: a fresh machine needs no files.

use crate::package::Package;
use crate::problem::{Problem, did_you_mean};

type Files = &'static [(&'static str, &'static [u8])];

const LIBRARY: &[(&str, Files)] = include!(concat!(env!("OUT_DIR"), "/library.rs"));

/// Returns the names of the built-in scenarios in order.
pub fn built_in_names() -> impl Iterator<Item = &'static str> {
    LIBRARY.iter().map(|(name, _)| *name)
}

/// Returns the built-in scenario `name`.
///
/// # Errors
///
/// `scenario/unknown` when there is none.
pub fn built_in(name: &str) -> Result<Package, Vec<Problem>> {
    let Some((_, files)) = LIBRARY.iter().find(|(known, _)| *known == name) else {
        let known: Vec<&str> = built_in_names().collect();
        let message = format!("there is no built-in scenario '{name}'");
        return Err(vec![Problem::of_file("scenario/unknown", name, message, did_you_mean(name, &known))]);
    };
    Package::from_files(name, files.iter().map(|(path, bytes)| (*path, *bytes)))
}

/// Returns whether `package` is a built-in scenario, byte for byte, whatever it is called.
#[must_use]
pub fn is_built_in(package: &Package) -> bool {
    LIBRARY.iter().any(|(_, files)| package.holds_exactly(files))
}
