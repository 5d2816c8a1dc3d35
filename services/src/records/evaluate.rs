//! Holds conditions against rows. Every read goes through the frame: rows reached by name as items; whole tables looked through as scans,
//! with the row that decided as an item.

use std::borrow::Cow;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::BTreeMap;

use dayshift_engine::{OverBudget, Rejection, SmolStr, Value};

use super::condition::{Condition, Left, Op, Operand, Path};
use super::kind::{FieldKind, is_empty};
use super::scene::{Found, Scene};
use super::schema::Field;
use super::whole::Row;
use crate::lowercase::folded;

const NULL: &Value = &Value::Null;
const TEXT: &FieldKind = &FieldKind::Text;

/// The row that a condition is held against.
#[derive(Clone, Copy)]
pub(super) enum Subject<'r> {
    /// A row reached by name.
    Item { table: Found<'r>, id: &'r SmolStr },
    /// A row that a scan shows.
    Shown { table: Found<'r>, row: &'r Row },
}

/// What conditions and effects may speak of.
pub(super) struct Evaluator<'a> {
    pub(super) scene: Scene<'a>,
    /// The row acted on, for `$id` and `$row`.
    pub(super) acted: Option<(Found<'a>, &'a SmolStr)>,
    pub(super) parameters: &'a [Field],
    pub(super) arguments: BTreeMap<SmolStr, Value>,
    scanned: RefCell<Vec<(SmolStr, Found<'a>)>>,
}

impl<'a> Evaluator<'a> {
    /// Returns an evaluator for conditions that speak of no action.
    pub(super) fn new(scene: Scene<'a>) -> Self {
        Self { scene, acted: None, parameters: &[], arguments: BTreeMap::new(), scanned: RefCell::default() }
    }

    /// Returns an evaluator for the guards and effects of an action on the row `id`.
    pub(super) fn acting(
        scene: Scene<'a>,
        table: Found<'a>,
        id: &'a SmolStr,
        parameters: &'a [Field],
        arguments: BTreeMap<SmolStr, Value>,
    ) -> Self {
        Self { scene, acted: Some((table, id)), parameters, arguments, scanned: RefCell::default() }
    }

    /// Returns whether `condition` holds for `subject`.
    pub(super) fn holds(&self, condition: &Condition, subject: Subject<'_>) -> Result<bool, Rejection> {
        match condition {
            Condition::Compare { left, op, right } => self.compares(left, *op, right, subject),
            Condition::Exists { table, filter } => self.exists(table, filter),
            Condition::All(parts) => {
                for part in parts {
                    if !self.holds(part, subject)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Condition::Any(parts) => {
                for part in parts {
                    if self.holds(part, subject)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Condition::Not(part) => self.holds(part, subject).map(|holds| !holds),
        }
    }

    /// Returns the value of `operand`.
    pub(super) fn value<'s>(&'s self, operand: &'s Operand) -> Result<Cow<'s, Value>, Rejection> {
        Ok(match operand {
            Operand::Constant(value) => Cow::Borrowed(value),
            Operand::Id => Cow::Owned(self.acted.map_or(Value::Null, |(_, id)| Value::Text(id.clone()))),
            Operand::Now => Cow::Owned(Value::from(self.scene.time)),
            Operand::Today => {
                let day = self.scene.time.to_chrono().with_timezone(&self.scene.desk.zone).date_naive();
                Cow::Owned(Value::from(day.to_string()))
            }
            Operand::Actor => Cow::Owned(Value::Text(self.scene.desk.name.clone())),
            Operand::Argument(name) => Cow::Borrowed(self.arguments.get(name).unwrap_or(NULL)),
            Operand::Row(path) => match self.acted {
                Some((table, id)) => Cow::Owned(self.resolve(path, Subject::Item { table, id })?.0.into_owned()),
                None => Cow::Borrowed(NULL),
            },
        })
    }

    fn compares(&self, left: &Left, op: Op, right: &Operand, subject: Subject<'_>) -> Result<bool, Rejection> {
        let right = self.value(right)?;
        match left {
            Left::Field(path) => {
                let (value, kind) = self.resolve(path, subject)?;
                self.draw(op, &value, &right)?;
                Ok(compare(kind, op, &value, &right))
            }
            Left::Argument(name) => {
                let kind = self.parameters.iter().find(|parameter| parameter.name == *name).map(|found| &found.kind);
                let value = self.arguments.get(name).unwrap_or(NULL);
                self.draw(op, value, &right)?;
                Ok(compare(kind.unwrap_or(&FieldKind::Any), op, value, &right))
            }
        }
    }

    /// Draws what a comparison costs: a search through text its length, a search among values their number.
    fn draw(&self, op: Op, left: &Value, right: &Value) -> Result<(), OverBudget> {
        let size = |value: &Value| match value {
            Value::Text(text) => text.len(),
            Value::List(items) => items.len(),
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Map(_) => 1,
        };
        let units = match op {
            Op::Contains => 4 + 2 * (size(left) + size(right)),
            Op::In => 2 + size(right),
            Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge | Op::IsEmpty => 2,
        };
        self.scene.frame.budget().work(units as u64)
    }

    fn exists(&self, table: &SmolStr, filter: &Condition) -> Result<bool, Rejection> {
        let found = self.scene.table(table)?;
        let mut fields = Vec::new();
        filter.first_fields(&mut fields);
        for row in found.rows.scan(self.scene.frame) {
            self.scene.frame.budget().work(1)?;
            if self.holds(filter, Subject::Shown { table: found, row })? {
                found.rows.has(self.scene.frame, &row.id);
                for field in &fields {
                    let _ = found.rows.get(self.scene.frame, &row.id, field);
                }
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the value at the end of `path` and its type; null where a reference is empty or dangles.
    pub(super) fn resolve<'r>(
        &self,
        path: &Path,
        subject: Subject<'r>,
    ) -> Result<(Cow<'r, Value>, &'r FieldKind), Rejection>
    where
        'a: 'r,
    {
        let Path { first, rest } = path;
        let (own, id) = match subject {
            Subject::Item { table, id } => (table, id),
            Subject::Shown { table, row } => (table, &row.id),
        };
        if rest.is_empty() && own.schema().is_id(first) {
            return Ok((Cow::Owned(Value::Text(id.clone())), TEXT));
        }
        let (mut value, mut kind, by_name) = match subject {
            Subject::Item { table, id } => {
                let field = table.field(first)?;
                (table.rows.get(self.scene.frame, id, &field.name).unwrap_or(NULL), &field.kind, true)
            }
            Subject::Shown { table, row } => {
                let field = table.field(first)?;
                let value = table.schema().position(first).map_or(NULL, |position| row.value(position));
                (value, &field.kind, false)
            }
        };
        for step in rest {
            let FieldKind::Reference(name) = kind else {
                return Err(Rejection::new(
                    "records/bad-condition",
                    format!("'{}' goes through a field that is no reference; end the path there", path.text()),
                ));
            };
            let table = if by_name { self.scene.table(name)? } else { self.looked_through(name)? };
            if table.schema().is_id(step) {
                // The id of the row that a reference leads to is what the reference says, if there is such a row.
                kind = TEXT;
                let leads = match value {
                    Value::Text(id) if by_name => table.rows.has(self.scene.frame, id),
                    Value::Text(id) => table.rows.peek_row(id).is_some(),
                    Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::List(_) | Value::Map(_) => {
                        false
                    }
                };
                value = if leads { value } else { NULL };
                continue;
            }
            let field = table.field(step)?;
            kind = &field.kind;
            value = match value {
                Value::Text(id) if by_name => table.rows.get(self.scene.frame, id, &field.name),
                Value::Text(id) => {
                    let position = table.schema().position(step);
                    table.rows.peek_row(id).zip(position).map(|(row, position)| row.value(position))
                }
                Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::List(_) | Value::Map(_) => None,
            }
            .unwrap_or(NULL);
        }
        Ok((Cow::Borrowed(value), kind))
    }

    /// Returns a table that a scan of another leads to; its scan is noted once.
    fn looked_through(&self, name: &SmolStr) -> Result<Found<'a>, Rejection> {
        let mut scanned = self.scanned.borrow_mut();
        if let Some((_, table)) = scanned.iter().find(|(known, _)| known == name) {
            return Ok(*table);
        }
        let table = self.scene.table(name)?;
        table.rows.note_scan(self.scene.frame);
        scanned.push((name.clone(), table));
        Ok(table)
    }
}

/// Makes sure that `condition` makes sense for `table`, following references, and brings its constants into the fields' canonical form.
pub(super) fn bind(condition: &mut Condition, scene: &Scene<'_>, table: Found<'_>) -> Result<(), Rejection> {
    match condition {
        Condition::Compare { left: Left::Field(path), op, right } => {
            let kind = kind_of(path, scene, table)?;
            bind_constant(kind, *op, right, path)
        }
        Condition::Compare { left: Left::Argument(_), .. } => Ok(()),
        Condition::Exists { table, filter } => {
            let found = scene.table(table)?;
            bind(filter, scene, found)
        }
        Condition::All(parts) | Condition::Any(parts) => parts.iter_mut().try_for_each(|part| bind(part, scene, table)),
        Condition::Not(part) => bind(part, scene, table),
    }
}

/// Returns the type of the field at the end of `path`.
pub(super) fn kind_of<'a>(path: &Path, scene: &Scene<'a>, table: Found<'a>) -> Result<&'a FieldKind, Rejection> {
    let mut table = table;
    if path.rest.is_empty() && table.schema().is_id(&path.first) {
        return Ok(TEXT);
    }
    let mut kind = &table.field(&path.first)?.kind;
    for step in &path.rest {
        let FieldKind::Reference(name) = kind else {
            return Err(Rejection::new(
                "records/bad-condition",
                format!("'{}' goes through a field that is no reference; end the path there", path.text()),
            ));
        };
        table = scene.table(name)?;
        kind = if table.schema().is_id(step) { TEXT } else { &table.field(step)?.kind };
    }
    Ok(kind)
}

fn bind_constant(kind: &FieldKind, op: Op, right: &mut Operand, path: &Path) -> Result<(), Rejection> {
    let bad = |message: String| Err(Rejection::new("records/bad-condition", message));
    if op.orders() && !kind.is_ordered() {
        return bad(format!(
            "'{}' is of type {} and has no order; compare it with eq or contains",
            path.text(),
            kind.name()
        ));
    }
    let Operand::Constant(value) = right else { return Ok(()) };
    let admit = |value: &Value| match (value, kind) {
        (Value::Null, _) => Ok(Value::Null),
        // Whether an amount is over 0.005 is a good question to a field that keeps cents.
        (_, FieldKind::Decimal { .. }) if super::decimal::Decimal::of(value).is_some() => Ok(value.clone()),
        (_, _) => kind.admit(value).ok_or_else(|| {
            Rejection::new(
                "records/bad-condition",
                format!("'{}' is compared with {value}, but takes {}", path.text(), kind.takes()),
            )
        }),
    };
    match op {
        Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge => *value = admit(value)?,
        Op::In => {
            let items = value.as_list().unwrap_or_default().iter().map(admit).collect::<Result<_, _>>()?;
            *value = Value::List(items);
        }
        Op::Contains if value.as_text().is_none() => {
            return bad(format!("contains looks for text in '{}', not for {value}", path.text()));
        }
        Op::Contains | Op::IsEmpty => {}
    }
    Ok(())
}

fn compare(kind: &FieldKind, op: Op, left: &Value, right: &Value) -> bool {
    match op {
        Op::Eq => kind.equals(left, right),
        Op::Ne => !kind.equals(left, right),
        Op::Lt => kind.compare(left, right) == Some(Ordering::Less),
        Op::Le => matches!(kind.compare(left, right), Some(Ordering::Less | Ordering::Equal)),
        Op::Gt => kind.compare(left, right) == Some(Ordering::Greater),
        Op::Ge => matches!(kind.compare(left, right), Some(Ordering::Greater | Ordering::Equal)),
        Op::In => right.as_list().is_some_and(|items| items.iter().any(|item| kind.equals(left, item))),
        Op::Contains => contains(left, right),
        Op::IsEmpty => is_empty(left) == right.as_bool().unwrap_or(true),
    }
}

/// Text contains text whatever the case; a list contains an item that is the same.
fn contains(value: &Value, sought: &Value) -> bool {
    match value {
        Value::List(items) => items.contains(sought),
        Value::Text(text) => {
            let Some(sought) = sought.as_text() else { return false };
            // Both searches are linear, whatever an agent looks for.
            text.contains(sought) || folded(text).contains(&folded(sought))
        }
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Map(_) => false,
    }
}
