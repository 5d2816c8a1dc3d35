"""Writes workbooks with openpyxl (version in xtask's PYTHON_PACKAGES) into material/sheets. Deterministic."""

import datetime as dt
import pathlib

from openpyxl import Workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.comments import Comment
from openpyxl.formatting.rule import CellIsRule
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.formula import ArrayFormula
from openpyxl.worksheet.table import Table

from rezip import rezip

OUT = pathlib.Path(__file__).parent / "material/sheets"


def types(book):
    sheet = book.active
    sheet.title = "Types"
    rows = [
        ("text", "007"), ("number", 5), ("float", 1234.5678), ("negative", -0.5), ("big", 12345678901234567890), ("small", 1.5e-12),
        ("true", True), ("false", False), ("date", dt.date(2026, 3, 16)), ("time", dt.time(9, 30)), ("moment", dt.datetime(2026, 3, 16, 9, 30, 15)),
        ("duration", dt.timedelta(hours=30, minutes=5)), ("unicode", "Größe 你好 🏠"), ("spaces", "  two  "), ("lines", "one\ntwo"), ("xml", "<a & 'b' \"c\">"),
        ("error", "#N/A"), ("looks like a formula", "'=1+1"), ("escape", "_x0041_ and \t tab"),
    ]
    for row in rows:
        sheet.append(row)


def formats(book):
    sheet = book.active
    sheet.title = "Formats"
    codes = [
        "0", "0.00", "#,##0", "#,##0.00", "0%", "0.00%", "0.00E+00", "# ?/?", "mm-dd-yy", "d-mmm-yy", "h:mm AM/PM", "h:mm:ss", "m/d/yy h:mm", "@", "mm:ss",
        '#,##0.00 "€"', '[$€-407] #,##0.00', '"$"#,##0_);[Red]("$"#,##0)', "yyyy-mm-dd hh:mm", "[h]:mm:ss", '0.0,,"M"', "000-00-0000", '[>100]"much";"little"', "General", ";;;",
        '_-* #,##0.00 "kr"_-;-* #,##0.00 "kr"_-',
    ]
    for number, code in enumerate(codes, 1):
        sheet.cell(number, 1, code)
        sheet.cell(number, 2, 46097.395833).number_format = code
        sheet.cell(number, 3).number_format = code


def formulas(book):
    data = book.active
    data.title = "Data"
    for row in [("Item", "Price", "Count", "Sum"), ("Tile", 2.5, 100, "=B2*C2"), ("Nail", 0.05, 1000, "=B3*C3"), ("Beam", 80, 4, "=B4*C4")]:
        data.append(row)
    data["D5"] = "=SUM(D2:D4)"
    data["D6"] = '=IF(D5>500,"much","little")'
    data["D7"] = '=VLOOKUP("Nail",A2:D4,2,FALSE)'
    data["D8"] = "=1/0"
    data["D9"] = '=TEXT(D5,"0.00")&" EUR"'
    data["D10"] = "=SUMIF(A2:A4,\"T*\",D2:D4)"
    data["D11"] = "=_xlfn.CONCAT(A2:A4)"
    data["D12"] = '=_xlfn.IFS(D5>1000,"a",TRUE,"b")'
    data["D14"] = '=TEXT(D5,"0")'
    data["D15"] = '="TRUE"'
    data["D13"] = "=_xlfn.XLOOKUP(\"Beam\",A2:A4,B2:B4)"
    other = book.create_sheet("It's more; 2")
    other["A1"] = "=Data!D5*Rate"
    other["A2"] = 0.19
    other["A3"] = "='It''s more; 2'!A1+SUM(Data!B:B)"
    other["A4"] = "=INDEX(Data!A1:D4,2,1)"
    book.defined_names["Rate"] = DefinedName("Rate", attr_text="'It''s more; 2'!$A$2")
    book.defined_names["Prices"] = DefinedName("Prices", attr_text="Data!$B$2:$B$4")


def array(book):
    sheet = book.active
    for row in range(1, 5):
        sheet.append((row, row * row))
    sheet["D1"] = ArrayFormula("D1:D4", "=A1:A4*B1:B4")
    sheet["E1"] = ArrayFormula("E1", "=SUM(A1:A4*B1:B4)")


def merged(book):
    sheet = book.active
    sheet.title = "Merged"
    sheet["A1"] = "Title over four"
    sheet.merge_cells("A1:D1")
    sheet["A1"].alignment = Alignment(horizontal="center")
    sheet["B3"] = 5
    sheet.merge_cells("B3:C6")
    sheet.merge_cells("E2:E9")
    sheet["E2"] = dt.date(2026, 3, 16)


def styled(book):
    """Much that we do not know: it stays as long as nothing is changed."""
    sheet = book.active
    sheet.title = "Styled"
    sheet["A1"] = "Bold"
    sheet["A1"].font = Font(bold=True, color="FF0000", name="Arial")
    sheet["A1"].fill = PatternFill("solid", fgColor="FFFF00")
    sheet["A2"] = CellRichText("plain ", TextBlock(InlineFont(b=True), "bold"), " end")
    sheet["A3"] = "Link"
    sheet["A3"].hyperlink = "https://roof.example/"
    sheet["A4"] = 3
    sheet["A4"].comment = Comment("why three?", "Bob")
    sheet.column_dimensions["A"].width = 40
    sheet.row_dimensions[2].height = 30
    sheet.freeze_panes = "B2"
    for row in range(6, 10):
        sheet.append((f"row {row}", row))
    validation = DataValidation(type="list", formula1='"yes,no"')
    sheet.add_data_validation(validation)
    validation.add("C1:C5")
    sheet.conditional_formatting.add("B6:B9", CellIsRule("greaterThan", ["7"], fill=PatternFill(bgColor="FF0000")))


def table(book):
    sheet = book.active
    sheet.title = "Orders"
    sheet.append(["Id", "Customer", "Total"])
    for number in range(1, 31):
        sheet.append([f"O-{number:04}", f"Customer {number % 7}", round(number * 3.3, 2)])
    sheet.add_table(Table(displayName="Orders", ref="A1:C31"))
    sheet["E1"] = "=SUBTOTAL(109,Orders[Total])"
    sheet["E2"] = "=SUM(C2:C31)"


def sheets(book):
    book.active.title = "First"
    for title in ["Zweites Blatt", "3rd", "Größe 你好", "A1", "x" * 31, "a'b", "With space & more"]:
        book.create_sheet(title)["B2"] = title
    book["3rd"].sheet_state = "hidden"
    book.create_sheet("Empty")
    book["First"]["A1"] = "='a''b'!B2&\"!\"&'A1'!B2"


def sparse(book):
    sheet = book.active
    for place in ["A1", "XFD1", "A1048576", "XFD1048576", "M500000"]:
        sheet[place] = place


def epoch(book):
    """Dates that count from 1904."""
    from openpyxl.utils.datetime import CALENDAR_MAC_1904

    book.epoch = CALENDAR_MAC_1904
    book.active["A1"] = dt.date(2026, 3, 16)
    book.active["A2"] = dt.datetime(2026, 3, 16, 9, 30)
    book.active["A3"] = "=A1+1"
    book.active["A3"].number_format = "yyyy-mm-dd"


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    for maker in [types, formats, formulas, array, merged, styled, table, sheets, sparse, epoch]:
        book = Workbook()
        maker(book)
        path = OUT / f"openpyxl-{maker.__name__}.xlsx"
        book.save(path)
        rezip(path)


if __name__ == "__main__":
    main()
