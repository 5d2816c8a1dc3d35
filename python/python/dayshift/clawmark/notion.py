"""`ctx.notion`: one page with databases, in Notion's shapes (API version 2022-06-28), over the knowledge base."""

import hashlib
import uuid
from typing import Any

from dayshift import Scene

from .office import Look, ServiceError, Stager

__all__ = ["Notion"]

TEXT_CHARACTERS_MAX = 2000
ITEMS_MAX = 100
OPTION_CHARACTERS_MAX = 100

# Notion's name of a kind, and ours.
KINDS = {
    "title": "title",
    "rich_text": "text",
    "select": "select",
    "multi_select": "multi_select",
    "number": "number",
    "email": "email",
    "date": "date",
    "checkbox": "checkbox",
    "url": "url",
    "phone_number": "phone",
    "status": "status",
    "people": "people",
    "files": "files",
}
NAMES = {ours: theirs for theirs, ours in KINDS.items()}

PAGE = "dayshift.clawmark/page/{}"
PLAIN = {
    "bold": False,
    "italic": False,
    "strikethrough": False,
    "underline": False,
    "code": False,
    "color": "default",
}


class Notion:
    def __init__(self, look: Look, stager: Stager | None) -> None:
        self._look = look
        self._stager = stager

    async def create_page(self, title: str) -> dict[str, str]:
        number = 0
        while self._look().ask("knowledge.page", page=_page(number)) is not None:
            number += 1
        blob = self._stager.blob(b"\n")
        self._stager.do("knowledge.import_page", blob=blob, title=title, id=_page(number))
        return {"page_id": _page(number), "page_url": f"https://www.notion.so/{_page(number).replace('-', '')}"}

    async def create_database(self, title: str, schema: dict[str, Any]) -> str:
        page = _current(self._look())
        if page is None:
            raise RuntimeError("No active page — call copy_page() first")
        properties = [_property(name, kind) for name, kind in schema.items()]
        # The title of a row comes first with us.
        properties.sort(key=lambda each: each["type"] != "title")
        answer = self._stager.do(
            "knowledge.define", database={"title": title, "parent": page, "properties": properties}
        )
        return answer["id"]

    async def add_database_row(self, db_title: str, properties: dict[str, Any]) -> str:
        scene = self._look()
        if _current(scene) is None:
            raise RuntimeError("No active page — call copy_page() first")
        database = _database(scene, db_title)
        if database is None:
            raise RuntimeError(f"Database '{db_title}' not found in page")
        values = _values(properties, _schema(scene, database))
        return self._stager.do("knowledge.create_row", database=database, properties=values)["id"]

    async def query_db(self, db_title: str) -> list[dict[str, Any]]:
        scene = self._look()
        database = _database(scene, db_title)
        if database is None:
            return []
        schema = _schema(scene, database)
        rows = scene.ask("knowledge.rows", database=database)
        # The API answers the newest first.
        return [_shown(row, schema, database) for row in reversed(rows)]

    async def update_db_row(self, page_id: str, properties: dict[str, Any]) -> None:
        scene = self._look()
        row = scene.ask("knowledge.row", row=page_id)
        if row is None:
            raise ServiceError(f"404 Not Found: there is no page {page_id}", "notion/404")
        schema = _schema_of(scene, row)
        self._stager.do("knowledge.update_row", row=page_id, properties=_values(properties, schema))


def _page(number: int) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, PAGE.format(number)))


def _current(scene: Scene) -> str | None:
    """Returns the page that was made last."""
    current = None
    number = 0
    while scene.ask("knowledge.page", page=_page(number)) is not None:
        current = _page(number)
        number += 1
    return current


def _database(scene: Scene, title: str) -> str | None:
    """Returns the first database of the current page whose title contains `title`, without regard to case."""
    page = _current(scene)
    for database in scene.ask("knowledge.databases") if page else []:
        if database["parent"] == page and title.lower() in database["title"].lower():
            return database["id"]
    return None


def _schema(scene: Scene, database: str) -> dict[str, str]:
    """Returns Notion's kind of each property."""
    shown = scene.ask("knowledge.database", database=database)
    return {each["name"]: NAMES.get(each["type"], "rich_text") for each in shown["properties"]}


def _schema_of(scene: Scene, row: dict[str, Any]) -> dict[str, str]:
    """Returns the schema of the database that holds `row`: the one with exactly its properties and that very row."""
    for database in scene.ask("knowledge.databases"):
        if set(database["properties"]) == set(row["properties"]):
            rows = scene.ask("knowledge.rows", database=database["id"])
            if any(each["id"] == row["id"] for each in rows):
                return _schema(scene, database["id"])
    raise ServiceError(f"400 Bad Request: the page {row['id']} is in no database", "notion/400")


def _property(name: str, described: dict[str, Any]) -> dict[str, Any]:
    kind, details = next(iter(described.items()))
    if kind not in KINDS:
        raise ServiceError(f"400 Bad Request: the property {name!r} is of the unknown kind {kind!r}", "notion/400")
    made: dict[str, Any] = {"name": name, "type": KINDS[kind]}
    if options := (details or {}).get("options"):
        made["options"] = [option["name"] for option in options]
    return made


def _values(properties: dict[str, Any], schema: dict[str, str]) -> dict[str, Any]:
    """Returns written properties in our form. Raises what the API answers with 400 for."""
    values = {}
    for name, written in properties.items():
        if name not in schema:
            raise ServiceError(f"400 Bad Request: {name} is not a property that exists", "notion/400")
        kind = schema[name]
        if kind not in written:
            found = next(iter(written), "nothing")
            raise ServiceError(f"400 Bad Request: {name} is expected to be {kind}, not {found}", "notion/400")
        values[name] = _value(name, kind, written[kind])
    return values


def _value(name: str, kind: str, written: Any) -> Any:
    if kind in ("title", "rich_text"):
        if len(written) > ITEMS_MAX:
            raise ServiceError(f"400 Bad Request: {name} has more than {ITEMS_MAX} items", "notion/400")
        texts = [item.get("text", {}).get("content", item.get("plain_text", "")) for item in written]
        if any(len(text) > TEXT_CHARACTERS_MAX for text in texts):
            raise ServiceError(f"400 Bad Request: {name} is longer than {TEXT_CHARACTERS_MAX} characters", "notion/400")
        return "".join(texts)
    if kind in ("select", "status"):
        return None if written is None else _option(name, written["name"])
    if kind == "multi_select":
        return [_option(name, option["name"]) for option in written]
    if kind == "date":
        if written is None:
            return None
        return {"start": written["start"], "end": written["end"]} if written.get("end") else written["start"]
    return written


def _option(name: str, option: str) -> str:
    if "," in option or len(option) > OPTION_CHARACTERS_MAX:
        raise ServiceError(f"400 Bad Request: {name} has no option {option!r}: too long, or with a comma", "notion/400")
    return option


def _shown(row: dict[str, Any], schema: dict[str, str], database: str) -> dict[str, Any]:
    author = {"object": "user", "id": _id("user/dayshift")}
    identity = row["id"]
    return {
        "object": "page",
        "id": identity,
        "created_time": "1970-01-01T00:00:00.000Z",
        "last_edited_time": "1970-01-01T00:00:00.000Z",
        "created_by": author,
        "last_edited_by": author,
        "cover": None,
        "icon": None,
        "parent": {"type": "database_id", "database_id": database},
        "archived": False,
        "in_trash": False,
        "properties": {
            name: {
                "id": "title" if kind == "title" else hashlib.sha256(name.encode()).hexdigest()[:4],
                "type": kind,
                kind: _read(kind, row["properties"].get(name)),
            }
            for name, kind in schema.items()
        },
        "url": f"https://www.notion.so/{identity.replace('-', '')}",
        "public_url": None,
    }


def _read(kind: str, value: Any) -> Any:
    if kind in ("title", "rich_text"):
        return [_text(value)] if value else []
    if kind in ("select", "status"):
        return {"id": _id(f"option/{value}"), "name": value, "color": "default"} if value else None
    if kind == "multi_select":
        return [{"id": _id(f"option/{name}"), "name": name, "color": "default"} for name in value or []]
    if kind == "date":
        if not value:
            return None
        if isinstance(value, dict):
            return {"start": value.get("start"), "end": value.get("end"), "time_zone": value.get("zone")}
        return {"start": value, "end": None, "time_zone": None}
    if kind == "checkbox":
        return bool(value)
    if kind in ("people", "files"):
        return [{"object": "user", "name": name} for name in value or []]
    return value if value != "" else None


def _text(text: str) -> dict[str, Any]:
    return {
        "type": "text",
        "text": {"content": text, "link": None},
        "annotations": dict(PLAIN),
        "plain_text": text,
        "href": None,
    }


def _id(name: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"dayshift.clawmark/{name}"))
