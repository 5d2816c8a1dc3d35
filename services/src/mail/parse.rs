//! From the bytes of a message to what is understood of them. RFC 5322 and MIME are the parser library's business; here its result becomes
//! a [`Message`]. What it does not understand stays in the bytes: nothing is refused.

use std::borrow::Cow;
use std::panic::{UnwindSafe, catch_unwind};

use dayshift_engine::{BlobId, Budget, Content, OverBudget, SmolStr};
use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::html::html_to_text;
use mail_parser::decoders::quoted_printable::quoted_printable_decode;
use mail_parser::{Address, Encoding, HeaderName, HeaderValue, MessageParser, MessagePart, MimeHeaders, PartType};

use super::address::normal;
use super::limits::{NESTED_MESSAGES_MAX, PARTS_LISTED_MAX, REFERENCES_MAX, SUBJECT_BYTES_MAX, TEXT_KEPT_BYTES_MAX};
use super::mend::{fields, mended};
use super::message::{Mailbox, Message, Part};
use super::{date, header, uuencode};

/// What it costs to take a message apart, for each of its bytes.
const WORK_PER_BYTE: u64 = 2;

/// Returns what can be understood of a message's `bytes`, which rest in `source`.
///
/// # Errors
///
/// [`OverBudget`] when that would cost more than is left of `budget`.
pub(crate) fn parse(bytes: &[u8], source: Content, budget: &Budget) -> Result<Message, OverBudget> {
    budget.work(bytes.len() as u64 * WORK_PER_BYTE)?;
    let identity = source.id();
    let mended = mended(bytes);
    let Some(parsed) = structure(&mended) else { return Ok(unreadable(bytes, source, identity)) };
    let text = body_text(&mended, &parsed);
    let text_bytes = text.len() as u64;
    let id = parsed.message_id().map(clean_id).filter(|id| !id.is_empty());
    let mut references = ids(parsed.references());
    if references.len() > REFERENCES_MAX {
        references.drain(1..=references.len() - REFERENCES_MAX);
    }
    Ok(Message {
        id: id.unwrap_or_else(|| made_up_id(identity)),
        identity,
        subject: cut(parsed.subject().unwrap_or_default().trim(), SUBJECT_BYTES_MAX * 4).into(),
        from: mailboxes(parsed.from()),
        reply_to: mailboxes(parsed.reply_to()),
        to: mailboxes(parsed.to()),
        cc: mailboxes(parsed.cc()),
        date: raw_field(&mended, parsed.parts.first(), &HeaderName::Date)
            .and_then(|value| date::parse(&String::from_utf8_lossy(value))),
        in_reply_to: ids(parsed.in_reply_to()).into_iter().next(),
        references,
        attachments: parsed
            .attachments()
            .take(PARTS_LISTED_MAX)
            .enumerate()
            .map(|(index, part)| describe(&mended, index, part))
            .collect(),
        text: cut(&text, TEXT_KEPT_BYTES_MAX).into(),
        text_bytes,
        html: parsed.html_bodies().any(|part| matches!(part.body, PartType::Html(_))),
        source,
    })
}

/// Returns the whole body of a message as plain text with bare line feeds.
///
/// # Errors
///
/// As [`parse`]; so for all that look into a message's bytes.
pub(crate) fn whole_text(bytes: &[u8], budget: &Budget) -> Result<String, OverBudget> {
    budget.work(bytes.len() as u64 * WORK_PER_BYTE)?;
    let mended = mended(bytes);
    Ok(match structure(&mended) {
        Some(parsed) => body_text(&mended, &parsed),
        None => unix_lines(&String::from_utf8_lossy(bytes)),
    })
}

/// Returns the HTML body of a message, if it has one.
pub(crate) fn html_body(bytes: &[u8], budget: &Budget) -> Result<Option<String>, OverBudget> {
    budget.work(bytes.len() as u64 * WORK_PER_BYTE)?;
    let mended = mended(bytes);
    let Some(parsed) = structure(&mended) else { return Ok(None) };
    Ok(parsed.html_bodies().find_map(|part| {
        let PartType::Html(html) = &part.body else { return None };
        Some(decoded_text(&mended, part).unwrap_or_else(|| html.to_string()))
    }))
}

/// Returns the decoded content of the attachments that `wanted` asks for by their numbers, counted from 0; in order.
pub(crate) fn attachments(
    bytes: &[u8],
    wanted: impl Fn(usize) -> bool,
    budget: &Budget,
) -> Result<Vec<Vec<u8>>, OverBudget> {
    budget.work(bytes.len() as u64 * WORK_PER_BYTE)?;
    let mended = mended(bytes);
    let Some(parsed) = structure(&mended) else { return Ok(Vec::new()) };
    let parts = parsed.attachments().take(PARTS_LISTED_MAX).enumerate().filter(|(index, _)| wanted(*index));
    Ok(parts.map(|(_, part)| content(&mended, part).into_owned()).collect())
}

/// Returns the headers in their order, unfolded, as text; bytes that are not UTF-8 are replaced. The envelope line with which mailbox files begin a
/// message (`From address date`) is none.
pub(crate) fn headers(bytes: &[u8]) -> Vec<(String, String)> {
    let text = |raw: &[u8]| String::from_utf8_lossy(raw).replace(['\r', '\n'], "").trim().to_owned();
    let fields = fields(bytes).into_iter().filter(|field| field.start > 0 || !bytes.starts_with(b"From "));
    fields
        .filter_map(|field| {
            let field = &bytes[field];
            let colon = memchr::memchr(b':', field)?;
            let name = text(&field[..colon]);
            (!name.is_empty()).then(|| (name, text(&field[colon + 1..])))
        })
        .collect()
}

/// Returns the recipients of the Bcc header, which drafts may have.
pub(crate) fn blind_recipients(bytes: &[u8]) -> Vec<Mailbox> {
    address_headers(&mended(bytes)).map(|parsed| mailboxes(parsed.bcc())).unwrap_or_default()
}

/// Returns a message of whose headers those with addresses are read, and of whose body nothing is.
pub(crate) fn address_headers(bytes: &[u8]) -> Option<mail_parser::Message<'_>> {
    guarded(|| MessageParser::new().with_address_headers().parse_headers(bytes))
}

fn structure(bytes: &[u8]) -> Option<mail_parser::Message<'_>> {
    if nested_messages(bytes) > NESTED_MESSAGES_MAX {
        return None;
    }
    guarded(|| MessageParser::default().parse(bytes))
}

/// Runs the parser. It promises not to panic; should it break its promise over bytes from outside, the message is kept as bytes alone.
fn guarded<'a>(
    parse: impl FnOnce() -> Option<mail_parser::Message<'a>> + UnwindSafe,
) -> Option<mail_parser::Message<'a>> {
    catch_unwind(parse).ok().flatten().filter(|parsed| !parsed.parts.is_empty())
}

/// Returns at least how often messages could be nested in `bytes`: each needs a `message/` or a `multipart/digest`.
fn nested_messages(bytes: &[u8]) -> usize {
    let named =
        |at: usize, word: &[u8]| bytes.get(at..at + word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word));
    (0..bytes.len())
        .filter(|&at| match bytes[at] {
            b'm' | b'M' => named(at, b"message/"),
            b'd' | b'D' => named(at, b"digest"),
            _ => false,
        })
        .take(NESTED_MESSAGES_MAX + 1)
        .count()
}

fn unreadable(bytes: &[u8], source: Content, identity: BlobId) -> Message {
    let text = unix_lines(&String::from_utf8_lossy(bytes));
    Message {
        id: made_up_id(identity),
        identity,
        subject: SmolStr::default(),
        from: Vec::new(),
        reply_to: Vec::new(),
        to: Vec::new(),
        cc: Vec::new(),
        date: None,
        in_reply_to: None,
        references: Vec::new(),
        attachments: Vec::new(),
        text_bytes: text.len() as u64,
        text: cut(&text, TEXT_KEPT_BYTES_MAX).into(),
        html: false,
        source,
    }
}

fn made_up_id(identity: BlobId) -> SmolStr {
    let digits = identity.to_string();
    format!("{}@no-message-id.invalid", &digits[..24]).into()
}

fn body_text(raw: &[u8], parsed: &mail_parser::Message<'_>) -> String {
    let mut text = String::new();
    for (index, part) in parsed.text_bodies().enumerate() {
        let piece = match (&part.body, decoded_text(raw, part)) {
            (PartType::Text(_), Some(plain)) => unix_lines(&plain),
            (PartType::Text(plain), None) => unix_lines(plain),
            (PartType::Html(_), Some(html)) => unix_lines(&html_to_text(&html)),
            (PartType::Html(_), None) => unix_lines(&parsed.body_text(index).unwrap_or_default()),
            (PartType::Binary(_) | PartType::InlineBinary(_) | PartType::Message(_) | PartType::Multipart(_), _) => {
                continue;
            }
        };
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&piece);
    }
    text
}

/// Returns the text of a part in a charset whose label stands for another one than its name says; the parser takes such labels at their word.
fn decoded_text(raw: &[u8], part: &MessagePart<'_>) -> Option<String> {
    let label = part.content_type()?.attribute("charset")?;
    let encoding = header::encoding_of(label.as_bytes()).filter(|encoding| {
        [encoding_rs::WINDOWS_1254, encoding_rs::WINDOWS_874, encoding_rs::EUC_KR, encoding_rs::GBK].contains(encoding)
    })?;
    if !matches!(part.body, PartType::Text(_) | PartType::Html(_)) {
        return None;
    }
    Some(encoding.decode_without_bom_handling(&content(raw, part)).0.into_owned())
}

/// Returns the value of the last field of this name, as it stands in `raw`.
fn raw_field<'a>(raw: &'a [u8], part: Option<&MessagePart<'_>>, name: &HeaderName<'_>) -> Option<&'a [u8]> {
    let field = part?.headers.iter().rev().find(|field| field.name == *name)?;
    raw.get(field.offset_start as usize..field.offset_end as usize)
}

/// Returns `text` with line feeds in the place of the line ends that mail uses on the wire.
pub(crate) fn unix_lines(text: &str) -> String {
    let mut lines = text.split('\n');
    let last = lines.next_back().unwrap_or_default();
    let mut out = String::with_capacity(text.len());
    for line in lines {
        // However many carriage returns: what stands before a line feed ends the line with it.
        out.push_str(line.trim_end_matches('\r'));
        out.push('\n');
    }
    out.push_str(last);
    out
}

/// Returns the longest start of `text` that has at most `bytes_max` bytes.
pub(crate) fn cut(text: &str, bytes_max: usize) -> &str {
    if text.len() <= bytes_max {
        return text;
    }
    let end = (0..=bytes_max).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    &text[..end]
}

fn describe(raw: &[u8], index: usize, part: &MessagePart<'_>) -> Part {
    let media_type = media_type(part);
    let disposition = raw_field(raw, Some(part), &HeaderName::ContentDisposition);
    let name = disposition.and_then(|value| header::parameter(value, "filename")).or_else(|| {
        raw_field(raw, Some(part), &HeaderName::ContentType).and_then(|value| header::parameter(value, "name"))
    });
    let name = name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    let is_inline = part.content_disposition().is_some_and(|disposition| disposition.is_inline())
        || part.content_disposition().is_none() && part.content_id().is_some();
    Part {
        name: name.unwrap_or_else(|| made_up_name(index, part, &media_type)).into(),
        bytes: content(raw, part).len() as u64,
        inline: is_inline,
        media_type,
    }
}

fn media_type(part: &MessagePart<'_>) -> SmolStr {
    match (&part.body, part.content_type()) {
        (PartType::Message(_), None) => "message/rfc822".into(),
        (_, None) => "text/plain".into(),
        (_, Some(found)) => {
            let subtype = found.subtype().unwrap_or("octet-stream");
            format!("{}/{subtype}", found.ctype()).to_ascii_lowercase().into()
        }
    }
}

fn made_up_name(index: usize, part: &MessagePart<'_>, media_type: &str) -> String {
    if let PartType::Message(message) = &part.body {
        let subject = message.parts.first().and_then(|_| message.subject()).map(str::trim).unwrap_or_default();
        if !subject.is_empty() {
            return format!("{}.eml", cut(subject, 100).replace(['/', '\\', '\0'], "_"));
        }
    }
    let extension = match media_type {
        "text/plain" => "txt",
        "text/html" => "html",
        "text/calendar" => "ics",
        "message/rfc822" => "eml",
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "application/pdf" => "pdf",
        _ => "bin",
    };
    format!("part-{}.{extension}", index + 1)
}

/// Returns the decoded content of `part`, one of the message `raw`. A nested message is its own bytes; text is what was attached, not what
/// its charset makes of it.
fn content<'a>(raw: &'a [u8], part: &'a MessagePart<'_>) -> Cow<'a, [u8]> {
    let own = raw.get(part.offset_body as usize..part.offset_end as usize).unwrap_or_default();
    let is_uuencoded = part.content_transfer_encoding().is_some_and(uuencode::is_named);
    if let Some(bytes) = is_uuencoded.then(|| uuencode::decoded(own)).flatten() {
        return bytes.into();
    }
    match &part.body {
        PartType::Message(_) if part.encoding == Encoding::None => own.into(),
        PartType::Message(message) => message.raw_message.as_ref().into(),
        PartType::Text(_) | PartType::Html(_) => decode(own, part).map_or(own.into(), Cow::Owned),
        PartType::Binary(bytes) | PartType::InlineBinary(bytes) => bytes.as_ref().into(),
        PartType::Multipart(_) => Cow::Borrowed(&[]),
    }
}

/// Returns the bytes of a part without their transfer encoding; nothing if they have none, or not the one that they claim. The parser
/// gives up on a part that a truncated message leaves without its end; what there is of it can still be decoded.
fn decode(own: &[u8], part: &MessagePart<'_>) -> Option<Vec<u8>> {
    let claims = |encoding: &str| {
        part.is_encoding_problem
            && part.content_transfer_encoding().is_some_and(|claimed| claimed.eq_ignore_ascii_case(encoding))
    };
    if part.encoding == Encoding::Base64 || claims("base64") {
        base64_decode(own)
    } else if part.encoding == Encoding::QuotedPrintable || claims("quoted-printable") {
        quoted_printable_decode(own)
    } else {
        None
    }
}

fn mailboxes(list: Option<&Address<'_>>) -> Vec<Mailbox> {
    let addresses = list.into_iter().flat_map(|list| list.iter());
    addresses
        .map(|found| Mailbox {
            name: found.name().unwrap_or_default().trim().into(),
            address: normal(found.address().unwrap_or_default()),
        })
        .filter(|mailbox| !mailbox.address.is_empty() || !mailbox.name.is_empty())
        .collect()
}

fn ids(header: &HeaderValue<'_>) -> Vec<SmolStr> {
    let list = match header {
        HeaderValue::Text(one) => vec![clean_id(one)],
        HeaderValue::TextList(many) => many.iter().map(|id| clean_id(id)).collect(),
        HeaderValue::Address(_)
        | HeaderValue::DateTime(_)
        | HeaderValue::ContentType(_)
        | HeaderValue::Received(_)
        | HeaderValue::Empty => Vec::new(),
    };
    list.into_iter().filter(|id| !id.is_empty()).collect()
}

/// Returns a message id without angle brackets, spaces and control characters.
pub(crate) fn clean_id(id: &str) -> SmolStr {
    let bare = id.trim().trim_start_matches('<').trim_end_matches('>');
    let clean: String = bare.chars().filter(|each| !each.is_control() && !each.is_whitespace()).take(500).collect();
    clean.into()
}
