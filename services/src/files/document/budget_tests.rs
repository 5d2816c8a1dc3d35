//! What reading a document may cost: each reader draws on the budget, at and above it, and files that were made to cost much are refused or read quickly.

use lopdf::{Object, dictionary};

use super::tests::{archive, helvetica, material, pdf, word};
use super::*;

/// Returns what reading `bytes` gives under a budget.
fn read(bytes: &[u8], budget: &Budget) -> Result<Text, Unreadable> {
    let Form::Document(kind) = sniff(bytes).form else { panic!("no document: {:?}", sniff(bytes)) };
    text_of(kind, bytes, budget)
}

/// Returns the work and the bytes that reading `bytes` takes from a budget that is large enough.
fn cost(bytes: &[u8]) -> (u64, u64) {
    let budget = Budget::default();
    let before = (budget.work_left(), budget.bytes_left());
    read(bytes, &budget).expect("a document that can be read");
    (before.0 - budget.work_left(), before.1 - budget.bytes_left())
}

#[test]
fn each_reader_takes_all_of_its_budget_and_no_more() {
    for name in [
        "letter.pdf",
        "embedded.pdf",
        "streams.pdf",
        "report.docx",
        "deck.pptx",
        "budget.xlsx",
        "budget.ods",
        "minutes.odt",
    ] {
        let (work, bytes) = cost(material(name));
        assert!(work >= material(name).len() as u64 && bytes > 0, "{name}: {work} units, {bytes} bytes");
        assert!(read(material(name), &Budget::new(work, bytes)).is_ok(), "{name}");
        let less_work = read(material(name), &Budget::new(work - 1, bytes)).err();
        assert!(matches!(less_work, Some(Unreadable::Over(OverBudget::Work(_)))), "{name}: {less_work:?}");
        let less_bytes = read(material(name), &Budget::new(work, bytes - 1)).err();
        assert!(matches!(less_bytes, Some(Unreadable::Over(OverBudget::Bytes(_)))), "{name}: {less_bytes:?}");
    }
}

#[test]
fn what_people_have_costs_little_of_the_budget() {
    for name in ["letter.pdf", "report.docx", "deck.pptx", "budget.xlsx", "budget.ods", "minutes.odt"] {
        let (work, bytes) = cost(material(name));
        assert!(work < 2_000_000 && bytes < 2_000_000, "{name}: {work} units, {bytes} bytes");
    }
}

#[test]
fn a_font_within_a_page_is_read_once_however_often_it_is_chosen() {
    let once = cost(&pdf(b"BT /F 9 Tf (a) Tj ET".to_vec(), helvetica())).0;
    let often = cost(&pdf(b"/F 9 Tf ".repeat(100_000), helvetica())).0;
    assert!(often < once + 100_000 * 60, "{once}, {often}");
}

#[test]
fn widths_in_ranges_are_not_searched_one_by_one() {
    let ranges = (0..60_000_i64).flat_map(|code| [code.into(), code.into(), Object::Integer(500)]).collect();
    let below = dictionary! { "Type" => "Font", "Subtype" => "CIDFontType2", "W" => Object::Array(ranges) };
    let fonts = dictionary! { "F" => dictionary! {
        "Type" => "Font", "Subtype" => "Type0", "Encoding" => "UniGB-UCS2-H", "DescendantFonts" => vec![Object::Dictionary(below)],
    } };
    let content = [&b"BT /F 9 Tf <"[..], &b"EA5F".repeat(100_000), b"> Tj ET"].concat();
    assert!(cost(&pdf(content, fonts)).0 < 45_000_000);
}

#[test]
fn a_list_of_millions_of_numbers_is_refused_before_it_is_laid_out() {
    let mut file = pdf(b"BT ET".to_vec(), helvetica());
    let list = [&b"\n9 0 obj ["[..], &b"0 ".repeat(3_000_000), b"] endobj\n"].concat();
    let end = file.windows(4).position(|part| part == b"xref").expect("a table of objects");
    file.splice(end..end, list);
    let refused = read(&file, &Budget::default()).err();
    assert!(matches!(refused, Some(Unreadable::Over(OverBudget::Bytes(_)))), "{refused:?}");
}

#[test]
fn a_glyph_that_stands_for_a_long_text_fills_no_memory() {
    let long = format!("1 beginbfchar <41> <{}> endbfchar", "0041".repeat(20_000));
    let mut file = lopdf::Document::with_version("1.5");
    let map = file.add_object(lopdf::Stream::new(dictionary! {}, long.into_bytes()));
    let content = [&b"BT /F 9 Tf ("[..], &b"A".repeat(1_000_000), b") Tj ET"].concat();
    let content = file.add_object(lopdf::Stream::new(dictionary! {}, content));
    let font = dictionary! { "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Helvetica", "ToUnicode" => map };
    let pages = file.new_object_id();
    let page = file.add_object(dictionary! {
        "Type" => "Page", "Parent" => pages, "Contents" => content,
        "Resources" => dictionary! { "Font" => dictionary! { "F" => font } },
    });
    file.objects.insert(
        pages,
        Object::Dictionary(dictionary! { "Type" => "Pages", "Kids" => vec![page.into()], "Count" => 1 }),
    );
    let catalog = file.add_object(dictionary! { "Type" => "Catalog", "Pages" => pages });
    file.trailer.set("Root", catalog);
    let mut bytes = Vec::new();
    file.save_to(&mut bytes).expect("memory");
    let text = read(&bytes, &Budget::default()).expect("as much as fits");
    assert!(text.is_cut && text.as_str().len() <= DOCUMENT_TEXT_BYTES_MAX);
}

#[test]
fn tables_within_tables_are_refused_when_their_text_moves_too_often() {
    let nested = |depth: usize| {
        let (open, close) = ("<w:tr><w:tc><w:p>".repeat(depth), "</w:p></w:tc></w:tr>".repeat(depth));
        word(&format!("{open}<w:t>{}</w:t>{close}", "x".repeat(200_000)))
    };
    assert!(read(&nested(20), &Budget::default()).is_ok());
    let refused = read(&nested(2_000), &Budget::default()).err();
    assert!(matches!(refused, Some(Unreadable::Over(OverBudget::Work(_)))), "{refused:?}");
}

#[test]
fn slides_are_not_looked_for_one_by_one() {
    let count = 20_000;
    let ids: String = (0..count).map(|id| format!("<p:sldId r:id=\"r{id}\"/>")).collect();
    let relation = |id: usize| format!("<Relationship Id=\"r{id}\" Type=\"t\" Target=\"none.xml\"/>");
    let relations: String = (0..count).map(relation).collect();
    let file = archive(&[
        ("ppt/presentation.xml", format!("<p:presentation>{ids}</p:presentation>").as_bytes()),
        ("ppt/_rels/presentation.xml.rels", format!("<Relationships>{relations}</Relationships>").as_bytes()),
    ]);
    assert!(cost(&file).0 < 60_000_000);
}

#[test]
fn empty_cells_at_the_end_of_each_row_are_not_laid_out() {
    let rows = |rows: usize, cell: &str| {
        let row = format!(
            "<table:table-row>{cell}<table:table-cell table:number-columns-repeated=\"16384\"/></table:table-row>"
        );
        let xml = format!(
            "<office:spreadsheet><table:table table:name=\"S\">{}</table:table></office:spreadsheet>",
            row.repeat(rows)
        );
        archive(&[("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"), ("content.xml", xml.as_bytes())])
    };
    let cell = "<table:table-cell><text:p>x</text:p></table:table-cell>";
    let (work, _) = cost(&rows(20_000, cell));
    assert!(work < 20_000_000, "{work}");
    let behind = "<table:table-cell table:number-columns-repeated=\"16383\"/><table:table-cell><text:p>x</text:p></table:table-cell>";
    let refused = read(&rows(20_000, behind), &Budget::default()).err();
    assert!(matches!(refused, None | Some(Unreadable::Over(OverBudget::Work(_)))), "{refused:?}");
}
