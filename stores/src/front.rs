//! The part that all stores share: names, heads, the order of acceptance, and the one thread that commits for everybody. It drains what is
//! queued, has the backend make it durable with one sync, and acknowledges all of it; what arrives meanwhile is the next group. No timers.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use dayshift_engine::{BadLink, BlobId, Blobs, Envelope, Head, MemoryBlobs, RECORD_BYTES_MAX, RecordHash, Seq};

use crate::backend::{Backend, BranchMeta, Change, Extent};
use crate::blob_files::BlobFiles;
use crate::branch::{BranchId, BranchInfo, NOTE_BYTES_MAX, NewBranch, Parent};
use crate::catalog::{Catalog, Entry};
use crate::chain_walk::{ChainWalk, named};
use crate::error::{Damage, Finding, StoreError};
use crate::folder::Folder;
use crate::heads::{Heads, Slot, SlotState, Standing};
use crate::store::{APPEND_BYTES_MAX, Append, BLOB_BYTES_MAX, Failure, Group, Store, Ticket};

/// How many bytes may wait for the committer before appends wait too (64 MiB).
const QUEUE_BYTES_MAX: usize = 64 << 20;

/// How often a verification reports, in records.
const PROGRESS_RECORDS: u64 = 10_000;

/// A store over some backend.
pub(crate) struct Front {
    shared: Arc<Shared>,
    blobs: BlobRoom,
    findings: Vec<Finding>,
    committer: Option<JoinHandle<()>>,
    /// Held until everything else is closed: the lock on the folder.
    _folder: Option<Folder>,
}

/// Where blobs go.
pub(crate) enum BlobRoom {
    Memory(MemoryBlobs),
    Files(BlobFiles),
}

/// What the committer and the callers share.
struct Shared {
    state: Mutex<State>,
    /// Told when there is work for the committer.
    work: Condvar,
    /// Told when the queue has room again.
    room: Condvar,
    backend: Box<dyn Backend>,
    /// The heads kept apart; nothing where nothing outlives the process.
    heads: Option<Mutex<Heads>>,
    path: Arc<PathBuf>,
}

struct State {
    catalog: Catalog,
    queue: Vec<Change>,
    queue_bytes: usize,
    /// The group that the queue will be committed as.
    group: Arc<Group>,
    failure: Option<Failure>,
    closing: bool,
}

impl Front {
    /// Opens a store whose changes are kept where the caller waits: no thread, no disk.
    pub(crate) fn in_memory(backend: Box<dyn Backend>) -> Self {
        let shared = Shared::new(backend, None, Catalog::default(), PathBuf::from("memory"));
        let blobs = BlobRoom::Memory(MemoryBlobs::new());
        Self { shared: Arc::new(shared), blobs, findings: Vec::new(), committer: None, _folder: None }
    }

    /// Opens a store on disk.
    pub(crate) fn on_disk(
        folder: Folder,
        backend: Box<dyn Backend>,
        heads: Heads,
        catalog: Catalog,
        findings: Vec<Finding>,
    ) -> Result<Self, StoreError> {
        let path = folder.path().to_owned();
        let blobs = BlobRoom::Files(BlobFiles::open(&path)?);
        let shared = Arc::new(Shared::new(backend, Some(heads), catalog, path.clone()));
        let at_work = Arc::clone(&shared);
        let committer = std::thread::Builder::new().name("dayshift-commit".to_owned());
        let committer = committer.spawn(move || at_work.commit_until_closed());
        let committer = committer.map_err(StoreError::io("start a thread for", &path))?;
        Ok(Self { shared, blobs, findings, committer: Some(committer), _folder: Some(folder) })
    }

    /// Opens what is only read: no thread, and nothing is written.
    pub(crate) fn reading(
        backend: Box<dyn Backend>,
        catalog: Catalog,
        findings: Vec<Finding>,
        blobs: BlobFiles,
        path: PathBuf,
    ) -> Self {
        let shared = Arc::new(Shared::new(backend, None, catalog, path));
        Self { shared, blobs: BlobRoom::Files(blobs), findings, committer: None, _folder: None }
    }

    fn shut(&mut self) {
        self.shared.lock().closing = true;
        self.shared.work.notify_all();
        if let Some(committer) = self.committer.take() {
            let _it_reports_through_tickets = committer.join();
            if let Some(heads) = &self.shared.heads {
                let _lagging_heads_are_legal = heads.lock().unwrap_or_else(PoisonError::into_inner).sync();
            }
            self.shared.backend.close();
        }
    }

    /// Waits until what the branch accepted is durable, and returns its parts and its head.
    fn settled(&self, branch: &BranchId) -> Result<(Vec<Extent>, Head, Option<Damage>), StoreError> {
        let last = Arc::clone(&self.shared.lock().catalog.get(branch)?.last);
        let _what_is_durable_is_read = last.wait();
        let state = self.shared.lock();
        let entry = state.catalog.get(branch)?;
        let head = entry.durable.unwrap_or(entry.meta.base);
        Ok((state.catalog.extents(&entry.meta, head.count), head, entry.damage.clone()))
    }

    /// Returns the head after the first `count` records of a branch.
    fn head_at(&self, branch: &BranchId, count: u64) -> Result<Head, StoreError> {
        let (extents, head, _) = self.settled(branch)?;
        if count == 0 || count == head.count {
            return Ok(if count == 0 { Head::default() } else { head });
        }
        let mut hash = None;
        for extent in extents.into_iter().filter(|extent| extent.from < count && count <= extent.until) {
            let last = Extent { from: count - 1, until: count, ..extent };
            let _one_is_enough = self.shared.backend.read(last, &mut |record| {
                hash = Some(RecordHash::of(record));
                ControlFlow::Break(())
            })?;
        }
        let link = BadLink::Truncated { seq: Seq::new(count - 1), expected: count };
        let missing = || Damage::Record { branch: branch.clone(), link, whole: count - 1 };
        Ok(Head { count, hash: hash.ok_or_else(missing)? })
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        self.shut();
    }
}

impl Store for Front {
    fn create(&self, new: NewBranch) -> Result<(), StoreError> {
        limit("a note", new.note.len(), NOTE_BYTES_MAX)?;
        let (parent, base) = match &new.parent {
            None => (None, Head::default()),
            Some(Parent { branch, count }) => {
                let (number, has) = {
                    let state = self.shared.lock();
                    let entry = state.catalog.get(branch)?;
                    (entry.meta.number, entry.whole())
                };
                if *count > has {
                    return Err(StoreError::ForkBeyondEnd { branch: branch.clone(), asked: *count, has });
                }
                (Some((number, *count)), self.head_at(branch, *count)?)
            }
        };
        let mut state = self.shared.with_room()?;
        if state.catalog.branches.contains_key(&new.id) {
            return Err(StoreError::BranchExists { branch: new.id });
        }
        // The parent may have been discarded meanwhile, and another made under its name.
        let is_there = parent.is_none_or(|(number, _)| state.catalog.ids.contains_key(&number));
        if let Some(Parent { branch, .. }) = new.parent.filter(|_| !is_there) {
            return Err(StoreError::UnknownBranch { branch });
        }
        let meta = Arc::new(BranchMeta { number: state.catalog.next_number, id: new.id.clone(), parent, base });
        let note: Arc<[u8]> = new.note.into();
        let last = Arc::clone(&state.group);
        state.catalog.insert(Entry {
            meta: Arc::clone(&meta),
            note: Arc::clone(&note),
            accepted: base,
            durable: None,
            children: 0,
            damage: None,
            last,
        });
        self.shared.submit(state, Change::Create { meta, note }, 0).wait()
    }

    fn append(&self, batch: Append) -> Result<Ticket, StoreError> {
        let Append { branch, after, records, blobs } = batch;
        let mut head = after;
        let mut bytes = 0_usize;
        for record in &records {
            limit("a record", record.len(), RECORD_BYTES_MAX)?;
            bytes += record.len();
            head = head.follow(record).map_err(|link| StoreError::BadRecord { branch: branch.clone(), link })?;
        }
        limit("an append", bytes, APPEND_BYTES_MAX)?;
        for (id, content) in &blobs {
            if BlobId::of(content) != *id {
                return Err(StoreError::BlobMisnamed { id: *id });
            }
            self.put_blob(content)?;
        }
        let mut state = self.shared.with_room()?;
        let group = Arc::clone(&state.group);
        let entry = state.catalog.get_mut(&branch)?;
        if let Some(damage) = &entry.damage {
            return Err(damage.clone().into());
        }
        if entry.accepted != after {
            return Err(StoreError::StaleHead { branch, asked: after.count, has: entry.accepted.count });
        }
        if records.is_empty() {
            return Ok(Ticket::new(Arc::clone(&entry.last), head));
        }
        entry.accepted = head;
        entry.last = group;
        let change = Change::Append { branch, number: entry.meta.number, first: after.count, records, head };
        Ok(Ticket::new(self.shared.submit(state, change, bytes), head))
    }

    fn read(
        &self,
        branch: &BranchId,
        from: u64,
        visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let (extents, head, damage) = self.settled(branch)?;
        if let Some(damage) = damage {
            return Err(damage.into());
        }
        let mut next = from;
        for extent in extents.into_iter().filter(|extent| extent.until > from) {
            let extent = Extent { from: extent.from.max(from), ..extent };
            let mut misplaced = None;
            let flow = self.shared.backend.read(extent, &mut |record| {
                let seq = Seq::new(next);
                match Envelope::of(record) {
                    None => misplaced = Some(BadLink::Malformed { seq }),
                    Some(envelope) if envelope.seq != seq => {
                        misplaced = Some(BadLink::Position { seq, found: envelope.seq });
                    }
                    Some(_) => {
                        next += 1;
                        return visit(record);
                    }
                }
                ControlFlow::Break(())
            })?;
            let short = BadLink::Truncated { seq: Seq::new(next), expected: head.count };
            let short = (flow.is_continue() && next < extent.until).then_some(short);
            if let Some(link) = misplaced.or(short) {
                return Err(Damage::Record { branch: branch.clone(), link, whole: named(&link) }.into());
            }
            if flow.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn head(&self, branch: &BranchId) -> Result<Head, StoreError> {
        Ok(self.shared.lock().catalog.get(branch)?.accepted)
    }

    fn branches(&self) -> Result<Vec<BranchInfo>, StoreError> {
        Ok(self.shared.lock().catalog.list())
    }

    fn set_note(&self, branch: &BranchId, note: Vec<u8>) -> Result<(), StoreError> {
        limit("a note", note.len(), NOTE_BYTES_MAX)?;
        let mut state = self.shared.with_room()?;
        let group = Arc::clone(&state.group);
        let note: Arc<[u8]> = note.into();
        let entry = state.catalog.get_mut(branch)?;
        entry.note = Arc::clone(&note);
        entry.last = group;
        let change = Change::Note { number: entry.meta.number, note };
        self.shared.submit(state, change, 0).wait()
    }

    fn discard(&self, branch: &BranchId) -> Result<(), StoreError> {
        let mut state = self.shared.with_room()?;
        let entry = state.catalog.get(branch)?;
        if entry.children > 0 {
            return Err(StoreError::BranchShared { branch: branch.clone(), children: entry.children });
        }
        let number = entry.meta.number;
        state.catalog.remove(branch);
        self.shared.submit(state, Change::Discard { branch: branch.clone(), number }, 0).wait()
    }

    fn verify(&self, branch: &BranchId, progress: &mut dyn FnMut(u64)) -> Result<Head, StoreError> {
        let number = self.shared.lock().catalog.get(branch)?.meta.number;
        // The slot first: it never runs ahead of the log, and the log may move on meanwhile.
        let heads = self.shared.heads.as_ref();
        let slot = heads.map(|heads| heads.lock().unwrap_or_else(PoisonError::into_inner).reread(number));
        let (extents, end, noted) = self.settled(branch)?;
        let apart = match slot {
            None => None,
            Some(Standing::Whole(Slot { branch: of, head, .. })) if of == *branch => Some(head),
            Some(_) => return Err(Damage::Head { branch: branch.clone(), count: end.count }.into()),
        };
        let damaged = |link: BadLink| Damage::Record { branch: branch.clone(), link, whole: named(&link) };
        // What was read from the log itself when the store opened cannot vouch for the log.
        let end = apart.filter(|apart| apart.count == end.count).unwrap_or(end);
        let mut walk = ChainWalk::new(Head::default(), end);
        let mut fault = None;
        for extent in extents {
            let flow = self.shared.backend.read(extent, &mut |record| {
                fault = walk.step(record).err();
                let head = walk.head();
                if fault.is_none() && apart.is_some_and(|apart| apart.count == head.count && apart.hash != head.hash) {
                    fault = Some(BadLink::Head { seq: Seq::new(head.count.saturating_sub(1)) });
                }
                if head.count.is_multiple_of(PROGRESS_RECORDS) {
                    progress(head.count);
                }
                if fault.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
            if flow.is_break() || (walk.head().count < extent.until && !walk.is_in_doubt()) {
                break;
            }
        }
        let head = match fault.map_or_else(|| walk.finish(), Err) {
            Ok(head) => head,
            Err(link) => return Err(damaged(link).into()),
        };
        if let Some(short) = apart.filter(|apart| apart.count > head.count) {
            return Err(damaged(BadLink::Truncated { seq: Seq::new(head.count), expected: short.count }).into());
        }
        progress(head.count);
        noted.map_or(Ok(head), |damage| Err(damage.into()))
    }

    fn blob(&self, id: BlobId) -> Result<Option<Arc<[u8]>>, StoreError> {
        match &self.blobs {
            BlobRoom::Memory(blobs) => Ok(blobs.get(id)),
            BlobRoom::Files(files) => files.get(id),
        }
    }

    fn put_blob(&self, content: &Arc<[u8]>) -> Result<BlobId, StoreError> {
        limit("a blob", content.len(), BLOB_BYTES_MAX)?;
        match &self.blobs {
            BlobRoom::Memory(blobs) => Ok(blobs.put(Arc::clone(content))),
            BlobRoom::Files(files) => {
                let id = BlobId::of(content);
                files.put(id, content).map(|()| id)
            }
        }
    }

    fn findings(&self) -> Vec<Finding> {
        self.findings.clone()
    }
}

impl Shared {
    fn new(backend: Box<dyn Backend>, heads: Option<Heads>, catalog: Catalog, path: PathBuf) -> Self {
        let state =
            State { catalog, queue: Vec::new(), queue_bytes: 0, group: Arc::default(), failure: None, closing: false };
        Self {
            state: Mutex::new(state),
            work: Condvar::new(),
            room: Condvar::new(),
            backend,
            heads: heads.map(Mutex::new),
            path: Arc::new(path),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the state once the queue takes more.
    fn with_room(&self) -> Result<MutexGuard<'_, State>, StoreError> {
        let mut state = self.lock();
        loop {
            if let Some(failure) = &state.failure {
                return Err(failure.clone().into());
            }
            if state.queue_bytes <= QUEUE_BYTES_MAX {
                return Ok(state);
            }
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes a change that the catalog shows already, and returns the group that it will be acknowledged with.
    fn submit(&self, mut state: MutexGuard<'_, State>, change: Change, bytes: usize) -> Arc<Group> {
        if self.heads.is_none() {
            return self.commit_at_once(state, &change);
        }
        let first = state.queue.is_empty();
        state.queue.push(change);
        state.queue_bytes += bytes;
        let group = Arc::clone(&state.group);
        drop(state);
        if first {
            self.work.notify_one();
        }
        group
    }

    fn commit_at_once(&self, mut state: MutexGuard<'_, State>, change: &Change) -> Arc<Group> {
        let group = std::mem::take(&mut state.group);
        let outcome = self.backend.commit(std::slice::from_ref(change)).map_err(|error| self.failure(&error));
        match &outcome {
            Ok(()) => state.mark_durable(std::slice::from_ref(change)),
            Err(failure) => state.failure = Some(failure.clone()),
        }
        group.settle(outcome);
        group
    }

    fn commit_until_closed(&self) {
        loop {
            let mut state = self.lock();
            while state.queue.is_empty() {
                if state.closing {
                    return;
                }
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            let changes = std::mem::take(&mut state.queue);
            let group = std::mem::take(&mut state.group);
            state.queue_bytes = 0;
            drop(state);
            self.room.notify_all();
            let outcome = self.commit(&changes);
            let mut state = self.lock();
            match outcome {
                Ok(()) => {
                    state.mark_durable(&changes);
                    drop(state);
                    group.settle(Ok(()));
                    if let Err(error) = self.note_heads(&changes) {
                        self.lock().fail(self.failure(&error));
                        self.room.notify_all();
                    }
                }
                Err(error) => {
                    let failure = self.failure(&error);
                    state.fail(failure.clone());
                    drop(state);
                    group.settle(Err(failure));
                    self.room.notify_all();
                }
            }
        }
    }

    /// Makes a group durable: first the places where the heads of new branches will stand, then the changes.
    fn commit(&self, changes: &[Change]) -> Result<(), StoreError> {
        if let Some(heads) = &self.heads {
            let mut heads = heads.lock().unwrap_or_else(PoisonError::into_inner);
            let mut any = false;
            for change in changes {
                if let Change::Create { meta, .. } = change {
                    let slot = Slot { state: SlotState::Intended, branch: meta.id.clone(), head: meta.base };
                    heads.set(meta.number, &slot);
                    any = true;
                }
            }
            if any {
                heads.write()?;
                heads.sync()?;
            }
        }
        match catch_unwind(AssertUnwindSafe(|| self.backend.commit(changes))) {
            Ok(outcome) => outcome,
            Err(_) => {
                let reason = "it panicked during a commit".to_owned();
                Err(StoreError::Database { path: self.path.as_ref().clone(), reason })
            }
        }
    }

    /// Writes the new heads beside the log. After the acknowledgement: a head that lags is legal, one that leads is not.
    fn note_heads(&self, changes: &[Change]) -> Result<(), StoreError> {
        let Some(heads) = &self.heads else { return Ok(()) };
        let mut heads = heads.lock().unwrap_or_else(PoisonError::into_inner);
        for change in changes {
            let (number, branch, head, state) = match change {
                Change::Create { meta, .. } => (meta.number, &meta.id, meta.base, SlotState::Made),
                Change::Append { branch, number, head, .. } => (*number, branch, *head, SlotState::Made),
                Change::Discard { branch, number } => (*number, branch, Head::default(), SlotState::Discarded),
                Change::Note { .. } => continue,
            };
            heads.set(number, &Slot { state, branch: branch.clone(), head });
        }
        heads.write()
    }

    fn failure(&self, error: &StoreError) -> Failure {
        Failure { path: Arc::clone(&self.path), reason: error.to_string().into() }
    }
}

impl State {
    fn mark_durable(&mut self, changes: &[Change]) {
        for change in changes {
            let (branch, head) = match change {
                Change::Create { meta, .. } => (&meta.id, meta.base),
                Change::Append { branch, head, .. } => (branch, *head),
                Change::Note { .. } | Change::Discard { .. } => continue,
            };
            if let Some(entry) = self.catalog.branches.get_mut(branch) {
                entry.durable = Some(head);
            }
        }
    }

    /// Takes no more, and forgets what was accepted and did not become durable.
    fn fail(&mut self, failure: Failure) {
        self.queue.clear();
        self.queue_bytes = 0;
        let lost: Vec<BranchId> =
            self.catalog.branches.iter().filter(|(_, e)| e.durable.is_none()).map(|(id, _)| id.clone()).collect();
        for id in lost.iter().rev() {
            self.catalog.remove(id);
        }
        for entry in self.catalog.branches.values_mut() {
            entry.accepted = entry.durable.unwrap_or(entry.meta.base);
        }
        std::mem::take(&mut self.group).settle(Err(failure.clone()));
        self.failure = Some(failure);
    }
}

fn limit(what: &'static str, bytes: usize, bytes_max: usize) -> Result<(), StoreError> {
    if bytes > bytes_max {
        return Err(StoreError::TooLarge { what, bytes: bytes as u64, bytes_max: bytes_max as u64 });
    }
    Ok(())
}
