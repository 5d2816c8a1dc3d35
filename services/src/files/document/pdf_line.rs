//! Where the glyphs of a page stand, and the lines and words that follow from it.

use super::Text;

/// How far a glyph may stand off the line of the one before, in its heights, and be on the same line: more than a superscript.
const LINE_TOLERANCE: f64 = 0.6;
/// From which gap on two glyphs are of two words, in heights. Kerning is less, a narrow space more.
const WORD_GAP: f64 = 0.17;
/// From which gap on they are of two columns.
const COLUMN_GAP: f64 = 1.6;
/// How far back the next glyph may start on the same line.
const BACK_GAP: f64 = -1.0;
/// How far the directions of two glyphs of one line may differ, as a cosine.
const DIRECTION_MIN: f64 = 0.9;

/// An affine transformation `[a b c d e f]` (ISO 32000-1, 8.3.3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Matrix([f64; 6]);

impl Matrix {
    pub(super) const IDENTITY: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    pub(super) fn new(numbers: [f64; 6]) -> Self {
        Self(numbers)
    }

    pub(super) fn of(numbers: &[f64]) -> Option<Self> {
        numbers.try_into().ok().map(Self)
    }

    pub(super) fn moved(x: f64, y: f64) -> Self {
        Self([1.0, 0.0, 0.0, 1.0, x, y])
    }

    /// Returns this transformation followed by `other`.
    pub(super) fn then(self, other: Self) -> Self {
        let ([a, b, c, d, e, f], [oa, ob, oc, od, oe, of]) = (self.0, other.0);
        Self([
            a * oa + b * oc,
            a * ob + b * od,
            c * oa + d * oc,
            c * ob + d * od,
            e * oa + f * oc + oe,
            e * ob + f * od + of,
        ])
    }
}

/// The line that is being gathered, and where its last glyph ended.
pub(super) struct Line {
    text: Text,
    line: String,
    last: Option<Last>,
}

struct Last {
    end: (f64, f64),
    direction: (f64, f64),
    height: f64,
}

impl Line {
    pub(super) fn new(text: Text) -> Self {
        Self { text, line: String::new(), last: None }
    }

    /// Adds a glyph that stands at the origin of `place`, where one unit is the height of the font. `width` is in that unit.
    pub(super) fn glyph(&mut self, place: Matrix, width: f64, text: &str) {
        let Matrix([a, b, c, d, x, y]) = place;
        let length = (a * a + b * b).sqrt();
        let height = (c * c + d * d).sqrt();
        if text.is_empty() || !(length > 0.0 && height > 0.0 && x.is_finite() && y.is_finite()) {
            return;
        }
        let direction = (a / length, b / length);
        if let Some(last) = &self.last {
            let (dx, dy) = (x - last.end.0, y - last.end.1);
            let along = (dx * last.direction.0 + dy * last.direction.1) / height.max(last.height);
            let across = (dx * last.direction.1 - dy * last.direction.0).abs() / height.max(last.height);
            let turned = direction.0 * last.direction.0 + direction.1 * last.direction.1 < DIRECTION_MIN;
            if turned || across > LINE_TOLERANCE || along < BACK_GAP {
                self.end();
            } else if along > COLUMN_GAP && !self.line.is_empty() {
                self.line.push('\t');
            } else if along > WORD_GAP && !self.line.ends_with(char::is_whitespace) && !text.starts_with(' ') {
                self.line.push(' ');
            }
        }
        let is_blank = text.chars().all(char::is_whitespace);
        if !(is_blank && self.line.is_empty()) {
            self.line.extend(text.chars().map(|character| if character.is_control() { ' ' } else { character }));
        }
        self.last = Some(Last { end: (x + a * width, y + b * width), direction, height });
        if self.line.len() > super::DOCUMENT_TEXT_BYTES_MAX {
            self.end();
        }
    }

    /// Ends the line.
    pub(super) fn end(&mut self) {
        self.last = None;
        let line = std::mem::take(&mut self.line);
        if !line.trim_end().is_empty() {
            self.text.line(line.trim_end());
        }
    }

    /// Adds a line that does not stand in the document.
    pub(super) fn mark(&mut self, mark: &str) {
        self.end();
        self.text.line(mark);
    }

    /// Returns how much text there is so far, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.text.as_str().len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.text.is_cut
    }

    pub(super) fn into_text(mut self) -> Text {
        self.end();
        self.text
    }
}
