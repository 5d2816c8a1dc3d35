//! Structured values: arguments and answers of calls. JSON's data model with whole numbers kept apart and maps in key order, so that
//! one value has one encoding. (`serde_json::Value` would change its order when any crate of the build turns `preserve_order` on.)

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use smol_str::SmolStr;

use crate::time::SimTime;

/// How deep lists and maps may nest; deeper input is refused before it can overflow a stack.
pub const VALUE_DEPTH_MAX: usize = 64;

/// One structured value.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// Nothing.
    #[default]
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other number; never NaN or infinite when it came from JSON.
    Float(f64),
    /// Text.
    Text(SmolStr),
    /// An ordered list.
    List(Vec<Value>),
    /// Named values, in key order.
    Map(BTreeMap<SmolStr, Value>),
}

/// Builds a [`Value::Map`]: `map! { "path" => path, "bytes" => 3_i64 }`.
#[macro_export]
macro_rules! map {
    ($($key:expr => $value:expr),* $(,)?) => {
        $crate::Value::Map([$(($crate::SmolStr::from($key), $crate::Value::from($value))),*].into_iter().collect())
    };
}

impl Value {
    /// Returns the text, if this is text.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// Returns the whole number, if this is one (a float with a whole value counts).
    #[must_use]
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(number) => Some(*number),
            Self::Float(number) if number.fract() == 0.0 && number.abs() < 9.0e15 => Some(*number as i64),
            Self::Null | Self::Bool(_) | Self::Float(_) | Self::Text(_) | Self::List(_) | Self::Map(_) => None,
        }
    }

    /// Returns the number, if this is one.
    #[must_use]
    pub fn as_float(&self) -> Option<f64> {
        match self {
            Self::Int(number) => Some(*number as f64),
            Self::Float(number) => Some(*number),
            Self::Null | Self::Bool(_) | Self::Text(_) | Self::List(_) | Self::Map(_) => None,
        }
    }

    /// Returns the truth value, if this is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(truth) = self { Some(*truth) } else { None }
    }

    /// Returns the list, if this is one.
    #[must_use]
    pub fn as_list(&self) -> Option<&[Value]> {
        if let Self::List(items) = self { Some(items) } else { None }
    }

    /// Returns the map, if this is one.
    #[must_use]
    pub fn as_map(&self) -> Option<&BTreeMap<SmolStr, Value>> {
        if let Self::Map(map) = self { Some(map) } else { None }
    }

    /// Returns the value that stands under `key`, if this is a map that has one.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_map()?.get(key)
    }

    /// Returns what kind of value this is, for sentences.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Int(_) => "a whole number",
            Self::Float(_) => "a number",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Map(_) => "an object",
        }
    }

    /// Returns about how many bytes the value takes: all its text, and one byte for everything else.
    #[must_use]
    pub fn weight(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::List(items) => items.iter().map(|item| item.weight() + 1).sum(),
            Self::Map(map) => map.iter().map(|(key, item)| key.len() + item.weight() + 1).sum(),
            Self::Null | Self::Bool(_) | Self::Int(_) | Self::Float(_) => 1,
        }
    }

    /// Returns whether lists and maps nest deeper than `levels`.
    #[must_use]
    pub fn is_deeper_than(&self, levels: usize) -> bool {
        match self {
            Self::List(items) => levels == 0 || items.iter().any(|item| item.is_deeper_than(levels - 1)),
            Self::Map(map) => levels == 0 || map.values().any(|item| item.is_deeper_than(levels - 1)),
            Self::Null | Self::Bool(_) | Self::Int(_) | Self::Float(_) | Self::Text(_) => false,
        }
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Self::Bool(truth)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Int(i64::from(number))
    }
}

impl From<u64> for Value {
    /// Saturates at the largest whole number that a value can hold.
    fn from(number: u64) -> Self {
        Self::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Self::from(number as u64)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Float(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<SmolStr> for Value {
    fn from(text: SmolStr) -> Self {
        Self::Text(text)
    }
}

impl From<SimTime> for Value {
    fn from(time: SimTime) -> Self {
        Self::from(time.to_string())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Value>> FromIterator<T> for Value {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }
}

impl fmt::Display for Value {
    /// Writes compact JSON.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => formatter.write_str("null"),
            Self::Bool(truth) => truth.fmt(formatter),
            Self::Int(number) => number.fmt(formatter),
            Self::Float(number) if number.is_finite() => write!(formatter, "{number:?}"),
            Self::Float(_) => formatter.write_str("null"),
            Self::Text(text) => write_json_text(formatter, text),
            Self::List(items) => {
                formatter.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    let comma = if index == 0 { "" } else { "," };
                    write!(formatter, "{comma}{item}")?;
                }
                formatter.write_str("]")
            }
            Self::Map(map) => {
                formatter.write_str("{")?;
                for (index, (key, item)) in map.iter().enumerate() {
                    formatter.write_str(if index == 0 { "" } else { "," })?;
                    write_json_text(formatter, key)?;
                    write!(formatter, ":{item}")?;
                }
                formatter.write_str("}")
            }
        }
    }
}

fn write_json_text(formatter: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    formatter.write_str("\"")?;
    for character in text.chars() {
        match character {
            '"' => formatter.write_str("\\\"")?,
            '\\' => formatter.write_str("\\\\")?,
            '\n' => formatter.write_str("\\n")?,
            '\r' => formatter.write_str("\\r")?,
            '\t' => formatter.write_str("\\t")?,
            control if control < ' ' => write!(formatter, "\\u{:04x}", u32::from(control))?,
            other => write!(formatter, "{other}")?,
        }
    }
    formatter.write_str("\"")
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(truth) => serializer.serialize_bool(*truth),
            Self::Int(number) => serializer.serialize_i64(*number),
            Self::Float(number) => serializer.serialize_f64(*number),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                items.iter().try_for_each(|item| list.serialize_element(item))?;
                list.end()
            }
            Self::Map(map) => {
                let mut out = serializer.serialize_map(Some(map.len()))?;
                map.iter().try_for_each(|(key, item)| out.serialize_entry(key, item))?;
                out.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyValue;

        impl<'de> Visitor<'de> for AnyValue {
            type Value = Value;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("null, a boolean, a number, text, a list or an object")
            }

            fn visit_unit<E>(self) -> Result<Value, E> {
                Ok(Value::Null)
            }

            fn visit_none<E>(self) -> Result<Value, E> {
                Ok(Value::Null)
            }

            fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
                Value::deserialize(deserializer)
            }

            fn visit_bool<E>(self, truth: bool) -> Result<Value, E> {
                Ok(Value::Bool(truth))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
                Ok(Value::Int(number))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
                Ok(i64::try_from(number).map_or(Value::Float(number as f64), Value::Int))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
                Ok(Value::Float(number))
            }

            fn visit_str<E>(self, text: &str) -> Result<Value, E> {
                Ok(Value::Text(text.into()))
            }

            fn visit_string<E>(self, text: String) -> Result<Value, E> {
                Ok(Value::Text(text.into()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = list.next_element()? {
                    items.push(item);
                }
                Ok(Value::List(items))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
                let mut map: BTreeMap<SmolStr, Value> = BTreeMap::new();
                while let Some((key, item)) = entries.next_entry()? {
                    map.insert(key, item);
                }
                // Where any crate of the build turns on serde_json's `arbitrary_precision`, its numbers come as this map.
                if let (1, Some(Value::Text(number))) = (map.len(), map.get("$serde_json::private::Number")) {
                    return Ok(number.parse().map_or_else(
                        |_| number.parse().map_or_else(|_| Value::Text(number.clone()), Value::Float),
                        Value::Int,
                    ));
                }
                Ok(Value::Map(map))
            }
        }

        deserializer.deserialize_any(AnyValue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_prints_as_json_with_its_keys_in_order() {
        let value = map! { "b" => 1_i64, "a" => "x\n\"y\"", "c" => vec![1.5, 2.0] };
        assert_eq!(value.to_string(), r#"{"a":"x\n\"y\"","b":1,"c":[1.5,2.0]}"#);
    }

    #[test]
    fn depth_counts_containers() {
        let nested = Value::List(vec![Value::List(vec![Value::Int(1)])]);
        assert!(!nested.is_deeper_than(2));
        assert!(nested.is_deeper_than(1));
    }
}
