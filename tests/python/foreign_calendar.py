"""Reads iCalendar files with the icalendar package and compares them before and after a change by the office (tests/tests/foreign_calendar.rs).

Reads one JSON object a line: the files, the uid of the event that was changed and of the one that was made, if any. Writes one JSON object a line: the
faults. Every content line of the file before is there after, in its order, but for the lines of the changed event that a change may touch, and a VTIMEZONE for its zone if the file had none.
Where the package can read both files, every component with its properties, parameters and parts is compared, too.
"""

import difflib
import json
import pathlib
import sys

import icalendar

# What a change of the summary may touch. SUMMARY must be the new one, and the others are there only to say that something changed.
TOUCHED = {"SUMMARY", "SEQUENCE", "DTSTAMP", "LAST-MODIFIED"}


def lines(path):
    """Content lines as bytes, unfolded."""
    content = pathlib.Path(path).read_bytes().replace(b"\r\n", b"\n")
    return content.replace(b"\n ", b"").replace(b"\n\t", b"").split(b"\n")


def name(line):
    return line.split(b":")[0].split(b";")[0].strip().decode("latin-1").upper()


def check_lines(case, faults):
    before, after = lines(case["before"]), lines(case["after"])
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for tag, first, last, new_first, new_last in matcher.get_opcodes():
        if tag == "equal":
            continue
        gone = [line for line in before[first:last] if name(line) not in TOUCHED]
        come = [line for line in after[new_first:new_last] if name(line) not in TOUCHED]
        if come[:1] == [b"BEGIN:VTIMEZONE"] and come[-1:] == [b"END:VTIMEZONE"] and come[1] not in before:
            come = []
        if gone or come:
            faults.append(f"lines {gone[:3]} became {come[:3]}")


def shown(component):
    """A component as comparable data: its name, its properties with parameters in order, and its parts."""
    properties = []
    for key, values in component.items():
        for value in values if isinstance(values, list) else [values]:
            parameters = sorted((name, str(each)) for name, each in getattr(value, "params", {}).items())
            text = value.to_ical()
            properties.append((key, parameters, text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)))
    return (component.name, sorted(properties), [shown(each) for each in component.subcomponents])


def all_shown(path):
    content = pathlib.Path(path).read_bytes()
    return [shown(calendar) for calendar in icalendar.Calendar.from_ical(content, multiple=True)]


def without(component, wanted):
    """The component with the touched properties of the changed event taken out, and the SUMMARY values that were found there."""
    kind, properties, parts = component
    is_it = kind == "VEVENT" and any(key == "UID" and text == wanted for key, _, text in properties)
    summaries = [text for key, _, text in properties if key == "SUMMARY"] if is_it else []
    if is_it:
        properties = [each for each in properties if each[0] not in TOUCHED]
    kept = []
    for part in parts:
        part, more = without(part, wanted)
        kept.append(part)
        summaries += more
    return (kind, properties, kept), summaries


def tzid(component):
    return next((text for key, _, text in component[1] if key == "TZID"), None)


def check_components(case, faults):
    try:
        before = all_shown(case["before"])
    except Exception as error:
        return f"{error!r}"
    try:
        after = all_shown(case["after"])
    except Exception as error:
        faults.append(f"the package reads the file before and not after: {error!r}")
        return None
    if len(before) != len(after):
        faults.append(f"{len(before)} calendars became {len(after)}")
        return None
    uid = icalendar.vText(case["uid"]).to_ical().decode()
    changed = icalendar.vText(case["summary"]).to_ical().decode()
    found = []
    for old, new in zip(before, after):
        old, earlier = without(old, uid)
        new, summaries = without(new, uid)
        found += summaries
        # Of two components that say they are the same, the later revision counts and the other stays as it is.
        if any(summary != changed and summary not in earlier for summary in summaries):
            faults.append(f"summaries of the changed event are {summaries}")
        # A zone that the changed event names and the file did not define is defined now.
        defined = [tzid(part) for part in old[2]]
        new = (new[0], new[1], [part for part in new[2] if part[0] != "VTIMEZONE" or tzid(part) in defined])
        if old != new:
            gone = [part for part in old[2] if part not in new[2]]
            come = [part for part in new[2] if part not in old[2]]
            faults.append(f"components {str(gone)[:500]} became {str(come)[:500]}; properties {old[1]} {new[1]}"[:1500])
    if changed not in found:
        faults.append(f"the change is not there: {found}")
    return None


def check_made(case, faults):
    """One event more, as it was asked for."""
    try:
        before = [event for each in icalendar.Calendar.from_ical(pathlib.Path(case["after"]).read_bytes(), multiple=True) for event in each.walk("VEVENT")]
    except Exception:
        return
    after = [event for each in icalendar.Calendar.from_ical(pathlib.Path(case["made"]).read_bytes(), multiple=True) for event in each.walk("VEVENT")]
    mine = [event for event in after if str(event.get("UID")) == case["made_uid"]]
    if len(after) != len(before) + 1 or len(mine) != 1:
        faults.append(f"{len(before)} events and one that was made are {len(after)}")
        return
    event = mine[0]
    start = event.decoded("DTSTART")
    found = (str(event["SUMMARY"]), start.isoformat(), str(event["DTSTART"].params.get("TZID")), str(event["DESCRIPTION"]))
    if found != (case["made_summary"], "2026-03-18T10:00:00+01:00", "Europe/Berlin", case["made_description"]):
        faults.append(f"the event that was made is {found}")


def check(case):
    faults = []
    unread = None
    if case.get("after"):
        check_lines(case, faults)
        unread = check_components(case, faults)
    if case.get("made"):
        check_made(case, faults)
    return {"name": case["name"], "faults": faults, "understood": unread is None, "because": unread}


def main():
    for line in sys.stdin:
        print(json.dumps(check(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
