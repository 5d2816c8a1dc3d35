//! Documents that other programs wrote (`tests/material/make.py`), damaged ones, and such that would unpack into too much.

use std::io::Write as _;

use lopdf::{Dictionary, Document, Object, Stream, dictionary};
use proptest::prelude::*;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

macro_rules! material {
    ($($name:literal),*) => {
        /// Every file, by its name.
        const MATERIAL: &[(&str, &[u8])] = &[$(($name, include_bytes!(concat!("../../../tests/material/", $name)))),*];
    };
}

material!(
    "budget.ods",
    "budget.xlsx",
    "deck.pptx",
    "embedded.pdf",
    "form.pdf",
    "letter.pdf",
    "locked.pdf",
    "minutes.odt",
    "owned.pdf",
    "report.docx",
    "scan.pdf",
    "stamp.gif",
    "stamp.jpg",
    "stamp.png",
    "stamp.webp",
    "streams.pdf"
);

pub(super) fn material(name: &str) -> &'static [u8] {
    MATERIAL.iter().find(|(known, _)| *known == name).map(|(_, bytes)| *bytes).expect("a known file")
}

/// Returns the text of a document.
fn read(bytes: &[u8]) -> Result<Text, Unreadable> {
    let Form::Document(kind) = sniff(bytes).form else { panic!("no document: {:?}", sniff(bytes)) };
    text_of(kind, bytes, &Budget::default())
}

fn lines(name: &str) -> Vec<String> {
    read(material(name)).expect("a good document").as_str().lines().map(str::to_owned).collect()
}

/// Returns an archive of these parts.
pub(super) fn archive(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in parts {
        writer.start_file(*name, SimpleFileOptions::default()).expect("memory");
        writer.write_all(content).expect("memory");
    }
    writer.finish().expect("memory").into_inner()
}

pub(super) fn word(body: &str) -> Vec<u8> {
    archive(&[("word/document.xml", format!("<w:document><w:body>{body}</w:body></w:document>").as_bytes())])
}

/// Returns a PDF of one page with this content, whose streams are packed.
pub(super) fn pdf(content: Vec<u8>, fonts: Dictionary) -> Vec<u8> {
    let mut document = Document::with_version("1.5");
    let mut stream = Stream::new(Dictionary::new(), content);
    stream.compress().expect("memory");
    let content = document.add_object(stream);
    let pages = document.new_object_id();
    let page = document.add_object(dictionary! {
        "Type" => "Page", "Parent" => pages, "Contents" => content, "Resources" => dictionary! { "Font" => fonts },
    });
    let kids = dictionary! { "Type" => "Pages", "Kids" => vec![page.into()], "Count" => 1 };
    document.objects.insert(pages, Object::Dictionary(kids));
    let catalog = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => pages });
    document.trailer.set("Root", catalog);
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).expect("memory");
    bytes
}

pub(super) fn helvetica() -> Dictionary {
    dictionary! { "F" => dictionary! { "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Helvetica" } }
}

#[test]
fn what_a_file_is_shows_in_its_bytes() {
    let sniffed = |name: &str| (sniff(material(name)).media_type, sniff(material(name)).form);
    let stamp = Form::Image { width: 120, height: 40 };
    for name in ["gif", "png", "webp"] {
        assert_eq!(sniffed(&format!("stamp.{name}")), (format!("image/{name}").leak() as &str, stamp));
    }
    assert_eq!(sniffed("stamp.jpg"), ("image/jpeg", stamp));
    assert_eq!(sniffed("letter.pdf"), ("application/pdf", Form::Document(Kind::Pdf)));
    let (media_type, form) = sniffed("deck.pptx");
    assert!(media_type.ends_with("presentationml.presentation") && form == Form::Document(Kind::Slides));
    assert_eq!(sniff(b"a,b\n").form, Form::Other);
    assert_eq!(sniff(b"\x89PNG\r\n\x1a\n").form, Form::Other);
    assert_eq!(sniff(&archive(&[("a.txt", b"a")])), Sniffed { media_type: "application/zip", form: Form::Other });
}

#[test]
fn a_pdf_gives_its_lines_page_by_page() {
    let letter = lines("letter.pdf");
    assert_eq!(letter[..2], ["[page 1]", "Offer no. 4711"]);
    assert_eq!(
        letter[2],
        "The quick brown fox jumps over the lazy dog, and Zoë Müller pays 1,250.00 € for it. The quick"
    );
    assert_eq!(
        letter[5..],
        ["Item\tQuantity\tPrice", "Chair, oak\t4\t120.00", "Table\t1\t480.50", "[page 2]", "Terms: 30 days net."]
    );
    assert_eq!(read(material("letter.pdf")).map(|text| text.parts), Ok(Some(("pages", 2))));
    assert_eq!(lines("streams.pdf"), letter);
    assert_eq!(lines("owned.pdf"), letter);
}

#[test]
fn a_pdf_gives_the_text_of_embedded_fonts_and_of_form_fields() {
    let embedded = lines("embedded.pdf");
    assert_eq!(embedded[1..], ["Ærøskøbing — “naïve café”, Straße", "Second line with an embedded font"]);
    assert_eq!(lines("form.pdf")[1..], ["Name of the applicant:", "Ben Adeyemi"]);
    assert_eq!(lines("scan.pdf"), ["[page 1]", "[no text on this page]"]);
}

#[test]
fn words_and_lines_follow_from_where_glyphs_stand() {
    let shown = |content: &str| {
        let text = read(&pdf(content.as_bytes().to_vec(), helvetica())).expect("a good document");
        text.as_str().lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    // Kerning does not part words, the width of a space does, and that of a column more so.
    assert_eq!(shown("BT /F 10 Tf [(W)80(ord)-300(next)-3000(column)] TJ ET"), ["Word next\tcolumn"]);
    // One word in two texts, each put into its place.
    assert_eq!(shown("BT /F 10 Tf 1 0 0 1 100 100 Tm (Hel) Tj 1 0 0 1 115 100 Tm (lo) Tj ET"), ["Hello"]);
    assert_eq!(
        shown("BT /F 10 Tf 14 TL 50 700 Td (one) Tj T* (two) Tj (three) ' 0 0 (four) \" ET"),
        ["one", "two", "three", "four"]
    );
    // A superscript stays on its line; turned text makes one of its own.
    assert_eq!(
        shown("BT /F 10 Tf (E=mc) Tj /F 6 Tf 4 Ts (2) Tj ET BT /F 10 Tf 0 1 -1 0 30 0 Tm (up) Tj ET"),
        ["E=mc2", "up"]
    );
    assert_eq!(
        shown("q 0.5 0 0 0.5 0 0 cm BT /F 20 Tf 10 10 Td (scaled) Tj ET Q BT /F 10 Tf 90 5 Td (x) Tj ET"),
        ["scaled\tx"]
    );
    assert!(shown("BT /Missing 10 Tf (nothing) Tj ET (").ends_with(&["[no text on this page]".to_owned()]));
}

#[test]
fn codes_become_characters_by_what_the_font_says() {
    let differences = vec![Object::Integer(65), "Euro".into(), "uni00DF".into(), "g17".into(), "eacute.sc".into()];
    let encoding = dictionary! { "BaseEncoding" => "WinAnsiEncoding", "Differences" => differences };
    let font = dictionary! { "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "X", "Encoding" => encoding };
    // A glyph that nobody knows leaves a gap.
    let text = read(&pdf(b"BT /F 10 Tf (ABCDE\\374) Tj ET".to_vec(), dictionary! { "F" => font }));
    assert_eq!(text.map(|text| text.as_str().to_owned()), Ok("[page 1]\n€ß éEü\n".to_owned()));
}

#[test]
fn a_word_document_gives_paragraphs_tables_and_what_stands_around() {
    assert_eq!(
        lines("report.docx"),
        [
            "Quarterly report",
            "Revenue grew by 12 % & costs <fell>.",
            "Hire two clerks",
            "First\tafter a tab",
            "Rate: new",
            "Region\tSales",
            "North and east\t1,200",
            "[header]",
            "Acme Ltd, internal",
            "[comments]",
            "Ben: Check this figure.",
        ]
    );
    let tangled = "<w:p><w:r><w:t>a</w:t><w:br/><mc:AlternateContent><mc:Choice><w:t>box</w:t></mc:Choice><mc:Fallback><w:t>box</w:t></mc:Fallback></mc:AlternateContent></w:r></w:p>\
        <w:tbl><w:tr><w:tc><w:p><w:r><w:t>x</w:t></w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:t>in</w:t></w:p></w:tc><w:tc/></w:tr></w:tbl></w:tc><w:tc><w:p><w:t>&#x20AC;&unknown;</w:t></w:p></w:tc></w:tr></w:tbl>";
    assert_eq!(read(&word(tangled)).map(|text| text.as_str().to_owned()), Ok("a\nbox\nx in\t€\n".to_owned()));
}

#[test]
fn slides_come_in_their_order_with_notes() {
    let expected = [
        "[slide 1, hidden]",
        "Costs",
        "Year\tCost",
        "2026\t90 k€",
        "[slide 2]",
        "Roadmap",
        "Three steps",
        "[notes]",
        "Smile.",
    ];
    assert_eq!(lines("deck.pptx"), expected);
}

#[test]
fn a_workbook_gives_its_rows_as_separated_values() {
    assert_eq!(
        lines("budget.xlsx"),
        [
            "[sheet Plan]",
            "Month,Amount,Note",
            r#"2026-03-01,1250.5,"said ""yes"", then left""#,
            "2026-04-01 08:30:00,0.1",
            "[26 empty rows]",
            ",TRUE",
            "[sheet Rates, hidden]",
            "VAT,0.19",
        ]
    );
    assert_eq!(
        lines("budget.ods"),
        ["[sheet Plan]", "Month,Amount", r#"March,"1,250.50""#, "[1048000 empty rows]", "x,x,x"]
    );
    assert_eq!(lines("minutes.odt"), ["Minutes", "Present: Ann  and Ben", "- Buy chairs"]);
}

#[test]
fn a_password_and_damage_are_told_apart() {
    assert_eq!(read(material("locked.pdf")).err(), Some(Unreadable::Encrypted));
    let damaged = |bytes: &[u8]| matches!(read(bytes), Err(Unreadable::Damaged { .. }));
    assert!(damaged(b"%PDF-1.7 and nothing else"));
    let report = material("report.docx");
    assert!(damaged(&report[..report.len() / 2]), "an archive without its end");
    assert!(damaged(&archive(&[("word/document.xml", b"<w:document><w:p></w:document>")])));
    assert!(damaged(&archive(&[("word/document.xml", b"\xff\xfe\xff")])));
    assert!(damaged(&archive(&[("xl/workbook.xml", b"")])));
    assert!(damaged(&archive(&[("mimetype", b"application/vnd.oasis.opendocument.text")])));
}

#[test]
fn a_damaged_cross_reference_is_rebuilt() {
    let text = String::from_utf8_lossy(material("letter.pdf")).into_owned();
    let at = text.rfind("startxref").expect("there");
    let mut cut = material("letter.pdf")[..material("letter.pdf").len() - (text.len() - at)].to_vec();
    cut.extend_from_slice(b"startxref\n17\n%%EOF");
    assert_eq!(
        read(&cut).map(|text| text.as_str().to_owned()),
        read(material("letter.pdf")).map(|text| text.as_str().to_owned())
    );
}

#[test]
fn an_archive_that_unpacks_into_too_much_is_refused() {
    let fits = format!("<w:p><w:t>x</w:t></w:p><!--{}-->", " ".repeat(DOCUMENT_UNPACKED_BYTES_MAX - 30));
    assert_eq!(fits.len(), DOCUMENT_UNPACKED_BYTES_MAX);
    let text = read(&archive(&[("word/document.xml", fits.as_bytes())]));
    assert_eq!(text.map(|text| text.as_str().to_owned()), Ok("x\n".to_owned()));
    let bomb = vec![b' '; DOCUMENT_UNPACKED_BYTES_MAX + 1];
    let bomb = archive(&[("word/document.xml", &bomb)]);
    assert!(bomb.len() < 1 << 20, "{} bytes", bomb.len());
    assert_eq!(read(&bomb).err(), Some(Unreadable::unpacked()));
    let half = vec![b' '; DOCUMENT_UNPACKED_BYTES_MAX / 2 + 1];
    let parts = [("word/document.xml", &b"<w:p/>"[..]), ("word/header1.xml", &half), ("word/header2.xml", &half)];
    assert_eq!(read(&archive(&parts)).err(), Some(Unreadable::unpacked()));
    let parts = [("xl/workbook.xml", &b"<workbook/>"[..]), ("xl/sharedStrings.xml", &half), ("xl/styles.xml", &half)];
    assert_eq!(read(&archive(&parts)).err(), Some(Unreadable::unpacked()));
}

#[test]
fn an_archive_may_have_so_many_parts() {
    let names: Vec<String> = (0..DOCUMENT_PARTS_MAX).map(|index| format!("word/media/{index}")).collect();
    let mut parts: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
    parts[0] = ("word/document.xml", b"<w:p><w:t>x</w:t></w:p>");
    assert!(Package::open(&archive(&parts), &Budget::default()).is_ok());
    parts.push(("more", b""));
    let refused = Package::open(&archive(&parts), &Budget::default()).err();
    assert_eq!(refused, Some(Unreadable::TooMuch { what: "parts", max: DOCUMENT_PARTS_MAX }));
}

#[test]
fn a_document_gives_so_much_text() {
    let paragraph = |bytes: usize| word(&format!("<w:p><w:t>{}</w:t></w:p>", "x".repeat(bytes)));
    let fits = read(&paragraph(DOCUMENT_TEXT_BYTES_MAX - 1)).expect("read");
    assert_eq!((fits.as_str().len(), fits.is_cut), (DOCUMENT_TEXT_BYTES_MAX, false));
    let cut = read(&paragraph(DOCUMENT_TEXT_BYTES_MAX)).expect("read");
    assert_eq!((cut.as_str().len(), cut.is_cut), (DOCUMENT_TEXT_BYTES_MAX, true));
}

#[test]
fn a_workbook_gives_so_many_cells_however_often_one_stands() {
    let sheet = |row: &str| {
        let xml = format!("<office:spreadsheet><table:table table:name=\"S\">{row}</table:table></office:spreadsheet>");
        let parts =
            [("mimetype", &b"application/vnd.oasis.opendocument.spreadsheet"[..]), ("content.xml", xml.as_bytes())];
        read(&archive(&parts)).expect("read")
    };
    let repeated = |rows: usize, columns: usize, text: &str| {
        sheet(&format!(
            "<table:table-row table:number-rows-repeated=\"{rows}\"><table:table-cell table:number-columns-repeated=\"{columns}\"><text:p>{text}</text:p></table:table-cell></table:table-row>"
        ))
    };
    let below = repeated(DOCUMENT_CELLS_MAX / 2 - 1, 2, "1");
    assert_eq!((below.as_str().lines().count(), below.is_cut), (DOCUMENT_CELLS_MAX / 2, false));
    let above = repeated(usize::MAX / 2, 2, "1");
    assert_eq!((above.as_str().lines().count(), above.is_cut), (DOCUMENT_CELLS_MAX / 2 + 1, true));
    let wide = repeated(1_000_000, 99_999_999, &"y".repeat(10_000));
    assert!(wide.is_cut && wide.as_str().len() <= DOCUMENT_TEXT_BYTES_MAX);
}

#[test]
fn a_pdf_that_unpacks_into_too_much_is_refused() {
    let fits = pdf(vec![b' '; pdf::STREAM_BYTES_MAX], helvetica());
    assert!(fits.len() < 1 << 20 && read(&fits).is_ok());
    let too_much = Some(Unreadable::TooMuch { what: "bytes in one part", max: pdf::STREAM_BYTES_MAX });
    assert_eq!(read(&pdf(vec![b' '; pdf::STREAM_BYTES_MAX + 1], helvetica())).err(), too_much);
}

#[test]
fn a_mapping_to_unicode_of_every_number_costs_nothing() {
    let map = b"begincmap 1 begincodespacerange <00000000> <ffffffff> endcodespacerange 1 beginbfrange <00000000> <ffffffff> <0041> endbfrange endcmap";
    let mut document = Document::load_mem(&pdf(b"BT /F 10 Tf <00> Tj ET".to_vec(), Dictionary::new())).expect("good");
    let map = document.add_object(Stream::new(Dictionary::new(), map.to_vec()));
    let font = dictionary! { "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "X", "ToUnicode" => map };
    let page = document.page_iter().next().expect("one");
    let page = document.get_dictionary_mut(page).expect("there");
    page.set("Resources", dictionary! { "Font" => dictionary! { "F" => font } });
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).expect("memory");
    assert_eq!(read(&bytes).map(|text| text.as_str().to_owned()), Ok("[page 1]\nA\n".to_owned()));
}

#[test]
fn forms_that_show_one_another_come_to_an_end() {
    let mut document = Document::load_mem(&pdf(b"/X Do".to_vec(), helvetica())).expect("good");
    let forms: Vec<_> = (0..4).map(|_| document.new_object_id()).collect();
    let names = ["X", "Y", "Z", "W"].into_iter().zip(&forms).map(|(name, id)| (name, Object::from(*id)));
    let named: Dictionary = names.collect();
    let resources = dictionary! { "Font" => helvetica(), "XObject" => named };
    for form in &forms {
        let dictionary = dictionary! { "Type" => "XObject", "Subtype" => "Form", "Resources" => resources.clone() };
        let content = [&b"BT /F 10 Tf (again) Tj ET "[..], &b"/X Do /Y Do /Z Do /W Do ".repeat(20)].concat();
        document.objects.insert(*form, Object::Stream(Stream::new(dictionary, content)));
    }
    let page = document.page_iter().next().expect("one");
    document.get_dictionary_mut(page).expect("there").set("Resources", resources);
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).expect("memory");
    let text = read(&bytes).expect("read");
    assert!(text.is_cut && text.as_str().lines().count() <= 5_001, "{}", text.as_str().lines().count());
}

#[test]
fn a_pdf_gives_so_many_pages() {
    let pages = |count: usize| {
        let mut document = Document::load_mem(&pdf(Vec::new(), Dictionary::new())).expect("good");
        let page = document.page_iter().next().expect("one");
        let parent = document.get_dictionary(page).and_then(|page| page.get(b"Parent")).and_then(Object::as_reference);
        let parent = parent.expect("there");
        let copy = document.get_dictionary(page).expect("there").clone();
        let kids: Vec<Object> = (0..count).map(|_| document.add_object(copy.clone()).into()).collect();
        document.get_dictionary_mut(parent).expect("there").set("Kids", kids);
        let mut bytes = Vec::new();
        document.save_to(&mut bytes).expect("memory");
        let text = read(&bytes).expect("read");
        (text.parts, text.is_cut)
    };
    assert_eq!(pages(PDF_PAGES_MAX), (Some(("pages", PDF_PAGES_MAX)), false));
    assert_eq!(pages(PDF_PAGES_MAX + 1), (Some(("pages", PDF_PAGES_MAX)), true));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Damage anywhere gives text or a reason, and the same one each time.
    #[test]
    fn a_damaged_document_ends_nothing(
        file in 0..MATERIAL.len(),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_usize..30), 1..6),
    ) {
        let mut bytes = MATERIAL[file].1.to_vec();
        for (at, byte, gone) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
            bytes.drain(at..(at + gone).min(bytes.len() - 1).max(at));
        }
        let outcome = || match sniff(&bytes).form {
            Form::Document(kind) => text_of(kind, &bytes, &Budget::default()).map(|text| text.as_str().to_owned()),
            Form::Image { .. } | Form::Other => Ok(String::new()),
        };
        prop_assert_eq!(outcome(), outcome());
    }
}
