//! Values of calls and answers become values of Starlark, and back. Maps become dicts in key order; structs come back as maps.

use dayshift_engine::{SmolStr, VALUE_DEPTH_MAX, Value};
use starlark::values::dict::{AllocDict, DictRef};
use starlark::values::float::UnpackFloat;
use starlark::values::list::{AllocList, ListRef};
use starlark::values::structs::StructRef;
use starlark::values::tuple::TupleRef;
use starlark::values::{Heap, StringValue, UnpackValue, Value as StarValue};

/// How many values a script may give back or ask with at once, and how much text they may hold, in bytes (16 MiB). Parts that are shared count
/// wherever they stand.
const NODES_MAX: usize = 100_000;
const TEXT_BYTES_MAX: usize = 16 << 20;

/// Returns `value` on `heap`.
pub(super) fn to_starlark<'v>(heap: Heap<'v>, value: &Value) -> StarValue<'v> {
    match value {
        Value::Null => StarValue::new_none(),
        Value::Bool(truth) => StarValue::new_bool(*truth),
        Value::Int(number) => heap.alloc(*number),
        Value::Float(number) => heap.alloc(*number),
        Value::Text(text) => heap.alloc(text.as_str()),
        Value::List(items) => heap.alloc(AllocList(items.iter().map(|item| to_starlark(heap, item)))),
        Value::Map(map) => heap.alloc(AllocDict(map.iter().map(|(key, item)| (key.as_str(), to_starlark(heap, item))))),
    }
}

/// Returns what a script gave.
///
/// # Errors
///
/// A sentence, for what no call can carry: functions, numbers beyond 64 bits, keys that are no text, or too much of it.
pub(super) fn from_starlark(value: StarValue<'_>) -> Result<Value, String> {
    convert(value, VALUE_DEPTH_MAX, &mut Room { nodes: NODES_MAX, text_bytes: TEXT_BYTES_MAX })
}

/// How much more may be passed on.
struct Room {
    nodes: usize,
    text_bytes: usize,
}

impl Room {
    fn text(&mut self, text: &str) -> Result<SmolStr, String> {
        let left = self.text_bytes.checked_sub(text.len());
        self.text_bytes = left.ok_or_else(|| {
            format!("a value with more than {TEXT_BYTES_MAX} bytes of text cannot be passed on; pass less")
        })?;
        Ok(text.into())
    }
}

fn convert(value: StarValue<'_>, levels: usize, room: &mut Room) -> Result<Value, String> {
    let left = room.nodes.checked_sub(1);
    room.nodes =
        left.ok_or_else(|| format!("a value with more than {NODES_MAX} parts cannot be passed on; pass less"))?;
    if value.is_none() {
        return Ok(Value::Null);
    }
    if let Some(truth) = value.unpack_bool() {
        return Ok(Value::Bool(truth));
    }
    if let Some(text) = value.unpack_str() {
        return room.text(text).map(Value::Text);
    }
    if value.get_type() == "int" {
        let number = i64::unpack_value(value).ok().flatten();
        return number.map(Value::Int).ok_or_else(|| "a whole number beyond 64 bits cannot be passed on".to_owned());
    }
    if let Ok(Some(UnpackFloat(number))) = UnpackFloat::unpack_value(value) {
        return Ok(Value::Float(number));
    }
    if levels == 0 {
        return Err(format!("a value that nests deeper than {VALUE_DEPTH_MAX} cannot be passed on"));
    }
    let mut below = |item: StarValue<'_>| convert(item, levels - 1, room);
    if let Some(list) = ListRef::from_value(value) {
        return list.iter().map(&mut below).collect::<Result<_, _>>().map(Value::List);
    }
    if let Some(tuple) = TupleRef::from_value(value) {
        return tuple.iter().map(&mut below).collect::<Result<_, _>>().map(Value::List);
    }
    if let Some(dict) = DictRef::from_value(value) {
        let entry = |(key, item): (StarValue<'_>, StarValue<'_>)| {
            let key = key.unpack_str().ok_or_else(|| format!("a key must be text, not {}", key.get_type()))?;
            Ok((room.text(key)?, convert(item, levels - 1, room)?))
        };
        return dict.iter().map(entry).collect::<Result<_, String>>().map(Value::Map);
    }
    if let Some(fields) = StructRef::from_value(value) {
        let entry = |(name, item): (StringValue<'_>, StarValue<'_>)| {
            Ok((room.text(name.as_str())?, convert(item, levels - 1, room)?))
        };
        return fields.iter().map(entry).collect::<Result<_, String>>().map(Value::Map);
    }
    Err(format!("a {} cannot be passed on; pass text, numbers, lists or dicts", value.get_type()))
}
