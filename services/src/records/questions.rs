//! The questions of checks, conditions and personas: not bound to anybody's rights, in canonical values (times in UTC), null for what is
//! absent.

use std::collections::BTreeMap;

use dayshift_engine::{Rejection, SmolStr, Value};

use super::condition::{Condition, Operand};
use super::evaluate::{bind, kind_of};
use super::kind::FieldKind;
use super::query::{by_creation, condition, matching};
use super::scene::{Found, Scene};
use super::schema::{Action, ActionEffect, Guard};
use crate::service::unknown_question;

const VERBS: &[&str] = &["tables", "row", "field", "rows", "count", "audit", "problems"];

/// Answers one question.
pub(super) fn answer(scene: &Scene<'_>, verb: &str, arguments: &Value) -> Result<Value, Rejection> {
    match verb {
        "tables" => {
            takes(arguments, verb, &[], &[])?;
            Ok(scene.state.entries.list(scene.frame).cloned().collect())
        }
        "row" => {
            takes(arguments, verb, &["table", "id"], &[])?;
            let Some((table, id)) = find_row(scene, arguments) else { return Ok(Value::Null) };
            Ok(row(scene, table, &id))
        }
        "field" => {
            takes(arguments, verb, &["table", "id", "field"], &[])?;
            let Some(table) = scene.find(&text(arguments, "table")) else { return Ok(Value::Null) };
            let value = table.rows.get(scene.frame, &text(arguments, "id"), &text(arguments, "field"));
            Ok(value.cloned().unwrap_or_default())
        }
        "rows" | "count" => {
            takes(arguments, verb, &["table"], &["where"])?;
            let Some(table) = scene.find(&text(arguments, "table")) else { return Ok(Value::Null) };
            let condition = condition(scene, table, arguments.get("where").filter(|value| **value != Value::Null))
                .map_err(|fault| Rejection::new("query/bad-arguments", fault.message))?;
            let mut looked_at = Vec::new();
            condition.iter().for_each(|condition| condition.first_fields(&mut looked_at));
            let ids = by_creation(matching(scene, table, condition.as_ref())?);
            if verb == "rows" {
                return Ok(Value::List(ids.into_iter().map(|id| row(scene, table, id)).collect()));
            }
            for id in &ids {
                table.rows.has(scene.frame, id);
                for field in &looked_at {
                    let _ = table.rows.get(scene.frame, id, field);
                }
            }
            Ok(Value::from(ids.len()))
        }
        "audit" => {
            takes(arguments, verb, &["table", "id"], &[])?;
            let Some(table) = scene.find(&text(arguments, "table")) else { return Ok(Value::Null) };
            let Some(audit) = table.rows.audit(scene.frame, &text(arguments, "id")) else { return Ok(Value::Null) };
            let entries = audit.entries().into_iter().map(|entry| {
                let mut value = entry.value(|time| time.to_string(), ToString::to_string, |_, value| value.clone());
                if let Value::Map(map) = &mut value {
                    map.insert("seq".into(), Value::from(entry.seq.get()));
                }
                value
            });
            Ok(Value::List(entries.collect()))
        }
        "problems" => {
            takes(arguments, verb, &[], &[])?;
            Ok(problems(scene).into_iter().collect())
        }
        _ => Err(unknown_question("records", verb, VERBS)),
    }
}

/// Returns a row in canonical values, with its id under its name, and notes the read of all of it.
pub(super) fn row(scene: &Scene<'_>, table: Found<'_>, id: &SmolStr) -> Value {
    table.rows.has(scene.frame, id);
    let mut out = BTreeMap::new();
    for field in &table.schema().fields {
        out.insert(field.name.clone(), table.rows.get(scene.frame, id, &field.name).cloned().unwrap_or_default());
    }
    out.insert(table.schema().id.name.clone(), Value::Text(id.clone()));
    Value::Map(out)
}

fn find_row<'a>(scene: &Scene<'a>, arguments: &Value) -> Option<(Found<'a>, SmolStr)> {
    let table = scene.find(&text(arguments, "table"))?;
    let id = text(arguments, "id");
    table.rows.has(scene.frame, &id).then_some((table, id))
}

fn text(arguments: &Value, name: &str) -> SmolStr {
    super::scene::shared_text(arguments.get(name))
}

/// Holds the arguments of a question against what it takes: texts that must be there, and others that may.
fn takes(arguments: &Value, verb: &str, texts: &[&str], others: &[&str]) -> Result<(), Rejection> {
    let bad = |message: String| Err(Rejection::new("query/bad-arguments", message));
    let empty = BTreeMap::new();
    let map = match arguments {
        Value::Map(map) => map,
        Value::Null => &empty,
        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::List(_) => {
            return bad(format!("records.{verb} takes named arguments, not {}", arguments.kind()));
        }
    };
    if let Some(name) = texts.iter().find(|name| map.get(**name).and_then(Value::as_text).is_none()) {
        return bad(format!("records.{verb} needs the text '{name}'"));
    }
    match map.keys().find(|name| !texts.contains(&name.as_str()) && !others.contains(&name.as_str())) {
        Some(stray) => bad(format!("records.{verb} has no argument '{stray}'")),
        None => Ok(()),
    }
}

/// Returns what is wrong between tables, one sentence each: definitions that speak of tables and fields that are not there, and
/// references that dangle. For authors, after everything was laid out.
fn problems(scene: &Scene<'_>) -> Vec<String> {
    let mut problems = Vec::new();
    let names: Vec<SmolStr> = scene.state.entries.list(scene.frame).cloned().collect();
    for name in &names {
        let Some(table) = scene.find(name) else { continue };
        for action in &table.schema().actions {
            let mut fault =
                |rejection: Rejection| problems.push(format!("{name}.{}: {}", action.name, rejection.message));
            check_action(scene, table, action, &mut fault);
        }
        dangling(scene, table, &mut problems);
    }
    problems
}

fn check_action(scene: &Scene<'_>, table: Found<'_>, action: &Action, fault: &mut impl FnMut(Rejection)) {
    for guard in &action.guards {
        // Whether a function is there, its package knows.
        let Guard::Condition { condition, .. } = guard else { continue };
        if let Err(rejection) = bind(&mut condition.clone(), scene, table) {
            fault(rejection);
        }
        operands(condition, &mut |operand| {
            if let Operand::Row(path) = operand
                && let Err(rejection) = kind_of(path, scene, table)
            {
                fault(rejection);
            }
        });
    }
    for effect in &action.effects {
        let (target, values) = match effect {
            ActionEffect::Set { on, values } | ActionEffect::Add { on, values, .. } => {
                let reference = on.as_ref().and_then(|on| table.schema().field(on)).map(|field| &field.kind);
                let target = match reference {
                    Some(FieldKind::Reference(name)) => scene.table(name),
                    _ => Ok(table),
                };
                (target, values)
            }
            ActionEffect::Create { table: name, values } => (scene.table(name), values),
            ActionEffect::Remove => continue,
        };
        match target {
            Err(rejection) => fault(rejection),
            Ok(target) => {
                for (field, operand) in values {
                    if let Err(rejection) = target.field(field) {
                        fault(rejection);
                    }
                    if let Operand::Row(path) = operand
                        && let Err(rejection) = kind_of(path, scene, table)
                    {
                        fault(rejection);
                    }
                }
            }
        }
    }
}

fn operands<'c>(condition: &'c Condition, visit: &mut impl FnMut(&'c Operand)) {
    match condition {
        Condition::Compare { right, .. } => visit(right),
        Condition::Exists { filter, .. } => operands(filter, visit),
        Condition::All(parts) | Condition::Any(parts) => parts.iter().for_each(|part| operands(part, visit)),
        Condition::Not(part) => operands(part, visit),
    }
}

fn dangling(scene: &Scene<'_>, table: Found<'_>, problems: &mut Vec<String>) {
    let schema = table.schema();
    for (position, field) in schema.fields.iter().enumerate() {
        let FieldKind::Reference(target) = &field.kind else { continue };
        let Some(target_table) = scene.find(target) else {
            problems.push(format!("{}.{} refers to a table '{target}' that is not there", schema.name, field.name));
            continue;
        };
        for row in table.rows.scan(scene.frame) {
            if let Value::Text(id) = row.value(position)
                && !target_table.rows.has(scene.frame, id)
            {
                problems.push(format!(
                    "{}.{} of '{}' refers to a row '{id}' of {target} that is not there",
                    schema.name, field.name, row.id
                ));
            }
        }
    }
}
