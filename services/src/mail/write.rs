//! The calls that write mail: send, reply, forward, drafts. A message is composed once, parsed once, and placed in the sender's Sent folder
//! and in the INBOX of every recipient; every address has a mailbox.

use dayshift_engine::{Context, Decision, Rejection, SmolStr, ToolCall, Value, map};

use super::address::Recipients;
use super::compose::{Attachment, Letter, date_text, from_text, replace_headers};
use super::event::{Delivery, MailEvent};
use super::limits::{ATTACHMENTS_MAX, MESSAGE_BYTES_MAX};
use super::lookup::{Found, own_mailbox, show_all};
use super::message::{Mailbox, Message};
use super::parse::{self, clean_id};
use super::read::body_of;
use super::state::{DRAFTS, INBOX, MailState, SENT};
use crate::service::Desk;

impl MailState {
    pub(crate) fn decide_send(
        &self,
        call: &ToolCall,
        desk: &Desk,
        attachments: Vec<Attachment>,
        context: &Context<'_>,
    ) -> Result<Decision<MailEvent>, Rejection> {
        let letter = Letter {
            from: own_mailbox(desk)?,
            recipients: Recipients::of_call(call)?,
            subject: call.text("subject").to_owned(),
            text: call.text("body").to_owned(),
            html: call.optional_text("html").map(str::to_owned),
            attachments,
            ..Letter::default()
        };
        self.send(letter, desk, context)
    }

    pub(crate) fn decide_reply(
        &self,
        call: &ToolCall,
        desk: &Desk,
        attachments: Vec<Attachment>,
        context: &Context<'_>,
    ) -> Result<Decision<MailEvent>, Rejection> {
        let me = own_mailbox(desk)?;
        let found = self.find(context.frame, &me.address, call)?;
        let original = found.message();
        let mut recipients = answer_to(original, &me, call.tool == "mail.reply_all");
        let more = Recipients::of_call(call)?;
        recipients.cc.extend(more.cc);
        recipients.bcc.extend(more.bcc);
        recipients.tidy();
        let quoted = body_of(original, context.budget(), || context.load(&original.source))?;
        let when = desk.show(original.date.unwrap_or(found.placed.received));
        let writer = original.from.first().map(Mailbox::show).unwrap_or_default();
        let letter = Letter {
            from: me,
            recipients,
            subject: prefixed("Re: ", &original.subject),
            text: format!("{}\n\nOn {when}, {writer} wrote:\n{}", call.text("body").trim_end(), quote(&quoted)),
            html: call.optional_text("html").map(str::to_owned),
            in_reply_to: Some(original.id.clone()),
            references: lineage(original),
            attachments,
        };
        let mut decision = self.send(letter, desk, context)?;
        decision.events.extend(self.mark(&found, "\\Answered", desk, context));
        Ok(decision)
    }

    pub(crate) fn decide_forward(
        &self,
        call: &ToolCall,
        desk: &Desk,
        attachments: Vec<Attachment>,
        context: &Context<'_>,
    ) -> Result<Decision<MailEvent>, Rejection> {
        let me = own_mailbox(desk)?;
        let found = self.find(context.frame, &me.address, call)?;
        let original = found.message();
        let source = context.load(&original.source)?;
        let mut carried = Vec::new();
        // All or none: more than can be sent are refused before they are taken apart.
        let contents = parse::attachments(&source, |index| index <= ATTACHMENTS_MAX, context.budget())?;
        for (part, bytes) in original.attachments.iter().zip(contents) {
            carried.push(Attachment {
                name: tame(&part.name),
                media_type: part.media_type.clone(),
                bytes: bytes.into(),
            });
        }
        carried.extend(attachments);
        let when = desk.show(original.date.unwrap_or(found.placed.received));
        let body = body_of(original, context.budget(), || Ok(source))?;
        let text = format!(
            "{}\n\n---------- Forwarded message ----------\nFrom: {}\nDate: {when}\nSubject: {}\nTo: {}\n\n{body}",
            call.text("body").trim_end(),
            show_all(&original.from),
            original.subject,
            show_all(&original.to),
        );
        let letter = Letter {
            from: me,
            recipients: Recipients::of_call(call)?,
            subject: prefixed("Fwd: ", &original.subject),
            text: text.trim_start().to_owned(),
            html: call.optional_text("html").map(str::to_owned),
            in_reply_to: None,
            references: lineage(original),
            attachments: carried,
        };
        let mut decision = self.send(letter, desk, context)?;
        decision.events.extend(self.mark(&found, "$Forwarded", desk, context));
        Ok(decision)
    }

    pub(crate) fn decide_save_draft(
        &self,
        call: &ToolCall,
        desk: &Desk,
        attachments: Vec<Attachment>,
        context: &Context<'_>,
    ) -> Result<Decision<MailEvent>, Rejection> {
        let me = own_mailbox(desk)?;
        let replaces = match call.get("uid") {
            Some(_) => Some(self.find_draft(call, &me, context)?.uid),
            None => None,
        };
        let mut letter = Letter {
            from: me.clone(),
            recipients: Recipients::of_call(call)?,
            subject: call.text("subject").to_owned(),
            text: call.text("body").to_owned(),
            html: call.optional_text("html").map(str::to_owned),
            attachments,
            ..Letter::default()
        };
        if letter.recipients.all().next().is_some() {
            letter.recipients.check()?;
        }
        if let Some(id) = call.optional_text("in_reply_to") {
            let id = clean_id(id);
            let original = self.find_by_id(context.frame, &me.address, &id, None);
            letter.references = original.map_or_else(|| vec![id.clone()], |found| lineage(found.message()));
            letter.in_reply_to = Some(id);
        }
        let bcc = letter.recipients.bcc.clone();
        let message = letter.seal(desk.zone, context, self)?;
        let answer =
            map! { "folder" => DRAFTS, "message_id" => message.id.clone(), "subject" => message.subject.clone() };
        let event = MailEvent::DraftSaved { address: me.address, message, bcc, replaces, saved: context.time };
        Ok(Decision::change(vec![event], answer))
    }

    pub(crate) fn decide_send_draft(
        &self,
        call: &ToolCall,
        desk: &Desk,
        context: &Context<'_>,
    ) -> Result<Decision<MailEvent>, Rejection> {
        let me = own_mailbox(desk)?;
        let found = self.find_draft(call, &me, context)?;
        let draft = found.message();
        let fit = |list: &[Mailbox]| list.iter().filter(|mailbox| !mailbox.address.is_empty()).cloned().collect();
        let mut recipients = Recipients { to: fit(&draft.to), cc: fit(&draft.cc), bcc: fit(&found.placed.bcc) };
        recipients.tidy();
        recipients.check()?;
        let fields = [
            ("Message-ID", format!("<{}>", draft.id)),
            ("Date", date_text(desk.zone, context.time)),
            ("From", from_text(&me)),
        ];
        let source = context.load(&draft.source)?;
        let bytes = replace_headers(&source, &["Message-ID", "Date", "From", "Bcc"], &fields);
        let parsed = parse::parse(&bytes, context.store(bytes.clone()), context.budget())?;
        let message = Message { identity: draft.identity, ..parsed };
        let answer = sent_answer(&message, &recipients);
        let deleted = MailEvent::MessageDeleted { address: me.address.clone(), folder: DRAFTS.into(), uid: found.uid };
        Ok(Decision::change(vec![deleted, delivered(&me, message, &recipients, context)], answer))
    }

    /// Returns what follows when `letter` is sent.
    pub(crate) fn send(
        &self,
        letter: Letter,
        desk: &Desk,
        context: &Context<'_>,
    ) -> Result<Decision<MailEvent>, Rejection> {
        letter.recipients.check()?;
        let (from, recipients) = (letter.from.clone(), letter.recipients.clone());
        let message = letter.seal(desk.zone, context, self)?;
        let answer = sent_answer(&message, &recipients);
        Ok(Decision::change(vec![delivered(&from, message, &recipients, context)], answer))
    }

    fn find_draft(&self, call: &ToolCall, me: &Mailbox, context: &Context<'_>) -> Result<Found<'_>, Rejection> {
        let unknown = || {
            let number = call.int("uid").unwrap_or_default();
            Rejection::new(
                "mail/unknown-draft",
                format!("there is no draft {number}; mail.list shows the folder {DRAFTS}"),
            )
        };
        let uid = call.int("uid").and_then(|uid| u32::try_from(uid).ok()).ok_or_else(unknown)?;
        self.find_at(context.frame, &me.address, DRAFTS.into(), uid).ok_or_else(unknown)
    }

    /// Returns the event that adds `flag` to a message, unless it has it.
    fn mark(&self, found: &Found<'_>, flag: &str, desk: &Desk, context: &Context<'_>) -> Option<MailEvent> {
        let (address, folder, uid) = (desk.address.clone(), found.folder.clone(), found.uid);
        let state = self.peek_folder(&address, &folder)?;
        let mut flags = state.flags.get(context.frame, &uid).map(|flags| flags.0.clone()).unwrap_or_default();
        let at = flags.binary_search_by(|each| each.as_str().cmp(flag)).err()?;
        flags.insert(at, flag.into());
        Some(MailEvent::FlagsChanged { address, folder, uid, flags })
    }
}

/// Returns the event that puts a message into the sender's Sent folder and every recipient's INBOX.
fn delivered(from: &Mailbox, message: Message, recipients: &Recipients, context: &Context<'_>) -> MailEvent {
    let sent = Delivery {
        address: from.address.clone(),
        folder: SENT.into(),
        flags: Vec::new(),
        seen: true,
        bcc: recipients.bcc.clone(),
    };
    let inboxes = recipients.all().map(|mailbox| Delivery {
        address: mailbox.address.clone(),
        folder: INBOX.into(),
        flags: Vec::new(),
        seen: false,
        bcc: Vec::new(),
    });
    let places = std::iter::once(sent).chain(inboxes).collect();
    MailEvent::MessageDelivered { message, received: context.time, places }
}

fn sent_answer(message: &Message, recipients: &Recipients) -> Value {
    let list = |mailboxes: &[Mailbox]| mailboxes.iter().map(Mailbox::show).collect::<Vec<_>>();
    map! {
        "message_id" => message.id.clone(),
        "subject" => message.subject.clone(),
        "to" => list(&recipients.to),
        "cc" => list(&recipients.cc),
        "bcc" => list(&recipients.bcc),
        "attachments" => message.attachments.iter().map(|part| part.name.clone()).collect::<Vec<_>>(),
    }
}

/// Returns whom an answer to `original` goes to. An answer to one's own message goes where that went.
fn answer_to(original: &Message, me: &Mailbox, is_to_all: bool) -> Recipients {
    let usable = |mailbox: &&Mailbox| mailbox.address.contains('@');
    let others = |list: &[Mailbox]| -> Vec<Mailbox> {
        list.iter().filter(usable).filter(|mailbox| mailbox.address != me.address).cloned().collect()
    };
    let writers = if original.reply_to.is_empty() { &original.from } else { &original.reply_to };
    let mut to = others(writers);
    let mut cc = Vec::new();
    if is_to_all {
        to.extend(others(&original.to));
        cc = others(&original.cc);
    } else if to.is_empty() {
        to = others(&original.to);
    }
    if to.is_empty() && cc.is_empty() {
        to = writers.iter().filter(usable).cloned().collect();
    }
    let mut recipients = Recipients { to, cc, bcc: Vec::new() };
    recipients.tidy();
    recipients
}

/// Returns the References of an answer: those of the original, and the original.
fn lineage(original: &Message) -> Vec<SmolStr> {
    original.ancestors().cloned().chain([original.id.clone()]).collect()
}

/// Returns `subject` with `prefix` in front, once, and short enough to be sent.
fn prefixed(prefix: &str, subject: &str) -> String {
    let word = prefix.trim_end();
    let clean: String = subject.chars().map(|each| if each.is_control() { ' ' } else { each }).collect();
    let has_it = clean.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    let whole = if has_it { clean } else { format!("{prefix}{clean}") };
    parse::cut(&whole, super::limits::SUBJECT_BYTES_MAX).to_owned()
}

/// Returns `text` with a quotation mark before each line (RFC 3676, 4.5).
fn quote(text: &str) -> String {
    let kept = parse::cut(text, MESSAGE_BYTES_MAX / 8);
    let mut quoted = String::with_capacity(kept.len() + kept.len() / 8);
    for line in kept.lines() {
        let is_bare = line.is_empty() || line.starts_with('>');
        quoted.push_str(if is_bare { ">" } else { "> " });
        quoted.push_str(line);
        quoted.push('\n');
    }
    quoted
}

/// Returns a name from somebody else's message as one that can be sent on.
fn tame(name: &str) -> SmolStr {
    let clean: String = name.chars().map(|each| if each.is_control() { '_' } else { each }).collect();
    parse::cut(&clean, 255).into()
}
