"""Writes documents with python-docx and python-pptx (versions in xtask's PYTHON_PACKAGES) into material/files. Deterministic."""

import io
import pathlib

import docx
import pptx
from docx.shared import Inches
from pptx.util import Inches as SlideInches

from make_mail import PNG
from rezip import rezip

OUT = pathlib.Path(__file__).parent / "material/files"


def report(path):
    document = docx.Document()
    document.add_heading("Report on the roof", 0)
    document.add_paragraph("The tiles of the north side are broken; Größe 12 m².")
    paragraph = document.add_paragraph("Some ")
    paragraph.add_run("bold").bold = True
    paragraph.add_run(" and some plain text.")
    document.add_paragraph("first point", style="List Bullet")
    document.add_paragraph("second point", style="List Number")
    table = document.add_table(rows=1, cols=3)
    for cell, text in zip(table.rows[0].cells, ["Item", "Count", "Price"]):
        cell.text = text
    for cell, text in zip(table.add_row().cells, ["Tile", "100", "2.50 €"]):
        cell.text = text
    document.add_picture(io.BytesIO(PNG), width=Inches(1))
    document.sections[0].header.paragraphs[0].text = "Acme, confidential"
    document.sections[0].footer.paragraphs[0].text = "Page foot"
    document.save(path)


def empty(path):
    docx.Document().save(path)


def talk(path):
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[0])
    slide.shapes.title.text = "The new roof"
    slide.placeholders[1].text = "A talk for Acme"
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Why"
    slide.placeholders[1].text = "It rains in\nGröße matters"
    slide.notes_slide.notes_text_frame.text = "Speak slowly."
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Costs"
    table = slide.shapes.add_table(2, 2, SlideInches(1), SlideInches(2), SlideInches(5), SlideInches(1)).table
    for (row, column), text in {(0, 0): "Item", (0, 1): "Price", (1, 0): "Tile", (1, 1): "2.50 €"}.items():
        table.cell(row, column).text = text
    deck.save(path)


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    for name, maker in [("python-docx-report.docx", report), ("python-docx-empty.docx", empty), ("python-pptx-talk.pptx", talk)]:
        maker(OUT / name)
        rezip(OUT / name)


if __name__ == "__main__":
    main()
