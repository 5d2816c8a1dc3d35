//! What the agent is told of the spreadsheet service's tools, and those that only a scenario calls.

use dayshift_engine::{Audience, Effect, Kind, Parameter, ToolSpec};

const BOOK: Parameter = Parameter::required("book", Kind::Text, "the workbook, by name or id");
const RANGE: Parameter = Parameter::required(
    "range",
    Kind::Text,
    "a range in A1 form, such as Sheet1!A1:C4, Sheet1!B2, Sheet1!A:G, a named range, or a worksheet's name for all of it; without a worksheet the first one is meant",
);
const ROWS: Parameter = Parameter::required(
    "rows",
    Kind::List(&Kind::List(&Kind::Any)),
    "a list of rows, each a list of texts, numbers and truth values; null leaves a cell as it is, empty text empties it",
);
const MODE: Parameter = Parameter::optional(
    "mode",
    Kind::Choice(&["raw", "user"]),
    "raw (the default) keeps text as text; user reads it as if typed: numbers, percentages, dates, formulas that start with =",
);
const WORKSHEET: Parameter = Parameter::required("worksheet", Kind::Text, "the worksheet's name");
const NAME: Parameter = Parameter::required("name", Kind::Text, "the new name");
/// How cells are shown.
pub(super) const SHOWN: Kind = Kind::Choice(&["formatted", "values", "formulas"]);

const fn tool(name: &'static str, summary: &'static str, parameters: &'static [Parameter], effect: Effect) -> ToolSpec {
    let cost_seconds = match effect {
        Effect::Reads => 20,
        Effect::Writes => 60,
    };
    ToolSpec { name, summary, parameters, effect, audience: Audience::Everybody, cost_seconds }
}

/// The tools.
pub(super) const TOOLS: &[ToolSpec] = &[
    tool("sheets.books", "Lists the workbooks with their ids.", &[], Effect::Reads),
    tool(
        "sheets.create",
        "Creates a workbook with one empty worksheet.",
        &[
            Parameter::required("name", Kind::Text, "the workbook's name"),
            Parameter::optional("worksheet", Kind::Text, "the worksheet's name; Sheet1 if left out"),
        ],
        Effect::Writes,
    ),
    tool("sheets.worksheets", "Lists a workbook's worksheets in order, with what they hold.", &[BOOK], Effect::Reads),
    tool(
        "sheets.read",
        "Reads a range. Empty cells at the end of a row and empty rows at the end are left out.",
        &[
            BOOK,
            RANGE,
            Parameter::optional(
                "as",
                SHOWN,
                "formatted (the default) gives the text that a cell shows, values gives numbers and truth values as such, formulas gives the formula where there is one",
            ),
        ],
        Effect::Reads,
    ),
    tool(
        "sheets.write",
        "Writes rows from the top left cell of a range on. A single cell is an anchor for any number of rows; more than a larger range holds is refused.",
        &[BOOK, RANGE, ROWS, MODE],
        Effect::Writes,
    ),
    tool(
        "sheets.append",
        "Finds the table in a range and writes rows below its last row, from its first column on.",
        &[
            BOOK,
            RANGE,
            ROWS,
            MODE,
            Parameter::optional(
                "insert",
                Kind::Bool,
                "true inserts rows for the new ones, so that what stands below the table moves down and formulas follow; otherwise they are written over empty cells alone",
            ),
        ],
        Effect::Writes,
    ),
    tool("sheets.clear", "Empties all cells of a range; their formats stay.", &[BOOK, RANGE], Effect::Writes),
    tool(
        "sheets.find",
        "Finds the cells that show a text, in all worksheets or one.",
        &[
            BOOK,
            Parameter::required("text", Kind::Text, "the text to look for"),
            Parameter::optional("worksheet", Kind::Text, "the only worksheet to look in"),
            Parameter::optional("whole", Kind::Bool, "whether the cell must show the text and nothing else"),
            Parameter::optional("case", Kind::Bool, "whether capital and small letters are told apart"),
            Parameter::optional("formulas", Kind::Bool, "whether to look into formulas instead of what they show"),
        ],
        Effect::Reads,
    ),
    tool("sheets.add_worksheet", "Adds an empty worksheet behind the others.", &[BOOK, NAME], Effect::Writes),
    tool(
        "sheets.rename_worksheet",
        "Renames a worksheet; formulas that name it follow.",
        &[BOOK, WORKSHEET, NAME],
        Effect::Writes,
    ),
    tool(
        "sheets.delete_worksheet",
        "Deletes a worksheet with all its cells. A workbook keeps at least one.",
        &[BOOK, WORKSHEET],
        Effect::Writes,
    ),
    ToolSpec {
        name: "sheets.import",
        summary: "Makes a workbook of a file, or replaces worksheets of one.",
        parameters: &[
            Parameter::required("book", Kind::Text, "the workbook's name; it is created if there is none"),
            Parameter::required("format", Kind::Choice(&["csv", "xlsx"]), "the file's format"),
            Parameter::required("blob", Kind::Text, "the file's content, by its blob name"),
            Parameter::optional(
                "worksheet",
                Kind::Text,
                "csv: the worksheet to fill, Sheet1 if left out; xlsx: the only worksheet to take",
            ),
            Parameter::optional(
                "mode",
                Kind::Choice(&["raw", "user"]),
                "csv: user (the default) reads fields as if typed, raw keeps them as text",
            ),
        ],
        effect: Effect::Writes,
        audience: Audience::Backstage,
        cost_seconds: 0,
    },
];
