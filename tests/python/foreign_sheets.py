"""Reads workbooks with openpyxl and compares them before and after a change by the office (tests/tests/foreign_sheets.rs).

Reads one JSON object a line: the files, the cell that was written on the first worksheet, and what the office showed of each cell. Writes one JSON
object a line: the faults. The order and names of worksheets, the value or formula of every other cell, what formulas came to, number formats, merged
cells and named ranges are the same.
"""

import datetime as dt
import json
import re
import sys

import openpyxl
from openpyxl.cell.cell import MergedCell
from openpyxl.worksheet.formula import ArrayFormula, DataTableFormula


def plain(value):
    """A cell's value as both programs can have it."""
    if isinstance(value, ArrayFormula):
        return value.text if value.text.startswith("=") else f"={value.text}"
    if isinstance(value, DataTableFormula):
        return "data table"
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, (int, float)):
        return float(value)
    if isinstance(value, str):
        # Characters that XML cannot hold are written as _xHHHH_ (ECMA-376, 22.9.2.19), which the package leaves as they are.
        return re.sub("_x([0-9A-Fa-f]{4})_", lambda match: chr(int(match[1], 16)), value)
    if isinstance(value, (dt.datetime, dt.date, dt.time, dt.timedelta)):
        return ("time", str(value))
    return str(value)


def same(one, other):
    if isinstance(one, float) and isinstance(other, float):
        return one == other or abs(one - other) <= 1e-9 * max(abs(one), abs(other))
    return one == other


def spelled(formula):
    """A formula with its function names in capitals, as Excel has them and LibreOffice has not always."""
    if not isinstance(formula, str) or not formula.startswith("="):
        return formula
    return re.sub(r"_xlfn\.[a-z]+\(", lambda match: match[0].upper().replace("_XLFN", "_xlfn"), formula)


def cells(sheet):
    found = {}
    # The package has no public way to the filled cells alone, and a worksheet may fill its corners.
    for cell in sheet._cells.values():
        if not isinstance(cell, MergedCell) and (cell.value is not None or cell.number_format != "General"):
            found[cell.coordinate] = (plain(cell.value), cell.number_format)
    return found


def compare(case, name, before, after, what, faults, volatile=()):
    for place in sorted(before.keys() | after.keys()):
        if (name, place) == (case["worksheet"], case["cell"]) or (name, place) in volatile:
            continue
        old, new = before.get(place, (None, "General")), after.get(place, (None, "General"))
        if not same(spelled(old[0]), spelled(new[0])):
            faults.append(f"{what} of {name}!{place} was {old[0]!r} and is {new[0]!r}")
        if old[1].upper() != new[1].upper() and what == "value":
            faults.append(f"format of {name}!{place} was {old[1]!r} and is {new[1]!r}")


def names(book):
    return {name: defined.attr_text for name, defined in book.defined_names.items() if not name.startswith("_xl") and "!" in defined.attr_text and "#REF" not in defined.attr_text}


def check(case):
    faults = []
    try:
        before = openpyxl.load_workbook(case["before"])
        cached = openpyxl.load_workbook(case["before"], data_only=True)
    except Exception as error:
        return {"name": case["name"], "faults": [], "understood": False, "because": repr(error)}
    after = openpyxl.load_workbook(case["after"])
    computed = openpyxl.load_workbook(case["after"], data_only=True)
    worksheets = [sheet.title for sheet in before.worksheets]
    if worksheets != [sheet.title for sheet in after.worksheets]:
        faults.append(f"worksheets {worksheets} are {after.sheetnames}")
        return {"name": case["name"], "faults": faults, "understood": True}
    for name in worksheets:
        compare(case, name, cells(before[name]), cells(after[name]), "value", faults)
        # What a formula came to, where the file before says so.
        old, new = cells(cached[name]), cells(computed[name])
        old = {place: cell for place, cell in old.items() if cell[0] is not None}
        compare(case, name, old, {place: cell for place, cell in new.items() if place in old}, "result", faults, {tuple(each) for each in case["recomputed"]})
        ranges = [sorted(str(each) for each in sheet.merged_cells.ranges) for sheet in (before[name], after[name])]
        if ranges[0] != ranges[1]:
            faults.append(f"merged cells of {name} {ranges[0]} are {ranges[1]}")
    if names(before) != names(after):
        faults.append(f"named ranges {names(before)} are {names(after)}")
    written = after[case["worksheet"]][case["cell"]].value
    if written != case["written"]:
        faults.append(f"the cell {case['cell']} that was written holds {written!r}")
    return {"name": case["name"], "faults": faults, "understood": True}


def main():
    for line in sys.stdin:
        print(json.dumps(check(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
