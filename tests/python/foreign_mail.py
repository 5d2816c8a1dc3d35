"""Reads messages with Python's email package and compares them with what the office made of them (tests/tests/foreign_mail.rs).

Reads one JSON object a line: the message's file, what mail.read showed, the files into which attachments were saved, and the answer and the
forwarded message that were written. Writes one JSON object a line: the faults. Where Python itself finds defects in a message, or gives up, only
what does not hang on its understanding is compared.
"""

import base64
import email
import email.policy
import json
import pathlib
import re
import sys


def parsed(path, policy=email.policy.compat32):
    return email.message_from_bytes(pathlib.Path(path).read_bytes(), policy=policy)


def words(text):
    return re.sub(r"\s+", " ", text or "").strip()


def defective(message):
    return any(part.defects for part in message.walk())


def raw_headers(message):
    """Names and values as they were sent, unfolded."""
    found = []
    for name, value in message.raw_items():
        value = str(value).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        found.append((name, value.replace("\r", "").replace("\n", "").strip()))
    return found


def leaves(message):
    """The parts that hold something themselves, with the bytes that they stand for. What is inside of a message that is inside belongs to that."""
    if message.get_content_maintype() == "message" or not message.is_multipart():
        yield message
        return
    for part in message.get_payload():
        yield from leaves(part)


def decoded(part):
    try:
        return part.get_payload(decode=True)
    except Exception:
        return None


def ids(value):
    return re.findall(r"<([^<>\s]+)>", str(value or ""))


def check_headers(case, message, faults):
    theirs = raw_headers(message)
    ours = [(each["name"], each["value"]) for each in case["headers"]]
    if [name.lower() for name, _ in ours] != [name.lower() for name, _ in theirs]:
        faults.append(f"header fields {[name for name, _ in ours]} are {[name for name, _ in theirs]} in Python")
        return
    for (name, our), (_, their) in zip(ours, theirs):
        if words(our) != words(their):
            faults.append(f"{name} is {our!r}, and {their!r} in Python")


def check_understanding(case, path, faults):
    message = parsed(path, email.policy.default)
    # A character that Python cannot decode is no reproach.
    their = words(str(message.get("subject", "")))
    if words(case["subject"]) != their and "\ufffd" not in their:
        faults.append(f"subject is {case['subject']!r}, and {their!r} in Python")
    if message["from"] is not None:
        theirs = [address.addr_spec.lower() for address in message["from"].addresses]
        theirs = [each.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for each in theirs]
        if [each for each in theirs if each not in case["from"].lower() and each != "<>"]:
            faults.append(f"from is {case['from']!r}, and {theirs} in Python")
    body = message.get_body(("plain",))
    if body is not None and "attachment" not in str(body.get("content-disposition", "")):
        their = words(body.get_content())
        if their not in words(case["body"]) and "\ufffd" not in their:
            faults.append(f"body is {words(case['body'])[:300]!r}, and {their[:300]!r} in Python")


def check_attachments(case, message, source, faults):
    theirs = {decoded(part) for part in leaves(message) if part.get_content_maintype() != "message"}
    for attachment in case["attachments"]:
        content = pathlib.Path(attachment["path"]).read_bytes()
        if content in theirs or content in source:
            continue
        if any(content == base64.b64decode(part.get_payload() if isinstance(part.get_payload(), str) else "") for part in leaves(message)):
            continue
        faults.append(f"attachment {attachment['name']!r} holds {content[:60]!r}, which no part in Python does")
    kept = [pathlib.Path(attachment["path"]).read_bytes() for attachment in case["attachments"]]
    for part in leaves(message):
        named = part.get_content_disposition() == "attachment" and part.get_content_maintype() != "message"
        claimed = str(part.get_payload()).encode("latin-1", "replace")
        if named and decoded(part) is not None and decoded(part) not in kept and claimed not in kept:
            faults.append(f"the attachment {part.get_filename()!r} is missing or otherwise")


def check_reply(case, message, faults):
    reply = parsed(case["reply"], email.policy.default)
    if defective(reply):
        faults.append(f"Python finds defects in our answer: {[part.defects for part in reply.walk()]}")
    theirs = ids(message["message-id"])
    if theirs and (ids(reply["in-reply-to"]) != theirs[:1] or ids(reply["references"])[-1:] != theirs[:1]):
        faults.append(f"the answer to {theirs} is to {reply['in-reply-to']!r} in {reply['references']!r}")
    text = reply.get_body(("plain",)).get_content()
    if not text.startswith(case["answer"]):
        faults.append(f"the answer says {text[:200]!r}")
    for line in case["body"].splitlines()[:20]:
        if words(line) and words(line) not in words(text):
            faults.append(f"the answer does not quote {line!r}")
            break


def check_forward(case, faults):
    forward = parsed(case["forward"], email.policy.default)
    if defective(forward):
        faults.append(f"Python finds defects in what was passed on: {[part.defects for part in forward.walk()]}")
    text = forward.get_body(("plain",)).get_content()
    if not text.startswith(case["answer"]) or words(case["body"])[:5000] not in words(text):
        faults.append(f"what was passed on says {text[:200]!r}")
    found = []
    for part in forward.iter_attachments():
        if part.get_content_maintype() == "message":
            found.append(None)
        else:
            found.append(decoded(part))
    for attachment in case["attachments"]:
        content = pathlib.Path(attachment["path"]).read_bytes()
        if content not in found and not (attachment["media_type"].startswith("message/") and None in found):
            faults.append(f"what was passed on lacks {attachment['name']!r} with its bytes")


def check(case):
    faults = []
    source = pathlib.Path(case["source"]).read_bytes()
    message = parsed(case["source"])
    understood = not defective(message)
    if understood:
        check_headers(case, message, faults)
        try:
            check_understanding(case, case["source"], faults)
        except (LookupError, AttributeError, IndexError, KeyError, TypeError, ValueError, AssertionError) as error:
            understood = f"Python gives up: {error!r}"
        check_attachments(case, message, source, faults)
    if case.get("reply"):
        check_reply(case, message, faults)
    if case.get("forward"):
        check_forward(case, faults)
    return {"name": case["name"], "faults": faults, "understood": understood is True}


def main():
    for line in sys.stdin:
        print(json.dumps(check(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
