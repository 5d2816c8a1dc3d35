//! A cell: its value, its number format, and what was entered to get it. Knows nothing of where it stands.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use dayshift_engine::{Canonical, Graded, SmolStr, Value};
use serde::{Deserialize, Serialize};

use super::a1::Area;

/// The longest text that a cell may hold, in bytes.
pub const CELL_TEXT_BYTES_MAX: usize = 32_767;
/// The longest formula, in bytes.
pub const FORMULA_BYTES_MAX: usize = 8_192;

/// What a cell is worth.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CellValue {
    /// Nothing; the cell is there for its format alone.
    #[default]
    Empty,
    /// A finite number. A date or time is the number of days since 1899-12-30, with a format that shows it as such.
    Number(f64),
    /// Text, also text that looks like a number.
    Text(SmolStr),
    /// A truth value.
    Bool(bool),
    /// An error as a value.
    Error(CellError),
}

impl CellValue {
    /// Returns this as an argument or answer: whole numbers as such, errors as their text.
    #[must_use]
    pub fn to_value(&self) -> Value {
        match self {
            Self::Empty => Value::Null,
            Self::Number(number) => Value::Float(*number).as_int().map_or(Value::Float(*number), Value::Int),
            Self::Text(text) => Value::Text(text.clone()),
            Self::Bool(truth) => Value::Bool(*truth),
            Self::Error(error) => Value::from(error.as_str()),
        }
    }
}

/// The errors that a formula can come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CellError {
    /// Two areas that do not meet.
    Null,
    /// A division by zero.
    Division,
    /// An operand of the wrong kind.
    Value,
    /// A reference to what is not there.
    Reference,
    /// A name or function that is not known.
    Name,
    /// A number out of range.
    Number,
    /// A value that is not available.
    NotAvailable,
    /// An array that does not fit into one cell.
    Spill,
    /// A formula that depends on itself.
    Circular,
    /// A calculation that the engine cannot do.
    Calculation,
}

impl CellError {
    const ALL: [Self; 10] = [
        Self::Null,
        Self::Division,
        Self::Value,
        Self::Reference,
        Self::Name,
        Self::Number,
        Self::NotAvailable,
        Self::Spill,
        Self::Circular,
        Self::Calculation,
    ];

    /// Returns what the cell shows.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Null => "#NULL!",
            Self::Division => "#DIV/0!",
            Self::Value => "#VALUE!",
            Self::Reference => "#REF!",
            Self::Name => "#NAME?",
            Self::Number => "#NUM!",
            Self::NotAvailable => "#N/A",
            Self::Spill => "#SPILL!",
            Self::Circular => "#CIRC!",
            Self::Calculation => "#CALC!",
        }
    }
}

impl fmt::Display for CellError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl FromStr for CellError {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|error| error.as_str().eq_ignore_ascii_case(text)).ok_or(())
    }
}

/// What somebody entered to get a cell's value, where the value alone does not say it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// Text as a user typed it: `5.00` came to the number 5.
    Typed(SmolStr),
    /// A formula, with its equals sign.
    Formula {
        /// The formula's text.
        text: SmolStr,
        /// The cells that it read when it was last computed, and those that it names: its precedents.
        reads: Vec<Precedent>,
        /// Whether its value can change without any precedent changing: it asks for the time, for chance, or for a computed reference.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        volatile: bool,
    },
}

/// An area that a formula reads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Precedent {
    /// The worksheet, by its exact name.
    pub worksheet: SmolStr,
    /// The cells.
    pub area: Area,
}

/// One cell of a worksheet. Two cells are equal when value, formula and format are; how a user typed a value makes no difference.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// What it is worth.
    pub value: CellValue,
    /// The number format's code; empty is General.
    pub format: SmolStr,
    /// What was entered, if the value does not say it.
    pub input: Option<Arc<Input>>,
}

impl Cell {
    /// Returns whether it holds neither value nor formula.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.value == CellValue::Empty && self.formula().is_none()
    }

    /// Returns the formula's text, if there is one.
    #[must_use]
    pub fn formula(&self) -> Option<&SmolStr> {
        match self.input.as_deref() {
            Some(Input::Formula { text, .. }) => Some(text),
            Some(Input::Typed(_)) | None => None,
        }
    }

    /// Returns the areas that the formula reads; none without a formula.
    #[must_use]
    pub fn precedents(&self) -> &[Precedent] {
        match self.input.as_deref() {
            Some(Input::Formula { reads, .. }) => reads,
            Some(Input::Typed(_)) | None => &[],
        }
    }

    /// Returns whether the value can change without any precedent changing.
    #[must_use]
    pub fn is_volatile(&self) -> bool {
        matches!(self.input.as_deref(), Some(Input::Formula { volatile: true, .. }))
    }
}

impl PartialEq for Cell {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value && self.format == other.format && self.formula() == other.formula()
    }
}

impl Graded for Cell {
    /// Value, formula and format count; how a user typed a value does not.
    fn canonical(&self, into: &mut Canonical) {
        match &self.value {
            CellValue::Empty => into.value(&Value::Null),
            CellValue::Number(number) => into.float(*number),
            CellValue::Text(text) => into.text(text),
            CellValue::Bool(truth) => into.bool(*truth),
            CellValue::Error(error) => into.bytes(error.as_str().as_bytes()),
        }
        into.text(self.formula().map_or("", |formula| formula));
        into.text(&self.format);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(cell: &Cell) -> dayshift_engine::StateDigest {
        let mut canonical = Canonical::default();
        cell.canonical(&mut canonical);
        canonical.digest()
    }

    #[test]
    fn five_and_the_texts_five_are_three_different_cells() {
        let cells = [CellValue::Number(5.0), CellValue::Text("5".into()), CellValue::Text("5.00".into())]
            .map(|value| Cell { value, ..Cell::default() });
        assert_ne!(digest(&cells[0]), digest(&cells[1]));
        assert_ne!(digest(&cells[1]), digest(&cells[2]));
        assert_ne!(digest(&cells[0]), digest(&Cell { format: "0.00".into(), ..cells[0].clone() }));
    }

    #[test]
    fn how_a_value_was_typed_does_not_count() {
        let typed = Some(Arc::new(Input::Typed("5.00".into())));
        let plain = Cell { value: CellValue::Number(5.0), ..Cell::default() };
        let other = Cell { input: typed, ..plain.clone() };
        assert_eq!(digest(&plain), digest(&other));
        assert_eq!(plain, other);
    }

    #[test]
    fn an_error_reads_back_from_its_text() {
        for error in CellError::ALL {
            assert_eq!(error.as_str().parse(), Ok(error));
        }
        assert!("#HELP!".parse::<CellError>().is_err());
    }
}
