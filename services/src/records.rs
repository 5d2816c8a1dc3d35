//! The service `records`: business tables such as tickets, customers, orders and payments, with typed fields, references, named actions that
//! obey rules, and a history of every row. Not a database: rows are few enough to be looked through, and nothing is joined.
//!
//! # A table as its author writes it
//!
//! `world/records/payments.yaml`. The loader passes everything but `rows` to `records.define` and the rows to `records.import`.
//!
//! ```yaml
//! table: payments
//! description: Payments to suppliers.
//! id: {name: payment_id, prefix: PAY-, digits: 4}   # a row shows its id as payment_id; new ones are PAY-0001 and so on
//! create: []                 # who may create rows directly; left out: everybody; []: nobody (the world always may)
//! update: [agent, petra]     # who may change fields directly
//! correct: [agent]           # who may do so in rows that they created themselves, where update says no; left out: nobody
//! fields:
//!   supplier: {type: reference, table: suppliers, required: true}
//!   amount: {type: decimal, scale: 2, required: true, read_only: true}   # exact; kept and shown as the text "1250.00"
//!   due: date                # a type alone is enough
//!   status: {type: choice, options: [open, approved, paid], default: open, read_only: true}
//!   iban: {type: text, read_only: true}
//!   invoice: {type: text, unique: true}
//!   approved_by: {type: text, read_only: true}
//!   approved_at: {type: time, read_only: true}
//!   notes: {type: text, detail: true}       # a query shows it only when asked for by name
//! actions:
//!   change_account:
//!     description: Changes the account that the payment goes to.
//!     by: [agent]
//!     parameters:
//!       iban: {type: text, required: true}
//!     guard:                                # all must hold; the first that does not is the answer
//!       - status: open                      # short for {field: status, op: eq, value: open}
//!         else: only an open payment can be changed
//!       - exists: {table: callbacks, where: {payment: $id, verified: true}}
//!         else: a payment change needs a verified call-back
//!     effects:
//!       - set: {iban: $arguments.iban}
//!   approve:
//!     guard:
//!       - {field: amount, op: le, value: $row.supplier.limit, else: the amount is over the supplier's limit}
//!       - not: {field: supplier.status, value: blocked}
//!         else: the supplier is blocked
//!     effects:
//!       - set: {status: approved, approved_by: $actor, approved_at: $now}
//!       - on: supplier                      # the row that this reference names
//!         increment: {committed: $row.amount}
//!       - create: {table: ledger, values: {payment: $id, amount: $row.amount}}
//! rows:
//!   - {payment_id: PAY-0001, supplier: S-1, amount: "1250.00", due: 2026-03-20, invoice: INV-77}
//! ```
//!
//! Types: `text`, `integer`, `decimal` (`scale` digits after the point, 2 if left out), `boolean`, `date`, `time` (RFC 3339 with an
//! offset; kept in UTC, shown in the office's zone), `choice` (`options`), `reference` (`table`), `list` (of text), `any` (whatever it
//! is, compared as a whole). A field may be `required`, `unique`, `read_only` (only actions and the scenario change it), `detail`, and
//! have a `default` (a value, `$now`, `$today` or `$actor`) and a `description`. Parameters of actions are fields too.
//!
//! Conditions, in guards and in the `where` of queries: `{field, op, value}` with `op` one of `eq` (if left out), `ne`, `lt`, `le`,
//! `gt`, `ge`, `contains`, `in`, `is_empty`; `{status: open, tier: [gold, silver]}` for short; lists, in which all must hold; `{all: […]}`,
//! `{any: […]}`, `{not: …}`. A field such as `supplier.status` follows a reference. Only guards know `{argument, op, value}`,
//! `{exists: {table, where}}`, and the words `$id`, `$now`, `$today`, `$actor`, `$arguments.NAME` and `$row.FIELD`; a text that starts with
//! a real `$` is written with two. In a `where` under `exists`, fields are those of the other table, and `$row` is the row acted on.
//!
//! A guard may also be the name of a function of the scenario's scripts, alone (`guard: may_approve`) or among conditions; see [`Guards`].
//!
//! Effects run in order against the row as it was before the action: `set`, `increment`, `decrement` (these three also with `on`),
//! `create`, and `remove: true`.
//!
//! # Keys
//!
//! `records:` which tables there are; `records:table` a table's definition and outages; `records:table/` which rows; `records:table/*` their
//! content; `records:table/id` that a row exists; `records:table/id/field` one field; `records:table/id/audit` its history (ungraded);
//! `records:table/#` the numbering of ids.

mod act;
mod audit;
mod condition;
mod decimal;
mod definition;
mod draft;
mod evaluate;
mod event;
mod guard;
mod kind;
mod outage;
mod query;
mod questions;
mod scene;
mod schema;
mod table;
#[cfg(test)]
mod tests;
mod tools;
mod whole;

use std::collections::BTreeMap;
use std::sync::Arc;

use dayshift_engine::{
    Actor, Applying, Canonical, Collection, Context, Decision, Difference, Graded, Looking, Rejection, SmolStr,
    StateDigest, ToolCall, ToolSpec, Value, map,
};
use imbl::OrdMap;

pub use audit::AUDIT_ENTRIES_MAX;
pub use condition::{CONDITION_DEPTH_MAX, CONDITIONS_MAX, PATH_STEPS_MAX};
pub use decimal::{DECIMAL_SCALE_MAX, DECIMAL_WHOLE_DIGITS_MAX};
pub use definition::{ACTIONS_MAX, EFFECTS_MAX, FIELDS_MAX, GUARDS_MAX, NAME_BYTES_MAX};
pub use draft::TABLE_ROWS_MAX;
pub use event::{NewRow, Outage, OutageKind, RecordsEvent};
pub use guard::{Deed, Guards};
pub use kind::{FIELD_LIST_ITEMS_MAX, FIELD_TEXT_BYTES_MAX, ROW_ID_BYTES_MAX};
pub use outage::{OUTAGE_LATE_SECONDS_MAX, OUTAGES_MAX};
pub use query::{PAGE_ROWS_DEFAULT, PAGE_ROWS_MAX, SORT_FIELDS_MAX};

use self::audit::Audit;
use self::draft::{Authority, Draft};
use self::scene::{Found, Scene, shared_text};
use self::schema::{Schema, Whom};
use self::table::Table;
use crate::service::{Desk, Service};

/// How many tables there may be.
pub const TABLES_MAX: usize = 100;

/// How many rows one import may bring.
pub const IMPORT_ROWS_MAX: usize = 10_000;

/// How many rows one call of an agent may create or change.
pub const CALL_ROWS_MAX: usize = 100;

/// The state of all tables.
#[derive(Clone, Debug)]
pub struct RecordsState {
    entries: Collection<SmolStr, TableEntry>,
    tables: OrdMap<SmolStr, Arc<Table>>,
    /// Judges by the scenario's functions. No state: a fork and a replay have the same.
    guards: Option<Arc<dyn Guards>>,
}

/// What a table is, and when it does not answer.
#[derive(Clone, Debug, PartialEq)]
struct TableEntry {
    schema: Arc<Schema>,
    outages: Arc<Vec<Outage>>,
}

impl RecordsState {
    /// Returns an office without tables.
    #[must_use]
    pub fn new() -> Self {
        Self { entries: Collection::new("records:"), tables: OrdMap::new(), guards: None }
    }

    /// Lets `guards` judge the actions whose rules are functions.
    pub fn set_guards(&mut self, guards: Arc<dyn Guards>) {
        self.guards = Some(guards);
    }

    fn change_table(&mut self, name: &SmolStr, change: impl FnOnce(&mut Table)) {
        if let Some(table) = self.tables.get_mut(name) {
            change(Arc::make_mut(table));
        }
    }
}

impl Default for RecordsState {
    fn default() -> Self {
        Self::new()
    }
}

impl Service for RecordsState {
    type Event = RecordsEvent;

    const TOOLS: &'static [ToolSpec] = tools::TOOLS;

    fn decide(&self, call: &ToolCall, desk: &Desk, context: &Context<'_>) -> Result<Decision<RecordsEvent>, Rejection> {
        let scene = Scene { state: self, frame: context.frame, desk, time: context.time };
        match call.tool.as_str() {
            "records.tables" => return Ok(Decision::answer(tables(&scene))),
            "records.define" => return define(&scene, call),
            "records.disrupt" => {
                return outage::disrupt(&scene, call).map(|event| Decision::change(vec![event], Value::Bool(true)));
            }
            _ => {}
        }
        let name = shared_text(call.get("table"));
        let table = scene.table(&name)?;
        let wait = outage::strike(&name, table.entry, desk, context)?;
        let decision = decide_on_table(&scene, table, call, context)?;
        Ok(Decision { wait, ..decision })
    }

    fn apply(&mut self, event: RecordsEvent, applying: &mut Applying<'_>) {
        match event {
            RecordsEvent::TableDefined { definition } => {
                // `decide` has read the same definition; a log that says otherwise changes nothing.
                let Ok(schema) = definition::read(&definition) else { return };
                let schema = Arc::new(schema);
                self.tables.insert(schema.name.clone(), Arc::new(Table::new(Arc::clone(&schema))));
                let entry = TableEntry { schema: Arc::clone(&schema), outages: Arc::default() };
                self.entries.insert(applying, schema.name.clone(), entry);
            }
            RecordsEvent::RowsCreated { table, rows, action } => self.change_table(&table, |table| {
                for row in rows {
                    table.insert(applying, row.id, row.values, action.clone());
                }
            }),
            RecordsEvent::FieldsChanged { table, id, changes, action } => {
                self.change_table(&table, |table| table.change(applying, id, changes, action));
            }
            RecordsEvent::RowRemoved { table, id, action } => {
                self.change_table(&table, |table| table.remove(applying, id, action));
            }
            RecordsEvent::OutageScheduled { table, outage } => {
                let names = table.map_or_else(|| self.tables.keys().cloned().collect(), |name| vec![name]);
                for name in names {
                    self.entries
                        .update(applying, &name, |entry| Arc::make_mut(&mut entry.outages).push(outage.clone()));
                }
            }
        }
    }

    fn query(&self, verb: &str, arguments: &Value, desk: &Desk, looking: &Looking<'_>) -> Result<Value, Rejection> {
        let scene = Scene { state: self, frame: looking.frame, desk, time: looking.time };
        questions::answer(&scene, verb, arguments)
    }

    fn digest(&self) -> StateDigest {
        self.tables.values().map(|table| table.digest()).chain([self.entries.digest()]).sum()
    }

    fn differences(&self, other: &Self, into: &mut Vec<Difference>) {
        let show = |entry: Option<&TableEntry>| {
            let entry = entry?;
            Some(map! { "definition" => entry.schema.definition.clone(), "outages" => entry.outages.len() })
        };
        into.extend(self.entries.differences(&other.entries).into_iter().map(|(key, left, right)| Difference {
            key,
            left: show(left),
            right: show(right),
        }));
        let names: std::collections::BTreeSet<&SmolStr> = self.tables.keys().chain(other.tables.keys()).collect();
        for name in names {
            match (self.tables.get(name), other.tables.get(name)) {
                (Some(here), Some(there)) => here.differences(there, into),
                (Some(here), None) => here.differences(&here.emptied(), into),
                (None, Some(there)) => there.emptied().differences(there, into),
                (None, None) => {}
            }
        }
    }

    fn dump(&self) -> Value {
        let tables = self.tables.iter().map(|(name, table)| (name.clone(), table.dump()));
        Value::Map(tables.collect())
    }
}

fn decide_on_table(
    scene: &Scene<'_>,
    table: Found<'_>,
    call: &ToolCall,
    context: &Context<'_>,
) -> Result<Decision<RecordsEvent>, Rejection> {
    let schema = table.schema();
    let id = shared_text(call.get("id"));
    let empty = BTreeMap::new();
    let values = call.get("values").and_then(Value::as_map).unwrap_or(&empty);
    match call.tool.as_str() {
        "records.query" => query::query(scene, table, call).map(Decision::answer),
        "records.read" => {
            scene.row(table, &id)?;
            let fields = query::shown_fields(table, call.get("fields"), true)?;
            Ok(Decision::answer(scene.show(table, &id, &fields)))
        }
        "records.history" => history(scene, table, &id, context.actor).map(Decision::answer),
        "records.create" => {
            allowed(&schema.create, context.actor, "create rows of", schema)?;
            if call.get("rows").is_some() {
                return create_several(scene, table, call);
            }
            if call.get("values").is_none() {
                return Err(Rejection::new(
                    "records/no-values",
                    format!("values is missing; {} has: {}", schema.name, schema.field_names()),
                ));
            }
            let mut draft = Draft::new(*scene, Authority::Caller);
            let row = draft.create(table, call.get("id").map(|_| &id), values)?;
            let answer = map! { schema.id.name.clone() => row.id.clone() };
            Ok(Decision::change(vec![created(schema, vec![row])], answer))
        }
        "records.update" => {
            let ids = call.texts("ids").map(SmolStr::from);
            let ids: Vec<SmolStr> =
                if call.get("id").is_some() { ids.chain([id.clone()]).collect() } else { ids.collect() };
            for id in &ids {
                may_change(scene, table, id, context.actor)?;
            }
            if call.get("ids").is_some() {
                return change_several(scene, table, call, values);
            }
            if call.get("id").is_none() {
                allowed(&schema.update, context.actor, "change rows of", schema)?;
                return Err(which_rows());
            }
            change(scene, table, id, values, Authority::Caller)
        }
        "records.set" => change(scene, table, id, values, Authority::Backstage),
        "records.act" => {
            let arguments = call.get("arguments");
            let (events, answer) = act::act(scene, table, &id, call.text("action"), arguments, context.actor)?;
            Ok(Decision::change(events, answer))
        }
        "records.import" => import(scene, table, call.list("rows")),
        "records.remove" => {
            scene.row(table, &id)?;
            let answer = map! { "removed" => id.clone() };
            let event = RecordsEvent::RowRemoved { table: schema.name.clone(), id, action: None };
            Ok(Decision::change(vec![event], answer))
        }
        other => Err(Rejection::new("call/unknown-tool", format!("records has no tool '{other}'"))),
    }
}

/// Makes sure that `actor` may change the row `id`: any row of a table that lets it, or a row of its own where the table lets that be corrected.
fn may_change(scene: &Scene<'_>, table: Found<'_>, id: &SmolStr, actor: &Actor) -> Result<(), Rejection> {
    let schema = table.schema();
    let corrects = schema.correct.as_ref().is_some_and(|whom| whom.includes(actor));
    if corrects
        && !schema.update.includes(actor)
        && table.rows.audit(scene.frame, id).and_then(Audit::created_by) == Some(actor)
    {
        return Ok(());
    }
    allowed(&schema.update, actor, "change rows of", schema)
}

fn which_rows() -> Rejection {
    Rejection::new("records/which-rows", "say which rows: give id, or ids for several, not both")
}

fn create_several(scene: &Scene<'_>, table: Found<'_>, call: &ToolCall) -> Result<Decision<RecordsEvent>, Rejection> {
    if call.get("values").is_some() || call.get("id").is_some() {
        return Err(Rejection::new(
            "records/which-rows",
            "give values (with id, if you like) for one row, or rows for several, not both",
        ));
    }
    let schema = table.schema();
    let rows = call.list("rows");
    several(rows.len())?;
    let new = drafted(scene, table, rows, Authority::Caller)?;
    let answer = map! { "ids" => new.iter().map(|row| Value::from(row.id.clone())).collect::<Value>() };
    Ok(Decision::change(vec![created(schema, new)], answer))
}

fn change_several(
    scene: &Scene<'_>,
    table: Found<'_>,
    call: &ToolCall,
    values: &BTreeMap<SmolStr, Value>,
) -> Result<Decision<RecordsEvent>, Rejection> {
    let ids: std::collections::BTreeSet<SmolStr> = call.texts("ids").map(SmolStr::from).collect();
    if call.get("id").is_some() {
        return Err(which_rows());
    }
    several(ids.len())?;
    let mut draft = Draft::new(*scene, Authority::Caller);
    let mut events = Vec::with_capacity(ids.len());
    let mut rows = Vec::with_capacity(ids.len());
    for id in ids {
        let (event, shown) = changed(scene, table, id, values, &mut draft)?;
        events.push(event);
        rows.push(shown);
    }
    Ok(Decision::change(events, map! { "rows" => Value::List(rows) }))
}

fn several(count: usize) -> Result<(), Rejection> {
    if (1..=CALL_ROWS_MAX).contains(&count) {
        return Ok(());
    }
    Err(Rejection::new(
        "records/too-many-rows",
        format!("one call is for 1 to {CALL_ROWS_MAX} rows, not {count}; make several calls"),
    ))
}

fn tables(scene: &Scene<'_>) -> Value {
    let names: Vec<SmolStr> = scene.state.entries.list(scene.frame).cloned().collect();
    let tables = names.iter().filter_map(|name| scene.find(name)).map(|table| table.schema().describe());
    map! { "tables" => Value::List(tables.collect()) }
}

fn define(scene: &Scene<'_>, call: &ToolCall) -> Result<Decision<RecordsEvent>, Rejection> {
    let definition = call.get("table").cloned().unwrap_or_default();
    let schema = definition::read(&definition)?;
    if scene.find(&schema.name).is_some() {
        return Err(Rejection::new(
            "records/table-exists",
            format!("there is a table '{}' already; define each table once", schema.name),
        ));
    }
    if scene.state.tables.len() >= TABLES_MAX {
        return Err(Rejection::new(
            "records/too-many-tables",
            format!("there are {TABLES_MAX} tables already, the most that there may be"),
        ));
    }
    let answer = map! { "table" => schema.name };
    Ok(Decision::change(vec![RecordsEvent::TableDefined { definition }], answer))
}

fn change(
    scene: &Scene<'_>,
    table: Found<'_>,
    id: SmolStr,
    values: &BTreeMap<SmolStr, Value>,
    authority: Authority,
) -> Result<Decision<RecordsEvent>, Rejection> {
    let (event, shown) = changed(scene, table, id, values, &mut Draft::new(*scene, authority))?;
    Ok(Decision::change(vec![event], shown))
}

/// Returns what a change of one row makes happen, and its new values.
fn changed(
    scene: &Scene<'_>,
    table: Found<'_>,
    id: SmolStr,
    values: &BTreeMap<SmolStr, Value>,
    draft: &mut Draft<'_>,
) -> Result<(RecordsEvent, Value), Rejection> {
    scene.row(table, &id)?;
    let schema = table.schema();
    if values.is_empty() {
        return Err(Rejection::new(
            "records/nothing-to-change",
            format!("values names no field; {} has: {}", schema.name, schema.field_names()),
        ));
    }
    let mut changes = Vec::with_capacity(values.len());
    let mut shown = BTreeMap::new();
    for (name, value) in values {
        let field = table.field(name)?;
        let value = draft.change(table, &id, field, value)?;
        shown.insert(field.name.clone(), field.kind.show(&value, scene.desk));
        changes.push((field.name.clone(), value));
    }
    shown.insert(schema.id.name.clone(), Value::Text(id.clone()));
    let event = RecordsEvent::FieldsChanged { table: schema.name.clone(), id, changes, action: None };
    Ok((event, Value::Map(shown)))
}

fn import(scene: &Scene<'_>, table: Found<'_>, rows: &[Value]) -> Result<Decision<RecordsEvent>, Rejection> {
    let schema = table.schema();
    if rows.len() > IMPORT_ROWS_MAX {
        return Err(Rejection::new(
            "records/too-many-rows",
            format!("{} rows are too many for one import; bring at most {IMPORT_ROWS_MAX} at once", rows.len()),
        ));
    }
    let new = drafted(scene, table, rows, Authority::Backstage)?;
    let answer = map! { "imported" => new.len() };
    let events = if new.is_empty() { Vec::new() } else { vec![created(schema, new)] };
    Ok(Decision::change(events, answer))
}

/// Returns the new rows that objects write, each with its id under the table's name for it, or without one.
fn drafted(
    scene: &Scene<'_>,
    table: Found<'_>,
    rows: &[Value],
    authority: Authority,
) -> Result<Vec<NewRow>, Rejection> {
    let schema = table.schema();
    let mut draft = Draft::new(*scene, authority);
    let mut new = Vec::with_capacity(rows.len());
    for (number, row) in (1_u64..).zip(rows) {
        let mut values = row.as_map().cloned().unwrap_or_default();
        let id = match values.remove(&schema.id.name) {
            None | Some(Value::Null) => None,
            Some(Value::Text(id)) => Some(id),
            Some(other) => {
                return Err(Rejection::new(
                    "records/bad-id",
                    format!("row {number} of {}: an id is text, not {}; put it in quotes", schema.name, other.kind()),
                ));
            }
        };
        let row = draft.create(table, id.as_ref(), &values);
        new.push(row.map_err(|fault| Rejection {
            message: format!("row {number} of {}: {}", schema.name, fault.message),
            ..fault
        })?);
    }
    Ok(new)
}

fn created(schema: &Schema, rows: Vec<NewRow>) -> RecordsEvent {
    RecordsEvent::RowsCreated { table: schema.name.clone(), rows, action: None }
}

fn allowed(whom: &Whom, actor: &Actor, what: &str, schema: &Schema) -> Result<(), Rejection> {
    if whom.includes(actor) {
        return Ok(());
    }
    Err(Rejection::new(
        "records/not-allowed",
        format!("{} may {what} {} directly; see in records.tables which action does it", whom.sentence(), schema.name),
    ))
}

fn history(scene: &Scene<'_>, table: Found<'_>, id: &SmolStr, caller: &Actor) -> Result<Value, Rejection> {
    let Some(audit) = table.rows.audit(scene.frame, id) else {
        scene.row(table, id)?;
        return Ok(map! { "entries" => Value::List(Vec::new()), "forgotten" => 0_i64 });
    };
    let show_actor = |actor: &Actor| match actor {
        _ if actor == caller => "you".to_owned(),
        Actor::Agent => "agent".to_owned(),
        Actor::Persona(name) => name.to_string(),
        // To people in the office, what nobody among them did was done by the system.
        Actor::Scenario | Actor::World => "system".to_owned(),
    };
    let show = |field: &SmolStr, value: &Value| match table.schema().field(field) {
        Some(field) => field.kind.show(value, scene.desk),
        None => value.clone(),
    };
    let entries = audit.entries().into_iter().map(|entry| entry.value(|time| scene.desk.show(time), show_actor, show));
    Ok(map! { "entries" => Value::List(entries.collect()), "forgotten" => audit.forgotten() })
}

impl Graded for TableEntry {
    fn canonical(&self, into: &mut Canonical) {
        self.schema.canonical(into);
        for outage in self.outages.iter() {
            outage.canonical(into);
        }
    }
}
