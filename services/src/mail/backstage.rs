//! What comes in from outside, in the world's name: real messages as files, and mail of people whom nobody plays.

use std::sync::Arc;

use dayshift_engine::{BlobId, Context, Decision, Rejection, SmolStr, ToolCall, Value, map};

use super::address::{Recipients, parse_mailbox};
use super::compose::{Attachment, Letter};
use super::event::{Delivery, MailEvent};
use super::limits::MESSAGE_BYTES_MAX;
use super::lookup::folder_name;
use super::message::Mailbox;
use super::organise::{flag_name, split_seen};
use super::parse::{self, clean_id};
use super::state::{DRAFTS, INBOX, MailState, SENT};
use crate::service::Desk;

impl MailState {
    pub(crate) fn decide_import(
        &self,
        call: &ToolCall,
        context: &Context<'_>,
    ) -> Result<Decision<MailEvent>, Rejection> {
        let address = parse_mailbox(call.text("address"))?.address;
        let folder = folder_name(call.optional_text("folder").unwrap_or(INBOX))?;
        let bytes = blob(call.text("blob"), context)?;
        if bytes.len() > MESSAGE_BYTES_MAX {
            return Err(Rejection::new(
                "mail/message-too-large",
                format!("the message has {} bytes, at most {MESSAGE_BYTES_MAX} can be imported", bytes.len()),
            ));
        }
        let mut flags = call.texts("flags").map(flag_name).collect::<Result<Vec<_>, _>>()?;
        flags.sort();
        flags.dedup();
        let (flags, seen) = split_seen(flags);
        // Nobody has yet to read what is their own.
        let seen = seen || [SENT, DRAFTS].contains(&folder.as_str());
        let message = parse::parse(&bytes, context.store(bytes.to_vec()), context.budget())?;
        let received = call.time("received").or(message.date).unwrap_or(context.time);
        let answer = map! {
            "address" => address.clone(),
            "folder" => folder.clone(),
            "message_id" => message.id.clone(),
            "subject" => message.subject.clone(),
        };
        let bcc = parse::blind_recipients(&bytes);
        let places = vec![Delivery { address, folder, flags, seen, bcc }];
        Ok(Decision::change(vec![MailEvent::MessageDelivered { message, received, places }], answer))
    }

    pub(crate) fn decide_deliver(
        &self,
        call: &ToolCall,
        desk: &Desk,
        mut attachments: Vec<Attachment>,
        context: &Context<'_>,
    ) -> Result<Decision<MailEvent>, Rejection> {
        let mut from = parse_mailbox(call.text("from"))?;
        if let Some(name) = call.optional_text("sender_name") {
            from = Mailbox { name: clean_name(name)?, ..from };
        }
        for file in call.list("files") {
            attachments.push(file_of(file, context)?);
        }
        let mut letter = Letter {
            from,
            recipients: Recipients::of_call(call)?,
            subject: call.text("subject").to_owned(),
            text: call.text("body").to_owned(),
            html: call.optional_text("html").map(str::to_owned),
            attachments,
            ..Letter::default()
        };
        if let Some(id) = call.optional_text("in_reply_to") {
            let id = clean_id(id);
            let original = self.known.get(context.frame, &id);
            let before = original.into_iter().flat_map(|known| known.0.ancestors()).cloned();
            letter.references = before.chain([id.clone()]).collect();
            letter.in_reply_to = Some(id);
        }
        self.send(letter, desk, context)
    }
}

fn clean_name(name: &str) -> Result<SmolStr, Rejection> {
    let name = name.trim();
    if name.len() > super::limits::DISPLAY_NAME_BYTES_MAX || name.chars().any(char::is_control) {
        return Err(Rejection::new("mail/bad-name", "a sender's name is one short line; leave the rest out"));
    }
    Ok(name.into())
}

fn file_of(file: &Value, context: &Context<'_>) -> Result<Attachment, Rejection> {
    let text = |name: &str| file.get(name).and_then(Value::as_text);
    let (Some(name), Some(id)) = (text("name"), text("blob")) else {
        return Err(Rejection::new(
            "mail/bad-file",
            "each of the files has a name and a blob, and may have a media_type",
        ));
    };
    let media_type = text("media_type").unwrap_or("application/octet-stream");
    Ok(Attachment { name: name.into(), media_type: media_type.into(), bytes: blob(id, context)? })
}

fn blob(id: &str, context: &Context<'_>) -> Result<Arc<[u8]>, Rejection> {
    let unknown = || Rejection::new("mail/unknown-blob", format!("there is no blob '{id}'; keep the content first"));
    let id: BlobId = id.parse().map_err(|_| unknown())?;
    context.blobs.get(id).ok_or_else(unknown)
}
