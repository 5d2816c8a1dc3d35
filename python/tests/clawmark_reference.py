"""An independent in-memory reference of ClawMark's runner and services.

What it is: the stage functions and checkers of a ClawMark task folder, run with an
agent that does nothing, against plain Python data for mail, Notion, Google Sheets and
the calendar and against a temporary directory tree for the container's files. It was
written from a description of the behaviour alone, so that a second implementation can
be compared with it, checker by checker.

What it is not: a server, a sandbox or a scorer. Nothing listens on a port, commands run
on this machine with ``bash -c``, and only the outcome of each checker is reported.
Commands see the tree because ``/workspace`` and ``/tmp`` are replaced in their text, so
a file whose contents a command spells out holds the replaced paths too. ``sqlite3`` is
never found, as in ClawMark's image.

Checkers may import openpyxl, python-docx or python-pptx; without them those checkers fail.
"""
import argparse
import asyncio
import email
import email.generator
import email.header
import email.mime.text
import email.utils
import importlib.util
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import uuid
from datetime import date, datetime, timezone
from pathlib import Path
from types import SimpleNamespace

sys.dont_write_bytecode = True  # leave the task folders as they are


class ApiError(Exception):
    """Stands for any 4xx answer of Notion, Google Sheets or the calendar server."""


# -- Container ---------------------------------------------------------------------

class Sandbox:
    """Commands and paths of a container whose root is an ordinary folder."""

    def __init__(self, root):
        self.root = Path(root).resolve()
        for name in ("workspace", "tmp", "root"):
            (self.root / name).mkdir(parents=True, exist_ok=True)

    def host(self, remote):
        return self.root / str(remote).lstrip("/")

    async def exec(self, command):
        command = re.sub(r"(?<![\w.~-])/(workspace|tmp)(?![\w.-])",
                         lambda m: f"{self.root}/{m[1]}", command)
        env = {"PATH": os.environ["PATH"], "HOME": str(self.root / "root"), "LANG": "C.UTF-8",
               "GIT_CONFIG_NOSYSTEM": "1", "GIT_CEILING_DIRECTORIES": str(self.root),
               "BASH_FUNC_sqlite3%%":  # a function of that name, inherited by every bash
               '() { echo "bash: line 1: sqlite3: command not found" >&2; return 127; }'}
        done = subprocess.run(["bash", "-c", command], cwd=self.root / "workspace",
                              env=env, stdin=subprocess.DEVNULL, capture_output=True)
        out, err = (raw.decode("utf-8", "replace").replace(str(self.root), "")
                    for raw in (done.stdout, done.stderr))
        return SimpleNamespace(stdout=out, stderr=err, return_code=done.returncode)


class FileSystem:
    """``docker cp`` with its exit code thrown away: nothing here raises."""

    def __init__(self, sandbox):
        self._sandbox = sandbox

    async def upload_dir(self, local, remote):
        target = self._sandbox.host(remote)
        try:
            target.mkdir(parents=True, exist_ok=True)
            if Path(local).is_dir():
                shutil.copytree(local, target, symlinks=True, dirs_exist_ok=True)
        except OSError:
            pass

    async def upload_file(self, local, remote):
        local, target = Path(local), self._sandbox.host(remote)
        if not local.is_file():
            return
        if target.is_dir():
            target = target / local.name
        elif str(remote).endswith("/"):
            return
        try:
            target.unlink(missing_ok=True)
            shutil.copy2(local, target)
        except OSError:
            pass

    async def exists(self, remote):
        return self._sandbox.host(remote).exists()

    async def read_file(self, remote):
        try:
            return self._sandbox.host(remote).read_bytes().decode("utf-8", "replace")
        except OSError:
            return ""


# -- Mail --------------------------------------------------------------------------

class Email:
    """Mailboxes of wire bytes, keyed by lower-cased address."""

    def __init__(self, config):
        self.users = (config or {}).get("users")
        if not self.users:
            raise ValueError("email needs users")
        self.boxes = {}

    async def send_email(self, *, from_user, to, subject, body, sender_name=None,
                         content_type="plain"):
        if from_user not in self.users:
            raise ValueError(f"Unknown user: {from_user}. Available: {list(self.users)}")
        try:
            address = self.users[from_user]["email"]
            message = email.mime.text.MIMEText(body, content_type, "utf-8")
            message["From"] = email.utils.formataddr((sender_name or address, address))
            message["To"] = to
            message["Subject"] = subject
            wire = io.BytesIO()
            email.generator.BytesGenerator(wire).flatten(message, linesep="\r\n")
            for _, recipient in email.utils.getaddresses([to]):
                self.boxes.setdefault(recipient.strip().lower(), []).append(wire.getvalue())
        except Exception:
            return False
        return True

    async def get_emails(self, user, folder="INBOX"):
        if user not in self.users:
            raise ValueError(f"Unknown user: {user}")
        if folder.upper() != "INBOX":
            return []
        box = self.boxes.get(self.users[user]["email"].strip().lower(), [])
        return [self._read(email.message_from_bytes(raw)) for raw in box]

    @staticmethod
    def _read(message):
        subject = str(email.header.make_header(
            email.header.decode_header(message.get("Subject", ""))))
        result = {"subject": subject, "body": ""}
        for key in ("from", "to", "cc", "date"):
            result[key] = str(message.get(key, ""))
        parts = [p for p in message.walk() if p.get_content_disposition() != "attachment"]
        for kind in ("text/plain", "text/html"):
            part = next((p for p in parts if p.get_content_type() == kind), None)
            if part is not None:
                raw = part.get_payload(decode=True) or b""
                result["body"] = raw.decode(part.get_content_charset() or "utf-8", "replace")
                break
        return result


# -- Notion ------------------------------------------------------------------------

PLAIN = {"bold": False, "italic": False, "strikethrough": False, "underline": False,
         "code": False, "color": "default"}
EMPTY = {"title": [], "rich_text": [], "multi_select": [], "select": None, "number": None,
         "email": None, "date": None}
SCALARS = {"number": (int, float, type(None)), "email": (str, type(None))}


class Notion:
    """Pages, databases and rows; the page created last is the current one."""

    def __init__(self, config):
        self.page = None          # list of the current page's databases, oldest first
        self.rows = {}            # page id -> (database, row)

    async def create_page(self, title):
        self.page, page_id = [], str(uuid.uuid4())
        return {"page_id": page_id, "page_url": _notion_url(page_id)}

    async def create_database(self, title, schema):
        self._need_page()
        kinds = {name: next(k for k in spec if k in EMPTY) for name, spec in schema.items()}
        if list(kinds.values()).count("title") != 1:
            raise ApiError("400: a database has exactly one title property")
        database = {"id": str(uuid.uuid4()), "title": title, "kinds": kinds, "rows": [],
                    "options": {}, "ids": {n: "title" if k == "title" else uuid.uuid4().hex[:4]
                                           for n, k in kinds.items()}}
        self.page.append(database)
        return database["id"]

    async def add_database_row(self, db_title, properties):
        self._need_page()
        database = self._find(db_title)
        if database is None:
            raise RuntimeError(f"Database '{db_title}' not found in page")
        values = self._values(database, properties)
        row_id = str(uuid.uuid4())
        who, now = {"object": "user", "id": str(uuid.UUID(int=1))}, _notion_now()
        row = {"object": "page", "id": row_id, "created_time": now, "last_edited_time": now,
               "created_by": who, "last_edited_by": who, "cover": None, "icon": None,
               "parent": {"type": "database_id", "database_id": database["id"]},
               "archived": False, "in_trash": False, "url": _notion_url(row_id),
               "public_url": None,
               "properties": {n: {"id": database["ids"][n], "type": k, k: EMPTY[k]}
                              for n, k in database["kinds"].items()} | values}
        database["rows"].append(row)
        self.rows[row_id] = (database, row)
        return row_id

    async def query_db(self, db_title):
        database = None if self.page is None else self._find(db_title)
        rows = [] if database is None else database["rows"]
        return json.loads(json.dumps([r for r in reversed(rows) if not r["archived"]]))

    async def update_db_row(self, page_id, properties):
        if page_id not in self.rows:
            raise ApiError(f"404: could not find page {page_id}")
        database, row = self.rows[page_id]
        row["properties"].update(self._values(database, properties))
        row["last_edited_time"] = _notion_now()

    def _need_page(self):
        if self.page is None:
            raise RuntimeError("No active page — call copy_page() first")

    def _find(self, title):
        return next((d for d in self.page if title.lower() in d["title"].lower()), None)

    def _values(self, database, properties):
        """Request properties -> stored properties, or ApiError before anything changes."""
        result = {}
        for name, given in properties.items():
            kind = database["kinds"].get(name)
            if kind is None or kind not in given:
                raise ApiError(f"400: {name} is no such property, or of another kind")
            value = given[kind]
            if kind in ("title", "rich_text"):
                value = _notion_text(value)
            elif kind == "select" and value is not None:
                value = self._option(database, name, value)
            elif kind == "multi_select":
                value = [self._option(database, name, v) for v in value]
            elif kind == "date" and value is not None:
                value = {"end": None, "time_zone": None} | value
            elif kind in SCALARS and type(value) not in SCALARS[kind]:
                raise ApiError(f"400: wrong value for {name}: {value!r}")
            result[name] = {"id": database["ids"][name], "type": kind, kind: value}
        return result

    @staticmethod
    def _option(database, prop, value):
        name = value["name"]
        if not name or "," in name or len(name) > 100:
            raise ApiError(f"400: bad option name {name!r}")
        fresh = {"id": str(uuid.uuid4()), "name": name, "color": "default"}
        return database["options"].setdefault((prop, name), fresh)


def _notion_text(items):
    if len(items) > 100:
        raise ApiError("400: more than 100 text items")
    result = []
    for item in items:
        content = item["text"]["content"]
        if not isinstance(content, str) or len(content) > 2000:
            raise ApiError("400: text.content should be a string of at most 2000 characters")
        if content:
            result.append({"type": "text", "text": {"content": content, "link": None},
                           "annotations": PLAIN, "plain_text": content, "href": None})
    return result


def _notion_now():
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:00.000Z")


def _notion_url(page_id):
    return "https://www.notion.so/" + page_id.replace("-", "")


# -- Google Sheets -----------------------------------------------------------------

class Sheets:
    """One tab ``Sheet1`` of 1000 x 26 cells per file; every cell is a string."""

    ROWS, COLUMNS = 1000, 26

    def __init__(self, config):
        self.files = {}           # id -> {"title", "grid"}

    async def create_spreadsheet(self, title):
        sheet_id = uuid.uuid4().hex
        self.files[sheet_id] = {"title": title, "grid": [[""] * self.COLUMNS
                                                         for _ in range(self.ROWS)]}
        return {"sheet_id": sheet_id,
                "sheet_url": f"https://docs.google.com/spreadsheets/d/{sheet_id}"}

    async def get_spreadsheet_id(self, title):
        return next((i for i, f in self.files.items() if f["title"] == title), None)

    async def read_values(self, sheet_id, range):
        grid, top, left, bottom, right, _ = self._open(sheet_id, range)
        return _trim([_trim(row[left:right]) for row in grid[top:bottom]])

    async def update_values(self, sheet_id, range, rows):
        grid, top, left, bottom, right, anchor = self._open(sheet_id, range)
        if anchor:
            bottom, right = len(grid), len(grid[0])
        if top + len(rows) > bottom or any(left + len(row) > right for row in rows):
            raise ApiError(f"400: Requested writing within range [{range}], but tried more")
        self._write(grid, top, left, rows)

    async def append_rows(self, sheet_id, range, rows):
        grid, top, left, bottom, right, _ = self._open(sheet_id, range)
        used = [r for r, row in enumerate(grid[:bottom]) if r >= top and any(row[left:right])]
        if used:
            first = last = used[-1]
            while last + 1 < len(grid) and any(grid[last + 1]):
                last += 1
            while first > 0 and any(grid[first - 1]):
                first -= 1
            columns = zip(*grid[first:last + 1])
            left = next(c for c, column in enumerate(columns) if any(column))
            top = last + 1
        grid[top:top] = [[""] * len(grid[0]) for _ in rows]
        wider = max([left + len(row) for row in rows], default=0) - len(grid[0])
        for row in grid:
            row.extend([""] * max(wider, 0))
        self._write(grid, top, left, rows)

    @staticmethod
    def _write(grid, top, left, rows):
        for r, row in enumerate(rows, top):
            for c, value in enumerate(row, left):
                if value is not None:
                    grid[r][c] = _cell(value)

    def _open(self, sheet_id, text):
        """(grid, top, left, bottom, right, is one cell); bottom and right are exclusive."""
        if sheet_id not in self.files:
            raise ApiError("404: Requested entity was not found")
        grid = self.files[sheet_id]["grid"]
        tab, bang, box = text.rpartition("!")
        if bang and tab not in ("Sheet1", "'Sheet1'"):
            raise ApiError(f"400: Unable to parse range: {text}")
        if not bang and box in ("Sheet1", "'Sheet1'"):
            return grid, 0, 0, len(grid), len(grid[0]), False
        match = re.fullmatch(r"([A-Z]*)(\d*)(?:(:)([A-Z]*)(\d*))?", box.replace("$", ""))
        if not match or not box or (not match[3] and not (match[1] and match[2])):
            raise ApiError(f"400: Unable to parse range: {text}")
        top, left = int(match[2] or 1) - 1, (_column(match[1]) or 1) - 1
        bottom, right = top + 1, left + 1
        if match[3]:
            bottom = int(match[5]) if match[5] else len(grid)
            right = _column(match[4]) or len(grid[0])
        if top >= len(grid) or left >= len(grid[0]):
            raise ApiError(f"400: Range ({text}) exceeds grid limits")
        return grid, top, left, min(bottom, len(grid)), min(right, len(grid[0])), not match[3]


def _column(letters):
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number


def _cell(value):
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, (str, int, float)):
        raise ApiError(f"400: Invalid value: {value!r}")
    return str(value)


def _trim(cells):
    while cells and not cells[-1]:
        cells = cells[:-1]
    return list(cells)


# -- Calendar ----------------------------------------------------------------------

class Calendar:
    """Calendars of events; naive times are UTC; of two equal names the first wins."""

    def __init__(self, config):
        self.calendars = []

    async def create_calendar(self, name):
        url = f"http://radicale:5232/benchmark/{uuid.uuid4()}/"
        self.calendars.append({"name": name, "url": url, "events": {}})
        return url

    async def list_calendars(self):
        return [{"name": c["name"], "url": c["url"]} for c in self.calendars]

    async def add_event(self, calendar, summary, dtstart, dtend, *, description="",
                        location="", uid=None):
        events = self._events(calendar)
        uid = uid or "clawmark-" + uuid.uuid4().hex[:12]
        events[uid] = {"uid": uid, "summary": summary, "dtstart": _stored(dtstart),
                       "dtend": _stored(dtend), "description": description,
                       "location": location}
        return uid

    async def get_events(self, calendar, start=None, end=None):
        events = list(self._events(calendar).values())
        if start is not None and end is not None:
            low, high = _instant(start), _instant(end)
            events = [e for e in events
                      if _instant(e["dtstart"]) < high and _instant(e["dtend"]) > low]
        return [self._shape(e) for e in events]

    async def find_events(self, calendar, text):
        return [self._shape(e) for e in self._events(calendar).values()
                if text.lower() in e["summary"].lower()]

    async def delete_event(self, calendar, uid):
        if self._events(calendar).pop(uid, None) is None:
            raise ApiError(f"NotFoundError: {uid}")

    def _events(self, name):
        for calendar in self.calendars:
            if calendar["name"] == name:
                return calendar["events"]
        raise ValueError(f"Calendar not found: {name}")

    @staticmethod
    def _shape(event):
        optional = ("description", "location")
        shape = {k: v for k, v in event.items() if v or k not in optional}
        return shape | {k: shape[k].isoformat() for k in ("dtstart", "dtend")}


def _stored(value):
    if not isinstance(value, datetime):
        return value                                  # an all-day date
    value = value.replace(microsecond=0)
    if value.tzinfo is None or not value.utcoffset():
        return value.replace(tzinfo=timezone.utc)
    return value if hasattr(value.tzinfo, "key") else value.replace(tzinfo=None)


def _instant(value):
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    return value if value.tzinfo else value.replace(tzinfo=timezone.utc)


# -- Runner ------------------------------------------------------------------------

SERVICES = {"email": Email, "notion": Notion, "google_sheets": Sheets, "calendar": Calendar}


def load(path):
    """Import a task file; return (module, stage functions in order)."""
    name = "clawmark_task_" + uuid.uuid4().hex
    spec = importlib.util.spec_from_file_location(name, path)
    task = importlib.util.module_from_spec(spec)
    sys.modules[name] = task
    spec.loader.exec_module(task)
    for key in ("id", "name", "category", "environments"):
        task.METADATA[key]
    if not isinstance(task.PROMPT, str) or not task.PROMPT:
        raise ValueError("PROMPT must be a non-empty string")
    found = {int(n[5:]): getattr(task, n) for n in dir(task) if re.fullmatch(r"stage\d+", n)}
    stages = [found[i] for i in sorted(found)]
    groups = [f"stage{i}" for i in range(len(stages))] + ["final"]
    functions = stages + [c["checker"] for g in task.RUBRIC.values() for c in g]
    if (sorted(found) != list(range(len(stages))) or not set(task.RUBRIC) <= set(groups)
            or not all(asyncio.iscoroutinefunction(f) for f in functions)):
        raise ValueError(f"malformed task: {path}")
    return task, stages


def make_context(task, task_dir, root):
    sandbox = Sandbox(root)
    ctx = SimpleNamespace(task_dir=task_dir, workspace=None, snapshots={}, sandbox=sandbox)
    configs = task.METADATA.get("env_config") or {}
    for name in task.METADATA["environments"]:
        if name == "filesystem":
            ctx.fs = ctx.filesystem = FileSystem(sandbox)
        elif name in SERVICES:
            setattr(ctx, name, SERVICES[name](configs.get(name)))
        else:
            raise ValueError(f"Unknown environment: {name}")
    return ctx


async def _run(path, root):
    task, stages = load(path)
    ctx = make_context(task, path.parent, root / "container")
    result = {"stages": [], "rubric": []}

    async def check(group):
        for item in task.RUBRIC.get(group, []):
            try:
                passed = bool(await item["checker"](ctx))
            except Exception:
                passed = False
            result["rubric"].append({"item_id": item["id"], "stage": group, "passed": passed})

    for number, stage in enumerate(stages):
        name = f"stage{number}"
        try:
            told = await stage(ctx)
            if not isinstance(told, str):
                told = told["notification"] + "\n（当前时间：" + told["time"] + "）"
            # the agent would be told this now; it does nothing
            snapshot = root / "snapshots" / name
            shutil.copytree(ctx.sandbox.host("/workspace"), snapshot, symlinks=True)
        except Exception as exc:
            result["stages"].append({"id": name, "success": False,
                                     "error": f"{type(exc).__name__}: {exc}"})
            break
        ctx.workspace = ctx.snapshots[name] = snapshot
        result["stages"].append({"id": name, "success": True, "error": None})
        await check(name)
    await check("final")
    return result


def run(path, root):
    """Run one task file; ``root`` is an empty scratch folder.

    The container's tree is left in ``root/container``, the snapshots in ``root/snapshots``.
    """
    return asyncio.run(_run(Path(path).resolve(), Path(root).resolve()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks_dir", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--task", metavar="DOMAIN/TASK")
    args = parser.parse_args()
    results = {}
    for path in sorted(args.tasks_dir.glob("*/*/task.py")):
        name = f"{path.parent.parent.name}/{path.parent.name}"
        if args.task in (None, name):
            with tempfile.TemporaryDirectory() as root:
                try:
                    results[name] = run(path, root)
                except Exception as exc:  # the task could not be loaded or set up
                    results[name] = {"stages": [], "rubric": [],
                                     "error": f"{type(exc).__name__}: {exc}"}
    if not results:
        parser.error("no such task")
    args.out.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
