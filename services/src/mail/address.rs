//! Mail addresses as callers write them: `ann@acme.example` or `Ann Lee <ann@acme.example>`, compared without regard to case. Headers of
//! real messages are read by the parser of messages, which is more lenient.

use dayshift_engine::{Rejection, SmolStr, ToolCall};

use super::limits::{ADDRESS_BYTES_MAX, DISPLAY_NAME_BYTES_MAX, RECIPIENTS_MAX};
use super::message::Mailbox;
use super::parse::address_headers;

/// Whom a message goes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Recipients {
    pub(crate) to: Vec<Mailbox>,
    pub(crate) cc: Vec<Mailbox>,
    pub(crate) bcc: Vec<Mailbox>,
}

impl Recipients {
    /// Returns the recipients that `call` names in `to`, `cc` and `bcc`, each once: the first place counts.
    pub(crate) fn of_call(call: &ToolCall) -> Result<Self, Rejection> {
        let mut recipients =
            Self { to: mailboxes(call, "to")?, cc: mailboxes(call, "cc")?, bcc: mailboxes(call, "bcc")? };
        recipients.tidy();
        Ok(recipients)
    }

    /// Returns all recipients in the order To, Cc, Bcc.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Mailbox> {
        self.to.iter().chain(&self.cc).chain(&self.bcc)
    }

    /// Takes out everybody who is named before.
    pub(crate) fn tidy(&mut self) {
        let mut known: Vec<SmolStr> = Vec::new();
        for list in [&mut self.to, &mut self.cc, &mut self.bcc] {
            list.retain(|mailbox| {
                let is_new = !known.contains(&mailbox.address);
                if is_new {
                    known.push(mailbox.address.clone());
                }
                is_new
            });
        }
    }

    /// Checks that a message to these can be sent.
    ///
    /// # Errors
    ///
    /// `mail/no-recipient` or `mail/too-many-recipients`.
    pub(crate) fn check(&self) -> Result<(), Rejection> {
        match self.all().count() {
            0 => Err(Rejection::new("mail/no-recipient", "a message needs at least one recipient in to, cc or bcc")),
            count if count > RECIPIENTS_MAX => Err(Rejection::new(
                "mail/too-many-recipients",
                format!("a message goes to at most {RECIPIENTS_MAX} recipients, not {count}; send several messages"),
            )),
            _ => Ok(()),
        }
    }
}

/// Returns the mailboxes in the list argument `name`. One item may hold several, separated by commas.
fn mailboxes(call: &ToolCall, name: &str) -> Result<Vec<Mailbox>, Rejection> {
    let mut found = Vec::new();
    for text in call.texts(name) {
        found.extend(parse_mailboxes(text)?);
        // So that a huge argument is refused before all of it is read.
        if found.len() > RECIPIENTS_MAX * 2 {
            break;
        }
    }
    Ok(found)
}

/// Returns the mailboxes that `text` names, at least one.
///
/// # Errors
///
/// `mail/bad-address`.
pub(crate) fn parse_mailboxes(text: &str) -> Result<Vec<Mailbox>, Rejection> {
    let text = text.trim();
    if is_address(text) {
        return Ok(vec![Mailbox::bare(normal(text))]);
    }
    if text.chars().any(char::is_control) || text.len() > (ADDRESS_BYTES_MAX + DISPLAY_NAME_BYTES_MAX) * RECIPIENTS_MAX
    {
        return Err(bad_address(text));
    }
    let header = format!("To: {text}\r\n\r\n");
    let parsed = address_headers(header.as_bytes());
    let list = parsed.as_ref().and_then(|message| message.to());
    let mut found = Vec::new();
    for address in list.into_iter().flat_map(|list| list.iter()) {
        let bare = address.address().unwrap_or_default();
        let name = address.name().unwrap_or_default().trim();
        if !is_address(bare) || name.len() > DISPLAY_NAME_BYTES_MAX || name.chars().any(char::is_control) {
            return Err(bad_address(text));
        }
        found.push(Mailbox { name: name.into(), address: normal(bare) });
    }
    if found.is_empty() { Err(bad_address(text)) } else { Ok(found) }
}

/// Returns the one mailbox that `text` names.
///
/// # Errors
///
/// `mail/bad-address`.
pub(crate) fn parse_mailbox(text: &str) -> Result<Mailbox, Rejection> {
    match parse_mailboxes(text)?.as_slice() {
        [one] => Ok(one.clone()),
        _ => Err(bad_address(text)),
    }
}

/// Returns `address` as mailboxes are named: trimmed and in lower case.
pub(crate) fn normal(address: &str) -> SmolStr {
    let address = address.trim();
    if address.chars().any(char::is_uppercase) { address.to_lowercase().into() } else { address.into() }
}

/// Returns whether `text` is a bare address that a message can be sent to: the dot-atom form of RFC 5322, ASCII only, and without the
/// slash, which separates the parts of keys.
fn is_address(text: &str) -> bool {
    fn is_atom(byte: u8) -> bool {
        byte.is_ascii_alphanumeric() || b"!#$%&'*+-=?^_`{|}~.".contains(&byte)
    }
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let dots = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with('.') && !part.contains("..");
    text.len() <= ADDRESS_BYTES_MAX
        && dots(local)
        && dots(domain)
        && local.bytes().all(is_atom)
        && domain.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'.')
}

fn bad_address(text: &str) -> Rejection {
    let shown: String = text.chars().take(80).collect();
    Rejection::new(
        "mail/bad-address",
        format!("'{shown}' is no mail address; write ann@acme.example or Ann Lee <ann@acme.example>"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &str) -> Result<Vec<String>, String> {
        let found = parse_mailboxes(text).map_err(|rejection| rejection.code.into_owned())?;
        Ok(found.iter().map(Mailbox::show).collect())
    }

    #[test]
    fn addresses_are_read_with_and_without_names() {
        assert_eq!(show(" Ann@Acme.Example "), Ok(vec!["ann@acme.example".to_owned()]));
        assert_eq!(show("Ann Lee <ANN@acme.example>"), Ok(vec!["Ann Lee <ann@acme.example>".to_owned()]));
        assert_eq!(
            show("\"Lee, Ann\" <a@b.c>, d@e.f"),
            Ok(vec!["\"Lee, Ann\" <a@b.c>".to_owned(), "d@e.f".to_owned()])
        );
        assert_eq!(show("王伟 <wang@b.c>"), Ok(vec!["王伟 <wang@b.c>".to_owned()]));
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in
            ["", "ann", "ann@", "@acme", "a b@c.d", "a@b..c", "Ann <ann>", "a@b.c\r\nBcc: d@e.f", "a/b@c.d", "é@c.d"]
        {
            assert_eq!(show(text), Err("mail/bad-address".to_owned()), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_shown_can_be_sent_to(name in "[a-zäß ,.;:<>()@\"'\\\\]{1,30}") {
            let mailbox = Mailbox { name: name.trim().into(), address: "ann@acme.example".into() };
            proptest::prop_assert_eq!(parse_mailboxes(&mailbox.show()), Ok(vec![mailbox]));
        }
    }

    #[test]
    fn an_address_has_at_most_its_limit() {
        let of_length = |length: usize| format!("{}@b.example", "a".repeat(length - "@b.example".len()));
        assert!(show(&of_length(ADDRESS_BYTES_MAX - 1)).is_ok());
        assert!(show(&of_length(ADDRESS_BYTES_MAX)).is_ok());
        assert!(show(&of_length(ADDRESS_BYTES_MAX + 1)).is_err());
        assert!(show(&format!("{} <a@b.c>", "n".repeat(DISPLAY_NAME_BYTES_MAX))).is_ok());
        assert!(show(&format!("{} <a@b.c>", "n".repeat(DISPLAY_NAME_BYTES_MAX + 1))).is_err());
    }
}
