"""`ctx.email`: mail as a mail server with a mailbox per address would have it, read as its client reads it.

A message lands once with every recipient and nowhere else: no copy in the sender's folders. Headers come back as they were sent.
"""

import email
import email.header
import email.utils
import hashlib
from email.message import Message
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from typing import Any

from .office import Look, Stager

__all__ = ["Mail", "read_message"]


class Mail:
    def __init__(self, users: dict[str, str], look: Look, stager: Stager | None) -> None:
        if not users:
            raise ValueError("the email environment needs users")
        self._users = users
        self._look = look
        self._stager = stager

    async def send_email(
        self,
        *,
        from_user: str,
        to: str,
        subject: str,
        body: str,
        sender_name: str | None = None,
        content_type: str = "plain",
    ) -> bool:
        if from_user not in self._users:
            raise ValueError(f"Unknown user: {from_user}. Available: {list(self._users)}")
        try:
            self._deliver(self._users[from_user], to, subject, body, sender_name, content_type)
        except Exception:
            return False
        return True

    async def get_emails(self, user: str, folder: str = "INBOX") -> list[dict[str, str]]:
        if user not in self._users:
            raise ValueError(f"Unknown user: {user}")
        sources = self._look().mailbox(self._users[user].lower(), folder)
        return [read_message(source) for source in sources]

    def _deliver(self, sender: str, to: str, subject: str, body: str, name: str | None, kind: str) -> None:
        message = MIMEMultipart(boundary=f"=={hashlib.sha256(f'{sender}/{to}/{subject}/{body}'.encode()).hexdigest()[:32]}==")
        # No user has a name, so the address stands in for it, in quotation marks.
        message["From"] = email.utils.formataddr((name or sender, sender))
        message["To"] = to
        message["Subject"] = subject
        message.attach(MIMEText(body, kind, "utf-8"))
        # As it goes over the wire: long headers folded at 78 columns, lines ended by CRLF.
        wire = message.as_bytes(policy=message.policy.clone(linesep="\r\n", max_line_length=78))
        blob = self._stager.blob(wire)
        for _, address in email.utils.getaddresses([to]):
            if address:
                self._stager.do("mail.import", address=address.strip().lower(), folder="INBOX", blob=blob)


def read_message(source: bytes) -> dict[str, str]:
    """Returns a message as the benchmark's client does: raw headers but for the subject, and the first text that is no attachment."""
    message = email.message_from_bytes(source)
    return {
        "subject": _decoded(message.get("Subject", "")),
        "from": message.get("From", "") or "",
        "to": message.get("To", "") or "",
        "cc": message.get("Cc", "") or "",
        "date": message.get("Date", "") or "",
        "body": _body(message),
    }


def _decoded(text: Any) -> str:
    parts = []
    for piece, charset in email.header.decode_header(str(text)):
        parts.append(piece.decode(charset or "utf-8", errors="replace") if isinstance(piece, bytes) else piece)
    return "".join(parts)


def _body(message: Message) -> str:
    if not message.is_multipart():
        return _text(message)
    for kind in ("text/plain", "text/html"):
        for part in message.walk():
            attached = "attachment" in str(part.get("Content-Disposition", "")).lower()
            if part.get_content_type() == kind and not attached:
                return _text(part)
    return ""


def _text(part: Message) -> str:
    payload = part.get_payload(decode=True)
    if not isinstance(payload, bytes):
        return str(part.get_payload())
    try:
        return payload.decode(part.get_content_charset() or "utf-8", errors="replace")
    except LookupError:
        return payload.decode("utf-8", errors="replace")
