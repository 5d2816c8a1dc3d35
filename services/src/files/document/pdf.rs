//! The text of a PDF (ISO 32000-1): page after page, the glyphs in the order in which they are shown, broken into lines and words by where they
//! stand. Text of scanned pages is there if somebody put it in; pictures are not read.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use lopdf::content::{Content, Operation};
use lopdf::{DecompressError, Dictionary, Document, Error, LoadOptions, Object, ObjectId};

use super::pdf_font::Font;
use super::pdf_line::{Line, Matrix};
use super::{DOCUMENT_UNPACKED_BYTES_MAX, PDF_PAGES_MAX, Text, Unreadable};

/// The most that one stream may unpack into, in bytes (16 MiB).
pub(super) const STREAM_BYTES_MAX: usize = 16 << 20;
/// The most that all streams of objects may unpack into together, in bytes (8 MiB). Their objects take many times as much memory.
const OBJECT_STREAMS_BYTES_MAX: usize = 8 << 20;
/// How many operations are carried out for one document.
const OPERATIONS_MAX: usize = 1_000_000;
/// How often forms are shown in one document, each time they are.
const FORMS_MAX: usize = 5_000;
/// How deep forms may hold forms, and how far up a page's resources are looked for.
const DEPTH_MAX: usize = 12;
/// How many saved graphics states are kept.
const STATES_MAX: usize = 256;

thread_local! {
    /// How much the streams of objects of the document came to that this thread is loading. The library's filter is a plain function.
    static OBJECT_STREAM_BYTES: Cell<usize> = const { Cell::new(0) };
}

pub(super) fn text_of(bytes: &[u8]) -> Result<Text, Unreadable> {
    let mut document = load(bytes, false)?;
    if document.page_iter().next().is_none() && !document.is_encrypted() {
        document = load(bytes, true)?;
    }
    if document.is_encrypted() {
        return Err(Unreadable::Encrypted);
    }
    let pages: Vec<ObjectId> = document.page_iter().take(PDF_PAGES_MAX + 1).collect();
    if pages.is_empty() {
        return Err(damaged("it has no pages"));
    }
    let text = Text { parts: Some(("pages", pages.len().min(PDF_PAGES_MAX))), ..Text::default() };
    let mut reading = Reading {
        document: &document,
        fonts: BTreeMap::new(),
        line: Line::new(text),
        open: Vec::new(),
        operations_left: OPERATIONS_MAX,
        forms_left: FORMS_MAX,
        bytes_left: DOCUMENT_UNPACKED_BYTES_MAX,
    };
    for (index, page) in pages.iter().take(PDF_PAGES_MAX).enumerate() {
        if reading.is_over() {
            break;
        }
        reading.line.mark(&format!("[page {}]", index + 1));
        let before = reading.line.bytes();
        reading.page(*page)?;
        if reading.line.bytes() == before {
            reading.line.mark("[no text on this page]");
        }
    }
    let is_over = reading.is_over() || pages.len() > PDF_PAGES_MAX;
    let mut text = reading.line.into_text();
    text.is_cut |= is_over;
    Ok(text)
}

fn load(bytes: &[u8], force_reconstruct: bool) -> Result<Document, Unreadable> {
    OBJECT_STREAM_BYTES.set(0);
    let options = LoadOptions {
        filter: Some(admit),
        max_decompressed_size: Some(STREAM_BYTES_MAX),
        force_reconstruct,
        ..LoadOptions::default()
    };
    let loaded = Document::load_mem_with_options(bytes, options);
    if OBJECT_STREAM_BYTES.get() > OBJECT_STREAMS_BYTES_MAX {
        return Err(Unreadable::TooMuch { what: "bytes of objects", max: OBJECT_STREAMS_BYTES_MAX });
    }
    loaded.map_err(failed)
}

/// Lets an object of a document that is being loaded pass, unless it is one more stream of objects than fits.
fn admit(id: ObjectId, object: &mut Object) -> Option<(ObjectId, Object)> {
    if let Object::Stream(stream) = object
        && stream.dict.has_type(b"ObjStm")
    {
        let unpacked = stream.get_plain_content_with_limit(STREAM_BYTES_MAX).map_or(0, |content| content.len());
        let total = OBJECT_STREAM_BYTES.get().saturating_add(unpacked);
        OBJECT_STREAM_BYTES.set(total);
        if total > OBJECT_STREAMS_BYTES_MAX {
            return None;
        }
    }
    Some((id, object.clone()))
}

/// A document that is being read.
struct Reading<'d> {
    document: &'d Document,
    fonts: BTreeMap<ObjectId, Rc<Font>>,
    line: Line,
    /// The forms that are being shown, outermost first: none may show itself.
    open: Vec<&'d Object>,
    operations_left: usize,
    forms_left: usize,
    bytes_left: usize,
}

/// What decides how and where the next glyph is shown (ISO 32000-1, 9.3).
#[derive(Clone)]
struct State {
    page: Matrix,
    font: Option<Rc<Font>>,
    size: f64,
    character_space: f64,
    word_space: f64,
    scale: f64,
    leading: f64,
    rise: f64,
}

/// Where the resources of a page or form are looked up, nearest first.
type Resources<'d> = Vec<&'d Dictionary>;

impl<'d> Reading<'d> {
    fn is_over(&self) -> bool {
        self.operations_left == 0 || self.forms_left == 0 || self.line.is_full()
    }

    fn page(&mut self, id: ObjectId) -> Result<(), Unreadable> {
        // A page that is not there is blank.
        let Ok(page) = self.document.get_dictionary(id) else { return Ok(()) };
        let content = self.document.get_page_content_with_limit(id, self.bytes_left.min(STREAM_BYTES_MAX));
        let content = content.map_err(failed)?;
        self.take(content.len())?;
        let resources = self.resources(page);
        self.run(&content, &resources, Matrix::IDENTITY)?;
        self.line.end();
        let annotations = page.get_deref(b"Annots", self.document).and_then(Object::as_array);
        for annotation in annotations.map_or(&[][..], Vec::as_slice) {
            self.annotation(annotation)?;
        }
        Ok(())
    }

    /// Returns the resources of a page, its own or those of the nodes above it.
    fn resources(&self, page: &'d Dictionary) -> Resources<'d> {
        let mut found = Vec::new();
        let mut node = Some(page);
        for _ in 0..DEPTH_MAX {
            let Some(here) = node else { break };
            found.extend(here.get_deref(b"Resources", self.document).and_then(Object::as_dict));
            node = here.get_deref(b"Parent", self.document).and_then(Object::as_dict).ok();
        }
        found
    }

    /// Reads what an annotation shows that holds text of its own: a field of a form, a text box.
    fn annotation(&mut self, annotation: &'d Object) -> Result<(), Unreadable> {
        let Ok((_, Object::Dictionary(annotation))) = self.document.dereference(annotation) else { return Ok(()) };
        let kind = annotation.get(b"Subtype").and_then(Object::as_name).unwrap_or_default();
        if kind != b"Widget" && kind != b"FreeText" {
            return Ok(());
        }
        let look = annotation.get_deref(b"AP", self.document).and_then(Object::as_dict);
        let Ok(look) = look.and_then(|look| look.get_deref(b"N", self.document)) else { return Ok(()) };
        let corner = annotation.get_deref(b"Rect", self.document).and_then(Object::as_array).map(|rect| numbers(rect));
        let (x, y) = corner.map_or((0.0, 0.0), |rect| match rect.as_slice() {
            [x1, y1, x2, y2] => (x1.min(*x2), y1.min(*y2)),
            _ => (0.0, 0.0),
        });
        self.form(look, &Vec::new(), Matrix::moved(x, y))?;
        self.line.end();
        Ok(())
    }

    fn form(&mut self, object: &'d Object, above: &Resources<'d>, page: Matrix) -> Result<(), Unreadable> {
        let Object::Stream(form) = object else { return Ok(()) };
        if self.open.len() >= DEPTH_MAX || self.open.iter().any(|open| std::ptr::eq(*open, object)) || self.is_over() {
            return Ok(());
        }
        self.forms_left -= 1;
        // What cannot be unpacked shows nothing; what unpacks into too much is no document.
        let content = match form.get_plain_content_with_limit(self.bytes_left.min(STREAM_BYTES_MAX)) {
            Ok(content) => content,
            Err(error @ Error::Decompress(DecompressError::MemoryLimitExceeded { .. })) => return Err(failed(error)),
            Err(_) => return Ok(()),
        };
        self.take(content.len())?;
        let own = form.dict.get_deref(b"Matrix", self.document).and_then(Object::as_array);
        let own = own.ok().and_then(|matrix| Matrix::of(&numbers(matrix))).unwrap_or(Matrix::IDENTITY);
        let resources = match form.dict.get_deref(b"Resources", self.document).and_then(Object::as_dict) {
            Ok(resources) => vec![resources],
            Err(_) => above.clone(),
        };
        self.open.push(object);
        let done = self.run(&content, &resources, own.then(page));
        self.open.pop();
        done
    }

    fn take(&mut self, bytes: usize) -> Result<(), Unreadable> {
        self.bytes_left = self.bytes_left.checked_sub(bytes).ok_or_else(Unreadable::unpacked)?;
        Ok(())
    }

    /// Carries out the operations of a content stream that have to do with text.
    fn run(&mut self, content: &[u8], resources: &Resources<'d>, page: Matrix) -> Result<(), Unreadable> {
        let mut state = State {
            page,
            font: None,
            size: 0.0,
            character_space: 0.0,
            word_space: 0.0,
            scale: 1.0,
            leading: 0.0,
            rise: 0.0,
        };
        let mut saved = Vec::new();
        let (mut text, mut start) = (Matrix::IDENTITY, Matrix::IDENTITY);
        // What follows an operation that cannot be read is no longer known.
        for operation in Content::decode_iter(content).map_while(Result::ok) {
            if self.is_over() {
                break;
            }
            self.operations_left -= 1;
            let Operation { operator, operands } = &operation;
            let at = |index: usize| operands.get(index).map_or(0.0, number);
            let mut next_line = |x: f64, y: f64| {
                start = Matrix::moved(x, y).then(start);
                start
            };
            match operator.as_str() {
                "q" if saved.len() < STATES_MAX => saved.push(state.clone()),
                "Q" => state = saved.pop().unwrap_or(state),
                "cm" => state.page = Matrix::of(&numbers(operands)).map_or(state.page, |own| own.then(state.page)),
                "BT" => (text, start) = (Matrix::IDENTITY, Matrix::IDENTITY),
                "Tf" => {
                    state.font = operands.first().and_then(|name| self.font(name, resources));
                    state.size = at(1);
                }
                "Tc" => state.character_space = at(0),
                "Tw" => state.word_space = at(0),
                "Tz" => state.scale = at(0) / 100.0,
                "TL" => state.leading = at(0),
                "Ts" => state.rise = at(0),
                "Td" => text = next_line(at(0), at(1)),
                "TD" => {
                    state.leading = -at(1);
                    text = next_line(at(0), at(1));
                }
                "Tm" => {
                    start = Matrix::of(&numbers(operands)).unwrap_or(start);
                    text = start;
                }
                "T*" => text = next_line(0.0, -state.leading),
                "Tj" => self.show(operands, &state, &mut text),
                "TJ" => {
                    let pieces = operands.first().and_then(|pieces| pieces.as_array().ok());
                    self.show(pieces.map_or(&[][..], Vec::as_slice), &state, &mut text);
                }
                "'" => {
                    text = next_line(0.0, -state.leading);
                    self.show(operands, &state, &mut text);
                }
                "\"" => {
                    (state.word_space, state.character_space) = (at(0), at(1));
                    text = next_line(0.0, -state.leading);
                    self.show(operands.get(2..).unwrap_or_default(), &state, &mut text);
                }
                "Do" => {
                    let name = operands.first().and_then(|name| name.as_name().ok()).unwrap_or_default();
                    if let Some(form) = self.resource(b"XObject", name, resources)
                        && is_form(form)
                    {
                        self.form(form, resources, state.page)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Shows texts, and moves by the numbers between them.
    fn show(&mut self, pieces: &[Object], state: &State, text: &mut Matrix) {
        let Some(font) = &state.font else { return };
        let own = Matrix::new([state.size * state.scale, 0.0, 0.0, state.size, 0.0, state.rise]);
        for piece in pieces {
            let Object::String(bytes, _) = piece else {
                let moved = -number(piece) / 1000.0 * state.size * state.scale;
                *text = Matrix::moved(moved, 0.0).then(*text);
                continue;
            };
            if self.is_over() {
                return;
            }
            for glyph in font.glyphs(bytes) {
                self.line.glyph(own.then(*text).then(state.page), glyph.width, &glyph.text);
                let space = if glyph.is_space { state.word_space } else { 0.0 };
                let moved = (glyph.width * state.size + state.character_space + space) * state.scale;
                *text = Matrix::moved(moved, 0.0).then(*text);
            }
        }
    }

    fn font(&mut self, name: &Object, resources: &Resources<'d>) -> Option<Rc<Font>> {
        let name = name.as_name().ok()?;
        let fonts = resources.iter().find_map(|all| {
            let fonts = all.get_deref(b"Font", self.document).and_then(Object::as_dict).ok()?;
            fonts.get(name).ok()
        })?;
        let id = fonts.as_reference().ok();
        if let Some(known) = id.and_then(|id| self.fonts.get(&id)) {
            return Some(Rc::clone(known));
        }
        let Ok((_, Object::Dictionary(dictionary))) = self.document.dereference(fonts) else { return None };
        let font = Rc::new(Font::read(dictionary, self.document));
        if let Some(id) = id {
            self.fonts.insert(id, Rc::clone(&font));
        }
        Some(font)
    }

    fn resource(&self, kind: &[u8], name: &[u8], resources: &Resources<'d>) -> Option<&'d Object> {
        resources.iter().find_map(|all| {
            let named = all.get_deref(kind, self.document).and_then(Object::as_dict).ok()?;
            named.get_deref(name, self.document).ok()
        })
    }
}

fn is_form(object: &Object) -> bool {
    let Object::Stream(stream) = object else { return false };
    stream.dict.get(b"Subtype").and_then(Object::as_name).is_ok_and(|kind| kind == b"Form")
}

/// Returns the number that `object` is, or 0.
pub(super) fn number(object: &Object) -> f64 {
    object.as_float().map(f64::from).ok().filter(|number| number.is_finite()).unwrap_or(0.0)
}

fn numbers(objects: &[Object]) -> Vec<f64> {
    objects.iter().map(number).collect()
}

fn failed(error: Error) -> Unreadable {
    if let Error::Decompress(DecompressError::MemoryLimitExceeded { .. }) = error {
        return Unreadable::TooMuch { what: "bytes in one part", max: STREAM_BYTES_MAX };
    }
    damaged(&error.to_string())
}

fn damaged(why: &str) -> Unreadable {
    Unreadable::Damaged { what: "a PDF", why: why.to_owned() }
}
