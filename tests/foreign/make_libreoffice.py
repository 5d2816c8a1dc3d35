"""Lets LibreOffice write workbooks and documents: from flat OpenDocument files that this script makes, and from material of the other scripts, into
material/sheets and material/files. Needs `soffice` (packages libreoffice-calc and libreoffice-writer). Made again, the files have the same bytes, but for
PDF and .odt.
"""

import pathlib
import shutil
import subprocess
import tempfile

from rezip import rezip

MATERIAL = pathlib.Path(__file__).parent / "material"
NAMES = " ".join(
    f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{long}:1.0"'
    for short, long in [("office", "office"), ("style", "style"), ("text", "text"), ("table", "table"), ("number", "datastyle"), ("fo", "xsl-fo-compatible"), ("of", "of"), ("calcext", "calcext"), ("draw", "drawing"), ("svg", "svg-compatible")]
).replace("oasis:names:tc:opendocument:xmlns:calcext:1.0", "org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0").replace("oasis:names:tc:opendocument:xmlns:of:1.0", "oasis:names:tc:opendocument:xmlns:of:1.2")
STYLES = """
<number:currency-style style:name="N1"><number:number number:decimal-places="2" number:min-integer-digits="1" number:grouping="true"/><number:text> </number:text><number:currency-symbol number:language="de" number:country="DE">€</number:currency-symbol></number:currency-style>
<number:date-style style:name="N2"><number:year number:style="long"/><number:text>-</number:text><number:month number:style="long"/><number:text>-</number:text><number:day number:style="long"/></number:date-style>
<number:percentage-style style:name="N3"><number:number number:decimal-places="1" number:min-integer-digits="1"/><number:text>%</number:text></number:percentage-style>
<number:time-style style:name="N4"><number:hours number:style="long"/><number:text>:</number:text><number:minutes number:style="long"/></number:time-style>
<style:style style:name="money" style:family="table-cell" style:data-style-name="N1"/>
<style:style style:name="day" style:family="table-cell" style:data-style-name="N2"/>
<style:style style:name="part" style:family="table-cell" style:data-style-name="N3"/>
<style:style style:name="hour" style:family="table-cell" style:data-style-name="N4"/>
"""


def text(value):
    value = value.replace("&", "&amp;").replace("<", "&lt;")
    return f'<table:table-cell office:value-type="string"><text:p>{value}</text:p></table:table-cell>'


def number(value, style="", kind="float"):
    style = f' table:style-name="{style}"' if style else ""
    return f'<table:table-cell{style} office:value-type="{kind}" office:value="{value}"/>'


def day(value):
    return f'<table:table-cell table:style-name="day" office:value-type="date" office:date-value="{value}"/>'


def hour(value):
    return f'<table:table-cell table:style-name="hour" office:value-type="time" office:time-value="{value}"/>'


def formula(value, style="", kind="float"):
    value = value.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    style = f' table:style-name="{style}"' if style else ""
    return f'<table:table-cell{style} table:formula="of:={value}" office:value-type="{kind}"/>'


EMPTY = "<table:table-cell/>"


def book(sheets, names=""):
    body = "".join(f'<table:table table:name="{name}">' + "".join(f"<table:table-row>{''.join(row)}</table:table-row>" for row in rows) + "</table:table>" for name, rows in sheets)
    return f'<?xml version="1.0" encoding="UTF-8"?><office:document {NAMES} office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.spreadsheet"><office:automatic-styles>{STYLES}</office:automatic-styles><office:body><office:spreadsheet>{body}{names}</office:spreadsheet></office:body></office:document>'


def budget():
    items = [("Tiles", 1200, "2026-03-02"), ("Nails", 49.9, "2026-03-05"), ("Beams & boards", 3210.05, "2026-04-01"), ("Grüße", 0, "2026-12-31")]
    rows = [[text(name) for name in ("Item", "Amount", "Due", "Share")]]
    for line, (name, amount, due) in enumerate(items, 2):
        rows.append([text(name), number(amount, "money", "currency"), day(due), formula(f"[.B{line}]/[.$B$6]", "part", "percentage")])
    rows.append([text("Total"), formula("SUM([.B2:.B5])", "money", "currency"), EMPTY, formula("SUM([.D2:.D5])", "part", "percentage")])
    other = [[formula("[$'Budget 2026'.B6]*1.19", "money", "currency"), hour("PT09H30M00S")], [formula('IF([$\'Budget 2026\'.B6]>1000;"over";"under")', kind="string")]]
    names = '<table:named-expressions><table:named-range table:name="Total" table:base-cell-address="$\'Budget 2026\'.$A$1" table:cell-range-address="$\'Budget 2026\'.$B$6"/></table:named-expressions>'
    return book([("Budget 2026", rows), ("Gross", other)], names)


def functions():
    formulas = [
        "ROUND(2.345;2)", "MOD(-3;2)", "CEILING(2.1;0.5)", "POWER(2;10)", 'LEFT("Dachziegel";4)', 'SUBSTITUTE("a-b-c";"-";"+")', 'LEN("Größe")', "DATE(2026;3;16)", "WEEKDAY(DATE(2026;3;16);2)",
        "EDATE(DATE(2026;1;31);1)", "NETWORKDAYS(DATE(2026;3;2);DATE(2026;3;31))", "MATCH(3;[.B1:.B5];0)", "SUMPRODUCT([.B1:.B5];[.B1:.B5])", "COUNTIF([.B1:.B5];\">2\")", "AVERAGE([.B1:.B5])",
        "MEDIAN([.B1:.B5])", "STDEV([.B1:.B5])", "1/0", "NA()", 'VALUE("x")', "IFERROR(1/0;-1)", 'TEXT(0.5;"0%")', "AND(TRUE();[.B1]=1)", "PMT(0.05/12;60;10000)", "IF([.B1]=1;\"yes\";\"no\")", "OFFSET([.B1];2;0)",
        'INDIRECT("B2")', "CHOOSE(2;\"a\";\"b\")", "RANK(3;[.B1:.B5])", "LARGE([.B1:.B5];2)",
    ]
    rows = []
    for line, each in enumerate(formulas, 1):
        rows.append([formula(each), number(line) if line <= 5 else EMPTY, text(each)])
    return book([("Functions", rows)])


def spans():
    wide = '<table:table-cell table:number-columns-spanned="3" table:number-rows-spanned="1" office:value-type="string"><text:p>wide</text:p></table:table-cell><table:covered-table-cell table:number-columns-repeated="2"/>'
    box = '<table:table-cell table:number-columns-spanned="2" table:number-rows-spanned="2" office:value-type="float" office:value="4"/><table:covered-table-cell/>'
    covered = '<table:covered-table-cell table:number-columns-repeated="2"/>'
    lines = '<table:table-cell office:value-type="string"><text:p>one</text:p><text:p>two  spaces</text:p></table:table-cell>'
    true = '<table:table-cell table:formula="of:=TRUE()" office:value-type="boolean" office:boolean-value="true"/>'
    return book([("Spans", [[wide, text("beside")], [box, text("x"), text("_x0041_")], [covered, true], [lines]])])


def letter():
    paragraphs = ["Dear Ann,", "the roof is done; Größe 12 m², price 1,234.50 €.", "Yours, Bob"]
    body = '<text:h text:outline-level="1">Letter</text:h>' + "".join(f"<text:p>{each}</text:p>" for each in paragraphs)
    body += '<text:list><text:list-item><text:p>first point</text:p></text:list-item><text:list-item><text:p>second point</text:p></text:list-item></text:list>'
    body += "<table:table><table:table-row>" + text("Tile") + text("2.50 €") + "</table:table-row></table:table>"
    return f'<?xml version="1.0" encoding="UTF-8"?><office:document {NAMES} office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.text"><office:body><office:text>{body}</office:text></office:body></office:document>'


def convert(work, source, form, target, options=""):
    target.parent.mkdir(parents=True, exist_ok=True)
    wanted = form + (f":{options}" if options else "")
    command = ["soffice", f"-env:UserInstallation=file://{work}/profile", "--headless", "--convert-to", wanted, "--outdir", str(work / "out"), str(source)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    made = work / "out" / f"{source.stem}.{form}"
    shutil.copy(made, target)
    if form in ("xlsx", "docx", "odt", "ods"):
        rezip(target)


def main():
    sheets, files = MATERIAL / "sheets", MATERIAL / "files"
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for maker in [budget, functions, spans]:
            source = work / f"{maker.__name__}.fods"
            source.write_text(maker(), encoding="utf-8")
            convert(work, source, "xlsx", sheets / f"libreoffice-{maker.__name__}.xlsx")
        # Also what LibreOffice makes of files that openpyxl wrote.
        for name in ["types", "formulas", "merged"]:
            convert(work, sheets / f"openpyxl-{name}.xlsx", "xlsx", sheets / f"libreoffice-saved-{name}.xlsx")
        # Field separator, text delimiter, character set (76: UTF-8), first line, columns, language, quote all text, detect, as shown.
        tokens = {"comma": "44,34,76,1,,0,false,true,true", "semicolon-quoted": "59,34,76,1,,0,true,true,true", "tab": "9,34,76,1,,0,false,true,false"}
        for name, token in tokens.items():
            convert(work, work / "budget.fods", "csv", sheets / f"libreoffice-{name}.csv", f"Text - txt - csv (StarCalc):{token}")
        convert(work, work / "budget.fods", "pdf", files / "libreoffice-budget.pdf", "calc_pdf_Export")
        convert(work, work / "budget.fods", "ods", files / "libreoffice-budget.ods")
        convert(work, work / "budget.fods", "html", files / "libreoffice-budget.html")
        source = work / "letter.fodt"
        source.write_text(letter(), encoding="utf-8")
        for form in ["docx", "pdf", "odt", "rtf", "html", "txt"]:
            options = {"txt": "Text (encoded):UTF8,CRLF", "html": "XHTML Writer File"}.get(form, "")
            convert(work, source, form, files / f"libreoffice-letter.{form}", options)
        convert(work, files / "python-docx-report.docx", "docx", files / "libreoffice-saved-report.docx")


if __name__ == "__main__":
    main()
