//! Wrong places: what stands beside what a call writes to, as it is there at the moment of the call. A mutant that the world would refuse is as
//! good as a call left out, so only places are taken at which the call is accepted and comes to another world.

use std::sync::LazyLock;

use dayshift_engine::{Episode, Frame, Input, Looking, SimTime, SmolStr, StateDigest, ToolCall, Value, World, map};
use dayshift_scenarios::SolutionCall;
use dayshift_services::Office;
use regex::Regex;

use super::literals::fill_like;

/// How many places are tried for one argument.
pub(super) const PLACES_TRIED_MAX: usize = 24;

/// How far around an instance of a repeating event others are looked for.
const INSTANCES_DAYS: i64 = 60;

const DAY_MILLIS: i64 = 24 * 3600 * 1000;

/// The arguments that say where, in the order in which they are tried.
const PLACES: [&str; 16] = [
    "range",
    "book",
    "worksheet",
    "id",
    "path",
    "source",
    "target",
    "message_id",
    "destination",
    "uid",
    "recurrence_id",
    "calendar",
    "page",
    "row",
    "block",
    "channel",
];

/// A call of the reference solution at its moment.
pub(super) struct Spot {
    /// The episode just before it.
    before: Episode<Office>,
    /// The call as it was made, its references filled in.
    made: ToolCall,
    /// The world that it came to.
    after: StateDigest,
}

impl Spot {
    /// Returns the moment of `input` in the episode `before` it; none if it is no call.
    pub(super) fn of(before: &Episode<Office>, input: &Input) -> Option<Self> {
        let Input::Call(made) = input else { return None };
        let mut fork = before.clone();
        fork.call(made.clone()).ok()?;
        Some(Self { before: before.clone(), made: made.clone(), after: fork.world().digest() })
    }

    /// Returns whether `changed`, a wrong version of the call as the solution has it, is accepted here and comes to another world.
    pub(super) fn heeds(&self, changed: &SolutionCall) -> bool {
        let call = ToolCall::new(changed.tool.clone(), fill_like(&changed.arguments, &self.made.arguments));
        let mut fork = self.before.clone();
        fork.call(call).is_ok_and(|step| step.answer.is_ok()) && fork.world().digest() != self.after
    }

    /// Returns the episode just before the call.
    pub(super) fn before(&self) -> &Episode<Office> {
        &self.before
    }

    fn text(&self, name: &str) -> Option<SmolStr> {
        self.made.optional_text(name).map(SmolStr::from)
    }

    fn ask(&self, question: &str, arguments: Value) -> Value {
        ask(&self.before, question, arguments)
    }
}

/// Asks the world as it is now; what is refused is null.
pub(super) fn ask(episode: &Episode<Office>, question: &str, arguments: Value) -> Value {
    let frame = Frame::new();
    let looking = Looking { time: episode.now(), frame: &frame, blobs: &**episode.blobs() };
    episode.world().query(question, &arguments, &looking).unwrap_or_default()
}

/// Returns the versions of `call` that write to another place, one for each argument that says where.
pub(super) fn wrong_places(call: &SolutionCall, spot: &Spot, agent: &str) -> Vec<(String, SolutionCall)> {
    PLACES.iter().filter_map(|name| wrong_place(call, spot, name, agent)).collect()
}

fn wrong_place(call: &SolutionCall, spot: &Spot, name: &str, agent: &str) -> Option<(String, SolutionCall)> {
    let given = spot.made.get(name).filter(|given| **given != Value::Null)?;
    let others = candidates(spot, name, given, agent).into_iter().filter(|other| other != given);
    others.take(PLACES_TRIED_MAX).find_map(|other| {
        let mut changed = call.clone();
        if let Value::Map(arguments) = &mut changed.arguments {
            arguments.insert(name.into(), other.clone());
        }
        spot.heeds(&changed).then(|| (format!("{name} {} became {}", plain(given), plain(&other)), changed))
    })
}

/// Returns the places that the argument `name` could mean as well, the likeliest first.
fn candidates(spot: &Spot, name: &str, given: &Value, agent: &str) -> Vec<Value> {
    let service = spot.made.tool.split('.').next().unwrap_or_default();
    let text = given.as_text().unwrap_or_default();
    let all: Vec<Value> = match (service, name) {
        ("sheets", "range") => return next_row(text).map(Value::from).into_iter().collect(),
        ("sheets", "book") => each(&spot.ask("sheets.books", map! {}), &["name", "id"]),
        ("sheets", "worksheet") => {
            let book = spot.text("book").unwrap_or_default();
            each(&spot.ask("sheets.worksheets", map! { "book" => book }), &["name"])
        }
        ("records", "id") if spot.made.tool != "records.create" => {
            let table = spot.text("table").unwrap_or_default();
            each(&spot.ask("records.rows", map! { "table" => table }), &["id"])
        }
        ("files", "path" | "source") => return files(spot, text),
        ("files", "target") | ("mail", "path") => return vec![beside(text).into()],
        ("mail", "message_id") => each(&spot.ask("mail.messages", map! { "address" => agent }), &["id"]),
        ("mail", "uid") => {
            let folder = spot.text("folder").unwrap_or("INBOX".into());
            each(&spot.ask("mail.messages", map! { "address" => agent, "folder" => folder }), &["uid"])
        }
        ("mail", "destination") => each(&spot.ask("mail.folders", map! { "address" => agent }), &["name"]),
        ("calendar", "uid") => {
            let calendar = spot.text("calendar").unwrap_or_default();
            each(&spot.ask("calendar.events", map! { "calendar" => calendar }), &["uid"])
        }
        ("calendar", "recurrence_id") => instances(spot, text),
        ("calendar", "calendar") => each(&spot.ask("calendar.calendars", map! {}), &["name"]),
        ("knowledge", "page" | "row" | "parent" | "database") => pages(spot, name, text),
        ("knowledge", "block") => blocks(spot),
        ("chat", "channel") => {
            let names = each(&spot.ask("chat.conversations", map! {}), &[]);
            let bare = |name: &Value| name.as_text().and_then(|name| name.strip_prefix('#')).map(Value::from);
            names.iter().filter_map(bare).collect()
        }
        _ => Vec::new(),
    };
    from_the_next_on(all, given)
}

/// Returns what each item is called: by the first of `keys` that it has, or itself.
fn each(items: &Value, keys: &[&str]) -> Vec<Value> {
    let called = |item: &Value| match item {
        Value::Map(map) => keys.iter().find_map(|key| map.get(*key)).cloned(),
        Value::Text(_) | Value::Int(_) => Some(item.clone()),
        Value::Null | Value::Bool(_) | Value::Float(_) | Value::List(_) => None,
    };
    items.as_list().unwrap_or_default().iter().filter_map(called).collect()
}

/// Returns `all` but `given`, from the one after it on, around to the one before it.
fn from_the_next_on(mut all: Vec<Value>, given: &Value) -> Vec<Value> {
    if let Some(at) = all.iter().position(|item| item == given) {
        all.rotate_left(at);
        all.remove(0);
    }
    all
}

/// Returns the files beside `path`, then all others; for a file that is not there yet, one with a marked name.
fn files(spot: &Spot, path: &str) -> Vec<Value> {
    let exists = spot.ask("files.exists", map! { "path" => path }) == Value::Bool(true);
    if !exists {
        return vec![beside(path).into()];
    }
    let all = each(&spot.ask("files.find", map! { "pattern" => "/**" }), &[]);
    let folder = path.rfind('/').map_or("", |slash| &path[..=slash]);
    let near = |other: &Value| {
        let other = other.as_text().unwrap_or_default();
        other.strip_prefix(folder).is_some_and(|name| !name.contains('/'))
    };
    let (near, far): (Vec<Value>, Vec<Value>) = from_the_next_on(all, &path.into()).into_iter().partition(near);
    near.into_iter().chain(far).chain([beside(path).into()]).collect()
}

/// Returns the other instances of the event that the call is about, later ones first.
fn instances(spot: &Spot, id: &str) -> Vec<Value> {
    let calendar = spot.text("calendar").unwrap_or_default();
    let around = id.parse::<SimTime>().unwrap_or(spot.before.now()).as_millis();
    let range = INSTANCES_DAYS * DAY_MILLIS;
    let arguments = map! {
        "calendar" => calendar,
        "from" => SimTime::from_millis(around - range).to_string(),
        "until" => SimTime::from_millis(around + range).to_string(),
    };
    let uid = spot.text("uid").unwrap_or_default();
    let rows = spot.ask("calendar.events", arguments);
    let own = rows
        .as_list()
        .unwrap_or_default()
        .iter()
        .filter(|row| row.get("uid").and_then(Value::as_text) == Some(uid.as_str()));
    let ids: Vec<Value> = own.filter_map(|row| row.get("recurrence_id").cloned()).collect();
    from_the_next_on(ids, &id.into())
}

/// Returns what lies beside a page, row or database of the knowledge base.
fn pages(spot: &Spot, name: &str, given: &str) -> Vec<Value> {
    let databases = spot.ask("knowledge.databases", map! {});
    if name == "database" {
        let ids = each(&databases, &["id"]);
        let titled = databases.as_list().unwrap_or_default().iter().find(|database| {
            database.get("title").and_then(Value::as_text).is_some_and(|title| title.eq_ignore_ascii_case(given))
        });
        let own = titled.and_then(|database| database.get("id")).cloned().unwrap_or_else(|| given.into());
        return from_the_next_on(ids, &own);
    }
    let page = spot.ask("knowledge.page", map! { "page" => given });
    let Some(own) = page.get("id").cloned() else { return Vec::new() };
    for database in each(&databases, &["id"]) {
        let rows = each(&spot.ask("knowledge.rows", map! { "database" => database }), &["id"]);
        if rows.contains(&own) {
            return from_the_next_on(rows, &own);
        }
    }
    let beside = match page.get("parent").filter(|parent| **parent != Value::Null) {
        Some(parent) => spot.ask("knowledge.pages", map! { "parent" => parent.clone() }),
        None => spot.ask("knowledge.pages", map! {}),
    };
    let mut all = from_the_next_on(each(&beside, &["id"]), &own);
    all.extend(each(&spot.ask("knowledge.pages", map! {}), &["id"]).into_iter().filter(|other| *other != own));
    all
}

/// Returns the blocks of the page that the call is about.
fn blocks(spot: &Spot) -> Vec<Value> {
    let page = spot.text("page").unwrap_or_default();
    let asked = ToolCall::new("knowledge.read_page", map! { "page" => page, "with_blocks" => true });
    let answer = spot.before.clone().call(asked).ok().and_then(|step| step.answer.ok()).unwrap_or_default();
    each(answer.get("blocks").unwrap_or(&Value::Null), &["id"])
}

fn plain(value: &Value) -> String {
    value.as_text().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns a range one row further down; nothing for a range without rows.
fn next_row(range: &str) -> Option<String> {
    static ROW: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(\$?[A-Za-z]{1,3}\$?)(\d+)").expect("a constant pattern compiles"));
    let (sheet, cells) = range.rsplit_once('!').map_or((None, range), |(sheet, cells)| (Some(sheet), cells));
    if !ROW.is_match(cells) {
        return None;
    }
    let shifted = ROW.replace_all(cells, |found: &regex::Captures<'_>| {
        let row: u64 = found[2].parse().unwrap_or_default();
        format!("{}{}", &found[1], row + 1)
    });
    Some(sheet.map_or_else(|| shifted.to_string(), |sheet| format!("{sheet}!{shifted}")))
}

/// Returns a path beside `path`, the name marked.
fn beside(path: &str) -> String {
    let name = path.rfind('/').map_or(0, |slash| slash + 1);
    match path[name..].rfind('.') {
        Some(dot) if dot > 0 => format!("{}-2{}", &path[..name + dot], &path[name + dot..]),
        _ => format!("{path}-2"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_moves_down_one_row() {
        assert_eq!(next_row("Run!G8:H8").as_deref(), Some("Run!G9:H9"));
        assert_eq!(next_row("'Q1 x'!$A$9").as_deref(), Some("'Q1 x'!$A$10"));
        assert_eq!(next_row("Sign-off"), None);
    }

    #[test]
    fn a_path_gets_a_marked_name() {
        assert_eq!(beside("/a.b/note.md"), "/a.b/note-2.md");
        assert_eq!(beside("/a.b/note"), "/a.b/note-2");
    }

    #[test]
    fn the_next_one_comes_first_and_the_own_one_not_at_all() {
        let all = || vec![Value::from("a"), "b".into(), "c".into()];
        assert_eq!(from_the_next_on(all(), &"b".into()), [Value::from("c"), "a".into()]);
        assert_eq!(from_the_next_on(all(), &"x".into()), all());
    }
}
