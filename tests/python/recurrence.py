"""Expands recurring events as other programs do, for the test that compares our expansion with theirs.

Reads one JSON object a line from standard input: an id, an iCalendar file with one event, a rule, its first start on the wall, and a range in UTC.
Writes one JSON object a line: the instances that recurring-ical-events finds, and the times that dateutil's rule gives by itself.
"""

import datetime
import json
import sys

import icalendar
import recurring_ical_events
from dateutil.rrule import rrulestr

UTC = datetime.timezone.utc
# The package widens the range by the length on the wall, which is an hour short when the clocks go back; so ask for more and look again here.
SLACK = datetime.timedelta(days=3)


def instant(time):
    """Returns a time as an instant; a date or floating time counts as UTC."""
    if not isinstance(time, datetime.datetime):
        time = datetime.datetime(time.year, time.month, time.day)
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def text(time):
    return time.strftime("%Y-%m-%dT%H:%M:%S")


def expand(case, has_rule):
    calendar = icalendar.Calendar.from_ical(case["file"])
    if not has_rule:
        del calendar.walk("VEVENT")[0]["RRULE"]
    begin = datetime.datetime.fromisoformat(case["from"]).replace(tzinfo=UTC)
    end = datetime.datetime.fromisoformat(case["until"]).replace(tzinfo=UTC)
    found = []
    for event in recurring_ical_events.of(calendar).between(begin - SLACK, end + SLACK):
        starts, ends = instant(event["DTSTART"].dt), instant(event["DTEND"].dt)
        if starts < end and ends > begin:
            found.append((text(starts), text(ends)))
    return sorted(found)


def count(case):
    """Returns the times of the rule, or nothing if dateutil says that it never happens."""
    try:
        rule = rrulestr(case["rule"], dtstart=datetime.datetime.fromisoformat(case["start"]))
    except ValueError as error:
        if not any(known in str(error) for known in ("combination of interval", "generates an empty set")):
            raise
        return None
    begin, end = (datetime.datetime.fromisoformat(case[name]) for name in ("from", "until"))
    return [text(time) for time in rule.between(begin, end, inc=True)]


def main():
    for line in sys.stdin:
        case = json.loads(line)
        times = count(case)
        answer = {"id": case["id"], "instances": expand(case, times is not None), "rule": times or []}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
