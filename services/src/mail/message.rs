//! One message: its bytes as they were sent, and what was understood of them once, when it came in. Where it lies, who flagged it and who
//! read it are not its business: one message is shared by every mailbox that holds it.

use dayshift_engine::{BlobId, Canonical, Content, Graded, SimTime, SmolStr};
use serde::{Deserialize, Serialize};

use super::limits::SNIPPET_CHARS_MAX;

/// A person's or a list's mail address, with the name that stands before it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Mailbox {
    /// The display name, decoded; empty if there is none.
    pub name: SmolStr,
    /// The address, lower case.
    pub address: SmolStr,
}

/// One part of a message that is not its body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The file name, decoded; made up from the position if the sender gave none.
    pub name: SmolStr,
    /// The media type, lower case, such as `application/pdf`.
    pub media_type: SmolStr,
    /// The length of the decoded content.
    pub bytes: u64,
    /// Whether the message shows it in its text, as HTML shows images.
    pub inline: bool,
}

/// A message and what was understood of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The Message-ID without its angle brackets, or one made from the content if the message has none.
    pub id: SmolStr,
    /// The bytes as they were sent or imported.
    pub source: Content,
    /// What is graded: the digest of the bytes of an imported message, or of what its writer chose in one that was written here, so that the
    /// moment of sending makes no difference between two worlds.
    pub identity: BlobId,
    /// The subject, decoded and unfolded.
    pub subject: SmolStr,
    /// Who it is from.
    pub from: Vec<Mailbox>,
    /// Where answers go, if not to `from`.
    pub reply_to: Vec<Mailbox>,
    /// Whom it is for.
    pub to: Vec<Mailbox>,
    /// Who gets a copy.
    pub cc: Vec<Mailbox>,
    /// The Date header, if it makes sense.
    pub date: Option<SimTime>,
    /// The id of the message that it answers.
    pub in_reply_to: Option<SmolStr>,
    /// The ids of its thread, oldest first.
    pub references: Vec<SmolStr>,
    /// Its parts that are not its body.
    pub attachments: Vec<Part>,
    /// The body as plain text with bare line feeds, cut at [`super::limits::TEXT_KEPT_BYTES_MAX`].
    pub text: SmolStr,
    /// The length of the whole body as plain text.
    pub text_bytes: u64,
    /// Whether there is an HTML body.
    pub html: bool,
}

impl Mailbox {
    /// Returns a mailbox without a name.
    #[must_use]
    pub fn bare(address: SmolStr) -> Self {
        Self { name: SmolStr::default(), address }
    }

    /// Returns `Name <address>`, or the bare address if there is no name. A name with characters that mean something in an address stands in quotation
    /// marks (RFC 5322, 3.2.3), so that what is shown can be sent to.
    #[must_use]
    pub fn show(&self) -> String {
        if self.name.is_empty() {
            return self.address.to_string();
        }
        let is_special = |each: char| "()<>[]:;@\\,\"".contains(each);
        let name: String = self.name.chars().map(|each| if each.is_control() { ' ' } else { each }).collect();
        if !name.contains(is_special) {
            return format!("{name} <{}>", self.address);
        }
        let mut quoted = String::with_capacity(name.len() + 2);
        for character in name.chars() {
            if matches!(character, '"' | '\\') {
                quoted.push('\\');
            }
            quoted.push(character);
        }
        format!("\"{quoted}\" <{}>", self.address)
    }
}

impl Message {
    /// Returns the first line or so of the body, on one line.
    #[must_use]
    pub fn snippet(&self) -> String {
        let mut snippet = String::new();
        let mut count = 0;
        for word in self.text.split_whitespace() {
            let length = word.chars().count() + usize::from(count > 0);
            if count + length > SNIPPET_CHARS_MAX {
                if count == 0 {
                    snippet.extend(word.chars().take(SNIPPET_CHARS_MAX));
                }
                snippet.push('…');
                break;
            }
            if count > 0 {
                snippet.push(' ');
            }
            snippet.push_str(word);
            count += length;
        }
        snippet
    }

    /// Returns who wrote and about what, as one line for the recipient.
    #[must_use]
    pub fn headline(&self) -> String {
        let from = self.from.first().map_or_else(|| "an unknown sender".to_owned(), Mailbox::show);
        if self.subject.is_empty() {
            format!("New mail from {from}.")
        } else {
            format!("New mail from {from}: {}", self.subject)
        }
    }

    /// Returns whether the text that is kept is the whole body.
    #[must_use]
    pub fn is_text_whole(&self) -> bool {
        self.text.len() as u64 == self.text_bytes
    }

    /// Returns the ids of the messages before this one in its thread, oldest first.
    pub fn ancestors(&self) -> impl Iterator<Item = &SmolStr> {
        let last = self.in_reply_to.as_ref().filter(|id| self.references.last() != Some(*id));
        self.references.iter().chain(last)
    }
}

impl Graded for Message {
    fn canonical(&self, into: &mut Canonical) {
        into.bytes(self.identity.as_bytes());
    }
}
