//! What a segment store finds when it opens. It tells a write that was cut off (its remains are removed) from damage in the middle (the branches
//! concerned are marked): a commit is durable before the next one begins, so only the last frame can be torn.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dayshift_engine::{BadLink, Head, RecordHash, Seq};

use crate::backend::{BranchMeta, Contents, Extent, Loaded};
use crate::chain_walk::ChainWalk;
use crate::error::{Damage, Finding, StoreError};
use crate::folder::replace_file;
use crate::frame::{Entry, FRAME_HEADER_BYTES, Found, Resync, Run, entries};
use crate::heads::{Heads, Slot, SlotState, Standing};
use crate::segment::index::{Index, Place};
use crate::segment::reader::read;
use crate::segment::tail::{description, file_name};

/// The file that writing goes on in.
#[derive(Debug)]
pub(crate) struct LastFile {
    pub(crate) number: u64,
    pub(crate) path: PathBuf,
    pub(crate) end: u64,
}

/// What was found.
#[derive(Debug)]
pub(crate) struct Scanned {
    pub(crate) index: Index,
    pub(crate) contents: Contents,
    pub(crate) last: Option<LastFile>,
}

/// Reads all segment files of a log. The heads kept apart tell whether a last frame that is not whole was acknowledged.
pub(crate) fn scan(log: &Path, heads: &Heads) -> Result<Scanned, StoreError> {
    let numbers = file_numbers(log)?;
    let mut scan =
        Scan { heads, branches: BTreeMap::new(), discarded: Vec::new(), index: Index::default(), findings: Vec::new() };
    let mut last = None;
    for (position, &number) in numbers.iter().enumerate() {
        let path = log.join(file_name(number));
        if number != position as u64 + 1 {
            let reason = format!("segment file {} before it is missing", position + 1);
            scan.findings.push(Damage::File { path: path.clone(), at: 0, reason }.into());
        }
        let bytes = fs::read(&path).map_err(StoreError::io("read", &path))?;
        let file = File::options().read(true).write(true).open(&path).map_err(StoreError::io("open", &path))?;
        let later = numbers[position + 1..].iter().any(|&later| has_frames(&log.join(file_name(later))));
        let end = scan.file(number, &path, &bytes, later);
        // What is damaged is built anew elsewhere, and stays as it is.
        let is_damaged = scan.findings.iter().any(|finding| matches!(finding, Finding::Damaged(_)));
        if end < bytes.len() && !later && !is_damaged {
            keep_torn_tail(log, number, end, &bytes[end..])?;
            file.set_len(end as u64).and_then(|()| file.sync_all()).map_err(StoreError::io("shorten", &path))?;
        }
        scan.index.keep_file(number, &Arc::new(file));
        last = Some(LastFile { number, path, end: end as u64 });
        if !later && !is_damaged {
            // Files that were filled ahead and not used.
            for &unused in &numbers[position + 1..] {
                let path = log.join(file_name(unused));
                fs::remove_file(&path).map_err(StoreError::io("remove", &path))?;
            }
        }
        if !later {
            break;
        }
    }
    let (index, contents) = scan.finish()?;
    Ok(Scanned { index, contents, last })
}

/// Keeps the remains of an unfinished write beside the log before they are cut off.
fn keep_torn_tail(log: &Path, number: u64, at: usize, tail: &[u8]) -> Result<(), StoreError> {
    let Some(last) = tail.iter().rposition(|&byte| byte != 0) else { return Ok(()) };
    let folder = log.with_extension("torn");
    fs::create_dir_all(&folder).map_err(StoreError::io("create", &folder))?;
    replace_file(&folder.join(format!("{}-{at}", file_name(number))), &tail[..=last])
}

fn file_numbers(log: &Path) -> Result<Vec<u64>, StoreError> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(log).map_err(StoreError::io("list", log))? {
        let name = entry.map_err(StoreError::io("list", log))?.file_name();
        let number: Option<u64> =
            name.to_str().and_then(|name| name.strip_suffix(".segment")).and_then(|number| number.parse().ok());
        numbers.extend(number);
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Returns whether a file holds anything after its description. Of a file in use the first piece tells.
fn has_frames(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    let mut bytes = vec![0; 64 << 10];
    let mut at = 0;
    loop {
        match file.read_at(&mut bytes, at) {
            Ok(0) | Err(_) => return false,
            Ok(count) => {
                let described = if at == 0 { described_bytes() } else { 0 };
                if bytes[..count].iter().skip(described).any(|&byte| byte != 0) {
                    return true;
                }
                at += count as u64;
            }
        }
    }
}

fn described_bytes() -> usize {
    FRAME_HEADER_BYTES + 5 + description(0).len()
}

struct Scan<'h> {
    heads: &'h Heads,
    branches: BTreeMap<u64, Own>,
    discarded: Vec<u64>,
    index: Index,
    findings: Vec<Finding>,
}

struct Own {
    meta: BranchMeta,
    note: Arc<[u8]>,
    /// Where the own records end.
    count: u64,
    damage: Option<BadLink>,
    /// Whether some of the records came from an altered frame.
    doubtful: bool,
}

impl Scan<'_> {
    /// Reads one file and returns where its frames end.
    fn file(&mut self, number: u64, path: &Path, bytes: &[u8], later: bool) -> usize {
        let mut at = 0;
        let mut resync = Resync::new(bytes);
        loop {
            let found = resync.find_frame(at);
            if let Found::Whole(length) = found {
                self.frame(number, at, &bytes[at + FRAME_HEADER_BYTES..at + length], path, true);
                at += length;
                continue;
            }
            let used = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
            if used <= at {
                return at;
            }
            let claimed = match found {
                Found::Bad(Some(length)) => at + length,
                Found::Bad(None) | Found::Whole(_) | Found::Blank => at,
            };
            let next = match resync.next_frame(at + 1) {
                Some(next) => next,
                None if later || self.is_cut_short() => used.max(claimed),
                None => {
                    let bytes = (used - at) as u64;
                    self.findings.push(Finding::TornTail { path: path.to_owned(), at: at as u64, bytes });
                    return at;
                }
            };
            let reason = format!("{} bytes that were whole frames are altered", next - at);
            self.findings.push(Damage::File { path: path.to_owned(), at: at as u64, reason }.into());
            let payload = bytes.get(at + FRAME_HEADER_BYTES..next).unwrap_or_default();
            self.frame(number, at, payload, path, false);
            at = next;
        }
    }

    /// Returns whether something that was acknowledged was not found so far: then a last frame that is not whole is no torn write.
    fn is_cut_short(&self) -> bool {
        (0..self.heads.count()).any(|number| match self.heads.get(number) {
            Standing::Whole(Slot { state: SlotState::Made, head, .. }) => {
                let found = self.branches.get(&number).map(|own| own.count);
                !self.discarded.contains(&number) && found.is_none_or(|found| found < head.count)
            }
            Standing::Whole(_) | Standing::Bad | Standing::Absent => false,
        })
    }

    /// Takes what a frame says. Of an altered frame, what can still be made out is taken too, so that the record at fault can be named.
    fn frame(&mut self, file: u64, at: usize, payload: &[u8], path: &Path, whole: bool) {
        for (position, entry) in entries(payload).enumerate() {
            let known = match entry {
                Ok(Entry::File(described)) => position == 0 && at == 0 && described == description(file),
                Ok(Entry::Create(meta)) => {
                    let count = meta.base.count;
                    let fresh = Own { meta, note: Arc::default(), count, damage: None, doubtful: !whole };
                    self.branches.insert(fresh.meta.number, fresh);
                    true
                }
                Ok(Entry::Run(run)) => {
                    let offset = (at + FRAME_HEADER_BYTES + run.at) as u64;
                    self.run(file, offset, &run, whole);
                    true
                }
                Ok(Entry::Note { number, note }) => {
                    if let Some(own) = self.branches.get_mut(&number) {
                        own.note = note.into();
                    }
                    true
                }
                Ok(Entry::Discard { number }) => {
                    if whole && self.branches.remove(&number).is_some() {
                        self.discarded.push(number);
                        self.index.forget(number);
                    }
                    true
                }
                Ok(Entry::Blob { .. } | Entry::Footer(_)) | Err(_) => false,
            };
            if !known && whole {
                let reason = "a whole frame holds an entry that does not belong there".to_owned();
                self.findings.push(Damage::File { path: path.to_owned(), at: at as u64, reason }.into());
            }
        }
    }

    fn run(&mut self, file: u64, offset: u64, run: &Run<'_>, whole: bool) {
        let Some(own) = self.branches.get_mut(&run.number) else { return };
        if own.damage.is_some() {
            return;
        }
        if run.first != own.count {
            // Of an altered frame: a number that cannot be believed. Of a whole one: what came before it is gone.
            if whole {
                own.damage = Some(BadLink::Truncated { seq: Seq::new(own.count), expected: run.first });
            }
            return;
        }
        let count = if whole { u64::from(run.count) } else { run.records().count() as u64 };
        let bytes = run.records.len() as u64;
        self.index.add(run.number, Place { first: run.first, count, file, offset, bytes });
        own.count += count;
        own.doubtful |= !whole;
    }

    fn finish(self) -> Result<(Index, Contents), StoreError> {
        let mut branches = Vec::with_capacity(self.branches.len());
        for Own { meta, note, count, damage, doubtful } in self.branches.into_values() {
            let own = Extent { number: meta.number, from: meta.base.count, until: count };
            let mut head = meta.base;
            if own.from < own.until {
                let last = Extent { from: own.until - 1, ..own };
                let _one = read(|from, until| self.index.find(own.number, from, until), last, &mut |record| {
                    head = Head { count, hash: RecordHash::of(record) };
                    ControlFlow::Break(())
                })?;
            }
            let mut damage = damage;
            if doubtful && damage.is_none() {
                // The head kept apart says which of two records was altered; the log's own would vouch for itself.
                let end = match self.heads.get(meta.number) {
                    Standing::Whole(slot) if slot.head.count == count => slot.head,
                    Standing::Whole(_) | Standing::Bad | Standing::Absent => head,
                };
                let mut walk = ChainWalk::new(meta.base, end);
                let _broken = read(|from, until| self.index.find(own.number, from, until), own, &mut |record| {
                    damage = walk.step(record).err();
                    if damage.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                })?;
                damage = damage.or_else(|| walk.finish().err());
            }
            branches.push(Loaded { meta, note, head, damage, doubtful });
        }
        Ok((self.index, Contents { branches, discarded: self.discarded, findings: self.findings }))
    }
}
