//! What a table is: its fields, how its ids are made, and the actions that its rows know. Read from the author's definition by
//! [`super::definition`]; nothing here reads or changes a row.

use dayshift_engine::{Actor, Canonical, Graded, SmolStr, Value, map};

use super::condition::{Condition, Operand};
use super::kind::FieldKind;
use crate::lowercase::composed;

/// One table as its author defined it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Schema {
    /// The table's name.
    pub(super) name: SmolStr,
    /// What the table is for.
    pub(super) description: SmolStr,
    /// How rows are named.
    pub(super) id: IdFormat,
    /// The fields, in name order, which is also the order of a row's pieces in storage.
    pub(super) fields: Vec<Field>,
    /// The actions, in name order.
    pub(super) actions: Vec<Action>,
    /// Who may create rows with `records.create`.
    pub(super) create: Whom,
    /// Who may change rows with `records.update`.
    pub(super) update: Whom,
    /// Who may change rows of their own with `records.update`, if that is more than `update` says.
    pub(super) correct: Option<Whom>,
    /// The definition as the author wrote it.
    pub(super) definition: Value,
}

/// How the rows of a table are named.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct IdFormat {
    /// The name under which a row shows its id.
    pub(super) name: SmolStr,
    /// What an assigned id starts with.
    pub(super) prefix: SmolStr,
    /// How many digits an assigned id has at least.
    pub(super) digits: usize,
}

/// One field of a table, or one parameter of an action.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    pub(super) name: SmolStr,
    pub(super) kind: FieldKind,
    pub(super) description: SmolStr,
    pub(super) required: bool,
    /// No two rows hold the same value, empty ones aside.
    pub(super) unique: bool,
    /// Only actions change it.
    pub(super) read_only: bool,
    /// A query shows it only when asked for by name.
    pub(super) detail: bool,
    /// What a new row holds when nothing is said.
    pub(super) default: Option<Operand>,
}

/// One named action on a row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Action {
    pub(super) name: SmolStr,
    pub(super) description: SmolStr,
    pub(super) by: Whom,
    /// The parameters, in name order.
    pub(super) parameters: Vec<Field>,
    pub(super) guards: Vec<Guard>,
    pub(super) effects: Vec<ActionEffect>,
}

/// One rule that must hold before an action is done.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Guard {
    /// A condition, and what the caller is told when it does not hold.
    Condition { condition: Condition, message: SmolStr },
    /// A function of the scenario's scripts.
    Function(SmolStr),
}

/// One thing that an action does.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ActionEffect {
    /// Sets fields of the row, or of the row that the reference field `on` names.
    Set { on: Option<SmolStr>, values: Vec<(SmolStr, Operand)> },
    /// Adds to (or, negated, takes from) number fields likewise.
    Add { on: Option<SmolStr>, values: Vec<(SmolStr, Operand)>, negated: bool },
    /// Creates a row of another table.
    Create { table: SmolStr, values: Vec<(SmolStr, Operand)> },
    /// Removes the row.
    Remove,
}

/// Who may do something. The world and the scenario always may.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Whom {
    /// Everybody.
    Everybody,
    /// `agent`, or personas by name.
    Only(Vec<SmolStr>),
}

impl Schema {
    /// Returns the position of the field `name`.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        let name = composed(name);
        self.fields.binary_search_by(|field| field.name.as_str().cmp(&name)).ok()
    }

    /// Returns whether `name` means the id of a row: by the table's name for it, or as `id` where no field is called so.
    pub(super) fn is_id(&self, name: &str) -> bool {
        name == self.id.name || (name == "id" && self.position(name).is_none())
    }

    /// Returns the field `name`.
    pub(super) fn field(&self, name: &str) -> Option<&Field> {
        self.position(name).map(|position| &self.fields[position])
    }

    /// Returns the action `name`.
    pub(super) fn action(&self, name: &str) -> Option<&Action> {
        self.actions.iter().find(|action| action.name == name)
    }

    /// Returns the names of the fields, for sentences.
    pub(super) fn field_names(&self) -> String {
        self.fields.iter().map(|field| field.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Returns what the agent is told of the table.
    pub(super) fn describe(&self) -> Value {
        let mut shown = map! {
            "table" => self.name.clone(),
            "description" => self.description.clone(),
            "id" => self.id.name.clone(),
            "create" => self.create.describe(),
            "update" => self.update.describe(),
            "fields" => Value::List(self.fields.iter().map(Field::describe).collect()),
            "actions" => Value::List(self.actions.iter().map(Action::describe).collect()),
        };
        if let (Value::Map(shown), Some(correct)) = (&mut shown, &self.correct) {
            shown.insert("correct_own".into(), correct.describe());
        }
        shown
    }
}

impl Field {
    fn describe(&self) -> Value {
        let mut out = map! { "name" => self.name.clone(), "type" => self.kind.name() };
        let Value::Map(entries) = &mut out else { return out };
        match &self.kind {
            FieldKind::Choice(options) => {
                entries.insert("options".into(), Value::from(options.clone()));
            }
            FieldKind::Reference(table) => {
                entries.insert("table".into(), Value::from(table.clone()));
            }
            FieldKind::Decimal { scale } => {
                entries.insert("scale".into(), Value::from(*scale));
            }
            FieldKind::Text
            | FieldKind::Integer
            | FieldKind::Boolean
            | FieldKind::Date
            | FieldKind::Time
            | FieldKind::List
            | FieldKind::Any => {}
        }
        if !self.description.is_empty() {
            entries.insert("description".into(), Value::from(self.description.clone()));
        }
        let marks = [
            ("required", self.required),
            ("unique", self.unique),
            ("read_only", self.read_only),
            ("detail", self.detail),
        ];
        for (mark, _) in marks.into_iter().filter(|(_, set)| *set) {
            entries.insert(mark.into(), Value::Bool(true));
        }
        if let Some(default) = &self.default {
            entries.insert("default".into(), default.definition());
        }
        out
    }
}

impl Action {
    fn describe(&self) -> Value {
        map! {
            "name" => self.name.clone(),
            "description" => self.description.clone(),
            "by" => self.by.describe(),
            "parameters" => Value::List(self.parameters.iter().map(Field::describe).collect()),
            "rules" => self.guards.iter().map(Guard::describe).collect::<Value>(),
        }
    }
}

impl Guard {
    /// Returns the rule as the caller is told it: a function by its name, in words.
    fn describe(&self) -> SmolStr {
        match self {
            Self::Condition { message, .. } => message.clone(),
            Self::Function(name) => name.replace('_', " ").into(),
        }
    }
}

impl Whom {
    /// Returns whether `actor` is among them.
    pub(super) fn includes(&self, actor: &Actor) -> bool {
        let named = |name: &str| match self {
            Self::Everybody => true,
            Self::Only(names) => names.iter().any(|each| each == name),
        };
        match actor {
            Actor::Scenario | Actor::World => true,
            Actor::Agent => named("agent"),
            Actor::Persona(name) => named(name),
        }
    }

    /// Returns who they are, for sentences.
    pub(super) fn sentence(&self) -> String {
        match self {
            Self::Everybody => "everybody".to_owned(),
            Self::Only(names) if names.is_empty() => "nobody".to_owned(),
            Self::Only(names) => names.join(", "),
        }
    }

    fn describe(&self) -> Value {
        match self {
            Self::Everybody => Value::from("everybody"),
            Self::Only(names) => Value::from(names.clone()),
        }
    }
}

impl Graded for Schema {
    fn canonical(&self, into: &mut Canonical) {
        into.value(&self.definition);
    }
}
