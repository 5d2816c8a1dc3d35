//! The tools of `records`, as agents and authors see them.

use dayshift_engine::{Audience, Effect, Kind, Parameter, ToolSpec};

const WHERE: &str = "which rows: an object such as {\"status\": \"open\"} (a list of values means any of them), or a list of conditions \
    {\"field\", \"op\", \"value\"} with op one of eq, ne, lt, le, gt, ge, contains, in, is_empty; all, any and not combine; \
    a field such as customer.tier follows a reference, and id is the row's id";

/// All tools.
pub(super) const TOOLS: &[ToolSpec] = &[
    ToolSpec {
        name: "records.tables",
        summary: "Lists the business tables: their fields, and the actions that their rows know with the rules that these obey.",
        parameters: &[],
        effect: Effect::Reads,
        audience: Audience::Everybody,
        cost_seconds: 5,
    },
    ToolSpec {
        name: "records.query",
        summary: "Finds rows of a table, a page at a time. Rows come in the order in which they were created unless sorted.",
        parameters: &[
            Parameter::required("table", Kind::Text, "the table"),
            Parameter::optional("where", Kind::Any, WHERE),
            Parameter::optional("sort", Kind::List(&Kind::Text), "fields to sort by; -field is descending"),
            Parameter::optional("fields", Kind::List(&Kind::Text), "fields to show; all but details if left out"),
            Parameter::optional("limit", Kind::Int, "rows a page, 1 to 200, 50 if left out"),
            Parameter::optional("cursor", Kind::Text, "the cursor that the last page ended with"),
        ],
        effect: Effect::Reads,
        audience: Audience::Everybody,
        cost_seconds: 10,
    },
    ToolSpec {
        name: "records.read",
        summary: "Reads one row with all its fields, or only some.",
        parameters: &[
            Parameter::required("table", Kind::Text, "the table"),
            Parameter::required("id", Kind::Text, "the row's id"),
            Parameter::optional("fields", Kind::List(&Kind::Text), "fields to show; all if left out"),
        ],
        effect: Effect::Reads,
        audience: Audience::Everybody,
        cost_seconds: 5,
    },
    ToolSpec {
        name: "records.create",
        summary: "Creates a row, or several: all of them or, if one is refused, none.",
        parameters: &[
            Parameter::required("table", Kind::Text, "the table"),
            Parameter::optional("values", Kind::Object, "the fields and their values"),
            Parameter::optional("id", Kind::Text, "the row's id; the next free one if left out"),
            Parameter::optional(
                "rows",
                Kind::List(&Kind::Object),
                "several rows at once instead: objects of fields and values",
            ),
        ],
        effect: Effect::Writes,
        audience: Audience::Everybody,
        cost_seconds: 60,
    },
    ToolSpec {
        name: "records.update",
        summary: "Changes fields of a row and shows their new values. Fields that are not named stay as they are; null empties a field. Several rows get the same values, all of them or none.",
        parameters: &[
            Parameter::required("table", Kind::Text, "the table"),
            Parameter::optional("id", Kind::Text, "the row's id"),
            Parameter::required("values", Kind::Object, "the fields and their new values"),
            Parameter::optional("ids", Kind::List(&Kind::Text), "the ids of several rows instead"),
        ],
        effect: Effect::Writes,
        audience: Audience::Everybody,
        cost_seconds: 30,
    },
    ToolSpec {
        name: "records.act",
        summary: "Does a named action on a row, such as approving a payment. records.tables lists the actions and their rules.",
        parameters: &[
            Parameter::required("table", Kind::Text, "the table"),
            Parameter::required("id", Kind::Text, "the row's id"),
            Parameter::required("action", Kind::Text, "the action"),
            Parameter::optional("arguments", Kind::Object, "the action's arguments"),
        ],
        effect: Effect::Writes,
        audience: Audience::Everybody,
        cost_seconds: 30,
    },
    ToolSpec {
        name: "records.history",
        summary: "Shows who changed what of a row, and when, oldest first.",
        parameters: &[
            Parameter::required("table", Kind::Text, "the table"),
            Parameter::required("id", Kind::Text, "the row's id"),
        ],
        effect: Effect::Reads,
        audience: Audience::Everybody,
        cost_seconds: 5,
    },
    ToolSpec {
        name: "records.define",
        summary: "Defines a table.",
        parameters: &[Parameter::required("table", Kind::Object, "the definition")],
        effect: Effect::Writes,
        audience: Audience::Backstage,
        cost_seconds: 0,
    },
    ToolSpec {
        name: "records.import",
        summary: "Puts rows into a table. An object that has no id under the table's name for it gets the next free one.",
        parameters: &[
            Parameter::required("table", Kind::Text, "the table"),
            Parameter::required("rows", Kind::List(&Kind::Object), "the rows, each with its fields and its id"),
        ],
        effect: Effect::Writes,
        audience: Audience::Backstage,
        cost_seconds: 0,
    },
    ToolSpec {
        name: "records.set",
        summary: "Changes fields of a row, read-only ones too; no action's rule is asked.",
        parameters: &[
            Parameter::required("table", Kind::Text, "the table"),
            Parameter::required("id", Kind::Text, "the row's id"),
            Parameter::required("values", Kind::Object, "the fields and their new values"),
        ],
        effect: Effect::Writes,
        audience: Audience::Backstage,
        cost_seconds: 0,
    },
    ToolSpec {
        name: "records.remove",
        summary: "Removes a row, whatever refers to it.",
        parameters: &[
            Parameter::required("table", Kind::Text, "the table"),
            Parameter::required("id", Kind::Text, "the row's id"),
        ],
        effect: Effect::Writes,
        audience: Audience::Backstage,
        cost_seconds: 0,
    },
    ToolSpec {
        name: "records.disrupt",
        summary: "Schedules an outage of one table or of all: for everybody but the world and the scenario.",
        parameters: &[
            Parameter::required("from", Kind::Time, "when it starts"),
            Parameter::required("until", Kind::Time, "when it is over"),
            Parameter::required("kind", Kind::Choice(&["fails", "rate_limits", "late"]), "what goes wrong"),
            Parameter::optional("table", Kind::Text, "the table; all if left out"),
            Parameter::optional(
                "percent",
                Kind::Int,
                "how many of a hundred calls it hits, drawn by the seed; 100 if left out",
            ),
            Parameter::optional("seconds", Kind::Int, "how late an answer is; 60 if left out"),
        ],
        effect: Effect::Writes,
        audience: Audience::Backstage,
        cost_seconds: 0,
    },
];
