//! The office: a world of 10,000 rows and 10,000 files, and a small one as a trainer resets it.

use std::sync::Arc;

use dayshift_engine::{
    Blobs, Clock, Episode, Genesis, MemoryBlobs, Plan, PlannedDay, Prefix, Reaction, Scene, Script, ScriptError, Seed,
    SimTime, ToolCall, Value, map,
};
use dayshift_services::Office;

/// A timeline of one day without events.
struct Quiet(Plan);

impl Script<Office> for Quiet {
    fn plan(&self) -> &Plan {
        &self.0
    }

    fn holds(&self, _: usize, _: &Scene<'_, Office>) -> Result<bool, ScriptError> {
        Ok(false)
    }

    fn react(&self, _: usize, _: &Value, _: &Scene<'_, Office>) -> Result<Reaction, ScriptError> {
        Ok(Reaction::default())
    }
}

/// A prefix and what belongs to it.
pub struct Workload {
    /// The prefix.
    pub prefix: Prefix<Office>,
    /// The script.
    pub script: Arc<dyn Script<Office>>,
    /// The blobs.
    pub blobs: Arc<dyn Blobs>,
}

impl Workload {
    /// Opens an episode.
    ///
    /// # Panics
    ///
    /// If the kernel refuses its own workload.
    #[must_use]
    pub fn open(&self) -> Episode<Office> {
        let opened = Episode::open(&self.prefix, Seed::new(1), Arc::clone(&self.script), Arc::clone(&self.blobs));
        opened.expect("the workload opens").0
    }
}

/// Lays out an office by `setup`, which keeps what it imports as blobs.
///
/// # Panics
///
/// If the office refuses its own workload.
#[must_use]
pub fn lay_out(clock: Clock, setup: impl FnOnce(&dyn Blobs) -> Vec<ToolCall>) -> Workload {
    let opens: SimTime = "2026-03-16T08:00:00Z".parse().expect("a good time");
    let ends: SimTime = "2026-03-16T18:00:00Z".parse().expect("a good time");
    let day = PlannedDay { name: "mon".into(), opens, ends, notification: "Good morning.".to_owned(), closing: None };
    let plan = Plan {
        days: vec![day],
        closes: ends,
        limits: dayshift_engine::EpisodeLimits {
            calls_per_turn_max: u32::MAX,
            ..dayshift_engine::EpisodeLimits::default()
        },
        clock,
        ..Plan::default()
    };
    let script: Arc<dyn Script<Office>> = Arc::new(Quiet(plan));
    let blobs: Arc<dyn Blobs> = Arc::new(MemoryBlobs::new());
    let digest = blobs.put(Arc::from(*b"bench"));
    let genesis = Genesis { scenario: "bench-v1".into(), digest, blobs: vec![digest], epoch: opens };
    let mut calls = vec![
        ToolCall::new("people.settle", map! { "zone" => "Europe/Berlin" }),
        ToolCall::new(
            "people.introduce",
            map! { "name" => "ann", "display" => "Ann Lee", "address" => "ann@acme.example", "agent" => true },
        ),
    ];
    calls.extend(setup(&*blobs));
    let prefix = Prefix::build(Office::default(), genesis, calls, Arc::clone(&script), Arc::clone(&blobs))
        .expect("the workload lays out");
    Workload { prefix, script, blobs }
}

/// Returns the definition of the table `items`, and `rows` rows of it.
#[must_use]
pub fn table(rows: usize) -> Vec<ToolCall> {
    let definition = map! {
        "table" => "items",
        "fields" => map! {
            "name" => map! { "type" => "text" },
            "amount" => map! { "type" => "decimal" },
            "status" => map! { "type" => "choice", "options" => vec!["open", "approved", "paid"], "default" => "open" },
            "note" => map! { "type" => "text" },
        },
    };
    let row = |index: usize| {
        map! { "id" => row_id(index), "name" => format!("Item {index}"), "amount" => format!("{index}.50"), "note" => "as delivered" }
    };
    let mut calls = vec![ToolCall::new("records.define", map! { "table" => definition })];
    for start in (0..rows).step_by(500) {
        let batch: Value = (start..rows.min(start + 500)).map(row).collect();
        calls.push(ToolCall::new("records.import", map! { "table" => "items", "rows" => batch }));
    }
    calls
}

/// Returns the id of the row number `index`.
#[must_use]
pub fn row_id(index: usize) -> String {
    format!("IT-{index:05}")
}

/// Returns the import of the file number `index`.
#[must_use]
pub fn file(blobs: &dyn Blobs, index: usize) -> ToolCall {
    let blob = blobs.put(format!("line one of file {index}\nline two\n").into_bytes().into());
    ToolCall::new("files.import", map! { "path" => path(index), "blob" => blob.to_string() })
}

/// Returns the path of the file number `index`.
#[must_use]
pub fn path(index: usize) -> String {
    format!("/archive/file-{index:05}.txt")
}

/// Returns the import of the message number `index` into the agent's inbox.
#[must_use]
pub fn mail(blobs: &dyn Blobs, index: usize) -> ToolCall {
    let text = format!(
        "From: Bo Carter <bo@acme.example>\r\nTo: ann@acme.example\r\nSubject: Delivery {index}\r\nMessage-ID: <m{index}@acme.example>\r\n\
         Date: Mon, 16 Mar 2026 08:00:00 +0100\r\n\r\nDear Ann,\r\n\r\ndelivery {index} has arrived.\r\n\r\nBo\r\n"
    );
    let blob = blobs.put(text.into_bytes().into());
    ToolCall::new(
        "mail.import",
        map! { "address" => "ann@acme.example", "folder" => "INBOX", "blob" => blob.to_string() },
    )
}

/// The large world: 10,000 rows and 10,000 files.
#[must_use]
pub fn large(items: usize) -> Workload {
    lay_out(Clock::Staged, |blobs| {
        let mut calls = table(items);
        calls.extend((0..items).map(|index| file(blobs, index)));
        calls
    })
}

/// The small world that a trainer resets: 200 mails, 100 table rows, 50 files.
#[must_use]
pub fn small() -> Workload {
    lay_out(Clock::Staged, |blobs| {
        let mut calls = table(100);
        calls.extend((0..200).map(|index| mail(blobs, index)));
        calls.extend((0..50).map(|index| file(blobs, index)));
        calls
    })
}

/// Returns the call that changes one field of the row number `index`.
#[must_use]
pub fn update(index: usize, round: u64) -> ToolCall {
    let values = map! { "note" => format!("checked {round}") };
    ToolCall::new("records.update", map! { "table" => "items", "id" => row_id(index), "values" => values })
}

/// Returns the call that reads the row number `index`.
#[must_use]
pub fn read_row(index: usize) -> ToolCall {
    ToolCall::new("records.read", map! { "table" => "items", "id" => row_id(index) })
}

/// Returns the call that reads the file number `index`.
#[must_use]
pub fn read_file(index: usize) -> ToolCall {
    ToolCall::new("files.read", map! { "path" => path(index) })
}

/// Returns the call that looks at the file number `index`.
#[must_use]
pub fn stat_file(index: usize) -> ToolCall {
    ToolCall::new("files.stat", map! { "path" => path(index) })
}

/// Returns the call that overwrites the file number `index`.
#[must_use]
pub fn write_file(index: usize, round: u64) -> ToolCall {
    ToolCall::new("files.write", map! { "path" => path(index), "text" => format!("checked {round}\n") })
}
