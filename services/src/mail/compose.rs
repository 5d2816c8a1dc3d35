//! From what somebody writes to the bytes of a message. The builder library writes RFC 5322 and MIME; everything that it would take from
//! the host (Date, Message-ID, the boundaries of parts) is set here from the content and the simulated time.

use std::sync::Arc;

use chrono_tz::Tz;
use dayshift_engine::{BlobId, Canonical, Context, Rejection, SimTime, SmolStr};
use mail_builder::MessageBuilder;
use mail_builder::headers::HeaderType;
use mail_builder::headers::address::Address;
use mail_builder::headers::content_type::ContentType;
use mail_builder::headers::message_id::MessageId;
use mail_builder::headers::raw::Raw;
use mail_builder::headers::text::Text;
use mail_builder::mime::{BodyPart, MimePart};

use super::address::Recipients;
use super::limits::{ATTACHMENTS_MAX, MESSAGE_BYTES_MAX, REFERENCES_BYTES_MAX, REFERENCES_MAX, SUBJECT_BYTES_MAX};
use super::message::{Mailbox, Message};
use super::parse::{parse, unix_lines};
use super::state::MailState;

/// A file to send along, read by who joins the services.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// The file name that the recipient sees.
    pub name: SmolStr,
    /// The media type, such as `application/pdf`; `application/octet-stream` if it is not known.
    pub media_type: SmolStr,
    /// The content.
    pub bytes: Arc<[u8]>,
}

/// A message before it has bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Letter {
    pub(crate) from: Mailbox,
    pub(crate) recipients: Recipients,
    pub(crate) subject: String,
    pub(crate) text: String,
    pub(crate) html: Option<String>,
    pub(crate) in_reply_to: Option<SmolStr>,
    pub(crate) references: Vec<SmolStr>,
    pub(crate) attachments: Vec<Attachment>,
}

impl Letter {
    /// Returns the message that this becomes at `context.time`, under an id that none in `mail` has. The blind recipients are not in it.
    ///
    /// # Errors
    ///
    /// `mail/bad-subject`, `mail/too-many-attachments`, `mail/bad-attachment-name` or `mail/message-too-large`.
    pub(crate) fn seal(mut self, zone: Tz, context: &Context<'_>, mail: &MailState) -> Result<Message, Rejection> {
        self.subject = self.subject.trim().to_owned();
        self.text = unix_lines(&self.text);
        self.check()?;
        let (identity, id) = self.identify(mail, context);
        trim(&mut self.references);
        let bytes = self.write(&id, identity, zone, context.time);
        if bytes.len() > MESSAGE_BYTES_MAX {
            return Err(Rejection::new(
                "mail/message-too-large",
                format!(
                    "the message has {} bytes with its attachments, at most {MESSAGE_BYTES_MAX} can be sent; attach less",
                    bytes.len()
                ),
            ));
        }
        let source = context.store(bytes.clone());
        Ok(Message { identity, id, ..parse(&bytes, source, context.budget())? })
    }

    fn check(&self) -> Result<(), Rejection> {
        if self.subject.chars().any(char::is_control) || self.subject.len() > SUBJECT_BYTES_MAX {
            return Err(Rejection::new(
                "mail/bad-subject",
                format!("a subject is one line of at most {SUBJECT_BYTES_MAX} bytes; put the rest into the body"),
            ));
        }
        if self.attachments.len() > ATTACHMENTS_MAX {
            return Err(Rejection::new(
                "mail/too-many-attachments",
                format!(
                    "a message carries at most {ATTACHMENTS_MAX} attachments, not {}; send several messages",
                    self.attachments.len()
                ),
            ));
        }
        let bad = |each: &&Attachment| {
            each.name.is_empty() || each.name.len() > 255 || each.name.chars().any(char::is_control)
        };
        if let Some(attachment) = self.attachments.iter().find(bad) {
            return Err(Rejection::new(
                "mail/bad-attachment-name",
                format!("{:?} is no name for an attachment; a name is one line of 1 to 255 bytes", attachment.name),
            ));
        }
        let sizes = self.attachments.iter().map(|attachment| attachment.bytes.len());
        let bytes = sizes.sum::<usize>() + self.text.len() + self.html.as_ref().map_or(0, String::len);
        if bytes > MESSAGE_BYTES_MAX {
            return Err(Rejection::new(
                "mail/message-too-large",
                format!(
                    "the message has {bytes} bytes with its attachments, at most {MESSAGE_BYTES_MAX} can be sent; attach less"
                ),
            ));
        }
        Ok(())
    }

    /// Returns the digest of what the writer chose, and a Message-ID made from it. The moment of writing and the position in the log stay
    /// out, so that the same letter is the same in two worlds; the same letter again gets the next free id.
    fn identify(&self, mail: &MailState, context: &Context<'_>) -> (BlobId, SmolStr) {
        let mut canonical = Canonical::default();
        for list in [std::slice::from_ref(&self.from), &self.recipients.to, &self.recipients.cc] {
            canonical.int(list.len() as i64);
            for mailbox in list {
                canonical.text(&mailbox.name);
                canonical.text(&mailbox.address);
            }
        }
        for text in [&self.subject, &self.text, self.html.as_ref().unwrap_or(&String::new())] {
            canonical.text(text);
        }
        canonical.bool(self.html.is_some());
        canonical.text(self.in_reply_to.as_deref().unwrap_or_default());
        self.references.iter().for_each(|id| canonical.text(id));
        for attachment in &self.attachments {
            canonical.text(&attachment.name);
            canonical.text(&attachment.media_type);
            canonical.bytes(BlobId::of(&attachment.bytes).as_bytes());
        }
        let content = canonical.digest().to_string();
        let domain = self.from.address.rsplit_once('@').map_or("localhost", |(_, domain)| domain);
        let (content_id, name) = (BlobId::of(content.as_bytes()), |copy: u32| -> SmolStr {
            if copy < 2 { format!("{content}@{domain}").into() } else { format!("{content}.{copy}@{domain}").into() }
        });
        // Of the copies that are there, the last one stands for all: each was written after the one before.
        let mut copy = mail.copies(&name(1)).max(1);
        while mail.known.contains(context.frame, &name(copy)) {
            copy += 1;
        }
        (content_id, name(copy))
    }

    fn write(&self, id: &str, identity: BlobId, zone: Tz, time: SimTime) -> Vec<u8> {
        let mut builder = MessageBuilder::new()
            .header("Message-ID", MessageId::new(id))
            .header("Date", Raw::new(date_text(zone, time)))
            .header("From", Address::new_address(name_of(&self.from), self.from.address.as_str()));
        for (header, list) in [("To", &self.recipients.to), ("Cc", &self.recipients.cc)] {
            if !list.is_empty() {
                builder = builder.header(header, address_list(list));
            }
        }
        builder = builder.header("Subject", Text::new(self.subject.as_str()));
        if let Some(parent) = &self.in_reply_to {
            builder = builder.header("In-Reply-To", MessageId::new(parent.as_str()));
        }
        if !self.references.is_empty() {
            builder = builder.header("References", MessageId::new_list(self.references.iter().map(SmolStr::as_str)));
        }
        builder = builder.header("MIME-Version", Raw::new("1.0")).body(self.body(identity));
        let mut bytes = Vec::new();
        builder.serialize(&mut bytes);
        bytes
    }

    fn body(&self, identity: BlobId) -> MimePart<'_> {
        let text = MimePart::new("text/plain", self.text.as_str());
        let body = match &self.html {
            None => text,
            Some(html) => multipart("alternative", identity, vec![text, MimePart::new("text/html", html.as_str())]),
        };
        if self.attachments.is_empty() {
            return body;
        }
        let mut parts = vec![body];
        parts.extend(self.attachments.iter().map(attached));
        multipart("mixed", identity, parts)
    }
}

/// Returns `time` as a Date header has it, on the clock of `zone`.
pub(crate) fn date_text(zone: Tz, time: SimTime) -> String {
    time.to_chrono().with_timezone(&zone).to_rfc2822()
}

/// Returns an attachment as a part.
fn attached(attachment: &Attachment) -> MimePart<'_> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/+-._".contains(&byte);
    let is_leaf = !attachment.media_type.starts_with("multipart/") && !attachment.media_type.starts_with("message/");
    let good = is_leaf && attachment.media_type.contains('/') && attachment.media_type.bytes().all(is_plain);
    let media_type = if good { attachment.media_type.as_str() } else { "application/octet-stream" };
    let content_type = ContentType::new(media_type).attribute("name", attachment.name.as_str());
    MimePart::new(content_type, BodyPart::Binary((&*attachment.bytes).into())).attachment(attachment.name.as_str())
}

/// Returns a multipart whose boundary comes from the content. It starts with `=_`, which neither encoding can produce.
fn multipart<'a>(subtype: &str, identity: BlobId, parts: Vec<MimePart<'a>>) -> MimePart<'a> {
    let boundary = format!("=_{subtype}_{}", identity.short());
    let content_type = ContentType::new(format!("multipart/{subtype}")).attribute("boundary", boundary);
    MimePart::new(content_type, BodyPart::Multipart(parts))
}

fn name_of(mailbox: &Mailbox) -> Option<&str> {
    Some(mailbox.name.as_str()).filter(|name| !name.is_empty())
}

/// Returns an address header: bare addresses where nobody has a name, as readers of raw headers compare them.
fn address_list(list: &[Mailbox]) -> HeaderType<'_> {
    if list.iter().all(|mailbox| mailbox.name.is_empty()) {
        let addresses: Vec<&str> = list.iter().map(|mailbox| mailbox.address.as_str()).collect();
        return Raw::new(addresses.join(", ")).into();
    }
    let named =
        |mailbox: &Mailbox| Address::new_address(name_of(mailbox).map(str::to_owned), mailbox.address.to_string());
    Address::new_list(list.iter().map(named).collect()).into()
}

/// Returns the bytes of a message with its header fields `names` taken out and `fields` put in front. Everything else stays as it is.
pub(crate) fn replace_headers(bytes: &[u8], names: &[&str], fields: &[(&str, String)]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 200);
    for (name, value) in fields {
        out.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
    }
    let mut rest = bytes;
    let mut is_dropping = false;
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |at| at + 1);
        let (line, after) = rest.split_at(end);
        if line == b"\r\n" || line == b"\n" {
            break;
        }
        if !matches!(line[0], b' ' | b'\t') {
            let name = line.split(|byte| *byte == b':').next().unwrap_or_default().trim_ascii_end();
            is_dropping = names.iter().any(|dropped| dropped.as_bytes().eq_ignore_ascii_case(name));
        }
        if !is_dropping {
            out.extend_from_slice(line);
        }
        rest = after;
    }
    out.extend_from_slice(rest);
    out
}

/// Takes out of the middle of `references` what is over the limits: the first id and the last ones tell where a message belongs (RFC 5537, 3.4.4).
fn trim(references: &mut Vec<SmolStr>) {
    /// How many of the last ids stay in any case.
    const LAST_MIN: usize = 3;
    let Some(first) = references.first() else { return };
    // With angle brackets and the blank before it.
    let bytes = |id: &SmolStr| id.len() + "<> ".len();
    let mut left = REFERENCES_BYTES_MAX.saturating_sub("References:".len() + bytes(first));
    let fitting = references[1..].iter().rev().take(REFERENCES_MAX - 1).enumerate().take_while(|(index, id)| {
        let fits = bytes(id) <= left;
        left = left.saturating_sub(bytes(id));
        fits || *index < LAST_MIN
    });
    let kept = fitting.count();
    references.drain(1..references.len() - kept);
}

/// Returns the From header's value for `mailbox`.
pub(crate) fn from_text(mailbox: &Mailbox) -> String {
    use mail_builder::headers::Header as _;
    let mut bytes = Vec::new();
    Address::new_address(name_of(mailbox), mailbox.address.as_str()).write_header(&mut bytes, "From: ".len());
    String::from_utf8_lossy(&bytes).trim_end().to_owned()
}
