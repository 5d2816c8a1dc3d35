//! The service `knowledge`: pages of blocks with Markdown in and out, and databases whose rows are pages with typed properties. It behaves
//! as Notion does where agents and benchmarks rely on it; Notion's wire shapes belong to a door.
//!
//! # A database as its author writes it
//!
//! `world/knowledge/vendors.yaml`. The loader passes everything but `rows` to `knowledge.define` and the rows to `knowledge.import_rows`;
//! pages are `.md` files for `knowledge.import_page`.
//!
//! ```yaml
//! title: Vendors
//! description: Who we buy from.
//! properties:                  # an object (in the order of the names, the title first) or a list of {name, type}
//!   Name: title                # a type alone is enough; without a title property there is one called Name
//!   Notes: text
//!   Limit: {type: number, format: euro}
//!   Tier: {type: select, options: [Gold, Silver]}       # an option that a row brings along is created
//!   Tags: {type: multi_select, options: [local, critical]}
//!   Status: {type: status, groups: {To-do: [Open], Complete: [Done]}}   # fixed options
//!   Renewal: date
//!   Owner: people
//!   Approved: checkbox
//!   Site: url
//!   Contact: email
//!   Hotline: phone
//!   Papers: files
//!   Parent: {type: relation, database: Vendors}         # by title or id; may be defined later; with back: Subsidiaries
//!                              # the property Subsidiaries there, {type: relation, database: Vendors, back: Parent}, always shows the other side
//!   Group limit: {type: rollup, relation: Parent, property: Limit, function: sum}
//!   Half: {type: formula, expression: 'if(empty(prop("Limit")), 0, prop("Limit") / 2)'}
//!   Created: created_time      # and last_edited_time, created_by, last_edited_by
//! rows:
//!   - Name: Rohde
//!     Limit: 1500
//!     Tier: Gold
//!     Tags: [local]
//!     Status: Open
//!     Renewal: "2026-03-31"    # or {start: …, end: …, zone: Europe/Berlin}; times in RFC 3339 with an offset
//!     Owner: [Ann Lee]
//!     Approved: true
//!     Contact: sales@rohde.example
//!   - Name: Rohde Nord
//!     Parent: [Rohde]          # rows by title or id, also of the same import
//!     markdown: "Call **before** ordering."   # the row's own content
//! ```
//!
//! Values are shown as they are written. A row always has every property: what is unset is `""` (title, text), `[]` (multi_select, people,
//! files, relation), `false` (checkbox) or null. Text of properties is plain. Rollup functions: `count`, `count_values`, `count_unique`,
//! `show_original`, `show_unique`, `empty`, `not_empty`, `percent_empty`, `percent_not_empty`, `sum`, `average`, `median`, `min`, `max`,
//! `range`, `earliest`, `latest`, `checked`, `unchecked`, `percent_checked`, `percent_unchecked`. What cannot be computed is `{"error": …}`.
//!
//! # Keys
//!
//! `knowledge:` what is at the root; `knowledge:page/ID` a page's title, parent and archive mark; `knowledge:page/ID/blocks` its content;
//! `knowledge:page/ID/children` the pages and databases in it; `knowledge:page/` and `knowledge:page/*` all pages and their content;
//! `knowledge:db/ID` a database's schema; `knowledge:db/ID/` its rows; `knowledge:db/ID/*` their content; `knowledge:row/ID` a row's archive
//! mark; `knowledge:row/ID/property` one property; `knowledge:row/ID/#edited` and `knowledge:page/ID/#edited` times (ungraded). A page's content is
//! one key: agents replace and append whole passages, and what was read is nearly always the page.

mod block;
mod date;
mod event;
mod filter;
mod folded;
mod formula;
mod markdown;
mod matching;
mod needle;
mod pages;
mod property;
mod query;
mod questions;
mod relations;
mod rollup;
mod rows;
mod scene;
mod schema;
mod search;
mod table;
#[cfg(test)]
mod tests;
mod tools;

use std::fmt;
use std::sync::Arc;

use dayshift_engine::{
    Applying, Canonical, Collection, Context, Decision, Difference, Frame, Graded, Looking, Rejection, Seq, SmolStr,
    StateDigest, ToolCall, ToolSpec, Value, map,
};
use imbl::{OrdMap, Vector};

pub use block::{BLOCK_DEPTH_MAX, BLOCK_TEXT_BYTES_MAX, Block, BlockKind, PAGE_BLOCKS_MAX, TABLE_CELLS_MAX};
pub use event::{KnowledgeEvent, NewRow};
pub use filter::{FILTER_CONDITIONS_MAX, FILTER_DEPTH_MAX};
pub use formula::{FORMULA_BYTES_MAX, FORMULA_DEPTH_MAX, FORMULA_TEXT_BYTES_MAX};
pub use markdown::MARKDOWN_BYTES_MAX;
pub use pages::{PAGE_LEVELS_MAX, PAGES_MAX};
pub use property::{PROPERTY_BYTES_MAX, PROPERTY_ITEMS_MAX};
pub use query::{QUERY_ROWS_DEFAULT, QUERY_ROWS_MAX, SORTS_MAX};
pub use relations::RELATED_ROWS_MAX;
pub use rows::{DATABASES_MAX, IMPORT_ROWS_MAX, ROWS_MAX};
pub use scene::{COMPUTE_DEPTH_MAX, COMPUTE_STEPS_MAX};
pub use schema::{NAME_BYTES_MAX, OPTIONS_MAX, PROPERTIES_MAX};
pub use search::{SEARCH_RESULTS_DEFAULT, SEARCH_RESULTS_MAX};

use self::block::Content;
use self::folded::Folded;
use self::relations::Back;
use self::scene::Scene;
use self::schema::Schema;
use self::table::{Stamps, Table};
use crate::service::{Desk, Service};

/// The state of all pages and databases.
#[derive(Clone, Debug)]
pub struct KnowledgeState {
    pages: Collection<SmolStr, Page>,
    contents: Collection<ContentOf, Content>,
    stamps: Collection<StampsOf, Stamps>,
    databases: Collection<SmolStr, Database>,
    tables: OrdMap<SmolStr, Arc<Table>>,
    /// Derived: what is in what, in the order of creation. Archived ones stay.
    children: Collection<ChildrenOf, Children>,
    /// Derived: what each id stands for.
    nodes: OrdMap<SmolStr, Node>,
    /// Derived: what a search can find.
    folded: Folded,
    positions: u64,
}

/// One page that is not a row.
#[derive(Clone, Debug)]
struct Page {
    title: SmolStr,
    parent: Option<SmolStr>,
    archived: bool,
    /// It was the so-many-th thing of the office.
    position: u64,
}

/// What a database is.
#[derive(Clone, Debug)]
struct Database {
    schema: Arc<Schema>,
    parent: Option<SmolStr>,
    archived: bool,
    position: u64,
}

/// What an id stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    Page,
    Database,
    /// A row of a database.
    Row(SmolStr),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ContentOf(SmolStr);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct StampsOf(SmolStr);

/// The children of a page or of the root.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ChildrenOf(Option<SmolStr>);

#[derive(Clone, Debug, Default, PartialEq)]
struct Children(Vector<SmolStr>);

impl KnowledgeState {
    /// Returns an office without pages.
    #[must_use]
    pub fn new() -> Self {
        Self {
            pages: Collection::new("knowledge:page/"),
            contents: Collection::new("knowledge:page/"),
            stamps: Collection::ungraded("knowledge:page/"),
            databases: Collection::new("knowledge:db/"),
            tables: OrdMap::new(),
            children: Collection::ungraded("knowledge:"),
            nodes: OrdMap::new(),
            folded: Folded::default(),
            positions: 0,
        }
    }

    /// Returns the content of a page or row, and notes the read.
    fn content(&self, frame: &Frame, id: &SmolStr) -> Arc<Vec<Block>> {
        self.contents.get(frame, &ContentOf(id.clone())).map(|content| Arc::clone(&content.0)).unwrap_or_default()
    }

    fn next_position(&mut self) -> u64 {
        self.positions += 1;
        self.positions
    }

    fn adopt(&mut self, applying: &mut Applying<'_>, parent: Option<&SmolStr>, id: &SmolStr, node: Node) {
        self.nodes.insert(id.clone(), node);
        let key = ChildrenOf(parent.cloned());
        if !self.children.update(applying, &key, |children| children.0.push_back(id.clone())) {
            self.children.insert(applying, key, Children(Vector::unit(id.clone())));
        }
    }

    fn change_content(&mut self, applying: &mut Applying<'_>, id: &SmolStr, change: impl FnOnce(&mut Vec<Block>)) {
        let key = ContentOf(id.clone());
        if self.contents.peek(&key).is_none() {
            self.contents.insert(applying, key.clone(), Content::default());
        }
        self.contents.update(applying, &key, |content| change(Arc::make_mut(&mut content.0)));
    }

    fn touch(&mut self, applying: &mut Applying<'_>, id: &SmolStr, by: &SmolStr) {
        match self.nodes.get(id) {
            Some(Node::Row(database)) => {
                if let Some(table) = self.tables.get_mut(database) {
                    Arc::make_mut(table).touch(applying, id, by);
                }
            }
            Some(Node::Page | Node::Database) => {
                let time = applying.time;
                self.stamps.update(applying, &StampsOf(id.clone()), |stamps| {
                    stamps.edited = time;
                    stamps.edited_by = by.clone();
                });
            }
            None => {}
        }
    }

    fn create_rows(&mut self, applying: &mut Applying<'_>, database: &SmolStr, rows: Vec<NewRow>, by: &SmolStr) {
        let Some(schema) = self.databases.peek(database).map(|database| Arc::clone(&database.schema)) else { return };
        let ends: Vec<(usize, Back)> = schema
            .properties
            .iter()
            .enumerate()
            .filter_map(|(place, each)| Some((place, self.back(database, each)?)))
            .collect();
        let ids: Vec<SmolStr> = rows.iter().filter(|_| !ends.is_empty()).map(|row| row.id.clone()).collect();
        for row in rows {
            let position = self.next_position();
            self.nodes.insert(row.id.clone(), Node::Row(database.clone()));
            if let Some(table) = self.tables.get_mut(database) {
                let stamps = stamps(applying, by);
                Arc::make_mut(table).insert(applying, &schema, &row.id, position, row.values, stamps);
            }
            if !row.blocks.is_empty() {
                self.contents.insert(applying, ContentOf(row.id), Content(Arc::new(row.blocks)));
            }
        }
        // Rows of one record may lead to each other, so that all of them come first.
        for id in ids {
            for (place, back) in &ends {
                let row = self.tables.get(database).and_then(|table| table.peek_row(&id));
                let to = row.map(|row| row.value(*place).clone()).unwrap_or_default();
                self.follow(applying, back, &id, &Value::Null, &to);
            }
        }
    }

    fn change_row(&mut self, applying: &mut Applying<'_>, row: &SmolStr, changes: Vec<(SmolStr, Value)>) {
        let Some(Node::Row(database)) = self.nodes.get(row) else { return };
        let Some(schema) = self.databases.peek(database).map(|database| Arc::clone(&database.schema)) else { return };
        let database = database.clone();
        for (name, value) in changes {
            let Some((place, property)) = schema.property(&name) else { continue };
            let back = self.back(&database, property);
            let Some(table) = self.tables.get_mut(&database).map(Arc::make_mut) else { return };
            let from = table.peek_row(row).map(|row| row.value(place).clone()).filter(|_| back.is_some());
            table.set(applying, row, place, &property.name, value.clone());
            if let (Some(back), Some(from)) = (back, from) {
                self.follow(applying, &back, row, &from, &value);
            }
        }
    }

    fn archive(&mut self, applying: &mut Applying<'_>, id: &SmolStr, to: bool) {
        match self.nodes.get(id) {
            Some(Node::Page) => {
                self.pages.update(applying, id, |page| page.archived = to);
            }
            Some(Node::Database) => {
                self.databases.update(applying, id, |database| database.archived = to);
            }
            Some(Node::Row(database)) => {
                if let Some(table) = self.tables.get_mut(database) {
                    Arc::make_mut(table).archive(applying, id, to);
                }
            }
            None => {}
        }
    }
}

impl Default for KnowledgeState {
    fn default() -> Self {
        Self::new()
    }
}

impl Service for KnowledgeState {
    type Event = KnowledgeEvent;

    const TOOLS: &'static [ToolSpec] = tools::TOOLS;

    fn decide(
        &self,
        call: &ToolCall,
        desk: &Desk,
        context: &Context<'_>,
    ) -> Result<Decision<KnowledgeEvent>, Rejection> {
        let scene = Scene { state: self, frame: context.frame, desk, time: context.time };
        // Whatever is read, Markdown above all, is touched a few times.
        let given = scene::size(&call.arguments);
        context.budget().work(32 * given as u64)?;
        let decided = match call.tool.as_str() {
            "knowledge.search" => search::search(&scene, call).map(Decision::answer),
            "knowledge.read_page" => pages::read(&scene, call).map(Decision::answer),
            "knowledge.create_page" => pages::create(&scene, call, context),
            "knowledge.import_page" => pages::import(&scene, call, context),
            "knowledge.rename_page" => pages::rename(&scene, call),
            "knowledge.append" => pages::append(&scene, call, context),
            "knowledge.replace_block" => pages::replace(&scene, call, context),
            "knowledge.delete_block" => pages::delete(&scene, call),
            "knowledge.archive" => pages::archive(&scene, call, true),
            "knowledge.restore" => pages::archive(&scene, call, false),
            "knowledge.databases" => Ok(Decision::answer(rows::databases(&scene))),
            "knowledge.database" => rows::database(&scene, call).map(Decision::answer),
            "knowledge.query" => query::query(&scene, call).map(Decision::answer),
            "knowledge.create_row" => rows::create(&scene, call, context),
            "knowledge.update_row" => rows::update(&scene, call),
            "knowledge.define" => rows::define(&scene, call, context),
            "knowledge.import_rows" => rows::import(&scene, call, context),
            other => Err(Rejection::new("call/unknown-tool", format!("knowledge has no tool '{other}'"))),
        };
        // Values are computed, and filters held, until the budget is used up; what they came to then is no answer.
        context.budget().bytes(1)?;
        decided
    }

    fn apply(&mut self, event: KnowledgeEvent, applying: &mut Applying<'_>) {
        let touched = folded::touched(&event);
        match event {
            KnowledgeEvent::PageCreated { id, title, parent, blocks, by } => {
                let position = self.next_position();
                self.adopt(applying, parent.as_ref(), &id, Node::Page);
                self.contents.insert(applying, ContentOf(id.clone()), Content(Arc::new(blocks)));
                self.stamps.insert(applying, StampsOf(id.clone()), stamps(applying, &by));
                self.pages.insert(applying, id, Page { title, parent, archived: false, position });
            }
            KnowledgeEvent::PageRetitled { page, title, by } => {
                self.pages.update(applying, &page, |page| page.title = title);
                self.touch(applying, &page, &by);
            }
            KnowledgeEvent::BlocksAppended { page, blocks, by } => {
                self.change_content(applying, &page, |content| content.extend(blocks));
                self.touch(applying, &page, &by);
            }
            KnowledgeEvent::BlockReplaced { page, block, blocks, by } => {
                self.change_content(applying, &page, |content| {
                    block::replace(content, &block, &blocks);
                });
                self.touch(applying, &page, &by);
            }
            KnowledgeEvent::DatabaseDefined { id, parent, definition, by } => {
                // `decide` has read the same definition; a log that says otherwise changes nothing.
                let Ok(schema) = schema::read(&definition) else { return };
                let position = self.next_position();
                self.adopt(applying, parent.as_ref(), &id, Node::Database);
                self.tables.insert(id.clone(), Arc::new(Table::new(&id)));
                self.stamps.insert(applying, StampsOf(id.clone()), stamps(applying, &by));
                let database = Database { schema: Arc::new(schema), parent, archived: false, position };
                self.databases.insert(applying, id, database);
            }
            KnowledgeEvent::OptionsAdded { database, property, options } => {
                self.databases.update(applying, &database, |database| {
                    Arc::make_mut(&mut database.schema).add_options(&property, options);
                });
            }
            KnowledgeEvent::RowsCreated { database, rows, by } => self.create_rows(applying, &database, rows, &by),
            KnowledgeEvent::RowChanged { row, changes, by } => {
                self.change_row(applying, &row, changes);
                self.touch(applying, &row, &by);
            }
            KnowledgeEvent::ArchiveChanged { id, archived, by } => {
                self.archive(applying, &id, archived);
                self.touch(applying, &id, &by);
            }
        }
        touched.iter().for_each(|id| self.fold_text(id));
    }

    fn query(&self, verb: &str, arguments: &Value, desk: &Desk, looking: &Looking<'_>) -> Result<Value, Rejection> {
        let scene = Scene { state: self, frame: looking.frame, desk, time: looking.time };
        let answer = questions::answer(&scene, verb, arguments);
        looking.budget().bytes(1)?;
        answer
    }

    fn digest(&self) -> StateDigest {
        let tables = self.tables.values().map(|table| table.digest());
        tables.chain([self.pages.digest(), self.contents.digest(), self.databases.digest()]).sum()
    }

    fn differences(&self, other: &Self, into: &mut Vec<Difference>) {
        let show = |key, left: Option<Value>, right: Option<Value>| Difference { key, left, right };
        let pages = self.pages.differences(&other.pages).into_iter();
        into.extend(pages.map(|(key, left, right)| show(key, left.map(Page::value), right.map(Page::value))));
        let text = |content: &Content| Value::from(markdown::text(&content.0));
        let contents = self.contents.differences(&other.contents).into_iter();
        into.extend(contents.map(|(key, left, right)| show(key, left.map(text), right.map(text))));
        let databases = self.databases.differences(&other.databases).into_iter();
        into.extend(
            databases.map(|(key, left, right)| show(key, left.map(Database::value), right.map(Database::value))),
        );
        let ids: std::collections::BTreeSet<&SmolStr> = self.tables.keys().chain(other.tables.keys()).collect();
        for id in ids {
            match (self.tables.get(id), other.tables.get(id)) {
                (Some(here), Some(there)) if Arc::ptr_eq(here, there) => {}
                (Some(here), Some(there)) => here.differences(there, into),
                (Some(here), None) => here.differences(&Table::new(id), into),
                (None, Some(there)) => Table::new(id).differences(there, into),
                (None, None) => {}
            }
        }
    }

    fn dump(&self) -> Value {
        let pages = self.pages.peek_all().map(|(id, page)| {
            let mut value = page.value();
            if let Value::Map(map) = &mut value {
                let content = self.contents.peek(&ContentOf(id.clone()));
                map.insert("markdown".into(), content.map(|content| markdown::text(&content.0)).into());
            }
            (id.clone(), value)
        });
        let databases = self.databases.peek_all().map(|(id, database)| {
            let mut value = database.value();
            if let (Value::Map(map), Some(table)) = (&mut value, self.tables.get(id)) {
                let rows = table.peek_rows().map(|row| {
                    let properties = database.schema.properties.iter().enumerate();
                    let properties = properties.map(|(place, each)| (each.name.clone(), row.value(place).clone()));
                    let content = self.contents.peek(&ContentOf(row.id.clone()));
                    let markdown: Value = content.map(|content| markdown::text(&content.0)).into();
                    let properties = Value::Map(properties.collect());
                    (
                        row.id.clone(),
                        map! { "archived" => row.archived, "properties" => properties, "markdown" => markdown },
                    )
                });
                map.insert("rows".into(), Value::Map(rows.collect()));
            }
            (id.clone(), value)
        });
        map! { "pages" => Value::Map(pages.collect()), "databases" => Value::Map(databases.collect()) }
    }
}

/// Where among all others a page was created makes no difference between two worlds.
impl PartialEq for Page {
    fn eq(&self, other: &Self) -> bool {
        (&self.title, &self.parent, self.archived) == (&other.title, &other.parent, other.archived)
    }
}

impl PartialEq for Database {
    fn eq(&self, other: &Self) -> bool {
        (&self.schema, &self.parent, self.archived) == (&other.schema, &other.parent, other.archived)
    }
}

impl Page {
    fn value(&self) -> Value {
        map! { "title" => self.title.clone(), "parent" => self.parent.clone(), "archived" => self.archived }
    }
}

impl Database {
    fn value(&self) -> Value {
        map! {
            "title" => self.schema.title.clone(),
            "parent" => self.parent.clone(),
            "archived" => self.archived,
            "properties" => self.schema.describe(),
        }
    }
}

fn stamps(applying: &Applying<'_>, by: &SmolStr) -> Stamps {
    Stamps { created: applying.time, created_by: by.clone(), edited: applying.time, edited_by: by.clone() }
}

/// Gives the ids of one record: UUIDs in form, made of the record's position and a counter, so that they sort in the order of creation.
struct Ids {
    seq: u64,
    given: u64,
}

impl Ids {
    fn new(seq: Seq) -> Self {
        Self { seq: seq.get(), given: 0 }
    }

    fn next(&mut self) -> SmolStr {
        self.given += 1;
        let (high, low) = (self.seq >> 16, self.seq & 0xffff);
        SmolStr::from(format!("{:08x}-{low:04x}-4000-8000-{:012x}", high & 0xffff_ffff, self.given & 0xffff_ffff_ffff))
    }

    /// Gives ids to blocks that have none.
    fn label(&mut self, blocks: &mut [Block]) {
        for block in blocks {
            block.id = self.next();
            self.label(&mut block.children);
        }
    }
}

impl fmt::Display for ContentOf {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/blocks", self.0)
    }
}

impl fmt::Display for StampsOf {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/#edited", self.0)
    }
}

impl fmt::Display for ChildrenOf {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => Ok(()),
            Some(page) => write!(formatter, "page/{page}/children"),
        }
    }
}

impl Graded for Page {
    fn canonical(&self, into: &mut Canonical) {
        into.text(&self.title);
        into.text(self.parent.as_deref().unwrap_or_default());
        into.bool(self.archived);
    }
}

impl Graded for Database {
    fn canonical(&self, into: &mut Canonical) {
        self.schema.canonical(into);
        into.text(self.parent.as_deref().unwrap_or_default());
        into.bool(self.archived);
    }
}

impl Graded for Children {
    fn canonical(&self, _: &mut Canonical) {}
}
