//! The world in which the tools are timed, laid out as a scenario would.

use std::fmt::Write as _;

use dayshift_engine::{Blobs, Clock, ToolCall, Value, map};

use crate::office::{Workload, lay_out, row_id};

/// How many messages there are.
pub const MESSAGES: usize = 10_000;
/// How many calendar events there are; a repeating one counts once.
pub const EVENTS: usize = 5_000;
/// How many rows the worksheet `Data` has, of ten cells each, one of which is a formula.
pub const SHEET_ROWS: usize = 5_000;
/// How many rows the knowledge database and the business table have.
pub const ROWS: usize = 10_000;
/// How many files there are.
pub const FILES: usize = 1_000;
/// How many pages there are.
pub(super) const PAGES: usize = 500;
/// How many people there are besides the agent.
pub(super) const PEOPLE: usize = 100;
/// How many people have a chat with the agent, of forty messages each.
pub(super) const CHATS: usize = 25;

pub(super) const ME: &str = "ann@acme.example";
pub(super) const TOWNS: [&str; 8] = ["Bremen", "Kiel", "Jena", "Ulm", "Trier", "Gotha", "Celle", "Worms"];
pub(super) const STATES: [&str; 4] = ["open", "approved", "paid", "held"];

/// Lays out the world.
#[must_use]
pub fn world() -> Workload {
    lay_out(Clock::Flowing, |blobs| {
        let mut calls: Vec<ToolCall> = (0..PEOPLE).map(person).collect();
        calls.extend((0..MESSAGES).map(|index| message(blobs, index)));
        calls.extend(calendars(blobs));
        calls.extend(workbooks(blobs));
        calls.extend(knowledge(blobs));
        calls.extend(records());
        calls.extend((0..FILES).map(|index| file(blobs, index)));
        calls.extend((0..CHATS * 40).map(chat));
        calls
    })
}

fn person(index: usize) -> ToolCall {
    let arguments = map! {
        "name" => format!("person-{index:03}"),
        "display" => format!("Person {index}"),
        "address" => format!("person-{index:03}@acme.example"),
        "role" => "colleague",
    };
    ToolCall::new("people.introduce", arguments)
}

/// Returns about a kilobyte of plain sentences that differ by `index`.
fn prose(index: usize) -> String {
    let mut text = String::with_capacity(1_100);
    for line in 0..12 {
        let (town, other) = (TOWNS[(index + line) % 8], TOWNS[(index / 8 + line * 3) % 8]);
        // Writing into memory cannot fail.
        let _ = writeln!(
            text,
            "Delivery {index}-{line} from {town} to {other} left the yard on time and is due this week.\r"
        );
    }
    text
}

fn message(blobs: &dyn Blobs, index: usize) -> ToolCall {
    let (hour, minute, day) = (8 + index % 9, index % 60, 1 + index / 60 % 15);
    let mut text = format!(
        "From: Person {from} <person-{from:03}@acme.example>\r\nTo: Ann Lee <{ME}>\r\nSubject: Delivery {index} to {town}\r\n\
         Message-ID: <m{index}@acme.example>\r\nDate: Mon, {day:02} Mar 2026 {hour:02}:{minute:02}:00 +0100\r\n",
        from = index % PEOPLE,
        town = TOWNS[index % 8],
    );
    if !index.is_multiple_of(5) {
        let first = index - index % 5;
        let _ = write!(text, "In-Reply-To: <m{first}@acme.example>\r\nReferences: <m{first}@acme.example>\r\n");
    }
    let body = prose(index);
    if index.is_multiple_of(10) {
        let _ = writeln!(
            text,
            "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\n{body}\r\n--b\r\n\
             Content-Type: text/csv; name=note-{index}.csv\r\nContent-Disposition: attachment; filename=note-{index}.csv\r\n\r\na,b\r\n1,{index}\r\n--b--\r\n"
        );
    } else {
        let _ = write!(text, "\r\n{body}");
    }
    let blob = blobs.put(text.into_bytes().into());
    let folder = if index < MESSAGES * 4 / 5 { "INBOX" } else { "Archive" };
    ToolCall::new("mail.import", map! { "address" => ME, "folder" => folder, "blob" => blob.to_string() })
}

/// Three calendars; every tenth event repeats. The events lie in the years 2025 and 2026.
fn calendars(blobs: &dyn Blobs) -> Vec<ToolCall> {
    let names = [("Ann", Some(ME)), ("Bo", Some("person-001@acme.example")), ("Team", None)];
    let mut calls = Vec::new();
    for (place, (name, owner)) in names.into_iter().enumerate() {
        let mut text = String::from("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//bench//EN\r\n");
        for index in (place..EVENTS).step_by(names.len()) {
            let (year, month, day) = (2025 + index % 2, 1 + index / 2 % 12, 1 + index / 24 % 28);
            let hour = 8 + index / 3 % 9;
            let _ = write!(
                text,
                "BEGIN:VEVENT\r\nUID:e{index}\r\nDTSTAMP:20250101T000000Z\r\nSUMMARY:Delivery {index} to {town}\r\nLOCATION:Room {room}\r\n\
                 DTSTART;TZID=Europe/Berlin:{year}{month:02}{day:02}T{hour:02}0000\r\nDTEND;TZID=Europe/Berlin:{year}{month:02}{day:02}T{hour:02}4500\r\n\
                 ORGANIZER:mailto:person-{guest:03}@acme.example\r\nATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:{ME}\r\n\
                 ATTENDEE;PARTSTAT=ACCEPTED:mailto:person-{guest:03}@acme.example\r\n",
                town = TOWNS[index % 8],
                room = index % 20,
                guest = 2 + index % 90,
            );
            if index.is_multiple_of(10) {
                let rule = [
                    "FREQ=WEEKLY;COUNT=30",
                    "FREQ=MONTHLY;BYMONTHDAY=5",
                    "FREQ=WEEKLY;BYDAY=TU;UNTIL=20261231T000000Z",
                ];
                let _ = write!(text, "RRULE:{}\r\n", rule[index / 10 % 3]);
            }
            text.push_str("END:VEVENT\r\n");
        }
        text.push_str("END:VCALENDAR\r\n");
        let blob = blobs.put(text.into_bytes().into());
        let arguments = map! { "calendar" => name, "owner" => owner, "blob" => blob.to_string() };
        calls.push(ToolCall::new("calendar.import", arguments));
    }
    calls
}

/// A workbook of 50,000 cells, 5,000 of which are formulas, with sums over whole columns on a second worksheet.
fn workbooks(blobs: &dyn Blobs) -> Vec<ToolCall> {
    let mut text = String::from("id,town,customer,amount,rate,state,day,note,count,total\n");
    for index in 2..=SHEET_ROWS {
        let _ = writeln!(
            text,
            "{index},{town},Customer {customer},{amount}.50,0.{rate:02},{state},2026-03-{day:02},Delivery {index} as agreed,{count},=D{index}*I{index}",
            town = TOWNS[index % 8],
            customer = index % 700,
            amount = index * 7 % 1_000,
            rate = index % 100,
            state = STATES[index % 4],
            day = 1 + index % 28,
            count = index % 13,
        );
    }
    let blob = blobs.put(text.into_bytes().into());
    let write = |sheet: &str, range: &str, rows: Value| {
        let range = format!("{sheet}!{range}");
        ToolCall::new(
            "sheets.write",
            map! { "book" => "Deliveries", "range" => range, "rows" => rows, "mode" => "user" },
        )
    };
    let line = |cells: &[&str]| Value::List(vec![cells.iter().map(|cell| Value::from(*cell)).collect()]);
    vec![
        ToolCall::new(
            "sheets.import",
            map! { "book" => "Deliveries", "worksheet" => "Data", "format" => "csv", "blob" => blob.to_string() },
        ),
        ToolCall::new("sheets.add_worksheet", map! { "book" => "Deliveries", "name" => "Summary" }),
        write(
            "Summary",
            "A1",
            line(&["total", "=SUM(Data!J2:J6000)", "open", "=SUMIF(Data!F2:F6000,\"open\",Data!J2:J6000)"]),
        ),
        write("Summary", "A2", line(&["count", "=COUNTA(Data!A2:A6000)", "mean", "=B1/B2"])),
        ToolCall::new("sheets.add_worksheet", map! { "book" => "Deliveries", "name" => "Notes" }),
        write("Notes", "A1", line(&["when", "what"])),
        ToolCall::new("sheets.create", map! { "name" => "Small" }),
        ToolCall::new(
            "sheets.write",
            map! { "book" => "Small", "range" => "A1", "rows" => line(&["a", "b", "1", "=C1+1"]), "mode" => "user" },
        ),
    ]
}

fn knowledge(blobs: &dyn Blobs) -> Vec<ToolCall> {
    let define = |value: Value| ToolCall::new("knowledge.define", map! { "database" => value });
    let mut calls = vec![
        define(map! {
            "id" => "db-towns",
            "title" => "Towns",
            "properties" => map! { "Name" => "title", "Rate" => "number" },
        }),
        define(map! {
            "id" => "db-items",
            "title" => "Items",
            "properties" => map! {
                "Name" => "title",
                "Notes" => "text",
                "Amount" => "number",
                "State" => map! { "type" => "select", "options" => STATES.to_vec() },
                "Due" => "date",
                "Done" => "checkbox",
                "Town" => map! { "type" => "relation", "database" => "db-towns" },
                "Rate" => map! { "type" => "rollup", "relation" => "Town", "property" => "Rate", "function" => "sum" },
                "Cost" => map! { "type" => "formula", "expression" => "prop(\"Amount\") * 2" },
            },
        }),
    ];
    let towns: Value =
        (0..8).map(|index| map! { "id" => format!("town-{index}"), "Name" => TOWNS[index], "Rate" => index }).collect();
    calls.push(ToolCall::new("knowledge.import_rows", map! { "database" => "db-towns", "rows" => towns }));
    let row = |index: usize| {
        map! {
            "id" => format!("item-{index:05}"),
            "Name" => format!("Item {index}"),
            "Notes" => format!("Delivery {index} from {} as agreed with the yard", TOWNS[index / 3 % 8]),
            "Amount" => index * 7 % 1_000,
            "State" => STATES[index % 4],
            "Due" => format!("2026-{:02}-{:02}", 1 + index % 12, 1 + index % 28),
            "Done" => index.is_multiple_of(3),
            "Town" => vec![format!("town-{}", index % 8)],
        }
    };
    for start in (0..ROWS).step_by(1_000) {
        let rows: Value = (start..ROWS.min(start + 1_000)).map(row).collect();
        calls.push(ToolCall::new("knowledge.import_rows", map! { "database" => "db-items", "rows" => rows }));
    }
    for index in 0..PAGES {
        let text = format!(
            "## Delivery {index}\n\n{}\n\n- first\n- second\n\n> as agreed\n",
            prose(index).replace("\r\n", "\n")
        );
        let blob = blobs.put(text.into_bytes().into()).to_string();
        let parent = (index >= 10).then(|| format!("page-{:04}", index % 10));
        let arguments =
            map! { "id" => page_id(index), "title" => format!("Page {index}"), "blob" => blob, "parent" => parent };
        calls.push(ToolCall::new("knowledge.import_page", arguments));
    }
    calls
}

pub(super) fn page_id(index: usize) -> String {
    format!("page-{index:04}")
}

fn records() -> Vec<ToolCall> {
    let towns = map! {
        "table" => "towns",
        "fields" => map! { "name" => "text", "limit" => "decimal" },
    };
    let items = map! {
        "table" => "items",
        "fields" => map! {
            "name" => "text",
            "amount" => "decimal",
            "status" => map! { "type" => "choice", "options" => STATES.to_vec(), "default" => "open" },
            "note" => "text",
            "town" => map! { "type" => "reference", "table" => "towns" },
            "code" => map! { "type" => "text", "unique" => true },
        },
        "actions" => map! {
            "approve" => map! {
                "guard" => vec![map! { "field" => "amount", "op" => "le", "value" => "$row.town.limit" }],
                "effects" => vec![map! { "set" => map! { "status" => "approved" } }],
            },
        },
    };
    let mut calls = vec![
        ToolCall::new("records.define", map! { "table" => towns }),
        ToolCall::new("records.define", map! { "table" => items }),
    ];
    let town = |index: usize| map! { "id" => format!("T-{index}"), "name" => TOWNS[index], "limit" => "100000" };
    calls.push(ToolCall::new(
        "records.import",
        map! { "table" => "towns", "rows" => (0..8).map(town).collect::<Value>() },
    ));
    let row = |index: usize| {
        map! {
            "id" => row_id(index),
            "name" => format!("Item {index}"),
            "amount" => format!("{index}.50"),
            "status" => STATES[index % 4],
            "note" => format!("as delivered from {}", TOWNS[index / 5 % 8]),
            "town" => format!("T-{}", index % 8),
            "code" => format!("C{index}"),
        }
    };
    for start in (0..ROWS).step_by(1_000) {
        let rows: Value = (start..ROWS.min(start + 1_000)).map(row).collect();
        calls.push(ToolCall::new("records.import", map! { "table" => "items", "rows" => rows }));
    }
    calls
}

fn file(blobs: &dyn Blobs, index: usize) -> ToolCall {
    let blob = blobs.put(prose(index).replace("\r\n", "\n").into_bytes().into());
    ToolCall::new("files.import", map! { "path" => path(index), "blob" => blob.to_string() })
}

pub(super) fn path(index: usize) -> String {
    format!("/archive/{:02}/note-{index:05}.txt", index % 20)
}

fn chat(index: usize) -> ToolCall {
    let arguments = map! {
        "from" => format!("person-{:03}", index % CHATS),
        "with" => "ann",
        "text" => format!("Delivery {index} to {} has arrived.", TOWNS[index % 8]),
    };
    ToolCall::new("chat.post", arguments)
}
