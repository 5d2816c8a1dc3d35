"""Takes the moment of writing out of Office files, so that making them again gives the same bytes: dates of zip entries and of document properties."""

import re
import zipfile

STAMP = re.compile(rb"(<(?:dcterms:created|dcterms:modified|meta:creation-date|dc:date)[^>]*>)[^<]*(<)")


def rezip(path):
    with zipfile.ZipFile(path) as old:
        entries = [(info, old.read(info)) for info in old.infolist()]
    with zipfile.ZipFile(path, "w") as new:
        for info, content in entries:
            same = zipfile.ZipInfo(info.filename, (1980, 1, 1, 0, 0, 0))
            same.compress_type = info.compress_type
            if info.filename in ("docProps/core.xml", "meta.xml"):
                content = STAMP.sub(rb"\g<1>2026-03-02T09:00:00Z\g<2>", content)
            new.writestr(same, content)
