//! What checks, conditions and personas ask of the workbooks. What is absent is null, never an error.

use dayshift_engine::{Looking, Rejection, Value};

use super::format::formatted;
use super::read::{Search, Shown};
use super::state::SheetsState;
use crate::service::unknown_question;

const KNOWN: &[&str] = &["value", "text", "formula", "rows", "books", "worksheets", "find"];

impl SheetsState {
    pub(super) fn answer(&self, verb: &str, arguments: &Value, looking: &Looking<'_>) -> Result<Value, Rejection> {
        let frame = looking.frame;
        match verb {
            "value" | "text" | "formula" => {
                let (book, text) = (text(arguments, "book")?, text(arguments, "ref")?);
                let Some(located) = absent(self.locate(frame, book, text))? else { return Ok(Value::Null) };
                if !located.area.is_cell() {
                    return Err(bad(format!("'ref' names one cell, such as Sheet1!C4, and '{text}' names more")));
                }
                let cell = located.get(frame, located.area.first).filter(|cell| !cell.is_blank());
                Ok(cell.map_or(Value::Null, |cell| match verb {
                    "value" => cell.value.to_value(),
                    "text" => Value::Text(formatted(cell)),
                    _ => cell.formula().cloned().into(),
                }))
            }
            "rows" => {
                let (book, range) = (text(arguments, "book")?, text(arguments, "range")?);
                let shown = Shown::named(optional_text(arguments, "as")?);
                match absent(self.locate(frame, book, range))? {
                    Some(located) => located.rows(frame, shown).map(Value::List),
                    None => Ok(Value::Null),
                }
            }
            "books" => Ok(self.list_books(frame)),
            "worksheets" => Ok(absent(self.book(frame, text(arguments, "book")?))?
                .map_or(Value::Null, |(_, book)| book.list_worksheets(frame))),
            "find" => {
                let Some((_, book)) = absent(self.book(frame, text(arguments, "book")?))? else {
                    return Ok(Value::Null);
                };
                let only = match optional_text(arguments, "worksheet")? {
                    Some(worksheet) => match absent(book.worksheet(frame, worksheet))? {
                        Some(worksheet) => Some(worksheet),
                        None => return Ok(Value::Null),
                    },
                    None => None,
                };
                let flag = |name: &str| arguments.get(name).and_then(Value::as_bool).unwrap_or_default();
                let search = Search {
                    text: text(arguments, "text")?,
                    whole: flag("whole"),
                    case: flag("case"),
                    formulas: flag("formulas"),
                };
                Ok(book.find(frame, only, &search).0)
            }
            _ => Err(unknown_question("sheets", verb, KNOWN)),
        }
    }
}

/// Returns nothing for what is not there, and an error for what makes no sense.
fn absent<T>(found: Result<T, Rejection>) -> Result<Option<T>, Rejection> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(rejection) if matches!(&*rejection.code, "sheets/unknown-book" | "sheets/unknown-worksheet") => Ok(None),
        Err(rejection) => Err(bad(rejection.message)),
    }
}

fn text<'a>(arguments: &'a Value, name: &str) -> Result<&'a str, Rejection> {
    optional_text(arguments, name)?.ok_or_else(|| bad(format!("the question needs the text '{name}'")))
}

fn optional_text<'a>(arguments: &'a Value, name: &str) -> Result<Option<&'a str>, Rejection> {
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value.as_text().map(Some).ok_or_else(|| bad(format!("'{name}' must be text"))),
    }
}

fn bad(message: impl Into<String>) -> Rejection {
    Rejection::new("query/bad-arguments", message)
}
