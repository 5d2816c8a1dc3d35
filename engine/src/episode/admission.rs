//! What stands between a call and the world: which tools there are, and what is said of those that there are not. Helpers without state.

use crate::access::{Accesses, Frame};
use crate::blob::Blobs;
use crate::id::BlobId;
use crate::record::Outcome;
use crate::script::ScriptError;
use crate::tool::{Audience, Rejection, ToolSpec};
use crate::value::Value;
use crate::world::World;

use super::error::{EpisodeError, MESSAGE_BYTES_MAX, SCRIPT_MESSAGE_CHARS_MAX};

/// Returns what is recorded of a script that failed.
pub(super) fn failed(code: &'static str, error: &ScriptError) -> Outcome {
    let mut message = error.to_string();
    if let Some((end, _)) = message.char_indices().nth(SCRIPT_MESSAGE_CHARS_MAX) {
        message.truncate(end);
    }
    Outcome::Refused(Rejection::new(code, message))
}

/// Returns a message as it is recorded: one that is too long ends with a note of how much there was.
pub(super) fn bounded_message(text: &str) -> String {
    if text.len() <= MESSAGE_BYTES_MAX {
        return text.to_owned();
    }
    let note = format!("\n[cut: the message has {} bytes, and at most {MESSAGE_BYTES_MAX} are recorded]", text.len());
    let mut kept = text[..text.floor_char_boundary(MESSAGE_BYTES_MAX - note.len())].to_owned();
    kept.push_str(&note);
    kept
}

pub(super) fn missing(accesses: &Accesses) -> Result<(), EpisodeError> {
    accesses.missing.map_or(Ok(()), |id| Err(EpisodeError::BlobMissing(id)))
}

/// Notes the blobs that texts of `value` name.
pub(super) fn note_named_blobs(value: &Value, frame: &Frame, blobs: &dyn Blobs) {
    match value {
        Value::Text(text) => {
            if let Ok(id) = text.parse::<BlobId>()
                && blobs.get(id).is_some()
            {
                frame.note_blob(id);
            }
        }
        Value::List(items) => items.iter().for_each(|item| note_named_blobs(item, frame, blobs)),
        Value::Map(map) => map.values().for_each(|item| note_named_blobs(item, frame, blobs)),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => {}
    }
}

/// Returns the tool `name`. The tools are sorted by name.
pub(super) fn spec_of<W: World>(name: &str) -> Option<&'static ToolSpec> {
    let tools = W::tools();
    tools.binary_search_by(|spec| spec.name.cmp(name)).ok().map(|index| tools[index])
}

pub(super) fn unknown_tool<W: World>(world: &W, name: &str) -> Rejection {
    let service = name.split('.').next().unwrap_or_default();
    let offered = |spec: &&&ToolSpec| spec.audience == Audience::Everybody && world.offers(spec);
    let same: Vec<&str> = W::tools()
        .iter()
        .filter(offered)
        .map(|spec| spec.name)
        .filter(|tool| tool.split('.').next() == Some(service))
        .collect();
    let known = if same.is_empty() {
        let mut services: Vec<&str> =
            W::tools().iter().filter(offered).filter_map(|spec| spec.name.split('.').next()).collect();
        services.dedup();
        format!("the services are {}", services.join(", "))
    } else {
        format!("{service} offers {}", same.join(", "))
    };
    Rejection::new("call/unknown-tool", format!("there is no tool '{name}'; {known}"))
}
