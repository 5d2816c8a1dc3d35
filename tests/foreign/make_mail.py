"""Writes messages with Python's email package, as programs that use it do, into material/mail. Deterministic."""

import datetime
import email.policy
import email.utils
import pathlib
from email.header import Header
from email.message import EmailMessage
from email.mime.application import MIMEApplication
from email.mime.image import MIMEImage
from email.mime.message import MIMEMessage
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText

OUT = pathlib.Path(__file__).parent / "material/mail"
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6260606060000000050001a5f645400000000049454e44ae426082"
)
PDF = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"
DATE = datetime.datetime(2026, 3, 2, 9, 30, tzinfo=datetime.timezone(datetime.timedelta(hours=1)))
BINARY = bytes(range(256)) * 5


def head(message, number, subject, sender="Bob Stone <bob@partner.example>", to="Ann Lee <ann@acme.example>"):
    message["From"] = sender
    message["To"] = to
    message["Subject"] = subject
    message["Date"] = email.utils.format_datetime(DATE + datetime.timedelta(hours=number))
    message["Message-ID"] = f"<{number:03}.python@partner.example>"
    return message


def fixed(message):
    """Gives every multipart a boundary that does not change from run to run."""
    for number, part in enumerate(part for part in message.walk() if part.is_multipart() and part.get_content_maintype() == "multipart"):
        part.set_boundary(f"===============python-{number}==")
    return message


def plain():
    message = head(EmailMessage(), 1, "The roof")
    message.set_content("Hello Ann,\n\nthe roof is done.\n\n-- \nBob\n")
    return message


def umlauts():
    message = head(EmailMessage(), 2, "Angebot für das Dach über der Größe 12 m², zweite und endgültige Fassung mit langem Betreff", "Jürgen Müller <jm@firma.example>")
    message["Cc"] = "Björn Åkesson <b@firma.example>, Zoë <zoe@firma.example>"
    message.set_content("Schöne Grüße aus Köln, 5 € je Stück\n", charset="iso-8859-15", cte="quoted-printable")
    return message


def chinese():
    message = head(EmailMessage(), 3, "报价单", "张伟 <zhang@x.example>")
    message.set_content("你好，世界\n" * 20, charset="gb2312", cte="base64")
    return message


def japanese():
    message = MIMEText("こんにちは。\n見積もりを送ります。\n", "plain", "iso-2022-jp")
    message = head(message, 4, Header("見積もり", "iso-2022-jp").encode())
    return message


def alternatives():
    message = head(EmailMessage(), 5, "Two forms")
    message.set_content("The plain text.\n")
    message.add_alternative("<html><body><p>The <b>HTML</b> text: 1 &lt; 2 &amp; 3.</p></body></html>\n", subtype="html")
    return message


def inline_image():
    message = head(EmailMessage(), 6, "A picture inside")
    message.set_content("See the picture.\n")
    message.add_alternative('<p>See <img src="cid:logo@partner.example"></p>\n', subtype="html")
    message.get_payload()[1].add_related(PNG, "image", "png", cid="<logo@partner.example>", filename="logo.png", disposition="inline")
    message.add_attachment(PDF, maintype="application", subtype="pdf", filename="Rechnung März 2026.pdf")
    return message


def attachments():
    message = head(EmailMessage(), 7, "Many attachments")
    message.set_content("Five files.\n")
    message.add_attachment(BINARY, maintype="application", subtype="octet-stream", filename="all bytes.bin")
    message.add_attachment("a;b\r\n1;2\r\n".encode(), maintype="text", subtype="csv", filename="table.csv")
    message.add_attachment("Größe\n", subtype="plain", filename="grösse.txt", charset="utf-8")
    message.add_attachment(PNG, maintype="image", subtype="png", filename='odd "name"; x=1.png')
    message.add_attachment(b"", maintype="application", subtype="octet-stream", filename="empty.bin")
    return message


def forwarded():
    outer = head(EmailMessage(), 8, "Fwd: The roof")
    outer.set_content("See below.\n")
    outer.add_attachment(plain())
    return outer


def digest():
    message = head(MIMEMultipart("digest"), 9, "roofers Digest, Vol 1, Issue 2")
    message.preamble = "This is a digest.\n"
    message.attach(MIMEMessage(head(MIMEText("First.\n"), 91, "one")))
    message.attach(MIMEMessage(head(MIMEText("Second.\n"), 92, "two")))
    message.epilogue = "End of digest.\n"
    return message


def thread():
    message = head(EmailMessage(), 10, "Re: The roof")
    message["In-Reply-To"] = "<001.python@partner.example>"
    message["References"] = "<000.python@partner.example> <001.python@partner.example>"
    message["Reply-To"] = "Office <office@partner.example>"
    message.set_content("> the roof is done.\n\nGood.\n")
    return message


def listed():
    message = head(EmailMessage(), 11, "[roofers] News", to="roofers@lists.example")
    for name, value in [
        ("List-Id", "Roofers <roofers.lists.example>"),
        ("List-Unsubscribe", "<mailto:leave@lists.example>, <https://lists.example/leave>"),
        ("Precedence", "list"),
        ("X-Spam-Status", "No, score=-1.2 required=5.0 tests=A,B,\n\tC autolearn=ham"),
        ("X-Priority", "1 (Highest)"),
        ("Sender", "roofers-bounces@lists.example"),
    ]:
        message[name] = value.replace("\n", "")
    message.set_content("News of this week.\n" + "A long line without any break. " * 60 + "\n")
    return message


def international():
    """RFC 6532: headers in UTF-8 as they are."""
    message = head(EmailMessage(policy=email.policy.SMTPUTF8), 12, "Grüße aus Zürich", "Renée <renée@exämple.example>")
    message.set_content("Grüezi\n", cte="8bit")
    return message


def receipt():
    message = head(MIMEMultipart("report", report_type="delivery-status"), 13, "Undelivered Mail Returned to Sender", "MAILER-DAEMON@partner.example")
    message.attach(MIMEText("The mail could not be delivered.\n"))
    status = email.message_from_string("Content-Type: message/delivery-status\n\nReporting-MTA: dns; mx.partner.example\n\nFinal-Recipient: rfc822; carl@c.example\nAction: failed\nStatus: 5.1.1\n")
    message.attach(status)
    message.attach(MIMEMessage(plain()))
    return message


def signed():
    message = head(MIMEMultipart("signed", micalg="pgp-sha256", protocol="application/pgp-signature"), 14, "Signed")
    message.attach(MIMEText("Signed text with trailing space \n"))
    message.attach(MIMEApplication(b"-----BEGIN PGP SIGNATURE-----\n\niQ==\n-----END PGP SIGNATURE-----\n", "pgp-signature", email.encoders.encode_7or8bit, name="signature.asc"))
    return message


def invitation():
    message = head(EmailMessage(), 15, "Invitation: Roof")
    message.set_content("You are invited.\n")
    text = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y//EN\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nUID:roof@partner.example\r\nDTSTAMP:20260302T080000Z\r\nDTSTART:20260320T090000Z\r\nDTEND:20260320T100000Z\r\nSUMMARY:Roof\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    message.add_alternative(text, subtype="calendar", params={"method": "REQUEST"})
    return message


def old_style():
    """The legacy interface, with an image that has only a name."""
    message = head(MIMEMultipart(), 16, "Old style")
    message.attach(MIMEText("Latin text: caf\xe9\n", "plain", "latin-1"))
    image = MIMEImage(PNG, name="scan.png")
    message.attach(image)
    odd = MIMEApplication(b"\x00\x01\x02", "x-odd")
    odd.add_header("Content-Disposition", "attachment", filename=("utf-8", "fr", "pièce jointe.odd"))
    message.attach(odd)
    return message


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    makers = [plain, umlauts, chinese, japanese, alternatives, inline_image, attachments, forwarded, digest, thread, listed, international, receipt, signed, invitation, old_style]
    for maker in makers:
        message = fixed(maker())
        policy = email.policy.SMTPUTF8 if maker is international else None
        if policy is None:
            policy = email.policy.SMTP if isinstance(message, EmailMessage) else email.policy.compat32.clone(linesep="\r\n")
        (OUT / f"python-{maker.__name__.replace('_', '-')}.eml").write_bytes(message.as_bytes(policy=policy))


if __name__ == "__main__":
    main()
