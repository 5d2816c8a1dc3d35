"""Reads documents with python-docx, python-pptx, openpyxl and as text, and compares them before and after they went through the office
(tests/tests/foreign_files.rs).

Reads one JSON object a line: the files before and after, what was replaced in a text, if anything, and what files.read showed as text, if it did. Writes
one JSON object a line: the faults, and whether there was text to compare.
"""

import email
import json
import pathlib
import re
import sys

import docx
import pptx


def words_of_docx(path):
    document = docx.Document(path)
    texts = [paragraph.text for paragraph in document.paragraphs]
    # Paragraph by paragraph: another table may stand between two paragraphs of a cell.
    cells = [cell for table in document.tables for row in table.rows for cell in row.cells]
    return texts + [paragraph.text for cell in cells for paragraph in cell.paragraphs]


def words_of_pptx(path):
    frames = []
    for slide in pptx.Presentation(path).slides:
        for shape in slide.shapes:
            if shape.has_text_frame:
                frames.append(shape.text_frame)
            if getattr(shape, "has_table", False) and shape.has_table:
                frames += [cell.text_frame for row in shape.table.rows for cell in row.cells]
    # Run by run: a paragraph also counts what programs fill in, such as the number of the slide.
    return [run.text for frame in frames for paragraph in frame.paragraphs for run in paragraph.runs]


READERS = {".docx": words_of_docx, ".pptx": words_of_pptx}


def squeezed(text):
    return re.sub(r"[\s\u200b\u00ad]+", " ", text).strip()


def check(case):
    faults = []
    before, after = pathlib.Path(case["before"]), pathlib.Path(case["after"])
    if before.read_bytes() != after.read_bytes():
        faults.append("a copy that went through the tools differs")
    message = email.message_from_bytes(pathlib.Path(case["message"]).read_bytes())
    attached = [part.get_payload(decode=True) for part in message.walk() if part.get_content_disposition() == "attachment"]
    if attached != [before.read_bytes()]:
        faults.append("the file that was attached differs")
    if case.get("edited"):
        old, new = case["old"].encode(), case["new"].encode()
        if pathlib.Path(case["edited"]).read_bytes() != before.read_bytes().replace(old, new, 1):
            faults.append("an edit changed more than it was to change")
    reader = READERS.get(case["ending"])
    compared = 0
    if reader is not None:
        try:
            theirs = [squeezed(text) for text in reader(case["after"])]
        except Exception as error:
            return {"name": case["name"], "faults": faults, "understood": False, "because": repr(error), "compared": 0}
        if case.get("text") is not None:
            shown = squeezed(re.sub(r"[*_`|#>\\]", "", case["text"]))
            for text in theirs:
                if text and squeezed(re.sub(r"[*_`|#>\\]", "", text)) not in shown:
                    faults.append(f"the text {text[:80]!r} is not shown in {shown[:300]!r}")
                compared += 1
    return {"name": case["name"], "faults": faults, "understood": True, "compared": compared}


def main():
    for line in sys.stdin:
        print(json.dumps(check(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
