//! Where messages lie: folders by address, the numbers that they give, flags, reading marks, and the indexes that find a message by its id
//! and the rest of its thread. All of it is a fold of [`MailEvent`]s.

use std::fmt;
use std::sync::Arc;

use dayshift_engine::{
    Applying, Canonical, Collection, Frame, Graded, Key, ReadKind, Seq, SimTime, SmolStr, StateDigest,
};
use imbl::{OrdMap, OrdSet};

use super::event::{Delivery, MailEvent, Uid};
use super::index::{Folded, Indexed};
use super::message::{Mailbox, Message};

/// Where new mail comes in.
pub(crate) const INBOX: &str = "INBOX";
/// Where sent mail is kept.
pub(crate) const SENT: &str = "Sent";
/// Where unfinished mail is kept.
pub(crate) const DRAFTS: &str = "Drafts";
/// Where deleted mail goes.
pub(crate) const TRASH: &str = "Trash";
/// The folders that every mailbox has.
pub(crate) const STANDARD_FOLDERS: [&str; 5] = [INBOX, SENT, DRAFTS, "Archive", TRASH];

/// A message in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) message: Arc<Message>,
    /// When it came into its mailbox. Like every moment, it is not graded.
    pub(crate) received: SimTime,
    pub(crate) bcc: Arc<[Mailbox]>,
}

impl Graded for Placed {
    fn canonical(&self, into: &mut Canonical) {
        self.message.canonical(into);
        for mailbox in &*self.bcc {
            into.text(&mailbox.address);
        }
    }
}

/// A message's flags, sorted; never empty in a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Flags(pub(crate) Vec<SmolStr>);

impl Graded for Flags {
    fn canonical(&self, into: &mut Canonical) {
        self.0.iter().for_each(|flag| into.text(flag));
    }
}

/// Something whose presence is all there is to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark;

impl Graded for Mark {
    fn canonical(&self, _into: &mut Canonical) {}
}

/// One folder of one mailbox.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    /// Changes if a folder of the same name is ever made anew (RFC 3501, 2.3.1.1): the second in which it got its first message.
    pub(crate) uid_validity: u32,
    /// The number that the next message gets.
    pub(crate) uid_next: Uid,
    pub(crate) messages: Collection<Uid, Placed>,
    pub(crate) flags: Collection<Uid, Flags>,
    pub(crate) seen: Collection<Uid, Mark>,
    /// What a search looks at, a member for each of `messages`.
    pub(crate) index: OrdMap<Uid, Indexed>,
    /// The messages in the order in which they came in.
    pub(crate) by_time: OrdSet<(SimTime, Uid)>,
}

impl Folder {
    /// Returns the folder that `path` would be if nothing had come into it yet.
    pub(crate) fn empty(path: &FolderPath) -> Self {
        Self::new(&path.address, &path.folder, SimTime::default())
    }

    fn new(address: &str, folder: &str, time: SimTime) -> Self {
        let seconds = u32::try_from(time.as_millis() / 1000).unwrap_or(1);
        Self {
            uid_validity: seconds.max(1),
            uid_next: 1,
            messages: Collection::new(folder_key(address, folder)),
            flags: Collection::new(format!("mail:{address}/{folder}#flags/")),
            seen: Collection::ungraded(format!("mail:{address}/{folder}#seen/")),
            index: OrdMap::new(),
            by_time: OrdSet::new(),
        }
    }
}

/// A message on its way from one place to another, with all that belongs to its place.
struct Lying {
    placed: Placed,
    folded: Arc<Folded>,
    flags: Vec<SmolStr>,
    seen: bool,
}

/// The name of a folder in the whole world.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FolderPath {
    pub(crate) address: SmolStr,
    pub(crate) folder: SmolStr,
}

/// A message id in one mailbox.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Owned {
    pub(crate) address: SmolStr,
    pub(crate) id: SmolStr,
}

impl fmt::Display for Owned {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.address, self.id)
    }
}

/// The places in one mailbox of the messages with one id, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Places(pub(crate) Vec<(SmolStr, Uid)>);

impl Graded for Places {
    fn canonical(&self, _into: &mut Canonical) {}
}

/// A message by its id, wherever it lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Known(pub(crate) Arc<Message>);

impl Graded for Known {
    fn canonical(&self, _into: &mut Canonical) {}
}

/// How a message, known or only referred to, hangs together with others: by In-Reply-To and References, as in Zawinski's algorithm.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Links {
    pub(crate) parent: Option<SmolStr>,
    pub(crate) children: OrdSet<SmolStr>,
}

impl Graded for Links {
    fn canonical(&self, _into: &mut Canonical) {}
}

/// All mail. See [`crate::mail`] for the keys.
#[derive(Clone, Debug)]
pub struct MailState {
    pub(crate) folders: OrdMap<FolderPath, Arc<Folder>>,
    /// The folders beside the standard ones, by address.
    pub(crate) made: OrdMap<SmolStr, Arc<Collection<SmolStr, Mark>>>,
    pub(crate) places: Collection<Owned, Places>,
    pub(crate) known: Collection<SmolStr, Known>,
    pub(crate) links: Collection<SmolStr, Links>,
    /// How many messages of one content are known, by the id of the first of them, where there are several. Derived from `known`.
    copies: OrdMap<SmolStr, u32>,
    digest: StateDigest,
}

impl Default for MailState {
    fn default() -> Self {
        Self {
            folders: OrdMap::new(),
            made: OrdMap::new(),
            places: Collection::ungraded("mail:at/"),
            known: Collection::ungraded("mail:id/"),
            links: Collection::ungraded("mail:thread/"),
            copies: OrdMap::new(),
            digest: StateDigest::default(),
        }
    }
}

/// Returns the key of a folder's membership, which starts the keys of its messages.
pub(crate) fn folder_key(address: &str, folder: &str) -> String {
    format!("mail:{address}/{folder}/")
}

impl MailState {
    /// Returns the folder, or notes that it was found empty: it gets its state with its first message.
    pub(crate) fn folder(&self, frame: &Frame, address: &str, folder: &str) -> Option<&Folder> {
        let found = self.peek_folder(address, folder);
        if found.is_none() {
            frame.note(ReadKind::Membership, Key::new(folder_key(address, folder)), Seq::default());
        }
        found
    }

    pub(crate) fn peek_folder(&self, address: &str, folder: &str) -> Option<&Folder> {
        self.folders.get(&FolderPath { address: address.into(), folder: folder.into() }).map(Arc::as_ref)
    }

    /// Returns the names of the folders of a mailbox: the standard ones, then the others in order.
    pub(crate) fn folder_names(&self, frame: &Frame, address: &str) -> Vec<SmolStr> {
        let standard = STANDARD_FOLDERS.iter().map(|name| SmolStr::from(*name));
        match self.made.get(address) {
            Some(made) => standard.chain(made.list(frame).cloned()).collect(),
            None => {
                frame.note(ReadKind::Membership, Key::new(format!("mail:{address}/")), Seq::default());
                standard.collect()
            }
        }
    }

    /// Returns how many messages are known at least that have the content of the one called `first`, without noting a read: so many ids are taken.
    pub(crate) fn copies(&self, first: &SmolStr) -> u32 {
        self.copies.get(first).copied().unwrap_or_else(|| u32::from(self.known.peek(first).is_some()))
    }

    /// Counts a message that is known now, if it is the next copy of another one: `CONTENT.3@DOMAIN`.
    fn count_copy(&mut self, id: &str) {
        let Some((local, domain)) = id.rsplit_once('@') else { return };
        let Some((content, number)) = local.rsplit_once('.') else { return };
        let Ok(mut number) = number.parse::<u32>() else { return };
        let first = SmolStr::from(format!("{content}@{domain}"));
        if number < 2 || self.copies(&first) + 1 != number {
            return;
        }
        // Messages from outside can have any id, also that of a copy to come.
        while self.known.peek(&SmolStr::from(format!("{content}.{}@{domain}", number + 1))).is_some() {
            number += 1;
        }
        self.copies.insert(first, number);
    }

    pub(crate) fn graded_digest(&self) -> StateDigest {
        self.digest
    }

    pub(crate) fn apply_event(&mut self, event: MailEvent, applying: &mut Applying<'_>) {
        match event {
            MailEvent::MessageDelivered { message, received, places } => {
                self.deliver(message, received, places, applying)
            }
            MailEvent::DraftSaved { address, message, bcc, replaces, saved } => {
                if let Some(uid) = replaces {
                    self.take(&address, DRAFTS, uid, applying);
                }
                let flags = vec![SmolStr::new_static("\\Draft")];
                let place = Delivery { address, folder: DRAFTS.into(), flags, seen: true, bcc };
                self.deliver(message, saved, vec![place], applying);
            }
            MailEvent::MessageMoved { address, from, uid, to } => {
                if let Some(lying) = self.take(&address, &from, uid, applying) {
                    self.make_folder(&address, &to, applying);
                    self.put(&address, &to, lying, applying);
                }
            }
            MailEvent::MessageDeleted { address, folder, uid } => {
                self.take(&address, &folder, uid, applying);
            }
            MailEvent::FlagsChanged { address, folder, uid, flags } => {
                self.change(&address, &folder, applying, |folder, applying| {
                    if folder.messages.peek(&uid).is_none() {
                        return;
                    }
                    if flags.is_empty() {
                        folder.flags.remove(applying, &uid);
                    } else {
                        folder.flags.insert(applying, uid, Flags(flags));
                    }
                });
            }
            MailEvent::MessageSeen { address, folder, uid, seen } => {
                self.change(&address, &folder, applying, |folder, applying| {
                    if seen && folder.messages.peek(&uid).is_some() {
                        folder.seen.insert(applying, uid, Mark);
                    } else {
                        folder.seen.remove(applying, &uid);
                    }
                });
            }
            MailEvent::FolderCreated { address, folder } => self.make_folder(&address, &folder, applying),
        }
    }

    fn deliver(&mut self, message: Message, received: SimTime, places: Vec<Delivery>, applying: &mut Applying<'_>) {
        let message = Arc::new(message);
        self.link(&message, applying);
        self.known.insert(applying, message.id.clone(), Known(Arc::clone(&message)));
        self.count_copy(&message.id);
        let folded = Arc::new(Folded::of(&message, &[]));
        for place in places {
            self.make_folder(&place.address, &place.folder, applying);
            let folded = match place.bcc.as_slice() {
                [] => Arc::clone(&folded),
                bcc => Arc::new(Folded::of(&message, bcc)),
            };
            let placed = Placed { message: Arc::clone(&message), received, bcc: place.bcc.into() };
            let lying = Lying { placed, folded, flags: place.flags, seen: place.seen };
            self.put(&place.address, &place.folder, lying, applying);
        }
    }

    fn put(&mut self, address: &SmolStr, folder: &SmolStr, lying: Lying, applying: &mut Applying<'_>) {
        let id = lying.placed.message.id.clone();
        let mut uid = 0;
        self.change(address, folder, applying, |folder, applying| {
            uid = folder.uid_next;
            folder.uid_next += 1;
            let Lying { placed, folded, flags, seen } = lying;
            let has_attachment = !placed.message.attachments.is_empty();
            let id = placed.message.id.clone();
            folder.index.insert(uid, Indexed { id, received: placed.received, has_attachment, folded });
            folder.by_time.insert((placed.received, uid));
            folder.messages.insert(applying, uid, placed);
            if !flags.is_empty() {
                folder.flags.insert(applying, uid, Flags(flags));
            }
            if seen {
                folder.seen.insert(applying, uid, Mark);
            }
        });
        let key = Owned { address: address.clone(), id };
        let mut places = self.places.peek(&key).cloned().unwrap_or_default();
        let place = (folder.clone(), uid);
        if let Err(at) = places.0.binary_search(&place) {
            places.0.insert(at, place);
        }
        self.places.insert(applying, key, places);
    }

    fn take(&mut self, address: &SmolStr, folder: &str, uid: Uid, applying: &mut Applying<'_>) -> Option<Lying> {
        let mut taken = None;
        self.change(address, folder, applying, |folder, applying| {
            let (placed, indexed) = (folder.messages.remove(applying, &uid), folder.index.remove(&uid));
            let Some((placed, indexed)) = placed.zip(indexed) else { return };
            folder.by_time.remove(&(placed.received, uid));
            let flags = folder.flags.remove(applying, &uid).map(|flags| flags.0).unwrap_or_default();
            let seen = folder.seen.remove(applying, &uid).is_some();
            taken = Some(Lying { placed, folded: indexed.folded, flags, seen });
        });
        let id = taken.as_ref().map(|lying| lying.placed.message.id.clone())?;
        let key = Owned { address: address.clone(), id };
        if let Some(mut places) = self.places.peek(&key).cloned() {
            places.0.retain(|place| *place != (folder.into(), uid));
            if places.0.is_empty() {
                self.places.remove(applying, &key);
            } else {
                self.places.insert(applying, key, places);
            }
        }
        taken
    }

    /// Changes a folder, which gets its state now if it has none, and keeps the digest of all folders.
    fn change(
        &mut self,
        address: &str,
        folder: &str,
        applying: &mut Applying<'_>,
        change: impl FnOnce(&mut Folder, &mut Applying<'_>),
    ) {
        let path = FolderPath { address: address.into(), folder: folder.into() };
        let time = applying.time;
        let slot = self.folders.entry(path).or_insert_with(|| Arc::new(Folder::new(address, folder, time)));
        let folder = Arc::make_mut(slot);
        self.digest -= folder.messages.digest();
        self.digest -= folder.flags.digest();
        change(folder, applying);
        self.digest += folder.messages.digest();
        self.digest += folder.flags.digest();
    }

    fn make_folder(&mut self, address: &SmolStr, folder: &SmolStr, applying: &mut Applying<'_>) {
        if STANDARD_FOLDERS.contains(&folder.as_str()) {
            return;
        }
        let new = || Arc::new(Collection::new(format!("mail:{address}/")));
        let made = Arc::make_mut(self.made.entry(address.clone()).or_insert_with(new));
        if made.peek(folder).is_some() {
            return;
        }
        self.digest -= made.digest();
        made.insert(applying, folder.clone(), Mark);
        self.digest += made.digest();
    }

    /// Hangs a message into its thread. The ids that it refers to form a chain, whether their messages are known or not; what a message says
    /// of itself counts more than what others say of it.
    fn link(&mut self, message: &Message, applying: &mut Applying<'_>) {
        let mut before: Option<&SmolStr> = None;
        for id in message.ancestors() {
            if let Some(parent) = before
                && self.links.peek(id).is_none_or(|links| links.parent.is_none())
            {
                self.hang(id, parent, applying);
            }
            before = Some(id);
        }
        if let Some(parent) = before {
            self.hang(&message.id, parent, applying);
        }
    }

    fn hang(&mut self, id: &SmolStr, parent: &SmolStr, applying: &mut Applying<'_>) {
        let mut links = self.links.peek(id).cloned().unwrap_or_default();
        // What nothing hangs below is above nothing: a new message need not climb a long thread.
        let can_be_above = id == parent || !links.children.is_empty();
        if links.parent.as_ref() == Some(parent) || (can_be_above && self.is_above(id, parent)) {
            return;
        }
        if let Some(old) = links.parent.replace(parent.clone()) {
            self.links.update(applying, &old, |links| drop(links.children.remove(id)));
        }
        self.links.insert(applying, id.clone(), links);
        let mut above = self.links.peek(parent).cloned().unwrap_or_default();
        above.children.insert(id.clone());
        self.links.insert(applying, parent.clone(), above);
    }

    /// Returns whether `id` is `other` or above it, so that hanging it below would close a circle.
    fn is_above(&self, id: &SmolStr, other: &SmolStr) -> bool {
        let mut current = Some(other);
        while let Some(here) = current {
            if here == id {
                return true;
            }
            current = self.links.peek(here).and_then(|links| links.parent.as_ref());
        }
        false
    }
}
