//! One world with everything in it: 10,000 messages, 5,000 calendar events, a workbook of 50,000 cells, 10,000 rows each of a knowledge
//! database and of a business table, 1,000 files, chat and a directory; and for every tool of every service the calls that are timed in it.
//! Sizes are those that docs/performance.md reports.

mod world;

use dayshift_engine::{Episode, ToolCall, Value, map};
use dayshift_services::Office;

use crate::office::row_id;

use self::world::{CHATS, ME, PAGES, PEOPLE, STATES, TOWNS, page_id, path};
pub use self::world::{EVENTS, FILES, MESSAGES, ROWS, SHEET_ROWS, world};

/// What a call is measured against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// One thing is read or changed: below 1 ms.
    Quick,
    /// Many things are listed or looked through: below 5 ms.
    Listing,
}

impl Wanted {
    /// Returns the bound, in microseconds.
    #[must_use]
    pub const fn micros_max(self) -> u64 {
        match self {
            Self::Quick => 1_000,
            Self::Listing => 5_000,
        }
    }
}

/// One call that is timed, made anew for every round so that nothing is asked twice in a row.
pub struct Case {
    /// The tool, and what is done with it where there are several.
    pub name: &'static str,
    /// What it is measured against.
    pub wanted: Wanted,
    /// Makes the call of a round, and brings about in a fork what it needs.
    pub make: fn(&mut Episode<Office>, usize) -> ToolCall,
}

const fn quick(name: &'static str, make: fn(&mut Episode<Office>, usize) -> ToolCall) -> Case {
    Case { name, wanted: Wanted::Quick, make }
}

const fn listing(name: &'static str, make: fn(&mut Episode<Office>, usize) -> ToolCall) -> Case {
    Case { name, wanted: Wanted::Listing, make }
}

/// Returns an item that no recent round had.
const fn spread(round: usize, of: usize) -> usize {
    round * 7_919 % of
}

fn call(tool: &str, arguments: Value) -> ToolCall {
    ToolCall::new(tool, arguments)
}

fn inbox(round: usize) -> usize {
    1 + spread(round, MESSAGES / 2)
}

/// Returns the number of an inbox message with an attachment.
fn with_attachment(round: usize) -> usize {
    1 + spread(round, MESSAGES / 20) * 10
}

/// Returns an event that does not repeat, and its calendar. They come from a calendar in steps of three.
fn event(round: usize) -> String {
    format!("e{}", 3 * spread(round, EVENTS / 3) / 30 * 30 + 3)
}

/// Returns an event of the agent's calendar that repeats.
fn repeating(round: usize) -> String {
    format!("e{}", 30 * spread(round, EVENTS / 30))
}

fn item(round: usize) -> String {
    format!("item-{:05}", spread(round, ROWS))
}

fn line(cells: &[Value]) -> Value {
    Value::List(vec![Value::List(cells.to_vec())])
}

fn cell(column: &str, round: usize) -> String {
    format!("Data!{column}{}", 2 + spread(round, SHEET_ROWS - 2))
}

/// Makes a call that the call to be timed needs, and returns its answer.
fn first(episode: &mut Episode<Office>, tool: &str, arguments: Value) -> Value {
    let step = episode.call(call(tool, arguments)).expect("it is recorded");
    step.answer.expect("it is answered")
}

/// Returns the id of the first block of a page.
fn block(episode: &mut Episode<Office>, page: &str) -> Value {
    let read = first(episode, "knowledge.read_page", map! { "page" => page, "with_blocks" => true });
    let blocks = read.get("blocks").and_then(Value::as_list).expect("the page has blocks");
    blocks[0].get("id").cloned().expect("a block has an id")
}

/// The calls: every tool that an agent may call, where it makes a difference in several ways.
pub const CASES: &[Case] = &[
    quick("calendar.calendars", |_, _| call("calendar.calendars", map! {})),
    listing("calendar.conflicts, a week", |_, _| {
        call(
            "calendar.conflicts",
            map! { "from" => "2026-03-16T00:00:00+01:00", "until" => "2026-03-23T00:00:00+01:00" },
        )
    }),
    quick("calendar.create", |_, round| {
        call(
            "calendar.create",
            map! { "calendar" => "Ann", "summary" => format!("Talk {round}"), "start" => "2026-03-17T10:00:00+01:00", "end" => "2026-03-17T11:00:00+01:00" },
        )
    }),
    quick("calendar.create, weekly with a guest", |_, round| {
        call(
            "calendar.create",
            map! {
                "calendar" => "Ann", "summary" => format!("Talk {round}"), "start" => "2026-03-17T10:00:00+01:00", "end" => "2026-03-17T11:00:00+01:00",
                "rrule" => "FREQ=WEEKLY;COUNT=20", "attendees" => vec!["person-001@acme.example"],
            },
        )
    }),
    quick("calendar.delete", |_, round| call("calendar.delete", map! { "calendar" => "Ann", "uid" => event(round) })),
    listing("calendar.events, a week of one calendar", |_, _| {
        call(
            "calendar.events",
            map! { "calendar" => "Ann", "from" => "2026-03-16T00:00:00+01:00", "until" => "2026-03-23T00:00:00+01:00" },
        )
    }),
    listing("calendar.events, a week of all", |_, _| {
        call("calendar.events", map! { "from" => "2026-03-16T00:00:00+01:00", "until" => "2026-03-23T00:00:00+01:00" })
    }),
    listing("calendar.events, a month of all", |_, _| {
        call(
            "calendar.events",
            map! { "from" => "2026-03-01T00:00:00+01:00", "until" => "2026-04-01T00:00:00+02:00", "limit" => 500_i64 },
        )
    }),
    listing("calendar.free_busy, a day of two", |_, _| {
        call(
            "calendar.free_busy",
            map! {
                "from" => "2026-03-17T08:00:00+01:00", "until" => "2026-03-17T18:00:00+01:00",
                "who" => vec![ME, "person-001@acme.example"],
            },
        )
    }),
    quick("calendar.read", |_, round| call("calendar.read", map! { "calendar" => "Ann", "uid" => event(round) })),
    quick("calendar.respond", |_, round| {
        call("calendar.respond", map! { "calendar" => "Ann", "uid" => event(round), "answer" => "accepted" })
    }),
    listing("calendar.search, many", |_, round| call("calendar.search", map! { "text" => TOWNS[round % 8] })),
    listing("calendar.search, one", |_, round| {
        call("calendar.search", map! { "text" => format!("Delivery {} to", spread(round, EVENTS)) })
    }),
    listing("calendar.search, none, in a month", |_, _| {
        call(
            "calendar.search",
            map! { "text" => "nowhere", "from" => "2026-03-01T00:00:00+01:00", "until" => "2026-04-01T00:00:00+02:00" },
        )
    }),
    quick("calendar.update, one field", |_, round| {
        call(
            "calendar.update",
            map! { "calendar" => "Ann", "uid" => event(round), "location" => format!("Hall {round}") },
        )
    }),
    quick("calendar.update, one of a series", |_, round| {
        call(
            "calendar.update",
            map! { "calendar" => "Ann", "uid" => repeating(round), "scope" => "all", "location" => format!("Hall {round}") },
        )
    }),
    quick("chat.conversations", |_, _| call("chat.conversations", map! {})),
    quick("chat.history", |_, round| call("chat.history", map! { "with" => format!("person-{:03}", round % CHATS) })),
    quick("chat.send", |_, round| {
        call("chat.send", map! { "with" => format!("person-{:03}", round % CHATS), "text" => "Thank you." })
    }),
    quick("clock.now", |_, _| call("clock.now", map! {})),
    quick("clock.wait", |_, _| call("clock.wait", map! {})),
    quick("files.append", |_, round| {
        call("files.append", map! { "path" => path(spread(round, FILES)), "text" => "checked\n" })
    }),
    quick("files.copy", |_, round| {
        call(
            "files.copy",
            map! { "source" => path(spread(round, FILES)), "target" => format!("/archive/copy-{round}.txt") },
        )
    }),
    quick("files.delete", |_, round| call("files.delete", map! { "path" => path(spread(round, FILES)) })),
    quick("files.edit", |_, round| {
        let index = spread(round, FILES);
        call(
            "files.edit",
            map! { "path" => path(index), "old" => format!("Delivery {index}-3 "), "new" => "Delivery three " },
        )
    }),
    listing("files.find", |_, round| {
        call("files.find", map! { "pattern" => format!("*-{:03}7.txt", spread(round, 100)) })
    }),
    listing("files.list", |_, round| call("files.list", map! { "path" => format!("/archive/{:02}", round % 20) })),
    quick("files.make_folder", |_, round| call("files.make_folder", map! { "path" => format!("/new/{round}") })),
    quick("files.move", |_, round| {
        call(
            "files.move",
            map! { "source" => path(spread(round, FILES)), "target" => format!("/archive/moved-{round}.txt") },
        )
    }),
    quick("files.read", |_, round| call("files.read", map! { "path" => path(spread(round, FILES)) })),
    listing("files.search, one", |_, round| {
        call("files.search", map! { "query" => format!("Delivery {}-3 ", spread(round, FILES)) })
    }),
    listing("files.search, a regular expression", |_, round| {
        call("files.search", map! { "query" => format!("Delivery {}-[0-3] ", spread(round, FILES)), "regex" => true })
    }),
    quick("files.stat", |_, round| call("files.stat", map! { "path" => path(spread(round, FILES)) })),
    quick("files.write", |_, round| {
        call("files.write", map! { "path" => path(spread(round, FILES)), "text" => "checked\n" })
    }),
    quick("knowledge.append", |_, round| {
        call("knowledge.append", map! { "page" => page_id(spread(round, PAGES)), "markdown" => "Checked **again**." })
    }),
    quick("knowledge.archive", |_, round| call("knowledge.archive", map! { "page" => item(round) })),
    quick("knowledge.create_page", |_, round| {
        call(
            "knowledge.create_page",
            map! { "title" => format!("New {round}"), "parent" => "page-0001", "markdown" => "# One\n\ntext" },
        )
    }),
    quick("knowledge.create_row", |_, round| {
        let properties =
            map! { "Name" => format!("New {round}"), "Amount" => 5_i64, "State" => "open", "Town" => vec!["town-3"] };
        call("knowledge.create_row", map! { "database" => "db-items", "properties" => properties })
    }),
    quick("knowledge.create_row, a relation by title", |_, round| {
        let properties = map! { "Name" => format!("New {round}"), "Town" => vec!["Bremen"] };
        call("knowledge.create_row", map! { "database" => "Items", "properties" => properties })
    }),
    quick("knowledge.delete_block", |episode, round| {
        let page = page_id(spread(round, PAGES));
        let block = block(episode, &page);
        call("knowledge.delete_block", map! { "page" => page, "block" => block })
    }),
    quick("knowledge.database", |_, _| call("knowledge.database", map! { "database" => "Items" })),
    quick("knowledge.databases", |_, _| call("knowledge.databases", map! {})),
    listing("knowledge.query, equal", |_, round| {
        call(
            "knowledge.query",
            map! { "database" => "db-items", "filter" => map! { "property" => "Amount", "number" => map! { "equals" => spread(round, 1_000) } } },
        )
    }),
    listing("knowledge.query, contains", |_, round| {
        call(
            "knowledge.query",
            map! {
                "database" => "db-items",
                "filter" => map! { "property" => "Notes", "rich_text" => map! { "contains" => format!("{} as", TOWNS[round % 8]) } },
            },
        )
    }),
    listing("knowledge.query, sorted", |_, _| {
        call("knowledge.query", map! { "database" => "db-items", "sorts" => vec!["-Amount", "Name"] })
    }),
    listing("knowledge.query, two conditions and a sort", |_, round| {
        call(
            "knowledge.query",
            map! {
                "database" => "db-items",
                "filter" => map! { "and" => Value::List(vec![
                    map! { "property" => "State", "select" => map! { "equals" => STATES[round % 4] } },
                    map! { "property" => "Due", "date" => map! { "before" => "2026-06-01" } },
                ]) },
                "sorts" => vec!["Due"],
            },
        )
    }),
    listing("knowledge.query, by a formula", |_, _| {
        call(
            "knowledge.query",
            map! {
                "database" => "db-items",
                "filter" => map! { "property" => "Cost", "formula" => map! { "number" => map! { "greater_than" => 1_900_i64 } } },
            },
        )
    }),
    listing("knowledge.query, by a rollup", |_, _| {
        call(
            "knowledge.query",
            map! {
                "database" => "db-items",
                "filter" => map! { "property" => "Rate", "rollup" => map! { "number" => map! { "equals" => 3_i64 } } },
            },
        )
    }),
    listing("knowledge.query, everything, first page", |_, _| {
        call("knowledge.query", map! { "database" => "db-items", "limit" => 100_i64 })
    }),
    quick("knowledge.read_page", |_, round| {
        call("knowledge.read_page", map! { "page" => page_id(spread(round, PAGES)) })
    }),
    quick("knowledge.read_page, a row by title", |_, round| {
        call("knowledge.read_page", map! { "page" => format!("Item {}", spread(round, ROWS)) })
    }),
    quick("knowledge.rename_page", |_, round| {
        call(
            "knowledge.rename_page",
            map! { "page" => page_id(spread(round, PAGES)), "title" => format!("Renamed {round}") },
        )
    }),
    quick("knowledge.replace_block", |episode, round| {
        let page = page_id(spread(round, PAGES));
        let block = block(episode, &page);
        call("knowledge.replace_block", map! { "page" => page, "block" => block, "markdown" => "Checked **again**." })
    }),
    quick("knowledge.restore", |episode, round| {
        first(episode, "knowledge.archive", map! { "page" => item(round) });
        call("knowledge.restore", map! { "page" => item(round) })
    }),
    listing("knowledge.search, many", |_, round| call("knowledge.search", map! { "query" => TOWNS[round % 8] })),
    listing("knowledge.search, one", |_, round| {
        call("knowledge.search", map! { "query" => format!("Delivery {} from", spread(round, ROWS)) })
    }),
    listing("knowledge.search, none", |_, _| call("knowledge.search", map! { "query" => "nowhere" })),
    quick("knowledge.update_row", |_, round| {
        call("knowledge.update_row", map! { "row" => item(round), "properties" => map! { "Amount" => round } })
    }),
    quick("knowledge.update_row, by title", |_, round| {
        let row = format!("Item {}", spread(round, ROWS));
        call("knowledge.update_row", map! { "row" => row, "properties" => map! { "Amount" => round } })
    }),
    quick("mail.create_folder", |_, round| call("mail.create_folder", map! { "folder" => format!("Box {round}") })),
    quick("mail.delete", |_, round| call("mail.delete", map! { "uid" => inbox(round) })),
    quick("mail.flag", |_, round| call("mail.flag", map! { "uid" => inbox(round), "add" => vec!["flagged"] })),
    listing("mail.folders", |_, _| call("mail.folders", map! {})),
    quick("mail.forward", |_, round| {
        call(
            "mail.forward",
            map! { "uid" => with_attachment(round), "to" => vec!["person-002@acme.example"], "body" => "See below." },
        )
    }),
    listing("mail.list", |_, _| call("mail.list", map! { "limit" => 50_i64 })),
    listing("mail.list, unread", |_, _| call("mail.list", map! { "unread" => true })),
    quick("mail.move", |_, round| call("mail.move", map! { "uid" => inbox(round), "destination" => "Archive" })),
    quick("mail.read", |_, round| call("mail.read", map! { "uid" => inbox(round) })),
    quick("mail.reply", |_, round| call("mail.reply", map! { "uid" => inbox(round), "body" => "Thank you." })),
    quick("mail.reply_all", |_, round| call("mail.reply_all", map! { "uid" => inbox(round), "body" => "Thank you." })),
    quick("mail.save_attachment", |_, round| {
        call("mail.save_attachment", map! { "uid" => with_attachment(round), "path" => format!("/saved/{round}.csv") })
    }),
    quick("mail.save_draft", |_, round| {
        call("mail.save_draft", map! { "subject" => format!("Draft {round}"), "body" => "To do." })
    }),
    listing("mail.search, many", |_, round| call("mail.search", map! { "query" => TOWNS[round % 8] })),
    listing("mail.search, one", |_, round| {
        call("mail.search", map! { "text" => format!("Delivery {}-7 ", spread(round, MESSAGES)) })
    }),
    listing("mail.search, by sender and time", |_, round| {
        call(
            "mail.search",
            map! { "from" => format!("person-{:03}", round % PEOPLE), "since" => "2026-03-10T00:00:00+01:00", "has_attachment" => true },
        )
    }),
    quick("mail.send", |_, round| {
        call(
            "mail.send",
            map! { "to" => vec!["person-003@acme.example"], "subject" => format!("No. {round}"), "body" => "Good morning." },
        )
    }),
    quick("mail.send_draft", |episode, _| {
        let draft =
            map! { "to" => vec!["person-003@acme.example"], "subject" => "Delivery", "body" => "Good morning." };
        first(episode, "mail.save_draft", draft);
        call("mail.send_draft", map! { "uid" => 1_i64 })
    }),
    quick("mail.thread", |_, round| call("mail.thread", map! { "uid" => inbox(round) })),
    quick("people.list", |_, _| call("people.list", map! {})),
    quick("people.read", |_, round| call("people.read", map! { "name" => format!("person-{:03}", round % PEOPLE) })),
    quick("records.act", |_, round| {
        call("records.act", map! { "table" => "items", "id" => row_id(spread(round, ROWS)), "action" => "approve" })
    }),
    quick("records.create", |_, round| {
        let values = map! { "name" => format!("New {round}"), "amount" => "1.00", "town" => "T-1", "code" => format!("N{round}") };
        call("records.create", map! { "table" => "items", "values" => values })
    }),
    quick("records.history", |_, round| {
        call("records.history", map! { "table" => "items", "id" => row_id(spread(round, ROWS)) })
    }),
    listing("records.query, equal", |_, round| {
        call(
            "records.query",
            map! { "table" => "items", "where" => map! { "name" => format!("Item {}", spread(round, ROWS)) } },
        )
    }),
    listing("records.query, two conditions and a sort", |_, round| {
        call(
            "records.query",
            map! {
                "table" => "items",
                "where" => Value::List(vec![
                    map! { "status" => STATES[round % 4] },
                    map! { "field" => "amount", "op" => "gt", "value" => "5000" },
                ]),
                "sort" => vec!["-amount"],
            },
        )
    }),
    listing("records.query, through a reference", |_, round| {
        call("records.query", map! { "table" => "items", "where" => map! { "town.name" => TOWNS[round % 8] } })
    }),
    listing("records.query, everything, first page", |_, _| {
        call("records.query", map! { "table" => "items", "limit" => 200_i64 })
    }),
    quick("records.read", |_, round| {
        call("records.read", map! { "table" => "items", "id" => row_id(spread(round, ROWS)) })
    }),
    quick("records.tables", |_, _| call("records.tables", map! {})),
    quick("records.update", |_, round| {
        let values = map! { "note" => format!("checked {round}") };
        call("records.update", map! { "table" => "items", "id" => row_id(spread(round, ROWS)), "values" => values })
    }),
    quick("sheets.add_worksheet", |_, round| {
        call("sheets.add_worksheet", map! { "book" => "Deliveries", "name" => format!("New {round}") })
    }),
    quick("sheets.append, a row of ten", |_, round| {
        let row = line(&[
            round.into(),
            "Bremen".into(),
            "Customer 9".into(),
            "12.50".into(),
            "0.5".into(),
            "open".into(),
            "2026-03-16".into(),
            "by hand".into(),
            3_i64.into(),
            format!("=D{n}*I{n}", n = SHEET_ROWS + 1).into(),
        ]);
        call("sheets.append", map! { "book" => "Deliveries", "range" => "Data!A1:J1", "rows" => row, "mode" => "user" })
    }),
    quick("sheets.append, a row that no formula reads", |_, round| {
        let row = line(&["16 March".into(), format!("note {round}").into()]);
        call("sheets.append", map! { "book" => "Deliveries", "range" => "Notes!A:B", "rows" => row })
    }),
    quick("sheets.books", |_, _| call("sheets.books", map! {})),
    quick("sheets.clear, a cell", |_, round| {
        call("sheets.clear", map! { "book" => "Deliveries", "range" => cell("H", round) })
    }),
    quick("sheets.create", |_, round| call("sheets.create", map! { "name" => format!("Book {round}") })),
    quick("sheets.delete_worksheet, a small one", |_, _| {
        call("sheets.delete_worksheet", map! { "book" => "Deliveries", "worksheet" => "Notes" })
    }),
    listing("sheets.find, one", |_, round| {
        call(
            "sheets.find",
            map! { "book" => "Deliveries", "text" => format!("Delivery {} as", 2 + spread(round, SHEET_ROWS - 2)) },
        )
    }),
    listing("sheets.find, many", |_, round| {
        call("sheets.find", map! { "book" => "Deliveries", "text" => TOWNS[round % 8] })
    }),
    listing("sheets.find, none", |_, _| call("sheets.find", map! { "book" => "Deliveries", "text" => "nowhere" })),
    listing("sheets.find, a number", |_, round| {
        call(
            "sheets.find",
            map! { "book" => "Deliveries", "text" => format!("{}.5", spread(round, 1_000)), "whole" => true },
        )
    }),
    listing("sheets.find, in formulas", |_, round| {
        call(
            "sheets.find",
            map! { "book" => "Deliveries", "text" => format!("=D{}*", 2 + spread(round, SHEET_ROWS - 2)), "formulas" => true },
        )
    }),
    quick("sheets.read, a cell", |_, round| {
        call("sheets.read", map! { "book" => "Deliveries", "range" => cell("J", round) })
    }),
    quick("sheets.read, twenty rows", |_, round| {
        let first = 2 + spread(round, SHEET_ROWS - 30);
        call("sheets.read", map! { "book" => "Deliveries", "range" => format!("Data!A{first}:J{}", first + 19) })
    }),
    listing("sheets.read, a thousand rows", |_, round| {
        let first = 2 + 1_000 * (round % 4);
        call("sheets.read", map! { "book" => "Deliveries", "range" => format!("Data!A{first}:J{}", first + 999) })
    }),
    quick("sheets.rename_worksheet, a small one", |_, round| {
        call(
            "sheets.rename_worksheet",
            map! { "book" => "Deliveries", "worksheet" => "Notes", "name" => format!("Notes {round}") },
        )
    }),
    quick("sheets.worksheets", |_, _| call("sheets.worksheets", map! { "book" => "Deliveries" })),
    quick("sheets.write, a cell that one formula reads and three sums follow", |_, round| {
        call(
            "sheets.write",
            map! { "book" => "Deliveries", "range" => cell("D", round), "rows" => line(&[round.into()]) },
        )
    }),
    quick("sheets.write, a cell that no formula reads", |_, round| {
        let rows = line(&[format!("note {round}").into()]);
        call("sheets.write", map! { "book" => "Deliveries", "range" => cell("H", round), "rows" => rows })
    }),
    quick("sheets.write, a row of the small book", |_, round| {
        call(
            "sheets.write",
            map! { "book" => "Small", "range" => "A2", "rows" => line(&[round.into(), "=A2+1".into()]), "mode" => "user" },
        )
    }),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use dayshift_engine::{Audience, World};

    use super::*;

    #[test]
    fn every_tool_that_an_agent_may_call_is_timed() {
        let timed: BTreeSet<&str> = CASES.iter().filter_map(|case| case.name.split(',').next()).collect();
        let tools = Office::tools().iter().filter(|spec| spec.audience == Audience::Everybody);
        // What a command costs is the command's affair, and the sandbox's.
        let ours = tools.map(|spec| spec.name).filter(|name| *name != "shell.run");
        let missing: Vec<&str> = ours.filter(|name| !timed.contains(name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
