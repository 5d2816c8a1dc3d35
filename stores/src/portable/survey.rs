//! What can be made out of a portable log, altered or not, and what is wrong with it first.

use std::collections::BTreeMap;
use std::path::Path;

use dayshift_engine::{BadLink, BlobId, ENVELOPE_BYTES, Head, RecordHash, Seq};

use crate::branch::BranchId;
use crate::chain_walk::{ChainWalk, named};
use crate::error::{Damage, StoreError};
use crate::frame::{Entry, FRAME_HEADER_BYTES, Found, Run, cut_run, entries};
use crate::portable::source::{Frames, Source, Window};
use crate::portable::{FORMAT, Footer, Header};

/// The most of a part that is no frame that is looked at for what it may have been (256 MiB, more than a run of records takes).
const ALTERED_BYTES_MAX: u64 = 256 << 20;

/// What can be made out of a file, altered or not.
pub(super) struct Survey<'p> {
    path: &'p Path,
    length: u64,
    pub(super) header: Option<Header>,
    pub(super) records: Vec<(u64, u32)>,
    pub(super) blobs: BTreeMap<BlobId, (u64, u32)>,
    pub(super) footer: Option<Footer>,
    /// Where the file is cut off, if it is.
    cut: Option<u64>,
    /// The first thing that is wrong with the file, and not with a record's bytes.
    fault: Option<Damage>,
}

impl<'p> Survey<'p> {
    pub(super) fn of(path: &'p Path, source: &Source) -> Result<Self, StoreError> {
        let length = source.length();
        let mut survey = Self {
            path,
            length,
            header: None,
            records: Vec::new(),
            blobs: BTreeMap::new(),
            footer: None,
            cut: None,
            fault: None,
        };
        let mut frames = Frames::new(source);
        let mut payload = Vec::new();
        let mut at = 0;
        while at < length {
            let (next, whole) = match frames.find(at)? {
                Found::Whole(frame) => (at + frame as u64, true),
                Found::Bad(_) | Found::Blank => (frames.next(at + 1)?.unwrap_or(length), false),
            };
            if !whole && next == length && survey.header.is_none() {
                let reason = "it holds no frame of a portable log: export the run again".to_owned();
                return Err(StoreError::NotAStore { path: path.to_owned(), reason });
            }
            if !whole && next == length && frames.is_cut(at)? {
                survey.cut = Some(at);
            }
            let payload_at = (at + FRAME_HEADER_BYTES as u64).min(next);
            let wanted = if whole { next - payload_at } else { (next - payload_at).min(ALTERED_BYTES_MAX) };
            source.read(payload_at, usize::try_from(wanted).unwrap_or(usize::MAX), &mut payload)?;
            survey.frame(at, payload_at, &payload, next, whole);
            at = next;
        }
        if survey.footer.is_none() && survey.fault.is_none() {
            survey.cut.get_or_insert(length);
        }
        Ok(survey)
    }

    fn frame(&mut self, at: u64, payload_at: u64, payload: &[u8], next: u64, whole: bool) {
        if self.cut.is_some() {
            let is_at_records = self.blobs.is_empty() && self.footer.is_none();
            if let Some(run) = cut_run(payload).filter(|run| is_at_records && run.first == self.records.len() as u64) {
                self.run(payload_at, &run);
            }
            return;
        }
        let expected = self.records.len() as u64;
        let mut about = if at == 0 {
            self.at(0, "the header is altered")
        } else if self.blobs.is_empty() && self.footer.is_none() && next < self.length {
            self.record(BadLink::Malformed { seq: Seq::new(expected) })
        } else {
            self.at(at, "the part from here on is altered: it holds a blob or the footer")
        };
        let mut orderly = true;
        for entry in entries(payload) {
            let ended = self.footer.is_some();
            match entry {
                Ok(Entry::File(described)) if at == 0 => self.header = rmp_serde::from_slice(described).ok(),
                Ok(Entry::Run(run)) if self.blobs.is_empty() && !ended => {
                    orderly &= run.number == 0 && run.first == expected;
                    about = self.record(BadLink::Malformed { seq: Seq::new(expected) });
                    orderly &= self.run(payload_at, &run) == u64::from(run.count);
                }
                Ok(Entry::Blob { id, content }) if !ended => {
                    about = Damage::Blob { id };
                    let until = next.min(payload_at + 1 + 32 + 4 + content.len() as u64);
                    let place = (until - content.len() as u64, content.len() as u32);
                    orderly &= self.blobs.insert(id, place).is_none();
                }
                Ok(Entry::Footer(described)) if !ended => {
                    about = self.at(at, "the footer is altered");
                    self.footer = rmp_serde::from_slice(described).ok();
                    orderly &= next == self.length;
                }
                Ok(_) | Err(_) => orderly = false,
            }
        }
        if !whole || !orderly {
            self.fault.get_or_insert(about);
        }
    }

    /// Takes the records of a run, and returns how many there were. Ends after one that is too short to be a record, which the chain will name: a
    /// file of empty records would take more memory than it has bytes.
    fn run(&mut self, payload_at: u64, run: &Run<'_>) -> u64 {
        let mut from = payload_at + run.at as u64;
        let mut count = 0;
        for record in run.records() {
            self.records.push((from + 4, record.len() as u32));
            from += 4 + record.len() as u64;
            count += 1;
            if record.len() < ENVELOPE_BYTES {
                break;
            }
        }
        count
    }

    /// Decides: a record at fault is named before anything around it.
    pub(super) fn check(&mut self, source: &Source) -> Result<(), StoreError> {
        let count = self.records.len() as u64;
        let last = if count > 0 { self.hash_of_record(source, count)? } else { RecordHash::default() };
        let implied = Head { count, hash: last };
        // An altered footer cannot say where the log ends; the records then speak for themselves.
        let altered = self.fault.is_some();
        let footer_head = self.footer.as_ref().map(|footer| footer.head);
        let end = footer_head.filter(|head| !altered || head.count == implied.count).unwrap_or(implied);
        let mut walk = ChainWalk::new(Head::default(), end);
        let mut window = Window::default();
        let mut link = None;
        for &(at, bytes) in &self.records {
            link = walk.step(window.get(source, at, bytes as usize)?).err();
            if link.is_some() {
                break;
            }
        }
        let footer_at_fault = matches!(&self.fault, Some(Damage::File { at, .. }) if *at > 0);
        match link.map_or_else(|| walk.finish(), Err) {
            Err(BadLink::Head { .. }) if footer_at_fault => {}
            Err(link) => return Err(self.record(link).into()),
            Ok(_) => {}
        }
        for (&id, &(at, bytes)) in &self.blobs {
            if BlobId::of(window.get(source, at, bytes as usize)?) != id {
                return Err(Damage::Blob { id }.into());
            }
        }
        if let Some(fault) = self.fault.clone() {
            return Err(fault.into());
        }
        let missing = |what: &str| self.at(self.length, what);
        let Some(header) = &self.header else { return Err(missing("it has no header that this version reads").into()) };
        if header.format != FORMAT {
            let reason = format!("its format is \"{}\": use the version that wrote it", header.format);
            return Err(StoreError::NotAStore { path: self.path.to_owned(), reason });
        }
        match (&self.footer, self.cut) {
            (_, Some(at)) => Err(Damage::CutOff { path: self.path.to_owned(), at, records: count }.into()),
            (None, None) => Err(missing("the footer is missing").into()),
            (Some(footer), None) if footer.blobs != self.blobs.len() as u64 => {
                Err(missing("blobs are missing from it").into())
            }
            (Some(_), None) => Ok(()),
        }
    }

    /// Returns the hash of the last of the first `count` records.
    pub(super) fn hash_of_record(&self, source: &Source, count: u64) -> Result<RecordHash, StoreError> {
        let at = usize::try_from(count).unwrap_or(usize::MAX).wrapping_sub(1);
        let Some(&(at, bytes)) = self.records.get(at) else { return Ok(RecordHash::default()) };
        Ok(RecordHash::of(Window::default().get(source, at, bytes as usize)?))
    }

    fn record(&self, link: BadLink) -> Damage {
        let unnamed = || BranchId::new("unnamed").expect("a name of allowed characters");
        let branch = self.header.as_ref().map_or_else(unnamed, |header| header.branch.clone());
        Damage::Record { branch, whole: named(&link), link }
    }

    fn at(&self, at: u64, reason: &str) -> Damage {
        Damage::File { path: self.path.to_owned(), at, reason: reason.to_owned() }
    }
}
