//! The tools of `knowledge`, as agents and authors see them.

use dayshift_engine::{Audience, Effect, Kind, Parameter, ToolSpec};

const FILTER: &str = "which rows, as in Notion: {\"property\": \"Status\", \"select\": {\"equals\": \"Open\"}} (the type may be left out), \
    {\"timestamp\": \"created_time\", \"created_time\": {\"past_week\": {}}}, and {\"and\": [...]} or {\"or\": [...]} of such, nested";

const SORTS: &str = "what to sort by, most important first: {\"property\": \"Due\", \"direction\": \"descending\"}, \
    {\"timestamp\": \"created_time\", \"direction\": \"descending\"}, or a property's name, with - before it for descending";

const PROPERTIES: &str = "properties and values: text, number, true or false, an option's name, lists of names, dates such as \"2026-03-16\" or \
    {\"start\", \"end\"}, relations as lists of row ids or titles";

/// All tools.
pub(super) const TOOLS: &[ToolSpec] = &[
    ToolSpec {
        name: "knowledge.search",
        summary: "Finds pages, databases and rows whose title, content or text has the words in it, without regard to case; titles come first.",
        parameters: &[
            Parameter::required("query", Kind::Text, "the words; empty finds everything"),
            Parameter::optional("kind", Kind::Choice(&["page", "database", "row"]), "only this kind; all if left out"),
            Parameter::optional("limit", Kind::Int, "how many results, 1 to 100, 20 if left out"),
        ],
        effect: Effect::Reads,
        audience: Audience::Everybody,
        cost_seconds: 10,
    },
    ToolSpec {
        name: "knowledge.read_page",
        summary: "Reads a page or a row: its content as Markdown, its properties, and what is in it.",
        parameters: &[
            Parameter::required("page", Kind::Text, "its id or title"),
            Parameter::optional(
                "with_blocks",
                Kind::Bool,
                "also show the blocks with their ids, as replace_block takes them",
            ),
            Parameter::optional("with_times", Kind::Bool, "also show when it was created and last edited, and by whom"),
        ],
        effect: Effect::Reads,
        audience: Audience::Everybody,
        cost_seconds: 10,
    },
    ToolSpec {
        name: "knowledge.create_page",
        summary: "Creates a page.",
        parameters: &[
            Parameter::required("title", Kind::Text, "the title"),
            Parameter::optional(
                "parent",
                Kind::Text,
                "the id or title of the page that it goes into; at the root if left out",
            ),
            Parameter::optional("markdown", Kind::Text, "the content"),
        ],
        effect: Effect::Writes,
        audience: Audience::Everybody,
        cost_seconds: 120,
    },
    ToolSpec {
        name: "knowledge.rename_page",
        summary: "Gives a page or a row another title.",
        parameters: &[
            Parameter::required("page", Kind::Text, "its id or title"),
            Parameter::required("title", Kind::Text, "the new title"),
        ],
        effect: Effect::Writes,
        audience: Audience::Everybody,
        cost_seconds: 30,
    },
    ToolSpec {
        name: "knowledge.append",
        summary: "Adds Markdown at the end of a page or a row.",
        parameters: &[
            Parameter::required("page", Kind::Text, "its id or title"),
            Parameter::required("markdown", Kind::Text, "what to add"),
        ],
        effect: Effect::Writes,
        audience: Audience::Everybody,
        cost_seconds: 60,
    },
    ToolSpec {
        name: "knowledge.replace_block",
        summary: "Puts other content in the place of one block of a page or a row.",
        parameters: &[
            Parameter::required("page", Kind::Text, "its id or title"),
            Parameter::required("block", Kind::Text, "the block's id, from read_page with with_blocks"),
            Parameter::required("markdown", Kind::Text, "what stands there from now on"),
        ],
        effect: Effect::Writes,
        audience: Audience::Everybody,
        cost_seconds: 60,
    },
    ToolSpec {
        name: "knowledge.delete_block",
        summary: "Takes one block out of a page or a row, with all that is in it.",
        parameters: &[
            Parameter::required("page", Kind::Text, "its id or title"),
            Parameter::required("block", Kind::Text, "the block's id, from read_page with with_blocks"),
        ],
        effect: Effect::Writes,
        audience: Audience::Everybody,
        cost_seconds: 30,
    },
    ToolSpec {
        name: "knowledge.archive",
        summary: "Puts a page, a row or a database into the archive: searches, queries and listings no longer show it.",
        parameters: &[Parameter::required("page", Kind::Text, "its id or title")],
        effect: Effect::Writes,
        audience: Audience::Everybody,
        cost_seconds: 15,
    },
    ToolSpec {
        name: "knowledge.restore",
        summary: "Takes a page, a row or a database out of the archive.",
        parameters: &[Parameter::required("page", Kind::Text, "its id")],
        effect: Effect::Writes,
        audience: Audience::Everybody,
        cost_seconds: 15,
    },
    ToolSpec {
        name: "knowledge.databases",
        summary: "Lists the databases and the names of their properties.",
        parameters: &[],
        effect: Effect::Reads,
        audience: Audience::Everybody,
        cost_seconds: 5,
    },
    ToolSpec {
        name: "knowledge.database",
        summary: "Shows a database's schema: its properties, their types and options.",
        parameters: &[
            Parameter::required("database", Kind::Text, "its id or title"),
            Parameter::optional("with_times", Kind::Bool, "also show when it was created and last edited, and by whom"),
        ],
        effect: Effect::Reads,
        audience: Audience::Everybody,
        cost_seconds: 5,
    },
    ToolSpec {
        name: "knowledge.query",
        summary: "Finds rows of a database, a page at a time. Rows come in the order in which they were created unless sorted.",
        parameters: &[
            Parameter::required("database", Kind::Text, "its id or title"),
            Parameter::optional("filter", Kind::Object, FILTER),
            Parameter::optional("sorts", Kind::List(&Kind::Any), SORTS),
            Parameter::optional("properties", Kind::List(&Kind::Text), "properties to show; all if left out"),
            Parameter::optional("limit", Kind::Int, "rows a page, 1 to 100, 50 if left out"),
            Parameter::optional("cursor", Kind::Text, "the cursor that the last page ended with"),
            Parameter::optional(
                "with_times",
                Kind::Bool,
                "also show when rows were created and last edited, and by whom",
            ),
        ],
        effect: Effect::Reads,
        audience: Audience::Everybody,
        cost_seconds: 10,
    },
    ToolSpec {
        name: "knowledge.create_row",
        summary: "Creates a row in a database.",
        parameters: &[
            Parameter::required("database", Kind::Text, "its id or title"),
            Parameter::required("properties", Kind::Object, PROPERTIES),
            Parameter::optional("markdown", Kind::Text, "the row's own content"),
        ],
        effect: Effect::Writes,
        audience: Audience::Everybody,
        cost_seconds: 60,
    },
    ToolSpec {
        name: "knowledge.update_row",
        summary: "Changes properties of a row. Properties that are not named stay as they are; null empties one; text is replaced.",
        parameters: &[
            Parameter::required("row", Kind::Text, "its id or title"),
            Parameter::required("properties", Kind::Object, PROPERTIES),
        ],
        effect: Effect::Writes,
        audience: Audience::Everybody,
        cost_seconds: 30,
    },
    ToolSpec {
        name: "knowledge.import_page",
        summary: "Puts a page made of a Markdown file. Without a title, the file's first heading or its name is the title.",
        parameters: &[
            Parameter::required("blob", Kind::Text, "the file's blob"),
            Parameter::optional("title", Kind::Text, "the title"),
            Parameter::optional("path", Kind::Text, "the file's path"),
            Parameter::optional("parent", Kind::Text, "the id or title of the page that it goes into"),
            Parameter::optional("id", Kind::Text, "the page's id; a fresh one if left out"),
        ],
        effect: Effect::Writes,
        audience: Audience::Backstage,
        cost_seconds: 0,
    },
    ToolSpec {
        name: "knowledge.define",
        summary: "Defines a database: {title, properties, description?, parent?, id?}.",
        parameters: &[Parameter::required("database", Kind::Object, "the definition")],
        effect: Effect::Writes,
        audience: Audience::Backstage,
        cost_seconds: 0,
    },
    ToolSpec {
        name: "knowledge.import_rows",
        summary: "Puts rows into a database. Each may also have id and markdown.",
        parameters: &[
            Parameter::required("database", Kind::Text, "its id or title"),
            Parameter::optional("rows", Kind::List(&Kind::Object), "the rows, each with its properties"),
            Parameter::optional(
                "blob",
                Kind::Text,
                "the blob of a CSV file whose first line names properties, instead of rows",
            ),
        ],
        effect: Effect::Writes,
        audience: Audience::Backstage,
        cost_seconds: 0,
    },
];
