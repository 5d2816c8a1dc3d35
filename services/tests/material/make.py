"""Makes the files beside it, with the programs' own libraries: reportlab, fpdf2, pikepdf, python-docx, python-pptx, openpyxl, odfpy, Pillow.

    pip install reportlab fpdf2 pikepdf python-docx python-pptx openpyxl odfpy pillow
    python make.py
"""

import datetime
import os
import re
import zipfile

import docx
import odf.opendocument
import openpyxl
import pikepdf
import pptx
import reportlab
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from fpdf import FPDF
from odf import style, table, text
from PIL import Image, ImageDraw
from pptx.util import Inches
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen import canvas
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Table

VERA = os.path.join(os.path.dirname(reportlab.__file__), "fonts", "Vera.ttf")
DAY = datetime.datetime(2026, 3, 16, 9, 0, 0)


def letter():
    styles = getSampleStyleSheet()
    words = "The quick brown fox jumps over the lazy dog, and Zoë Müller pays 1,250.00 € for it. " * 3
    rows = [["Item", "Quantity", "Price"], ["Chair, oak", "4", "120.00"], ["Table", "1", "480.50"]]
    SimpleDocTemplate("letter.pdf", pagesize=A4, invariant=1, title="Letter").build(
        [
            Paragraph("Offer no. 4711", styles["Title"]),
            Paragraph(words, styles["Normal"]),
            Table(rows, colWidths=[200, 100, 100], style=[("GRID", (0, 0), (-1, -1), 1, colors.black)]),
            PageBreak(),
            Paragraph("Terms: 30 days net.", styles["Normal"]),
        ]
    )


def embedded():
    pdf = FPDF()
    pdf.set_creation_date(DAY.replace(tzinfo=datetime.timezone.utc))
    pdf.add_font("Vera", "", VERA)
    pdf.add_page()
    pdf.set_font("Vera", size=12)
    pdf.multi_cell(0, 8, "Ærøskøbing — “naïve café”, Straße\nSecond line with an embedded font", align="J")
    pdf.output("embedded.pdf")


def form():
    sheet = canvas.Canvas("form.pdf", pagesize=A4, invariant=1)
    sheet.drawString(72, 760, "Name of the applicant:")
    sheet.acroForm.textfield(name="applicant", value="Ben Adeyemi", x=220, y=750, width=200, height=20)
    sheet.save()


def variants():
    """The letter with its objects in streams, the letter with a password, and a page that is only a picture."""
    with pikepdf.open("letter.pdf") as pdf:
        pdf.save("streams.pdf", object_stream_mode=pikepdf.ObjectStreamMode.generate, deterministic_id=True)
        pdf.save("locked.pdf", encryption=pikepdf.Encryption(owner="o", user="secret", R=6))
        pdf.save("owned.pdf", encryption=pikepdf.Encryption(owner="o", user="", R=6))
    picture("scan.png")
    sheet = canvas.Canvas("scan.pdf", pagesize=A4, invariant=1)
    sheet.drawImage("scan.png", 72, 600, 120, 40)
    sheet.save()
    os.remove("scan.png")


def report():
    file = docx.Document()
    file.core_properties.created = file.core_properties.modified = DAY
    file.add_heading("Quarterly report", 1)
    line = file.add_paragraph("Revenue grew by ")
    line.add_run("12 %").bold = True
    line.add_run(" & costs <fell>.")
    file.add_paragraph("Hire two clerks", style="List Bullet")
    file.add_paragraph("First\tafter a tab")
    # A change that was tracked: "old" was deleted, "new" was put in.
    changed = file.add_paragraph("Rate: ")
    for tag, inner, words in [("w:del", "w:delText", "old"), ("w:ins", "w:t", "new")]:
        change, run, part = OxmlElement(tag), OxmlElement("w:r"), OxmlElement(inner)
        change.set(qn("w:id"), "1")
        change.set(qn("w:author"), "Ann")
        part.text = words
        run.append(part)
        change.append(run)
        changed._p.append(change)
    grid = file.add_table(rows=2, cols=2)
    for row, cells in enumerate([["Region", "Sales"], ["North\nand east", "1,200"]]):
        for column, value in enumerate(cells):
            grid.cell(row, column).text = value
    file.sections[0].header.paragraphs[0].text = "Acme Ltd, internal"
    file.add_comment(file.paragraphs[1].runs, text="Check this figure.", author="Ben", initials="B")
    for relation in list(file.part.rels.values()):
        if relation.reltype.endswith("stylesWithEffects"):
            del file.part.rels[relation.rId]
    file.save("report.docx")


def deck():
    file = pptx.Presentation()
    file.core_properties.created = file.core_properties.modified = DAY
    first = file.slides.add_slide(file.slide_layouts[0])
    first.shapes.title.text = "Roadmap"
    first.placeholders[1].text = "Three steps"
    first.notes_slide.notes_text_frame.text = "Smile."
    second = file.slides.add_slide(file.slide_layouts[5])
    second.shapes.title.text = "Costs"
    grid = second.shapes.add_table(2, 2, Inches(1), Inches(2), Inches(4), Inches(1)).table
    for row, cells in enumerate([["Year", "Cost"], ["2026", "90 k€"]]):
        for column, value in enumerate(cells):
            grid.cell(row, column).text = value
    second._element.set("show", "0")
    # The order in which slides are shown is not that of their parts.
    order = file.slides._sldIdLst
    order.insert(0, order[1])
    used = {first.slide_layout.name, second.slide_layout.name}
    for layout in [layout for layout in file.slide_layouts if layout.name not in used]:
        file.slide_layouts.remove(layout)
    file.save("deck.pptx")


def budget():
    book = openpyxl.Workbook()
    book.properties.created = book.properties.modified = DAY
    plan = book.active
    plan.title = "Plan"
    plan.append(["Month", "Amount", "Note"])
    plan.append([datetime.date(2026, 3, 1), 1250.5, 'said "yes", then left'])
    plan.append([datetime.datetime(2026, 4, 1, 8, 30), 0.1, None])
    plan["B30"] = True
    plan["C30"] = "=B2*2"
    hidden = book.create_sheet("Rates")
    hidden["A1"] = "VAT"
    hidden["B1"] = 0.19
    hidden.sheet_state = "hidden"
    book.save("budget.xlsx")


def open_documents():
    file = odf.opendocument.OpenDocumentSpreadsheet()
    plan = table.Table(name="Plan")
    for cells in [["Month", "Amount"], ["March", "1,250.50"]]:
        row = table.TableRow()
        for value in cells:
            cell = table.TableCell()
            cell.addElement(text.P(text=value))
            row.addElement(cell)
        row.addElement(table.TableCell(numbercolumnsrepeated="16382"))
        plan.addElement(row)
    empty = table.TableRow(numberrowsrepeated="1048000")
    empty.addElement(table.TableCell(numbercolumnsrepeated="16384"))
    plan.addElement(empty)
    last = table.TableRow()
    cell = table.TableCell(numbercolumnsrepeated="3")
    cell.addElement(text.P(text="x"))
    last.addElement(cell)
    plan.addElement(last)
    file.spreadsheet.addElement(plan)
    file.save("budget.ods")

    file = odf.opendocument.OpenDocumentText()
    file.text.addElement(text.H(outlinelevel=1, text="Minutes"))
    line = text.P(text="Present: Ann")
    line.addElement(text.S(c=2))
    line.addElement(text.Span(text="and Ben"))
    file.text.addElement(line)
    points = text.List()
    point = text.ListItem()
    point.addElement(text.P(text="Buy chairs"))
    points.addElement(point)
    file.text.addElement(points)
    file.save("minutes.odt")


def picture(name, **options):
    image = Image.new("RGB", (120, 40), "white")
    ImageDraw.Draw(image).text((10, 10), "PAID", fill="red")
    image.save(name, **options)


def slim(name):
    """Takes the preview out of an office document and packs it as tightly as it goes."""
    with zipfile.ZipFile(name) as old:
        parts = [(info, old.read(info)) for info in old.infolist() if "thumbnail" not in info.filename]
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new:
        for info, content in parts:
            if info.filename == "_rels/.rels":
                content = re.sub(rb"<Relationship [^>]*thumbnail[^>]*/>", b"", content)
            new.writestr(zipfile.ZipInfo(info.filename), content, zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    for make in [letter, embedded, form, variants, report, deck, budget, open_documents]:
        make()
    for name in ["stamp.png", "stamp.jpg", "stamp.gif", "stamp.webp"]:
        picture(name)
    for name in ["report.docx", "deck.pptx"]:
        slim(name)
