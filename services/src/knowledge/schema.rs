//! What a database is: its title and its typed properties, read from an author's or an agent's definition.

use std::collections::BTreeMap;

use dayshift_engine::{Canonical, Graded, Rejection, SmolStr, Value, map};

use super::formula::Formula;
use super::needle::alike;
use super::rollup::RollupFunction;

/// How many properties one database may have.
pub const PROPERTIES_MAX: usize = 100;

/// How many options a select, multi_select or status property may have.
pub const OPTIONS_MAX: usize = 500;

/// How long the name of a property, an option or a title may be, in bytes.
pub const NAME_BYTES_MAX: usize = 2_000;

/// What a database is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Schema {
    pub(super) title: SmolStr,
    pub(super) description: SmolStr,
    /// In the author's order; an object's order is that of its names, the title first.
    pub(super) properties: Vec<Property>,
}

/// One property.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Property {
    pub(super) name: SmolStr,
    pub(super) kind: PropertyKind,
}

/// What a property holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PropertyKind {
    Title,
    Text,
    Number {
        format: SmolStr,
    },
    Select {
        options: Vec<SmolStr>,
    },
    MultiSelect {
        options: Vec<SmolStr>,
    },
    Status {
        options: Vec<SmolStr>,
        groups: Value,
    },
    Date,
    People,
    Checkbox,
    Url,
    Email,
    Phone,
    Files,
    Relation {
        database: SmolStr,
        /// The property at the other end that shows where this leads from, if the relation has two ends.
        back: Option<SmolStr>,
    },
    Rollup {
        relation: SmolStr,
        property: SmolStr,
        function: RollupFunction,
    },
    Formula {
        source: SmolStr,
        formula: Formula,
    },
    CreatedTime,
    LastEditedTime,
    CreatedBy,
    LastEditedBy,
}

impl PropertyKind {
    /// Returns the type's name, as definitions write it.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Text => "text",
            Self::Number { .. } => "number",
            Self::Select { .. } => "select",
            Self::MultiSelect { .. } => "multi_select",
            Self::Status { .. } => "status",
            Self::Date => "date",
            Self::People => "people",
            Self::Checkbox => "checkbox",
            Self::Url => "url",
            Self::Email => "email",
            Self::Phone => "phone",
            Self::Files => "files",
            Self::Relation { .. } => "relation",
            Self::Rollup { .. } => "rollup",
            Self::Formula { .. } => "formula",
            Self::CreatedTime => "created_time",
            Self::LastEditedTime => "last_edited_time",
            Self::CreatedBy => "created_by",
            Self::LastEditedBy => "last_edited_by",
        }
    }

    /// Returns whether the value is stored and can be written; the others are computed.
    pub(super) const fn is_stored(&self) -> bool {
        !matches!(
            self,
            Self::Rollup { .. }
                | Self::Formula { .. }
                | Self::CreatedTime
                | Self::LastEditedTime
                | Self::CreatedBy
                | Self::LastEditedBy
        )
    }

    /// Returns the options, if the type has any.
    pub(super) fn options(&self) -> Option<&[SmolStr]> {
        match self {
            Self::Select { options } | Self::MultiSelect { options } | Self::Status { options, .. } => Some(options),
            Self::Title
            | Self::Text
            | Self::Number { .. }
            | Self::Date
            | Self::People
            | Self::Checkbox
            | Self::Url
            | Self::Email
            | Self::Phone
            | Self::Files
            | Self::Relation { .. }
            | Self::Rollup { .. }
            | Self::Formula { .. }
            | Self::CreatedTime
            | Self::LastEditedTime
            | Self::CreatedBy
            | Self::LastEditedBy => None,
        }
    }

    /// Returns what a row without a value shows: every property is in every row.
    pub(super) fn empty(&self) -> Value {
        match self {
            Self::Title | Self::Text => Value::Text(SmolStr::default()),
            Self::MultiSelect { .. } | Self::People | Self::Files | Self::Relation { .. } => Value::List(Vec::new()),
            Self::Checkbox => Value::Bool(false),
            Self::Number { .. }
            | Self::Select { .. }
            | Self::Status { .. }
            | Self::Date
            | Self::Url
            | Self::Email
            | Self::Phone
            | Self::Rollup { .. }
            | Self::Formula { .. }
            | Self::CreatedTime
            | Self::LastEditedTime
            | Self::CreatedBy
            | Self::LastEditedBy => Value::Null,
        }
    }
}

impl Schema {
    /// Returns the property `name` and its place. Upper and lower case are told apart.
    pub(super) fn property(&self, name: &str) -> Option<(usize, &Property)> {
        self.properties.iter().enumerate().find(|(_, property)| alike(&property.name, name))
    }

    /// Returns the place of the title.
    pub(super) fn title_place(&self) -> usize {
        self.properties.iter().position(|property| property.kind == PropertyKind::Title).unwrap_or_default()
    }

    /// Returns the names of all properties, for sentences.
    pub(super) fn names(&self) -> String {
        self.properties.iter().map(|property| property.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Returns the property `name`, or the refusal that lists what there is.
    pub(super) fn expect(&self, name: &str) -> Result<(usize, &Property), Rejection> {
        self.property(name).ok_or_else(|| {
            Rejection::new(
                "knowledge/unknown-property",
                format!("'{}' has no property '{name}'; it has: {}", self.title, self.names()),
            )
        })
    }

    /// Adds options to a property, if it takes any.
    pub(super) fn add_options(&mut self, property: &str, added: Vec<SmolStr>) {
        let Some(property) = self.properties.iter_mut().find(|each| each.name == property) else { return };
        if let PropertyKind::Select { options }
        | PropertyKind::MultiSelect { options }
        | PropertyKind::Status { options, .. } = &mut property.kind
        {
            for option in added {
                if !options.contains(&option) {
                    options.push(option);
                }
            }
        }
    }

    /// Returns the properties as a value for agents: a list in order.
    pub(super) fn describe(&self) -> Value {
        Value::List(self.properties.iter().map(Property::describe).collect())
    }
}

impl Property {
    fn describe(&self) -> Value {
        let mut value = map! { "name" => self.name.clone(), "type" => self.kind.name() };
        let Value::Map(map) = &mut value else { return value };
        if let Some(options) = self.kind.options() {
            map.insert("options".into(), options.iter().cloned().collect());
        }
        match &self.kind {
            PropertyKind::Number { format } if !format.is_empty() => {
                drop(map.insert("format".into(), format.clone().into()))
            }
            PropertyKind::Status { groups, .. } if *groups != Value::Null => {
                drop(map.insert("groups".into(), groups.clone()))
            }
            PropertyKind::Relation { database, back } => {
                map.insert("database".into(), database.clone().into());
                if let Some(back) = back {
                    map.insert("back".into(), back.clone().into());
                }
            }
            PropertyKind::Rollup { relation, property, function } => {
                map.insert("relation".into(), relation.clone().into());
                map.insert("property".into(), property.clone().into());
                map.insert("function".into(), function.name().into());
            }
            PropertyKind::Formula { source, .. } => drop(map.insert("expression".into(), source.clone().into())),
            PropertyKind::Title
            | PropertyKind::Text
            | PropertyKind::Number { .. }
            | PropertyKind::Select { .. }
            | PropertyKind::MultiSelect { .. }
            | PropertyKind::Status { .. }
            | PropertyKind::Date
            | PropertyKind::People
            | PropertyKind::Checkbox
            | PropertyKind::Url
            | PropertyKind::Email
            | PropertyKind::Phone
            | PropertyKind::Files
            | PropertyKind::CreatedTime
            | PropertyKind::LastEditedTime
            | PropertyKind::CreatedBy
            | PropertyKind::LastEditedBy => {}
        }
        value
    }
}

impl Graded for Schema {
    fn canonical(&self, into: &mut Canonical) {
        into.text(&self.title);
        into.text(&self.description);
        into.value(&self.describe());
    }
}

/// Returns the schema that `definition` writes: `{title, description?, properties}`.
///
/// # Errors
///
/// `knowledge/bad-definition`, with a sentence.
pub(super) fn read(definition: &Value) -> Result<Schema, Rejection> {
    schema(definition).map_err(|fault| Rejection::new("knowledge/bad-definition", format!("the database: {fault}")))
}

fn schema(definition: &Value) -> Result<Schema, String> {
    let map = definition.as_map().ok_or("a definition is an object with title and properties")?;
    if let Some(stray) = map.keys().find(|key| !["title", "description", "properties"].contains(&key.as_str())) {
        return Err(format!("a definition has no '{stray}'; it takes title, description and properties"));
    }
    let title = map.get("title").and_then(Value::as_text).map(str::trim).filter(|title| !title.is_empty());
    let title = name(title.ok_or("it needs a title")?)?;
    let description = map.get("description").and_then(Value::as_text).unwrap_or_default().into();
    let mut properties = match map.get("properties") {
        Some(Value::Map(map)) => {
            let mut properties =
                map.iter().map(|(name, value)| property(name, value)).collect::<Result<Vec<_>, _>>()?;
            properties.sort_by_key(|property| property.kind != PropertyKind::Title);
            properties
        }
        Some(Value::List(items)) => items.iter().map(listed).collect::<Result<Vec<_>, _>>()?,
        _ => {
            return Err(
                "properties is an object such as {\"Name\": \"title\"}, or a list of {\"name\", \"type\"}".to_owned()
            );
        }
    };
    let titles = properties.iter().filter(|property| property.kind == PropertyKind::Title).count();
    match titles {
        0 if properties.iter().all(|property| property.name != "Name") => {
            properties.insert(0, Property { name: "Name".into(), kind: PropertyKind::Title });
        }
        1 => {}
        _ => return Err("it needs exactly one property of type title".to_owned()),
    }
    if properties.len() > PROPERTIES_MAX {
        return Err(format!("{} properties are too many; there may be {PROPERTIES_MAX}", properties.len()));
    }
    let schema = Schema { title, description, properties };
    check(&schema)?;
    Ok(schema)
}

/// Makes sure that names are unique and that rollups and formulas speak of properties that are there.
fn check(schema: &Schema) -> Result<(), String> {
    for (place, property) in schema.properties.iter().enumerate() {
        if schema.properties[..place].iter().any(|other| other.name == property.name) {
            return Err(format!("there are two properties '{}'", property.name));
        }
        match &property.kind {
            PropertyKind::Rollup { relation, .. } => {
                let found = schema.property(relation);
                if !matches!(found, Some((_, Property { kind: PropertyKind::Relation { .. }, .. }))) {
                    return Err(format!("'{}' rolls up '{relation}', which is no relation", property.name));
                }
            }
            PropertyKind::Formula { formula, .. } => {
                if let Some(missing) = formula.properties().find(|name| schema.property(name).is_none()) {
                    return Err(format!("'{}' speaks of a property '{missing}' that is not there", property.name));
                }
            }
            PropertyKind::Title
            | PropertyKind::Text
            | PropertyKind::Number { .. }
            | PropertyKind::Select { .. }
            | PropertyKind::MultiSelect { .. }
            | PropertyKind::Status { .. }
            | PropertyKind::Date
            | PropertyKind::People
            | PropertyKind::Checkbox
            | PropertyKind::Url
            | PropertyKind::Email
            | PropertyKind::Phone
            | PropertyKind::Files
            | PropertyKind::Relation { .. }
            | PropertyKind::CreatedTime
            | PropertyKind::LastEditedTime
            | PropertyKind::CreatedBy
            | PropertyKind::LastEditedBy => {}
        }
    }
    Ok(())
}

fn listed(value: &Value) -> Result<Property, String> {
    let mut map = value.as_map().cloned().ok_or("each property is an object with name and type")?;
    let Some(Value::Text(name)) = map.remove("name") else {
        return Err("each property in a list needs a name".to_owned());
    };
    property(&name, &Value::Map(map))
}

fn name(text: &str) -> Result<SmolStr, String> {
    if text.len() > NAME_BYTES_MAX || text.trim().is_empty() || text.contains(['\n', '\r']) {
        return Err(format!("a name is one line of 1 to {NAME_BYTES_MAX} bytes"));
    }
    Ok(text.into())
}

fn property(property: &str, value: &Value) -> Result<Property, String> {
    let empty = BTreeMap::new();
    let (kind, map) = match value {
        Value::Text(kind) => (kind.as_str(), &empty),
        Value::Map(map) => (map.get("type").and_then(Value::as_text).unwrap_or_default(), map),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::List(_) => {
            return Err(format!("'{property}' needs a type, such as \"text\""));
        }
    };
    let text = |key: &str| map.get(key).and_then(Value::as_text);
    let needs =
        |key: &str| text(key).map(SmolStr::from).ok_or_else(|| format!("'{property}' of type {kind} needs '{key}'"));
    let (allowed, kind): (&[&str], PropertyKind) = match kind {
        "title" => (&[], PropertyKind::Title),
        "text" | "rich_text" => (&[], PropertyKind::Text),
        "number" => (&["format"], PropertyKind::Number { format: text("format").unwrap_or_default().into() }),
        "select" => (&["options"], PropertyKind::Select { options: options(property, map.get("options"))? }),
        "multi_select" => (&["options"], PropertyKind::MultiSelect { options: options(property, map.get("options"))? }),
        "status" => (&["options", "groups"], status(property, map)?),
        "date" => (&[], PropertyKind::Date),
        "people" => (&[], PropertyKind::People),
        "checkbox" => (&[], PropertyKind::Checkbox),
        "url" => (&[], PropertyKind::Url),
        "email" => (&[], PropertyKind::Email),
        "phone" | "phone_number" => (&[], PropertyKind::Phone),
        "files" => (&[], PropertyKind::Files),
        "relation" => {
            let back = text("back").map(name).transpose()?;
            (&["database", "back"], PropertyKind::Relation { database: needs("database")?, back })
        }
        "rollup" => {
            let function = needs("function")?;
            let function = RollupFunction::read(&function).ok_or_else(|| {
                format!(
                    "'{property}': there is no rollup function '{function}'; write one of {}",
                    RollupFunction::names()
                )
            })?;
            let rollup = PropertyKind::Rollup { relation: needs("relation")?, property: needs("property")?, function };
            (&["relation", "property", "function"], rollup)
        }
        "formula" => {
            let source = needs("expression")?;
            let formula = Formula::read(&source).map_err(|fault| format!("'{property}': {fault}"))?;
            (&["expression"], PropertyKind::Formula { source, formula })
        }
        "created_time" => (&[], PropertyKind::CreatedTime),
        "last_edited_time" => (&[], PropertyKind::LastEditedTime),
        "created_by" => (&[], PropertyKind::CreatedBy),
        "last_edited_by" => (&[], PropertyKind::LastEditedBy),
        other => {
            return Err(format!(
                "'{property}' has the unknown type '{other}'; write one of title, text, number, select, multi_select, status, date, people, \
                 checkbox, url, email, phone, files, relation, rollup, formula, created_time, last_edited_time, created_by, last_edited_by"
            ));
        }
    };
    if let Some(stray) = map.keys().find(|key| *key != "type" && !allowed.contains(&key.as_str())) {
        return Err(format!("'{property}' of type {} takes no '{stray}'", kind.name()));
    }
    Ok(Property { name: name(property)?, kind })
}

fn options(property: &str, value: Option<&Value>) -> Result<Vec<SmolStr>, String> {
    let mut options: Vec<SmolStr> = Vec::new();
    for item in value.and_then(Value::as_list).unwrap_or_default() {
        let text = item.as_text().or_else(|| item.get("name").and_then(Value::as_text));
        let option = option_name(text.ok_or_else(|| format!("'{property}': an option is a text"))?)?;
        if !options.contains(&option) {
            options.push(option);
        }
    }
    if options.len() > OPTIONS_MAX {
        return Err(format!("'{property}' has more than {OPTIONS_MAX} options"));
    }
    Ok(options)
}

/// Returns the name of an option; one with a comma is refused, as in Notion, because lists of options are written with commas.
pub(super) fn option_name(text: &str) -> Result<SmolStr, String> {
    let text = text.trim();
    if text.contains(',') {
        return Err(format!("the option '{text}' has a comma in it; leave it out"));
    }
    name(text)
}

fn status(property: &str, map: &BTreeMap<SmolStr, Value>) -> Result<PropertyKind, String> {
    let groups = map.get("groups").cloned().unwrap_or_default();
    let mut options = options(property, map.get("options"))?;
    match &groups {
        Value::Null => {}
        Value::Map(groups) => {
            for members in groups.values() {
                for option in self::options(property, Some(members))? {
                    if !options.contains(&option) {
                        options.push(option);
                    }
                }
            }
        }
        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::List(_) => {
            return Err(format!("'{property}': groups is an object such as {{\"To-do\": [\"Open\"]}}"));
        }
    }
    if options.is_empty() {
        options = ["Not started", "In progress", "Done"].map(SmolStr::from).to_vec();
    }
    Ok(PropertyKind::Status { options, groups })
}
