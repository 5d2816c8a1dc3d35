//! The text of a PDF (ISO 32000-1): page after page, the glyphs in the order in which they are shown, broken into lines and words by where they
//! stand. Text of scanned pages is there if somebody put it in; pictures are not read.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::{catch_unwind, resume_unwind};
use std::rc::Rc;

use dayshift_engine::Budget;
use lopdf::content::{Content, Operation};
use lopdf::{DecompressError, Dictionary, Document, Error, LoadOptions, Object, ObjectId};

use super::pdf_font::{Font, GlyphNames};
use super::pdf_line::{Line, Matrix};
use super::pdf_survey::Survey;
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
/// How many bytes of streams may be loaded for each byte of the file: they cannot all lie in one another.
const STREAM_BYTES_PER_BYTE_MAX: u64 = 4;
/// How many bytes of memory a token of a file takes once it is loaded: most are objects, but a reference takes three, and an end of a list is none.
const OBJECT_BYTES: u64 = (size_of::<Object>() * 2 / 3) as u64;
/// What an operation costs.
const OPERATION_WORK: u64 = 10;
/// What it costs to show a glyph.
const GLYPH_WORK: u64 = 8;
/// What it costs to look for something that a page or a form refers to.
const REFERENCE_WORK: u64 = 20;

/// What the document that this thread is loading came to so far. The library's filter is a plain function.
#[derive(Clone, Copy, Default)]
struct Loading {
    /// How much its streams of objects unpacked into.
    object_stream_bytes: usize,
    /// How many objects they may still hold.
    objects_left: u64,
    /// How many bytes of streams may still be loaded.
    stream_bytes_left: u64,
    has_too_many_objects: bool,
    has_too_many_bytes: bool,
}

/// What is thrown to leave the library early.
struct Stop;

thread_local! {
    static LOADING: Cell<Loading> = Cell::default();
}

pub(super) fn text_of(bytes: &[u8], budget: &Budget) -> Result<Text, Unreadable> {
    let survey = Survey::of(bytes);
    if survey.is_contrived() {
        return Err(damaged("its comments hold objects"));
    }
    let mut document = load(bytes, false, &survey, budget)?;
    if document.page_iter().next().is_none() && !document.is_encrypted() {
        document = load(bytes, true, &survey, budget)?;
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
        budget,
        fonts: BTreeMap::new(),
        names: GlyphNames::default(),
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

fn load(bytes: &[u8], force_reconstruct: bool, survey: &Survey, budget: &Budget) -> Result<Document, Unreadable> {
    budget.bytes(survey.objects.saturating_mul(OBJECT_BYTES))?;
    // An encrypted document is copied object by object before its password is tried.
    if memchr::memmem::find(bytes, b"/Encrypt").is_some() {
        budget.bytes(survey.spanned)?;
    }
    let objects_max = budget.bytes_left() / OBJECT_BYTES;
    LOADING.set(Loading {
        objects_left: objects_max,
        stream_bytes_left: (bytes.len() as u64).saturating_mul(STREAM_BYTES_PER_BYTE_MAX),
        ..Loading::default()
    });
    let options = LoadOptions {
        filter: Some(admit),
        max_decompressed_size: Some(STREAM_BYTES_MAX),
        force_reconstruct,
        ..LoadOptions::default()
    };
    let loaded = catch_unwind(|| Document::load_mem_with_options(bytes, options));
    let loading = LOADING.get();
    if loading.object_stream_bytes > OBJECT_STREAMS_BYTES_MAX {
        return Err(Unreadable::TooMuch { what: "bytes of objects", max: OBJECT_STREAMS_BYTES_MAX });
    }
    let objects = objects_max - loading.objects_left + u64::from(loading.has_too_many_objects);
    budget.bytes(objects.saturating_mul(OBJECT_BYTES))?;
    if loading.has_too_many_bytes {
        return Err(damaged("its streams lie in one another"));
    }
    loaded.map_err(|_| damaged("it cannot be loaded"))?.map_err(failed)
}

/// Lets an object of a document that is being loaded pass, unless it is one more stream, or stream of objects, than fits: then nothing more is loaded.
fn admit(id: ObjectId, object: &mut Object) -> Option<(ObjectId, Object)> {
    let Object::Stream(stream) = object else { return Some((id, object.clone())) };
    let mut loading = LOADING.get();
    match loading.stream_bytes_left.checked_sub(stream.content.len() as u64) {
        Some(left) => loading.stream_bytes_left = left,
        None => loading.has_too_many_bytes = true,
    }
    if stream.dict.has_type(b"ObjStm") {
        let unpacked = stream.get_plain_content_with_limit(STREAM_BYTES_MAX).unwrap_or_default();
        loading.object_stream_bytes = loading.object_stream_bytes.saturating_add(unpacked.len());
        match loading.objects_left.checked_sub(Survey::of(&unpacked).objects) {
            Some(left) => loading.objects_left = left,
            None => (loading.objects_left, loading.has_too_many_objects) = (0, true),
        }
    }
    let stops = loading.has_too_many_objects
        || loading.has_too_many_bytes
        || loading.object_stream_bytes > OBJECT_STREAMS_BYTES_MAX;
    LOADING.set(loading);
    if stops {
        // The library goes on with the next object whatever a filter says; this calls no panic hook.
        resume_unwind(Box::new(Stop));
    }
    // A stream does not stand in another, and only of what does the copy is taken.
    Some((id, Object::Null))
}

/// A document that is being read.
struct Reading<'d> {
    document: &'d Document,
    budget: &'d Budget,
    /// The fonts read so far, by where their dictionaries lie in memory: not every font is an object of its own.
    fonts: BTreeMap<usize, Rc<Font>>,
    names: GlyphNames,
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
        self.budget.work(REFERENCE_WORK)?;
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
            self.budget.work(REFERENCE_WORK)?;
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
        Ok(self.budget.work(bytes as u64)?)
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
            self.budget.work(OPERATION_WORK)?;
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
                    state.font = operands.first().map_or(Ok(None), |name| self.font(name, resources))?;
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
                "Tj" => self.show(operands, &state, &mut text)?,
                "TJ" => {
                    let pieces = operands.first().and_then(|pieces| pieces.as_array().ok());
                    self.show(pieces.map_or(&[][..], Vec::as_slice), &state, &mut text)?;
                }
                "'" => {
                    text = next_line(0.0, -state.leading);
                    self.show(operands, &state, &mut text)?;
                }
                "\"" => {
                    (state.word_space, state.character_space) = (at(0), at(1));
                    text = next_line(0.0, -state.leading);
                    self.show(operands.get(2..).unwrap_or_default(), &state, &mut text)?;
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
    fn show(&mut self, pieces: &[Object], state: &State, text: &mut Matrix) -> Result<(), Unreadable> {
        let Some(font) = &state.font else { return Ok(()) };
        let own = Matrix::new([state.size * state.scale, 0.0, 0.0, state.size, 0.0, state.rise]);
        for piece in pieces {
            let Object::String(bytes, _) = piece else {
                let moved = -number(piece) / 1000.0 * state.size * state.scale;
                *text = Matrix::moved(moved, 0.0).then(*text);
                continue;
            };
            for glyph in font.glyphs(bytes) {
                if self.is_over() {
                    return Ok(());
                }
                self.budget.work(GLYPH_WORK + glyph.text.len() as u64)?;
                self.line.glyph(own.then(*text).then(state.page), glyph.width, &glyph.text);
                let space = if glyph.is_space { state.word_space } else { 0.0 };
                let moved = (glyph.width * state.size + state.character_space + space) * state.scale;
                *text = Matrix::moved(moved, 0.0).then(*text);
            }
        }
        Ok(())
    }

    fn font(&mut self, name: &Object, resources: &Resources<'d>) -> Result<Option<Rc<Font>>, Unreadable> {
        self.budget.work(REFERENCE_WORK)?;
        let found = name.as_name().ok().and_then(|name| self.resource(b"Font", name, resources));
        let Some(Object::Dictionary(dictionary)) = found else { return Ok(None) };
        let place = std::ptr::from_ref(dictionary).addr();
        if let Some(known) = self.fonts.get(&place) {
            return Ok(Some(Rc::clone(known)));
        }
        let font = Rc::new(Font::read(dictionary, self.document, &mut self.names, self.budget)?);
        self.fonts.insert(place, Rc::clone(&font));
        Ok(Some(font))
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
