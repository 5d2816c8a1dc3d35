//! References in the arguments of exogenous events: `{{event.field}}` stands for a field of an earlier event's answer.

use crate::value::Value;

/// Replaces every reference in the texts of `value` by what `look_up` finds for it. A text that is one reference becomes the value itself;
/// inside a longer text it becomes its text.
///
/// # Errors
///
/// The first reference that leads nowhere.
pub fn fill(value: &mut Value, look_up: &dyn Fn(&str) -> Option<Value>) -> Result<(), String> {
    match value {
        Value::Text(text) if text.contains("{{") => {
            *value = fill_text(text, look_up)?;
            Ok(())
        }
        Value::List(items) => items.iter_mut().try_for_each(|item| fill(item, look_up)),
        Value::Map(map) => map.values_mut().try_for_each(|item| fill(item, look_up)),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) => Ok(()),
    }
}

fn fill_text(text: &str, look_up: &dyn Fn(&str) -> Option<Value>) -> Result<Value, String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((reference, after)) = after.split_once("}}") else { break };
        let found = look_up(reference.trim()).ok_or_else(|| reference.trim().to_owned())?;
        if before.is_empty() && after.is_empty() && filled.is_empty() {
            return Ok(found);
        }
        filled.push_str(before);
        match found {
            Value::Text(text) => filled.push_str(&text),
            other @ (Value::Null
            | Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::List(_)
            | Value::Map(_)) => {
                filled.push_str(&other.to_string());
            }
        }
        rest = after;
    }
    filled.push_str(rest);
    Ok(Value::from(filled))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map;

    fn look_up(reference: &str) -> Option<Value> {
        (reference == "order.id").then_some(Value::Int(17))
    }

    #[test]
    fn a_text_that_is_one_reference_becomes_the_value() {
        let mut value = map! { "id" => "{{order.id}}", "note" => "see {{ order.id }}!" };
        assert_eq!(fill(&mut value, &look_up), Ok(()));
        assert_eq!(value, map! { "id" => 17_i64, "note" => "see 17!" });
    }

    #[test]
    fn a_reference_that_leads_nowhere_is_named() {
        assert_eq!(fill(&mut Value::from("{{ghost.id}}"), &look_up), Err("ghost.id".to_owned()));
    }
}
