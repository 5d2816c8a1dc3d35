"""Writes calendars with the icalendar package (version in xtask's PYTHON_PACKAGES) into material/calendars. Deterministic."""

import datetime as dt
import pathlib
import zoneinfo

from icalendar import Alarm, Calendar, Event, FreeBusy, Journal, Timezone, Todo, vCalAddress, vDatetime, vPeriod, vRecur, vText

OUT = pathlib.Path(__file__).parent / "material/calendars"
BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")
NEW_YORK = zoneinfo.ZoneInfo("America/New_York")
STAMP = dt.datetime(2026, 3, 1, 12, 0, tzinfo=dt.timezone.utc)


def calendar(*parts, zones=()):
    made = Calendar()
    made.add("prodid", "-//icalendar//Foreign material//EN")
    made.add("version", "2.0")
    for zone in zones:
        made.add_component(Timezone.from_tzid(zone, first_date=dt.date(2025, 1, 1), last_date=dt.date(2027, 12, 31)))
    for part in parts:
        made.add_component(part)
    return made


def event(uid, summary, start, end=None, **more):
    made = Event()
    made.add("uid", f"{uid}@icalendar.example")
    made.add("dtstamp", STAMP)
    made.add("summary", summary)
    made.add("dtstart", start)
    if end is not None:
        made.add("dtend", end)
    for name, value in more.items():
        made.add(name.replace("_", "-"), value)
    return made


def simple():
    plain = event("simple", "Roof: a, b; c\\d", dt.datetime(2026, 3, 20, 9, tzinfo=dt.timezone.utc), dt.datetime(2026, 3, 20, 10, tzinfo=dt.timezone.utc))
    plain.add("description", "First line\nsecond line, with a comma; and a long text that goes on and on until it has to be folded – with Grüße and 你好.")
    plain.add("location", 'Room "3", Köln')
    plain.add("categories", ["WORK", "Roof, big"])
    plain.add("geo", (50.94, 6.96))
    plain.add("url", "https://roof.example/a?b=1,2;3")
    plain.add("x-unknown-thing", "kept; as, it is", parameters={"X-PARAM": "some value"})
    plain.add("attach", "https://roof.example/plan.pdf", parameters={"FMTTYPE": "application/pdf"})
    return calendar(plain)


def all_day():
    day = event("day", "Holiday", dt.date(2026, 4, 3), dt.date(2026, 4, 7), transp="TRANSPARENT")
    birthday = event("birthday", "Birthday", dt.date(2020, 2, 29), rrule=vRecur(freq="YEARLY"))
    return calendar(day, birthday)


def recurring():
    weekly = event("weekly", "Weekly", dt.datetime(2026, 3, 2, 9, tzinfo=BERLIN), dt.datetime(2026, 3, 2, 10, tzinfo=BERLIN))
    weekly.add("rrule", {"freq": "weekly", "byday": ["MO", "WE"], "until": dt.datetime(2026, 6, 30, 7, tzinfo=dt.timezone.utc)})
    weekly.add("exdate", [dt.datetime(2026, 3, 9, 9, tzinfo=BERLIN), dt.datetime(2026, 3, 11, 9, tzinfo=BERLIN)])
    weekly.add("rdate", [dt.datetime(2026, 3, 13, 15, tzinfo=BERLIN)])
    moved = event("weekly", "Weekly, moved", dt.datetime(2026, 3, 16, 14, tzinfo=BERLIN), dt.datetime(2026, 3, 16, 15, tzinfo=BERLIN))
    moved.add("recurrence-id", dt.datetime(2026, 3, 16, 9, tzinfo=BERLIN))
    moved.add("sequence", 2)
    return calendar(weekly, moved, zones=["Europe/Berlin"])


def invited():
    meeting = event("invited", "Meeting", dt.datetime(2026, 3, 24, 15, tzinfo=NEW_YORK), dt.datetime(2026, 3, 24, 16, tzinfo=NEW_YORK), status="CONFIRMED", priority=5, sequence=3)
    organizer = vCalAddress("mailto:bob@partner.example")
    organizer.params["CN"] = vText("Stone, Bob")
    meeting["organizer"] = organizer
    for address, name, answer, role in [("ann@acme.example", "Ann Lee", "NEEDS-ACTION", "REQ-PARTICIPANT"), ("zoe@firma.example", "Zoë", "ACCEPTED", "CHAIR"), ("room3@acme.example", "Room 3", "TENTATIVE", "NON-PARTICIPANT")]:
        attendee = vCalAddress(f"mailto:{address}")
        attendee.params["CN"] = vText(name)
        attendee.params["PARTSTAT"] = vText(answer)
        attendee.params["ROLE"] = vText(role)
        attendee.params["X-NUM-GUESTS"] = vText("0")
        meeting.add("attendee", attendee, encode=0)
    made = calendar(meeting, zones=["America/New_York"])
    made.add("method", "REQUEST")
    made.add("x-wr-calname", "Partner")
    return made


def alarms():
    trip = event("alarms", "Trip", dt.datetime(2026, 5, 1, 6, tzinfo=BERLIN))
    trip.add("duration", dt.timedelta(hours=30))
    for action, trigger in [("DISPLAY", dt.timedelta(minutes=-15)), ("AUDIO", dt.timedelta(days=-1)), ("EMAIL", dt.datetime(2026, 4, 30, 8, tzinfo=dt.timezone.utc))]:
        alarm = Alarm()
        alarm.add("action", action)
        alarm.add("trigger", trigger)
        alarm.add("description", "Pack; now")
        alarm.add("x-own", "y")
        trip.add_component(alarm)
    return calendar(trip, zones=["Europe/Berlin"])


def mixed():
    todo = Todo()
    todo.add("uid", "todo@icalendar.example")
    todo.add("dtstamp", STAMP)
    todo.add("summary", "Order tiles")
    todo.add("due", dt.datetime(2026, 3, 27, 12, tzinfo=dt.timezone.utc))
    todo.add("percent-complete", 40)
    journal = Journal()
    journal.add("uid", "journal@icalendar.example")
    journal.add("dtstamp", STAMP)
    journal.add("description", "Rain all day.")
    busy = FreeBusy()
    busy.add("uid", "busy@icalendar.example")
    busy.add("dtstamp", STAMP)
    busy.add("freebusy", vPeriod((dt.datetime(2026, 3, 20, 9, tzinfo=dt.timezone.utc), dt.timedelta(hours=2))))
    floating = event("floating", "Lunch", dt.datetime(2026, 3, 20, 12), dt.datetime(2026, 3, 20, 13))
    return calendar(todo, journal, floating, busy)


def monthly():
    last = event("monthly", "Report", dt.datetime(2026, 1, 30, 16, tzinfo=NEW_YORK), dt.datetime(2026, 1, 30, 17, tzinfo=NEW_YORK))
    last.add("rrule", {"freq": "monthly", "byday": ["MO", "TU", "WE", "TH", "FR"], "bysetpos": -1, "count": 12})
    night = event("night", "Night shift", dt.datetime(2026, 10, 24, 22, tzinfo=BERLIN), dt.datetime(2026, 10, 25, 6, tzinfo=BERLIN))
    night.add("rrule", {"freq": "daily", "interval": 2, "count": 5})
    return calendar(last, night, zones=["America/New_York", "Europe/Berlin"])


def own_zone():
    """A zone that no database knows, and times in it."""
    text = simple().to_ical().decode().replace("DTSTART:20260320T090000Z", "DTSTART;TZID=Roof Time:20260320T090000").replace("DTEND:20260320T100000Z", "DTEND;TZID=Roof Time:20260320T100000")
    zone = "BEGIN:VTIMEZONE\r\nTZID:Roof Time\r\nBEGIN:STANDARD\r\nDTSTART:20251025T030000\r\nTZOFFSETFROM:+0230\r\nTZOFFSETTO:+0130\r\nRRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU\r\nEND:STANDARD\r\nBEGIN:DAYLIGHT\r\nDTSTART:20250330T020000\r\nTZOFFSETFROM:+0130\r\nTZOFFSETTO:+0230\r\nRRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU\r\nEND:DAYLIGHT\r\nEND:VTIMEZONE\r\n"
    return Calendar.from_ical(text.replace("BEGIN:VEVENT", zone + "BEGIN:VEVENT"))


def many():
    """As an export of a season: sixty events."""
    start = dt.datetime(2026, 3, 2, 8, tzinfo=dt.timezone.utc)
    return calendar(*[event(f"many-{number}", f"Visit {number}", start + dt.timedelta(hours=7 * number), start + dt.timedelta(hours=7 * number + 1)) for number in range(60)])


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    for maker in [simple, all_day, recurring, invited, alarms, mixed, monthly, own_zone, many]:
        (OUT / f"icalendar-{maker.__name__.replace('_', '-')}.ics").write_bytes(maker().to_ical())


if __name__ == "__main__":
    main()
