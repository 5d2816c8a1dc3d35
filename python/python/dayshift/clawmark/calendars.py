"""`ctx.calendar`: CalDAV calendars on a host in UTC."""

import hashlib
import re
from datetime import date, datetime, timezone
from typing import Any

from .office import Look, ServiceError, Stager

__all__ = ["Calendars"]

EVENT_ID = "clawmark-{}"


class Calendars:
    def __init__(self, look: Look, stager: Stager | None) -> None:
        self._look = look
        self._stager = stager

    async def create_calendar(self, name: str) -> str:
        # A second calendar of a name is never seen: the first one answers to it.
        if not self._known(name):
            self._stager.do("calendar.make", calendar=name)
        return _url(name)

    async def add_event(
        self,
        calendar: str,
        summary: str,
        dtstart: datetime,
        dtend: datetime,
        *,
        description: str = "",
        location: str = "",
        uid: str | None = None,
    ) -> str:
        self._need(calendar)
        if uid is None:
            content = f"{calendar}/{summary}/{dtstart}/{dtend}/{description}/{location}/{len(self._all(calendar))}"
            uid = EVENT_ID.format(hashlib.sha256(content.encode()).hexdigest()[:12])
        lines = [
            "BEGIN:VCALENDAR",
            "VERSION:2.0",
            "PRODID:-//Dayshift//ClawMark//EN",
            "BEGIN:VEVENT",
            f"UID:{_escaped(uid)}",
            "DTSTAMP:19700101T000000Z",
            f"DTSTART{_moment(dtstart)}",
            f"DTEND{_moment(dtend)}",
            f"SUMMARY:{_escaped(summary)}",
        ]
        if description:
            lines.append(f"DESCRIPTION:{_escaped(description)}")
        if location:
            lines.append(f"LOCATION:{_escaped(location)}")
        lines += ["END:VEVENT", "END:VCALENDAR", ""]
        blob = self._stager.blob("\r\n".join(map(_folded, lines)).encode())
        self._stager.do("calendar.import", calendar=calendar, blob=blob)
        return uid

    async def get_events(
        self, calendar: str, start: datetime | None = None, end: datetime | None = None
    ) -> list[dict[str, str]]:
        self._need(calendar)
        if start is None or end is None:
            return [_shown(event) for event in self._all(calendar)]
        found = self._look().ask("calendar.events", calendar=calendar, **{"from": _utc(start), "until": _utc(end)})
        return [shown for event in found if _overlaps(shown := _shown(event), start, end)]

    async def find_events(self, calendar: str, text: str) -> list[dict[str, str]]:
        return [event for event in await self.get_events(calendar) if text.lower() in event["summary"].lower()]

    async def delete_event(self, calendar: str, uid: str) -> None:
        self._need(calendar)
        if all(event["uid"] != uid for event in self._all(calendar)):
            raise ServiceError(f"NotFoundError: {uid} not found on server", "calendar/not-found")
        self._stager.do("calendar.delete", calendar=calendar, uid=uid)

    async def list_calendars(self) -> list[dict[str, str]]:
        calendars = self._look().ask("calendar.calendars")
        return [{"name": each["name"], "url": _url(each["name"])} for each in calendars]

    def _all(self, calendar: str) -> list[dict[str, Any]]:
        return self._look().ask("calendar.events", calendar=calendar)

    def _known(self, name: str) -> bool:
        return self._look().ask("calendar.events", calendar=name) is not None

    def _need(self, name: str) -> None:
        if not self._known(name):
            raise ValueError(f"Calendar not found: {name}")


def _url(name: str) -> str:
    return f"http://radicale:5232/benchmark/{hashlib.sha256(name.encode()).hexdigest()[:16]}/"


def _moment(time: date | datetime) -> str:
    if not isinstance(time, datetime):
        return f";VALUE=DATE:{time:%Y%m%d}"
    time = time if time.tzinfo is None else time.astimezone(timezone.utc)
    return f":{time:%Y%m%dT%H%M%S}Z"


def _utc(time: datetime) -> str:
    time = time.replace(tzinfo=timezone.utc) if time.tzinfo is None else time
    return time.isoformat()


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,").replace("\r\n", "\\n").replace("\n", "\\n")


def _folded(line: str) -> str:
    """Folds a line at 75 octets (RFC 5545, 3.1), between characters."""
    pieces, piece, room = [], "", 75
    for character in line:
        width = len(character.encode())
        if width > room:
            pieces.append(piece)
            piece, room = "", 74
        piece += character
        room -= width
    return "\r\n ".join([*pieces, piece])


def _shown(event: dict[str, Any]) -> dict[str, str]:
    shown = {
        "uid": event["uid"],
        "summary": event["summary"] or "",
        "dtstart": _written(event, "start"),
        "dtend": _written(event, "end"),
    }
    for name in ("description", "location"):
        if event.get(name):
            shown[name] = event[name]
    return shown


def _written(event: dict[str, Any], name: str) -> str:
    """The time as Python's icalendar reads it: one whose zone is a plain offset (``TZID="UTC+08:00"``) comes back without it."""
    text = _iso(event[name])
    is_offset = re.fullmatch(r"(?i)(utc|gmt)?[+-]\d{1,2}(:?\d\d)?", event.get("zone", "")) is not None
    return datetime.fromisoformat(text).replace(tzinfo=None).isoformat() if is_offset else text


def _iso(text: str) -> str:
    return f"{text[:-1]}+00:00" if text.endswith("Z") else text


def _overlaps(event: dict[str, str], start: datetime, end: datetime) -> bool:
    """Overlaps as RFC 4791, 9.9 has it; an event without length only strictly inside."""
    begins, ends = _instant(event["dtstart"]), _instant(event["dtend"])
    low, high = _instant(start.isoformat()), _instant(end.isoformat())
    return begins < high and ends > low


def _instant(text: str) -> datetime:
    time = datetime.fromisoformat(text)
    return time.replace(tzinfo=timezone.utc) if time.tzinfo is None else time
