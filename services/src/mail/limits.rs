//! The limits of what can grow in mail. Each is tested at, below and above.

/// The longest message, in bytes as sent (25 MiB, as most providers have it).
pub const MESSAGE_BYTES_MAX: usize = 25 << 20;
/// The most recipients of one message, To, Cc and Bcc together.
pub const RECIPIENTS_MAX: usize = 100;
/// The longest subject that can be sent, in bytes (the longest line that RFC 5322 allows).
pub const SUBJECT_BYTES_MAX: usize = 998;
/// The most attachments that can be sent with one message.
pub const ATTACHMENTS_MAX: usize = 50;
/// The longest name of a mail address's owner, in bytes.
pub const DISPLAY_NAME_BYTES_MAX: usize = 200;
/// The longest mail address, in bytes (RFC 5321, 4.5.3.1.3 without its angle brackets).
pub const ADDRESS_BYTES_MAX: usize = 254;
/// The longest name of a folder, in bytes.
pub const FOLDER_NAME_BYTES_MAX: usize = 100;
/// The most folders that a mailbox can have beside the five that every mailbox has.
pub const FOLDERS_MAX: usize = 200;
/// The longest flag, in bytes.
pub const FLAG_BYTES_MAX: usize = 64;
/// The most flags of one message.
pub const FLAGS_MAX: usize = 32;
/// The most messages that one call lists.
pub const LIST_PAGE_MAX: usize = 200;
/// The most messages that a search shows at once.
pub const SEARCH_RESULTS_MAX: usize = 200;
/// The longest text to search for, in bytes.
pub const SEARCH_TEXT_BYTES_MAX: usize = 500;
/// The most characters of a body that one call shows; the rest follows from an offset.
pub const BODY_SHOWN_CHARS_MAX: usize = 20_000;
/// The most bytes of a body that are kept beside the message's own bytes, to be shown and searched. The rest is read from the message when
/// it is shown, and a search does not look at it.
pub const TEXT_KEPT_BYTES_MAX: usize = 64 << 10;
/// The most characters of a body that a listing shows.
pub const SNIPPET_CHARS_MAX: usize = 120;
/// The most message ids that References keeps: the first, and the last ones.
pub const REFERENCES_MAX: usize = 50;
/// The longest References field of a message that is written here, in bytes and unfolded (RFC 5537, 3.4.4).
pub const REFERENCES_BYTES_MAX: usize = 998;
/// The most messages that one call moves, flags or deletes.
pub const BATCH_MESSAGES_MAX: usize = 200;
/// The most messages that a thread shows.
pub const THREAD_MESSAGES_MAX: usize = 500;
/// The most parts of an imported message that are listed as attachments.
pub const PARTS_LISTED_MAX: usize = 500;
/// The most `message/…` and digest parts that an imported message may name before it is kept as bytes alone, unparsed: the parser's nested
/// result is taken apart recursively.
pub const NESTED_MESSAGES_MAX: usize = 100;
