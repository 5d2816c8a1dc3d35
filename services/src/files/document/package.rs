//! The archive that an office document is: parts by their names, unpacked within a limit, and read as XML. Entities that a document defines
//! by itself are left out, so that none can grow.

use std::io::{Cursor, Read};

use dayshift_engine::Budget;
use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use zip::ZipArchive;

use super::{DOCUMENT_PARTS_MAX, DOCUMENT_UNPACKED_BYTES_MAX, Form, Kind, Sniffed, Unreadable};
use crate::files::text::{decode, without_mark};

/// The longest name of a media type in an OpenDocument archive, in bytes.
const MEDIA_TYPE_BYTES_MAX: u64 = 128;

/// What it costs to find and open a part, without what is in it.
const PART_WORK: u64 = 500;
/// What it costs to visit a node, without its text.
const NODE_WORK: u64 = 8;

/// The part by which each kind of Office Open XML document is known, and the media type of the whole.
const OFFICE: [(&str, Kind, &str); 3] = [
    ("word/document.xml", Kind::Word, "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("ppt/presentation.xml", Kind::Slides, "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ("xl/workbook.xml", Kind::Workbook, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
];

const OPEN_DOCUMENT: [&str; 3] = [
    "application/vnd.oasis.opendocument.presentation",
    "application/vnd.oasis.opendocument.spreadsheet",
    "application/vnd.oasis.opendocument.text",
];

/// An archive, and how much of it may still be unpacked.
pub(super) struct Package<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    bytes_left: usize,
    budget: &'a Budget,
}

/// One step through an XML part.
pub(super) enum Node<'x> {
    /// An element begins.
    Open(BytesStart<'x>),
    /// The element of this local name ends.
    Close(String),
    /// Text between two tags.
    Text(String),
}

/// A relationship from one part to another.
pub(super) struct Relation {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) target: String,
}

impl<'a> Package<'a> {
    pub(super) fn open(bytes: &'a [u8], budget: &'a Budget) -> Result<Self, Unreadable> {
        let archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| damaged(error.to_string()))?;
        if archive.len() > DOCUMENT_PARTS_MAX {
            return Err(Unreadable::TooMuch { what: "parts", max: DOCUMENT_PARTS_MAX });
        }
        Ok(Self { archive, bytes_left: DOCUMENT_UNPACKED_BYTES_MAX, budget })
    }

    /// Returns what reading this may still cost.
    pub(super) fn budget(&self) -> &'a Budget {
        self.budget
    }

    /// Returns what kind of document this is, if it is one.
    pub(super) fn sniff(mut self) -> Option<Sniffed> {
        if let Some((_, kind, media_type)) = OFFICE.into_iter().find(|(part, ..)| self.has(part)) {
            return Some(Sniffed { media_type, form: Form::Document(kind) });
        }
        let mut named = String::new();
        let part = self.archive.by_name("mimetype").ok()?;
        part.take(MEDIA_TYPE_BYTES_MAX).read_to_string(&mut named).ok()?;
        let media_type = OPEN_DOCUMENT.into_iter().find(|known| *known == named.trim())?;
        Some(Sniffed { media_type, form: Form::Document(Kind::OpenDocument) })
    }

    /// Returns the names of the parts that start with `start`, sorted.
    pub(super) fn names(&self, start: &str) -> Vec<String> {
        let names = self.archive.file_names().flatten().filter(|name| name.starts_with(start));
        let mut names: Vec<String> = names.map(std::borrow::Cow::into_owned).collect();
        names.sort();
        names
    }

    /// Returns the text of the XML in `part`; nothing if it is not there.
    pub(super) fn xml(&mut self, part: &str) -> Result<Option<String>, Unreadable> {
        self.budget.work(PART_WORK)?;
        if !self.has(part) {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        let limit = (self.bytes_left as u64).min(self.budget.bytes_left()).min(self.budget.work_left());
        let inside = self.archive.by_name(part).map_err(|error| damaged(error.to_string()))?;
        let read = inside.take(limit + 1).read_to_end(&mut bytes);
        read.map_err(|error| damaged(error.to_string()))?;
        self.take(bytes.len())?;
        let text = match String::from_utf8(bytes) {
            Ok(text) if without_mark(&text).len() == text.len() => text,
            Ok(text) => without_mark(&text).to_owned(),
            Err(other) => {
                let other = other.into_bytes();
                let (text, _) = decode(&other).ok_or_else(|| damaged(format!("its part {part} is no text")))?;
                without_mark(&text).to_owned()
            }
        };
        Ok(Some(text))
    }

    /// Unpacks every part and throws it away: refuses what a library would unpack without a limit.
    pub(super) fn check_size(mut self) -> Result<(), Unreadable> {
        for index in 0..self.archive.len() {
            self.budget.work(PART_WORK)?;
            let inside = self.archive.by_index(index).map_err(|error| damaged(error.to_string()))?;
            let limit = (self.bytes_left as u64).min(self.budget.bytes_left()).min(self.budget.work_left());
            let taken = std::io::copy(&mut inside.take(limit + 1), &mut std::io::sink());
            let taken = usize::try_from(taken.map_err(|error| damaged(error.to_string()))?).unwrap_or(usize::MAX);
            self.take(taken)?;
        }
        Ok(())
    }

    fn take(&mut self, bytes: usize) -> Result<(), Unreadable> {
        self.bytes_left = self.bytes_left.checked_sub(bytes).ok_or_else(Unreadable::unpacked)?;
        Ok(self.budget.bytes(bytes as u64)?)
    }

    /// Returns the relationships of `part` to others of the archive.
    pub(super) fn relations(&mut self, part: &str) -> Result<Vec<Relation>, Unreadable> {
        let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
        let Some(xml) = self.xml(&format!("{folder}/_rels/{name}.rels"))? else { return Ok(Vec::new()) };
        let mut relations = Vec::new();
        walk(&xml, self.budget, |node| {
            if let Node::Open(element) = node
                && element.local_name().as_ref() == "Relationship"
                && attribute(element, "TargetMode").as_deref() != Some("External")
            {
                relations.push(Relation {
                    id: attribute(element, "Id").unwrap_or_default(),
                    kind: attribute(element, "Type").unwrap_or_default(),
                    target: resolved(folder, &attribute(element, "Target").unwrap_or_default()),
                });
            }
            Ok(true)
        })?;
        Ok(relations)
    }

    fn has(&self, part: &str) -> bool {
        self.archive.index_for_name(part).is_some()
    }
}

/// Returns what kind of document an archive is or was that cannot be opened, by the names of parts in it.
pub(super) fn sniff_damaged(bytes: &[u8]) -> Option<Sniffed> {
    let names = |part: &str| memchr::memmem::find(bytes, part.as_bytes()).is_some();
    let office = OFFICE.into_iter().find(|(part, ..)| names(part));
    let office = office.map(|(_, kind, media_type)| Sniffed { media_type, form: Form::Document(kind) });
    office.or_else(|| {
        let media_type = OPEN_DOCUMENT.into_iter().find(|media_type| names(media_type))?;
        Some(Sniffed { media_type, form: Form::Document(Kind::OpenDocument) })
    })
}

/// Goes through `xml` node by node until `visit` says that it is enough.
pub(super) fn walk(
    xml: &str,
    budget: &Budget,
    mut visit: impl FnMut(&Node<'_>) -> Result<bool, Unreadable>,
) -> Result<(), Unreadable> {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().expand_empty_elements = true;
    loop {
        budget.work(NODE_WORK)?;
        let node = match reader.read_event().map_err(|error| damaged(error.to_string()))? {
            Event::Start(element) => Node::Open(element),
            Event::End(element) => Node::Close(element.local_name().as_ref().to_owned()),
            Event::Text(text) => Node::Text(text.xml10_content().into_owned()),
            Event::CData(text) => Node::Text(text.xml10_content().into_owned()),
            Event::GeneralRef(name) => match name.resolve_char_ref() {
                Ok(Some(character)) => Node::Text(character.to_string()),
                Ok(None) | Err(_) => match resolve_predefined_entity(&name) {
                    Some(text) => Node::Text(text.to_owned()),
                    None => continue,
                },
            },
            Event::Eof => return Ok(()),
            Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => continue,
        };
        if !visit(&node)? {
            return Ok(());
        }
    }
}

/// Returns the attribute of this local name.
pub(super) fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = element.attributes();
    let mut attributes = attributes.with_checks(false).flatten();
    let found = attributes.find(|attribute| attribute.key.local_name().as_ref() == name)?;
    found.normalized_value(quick_xml::XmlVersion::Implicit1_0).ok().map(std::borrow::Cow::into_owned)
}

/// Returns the part that `target` names, seen from `folder`.
fn resolved(folder: &str, target: &str) -> String {
    let mut names: Vec<&str> = if target.starts_with('/') { Vec::new() } else { folder.split('/').collect() };
    for name in target.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    names.join("/")
}

fn damaged(why: String) -> Unreadable {
    Unreadable::Damaged { what: "an office document", why }
}
