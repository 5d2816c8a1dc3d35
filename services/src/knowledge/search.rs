//! `knowledge.search`: pages, databases and rows whose title, content or text has the words in it. Titles come before content, and within
//! each what was created first.

use dayshift_engine::{Rejection, SmolStr, ToolCall, Value, map};

use super::block::Block;
use super::needle::Needle;
use super::query::limit;
use super::scene::Scene;
use super::schema::{NAME_BYTES_MAX, PropertyKind};
use super::table::Row;
use super::{ContentOf, Node};

/// How many results a search may show.
pub const SEARCH_RESULTS_MAX: usize = 100;

/// How many results a search shows when nothing is said.
pub const SEARCH_RESULTS_DEFAULT: usize = 20;

/// One hit. The order of the fields is the order of results.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Hit {
    /// 0: the title is it; 1: it is in the title; 2: it is in the content.
    rank: u8,
    position: u64,
    id: SmolStr,
}

/// Answers a search.
pub(super) fn search(scene: &Scene<'_>, call: &ToolCall) -> Result<Value, Rejection> {
    let limit = limit(call, SEARCH_RESULTS_DEFAULT, SEARCH_RESULTS_MAX)?;
    let query = call.text("query").trim();
    if query.len() > NAME_BYTES_MAX {
        return Err(Rejection::new(
            "knowledge/too-large",
            format!("a query has at most {NAME_BYTES_MAX} bytes; search for fewer words"),
        ));
    }
    let pattern = Needle::new(query);
    let kind = call.optional_text("kind");
    let wants = |one: &str| kind.is_none_or(|kind| kind == one);
    let finder = Finder { scene, query, pattern };
    finder.note(wants("page"), wants("database"), wants("row"));
    let mut hits: Vec<Hit> = scene
        .state
        .folded
        .holding(finder.pattern.lower(), scene.frame.budget())
        .filter_map(|id| match scene.state.nodes.get(id)? {
            Node::Page if wants("page") => finder.page(id),
            Node::Database if wants("database") => finder.database(id),
            Node::Row(database) if wants("row") => finder.row(id, database),
            Node::Page | Node::Database | Node::Row(_) => None,
        })
        .collect();
    hits.sort_unstable();
    let total = hits.len();
    let results = hits.into_iter().take(limit).map(|hit| finder.show(&hit)).collect();
    Ok(map! { "results" => Value::List(results), "total" => total })
}

struct Finder<'s, 'a> {
    scene: &'s Scene<'a>,
    query: &'s str,
    pattern: Needle,
}

impl Finder<'_, '_> {
    fn rank(&self, title: &str, in_content: impl FnOnce() -> bool) -> Option<u8> {
        if title.eq_ignore_ascii_case(self.query) {
            return Some(0);
        }
        if self.pattern.is_in(title) {
            return Some(1);
        }
        in_content().then_some(2)
    }

    /// Notes what the answer rests on: which pages, databases and rows there are, and what all of them say.
    fn note(&self, pages: bool, databases: bool, rows: bool) {
        let (state, frame) = (self.scene.state, self.scene.frame);
        if pages || rows {
            drop(state.contents.scan(frame));
        }
        if pages {
            drop(state.pages.scan(frame));
        }
        if databases || rows {
            for (id, database) in state.databases.scan(frame) {
                if rows && let Some(table) = state.tables.get(id).filter(|_| !database.archived) {
                    table.note_scan(frame);
                }
            }
        }
    }

    fn page(&self, id: &SmolStr) -> Option<Hit> {
        let page = self.scene.state.pages.peek(id)?;
        if page.archived || self.is_below_archived(page.parent.as_ref()) {
            return None;
        }
        let rank = self.rank(&page.title, || self.is_sure() || self.in_content(id))?;
        Some(Hit { rank, position: page.position, id: id.clone() })
    }

    fn database(&self, id: &SmolStr) -> Option<Hit> {
        let database = self.scene.state.databases.peek(id)?;
        if database.archived || self.is_below_archived(database.parent.as_ref()) {
            return None;
        }
        let schema = &database.schema;
        let rank = self.rank(&schema.title, || self.pattern.is_in(&schema.description))?;
        Some(Hit { rank, position: database.position, id: id.clone() })
    }

    fn row(&self, id: &SmolStr, database: &SmolStr) -> Option<Hit> {
        let state = self.scene.state;
        let schema = &state.databases.peek(database).filter(|database| !database.archived)?.schema;
        let row = state.tables.get(database)?.peek_row(id).filter(|row| !row.archived)?;
        let title = row.value(schema.title_place()).as_text().unwrap_or_default();
        let rank = self.rank(title, || self.is_sure() || self.in_properties(row) || self.in_content(id))?;
        Some(Hit { rank, position: row.position, id: id.clone() })
    }

    /// Returns whether the folded text alone tells what is found: nothing is found across two pieces of it.
    fn is_sure(&self) -> bool {
        !self.pattern.lower().contains('\n')
    }

    /// Returns whether any text of a row's properties has it.
    fn in_properties(&self, row: &Row) -> bool {
        row.values().any(|value| match value {
            Value::Text(text) => self.pattern.is_in(text),
            Value::List(items) => items.iter().filter_map(Value::as_text).any(|item| self.pattern.is_in(item)),
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Map(_) => false,
        })
    }

    /// Returns whether the content of a page or row has it.
    fn in_content(&self, id: &SmolStr) -> bool {
        let content = self.scene.state.contents.peek(&ContentOf(id.clone()));
        content.is_some_and(|content| content.0.iter().any(|block| self.passage(block).is_some()))
    }

    /// Returns the text of the first block that has it.
    fn passage<'b>(&self, block: &'b Block) -> Option<&'b str> {
        if self.pattern.is_in(&block.text) {
            return Some(&block.text);
        }
        if let super::BlockKind::Table { rows } = &block.kind
            && let Some(cell) = rows.iter().flatten().find(|cell| self.pattern.is_in(cell))
        {
            return Some(cell);
        }
        block.children.iter().find_map(|child| self.passage(child))
    }

    fn is_below_archived(&self, parent: Option<&SmolStr>) -> bool {
        let mut above = parent;
        while let Some(id) = above {
            match self.scene.state.pages.peek(id) {
                Some(page) if page.archived => return true,
                Some(page) => above = page.parent.as_ref(),
                None => return false,
            }
        }
        false
    }

    fn show(&self, hit: &Hit) -> Value {
        let scene = self.scene;
        let mut value = map! { "id" => hit.id.clone(), "title" => scene.title(&hit.id) };
        let Value::Map(map) = &mut value else { return value };
        let (kind, place) = match scene.state.nodes.get(&hit.id) {
            Some(Node::Database) => ("database", None),
            Some(Node::Row(database)) => ("row", Some(("database", scene.title(database)))),
            Some(Node::Page) | None => {
                let parent = scene.state.pages.get(scene.frame, &hit.id).and_then(|page| page.parent.clone());
                ("page", parent.map(|parent| ("parent", scene.title(&parent))))
            }
        };
        map.insert("kind".into(), kind.into());
        if let Some((name, title)) = place {
            map.insert(name.into(), title.into());
        }
        if hit.rank == 2 {
            let content = scene.state.content(scene.frame, &hit.id);
            let passage = content.iter().find_map(|block| self.passage(block)).map(SmolStr::from);
            let passage = passage.or_else(|| self.property(&hit.id));
            map.insert("passage".into(), passage.into());
        }
        value
    }

    /// Returns the property of a row that has it, as `name: text`, and notes the read.
    fn property(&self, id: &SmolStr) -> Option<SmolStr> {
        let (found, row) = self.scene.row(id)?;
        let view = found.table.peek_row(&row)?;
        let properties = found.schema().properties.iter().enumerate();
        let mut texts =
            properties.filter(|(_, property)| property.kind.is_stored() && property.kind != PropertyKind::Checkbox);
        texts.find_map(|(place, property)| {
            let text = match view.value(place) {
                Value::Text(text) => text.to_string(),
                Value::List(items) => items.iter().filter_map(Value::as_text).collect::<Vec<_>>().join(", "),
                Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Map(_) => return None,
            };
            self.pattern.is_in(&text).then(|| {
                found.table.value(Some(self.scene.frame), &row, place, &property.name);
                SmolStr::from(format!("{}: {text}", property.name))
            })
        })
    }
}
