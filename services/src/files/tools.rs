//! The tools of the workspace and how their calls become commands.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dayshift_engine::{Audience, BlobId, Effect, Kind, Parameter, Rejection, SimTime, ToolCall, ToolSpec};

use super::path::EntryPath;
use super::{
    FIND_RESULTS_MAX, LIST_ENTRIES_MAX, MODE_DEFAULT, READ_BINARY_BYTES_MAX, READ_LINES_MAX, SEARCH_MATCHES_MAX,
};

/// What somebody asked of the workspace.
#[derive(Debug)]
pub(super) enum Command<'a> {
    List { path: EntryPath, after: &'a str, limit: usize },
    Stat { path: EntryPath },
    ReadText { path: EntryPath, first: usize, limit: usize },
    ReadBytes { path: EntryPath, start: usize, limit: usize },
    Write { path: EntryPath, bytes: Cow<'a, [u8]> },
    Append { path: EntryPath, text: &'a str },
    Edit { path: EntryPath, old: &'a str, new: &'a str, all: bool },
    Transfer(Transfer),
    Delete { path: EntryPath, recursive: bool },
    MakeFolder { path: EntryPath },
    Find { path: EntryPath, pattern: &'a str, limit: usize },
    Search(Search<'a>),
    Import { path: EntryPath, blob: BlobId, modified: Option<SimTime>, mode: u32 },
}

/// A move or a copy.
#[derive(Debug)]
pub(super) struct Transfer {
    pub(super) source: EntryPath,
    pub(super) target: EntryPath,
    /// Whether the target was written with a `/` at its end: it must be a folder.
    pub(super) into_folder: bool,
    pub(super) overwrite: bool,
    pub(super) keep_source: bool,
}

/// A search in the content of files.
#[derive(Debug)]
pub(super) struct Search<'a> {
    pub(super) path: EntryPath,
    pub(super) query: &'a str,
    pub(super) is_regex: bool,
    pub(super) ignore_case: bool,
    pub(super) glob: Option<&'a str>,
    pub(super) limit: usize,
}

const PATH: Parameter = Parameter::required("path", Kind::Text, "The absolute path, such as /reports/march.csv.");
const BELOW: Parameter = Parameter::optional("path", Kind::Text, "The folder to look in; / if left out.");
const SOURCE: Parameter = Parameter::required("source", Kind::Text, "The file or folder.");
const TARGET: Parameter =
    Parameter::required("target", Kind::Text, "The new path, or an existing folder to put it into.");
const OVERWRITE: Parameter =
    Parameter::optional("overwrite", Kind::Bool, "Whether a file may replace a file that is there.");

const fn tool(name: &'static str, effect: Effect, summary: &'static str, parameters: &'static [Parameter]) -> ToolSpec {
    ToolSpec { name, summary, parameters, effect, audience: Audience::Everybody, cost_seconds: 5 }
}

pub(super) const TOOLS: &[ToolSpec] = &[
    tool(
        "files.append",
        Effect::Writes,
        "Adds text at the end of a file, which is created if it is not there.",
        &[PATH, Parameter::required("text", Kind::Text, "What to add; begin with a line end where one is needed.")],
    ),
    tool(
        "files.copy",
        Effect::Writes,
        "Copies a file or a folder with all that is in it.",
        &[SOURCE, TARGET, OVERWRITE],
    ),
    tool(
        "files.delete",
        Effect::Writes,
        "Deletes a file, an empty folder, or a folder with all that is in it.",
        &[PATH, Parameter::optional("recursive", Kind::Bool, "Whether a folder that is not empty may be deleted.")],
    ),
    tool(
        "files.edit",
        Effect::Writes,
        "Replaces one exact piece of a text file. The old text must be there exactly once, unless replace_all is true.",
        &[
            PATH,
            Parameter::required("old", Kind::Text, "The text to replace, exactly as it stands in the file."),
            Parameter::required("new", Kind::Text, "The text to put in its place."),
            Parameter::optional("replace_all", Kind::Bool, "Whether to replace it wherever it stands."),
        ],
    ),
    tool(
        "files.find",
        Effect::Reads,
        "Finds files and folders by a glob pattern: *, ?, [a-z], {a,b}, ** for any folders. A pattern without '/' is held against names at \
         any depth, one that starts with '/' against whole paths, any other against paths below the folder.",
        &[
            Parameter::required("pattern", Kind::Text, "The pattern, such as *.csv or /reports/**/*.md."),
            BELOW,
            Parameter::optional("limit", Kind::Int, "How many to return at most."),
        ],
    ),
    ToolSpec {
        name: "files.import",
        summary: "Puts a real file into the workspace, its bytes untouched.",
        parameters: &[
            PATH,
            Parameter::required("blob", Kind::Text, "The 64 hexadecimal digits that name the content."),
            Parameter::optional("modified", Kind::Time, "When the file was last changed; now if left out."),
            Parameter::optional("mode", Kind::Text, "The permission bits as octal digits; 0644 if left out."),
        ],
        effect: Effect::Writes,
        audience: Audience::Backstage,
        cost_seconds: 0,
    },
    tool(
        "files.list",
        Effect::Reads,
        "Lists the files and folders in a folder, by name.",
        &[
            BELOW,
            Parameter::optional("after", Kind::Text, "The name after which to go on, from an earlier answer's 'next'."),
            Parameter::optional("limit", Kind::Int, "How many to return at most."),
        ],
    ),
    tool(
        "files.make_folder",
        Effect::Writes,
        "Makes a folder, and the folders that lead to it. One that is there already stays as it is.",
        &[PATH],
    ),
    tool(
        "files.move",
        Effect::Writes,
        "Moves or renames a file or a folder with all that is in it.",
        &[SOURCE, TARGET, OVERWRITE],
    ),
    tool(
        "files.read",
        Effect::Reads,
        "Reads a file: lines of its text (that of a PDF, a Word or OpenDocument file, a presentation or a workbook too), a picture as an image, or \
         base64 of a range of bytes if it is neither or start_byte is given.",
        &[
            PATH,
            Parameter::optional("start_line", Kind::Int, "The first line to read, counted from 1."),
            Parameter::optional("lines", Kind::Int, "How many lines to read at most."),
            Parameter::optional("start_byte", Kind::Int, "The first byte to read, counted from 0."),
            Parameter::optional("bytes", Kind::Int, "How many bytes to read at most."),
        ],
    ),
    tool(
        "files.search",
        Effect::Reads,
        "Searches the content of text files line by line, for a text or a regular expression.",
        &[
            Parameter::required("query", Kind::Text, "What to look for."),
            Parameter::optional("path", Kind::Text, "The folder or file to look in; / if left out."),
            Parameter::optional("regex", Kind::Bool, "Whether the query is a regular expression."),
            Parameter::optional("ignore_case", Kind::Bool, "Whether upper and lower case are the same."),
            Parameter::optional("glob", Kind::Text, "Only files that this pattern finds, as in files.find."),
            Parameter::optional("limit", Kind::Int, "How many matching lines to return at most."),
        ],
    ),
    tool(
        "files.stat",
        Effect::Reads,
        "Tells kind, size, permission bits and time of change of a file or folder.",
        &[PATH],
    ),
    tool(
        "files.write",
        Effect::Writes,
        "Writes a whole file, new or not, and makes the folders that lead to it. Give either text or base64.",
        &[
            PATH,
            Parameter::optional("text", Kind::Text, "The content as text, kept exactly."),
            Parameter::optional("base64", Kind::Text, "The content as base64, for anything that is no text."),
        ],
    ),
];

impl<'a> Command<'a> {
    /// Returns the command that `call` asks for.
    pub(super) fn parse(call: &'a ToolCall) -> Result<Self, Rejection> {
        Ok(match call.tool.as_str() {
            "files.stat" => Self::Stat { path: EntryPath::parse(call.text("path"))? },
            "files.read" => Self::parse_read(call)?,
            "files.write" => Self::Write { path: file_path(call.text("path"))?, bytes: content(call)? },
            "files.append" => Self::Append { path: file_path(call.text("path"))?, text: call.text("text") },
            "files.edit" => Self::Edit {
                path: file_path(call.text("path"))?,
                old: call.text("old"),
                new: call.text("new"),
                all: call.flag("replace_all"),
            },
            "files.list" => Self::List {
                path: below(call)?,
                after: call.text("after"),
                limit: limit(call, "limit", LIST_ENTRIES_MAX)?,
            },
            "files.move" | "files.copy" => {
                let target = call.text("target");
                Self::Transfer(Transfer {
                    source: EntryPath::parse(call.text("source"))?,
                    target: EntryPath::parse(target)?,
                    into_folder: target.ends_with('/'),
                    overwrite: call.flag("overwrite"),
                    keep_source: call.tool == "files.copy",
                })
            }
            "files.delete" => {
                Self::Delete { path: EntryPath::parse(call.text("path"))?, recursive: call.flag("recursive") }
            }
            "files.make_folder" => Self::MakeFolder { path: EntryPath::parse(call.text("path"))? },
            "files.find" => Self::Find {
                path: below(call)?,
                pattern: call.text("pattern"),
                limit: limit(call, "limit", FIND_RESULTS_MAX)?,
            },
            "files.search" => Self::Search(Search {
                path: below(call)?,
                query: call.text("query"),
                is_regex: call.flag("regex"),
                ignore_case: call.flag("ignore_case"),
                glob: call.optional_text("glob"),
                limit: limit(call, "limit", SEARCH_MATCHES_MAX)?,
            }),
            "files.import" => Self::parse_import(call)?,
            other => {
                return Err(Rejection::new(
                    "files/unknown-tool",
                    format!("files has no tool '{other}'; use a listed one"),
                ));
            }
        })
    }

    fn parse_read(call: &'a ToolCall) -> Result<Self, Rejection> {
        let path = file_path(call.text("path"))?;
        let by_line = call.get("start_line").is_some() || call.get("lines").is_some();
        if call.get("start_byte").is_none() && call.get("bytes").is_none() {
            let first = number(call, "start_line", 1)?.unwrap_or(1);
            return Ok(Self::ReadText { path, first, limit: limit(call, "lines", READ_LINES_MAX)? });
        }
        if by_line {
            return Err(Rejection::new("files/bad-range", "give a range of lines or a range of bytes, not both"));
        }
        let start = number(call, "start_byte", 0)?.unwrap_or(0);
        Ok(Self::ReadBytes { path, start, limit: limit(call, "bytes", READ_BINARY_BYTES_MAX)? })
    }

    fn parse_import(call: &'a ToolCall) -> Result<Self, Rejection> {
        let path = file_path(call.text("path"))?;
        let blob = call.text("blob").parse().map_err(|_| {
            Rejection::new("files/unknown-blob", "a blob is named by the 64 hexadecimal digits of its BLAKE3 hash")
        })?;
        let mode = match call.optional_text("mode") {
            None => MODE_DEFAULT,
            Some(digits) => u32::from_str_radix(digits, 8)
                .ok()
                .filter(|mode| *mode <= 0o7777)
                .ok_or_else(|| Rejection::new("files/bad-mode", "a mode is octal digits up to 7777, such as 0644"))?,
        };
        Ok(Self::Import { path, blob, modified: call.time("modified"), mode })
    }
}

/// Returns the path of a file, which cannot end in `/`.
pub(super) fn file_path(text: &str) -> Result<EntryPath, Rejection> {
    let path = EntryPath::parse(text)?;
    if text.len() > 1 && text.ends_with('/') {
        return Err(Rejection::new(
            "files/bad-path",
            format!("the path {text:?} ends in '/', which names a folder; name the file"),
        ));
    }
    Ok(path)
}

fn below(call: &ToolCall) -> Result<EntryPath, Rejection> {
    call.optional_text("path").map_or_else(|| Ok(EntryPath::default()), EntryPath::parse)
}

fn content(call: &ToolCall) -> Result<Cow<'_, [u8]>, Rejection> {
    match (call.optional_text("text"), call.optional_text("base64")) {
        (Some(text), None) => Ok(Cow::Borrowed(text.as_bytes())),
        (None, Some(text)) => STANDARD.decode(text).map(Cow::Owned).map_err(|error| {
            Rejection::new(
                "files/bad-base64",
                format!("the base64 cannot be decoded ({error}); encode the bytes again"),
            )
        }),
        (Some(_), Some(_)) | (None, None) => Err(Rejection::new(
            "files/bad-content",
            "files.write needs either text or base64; give exactly one of them",
        )),
    }
}

/// Returns the whole-number argument `name`, at least `least`.
fn number(call: &ToolCall, name: &str, least: usize) -> Result<Option<usize>, Rejection> {
    let Some(number) = call.int(name) else { return Ok(None) };
    match usize::try_from(number) {
        Ok(number) if number >= least => Ok(Some(number)),
        Ok(_) | Err(_) => {
            Err(Rejection::new("files/bad-range", format!("'{name}' is {number}; it must be at least {least}")))
        }
    }
}

/// Returns the limit argument `name`; what is left out or larger is `most`.
fn limit(call: &ToolCall, name: &str, most: usize) -> Result<usize, Rejection> {
    Ok(number(call, name, 1)?.map_or(most, |number| number.min(most)))
}
