//! The question of checks for what has changed and through whom: the closed world of a scenario, in which whatever nobody asked for is a fault.
//! What it answers is its evidence, so a verdict names the pieces that it does not like.

use dayshift_engine::{Actor, Change, Day, ReadKind, Scene, SmolStr, Value, World, map};

use super::House;

/// How many changes one answer holds; where there are more, the question fails, and the check with it.
pub const CHANGES_MAX: usize = 10_000;

/// How many patterns `except_` may hold, and how long each may be, in bytes.
pub const CHANGES_PATTERNS_MAX: usize = 200;
const PATTERN_BYTES_MAX: usize = 500;

/// Marks a key for bookkeeping that says nothing of the work: a mail's flags, such as the one that it was answered.
const BOOKKEEPING: &str = "#flags/";

/// Answers `changes(by, since, except_)`.
pub(super) fn answer<W: World>(house: &House, scene: &Scene<'_, W>, arguments: &Value) -> Result<Value, String> {
    let changes = scene.changes.ok_or("only a check asks for changes; ask the services instead")?;
    let by = match arguments.get("by") {
        None => None,
        Some(by) => Some(author(house, by)?),
    };
    let since = arguments.get("since").map(|day| day_of(house, day)).transpose()?;
    let except = patterns(arguments.get("except_"))?;
    // All personas together have no key of their own.
    let (key, written) = changes.trace(by.as_deref().filter(|by| *by != "persona"));
    scene.frame.note(ReadKind::Membership, key, written);
    let cost = changes.len().saturating_mul(1 + except.len());
    scene.frame.budget().work(cost as u64).map_err(|over| dayshift_engine::Rejection::from(over).to_string())?;
    let mut found = Vec::new();
    for change in changes.since(since) {
        let key = change.key.as_str();
        let is_by = by.as_ref().is_none_or(|by| is_author(by, &change.actor));
        if !is_by || key.contains(BOOKKEEPING) || except.iter().any(|pattern| covers(pattern, key)) {
            continue;
        }
        if found.len() == CHANGES_MAX {
            return Err(format!("there are more than {CHANGES_MAX} changes; leave out what may change with 'except_'"));
        }
        scene.frame.note(ReadKind::Item, change.key.clone(), change.record);
        found.push(show(house, change));
    }
    Ok(Value::List(found))
}

fn show(house: &House, change: Change) -> Value {
    let key = change.key.as_str();
    let (service, place) = key.split_once(':').unwrap_or((key, ""));
    map! {
        "service" => service,
        "place" => place,
        "key" => key,
        "before" => change.before.unwrap_or_default(),
        "after" => change.after.unwrap_or_default(),
        "by" => change.actor.to_string(),
        "record" => change.record.get(),
        "turn" => change.turn.map(dayshift_engine::Turn::get),
        "day" => house.day_name(change.day),
    }
}

/// Reads who is meant: `agent`, `world`, or `persona:NAME`.
fn author(house: &House, by: &Value) -> Result<SmolStr, String> {
    let by = by.as_text().unwrap_or_default();
    let is_known = match by.strip_prefix("persona:") {
        Some(name) => house.people.iter().any(|person| person == name),
        None => ["agent", "world", "persona"].contains(&by),
    };
    if is_known {
        return Ok(by.into());
    }
    Err(format!(
        "'{by}' changes nothing; 'by' is \"agent\", \"world\", \"persona:NAME\", \"persona\" for all of them, or None for everybody"
    ))
}

fn is_author(by: &str, actor: &Actor) -> bool {
    match actor {
        Actor::Persona(name) => by == "persona" || by.strip_prefix("persona:") == Some(name),
        Actor::Agent | Actor::World | Actor::Scenario => by == actor.to_string(),
    }
}

fn day_of(house: &House, day: &Value) -> Result<Day, String> {
    let name = day.as_text().unwrap_or_default();
    let index = house.days.iter().position(|day| day == name);
    let number = index.and_then(|index| u32::try_from(index + 1).ok());
    number.map(Day::new).ok_or_else(|| format!("there is no day '{name}'; the days are {}", house.days.join(", ")))
}

fn patterns(except: Option<&Value>) -> Result<Vec<SmolStr>, String> {
    let bad = || {
        "'except_' is a list of keys, such as [\"mail\", \"files:/reports/\", \"records:orders/*/status\"]".to_owned()
    };
    let patterns: Vec<SmolStr> = match except {
        None => Vec::new(),
        Some(Value::Text(one)) => vec![one.clone()],
        Some(list) => {
            let items = list.as_list().ok_or_else(bad)?.iter();
            items.map(|item| item.as_text().map(SmolStr::from).ok_or_else(bad)).collect::<Result<_, _>>()?
        }
    };
    if patterns.len() > CHANGES_PATTERNS_MAX || patterns.iter().any(|pattern| pattern.len() > PATTERN_BYTES_MAX) {
        return Err(format!("'except_' holds at most {CHANGES_PATTERNS_MAX} keys of {PATTERN_BYTES_MAX} bytes each"));
    }
    Ok(patterns)
}

/// Returns whether `pattern` means `key`: a service alone all of it, a trailing slash everything below, `*` any text, anything else the key itself.
fn covers(pattern: &str, key: &str) -> bool {
    if !pattern.contains(':') {
        return key.split(':').next() == Some(pattern);
    }
    if pattern.ends_with('/') { fits(&format!("{pattern}*"), key) } else { fits(pattern, key) }
}

/// Returns whether `text` fits `pattern`, in which `*` stands for any text.
fn fits(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    // The leftmost place of each part leaves the most for those behind it.
    for part in parts {
        let Some(at) = text.find(part) else { return false };
        text = &text[at + part.len()..];
    }
    text.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_means_a_service_a_place_everything_below_it_or_any_text_in_between() {
        for (pattern, key, expected) in [
            ("mail", "mail:ann@x.example/Sent/1", true),
            ("mail", "mailing:x", false),
            ("files:/reports/", "files:/reports/w19/summary.md", true),
            ("files:/reports/", "files:/reports", false),
            ("files:/reports/", "files:/reports-old/a.md", false),
            ("files:/reports/a.md", "files:/reports/a.md", true),
            ("files:/reports/a.md", "files:/reports/a.md.bak", false),
            ("records:orders/*/status", "records:orders/O-7/status", true),
            ("records:orders/*/status", "records:orders/O-7/amount", false),
            ("records:*/O-7", "records:orders/O-7", true),
            ("mail:*/Sent/*", "mail:ann@x.example/Sent/12", true),
            ("mail:*/Sent/*", "mail:ann@x.example/INBOX/12", false),
            ("sheets:budget*", "sheets:budget/Plan!C4", true),
            ("chat:ann+ben/*3", "chat:ann+ben/3", true),
            ("chat:*+*+*", "chat:ann+ben/3", false),
            ("", "mail:x", false),
        ] {
            assert_eq!(covers(pattern, key), expected, "{pattern} {key}");
        }
    }
}
