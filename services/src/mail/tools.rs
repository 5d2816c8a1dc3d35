//! What agents are told of mail, and what the scenario can do besides.

use dayshift_engine::{Audience, Effect, Kind, Parameter, ToolSpec};

const TEXTS: Kind = Kind::List(&Kind::Text);

const FOLDER: Parameter = Parameter::optional("folder", Kind::Text, "the folder; INBOX if left out");
const UID: Parameter = Parameter::optional("uid", Kind::Int, "the message's number in its folder, as listings give it");
const MESSAGE_ID: Parameter =
    Parameter::optional("message_id", Kind::Text, "the message's id, instead of folder and uid");
const UIDS: Parameter = Parameter::optional(
    "uids",
    Kind::List(&Kind::Int),
    "the numbers of several messages in the folder, instead of uid",
);
const MESSAGE_IDS: Parameter =
    Parameter::optional("message_ids", TEXTS, "the ids of several messages, instead of message_id");
const TO: Parameter =
    Parameter::required("to", TEXTS, "addresses, each as ann@acme.example or Ann Lee <ann@acme.example>");
const TO_OPTIONAL: Parameter = Parameter { required: false, ..TO };
const CC: Parameter = Parameter::optional("cc", TEXTS, "who gets a copy");
const BCC: Parameter = Parameter::optional("bcc", TEXTS, "who gets a copy that the others do not hear of");
const SUBJECT: Parameter = Parameter::required("subject", Kind::Text, "the subject, one line");
const BODY: Parameter = Parameter::required("body", Kind::Text, "the body as plain text");
const HTML: Parameter = Parameter::optional("html", Kind::Text, "the body as HTML too, for readers that show it");
const ATTACHMENTS: Parameter = Parameter::optional("attachments", TEXTS, "the paths of files to attach");
const LIMIT: Parameter = Parameter::optional("limit", Kind::Int, "how many messages to show, 1 to 200; 20 if left out");
const CURSOR: Parameter = Parameter::optional("cursor", Kind::Text, "the cursor of the last page, to see the next one");
const FROM_FILTER: Parameter = Parameter::optional("from", Kind::Text, "part of the sender's address or name");
const TO_FILTER: Parameter = Parameter::optional("to", Kind::Text, "part of a recipient's address or name");
const SUBJECT_FILTER: Parameter = Parameter::optional("subject", Kind::Text, "part of the subject");
const TEXT_FILTER: Parameter =
    Parameter::optional("text", Kind::Text, "part of the body, subject, an address, a name or an attachment's name");

const fn reads(
    name: &'static str,
    summary: &'static str,
    parameters: &'static [Parameter],
    cost_seconds: u32,
) -> ToolSpec {
    ToolSpec { name, summary, parameters, effect: Effect::Reads, audience: Audience::Everybody, cost_seconds }
}

const fn writes(
    name: &'static str,
    summary: &'static str,
    parameters: &'static [Parameter],
    cost_seconds: u32,
) -> ToolSpec {
    ToolSpec { name, summary, parameters, effect: Effect::Writes, audience: Audience::Everybody, cost_seconds }
}

const fn backstage(name: &'static str, summary: &'static str, parameters: &'static [Parameter]) -> ToolSpec {
    ToolSpec { name, summary, parameters, effect: Effect::Writes, audience: Audience::Backstage, cost_seconds: 0 }
}

/// The tools of mail, sorted by name.
pub(crate) const TOOLS: &[ToolSpec] = &[
    writes(
        "mail.create_folder",
        "Makes a folder in your mailbox.",
        &[Parameter::required("folder", Kind::Text, "its name; Projects/Roof is Roof within Projects")],
        10,
    ),
    writes(
        "mail.delete",
        "Moves a message or several to Trash; a message that is in Trash is deleted for good.",
        &[FOLDER, UID, MESSAGE_ID, UIDS, MESSAGE_IDS],
        5,
    ),
    backstage(
        "mail.deliver",
        "Delivers a message in anybody's name.",
        &[
            Parameter::required("from", Kind::Text, "the sender"),
            TO,
            SUBJECT,
            BODY,
            CC,
            BCC,
            HTML,
            ATTACHMENTS,
            Parameter::optional(
                "files",
                Kind::List(&Kind::Object),
                "more attachments, each with name, blob, media_type",
            ),
            Parameter::optional("sender_name", Kind::Text, "the sender's name"),
            Parameter::optional("in_reply_to", Kind::Text, "the id of the message that it answers"),
        ],
    ),
    writes(
        "mail.flag",
        "Adds and removes flags of a message or several: seen, flagged, answered, draft, or words of your own.",
        &[
            FOLDER,
            UID,
            MESSAGE_ID,
            UIDS,
            MESSAGE_IDS,
            Parameter::optional("add", TEXTS, "flags to add"),
            Parameter::optional("remove", TEXTS, "flags to remove"),
        ],
        5,
    ),
    reads(
        "mail.folders",
        "Lists the folders of your mailbox, with how many messages are in each and how many of them are unread.",
        &[],
        5,
    ),
    writes(
        "mail.forward",
        "Sends a message on to others, with its attachments, below what you write.",
        &[TO, BODY, FOLDER, UID, MESSAGE_ID, CC, BCC, HTML, ATTACHMENTS],
        120,
    ),
    backstage(
        "mail.import",
        "Puts a real message into a mailbox; its bytes stay as they are.",
        &[
            Parameter::required("address", Kind::Text, "whose mailbox"),
            Parameter::required("blob", Kind::Text, "the blob that holds the message (RFC 5322)"),
            FOLDER,
            Parameter::optional("flags", TEXTS, "its flags"),
            Parameter::optional("received", Kind::Time, "when it came in; its Date if left out"),
        ],
    ),
    reads(
        "mail.list",
        "Lists the messages of a folder, newest first.",
        &[FOLDER, LIMIT, CURSOR, Parameter::optional("unread", Kind::Bool, "true for unread messages only")],
        10,
    ),
    writes(
        "mail.move",
        "Moves a message or several to another folder, where each gets a new number.",
        &[
            Parameter::required("destination", Kind::Text, "the folder to move them to"),
            FOLDER,
            UID,
            MESSAGE_ID,
            UIDS,
            MESSAGE_IDS,
        ],
        5,
    ),
    reads(
        "mail.read",
        "Shows one message: headers, body as plain text, attachments. It counts as read then.",
        &[
            FOLDER,
            UID,
            MESSAGE_ID,
            Parameter::optional("offset", Kind::Int, "where a long body goes on, in characters"),
            Parameter::optional("headers", Kind::Bool, "true to see all header fields as they were sent"),
            Parameter::optional("quotes", Kind::Bool, "false to leave out what the body quotes of earlier messages"),
        ],
        30,
    ),
    writes(
        "mail.reply",
        "Answers the sender of a message, below whose quoted text yours stands above.",
        &[BODY, FOLDER, UID, MESSAGE_ID, CC, BCC, HTML, ATTACHMENTS],
        120,
    ),
    writes(
        "mail.reply_all",
        "Answers the sender and all recipients of a message, its text quoted below yours.",
        &[BODY, FOLDER, UID, MESSAGE_ID, CC, BCC, HTML, ATTACHMENTS],
        120,
    ),
    writes(
        "mail.save_attachment",
        "Saves an attachment of a message as a file.",
        &[
            Parameter::required("path", Kind::Text, "where to save it"),
            FOLDER,
            UID,
            MESSAGE_ID,
            Parameter::optional("attachment", Kind::Any, "its name or number; the first if left out"),
        ],
        10,
    ),
    writes(
        "mail.save_draft",
        "Saves an unfinished message in Drafts, or a new version of the draft with that uid.",
        &[
            TO_OPTIONAL,
            CC,
            BCC,
            Parameter { required: false, ..SUBJECT },
            Parameter { required: false, ..BODY },
            HTML,
            ATTACHMENTS,
            Parameter::optional("uid", Kind::Int, "the draft in whose place it comes"),
            Parameter::optional("in_reply_to", Kind::Text, "the id of the message that it answers"),
        ],
        120,
    ),
    reads(
        "mail.search",
        "Finds messages by parts of their fields (upper and lower case count alike), newest first, in all folders or in one.",
        &[
            Parameter::optional("query", Kind::Text, "a part of any field or of the text"),
            FROM_FILTER,
            TO_FILTER,
            SUBJECT_FILTER,
            TEXT_FILTER,
            Parameter::optional("since", Kind::Time, "came in at this time or later"),
            Parameter::optional("before", Kind::Time, "came in before this time"),
            Parameter::optional("unread", Kind::Bool, "true for unread, false for read messages"),
            Parameter::optional(
                "has_attachment",
                Kind::Bool,
                "true for messages with attachments, false for those without",
            ),
            Parameter::optional("folder", Kind::Text, "the folder to search; all if left out"),
            LIMIT,
            CURSOR,
        ],
        15,
    ),
    writes(
        "mail.send",
        "Sends a message. A copy is kept in Sent.",
        &[TO, SUBJECT, BODY, CC, BCC, HTML, ATTACHMENTS],
        120,
    ),
    writes(
        "mail.send_draft",
        "Sends a draft as it is.",
        &[Parameter::required("uid", Kind::Int, "the draft's number in Drafts")],
        10,
    ),
    reads(
        "mail.thread",
        "Lists the messages of your mailbox that belong to one conversation, oldest first.",
        &[FOLDER, UID, MESSAGE_ID],
        10,
    ),
];
