//! Databases and their rows: defining, importing, creating, changing.

use std::collections::BTreeMap;

use dayshift_engine::{Context, Decision, Rejection, SmolStr, ToolCall, Value, map};

use super::event::{KnowledgeEvent, NewRow};
use super::pages::{blob_text, check, given_id, live, parent};
use super::property::{self, Admitted};
use super::relations::{self, Ends};
use super::scene::{Found, Scene};
use super::schema::{self, OPTIONS_MAX};
use super::{Ids, Node, markdown};

/// How many databases there may be.
pub const DATABASES_MAX: usize = 500;

/// How many rows one database may have, archived ones included.
pub const ROWS_MAX: usize = 20_000;

/// How many rows one import may bring.
pub const IMPORT_ROWS_MAX: usize = 20_000;

type Decided = Result<Decision<KnowledgeEvent>, Rejection>;

/// Answers `knowledge.databases`.
pub(super) fn databases(scene: &Scene<'_>) -> Value {
    let mut databases: Vec<(u64, Value)> = Vec::new();
    let ids: Vec<SmolStr> = scene.state.databases.list(scene.frame).cloned().collect();
    for id in &ids {
        if let Some(found) = scene.database_by_id(id).filter(|found| !found.database.archived) {
            let names = found.schema().properties.iter().map(|property| property.name.clone());
            let value = map! {
                "id" => id.clone(),
                "title" => found.schema().title.clone(),
                "description" => found.schema().description.clone(),
                "parent" => found.database.parent.clone(),
                "properties" => names.collect::<Value>(),
            };
            databases.push((found.database.position, value));
        }
    }
    databases.sort_by_key(|(position, _)| *position);
    map! { "databases" => Value::List(databases.into_iter().map(|(_, value)| value).collect()) }
}

/// Answers `knowledge.database`.
pub(super) fn database(scene: &Scene<'_>, call: &ToolCall) -> Result<Value, Rejection> {
    let found = scene.database(call.text("database"))?;
    let mut value = map! {
        "id" => found.id.clone(),
        "title" => found.schema().title.clone(),
        "description" => found.schema().description.clone(),
        "parent" => found.database.parent.clone(),
        "properties" => found.schema().describe(),
    };
    if let Value::Map(map) = &mut value
        && found.database.archived
    {
        map.insert("archived".into(), true.into());
    }
    if call.flag("with_times") {
        scene.add_times(found.id, &mut value);
    }
    Ok(value)
}

/// Decides `knowledge.define`.
pub(super) fn define(scene: &Scene<'_>, call: &ToolCall, context: &Context<'_>) -> Decided {
    let mut definition = call.get("database").and_then(Value::as_map).cloned().unwrap_or_default();
    let given = definition.remove("id");
    let given = given.as_ref().and_then(Value::as_text);
    let into = definition.remove("parent");
    let into = parent(scene, into.as_ref().and_then(Value::as_text))?;
    let definition = Value::Map(definition);
    let schema = schema::read(&definition)?;
    if scene.state.databases.len() >= DATABASES_MAX {
        return Err(Rejection::new(
            "knowledge/too-many-databases",
            format!("there are {DATABASES_MAX} databases, the most that there may be"),
        ));
    }
    let id = given_id(scene, given)?.unwrap_or_else(|| Ids::new(context.seq).next());
    relations::check(scene, &id, &schema)?;
    let answer = map! { "id" => id.clone(), "title" => schema.title };
    let event = KnowledgeEvent::DatabaseDefined { id, parent: into, definition, by: scene.desk.name.clone() };
    Ok(Decision::change(vec![event], answer))
}

/// Decides `knowledge.create_row`.
pub(super) fn create(scene: &Scene<'_>, call: &ToolCall, context: &Context<'_>) -> Decided {
    let found = open(scene, call)?;
    let properties = call.get("properties").and_then(Value::as_map).cloned().unwrap_or_default();
    room(found, 1)?;
    let mut draft = Draft::new(*scene, found);
    let mut ids = Ids::new(context.seq);
    let row = draft.row(ids.next(), &properties, call.text("markdown"), &mut ids)?;
    let answer = map! { "id" => row.id.clone(), "database" => found.id.clone() };
    Ok(Decision::change(draft.finish(vec![row]), answer))
}

/// Decides `knowledge.update_row`.
pub(super) fn update(scene: &Scene<'_>, call: &ToolCall) -> Decided {
    let (found, row) = scene.expect_row(call.text("row"))?;
    live(scene, &row)?;
    let properties = call.get("properties").and_then(Value::as_map).cloned().unwrap_or_default();
    if properties.is_empty() {
        return Err(Rejection::new(
            "knowledge/nothing-to-change",
            format!("properties names nothing; '{}' has: {}", found.schema().title, found.schema().names()),
        ));
    }
    let mut draft = Draft::new(*scene, found);
    let changes = draft.values(&properties)?;
    for (name, to) in &changes {
        if let Some((place, property)) = found.schema().property(name)
            && scene.state.back(found.id, property).is_some()
        {
            let from = found.table.value(Some(scene.frame), &row, place, name);
            draft.ends.admit(scene, found, property, &row, from, to)?;
        }
    }
    let shown = changes.iter().map(|(name, value)| {
        let empty = || found.schema().property(name).map_or(Value::Null, |(_, property)| property.kind.empty());
        (name.clone(), if *value == Value::Null { empty() } else { value.clone() })
    });
    let answer = map! { "id" => row.clone(), "properties" => Value::Map(shown.collect()) };
    let mut events = draft.options();
    events.push(KnowledgeEvent::RowChanged { row, changes, by: scene.desk.name.clone() });
    Ok(Decision::change(events, answer))
}

/// Decides `knowledge.import_rows`.
pub(super) fn import(scene: &Scene<'_>, call: &ToolCall, context: &Context<'_>) -> Decided {
    let found = open(scene, call)?;
    let rows = match (call.get("rows"), call.optional_text("blob")) {
        (Some(Value::List(rows)), None) => rows.clone(),
        (None, Some(blob)) => csv_rows(found, &blob_text(blob, context)?)?,
        _ => {
            return Err(Rejection::new(
                "knowledge/bad-import",
                "an import takes either rows or the blob of a CSV file",
            ));
        }
    };
    if rows.len() > IMPORT_ROWS_MAX {
        return Err(Rejection::new(
            "knowledge/too-many-rows",
            format!("{} rows are too many for one import; bring at most {IMPORT_ROWS_MAX} at once", rows.len()),
        ));
    }
    room(found, rows.len())?;
    let mut draft = Draft::new(*scene, found);
    let mut ids = Ids::new(context.seq);
    let mut named = Vec::with_capacity(rows.len());
    for row in rows {
        let mut properties = row.as_map().cloned().unwrap_or_default();
        // A property may well be called id or markdown; then it is meant.
        let mut extra = |name: &str| match found.schema().property(name) {
            Some(_) => None,
            None => properties.remove(name).and_then(|value| value.as_text().map(SmolStr::from)),
        };
        let (id, markdown) = (extra("id"), extra("markdown").unwrap_or_default());
        let id = given_id(scene, id.as_deref())?.unwrap_or_else(|| ids.next());
        draft.expect(&id, &properties)?;
        named.push((id, properties, markdown));
    }
    let mut new = Vec::with_capacity(named.len());
    for (number, (id, properties, markdown)) in (1_u64..).zip(named) {
        let row = draft.row(id, &properties, &markdown, &mut ids);
        new.push(row.map_err(|fault| Rejection {
            message: format!("row {number} of '{}': {}", found.schema().title, fault.message),
            ..fault
        })?);
    }
    let answer = map! { "imported" => new.len(), "ids" => new.iter().map(|row| row.id.clone()).collect::<Value>() };
    let events = if new.is_empty() { Vec::new() } else { draft.finish(new) };
    Ok(Decision::change(events, answer))
}

fn open<'a>(scene: &Scene<'a>, call: &ToolCall) -> Result<Found<'a>, Rejection> {
    let found = scene.database(call.text("database"))?;
    if found.database.archived {
        return Err(Rejection::new(
            "knowledge/archived",
            format!("the database '{}' is in the archive; restore it first", found.schema().title),
        ));
    }
    Ok(found)
}

fn room(found: Found<'_>, rows: usize) -> Result<(), Rejection> {
    if found.table.len() + rows > ROWS_MAX {
        return Err(Rejection::new(
            "knowledge/too-many-rows",
            format!("'{}' would have more than {ROWS_MAX} rows; use another database", found.schema().title),
        ));
    }
    Ok(())
}

/// Returns the rows of a CSV file whose first line names properties.
fn csv_rows(found: Found<'_>, text: &str) -> Result<Vec<Value>, Rejection> {
    let bad =
        |error: csv::Error| Rejection::new("knowledge/bad-import", format!("the CSV file cannot be read: {error}"));
    let mut reader = csv::ReaderBuilder::new().flexible(false).from_reader(text.as_bytes());
    let headers = reader.headers().map_err(bad)?.clone();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(bad)?;
        let mut row = BTreeMap::new();
        for (name, cell) in headers.iter().zip(&record) {
            let value = match found.schema().property(name.trim()) {
                Some((_, property)) => property::from_csv(&property.kind, cell),
                None => cell.into(),
            };
            if value != Value::Null {
                row.insert(SmolStr::from(name.trim()), value);
            }
        }
        rows.push(Value::Map(row));
    }
    Ok(rows)
}

/// Rows in the making: titles that relations may name, options that come to be.
struct Draft<'a> {
    scene: Scene<'a>,
    found: Found<'a>,
    /// The ids of the rows of each database by title in lower case; filled when a title is first looked for.
    titles: BTreeMap<SmolStr, BTreeMap<String, Vec<SmolStr>>>,
    /// The rows that are being made, by title and by id.
    expected: BTreeMap<String, Vec<SmolStr>>,
    added: BTreeMap<SmolStr, Vec<SmolStr>>,
    ends: Ends,
}

impl<'a> Draft<'a> {
    fn new(scene: Scene<'a>, found: Found<'a>) -> Self {
        Self {
            scene,
            found,
            titles: BTreeMap::new(),
            expected: BTreeMap::new(),
            added: BTreeMap::new(),
            ends: Ends::default(),
        }
    }

    /// Makes a row known to the relations of others of the same import.
    fn expect(&mut self, id: &SmolStr, properties: &BTreeMap<SmolStr, Value>) -> Result<(), Rejection> {
        let schema = self.found.schema();
        let title = properties.get(&schema.properties[schema.title_place()].name).and_then(Value::as_text);
        if self.expected.contains_key(id.as_str()) {
            return Err(Rejection::new(
                "knowledge/id-taken",
                format!("two rows of the import have the id '{id}'; choose another"),
            ));
        }
        self.expected.insert(id.to_string(), vec![id.clone()]);
        if let Some(title) = title.map(str::to_lowercase).filter(|title| title != id.as_str()) {
            self.expected.entry(title).or_default().push(id.clone());
        }
        Ok(())
    }

    fn row(
        &mut self,
        id: SmolStr,
        properties: &BTreeMap<SmolStr, Value>,
        markdown: &str,
        ids: &mut Ids,
    ) -> Result<NewRow, Rejection> {
        let mut values = self.values(properties)?;
        values.retain(|(_, value)| *value != Value::Null);
        for (name, to) in &values {
            let (_, property) = self.found.schema().expect(name)?;
            self.ends.admit(&self.scene, self.found, property, &id, &Value::Null, to)?;
        }
        let mut blocks = markdown::blocks(markdown)?;
        check(&blocks)?;
        ids.label(&mut blocks);
        Ok(NewRow { id, values, blocks })
    }

    /// Returns the canonical values of the properties that are named.
    fn values(&mut self, properties: &BTreeMap<SmolStr, Value>) -> Result<Vec<(SmolStr, Value)>, Rejection> {
        let schema = self.found.schema();
        let mut values = Vec::with_capacity(properties.len());
        for (name, value) in properties {
            let (_, property) = schema.expect(name)?;
            let mut resolve = |database: &SmolStr, text: &str| self.resolve(database, text);
            let Admitted { value, options } = property::admit(schema, property, value, &mut resolve)?;
            self.add(&property.name, options)?;
            values.push((property.name.clone(), value));
        }
        Ok(values)
    }

    fn add(&mut self, property: &SmolStr, options: Vec<SmolStr>) -> Result<(), Rejection> {
        if options.is_empty() {
            return Ok(());
        }
        let known = self
            .found
            .schema()
            .property(property)
            .and_then(|(_, property)| property.kind.options())
            .map_or(0, <[_]>::len);
        let added = self.added.entry(property.clone()).or_default();
        for option in options {
            if !added.contains(&option) {
                added.push(option);
            }
        }
        if known + added.len() > OPTIONS_MAX {
            return Err(Rejection::new(
                "knowledge/too-many-options",
                format!("'{property}' would have more than {OPTIONS_MAX} options; use one that is there"),
            ));
        }
        Ok(())
    }

    /// Returns the id of the row of `database` that `text` is the id or the title of.
    fn resolve(&mut self, database: &SmolStr, text: &str) -> Result<SmolStr, String> {
        let target = self.scene.find_database(database).map_err(|fault| fault.message)?;
        let target = target.ok_or_else(|| format!("it leads to a database '{database}' that is not there"))?;
        if let Some((id, Node::Row(of))) = self.scene.state.nodes.get_key_value(text)
            && of == target.id
        {
            target.table.archived(self.scene.frame, id);
            return Ok(id.clone());
        }
        let folded = text.trim().to_lowercase();
        let expected = if target.id == self.found.id { self.expected.get(&folded).cloned() } else { None };
        let titles = self.titles.entry(target.id.clone()).or_insert_with(|| titles(&self.scene, target));
        let there = titles.get(&folded).cloned().unwrap_or_default();
        let mut ids: Vec<SmolStr> = expected.into_iter().flatten().chain(there).collect();
        match ids.len() {
            0 => Err(format!("'{}' has no row '{text}'; give the id or the title of one", target.schema().title)),
            1 => Ok(ids.remove(0)),
            _ => Err(format!(
                "'{}' has several rows called '{text}'; give the id: {}",
                target.schema().title,
                ids.join(", ")
            )),
        }
    }

    fn options(&mut self) -> Vec<KnowledgeEvent> {
        let database = self.found.id;
        let added = std::mem::take(&mut self.added).into_iter();
        added
            .map(|(property, options)| KnowledgeEvent::OptionsAdded { database: database.clone(), property, options })
            .collect()
    }

    fn finish(mut self, rows: Vec<NewRow>) -> Vec<KnowledgeEvent> {
        let mut events = self.options();
        events.push(KnowledgeEvent::RowsCreated {
            database: self.found.id.clone(),
            rows,
            by: self.scene.desk.name.clone(),
        });
        events
    }
}

fn titles(scene: &Scene<'_>, found: Found<'_>) -> BTreeMap<String, Vec<SmolStr>> {
    let place = found.schema().title_place();
    let mut titles: BTreeMap<String, Vec<SmolStr>> = BTreeMap::new();
    for row in found.table.scan(scene.frame) {
        if let Some(title) = row.value(place).as_text().filter(|_| !row.archived) {
            titles.entry(title.trim().to_lowercase()).or_default().push(row.id.clone());
        }
    }
    titles
}
