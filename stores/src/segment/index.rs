//! Where each branch's own records are, in memory: built by the scan when the store opens, and kept up by every commit.

use std::collections::BTreeMap;
use std::fs::File;
use std::sync::Arc;

use crate::segment::reader::Places;

/// How many runs a reader takes along at once.
const PLACES_MAX: usize = 1024;

/// A run of records in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) first: u64,
    pub(crate) count: u64,
    pub(crate) file: u64,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

/// All runs, by branch number.
#[derive(Debug, Default)]
pub(crate) struct Index {
    runs: BTreeMap<u64, Vec<Place>>,
    files: BTreeMap<u64, Arc<File>>,
}

impl Index {
    pub(crate) fn keep_file(&mut self, number: u64, file: &Arc<File>) {
        self.files.entry(number).or_insert_with(|| Arc::clone(file));
    }

    /// Adds a run at the end of a branch.
    pub(crate) fn add(&mut self, branch: u64, place: Place) {
        self.runs.entry(branch).or_default().push(place);
    }

    pub(crate) fn forget(&mut self, branch: u64) {
        self.runs.remove(&branch);
    }

    /// Returns the run that holds position `from` and some that follow it, with their files; nothing if no run does.
    pub(crate) fn find(&self, branch: u64, from: u64, until: u64) -> Option<Places> {
        let runs = self.runs.get(&branch)?;
        let start = runs.partition_point(|place| place.first + place.count <= from);
        let places: Vec<Place> =
            runs[start..].iter().take_while(|place| place.first < until).take(PLACES_MAX).copied().collect();
        if places.first()?.first > from {
            return None;
        }
        let used = places.iter().filter_map(|place| Some((place.file, Arc::clone(self.files.get(&place.file)?))));
        let files = used.collect();
        Some((places, files))
    }
}
