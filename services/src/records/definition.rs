//! Reads the author's definition of a table into a [`Schema`]. Says where in the definition a fault is and what to write instead.

use std::collections::BTreeMap;

use dayshift_engine::{Rejection, SmolStr, Value};

use super::condition::{CONDITION_WORDS, Condition, Grammar, Operand};
use super::decimal::DECIMAL_SCALE_MAX;
use super::kind::{self, FieldKind};
use super::schema::{Action, ActionEffect, Field, Guard, IdFormat, Schema, Whom};
use crate::lowercase::composed;

/// How many fields a table, and parameters an action, may have.
pub const FIELDS_MAX: usize = 100;

/// How many actions a table may have.
pub const ACTIONS_MAX: usize = 50;

/// How many effects an action may have.
pub const EFFECTS_MAX: usize = 16;

/// How many rules an action may have.
pub const GUARDS_MAX: usize = 32;

/// How long the name of a table, a field or an action may be, in bytes.
pub const NAME_BYTES_MAX: usize = 64;

type Map = BTreeMap<SmolStr, Value>;

/// Returns the schema that `definition` writes.
///
/// # Errors
///
/// `records/bad-definition`, with the place of the fault.
pub(super) fn read(definition: &Value) -> Result<Schema, Rejection> {
    read_schema(definition).map_err(|fault| Rejection::new("records/bad-definition", fault))
}

fn read_schema(definition: &Value) -> Result<Schema, String> {
    let map = object(definition, "the definition")?;
    let name = name(map.get("table"), "table")?;
    only(map, &name, &["table", "description", "id", "fields", "actions", "create", "update", "correct"])?;
    let id = read_id(map.get("id"), &name)?;
    let fields = read_fields(map.get("fields"), &format!("{name}.fields"))?;
    if fields.is_empty() {
        return Err(format!("{name}.fields: a table needs at least one field; add one"));
    }
    if fields.iter().any(|field| field.name == id.name) {
        return Err(format!("{name}.fields.{0}: '{0}' is the name of the id already; rename the field", id.name));
    }
    let actions = match map.get("actions") {
        None => Vec::new(),
        Some(actions) => {
            let place = format!("{name}.actions");
            let actions = object(actions, &place)?;
            at_most(actions.len(), ACTIONS_MAX, &place)?;
            let read = |(action, value): (&SmolStr, &Value)| read_action(action, value, &fields, &place);
            actions.iter().map(read).collect::<Result<_, _>>()?
        }
    };
    Ok(Schema {
        description: text(map, "description", &name)?,
        create: whom(map.get("create"), &format!("{name}.create"))?,
        update: whom(map.get("update"), &format!("{name}.update"))?,
        correct: map.get("correct").map(|given| whom(Some(given), &format!("{name}.correct"))).transpose()?,
        definition: definition.clone(),
        name,
        id,
        fields,
        actions,
    })
}

fn read_id(value: Option<&Value>, table: &str) -> Result<IdFormat, String> {
    let place = format!("{table}.id");
    let empty = Map::new();
    let map = value.map_or(Ok(&empty), |value| object(value, &place))?;
    only(map, &place, &["name", "prefix", "digits"])?;
    let shown = map.get("name").map_or(Ok("id".into()), |given| name(Some(given), &place))?;
    let prefix = text(map, "prefix", &place)?;
    if !prefix.is_empty() && !kind::is_row_id(&prefix) {
        return Err(format!("{place}.prefix: an id has no slash, no control character and no space at its ends"));
    }
    let digits = match map.get("digits") {
        None => 1,
        Some(digits) => digits
            .as_int()
            .and_then(|digits| usize::try_from(digits).ok())
            .filter(|digits| (1..=18).contains(digits))
            .ok_or_else(|| format!("{place}.digits: write a whole number from 1 to 18"))?,
    };
    Ok(IdFormat { name: shown, prefix, digits })
}

fn read_fields(value: Option<&Value>, place: &str) -> Result<Vec<Field>, String> {
    let Some(value) = value else { return Ok(Vec::new()) };
    let map = object(value, place)?;
    at_most(map.len(), FIELDS_MAX, place)?;
    let mut fields: Vec<Field> =
        map.iter().map(|(field, value)| read_field(field, value, place)).collect::<Result<_, _>>()?;
    fields.sort_by(|left, right| left.name.cmp(&right.name));
    match fields.windows(2).find(|pair| pair[0].name == pair[1].name) {
        Some(pair) => Err(format!("{place}.{}: there are two of this name; rename one", pair[0].name)),
        None => Ok(fields),
    }
}

fn read_field(field: &SmolStr, value: &Value, place: &str) -> Result<Field, String> {
    let place = format!("{place}.{field}");
    let field = name(Some(&Value::Text(field.clone())), &place)?;
    if field == "audit" || CONDITION_WORDS.contains(&field.as_str()) {
        return Err(format!("{place}: '{field}' is a word of the language; choose another name"));
    }
    let shorthand;
    let map = match value {
        Value::Text(_) => {
            shorthand = Map::from([("type".into(), value.clone())]);
            &shorthand
        }
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::List(_) | Value::Map(_) => {
            object(value, &place)?
        }
    };
    let kind = read_kind(map, &place)?;
    let known =
        ["type", "description", "required", "unique", "read_only", "detail", "default", "options", "table", "scale"];
    only(map, &place, &known)?;
    let default = map.get("default").map(|value| read_operand(value, Some(&kind), &place)).transpose()?;
    if let Some(Operand::Argument(_) | Operand::Row(_) | Operand::Id) = &default {
        return Err(format!("{place}.default: only a value, $now, $today or $actor can be a default"));
    }
    Ok(Field {
        description: text(map, "description", &place)?,
        required: flag(map, "required", &place)?,
        unique: flag(map, "unique", &place)?,
        read_only: flag(map, "read_only", &place)?,
        detail: flag(map, "detail", &place)?,
        name: field,
        kind,
        default,
    })
}

fn read_kind(map: &Map, place: &str) -> Result<FieldKind, String> {
    let of = |key: &str, only: &str, kind: FieldKind| match map.get(key) {
        Some(_) => Err(format!("{place}.{key}: only a field of type {only} has this")),
        None => Ok(kind),
    };
    let simple = |kind: FieldKind| {
        of("options", "choice", kind)
            .and_then(|kind| of("table", "reference", kind))
            .and_then(|kind| of("scale", "decimal", kind))
    };
    match map.get("type").and_then(Value::as_text) {
        Some("text") => simple(FieldKind::Text),
        Some("integer") => simple(FieldKind::Integer),
        Some("boolean") => simple(FieldKind::Boolean),
        Some("date") => simple(FieldKind::Date),
        Some("time") => simple(FieldKind::Time),
        Some("list") => simple(FieldKind::List),
        Some("any") => simple(FieldKind::Any),
        Some("decimal") => {
            let scale = map.get("scale").map_or(Some(2), |scale| u32::try_from(scale.as_int()?).ok());
            let scale = scale.filter(|scale| *scale <= DECIMAL_SCALE_MAX);
            let scale =
                scale.ok_or_else(|| format!("{place}.scale: write a whole number from 0 to {DECIMAL_SCALE_MAX}"))?;
            Ok(FieldKind::Decimal { scale })
        }
        Some("choice") => {
            let options = map.get("options").and_then(Value::as_list).unwrap_or_default();
            let words: Option<Vec<SmolStr>> =
                options.iter().map(|option| option.as_text().map(SmolStr::from)).collect();
            words
                .filter(|words| !words.is_empty())
                .map(FieldKind::Choice)
                .ok_or_else(|| format!("{place}.options: a choice needs a list of at least one text"))
        }
        Some("reference") => name(map.get("table"), &format!("{place}.table")).map(FieldKind::Reference),
        _ => Err(format!(
            "{place}.type: write one of text, integer, decimal, boolean, date, time, choice, reference, list, any"
        )),
    }
}

fn read_action(action: &SmolStr, value: &Value, fields: &[Field], place: &str) -> Result<Action, String> {
    let place = format!("{place}.{action}");
    let action = name(Some(&Value::Text(action.clone())), &place)?;
    let map = object(value, &place)?;
    only(map, &place, &["description", "by", "parameters", "guard", "effects"])?;
    let parameters = read_fields(map.get("parameters"), &format!("{place}.parameters"))?;
    // One function alone needs no list.
    let guards = match map.get("guard") {
        Some(function @ Value::Text(_)) => std::slice::from_ref(function),
        _ => list(map, "guard", &place)?,
    };
    at_most(guards.len(), GUARDS_MAX, &format!("{place}.guard"))?;
    let effects = list(map, "effects", &place)?;
    at_most(effects.len(), EFFECTS_MAX, &format!("{place}.effects"))?;
    if effects.is_empty() {
        return Err(format!("{place}.effects: an action needs at least one effect; add one"));
    }
    let scope = Scope { fields, parameters: &parameters };
    Ok(Action {
        description: text(map, "description", &place)?,
        by: whom(map.get("by"), &format!("{place}.by"))?,
        guards: guards.iter().map(|guard| read_guard(guard, &scope, &place)).collect::<Result<_, _>>()?,
        effects: effects.iter().map(|effect| read_effect(effect, &scope, &place)).collect::<Result<_, _>>()?,
        name: action,
        parameters,
    })
}

/// What an action's guards and effects may speak of.
struct Scope<'a> {
    fields: &'a [Field],
    parameters: &'a [Field],
}

impl Scope<'_> {
    fn field(&self, name: &str, place: &str) -> Result<&Field, String> {
        let found = self.fields.iter().find(|field| field.name == name);
        found.ok_or_else(|| format!("{place}: the table has no field '{name}'"))
    }

    fn check(&self, operand: &Operand, place: &str) -> Result<(), String> {
        match operand {
            Operand::Argument(name) if self.parameters.iter().all(|parameter| parameter.name != *name) => {
                Err(format!("{place}: the action has no parameter '{name}'"))
            }
            Operand::Row(path) => self.field(&path.first, place).map(|_| ()),
            Operand::Argument(_)
            | Operand::Constant(_)
            | Operand::Id
            | Operand::Now
            | Operand::Today
            | Operand::Actor => Ok(()),
        }
    }

    fn check_condition(&self, condition: &Condition, own: bool, place: &str) -> Result<(), String> {
        use super::condition::Left;
        match condition {
            Condition::Compare { left, right, .. } => {
                match left {
                    Left::Field(path) if own => self.field(&path.first, place).map(|_| ())?,
                    Left::Field(_) => {}
                    Left::Argument(name) => self.check(&Operand::Argument(name.clone()), place)?,
                }
                self.check(right, place)
            }
            Condition::Exists { filter, .. } => self.check_condition(filter, false, place),
            Condition::All(parts) | Condition::Any(parts) => {
                parts.iter().try_for_each(|part| self.check_condition(part, own, place))
            }
            Condition::Not(part) => self.check_condition(part, own, place),
        }
    }
}

fn read_guard(value: &Value, scope: &Scope<'_>, place: &str) -> Result<Guard, String> {
    let place = format!("{place}.guard");
    if let Value::Text(function) = value {
        return self::name(Some(value), &place).map(|_| Guard::Function(function.clone()));
    }
    let mut map = object(value, &place)?.clone();
    let message = match map.remove("else") {
        None => None,
        Some(Value::Text(text)) => Some(text),
        Some(other) => return Err(format!("{place}.else: write a sentence, not {}", other.kind())),
    };
    let condition = Condition::read(&Value::Map(map), Grammar::Guard).map_err(|fault| format!("{place}: {fault}"))?;
    scope.check_condition(&condition, true, &place)?;
    let message = message.unwrap_or_else(|| condition.sentence().into());
    Ok(Guard::Condition { condition, message })
}

fn read_effect(value: &Value, scope: &Scope<'_>, place: &str) -> Result<ActionEffect, String> {
    let place = format!("{place}.effects");
    let map = object(value, &place)?;
    let on = match map.get("on") {
        None => None,
        Some(on) => {
            let field = scope.field(on.as_text().unwrap_or_default(), &format!("{place}.on"))?;
            if !matches!(field.kind, FieldKind::Reference(_)) {
                return Err(format!("{place}.on: '{}' is no reference; name a field of type reference", field.name));
            }
            Some(field.name.clone())
        }
    };
    let verb = |key: &str| map.get(key).filter(|_| map.len() == 1 + usize::from(on.is_some()));
    if let Some(values) = verb("set") {
        return read_values(values, scope, on.is_none(), &place).map(|values| ActionEffect::Set { on, values });
    }
    for (key, negated) in [("increment", false), ("decrement", true)] {
        if let Some(values) = verb(key) {
            let values = read_values(values, scope, on.is_none(), &place)?;
            return Ok(ActionEffect::Add { on, values, negated });
        }
    }
    if let (Some(create), None) = (verb("create"), &on) {
        let map = object(create, &place)?;
        only(map, &place, &["table", "values"])?;
        let table = name(map.get("table"), &format!("{place}.create.table"))?;
        let values = map.get("values").cloned().unwrap_or_else(|| Value::Map(Map::new()));
        return read_values(&values, scope, false, &place).map(|values| ActionEffect::Create { table, values });
    }
    if let (Some(Value::Bool(true)), None) = (verb("remove"), &on) {
        return Ok(ActionEffect::Remove);
    }
    Err(format!(
        "{place}: an effect is one of set, increment or decrement (these three also with on), create, or remove: true"
    ))
}

/// Reads the values of an effect; those for the row itself are held against its fields.
fn read_values(value: &Value, scope: &Scope<'_>, own: bool, place: &str) -> Result<Vec<(SmolStr, Operand)>, String> {
    let read = |(field, value): (&SmolStr, &Value)| {
        let place = format!("{place}.{field}");
        let kind = if own { Some(&scope.field(field, &place)?.kind) } else { None };
        let operand = read_operand(value, kind, &place)?;
        scope.check(&operand, &place)?;
        Ok((field.clone(), operand))
    };
    object(value, place)?.iter().map(read).collect()
}

fn read_operand(value: &Value, kind: Option<&FieldKind>, place: &str) -> Result<Operand, String> {
    let operand = Operand::read(value).map_err(|fault| format!("{place}: {fault}"))?;
    let Some(kind) = kind else { return Ok(operand) };
    let fits = match &operand {
        Operand::Constant(Value::Null) | Operand::Argument(_) | Operand::Row(_) => true,
        Operand::Constant(value) => {
            return match kind.admit(value) {
                Some(value) => Ok(Operand::Constant(value)),
                None => Err(format!("{place}: the field takes {}, not {value}", kind.takes())),
            };
        }
        Operand::Now => matches!(kind, FieldKind::Time | FieldKind::Text | FieldKind::Any),
        Operand::Today => matches!(kind, FieldKind::Date | FieldKind::Text | FieldKind::Any),
        Operand::Actor => matches!(kind, FieldKind::Text | FieldKind::Any),
        Operand::Id => matches!(kind, FieldKind::Reference(_) | FieldKind::Text | FieldKind::Any),
    };
    if fits {
        Ok(operand)
    } else {
        Err(format!("{place}: the field takes {}, which {} is not", kind.takes(), operand.definition()))
    }
}

fn whom(value: Option<&Value>, place: &str) -> Result<Whom, String> {
    let Some(value) = value else { return Ok(Whom::Everybody) };
    let names: Option<Vec<SmolStr>> =
        value.as_list().and_then(|names| names.iter().map(|name| name.as_text().map(SmolStr::from)).collect());
    names.map(Whom::Only).ok_or_else(|| format!("{place}: write a list of 'agent' and names of personas; [] is nobody"))
}

fn object<'a>(value: &'a Value, place: &str) -> Result<&'a Map, String> {
    value.as_map().ok_or_else(|| format!("{place}: write an object, not {}", value.kind()))
}

fn list<'a>(map: &'a Map, key: &str, place: &str) -> Result<&'a [Value], String> {
    match map.get(key) {
        None => Ok(&[]),
        Some(value) => value.as_list().ok_or_else(|| format!("{place}.{key}: write a list, not {}", value.kind())),
    }
}

fn only(map: &Map, place: &str, known: &[&str]) -> Result<(), String> {
    match map.keys().find(|key| !known.contains(&key.as_str())) {
        Some(stray) => Err(format!("{place}: '{stray}' is unknown here; write one of {}", known.join(", "))),
        None => Ok(()),
    }
}

fn text(map: &Map, key: &str, place: &str) -> Result<SmolStr, String> {
    match map.get(key) {
        None => Ok(SmolStr::default()),
        Some(Value::Text(text)) => Ok(text.clone()),
        Some(other) => Err(format!("{place}.{key}: write text, not {}", other.kind())),
    }
}

fn flag(map: &Map, key: &str, place: &str) -> Result<bool, String> {
    match map.get(key) {
        None => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(other) => Err(format!("{place}.{key}: write true or false, not {}", other.kind())),
    }
}

fn at_most(count: usize, max: usize, place: &str) -> Result<(), String> {
    if count > max { Err(format!("{place}: {count} are too many; {max} is the most")) } else { Ok(()) }
}

/// Names end up in keys and in paths: letters, digits and underscores, of any script, not starting with a digit.
fn name(value: Option<&Value>, place: &str) -> Result<SmolStr, String> {
    // A letter with a mark is one letter, however it is written.
    let text = &*composed(value.and_then(Value::as_text).unwrap_or_default());
    let good = !text.is_empty()
        && text.len() <= NAME_BYTES_MAX
        && !text.starts_with(|first: char| first.is_numeric())
        && text.chars().all(|character| character.is_alphanumeric() || character == '_' || character == '-');
    if good {
        Ok(text.into())
    } else {
        Err(format!(
            "{place}: '{text}' is no name; use letters, digits and _, at most {NAME_BYTES_MAX} bytes, a letter first"
        ))
    }
}
