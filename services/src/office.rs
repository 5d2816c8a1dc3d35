//! The office: all services joined into one world. It routes calls, seats the caller at a desk, and writes the effects that cross from one
//! service into another, since services do not know each other.

use std::sync::{Arc, LazyLock};

use dayshift_engine::{
    Actor, Applying, Audience, Context, Decision, Difference, Errand, Looking, Rejection, SimTime, StateDigest,
    ToolCall, ToolSpec, Value, World, map,
};
use serde::{Deserialize, Serialize};

use crate::calendar::{CalendarEvent, CalendarState};
use crate::chat::{ChatEvent, ChatState};
use crate::clock::{self, ClockEvent, ClockState};
use crate::files::{FilesEvent, FilesState, HostChange, file_name};
use crate::knowledge::{KnowledgeEvent, KnowledgeState};
use crate::mail::{Attachment, MailEvent, MailState};
use crate::people::{PeopleEvent, PeopleState};
use crate::records::{Guards, RecordsEvent, RecordsState};
use crate::service::{Desk, Service};
use crate::sheets::{SheetsEvent, SheetsState};
use crate::shell::{self, Brought, Change, ShellEvent, ShellState};

/// Joins services: one field, one event variant and one arm each. A service that is added here is everywhere.
macro_rules! join {
    ($($field:ident: $state:ident, $event:ident, $variant:ident;)*) => {
        /// The state of all services. A clone shares everything with its origin until one of the two changes.
        #[derive(Clone, Debug, Default)]
        pub struct Office {
            $($field: Arc<$state>,)*
        }

        /// A fact of one of the services.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[expect(clippy::large_enum_variant, reason = "an event lives as long as its record is applied; a box would cost each an allocation")]
        pub enum OfficeEvent {
            $(#[doc = concat!("A fact of `", stringify!($field), "`.")] $variant($event),)*
        }

        $(impl From<$event> for OfficeEvent {
            fn from(event: $event) -> Self {
                Self::$variant(event)
            }
        })*

        static TOOLS: LazyLock<Vec<&'static ToolSpec>> = LazyLock::new(|| {
            let mut tools: Vec<&'static ToolSpec> = Vec::new();
            $(tools.extend($state::TOOLS);)*
            tools.sort_by_key(|spec| spec.name);
            tools
        });

        impl Office {
            fn route(&self, call: &ToolCall, desk: &Desk, context: &Context<'_>) -> Result<Decision<OfficeEvent>, Rejection> {
                match service_of(&call.tool) {
                    $(stringify!($field) => self.$field.decide(call, desk, context).map(lift),)*
                    other => Err(Rejection::new("call/unknown-tool", format!("there is no service '{other}'"))),
                }
            }

            fn ask(&self, service: &str, verb: &str, arguments: &Value, desk: &Desk, looking: &Looking<'_>) -> Result<Value, Rejection> {
                match service {
                    $(stringify!($field) => self.$field.query(verb, arguments, desk, looking),)*
                    other => Err(Rejection::new(
                        "query/unknown",
                        format!("there is no service '{other}'; the services are {}", [$(stringify!($field)),*].join(", ")),
                    )),
                }
            }

            fn change(&mut self, event: OfficeEvent, applying: &mut Applying<'_>) {
                match event {
                    $(OfficeEvent::$variant(event) => Arc::make_mut(&mut self.$field).apply(event, applying),)*
                }
            }

            fn parts(&self) -> impl Iterator<Item = StateDigest> {
                [$(self.$field.digest()),*].into_iter()
            }

            fn differing(&self, other: &Self) -> Vec<Difference> {
                let mut differences = Vec::new();
                $(if !Arc::ptr_eq(&self.$field, &other.$field) {
                    self.$field.differences(&other.$field, &mut differences);
                })*
                differences
            }

            fn dumped(&self) -> Value {
                map! { $(stringify!($field) => self.$field.dump()),* }
            }
        }
    };
}

join! {
    calendar: CalendarState, CalendarEvent, Calendar;
    chat: ChatState, ChatEvent, Chat;
    clock: ClockState, ClockEvent, Clock;
    files: FilesState, FilesEvent, Files;
    knowledge: KnowledgeState, KnowledgeEvent, Knowledge;
    mail: MailState, MailEvent, Mail;
    people: PeopleState, PeopleEvent, People;
    records: RecordsState, RecordsEvent, Records;
    sheets: SheetsState, SheetsEvent, Sheets;
    shell: ShellState, ShellEvent, Shell;
}

impl Office {
    /// Returns the files, for doors that show or export them.
    #[must_use]
    pub fn files(&self) -> &FilesState {
        &self.files
    }

    /// Returns an empty office in which `guards` judge the actions of records whose rules are functions.
    #[must_use]
    pub fn with_guards(guards: Arc<dyn Guards>) -> Self {
        let mut office = Self::default();
        Arc::make_mut(&mut office.records).set_guards(guards);
        office
    }

    /// Returns the mailboxes, for doors that show or export them.
    #[must_use]
    pub fn mail(&self) -> &MailState {
        &self.mail
    }

    /// Returns the workbooks, for doors that show or export them.
    #[must_use]
    pub fn sheets(&self) -> &SheetsState {
        &self.sheets
    }

    /// Returns the calendars, for doors that show or export them.
    #[must_use]
    pub fn calendar(&self) -> &CalendarState {
        &self.calendar
    }

    /// Sends, replies or forwards with files attached: the files are read here, the message is written by the mail service.
    fn send(&self, call: &ToolCall, desk: &Desk, context: &Context<'_>) -> Result<Decision<OfficeEvent>, Rejection> {
        let mut attachments = Vec::new();
        for path in call.texts("attachments") {
            let content = self.files.content(path, context.frame)?;
            let name = path.rsplit('/').next().unwrap_or(path);
            let media_type = mime_guess::from_path(name).first_or_octet_stream().essence_str().into();
            attachments.push(Attachment { name: name.into(), media_type, bytes: context.load(content)? });
        }
        self.mail.decide_with(call, desk, attachments, context).map(lift)
    }

    /// Lets a chat message through if the directory knows whom it is for: a name with a typing error must not open a conversation.
    fn chat_with(
        &self,
        call: &ToolCall,
        desk: &Desk,
        context: &Context<'_>,
    ) -> Result<Decision<OfficeEvent>, Rejection> {
        if let Some(name) = call.optional_text("with")
            && self.people.person(name, context.frame).is_none()
        {
            let message = format!("nobody is called '{name}' here; people.list shows the names");
            return Err(Rejection::new("chat/unknown-person", message));
        }
        self.route(call, desk, context)
    }

    /// Saves an attachment: the mail service finds it, the file is written by the files service.
    fn save_attachment(
        &self,
        call: &ToolCall,
        desk: &Desk,
        context: &Context<'_>,
    ) -> Result<Decision<OfficeEvent>, Rejection> {
        let (name, bytes) = self.mail.attachment(call, desk, context)?;
        let path = match call.optional_text("path") {
            Some(folder) if folder.ends_with('/') => format!("{folder}{}", file_name(&name)),
            Some(path) => path.to_owned(),
            None => format!("/{}", file_name(&name)),
        };
        let size = bytes.len();
        let (events, path) = self.files.save(&path, bytes, context)?;
        let events = events.into_iter().map(OfficeEvent::from).collect();
        Ok(Decision::change(events, map! { "path" => path.to_string(), "bytes" => size }))
    }
}

impl World for Office {
    type Event = OfficeEvent;

    fn tools() -> &'static [&'static ToolSpec] {
        &TOOLS
    }

    fn decide(&self, call: &ToolCall, context: &Context<'_>) -> Result<Decision<OfficeEvent>, Rejection> {
        let desk = self.people.desk(context.actor);
        match call.tool.as_str() {
            "mail.save_attachment" => self.save_attachment(call, &desk, context),
            "chat.send" => self.chat_with(call, &desk, context),
            tool if tool.starts_with("mail.") && call.get("attachments").is_some() => self.send(call, &desk, context),
            _ => self.route(call, &desk, context),
        }
    }

    /// An office does not offer the tools of services that it does without, nor to run commands without a shell. What happens backstage needs
    /// no offer.
    fn offers(&self, spec: &ToolSpec) -> bool {
        let is_there = spec.audience == Audience::Backstage || self.people.has_service(service_of(spec.name));
        is_there && (spec.name != shell::RUN || self.shell.is_on())
    }

    fn errand(&self, call: &ToolCall, context: &Context<'_>) -> Result<Option<Errand>, Rejection> {
        if call.tool != shell::RUN {
            return Ok(None);
        }
        let desk = self.people.desk(context.actor);
        let folder = self.files.folder(call.optional_text("folder").unwrap_or("/"), context.frame)?;
        let order = self.shell.order(call, folder.as_str(), &desk, context)?;
        let entries = self.files.lay_out(shell::WORKSPACE_ENTRIES_MAX, shell::WORKSPACE_BYTES_MAX, context.frame)?;
        Ok(Some(Errand { order, entries }))
    }

    /// Takes over what a command changed: the shell reads what came of it, the files service writes it.
    fn settle(
        &self,
        call: &ToolCall,
        brought: &Value,
        context: &Context<'_>,
    ) -> Result<Decision<OfficeEvent>, Rejection> {
        if call.tool != shell::RUN {
            return self.decide(call, context);
        }
        let Brought { answer, changes } = Brought::read(brought)?;
        let changes = changes.iter().map(|change| match change {
            Change::Deleted(path) => HostChange::Deleted(path),
            Change::Folder(path) => HostChange::Folder(path),
            Change::File { path, blob, mode } => HostChange::File { path, blob: *blob, mode: *mode },
        });
        let events = self.files.take_over(changes, context)?;
        Ok(Decision::change(events.into_iter().map(OfficeEvent::from).collect(), answer))
    }

    fn apply(&mut self, event: OfficeEvent, applying: &mut Applying<'_>) {
        self.change(event, applying);
    }

    fn query(&self, question: &str, arguments: &Value, looking: &Looking<'_>) -> Result<Value, Rejection> {
        let desk = self.people.desk(&Actor::Agent);
        let (service, verb) = question.split_once('.').unwrap_or((question, ""));
        self.ask(service, verb, arguments, &desk, looking)
    }

    /// Says who wrote and about what, or in which channel.
    fn headline(&self, event: &OfficeEvent) -> Option<String> {
        match event {
            OfficeEvent::Mail(MailEvent::MessageDelivered { message, .. }) => Some(message.headline()),
            OfficeEvent::Chat(ChatEvent::MessagePosted { conversation, from, .. }) => {
                let from = self.people.display(from);
                Some(match conversation.strip_prefix('#') {
                    Some(channel) => format!("{from} wrote in the chat channel #{channel}."),
                    None => format!("{from} wrote to you in chat."),
                })
            }
            OfficeEvent::Mail(_)
            | OfficeEvent::Chat(_)
            | OfficeEvent::Calendar(_)
            | OfficeEvent::Clock(_)
            | OfficeEvent::Files(_)
            | OfficeEvent::Knowledge(_)
            | OfficeEvent::People(_)
            | OfficeEvent::Records(_)
            | OfficeEvent::Sheets(_)
            | OfficeEvent::Shell(_) => None,
        }
    }

    fn waited(&self, answer: Value, now: SimTime, notices: &[String]) -> Value {
        clock::waited(&answer, now, notices, &self.people.desk(&Actor::Agent))
    }

    fn digest(&self) -> StateDigest {
        self.parts().sum()
    }

    fn differences(&self, other: &Self) -> Vec<Difference> {
        self.differing(other)
    }

    fn dump(&self) -> Value {
        self.dumped()
    }
}

fn lift<E: Into<OfficeEvent>>(decision: Decision<E>) -> Decision<OfficeEvent> {
    Decision {
        events: decision.events.into_iter().map(Into::into).collect(),
        answer: decision.answer,
        wait: decision.wait,
    }
}

fn service_of(tool: &str) -> &str {
    tool.split('.').next().unwrap_or_default()
}
