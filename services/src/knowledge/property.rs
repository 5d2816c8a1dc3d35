//! Values of properties, in and out: what an agent writes in a natural form becomes one canonical value, or a sentence that says what the
//! property takes. Relations name rows, so they are resolved by whoever knows the rows.

use dayshift_engine::{Rejection, SmolStr, Value};

use super::date;
use super::needle::alike;
use super::schema::{NAME_BYTES_MAX, Property, PropertyKind, Schema, option_name};

/// How long the value of one property may be, in bytes, all its texts together. Notion stops at 2,000 characters per piece of text, of which
/// a value may have a hundred.
pub const PROPERTY_BYTES_MAX: usize = 200_000;

/// How many items a list (multi_select, people, files, relation) may have.
pub const PROPERTY_ITEMS_MAX: usize = 100;

/// What a property admits.
pub(super) struct Admitted {
    /// The canonical value; [`Value::Null`] if it is empty.
    pub(super) value: Value,
    /// Options that are not there yet.
    pub(super) options: Vec<SmolStr>,
}

/// Returns the canonical form of `value` for `property`. `resolve` returns the id of the row that a relation's item names.
pub(super) fn admit(
    schema: &Schema,
    property: &Property,
    value: &Value,
    resolve: &mut dyn FnMut(&SmolStr, &str) -> Result<SmolStr, String>,
) -> Result<Admitted, Rejection> {
    if !property.kind.is_stored() {
        return Err(Rejection::new(
            "knowledge/read-only",
            format!(
                "'{}' of '{}' is a {}, which is computed; leave it out",
                property.name,
                schema.title,
                property.kind.name()
            ),
        ));
    }
    if value.weight() > PROPERTY_BYTES_MAX {
        return Err(Rejection::new(
            "knowledge/too-large",
            format!(
                "the value of '{}' is over {PROPERTY_BYTES_MAX} bytes; put long text into the row's content",
                property.name
            ),
        ));
    }
    let mut options = Vec::new();
    let value = canonical(property, value, &mut options, resolve).map_err(|fault| {
        Rejection::new(
            "knowledge/bad-value",
            format!("'{}' of '{}' is a {}: {fault}", property.name, schema.title, property.kind.name()),
        )
    })?;
    Ok(Admitted { value, options })
}

fn canonical(
    property: &Property,
    value: &Value,
    new: &mut Vec<SmolStr>,
    resolve: &mut dyn FnMut(&SmolStr, &str) -> Result<SmolStr, String>,
) -> Result<Value, String> {
    if *value == Value::Null {
        return Ok(Value::Null);
    }
    let text = || value.as_text().ok_or_else(|| format!("it takes text, not {}", value.kind()));
    match &property.kind {
        PropertyKind::Title => {
            let text = text()?;
            if text.len() > NAME_BYTES_MAX {
                return Err(format!("a title has at most {NAME_BYTES_MAX} bytes; put the rest into another property"));
            }
            Ok(non_empty(text))
        }
        PropertyKind::Text | PropertyKind::Url | PropertyKind::Email | PropertyKind::Phone => Ok(non_empty(text()?)),
        PropertyKind::Number { .. } => match value {
            Value::Int(_) => Ok(value.clone()),
            Value::Float(number) if number.is_finite() => Ok(value.as_int().map_or_else(|| value.clone(), Value::Int)),
            Value::Null | Value::Bool(_) | Value::Float(_) | Value::Text(_) | Value::List(_) | Value::Map(_) => {
                Err(format!("it takes a number, not {}", value.kind()))
            }
        },
        PropertyKind::Select { options } => option(text()?, options, new),
        PropertyKind::Status { options, .. } => {
            let text = text()?;
            if text.is_empty() {
                return Ok(Value::Null);
            }
            let found = options.iter().find(|option| alike(option, text));
            found.map(|option| option.clone().into()).ok_or_else(|| {
                format!(
                    "it takes one of {}, not '{text}'",
                    options.iter().map(SmolStr::as_str).collect::<Vec<_>>().join(", ")
                )
            })
        }
        PropertyKind::MultiSelect { options } => list(value, |item| match option(item, options, new)? {
            Value::Text(option) => Ok(option),
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::List(_) | Value::Map(_) => {
                Err("an option cannot be empty".to_owned())
            }
        }),
        PropertyKind::People | PropertyKind::Files => list(value, |item| Ok(item.into())),
        PropertyKind::Relation { database, .. } => list(value, |item| resolve(database, item)),
        PropertyKind::Date => date::admit(value),
        PropertyKind::Checkbox => match value {
            Value::Bool(true) => Ok(Value::Bool(true)),
            // Not checked is what a box is when nobody touched it.
            Value::Bool(false) => Ok(Value::Null),
            Value::Null | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::List(_) | Value::Map(_) => {
                Err(format!("it takes true or false, not {}", value.kind()))
            }
        },
        PropertyKind::Rollup { .. }
        | PropertyKind::Formula { .. }
        | PropertyKind::CreatedTime
        | PropertyKind::LastEditedTime
        | PropertyKind::CreatedBy
        | PropertyKind::LastEditedBy => Err("it is computed".to_owned()),
    }
}

/// Returns the value that a cell of a CSV file stands for; an empty one is nothing.
pub(super) fn from_csv(kind: &PropertyKind, cell: &str) -> Value {
    let cell = cell.trim();
    if cell.is_empty() {
        return Value::Null;
    }
    match kind {
        PropertyKind::Number { .. } => match (cell.parse::<i64>(), cell.parse::<f64>()) {
            (Ok(number), _) => Value::Int(number),
            (Err(_), Ok(number)) if number.is_finite() => Value::Float(number),
            (Err(_), _) => cell.into(),
        },
        PropertyKind::Checkbox => match cell.to_ascii_lowercase().as_str() {
            "yes" | "true" | "checked" | "1" => Value::Bool(true),
            "no" | "false" | "unchecked" | "0" => Value::Bool(false),
            _ => cell.into(),
        },
        PropertyKind::MultiSelect { .. }
        | PropertyKind::People
        | PropertyKind::Files
        | PropertyKind::Relation { .. } => cell.split(',').map(str::trim).filter(|item| !item.is_empty()).collect(),
        PropertyKind::Title
        | PropertyKind::Text
        | PropertyKind::Select { .. }
        | PropertyKind::Status { .. }
        | PropertyKind::Date
        | PropertyKind::Url
        | PropertyKind::Email
        | PropertyKind::Phone
        | PropertyKind::Rollup { .. }
        | PropertyKind::Formula { .. }
        | PropertyKind::CreatedTime
        | PropertyKind::LastEditedTime
        | PropertyKind::CreatedBy
        | PropertyKind::LastEditedBy => cell.into(),
    }
}

fn non_empty(text: &str) -> Value {
    if text.is_empty() { Value::Null } else { text.into() }
}

fn option(text: &str, options: &[SmolStr], new: &mut Vec<SmolStr>) -> Result<Value, String> {
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    let option = option_name(text)?;
    if let Some(known) = options.iter().chain(new.iter()).find(|known| alike(known, &option)) {
        return Ok(known.clone().into());
    }
    new.push(option.clone());
    Ok(option.into())
}

/// Returns the canonical list of `value`: a list of texts, or one text. What is named twice counts once.
fn list(value: &Value, mut item: impl FnMut(&str) -> Result<SmolStr, String>) -> Result<Value, String> {
    let one = std::slice::from_ref(value);
    let items = match value {
        Value::List(items) => items.as_slice(),
        Value::Text(_) => one,
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Map(_) => {
            return Err(format!("it takes a list of texts, not {}", value.kind()));
        }
    };
    let mut out: Vec<SmolStr> = Vec::new();
    for entry in items {
        let text = entry.as_text().ok_or_else(|| format!("it takes a list of texts, not of {}", entry.kind()))?;
        let text = item(text)?;
        if !out.contains(&text) {
            out.push(text);
        }
    }
    if out.len() > PROPERTY_ITEMS_MAX {
        return Err(format!("{} items are too many; it takes {PROPERTY_ITEMS_MAX}", out.len()));
    }
    Ok(if out.is_empty() { Value::Null } else { out.into_iter().collect() })
}
