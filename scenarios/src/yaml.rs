//! YAML as a tree in which every key and value knows its place, and a reader that gathers problems instead of stopping at the first. Parsing
//! belongs to `serde-saphyr` (YAML 1.2: `yes` is text, so are dates and times, and a number with a leading zero stays text).

use std::fmt;

use dayshift_engine::{SmolStr, VALUE_DEPTH_MAX, Value};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Location, Spanned};

use crate::problem::{Place, Report, did_you_mean};

/// The largest YAML file of a package, in bytes (8 MiB).
pub const YAML_BYTES_MAX: usize = 8 << 20;

/// How many values a YAML file may hold.
pub const YAML_NODES_MAX: usize = 500_000;

/// One value with its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) shape: Shape,
}

/// What a value is.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(SmolStr),
    List(Vec<Node>),
    Map(Vec<(Name, Node)>),
}

/// A key with its place.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) place: Place,
    pub(crate) text: SmolStr,
}

/// The entries of a map whose keys are known.
pub(crate) struct Fields<'a> {
    report: &'a Report<'a>,
    place: Place,
    what: String,
    entries: &'a [(Name, Node)],
}

/// Reads the YAML `bytes` of `report`'s file; nothing, with the problem noted, if that cannot be.
pub(crate) fn read(report: &Report<'_>, bytes: &[u8]) -> Option<Node> {
    if bytes.len() > YAML_BYTES_MAX {
        let message = format!("the file has {} bytes, and at most {YAML_BYTES_MAX} are read", bytes.len());
        report.add("yaml/too-large", Place::default(), message, "split it or make it smaller");
        return None;
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        report.add("yaml/not-utf8", Place::default(), "the file is not UTF-8", "save it as UTF-8");
        return None;
    };
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_nodes: YAML_NODES_MAX, max_depth: VALUE_DEPTH_MAX, max_documents: 1 },
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        with_snippet: false,
    };
    match serde_saphyr::from_str_with_options::<Spanned<Shape>>(text, options) {
        Ok(root) => Some(root.into()),
        Err(error) => {
            let place = error.location().map(place_of).unwrap_or_default();
            let message = format!("the YAML cannot be read: {}", one_line(&error.without_snippet().to_string()));
            report.add("yaml/malformed", place, message, "correct the YAML at this place");
            None
        }
    }
}

impl Node {
    /// Returns the value that a call carries: text stays text, numbers stay numbers.
    pub(crate) fn to_value(&self) -> Value {
        match &self.shape {
            Shape::Null => Value::Null,
            Shape::Bool(truth) => Value::Bool(*truth),
            Shape::Int(number) => Value::Int(*number),
            Shape::Float(number) => Value::Float(*number),
            Shape::Text(text) => Value::Text(text.clone()),
            Shape::List(items) => items.iter().map(Self::to_value).collect(),
            Shape::Map(entries) => {
                Value::Map(entries.iter().map(|(name, node)| (name.text.clone(), node.to_value())).collect())
            }
        }
    }

    /// Returns what this is called in a sentence.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.shape {
            Shape::Null => "nothing",
            Shape::Bool(_) => "true or false",
            Shape::Int(_) | Shape::Float(_) => "a number",
            Shape::Text(_) => "text",
            Shape::List(_) => "a list",
            Shape::Map(_) => "a map",
        }
    }

    /// Returns the text; a number counts as what was meant where text is expected.
    pub(crate) fn text(&self, report: &Report<'_>, what: &str) -> Option<SmolStr> {
        match &self.shape {
            Shape::Text(text) => Some(text.clone()),
            Shape::Int(number) => Some(number.to_string().into()),
            Shape::Null | Shape::Bool(_) | Shape::Float(_) | Shape::List(_) | Shape::Map(_) => {
                self.mismatch(report, what, "text");
                None
            }
        }
    }

    /// Returns the finite number.
    pub(crate) fn number(&self, report: &Report<'_>, what: &str) -> Option<f64> {
        match &self.shape {
            Shape::Int(number) => Some(*number as f64),
            Shape::Float(number) if number.is_finite() => Some(*number),
            Shape::Float(_) | Shape::Null | Shape::Bool(_) | Shape::Text(_) | Shape::List(_) | Shape::Map(_) => {
                self.mismatch(report, what, "a number");
                None
            }
        }
    }

    /// Returns the truth value.
    pub(crate) fn truth(&self, report: &Report<'_>, what: &str) -> Option<bool> {
        if let Shape::Bool(truth) = &self.shape {
            return Some(*truth);
        }
        self.mismatch(report, what, "true or false");
        None
    }

    /// Returns the items of a list; none, with the problem noted, for anything else.
    pub(crate) fn items(&self, report: &Report<'_>, what: &str) -> &[Self] {
        match &self.shape {
            Shape::List(items) => items,
            Shape::Null => &[],
            Shape::Bool(_) | Shape::Int(_) | Shape::Float(_) | Shape::Text(_) | Shape::Map(_) => {
                self.mismatch(report, what, "a list");
                &[]
            }
        }
    }

    /// Returns the entries of a map; none, with the problem noted, for anything else.
    pub(crate) fn entries(&self, report: &Report<'_>, what: &str) -> &[(Name, Self)] {
        match &self.shape {
            Shape::Map(entries) => entries,
            Shape::Null => &[],
            Shape::Bool(_) | Shape::Int(_) | Shape::Float(_) | Shape::Text(_) | Shape::List(_) => {
                self.mismatch(report, what, "a map");
                &[]
            }
        }
    }

    /// Returns the entries of a map that has no keys but `known`; others are noted as problems.
    pub(crate) fn fields<'a>(&'a self, report: &'a Report<'a>, what: &str, known: &[&str]) -> Fields<'a> {
        let entries = self.entries(report, what);
        for (name, _) in entries {
            if !known.contains(&name.text.as_str()) && !report.is_full() {
                let message = format!("{what} has no key '{}'", name.text);
                report.add("scenario/unknown-key", name.place, message, did_you_mean(&name.text, known));
            }
        }
        Fields { report, place: self.place, what: what.to_owned(), entries }
    }

    fn mismatch(&self, report: &Report<'_>, what: &str, wanted: &str) {
        let message = format!("{what} must be {wanted}, not {}", self.kind());
        report.add("scenario/wrong-type", self.place, message, format!("write {wanted} here"));
    }
}

impl<'a> Fields<'a> {
    /// Returns where the map stands.
    pub(crate) fn place(&self) -> Place {
        self.place
    }

    /// Returns the value under `key`, if there is one; `key:` with nothing behind it counts as absent.
    pub(crate) fn get(&self, key: &str) -> Option<&'a Node> {
        let found = self.entries.iter().find(|(name, _)| name.text == key);
        found.map(|(_, node)| node).filter(|node| !matches!(node.shape, Shape::Null))
    }

    /// Returns the value under `key`; its absence is a problem.
    pub(crate) fn need(&self, key: &str) -> Option<&'a Node> {
        let found = self.get(key);
        if found.is_none() {
            let message = format!("{} has no '{key}'", self.what);
            self.report.add("scenario/missing-key", self.place, message, format!("add '{key}: …'"));
        }
        found
    }

    pub(crate) fn text(&self, key: &str) -> Option<SmolStr> {
        self.get(key)?.text(self.report, &self.name(key))
    }

    /// Returns the text under `key`; empty, with the problem noted, if there is none.
    pub(crate) fn need_text(&self, key: &str) -> SmolStr {
        self.need(key).and_then(|node| node.text(self.report, &self.name(key))).unwrap_or_default()
    }

    pub(crate) fn truth(&self, key: &str) -> bool {
        self.get(key).and_then(|node| node.truth(self.report, &self.name(key))).unwrap_or_default()
    }

    pub(crate) fn number(&self, key: &str) -> Option<f64> {
        self.get(key)?.number(self.report, &self.name(key))
    }

    /// Returns the items of the list under `key`; none if it is absent.
    pub(crate) fn items(&self, key: &str) -> &'a [Node] {
        self.get(key).map_or(&[], |node| node.items(self.report, &self.name(key)))
    }

    /// Returns the texts of the list under `key`.
    pub(crate) fn texts(&self, key: &str) -> Vec<SmolStr> {
        let what = format!("each item of {}", self.name(key));
        self.items(key).iter().filter_map(|node| node.text(self.report, &what)).collect()
    }

    fn name(&self, key: &str) -> String {
        format!("'{key}' of {}", self.what)
    }
}

fn place_of(location: Location) -> Place {
    let number = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    Place { line: number(location.line()), column: number(location.column()) }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl From<Spanned<Shape>> for Node {
    fn from(spanned: Spanned<Shape>) -> Self {
        Self { place: place_of(spanned.referenced), shape: spanned.value }
    }
}

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyShape)
    }
}

struct AnyShape;

impl<'de> Visitor<'de> for AnyShape {
    type Value = Shape;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Shape, E> {
        Ok(Shape::Null)
    }

    fn visit_none<E>(self) -> Result<Shape, E> {
        Ok(Shape::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Shape, D::Error> {
        Shape::deserialize(deserializer)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Shape, E> {
        Ok(Shape::Bool(truth))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Shape, E> {
        Ok(Shape::Int(number))
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Shape, E> {
        i64::try_from(number)
            .map(Shape::Int)
            .map_err(|_| E::custom("the number is too large; quote it to keep it as text"))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Shape, E> {
        Ok(Shape::Float(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Shape, E> {
        Ok(Shape::Text(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Shape, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element::<Spanned<Shape>>()? {
            items.push(item.into());
        }
        Ok(Shape::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Shape, A::Error> {
        let mut map: Vec<(Name, Node)> = Vec::new();
        while let Some((name, node)) = entries.next_entry::<Spanned<Shape>, Spanned<Shape>>()? {
            let text = match name.value {
                Shape::Text(text) => text,
                Shape::Int(number) => number.to_string().into(),
                Shape::Bool(truth) => truth.to_string().into(),
                Shape::Null | Shape::Float(_) | Shape::List(_) | Shape::Map(_) => {
                    return Err(A::Error::custom("a key must be text"));
                }
            };
            map.push((Name { place: place_of(name.referenced), text }, node.into()));
        }
        Ok(Shape::Map(map))
    }
}
