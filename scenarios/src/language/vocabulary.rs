//! The questions that scripts can ask of a world, with the names of their positional arguments. Keyword arguments always work, and `ask` takes
//! any question, so a service can answer more than this table says.

use std::fmt::Write as _;

/// A question of a service: the verb, and the names of its positional arguments.
pub type Verb = (&'static str, &'static [&'static str]);

/// The services and questions that scripts reach as `service.verb(…)`.
#[derive(Clone, Copy, Debug)]
pub struct Vocabulary(pub &'static [(&'static str, &'static [Verb])]);

impl Vocabulary {
    /// The questions of the office.
    pub const OFFICE: Self = Self(&[
        (
            "mail",
            &[
                ("messages", &["address", "folder"]),
                ("message", &["address", "message_id", "folder"]),
                ("sent", &["address"]),
                ("count", &["address", "folder"]),
                ("search", &["address", "folder"]),
                ("folders", &["address"]),
                ("thread", &["address", "message_id"]),
            ],
        ),
        (
            "files",
            &[
                ("text", &["path"]),
                ("lines", &["path"]),
                ("table", &["path"]),
                ("exists", &["path"]),
                ("list", &["path"]),
                ("stat", &["path"]),
                ("digest", &["path"]),
                ("find", &["pattern", "path"]),
            ],
        ),
        (
            "sheets",
            &[
                ("value", &["book", "ref"]),
                ("text", &["book", "ref"]),
                ("formula", &["book", "ref"]),
                ("rows", &["book", "range"]),
                ("books", &[]),
                ("worksheets", &["book"]),
                ("find", &["book", "text"]),
            ],
        ),
        (
            "records",
            &[
                ("tables", &[]),
                ("row", &["table", "id"]),
                ("field", &["table", "id", "field"]),
                ("rows", &["table", "where"]),
                ("count", &["table", "where"]),
                ("audit", &["table", "id"]),
                ("problems", &[]),
            ],
        ),
        ("chat", &[("messages", &["conversation"]), ("conversations", &[])]),
        ("people", &[("list", &[]), ("person", &["name"]), ("office", &[]), ("memory", &["persona"])]),
        ("clock", &[("now", &[])]),
        (
            "calendar",
            &[
                ("calendars", &[]),
                ("events", &["calendar", "from", "until"]),
                ("event", &["calendar", "uid"]),
                ("find", &["calendar", "text"]),
            ],
        ),
        (
            "knowledge",
            &[
                ("page", &["page"]),
                ("markdown", &["page"]),
                ("pages", &["parent"]),
                ("databases", &[]),
                ("database", &["database"]),
                ("rows", &["database", "where"]),
                ("count", &["database", "where"]),
                ("row", &["row"]),
                ("property", &["row", "name"]),
                ("find", &["database", "property", "value"]),
            ],
        ),
    ]);

    /// Returns the name of the first positional argument of `service.verb`: what the question is about.
    pub(crate) fn subject(&self, question: &str) -> Option<&'static str> {
        let (service, verb) = question.split_once('.')?;
        let (_, verbs) = self.0.iter().find(|(name, _)| *name == service)?;
        verbs.iter().find(|(name, _)| *name == verb)?.1.first().copied()
    }

    /// Returns the Starlark source that defines the services, and what goes with them.
    pub(super) fn prelude(&self) -> String {
        let mut source = String::from("_VERBS = {\n");
        for (service, verbs) in self.0 {
            // Writing into memory cannot fail.
            let _ = writeln!(source, "    {service:?}: {{");
            for (verb, names) in *verbs {
                let _ = writeln!(source, "        {verb:?}: {names:?},");
            }
            source.push_str("    },\n");
        }
        source.push_str("}\n");
        source.push_str(PRELUDE);
        for (service, _) in self.0 {
            let _ = writeln!(source, "{service} = _HERE[{service:?}]");
        }
        source
    }
}

/// What every script finds besides the native functions. Names with an underscore stay here.
const PRELUDE: &str = r#"
def _verb(question, names, day):
    def verb(*args, **kwargs):
        return _ask(_hand, question, day, names, args, kwargs)
    return verb

def _services(day):
    return {
        service: struct(**{verb: _verb(service + "." + verb, names, day) for verb, names in verbs.items()})
        for service, verbs in _VERBS.items()
    }

_HERE = _services(None)

def ask(question, **arguments):
    return _ask(_hand, question, None, [], (), arguments)

def at(day):
    _ask(_hand, "scene.day", None, ["name"], (day,), {})
    return struct(**_services(day))

def calls(tool = None):
    return [struct(**call) for call in _ask(_hand, "scene.calls", None, ["tool"], (tool,), {})]

def messages():
    return [struct(**message) for message in _ask(_hand, "scene.messages", None, [], (), {})]

def changes(by = "agent", since = None, except_ = []):
    return [struct(**change) for change in _ask(_hand, "scene.changes", None, ["by", "since", "except_"], (by, since, except_), {})]

def now():
    return _ask(_hand, "scene.now", None, [], (), {})

def choose(label, choices):
    return choices[_ask(_hand, "scene.draw", None, ["label", "below"], (label, len(choices)), {})]

def inbox(folder = "INBOX"):
    return _ask(_hand, "scene.inbox", None, ["folder"], (folder,), {})

def chats(conversation = None):
    return _ask(_hand, "scene.chats", None, ["conversation"], (conversation,), {})

def call(tool, **arguments):
    return {"tool": tool, "arguments": arguments}

def reaction(memory = None, do = [], wake = None):
    return {"memory": memory, "do": do, "wake": wake}
"#;
