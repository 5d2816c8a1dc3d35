//! Opens a store of whichever kind a folder holds, and makes it compact. What a kind does inside is its own file's part.

use std::path::Path;

use crate::catalog::{Squared, reconcile};
use crate::error::{Damage, StoreError};
use crate::folder::{Folder, Kind, detect};
use crate::rebuild::{Log, copy};
use crate::segment_store::{self, SegmentStore};
use crate::sled_store::{self, SledStore};
use crate::store::Store;

/// Opens the store in `path`, of the kind that it is. If the folder is missing or empty, makes one of `kind` (sled, if nothing is said).
///
/// # Errors
///
/// [`StoreError::Locked`], [`StoreError::NotAStore`] (also when `kind` is another than the store's), [`StoreError::Io`],
/// [`StoreError::Database`].
pub fn open(path: impl AsRef<Path>, kind: Option<Kind>) -> Result<Box<dyn Store>, StoreError> {
    let path = path.as_ref();
    let kind = match kind {
        Some(kind) => kind,
        None => detect(path)?.unwrap_or_default(),
    };
    Ok(match kind {
        Kind::Sled => Box::new(SledStore::open(path)?),
        Kind::Segment => Box::new(SegmentStore::open(path)?),
    })
}

/// Writes the log of a store that nobody has open anew, without what was discarded, and swaps it in. A crash leaves the old or the new one.
///
/// # Errors
///
/// [`StoreError::NotAStore`], [`StoreError::Locked`], and [`StoreError::Damaged`] when a branch does not verify: nothing is thrown away then.
pub fn compact(path: impl AsRef<Path>) -> Result<(), StoreError> {
    let path = path.as_ref();
    let absent = || StoreError::NotAStore { path: path.to_owned(), reason: "there is nothing in it".to_owned() };
    let kind = detect(path)?.ok_or_else(absent)?;
    let open_log = match kind {
        Kind::Sled => sled_store::open_log,
        Kind::Segment => segment_store::open_log,
    };
    // First what opening does for a log that was not closed, or is damaged.
    drop(open(path, Some(kind))?);
    let mut folder = Folder::open(path, kind)?;
    let log = folder.log();
    {
        let (from, mut from_heads, contents) = open_log(&log)?;
        let Squared { catalog, newly_damaged, .. } = reconcile(contents, &*from, &mut from_heads, &log)?;
        let mut damages = catalog.branches.values().filter_map(|entry| entry.damage.clone());
        if let Some(damage) = damages.next().filter(|_| newly_damaged) {
            return Err(damage.into());
        }
        let expected: u64 = catalog.branches.values().map(|entry| entry.accepted.count - entry.meta.base.count).sum();
        let (to, mut to_heads, _empty) = open_log(&folder.begin_generation()?)?;
        let from = Log { backend: &*from, heads: &mut from_heads };
        let copied = copy(from, &catalog, Log { backend: &*to, heads: &mut to_heads })?;
        to.close();
        if copied.records != expected {
            let reason = format!("only {} of {expected} records verify, so it was left as it is", copied.records);
            return Err(Damage::File { path: log, at: 0, reason }.into());
        }
    }
    folder.finish_generation()?;
    folder.remove_previous()
}
