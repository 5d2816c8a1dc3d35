//! What checks, conditions and personas can ask of the workspace. What is not there is null.

use std::borrow::Cow;
use std::sync::Arc;

use dayshift_engine::{Budget, Looking, Rejection, Value};

use super::FIND_RESULTS_MAX;
use super::document::{self, Form, Unreadable};
use super::path::EntryPath;
use super::state::{Entry, FilesState};
use super::text::{decode_lossy, without_mark};
use crate::service::{Desk, unknown_question};

const QUESTIONS: &[&str] = &["digest", "exists", "find", "lines", "list", "stat", "table", "text"];

impl FilesState {
    pub(super) fn answer_question(
        &self,
        verb: &str,
        arguments: &Value,
        desk: &Desk,
        looking: &Looking<'_>,
    ) -> Result<Value, Rejection> {
        if !QUESTIONS.contains(&verb) {
            return Err(unknown_question("files", verb, QUESTIONS));
        }
        if verb == "find" {
            let below = arguments.get("path").map_or(Ok("/"), |_| argument(arguments, "path"))?;
            let pattern = argument(arguments, "pattern")?;
            let (found, _) =
                self.find(&path(below)?, pattern, FIND_RESULTS_MAX, looking.frame).map_err(|error| bad(&error))?;
            return Ok(Value::List(found));
        }
        let path = path(argument(arguments, "path")?)?;
        match verb {
            "exists" => Ok(self.look(&path, looking.frame).is_some().into()),
            "list" => Ok(match self.look(&path, looking.frame) {
                Some(Entry::Folder { .. }) => self.names(&path, looking.frame).cloned().collect(),
                Some(Entry::File(_)) | None => Value::Null,
            }),
            "stat" => Ok(self.stat(&path, desk, looking.frame).into()),
            "digest" => Ok(match self.look(&path, looking.frame) {
                Some(Entry::File(file)) => file.content.id().to_string().into(),
                Some(Entry::Folder { .. }) | None => Value::Null,
            }),
            "text" => match self.bytes(&path, looking)? {
                Some(bytes) => Ok(text(&bytes, looking.budget())?.into_owned().into()),
                None => Ok(Value::Null),
            },
            "lines" => match self.bytes(&path, looking)? {
                Some(bytes) => lines(&bytes, looking.budget()),
                None => Ok(Value::Null),
            },
            _ => Ok(self.bytes(&path, looking)?.map_or(Value::Null, |bytes| {
                let delimiter = if path.name().ends_with(".tsv") { b'\t' } else { b',' };
                table(&bytes, delimiter)
            })),
        }
    }

    /// Returns the bytes of the file at `path`, if there is one.
    fn bytes(&self, path: &EntryPath, looking: &Looking<'_>) -> Result<Option<Arc<[u8]>>, Rejection> {
        match self.look(path, looking.frame) {
            Some(Entry::File(file)) => looking.load(&file.content).map(Some),
            Some(Entry::Folder { .. }) | None => Ok(None),
        }
    }
}

/// Returns the text that `bytes` are or hold, as `files.read` shows it; something in any case.
fn text<'b>(bytes: &'b [u8], budget: &Budget) -> Result<Cow<'b, str>, Rejection> {
    if let Form::Document(kind) = document::sniff(bytes).form {
        match document::text_of(kind, bytes, budget) {
            Ok(text) => return Ok(Cow::Owned(text.as_str().to_owned())),
            Err(Unreadable::Over(over)) => return Err(over.into()),
            Err(Unreadable::Damaged { .. } | Unreadable::Encrypted | Unreadable::TooMuch { .. }) => {}
        }
    }
    Ok(decode_lossy(bytes))
}

fn lines(bytes: &[u8], budget: &Budget) -> Result<Value, Rejection> {
    let text = text(bytes, budget)?;
    Ok(without_mark(&text).lines().collect())
}

/// Returns the rows of a table of separated values (RFC 4180), each a list of texts. Rows may differ in length.
fn table(bytes: &[u8], delimiter: u8) -> Value {
    let text = decode_lossy(bytes);
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .from_reader(without_mark(&text).as_bytes());
    // Text in memory gives no error: it is UTF-8, and rows may have any length.
    reader.records().map_while(Result::ok).map(|row| row.iter().collect::<Value>()).collect()
}

fn path(text: &str) -> Result<EntryPath, Rejection> {
    EntryPath::parse(text).map_err(|error| bad(&error))
}

fn argument<'a>(arguments: &'a Value, name: &str) -> Result<&'a str, Rejection> {
    arguments.get(name).and_then(Value::as_text).ok_or_else(|| {
        Rejection::new("query/bad-arguments", format!("the question needs the text argument '{name}'; give it"))
    })
}

fn bad(error: &Rejection) -> Rejection {
    Rejection::new("query/bad-arguments", error.message.clone())
}
