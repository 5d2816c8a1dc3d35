//! `records.act`: a named action on a row. Its rules are held against the world, then its effects become events.

use std::collections::BTreeMap;

use dayshift_engine::{Actor, Rejection, SmolStr, Value, map};

use super::decimal::Decimal;
use super::draft::{Authority, Draft};
use super::evaluate::{Evaluator, Subject};
use super::event::{NewRow, RecordsEvent};
use super::guard;
use super::kind::{FieldKind, is_empty};
use super::scene::{Found, Scene};
use super::schema::{Action, ActionEffect, Field, Guard};
use super::whole::Row;

/// What an action has led to so far.
#[derive(Default)]
struct Effects {
    /// In the order of first mention.
    changes: Vec<RowChanges>,
    created: Vec<(SmolStr, NewRow)>,
    removed: bool,
}

/// New values for one row.
struct RowChanges {
    table: SmolStr,
    id: SmolStr,
    values: Vec<(SmolStr, Value)>,
}

/// Decides the action `name` on the row `id`.
pub(super) fn act(
    scene: &Scene<'_>,
    table: Found<'_>,
    id: &SmolStr,
    name: &str,
    arguments: Option<&Value>,
    actor: &Actor,
) -> Result<(Vec<RecordsEvent>, Value), Rejection> {
    let action = action(table, name)?;
    if !action.by.includes(actor) {
        return Err(Rejection::new(
            "records/not-allowed",
            format!("'{name}' on {} is for {} only; ask one of them", table.schema().name, action.by.sentence()),
        ));
    }
    scene.row(table, id)?;
    let arguments = self::arguments(scene, action, arguments)?;
    let evaluator = Evaluator::acting(*scene, table, id, &action.parameters, arguments);
    for guard in &action.guards {
        match guard {
            Guard::Condition { condition, message } => {
                if !evaluator.holds(condition, Subject::Item { table, id })? {
                    return Err(Rejection::new("records/guard-failed", format!("'{name}' was not done: {message}")));
                }
            }
            Guard::Function(function) => {
                let arguments = Value::Map(evaluator.arguments.clone());
                guard::hold(scene, table, id, name, function, arguments)?;
            }
        }
    }
    let mut draft = Draft::new(*scene, Authority::Action);
    let mut effects = Effects::default();
    for effect in &action.effects {
        run(effect, &evaluator, &mut draft, table, id, &mut effects)?;
    }
    if effects.removed {
        unreferenced(scene, table, id)?;
    }
    Ok(finish(effects, scene, table, id, &action.name))
}

fn action<'a>(table: Found<'a>, name: &str) -> Result<&'a Action, Rejection> {
    let schema = table.schema();
    schema.action(name).ok_or_else(|| {
        let names: Vec<&str> = schema.actions.iter().map(|action| action.name.as_str()).collect();
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        Rejection::new("records/unknown-action", format!("{} has no action '{name}'; it has: {names}", schema.name))
    })
}

/// Returns the arguments in canonical form, defaults filled in.
fn arguments(scene: &Scene<'_>, action: &Action, given: Option<&Value>) -> Result<BTreeMap<SmolStr, Value>, Rejection> {
    let bad = |message: String| Err(Rejection::new("records/bad-argument", message));
    let empty = BTreeMap::new();
    let given = given.and_then(Value::as_map).unwrap_or(&empty);
    if let Some(stray) = given.keys().find(|name| action.parameters.iter().all(|known| known.name != **name)) {
        let names: Vec<&str> = action.parameters.iter().map(|known| known.name.as_str()).collect();
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        return bad(format!("'{}' has no argument '{stray}'; it takes: {names}", action.name));
    }
    let mut arguments = BTreeMap::new();
    for parameter in &action.parameters {
        let value = match (given.get(&parameter.name), &parameter.default) {
            (None | Some(Value::Null), Some(default)) => Evaluator::new(*scene).value(default)?.into_owned(),
            (given, _) => given.cloned().unwrap_or_default(),
        };
        let takes = parameter.kind.takes();
        if parameter.required && is_empty(&value) {
            return bad(format!("'{}' needs the argument '{}': {takes}", action.name, parameter.name));
        }
        let admitted = if value == Value::Null { Some(Value::Null) } else { parameter.kind.admit(&value) };
        let Some(value) = admitted else {
            return bad(format!("the argument '{}' takes {takes}, not {value}", parameter.name));
        };
        if let (FieldKind::Reference(target), Value::Text(id)) = (&parameter.kind, &value) {
            let target = scene.table(target)?;
            scene.row(target, id)?;
        }
        arguments.insert(parameter.name.clone(), value);
    }
    Ok(arguments)
}

fn run(
    effect: &ActionEffect,
    evaluator: &Evaluator<'_>,
    draft: &mut Draft<'_>,
    table: Found<'_>,
    id: &SmolStr,
    effects: &mut Effects,
) -> Result<(), Rejection> {
    let scene = &evaluator.scene;
    match effect {
        ActionEffect::Set { on, values } => {
            let (target, id) = target(scene, table, id, on.as_ref())?;
            for (name, operand) in values {
                let field = target.field(name)?;
                let value = draft.change(target, &id, field, &*evaluator.value(operand)?)?;
                effects.put(target, &id, field, value);
            }
        }
        ActionEffect::Add { on, values, negated } => {
            let (target, id) = target(scene, table, id, on.as_ref())?;
            for (name, operand) in values {
                let field = target.field(name)?;
                let before = match effects.pending(target, &id, field) {
                    Some(value) => value.clone(),
                    None => target.rows.get(scene.frame, &id, &field.name).cloned().unwrap_or_default(),
                };
                let sum = add(target, field, &before, &*evaluator.value(operand)?, *negated)?;
                let value = draft.change(target, &id, field, &sum)?;
                effects.put(target, &id, field, value);
            }
        }
        ActionEffect::Create { table: name, values } => {
            let target = scene.table(name)?;
            let mut given = BTreeMap::new();
            for (field, operand) in values {
                given.insert(field.clone(), evaluator.value(operand)?.into_owned());
            }
            let row = draft.create(target, None, &given)?;
            effects.created.push((name.clone(), row));
        }
        ActionEffect::Remove => effects.removed = true,
    }
    Ok(())
}

/// Returns the row that an effect is for: the one acted on, or the one that its reference field `on` names.
fn target<'a>(
    scene: &Scene<'a>,
    table: Found<'a>,
    id: &SmolStr,
    on: Option<&SmolStr>,
) -> Result<(Found<'a>, SmolStr), Rejection> {
    let Some(on) = on else { return Ok((table, id.clone())) };
    let field = table.field(on)?;
    let value = table.rows.get(scene.frame, id, on);
    match (&field.kind, value) {
        (FieldKind::Reference(name), Some(Value::Text(other))) => {
            let target = scene.table(name)?;
            scene.row(target, other)?;
            Ok((target, other.clone()))
        }
        _ => Err(Rejection::new(
            "records/dangling-reference",
            format!("{}.{on} of '{id}' is empty, and the action needs it; set it first", table.schema().name),
        )),
    }
}

fn add(table: Found<'_>, field: &Field, before: &Value, by: &Value, negated: bool) -> Result<Value, Rejection> {
    let before = if *before == Value::Null { Some(Value::Int(0)) } else { Some(before.clone()) };
    let sum = before.as_ref().and_then(Decimal::of).zip(Decimal::of(by)).and_then(|(before, by)| {
        let sum = before.plus(if negated { by.negated() } else { by })?;
        match field.kind {
            FieldKind::Integer => sum.text(0)?.parse().ok().map(Value::Int),
            FieldKind::Decimal { scale } => sum.text(scale).map(Value::from),
            FieldKind::Text
            | FieldKind::Boolean
            | FieldKind::Date
            | FieldKind::Time
            | FieldKind::Choice(_)
            | FieldKind::Reference(_)
            | FieldKind::List
            | FieldKind::Any => None,
        }
    });
    sum.ok_or_else(|| {
        Rejection::new(
            "records/bad-value",
            format!(
                "{by} cannot be added to {}.{}, which takes {}",
                table.schema().name,
                field.name,
                field.kind.takes()
            ),
        )
    })
}

/// Makes sure that no row of any table refers to the row that is to be removed.
fn unreferenced(scene: &Scene<'_>, table: Found<'_>, id: &SmolStr) -> Result<(), Rejection> {
    let target = &table.schema().name;
    let names: Vec<SmolStr> = scene.state.entries.list(scene.frame).cloned().collect();
    for name in names {
        let other = scene.table(&name)?;
        let refers = |field: &&Field| matches!(&field.kind, FieldKind::Reference(to) if to == target);
        let fields: Vec<&Field> = other.schema().fields.iter().filter(refers).collect();
        if fields.is_empty() {
            continue;
        }
        let positions: Vec<usize> = fields.iter().filter_map(|field| other.schema().position(&field.name)).collect();
        let points = |row: &Row| positions.iter().any(|position| row.value(*position).as_text() == Some(id));
        scene.frame.budget().work(other.rows.len() as u64)?;
        let holder = other.rows.scan(scene.frame).find(|row| points(row) && !(name == *target && row.id == *id));
        let holder = holder.map(|row| &row.id);
        if let Some(holder) = holder {
            other.rows.has(scene.frame, holder);
            return Err(Rejection::new(
                "records/still-referenced",
                format!("'{id}' cannot be removed while '{holder}' of {name} refers to it; change that row first"),
            ));
        }
    }
    Ok(())
}

fn finish(
    effects: Effects,
    scene: &Scene<'_>,
    table: Found<'_>,
    id: &SmolStr,
    action: &SmolStr,
) -> (Vec<RecordsEvent>, Value) {
    let name = &table.schema().name;
    let mut events = Vec::with_capacity(effects.changes.len() + effects.created.len() + 1);
    let mut changed = BTreeMap::new();
    let mut created = Vec::new();
    let action = Some(action.clone());
    for RowChanges { table: changed_table, id: row, values } in effects.changes {
        if changed_table == *name && row == *id {
            let show = |(field, value): &(SmolStr, Value)| {
                let kind = table.schema().field(field).map_or(&FieldKind::Any, |field| &field.kind);
                (field.clone(), kind.show(value, scene.desk))
            };
            changed.extend(values.iter().map(show));
        }
        let action = action.clone();
        events.push(RecordsEvent::FieldsChanged { table: changed_table, id: row, changes: values, action });
    }
    for (table_name, row) in effects.created {
        created.push(map! { "table" => table_name.clone(), "id" => row.id.clone() });
        events.push(RecordsEvent::RowsCreated { table: table_name, rows: vec![row], action: action.clone() });
    }
    if effects.removed {
        events.push(RecordsEvent::RowRemoved { table: name.clone(), id: id.clone(), action: action.clone() });
    }
    let answer = map! {
        "id" => id.clone(),
        "action" => action,
        "changed" => Value::Map(changed),
        "created" => Value::List(created),
        "removed" => effects.removed,
    };
    (events, answer)
}

impl Effects {
    fn of(&self, table: Found<'_>, id: &SmolStr) -> Option<usize> {
        self.changes.iter().position(|row| row.table == table.schema().name && row.id == *id)
    }

    fn pending(&self, table: Found<'_>, id: &SmolStr, field: &Field) -> Option<&Value> {
        let row = &self.changes[self.of(table, id)?];
        row.values.iter().find(|(name, _)| *name == field.name).map(|(_, value)| value)
    }

    fn put(&mut self, table: Found<'_>, id: &SmolStr, field: &Field, value: Value) {
        let place = self.of(table, id).unwrap_or_else(|| {
            self.changes.push(RowChanges { table: table.schema().name.clone(), id: id.clone(), values: Vec::new() });
            self.changes.len() - 1
        });
        let values = &mut self.changes[place].values;
        match values.iter_mut().find(|(name, _)| *name == field.name) {
            Some((_, pending)) => *pending = value,
            None => values.push((field.name.clone(), value)),
        }
    }
}
