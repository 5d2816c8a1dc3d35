"""Agents: whoever has `async def act(self, notification, tools)`. Two are here, one that does nothing and one that is busy everywhere."""

import importlib
from typing import Any, Protocol

from dayshift import Episode, Rejected

__all__ = ["Agent", "Busy", "Noop", "Tools", "find_agent"]


class Agent(Protocol):
    """An agent. One object plays one task; `act` is called once a stage and returns when it is done."""

    async def act(self, notification: str, tools: "Tools") -> None: ...


class Tools:
    """The office's tools, as an agent of a task has them. Every call is on record, refused ones too."""

    def __init__(self, episode: Episode, task: Any) -> None:
        self._episode = episode
        self.users: dict[str, str] = task.users
        """The mail addresses of everybody, by logical name."""

    def list(self) -> list[dict[str, Any]]:
        """Returns the tools: dicts with `name`, `description` and `parameters` (JSON schema)."""
        return self._episode.tools()

    async def call(self, tool: str, **arguments: Any) -> Any:
        """Makes one call and returns its answer. Raises `dayshift.Rejected` when it is refused."""
        return self._episode.call(tool, **arguments)

    async def say(self, text: str = "") -> None:
        """Begins a turn with what the agent says; calls that follow belong to it."""
        self._episode.say(text)


class Noop:
    """Does nothing."""

    async def act(self, notification: str, tools: Tools) -> None:
        return None


class Busy:
    """Touches everything, knowing nothing: mails everybody, edits rows, cells and events, and writes files. Drives every service, so that not
    only silence is tested; whether it scores does not matter."""

    def __init__(self) -> None:
        self.stage = 0

    async def act(self, notification: str, tools: Tools) -> None:
        stage, self.stage = self.stage, self.stage + 1
        await tools.say(f"Stage {stage}: I look at everything and leave a mark everywhere.")
        await self._files(stage, notification, tools)
        await self._mail(stage, tools)
        await tools.say("Now the tables.")
        await self._rows(stage, tools)
        await self._cells(stage, tools)
        await self._events(stage, notification, tools)

    async def _files(self, stage: int, notification: str, tools: Tools) -> None:
        found = await tools.call("files.find", pattern="*.md", path="/workspace")
        names = [str(entry.get("path", entry)) if isinstance(entry, dict) else str(entry) for entry in _items(found)]
        text = f"# Stage {stage}\n\n{notification}\n\n" + "\n".join(f"- {name}" for name in names)
        for folder in ("outputs", "output", "workspace"):
            await tools.call("files.write", path=f"/workspace/{folder}/notes-{stage}.md", text=text)
        await tools.call("files.write", path=f"/workspace/outputs/table-{stage}.csv", text="id,value,status\nA,1,done\n")

    async def _mail(self, stage: int, tools: Tools) -> None:
        await tools.call("mail.list")
        for address in tools.users.values():
            await _try(
                tools, "mail.send", to=[address], subject=f"Stage {stage}: done", body="Done and confirmed.\nPlease check."
            )

    async def _rows(self, stage: int, tools: Tools) -> None:
        for database in _items(await tools.call("knowledge.databases")):
            schema = await tools.call("knowledge.database", database=database["id"])
            texts = [each["name"] for each in schema["properties"] if each["type"] == "text"]
            titles = [each["name"] for each in schema["properties"] if each["type"] == "title"]
            rows = (await tools.call("knowledge.query", database=database["id"]))["rows"]
            for row in rows[:2]:
                if texts:
                    await _try(
                        tools, "knowledge.update_row", row=row["id"], properties={texts[-1]: f"checked in stage {stage}"}
                    )
            new = {titles[0]: f"NEW-{stage}"} if titles else {}
            await _try(tools, "knowledge.create_row", database=database["id"], properties=new)

    async def _cells(self, stage: int, tools: Tools) -> None:
        for book in _items(await tools.call("sheets.books")):
            await tools.call("sheets.read", book=book["id"], range="Sheet1!A1:Z20")
            await _try(tools, "sheets.write", book=book["id"], range="Sheet1!B2", rows=[[f"stage {stage}"]])
            await _try(tools, "sheets.append", book=book["id"], range="Sheet1", rows=[[f"row {stage}", "5%", "007"]])

    async def _events(self, stage: int, notification: str, tools: Tools) -> None:
        calendars = _items(await tools.call("calendar.calendars"))
        for calendar in calendars:
            day = f"2027-03-{10 + stage:02}"
            await _try(
                tools,
                "calendar.create",
                calendar=calendar["name"],
                summary=f"Review {stage}",
                start=f"{day}T09:00:00+00:00",
                end=f"{day}T10:00:00+00:00",
            )


async def _try(tools: Tools, tool: str, **arguments: Any) -> Any:
    try:
        return await tools.call(tool, **arguments)
    except Rejected:
        return None


def _items(answer: Any) -> list[Any]:
    """Returns the list in an answer, whatever its name."""
    if isinstance(answer, list):
        return answer
    return next((value for value in answer.values() if isinstance(value, list)), [])


def find_agent(name: str) -> type:
    """Returns the class that `name` means: `noop`, `busy`, or `module:Class`."""
    if name == "noop":
        return Noop
    if name == "busy":
        return Busy
    module, _, attribute = name.partition(":")
    if not attribute:
        raise ValueError(f"there is no agent {name!r}; use noop, busy or module:Class")
    return getattr(importlib.import_module(module), attribute)
