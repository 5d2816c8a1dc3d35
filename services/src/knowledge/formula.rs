//! The formula of a property, in the language of Notion's formulas as far as it is common: `prop("Name")`, arithmetic, comparison, `and`,
//! `or`, `not`, `if(…)`, `? :`, and the functions of [`functions`]. What cannot be computed is an error as a value, never a refusal.
//!
//! No library reads this language. `evalexpr` comes nearest, but it is under the AGPL since version 12, divides whole numbers without
//! their rest and computes both branches of `if`; `fasteval` knows only numbers; `rhai` and `starlark` are programming languages in which
//! `if` is a keyword, so that no formula that an agent knows would parse. What is left is an expression parser of two hundred lines whose
//! every step is counted and which cannot loop.

mod functions;
mod parse;

use dayshift_engine::{SmolStr, Value};

use super::date::Moment;
use super::rollup::{error, is_error, number};
use functions::Function;

/// How long a formula may be, in bytes.
pub const FORMULA_BYTES_MAX: usize = 4_000;

/// How deep a formula may nest.
pub const FORMULA_DEPTH_MAX: usize = 32;

/// How long a text that a formula makes may become, in bytes.
pub const FORMULA_TEXT_BYTES_MAX: usize = 64 << 10;

/// A formula that was read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Formula(Node);

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Constant(Value),
    Property(SmolStr),
    Negate(Box<Node>),
    Not(Box<Node>),
    Binary(Op, Box<Node>, Box<Node>),
    If(Vec<Node>),
    Call(Function, Vec<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
}

/// What a formula is computed in.
pub(super) trait Surroundings {
    /// Returns the value of another property of the row.
    fn property(&self, name: &str) -> Value;

    /// Counts a step. Returns whether there are any left.
    fn step(&self) -> bool;

    /// Counts the bytes of a text that is made. Returns whether it may be.
    fn makes(&self, bytes: usize) -> bool;

    /// Returns the simulated time, in milliseconds, and the office's zone.
    fn now(&self) -> (i64, chrono_tz::Tz);
}

impl Formula {
    /// Reads a formula.
    ///
    /// # Errors
    ///
    /// A sentence that says where it cannot be read.
    pub(super) fn read(source: &str) -> Result<Self, String> {
        parse::read(source).map(Self)
    }

    /// Returns the names of the properties that the formula speaks of.
    pub(super) fn properties(&self) -> impl Iterator<Item = &str> {
        let mut names = Vec::new();
        collect(&self.0, &mut names);
        names.into_iter()
    }

    /// Returns what the formula comes to.
    pub(super) fn compute(&self, surroundings: &dyn Surroundings) -> Value {
        evaluate(&self.0, surroundings).unwrap_or_else(|fault| error(&fault))
    }
}

fn collect<'n>(node: &'n Node, names: &mut Vec<&'n str>) {
    match node {
        Node::Constant(_) => {}
        Node::Property(name) => names.push(name),
        Node::Negate(inner) | Node::Not(inner) => collect(inner, names),
        Node::Binary(_, left, right) => [left, right].into_iter().for_each(|node| collect(node, names)),
        Node::If(parts) | Node::Call(_, parts) => parts.iter().for_each(|node| collect(node, names)),
    }
}

fn evaluate(node: &Node, surroundings: &dyn Surroundings) -> Result<Value, String> {
    if !surroundings.step() {
        return Err("it takes too many steps".to_owned());
    }
    match node {
        Node::Constant(value) => Ok(value.clone()),
        Node::Property(name) => {
            let value = surroundings.property(name);
            match value.get("error").filter(|_| is_error(&value)).and_then(Value::as_text) {
                Some(fault) => Err(fault.to_owned()),
                None => Ok(value),
            }
        }
        Node::Negate(inner) => Ok(number(-amount(&evaluate(inner, surroundings)?)?)),
        Node::Not(inner) => Ok(Value::Bool(!truth(&evaluate(inner, surroundings)?)?)),
        Node::If(parts) => {
            for pair in parts.chunks(2) {
                match pair {
                    [condition, then] if truth(&evaluate(condition, surroundings)?)? => {
                        return evaluate(then, surroundings);
                    }
                    [otherwise] => return evaluate(otherwise, surroundings),
                    _ => {}
                }
            }
            Ok(Value::Null)
        }
        Node::Binary(Op::Or, left, right) => {
            Ok(Value::Bool(truth(&evaluate(left, surroundings)?)? || truth(&evaluate(right, surroundings)?)?))
        }
        Node::Binary(Op::And, left, right) => {
            Ok(Value::Bool(truth(&evaluate(left, surroundings)?)? && truth(&evaluate(right, surroundings)?)?))
        }
        Node::Binary(op, left, right) => {
            let (left, right) = (evaluate(left, surroundings)?, evaluate(right, surroundings)?);
            touched([&left, &right], surroundings)?;
            binary(*op, &left, &right, surroundings)
        }
        Node::Call(function, parts) => {
            let values = parts.iter().map(|part| evaluate(part, surroundings)).collect::<Result<Vec<_>, _>>()?;
            touched(&values, surroundings)?;
            function.call(&values, surroundings)
        }
    }
}

/// Counts what a step touches, and makes of it at most.
fn touched<'v>(values: impl IntoIterator<Item = &'v Value>, surroundings: &dyn Surroundings) -> Result<(), String> {
    let bytes: usize = values.into_iter().map(|value| 8 * super::scene::size(value)).sum();
    if surroundings.makes(bytes) { Ok(()) } else { Err("it takes more than one call may".to_owned()) }
}

fn binary(op: Op, left: &Value, right: &Value, surroundings: &dyn Surroundings) -> Result<Value, String> {
    match op {
        Op::Or | Op::And => Err("it is malformed".to_owned()),
        Op::Equal => Ok(Value::Bool(equal(left, right))),
        Op::NotEqual => Ok(Value::Bool(!equal(left, right))),
        Op::Less => {
            order(left, right, surroundings).map(|order| Value::Bool(order.is_some_and(std::cmp::Ordering::is_lt)))
        }
        Op::LessOrEqual => {
            order(left, right, surroundings).map(|order| Value::Bool(order.is_some_and(std::cmp::Ordering::is_le)))
        }
        Op::Greater => {
            order(left, right, surroundings).map(|order| Value::Bool(order.is_some_and(std::cmp::Ordering::is_gt)))
        }
        Op::GreaterOrEqual => {
            order(left, right, surroundings).map(|order| Value::Bool(order.is_some_and(std::cmp::Ordering::is_ge)))
        }
        Op::Add if left.as_text().is_some() || right.as_text().is_some() => bounded(shown(left) + &shown(right)),
        Op::Add => Ok(number(amount(left)? + amount(right)?)),
        Op::Subtract => Ok(number(amount(left)? - amount(right)?)),
        Op::Multiply => Ok(number(amount(left)? * amount(right)?)),
        Op::Divide | Op::Remainder => {
            let (left, right) = (amount(left)?, amount(right)?);
            if right == 0.0 {
                return Err("division by zero".to_owned());
            }
            Ok(number(if op == Op::Divide { left / right } else { left % right }))
        }
        Op::Power => power(amount(left)?, amount(right)?),
    }
}

/// Returns `base` to a whole power by multiplication: the host's own function differs between machines in the last digit.
fn power(base: f64, exponent: f64) -> Result<Value, String> {
    if exponent.fract() != 0.0 || exponent.abs() > 1024.0 {
        return Err("a power takes a whole exponent up to 1024".to_owned());
    }
    let mut result = 1.0;
    for _ in 0..exponent.abs() as u32 {
        result *= base;
    }
    Ok(number(if exponent < 0.0 { 1.0 / result } else { result }))
}

/// Returns the number that a value stands for; nothing is zero, and a box counts as one when it is checked.
fn amount(value: &Value) -> Result<f64, String> {
    match value {
        Value::Null => Ok(0.0),
        Value::Bool(truth) => Ok(f64::from(u8::from(*truth))),
        Value::Int(_) | Value::Float(_) => value.as_float().ok_or_else(|| "it is no number".to_owned()),
        Value::Text(text) => Err(format!("'{text}' is no number")),
        Value::List(_) | Value::Map(_) => Err(format!("{} is no number", value.kind())),
    }
}

fn truth(value: &Value) -> Result<bool, String> {
    match value {
        Value::Null => Ok(false),
        Value::Bool(truth) => Ok(*truth),
        Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::List(_) | Value::Map(_) => {
            Err(format!("{value} is neither true nor false"))
        }
    }
}

fn equal(left: &Value, right: &Value) -> bool {
    match (left.as_float(), right.as_float()) {
        (Some(left), Some(right)) => left == right,
        _ => left == right || (super::rollup::is_empty(left) && super::rollup::is_empty(right)),
    }
}

fn order(left: &Value, right: &Value, surroundings: &dyn Surroundings) -> Result<Option<std::cmp::Ordering>, String> {
    if *left == Value::Null || *right == Value::Null {
        return Ok(None);
    }
    let zone = surroundings.now().1;
    if let (Some(left), Some(right)) = (moment(left), moment(right)) {
        return Ok(Some(left.millis(zone).cmp(&right.millis(zone))));
    }
    if let (Value::Text(left), Value::Text(right)) = (left, right) {
        return Ok(Some(left.cmp(right)));
    }
    Ok(amount(left)?.partial_cmp(&amount(right)?))
}

/// Returns the moment at which a date starts, if a value is one.
fn moment(value: &Value) -> Option<Moment> {
    super::date::Date::of(value).map(|date| date.start)
}

/// Returns a value as text joins it.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Text(text) => text.to_string(),
        Value::List(items) => items.iter().map(shown).collect::<Vec<_>>().join(", "),
        Value::Map(map) => match (map.get("start"), map.get("end")) {
            (Some(start), None | Some(Value::Null)) => shown(start),
            (Some(start), Some(end)) => format!("{} → {}", shown(start), shown(end)),
            (None, _) => value.to_string(),
        },
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => value.to_string(),
    }
}

fn bounded(text: String) -> Result<Value, String> {
    if text.len() > FORMULA_TEXT_BYTES_MAX {
        return Err(format!("the text is over {FORMULA_TEXT_BYTES_MAX} bytes"));
    }
    Ok(text.into())
}

#[cfg(test)]
mod tests;
