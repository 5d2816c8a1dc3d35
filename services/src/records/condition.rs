//! Conditions: the small declarative language of guards and of `where`. Here are its structure and its reading from structured values;
//! [`super::evaluate`] holds them against rows. A further kind of condition is one more variant of [`Condition`].

use std::collections::BTreeMap;

use dayshift_engine::{SmolStr, Value, map};

/// How deep conditions may nest.
pub const CONDITION_DEPTH_MAX: usize = 8;

/// How many comparisons one guard or one `where` may hold.
pub const CONDITIONS_MAX: usize = 64;

/// How many references a path may follow.
pub const PATH_STEPS_MAX: usize = 4;

/// The words that introduce a structured condition, so that no field can have such a name.
pub(super) const CONDITION_WORDS: &[&str] = &["field", "argument", "exists", "all", "any", "not", "else"];

/// Something that holds or does not.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Condition {
    /// A comparison.
    Compare { left: Left, op: Op, right: Operand },
    /// Whether a table has a row for which the condition holds.
    Exists { table: SmolStr, filter: Box<Condition> },
    /// Whether all hold.
    All(Vec<Condition>),
    /// Whether one holds.
    Any(Vec<Condition>),
    /// Whether it does not hold.
    Not(Box<Condition>),
}

/// What stands on the left of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Left {
    /// A field of the row at hand, or of a row that it refers to.
    Field(Path),
    /// An argument of the action.
    Argument(SmolStr),
}

/// A field, reached by following references: `supplier.status`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Path {
    /// A field of the row at hand.
    pub(super) first: SmolStr,
    /// Fields of the rows that the references lead to.
    pub(super) rest: Vec<SmolStr>,
}

/// What stands on the right of a comparison, or is put into a field.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operand {
    /// A value as it is.
    Constant(Value),
    /// The id of the row acted on.
    Id,
    /// The simulated time.
    Now,
    /// The day in the office's zone.
    Today,
    /// The name of who acts.
    Actor,
    /// An argument of the action.
    Argument(SmolStr),
    /// A field of the row acted on, as it was before the action.
    Row(Path),
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Contains,
    In,
    IsEmpty,
}

/// Who writes a condition, and so what it may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grammar {
    /// A caller's `where`: constants and fields.
    Query,
    /// An author's guard: also arguments, `exists` and the `$` words.
    Guard,
}

impl Op {
    const ALL: [(&'static str, Self); 9] = [
        ("eq", Self::Eq),
        ("ne", Self::Ne),
        ("lt", Self::Lt),
        ("le", Self::Le),
        ("gt", Self::Gt),
        ("ge", Self::Ge),
        ("contains", Self::Contains),
        ("in", Self::In),
        ("is_empty", Self::IsEmpty),
    ];

    fn read(text: &str) -> Option<Self> {
        Self::ALL.iter().find(|(name, _)| *name == text).map(|(_, op)| *op)
    }

    /// Returns whether the operator asks which of two values is greater.
    pub(super) const fn orders(self) -> bool {
        matches!(self, Self::Lt | Self::Le | Self::Gt | Self::Ge)
    }

    /// Returns the operator as a sentence says it.
    pub(super) const fn phrase(self) -> &'static str {
        match self {
            Self::Eq => "must be",
            Self::Ne => "must not be",
            Self::Lt => "must be less than",
            Self::Le => "must be at most",
            Self::Gt => "must be greater than",
            Self::Ge => "must be at least",
            Self::Contains => "must contain",
            Self::In => "must be one of",
            Self::IsEmpty => "must be empty:",
        }
    }
}

impl Path {
    /// Returns the path that `text` writes.
    ///
    /// # Errors
    ///
    /// A sentence when a step is empty or there are too many.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let mut steps = text.split('.').map(SmolStr::from);
        let first = steps.next().unwrap_or_default();
        let rest: Vec<SmolStr> = steps.collect();
        if first.is_empty() || rest.iter().any(SmolStr::is_empty) {
            return Err(format!("'{text}' is no field; write a name, or names joined by points to follow references"));
        }
        if rest.len() > PATH_STEPS_MAX {
            return Err(format!("'{text}' follows more than {PATH_STEPS_MAX} references; follow fewer"));
        }
        Ok(Self { first, rest })
    }

    /// Returns the path as its author wrote it.
    pub(super) fn text(&self) -> String {
        self.rest.iter().fold(self.first.to_string(), |text, step| text + "." + step)
    }
}

impl Operand {
    /// Returns the operand that `value` writes. Text that starts with `$` is a word of the language; `$$` stands for one `$`.
    ///
    /// # Errors
    ///
    /// A sentence when the word is unknown.
    pub(super) fn read(value: &Value) -> Result<Self, String> {
        let Some(word) = value.as_text().and_then(|text| text.strip_prefix('$')) else {
            return Ok(Self::Constant(value.clone()));
        };
        match word {
            "id" => Ok(Self::Id),
            "now" => Ok(Self::Now),
            "today" => Ok(Self::Today),
            "actor" => Ok(Self::Actor),
            _ => {
                if word.starts_with('$') {
                    Ok(Self::Constant(Value::from(word)))
                } else if let Some(name) = word.strip_prefix("arguments.") {
                    Ok(Self::Argument(name.into()))
                } else if let Some(path) = word.strip_prefix("row.") {
                    Path::read(path).map(Self::Row)
                } else {
                    Err(format!(
                        "'${word}' is unknown; write $id, $now, $today, $actor, $arguments.NAME or $row.FIELD, or $$ for a plain $"
                    ))
                }
            }
        }
    }

    /// Returns the operand as its author wrote it.
    pub(super) fn definition(&self) -> Value {
        match self {
            Self::Constant(Value::Text(text)) if text.starts_with('$') => Value::from(format!("${text}")),
            Self::Constant(value) => value.clone(),
            Self::Id => Value::from("$id"),
            Self::Now => Value::from("$now"),
            Self::Today => Value::from("$today"),
            Self::Actor => Value::from("$actor"),
            Self::Argument(name) => Value::from(format!("$arguments.{name}")),
            Self::Row(path) => Value::from(format!("$row.{}", path.text())),
        }
    }
}

impl Condition {
    /// Returns the condition that `value` writes: a list (all must hold), an object of fields and values (likewise), or a structured
    /// condition.
    ///
    /// # Errors
    ///
    /// A sentence that says what is wrong and what to write instead.
    pub(super) fn read(value: &Value, grammar: Grammar) -> Result<Self, String> {
        let mut left = CONDITIONS_MAX;
        read(value, grammar, CONDITION_DEPTH_MAX, &mut left)
    }

    /// Returns the fields of the row at hand that the condition looks at, the first steps of its paths.
    pub(super) fn first_fields<'a>(&'a self, into: &mut Vec<&'a SmolStr>) {
        match self {
            Self::Compare { left: Left::Field(path), .. } => into.push(&path.first),
            Self::Compare { left: Left::Argument(_), .. } | Self::Exists { .. } => {}
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.first_fields(into)),
            Self::Not(part) => part.first_fields(into),
        }
    }

    /// Returns the condition in words, for the sentence of a guard that has none of its own.
    pub(super) fn sentence(&self) -> String {
        let join = |parts: &[Self], word: &str| parts.iter().map(Self::sentence).collect::<Vec<_>>().join(word);
        match self {
            Self::Compare { left, op, right } => {
                let left = match left {
                    Left::Field(path) => path.text(),
                    Left::Argument(name) => format!("the argument {name}"),
                };
                format!("{left} {} {}", op.phrase(), right.definition())
            }
            Self::Exists { table, filter } => format!("{table} must have a row in which {}", filter.sentence()),
            Self::All(parts) => join(parts, " and "),
            Self::Any(parts) => format!("({})", join(parts, " or ")),
            Self::Not(part) => format!("it must not be that {}", part.sentence()),
        }
    }
}

fn read(value: &Value, grammar: Grammar, depth: usize, left: &mut usize) -> Result<Condition, String> {
    if depth == 0 {
        return Err(format!("conditions nest deeper than {CONDITION_DEPTH_MAX}; write them flatter"));
    }
    let part = |value: &Value, left: &mut usize| read(value, grammar, depth - 1, left);
    let parts = |value: &Value, left: &mut usize| {
        let items = value.as_list().ok_or_else(|| format!("all and any take a list, not {}", value.kind()))?;
        items.iter().map(|item| part(item, left)).collect::<Result<Vec<_>, _>>()
    };
    match value {
        Value::List(_) => parts(value, left).map(Condition::All),
        Value::Map(map) if map.contains_key("field") || map.contains_key("argument") => compare(map, grammar, left),
        Value::Map(map) => match single(map) {
            Some(("all", inner)) => parts(inner, left).map(Condition::All),
            Some(("any", inner)) => parts(inner, left).map(Condition::Any),
            Some(("not", inner)) => part(inner, left).map(|inner| Condition::Not(Box::new(inner))),
            Some(("exists", inner)) => exists(inner, grammar, depth, left),
            _ => shorthand(map, grammar, left),
        },
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) => Err(format!(
            "a condition is an object such as {{\"status\": \"open\"}} or {{\"field\": \"amount\", \"op\": \"gt\", \"value\": 5}}, or a list of them, not {}",
            value.kind()
        )),
    }
}

/// Returns the only entry of `map`, if it has only one.
fn single(map: &BTreeMap<SmolStr, Value>) -> Option<(&str, &Value)> {
    let (key, value) = map.first_key_value()?;
    (map.len() == 1).then_some((key.as_str(), value))
}

fn compare(map: &BTreeMap<SmolStr, Value>, grammar: Grammar, left: &mut usize) -> Result<Condition, String> {
    if let Some(stray) = map.keys().find(|key| !["field", "argument", "op", "value"].contains(&key.as_str())) {
        return Err(format!("a comparison has no '{stray}'; it takes field (or argument), op and value"));
    }
    let name = |key: &str| map.get(key).map(|value| value.as_text().ok_or_else(|| format!("{key} takes a name")));
    let operand = match (name("field"), name("argument")) {
        (Some(field), None) => Left::Field(Path::read(field?)?),
        (None, Some(argument)) if grammar == Grammar::Guard => Left::Argument(argument?.into()),
        _ => return Err("a comparison takes one field; only a guard may compare an argument instead".to_owned()),
    };
    let op = match map.get("op") {
        None => Op::Eq,
        Some(op) => op.as_text().and_then(Op::read).ok_or_else(|| {
            let names: Vec<&str> = Op::ALL.iter().map(|(name, _)| *name).collect();
            format!("the operator {op} is unknown; write one of {}", names.join(", "))
        })?,
    };
    let value = match (map.get("value"), op) {
        (Some(value), _) => value.clone(),
        (None, Op::IsEmpty) => Value::Bool(true),
        (None, _) => return Err(format!("the comparison of {} has no value", name_of(&operand))),
    };
    finish(operand, op, &value, grammar, left)
}

fn shorthand(map: &BTreeMap<SmolStr, Value>, grammar: Grammar, left: &mut usize) -> Result<Condition, String> {
    let parts = map.iter().map(|(field, value)| {
        if CONDITION_WORDS.contains(&field.as_str()) {
            return Err(format!("'{field}' must stand alone in its object; put the conditions into a list"));
        }
        let op = if matches!(value, Value::List(_)) { Op::In } else { Op::Eq };
        finish(Left::Field(Path::read(field)?), op, value, grammar, left)
    });
    let mut parts = parts.collect::<Result<Vec<_>, _>>()?;
    Ok(if parts.len() == 1 { parts.remove(0) } else { Condition::All(parts) })
}

fn finish(operand: Left, op: Op, value: &Value, grammar: Grammar, left: &mut usize) -> Result<Condition, String> {
    *left = left
        .checked_sub(1)
        .ok_or_else(|| format!("there are more than {CONDITIONS_MAX} comparisons; ask in several steps"))?;
    let right = match grammar {
        Grammar::Query => Operand::Constant(value.clone()),
        Grammar::Guard => Operand::read(value)?,
    };
    let fits = match (&right, op) {
        (Operand::Constant(value), Op::In) => value.as_list().is_some(),
        (Operand::Constant(value), Op::IsEmpty) => value.as_bool().is_some(),
        _ => true,
    };
    if !fits {
        let takes = if op == Op::In { "in takes a list" } else { "is_empty takes true or false" };
        return Err(format!("{takes}, not {}", right.definition().kind()));
    }
    Ok(Condition::Compare { left: operand, op, right })
}

fn exists(inner: &Value, grammar: Grammar, depth: usize, left: &mut usize) -> Result<Condition, String> {
    let shape =
        "exists takes a table and a where, such as {\"table\": \"callbacks\", \"where\": {\"payment\": \"$id\"}}";
    if grammar == Grammar::Query {
        return Err("a query cannot use exists; query the other table first".to_owned());
    }
    let table = inner.get("table").and_then(Value::as_text).ok_or(shape)?;
    let filter = inner.get("where").cloned().unwrap_or(map! {});
    if inner.as_map().is_some_and(|map| map.keys().any(|key| key != "table" && key != "where")) {
        return Err(shape.to_owned());
    }
    let filter = Box::new(read(&filter, grammar, depth - 1, left)?);
    Ok(Condition::Exists { table: table.into(), filter })
}

fn name_of(left: &Left) -> String {
    match left {
        Left::Field(path) => path.text(),
        Left::Argument(name) => name.to_string(),
    }
}
