//! Reading and changing pages: titles, content, places, the archive. What is said of a page's content holds for a row's too.

use std::sync::Arc;

use dayshift_engine::{BlobId, Context, Decision, Rejection, SmolStr, ToolCall, Value, map};

use super::block::{self, BLOCK_DEPTH_MAX, Block, PAGE_BLOCKS_MAX};
use super::event::KnowledgeEvent;
use super::scene::Scene;
use super::schema::NAME_BYTES_MAX;
use super::{ChildrenOf, Ids, Node, StampsOf, markdown};

/// How many pages there may be, rows not counted.
pub const PAGES_MAX: usize = 10_000;

/// How deep pages may lie in pages.
pub const PAGE_LEVELS_MAX: usize = 32;

type Decided = Result<Decision<KnowledgeEvent>, Rejection>;

/// Answers `knowledge.read_page`.
pub(super) fn read(scene: &Scene<'_>, call: &ToolCall) -> Result<Value, Rejection> {
    let id = scene.page(call.text("page"))?;
    let content = scene.state.content(scene.frame, &id);
    let mut value = map! { "id" => id.clone(), "title" => scene.title(&id), "markdown" => markdown::text(&content) };
    let Value::Map(map) = &mut value else { return Ok(value) };
    let archived = match scene.row(&id) {
        Some((found, row)) => {
            map.insert("kind".into(), "row".into());
            map.insert("database".into(), map! { "id" => found.id.clone(), "title" => found.schema().title.clone() });
            map.insert("properties".into(), scene.properties(found, &row));
            found.table.archived(scene.frame, &row) == Some(true)
        }
        None => {
            map.insert("kind".into(), "page".into());
            let page = scene.state.pages.get(scene.frame, &id);
            let parent = page.and_then(|page| page.parent.clone());
            let parent = parent.map(|parent| map! { "id" => parent.clone(), "title" => scene.title(&parent) });
            map.insert("parent".into(), parent.into());
            page.is_some_and(|page| page.archived)
        }
    };
    if archived {
        map.insert("archived".into(), true.into());
    }
    let (pages, databases) = children(scene, Some(id.clone()));
    map.insert("pages".into(), pages);
    map.insert("databases".into(), databases);
    if call.flag("with_blocks") {
        map.insert("blocks".into(), Value::List(content.iter().map(Block::value).collect()));
    }
    if call.flag("with_times") {
        scene.add_times(&id, &mut value);
    }
    Ok(value)
}

/// Returns the pages and the databases that are in a page, or at the root, in the order of creation and without archived ones.
pub(super) fn children(scene: &Scene<'_>, parent: Option<SmolStr>) -> (Value, Value) {
    let (mut pages, mut databases) = (Vec::new(), Vec::new());
    let Some(children) = scene.state.children.get(scene.frame, &ChildrenOf(parent)) else {
        return (Value::List(pages), Value::List(databases));
    };
    for id in &children.0 {
        match scene.state.nodes.get(id) {
            Some(Node::Page) => {
                if let Some(page) = scene.state.pages.get(scene.frame, id).filter(|page| !page.archived) {
                    pages.push(map! { "id" => id.clone(), "title" => page.title.clone() });
                }
            }
            Some(Node::Database) => {
                if let Some(found) = scene.database_by_id(id).filter(|found| !found.database.archived) {
                    databases.push(map! { "id" => id.clone(), "title" => found.schema().title.clone() });
                }
            }
            Some(Node::Row(_)) | None => {}
        }
    }
    (Value::List(pages), Value::List(databases))
}

/// Decides `knowledge.create_page`.
pub(super) fn create(scene: &Scene<'_>, call: &ToolCall, context: &Context<'_>) -> Decided {
    create_with(scene, call, call.text("title"), call.text("markdown"), context)
}

/// Decides `knowledge.import_page`: the title is the first heading of the Markdown, if it opens with one, or the file's name. Front matter is
/// the business of whoever reads the file, and no content.
pub(super) fn import(scene: &Scene<'_>, call: &ToolCall, context: &Context<'_>) -> Decided {
    let text = blob_text(call.text("blob"), context)?;
    let text = without_front_matter(&text);
    let name = call.optional_text("path").unwrap_or_default();
    let name = name.rsplit('/').next().unwrap_or_default();
    let name = name.strip_suffix(".md").unwrap_or(name);
    let heading = text.trim_start().strip_prefix("# ").map(|rest| rest.split_once('\n').unwrap_or((rest, "")));
    let (title, body) = match (call.optional_text("title"), heading) {
        (Some(title), _) => (title, text),
        (None, Some((title, body))) => (title, body),
        (None, None) => (name, text),
    };
    create_with(scene, call, title.trim(), body, context)
}

/// Returns `text` without what stands between a first line `---` and the next one, if there are two.
fn without_front_matter(text: &str) -> &str {
    let mut lines = text.split_inclusive('\n');
    let is_mark = |line: &str| line.trim_end_matches(['\r', '\n']) == "---";
    let Some(first) = lines.next().filter(|line| is_mark(line)) else { return text };
    let mut at = first.len();
    for line in lines {
        at += line.len();
        if is_mark(line) {
            return &text[at..];
        }
    }
    text
}

fn create_with(scene: &Scene<'_>, call: &ToolCall, title: &str, markdown: &str, context: &Context<'_>) -> Decided {
    let title = page_title(title)?;
    if scene.state.pages.len() >= PAGES_MAX {
        return Err(Rejection::new(
            "knowledge/too-many-pages",
            format!("there are {PAGES_MAX} pages, the most that there may be"),
        ));
    }
    let parent = parent(scene, call.optional_text("parent"))?;
    let mut ids = Ids::new(context.seq);
    let id = given_id(scene, call.optional_text("id"))?.unwrap_or_else(|| ids.next());
    let mut blocks = markdown::blocks(markdown)?;
    check(&blocks)?;
    ids.label(&mut blocks);
    let answer = map! { "id" => id.clone(), "title" => title.clone() };
    let event = KnowledgeEvent::PageCreated { id, title, parent, blocks, by: scene.desk.name.clone() };
    Ok(Decision::change(vec![event], answer))
}

/// Returns the id that an author gave, if it is free.
pub(super) fn given_id(scene: &Scene<'_>, id: Option<&str>) -> Result<Option<SmolStr>, Rejection> {
    let Some(id) = id else { return Ok(None) };
    let good = !id.is_empty()
        && id.len() <= 64
        && id.chars().all(|each| each.is_ascii_alphanumeric() || each == '-' || each == '_');
    if !good {
        return Err(Rejection::new(
            "knowledge/bad-id",
            format!("the id '{id}' must be 1 to 64 letters, digits, - or _"),
        ));
    }
    if scene.state.nodes.contains_key(id) {
        return Err(Rejection::new(
            "knowledge/id-taken",
            format!("there is something with the id '{id}' already; choose another"),
        ));
    }
    Ok(Some(id.into()))
}

/// Returns the id of the page that something new goes into.
pub(super) fn parent(scene: &Scene<'_>, name: Option<&str>) -> Result<Option<SmolStr>, Rejection> {
    let Some(name) = name else { return Ok(None) };
    let id = scene.page(name)?;
    let mut levels = 1;
    let mut above = Some(id.clone());
    while let Some(page) = above {
        let page = scene.state.pages.get(scene.frame, &page);
        if page.is_some_and(|page| page.archived) {
            return Err(Rejection::new("knowledge/archived", format!("'{name}' is in the archive; restore it first")));
        }
        levels += 1;
        above = page.and_then(|page| page.parent.clone());
    }
    if levels > PAGE_LEVELS_MAX {
        return Err(Rejection::new(
            "knowledge/too-deep",
            format!("pages lie at most {PAGE_LEVELS_MAX} levels deep; choose a parent further up"),
        ));
    }
    Ok(Some(id))
}

/// Decides `knowledge.rename_page`.
pub(super) fn rename(scene: &Scene<'_>, call: &ToolCall) -> Decided {
    let page = scene.page(call.text("page"))?;
    live(scene, &page)?;
    let title = page_title(call.text("title"))?;
    let by = scene.desk.name.clone();
    let answer = map! { "id" => page.clone(), "title" => title.clone() };
    let event = match scene.row(&page) {
        Some((found, row)) => {
            let name = found.schema().properties[found.schema().title_place()].name.clone();
            KnowledgeEvent::RowChanged { row, changes: vec![(name, Value::Text(title))], by }
        }
        None => KnowledgeEvent::PageRetitled { page, title, by },
    };
    Ok(Decision::change(vec![event], answer))
}

/// Decides `knowledge.append`.
pub(super) fn append(scene: &Scene<'_>, call: &ToolCall, context: &Context<'_>) -> Decided {
    let page = scene.page(call.text("page"))?;
    live(scene, &page)?;
    let mut blocks = markdown::blocks(call.text("markdown"))?;
    if blocks.is_empty() {
        return Err(Rejection::new("knowledge/nothing-to-add", "the Markdown has no block in it; write some text"));
    }
    let content = scene.state.content(scene.frame, &page);
    let mut all: Vec<Block> = content.to_vec();
    all.extend(blocks.iter().cloned());
    check(&all)?;
    Ids::new(context.seq).label(&mut blocks);
    let ids: Value = blocks.iter().map(|block| block.id.clone()).collect();
    let event = KnowledgeEvent::BlocksAppended { page: page.clone(), blocks, by: scene.desk.name.clone() };
    Ok(Decision::change(vec![event], map! { "page" => page, "blocks" => ids }))
}

/// Decides `knowledge.replace_block`.
pub(super) fn replace(scene: &Scene<'_>, call: &ToolCall, context: &Context<'_>) -> Decided {
    let mut blocks = markdown::blocks(call.text("markdown"))?;
    if blocks.is_empty() {
        return Err(Rejection::new(
            "knowledge/nothing-to-add",
            "the Markdown has no block in it; to take a block out, use knowledge.delete_block",
        ));
    }
    Ids::new(context.seq).label(&mut blocks);
    change_block(scene, call, blocks)
}

/// Decides `knowledge.delete_block`.
pub(super) fn delete(scene: &Scene<'_>, call: &ToolCall) -> Decided {
    change_block(scene, call, Vec::new())
}

fn change_block(scene: &Scene<'_>, call: &ToolCall, blocks: Vec<Block>) -> Decided {
    let page = scene.page(call.text("page"))?;
    live(scene, &page)?;
    let block = SmolStr::from(call.text("block"));
    let content = scene.state.content(scene.frame, &page);
    if block::find(&content, &block).is_none() {
        return Err(Rejection::new(
            "knowledge/unknown-block",
            format!("the page has no block '{block}'; read it with with_blocks to see the ids"),
        ));
    }
    let mut after = Arc::unwrap_or_clone(content);
    block::replace(&mut after, &block, &blocks);
    check(&after)?;
    let ids: Value = blocks.iter().map(|block| block.id.clone()).collect();
    let event = KnowledgeEvent::BlockReplaced { page: page.clone(), block, blocks, by: scene.desk.name.clone() };
    Ok(Decision::change(vec![event], map! { "page" => page, "blocks" => ids }))
}

/// Decides `knowledge.archive` and `knowledge.restore`.
pub(super) fn archive(scene: &Scene<'_>, call: &ToolCall, to: bool) -> Decided {
    let name = call.text("page");
    let id = match scene.find_page(name)? {
        Some(id) => id,
        // A database is found by its title after pages and rows.
        None => match scene.find_database(name)? {
            Some(found) => found.id.clone(),
            None => {
                return Err(Rejection::new(
                    "knowledge/unknown-page",
                    format!(
                        "there is no page, row or database '{name}'; what is in the archive is found by its id only"
                    ),
                ));
            }
        },
    };
    if is_archived(scene, &id) == to {
        let (code, message) = if to {
            ("knowledge/archived", format!("'{name}' is in the archive already"))
        } else {
            ("knowledge/not-archived", format!("'{name}' is not in the archive; there is nothing to restore"))
        };
        return Err(Rejection::new(code, message));
    }
    let answer = map! { "id" => id.clone(), "archived" => to };
    let event = KnowledgeEvent::ArchiveChanged { id, archived: to, by: scene.desk.name.clone() };
    Ok(Decision::change(vec![event], answer))
}

/// Makes sure that a page or row is not in the archive.
pub(super) fn live(scene: &Scene<'_>, id: &SmolStr) -> Result<(), Rejection> {
    if is_archived(scene, id) {
        let title = scene.title(id);
        return Err(Rejection::new(
            "knowledge/archived",
            format!("'{title}' is in the archive; restore it before changing it"),
        ));
    }
    Ok(())
}

fn is_archived(scene: &Scene<'_>, id: &SmolStr) -> bool {
    match scene.state.nodes.get(id) {
        Some(Node::Page) => scene.state.pages.get(scene.frame, id).is_some_and(|page| page.archived),
        Some(Node::Database) => scene.database_by_id(id).is_some_and(|found| found.database.archived),
        Some(Node::Row(_)) => {
            scene.row(id).is_some_and(|(found, row)| found.table.archived(scene.frame, &row) == Some(true))
        }
        None => false,
    }
}

/// Makes sure that a page's content keeps within the limits.
pub(super) fn check(blocks: &[Block]) -> Result<(), Rejection> {
    if block::depth(blocks) > BLOCK_DEPTH_MAX {
        return Err(Rejection::new(
            "knowledge/too-deep",
            format!("the blocks would nest deeper than {BLOCK_DEPTH_MAX} levels; put them further out"),
        ));
    }
    if block::count(blocks) > PAGE_BLOCKS_MAX {
        return Err(Rejection::new(
            "knowledge/too-many-blocks",
            format!("the page would have more than {PAGE_BLOCKS_MAX} blocks; start a sub-page"),
        ));
    }
    Ok(())
}

fn page_title(title: &str) -> Result<SmolStr, Rejection> {
    let title = title.trim();
    if title.is_empty() || title.len() > NAME_BYTES_MAX || title.contains(['\n', '\r']) {
        return Err(Rejection::new(
            "knowledge/bad-title",
            format!("a title is one line of 1 to {NAME_BYTES_MAX} bytes"),
        ));
    }
    Ok(title.into())
}

/// Returns the text of a blob. What is not UTF-8 is read as well as it can be.
pub(super) fn blob_text(blob: &str, context: &Context<'_>) -> Result<String, Rejection> {
    let unknown = || {
        Rejection::new(
            "knowledge/unknown-blob",
            format!("there is no blob '{blob}'; put the content into the store first"),
        )
    };
    let id: BlobId = blob.parse().map_err(|_| unknown())?;
    let bytes = context.blobs.get(id).ok_or_else(unknown)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned())
}

impl Scene<'_> {
    /// Adds when something was created and last edited, and by whom.
    pub(super) fn add_times(&self, id: &SmolStr, value: &mut Value) {
        let Value::Map(map) = value else { return };
        let stamps = match self.row(id) {
            Some((found, row)) => found.table.stamps(Some(self.frame), &row),
            None => self.state.stamps.get(self.frame, &StampsOf(id.clone())),
        };
        if let Some(stamps) = stamps {
            map.insert("created_time".into(), self.desk.show(stamps.created).into());
            map.insert("created_by".into(), stamps.created_by.clone().into());
            map.insert("last_edited_time".into(), self.desk.show(stamps.edited).into());
            map.insert("last_edited_by".into(), stamps.edited_by.clone().into());
        }
    }
}
